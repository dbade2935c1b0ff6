"""Report of existing predictions: the sections that other scored predictions do not have."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from skeval._inference.errors import TestLosses, spread_of_mean
from skeval._inference.estimate import Results
from skeval._inference.intervals import describe_groups
from skeval.report import _scored, _sentences
from skeval.report._drawings import draw_smooth
from skeval.report._parsed_predictions import POSITIVE_WORDS
from skeval.report._report import Layout
from skeval.report._sections import Figure, Section, Table
from skeval.utils._text import name_label, write_ends, write_number

MEANINGS = {
    "Brier score": "The Brier score is the mean squared difference between predicted probability "
    "and outcome; 0 is best.",
    "area under the ROC curve": "The area under the ROC curve is the share of pairs of samples "
    "from both classes that the score ranks correctly; 1 is best.",
}


def _describe_basis(report: Any) -> list[str]:
    """Explain a lesser-known main metric, the target of the intervals, groups, and the class."""
    predictions = report.out_of_fold
    more = ", each with its weight" if np.ptp(predictions.weight) else ""
    meaning = [text for name, text in MEANINGS.items() if name == report.answer.name]
    basis = [*meaning, describe_target(report, more)]
    # the correlation of losses within groups
    if predictions.group is not None and not np.isnan(predictions.loss).any():
        weight = predictions.look_up(predictions.weight)
        spread = spread_of_mean(TestLosses(predictions.loss, weight, predictions.group))
        alone = spread_of_mean(TestLosses(predictions.loss, weight)).variance
        if spread.variance > 0:
            effective = report.n_samples * min(1.0, alone / spread.variance)
            together = spread.groups["intraclass_correlation"]
            basis.append(describe_groups(report.n_samples, together, effective))
    # the class that scores refer to and, if chosen by order, how to change it
    classes = predictions.target.classes
    if report.positive is None or classes is None or classes.dtype.kind not in "USO":
        return basis
    text = f"Positive class: {name_label(report.positive)}"
    words = tuple(str(label).strip().lower() for label in classes)
    if report.settings.get("pos_label", "None") == "None" and words not in POSITIVE_WORDS:
        text += (
            f", the second in sorted order; if the {report.kind} refer to "
            f"{name_label(classes[0])}, pass pos_label={classes.tolist()[0]!r} (--pos-label)"
        )
    return [*basis, f"{text}."]


def describe_target(report: Any, more: str) -> str:
    """Describe the target of the intervals."""
    groups = report.n_groups
    units = "samples" if groups is None else f"groups of samples ({groups} here)"
    return (
        f"Intervals are for the same system on new {units} from the same population{more}. "
        "Variation from retraining is not included."
    )


def _write_facts(report: Any) -> list[str]:
    """Return the predictions, and the classes."""
    what = report.kind
    if report.positive is not None:
        what += f" of class {report.positive}"
    facts = [f"{_scored.describe_classes(report)} with {what}"]
    if report.threshold is not None:
        facts.append(f"predicted as {report.positive} at a threshold of {report.threshold:g}")
    return facts if report.n_groups is None else [*facts, f"{report.n_groups} groups"]


def list_differences(report: Any) -> Any:
    """Return the differences of the subgroups from the rest."""
    return report.subgroups and report.subgroups.less_the_rest


ABOUT = (
    "answer", "n_samples", "class_sizes", "confidence_level", "kind", "threshold", "n_groups",
    "baseline", "positive", "labels", "rare_class", "never_predicted",
)  # fmt: skip
RECORDS = (
    "metrics", "confusion", "at_threshold", "calibration", "within", "subgroups", "less_the_rest",
    "hard_samples",
)  # fmt: skip
COMPUTED = {"less_the_rest": list_differences}


def show_threshold(report: Any) -> Section | None:
    """Return the section of the threshold, with the optimism of choosing it."""
    measures, level = report.at_threshold, _scored.write_level(report)
    if measures is None:
        return None
    shares = dict(measures)
    cut = shares.pop("threshold")
    start = f"From {write_number(cut.value)} on"
    texts = [f"{name} is {measures[name].value:.2f}" for name in ("sensitivity", "specificity")]
    rows: list[Any] = [
        (WORDS.get(name, name), measure.value, measure.interval) for name, measure in shares.items()
    ]
    head, caption = ["", "estimate", level], f"{start}."
    if cut.method == "bootstrap":
        apparent = (measure.details["apparent"] for measure in shares.values())
        rows = [(*row, value) for row, value in zip(rows, apparent, strict=True)]
        head.append("on these samples")
        ends = write_ends(cut.interval.low, cut.interval.high)
        caption = (
            f"The threshold {write_number(cut.value)} was chosen on these samples ({level} "
            f"{ends}). Estimates are for new samples, corrected for the optimism of choosing it "
            "here."
        )
    table = Table(caption, head, rows, left=(0, 2))
    return Section(f"{start}, {' and '.join(texts)}", _describe_population(report), tables=[table])


def _describe_population(report: Any) -> list[str]:
    """Describe the population of another prevalence."""
    if report.prevalence is None:
        return []
    own = np.average(report.out_of_fold.target.codes, weights=report.out_of_fold.weight)
    size = report.at_threshold["accuracy"].effective_n_samples
    sentence = (
        f"Predictive values, accuracy and net benefit are for a prevalence of "
        f"{100 * report.prevalence:.3g} %; in these samples it is {100 * own:.3g} %."
    )
    if size is None:
        return [sentence]
    return [f"{sentence} The accuracy is as precise as with {size:.0f} samples of that population."]


def show_calibration(report: Any) -> Section | None:
    """Return the section of the calibration measures."""
    measures = report.calibration
    if measures is None:
        return None
    rows = [(measure.name, measure.value, measure.interval) for measure in measures.values()]
    table = Table(
        "Calibration measures of external validation studies.",
        ["measure", "estimate", _scored.write_level(report)],
        rows,
        notes={measures[name].name: note for name, note in BEST.items()},
        left=(0, 2),
    )
    heading, precision = write_calibration(measures, report.n_samples)
    figures, curve = [], measures["ici"].details.get("curve")
    if curve is not None:
        figure = Figure(
            partial(draw_smooth, curve),
            "Observed frequency at each predicted probability: a restricted cubic spline "
            "of the log-odds, from which the distances in the table are computed.",
            label="Smooth calibration curve with pointwise confidence intervals.",
        )
        figures.append(figure)
    return Section(heading, [f"{heading}.{precision}"], figures=figures, tables=[table])


def show_units(report: Any) -> Section | None:
    """Return the section of the means over units."""
    means = report.within
    if means is None:
        return None
    rows = []
    for name, mean in means.items():
        span = f"{mean.replicates.min():.3g} to {mean.replicates.max():.3g}"
        rows.append((_sentences.name_metric(name), mean.value, mean.interval, span))
    head = ["mean over units", "estimate", _scored.write_level(report), "range of the units"]
    target = (
        "on new samples of these units"
        if report.units == "fixed"
        else "over all units of which these are a random sample"
    )
    return Section(
        f"Means over {len(next(iter(means.values())).replicates)} units",
        sentences=[f"Intervals of means over units are for the mean {target}."],
        tables=[Table("The metric is computed in each unit.", head, rows, left=(0, 2))],
    )


PREDICTIONS = Layout(
    title="Evaluation of predictions",
    verdict=_sentences.write_verdict,
    figure=_scored.draw_main,
    facts=_write_facts,
    basis=_describe_basis,
    sections=(
        _scored.show_metrics,
        _scored.show_curves,
        show_threshold,
        show_calibration,
        show_units,
        _scored.show_subgroups,
        _scored.show_hard_samples,
    ),
    about=ABOUT,
    records=RECORDS,
    computed=COMPUTED,
    main_part="metrics",
    row_name="name",
    plot=_scored.plot_estimates,
    predictions=_scored.frame_predictions,
)


WORDS = {
    "ppv": "positive predictive value",
    "npv": "negative predictive value",
    "net_benefit": "net benefit",
}
BEST = {
    "observed_expected": "1 is best; above 1 events are more frequent than predicted",
    "in_the_large": "0 is best; the shift of the log-odds that makes both frequencies equal",
    "intercept": "0 is best (with a slope of 1)",
    "slope": "1 is best; below 1 the probabilities are too extreme",
    "ici": "0 is best",
    "e50": "0 is best",
    "e90": "0 is best",
    "scaled_brier": "1 is best; 0 is predicting the prevalence for everyone",
}
"""Calibration measures of perfectly calibrated probabilities."""


MARGIN = 0.1
"""Half-width of the interval of a precise slope; the width of Riley et al. (2021) is 0.2."""
MIN_SLOPE = 0.8
"""Slopes from here to the reciprocal count as calibrated, if the interval lies within."""
MAX_MARGIN = 1.0
"""Half-width above which a slope is too imprecise to plan the number of samples."""


def write_calibration(measures: Results, n_samples: int) -> tuple[str, str]:
    """Interpret the calibration slope and the number of events."""
    problems = []
    for name, best, below, above in (
        ("slope", 1, "too extreme", "not extreme enough"),
        ("observed_expected", 1, "too high on average", "too low on average"),
    ):
        interval = measures[name].interval
        if name == "slope" and interval.high < 0:
            problems.append("reversed")
        elif interval.high < best:
            problems.append(below)
        elif interval.low > best:
            problems.append(above)
    if measures["scaled_brier"].interval.high < 0:
        problems.append("worse than predicting the prevalence for everyone")
    if not problems and np.isnan(measures["slope"].interval.low):
        return "Calibration is unknown, because the slope is undefined", ""
    slope, interval = measures["slope"].value, measures["slope"].interval
    level = f"{100 * interval.confidence_level:g} % CI"
    ends = f"{interval.low:.2f} to {interval.high:.2f}"
    precision = f" The calibration slope is {slope:.2f} ({level} {ends})."
    margin = (interval.high - interval.low) / 2
    if MARGIN < margin <= MAX_MARGIN:
        n_required = float(f"{n_samples * (margin / MARGIN) ** 2:.2g}")
        precision += f" A margin of +/- {MARGIN} requires about {n_required:,.0f} such samples."
    if not np.isfinite([interval.low, interval.high]).all():
        precision = ""
    if not problems and not (interval.low >= MIN_SLOPE and interval.high <= 1 / MIN_SLOPE):
        return (
            "There are too few samples to tell whether the probabilities are calibrated",
            precision,
        )
    if not problems:
        return "No miscalibration was detected", precision
    return f"Probabilities are {' and '.join(problems)}", precision
