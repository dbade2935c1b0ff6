"""Extent and separation of clusters as single numbers, and every index by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skeval.metrics.cluster._indices import (
    INTERNAL,
    between_cluster_distances,
    mst_compactness,
    within_cluster_distances,
)


def mean_separation(X: ArrayLike, labels: ArrayLike, **options: Any) -> float:
    """Return the mean over pairs of clusters of the mean distance between their samples."""
    return float(np.nanmean(between_cluster_distances(X, labels, **options)["mean"]))


def min_separation(X: ArrayLike, labels: ArrayLike, **options: Any) -> float:
    """Return the smallest distance between samples of different clusters."""
    return float(np.nanmin(between_cluster_distances(X, labels, **options)["min"]))


def centroid_separation(X: ArrayLike, labels: ArrayLike, **options: Any) -> float:
    """Return the mean over pairs of clusters of the distance between their centroids."""
    return float(np.mean(centroid_pairs(X, labels, options)))


def min_centroid_separation(X: ArrayLike, labels: ArrayLike, **options: Any) -> float:
    """Return the smallest distance between the centroids of two clusters."""
    return float(np.min(centroid_pairs(X, labels, options)))


def centroid_pairs(X: ArrayLike, labels: ArrayLike, options: dict[str, Any]) -> np.ndarray:
    """Return the distance between the centroids of each pair of clusters."""
    centroid = between_cluster_distances(X, labels, **options)["centroid"]
    return centroid[np.triu_indices(len(centroid), 1)]


def mean_within(X: ArrayLike, labels: ArrayLike, **options: Any) -> float:
    """Return the mean distance within a cluster, averaged over clusters of at least two samples."""
    within = within_cluster_distances(X, labels, **options)
    means = within["mean"][within["size"] > 1]
    return float(np.mean(means)) if len(means) else np.nan


def diameter(X: ArrayLike, labels: ArrayLike, **options: Any) -> float:
    """Return the largest distance within a cluster."""
    return float(np.max(within_cluster_distances(X, labels, **options)["max"]))


def mst_compactness_score(X: ArrayLike, labels: ArrayLike, **options: Any) -> float:
    """Return the mean edge of the minimum spanning trees of all clusters, nan without an edge."""
    trees = mst_compactness(X, labels, **options)
    n_edges = trees["size"] - 1
    return float(np.average(trees["mean"], weights=n_edges)) if n_edges.any() else np.nan


EXTENTS: dict[str, tuple[Callable[..., float], bool]] = {
    "mean_separation": (mean_separation, True),
    "min_separation": (min_separation, True),
    "centroid_separation": (centroid_separation, True),
    "min_centroid_separation": (min_centroid_separation, True),
    "mean_within": (mean_within, False),
    "diameter": (diameter, False),
    "mst_compactness": (mst_compactness_score, False),
}
"""Function of each of these numbers, and whether larger is better."""

BY_NAME = EXTENTS | {row.name: (row.function, row.greater_is_better) for row in INTERNAL}
"""Function of every internal index, and whether larger is better."""
