"""Nearest neighbours by a k-d tree of the different rows, and how much such a tree spares.

Equations: doc/derivations/neighbours.rst.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from skeval.metrics.cluster._kernels.distance_pass import slices
from skeval.metrics.cluster._kernels.euclidean import squared_norms
from skeval.metrics.cluster._kernels.neighbours import TIED, shared_weights

__all__ = ["PILOT", "VISIT_COST", "PlaceTree", "points_visited"]

NUMBERS_AT_ONCE = 2**21  # distances held at a time
LEAF = 100  # places in a leaf of a k-d tree
PILOT = 64  # places, at most, whose searches tell what a tree spares
VISIT_COST = 4  # cost of a point that a search looks at, in units of a pair of rows in the pass


class PlaceTree:
    """A k-d tree of the places, the m different rows, and what lies at each of them.

    places (m, p). copies (m,): the samples at each place. held, n_held: the keys that occur, place
    and cluster as one number, place * K + cluster, sorted, and the number of samples of each.
    """

    def __init__(self, points: np.ndarray, cluster: np.ndarray, *, n_jobs: int) -> None:
        self.places, place = _distinct(points)
        self.tree = cKDTree(self.places, leafsize=LEAF)
        self.n_clusters, self.n_jobs = int(cluster.max()) + 1, n_jobs
        self.copies = np.bincount(place)
        key = place * self.n_clusters + cluster
        self.held, self.n_held = np.unique(key, return_counts=True)

    def prunes(self, L: int) -> bool:
        """Tell, from a sample of places, whether the tree looks at few enough points (eq. 9)."""
        m = len(self.places)
        some = self.places[:: -(-m // PILOT)]
        k = min(L + 1, m)
        radius = np.reshape(self.tree.query(some, [k])[0], -1)
        return VISIT_COST * points_visited(self.tree, some, radius) <= self.copies.sum()

    def foreign_weight(self, L: int) -> float:
        """Sum the weights of those L nearest neighbours that lie in another cluster (eq. 1).

        The tree is asked once for each place and cluster, for more places until they suffice
        (eq. 8).
        """
        # The first query is for the place itself, L others and one beyond them.
        k, left, total = L + 2, np.arange(len(self.held)), 0.0
        while len(left):
            k = min(k, len(self.places))
            incomplete = []
            for chunk in slices(len(left), max(1, NUMBERS_AT_ONCE // k)):
                batch = left[chunk]
                row, weight, complete = self._foreign_weights(self.held[batch], k, L)
                total += float(np.sum(weight * self.n_held[batch][row]))
                incomplete.append(batch[~complete])
            left, k = np.concatenate(incomplete), 2 * k
        return total

    def _foreign_weights(
        self, asked: np.ndarray, k: int, L: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return, for b keys, the weights of neighbours among the k nearest places.

        An entry for each place near enough: the number of its key, 0 to b - 1, and the weight of
        the samples there that lie in another cluster. The third array (b,) tells for which keys
        the places suffice; the others have no entries.
        """
        at, cluster = np.divmod(asked, self.n_clusters)
        found = self.tree.query(self.places[at], k, workers=self.n_jobs)
        distance, neighbour = (np.reshape(part, (len(asked), k)) for part in found)  # (b, k)
        others = self.copies[neighbour] - (neighbour == at[:, None])  # eq. 7, left
        count = others.cumsum(axis=1)
        last = np.minimum((count < L).sum(axis=1), k - 1)  # the place that holds the L-th
        reach = distance[np.arange(len(asked)), last] * (1 + TIED)
        complete = (count[:, -1] >= L) & (distance[:, -1] > reach)  # eq. 8
        complete |= k == len(self.places)
        i, j = np.nonzero((distance <= reach[:, None]) & (others > 0) & complete[:, None])
        there = neighbour[i, j]
        foreign = self.copies[there] - self._held_by(there * self.n_clusters + cluster[i])  # eq. 7
        return i, shared_weights(i, distance[i, j], others[i, j], L) * foreign, complete

    def _held_by(self, key: np.ndarray) -> np.ndarray:
        """Return the number of samples that have each key."""
        position = np.minimum(np.searchsorted(self.held, key), len(self.held) - 1)
        return np.where(self.held[position] == key, self.n_held[position], 0)


def _distinct(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the m different rows (m, p), and for each row which of them it is (n,)."""
    order = np.lexsort(points.T)
    ordered = points[order]
    new = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))
    place = np.empty(len(points), dtype=np.intp)
    place[order] = np.cumsum(new) - 1
    return ordered[new], place


def points_visited(tree: cKDTree, queries: np.ndarray, radius: np.ndarray | float) -> float:
    """Return how many points lie, on average, in the leaves that a ball around a query meets.

    Each entry of the stack is a node, the (m,) queries whose balls reach its cell, and their (m, p)
    offsets from that cell.
    """
    radius, total = np.broadcast_to(radius, len(queries)), 0
    offset = np.maximum(np.maximum(tree.mins - queries, queries - tree.maxes), 0.0)
    stack = [(tree.tree, np.arange(len(queries)), offset)]
    while stack:
        node, rows, offset = stack.pop()
        near = squared_norms(offset) <= radius[rows] ** 2
        rows, offset = rows[near], offset[near]
        if not len(rows):
            continue
        if node.split_dim < 0:
            total += node.children * len(rows)
            continue
        beyond = queries[rows, node.split_dim] - node.split
        for child, distance in ((node.lesser, beyond), (node.greater, -beyond)):
            farther = offset.copy()
            np.maximum(farther[:, node.split_dim], distance, out=farther[:, node.split_dim])
            stack.append((child, rows, farther))
    return total / len(queries)
