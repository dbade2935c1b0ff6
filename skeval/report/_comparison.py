"""Several estimators evaluated on the same folds: side by side, and which is better."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skeval.model_selection import ClassifierComparison, ClassifierComparisons
from skeval.model_selection._comparison import default_rope, judge_splits
from skeval.report._plot import ErrorEstimatesDisplay
from skeval.report._report import EvaluationReport
from skeval.report._sections import Figure, Report, Section, Table
from skeval.report._sentences import forbid_quoting, name_metric
from skeval.report._warnings import Caution
from skeval.utils._text import write_pvalue

__all__ = ["EvaluationComparison", "collect_cautions", "compare_reports"]

USUAL = (
    "balanced_accuracy",
    "matthews_corrcoef",
    "roc_auc",
    "log_loss",
    "r2",
    "root_mean_squared_error",
    "mean_absolute_error",
)
"""The metrics that stand side by side, of those that any report has."""
SCORES = {"zero_one": "accuracy", "squared": "neg_mean_squared_error"}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EvaluationComparison(Report, Mapping):
    """The reports of several estimators, and the comparison of all pairs of them.

    It is a mapping: ``comparison["svm"]`` is the `EvaluationReport` of one of them. It has the
    `warnings` of all, and the `seed`, the `settings`, the `versions`, the `call` and the `date` of
    every report.

    Attributes
    ----------
    reports : dict of str to EvaluationReport
        One for each estimator, on the same folds and resamples.
    comparisons : ClassifierComparisons or None
        All pairs on the test sets of the repeated folds, by the corrected resampled t; None where
        the folds keep the order of the samples, or fits failed.
    """

    reports: dict[str, EvaluationReport]
    comparisons: ClassifierComparisons | None

    title, main_part, row_name = "Comparison of estimators", "estimators", "name"

    def __getitem__(self, name: str) -> EvaluationReport:
        """Return the report of an estimator."""
        if name not in self.reports:
            raise KeyError(f"no report {name!r}; there are {', '.join(map(repr, self.reports))}")
        return self.reports[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the estimators."""
        return iter(self.reports)

    def __len__(self) -> int:
        """Return the number of estimators."""
        return len(self.reports)

    @property
    def verdict(self) -> str:
        """Which estimator is better, as far as can be told, and what is grave."""
        told = (
            "Which is better is not tested: the folds keep the order of the samples, or fits "
            "failed."
        )
        if self.comparisons is not None:
            told = self.comparisons.conclusion
        grave = forbid_quoting(self.warnings)
        poor = [name for name, each in self.items() if each.guess and not each.guess.better]
        beaten = f"Not shown to beat one constant answer: {', '.join(poor)}." if poor else ""
        return " ".join(filter(None, [grave, told, beaten]))

    @property
    def facts(self) -> list[str]:
        """The size of the data, and of how many estimators."""
        return [f"{self._first.n_samples} samples, {len(self)} estimators on the same folds"]

    @property
    def about(self) -> dict[str, Any]:
        """What `to_dict` has before the results of the sections: every report."""
        return {"reports": self.reports}

    @property
    def _first(self) -> EvaluationReport:
        return next(iter(self.values()))

    def _make_sections(self) -> Iterator[Section]:
        """Yield all side by side, each pair, and each estimator."""
        yield self._show_side_by_side()
        yield self._show_pairs()
        for name, report in self.items():
            yield Section(name, explains=[report.verdict], code=report.estimator)

    def _show_side_by_side(self) -> Section:
        """Show errors and metrics, a row for each estimator."""
        known = {name for report in self.values() for name in report.main_metrics}
        metrics = [name for name in USUAL if name in known]
        quoted = {name: report.quoted for name, report in self.items()}
        level = self._first.level
        rows = []
        for name, report in self.items():
            found, interval = report.main_metrics, quoted[name].interval
            cells = [found[metric].value if metric in found else "--" for metric in metrics]
            rows.append((name, quoted[name].error, (interval.low, interval.high), *cells))
        display = ErrorEstimatesDisplay(
            methods=list(self),
            errors=np.array([each.error for each in quoted.values()]),
            low=np.array([each.interval.low for each in quoted.values()]),
            high=np.array([each.interval.high for each in quoted.values()]),
            confidence_level=self._first.confidence_level,
            loss=self._first.quoted.loss,
            guess=self._first.guess and self._first.guess.error,
        )
        figure = Figure(
            display.plot,
            f"The error of each, with {level}s. Two that overlap may still differ: the pairs "
            "below are compared on the same samples.",
            label=f"Forest plot of the errors of {len(self)} estimators.",
            height=1.2 + 0.42 * len(self),
        )
        head = ["estimator", "error", level, *map(name_metric, metrics)]
        return Section(
            "Side by side",
            figures=[figure],
            tables=[Table("In numbers.", head, rows, left=(0, 2))],
            results={"estimators": [_read_row(*item) for item in self.items()]},
        )

    def _show_pairs(self) -> Section:
        """Show the differences of all pairs."""
        heading, pairs = "Which is better?", self.comparisons
        if pairs is None:
            return Section(heading, results={"comparisons": []})
        found = _list_pairs(pairs)
        rows = [
            (
                f"{row['a']} - {row['b']}",
                row["difference"],
                (row["low"], row["high"]),
                write_pvalue(row["pvalue"]),
            )
            for row in found
        ]
        table = Table(
            f"Differences of {pairs.scoring} on the same test sets, by the corrected resampled t; "
            "the intervals hold together, P-values are corrected by Holm.",
            ["pair", f"difference of {pairs.scoring}", self._first.level, "P"],
            rows,
            left=(0, 2),
        )
        return Section(heading, tables=[table], results={"comparisons": found})


def _read_row(name: str, report: EvaluationReport) -> dict[str, Any]:
    """Return what a report says in one row."""
    quoted = report.quoted
    row = {"name": name, "error": quoted.error}
    row |= {"low": quoted.interval.low, "high": quoted.interval.high}
    return row | {metric: each.value for metric, each in report.main_metrics.items()}


def _list_pairs(pairs: ClassifierComparisons) -> list[dict[str, Any]]:
    """Return the difference of each pair, with simultaneous intervals."""
    rows = []
    for (a, b), (i, j) in zip(pairs, combinations(range(len(pairs.names)), 2), strict=True):
        row: dict[str, Any] = {"a": a, "b": b, "difference": float(pairs.differences[i, j])}
        row |= {"low": float(pairs.lows[i, j]), "high": float(pairs.highs[i, j])}
        rows.append(row | {"pvalue": float(pairs.pvalues[i, j])})
    return rows


def collect_cautions(reports: Mapping[str, EvaluationReport]) -> Iterator[Caution]:
    """Yield the warnings of every report, with the name of its estimator."""
    for name, report in reports.items():
        for text in report.warnings:
            yield Caution(text.code, f"{name}: {text}", text.headline)


def compare_reports(reports: dict[str, EvaluationReport]) -> ClassifierComparisons | None:
    """Return the comparison of all pairs by the mean losses of the test sets, if there are any."""
    first = next(iter(reports.values()))
    if first.answer is None:
        return None
    columns = {name: _score_test_sets(report) for name, report in reports.items()}
    if any(np.isnan(column).any() for column in columns.values()):
        return None
    names, scores = tuple(columns), np.column_stack(list(columns.values()))
    ratio = first.out_of_fold.test_train_ratio
    scoring = SCORES.get(first.answer.loss, f"minus the mean {first.answer.loss} loss")
    level, rope = first.confidence_level, default_rope(scoring)
    comparisons = {}
    for a, b in combinations(range(len(names)), 2):
        with warnings.catch_warnings():  # the table shows what is undefined
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            test, details = judge_splits(scores[:, [a, b]], ratio, rope, "two-sided")
        comparisons[names[a], names[b]] = ClassifierComparison(
            method="corrected_t",
            scoring=scoring,
            name_a=names[a],
            name_b=names[b],
            score_a=float(scores[:, a].mean()),
            score_b=float(scores[:, b].mean()),
            difference=float(scores[:, a].mean() - scores[:, b].mean()),
            standard_error=test.standard_error,
            statistic=test.statistic,
            pvalue=test.pvalue,
            limits={"corrected_t": test.limits},
            n_samples=first.n_samples,
            confidence_level=level,
            **details,
        )
    means = scores.mean(axis=0)
    settled = {"confidence_level": level, "rope": rope}
    return ClassifierComparisons(names, "corrected_t", scoring, means, comparisons, **settled)


def _score_test_sets(report: EvaluationReport) -> np.ndarray:
    """Return the score of each test set, nan where the fit failed; larger is better."""
    found, n_fits = report.out_of_fold, report.out_of_fold.n_fits
    sizes = np.bincount(found.fit, minlength=n_fits)
    with np.errstate(invalid="ignore"):
        means: np.ndarray = np.bincount(found.fit, found.loss, minlength=n_fits) / sizes
    return 1 - means if report.answer and report.answer.loss == "zero_one" else -means
