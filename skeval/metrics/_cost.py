"""Cost-sensitive error, and cost curves with pointwise bands.

Each point of a ROC curve gives a line in cost space. The cost curve is the lower envelope of these
lines; the points on the convex hull of the ROC curve suffice to compute it.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from sklearn.isotonic import isotonic_regression
from sklearn.metrics import auc, confusion_matrix

from skeval._inference.estimate import Curve, Estimate
from skeval._inference.intervals import Codes, count_groups, expand_level, wilson_limits
from skeval.metrics._constraints import CONSTRAINTS
from skeval.metrics._curves import CurveSample, Cuts, check_curve_sample
from skeval.utils import _checks
from skeval.utils._checks import RandomStateLike
from skeval.utils._compat import Interval, num_samples, validate_params

Floats = NDArray[np.float64]
AXES = "probability_cost", "normalized_expected_cost"


COST = Interval(Real, 0, None, closed="left")


@validate_params(
    CONSTRAINTS
    | {
        "cost_matrix": ["array-like", None],
        "false_positive_cost": [COST, None],
        "false_negative_cost": [COST, None],
    }
)
def cost_sensitive_error(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    cost_matrix: ArrayLike | None = None,
    false_positive_cost: float | None = None,
    false_negative_cost: float | None = None,
    pos_label: object = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Return the mean cost of the decisions.

    .. math:: \frac{1}{n} \sum_i cost[y_i, \hat y_i]

    The result lies in [0, largest cost]; 0 is best. If every error costs 1, it is the error rate.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes.
    y_pred : array-like of shape (n_samples,)
        Predicted classes.
    cost_matrix : array-like of shape (n_classes, n_classes), default=None
        ``cost_matrix[i, j]`` is the cost of predicting class `i` as class `j`: true classes in
        rows, predicted classes in columns, as in `sklearn.metrics.confusion_matrix`, in the order
        of `labels`. Costs must be >= 0, and 0 on the diagonal.
    false_positive_cost, false_negative_cost : float, default=None
        For two classes, two costs instead of `cost_matrix`: of predicting a negative sample as
        positive, and of predicting a positive sample as negative.
    pos_label : int, float, bool or str, default=None
        The positive class for these two costs. None uses 1 if the classes are in {0, 1} or
        {-1, 1}.
    labels : array-like of shape (n_classes,), default=None
        Classes in the order of `cost_matrix`. None uses all classes that occur, sorted. Pass them
        if a class may be absent, as in the folds of a cross-validation.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights.

    Returns
    -------
    error : float
        Mean cost, in the unit of the costs.

    Raises
    ------
    ValueError
        If neither or both of `cost_matrix` and the named costs are passed; if `cost_matrix` is not
        square with one row per class, has a negative or infinite cost or a non-zero diagonal; if
        the named costs are used with more than two classes; or if a class that occurs is not in
        `labels`.

    See Also
    --------
    probability_cost : Position of two costs and a prior on the x-axis of a cost curve.

    Notes
    -----
    In the matrices of Elkan [1]_ rows are *predicted* and columns are true classes. Such a matrix
    must be transposed; no check can detect it. Textbooks in which class 0 is positive have rows of
    true classes, as here. The named costs avoid the ambiguity.

    References
    ----------
    .. [1] Elkan, C. (2001). The foundations of cost-sensitive learning. IJCAI 2001, 973-978.

    Examples
    --------
    >>> from skeval.metrics import cost_sensitive_error
    >>> y_true, y_pred = [0, 0, 1, 1], [0, 1, 1, 0]
    >>> cost_sensitive_error(y_true, y_pred, false_positive_cost=1, false_negative_cost=5)
    1.5
    >>> cost_sensitive_error(y_true, y_pred, cost_matrix=[[0, 1], [5, 0]])
    1.5
    """
    y_true, y_pred, classes = _checks.check_labels(y_true, y_pred, labels)
    unknown = set(_checks.classes_of(y_true, y_pred).tolist()) - set(classes.tolist())
    if unknown:
        raise ValueError(f"labels must name every class that occurs, got none of {unknown}.")
    costs = costs_of_cells(
        classes, cost_matrix, false_positive_cost, false_negative_cost, pos_label
    )
    weight = _checks.scale_weights(sample_weight, num_samples(y_true))[0]
    with _checks.naming("y_true", "y_pred"):
        table = confusion_matrix(y_true, y_pred, labels=classes, sample_weight=weight)
    return float(np.sum(table / table.sum() * costs))


def costs_of_cells(
    classes: NDArray[np.generic],
    cost_matrix: ArrayLike | None = None,
    false_positive_cost: float | None = None,
    false_negative_cost: float | None = None,
    pos_label: object = None,
) -> Floats:
    """Return the costs of the cells of a confusion matrix, by true and predicted class."""
    named = (false_positive_cost, false_negative_cost)
    if (cost_matrix is None) == (named == (None, None)) or (named.count(None) == 1):
        raise ValueError(
            "cost_matrix, or both false_positive_cost and false_negative_cost, must be given, got "
            f"cost_matrix={cost_matrix!r}, false_positive_cost={false_positive_cost}, "
            f"false_negative_cost={false_negative_cost}."
        )
    if cost_matrix is not None:
        return _check_costs(cost_matrix, len(classes))
    if len(classes) > 2:
        raise ValueError(
            "false_positive_cost and false_negative_cost need at most two classes (cost_matrix "
            f"takes more), got {len(classes)}: {classes[:10].tolist()}."
        )
    positive = classes == _checks.positive_label(classes.tolist(), pos_label)
    costs = np.zeros((len(classes), len(classes)))
    costs[np.ix_(~positive, positive)] = false_positive_cost
    costs[np.ix_(positive, ~positive)] = false_negative_cost
    return costs


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
        "false_negative_cost": [COST],
        "false_positive_cost": [COST],
    }
)
def probability_cost(
    prior: float, *, false_negative_cost: float = 1.0, false_positive_cost: float = 1.0
) -> float:
    r"""Return the position of a prior and two costs on the x-axis of a cost curve.

    .. math:: P(+)cost = \frac{p\, c_{FN}}{p\, c_{FN} + (1 - p)\, c_{FP}}

    The result lies in [0, 1]; with equal costs it is the prior.

    Parameters
    ----------
    prior : float in [0, 1]
        Probability `p` of the positive class in deployment.
    false_negative_cost : float, default=1.0
        Cost :math:`c_{FN}` of predicting a positive sample as negative.
    false_positive_cost : float, default=1.0
        Cost :math:`c_{FP}` of predicting a negative sample as positive.

    Returns
    -------
    x : float
        Position on the x-axis, in [0, 1].

    Raises
    ------
    ValueError
        If `prior` is outside [0, 1], a cost is negative, or both errors have cost 0 or probability
        0.

    Notes
    -----
    Some publications print a product instead of the sum in the denominator; that formula can leave
    [0, 1].

    References
    ----------
    .. [1] Drummond, C. and Holte, R. C. (2006). Cost curves: an improved method for visualizing
       classifier performance. Machine Learning 65, 95-130.
       https://doi.org/10.1007/s10994-006-8199-5

    Examples
    --------
    >>> from skeval.metrics import probability_cost
    >>> probability_cost(0.2, false_negative_cost=4.0)
    0.5
    """
    largest = max(false_negative_cost, false_positive_cost) or 1.0
    positive = prior * (false_negative_cost / largest)
    negative = (1 - prior) * (false_positive_cost / largest)
    if positive + negative == 0:
        raise ValueError(
            "probability_cost needs an error with a cost and a probability > 0, got "
            f"prior={prior}, false_negative_cost={false_negative_cost}, "
            f"false_positive_cost={false_positive_cost}."
        )
    return float(positive / (positive + negative))


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

    Each ROC point gives a line from (0, FPR) to (1, FNR); the curve is the lower envelope of these
    lines and of the lines of the two constant classifiers. It lies in [0, min(x, 1 - x)]; lower is
    better. The area, in [0, 1/4], is the expected cost if x is uniform.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes, at most two.
    y_score : array-like of shape (n_samples,)
        Target scores; higher values indicate the positive class.
    pos_label : int, float, bool or str, default=None
        The positive class. None uses 1 if `y_true` takes values in {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights.

    Returns
    -------
    curve : Curve
        Vertices of the envelope, with `x` from 0 to 1, and the `area`, whose interval and standard
        error are nan; `at` interpolates the curve at any x. Between vertices i and i + 1, scores of
        ``thresholds[i]`` or more are predicted positive; with inf, none is. `lines`, of
        shape (n_cuts, 2) contains the false-positive rate (the cost at x = 0) and the
        false-negative rate (the cost at x = 1) at every cut of the score, including the two
        constant classifiers.

    Raises
    ------
    ValueError
        If a class is absent, there are more than two, `pos_label` is not one of them, or a score is
        not finite.

    Notes
    -----
    The denominator is a sum; the product that some publications print can leave [0, 1]. The
    envelope uses the best threshold for the same samples, so it is optimistic on training samples.

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
    tp, fp, thresholds = sample.ranked.cumulate()
    lines = np.column_stack([fp / fp[-1], 1 - tp / tp[-1]])
    x, y, cuts = lower_envelope(lines, hull(tp, fp))
    area = Estimate(
        name="area under the cost curve",
        value=float(auc(x, y)),
        standard_error=np.nan,
        method="cost_curve",
        n_samples=len(sample.score),
    )
    return Curve(
        name="cost curve",
        axes=AXES,
        x=x,
        y=y,
        thresholds=thresholds[cuts],
        area=area,
        extra=CostExtra(lines=lines),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class CostExtra:
    """Further results of a cost curve.

    Attributes
    ----------
    lines : ndarray of shape (n_cuts, 2), or None
        Costs at both ends of the line of every cut.
    is_difference : bool or None
        Whether a baseline is subtracted, for curves that allow one.
    replicates : ndarray of shape (n_resamples, n_points), or None
        Curves of the resamples.
    """

    lines: NDArray[np.float64] | None = None
    is_difference: bool | None = None
    replicates: NDArray[np.float64] | None = None


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

    at `x`, or the mean of this over a uniform `x`, which is the area under the cost curve. The cost
    lies in [0, min(x, 1 - x)] and the area in [0, 1/4]; 0 is best.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes, at most two.
    y_score : array-like of shape (n_samples,)
        Target scores; higher values indicate the positive class.
    probability_cost : float in [0, 1], default=None
        Position `x` of the prior and the costs, see `probability_cost`. None averages over all `x`.
    pos_label : int, float, bool or str, default=None
        The positive class. None uses 1 if `y_true` takes values in {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights.

    Returns
    -------
    cost : float
        Cost as a fraction of the largest expected cost; nan with `UndefinedMetricWarning` if a
        class is absent.

    Raises
    ------
    ValueError
        If there are more than two classes, `pos_label` is not one of them, a score is not finite,
        or `probability_cost` is outside [0, 1].

    Notes
    -----
    The threshold is chosen on the same samples; see `cost_curve`.

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
    r"""Return a cost curve, or the difference of two, with a confidence interval at each x.

    The interval is for the curve of the population, :math:`\min_t FNR(t)\, x + FPR(t) (1 - x)`,
    where the rates at each threshold `t` refer to unlimited data. Lower cost is better: where the
    band of a difference lies below 0, `y_score` beats `baseline` at those costs.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes, exactly two.
    y_score : array-like of shape (n_samples,)
        Target scores; higher values indicate the positive class.
    baseline : array-like of shape (n_samples,), default=None
        Second score; its curve is subtracted.
    pos_label : int, float, bool or str, default=None
        The positive class. None uses 1 if `y_true` takes values in {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. The effective size of a class is :math:`(\sum w)^2 / \sum w^2`, so only the
        ratios of weights matter.
    groups : array-like of shape (n_samples,) or (n_samples, n_kinds), default=None
        Group of each sample, such as the patient. Several columns are nested or crossed groups; see
        :doc:`/user_guide/dependence`. Whole groups are resampled. The interval uses the effective
        sample size of each class.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1, at each x by itself, not of the whole curve.
    n_resamples : int, default=1000
        Number of bootstrap resamples.
    n_points : int, default=101
        Number of x values.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws; an int gives the same result in each call.

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
    Positive and negative samples are resampled separately, because the x-axis, not the sample,
    defines the class frequencies. Two scores are resampled together.

    *One curve.* The best threshold is chosen and evaluated on the same samples, so the curve is
    biased downward. The resamples choose again and are biased further: in the simulations below,
    nominal 0.95 percentile intervals had coverage as low as 0.10. Instead, at each x:

    - the rates at the thresholds chosen by the resamples are computed on the sample and averaged.
      Their Wilson limits, or the Wilson limits at the best threshold if these lie farther away, are
      combined into the distances from the cost to its limits (Zou and Donner [2]_). The width is
      not zero even if no error was observed;
    - the lower limit is the cost minus its distance, because the curve is not biased upward. The
      upper limit also includes the optimism, :math:`(\hat c - \bar c^*) / (2^{2/3} - 1)`, where
      :math:`\bar c^*` is the mean of the resamples. The downward bias of a minimum over thresholds
      grows as the 2/3 power of the variance (Kim and Pollard [3]_), and a resample has twice the
      variance;
    - both limits are clipped to [0, min(x, 1 - x)], which contains every population curve.

    Coverage was simulated at 11 values of x from 0.05 to 0.95, for a nominal level of 0.95, on 300
    to 1000 data sets. The scores of the two classes were normal, with means 0 to 3.5 standard
    deviations apart, or such scores cut into five values. The table shows the lowest coverage over
    x:

    ==================  ==========  ==========  ==========  ==========
    samples per class   0 apart     1           2           3.5
    ==================  ==========  ==========  ==========  ==========
    30 and 30           0.948       0.956       0.970       0.997
    100 and 100         0.952       0.965       0.960       0.982
    400 and 400         0.960       0.957       0.957       0.963
    20 and 200          0.954       0.960       0.972       0.998
    five values, 30                 0.973       0.966
    five values, 100                0.962       0.908
    five values, 400                0.936       0.918
    ==================  ==========  ==========  ==========  ==========

    The mean coverage over x is 0.96 to 1.00. Coverage is too low if a score has few distinct
    values, because two cuts then compete at some x.

    *A difference* has percentile limits, because the optimism of the two curves nearly cancels. If
    both scores separate the classes perfectly, all resamples agree and the width is 0; this does
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
    sample = check_curve_sample(y_true, y_score, pos_label, sample_weight, groups, confidence_level)
    positive, weight, group = sample.positive, sample.weight, sample.group
    scores = [sample.score]
    if baseline is not None:
        data = y_true, baseline, pos_label, sample_weight, None
        scores.append(check_curve_sample(*data, name="baseline").score)
    cuts, x = [Cuts(positive, score) for score in scores], np.linspace(0, 1, n_points)
    root = _checks.root_seed(random_state)
    resample_weights = (
        weight * _counts(positive, group, _checks.repetition_rng(root, b))
        for b in range(n_resamples)
    )
    results = [[find_lowest(own, draw, x) for own in cuts] for draw in resample_weights]
    costs = np.array([[cost for cost, _ in pair] for pair in results])  # (resample, curve, x)
    estimates = np.array([find_lowest(own, weight, x)[0] for own in cuts])
    if baseline is None:
        chosen = np.array([cut for ((_, cut),) in results])
        estimate, replicates = estimates[0], costs[:, 0]
        low, high = _limits(cuts[0], sample, x, chosen, replicates)
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
    counts = np.zeros(len(positive))
    if group is None:
        for members in (positive, ~positive):
            size = int(members.sum())
            counts[members] = np.bincount(rng.integers(0, size, size), minlength=size)
        return counts
    while not (counts[positive].any() and counts[~positive].any()):
        counts = np.ones(len(positive))
        for kind in group.reshape(len(counts), -1).T:
            size = int(kind.max()) + 1
            counts *= np.bincount(rng.integers(0, size, size), minlength=size)[kind]
    return counts


def find_lowest(cuts: Cuts, weight: Floats, at: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Return the lowest cost of weighted samples at each x, and the cut that attains it."""
    tp, fp = cuts.count(weight)
    lines = np.column_stack([fp / fp[-1], 1 - tp / tp[-1]])
    x, y, best = lower_envelope(lines, hull(tp, fp))
    return np.interp(at, x, y), best[np.searchsorted(x[1:-1], at, side="right")]


def _limits(
    cuts: Cuts, sample: CurveSample, x: Floats, chosen: NDArray[np.intp], replicates: Floats
) -> tuple[Floats, Floats]:
    """Return the limits of one curve; `chosen` contains the best cutoff in each resample."""
    weight, z = sample.weight, sample.z
    cost, best = find_lowest(cuts, weight, x)
    down = up = np.zeros(len(x))
    effective = sample.sizes[::-1]
    tpr, fpr = (count / count[-1] for count in cuts.count(weight))
    for cut in (chosen, best[None]):
        rates = fpr[cut].mean(axis=0), 1 - tpr[cut].mean(axis=0)
        (fpr_low, fpr_high), (fnr_low, fnr_high) = (
            wilson_limits(rate, size, z) for rate, size in zip(rates, effective, strict=True)
        )
        down = np.maximum(down, np.hypot((1 - x) * (rates[0] - fpr_low), x * (rates[1] - fnr_low)))
        up = np.maximum(up, np.hypot((1 - x) * (fpr_high - rates[0]), x * (fnr_high - rates[1])))
    optimism = np.maximum(cost - replicates.mean(axis=0), 0) / (2 ** (2 / 3) - 1)
    return np.maximum(cost - down, 0), np.minimum(cost + optimism + up, np.minimum(x, 1 - x))


def hull(tp: Floats, fp: Floats) -> NDArray[np.intp]:
    """Return the cuts on the convex hull of the ROC curve.

    The hull of a cumulative diagram is its isotonic regression: cuts within a block of equal fitted
    positive rate lie below the hull. Cuts that change neither count are skipped.
    """
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
    """Return the vertices (x, y) of the lower envelope of cost lines, and the cut of each piece.

    The lines of consecutive cuts on the hull form the pieces of the envelope, in order. They meet
    at the x where FPR + (FNR - FPR) x is equal.
    """
    lines = lines[vertices]
    rise, fall = np.diff(lines[:, 0]), -np.diff(lines[:, 1])
    turn = rise + fall  # 0 if two lines coincide after rounding
    meet = np.divide(rise, turn, out=np.zeros_like(turn), where=turn > 0)
    x = np.maximum.accumulate(np.concatenate(([0.0], meet, [1.0])))
    pieces = np.flatnonzero(np.diff(x) > 0)
    x = np.append(x[pieces], 1.0)
    fpr, fnr = lines[np.append(pieces, pieces[-1])].T
    return x, fpr * (1 - x) + fnr * x, vertices[pieces]
