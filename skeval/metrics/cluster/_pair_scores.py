"""Indices from the counts of pairs that two partitions put together or apart."""

from __future__ import annotations

from numpy.typing import ArrayLike

from skeval.metrics.cluster import _pairs
from skeval.metrics.cluster._labels import (
    BETA,
    LABELS,
    f_weights,
    make_contingency,
    make_pairs,
    scale_counts,
)
from skeval.metrics.cluster._pairs import PairCounts
from skeval.utils._checks import warn_undefined
from skeval.utils._compat import validate_params

__all__ = [
    "fowlkes_mallows_score",
    "minkowski_score",
    "pair_counts",
    "pair_fbeta_score",
    "pair_jaccard_score",
    "pair_precision_recall_fscore",
    "precision_recall_f",
]


@validate_params(LABELS)
def pair_counts(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> PairCounts:
    """Count the pairs of samples that two partitions put together or apart.

    Each of the ``n (n - 1) / 2`` unordered pairs is together in both partitions (SS), in the
    first only (SD), in the second only (DS), or in neither (DD).

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The reference and the predicted partition; integers, strings or other hashable labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights; see Notes.

    Returns
    -------
    PairCounts
        The fields `both`, `true_only`, `pred_only` and `neither`: Python integers that no sample
        size overflows, or floats where samples have weights.

    Raises
    ------
    ValueError
        If the labels are not 1-D, differ in length, or are fractions; if a weight is negative,
        all are zero, or a product of two is infinite or next to 0.

    See Also
    --------
    pair_confusion_matrix : Twice the same counts, as ordered pairs.

    Notes
    -----
    With weights, the pair of samples i and j counts ``w_i w_j``; a weight above 1 stands for
    copies of its sample, which make ``w_i (w_i - 1) / 2`` further pairs, together in both
    partitions. So whole weights equal repeating the samples, a weight of 0 leaves a sample out,
    and where no weight exceeds 1 their common scale does not matter to ratios of counts.

    References
    ----------
    .. [1] Hubert, L. and Arabie, P. (1985). Comparing partitions. Journal of Classification 2,
       193-218. https://doi.org/10.1007/BF01908075

    Examples
    --------
    >>> from skeval.metrics.cluster import pair_counts
    >>> pair_counts([0, 0, 1, 1], [0, 0, 0, 1])
    PairCounts(both=1, true_only=1, pred_only=2, neither=2)
    """
    return scale_counts(make_contingency(labels_true, labels_pred, sample_weight))


def precision_recall_f(pairs: PairCounts, beta: float) -> tuple[float, float, float]:
    """Return precision, recall and F_b of the pairs; 0, with a warning, where undefined."""
    if pairs.identical:
        return 1.0, 1.0, 1.0
    precision = _ratio(pairs.both, pairs.both + pairs.pred_only, "Pair precision", "labels_pred")
    recall = _ratio(pairs.both, pairs.both + pairs.true_only, "Pair recall", "labels_true")
    return precision, recall, pair_f(pairs, beta)


def pair_f(pairs: PairCounts, beta: float) -> float:
    """Return ``SS / (SS + v FN + (1 - v) FP)`` with ``v = b^2 / (1 + b^2)``."""
    if pairs.identical:
        return 1.0
    false_positives, false_negatives = f_weights(beta)
    wrong = false_positives * pairs.pred_only + false_negatives * pairs.true_only
    return float(pairs.both / (pairs.both + wrong)) if pairs.both else 0.0


def _ratio(part: float, whole: float, name: str, side: str) -> float:
    if whole:
        return float(part / whole)
    warn_undefined(f"{name} is undefined and set to 0.0: no two samples are together in {side}.")
    return 0.0


@validate_params(LABELS | BETA)
def pair_precision_recall_fscore(
    labels_true: ArrayLike,
    labels_pred: ArrayLike,
    *,
    beta: float = 1.0,
    sample_weight: ArrayLike | None = None,
) -> tuple[float, float, float]:
    """Compute precision, recall and F_beta of the decision to put two samples together.

    ``P = SS/(SS + FP)``, ``R = SS/(SS + FN)`` and ``F_b = (1+b^2) P R / (b^2 P + R)``, where SS
    counts the pairs together in both partitions, FP those together in the prediction only and FN
    those together in the reference only. Each lies in [0, 1]; larger is better, 1 is perfect.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The reference and the predicted partition; integers, strings or other hashable labels.
    beta : float, default=1.0
        Weight of recall against precision, in [0, inf]; 0 counts precision alone, inf recall.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights, which act as `pair_counts` says.

    Returns
    -------
    precision, recall, fscore : float
        All 1 for identical partitions, even where no two samples are together.

    Raises
    ------
    ValueError
        If the labels are not 1-D, differ in length, or are fractions; if a weight is negative or
        all are zero; if `beta` is negative or nan.

    Warns
    -----
    UndefinedMetricWarning
        If the partitions differ and one of them has no two samples together: its ratio is 0/0,
        and set to 0.0 as scikit-learn does.

    References
    ----------
    .. [1] Manning, C. D., Raghavan, P. and Schutze, H. (2008). Introduction to Information
       Retrieval, section 16.3. Cambridge University Press. https://doi.org/10.1017/CBO9780511809071

    Examples
    --------
    >>> from skeval.metrics.cluster import pair_precision_recall_fscore
    >>> precision, recall, fscore = pair_precision_recall_fscore([0, 0, 1, 1], [0, 0, 0, 1])
    >>> round(precision, 4), round(recall, 4), round(fscore, 4)
    (0.3333, 0.5, 0.4)
    """
    return precision_recall_f(make_pairs(labels_true, labels_pred, sample_weight), beta)


@validate_params(LABELS | BETA)
def pair_fbeta_score(
    labels_true: ArrayLike,
    labels_pred: ArrayLike,
    *,
    beta: float = 1.0,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute the F_beta score of the decision to put two samples together.

    ``F_b = (1+b^2) SS / ((1+b^2) SS + b^2 FN + FP)``, in [0, 1]; larger is better, and 1 means
    identical partitions.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The reference and the predicted partition; integers, strings or other hashable labels.
    beta : float, default=1.0
        Weight of recall against precision, in [0, inf]; 0 counts precision alone, inf recall.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights, which act as `pair_counts` says.

    Returns
    -------
    float
        The score, a fraction.

    Raises
    ------
    ValueError
        If the labels are not 1-D, differ in length, or are fractions; if a weight is negative or
        all are zero; if `beta` is negative or nan.

    See Also
    --------
    pair_precision_recall_fscore : The same with its precision and recall.

    References
    ----------
    .. [1] Manning, C. D., Raghavan, P. and Schutze, H. (2008). Introduction to Information
       Retrieval, section 16.3. Cambridge University Press. https://doi.org/10.1017/CBO9780511809071

    Examples
    --------
    >>> from skeval.metrics.cluster import pair_fbeta_score
    >>> pair_fbeta_score([0, 0, 1, 1], [0, 0, 0, 1])
    0.4
    """
    return pair_f(make_pairs(labels_true, labels_pred, sample_weight), beta)


@validate_params(LABELS)
def pair_jaccard_score(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Compute the Jaccard index of the sets of pairs that two partitions put together.

    ``SS / (SS + SD + DS)``, in [0, 1]; larger is better, and 1 means identical partitions.
    It is symmetric and, unlike the Rand index, pays no credit for pairs apart in both.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The reference and the predicted partition; integers, strings or other hashable labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights, which act as `pair_counts` says.

    Returns
    -------
    float
        The index, a fraction.

    Raises
    ------
    ValueError
        If the labels are not 1-D, differ in length, or are fractions; if a weight is negative or
        all are zero.

    References
    ----------
    .. [1] Ben-Hur, A., Elisseeff, A. and Guyon, I. (2002). A stability based method for discovering
       structure in clustered data. Pacific Symposium on Biocomputing 7, 6-17.
       https://doi.org/10.1142/9789812799623_0002

    Examples
    --------
    >>> from skeval.metrics.cluster import pair_jaccard_score
    >>> pair_jaccard_score([0, 0, 1, 1], [0, 0, 0, 1])
    0.25
    """
    return _pairs.jaccard(make_pairs(labels_true, labels_pred, sample_weight))


@validate_params(LABELS)
def fowlkes_mallows_score(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Compute the Fowlkes-Mallows index: the geometric mean of pair precision and recall.

    ``SS / sqrt((SS + SD)(SS + DS))``, in [0, 1]; larger is better, and 1 means identical
    partitions. It is symmetric.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The reference and the predicted partition; integers, strings or other hashable labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights, which act as `pair_counts` says.

    Returns
    -------
    float
        The index, a fraction.

    Raises
    ------
    ValueError
        If the labels are not 1-D, differ in length, or are fractions; if a weight is negative or
        all are zero.

    Notes
    -----
    :func:`sklearn.metrics.fowlkes_mallows_score` is the same, but returns 0.0, the worst value,
    for two identical partitions in which no two samples are together; here they score 1. Where
    the partitions differ and have no pair in common both return 0.

    References
    ----------
    .. [1] Fowlkes, E. B. and Mallows, C. L. (1983). A method for comparing two hierarchical
       clusterings. Journal of the American Statistical Association 78, 553-569.
       https://doi.org/10.1080/01621459.1983.10478008

    Examples
    --------
    >>> from skeval.metrics.cluster import fowlkes_mallows_score
    >>> round(fowlkes_mallows_score([0, 0, 1, 1], [0, 0, 0, 1]), 4)
    0.4082
    >>> fowlkes_mallows_score([0, 1, 2], [2, 1, 0])
    1.0
    """
    return _pairs.fowlkes_mallows(make_pairs(labels_true, labels_pred, sample_weight))


@validate_params(LABELS)
def minkowski_score(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Compute the Minkowski score: the distance of two co-association matrices.

    ``||C_U - C_V||_F / ||C_U||_F = sqrt((SD + DS) / (SS + SD))`` with U the reference, C the
    co-association matrices and their diagonals left out. It lies in [0, inf]; smaller is better,
    and 0 means identical partitions. It is not symmetric.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The reference and the predicted partition; integers, strings or other hashable labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights, which act as `pair_counts` says.

    Returns
    -------
    float
        The score; `inf` if no two samples are together in the reference but some are in the
        prediction.

    Raises
    ------
    ValueError
        If the labels are not 1-D, differ in length, or are fractions; if a weight is negative or
        all are zero.

    See Also
    --------
    coassociation_matrix : The matrix C of one partition.

    Notes
    -----
    Keeping the diagonal, which is 1 in every such matrix, adds n to the denominator and lowers
    the score; it says nothing about the partitions and is left out.

    References
    ----------
    .. [1] Jardine, N. and Sibson, R. (1971). Mathematical Taxonomy. Wiley; as used in Ben-Hur, A.
       and Guyon, I. (2003). Detecting stable clusters using principal component analysis. Methods
       in Molecular Biology 224, 159-182. https://doi.org/10.1385/1-59259-364-X:159

    Examples
    --------
    >>> from skeval.metrics.cluster import minkowski_score
    >>> round(minkowski_score([0, 0, 1, 1], [0, 0, 0, 1]), 4)
    1.2247
    """
    return _pairs.minkowski(make_pairs(labels_true, labels_pred, sample_weight))
