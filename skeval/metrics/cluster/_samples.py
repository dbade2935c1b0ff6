"""Input validation and shared quantities of the internal indices.

First, rows are sorted by cluster and noise is resolved. `measure` then returns the quantities from
which the indices are computed, from at most one pass over the distances. For n samples in K
clusters, the quantities are:

- silhouette_samples: (n,) in the order of the caller, nan for dropped noise. `silhouettes` are in
  the order of the clusters.
- mean_within, max_within: (K,) mean distance and diameter of each cluster
- mean_between, min_between: (K, K) mean distance and nearest pair for each pair of clusters
- extremes: the nearest pair over all clusters and the largest diameter
- connectivity: the sum over samples of the weights of neighbors in other clusters
- squares: (n,) squared Euclidean distances to the centroid of the own cluster
- between_squares: Euclidean sum of squares between clusters
- mean_to_centroid, centroid_between: (K,) mean distance to the centroid, (K, K) distances between
  centroids

Quantities that the metric does not support are None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import issparse

from skeval.metrics.cluster import _distance_pass, _distances
from skeval.metrics.cluster._distances import Samples
from skeval.utils import _checks
from skeval.utils._compat import PAIRWISE_METRICS, StrOptions

NOISE = -1
NOISE_AS_TEXT = ("-1", "-1.0")  # in a table of strings
TILE = 256

# Rounding tolerance relative to the largest distance: 100 ulp of the matrix dtype on the diagonal,
# as in scikit-learn; for symmetry the larger of this and 1e-10.
MATRIX_TOLERANCE, MATRIX_ULPS = 1e-10, 100

PRECISIONS = [np.float64, np.float32, np.float16]
SMALLEST, LARGEST = 1e-140, 1e140

# constraints of internal indices: always, with a metric, with a pass over pairs
CONSTRAINTS: dict[str, Any] = {
    "X": ["array-like", "sparse matrix"],
    "labels": "no_validation",  # check_y has the better message
    "noise": [StrOptions({"cluster", "drop", "singletons"}), None],
}

METRIC_CONSTRAINTS = CONSTRAINTS | {
    "metric": [StrOptions(set(PAIRWISE_METRICS) | {"precomputed"}), callable]
}
PASS_CONSTRAINTS = METRIC_CONSTRAINTS | {"n_jobs": [Integral, None]}


def make_partition(labels: Any, *, n_rows: int, noise: str | None) -> _distances.Partition:
    """Validate the labels, resolve label -1, and sort the rows by cluster."""
    # one finite label for each row
    values = _checks.check_y("labels", labels)
    if len(values) != n_rows:
        raise ValueError(
            f"labels must have one label for each of the {n_rows} rows of X, got {len(values)}."
        )
    # rows that are kept
    noisy = _is_noise(values)
    kept = np.flatnonzero(~noisy) if noise == "drop" else np.arange(n_rows)
    if not len(kept):
        raise ValueError('noise="drop" must leave at least one sample, got only noise labels (-1).')
    if noise is None and noisy.any():
        _checks.warn_user(
            f"{noisy.sum()} samples are labeled -1, which DBSCAN and similar methods use for "
            'noise, and are treated as one cluster. Choose noise="cluster", "drop" or "singletons".'
        )
    # clusters by number
    names, number = _checks.number_values(values[kept])
    if noise == "singletons" and noisy.any():
        # a cluster for each noise sample at the end, all named -1
        n_noise, is_name = int(noisy.sum()), ~_is_noise(names)
        number = (np.cumsum(is_name) - 1)[number]
        number[noisy] = int(is_name.sum()) + np.arange(n_noise)
        names = np.concatenate([names[is_name], np.repeat(names[~is_name][:1], n_noise)])
    # kept rows by cluster, and the start and size of each cluster
    sizes = np.bincount(number, minlength=len(names))
    order = kept[np.argsort(number, kind="stable")]
    return _distances.Partition(order, np.cumsum(sizes) - sizes, sizes, names, n_rows)


def _is_noise(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind in "OUST":
        return np.isin(values.astype(str), NOISE_AS_TEXT)
    return np.asarray(values == NOISE)


def check_samples(
    X: Any,
    labels: Any,
    *,
    metric: str | Callable,
    noise: str | None,
    n_jobs: int | None = None,
    min_clusters: int = 1,
) -> Samples:
    """Validate data and labels, resolve noise, and sort the points by cluster and by place."""
    # arguments in the wrong order
    if np.ndim(X) == 1 and np.ndim(labels) == 2:
        raise TypeError(
            "X must be a table, and labels one-dimensional. The order of arguments is (X, labels)."
        )
    _checks.check_jobs(n_jobs, verbose=False)
    precomputed = metric == "precomputed"
    if precomputed:
        data = _check_matrix(X)
    else:
        data = _checks.check_data("X", X, accept_sparse="csr", dtype=np.float64)
        check_magnitude("X", data)
    # clusters, and the points in their order
    _checks.refuse_shuffled_index({"X": X, "labels": labels})
    partition = make_partition(labels, n_rows=data.shape[0], noise=noise)
    if partition.n_clusters < min_clusters:
        raise ValueError(
            f"labels must contain at least {min_clusters} clusters, got {partition.n_clusters}."
        )
    if not precomputed:
        order = partition.order
        if not issparse(data):
            # near rows side by side, so that tiles far from a row are skipped
            widest = data[order, np.ptp(data, axis=0).argmax()]
            order = order[np.lexsort((widest, partition.cluster))]
            partition = replace(partition, order=order)
        data = data[order] if issparse(data) else data.take(order, axis=0)
    return Samples(data, partition, metric, n_jobs)


def check_magnitude(name: str, data: _distances.Points) -> None:
    """Raise an error if squares of values would overflow or underflow."""
    values: np.ndarray = data.data if issparse(data) else data
    # as floats: Booleans and the smallest integer cannot be negated
    largest = max(float(values.max(initial=0)), -float(values.min(initial=0)))
    if largest and not SMALLEST <= largest <= LARGEST:
        raise ValueError(
            f"The largest absolute value of {name} must lie in [{SMALLEST}, {LARGEST}], got "
            f"{largest:g}. Scale {name}."
        )


def _check_matrix(X: object) -> np.ndarray:
    """Return a validated distance matrix without changing its precision."""
    matrix: Any = _checks.check_data("X", X, accept_sparse="csr", dtype=PRECISIONS)
    rule = "X must be a square, symmetric, non-negative matrix with zero diagonal"
    rule += ' when metric="precomputed"'
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{rule}, got shape {matrix.shape}.")
    was_sparse = issparse(matrix)
    matrix = matrix.toarray() if was_sparse else matrix
    # a graph of neighbors has 0 for all other pairs; few distances are 0, unless rounded
    if was_sparse or 2 * np.count_nonzero(matrix) < matrix.size:
        # samples at distance 0 are at distance 0 from the same samples
        zero = matrix == 0
        if (zero != zero[zero.argmax(axis=1)]).any():
            raise ValueError(
                f"{rule}, and 0 must mean the distance 0, got two samples at distance 0 whose "
                "distances to a third sample differ. A graph of neighbors, or a sparse matrix "
                "without some distances, is not a distance matrix."
            )
    if matrix.min() < 0:
        raise ValueError(f"{rule}, got a distance of {matrix.min()}.")
    # zero diagonal and symmetric, up to rounding
    rounding, largest = MATRIX_ULPS * float(np.finfo(matrix.dtype).eps), float(matrix.max())
    if np.diagonal(matrix).max() > largest * rounding:
        raise ValueError(f"{rule}, got {np.diagonal(matrix).max()} on the diagonal.")
    some = [slice(start, start + TILE) for start in range(0, len(matrix), TILE)]
    gap = max(float(np.abs(matrix[rows] - matrix[:, rows].T).max()) for rows in some)
    if gap > largest * max(MATRIX_TOLERANCE, rounding):
        raise ValueError(f"{rule}, got two distances for one pair that differ by {gap}.")
    return matrix


def check_has_centroids(metric: str | Callable) -> None:
    """Raise an error unless the metric is defined for centroids."""
    if not _distances.has_centroids(metric):
        raise ValueError(f"metric must be defined for means of rows, got {metric!r}.")


def measure(samples: Samples, needs: Iterable[str], n_neighbors: int = 0) -> dict[str, Any]:
    """Return the required quantities, and others that the same pass computes."""
    needs = set(needs)
    result: dict[str, Any] = {"sizes": samples.partition.sizes}
    left = needs & _distance_pass.FROM_PAIRS
    # with few features, a tree finds neighbors faster than the pass over all pairs
    if left <= _distance_pass.PRUNED or samples.has_few_features:
        by_tree = left if left <= _distance_pass.PRUNED else left & {"connectivity"}
        result |= measure_without_pass(samples, by_tree, n_neighbors)
        left -= set(result)
    if left:
        result |= _distance_pass.measure_by_pass(samples, left, n_neighbors)
    return result | _distances.measure_centroids(samples, needs - _distance_pass.FROM_PAIRS)


def measure_without_pass(samples: Samples, needs: set[str], n_neighbors: int = 0) -> dict[str, Any]:
    """Return extremes and connectivity, if trees and bounds can compute them."""
    result: dict[str, Any] = {}
    if "extremes" in needs:
        result["extremes"] = _distance_pass.extremes_by_bounds(samples)
    if "connectivity" in needs:
        result["connectivity"] = _distance_pass.connectivity_by_tree(samples, n_neighbors)
    return {name: value for name, value in result.items() if value is not None}


def check_n_neighbors(n_neighbors: int, n_samples: int) -> None:
    """Raise an error unless each sample has `n_neighbors` other samples."""
    if n_neighbors >= n_samples:
        raise ValueError(f"n_neighbors must be below the {n_samples} samples, got {n_neighbors}.")
