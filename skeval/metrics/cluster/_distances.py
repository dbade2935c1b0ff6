"""Engine: blocks of a distance matrix, correct to about 1e-12 even between near-duplicates."""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import PAIRWISE_BOOLEAN_FUNCTIONS
from sklearn.utils.extmath import row_norms, safe_sparse_dot

__all__ = [
    "DIRECT_FEATURES",
    "BlockDistance",
    "Points",
    "Strip",
    "Tiles",
    "distance_function",
    "euclidean",
    "euclidean_tiles",
    "matrix_tiles",
    "point_tiles",
    "squared_euclidean",
    "squared_norms",
]

Points = Any
"""An (n, p) ndarray or CSR matrix."""
BlockDistance = Callable[[Points, Points], np.ndarray]
"""(r, p) points and (c, p) points -> (r, c) distances."""
Strip = Callable[[slice], np.ndarray]
"""Slice of columns -> that block of a strip of the distance matrix, free to overwrite."""
Tiles = Callable[[slice], Strip]
"""Slice of rows, sorted by cluster -> their strip."""

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


def point_tiles(distance: BlockDistance, points: Points) -> Tiles:
    """Return the tiles of the distance matrix of `points`; its diagonal is exactly 0."""

    def strip(rows: slice) -> Strip:
        def block(columns: slice) -> np.ndarray:
            return _zero_to_itself(distance(points[rows], points[columns]), rows, columns)

        return block

    return strip


def euclidean_tiles(points: np.ndarray, starts: np.ndarray) -> Tiles:
    """Return the tiles of the Euclidean distance matrix of points sorted by cluster.

    The strips of a cluster share its centre, and so one copy of the operands of all columns.
    """
    stops = np.append(starts[1:], len(points))

    @lru_cache(maxsize=1)
    def operands(cluster: int) -> np.ndarray:
        centre = points[starts[cluster] : stops[cluster]].mean(axis=0)
        return _operands(points, centre)

    def strip(rows: slice) -> Strip:
        right = operands(int(np.searchsorted(starts, rows.start, side="right")) - 1)
        left = _left(right[rows])

        def block(columns: slice) -> np.ndarray:
            squared = _product(points[rows], points[columns], left, right[columns])
            return np.sqrt(squared, out=squared)

        return block

    return strip


def matrix_tiles(matrix: np.ndarray, order: np.ndarray) -> Tiles:
    """Return the tiles of a distance matrix whose rows and columns are taken in `order`."""

    def strip(rows: slice) -> Strip:
        def block(columns: slice) -> np.ndarray:
            return _zero_to_itself(matrix[np.ix_(order[rows], order[columns])], rows, columns)

        return block

    return strip


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
    return _product(a, b, _left(_operands(a, centre)), _operands(b, centre))


def _operands(points: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """Return the rows (x, |x|^2, 1) of the centred points."""
    operands = np.empty((len(points), len(centre) + 2))
    centred = np.subtract(points, centre, out=operands[:, :-2])
    operands[:, -2] = squared_norms(centred)
    operands[:, -1] = 1.0
    return operands


def _left(operands: np.ndarray) -> np.ndarray:
    """Turn (x, |x|^2, 1) into (-2x, 1, |x|^2), whose product with (y, |y|^2, 1) is |x - y|^2."""
    return np.column_stack([-2.0 * operands[:, :-2], operands[:, -1], operands[:, -2]])


def _product(a: np.ndarray, b: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return _with_close_pairs(left @ right.T, a, b, left[:, -1], right[:, -2])


def _with_close_pairs(
    squared: np.ndarray, a: Points, b: Points, aa: np.ndarray, bb: np.ndarray
) -> np.ndarray:
    """Replace, in place, what cancellation has made inexact."""
    gap = np.sqrt(bb.min()) - np.sqrt(aa.max())  # |x - y| >= |y| - |x|
    if gap > 0 and gap**2 > CLOSE * (aa.max() + bb.max()):
        return squared
    rows = np.flatnonzero(squared.min(axis=1) <= CLOSE * (aa + bb.max()))
    if not len(rows):
        return squared
    i, j = np.nonzero(squared[rows] <= CLOSE * (aa[rows, None] + bb))
    i = rows[i]
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
