"""Metrics of a score that ranks the samples of two classes."""

from __future__ import annotations

from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skeval.metrics._checks import check_binary_scores
from skeval.utils._checks import give_nan
from skeval.utils._compat import validate_params

__all__ = ["SCORE_CONSTRAINTS", "break_even_point", "cumulative_counts", "ranking_loss"]

Floats = NDArray[np.float64]
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
