"""Engine: one tiled pass over the upper triangle of a distance matrix sorted by cluster.

Every pairwise index is a reduction of that matrix by clusters: sums, largest and smallest entries.
A strip of rows is the unit of work; strips are reduced in order, so that the numbers do not depend
on the number of threads.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed

from skeval.metrics.cluster._distances import Tile

__all__ = ["DistancePass", "Segments", "distance_pass", "slices", "within_pass"]

TILE_ROWS, TILE_COLUMNS = 256, 1024  # 2 MB: a tile and its points stay in the cache
RADIUS_SAMPLE = 64


@dataclass(frozen=True)
class DistancePass:
    """Reductions of the distance matrix of `n` sorted rows in `K` clusters.

    sums (K, n): sum of the distances from each row to each cluster.
    largest (K,): the diameter of each cluster, 0 for a singleton.
    smallest (K, K): the nearest pair of two clusters; inf on the diagonal.
    nearest_other (n,): distance from each row to the nearest row of another cluster.
    radius (n,): a distance within which each row has `n_neighbors` others; inf if none is known.
    """

    sums: np.ndarray
    largest: np.ndarray
    smallest: np.ndarray
    nearest_other: np.ndarray
    radius: np.ndarray


class Segments:
    """The runs of one cluster each into which a slice of sorted rows falls."""

    def __init__(self, starts: np.ndarray, rows: slice) -> None:
        first = int(np.searchsorted(starts, rows.start, side="right")) - 1
        last = int(np.searchsorted(starts, rows.stop, side="left"))
        self.clusters = slice(first, last)
        self.offsets = np.maximum(starts[first:last] - rows.start, 0)
        ends = np.append(self.offsets[1:], rows.stop - rows.start)
        self.runs = [slice(a, b) for a, b in zip(self.offsets, ends, strict=True)]

    def common(self, other: "Segments") -> Iterator[tuple[int, slice, slice]]:
        """Yield each cluster found in both, with its run in either."""
        begin = max(self.clusters.start, other.clusters.start)
        for k in range(begin, min(self.clusters.stop, other.clusters.stop)):
            yield k, self.runs[k - self.clusters.start], other.runs[k - other.clusters.start]

    def is_one_cluster_with(self, other: "Segments") -> bool:
        return self.clusters == other.clusters and len(self.runs) == 1


class _Strip:
    """The reductions of a strip of rows against every later column."""

    def __init__(self, tile: Tile, starts: np.ndarray, rows: slice, stop: int) -> None:
        self.tile, self.starts, self.rows, self.stop = tile, starts, rows, stop
        self.segments = Segments(starts, rows)
        n_rows, n_runs, K = rows.stop - rows.start, len(self.segments.runs), len(starts)
        self.row_sums = np.zeros((n_rows, K))
        self.column_sums = np.zeros((n_runs, stop - rows.start))  # the strip's own columns stay 0
        self.largest = np.zeros(n_runs)
        self.smallest = np.full((n_runs, K), np.inf)
        self.row_nearest = np.full(n_rows, np.inf)
        self.column_nearest = np.full(stop - rows.start, np.inf)
        self.radius = np.full(n_rows, np.inf)

    def reduce(self, *, sums: bool, extremes: bool, n_neighbors: int) -> "_Strip":
        for columns in self._columns():
            block, others = self.tile(self.rows, columns), Segments(self.starts, columns)
            if columns == self.rows and 0 < n_neighbors < len(block):
                near = block[:, : max(RADIUS_SAMPLE, 4 * n_neighbors)]  # the row itself counts 0th
                self.radius = np.partition(near, n_neighbors, axis=1)[:, n_neighbors]
            if sums:
                self._add(block, columns, others)
            if extremes:
                self._enlarge(block, others)
                self._narrow(block, columns, others)
        return self

    def _columns(self) -> Iterator[slice]:
        yield self.rows
        yield from slices(self.stop, TILE_COLUMNS, start=self.rows.stop)

    def _local(self, columns: slice) -> slice:
        return slice(columns.start - self.rows.start, columns.stop - self.rows.start)

    def _add(self, block: np.ndarray, columns: slice, others: Segments) -> None:
        self.row_sums[:, others.clusters] += np.add.reduceat(block, others.offsets, axis=1)
        if columns == self.rows:  # both triangles of this tile are in the row sums
            return
        for total, run in zip(self.column_sums, self.segments.runs, strict=True):
            total[self._local(columns)] = block[run].sum(axis=0)

    def _enlarge(self, block: np.ndarray, others: Segments) -> None:
        for k, run, other_run in self.segments.common(others):
            here = k - self.segments.clusters.start
            self.largest[here] = max(self.largest[here], block[run, other_run].max())

    def _narrow(self, block: np.ndarray, columns: slice, others: Segments) -> None:
        if self.segments.is_one_cluster_with(others):
            return
        for _, run, other_run in self.segments.common(others):
            block[run, other_run] = np.inf  # the last use of the block
        lowest = np.stack([block[run].min(axis=0) for run in self.segments.runs])
        known = self.smallest[:, others.clusters]
        np.minimum(known, np.minimum.reduceat(lowest, others.offsets, axis=1), out=known)
        self.column_nearest[self._local(columns)] = lowest.min(axis=0)
        np.minimum(self.row_nearest, block.min(axis=1), out=self.row_nearest)


def distance_pass(
    tile: Tile,
    starts: np.ndarray,
    n: int,
    *,
    sums: bool = True,
    extremes: bool = True,
    n_neighbors: int = 0,
    n_jobs: int | None = None,
) -> DistancePass:
    """Reduce the distance matrix of `n` sorted rows by clusters.

    Sums and extremes that are not asked for stay at their start values. With `n_neighbors` the
    rows sorted next to a row bound the distance to its nearest `n_neighbors`.
    """
    K = len(starts)
    result = DistancePass(
        sums=np.zeros((K, n if sums else 0)),
        largest=np.zeros(K),
        smallest=np.full((K, K), np.inf),
        nearest_other=np.full(n, np.inf),
        radius=np.full(n, np.inf),
    )

    def reduced(rows: slice) -> _Strip:
        strip = _Strip(tile, starts, rows, n)
        return strip.reduce(sums=sums, extremes=extremes, n_neighbors=n_neighbors)

    strips = Parallel(n_jobs, require="sharedmem", return_as="generator")(
        delayed(reduced)(rows) for rows in slices(n, TILE_ROWS)
    )
    for strip in strips:
        _gather(result, strip, sums=sums)
    np.minimum(result.smallest, result.smallest.T, out=result.smallest)
    return result


def _gather(result: DistancePass, strip: _Strip, *, sums: bool) -> None:
    rows, clusters = strip.rows, strip.segments.clusters
    later = slice(rows.start, None)
    if sums:
        result.sums[:, rows] += strip.row_sums.T
        result.sums[clusters, later] += strip.column_sums
    _tighten(np.maximum, result.largest[clusters], strip.largest)
    _tighten(np.minimum, result.smallest[clusters], strip.smallest)
    _tighten(np.minimum, result.nearest_other[rows], strip.row_nearest)
    _tighten(np.minimum, result.nearest_other[later], strip.column_nearest)
    result.radius[rows] = strip.radius


def _tighten(extreme: np.ufunc, known: np.ndarray, new: np.ndarray) -> None:
    extreme(known, new, out=known)


def within_pass(
    tile: Tile, members: list[slice], *, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sum over pairs and the largest distance within each cluster, both (K,)."""
    reduced = Parallel(n_jobs, require="sharedmem")(
        delayed(_reduce_cluster)(tile, rows) for rows in members
    )
    totals, largest = np.array(reduced, dtype=float).T
    return totals, largest


def _reduce_cluster(tile: Tile, members: slice) -> tuple[float, float]:
    total = largest = 0.0
    for rows in slices(members.stop, TILE_ROWS, start=members.start):
        block = tile(rows, rows)
        total, largest = total + block.sum() / 2, max(largest, block.max())
        for columns in slices(members.stop, TILE_COLUMNS, start=rows.stop):
            block = tile(rows, columns)
            total, largest = total + block.sum(), max(largest, block.max())
    return total, largest


def slices(stop: int, step: int, *, start: int = 0) -> Iterator[slice]:
    """Cut start:stop into slices of `step`, the last one shorter."""
    for begin in range(start, stop, step):
        yield slice(begin, min(begin + step, stop))
