"""The page of several estimators."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from skeval.report._comparison import EvaluationComparison, list_shared_metrics
from skeval.report._metrics_table import list_main_metrics, name_metric
from skeval.report._page import (
    Page,
    Section,
    Table,
    make_figure,
    make_page,
    make_reproduction_section,
    make_warnings_section,
)
from skeval.report._plot import ErrorEstimatesDisplay
from skeval.report._report import EvaluationReport
from skeval.report._warnings import Caution
from skeval.utils._text import write_number, write_pvalue, write_range

__all__ = ["make_comparison_page"]


@make_page.register
def make_comparison_page(
    found: EvaluationComparison, title: str | None = None, command: str | None = None
) -> Page:
    """Return which is better first, then all side by side, then each pair."""
    first = next(iter(found.values()))
    warnings = [
        Caution(text.code, f"{name}: {text}", text.headline)
        for name, report in found.items()
        for text in report.warnings
    ]
    sections = [
        make_warnings_section("Before you quote a number", warnings),
        _make_side_by_side(found),
        *_make_pairs_section(found),
        *(_make_report_section(name, report) for name, report in found.items()),
    ]
    sections.append(make_reproduction_section(found.call, first.versions, first.date, command))
    return Page(
        title=title or "Comparison of estimators",
        verdict=found.verdict,
        facts=[f"{first.n_samples} samples, {len(found)} estimators on the same folds"],
        sections=sections,
    )


def _make_side_by_side(found: EvaluationComparison) -> Section:
    """Return errors and metrics, a row for each estimator."""
    metrics, rows = list_shared_metrics(found), []
    first = next(iter(found.values()))
    answers = [report.answer or report["cross-validation"] for report in found.values()]
    for (name, report), answer in zip(found.items(), answers, strict=True):
        known = {m.name: m for m in list_main_metrics(report.metrics)}
        cells = [write_number(known[m].value) if m in known else "--" for m in metrics]
        ends = write_range(answer.interval.low, answer.interval.high)
        rows.append((name, write_number(answer.error), ends, *cells))
    level = f"{100 * answers[0].confidence_level:g} %"
    display = ErrorEstimatesDisplay(
        methods=list(found),
        errors=np.array([answer.error for answer in answers]),
        low=np.array([answer.interval.low for answer in answers]),
        high=np.array([answer.interval.high for answer in answers]),
        confidence_level=answers[0].confidence_level,
        loss=answers[0].loss,
        guess=first.guess and first.guess.error,
    )
    figure = make_figure(
        display.plot,
        f"The error of each, with {level} intervals. Two that overlap may still differ: the pairs "
        "below are compared on the same samples.",
        label=f"Forest plot of the errors of {len(found)} estimators.",
        height=1.2 + 0.42 * len(found),
    )
    head = ["estimator", "error", f"{level} interval", *map(name_metric, metrics)]
    return Section("Side by side", figures=[figure], tables=[Table("In numbers.", head, rows)])


def _make_pairs_section(found: EvaluationComparison) -> Iterator[Section]:
    """Yield the differences of all pairs."""
    if found.comparisons is None:
        return
    rows = [
        (
            f"{row['a']} − {row['b']}",
            write_number(row["difference"]),
            write_range(row["low"], row["high"]),
            write_pvalue(row["pvalue"]),
        )
        for row in found.to_dict()["comparisons"]
    ]
    level = f"{100 * found.comparisons.confidence_level:g} %"
    head = ["pair", "difference", f"{level} interval", "P"]
    caption = (
        f"Differences of {found.comparisons.scoring} on the same test sets, by the corrected "
        "resampled t; the intervals hold together, P-values are corrected by Holm."
    )
    yield Section("Which is better?", tables=[Table(caption, head, rows)])


def _make_report_section(name: str, report: EvaluationReport) -> Section:
    """Return what one estimator is and what was found of it."""
    return Section(name, sentences=[report.verdict], code=report.estimator)
