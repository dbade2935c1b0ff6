"""Fits to many training parts from one factorisation of all samples.

The result of a training part is the result of all samples minus the contribution of the samples
left out. This serves least squares with or without a penalty, whose normal equations are sums over
samples, and nearest neighbors, which are the first training samples in a list of all samples.
Numbers in parentheses are the equations of doc/derivations/deletion.rst.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

EPSILON = float(np.finfo(float).eps)

# Squared singular values below this share of the largest are rounding errors.
_NEGLIGIBLE = 1e-24
_NEGLIGIBLE_IN_KERNEL = 1e-14
# Most numbers in a stored matrix of all pairs of samples, or of all products of columns.
_MOST_KEPT = 2**22
# Numbers in one stack of small matrices.
_STACK = 2**19
# Right-hand sides of signs without a pattern, from multiples of irrational numbers, show what
# rounding errors of size 1 would become.
_PROBES = (5**0.5, 7**0.5)
# Relative differences of losses and distance-weighted votes up to this are too small to trust.
_RELATIVE = 1e-7
# A variance within a training part below this share of the one over all samples is rounding.
_CONSTANT = 1e-10


@dataclass(frozen=True)
class Parts:
    """Some fits whose training parts leave out the same number of samples.

    Attributes
    ----------
    weights : ndarray of shape (n_fits, n)
        The number of times that a sample occurs in the training part, or its weight.
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
        The part of the penalty that is multiplied by the column's variance in the training part.
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
        blocks = [
            solve(targets, of_fit[part], Parts(parts.weights[part], parts.tested[part]))
            for part in slices
        ]
        return PartSolutions._make(map(np.concatenate, zip(*blocks, strict=True)))

    def _delete(self, targets: np.ndarray, of_fit: np.ndarray, parts: Parts) -> PartSolutions:
        """Predict the samples left out, if they are also the tested samples."""
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
        """Subtract the samples left out from the sums over all samples, or add up the others."""
        plain = parts.weights != 0
        adds = 2 * int(plain[0].sum()) < plain.shape[1]
        rows = np.nonzero(plain if adds else ~plain)[1].reshape(len(parts), -1)  # (F, d)
        some = self.basis[rows]  # (F, d, q)
        deleted_targets = take_samples(targets, of_fit, rows)  # (F, c, d)
        grams, rights = some.swapaxes(1, 2) @ some, deleted_targets @ some
        squares = np.sum(deleted_targets**2, axis=-1)
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
            solutions = np.linalg.solve(matrices, columns)
        except np.linalg.LinAlgError:  # some matrix is singular in every bit
            solutions = np.full_like(columns, np.nan)
            for each, matrix in enumerate(matrices):
                try:
                    solutions[each] = np.linalg.solve(matrix, columns[each])
                except np.linalg.LinAlgError:
                    continue
        return solutions[..., :n_targets].swapaxes(1, 2), solutions[..., n_targets:]


class SearchedSquares:
    """Ridge regression with the penalty of smallest leave-one-out error.

    Parameters
    ----------
    columns : ndarray of shape (n, p)
    alphas : ndarray of shape (n_alphas,)
    scaled : bool
        Whether each training part brings its columns to variance 1 before.
    """

    penalty = np.zeros(1)
    """The intercept has none."""

    def __init__(self, columns: np.ndarray, alphas: np.ndarray, *, scaled: bool) -> None:
        squares = standardise_columns(columns, 1.0)
        assert squares.relative is not None
        self.basis, self.products, self.scaled = squares.basis, squares.products, scaled
        self.alphas = alphas
        varies = np.ptp(columns, axis=0) > 0
        self.unit = squares.relative.copy()  # of the penalty of a column, (q,)
        if not scaled:
            self.unit[1:] /= columns[:, varies].var(axis=0) * len(columns)

    def solve(self, targets: np.ndarray, of_fit: np.ndarray, parts: Parts) -> PartSolutions:
        """Return the predictions of fits; fit `f` has the targets (n_targets, n) `of_fit[f]`."""
        step = max(1, _STACK // self.basis.size)
        parts_solved = [
            self._search(
                targets[of_fit[start : start + step]],
                parts.weights[start : start + step].astype(float),
                parts.tested[start : start + step],
            )
            for start in range(0, len(parts), step)
        ]
        return PartSolutions._make(map(np.concatenate, zip(*parts_solved, strict=True)))

    def _search(
        self, targets: np.ndarray, weights: np.ndarray, tested: np.ndarray
    ) -> PartSolutions:
        basis, fits, q = self.basis, np.arange(len(weights)), np.arange(self.basis.shape[1])
        grams = self.products.weigh(weights)  # (F, q, q)
        rights = (targets * weights[:, None]) @ basis  # (F, c, q)
        counts, units = weights.sum(axis=1, keepdims=True), np.tile(self.unit, (len(weights), 1))
        constant = np.zeros(len(weights), dtype=bool)
        if self.scaled:
            first = weights @ basis / counts
            variance = grams[:, q, q] / counts - first**2  # (5)
            constant = (variance[:, 1:] * len(basis) < _CONSTANT).any(axis=1)
            units = units * variance
        losses, inverses = [], []
        for alpha in self.alphas:
            matrices = grams.copy()
            matrices[:, q, q] += alpha * units
            inverse = np.linalg.inv(matrices)
            leverage = np.sum((basis @ inverse) * basis, axis=-1)  # (F, n)
            residuals = targets - rights @ inverse @ basis.T
            left_out = residuals / (1 - leverage)[:, None]  # (9)
            losses.append(np.sum(weights[:, None] * left_out**2, axis=(1, 2)))
            inverses.append(inverse)
        ranked = np.sort(losses, axis=0)
        inverse = np.stack(inverses)[np.argmin(losses, axis=0), fits]  # (F, q, q)
        coefficients, there = rights @ inverse, basis[tested]
        size = np.abs(rights).max(axis=(1, 2)) + np.abs(coefficients).max(axis=(1, 2))
        noise = EPSILON * size * np.abs(there @ inverse).sum(axis=2).max(axis=1)
        # Where rounding chooses the penalty the estimator does.
        tied = len(losses) > 1 and ~(ranked[1] - ranked[0] > _RELATIVE * ranked[1])
        noise[constant | tied] = np.inf
        return PartSolutions(coefficients @ there.swapaxes(1, 2), noise, noise, noise)


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
    """Return the fit with these left singular vectors and squared singular values."""
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
    """Votes of the neighbours of tested samples.

    Attributes
    ----------
    shares : ndarray of shape (n_fits, n_tested, n_classes)
        Share of each class in the votes; for numbers one column with their mean.
    certain : bool ndarray of shape (n_fits,)
        False if samples tied at the edge of the neighbourhood have different targets.
    """

    shares: np.ndarray
    certain: np.ndarray


class Lists(NamedTuple):
    """Samples near to some tested samples, and how far they are.

    Attributes
    ----------
    distances, indices : ndarray of shape (n_pairs, size)
        Squared distances, and whose they are.
    reach : ndarray of shape (n_pairs,)
        No sample that is not listed is nearer.
    noise : float or ndarray of shape (n_pairs,)
        Squared distances that differ by no more may be equal.
    """

    distances: np.ndarray
    indices: np.ndarray
    reach: np.ndarray
    noise: float | np.ndarray


class SortedNeighbours:
    """The nearest samples of each sample, nearest first, itself among them.

    Parameters
    ----------
    find : callable
        ``find(size)`` returns the squared distances and indices of the ``size`` nearest samples,
        both of shape (n, size).
    n_samples, n_neighbors : int
    noise : float
        Squared distances that differ by no more may be equal.
    by_distance : bool
        Whether votes are weighted by the inverse distance.
    """

    room = 1
    """Length of the lists, as a multiple of the samples that are needed on average."""

    def __init__(
        self,
        find: Callable[[int], tuple[np.ndarray, np.ndarray]],
        n_samples: int,
        n_neighbors: int,
        noise: float,
        by_distance: bool = False,
    ) -> None:
        self.find = find
        self.n_samples = n_samples
        self.n_neighbors = n_neighbors
        self.noise = noise
        self.by_distance = by_distance
        self._lists: tuple[np.ndarray, np.ndarray] | None = None

    def vote(self, labels: np.ndarray, parts: Parts, n_classes: int) -> Votes:
        """Return the votes for codes (n_fits, n), or the mean of numbers without classes."""
        shape, k = parts.tested.shape, self.n_neighbors
        share = float((parts.weights != 0).mean())
        # Seven standard deviations more than the mean: a list too short is made anew for all.
        size = self.room * (int(k / share + 7 * (k * (1 - share)) ** 0.5 / share) + 3)
        fit, tested = np.repeat(np.arange(shape[0]), shape[1]), parts.tested.ravel()
        shares, certain = np.zeros((fit.size, max(1, n_classes))), np.zeros(fit.size, dtype=bool)
        scales, usable = self._scales(parts)
        left = np.flatnonzero(usable[fit])
        while left.size:
            size = min(size, self.n_samples)
            is_certain = np.zeros(left.size, dtype=bool)
            step = max(1, _STACK // size)
            for start in range(0, left.size, step):
                at = left[start : start + step]
                lists = self._measure(scales, fit[at], tested[at], size)
                votes = self._count(lists, labels, parts.weights, fit[at], n_classes)
                shares[at], certain[at], is_certain[start : start + step] = votes
            left, size = left[~is_certain], 4 * size
        sure = np.asarray(certain.reshape(shape).all(axis=1))
        return Votes(shares.reshape(*shape, -1), sure)

    def _scales(self, parts: Parts) -> tuple[Any, np.ndarray]:
        """Return what the distances of each fit depend on, and which fits have neighbours."""
        return None, np.ones(len(parts), dtype=bool)

    def _measure(self, scales: Any, fit: np.ndarray, tested: np.ndarray, size: int) -> Lists:
        """Return lists of tested samples in fits."""
        distances, indices = self._sorted(size)
        whole = indices.shape[1] == self.n_samples
        reach = np.full(self.n_samples, np.inf) if whole else distances[:, -1]
        return Lists(distances[tested], indices[tested], reach[tested], self.noise)

    def _sorted(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        if self._lists is None or self._lists[0].shape[1] < size:
            # A little longer than asked, for later blocks that leave out a few samples more.
            self._lists = self.find(min(size + size // 8, self.n_samples))
        distances, indices = self._lists
        return distances[:, :size], indices[:, :size]

    @np.errstate(all="ignore")  # A neighbour at a distance of 0 makes a fit that is not certain.
    def _count(
        self, lists: Lists, labels: np.ndarray, weights: np.ndarray, fit: np.ndarray, n_classes: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the votes in fits, whether they are certain, and which lists are long enough."""
        k, start = self.n_neighbors, fit[:, None] * self.n_samples
        listed = weights.ravel().take(start + lists.indices)
        distances = np.where(listed > 0, lists.distances, np.inf)
        first = nearest(distances, k + 1)
        near = np.take_along_axis(distances, first, axis=1)
        there = np.take_along_axis(lists.indices, first, axis=1)
        weight = np.take_along_axis(listed, first, axis=1)
        used = np.clip(k - (np.cumsum(weight, axis=1) - weight), 0, weight)  # (7)
        last = np.max(np.where(used > 0, near, -np.inf), axis=1)
        # A sample with only some copies among the neighbours also counts as the next one.
        after = np.min(np.where(used < weight, near, np.inf), axis=1)
        full, noise = used.sum(axis=1) == k, lists.noise + 1e-10 * np.abs(last)
        is_certain = (full & (last + 3 * noise < lists.reach)) | np.isinf(lists.reach)
        sure = full & (after - last > noise)
        tied = np.flatnonzero(is_certain & ~sure & full)
        if tied.size:  # all samples at the distance of the last neighbour may have one label
            at_last = np.abs(distances[tied] - last[tied, None]) <= 2 * noise[tied, None]
            label = labels.ravel().take(start[tied] + lists.indices[tied])
            lowest = np.min(np.where(at_last, label, np.inf), axis=1)
            sure[tied] = lowest == np.max(np.where(at_last, label, -np.inf), axis=1)
        label = labels.ravel().take(start + there)
        if self.by_distance:
            votes = np.where(used > 0, used / np.sqrt(near), 0.0)  # (8)
            # The errors of distances are relative to the nearest.
            sure &= near[:, 0] * _RELATIVE > lists.noise
        else:
            votes = used
        if n_classes:
            codes = range(n_classes)
            shares = np.stack([np.sum(votes * (label == code), axis=1) for code in codes], axis=1)
        else:
            shares = np.sum(votes * label, axis=1)[:, None]
        shares = shares / votes.sum(axis=1)[:, None]
        if self.by_distance and n_classes:
            best = np.partition(shares, -2, axis=1)
            sure &= best[:, -1] - best[:, -2] > _RELATIVE
        return shares, sure, is_certain


def nearest(distances: np.ndarray, size: int) -> np.ndarray:
    """Return the columns of the smallest distances (n_pairs, size) of each row, in order."""
    if distances.shape[1] <= size:
        return np.argsort(distances, axis=1)
    first = np.argpartition(distances, size - 1, axis=1)[:, :size]
    order = np.argsort(np.take_along_axis(distances, first, axis=1), axis=1)
    return np.take_along_axis(first, order, axis=1)


class ScaledNeighbours(SortedNeighbours):
    """Nearest samples where each training part brings the columns to variance 1 within it.

    Those who are near in the scales of all samples are near in those of a part, where no variance
    is much larger: the lists are of the former, and the distances, of the latter, are sums over
    the columns of their squared differences.

    Parameters
    ----------
    columns : ndarray of shape (n, p)
        Of variance 1.
    """

    room = 3

    def __init__(
        self,
        columns: np.ndarray,
        find: Callable[[int], tuple[np.ndarray, np.ndarray]],
        n_neighbors: int,
        noise: float,
        by_distance: bool = False,
    ) -> None:
        super().__init__(find, len(columns), n_neighbors, noise, by_distance)
        self.columns = columns
        self._differences = np.empty((len(columns), 0, columns.shape[1]))

    def _scales(self, parts: Parts) -> tuple[np.ndarray, np.ndarray]:
        """Return the inverse variances of the columns, and which fits have them, and neighbours."""
        weights = parts.weights.astype(float)
        sizes = weights.sum(axis=1, keepdims=True)
        means = weights @ self.columns / sizes
        variances = weights @ self.columns**2 / sizes - means**2  # (5)
        varies = (variances > _CONSTANT).all(axis=1) & (sizes[:, 0] > self.n_neighbors)
        return 1 / np.where(varies[:, None], variances, 1.0), varies

    def _measure(self, scales: Any, fit: np.ndarray, tested: np.ndarray, size: int) -> Lists:
        """Return lists of tested samples in fits: of all samples where lists would be too large."""
        n, columns = self.n_samples, self.columns
        noise = self.noise * (scales @ (columns**2).T).max(axis=1)[fit]
        if size * columns.size > _MOST_KEPT or size == n:
            distances = np.empty((len(fit), n))
            for each in np.unique(fit):
                scaled, at = columns * np.sqrt(scales[each]), fit == each
                squares = np.einsum("ij,ij->i", scaled, scaled)
                products = scaled[tested[at]] @ scaled.T
                distances[at] = squares[tested[at], None] - 2 * products + squares
            indices = np.broadcast_to(np.arange(n), distances.shape)
            return Lists(distances, indices, np.full(len(fit), np.inf), noise)
        global_distances, indices = self._sorted(size)
        if self._differences.shape[1] < size:
            self._differences = (columns[indices] - columns[:, None]) ** 2  # (n, size, p)
        # One product for all fits that test a sample.
        counts = np.bincount(tested, minlength=n)
        order, place = np.argsort(tested, kind="stable"), np.empty_like(tested)
        place[order] = np.arange(len(tested)) - np.repeat(np.cumsum(counts) - counts, counts)
        kept_columns = np.zeros((n, counts.max(), columns.shape[1]))
        kept_columns[tested, place] = scales[fit]
        distances = (kept_columns @ self._differences[:, :size].swapaxes(1, 2))[tested, place]
        reach = global_distances[tested, -1] * scales.min(axis=1)[fit]
        return Lists(distances, indices[tested], (1 - 1e-9) * reach, noise)
