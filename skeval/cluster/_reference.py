"""Data without structure, which the stability of the clusters of the data is compared with."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.sparse import issparse

__all__ = ["REFERENCES", "Draws", "resolve_reference"]

Draws = Callable[[Generator], Any]
REFERENCES = ("auto", "uniform", "permuted")


def resolve_reference(X: Any, reference: str) -> tuple[str, Draws]:
    """Return the kind of reference and a function that draws data of the shape and type of X."""
    if reference == "auto":
        reference = "permuted" if issparse(X) else "uniform"
    if reference == "permuted":
        return reference, partial(shuffle_columns, X)
    if issparse(X):
        raise ValueError("reference='uniform' needs dense X, got sparse X: use 'permuted'.")
    box = find_principal_box(np.asarray(X, dtype=np.float64))
    return reference, partial(draw_uniform, X, *box)


def find_principal_box(X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the centre, the principal axes as rows, and the range of the scores on each."""
    centre = X.mean(axis=0)
    left, sizes, axes = np.linalg.svd(X - centre, full_matrices=False)
    scores = left * sizes
    return centre, axes, scores.min(axis=0), scores.max(axis=0)


def draw_uniform(
    X: Any, centre: np.ndarray, axes: np.ndarray, low: np.ndarray, high: np.ndarray, rng: Generator
) -> Any:
    """Draw points uniformly in the box along the principal axes of X that holds X."""
    points = centre + rng.uniform(low, high, size=(X.shape[0], len(low))) @ axes
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
