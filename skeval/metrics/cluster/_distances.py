"""Engine: blocks of a distance matrix, correct to about 1e-12 even between near-duplicates."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import PAIRWISE_BOOLEAN_FUNCTIONS
from sklearn.utils.extmath import row_norms, safe_sparse_dot

__all__ = [
    "BlockDistance",
    "Points",
    "Tile",
    "distance_function",
    "euclidean",
    "matrix_tile",
    "point_tile",
    "squared_euclidean",
    "squared_norms",
]

Points = Any
"""An (n, p) ndarray or CSR matrix."""
BlockDistance = Callable[[Points, Points], np.ndarray]
"""(r, p) points and (c, p) points -> (r, c) distances."""
Tile = Callable[[slice, slice], np.ndarray]
"""Slices of sorted rows and columns -> that block of the distance matrix."""

# |a - b|^2 = |a|^2 + |b|^2 - 2ab cancels when a and b are close. Pairs whose squared distance is
# below this share of |a|^2 + |b|^2 are computed again from the differences of coordinates.
CLOSE = 1e-2
DIRECT_FEATURES = 4  # up to here differences cost no more than a matrix product
NUMBERS_AT_ONCE = 2**18


def distance_function(metric: str | Callable, points: Points) -> BlockDistance:
    """Return the function that computes blocks of distances; `points` sets data-driven scales."""
    if metric in ("euclidean", "l2"):
        return euclidean
    if metric == "sqeuclidean":
        return squared_euclidean
    if metric in PAIRWISE_BOOLEAN_FUNCTIONS:
        return lambda a, b: pairwise_distances(a.astype(bool), b.astype(bool), metric=metric)
    return partial(pairwise_distances, metric=metric, **_scale(metric, points))


def _scale(metric: str | Callable, points: Points) -> dict[str, np.ndarray]:
    """Return what the metric takes from all the points, which a block alone could not tell."""
    if metric == "seuclidean" and not issparse(points):
        return {"V": np.var(points, axis=0, ddof=1)}
    if metric == "mahalanobis" and not issparse(points):
        return {"VI": np.linalg.inv(np.atleast_2d(np.cov(points.T)))}
    return {}


def point_tile(distance: BlockDistance, points: Points) -> Tile:
    """Return the tiles of the distance matrix of `points`; its diagonal is exactly 0."""

    def tile(rows: slice, columns: slice) -> np.ndarray:
        return _zero_to_itself(distance(points[rows], points[columns]), rows, columns)

    return tile


def matrix_tile(matrix: np.ndarray, order: np.ndarray) -> Tile:
    """Return the tiles of a distance matrix whose rows and columns are taken in `order`."""

    def tile(rows: slice, columns: slice) -> np.ndarray:
        block = matrix[np.ix_(order[rows], order[columns])]
        return _zero_to_itself(block, rows, columns)

    return tile


def _zero_to_itself(block: np.ndarray, rows: slice, columns: slice) -> np.ndarray:
    itself = np.arange(max(rows.start, columns.start), min(rows.stop, columns.stop))
    block[itself - rows.start, itself - columns.start] = 0.0
    return block


def euclidean(a: Points, b: Points) -> np.ndarray:
    """Return the (r, c) Euclidean distances."""
    squared = squared_euclidean(a, b)
    return np.sqrt(squared, out=squared)


def squared_euclidean(a: Points, b: Points) -> np.ndarray:
    """Return the (r, c) squared Euclidean distances between dense or sparse points."""
    if issparse(a):
        aa, bb = squared_norms(a), squared_norms(b)
        squared = safe_sparse_dot(a, b.T, dense_output=True)
        squared *= -2.0
        squared += aa[:, None]
        squared += bb
        return _with_close_pairs(squared, a, b, aa, bb)
    if a.shape[1] <= DIRECT_FEATURES:
        return cdist(a, b, "sqeuclidean")
    centre = a.mean(axis=0)  # near the rows, so that little cancels
    left, right = a - centre, b - centre
    aa, bb = squared_norms(left), squared_norms(right)
    # one product does it all: (-2a, 1, |a|^2) . (b, |b|^2, 1)
    left = np.column_stack([-2.0 * left, np.ones(len(aa)), aa])
    squared = left @ np.column_stack([right, bb, np.ones(len(bb))]).T
    return _with_close_pairs(squared, a, b, aa, bb)


def _with_close_pairs(
    squared: np.ndarray, a: Points, b: Points, aa: np.ndarray, bb: np.ndarray
) -> np.ndarray:
    """Replace, in place, what cancellation has made inexact."""
    if squared.min() > CLOSE * (aa.max() + bb.max()):
        return squared
    i, j = np.nonzero(squared <= CLOSE * (aa[:, None] + bb))
    step = max(1, NUMBERS_AT_ONCE // a.shape[1])
    for start in range(0, len(i), step):
        pairs = i[start : start + step], j[start : start + step]
        squared[pairs] = squared_norms(a[pairs[0]] - b[pairs[1]])
    return squared


def squared_norms(points: Points) -> np.ndarray:
    """Return the squared Euclidean length of each row of a dense or sparse matrix."""
    if issparse(points):
        return row_norms(points, squared=True)
    return np.einsum("ij,ij->i", points, points)
