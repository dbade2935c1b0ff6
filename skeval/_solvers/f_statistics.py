"""The k features of largest F statistic, for many label vectors and resamples at once.

The sums that one-way analysis of variance needs are matrix products over all problems. They differ
from those of `sklearn.feature_selection.f_classif` by rounding only, but rounding decides ties, so
each selection comes with a flag: certain, whatever the rounding on both sides, or not. Most are
made by correlations, which take less work, and are certain at once.
Numbers in parentheses are the equations of doc/derivations/f_statistics.rst.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Numbers in one (problems, features) array, so that a few arrays stay in the cache.
_BLOCK = 2**16
# All integers up to this one are float64 numbers.
_EXACT = 2**53
# SelectKBest takes this number for an undefined score.
_LOWEST = np.finfo(float).min


class FSelection(NamedTuple):
    """Selections of B problems.

    features (B, k): the selected columns in ascending order. certain (B,): whether f_classif and
    SelectKBest must agree. constant (p,): whether a column was constant in a problem, so that its
    score is undefined.
    """

    features: np.ndarray
    certain: np.ndarray
    constant: np.ndarray


class TwoClassF:
    """F statistics of the columns of X (n, p), which is prepared once, for two classes.

    If f_classif receives `scaled` columns, which are rounded once more, no column is exact.
    """

    def __init__(self, X: np.ndarray, *, scaled: bool = False) -> None:
        self.X = X
        self.squares = X * X
        # Sums over integers are exact in any order, and so are their ties.
        whole = (np.rint(X) == X).all(axis=0) & (self.squares.sum(axis=0) < _EXACT)
        self._rounded = np.where(whole, 0.0, 1.0) if not scaled else np.full(X.shape[1], 2.0)
        self._centred = X - X.mean(axis=0)
        self._centred_squares = self._centred**2

    def select(self, counts: np.ndarray, positive: np.ndarray, k: int) -> FSelection:
        """Select k features in each problem.

        Sample `i` is repeated ``counts[b, i]`` times in problem `b` (B, n) and is of the second
        class where ``positive[b, i]``; both classes occur.
        """
        n_problems, p = len(counts), self.X.shape[1]
        features = np.empty((n_problems, k), dtype=np.intp)
        certain = np.zeros(n_problems, dtype=bool)
        constant = np.zeros(p, dtype=bool)
        which = number_equal(counts)
        # Problems that share counts stand one after another in this order.
        order = np.argsort(which, kind="stable")
        size = max(1, _BLOCK // p)
        for start in range(0, n_problems if k < p else 0, size):
            at = order[start : start + size]
            chosen, apart = self._select_by_correlation(counts[at], positive[at], which[at], k)
            features[at[apart]], certain[at[apart]] = positions(chosen[apart], k), True
        left = order[~certain[order]]
        for start in range(0, len(left), size):
            at = left[start : start + size]
            f, error, undefined = self._statistics(counts[at], positive[at])
            chosen, certain[at] = k_largest(f, error, k)
            features[at] = positions(chosen, k)
            constant |= undefined.any(axis=0)
        return FSelection(features, certain, constant)

    def _select_by_correlation(
        self, counts: np.ndarray, positive: np.ndarray, which: np.ndarray, k: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return masks (b, p) of the k < p features of largest correlation, and which are certain.

        Problems of equal counts, which are neighbours, have the same number in `which` (b,).
        """
        first = np.flatnonzero(np.diff(which, prepend=-1))
        same, which = counts[first].astype(float), np.searchsorted(which[first], which)
        n = same.sum(axis=1, keepdims=True)
        mean = same @ self._centred / n
        squares = same @ self._centred_squares
        spread = squares - n * mean**2  # (6)
        members = np.where(positive, counts, 0).astype(float)
        n1 = members.sum(axis=1, keepdims=True)
        r = members @ self._centred
        with np.errstate(all="ignore"):  # Values that are not finite are not certain.
            r -= n1 * mean[which]
            r *= (1.0 / np.sqrt(spread))[which]
            r *= r
            r *= n[which] / (n1 * (n[which] - n1))  # (7)
            sizes = ((same @ self.squares + squares) / spread).max(axis=1, keepdims=True)
            doubt = ((128.0 + 8.0 * np.sqrt(n)) * n * np.finfo(float).eps * sizes)[which]  # (8)
            ordered = np.partition(r, r.shape[1] - k, axis=1)
            worst_in, best_out = ordered[:, [-k]], ordered[:, :-k].max(axis=1, keepdims=True)
            largest = ordered[:, -k:].max(axis=1, keepdims=True)
            apart = (worst_in - best_out > 2.0 * doubt) & (1.0 - largest > doubt)  # (9)
        return r >= worst_in, apart[:, 0]

    def _statistics(
        self, counts: np.ndarray, positive: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return F (b, p), a bound of what rounding does to it, and where it is undefined.

        The formulas and the order of operations are those of `f_oneway`: with exact sums the
        result is the same number.
        """
        # Problems that share counts share their sums.
        same, which = np.unique(counts, axis=0, return_inverse=True)
        which = which.reshape(-1)
        n = same.sum(axis=1)[:, None]
        total = same.astype(float) @ self.X  # (1)
        squares = same.astype(float) @ self.squares
        centre = total**2 / n  # (2), from here on
        n1 = (counts * positive).sum(axis=1)[:, None]
        sum1 = (counts * positive).astype(float) @ self.X
        sum0 = total[which] - sum1
        between = sum0**2 / (n[which] - n1) + sum1**2 / n1 - centre[which]
        within = (squares - centre)[which] - between
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
        """Return by how much f (b, p) and that of f_classif can differ (4).

        It is infinite where the denominator of f is of the size of its error.
        """
        bound = ((16 * np.finfo(float).eps * n) * squares * self._rounded)[which]  # (3)
        freedom = np.maximum(n - 2.0, 0.0)[which]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            error = 2 * bound / within * (freedom + 2 * np.abs(f))  # (4)
        lost = (4 * bound >= within) & (bound > 0)
        return np.where(lost, np.inf, np.where(bound > 0, error, 0.0))


def number_equal(counts: np.ndarray) -> np.ndarray:
    """Return a number (B,) for each row of counts (B, n), the same for equal rows."""
    numbers: dict[bytes, int] = {}
    return np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in counts], dtype=int)


def positions(chosen: np.ndarray, k: int) -> np.ndarray:
    """Return the column indices (b, k) of the k chosen entries in each row of a mask (b, p)."""
    b, p = chosen.shape
    return np.flatnonzero(chosen).reshape(b, k) - p * np.arange(b)[:, None]


def k_largest(f: np.ndarray, error: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the mask of the k largest of each row, and whether errors cannot change it.

    As SelectKBest does it: an undefined score is the lowest, of equal scores the later wins.
    """
    f = np.where(np.isnan(f), _LOWEST, f)
    p = f.shape[1]
    if k == p:
        return np.ones(f.shape, dtype=bool), np.ones(len(f), dtype=bool)
    ordered = np.partition(f, (p - k - 1, p - k), axis=1)
    worst_in, best_out = ordered[:, [p - k]], ordered[:, [p - k - 1]]
    chosen = f >= worst_in
    for row in np.flatnonzero(chosen.sum(axis=1) > k):
        tied = np.flatnonzero(f[row] == worst_in[row])
        chosen[row, tied[: chosen[row].sum() - k]] = False
    with np.errstate(invalid="ignore", over="ignore"):
        # (5). Two infinite scores are not apart.
        apart = np.abs(f - (worst_in / 2 + best_out / 2)) > error
    return chosen, (apart | (error == 0)).all(axis=1)
