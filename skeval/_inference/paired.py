"""Tests of paired differences: of two classifiers on the same samples or splits, and of several.

Scores that are equal but for rounding tie; P-values and levels hold for all of many tests together;
a region of practical equivalence (ROPE) turns a posterior into three probabilities.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import ndtr, stdtr

from skeval._inference import intervals
from skeval._inference.estimate import Limits
from skeval._inference.intervals import Codes, Spread

__all__ = [
    "ALTERNATIVES",
    "CORRECTIONS",
    "EQUAL",
    "LARGEST_LEVEL",
    "PairedTest",
    "RegionProbabilities",
    "Right",
    "adjust_pvalues",
    "cochran_q_statistic",
    "corrected_error",
    "corrected_t",
    "correlated_t_probabilities",
    "differences_of",
    "draw_contrasts",
    "exceedances",
    "exchange_pvalue",
    "five_by_two_f",
    "five_by_two_t",
    "grouped_cochran",
    "grouped_mcnemar",
    "mcnemar",
    "paired_bootstrap",
    "paired_delong",
    "percentile_limits",
    "significance_level",
    "simultaneous_level",
    "step_down",
    "student_test",
    "tail_probability",
    "variance_of_pairs",
]

_TIE_TOLERANCE = 1e-12


def at_least(value: float, others: np.ndarray) -> np.ndarray:
    """Whether each of other scores is as large as a score, up to rounding.

    A score rounds at the scale of the numbers that it is the difference of, which its own size
    does not tell: kappa, MCC and R2 are differences of numbers near 1, and may end up near 0. So
    the tolerance is relative to the largest score of all; one that is out of all proportion (an
    error that exploded) is not taken for the scale of the others.
    """
    if not np.isfinite(value):
        return others >= value
    sizes = np.abs(np.append(others[np.isfinite(others)], value))
    scale = min(sizes.max(), max(1.0, float(np.median(sizes))))
    return others >= value - _TIE_TOLERANCE * max(scale, abs(value))


def exceedances(statistic: float, null: np.ndarray) -> np.ndarray:
    """Whether each null score is at least as good, ties up to rounding included.

    An undefined null score counts as at least as good, which errs on the safe side.
    """
    return np.isnan(null) | at_least(statistic, null)


LARGEST_LEVEL = 0.05

Floats = NDArray[np.float64]


def holm(pvalues: Floats) -> Floats:
    """Holm (1979): the i-th smallest of m times m - i + 1, none below one before it; nan counts."""
    order = np.argsort(pvalues)
    factors = np.arange(len(pvalues), 0, -1)
    adjusted = np.empty(len(pvalues))
    # `maximum` hands a nan on to what comes after it, and nan is sorted last
    adjusted[order] = np.maximum.accumulate(np.asarray(pvalues)[order] * factors)
    return np.minimum(adjusted, 1.0)


def bonferroni(pvalues: Floats) -> Floats:
    """Each P-value times their number."""
    return np.minimum(np.asarray(pvalues) * len(pvalues), 1.0)


def no_correction(pvalues: Floats) -> Floats:
    """The P-values as they are."""
    return np.asarray(pvalues, dtype=float)


CORRECTIONS = {"holm": holm, "bonferroni": bonferroni, "none": no_correction}


def adjust_pvalues(pvalues: Floats, correction: str) -> Floats:
    """Return P-values that are adjusted for their number by a named correction."""
    return CORRECTIONS[correction](pvalues)


def simultaneous_level(confidence_level: float, n_intervals: int) -> float:
    """Return the level at which so many intervals hold together, by Bonferroni's inequality."""
    return 1 - (1 - confidence_level) / n_intervals


def significance_level(confidence_level: float) -> float:
    """Return the level of the tests beside intervals: one minus theirs, and 5 % at most.

    Who asks for shorter intervals does not ask for more to be called more than chance.
    """
    return min(round(1 - confidence_level, 12), LARGEST_LEVEL)  # 1 - 0.9 is below 0.1


class RegionProbabilities(NamedTuple):
    """Where a difference "a minus b" lies: above the ROPE, within it, or below."""

    a_better: float
    equivalent: float
    b_better: float


def correlated_t_probabilities(
    difference: float, standard_error: float, n_splits: int, rope: float
) -> RegionProbabilities:
    """Bayesian correlated t test of Corani & Benavoli (2015), with the reference prior.

    The posterior of the difference is Student's t on ``n_splits - 1`` degrees of freedom, around
    the mean, with the standard error of Nadeau & Bengio for its scale.
    """
    if not standard_error > 0:
        return RegionProbabilities(np.nan, np.nan, np.nan)
    posterior = stats.t(n_splits - 1, difference, standard_error)
    above, below = float(posterior.sf(rope)), float(posterior.cdf(-rope))
    return RegionProbabilities(above, max(1 - above - below, 0.0), below)


ALTERNATIVES = ("two-sided", "greater", "less")
"""What a test is to show of the difference: that it is not 0, above it, or below it."""
N_CONTRASTS = 10_000
EXACT_BELOW = 25  # discordant pairs
BOUNDS = (-1.0, 1.0)  # of a difference of two rates
EQUAL = 1e-12  # up to rounding, relative to the size of scores


class PairedTest(NamedTuple):
    """A test of a difference; `limits` are the ends of its interval by confidence level."""

    standard_error: float
    statistic: float
    pvalue: float
    limits: Callable[[float], Limits]


def tail_probability(
    statistic: float, alternative: str, degrees_of_freedom: float = np.inf
) -> float:
    """Return the P-value of a statistic of Student's law, or of the normal one."""
    least = {"two-sided": abs(statistic), "greater": statistic}.get(alternative, -statistic)
    tail = ndtr(-least) if np.isinf(degrees_of_freedom) else stdtr(degrees_of_freedom, -least)
    return float(tail * (2 if alternative == "two-sided" else 1))


def corrected_t(
    differences: Floats, test_train_ratio: float, alternative: str = "two-sided"
) -> PairedTest:
    """Nadeau & Bengio (2003): variance (1/J + n_test/n_train) s^2 on J - 1 degrees of freedom."""
    mean, error = float(differences.mean()), corrected_error(differences, test_train_ratio)
    return student_test(mean, error, len(differences), alternative)


def student_test(mean: float, error: float, n_units: int, alternative: str) -> PairedTest:
    """Return the test of a mean with its standard error, on ``n_units - 1`` degrees of freedom.

    Where nothing varies but by rounding, nothing but the mean is known: the interval is nan, and so
    are statistic and P-value unless the mean is 0.
    """
    if error <= EQUAL * abs(mean):
        statistic, pvalue = (0.0, 1.0) if mean == 0 else (np.nan, np.nan)
        return PairedTest(0.0, statistic, pvalue, partial(intervals.normal_interval, mean, np.nan))
    statistic = mean / error
    pvalue = tail_probability(statistic, alternative, n_units - 1)
    limits = partial(intervals.normal_interval, mean, error, degrees_of_freedom=n_units - 1)
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

    The second value says which form it was: "exact" or "chi-squared".
    The interval is that of Agresti & Min (2005): Wald with half a pair added to each of the cells.
    """
    discordant = only_a + only_b
    if discordant < EXACT_BELOW:
        form, statistic, pvalue = "exact", float(min(only_a, only_b)), 1.0
        if discordant:
            pvalue = float(stats.binomtest(only_a, discordant, alternative=alternative).pvalue)
    else:
        # the correction by 1 goes no further than 0, where the two counts are equal
        form, surplus = "chi-squared", max(abs(only_a - only_b) - 1, 0)
        statistic = surplus**2 / discordant
        if alternative == "two-sided":
            pvalue = float(stats.chi2.sf(statistic, 1))
        else:
            lead = only_a - only_b if alternative == "greater" else only_b - only_a
            pvalue = float(stats.norm.sf((lead - 1) / np.sqrt(discordant)))
    more, less, total = only_a + 0.5, only_b + 0.5, n + 2
    centre = (more - less) / total
    error = float(np.sqrt((more + less) - (more - less) ** 2 / total) / total)
    limits = partial(intervals.normal_interval, centre, error, bounds=BOUNDS)
    return PairedTest(error, statistic, pvalue, limits), form


CELLS_OF_THREE = (np.arange(8)[:, None] >> np.arange(3) & 1).astype(float)
"""Which of three classifiers is right in each of the cells."""


@dataclass(frozen=True, eq=False)
class Right:
    """Which of k classifiers are right on which of n samples, counted once for all tests.

    Attributes
    ----------
    right : bool ndarray of shape (k, n)
    group : ndarray of shape (n,) or (n, n_kinds), or None
    """

    right: NDArray[np.bool_]
    group: Codes | None = None

    @cached_property
    def both(self) -> Floats:
        """How many samples each pair of classifiers has right."""
        return np.array([[np.count_nonzero(a & b) for b in self.right] for a in self.right], float)

    @property
    def rates(self) -> Floats:
        """The share of the samples that each has right."""
        return np.diag(self.both) / self.right.shape[1]

    @cached_property
    def counts(self) -> tuple[Floats, Floats]:
        """How many samples each group has, and how many each classifier has right there."""
        assert self.group is not None
        return self.count(self.group)

    def count(self, code: Codes) -> tuple[Floats, Floats]:
        """Return the same of groups of one kind.

        Three classifiers have 8 cells, by which of them are right, and one pass counts these.
        """
        n_groups, hits = int(code.max()) + 1, list[Floats]()
        for first in range(0, len(self.right), 3):
            three = self.right[first : first + 3].view(np.int8)
            place = 8 * code
            place += sum(own << at for at, own in enumerate(three))
            table = intervals.add_up(place, None, 8 * n_groups).reshape(-1, 8)
            hits.append((table @ CELLS_OF_THREE).T)
        return table.sum(axis=1), np.concatenate(hits)[: len(self.right)]

    def spread(self, contrasts: Floats) -> tuple[Floats, Spread]:
        """Return linear combinations of the rates, of shape (n_contrasts, k), and their spread."""
        assert self.group is not None
        n = self.right.shape[1]
        values = contrasts @ np.diag(self.both) / n  # 0, not nearly so, where all are right equally
        squares = np.sum((contrasts @ self.both) * contrasts, axis=1) / n - values**2
        whole = squares.sum(keepdims=True) / n
        totals = intervals.Totals(whole, whole)

        def measure(code: Codes) -> Spread:
            size, hits = self.counts if code is self.group else self.count(code)
            sums, size = (contrasts @ hits - values[:, None] * size) / n, size[:, None]
            return intervals.measure_sums(sums[:, :, None], size, size, totals, size)

        return values, intervals.combine_ways(self.group, measure)


def grouped_mcnemar(
    counted: Right, a: int, b: int, alternative: str = "two-sided"
) -> tuple[PairedTest, Spread]:
    """Return the test of McNemar by the differences of groups (Durkalski et al. 2003).

    As without groups the interval, and here the test too, adds half a sample to each of the cells
    that differ.
    """
    n, eye = counted.right.shape[1], np.eye(len(counted.right))
    (value,), spread = counted.spread(eye[[a]] - eye[[b]])
    variance = (n**2 * spread.variance + 1 + 2 * n * value**2 / (n + 2)) / (n + 2) ** 2
    test = _student(n * value / (n + 2), variance, spread, alternative)
    return test._replace(limits=partial(_within_bounds, test.limits)), spread


def _student(value: float, variance: float, spread: Spread, alternative: str) -> PairedTest:
    """Return the test of a difference of so much variance; of no variance it is undefined."""
    degrees, error = spread.degrees_of_freedom, float(np.sqrt(max(variance, 0.0)))
    if error == 0:
        return _of_no_variance(np.array([value]))
    limits = partial(intervals.normal_interval, value, error, degrees_of_freedom=degrees)
    pvalue = tail_probability(value / error, alternative, degrees)
    return PairedTest(error, value / error, pvalue, limits)


def _within_bounds(limits: Callable[[float], Limits], confidence_level: float) -> Limits:
    low, high = np.clip(limits(confidence_level), *BOUNDS)
    return float(low), float(high)


def paired_bootstrap(
    difference: float, replicates: Floats, alternative: str = "two-sided"
) -> PairedTest:
    """Percentile interval; P-value by the distance of the replicates from the difference.

    It is nan where replicates do not vary around a difference, which then says nothing of it.
    """
    error = float(np.std(replicates, ddof=1))
    sign = -1 if alternative == "less" else 1
    least, distances = sign * difference, sign * (replicates - difference)
    if alternative == "two-sided":
        least, distances = abs(least), np.abs(distances)
    exceeding = at_least(least, distances).sum()
    pvalue = float((1 + exceeding) / (1 + len(replicates)))
    varies = error > EQUAL * abs(difference)
    if difference and not varies:
        pvalue = np.nan
    statistic = difference / error if varies else np.nan
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


def draw_contrasts(covariance: Floats, pairs: NDArray[np.intp], rng: np.random.Generator) -> Floats:
    """Draw the differences of pairs where nothing differs, each over its error, without sign.

    Shape (N_CONTRASTS, n_pairs), of normal values of this covariance (Hothorn, Bretz and Westfall
    2008); 0 of a pair whose difference does not vary.
    """
    variances, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(variances.clip(0.0))
    values = rng.standard_normal((N_CONTRASTS, len(covariance))) @ root.T
    first, second = pairs.T
    errors = np.sqrt(variance_of_pairs(covariance, pairs))
    errors[errors <= EQUAL * np.sqrt(np.abs(covariance).max())] = np.inf
    drawn: Floats = np.abs(values[:, first] - values[:, second]) / errors
    return drawn


def variance_of_pairs(covariance: Floats, pairs: NDArray[np.intp]) -> Floats:
    """Return the variance of the difference of each of some pairs."""
    first, second = pairs.T
    own = np.diag(covariance)
    variance: Floats = own[first] + own[second] - 2 * covariance[first, second]
    return variance.clip(0.0)


def step_down(statistics: Floats, drawn: Floats) -> Floats:
    """Return P-values for all pairs together: the largest of those that are not larger (Westfall).

    A pair is held against the largest of the draws of those pairs alone whose statistic is not
    above its own, and is not more than chance where one before it is not.
    """
    order = np.argsort(-statistics, kind="stable")
    largest = np.maximum.accumulate(drawn[:, order[::-1]], axis=1)[:, ::-1]
    exceeding = (largest >= statistics[order]).sum(axis=0)
    pvalues = np.empty(len(order))
    pvalues[order] = np.maximum.accumulate((1 + exceeding) / (1 + len(drawn)))
    return pvalues


def paired_delong(
    areas: Floats,
    covariance: Floats,
    alternative: str = "two-sided",
    degrees_of_freedom: float = np.inf,
) -> PairedTest:
    """DeLong, DeLong & Clarke-Pearson (1988) for two correlated areas."""
    difference = float(areas[0] - areas[1])
    variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    error = float(np.sqrt(max(variance, 0.0)))
    options: dict[str, Any] = {"bounds": BOUNDS, "degrees_of_freedom": degrees_of_freedom}
    limits = partial(intervals.normal_interval, difference, error, **options)
    unvaried = np.nan if difference else 0.0
    statistic = difference / error if error > EQUAL * abs(difference) else unvaried
    pvalue = tail_probability(statistic, alternative, degrees_of_freedom)
    return PairedTest(error, statistic, pvalue, limits)


def five_by_two_t(differences: Floats, alternative: str) -> PairedTest:
    """Dietterich (1998): the first of 5 x 2 differences over its error, on 5 degrees of freedom."""
    error = float(np.sqrt(_variances(differences).mean()))
    first = float(differences[0, 0])
    if error == 0:
        return _of_no_variance(differences)
    statistic = first / error
    pvalue = tail_probability(statistic, alternative, 5)
    return PairedTest(error, statistic, pvalue, partial(_t_limits, first, error))


def five_by_two_f(differences: Floats) -> PairedTest:
    """Alpaydin (1999): ``sum d^2 / (2 sum s^2)`` of 5 x 2 differences, F on 10 and 5 degrees."""
    total = float(_variances(differences).sum())
    error = float(np.sqrt(total / 5))
    if total == 0:
        return _of_no_variance(differences)
    statistic = float(np.sum(differences**2)) / (2 * total)
    limits = partial(_f_limits, differences, total)
    return PairedTest(error, statistic, float(stats.f.sf(statistic, 10, 5)), limits)


def _variances(differences: Floats) -> Floats:
    """Return ``(d_1 - mean)^2 + (d_2 - mean)^2`` of each of five repeats."""
    variances: Floats = (differences[:, 0] - differences[:, 1]) ** 2 / 2
    return variances


def _of_no_variance(differences: Floats) -> PairedTest:
    """Return the test where the two differences of each repeat are equal."""
    statistic, pvalue = (np.nan, np.nan) if differences.any() else (0.0, 1.0)
    return PairedTest(0.0, statistic, pvalue, partial(_nothing))


def _nothing(confidence_level: float) -> Limits:
    return np.nan, np.nan


def _t_limits(first: float, error: float, confidence_level: float) -> Limits:
    half = float(stats.t.isf((1 - confidence_level) / 2, 5)) * error
    return first - half, first + half


def _f_limits(differences: Floats, total: float, confidence_level: float) -> Limits:
    """Return the differences that the test of their distance would not reject.

    They solve ``sum (d - x)^2 = 2 F total``; none does where the ten differ by too much among
    themselves.
    """
    most = 2 * float(stats.f.isf(1 - confidence_level, 10, 5)) * total
    mean = float(differences.mean())
    square = (most - float(np.sum((differences - mean) ** 2))) / differences.size
    if square < 0:
        return np.nan, np.nan
    return mean - float(np.sqrt(square)), mean + float(np.sqrt(square))


def grouped_cochran(counted: Right) -> tuple[float, float]:
    """Return Hotelling's F of the rates that are right, and its P-value.

    It is that of the covariance between groups, on ``k - 1`` and ``df - k + 2`` degrees of freedom.
    """
    k = len(counted.right)
    # Each less all: if one stood out it would depend on their order what groups have in common.
    means, spread = counted.spread(k * np.eye(k) - 1)
    left = spread.degrees_of_freedom - k + 2
    if left <= 0:
        return np.nan, np.nan
    inverse = np.linalg.pinv(spread.covariance, EQUAL, hermitian=True)
    squared = float(means @ inverse @ means)
    statistic = squared * left / ((k - 1) * spread.degrees_of_freedom)
    return statistic, float(stats.f.sf(statistic, k - 1, left))


def cochran_q_statistic(right: NDArray[np.bool_]) -> float:
    """Cochran (1950), of (k, n): which of k classifiers is right on which of n samples."""
    k = len(right)
    of_classifier, of_sample = right.sum(axis=1), right.sum(axis=0)
    spread = float(np.sum(of_sample * (k - of_sample)))
    if spread == 0:
        return 0.0
    return float(k * (k - 1) * np.sum((of_classifier - of_classifier.mean()) ** 2)) / spread
