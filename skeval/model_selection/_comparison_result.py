"""Two classifiers, or all pairs of several: the results of a comparison."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from skeval._inference.adjustment import holm, simultaneous_level
from skeval._inference.equivalence import RegionProbabilities
from skeval._inference.interval import LimitsResult, require_width
from skeval._inference.rank_tests import find_equal
from skeval.utils._checks import check_confidence_level
from skeval.utils._frames import DataFrame, make_frame
from skeval.utils._text import ShownAsText, align_text, fill_text

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
        alpha = 1 - self.confidence_level
        low, high = self.interval.low, self.interval.high
        if np.isnan([self.pvalue, low]).any():
            return "Nothing may be concluded: the data have no variance to judge the difference by."
        if self.pvalue <= alpha:
            order = ("more", "less") if self.difference > 0 else ("less", "more")
            said = f"{self.name_a} scores {order[0]} than {self.name_b}: "
            said += f"more than chance at {100 * alpha:.3g} % (P = {self.pvalue:.2g})."
        else:
            said = (
                f"No difference is shown at {100 * alpha:.3g} %. That is no proof of equality: it "
                f"may lie anywhere from {low:.4f} to {high:.4f}."
            )
        if self.method.startswith(OF_RULES):
            said += " It is of these predictions; that training anew would change them is left out."
        return said + self._equivalence()

    def _equivalence(self) -> str:
        if self.probabilities is None or not self.probabilities.equivalent >= SURE:
            return ""
        return (
            f" They are practically equivalent: within {self.rope:g} of each other with "
            f"probability {self.probabilities.equivalent:.3f}."
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
            (f"a: {self.name_a}", f"{self.score_a:.4f}"),
            (f"b: {self.name_b}", f"{self.score_b:.4f}"),
            ("difference", f"{self.difference:.4f}"),
            self._interval_row(),
            (name_pvalue(self.alternative), f"{self.pvalue:.3g}"),
        ]
        if self.discordant is not None:
            rows.append(("only a, only b right", "{}, {}".format(*self.discordant)))
        if self.probabilities is not None:
            names = f"P(a, neither, b better by {self.rope:g})"
            rows.append((names, ", ".join(f"{p:.3f}" for p in self.probabilities)))
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
        alpha = 1 - self.confidence_level
        best = find_equal(self.scores, self.scores.max())
        first = " and ".join(self.names[place] for place in best)
        beats = (self.pvalues[best] <= alpha) & (self.differences[best] > 0)
        beaten, left = beats.all(axis=0), ~beats.all(axis=0)
        left[best] = False
        alone = len(best) == 1
        said = f"{first} {'has' if alone else 'share'} the highest score"
        if beaten.any():
            said += f", and {'scores' if alone else 'score'} more than {self._list(beaten)}"
        pairs = "1 pair" if len(self) == 1 else f"{len(self)} pairs"
        said += f" (all P-values corrected for {pairs}, level {100 * alpha:.3g} %)."
        if left.any():
            who = "It is not" if alone else "Not all of them are"
            said += f" {who} shown to differ from {self._list(left)};"
            said += " that is no proof of equality, see the intervals."
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
        scores = [(name, f"{s:.4f}") for name, s in zip(self.names, self.scores, strict=True)]
        pairs = []
        for (a, b), (i, j) in zip(self, combinations(range(len(self.names)), 2), strict=True):
            ends = f"[{self.lows[i, j]:.4f}, {self.highs[i, j]:.4f}]"
            said = f"{self.differences[i, j]:7.4f} {ends}  P = {self.pvalues[i, j]:.3g}"
            pairs.append((f"{a} - {b}", said))
        level = f"{100 * self.confidence_level:g} % intervals and P-values for all together"
        tables = align_text(f"{self.scoring}, {self.method}", scores), align_text(level, pairs)
        return "\n".join([*tables, fill_text(self.conclusion)])
