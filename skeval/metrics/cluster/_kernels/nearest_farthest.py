"""Exact nearest pair between clusters and exact diameter without all n^2 distances.

Equations: doc/derivations/nearest_farthest.rst.
"""

from __future__ import annotations

from collections.abc import Iterator

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
LEAF = 16  # maximum number of points in a leaf
PAIRS_AT_ONCE = 2**13  # pairs of boxes per block
LEAF_COST = 16  # cost of a pair of leaves, in units of a pair of boxes
PAIRS_PER_BOX = 128  # distances by matrix products that cost as much as a pair of boxes
SLACK = 1e-9  # relative slack of bounds, for rounding


def nearest_between(
    points: np.ndarray, cluster: np.ndarray, *, budget: float = np.inf, n_jobs: int | None = None
) -> float | None:
    """Return the smallest distance between rows of different clusters; inf for one cluster.

    Each binary digit of the (n,) cluster numbers divides the points into two sides; the nearest
    pair between sides over all digits is the nearest pair (eq. 2). The result is None if a search
    visits more points than the budget, on average over a sample (eq. 11).
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
    if len(outer) < 2:
        return best
    farther = _BoxTree(outer).farthest(best, budget=len(outer) ** 2 // PAIRS_PER_BOX)
    return max(best, _farthest_of_all(outer)) if farther is None else farther


def _farthest_of_all(points: np.ndarray) -> float:
    """Return the distance of the farthest pair, by products of centered points (eq. 9)."""
    right = operands(points.T, points.mean(axis=0))
    left, largest, pair = left_operands(right), -1.0, (0, 0)
    for rows in distance_pass.slices(len(points), TILE_ROWS):
        for columns in distance_pass.slices(len(points), TILE_COLUMNS, start=rows.start):
            squared = multiply(left[rows], right[:, columns])  # its error: eq. 9
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


class _BoxTree:
    """Balanced binary tree of bounding boxes; box b has the children 2b and 2b + 1.

    low, high: for each level, from the root, the (2^level, p) corners of its boxes. leaves
    (2^depth, size, p): the points of each leaf.
    """

    def __init__(self, points: np.ndarray) -> None:
        self.depth = max(0, int(np.ceil(np.log2(len(points) / LEAF))))
        n_leaves = 2**self.depth
        size = -(-len(points) // n_leaves)
        # fill the leaves with repeated points, which do not change the largest distance
        cells = points[np.arange(n_leaves * size) % len(points)][None]  # (boxes, points in each, p)
        self.low, self.high = [cells.min(axis=1)], [cells.max(axis=1)]
        for _ in range(self.depth):
            cells = _halve_cells(cells)
            self.low.append(cells.min(axis=1))
            self.high.append(cells.max(axis=1))
        self.leaves = cells

    def farthest(self, best: float, *, budget: float = np.inf) -> float | None:
        """Return the larger of `best` and the farthest pair, by depth-first branch and bound.

        The result is None if it needs more than `budget` pairs of boxes, because the bounds exclude
        too few. An entry of the stack is a level, (m,) boxes a and b of that level, and their (m,)
        bounds.
        """
        root = np.zeros(1, dtype=np.intp)
        stack = [(0, root, root, np.array([np.inf]))]
        while stack:
            level, a, b, bound = stack.pop()
            above = bound > best  # `best` may have grown since these pairs were added
            a, b = a[above], b[above]
            budget -= len(a) * (LEAF_COST if level == self.depth else 1)
            if budget < 0:
                return None
            if level == self.depth:
                best = max(best, self._farthest_in_leaves(a, b))
            else:
                stack.extend(self._branches(level + 1, a, b, best))
        return best

    def _branches(
        self, level: int, a: np.ndarray, b: np.ndarray, best: float
    ) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
        """Yield the pairs of children that may contain a farther pair, largest bounds last."""
        left = np.concatenate([2 * a, 2 * a, 2 * a + 1, (2 * a + 1)[a != b]])
        right = np.concatenate([2 * b, 2 * b + 1, 2 * b + 1, (2 * b)[a != b]])
        low, high = self.low[level], self.high[level]
        extent = np.maximum(high[left] - low[right], high[right] - low[left])  # (m, p)
        bound = np.sqrt(squared_norms(extent)) * (1 + SLACK)  # eq. 8
        keep = np.flatnonzero(bound > best)
        keep = keep[np.argsort(bound[keep])]
        for start in range(0, len(keep), PAIRS_AT_ONCE):
            chunk = keep[start : start + PAIRS_AT_ONCE]
            yield level, left[chunk], right[chunk], bound[chunk]

    def _farthest_in_leaves(self, a: np.ndarray, b: np.ndarray) -> float:
        """Return the largest distance between the points of leaves a and b, both (m,)."""
        best = 0.0
        for i in range(self.leaves.shape[1]):  # compare point i of leaf a with all points of leaf b
            difference = self.leaves[a, i, None] - self.leaves[b]  # (m, size, p)
            squared = np.einsum("mjp,mjp->mj", difference, difference)  # (m, size)
            best = max(best, squared.max(initial=0.0))
        return float(np.sqrt(best))


def _halve_cells(cells: np.ndarray) -> np.ndarray:
    """Split each (m, p) cell at the median of its widest feature into two halves."""
    widest = np.ptp(cells, axis=1).argmax(axis=1)
    keys = np.take_along_axis(cells, widest[:, None, None], axis=2)[..., 0]
    order = np.argpartition(keys, cells.shape[1] // 2, axis=1)
    cells = np.take_along_axis(cells, order[..., None], axis=1)
    return cells.reshape(2 * len(cells), -1, cells.shape[2])
