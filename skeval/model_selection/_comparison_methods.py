"""Tests for comparisons, one row each, and the function that applies a test to all pairs.

A test needs one kind of evidence, such as the scores of splits or the correctly predicted samples.
Sources of evidence are estimators, predictions and scores; a source has a method with the name of
each kind that it can give, which also determines its tests (`methods_of`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from scipy import stats
from sklearn.base import is_classifier

from skeval._inference import intervals, paired
from skeval._inference.estimate import Limits, Test
from skeval._inference.ordered import blocks_test, diebold_mariano, giacomini_white
from skeval._inference.paired import PairedTest, Right
from skeval._inference.posteriors import (
    N_DRAWS,
    dirichlet_weights,
    largest_fractions,
    signed_rank_draws,
)
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
    BETTER,
    FORETOLD,
    MAX_LISTED,
    Claim,
    Comparison,
    Difference,
)
from skeval.model_selection._evidence import (
    Areas,
    Draws,
    Findings,
    InTime,
    Joint,
    LazyDifferences,
    Pair,
    PairTable,
    Question,
    Source,
    Splits,
    Table,
    tabulate_normal,
)
from skeval.utils._checks import check_methods, check_option, naming, warn_undefined


def level_over_datasets(confidence_level: float) -> float:
    """Return the significance level of Demsar (2006), which may exceed 5 %."""
    return 1 - confidence_level


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
        Method of a source that returns the evidence.
    judge : callable
        Function of the evidence and a `Question` that returns `Findings`.
    scoring : str or None
        The only score that it tests; None for any score.
    of_classes : bool
        Whether it compares predicted classes and refuses regressors.
    independent : bool
        Whether it assumes independent samples and refuses groups.
    one_sided : bool
        Whether it can test one side.
    simultaneous : bool
        Whether its P-values account for all pairs.
    level : callable
        Function of the confidence level that returns the significance level.
    scope : str
        Sentence on its conditions.
    claim : Claim
        Sentences for its result.
    of_two : bool
        Whether it compares only two systems.
    """

    name: str
    title: str
    needs: str
    judge: Callable[[Any, Question], Findings]
    scoring: str | None = None
    of_classes: bool = False
    independent: bool = False
    one_sided: bool = True
    simultaneous: bool = False
    level: Callable[[float], float] = paired.significance_level
    scope: str = ""
    claim: Claim = BETTER
    of_two: bool = False


def methods_of(source: type[Source]) -> tuple[str, ...]:
    """Return the names of the methods that a kind of source supports."""
    return tuple(name for name, row in METHODS.items() if hasattr(source, row.needs))


def check_choices(source: type[Source], method: str, alternative: str) -> None:
    """Raise unless a source supports the method, and the alternative is valid."""
    check_option("method", method, ("auto", *methods_of(source)))
    check_option("alternative", alternative, paired.ALTERNATIVES)


def check_method(method: str, alternative: str, n_names: int) -> None:
    """Raise unless a method can test this alternative for this number of systems."""
    row = METHODS[method]
    if alternative != "two-sided" and (n_names > 2 or not row.one_sided):
        what = f"method={method!r}" if not row.one_sided else f"more than two, here {n_names}"
        raise ValueError(f"alternative must be 'two-sided' for {what}, got {alternative!r}.")
    if row.of_two and n_names > 2:
        raise ValueError(f"method={method!r} compares two, got {n_names}.")


def check_named(name: str, things: Any, minimum: int) -> None:
    """Raise unless an argument is a dict with a minimum number of names."""
    named = isinstance(things, Mapping) and all(isinstance(key, str) for key in things)
    if not named or len(things) < minimum:
        got = f"the keys {list(things)!r}" if isinstance(things, Mapping) else repr(things)
        raise TypeError(f"{name} must be a dict of {minimum} names (str) at least, got {got}.")


def name_listed(
    argument: str, things: Any, name_all: Callable[..., Sequence[str]]
) -> dict[str, Any]:
    """Return two or more items by name; `name_all` names the items of a list."""
    if isinstance(things, list | tuple):
        if len(things) < 2:
            raise TypeError(f"{argument} must hold two at least, got {len(things)}.")
        return dict(zip(name_all(*things), things, strict=True))
    if isinstance(things, Mapping):
        check_named(argument, things, 2)
        return dict(things)
    raise TypeError(
        f"{argument} must be a dict or a list of two at least, got {type(things).__name__}."
    )


def count_up(noun: str) -> Callable[..., list[str]]:
    """Return a function that names items by a noun and a number."""
    return lambda *things: [f"{noun} {number}" for number in range(1, 1 + len(things))]


def check_estimators(name: str, estimators: Mapping[str, Any], method: str, groups: Any) -> None:
    """Raise unless the method can compare the estimators, also with groups."""
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
    """Return the score that a method tests; raise if it tests another one."""
    fixed = METHODS[method].scoring
    if fixed is not None and scoring not in (None, fixed):
        raise ValueError(f"method={method!r} tests scoring={fixed!r}, got {scoring!r}.")
    if scoring is None and fixed is None:
        return "accuracy" if is_classifier(estimator) else "r2"
    return fixed or scoring


def resolve_scorer(scoring: Any) -> Any:
    """Return the scorer of a name, any other as it is."""
    with naming("scoring"):
        return get_scorer(scoring) if isinstance(scoring, str) else scoring


def compare(source: Source, method: str, question: Question) -> Comparison:
    """Apply a test to all pairs of a source, with simultaneous intervals."""
    row, names = METHODS[method], source.names
    judgment = row.judge(getattr(source, row.needs)(), question)
    n_pairs = len(names) * (len(names) - 1) // 2
    correction = "none" if row.simultaneous else question.correction
    bonferroni = partial(paired.simultaneous_level, n_intervals=n_pairs)
    together = judgment.alone or (bonferroni if n_pairs > 1 else keep_level)
    shared: dict[str, Any] = {
        "method": method,
        "confidence_level": question.confidence_level,
        "level": row.level(question.confidence_level),
        "scope": row.scope,
        "greater_is_better": question.greater_is_better,
    }

    of_pairs: dict[str, Any] = {
        "alternative": question.alternative,
        "n_samples": source.n_samples,
        "claim": row.claim,
    }

    def make(a: int, b: int, pair: Pair, pvalue: float) -> Difference:
        limits = {pair.interval: partial(hold_together, pair.test.limits, together)}
        return Difference(
            name=f"{source.scoring}: {names[a]} - {names[b]}",
            a=names[a],
            b=names[b],
            value=pair.value,
            standard_error=pair.test.standard_error,
            statistic=pair.test.statistic,
            pvalue=pvalue,
            limits=limits,
            replicates=pair.replicates,
            allow_point=pair.allow_point,
            **({"pvalue_alone": pair.test.pvalue} | pair.fields),
            **shared,
            **of_pairs,
        )

    level = together(question.confidence_level)
    differences, table = judge_pairs(judgment, names, make, correction, level)
    return Comparison(
        names=names,
        values=np.asarray(judgment.values, dtype=float),
        differences=differences,
        table=table,
        scoring=source.scoring,
        title=row.title,
        correction=correction,
        familywise=row.simultaneous or question.correction != "none",
        omnibus=judgment.omnibus,
        **judgment.fields,
        **shared,
    )


def judge_pairs(
    judgment: Findings,
    names: tuple[str, ...],
    make: Callable[[int, int, Pair, float], Difference],
    correction: str,
    level: float,
) -> tuple[Mapping[tuple[str, str], Difference], PairTable | None]:
    """Return the differences of all pairs; for many systems also a table of their numbers.

    `level` is the level of the interval of each pair.
    """
    places = list(combinations(range(len(names)), 2))
    if judgment.tabulate is None or len(names) <= MAX_LISTED:
        pairs = [judgment.judge(*two) for two in places]
        alone = np.array([pair.test.pvalue for pair in pairs])
        adjusted = paired.adjust_pvalues(alone, correction).tolist()
        differences = {
            (names[a], names[b]): make(a, b, pair, pvalue)
            for (a, b), pair, pvalue in zip(places, pairs, adjusted, strict=True)
        }
        return differences, None
    table = judgment.tabulate(level)
    table = table._replace(pvalue=paired.adjust_pvalues(table.pvalue, correction))
    pvalues = dict(zip(places, table.pvalue.tolist(), strict=True))

    def read(a: int, b: int) -> Difference:
        return make(a, b, judgment.judge(a, b), pvalues[a, b])

    return LazyDifferences(names, read), table


def hold_together(
    limits: Callable[[float], Limits], together: Callable[[float], float], confidence_level: float
) -> Limits:
    """Return the ends of one of many intervals with a simultaneous level."""
    return limits(together(confidence_level))


def judge_splits(splits: Splits, question: Question, *, method: str = "corrected_t") -> Findings:
    """Apply the corrected resampled t-test and the Bayesian correlated t-test.

    Without the ratio of sizes, the first is Student's t-test of the differences.
    """
    (scores, ratio), rope = splits, question.rope
    values = scores.mean(axis=0)

    def judge(a: int, b: int) -> Pair:
        differences = paired.differences_of(scores[:, [a, b]])
        test = paired.corrected_t(differences, ratio, question.alternative)
        if test.standard_error == 0:
            warn_undefined(
                "The difference is the same on every split and has no variance: the interval "
                "is nan, and so is the P-value unless the scores are equal."
            )
        value, error = float(values[a] - values[b]), test.standard_error
        regions = paired.correlated_t_probabilities(value, error, len(scores), rope)
        return Pair(value, test, method, {"rope": rope, **regions._asdict()})

    details = {"split_scores": scores, "test_train_ratio": ratio, "rope": rope}
    return Findings(values, judge, details)


def judge_halves(scores: np.ndarray, question: Question, *, method: str) -> Findings:
    """Apply the t or F test to five repeats of two halves."""
    values = scores.mean(axis=0)

    def judge(a: int, b: int) -> Pair:
        differences = paired.differences_of(scores[:, [a, b]]).reshape(5, 2)
        if method == "5x2cv_f":
            test = paired.five_by_two_f(differences)
        else:
            test = paired.five_by_two_t(differences, question.alternative)
        if np.isnan(test.limits(question.confidence_level)).any():
            warn_undefined(
                f"The interval of {method!r} is undefined (nan): the differences do not vary, "
                "or vary too much from repeat to repeat."
            )
        return Pair(float(values[a] - values[b]), test, method, {})

    return Findings(values, judge, {"split_scores": scores})


def judge_right(counted: Right, question: Question) -> Findings:
    """Apply McNemar's test to the samples that only one of two classifiers predicts correctly."""
    both, n = counted.both, counted.right.shape[1]

    def judge(a: int, b: int) -> Pair:
        only_a, only_b = int(both[a, a] - both[a, b]), int(both[b, b] - both[a, b])
        if counted.group is None:
            test, form = paired.mcnemar(only_a, only_b, n, question.alternative)
            groups: dict[str, Any] = {}
        else:
            test, spread = paired.grouped_mcnemar(counted, a, b, question.alternative)
            form, groups = "t", spread.groups
        fields = {"form": form, "only_a": only_a, "only_b": only_b} | groups
        return Pair(float(counted.rates[a] - counted.rates[b]), test, "mcnemar", fields)

    return Findings(counted.rates, judge)


def judge_right_of_all(counted: Right, question: Question) -> Findings:
    """Apply Cochran's Q test (with groups, Hotelling's F) to all, then the tests of pairs."""
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
    return judge_right(counted, question)._replace(omnibus=omnibus)


def judge_areas(areas: Areas, question: Question) -> Findings:
    """Apply DeLong's test to areas under ROC curves."""
    values, spread, of_same_samples = areas

    def judge(a: int, b: int) -> Pair:
        two, degrees = [a, b], spread.degrees_of_freedom
        known = spread.covariance[np.ix_(two, two)]
        test = paired.paired_delong(values[two], known, question.alternative, degrees)
        fields = {"paired": of_same_samples, **spread.groups}
        return Pair(float(values[a] - values[b]), test, "delong", fields)

    return Findings(values, judge)


def judge_joint(joint: Joint, question: Question) -> Findings:
    """Compare all pairs by the largest t statistic, with the covariance of all scores.

    If samples score 0 or 1, the interval is that of Agresti and Min, which adds half a sample to
    each cell. With groups, it uses the variance between groups instead of that of independent
    samples.
    """
    values, n, k = joint.values, joint.n_rates, len(joint.values)
    pairs = np.array(list(combinations(range(k), 2)))
    first, second = pairs.T
    own = joint.own[first] + joint.own[second]
    shared = paired.variance_of_pairs(joint.covariance, pairs)
    differences = values[first] - values[second]
    differences[np.abs(differences) <= paired.EQUAL * np.abs(values).max()] = 0.0  # of rounding
    centers, variances, bounds = differences, shared + own, (-np.inf, np.inf)
    if n is not None:
        variances = (n**2 * variances + 1 + 2 * n * centers**2 / (n + 2)) / (n + 2) ** 2
        centers, bounds = centers * n / (n + 2), (-1.0, 1.0)
    degrees = np.full(len(pairs), joint.degrees_of_freedom)
    if own.any():  # Satterthwaite
        parts = own**2 / joint.seed_degrees + shared**2 / degrees
        degrees = np.divide(variances**2, parts, out=degrees, where=parts > 0)
    errors = np.sqrt(variances)
    with np.errstate(invalid="ignore", divide="ignore"):
        statistics = np.where(centers == 0, 0.0, centers / errors)
    unvaried = (centers != 0) & (errors <= paired.EQUAL * np.abs(centers))
    statistics[unvaried] = np.nan  # differences that do not vary cannot be judged
    alone = 2 * stats.t.sf(np.abs(statistics), degrees)
    if k == 2 and n is not None and joint.n_groups is None:
        alone = np.maximum(alone, paired.exact_of_few(n, differences, shared))
    pvalues, level = alone, keep_level
    if k > 2:
        rng = np.random.default_rng(question.root)
        drawn = paired.draw_contrasts(joint.covariance + np.diag(joint.own), pairs, rng)
        pvalues, largest = paired.step_down(stats.norm.isf(alone / 2), drawn)
        pvalues[np.isnan(alone)] = np.nan
        level = paired.SimultaneousLevel(largest)
    elif question.alternative != "two-sided":
        one_sided = paired.tail_probability(float(statistics[0]), question.alternative, degrees[0])
        if n is not None and joint.n_groups is None:
            exact = paired.exact_of_few(n, differences, shared, question.alternative)
            one_sided = max(one_sided, float(exact[0]))
        pvalues = np.array([one_sided])
    place = {pair: at for at, pair in enumerate(map(tuple, pairs.tolist()))}

    def judge(a: int, b: int) -> Pair:
        at = place[a, b]
        error = float(errors[at])
        options: dict[str, Any] = {"bounds": bounds, "degrees_of_freedom": float(degrees[at])}
        limits = partial(intervals.normal_interval, float(centers[at]), error, **options)
        test = PairedTest(error, float(statistics[at]), float(pvalues[at]), limits)
        fields = {"pvalue_alone": float(alone[at]), **joint.together}
        return Pair(float(differences[at]), test, "max_t", fields)

    each = describe_each(joint, question.confidence_level, np.random.default_rng(question.root))
    numbers = {"pvalue": pvalues, "centers": centers, "errors": errors, "degrees": degrees}
    tabulate = partial(tabulate_normal, differences, **numbers, bounds=bounds)
    return Findings(values, judge, each, alone=level, tabulate=tabulate)


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


def keep_level(confidence_level: float) -> float:
    """Return the level of a single interval."""
    return confidence_level


def judge_draws(draws: Draws, question: Question) -> Findings:
    """Bootstrap the difference of scores on the same resamples."""
    values, resampled = draws.values, draws.resampled

    def judge(a: int, b: int) -> Pair:
        replicates = resampled[a] - resampled[b]
        warn_of_undefined(replicates)
        defined = replicates[~np.isnan(replicates)]
        if len(defined) < 2:
            raise ValueError("the score must be defined on two resamples at least, it is on fewer.")
        value = float(values[a] - values[b])
        test = paired.paired_bootstrap(value, defined, question.alternative)
        return Pair(value, test, "bootstrap", {}, replicates)

    return Findings(values, judge)


def judge_exchanges(draws: Draws, question: Question) -> Findings:
    """Apply the test that exchanges two predictions, with the bootstrap interval."""
    judgment, exchange = judge_draws(draws, question), draws.exchange
    if exchange is None:
        raise TypeError("a source of exchanges must have them.")

    def judge(a: int, b: int) -> Pair:
        pair, replicates = judgment.judge(a, b), exchange(a, b)
        pvalue = paired.exchange_pvalue(pair.value, replicates, question.alternative)
        test = pair.test._replace(statistic=pair.value, pvalue=pvalue)
        return pair._replace(test=test, replicates=replicates)

    return judgment._replace(judge=judge)


def judge_in_time(
    in_time: InTime,
    question: Question,
    *,
    test: Callable[[np.ndarray, int, str], tuple[PairedTest, dict[str, Any]]],
    interval: str = "time_blocks",
    undefined: str = "",
) -> Findings:
    """Apply a test to the differences of samples in time order.

    `interval` is the name of the interval, `undefined` the reason for a missing P-value.
    """
    values, horizon = in_time

    def judge(a: int, b: int) -> Pair:
        differences = paired.differences_of(values[[a, b]].T)
        found, details = test(differences, horizon, question.alternative)
        if np.isnan(found.pvalue):
            warn_undefined(f"{undefined.format(horizon=horizon)}: the test is undefined.")
        return Pair(float(differences.mean()), found, interval, details)

    return Findings(values.mean(axis=1), judge)


def foretell(differences: np.ndarray, horizon: int, _: str) -> tuple[PairedTest, dict[str, Any]]:
    """Return the test of Giacomini and White, with the predicted difference."""
    if horizon != 1:
        raise ValueError(
            "horizon must be 1 for method='giacomini_white', which rejects too often further "
            f"ahead, got {horizon}."
        )
    found, foretold = giacomini_white(differences)
    return found, {"foretold": foretold}


def judge_datasets(
    table: Table,
    question: Question,
    *,
    of_distances: Callable[[np.ndarray, int, int], np.ndarray] | None = None,
) -> Findings:
    """Wilcoxon's test of the differences on data sets, or a test of the distances of mean ranks."""
    scores, rope, (n, k) = table.scores, question.rope, table.scores.shape
    ranks = rank_rows(scores)
    mean_ranks = ranks.mean(axis=0)
    weights = dirichlet_weights(n, N_DRAWS, np.random.default_rng(question.root))
    pairs = list(combinations(range(k), 2))
    distances = np.array([abs(mean_ranks[a] - mean_ranks[b]) for a, b in pairs])
    of_ranks = [] if of_distances is None else of_distances(distances, n, k).tolist()
    by_pair = dict(zip(pairs, of_ranks, strict=False))

    def judge(a: int, b: int) -> Pair:
        differences = scores[:, a] - scores[:, b]
        signed = signed_rank_test(differences)
        regions = largest_fractions(signed_rank_draws(differences, rope, weights))
        n_equal = {} if by_pair else {"n_equal": signed.n_equal}
        pair_details = {
            "effect_size": signed.effect_size,
            "rope": rope,
            **regions._asdict(),
            **n_equal,
        }
        pvalue, statistic = signed.pvalue, signed.effect_size
        if by_pair:
            pvalue, statistic = by_pair[a, b], float(mean_ranks[b] - mean_ranks[a])
        test = PairedTest(np.nan, statistic, pvalue, signed.limits)
        return Pair(signed.estimate, test, "wilcoxon", pair_details, allow_point=True)

    all_details = {
        "scores": scores,
        "mean_ranks": mean_ranks,
        "critical_difference": critical_difference(n, k, question.confidence_level),
        "rope": rope,
        "root": question.root,
    }
    omnibus = describe_friedman(ranks) if k > 2 else None

    def tabulate(alone_level: float) -> PairTable:
        first, second = np.array(pairs).T
        tests = signed_rank_tests((scores[:, first] - scores[:, second]).T, alone_level)
        estimate, low, high, pvalue, n_equal = tests
        if of_ranks:
            pvalue, n_equal = np.array(of_ranks), np.zeros_like(n_equal)
        return PairTable(estimate, low, high, pvalue, n_equal > 0)

    fields = table.fields | all_details
    return Findings(scores.mean(axis=0), judge, fields, omnibus, tabulate=tabulate)


def judge_readers(study: ReaderStudy, question: Question) -> Findings:
    """The analysis of variance of readers and cases."""
    values = study.values.mean(axis=1)

    def judge(a: int, b: int) -> Pair:
        value, spread = float(values[a] - values[b]), study.of_difference(a, b)
        degrees = spread.degrees_of_freedom
        test = paired.student_test(value, spread.error, degrees + 1, question.alternative)
        return Pair(value, test, "t", {"details": {"degrees_of_freedom": degrees}})

    omnibus = None
    if len(values) > 2 and study.random_readers:
        statistic, pvalue = study.test_equality()
        omnibus = Test(name="F", statistic=statistic, pvalue=pvalue, method="equal systems")
    return Findings(values, judge, {"study": study}, omnibus)


RULES = "This applies to these predictions; variation from retraining is not included."
HALVINGS = (
    "This is based on random splits of these data and does not show how results vary with new data."
)
DATASETS = "This applies to data sets like these, not to a single data set."
MEAN_RANKS = f"The mean ranks of two systems depend on which others are compared. {DATASETS}"
OF_LABELS: dict[str, Any] = {"needs": "right", "scoring": "accuracy", "of_classes": True}
OVER_DATASETS: dict[str, Any] = {"needs": "table", "one_sided": False, "level": level_over_datasets}

ROWS = (
    ComparisonMethod("corrected_t", "corrected resampled t", "splits", judge_splits),
    ComparisonMethod(
        "halvings",
        "Student's t of random halvings",
        "halvings",
        partial(judge_splits, method="halvings"),
        scope=HALVINGS,
    ),
    ComparisonMethod(
        "5x2cv_t", "5 x 2 folds, t", "halves", partial(judge_halves, method="5x2cv_t")
    ),
    ComparisonMethod(
        "5x2cv_f",
        "5 x 2 folds, F",
        "halves",
        partial(judge_halves, method="5x2cv_f"),
        one_sided=False,
    ),
    ComparisonMethod(
        "permutation", "paired permutation", "exchanges", judge_exchanges, scope=RULES
    ),
    ComparisonMethod("bootstrap", "paired bootstrap", "draws", judge_draws, scope=RULES),
    ComparisonMethod(
        "max_t", "largest t of all pairs", "joint", judge_joint, simultaneous=True, scope=RULES
    ),
    ComparisonMethod("mcnemar", "McNemar's test", judge=judge_right, scope=RULES, **OF_LABELS),
    ComparisonMethod(
        "cochran_q",
        "McNemar's test after Cochran's Q",
        judge=judge_right_of_all,
        scope=RULES,
        **OF_LABELS,
    ),
    ComparisonMethod(
        "delong",
        "DeLong's test",
        "areas",
        judge_areas,
        scoring="roc_auc",
        of_classes=True,
        scope=RULES,
    ),
    ComparisonMethod(
        "obuchowski_rockette",
        "analysis of variance of readers and cases",
        "readers",
        judge_readers,
        scope="This applies to readers and cases like these.",
    ),
    ComparisonMethod(
        "fixed_readers",
        "normal test of cases with fixed readers",
        "readers",
        judge_readers,
        scope="This applies to these readers, with cases like these.",
    ),
    ComparisonMethod(
        "time_blocks",
        "blocks of time",
        "in_time",
        partial(
            judge_in_time,
            test=lambda differences, _, side: (blocks_test(differences, side), {}),
            undefined="The blocks of time do not differ, or neighboring samples are so strongly "
            "correlated that they amount to fewer than three blocks",
        ),
        independent=True,
        scope=RULES,
    ),
    ComparisonMethod(
        "diebold_mariano",
        "Diebold and Mariano's test",
        "in_time",
        partial(
            judge_in_time,
            test=lambda differences, horizon, side: (
                diebold_mariano(differences, horizon, side),
                {"horizon": horizon},
            ),
            interval="diebold_mariano",
            undefined="The variance over horizon={horizon} is not above 0",
        ),
        independent=True,
        scope=RULES,
    ),
    ComparisonMethod(
        "giacomini_white",
        "Giacomini and White's test",
        "in_time",
        partial(judge_in_time, test=foretell),
        independent=True,
        one_sided=False,
        scope=RULES,
        claim=FORETOLD,
        of_two=True,
    ),
    ComparisonMethod(
        "wilcoxon",
        "Wilcoxon's signed-rank test",
        judge=judge_datasets,
        scope=DATASETS,
        **OVER_DATASETS,
    ),
    ComparisonMethod(
        "nemenyi",
        "Nemenyi's test",
        judge=partial(judge_datasets, of_distances=nemenyi_pvalues),
        simultaneous=True,
        scope=MEAN_RANKS,
        **OVER_DATASETS,
    ),
    ComparisonMethod(
        "mean_ranks",
        "normal distance of mean ranks",
        judge=partial(judge_datasets, of_distances=mean_rank_pvalues),
        scope=MEAN_RANKS,
        **OVER_DATASETS,
    ),
)

METHODS = {row.name: row for row in ROWS}
"""Methods by name."""
