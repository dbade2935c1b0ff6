"""Bands of a ROC curve."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import auc

from skeval._inference.curve_region import curve_limits
from skeval._inference.interval import ConfidenceInterval
from skeval._inference.proportions import area_interval
from skeval.metrics._curve_sample import (
    BAND_CONSTRAINTS,
    check_curve_sample,
    simulate_distances,
)
from skeval.utils._compat import validate_params
from skeval.utils._frames import DataFrame, make_frame
from skeval.utils._seeds import RandomStateLike
from skeval.utils._text import ShownAsText, write_ends, write_number

__all__ = ["RocCurveBand", "roc_curve_band"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RocCurveBand(ShownAsText):
    """A ROC curve with an interval at each false-positive rate, and a band of the whole.

    Attributes
    ----------
    false_positive_rate : ndarray of shape (n_points,)
        The x values, evenly from 0 to 1.
    true_positive_rate : ndarray of shape (n_points,)
        The observed curve there.
    low, high : ndarray of shape (n_points,)
        Ends of the interval at each x by itself.
    simultaneous_low, simultaneous_high : ndarray of shape (n_points,)
        Ends of the band that is meant to hold the whole curve.
    points : ndarray of shape (n_cuts, 2)
        False-positive and true-positive rate of every cut of the score, none to all.
    thresholds : ndarray of shape (n_cuts,)
        ``y_score >= thresholds[i]`` is the decision with the rates ``points[i]``.
    area : float
        The area under the curve.
    area_interval : ConfidenceInterval
        Its interval.
    confidence_level : float
        Nominal coverage of each of the three.
    distances : ndarray of shape (n_resamples,)
        How far a simulated curve lies from the true one, in standard deviations.
    """

    false_positive_rate: Floats = field(repr=False)
    true_positive_rate: Floats = field(repr=False)
    low: Floats = field(repr=False)
    high: Floats = field(repr=False)
    simultaneous_low: Floats = field(repr=False)
    simultaneous_high: Floats = field(repr=False)
    points: Floats = field(repr=False)
    thresholds: Floats = field(repr=False)
    area: float
    area_interval: ConfidenceInterval
    confidence_level: float
    distances: Floats = field(repr=False)

    def to_frame(self) -> DataFrame:
        """Return one row per false-positive rate."""
        columns = (
            *("false_positive_rate", "true_positive_rate", "low", "high"),
            *("simultaneous_low", "simultaneous_high"),
        )
        return make_frame({name: getattr(self, name) for name in columns})

    def __str__(self) -> str:
        rows = [
            f"area {write_number(self.area)}, {self.area_interval}",
            f"{'FPR':>6}  {'TPR':>6}  {'at each point':<16}  whole curve",
        ]
        for i in np.unique(np.linspace(0, len(self.low) - 1, 6).astype(int)):
            whole = write_ends(self.simultaneous_low[i], self.simultaneous_high[i])
            rows.append(
                f"{self.false_positive_rate[i]:6.2f}  {self.true_positive_rate[i]:6.4f}  "
                f"{write_ends(self.low[i], self.high[i]):<16}  {whole}"
            )
        return "\n".join(rows)


@validate_params(BAND_CONSTRAINTS)
def roc_curve_band(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    n_points: int = 101,
    random_state: RandomStateLike = None,
) -> RocCurveBand:
    r"""ROC curve with pointwise and simultaneous bands, and its area with an interval.

    At the threshold of a false-positive rate x the curve is the true-positive rate of unlimited
    data, in [0, 1]; higher is better, and the diagonal is a score without information.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes, two.
    y_score : array-like of shape (n_samples,)
        Larger says more surely positive.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 where `y_true` takes values in {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        The share of each sample in the rates. A class counts as :math:`(\sum w)^2 / \sum w^2`
        samples, so that only the ratios of weights matter.
    groups : array-like of shape (n_samples,), default=None
        For samples that belong together: a class counts as many samples as would have the variance
        that its rates have between groups, and the quantile is Student's.
    confidence_level : float, default=0.95
        Nominal coverage.
    n_resamples : int, default=1000
        Curves that are simulated for the simultaneous band.
    n_points : int, default=101
        Number of x values.
    random_state : int, RandomState, Generator or None, default=None
        Draws the simulated curves; nothing else of the result depends on it.

    Returns
    -------
    band : RocCurveBand
        With the curve, `low` and `high`, `simultaneous_low` and `simultaneous_high`, `area` and
        `area_interval`.

    Raises
    ------
    ValueError
        If a class is absent, there are more than two, a score is not finite, or there is but one
        group.

    Notes
    -----
    The percentiles of a bootstrap of samples have no width where no error was seen: in the
    simulations below they held the curve in 0.54 of the samples, on average over the rates, and
    nowhere in some corners. Instead, at each x:

    - the threshold that has the rate x on unlimited data may be off by `a` standard deviations
      :math:`\sqrt{x (1 - x) / n}` of the n negatives, the positive rate at it by `b` of those of
      the m positives (limits of Jeffreys; Brown et al. [1]_), independently. The interval holds
      what the pairs with :math:`a^2 + b^2 \le z^2` reach, z the normal quantile: only the
      deviation across the curve counts, which is one normal number;
    - the band of the whole curve has the same form, with the limits of Clopper and Pearson and with
      z the quantile of the largest distance, in these deviations, of curves drawn from the
      observed one. Bands of a fixed width (Campbell [2]_) also hold the curve, and are wide in the
      corners; Macskassy et al. [3]_ compare others;
    - the area has the score interval of `metric_interval`, with the variance of DeLong, or that
      between groups (Obuchowski [4]_).

    Measured for a nominal 0.95 on 200 samples of two normal scores each: the coverage at the
    worst of ten false-positive rates from 0.01 to 0.95, of the whole curve, and of the area (1000
    samples), which is below .93 in one of them.

    =======  ====  ================  ================  ================
    samples  rate  area 0.6          0.9               0.98
    =======  ====  ================  ================  ================
    50       0.5   .980, .985, .961  .970, .985, .951  .965, .980, .949
    50       0.1   .970, 1.00, .953  .985, 1.00, .962  .975, .990, .962
    50       0.02  .995, 1.00, .963  .980, .995, .958  .985, .995, .956
    200      0.5   .970, .965, .953  .975, .990, .951  .975, .990, .940
    200      0.1   .950, .980, .944  .970, .995, .923  .980, .990, .942
    200      0.02  .965, 1.00, .930  .970, .985, .968  .960, .995, .961
    =======  ====  ================  ================  ================

    With 10 and 40 groups of 5 samples of one class, whose scores are correlated (0.7), the lowest
    coverage at a point was .985 and .985, that of the whole curve .990 and .995, and that of the
    area .900 and .970. Taken for independent, the samples of 40 groups had .830, .870 and .700.

    References
    ----------
    .. [1] Brown, L. D., Cai, T. T. and DasGupta, A. (2001). Interval estimation for a binomial
       proportion. Statistical Science 16, 101-133. https://doi.org/10.1214/ss/1009213286
    .. [2] Campbell, G. (1994). Advances in statistical methodology for the evaluation of diagnostic
       and laboratory tests. Statistics in Medicine 13, 499-508.
       https://doi.org/10.1002/sim.4780130513
    .. [3] Macskassy, S. A., Provost, F. and Rosset, S. (2005). ROC confidence bands: an empirical
       evaluation. ICML 2005, 537-544. https://doi.org/10.1145/1102351.1102419
    .. [4] Obuchowski, N. A. (1997). Nonparametric analysis of clustered ROC curve data. Biometrics
       53, 567-578. https://doi.org/10.2307/2533958

    Examples
    --------
    >>> from skeval.metrics import roc_curve_band
    >>> y, score = [0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.6, 0.4, 0.7, 0.9]
    >>> band = roc_curve_band(y, score, random_state=0)
    >>> round(band.area, 4)
    0.8889
    """
    sample = check_curve_sample(y_true, y_score, pos_label, sample_weight, groups, confidence_level)
    steps, thresholds = sample.steps()
    distances = simulate_distances(steps, n_resamples, random_state, with_prevalence=False)
    whole = max(float(np.quantile(distances, confidence_level)) * sample.widening, sample.z)
    x = np.linspace(0, 1, n_points)
    area = float(auc(steps.x, steps.y))
    sizes = steps.n_y, steps.n_x
    ends = area_interval(area, sample.area_error(), sizes, confidence_level)
    return RocCurveBand(
        x,
        steps.above(x),
        *curve_limits(steps, x, sample.z, exact=False),
        *curve_limits(steps, x, whole, exact=True),
        np.column_stack([steps.x, steps.y]),
        thresholds,
        area,
        ConfidenceInterval(*ends, confidence_level, "score"),
        confidence_level,
        distances,
    )
