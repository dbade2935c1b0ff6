"""Splits of samples into training and test sets, on which solvers are tried."""

import numpy as np

from skeval._solvers.splits import Splits

N, N_FITS = 30, 6
KINDS = ["1", "3", "12", "20", "weights", "resamples"]


def some_splits(kind, rng, n=N):
    if kind == "weights":
        return Splits(rng.exponential(size=(N_FITS, n)), np.tile(np.arange(n), (N_FITS, 1)))
    if kind == "resamples":
        counts = [np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(N_FITS)]
        return Splits(np.array(counts), np.tile(np.arange(n), (N_FITS, 1)))
    weights = np.ones((N_FITS, n), dtype=int)
    removed = np.array([np.sort(rng.permutation(n)[: int(kind)]) for _ in range(N_FITS)])
    np.put_along_axis(weights, removed, 0, axis=1)
    return Splits(weights, removed)
