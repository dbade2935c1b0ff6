"""Euclidean distances by products of matrices, correct to about 1e-12 between near-duplicates.

Equations: doc/derivations/distance_pass.rst.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.spatial.distance import cdist
from sklearn.utils.extmath import row_norms, safe_sparse_dot

__all__ = [
    "Points",
    "euclidean",
    "left_operands",
    "mend",
    "multiply",
    "operands",
    "squared_euclidean",
    "squared_norms",
]

Points = Any
"""An (n, p) ndarray or CSR matrix."""

# The product form (eq. 8) cancels where two points are close. Close pairs (eq. 10) are computed
# again: one by one from the differences of coordinates or, where they are many, all the rows
# concerned from centres nearer to them.
CLOSE = 1e-2  # tau of eq. 10
ONE_BY_ONE = 16  # cost of a pair computed from differences, in units of a pair of a matrix product
HALVINGS = 4  # how often rows are halved to find nearer centres
DENSE_NUMBERS = 2**23  # numbers of a sparse block that may be held as dense
DIRECT_FEATURES = 4  # up to here differences cost no more than a matrix product
ROUNDED = 1e-9  # much more than rounding makes of the bounds of eq. 12, relative to them
NUMBERS_AT_ONCE = 2**18  # coordinates of differences held at a time
SMALL_PRODUCT = 10**6  # multiplications of a product that OpenBLAS does without copying operands
FEW_ROWS = 48  # so small a block costs more in calls than in copies


def euclidean(a: Points, b: Points) -> np.ndarray:
    """Return the (r, c) Euclidean distances."""
    squared = squared_euclidean(a, b)
    return np.sqrt(squared, out=squared)


def squared_euclidean(a: Points, b: Points, *, halvings: int = HALVINGS) -> np.ndarray:
    """Return the (r, c) squared Euclidean distances between dense or sparse points.

    Where `a` does not fit one centre it is halved, that often at most.
    """
    if issparse(a):
        aa, bb = squared_norms(a), squared_norms(b)
        squared = safe_sparse_dot(a, b.T, dense_output=True)
        squared *= -2.0
        squared += aa[:, None]
        squared += bb
        mend(squared, aa, bb, lambda: (a, b), halvings=halvings)
        return squared
    if a.shape[1] <= DIRECT_FEATURES or not halvings:
        return cdist(a, b, "sqeuclidean")
    centre = a[0] + (a - a[0]).mean(axis=0)  # near the rows, so that little cancels
    left, right = left_operands(operands(a.T, centre)), operands(b.T, centre)
    aa, bb = left[:, -1], right[-2]
    squared = multiply(left, right)
    mend(squared, aa, bb, lambda: (a, b), halvings=halvings)
    return squared


def operands(columns: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """Return the columns (x, |x|^2, 1) of the centred points, the right operand of eq. 8.

    columns (p, n): the points; centre (p,). Long rows are what NumPy and BLAS are fast at.
    """
    p, n = columns.shape
    right = np.empty((p + 2, n))
    centred = np.subtract(columns, centre[:, None], out=right[:p])
    np.einsum("ij,ij->j", centred, centred, out=right[p])
    right[p + 1] = 1.0
    return right


def left_operands(right: np.ndarray) -> np.ndarray:
    """Turn columns (x, |x|^2, 1) into rows (-2x, 1, |x|^2), the left operand of eq. 8."""
    return np.column_stack([-2.0 * right[:-2].T, right[-1], right[-2]])


def multiply(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the (r, c) product, a few rows at a time: BLAS multiplies small blocks uncopied."""
    step = SMALL_PRODUCT // right.size
    if step < FEW_ROWS:
        return left @ right
    product = np.empty((len(left), right.shape[1]))
    for begin in range(0, len(left), step):
        rows = slice(begin, begin + step)
        np.matmul(left[rows], right, out=product[rows])
    return product


def mend(
    squared: np.ndarray,
    aa: np.ndarray,
    bb: np.ndarray,
    take: Callable[[], tuple[Points, Points]],
    *,
    halvings: int = HALVINGS,
) -> np.ndarray:
    """Replace, in place, what cancellation has made inexact; return (r,) lower bounds of the rows.

    aa (r,) and bb (c,) are the norms; `take` returns the points, which are seldom needed.
    """
    gaps = np.sqrt(bb.min()) - np.sqrt(aa)  # (r,)
    gap = gaps.min()
    if gap > 0 and gap**2 > CLOSE * (aa.max() + bb.max()):  # eq. 12
        return np.square(gaps) * (1 - ROUNDED)
    lowest = squared.min(axis=1)
    rows = np.flatnonzero(lowest < CLOSE * (aa + bb.max()))  # they may have close pairs
    if len(rows):
        _compute_close_pairs(squared, rows, *take(), aa, bb, halvings=halvings)
        lowest[rows] = squared[rows].min(axis=1)
    return lowest


def _compute_close_pairs(
    squared: np.ndarray,
    rows: np.ndarray,
    a: Points,
    b: Points,
    aa: np.ndarray,
    bb: np.ndarray,
    *,
    halvings: int,
) -> None:
    """Compute the close pairs of some rows again, in place."""
    close = squared[rows] < CLOSE * (aa[rows, None] + bb)  # eq. 10
    if ONE_BY_ONE * np.count_nonzero(close) > squared.size and _fits_dense(a, b):
        squared[rows] = _by_halves(a[rows], b, halvings=halvings)
        return
    i, j = np.nonzero(close)
    i = rows[i]
    step = max(1, NUMBERS_AT_ONCE // a.shape[1])
    for start in range(0, len(i), step):
        pairs = i[start : start + step], j[start : start + step]
        squared[pairs] = squared_norms(a[pairs[0]] - b[pairs[1]])


def _fits_dense(a: Points, b: Points) -> bool:
    return not issparse(a) or (a.shape[0] + b.shape[0]) * a.shape[1] <= DENSE_NUMBERS


def _by_halves(a: Points, b: Points, *, halvings: int) -> np.ndarray:
    """Cut the rows of `a` in two where they spread most, and let each half have its centre."""
    if issparse(a):
        return squared_euclidean(a.toarray(), b.toarray())
    widest = np.ptp(a, axis=0).argmax()
    upper = a[:, widest] > a[:, widest].min() / 2 + a[:, widest].max() / 2
    squared = np.empty((len(a), len(b)))
    for half in (upper, ~upper):
        if half.any():
            squared[half] = squared_euclidean(a[half], b, halvings=halvings - 1)
    return squared


def squared_norms(points: Points) -> np.ndarray:
    """Return the squared Euclidean length of each row of a dense or sparse matrix."""
    if issparse(points):
        return row_norms(points, squared=True)
    return np.einsum("ij,ij->i", points, points)
