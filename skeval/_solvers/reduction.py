"""Selections and principal components of columns that differ between training sets.

Derivation: doc/derivations/reduction.rst.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from skeval._solvers.f_statistics import select_by_moments
from skeval._solvers.moments import ROUNDING, ROUNDING_OF_MEANS, Columns, SplitMoments
from skeval._solvers.neighbors import Lists, SortedNeighbors, Votes, complete_lists
from skeval._solvers.splits import CONSTANT, EPSILON, Splits

# Smallest difference of consecutive eigenvalues, in units of the largest.
MIN_GAP = 1e-6


class Reduced(NamedTuple):
    """Columns that the last step of a pipeline receives, up to a shift.

    Attributes
    ----------
    values : ndarray of shape (F, n, k)
    size : ndarray of shape (F, k)
        Bound on the absolute means of the columns before the shift.
    error : ndarray of shape (F,)
        Magnitude of the relative rounding errors of the values.
    solved : bool ndarray of shape (F,)
        False if the estimator must do the fit.
    """

    values: np.ndarray
    size: np.ndarray
    error: np.ndarray
    solved: np.ndarray


@dataclass(frozen=True)
class Selection:
    """The k columns with the largest F statistics."""

    k: int

    def __call__(
        self,
        columns: ReducedColumns,
        targets: np.ndarray,
        of_fit: np.ndarray,
        splits: Splits,
        scales: np.ndarray,
    ) -> Reduced:
        """Return the selected columns, multiplied by scales (F, p)."""
        # F statistics of all columns from the moments of the classes
        sums = columns.sum_by_class(targets, of_fit, splits)
        shift = columns.center / columns.unit
        features, certain = select_by_moments(sums, shift, self.k)
        scales = np.take_along_axis(scales, features, axis=1)  # (F, k), eq. (1) of reduction
        values = (columns.values.T[features] * scales[..., None]).swapaxes(1, 2)
        size = np.abs(shift)[features] * scales
        return Reduced(values, size, np.full(len(values), EPSILON), certain)


@dataclass(frozen=True)
class Projection:
    """The first k principal components.

    Attributes
    ----------
    k : int
    is_deterministic : callable
        ``is_deterministic(n_samples)`` returns whether the estimator uses no random numbers.
    """

    k: int
    is_deterministic: Callable[[int], bool]

    def __call__(
        self,
        columns: ReducedColumns,
        targets: np.ndarray,
        of_fit: np.ndarray,
        splits: Splits,
        scales: np.ndarray,
    ) -> Reduced:
        """Return the scores of columns that are multiplied by scales (F, p)."""
        # covariance matrix of each training set
        weights = splits.weights.astype(float)
        m = weights.sum(axis=1)
        means = weights @ columns.values / m[:, None]
        covariance = columns.total_products(splits) / m[:, None, None]
        covariance -= means[:, :, None] * means[:, None]  # eq. (2) of reduction
        covariance *= scales[:, :, None] * scales[:, None]
        _, axes, gaps = principal_axes(covariance, self.k)
        # rounding errors must not exchange components
        certain = gaps > MIN_GAP  # eq. (3) of reduction
        certain &= [self.is_deterministic(int(size)) for size in m]
        axes = scales[..., None] * axes
        size = np.abs(columns.center / columns.unit) @ np.abs(axes)
        # eq. (4) of reduction
        error = ROUNDING * EPSILON / np.where(certain, gaps, 1.0)
        return Reduced(columns.values @ axes, size, error, certain)


def principal_axes(covariance: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the k largest eigenvalues (F, k), their axes (F, p, k), and the smallest gap (F,).

    Gaps are the differences between consecutive eigenvalues, including the next smaller one (or 0),
    in units of the largest eigenvalue.
    """
    eigenvalues, vectors = np.linalg.eigh(covariance)
    eigenvalues = np.concatenate([np.zeros((len(eigenvalues), 1)), eigenvalues], axis=1)
    with np.errstate(all="ignore"):  # no gap of constant columns
        gaps = np.diff(eigenvalues[:, -k - 1 :]).min(axis=1) / eigenvalues[:, -1]
    return eigenvalues[:, : -k - 1 : -1], vectors[:, :, : -k - 1 : -1], gaps


class ReducedColumns(Columns):
    """Columns that each training set reduces, after scaling them if requested.

    Parameters
    ----------
    samples : ndarray of shape (n, p)
    n_classes : int
    reduction : Selection or Projection
    scaled : bool
        Whether the columns are scaled to variance 1 in each training set.
    """

    def __init__(
        self,
        samples: np.ndarray,
        n_classes: int,
        reduction: Selection | Projection,
        *,
        scaled: bool,
    ) -> None:
        super().__init__(samples, n_classes, scaled=scaled)
        self.reduction = reduction

    def reduce(self, targets: np.ndarray, of_fit: np.ndarray, splits: Splits) -> Reduced:
        """Return the reduced columns of fits; fit `f` has the codes (n,) `targets[of_fit[f]]`."""
        p = self.values.shape[1]
        scales = np.broadcast_to(self.unit, (len(splits), p))
        solved = np.full(len(splits), splits.weights.dtype.kind != "f")
        if self.scaled:  # divide by the standard deviations in the training set
            sums = splits.weights.astype(float) @ self.rows
            m, first, second = sums[:, :1], sums[:, 1 : p + 1], sums[:, p + 1 :]
            variance = second / m - (first / m) ** 2
            constant = variance < CONSTANT
            solved &= ~constant.any(axis=1)
            scales = 1 / np.sqrt(np.where(constant, 1.0, variance))
        reduced = self.reduction(self, targets, of_fit, splits, scales)
        return reduced._replace(solved=reduced.solved & solved)

    def moments(
        self, targets: np.ndarray, of_fit: np.ndarray, splits: Splits
    ) -> tuple[SplitMoments, np.ndarray]:
        """Return the moments of the reduced columns, and the reduced tested samples (F, t, k)."""
        reduced = self.reduce(targets, of_fit, splits)
        tested = np.take_along_axis(reduced.values, splits.tested[..., None], axis=1)
        return ReducedMoments(self, reduced, targets, of_fit, splits), tested

    def size_of_fit(self, n_tested: int, *, squares: bool) -> int:
        """Return the approximate size of the arrays of a fit."""
        n, p = self.values.shape
        covariance = p * p if isinstance(self.reduction, Projection) else 0
        moments = 2 * self.n_classes * p + 3 * n * self.reduction.k
        return self.n_classes * n + moments + covariance + n_tested * self.reduction.k


class ReducedMoments(SplitMoments):
    """Moments of columns that differ between training sets."""

    def __init__(
        self,
        columns: ReducedColumns,
        reduced: Reduced,
        targets: np.ndarray,
        of_fit: np.ndarray,
        splits: Splits,
    ) -> None:
        self.columns, self.splits, self.values = columns, splits, reduced.values
        self.class_weights = columns.weight_by_class(targets[of_fit], splits)  # (F, K, n)
        ones = np.ones((*self.values.shape[:2], 1))
        rows = np.concatenate([ones, self.values, self.values**2], axis=2)
        self._summarize(self.class_weights @ rows)
        # rounding errors grow with the variance of a column, and with its distance from 0
        share = self.values.shape[1] / self.counts[..., None]
        self.rounding = ROUNDING * EPSILON * share * self.variance[:, None]
        self.varies, self.factor = reduced.solved, np.ones(self.variance.shape)
        deviation = np.sqrt(self.variance)
        self.mean_rounding = ROUNDING_OF_MEANS * EPSILON * (deviation + reduced.size)
        self.mean_rounding += reduced.error[:, None] * deviation

    def _class_products(self) -> np.ndarray:
        """Return the sums of products over classes, shape (F, n_classes, k, k)."""
        weights = self.class_weights.swapaxes(0, 1)[..., None]  # (K, F, n, 1)
        transposed = [(self.values * of_class).swapaxes(1, 2) for of_class in weights]
        return np.stack([columns @ self.values for columns in transposed], axis=1)

    def _total_products(self) -> np.ndarray:
        """Return the sums of products over training sets, shape (F, k, k)."""
        return self._class_products().sum(axis=1)


class ReducedNeighbors(SortedNeighbors):
    """Nearest samples in columns that differ between training sets."""

    def __init__(
        self, columns: ReducedColumns, n_neighbors: int, noise: float, by_distance: bool
    ) -> None:
        n = len(columns.values)
        super().__init__(
            lambda size: (np.empty(0), np.empty(0)), n, n_neighbors, noise, by_distance
        )
        self.columns = columns
        self.room = n  # each list contains all samples
        self._labels = np.empty(0)

    def vote(self, labels: np.ndarray, splits: Splits, n_classes: int) -> Votes:
        """Return the votes, given labels (n_fits, n): codes, or numbers if `n_classes` is 0."""
        self._labels = labels
        return super().vote(labels, splits, n_classes)

    def _scales(self, splits: Splits) -> tuple[Reduced, np.ndarray]:
        """Return the columns of each fit, and which fits can be solved."""
        reduced = self.columns.reduce(self._labels, np.arange(len(splits)), splits)
        return reduced, reduced.solved & (splits.weights.sum(axis=1) > self.n_neighbors)

    def _measure(self, scales: Reduced, fit: np.ndarray, tested: np.ndarray, size: int) -> Lists:
        """Return the distances of tested samples to all samples."""
        largest = np.sum((np.abs(scales.values).max(axis=1) + scales.size) ** 2, axis=1)
        noise = (self.noise + scales.error) * largest
        return complete_lists(scales.values.__getitem__, fit, tested, noise[fit])
