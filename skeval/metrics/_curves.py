"""Curves of binary scores over all thresholds, bands, dominance, net benefit and costs.

`check_curve_sample` validates labels, scores, weights and groups for all functions with an
interval. Each point of a ROC curve gives a line in cost space. The cost curve is the lower
envelope of these lines. It can be computed from the points on the convex hull of the ROC curve.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from sklearn.isotonic import isotonic_regression
from sklearn.metrics import auc
from sklearn.utils import check_array, check_consistent_length

from skeval._inference import areas, intervals, tables
from skeval._inference.areas import Area, Ranked, Steps
from skeval._inference.estimate import Band, Curve, Estimate
from skeval._inference.intervals import Codes, Limits, Spread
from skeval.metrics._gains import find_top
from skeval.utils import _checks
from skeval.utils._checks import CONSTRAINTS, RandomStateLike, validate_params
from skeval.utils._compat import Interval, StrOptions

Floats = NDArray[np.float64]
Winner = Literal["a", "b", "equal", "cross"]
COST_AXES = "probability_cost", "normalized_expected_cost"
_DIRECTIONS = 7
"""Number of directions over which the limits of the precision are searched, for each angle."""


@validate_params(CONSTRAINTS)
def ranking_loss(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Return the fraction of (positive, negative) pairs ranked wrongly. Ties count as half.

    .. math:: \ell_{rank} = \frac{1}{m^+ m^-} \sum_{+,-}
              \Bigl( 1[f^+ < f^-] + \tfrac12\, 1[f^+ = f^-] \Bigr)

    The result lies in [0, 1]. The best value is 0, the worst 1. An uninformative score gives 1/2.
    The computation takes :math:`O(n \log n)` time.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes, at most two.
    y_score : array-like of shape (n_samples,)
        Target scores. Higher values indicate the positive class.
    pos_label : int, float, bool or str, default=None
        The positive class. None means 1 if `y_true` takes values in {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. The weight of a pair is the product of the weights of its samples.

    Returns
    -------
    loss : float
        Fraction of the pairs, or nan with `UndefinedMetricWarning` if a class is absent.

    Raises
    ------
    ValueError
        If there are more than two classes, `pos_label` is not one of them, or a score is not
        finite.

    Notes
    -----
    The result equals ``1 - roc_auc_score``. In the formula :math:`AUC = \frac12 \sum_i (x_{i+1} -
    x_i)(y_i + y_{i+1})`, the sum is over consecutive points of the ROC curve, not over samples.

    References
    ----------
    .. [1] Hanley, J. A. and McNeil, B. J. (1982). The meaning and use of the area under a receiver
       operating characteristic (ROC) curve. Radiology 143, 29-36.
       https://doi.org/10.1148/radiology.143.1.7063747

    Examples
    --------
    >>> from skeval.metrics import ranking_loss
    >>> ranking_loss([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.25
    """
    # wrongly ordered pairs are the area of the negated score
    positive, score, weight = _checks.check_binary_scores(y_true, y_score, pos_label, sample_weight)
    reverse = areas.rank_scores(positive, -score, weight)
    if not min(reverse.totals):
        return _checks.give_nan("ranking_loss needs both classes in y_true, got one.")
    return float(np.clip(reverse.area, 0.0, 1.0))


@validate_params(CONSTRAINTS)
def break_even_point(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Return the value at which precision equals recall.

    .. math:: P = \frac{TP}{TP + FP} = \frac{TP}{m^+} = R
              \quad\text{where}\quad TP + FP = m^+

    At this threshold, the number of samples predicted as positive equals the number of positive
    samples. The result lies in [0, 1]. The best value is 1, the worst 0. An uninformative score
    gives the prevalence on average.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes, at most two.
    y_score : array-like of shape (n_samples,)
        Target scores. Higher values indicate the positive class.
    pos_label : int, float, bool or str, default=None
        The positive class. None means 1 if `y_true` takes values in {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights.

    Returns
    -------
    value : float
        Precision at the break-even point, or nan with `UndefinedMetricWarning` if there is no
        positive sample.

    Raises
    ------
    ValueError
        If there are more than two classes, `pos_label` is not one of them, or a score is not
        finite.

    Notes
    -----
    If no threshold satisfies this because scores are tied, the value is interpolated linearly
    between the two neighboring (recall, precision) points. If the first of them has no true
    positives, its precision is 0/0 or 0, and the precision of the second point is returned. A
    constant score therefore gives the prevalence. (Interpolation from the point (0, 1) that
    `precision_recall_curve` adds would give ``1 / (2 - prevalence)``.) Weights are compared up to
    rounding, so their unit does not matter.

    References
    ----------
    .. [1] Joachims, T. (2005). A support vector method for multivariate performance measures. ICML
       2005. https://doi.org/10.1145/1102351.1102399

    Examples
    --------
    >>> from skeval.metrics import break_even_point
    >>> break_even_point([0, 1, 0, 1, 1, 0], [0.1, 0.9, 0.8, 0.7, 0.3, 0.2])
    0.6666666666666666
    """
    positive, score, weight = _checks.check_binary_scores(y_true, y_score, pos_label, sample_weight)
    # cumulative counts of the samples that have weight
    seen = weight > 0
    tp, fp = areas.rank_scores(positive[seen], score[seen], weight[seen]).cumulate()
    if tp[-1] == 0:
        return _checks.give_nan("break_even_point needs a positive sample in y_true, got none.")
    predicted = (tp + fp)[1:]
    recall, precision = tp[1:] / tp[-1], tp[1:] / predicted
    # first cut with P <= R; the tolerance absorbs rounding from the order of summation
    after = int(np.argmax(predicted >= tp[-1] * (1 - intervals.ROUNDING)))
    end = precision[after]
    # skip a first cut without true positives: P = R = 0 is not informative there
    start, before = end, 0.0
    if after and recall[after - 1] > 0:
        start, before = precision[after - 1], recall[after - 1]
    # crossing of the diagonal P = R by the line between the two cuts
    above, below = start - before, recall[after] - end
    return float(end if below <= 0 else start + above / (above + below) * (end - start))


@validate_params(
    {"curve_a": [tuple, list], "curve_b": [tuple, list], "kind": [StrOptions({"roc", "pr"})]}
)
def curve_dominance(
    curve_a: Sequence[ArrayLike],
    curve_b: Sequence[ArrayLike],
    *,
    kind: Literal["roc", "pr"] = "roc",
) -> tuple[Winner, Floats]:
    """Return the dominating one of two curves, or the points where they cross.

    Curve A dominates B if it is on or above B at every x in [0, 1] and above B at some x. A
    classifier whose ROC curve dominates has the lower expected cost for all costs and priors. If
    the curves cross, the better classifier depends on the costs and the prior.

    Parameters
    ----------
    curve_a : tuple of arrays
        Result of `roc_curve` or `precision_recall_curve`, that is, (FPR, TPR, ...) or (precision,
        recall, ...). Only the first two arrays are used.
    curve_b : tuple of arrays
        The other curve, in the same format.
    kind : {"roc", "pr"}, default="roc"
        "roc" is TPR against FPR. "pr" is precision against recall.

    Returns
    -------
    winner : {"a", "b", "equal", "cross"}
        Curve that dominates the other one. "equal" or "cross" if neither does.
    crossings : ndarray of shape (n_crossings, 2)
        Points (x, y) where the curves cross, sorted by x.

    Raises
    ------
    ValueError
        If a curve has fewer than two points, leaves [0, 1], does not span x = 0 to x = 1, or is not
        sorted by x.

    Notes
    -----
    Points are joined by straight lines. Differences below 1e-12 in x or y are ignored. At a
    vertical step, the curves are compared just before and just after it. If the curves coincide
    over an interval before they change sides, the crossing is the start of that interval. In
    precision-recall space, a straight line between distant points is optimistic. With the correct
    interpolation, one classifier dominates in precision-recall space if and only if it dominates
    in ROC space on the same samples (Davis and Goadrich [1]_, theorem 3.2).

    References
    ----------
    .. [1] Davis, J. and Goadrich, M. (2006). The relationship between precision-recall and ROC
       curves. ICML 2006. https://doi.org/10.1145/1143844.1143874

    Examples
    --------
    >>> from skeval.metrics import curve_dominance, roc_curve
    >>> y = [0, 0, 1, 1]
    >>> good, bad = roc_curve(y, [0.1, 0.2, 0.8, 0.9]), roc_curve(y, [0.1, 0.8, 0.2, 0.9])
    >>> winner, crossings = curve_dominance(good, bad)
    >>> winner, len(crossings)
    ('a', 0)
    """
    (x_a, y_a), (x_b, y_b) = _curve(curve_a, "curve_a", kind), _curve(curve_b, "curve_b", kind)
    # all x values; of those that differ by rounding, such as 0.3 and 0.1 + 0.2, only the smallest
    knots = np.unique(np.concatenate([x_a, x_b]))
    knots = knots[np.diff(knots, prepend=-np.inf) > 2 * intervals.ROUNDING]
    x_a, x_b = (knots[np.searchsorted(knots, x, side="right") - 1] for x in (x_a, x_b))
    # both curves just after and just before each knot
    x = np.repeat(knots, 2)[1:-1]
    a, b = _one_sided_limits(x_a, y_a, x), _one_sided_limits(x_b, y_b, x)
    difference = np.where(np.abs(a - b) <= intervals.ROUNDING, 0.0, a - b)
    # points where the piecewise linear difference changes its sign
    away = np.flatnonzero(difference)
    i = away[np.flatnonzero(np.diff(np.sign(difference[away])))]
    step = difference[i] / (difference[i] - difference[i + 1])  # 1 if the curves meet at i + 1
    crossings = np.column_stack([p[i] + step * (p[i + 1] - p[i]) for p in (x, a)])
    if len(crossings):
        return "cross", crossings
    if (difference > 0).any():
        return "a", crossings
    return "b" if (difference < 0).any() else "equal", crossings


def _curve(curve: Sequence[ArrayLike], name: str, kind: str) -> tuple[Floats, Floats]:
    """Return the validated x and y of a curve, sorted by x."""
    if len(curve) < 2:
        raise ValueError(f"{name} must contain at least two arrays, got {len(curve)}.")
    # arrays of x and y, from left to right
    with _checks.naming(name):
        pair = [np.asarray(values) for values in curve[:2]]
        check_consistent_length(*pair)
        points = check_array(pair, dtype=np.float64, input_name=name)
    x, y = points if kind == "roc" else points[::-1]
    if x[0] > x[-1]:
        x, y = x[::-1], y[::-1]
    # inside the unit square, ordered, and complete
    if points.min() < -intervals.ROUNDING or points.max() > 1 + intervals.ROUNDING:
        raise ValueError(f"{name} must lie in [0, 1], got {points.min()} to {points.max()}.")
    if (np.diff(x) < 0).any():
        raise ValueError(f"{name} must be ordered by its x values.")
    if len(x) < 2 or x[0] > intervals.ROUNDING or x[-1] < 1 - intervals.ROUNDING:
        raise ValueError(f"{name} must reach from x = 0 to x = 1, got {x[0]} to {x[-1]}.")
    return np.clip(x, 0, 1), y


def _one_sided_limits(x: Floats, y: Floats, at: Floats) -> Floats:
    """Return y just after and just before each knot, for `at` = x0 x1 x1 x2 x2 ... xm.

    Of points that share an x, only the first and the last are limits of the curve.
    """
    # the first and the last point at each distinct x
    knots, first = np.unique(x, return_index=True)
    before, after = y[first], y[np.append(first[1:], len(x)) - 1]
    # the lines between neighboring knots
    left = np.searchsorted(knots, at[0::2], side="right") - 1
    right = left + 1
    slope = (before[right] - after[left]) / (knots[right] - knots[left])
    limits = np.empty(len(at))
    limits[0::2] = after[left] + slope * (at[0::2] - knots[left])
    limits[1::2] = before[right] - slope * (knots[right] - at[1::2])
    return limits


@dataclass(frozen=True, eq=False)
class CurveSample:
    """Binary labels with scores, weights and group codes."""

    positive: NDArray[np.bool_]
    score: Floats
    weight: Floats
    group: Codes | None
    confidence_level: float
    max_fpr: float | None = None

    @property
    def arrays(self) -> tuple[NDArray[np.bool_], Floats, Floats]:
        """Classes, scores and weights."""
        return self.positive, self.score, self.weight

    @cached_property
    def ranked(self) -> Ranked:
        """Samples sorted by score."""
        return areas.rank_scores(*self.arrays)

    @cached_property
    def measured(self) -> Area:
        """Area under the ROC curve, or the partial area, and the influence of each sample."""
        if self.max_fpr is not None:
            return areas.partial_area(*self.arrays, self.max_fpr)
        return areas.find_area(*self.arrays, ranked=self.ranked)

    @cached_property
    def spread(self) -> Spread:
        """Standard error of the area under the ROC curve, and its degrees of freedom."""
        influence = self.measured.influence[:, None]
        return areas.spread_of_areas(influence, self.positive, self.weight, self.group)

    @property
    def z(self) -> float:
        """Two-sided normal quantile, or Student's t quantile with groups."""
        return intervals.normal_quantile(self.confidence_level, self.spread.degrees_of_freedom)

    def steps(self) -> Steps:
        """Return the ROC curve with the effective class sizes."""
        # rates at each cut
        tp, fp = self.ranked.cumulate()
        n_positives, n_negatives = self.sizes
        return Steps(fp / fp[-1], tp / tp[-1], n_negatives, n_positives)

    @property
    def area(self) -> float:
        """Area under the ROC curve, with ties counted as half."""
        return self.measured.value

    @cached_property
    def sizes(self) -> tuple[float, float]:
        """Effective sample sizes of the positive and the negative class."""
        sides = self.positive, ~self.positive
        if self.group is None:
            positives, negatives = (intervals.size_from_weights(self.weight[own]) for own in sides)
            return positives, negatives
        # with groups, by the variance between groups
        positives, negatives = (
            areas.class_size(self.score[own], self.weight[own], self.group[own]) for own in sides
        )
        return positives, negatives

    def area_form(self, value: float) -> tuple[Callable[[float], Limits], float]:
        """Return the score limits of an area as a function of the level, and its standard error."""
        error, degrees = self.spread.error, self.spread.degrees_of_freedom
        # a partial area depends on the negatives with the highest scores only
        n_positives, n_negatives = self.sizes
        args = value, error, (n_positives, max(1.0, n_negatives * (self.max_fpr or 1.0)))
        return partial(intervals.area_interval, *args, degrees_of_freedom=degrees), error

    def describe_area(
        self,
        name: str,
        value: float,
        error: float,
        method: str,
        form: Callable[[float], Limits] | None = None,
    ) -> Estimate:
        """Return the area under a curve, with its interval if there is one."""
        return Estimate(
            name=name,
            value=value,
            standard_error=error,
            method=method,
            limits={} if form is None else {method: form},
            n_samples=len(self.score),
            confidence_level=self.confidence_level,
        )

    def find_ends(
        self, limits: Callable[[float, bool], tuple[Floats, Floats]], distances: Floats
    ) -> dict[str, Any]:
        """Return the pointwise limits and the simultaneous band of a curve.

        ``limits(z, exact)`` returns the limits at z standard deviations.
        """
        low, high = limits(self.z, False)
        # with groups, Student's quantile widens the band as much as the pointwise limits
        widening = self.z / intervals.normal_quantile(self.confidence_level)
        quantile = float(np.quantile(distances, self.confidence_level))
        band_low, band_high = limits(max(quantile * widening, self.z), True)
        settings = {"confidence_level": self.confidence_level, "method": "score"}
        return {"low": low, "high": high, "band": Band(band_low, band_high), **settings}


def check_curve_sample(
    y_true: ArrayLike,
    y_score: ArrayLike,
    pos_label: object,
    sample_weight: ArrayLike | None,
    groups: Any,
    confidence_level: float = 0.95,
    name: str = "y_score",
    *,
    one_class: bool = False,
) -> CurveSample:
    """Return the samples with positive weight. Unless `one_class` is true, both classes must occur.

    Error messages name the scores as `name`.
    """
    positive, score, weight = _checks.check_binary_scores(
        y_true, y_score, pos_label, sample_weight, name
    )
    # samples of weight 0 do not count
    seen = weight > 0
    group = _checks.number_groups(groups, len(seen), seen)
    positive = positive[seen]
    if not one_class and (positive.all() or not positive.any()):
        raise ValueError("y_true must contain both classes with weight > 0, got one class.")
    return CurveSample(positive, score[seen], weight[seen], group, confidence_level)


def warn_of_other_class(name: str, sample: CurveSample) -> None:
    """Warn if the area under the ROC curve is below 1/2."""
    if sample.positive.all() or not sample.positive.any() or sample.area >= 0.5:
        return  # the variance between groups is slow, and no limit is below an area of 1/2
    limits, error = sample.area_form(sample.area)
    if not np.isnan(error) and limits(0.95)[1] < 0.5:
        _checks.warn_user(
            f"{name} looks reversed, because its area under the ROC curve is {sample.area:.3f}. "
            "Pass pos_label= if it refers to the other class, or "
            f"{'1 - ' if name == 'y_proba' else '-'}{name}."
        )


def simulate_distances(
    steps: Steps, n_resamples: int, random_state: RandomStateLike, with_prevalence: bool
) -> Floats:
    """Return the distance of each simulated curve from the true one.

    The deviation of the prevalence is independent of the deviations of the rates, and equal at
    every threshold.
    """
    # a random stream for each curve
    root = _checks.root_seed(random_state)
    rngs = [_checks.repetition_rng(root, b) for b in range(n_resamples)]
    distances = areas.curve_distances(steps, rngs)
    if with_prevalence:
        distances = np.hypot(distances, [rng.standard_normal() for rng in rngs])
    return distances


@dataclass(frozen=True, eq=False, kw_only=True)
class RankingExtra:
    """Further results of a ROC or precision-recall curve.

    Attributes
    ----------
    points : ndarray of shape (n_cuts, 2)
        The rates at every threshold of the score.
    distances : ndarray of shape (n_resamples,)
        Distances of simulated curves from the true one, in standard deviations.
    prevalence, break_even_point : float or None
        For a precision-recall curve, the fraction of positives, and the precision at the
        break-even point, where it equals the recall.
    """

    points: NDArray[np.float64]
    distances: NDArray[np.float64]
    prevalence: float | None = None
    break_even_point: float | None = None


def find_gains(sample: CurveSample, n_points: int) -> Curve:
    """Return the curve of cumulative gains, with the interval of the recall at each fraction."""
    # nothing and everything are selected at the ends
    x = np.linspace(0, 1, n_points)
    y, low, high = np.tile(x, (3, 1))
    # recall among the highest scores, with its score interval
    for at, k in enumerate(x[1:-1].tolist(), 1):
        y[at], _, limits = find_top(*sample.arrays, k, sample.group).close("recall")
        low[at], high[at] = limits(sample.confidence_level)
    # steps of the empirical curve
    tp, fp = sample.ranked.cumulate()
    points = np.column_stack([(tp + fp) / (tp[-1] + fp[-1]), tp / tp[-1]])
    return Curve(
        name="cumulative gains",
        axes=("fraction_of_samples", "recall"),
        x=x,
        y=y,
        low=low,
        high=high,
        thresholds=sample.ranked.thresholds,
        confidence_level=sample.confidence_level,
        method="score",
        extra=RankingExtra(points=points, distances=np.empty(0)),
    )


@validate_params(CONSTRAINTS | {"kind": [StrOptions({"roc", "gains"})]})
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
    kind: Literal["roc", "gains"] = "roc",
) -> Curve:
    r"""Return a ROC curve with confidence bands, and its area with a confidence interval.

    The estimated curve is the true-positive rate on unlimited data at each false-positive rate x.
    It lies in [0, 1]. Higher is better, and an uninformative score gives the diagonal. One band is
    pointwise, the other simultaneous.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes, exactly two.
    y_score : array-like of shape (n_samples,)
        Target scores. Higher values indicate the positive class.
    pos_label : int, float, bool or str, default=None
        The positive class. None means 1 if `y_true` takes values in {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. The effective size of a class is :math:`(\sum w)^2 / \sum w^2`, so only the
        ratios of weights matter.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as the patient. The variance is computed between groups, with
        Student's t quantile.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    n_resamples : int, default=1000
        Number of curves simulated for the simultaneous band.
    n_points : int, default=101
        Number of x values.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call. Only the simultaneous
        band depends on them.
    kind : {"roc", "gains"}, default="roc"
        "gains" returns the curve of cumulative gains. Its x is the fraction of all samples with
        the highest scores, and its y is the fraction of the positives among these samples
        (recall).

    Returns
    -------
    curve : Curve
        Curve with the false-positive rates `x`, evenly spaced from 0 to 1, the true-positive rates
        `y`, the pointwise limits `low` and `high`, the simultaneous `band` and the `area`.
        ``extra.points``, of shape (n_cuts, 2), contains both rates at every threshold. At point i,
        scores of ``thresholds[i]`` or more are predicted as positive. ``extra.distances`` contains
        the distance of each simulated curve from the true curve, in standard deviations. A curve of
        gains has no band and no area, and the limits of "recall_at_k".

    Raises
    ------
    ValueError
        If a class is absent, there are more than two, a score is not finite, or there is only one
        group.

    Warns
    -----
    UndefinedMetricWarning
        If a class has a single sample with positive weight, because the standard error of the area
        is then nan.

    Notes
    -----
    Bootstrap percentile bands are too narrow, and have zero width at x values without an observed
    error. Instead, at each x:

    - The interval contains all values reached by two independent deviations `a` and `b` with
      :math:`a^2 + b^2 \le z^2`. The false-positive rate of the threshold deviates by `a` standard
      deviations :math:`\sqrt{x (1 - x) / n}` of the n negatives. The true-positive rate at this
      threshold deviates by `b` standard deviations of the m positives (Jeffreys limits, Brown et
      al. [1]_). Here z is the normal quantile, because only the deviation perpendicular to the
      curve matters, which is one normal variable.
    - The band of the whole curve has the same form, with Clopper-Pearson limits. Here z is a
      quantile of the largest deviation over curves simulated from the observed curve. Bands of
      fixed width (Campbell [2]_) also cover the curve, but are wide in the corners. Macskassy et
      al. [3]_ compare further methods.
    - The interval of the area is the score interval of `metric_interval`, with DeLong's variance,
      or with the variance between groups (Obuchowski [4]_).

    :doc:`/validation` has the measured coverage.

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
    >>> curve = roc_curve_band(y, score, random_state=0)
    >>> round(curve.area.value, 4)
    0.8889

    The best third of the samples contains two of three positives:

    >>> roc_curve_band(y, score, kind="gains", n_points=4).y.round(4)
    array([0.    , 0.6667, 1.    , 1.    ])
    """
    sample = check_curve_sample(y_true, y_score, pos_label, sample_weight, groups, confidence_level)
    if kind == "gains":
        return find_gains(sample, n_points)
    # empirical curve, and distances of simulated curves for the simultaneous band
    steps = sample.steps()
    distances = simulate_distances(steps, n_resamples, random_state, with_prevalence=False)
    x = np.linspace(0, 1, n_points)

    def limits(z: float, exact: bool) -> tuple[Floats, Floats]:
        return areas.curve_limits(steps, x, z, exact=exact)

    # area with its score interval
    form, error = sample.area_form(sample.area)
    if np.isnan(error):
        _checks.warn_undefined("The standard error of the area is nan, as a class has one sample.")
    area = sample.describe_area("area under the ROC curve", sample.area, error, "score", form)
    return Curve(
        name="ROC curve",
        axes=("false_positive_rate", "true_positive_rate"),
        x=x,
        y=steps.above(x),
        thresholds=sample.ranked.thresholds,
        area=area,
        extra=RankingExtra(points=np.column_stack([steps.x, steps.y]), distances=distances),
        **sample.find_ends(limits, distances),
    )


@validate_params(CONSTRAINTS)
def precision_recall_curve_band(
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
) -> Curve:
    r"""Return a precision-recall curve with pointwise and simultaneous confidence bands.

    The estimated curve is the precision on unlimited data at each recall r, :math:`\pi r / (\pi r
    + (1 - \pi) f)`, where :math:`\pi` is the prevalence and f the false-positive rate at recall r.
    It lies in [0, 1]. Higher is better, and an uninformative score gives the prevalence.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes, exactly two. The prevalence is estimated too, so the samples must be drawn
        from the whole population, not separately for each class.
    y_score : array-like of shape (n_samples,)
        Target scores. Higher values indicate the positive class.
    pos_label : int, float, bool or str, default=None
        The positive class. None means 1 if `y_true` takes values in {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. The effective size of a class is :math:`(\sum w)^2 / \sum w^2`, so only the
        ratios of weights matter.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as the patient. The variance is computed between groups, with
        Student's t quantile.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    n_resamples : int, default=1000
        Number of curves simulated for the simultaneous band.
    n_points : int, default=101
        Number of x values from 0 to 1. The first, recall 0, is omitted because its precision is
        undefined.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call. Only the simultaneous
        band depends on them.

    Returns
    -------
    curve : Curve
        Curve with the recalls `x`, evenly spaced from above 0 to 1, the precisions `y`, the
        pointwise limits `low` and `high`, the simultaneous `band`, and the average precision as
        `area`, whose standard error is nan. Its `extra` has the `prevalence`, the
        `break_even_point`, the `points` and the `distances`. `points`, of shape (n_cuts, 2),
        contains recall and precision at every threshold with at least one predicted positive. At
        point i, scores of ``thresholds[i]`` or more are predicted as positive. `distances`
        contains the distances of the simulated curves from the true one.

    Raises
    ------
    ValueError
        If a class is absent, there are more than two, a score is not finite, or there is only one
        group.

    Notes
    -----
    Between two thresholds the false-positive rate is constant, so the curve is not a straight line
    (Davis and Goadrich [1]_). At the thresholds it equals `precision_recall_curve`. The average
    precision is the area under the steps of that curve.

    The bands are computed as in `roc_curve_band` with the classes swapped, that is, for the
    false-positive rate at each recall. The prevalence deviates independently of both rates. The
    interval contains all values reached by deviations with :math:`a^2 + b^2 + c^2 \le z^2`. The
    interval of the average precision is the Clopper-Pearson interval for a proportion of the
    positives (Boyd et al. [2]_ use the log-odds).

    :doc:`/validation` has the measured coverage.

    References
    ----------
    .. [1] Davis, J. and Goadrich, M. (2006). The relationship between precision-recall and ROC
       curves. ICML 2006, 233-240. https://doi.org/10.1145/1143844.1143874
    .. [2] Boyd, K., Eng, K. H. and Page, C. D. (2013). Area under the precision-recall curve: point
       estimates and confidence intervals. ECML PKDD 2013, 451-466.
       https://doi.org/10.1007/978-3-642-40994-3_29

    Examples
    --------
    >>> from skeval.metrics import precision_recall_curve_band
    >>> y, score = [0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.6, 0.4, 0.7, 0.9]
    >>> curve = precision_recall_curve_band(y, score, random_state=0)
    >>> round(curve.area.value, 4)
    0.9167
    """
    sample = check_curve_sample(y_true, y_score, pos_label, sample_weight, groups, confidence_level)
    # false-positive rates against recall: the ROC curve with the classes exchanged
    roc = sample.steps()
    steps, r = roc.swap(), np.linspace(0, 1, n_points)[1:]
    distances = simulate_distances(steps, n_resamples, random_state, with_prevalence=True)
    # prevalence and its effective sample size
    share = float(np.average(sample.positive, weights=sample.weight))
    size = areas.class_size(sample.positive.astype(np.float64), sample.weight, sample.group)
    size = min(size, intervals.size_from_weights(sample.weight))
    # a deviation has three components: the threshold, the false-positive rate, the prevalence
    angles = np.linspace(0, np.pi / 2, _DIRECTIONS)
    away, around = (grid.ravel() for grid in np.meshgrid(angles, angles))

    def limits(z: float, exact: bool) -> tuple[Floats, Floats]:
        """Return the range of the precision over all joint deviations of length z."""
        curve_part = z * np.cos(away)
        across, along = curve_part * np.sin(around), curve_part * np.cos(around)
        fpr = areas.rates_on_sphere(steps, r, across, along, exact)
        quantile = (z * np.sin(away))[:, None]
        shares = intervals.binomial_limits(np.array([[share]]), size, quantile, exact=exact)
        low = _precision(shares[0], r, fpr[1]).min(axis=0)
        high = _precision(np.maximum(shares[1], share), r, fpr[0]).max(axis=0)
        return low, high

    # average precision, as a proportion of the positives
    value = areas.average_precision(*sample.arrays)
    # fraction of samples predicted positive at each threshold
    predicted = share * roc.y[1:] + (1 - share) * roc.x[1:]
    hits, degrees = value * roc.n_y, sample.spread.degrees_of_freedom
    form = partial(intervals.exact_interval, hits, roc.n_y, degrees_of_freedom=degrees)
    area = sample.describe_area("average precision", value, np.nan, "exact", form)
    data = sample.positive, sample.score
    return Curve(
        name="precision-recall curve",
        axes=("recall", "precision"),
        x=r,
        y=_precision(share, r, steps.below(r)),
        thresholds=sample.ranked.thresholds[1:],
        area=area,
        extra=RankingExtra(
            points=np.column_stack([roc.y[1:], share * roc.y[1:] / predicted]),
            distances=distances,
            prevalence=share,
            break_even_point=break_even_point(*data, sample_weight=sample.weight),
        ),
        **sample.find_ends(limits, distances),
    )


def _precision(share: Floats | float, recall: Floats, false_positive_rate: Floats) -> Floats:
    true_positives = share * recall
    return true_positives / (true_positives + (1 - share) * false_positive_rate)


# outcome of negatives and of positives that the baseline alone, both or neither, or the model treat
OUTCOMES = np.array([[4, 0, 2], [3, 0, 1]])


@validate_params(
    CONSTRAINTS | {"thresholds": [Real, "array-like", None], "standardize": ["boolean"]}
)
def net_benefit(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    baseline: ArrayLike | None = None,
    thresholds: float | ArrayLike | None = None,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    standardize: bool = False,
    confidence_level: float = 0.95,
) -> Curve:
    r"""Return the net benefit of treating samples whose probability reaches a threshold.

    .. math:: NB(p_t) = \frac{TP}{n} - \frac{FP}{n}\, \frac{p_t}{1 - p_t}

    A treatment threshold of :math:`p_t` implies that a false positive costs :math:`p_t / (1 -
    p_t)` times the benefit of a true positive. The maximum is the prevalence. There is no lower
    bound. The net benefit of treating nobody is 0, and of treating everybody :math:`\pi - (1 -
    \pi)\, p_t / (1 - p_t)`. A model is useful if its net benefit is above both of these values.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes, at most two. The samples must be drawn from the whole population, not
        separately for each class.
    y_proba : array-like of shape (n_samples,)
        Predicted probabilities of the positive class.
    baseline : array-like of shape (n_samples,), default=None
        Probabilities of a second model for the same samples. Its net benefit is subtracted.
        If all are 1, the baseline is to treat every sample.
    thresholds : float or array-like of shape (n_thresholds,), default=None
        Thresholds in [0, 1). None means 0.01, 0.02, ..., 0.99.
    pos_label : int, float, bool or str, default=None
        The positive class. None means 1 if `y_true` takes values in {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as the patient. The variance is computed between groups, with
        Student's t quantile.
    standardize : bool, default=False
        Whether to divide by the prevalence, so that the maximum is 1 [3]_. The interval includes
        the uncertainty of the prevalence.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1, at each threshold by itself, not of the whole curve.

    Returns
    -------
    curve : Curve
        Curve with the thresholds `x`, the net benefit `y` in true positives per sample, and the
        limits `low` and `high`. ``columns["treat_all"]`` is the net benefit of treating every
        sample. `extra.prevalence` is the fraction of positives, and `extra.is_difference` is True
        if a baseline was subtracted.

    Raises
    ------
    ValueError
        If there are more than two classes, `pos_label` is not one of them, a probability or
        threshold is outside its range, there is only one group, or no sample is positive and
        `standardize` is True.

    Notes
    -----
    At a given threshold, each sample contributes 1, :math:`-p_t / (1 - p_t)` or 0. The interval is
    the "score" interval of `metric_interval` for the mean of these gains. It contains the means of
    all tables that Pearson's chi-square test does not reject. Possible gains that were not
    observed also add to the uncertainty, so the interval has positive width even if nobody is
    treated or two models treat the same samples. A difference is paired, so only samples that are
    treated by exactly one model contribute.

    A sample whose probability equals the threshold is treated, as in the R package dcurves. Like
    any metric, net benefit is optimistic on training samples.

    :doc:`/validation` has the measured coverage.

    References
    ----------
    .. [1] Vickers, A. J. and Elkin, E. B. (2006). Decision curve analysis: a novel method for
       evaluating prediction models. Medical Decision Making 26, 565-574.
       https://doi.org/10.1177/0272989X06295361
    .. [2] Vickers, A. J., Cronin, A. M., Elkin, E. B. and Gonen, M. (2008). Extensions to decision
       curve analysis. BMC Medical Informatics and Decision Making 8, 53.
       https://doi.org/10.1186/1472-6947-8-53
    .. [3] Kerr, K. F., Brown, M. D., Zhu, K. and Janes, H. (2016). Assessing the clinical impact of
       risk prediction models with decision curves. Journal of Clinical Oncology 34, 2534-2540.
       https://doi.org/10.1200/JCO.2015.65.5654

    Examples
    --------
    >>> from skeval.metrics import net_benefit
    >>> y, proba = [0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.6, 0.4, 0.7, 0.9]
    >>> curve = net_benefit(y, proba, thresholds=[0.25, 0.5])
    >>> curve.y.round(4)
    array([0.4444, 0.1667])
    """
    # one or two models of the same samples
    named = {"y_proba": y_proba} | ({} if baseline is None else {"baseline": baseline})
    samples = []
    for name, proba in named.items():
        data = y_true, proba, pos_label, sample_weight, groups
        samples.append(check_curve_sample(*data, name=name, one_class=True))
        _checks.check_probabilities(name, samples[-1].score)
    # by default, thresholds from 1 % to 99 %
    default = np.arange(1, 100) / 100
    listed = [thresholds] if isinstance(thresholds, Real) else thresholds
    places = default if listed is None else _checks.read_column("thresholds", listed)
    if places.min() < 0 or places.max() >= 1:
        raise ValueError(f"thresholds must lie in [0, 1), got {places.min()} to {places.max()}.")
    for name, sample in zip(named, samples, strict=True):
        warn_of_other_class(name, sample)
    positive, weight, group = samples[0].positive, samples[0].weight, samples[0].group
    # prevalence, and the cost of a false positive at each threshold
    share = float(np.average(positive, weights=weight))
    if standardize and not share:
        raise ValueError("y_true must contain a positive sample for standardize=True, got none.")
    odds = places / (1 - places)
    # samples between the same two thresholds are treated alike: count them once
    steps = np.unique(places)
    between = [np.searchsorted(steps, sample.score, side="right") for sample in samples]
    shape = *(len(steps) + 1 for _ in between), 2
    kinds, kind = np.unique(np.ravel_multi_index((*between, positive), shape), return_inverse=True)
    *between, event = np.unravel_index(kinds, shape)
    cells, results = tables.Cells(kind.ravel(), weight, len(kinds)), np.empty((3, len(places)))
    treated = np.array(between)
    for at, (step, cost) in enumerate(zip(np.searchsorted(steps, places), odds, strict=True)):
        # a treated positive gains 1; treatment by the baseline counts against the model
        by_model, *by_baseline = (treated > step).astype(np.intp)
        place = OUTCOMES[event, 1 + by_model - sum(by_baseline)]
        gains = np.array([0.0, 1.0, -cost, -1.0, cost])[: 1 + 2 * len(treated)]
        metric: tables.ValueAndGradient = partial(tables.mean_cost, costs=gains)
        if standardize:
            # gain per positive: positives without gain are an outcome of their own
            n, gains = len(gains), np.append(gains, 0.0)
            place = np.where((place == 0) & (event == 1), n, place)
            positives = np.isin(np.arange(n + 1), (1, 3, n)).astype(float)
            metric = partial(tables.mean_ratio, costs=gains, units=positives)
        # net benefit with its score interval
        counts = intervals.add_up(place, cells.counts[0], len(gains))
        table = tables.ConfusionTable(counts, cells, place, metric)
        estimate, (limits, _) = tables.score_form(table, group)
        results[:, at] = estimate, *limits(confidence_level)
    # net benefit of treating every sample
    treat_all = (share - (1 - share) * odds) / (share if standardize else 1.0)
    benefit, low, high = results
    difference = baseline is not None
    return Curve(
        name="difference of net benefit" if difference else "net benefit",
        axes=("threshold", "net_benefit"),
        x=places,
        y=benefit,
        low=low,
        high=high,
        thresholds=places,
        confidence_level=confidence_level,
        method="score",
        columns={"treat_all": treat_all},
        extra=CostExtra(prevalence=share, is_difference=difference),
    )


@validate_params(CONSTRAINTS)
def cost_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
) -> Curve:
    r"""Return the lower envelope of the normalized expected cost over all thresholds.

    With `p` the prior of the positive class, :math:`c_{FN}` the cost of a false negative and
    :math:`c_{FP}` the cost of a false positive,

    .. math:: x = \frac{p\, c_{FN}}{p\, c_{FN} + (1 - p)\, c_{FP}}, \quad
              \frac{FNR\, p\, c_{FN} + FPR\, (1 - p)\, c_{FP}}{p\, c_{FN} + (1 - p)\, c_{FP}}
              = FNR\, x + FPR\, (1 - x).

    Each ROC point gives a line from (0, FPR) to (1, FNR). The curve is the lower envelope of these
    lines and of the lines of the two constant classifiers. It lies in [0, min(x, 1 - x)]. Lower is
    better. The area, in [0, 1/4], is the expected cost if x is uniform.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes, at most two.
    y_score : array-like of shape (n_samples,)
        Target scores. Higher values indicate the positive class.
    pos_label : int, float, bool or str, default=None
        The positive class. None means 1 if `y_true` takes values in {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights.

    Returns
    -------
    curve : Curve
        Vertices of the envelope, with `x` from 0 to 1, and the `area`, whose interval and standard
        error are nan. `at` interpolates the curve at any x. Between vertices i and i + 1, scores
        of ``thresholds[i]`` or more are predicted as positive. A threshold of inf predicts no
        sample as positive. `lines`, of shape (n_cuts, 2), contains the false-positive rate (the
        cost at x = 0) and the false-negative rate (the cost at x = 1) at every threshold,
        including the two constant classifiers.

    Raises
    ------
    ValueError
        If a class is absent, there are more than two, `pos_label` is not one of them, or a score is
        not finite.

    Notes
    -----
    The denominator is a sum. Some publications print a product, which can leave [0, 1]. The
    envelope uses the best threshold for the same samples, so it is optimistic, above all on
    training samples.

    References
    ----------
    .. [1] Drummond, C. and Holte, R. C. (2006). Cost curves: an improved method for visualizing
       classifier performance. Machine Learning 65, 95-130.
       https://doi.org/10.1007/s10994-006-8199-5

    Examples
    --------
    >>> from skeval.metrics import cost_curve
    >>> curve = cost_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> print(curve.x.round(3), curve.y.round(3))
    [0.    0.5   1.   ] [0.   0.25 0.  ]
    >>> float(curve.at(0.25))
    0.125
    """
    sample = check_curve_sample(y_true, y_score, pos_label, sample_weight, None)
    lines, (x, y, cuts) = find_envelope(sample.ranked)
    area = sample.describe_area("area under the cost curve", float(auc(x, y)), np.nan, "cost_curve")
    return Curve(
        name="cost curve",
        axes=COST_AXES,
        x=x,
        y=y,
        thresholds=sample.ranked.thresholds[cuts],
        area=area,
        extra=CostExtra(lines=lines),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class CostExtra:
    """Further results of a cost curve or a curve of net benefit.

    Attributes
    ----------
    lines : ndarray of shape (n_cuts, 2), or None
        Costs at both ends of the line of each threshold.
    is_difference : bool or None
        Whether a baseline is subtracted. None for curves without this option.
    replicates : ndarray of shape (n_resamples, n_points), or None
        Curves of the resamples.
    prevalence : float or None
        Fraction of positives, for the net benefit.
    """

    lines: NDArray[np.float64] | None = None
    is_difference: bool | None = None
    replicates: NDArray[np.float64] | None = None
    prevalence: float | None = None


@validate_params(CONSTRAINTS | {"probability_cost": [Interval(Real, 0, 1, closed="both"), None]})
def expected_cost(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    probability_cost: float | None = None,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Return the normalized expected cost of a score at its best threshold.

    .. math:: \min_t\ FNR(t)\, x + FPR(t)\, (1 - x)

    The formula is evaluated at `x`. If `x` is not specified, it is averaged over a uniform `x`,
    which gives the area under the cost curve. The cost lies in [0, min(x, 1 - x)] and the area in
    [0, 1/4]. The best value is 0.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes, at most two.
    y_score : array-like of shape (n_samples,)
        Target scores. Higher values indicate the positive class.
    probability_cost : float in [0, 1], default=None
        Value of `x` from the function `probability_cost`. None averages over all `x`.
    pos_label : int, float, bool or str, default=None
        The positive class. None means 1 if `y_true` takes values in {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights.

    Returns
    -------
    cost : float
        Cost as a fraction of the largest expected cost, or nan with `UndefinedMetricWarning` if a
        class is absent.

    Raises
    ------
    ValueError
        If there are more than two classes, `pos_label` is not one of them, a score is not finite,
        or `probability_cost` is outside [0, 1].

    Notes
    -----
    The threshold is chosen on the same samples. See `cost_curve`.

    References
    ----------
    .. [1] Drummond, C. and Holte, R. C. (2006). Cost curves: an improved method for visualizing
       classifier performance. Machine Learning 65, 95-130.
       https://doi.org/10.1007/s10994-006-8199-5

    Examples
    --------
    >>> from skeval.metrics import expected_cost
    >>> y, score = [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]
    >>> expected_cost(y, score), expected_cost(y, score, probability_cost=0.25)
    (0.125, 0.125)
    """
    # undefined without both classes
    positive, _, weight = _checks.check_binary_scores(y_true, y_score, pos_label, sample_weight)
    if len(np.unique(positive[weight > 0])) < 2:
        return _checks.give_nan("expected_cost needs both classes in y_true, got one.")
    curve = cost_curve(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
    if probability_cost is None:
        return float(auc(curve.x, curve.y))
    return float(curve.at(probability_cost))


@validate_params(CONSTRAINTS)
def cost_curve_band(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    baseline: ArrayLike | None = None,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    n_points: int = 101,
    random_state: RandomStateLike = None,
) -> Curve:
    r"""Return a cost curve, or a difference of two curves, with a confidence interval at each x.

    The interval is for the curve of the population, :math:`\min_t FNR(t)\, x + FPR(t) (1 - x)`,
    where the rates at each threshold `t` refer to unlimited data. Lower cost is better. At costs
    where the band of a difference lies below 0, `y_score` is better than `baseline`.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes, exactly two.
    y_score : array-like of shape (n_samples,)
        Target scores. Higher values indicate the positive class.
    baseline : array-like of shape (n_samples,), default=None
        Scores of a second model. Its curve is subtracted.
    pos_label : int, float, bool or str, default=None
        The positive class. None means 1 if `y_true` takes values in {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. The effective size of a class is :math:`(\sum w)^2 / \sum w^2`, so only the
        ratios of weights matter.
    groups : array-like of shape (n_samples,) or (n_samples, n_kinds), default=None
        Group of each sample, such as the patient. Several columns are nested or crossed groups. See
        :doc:`/user_guide/dependence`. Whole groups are resampled. The interval uses the effective
        sample size of each class.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1, at each x by itself, not of the whole curve.
    n_resamples : int, default=1000
        Number of bootstrap resamples.
    n_points : int, default=101
        Number of x values.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call.

    Returns
    -------
    curve : Curve
        Curve with `x` evenly spaced from 0 to 1, the cost or its difference `y`, and the limits
        `low` and `high`. `replicates`, of shape (n_resamples, n_points), contains the curves of the
        resamples. `extra.is_difference` is True if a baseline was subtracted.

    Raises
    ------
    ValueError
        If there are not exactly two classes, or a score is not finite.

    Notes
    -----
    Positive and negative samples are resampled separately, because the x-axis fixes the class
    frequencies. Two scores are resampled together.

    *One curve.* The best threshold is chosen and evaluated on the same samples, so the curve is
    biased downward. Each resample chooses a threshold again, so its curve is biased further.
    Therefore, the percentile method is not used. At each x:

    - The rates at the thresholds chosen by the resamples are computed on the sample and averaged.
      The distances from the cost to its limits are combined from the Wilson limits of these rates
      (Zou and Donner [2]_), or from the Wilson limits at the best threshold if these lie farther
      away. The width is not zero even if no error was observed.
    - The lower limit is the cost minus its distance, because the curve is not biased upward. The
      upper limit also includes the optimism, :math:`(\hat c - \bar c^*) / (2^{2/3} - 1)`, where
      :math:`\bar c^*` is the mean of the resamples. The downward bias of a minimum over thresholds
      grows as the 2/3 power of the variance (Kim and Pollard [3]_), and a resample has twice the
      variance.
    - Both limits are clipped to [0, min(x, 1 - x)], which contains every population curve.

    Coverage is too low if a score has few distinct values, because two thresholds may then give
    nearly equal costs at some x.

    *A difference* has percentile limits, because the optimism of the two curves nearly cancels. If
    both scores separate the classes perfectly, all resamples agree and the width is 0. This does
    not imply that the curves are equal.

    References
    ----------
    .. [1] Drummond, C. and Holte, R. C. (2006). Cost curves: an improved method for visualizing
       classifier performance. Machine Learning 65, 95-130.
       https://doi.org/10.1007/s10994-006-8199-5
    .. [2] Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect
       measures: a general approach. Statistics in Medicine 27, 1693-1702.
       https://doi.org/10.1002/sim.3095
    .. [3] Kim, J. and Pollard, D. (1990). Cube root asymptotics. Annals of Statistics 18, 191-219.
       https://doi.org/10.1214/aos/1176347498

    Examples
    --------
    >>> from skeval.metrics import cost_curve_band
    >>> y, score = [0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.6, 0.4, 0.7, 0.9]
    >>> print(cost_curve_band(y, score, n_points=3, random_state=0).to_frame().round(4))
       probability_cost  normalized_expected_cost     low  high
    0               0.0                    0.0000  0.0000   0.0
    1               0.5                    0.1667  0.0307   0.5
    2               1.0                    0.0000  0.0000   0.0
    """
    # the scores of one or two classifiers, for the same samples
    sample = check_curve_sample(y_true, y_score, pos_label, sample_weight, groups, confidence_level)
    positive, weight, group = sample.positive, sample.weight, sample.group
    scores = [sample.score]
    if baseline is not None:
        data = y_true, baseline, pos_label, sample_weight, None
        scores.append(check_curve_sample(*data, name="baseline").score)
    # curves of the sample and of resamples of each class, for both scores
    cuts, x = [areas.rank_scores(positive, score) for score in scores], np.linspace(0, 1, n_points)
    root = _checks.root_seed(random_state)
    resample_weights = (
        weight * _counts(positive, group, _checks.repetition_rng(root, b))
        for b in range(n_resamples)
    )
    results = [[find_lowest(own, draw, x) for own in cuts] for draw in resample_weights]
    costs = np.array([[cost for cost, _ in pair] for pair in results])  # (resample, curve, x)
    estimates = np.array([find_lowest(own, weight, x)[0] for own in cuts])
    if baseline is None:
        estimate, replicates = estimates[0], costs[:, 0]
        chosen = np.array([cut for ((_, cut),) in results])
        low, high = _limit_cost(cuts[0], sample, x, chosen, replicates)
    else:
        # percentiles of the paired differences, wider if there are groups
        estimate, replicates = estimates[0] - estimates[1], costs[:, 0] - costs[:, 1]
        level = confidence_level
        if group is not None:
            level = intervals.expand_level(level, intervals.count_groups(group))
        tails = (1 - level) / 2, (1 + level) / 2
        low, high = np.quantile(replicates, tails, axis=0)
    difference = baseline is not None
    return Curve(
        name="difference of cost" if difference else "cost curve",
        axes=COST_AXES,
        x=x,
        y=estimate,
        low=low,
        high=high,
        confidence_level=confidence_level,
        method="percentile" if difference else "wilson",
        extra=CostExtra(is_difference=difference, replicates=replicates),
    )


def _counts(positive: NDArray[np.bool_], group: Codes | None, rng: Generator) -> Floats:
    """Return how often each sample is drawn, with replacement within each class.

    Whole groups are drawn, separately for each grouping, until both classes occur.
    """
    # samples of each class
    counts = np.zeros(len(positive))
    if group is None:
        for members in (positive, ~positive):
            size = int(members.sum())
            counts[members] = np.bincount(rng.integers(0, size, size), minlength=size)
        return counts
    # whole groups of each kind, until both classes occur
    while not (counts[positive].any() and counts[~positive].any()):
        counts = np.ones(len(positive))
        for kind in group.reshape(len(counts), -1).T:
            size = int(kind.max()) + 1
            counts *= np.bincount(rng.integers(0, size, size), minlength=size)[kind]
    return counts


def find_lowest(cuts: Ranked, weight: Floats, at: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Return the lowest cost of weighted samples at each x, and the threshold that attains it."""
    x, y, best = find_envelope(cuts.weigh(weight))[1]
    return np.interp(at, x, y), best[np.searchsorted(x[1:-1], at, side="right")]


def find_envelope(ranked: Ranked) -> tuple[Floats, tuple[Floats, Floats, NDArray[np.intp]]]:
    """Return the cost line of each cut, and the lower envelope of all lines."""
    tp, fp = ranked.cumulate()
    lines = np.column_stack([fp / fp[-1], 1 - tp / tp[-1]])
    return lines, lower_envelope(lines, hull(tp, fp))


def _limit_cost(
    cuts: Ranked, sample: CurveSample, x: Floats, chosen: NDArray[np.intp], replicates: Floats
) -> tuple[Floats, Floats]:
    """Return the limits of one curve. `chosen` contains the best cutoff in each resample."""
    cost, best = find_lowest(cuts, sample.weight, x)
    down = up = np.zeros(len(x))
    tpr, fpr = (count / count[-1] for count in cuts.weigh(sample.weight).cumulate())
    # Wilson limits of both rates at the cuts of the resamples and at the best cut
    for cut in (chosen, best[None]):
        rates = fpr[cut].mean(axis=0), 1 - tpr[cut].mean(axis=0)
        (fpr_low, fpr_high), (fnr_low, fnr_high) = (
            intervals.wilson_limits(rate, size, sample.z)
            for rate, size in zip(rates, sample.sizes[::-1], strict=True)
        )
        down = np.maximum(down, np.hypot((1 - x) * (rates[0] - fpr_low), x * (rates[1] - fnr_low)))
        up = np.maximum(up, np.hypot((1 - x) * (fpr_high - rates[0]), x * (fnr_high - rates[1])))
    # the downward bias grows as the 2/3 power of the variance, which a resample doubles
    optimism = np.maximum(cost - replicates.mean(axis=0), 0) / (2 ** (2 / 3) - 1)
    return np.maximum(cost - down, 0), np.minimum(cost + optimism + up, np.minimum(x, 1 - x))


def hull(tp: Floats, fp: Floats) -> NDArray[np.intp]:
    """Return the thresholds on the convex hull of the ROC curve.

    The hull of a cumulative diagram is its isotonic regression. Thresholds within a block of equal
    fitted positive rate lie below the hull. Thresholds that change neither count are skipped.
    """
    # isotonic regression of the positive rate of each step
    step = np.diff(tp) + np.diff(fp)
    moved = np.flatnonzero(step > 0)
    rate = isotonic_regression(
        np.diff(tp)[moved] / step[moved], sample_weight=step[moved], increasing=False
    )
    # the last cut of each run of equal rates
    last = np.append(np.flatnonzero(np.diff(rate)), len(rate) - 1)
    return np.append(0, moved[last] + 1)


def lower_envelope(
    lines: Floats, vertices: NDArray[np.intp]
) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """Return the vertices (x, y) of the lower envelope of cost lines, and each piece's threshold.

    The lines of consecutive thresholds on the hull form the pieces of the envelope, in order. They
    meet at the x where FPR + (FNR - FPR) x is equal.
    """
    # x at which the lines of consecutive cuts meet
    lines = lines[vertices]
    rise, fall = np.diff(lines[:, 0]), -np.diff(lines[:, 1])
    turn = rise + fall  # 0 if two lines coincide after rounding
    meet = np.divide(rise, turn, out=np.zeros_like(turn), where=turn > 0)
    x = np.maximum.accumulate(np.concatenate(([0.0], meet, [1.0])))
    # pieces of the envelope that are longer than a point
    pieces = np.flatnonzero(np.diff(x) > 0)
    x = np.append(x[pieces], 1.0)
    fpr, fnr = lines[np.append(pieces, pieces[-1])].T
    return x, fpr * (1 - x) + fnr * x, vertices[pieces]
