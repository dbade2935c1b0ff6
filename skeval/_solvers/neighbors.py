"""Nearest neighbors of many fits, and their votes and means.

Distances between samples do not depend on the training set. For each sample, all samples are sorted
once by their distance to it. Its neighbors are the first training samples in this list.
Derivation: doc/derivations/neighbor_votes.rst.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from skeval._solvers.splits import CONSTANT, Splits

# Maximum number of list elements that are processed at once.
_STACK = 2**19
# Maximum number of stored squared differences of columns.
_MAX_KEPT = 2**23
# Relative accuracy required of weights and vote shares.
_RELATIVE = 1e-7
# Factor on the length of the lists if the scales of the columns, and so the order, change.
_ROOM = 3


class Lists(NamedTuple):
    """Samples near the tested samples, and their distances.

    Attributes
    ----------
    distances, indices : ndarray of shape (n_pairs, size)
        Squared distances and indices of the samples.
    reach : ndarray of shape (n_pairs,)
        Lower bound on the squared distances of samples that are not listed.
    noise : float or ndarray of shape (n_pairs,)
        Squared distances that differ by at most this count as tied.
    """

    distances: np.ndarray
    indices: np.ndarray
    reach: np.ndarray
    noise: float | np.ndarray


@dataclass(eq=False)
class SortedNeighbors:
    """Nearest samples of each sample, nearest first, including the sample itself.

    The neighbors in a training set are the first training samples in the list. If the columns are
    scaled to variance 1 in each training set, lists contain the nearest samples in the scales of
    all samples. The distances in the scales of a training set are weighted sums of squared
    differences. They also bound the distances of samples that are not listed.

    Parameters
    ----------
    find : callable
        ``find(size)`` returns the squared distances and indices of the ``size`` nearest samples,
        each of shape (n, size).
    n_samples, n_neighbors : int
    noise : float
        Squared distances that differ by at most this count as tied.
    by_distance : bool
        Whether votes are weighted by the inverse distance.
    columns : ndarray of shape (n, p) or None
        Columns of variance 1 over all samples, which are scaled in each training set.
    """

    find: Callable[[int], tuple[np.ndarray, np.ndarray]]
    n_samples: int
    n_neighbors: int
    noise: float
    by_distance: bool = False
    columns: np.ndarray | None = None
    _lists: tuple[np.ndarray, np.ndarray] | None = None
    _differences: np.ndarray | None = None

    def vote(
        self, labels: np.ndarray, splits: Splits, n_classes: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return fractions of votes (n_fits, n_tested, n_classes), and which fits are certain.

        `labels` (n_fits, n) are codes of classes, or numbers if `n_classes` is 0, and then the only
        column is a mean. A fit is not certain if samples tied for the last neighbor have different
        targets.
        """
        shape, k = splits.tested.shape, self.n_neighbors
        share = float((splits.weights != 0).mean())
        # mean plus seven standard deviations of the length that a vote needs
        size = int(k / share + 7 * (k * (1 - share)) ** 0.5 / share) + 3
        scales, usable = None, np.ones(len(splits), dtype=bool)
        if self.columns is not None:
            # longer lists, because scales of a training set change the order
            size = _ROOM * size
            scales, usable = self._scale(self.columns, splits)
        # all pairs of a fit and a sample that it tests
        fit, tested = np.repeat(np.arange(shape[0]), shape[1]), splits.tested.ravel()
        shares, certain = np.zeros((fit.size, max(1, n_classes))), np.zeros(fit.size, dtype=bool)
        left = np.flatnonzero(usable[fit])
        while left.size:
            size = min(size, self.n_samples)
            if self.columns is not None and size * self.columns.size > _MAX_KEPT:
                break  # the estimator does these fits
            is_certain = np.zeros(left.size, dtype=bool)
            step = max(1, _STACK // size)
            for start in range(0, left.size, step):
                at = left[start : start + step]
                if scales is None or self.columns is None:
                    lists = self._list(tested[at], size)
                else:
                    lists = self._list_scaled(self.columns, scales, fit[at], tested[at], size)
                votes = self._count(lists, labels, splits.weights, fit[at], n_classes)
                shares[at], certain[at], is_certain[start : start + step] = votes
            left, size = left[~is_certain], 4 * size  # lists that were too short
        return shares.reshape(*shape, -1), np.asarray(certain.reshape(shape).all(axis=1))

    def _list(self, tested: np.ndarray, size: int) -> Lists:
        """Return the lists of tested samples."""
        distances, indices = self._sorted(size)
        # no other sample remains outside of a complete list
        whole = indices.shape[1] == self.n_samples
        reach = np.full(self.n_samples, np.inf) if whole else distances[:, -1]
        return Lists(distances[tested], indices[tested], reach[tested], self.noise)

    def _scale(self, columns: np.ndarray, splits: Splits) -> tuple[np.ndarray, np.ndarray]:
        """Return the inverse variances (F, p) of the columns, and a mask of the fits to solve."""
        weights = splits.weights.astype(float)
        sizes = weights.sum(axis=1, keepdims=True)
        means = weights @ columns / sizes
        variances = weights @ columns**2 / sizes - means**2  # eq. (5) of deletion
        varies = (variances > CONSTANT).all(axis=1) & (sizes[:, 0] > self.n_neighbors)
        return 1 / np.where(varies[:, None], variances, 1.0), varies

    def _list_scaled(
        self,
        columns: np.ndarray,
        scales: np.ndarray,
        fit: np.ndarray,
        tested: np.ndarray,
        size: int,
    ) -> Lists:
        """Return the lists of neighbors of the samples `tested[i]` in the fits `fit[i]`."""
        n = self.n_samples
        noise = self.noise * (scales @ (columns**2).T).max(axis=1)[fit]
        global_distances, indices = self._sorted(size)
        differences = self._differences
        if differences is None or differences.shape[1] < size:
            differences = (columns[indices] - columns[:, None]) ** 2  # (n, size, p)
            self._differences = differences
        # one product of squared differences and scales for all fits that test a sample
        counts = np.bincount(tested, minlength=n)
        order, place = np.argsort(tested, kind="stable"), np.empty_like(tested)
        place[order] = np.arange(len(tested)) - np.repeat(np.cumsum(counts) - counts, counts)
        fit_scales = np.zeros((n, counts.max(), columns.shape[1]))
        fit_scales[tested, place] = scales[fit]
        distances = (fit_scales @ differences[:, :size].swapaxes(1, 2))[tested, place]
        # no other sample remains outside of a complete list
        reach = global_distances[tested, -1] * scales.min(axis=1)[fit] * (1 - 1e-9)
        reach = np.full(len(fit), np.inf) if size == n else reach
        return Lists(distances, indices[tested], reach, noise)

    def _sorted(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the distances and indices of the nearest samples of all samples."""
        if self._lists is None or self._lists[0].shape[1] < size:
            # slightly longer, because later blocks may leave out a few more samples
            self._lists = self.find(min(size + size // 8, self.n_samples))
        distances, indices = self._lists
        return distances[:, :size], indices[:, :size]

    @np.errstate(all="ignore")  # fits with a neighbor at distance 0 are not certain
    def _count(
        self, lists: Lists, labels: np.ndarray, weights: np.ndarray, fit: np.ndarray, n_classes: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return vote fractions, whether they are certain, and which lists are long enough."""
        k, start = self.n_neighbors, fit[:, None] * self.n_samples
        # the first k + 1 training samples of each list
        listed = weights.ravel().take(start + lists.indices)
        distances = np.where(listed > 0, lists.distances, np.inf)
        first = nearest(distances, k + 1)
        near = np.take_along_axis(distances, first, axis=1)
        neighbor = np.take_along_axis(lists.indices, first, axis=1)
        weight = np.take_along_axis(listed, first, axis=1)
        # eq. (1) of neighbor_votes
        used = np.clip(k - (np.cumsum(weight, axis=1) - weight), 0, weight)
        last = np.max(np.where(used > 0, near, -np.inf), axis=1)
        # distance of the next candidate, which may be a further copy of a neighbor
        after = np.min(np.where(used < weight, near, np.inf), axis=1)
        full, noise = used.sum(axis=1) == k, lists.noise + 1e-10 * np.abs(last)
        is_certain = (full & (last + 3 * noise < lists.reach)) | np.isinf(lists.reach)
        # certain if the last neighbor is nearer than the next candidate
        sure = full & (after - last > noise)
        tied = np.flatnonzero(is_certain & ~sure & full)
        if tied.size:  # or if all samples tied for the last place have the same label
            at_last = np.abs(distances[tied] - last[tied, None]) <= 2 * noise[tied, None]
            label = labels.ravel().take(start[tied] + lists.indices[tied])
            lowest = np.min(np.where(at_last, label, np.inf), axis=1)
            sure[tied] = lowest == np.max(np.where(at_last, label, -np.inf), axis=1)
        label = labels.ravel().take(start + neighbor)
        if self.by_distance:
            votes = np.where(used > 0, used / np.sqrt(near), 0.0)  # eq. (2) of neighbor_votes
            # the relative error of a weight is largest for the nearest neighbor
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
    """Return the indices (n_pairs, size) of the smallest distances of each row, in order."""
    if distances.shape[1] <= size:
        return np.argsort(distances, axis=1)
    first = np.argpartition(distances, size - 1, axis=1)[:, :size]
    order = np.argsort(np.take_along_axis(distances, first, axis=1), axis=1)
    return np.take_along_axis(first, order, axis=1)
