"""Data without structure, which the stability of the clusters of the data is compared with."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.sparse import issparse
from scipy.stats import chi2, kurtosis, kurtosistest, rankdata, skew, skewtest

__all__ = [
    "REFERENCES",
    "REFERENCE_WORDS",
    "Draws",
    "explain_by_columns",
    "rebuild",
    "resolve_reference",
    "shuffle_when_uncorrelated",
]

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


def shuffle_when_uncorrelated(X: Any, kind: str) -> Draws | None:
    """Return the reference "permuted" where it can tell the shape of columns from structure.

    Skewed or heavy-tailed columns of one population are not uniform in a box, and an algorithm
    finds more there than in a box. The columns shuffled by themselves keep their shapes. Where
    columns are correlated shuffling takes more than clusters from them, and one column alone it
    only reorders: then there is no such reference, nor where it was the reference asked for.
    """
    if kind == "permuted" or X.shape[1] < 2 or _are_correlated(np.asarray(X, dtype=np.float64)):
        return None
    return partial(shuffle_columns, X)


LEVEL = 0.05


def _are_correlated(points: np.ndarray) -> bool:
    """Test whether the (n, p) columns are rank-correlated, all pairs of them together.

    Without correlation ``(n - 1) sum_{i<j} r_ij^2`` is near chi-squared with p (p - 1) / 2 degrees
    of freedom. The sum over all pairs is that over the smaller of the two tables of products.
    """
    ranks = rankdata(points, axis=0)
    ranks -= ranks.mean(axis=0)
    lengths = np.linalg.norm(ranks, axis=0)
    ranks = ranks[:, lengths > 0] / lengths[lengths > 0]
    n, p = ranks.shape
    products = ranks.T @ ranks if p < n else ranks @ ranks.T
    squares = (np.square(products).sum() - p) / 2  # without the p correlations of 1
    return bool(p > 1 and chi2.sf((n - 1) * squares, p * (p - 1) / 2) < LEVEL)


def explain_by_columns(X: Any, what: str) -> str:
    """Say that the shapes of single columns explain what was found, and what these shapes are."""
    names = X.columns if hasattr(X, "iloc") else range(X.shape[1])
    points = np.asarray(X, dtype=np.float64)
    shapes = [
        text for name, values in zip(names, points.T, strict=True) if (text := _shape(name, values))
    ]
    found = f"The columns shuffled, each by itself, show {what}, and they are not correlated: "
    if not shapes:
        return found + "what single columns show, such as groups along one, explains it."
    more = f" and {len(shapes) - 1} more" if len(shapes) > 1 else ""
    return found + (
        f"skewness or heavy tails explain it ({shapes[0]}{more}), unless a histogram of that "
        "column shows groups."
    )


def _shape(name: Any, values: np.ndarray) -> str:
    """Return how a column is skewed or heavy-tailed, nothing where it is neither for sure."""
    if len(values) < 20 or np.ptp(values) == 0:  # the tests need so many
        return ""
    if skewtest(values).pvalue < LEVEL:
        return f"column {name}: skewness {skew(values):.1f}"
    # SciPy's statistic has the wrong sign far below 0, as for two equal groups.
    if kurtosis(values) > 0 and kurtosistest(values, alternative="greater").pvalue < LEVEL:
        return f"column {name}: excess kurtosis {kurtosis(values):.1f}"
    return ""


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
