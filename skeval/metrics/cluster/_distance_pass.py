"""Tiled pass over the upper triangle of a distance matrix with rows sorted by cluster.

Pairwise indices are reductions of this matrix by cluster, that is, sums, largest and smallest
entries. The unit of work is a strip of rows. Strips are gathered in order, so results do not
depend on the number of threads. `measure_rows` uses a sample of the rows of each cluster. The
module ends with nearest neighbors, which the pass or a tree computes. The equations are in
doc/derivations/distance_pass.rst.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy.spatial import cKDTree

from skeval.metrics.cluster import _distances
from skeval.metrics.cluster._distances import Samples

STRIP_NUMBERS = 2**18  # distances of a strip of rows
NUMBERS_AT_ONCE = 2**20  # distances of whole rows stored at a time
TABLE_NUMBERS = 2**24  # 128 MB: larger (K, n) sums are computed strip by strip
WITHIN = {"mean_within", "max_within"}
SUMS = {"silhouette_samples", "mean_within", "mean_between"}
EXTREMES = {"extremes", "max_within", "min_between"}
PRUNED = {"extremes", "connectivity"}
"""Quantities that trees and bounds may provide without a pass."""
FROM_PAIRS = SUMS | EXTREMES | PRUNED
"""Quantities of `measure` that need pairwise distances."""
ClusterSums = Iterable[tuple[slice, np.ndarray]]
"""Slices of sorted rows, and the (K, r) sums of their distances to each cluster (eq. 1)."""


def distance_pass(
    tiles: _distances.Tiles,
    starts: np.ndarray,
    n: int,
    *,
    sums: bool = True,
    extremes: bool = True,
    by_pair: bool = True,
    nearest: Nearest | None = None,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Reduce the distance matrix of `n` sorted rows in `K` clusters, and collect neighbors.

    Return the sums (K, n) of the distances from each row to each cluster (eq. 1), the diameters
    (K,) (eq. 2), and the nearest pairs (K, K) of two clusters, inf on the diagonal (eq. 3). Sums
    and extremes that are not requested keep their initial values. Without `by_pair`, the nearest
    pair over all pairs of clusters is a (1, 1) table. An empty `nearest` receives the neighbors of
    all rows (eq. 4).
    """
    K, stops = len(starts), np.append(starts[1:], n)
    total, largest = np.zeros((K, n if sums else 0)), np.zeros(K)
    smallest = np.full((K, K) if extremes and by_pair else (1, 1), np.inf)
    if not (sums or extremes or nearest is not None):
        return total, largest, smallest
    if nearest is not None:
        nearest.bound(tiles)

    def reduce(k: int, rows: slice) -> tuple[int, slice, dict[str, Any]]:
        """Reduce the distances from some rows of cluster k to themselves and to all later rows."""
        block = tiles(rows)(slice(rows.start, n))  # (r, c)
        n_rows, own = rows.stop - rows.start, stops[k] - rows.start
        later = np.maximum(starts[k:] - rows.start, 0)  # first column of each cluster
        found: dict[str, Any] = {}
        if sums:  # both halves of the pairs (eq. 6)
            found["row_sums"] = np.add.reduceat(block, later, axis=1).T
            found["column_sums"] = block[:, n_rows:].sum(axis=0)
        if extremes:  # eq. 2 and 3
            found["largest"] = block[:, :own].max()
            if k + 1 < K:
                minima = block[:, own:].min(axis=0)
                found["smallest"] = np.minimum.reduceat(minima, later[1:] - own)
        if nearest is not None:
            found["nearest"] = nearest.look(block, rows)
        return k, rows, found

    # strips of rows, gathered in order
    parallel = Parallel(n_jobs, require="sharedmem", return_as="generator")
    strips = cut_strips(starts.tolist(), stops.tolist())
    for k, rows, found in parallel(delayed(reduce)(k, rows) for k, rows in strips):
        # each pair is computed once, and its distance counts for both rows
        if sums:
            total[k:, rows] += found["row_sums"]
            total[k, rows.stop :] += found["column_sums"]
        if extremes:
            largest[k] = max(largest[k], found["largest"])
            if k + 1 < K:
                table, minima = smallest[k, k + 1 :] if by_pair else smallest[0], found["smallest"]
                np.minimum(table, minima if by_pair else minima.min(), out=table)
        if nearest is not None:
            nearest.add(*found["nearest"])
    # each pair of clusters was seen from one side only
    np.minimum(smallest, smallest.T, out=smallest)
    return total, largest, smallest


def cut_strips(starts: Sequence[int], stops: Sequence[int]) -> Iterator[tuple[int, slice]]:
    """Yield strips of rows of one cluster each, whose distances to all later rows fit the cache."""
    for k, (begin, stop) in enumerate(zip(starts, stops, strict=True)):
        while begin < stop:
            end = min(stop, begin + max(1, STRIP_NUMBERS // (stops[-1] - begin)))
            yield k, slice(begin, end)
            begin = end


def slices(stop: int, step: int, *, start: int = 0) -> Iterator[slice]:
    """Yield slices of length `step` of start:stop. The last may be shorter."""
    for begin in range(start, stop, step):
        yield slice(begin, min(begin + step, stop))


def whole_rows(
    tiles: _distances.Tiles, rows: slice, columns: slice
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield a few rows at a time, and their (r, c) distances to the columns."""
    step = max(1, NUMBERS_AT_ONCE // (columns.stop - columns.start))
    for part in slices(rows.stop, step, start=rows.start):
        yield part, tiles(part)(columns)


def mean_within(totals: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Divide the (K,) total distances within clusters by the numbers of pairs (eq. 5).

    The mean is 0 for singletons.
    """
    return totals / np.maximum(sizes * (sizes - 1) / 2, 1)


def rare_extremes(tiles: _distances.Tiles, cluster: np.ndarray) -> tuple[float, float]:
    """Return the smallest distance within a cluster and the largest between clusters.

    They are inf and -inf without such a pair. No index needs them, so the pass omits them.
    """
    smallest, largest, everything = np.inf, -np.inf, slice(0, len(cluster))
    for rows, block in whole_rows(tiles, everything, everything):
        foreign = cluster[rows, None] != cluster
        largest = max(largest, block.max(where=foreign, initial=-np.inf))
        own = np.arange(rows.start, rows.stop)
        foreign[own - rows.start, own] = True  # leave out the distances of samples to themselves
        smallest = min(smallest, block.min(where=~foreign, initial=np.inf))
    return float(smallest), float(largest)


def within_pass(
    tiles: _distances.Tiles, members: list[slice], *, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sum over pairs and the largest distance within each cluster, both (K,).

    They are half of the totals of eq. 5 and the diameters of eq. 2.
    """

    def reduce(members: slice) -> tuple[float, float]:
        total = largest = 0.0
        for _, rows in cut_strips([members.start], [members.stop]):
            block = tiles(rows)(slice(rows.start, members.stop))
            # pairs of rows of the strip occur twice
            total += block.sum() - block[:, : len(block)].sum() / 2
            largest = max(largest, block.max())
        return total, largest

    parallel = Parallel(n_jobs, require="sharedmem")
    totals, largest = np.array(parallel(delayed(reduce)(rows) for rows in members), dtype=float).T
    return totals, largest


def measure_by_pass(samples: Samples, needs: Set[str], n_neighbors: int) -> dict[str, Any]:
    """Return the pairwise quantities, from pairs within clusters or one pass over all pairs."""
    partition, n_jobs = samples.partition, samples.n_jobs
    # quantities within clusters need no pairs of different clusters
    if needs <= WITHIN:
        totals, largest = within_pass(samples.tiles, partition.members, n_jobs=n_jobs)
        return {"mean_within": mean_within(totals, partition.sizes), "max_within": largest}
    # one pass for everything that needs all pairs
    n, L = partition.n_samples, n_neighbors if "connectivity" in needs else 0
    in_table = n * partition.n_clusters <= TABLE_NUMBERS
    nearest = Nearest(partition.cluster, L) if L else None
    sums, largest, smallest = distance_pass(
        samples.tiles,
        partition.starts,
        n,
        sums=bool(needs & SUMS) and in_table,
        extremes=bool(needs & EXTREMES),
        by_pair="min_between" in needs,
        nearest=nearest,
        n_jobs=n_jobs,
    )
    result: dict[str, Any] = {}
    if needs & EXTREMES:
        result["extremes"] = float(smallest.min()), float(largest.max())
        np.fill_diagonal(smallest, np.nan)
        result |= {"max_within": largest, "min_between": smallest}
    if nearest is not None:
        result["connectivity"] = float(nearest.foreign_weights().sum())
    if not needs & SUMS:
        return result
    strips: ClusterSums = [(slice(0, n), sums)]
    if not in_table:  # each pair is computed twice
        blocks = whole_rows(samples.tiles, slice(0, n), slice(0, n))
        strips = ((rows, np.add.reduceat(D, partition.starts, axis=1).T) for rows, D in blocks)
    # the (K, K) totals, which are large for many clusters, are not for silhouettes (eq. 5)
    silhouette, of_pairs = np.empty(n), needs & {"mean_within", "mean_between"}
    totals = np.zeros((partition.n_clusters,) * 2 if of_pairs else (0, 0))
    for rows, sums in strips:
        if "silhouette_samples" in needs:
            silhouette[rows] = silhouettes(sums, partition, rows)
        if of_pairs:
            np.add.at(totals.T, partition.cluster[rows], sums.T)
    if of_pairs:  # means, in place because the table may be large
        result["mean_within"] = mean_within(np.diagonal(totals) / 2, partition.sizes)
        totals /= partition.sizes[:, None]
        totals /= partition.sizes
        np.fill_diagonal(totals, np.nan)
        result["mean_between"] = totals
    if "silhouette_samples" in needs:
        result["silhouette_samples"] = partition.unsort(silhouette)
    return result


def silhouettes(
    sums: np.ndarray, partition: _distances.Partition, rows: slice | np.ndarray
) -> np.ndarray:
    """Return the (r,) silhouettes of sorted rows from their (K, r) distance sums to clusters."""
    # mean distance to the own cluster
    cluster, sizes = partition.cluster[rows], partition.sizes
    column = np.arange(len(cluster))
    own = sums[cluster, column] / np.maximum(sizes[cluster] - 1, 1)
    # smallest mean distance to another cluster
    means = sums / sizes[:, None]
    means[cluster, column] = np.inf
    other = means.min(axis=0)
    # 0 for singletons and for 0 / 0
    larger = np.maximum(own, other)
    defined = (sizes[cluster] > 1) & (larger > 0)
    return np.divide(other - own, larger, out=np.zeros(len(cluster)), where=defined)


def measure_rows(samples: Samples, rows: np.ndarray, L: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the sums (K, r) (eq. 1) and the neighbor weights (r,) of some of the sorted rows.

    The weight of a row is the sum of the weights of its L nearest neighbors in other clusters.
    """
    tiles, partition = samples.tiles, samples.partition
    starts, cluster = partition.starts, partition.cluster

    def reduce(row: int) -> tuple[np.ndarray, float]:
        distance = tiles(slice(row, row + 1))(slice(0, len(cluster)))[0]  # (n,)
        sums = np.add.reduceat(distance, starts)  # eq. 1
        # the L nearest other samples, and all that tie with the last
        distance[row] = np.inf
        reach = np.partition(distance, L - 1)[L - 1] * (1 + TIED)
        near = np.flatnonzero(distance <= reach)
        near = near[np.argsort(distance[near])]
        one = np.ones(len(near), np.intp)
        weights = shared_weights(0 * one, distance[near], one, L)
        return sums, float(weights @ (cluster[near] != cluster[row]))

    parallel = Parallel(samples.n_jobs, require="sharedmem")
    sums, weights = zip(*parallel(delayed(reduce)(row) for row in rows.tolist()), strict=True)
    return np.transpose(sums), np.array(weights)


# Nearest neighbors; ties share the weights 1, 1/2, ..., 1/L of their ranks. They come from tiles
# of the pass, or from a k-d tree if it avoids most distances. Numbers in parentheses are the
# equations of doc/derivations/neighbors.rst.

TIED = 1e-10  # relative tolerance of equal distances (eq. 3)
MAX_WAITING = 2**14  # number of neighbors that are collected before they are sorted
TREE_NUMBERS = 2**21  # tree distances stored at a time
BOUND_ROWS = 384  # rows whose distances bound the search for neighbors
LEAF = 100  # maximum number of points in a leaf of a k-d tree
PILOT = 64  # maximum number of pilot searches that estimate the cost of a tree
CUBE = 1.5  # half the edge of a cube around the points that a search visits, in units of its radius
VISIT_COST = 4  # cost of a visited point, in units of a pair of rows in the pass


class Nearest:
    """The current L nearest neighbors of each of n rows, with all ties of the last.

    cluster (n,): cluster of each row. reach (n,): radii that contain all neighbors with a weight
    (eq. 4). found: sorted arrays with an entry for each row and distance: the row, the distance,
    the number of neighbors at this distance, and how many of them are in another cluster.
    """

    def __init__(self, cluster: np.ndarray, L: int) -> None:
        self.cluster, self.L = cluster, L
        self.reach = np.full(len(cluster), np.finfo(float).max)
        none = np.empty(0, dtype=np.intp)
        self.found = none, np.empty(0), none, none
        self.waiting: list[tuple[np.ndarray, ...]] = []
        self.n_waiting = 0

    def bound(self, tiles: _distances.Tiles) -> None:
        """Bound the radii by the nearest of some rows beside each row, often of its cluster."""
        n = len(self.cluster)
        size = min(max(BOUND_ROWS, self.L + 1), n)
        for rows in slices(n, size):
            columns = slice(rows.stop - size, rows.stop) if rows.start else slice(0, size)
            block, own = tiles(rows)(columns), np.arange(rows.start, rows.stop)
            block[own - rows.start, own - columns.start] = np.inf
            self.reach[rows] = np.partition(block, self.L - 1)[:, self.L - 1] * (1 + TIED)

    def look(self, block: np.ndarray, rows: slice) -> tuple[np.ndarray, ...]:
        """Return entries for the distances (r, c) from `rows` to themselves and all later rows."""
        n_rows, c = block.shape
        np.fill_diagonal(block, np.inf)
        # pairs within the radius of their row, and of their later row (eq. 7 of distance_pass)
        i, j = np.divmod(np.flatnonzero(block <= self.reach[rows, None]), c)
        beyond = block[:, n_rows:] <= self.reach[rows.stop :]
        later_i, later_j = np.divmod(np.flatnonzero(beyond), max(c - n_rows, 1))
        later_j += n_rows
        row, other = np.append(i, later_j) + rows.start, np.append(j, later_i) + rows.start
        distance = np.append(block[i, j], block[later_i, later_j])
        foreign = (self.cluster[row] != self.cluster[other]).astype(np.intp)
        return row, distance, np.ones(len(row), dtype=np.intp), foreign

    def add(self, *entries: np.ndarray) -> None:
        """Collect entries, and sort them if there are many."""
        self.waiting.append(entries)
        self.n_waiting += len(entries[0])
        if self.n_waiting > max(MAX_WAITING, len(self.found[0])):
            self.settle()

    def settle(self) -> None:
        """Merge the collected entries, and drop those beyond the L-th neighbor of their row."""
        if not self.waiting:
            return
        row, distance, copies, foreign = map(
            np.concatenate, zip(self.found, *self.waiting, strict=True)
        )
        # by distance, and then by row, which NumPy sorts in linear time if 16 bits suffice
        order = np.argsort(distance)
        narrow = row[order].astype(np.min_scalar_type(len(self.cluster)))
        order = order[np.argsort(narrow, kind="stable")]
        row, distance = row[order], distance[order]
        # equal distances of a row become one entry
        first = np.flatnonzero(
            np.append(True, (row[1:] != row[:-1]) | (distance[1:] != distance[:-1]))
        )[: len(row)]
        row, distance = row[first], distance[first]
        copies, foreign = (np.add.reduceat(counts[order], first) for counts in (copies, foreign))
        # number of neighbors up to each entry, in its row
        rank = count_up(row, copies)
        is_last = (rank >= self.L) & (rank - copies < self.L)
        reach = distance[is_last] * (1 + TIED)
        self.reach[row[is_last]] = np.minimum(self.reach[row[is_last]], reach)  # eq. 4
        kept = distance <= self.reach[row]
        self.found = row[kept], distance[kept], copies[kept], foreign[kept]
        self.waiting, self.n_waiting = [], 0

    def foreign_weights(self) -> np.ndarray:
        """Return the (n,) sums of the weights of the neighbors in another cluster (eq. 1)."""
        self.settle()
        row, distance, copies, foreign = self.found
        weight = shared_weights(row, distance, copies, self.L)
        return np.bincount(row, weight * foreign, minlength=len(self.cluster))


def count_up(row: np.ndarray, copies: np.ndarray) -> np.ndarray:
    """Return the number of neighbors up to each entry, counted from the first of its row."""
    total = np.cumsum(copies)
    first = np.flatnonzero(np.append(True, row[1:] != row[:-1]))
    return total - np.repeat((total - copies)[first], np.diff(np.append(first, len(row))))


def shared_weights(row: np.ndarray, distance: np.ndarray, copies: np.ndarray, L: int) -> np.ndarray:
    """Return the (m,) weights of m neighbors, shared among ties (eq. 2).

    The neighbors are sorted by row and then by distance. Each represents `copies` equal neighbors.
    """
    if not len(row):
        return np.empty(0)
    # groups of ties, and the ranks before and after each group
    new = (row[1:] != row[:-1]) | (distance[1:] > distance[:-1] * (1 + TIED))  # eq. 3
    tie = np.flatnonzero(np.append(True, new))
    rank, size = count_up(row, copies), np.diff(np.append(tie, len(row)))
    end = rank[tie + size - 1]  # b of eq. 2
    begin = rank[tie] - copies[tie]  # a of eq. 2
    # mean weight of these ranks (eq. 2)
    harmonic = np.append(0.0, np.cumsum(1.0 / np.arange(1, L + 1)))  # H_0 to H_L
    mean = (harmonic[np.minimum(end, L)] - harmonic[np.minimum(begin, L)]) / (end - begin)
    return np.repeat(mean, size)


def connectivity_by_tree(samples: Samples, n_neighbors: int) -> float | None:
    """Return the connectivity without computing all pairs, or None if a tree does not prune.

    A tree search must be cheaper than computing a row of the distance matrix.
    """
    if not samples.is_dense_euclidean:
        return None
    points, cluster, L = samples.points, samples.partition.cluster, n_neighbors
    n, tree = len(points), cKDTree(points, leafsize=LEAF)
    # the mean number of points that a search visits, from a sample (eq. 6)
    some = points[:: -(-n // PILOT)]
    reach = CUBE * tree.query(some, [L + 1])[0][:, 0]
    if tree.query_ball_point(some, reach, p=np.inf, return_length=True).mean() > n / VISIT_COST:
        return None
    # the sample itself, L others and one beyond; more where the last one ties with the L-th
    k, left, total = L + 2, np.arange(n), 0.0
    while len(left):
        k, incomplete = min(k, n), []
        # chunks of rows with bounded memory
        for chunk in slices(len(left), max(1, TREE_NUMBERS // k)):
            rows = left[chunk]
            parts = tree.query(points[rows], k, workers=effective_n_jobs(samples.n_jobs))
            distance, neighbor = (np.reshape(part, (len(rows), k)) for part in parts)  # (q, k)
            others = neighbor != rows[:, None]
            count = others.cumsum(axis=1)
            last = np.minimum((count < L).sum(axis=1), k - 1)  # place of the L-th neighbor
            reach = distance[np.arange(len(rows)), last] * (1 + TIED)
            complete = ((count[:, -1] >= L) & (distance[:, -1] > reach)) | (k == n)  # eq. 5
            i, j = np.nonzero((distance <= reach[:, None]) & others & complete[:, None])
            foreign = cluster[neighbor[i, j]] != cluster[rows[i]]
            weights = shared_weights(i, distance[i, j], np.ones(len(i), np.intp), L)
            total += float(weights @ foreign)  # eq. 1
            incomplete.append(rows[~complete])
        # rows with unfinished ties search twice as many neighbors
        left, k = np.concatenate(incomplete), 2 * k
    return total


# Exact nearest pair between clusters and exact diameter without all n^2 distances.
# Numbers in parentheses are the equations of doc/derivations/nearest_farthest.rst.

FIRST_BATCH = 1024  # number of queries before the bound is used
SLACK = 1e-9  # relative slack of bounds, for rounding
N_SWEEPS = 4  # steps to the farthest sample that give a lower bound of a diameter


def nearest_between(
    points: np.ndarray, cluster: np.ndarray, *, budget: float = np.inf, n_jobs: int | None = None
) -> float | None:
    """Return the smallest distance between rows of different clusters, or inf for one cluster.

    Each binary digit of the (n,) cluster numbers splits the points into two sides. The nearest
    pair between two sides, over all digits, is the nearest pair (eq. 2). The result is None if an
    average search, over a sample, visits more points than the budget (eq. 10).
    """
    best, n_digits = np.inf, int(cluster.max()).bit_length()
    for digit in range(n_digits):  # eq. 2
        side = (cluster >> digit) & 1 == 1  # (n,)
        smaller, larger = sorted((points[side], points[~side]), key=len)
        tree, step = cKDTree(smaller), -(-len(larger) // FIRST_BATCH)
        # each batch of queries is spread over the rows
        larger = larger[np.concatenate([np.arange(k, len(larger), step) for k in range(step)])]
        begin, end = 0, FIRST_BATCH
        while begin < len(larger) and best > 0:
            bound = {"distance_upper_bound": best, "workers": effective_n_jobs(n_jobs)}
            best = min(best, float(np.min(tree.query(larger[begin:end], **bound)[0])))  # eq. 3
            if not begin and best > 0:  # a sample of searches within this bound (eq. 10)
                some = larger[:: -(-len(larger) // PILOT)]
                visited = tree.query_ball_point(some, CUBE * best, p=np.inf, return_length=True)
                if visited.mean() * n_digits > budget:
                    return None
            # growing batches, so that the bound is tight early
            begin, end = end, 2 * end
    return float(best)


def extremes_by_bounds(samples: Samples) -> tuple[float, float] | None:
    """Return the nearest pair and the diameter, or None if bounds do not prune."""
    if not samples.is_dense_euclidean:
        return None
    partition, points = samples.partition, samples.points
    budget = partition.n_samples / VISIT_COST
    nearest = nearest_between(points, partition.cluster, budget=budget, n_jobs=samples.n_jobs)
    return None if nearest is None else (nearest, largest_diameter(points, partition.members))


def largest_diameter(points: np.ndarray, members: list[slice]) -> float:
    """Return the largest distance within any cluster (eq. 4), or 0 if all are singletons."""
    # distances (m,) of the samples of each cluster from its mean
    clusters = [points[rows] - points[rows].mean(axis=0) for rows in members]
    radii = [np.sqrt(_distances.squared_norms(cluster)) for cluster in clusters]
    best = 0.0
    for k in np.argsort([-radius.max() for radius in radii]):  # largest 2 R of eq. 5 first
        cluster, radius = clusters[k], radii[k]
        if 2 * radius.max() <= best * (1 - SLACK):  # eq. 6, left
            break
        start = int(radius.argmax())
        for _ in range(N_SWEEPS):  # to the farthest sample (eq. 7)
            squared = _distances.squared_norms(cluster - cluster[start])
            start, best = int(squared.argmax()), max(best, float(np.sqrt(squared.max())))
        outer = cluster[radius + radius.max() > best * (1 - SLACK)]  # eq. 6, right
        tiles = _distances.euclidean_tiles(outer, np.zeros(1, np.intp))
        best = max(best, float(within_pass(tiles, [slice(0, len(outer))])[1][0]))
    return best
