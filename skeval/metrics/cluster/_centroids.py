"""Engine: centroids, and distances to and between them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse, vstack

from skeval.metrics.cluster._distances import Points, distance_function, squared_norms

__all__ = ["between_centroids", "to_centroids"]

# Rounding moves a mean by a few ulp of the farthest point: closer means than that coincide.
COINCIDENT = 16 * np.finfo(float).eps
EUCLIDEAN = ("euclidean", "l2")


def to_centroids(points: Points, members: list[slice], metric: str | Callable) -> np.ndarray:
    """Return the (n,) distance from each sorted row to the centroid of its cluster."""
    distance = distance_function(metric, points)
    squares = metric in (*EUCLIDEAN, "sqeuclidean") and not issparse(points)
    result = np.empty(points.shape[0])
    for rows in members:
        if squares:
            result[rows] = squared_norms(_deviations(points[rows]))
        else:
            result[rows] = distance(_mean(points[rows]), points[rows])[0]
    return np.sqrt(result) if squares and metric != "sqeuclidean" else result


def between_centroids(points: Points, members: list[slice], metric: str | Callable) -> np.ndarray:
    """Return the (K, K) distances between the centroids; 0 where they coincide."""
    distance = distance_function(metric, points)
    if metric in EUCLIDEAN and not issparse(points):
        points = points - points.mean(axis=0)  # a far origin would cost digits
    means: list[Any] = [_mean(points[rows]) for rows in members]
    centroids = vstack(means, format="csr") if issparse(points) else np.concatenate(means)
    between = distance(centroids, centroids)
    np.fill_diagonal(between, 0.0)
    if metric in EUCLIDEAN:
        between[between <= COINCIDENT * np.sqrt(squared_norms(points).max())] = 0.0
    return between


def _mean(cluster: Points) -> Points:
    """Return the mean as a (1, p) matrix, sparse where the cluster is."""
    mean = cluster.mean(axis=0)
    return csr_matrix(mean) if issparse(cluster) else mean[None]


def _deviations(cluster: np.ndarray) -> np.ndarray:
    deviations = cluster - cluster.mean(axis=0)
    deviations -= deviations.mean(axis=0)  # what rounding left of the mean
    return deviations
