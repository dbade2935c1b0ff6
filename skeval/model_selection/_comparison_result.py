"""Two classifiers, or all pairs of several: the results of a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from skeval._inference.estimate import LimitsResult, require_width
from skeval._inference.paired import (
    RegionProbabilities,
    holm,
    significance_level,
    simultaneous_level,
)
from skeval._inference.ranks import find_equal
from skeval.utils._checks import check_confidence_level
from skeval.utils._text import (
    DataFrame,
    ShownAsText,
    align_text,
    count,
    fill_text,
    make_frame,
    say_pvalue,
    write_ends,
    write_estimate,
    write_number,
    write_probability,
    write_pvalue,
)

__all__ = ["ClassifierComparison", "ClassifierComparisons"]

OF_RULES = ("mcnemar", "bootstrap", "delong", "permutation", "randomization")
"""Methods that take predictions as they are."""

SURE = 0.95
"""The posterior probability from which a conclusion is drawn."""


@dataclass(frozen=True, eq=False)
class ClassifierComparison(LimitsResult):
    """Two classifiers, the difference of their scores, and whether it is more than chance.

    Attributes
    ----------
    method : str
        The test that was used.
    scoring : str
        Name of the score.
    name_a, name_b : str
        Names of the estimators: their classes, of a pipeline that of its last step; of two that
        would be called alike, those of all steps.
    score_a, score_b : float
        Mean score over the splits ("corrected_t"), or score of the pooled held-out predictions.
    difference : float
        ``score_a - score_b``.
    standard_error : float
        Of the difference.
    statistic : float
        Of the test: t, smaller number of discordant pairs or chi-squared, difference / error, z.
    pvalue : float
        Of the `alternative`.
    n_samples : int or None
        Number of samples, where it is known.
    alternative : {"two-sided", "greater", "less"}
        What the test is to show: that the difference is not 0, above it, or below it.
    split_scores : ndarray of shape (n_splits, 2) or None
        Scores of both on each split ("corrected_t").
    discordant : tuple of int or None
        Samples that only `a`, and that only `b` gets right ("mcnemar").
    replicates : ndarray of shape (n_resamples,) or None
        Differences on the resamples ("bootstrap"), or under exchange of the two ("permutation").
    rope : float or None
        Half the width of the region of practical equivalence ("corrected_t").
    probabilities : RegionProbabilities or None
        Posterior probabilities that `a` is better by more than `rope` (``a_better``), that neither
        is (``equivalent``), and that `b` is (``b_better``), by the Bayesian correlated t test
        ("corrected_t").
    limits : dict of str to callable
        The ends of the interval by confidence level.
    interval : ConfidenceInterval
        That of the difference; two-sided, whatever the `alternative`. A one-sided test at 5 % goes
        with the ends at 90 %.
    confidence_level : float
        Its nominal coverage.
    """

    method: str
    scoring: str
    name_a: str
    name_b: str
    score_a: float
    score_b: float
    difference: float
    standard_error: float
    statistic: float
    pvalue: float
    n_samples: int | None = None
    alternative: str = "two-sided"
    split_scores: np.ndarray | None = field(default=None, repr=False)
    discordant: tuple[int, int] | None = None
    replicates: np.ndarray | None = field(default=None, repr=False)
    rope: float | None = None
    probabilities: RegionProbabilities | None = None

    @property
    def conclusion(self) -> str:
        """What may be concluded, and what not, in words."""
        if np.isnan([self.pvalue, self.interval.low]).any():
            return "Nothing may be concluded: " + (
                f"the difference is {write_number(self.difference)} on every split alike, which "
                "leaves no variance to judge it by; a test of the predictions, such as McNemar's, "
                "does without."
                if self.split_scores is not None and self.difference != 0
                else "the data have no variance to judge the difference by."
            )
        level = significance_level(self.confidence_level)
        if self.pvalue <= level:
            said = (
                f"{self.name_a} scores {self._direction} than {self.name_b}: more than chance at "
                f"{100 * level:.3g} % ({say_pvalue(self.pvalue)})."
            )
        else:
            said = f"{self._deny(level)} {self._describe_interval()}"
        if self.method.startswith(OF_RULES):
            said += (
                " This holds for these predictions; that training anew would change them is left "
                "out."
            )
        return said + self._equivalence()

    @property
    def _direction(self) -> str:
        """What a test that rejects has shown: that `a` scores more, or less."""
        more = self.difference > 0 if self.alternative == "two-sided" else self._greater
        return "more" if more else "less"

    @property
    def _greater(self) -> bool:
        return self.alternative == "greater"

    def _deny(self, level: float) -> str:
        """Say what the test has not shown."""
        at = f"at {100 * level:.3g} % ({say_pvalue(self.pvalue)})"
        if self.alternative == "two-sided":
            return f"No difference is shown {at}. That is no proof of equality."
        said = f"It is not shown {at} that {self.name_a} scores {self._direction}"
        said += f" than {self.name_b}."
        reverse = self.interval.high < 0 if self._greater else self.interval.low > 0
        if not reverse:
            return said
        other = "less" if self._greater else "more"
        return f"{said} Rather it scores {other}, which a one-sided test does not look at."

    def _describe_interval(self) -> str:
        """Say where the difference may lie."""
        low, high = self.interval.low, self.interval.high
        spread = (high - low) / 4
        ends = f"{write_estimate(low, spread)} to {write_estimate(high, spread)}"
        said = f"The difference may lie anywhere from {ends} "
        said += f"({100 * self.confidence_level:g} % interval"
        beyond = "" if low <= 0 <= high or self.alternative != "two-sided" else ", without 0"
        return f"{said}{beyond})."

    def _equivalence(self) -> str:
        if self.probabilities is None or not self.probabilities.equivalent >= SURE:
            return ""
        return (
            f" They are practically equivalent: within {self.rope:g} of each other with "
            f"probability {write_probability(self.probabilities.equivalent)}."
        )

    def to_frame(self) -> DataFrame:
        """Return one row per estimator, and one for the difference with its interval."""
        rows = [
            {"estimator": self.name_a, "score": self.score_a},
            {"estimator": self.name_b, "score": self.score_b},
            {
                "estimator": "difference",
                "score": self.difference,
                "low": self.interval.low,
                "high": self.interval.high,
                "pvalue": self.pvalue,
            },
        ]
        return make_frame(rows)

    def __str__(self) -> str:
        rows = [
            (f"a: {self.name_a}", write_number(self.score_a)),
            (f"b: {self.name_b}", write_number(self.score_b)),
            ("difference", write_number(self.difference)),
            self._interval_row(),
            (name_pvalue(self.alternative), write_pvalue(self.pvalue)),
        ]
        if self.discordant is not None:
            rows.append(("only a, only b right", "{}, {}".format(*self.discordant)))
        if self.probabilities is not None and not np.isnan(self.pvalue):
            names = f"P(a, neither, b better by {self.rope:g})"
            rows.append((names, ", ".join(map(write_probability, self.probabilities))))
        if self.method == "delong":
            rows.append(("holds for", "these trained rules; the variance of training is left out"))
        return (
            align_text(f"{self.scoring}, {self.method}", rows) + "\n" + fill_text(self.conclusion)
        )


def name_pvalue(alternative: str) -> str:
    """Return what a P-value is called."""
    return "P-value" if alternative == "two-sided" else f"P-value ({alternative})"


@dataclass(frozen=True, eq=False)
class ClassifierComparisons(ShownAsText, Mapping):
    """All pairs of several classifiers, with P-values and intervals that hold together.

    It is a mapping: ``comparisons["a", "b"]`` is the `ClassifierComparison` of two of them, the one
    that was given first first, whose own P-value and interval know of no other pair.

    Attributes
    ----------
    names : tuple of str
        The estimators, in the order given.
    method : str
        The test that was used.
    scoring : str
        Name of the score.
    scores : ndarray of shape (n_estimators,)
        Mean score over the splits ("corrected_t"), or score of the pooled held-out predictions.
    comparisons : dict of (str, str) to ClassifierComparison
        Each pair.
    confidence_level : float
        With which all intervals of differences hold together.
    rope : float or None
        Half the width of the region of practical equivalence ("corrected_t").
    differences : ndarray of shape (n_estimators, n_estimators)
        Score of the row minus that of the column.
    pvalues : ndarray of shape (n_estimators, n_estimators)
        Two-sided, corrected by Holm for the number of pairs; 1 on the diagonal.
    lows, highs : ndarray of shape (n_estimators, n_estimators)
        Ends of simultaneous intervals of `differences`, by Bonferroni's inequality; 0 on the
        diagonal.
    better : ndarray of shape (n_estimators, n_estimators) or None
        Posterior probability that the row is better than the column by more than `rope`
        ("corrected_t"); 0 on the diagonal.
    """

    names: tuple[str, ...]
    method: str
    scoring: str
    scores: np.ndarray
    comparisons: dict[tuple[str, str], ClassifierComparison] = field(repr=False)
    confidence_level: float = 0.95
    rope: float | None = None
    differences: np.ndarray = field(init=False, repr=False)
    pvalues: np.ndarray = field(init=False, repr=False)
    lows: np.ndarray = field(init=False, repr=False)
    highs: np.ndarray = field(init=False, repr=False)
    better: np.ndarray | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        pairs = list(self.values())
        lows, highs = self._simultaneous_ends(self.confidence_level)
        adjusted = holm(np.array([pair.pvalue for pair in pairs]))
        found = {
            "differences": self._square([pair.difference for pair in pairs], sign=-1),
            "pvalues": self._square(adjusted) + np.eye(len(self.names)),
            "lows": lows,
            "highs": highs,
            "better": None,
        }
        known = [pair.probabilities for pair in pairs if pair.probabilities is not None]
        if known:
            below = [probabilities.b_better for probabilities in known]
            found["better"] = self._square([each.a_better for each in known], lower=below)
        for name, value in found.items():
            object.__setattr__(self, name, value)

    def __getitem__(self, pair: tuple[str, str]) -> ClassifierComparison:
        return self.comparisons[pair]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self.comparisons)

    def __len__(self) -> int:
        return len(self.comparisons)

    def simultaneous_intervals(self, confidence_level: float) -> tuple[np.ndarray, np.ndarray]:
        """Read the ends of intervals of all differences at another level.

        Parameters
        ----------
        confidence_level : float
            With which all of them hold together, between 0 and 1.

        Returns
        -------
        lows, highs : ndarray of shape (n_estimators, n_estimators)
            Of the score of the row minus that of the column.
        """
        check_confidence_level(confidence_level)
        return self._simultaneous_ends(confidence_level)

    def _simultaneous_ends(self, confidence_level: float) -> tuple[np.ndarray, np.ndarray]:
        level = simultaneous_level(confidence_level, len(self))
        ends = [require_width(pair.limits[pair.method](level)) for pair in self.values()]
        lows, highs = np.array(ends).T
        return self._square(lows, lower=-highs), self._square(highs, lower=-lows)

    def _square(self, values: Any, *, lower: Any = None, sign: int = 1) -> np.ndarray:
        """Return a table of what there is for each pair above the diagonal, and below it."""
        table = np.zeros((len(self.names), len(self.names)))
        rows, columns = np.triu_indices(len(self.names), 1)
        table[rows, columns] = values
        table[columns, rows] = sign * np.asarray(values) if lower is None else lower
        return table

    @property
    def conclusion(self) -> str:
        """What may be concluded, and what not, in words."""
        alpha = significance_level(self.confidence_level)
        best = find_equal(self.scores, self.scores.max())
        first = " and ".join(self.names[place] for place in best)
        beats = (self.pvalues[best] <= alpha) & (self.differences[best] > 0)
        beaten, left = beats.all(axis=0), ~beats.all(axis=0)
        left[best] = False
        unknown = left & np.isnan(self.pvalues[best]).any(axis=0)
        left &= ~unknown
        alone = len(best) == 1
        said = f"{first} {'has' if alone else 'share'} the highest score"
        if beaten.any():
            said += f", and {'scores' if alone else 'score'} more than {self._list(beaten)}"
        pairs = count(len(self), "pair")
        said += f" (all P-values corrected for {pairs}, level {100 * alpha:.3g} %)."
        if left.any():
            who = "It is not" if alone else "Not all of them are"
            said += f" {who} shown to differ from {self._list(left)};"
            said += " that is no proof of equality, see the intervals."
        if unknown.any():
            said += f" Whether {'it differs' if alone else 'they differ'} from "
            said += f"{self._list(unknown)} cannot be told: the differences do not vary."
        if not alone:
            said += " Equal scores are no proof of equality, see the intervals."
        return said

    def _list(self, which: np.ndarray) -> str:
        return ", ".join(self.names[place] for place in np.flatnonzero(which))

    def to_frame(self) -> DataFrame:
        """Return one row for each pair, with its corrected P-value and simultaneous interval.

        Returns
        -------
        pandas.DataFrame
        """
        rows = []
        for (a, b), (i, j) in zip(self, combinations(range(len(self.names)), 2), strict=True):
            row = {"a": a, "b": b, "difference": self.differences[i, j]}
            row |= {"low": self.lows[i, j], "high": self.highs[i, j], "pvalue": self.pvalues[i, j]}
            probabilities = self[a, b].probabilities
            rows.append(row | (probabilities._asdict() if probabilities else {}))
        return make_frame(rows)

    def __str__(self) -> str:
        scores = [(name, write_number(s)) for name, s in zip(self.names, self.scores, strict=True)]
        pairs = []
        for (a, b), (i, j) in zip(self, combinations(range(len(self.names)), 2), strict=True):
            ends = write_ends(self.lows[i, j], self.highs[i, j])
            said = f"{write_number(self.differences[i, j]):>7} {ends}"
            pairs.append((f"{a} - {b}", f"{said}  {say_pvalue(self.pvalues[i, j], 3)}"))
        level = f"{100 * self.confidence_level:g} % intervals and P-values for all together"
        tables = align_text(f"{self.scoring}, {self.method}", scores), align_text(level, pairs)
        return "\n".join([*tables, fill_text(self.conclusion)])
