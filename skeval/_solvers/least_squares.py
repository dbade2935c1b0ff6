"""Penalized least squares for many training sets from one factorization of all samples.

The normal equations of a training set are the equations of all samples minus the contributions of
the samples left out. Derivation: doc/derivations/deletion.rst.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from skeval._solvers.newton import solve_each
from skeval._solvers.splits import CONSTANT, EPSILON, Products, Splits, take_samples

# Squared singular values below this fraction of the largest are rounding errors.
_NEGLIGIBLE = 1e-24
_NEGLIGIBLE_IN_KERNEL = 1e-14
# Maximum number of elements of the stored hat matrix.
_MAX_KEPT = 2**22
# Maximum number of elements of a stack of small matrices.
_STACK = 2**19
# Irrational numbers whose multiples give right-hand sides of irregular signs. Their solutions show
# how much the matrix amplifies rounding errors.
_PROBES = (5**0.5, 7**0.5)


class Solutions(NamedTuple):
    """Predictions of many fits, with their accuracy.

    Attributes
    ----------
    values : ndarray of shape (n_fits, n_targets, n_tested)
    noise : ndarray of shape (n_fits,)
        Magnitude of the rounding errors in the values for targets of size 1, inf or nan if the
        equations are singular.
    inverse : ndarray of shape (n_fits,)
        Magnitude of the largest eigenvalue of the inverse matrix of the equations.
    """

    values: np.ndarray
    noise: np.ndarray
    inverse: np.ndarray


class PenalizedSquares:
    """Penalized least squares on the columns of a basis, for any training set.

    Parameters
    ----------
    basis : ndarray of shape (n, q)
    penalty : ndarray of shape (q,)
        Penalty of each squared coefficient.
    relative : ndarray of shape (q,) or None
        Additional penalty in units of the variance of the column in the training set.
    """

    def __init__(
        self, basis: np.ndarray, penalty: np.ndarray, relative: np.ndarray | None = None
    ) -> None:
        n, q = basis.shape
        self.basis = basis
        self.penalty = penalty
        self.relative = relative
        self.products = Products(basis)
        self.gram = self.products.gram
        keeps_hat = relative is None and n * n <= _MAX_KEPT
        self.hat = basis @ basis.T if keeps_hat else None  # eq. (1) of deletion
        places = np.outer(np.arange(max(n, q)), _PROBES) % 1
        self._probes = np.where(places < 0.5, 1.0, -1.0)

    def solve(self, targets: np.ndarray, of_fit: np.ndarray, splits: Splits) -> Solutions:
        """Return the predictions of fits. Fit `f` has the targets `targets[of_fit[f]]`.

        `targets` has the shape (n_label_vectors, n_targets, n).
        """
        q = self.basis.shape[1]
        # the matrix of a fit has the size of the test set, if that is smaller than the basis
        few = splits.plain and self.hat is not None and splits.removed.shape[1] < q
        if few and np.array_equal(splits.removed, splits.tested):
            return self._in_stacks(self._delete, splits.removed.shape[1], targets, of_fit, splits)
        # one product over all samples is as fast as a product per fit over a quarter of them
        if splits.leaves_few:
            return self._in_stacks(self._downdate, q, targets, of_fit, splits)
        return self._in_stacks(self._reweight, q, targets, of_fit, splits)

    def _in_stacks(
        self, solve: Callable, size: int, targets: np.ndarray, of_fit: np.ndarray, splits: Splits
    ) -> Solutions:
        """Solve stacks of fits that fit into the cache, and concatenate the solutions."""
        step = max(1, _STACK // (size * max(size, splits.tested.shape[1])))
        slices = [slice(start, start + step) for start in range(0, len(splits), step)]
        blocks = [
            solve(targets, of_fit[part], Splits(splits.weights[part], splits.tested[part]))
            for part in slices
        ]
        return Solutions._make(map(np.concatenate, zip(*blocks, strict=True)))

    def _delete(self, targets: np.ndarray, of_fit: np.ndarray, splits: Splits) -> Solutions:
        """Predict the samples outside of the training set, which are the tested samples."""
        out, d = splits.tested, splits.tested.shape[1]
        assert self.hat is not None
        residuals = targets - (targets @ self.basis) @ self.basis.T  # (L, c, n)
        left = take_samples(residuals, of_fit, out)  # (F, c, d)
        # I - H restricted to the samples left out
        matrices = -self.hat[out[:, :, None], out[:, None, :]]  # (F, d, d)
        matrices[:, np.arange(d), np.arange(d)] += 1.0
        solution, probed = self._solve_each(matrices, left)
        noise = np.abs(probed).max(axis=(1, 2)) * (1 + np.abs(solution).max(axis=(1, 2)))
        size = np.linalg.norm(probed, axis=1).max(axis=1)
        values = take_samples(targets, of_fit, out) - solution  # eq. (3) of deletion
        return Solutions(values, EPSILON * noise * len(self.basis) ** 0.5, size)

    def _downdate(self, targets: np.ndarray, of_fit: np.ndarray, splits: Splits) -> Solutions:
        """Subtract the terms of the samples left out from the sums over all samples."""
        some = self.basis[splits.removed]  # (F, d, q)
        # eq. (4) of deletion
        grams = self.gram - some.swapaxes(1, 2) @ some
        deleted = take_samples(targets, of_fit, splits.removed) @ some
        moments = self.basis.sum(axis=0) - some.sum(axis=1), np.diagonal(grams, axis1=1, axis2=2)
        counts = np.full(len(splits), float(len(self.basis) - some.shape[1]))
        rights = (targets @ self.basis)[of_fit] - deleted
        return self._finish(grams, rights, counts, moments, splits)

    def _reweight(self, targets: np.ndarray, of_fit: np.ndarray, splits: Splits) -> Solutions:
        """Compute weighted sums over all samples with one product for all fits."""
        weights = splits.weights.astype(float)
        grams = self.products.weighted_sums(weights)
        weighted = targets[of_fit] * weights[:, None]  # (F, c, n)
        moments = weights @ self.basis, np.diagonal(grams, axis1=1, axis2=2)
        return self._finish(grams, weighted @ self.basis, weights.sum(axis=1), moments, splits)

    def _finish(
        self,
        grams: np.ndarray,
        rights: np.ndarray,
        counts: np.ndarray,
        moments: tuple[np.ndarray, np.ndarray],
        splits: Splits,
    ) -> Solutions:
        """Solve the normal equations of the fits and predict."""
        q = np.arange(self.basis.shape[1])
        constant, diagonal = np.zeros(len(splits), dtype=bool), self.penalty
        # penalties relative to the variance of a column in the training set
        if self.relative is not None:
            first, second = moments[0] / counts[:, None], moments[1] / counts[:, None]
            variance = second - first**2  # eq. (5) of deletion
            scaled = self.relative > 0
            least = CONSTANT * np.diag(self.gram)[scaled] / len(self.basis)
            constant = (variance[:, scaled] < least).any(axis=1)
            diagonal = diagonal + self.relative * variance
        grams[:, q, q] += diagonal
        solution, probed = self._solve_each(grams, rights)
        tested = self.basis[splits.tested]  # (F, t, q)
        values = solution @ tested.swapaxes(1, 2)
        # rounding errors, from the solutions for the probes
        noise = np.abs(tested @ probed).max(axis=(1, 2))
        size = np.linalg.norm(probed, axis=1).max(axis=1)
        noise = noise * (np.abs(rights).max(axis=(1, 2)) + np.abs(solution).max(axis=(1, 2)))
        noise[constant] = np.inf
        return Solutions(values, EPSILON * noise, size)

    def _solve_each(
        self, matrices: np.ndarray, rights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the solutions (F, c, size) for the targets and (F, size, 2) for the probes."""
        n_targets, size = rights.shape[1:]
        columns = np.empty((len(matrices), size, n_targets + len(_PROBES)))
        columns[..., :n_targets] = rights.swapaxes(1, 2)
        columns[..., n_targets:] = self._probes[:size]
        solutions = solve_each(matrices, columns)
        return solutions[..., :n_targets].swapaxes(1, 2), solutions[..., n_targets:]


def factor_columns(
    columns: np.ndarray, alpha: float, *, with_intercept: bool = True
) -> PenalizedSquares:
    """Return ridge regression on columns (n, p), which is least squares if `alpha` is 0."""
    n, p = columns.shape
    centered = columns - columns.mean(axis=0) if with_intercept else columns
    if p < n:
        left, singular, _ = np.linalg.svd(centered, full_matrices=False)
        return _penalize(left, singular**2, alpha, _NEGLIGIBLE, with_intercept)
    squared, left = np.linalg.eigh(centered @ centered.T)
    return _penalize(left, squared, alpha, _NEGLIGIBLE_IN_KERNEL, with_intercept)


def factor_kernel(kernel: np.ndarray, alpha: float) -> PenalizedSquares | None:
    """Return kernel ridge regression, or None if the kernel (n, n) is not positive semidefinite."""
    squared, left = np.linalg.eigh(kernel)
    largest = np.abs(squared).max()
    if squared.min() < -_NEGLIGIBLE_IN_KERNEL * len(kernel) * largest:
        return None
    return _penalize(left, squared, alpha, _NEGLIGIBLE_IN_KERNEL, False)


def _penalize(
    left: np.ndarray, squared: np.ndarray, alpha: float, negligible: float, with_intercept: bool
) -> PenalizedSquares:
    """Return the regression with these left singular vectors and squared singular values."""
    kept = squared > negligible * squared.max(initial=0.0)
    shrunk = squared[kept] / (squared[kept] + alpha)
    basis, penalty = left[:, kept] * np.sqrt(shrunk), alpha / (squared[kept] + alpha)
    if with_intercept:
        basis = np.column_stack([np.full(len(left), len(left) ** -0.5), basis])
        penalty = np.r_[0.0, penalty]
    return PenalizedSquares(np.ascontiguousarray(basis), penalty)  # eq. (2) of deletion


def standardize_columns(columns: np.ndarray, alpha: float) -> PenalizedSquares:
    """Return ridge regression on columns that are scaled to variance 1 in each training set."""
    n, scaled = len(columns), standardize_all(columns)
    basis = np.column_stack([np.ones(n), scaled]) / n**0.5
    relative = np.r_[0.0, np.full(scaled.shape[1], alpha)]
    return PenalizedSquares(basis, np.zeros(basis.shape[1]), relative)


def standardize_all(columns: np.ndarray) -> np.ndarray:
    """Return the columns that vary, with mean 0 and variance 1 over all samples."""
    varies = np.ptp(columns, axis=0) > 0
    centered = columns[:, varies] - columns[:, varies].mean(axis=0)
    return centered / np.sqrt(np.mean(centered**2, axis=0))


def class_signs(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return targets for codes (n_fits, m), 1 for samples of a class and -1 for all others.

    For two classes, the shape is (n_fits, m), and the class is the second. For more classes, the
    shape is (n_fits, n_classes, m).
    """
    if n_classes == 2:
        return 2.0 * codes - 1.0
    of_class = codes[:, None, :] == np.arange(n_classes)[:, None]  # (n_fits, n_classes, m)
    return np.where(of_class, 1.0, -1.0)


def decide(values: np.ndarray, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the predicted codes (n_fits, n_tested), and whether all codes of a fit are certain.

    Decision values have the shape (n_fits, n_tested) for two classes, else (n_fits, n_classes,
    n_tested). Their error is at most `noise` (n_fits,).
    """
    if values.ndim == 2:
        return (values > 0).astype(np.intp), np.abs(values).min(axis=1) > noise
    ranked = np.partition(values, -2, axis=1)
    gap = ranked[:, -1] - ranked[:, -2]
    return values.argmax(axis=1), gap.min(axis=1) > 2 * noise
