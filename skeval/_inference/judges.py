r"""Mean of an outcome from few labels and many judgments of a model.

The n labeled and N unlabeled samples are drawn from the same population, and all have a judgment
j. Judgments may be biased: they only make the mean of the labels y more precise.

**Strata.** If outcome and judgment are 0 or 1, with a and b the rates of the outcome among
labeled samples judged 1 and 0, and w the share judged 1 of all n + N samples,
:math:`\theta = w a + (1 - w) b`. Jeffreys limits :math:`(l_a, u_a)` and :math:`(l_b, u_b)` of the
two rates are combined by recovery of variance estimates:

.. math:: \theta - \sqrt{w^2 (a - l_a)^2 + (1 - w)^2 (b - l_b)^2
          + z^2 (a - b)^2 w (1 - w) / (n + N)} ,

and the upper limit likewise.

**Regression.** Otherwise j is the rank of the judgment among all samples, because the mean of a
skewed judgment would be as uncertain as the outcome. With :math:`\beta` the slope of y on j, and
means over the labeled samples and over all,

.. math:: \theta = \bar y + \beta (\bar j_{all} - \bar j) .

A labeled sample has the influence :math:`c_i e_i + \beta (j_i - \bar j_{all}) / (n + N)` with its
residual :math:`e_i` and :math:`c_i = 1/n + (\bar j_{all} - \bar j)(j_i - \bar j) / S_{jj}`, an
unlabeled one only the second term. Residuals are divided by :math:`\sqrt{1 - h_i}` (HC2).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skeval._inference import intervals
from skeval._inference.estimate import Limits
from skeval._inference.intervals import Codes

Floats = NDArray[np.float64]
_LEAST = 1e-12
_EVENTS = 2.0
"""Prior weight of the effective size without a judge, as a number of rare samples."""


class MeanAndLimits(NamedTuple):
    """A mean and its limits, each of the shape of the counts without the last axis."""

    value: Floats
    low: Floats
    high: Floats


def stratified_mean(labeled: Floats, positive: Floats, judged: Floats, z: float) -> MeanAndLimits:
    """Return the mean of binary outcomes by strata of a binary judgment.

    The last axis of the counts has the samples judged 0 and 1: labeled ones, positive ones among
    them, and all. If a stratum has no label, the result is Wilson's interval of the labels alone.
    """
    n, n_all = labeled.sum(axis=-1), judged.sum(axis=-1)
    rates = np.divide(positive, labeled, out=np.zeros(labeled.shape), where=labeled > 0)
    share = judged / n_all[..., None]
    value = np.sum(share * rates, axis=-1)
    lows, highs = intervals.binomial_limits(rates, labeled, np.asarray(z), exact=False)
    between = np.sum(share * (rates - value[..., None]) ** 2, axis=-1) * z**2 / n_all
    below = np.sqrt(np.sum((share * (rates - lows)) ** 2, axis=-1) + between)
    above = np.sqrt(np.sum((share * (highs - rates)) ** 2, axis=-1) + between)
    low, high = np.maximum(value - below, 0.0), np.minimum(value + above, 1.0)
    empty, alone = (labeled == 0).any(axis=-1), positive.sum(axis=-1) / n
    wilson = intervals.wilson_limits(alone, n, z)
    low, high = np.where(empty, wilson[0], low), np.where(empty, wilson[1], high)
    return MeanAndLimits(np.where(empty, alone, value), low, high)


class Regression(NamedTuple):
    """A mean by regression on the judgments.

    Attributes
    ----------
    value, error : float
    degrees_of_freedom : float
    n_groups : int or None
        Number of groups with a label.
    used : bool
        Whether judgments were used.
    """

    value: float
    error: float
    degrees_of_freedom: float
    n_groups: int | None
    used: bool


def regress_on_judge(y: Floats, judge: Floats, group: Codes | None) -> Regression:
    """Return the mean of the outcomes of all samples; the first samples are the labeled ones.

    With groups, the influence is summed in each group. Judgments are not used
    if they, or the outcomes, are the same for all labeled samples.
    """
    n, n_all = len(y), len(judge)
    off, centered = judge.mean() - judge[:n].mean(), judge[:n] - judge[:n].mean()
    square = float(centered @ centered)
    used = square > 0 and n_all > n and bool(np.ptp(y) > 0)
    slope = float(centered @ y) / square if used else 0.0
    residual, leverage, weight = y - y.mean() - slope * centered, np.full(n, 1 / n), 1 / n
    if used:
        weight = weight + off * centered / square
        leverage += centered**2 / square
    value = float(y.mean() + slope * off)
    own, shared = weight * residual, slope * (judge - judge.mean()) / n_all
    if group is not None:
        shared[:n] += own
        # typical influence of a label and of a judgment
        size = np.full(n_all, np.sqrt(np.mean(shared[n:] ** 2)) if n_all > n else 0.0)
        size[:n] = np.sqrt(np.mean(shared[:n] ** 2)) or 1.0
        is_labeled = (np.arange(n_all) < n).astype(float)
        spread = intervals.spread_between(shared, group, size, leverage=is_labeled)
        n_groups = intervals.count_groups(group[:n])
        return Regression(value, spread.error, spread.degrees_of_freedom, n_groups, used)
    own /= np.sqrt(np.maximum(1 - leverage, _LEAST))
    parts = np.array([own @ own, shared @ shared])
    fourth = float(np.sum(residual**4) / np.sum(residual**2) ** 2) if residual.any() else 0.0
    degrees = min(n - 1.0 - used, 2 / max(fourth - 1 / n, _LEAST))  # 2 n / (kurtosis - 1)
    total = float(parts.sum())
    freedom = (
        total**2 / float(parts[0] ** 2 / degrees + parts[1] ** 2 / n_all) if total else degrees
    )
    return Regression(value, float(np.sqrt(total)), freedom, None, used)


def limits_of_mean(
    y: Floats, result: Regression, alone: Regression, signed: bool, confidence_level: float
) -> Limits:
    """Return the limits of a mean by regression; `alone` is the regression without the judge.

    Rates have Wilson's interval with the effective number of labels, `signed` differences of two
    binary outcomes that of Agresti and Min (2005), which adds half a sample to each cell, means of
    non-negative outcomes Student's on the log scale, and other means Student's.
    """
    value, degrees = result.value, result.degrees_of_freedom
    if signed:
        outcomes = float(np.mean(y != 0))
        size = _count_effective(y, result, alone, outcomes)
        variance = size * max(outcomes - value**2, 0.0) + 1 + 2 * size * value**2 / (size + 2)
        error, value = np.sqrt(variance) / (size + 2), value * size / (size + 2)
        degrees = np.inf if result.n_groups is None else degrees
        return intervals.normal_interval(value, error, confidence_level, (-1.0, 1.0), degrees)
    if set(np.unique(y).tolist()) <= {0.0, 1.0}:
        value = min(max(value, 0.0), 1.0)
        size = _count_effective(y, result, alone, min(y.mean(), 1 - y.mean()))
        degrees = np.inf if result.n_groups is None else degrees
        return intervals.wilson_interval(value * size, size, confidence_level, degrees)
    if y.min() >= 0 and value > 0:
        return intervals.log_interval(value, result.error, confidence_level, degrees)
    return intervals.normal_interval(
        value, result.error, confidence_level, degrees_of_freedom=degrees
    )


def _count_effective(y: Floats, result: Regression, alone: Regression, rarity: float) -> float:
    """Return the number of independent labels whose mean is as precise.

    The judge may look better than it is if few labels are rare outcomes. So the number is shrunk
    toward the number without the judge, whose weight is `_EVENTS` rare outcomes.
    """
    n, variance = len(y), float(np.var(y))
    own = float(n)
    if alone.n_groups is not None:
        odds = rarity / max(1 - rarity, _LEAST)
        own = intervals.effective_number(variance, alone.error, n, alone.n_groups, odds)
    events = n * rarity
    if not result.used or events == 0:
        return own
    return (events + _EVENTS) / (events * result.error**2 / variance + _EVENTS / own)
