"""External indices: agreement of a partition with another partition or known classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from skeval._inference.estimate import Results
from skeval.metrics._classification import f_weights
from skeval.metrics._constraints import CONSTRAINTS
from skeval.metrics.cluster import _pairs
from skeval.metrics.cluster._pairs import Contingency, PairCounts
from skeval.utils._checks import warn_undefined
from skeval.utils._compat import validate_params


def majority_share(table: Contingency, groups: np.ndarray, n_groups: int) -> float:
    """Return the share of samples in the largest cell of each row or column."""
    if not len(table.cells):
        return 1.0
    largest = np.zeros(n_groups, table.cells.dtype)
    np.maximum.at(largest, groups, table.cells)
    return float(_pairs.exact_sum(largest) / table.total)


@validate_params(CONSTRAINTS)
def purity_score(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Compute the purity: the share of samples in the majority class of their cluster.

    ``(1/n) sum_k max_t n_kt`` with ``n_kt`` the samples of cluster k in class t. It lies in
    (0, 1]; larger is better, and 1 means that every cluster contains a single class. Singleton
    clusters always achieve this, so only compare clusterings with equal numbers of clusters.

    Some texts call the purity clustering accuracy. Others use this name for the accuracy after the
    best one-to-one matching of clusters and classes, which is at most the purity.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Reference classes and clusters; integers, strings or other hashable labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights.

    Returns
    -------
    float
        The purity, a fraction.

    Raises
    ------
    ValueError
        If the labels are not 1-D, differ in length, or are fractions; if a weight is negative or
        all are zero.

    See Also
    --------
    inverse_purity_score : Exchanges classes and clusters.

    References
    ----------
    .. [1] Zhao, Y. and Karypis, G. (2004). Empirical and theoretical comparisons of selected
       criterion functions for document clustering. Machine Learning 55, 311-331.
       https://doi.org/10.1023/B:MACH.0000027785.44527.d6

    Examples
    --------
    >>> from skeval.metrics.cluster import purity_score
    >>> purity_score(["a", "a", "b", "b"], [0, 0, 0, 1])
    0.75
    """
    table = _pairs.make_contingency(labels_true, labels_pred, sample_weight)
    return majority_share(table, table.columns, len(table.column_sums))


@validate_params(CONSTRAINTS)
def inverse_purity_score(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Compute the inverse purity: the share of samples in the main cluster of their class.

    ``(1/n) sum_t max_k n_kt``. It lies in (0, 1]; larger is better, and 1 means that no class is
    split, which a single cluster always achieves.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Reference classes and clusters; integers, strings or other hashable labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights.

    Returns
    -------
    float
        The inverse purity, a fraction.

    Raises
    ------
    ValueError
        If the labels are not 1-D, differ in length, or are fractions; if a weight is negative or
        all are zero.

    See Also
    --------
    purity_score : Exchanges classes and clusters.

    References
    ----------
    .. [1] Amigo, E., Gonzalo, J., Artiles, J. and Verdejo, F. (2009). A comparison of extrinsic
       clustering evaluation metrics based on formal constraints. Information Retrieval 12, 461-486.
       https://doi.org/10.1007/s10791-008-9066-8

    Examples
    --------
    >>> from skeval.metrics.cluster import inverse_purity_score
    >>> inverse_purity_score(["a", "a", "b", "b"], [0, 0, 0, 0])
    1.0
    """
    table = _pairs.make_contingency(labels_true, labels_pred, sample_weight)
    return majority_share(table, table.rows, len(table.row_sums))


def best_class_f(table: Contingency, beta: float) -> float:
    """Return ``sum_t |S_t|/n max_k F_b``; ``F_b = n_kt / (v |S_t| + (1 - v) |C_k|)``."""
    if not len(table.cells):
        return 1.0
    cluster_weight, class_weight = f_weights(beta)
    sizes = (
        class_weight * table.row_sums[table.rows]
        + cluster_weight * table.column_sums[table.columns]
    )
    best = np.zeros(len(table.row_sums))
    np.maximum.at(best, table.rows, table.cells / sizes)
    return float(best @ table.row_sums / table.total)


@validate_params(CONSTRAINTS)
def class_f_measure(
    labels_true: ArrayLike,
    labels_pred: ArrayLike,
    *,
    beta: float = 1.0,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute the average F-measure of each class in its best-matching cluster.

    ``F = sum_t |S_t|/n max_k F_b(S_t, C_k)``, where ``F_b`` combines the precision ``n_kt/|C_k|``
    and the recall ``n_kt/|S_t|`` of cluster k as a retrieval of class t. It lies in (0, 1]; larger
    is better, and 1 means identical partitions. It is not symmetric.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Reference classes and clusters; integers, strings or other hashable labels.
    beta : float, default=1.0
        Weight of recall relative to precision, in [0, inf]; 0 gives precision, inf recall.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights.

    Returns
    -------
    float
        The class F-measure, a fraction.

    Raises
    ------
    ValueError
        If the labels are not 1-D, differ in length, or are fractions; if a weight is negative or
        all are zero; if `beta` is negative or nan.

    References
    ----------
    .. [1] Larsen, B. and Aone, C. (1999). Fast and effective text mining using linear-time document
       clustering. KDD '99, 16-22. https://doi.org/10.1145/312129.312186

    Examples
    --------
    >>> from skeval.metrics.cluster import class_f_measure
    >>> round(class_f_measure(["a", "a", "b", "b"], [0, 0, 0, 1]), 4)
    0.7333
    """
    return best_class_f(_pairs.make_contingency(labels_true, labels_pred, sample_weight), beta)


@validate_params(CONSTRAINTS)
def external_indices(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> Results:
    """Compute all external indices from one pass over the labels.

    The contingency table is built once, in time that grows linearly with the number of samples;
    all indices are computed from it. They are defined at the functions of the same name.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Reference and predicted partition; integers, strings or other hashable labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. See the notes of `pair_counts`.

    Returns
    -------
    dict of str to float
        All indices by name. Smaller is better for "minkowski", where 0 is best; larger is better
        for all others, where 1 is best. The result prints as a table, and `to_frame` has a row per
        index.

    Raises
    ------
    ValueError
        If the labels are not 1-D, differ in length, or are fractions; if a weight is negative or
        all are zero.

    Warns
    -----
    UndefinedMetricWarning
        If pair precision or recall is 0/0; see `pair_precision_recall_fscore`.

    Examples
    --------
    >>> from skeval.metrics.cluster import external_indices
    >>> print(external_indices(["a", "a", "b", "b"], [0, 0, 0, 1]))
    purity           0.7500
    inverse_purity   0.7500
    class_f_measure  0.7333
    pair_precision   0.3333
    pair_recall      0.5000
    pair_f1          0.4000
    pair_jaccard     0.2500
    rand             0.5000
    adjusted_rand    0.0000
    fowlkes_mallows  0.4082
    minkowski        1.2247
    """
    table = _pairs.make_contingency(labels_true, labels_pred, sample_weight)
    pairs = _pairs.count_pairs(table)
    precision, recall, f1 = precision_recall_f(pairs, 1.0)
    return Results(
        purity=majority_share(table, table.columns, len(table.column_sums)),
        inverse_purity=majority_share(table, table.rows, len(table.row_sums)),
        class_f_measure=best_class_f(table, 1.0),
        pair_precision=precision,
        pair_recall=recall,
        pair_f1=f1,
        pair_jaccard=_pairs.jaccard(pairs),
        rand=_pairs.rand(pairs),
        adjusted_rand=_pairs.adjusted_rand(pairs),
        fowlkes_mallows=_pairs.fowlkes_mallows(pairs),
        minkowski=_pairs.minkowski(pairs),
    )


@validate_params(CONSTRAINTS)
def pair_counts(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> dict[str, float]:
    """Count the pairs of samples that are together or apart in two partitions.

    Each of the ``n (n - 1) / 2`` unordered pairs is together in both partitions (SS), in the
    first only (SD), in the second only (DS), or in neither (DD).

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Reference and predicted partition; integers, strings or other hashable labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. See Notes.

    Returns
    -------
    dict of str to int or float
        The counts "both" (SS), "true_only" (SD), "pred_only" (DS) and "neither" (DD): Python
        integers, which cannot overflow, or floats if samples have weights.

    Raises
    ------
    ValueError
        If the labels are not 1-D, differ in length, or are fractions; if a weight is negative,
        all are zero, or a product of two is infinite or next to 0.

    See Also
    --------
    pair_confusion_matrix : Counts ordered pairs, so twice as many.

    Notes
    -----
    With weights, the pair of samples i and j counts ``w_i w_j``; a weight above 1 stands for
    copies of its sample, which make ``w_i (w_i - 1) / 2`` further pairs, together in both
    partitions. Therefore integer weights are equivalent to repeated samples, a weight of 0 omits a
    sample, and if no weight exceeds 1, a common factor does not change ratios of counts.

    References
    ----------
    .. [1] Hubert, L. and Arabie, P. (1985). Comparing partitions. Journal of Classification 2,
       193-218. https://doi.org/10.1007/BF01908075

    Examples
    --------
    >>> from skeval.metrics.cluster import pair_counts
    >>> pair_counts([0, 0, 1, 1], [0, 0, 0, 1])
    {'both': 1, 'true_only': 1, 'pred_only': 2, 'neither': 2}
    """
    table = _pairs.make_contingency(labels_true, labels_pred, sample_weight)
    return _pairs.scale_counts(table)._asdict()


def precision_recall_f(pairs: PairCounts, beta: float) -> tuple[float, float, float]:
    """Return precision, recall and F_b of pairs; 0, with a warning, if undefined."""
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


@validate_params(CONSTRAINTS)
def pair_precision_recall_fscore(
    labels_true: ArrayLike,
    labels_pred: ArrayLike,
    *,
    beta: float = 1.0,
    sample_weight: ArrayLike | None = None,
) -> tuple[float, float, float]:
    """Compute precision, recall and F_beta over pairs of samples in the same cluster.

    ``P = SS/(SS + FP)``, ``R = SS/(SS + FN)`` and ``F_b = (1+b^2) P R / (b^2 P + R)``, where SS
    counts the pairs together in both partitions, FP those together in the prediction only and FN
    those together in the reference only. Each lies in [0, 1]; larger is better, 1 is perfect.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Reference and predicted partition; integers, strings or other hashable labels.
    beta : float, default=1.0
        Weight of recall relative to precision, in [0, inf]; 0 gives precision, inf recall.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. See the notes of `pair_counts`.

    Returns
    -------
    precision, recall, fscore : float
        Pair precision, recall and F_beta; 1 for identical partitions, even if no two samples are
        together.

    Raises
    ------
    ValueError
        If the labels are not 1-D, differ in length, or are fractions; if a weight is negative or
        all are zero; if `beta` is negative or nan.

    Warns
    -----
    UndefinedMetricWarning
        If the partitions differ and one of them has no two samples together: its ratio is 0/0 and
        set to 0.0, as in scikit-learn.

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
    return precision_recall_f(_pairs.make_pairs(labels_true, labels_pred, sample_weight), beta)


@validate_params(CONSTRAINTS)
def pair_fbeta_score(
    labels_true: ArrayLike,
    labels_pred: ArrayLike,
    *,
    beta: float = 1.0,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute the F_beta score over pairs of samples in the same cluster.

    ``F_b = (1+b^2) SS / ((1+b^2) SS + b^2 FN + FP)``, in [0, 1]; larger is better, and 1 means
    identical partitions.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Reference and predicted partition; integers, strings or other hashable labels.
    beta : float, default=1.0
        Weight of recall relative to precision, in [0, inf]; 0 gives precision, inf recall.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. See the notes of `pair_counts`.

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
    pair_precision_recall_fscore : Also returns precision and recall.

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
    return pair_f(_pairs.make_pairs(labels_true, labels_pred, sample_weight), beta)


@validate_params(CONSTRAINTS)
def pair_jaccard_score(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Compute the Jaccard index of the pairs that are together in two partitions.

    ``SS / (SS + SD + DS)``, in [0, 1]; larger is better, and 1 means identical partitions.
    It is symmetric and, unlike the Rand index, ignores pairs that are apart in both.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Reference and predicted partition; integers, strings or other hashable labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. See the notes of `pair_counts`.

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
    return _pairs.jaccard(_pairs.make_pairs(labels_true, labels_pred, sample_weight))


@validate_params(CONSTRAINTS)
def fowlkes_mallows_score(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Compute the Fowlkes-Mallows index: the geometric mean of pair precision and recall.

    ``SS / sqrt((SS + SD)(SS + DS))``, in [0, 1]; larger is better, and 1 means identical
    partitions. It is symmetric.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Reference and predicted partition; integers, strings or other hashable labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. See the notes of `pair_counts`.

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
    :func:`sklearn.metrics.fowlkes_mallows_score` differs only for two identical partitions in which
    no two samples are together: it returns 0.0, the worst value, and this function returns 1. If
    the partitions differ and have no pair in common, both return 0.

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
    return _pairs.fowlkes_mallows(_pairs.make_pairs(labels_true, labels_pred, sample_weight))


@validate_params(CONSTRAINTS)
def minkowski_score(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Compute the Minkowski score, the relative distance of two co-association matrices.

    ``||C_U - C_V||_F / ||C_U||_F = sqrt((SD + DS) / (SS + SD))`` where U is the reference and C are
    the co-association matrices without their diagonals. It lies in [0, inf]; smaller is better, and
    0 means identical partitions. It is not symmetric.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Reference and predicted partition; integers, strings or other hashable labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. See the notes of `pair_counts`.

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
    coassociation_matrix : Computes the matrix C of one partition.

    Notes
    -----
    The diagonal is omitted because it is 1 in every co-association matrix; including it would add n
    to the denominator and lower the score.

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
    return _pairs.minkowski(_pairs.make_pairs(labels_true, labels_pred, sample_weight))


@validate_params({"labels": "no_validation", "sparse_output": ["boolean"]})
def coassociation_matrix(
    labels: ArrayLike, *, sparse_output: bool = True
) -> csr_array | np.ndarray:
    """Compute the co-association matrix of a partition.

    ``C[i, j] = 1[u_i = u_j]`` is symmetric with 1 on the diagonal. The mean matrix of several
    clusterings shows how often two samples are in the same cluster.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        Partition; integers, strings or other hashable labels.
    sparse_output : bool, default=True
        Return a sparse array, whose size is the sum of the squared cluster sizes, or a dense one.

    Returns
    -------
    csr_array or ndarray of shape (n_samples, n_samples), dtype int64
        The co-association matrix.

    Raises
    ------
    ValueError
        If the labels are not 1-D or are fractions.

    See Also
    --------
    minkowski_score : Computes the distance of two such matrices without storing them.

    References
    ----------
    .. [1] Fred, A. L. N. and Jain, A. K. (2005). Combining multiple clusterings using evidence
       accumulation. IEEE Transactions on Pattern Analysis and Machine Intelligence 27, 835-850.
       https://doi.org/10.1109/TPAMI.2005.113

    Examples
    --------
    >>> from skeval.metrics.cluster import coassociation_matrix
    >>> coassociation_matrix([0, 1, 0], sparse_output=False)
    array([[1, 0, 1],
           [0, 1, 0],
           [1, 0, 1]])
    """
    codes, n_codes = _pairs.encode(_pairs.check_labels(labels, "labels"))
    if not sparse_output:
        return (codes[:, None] == codes[None, :]).astype(np.int64)
    n_samples = len(codes)
    members = csr_array(
        (np.ones(n_samples, np.int64), codes, np.arange(n_samples + 1)), shape=(n_samples, n_codes)
    )
    together = csr_array(members @ members.T)
    together.sort_indices()
    return together
