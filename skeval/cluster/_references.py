"""Reference data without structure, to compare clusterings with.

The points are uniform in a box, have separately permuted columns, or follow the unimodal
distribution that is closest to the data.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.optimize import isotonic_regression
from scipy.sparse import issparse, vstack
from scipy.stats import norm, rankdata

from skeval.utils._compat import safe_indexing

Draws = Callable[[Generator], Any]
Box = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
REFERENCES = ("auto", "uniform", "box", "permuted", "unimodal")
REFERENCE_WORDS = {
    "uniform": "points drawn uniformly in the principal box of the data",
    "box": "points drawn uniformly in the box of the ranges of the features",
    "permuted": "the data with every column permuted separately",
    "unimodal": "points drawn from the closest unimodal distribution",
}
N_MODES = 17
"""Number of quantiles of a column that are tried as its mode."""


def resolve_reference(X: Any, reference: str, default: str = "uniform") -> tuple[str, Draws]:
    """Return the kind of reference and a function that draws data of the shape and type of X."""
    if reference == "auto":
        reference = "permuted" if issparse(X) else default
    if reference == "permuted":
        return reference, partial(permute_columns, X)
    if issparse(X):
        raise ValueError(f"reference={reference!r} needs dense X, got sparse X: use 'permuted'.")
    points = np.asarray(X, dtype=np.float64)
    if reference == "unimodal":
        return reference, partial(draw_unimodal, X, fit_unimodal(points))
    box = find_principal_box(points) if reference == "uniform" else find_box(points)
    return reference, partial(draw_uniform, X, *box)


def refer_to_clusters(X: Any, labels: np.ndarray) -> Draws:
    """Return a function that draws data with one unimodal population per cluster.

    The columns of sparse X are permuted within each cluster instead.
    """
    clusters = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    parts = [resolve_reference(safe_indexing(X, rows), "auto", "unimodal")[1] for rows in clusters]
    order = np.argsort(np.concatenate(clusters))
    return partial(draw_clusters, X, parts, order)


def draw_clusters(X: Any, parts: list[Draws], order: np.ndarray, rng: Generator) -> Any:
    """Draw each cluster separately, and return the rows in the order of the data."""
    draws = [draw(rng) for draw in parts]
    if len(draws) == 1:
        return draws[0]
    if issparse(X):
        return type(X)(vstack(draws))[order]
    return rebuild(X, np.concatenate([np.asarray(draw) for draw in draws])[order])


def find_box(X: np.ndarray) -> Box:
    """Return the origin, the axes of the features as rows, and the range of each feature."""
    return np.zeros(X.shape[1]), np.eye(X.shape[1]), X.min(axis=0), X.max(axis=0)


def find_principal_box(X: np.ndarray) -> Box:
    """Return the center, the principal axes as rows, and the range of the scores on each."""
    center = X.mean(axis=0)
    left, sizes, axes = np.linalg.svd(X - center, full_matrices=False)
    scores = left * sizes
    return center, axes, scores.min(axis=0), scores.max(axis=0)


def draw_uniform(
    X: Any, center: np.ndarray, axes: np.ndarray, low: np.ndarray, high: np.ndarray, rng: Generator
) -> Any:
    """Draw points uniformly in a box of these axes and ranges."""
    return rebuild(X, center + rng.uniform(low, high, size=(X.shape[0], len(low))) @ axes)


def permute_columns(X: Any, rng: Generator) -> Any:
    """Permute each column of X separately."""
    orders = np.stack([rng.permutation(X.shape[0]) for _ in range(X.shape[1])], axis=1)
    if issparse(X):
        cells = X.tocoo()
        rows = orders[cells.row, cells.col].astype(cells.row.dtype)
        return type(X)((cells.data, (rows, cells.col)), shape=X.shape)
    if hasattr(X, "iloc"):
        permuted = X.copy()
        for column, order in enumerate(orders.T):
            permuted.isetitem(column, X.iloc[:, column].array[order])
        return permuted
    return np.take_along_axis(X, orders, axis=0)


class Unimodal(NamedTuple):
    """Unimodal distributions of the columns, joined by a Gaussian copula.

    `root` of shape (r, p) is a root of the correlation matrix of the normal scores, and `columns`
    are the distributions.
    """

    root: np.ndarray
    columns: list[UnimodalColumn]


class UnimodalColumn(NamedTuple):
    """Distribution function of a column at its knots, and the spacing of its lattice or 0."""

    probabilities: np.ndarray
    knots: np.ndarray
    step: float


def fit_unimodal(X: np.ndarray) -> Unimodal:
    """Fit a distribution with unimodal columns and the rank correlations of the data."""
    n = len(X)
    scores = norm.ppf((rankdata(X, axis=0) - 0.5) / n)
    scores -= scores.mean(axis=0)
    lengths = np.linalg.norm(scores, axis=0)
    scores /= np.where(lengths > 0, lengths, 1)
    _, sizes, axes = np.linalg.svd(scores, full_matrices=False)
    return Unimodal(sizes[:, None] * axes, [fit_unimodal_column(column) for column in X.T])


def fit_unimodal_column(values: np.ndarray) -> UnimodalColumn:
    """Return the unimodal distribution near the empirical one in Kolmogorov's distance.

    For a fixed mode the density is the monotone regression of the empirical density on either
    side, whose integral is the convex minorant or concave majorant of the distribution function.
    """
    edges, mass, step = divide_range(values)
    if not mass.size:
        return UnimodalColumn(np.array([0.0, 1.0]), edges[[0, 0]], 0.0)
    widths = np.diff(edges)
    density, empirical = mass / widths, np.cumsum(mass)
    best = (np.inf, empirical)
    for mode in np.unique(np.searchsorted(empirical, np.linspace(0, 1 - 1e-9, N_MODES))):
        sides = slice(None, mode), slice(mode, None)
        fits = [
            isotonic_regression(density[side], weights=widths[side], increasing=rises).x
            for side, rises in zip(sides, (True, False), strict=True)
            if len(density[side])
        ]
        fitted = np.cumsum(np.concatenate(fits) * widths)
        best = min(best, (np.abs(fitted - empirical).max(), fitted), key=lambda pair: pair[0])
    return UnimodalColumn(np.append(0.0, best[1] / best[1][-1]), edges, step)


def divide_range(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the edges of cells, the fractions of values in them, and the spacing of a lattice.

    The cells of continuous values lie between neighboring values, and their spacing is 0. Values on
    a lattice, such as counts or rounded measurements, have a cell around each point.
    """
    points, counts = np.unique(values, return_counts=True)
    if len(points) < 2:
        return points, np.empty(0), 0.0
    step = np.diff(points).min()
    n_steps = (points[-1] - points[0]) / step
    places = (points - points[0]) / step
    if n_steps >= len(values) or np.abs(places - np.round(places)).max() > 0.01:
        shares = np.append(counts[0] + counts[1], counts[2:]) / len(values)
        return points, shares, 0.0
    shares = np.bincount(np.round(places).astype(int), counts) / len(values)
    return points[0] + step * (np.arange(len(shares) + 1) - 0.5), shares, float(step)


def draw_unimodal(X: Any, fitted: Unimodal, rng: Generator) -> Any:
    """Draw points from the fitted distribution."""
    normal = rng.normal(size=(X.shape[0], len(fitted.root))) @ fitted.root
    uniform = norm.cdf(normal)
    points = np.empty(X.shape)
    for place, (probabilities, knots, step) in enumerate(fitted.columns):
        drawn = np.interp(uniform[:, place], probabilities, knots)
        if step:  # back to the middle of the cell
            cells = np.minimum((drawn - knots[0]) // step, len(knots) - 2)
            drawn = knots[0] + step * (cells + 0.5)
        points[:, place] = drawn
    return rebuild(X, points)


def rebuild(X: Any, points: np.ndarray) -> Any:
    """Return points in the type and precision of X."""
    if hasattr(X, "iloc"):
        return type(X)(points, columns=X.columns)
    return points.astype(X.dtype) if X.dtype.kind == "f" else points
