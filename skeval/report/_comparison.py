"""Several estimators evaluated on the same folds: side by side, and which is better."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skeval.model_selection import Comparison
from skeval.model_selection._compare import GivenSplits, default_rope
from skeval.model_selection._comparison_methods import Question, compare
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
    comparison : Comparison or None
        All pairs on the test sets of the repeated folds, by the corrected resampled t; None where
        the folds keep the order of the samples, or fits failed.
    call : str
        The program that made it, as source text; it begins with what it needs.
    """

    reports: dict[str, EvaluationReport]
    comparison: Comparison | None
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
        if self.comparison is not None:
            told = self.comparison.conclusion
        grave = forbid_quoting([text for report in self.values() for text in report.warnings])
        poor = [name for name, each in self.items() if each.guess and not each.guess.better]
        beaten = f"Not shown to beat one constant answer: {', '.join(poor)}." if poor else ""
        return " ".join(filter(None, [grave, told, beaten]))

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain Python objects."""
        return {
            "verdict": self.verdict,
            "reports": {name: report.to_dict() for name, report in self.items()},
            "comparison": self.comparison and self.comparison.to_dict(),
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
        if self.comparison is not None:
            lines += [*_write_pairs(self.comparison), ""]
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


def _write_pairs(found: Comparison) -> list[str]:
    """Return the difference of each pair as lines of text."""
    level = f"{100 * found.confidence_level:g} % interval"
    rows = [(f"difference of {found.scoring}", "", level, "P")]
    for (a, b), each in found.differences.items():
        ends = write_ends(each.interval.low, each.interval.high)
        rows.append((f"{a} - {b}", write_number(each.value), ends, write_pvalue(each.pvalue)))
    return align_rows(rows, left=(0, 2))


def compare_reports(reports: dict[str, EvaluationReport]) -> Comparison | None:
    """Return the comparison of all pairs by the mean losses of the test sets, if there are any."""
    first = next(iter(reports.values()))
    if first.answer is None:
        return None
    columns = [_score_test_sets(report) for report in reports.values()]
    if any(np.isnan(column).any() for column in columns):
        return None
    scoring = SCORES.get(first.answer.loss, f"minus the mean {first.answer.loss} loss")
    source = GivenSplits(
        tuple(reports),
        np.column_stack(columns),
        first.out_of_fold.test_train_ratio,
        scoring,
        first.n_samples,
    )
    rope, level = default_rope(scoring), first.confidence_level
    with warnings.catch_warnings():  # the table shows what is undefined
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return compare(source, "corrected_t", Question(rope=rope, confidence_level=level))


def _score_test_sets(report: EvaluationReport) -> np.ndarray:
    """Return the score of each test set, nan where the fit failed; larger is better."""
    found, n_fits = report.out_of_fold, report.out_of_fold.n_fits
    sizes = np.bincount(found.fit, minlength=n_fits)
    with np.errstate(invalid="ignore"):
        means: np.ndarray = np.bincount(found.fit, found.loss, minlength=n_fits) / sizes
    return 1 - means if report.answer and report.answer.loss == "zero_one" else -means
