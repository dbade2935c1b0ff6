"""What internal indices need of all pairs: one pass, and no more than is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from skeval.metrics.cluster._connectivity import connectivity_by_tree, connectivity_from_pass
from skeval.metrics.cluster._dunn import dunn_ratio, extremes_by_bounds
from skeval.metrics.cluster._kernels.distance_pass import (
    ClusterSums,
    Reductions,
    add_to_totals,
    mean_between,
    mean_within,
    within_pass,
)
from skeval.metrics.cluster._samples import Samples
from skeval.metrics.cluster._silhouette import silhouettes

__all__ = ["FROM_PAIRS", "compute_from_pairs", "compute_without_pass"]

SILHOUETTES = {"silhouette", "silhouette_samples"}
WITHIN = {"mean_within", "max_within", "davies_bouldin_pairwise"}
SUMS = SILHOUETTES | {"mean_within", "mean_between", "davies_bouldin_pairwise"}
EXTREMES = {"dunn", "max_within", "min_between"}
FROM_PAIRS = SUMS | EXTREMES | {"connectivity"}


def compute_without_pass(
    samples: Samples, asked: set[str], n_neighbors: int, *, n_jobs: int | None
) -> dict[str, Any]:
    """Return those of Dunn and connectivity that are asked for and that trees and bounds give."""
    found = {}
    if "dunn" in asked:
        extremes = extremes_by_bounds(samples, n_jobs=n_jobs)
        if extremes is not None:
            found["dunn"] = dunn_ratio(*extremes)
    if "connectivity" in asked:
        connectivity = connectivity_by_tree(samples, n_neighbors, n_jobs=n_jobs)
        if connectivity is not None:
            found["connectivity"] = connectivity
    return found


def compute_from_pairs(
    samples: Samples, asked: set[str], n_neighbors: int, *, n_jobs: int | None
) -> dict[str, Any]:
    """Return what is asked for and comes from pairs, by name.

    For davies_bouldin it is the dispersion, mean_within.
    """
    asked, found = asked & FROM_PAIRS, {}
    if asked <= {"dunn", "connectivity"}:
        found = compute_without_pass(samples, asked, n_neighbors, n_jobs=n_jobs)
        asked -= set(found)
    if not asked:
        return found
    if asked <= WITHIN:
        totals, largest = within_pass(samples.tiles, samples.partition.members, n_jobs=n_jobs)
        return {"mean_within": mean_within(totals, samples.partition.sizes), "max_within": largest}
    reduced, strips = samples.reduce_distances(
        sums=bool(asked & SUMS),
        extremes=bool(asked & EXTREMES),
        by_pair="min_between" in asked,
        n_neighbors=n_neighbors if "connectivity" in asked else 0,
        n_jobs=n_jobs,
    )
    if asked & SUMS:
        found |= _reduce_sums(samples, strips, with_silhouettes=bool(asked & SILHOUETTES))
    if asked & EXTREMES:
        found |= _read_extremes(reduced, with_dunn="dunn" in asked)
    if "connectivity" in asked:
        nearest = reduced.nearest
        found["connectivity"] = connectivity_from_pass(samples, nearest, n_neighbors, n_jobs=n_jobs)
    return found


def _reduce_sums(
    samples: Samples, strips: ClusterSums, *, with_silhouettes: bool
) -> dict[str, Any]:
    partition = samples.partition
    K, silhouette = partition.n_clusters, np.empty(partition.n_samples)
    totals = np.zeros((K, K))
    for rows, sums in strips:
        if with_silhouettes:
            silhouette[rows] = silhouettes(sums, partition, rows)
        add_to_totals(totals, sums, rows, partition.starts)
    found: dict[str, Any] = {"mean_within": mean_within(np.diagonal(totals) / 2, partition.sizes)}
    found["mean_between"] = mean_between(totals, partition.sizes)
    if with_silhouettes:
        found["silhouette"] = float(silhouette.mean())
        found["silhouette_samples"] = partition.unsort(silhouette)
    return found


def _read_extremes(reduced: Reductions, *, with_dunn: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"max_within": reduced.largest, "min_between": reduced.smallest}
    if with_dunn:  # which warns where it is undefined
        found["dunn"] = dunn_ratio(float(reduced.smallest.min()), float(reduced.largest.max()))
    np.fill_diagonal(reduced.smallest, np.nan)
    return found
