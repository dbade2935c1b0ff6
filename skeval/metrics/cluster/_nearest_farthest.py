"""Engine: the exact nearest pair between clusters and the exact diameter, below n^2 distances."""

from collections.abc import Iterator

import numpy as np
from joblib import effective_n_jobs
from scipy.spatial import cKDTree

from skeval.metrics.cluster._distances import squared_norms

__all__ = ["largest_diameter", "nearest_between"]

FIRST_BATCH = 1024
LEAF = 16
PAIRS_AT_ONCE = 2**13
SLACK = 1e-9  # bounds are rounded; a pair is dropped only when clearly below the best


def nearest_between(points: np.ndarray, cluster: np.ndarray, *, n_jobs: int | None = None) -> float:
    """Return the smallest distance between rows of different clusters; inf for one cluster.

    Two cluster numbers differ in some binary digit, so the nearest pair over the two sides of each
    digit, at most log2 K k-d trees, is the nearest pair of all. The best pair so far bounds every
    later query.
    """
    best = np.inf
    for digit in range(int(cluster.max()).bit_length()):
        side = (cluster >> digit) & 1 == 1
        few, many = sorted((points[side], points[~side]), key=len)
        best = _nearest(cKDTree(few), many, best, workers=effective_n_jobs(n_jobs))
    return float(best)


def _nearest(tree: cKDTree, queries: np.ndarray, best: float, *, workers: int) -> float:
    """Query in growing batches spread over the rows, so that the bound is tight early."""
    step, done = -(-len(queries) // FIRST_BATCH), 0
    spread = np.concatenate([np.arange(first, len(queries), step) for first in range(step)])
    while done < len(queries) and best > 0:
        batch = queries[spread[done : 2 * done + FIRST_BATCH]]
        distance, _ = tree.query(batch, distance_upper_bound=best, workers=workers)
        best, done = min(best, np.min(distance)), done + len(batch)
    return best


def largest_diameter(points: np.ndarray, members: list[slice]) -> float:
    """Return the largest distance within any cluster; 0 if all are singletons."""
    clusters = [points[rows] - points[rows].mean(axis=0) for rows in members]
    radii = [np.sqrt(squared_norms(cluster)) for cluster in clusters]
    best = 0.0
    for k in np.argsort([-radius.max() for radius in radii]):
        best = _diameter(clusters[k], radii[k], best)
    return best


def _diameter(points: np.ndarray, radii: np.ndarray, best: float) -> float:
    """Return the diameter if it is above `best`, else `best`.

    |a - b| <= |a| + |b|, so a point whose radius and the largest do not exceed the best pair
    cannot belong to a farther one.
    """
    if 2 * radii.max() <= best * (1 - SLACK):
        return best
    best = max(best, _sweep(points, int(radii.argmax())))
    outer = points[radii + radii.max() > best * (1 - SLACK)]
    return best if len(outer) < 2 else _BoxTree(outer).farthest(best)


def _sweep(points: np.ndarray, start: int) -> float:
    """Jump from a point to the farthest from it until that no longer gains: a good lower bound."""
    best = 0.0
    while True:
        squared = squared_norms(points - points[start])
        start = int(squared.argmax())
        if squared[start] <= best:
            return float(np.sqrt(best))
        best = squared[start]


class _BoxTree:
    """A balanced binary tree of bounding boxes, all levels held as arrays."""

    def __init__(self, points: np.ndarray) -> None:
        self.depth = max(0, int(np.ceil(np.log2(len(points) / LEAF))))
        n_leaves = 2**self.depth
        size = -(-len(points) // n_leaves)
        # repeats fill the leaves up: they change no largest distance
        cells = points[np.arange(n_leaves * size) % len(points)][None]
        self.low, self.high = [cells.min(axis=1)], [cells.max(axis=1)]
        for _ in range(self.depth):
            cells = _halved(cells)
            self.low.append(cells.min(axis=1))
            self.high.append(cells.max(axis=1))
        self.leaves = cells

    def farthest(self, best: float) -> float:
        """Return the larger of `best` and the farthest pair, by depth-first branch and bound."""
        root = np.zeros(1, dtype=np.intp)
        stack = [(0, root, root, np.array([np.inf]))]
        while stack:
            level, a, b, bound = stack.pop()
            hopeful = bound > best
            a, b = a[hopeful], b[hopeful]
            if level == self.depth:
                best = max(best, self._farthest_in_leaves(a, b))
            else:
                stack.extend(self._branches(level + 1, a, b, best))
        return best

    def _branches(
        self, level: int, a: np.ndarray, b: np.ndarray, best: float
    ) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
        """Yield the pairs of children that may hold a farther pair, the most hopeful last."""
        left = np.concatenate([2 * a, 2 * a, 2 * a + 1, (2 * a + 1)[a != b]])
        right = np.concatenate([2 * b, 2 * b + 1, 2 * b + 1, (2 * b)[a != b]])
        low, high = self.low[level], self.high[level]
        reach = np.maximum(high[left] - low[right], high[right] - low[left])
        bound = np.sqrt(squared_norms(reach)) * (1 + SLACK)
        keep = np.flatnonzero(bound > best)
        keep = keep[np.argsort(bound[keep])]
        for start in range(0, len(keep), PAIRS_AT_ONCE):
            chunk = keep[start : start + PAIRS_AT_ONCE]
            yield level, left[chunk], right[chunk], bound[chunk]

    def _farthest_in_leaves(self, a: np.ndarray, b: np.ndarray) -> float:
        best = 0.0
        for i in range(self.leaves.shape[1]):  # one point of each leaf against all of the other
            difference = self.leaves[a, i, None] - self.leaves[b]
            squared = np.einsum("mjp,mjp->mj", difference, difference)
            best = max(best, squared.max(initial=0.0))
        return float(np.sqrt(best))


def _halved(cells: np.ndarray) -> np.ndarray:
    """Cut each (m, p) cell at the median of its widest feature into two cells of m / 2."""
    widest = np.ptp(cells, axis=1).argmax(axis=1)
    keys = np.take_along_axis(cells, widest[:, None, None], axis=2)[..., 0]
    order = np.argpartition(keys, cells.shape[1] // 2, axis=1)
    cells = np.take_along_axis(cells, order[..., None], axis=1)
    return cells.reshape(2 * len(cells), -1, cells.shape[2])
