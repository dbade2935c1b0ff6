"""Engine: one tiled pass over the upper triangle of a distance matrix sorted by cluster.

Every pairwise index is a reduction of that matrix by clusters: sums, largest and smallest entries.
A strip of rows is the unit of work; strips are reduced in order, so that the numbers do not depend
on the number of threads.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from joblib import Parallel, delayed

from skeval.metrics.cluster._distances import Tiles

__all__ = ["DistancePass", "Segments", "distance_pass", "slices", "within_pass"]

TILE_ROWS, TILE_COLUMNS = 256, 512  # 1 MB: it stays in the cache, and malloc keeps it


@dataclass(frozen=True)
class DistancePass:
    """Reductions of the distance matrix of `n` sorted rows in `K` clusters.

    sums (K, n): sum of the distances from each row to each cluster.
    largest (K,): the diameter of each cluster, 0 for a singleton.
    smallest (K, K): the nearest pair of two clusters; inf on the diagonal.
    border (n,): whether a row of another cluster lies within the row's reach.
    """

    sums: np.ndarray
    largest: np.ndarray
    smallest: np.ndarray
    border: np.ndarray


class Segments:
    """The runs of one cluster each into which the sorted rows start:stop fall."""

    def __init__(self, starts: np.ndarray, start: int, stop: int) -> None:
        first = int(np.searchsorted(starts, start, side="right")) - 1
        last = int(np.searchsorted(starts, stop, side="left"))
        self.clusters = slice(first, last)
        self.offsets = np.maximum(starts[first:last] - start, 0)
        ends = np.append(self.offsets[1:], stop - start)
        self.runs = [slice(a, b) for a, b in zip(self.offsets, ends, strict=True)]

    def common(self, other: "Segments") -> Iterator[tuple[int, slice, slice]]:
        """Yield each cluster found in both, with its run in either."""
        begin = max(self.clusters.start, other.clusters.start)
        for k in range(begin, min(self.clusters.stop, other.clusters.stop)):
            yield k, self.runs[k - self.clusters.start], other.runs[k - other.clusters.start]

    def sum_of_columns(self, block: np.ndarray) -> np.ndarray:
        """Return the (r, runs) sums of the runs of columns of a block."""
        if len(self.runs) == 1:  # BLAS adds faster
            return (block @ np.ones(block.shape[1]))[:, None]
        return np.add.reduceat(block, self.offsets, axis=1)

    def is_one_cluster_with(self, other: "Segments") -> bool:
        return self.clusters == other.clusters and len(self.runs) == 1


class _Layout:
    """Where the upper triangle is cut into tiles."""

    def __init__(self, starts: np.ndarray, n: int) -> None:
        self.n_clusters = len(starts)
        self.row_cuts = cut_points(starts, n, TILE_ROWS)
        self.column_cuts = cut_points(starts, n, TILE_COLUMNS)
        self.segments = lru_cache(maxsize=None)(partial(Segments, starts))

    def strips(self) -> Iterator[slice]:
        return map(slice, [0, *self.row_cuts[:-1]], self.row_cuts)

    def columns(self, rows: slice) -> Iterator[slice]:
        """Yield the strip's own columns, then the later ones."""
        yield rows
        later = self.column_cuts[self.column_cuts > rows.stop]
        yield from map(slice, [rows.stop, *later[:-1]], later)


class _Strip:
    """The reductions of a strip of rows against every later column."""

    def __init__(self, layout: "_Layout", reach: np.ndarray, rows: slice) -> None:
        self.layout, self.reach, self.rows = layout, reach, rows
        self.segments = layout.segments(rows.start, rows.stop)
        n_rows, n_runs, K = rows.stop - rows.start, len(self.segments.runs), layout.n_clusters
        n_columns = len(reach) - rows.start
        self.row_sums = np.zeros((n_rows, K))
        self.column_sums = np.zeros((n_runs, n_columns))  # the strip's own columns stay 0
        self.largest = np.zeros(n_runs)
        self.smallest = np.full((n_runs, K), np.inf)
        self.border = np.zeros(n_columns, dtype=bool)

    def reduce(self, tiles: Tiles, *, sums: bool, extremes: bool) -> "_Strip":
        strip = tiles(self.rows)
        for columns in self.layout.columns(self.rows):
            block, others = strip(columns), self.layout.segments(columns.start, columns.stop)
            if sums:
                self._add(block, columns, others)
            if extremes:
                self._enlarge(block, others)
                self._narrow(block, columns, others)
        return self

    def _local(self, columns: slice) -> slice:
        return slice(columns.start - self.rows.start, columns.stop - self.rows.start)

    def _add(self, block: np.ndarray, columns: slice, others: Segments) -> None:
        self.row_sums[:, others.clusters] += others.sum_of_columns(block)
        if columns == self.rows:  # both triangles of this tile are in the row sums
            return
        for total, run in zip(self.column_sums, self.segments.runs, strict=True):
            total[self._local(columns)] = np.ones(run.stop - run.start) @ block[run]

    def _enlarge(self, block: np.ndarray, others: Segments) -> None:
        for k, run, other_run in self.segments.common(others):
            here = k - self.segments.clusters.start
            self.largest[here] = max(self.largest[here], block[run, other_run].max())

    def _narrow(self, block: np.ndarray, columns: slice, others: Segments) -> None:
        if self.segments.is_one_cluster_with(others):
            return
        for _, run, other_run in self.segments.common(others):
            block[run, other_run] = np.inf  # the last use of the block
        known, lowest = self.smallest[:, others.clusters], block.min()
        row_reach, column_reach = self.reach[self.rows], self.reach[columns]
        if lowest < known.max():
            by_column = np.stack([block[run].min(axis=0) for run in self.segments.runs])
            np.minimum(known, np.minimum.reduceat(by_column, others.offsets, axis=1), out=known)
        if lowest <= max(row_reach.max(), column_reach.max()):
            self.border[: len(block)] |= block.min(axis=1) <= row_reach
            self.border[self._local(columns)] |= block.min(axis=0) <= column_reach


def distance_pass(
    tiles: Tiles,
    starts: np.ndarray,
    n: int,
    *,
    sums: bool = True,
    extremes: bool = True,
    reach: np.ndarray | None = None,
    n_jobs: int | None = None,
) -> DistancePass:
    """Reduce the distance matrix of `n` sorted rows by clusters.

    Sums and extremes that are not asked for stay at their start values. `reach` (n,) asks, with the
    extremes, which rows have another cluster as near as that.
    """
    K = len(starts)
    reach = np.full(n, -np.inf) if reach is None else reach
    result = DistancePass(
        sums=np.zeros((K, n if sums else 0)),
        largest=np.zeros(K),
        smallest=np.full((K, K), np.inf),
        border=np.zeros(n, dtype=bool),
    )
    layout = _Layout(starts, n)

    def reduced(rows: slice) -> _Strip:
        return _Strip(layout, reach, rows).reduce(tiles, sums=sums, extremes=extremes)

    strips = Parallel(n_jobs, require="sharedmem", return_as="generator")(
        delayed(reduced)(rows) for rows in layout.strips()
    )
    for strip in strips:
        _gather(result, strip, sums=sums)
    np.minimum(result.smallest, result.smallest.T, out=result.smallest)
    return result


def cut_points(starts: np.ndarray, n: int, size: int) -> np.ndarray:
    """Return where tiles of at most `size` rows end: whole clusters, or equal parts of one.

    Points of one cluster are alike, so that little cancels and few pairs are computed again.
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


def _gather(result: DistancePass, strip: _Strip, *, sums: bool) -> None:
    rows, clusters = strip.rows, strip.segments.clusters
    later = slice(rows.start, None)
    if sums:
        result.sums[:, rows] += strip.row_sums.T
        result.sums[clusters, later] += strip.column_sums
    _tighten(np.maximum, result.largest[clusters], strip.largest)
    _tighten(np.minimum, result.smallest[clusters], strip.smallest)
    result.border[later] |= strip.border


def _tighten(extreme: np.ufunc, known: np.ndarray, new: np.ndarray) -> None:
    extreme(known, new, out=known)


def within_pass(
    tiles: Tiles, members: list[slice], *, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sum over pairs and the largest distance within each cluster, both (K,)."""
    reduced = Parallel(n_jobs, require="sharedmem")(
        delayed(_reduce_cluster)(tiles, rows) for rows in members
    )
    totals, largest = np.array(reduced, dtype=float).T
    return totals, largest


def _reduce_cluster(tiles: Tiles, members: slice) -> tuple[float, float]:
    total = largest = 0.0
    for rows in slices(members.stop, TILE_ROWS, start=members.start):
        strip = tiles(rows)
        block = strip(rows)
        total, largest = total + block.sum() / 2, max(largest, block.max())
        for columns in slices(members.stop, TILE_COLUMNS, start=rows.stop):
            block = strip(columns)
            total, largest = total + block.sum(), max(largest, block.max())
    return total, largest


def slices(stop: int, step: int, *, start: int = 0) -> Iterator[slice]:
    """Cut start:stop into slices of `step`, the last one shorter."""
    for begin in range(start, stop, step):
        yield slice(begin, min(begin + step, stop))
