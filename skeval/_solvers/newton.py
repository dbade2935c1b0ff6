"""SVM duals in batches, and the Newton systems of the interior point and the active sets.

Both methods take steps of the same form, eq. (1) of newton. A system computes the steps of B
problems at once. The coefficients ``v`` are weights of columns in feature space, or weights of
samples on a Gram matrix.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Self

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from skeval._solvers.splits import Products

# Smaller matrices are solved by one call of elimination for all, which is faster than Cholesky
# factors of each.
_SMALL = 14
# Fraction of the diagonal of a matrix that is added to it.
_DIAGONAL = 1e-14


@dataclass(frozen=True)
class Duals:
    """B dual problems over n samples, eq. (1) of doc/derivations/svm.rst.

    system: their kernel. signs (B, n): the labels y, -1 or +1. box (B, n): the bounds C of alpha.
    """

    system: NewtonSystem
    signs: np.ndarray
    box: np.ndarray

    def take(self, problems: np.ndarray) -> Duals:
        """Return some of the problems."""
        if problems.dtype == bool and problems.all():
            return self
        return Duals(self.system.take(problems), self.signs[problems], self.box[problems])

    def margins(self, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
        """Return ``y f - 1`` (B, n) of coefficients (B, q) and intercepts (B,), eq. (2) there."""
        return self.signs * (self.system.scores(coef) + intercept[:, None]) - 1.0


class ProblemRows:
    """A dataclass of arrays with one row per problem."""

    def take(self, problems: np.ndarray) -> Self:
        """Return the rows of some problems, as copies."""
        return type(self)(**{name: rows[problems] for name, rows in vars(self).items()})

    def put(self, problems: np.ndarray, other: Self) -> None:
        """Replace the rows of some problems by the rows of another object."""
        for name, rows in vars(self).items():
            rows[problems] = getattr(other, name)


class NewtonStep(NamedTuple):
    """Changes of coefficients (B, q), intercepts (B,), decision values and beta (B, n)."""

    dv: np.ndarray
    db: np.ndarray
    df: np.ndarray
    d_beta: np.ndarray


Solve = Callable[[np.ndarray], np.ndarray]
"""Function of right sides (B, m, r) that returns the solutions of a stack of linear systems."""

StepFunction = Callable[[np.ndarray, np.ndarray, np.ndarray], NewtonStep]
"""Function of targets e (B, n), beta (B, n) and v (B, q) that returns the step of eq. (1)."""


class FeatureSystem:
    """System for few features, with the weights of the columns as coefficients.

    Z (n, q + 1): the columns of X (n, q) and a column of ones. ridge (q,) or (B, q): penalties of
    the columns. pull (B, q + 1) or None: moments of samples outside of X, which are fixed at their
    upper bounds. stiffness: D of free samples in the active sets, in units of 1 / K_ii. min_steps:
    minimum number of steps with this D.
    """

    stiffness, min_steps = 1e8, 2

    def __init__(self, X: np.ndarray, ridge: np.ndarray) -> None:
        self.Z = np.column_stack([X, np.ones(len(X))])
        self.ridge = ridge
        self.pull: np.ndarray | None = None
        self._products = Products(self.Z)

    def take(self, problems: np.ndarray) -> Self:
        """Return the system of some of the problems."""
        ridge = self.ridge if self.ridge.ndim == 1 else self.ridge[problems]
        return self.with_ridge(ridge, None if self.pull is None else self.pull[problems])

    def take_samples(self, samples: np.ndarray) -> FeatureSystem:
        """Return the system of some of the samples."""
        return FeatureSystem(self.Z[samples, :-1], self.ridge)

    def with_ridge(self, ridge: np.ndarray, pull: np.ndarray | None = None) -> Self:
        """Return a copy with new penalties, and new moments of the fixed samples."""
        part = copy.copy(self)
        part.ridge, part.pull = ridge, pull
        return part

    def zeros(self, n_problems: int) -> np.ndarray:
        """Return coefficients of 0, shape (n_problems, q)."""
        return np.zeros((n_problems, self.Z.shape[-1] - 1))

    def moments(self, beta: np.ndarray) -> np.ndarray:
        """Return sums over the samples weighted by beta (B, n). The last column is sum(beta)."""
        total = beta @ self.Z  # eq. (2) of newton, left
        return total if self.pull is None else total + self.pull

    def coef(self, beta: np.ndarray) -> np.ndarray:
        """Return the coefficients (B, q) that belong to beta (B, n)."""
        return self.moments(beta)[:, :-1] / self.ridge  # eq. (2) of newton, right

    def scores(self, v: np.ndarray) -> np.ndarray:
        """Return the decision values (B, n) without intercept."""
        return v @ self.Z[:, :-1].T

    @property
    def rank(self) -> int:
        """Maximum number of free samples, unless samples are repeated, eq. (10) of svm."""
        return self.Z.shape[-1]

    def squared_norm(self, v: np.ndarray) -> np.ndarray:
        """Return twice the penalty (B,) of coefficients, ``beta' K beta`` where v = coef(beta)."""
        return np.einsum("bj,bj->b", v * self.ridge, v)

    def kernel_scale(self) -> np.ndarray:
        """Return the mean of ``K_ii``, (B,) or one number for all problems, eq. (6) of newton."""
        return np.sum(np.mean(self.Z[:, :-1] ** 2, axis=0) / self.ridge, axis=-1)

    def factor(self, D: np.ndarray) -> StepFunction:
        """Prepare the steps for diagonals D (B, n)."""
        M = self.weighted_products(D)  # (B, q + 1, q + 1), the matrix of eq. (3) of newton
        diagonal = np.arange(M.shape[1] - 1)
        # copies of a column make the matrix singular if the ridge is lost by rounding
        M[:, diagonal, diagonal] += self.ridge + _DIAGONAL * M[:, diagonal, diagonal]
        corner = M[:, -1, -1]
        corner[corner == 0] = 1.0  # without a free sample no step determines the intercept
        return partial(self._step, factor_each(M), D)

    def weighted_products(self, D: np.ndarray) -> np.ndarray:
        """Return ``Z' D Z`` (B, q + 1, q + 1) of diagonals D (B, n), eq. (4) of newton."""
        return self._products.weighted_sums(D)

    def _changes(self, d: np.ndarray) -> np.ndarray:
        return d @ self.Z.T

    def _step(
        self, solve: Solve, D: np.ndarray, e: np.ndarray, beta: np.ndarray, v: np.ndarray
    ) -> NewtonStep:
        right = self.moments(beta + D * e)  # (B, q + 1), the right side of eq. (3) of newton
        right[:, :-1] -= self.ridge * v
        d = solve(right[:, :, None])[:, :, 0]
        df = self._changes(d)
        return NewtonStep(d[:, :-1], d[:, -1], df, D * (e - df))  # eq. (1) of newton


class SelectedFeatures(FeatureSystem):
    """System of problems with their own features X (B, n, q), eq. (5) of newton."""

    def __init__(self, X: np.ndarray, ridge: np.ndarray) -> None:
        ones = np.ones((*X.shape[:2], 1))
        self.Z, self.ridge, self.pull = np.concatenate([X, ones], axis=2), ridge, None

    def take(self, problems: np.ndarray) -> Self:
        part = copy.copy(self)
        part.Z, part.ridge = self.Z[problems], self.ridge[problems]
        return part

    def moments(self, beta: np.ndarray) -> np.ndarray:
        return np.matmul(beta[:, None, :], self.Z)[:, 0]

    def scores(self, v: np.ndarray) -> np.ndarray:
        return np.matmul(self.Z[:, :, :-1], v[:, :, None])[:, :, 0]

    def kernel_scale(self) -> np.ndarray:
        return np.sum(np.mean(self.Z[:, :, :-1] ** 2, axis=1) / self.ridge, axis=-1)

    def weighted_products(self, D: np.ndarray) -> np.ndarray:
        return np.matmul(self.Z.transpose(0, 2, 1) * D[:, None, :], self.Z)

    def _changes(self, d: np.ndarray) -> np.ndarray:
        return np.matmul(self.Z, d[:, :, None])[:, :, 0]


class GramSystem:
    """System on one Gram matrix K (n, n) of all problems, or one each (B, n, n).

    The coefficients are beta. The methods correspond to `FeatureSystem`.
    """

    stiffness, min_steps = 1e11, 1

    def __init__(self, K: np.ndarray) -> None:
        self.K = K

    def take(self, problems: np.ndarray) -> GramSystem:
        return self if self.K.ndim == 2 else GramSystem(self.K[problems])

    def zeros(self, n_problems: int) -> np.ndarray:
        return np.zeros((n_problems, self.rank))

    def moments(self, beta: np.ndarray) -> np.ndarray:
        return beta.sum(axis=1, keepdims=True)

    def coef(self, beta: np.ndarray) -> np.ndarray:
        return beta

    def scores(self, v: np.ndarray) -> np.ndarray:
        return v @ self.K if self.K.ndim == 2 else np.matmul(v[:, None, :], self.K)[:, 0]

    @property
    def rank(self) -> int:
        return self.K.shape[-1]

    def squared_norm(self, v: np.ndarray) -> np.ndarray:
        return np.einsum("bi,bi->b", v, self.scores(v))

    def kernel_scale(self) -> np.ndarray:
        return np.asarray(np.mean(np.diagonal(self.K, axis1=-2, axis2=-1), axis=-1))

    def factor(self, D: np.ndarray) -> StepFunction:
        count = int(np.count_nonzero(D, axis=1).max())
        inside, K, S = None, self.K, np.sqrt(D)
        if count < 0.8 * D.shape[1]:  # leave out samples with D = 0, which do not change
            inside = np.argsort(D == 0, axis=1, kind="stable")[:, : max(count, 1)]  # (B, m)
            S = np.take_along_axis(S, inside, axis=1)
            K = take_each(self.K, inside)  # (B, m, m)
        M = S[:, :, None] * K  # eq. (7) of newton, (B, m, m)
        M *= S[:, None, :]
        diagonal = np.arange(M.shape[1])
        M[:, diagonal, diagonal] += 1.0
        return partial(self._step, factor_each(M), S, inside)

    def _step(
        self,
        solve: Solve,
        S: np.ndarray,
        inside: np.ndarray | None,
        e: np.ndarray,
        beta: np.ndarray,
        v: np.ndarray,
    ) -> NewtonStep:
        # lag of v behind coef(beta) = beta, 0 after a full step
        lag = beta - v
        right = e - self.scores(lag) if lag.any() else e
        # the systems leave out samples with D = 0
        if inside is not None:
            right = np.take_along_axis(right, inside, axis=1)
        u = solve(np.stack([S * right, S], axis=2))  # u_1, u_2 (B, m, 2), eq. (8) of newton
        weight = np.einsum("bi,bi->b", S, u[:, :, 1])
        excess = beta.sum(axis=1) + np.einsum("bi,bi->b", S, u[:, :, 0])
        db = excess / np.where(weight == 0, 1.0, weight)  # eq. (9) of newton, left
        d_beta = S * (u[:, :, 0] - db[:, None] * u[:, :, 1])  # eq. (9) of newton, right
        # beta of the samples outside the systems does not change
        if inside is not None:
            part, d_beta = d_beta, np.zeros_like(beta)
            np.put_along_axis(d_beta, inside, part, axis=1)
        dv = lag + d_beta
        return NewtonStep(dv, db, self.scores(dv) + db[:, None], d_beta)  # eq. (10) of newton


NewtonSystem = FeatureSystem | GramSystem


def factor_each(matrices: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that solves symmetric systems (B, m, m) for right sides (B, m, r).

    If rounding has made a matrix indefinite, its system is solved by elimination. Solutions are nan
    if a matrix is singular.
    """
    if matrices.shape[-1] < _SMALL:
        return partial(solve_each, matrices)
    factors, failed = matrices.copy(), np.zeros(len(matrices), dtype=bool)
    for at, factor in enumerate(factors):
        # the transpose has the memory layout of LAPACK
        failed[at] = dpotrf(factor.T, lower=1, clean=0, overwrite_a=1)[1] != 0
    broken = np.flatnonzero(failed)
    return partial(_solve_factored, factors, broken, matrices[broken])


def _solve_factored(
    factors: np.ndarray, broken: np.ndarray, matrices: np.ndarray, right: np.ndarray
) -> np.ndarray:
    """Solve with Cholesky factors, or with the `matrices` of the problems `broken`."""
    columns = np.array(right.transpose(0, 2, 1), order="C")  # (B, r, m), overwritten
    for factor, column in zip(factors, columns, strict=True):
        dpotrs(factor.T, column.T, lower=1, overwrite_b=1)
    solutions = columns.transpose(0, 2, 1)
    if len(broken):
        solutions[broken] = solve_each(matrices, right[broken])
    return solutions


def solve_each(matrices: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the solutions of a stack of linear systems, nan for singular systems."""
    try:
        return np.linalg.solve(matrices, right)
    except np.linalg.LinAlgError:  # raised if any matrix of the stack is singular
        if len(matrices) == 1:
            return np.full(right.shape, np.nan)
    half = len(matrices) // 2
    return np.concatenate(
        [solve_each(matrices[:half], right[:half]), solve_each(matrices[half:], right[half:])]
    )


def take_each(matrices: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the same rows and columns (B, m) of matrices (B, n, n), or of one (n, n)."""
    parts = np.empty((*rows.shape, rows.shape[1]))
    whole = np.broadcast_to(matrices, (len(rows), *matrices.shape[-2:]))
    # one call for all, with indices of every element, takes twice as long
    for matrix, at, part in zip(whole, rows, parts, strict=True):
        matrix.take(at, axis=0).take(at, axis=1, out=part, mode="clip")
    return parts


def uses_features(n_samples: int, n_features: int) -> bool:
    """Return whether systems in feature space are faster than systems on Gram matrices."""
    return 3 * n_features < 2 * n_samples


def split_problems(problems: np.ndarray, size: int) -> Iterator[np.ndarray]:
    """Yield the problems in blocks of equal size. The last may be smaller."""
    return (problems[i : i + size] for i in range(0, len(problems), size))
