"""Means and scales of columns under many sample weightings, as in StandardScaler."""

from __future__ import annotations

import numpy as np

_EPS = np.finfo(np.float64).eps


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
        rounding = total * _EPS * raw_variance + (total * raw_mean * _EPS) ** 2
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
