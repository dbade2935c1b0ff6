"""Tests of several classifiers by their ranks on data sets."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from skeval._inference.estimate import Limits

__all__ = [
    "critical_difference",
    "find_equal",
    "find_groups",
    "friedman",
    "mean_rank_pvalues",
    "nemenyi_pvalues",
    "rank_rows",
    "settle",
    "signed_rank_pvalue",
    "signed_rank_test",
    "smallest_pvalue",
]

Floats = NDArray[np.float64]
EXACT_UP_TO = 50  # differences
ROUNDING_DIGITS = 12  # of the largest value


def settle(values: Floats) -> Floats:
    """Return values that are equal but for rounding as equal: 0.8 - 0.7 and 0.7 - 0.6."""
    scale = float(np.abs(values).max()) or 1.0
    settled: Floats = np.round(values / scale, ROUNDING_DIGITS) * scale
    return settled


def rank_rows(scores: Floats) -> Floats:
    """Return the rank of each score in its row, 1 for the highest, the mean rank for ties."""
    ranks: Floats = stats.rankdata(-settle(scores), axis=1)
    return ranks


class FriedmanTest(NamedTuple):
    """Whether any classifier differs from the others.

    Attributes
    ----------
    chi_squared, pvalue : float
        Friedman's statistic, corrected for ties as `scipy.stats.friedmanchisquare` does, and its
        P-value by the chi-squared distribution.
    f_statistic, f_pvalue : float
        Iman & Davenport's F made of it, which is less conservative, and its P-value.
    chi_squared_without_ties, f_without_ties : float
        The same without the correction, as printed by Demsar (2006); equal where there are no ties.
    kendall_w : float
        Kendall's coefficient of concordance, the effect size: 0 if the ranks have nothing in
        common from one data set to the next, 1 if they are the same on all.
    """

    chi_squared: float
    pvalue: float
    f_statistic: float
    f_pvalue: float
    chi_squared_without_ties: float
    f_without_ties: float
    kendall_w: float


def friedman(ranks: Floats) -> FriedmanTest:
    """Friedman (1937, 1940) with the F of Iman & Davenport (1980), of ranks (N, k)."""
    n, k = ranks.shape
    plain = 12 * n / (k * (k + 1)) * float(np.sum((ranks.mean(axis=0) - (k + 1) / 2) ** 2))
    # This is the mean variance of the ranks of a row, relative to that of ranks without ties.
    untied = float(np.mean(np.var(ranks, axis=1))) * 12 / (k**2 - 1)
    chi_squared = plain / untied if untied > 0 else 0.0
    most = n * (k - 1)
    pvalue = float(stats.chi2.sf(chi_squared, k - 1))
    f = f_of(chi_squared, n, k)
    f_pvalue = float(stats.f.sf(f, k - 1, (k - 1) * (n - 1)))
    share = chi_squared / most
    return FriedmanTest(chi_squared, pvalue, f, f_pvalue, plain, f_of(plain, n, k), share)


def f_of(chi_squared: float, n: int, k: int) -> float:
    """Return ``(N - 1) chi2 / (N (k - 1) - chi2)``; infinite where all rows rank alike."""
    rest = n * (k - 1) - chi_squared
    if rest <= 1e-12 * n * k:
        return np.inf
    return (n - 1) * chi_squared / rest


def rank_error(n: int, k: int) -> float:
    """Return the standard error of a difference of two mean ranks, if no classifier differs."""
    return float(np.sqrt(k * (k + 1) / (6 * n)))


def critical_difference(n: int, k: int, confidence_level: float) -> float:
    """Return the difference of mean ranks from which Nemenyi's test rejects."""
    quantile = float(stats.studentized_range.ppf(confidence_level, k, np.inf))
    return quantile / np.sqrt(2) * rank_error(n, k)


def nemenyi_pvalues(distances: Floats, n: int, k: int) -> Floats:
    """Nemenyi (1963): P-values of distances of mean ranks, for all pairs together."""
    sizes, places = np.unique(settle(distances), return_inverse=True)
    pvalues = stats.studentized_range.sf(sizes * np.sqrt(2) / rank_error(n, k), k, np.inf)
    return np.clip(pvalues, 0.0, 1.0)[places.reshape(-1)]


def mean_rank_pvalues(distances: Floats, n: int, k: int) -> Floats:
    """Demsar (2006, section 3.2.2): normal P-values of distances of mean ranks, not corrected."""
    pvalues: Floats = 2 * stats.norm.sf(distances / rank_error(n, k))
    return pvalues


def find_equal(values: np.ndarray, value: float) -> np.ndarray:
    """Return the places of the numbers that differ from one by rounding at most."""
    return np.flatnonzero(np.isclose(values, value, rtol=1e-12, atol=1e-12))


def find_groups(order: NDArray[np.intp], pvalues: Floats, alpha: float) -> list[tuple[int, ...]]:
    """Return the longest runs in an order, of two at least, no two members of which differ."""
    groups: list[tuple[int, ...]] = []
    end_before = 0
    for start in range(len(order)):
        end = start + 1
        while end < len(order) and (pvalues[order[end], order[start:end]] > alpha).all():
            end += 1
        if end - start > 1 and end > end_before:
            groups.append(tuple(order[start:end].tolist()))
            end_before = end
    return groups


class SignedRankTest(NamedTuple):
    """Wilcoxon's test of some differences.

    Attributes
    ----------
    pvalue : float
        Two-sided.
    estimate : float
        The median of the Walsh averages (Hodges & Lehmann).
    effect_size : float
        Matched-pairs rank-biserial correlation, (W+ - W-) / (W+ + W-), in [-1, 1].
    averages : ndarray
        The Walsh averages, sorted.
    n_differences : int
    """

    pvalue: float
    estimate: float
    effect_size: float
    averages: Floats
    n_differences: int

    def limits(self, confidence_level: float) -> Limits:
        """Return the distribution-free interval; infinite where no other has the level."""
        tail, most = (1 - confidence_level) / 2, len(self.averages)
        below = cumulated_signed_ranks(self.n_differences)
        count = int(np.searchsorted(below, tail * (1 + 1e-12), side="right"))
        if count == 0:
            return -np.inf, np.inf
        return float(self.averages[count - 1]), float(self.averages[most - count])


def signed_rank_test(differences: Floats) -> SignedRankTest:
    """Wilcoxon (1945), zeros left out; exact with ties up to 50 differences, above that normal.

    The exact distribution is that of the observed, possibly tied, ranks under random signs.
    """
    differences = settle(differences)
    n = len(differences)
    averages = np.sort((differences[:, None] + differences)[np.triu_indices(n)]) / 2
    estimate = float(np.median(averages))
    pvalue, effect = signed_rank_pvalue(differences)
    return SignedRankTest(pvalue, estimate, effect, averages, n)


def signed_rank_pvalue(differences: Floats) -> tuple[float, float]:
    """Return the P-value of `signed_rank_test`, and the effect size."""
    used = settle(differences)
    used = used[used != 0]
    if not len(used):
        return 1.0, 0.0
    ranks = stats.rankdata(np.abs(used))
    total, positive = float(ranks.sum()), float(ranks[used > 0].sum())
    smaller = min(positive, total - positive)
    if len(used) <= EXACT_UP_TO:
        law = distribute_signed_ranks(tuple(np.rint(2 * ranks).astype(int).tolist()))
        pvalue = 2 * float(law[: int(np.rint(2 * smaller)) + 1].sum())
    else:
        z = (total / 2 - smaller) / np.sqrt(np.sum(ranks**2) / 4)
        pvalue = 2 * float(stats.norm.sf(z))
    return min(pvalue, 1.0), (2 * positive - total) / total


@lru_cache(maxsize=64)
def distribute_signed_ranks(doubled_ranks: tuple[int, ...]) -> Floats:
    """Return the probability of each sum of twice the ranks whose random signs are positive."""
    law = np.zeros(sum(doubled_ranks) + 1)
    law[0] = 1.0
    for rank in doubled_ranks:
        law[rank:] += law[: len(law) - rank].copy()
        law /= 2
    return law


@lru_cache(maxsize=64)
def cumulated_signed_ranks(n: int) -> Floats:
    """Return ``P(W <= 0), P(W <= 1) ...`` of the ranks 1 ... n, as far as it is below one half."""
    most = n * (n + 1) // 2
    if n <= EXACT_UP_TO:
        return np.cumsum(distribute_signed_ranks(tuple(range(2, 2 * n + 1, 2)))[::2])
    error = np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    law: Floats = stats.norm.cdf((np.arange(most + 1) - most / 2) / error)
    return law


def smallest_pvalue(n: int) -> float:
    """Return the smallest two-sided P-value that Wilcoxon's test has of n differences."""
    return min(2.0 ** (1 - n), 1.0)
