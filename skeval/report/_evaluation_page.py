"""The page of an evaluation, with what it shows of the out-of-fold predictions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import starmap
from textwrap import shorten
from typing import Any

import numpy as np

from skeval.feature_selection import SelectionBiasDisplay, SelectionFrequencyDisplay
from skeval.metrics import CalibrationDisplay, PrecisionRecallDisplay, RocCurveDisplay
from skeval.model_selection import PermutationDisplay, PerturbationDisplay
from skeval.model_selection._estimates import (
    BOOTSTRAP_632,
    BOOTSTRAP_632_PLUS,
    BOOTSTRAP_OOB,
    CROSS_VALIDATION,
    LEAVE_ONE_OUT,
    RESUBSTITUTION,
    THIRD_HELD_OUT,
)
from skeval.model_selection._subgroups import describe_difference
from skeval.report._metrics_table import (
    group_by_class,
    list_main_metrics,
    name_metric,
    write_hard_samples,
)
from skeval.report._page import (
    Figure,
    Page,
    Section,
    Table,
    make_figure,
    make_page,
    make_reproduction_section,
    make_warnings_section,
)
from skeval.report._plot import ErrorEstimatesDisplay, draw_residuals
from skeval.report._predictions import ConfusionRates, name_columns
from skeval.report._report import PERTURBED, Estimate, EvaluationReport, name_estimates
from skeval.report._sentences import (
    write_guess,
    write_permutation,
    write_perturbation,
    write_selection,
    write_tuning,
)
from skeval.utils._text import write_number, write_range, write_spread

__all__ = []

N_TOP = 20
LONGEST_FACT = 300
MEANINGS = {
    "answer, repeated_cv": "the number to quote: the mean of repeated cross-validations",
    "answer, given_folds": "the number to quote: the error on the folds that were given",
    RESUBSTITUTION: "on the training samples; optimistic, worth nothing alone",
    THIRD_HELD_OUT: "on a third that was not trained on; depends on which third",
    CROSS_VALIDATION: "every sample predicted by a model trained without it",
    LEAVE_ONE_OUT: "the same, with as many folds as samples",
    BOOTSTRAP_OOB: "on what each resample left out; pessimistic",
    BOOTSTRAP_632: "0.632 of out-of-bag, 0.368 of resubstitution",
    BOOTSTRAP_632_PLUS: "the same, with a weight that grows with the overfitting",
    PERTURBED["cross_validation"]: "interval by refitting under random weights",
    PERTURBED["resubstitution"]: "the same, of the training error; for many samples",
}


@make_page.register
def make_evaluation_page(
    report: EvaluationReport, title: str | None = None, command: str | None = None
) -> Page:
    """Return the answer first, then what it rests on, then how to repeat it."""
    return Page(
        title=title or "Evaluation report",
        verdict=report.verdict,
        basis=report.basis,
        facts=list(_describe_data(report)),
        beside=list(make_beside(report)),
        sections=[
            make_warnings_section("Before you quote a number", report.warnings),
            *make_prediction_sections(report),
            _make_estimates_section(report),
            *_make_perturbation_section(report),
            *_make_chance_section(report),
            *_make_selection_section(report),
            make_reproduction_section(report.call, report.versions, report.date, command),
        ],
    )


def _describe_data(report: EvaluationReport) -> Iterator[str]:
    """Yield the estimator, the size of the data, and the classes."""
    yield shorten(report.estimator, LONGEST_FACT, placeholder=" …")
    features = "" if report.n_features is None else f", {report.n_features} features"
    yield f"{report.n_samples} samples{features}"
    if report.class_sizes:
        sizes = [f"{name}: {size}" for name, size in report.class_sizes.items()]
        yield shorten(f"{len(sizes)} classes ({', '.join(sizes)})", LONGEST_FACT, placeholder=" …")


def _make_estimates_section(report: EvaluationReport) -> Section:
    """Return every estimate, drawn and in a table."""
    named = name_estimates(report.answer, report.estimates, report.perturbation)
    level = f"{100 * report.confidence_level:g} %"
    figure = make_figure(
        partial(ErrorEstimatesDisplay.from_result, report),
        f"Estimates of one error, with {level} intervals.",
        label=f"Forest plot of {len(named)} estimates of the error; the table holds the numbers.",
        height=1.1 + 0.42 * len(named),
    )
    head = ["estimate", "error", f"{level} interval", "standard error", "method"]
    rows = list(starmap(_write_row, named))
    quoted = {name for name, _ in named[:1] if report.answer is not None}
    table = Table("The same in numbers.", head, rows, MEANINGS, quoted, {RESUBSTITUTION})
    sentences = []
    if report.guess and report.guess.better:
        sentences.append(write_guess(report.guess, report.estimates[0].loss))
    return Section("Every estimate", sentences=sentences, figures=[figure], tables=[table])


def _write_row(name: str, estimate: Estimate) -> tuple[str, str, str, str, str]:
    """Return the cells of an estimate in the table of the page."""
    found, error = estimate.interval, write_number(estimate.error)
    ends = write_range(found.low, found.high)
    return name, error, ends, write_spread(estimate.standard_error), found.method


def _make_perturbation_section(report: EvaluationReport) -> Iterator[Section]:
    """Yield the intervals of a linear support vector machine."""
    if not report.perturbation:
        return
    figures = [
        make_figure(
            partial(PerturbationDisplay.from_result, result),
            f"{len(result.statistics)} times each sample got a random weight, and the machine was "
            "trained with these weights. Drawn is the cross-validated error plus what the weighted "
            "mean loss then had more (W*/√n in the paper of the method). So much would the error "
            "vary with other samples; from this spread the interval is made.",
            label="Histogram of the error of the support vector machine under random weights.",
            height=3.2,
        )
        for result in report.perturbation
    ]
    yield Section(
        "The interval of the support vector machine",
        sentences=[write_perturbation(report.perturbation[1])],
        figures=figures,
    )


def _make_chance_section(report: EvaluationReport) -> Iterator[Section]:
    """Yield the permutation test."""
    test = report.permutation
    if not test:
        return
    figure = make_figure(
        partial(PermutationDisplay.from_result, test),
        "The score that labels without any relation to the features reach.",
        label="Histogram of the scores of shuffled labels, and the score of the true ones.",
        height=2.8,
    )
    interval = test.confidence_interval()
    sentences = [
        write_permutation(test),
        f"With endlessly many permutations P would lie between {interval.low:.2g} and "
        f"{interval.high:.2g} ({100 * interval.confidence_level:g} % interval).",
    ]
    yield Section("Could it be chance?", sentences=sentences, figures=[figure])


def _make_selection_section(report: EvaluationReport) -> Iterator[Section]:
    """Yield selection outside against inside the loop, and what was selected."""
    bias, stability = report.selection_bias, report.selection_stability
    if bias is None:
        return
    figures = [
        make_figure(
            partial(SelectionBiasDisplay.from_result, bias),
            "What selecting the features on all samples hides.",
            label="The errors of selecting outside and inside the loop, and their difference.",
            height=2.6,
        ),
    ]
    if stability is not None:
        options: dict[str, Any] = {"feature_names": report.candidate_names, "n_top": N_TOP}
        figures.append(
            make_figure(
                partial(SelectionFrequencyDisplay.from_result, stability, **options),
                "How often each feature was selected.",
                label="How often each feature was selected over the folds.",
                height=0.8 + 0.22 * min(N_TOP, int((stability.frequency > 0).sum())),
            )
        )
    sentences = write_selection(bias, stability)
    yield Section("Did feature selection leak?", sentences=sentences, figures=figures)


MOST_CLASSES = 6
"""Classes of a confusion matrix that stands beside the answer; more make a table of their own."""
MOST_HARD = 20
N_RESAMPLES = 200
"""Of the bands of curves; their ends need no more where they are drawn."""


def make_beside(report: EvaluationReport) -> Iterator[Table]:
    """Yield what stands beside the answer: the confusion matrix, or the metrics of numbers."""
    if report.confusion is None:
        if report.class_sizes is None:
            yield _make_metrics_table(report)
    elif len(report.confusion.labels) <= MOST_CLASSES:
        yield _make_confusion_table(report.confusion, report.confidence_level)


def make_prediction_sections(report: EvaluationReport) -> Iterator[Section]:
    """Yield the metrics, the curves, the subgroups, the tuning and the hard samples."""
    tables = []
    if report.class_sizes is not None:
        tables = [_make_metrics_table(report), *_make_class_tables(report)]
        if report.confusion and len(report.confusion.labels) > MOST_CLASSES:
            tables.append(_make_confusion_table(report.confusion, report.confidence_level))
    yield Section(
        "By other measures",
        sentences=[_explain_metrics(report)],
        figures=list(_draw_curves(report)),
        tables=tables,
    )
    yield from _make_subgroup_section(report)
    yield from _make_tuning_section(report)
    yield from _make_hard_section(report)


def _explain_metrics(report: EvaluationReport) -> str:
    """Say what the metrics are of, and what their intervals are for."""
    start = "Of predictions of every sample by models that were fitted without it"
    if report.answer is None:
        return f"{start}. Samples in order are not independent: there are no intervals."
    text = f"{start}. The intervals are, as that of the answer, for the rule fitted to all samples."
    if report.out_of_fold.class_scores is None:
        return text
    return f"{text} Areas under the ROC curve count the pairs of samples that one model scored."


def _make_metrics_table(report: EvaluationReport) -> Table:
    """Return the metrics of all samples."""
    rows = [
        (
            name_metric(each.name),
            write_number(each.value),
            write_range(each.interval.low, each.interval.high),
        )
        for each in list_main_metrics(report.metrics)
    ]
    head = ["metric of new samples", "estimate", f"{100 * report.confidence_level:g} % interval"]
    return Table("All samples.", head, rows)


def _make_class_tables(report: EvaluationReport) -> Iterator[Table]:
    """Yield a table of the metrics of each class."""
    by_class = group_by_class(report.metrics)
    if not by_class:
        return
    metrics = list(dict.fromkeys(m.details["metric"] for found in by_class.values() for m in found))
    rows = []
    for label, found in by_class.items():
        known = {each.details["metric"]: each for each in found}
        cells = [_write_shortly(known[m]) if m in known else "" for m in metrics]
        rows.append((label, *cells))
    yield Table("By class.", ["class", *map(name_metric, metrics)], rows)


def _write_shortly(each: Any) -> str:
    """Return an estimate with its interval below it."""
    if np.isnan(each.interval.low):
        return write_number(each.value)
    return f"{each.value:.3f}\n{each.interval.low:.3f}–{each.interval.high:.3f}"


def _make_confusion_table(confusion: ConfusionRates, confidence_level: float) -> Table:
    """Return the confusion matrix: counts, and shares of the row with their intervals."""
    rows = []
    for k, label in enumerate(confusion.labels):
        cells = [
            f"{confusion.counts[k, j]:.4g}\n{_write_share(confusion, k, j)}"
            for j in range(len(confusion.labels))
        ]
        rows.append((label, *cells))
    caption = (
        "Samples of each class (rows) by what they are taken for (columns), on average over the "
        f"repeats; share of the row, {100 * confidence_level:g} % interval."
    )
    return Table(caption, name_columns(confusion.labels), rows)


def _write_share(confusion: ConfusionRates, row: int, column: int) -> str:
    low, high = 100 * confusion.low[row, column], 100 * confusion.high[row, column]
    return f"{100 * confusion.rates[row, column]:.1f} %\n({low:.0f}–{high:.0f})"


def _draw_curves(report: EvaluationReport) -> Iterator[Figure]:
    """Yield the ROC, precision-recall and calibration curves, or the residuals."""
    found, classes = report.out_of_fold, report.out_of_fold.target.classes
    if classes is None:
        yield make_figure(
            partial(draw_residuals, found),
            "What is left to explain: the mean out-of-fold prediction of each sample and how far "
            "the truth lies above it. Without a pattern is best.",
            label="Residuals by prediction.",
            height=3.0,
        )
    if classes is None or found.class_scores is None or len(classes) > 2:
        return
    one = found.repeat == 0  # a sample counts once in a band
    options: dict[str, Any] = {"pos_label": classes[1], "confidence_level": report.confidence_level}
    banded = options | {"n_resamples": N_RESAMPLES, "random_state": 0, "label": "scores"}
    banded["groups"] = None if found.group is None else found.group[one]
    data = found.target.y[found.row[one]], found.class_scores[one, 1]
    for display, name in ((RocCurveDisplay, "ROC"), (PrecisionRecallDisplay, "Precision-recall")):
        yield make_figure(
            partial(display.from_predictions, *data, **banded),
            f"{name} curve of the out-of-fold scores of one cross-validation, with its interval at "
            "each point and the band of the whole curve. It pools the scores of all folds, and the "
            "bands leave out that training anew would change the models: its area is not that of "
            "the table.",
            label=f"{name} curve with its band.",
            height=3.6,
        )
    if found.probabilities is not None:
        data = data[0], found.probabilities[one, 1]
        yield make_figure(
            partial(CalibrationDisplay.from_predictions, *data, **options),
            "Calibration: how often the class is there where the models say so with a probability.",
            label="Calibration curve with the intervals of its bins.",
            height=3.6,
        )


def _make_subgroup_section(report: EvaluationReport) -> Iterator[Section]:
    """Yield the error in each subgroup."""
    found = report.subgroups
    if found is None:
        return
    rows = [
        (
            str(name),
            str(each.n_samples),
            write_number(each.value),
            write_range(each.interval.low, each.interval.high),
        )
        for name, each in found.items()
    ]
    one = next(iter(found.values()))
    head = ["subgroup", "samples", one.name, f"{100 * one.confidence_level:g} % interval"]
    yield Section(
        "By subgroup",
        sentences=[describe_difference(found.largest_difference)],
        tables=[Table("The error in each subgroup.", head, rows)],
    )


def _make_tuning_section(report: EvaluationReport) -> Iterator[Section]:
    """Yield what the search for hyperparameters claimed, and what it chose."""
    found = report.tuning
    if found is None:
        return
    total = int(found.counts.sum())
    rows = [
        (", ".join(f"{name}={value!r}" for name, value in setting.items()), f"{count} of {total}")
        for setting, count in zip(found.settings[:MOST_HARD], found.counts, strict=False)
    ]
    yield Section(
        "What did tuning cost?",
        sentences=[write_tuning(found)],
        tables=[Table("Settings that the searches chose.", ["setting", "chosen"], rows)],
    )


def _make_hard_section(report: EvaluationReport) -> Iterator[Section]:
    """Yield the samples that are wrong again and again."""
    hard = report.hard_samples
    if not hard.always:
        return
    numbers = report.class_sizes is None
    rows: Sequence[Sequence[str]] = [
        (
            row["name"],
            row["truth"],
            row["prediction"],
            f"{row['wrong']:.1f} times" if numbers else f"{100 * row['wrong']:.0f} %",
        )
        for row in hard.to_records()[:MOST_HARD]
    ]
    head = ["sample", "is", "predicted" if numbers else "taken for"]
    head.append("usual residual" if numbers else "wrong in")
    yield Section(
        "Samples to look at",
        sentences=write_hard_samples(hard, numbers),
        tables=[Table("The worst predicted.", head, rows)],
    )
