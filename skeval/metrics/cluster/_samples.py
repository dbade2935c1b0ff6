"""Samples and their partition, checked: the one door of the internal indices.

Rows are sorted by cluster, and noise is settled before an index sees them. Below them stands what
the indices are made of, from one pass over the distances. The quantities, by name, of n samples in
K clusters:

silhouette_samples : (n,) in the order of the caller, nan for noise that was dropped; `silhouettes`
    are the same in the order of the clusters.
mean_within, max_within : (K,) mean distance and diameter of each cluster.
mean_between, min_between : (K, K) mean distance and nearest pair of every two.
extremes : the nearest pair of all clusters and the largest diameter.
connectivity : the sum over samples of the weights of neighbours in other clusters.
squares : (n,) squared Euclidean distances to the own centroid.
between_squares : Euclidean sum of squares between clusters.
mean_to_centroid, centroid_between : (K,) mean distance to the centroid, (K, K) between centroids.

What the metric cannot measure is None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from numbers import Integral
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import csr_matrix, issparse, vstack
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import PAIRWISE_BOOLEAN_FUNCTIONS
from sklearn.utils import assert_all_finite, column_or_1d

from skeval.metrics.cluster._kernels.distance_pass import (
    TILE_ROWS,
    VISIT_COST,
    ClusterSums,
    Nearest,
    PlaceTree,
    Reductions,
    add_to_totals,
    distance_pass,
    foreign_weight_by_rows,
    mean_between,
    mean_within,
    order_by_place,
    sums_by_strips,
    sums_of_matrix,
    within_pass,
)
from skeval.metrics.cluster._kernels.distances import (
    COINCIDENT,
    DIRECT_FEATURES,
    EUCLIDEAN,
    ROUNDED_ZERO,
    Points,
    Tiles,
    check_distances,
    distance_function,
    euclidean,
    euclidean_tiles,
    matrix_tiles,
    point_tiles,
    slices,
    sparse_tiles,
    squared_norms,
)
from skeval.metrics.cluster._kernels.nearest_farthest import largest_diameter, nearest_between
from skeval.utils._checks import check_count, check_data, naming, native_labels, warn_user
from skeval.utils._compat import PAIRWISE_METRICS, StrOptions

__all__ = [
    "FROM_PAIRS",
    "METRIC_CONSTRAINTS",
    "PASS_CONSTRAINTS",
    "PRUNED",
    "Partition",
    "Samples",
    "check_has_centroids",
    "check_magnitude",
    "check_n_neighbors",
    "check_samples",
    "measure",
    "measure_without_pass",
    "partition_rows",
    "silhouettes",
    "to_centroids",
]


NOISE = -1
NOISE_AS_TEXT = ("-1", "-1.0")  # in a table of strings
TILE = 256
TABLE_NUMBERS = 2**24  # 128 MB: where (K, n) sums would take more, they come strip by strip

# With at most so many features, or numbers, dense rows are multiplied faster than sparse ones.
FEW_FEATURES, FEW_NUMBERS, MOST_NUMBERS = 100, 2**17, 2**22

SCALE_SAMPLE = 64  # rows, at most, whose distances tell the scale of a callable metric
ROUNDING = 1e-14  # what a callable metric may give between equal points, relative to that scale
IRRATIONAL = (5**0.5 - 1) / 2

# What rounding may do, relative to the largest distance: to the diagonal 100 ulp of the precision
# of the matrix, as scikit-learn allows; to symmetry that, or 1e-10.
MATRIX_TOLERANCE, MATRIX_ULPS = 1e-10, 100

PRECISIONS = [np.float64, np.float32, np.float16]
SMALLEST, LARGEST = 1e-140, 1e140

# What validate_params checks of an internal index: always, with a metric, with a pass over pairs.
CONSTRAINTS: dict[str, list] = {
    "X": ["array-like", "sparse matrix"],
    "labels": ["array-like"],
    "noise": [StrOptions({"cluster", "drop", "singletons"}), None],
}

METRIC_CONSTRAINTS = CONSTRAINTS | {
    "metric": [StrOptions(set(PAIRWISE_METRICS) | {"precomputed"}), callable]
}
PASS_CONSTRAINTS = METRIC_CONSTRAINTS | {"n_jobs": [Integral, None]}


@dataclass(frozen=True)
class Partition:
    """Rows in cluster order.

    Cluster `k` holds the rows `order[starts[k]:starts[k] + sizes[k]]` of the caller's data.
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
        """The number of rows kept; noise may have been dropped."""
        return len(self.order)

    @property
    def members(self) -> list[slice]:
        """The slice of sorted rows that each cluster holds."""
        return [slice(a, a + m) for a, m in zip(self.starts, self.sizes, strict=True)]

    @property
    def cluster(self) -> np.ndarray:
        """The cluster number of each sorted row."""
        return np.repeat(np.arange(self.n_clusters), self.sizes)

    def unsort(self, values: np.ndarray) -> np.ndarray:
        """Put one value per sorted row back in the caller's order; dropped rows get nan."""
        result = np.full(self.n_rows, np.nan)
        result[self.order] = values
        return result


def make_partition(labels: object, *, n_rows: int, noise: str | None) -> Partition:
    """Check the labels, settle what label -1 means, and sort the rows by cluster."""
    with naming("labels"):
        values = native_labels("labels", column_or_1d(labels))
    if len(values) != n_rows:
        raise ValueError(
            f"labels must hold one label for each of the {n_rows} rows of X, got {len(values)}."
        )
    assert_all_finite(values, input_name="labels")
    noisy = _is_noise(values)
    kept = np.flatnonzero(~noisy) if noise == "drop" else np.arange(n_rows)
    if not len(kept):
        raise ValueError('noise="drop" must leave at least one sample, got only noise labels (-1).')
    if noise is None and noisy.any():
        warn_user(
            f"{noisy.sum()} samples are labelled -1, which DBSCAN and its kin use for noise, and "
            'are treated as one cluster; choose noise="cluster", "drop" or "singletons".'
        )
    names, number = _number_values(values[kept])
    if noise == "singletons":
        names, number = _split_noise(names, number, noisy)
    return _sort_rows(names, number, kept, n_rows)


def partition_rows(labels: np.ndarray) -> Partition:
    """Sort the rows by cluster, of labels that a clusterer has just given; noise is one cluster."""
    return _sort_rows(*_number_values(labels), np.arange(len(labels)), len(labels))


def _sort_rows(names: np.ndarray, number: np.ndarray, kept: np.ndarray, n_rows: int) -> Partition:
    """Return the kept rows in the order of the numbers of their clusters."""
    sizes = np.bincount(number, minlength=len(names))
    few = len(names) <= np.iinfo(np.uint16).max  # which NumPy sorts in linear time
    order = kept[np.argsort(number.astype(np.uint16) if few else number, kind="stable")]
    return Partition(order, np.cumsum(sizes) - sizes, sizes, names, n_rows)


def _number_values(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what `np.unique` does with inverses; integers of a narrow range are not sorted."""
    if values.dtype.kind == "i":
        low, high = int(values.min()), int(values.max())
        if high - low < max(1024, len(values)):
            codes = values.astype(np.int64) - low
            used = np.bincount(codes) > 0
            return (np.flatnonzero(used) + low).astype(values.dtype), (np.cumsum(used) - 1)[codes]
    names, number = np.unique(values, return_inverse=True)
    return names, number.reshape(-1)


def _is_noise(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind in "if":
        return np.asarray(values == NOISE)
    if values.dtype.kind in "OUST":
        return np.isin(values.astype(str), NOISE_AS_TEXT)
    return np.zeros(len(values), dtype=bool)  # unsigned and booleans have no -1


def _split_noise(
    names: np.ndarray, number: np.ndarray, noisy: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Give each noise sample a cluster of its own, after the others, all named -1."""
    n_noise = int(noisy.sum())
    if not n_noise:
        return names, number
    is_name = ~_is_noise(names)
    n_real = int(is_name.sum())
    renumbered = (np.cumsum(is_name) - 1)[number]
    renumbered[noisy] = n_real + np.arange(n_noise)
    return np.concatenate([names[is_name], np.repeat(names[~is_name][:1], n_noise)]), renumbered


@dataclass(frozen=True)
class Samples:
    """Points sorted by cluster, or a distance matrix in the caller's order, and the partition."""

    points: Points
    partition: Partition
    metric: str | Callable

    @property
    def is_dense_euclidean(self) -> bool:
        return self.metric in EUCLIDEAN and not issparse(self.points)

    @property
    def has_few_features(self) -> bool:
        """Whether differences of coordinates cost no more than products of matrices."""
        return self.is_dense_euclidean and self.points.shape[1] <= DIRECT_FEATURES

    @cached_property
    def tiles(self) -> Tiles:
        if self.metric == "precomputed":
            return matrix_tiles(self.points, self.partition.order)
        points = self.points
        if self.metric in EUCLIDEAN and issparse(points):
            if not _is_cheaper_dense(*points.shape):
                return sparse_tiles(points)
            points = points.toarray()
        if self.has_few_features:
            return point_tiles(partial(cdist, metric="euclidean"), points)
        if self.metric in EUCLIDEAN:
            return euclidean_tiles(points, self.partition.starts)
        return point_tiles(distance_function(self.metric, points), points, self._check)

    def reduce_distances(
        self,
        *,
        sums: bool = True,
        extremes: bool = True,
        by_pair: bool = True,
        n_neighbors: int = 0,
        n_jobs: int | None = None,
    ) -> tuple[Reductions, ClusterSums]:
        """Return the reductions of the distances by clusters, and the sums from rows to clusters.

        Those of points come from the same pass, if a table holds them; so do the nearest
        neighbours, which are sought if `n_neighbors` is not 0. `by_pair`: as in `distance_pass`.
        """
        partition = self.partition
        starts, n = partition.starts, partition.n_samples
        in_table = n * partition.n_clusters <= TABLE_NUMBERS
        keeps = 0 < n * n_neighbors <= TABLE_NUMBERS
        reduced = distance_pass(
            self.tiles,
            starts,
            n,
            sums=sums and in_table and self.metric != "precomputed",
            extremes=extremes,
            by_pair=by_pair,
            nearest=Nearest(partition.cluster, n_neighbors, self.zero) if keeps else None,
            n_jobs=n_jobs,
        )
        if not sums:
            return reduced, iter(())
        if reduced.sums.size:
            return reduced, iter([(slice(0, n), reduced.sums)])
        if in_table:
            return reduced, sums_of_matrix(self.points, partition.order, partition.members)
        return reduced, sums_by_strips(self.tiles, starts, n)

    @cached_property
    def zero(self) -> np.ndarray:
        """The (n,) distances up to which rounding may be all that a row's distance is.

        Most metrics, and a given matrix, are exact at 0. Of a callable only the scale is known, by
        the distances to a sample of rows; one far row must not make all others tie.
        """
        n = self.partition.n_samples
        if isinstance(self.metric, str):
            return np.full(n, ROUNDED_ZERO.get(self.metric, 0.0))
        distance, some = (
            distance_function(self.metric, self.points),
            slice(None, None, -(-n // SCALE_SAMPLE)),
        )
        parts = [distance(self.points[rows], self.points[some]) for rows in slices(n, TILE)]
        return ROUNDING * np.concatenate([part.max(axis=1) for part in parts])

    def _check(self, block: np.ndarray, rows: slice, columns: slice) -> None:
        if self.metric in (*EUCLIDEAN, "sqeuclidean"):
            return  # check_magnitude has seen to it that these are finite
        first, second = self.partition.order[rows], self.partition.order[columns]
        check_distances(block, self.metric, lambda i, j: f"rows {first[i]} and {second[j]} of X")


def check_samples(
    X: object,
    labels: object,
    *,
    metric: str | Callable,
    noise: str | None,
    min_clusters: int = 1,
    by_place: bool = False,
) -> Samples:
    """Validate data and labels, settle the noise, and sort the points by cluster.

    `by_place` sorts dense points of a cluster once more, for a pass over several tiles that looks
    for neighbours.
    """
    precomputed = metric == "precomputed"
    if precomputed:
        data = _check_matrix(X)
    else:
        options = {"accept_sparse": "csr", "dtype": np.float64}
        data = check_data("X", X, ensure_all_finite=False, **options)
        if not _is_moderate(data):
            check_magnitude(check_data("X", data, **options))
    partition = make_partition(labels, n_rows=data.shape[0], noise=noise)
    if partition.n_clusters < min_clusters:
        raise ValueError(
            f"labels must hold at least {min_clusters} clusters, got {partition.n_clusters}."
        )
    if not precomputed:
        order = partition.order
        data = data[order] if issparse(data) else data.take(order, axis=0)
        if by_place and not issparse(data) and len(data) > TILE_ROWS:
            again = order_by_place(data, partition.members)
            data, partition = data.take(again, axis=0), replace(partition, order=order[again])
    return Samples(data, partition, metric)


def check_magnitude(data: Points) -> None:
    """Raise where the square of a distance would overflow, or lose its digits next to zero."""
    is_sparse: bool = issparse(data)
    values = data.data if is_sparse else data
    # As floats, since Booleans have no negative and the least integer has none that fits.
    largest = max(float(values.max(initial=0)), -float(values.min(initial=0)))
    if largest and not SMALLEST <= largest <= LARGEST:
        raise ValueError(
            f"X must have its largest absolute value between {SMALLEST:g} and {LARGEST:g}, so that "
            f"squares of distances are finite and not 0, got {largest:g}; scale X."
        )


def _is_cheaper_dense(n: int, p: int) -> bool:
    return n * p <= (MOST_NUMBERS if p <= FEW_FEATURES else FEW_NUMBERS)


def _is_moderate(data: Points) -> bool:
    """Tell from the sum of squares alone that the data are finite, and neither huge nor tiny."""
    values = data.data if issparse(data) else data.ravel(order="K")
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(np.dot(values, values))
    return len(values) * SMALLEST**2 <= total <= LARGEST**2


def _check_matrix(X: object) -> np.ndarray:
    """Return a distance matrix in its own precision."""
    options = {"accept_sparse": "csr", "dtype": PRECISIONS}
    matrix = check_data("X", X, ensure_all_finite=False, **options)
    if issparse(matrix):
        matrix = _to_dense_matrix(check_data("X", matrix, **options))
    smallest, largest = float(matrix.min()), float(matrix.max())
    if not (np.isfinite(smallest) and np.isfinite(largest)):
        check_data("X", matrix, **options)  # raises, naming the entry
    rule = "X must be a square, symmetric, non-negative matrix with zero diagonal"
    rule += ' when metric="precomputed"'
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{rule}, got shape {matrix.shape}.")
    if smallest < 0:
        raise ValueError(f"{rule}, got a distance of {smallest}.")
    rounding = MATRIX_ULPS * float(np.finfo(matrix.dtype).eps)
    if np.diagonal(matrix).max() > largest * rounding:
        raise ValueError(f"{rule}, got {np.diagonal(matrix).max()} on the diagonal.")
    tolerance = largest * max(MATRIX_TOLERANCE, rounding)
    gap = _asymmetry(matrix, tolerance)
    if gap > tolerance:
        raise ValueError(f"{rule}, got two distances of one pair that differ by {gap}.")
    return matrix


def _asymmetry(matrix: np.ndarray, tolerance: float) -> float:
    """Return the largest difference of two distances of a pair, or 0 where it is below tolerance.

    Products with a vector of irregular weights (Freivalds' check) show it unless the differences
    of a row happen to cancel; where they show any, all pairs are looked at.
    """
    weights = (0.5 + np.arange(len(matrix)) ** 2.0 * IRRATIONAL % 0.5).astype(matrix.dtype)
    if matrix.dtype != np.float16 and np.abs(matrix @ weights - weights @ matrix).max() <= (
        tolerance / 2
    ):
        return 0.0
    gap = 0.0
    for start in range(0, len(matrix), TILE):
        rows = slice(start, start + TILE)
        for first in range(start, len(matrix), TILE):  # both tiles fit the cache
            columns = slice(first, first + TILE)
            difference = matrix[rows, columns] - matrix[columns, rows].T
            gap = max(gap, float(difference.max()), -float(difference.min()))
    return gap


def _to_dense_matrix(matrix: csr_matrix) -> np.ndarray:
    """Return a sparse matrix of distances as a dense one; what it does not store is 0.

    Being at distance 0 must then be an equivalence of rows, which it is not in a graph of
    neighbours: there the pairs that are not stored are far apart.
    """
    n, matrix = matrix.shape[0], matrix.copy()
    matrix.sum_duplicates()
    if matrix.shape[0] == matrix.shape[1]:
        stored = matrix.astype(bool).tocoo()
        off_diagonal = stored.row != stored.col
        row, column = stored.row[off_diagonal & stored.data], stored.col[off_diagonal & stored.data]
        n_zeros = n - np.bincount(row, minlength=n)
        position = np.arange(len(row)) - np.searchsorted(row, row)
        first_zero = n - n_zeros  # where all columns before it are stored
        gaps = column != position
        np.minimum.at(first_zero, row[gaps], position[gaps])
        sizes = np.bincount(first_zero, minlength=n)
        if (n_zeros != sizes[first_zero]).any() or (first_zero[row] == first_zero[column]).any():
            raise ValueError(
                'a sparse X must hold all distances that are not 0 when metric="precomputed", got '
                "samples at distance 0 from one another whose distances to a third one differ; a "
                "graph of neighbours is no distance matrix."
            )
    return matrix.toarray()


def check_has_centroids(metric: str | Callable) -> None:
    """Raise unless the mean of samples is something that the metric can measure."""
    if not has_centroids(metric):
        raise ValueError(
            f"metric must be able to measure centroids, means of rows of X, got {metric!r}."
        )


def has_centroids(metric: str | Callable) -> bool:
    """Tell whether the metric measures means of rows: not of Booleans, nor without any points."""
    return metric != "precomputed" and metric not in PAIRWISE_BOOLEAN_FUNCTIONS


WITHIN = {"mean_within", "max_within"}
SUMS = {"silhouette_samples", "mean_within", "mean_between"}
EXTREMES = {"extremes", "max_within", "min_between"}
PRUNED = {"extremes", "connectivity"}
"""What trees and bounds may find without a pass."""
FROM_PAIRS = SUMS | EXTREMES | PRUNED
NUMBERS_AT_ONCE, FEW_CLUSTERS = 2**20, 16
"""Data of so many numbers at most are centred at once, where they have more clusters."""


def measure(
    samples: Samples, needs: Iterable[str], *, n_neighbors: int = 0, n_jobs: int | None = None
) -> dict[str, Any]:
    """Return the quantities that are needed, and what the same pass has found beside them."""
    needs = set(needs)
    found = {"sizes": samples.partition.sizes}
    found |= _measure_pairs(samples, needs & FROM_PAIRS, n_neighbors, n_jobs=n_jobs)
    return found | _measure_centroids(samples, needs - FROM_PAIRS)


def measure_without_pass(
    samples: Samples, needs: set[str], n_neighbors: int, *, n_jobs: int | None
) -> dict[str, Any]:
    """Return those of the extremes and the connectivity that trees and bounds give."""
    found: dict[str, Any] = {}
    if "extremes" in needs:
        found["extremes"] = extremes_by_bounds(samples, n_jobs=n_jobs)
    if "connectivity" in needs:
        found["connectivity"] = connectivity_by_tree(samples, n_neighbors, n_jobs=n_jobs)
    return {name: value for name, value in found.items() if value is not None}


def _measure_pairs(
    samples: Samples, needs: set[str], n_neighbors: int, *, n_jobs: int | None
) -> dict[str, Any]:
    """Return what comes from pairs: without a pass, within clusters, or from one pass over all."""
    found: dict[str, Any] = {}
    # Among few features a tree finds neighbours sooner than a pass that is made for all the rest.
    by_tree = needs if needs <= PRUNED else needs & {"connectivity"}
    if needs <= PRUNED or samples.has_few_features:
        found = measure_without_pass(samples, by_tree, n_neighbors, n_jobs=n_jobs)
        needs = needs - set(found)
    if not needs:
        return found
    partition = samples.partition
    if needs <= WITHIN:
        totals, largest = within_pass(samples.tiles, partition.members, n_jobs=n_jobs)
        means = mean_within(totals, partition.sizes)
        return found | {"mean_within": means, "max_within": largest}
    reduced, strips = samples.reduce_distances(
        sums=bool(needs & SUMS),
        extremes=bool(needs & EXTREMES),
        by_pair="min_between" in needs,
        n_neighbors=n_neighbors if "connectivity" in needs else 0,
        n_jobs=n_jobs,
    )
    if needs & SUMS:
        found |= _reduce_sums(samples, strips, needs)
    if needs & EXTREMES:
        found["extremes"] = float(reduced.smallest.min()), float(reduced.largest.max())
        np.fill_diagonal(reduced.smallest, np.nan)
        found |= {"max_within": reduced.largest, "min_between": reduced.smallest}
    if "connectivity" in needs:
        if reduced.nearest is not None:
            found["connectivity"] = float(reduced.nearest.foreign_weights().sum())
        else:
            found["connectivity"] = foreign_weight_by_rows(
                samples.tiles, partition.cluster, samples.zero, n_neighbors, n_jobs=n_jobs
            )
    return found


def _reduce_sums(samples: Samples, strips: ClusterSums, needs: set[str]) -> dict[str, Any]:
    """Return what the (K, n) sums of distances from rows to clusters say, strip by strip.

    The (K, K) totals are not made for the silhouettes alone: of many clusters they are large.
    """
    partition = samples.partition
    found: dict[str, Any] = {}
    K, silhouette = partition.n_clusters, np.empty(partition.n_samples)
    totals = np.zeros((K, K)) if needs & {"mean_within", "mean_between"} else None
    for rows, sums in strips:
        if "silhouette_samples" in needs:
            silhouette[rows] = silhouettes(sums, partition, rows)
        if totals is not None:
            add_to_totals(totals, sums, rows, partition.starts)
    if totals is not None:
        found["mean_within"] = mean_within(np.diagonal(totals) / 2, partition.sizes)
        found["mean_between"] = mean_between(totals, partition.sizes)
    if "silhouette_samples" in needs:
        found |= {"silhouettes": silhouette, "silhouette_samples": partition.unsort(silhouette)}
    return found


def silhouettes(sums: np.ndarray, partition: Partition, rows: slice) -> np.ndarray:
    """Return the (r,) silhouettes of sorted rows from their (K, r) distance sums to clusters."""
    cluster, sizes = partition.cluster[rows], partition.sizes
    column = np.arange(len(cluster))
    own = sums[cluster, column] / np.maximum(sizes[cluster] - 1, 1)
    means = sums / sizes[:, None]
    means[cluster, column] = np.inf
    other = means.min(axis=0)
    larger = np.maximum(own, other)
    defined = (sizes[cluster] > 1) & (larger > 0)
    return np.divide(other - own, larger, out=np.zeros(len(cluster)), where=defined)


def extremes_by_bounds(samples: Samples, *, n_jobs: int | None) -> tuple[float, float] | None:
    """Return the nearest pair and the diameter; None where bounds do not prune."""
    if not samples.is_dense_euclidean:
        return None
    partition, points = samples.partition, samples.points
    budget = partition.n_samples / VISIT_COST
    nearest = nearest_between(points, partition.cluster, budget=budget, n_jobs=n_jobs)
    return None if nearest is None else (nearest, largest_diameter(points, partition.members))


def check_n_neighbors(n_neighbors: int, n_samples: int) -> None:
    """Raise unless every sample has that many others."""
    check_count("n_neighbors", n_neighbors)
    if n_neighbors >= n_samples:
        raise ValueError(
            f"n_neighbors must be smaller than the number of samples, {n_samples}, "
            f"got {n_neighbors}."
        )


def connectivity_by_tree(samples: Samples, n_neighbors: int, *, n_jobs: int | None) -> float | None:
    """Return the connectivity without looking at all pairs; None where a tree does not prune."""
    if not samples.is_dense_euclidean:
        return None
    workers = effective_n_jobs(n_jobs)
    tree = PlaceTree(samples.points, samples.partition.cluster, n_jobs=workers)
    return tree.foreign_weight(n_neighbors) if tree.prunes(n_neighbors) else None


def _measure_centroids(samples: Samples, needs: set[str]) -> dict[str, Any]:
    """Return what comes from centroids; None where the metric has none."""
    points, partition, metric = samples.points, samples.partition, samples.metric
    found: dict[str, Any] = dict.fromkeys(needs)
    if not needs or metric == "precomputed":
        return found
    dense = not issparse(points)
    if dense:
        squared, means = _around_means(points, partition)
        largest = squared.max()
        deviations = means - partition.sizes @ means / partition.n_samples
        found["between_squares"] = float(partition.sizes @ squared_norms(deviations))
    else:
        wanted = "squares" in needs
        squared = to_centroids(points, partition, "sqeuclidean") if wanted else np.empty(0)
        means = _stack([_mean(points[rows]) for rows in partition.members])
        largest = squared_norms(points).max()
    found["squares"] = squared
    if not has_centroids(metric):
        return found
    if "mean_to_centroid" in needs:
        euclidean_rows = dense and metric in EUCLIDEAN
        distances = np.sqrt(squared) if euclidean_rows else to_centroids(points, partition, metric)
        found["mean_to_centroid"] = np.add.reduceat(distances, partition.starts) / partition.sizes
    if "centroid_between" in needs:
        between = _between_means(means, largest)
        if metric not in EUCLIDEAN:
            between = between_centroids(points, partition, metric, between == 0)
        found["centroid_between"] = between
    return found


def to_centroids(points: Points, partition: Partition, metric: str | Callable) -> np.ndarray:
    """Return the (n,) distance from each sorted row to the centroid of its cluster."""
    if metric in (*EUCLIDEAN, "sqeuclidean") and not issparse(points):
        squared = _around_means(points, partition)[0]
        return squared if metric == "sqeuclidean" else np.sqrt(squared)
    distance = distance_function(metric, points)
    result = np.empty(points.shape[0])
    for rows, name in zip(partition.members, partition.names, strict=True):
        block = distance(_mean(points[rows]), points[rows])
        check_distances(block, metric, partial(_row_and_centroid, partition.order[rows], name))
        result[rows] = block[0]
    return result


def _row_and_centroid(rows: np.ndarray, name: object, _: int, j: int) -> str:
    return f"row {rows[j]} of X and the centroid of cluster {name!s}"


def between_centroids(
    points: Points, partition: Partition, metric: str | Callable, coincide: np.ndarray
) -> np.ndarray:
    """Return the (K, K) distances between the centroids; 0 where they coincide."""
    centroids = _stack([_mean(points[rows]) for rows in partition.members])
    between, names = distance_function(metric, points)(centroids, centroids), partition.names
    np.fill_diagonal(between, 0.0)
    check_distances(
        between, metric, lambda k, m: f"the centroids of clusters {names[k]!s} and {names[m]!s}"
    )
    noise = ROUNDED_ZERO.get(metric, 0.0) if isinstance(metric, str) else 0.0
    between[coincide | (between <= noise)] = 0.0
    return between


def _around_means(points: np.ndarray, partition: Partition) -> tuple[np.ndarray, np.ndarray]:
    """Return the (n,) squared distances to the own mean and the (K, p) means less the first row.

    Differences of rows keep their digits far from the origin, and are 0 where rows are equal.
    """
    starts, sizes = partition.starts, partition.sizes
    if points.size <= NUMBERS_AT_ONCE and len(sizes) > FEW_CLUSTERS:
        deviations = points - points[starts].repeat(sizes, axis=0)
        means = np.add.reduceat(deviations, starts, axis=0) / sizes[:, None]
        deviations -= means.repeat(sizes, axis=0)
        return squared_norms(deviations), means + (points[starts] - points[0])
    squared, means = np.empty(len(points)), np.empty((partition.n_clusters, points.shape[1]))
    space = np.empty((partition.sizes.max(), points.shape[1]))
    for rows, size, mean in zip(partition.members, partition.sizes, means, strict=True):
        deviations = np.subtract(points[rows], points[rows.start], out=space[:size])
        deviations.mean(axis=0, out=mean)
        deviations -= mean
        squared[rows] = np.square(deviations, out=deviations) @ np.ones(len(mean))
        mean += points[rows.start] - points[0]
    return squared, means


def _between_means(means: Points, largest: float) -> np.ndarray:
    """Return Euclidean distances, 0 where rounding may have made them."""
    if not issparse(means):
        means = means - means.mean(axis=0)
    between = euclidean(means, means)
    np.fill_diagonal(between, 0.0)
    scale = np.sqrt(largest) + np.sqrt(squared_norms(means).max())
    between[between <= COINCIDENT * scale] = 0.0
    return between


def _stack(means: list[Any]) -> Points:
    return vstack(means, format="csr") if issparse(means[0]) else np.concatenate(means)


def _mean(cluster: Points) -> Points:
    """Return the mean as a (1, p) matrix, sparse where the cluster is."""
    mean = cluster.mean(axis=0)
    return csr_matrix(mean) if issparse(cluster) else mean[None]
