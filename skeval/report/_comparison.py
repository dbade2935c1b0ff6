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
from skeval.report._metrics_table import list_main_metrics, name_metric
from skeval.report._page import WritableReport
from skeval.report._report import EvaluationReport
from skeval.report._sentences import forbid_quoting
from skeval.utils._text import (
    DataFrame,
    align_rows,
    make_frame,
    write_ends,
    write_number,
    write_pvalue,
)

__all__ = ["EvaluationComparison", "compare_reports", "list_shared_metrics"]

SCORES = {"zero_one": "accuracy", "squared": "neg_mean_squared_error"}


@dataclass(frozen=True, eq=False, repr=False)
class EvaluationComparison(WritableReport, Mapping):
    """The reports of several estimators, and the comparison of all pairs of them.

    It is a mapping: ``comparison["svm"]`` is the `EvaluationReport` of one of them.

    Attributes
    ----------
    reports : dict of str to EvaluationReport
        One for each estimator, on the same folds and resamples.
    comparisons : ClassifierComparisons or None
        All pairs on the test sets of the repeated folds, by the corrected resampled t; None where
        the folds keep the order of the samples, or fits failed.
    call : str
        The program that made it, as source text; it begins with what it needs.
    """

    reports: dict[str, EvaluationReport]
    comparisons: ClassifierComparisons | None
    call: str

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
        grave = forbid_quoting([text for report in self.values() for text in report.warnings])
        poor = [name for name, each in self.items() if each.guess and not each.guess.better]
        beaten = f"Not shown to beat one constant answer: {', '.join(poor)}." if poor else ""
        return " ".join(filter(None, [grave, told, beaten]))

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain Python objects."""
        pairs = self.comparisons
        return {
            "verdict": self.verdict,
            "reports": {name: report.to_dict() for name, report in self.items()},
            "comparisons": [] if pairs is None else _list_pairs(pairs),
        }

    def to_frame(self) -> DataFrame:
        """Return a row for each estimator: error, interval and metrics; needs pandas."""
        return make_frame([dict(_read_row(report)) for report in self.values()], list(self), "name")

    def __str__(self) -> str:
        metrics = list_shared_metrics(self)
        level = f"{100 * next(iter(self.values())).confidence_level:g} % interval"
        rows = [["estimator", "error", level, *map(name_metric, metrics)]]
        for name, report in self.items():
            found = dict(_read_row(report))
            ends = write_ends(found["low"], found["high"])
            numbers = [write_number(found[m]) if m in found else "--" for m in metrics]
            rows.append([name, write_number(found["error"]), ends, *numbers])
        lines = [self.verdict, "", *align_rows(rows, left=(0, 2)), ""]
        if self.comparisons is not None:
            lines += [*_write_pairs(self.comparisons), ""]
        for name, report in self.items():
            lines += [f"! {name}: {text} [{text.code}]" for text in report.warnings]
        return "\n".join(lines).rstrip()


def list_shared_metrics(found: EvaluationComparison) -> list[str]:
    """Return the metrics of all samples that any report has, the most usual ones."""
    usual = ["balanced_accuracy", "matthews_corrcoef", "roc_auc", "log_loss", "r2"]
    usual += ["root_mean_squared_error", "mean_absolute_error"]
    known = {m.name for report in found.values() for m in list_main_metrics(report.metrics)}
    return [name for name in usual if name in known]


def _read_row(report: EvaluationReport) -> Iterator[tuple[str, Any]]:
    """Yield what a report says in one row."""
    quoted = report.answer or report["cross-validation"]
    yield "error", quoted.error
    yield "low", quoted.interval.low
    yield "high", quoted.interval.high
    for each in list_main_metrics(report.metrics):
        yield each.name, each.value


def _list_pairs(pairs: ClassifierComparisons) -> list[dict[str, Any]]:
    """Return the difference of each pair, with simultaneous intervals."""
    rows = []
    for (a, b), (i, j) in zip(pairs, combinations(range(len(pairs.names)), 2), strict=True):
        row: dict[str, Any] = {"a": a, "b": b, "difference": float(pairs.differences[i, j])}
        row |= {"low": float(pairs.lows[i, j]), "high": float(pairs.highs[i, j])}
        rows.append(row | {"pvalue": float(pairs.pvalues[i, j])})
    return rows


def _write_pairs(pairs: ClassifierComparisons) -> list[str]:
    """Return the difference of each pair as lines of text."""
    level = f"{100 * pairs.confidence_level:g} % interval"
    rows = [(f"difference of {pairs.scoring}", "", level, "P")]
    for row in _list_pairs(pairs):
        ends = write_ends(row["low"], row["high"])
        name = f"{row['a']} - {row['b']}"
        rows.append((name, write_number(row["difference"]), ends, write_pvalue(row["pvalue"])))
    return align_rows(rows, left=(0, 2))


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
