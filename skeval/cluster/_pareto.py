"""Pareto comparison of clusterings on several indices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import UndefinedMetricWarning

from skeval._inference.estimate import Result
from skeval.metrics.cluster._internal import BY_NAME, internal_indices
from skeval.utils import _checks
from skeval.utils._checks import Noise, read_arrays
from skeval.utils._text import DataFrame, align_rows, make_frame

Index = tuple[Callable[[Any, Any], float], bool]

SHARED = {name for name, row in BY_NAME.items() if row.compute}  # from one pass over the distances
GREATER_IS_BETTER = {name: BY_NAME[name].greater_is_better for name in sorted(BY_NAME)}
# relative tolerance of equal values: a partition with renamed labels or reordered rows must not
# dominate itself by rounding
TIE = 1e-12


@dataclass(frozen=True, eq=False)
class ClusteringComparison(Result):
    """Comparison of clusterings of the same data on several indices.

    Attributes
    ----------
    names : tuple of str
        Names of the clusterings.
    indices : tuple of str
        Names of the indices.
    greater_is_better : tuple of bool
        Whether larger values of each index are better.
    values : ndarray of shape (n_clusterings, n_indices)
        Value of each index (columns) for each clustering (rows).
    n_clusters : ndarray of shape (n_clusterings,)
        Number of distinct labels of each clustering, including -1.
    dominates : ndarray of shape (n_clusterings, n_clusterings), dtype bool
        Whether the clustering of the row dominates the clustering of the column.
    front : ndarray of shape (n_clusterings,), dtype bool
        Whether the clustering is on the Pareto front.
    """

    names: tuple[str, ...]
    indices: tuple[str, ...]
    greater_is_better: tuple[bool, ...]
    values: np.ndarray
    n_clusters: np.ndarray
    dominates: np.ndarray = field(repr=False)
    front: np.ndarray

    @property
    def front_names(self) -> tuple[str, ...]:
        """Names of the clusterings on the Pareto front."""
        return tuple(name for name, kept in zip(self.names, self.front, strict=True) if kept)

    def to_frame(self) -> DataFrame:
        """Return a data frame with one row for each clustering."""
        columns = dict(zip(self.indices, self.values.T, strict=True))
        columns = {"n_clusters": self.n_clusters, **columns, "front": self.front}
        return make_frame(columns, self.names, "clustering")

    def __str__(self) -> str:
        directions = zip(self.indices, self.greater_is_better, strict=True)
        head = ["", "k", *(f"{name} {'+' if up else '-'}" for name, up in directions), ""]
        numbers = zip(self.names, self.n_clusters, self.values, self.front, strict=True)
        rows = [
            [name, str(k), *(f"{value:.4g}" for value in row), "front" if kept else ""]
            for name, k, row, kept in numbers
        ]
        title = f"{len(self.names)} clusterings (+ larger is better, - smaller is better)"
        return "\n  ".join([title, *align_rows([head, *rows], left={0})])


@_checks.in_order()
def pareto_dominance(
    values: ArrayLike, *, greater_is_better: bool | Sequence[bool] | np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the dominance relation of candidates and the Pareto front.

    Candidate i dominates j if it is at least as good on every criterion and better on at least
    one. Values with a relative difference of up to 1e-12 count as equal.

    Parameters
    ----------
    values : array-like of shape (n_candidates, n_criteria)
        Criteria of each candidate. Values may be infinite but not nan.
    greater_is_better : bool or array-like of bool of shape (n_criteria,)
        Direction of each criterion, or of all criteria.

    Returns
    -------
    dominates : ndarray of shape (n_candidates, n_candidates), dtype bool
        ``dominates[i, j]`` is True if i dominates j.
    front : ndarray of shape (n_candidates,), dtype bool
        Candidates that no other candidate dominates. Equal candidates are all included.

    Raises
    ------
    ValueError
        If `values` is not 2-D or contains nan, or `greater_is_better` has a different length or is
        not boolean.

    References
    ----------
    .. [1] Handl, J., Knowles, J. and Kell, D. B. (2005). Computational cluster validation in
       post-genomic data analysis. Bioinformatics 21, 3201-3212.
       https://doi.org/10.1093/bioinformatics/bti517

    Examples
    --------
    >>> from skeval.cluster import pareto_dominance
    >>> dominates, front = pareto_dominance(
    ...     [[0.9, 2.0], [0.5, 1.0], [0.4, 3.0]], greater_is_better=[True, False]
    ... )
    >>> front
    array([ True,  True, False])
    >>> dominates[0]
    array([False, False,  True])
    """
    merit = _checks.check_data("values", values, dtype=np.float64, ensure_all_finite=False)
    if np.isnan(merit).any():
        raise ValueError(f"values must not be nan, got nan at {np.argwhere(np.isnan(merit))[0]}.")
    # one direction, or one for each criterion
    with _checks.naming("greater_is_better"):
        directions = np.asarray(greater_is_better)
    if directions.dtype != bool or directions.shape not in ((), merit.shape[1:]):
        n = merit.shape[1]
        raise ValueError(f"greater_is_better must have {n} booleans, got {greater_is_better!r}.")
    # larger is better from here on
    merit = np.where(directions, merit, -merit)
    worse = np.zeros((len(merit), len(merit)), dtype=bool)
    for column in merit.T:  # smaller by more than rounding
        a, b = column[:, None], column[None, :]
        finite = np.isfinite(a) & np.isfinite(b)
        worse |= a < b - TIE * np.where(finite, np.maximum(np.abs(a), np.abs(b)), 0.0)
    # nowhere worse, and better somewhere
    dominates = ~worse & worse.T
    return dominates, np.logical_not(dominates.any(axis=0))


@_checks.in_order(X=_checks.is_table)
@read_arrays
def compare_clusterings(
    X: Any,
    partitions: Mapping[str, ArrayLike],
    *,
    indices: Sequence[str] | Mapping[str, Index] = ("silhouette", "dunn", "connectivity"),
    metric: str | Callable = "euclidean",
    n_neighbors: int = 10,
    noise: Noise | None = None,
    n_jobs: int | None = None,
) -> ClusteringComparison:
    """Compare several clusterings of the same data by Pareto dominance.

    A clustering dominates another if it is at least as good on every index and better on at least
    one. The clusterings that are not dominated form the Pareto front. The front is larger if the
    indices disagree more. It is not a ranking.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        The data, or their distances if ``metric="precomputed"``.
    partitions : dict of str to array-like of shape (n_samples,)
        Labels of each clustering, with its name as key.
    indices : sequence of str, or dict, default=("silhouette", "dunn", "connectivity")
        Names of indices, or a dict from the name of any other index to ``(function(X, labels) ->
        float, greater_is_better)``. Each name has its own direction.

        Larger is better for "silhouette", "dunn", "calinski_harabasz" and "dbcv". It is also
        better for distances between clusters, "mean_separation", "min_separation" and
        "max_separation", and between centroids, "centroid_separation", "min_centroid_separation"
        and "max_centroid_separation".

        Smaller is better for "davies_bouldin_pairwise", "davies_bouldin_centroid", "connectivity",
        "compactness", "sse", "within_cluster_variance" and "mst_compactness" (the mean edge of the
        spanning trees). It is also better for distances within clusters, "mean_within",
        "min_within" and "diameter" (the largest).

        "mean_within" is the mean over clusters of their mean distances, and "mean_separation" the
        mean over pairs of clusters.
    metric, n_neighbors, noise : str or callable, int, str or None
        See `internal_indices`. They are not used if `indices` is a dict.
    n_jobs : int or None, default=None
        Number of threads. Results do not depend on it.

    Returns
    -------
    ClusteringComparison
        The values, the dominance matrix and the front. `to_frame` returns a table.

    Raises
    ------
    ValueError
        If there is no partition or index, an index is unknown or undefined (nan) for a partition,
        or a partition does not match X or has a single cluster.

    See Also
    --------
    pareto_dominance : Computes only the dominance relation.
    ParetoDisplay : Draws two of the indices with the front.

    Notes
    -----
    The compactness and the sum of squared errors always improve with more clusters, so compare
    clusterings with equal numbers of clusters, or add an index without this property.

    References
    ----------
    .. [1] Handl, J., Knowles, J. and Kell, D. B. (2005). Computational cluster validation in
       post-genomic data analysis. Bioinformatics 21, 3201-3212.
       https://doi.org/10.1093/bioinformatics/bti517

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import make_blobs
    >>> from skeval.cluster import compare_clusterings
    >>> X, _ = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> partitions = {
    ...     f"kmeans {k}": KMeans(k, n_init=5, random_state=0).fit_predict(X) for k in (2, 3, 4)
    ... }
    >>> comparison = compare_clusterings(X, partitions, indices=["silhouette", "connectivity"])
    >>> comparison.front_names
    ('kmeans 3',)
    """
    if not isinstance(partitions, Mapping) or not partitions:
        got = "none" if isinstance(partitions, Mapping) else type(partitions).__name__
        raise ValueError(f"partitions must be a dict with at least one clustering, got {got}.")
    # values of all indices for all partitions
    directions = resolve_directions(indices)
    options = {"metric": metric, "n_neighbors": n_neighbors, "noise": noise, "n_jobs": n_jobs}
    rows = []
    for partition, labels in partitions.items():
        with _checks.naming(f"partitions[{partition!r}]"):
            if isinstance(indices, Mapping):
                rows.append([function(X, labels) for function, _ in indices.values()])
            else:
                rows.append(compute_internal(X, labels, list(directions), options))
    values = np.array(rows, dtype=np.float64)
    # dominance is not defined for nan
    undefined = np.argwhere(np.isnan(values))
    if len(undefined):
        row, column = undefined[0]
        raise ValueError(
            f"indices must be defined for every partition, but {list(directions)[column]!r} is "
            f"nan for {list(partitions)[row]!r}."
        )
    # dominance, and the partitions that none dominates
    up = tuple(directions.values())
    dominates, front = pareto_dominance(values, greater_is_better=up)
    n_clusters = np.array([len(np.unique(np.asarray(p))) for p in partitions.values()])
    names = tuple(map(str, partitions))
    return ClusteringComparison(names, tuple(directions), up, values, n_clusters, dominates, front)


def resolve_directions(indices: Any) -> dict[str, bool]:
    """Return whether larger is better for each index name."""
    directions: dict[str, bool] = {}
    if isinstance(indices, Mapping):
        # own indices state their direction
        for name, pair in indices.items():
            if not (isinstance(pair, Sequence) and len(pair) == 2 and callable(pair[0])):
                raise ValueError(
                    "indices must be names, or a dict with a pair (function, greater_is_better) "
                    f"for each name, got {pair!r} for {name!r}."
                )
        directions = {str(name): bool(up) for name, (_, up) in indices.items()}
    else:
        for name in np.asarray(indices, dtype=object).ravel().tolist():
            _checks.check_option("indices", name, GREATER_IS_BETTER)
            directions[name] = GREATER_IS_BETTER[name]
    if not directions:
        raise ValueError("indices must name at least one index, got none.")
    return directions


def compute_internal(X: Any, labels: Any, names: list[str], options: dict[str, Any]) -> list[float]:
    """Return the requested internal indices of a partition."""
    result: dict[str, Any] = {}
    shared = [name for name in names if name in SHARED]
    with _checks.ignored_warnings(UndefinedMetricWarning):  # undefined indices raise later
        if shared:
            result |= internal_indices(X, labels, indices=shared, **options)
        for name in set(names) - SHARED:
            # defaults differ between functions: of the noise, and of the metric of a variance
            unused = {"n_neighbors", "n_jobs" if name == "within_cluster_variance" else ""}
            own = {key: value for key, value in options.items() if key not in unused}
            own = {key: value for key, value in own.items() if value not in (None, "euclidean")}
            result[name] = float(BY_NAME[name].function(X, labels, **own))
    return [result[name] for name in names]
