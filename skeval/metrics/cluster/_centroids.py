"""Centroids, and distances to and between them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse, vstack

from skeval.metrics.cluster._kernels.distances import (
    EUCLIDEAN,
    check_distances,
    distance_function,
)
from skeval.metrics.cluster._kernels.euclidean import Points, euclidean, squared_norms
from skeval.metrics.cluster._partition import Partition

__all__ = [
    "NOISE",
    "between_centroids",
    "centroid_distances_of",
    "mean_to_centroid",
    "to_centroids",
]

# Rounding moves a mean by a few ulp of the farthest point: closer means than that coincide.
COINCIDENT = 16 * np.finfo(float).eps
# What rounding leaves of a distance of 0 between rows that are not equal, but proportional.
NOISE = {"cosine": COINCIDENT, "correlation": COINCIDENT, "jensenshannon": np.sqrt(COINCIDENT)}


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


def between_centroids(points: Points, partition: Partition, metric: str | Callable) -> np.ndarray:
    """Return the (K, K) distances between the centroids; 0 where they coincide."""
    plain = _euclidean_between(points, partition)
    if metric in EUCLIDEAN:
        return plain
    centroids = _stack([_mean(points[rows]) for rows in partition.members])
    between, names = distance_function(metric, points)(centroids, centroids), partition.names
    np.fill_diagonal(between, 0.0)
    check_distances(
        between, metric, lambda k, m: f"the centroids of clusters {names[k]!s} and {names[m]!s}"
    )
    noise = NOISE.get(metric, 0.0) if isinstance(metric, str) else 0.0
    between[(plain == 0) | (between <= noise)] = 0.0
    return between


def centroid_distances_of(
    points: Points, partition: Partition, metric: str | Callable
) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances to the centroids and those between them."""
    if metric in EUCLIDEAN and not issparse(points):
        squared, means = _around_means(points, partition)
        return np.sqrt(squared), _between_means(means, squared.max())
    between = between_centroids(points, partition, metric)
    return to_centroids(points, partition, metric), between


def mean_to_centroid(to_centroid: np.ndarray, partition: Partition) -> np.ndarray:
    """Return the (K,) mean distance to the centroid."""
    return np.add.reduceat(to_centroid, partition.starts) / partition.sizes


def _euclidean_between(points: Points, partition: Partition) -> np.ndarray:
    if not issparse(points):
        squared, means = _around_means(points, partition)
        return _between_means(means, squared.max())
    means = _stack([_mean(points[rows]) for rows in partition.members])
    return _between_means(means, squared_norms(points).max())


def _around_means(points: np.ndarray, partition: Partition) -> tuple[np.ndarray, np.ndarray]:
    """Return the (n,) squared distances to the own mean and the (K, p) means less the first row.

    Differences of rows keep their digits far from the origin, and are 0 where rows are equal.
    """
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
