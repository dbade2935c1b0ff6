"""Stacks of small linear systems: of any matrices, and of symmetric positive definite ones.

Those of eq. (3) and (7) of doc/derivations/newton.rst are of the second kind.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

__all__ = ["factor_each", "solve_each", "take_each"]

# Below this size the calls for each matrix take longer than elimination in one call for all.
_SMALL = 14


def factor_each(matrices: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return what solves systems of symmetric matrices (B, m, m) for right sides (B, m, r).

    A matrix that rounding has made indefinite is solved by elimination; solutions are nan where a
    matrix is singular.
    """
    if matrices.shape[-1] < _SMALL:
        return partial(solve_each, matrices)
    factors, failed = matrices.copy(), np.zeros(len(matrices), dtype=bool)
    for at, factor in enumerate(factors):
        # The transpose of a symmetric matrix has the layout of memory that LAPACK works in.
        failed[at] = dpotrf(factor.T, lower=1, clean=0, overwrite_a=1)[1] != 0
    broken = np.flatnonzero(failed)
    return partial(_solve_factored, factors, broken, matrices[broken])


def _solve_factored(
    factors: np.ndarray, broken: np.ndarray, matrices: np.ndarray, right: np.ndarray
) -> np.ndarray:
    """Return solutions from Cholesky factors, and from the matrices of those that are broken."""
    columns = np.array(right.transpose(0, 2, 1), order="C")  # (B, r, m), overwritten
    for factor, column in zip(factors, columns, strict=True):
        dpotrs(factor.T, column.T, lower=1, overwrite_b=1)
    solutions = columns.transpose(0, 2, 1)
    if len(broken):
        solutions[broken] = solve_each(matrices, right[broken])
    return solutions


def solve_each(matrices: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the solutions of a stack of linear systems, nan for those that are singular."""
    try:
        return np.linalg.solve(matrices, right)
    except np.linalg.LinAlgError:  # raised for the whole stack where one of them is
        if len(matrices) == 1:
            return np.full(right.shape, np.nan)
    half = len(matrices) // 2
    return np.concatenate(
        [solve_each(matrices[:half], right[:half]), solve_each(matrices[half:], right[half:])]
    )


def take_each(matrices: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the same rows and columns (B, m) of matrices (B, n, n), or of one (n, n)."""
    count, m = rows.shape
    parts = np.empty((count, m, m))
    whole = np.broadcast_to(matrices, (count, *matrices.shape[-2:]))
    # One call for all, with indices of every element, takes twice as long.
    for matrix, at, part in zip(whole, rows, parts, strict=True):
        matrix.take(at, axis=0).take(at, axis=1, out=part, mode="clip")
    return parts
