"""Selection of the k features with the largest F statistics, for many labels and resamples at once.

The sums of one-way analysis of variance are matrix products over all problems. The statistics agree
with `sklearn.feature_selection.f_classif` up to rounding errors, which may decide ties. A selection
is marked as certain if rounding errors cannot change it.
Derivation: doc/derivations/f_statistics.rst.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Maximum size of a (problems, features) array, so that a few arrays fit in the cache.
_BLOCK = 2**16
# float64 represents all integers up to this one exactly.
_EXACT = 2**53
# Number that replaces undefined scores in SelectKBest.
_LOWEST = np.finfo(float).min


class FSelection(NamedTuple):
    """Selections of B problems.

    Attributes
    ----------
    features : int ndarray of shape (B, k)
        Indices of the selected columns in ascending order.
    certain : bool ndarray of shape (B,)
        Whether SelectKBest selects the same columns for any rounding errors.
    constant : bool ndarray of shape (p,)
        Columns that are constant in a problem, where their score is undefined.
    """

    features: np.ndarray
    certain: np.ndarray
    constant: np.ndarray


class TwoClassF:
    """F statistics of the columns of X (n, p) for two classes.

    Parameters
    ----------
    X : ndarray of shape (n, p)
    scaled : bool
        Whether f_classif receives scaled columns, whose sums are not exact.
    """

    def __init__(self, X: np.ndarray, *, scaled: bool = False) -> None:
        self.X = X
        self.squares = X * X
        # sums of integers are exact in any order, and so are ties
        whole = (np.rint(X) == X).all(axis=0) & (self.squares.sum(axis=0) < _EXACT)
        self._rounded = np.where(whole, 0.0, 1.0) if not scaled else np.full(X.shape[1], 2.0)

    def select(self, counts: np.ndarray, positive: np.ndarray, k: int) -> FSelection:
        """Select k features in each problem.

        Sample `i` is repeated ``counts[b, i]`` times in problem `b` (B, n) and is of the second
        class if ``positive[b, i]``. Both classes must occur.
        """
        n_problems, p = len(counts), self.X.shape[1]
        features = np.empty((n_problems, k), dtype=np.intp)
        certain = np.zeros(n_problems, dtype=bool)
        constant = np.zeros(p, dtype=bool)
        size = max(1, _BLOCK // p)
        for start in range(0, n_problems, size):
            at = slice(start, start + size)
            f, error, undefined = self._statistics(counts[at], positive[at])
            chosen, certain[at] = k_largest(f, error, k)
            features[at] = positions(chosen, k)
            constant |= undefined.any(axis=0)
        return FSelection(features, certain, constant)

    def _statistics(
        self, counts: np.ndarray, positive: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return F (b, p), a bound on its rounding errors, and where it is undefined.

        Formulas and order of operations are as in `f_oneway`, so exact sums give identical results.
        """
        # problems with equal counts share sums
        same, which = np.unique(counts, axis=0, return_inverse=True)
        which = which.reshape(-1)
        n = same.sum(axis=1)[:, None]
        total = same.astype(float) @ self.X  # eq. (1) of f_statistics
        squares = same.astype(float) @ self.squares
        center = total**2 / n  # eq. (2) of f_statistics
        # sums of the second class, and of the first as the rest
        n1 = (counts * positive).sum(axis=1)[:, None]
        sum1 = (counts * positive).astype(float) @ self.X
        sum0 = total[which] - sum1
        # sums of squares between and within classes
        between = sum0**2 / (n[which] - n1) + sum1**2 / n1 - center[which]
        within = (squares - center)[which] - between
        freedom = (n - 2.0)[which]
        with np.errstate(divide="ignore", invalid="ignore"):
            f = between / (within / freedom)
        return f, self._error(f, within, squares, n, which), np.isnan(f)

    def _error(
        self,
        f: np.ndarray,
        within: np.ndarray,
        squares: np.ndarray,
        n: np.ndarray,
        which: np.ndarray,
    ) -> np.ndarray:
        """Return the largest difference of f (b, p) from the result of f_classif.

        It is infinite if the denominator of f is of the size of its error.
        """
        # eq. (3) of f_statistics
        bound = ((16 * np.finfo(float).eps * n) * squares * self._rounded)[which]
        freedom = np.maximum(n - 2.0, 0.0)[which]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            error = 2 * bound / within * (freedom + 2 * np.abs(f))  # eq. (4) of f_statistics
        lost = (4 * bound >= within) & (bound > 0)
        return np.where(lost, np.inf, np.where(bound > 0, error, 0.0))


def positions(chosen: np.ndarray, k: int) -> np.ndarray:
    """Return the column indices (b, k) of the k chosen entries in each row of a mask (b, p)."""
    b, p = chosen.shape
    return np.flatnonzero(chosen).reshape(b, k) - p * np.arange(b)[:, None]


def k_largest(f: np.ndarray, error: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a mask of the k largest values of each row, and whether it is certain despite `error`.

    As in SelectKBest, undefined scores are the lowest, and the later of two equal scores wins.
    """
    f = np.where(np.isnan(f), _LOWEST, f)
    p = f.shape[1]
    if k == p:
        return np.ones(f.shape, dtype=bool), np.ones(len(f), dtype=bool)
    # smallest of the k largest values, and the largest of the others
    ordered = np.partition(f, (p - k - 1, p - k), axis=1)
    worst_in, best_out = ordered[:, [p - k]], ordered[:, [p - k - 1]]
    chosen = f >= worst_in
    # among columns tied for the last place, the later ones stay
    for row in np.flatnonzero(chosen.sum(axis=1) > k):
        tied = np.flatnonzero(f[row] == worst_in[row])
        chosen[row, tied[: chosen[row].sum() - k]] = False
    with np.errstate(invalid="ignore", over="ignore"):
        # eq. (5) of f_statistics; two infinite scores are tied
        apart = np.abs(f - (worst_in / 2 + best_out / 2)) > error
    return chosen, (apart | (error == 0)).all(axis=1)
