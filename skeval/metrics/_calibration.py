"""Reliability diagrams: what happens where a probability is predicted."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skeval._inference.poisson_binomial import share_limits
from skeval._inference.proportions import exact_interval, wilson_interval
from skeval.metrics._probabilities import (
    BIN_CONSTRAINTS,
    PROBABILITY_CONSTRAINTS,
    bin_events,
    check_events,
)
from skeval.utils._compat import Interval, StrOptions, validate_params
from skeval.utils._frames import DataFrame, make_frame
from skeval.utils._text import ShownAsText, write_ends

__all__ = ["CalibrationCurve", "calibration_curve"]

Floats = NDArray[np.float64]
INTERVALS = {"clopper_pearson": exact_interval, "wilson": wilson_interval}
COLUMNS = ("mean_predicted", "observed", "low", "high", "band_low", "band_high")


@dataclass(frozen=True, eq=False)
class CalibrationCurve(ShownAsText):
    """Observed fractions of an event against its predicted probability, bin by bin.

    Attributes
    ----------
    edges : ndarray of shape (n_bins, 2)
        Ends of the bins that hold samples: above the first, up to the second.
    counts : int ndarray of shape (n_bins,)
        Number of samples in each.
    mean_predicted : ndarray of shape (n_bins,)
        Mean predicted probability.
    observed : ndarray of shape (n_bins,)
        Fraction of the samples of which the event happened.
    low, high : ndarray of shape (n_bins,)
        Ends of the interval of what the fraction estimates, in each bin by itself.
    band_low, band_high : ndarray of shape (n_bins,)
        Where the observed fraction of a calibrated model would lie.
    confidence_level : float
        Nominal coverage of each interval, and of the band in each bin.
    method : str
        How the intervals were made.
    strategy : str
        How the bins were made.
    pos_label : object
        The class whose probability was predicted; None where the event is that the class of the
        largest probability is the true one.
    y_prob : ndarray of shape (n_samples,)
        The probabilities of the event, without samples of weight 0.
    sample_weight : ndarray of shape (n_samples,)
        Their weights, relative to the largest.
    """

    edges: Floats = field(repr=False)
    counts: NDArray[np.intp] = field(repr=False)
    mean_predicted: Floats = field(repr=False)
    observed: Floats = field(repr=False)
    low: Floats = field(repr=False)
    high: Floats = field(repr=False)
    band_low: Floats = field(repr=False)
    band_high: Floats = field(repr=False)
    confidence_level: float
    method: str
    strategy: str
    pos_label: object
    y_prob: Floats = field(repr=False)
    sample_weight: Floats = field(repr=False)

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Whether the observed fraction of each bin lies in the band of a calibrated model."""
        rounding = 1e-12
        below = self.observed < self.band_low - rounding
        return ~below & (self.observed <= self.band_high + rounding)

    def to_frame(self) -> DataFrame:
        """Return one row per bin."""
        columns = {"above": self.edges[:, 0], "up_to": self.edges[:, 1], "count": self.counts}
        return make_frame(columns | {name: getattr(self, name) for name in COLUMNS})

    def __str__(self) -> str:
        level = f"{100 * self.confidence_level:g} %"
        head = f"{'predicted':>9}  {'observed':>8}  {level + ' interval':<16}"
        rows = [f"{head}  {'if calibrated':<16}  samples"]
        for k, count in enumerate(self.counts):
            interval = write_ends(self.low[k], self.high[k])
            band = write_ends(self.band_low[k], self.band_high[k])
            row = f"{self.mean_predicted[k]:9.4f}  {self.observed[k]:8.4f}  {interval:<16}"
            rows.append(f"{row}  {band:<16}  {count:7d}{'' if self.inside[k] else '  outside'}")
        return "\n".join(rows)


@validate_params(
    {
        **PROBABILITY_CONSTRAINTS,
        **BIN_CONSTRAINTS,
        "method": [StrOptions(set(INTERVALS))],
        "confidence_level": [Interval(Real, 0, 1, closed="neither")],
    }
)
def calibration_curve(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    n_bins: int = 10,
    strategy: str = "quantile",
    method: str = "clopper_pearson",
    confidence_level: float = 0.95,
    pos_label: object = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> CalibrationCurve:
    r"""Observed fraction of an event in bins of its predicted probability, with intervals.

    In bin `b` of the samples, of weights `w`,

    .. math:: \bar p_b = \frac{\sum_{i \in b} w_i p_i}{\sum_{i \in b} w_i}, \qquad
              \bar y_b = \frac{\sum_{i \in b} w_i y_i}{\sum_{i \in b} w_i},

    with :math:`y_i` 1 where the event happened. A model is calibrated where the event happens as
    often as it says: then :math:`\bar y_b` estimates :math:`\bar p_b`.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probability of the positive class, or of each class.
    n_bins : int, default=10
        Number of bins; those without samples are left out.
    strategy : {"quantile", "uniform"}, default="quantile"
        Bins of equally many samples, or of equal width. Edges are those of scikit-learn's
        `calibration_curve`; where weights differ, a quantile is the smallest probability that has
        the share of the weight at or below it.
    method : {"clopper_pearson", "wilson"}, default="clopper_pearson"
        The interval of each bin.
    confidence_level : float, default=0.95
        Nominal coverage in each bin by itself, of the interval and of the band.
    pos_label : int, float, bool or str, default=None
        The positive class. None is 1 where `y_prob` has one column and `y_true` takes values in
        {0, 1} or {-1, 1}; where it has several, the event is that the class of the largest
        probability is the true one (top label).
    labels : array-like of shape (n_classes,), default=None
        The class of each column of `y_prob`; None is the sorted classes of `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Each sample counts as often as its weight says. A bin counts as
        :math:`(\sum w)^2 / \sum w^2` samples, so that only the ratios of weights matter.

    Returns
    -------
    curve : CalibrationCurve
        With `mean_predicted`, `observed`, their `counts`, intervals and the band.

    Raises
    ------
    ValueError
        If a probability lies outside [0, 1], or classes and columns do not agree.

    See Also
    --------
    CalibrationDisplay : The drawing.
    expected_calibration_error : The mean distance of the curve from the diagonal.

    Notes
    -----
    *The interval* is of the mean of the true probabilities of the samples in the bin. Its coverage,
    nominal 0.95, summed over all outcomes where all samples of the bin have one true probability
    (where they differ it covers more often); mean width in parentheses:

    ===========  ===========  ===========  ===========  ===========  ===========  ===========
    samples of   Clopper-Pearson                        Wilson
    -----------  -------------------------------------  -------------------------------------
    the bin      0.5          0.1          0.02         0.5          0.1          0.02
    ===========  ===========  ===========  ===========  ===========  ===========  ===========
    5            1.00 (0.76)  0.99 (0.61)  1.00 (0.54)  0.94 (0.62)  0.92 (0.50)  0.90 (0.45)
    10           0.98 (0.60)  0.99 (0.42)  0.98 (0.33)  0.98 (0.51)  0.93 (0.37)  0.98 (0.30)
    20           0.96 (0.45)  0.99 (0.29)  0.99 (0.20)  0.96 (0.39)  0.96 (0.26)  0.94 (0.19)
    40           0.96 (0.32)  0.97 (0.20)  0.99 (0.12)  0.96 (0.29)  0.94 (0.19)  0.95 (0.11)
    ===========  ===========  ===========  ===========  ===========  ===========  ===========

    Fifty samples in ten bins are 5 in each: Wilson's interval is not for them, and at some rates in
    between covers less than 0.90.

    *The band* holds the observed fraction of a calibrated model in a share `confidence_level` of
    data sets at least, bin by bin: the number of events is then a sum of independent ones with the
    probabilities :math:`p_i`, whose distribution (Poisson-binomial) is computed. It says what the
    bars of [1]_ say by simulation. Weights that differ take the beta distribution of the same mean
    and variance, which is about right: with random weights (uniform, exponential, Pareto) of 5, 20
    and 100 samples a nominal 0.95 held 0.94 to 0.99 on average, but where one weight exceeds all
    others as little as 0.80. Of ten bins of a calibrated model one or more lie outside in up to two
    data sets of five.

    References
    ----------
    .. [1] Bröcker, J. and Smith, L. A. (2007). Increasing the reliability of reliability diagrams.
       Weather and Forecasting 22, 651-661. https://doi.org/10.1175/WAF993.1
    .. [2] Brown, L. D., Cai, T. T. and DasGupta, A. (2001). Interval estimation for a binomial
       proportion. Statistical Science 16, 101-133. https://doi.org/10.1214/ss/1009213286

    Examples
    --------
    >>> from skeval.metrics import calibration_curve
    >>> y = [0, 0, 0, 1, 0, 1, 1, 1]
    >>> p = [0.1, 0.1, 0.2, 0.3, 0.6, 0.7, 0.8, 0.8]
    >>> print(calibration_curve(y, p, n_bins=2))
    predicted  observed  95 % interval     if calibrated     samples
       0.1750    0.2500  [0.0063, 0.8059]  [0.0000, 0.5000]        4
       0.7250    0.7500  [0.1941, 0.9937]  [0.2500, 1.0000]        4
    """
    events = check_events(y_true, y_prob, pos_label, labels, sample_weight)
    bins = bin_events(events, n_bins, strategy)
    limits = [
        INTERVALS[method](share * size, size, confidence_level)
        for share, size in zip(bins.observed, bins.effective, strict=True)
    ]
    band = [
        share_limits(events.probability[inside], events.weight[inside], confidence_level)
        for inside in (bins.place == k for k in range(len(bins.counts)))
    ]
    (low, high), (band_low, band_high) = np.array(limits).T, np.array(band).T
    return CalibrationCurve(
        *(bins.edges, bins.counts, bins.predicted, bins.observed),
        *(low, high, band_low, band_high),
        *(confidence_level, method, strategy, events.pos_label),
        *(events.probability, events.weight),
    )
