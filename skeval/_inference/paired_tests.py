"""Tests of the difference of two classifiers on the same samples or splits."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from skeval._inference.interval import Limits
from skeval._inference.means import normal_interval
from skeval._inference.ties import at_least, exceedances

__all__ = [
    "ALTERNATIVES",
    "BOUNDS",
    "EXACT_BELOW",
    "PairedTest",
    "corrected_error",
    "corrected_t",
    "differences_of",
    "exchange_pvalue",
    "mcnemar",
    "paired_bootstrap",
    "paired_delong",
    "percentile_limits",
    "student_test",
    "tail_probability",
]

Floats = NDArray[np.float64]
ALTERNATIVES = ("two-sided", "greater", "less")
"""What a test is to show of the difference: that it is not 0, above it, or below it."""
EXACT_BELOW = 25  # discordant pairs
BOUNDS = (-1.0, 1.0)  # of a difference of two rates
EQUAL = 1e-12  # up to rounding, relative to the size of scores


class PairedTest(NamedTuple):
    """A test of a difference; `limits` are the ends of its interval by confidence level."""

    standard_error: float
    statistic: float
    pvalue: float
    limits: Callable[[float], Limits]


def tail_probability(law: stats.rv_continuous, statistic: float, alternative: str) -> float:
    """Return the P-value of a statistic whose law is symmetric around 0."""
    if alternative == "two-sided":
        return 2 * float(law.sf(abs(statistic)))
    return float(law.sf(statistic if alternative == "greater" else -statistic))


def corrected_t(
    differences: Floats, test_train_ratio: float, alternative: str = "two-sided"
) -> PairedTest:
    """Nadeau & Bengio (2003): variance (1/J + n_test/n_train) s^2 on J - 1 degrees of freedom.

    Where all differences are equal but for rounding, nothing but their equality is known: the
    interval is nan, and so are statistic and P-value unless they are all 0.
    """
    n = len(differences)
    mean = float(differences.mean())
    if np.ptp(differences) <= EQUAL * np.abs(differences).max():
        none = (0.0, 1.0) if mean == 0 else (np.nan, np.nan)
        return PairedTest(0.0, *none, partial(normal_interval, mean, np.nan))
    return student_test(mean, corrected_error(differences, test_train_ratio), n, alternative)


def student_test(mean: float, error: float, n_units: int, alternative: str) -> PairedTest:
    """Return the test of a mean with its standard error, on ``n_units - 1`` degrees of freedom."""
    statistic = mean / error
    pvalue = tail_probability(stats.t(n_units - 1), statistic, alternative)
    limits = partial(normal_interval, mean, error, n_units=n_units)
    return PairedTest(error, statistic, pvalue, limits)


def corrected_error(differences: Floats, test_train_ratio: float) -> float:
    """Return the standard error of Nadeau & Bengio (2003, eq. 12)."""
    return float(np.sqrt((1 / len(differences) + test_train_ratio) * np.var(differences, ddof=1)))


def differences_of(scores: Floats) -> Floats:
    """Return the differences of two columns of scores, 0 where rounding alone makes one."""
    differences: Floats = scores[:, 0] - scores[:, 1]
    differences[np.abs(differences) <= EQUAL * np.abs(scores).max()] = 0.0
    return differences


def mcnemar(
    only_a: int, only_b: int, n: int, alternative: str = "two-sided"
) -> tuple[PairedTest, str]:
    """McNemar (1947) on the pairs that one classifier alone gets right; exact below 25 of them.

    The interval is that of Agresti & Min (2005): Wald with half a pair added to each of the cells.
    """
    discordant = only_a + only_b
    if discordant < EXACT_BELOW:
        name, statistic, pvalue = "mcnemar (exact)", float(min(only_a, only_b)), 1.0
        if discordant:
            pvalue = float(stats.binomtest(only_a, discordant, alternative=alternative).pvalue)
    else:
        # the correction by 1 goes no further than 0, where the two counts are equal
        name, surplus = "mcnemar (chi-squared)", max(abs(only_a - only_b) - 1, 0)
        statistic = surplus**2 / discordant
        if alternative == "two-sided":
            pvalue = float(stats.chi2.sf(statistic, 1))
        else:
            lead = only_a - only_b if alternative == "greater" else only_b - only_a
            pvalue = float(stats.norm.sf((lead - 1) / np.sqrt(discordant)))
    more, less, total = only_a + 0.5, only_b + 0.5, n + 2
    centre = (more - less) / total
    error = float(np.sqrt((more + less) - (more - less) ** 2 / total) / total)
    limits = partial(normal_interval, centre, error, bounds=BOUNDS)
    return PairedTest(error, statistic, pvalue, limits), name


def paired_bootstrap(
    difference: float, replicates: Floats, alternative: str = "two-sided"
) -> PairedTest:
    """Percentile interval; P-value by the distance of the replicates from the difference."""
    error = float(np.std(replicates, ddof=1))
    sign = -1 if alternative == "less" else 1
    least, distances = sign * difference, sign * (replicates - difference)
    if alternative == "two-sided":
        least, distances = abs(least), np.abs(distances)
    exceeding = at_least(least, distances).sum()
    pvalue = float((1 + exceeding) / (1 + len(replicates)))
    statistic = difference / error if error else np.nan
    return PairedTest(error, statistic, pvalue, partial(percentile_limits, replicates))


def percentile_limits(replicates: Floats, confidence_level: float) -> Limits:
    """Return quantiles of replicates."""
    low, high = np.quantile(replicates, [(1 - confidence_level) / 2, (1 + confidence_level) / 2])
    return float(low), float(high)


def exchange_pvalue(difference: float, replicates: Floats, alternative: str) -> float:
    """Return the fraction of exchanges that differ as much; one that is undefined counts."""
    least, reached = abs(difference), np.abs(replicates)
    if alternative != "two-sided":
        sign = 1 if alternative == "greater" else -1
        least, reached = sign * difference, sign * replicates
    return float((1 + exceedances(least, reached).sum()) / (1 + len(replicates)))


def paired_delong(areas: Floats, covariance: Floats, alternative: str = "two-sided") -> PairedTest:
    """DeLong, DeLong & Clarke-Pearson (1988) for two correlated areas."""
    difference = float(areas[0] - areas[1])
    variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    error = float(np.sqrt(max(variance, 0.0)))
    limits = partial(normal_interval, difference, error, bounds=BOUNDS)
    surely = np.inf * difference if difference else 0.0
    statistic = difference / error if error else surely
    return PairedTest(
        error, statistic, tail_probability(stats.norm, statistic, alternative), limits
    )
