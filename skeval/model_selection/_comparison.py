"""Results of a comparison: the value of each system, the difference of each pair, and the ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import Any, ClassVar, NamedTuple

import numpy as np

from skeval._inference.estimate import Estimate, Limits, Result, Test
from skeval._inference.intervals import mirrored, normal_quantile
from skeval._inference.paired import EQUAL
from skeval._inference.ranks import find_equal, find_groups, rank_rows
from skeval._inference.readers import ReaderStudy
from skeval._version import __version__
from skeval.utils import _text
from skeval.utils._checks import check_option, warn_undefined
from skeval.utils._text import DataFrame

MAX_LISTED = 10
"""Maximum number of systems whose pairs are printed; with more, the ranks are printed."""
MIRRORED = {"two-sided": "two-sided", "greater": "less", "less": "greater"}
"""The alternative for b - a that equals an alternative for a - b."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Difference(Estimate):
    """Difference of two systems with its interval and P-value.

    If several pairs were compared, interval and P-value are simultaneous. It has the attributes of
    `Estimate`, and these:

    Attributes
    ----------
    a, b : str
        Names of the two systems; the difference is the score of `a` minus the score of `b`. Over
        data sets it is the median of its means over two data sets, and `standard_error` is nan.
    statistic : float
        Test statistic: t, z, the smaller number of discordant samples, chi-squared, the difference
        over its standard error, or the difference itself if predictions are exchanged.
    pvalue : float
        P-value for `alternative`, corrected for the number of pairs.
    alternative : {"two-sided", "greater", "less"}
        Alternative hypothesis: the difference is not 0, above 0, or below 0. The interval is always
        two-sided: a one-sided test at 5 % corresponds to the limits of a 90 % interval.
    level : float
        Significance level: a difference with at most this P-value is called significant.
    scope : str
        Sentence on the conditions of the test, such as fixed predictions.
    greater_is_better : bool
        Whether a larger score is better; False for losses.
    pvalue_alone : float or None
        P-value without the correction for the number of pairs.
    form : str
        Form of McNemar's test: "exact", "t" for groups, or "chi-squared".
    only_a, only_b : int or None
        Number of samples that only one of the two predicts correctly.
    paired : bool or None
        Whether areas under curves use the same samples.
    effect_size : float or None
        Matched-pairs rank-biserial correlation, over data sets.
    n_equal : int or None
        Number of data sets with equal scores.
    horizon : int or None
        Number of steps between a forecast and its sample.
    """

    a: str
    b: str
    statistic: float
    pvalue: float
    alternative: str = "two-sided"
    level: float = 0.05
    scope: str = ""
    greater_is_better: bool = True
    pvalue_alone: float | None = None
    form: str = ""
    only_a: int | None = None
    only_b: int | None = None
    paired: bool | None = None
    effect_size: float | None = None
    n_equal: int | None = None
    horizon: int | None = None

    _known: ClassVar[tuple[str, ...]] = (
        *("a", "b", "statistic", "pvalue", "alternative", "level", "scope", "greater_is_better"),
    )

    @property
    def conclusion(self) -> str:
        """Conclusion of the test in words, with its limitations."""
        shown = self.pvalue <= self.level  # a test by exchanges may reject without an interval
        if np.isnan(self.pvalue) or (np.isnan(self.interval.low) and not shown):
            return (
                f"No conclusion: the difference is {_text.write_number(self.value)}, without "
                "any variance to test it."
            )
        if shown:
            merit = "better" if self._direction == "lower" else "worse"
            which = "" if self.greater_is_better else f", which is {merit}"
            template = "{a} scores {direction} than {b}{which}; "
            template += "the difference is significant at {at}."
            sentence = self._fill(template, direction=self._direction, which=which)
        else:
            sentence = f"{self._deny()} {self._describe_interval()}"
        equal = self._explain_equal_scores() if shown and self._reaches_zero else ""
        return " ".join(filter(None, [sentence, equal, self.scope]))

    @property
    def _direction(self) -> str:
        """Direction of a significant difference: `a` scores higher or lower."""
        # the median difference is 0 if most scores are equal; then the statistic has the sign
        more = (self.value or self.statistic) > 0
        more = more if self.alternative == "two-sided" else self._greater
        return "higher" if more else "lower"

    @property
    def _greater(self) -> bool:
        return self.alternative == "greater"

    def _fill(self, sentence: str, **words: str) -> str:
        """Return a sentence about the two systems, with the level and the P-value."""
        at = f"{100 * self.level:.3g} % ({_text.say_pvalue(self.pvalue)})"
        return sentence.format(a=self.a, b=self.b, at=at, **words)

    def _deny(self) -> str:
        """Return the sentence for a test without a significant result."""
        if self.alternative == "two-sided":
            template = "No significant difference at {at}. This is not evidence of equality."
            return self._fill(template)
        template = "No evidence at {at} that {a} scores {direction} than {b}."
        sentence = self._fill(template, direction=self._direction)
        reverse = self.interval.high < 0 if self._greater else self.interval.low > 0
        if not reverse:
            return sentence
        other = "lower" if self._greater else "higher"
        return f"{sentence} It scores {other}, which a one-sided test does not test."

    @property
    def _reaches_zero(self) -> bool:
        """Whether the interval contains 0 or ends there, with equal scores on some data sets."""
        ends = self.interval
        return bool(self.n_equal) and ends.low <= 0 <= ends.high

    def _explain_equal_scores(self) -> str:
        """Explain why an interval may contain 0 although the difference is significant."""
        equal = _text.count(self.n_equal or 0, "data set")
        return (
            f"The two score the same on {equal}. The test leaves these out and the interval keeps "
            "them, so it reaches 0: one system is better where the scores differ, but the typical "
            "difference may be 0."
        )

    def _reverse(self) -> Difference:
        """Return the difference of `b` minus `a`."""
        prefix = self.name.removesuffix(f"{self.a} - {self.b}")
        counts = ("exact", "chi-squared")  # McNemar's statistics have no sign
        return replace(
            self,
            a=self.b,
            b=self.a,
            name=f"{prefix}{self.b} - {self.a}",
            value=-self.value + 0.0,
            statistic=self.statistic if self.form in counts else -self.statistic + 0.0,
            alternative=MIRRORED[self.alternative],
            limits={form: partial(mirrored, 0.0, limits) for form, limits in self.limits.items()},
            replicates=-self.replicates,
            only_a=self.only_b,
            only_b=self.only_a,
            effect_size=None if self.effect_size is None else -self.effect_size + 0.0,
        )

    def _describe_interval(self) -> str:
        """Describe the interval of the difference."""
        low, high = self.interval.low, self.interval.high
        if np.isinf([low, high]).all():
            return "No finite interval for the difference."
        spread = (high - low) / 4
        ends = f"{_text.write_estimate(low, spread)} to {_text.write_estimate(high, spread)}"
        sentence = f"The difference may be anywhere from {ends} "
        sentence += f"({100 * self.confidence_level:g} % CI"
        beyond = "" if low <= 0 <= high or self.alternative != "two-sided" else ", without 0"
        return f"{sentence}{beyond})."

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and the interval, without arrays, ready for JSON.

        Returns
        -------
        dict
        """
        test = {"statistic": self.statistic, "pvalue": self.pvalue}
        return {"a": self.a, "b": self.b, **super().to_dict(), **test}

    def _lines(self) -> list[tuple[str, str]]:
        tested = "P-value" if self.alternative == "two-sided" else f"P-value ({self.alternative})"
        value, error, interval, *rest = super()._lines()
        return [value, error, interval, (tested, _text.write_pvalue(self.pvalue)), *rest]

    def __str__(self) -> str:
        return f"{super().__str__()}\n{_text.fill_text(self.conclusion)}"


class PairTable(NamedTuple):
    """Numbers of all pairs of names, in the order of `itertools.combinations`.

    Attributes
    ----------
    value, low, high, pvalue : ndarray of shape (n_pairs,)
        `low` and `high` are the limits of the simultaneous intervals; the P-values are not
        corrected.
    has_ties : ndarray of shape (n_pairs,)
        Whether two have equal scores on a data set, which the test leaves out.
    """

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    pvalue: np.ndarray
    has_ties: np.ndarray

    def to_matrix(self, what: str) -> np.ndarray:
        """Return an attribute as a matrix; limits and values of reversed pairs change sign."""
        reverse = {"low": -self.high, "high": -self.low, "value": -self.value}
        n_names = int((1 + np.sqrt(1 + 8 * len(self.value))) // 2)
        rows, columns = np.triu_indices(n_names, 1)
        matrix = np.eye(n_names) * (what == "pvalue")
        matrix[rows, columns] = getattr(self, what)
        matrix[columns, rows] = reverse.get(what, self.pvalue)
        return matrix

    def count_reaching_zero(self, level: float) -> int:
        """Return the number of significant pairs with ties whose interval contains 0."""
        reaching = self.has_ties & (self.low <= 0) & (self.high >= 0)
        return int(np.sum(reaching & (self.pvalue <= level)))


def tabulate_normal(
    value: np.ndarray,
    confidence_level: float,
    *,
    pvalue: np.ndarray,
    centers: np.ndarray,
    errors: np.ndarray,
    degrees: np.ndarray,
    bounds: tuple[float, float],
) -> PairTable:
    """Return the table of normal or Student's intervals at the level of each."""
    levels, place = np.unique(degrees, return_inverse=True)
    quantiles = [normal_quantile(confidence_level, each) for each in levels.tolist()]
    half = np.array(quantiles)[place] * errors
    low, high = np.clip(centers - half, *bounds), np.clip(centers + half, *bounds)
    unvaried = high - low <= EQUAL * np.abs(centers)
    if unvaried.any():
        warn_undefined(
            f"The intervals of {unvaried.sum()} differences are undefined (nan): they do not vary."
        )
    low[unvaried], high[unvaried] = np.nan, np.nan
    return PairTable(value, low, high, pvalue, np.zeros(len(value), dtype=bool))


def place_of_pair(a: int, b: int, n_names: int) -> int:
    """Return the position of the pair a < b in the order of `itertools.combinations`."""
    return a * (2 * n_names - a - 1) // 2 + b - a - 1


class LazyDifferences(Mapping[tuple[str, str], Difference]):
    """Differences of all pairs of names, each made when it is first read.

    The 54,946 pairs of 332 systems take long to make, and text and ranks only need the numbers of
    `PairTable`. A pickle contains all differences as a dict.
    """

    def __init__(self, names: tuple[str, ...], make: Callable[[int, int], Difference]) -> None:
        self._names, self._make = names, make
        self._place = {name: place for place, name in enumerate(names)}
        self._made: dict[tuple[str, str], Difference] = {}

    def __getitem__(self, pair: tuple[str, str]) -> Difference:
        if pair not in self._made:
            a, b = pair
            if not self._place[a] < self._place[b]:
                raise KeyError(pair)
            self._made[pair] = self._make(self._place[a], self._place[b])
        return self._made[pair]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return combinations(self._names, 2)

    def __len__(self) -> int:
        return len(self._names) * (len(self._names) - 1) // 2

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


WORKS = {
    "max_t": "M. Mogstad, J. P. Romano, A. M. Shaikh, D. Wilhelm (2024), "
    "https://doi.org/10.1093/restud/rdad006",
    "corrected_t": "C. Nadeau, Y. Bengio (2003), https://doi.org/10.1023/A:1024068626366",
    "delong": "E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson (1988), "
    "https://doi.org/10.2307/2531595",
    "diebold_mariano": "F. X. Diebold, R. S. Mariano (1995), "
    "https://doi.org/10.1080/07350015.1995.10524599",
    "mcnemar": "interval: A. Agresti, Y. Min (2005), https://doi.org/10.1002/sim.1781",
    "obuchowski_rockette": "S. L. Hillis (2007), https://doi.org/10.1002/sim.2532",
}
"""Reference of each test."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Comparison(Result):
    """Comparison of two or more systems: scores, differences of all pairs, and ranks.

    ``comparison["a", "b"]`` is the difference of two systems, in either order.

    Attributes
    ----------
    names : tuple of str
        Names of the systems: estimators, predictions, or columns of scores.
    values : ndarray of shape (n_names,)
        The score of each system: its mean over splits or data sets, or its score on all
        predictions.
    differences : dict of (str, str) to Difference
        Differences of all pairs, in the order of `names`. Their intervals are simultaneous, and
        their P-values are corrected for the number of pairs.
    method : str
        The test that was used.
    scoring : str
        Name of the score.
    title : str
        The test in words.
    correction : str
        Correction of the P-values; "none" if the test itself accounts for all pairs.
    familywise : bool
        Whether the tests have their level for all pairs together.
    level : float
        Significance level: a difference with at most this P-value is called significant.
    confidence_level : float
        Simultaneous coverage of the intervals of differences and ranks.
    omnibus : Test or None
        Test of no difference at all: Cochran's Q, or Friedman's test, exact for small tables (up to
        10 data sets and 8 systems) and otherwise with the F of Iman and Davenport. None if the
        method has none.
    greater_is_better : bool
        Whether a larger score is better.
    scope : str
        Sentence on the conditions of the test, such as fixed predictions.
    standard_errors, lows, highs : ndarray of shape (n_names,) or None
        Standard errors of the values and the limits of their simultaneous intervals ("max_t").
    n_items : int or None
        Number of items, for scores of items.
    split_scores : ndarray of shape (n_splits, n_names) or None
        Scores of splits.
    test_train_ratio : float or None
        Size of a test set over the size of its training set, for scores of splits.
    datasets, dropped : tuple of str
        Names of the data sets, and of those without all scores.
    scores : ndarray of shape (n_datasets, n_names) or None
        Scores on the data sets.
    mean_ranks : ndarray of shape (n_names,) or None
        Mean ranks over the data sets.
    critical_difference : float or None
        Critical difference of mean ranks.
    reason : str
        Why the test was chosen, over data sets.
    table : PairTable or None
        Numbers of all pairs of many systems.
    study : ReaderStudy or None
        For `compare_readers`: the `values` of all readers, of shape (n_systems, n_readers), their
        `covariance`, the `mean_squares` of systems and of their interaction with readers, and the
        `components` of the error: its variance, Cov1, Cov2 and Cov3.
    estimates : dict of str to Estimate
        For `compare_readers`: the value of each system, with its own interval.
    """

    names: tuple[str, ...]
    values: np.ndarray
    differences: Mapping[tuple[str, str], Difference] = field(repr=False)
    method: str
    scoring: str
    title: str
    correction: str = "holm"
    familywise: bool = True
    level: float = 0.05
    confidence_level: float = 0.95
    omnibus: Test | None = None
    greater_is_better: bool = True
    scope: str = ""
    standard_errors: np.ndarray | None = field(default=None, repr=False)
    lows: np.ndarray | None = field(default=None, repr=False)
    highs: np.ndarray | None = field(default=None, repr=False)
    n_items: int | None = None
    split_scores: np.ndarray | None = field(default=None, repr=False)
    test_train_ratio: float | None = None
    datasets: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    scores: np.ndarray | None = field(default=None, repr=False)
    mean_ranks: np.ndarray | None = field(default=None, repr=False)
    critical_difference: float | None = None
    reason: str = ""
    table: PairTable | None = field(default=None, repr=False)
    study: ReaderStudy | None = field(default=None, repr=False)
    estimates: dict[str, Estimate] = field(default_factory=dict, repr=False)

    def __getitem__(self, pair: tuple[str, str]) -> Difference:
        a, b = pair
        if a == b or not {a, b} <= set(self.names):
            raise KeyError(f"The key must be two different names of {self.names}, got {pair!r}.")
        known = self.names.index(a) < self.names.index(b)
        return self.differences[a, b] if known else self.differences[b, a]._reverse()

    @property
    def difference(self) -> Difference:
        """Difference of the two systems; only defined for two."""
        if len(self.names) > 2:
            raise AttributeError(
                f"difference requires two systems; differences has all pairs of {self.names}."
            )
        return self.differences[self.names[0], self.names[1]]

    @property
    def worth(self) -> np.ndarray:
        """Values that order the systems, larger is better: score, minus loss or minus mean rank."""
        if self.mean_ranks is not None:
            return -self.mean_ranks
        return self.values if self.greater_is_better else -self.values

    @property
    def order(self) -> np.ndarray:
        """Places in `names` from the best to the worst."""
        return np.argsort(-self.worth, kind="stable")

    @property
    def best(self) -> tuple[str, ...]:
        """Names of the systems with the best score or mean rank; several if they tie."""
        return tuple(self.names[place] for place in self._find_best())

    def _find_best(self) -> np.ndarray:
        return find_equal(self.worth, self.worth.max())

    @property
    def tied(self) -> list[tuple[str, ...]]:
        """Longest runs of neighbors in `order` without a significant difference."""
        pvalues = np.nan_to_num(self.to_matrix("pvalue"), nan=1.0)
        groups = find_groups(self.order, pvalues, self.level)
        return [tuple(self.names[place] for place in group) for group in groups]

    @property
    def ranks(self) -> dict[str, Estimate]:
        """Rank of each system, 1 for the best, with simultaneous intervals.

        The interval runs from 1 plus the number of significantly better systems to the number of
        systems that are not significantly worse.
        """
        ranks, limits = rank_rows(self.worth[None])[0].tolist(), self._rank_limits()
        return {
            name: Estimate(
                name=f"rank of {name}",
                value=value,
                standard_error=np.nan,
                method=self.method,
                limits={"differences": limits[name]},
                confidence_level=self.confidence_level,
                allow_point=True,
            )
            for name, value in zip(self.names, ranks, strict=True)
        }

    def _rank_limits(self) -> dict[str, Callable[[float], Limits]]:
        """Return the limits of the rank of each name as a function of the level."""
        if self.table is None:
            return {name: partial(_bound_rank, side) for name, side in self._list_sides().items()}
        better = self.to_matrix("low"), self.to_matrix("high")
        if not self.greater_is_better:
            better = -better[1], -better[0]
        ahead = np.sum(better[1] < 0, axis=1), np.sum(better[0] > 0, axis=1)
        ends = np.array([1 + ahead[0], len(self.names) - ahead[1]], dtype=float).T.tolist()
        return {
            name: partial(self._bound_rank_of, name, tuple(limits))
            for name, limits in zip(self.names, ends, strict=True)
        }

    def _bound_rank_of(self, name: str, limits: Limits, confidence_level: float) -> Limits:
        """Return the limits of a rank, recomputed from the differences for another level."""
        if confidence_level == self.confidence_level:
            return limits
        return _bound_rank(self._list_sides()[name], confidence_level)

    def _list_sides(self) -> dict[str, list[tuple[Difference, int]]]:
        """Return the differences that involve each system, with the sign that favors it."""
        better = 1 if self.greater_is_better else -1
        sides: dict[str, list[tuple[Difference, int]]] = {name: [] for name in self.names}
        for each in self.differences.values():
            sides[each.a].append((each, better))
            sides[each.b].append((each, -better))
        return sides

    def to_methods(self) -> str:
        """Return a paragraph for the methods section, with its reference.

        Returns
        -------
        str
        """
        n_names, level = len(self.names), f"{100 * self.confidence_level:g} %"
        each = "the difference was" if n_names == 2 else f"all {len(self.differences)} pairs were"
        work = WORKS.get(self.method)
        *names, last = self.names
        sentences = [
            f"{', '.join(names)} and {last} were compared by {self.scoring}: {each} tested by"
        ]
        sentences[0] += f" {self.title}{' [1]' if work else ''}."
        if n_names > 2:
            sentences.append(
                f"The {level} intervals of all differences and ranks are simultaneous."
            )
        else:
            sentences.append(f"The interval of the difference is a {level} confidence interval.")
        if n_names > 2 and self.correction != "none":
            sentences.append(
                f"P-values are corrected for multiple comparisons ({self.correction})."
            )
        elif n_names > 2 and not self.familywise:
            sentences.append("P-values are not corrected for the number of pairs.")
        if self.scope:
            sentences.append(self.scope)
        sentences.append(f"Computed with skeval {__version__}.")
        return " ".join(sentences) + (f"\n\n[1] {work}" if work else "")

    def to_matrix(self, what: str = "value") -> np.ndarray:
        """Return a matrix of one quantity for all pairs: the row minus the column.

        Parameters
        ----------
        what : {"value", "low", "high", "pvalue"}, default="value"
            The difference, a limit of its interval, or its P-value.

        Returns
        -------
        ndarray of shape (n_names, n_names)
            The diagonal is 0, or 1 for P-values.
        """
        check_option("what", what, ("value", "low", "high", "pvalue"))
        if self.table is not None:
            return self.table.to_matrix(what)
        table = np.eye(len(self.names)) * (what == "pvalue")
        place = {name: at for at, name in enumerate(self.names)}
        for (a, b), each in self.differences.items():
            ends = {"low": each.interval.low, "high": each.interval.high}
            turned = {"low": -each.interval.high, "high": -each.interval.low}
            numbers = {"value": each.value, "pvalue": each.pvalue, **ends}
            turned |= {"value": -each.value, "pvalue": each.pvalue}
            table[place[a], place[b]] = numbers[what]
            table[place[b], place[a]] = turned[what]
        return table

    @property
    def conclusion(self) -> str:
        """Conclusion of the comparison in words, with its limitations."""
        if len(self.names) == 2 and not self.datasets:
            return self.difference.conclusion
        best, pvalues = self._find_best(), self.to_matrix("pvalue")
        is_significant = (pvalues[best] <= self.level).all(axis=0)
        unknown = np.isnan(pvalues[best]).any(axis=0)
        worse, untested, similar = (
            ", ".join(self.names[j] for j in self.order if mask[j] and j not in best)
            for mask in (is_significant, unknown, ~is_significant & ~unknown)
        )
        alone = len(best) == 1
        worth = "highest score" if self.greater_is_better else "lowest score"
        worth = "best mean rank" if self.mean_ranks is not None else worth
        text = f"{' and '.join(self.best)} {'has' if alone else 'share'} the {worth}"
        if worse:
            text += f"; {'it differs' if alone else 'they differ'} significantly from {worse}"
        text += f" ({self.title}, {self._describe_level()})."
        reversed_names = ", ".join(self._list_reversed(best, is_significant))
        if reversed_names:
            text += f" The test contradicts this order: {reversed_names} scores higher than"
            text += f" {' and '.join(self.best)} by the size of the differences, which mean ranks"
            text += " ignore. Do not call either the better one."
        n_significant = int(np.sum(np.triu(pvalues <= self.level, 1)))
        if n_significant > int(is_significant.sum()) * len(best):
            text += f" {n_significant} of {len(self.differences)} pairs differ significantly."
        if self.table is not None:
            n_reaching = self.table.count_reaching_zero(self.level)
        else:
            shown = [one for one in self.differences.values() if one.pvalue <= self.level]
            n_reaching = sum(one._reaches_zero for one in shown)
        if n_reaching and len(self.names) == 2:
            text += f" {self.difference._explain_equal_scores()}"
        elif n_reaching:
            text += f" For {_text.count(n_reaching, 'pair')} of these the interval reaches 0: it"
            text += " keeps the data sets with equal scores, which the test leaves out."
        if similar:
            text += f" No significant difference{' for all of them' * (not alone)} from {similar};"
            text += " this is not evidence of equality, see the intervals."
        if untested:
            text += f" The difference from {untested} was not tested, because it does not vary."
        if not alone:
            text += " Equal scores are not evidence of equality, see the intervals."
        if self.lows is not None:
            text += " The best system was chosen after looking at the scores; the intervals of the"
            text += " scores are simultaneous, which accounts for this."
        return f"{text} {self.scope}".rstrip()

    def _describe_level(self) -> str:
        """Return the level of the tests, and whether it is for all pairs together."""
        level, n_pairs = f"level {100 * self.level:.3g} %", len(self.differences)
        if n_pairs == 1:
            return level
        if self.familywise:
            return f"{level} for all of {n_pairs} pairs"
        return f"{level} for each of {n_pairs} pairs, not corrected for their number"

    def _list_reversed(self, best: np.ndarray, is_significant: np.ndarray) -> list[str]:
        """Return the systems that are significantly better than the best-ranked systems."""
        sign = 1 if self.greater_is_better else -1
        behind = (sign * self.to_matrix("value")[best] < 0).all(axis=0) & is_significant
        behind[best] = False
        return [self.names[place] for place in np.flatnonzero(behind)]

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
        """Return one row for each pair, with its interval and P-value; requires pandas.

        Returns
        -------
        pandas.DataFrame
        """
        return _text.make_frame([each.to_dict() for each in self.differences.values()])

    def __str__(self) -> str:
        title, worth = f"{self.scoring}, {self.method}", self.values
        if self.mean_ranks is not None:
            title, worth = f"{len(self.datasets)} data sets, mean ranks", self.mean_ranks
            if self.dropped:
                title += f" ({len(self.dropped)} dropped: {', '.join(self.dropped)})"
        of_items = self.n_items is not None
        if self.n_items is not None:
            title = f"{_text.count(self.n_items, 'item')}: ranks, mean scores"
            title += f" ({100 * self.confidence_level:g} % simultaneous intervals)"
        rows = [(self.names[place], _text.write_number(worth[place])) for place in self.order]
        if self.estimates:
            title += f", {100 * self.confidence_level:g} % interval of each system"
            rows = [
                (name, f"{text} {_text.write_ends(*self.estimates[name].interval)}")
                for name, text in rows
            ]
        many = len(self.names) > MAX_LISTED
        if many or of_items:
            ranks = self.ranks
            for row, (name, text) in enumerate(rows):
                ends = ranks[name].interval
                rank = f"rank {ends.low:g} to {ends.high:g}"
                rows[row] = name, f"{text}  {rank}"
                if of_items and self.lows is not None and self.highs is not None:
                    place = self.order[row]
                    low, high = self.lows[place], self.highs[place]
                    rows[row] = name, f"{rank:<14} {text} {_text.write_ends(low, high)}"
        lines = [_text.align_text(title, rows)]
        if self.omnibus is not None:
            test = self.omnibus
            tested = f"{_text.write_number(test.statistic)}, {_text.say_pvalue(test.pvalue, 3)}"
            lines.append(f"{test.method}: {test.name} = {tested}")
        pairs = f"{self.title}, {100 * self.confidence_level:g} %"
        pairs += " interval" if len(self.names) == 2 else " simultaneous intervals"
        if many:
            lines.append(f"{pairs}: {len(self.differences)} pairs, see to_frame()")
        else:
            lines.append(
                _text.align_text(pairs, [_write_pair(each) for each in self._list_pairs()])
            )
        if self.reason:
            lines.append(_text.fill_text(self.reason))
        return "\n".join([*lines, _text.fill_text(self.conclusion)])

    def _list_pairs(self) -> list[Difference]:
        """Return the differences sorted by their systems, the best system first."""
        place = {self.names[at]: number for number, at in enumerate(self.order)}
        pairs = self.differences.values()
        return sorted(pairs, key=lambda each: sorted([place[each.a], place[each.b]]))


def _write_pair(difference: Difference) -> tuple[str, str]:
    """Return the names of a pair, and its difference, interval and P-value."""
    ends = _text.write_ends(difference.interval.low, difference.interval.high)
    text = f"{_text.write_number(difference.value):>7} {ends}"
    return f"{difference.a} - {difference.b}", f"{text}  {_text.say_pvalue(difference.pvalue, 3)}"


def _bound_rank(sides: list[tuple[Difference, int]], confidence_level: float) -> Limits:
    """Return the interval of a rank from the numbers of better and of worse systems."""
    better = worse = 0
    for each, sign in sides:
        low, high = each.interval.low, each.interval.high
        if confidence_level != each.confidence_level or np.isnan(low):
            low, high = next(iter(each.limits.values()))(confidence_level)
        surely_above, surely_below = (low > 0, high < 0)[::sign]
        better, worse = better + surely_below, worse + surely_above
    return float(1 + better), float(1 + len(sides) - worse)
