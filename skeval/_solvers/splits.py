"""Training sets of many fits, and sums of products of columns over them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

EPSILON = float(np.finfo(float).eps)
# Variances in a training set below this fraction of the variance over all samples are rounding
# errors.
CONSTANT = 1e-10
# Maximum number of stored products of pairs of columns.
_MAX_KEPT = 2**22


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

    @property
    def plain(self) -> bool:
        """Whether samples are unweighted and occur at most once."""
        return self.weights.dtype.kind in "iub" and self.weights.max(initial=0) <= 1

    @cached_property
    def removed(self) -> np.ndarray:
        """Indices of the samples left out, shape (n_fits, n_removed)."""
        return np.nonzero(self.weights == 0)[1].reshape(len(self), -1)


class Products:
    """Sums of products of columns (n, q) for arbitrary sample weights."""

    def __init__(self, columns: np.ndarray) -> None:
        self.columns = columns
        self.gram = columns.T @ columns

    @cached_property
    def pairs(self) -> np.ndarray | None:
        """Products of all pairs of columns, shape (n, q (q + 1) / 2); None if they are too many."""
        n, q = self.columns.shape
        if n * q * (q + 1) // 2 > _MAX_KEPT:
            return None
        i, j = np.triu_indices(q)
        return self.columns[:, i] * self.columns[:, j]

    def weighted_sums(self, weights: np.ndarray) -> np.ndarray:
        """Return the weighted sums of products (F, q, q) for weights (F, n)."""
        if self.pairs is None:
            return np.stack([(self.columns.T * row) @ self.columns for row in weights])
        q = self.columns.shape[1]
        i, j = np.triu_indices(q)
        sums = weights @ self.pairs  # all fits at once, eq. (4) of deletion, (F, q (q + 1) / 2)
        grams = np.empty((len(weights), q, q))
        grams[:, i, j] = sums
        grams[:, j, i] = sums
        return grams


def take_samples(targets: np.ndarray, of_fit: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the targets (F, c, d) of the samples `rows` (F, d).

    Fit `f` has the targets `targets[of_fit[f]]`, from an array of shape (L, c, n).
    """
    return targets[of_fit[:, None, None], np.arange(targets.shape[1])[:, None], rows[:, None]]
