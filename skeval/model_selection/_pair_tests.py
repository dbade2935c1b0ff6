"""Tests of all pairs of models, as functions of arrays that return `PairTests`, and their table.

Scores have the shape (n_samples, n_names), (n_splits, n_names) or (n_datasets, n_names), and pairs
are in the order of `itertools.combinations`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray
from scipy import stats

from skeval._inference import intervals, paired
from skeval._inference.estimate import Test
from skeval._inference.intervals import Codes, Spread, spread_between
from skeval._inference.paired import EQUAL
from skeval._resampling.sampling_units import warn_of_undefined
from skeval.utils._checks import warn_undefined

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Ends = tuple[Floats, Floats]
Column = Sequence[Any] | NDArray[Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class PairExtra:
    """Fields of `extra` of the difference between two models. Their use depends on the test.

    Attributes
    ----------
    n_groups : int or None
        Number of groups, or None for independent samples.
    intraclass_correlation : float, tuple of float or None
        Correlation of samples in a group, one value for each kind of crossed groups. None without
        groups.
    pvalue_alone : float or None
        P-value without the correction for the number of pairs.
    only_a, only_b : int or None
        Number of samples that only one of the two models predicts correctly.
    effect_size : float or None
        Matched-pairs rank-biserial correlation, over data sets.
    n_equal : int or None
        Number of data sets with equal scores.
    margin : float or None
        Largest difference that does not matter.
    replicates : ndarray or None
        Differences of the resamples or permutations.
    """

    n_groups: int | None = None
    intraclass_correlation: float | tuple[float, ...] | None = None
    pvalue_alone: float | None = None
    only_a: int | None = None
    only_b: int | None = None
    effect_size: float | None = None
    n_equal: int | None = None
    margin: float | None = None
    replicates: Floats | None = field(default=None, repr=False)

    def reverse(self) -> PairExtra:
        """Return the results for the second model minus the first."""
        return replace(
            self,
            replicates=None if self.replicates is None else -self.replicates,
            only_a=self.only_b,
            only_b=self.only_a,
            effect_size=None if self.effect_size is None else -self.effect_size + 0.0,
        )


@dataclass(frozen=True, eq=False)
class PairTests:
    """Tests of all pairs of models.

    Attributes
    ----------
    difference, standard_error, statistic, pvalue : ndarray of shape (n_pairs,)
        Results of each pair. The P-values are corrected by `compare_pairs`.
    interval : str
        Name of the interval.
    limits : callable
        ``limits(confidence_level, pairs)`` returns the limits of single intervals of some pairs.
    fields : mapping of str to sequence of length n_pairs
        Fields of `PairExtra`.
    largest : ndarray of shape (n_draws,) or None
        Simulated values of the largest statistic of all pairs, or None for Bonferroni's
        inequality.
    allow_point : bool
        Whether an interval may have zero width.
    omnibus : Test or None
        Test of the hypothesis that all models are equal.
    largest_difference : float
        Largest possible size of a difference, from the range of the score.
    low, high : ndarray of shape (n_pairs,)
        Limits of the simultaneous intervals, set by `compare_pairs`.
    """

    difference: Floats
    standard_error: Floats
    statistic: Floats
    pvalue: Floats
    interval: str
    limits: Callable[[float, Places], Ends]
    fields: Mapping[str, Column] = field(default_factory=dict)
    largest: Floats | None = None
    allow_point: bool = False
    omnibus: Test | None = None
    largest_difference: float = np.inf
    low: Floats = field(default_factory=lambda: np.empty(0))
    high: Floats = field(default_factory=lambda: np.empty(0))

    def bound(self, confidence_level: float, pairs: Places | None = None) -> Ends:
        """Return the simultaneous limits for all pairs, of some pairs (by default all)."""
        pairs = np.arange(len(self.difference)) if pairs is None else pairs
        low, high = self.limits(self.level_of_each(confidence_level), pairs)
        most = self.largest_difference
        return np.clip(low, -most, most), np.clip(high, -most, most)

    @lru_cache(4)  # noqa: B019
    def level_of_each(self, confidence_level: float) -> float:
        """Return the level of single intervals that gives a simultaneous level."""
        if self.largest is None:
            return intervals.simultaneous_level(confidence_level, len(self.difference))
        return paired.level_of_largest(self.largest, confidence_level)

    def describe(self, pair: int) -> PairExtra:
        """Return the further results of a pair."""
        own = ((name, column[pair]) for name, column in self.fields.items())
        return PairExtra(**{k: v.item() if isinstance(v, np.generic) else v for k, v in own})

    def leave_out_points(self, low: Floats, high: Floats) -> Ends:
        """Return the limits, or nan for intervals without width unless a test allows them."""
        if self.allow_point:
            return low, high
        with np.errstate(invalid="ignore"):
            has_width = high - low > EQUAL * np.maximum(np.abs(low), np.abs(high))
            has_width |= np.isinf(low) | np.isinf(high)
        return np.where(has_width, low, np.nan), np.where(has_width, high, np.nan)


def list_pairs(n_names: int) -> NDArray[np.intp]:
    """Return the indices of both models of each pair, shape (n_pairs, 2)."""
    return np.column_stack(np.triu_indices(n_names, 1))


def student_tests(
    interval: str,
    difference: Any,
    standard_error: Any,
    degrees_of_freedom: Any,
    alternative: str,
    *,
    center: Floats | None = None,
    **more: Any,
) -> PairTests:
    """Return the tests of differences with standard errors and degrees of freedom.

    The interval is centered at the `center` of each pair, by default the difference. A difference
    that varies only by rounding errors has no statistic and no P-value, unless it is 0.
    """
    difference, error = np.array(difference, dtype=float), np.array(standard_error, dtype=float)
    degrees = np.broadcast_to(np.asarray(degrees_of_freedom, dtype=float), difference.shape)
    difference[np.abs(difference) <= EQUAL * error] = 0.0  # of rounding
    center = difference if center is None else center
    # variation by rounding alone gives no statistic
    constant = error <= EQUAL * np.abs(center)
    error[constant] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(constant, np.where(center == 0, 0.0, np.nan), center / error)
    # evidence for the alternative, the larger the stronger
    least = {"two-sided": np.abs(statistic), "greater": statistic}.get(alternative, -statistic)
    pvalue = stats.t.sf(least, degrees) * (2 if alternative == "two-sided" else 1)
    limits = partial(_normal_limits, center, error, degrees)
    return PairTests(difference, error, statistic, pvalue, interval, limits, **more)


def _normal_limits(
    centers: Floats, errors: Floats, degrees: Floats, confidence_level: float, pairs: Places
) -> Ends:
    """Return normal or Student's limits of some pairs."""
    half = stats.t.isf((1 - confidence_level) / 2, degrees[pairs]) * errors[pairs]
    return centers[pairs] - half, centers[pairs] + half


def compare_means(
    interval: str,
    scores: Floats,
    find_error: Callable[[Floats], tuple[float, float]],
    alternative: str,
    undefined: str = "",
) -> PairTests:
    """Return the tests of the mean differences of all pairs of columns of scores.

    `find_error` returns the standard error and the degrees of freedom of the mean of a series of
    differences. `undefined` is a warning for tests without a P-value.
    """
    sizes, means, spreads = np.abs(scores).max(axis=0), [], []
    for a, b in list_pairs(scores.shape[1]).tolist():
        own = scores[:, a] - scores[:, b]
        own[np.abs(own) <= EQUAL * max(sizes[a], sizes[b])] = 0.0  # of rounding
        means.append(own.mean())
        spreads.append(find_error(own))
    errors, degrees = np.array(spreads).T
    tests = student_tests(interval, means, errors, degrees, alternative)
    if undefined and np.isnan(tests.pvalue).any():
        warn_undefined(undefined)
    return tests


def corrected_t_test(
    scores: Floats, test_train_ratio: float, alternative: str = "two-sided"
) -> PairTests:
    """Apply the corrected resampled t-test of Nadeau and Bengio (2003) to scores of splits.

    The variance is ``(1/J + n_test/n_train) s^2``, with J - 1 degrees of freedom. If the ratio is
    0, it is Student's t-test of the differences.
    """

    def find_error(own: Floats) -> tuple[float, float]:
        return intervals.corrected_error(own, test_train_ratio), len(own) - 1

    return compare_means("corrected_t", scores, find_error, alternative)


def mcnemar(
    right: NDArray[np.bool_], group: Codes | None = None, alternative: str = "two-sided"
) -> PairTests:
    """Apply McNemar's test (1947) to the correct predictions of all classifiers, shape (k, n).

    It counts the samples that only one of two classifiers predicts correctly. The interval is
    Agresti and Min's (2005), which adds half a sample to each cell. It includes 0 unless the
    test rejects it. With groups, the test uses the
    same center and the variance between groups (Durkalski et al. 2003).
    """
    # discordant samples of each pair
    pairs, n = list_pairs(len(right)), right.shape[1]
    hits = right.astype(float)
    both, (first, second) = hits @ hits.T, pairs.T
    only_a, only_b = (np.diag(both)[own] - both[first, second] for own in (first, second))
    difference = (only_a - only_b) / n
    fields: dict[str, Any] = {"only_a": only_a.astype(int), "only_b": only_b.astype(int)}
    # variance of the difference, and degrees of freedom
    variances, degrees = (only_a + only_b) / n**2 - difference**2 / n, np.full(len(pairs), np.inf)
    if group is not None:
        moved = (hits - hits.mean(axis=1, keepdims=True)) / n
        spreads = [spread_between(moved[a] - moved[b], group) for a, b in pairs.tolist()]
        variances = np.array([spread.variance for spread in spreads])
        degrees = np.array([spread.degrees_of_freedom for spread in spreads])
        fields |= {name: [each.groups[name] for each in spreads] for name in spreads[0].groups}
    # half a sample in each cell (Agresti and Min 2005)
    center, variances = paired.add_half(n, difference, variances, group is not None)
    tests = student_tests(
        "mcnemar",
        difference,
        np.sqrt(variances),
        degrees,
        alternative,
        center=center,
        fields=fields,
    )
    if group is not None:
        return tests
    # without groups, the exact test
    pvalue = paired.mcnemar_pvalues(only_a, only_b, alternative)
    limits = partial(_widen_limits, tests.limits, n, only_a, only_b)
    return replace(tests, statistic=np.minimum(only_a, only_b), pvalue=pvalue, limits=limits)


def _widen_limits(
    limits: Callable[..., Ends],
    n: int,
    only_a: Floats,
    only_b: Floats,
    confidence_level: float,
    pairs: Places,
) -> Ends:
    """Return limits that include 0 if McNemar's test does not reject it.

    Then they are the limits that invert the test, for the observed number of discordant samples.
    """
    low, high = limits(confidence_level, pairs)
    only_a, only_b, tail = only_a[pairs], only_b[pairs], (1 - confidence_level) / 2
    # Clopper and Pearson's limits of the fraction of discordant samples
    least = np.where(only_a > 0, stats.beta.ppf(tail, only_a, only_b + 1), 0.0)
    most = np.where(only_b > 0, stats.beta.isf(tail, only_a + 1, only_b), 1.0)
    least, most = ((only_a + only_b) * (2 * end - 1) / n for end in (least, most))
    # a limit beyond 0 is replaced if the exact limit does not exclude 0
    low = np.where((least <= 0) & (low > 0), least, low)
    return low, np.where((most >= 0) & (high < 0), most, high)


def cochran_q(
    right: NDArray[np.bool_], group: Codes | None = None, alternative: str = "two-sided"
) -> PairTests:
    """Apply Cochran's Q test (with groups, Hotelling's F) to all, then McNemar's test to pairs."""
    if group is None:
        # Q = k (k - 1) sum_j (x_j - mean x)^2 / sum_i c_i (k - c_i), for hits x_j and c_i
        k, of_system, of_sample = len(right), right.sum(axis=1), right.sum(axis=0)
        spread = np.sum(of_sample * (k - of_sample))
        statistic = float(k * (k - 1) * k * np.var(of_system) / spread) if spread else 0.0
        pvalue = float(stats.chi2.sf(statistic, k - 1))
    else:
        statistic, pvalue = paired.grouped_cochran(right, group)
    omnibus = Test(
        name="Q" if group is None else "F",
        statistic=statistic,
        pvalue=pvalue,
        method="Cochran's Q" if group is None else "Hotelling's F of groups",
        details={"n_discordant": int(np.sum(right.any(axis=0) & ~right.all(axis=0)))},
    )
    return replace(mcnemar(right, group, alternative), omnibus=omnibus)


def delong(values: Floats, spread: Spread, alternative: str = "two-sided") -> PairTests:
    """Apply DeLong's test (1988) to areas under ROC curves, from their covariance."""
    pairs = list_pairs(len(values))
    return student_tests(
        "delong",
        values[pairs[:, 0]] - values[pairs[:, 1]],
        np.sqrt(paired.variance_of_pairs(spread.covariance, pairs)),
        spread.degrees_of_freedom,
        alternative,
        fields={name: [value] * len(pairs) for name, value in spread.groups.items()},
    )


def bootstrap_pairs(values: Floats, resampled: Floats, alternative: str = "two-sided") -> PairTests:
    """Bootstrap the differences of scores, (n_names, n_resamples), on the same resamples.

    The P-value is computed from the deviations of the replicates, and the interval inverts its
    test. The P-value is nan if they do not vary around a nonzero difference.
    """
    first, second = list_pairs(len(values)).T
    differences, replicates = values[first] - values[second], resampled[first] - resampled[second]
    sign = -1 if alternative == "less" else 1
    errors, pvalues = np.empty(len(first)), np.empty(len(first))
    for at, (value, row) in enumerate(zip(differences.tolist(), replicates, strict=True)):
        warn_of_undefined(row)
        defined = row[~np.isnan(row)]
        if len(defined) < 2:
            raise ValueError("the score must be defined on at least two resamples, got fewer.")
        # deviations in the direction of the alternative
        least, distances = sign * value, sign * (defined - value)
        if alternative == "two-sided":
            least, distances = abs(value), np.abs(distances)
        exceeding = paired.at_least(least, distances).sum()
        errors[at] = np.std(defined, ddof=1)
        pvalues[at] = (1 + exceeding) / (1 + len(defined))
    # without variation, a nonzero difference has no P-value
    varies = errors > EQUAL * np.abs(differences)
    pvalues[(differences != 0) & ~varies] = np.nan
    statistics = np.divide(differences, errors, out=np.full(len(first), np.nan), where=varies)
    # the interval inverts the test, by the absolute deviations
    reach = np.abs(replicates - differences[:, None])
    limits = _invert_test(differences, differences[:, None] - reach, differences[:, None] + reach)
    fields = {"replicates": replicates}
    return PairTests(differences, errors, statistics, pvalues, "bootstrap", limits, fields)


def _invert_test(differences: Floats, lows: Floats, highs: Floats) -> Callable[..., Ends]:
    """Return the limits between which a test by replicates rejects no difference.

    A replicate, one of the columns, counts against a hypothesis of at most its low end or at least
    its high end. It is nan if it is undefined.
    """
    # ends at 0 up to rounding, so that the interval and the P-value are one decision
    rounding = 1e-9 * np.abs(differences)[:, None]
    lows, highs = (np.where(np.abs(ends) <= rounding, 0.0, ends) for ends in (lows, highs))
    # nan is sorted last
    return partial(_limits_by_rank, np.sort(lows), np.sort(-highs))


def _limits_by_rank(lows: Floats, highs: Floats, confidence_level: float, pairs: Places) -> Ends:
    """Return the smallest and largest differences with a P-value above the level.

    P is ``(1 + count) / (1 + n)`` for `n` defined replicates. If they are too few for the level,
    the limits are the extreme ends.
    """
    ends = []
    for rows in (lows[pairs], highs[pairs]):
        level = (1 - confidence_level) * (1 + np.sum(~np.isnan(rows), axis=1))
        ranks = np.floor(level * (1 + EQUAL)).astype(np.intp)
        ends.append(np.take_along_axis(rows, np.maximum(ranks, 1)[:, None] - 1, axis=1)[:, 0])
    return ends[0], -ends[1]


def permutation(
    values: Floats, exchanged: Floats, signs: Floats, alternative: str = "two-sided"
) -> PairTests:
    """Compare differences with differences of permuted predictions, shape (n_pairs, n_resamples).

    The P-value is the fraction of permutations that are undefined or at least as extreme. `signs`
    contains the mean sign of the samples in each permutation, -1 for a swap. For a difference `c`
    under the null hypothesis, the samples deviate from `c`, and a permuted difference `e` with
    mean sign `s` becomes ``e - s c``. The interval contains each `c` that this test does not
    reject. For means over samples, its ends are means of random halves (Hartigan 1969).
    """
    first, second = list_pairs(len(values)).T
    differences, pvalues = values[first] - values[second], []
    of_side = {"two-sided": np.abs, "greater": np.positive, "less": np.negative}[alternative]
    for value, row in zip(differences, exchanged, strict=True):
        extreme = paired.exceedances(float(of_side(value)), of_side(row)).sum()
        pvalues.append((1 + extreme) / (1 + len(row)))
    # |e - s c| is at least |d - c| outside these ends; an undefined permutation always counts
    center = differences[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.array([(center - exchanged) / (1 - signs), (center + exchanged) / (1 + signs)])
    always = ~np.isfinite(ends).all(axis=0)
    lows, highs = (
        np.where(always, np.sign(edge) * np.inf, of_ends)
        for edge, of_ends in ((-1, ends.min(axis=0)), (1, ends.max(axis=0)))
    )
    # spread under the null hypothesis of the observed difference
    errors = np.sqrt(np.nanmean((exchanged - signs * center) ** 2, axis=1))
    limits, fields = _invert_test(differences, lows, highs), {"replicates": exchanged}
    return PairTests(
        differences, errors, differences, np.array(pvalues), "permutation", limits, fields
    )


class Joint(NamedTuple):
    """Scores of all models, shape (n_names,), and their covariance.

    Attributes
    ----------
    values : ndarray of shape (n_names,)
    covariance : ndarray of shape (n_names, n_names)
        Covariance due to the samples or groups, which all models share.
    degrees_of_freedom : float
        Degrees of freedom of the covariance, or infinity for a normal quantile.
    n_rates : int or None
        Number of samples if all scores are 0 or 1.
    n_groups : int or None
        Number of groups, or None for independent samples.
    groups : dict
        Attributes of a result that describe its groups.
    """

    values: Floats
    covariance: Floats
    degrees_of_freedom: float
    n_rates: int | None = None
    n_groups: int | None = None
    groups: Mapping[str, Any] = MappingProxyType({})


EXACT_BELOW = 25
"""Number of discordant samples from which normal P-values are accurate."""


def max_t(joint: Joint, root: SeedSequence, alternative: str = "two-sided") -> PairTests:
    """Compare all pairs by the largest t statistic, with the covariance of all scores.

    If the scores of samples are 0 or 1, the interval is Agresti and Min's, which adds half a
    sample to each cell. With groups, it uses the variance between groups instead of the binomial
    variance.
    """
    values, n, k = joint.values, joint.n_rates, len(joint.values)
    pairs = list_pairs(k)
    first, second = pairs.T
    # variance of each difference
    variances = shared = paired.variance_of_pairs(joint.covariance, pairs)
    differences = values[first] - values[second]
    differences[np.abs(differences) <= EQUAL * np.abs(values).max()] = 0.0  # of rounding
    centers = differences
    if n is not None:
        centers, variances = paired.add_half(n, differences, variances, joint.n_groups is not None)
    tests = student_tests(
        "max_t",
        differences,
        np.sqrt(variances),
        joint.degrees_of_freedom,
        alternative,
        center=centers,
    )
    # P-value of each pair by itself; exact for few discordant samples
    alone = tests.pvalue
    if k == 2 and n is not None and joint.n_groups is None:
        # the variance v of a difference d corresponds to n (n v + d^2) discordant samples
        discordant = np.rint(n * (n * shared + differences**2))
        only_a = (discordant + np.rint(n * differences)) // 2
        if discordant[0] < EXACT_BELOW:
            counts = only_a, discordant - only_a
            alone = np.maximum(alone, paired.mcnemar_pvalues(*counts, alternative))
            tests = replace(tests, limits=partial(_widen_limits, tests.limits, n, *counts))
    # with more than two models, step down from the largest statistic
    pvalues, largest = alone, None
    if k > 2:
        rng = np.random.default_rng(root)
        drawn = paired.draw_contrasts(joint.covariance, pairs, rng)
        pvalues, largest = paired.step_down(stats.norm.isf(alone / 2), *drawn, pairs)
        pvalues[np.isnan(alone)] = np.nan
    fields: dict[str, Column] = {name: [own] * len(pairs) for name, own in joint.groups.items()}
    fields["pvalue_alone"] = alone
    return replace(tests, pvalue=pvalues, largest=largest, fields=fields)


def describe_each(
    joint: Joint, root: SeedSequence, confidence_level: float
) -> tuple[Floats, Floats, Floats]:
    """Return the standard error and the interval of each score (Wilson's for rates).

    The intervals of more than two models are simultaneous, by the quantile of the largest
    deviation. Therefore, one of them may be chosen after looking at the scores.
    """
    k = len(joint.values)
    # one level for all intervals, so that they hold together
    if k > 2:
        against_truth = np.pad(joint.covariance, (0, 1))  # which is fixed
        pairs = np.array([(at, k) for at in range(k)])
        drawn = paired.draw_contrasts(against_truth, pairs, np.random.default_rng(root))
        *_, largest = paired.accumulate_largest(*drawn, pairs)
        confidence_level = paired.level_of_largest(largest, confidence_level)
    # Wilson's limits for rates, and Student's for other scores
    errors, n = np.sqrt(np.diag(joint.covariance)), joint.n_rates
    ends = []
    student: Any = {"degrees_of_freedom": joint.degrees_of_freedom}
    for value, error in zip(joint.values.tolist(), errors.tolist(), strict=True):
        if n is None:
            ends.append(intervals.normal_interval(value, error, confidence_level, **student))
        else:
            size = intervals.size_of_proportion(value, error, n, joint.n_groups)
            ends.append(intervals.wilson_interval(value * size, size, confidence_level, **student))
    lows, highs = np.array(ends).T
    return errors, lows, highs


def time_blocks(scores: Floats, alternative: str = "two-sided") -> PairTests:
    """Test the differences of scores in time order, using blocks of consecutive samples."""

    def find_error(own: Floats) -> tuple[float, float]:
        blocks = paired.divide_time(own)
        if blocks is None:
            return np.nan, -1
        return spread_between((own - own.mean()) / len(own), blocks).error, int(blocks[-1])

    undefined = (
        "The test is undefined, because the time blocks do not differ, or because neighboring "
        "samples are so correlated that there are fewer than three blocks."
    )
    return compare_means("time_blocks", scores, find_error, alternative, undefined)


def diebold_mariano(scores: Floats, horizon: int = 1, alternative: str = "two-sided") -> PairTests:
    r"""Apply the test of Diebold and Mariano (1995) to scores of forecasts several steps ahead.

    The correction is by Harvey, Leybourne and Newbold (1997). Errors of forecasts `h` steps
    ahead are correlated over ``h - 1`` steps. With the autocovariances
    :math:`\gamma_k = \frac1n \sum_t (d_t - \bar d)(d_{t-k} - \bar d)` the variance of the mean is

    .. math:: \frac{1}{n} \Big( \gamma_0 + 2 \sum_{k<h} \gamma_k \Big) \cdot
              \frac{n}{n + 1 - 2h + h(h-1)/n} ,

    with ``n - 1`` degrees of freedom. If this estimate is negative, the test is undefined. For one
    step, it is Student's t-test of the differences.
    """

    def find_error(own: Floats) -> tuple[float, float]:
        n, deviations = len(own), own - own.mean()
        covariances = [deviations[k:] @ deviations[: n - k] / n for k in range(horizon)]
        variance = (covariances[0] + 2 * sum(covariances[1:])) / n
        variance *= n / (n + 1 - 2 * horizon + horizon * (horizon - 1) / n)
        return np.sqrt(variance) if variance >= 0 else np.nan, n - 1

    undefined = f"The test is undefined, because the variance for horizon={horizon} is not above 0."
    return compare_means("diebold_mariano", scores, find_error, alternative, undefined)


def wilcoxon(scores: Floats) -> PairTests:
    """Apply Wilcoxon's signed-rank test to scores of data sets. A missing score is nan."""
    first, second = list_pairs(scores.shape[1]).T
    differences = [own[np.isfinite(own)] for own in (scores[:, first] - scores[:, second]).T]
    tested = [paired.signed_rank_test(own) for own in differences]
    estimates, pvalues, effects, n_equal = map(np.array, zip(*tested, strict=True))
    omnibus = None
    if scores.shape[1] > 2:
        test = paired.skillings_mack if np.isnan(scores).any() else paired.friedman
        omnibus = test(paired.rank_rows(scores))
    return PairTests(
        estimates,
        np.full(len(differences), np.nan),
        effects,
        pvalues,
        "wilcoxon",
        partial(_signed_rank_limits, differences),
        fields={"effect_size": effects, "n_equal": n_equal},
        allow_point=True,
        omnibus=omnibus,
    )


def _signed_rank_limits(
    differences: Sequence[Floats], confidence_level: float, pairs: Places
) -> Ends:
    chosen = [differences[pair] for pair in pairs.tolist()]
    low, high = np.array([paired.signed_rank_limits(own, confidence_level) for own in chosen]).T
    return low, high


def nemenyi(scores: Floats) -> PairTests:
    """Apply Nemenyi's test to distances of mean ranks, with intervals of Wilcoxon's test."""
    tests, means = wilcoxon(scores), paired.rank_rows(scores).mean(axis=0)
    first, second = list_pairs(scores.shape[1]).T
    # distances of mean ranks in standard errors; a lower rank is better
    (n, k), distances = scores.shape, paired.round_ties(np.abs(means[first] - means[second]))
    sizes, places = np.unique(distances, return_inverse=True)
    pvalues = stats.studentized_range.sf(sizes * np.sqrt(2) / paired.rank_error(n, k), k, np.inf)
    return replace(
        tests,
        statistic=means[second] - means[first],
        pvalue=np.clip(pvalues, 0.0, 1.0)[places],
        fields={"effect_size": tests.fields["effect_size"]},
    )


@dataclass(frozen=True)
class ComparisonMethod:
    """A test of a comparison.

    Attributes
    ----------
    title : str
        Name of the test for use in sentences.
    evidence : str
        Input of the test for all models:

        - "splits": the scores of splits, and the ratio of test to training samples
        - "right": which samples are predicted correctly
        - "resamples": the scores on resamples
        - "exchanges": the scores, and the differences and mean signs of permutations
        - "joint" or "areas": the scores or the areas, with their covariance
        - "time": the scores in time order
        - "forecasts": the scores in time order, and the horizon
        - "datasets": the scores on data sets
    test : callable
        Function of arrays that returns `PairTests`.
    scope : str
        Sentence on the conditions of the test.
    scoring : str or None
        The only score that the test supports, for classes. None means any score, also of
        regressors.
    simultaneous : bool
        Whether the P-values account for all pairs.
    work : str
        Reference for the methods section.
    """

    title: str
    evidence: str
    test: Callable[..., PairTests]
    scope: str = ""
    scoring: str | None = None
    simultaneous: bool = False
    work: str = ""

    @property
    def over_datasets(self) -> bool:
        """Whether it is always two-sided, with the level of Demsar (2006) that may exceed 5 %."""
        return self.evidence == "datasets"

    def level(self, confidence_level: float) -> float:
        """Return the significance level that belongs to a confidence level, at most 5 %.

        A lower confidence level means shorter intervals, not more significant results. Tests over
        data sets may have a higher level, as in Demsar (2006).
        """
        level = round(1 - confidence_level, 12)  # 1 - 0.9 is below 0.1
        return 1 - confidence_level if self.over_datasets else min(level, paired.MAX_LEVEL)


RULES = "The test is for these predictions only; variation from retraining is not included."
DATASETS = "The test is for data sets like these, not for a single data set."
MEAN_RANKS = f"The mean ranks of two models depend on which other models are compared. {DATASETS}"

ComparisonTest = Literal[
    "auto",
    "corrected_t",
    "permutation",
    "bootstrap",
    "max_t",
    "mcnemar",
    "cochran_q",
    "delong",
    "time_blocks",
    "diebold_mariano",
    "wilcoxon",
    "nemenyi",
]
TESTS = {
    "corrected_t": ComparisonMethod(
        "corrected resampled t-test",
        "splits",
        corrected_t_test,
        work="C. Nadeau, Y. Bengio (2003), https://doi.org/10.1023/A:1024068626366",
    ),
    "permutation": ComparisonMethod("paired permutation test", "exchanges", permutation, RULES),
    "bootstrap": ComparisonMethod("paired bootstrap", "resamples", bootstrap_pairs, RULES),
    "max_t": ComparisonMethod(
        "max-t method",
        "joint",
        max_t,
        RULES,
        simultaneous=True,
        work="M. Mogstad, J. P. Romano, A. M. Shaikh, D. Wilhelm (2024), "
        "https://doi.org/10.1093/restud/rdad006",
    ),
    "mcnemar": ComparisonMethod(
        "McNemar's test",
        "right",
        mcnemar,
        RULES,
        "accuracy",
        work="interval: A. Agresti, Y. Min (2005), https://doi.org/10.1002/sim.1781",
    ),
    "cochran_q": ComparisonMethod(
        "McNemar's test after Cochran's Q", "right", cochran_q, RULES, "accuracy"
    ),
    "delong": ComparisonMethod(
        "DeLong's test",
        "areas",
        delong,
        RULES,
        "roc_auc",
        work="E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson (1988), "
        "https://doi.org/10.2307/2531595",
    ),
    "time_blocks": ComparisonMethod("t-test over blocks of time", "time", time_blocks, RULES),
    "diebold_mariano": ComparisonMethod(
        "Diebold and Mariano's test",
        "forecasts",
        diebold_mariano,
        RULES,
        work="F. X. Diebold, R. S. Mariano (1995), https://doi.org/10.1080/07350015.1995.10524599",
    ),
    "wilcoxon": ComparisonMethod("Wilcoxon's signed-rank test", "datasets", wilcoxon, DATASETS),
    "nemenyi": ComparisonMethod(
        "Nemenyi's test", "datasets", nemenyi, MEAN_RANKS, simultaneous=True
    ),
}
"""Tests by the name of the method."""
