"""Report of an estimator: the sections that other scored predictions do not have."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from skeval._inference.estimate import Estimate
from skeval.feature_selection import SelectionFrequencyDisplay
from skeval.report import _scored, _sentences
from skeval.report._coverage import write_coverage
from skeval.report._findings import ALPHA
from skeval.report._report import Layout
from skeval.report._scored import FIRST_ROWS, MAX_ROWS, Drawn, in_target_unit, write_level
from skeval.report._sections import Figure, Section, Table, list_grave
from skeval.utils._text import count, write_spread

MIN_PERTURBATIONS = 200


def _write_title(report: Any) -> str:
    """Return the heading of the page: the target, if it has a name, and the size of the data."""
    target = getattr(report.out_of_fold.target.given, "name", None)
    predicted = "Evaluation report" if target is None else f"Predicting {target}"
    return f"{predicted}: {count(report.n_samples, 'sample')}"


def _describe_coverage(report: Any) -> list[str]:
    """Describe the target of the main interval, how it was computed, and its measured coverage."""
    predictions = report.out_of_fold
    weighted, shares = bool(np.ptp(predictions.weight)), predictions.probabilities
    certain = shares is not None and not np.all(shares)
    target = predictions.target.y.astype(float) if predictions.target.classes is None else None
    coverage = write_coverage(
        report.answer, report.class_sizes, predictions.cases, weighted, certain, target
    )
    if coverage and list_grave(report.warnings):
        return [*coverage[:1], _sentences.FAULTY]
    return coverage


def _write_facts(report: Any) -> list[str]:
    """Return the size of the data, and the classes."""
    features = "" if report.n_features is None else f", {count(report.n_features, 'feature')}"
    return [f"{_scored.describe_classes(report)}{features}"]


def _describe_estimator(report: Any) -> tuple[str, str]:
    """Return the estimator as a short text and as source text."""
    return report.estimator_name, report.estimator


def _describe_answer(report: Any) -> dict[str, Any]:
    """Return the main estimate, and what its interval covers."""
    return report.answer.to_dict() | {"covers": " ".join(_describe_coverage(report))}


def _list_estimates(report: Any) -> list[Any]:
    """Return all estimates of the error, the main one first."""
    return [report.answer, *report.estimates.values()]


def _find_largest(report: Any) -> Any:
    """Return the largest difference between subgroups."""
    return report.subgroups and report.subgroups.largest_difference


def _name_estimates(report: Any) -> dict[str, Estimate]:
    """Return all estimates by name, the main estimate first, perturbation last."""
    intervals = report.perturbation or ()
    perturbed = {_sentences.PERTURBED[one.extra.statistic]: one for one in intervals}
    return {f"main estimate ({report.answer.method})": report.answer} | report.estimates | perturbed


def _plot(report: Any, ax: Any) -> Any:
    """Draw all estimates of the error, the main estimate first."""
    level = f", {100 * report.confidence_level:g} % intervals"
    return Drawn.of(_name_estimates(report), report).plot(ax, level=level, quoted=0)


def show_estimates(report: Any) -> Section:
    """Return the section with every estimate of the error, drawn and in a table."""
    named, loss, baseline = _name_estimates(report), report.loss, report.baseline
    figure = Figure(
        report.plot,
        f"Estimates of one error, with {100 * report.confidence_level:g} % intervals.",
        label=f"Forest plot of {len(named)} estimates of the error; the table contains the "
        "numbers.",
        height=1.1 + 0.42 * len(named),
    )
    rows = []
    for name, estimate in named.items():
        value, spread, interval = in_target_unit(estimate)
        rows.append((name, value, write_spread(spread), interval, interval.method))
    error = "root mean squared error" if loss == "squared" else "error"
    table = Table(
        "The same as a table.",
        ["estimate", error, "std. error", write_level(report), "method"],
        rows,
        notes=_sentences.MEANINGS,
        quoted={next(iter(named))},
        muted={"resubstitution"},
        left=(0, 3, 4),
    )
    sentences = []
    if baseline is not None and baseline.better and not list_grave(report.warnings):
        sentences.append(_sentences.write_baseline(baseline, loss))
    if report.omitted:
        sentences.append(_sentences.write_omitted(report.omitted))
    values = [estimate.value for estimate in named.values()]
    width = _sentences.find_width(report.answer, loss)
    least, most = (_sentences.write_amount(end, loss, width) for end in (min(values), max(values)))
    span = f"from {least} to {most}" if least != most else f"all {least}"
    heading = f"{len(named)} estimates of one error, {span}"
    return Section(heading, sentences=sentences, figures=[figure], tables=[table])


def show_perturbation(report: Any) -> Section | None:
    """Return the section of the intervals of a linear support vector machine."""
    intervals = report.perturbation
    if not intervals:
        return None
    figures = [
        Figure(
            result.plot,
            f"{_sentences.PERTURBED[result.extra.statistic]}: the error under each random "
            "weighting.",
            label="Histogram of the error of the support vector machine under random weights.",
            height=3.2,
        )
        for result in intervals
    ]
    n = len(intervals[0].replicates)
    text = (
        f"{n} refits with random sample weights. The histograms show the cross-validated "
        "error plus the change of the weighted mean loss (W*/√n in the paper), on the "
        "left for held-out samples, on the right for training samples. Their spread "
        "estimates how much the error varies between samples, and gives the interval."
    )
    if n < MIN_PERTURBATIONS:
        text += f" With only {n} refits, the histograms and the intervals are rough."
    low, high = intervals[0].interval
    return Section(
        f"Perturbation interval of the support vector machine: {100 * low:.1f} to "
        f"{100 * high:.1f} %",
        sentences=[_sentences.write_perturbation(intervals[1])],
        explains=[text],
        figures=figures,
    )


def show_permutation(report: Any) -> Section | None:
    """Return the section of the permutation test."""
    test = report.permutation
    if test is None:
        return None
    figure = Figure(
        test.plot,
        "Scores on shuffled labels (null distribution).",
        label="Histogram of the scores on shuffled labels, with the score on the true labels.",
        height=2.8,
    )
    interval = test.confidence_interval()
    explains = [
        f"Monte Carlo error of P: {100 * interval.confidence_level:g} % CI {interval.low:.2g} "
        f"to {interval.high:.2g}."
    ]
    if report.baseline is not None and report.baseline.better != (test.pvalue <= ALPHA):
        explains.append(_sentences.TESTS_DISAGREE)
    runs = count(test.n_resamples, "run")
    return Section(
        f"Shuffled labels scored as well in {test.n_exceedances} of {runs}",
        sentences=[_sentences.write_permutation(test)],
        explains=explains,
        figures=[figure],
    )


def show_selection(report: Any) -> Section | None:
    """Return the section of selection outside and within the folds, and the selected features."""
    bias, stability = report.selection_bias, report.selection_stability
    if bias is None:
        return None
    figures = [
        Figure(
            bias.plot,
            "Error with features selected on all samples (CV1) and within the folds (CV2).",
            label="CV1 error, CV2 error and their difference.",
            height=2.6,
        )
    ]
    if stability is not None:
        options = {"feature_names": report.candidate_names, "n_top": MAX_ROWS}
        figures.append(
            Figure(
                partial(SelectionFrequencyDisplay.from_result, stability, **options),
                "Selection frequency of each feature.",
                label="Selection frequency of each feature over the folds.",
                height=0.8 + 0.22 * min(MAX_ROWS, stability.extra.selected_ever),
            )
        )
    return Section(
        f"Selecting features on all samples would have given "
        f"{_sentences.write_rate(bias.extra.cv1_error)}",
        sentences=_sentences.write_selection(bias, stability),
        figures=figures,
    )


def show_tuning(report: Any) -> Section | None:
    """Return the section of the hyperparameter search: its best score, and selected settings."""
    bias = report.tuning
    if bias is None:
        return None
    shown = "is optimistic" if bias.interval.low > 0 else "is not significantly optimistic"
    n_searches = int(bias.extra.counts.sum())
    rows = [
        (", ".join(f"{name}={value!r}" for name, value in setting.items()), f"{n} of {n_searches}")
        for setting, n in zip(bias.extra.settings[:MAX_ROWS], bias.extra.counts, strict=False)
    ]
    caption, head = "Hyperparameters selected by the searches.", ["setting", "chosen"]
    return Section(
        f"The best score of the search {shown}",
        sentences=[_sentences.write_tuning(bias)],
        tables=[Table(caption, head, rows, n_on_page=FIRST_ROWS, n_in_text=0)],
    )


ESTIMATOR = Layout(
    title=_write_title,
    verdict=_sentences.write_verdict,
    figure=_scored.draw_main,
    facts=_write_facts,
    evaluated=_describe_estimator,
    basis=_describe_coverage,
    sections=(
        _scored.show_metrics,
        _scored.show_curves,
        _scored.show_subgroups,
        show_estimates,
        show_perturbation,
        show_permutation,
        show_selection,
        show_tuning,
        _scored.show_hard_samples,
    ),
    about=(
        "answer", "n_samples", "class_sizes", "confidence_level", "estimator", "n_features",
        "feature_names", "rare_class", "never_predicted", "positive",
    ),
    records=(
        "metrics", "confusion", "subgroups", "largest_difference", "estimates", "baseline",
        "omitted", "perturbation", "permutation", "selection_bias", "selection_stability",
        "candidate_names", "tuning", "hard_samples",
    ),
    computed={
        "answer": _describe_answer,
        "positive": _scored.find_positive_class,
        "largest_difference": _find_largest,
        "estimates": _list_estimates,
    },
    main_part="estimates",
    row_name="method",
    plot=_plot,
    predictions=_scored.frame_predictions,
)  # fmt: skip
