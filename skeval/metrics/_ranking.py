"""Metrics of a score that ranks the samples of two classes.

Break-even point, ranking loss, and whether one curve lies above another and where they cross.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from skeval.metrics._checks import check_binary_scores
from skeval.utils._checks import give_nan, naming
from skeval.utils._compat import StrOptions, validate_params

__all__ = [
    "SCORE_CONSTRAINTS",
    "break_even_point",
    "cumulative_counts",
    "curve_dominance",
    "ranking_loss",
]

Floats = NDArray[np.float64]
Winner = Literal["a", "b", "equal", "cross"]
_ROUNDING = 1e-12

SCORE_CONSTRAINTS: dict[str, list[object]] = {
    "y_true": ["array-like"],
    "y_score": ["array-like"],
    "pos_label": [Real, str, "boolean", None],
    "sample_weight": ["array-like", None],
}


def cumulative_counts(
    positive: NDArray[np.bool_], score: Floats, weight: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the weights of true and false positives at each cut, and its threshold.

    Shape (n_cuts + 1,): the first cut, with threshold inf, predicts nothing positive; each further
    one admits the next lower distinct score, down to all. Samples of weight 0 make no cut.
    """
    seen = weight > 0
    values, place = np.unique(-score[seen], return_inverse=True)
    tp = np.bincount(place, weights=weight[seen] * positive[seen], minlength=len(values))
    fp = np.bincount(place, weights=weight[seen] * ~positive[seen], minlength=len(values))
    true_positives, false_positives = (np.concatenate(([0.0], np.cumsum(v))) for v in (tp, fp))
    return true_positives, false_positives, np.concatenate(([np.inf], -values))


@validate_params(SCORE_CONSTRAINTS)
def ranking_loss(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Fraction of (positive, negative) pairs that the score ranks wrongly, ties counting half.

    .. math:: \ell_{rank} = \frac{1}{m^+ m^-} \sum_{+,-}
              \Bigl( 1[f^+ < f^-] + \tfrac12\, 1[f^+ = f^-] \Bigr)

    In [0, 1]; 0 is best, 1 worst, 1/2 that of a score without information. Found in
    :math:`O(n \log n)` time.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes, two at most.
    y_score : array-like of shape (n_samples,)
        Larger says more surely positive.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 where `y_true` takes values in {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        A pair counts with the product of the weights of its samples.

    Returns
    -------
    loss : float
        A fraction; nan with `UndefinedMetricWarning` where a class is absent.

    Raises
    ------
    ValueError
        If there are more than two classes, `pos_label` is none of them, or a score is not finite.

    Notes
    -----
    ``ranking_loss == 1 - roc_auc_score``. Where a text writes
    :math:`AUC = \frac12 \sum_i (x_{i+1} - x_i)(y_i + y_{i+1})`, the sum is over consecutive points
    of the ROC curve, not over samples.

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
    positive, score, weight = check_binary_scores(y_true, y_score, pos_label, sample_weight)
    tp, fp, _ = cumulative_counts(positive, score, weight)
    if tp[-1] == 0 or fp[-1] == 0:
        return give_nan("ranking_loss needs both classes in y_true, got one.")
    # Each positive ranks below the negatives admitted before it, and ties with those of its cut.
    misranked = np.diff(tp / tp[-1]) @ (fp[:-1] / fp[-1] + fp[1:] / fp[-1]) / 2
    return float(np.clip(misranked, 0.0, 1.0))


@validate_params(SCORE_CONSTRAINTS)
def break_even_point(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Value at which precision equals recall.

    .. math:: P = \frac{TP}{TP + FP} = \frac{TP}{m^+} = R
              \quad\text{where}\quad TP + FP = m^+

    that is, where as many samples are predicted positive as are positive. In [0, 1]; 1 is best,
    0 worst; a score without information has the prevalence, on average.

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
    value : float
        A fraction; nan with `UndefinedMetricWarning` where there is no positive sample.

    Raises
    ------
    ValueError
        If there are more than two classes, `pos_label` is none of them, or a score is not finite.

    Notes
    -----
    Where tied scores hide that cut, the value is found on the straight line between the two
    neighbouring (recall, precision) points. Where the first of them has no true positives, so that
    precision is 0/0 or 0, the precision of the second is the value: a constant score has the
    prevalence. (The point (0, 1) that `precision_recall_curve` adds there would give it
    ``1 / (2 - prevalence)``.) Weights are compared but for rounding: their unit does not matter.

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
    positive, score, weight = check_binary_scores(y_true, y_score, pos_label, sample_weight)
    tp, fp, _ = cumulative_counts(positive, score, weight)
    if tp[-1] == 0:
        return give_nan("break_even_point needs a positive sample in y_true, got none.")
    predicted = (tp + fp)[1:]
    recall, precision = tp[1:] / tp[-1], tp[1:] / predicted
    # The first cut with P <= R. Sums of the same weights in another order differ by rounding.
    after = int(np.argmax(predicted >= tp[-1] * (1 - _ROUNDING)))
    # P = R = 0 of a cut without true positives says nothing: it is as if there were none.
    start = (0.0, precision[after])
    if after and recall[after - 1] > 0:
        start = (recall[after - 1], precision[after - 1])
    return _diagonal_crossing(start, (recall[after], precision[after]))


def _diagonal_crossing(start: tuple[float, float], end: tuple[float, float]) -> float:
    """Return where the line from `start` (above the diagonal P = R) to `end` meets it."""
    above, below = start[1] - start[0], end[0] - end[1]
    if below <= 0:
        return float(end[1])
    return float(start[1] + above / (above + below) * (end[1] - start[1]))


_TOLERANCE = 1e-12


@validate_params(
    {"curve_a": [tuple, list], "curve_b": [tuple, list], "kind": [StrOptions({"roc", "pr"})]}
)
def curve_dominance(
    curve_a: Sequence[ArrayLike],
    curve_b: Sequence[ArrayLike],
    *,
    kind: Literal["roc", "pr"] = "roc",
) -> tuple[Winner, Floats]:
    """Tell whether one curve lies on or above another everywhere, or where they cross.

    Curve A dominates B if it is on or above B at every x in [0, 1] and above B at some x. A
    classifier whose ROC curve dominates has the lower expected cost whatever the costs and priors;
    where curves cross, no single number orders them.

    Parameters
    ----------
    curve_a : tuple of arrays
        What `roc_curve` or `precision_recall_curve` returns: (FPR, TPR, ...) or
        (precision, recall, ...). What follows the first two arrays is not used.
    curve_b : tuple of arrays
        The other curve.
    kind : {"roc", "pr"}, default="roc"
        "roc": TPR against FPR. "pr": precision against recall.

    Returns
    -------
    winner : {"a", "b", "equal", "cross"}
        The curve on or above the other everywhere and above it somewhere, if there is one.
    crossings : ndarray of shape (n_crossings, 2)
        The points (x, y) where the curve that lies above changes, by increasing x.

    Raises
    ------
    ValueError
        If a curve has fewer than two points, leaves [0, 1], does not reach from x = 0 to x = 1, or
        is not ordered by x.

    Notes
    -----
    Points are joined by straight lines and differences below 1e-12, in x or y, are none. At a
    vertical step the curves are compared just before and just after it. Where the two run together
    before they change sides, the crossing is where they meet. In precision-recall space the
    straight line is optimistic between distant points; with the right interpolation, one
    classifier dominates there exactly if it dominates in ROC space on the same samples (Davis &
    Goadrich, theorem 3.2).

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
    knots = _merge_close(np.concatenate([x_a, x_b]))
    x_a, x_b = (knots[np.searchsorted(knots, x, side="right") - 1] for x in (x_a, x_b))
    x = np.repeat(knots, 2)[1:-1]
    a, b = _one_sided_limits(x_a, y_a, x), _one_sided_limits(x_b, y_b, x)
    difference = np.where(np.abs(a - b) <= _TOLERANCE, 0.0, a - b)
    crossings = _sign_changes(x, a, difference)
    if len(crossings):
        return "cross", crossings
    if (difference > 0).any():
        return "a", crossings
    return "b" if (difference < 0).any() else "equal", crossings


def _curve(curve: Sequence[ArrayLike], name: str, kind: str) -> tuple[Floats, Floats]:
    """Return x and y of a curve, by increasing x."""
    if len(curve) < 2:
        raise ValueError(f"{name} must hold two arrays at least, got {len(curve)}.")
    with naming(name):
        pair = [np.asarray(values) for values in curve[:2]]
        points = check_array(pair, dtype=np.float64, input_name=name)
    x, y = points if kind == "roc" else points[::-1]
    if x[0] > x[-1]:
        x, y = x[::-1], y[::-1]
    if points.min() < -_TOLERANCE or points.max() > 1 + _TOLERANCE:
        raise ValueError(f"{name} must lie in [0, 1], got {points.min()} to {points.max()}.")
    if (np.diff(x) < 0).any():
        raise ValueError(f"{name} must be ordered by its x values.")
    if len(x) < 2 or x[0] > _TOLERANCE or x[-1] < 1 - _TOLERANCE:
        raise ValueError(f"{name} must reach from x = 0 to x = 1, got {x[0]} to {x[-1]}.")
    return np.clip(x, 0, 1), y


def _merge_close(x: Floats) -> Floats:
    """Return the sorted values, of those that differ in rounding only the smallest.

    Both curves step at the same x then, where one has it as 0.1 + 0.2 and the other as 0.3.
    """
    x = np.unique(x)
    return x[np.diff(x, prepend=-np.inf) > 2 * _TOLERANCE]


def _one_sided_limits(x: Floats, y: Floats, at: Floats) -> Floats:
    """Return y just after and just before each knot: `at` is x0 x1 x1 x2 x2 ... xm.

    Only the first and the last of the points that share an x are limits of the curve.
    """
    knots, first = np.unique(x, return_index=True)
    before, after = y[first], y[np.append(first[1:], len(x)) - 1]
    left = np.searchsorted(knots, at[0::2], side="right") - 1
    right = left + 1
    slope = (before[right] - after[left]) / (knots[right] - knots[left])
    limits = np.empty(len(at))
    limits[0::2] = after[left] + slope * (at[0::2] - knots[left])
    limits[1::2] = before[right] - slope * (knots[right] - at[1::2])
    return limits


def _sign_changes(x: Floats, a: Floats, difference: Floats) -> Floats:
    """Return the points where the piecewise linear difference changes its sign."""
    away = np.flatnonzero(difference)
    change = np.flatnonzero(np.diff(np.sign(difference[away])))
    i = away[change]
    step = difference[i] / (difference[i] - difference[i + 1])  # 1 where they meet at i + 1
    return np.column_stack([p[i] + step * (p[i + 1] - p[i]) for p in (x, a)])
