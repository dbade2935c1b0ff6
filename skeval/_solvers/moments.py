"""Gaussian classifiers for many training sets, from the counts, means and moments of classes.

The sum of a class over a training set is its sum over all samples minus its sum over the test set,
or a sum over the training set. The columns are centered over all samples to avoid cancellation.
They are scaled by powers of two to a size near 1, so that sums of integers stay exact.
Derivation: doc/derivations/moments.rst.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from skeval._solvers.splits import EPSILON, Products, Splits, take_samples

# Rounding errors of a sum and of a mean (a pairwise sum), in units of the last place.
ERROR_OF_SUM, ERROR_OF_MEAN = 16.0, 2.0
# Maximum rounding error of a probability, and maximum relative error of decision values. The
# estimator does the fits with larger errors.
_MAX_NOISE = 1e-8
# Maximum size of the arrays of one stack of fits.
_STACK = 2**19
# Singular values must exceed the tolerance of the estimator by this factor.
_ROOM = 2.0


class TestedScores(NamedTuple):
    """Scores of the tested samples in many fits.

    Attributes
    ----------
    values : ndarray of shape (n_fits, n_tested, n_classes)
        The class with the largest value is predicted.
    error : ndarray of shape (n_fits, n_tested, n_classes)
        Magnitude of the rounding errors in the values.
    scores : ndarray of shape (n_fits, n_tested, n_classes)
        Log-probabilities up to a constant, as computed by the estimator.
    solved : bool ndarray of shape (n_fits,)
        False if the estimator must do the fit.
    """

    values: np.ndarray
    error: np.ndarray
    scores: np.ndarray
    solved: np.ndarray


class Columns:
    """Centered and scaled columns, whose class sums are computed for any training set.

    Parameters
    ----------
    samples : ndarray of shape (n, p)
    n_classes : int
    """

    def __init__(self, samples: np.ndarray, n_classes: int) -> None:
        n = len(samples)
        width = np.ptp(samples, axis=0)
        # columns of integers whose sums of squares are exact keep an integer center
        whole = np.all(samples == np.rint(samples), axis=0) & (n * width < 2.0**26)
        center = samples.mean(axis=0)
        center = np.where(whole, np.rint(center), center)
        # a constant column is exactly 0 after centering
        constant = width == 0
        self.exact = whole | constant
        self.center = np.where(constant, samples[0], center)
        moved = samples - self.center
        size = np.sqrt(np.mean(moved**2, axis=0))
        # division by a power of 2 is exact
        self.unit = np.exp2(np.round(np.log2(np.where(size > 0, size, 1.0))))
        self.values = moved / self.unit  # (n, p)
        self.n_classes = n_classes
        self.rows = np.column_stack([np.ones(n), self.values, self.values**2])

    @cached_property
    def products(self) -> Products:
        """Products of pairs of columns."""
        return Products(self.values)

    def score(
        self,
        rule: NaiveGaussians | LinearGaussians,
        targets: np.ndarray,
        of_fit: np.ndarray,
        splits: Splits,
    ) -> TestedScores:
        """Return the scores of a classifier. Fit `f` has the codes (n,) `targets[of_fit[f]]`."""
        n, p = self.values.shape
        size = self.n_classes * (2 * p + n) + splits.tested.shape[1] * (2 * p + 1)
        if isinstance(rule, LinearGaussians):
            size += (self.n_classes + 2) * p * p
        step = max(1, _STACK // size)
        scores = []
        for start in range(0, len(splits), step):
            some = slice(start, start + step)
            block = Splits(splits.weights[some], splits.tested[some])
            moments = SplitMoments(self, targets, of_fit[some], block)
            scores.append(rule(moments, self.values[block.tested]))
        return TestedScores._make(map(np.concatenate, zip(*scores, strict=True)))

    def sum_by_class(self, targets: np.ndarray, of_fit: np.ndarray, splits: Splits) -> np.ndarray:
        """Return class sums of ones, columns and squares, shape (F, n_classes, 2 p + 1)."""
        codes = np.arange(self.n_classes)[:, None]
        if splits.leaves_few:
            totals = multiply((targets[:, None] == codes).astype(float), self.rows)
            labels = take_samples(targets[:, None], of_fit, splits.removed)  # (F, 1, d)
            # eq. (1) of moments
            return totals[of_fit] - (labels == codes) @ self.rows[splits.removed]
        member = targets[of_fit][:, None] == codes  # (F, n_classes, n)
        return multiply(member * splits.weights[:, None].astype(float), self.rows)

    def total_products(self, splits: Splits) -> np.ndarray:
        """Return the sums of products (F, p, p) over training sets."""
        if splits.leaves_few:
            rows = self.values[splits.removed]
            return self.products.gram - rows.swapaxes(1, 2) @ rows
        return self.products.weighted_sums(splits.weights.astype(float))


def multiply(stack: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Return the product of a stack (a, b, n) and a matrix (n, r) as a single matrix product."""
    product: np.ndarray = stack.reshape(-1, stack.shape[-1]) @ matrix
    return product.reshape(*stack.shape[:-1], -1)


class SplitMoments:
    """Counts, means and variances of the classes in training sets.

    Attributes
    ----------
    counts : ndarray of shape (F, n_classes)
    means, variances : ndarray of shape (F, n_classes, p)
    rounding : ndarray of shape (F, n_classes, p)
        Magnitude of the rounding errors in the variances.
    mean_rounding : ndarray of shape (1, p)
        Magnitude of the rounding errors in the estimator's means.
    """

    def __init__(
        self, columns: Columns, targets: np.ndarray, of_fit: np.ndarray, splits: Splits
    ) -> None:
        self.columns, self.splits = columns, splits
        sums = columns.sum_by_class(targets, of_fit, splits)  # (F, n_classes, 2 p + 1)
        self.counts = sums[..., 0]
        self.means, self.variances = mean_and_variance(sums)
        self.variance = mean_and_variance(sums.sum(axis=1))[1]
        share = len(columns.values) / self.counts[..., None]
        # exact sums give exact variances of 0
        self.rounding = np.where(columns.exact, 0.0, ERROR_OF_SUM * EPSILON * share)
        size = 1 + np.abs(columns.center) / columns.unit
        self.mean_rounding: np.ndarray = ERROR_OF_MEAN * EPSILON * size[None]

    def within(self) -> np.ndarray:
        """Return the sums of products about the means of the classes, shape (F, p, p)."""
        weighted = self.means * self.counts[..., None]
        between = weighted.swapaxes(1, 2) @ self.means
        return self.columns.total_products(self.splits) - between  # eq. (5) of moments


def mean_and_variance(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return means and variances from sums (..., 2 p + 1) of ones, columns and squares."""
    p = sums.shape[-1] // 2
    counts, first, second = sums[..., :1], sums[..., 1 : p + 1], sums[..., p + 1 :]
    with np.errstate(invalid="ignore", divide="ignore"):
        means = first / counts
        # eq. (2) of moments; exactly 0 for constant columns of integers
        variances = np.maximum((counts * second - first**2) / counts**2, 0.0)
    return means, variances


def log_frequencies(counts: np.ndarray) -> np.ndarray:
    """Return the logarithms of the class frequencies (F, n_classes), which are the priors."""
    frequencies: np.ndarray = np.log(counts / counts.sum(axis=1, keepdims=True))
    return frequencies


def weighted_distances(tested: np.ndarray, means: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    """Return the squared distances (F, t, K) of samples (F, t, p) to means (F, K, p).

    Squared differences are weighted by `inverse` (F, K, p).
    """
    distances = np.empty((*tested.shape[:2], means.shape[1]))
    for code in range(means.shape[1]):
        apart = tested - means[:, code, None]
        apart *= apart
        distances[..., code] = (apart @ inverse[:, code, :, None])[..., 0]
    return distances


def are_settled(values: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Return a mask (F,) of fits whose probabilities have negligible errors.

    `values` are the log-probabilities, and `error` bounds their errors.
    """
    shares = np.exp(values - values.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    moved = np.sum(shares * (1 - shares) * error, axis=-1)
    return (moved < _MAX_NOISE).all(axis=-1)


@dataclass(frozen=True)
class NaiveGaussians:
    """Gaussian naive Bayes.

    Attributes
    ----------
    smoothing : float
        Fraction of the largest variance that is added to all variances.
    """

    smoothing: float

    def __call__(self, moments: SplitMoments, tested: np.ndarray) -> TestedScores:
        """Return log-probabilities of samples (F, t, p)."""
        # variances, smoothed by a fraction of the largest
        unit = moments.columns.unit**2
        added = self.smoothing * np.max(unit * moments.variance, axis=1, keepdims=True) / unit
        variances = moments.variances + added[:, None]  # eq. (3) of moments
        positive = (variances > 0).all(axis=(1, 2))
        variances = np.where(variances > 0, variances, 1.0)
        apart = weighted_distances(tested, moments.means, 1 / variances)
        # log-probabilities
        constants = log_frequencies(moments.counts) - 0.5 * np.log(variances).sum(axis=2)
        values = constants[:, None] - 0.5 * apart
        # rounding errors of variances and means
        off = moments.rounding / variances + moments.mean_rounding[:, None] / np.sqrt(variances)
        bound = (off.max(axis=2) + ERROR_OF_SUM * EPSILON)[:, None]  # (F, 1, K), eq. (4) of moments
        error = bound * (tested.shape[2] + apart + np.abs(np.maximum(constants, -1e300))[:, None])
        solved = positive & are_settled(values, error)
        return TestedScores(values, error, values, solved)


def invert(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the inverses of positive definite matrices (..., p, p) scaled to unit diagonal.

    Also return the divisors of the columns (..., p), and upper bounds on the eigenvalues of the
    inverses, or inf where there is none.
    """
    diagonal = np.diagonal(matrices, axis1=-2, axis2=-1)
    unit = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scaled = matrices / (unit[..., :, None] * unit[..., None, :])
    sign, determinant = np.linalg.slogdet(scaled)
    bad = ~((sign > 0) & np.isfinite(determinant) & (diagonal > 0).all(axis=-1))
    scaled[bad] = np.eye(scaled.shape[-1])
    inverse = np.linalg.inv(scaled)
    return inverse, unit, np.where(bad, np.inf, np.linalg.norm(inverse, axis=(-2, -1)))


@dataclass(frozen=True)
class LinearGaussians:
    """Linear discriminant analysis.

    Attributes
    ----------
    tolerance : float
        Smallest singular value that is kept.
    divisor_offset : int
        Number subtracted from the sample size in the divisor of the scatter matrix.
    """

    tolerance: float
    divisor_offset: int

    def __call__(self, moments: SplitMoments, tested: np.ndarray) -> TestedScores:
        """Return log-probabilities of samples (F, t, p)."""
        counts, p = moments.counts, tested.shape[2]
        m = counts.sum(axis=1)
        covariance = moments.within() / (m - self.divisor_offset)[:, None, None]
        # scores, with the rounding errors of the inverse
        inverse, unit, norm = invert(covariance)
        priors = log_frequencies(counts)
        means, samples = moments.means / unit[:, None], tested / unit[:, None]
        slopes = means @ inverse  # (F, K, p)
        values = samples @ slopes.swapaxes(1, 2)
        values += (priors - 0.5 * np.sum(means * slopes, axis=2))[:, None]  # eq. (6) of moments
        # the estimator expands them at the mean of the classes, eq. (8) of moments
        place = np.exp(priors)[:, None] @ means  # (F, 1, p)
        slope = inverse @ place.swapaxes(1, 2)  # (F, p, 1)
        scores = values + 0.5 * (place @ slope) - samples @ slope
        # rounding errors of the estimator's scores, which may be far from 0
        largest = np.maximum(np.abs(values), np.abs(scores)).max(axis=(1, 2))
        exists, norm = np.isfinite(norm), np.where(np.isfinite(norm), norm, 0.0)
        rounding = ERROR_OF_SUM * EPSILON * len(moments.columns.values) / m
        far = (moments.mean_rounding / unit).max(axis=1)
        error_bound = p * norm * rounding + np.sqrt(norm) * far
        error = np.broadcast_to((error_bound * (1 + largest))[:, None, None], values.shape)
        solved = exists & (error_bound < _MAX_NOISE)
        solved &= are_settled(values, error)
        # the estimator must discard no direction
        solved &= norm * (_ROOM * self.tolerance) ** 2 < 1
        solved &= self._keeps_all(means, inverse, np.exp(priors), m)
        return TestedScores(values, error, scores, solved)

    def _keeps_all(
        self, means: np.ndarray, inverse: np.ndarray, priors: np.ndarray, m: np.ndarray
    ) -> np.ndarray:
        """Return a mask (F,) of fits that keep all directions between the means."""
        apart = means - (priors[:, None] @ means)
        root = np.sqrt(priors * m[:, None])
        between = root[:, :, None] * (apart @ inverse @ apart.swapaxes(1, 2)) * root[:, None]
        squares = np.linalg.eigvalsh(between)[:, ::-1]  # eq. (7) of moments
        last = squares[:, min(means.shape[1] - 1, means.shape[2]) - 1]
        return last > (_ROOM * self.tolerance) ** 2 * squares[:, 0]
