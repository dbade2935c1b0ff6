"""Engine: nearest neighbours whose ties share the weights 1, 1/2, ..., 1/L of their ranks."""

import numpy as np
from joblib import Parallel, delayed
from scipy.spatial import cKDTree

from skeval.metrics.cluster._distance_pass import TILE_COLUMNS, TILE_ROWS, slices
from skeval.metrics.cluster._distances import Tiles

__all__ = ["foreign_weight_by_tiles", "foreign_weight_by_tree", "neighbour_reach"]

TIED = 1e-10  # distances that differ by less, relatively, are equal but for rounding
ROUNDING = 1e-14  # of the largest distance; what a metric may give between equal points
NUMBERS_AT_ONCE = 2**21
LEAF = 100
BOUND_SAMPLE = 1024
REACH_SAMPLE = 64


def neighbour_reach(tiles: Tiles, n: int, L: int) -> np.ndarray:
    """Return, for each of n rows, a distance that holds L others and all that tie with them.

    It comes from a few rows next in sorted order, so it errs on the far side.
    """
    reach, few = np.empty(n), max(REACH_SAMPLE, 4 * L)
    for rows in slices(n, TILE_ROWS):
        first = max(0, min(rows.start, n - few))
        block = tiles(rows)(slice(first, min(first + few, n)))
        reach[rows] = np.partition(block, L, axis=1)[:, L]  # one of them may be the row itself
        reach[rows] += ROUNDING * block.max()
    return reach * (1 + TIED)


def foreign_weight_by_tree(
    points: np.ndarray, cluster: np.ndarray, rows: np.ndarray, L: int, *, n_jobs: int
) -> float:
    """Sum the weights of those L nearest neighbours of `rows` that lie in another cluster."""
    tree, total = cKDTree(points, leafsize=LEAF), 0.0
    k = L + 2  # the row itself, L others, one to see a tie
    while len(rows):
        k = min(k, len(points))
        tied = []
        for chunk in slices(len(rows), max(1, NUMBERS_AT_ONCE // k)):
            batch = rows[chunk]
            distance, neighbour = map(np.asarray, tree.query(points[batch], k, workers=n_jobs))
            reach = distance[:, L] * (1 + TIED)  # the 0th is the row itself or its duplicate
            complete = (distance[:, -1] > reach) | (k == len(points))
            near = (distance <= reach[:, None]) & (neighbour != batch[:, None])
            i, j = np.nonzero(near & complete[:, None])
            foreign = cluster[neighbour[i, j]] != cluster[batch[i]]
            total += float(shared_weights(i, distance[i, j], L) @ foreign)
            tied.append(batch[~complete])
        rows, k = np.concatenate(tied), 2 * k
    return total


def foreign_weight_by_tiles(
    tiles: Tiles, cluster: np.ndarray, wanted: np.ndarray, L: int, *, n_jobs: int | None = None
) -> float:
    """Do the same from whole rows of the distance matrix; strips of unwanted rows are skipped.

    The unwanted are rows known to have no such neighbour, so that they may be summed as well.
    """
    height = min(TILE_ROWS, max(1, NUMBERS_AT_ONCE // len(cluster)))
    strips = [strip for strip in slices(len(cluster), height) if wanted[strip].any()]
    weights = Parallel(n_jobs, require="sharedmem")(
        delayed(_strip_weight)(tiles, cluster, strip, L) for strip in strips
    )
    return float(sum(weights))


def _strip_weight(tiles: Tiles, cluster: np.ndarray, strip: slice, L: int) -> float:
    n, block = len(cluster), tiles(strip)
    distance = np.concatenate([block(part) for part in slices(n, TILE_COLUMNS)], axis=1)
    distance[distance <= ROUNDING * distance.max(axis=1, keepdims=True)] = 0.0
    distance[np.arange(len(distance)), np.arange(strip.start, strip.stop)] = np.inf
    step = max(1, n // max(BOUND_SAMPLE, 4 * L))  # any L others bound the L-th distance
    reach = np.partition(distance[:, ::step], L - 1, axis=1)[:, L - 1] * (1 + TIED)
    i, j = np.nonzero(distance <= reach[:, None])
    return float(shared_weights(i, distance[i, j], L) @ (cluster[j] != cluster[strip][i]))


def shared_weights(row: np.ndarray, distance: np.ndarray, L: int) -> np.ndarray:
    """Return the weight of each neighbour: 1 / rank up to rank L, then 0, the mean among ties.

    The neighbours of a row must hold its L nearest and all that tie with the L-th.
    """
    if not len(row):
        return np.empty(0)
    order = np.lexsort((distance, row))
    row, distance = row[order], distance[order]
    new_row = np.append(True, row[1:] != row[:-1])
    new_tie = new_row | np.append(True, distance[1:] > distance[:-1] * (1 + TIED))
    first, tie = np.flatnonzero(new_row), np.flatnonzero(new_tie)
    rank = 1 + np.arange(len(row)) - first[np.cumsum(new_row) - 1]
    weight = np.where(rank <= L, 1.0 / rank, 0.0)
    mean = np.add.reduceat(weight, tie) / np.diff(tie, append=len(row))
    shared = np.empty(len(row))
    shared[order] = mean[np.cumsum(new_tie) - 1]
    return shared
