"""What the indices of a clustering are made of, from one pass over its distances.

The quantities, by name, of n samples in K clusters:

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
from functools import partial
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import csr_matrix, issparse, vstack

from skeval.metrics.cluster._kernels.distance_pass import (
    ClusterSums,
    add_to_totals,
    mean_between,
    mean_within,
    within_pass,
)
from skeval.metrics.cluster._kernels.distances import (
    COINCIDENT,
    EUCLIDEAN,
    ROUNDED_ZERO,
    Points,
    check_distances,
    distance_function,
    euclidean,
    squared_norms,
)
from skeval.metrics.cluster._kernels.nearest_farthest import largest_diameter, nearest_between
from skeval.metrics.cluster._kernels.neighbours import VISIT_COST, PlaceTree, foreign_weight_by_rows
from skeval.metrics.cluster._samples import Partition, Samples, has_centroids
from skeval.utils._checks import check_count

__all__ = [
    "FROM_PAIRS",
    "PRUNED",
    "check_n_neighbors",
    "measure",
    "measure_without_pass",
    "silhouettes",
    "to_centroids",
]

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
