"""External indices, the agreement of a partition with another partition or with classes.

The module begins with the contingency table of two partitions and its pair counts. The public
indices follow. The Rand index of segmentation masks, for arrays of any library and device, comes
last.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from skeval._inference.estimate import Results
from skeval.metrics._classification import f_weights
from skeval.metrics.cluster._samples import check_magnitude
from skeval.utils import _checks
from skeval.utils._compat import array_namespace, device, widest_float_dtype

# pixels per block: counts stay exact in float32, and the converted copy stays small
BLOCK = 1 << 18
# tolerance for the sum of soft masks at a pixel, because half precision rounds coarsely
SUM_TOLERANCE = 0.01


@dataclass(frozen=True, eq=False)
class Contingency:
    """Nonzero cells and margins of a contingency table.

    Attributes
    ----------
    rows, columns : ndarray of shape (n_cells,)
        Class and cluster of each cell.
    cells : ndarray of shape (n_cells,)
        Number, or total weight, of the samples in each cell.
    within : float or None
        Weighted number of pairs of samples in the same cluster. It is None without weights,
        because the cells then determine it exactly.
    row_sums, column_sums : ndarray
        Sizes of the classes and of the clusters.
    """

    rows: np.ndarray
    columns: np.ndarray
    cells: np.ndarray
    within: float | None
    row_sums: np.ndarray
    column_sums: np.ndarray

    @property
    def total(self) -> Any:
        """Number of samples, or their total weight."""
        return exact_sum(self.cells)


class PairCounts(NamedTuple):
    """Numbers of pairs that are together or apart in two partitions.

    Pairs are together in both partitions (`both`, SS), in `labels_true` only (`true_only`, SD, the
    false negatives), in `labels_pred` only (`pred_only`, DS, the false positives), or in neither
    (`neither`, DD). Numbers are floats only if samples have weights.
    """

    both: float
    true_only: float
    pred_only: float
    neither: float

    @property
    def total(self) -> float:
        """Number of pairs."""
        return sum(self)

    @property
    def identical(self) -> bool:
        """Whether the two partitions are the same."""
        return self.true_only == 0 and self.pred_only == 0


def encode(labels: ArrayLike, name: str) -> tuple[np.ndarray, int]:
    """Validate labels, and return codes ``0 .. n_codes - 1``. Strings and objects are hashed."""
    options: Any = {"ensure_2d": False, "ensure_min_samples": 0, "dtype": None}
    array = np.asarray(_checks.check_data(name, labels, ensure_all_finite="allow-nan", **options))
    _checks.check_complete(name, array)
    if array.ndim == 2 and array.shape[1] == 1:  # a column, as some clusterers return
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"{name} must be 1-D, got an array of shape {array.shape}.")
    _checks.refuse_fractions(name, array, "Pass the label of a cluster for each sample")
    # numbers, or labels of any type that can be hashed, which is faster than sorting them
    if array.dtype.kind not in "OUS":
        values, codes = _checks.number_values(array)
        return codes, len(values)
    # codes in the order of the first occurrence
    names = array.tolist()
    with _checks.naming(name):
        code = {label: position for position, label in enumerate(dict.fromkeys(names))}
    return np.fromiter(map(code.__getitem__, names), np.intp, len(names)), len(code)


def make_contingency(
    labels_true: ArrayLike, labels_pred: ArrayLike, sample_weight: ArrayLike | None
) -> Contingency:
    """Validate the input, and count the samples, or add their weights, by pairs of labels."""
    true, n_rows = encode(labels_true, "labels_true")
    pred, n_columns = encode(labels_pred, "labels_pred")
    _checks.check_same_length(labels_true=true, labels_pred=pred, sample_weight=sample_weight)
    weight = None
    if sample_weight is not None and len(true):
        weight = _checks.check_weights("sample_weight", sample_weight, len(true))
        check_magnitude("sample_weight", weight)
    # number the cell of each sample
    key, size, used = true * n_columns + pred, n_rows * n_columns, None
    if size > max(1 << 16, 4 * len(key)):  # too many possible cells for a dense table
        used, key = np.unique(key, return_inverse=True)
        key, size = key.reshape(-1), len(used)
    # count the samples of each cell, or add up their weights
    table, within = np.bincount(key, weight, size), None
    if weight is not None:
        # a weight above 1 stands for copies of its sample
        copies = exact_sum(weight * np.maximum(weight - 1, 0)) / 2
        within = pair_products(weight, key, size) + copies
    # keep the cells that occur
    filled = np.flatnonzero(table)
    rows, columns = np.divmod(filled if used is None else used[filled], max(n_columns, 1))
    cells = table[filled]
    sides = (rows, n_rows), (columns, n_columns)
    margins = (np.bincount(codes, cells, size).astype(cells.dtype) for codes, size in sides)
    return Contingency(rows, columns, cells, within, *margins)


def count_pairs(table: Contingency) -> PairCounts:
    """Return the pair counts of a table, exact Python integers for unweighted samples.

    The pair of samples i and j has the weight ``w_i w_j``. A sample with ``w_i > 1`` represents
    repeated samples, and adds ``w_i (w_i - 1)/2`` pairs that are together in both.
    """
    cells, total = table.cells, table.total
    if table.within is not None:  # sums of products of weights
        true_only = pair_products(cells, table.rows, len(table.row_sums))
        pred_only = pair_products(cells, table.columns, len(table.column_sums))
        apart = pair_products(table.row_sums, np.zeros(len(table.row_sums), np.intp), 1)
        neither = max(apart - pred_only, 0.0)  # only rounding can make it negative
        return PairCounts(table.within, true_only, pred_only, neither)
    # twice the pairs in a set of n samples is n^2 - n
    squares = sum_of_squares(cells)
    in_rows, in_columns = sum_of_squares(table.row_sums), sum_of_squares(table.column_sums)
    both, true_only, pred_only = squares - total, in_rows - squares, in_columns - squares
    neither = total * total - total - both - true_only - pred_only
    return PairCounts(both // 2, true_only // 2, pred_only // 2, neither // 2)


def pair_products(values: np.ndarray, groups: np.ndarray, n_groups: int) -> float:
    """Return the sum of ``v_i v_j`` over the pairs of each group, ``((sum v)^2 - sum v^2) / 2``."""
    squares = np.bincount(groups, values**2, n_groups)
    ordered = np.bincount(groups, values, n_groups) ** 2 - squares
    return exact_sum(np.maximum(ordered, 0.0)) / 2  # only rounding makes it negative


def sum_of_squares(values: np.ndarray) -> int:
    """Return the sum of squares of counts as an int that never overflows."""
    if int(values.sum()) >= 1 << 31:
        values = values.astype(object)
    return int((values * values).sum())


def exact_sum(values: np.ndarray) -> Any:
    """Return the sum as an int or a correctly rounded float, independent of the order."""
    return math.fsum(values) if values.dtype.kind == "f" else int(values.sum())


def rand(pairs: PairCounts) -> float:
    """Return ``(SS + DD) / M``."""
    return 1.0 if pairs.identical else float((pairs.both + pairs.neither) / pairs.total)


def adjusted_rand(pairs: PairCounts) -> float:
    """Return Hubert and Arabie's index in the form of Steinley (2004)."""
    if pairs.identical:
        return 1.0
    ss, sd, ds, dd = pairs
    if isinstance(ss, float):  # shares, whose products cannot underflow to 0
        ss, sd, ds, dd = (count / pairs.total for count in (ss, sd, ds, dd))
    return float(2 * (ss * dd - sd * ds) / ((ss + sd) * (sd + dd) + (ss + ds) * (ds + dd)))


def pair_jaccard(pairs: PairCounts) -> float:
    """Return ``SS / (SS + SD + DS)``."""
    together = pairs.both + pairs.true_only + pairs.pred_only
    return 1.0 if pairs.identical else float(pairs.both / together)


def fowlkes_mallows(pairs: PairCounts) -> float:
    """Return ``SS / sqrt((SS + SD)(SS + DS))``, or 0 without a pair in common."""
    if pairs.identical:
        return 1.0
    if pairs.both == 0:  # recall or precision is 0, so is their geometric mean
        return 0.0
    # geometric mean of recall and precision
    recall = pairs.both / (pairs.both + pairs.true_only)
    return math.sqrt(recall * (pairs.both / (pairs.both + pairs.pred_only)))


def minkowski(pairs: PairCounts) -> float:
    """Return ``sqrt((SD + DS) / (SS + SD))``."""
    if pairs.identical:
        return 0.0
    reference = pairs.both + pairs.true_only
    return math.sqrt((pairs.true_only + pairs.pred_only) / reference) if reference else math.inf


def majority_share(table: Contingency, groups: np.ndarray, n_groups: int) -> float:
    """Return the fraction of samples in the largest cell of each row or column."""
    if not len(table.cells):
        return 1.0
    largest = np.zeros(n_groups, table.cells.dtype)
    np.maximum.at(largest, groups, table.cells)
    return float(exact_sum(largest) / table.total)


@_checks.validate_params(_checks.CONSTRAINTS)
def purity_score(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return the purity, the fraction of samples in the majority class of their cluster.

    The purity is ``(1/n) sum_k max_t n_kt``, where ``n_kt`` is the number of samples of class t in
    cluster k. It lies in (0, 1]. Larger is better, and 1 means that every cluster contains a
    single class. Singleton clusters always achieve 1, so compare only clusterings with equal
    numbers of clusters.

    Some texts use the name "clustering accuracy" for the purity. Others use this name for the
    accuracy after the best one-to-one matching of clusters and classes, which is at most the
    purity.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Reference classes and clusters, as integers, strings or other hashable labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights.

    Returns
    -------
    float
        The purity.

    Raises
    ------
    ValueError
        If the labels are not 1-D, differ in length, or are fractions. If a weight is negative or
        all are zero.

    See Also
    --------
    inverse_purity_score : The same index with classes and clusters swapped.

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
    table = make_contingency(labels_true, labels_pred, sample_weight)
    return majority_share(table, table.columns, len(table.column_sums))


@_checks.validate_params(_checks.CONSTRAINTS)
def inverse_purity_score(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return the inverse purity, the fraction of samples in the main cluster of their class.

    The inverse purity is ``(1/n) sum_t max_k n_kt``, where ``n_kt`` is the number of samples of
    class t in cluster k. It lies in (0, 1]. Larger is better, and 1 means that no class is split.
    A single cluster always achieves 1.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Reference classes and clusters, as integers, strings or other hashable labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights.

    Returns
    -------
    float
        The inverse purity.

    Raises
    ------
    ValueError
        If the labels are not 1-D, differ in length, or are fractions. If a weight is negative or
        all are zero.

    See Also
    --------
    purity_score : The same index with classes and clusters swapped.

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
    table = make_contingency(labels_true, labels_pred, sample_weight)
    return majority_share(table, table.rows, len(table.row_sums))


def best_class_f(table: Contingency, beta: float) -> float:
    """Return ``sum_t |S_t|/n max_k F_b``, with ``F_b = n_kt / (v |S_t| + (1 - v) |C_k|)``."""
    if not len(table.cells):
        return 1.0
    cluster_weight, class_weight = f_weights(beta)
    # F of each class and cluster that meet, then the best cluster of each class
    sizes = class_weight * table.row_sums[table.rows]
    sizes = sizes + cluster_weight * table.column_sums[table.columns]
    best = np.zeros(len(table.row_sums))
    np.maximum.at(best, table.rows, table.cells / sizes)
    return float(best @ table.row_sums / table.total)


@_checks.validate_params(_checks.CONSTRAINTS)
def class_f_measure(
    labels_true: ArrayLike,
    labels_pred: ArrayLike,
    *,
    beta: float = 1.0,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the average F-measure of each class in its best-matching cluster.

    The result is ``F = sum_t |S_t|/n max_k F_b(S_t, C_k)``. Here, ``F_b`` combines the precision
    ``n_kt/|C_k|`` and the recall ``n_kt/|S_t|`` of cluster k as a retrieval of class t. The result
    lies in (0, 1]. Larger is better, and 1 means identical partitions. The index is not symmetric.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Reference classes and clusters, as integers, strings or other hashable labels.
    beta : float, default=1.0
        Weight of recall relative to precision, in [0, inf]. 0 gives the precision and inf the
        recall.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights.

    Returns
    -------
    float
        The class F-measure.

    Raises
    ------
    ValueError
        If the labels are not 1-D, differ in length, or are fractions. If a weight is negative or
        all are zero. If `beta` is negative or nan.

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
    return best_class_f(make_contingency(labels_true, labels_pred, sample_weight), beta)


@_checks.validate_params(_checks.CONSTRAINTS)
def external_indices(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> Results:
    """Return all external indices from one pass over the labels.

    The contingency table is built once, in time that grows linearly with the number of samples.
    All indices are computed from it. See the function with the name of an index for its
    definition.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Reference and predicted partition, as integers, strings or other hashable labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. See the notes of `pair_counts`.

    Returns
    -------
    dict of str to float
        The indices, with their names as keys. For "minkowski", smaller is better and 0 is best.
        For all others, larger is better and 1 is best. The result prints as a table, and
        `to_frame` has one row for each index.

    Raises
    ------
    ValueError
        If the labels are not 1-D, differ in length, or are fractions. If a weight is negative or
        all are zero.

    Warns
    -----
    UndefinedMetricWarning
        If pair precision or recall is 0/0. See `pair_precision_recall_fscore`.

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
    table = make_contingency(labels_true, labels_pred, sample_weight)
    pairs = count_pairs(table)
    # indices of the table and of its pair counts
    precision, recall, f1 = precision_recall_f(pairs, 1.0)
    return Results(
        purity=majority_share(table, table.columns, len(table.column_sums)),
        inverse_purity=majority_share(table, table.rows, len(table.row_sums)),
        class_f_measure=best_class_f(table, 1.0),
        pair_precision=precision,
        pair_recall=recall,
        pair_f1=f1,
        pair_jaccard=pair_jaccard(pairs),
        rand=rand(pairs),
        adjusted_rand=adjusted_rand(pairs),
        fowlkes_mallows=fowlkes_mallows(pairs),
        minkowski=minkowski(pairs),
    )


@_checks.validate_params(_checks.CONSTRAINTS)
def pair_counts(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> dict[str, float]:
    """Count the pairs of samples that are together or apart in two partitions.

    Each of the ``n (n - 1) / 2`` unordered pairs is together in both partitions (SS), in the first
    one only (SD), in the second one only (DS), or in neither (DD).

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Reference and predicted partition, as integers, strings or other hashable labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. See Notes.

    Returns
    -------
    dict of str to int or float
        The counts "both" (SS), "true_only" (SD), "pred_only" (DS) and "neither" (DD). They are
        Python integers, which cannot overflow, or floats if samples have weights.

    Raises
    ------
    ValueError
        If the labels are not 1-D, differ in length, or are fractions. If a weight is negative, all
        are zero, or a product of two weights overflows or underflows.

    See Also
    --------
    pair_confusion_matrix : Counts ordered pairs, which are twice as many.

    Notes
    -----
    With weights, the pair of samples i and j counts ``w_i w_j``. A weight above 1 represents
    copies of its sample. They form ``w_i (w_i - 1) / 2`` further pairs, which are together in both
    partitions. Therefore, integer weights are equivalent to repeated samples, and a weight of 0
    omits a sample. If no weight exceeds 1, a common factor does not change ratios of counts.

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
    return count_pairs(make_contingency(labels_true, labels_pred, sample_weight))._asdict()


def precision_recall_f(pairs: PairCounts, beta: float) -> tuple[float, float, float]:
    """Return precision, recall and F_b of pairs, or 0, with a warning, if undefined."""
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
    _checks.warn_undefined(
        f"{name} is 0/0 and set to 0.0, because all clusters in {side} have one sample."
    )
    return 0.0


@_checks.validate_params(_checks.CONSTRAINTS)
def pair_precision_recall_fscore(
    labels_true: ArrayLike,
    labels_pred: ArrayLike,
    *,
    beta: float = 1.0,
    sample_weight: ArrayLike | None = None,
) -> tuple[float, float, float]:
    """Return precision, recall and F_beta over pairs of samples in the same cluster.

    The results are ``P = SS/(SS + FP)``, ``R = SS/(SS + FN)`` and ``F_b = (1+b^2) P R / (b^2 P +
    R)``. Here, SS is the number of pairs together in both partitions, FP in the prediction only,
    and FN in the reference only. Each result lies in [0, 1]. Larger is better, and 1 is perfect.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Reference and predicted partition, as integers, strings or other hashable labels.
    beta : float, default=1.0
        Weight of recall relative to precision, in [0, inf]. 0 gives the precision and inf the
        recall.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. See the notes of `pair_counts`.

    Returns
    -------
    precision, recall, fscore : float
        Pair precision, recall and F_beta. They are 1 for identical partitions, even if no two
        samples are together.

    Raises
    ------
    ValueError
        If the labels are not 1-D, differ in length, or are fractions. If a weight is negative or
        all are zero. If `beta` is negative or nan.

    Warns
    -----
    UndefinedMetricWarning
        If the partitions differ and no two samples are together in one of them. The ratio 0/0 is
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
    return precision_recall_f(
        count_pairs(make_contingency(labels_true, labels_pred, sample_weight)), beta
    )


@_checks.validate_params(_checks.CONSTRAINTS)
def pair_fbeta_score(
    labels_true: ArrayLike,
    labels_pred: ArrayLike,
    *,
    beta: float = 1.0,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the F_beta score over pairs of samples in the same cluster.

    The score is ``F_b = (1+b^2) SS / ((1+b^2) SS + b^2 FN + FP)``. It lies in [0, 1]. Larger is
    better, and 1 means identical partitions. See `pair_precision_recall_fscore` for the symbols.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Reference and predicted partition, as integers, strings or other hashable labels.
    beta : float, default=1.0
        Weight of recall relative to precision, in [0, inf]. 0 gives the precision and inf the
        recall.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. See the notes of `pair_counts`.

    Returns
    -------
    float
        The F_beta score.

    Raises
    ------
    ValueError
        If the labels are not 1-D, differ in length, or are fractions. If a weight is negative or
        all are zero. If `beta` is negative or nan.

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
    return pair_f(count_pairs(make_contingency(labels_true, labels_pred, sample_weight)), beta)


@_checks.validate_params(_checks.CONSTRAINTS)
def pair_jaccard_score(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return the Jaccard index of the pairs that are together in two partitions.

    The index is ``SS / (SS + SD + DS)``, from the counts of `pair_counts`. It lies in [0, 1].
    Larger is better, and 1 means identical partitions. It is symmetric. Unlike the Rand index, it
    ignores pairs that are apart in both partitions.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Reference and predicted partition, as integers, strings or other hashable labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. See the notes of `pair_counts`.

    Returns
    -------
    float
        The Jaccard index.

    Raises
    ------
    ValueError
        If the labels are not 1-D, differ in length, or are fractions. If a weight is negative or
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
    return pair_jaccard(count_pairs(make_contingency(labels_true, labels_pred, sample_weight)))


@_checks.validate_params(_checks.CONSTRAINTS)
def fowlkes_mallows_score(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return the Fowlkes-Mallows index, the geometric mean of pair precision and recall.

    The index is ``SS / sqrt((SS + SD)(SS + DS))``, from the counts of `pair_counts`. It lies in
    [0, 1]. Larger is better, and 1 means identical partitions. It is symmetric.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Reference and predicted partition, as integers, strings or other hashable labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. See the notes of `pair_counts`.

    Returns
    -------
    float
        The Fowlkes-Mallows index.

    Raises
    ------
    ValueError
        If the labels are not 1-D, differ in length, or are fractions. If a weight is negative or
        all are zero.

    Notes
    -----
    :func:`sklearn.metrics.fowlkes_mallows_score` differs in only one case, two identical
    partitions in which no two samples are together. It returns 0.0, the worst value, and this
    function returns 1. If the partitions differ and have no pair in common, both return 0.

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
    return fowlkes_mallows(count_pairs(make_contingency(labels_true, labels_pred, sample_weight)))


@_checks.validate_params(_checks.CONSTRAINTS)
def minkowski_score(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return the Minkowski score, the relative distance of two co-association matrices.

    The score is ``||C_U - C_V||_F / ||C_U||_F = sqrt((SD + DS) / (SS + SD))``. Here, U is the
    reference, V the prediction, and C the co-association matrix without its diagonal. `pair_counts`
    returns the counts. The score lies in [0, inf]. Smaller is better, and 0 means identical
    partitions. It is not symmetric.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Reference and predicted partition, as integers, strings or other hashable labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. See the notes of `pair_counts`.

    Returns
    -------
    float
        The score. It is `inf` if no two samples are together in the reference but some are
        together in the prediction.

    Raises
    ------
    ValueError
        If the labels are not 1-D, differ in length, or are fractions. If a weight is negative or
        all are zero.

    See Also
    --------
    coassociation_matrix : Computes the matrix C of one partition.

    Notes
    -----
    The diagonal is omitted because it is 1 in every co-association matrix. With the diagonal, the
    denominator would increase by n, and the score would be lower.

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
    return minkowski(count_pairs(make_contingency(labels_true, labels_pred, sample_weight)))


@_checks.validate_params({"labels": "no_validation", "sparse_output": ["boolean"]})
def coassociation_matrix(
    labels: ArrayLike, *, sparse_output: bool = True
) -> csr_array | np.ndarray:
    """Return the co-association matrix of a partition.

    The matrix ``C[i, j] = 1[u_i = u_j]`` is symmetric with 1 on the diagonal. The mean matrix of
    several clusterings contains the fraction of them in which two samples are in the same cluster.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        Partition, as integers, strings or other hashable labels.
    sparse_output : bool, default=True
        Whether to return a sparse array instead of a dense array. The size of the sparse array is
        the sum of the squared cluster sizes.

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
    # samples by labels, whose product with itself is the matrix
    codes, n_codes = encode(labels, "labels")
    if not sparse_output:
        return (codes[:, None] == codes[None, :]).astype(np.int64)
    n_samples = len(codes)
    members = csr_array(
        (np.ones(n_samples, np.int64), codes, np.arange(n_samples + 1)), shape=(n_samples, n_codes)
    )
    together = csr_array(members @ members.T)
    together.sort_indices()
    return together


@_checks.in_order()
def mask_rand_score(masks_true: Any, masks_pred: Any, *, per_image: bool = False) -> float:
    """Return the Rand index of two segmentations, passed as stacks of masks.

    With ``T[s, r] = sum_pixels true_s pred_r``, its margins a and b and its total N, ``RI = 1 -
    [(sum a_s^2 + sum b_r^2)/2 - sum T^2] / [N (N - 1)/2]``. This is the fraction of pairs of
    pixels that are together in both segmentations or apart in both. For hard masks it lies in [0,
    1] and equals the Rand index of the label images. Larger is better, and 1 means identical
    segmentations.

    Parameters
    ----------
    masks_true : array of shape (n_masks_true, height, width) or (n_masks_true, ...)
        The reference, with one mask for each segment. Masks are hard (bool, or all values 0 and 1)
        or soft (values in [0, 1] that sum to at most 1 at each pixel). Pixels that no mask covers
        form an additional segment, the background, ``clip(1 - sum of the masks, 0, 1)``. Arrays of
        any Array API library are supported, such as NumPy, PyTorch, CuPy and JAX.
    masks_pred : array of shape (n_masks_pred, height, width) or (n_masks_pred, ...)
        The prediction, with the same image shape, library and device. The number of masks may
        differ.
    per_image : bool, default=False
        Whether the first axis counts images. The result is then the mean index over images. Each
        image is one mask of shape (height, width), or a stack of masks. Set it in `make_scorer`.
        It is always True in `metric_interval`, because the samples there are images.

    Returns
    -------
    float
        The index, or nan if its denominator is 0.

    Raises
    ------
    ValueError
        If the images differ in shape or device, or have no pixels. If a value is nan or outside
        [0, 1]. If hard masks overlap, or soft masks sum to more than 1 at a pixel.
    TypeError
        If the masks come from different array libraries or are not real numbers.

    Warns
    -----
    UndefinedMetricWarning
        If the segmentations differ and the denominator is 0, for example with fewer than two
        pixels.

    Notes
    -----
    Sums over pixels are computed on the device of the masks. The sums are float64 if the masks are
    float64, and float32 otherwise. They are taken over blocks that are small enough to be exact for
    hard masks. Blocks are added in the widest float type of the device. Soft masks are interpreted
    as segment probabilities that are independent between the two segmentations. Therefore, the
    index of a soft mask and itself is below 1.

    References
    ----------
    .. [1] Rand, W. M. (1971). Objective criteria for the evaluation of clustering methods. Journal
       of the American Statistical Association 66, 846-850.
       https://doi.org/10.1080/01621459.1971.10482356

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.metrics.cluster import mask_rand_score
    >>> true = np.array([[[1, 1, 0], [0, 0, 0]]])
    >>> pred = np.array([[[1, 0, 0], [0, 0, 0]], [[0, 1, 0], [0, 0, 0]]])
    >>> round(mask_rand_score(true, pred), 4)
    0.9333
    """
    return _mean_index(rand, masks_true, masks_pred, per_image)


@_checks.in_order()
def mask_adjusted_rand_score(masks_true: Any, masks_pred: Any, *, per_image: bool = False) -> float:
    """Return the adjusted Rand index of two segmentations, passed as stacks of masks.

    With the pair counts of the table T of `mask_rand_score`, ``ARI = 2 (SS DD - SD DS) / [(SS +
    SD)(SD + DD) + (SS + DS)(DS + DD)]``. The maximum 1 means identical segmentations. The expected
    value by chance is 0, and negative values are worse than chance. For hard masks, the result
    equals the adjusted Rand index of the label images.

    Parameters
    ----------
    masks_true : array of shape (n_masks_true, height, width) or (n_masks_true, ...)
        The reference masks, hard or soft. See `mask_rand_score`.
    masks_pred : array of shape (n_masks_pred, height, width) or (n_masks_pred, ...)
        The prediction, with the same image shape, library and device. The number of masks may
        differ.
    per_image : bool, default=False
        Whether the first axis counts images. The result is then the mean index over images. Each
        image is one mask of shape (height, width), or a stack of masks. Set it in `make_scorer`
        and `metric_interval`, because the samples there are images.

    Returns
    -------
    float
        The index, or nan if its denominator is 0.

    Raises
    ------
    ValueError
        If the images differ in shape or device, or have no pixels. If a value is nan or outside
        [0, 1]. If hard masks overlap, or soft masks sum to more than 1 at a pixel.
    TypeError
        If the masks come from different array libraries or are not real numbers.

    Warns
    -----
    UndefinedMetricWarning
        If the segmentations differ and the denominator is 0, for example with fewer than two
        pixels.

    Notes
    -----
    The background counts as a segment like any other. The foreground variant (FG-ARI), which is
    common for object discovery, omits it.

    References
    ----------
    .. [1] Hubert, L. and Arabie, P. (1985). Comparing partitions. Journal of Classification 2,
       193-218. https://doi.org/10.1007/BF01908075

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.metrics.cluster import mask_adjusted_rand_score
    >>> true = np.array([[[1, 1, 0], [0, 0, 0]]])
    >>> pred = np.array([[[1, 0, 0], [0, 0, 0]], [[0, 1, 0], [0, 0, 0]]])
    >>> round(mask_adjusted_rand_score(true, pred), 4)
    0.8649
    """
    return _mean_index(adjusted_rand, masks_true, masks_pred, per_image)


def _mean_index(
    formula: Callable[[PairCounts], float], masks_true: Any, masks_pred: Any, per_image: bool
) -> float:
    """Return the index of one image, or the mean over images on the first axis."""
    _checks.check_flag("per_image", per_image)
    true, pred = check_is_array(masks_true, "masks_true"), check_is_array(masks_pred, "masks_pred")
    pairs = [(true, pred)]
    if per_image:
        if min(true.ndim, pred.ndim) < 3 or true.shape[0] != pred.shape[0] or not true.shape[0]:
            raise ValueError(
                "masks_true and masks_pred must have shape (n_images, ..., height, width) with "
                f"per_image=True, got {tuple(true.shape)} and {tuple(pred.shape)}."
            )
        # a single mask of shape (height, width) becomes a stack of one
        true, pred = (one[:, None, ...] if one.ndim == 3 else one for one in (true, pred))
        pairs = [(true[i, ...], pred[i, ...]) for i in range(true.shape[0])]
    values = []
    for pair in pairs:
        try:
            values.append(formula(mask_pair_counts(*pair)))
        except ZeroDivisionError:
            reason = "The Rand index is 0/0, because the masks have no pair of pixels."
            values.append(_checks.give_nan(reason))
    return float(np.mean(values))


def mask_pair_counts(true: Any, pred: Any) -> PairCounts:
    """Return the pair counts of the table ``T``. They are integers for hard masks."""
    xp = check_masks(true, pred)
    dtype = xp.float64 if xp.float64 in (true.dtype, pred.dtype) else xp.float32
    wide = widest_float_dtype(xp, device(true))
    # T, block by block, with the background as the last segment of either side
    table: Any = 0.0
    blocks = read_blocks(true, "masks_true", dtype, xp), read_blocks(pred, "masks_pred", dtype, xp)
    for segments, others in zip(*blocks, strict=True):
        table = xp.astype(xp.matmul(segments, others.T), wide) + table
    # pairs from the sums of squares of T and its margins
    a, b = xp.sum(table, axis=1), xp.sum(table, axis=0)
    total = float(xp.sum(table))
    in_true, in_pred, in_both = (float(xp.sum(sizes * sizes)) for sizes in (a, b, table))
    return PairCounts(
        (in_both - total) / 2,
        (in_true - in_both) / 2,
        (in_pred - in_both) / 2,
        (total**2 - in_true - in_pred + in_both) / 2,
    )


def read_blocks(masks: Any, name: str, dtype: Any, xp: Any) -> Iterator[Any]:
    """Yield the masks and the background, the uncovered part of each pixel, `BLOCK` pixels at once.

    Raise an error unless masks have values in [0, 1], and hard masks are disjoint.
    """
    n_pixels, hard, most = int(np.prod(masks.shape[1:])), True, 0.0
    flat = xp.reshape(masks, (masks.shape[0], n_pixels))
    for start in range(0, n_pixels, BLOCK):
        block = xp.astype(flat[:, start : min(start + BLOCK, n_pixels)], dtype, copy=False)
        covered = xp.sum(block, axis=0)
        background = xp.where(covered < 1, 1.0 - covered, xp.zeros_like(covered))
        segments = xp.concat([block, background[None, :]], axis=0)
        # values in [0, 1]
        low, high = float(xp.min(segments)), float(xp.max(segments))
        if not (low >= 0 and high <= 1):
            wrong = low if not low >= 0 else high
            raise ValueError(f"{name} must contain values in [0, 1], got {wrong:g}.")
        hard = hard and bool(xp.all((segments == 0) | (segments == 1)))
        most = max(most, float(xp.max(covered)))
        yield segments
    # segments must not overlap
    if most > 1 + (0 if hard else SUM_TOLERANCE):
        rule = "not overlap if they are 0 or 1" if hard else "sum to at most 1 at each pixel"
        raise ValueError(
            f"{name} must {rule}, got {most:g} at a pixel. If each mask is of another image, use "
            "per_image=True."
        )


def check_masks(true: Any, pred: Any) -> Any:
    """Raise unless both stacks of masks have one library, shape and device. Return the library."""
    with _checks.naming("masks_true", "masks_pred"):
        xp = array_namespace(true, pred)
    if tuple(true.shape[1:]) != tuple(pred.shape[1:]):
        raise ValueError(
            "masks_true and masks_pred must have the same image shape, got "
            f"{tuple(true.shape[1:])} and {tuple(pred.shape[1:])}."
        )
    for name, masks in (("masks_true", true), ("masks_pred", pred)):
        if masks.ndim < 3 or 0 in masks.shape[1:]:
            raise ValueError(
                f"{name} must have shape (n_masks, height, width), with at least one pixel, "
                f"got {tuple(masks.shape)}."
            )
        if not xp.isdtype(masks.dtype, ("bool", "integral", "real floating")):
            raise TypeError(f"{name} must contain real numbers or bool, got dtype {masks.dtype}.")
    return xp


def check_is_array(masks: Any, name: str) -> Any:
    """Return lists as a NumPy array, tensors without gradient, other arrays unchanged."""
    if isinstance(masks, (list, tuple)):
        with _checks.naming(name):
            return np.asarray(masks)
    if not (hasattr(masks, "shape") and hasattr(masks, "dtype")):
        raise TypeError(f"{name} must be an array, got {type(masks).__name__}.")
    return masks.detach() if hasattr(masks, "detach") else masks
