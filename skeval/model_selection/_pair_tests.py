"""Tests of all pairs of systems: functions of arrays that return `PairTests`, and their table.

Scores have the shape (n_samples, n_names), (n_splits, n_names) or (n_datasets, n_names), and pairs
are in the order of `itertools.combinations`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray
from scipy import stats

from skeval._inference import intervals, paired, ranks
from skeval._inference.designs import ReaderStudy
from skeval._inference.estimate import Test
from skeval._inference.intervals import Spread
from skeval._inference.paired import EQUAL, PairedTest, Right, blocks_test
from skeval._inference.paired import diebold_mariano as test_horizon
from skeval._resampling.sampling_units import warn_of_undefined
from skeval.utils._checks import warn_undefined
from skeval.utils._text import count

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Ends = tuple[Floats, Floats]
Column = Sequence[Any] | NDArray[Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class PairExtra:
    """Fields of `extra` of the difference of two systems, which depend on the test.

    Attributes
    ----------
    n_groups : int or None
        Number of groups; None for independent samples.
    intraclass_correlation : float, tuple of float or None
        Correlation of samples in a group, for each kind of crossed groups; None without groups.
    pvalue_alone : float or None
        P-value without the correction for the number of pairs.
    form : str
        Form of McNemar's test: "exact", "t" for groups, or "chi-squared".
    only_a, only_b : int or None
        Number of samples that only one of the two predicts correctly.
    effect_size : float or None
        Matched-pairs rank-biserial correlation, over data sets.
    n_equal : int or None
        Number of data sets with equal scores.
    margin : float or None
        Largest difference that does not matter.
    horizon : int or None
        Number of steps between a forecast and its sample.
    degrees_of_freedom : float or None
        Degrees of freedom of the analysis of readers.
    replicates : ndarray or None
        Differences of the resamples, or after the exchanges.
    """

    n_groups: int | None = None
    intraclass_correlation: float | tuple[float, ...] | None = None
    pvalue_alone: float | None = None
    form: str = ""
    only_a: int | None = None
    only_b: int | None = None
    effect_size: float | None = None
    n_equal: int | None = None
    margin: float | None = None
    horizon: int | None = None
    degrees_of_freedom: float | None = None
    replicates: Floats | None = field(default=None, repr=False)

    def reverse(self) -> PairExtra:
        """Return the results for the second system minus the first."""
        return replace(
            self,
            replicates=None if self.replicates is None else -self.replicates,
            only_a=self.only_b,
            only_b=self.only_a,
            effect_size=None if self.effect_size is None else -self.effect_size + 0.0,
        )


@dataclass(frozen=True, eq=False)
class PairTests:
    """Tests of all pairs of systems.

    Attributes
    ----------
    difference, standard_error, statistic, pvalue : ndarray of shape (n_pairs,)
        The P-values are corrected by `correct`.
    interval : str
        Name of the interval.
    limits : callable
        ``limits(confidence_level, pairs)`` returns the limits of single intervals of some pairs.
    level_of_each : callable or None
        Function from the simultaneous level of all intervals to the level of a single one; None
        for Bonferroni's inequality.
    fields : mapping of str to sequence of length n_pairs
        Fields of `PairExtra`.
    shared : mapping
        Fields of `PairExtra` that all differences share.
    allow_point : bool
        Whether an interval may have zero width.
    omnibus : Test or None
        Test of no difference at all.
    low, high : ndarray of shape (n_pairs,)
        Limits of the simultaneous intervals, by `correct`.
    """

    difference: Floats
    standard_error: Floats
    statistic: Floats
    pvalue: Floats
    interval: str
    limits: Callable[[float, Places], Ends]
    level_of_each: Callable[[float], float] | None = None
    fields: Mapping[str, Column] = field(default_factory=dict)
    shared: Mapping[str, Any] = field(default_factory=dict)
    allow_point: bool = False
    omnibus: Test | None = None
    low: Floats = field(default_factory=lambda: np.empty(0))
    high: Floats = field(default_factory=lambda: np.empty(0))

    def bound(self, confidence_level: float, pairs: Places | None = None) -> Ends:
        """Return the limits of some pairs, by default all, that hold simultaneously for all."""
        pairs = np.arange(len(self.difference)) if pairs is None else pairs
        if self.level_of_each is None:
            n_pairs = len(self.difference)
            return self.limits(paired.simultaneous_level(confidence_level, n_pairs), pairs)
        return self.limits(self.level_of_each(confidence_level), pairs)

    def describe(self, pair: int) -> PairExtra:
        """Return the further results of a pair."""
        own = {name: column[pair] for name, column in self.fields.items()}
        numbers = {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in own.items()
        }
        return PairExtra(**numbers, **self.shared)

    def leave_out_points(self, low: Floats, high: Floats) -> Ends:
        """Return the limits, nan for intervals without width unless a test allows them."""
        if self.allow_point:
            return low, high
        with np.errstate(invalid="ignore"):
            has_width = high - low > EQUAL * np.maximum(np.abs(low), np.abs(high))
            has_width |= np.isinf(low) | np.isinf(high)
        return np.where(has_width, low, np.nan), np.where(has_width, high, np.nan)


def correct(tests: PairTests, method: str, confidence_level: float) -> PairTests:
    """Return the tests with corrected P-values and the limits of the simultaneous intervals."""
    # limits that hold for all pairs together
    ends = tests.bound(confidence_level)
    low, high = tests.leave_out_points(*ends)
    n_points = int(np.sum(np.isnan(low) & ~np.isnan(ends[0])))
    if n_points:
        warn_undefined(
            "The interval is undefined (nan): the values of "
            f"{count(n_points, 'difference')} do not vary."
        )
    fields = {"pvalue_alone": tests.pvalue, **tests.fields}
    # the uncorrected P-values stay as further results
    pvalue = tests.pvalue if METHODS[method].simultaneous else paired.holm(tests.pvalue)
    return replace(tests, pvalue=pvalue, fields=fields, low=low, high=high)


def list_pairs(n_names: int) -> NDArray[np.intp]:
    """Return the positions of both systems of each pair, shape (n_pairs, 2)."""
    return np.column_stack(np.triu_indices(n_names, 1))


def place_of_pair(a: int, b: int, n_names: int) -> int:
    """Return the position of the pair a < b in the order of `itertools.combinations`."""
    return a * (2 * n_names - a - 1) // 2 + b - a - 1


def join_tests(
    difference: Any,
    tests: Sequence[PairedTest],
    interval: str,
    fields: Mapping[str, Column] = MappingProxyType({}),
    shared: Mapping[str, Any] = MappingProxyType({}),
    omnibus: Test | None = None,
) -> PairTests:
    """Return the tests of single pairs as one; `difference` has an entry for each pair."""
    return PairTests(
        np.array(difference, dtype=float),
        np.array([test.standard_error for test in tests], dtype=float),
        np.array([test.statistic for test in tests], dtype=float),
        np.array([test.pvalue for test in tests], dtype=float),
        interval,
        partial(_limits_of_tests, [test.limits for test in tests]),
        fields=dict(fields),
        shared=dict(shared),
        omnibus=omnibus,
    )


def _limits_of_tests(limits: list[Any], confidence_level: float, pairs: Places) -> Ends:
    ends = np.array([limits[pair](confidence_level) for pair in pairs.tolist()], dtype=float)
    low, high = ends.reshape(-1, 2).T
    return low, high


def corrected_t(
    scores: Floats, test_train_ratio: float, alternative: str = "two-sided"
) -> PairTests:
    """Apply the corrected resampled t-test to scores of splits.

    With a ratio of 0, it is Student's t-test of the differences.
    """
    values, pairs = scores.mean(axis=0), list_pairs(scores.shape[1])
    tests = [
        paired.corrected_t(paired.differences_of(scores[:, pair]), test_train_ratio, alternative)
        for pair in pairs
    ]
    if any(test.standard_error == 0 for test in tests):
        warn_undefined(
            "The difference is the same on every split and has no variance: the interval is nan, "
            "and so is the P-value unless the scores are equal."
        )
    return join_tests(values[pairs[:, 0]] - values[pairs[:, 1]], tests, "corrected_t")


def mcnemar(counted: Right, alternative: str = "two-sided") -> PairTests:
    """Apply McNemar's test to the samples that only one of two classifiers predicts correctly."""
    both, pairs = counted.both, list_pairs(len(counted.right))
    first, second = pairs.T
    # discordant samples of each pair
    only_a = (np.diag(both)[first] - both[first, second]).astype(int).tolist()
    only_b = (np.diag(both)[second] - both[first, second]).astype(int).tolist()
    fields: dict[str, Any] = {"only_a": only_a, "only_b": only_b, "form": ["t"] * len(pairs)}
    if counted.group is None:
        n = counted.right.shape[1]
        of_pairs = [
            paired.mcnemar(a, b, n, alternative) for a, b in zip(only_a, only_b, strict=True)
        ]
        tests, fields["form"] = zip(*of_pairs, strict=True)
    else:
        of_groups = [paired.grouped_mcnemar(counted, a, b, alternative) for a, b in pairs.tolist()]
        tests, spreads = zip(*of_groups, strict=True)
        fields |= {name: [each.groups[name] for each in spreads] for name in spreads[0].groups}
    return join_tests(counted.rates[first] - counted.rates[second], tests, "mcnemar", fields)


def cochran_q(counted: Right, alternative: str = "two-sided") -> PairTests:
    """Apply Cochran's Q test (with groups, Hotelling's F) to all, then McNemar's test to pairs."""
    right, of_groups = counted.right, counted.group is not None
    if of_groups:
        statistic, pvalue = paired.grouped_cochran(counted)
    else:
        statistic = paired.cochran_q_statistic(right)
        pvalue = float(stats.chi2.sf(statistic, len(right) - 1))
    omnibus = Test(
        name="F" if of_groups else "Q",
        statistic=statistic,
        pvalue=pvalue,
        method="Hotelling's F of groups" if of_groups else "Cochran's Q",
        details={"n_discordant": int(np.sum(right.any(axis=0) & ~right.all(axis=0)))},
    )
    return replace(mcnemar(counted, alternative), omnibus=omnibus)


def delong(values: Floats, spread: Spread, alternative: str = "two-sided") -> PairTests:
    """Apply DeLong's test to areas under ROC curves, from their covariance."""
    pairs, degrees = list_pairs(len(values)), spread.degrees_of_freedom
    tests = [
        paired.paired_delong(
            values[pair], spread.covariance[np.ix_(pair, pair)], alternative, degrees
        )
        for pair in pairs
    ]
    difference = values[pairs[:, 0]] - values[pairs[:, 1]]
    return join_tests(difference, tests, "delong", shared=spread.groups)


def bootstrap(values: Floats, resampled: Floats, alternative: str = "two-sided") -> PairTests:
    """Bootstrap the differences of scores, (n_names, n_resamples), on the same resamples."""
    pairs, tests = list_pairs(len(values)), []
    differences = values[pairs[:, 0]] - values[pairs[:, 1]]
    replicates = resampled[pairs[:, 0]] - resampled[pairs[:, 1]]
    for value, row in zip(differences.tolist(), replicates, strict=True):
        warn_of_undefined(row)
        defined = row[~np.isnan(row)]
        if len(defined) < 2:
            raise ValueError("the score must be defined on at least two resamples.")
        tests.append(paired.paired_bootstrap(value, defined, alternative))
    return join_tests(differences, tests, "bootstrap", {"replicates": replicates})


def permutation(
    values: Floats, resampled: Floats, exchanged: Floats, alternative: str = "two-sided"
) -> PairTests:
    """Compare differences with those after exchanges, (n_pairs, n_resamples), of predictions.

    The P-value comes from the exchanges, and the interval from the bootstrap.
    """
    tests = bootstrap(values, resampled, alternative)
    pvalues = [
        paired.exchange_pvalue(value, row, alternative)
        for value, row in zip(tests.difference.tolist(), exchanged, strict=True)
    ]
    fields = {"replicates": exchanged}
    return replace(tests, statistic=tests.difference, pvalue=np.array(pvalues), fields=fields)


class Joint(NamedTuple):
    """Scores of all systems, shape (n_names,), and their covariance.

    Attributes
    ----------
    values : ndarray of shape (n_names,)
    covariance : ndarray of shape (n_names, n_names)
        Covariance due to the samples or groups, which all systems share.
    degrees_of_freedom : float
        Degrees of freedom of the covariance; infinity for a normal quantile.
    n_rates : int or None
        Number of samples if all scores are 0 or 1.
    n_groups : int or None
        Number of groups; None for independent samples.
    groups : dict
        Attributes of a result that describe its groups.
    """

    values: Floats
    covariance: Floats
    degrees_of_freedom: float
    n_rates: int | None = None
    n_groups: int | None = None
    groups: Mapping[str, Any] = MappingProxyType({})


def max_t(joint: Joint, root: SeedSequence, alternative: str = "two-sided") -> PairTests:
    """Compare all pairs by the largest t statistic, with the covariance of all scores.

    If samples score 0 or 1, the interval is Agresti and Min's, which adds half a sample to each
    cell. With groups, it uses the variance between groups instead of the binomial variance.
    """
    values, n, k = joint.values, joint.n_rates, len(joint.values)
    pairs = list_pairs(k)
    first, second = pairs.T
    # variance of each difference
    variances = shared = paired.variance_of_pairs(joint.covariance, pairs)
    differences = values[first] - values[second]
    differences[np.abs(differences) <= EQUAL * np.abs(values).max()] = 0.0  # of rounding
    # Agresti and Min add half a sample to each cell
    centers, bounds = differences, (-np.inf, np.inf)
    if n is not None:
        variances = (n**2 * variances + 1 + 2 * n * centers**2 / (n + 2)) / (n + 2) ** 2
        centers, bounds = centers * n / (n + 2), paired.BOUNDS
    degrees = np.full(len(pairs), joint.degrees_of_freedom)
    # t statistics of the pairs
    errors = np.sqrt(variances)
    with np.errstate(invalid="ignore", divide="ignore"):
        statistics = np.where(centers == 0, 0.0, centers / errors)
    # differences that do not vary have no test
    statistics[(centers != 0) & (errors <= EQUAL * np.abs(centers))] = np.nan
    # P-value of each pair by itself; exact for few discordant samples
    sides = {"greater": statistics, "less": -statistics}
    alone = stats.t.sf(sides.get(alternative, np.abs(statistics)), degrees)
    if alternative == "two-sided":
        alone = 2 * alone
    if k == 2 and n is not None and joint.n_groups is None:
        exact = paired.exact_of_few(n, differences, shared, alternative)
        alone = np.maximum(alone, exact)
    # with more than two systems, step down from the largest statistic
    pvalues, level_of_each = alone, None
    if k > 2:
        rng = np.random.default_rng(root)
        drawn = paired.draw_contrasts(joint.covariance, pairs, rng)
        pvalues, largest = paired.step_down(stats.norm.isf(alone / 2), drawn)
        pvalues[np.isnan(alone)] = np.nan
        level_of_each = paired.SimultaneousLevel(largest)
    return PairTests(
        differences,
        errors,
        statistics,
        pvalues,
        "max_t",
        partial(_normal_limits, centers, errors, degrees, bounds),
        level_of_each,
        fields={"pvalue_alone": alone},
        shared=dict(joint.groups),
    )


def _normal_limits(
    centers: Floats,
    errors: Floats,
    degrees: Floats,
    bounds: tuple[float, float],
    confidence_level: float,
    pairs: Places,
) -> Ends:
    """Return normal or Student's limits of some pairs."""
    # one quantile for each number of degrees of freedom
    distinct, place = np.unique(degrees[pairs], return_inverse=True)
    quantiles = [intervals.normal_quantile(confidence_level, one) for one in distinct.tolist()]
    half = np.array(quantiles)[place] * errors[pairs]
    return np.clip(centers[pairs] - half, *bounds), np.clip(centers[pairs] + half, *bounds)


def describe_each(
    joint: Joint, confidence_level: float, root: SeedSequence
) -> tuple[Floats, Floats, Floats]:
    """Return the standard error and the ends of the interval of each score; Wilson's for rates.

    The intervals of more than two systems are simultaneous, by the quantile of the largest
    deviation, so that one of them may be chosen after looking at the scores.
    """
    k = len(joint.values)
    if k > 2:
        against_truth = np.pad(joint.covariance, (0, 1))  # which is fixed
        pairs = np.array([(at, k) for at in range(k)])
        drawn = paired.draw_contrasts(against_truth, pairs, np.random.default_rng(root))
        confidence_level = paired.level_of_largest(drawn.largest, confidence_level)
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
    """Test the differences of scores in time order by blocks of consecutive samples."""
    differences = [paired.differences_of(scores[:, pair]) for pair in list_pairs(scores.shape[1])]
    tests = [blocks_test(each, alternative) for each in differences]
    if any(np.isnan(test.pvalue) for test in tests):
        warn_undefined(
            "The blocks of time do not differ, or neighboring samples are so strongly correlated "
            "that they amount to fewer than three blocks: the test is undefined."
        )
    return join_tests([each.mean() for each in differences], tests, "time_blocks")


def diebold_mariano(scores: Floats, alternative: str = "two-sided", horizon: int = 1) -> PairTests:
    """Test the differences of scores of forecasts some steps ahead."""
    differences = [paired.differences_of(scores[:, pair]) for pair in list_pairs(scores.shape[1])]
    tests = [test_horizon(each, horizon, alternative) for each in differences]
    if any(np.isnan(test.pvalue) for test in tests):
        warn_undefined(
            f"The variance over horizon={horizon} is not above 0: the test is undefined."
        )
    means, shared = [each.mean() for each in differences], {"horizon": horizon}
    return join_tests(means, tests, "diebold_mariano", shared=shared)


def wilcoxon(scores: Floats, confidence_level: float = 0.95) -> PairTests:
    """Apply Wilcoxon's signed-rank test to scores of data sets; a missing score is nan.

    The limits at this level are computed with the tests.
    """
    first, second = list_pairs(scores.shape[1]).T
    differences = (scores[:, first] - scores[:, second]).T
    # signed ranks at Bonferroni's level
    level = paired.simultaneous_level(confidence_level, len(differences))
    tested = _test_signed_ranks(differences, level)
    omnibus = None
    if scores.shape[1] > 2:
        test = ranks.skillings_mack if np.isnan(scores).any() else ranks.friedman
        omnibus = test(ranks.rank_rows(scores))
    return PairTests(
        tested.estimate,
        np.full(len(differences), np.nan),
        tested.effect_size,
        tested.pvalue,
        "wilcoxon",
        partial(_signed_rank_limits, differences, level, (tested.low, tested.high)),
        fields={"effect_size": tested.effect_size, "n_equal": tested.n_equal},
        allow_point=True,
        omnibus=omnibus,
    )


def _test_signed_ranks(differences: Floats, confidence_level: float) -> ranks.SignedRankTests:
    """Return the tests of rows of differences, each without its missing ones."""
    if not np.isnan(differences).any():
        return ranks.signed_rank_tests(differences, confidence_level)
    rows = [row[np.isfinite(row)][None] for row in differences]
    tests = [ranks.signed_rank_tests(row, confidence_level) for row in rows]
    return ranks.SignedRankTests(*map(np.concatenate, zip(*tests, strict=True)))


def _signed_rank_limits(
    differences: Floats, known_level: float, ends: Ends, confidence_level: float, pairs: Places
) -> Ends:
    if confidence_level == known_level:
        return ends[0][pairs], ends[1][pairs]
    tested = _test_signed_ranks(differences[pairs], confidence_level)
    return tested.low, tested.high


def nemenyi(scores: Floats, confidence_level: float = 0.95) -> PairTests:
    """Apply Nemenyi's test to distances of mean ranks, with the intervals of Wilcoxon's test."""
    tests, means = wilcoxon(scores, confidence_level), ranks.rank_rows(scores).mean(axis=0)
    first, second = list_pairs(scores.shape[1]).T
    # distances of mean ranks; a lower rank is better
    pvalue = ranks.nemenyi_pvalues(np.abs(means[first] - means[second]), *scores.shape)
    fields = {"effect_size": tests.fields["effect_size"]}
    return replace(tests, statistic=means[second] - means[first], pvalue=pvalue, fields=fields)


def compare_study(study: ReaderStudy, alternative: str = "two-sided") -> PairTests:
    """Apply the analysis of variance of readers and cases."""
    values, pairs = study.values.mean(axis=1), list_pairs(len(study.values))
    differences = values[pairs[:, 0]] - values[pairs[:, 1]]
    # Student's test with the variance of readers and cases
    spreads = [study.of_difference(a, b) for a, b in pairs.tolist()]
    tests = [
        paired.student_test(value, spread.error, spread.degrees_of_freedom, alternative)
        for value, spread in zip(differences.tolist(), spreads, strict=True)
    ]
    omnibus = None
    if len(values) > 2 and study.random_readers:
        statistic, pvalue = study.test_equality()
        omnibus = Test(name="F", statistic=statistic, pvalue=pvalue, method="equal systems")
    fields = {"degrees_of_freedom": [spread.degrees_of_freedom for spread in spreads]}
    return join_tests(differences, tests, "t", fields, omnibus=omnibus)


@dataclass(frozen=True)
class ComparisonMethod:
    """A test for comparisons.

    Attributes
    ----------
    title : str
        Name of the test in sentences.
    test : callable
        Function of arrays that returns `PairTests`.
    scope : str
        Sentence on its conditions.
    scoring : str or None
        The only score that it tests, of classes; None for any score, also of regressors.
    independent : bool
        Whether it assumes independent samples, and therefore does not accept groups.
    over_datasets : bool
        Whether it compares scores on data sets, always two-sided and at the level of Demsar (2006),
        which may exceed 5 %.
    simultaneous : bool
        Whether its P-values account for all pairs.
    work : str
        Reference for the methods section.
    """

    title: str
    test: Callable[..., PairTests]
    scope: str = ""
    scoring: str | None = None
    independent: bool = False
    over_datasets: bool = False
    simultaneous: bool = False
    work: str = ""

    def level(self, confidence_level: float) -> float:
        """Return the significance level that belongs to a confidence level."""
        if self.over_datasets:
            return 1 - confidence_level
        return paired.significance_level(confidence_level)


RULES = "This applies to these predictions; variation from retraining is not included."
DATASETS = "This applies to data sets like these, not to a single data set."
MEAN_RANKS = f"The mean ranks of two systems depend on which others are compared. {DATASETS}"

METHODS = {
    "corrected_t": ComparisonMethod(
        "corrected resampled t",
        corrected_t,
        work="C. Nadeau, Y. Bengio (2003), https://doi.org/10.1023/A:1024068626366",
    ),
    "permutation": ComparisonMethod("paired permutation", permutation, RULES),
    "bootstrap": ComparisonMethod("paired bootstrap", bootstrap, RULES),
    "max_t": ComparisonMethod(
        "largest t of all pairs",
        max_t,
        RULES,
        simultaneous=True,
        work="M. Mogstad, J. P. Romano, A. M. Shaikh, D. Wilhelm (2024), "
        "https://doi.org/10.1093/restud/rdad006",
    ),
    "mcnemar": ComparisonMethod(
        "McNemar's test",
        mcnemar,
        RULES,
        "accuracy",
        work="interval: A. Agresti, Y. Min (2005), https://doi.org/10.1002/sim.1781",
    ),
    "cochran_q": ComparisonMethod("McNemar's test after Cochran's Q", cochran_q, RULES, "accuracy"),
    "delong": ComparisonMethod(
        "DeLong's test",
        delong,
        RULES,
        "roc_auc",
        work="E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson (1988), "
        "https://doi.org/10.2307/2531595",
    ),
    "obuchowski_rockette": ComparisonMethod(
        "analysis of variance of readers and cases",
        compare_study,
        "This applies to readers and cases like these.",
        work="S. L. Hillis (2007), https://doi.org/10.1002/sim.2532",
    ),
    "fixed_readers": ComparisonMethod(
        "normal test of cases with fixed readers",
        compare_study,
        "This applies to these readers, with cases like these.",
    ),
    "time_blocks": ComparisonMethod("blocks of time", time_blocks, RULES, independent=True),
    "diebold_mariano": ComparisonMethod(
        "Diebold and Mariano's test",
        diebold_mariano,
        RULES,
        independent=True,
        work="F. X. Diebold, R. S. Mariano (1995), https://doi.org/10.1080/07350015.1995.10524599",
    ),
    "wilcoxon": ComparisonMethod(
        "Wilcoxon's signed-rank test", wilcoxon, DATASETS, over_datasets=True
    ),
    "nemenyi": ComparisonMethod(
        "Nemenyi's test", nemenyi, MEAN_RANKS, over_datasets=True, simultaneous=True
    ),
}
"""Tests by the name of the method."""
