"""Samples and their partition, checked: the one door of the internal indices."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import issparse
from sklearn.metrics.pairwise import PAIRWISE_BOOLEAN_FUNCTIONS

from skeval.metrics.cluster._distances import (
    DIRECT_FEATURES,
    Points,
    Tiles,
    distance_function,
    euclidean_tiles,
    matrix_tiles,
    point_tiles,
)
from skeval.metrics.cluster._partition import Partition, make_partition
from skeval.utils._checks import check_data
from skeval.utils._compat import PAIRWISE_METRICS, StrOptions

__all__ = [
    "NOISE_RULE",
    "Samples",
    "check_magnitude",
    "check_samples",
    "has_centroids",
    "metric_rule",
    "need_centroids",
]

EUCLIDEAN = ("euclidean", "l2")
ROWS_AT_ONCE = 512
MATRIX_TOLERANCE = 1e-10  # of the largest distance; what rounding may do to symmetry
SMALLEST, LARGEST = 1e-140, 1e140

NOISE_RULE = [StrOptions({"cluster", "drop", "singletons"}), None]


def metric_rule(*, precomputed: bool = True) -> list:
    """Return the rule that validate_params checks `metric` against."""
    names = set(PAIRWISE_METRICS) - {"precomputed"}
    return [StrOptions(names | {"precomputed"} if precomputed else names), callable]


@dataclass(frozen=True)
class Samples:
    """Points sorted by cluster, or a distance matrix in the caller's order, and the partition."""

    points: Points
    partition: Partition
    metric: str | Callable

    @property
    def has_points(self) -> bool:
        return self.metric != "precomputed"

    @property
    def is_dense_euclidean(self) -> bool:
        return self.metric in EUCLIDEAN and not issparse(self.points)

    def suits_trees(self, most_features: int) -> bool:
        """Tell whether k-d trees answer: for dense Euclidean points of few enough features."""
        return self.is_dense_euclidean and self.points.shape[1] <= most_features

    @cached_property
    def tiles(self) -> Tiles:
        if not self.has_points:
            return matrix_tiles(self.points, self.partition.order)
        if self.is_dense_euclidean and self.points.shape[1] > DIRECT_FEATURES:
            return euclidean_tiles(self.points, self.partition.starts)
        return point_tiles(distance_function(self.metric, self.points), self.points)


def check_samples(
    X: object,
    labels: object,
    *,
    metric: str | Callable,
    noise: str | None,
    min_clusters: int = 1,
) -> Samples:
    """Validate data and labels, settle the noise, and sort the points by cluster."""
    precomputed = metric == "precomputed"
    data = check_data("X", X, accept_sparse=False if precomputed else "csr", dtype=np.float64)
    if precomputed:
        _check_distance_matrix(data)
    else:
        check_magnitude(data)
    partition = make_partition(labels, n_rows=data.shape[0], noise=noise)
    if partition.n_clusters < min_clusters:
        raise ValueError(
            f"labels must hold at least {min_clusters} clusters, got {partition.n_clusters}."
        )
    return Samples(data if precomputed else data[partition.order], partition, metric)


def check_magnitude(data: Points) -> None:
    """Raise where the square of a distance would overflow, or lose its digits next to zero."""
    is_sparse: bool = issparse(data)
    values = data.data if is_sparse else data
    # as floats: Booleans have no negative, and that of the least integer wraps around
    largest = max(float(values.max(initial=0)), -float(values.min(initial=0)))
    if largest and not SMALLEST <= largest <= LARGEST:
        raise ValueError(
            f"X must have its largest absolute value between {SMALLEST:g} and {LARGEST:g}, so that "
            f"squares of distances are finite and not 0, got {largest:g}; scale X."
        )


def _check_distance_matrix(matrix: np.ndarray) -> None:
    rule = "X must be a square, symmetric, non-negative matrix with zero diagonal"
    rule += ' when metric="precomputed"'
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{rule}, got shape {matrix.shape}.")
    smallest, largest = matrix.min(), matrix.max()
    if smallest < 0:
        raise ValueError(f"{rule}, got a distance of {smallest}.")
    if np.diagonal(matrix).max() > MATRIX_TOLERANCE * largest:
        raise ValueError(f"{rule}, got {np.diagonal(matrix).max()} on the diagonal.")
    for start in range(0, len(matrix), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        gap = np.abs(matrix[rows] - matrix[:, rows].T).max()
        if gap > MATRIX_TOLERANCE * largest:
            raise ValueError(f"{rule}, got two distances of one pair that differ by {gap}.")


def need_centroids(metric: str | Callable) -> None:
    """Raise unless the mean of samples is something that the metric can measure."""
    if not has_centroids(metric):
        raise ValueError(
            f"metric must be able to measure centroids, means of rows of X, got {metric!r}."
        )


def has_centroids(metric: str | Callable) -> bool:
    """Tell whether the metric measures means of rows: not of Booleans, nor without any points."""
    return metric != "precomputed" and metric not in PAIRWISE_BOOLEAN_FUNCTIONS
