"""Net benefit of decisions by a predicted probability: the decision curve."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skeval._inference.confusion import ConfusionTable, score_form
from skeval.metrics._checks import check_binary_scores
from skeval.metrics._curve_sample import number_groups
from skeval.metrics._ranking import SCORE_CONSTRAINTS
from skeval.utils._checks import check_data
from skeval.utils._compat import Interval, validate_params
from skeval.utils._frames import DataFrame, make_frame
from skeval.utils._text import ShownAsText, write_ends

__all__ = ["NetBenefit", "net_benefit"]

Floats = NDArray[np.float64]
_GRID = np.arange(1, 100) / 100


@dataclass(frozen=True, eq=False)
class NetBenefit(ShownAsText):
    """A decision curve, or the difference of two, with an interval at each threshold.

    Attributes
    ----------
    thresholds : ndarray of shape (n_thresholds,)
        Probabilities from which on a sample is treated.
    net_benefit : ndarray of shape (n_thresholds,)
        Net benefit at each, or its difference, in true positives per sample.
    low, high : ndarray of shape (n_thresholds,)
        Ends of the interval at each threshold by itself.
    treat_all : ndarray of shape (n_thresholds,)
        Net benefit of treating every sample; that of treating none is 0.
    prevalence : float
        Share of positive samples.
    confidence_level : float
        Nominal pointwise coverage.
    is_difference : bool
        Whether a baseline was subtracted.
    """

    thresholds: Floats = field(repr=False)
    net_benefit: Floats = field(repr=False)
    low: Floats = field(repr=False)
    high: Floats = field(repr=False)
    treat_all: Floats = field(repr=False)
    prevalence: float
    confidence_level: float
    is_difference: bool

    def to_frame(self) -> DataFrame:
        """Return one row per threshold."""
        columns = ("thresholds", "net_benefit", "low", "high", "treat_all")
        return make_frame({name: getattr(self, name) for name in columns})

    def __str__(self) -> str:
        what = "difference" if self.is_difference else "net benefit"
        level = f"{100 * self.confidence_level:g} % interval"
        rows = [f"threshold  {what:>11}  {level:<18}  treat all"]
        for i in np.unique(np.linspace(0, len(self.low) - 1, 5).astype(int)):
            interval = write_ends(self.low[i], self.high[i])
            rows.append(
                f"{self.thresholds[i]:9.2f}  {self.net_benefit[i]:11.4f}  {interval:<18}  "
                f"{self.treat_all[i]:9.4f}"
            )
        return "\n".join(rows)


@validate_params(
    {
        **{name: rule for name, rule in SCORE_CONSTRAINTS.items() if name != "y_score"},
        "y_proba": ["array-like"],
        "baseline": ["array-like", None],
        "thresholds": ["array-like", None],
        "groups": ["array-like", None],
        "confidence_level": [Interval(Real, 0, 1, closed="neither")],
    }
)
def net_benefit(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    baseline: ArrayLike | None = None,
    thresholds: ArrayLike | None = None,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> NetBenefit:
    r"""Net benefit of treating the samples whose probability reaches a threshold.

    .. math:: NB(p_t) = \frac{TP}{n} - \frac{FP}{n}\, \frac{p_t}{1 - p_t}

    Who treats from a probability :math:`p_t` on takes a false positive to cost
    :math:`p_t / (1 - p_t)` of what a true positive gains. At most the prevalence, which is best;
    not bounded below. Treating nobody has 0, and treating all
    :math:`\pi - (1 - \pi)\, p_t / (1 - p_t)`: a model is of use where it is above both.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes, two at most. The samples must be drawn from the population, not each class by
        itself.
    y_proba : array-like of shape (n_samples,)
        Predicted probabilities of the positive class.
    baseline : array-like of shape (n_samples,), default=None
        Probabilities of a second model for the same samples, whose net benefit is subtracted; all
        1 is treating all.
    thresholds : array-like of shape (n_thresholds,), default=None
        Where to find it, in [0, 1); None is 0.01, 0.02, ..., 0.99.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 where `y_true` takes values in {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        Each sample counts as often as its weight says.
    groups : array-like of shape (n_samples,), default=None
        For samples that belong together: the variance is that between groups, and the quantile is
        Student's.
    confidence_level : float, default=0.95
        Nominal coverage at each threshold by itself, not of the whole curve.

    Returns
    -------
    curve : NetBenefit
        With `thresholds`, `net_benefit`, `low`, `high` and `treat_all`.

    Raises
    ------
    ValueError
        If there are more than two classes, `pos_label` is none of them, a probability or a
        threshold lies outside its range, or there is but one group.

    Notes
    -----
    At a threshold each sample gains 1, :math:`-p_t / (1 - p_t)` or nothing. The interval of the
    mean is the "score" of `metric_interval`: what it can be in the tables of these kinds that
    Pearson's chi-square does not reject. A kind that was never seen has its share of the
    uncertainty, so that there is a width where nobody is treated, and where two models treat the
    same samples. A difference is paired: only the samples count that one model treats and the
    other does not.

    A sample whose probability is the threshold is treated, as in the R package dcurves. Found on
    the samples of training it is as optimistic as any metric.

    Measured for a nominal 0.95 on 200 samples of two normal scores each, whose probabilities are
    right: the lowest coverage over the thresholds 0.5, 1 and 1.5 times the rate of positives, of
    one model and of the difference from a worse one.

    =======  ====  ==========  ==========  ==========
    samples  rate  area 0.6    0.9         0.98
    =======  ====  ==========  ==========  ==========
    50       0.5   .945, .965  .960, .950  .965, .970
    50       0.1   .960, .990  .960, .985  .965, .995
    50       0.02  .915, 1.00  .940, 1.00  .915, 1.00
    200      0.5   .945, .950  .945, .945  .955, .950
    200      0.1   .950, .945  .945, .960  .950, .970
    200      0.02  .935, .990  .935, .995  .940, .985
    =======  ====  ==========  ==========  ==========

    It is below .93 with one positive among 50 samples, on average.

    References
    ----------
    .. [1] Vickers, A. J. and Elkin, E. B. (2006). Decision curve analysis: a novel method for
       evaluating prediction models. Medical Decision Making 26, 565-574.
       https://doi.org/10.1177/0272989X06295361
    .. [2] Vickers, A. J., Cronin, A. M., Elkin, E. B. and Gonen, M. (2008). Extensions to decision
       curve analysis. BMC Medical Informatics and Decision Making 8, 53.
       https://doi.org/10.1186/1472-6947-8-53

    Examples
    --------
    >>> from skeval.metrics import net_benefit
    >>> y, proba = [0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.6, 0.4, 0.7, 0.9]
    >>> curve = net_benefit(y, proba, thresholds=[0.25, 0.5])
    >>> curve.net_benefit.round(4)
    array([0.4444, 0.1667])
    """
    named = {"y_proba": y_proba} | ({} if baseline is None else {"baseline": baseline})
    checked = [
        _check_probabilities(y_true, proba, pos_label, sample_weight, name)
        for name, proba in named.items()
    ]
    places = _check_thresholds(thresholds)
    seen = checked[0][2] > 0
    positive, weight = checked[0][0][seen], checked[0][2][seen]
    group = number_groups(groups, len(seen), seen)
    share = float(np.average(positive, weights=weight))
    odds = places / (1 - places)
    probabilities = np.array([proba[seen] for _, proba, _ in checked])
    found = np.empty((3, len(places)))
    for at, (threshold, cost) in enumerate(zip(places, odds, strict=True)):
        cell, gains = _find_gains(positive, probabilities >= threshold, cost)
        found[:, at] = _estimate(cell, gains, weight, group, confidence_level)
    treat_all = share - (1 - share) * odds
    benefit, low, high = found
    facts = treat_all, share, confidence_level, baseline is not None
    return NetBenefit(places, benefit, low, high, *facts)


def _check_probabilities(
    y_true: ArrayLike,
    proba: ArrayLike,
    pos_label: object,
    sample_weight: ArrayLike | None,
    name: str,
) -> tuple[NDArray[np.bool_], Floats, Floats]:
    """Return (is positive, probability, relative weight) of each sample."""
    checked = check_binary_scores(y_true, proba, pos_label, sample_weight, name)
    lowest, largest = checked[1].min(), checked[1].max()
    if lowest < 0 or largest > 1:
        raise ValueError(f"{name} must lie in [0, 1], got {lowest if lowest < 0 else largest}.")
    return checked


def _check_thresholds(thresholds: ArrayLike | None) -> Floats:
    if thresholds is None:
        return _GRID.copy()
    places = check_data("thresholds", thresholds, ensure_2d=False, dtype=np.float64)
    if places.ndim != 1:
        raise ValueError(f"thresholds must have one dimension, got {places.ndim}.")
    if places.min() < 0 or places.max() >= 1:
        raise ValueError(f"thresholds must lie in [0, 1), got {places.min()} to {places.max()}.")
    return places


def _find_gains(
    positive: NDArray[np.bool_], treated: NDArray[np.bool_], cost: float
) -> tuple[NDArray[np.intp], Floats]:
    """Return the kind of each sample, and what a sample of each kind gains.

    `treated` has a row for the model and one for the baseline, if there is one, whose gain is
    subtracted. The kinds are: no gain; positives and negatives that the model treats; and those
    that the baseline treats. A sample that both treat gains nothing.
    """
    gains = np.array([0.0, 1.0, -cost, -1.0, cost])[: 1 + 2 * len(treated)]
    cell = np.where(treated[0], np.where(positive, 1, 2), 0)
    if len(treated) > 1:
        cell = np.where(treated[1], np.where(positive, 3, 4), cell)
        cell[treated[0] & treated[1]] = 0
    return cell, gains


def _estimate(
    cell: NDArray[np.intp],
    gains: Floats,
    weight: Floats,
    group: NDArray[np.intp] | None,
    confidence_level: float,
) -> tuple[float, float, float]:
    """Return the mean gain and the ends of its score interval."""

    def mean_gain(share: Floats) -> tuple[float, Floats]:
        return float(share @ gains), gains

    counts = np.bincount(cell, weight, minlength=len(gains)).astype(np.float64)
    estimate = mean_gain(counts / counts.sum())[0]
    limits, _ = score_form(ConfusionTable(counts, cell, weight, mean_gain), estimate, group)
    return estimate, *limits(confidence_level)
