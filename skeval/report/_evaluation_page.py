"""The page of an evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import starmap
from textwrap import shorten
from typing import Any

from skeval.feature_selection import SelectionBiasDisplay, SelectionFrequencyDisplay
from skeval.model_selection import PermutationDisplay, PerturbationDisplay
from skeval.model_selection._methods import (
    BOOTSTRAP_632,
    BOOTSTRAP_632_PLUS,
    BOOTSTRAP_OOB,
    CROSS_VALIDATION,
    LEAVE_ONE_OUT,
    RESUBSTITUTION,
    THIRD_HELD_OUT,
)
from skeval.report._estimates_table import PERTURBED, Estimate, name_estimates
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
from skeval.report._prediction_sections import make_beside, make_prediction_sections
from skeval.report._report import EvaluationReport
from skeval.report._sentences import (
    write_permutation,
    write_perturbation,
    write_selection,
)
from skeval.report._verdict import write_guess
from skeval.utils._text import write_number, write_range, write_spread

__all__ = ["make_evaluation_page"]

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
    interval = test.pvalue_interval
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
