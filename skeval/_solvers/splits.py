"""Sums of products, means and scales of columns over the training sets of many fits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

EPSILON = float(np.finfo(float).eps)
# Variances in a training set below this fraction of the variance over all samples are rounding
# errors.
CONSTANT = 1e-10
# Maximum number of stored products of pairs of columns.
_MAX_KEPT = 2**23


@dataclass(frozen=True)
class Splits:
    """Training and test samples of fits that leave out the same number of samples.

    Attributes
    ----------
    weights : ndarray of shape (n_fits, n)
        How often a sample occurs in the training set, or its weight.
    tested : int ndarray of shape (n_fits, n_tested)
        Indices of the test samples.
    """

    weights: np.ndarray
    tested: np.ndarray

    def __len__(self) -> int:
        return len(self.weights)

    @cached_property
    def plain(self) -> bool:
        """Whether samples are unweighted and occur at most once."""
        return self.weights.dtype.kind in "iub" and self.weights.max(initial=0) <= 1

    @property
    def leaves_few(self) -> bool:
        """Whether at most a quarter of the samples is left out, and the others are unweighted."""
        return self.plain and 4 * self.removed.shape[1] <= self.weights.shape[1]

    @cached_property
    def removed(self) -> np.ndarray:
        """Indices of the samples left out, shape (n_fits, n_removed)."""
        return np.nonzero(self.weights == 0)[1].reshape(len(self), -1)


class Products:
    """Sums of products of columns (n, q) for arbitrary sample weights."""

    def __init__(self, columns: np.ndarray) -> None:
        self.columns = columns
        # place of the product of two columns among the products of all pairs
        q = columns.shape[1]
        self._upper = upper = np.triu_indices(q)
        self._places = np.empty((q, q), dtype=np.intp)
        self._places[upper] = self._places[upper[::-1]] = np.arange(len(upper[0]))

    @cached_property
    def gram(self) -> np.ndarray:
        """Sums of products without weights, shape (q, q)."""
        return self.columns.T @ self.columns

    @cached_property
    def pairs(self) -> np.ndarray | None:
        """Products of column pairs, shape (n, q (q + 1) / 2), or None if too many."""
        i, j = self._upper
        if len(self.columns) * len(i) > _MAX_KEPT:
            return None
        return self.columns[:, i] * self.columns[:, j]

    def weighted_sums(self, weights: np.ndarray) -> np.ndarray:
        """Return the weighted sums of products (F, q, q) for weights (F, n)."""
        if self.pairs is None:
            return np.stack([(self.columns.T * row) @ self.columns for row in weights])
        # all fits at once, eq. (4) of deletion
        return np.take(weights @ self.pairs, self._places, axis=1)


def take_samples(targets: np.ndarray, of_fit: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the targets (F, c, d) of the samples `rows` (F, d).

    Fit `f` has the targets `targets[of_fit[f]]`, from an array of shape (L, c, n).
    """
    return targets[of_fit[:, None, None], np.arange(targets.shape[1])[:, None], rows[:, None]]


class ColumnScales:
    """The columns of X that vary, standardized over all samples, and their scales.

    A linear SVM with an intercept is invariant to shifts. The columns can therefore be centered on
    all samples instead of the training samples, and constant columns can be dropped.
    Scaling by ``s`` instead of the common `scale` is the ridge ``(s / scale)^2``, eq. (4) of svm.
    varies (p,): a mask of the columns that vary. raw (n, q): those columns. mean, scale (q,): their
    means and standard deviations. standard (n, q): the columns less their means, over the scales.
    """

    def __init__(self, X: np.ndarray) -> None:
        self.varies = X.max(axis=0) > X.min(axis=0)
        self._first = X[0]
        self.raw = X[:, self.varies]
        self.mean = self.raw.mean(axis=0)
        self.standard = self.raw - self.mean
        self.scale = np.sqrt(np.mean(self.standard**2, axis=0))
        self.standard /= self.scale

    def ridge(self, weights: np.ndarray | None = None) -> np.ndarray:
        """Return the ridge without scaling (p,), or for a StandardScaler with weights (B, p)."""
        unscaled = 1.0 / self.scale**2
        if weights is None:
            return unscaled
        total = weights.sum(axis=1, keepdims=True)
        mean = weights @ self.standard / total
        second = weights @ self.standard**2 / total
        variance = second - mean**2  # eq. (5) of svm, (B, p)
        self._recompute(variance, weights, variance <= 1e-6 * second)
        # scikit-learn does not scale a column that is constant up to rounding, eq. (7) of svm
        raw_mean, raw_variance = self.mean + self.scale * mean, variance * self.scale**2
        rounding = total * EPSILON * raw_variance + (total * raw_mean * EPSILON) ** 2
        return np.where(raw_variance <= rounding, unscaled, variance)

    def ridge_of(self, scales: np.ndarray) -> np.ndarray:
        """Return the ridge (B, q) of columns that are divided by scales (B, p), eq. (4) of svm."""
        return (scales[:, self.varies] / self.scale) ** 2

    def means(self, weights: np.ndarray) -> np.ndarray:
        """Return the weighted means (B, p) for weights (B, n)."""
        shares = weights / weights.sum(axis=1, keepdims=True)
        means = np.tile(self._first, (len(weights), 1))
        means[:, self.varies] = self.mean + self.scale * (shares @ self.standard)
        return means

    def deviations(self, weights: np.ndarray) -> np.ndarray:
        """Return the divisors of a StandardScaler for weights (B, n), 1 for constant columns."""
        deviations = np.ones((len(weights), len(self.varies)))
        deviations[:, self.varies] = np.sqrt(self.ridge(weights)) * self.scale
        return deviations

    def _recompute(self, variance: np.ndarray, weights: np.ndarray, suspect: np.ndarray) -> None:
        """Recompute, in place and in two passes, the variances that lost digits to cancellation."""
        for problem, column in zip(*np.nonzero(suspect), strict=True):
            w, x = weights[problem], self.raw[:, column]
            total = w.sum()
            deviation = x - w @ x / total
            spread = w @ deviation**2 - (w @ deviation) ** 2 / total  # eq. (6) of svm
            variance[problem, column] = spread / total / self.scale[column] ** 2
