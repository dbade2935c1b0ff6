"""Many logistic regressions on the same samples, fitted together by L-BFGS.

The problems differ in their weights (0 leaves a sample out, an integer multiple repeats it), in
their labels, and in the shifts and scales of the columns. An evaluation of all objectives is two
products of matrices, which all problems share unless each selects its own columns.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from scipy.special import expit

from skeval._solvers.lbfgs import N_CORRECTIONS, UNFINISHED, minimize_each

# Maximum size of a (problems, samples, classes) array, and of the corrections, of a block.
_BLOCK, _CORRECTIONS = 2**16, 2**22
# Largest decision value whose exponential is finite.
_LARGEST = 700.0


@dataclass(frozen=True)
class Columns:
    """Columns ``(X - shift) / scale`` of B problems, eq. (1) of logistic.

    X (n, p) or (B, n, p). shift, scale (B, p), or None for the columns of X. basis (p_0, p) or
    None: orthonormal columns, where X @ basis.T are the columns of the estimator.
    """

    X: np.ndarray
    shift: np.ndarray | None = None
    scale: np.ndarray | None = None
    basis: np.ndarray | None = None

    @classmethod
    def of_rows(cls, X: np.ndarray) -> Columns:
        """Return the columns of X (n, p), in a basis of its rows if there are few rows."""
        if 2 * len(X) > X.shape[1]:
            return cls(X)
        basis, triangle = np.linalg.qr(X.T)  # eq. (6) of logistic
        return cls(np.ascontiguousarray(triangle.T), basis=basis)

    def take(self, problems: np.ndarray) -> Columns:
        """Return the columns of some of the problems."""
        X = self.X if self.X.ndim == 2 else self.X[problems]
        if self.shift is None or self.scale is None:
            return Columns(X, basis=self.basis)
        return Columns(X, self.shift[problems], self.scale[problems])

    def decide(self, v: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return decision values (B, K, n) of coefficients (B, K, p) and intercepts (B, K)."""
        if self.shift is not None and self.scale is not None:
            v = v / self.scale[:, None]  # eq. (1) of logistic
            b = b - np.matmul(v, self.shift[:, :, None])[:, :, 0]
        if self.X.ndim == 3:
            return np.matmul(v, self.X.transpose(0, 2, 1)) + b[:, :, None]
        B, K, p = v.shape
        f = (v.reshape(B * K, p) @ self.X.T).reshape(B, K, -1)
        f += b[:, :, None]
        return f

    def sum(self, beta: np.ndarray, totals: np.ndarray) -> np.ndarray:
        """Return sums of samples (B, K, p) weighted by beta (B, K, n), which sums to totals."""
        if self.X.ndim == 3:
            g = np.matmul(beta, self.X)
        else:
            B, K, n = beta.shape
            g = (beta.reshape(B * K, n) @ self.X).reshape(B, K, -1)
        if self.shift is not None and self.scale is not None:
            # right side of eq. (3) of logistic
            g = (g - self.shift[:, None] * totals[:, :, None]) / self.scale[:, None]
        return g


class LogisticSolution(NamedTuple):
    """Results of B fits over n samples.

    decision (B, n, K): decision values; for two classes K = 1, the log odds of the second class.
    n_iter and status (B,): as in `Minima`; a fit that lacks a class is unfinished.
    """

    decision: np.ndarray
    n_iter: np.ndarray
    status: np.ndarray


@dataclass(frozen=True)
class LogisticOptions:
    """Options of a LogisticRegression. ridge: the penalty of each column (p,), or of all."""

    tol: float = 1e-4
    max_iter: int = 100
    ridge: float | np.ndarray = 1.0
    intercept: bool = True


def solve_logistic(
    columns: Columns, codes: np.ndarray, weights: np.ndarray, options: LogisticOptions
) -> LogisticSolution:
    """Fit logistic regressions as scikit-learn's solver "lbfgs" does.

    `codes` (n,) or (B, n) of the classes 0 to K - 1; `weights` (B, n), C times the sample weight.
    """
    (B, n), n_classes = weights.shape, int(codes.max()) + 1
    K = 1 if n_classes == 2 else n_classes
    solution = LogisticSolution(
        np.full((B, n, K), np.nan), np.zeros(B, dtype=np.intp), np.full(B, UNFINISHED)
    )
    of_fit = np.broadcast_to(codes, weights.shape)
    present = [((of_fit == code) & (weights > 0)).any(axis=1) for code in range(n_classes)]
    complete = np.flatnonzero(np.all(present, axis=0))
    n_coef = K * (columns.X.shape[-1] + options.intercept)
    size = max(8, min(_BLOCK // (n * K), _CORRECTIONS // (2 * N_CORRECTIONS * n_coef)))
    for start in range(0, len(complete), size):
        block = complete[start : start + size]
        part = columns.take(block)
        labels = codes if codes.ndim == 1 else codes[block]
        make = TwoClasses if K == 1 else ManyClasses
        objective = make(part, labels, weights[block], n_classes, options)
        minima = minimize_each(
            objective, len(block), n_coef, tol=options.tol, max_iter=options.max_iter
        )
        f = part.decide(*objective.split(minima.coef))
        solution.decision[block] = f.transpose(0, 2, 1)
        solution.n_iter[block], solution.status[block] = minima.n_iter, minima.status
    return solution


class LogisticLoss(ABC):
    """Mean log loss and penalty of B problems with K rows of coefficients, eq. (2) of logistic."""

    def __init__(
        self,
        columns: Columns,
        codes: np.ndarray,
        weights: np.ndarray,
        n_classes: int,
        options: LogisticOptions,
    ) -> None:
        total = weights.sum(axis=1)
        self.columns, self.intercept = columns, options.intercept
        self.weights = weights / total[:, None]
        self.penalty = np.broadcast_to(options.ridge, columns.X.shape[-1:]) / total[:, None]
        self.K = 1 if n_classes == 2 else n_classes
        self.set_labels(codes)

    @abstractmethod
    def set_labels(self, codes: np.ndarray) -> None:
        """Prepare the labels (n,) or (B, n)."""

    def take(self, problems: np.ndarray) -> Self:
        """Return the objectives of some of the problems."""
        part = copy.copy(self)
        part.columns, part.weights = self.columns.take(problems), self.weights[problems]
        part.penalty = self.penalty[problems]
        return part

    def split(self, coef: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients (B, K, p) and intercepts (B, K), which stand last in each row."""
        rows = coef.reshape(len(coef), self.K, -1)
        if self.intercept:
            return rows[..., :-1], rows[..., -1]
        return rows, np.zeros(rows.shape[:2])

    def is_flat(self, g: np.ndarray, tol: float) -> np.ndarray:
        """Return a mask (A,) of problems with derivatives, in the estimator's basis, <= `tol`."""
        basis = self.columns.basis
        if basis is None:
            return np.abs(g).max(axis=1) <= tol
        slopes, totals = self.split(g)
        flat = np.abs(totals).max(axis=1) <= tol
        # skip the product with the basis where the length rules it out, eq. (7) of logistic
        squares = np.einsum("akj,akj->ak", slopes, slopes)
        flat &= (squares <= (1 + 1e-9) * len(basis) * tol**2).all(axis=1)
        flat[flat] = np.abs(slopes[flat] @ basis.T).max(axis=(1, 2)) <= tol
        return flat

    def __call__(self, coef: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return values (B,) and gradients (B, P), eq. (3) of logistic."""
        v, b = self.split(coef)
        value, beta = self.loss(self.columns.decide(v, b))
        totals = beta.sum(axis=2)  # eq. (3) of logistic, derivatives by the intercepts
        pull = self.penalty[:, None] * v
        g = self.columns.sum(beta, totals) + pull
        value += 0.5 * np.einsum("bkj,bkj->b", pull, v)  # eq. (2) of logistic
        if self.intercept:
            g = np.concatenate([g, totals[..., None]], axis=2)
        return value, g.reshape(coef.shape)

    @abstractmethod
    def loss(self, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mean losses (B,) and derivatives (B, K, n) by decision values; overwrite `f`."""


class TwoClasses(LogisticLoss):
    """Problems of two classes."""

    def set_labels(self, codes: np.ndarray) -> None:
        self.signs = np.where(codes > 0, -1.0, 1.0)
        self.signed = self.weights * self.signs

    def take(self, problems: np.ndarray) -> Self:
        part = super().take(problems)
        part.signs = self.signs if self.signs.ndim == 1 else self.signs[problems]
        part.signed = self.signed[problems]
        return part

    def loss(self, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        z = f[:, 0]
        z *= self.signs  # log odds of the wrong class
        if z.max(initial=0.0) < _LARGEST:
            e = np.exp(z, out=z)
            u = e + 1.0
            e /= u  # probability of the wrong class
            losses = np.log(u, out=u)
        else:
            losses, e = np.logaddexp(0.0, z), expit(z)
        value = np.einsum("bi,bi->b", self.weights, losses)
        e *= self.signed
        return value, e[:, None]


class ManyClasses(LogisticLoss):
    """Problems of more than two classes."""

    def set_labels(self, codes: np.ndarray) -> None:
        self.codes = np.broadcast_to(codes, self.weights.shape)

    def take(self, problems: np.ndarray) -> Self:
        part = super().take(problems)
        part.codes = self.codes[problems]
        return part

    def loss(self, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        B, K, n = f.shape
        # position of each sample's own class in the flat array
        own = (np.arange(B)[:, None] * K + self.codes) * n + np.arange(n)
        f -= f.max(axis=1, keepdims=True)
        flat = f.reshape(-1)
        losses = -flat[own]
        p = np.exp(f, out=f)
        total = p.sum(axis=1)
        losses += np.log(total)
        value = np.einsum("bi,bi->b", self.weights, losses)
        p *= (self.weights / total)[:, None]
        flat[own] -= self.weights
        return value, p
