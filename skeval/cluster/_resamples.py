"""Resamples of data to be clustered again: fewer samples, or disturbed ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator

from skeval.cluster._reference import rebuild
from skeval.utils._compat import safe_indexing

__all__ = ["RESAMPLES", "Resamples", "half_of", "make_resamples"]

Resample = tuple[Any, np.ndarray, np.ndarray]
"""Data to cluster, rows of the original that they hold, and where these are in the data."""
Resamples = Callable[[Generator], Resample]
RESAMPLES = ("bootstrap", "subset", "noise", "jitter")

NOISE_SHARE, NOISE_REACH = 0.05, 4.0  # of the samples; in standard deviations
JITTER_QUANTILE = 0.05


def make_resamples(X: Any, method: str) -> Resamples:
    """Return a function that draws resamples of X."""
    if method in ("bootstrap", "subset"):
        return partial(draw_rows, X, method)
    points = np.asarray(X, dtype=np.float64)
    centre = points.mean(axis=0)
    axes = np.linalg.svd(points - centre, full_matrices=False)[2]
    scores = (points - centre) @ axes.T
    if method == "noise":
        reach = NOISE_REACH * scores.std(axis=0, ddof=1)
        return partial(replace_rows, X, points, centre, axes, reach)
    return partial(move_rows, X, points, axes, np.array([smallest_steps(s) for s in scores.T]))


def half_of(n: int, rng: Generator) -> np.ndarray:
    """Draw half of n rows, rounded down, in ascending order."""
    return np.sort(rng.permutation(n)[: n // 2])


def draw_rows(X: Any, method: str, rng: Generator) -> Resample:
    """Draw half of the rows, or the distinct rows of a bootstrap."""
    n = X.shape[0]
    rows = half_of(n, rng) if method == "subset" else np.unique(rng.integers(0, n, size=n))
    return safe_indexing(X, rows), rows, np.arange(len(rows))


def replace_rows(
    X: Any, points: np.ndarray, centre: np.ndarray, axes: np.ndarray, reach: np.ndarray,
    rng: Generator,
) -> Resample:  # fmt: skip
    """Replace some rows by points uniform in a box along the axes."""
    replaced = rng.random(len(points)) < NOISE_SHARE
    noise = centre + rng.uniform(-reach, reach, size=(replaced.sum(), len(reach))) @ axes
    data = points.copy()
    data[replaced] = noise
    rows = np.flatnonzero(~replaced)
    return rebuild(X, data), rows, rows


def move_rows(
    X: Any, points: np.ndarray, axes: np.ndarray, scales: np.ndarray, rng: Generator
) -> Resample:
    """Add normal noise to all rows, of its own scale along each axis."""
    data = points + rng.normal(scale=scales, size=(len(points), len(scales))) @ axes
    rows = np.arange(len(points))
    return rebuild(X, data), rows, rows


def smallest_steps(scores: np.ndarray) -> float:
    """Return the low quantile of the positive distances between neighbours on an axis."""
    steps = np.diff(np.sort(scores))
    steps = steps[steps > 0]
    return float(np.quantile(steps, JITTER_QUANTILE)) if steps.size else 0.0
