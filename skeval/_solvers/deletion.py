"""Fits to parts of the samples by way of one factorisation of all of them.

What a training part gives is what all samples give less what those left out contribute: least
squares with or without a penalty, whose normal equations are sums over samples, and nearest
neighbours, who are the first in a list of all samples that are trained on.
Numbers in parentheses are the equations of doc/derivations/deletion.rst.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

__all__ = [
    "PartSolutions",
    "Parts",
    "PenalisedSquares",
    "Products",
    "ScaledNeighbours",
    "SortedNeighbours",
    "Votes",
    "factor_columns",
    "factor_kernel",
    "standardise_columns",
    "take_samples",
]

EPSILON = float(np.finfo(float).eps)

# Squared singular values below this share of the largest are rounding errors.
_NEGLIGIBLE = 1e-24
_NEGLIGIBLE_IN_KERNEL = 1e-14
# Above this many numbers no matrix of all samples by all samples, nor of all products of columns,
# is kept.
_MOST_KEPT = 2**22
# Numbers in one stack of small matrices.
_STACK = 2**19
# Right-hand sides of signs without a pattern, from multiples of irrational numbers, show what
# rounding errors of size 1 would become.
_PROBES = (5**0.5, 7**0.5)
# A variance within a training part below this share of that of all samples is a rounding error.
_CONSTANT = 1e-10


@dataclass(frozen=True)
class Parts:
    """Some fits whose training parts leave out the same number of samples.

    Attributes
    ----------
    weights : ndarray of shape (n_fits, n)
        How often a sample is trained on, or its weight.
    tested : int ndarray of shape (n_fits, n_tested)
    """

    weights: np.ndarray
    tested: np.ndarray

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def plain(self) -> bool:
        """Whether no sample counts more than once, and none has a weight."""
        return self.weights.dtype.kind in "iub" and self.weights.max(initial=0) <= 1

    def removed(self) -> np.ndarray:
        """Return the samples that are left out, shape (n_fits, n_removed)."""
        return np.nonzero(self.weights == 0)[1].reshape(len(self), -1)


class Products:
    """The sums of products of columns (n, q) under any weights of the samples."""

    def __init__(self, columns: np.ndarray) -> None:
        self.columns = columns
        self.gram = columns.T @ columns

    @cached_property
    def pairs(self) -> np.ndarray | None:
        """The products of all pairs of columns, shape (n, q (q + 1) / 2), None if too many."""
        n, q = self.columns.shape
        if n * q * (q + 1) // 2 > _MOST_KEPT:
            return None
        i, j = np.triu_indices(q)
        return self.columns[:, i] * self.columns[:, j]

    def weigh(self, weights: np.ndarray) -> np.ndarray:
        """Return the sums (F, q, q) under weights (F, n), in one product where that is small."""
        if self.pairs is None:
            return np.stack([(self.columns.T * row) @ self.columns for row in weights])
        q = self.columns.shape[1]
        i, j = np.triu_indices(q)
        sums = weights @ self.pairs  # (F, q (q + 1) / 2)
        grams = np.empty((len(weights), q, q))
        grams[:, i, j] = sums
        grams[:, j, i] = sums
        return grams


class PartSolutions(NamedTuple):
    """The predictions of many fits.

    Attributes
    ----------
    values : ndarray of shape (n_fits, n_targets, n_tested)
    noise : ndarray of shape (n_fits,)
        The order of rounding errors in the values for targets of size 1; inf or nan where the
        equations are singular.
    residual : ndarray of shape (n_fits, n_targets)
        The sum of squared residuals of the training part, without a penalty.
    inverse : ndarray of shape (n_fits,)
        The order of the largest eigenvalue of the inverse of the equations' matrix.
    """

    values: np.ndarray
    noise: np.ndarray
    residual: np.ndarray
    inverse: np.ndarray


class PenalisedSquares:
    """Penalised least squares on the columns of a basis, for any training part.

    Parameters
    ----------
    basis : ndarray of shape (n, q)
    penalty : ndarray of shape (q,)
        Of the squared coefficients.
    relative : ndarray of shape (q,) or None
        What of the penalty is in units of the variance of its column within the training part.
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
        self.hat = basis @ basis.T if relative is None and n * n <= _MOST_KEPT else None  # (1)
        places = np.outer(np.arange(max(n, q)), _PROBES) % 1
        self._probes = np.where(places < 0.5, 1.0, -1.0)

    def solve(self, targets: np.ndarray, of_fit: np.ndarray, parts: Parts) -> PartSolutions:
        """Return the predictions of fits; fit `f` has the targets (n_targets, n) `of_fit[f]`."""
        n, q = self.basis.shape
        if parts.plain:
            removed = parts.removed()
            same = removed.shape == parts.tested.shape and np.array_equal(removed, parts.tested)
            if same and self.hat is not None and removed.shape[1] < q:
                return self._in_stacks(self._delete, removed.shape[1], targets, of_fit, parts)
            # Products of all samples cost as much as those of a quarter of them, one by one.
            if 4 * removed.shape[1] <= n or self.products.pairs is None:
                return self._in_stacks(self._downdate, q, targets, of_fit, parts)
        return self._in_stacks(self._weigh, q, targets, of_fit, parts)

    def _in_stacks(
        self, solve: Callable, size: int, targets: np.ndarray, of_fit: np.ndarray, parts: Parts
    ) -> PartSolutions:
        """Return the solutions of stacks that stay in the cache as one."""
        step = max(1, _STACK // (size * max(size, parts.tested.shape[1])))
        slices = [slice(start, start + step) for start in range(0, len(parts), step)]
        found = [
            solve(targets, of_fit[part], Parts(parts.weights[part], parts.tested[part]))
            for part in slices
        ]
        return PartSolutions._make(map(np.concatenate, zip(*found, strict=True)))

    def _delete(self, targets: np.ndarray, of_fit: np.ndarray, parts: Parts) -> PartSolutions:
        """Solve for the samples that are left out, who are those that are tested."""
        out, d = parts.tested, parts.tested.shape[1]
        assert self.hat is not None
        residuals = targets - (targets @ self.basis) @ self.basis.T  # (L, c, n)
        left = take_samples(residuals, of_fit, out)  # (F, c, d)
        matrices = -self.hat[out[:, :, None], out[:, None, :]]  # (F, d, d)
        matrices[:, np.arange(d), np.arange(d)] += 1.0
        solution, probed = self._solve_each(matrices, left)
        whole = np.sum(residuals**2, axis=-1)[of_fit]
        residual = whole - np.sum(left * solution, axis=-1)  # (6)
        noise = np.abs(probed).max(axis=(1, 2)) * (1 + np.abs(solution).max(axis=(1, 2)))
        size = np.linalg.norm(probed, axis=1).max(axis=1)
        values = take_samples(targets, of_fit, out) - solution  # (3)
        return PartSolutions(values, EPSILON * noise * len(self.basis) ** 0.5, residual, size)

    def _downdate(self, targets: np.ndarray, of_fit: np.ndarray, parts: Parts) -> PartSolutions:
        """Take the samples that are left out from the sums of all, or add the others."""
        plain = parts.weights != 0
        adds = 2 * int(plain[0].sum()) < plain.shape[1]
        rows = np.nonzero(plain if adds else ~plain)[1].reshape(len(parts), -1)  # (F, d)
        some = self.basis[rows]  # (F, d, q)
        given = take_samples(targets, of_fit, rows)  # (F, c, d)
        grams, rights = some.swapaxes(1, 2) @ some, given @ some
        squares = np.sum(given**2, axis=-1)
        counts, moments = float(rows.shape[1]), None
        if self.relative is not None:
            moments = some.sum(axis=1), np.einsum("fdq,fdq->fq", some, some)
        if not adds:  # (4)
            grams, rights = self.gram - grams, (targets @ self.basis)[of_fit] - rights
            squares = np.sum(targets**2, axis=-1)[of_fit] - squares
            counts = plain.shape[1] - counts
            if moments is not None:
                moments = self.basis.sum(axis=0) - moments[0], np.diag(self.gram) - moments[1]
        return self._finish(grams, rights, squares, np.full(len(parts), counts), moments, parts)

    def _weigh(self, targets: np.ndarray, of_fit: np.ndarray, parts: Parts) -> PartSolutions:
        """Sum over all samples with their weights, in one product for all fits."""
        weights = parts.weights.astype(float)
        grams = self.products.weigh(weights)
        weighted = targets[of_fit] * weights[:, None]  # (F, c, n)
        squares = np.sum(weighted * targets[of_fit], axis=-1)
        moments = weights @ self.basis, np.diagonal(grams, axis1=1, axis2=2)
        counts = weights.sum(axis=1)
        return self._finish(grams, weighted @ self.basis, squares, counts, moments, parts)

    def _finish(
        self,
        grams: np.ndarray,
        rights: np.ndarray,
        squares: np.ndarray,
        counts: np.ndarray,
        moments: tuple[np.ndarray, np.ndarray] | None,
        parts: Parts,
    ) -> PartSolutions:
        """Solve the normal equations of the fits, and predict."""
        q = np.arange(self.basis.shape[1])
        grams[:, q, q] += self.penalty
        constant = np.zeros(len(parts), dtype=bool)
        if self.relative is not None and moments is not None:
            first, second = moments[0] / counts[:, None], moments[1] / counts[:, None]
            variance = second - first**2  # (5)
            scaled = self.relative > 0
            least = _CONSTANT * np.diag(self.gram)[scaled] / len(self.basis)
            constant = (variance[:, scaled] < least).any(axis=1)
            grams[:, q, q] += self.relative * variance
        solution, probed = self._solve_each(grams, rights)
        tested = self.basis[parts.tested]  # (F, t, q)
        values = solution @ tested.swapaxes(1, 2)
        residual = squares - np.sum(rights * solution, axis=-1)  # (6)
        noise = np.abs(tested @ probed).max(axis=(1, 2))
        size = np.linalg.norm(probed, axis=1).max(axis=1)
        noise = noise * (np.abs(rights).max(axis=(1, 2)) + np.abs(solution).max(axis=(1, 2)))
        noise[constant] = np.inf
        return PartSolutions(values, EPSILON * noise, residual, size)

    def _solve_each(
        self, matrices: np.ndarray, rights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the solutions (F, c, size) for right sides, and those (F, size, 2) of probes."""
        n_targets, size = rights.shape[1:]
        columns = np.empty((len(matrices), size, n_targets + len(_PROBES)))
        columns[..., :n_targets] = rights.swapaxes(1, 2)
        columns[..., n_targets:] = self._probes[:size]
        try:
            found = np.linalg.solve(matrices, columns)
        except np.linalg.LinAlgError:  # some matrix is singular in every bit
            found = np.full_like(columns, np.nan)
            for each, matrix in enumerate(matrices):
                try:
                    found[each] = np.linalg.solve(matrix, columns[each])
                except np.linalg.LinAlgError:
                    continue
        return found[..., :n_targets].swapaxes(1, 2), found[..., n_targets:]


def take_samples(targets: np.ndarray, of_fit: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return of targets (L, c, n), those `of_fit` (F,), some samples (F, d), shape (F, c, d)."""
    return targets[of_fit[:, None, None], np.arange(targets.shape[1])[:, None], rows[:, None]]


def factor_columns(
    columns: np.ndarray, alpha: float, *, with_intercept: bool = True
) -> PenalisedSquares:
    """Return ridge regression on columns (n, p), or least squares where `alpha` is 0."""
    n, p = columns.shape
    centred = columns - columns.mean(axis=0) if with_intercept else columns
    if p < n:
        left, singular, _ = np.linalg.svd(centred, full_matrices=False)
        return _penalise(left, singular**2, alpha, _NEGLIGIBLE, with_intercept)
    squared, left = np.linalg.eigh(centred @ centred.T)
    return _penalise(left, squared, alpha, _NEGLIGIBLE_IN_KERNEL, with_intercept)


def factor_kernel(kernel: np.ndarray, alpha: float) -> PenalisedSquares | None:
    """Return kernel ridge regression on a kernel (n, n), None where it has negative eigenvalues."""
    squared, left = np.linalg.eigh(kernel)
    largest = np.abs(squared).max()
    if squared.min() < -_NEGLIGIBLE_IN_KERNEL * len(kernel) * largest:
        return None
    return _penalise(left, squared, alpha, _NEGLIGIBLE_IN_KERNEL, False)


def _penalise(
    left: np.ndarray, squared: np.ndarray, alpha: float, negligible: float, with_intercept: bool
) -> PenalisedSquares:
    """Return the fit of which left singular vectors and squared singular values are given."""
    kept = squared > negligible * squared.max(initial=0.0)
    shrunk = squared[kept] / (squared[kept] + alpha)
    basis, penalty = left[:, kept] * np.sqrt(shrunk), alpha / (squared[kept] + alpha)
    if with_intercept:
        basis = np.column_stack([np.full(len(left), len(left) ** -0.5), basis])
        penalty = np.r_[0.0, penalty]
    return PenalisedSquares(np.ascontiguousarray(basis), penalty)  # (2)


def standardise_columns(columns: np.ndarray, alpha: float) -> PenalisedSquares:
    """Return ridge regression on columns that are brought to variance 1 in each training part."""
    n, scaled = len(columns), standardise_all(columns)
    basis = np.column_stack([np.ones(n), scaled]) / n**0.5
    relative = np.r_[0.0, np.full(scaled.shape[1], alpha)]
    return PenalisedSquares(basis, np.zeros(basis.shape[1]), relative)


def standardise_all(columns: np.ndarray) -> np.ndarray:
    """Return the columns that vary, centred and brought to variance 1 over all samples."""
    varies = np.ptp(columns, axis=0) > 0
    centred = columns[:, varies] - columns[:, varies].mean(axis=0)
    scaled: np.ndarray = centred / np.sqrt(np.mean(centred**2, axis=0))
    return scaled


class Votes(NamedTuple):
    """What the neighbours of tested samples say.

    Attributes
    ----------
    counts : ndarray of shape (n_classes, n_fits, n_tested)
        Votes for each class, or in the only row the sum of numbers.
    certain : bool ndarray of shape (n_fits,)
        False where samples at the same distance, of which some are neighbours, disagree.
    """

    counts: np.ndarray
    certain: np.ndarray


class SortedNeighbours:
    """The nearest samples of each sample, nearest first, itself among them.

    Parameters
    ----------
    find : callable
        ``find(size)`` returns the squared distances and indices, both of shape (n, size), of so
        many.
    n_samples, n_neighbors : int
    noise : float
        Squared distances that differ by no more may be equal.
    """

    def __init__(
        self,
        find: Callable[[int], tuple[np.ndarray, np.ndarray]],
        n_samples: int,
        n_neighbors: int,
        noise: float,
    ) -> None:
        self.find = find
        self.n_samples = n_samples
        self.n_neighbors = n_neighbors
        self.noise = noise
        self._lists: tuple[np.ndarray, np.ndarray] | None = None

    def vote(self, labels: np.ndarray, parts: Parts, n_classes: int) -> Votes:
        """Return what neighbours say, under codes (n_fits, n), or under numbers without classes."""
        shape = parts.tested.shape
        trained = parts.weights != 0
        share = float(trained.mean())
        k = self.n_neighbors
        size = int(k / share + 4 * (k * (1 - share)) ** 0.5 / share) + 3
        fit = np.repeat(np.arange(shape[0]), shape[1])
        tested = parts.tested.ravel()
        counts = np.zeros((max(1, n_classes), fit.size), dtype=np.int32 if n_classes else float)
        certain = np.zeros(fit.size, dtype=bool)
        left = np.arange(fit.size)
        while left.size:
            size = min(size, self.n_samples)
            found, known, sure = self._count(
                labels, parts, fit[left], tested[left], n_classes, size
            )
            counts[:, left[known]] = found[:, known]
            certain[left[known]] = sure[known]
            if size == self.n_samples:
                break
            left, size = left[~known], 4 * size
        sure_fits = np.asarray(certain.reshape(shape).all(axis=1))
        return Votes(counts.reshape(-1, *shape), sure_fits)

    def _count(
        self,
        labels: np.ndarray,
        parts: Parts,
        fit: np.ndarray,
        tested: np.ndarray,
        n_classes: int,
        size: int,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return votes from lists of one size, which lists are long enough, and what is certain."""
        distances, indices = self._sorted(size)
        n, k, plain = self.n_samples, self.n_neighbors, parts.plain
        flat_weights, flat_labels = parts.weights.ravel(), labels.ravel()
        counts = np.zeros((max(1, n_classes), fit.size), dtype=np.int32 if n_classes else float)
        used = np.zeros(fit.size, dtype=np.int32)
        last, after = np.full(fit.size, -np.inf), np.full(fit.size, np.inf)
        open_ = np.ones(fit.size, dtype=bool)  # the first sample behind the neighbours is not met
        start = fit * n
        for rank in range(indices.shape[1]):
            at = start + indices[tested, rank]
            weight = flat_weights.take(at)
            distance = distances[tested, rank]
            present = weight > 0
            taken = np.minimum(weight, k - used) if not plain else present & (used < k)  # (7)
            # A sample of whose copies some are neighbours only is behind them, too.
            behind = (weight > taken) & open_
            after[behind] = distance[behind]
            open_ &= ~behind
            label = flat_labels.take(at)
            if n_classes:
                for code in range(n_classes):
                    counts[code] += taken * (label == code)
            else:
                counts[0] += taken * label
            last = np.where(taken > 0, distance, last)
            used += taken
            if not open_.any():
                break
        known = ~open_ if indices.shape[1] < n else np.ones(fit.size, dtype=bool)
        sure = (used == k) & ~(after - last <= self.noise + 1e-10 * np.abs(last))
        tied = np.flatnonzero(known & ~sure & (used == k))
        if tied.size:
            agree, long_enough = self._agree(
                labels, parts, fit[tied], tested[tied], last[tied], size
            )
            sure[tied], known[tied] = agree, long_enough
        return counts, known, sure

    def _agree(
        self,
        labels: np.ndarray,
        parts: Parts,
        fit: np.ndarray,
        tested: np.ndarray,
        last: np.ndarray,
        size: int,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return where all samples at the distance of the last neighbour have one label."""
        distances, indices = self._sorted(size)
        indices, distances = indices[tested], distances[tested]  # (n_tied, size)
        near = np.abs(distances - last[:, None]) <= 2 * (self.noise + 1e-10 * np.abs(last)[:, None])
        near_trained = near & (parts.weights[fit[:, None], indices] > 0)
        label = labels[fit[:, None], indices]
        first = label[np.arange(len(fit)), near_trained.argmax(axis=1)]
        agree = ((label == first[:, None]) | ~near_trained).all(axis=1)
        return agree, ~near[:, -1] | (indices.shape[1] == self.n_samples)

    def _sorted(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        if self._lists is None or self._lists[0].shape[1] < size:
            self._lists = self.find(size)
        distances, indices = self._lists
        return distances[:, :size], indices[:, :size]


class ScaledNeighbours:
    """Nearest samples where each training part brings the columns to variance 1 within it.

    Parameters
    ----------
    columns : ndarray of shape (n, p)
    n_neighbors : int
    noise : float
        Squared distances that differ by no more, relative to the squares of samples, may be equal.
    """

    def __init__(self, columns: np.ndarray, n_neighbors: int, noise: float) -> None:
        self.columns = standardise_all(columns)
        self.n_neighbors = n_neighbors
        self.noise = noise

    def vote(self, labels: np.ndarray, parts: Parts, n_classes: int) -> Votes:
        """Return what neighbours say, under codes (n_fits, n), or under numbers without classes."""
        counts = np.zeros((max(1, n_classes), *parts.tested.shape))
        certain = np.zeros(len(parts), dtype=bool)
        weights = parts.weights.astype(float)
        sizes = weights.sum(axis=1, keepdims=True)
        means = weights @ self.columns / sizes
        variances = weights @ self.columns**2 / sizes - means**2  # (5)
        varies = (variances > _CONSTANT).all(axis=1) & (sizes[:, 0] > self.n_neighbors)
        for fit in np.flatnonzero(varies):
            given = labels[fit], parts.weights[fit], parts.tested[fit]
            counts[:, fit], certain[fit] = self._count(*given, variances[fit], n_classes)
        return Votes(counts, certain)

    def _count(
        self,
        labels: np.ndarray,
        weights: np.ndarray,
        tested: np.ndarray,
        variance: np.ndarray,
        n_classes: int,
    ) -> tuple[np.ndarray, bool]:
        """Return the votes (n_classes, n_tested) in a fit, and whether ties do not matter."""
        k, trained = self.n_neighbors, np.flatnonzero(weights)
        scaled = self.columns / np.sqrt(variance)
        squares = np.einsum("ij,ij->i", scaled, scaled)
        squared = squares[trained] - 2 * scaled[tested] @ scaled[trained].T  # (t, m)
        squared += squares[tested, None]
        size = min(k + 1, len(trained))
        first = np.argpartition(squared, size - 1, axis=1)[:, :size]
        order = np.argsort(np.take_along_axis(squared, first, axis=1), axis=1)
        first = np.take_along_axis(first, order, axis=1)
        distances = np.take_along_axis(squared, first, axis=1)
        weight = weights[trained[first]]
        before = np.cumsum(weight, axis=1) - weight
        used = np.clip(k - before, 0, weight)  # (7)
        label = labels[trained[first]]
        if n_classes:
            codes = np.arange(n_classes)[:, None, None]
            counts = np.sum(used * (label == codes), axis=-1)
        else:
            counts = np.sum(used * label, axis=-1)[None]
        last = np.max(np.where(used > 0, distances, -np.inf), axis=1)
        # A sample of whose copies some are neighbours only is behind them, too.
        after = np.min(np.where(used < weight, distances, np.inf), axis=1)
        noise = self.noise * squares.max() + 1e-10 * last
        tied = after - last <= noise
        near = np.abs(squared[tied] - last[tied, None]) <= 2 * noise[tied, None]
        there = labels[trained]
        lowest = np.min(np.where(near, there, np.inf), axis=1)
        highest = np.max(np.where(near, there, -np.inf), axis=1)
        return counts, bool(np.all(lowest == highest))
