"""External indices: how well the clusters of one partition match the classes of another."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

from skeval.metrics.cluster import _pairs
from skeval.metrics.cluster._labels import (
    BETA,
    LABELS,
    f_weights,
    make_contingency,
    scale_counts,
)
from skeval.metrics.cluster._pair_scores import precision_recall_f
from skeval.metrics.cluster._pairs import Contingency, PairCounts
from skeval.utils._compat import validate_params
from skeval.utils._frames import DataFrame, make_frame
from skeval.utils._text import ShownAsText, align_text

__all__ = [
    "ExternalIndices",
    "class_f_measure",
    "external_indices",
    "inverse_purity_score",
    "purity_score",
]


def majority_share(table: Contingency, groups: np.ndarray, n_groups: int) -> float:
    """Return the share of samples in the largest cell of their row, or of their column."""
    if not len(table.cells):
        return 1.0
    largest = np.zeros(n_groups, table.cells.dtype)
    np.maximum.at(largest, groups, table.cells)
    return float(_pairs.exact_sum(largest) / table.total)


@validate_params(LABELS)
def purity_score(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Compute the purity: the share of samples in the majority class of their cluster.

    ``(1/n) sum_k max_t n_kt`` with ``n_kt`` the samples of cluster k in class t. It lies in
    (0, 1]; larger is better, and 1 means that every cluster holds one class only, which clusters
    of one sample always do: compare it only between clusterings with as many clusters.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The reference classes and the clusters; integers, strings or other hashable labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights.

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
    inverse_purity_score : The same with classes and clusters exchanged.

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


@validate_params(LABELS)
def inverse_purity_score(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Compute the inverse purity: the share of samples in the main cluster of their class.

    ``(1/n) sum_t max_k n_kt``. It lies in (0, 1]; larger is better, and 1 means that no class is
    split, which a single cluster always achieves.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The reference classes and the clusters; integers, strings or other hashable labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights.

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
    purity_score : The same with classes and clusters exchanged.

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
    """Return ``sum_t |S_t|/n max_k F_b``; ``F_b = n_kt / (v |S_t| + (1 - v) |C_k|)``."""
    if not len(table.cells):
        return 1.0
    of_cluster, of_class = f_weights(beta)
    sizes = of_class * table.row_sums[table.rows] + of_cluster * table.column_sums[table.columns]
    best = np.zeros(len(table.row_sums))
    np.maximum.at(best, table.rows, table.cells / sizes)
    return float(best @ table.row_sums / table.total)


@validate_params(LABELS | BETA)
def class_f_measure(
    labels_true: ArrayLike,
    labels_pred: ArrayLike,
    *,
    beta: float = 1.0,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute the F-measure of each class in the cluster that fits it best, averaged.

    ``F = sum_t |S_t|/n max_k F_b(S_t, C_k)``, where ``F_b`` weighs the precision ``n_kt/|C_k|``
    and the recall ``n_kt/|S_t|`` of cluster k as a retrieval of class t. It lies in (0, 1]; larger
    is better, and 1 means identical partitions. It is not symmetric.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The reference classes and the clusters; integers, strings or other hashable labels.
    beta : float, default=1.0
        Weight of recall against precision, in [0, inf]; 0 counts precision alone, inf recall.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights.

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
    return best_class_f(make_contingency(labels_true, labels_pred, sample_weight), beta)


@dataclass(frozen=True)
class ExternalIndices(ShownAsText):
    """Every external index of a clustering against a reference.

    Attributes
    ----------
    purity, inverse_purity, class_f_measure : float
        Indices that match clusters with classes; 1 is best.
    pair_precision, pair_recall, pair_f1, pair_jaccard, rand, fowlkes_mallows : float
        Indices of pairs of samples, in [0, 1]; 1 is best.
    adjusted_rand : float
        The Rand index corrected for chance: 1 is best, 0 expected by chance, negative below it.
    minkowski : float
        The Minkowski score; 0 is best.
    pairs : PairCounts
        The pair counts behind the indices of pairs.
    """

    purity: float
    inverse_purity: float
    class_f_measure: float
    pair_precision: float
    pair_recall: float
    pair_f1: float
    pair_jaccard: float
    rand: float
    adjusted_rand: float
    fowlkes_mallows: float
    minkowski: float
    pairs: PairCounts

    def to_dict(self) -> dict[str, float]:
        """Return the indices by name."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "pairs"}

    def to_frame(self) -> DataFrame:
        """Return a data frame with one row per index: its value and its best value."""
        indices = self.to_dict()
        best = [0.0 if name == "minkowski" else 1.0 for name in indices]
        return make_frame({"value": list(indices.values()), "best": best}, list(indices), "index")

    def __str__(self) -> str:
        rows = [(name.replace("_", " "), f"{v:.4f}") for name, v in self.to_dict().items()]
        return align_text("external indices", rows)


@validate_params(LABELS)
def external_indices(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> ExternalIndices:
    """Compute every external index from one pass over the labels.

    The contingency table is built once, in time that grows linearly with the number of samples;
    all indices, each defined with the function of its name, are read from it.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The reference and the predicted partition; integers, strings or other hashable labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights, which act as `pair_counts` says.

    Returns
    -------
    ExternalIndices
        Every index as a field; `print` it, or call its `to_frame`.

    Raises
    ------
    ValueError
        If the labels are not 1-D, differ in length, or are fractions; if a weight is negative,
        all are zero, or a product of two is infinite or next to 0.

    Warns
    -----
    UndefinedMetricWarning
        If pair precision or recall is 0/0; see `pair_precision_recall_fscore`.

    Examples
    --------
    >>> from skeval.metrics.cluster import external_indices
    >>> print(external_indices(["a", "a", "b", "b"], [0, 0, 0, 1]))
    external indices
      purity           0.7500
      inverse purity   0.7500
      class f measure  0.7333
      pair precision   0.3333
      pair recall      0.5000
      pair f1          0.4000
      pair jaccard     0.2500
      rand             0.5000
      adjusted rand    0.0000
      fowlkes mallows  0.4082
      minkowski        1.2247
    """
    table = make_contingency(labels_true, labels_pred, sample_weight)
    pairs = _pairs.count_pairs(table)
    precision, recall, f1 = precision_recall_f(pairs, 1.0)
    return ExternalIndices(
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
        pairs=scale_counts(table),
    )
