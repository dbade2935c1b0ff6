"""Sections on scored predictions: metrics, curves, confusion, subgroups, the worst samples.

Each function takes a report and returns a section, or None if the report has nothing to show. The
predictions are out of fold (of an estimator), or existing ones (of a system).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import PredictionErrorDisplay

from skeval._inference.estimate import ConfidenceInterval, Estimate, Results
from skeval._resampling.predictions import Predictions
from skeval.metrics import (
    NetBenefitDisplay,
    PrecisionRecallDisplay,
    ReliabilityDisplay,
    RocCurveDisplay,
    calibration_measures,
)
from skeval.model_selection import EstimatesDisplay
from skeval.report import _sentences
from skeval.report._findings import name_columns
from skeval.report._page import Figure, Section, Table, list_few, list_grave
from skeval.utils._checks import ignored_warnings
from skeval.utils._text import (
    DataFrame,
    count,
    make_frame,
    name_label,
    write_estimate,
    write_number,
)

MAX_CLASSES = 6
"""Maximum number of classes of a confusion matrix beside the verdict; larger ones get their own
table."""
MAX_METRICS, MAX_ROWS, FIRST_ROWS, MAX_DRAWN = 12, 20, 5, 30
"""Maximum number of metrics in the text; maximum number of settings, samples and features on a
page, and the number of them that is visible without unfolding; maximum number of drawn rows."""
HEADLINERS = ("balanced_accuracy", "accuracy", "r2", "root_mean_squared_error")
"""Metrics in order of preference; the first available one heads the section."""
SQUARES = ("mean squared error", "root mean squared error")
N_RESAMPLES = 200
"""Resamples for the bands of curves; more would not change the drawing visibly."""
MAX_POINTS = 2000
"""Maximum number of samples in a plot of residuals or clusters."""


def in_target_unit(estimate: Estimate) -> tuple[float, float, ConfidenceInterval]:
    """Return value, standard error and interval; a mean squared error is replaced by its root."""
    value, spread, interval = estimate.value, estimate.standard_error, estimate.interval
    if getattr(estimate, "loss", "") != "squared" or not value > 0:
        return value, spread, interval
    low, high = np.sqrt(np.maximum([interval.low, interval.high], 0)).tolist()
    root = float(np.sqrt(value))
    return root, spread / (2 * root), replace(interval, low=low, high=high)  # delta method


def write_level(report: Any) -> str:
    """Return the header of the intervals."""
    return f"{100 * report.confidence_level:g} % CI"


def find_main_metrics(report: Any) -> dict[str, Estimate]:
    """Return the metrics of all samples, and requested scores, by name."""
    metrics = report.metrics.items()
    return {name: one for name, one in metrics if getattr(one.extra, "label", None) is None}


def frame_predictions(report: Any) -> DataFrame:
    """Return one row for each scored prediction."""
    predictions, target = report.out_of_fold, report.out_of_fold.target
    columns: dict[str, Any] = {
        "sample": predictions.row,
        "repeat": predictions.repeat,
        "fold": predictions.fold,
        "truth": target.y[predictions.row],
        "prediction": target.decode(predictions.predicted),
    }
    # scores of the positive class, or of all classes
    scores = predictions.response
    if scores is not None and target.classes is not None:
        if scores.ndim == 1:
            scores = np.column_stack([-scores, scores])
        shown = [target.positive_code] if len(target.classes) == 2 else range(len(target.classes))
        columns |= {f"score_{target.classes.tolist()[k]}": scores[:, k] for k in shown}
    return make_frame(columns)


def tabulate(
    report: Any, caption: str, head: str, estimates: Iterable[tuple[str, Estimate]], **options: Any
) -> Table:
    """Return a table of estimates with their intervals."""
    rows = [(label, one.value, one.interval) for label, one in estimates]
    return Table(caption, [head, "estimate", write_level(report)], rows, left=(0, 2), **options)


# --- the figure of estimates


def plot_estimates(
    report: Any, ax: Any, estimates: Mapping[str, Estimate] | None = None, *, quoted: int | None = 0
) -> EstimatesDisplay:
    """Draw the estimates of a report, or others of the same quantity, and the baseline.

    Mean squared errors are drawn in the unit of the target.
    """
    drawn = dict(list((estimates or report.estimates).items())[: MAX_DRAWN + 1])
    values, _, intervals = zip(*map(in_target_unit, drawn.values()), strict=True)
    # the baseline in the same unit
    answer, guess = report.answer, None
    squared = answer.loss == "squared" and answer.value > 0
    if answer.name == _sentences.name_metric("roc_auc"):
        guess = 0.5
    elif report.baseline is not None:
        root = np.sqrt if squared or answer.name in SQUARES else float
        guess = float(root(report.baseline.error))
    quantity = SQUARES[1] if squared else answer.name
    return EstimatesDisplay(
        names=list(map(str, drawn)),
        values=values,
        lows=[interval.low for interval in intervals],
        highs=[interval.high for interval in intervals],
        xlabel=f"{quantity},\n{100 * report.confidence_level:g} % intervals",
        quoted=quoted,
        guess=guess,
    ).plot(ax)


def draw_main(report: Any) -> Figure:
    """Return the main estimate with its baseline, or the metric that replaces it."""
    rare, name = report.rare_class, "main estimate"
    draw: Callable[..., Any] = partial(plot_estimates, report, estimates={name: report.answer})
    # a rare class has a metric of its own, unless a problem is serious
    if rare is not None and not list_grave(report.warnings):
        metric = replace(report.metrics[rare.metric], name=_sentences.name_metric(rare.metric))
        draw = partial(EstimatesDisplay.from_result, {name: metric}, guess=rare.chance)
    label = "Main estimate with its interval, and the baseline; the first sentence has the numbers."
    return Figure(draw, "", label, height=1.74)


def describe_classes(report: Any) -> str:
    """Return the number of samples and sampling units, and of samples per class."""
    facts = count(report.n_samples, "sample")
    if report.class_sizes:
        sizes = [f"{name_label(name)}: {size}" for name, size in report.class_sizes.items()]
        facts += f" of {count(len(sizes), 'class')} ({list_few(sizes)})"
    if report.n_groups is not None:
        facts += f" in {report.n_groups} {report.out_of_fold.cases.kind.value}"
    return facts


def describe_target(report: Any, more: str) -> str:
    """Describe the target of the intervals of existing predictions."""
    groups = report.n_groups
    units = "samples" if groups is None else f"groups of samples ({groups} here)"
    return (
        f"Intervals are for the same system on new {units} from the same population{more}. "
        "Variation from retraining is not included."
    )


OF_PREDICTIONS: dict[str, Any] = {
    "title": "Evaluation of predictions",
    "figure": draw_main,
    "main_part": "metrics",
    "row_name": "name",
    "predictions": frame_predictions,
}
"""Common part of the layouts of existing predictions."""


# --- metrics and the confusion matrix


def find_positive_class(report: Any) -> Any:
    """Return the positive of two classes."""
    target = report.out_of_fold.target
    names = [] if target.classes is None else target.classes.tolist()
    return names[target.positive_code] if len(names) == 2 else None


def show_metrics(report: Any) -> Section:
    """Return the section with every metric and its interval; of numbers with the residuals."""
    metrics, numbers = find_main_metrics(report), report.class_sizes is None
    first = next((name for name in HEADLINERS if name in metrics), None)
    labels = {name: _sentences.name_metric(name) for name in metrics}
    if report.out_of_fold.target.classes is not None and "average_precision" in labels:
        labels["average_precision"] += f", class {name_label(find_positive_class(report))}"
    # on a page the area of two classes is shown above its curve
    of_two = not numbers and len(report.class_sizes) == 2
    stated = {_sentences.name_metric("roc_auc")} if of_two else ()
    rows = [(labels[name], one) for name, one in metrics.items()]
    head, options = "metric on new samples", {"omitted": stated, "n_in_text": MAX_METRICS}
    if report.out_of_fold.n_fits:
        explained = (
            "Based on out-of-fold predictions. The intervals, like the interval of the error, are "
            "for the model trained on all samples."
        )
    else:
        explained = "Computed from the given predictions."
        if report.kind == "scores" and report.threshold is None:
            explained += " Without a threshold, scores have no predicted labels: pass threshold= "
            explained += "for the other metrics."
    return Section(
        _sentences.write_metric(first, metrics[first]) if first else "By other measures",
        explains=[explained],
        figures=list(draw_curves(report)) if numbers else (),
        tables=[
            tabulate(report, "All samples.", head, rows, **options),
            *tabulate_classes(report),
            *_tabulate_confusion(report),
        ],
    )


def tabulate_classes(report: Any) -> list[Table]:
    """Return a table of the metrics of each class, if there are any."""
    # metrics by class
    by_class: dict[str, dict[str, Estimate]] = {}
    for estimate in report.metrics.values():
        label = getattr(estimate.extra, "label", None)
        if label is not None:
            by_class.setdefault(label, {})[estimate.extra.metric] = estimate
    if not by_class:
        return []
    names = list(dict.fromkeys(name for estimates in by_class.values() for name in estimates))
    rows = [
        (label, *(_write_shortly(estimates.get(name)) for name in names))
        for label, estimates in by_class.items()
    ]
    # of two classes, recalls have names of their own
    caption = "By class."
    if len(by_class) == 2:
        caption += f" The recall of {name_label(find_positive_class(report))}, the positive class, "
        caption += "is the sensitivity; the recall of the other class is the specificity."
    head = ["class", *map(_sentences.name_metric, names)]
    return [Table(caption, head, rows, n_on_page=MAX_CLASSES, n_in_text=0)]


def _write_shortly(estimate: Estimate | None) -> str:
    """Return an estimate with its interval on the next line."""
    if estimate is None:
        return ""
    if np.isnan(estimate.interval.low):
        return write_number(estimate.value)
    return f"{estimate.value:.3f}\n({estimate.interval.low:.3f}–{estimate.interval.high:.3f})"


def _tabulate_confusion(report: Any) -> list[Table]:
    """Return the confusion matrix: counts, and row shares with their intervals."""
    confusion = report.confusion
    if confusion is None:
        return []
    rows = [
        (label, *(confusion.write_cell(k, j) for j in range(len(confusion.labels))))
        for k, label in enumerate(confusion.labels)
    ]
    # the matrix stands beside the verdict if it is small
    counted = ", on average over the repeats" if report.out_of_fold.n_fits else ""
    caption = (
        f"True classes (rows) and predicted classes (columns){counted}; share of the row, "
        f"{write_level(report)}."
    )
    beside = len(confusion.labels) <= MAX_CLASSES
    head, shades = name_columns(confusion.labels), np.round(confusion.rates, 3).tolist()
    return [Table(caption, head, rows, beside=beside, shades=shades, n_in_text=0)]


# --- curves and residuals


def show_curves(report: Any) -> Section | None:
    """Return the section with the curves of a classifier."""
    if report.class_sizes is None:
        return None
    metrics = find_main_metrics(report)
    first = next((name for name in ("roc_auc", "log_loss") if name in metrics), None)
    heading = _sentences.write_metric(first, metrics[first]) if first else "Curves"
    return Section(heading, figures=list(draw_curves(report)))


def draw_curves(report: Any) -> Iterator[Figure]:
    """Yield ROC, precision-recall and calibration curves, or the residuals."""
    predictions, classes = report.out_of_fold, report.out_of_fold.target.classes
    fitted = predictions.n_fits > 0
    # residuals of numbers
    if classes is None:
        caption = "Residuals: true value minus prediction of each sample. No pattern is best."
        if fitted:
            caption = caption.replace("prediction", "mean out-of-fold prediction")
        if report.n_samples > MAX_POINTS:
            caption += f" {MAX_POINTS:,} of the samples are drawn, chosen at random."
        draw, label = partial(draw_residuals, predictions), "Residuals by prediction."
        yield Figure(draw, caption, label=label, height=3.0)
        return
    if predictions.class_scores is None:
        return
    one = predictions.repeat == 0  # a band counts each sample once
    # options of all displays
    true, options = predictions.target.y[predictions.row[one]], dict[str, Any]()
    options["confidence_level"] = report.confidence_level
    if np.ptp(predictions.weight):
        options["sample_weight"] = predictions.weight[predictions.row[one]]
    # of many classes only the calibration
    if len(classes) > 2:
        if not fitted and predictions.probabilities is not None:
            draw = partial(ReliabilityDisplay.from_predictions, true, predictions.probabilities)
            yield Figure(
                partial(draw, labels=classes, **options),
                "Calibration: accuracy of the most probable class at each predicted probability.",
                label="Calibration curve with the intervals of its bins.",
            )
        return
    yield from _draw_curves_of_two(report, one, true, options)


def _draw_curves_of_two(
    report: Any, one: np.ndarray, true: np.ndarray, options: dict[str, Any]
) -> Iterator[Figure]:
    """Yield the curves of one repeat of the predictions of two classes."""
    predictions = report.out_of_fold
    positive, fitted = predictions.target.positive_code, predictions.n_fits > 0
    name = name_label(predictions.target.classes[positive])
    about, options = (
        f"Positive class: {name}.",
        options | {"pos_label": predictions.target.classes[positive]},
    )
    group = None if predictions.group is None else predictions.group[one]
    banded = options | {"n_resamples": N_RESAMPLES, "random_state": 0, "groups": group}
    banded["label"] = "scores" if fitted else "predictions"
    # ROC and precision-recall curves with their bands
    band = "pointwise intervals and a simultaneous band."
    described = f"curve with {band}"
    if fitted:
        described = (
            f"curve of the out-of-fold scores of one cross-validation, with {band} The curve "
            "pools the scores of all folds, so its area differs from the AUC above, which is "
            "computed within folds. The band does not include variation from retraining."
        )
    for display, curve in ((RocCurveDisplay, "ROC"), (PrecisionRecallDisplay, "Precision-recall")):
        scores = predictions.class_scores[one, positive]
        yield Figure(
            partial(display.from_predictions, true, scores, **banded),
            f"{curve} {described} {about}",
            label=f"{curve} curve with its band. {about}",
        )
    # calibration and net benefit of probabilities
    if predictions.probabilities is None:
        return
    probabilities = predictions.probabilities[one, positive]
    caption = "Calibration: observed frequency at each predicted probability."
    if fitted and (group is None or np.ptp(group) > 0):  # one block of time has no interval
        with ignored_warnings(UserWarning):  # of probabilities of 0 and 1
            measures = calibration_measures(
                true, probabilities, groups=group, random_state=0, **options
            )
        level = f"{100 * report.confidence_level:g} % CI"
        for measure, best in (("slope", 1), ("intercept", 0)):
            low, high = measures[measure].confidence_interval()
            if np.isfinite([low, high]).all():
                value = f"{measures[measure].value:.2f} ({level} {low:.2f} to {high:.2f})"
                caption += f" The {measure} is {value}; {best} is best."
    yield Figure(
        partial(ReliabilityDisplay.from_predictions, true, probabilities, **options),
        f"{caption} {about}",
        label="Calibration curve with the intervals of its bins.",
    )
    weight = predictions.weight[predictions.row[one]]
    benefit = partial(NetBenefitDisplay.from_predictions, true, probabilities)
    yield Figure(
        partial(benefit, **options | {"sample_weight": weight, "groups": group}),
        f"Net benefit of treating everyone whose probability of {name} reaches the "
        "threshold, in true positives per sample; the odds of the threshold are the cost "
        "of a false positive. The model is useful where its curve is above both lines.",
        label="Net benefit by threshold, compared with treating all and none.",
    )


def draw_residuals(predictions: Predictions, ax: Any) -> Any:
    """Draw the residual of samples against their mean prediction, of at most `MAX_POINTS`."""
    n = len(predictions.target)
    # mean prediction of each tested sample
    counts = np.bincount(predictions.row, minlength=n)
    tested = counts > 0
    sums = np.bincount(predictions.row, predictions.predicted, minlength=n)
    means, true = sums[tested] / counts[tested], predictions.target.y[tested].astype(float)
    return PredictionErrorDisplay.from_predictions(
        true, means, kind="residual_vs_predicted", ax=ax, subsample=MAX_POINTS, random_state=0
    )


# --- importance of the features


def show_importance(report: Any) -> Section | None:
    """Return the section of the permutation importance of each feature."""
    importance = report.importance
    if not importance:
        return None
    score = "accuracy" if report.class_sizes else "R2"
    shown = dict(list(importance.items())[:MAX_DRAWN])
    lows, highs = zip(*(one.interval for one in shown.values()), strict=True)
    # the largest drops with their intervals
    display = EstimatesDisplay(
        names=list(shown),
        values=[one.value for one in shown.values()],
        lows=lows,
        highs=highs,
        xlabel=f"drop of the {score}",
    )
    figure = Figure(
        display.plot,
        "Permutation importance.",
        label=f"Drop of the {score} for each feature; see the table.",
        height=0.9 + 0.42 * len(shown),
    )
    # the result in words and as a table
    first, largest = next(iter(importance.items()))
    n_used = sum(one.interval.low > 0 for one in importance.values())
    sentence = (
        f"Shuffling {first} lowers the {score} most, by {write_number(largest.value)}. The drop "
        f"exceeds 0 for {n_used} of {count(len(importance), 'feature')}."
    )
    explained = (
        "Drop of the score when the values of a feature are shuffled among the samples of a test "
        "set, in the models of the main estimate. Features with a rank correlation above 0.8 are "
        "shuffled together. The intervals are not adjusted for the number of features."
    )
    table = tabulate(
        report,
        "Importance of each feature, the largest first.",
        "feature",
        importance.items(),
        n_on_page=FIRST_ROWS,
        n_in_text=MAX_ROWS,
    )
    return Section(
        f"{first} matters most to the predictions",
        sentences=[sentence],
        explains=[explained],
        figures=[figure],
        tables=[table],
    )


# --- subgroups


def show_subgroups(report: Any) -> Section | None:
    """Return the section of the main estimate in each subgroup, and its difference from the rest.

    Squared errors are shown by their root. The difference of mean squared errors is divided by the
    sum of their roots, which makes it a difference of the roots.
    """
    estimates, level = report.subgroups, write_level(report)
    if estimates is None:
        return None
    # value and interval of each subgroup, in the unit of the target
    less, scales = estimates.less_the_rest, dict.fromkeys(estimates, 1.0)
    if report.answer.loss == "squared":
        for name, estimate in estimates.items():
            roots = np.sqrt([estimate.value, estimate.value - less[name].value])
            scales[name] = float(roots.sum()) or 1.0
    quantity = next(iter(estimates.values())).name
    quantity = SQUARES[1] if quantity == SQUARES[0] else quantity
    rows: list[Any] = []
    for name, estimate in estimates.items():
        value, _, interval = in_target_unit(estimate)
        row = [str(name), f"{estimate.n_samples}", value, interval]
        of_rest, scale = less[name].interval, scales[name]
        shown = replace(of_rest, low=of_rest.low / scale, high=of_rest.high / scale)
        row += [
            less[name].value / scale,
            shown,
            write_number(less[name].details["pvalue_adjusted"]),
        ]
        rows.append(row)
    head = ["subgroup", "samples", quantity, level, "less the rest", level, "adjusted P"]
    sentence = describe_slices(estimates, scales)
    heading = "Subgroups differ from the rest"
    if sentence.startswith("No subgroup"):
        heading = sentence.partition(" (")[0].rstrip(".")
    table = Table("Error by subgroup.", head, rows, left=[0, 3, 5])
    return Section(heading, sentences=[sentence], tables=[table], in_summary=True)


FALSE_DISCOVERIES = 0.05
"""False discovery rate of the differences between subgroups and the rest."""


def describe_slices(found: Results, scales: Mapping[Any, float]) -> str:
    """Describe which subgroups differ from the rest; differences are divided by `scales`."""
    less = found.less_the_rest
    adjusted = {name: each.details["pvalue_adjusted"] for name, each in less.items()}
    if np.isnan(list(adjusted.values())).all():
        return "No subgroup has enough samples to be compared with the rest."
    differ = [name for name in less if adjusted[name] <= FALSE_DISCOVERIES]
    differ.sort(key=adjusted.__getitem__)
    rate = f"false discovery rate of {100 * FALSE_DISCOVERIES:g} % over {len(less)} subgroups"
    if not differ:
        return f"No subgroup differs significantly from the rest ({rate})."
    named = []
    for name in differ:
        value, low, high = np.array([less[name].value, *less[name].interval]) / scales[name]
        named_value = write_estimate(float(value), (high - low) / 4)
        named.append(f"{name} ({named_value} compared with the rest)")
    verb = "differs" if len(differ) == 1 else "differ"
    return f"{list_few(named, 5)} {verb} significantly from the rest ({rate})."


# --- the worst predictions


def show_hard_samples(report: Any) -> Section | None:
    """Return the section of the worst predictions."""
    # existing predictions without labels or errors have no such section
    hard, predictions, numbers = report.hard_samples, report.out_of_fold, report.class_sizes is None
    fitted = predictions.n_fits > 0
    if not fitted and (not predictions.has_values or not len(hard.sample)):
        return None
    if report.results.get("labels"):  # several for each sample
        columns, errors = ["sample", "has", "predicted"], (report.answer.name, write_number)
        table = tabulate_samples(report, "Samples with most errors.", columns, errors)
        return Section("Samples to look at", tables=[table])
    n_wrong = hard.always
    # heading and sentences
    heading = f"{count(n_wrong, 'sample')} {'is' if n_wrong == 1 else 'are'} misclassified"
    sentences = _sentences.write_hard_samples(hard, numbers)
    if len(predictions.repeats) > 1:
        heading += " in every repeat"
    if numbers:
        heading = _sentences.write_large_residuals(n_wrong)
        if not fitted:
            sentences = sentences or [f"{heading}."]
    # content and format of the last column
    last: tuple[str, Callable[[float], str]] | None = None
    if numbers:
        last = "residual / RMS", "{:.1f}".format
    elif fitted:
        last = "wrong in", lambda wrong: f"{100 * wrong:.0f} %"
    elif predictions.probabilities is not None:
        last = "probability of the true class", lambda wrong: f"{1 - wrong:.3f}"
    # the table
    head = ["sample", "true", "predicted" if numbers else "predicted as"]
    caption = "Largest residuals." if numbers else "Misclassified samples."
    table = tabulate_samples(report, caption, head, last)
    shown = [table] if n_wrong or not fitted else []
    return Section(heading, sentences=sentences, tables=shown)


def tabulate_samples(
    report: Any, caption: str, head: Iterable[str], last: tuple[str, Callable[[float], str]] | None
) -> Table:
    """Return a table of the worst predictions; `last` names and writes the last column."""
    rows: list[Any] = []
    for row in report.hard_samples.to_records()[:MAX_ROWS]:
        cells = row["name"], row["truth"], row["prediction"]
        rows.append((*cells, last[1](row["wrong"])) if last else cells)
    head = [*head, *([last[0]] if last else [])]
    return Table(caption, head, rows, n_on_page=FIRST_ROWS, n_in_text=0)
