"""Data without structure, which the stability of the clusters of the data is compared with."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.sparse import issparse

__all__ = ["REFERENCES", "REFERENCE_WORDS", "Draws", "rebuild", "resolve_reference"]

Draws = Callable[[Generator], Any]
Box = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
REFERENCES = ("auto", "uniform", "box", "permuted")
REFERENCE_WORDS = {
    "uniform": "points drawn uniformly in the principal box of the data",
    "box": "points drawn uniformly in the box of the ranges of the features",
    "permuted": "the data with every column shuffled by itself",
}


def resolve_reference(X: Any, reference: str) -> tuple[str, Draws]:
    """Return the kind of reference and a function that draws data of the shape and type of X."""
    if reference == "auto":
        reference = "permuted" if issparse(X) else "uniform"
    if reference == "permuted":
        return reference, partial(shuffle_columns, X)
    if issparse(X):
        raise ValueError(f"reference={reference!r} needs dense X, got sparse X: use 'permuted'.")
    points = np.asarray(X, dtype=np.float64)
    box = find_principal_box(points) if reference == "uniform" else find_box(points)
    return reference, partial(draw_uniform, X, *box)


def find_box(X: np.ndarray) -> Box:
    """Return the origin, the axes of the features as rows, and the range of each feature."""
    return np.zeros(X.shape[1]), np.eye(X.shape[1]), X.min(axis=0), X.max(axis=0)


def find_principal_box(X: np.ndarray) -> Box:
    """Return the centre, the principal axes as rows, and the range of the scores on each."""
    centre = X.mean(axis=0)
    left, sizes, axes = np.linalg.svd(X - centre, full_matrices=False)
    scores = left * sizes
    return centre, axes, scores.min(axis=0), scores.max(axis=0)


def draw_uniform(
    X: Any, centre: np.ndarray, axes: np.ndarray, low: np.ndarray, high: np.ndarray, rng: Generator
) -> Any:
    """Draw points uniformly in a box of these axes and ranges."""
    return rebuild(X, centre + rng.uniform(low, high, size=(X.shape[0], len(low))) @ axes)


def rebuild(X: Any, points: np.ndarray) -> Any:
    """Return points in the type and precision of X."""
    if hasattr(X, "iloc"):
        return type(X)(points, columns=X.columns)
    return points.astype(X.dtype) if X.dtype.kind == "f" else points


def shuffle_columns(X: Any, rng: Generator) -> Any:
    """Shuffle every column of X by itself."""
    orders = np.stack([rng.permutation(X.shape[0]) for _ in range(X.shape[1])], axis=1)
    if issparse(X):
        cells = X.tocoo()
        rows = orders[cells.row, cells.col].astype(cells.row.dtype)
        return type(X)((cells.data, (rows, cells.col)), shape=X.shape)
    if hasattr(X, "iloc"):
        shuffled = X.copy()
        for column, order in enumerate(orders.T):
            shuffled.isetitem(column, X.iloc[:, column].array[order])
        return shuffled
    return np.take_along_axis(X, orders, axis=0)
