"""Sections on scored predictions: metrics, curves, confusion, subgroups, the worst samples.

Each function takes a report and returns a section, or None if the report has nothing to show. The
predictions are out of fold (of an estimator), or existing ones (of a model).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np
from sklearn.metrics import PredictionErrorDisplay

from skeval._inference.estimate import ConfidenceInterval, Estimate
from skeval._resampling.predictions import Predictions
from skeval._resampling.sampling_units import Target
from skeval.metrics import (
    NetBenefitDisplay,
    PrecisionRecallDisplay,
    ReliabilityDisplay,
    RocCurveDisplay,
)
from skeval.model_selection import EstimatesDisplay
from skeval.model_selection._score_interval import measure_classes, measure_numbers
from skeval.report import _sentences
from skeval.report._arguments import join_predictions
from skeval.report._findings import ScoredReport, find_positive_class, is_ranked, read_once
from skeval.report._page import Figure, Section, Table, list_few, list_grave
from skeval.utils._text import (
    DataFrame,
    count,
    make_frame,
    quote_label,
    write_estimate,
    write_number,
    write_pvalue,
)

MAX_CLASSES = 6
"""Maximum number of classes of a confusion matrix beside the verdict. Larger ones get their own
table."""
MANY_CLASSES, WORST = 30, 15
"""Maximum number of classes whose metrics and confusions are all shown, and how many of more."""
MAX_METRICS, MAX_ROWS, FIRST_ROWS, MAX_DRAWN = 12, 20, 5, 30
"""Maximum number of metrics in the text, maximum number of settings, samples and features on a
page, and the number of them that is visible without unfolding, maximum number of drawn rows."""
SQUARES = ("mean squared error", "root mean squared error")
N_RESAMPLES = 200
"""Resamples for the bands of curves. More would not change the drawing visibly."""
MAX_POINTS = 2000
"""Maximum number of samples in a plot of residuals or clusters."""


def in_target_unit(estimate: Estimate) -> tuple[float, float, ConfidenceInterval]:
    """Return value, standard error and interval. A mean squared error is replaced by its root."""
    value, spread, interval = estimate.value, estimate.standard_error, estimate.interval
    if not np.isfinite(interval.high):  # the error is unknown, as in a single block of time
        interval = replace(interval, low=np.nan, high=np.nan)
    if getattr(estimate, "loss", "") != "squared" or not value > 0:
        return value, spread, interval
    low, high = np.sqrt(np.maximum([interval.low, interval.high], 0)).tolist()
    root = float(np.sqrt(value))
    return root, spread / (2 * root), replace(interval, low=low, high=high)  # delta method


def write_level(report: ScoredReport) -> str:
    """Return the header of the intervals."""
    return f"{100 * report.confidence_level:g} % CI"


def find_main_metrics(report: ScoredReport) -> dict[str, Estimate]:
    """Return the metrics of all samples, and requested scores, by name."""
    metrics = report.metrics.items()
    return {name: one for name, one in metrics if getattr(one.extra, "label", None) is None}


def frame_predictions(report: ScoredReport) -> DataFrame:
    """One row for each prediction as a data frame, which requires pandas."""
    predictions, target = report.out_of_fold, report.out_of_fold.target
    columns: dict[str, Any] = {
        "sample": predictions.row,
        "repeat": predictions.repeat,
        "fold": predictions.fold,
        "truth": target.y[predictions.row],
        "prediction": target.decode(predictions.predicted),
    }
    if target.outputs:
        for name in ("truth", "prediction"):
            by_output = zip(target.outputs, columns.pop(name).T, strict=True)
            columns |= {f"{name}_{output}": values for output, values in by_output}
    # scores of the positive class, or of all classes
    scores = predictions.response
    if scores is not None and target.classes is not None:
        # a single column of scores is that of the second class
        if scores.ndim == 1:
            scores = np.column_stack([-scores, scores])
        shown = [target.positive_code] if len(target.classes) == 2 else range(len(target.classes))
        columns |= {f"score_{target.classes.tolist()[k]}": scores[:, k] for k in shown}
    return make_frame(columns)


def measure_splits(report: ScoredReport) -> dict[str, np.ndarray]:
    """Return every metric of the test set of each successful fit, and the times of the fit.

    A metric is nan if it is undefined for a test set.
    """
    predictions, target, rows = report.out_of_fold, report.out_of_fold.target, []
    positive = target.positive_code if target.n_classes == 2 else None
    for place, fit in enumerate(np.unique(predictions.fit).tolist()):
        # the test set as that of a fixed model
        part = predictions.fit == fit
        tested, response = predictions.row[part], predictions.response
        own = Target(target.y[tested], target.classes, target.codes[tested], positive=positive)
        fixed = join_predictions(
            own,
            None,
            predictions.weight[tested],
            predictions.predicted[part],
            predictions.loss[part],
            None if response is None else response[part],
        )
        if predictions.decision is not None:
            fixed = replace(fixed, decision=predictions.decision[part])
        measure = measure_numbers if target.classes is None else measure_classes
        measured = [] if target.outputs else [*measure(fixed)]
        repeat, fold = divmod(fit, predictions.n_folds)
        times = [np.nan] * 2 if predictions.seconds is None else predictions.seconds[place]
        rows.append(
            {"repeat": repeat, "fold": fold, "n_test": len(tested)}
            | {report.answer.name: np.average(fixed.loss, weights=fixed.weight)}
            | {one.name: one.value for one in measured if one.label is None}
            | {name: values[place] for name, values in predictions.scores.items()}
            | dict(zip(("fit_time", "score_time"), times, strict=True))
        )
    # a metric that is undefined in a test set is nan there
    return {name: np.array([row.get(name, np.nan) for row in rows]) for name in rows[0]}


def tabulate(
    report: ScoredReport,
    caption: str,
    head: str,
    estimates: Iterable[tuple[str, Estimate]],
    **options: Any,
) -> Table:
    """Return a table of estimates with their intervals."""
    rows = [(label, one.value, one.interval) for label, one in estimates]
    return Table(caption, [head, "estimate", write_level(report)], rows, left=(0, 2), **options)


# --- the figure of estimates


def plot_estimates(
    report: ScoredReport,
    ax: Any,
    estimates: Mapping[str, Estimate] | None = None,
    *,
    quoted: int | None = 0,
) -> EstimatesDisplay:
    """Draw the estimates of a report, or others of the same quantity, and the baseline.

    Mean squared errors are drawn in the unit of the target.
    """
    drawn = dict(list((estimates or report.estimates).items())[: MAX_DRAWN + 1])
    values, _, intervals = zip(*map(in_target_unit, drawn.values()), strict=True)
    # the baseline in the same unit
    answer, guess = next(iter(drawn.values())), None
    squared = answer.loss == "squared" and answer.value > 0
    if answer.name == _sentences.name_metric("roc_auc"):
        # random scores have an area of one half
        guess = 0.5
    elif report.baseline is not None and answer.name == report.answer.name:
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


def draw_main(report: ScoredReport) -> Figure:
    """Return the main estimate with its baseline, or the metric that replaces it."""
    rare, name = report.rare_class, "main estimate"
    draw: Callable[..., Any] = partial(plot_estimates, report, estimates={name: report.answer})
    # a rare class has a metric of its own, unless a problem is serious
    if rare is not None and not list_grave(report.warnings):
        metric = replace(report.metrics[rare.metric], name=_sentences.name_metric(rare.metric))
        draw = partial(EstimatesDisplay.from_result, {name: metric}, guess=rare.chance)
    label = "Main estimate, its interval and the baseline. The first sentence has the numbers."
    return Figure(draw, "", label, height=1.74)


def compare_with_baseline(report: ScoredReport) -> list[str]:
    """Return the paired comparison with the baseline as sentences, if it is not a warning."""
    baseline = report.baseline
    warned = any(one.code == "baseline" or one.headline for one in report.warnings)
    if baseline is None or warned:
        return []
    text = _sentences.write_baseline(baseline, report.loss)
    return [f"{text[0].upper()}{text[1:]}."]


# --- metrics and the confusion matrix


def show_metrics(report: ScoredReport) -> Section:
    """Return the section with every metric and its interval, and with residuals."""
    metrics, numbers = find_main_metrics(report), report.class_sizes is None
    labels = {name: _sentences.name_metric(name) for name in metrics}
    # averages over the labels are marked as macro averages
    if report.out_of_fold.target.outputs:
        averaged = {name: name.removesuffix("_macro") for name in metrics if name[-6:] == "_macro"}
        labels |= {name: f"{_sentences.name_metric(one)} (macro)" for name, one in averaged.items()}
    # the average precision depends on which class is positive
    if not numbers and "average_precision" in labels:
        labels["average_precision"] += (
            f" (class {quote_label(find_positive_class(report.out_of_fold.target))})"
        )
    rows = [(labels[name], one) for name, one in metrics.items()]
    # where the predictions come from, and which metrics they lack
    explained = "The metrics are computed from the predictions as passed."
    if report.out_of_fold.n_fits:
        explained = "The metrics are computed from out-of-fold predictions."
    elif not report.out_of_fold.has_values:
        explained += (
            " The other metrics require predicted labels. Pass threshold= to predict labels from "
            "the scores."
        )
    return Section(
        "All metrics",
        explains=[] if report.out_of_fold.n_fits else compare_with_baseline(report),
        figures=list(draw_curves(report)) if numbers else (),
        tables=[
            tabulate(report, explained, "metric on new samples", rows, n_in_text=MAX_METRICS),
            *tabulate_classes(report),
            *_tabulate_confusion(report),
        ],
    )


def tabulate_classes(report: ScoredReport) -> list[Table]:
    """Return a table of the metrics of each class, if there are any."""
    by_class: dict[str, dict[str, str]] = {}
    worst: dict[str, float] = {}  # the F1 of each class
    target = report.out_of_fold.target
    for estimate in report.metrics.values():
        label = getattr(estimate.extra, "label", None)
        # metrics without a label are those of all samples
        if label is None:
            continue
        low, high = estimate.interval
        text = f"{estimate.value:.3f}\n({low:.3f} to {high:.3f})"
        text = write_number(estimate.value) if np.isnan(low) else text
        by_class.setdefault(label, {})[estimate.extra.metric] = text
        if estimate.extra.metric == "f1":
            worst[label] = float(np.nan_to_num(estimate.value))
    if not by_class:
        return []
    names = list(dict.fromkeys(name for texts in by_class.values() for name in texts))
    rows = [(label, *(texts.get(name, "") for name in names)) for label, texts in by_class.items()]
    # of two classes, recalls have names of their own; of many classes the worst are shown
    kind = "output" if target.outputs else "class"
    caption = f"Each row is for one {kind}."
    if len(rows) > MANY_CLASSES and not target.outputs:
        caption = f"The table lists the {WORST} of {len(rows)} classes with the lowest F1. "
        caption += 'report.to_frame("metrics") has all.'
        rows = sorted(rows, key=lambda row: worst.get(row[0], 0.0))[:WORST]
    if target.n_classes == 2:
        positive = quote_label(find_positive_class(target))
        caption += f" The recall of {positive}, the positive class, is the sensitivity. The recall "
        caption += "of the other class is the specificity."
    head = [kind, *map(_sentences.name_metric, names)]
    return [Table(caption, head, rows, n_on_page=MAX_CLASSES, n_in_text=0)]


def _tabulate_confusion(report: ScoredReport) -> list[Table]:
    """Return the confusion matrix, with counts, and row fractions with their intervals."""
    confusion = report.confusion
    if confusion is None:
        return []
    # a matrix of many classes is too large to read
    if len(confusion.labels) > MANY_CLASSES:
        return [_list_confusions(report)]
    k = range(len(confusion.labels))
    rows = [(confusion.labels[row], *(confusion.write_cell(row, j) for j in k)) for row in k]
    counted = " Counts are means over the repeats." * (len(report.out_of_fold.repeats) > 1)
    caption = (
        f"Rows are true classes, and columns are predicted classes.{counted} Percentages are "
        f"fractions of the row, with the {write_level(report)}."
    )
    # the matrix stands beside the verdict if it is small
    return [
        Table(
            caption,
            ["class", *(f"predicted as {label}" for label in confusion.labels)],
            rows,
            beside="Confusion matrix" if len(k) <= MAX_CLASSES else "",
            shades=np.round(confusion.rates, 3).tolist(),
            n_in_text=0,
        )
    ]


def _list_confusions(report: ScoredReport) -> Table:
    """Return the most frequent confusions of many classes."""
    confusion: Any = report.confusion
    names = confusion.labels
    # correct predictions, on the diagonal, are no confusions
    errors = np.where(np.eye(len(names)), 0.0, confusion.counts)
    order = np.argsort(-errors, axis=None, kind="stable")[:WORST]
    rows = [
        (names[row], names[column], *confusion.write_cell(row, column).split("\n"))
        for row, column in zip(*np.unravel_index(order, errors.shape), strict=True)
        if errors[row, column] > 0
    ]
    caption = f"The table lists the {len(rows)} most frequent confusions of {len(names)} classes, "
    caption += 'as fractions of the true class. report.to_frame("confusion") has all.'
    head = ["class", "predicted as", "samples", "fraction", f"{write_level(report)} in %"]
    return Table(caption, head, rows, n_in_text=0, left=(0, 1))


# --- curves and residuals


def show_curves(report: ScoredReport) -> Section | None:
    """Return the section with the curves of a classifier."""
    if report.out_of_fold.target.classes is None:
        return None
    return Section("Curves", figures=list(draw_curves(report)))


def draw_curves(report: ScoredReport) -> Iterator[Figure]:
    """Yield ROC, precision-recall, calibration and net benefit curves, or the residuals."""
    predictions, target = report.out_of_fold, report.out_of_fold.target
    if target.classes is None and not target.outputs:
        caption = "A residual is the true value minus the mean prediction of a sample."
        if report.n_samples > MAX_POINTS:
            caption += f" The figure shows {MAX_POINTS:,} random samples."
        draw = partial(draw_residuals, predictions)
        yield Figure(draw, caption, label="Residuals by prediction.", height=3.0)
    # a single block of time has no interval
    if predictions.class_scores is None or predictions.cases.n_units < 2:
        return
    once, true, options = read_once(predictions, report.confidence_level)
    fitted, shares = predictions.n_fits > 0, predictions.probabilities

    def show(display: Any, scores: Any, caption: str, text: str, **more: Any) -> Figure:
        """Return the figure of a curve of these scores, with its description."""
        draw = partial(draw_ended, display, true, scores, **options, **more)
        return Figure(draw, f"The figure shows {caption}", text, CURVE_HEIGHT)

    calibrated = "Calibration curve with the intervals of its bins."
    if target.n_classes != 2:
        # of many classes only the calibration of given probabilities
        if not fitted and shares is not None:
            caption = "the accuracy of the most probable class at each predicted probability "
            caption += "(calibration)."
            yield show(ReliabilityDisplay, shares, caption, calibrated, labels=target.classes)
        return
    # ROC and precision-recall curves with their bands
    positive = target.positive_code
    name = quote_label(options["pos_label"])
    about = f"The positive class is {name}."
    banded = {"n_resamples": N_RESAMPLES, "random_state": 0}
    source = "scores" if fitted else "predictions"
    for metric, (ranking, curve, area) in RANKINGS.items():
        # scores of different models are not comparable if no test set has both classes
        if fitted and not np.isfinite(report.metrics[metric].value):
            continue
        pooled = (NOT_IN_TABLE.format(area) + WITHOUT_RETRAINING) * fitted
        caption = f"the {curve} curve with pointwise intervals and a simultaneous band. {pooled}"
        text = f"The {curve} curve with its band. {about}"
        scores = predictions.class_scores[once, positive]
        yield show(ranking, scores, caption + about, text, label=source, **banded)
    # calibration and net benefit of probabilities
    if shares is None:
        return
    chance = shares[once, positive]
    yield show(ReliabilityDisplay, chance, f"{CALIBRATION_CURVE}. {about}", calibrated)
    caption = f"the net benefit of treating everyone whose probability of {name} reaches the "
    caption += "threshold p, in true positives per sample. A false positive costs p / (1 - p) of "
    caption += "the benefit of a true positive. A useful model has a curve above both lines."
    text = "Net benefit by threshold, compared with treating all and none."
    yield show(NetBenefitDisplay, chance, caption, text)


BEST = {
    "observed_expected": "1 is best; above 1 events are more frequent than predicted",
    "in_the_large": "0 is best; the shift of the log-odds that makes both frequencies equal",
    "intercept": "0 is best (with a slope of 1)",
    "slope": "1 is best; below 1 the probabilities are too extreme",
    "ici": "0 is best",
    "e50": "0 is best",
    "e90": "0 is best",
    "scaled_brier": "1 is best, and 0 is as good as predicting the prevalence for everyone",
}
"""Calibration measures of perfectly calibrated probabilities."""


def show_calibration(report: ScoredReport) -> Section | None:
    """Return the section on the calibration and the net benefit of probabilities."""
    measures, benefits = report.calibration, report.net_benefit
    if measures is None or benefits is None:
        return None
    # the best value of each measure, beside its name
    notes = {measures[name].name: note for name, note in BEST.items()}
    notes[next(iter(benefits))] = "at the prevalence, where treating everyone gives 0"
    rows = [(one.name, one) for results in (measures, benefits) for one in results.values()]
    caption = "The table lists the net benefit and the calibration measures of external validation "
    caption += "studies."
    if report.out_of_fold.n_fits:
        caption += " The intervals do not include variation from retraining."
    table = tabulate(report, caption, "measure", rows, notes=notes)
    heading = _sentences.write_calibration(measures)
    warned = any(one.code == "calibration" for one in report.warnings)  # of the same
    return Section(heading, [] if warned else [f"{heading}."], tables=[table])


RANKINGS = {
    "roc_auc": (RocCurveDisplay, "ROC", "AUC"),
    "average_precision": (PrecisionRecallDisplay, "precision-recall", "average precision"),
}
"""Display of the curve of a metric, the name of the curve, and the name of its area."""
CALIBRATION_CURVE = "the observed frequency at each predicted probability (calibration)"
NOT_IN_TABLE = (
    "The curve pools the scores of all folds, so the area under it differs from the {} in the "
    "table, which is computed within folds. "
)
WITHOUT_RETRAINING = "Intervals do not include variation from retraining. "


CURVE_HEIGHT = 4.0
"""Height of the figure of a curve with its legend, in inches."""


def draw_ended(display: Any, true: Any, scores: Any, *, ax: Any, **options: Any) -> None:
    """Draw a curve on axes whose ends suit a rare event."""
    end_axes(ax, [display.from_predictions(true, scores, ax=ax, **options)])


def end_axes(ax: Any, drawn: Sequence[Any], omitted: Sequence[str] = ()) -> None:
    """End the axes of a rare event, and place the legend above them, where it covers nothing.

    A calibration curve ends at its last point or highest interval, a decision curve at four times
    the prevalence. Entries with `omitted` texts are left out.
    """
    # a rare event leaves most of the range of probabilities empty
    if isinstance(drawn[0], ReliabilityDisplay):
        ends = [np.nanmax([one.curve.x, one.curve.high]) for one in drawn]
        limits = np.array([-0.02, 1.02]) * min(1.0, max(ends))
        ax.set(xlim=limits, ylim=limits)
    elif isinstance(drawn[0], NetBenefitDisplay):
        ax.set_xlim(0, min(1.0, 4 * drawn[0].curve.extra.prevalence))
    # one entry for each text
    entries = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    entries = {text: entries[text] for text in entries if not any(one in text for one in omitted)}
    ax.legend(
        entries.values(),
        entries.keys(),
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=1 if max(map(len, entries)) > MAX_HALF else 2,
        fontsize="small",
        frameon=False,
        columnspacing=1.0,
        handlelength=1.4,
        handletextpad=0.5,
    )


MAX_HALF = 30
"""Maximum length of a text in a legend of two columns."""


def draw_residuals(predictions: Predictions, ax: Any) -> Any:
    """Draw the residuals of at most `MAX_POINTS` samples against their mean predictions."""
    n = len(predictions.target)
    # mean prediction of each tested sample
    counts = np.bincount(predictions.row, minlength=n)
    tested = counts > 0
    sums = np.bincount(predictions.row, predictions.predicted, minlength=n)
    means, true = sums[tested] / counts[tested], predictions.target.y[tested].astype(float)
    return PredictionErrorDisplay.from_predictions(
        true, means, kind="residual_vs_predicted", ax=ax, subsample=MAX_POINTS, random_state=0
    )


# --- subgroups

FALSE_DISCOVERIES = 0.05
"""False discovery rate of the differences between subgroups and the rest."""


def show_subgroups(report: ScoredReport) -> Section | None:
    """Return the section on the main estimate in each subgroup, and its difference from the rest.

    Squared errors are shown as their root. The difference of mean squared errors is divided by the
    sum of their roots, so it becomes a difference of the roots.
    """
    estimates, level = report.subgroups, write_level(report)
    if estimates is None:
        return None
    rows: list[Any] = []
    differ: list[tuple[float, str]] = []
    for name, estimate in estimates.items():
        # the difference in the unit of the target
        less, scale = estimates.less_the_rest[name], 1.0
        if report.answer.loss == "squared":
            roots = np.sqrt([estimate.value, estimate.value - less.value])
            scale = float(roots.sum()) or 1.0
        difference, low, high = np.array([less.value, *less.interval]) / scale
        pvalue = less.details["pvalue_adjusted"]
        if pvalue <= FALSE_DISCOVERIES:
            amount = write_estimate(float(difference), (high - low) / 4)
            differ.append((pvalue, f"{name} ({amount} compared with the rest)"))
        # value and interval of the subgroup
        value, _, interval = in_target_unit(estimate)
        ends = replace(less.interval, low=low, high=high)
        row = [str(name), f"{estimate.n_samples}", value, interval, float(difference), ends]
        rows.append([*row, write_pvalue(pvalue)])
    # which subgroups differ
    listed = [text for _, text in sorted(differ, key=itemgetter(0))]
    heading = "Subgroups compared with the rest"
    sentence = "No subgroup differs significantly from the rest."
    if listed:
        heading, verb = "Subgroups differ from the rest", "differ" + "s" * (len(listed) == 1)
        sentence = f"{list_few(listed, 5)} {verb} significantly from the rest."
    elif all(row[-1] == write_pvalue(np.nan) for row in rows):
        sentence = "No subgroup has enough samples to be compared with the rest."
    quantity = next(iter(estimates.values())).name
    quantity = SQUARES[1] if quantity == SQUARES[0] else quantity
    head = ["subgroup", "samples", quantity, level, "minus the rest", level, "adjusted P"]
    caption = f"The table lists the {quantity} of each subgroup. P is adjusted for the number of "
    caption += f"subgroups (false discovery rate of {100 * FALSE_DISCOVERIES:g} %), the intervals "
    caption += "are not."
    table = Table(caption, head, rows, left=[0, 3, 5])
    return Section(heading, sentences=[sentence], tables=[table], in_summary=True)


# --- the worst predictions


def show_hard_samples(report: ScoredReport) -> Section | None:
    """Return the section on the worst predictions, and on labels that may be wrong."""
    hard, predictions, numbers = report.hard_samples, report.out_of_fold, report.class_sizes is None
    if hard is None or not len(hard.sample):
        return None
    fitted, ranked = predictions.n_fits > 0, is_ranked(predictions, report.rare_class)
    what = "misclassified" + " in every repeat" * (len(predictions.repeats) > 1)
    if numbers:
        what = "over three times the root mean square"
    elif ranked:
        what = "ranked on the wrong side of most samples of the other class"

    def describe(n: int) -> str:
        counted = count(n, "residual" if numbers else "sample")
        return f"{counted} {'is' if n == 1 else 'are'} {what}"

    # samples to look at
    sentences, suspects = list[str](), np.flatnonzero(hard.suspect).tolist()
    if suspects:
        samples = zip(hard.name, hard.truth, hard.prediction, strict=True)
        texts = [f"{name} (true {true}, predicted {guess})" for name, true, guess in samples]
        listed = list_few([texts[k] for k in suspects], FIRST_ROWS)
        sentences = [
            f"{describe(len(suspects))}: {listed}. Look for label errors. Overlapping classes look "
            "the same."
        ]
    # the table, with the fraction of wrong predictions, or another measure
    form: Callable[[float], str] = "{:.0%}".format
    last = "misranked in" if ranked else "wrong in"
    if numbers:
        last, form = "residual / RMS", "{:.1f}".format
    elif not fitted and predictions.probabilities is not None:
        last, form = "probability of the true class", lambda wrong: f"{1 - wrong:.3f}"
    head = ["sample", "true", "ranked as" if ranked else "predicted", last]
    rows = [
        [row["name"], row["truth"], row["prediction"], form(row["wrong"]).replace("%", " %")]
        for row in hard.to_records()[:MAX_ROWS]
    ]
    # labels that were given without probabilities are all wrong in 100 %
    if not (numbers or fitted or predictions.probabilities is not None):
        head, rows = head[:-1], [row[:-1] for row in rows]
    caption = f"The table lists {count(len(rows), 'sample')} with the worst predictions."
    table = Table(caption, head, rows, n_on_page=FIRST_ROWS, n_in_text=0)
    return Section(describe(hard.always), sentences, tables=[table])


# --- what all reports of scored predictions write


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PredictionsPage(ScoredReport):
    """Verdict, main figure, predictions and methods of scored predictions."""

    _write_verdict = _sentences.write_verdict
    _draw_main = draw_main
    predictions = property(frame_predictions)

    def to_methods(self) -> str:
        """Return a paragraph for the methods section, with references."""
        return _sentences.write_methods({"": self})
