"""Exact nearest pair between clusters and exact diameter without all n^2 distances.

Equations: doc/derivations/nearest_farthest.rst.
"""

from __future__ import annotations

import numpy as np
from joblib import effective_n_jobs
from scipy.spatial import cKDTree

from skeval.metrics.cluster._kernels import distance_pass
from skeval.metrics.cluster._kernels.distance_pass import PILOT, TILE_COLUMNS, TILE_ROWS, VISIT_COST
from skeval.metrics.cluster._kernels.distances import (
    Samples,
    left_operands,
    multiply,
    operands,
    squared_norms,
)

FIRST_BATCH = 1024  # number of queries before the bound is used
SLACK = 1e-9  # relative slack of bounds, for rounding


def nearest_between(
    points: np.ndarray, cluster: np.ndarray, *, budget: float = np.inf, n_jobs: int | None = None
) -> float | None:
    """Return the smallest distance between rows of different clusters; inf for one cluster.

    Each binary digit of the (n,) cluster numbers divides the points into two sides; the nearest
    pair between sides over all digits is the nearest pair (eq. 2). The result is None if a search
    visits more points than the budget, on average over a sample (eq. 10).
    """
    best, n_digits = np.inf, int(cluster.max()).bit_length()
    for digit in range(n_digits):  # eq. 2
        side = (cluster >> digit) & 1 == 1  # (n,)
        smaller, larger = sorted((points[side], points[~side]), key=len)
        search = _Search(cKDTree(smaller), larger, workers=effective_n_jobs(n_jobs))
        best = search.first(best)
        if best > 0 and search.n_visited(best) * n_digits > budget:
            return None
        best = search.rest(best)
    return float(best)


def extremes_by_bounds(samples: Samples) -> tuple[float, float] | None:
    """Return the nearest pair and the diameter; None if bounds do not prune."""
    if not samples.is_dense_euclidean:
        return None
    partition, points = samples.partition, samples.points
    budget = partition.n_samples / VISIT_COST
    nearest = nearest_between(points, partition.cluster, budget=budget, n_jobs=samples.n_jobs)
    return None if nearest is None else (nearest, largest_diameter(points, partition.members))


class _Search:
    """Nearest pair of a tree and (q, p) queries, in batches spread over their rows."""

    def __init__(self, tree: cKDTree, queries: np.ndarray, *, workers: int) -> None:
        step = -(-len(queries) // FIRST_BATCH)
        spread = [np.arange(first, len(queries), step) for first in range(step)]
        self.tree, self.workers = tree, workers
        self.queries, self.spread = queries, np.concatenate(spread)

    def first(self, best: float) -> float:
        """Return the smaller of `best` and the nearest pair of a first, small batch."""
        return self._query(best, slice(0, FIRST_BATCH))

    def n_visited(self, best: float) -> float:
        """Return the number of points visited by a search within `best`."""
        some = self.queries[self.spread[:: -(-len(self.spread) // PILOT)]]
        return distance_pass.points_visited(self.tree, some, best)

    def rest(self, best: float) -> float:
        """Query in growing batches, so that the bound of eq. 3 is tight early."""
        done = FIRST_BATCH
        while done < len(self.spread) and best > 0:
            best, done = self._query(best, slice(done, 2 * done)), 2 * done
        return best

    def _query(self, best: float, batch: slice) -> float:
        points, bound = self.queries[self.spread[batch]], {"distance_upper_bound": best}
        distance, _ = self.tree.query(points, workers=self.workers, **bound)  # eq. 3
        return min(best, float(np.min(distance)))


def largest_diameter(points: np.ndarray, members: list[slice]) -> float:
    """Return the largest distance within any cluster (eq. 4); 0 if all are singletons."""
    clusters = [points[rows] - points[rows].mean(axis=0) for rows in members]
    radii = [np.sqrt(squared_norms(cluster)) for cluster in clusters]
    best = 0.0
    for k in np.argsort([-radius.max() for radius in radii]):  # largest 2 R of eq. 5 first
        best = _diameter(clusters[k], radii[k], best)
    return best


def _diameter(points: np.ndarray, radii: np.ndarray, best: float) -> float:
    """Return the larger of `best` and the diameter of centered (m, p) points with (m,) norms."""
    if 2 * radii.max() <= best * (1 - SLACK):  # eq. 6, left
        return best
    best = max(best, _sweep(points, int(radii.argmax())))
    outer = points[radii + radii.max() > best * (1 - SLACK)]  # eq. 6, right
    return max(best, _farthest_of_all(outer)) if len(outer) > 1 else best


def _farthest_of_all(points: np.ndarray) -> float:
    """Return the distance of the farthest pair, by products of centered points (eq. 8)."""
    right = operands(points.T, points.mean(axis=0))
    left, largest, pair = left_operands(right), -1.0, (0, 0)
    for rows in distance_pass.slices(len(points), TILE_ROWS):
        for columns in distance_pass.slices(len(points), TILE_COLUMNS, start=rows.start):
            squared = multiply(left[rows], right[:, columns])  # its error: eq. 8
            i, j = np.unravel_index(squared.argmax(), squared.shape)
            if squared[i, j] > largest:
                largest, pair = squared[i, j], (rows.start + i, columns.start + j)
    return float(np.linalg.norm(points[pair[0]] - points[pair[1]]))


def _sweep(points: np.ndarray, start: int) -> float:
    """Move repeatedly to the farthest point until the distance stops growing (eq. 7)."""
    best = 0.0
    while True:
        squared = squared_norms(points - points[start])  # eq. 7
        start = int(squared.argmax())
        if squared[start] <= best:
            return float(np.sqrt(best))
        best = squared[start]
