"""Results of a comparison: the value of each model, the difference of each pair, and the ranks.

The module contains the checks of arguments that all functions share, the difference of one pair,
and the comparison.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import combinations
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from skeval._inference.estimate import Estimate, Result, ResultWithValue, Test
from skeval._inference.intervals import Limits, invert_limits, mirrored
from skeval._inference.paired import find_equal, find_groups, holm, rank_rows
from skeval._version import __version__
from skeval.model_selection._pair_tests import TESTS, PairTests, describe_each, list_pairs
from skeval.utils import _checks, _text
from skeval.utils._text import DataFrame, name_estimators

MAX_LISTED = 10
"""Maximum number of models whose pairs are printed. With more, the ranks are printed."""
MIRRORED = {"two-sided": "two-sided", "greater": "less", "less": "greater"}
"""Alternative for b - a that is equivalent to an alternative for a - b."""
ORDERS = {
    "estimators": "compare_classifiers(estimators, X, y)",
    "predictions": "compare_predictions(y_true, predictions)",
    "scores": "compare_scores(scores). over='datasets' and over='items' accept tables and arrays",
}
"""Calls of the functions that compare a dict or list."""


def check_method(method: str, alternative: str, n_names: int) -> None:
    """Raise an error unless a method can test this alternative for this number of models."""
    _checks.check_option("alternative", alternative, MIRRORED)
    one_sided = not TESTS[method].over_datasets
    if alternative != "two-sided" and (n_names > 2 or not one_sided):
        what = f"more than two, here {n_names}" if one_sided else f"method={method!r}"
        raise ValueError(f"alternative must be 'two-sided' for {what}, got {alternative!r}.")


def name_listed(argument: str, things: Any, noun: str = "") -> dict[str, Any]:
    """Return two or more items, with their names as keys.

    Items of a list are named by a noun with a number, or after their estimators. Items of a data
    frame are its columns.
    """
    if hasattr(things, "columns"):
        names = name_distinct(argument, things.columns)
        columns = [np.asarray(things[column]) for column in things.columns]
        things = dict(zip(names, columns, strict=True))
    if isinstance(things, list | tuple):
        if len(things) < 2:
            raise TypeError(f"{argument} must contain at least two models, got {len(things)}.")
        numbered = [f"{noun} {number}" for number in range(1, 1 + len(things))]
        return dict(zip(numbered if noun else name_estimators(*things), things, strict=True))
    if isinstance(things, Mapping):
        if len(things) < 2 or not all(isinstance(key, str) for key in things):
            got = f"the keys {list(things)!r}"
            raise TypeError(f"{argument} must be a dict with at least two names (str), got {got}.")
        return dict(things)
    # anything else is often in the wrong place, so the message has the order of the arguments
    shape = f" of shape {np.shape(things)}" if hasattr(things, "shape") else ""
    raise TypeError(
        f"{argument} must be a dict or a list with at least two entries, got "
        f"{type(things).__name__}{shape}. The order of arguments is {ORDERS[argument]}."
    )


def spread_rows(
    columns: Mapping[str, Any], values: np.ndarray, advice: str = ""
) -> tuple[list[list[Any]], np.ndarray, list[NDArray[np.intp]]]:
    """Return the values of a long table as an array, indexed by the names in its columns.

    Returns
    -------
    names : list of list
        Distinct names in each column, in order.
    table : ndarray with an axis for each column
        Value of each row. It is nan if the long table has no such row.
    places : list of ndarray of shape (n_rows,)
        Index of the name of each row.
    """
    names: list[list[Any]] = []
    places: list[NDArray[np.intp]] = []
    for key, column in columns.items():
        _checks.check_complete(f"scores[{key!r}]", np.asarray(column))
        rows = np.asarray(column).tolist()
        # names that cannot be compared are sorted by type and text
        try:
            distinct = sorted(set(rows))
        except TypeError:
            distinct = sorted(set(rows), key=lambda name: (type(name).__name__, str(name)))
        number = {name: at for at, name in enumerate(distinct)}
        places.append(np.array([number[name] for name in rows], dtype=np.intp))
        names.append(distinct)
    # one row in each cell
    cells, counts = np.unique(places, axis=1, return_counts=True)
    if counts.max() > 1:
        cell = zip(columns, names, cells[:, counts.argmax()], strict=True)
        raise ValueError(
            f"scores must have one row for each {', '.join(columns)}{advice}, got {counts.max()} "
            f"rows for {', '.join(f'{key} {named[at]!r}' for key, named, at in cell)}."
        )
    table = np.full([len(distinct) for distinct in names], np.nan)
    table[tuple(places)] = values
    return names, table, places


def name_distinct(argument: str, names: Iterable[Any]) -> list[str]:
    """Return names as text. Raise an error if two names have the same text."""
    named: dict[str, Any] = {}
    for name in names:
        if str(name) in named:
            raise ValueError(
                f"{argument} must have different names, got {named[str(name)]!r} and {name!r}."
            )
        named[str(name)] = name
    return list(named)


def check_compared(estimators: Mapping[str, Any], method: str, groups: Any) -> None:
    """Raise an error unless the method can compare the estimators, with `groups` if passed."""
    row = TESTS[method]
    for key, estimator in estimators.items():
        _checks.check_methods(f"estimators[{key!r}]", estimator, "fit", "predict", "get_params")
    # classifiers only or regressors only, as the test requires
    kinds = {is_classifier(estimator) for estimator in estimators.values()}
    classes = [type(estimator).__name__ for estimator in estimators.values()]
    if len(kinds) > 1:
        raise TypeError(
            f"estimators must be all classifiers or all regressors, got {' and '.join(classes)}."
        )
    # a test with a fixed score is a test of classifiers
    if row.scoring is not None and kinds == {False}:
        raise TypeError(
            f"estimators must be classifiers for method={method!r}, got {classes[0]}; "
            "'corrected_t' and 'bootstrap' support regressors."
        )
    # blocks of time cannot be combined with groups
    if groups is not None and row.evidence == "time":
        raise ValueError(
            f"groups must be None for method={method!r}, which assumes independent samples. For "
            "groups, use method='bootstrap' or 'corrected_t'."
        )


def choose_scoring(method: str, scoring: Any, estimator: Any) -> Any:
    """Return the score that a method tests. Raise an error if the requested one differs."""
    fixed = TESTS[method].scoring
    if fixed is not None and scoring not in (None, fixed):
        raise ValueError(f"method={method!r} requires scoring={fixed!r}, got {scoring!r}.")
    if scoring is None and fixed is None:
        return "accuracy" if is_classifier(estimator) else "r2"
    return fixed or scoring


def check_options(
    evidence: Container[str],
    method: str,
    confidence_level: float,
    margin: Any,
    n_resamples: int = 2,
) -> float | None:
    """Check the options that all comparisons share, and return the margin as a number or None."""
    _checks.check_confidence_level(confidence_level)
    possible = (name for name, row in TESTS.items() if row.evidence in evidence)
    _checks.check_option("method", method, ("auto", *possible))
    _checks.check_count("n_resamples", n_resamples, 2)
    if margin is None:
        return None
    if isinstance(margin, bool) or not isinstance(margin, Real) or not 0 < float(margin) < np.inf:
        raise ValueError(f"margin must be None or a finite number above 0, got {margin!r}.")
    return float(margin)


@dataclass(frozen=True, eq=False, kw_only=True)
class Difference(ResultWithValue):
    """Difference between two models, with its interval and P-value.

    If several pairs were compared, the interval and the P-value are simultaneous.

    Attributes
    ----------
    name : str
        Names of the score and of both models, as text.
    a, b : str
        Names of the two models. The difference is the score of `a` minus the score of `b`. Over
        data sets it is the median of the means of all pairs of differences (Hodges-Lehmann), and
        `standard_error` is nan.
    value, standard_error : float
        Difference between the scores of both models, and its standard error.
    interval : ConfidenceInterval
        Interval of the difference. It is always two-sided, so a one-sided test at 5 % corresponds
        to the limits of a 90 % interval.
    statistic : float
        Test statistic. Depending on the method, it is t, z, the smaller number of discordant
        samples, the difference divided by its standard error, or the difference
        itself ("permutation").
    pvalue : float
        P-value for `alternative`, corrected for the number of pairs.
    alternative : {"two-sided", "greater", "less"}
        Alternative hypothesis, that is, the difference is not 0, above 0, or below 0.
    greater_is_better : bool
        Whether a larger score is better. It is False for losses.
    method : str
        Name of the test.
    n_samples : int or None
        Number of samples, if known.
    extra : PairExtra
        Further results of the test, such as ``extra.only_a`` of McNemar's test, or
        ``extra.effect_size`` over data sets.
    confidence_level : float
        Nominal coverage of `interval`.
    """

    a: str
    b: str
    statistic: float
    pvalue: float
    alternative: str = "two-sided"
    greater_is_better: bool = True

    @property
    def margin(self) -> float | None:
        """Largest difference that does not matter, for the P-values of a margin."""
        return self.extra.margin

    @property
    def level(self) -> float:
        """Significance level. A difference with at most this P-value is called significant."""
        return TESTS[self.method].level(self.confidence_level)

    @property
    def pvalue_noninferior(self) -> float:
        """P-value of the null hypothesis that `a` is worse than `b` by `margin` or more."""
        above, below = self._test_margin()
        return above if self.greater_is_better else below

    @property
    def pvalue_equivalent(self) -> float:
        """P-value of the null hypothesis that `a` and `b` differ by `margin` or more.

        It is the larger of two one-sided tests (Schuirmann 1987).
        """
        return max(self._test_margin())

    def _test_margin(self) -> tuple[float, float]:
        """Return the P-values of differences of at most minus the margin, and at least it."""
        if self.margin is None or np.isnan(self.interval.low):
            return np.nan, np.nan
        # two one-sided tests, by inverting the limits of the interval
        drawn = self.extra.replicates
        least = 0.0 if drawn is None else 1 / (1 + len(drawn))
        worse, better = (
            max(least, invert_limits(one.confidence_interval, -self.margin))
            for one in (self, self._reverse())
        )
        return worse, better

    def _judge_margin(self) -> str:
        """Return the results of the tests of non-inferiority and of equivalence."""
        worse, differ = self.pvalue_noninferior, self.pvalue_equivalent
        if self.margin is None or np.isnan(worse):
            return ""
        sign = 1 if self.greater_is_better else -1
        a, b, by = self.a, self.b, f"by {self.margin:g} or more"
        better = (self if sign > 0 else self._reverse()).confidence_interval(1 - 2 * self.level)
        limit = f"lower {100 * (1 - self.level):g} % confidence limit of the advantage of {a}"
        evidence = f"({_text.say_pvalue(worse)}; {limit}: {better.low:.2g})"
        not_worse = f"{a} is not worse than {b} {by} {evidence}."
        if worse > self.level:
            not_worse = f"{a} may be worse than {b} {by} {evidence}. Non-inferiority is not shown."
        equal = f"{a} and {b} differ by less than {self.margin:g} ({_text.say_pvalue(differ)})."
        return f"{not_worse} {equal}" if differ <= self.level else not_worse

    @property
    def conclusion(self) -> str:
        """Conclusion of the test in words, with its limitations."""
        a, b, low, high = self.a, self.b, self.interval.low, self.interval.high
        shown = self.pvalue <= self.level  # a test by exchanges may reject without an interval
        # without variation there is no test
        if self.value == 0 and np.isnan(low):
            return f"{a} and {b} have the same scores, so there is no difference to test."
        if np.isnan(self.pvalue) or (np.isnan(low) and not shown):
            return (
                f"No conclusion: the difference is {_text.write_number(self.value)}, without "
                "variation, so it cannot be tested."
            )
        at = f"{100 * self.level:.3g} % ({_text.say_pvalue(self.pvalue)})"
        # the median difference is 0 if most scores are equal; then the statistic has the sign
        above = (self.value or self.statistic) > 0
        if self.alternative != "two-sided":
            above = self.alternative == "greater"
        direction = "higher" if above else "lower"
        if shown:
            merit = "" if self.greater_is_better else f", which is {'worse' if above else 'better'}"
            sentences = [f"{a} scores {direction} than {b}{merit}; the difference is significant"]
            sentences[0] += f" at {at}."
        else:
            sentences = [f"No significant difference at {at}. This is not evidence of equality."]
            if self.alternative != "two-sided":
                sentences = [f"No evidence at {at} that {a} scores {direction} than {b}."]
            if np.isinf([low, high]).all():
                sentences.append("There is no finite interval for the difference.")
            else:
                spread = (high - low) / 4
                ends = [_text.write_estimate(end, spread) for end in (low, high)]
                level = f"{100 * self.confidence_level:g} % CI"
                # the interval may exclude 0 although the test does not reject
                if not low <= 0 <= high:
                    level += ", without 0"
                sentences.append(
                    f"The difference may be anywhere from {ends[0]} to {ends[1]} ({level})."
                )
        sentences += [self._judge_margin(), TESTS[self.method].scope]
        return " ".join(filter(None, sentences))

    def _reverse(self) -> Difference:
        """Return the difference of `b` minus `a`."""
        prefix = self.name.removesuffix(f"{self.a} - {self.b}")
        unsigned = self.method in ("mcnemar", "cochran_q") and self.extra.n_groups is None
        return replace(
            self,
            a=self.b,
            b=self.a,
            name=f"{prefix}{self.b} - {self.a}",
            value=-self.value + 0.0,
            statistic=self.statistic if unsigned else -self.statistic + 0.0,
            alternative=MIRRORED[self.alternative],
            limits={form: partial(mirrored, 0.0, limits) for form, limits in self.limits.items()},
            extra=self.extra.reverse(),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and the interval, without arrays, ready for JSON.

        Returns
        -------
        dict
        """
        test = {"statistic": self.statistic, "pvalue": self.pvalue}
        if self.margin is not None:
            test |= {"margin": self.margin, "pvalue_noninferior": self.pvalue_noninferior}
            test |= {"pvalue_equivalent": self.pvalue_equivalent}
        return {"a": self.a, "b": self.b, **super().to_dict(), **test}

    def _lines(self) -> list[tuple[str, str]]:
        tested = "P-value" if self.alternative == "two-sided" else f"P-value ({self.alternative})"
        value, error, interval, *rest = super()._lines()
        rows = [value, error, interval, (tested, _text.write_pvalue(self.pvalue))]
        # a P-value without correction is only of interest beside a corrected one
        alone = self.extra.pvalue_alone
        if alone is not None and alone != self.pvalue:
            rows.append(("uncorrected", _text.write_pvalue(alone)))
        return rows + [row for row in rest if row[0] != "pvalue alone"]

    def __str__(self) -> str:
        return f"{super().__str__()}\n{_text.fill_text(self.conclusion)}"


class LazyDifferences(Mapping[tuple[str, str], Difference]):
    """Differences of all pairs of names of a comparison, each made when it is read.

    The 54,946 pairs of 332 models take long to make, and text and ranks require only arrays.
    """

    def __init__(self, comparison: Comparison) -> None:
        self._comparison, self._names = comparison, comparison.names

    def __getitem__(self, pair: tuple[str, str]) -> Difference:
        if len(pair) != 2 or pair[0] == pair[1] or not set(pair) <= set(self._names):
            raise KeyError(f"The key must be two different names of {self._names}, got {pair!r}.")
        a, b = map(self._names.index, pair)
        difference = self._comparison._make_difference(min(a, b), max(a, b))
        return difference if a < b else difference._reverse()

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return combinations(self._names, 2)

    def __len__(self) -> int:
        return len(self._names) * (len(self._names) - 1) // 2


@dataclass(frozen=True, eq=False, kw_only=True)
class ComparisonExtra:
    """Fields of `extra` of a comparison. Their use depends on the test.

    Attributes
    ----------
    split_scores : ndarray of shape (n_splits, n_names) or None
        Scores of the splits.
    test_train_ratio : float or None
        Size of a test set divided by the size of its training set, over splits.
    standard_errors, lows, highs : ndarray of shape (n_names,) or None
        Standard errors of the values, and limits of their simultaneous intervals, for "max_t".
    scores : ndarray of shape (n_datasets, n_names) or None
        Scores on the data sets, or nan where a score is missing.
    datasets, dropped : tuple of str
        Names of the data sets, and names of the data sets without all scores.
    reason : str
        Reason for the choice of the test. Empty unless data sets are compared.
    mean_ranks : ndarray of shape (n_names,) or None
        Mean ranks over the data sets. If scores are missing on a data set, its ranks are stretched
        to the range of the ranks of all models.
    critical_difference : float or None
        Critical difference of mean ranks, or None unless data sets are compared.
    """

    split_scores: np.ndarray | None = field(default=None, repr=False)
    test_train_ratio: float | None = None
    standard_errors: np.ndarray | None = field(default=None, repr=False)
    lows: np.ndarray | None = field(default=None, repr=False)
    highs: np.ndarray | None = field(default=None, repr=False)
    scores: np.ndarray | None = field(default=None, repr=False)
    datasets: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    reason: str = ""
    mean_ranks: np.ndarray | None = field(default=None, repr=False)
    critical_difference: float | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Comparison(Result):
    """Comparison of two or more models, with scores, differences of all pairs, and ranks.

    ``comparison["a", "b"]`` is the difference between two models, in either order.

    Attributes
    ----------
    names : tuple of str
        Names of the models, which are estimators, predictions, or columns of scores.
    values : ndarray of shape (n_names,)
        The score of each model. It is the mean over splits or data sets, or the score of all
        predictions.
    tests : PairTests
        Arrays with the difference, P-value and limits of each pair, in the order of `names`.
    method : str
        Name of the test.
    scoring : str
        Name of the score.
    n_samples : int or None
        Number of samples, if known.
    alternative : {"two-sided", "greater", "less"}
        Alternative hypothesis for the difference between two models.
    confidence_level : float
        Simultaneous coverage of the intervals of differences and ranks.
    greater_is_better : bool
        Whether a larger score is better.
    margin : float or None
        Largest difference without practical importance, in the unit of the score. None if no margin
        was passed.
    extra : ComparisonExtra
        Further results of the test. Examples are ``extra.split_scores`` over splits,
        ``extra.mean_ranks`` over data sets, and ``extra.lows`` and ``extra.highs``, the limits of
        the scores for "max_t".
    """

    names: tuple[str, ...]
    values: np.ndarray
    tests: PairTests = field(repr=False)
    method: str
    scoring: str = "score"
    n_samples: int | None = None
    alternative: str = "two-sided"
    confidence_level: float = 0.95
    greater_is_better: bool = True
    margin: float | None = None
    extra: ComparisonExtra = field(default_factory=ComparisonExtra)

    @property
    def differences(self) -> Mapping[tuple[str, str], Difference]:
        """Differences of all pairs, in the order of `names`.

        Their intervals are simultaneous, and their P-values are corrected for the number of pairs.
        """
        return LazyDifferences(self)

    @property
    def title(self) -> str:
        """Name of the test in words."""
        return TESTS[self.method].title

    @property
    def scope(self) -> str:
        """Sentence on the conditions of the test, such as fixed predictions."""
        return TESTS[self.method].scope

    @property
    def level(self) -> float:
        """Significance level. A difference with at most this P-value is called significant."""
        return TESTS[self.method].level(self.confidence_level)

    @property
    def correction(self) -> str:
        """Correction of the P-values, or "none" if the test itself accounts for all pairs."""
        return "none" if TESTS[self.method].simultaneous else "holm"

    @property
    def omnibus(self) -> Test | None:
        """Test of the hypothesis that all models are equal, or None if the method has none.

        The test is Cochran's Q, or Friedman's test with the F of Iman and Davenport.
        """
        return self.tests.omnibus

    def _make_difference(self, first: int, second: int) -> Difference:
        """Return the difference of the models at two indices."""
        tests, k = self.tests, len(self.names)
        # place of the pair in the arrays of all pairs
        at = first * (2 * k - first - 1) // 2 + second - first - 1  # as in `combinations`
        a, b = self.names[first], self.names[second]
        return Difference(
            name=f"{self.scoring}: {a} - {b}",
            a=a,
            b=b,
            value=float(tests.difference[at]),
            standard_error=float(tests.standard_error[at]),
            statistic=float(tests.statistic[at]),
            pvalue=float(tests.pvalue[at]),
            limits={tests.interval: partial(_bound_pair, tests, at)},
            alternative=self.alternative,
            n_samples=self.n_samples,
            method=self.method,
            confidence_level=self.confidence_level,
            greater_is_better=self.greater_is_better,
            allow_point=tests.allow_point,
            extra=replace(tests.describe(at), margin=self.margin),
        )

    def __getitem__(self, pair: tuple[str, str]) -> Difference:
        return self.differences[pair]

    @property
    def difference(self) -> Difference:
        """Difference between the two models. It is defined only for two models."""
        if len(self.names) > 2:
            raise AttributeError(
                f"`difference` is defined for two models, got {len(self.names)}. Use `differences`."
            )
        return self.differences[self.names[0], self.names[1]]

    @property
    def _worth(self) -> np.ndarray:
        """Score, minus loss or minus mean rank of each model. Larger is better."""
        if self.extra.mean_ranks is not None:
            return -self.extra.mean_ranks
        return self.values if self.greater_is_better else -self.values

    @property
    def order(self) -> np.ndarray:
        """Indices into `names`, from the best to the worst."""
        return np.argsort(-self._worth, kind="stable")

    @property
    def best(self) -> tuple[str, ...]:
        """Names of the models with the best score or mean rank. There are several if they tie."""
        return tuple(self.names[place] for place in find_equal(self._worth, self._worth.max()))

    @property
    def tied(self) -> list[tuple[str, ...]]:
        """Longest runs of neighbors in `order` without a significant difference."""
        pvalues = np.nan_to_num(self.to_matrix("pvalue"), nan=1.0)
        groups = find_groups(self.order, pvalues, self.level)
        return [tuple(self.names[place] for place in group) for group in groups]

    @property
    def ranks(self) -> dict[str, Estimate]:
        """Rank of each model, with simultaneous intervals. 1 is best.

        The lower limit is 1 plus the number of significantly better models. The upper limit is the
        number of models that are not significantly worse.
        """
        # rank 1 is the largest worth
        ranks = rank_rows(self._worth[None])[0].tolist()
        return {
            name: Estimate(
                name=f"rank of {name}",
                value=value,
                standard_error=np.nan,
                method=self.method,
                limits={"differences": partial(self._bound_rank, place)},
                confidence_level=self.confidence_level,
                allow_point=True,
            )
            for place, (name, value) in enumerate(zip(self.names, ranks, strict=True))
        }

    def _bound_rank(self, place: int, confidence_level: float) -> Limits:
        """Return the limits of the rank of a model."""
        low, high = self._bound_ranks(confidence_level)[place].tolist()
        return float(low), float(high)

    @lru_cache(4)  # noqa: B019
    def _bound_ranks(self, confidence_level: float) -> np.ndarray:
        """Return the limits of all ranks, shape (n_names, 2)."""
        n_names, (low, high) = len(self.names), self.tests.bound(confidence_level)
        first, second = list_pairs(n_names).T
        above, below = (low > 0, high < 0)[:: 1 if self.greater_is_better else -1]
        # numbers of models that are significantly better, and significantly worse
        better = np.bincount(first[below], minlength=n_names)
        better += np.bincount(second[above], minlength=n_names)
        worse = np.bincount(first[above], minlength=n_names)
        worse += np.bincount(second[below], minlength=n_names)
        return np.column_stack([1 + better, n_names - worse])

    def to_methods(self) -> str:
        """Return a paragraph for a methods section, with its reference.

        Returns
        -------
        str
        """
        level, work = f"{100 * self.confidence_level:g} %", TESTS[self.method].work
        *names, last = self.names
        cited, several = " [1]" * bool(work), len(self.names) > 2
        tested = f"All {len(self.differences)} pairs were" if several else "The difference was"
        text = f"{', '.join(names)} and {last} were compared by {self.scoring}. {tested} tested "
        text += f"({self.title}){cited}."
        if not several:
            text += f" The {level} confidence interval is for the difference."
        else:
            text += f" The {level} intervals for all differences and ranks are simultaneous."
            if self.correction != "none":
                text += f" P-values are corrected for multiple comparisons ({self.correction})."
        text += f" {self.scope}" * bool(self.scope)
        return f"{text} Computed with skeval {__version__}." + f"\n\n[1] {work}" * bool(work)

    def to_matrix(self, what: str = "value") -> np.ndarray:
        """Return a matrix of one quantity for all pairs, the row minus the column.

        Parameters
        ----------
        what : {"value", "low", "high", "pvalue"}, default="value"
            The difference, a limit of its interval, or its P-value.

        Returns
        -------
        ndarray of shape (n_names, n_names)
            The diagonal is 0, or 1 for P-values.
        """
        _checks.check_option("what", what, ("value", "low", "high", "pvalue"))
        # the lower triangle has the opposite sign and exchanged limits
        tests, (first, second) = self.tests, list_pairs(len(self.names)).T
        of_pair = {"value": tests.difference, "low": tests.low, "high": tests.high}
        turned = {"value": -tests.difference, "low": -tests.high, "high": -tests.low}
        matrix = np.eye(len(self.names)) * (what == "pvalue")
        matrix[first, second] = of_pair.get(what, tests.pvalue)
        matrix[second, first] = turned.get(what, tests.pvalue)
        return matrix

    @property
    def conclusion(self) -> str:
        """Conclusion of the comparison in words, with its limitations."""
        over_datasets = self.extra.mean_ranks is not None
        # two models have the conclusion of their only difference
        if len(self.names) == 2 and not over_datasets:
            return self.difference.conclusion
        superlative = "highest score" if self.greater_is_better else "lowest score"
        best, pvalues = find_equal(self._worth, self._worth.max()), self.to_matrix("pvalue")
        # models that differ from all best ones, and those without a test
        is_significant = (pvalues[best] <= self.level).all(axis=0)
        unknown = np.isnan(pvalues[best]).any(axis=0)
        worse, untested, similar = (
            ", ".join(self.names[j] for j in self.order if mask[j] and j not in best)
            for mask in (is_significant, unknown, ~is_significant & ~unknown)
        )
        alone, leaders = len(best) == 1, " and ".join(self.best)
        text = f"{leaders} {'has' if alone else 'share'} the "
        text += "best mean rank" if over_datasets else superlative
        if worse:
            text += f"; {'it differs' if alone else 'they differ'} significantly from {worse}"
        n_pairs, level = len(self.differences), f"level {100 * self.level:.3g} %"
        text += f" ({self.title}, {level}{f' for all of {n_pairs} pairs' * (n_pairs > 1)})."

        # mean ranks may contradict the differences
        sign = 1 if self.greater_is_better else -1
        behind = (sign * self.to_matrix("value")[best] < 0).all(axis=0) & is_significant
        behind[best] = False
        ahead = ", ".join(self.names[place] for place in np.flatnonzero(behind))
        if ahead:
            text += f" The test contradicts this order, because {ahead} scores higher than"
            text += f" {leaders} by the size of the differences, which mean ranks ignore. Do not"
            text += " call either the better one."

        # pairs among the other models
        n_significant = int(np.sum(np.triu(pvalues <= self.level, 1)))
        if n_significant > int(is_significant.sum()) * len(best):
            text += f" {n_significant} of {n_pairs} pairs differ significantly."
        # the absence of a significant difference is not equality
        if similar:
            text += f" No significant difference{' for all of them' * (not alone)} from {similar};"
            text += " this is not evidence of equality. See the intervals."
        if untested:
            text += f" The difference from {untested} was not tested, because it does not vary."
        if not alone:
            text += " Equal scores are not evidence of equality. See the intervals."
        if len(self.names) == 2:
            text = f"{text} {self.difference._judge_margin()}".rstrip()
        # simultaneous intervals allow for the choice of the best model
        if self.extra.lows is not None:
            text += " The best model was chosen after looking at the scores. The intervals for the"
            text += " scores are simultaneous, which accounts for this."
        return f"{text} {self.scope}".rstrip()

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, without arrays, ready for JSON.

        Returns
        -------
        dict
        """
        return {
            "method": self.method,
            "scoring": self.scoring,
            "values": dict(zip(self.names, self.values.tolist(), strict=True)),
            "best": list(self.best),
            "tied": [list(group) for group in self.tied],
            "ranks": {name: rank.to_dict() for name, rank in self.ranks.items()},
            "differences": [each.to_dict() for each in self.differences.values()],
            "omnibus": self.omnibus and self.omnibus.to_dict(),
            "correction": self.correction,
            "level": self.level,
            "confidence_level": self.confidence_level,
        }

    def to_frame(self) -> DataFrame:
        """Return a data frame with the interval and P-value of each pair. Requires pandas.

        Returns
        -------
        pandas.DataFrame
        """
        return _text.make_frame([each.to_dict() for each in self.differences.values()])

    def __str__(self) -> str:
        lines = [self._describe_systems()]
        if self.omnibus is not None:
            test = self.omnibus
            tested = f"{_text.write_number(test.statistic)}, {_text.say_pvalue(test.pvalue)}"
            lines.append(f"{test.method}: {test.name} = {tested}")
        pairs = f"{self.title}, {100 * self.confidence_level:g} %"
        pairs += " interval" if len(self.names) == 2 else " simultaneous intervals"
        if len(self.names) > MAX_LISTED:
            lines.append(f"{pairs}: {len(self.differences)} pairs, see to_frame()")
        else:
            # the pairs of the best models come first
            place = {self.names[at]: number for number, at in enumerate(self.order)}
            rows = []
            for each in sorted(
                self.differences.values(), key=lambda pair: sorted([place[pair.a], place[pair.b]])
            ):
                ends = _text.write_ends(each.interval.low, each.interval.high)
                text = f"{_text.write_number(each.value):>7} {ends}"
                text += f"  {_text.say_pvalue(each.pvalue)}"
                rows.append((f"{each.a} - {each.b}", text))
            lines.append(_text.align_text(pairs, rows))
        # why this test was chosen, and Nemenyi's critical difference
        reason = self.extra.reason
        if self.method == "nemenyi":
            reason += f" Mean ranks differ significantly from {self.extra.critical_difference:.3g}"
            reason += " on (critical difference)."
        lines += [_text.fill_text(reason)] * bool(reason)
        return "\n".join([*lines, _text.fill_text(self.conclusion)])

    def _describe_systems(self) -> str:
        """Return a title and a line for each model, the best first."""
        extra, title, ranks = self.extra, f"{self.scoring}, {self.method}", self.ranks
        values = self.values if extra.mean_ranks is None else extra.mean_ranks
        rows = [(self.names[at], _text.write_number(values[at])) for at in self.order]
        # scores of items have intervals, and so have the ranks
        if self.scoring == "score" and extra.lows is not None and extra.highs is not None:
            title = f"{_text.count(self.n_samples or 0, 'item')}: ranks, mean scores"
            title += f" ({100 * self.confidence_level:g} % simultaneous intervals)"
            ends = [_text.write_ends(extra.lows[at], extra.highs[at]) for at in self.order]
            rows = [
                (name, f"{_write_rank(ranks[name]):<14} {text} {limits}")
                for (name, text), limits in zip(rows, ends, strict=True)
            ]
            return _text.align_text(title, rows)
        if extra.mean_ranks is not None:
            title = f"{len(extra.datasets)} data sets, mean ranks"
            if extra.dropped:
                title += f" ({len(extra.dropped)} dropped: {', '.join(extra.dropped)})"
        # too many pairs to list, so the ranks have to suffice
        if len(self.names) > MAX_LISTED:
            rows = [(name, f"{text}  {_write_rank(ranks[name])}") for name, text in rows]
        return _text.align_text(title, rows)


def compare_pairs(
    method: str,
    values: np.ndarray,
    arguments: tuple[Any, ...],
    alternative: str,
    confidence_level: float,
    bounds: Limits = (-np.inf, np.inf),
    **fields: Any,
) -> Comparison:
    """Return the comparison of all pairs by a method, from the arguments of its test.

    `values` contains the score of each model, and `bounds` its range. `fields` are further fields
    of the comparison.
    """
    row, extra = TESTS[method], ComparisonExtra()
    # tests over data sets are two-sided
    tests = row.test(*arguments, *(() if row.over_datasets else (alternative,)))
    # evidence that the comparison keeps: scores of splits, or an interval of each score
    if row.evidence == "splits":
        extra = ComparisonExtra(split_scores=arguments[0], test_train_ratio=arguments[1])
    elif row.evidence == "joint":
        errors, lows, highs = describe_each(arguments[0], arguments[1], confidence_level)
        extra = ComparisonExtra(standard_errors=errors, lows=lows, highs=highs)
    # limits that hold for all pairs together, and corrected P-values
    tests = replace(tests, largest_difference=bounds[1] - bounds[0])
    ends = tests.bound(confidence_level)
    low, high = tests.leave_out_points(*ends)
    n_points = int(np.sum(np.isnan(low) & ~np.isnan(ends[0])))
    if n_points:
        _checks.warn_undefined(
            "The interval is undefined (nan): the values of "
            f"{_text.count(n_points, 'difference')} do not vary."
        )
    fields_of_pairs = {"pvalue_alone": tests.pvalue, **tests.fields}
    # Holm's correction, unless the test is already simultaneous
    pvalue = tests.pvalue if row.simultaneous else holm(tests.pvalue)
    return Comparison(
        values=values,
        tests=replace(tests, pvalue=pvalue, fields=fields_of_pairs, low=low, high=high),
        method=method,
        alternative=alternative,
        confidence_level=confidence_level,
        **{"extra": extra, **fields},
    )


def _write_rank(rank: Estimate) -> str:
    return f"rank {rank.interval.low:g} to {rank.interval.high:g}"


def _bound_pair(tests: PairTests, at: int, confidence_level: float) -> Limits:
    """Return the limits of the simultaneous interval of one pair."""
    low, high = tests.leave_out_points(*tests.bound(confidence_level, np.array([at])))
    return float(low[0]), float(high[0])
