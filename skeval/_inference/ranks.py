"""Tests of several classifiers based on their ranks on data sets."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import gammaln

from skeval._inference.estimate import Test

Floats = NDArray[np.float64]
EXACT_UP_TO = 50  # differences
ROUNDING_DIGITS = 12  # relative to the largest value
MAX_ROWS = 1000
"""Maximum number of rows of differences whose averages are in memory at once."""


def round_ties(values: Floats, axis: int | None = None) -> Floats:
    """Round values so that equal ones stay equal, such as 0.8 - 0.7 and 0.7 - 0.6."""
    scale = np.nanmax(np.abs(values), axis=axis, keepdims=True)
    scale[scale == 0] = 1.0
    settled: Floats = np.round(values / scale, ROUNDING_DIGITS) * scale
    return settled


def rank_rows(scores: Floats) -> Floats:
    """Return the rank of each score in its row, 1 for the highest, the mean rank for ties.

    Missing scores have no rank (nan), and the others the ranks among each other.
    """
    ranks: Floats = stats.rankdata(-round_ties(scores), axis=1, nan_policy="omit")
    return ranks


def average_ranks(scores: Floats) -> Floats:
    """Return the mean ranks of scores (N, k).

    If scores are missing in a row, its ranks are scaled to the range of a complete row.
    """
    ranks, k = rank_rows(scores), scores.shape[1]
    last = np.sum(np.isfinite(ranks), axis=1, keepdims=True)
    means: Floats = np.nanmean(1 + (ranks - 1) * (k - 1) / (last - 1), axis=0)
    return means


def friedman(ranks: Floats) -> Test:
    """Return the test of Friedman (1937, 1940) that all classifiers are equal, of ranks (N, k).

    The P-value is that of the F of Iman and Davenport (1980), which is less conservative than
    chi-squared. The details have both, corrected for ties as in `scipy.stats.friedmanchisquare`,
    and without the correction as in Demsar (2006). `kendall_w` is Kendall's coefficient of
    concordance, the effect size, 0 if the ranks on different data sets are unrelated, 1 if they
    are the same on all.
    """
    n, k = ranks.shape
    plain = 12 * n / (k * (k + 1)) * float(np.sum((ranks.mean(axis=0) - (k + 1) / 2) ** 2))
    with np.errstate(divide="ignore", invalid="ignore"):  # all ranks may be tied
        chi_squared, chi_squared_pvalue = map(float, stats.friedmanchisquare(*ranks.T))
    if np.isnan(chi_squared):
        chi_squared, chi_squared_pvalue = 0.0, 1.0
    f = f_of(chi_squared, n, k)
    # without ties all rows agree with this probability, the smallest P-value of any exact test
    smallest = float(np.exp((1 - n) * gammaln(k + 1)))
    return Test(
        name="F",
        statistic=f,
        pvalue=max(float(stats.f.sf(f, k - 1, (k - 1) * (n - 1))), smallest),
        method="Friedman, Iman-Davenport",
        details={
            "chi_squared": chi_squared,
            "chi_squared_pvalue": chi_squared_pvalue,
            "chi_squared_without_ties": plain,
            "f_without_ties": f_of(plain, n, k),
            "kendall_w": chi_squared / (n * (k - 1)),
        },
    )


def skillings_mack(ranks: Floats) -> Test:
    """Return the test of Skillings and Mack (1981) that all classifiers are equal.

    The ranks (N, k) are nan where a score is missing. Each row is centered and weighted by
    ``sqrt(12 / (k_i + 1))``, with `k_i` scores. The sums over rows are compared with their
    covariance if the scores of each row are exchangeable, ties included.
    """
    present = ~np.isnan(ranks)
    sizes = present.sum(axis=1)
    weighted = np.sqrt(12 / (sizes + 1))[:, None] * (ranks - (sizes + 1)[:, None] / 2)
    weighted[~present] = 0.0
    # covariance of the columns of a row: that of a permutation of its k_i weighted ranks
    spread = np.sum(weighted**2, axis=1) / (sizes - 1)
    covariance = -(present * (spread / sizes)[:, None]).T @ present.astype(float)
    covariance[np.diag_indices_from(covariance)] += spread @ present
    sums = weighted.sum(axis=0)
    statistic = float(sums @ np.linalg.pinv(covariance, hermitian=True) @ sums)
    degrees = int(np.linalg.matrix_rank(covariance, hermitian=True))
    return Test(
        name="chi-squared",
        statistic=statistic,
        pvalue=float(stats.chi2.sf(statistic, degrees)) if degrees else 1.0,
        method="Skillings and Mack",
        details={"degrees_of_freedom": degrees},
    )


def f_of(chi_squared: float, n: int, k: int) -> float:
    """Return ``(N - 1) chi2 / (N (k - 1) - chi2)``, infinite if all rows have the same ranks."""
    rest = n * (k - 1) - chi_squared
    if rest <= 1e-12 * n * k:
        return np.inf
    return (n - 1) * chi_squared / rest


def rank_error(n: int, k: int) -> float:
    """Return the standard error of a difference of two mean ranks, if no classifier differs."""
    return float(np.sqrt(k * (k + 1) / (6 * n)))


def critical_difference(n: int, k: int, confidence_level: float) -> float:
    """Return the smallest difference of mean ranks that Nemenyi's test rejects."""
    quantile = float(stats.studentized_range.ppf(confidence_level, k, np.inf))
    return quantile / np.sqrt(2) * rank_error(n, k)


def nemenyi_pvalues(distances: Floats, n: int, k: int) -> Floats:
    """Return P-values of distances of mean ranks, adjusted for all pairs, by Nemenyi (1963)."""
    sizes, places = np.unique(round_ties(distances), return_inverse=True)
    pvalues = stats.studentized_range.sf(sizes * np.sqrt(2) / rank_error(n, k), k, np.inf)
    return np.clip(pvalues, 0.0, 1.0)[places.reshape(-1)]


def find_equal(values: np.ndarray, value: float) -> np.ndarray:
    """Return the indices of numbers equal to `value` up to rounding."""
    return np.flatnonzero(np.isclose(values, value, rtol=1e-12, atol=1e-12))


def find_groups(order: NDArray[np.intp], pvalues: Floats, alpha: float) -> list[tuple[int, ...]]:
    """Return the longest runs in an order, of two or more, without significant differences."""
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


class SignedRankTests(NamedTuple):
    """Results of Wilcoxon's signed-rank test of several rows of differences.

    Attributes
    ----------
    estimate : ndarray of shape (n_rows,)
        Medians of the Walsh averages (Hodges & Lehmann).
    low, high : ndarray of shape (n_rows,)
        Distribution-free limits, infinite if no finite ones have the level.
    pvalue : ndarray of shape (n_rows,)
        Two-sided.
    effect_size : ndarray of shape (n_rows,)
        Matched-pairs rank-biserial correlations, (W+ - W-) / (W+ + W-), in [-1, 1].
    n_equal : ndarray of shape (n_rows,)
        Numbers of differences of 0, which the test leaves out and the interval keeps, so the
        interval may contain 0 where the test rejects.
    """

    estimate: Floats
    low: Floats
    high: Floats
    pvalue: Floats
    effect_size: Floats
    n_equal: NDArray[np.intp]


def signed_rank_tests(differences: Floats, confidence_level: float) -> SignedRankTests:
    """Return the test of Wilcoxon (1945) without zeros, of each row of differences."""
    settled, n = round_ties(differences, axis=1), differences.shape[1]
    pvalues, effects = signed_rank_pvalues(differences)
    # places of median and limits among the sorted Walsh averages
    first, second = np.triu_indices(n)
    n_averages = len(first)
    below = cumulated_signed_ranks(n)
    count = int(np.searchsorted(below, (1 - confidence_level) / 2 * (1 + 1e-12), side="right"))
    places = [(n_averages - 1) // 2, n_averages // 2]
    places += [count - 1, n_averages - count] if count else []
    ends = np.tile([-np.inf, np.inf], (len(settled), 1))
    estimates = np.empty(len(settled))
    for start in range(0, len(settled), MAX_ROWS):
        rows = slice(start, start + MAX_ROWS)
        averages = (settled[rows, first] + settled[rows, second]) / 2
        averages.partition(sorted(set(places)), axis=1)
        estimates[rows] = averages[:, places[:2]].mean(axis=1)
        if count:
            ends[rows] = averages[:, places[2:]]
    n_equal = np.sum(settled == 0, axis=1)
    return SignedRankTests(estimates, ends[:, 0], ends[:, 1], pvalues, effects, n_equal)


def signed_rank_pvalues(differences: Floats) -> tuple[Floats, Floats]:
    """Return the P-values and effect sizes of `signed_rank_tests`, of each row of differences.

    The distribution is exact for up to 50 differences other than 0, otherwise normal. The exact one
    is computed from the observed, possibly tied, ranks under random signs.
    """
    # ranks of the differences other than 0: the zeros have the first ranks of all
    settled = round_ties(differences, axis=1)
    n_zeros = np.sum(settled == 0, axis=1)
    ranks = stats.rankdata(np.abs(settled), axis=1) - n_zeros[:, None]
    ranks[settled == 0] = 0.0
    # rank sums of positive and negative differences
    total, positive = ranks.sum(axis=1), np.sum(ranks * (settled > 0), axis=1)
    smaller = np.minimum(positive, total - positive)
    effects = np.divide(2 * positive - total, total, out=np.zeros(len(total)), where=total > 0)
    with np.errstate(invalid="ignore"):
        pvalues = 2 * stats.norm.sf((total - 2 * smaller) / np.sqrt(np.sum(ranks**2, axis=1)))
    for row in np.flatnonzero(settled.shape[1] - n_zeros <= EXACT_UP_TO):
        doubled = np.sort(np.rint(2 * ranks[row]).astype(int))[n_zeros[row] :]
        probabilities = distribute_signed_ranks(tuple(doubled.tolist()))
        pvalues[row] = 2 * probabilities[: int(np.rint(2 * smaller[row])) + 1].sum()
    return np.minimum(pvalues, 1.0), effects


@lru_cache(maxsize=64)
def distribute_signed_ranks(doubled_ranks: tuple[int, ...]) -> Floats:
    """Return the probability of each sum of the doubled ranks with positive random signs."""
    probabilities = np.zeros(sum(doubled_ranks) + 1)
    probabilities[0] = 1.0
    for rank in doubled_ranks:
        probabilities[rank:] += probabilities[: len(probabilities) - rank].copy()
        probabilities /= 2
    return probabilities


@lru_cache(maxsize=64)
def cumulated_signed_ranks(n: int) -> Floats:
    """Return ``P(W <= 0), P(W <= 1) ...`` for the ranks 1 ... n.

    Only the values below one half are used.
    """
    most = n * (n + 1) // 2
    if n <= EXACT_UP_TO:
        return np.cumsum(distribute_signed_ranks(tuple(range(2, 2 * n + 1, 2)))[::2])
    error = np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    probabilities: Floats = stats.norm.cdf((np.arange(most + 1) - most / 2) / error)
    return probabilities


def smallest_pvalue(n: int) -> float:
    """Return the smallest possible two-sided P-value of Wilcoxon's test of n differences."""
    return min(2.0 ** (1 - n), 1.0)
