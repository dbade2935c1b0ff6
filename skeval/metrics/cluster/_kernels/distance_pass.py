"""One tiled pass over the upper triangle of a distance matrix whose rows are sorted by cluster.

Every pairwise index is a reduction of that matrix by clusters: sums, largest and smallest entries.
A strip of rows is the unit of work; strips are gathered in order, so that the numbers do not depend
on the number of threads. `pass_over_rows` takes some rows of each cluster instead of all.
Equations: doc/derivations/distance_pass.rst.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from joblib import Parallel, delayed

from skeval.metrics.cluster._kernels.distances import Strip, Tile, Tiles, slices
from skeval.metrics.cluster._kernels.neighbours import Nearest

__all__ = [
    "TILE_COLUMNS",
    "TILE_ROWS",
    "ClusterSums",
    "Reductions",
    "add_to_totals",
    "distance_pass",
    "mean_between",
    "mean_within",
    "pass_over_rows",
    "sums_by_strips",
    "sums_of_matrix",
    "within_pass",
]


TILE_ROWS, TILE_COLUMNS = 384, 1024  # the fastest over 2,000 to 5,000 samples in 8 to 500 clusters
NUMBERS_AT_ONCE = 2**20  # distances that sums_by_strips holds
MOST_PRODUCTS = 8  # runs of columns of a tile that are added by one product each
MATRIX_ROWS = 64  # rows of a distance matrix that sums_of_matrix copies at a time
ClusterSums = Iterator[tuple[slice, np.ndarray]]
"""Slices of sorted rows, and the (K, r) sums of their distances to each cluster (eq. 1)."""


@dataclass
class Reductions:
    """What the strips gathered so far say of the distances of `n` sorted rows in `K` clusters.

    sums (K, n): the sum of the distances from each row to each cluster (eq. 1).
    largest (K,): the diameter of each cluster, 0 for a singleton (eq. 2).
    smallest (K, K), or (1, 1) over all pairs of clusters: the nearest pair of two clusters, inf on
    the diagonal (eq. 3). Before the end of the pass only its upper triangle is complete.
    nearest: the nearest neighbours of each row, if they are asked for (eq. 4).
    """

    sums: np.ndarray
    largest: np.ndarray
    smallest: np.ndarray
    nearest: Nearest | None

    def gather(self, strip: _Strip) -> None:
        """Add what a strip found for its rows and for all later columns (eq. 6)."""
        rows, clusters = strip.rows, strip.segments.clusters
        later = slice(rows.start, rows.start + strip.column_sums.shape[1])
        if self.sums.size:
            met = slice(clusters.start, None)  # no column lies before the first row
            self.sums[met, rows] += strip.row_sums[:, met].T
            self.sums[clusters, later] += strip.column_sums
        self.largest[clusters] = np.maximum(self.largest[clusters], strip.largest)
        if len(self.smallest) == len(self.largest):
            self.smallest[clusters] = np.minimum(self.smallest[clusters], strip.smallest)
        else:
            self.smallest = np.minimum(self.smallest, strip.smallest.min())
        if self.nearest is not None and strip.nearest is not None:
            self.nearest.gather(strip.nearest, rows.start)


class Segments:
    """The runs of one cluster each into which the sorted rows start:stop fall.

    clusters: the clusters met, as a slice. offsets (m,): where their runs begin, from `start`.
    runs: the same as m slices.
    """

    def __init__(self, starts: np.ndarray, start: int, stop: int) -> None:
        first = int(np.searchsorted(starts, start, side="right")) - 1
        last = int(np.searchsorted(starts, stop, side="left"))
        self.clusters = slice(first, last)
        self.offsets = np.maximum(starts[first:last] - start, 0)
        ends = np.append(self.offsets[1:], stop - start)
        self.runs = [slice(a, b) for a, b in zip(self.offsets, ends, strict=True)]

    def common(self, other: Segments) -> Iterator[tuple[int, slice, slice]]:
        """Yield each cluster found in both, with its run in either."""
        begin = max(self.clusters.start, other.clusters.start)
        for k in range(begin, min(self.clusters.stop, other.clusters.stop)):
            yield k, self.runs[k - self.clusters.start], other.runs[k - other.clusters.start]

    def sum_columns(self, block: np.ndarray) -> np.ndarray:
        """Return the (r, m) sums of the m runs of columns of a block of r rows."""
        if len(self.runs) > MOST_PRODUCTS:
            return np.add.reduceat(block, self.offsets, axis=1)
        sums = np.empty((len(block), len(self.runs)))
        for k, run in enumerate(self.runs):  # a matrix product adds faster than reduceat
            np.matmul(block[:, run], _ones(run.stop - run.start), out=sums[:, k])
        return sums


@lru_cache(maxsize=2 * TILE_COLUMNS)
def _ones(m: int) -> np.ndarray:
    return np.ones(m)


class _Layout:
    """Where the upper triangle is cut into tiles."""

    def __init__(self, starts: np.ndarray, n: int) -> None:
        self.n_clusters = len(starts)
        self.row_cuts = cut_points(starts, n, TILE_ROWS)
        self.column_cuts = cut_points(starts, n, TILE_COLUMNS)
        self.segments = lru_cache(maxsize=None)(partial(Segments, starts))

    def strips(self) -> Iterator[slice]:
        return map(slice, [0, *self.row_cuts[:-1]], self.row_cuts)

    def later_columns(self, rows: slice) -> Iterator[slice]:
        """Yield the columns behind the strip."""
        later = self.column_cuts[self.column_cuts > rows.stop]
        yield from map(slice, [rows.stop, *later[:-1]], later)


class _Strip:
    """The reductions of a strip of r rows, of m clusters, against the columns from its first row.

    row_sums (r, K) and column_sums (m, c): the two halves of eq. 6. largest (m,), smallest (m, K)
    and nearest: eq. 2 to 4 over the pairs of this strip. Columns count from the first row.
    """

    def __init__(self, layout: _Layout, rows: slice, stop: int, nearest: Nearest | None) -> None:
        self.layout, self.rows = layout, rows
        self.segments = layout.segments(rows.start, rows.stop)
        n_rows, n_runs, K = rows.stop - rows.start, len(self.segments.runs), layout.n_clusters
        self.row_sums = np.zeros((n_rows, K))
        self.column_sums = np.zeros((n_runs, stop - rows.start))  # the strip's own columns stay 0
        self.largest = np.zeros(n_runs)
        self.smallest = np.full((n_runs, K), np.inf)
        self.nearest = None if nearest is None else nearest.part(slice(rows.start, stop))

    def reduce(
        self, strip: Strip, columns: Iterable[slice], *, sums: bool, extremes: bool
    ) -> _Strip:
        for part in columns:
            tile, others = strip(part), self.layout.segments(part.start, part.stop)
            if sums:
                self._add(tile.distances, part, others)
            if extremes:
                self._update_largest(tile.distances, others)
            if self.nearest is not None:
                self._update_nearest(self.nearest, tile, part)
            if extremes:
                self._update_smallest(tile, others)
        return self

    def _local(self, columns: slice) -> slice:
        return slice(columns.start - self.rows.start, columns.stop - self.rows.start)

    def _add(self, block: np.ndarray, columns: slice, others: Segments) -> None:
        self.row_sums[:, others.clusters] += others.sum_columns(block)  # eq. 6, left
        if columns == self.rows:  # this tile holds each pair twice: the row sums have both
            return
        for total, run in zip(self.column_sums, self.segments.runs, strict=True):  # eq. 6, right
            np.matmul(_ones(run.stop - run.start), block[run], out=total[self._local(columns)])

    def _update_largest(self, block: np.ndarray, others: Segments) -> None:
        for k, run, other_run in self.segments.common(others):  # eq. 2
            here = k - self.segments.clusters.start
            self.largest[here] = max(self.largest[here], block[run, other_run].max())

    def _update_nearest(self, nearest: Nearest, tile: Tile, columns: slice) -> None:
        rows, others = self._local(self.rows), self._local(columns)
        block, lowest = tile.distances, tile.lowest
        if columns == self.rows:
            np.fill_diagonal(block, np.inf)
        nearest.look(block, rows, others, lowest)
        if columns != self.rows and lowest.min() <= nearest.reach[others].max():  # eq. 7
            nearest.look(block, others, rows, block.min(axis=0), axis=1)

    def _update_smallest(self, tile: Tile, others: Segments) -> None:
        """Reduce what lies between clusters, and only where it can change the result (eq. 7).

        The tile is overwritten: this must be its last use.
        """
        if self.segments.clusters == others.clusters and len(self.segments.runs) == 1:
            return  # all pairs of the tile lie within one cluster
        nearest, block = self.smallest[:, others.clusters], tile.distances  # (m, runs), (r, c)
        if tile.lowest.min() >= nearest.max():  # eq. 7
            return
        if len(self.segments.runs) == len(others.runs) == 1:
            np.minimum(nearest, block.min(), out=nearest)  # eq. 3
            return
        for _, run, other_run in self.segments.common(others):
            block[run, other_run] = np.inf
        by_column = np.stack([block[run].min(axis=0) for run in self.segments.runs])  # (m, c)
        found = np.minimum.reduceat(by_column, others.offsets, axis=1)  # eq. 3
        np.minimum(nearest, found, out=nearest)


def distance_pass(
    tiles: Tiles,
    starts: np.ndarray,
    n: int,
    *,
    sums: bool = True,
    extremes: bool = True,
    by_pair: bool = True,
    nearest: Nearest | None = None,
    n_jobs: int | None = None,
) -> Reductions:
    """Reduce the distance matrix of `n` sorted rows by clusters.

    Sums and extremes that are not asked for stay at their start values. Without `by_pair` the
    nearest pair is that of any two clusters, a (1, 1) table. `nearest`, still empty, asks for the
    neighbours of all rows. The tiles on the diagonal come first, so that all rows know neighbours
    of their own cluster before they meet the others.
    """
    K = len(starts)
    n_nearest = K if extremes and by_pair else 1
    result = Reductions(
        sums=np.zeros((K, n if sums else 0)),
        largest=np.zeros(K),
        smallest=np.full((n_nearest, n_nearest), np.inf),
        nearest=nearest,
    )
    if not (sums or extremes or nearest is not None):
        return result
    layout = _Layout(starts, n)

    def reduce_own(rows: slice) -> _Strip:
        strip = _Strip(layout, rows, rows.stop, nearest)
        return strip.reduce(tiles(rows), [rows], sums=sums, extremes=extremes)

    def reduce_later(rows: slice) -> _Strip:
        strip = _Strip(layout, rows, n, nearest)
        columns = layout.later_columns(rows)
        return strip.reduce(tiles(rows), columns, sums=sums, extremes=extremes)

    parallel = Parallel(n_jobs, require="sharedmem", return_as="generator")
    *followed, last = layout.strips()
    for reduce_strip, some in ((reduce_own, [*followed, last]), (reduce_later, followed)):
        for strip in parallel(delayed(reduce_strip)(rows) for rows in some):
            result.gather(strip)
    np.minimum(result.smallest, result.smallest.T, out=result.smallest)
    return result


def cut_points(starts: np.ndarray, n: int, size: int) -> np.ndarray:
    """Return where tiles of at most `size` rows end: whole clusters, or equal parts of one.

    Points of one cluster are alike, so that little cancels in eq. 8 and few pairs are close.
    """
    cuts, begin = [], 0
    for start, stop in zip(starts, [*starts[1:], n], strict=True):
        if stop - begin > size and start > begin:
            cuts.append(start)
            begin = start
        if stop - start > size:
            parts = np.linspace(start, stop, -(-(stop - start) // size) + 1).astype(int)
            cuts.extend(parts[1:])
            begin = stop
    return np.unique([*cuts, n])


def sums_by_strips(tiles: Tiles, starts: np.ndarray, n: int) -> ClusterSums:
    """Yield eq. 1 for few rows at a time; every pair is computed twice."""
    for rows in slices(n, max(1, NUMBERS_AT_ONCE // n)):
        yield rows, np.add.reduceat(tiles(rows)(slice(0, n)).distances, starts, axis=1).T


def sums_of_matrix(matrix: np.ndarray, order: np.ndarray, members: list[slice]) -> ClusterSums:
    """Yield eq. 1 from a distance matrix in the caller's order, whose rows are added whole."""
    sums = np.zeros((len(members), matrix.shape[1]))  # (K, rows of the caller)
    for total, rows_of_cluster in zip(sums, members, strict=True):
        for rows in slices(rows_of_cluster.stop, MATRIX_ROWS, start=rows_of_cluster.start):
            total += matrix[order[rows]].sum(axis=0, dtype=np.float64)
    sums, diagonal = sums[:, order], np.diagonal(matrix)[order]  # (K, n), (n,)
    for total, rows in zip(sums, members, strict=True):
        total[rows] -= diagonal[rows]  # which rounding may have left above 0
    yield slice(0, len(order)), sums


def add_to_totals(totals: np.ndarray, sums: np.ndarray, rows: slice, starts: np.ndarray) -> None:
    """Add the (K, r) sums of some rows to the (K, K) totals of eq. 5."""
    runs = Segments(starts, rows.start, rows.stop)
    totals[:, runs.clusters] += np.add.reduceat(sums, runs.offsets, axis=1)


def mean_within(totals: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the (K,) mean distance of the pairs of each cluster from their sum (eq. 5).

    It is 0 for singletons.
    """
    return totals / np.maximum(sizes * (sizes - 1) / 2, 1)


def mean_between(totals: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Turn, in place, the (K, K) totals into means (eq. 5); nan on the diagonal."""
    totals /= sizes[:, None]
    totals /= sizes
    np.fill_diagonal(totals, np.nan)
    return totals


def within_pass(
    tiles: Tiles, members: list[slice], *, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sum over pairs and the largest distance within each cluster, both (K,).

    They are half of the totals of eq. 5 and the diameters of eq. 2.
    """
    by_cluster = Parallel(n_jobs, require="sharedmem")(
        delayed(_reduce_cluster)(tiles, rows) for rows in members
    )
    totals, largest = np.array(by_cluster, dtype=float).T
    return totals, largest


def _reduce_cluster(tiles: Tiles, members: slice) -> tuple[float, float]:
    total = largest = 0.0
    for rows in slices(members.stop, TILE_ROWS, start=members.start):
        strip = tiles(rows)
        block = strip(rows).distances
        total, largest = total + block.sum() / 2, max(largest, block.max())
        for columns in slices(members.stop, TILE_COLUMNS, start=rows.stop):
            block = strip(columns).distances
            total, largest = total + block.sum(), max(largest, block.max())
    return total, largest


def pass_over_rows(
    tiles: Tiles,
    starts: np.ndarray,
    sampled: list[slice],
    cluster: np.ndarray,
    zero: np.ndarray,
    L: int,
    *,
    n_jobs: int | None,
) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """Yield slices of sampled rows, their (K, r) sums (eq. 1), and (r,) weights of neighbours.

    The weights are those of the neighbours in another cluster, among the L nearest; distances up
    to zero (n,) count as 0.
    """
    cuts = cut_points(starts, len(cluster), TILE_COLUMNS)
    columns = [slice(a, b) for a, b in zip([0, *cuts[:-1]], cuts, strict=True)]
    segments = [Segments(starts, part.start, part.stop) for part in columns]

    def reduce(rows: slice) -> tuple[slice, np.ndarray, np.ndarray]:
        strip, own = tiles(rows), np.arange(rows.start, rows.stop)
        sums, found = (
            np.zeros((len(own), len(starts))),
            Nearest(cluster[rows], L, zero[rows], other=cluster),
        )
        for part, runs in zip(columns, segments, strict=True):
            tile = strip(part)
            sums[:, runs.clusters] += runs.sum_columns(tile.distances)  # eq. 1
            met = own[(own >= part.start) & (own < part.stop)]
            tile.distances[met - rows.start, met - part.start] = np.inf
            found.look(tile.distances, slice(0, len(own)), part, tile.lowest)
        return rows, sums.T, found.foreign_weights()

    strips = [rows for run in sampled for rows in slices(run.stop, TILE_ROWS, start=run.start)]
    parallel = Parallel(n_jobs, require="sharedmem", return_as="generator")
    yield from parallel(delayed(reduce)(rows) for rows in strips)
