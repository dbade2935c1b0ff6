"""Tests for comparisons: one function each, and a table of their names and conditions.

A test takes the compared systems and its evidence, such as the scores of splits or the correctly
predicted samples, and returns a `Comparison` of all pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray
from scipy import stats
from sklearn.base import is_classifier

from skeval._inference import intervals, paired
from skeval._inference.estimate import Limits, Test
from skeval._inference.intervals import Spread
from skeval._inference.ordered import blocks_test, diebold_mariano
from skeval._inference.paired import PairedTest, Right
from skeval._inference.ranks import (
    critical_difference,
    describe_friedman,
    mean_rank_pvalues,
    nemenyi_pvalues,
    rank_rows,
    signed_rank_test,
    signed_rank_tests,
)
from skeval._inference.readers import ReaderStudy
from skeval._resampling.resampled_statistics import warn_of_undefined
from skeval.metrics import get_scorer
from skeval.model_selection._comparison import (
    MAX_LISTED,
    Comparison,
    Difference,
    LazyDifferences,
    PairTable,
    place_of_pair,
    tabulate_normal,
)
from skeval.utils._checks import check_methods, check_option, naming, warn_undefined
from skeval.utils._text import name_estimators

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Systems:
    """The compared systems, the hypothesis for all pairs, and the confidence level.

    `n_samples` is None for scores of an unknown number of samples.
    """

    names: tuple[str, ...]
    scoring: str = "score"
    n_samples: int | None = None
    alternative: str = "two-sided"
    confidence_level: float = 0.95
    correction: str = "holm"
    greater_is_better: bool = True
    root: SeedSequence = field(default_factory=SeedSequence)


@dataclass(frozen=True)
class ComparisonMethod:
    """A test for comparisons.

    Attributes
    ----------
    name : str
        Value of the argument `method`, and of the attribute of the result.
    title : str
        Name of the test in sentences.
    needs : str
        Name of its evidence.
    test : callable
        ``test(systems, row, *evidence) -> Comparison``.
    scoring : str or None
        The only score that it tests; None for any score.
    of_classes : bool
        Whether it compares predicted classes, and therefore does not accept regressors.
    independent : bool
        Whether it assumes independent samples, and therefore does not accept groups.
    one_sided : bool
        Whether it can test one side.
    simultaneous : bool
        Whether its P-values account for all pairs.
    level : callable
        Function of the confidence level that returns the significance level.
    scope : str
        Sentence on its conditions.
    """

    name: str
    title: str
    needs: str
    test: Callable[..., Comparison]
    scoring: str | None = None
    of_classes: bool = False
    independent: bool = False
    one_sided: bool = True
    simultaneous: bool = False
    level: Callable[[float], float] = paired.significance_level
    scope: str = ""


def compare(systems: Systems, method: str, *evidence: Any) -> Comparison:
    """Return the comparison of all pairs by a test."""
    return METHODS[method].test(systems, METHODS[method], *evidence)


def check_choices(kinds: Collection[str], method: str, alternative: str) -> None:
    """Raise unless the method uses one of these kinds of evidence, and the alternative is valid."""
    methods = [name for name, row in METHODS.items() if row.needs in kinds]
    check_option("method", method, ("auto", *methods))
    check_option("alternative", alternative, paired.ALTERNATIVES)


def check_method(method: str, alternative: str, n_names: int) -> None:
    """Raise unless a method can test this alternative for this number of systems."""
    row = METHODS[method]
    if alternative != "two-sided" and (n_names > 2 or not row.one_sided):
        what = f"method={method!r}" if not row.one_sided else f"more than two, here {n_names}"
        raise ValueError(f"alternative must be 'two-sided' for {what}, got {alternative!r}.")


def check_named(name: str, things: Any, minimum: int) -> None:
    """Raise unless an argument is a dict with a minimum number of names."""
    named = isinstance(things, Mapping) and all(isinstance(key, str) for key in things)
    if not named or len(things) < minimum:
        got = f"the keys {list(things)!r}" if isinstance(things, Mapping) else repr(things)
        raise TypeError(f"{name} must be a dict of {minimum} names (str) at least, got {got}.")


def name_listed(argument: str, things: Any, noun: str = "") -> dict[str, Any]:
    """Return two or more items by name; a list has names from a noun, or from its estimators."""
    if isinstance(things, list | tuple):
        if len(things) < 2:
            raise TypeError(f"{argument} must hold two at least, got {len(things)}.")
        numbered = [f"{noun} {number}" for number in range(1, 1 + len(things))]
        return dict(zip(numbered if noun else name_estimators(*things), things, strict=True))
    if isinstance(things, Mapping):
        check_named(argument, things, 2)
        return dict(things)
    shape = f" of shape {np.shape(things)}" if hasattr(things, "shape") else ""
    raise TypeError(
        f"{argument} must be a dict or a list of two at least, got {type(things).__name__}{shape}; "
        f"the order of arguments is {ORDERS[argument]}."
    )


ORDERS = {
    "estimators": "compare_classifiers(estimators, X, y)",
    "predictions": "compare_predictions(y_true, predictions)",
    "scores": "compare_scores(scores), and over='datasets' takes arrays",
}
"""Calls of the functions that compare a dict or list."""


def check_estimators(name: str, estimators: Mapping[str, Any], method: str, groups: Any) -> None:
    """Raise unless the method can compare the estimators, with `groups` if they are passed."""
    row = METHODS[method]
    for key, estimator in estimators.items():
        check_methods(f"{name}[{key!r}]", estimator, "fit", "predict", "get_params")
    kinds = {is_classifier(estimator) for estimator in estimators.values()}
    classes = [type(estimator).__name__ for estimator in estimators.values()]
    if len(kinds) > 1:
        raise TypeError(
            f"{name} must all be classifiers or all be regressors, got {' and '.join(classes)}."
        )
    if row.of_classes and kinds == {False}:
        raise TypeError(
            f"method={method!r} must be given classifiers, got {classes[0]}; "
            "'corrected_t' and 'bootstrap' take regressors."
        )
    if groups is not None and row.independent:
        raise ValueError(
            f"groups must be None for method={method!r}, which takes samples for independent; "
            "method='bootstrap' draws whole groups, 'corrected_t' holds whole groups out."
        )


def choose_scoring(method: str, scoring: Any, estimator: Any) -> Any:
    """Return the score that a method tests; raise if the requested one is different."""
    fixed = METHODS[method].scoring
    if fixed is not None and scoring not in (None, fixed):
        raise ValueError(f"method={method!r} tests scoring={fixed!r}, got {scoring!r}.")
    if scoring is None and fixed is None:
        return "accuracy" if is_classifier(estimator) else "r2"
    return fixed or scoring


def resolve_scorer(scoring: Any) -> Any:
    """Return the scorer with this name; other scorers are returned unchanged."""
    with naming("scoring"):
        return get_scorer(scoring) if isinstance(scoring, str) else scoring


PairTest = tuple[float, PairedTest, dict[str, Any]]
"""Difference of two systems, its test, and further fields of `Difference`."""


def compare_pairs(
    systems: Systems,
    row: ComparisonMethod,
    values: Floats,
    test_pair: Callable[[int, int], PairTest],
    *,
    interval: str = "",
    level_of_each: Callable[[float], float] | None = None,
    tabulate: Callable[[float], PairTable] | None = None,
    **fields: Any,
) -> Comparison:
    """Return the comparison of all pairs, with simultaneous intervals and corrected P-values.

    `test_pair` compares the systems at two positions, and `interval` is the name of its interval.
    `level_of_each` converts the simultaneous level of all intervals to the level of a single one,
    by default with Bonferroni's inequality. For many systems, `tabulate` returns a table of all
    pairs at the latter level, and each `Difference` is created on access.
    """
    names, k = systems.names, len(systems.names)
    correction = "none" if row.simultaneous else systems.correction
    level_of_each = level_of_each or partial(
        paired.simultaneous_level, n_intervals=k * (k - 1) // 2
    )
    shared = list_conditions(systems, row)
    make = partial(make_difference, systems, row, interval or row.name, level_of_each)
    differences: Mapping[tuple[str, str], Difference]
    if tabulate is None or k <= MAX_LISTED:
        places = list(combinations(range(k), 2))
        table, results = None, [test_pair(*two) for two in places]
        alone = np.array([test.pvalue for _, test, _ in results])
        pvalues = paired.adjust_pvalues(alone, correction).tolist()
        differences = {
            (names[a], names[b]): make((a, b), result, pvalue)
            for (a, b), result, pvalue in zip(places, results, pvalues, strict=True)
        }
    else:
        table = tabulate(level_of_each(systems.confidence_level))
        adjusted = paired.adjust_pvalues(table.pvalue, correction)
        table = table._replace(pvalue=adjusted)

        def read(a: int, b: int) -> Difference:
            return make((a, b), test_pair(a, b), float(adjusted[place_of_pair(a, b, k)]))

        differences = LazyDifferences(names, read)
    return Comparison(
        names=names,
        values=np.asarray(values, dtype=float),
        differences=differences,
        table=table,
        scoring=systems.scoring,
        title=row.title,
        correction=correction,
        familywise=row.simultaneous or systems.correction != "none",
        **fields,
        **shared,
    )


def list_conditions(systems: Systems, row: ComparisonMethod) -> dict[str, Any]:
    """Return the attributes that a comparison shares with its differences."""
    return {
        "method": row.name,
        "confidence_level": systems.confidence_level,
        "level": row.level(systems.confidence_level),
        "scope": row.scope,
        "greater_is_better": systems.greater_is_better,
    }


def make_difference(
    systems: Systems,
    row: ComparisonMethod,
    interval: str,
    level_of_each: Callable[[float], float],
    places: tuple[int, int],
    result: PairTest,
    pvalue: float,
) -> Difference:
    """Return the difference of two systems, with a simultaneous interval and P-value."""
    value, test, details = result
    a, b = (systems.names[place] for place in places)
    return Difference(
        name=f"{systems.scoring}: {a} - {b}",
        a=a,
        b=b,
        value=value,
        standard_error=test.standard_error,
        statistic=test.statistic,
        pvalue=pvalue,
        limits={interval: partial(limits_of_each, test.limits, level_of_each)},
        alternative=systems.alternative,
        n_samples=systems.n_samples,
        **({"pvalue_alone": test.pvalue} | details | list_conditions(systems, row)),
    )


def limits_of_each(
    limits: Callable[[float], Limits],
    level_of_each: Callable[[float], float],
    confidence_level: float,
) -> Limits:
    """Return the limits of one of many intervals with a simultaneous level."""
    return limits(level_of_each(confidence_level))


def compare_splits(
    systems: Systems, row: ComparisonMethod, scores: Floats, test_train_ratio: float
) -> Comparison:
    """Apply the corrected resampled t-test.

    The scores have shape (n_splits, n_names). With a ratio of 0, the first is Student's t-test of
    the differences.
    """
    values = scores.mean(axis=0)

    def test_pair(a: int, b: int) -> PairTest:
        differences = paired.differences_of(scores[:, [a, b]])
        test = paired.corrected_t(differences, test_train_ratio, systems.alternative)
        if test.standard_error == 0:
            warn_undefined(
                "The difference is the same on every split and has no variance: the interval "
                "is nan, and so is the P-value unless the scores are equal."
            )
        return float(values[a] - values[b]), test, {}

    details: dict[str, Any] = {"split_scores": scores, "test_train_ratio": test_train_ratio}
    return compare_pairs(systems, row, values, test_pair, **details)


def compare_right(
    systems: Systems, row: ComparisonMethod, counted: Right, omnibus: Test | None = None
) -> Comparison:
    """Apply McNemar's test to the samples that only one of two classifiers predicts correctly."""
    both, n = counted.both, counted.right.shape[1]

    def test_pair(a: int, b: int) -> PairTest:
        only_a, only_b = int(both[a, a] - both[a, b]), int(both[b, b] - both[a, b])
        if counted.group is None:
            test, form = paired.mcnemar(only_a, only_b, n, systems.alternative)
            groups: dict[str, Any] = {}
        else:
            test, spread = paired.grouped_mcnemar(counted, a, b, systems.alternative)
            form, groups = "t", spread.groups
        fields = {"form": form, "only_a": only_a, "only_b": only_b} | groups
        return float(counted.rates[a] - counted.rates[b]), test, fields

    rates = counted.rates
    return compare_pairs(systems, row, rates, test_pair, interval="mcnemar", omnibus=omnibus)


def compare_right_of_all(systems: Systems, row: ComparisonMethod, counted: Right) -> Comparison:
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
    return compare_right(systems, row, counted, omnibus)


def compare_areas(
    systems: Systems,
    row: ComparisonMethod,
    values: Floats,
    spread: Spread,
    of_same_samples: bool = True,
) -> Comparison:
    """Apply DeLong's test to areas under ROC curves, given their covariance."""

    def test_pair(a: int, b: int) -> PairTest:
        covariance = spread.covariance[np.ix_([a, b], [a, b])]
        test = paired.paired_delong(
            values[[a, b]], covariance, systems.alternative, spread.degrees_of_freedom
        )
        return float(values[a] - values[b]), test, {"paired": of_same_samples, **spread.groups}

    return compare_pairs(systems, row, values, test_pair)


class Joint(NamedTuple):
    """Scores of all systems, shape (n_names,), and their covariance.

    Attributes
    ----------
    values : ndarray of shape (n_names,)
    covariance : ndarray of shape (n_names, n_names)
        Covariance due to the samples or groups, which all systems share.
    degrees_of_freedom : float
        Degrees of freedom of the covariance; infinity for a normal quantile.
    own : ndarray of shape (n_names,)
        Variance of the mean over seeds of each system; with more than two systems, the variance
        of a run is pooled.
    seed_degrees : float
        Degrees of freedom of the variance of a difference due to seeds.
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
    own: Floats
    seed_degrees: float
    n_rates: int | None = None
    n_groups: int | None = None
    groups: Mapping[str, Any] = MappingProxyType({})


def compare_joint(systems: Systems, row: ComparisonMethod, joint: Joint) -> Comparison:
    """Compare all pairs by the largest t statistic, with the covariance of all scores.

    If samples score 0 or 1, the interval is Agresti and Min's, which adds half a sample to each
    cell. With groups, it uses the variance between groups instead of the binomial variance.
    """
    values, n, k = joint.values, joint.n_rates, len(joint.values)
    pairs = np.column_stack(np.triu_indices(k, 1))
    first, second = pairs.T
    own = joint.own[first] + joint.own[second]
    shared = paired.variance_of_pairs(joint.covariance, pairs)
    differences = values[first] - values[second]
    differences[np.abs(differences) <= paired.EQUAL * np.abs(values).max()] = 0.0  # of rounding
    centers, variances, bounds = differences, shared + own, (-np.inf, np.inf)
    if n is not None:
        variances = (n**2 * variances + 1 + 2 * n * centers**2 / (n + 2)) / (n + 2) ** 2
        centers, bounds = centers * n / (n + 2), paired.BOUNDS
    degrees = np.full(len(pairs), joint.degrees_of_freedom)
    if own.any():  # Satterthwaite
        parts = own**2 / joint.seed_degrees + shared**2 / degrees
        degrees = np.divide(variances**2, parts, out=degrees, where=parts > 0)
    errors = np.sqrt(variances)
    with np.errstate(invalid="ignore", divide="ignore"):
        statistics = np.where(centers == 0, 0.0, centers / errors)
    # differences that do not vary have no test
    statistics[(centers != 0) & (errors <= paired.EQUAL * np.abs(centers))] = np.nan
    sides = {"greater": statistics, "less": -statistics}
    alone = stats.t.sf(sides.get(systems.alternative, np.abs(statistics)), degrees)
    if systems.alternative == "two-sided":
        alone = 2 * alone
    if k == 2 and n is not None and joint.n_groups is None:
        exact = paired.exact_of_few(n, differences, shared, systems.alternative)
        alone = np.maximum(alone, exact)
    pvalues, level_of_each = alone, None
    if k > 2:
        rng = np.random.default_rng(systems.root)
        drawn = paired.draw_contrasts(joint.covariance + np.diag(joint.own), pairs, rng)
        pvalues, largest = paired.step_down(stats.norm.isf(alone / 2), drawn)
        pvalues[np.isnan(alone)] = np.nan
        level_of_each = paired.SimultaneousLevel(largest)

    def test_pair(a: int, b: int) -> PairTest:
        at = place_of_pair(a, b, k)
        center, error, freedom = float(centers[at]), float(errors[at]), float(degrees[at])
        options: dict[str, Any] = {"bounds": bounds, "degrees_of_freedom": freedom}
        limits = partial(intervals.normal_interval, center, error, **options)
        test = PairedTest(error, float(statistics[at]), float(pvalues[at]), limits)
        return float(differences[at]), test, {"pvalue_alone": float(alone[at]), **joint.groups}

    numbers = {"pvalue": pvalues, "centers": centers, "errors": errors, "degrees": degrees}
    return compare_pairs(
        systems,
        row,
        values,
        test_pair,
        level_of_each=level_of_each,
        tabulate=partial(tabulate_normal, differences, **numbers, bounds=bounds),
        **describe_each(joint, systems.confidence_level, np.random.default_rng(systems.root)),
    )


def describe_each(
    joint: Joint, confidence_level: float, rng: np.random.Generator
) -> dict[str, Any]:
    """Return the standard error and the interval of each score; rates have Wilson's interval.

    The intervals of more than two systems are simultaneous, by the quantile of the largest
    deviation, so that one of them may be chosen after looking at the scores.
    """
    k = len(joint.values)
    if k > 2:
        against_truth = np.pad(joint.covariance + np.diag(joint.own), (0, 1))  # which is fixed
        pairs = np.array([(at, k) for at in range(k)])
        drawn = paired.draw_contrasts(against_truth, pairs, rng)
        confidence_level = paired.level_of_largest(drawn.largest, confidence_level)
    errors, n = np.sqrt(np.diag(joint.covariance) + joint.own), joint.n_rates
    ends = []
    student: Any = {"degrees_of_freedom": joint.degrees_of_freedom}
    for value, error in zip(joint.values.tolist(), errors.tolist(), strict=True):
        if n is None:
            ends.append(intervals.normal_interval(value, error, confidence_level, **student))
        else:
            size = intervals.effective_size(value, error, n, joint.n_groups)
            ends.append(intervals.wilson_interval(value * size, size, confidence_level, **student))
    lows, highs = np.array(ends).T
    return {"standard_errors": errors, "lows": lows, "highs": highs}


def compare_resampled(
    systems: Systems,
    row: ComparisonMethod,
    values: Floats,
    resampled: Floats,
    exchange: Callable[[int, int], Floats] | None = None,
) -> Comparison:
    """Bootstrap the differences of scores, shape (n_names, n_resamples), on the same resamples.

    `exchange` returns the differences of a pair after exchanges of the two predictions. With it,
    the P-value comes from the exchanges, and the interval from the bootstrap.
    """

    def test_pair(a: int, b: int) -> PairTest:
        value, replicates = float(values[a] - values[b]), resampled[a] - resampled[b]
        warn_of_undefined(replicates)
        defined = replicates[~np.isnan(replicates)]
        if len(defined) < 2:
            raise ValueError("the score must be defined on two resamples at least, it is on fewer.")
        test = paired.paired_bootstrap(value, defined, systems.alternative)
        if exchange is not None:
            replicates = exchange(a, b)
            pvalue = paired.exchange_pvalue(value, replicates, systems.alternative)
            test = test._replace(statistic=value, pvalue=pvalue)
        return value, test, {"replicates": replicates}

    return compare_pairs(systems, row, values, test_pair, interval="bootstrap")


TimeTest = Callable[[Floats, int, str], tuple[PairedTest, dict[str, Any]]]
"""Test of differences in time order with a horizon and an alternative, and fields of the result."""


def compare_in_time(
    systems: Systems,
    row: ComparisonMethod,
    scores: Floats,
    horizon: int = 1,
    *,
    test: TimeTest,
    interval: str = "time_blocks",
    undefined: str = "",
) -> Comparison:
    """Apply a test to the differences of scores in time order, shape (n_names, n_samples).

    `interval` is the name of the interval, `undefined` the reason for a missing P-value.
    """

    def test_pair(a: int, b: int) -> PairTest:
        differences = paired.differences_of(scores[[a, b]].T)
        result, details = test(differences, horizon, systems.alternative)
        if np.isnan(result.pvalue):
            warn_undefined(f"{undefined.format(horizon=horizon)}: the test is undefined.")
        return float(differences.mean()), result, details

    return compare_pairs(systems, row, scores.mean(axis=1), test_pair, interval=interval)


RANK_TESTS = {"nemenyi": nemenyi_pvalues, "mean_ranks": mean_rank_pvalues}
"""P-values of distances of mean ranks."""


def compare_over_datasets(
    systems: Systems, row: ComparisonMethod, scores: Floats, fields: Mapping[str, Any]
) -> Comparison:
    """Apply Wilcoxon's test to scores of data sets, or a test to the distances of mean ranks."""
    n, k = scores.shape
    ranks = rank_rows(scores)
    mean_ranks = ranks.mean(axis=0)
    first, second = np.array(list(combinations(range(k), 2))).T
    of_ranks = None
    if row.name in RANK_TESTS:
        of_ranks = RANK_TESTS[row.name](np.abs(mean_ranks[first] - mean_ranks[second]), n, k)

    def test_pair(a: int, b: int) -> PairTest:
        differences = scores[:, a] - scores[:, b]
        signed = signed_rank_test(differences)
        details: dict[str, Any] = {"effect_size": signed.effect_size}
        pvalue, statistic = signed.pvalue, signed.effect_size
        if of_ranks is None:
            details |= {"n_equal": signed.n_equal}
        else:
            pvalue = float(of_ranks[place_of_pair(a, b, k)])
            statistic = float(mean_ranks[b] - mean_ranks[a])
        test = PairedTest(np.nan, statistic, pvalue, signed.limits)
        return signed.estimate, test, details | {"allow_point": True}

    def tabulate(level: float) -> PairTable:
        tests = signed_rank_tests((scores[:, first] - scores[:, second]).T, level)
        estimate, low, high, pvalue, n_equal = tests
        if of_ranks is not None:
            pvalue, n_equal = of_ranks, np.zeros_like(n_equal)
        return PairTable(estimate, low, high, pvalue, n_equal > 0)

    return compare_pairs(
        systems,
        row,
        scores.mean(axis=0),
        test_pair,
        interval="wilcoxon",
        tabulate=tabulate,
        omnibus=describe_friedman(ranks) if k > 2 else None,
        scores=scores,
        mean_ranks=mean_ranks,
        critical_difference=critical_difference(n, k, systems.confidence_level),
        **fields,
    )


def compare_study(systems: Systems, row: ComparisonMethod, study: ReaderStudy) -> Comparison:
    """Apply the analysis of variance of readers and cases."""
    values = study.values.mean(axis=1)

    def test_pair(a: int, b: int) -> PairTest:
        value, spread = float(values[a] - values[b]), study.of_difference(a, b)
        degrees = spread.degrees_of_freedom
        test = paired.student_test(value, spread.error, degrees, systems.alternative)
        return value, test, {"details": {"degrees_of_freedom": degrees}}

    omnibus = None
    if len(values) > 2 and study.random_readers:
        statistic, pvalue = study.test_equality()
        omnibus = Test(name="F", statistic=statistic, pvalue=pvalue, method="equal systems")
    return compare_pairs(
        systems, row, values, test_pair, interval="t", study=study, omnibus=omnibus
    )


def level_over_datasets(confidence_level: float) -> float:
    """Return the significance level of Demsar (2006), which may exceed 5 %."""
    return 1 - confidence_level


RULES = "This applies to these predictions; variation from retraining is not included."
HALVINGS = (
    "This is based on random splits of these data and does not show how results vary with new data."
)
DATASETS = "This applies to data sets like these, not to a single data set."
MEAN_RANKS = f"The mean ranks of two systems depend on which others are compared. {DATASETS}"
OF_LABELS: dict[str, Any] = {"scoring": "accuracy", "of_classes": True, "scope": RULES}
OF_READERS: dict[str, Any] = {"needs": "readers", "test": compare_study}
IN_TIME: dict[str, Any] = {"needs": "in_time", "independent": True, "scope": RULES}
OVER_DATASETS: dict[str, Any] = {
    "needs": "table",
    "test": compare_over_datasets,
    "one_sided": False,
    "level": level_over_datasets,
}

TEST_OF_BLOCKS = partial(
    compare_in_time,
    test=lambda differences, _, alternative: (blocks_test(differences, alternative), {}),
    undefined="The blocks of time do not differ, or neighboring samples are so strongly correlated "
    "that they amount to fewer than three blocks",
)
TEST_OF_HORIZON = partial(
    compare_in_time,
    test=lambda differences, horizon, alternative: (
        diebold_mariano(differences, horizon, alternative),
        {"horizon": horizon},
    ),
    interval="diebold_mariano",
    undefined="The variance over horizon={horizon} is not above 0",
)

ROWS = (
    ComparisonMethod("corrected_t", "corrected resampled t", "splits", compare_splits),
    ComparisonMethod(
        "halvings", "Student's t of random halvings", "halvings", compare_splits, scope=HALVINGS
    ),
    ComparisonMethod(
        "permutation", "paired permutation", "exchanges", compare_resampled, scope=RULES
    ),
    ComparisonMethod("bootstrap", "paired bootstrap", "draws", compare_resampled, scope=RULES),
    ComparisonMethod(
        "max_t", "largest t of all pairs", "joint", compare_joint, simultaneous=True, scope=RULES
    ),
    ComparisonMethod("mcnemar", "McNemar's test", "right", compare_right, **OF_LABELS),
    ComparisonMethod(
        "cochran_q", "McNemar's test after Cochran's Q", "right", compare_right_of_all, **OF_LABELS
    ),
    ComparisonMethod(
        "delong", "DeLong's test", "areas", compare_areas, **(OF_LABELS | {"scoring": "roc_auc"})
    ),
    ComparisonMethod(
        "obuchowski_rockette",
        "analysis of variance of readers and cases",
        scope="This applies to readers and cases like these.",
        **OF_READERS,
    ),
    ComparisonMethod(
        "fixed_readers",
        "normal test of cases with fixed readers",
        scope="This applies to these readers, with cases like these.",
        **OF_READERS,
    ),
    ComparisonMethod("time_blocks", "blocks of time", test=TEST_OF_BLOCKS, **IN_TIME),
    ComparisonMethod(
        "diebold_mariano", "Diebold and Mariano's test", test=TEST_OF_HORIZON, **IN_TIME
    ),
    ComparisonMethod("wilcoxon", "Wilcoxon's signed-rank test", scope=DATASETS, **OVER_DATASETS),
    ComparisonMethod(
        "nemenyi", "Nemenyi's test", simultaneous=True, scope=MEAN_RANKS, **OVER_DATASETS
    ),
    ComparisonMethod(
        "mean_ranks", "normal distance of mean ranks", scope=MEAN_RANKS, **OVER_DATASETS
    ),
)
METHODS = {row.name: row for row in ROWS}
"""Methods by name."""
