r"""Tests of paired differences, of losses in time order, and of ranks, and sequential tests.

**Paired differences** of two or more classifiers on the same samples or splits. Scores that are
equal up to rounding are ties. Corrections control the family-wise error rate of several tests.

**Time order.** The mean of `n` autocorrelated losses has a larger variance than the mean of
independent losses. Consecutive samples are combined into blocks, and blocks are treated as groups.
For an autoregressive series of order 1 with coefficient :math:`\rho`, blocks of `b` losses capture
only the fraction

.. math:: 1 - \frac{2 \rho}{b (1 - \rho^2)}

of the variance of the mean of a long series, because correlations across block boundaries are
lost. The block length keeps this loss below `LOST`. There are at most `MAX_BLOCKS` blocks, because
more blocks would be shorter and gain little (Student's t quantile is 2.09 for 20 and 1.96 for
infinitely many).

**Sequential tests** stop early, but their P-values are valid.

**Ranks** of classifiers on several data sets are tested for all classifiers together, and in
pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import gammaln, ndtr

from skeval._inference import intervals
from skeval._inference.estimate import Test
from skeval._inference.intervals import Codes

_TIE_TOLERANCE = 1e-12


def at_least(value: float, others: np.ndarray) -> np.ndarray:
    """Return a mask of `others` that are at least as large as `value`, up to rounding.

    The rounding error of a score depends on the numbers that were subtracted, not on its own size.
    For example, kappa, MCC and R2 are differences of numbers near 1 and may be near 0. Therefore,
    the tolerance is relative to the largest score, unless that score is an outlier (a diverged
    error).
    """
    if not np.isfinite(value):
        return others >= value
    sizes = np.abs(np.append(others[np.isfinite(others)], value))
    scale = min(sizes.max(), max(1.0, float(np.median(sizes))))
    return others >= value - _TIE_TOLERANCE * max(scale, abs(value))


def exceedances(statistic: float, null: np.ndarray) -> np.ndarray:
    """Return whether each null score is at least as good, including ties up to rounding.

    An undefined null score counts as at least as good, which is conservative.
    """
    return np.isnan(null) | at_least(statistic, null)


MAX_LEVEL = 0.05

Floats = NDArray[np.float64]


def holm(pvalues: Floats) -> Floats:
    """Adjust P-values by Holm (1979), with step-down factors m - i + 1. A nan counts as a test."""
    order = np.argsort(pvalues)
    factors = np.arange(len(pvalues), 0, -1)
    adjusted = np.empty(len(pvalues))
    # `maximum.accumulate` propagates nan, which is sorted last
    adjusted[order] = np.maximum.accumulate(np.asarray(pvalues)[order] * factors)
    return np.minimum(adjusted, 1.0)


N_CONTRASTS = 10_000
EQUAL = 1e-12  # up to rounding, relative to the size of scores


def mcnemar_pvalues(only_a: Floats, only_b: Floats, alternative: str = "two-sided") -> Floats:
    """Return the P-values of McNemar's exact test, the binomial test of discordant samples.

    `only_a` and `only_b` are the numbers of samples that only one classifier predicts correctly.
    """
    least = {"two-sided": np.minimum(only_a, only_b), "greater": only_b}.get(alternative, only_a)
    pvalues = stats.binom.cdf(least, only_a + only_b, 0.5)
    return np.minimum(pvalues * (2 if alternative == "two-sided" else 1), 1.0)


def add_half(n: int, difference: Floats, variance: Floats, grouped: bool) -> tuple[Floats, Floats]:
    """Return differences of two rates and their variances with half a sample in each cell.

    It is the interval of Agresti and Min (2005). If all groups have the same difference, the
    variation between groups cannot be estimated, so the variance stays 0.
    """
    larger = (n**2 * variance + 1 + 2 * n * difference**2 / (n + 2)) / (n + 2) ** 2
    if grouped:
        larger[(n * np.sqrt(variance) <= EQUAL) & (difference != 0)] = 0.0
    return difference * n / (n + 2), larger


def draw_contrasts(
    covariance: Floats, pairs: NDArray[np.intp], rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return normal scores with a covariance, (n_names, N_CONTRASTS), and errors of differences.

    The scores are draws under the null hypothesis (Hothorn, Bretz and Westfall 2008). The standard
    error of a pair is infinite if its difference does not vary.
    """
    # normal values with this covariance, from its eigenvectors
    variances, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(variances.clip(0.0))
    values = rng.standard_normal((N_CONTRASTS, len(covariance))) @ root.T
    errors = np.sqrt(variance_of_pairs(covariance, pairs))
    errors[errors <= EQUAL * np.sqrt(np.abs(covariance).max())] = np.inf
    return np.ascontiguousarray(values.T), errors


def accumulate_largest(values: Floats, errors: Floats, pairs: NDArray[np.intp]) -> Iterator[Floats]:
    """Yield the largest absolute standardized difference in each draw, adding pair after pair.

    The differences of all pairs of 332 models would take 4 GB. The yielded array is reused.
    """
    largest, drawn = np.zeros(values.shape[1]), np.empty(values.shape[1])
    for (a, b), factor in zip(pairs.tolist(), (1 / errors).tolist(), strict=True):
        np.subtract(values[a], values[b], out=drawn)
        np.multiply(drawn, factor, out=drawn)
        np.maximum(largest, np.abs(drawn, out=drawn), out=largest)
        yield largest


def variance_of_pairs(covariance: Floats, pairs: NDArray[np.intp]) -> Floats:
    """Return the variance of the difference of each pair."""
    first, second = pairs.T
    own = np.diag(covariance)
    variance: Floats = own[first] + own[second] - 2 * covariance[first, second]
    return variance.clip(0.0)


def step_down(
    statistics: Floats, values: Floats, errors: Floats, pairs: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    """Return step-down P-values adjusted for all pairs (Westfall), and the largest of each draw.

    The statistic of a pair is compared with the maximum of the draws over the pairs whose
    statistics are not larger. P-values are monotone in the order of the statistics.
    """
    # pairs by increasing statistic
    order = np.argsort(-statistics, kind="stable")[::-1]
    # largest draw among the pairs with no larger statistic
    exceeding, largest, least = np.empty(len(order)), np.empty(0), 0.0
    sizes = statistics[order].tolist()
    drawn = accumulate_largest(values, errors[order], pairs[order])
    for place, (size, largest) in enumerate(zip(sizes, drawn, strict=True)):
        # the draws only increase, so counts are only needed above their smallest value
        if size > least:
            least = float(largest.min())
        exceeding[place] = np.count_nonzero(largest >= size) if size > least else len(largest)
    # P-values, monotone in the statistics
    pvalues = np.empty(len(order))
    pvalues[order[::-1]] = np.maximum.accumulate((1 + exceeding[::-1]) / (1 + len(largest)))
    return pvalues, largest


def level_of_largest(largest: np.ndarray, confidence_level: float) -> float:
    """Return the level of single intervals, from draws of the largest of all statistics."""
    return 1 - 2 * float(ndtr(-np.quantile(largest, confidence_level)))


def grouped_cochran(right: NDArray[np.bool_], group: Codes) -> tuple[float, float]:
    """Return Hotelling's F of the accuracies, and its P-value.

    It uses the covariance between groups, with ``k - 1`` and ``df - k + 2`` degrees of freedom.
    """
    # contrasts of each classifier with the mean of all, so their order does not matter
    k, n = right.shape
    contrasts = k * right - right.sum(axis=0)
    means = contrasts.sum(axis=1) / n
    spread = intervals.spread_between((contrasts - means[:, None]).T / n, group)
    left = spread.degrees_of_freedom - k + 2
    if left <= 0:
        return np.nan, np.nan
    # Hotelling's T^2, scaled to F
    squared = float(means @ np.linalg.pinv(spread.covariance, EQUAL, hermitian=True) @ means)
    statistic = squared * left / ((k - 1) * spread.degrees_of_freedom)
    return statistic, float(stats.f.sf(statistic, k - 1, left))


LOST = 0.08
"""Maximum fraction of the variance of a mean that is lost at the ends of blocks."""
MIN_BLOCKS, MAX_BLOCKS = 3, 20


def autocorrelation(losses: Floats) -> float:
    """Return the lag-1 autocorrelation, with Kendall's (1954) bias correction.

    It is at least 0, because a negative autocorrelation does not require longer blocks.
    """
    n, deviations = len(losses), losses - losses.mean()
    total = float(deviations @ deviations)
    if n < 2 or not total > 0:
        return 0.0
    estimate = float(deviations[1:] @ deviations[:-1]) / total
    return float(np.clip(estimate + (1 + 3 * estimate) / n, 0, 1 - 1 / n))


def divide_time(losses: Floats) -> NDArray[np.intp] | None:
    """Return the block of each loss in time order, numbered from 0, or None for too few losses.

    Block lengths differ by at most one sample. There are at most ``.4 n^(2/3)`` blocks, so the
    length grows with the number of samples even without autocorrelation.
    """
    # longest blocks that the autocorrelation requires
    n, rho = len(losses), autocorrelation(losses)
    shortest = max(1.0, 2 * rho / (1 - rho**2) / LOST)
    n_blocks = int(min(MAX_BLOCKS, 0.4 * n ** (2 / 3), n / shortest))
    if n_blocks < MIN_BLOCKS:
        return None
    return np.arange(n) * n_blocks // n


def time_units(sums: NDArray[Any], tests: NDArray[Any]) -> NDArray[np.intp]:
    """Return the block of each sample from the sum of its losses and the number of its tests.

    Samples that were never tested are assigned to block 0. With too few losses for blocks, all
    samples are in block 0.
    """
    unit, tested = np.zeros(len(tests), dtype=np.intp), tests > 0
    blocks = divide_time(sums[tested] / tests[tested])
    if blocks is not None:
        unit[tested] = blocks
    return unit


RISK = 0.005
"""Probability, if P equals the level, of a number of exceedances that stops the test."""


class StoppingRule(NamedTuple):
    """Numbers of exceedances that stop a test after each permutation.

    Attributes
    ----------
    low, high : int ndarray of shape (n_permutations,)
        The test stops with at most `low` or at least `high` exceedances.
    """

    low: NDArray[np.intp]
    high: NDArray[np.intp]

    @property
    def earliest(self) -> int:
        """Smallest number of permutations after which the test may stop."""
        return 1 + int(np.argmax((self.low >= 0) | (self.high <= np.arange(1, len(self.high) + 1))))

    def stop(self, exceeding: NDArray[np.bool_]) -> int | None:
        """Return the number of permutations at which the test stops, or None if it does not."""
        counts = np.cumsum(exceeding)
        stops = (counts <= self.low[: len(counts)]) | (counts >= self.high[: len(counts)])
        return int(stops.argmax()) + 1 if stops.any() else None

    def pvalue(self, n_exceedances: int, n_permutations: int) -> float:
        """Return the probability of a fraction of exceedances that is at most the observed one.

        The result is at least this fraction, so that it agrees with the test of all permutations.
        If the null hypothesis is true, the observed score has each rank among `L + 1` scores with
        the same probability. Therefore, after `c` exceedances permutation `L + 1` exceeds it with
        probability ``(c + 1) / (L + 2)`` (Fay, Kim and Hachey 2007, section 3).
        """
        if self.low.max() < 0 and n_exceedances == self.high[-1]:  # Besag and Clifford (1991)
            return n_exceedances / n_permutations
        # follow the distribution of the count until the test stops
        count = np.arange(self.high.max() + 2)
        running = np.zeros(len(count))  # probability of each count while the test goes on
        running[0], pvalue = 1.0, 0.0
        for n, (low, high) in enumerate(zip(self.low, self.high, strict=True), start=1):
            # after c exceedances, permutation n exceeds with probability (c + 1) / (n + 1)
            exceeding = running * (count + 1) / (n + 1)
            running -= exceeding
            running[1:] += exceeding[:-1]
            # the test stops at a boundary or at the last permutation
            ends = (count <= low) | (count >= high) | (n == len(self.low))
            # stops with a fraction of exceedances of at most the observed one
            as_low = (1 + count) * (1 + n_permutations) <= (1 + n_exceedances) * (1 + n)
            pvalue += float(running[ends & as_low].sum())
            running[ends] = 0
        return max(pvalue, (1 + n_exceedances) / (1 + n_permutations))


def stop_when_decided(n_permutations: int, level: float) -> StoppingRule:
    """Return the rule that stops as soon as it is clear whether P exceeds a level.

    It is clear if the remaining permutations cannot change it. It is also clear if a P-value equal
    to the level would give such a small, or such a large, number of exceedances with a probability
    below `RISK`.
    """
    n = np.arange(1, n_permutations + 1)
    # P exceeds the level from this number of exceedances on
    enough = int(level * (1 + n_permutations) * (1 + 1e-12))
    low = np.maximum(enough - 1 - (n_permutations - n), stats.binom.ppf(RISK, n, level) - 1)
    high = np.minimum(max(enough, 1), stats.binom.isf(RISK, n, level) + 1)
    return StoppingRule(low.astype(np.intp), high.astype(np.intp))


EXACT_UP_TO = 50  # differences
ROUNDING_DIGITS = 12  # relative to the largest value


def round_ties(values: Floats) -> Floats:
    """Round values so that equal ones stay equal, such as 0.8 - 0.7 and 0.7 - 0.6."""
    scale = float(np.nanmax(np.abs(values))) or 1.0
    return np.round(values / scale, ROUNDING_DIGITS) * scale


def rank_rows(scores: Floats) -> Floats:
    """Return the rank of each score in its row. Rank 1 is the highest score.

    Ties have their mean rank. Missing scores have no rank (nan), and the other scores are ranked
    among each other.
    """
    return stats.rankdata(-round_ties(scores), axis=1, nan_policy="omit")


def friedman(ranks: Floats) -> Test:
    """Return the test of Friedman (1937, 1940) that all classifiers are equal, from ranks (N, k).

    The P-value uses the F of Iman and Davenport (1980), which is less conservative than
    chi-squared. The details have both statistics, corrected for ties as in
    `scipy.stats.friedmanchisquare`, and without the correction as in Demsar (2006). `kendall_w` is
    Kendall's coefficient of concordance, the effect size. It is 0 if the ranks on different data
    sets are unrelated, and 1 if they are the same on all data sets.
    """
    n, k = ranks.shape
    # chi-squared without correction for ties, then with it
    plain = 12 * n / (k * (k + 1)) * float(np.sum((ranks.mean(axis=0) - (k + 1) / 2) ** 2))
    with np.errstate(divide="ignore", invalid="ignore"):  # all ranks may be tied
        chi_squared, chi_squared_pvalue = map(float, stats.friedmanchisquare(*ranks.T))
    if np.isnan(chi_squared):
        chi_squared, chi_squared_pvalue = 0.0, 1.0
    # F of Iman and Davenport (1980)
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

    The ranks (N, k) are nan if a score is missing. Each row is centered and weighted by ``sqrt(12
    / (k_i + 1))``, with `k_i` scores. The sums over rows are compared with their covariance for
    exchangeable scores in each row, including ties.
    """
    present = ~np.isnan(ranks)
    sizes = present.sum(axis=1)
    # centered ranks weighted by sqrt(12 / (k_i + 1)), and 0 for missing scores
    weighted = np.sqrt(12 / (sizes + 1))[:, None] * (ranks - (sizes + 1)[:, None] / 2)
    weighted[~present] = 0.0
    # covariance of the columns of a row: that of a permutation of its k_i weighted ranks
    spread = np.sum(weighted**2, axis=1) / (sizes - 1)
    covariance = -(present * (spread / sizes)[:, None]).T @ present.astype(float)
    covariance[np.diag_indices_from(covariance)] += spread @ present
    # quadratic form of the sums, with a pseudoinverse because the sums of each row are 0
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
    """Return the standard error of a difference of two mean ranks if all classifiers are equal."""
    return float(np.sqrt(k * (k + 1) / (6 * n)))


def critical_difference(n: int, k: int, confidence_level: float) -> float:
    """Return the smallest difference of mean ranks that Nemenyi's test rejects."""
    quantile = float(stats.studentized_range.ppf(confidence_level, k, np.inf))
    return quantile / np.sqrt(2) * rank_error(n, k)


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


def signed_rank_test(differences: Floats) -> tuple[float, float, float, int]:
    """Return the results of Wilcoxon's signed-rank test (1945) without zeros.

    The distribution is exact for up to 50 nonzero differences, and normal otherwise. The exact
    distribution is computed from the observed, possibly tied, ranks with random signs.

    Returns
    -------
    estimate : float
        Median of the Walsh averages (Hodges & Lehmann).
    pvalue : float
        Two-sided P-value.
    effect_size : float
        Matched-pairs rank-biserial correlation, (W+ - W-) / (W+ + W-), in [-1, 1].
    n_equal : int
        Number of differences of 0. The test omits them and the interval includes them, so the
        interval may contain 0 although the test rejects.
    """
    # differences that are 0 up to rounding are left out of the test
    settled = round_ties(differences)
    changed = settled[settled != 0]
    ranks = stats.rankdata(np.abs(changed))
    # rank sums of positive and negative differences
    total, positive = float(ranks.sum()), float(ranks[changed > 0].sum())
    smaller = min(positive, total - positive)
    if len(ranks) <= EXACT_UP_TO:
        # exact distribution of the doubled ranks, because tied ranks may end in .5
        doubled = np.sort(np.rint(2 * ranks).astype(int))
        probabilities = distribute_signed_ranks(tuple(doubled.tolist()))
        pvalue = 2 * float(probabilities[: int(np.rint(2 * smaller)) + 1].sum())
    else:
        # normal distribution: W+ - W- has the variance sum r_i^2
        pvalue = 2 * float(stats.norm.sf((total - 2 * smaller) / np.sqrt(np.sum(ranks**2))))
    effect = (2 * positive - total) / total if total else 0.0
    estimate = float(np.median(average_pairs(differences)))
    return estimate, min(pvalue, 1.0), effect, len(settled) - len(ranks)


def average_pairs(differences: Floats) -> Floats:
    """Return the Walsh averages, the means of all pairs of differences and of each with itself."""
    first, second = np.triu_indices(len(differences))
    settled = round_ties(differences)
    return (settled[first] + settled[second]) / 2


def signed_rank_limits(differences: Floats, confidence_level: float) -> tuple[float, float]:
    """Return the limits that invert Wilcoxon's test, infinite if no finite ones have the level."""
    below = cumulated_signed_ranks(len(differences))
    count = int(np.searchsorted(below, (1 - confidence_level) / 2 * (1 + 1e-12), side="right"))
    averages = np.sort(average_pairs(differences))
    return (float(averages[count - 1]), float(averages[-count])) if count else (-np.inf, np.inf)


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
    return stats.norm.cdf((np.arange(most + 1) - most / 2) / error)
