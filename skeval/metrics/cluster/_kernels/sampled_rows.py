"""The sums and the neighbours of some rows, from their distances to all others.

Equations: doc/derivations/distance_pass.rst, doc/derivations/neighbours.rst.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from joblib import Parallel, delayed

from skeval.metrics.cluster._kernels.distance_pass import (
    TILE_COLUMNS,
    TILE_ROWS,
    Segments,
    cut_points,
    slices,
)
from skeval.metrics.cluster._kernels.distances import Tiles
from skeval.metrics.cluster._kernels.neighbours import Nearest

__all__ = ["pass_over_rows"]


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
