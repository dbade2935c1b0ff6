"""Tests of the difference of two classifiers on the same samples or splits."""

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from skeval._inference.ties import at_least

__all__ = [
    "EXACT_BELOW",
    "Inference",
    "corrected_error",
    "corrected_t",
    "differences_of",
    "mcnemar",
    "paired_bootstrap",
    "paired_delong",
]

Floats = NDArray[np.float64]
# (standard error, statistic, P-value, low, high)
Inference = tuple[float, float, float, float, float]
EXACT_BELOW = 25  # discordant pairs
EQUAL = 1e-12  # up to rounding, relative to the size of scores


def corrected_t(differences: Floats, test_train_ratio: float, level: float) -> Inference:
    """Nadeau & Bengio (2003): variance (1/J + n_test/n_train) s^2 on J - 1 degrees of freedom.

    Where all differences are equal but for rounding, nothing but their equality is known: the
    interval is nan, and so are statistic and P-value unless they are all 0.
    """
    n = len(differences)
    mean = float(differences.mean())
    if np.ptp(differences) <= EQUAL * np.abs(differences).max():
        none = (0.0, 1.0) if mean == 0 else (np.nan, np.nan)
        return 0.0, *none, np.nan, np.nan
    error, quantile = corrected_error(differences, test_train_ratio, level)
    half = quantile * error
    statistic = mean / error
    pvalue = 2 * float(stats.t.sf(abs(statistic), n - 1))
    return error, statistic, pvalue, mean - half, mean + half


def corrected_error(
    differences: Floats, test_train_ratio: float, level: float
) -> tuple[float, float]:
    """Return the standard error of Nadeau & Bengio (2003, eq. 12), and Student's quantile."""
    n = len(differences)
    error = float(np.sqrt((1 / n + test_train_ratio) * np.var(differences, ddof=1)))
    return error, float(stats.t.ppf((1 + level) / 2, n - 1))


def differences_of(scores: Floats) -> Floats:
    """Return the differences of two columns of scores, 0 where rounding alone makes one."""
    differences = scores[:, 0] - scores[:, 1]
    differences[np.abs(differences) <= EQUAL * np.abs(scores).max()] = 0.0
    return differences


def mcnemar(only_a: int, only_b: int, n: int, level: float) -> tuple[Inference, str]:
    """McNemar (1947) on the pairs that one classifier alone gets right; exact below 25 of them.

    The interval is that of Agresti & Min (2005): Wald with half a pair added to each of the cells.
    """
    discordant = only_a + only_b
    if discordant < EXACT_BELOW:
        name, statistic = "mcnemar (exact)", float(min(only_a, only_b))
        pvalue = float(stats.binomtest(only_a, discordant).pvalue) if discordant else 1.0
    else:
        # the correction by 1 goes no further than 0, where the two counts are equal
        name, surplus = "mcnemar (chi-squared)", max(abs(only_a - only_b) - 1, 0)
        statistic = surplus**2 / discordant
        pvalue = float(stats.chi2.sf(statistic, 1))
    more, less, total = only_a + 0.5, only_b + 0.5, n + 2
    centre = (more - less) / total
    error = float(np.sqrt((more + less) - (more - less) ** 2 / total) / total)
    half = float(stats.norm.ppf((1 + level) / 2)) * error
    return (error, statistic, pvalue, max(centre - half, -1.0), min(centre + half, 1.0)), name


def paired_bootstrap(difference: float, replicates: Floats, level: float) -> Inference:
    """Percentile interval; P-value by the distance of the replicates from the difference."""
    error = float(np.std(replicates, ddof=1))
    distances = np.abs(replicates - difference)
    exceeding = at_least(abs(difference), distances).sum()
    pvalue = float((1 + exceeding) / (1 + len(replicates)))
    low, high = np.quantile(replicates, [(1 - level) / 2, (1 + level) / 2])
    return error, difference / error if error else np.nan, pvalue, float(low), float(high)


def paired_delong(areas: Floats, covariance: Floats, level: float) -> Inference:
    """DeLong, DeLong & Clarke-Pearson (1988) for two correlated areas."""
    difference = float(areas[0] - areas[1])
    variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    error = float(np.sqrt(max(variance, 0.0)))
    half = float(stats.norm.ppf((1 + level) / 2)) * error
    low, high = max(difference - half, -1.0), min(difference + half, 1.0)
    if error == 0:
        return (
            0.0,
            (0.0 if difference == 0 else np.inf * difference),
            float(difference == 0),
            low,
            high,
        )
    return error, difference / error, 2 * float(stats.norm.sf(abs(difference) / error)), low, high
