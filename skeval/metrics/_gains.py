"""Precision, recall and lift of the highest scores, and the Kolmogorov-Smirnov statistic.

All are computed from the curve of cumulative gains. This is the fraction of the positives among a
given fraction of the samples with the highest scores. Between two distinct scores the curve is a
straight line, so a tied sample counts with its mean over the orders of the tie.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skeval._inference import intervals
from skeval._inference.areas import count_effective, rank_scores
from skeval._inference.errors import TestLosses, spread_of_mean
from skeval.utils import _checks
from skeval.utils._checks import CONSTRAINTS, validate_params
from skeval.utils._compat import Interval

Floats = NDArray[np.float64]
AT_K = CONSTRAINTS | {
    "k": [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="neither")]
}


def _find_share(part: float, whole: float) -> float:
    """Return a fraction, set to 1 up to rounding errors, or nan for 0 / 0."""
    if not whole:
        return np.nan
    return 1.0 if part >= (1 - intervals.ROUNDING) * whole else part / whole


class Top(NamedTuple):
    """The samples with the highest scores.

    Attributes
    ----------
    k : float
        Fraction of all samples.
    positive, weight, group : ndarray of shape (n_samples,)
        Class, weight and group of each sample. Weights sum to 1, and `group` may be None.
    inside : ndarray of shape (n_samples,)
        Selected fraction of each sample. It lies between 0 and 1 for scores tied at the end.
    place : ndarray of shape (n_samples,)
        Fraction of the samples with higher scores, plus half the fraction with the same score.
    hits, prevalence : float
        Fraction of all samples that are positive and selected, and fraction that are positive.
    """

    k: float
    positive: NDArray[np.bool_]
    weight: Floats
    group: intervals.Codes | None
    inside: Floats
    place: Floats
    hits: float
    prevalence: float

    @property
    def precision(self) -> float:
        """Fraction of the selected samples that are positive."""
        return _find_share(self.hits, self.k)

    @property
    def recall(self) -> float:
        """Fraction of the positives that are selected, or nan without positives."""
        return _find_share(self.hits, self.prevalence)

    @property
    def lift(self) -> float:
        """Precision divided by the prevalence."""
        return self.recall / self.k

    def find_influence(self, of: str, size: float) -> Floats:
        r"""Return the influence of each sample on the precision or the recall. The mean is 0.

        For the fraction of hits T, the prevalence :math:`\pi`, the recall r and the fraction m of
        positives at the end of the selection,

        .. math:: \psi_i = \{c_i (y_i - m) - T + k m\} / k \text{ and }
                  \{c_i (y_i - m) + k m - r y_i\} / \pi .

        The terms with m arise because the threshold is a quantile of the scores. `size` is the
        effective number of samples.
        """
        # rate of positives among scores around the threshold
        width = min(self.k, 1 - self.k) * min(1.0, 2 * size**-0.25)
        near = np.abs(self.place - self.k) <= width
        rate = self.precision
        if near.any():
            rate = float(np.average(self.positive[near], weights=self.weight[near]))
        moved = self.inside * (self.positive - rate) + self.k * rate
        if of == "precision":
            return moved / self.k - self.precision
        return (moved - self.recall * self.positive) / self.prevalence

    def close(self, of: str) -> tuple[float, float, Callable[[float], intervals.Limits]]:
        """Return the precision, recall or lift, its standard error and Wilson's interval.

        The variance of the influences is increased by the effect of one more positive and one more
        negative on the precision p, ``r (1 - r) - p (1 - p)`` with ``r = (n p + 1) / (n + 2)``.
        Without this, a selection that happens to contain one class would have no variance.
        """
        # effective numbers of all samples, of those inside, and of those that the rate refers to
        n = count_effective(np.ones_like(self.positive), self.weight, self.group)
        size = n_top = max(1.0, self.k * n)
        value = self.precision
        more = (1 - 2 * value) ** 2 * (n_top + 1) / (n_top * (n_top + 2) ** 2)
        if of != "precision":
            value, more = self.recall, more * (self.k / self.prevalence) ** 2
            size = count_effective(self.positive, self.weight, self.group)
        spread = spread_of_mean(TestLosses(self.find_influence(of, n), self.weight, self.group))
        degrees = max(1.0, n - 1) if self.group is None else spread.degrees_of_freedom
        # number of samples of a proportion with this standard error
        error = float(np.sqrt(spread.variance + more))
        size = intervals.size_from_variance(value * (1 - value), error, np.inf, size)
        limits: Callable[[float], intervals.Limits] = partial(
            intervals.wilson_interval, value * size, size, degrees_of_freedom=degrees
        )
        if of != "lift":
            return value, error, limits
        return self.lift, error / self.k, partial(intervals.stretch, 0.0, 1 / self.k, limits)


def find_top(
    positive: NDArray[np.bool_],
    score: Floats,
    weight: Floats,
    k: float,
    group: intervals.Codes | None = None,
) -> Top:
    """Return the k samples with the highest scores, or a fraction k of the total weight."""
    n = int(np.count_nonzero(weight))
    if k > n:
        raise ValueError(f"k must be at most the number of samples, {n}, got {k}.")
    share = k / n if isinstance(k, Integral) else float(k)
    # weight of the samples before each distinct score, from the highest
    weight = weight / weight.sum()
    _, place = np.unique(-score, return_inverse=True)
    size = np.bincount(place, weight)
    before = np.cumsum(size) - size
    inside = np.clip((share - before) / np.where(size > 0, size, 1.0), 0.0, 1.0)[place]
    hits, prevalence = float(weight @ (inside * positive)), float(weight @ positive)
    return Top(share, positive, weight, group, inside, (before + size / 2)[place], hits, prevalence)


def _measure(
    of: str, y_true: Any, y_score: Any, pos_label: object, sample_weight: Any, k: float
) -> float:
    """Return the precision, recall or lift of the samples with the highest scores."""
    top = find_top(*_checks.check_binary_scores(y_true, y_score, pos_label, sample_weight), k)
    value: float = getattr(top, of)
    if np.isnan(value):
        return _checks.give_nan(f"{of}_at_k needs a positive sample in y_true, got none.")
    return value


@validate_params(AT_K)
def precision_at_k(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: float = 0.1,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Return the fraction of positives among the samples with the highest scores.

    With :math:`c_i` equal to 1 for the samples with the k highest scores and 0 for the others,

    .. math:: P@k = \frac{\sum_i c_i y_i}{\sum_i c_i} .

    The result lies in [0, 1]. The best value is 1. An uninformative score gives the prevalence on
    average.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes, at most two.
    y_score : array-like of shape (n_samples,)
        Target scores. Higher values indicate the positive class.
    k : int or float, default=0.1
        Number of samples, or a fraction of the samples between 0 and 1.
    pos_label : int, float, bool or str, default=None
        The positive class. None means 1 if `y_true` takes values in {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. A fraction `k` refers to the total weight. A number k of n samples is
        converted to the fraction k / n.

    Returns
    -------
    precision : float
        Fraction of positives in the selection.

    Raises
    ------
    ValueError
        If `k` exceeds the number of samples, there are more than two classes, `pos_label` is not
        one of them, or a score is not finite.

    Notes
    -----
    If samples are tied at the end of the selection, the result is the mean over all orders of
    these samples. If k times the number of samples is not an integer, a part of the last sample
    counts.

    Two related metrics are available by name in `get_scorer` and
    `skeval.model_selection.metric_interval`. "recall_at_k" is the fraction of all positives that
    are in the selection, that is, the curve of cumulative gains at k. "lift_at_k" is the precision
    at k divided by the prevalence.

    The interval of `skeval.model_selection.metric_interval` is for a fraction of new samples. It
    includes the variation of the threshold, which depends on the scores.

    References
    ----------
    .. [1] Manning, C. D., Raghavan, P. and Schutze, H. (2008). Introduction to Information
       Retrieval, section 8.4. Cambridge University Press.
       https://doi.org/10.1017/CBO9780511809071

    Examples
    --------
    >>> from skeval.metrics import precision_at_k
    >>> y, score = [0, 1, 0, 1, 1, 0], [0.1, 0.9, 0.8, 0.7, 0.3, 0.2]
    >>> round(precision_at_k(y, score, k=3), 4)
    0.6667
    """
    return _measure("precision", y_true, y_score, pos_label, sample_weight, k)


@validate_params(AT_K)
def recall_at_k(
    y_true: Any, y_score: Any, *, k: float = 0.1, pos_label: Any = None, sample_weight: Any = None
) -> float:
    """Return the fraction of the positives among the samples with the highest scores, in [0, 1].

    The result is the curve of cumulative gains at k. The arguments are those of `precision_at_k`.
    """
    return _measure("recall", y_true, y_score, pos_label, sample_weight, k)


@validate_params(AT_K)
def lift_at_k(
    y_true: Any, y_score: Any, *, k: float = 0.1, pos_label: Any = None, sample_weight: Any = None
) -> float:
    """Return the precision at k divided by the prevalence.

    For a fraction k, it lies in [0, 1 / k]. An uninformative score gives 1. The arguments are
    those of `precision_at_k`.
    """
    return _measure("lift", y_true, y_score, pos_label, sample_weight, k)


def find_separation(positive: NDArray[np.bool_], score: Floats, weight: Floats) -> Floats:
    """Return the true- and the false-positive rate at the threshold of their largest difference."""
    tp, fp = rank_scores(positive, score, weight).cumulate()
    rates = np.array([tp / tp[-1], fp / fp[-1]])
    return rates[:, np.argmax(rates[0] - rates[1])]


@validate_params(CONSTRAINTS)
def ks_statistic(
    y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None
) -> float:
    r"""Return the largest difference between true- and false-positive rate over all thresholds.

    This is the one-sided Kolmogorov-Smirnov statistic of the scores of the two classes, for the
    alternative that positives have higher scores. It is also the largest Youden index [1]_,

    .. math:: D = \max_t \{P(s > t \mid +) - P(s > t \mid -)\} .

    The result lies in [0, 1]. The best value is 1. It is never negative, because a threshold may
    select no sample. In a small sample it is too high on average, because the threshold is the
    best one for the same sample.

    References
    ----------
    .. [1] Youden, W. J. (1950). Index for rating diagnostic tests. Cancer 3, 32-35.
       https://doi.org/10.1002/1097-0142(1950)3:1<32::AID-CNCR2820030106>3.0.CO;2-3
    """
    positive, score, weight = _checks.check_binary_scores(y_true, y_score, pos_label, sample_weight)
    if not weight[positive].any() or not weight[~positive].any():
        return _checks.give_nan("ks_statistic needs both classes in y_true, got one.")
    tpr, fpr = find_separation(positive, score, weight).tolist()
    return tpr - fpr


def ks_limits(rates: Floats, sizes: Floats, confidence_level: float) -> intervals.Limits:
    """Return an interval for the largest difference between two rates, for effective class sizes.

    The limits are for the difference between both rates at one threshold, from Wilson's intervals
    with recovered variances (Newcombe 1998). The statistic is biased upward, because the threshold
    is the best one for the samples. The lower limit therefore uses the quantile of the supremum of
    a Brownian bridge, relative to its largest standard deviation. It is 0 unless the
    Kolmogorov-Smirnov test rejects equal distributions.
    """
    supremum = np.sqrt(-2 * np.log((1 - confidence_level) / 2))
    (low, _), (_, up) = np.transpose(intervals.wilson_limits(rates, sizes, supremum))
    (_, high), (down, _) = np.transpose(
        intervals.wilson_limits(rates, sizes, intervals.normal_quantile(confidence_level))
    )
    tpr, fpr = rates
    value = tpr - fpr
    above = value > supremum / 2 * np.sqrt(np.sum(1 / sizes))
    lowest = value - np.hypot(tpr - low, up - fpr) if above else 0.0
    return max(0.0, float(lowest)), min(1.0, float(value + np.hypot(high - tpr, fpr - down)))
