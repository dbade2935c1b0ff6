"""Nearest neighbours whose ties share the weights 1, 1/2, ..., 1/L of their ranks.

Equations: doc/derivations/neighbours.rst.
"""

import numpy as np
from joblib import Parallel, delayed
from scipy.spatial import cKDTree

from skeval.metrics.cluster._kernels.distance_pass import TILE_COLUMNS, TILE_ROWS, slices
from skeval.metrics.cluster._kernels.distances import Tiles

__all__ = ["ROUNDING", "foreign_weight_by_tiles", "foreign_weight_by_tree", "neighbour_reach"]

TIED = 1e-10  # relative difference below which distances are equal but for rounding (eq. 3)
ROUNDING = 1e-14  # what a metric may give between equal points, relative to the largest distance
NUMBERS_AT_ONCE = 2**21  # distances held at a time
LEAF = 100  # places in a leaf of a k-d tree
BOUND_SAMPLE = 1024  # columns whose L-th smallest distance bounds that of the whole row
REACH_SAMPLE = 64  # the same for neighbour_reach
MANY_TIES = 4  # times as many candidates as expected without ties: then ties are counted (eq. 8)


def neighbour_reach(tiles: Tiles, n: int, L: int) -> np.ndarray:
    """Return (n,) distances within which each row has L others and all that tie with them (eq. 4).

    They come from a few rows next in sorted order, and so may be larger than necessary.
    """
    reach, few = np.empty(n), max(REACH_SAMPLE, 4 * L)
    for rows in slices(n, TILE_ROWS):
        first = max(0, min(rows.start, n - few))
        block = tiles(rows)(slice(first, min(first + few, n)))  # (r, few)
        # The L-th smallest besides the row itself, which may be among them (eq. 4).
        reach[rows] = np.partition(block, L, axis=1)[:, L]
        reach[rows] += ROUNDING * block.max()
    return reach * (1 + TIED)


def foreign_weight_by_tree(
    points: np.ndarray, cluster: np.ndarray, rows: np.ndarray, L: int, *, n_jobs: int
) -> float:
    """Sum the weights of those L nearest neighbours of `rows` that lie in another cluster (eq. 1).

    The tree is asked once for each place and cluster, for more places until they suffice (eq. 7).
    """
    tree = _PlaceTree(points, cluster, n_jobs=n_jobs)
    asked, times = np.unique(tree.key[rows], return_counts=True)  # both (q,)
    # The first query is for the place itself, L others and one beyond them.
    k, left, total = L + 2, np.arange(len(asked)), 0.0
    while len(left):
        k = min(k, len(tree.places))
        incomplete = []
        for chunk in slices(len(left), max(1, NUMBERS_AT_ONCE // k)):
            batch = left[chunk]
            row, weight, complete = tree.foreign_weights(asked[batch], k, L)
            total += float(np.sum(weight * times[batch][row]))
            incomplete.append(batch[~complete])
        left, k = np.concatenate(incomplete), 2 * k
    return total


class _PlaceTree:
    """A k-d tree of the places, the m different rows, and what lies at each of them.

    places (m, p). copies (m,): the samples at each place. key (n,): place and cluster of each
    sample as one number, place * K + cluster. held, n_held: the keys that occur, sorted, and the
    number of samples that have them.
    """

    def __init__(self, points: np.ndarray, cluster: np.ndarray, *, n_jobs: int) -> None:
        self.places, place = _distinct(points)
        self.tree = cKDTree(self.places, leafsize=LEAF)
        self.n_clusters, self.n_jobs = int(cluster.max()) + 1, n_jobs
        self.copies = np.bincount(place)
        self.key = place * self.n_clusters + cluster
        self.held, self.n_held = np.unique(self.key, return_counts=True)

    def foreign_weights(
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
        others = self.copies[neighbour] - (neighbour == at[:, None])  # eq. 6, left
        count = others.cumsum(axis=1)
        last = np.minimum((count < L).sum(axis=1), k - 1)  # the place that holds the L-th
        reach = distance[np.arange(len(asked)), last] * (1 + TIED)
        complete = (count[:, -1] >= L) & (distance[:, -1] > reach)  # eq. 7
        complete |= k == len(self.places)
        i, j = np.nonzero((distance <= reach[:, None]) & (others > 0) & complete[:, None])
        there = neighbour[i, j]
        foreign = self.copies[there] - self._held_by(there * self.n_clusters + cluster[i])  # eq. 6
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


def foreign_weight_by_tiles(
    tiles: Tiles,
    cluster: np.ndarray,
    wanted: np.ndarray,
    L: int,
    *,
    rounding: float = ROUNDING,
    n_jobs: int | None = None,
) -> float:
    """Return the same sum from whole rows of the distance matrix, over the (n,) wanted rows.

    Strips without a wanted row are skipped. The others are summed whole: rows that are not wanted
    add 0 (eq. 5). Distances up to `rounding`, relative to the largest of the row, are 0.
    """
    height = min(TILE_ROWS, max(1, NUMBERS_AT_ONCE // len(cluster)))
    strips = [strip for strip in slices(len(cluster), height) if wanted[strip].any()]
    weights = Parallel(n_jobs, require="sharedmem")(
        delayed(_weigh_strip)(tiles, cluster, strip, L, rounding) for strip in strips
    )
    return float(sum(weights))


def _weigh_strip(tiles: Tiles, cluster: np.ndarray, strip: slice, L: int, rounding: float) -> float:
    n, block = len(cluster), tiles(strip)
    distance = np.concatenate([block(part) for part in slices(n, TILE_COLUMNS)], axis=1)  # (r, n)
    distance[distance <= rounding * distance.max(axis=1, keepdims=True)] = 0.0
    distance[np.arange(len(distance)), np.arange(strip.start, strip.stop)] = np.inf
    step = max(1, n // max(BOUND_SAMPLE, 4 * L))
    reach = np.partition(distance[:, ::step], L - 1, axis=1)[:, L - 1] * (1 + TIED)  # eq. 4, (r,)
    near, foreign = distance <= reach[:, None], cluster != cluster[strip, None]  # both (r, n)
    many = np.count_nonzero(near, axis=1) > MANY_TIES * max(L * step, BOUND_SAMPLE)  # (r,)
    i, j = np.nonzero(near & ~many[:, None])
    weight = shared_weights(i, distance[i, j], np.ones(len(i), np.intp), L) @ foreign[i, j]
    return float(weight) + _weigh_many_ties(distance[many], foreign[many], L)


def _weigh_many_ties(distance: np.ndarray, foreign: np.ndarray, L: int) -> float:
    """Return the sum over (r, n) rows with many candidates, the tied ones counted (eq. 8)."""
    if not len(distance):
        return 0.0
    nearest = np.sort(np.partition(distance, L - 1, axis=1)[:, :L], axis=1)  # (r, L)
    steps = np.ones(nearest.shape, dtype=bool)  # where a distance does not tie with the one before
    steps[:, 1:] = nearest[:, 1:] > nearest[:, :-1] * (1 + TIED)
    first = L - 1 - steps[:, ::-1].argmax(axis=1)  # (r,): f of eq. 8, from 0
    lowest = nearest[np.arange(len(distance)), first][:, None]
    tied = (distance >= lowest) & (distance <= nearest[:, -1:] * (1 + TIED))
    i, j = np.nonzero(distance < lowest)
    # one entry for each nearer neighbour, and one for each row that stands for all tied ones
    row = np.concatenate([i, np.arange(len(distance))])
    reached = np.concatenate([distance[i, j], nearest[:, -1]])
    copies = np.concatenate([np.ones(len(i), np.intp), tied.sum(axis=1)])
    n_foreign = np.concatenate([foreign[i, j], (tied & foreign).sum(axis=1)])
    return float(shared_weights(row, reached, copies, L) @ n_foreign)


def shared_weights(row: np.ndarray, distance: np.ndarray, copies: np.ndarray, L: int) -> np.ndarray:
    """Return the (m,) weights of m neighbours, shared among ties (eq. 2).

    The neighbours of a row must hold its L nearest and all that tie with the L-th; an entry may
    stand for several copies, each of which has the weight.
    """
    if not len(row):
        return np.empty(0)
    order = np.lexsort((distance, row))
    row, distance, copies = row[order], distance[order], copies[order]
    new_row = np.append(True, row[1:] != row[:-1])
    new_tie = new_row | np.append(True, distance[1:] > distance[:-1] * (1 + TIED))  # eq. 3
    first, tie = np.flatnonzero(new_row), np.flatnonzero(new_tie)
    total = np.cumsum(copies)
    rank = total - (total - copies)[first][np.cumsum(new_row) - 1]  # of the last copy
    end = rank[np.append(tie[1:], len(row)) - 1]  # b of eq. 2, for each tie
    begin = rank[tie] - copies[tie]  # a of eq. 2
    harmonic = np.append(0.0, np.cumsum(1.0 / np.arange(1, L + 1)))  # H_0 to H_L
    mean = (harmonic[np.minimum(end, L)] - harmonic[np.minimum(begin, L)]) / (end - begin)
    shared = np.empty(len(row))
    shared[order] = mean[np.cumsum(new_tie) - 1]
    return shared
