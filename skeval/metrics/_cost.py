"""Costs of errors: the cost-sensitive error, and the cost curve of a score."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import auc, confusion_matrix

from skeval.metrics._checks import check_binary_scores, check_labels, classes_of, scale_weights
from skeval.metrics._envelope import hull, lower_envelope
from skeval.metrics._ranking import SCORE_CONSTRAINTS, cumulative_counts
from skeval.utils._checks import check_data, give_nan, naming
from skeval.utils._compat import Interval, num_samples, validate_params
from skeval.utils._frames import DataFrame, make_frame
from skeval.utils._text import ShownAsText, write_number

__all__ = [
    "CostCurve",
    "cost_curve",
    "cost_sensitive_error",
    "expected_cost",
    "probability_cost",
]

Floats = NDArray[np.float64]


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
    y_true, y_pred, classes = check_labels(y_true, y_pred, labels)
    unknown = set(classes_of(y_true, y_pred).tolist()) - set(classes.tolist())
    if unknown:
        raise ValueError(f"labels must name every class that occurs, got none of {unknown}.")
    costs = _check_costs(cost_matrix, len(classes))
    weight = scale_weights(sample_weight, num_samples(y_true))[0]
    with naming("y_true", "y_pred"):
        table = confusion_matrix(y_true, y_pred, labels=classes, sample_weight=weight)
    return float(np.sum(table / table.sum() * costs))


def _check_costs(cost_matrix: ArrayLike, n_classes: int) -> Floats:
    costs = check_data("cost_matrix", cost_matrix, dtype=np.float64)
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


@dataclass(frozen=True)
class CostCurve(ShownAsText):
    """The expected cost of a score at its best threshold, for every prior and pair of costs.

    Attributes
    ----------
    probability_cost : ndarray of shape (n_vertices,)
        x of the vertices of the lower envelope, from 0 to 1.
    normalized_expected_cost : ndarray of shape (n_vertices,)
        y of the vertices.
    thresholds : ndarray of shape (n_vertices - 1,)
        ``y_score >= thresholds[i]`` is the decision that attains the envelope between vertices `i`
        and `i + 1`; inf predicts nothing positive.
    lines : ndarray of shape (n_cuts, 2)
        The false-positive rate (the cost at x = 0) and false-negative rate (at x = 1) of every
        cut of the score, the two trivial ones included.
    area : float
        The area under the envelope: the expected cost over a uniform x.
    """

    probability_cost: Floats = field(repr=False)
    normalized_expected_cost: Floats = field(repr=False)
    thresholds: Floats = field(repr=False)
    lines: Floats = field(repr=False)
    area: float

    def at(self, probability_cost: ArrayLike) -> Floats:
        """Return the normalised expected cost at each x of `probability_cost`."""
        x = np.asarray(probability_cost, dtype=np.float64)
        if not ((x >= 0) & (x <= 1)).all():
            raise ValueError(f"probability_cost must lie in [0, 1], got {x.tolist()}.")
        return np.interp(x, self.probability_cost, self.normalized_expected_cost)

    def to_frame(self) -> DataFrame:
        """Return one row per piece of the envelope."""
        x, y = self.probability_cost, self.normalized_expected_cost
        columns = {"from": x[:-1], "to": x[1:], "cost_from": y[:-1], "cost_to": y[1:]}
        return make_frame({**columns, "threshold": self.thresholds})

    def __str__(self) -> str:
        largest = self.normalized_expected_cost.max()
        return (
            f"area          {write_number(self.area)}\n"
            f"largest cost  {write_number(largest)}\n"
            f"pieces        {len(self.thresholds)}"
        )


@validate_params(SCORE_CONSTRAINTS)
def cost_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
) -> CostCurve:
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
    curve : CostCurve
        With `probability_cost`, `normalized_expected_cost`, `thresholds`, `lines` and `area`.

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
    >>> print(curve.probability_cost.round(3), curve.normalized_expected_cost.round(3))
    [0.    0.5   1.   ] [0.   0.25 0.  ]
    >>> float(curve.at(0.25))
    0.125
    """
    positive, score, weight = check_binary_scores(y_true, y_score, pos_label, sample_weight)
    tp, fp, thresholds = cumulative_counts(positive, score, weight)
    if tp[-1] == 0 or fp[-1] == 0:
        raise ValueError("y_true must hold both classes with weight > 0, got one.")
    lines = np.column_stack([fp / fp[-1], 1 - tp / tp[-1]])
    vertices = hull(tp, fp)
    x, y, pieces = lower_envelope(lines[vertices])
    return CostCurve(x, y, thresholds[vertices[pieces]], lines, float(auc(x, y)))


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
    positive, _, weight = check_binary_scores(y_true, y_score, pos_label, sample_weight)
    if len(np.unique(positive[weight > 0])) < 2:
        return give_nan("expected_cost needs both classes in y_true, got one.")
    curve = cost_curve(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
    return curve.area if probability_cost is None else float(curve.at(probability_cost))
