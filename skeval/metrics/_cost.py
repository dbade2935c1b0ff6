"""Costs of errors: the cost-sensitive error, and the cost curve of a score with its band.

A cost curve is the lower envelope of the lines of cost of a ROC curve's points, and so of those of
its convex hull.
"""

from __future__ import annotations

from numbers import Real

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from sklearn.isotonic import isotonic_regression
from sklearn.metrics import auc, confusion_matrix

from skeval._inference.estimate import Curve, Estimate
from skeval._inference.intervals import Codes, count_groups, expand_level, wilson_limits
from skeval.metrics._curves import (
    BAND_CONSTRAINTS,
    SCORE_CONSTRAINTS,
    CurveSample,
    Cuts,
    check_curve_sample,
    cumulative_counts,
)
from skeval.utils import _checks
from skeval.utils._checks import RandomStateLike
from skeval.utils._compat import Interval, num_samples, validate_params

__all__ = [
    "cost_curve",
    "cost_curve_band",
    "cost_sensitive_error",
    "expected_cost",
    "probability_cost",
]

Floats = NDArray[np.float64]
AXES = "probability_cost", "normalized_expected_cost"


@validate_params(
    {
        "y_true": ["array-like"],
        "y_pred": ["array-like"],
        "cost_matrix": ["array-like"],
        "labels": ["array-like", None],
        "sample_weight": ["array-like", None],
    }
)
def cost_sensitive_error(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    cost_matrix: ArrayLike,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Mean cost of the decisions.

    .. math:: \frac{1}{n} \sum_i cost[y_i, \hat y_i]

    In [0, largest cost]; 0 is best. With cost 1 for every error it is the error rate.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes.
    y_pred : array-like of shape (n_samples,)
        Predicted classes.
    cost_matrix : array-like of shape (n_classes, n_classes)
        ``cost_matrix[i, j]`` is the cost of calling class `i` class `j`: rows true, columns
        predicted, in the order of `labels`. Not negative, with a zero diagonal.
    labels : array-like of shape (n_classes,), default=None
        The classes in the order of `cost_matrix`; None is all that occur, sorted. Give them
        wherever some class may be absent, as in the folds of a cross-validation.
    sample_weight : array-like of shape (n_samples,), default=None
        Each sample counts as often as its weight says.

    Returns
    -------
    error : float
        In the unit of `cost_matrix`.

    Raises
    ------
    ValueError
        If `cost_matrix` is not square with a row per class, has a negative or infinite cost or a
        non-zero diagonal, or a class that occurs is not in `labels`.

    References
    ----------
    .. [1] Elkan, C. (2001). The foundations of cost-sensitive learning. IJCAI 2001, 973-978.

    Examples
    --------
    >>> from skeval.metrics import cost_sensitive_error
    >>> costs = [[0, 1], [5, 0]]  # to miss class 1 costs five times a false alarm
    >>> cost_sensitive_error([0, 0, 1, 1], [0, 1, 1, 0], cost_matrix=costs)
    1.5
    """
    y_true, y_pred, classes = _checks.check_labels(y_true, y_pred, labels)
    unknown = set(_checks.classes_of(y_true, y_pred).tolist()) - set(classes.tolist())
    if unknown:
        raise ValueError(f"labels must name every class that occurs, got none of {unknown}.")
    costs = _check_costs(cost_matrix, len(classes))
    weight = _checks.scale_weights(sample_weight, num_samples(y_true))[0]
    with _checks.naming("y_true", "y_pred"):
        table = confusion_matrix(y_true, y_pred, labels=classes, sample_weight=weight)
    return float(np.sum(table / table.sum() * costs))


def _check_costs(cost_matrix: ArrayLike, n_classes: int) -> Floats:
    costs = _checks.check_data("cost_matrix", cost_matrix, dtype=np.float64)
    if costs.shape != (n_classes, n_classes):
        raise ValueError(
            f"cost_matrix must have shape ({n_classes}, {n_classes}), a row and a column per class "
            f"(labels= names classes that may be absent), got {costs.shape}."
        )
    if costs.min() < 0:
        raise ValueError(f"cost_matrix must be >= 0, got {costs.min()}.")
    if np.diag(costs).any():
        raise ValueError(f"cost_matrix must have a zero diagonal, got {np.diag(costs).tolist()}.")
    return costs


@validate_params(
    {
        "prior": [Interval(Real, 0, 1, closed="both")],
        "cost_false_negative": [Interval(Real, 0, None, closed="left")],
        "cost_false_positive": [Interval(Real, 0, None, closed="left")],
    }
)
def probability_cost(
    prior: float, *, cost_false_negative: float = 1.0, cost_false_positive: float = 1.0
) -> float:
    r"""Place of a prior and two costs on the x-axis of a cost curve.

    .. math:: P(+)cost = \frac{p\, c_{01}}{p\, c_{01} + (1 - p)\, c_{10}}

    In [0, 1]; with equal costs it is the prior.

    Parameters
    ----------
    prior : float in [0, 1]
        Probability `p` of the positive class where the classifier will be used.
    cost_false_negative : float, default=1.0
        The cost :math:`c_{01}` of calling a positive negative.
    cost_false_positive : float, default=1.0
        The cost :math:`c_{10}` of calling a negative positive.

    Returns
    -------
    x : float
        A fraction.

    Raises
    ------
    ValueError
        If `prior` leaves [0, 1], a cost is negative, or no error has a cost.

    Notes
    -----
    Several posts print a product in place of the sum; that does not stay in [0, 1].

    References
    ----------
    .. [1] Drummond, C. and Holte, R. C. (2006). Cost curves: an improved method for visualizing
       classifier performance. Machine Learning 65, 95-130.
       https://doi.org/10.1007/s10994-006-8199-5

    Examples
    --------
    >>> from skeval.metrics import probability_cost
    >>> probability_cost(0.2, cost_false_negative=4.0)
    0.5
    """
    largest = max(cost_false_negative, cost_false_positive) or 1.0
    positive = prior * (cost_false_negative / largest)
    negative = (1 - prior) * (cost_false_positive / largest)
    if positive + negative == 0:
        raise ValueError(
            "probability_cost needs an error with a cost and a probability > 0, got "
            f"prior={prior}, cost_false_negative={cost_false_negative}, "
            f"cost_false_positive={cost_false_positive}."
        )
    return float(positive / (positive + negative))


@validate_params(SCORE_CONSTRAINTS)
def cost_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
) -> Curve:
    r"""Lower envelope of the normalised expected cost over all thresholds.

    With `p` the prior of the positive class, :math:`c_{01}` the cost of calling a positive
    negative and :math:`c_{10}` that of calling a negative positive,

    .. math:: x = \frac{p\, c_{01}}{p\, c_{01} + (1 - p)\, c_{10}}, \quad
              \frac{FNR\, p\, c_{01} + FPR\, (1 - p)\, c_{10}}{p\, c_{01} + (1 - p)\, c_{10}}
              = FNR\, x + FPR\, (1 - x).

    Each ROC point is a line from (0, FPR) to (1, FNR); the curve is the lower envelope of them all
    and of the two trivial lines. It lies in [0, min(x, 1 - x)]; lower is better, and the area, in
    [0, 1/4], is the expected cost over a uniform x.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes, two at most.
    y_score : array-like of shape (n_samples,)
        Larger says more surely positive.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 where `y_true` takes values in {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        Each sample counts as often as its weight says.

    Returns
    -------
    curve : Curve
        With the vertices of the envelope, `x` from 0 to 1, and the `area`, which has no interval
        and no standard error (they are nan); `at` finds the height of the curve at any x. A score
        of ``thresholds[i]`` or more is called positive between the vertices i and i + 1; inf calls
        nothing positive. ``details["lines"]`` of shape (n_cuts, 2) holds the false-positive rate
        (the cost at x = 0) and the false-negative rate (at x = 1) of every cut of the score, the
        two trivial ones included.

    Raises
    ------
    ValueError
        If a class is absent, there are more than two, `pos_label` is none of them, or a score is
        not finite.

    Notes
    -----
    The denominator is a sum; the product that several posts print does not stay in [0, 1]. The
    envelope takes the best threshold on the very samples it is drawn from: on the samples of
    training it is optimistic.

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
    positive, score, weight = _checks.check_binary_scores(y_true, y_score, pos_label, sample_weight)
    tp, fp, thresholds = cumulative_counts(positive, score, weight)
    if tp[-1] == 0 or fp[-1] == 0:
        raise ValueError("y_true must hold both classes with weight > 0, got one.")
    lines = np.column_stack([fp / fp[-1], 1 - tp / tp[-1]])
    vertices = hull(tp, fp)
    x, y, pieces = lower_envelope(lines[vertices])
    area = Estimate(
        name="area under the cost curve",
        value=float(auc(x, y)),
        standard_error=np.nan,
        method="cost_curve",
        n_samples=int(np.sum(weight > 0)),
    )
    return Curve(
        name="cost curve",
        axes=AXES,
        x=x,
        y=y,
        thresholds=thresholds[vertices[pieces]],
        area=area,
        details={"lines": lines},
    )


@validate_params(
    {**SCORE_CONSTRAINTS, "probability_cost": [Interval(Real, 0, 1, closed="both"), None]}
)
def expected_cost(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    probability_cost: float | None = None,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Normalised expected cost of a score at its best threshold.

    .. math:: \min_t\ FNR(t)\, x + FPR(t)\, (1 - x)

    at `x`, or its mean over a uniform `x`: the area under the cost curve. In
    [0, min(x, 1 - x)], the area in [0, 1/4]; 0 is best.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes, two at most.
    y_score : array-like of shape (n_samples,)
        Larger says more surely positive.
    probability_cost : float in [0, 1], default=None
        The `x` that belongs to the prior and the costs, see `probability_cost`. None averages over
        all.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 where `y_true` takes values in {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        Each sample counts as often as its weight says.

    Returns
    -------
    cost : float
        A fraction of the largest expected cost; nan with `UndefinedMetricWarning` where a class
        is absent.

    Raises
    ------
    ValueError
        If there are more than two classes, `pos_label` is none of them, a score is not finite, or
        `probability_cost` leaves [0, 1].

    Notes
    -----
    The threshold is chosen on the samples given; see `cost_curve`.

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
    positive, _, weight = _checks.check_binary_scores(y_true, y_score, pos_label, sample_weight)
    if len(np.unique(positive[weight > 0])) < 2:
        return _checks.give_nan("expected_cost needs both classes in y_true, got one.")
    curve = cost_curve(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
    if probability_cost is None:
        return float(auc(curve.x, curve.y))
    return float(curve.at(probability_cost))


@validate_params(BAND_CONSTRAINTS)
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
    r"""Interval of the cost curve at each x, or of its difference from a second one.

    It is meant to cover the curve of the population, :math:`\min_t FNR(t)\, x + FPR(t) (1 - x)`
    with the rates of every threshold `t` on unlimited data. Lower cost is better: where the band
    of a difference lies below 0, `y_score` beats `baseline` at those costs.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes, two.
    y_score : array-like of shape (n_samples,)
        Larger says more surely positive.
    baseline : array-like of shape (n_samples,), default=None
        A second score, whose curve is subtracted.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 where `y_true` takes values in {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        The share of each sample in the rates. A class counts as :math:`(\sum w)^2 / \sum w^2`
        samples, so that only the ratios of weights matter.
    groups : array-like of shape (n_samples,) or (n_samples, n_kinds), default=None
        For samples that belong together, nested or crossed (:doc:`/user_guide/dependence`): whole
        groups are drawn, and the interval counts the samples that each class is worth.
    confidence_level : float, default=0.95
        Nominal coverage at each x by itself, not of the whole curve.
    n_resamples : int, default=1000
        Number of bootstrap resamples.
    n_points : int, default=101
        Number of x values.
    random_state : int, RandomState, Generator or None, default=None
        Draws the resamples.

    Returns
    -------
    curve : Curve
        With `x`, evenly from 0 to 1, the cost or its difference `y`, `low` and `high`. `details`
        hold the curves of the resamples, ``replicates`` of shape (n_resamples, n_points), and
        whether a baseline was subtracted, ``is_difference``.

    Raises
    ------
    ValueError
        If a class is absent, there are more than two, or a score is not finite.

    Notes
    -----
    Positive and negative samples are resampled separately, for the axis of the curve, not the
    sample, says how frequent they are; two scores are resampled together.

    *One curve.* The best threshold is chosen on the samples that judge it, so that the curve is
    too low, and its resamples, which choose again, lower still: in the simulations below their
    percentiles covered as little as 0.10 where 0.95 was meant. Instead, at each x:

    - the rates of the thresholds that the resamples choose are taken on the sample and averaged;
      their Wilson limits, or those of the rates of the best threshold where these lie further off,
      combine into the distances from the cost to its limits (Zou and Donner [2]_; no width is zero
      where no error was made);
    - the lower limit is the cost less that distance, for the curve is not too high; to the upper
      one the optimism is added, :math:`(\hat c - \bar c^*) / (2^{2/3} - 1)` with
      :math:`\bar c^*` the mean of the resamples. A minimum over thresholds is too low by an
      amount that grows as the 2/3 power of the variance (Kim and Pollard [3]_), and a resample
      has the variance twice;
    - both stay in [0, min(x, 1 - x)], where every curve of a population lies.

    Measured for a nominal 0.95, at 11 x from 0.05 to 0.95, on 300 to 1000 data sets of two normal
    scores some standard deviations apart, and of such scores cut into five values. The lowest
    coverage over x:

    ==================  ==========  ==========  ==========  ==========
    samples of a class  0 apart     1           2           3.5
    ==================  ==========  ==========  ==========  ==========
    30 and 30           0.948       0.956       0.970       0.997
    100 and 100         0.952       0.965       0.960       0.982
    400 and 400         0.960       0.957       0.957       0.963
    20 and 200          0.954       0.960       0.972       0.998
    five values, 30                 0.973       0.966
    five values, 100                0.962       0.908
    five values, 400                0.936       0.918
    ==================  ==========  ==========  ==========  ==========

    In the mean over x it is 0.96 to 1.00. It falls short where a score has few values: at some x,
    two cuts then compete.

    *A difference* has percentile limits: the optimism of two curves nearly cancels.
    Where both order every sample rightly no resample differs and its width is 0, which does not
    say that the curves are equal.

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
    sample = check_curve_sample(y_true, y_score, pos_label, sample_weight, groups, confidence_level)
    positive, weight, group = sample.positive, sample.weight, sample.group
    scores = [sample.score]
    if baseline is not None:
        data = y_true, baseline, pos_label, sample_weight, None
        scores.append(check_curve_sample(*data, name="baseline").score)
    curves = [_Curve(Cuts(positive, score), n_points) for score in scores]
    root = _checks.root_seed(random_state)
    draws = (
        weight * _counts(positive, group, _checks.repetition_rng(root, b))
        for b in range(n_resamples)
    )
    found = [[curve.best(draw) for curve in curves] for draw in draws]
    costs = np.array([[cost for cost, _ in both] for both in found])  # (resample, curve, x)
    estimates = np.array([curve.best(weight)[0] for curve in curves])
    if baseline is None:
        cuts = np.array([cut for ((_, cut),) in found])
        estimate, replicates = estimates[0], costs[:, 0]
        low, high = _limits(curves[0], sample, cuts, replicates)
    else:
        estimate, replicates = estimates[0] - estimates[1], costs[:, 0] - costs[:, 1]
        level = confidence_level
        if group is not None:
            level = expand_level(level, count_groups(group))
        tails = (1 - level) / 2, (1 + level) / 2
        low, high = np.quantile(replicates, tails, axis=0)
    difference = baseline is not None
    return Curve(
        name="difference of cost" if difference else "cost curve",
        axes=AXES,
        x=curves[0].grid,
        y=estimate,
        low=low,
        high=high,
        confidence_level=confidence_level,
        method="percentile" if difference else "wilson",
        details={"is_difference": difference, "replicates": replicates},
    )


def _counts(positive: NDArray[np.bool_], group: Codes | None, rng: Generator) -> Floats:
    """Return how often each sample is drawn, each class with replacement to its own size.

    Groups are drawn whole, those of each kind by themselves, until both classes are there.
    """
    counts = np.zeros(len(positive))
    for _ in range(0 if group is None else _TRIES):
        counts = np.ones(len(positive))
        for kind in np.asarray(group).reshape(len(counts), -1).T:
            size = int(kind.max()) + 1
            counts *= np.bincount(rng.integers(0, size, size), minlength=size)[kind]
        if counts[positive].any() and counts[~positive].any():
            return counts
    if group is not None:
        raise ValueError("groups must hold both classes in more than one of them for this curve.")
    for members in (positive, ~positive):
        size = int(members.sum())
        counts[members] = np.bincount(rng.integers(0, size, size), minlength=size)
    return counts


_TRIES = 100


class _Curve:
    """The cost curve of one score on a grid, for any weights of its samples."""

    def __init__(self, cuts: Cuts, n_points: int) -> None:
        self.cuts, self.grid = cuts, np.linspace(0, 1, n_points)

    def best(self, weight: Floats) -> tuple[Floats, NDArray[np.intp]]:
        """Return the lowest cost at each x, and the cut that attains it."""
        tp, fp = self.cuts.count(weight)
        vertices = hull(tp, fp)
        lines = np.column_stack([fp / fp[-1], 1 - tp / tp[-1]])
        x, y, pieces = lower_envelope(lines[vertices])
        piece = np.searchsorted(x[1:-1], self.grid, side="right")
        return np.interp(self.grid, x, y), vertices[pieces[piece]]


def _limits(
    curve: _Curve, sample: CurveSample, cuts: NDArray[np.intp], replicates: Floats
) -> tuple[Floats, Floats]:
    """Return the ends of the interval of one curve; `cuts` are those the resamples choose."""
    weight, z = sample.weight, sample.z
    x, (cost, best) = curve.grid, curve.best(weight)
    down = up = np.zeros(len(x))
    effective = sample.sizes[::-1]
    tpr, fpr = (count / count[-1] for count in curve.cuts.count(weight))
    for chosen in (cuts, best[None]):
        rates = fpr[chosen].mean(axis=0), 1 - tpr[chosen].mean(axis=0)
        (fpr_low, fpr_high), (fnr_low, fnr_high) = (
            wilson_limits(rate, size, z) for rate, size in zip(rates, effective, strict=True)
        )
        down = np.maximum(down, np.hypot((1 - x) * (rates[0] - fpr_low), x * (rates[1] - fnr_low)))
        up = np.maximum(up, np.hypot((1 - x) * (fpr_high - rates[0]), x * (fnr_high - rates[1])))
    optimism = np.maximum(cost - replicates.mean(axis=0), 0) / (2 ** (2 / 3) - 1)
    return np.maximum(cost - down, 0), np.minimum(cost + optimism + up, np.minimum(x, 1 - x))


def hull(tp: Floats, fp: Floats) -> NDArray[np.intp]:
    """Return the cuts on the convex hull of the ROC curve.

    The hull of a cumulative diagram is its isotonic regression: cuts between samples of one
    fitted positive rate lie below the hull. A cut that moves neither count is none.
    """
    step = np.diff(tp) + np.diff(fp)
    moved = np.flatnonzero(step > 0)
    rate = isotonic_regression(
        np.diff(tp)[moved] / step[moved], sample_weight=step[moved], increasing=False
    )
    # These end a run of equal rates.
    last = np.append(np.flatnonzero(np.diff(rate)), len(rate) - 1)
    return np.append(0, moved[last] + 1)


def lower_envelope(lines: Floats) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """Return vertices (x, y) of the envelope of the lines of a hull, and the line of each piece.

    Neighbouring lines are the pieces of the envelope, in order: they meet where
    FPR + (FNR - FPR) x agrees.
    """
    rise, fall = np.diff(lines[:, 0]), -np.diff(lines[:, 1])
    turn = rise + fall  # It is 0 where rounding makes one line of two.
    meet = np.divide(rise, turn, out=np.zeros_like(turn), where=turn > 0)
    x = np.maximum.accumulate(np.concatenate(([0.0], meet, [1.0])))
    pieces = np.flatnonzero(np.diff(x) > 0)
    x = np.append(x[pieces], 1.0)
    fpr, fnr = lines[np.append(pieces, pieces[-1])].T
    return x, fpr * (1 - x) + fnr * x, pieces
