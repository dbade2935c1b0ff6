"""Samples sorted by cluster, tiles of their distance matrix, and distances to centroids.

Any metric is supported. Euclidean tiles are matrix products, with a relative accuracy of about
1e-12 even between near-duplicates. The equations are in doc/derivations/distance_pass.rst.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse, vstack
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import PAIRWISE_BOOLEAN_FUNCTIONS
from sklearn.utils.extmath import row_norms, safe_sparse_dot

# The product form (eq. 8) suffers from cancellation for close points. Close pairs (eq. 10) are
# recomputed from coordinate differences, one by one or, if there are many, in whole rows.
CLOSE = 1e-2  # tau of eq. 10

ONE_BY_ONE = 16  # times that a distance by differences costs one by a matrix product
DENSE_NUMBERS = 2**23  # maximum size of a sparse block converted to dense
DIRECT_FEATURES = 4  # maximum number of features for direct differences
NUMBERS_AT_ONCE = 2**18  # coordinate differences stored at a time

# up to these numbers of features or entries, dense products are faster than sparse ones
MAX_DENSE_FEATURES, MAX_SMALL_BLOCK, MAX_NUMBERS = 100, 2**17, 2**22


# means closer than the rounding error of a mean coincide
COINCIDENT = 16 * np.finfo(float).eps

# rounding error of a zero distance between rows that are proportional but not equal
ROUNDED_ZERO = {
    "cosine": COINCIDENT,
    "correlation": COINCIDENT,
    "jensenshannon": np.sqrt(COINCIDENT),
}

EUCLIDEAN = ("euclidean", "l2")
CENTER_SAMPLE = 32  # maximum number of rows whose median is used as a cluster center
Points = Any
"""An (n, p) ndarray or CSR matrix."""


@dataclass(frozen=True)
class Partition:
    """Rows in cluster order.

    Cluster `k` contains the rows `order[starts[k]:starts[k] + sizes[k]]` of the caller's data.
    """

    order: np.ndarray
    starts: np.ndarray
    sizes: np.ndarray
    names: np.ndarray
    n_rows: int

    @property
    def n_clusters(self) -> int:
        return len(self.starts)

    @property
    def n_samples(self) -> int:
        """Number of rows without dropped noise."""
        return len(self.order)

    @property
    def members(self) -> list[slice]:
        """Slice of sorted rows of each cluster."""
        return [slice(a, a + m) for a, m in zip(self.starts, self.sizes, strict=True)]

    @property
    def cluster(self) -> np.ndarray:
        """Cluster number of each sorted row."""
        return np.repeat(np.arange(self.n_clusters), self.sizes)

    def unsort(self, values: np.ndarray) -> np.ndarray:
        """Return values of sorted rows in the caller's order, or nan for dropped rows."""
        result = np.full(self.n_rows, np.nan)
        result[self.order] = values
        return result


@dataclass(frozen=True)
class Samples:
    """Points sorted by cluster, or a distance matrix in the caller's order, and the partition.

    Computations use `n_jobs` threads.
    """

    points: Points
    partition: Partition
    metric: str | Callable
    n_jobs: int | None = None

    @property
    def is_dense_euclidean(self) -> bool:
        return self.metric in EUCLIDEAN and not issparse(self.points)

    @property
    def has_few_features(self) -> bool:
        """Whether coordinate differences are as fast as matrix products."""
        return self.is_dense_euclidean and self.points.shape[1] <= DIRECT_FEATURES

    @cached_property
    def tiles(self) -> Tiles:
        if self.metric == "precomputed":
            return matrix_tiles(self.points, self.partition.order)
        points = self.points
        if self.metric in EUCLIDEAN and issparse(points):
            # sparse samples become dense if their array is small
            n, p = points.shape
            if n * p > (MAX_NUMBERS if p <= MAX_DENSE_FEATURES else MAX_SMALL_BLOCK):
                return point_tiles(euclidean, points)
            points = points.toarray()
        # coordinate differences if they are as fast as matrix products (eq. 8)
        if self.has_few_features:
            return point_tiles(partial(cdist, metric="euclidean"), points)
        if self.metric in EUCLIDEAN:
            return euclidean_tiles(points, self.partition.starts)
        return point_tiles(distance_function(self.metric, points), points, self.metric)


def euclidean(a: Points, b: Points) -> np.ndarray:
    """Return the (r, c) Euclidean distances."""
    squared = squared_euclidean(a, b)
    return np.sqrt(squared, out=squared)


def squared_euclidean(a: Points, b: Points) -> np.ndarray:
    """Return the (r, c) squared Euclidean distances between dense or sparse points."""
    if not issparse(a):
        return cdist(a, b, "sqeuclidean")
    # eq. 8 for sparse points, which are not centered
    aa, bb = squared_norms(a), squared_norms(b)
    squared = safe_sparse_dot(a, b.T, dense_output=True)
    squared *= -2.0
    squared += aa[:, None]
    squared += bb
    mend(squared, aa, bb, lambda: (a, b))
    return squared


def mend(
    squared: np.ndarray, aa: np.ndarray, bb: np.ndarray, take: Callable[[], tuple[Points, Points]]
) -> None:
    """Recompute inexact distances in place.

    aa (r,) and bb (c,) are the squared norms. `take` returns the points, which are rarely needed.
    """
    # columns that are far from all rows have no close pairs (eq. 12)
    gap = np.sqrt(bb) - np.sqrt(aa.max())
    near = np.flatnonzero((gap <= 0) | (gap**2 <= CLOSE * (aa.max() + bb)))
    if not len(near):
        return
    columns = slice(near[0], near[-1] + 1)
    squared, bb = squared[:, columns], bb[columns]
    # close pairs, whose distance has lost digits, are computed again
    rows = np.flatnonzero(squared.min(axis=1) < CLOSE * (aa + bb.max()))
    if not len(rows):
        return
    a, b = take()
    b = b[columns]
    close = squared[rows] < CLOSE * (aa[rows, None] + bb)  # eq. 10
    fits = not issparse(a) or (a.shape[0] + b.shape[0]) * a.shape[1] <= DENSE_NUMBERS
    if ONE_BY_ONE * np.count_nonzero(close) > squared.size and fits:
        dense = (part.toarray() if issparse(part) else part for part in (a[rows], b))
        squared[rows] = cdist(*dense, "sqeuclidean")
        return
    # pair by pair from differences, some at a time
    i, j = np.nonzero(close)
    step = max(1, NUMBERS_AT_ONCE // a.shape[1])
    for start in range(0, len(i), step):
        pairs = rows[i[start : start + step]], j[start : start + step]
        squared[pairs] = squared_norms(a[pairs[0]] - b[pairs[1]])


def squared_norms(points: Points) -> np.ndarray:
    """Return the squared Euclidean length of each row of a dense or sparse matrix."""
    if issparse(points):
        return row_norms(points, squared=True)
    return np.einsum("ij,ij->i", points, points)


BlockDistance = Callable[[Points, Points], np.ndarray]
"""Function of (r, p) points and (c, p) points that returns (r, c) distances."""

Strip = Callable[[slice], np.ndarray]
"""Function of a slice of columns that returns the (r, c) distances of a strip, to overwrite."""

Tiles = Callable[[slice], Strip]
"""Function of a slice of rows, sorted by cluster, that returns a strip."""


def distance_function(metric: str | Callable, points: Points) -> BlockDistance:
    """Return a function that computes blocks of distances, with scales from `points` if needed."""
    if isinstance(metric, partial) and metric.func is pairwise_distances:
        return metric  # a metric with arguments
    if metric in EUCLIDEAN:
        return euclidean
    if metric == "sqeuclidean":
        return squared_euclidean
    if metric in PAIRWISE_BOOLEAN_FUNCTIONS:
        return lambda a, b: pairwise_distances(a.astype(bool), b.astype(bool), metric=metric)
    if issparse(points):
        return partial(pairwise_distances, metric=metric)
    if metric == "cosine":
        # scikit-learn treats dense rows that are shorter than 2e-15 as zeros
        return lambda a, b: pairwise_distances(_enlarge(a), _enlarge(b), metric=metric)
    if metric == "correlation":
        # the mean of a constant row may differ from it by rounding; this makes the row exactly 0
        return lambda a, b: cdist(a - a[:, :1], b - b[:, :1], metric=metric)
    return partial(pairwise_distances, metric=metric, **_scale(metric, points))


def _enlarge(points: np.ndarray) -> np.ndarray:
    """Multiply each row by a power of two, so that its largest entry is near 1."""
    exponents = np.frexp(np.abs(points).max(axis=1))[1]
    return np.ldexp(points, -exponents[:, None])


def check_distances(block: np.ndarray, metric: str | Callable) -> np.ndarray:
    """Return a block of distances. Raise an error unless all are finite and nonnegative."""
    if isinstance(metric, str):
        block[block <= ROUNDED_ZERO.get(metric, 0.0)] = 0.0  # rounding; nan stays
    wrong = block[~((block >= 0) & (block < np.inf))]
    if len(wrong):
        raise ValueError(
            f"metric must return finite distances >= 0, got {wrong[0]} from {metric!r}."
        )
    return block


def _scale(metric: str | Callable, points: Points) -> dict[str, np.ndarray]:
    """Return the parameters of the metric that depend on all points, not on a block."""
    if metric == "seuclidean":
        return {"V": np.var(points, axis=0, ddof=1)}
    if metric == "mahalanobis":
        # rank of the correlation matrix, which does not depend on units
        covariance = np.atleast_2d(np.cov(points.T))
        scale = np.sqrt(np.diagonal(covariance))
        if not scale.all() or np.linalg.matrix_rank(covariance / scale / scale[:, None]) < len(
            scale
        ):
            raise ValueError(
                "metric='mahalanobis' needs linearly independent features, got singular X."
            )
        return {"VI": np.linalg.inv(covariance)}
    return {}


def point_tiles(
    distance: BlockDistance, points: Points, checked: str | Callable | None = None
) -> Tiles:
    """Return the tiles of the distance matrix of `points`. Its diagonal is exactly 0.

    Distances of a `checked` metric may be negative or infinite.
    """

    def strip(rows: slice) -> Strip:
        a = points[rows]

        def block(columns: slice) -> np.ndarray:
            b = a if columns == rows else points[columns]
            result = _fill_diagonal(distance(a, b), rows, columns)
            return result if checked is None else check_distances(result, checked)

        return block

    return strip


def euclidean_tiles(points: np.ndarray, starts: np.ndarray) -> Tiles:
    """Return the tiles of the Euclidean distance matrix of points sorted by cluster.

    All strips of a cluster are centered at the same point, so they share one copy of the operands
    of all columns. The center is a median, because it is robust against outliers.
    """
    stops, by_feature = np.append(starts[1:], len(points)), np.ascontiguousarray(points.T)  # (p, n)

    @lru_cache(maxsize=1)
    def around(cluster: int) -> np.ndarray:
        """Return (x, |x|^2, 1) of the centered points as columns, the right operand of eq. 8."""
        start, stop = starts[cluster], stops[cluster]
        some = points[start : stop : 1 + (stop - start) // CENTER_SAMPLE]
        center = np.partition(some, len(some) // 2, axis=0)[len(some) // 2]
        # NumPy and BLAS are fastest with long rows
        right = np.ones((len(center) + 2, len(points)))
        centered = np.subtract(by_feature, center[:, None], out=right[:-2])
        np.einsum("ij,ij->j", centered, centered, out=right[-2])
        return right

    def strip(rows: slice) -> Strip:
        right = around(int(np.searchsorted(starts, rows.start, side="right")) - 1)
        own = right[:, rows]
        left = np.concatenate([-2.0 * own[:-2], own[:-3:-1]]).T  # (-2x, 1, |x|^2)

        def block(columns: slice) -> np.ndarray:
            squared = left @ right[:, columns]  # eq. 8, (r, c)
            _fill_diagonal(squared, rows, columns, np.inf)  # a row is no close pair of itself
            # close pairs lose digits in eq. 8 and are computed again
            mend(squared, own[-2], right[-2, columns], lambda: (points[rows], points[columns]))
            return _fill_diagonal(np.sqrt(squared, out=squared), rows, columns)

        return block

    return strip


def matrix_tiles(matrix: np.ndarray, order: np.ndarray) -> Tiles:
    """Return the tiles of a distance matrix with its rows and columns sorted by `order`."""

    def strip(rows: slice) -> Strip:
        whole = matrix[order[rows]]

        def block(columns: slice) -> np.ndarray:
            taken = whole[:, order[columns]].astype(np.float64, copy=False)
            return _fill_diagonal(taken, rows, columns)

        return block

    return strip


def _fill_diagonal(
    block: np.ndarray, rows: slice, columns: slice, value: float = 0.0
) -> np.ndarray:
    """Write a value, in place, where the block meets the diagonal of the whole matrix."""
    if rows.stop <= columns.start or columns.stop <= rows.start:
        return block
    both = np.arange(max(rows.start, columns.start), min(rows.stop, columns.stop))
    block[both - rows.start, both - columns.start] = value
    return block


def has_centroids(metric: str | Callable) -> bool:
    """Return whether the metric is defined for means of rows, unlike metrics of Booleans."""
    return metric != "precomputed" and metric not in PAIRWISE_BOOLEAN_FUNCTIONS


def measure_centroids(samples: Samples, needs: Set[str]) -> dict[str, Any]:
    """Return the quantities that need centroids, or None if the metric has no centroids."""
    # squared distances to the own mean (n,), and the means (K, p)
    points, partition, metric = samples.points, samples.partition, samples.metric
    result: dict[str, Any] = dict.fromkeys(needs)
    if not needs or metric == "precomputed":
        return result
    if not issparse(points):
        squared, means = _around_means(points, partition)
        within = squared
        deviations = means - partition.sizes @ means / partition.n_samples
        result["between_squares"] = float(partition.sizes @ squared_norms(deviations))
    else:
        squared = to_centroids(points, partition, "sqeuclidean")
        means = _stack([_mean(points[rows]) for rows in partition.members])
        within = squared_norms(points)
        # the deviations from the mean of all samples would be dense
        pairs = np.square(euclidean(means, means))
        weighted = float(partition.sizes @ pairs @ partition.sizes)
        result["between_squares"] = weighted / (2 * partition.n_samples)
    result["squares"] = squared
    # distances by the metric itself
    if not has_centroids(metric):
        return result
    if "mean_to_centroid" in needs:
        distances = to_centroids(points, partition, metric)
        result["mean_to_centroid"] = np.add.reduceat(distances, partition.starts) / partition.sizes
    if "centroid_between" in needs:
        between = euclidean(means, means)
        np.fill_diagonal(between, 0.0)
        # 0 if means differ by rounding, at a scale for each pair: one distant cluster has no effect
        radii = np.maximum.reduceat(within, partition.starts)
        scale = np.sqrt(radii) + np.sqrt(squared_norms(means))
        between[between <= COINCIDENT * np.maximum.outer(scale, scale)] = 0.0
        if metric not in EUCLIDEAN:  # 0 where centroids coincide
            coincide = between == 0
            centroids = _stack([_mean(points[rows]) for rows in partition.members])
            between = distance_function(metric, points)(centroids, centroids)
            check_distances(between, metric)[coincide] = 0.0
        result["centroid_between"] = between
    return result


def to_centroids(points: Points, partition: Partition, metric: str | Callable) -> np.ndarray:
    """Return the (n,) distance from each sorted row to the centroid of its cluster."""
    if metric in (*EUCLIDEAN, "sqeuclidean") and not issparse(points):
        squared = _around_means(points, partition)[0]
        return squared if metric == "sqeuclidean" else np.sqrt(squared)
    distance = distance_function(metric, points)
    result = np.empty(points.shape[0])
    for rows in partition.members:
        result[rows] = check_distances(distance(_mean(points[rows]), points[rows]), metric)[0]
    return result


def _around_means(points: np.ndarray, partition: Partition) -> tuple[np.ndarray, np.ndarray]:
    """Return (n,) squared distances to the cluster mean, and (K, p) means minus a central row.

    Differences of rows are accurate even far from the origin, and are 0 for equal rows. The central
    row is the median of the first row of each cluster, so that one distant cluster has no effect.
    """
    starts, sizes = partition.starts, partition.sizes
    # first row of each cluster minus a central one, (K, p)
    firsts = points[starts] - np.median(points[starts], axis=0)
    # the clusters one by one, in one buffer
    squared, means = np.empty(len(points)), np.empty((partition.n_clusters, points.shape[1]))
    space = np.empty((partition.sizes.max(), points.shape[1]))
    for rows, size, mean, first in zip(partition.members, sizes, means, firsts, strict=True):
        deviations = np.subtract(points[rows], points[rows.start], out=space[:size])
        deviations.mean(axis=0, out=mean)
        deviations -= mean
        squared[rows] = np.square(deviations, out=deviations) @ np.ones(len(mean))
        mean += first
    return squared, means


def _stack(means: list[Any]) -> Points:
    return vstack(means, format="csr") if issparse(means[0]) else np.concatenate(means)


def _mean(cluster: Points) -> Points:
    """Return the mean as a (1, p) matrix, sparse for a sparse cluster."""
    mean = cluster.mean(axis=0)
    return csr_matrix(mean) if issparse(cluster) else mean[None]
