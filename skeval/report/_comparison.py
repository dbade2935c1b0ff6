"""Several estimators evaluated on the same folds, side by side and compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import combinations, product
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from skeval._inference.estimate import ConfidenceInterval, Estimate, Results
from skeval._resampling.sampling_units import UnitKind
from skeval.metrics import NetBenefitDisplay, ReliabilityDisplay, RocCurveDisplay
from skeval.model_selection import Comparison, EstimatesDisplay, compare_predictions, compare_scores
from skeval.model_selection._comparison import compare_pairs
from skeval.report import _sections, _sentences
from skeval.report._arguments import mirror
from skeval.report._findings import Judgment, ScoredReport, judge, read_once
from skeval.report._page import (
    MARKERS,
    CheckResult,
    Figure,
    Section,
    Table,
    join_words,
    list_few,
    list_grave,
)
from skeval.report._parts import IMPORTANCE, SCORINGS
from skeval.report._report import Report
from skeval.utils import _text
from skeval.utils._checks import ignored_warnings
from skeval.utils._plotting import shorten_name

USUAL = (
    "balanced_accuracy",
    "matthews_corrcoef",
    "roc_auc",
    "log_loss",
    "r2",
    "root_mean_squared_error",
    "mean_absolute_error",
)
"""Metrics of the table, if a report has them."""
MAX_UNRANKED, MAX_TABULATED = 5, 10
"""Maximum number of models without a table of ranks, and with a table of pairs beside it."""
AREA = _sentences.name_metric("roc_auc")
LINES = ("-", "--", "-.", ":", (0, (8, 2)), (0, (5, 1, 1, 1, 1, 1)))
"""Line of each curve in a figure, which has at most as many models."""
MAX_SHADED = 2
"""Maximum number of models whose intervals can be told apart in a figure."""
CORRECTED = {"holm": "intervals, Holm-corrected P-values", "none": "intervals and P-values"}


ROOT = _sentences.name_error("squared")


def join_reports(
    reports: Mapping[str, Any], comparison: Comparison | None, deciding: str, *, seed: int
) -> ComparisonReport:
    """Return a report with the reports of several models and the comparison of all pairs.

    `deciding` is the metric that is compared, or "" for the main estimate.
    """
    first = next(iter(reports.values()))
    # the best model first, if the models could be compared
    order = list(reports)
    if comparison is not None:
        order = [comparison.names[place] for place in comparison.order]
    estimates = {name: _find_deciding(reports[name], deciding) for name in order}
    by_system = {name: one.subgroups for name, one in reports.items() if one.subgroups is not None}
    # the worst result of each check, in the order of the first report that has it
    outcomes = ("serious", "note", "ignored", "not run", "passed", "not applicable")
    results = [result for report in reports.values() for result in report.checks]
    worst = sorted(results, key=lambda one: -outcomes.index(one.outcome))
    checks = {one.code: one for one in results} | {one.code: one for one in worst}
    return ComparisonReport(
        answer=comparison,
        estimates=Results(estimates),
        deciding=deciding,
        metrics={name: report.metrics for name, report in reports.items()},
        subgroups=by_system or None,
        reports=dict(reports),
        comparison=comparison,
        measures=tuple(compare_measures(reports, deciding, seed)) if comparison else (),
        confidence_level=first.confidence_level,
        n_samples=first.n_samples,
        warnings=tuple(collect_cautions(reports)),
        checks=tuple(checks.values()),
        seed=seed,
    )


def _find_deciding(report: ScoredReport, deciding: str) -> Estimate:
    """Return the deciding metric with its display name, or the main estimate for ""."""
    if not deciding:
        return report.answer
    metric = report.metrics[deciding]
    if deciding.startswith("neg_"):
        metric = mirror(metric, metric, 0.0)
    return replace(metric, name=_sentences.name_metric(deciding.removeprefix("neg_")))


# --- the verdict


def write_comparison(report: ComparisonReport) -> list[str]:
    """Return which model is better, and which beat the baseline, or the serious warnings."""
    # the comparison of all pairs, or why there is none
    comparison, first = report.comparison, report.first
    if comparison is None:
        reason = "there is a single test set" if first.out_of_fold.n_fits == 1 else ""
        compared = [f"The models were not compared, because {reason or 'some fits failed'}."]
    else:
        compared = _compare_two(report) if len(report) == 2 else _compare_many(report)
        compared = [*compared, comparison.scope] if compared else [comparison.conclusion]
    if grave := list_grave(report.warnings):
        return [f"Do not report these errors: {'; '.join(grave)}.", *filter(None, compared)]
    return [
        *filter(None, compared),
        *_sentences.write_relations(report.judgments, first.baseline, first.loss),
    ]


def _quote(name: str) -> str:
    """Return the name of a model in quotes, to distinguish it from words of the sentence."""
    return f'"{name}"'


def _find_difference(
    report: ComparisonReport, pair: tuple[str, str]
) -> tuple[float, ConfidenceInterval]:
    """Return the difference of a pair in the unit of the target, with its interval.

    The difference of two mean squared errors is divided by the sum of their roots, which makes
    it the difference of the roots. The interval treats this sum as fixed, and is too wide if the
    roots differ much (``tests/validity/test_sizes.py``).
    """
    difference, deciding = report.comparison.differences[pair], report.deciding
    # scores that are the negative of the shown quantity
    negative = ("neg_",) if deciding else ("accuracy", "minus", "neg_")
    scale = -1.0 if (deciding or report.comparison.scoring).startswith(negative) else 1.0
    if report.quantity == ROOT:
        scale /= sum(_sections.in_target_unit(report.reports[one].answer)[0] for one in pair) or 1.0
    value, *ends = (scale * end for end in (difference.value, *difference.interval))
    interval = replace(difference.interval, low=min(ends), high=max(ends))
    if abs(value) < 1e-12 * (interval.high - interval.low):  # rounding
        value = 0.0
    return value, interval


def _write_chance(difference: float, interval: ConfidenceInterval, pvalue: float) -> str:
    """Return the P-value of a pair, or "--" for equal scores, which leave nothing to test."""
    return "--" if difference == 0 and np.isnan(interval.low) else _text.write_pvalue(pvalue)


def _compare_two(report: ComparisonReport) -> list[str]:
    """Return the difference of two models in the unit of the target, empty without an interval."""
    ((first, second), difference), *_ = report.comparison.differences.items()
    name = report.quantity
    value, interval = _find_difference(report, (first, second))
    first, second = _quote(first), _quote(second)
    shown = difference.pvalue <= difference.level
    is_finite = np.isfinite([interval.low, interval.high]).all()
    # without a finite interval that agrees with the test, there is no such sentence
    if not is_finite or (shown and interval.low <= 0 <= interval.high):
        return []
    # digits that the interval supports
    scale, unit = (100.0, " percentage points") if name in _sentences.SHARES else (1.0, "")
    spread = scale * (interval.high - interval.low) / 4
    amount, low, high = (
        _text.write_estimate(scale * end, spread) for end in (value, interval.low, interval.high)
    )
    level, chance = f"{100 * interval.confidence_level:g} % CI", _text.say_pvalue(difference.pvalue)
    amount = f"{first} minus {second} is {amount}{unit} ({level} {low} to {high})."
    if shown:
        order = "lower" if value < 0 else "higher"
        return [f"{first} has a significantly {order} {name} than {second} ({chance}): {amount}"]
    text = f"No significant difference in {name} ({chance}): {amount}"
    return [text, "This is not evidence that they are equal."]


def _compare_many(report: ComparisonReport) -> list[str]:
    """Return the best of many models, and how many pairs differ, empty if the tests disagree."""
    # the best by the main estimate, if the tests agree
    comparison, best, first = report.comparison, report.comparison.best, report.first
    shown = report.estimates[best[0]]
    if report.deciding:
        # the value of the table, as for one model; the tests compare means over test sets
        amount = _text.write_number(shown.value)
    else:
        sign = -1.0 if first.answer.name == AREA else 1.0
        values = {name: sign * one.value for name, one in report.estimates.items()}
        smallest = min(values.values())
        if values[best[0]] - smallest > 1e-9 * abs(smallest):
            return []
        unit = _sentences.find_unit(first)
        amount = _sentences.write_amount(shown.value, unit, _sentences.find_width(shown, unit))
    n_found = sum(one.pvalue <= comparison.level for one in comparison.differences.values())
    verb = "has" if len(best) == 1 else "have"
    return [
        f"{join_words([*map(_quote, best)], 'and')} {verb} the best {report.quantity}, {amount}; "
        f"{n_found} of {len(comparison.differences)} pairs differ significantly "
        f"({comparison.title}, level {100 * comparison.level:.3g} % for all pairs)."
    ]


# --- sections


def show_side_by_side(report: ComparisonReport) -> Section:
    """Return the section on errors and metrics, with one row for each model."""
    # metrics that some of the models have
    first, level, quantity = report.first, _sections.write_level(report.first), report.quantity
    available = {
        name for one in report.reports.values() for name in _sections.find_main_metrics(one)
    }
    named = ROOT if first.answer.loss == "squared" else first.answer.name
    # if another metric decides, the main estimate has a column of its own
    main = [named] if report.deciding else []
    metrics = [name for name in USUAL if name in available]
    metrics = [name for name in metrics if _sentences.name_metric(name) not in (named, quantity)]
    rows: list[Any] = []
    for name, estimate in report.estimates.items():
        one = report.reports[name]
        values = _sections.find_main_metrics(one)
        cells: list[Any] = [_sections.in_target_unit(one.answer)[0] for _ in main]
        cells += [values[metric].value if metric in values else "--" for metric in metrics]
        value, _, interval = _sections.in_target_unit(estimate)
        rows.append((name, value, interval, *cells))
    # how many beat the baseline
    known = [one for one in report.judgments.values() if one.reference]
    heading = f"The models are compared by the {quantity}"
    if known:
        n_better, references = sum(one.better for one in known), {one.reference for one in known}
        than = references.pop() if len(references) == 1 else "the baseline"
        heading = f"{quantity[0].upper()}{quantity[1:]}: {n_better} of {len(report)} models "
        heading += f"{'is' if n_better == 1 else 'are'} significantly better than {than}"
    head = ["model", quantity, level, *main, *map(_sentences.name_metric, metrics)]
    table = Table("The best model is listed first.", head, rows, left=(0, 2))
    return Section(heading, tables=[table])


def show_pairs(report: ComparisonReport) -> Section | None:
    """Return the section on the differences of all pairs, or of the ranks of many models."""
    comparison, level = report.comparison, _sections.write_level(report.first)
    if comparison is None:
        return None
    differences, name = comparison.differences, report.quantity
    n_found = sum(one.pvalue <= comparison.level for one in differences.values())
    verb = "differs" if 1 in (n_found, len(differences)) else "differ"
    heading = f"{n_found} of {_text.count(len(differences), 'pair')} {verb} significantly"
    if len(report) == 2:
        heading = f"The models {'differ' if n_found else 'do not differ'} significantly"
    # ranks of many models
    tables = []
    if comparison.method == "max_t" and len(report) > MAX_UNRANKED:
        ranks = sorted(comparison.ranks.items(), key=lambda item: item[1].value)
        ranked = [
            (name, f"{rank.value:g}", f"{rank.interval.low:g} to {rank.interval.high:g}")
            for name, rank in ranks
        ]
        caption = "Rank 1 is the best. The intervals are simultaneous."
        tables.append(Table(caption, ["model", "rank", level], ranked, left=(0, 2)))
        if len(report) > MAX_TABULATED:
            return Section(heading, tables=tables)
    # all pairs, the significant ones first
    listed = sorted(differences.items(), key=lambda item: item[1].pvalue > comparison.level)
    rows = [
        (" - ".join(pair), *ends, _write_chance(*ends, one.pvalue))
        for pair, one in listed
        for ends in [_find_difference(report, pair)]
    ]
    on = "test sets" if report.first.out_of_fold.n_fits else "samples"
    corrected = f", simultaneous {CORRECTED[comparison.correction]}" if len(report) > 2 else ""
    table = Table(
        f"The table lists differences in {name} on the same {on} ({comparison.title}{corrected}).",
        ["pair", f"difference in {name}", level, "P"],
        rows,
        left=(0, 2),
    )
    # P-values that step down find more than simultaneous intervals
    sentences = []
    if any(
        one.pvalue <= comparison.level and one.interval.low <= 0 <= one.interval.high
        for one in differences.values()
    ):
        sentences = ["The P-values are from a step-down test, which is more powerful than the "]
        sentences[0] += "intervals. A significant difference may have an interval that includes 0."
    return Section(heading, sentences, tables=[table, *tables])


def show_measures(report: ComparisonReport) -> Section | None:
    """Return the section on two classes, with curves and differences of measures."""
    if not report.measures:
        return None
    interval = report.first.answer.interval
    rows: list[Any] = [
        (measure, pair, difference, ends, _write_chance(difference, ends, pvalue))
        for measure, pair, difference, low, high, pvalue in map(dict.values, report.measures)
        for ends in [replace(interval, low=low, high=high)]
    ]
    head = ["measure", "pair", "difference", _sections.write_level(report.first), "P"]
    caption = "Each test is for one pair and one measure. The P-values are not corrected for "
    table = Table(f"{caption}multiple tests.", head, rows, left=(0, 1, 3))
    # one axes for each curve
    figures, first = [], report.first.out_of_fold
    shaded = len(report) <= MAX_SHADED
    caption = f"The figure shows all ROC curves{' with pointwise intervals' * shaded}. "
    if first.n_fits:
        caption += _sections.NOT_IN_TABLE.format("AUC") + _sections.WITHOUT_RETRAINING * shaded
    curves: list[tuple[Any, str]] = [(RocCurveDisplay, caption.strip())]
    # the other curves require probabilities, which some models may lack
    predicted = [one.out_of_fold.probabilities for one in report.reports.values()]
    if any(one is not None for one in predicted):
        curves += [
            (ReliabilityDisplay, f"The figure shows {_sections.CALIBRATION_CURVE}."),
            (NetBenefitDisplay, "The figure shows the net benefit of each model by threshold."),
        ]
    positive = _text.quote_label(first.target.classes[first.target.positive_code])
    about = f" The positive class is {positive}."
    for display, caption in curves if len(report) <= len(LINES) else ():
        draw = partial(draw_systems, report.reports, display)
        figures.append(Figure(draw, caption + about, label=caption, height=_sections.CURVE_HEIGHT))
    return Section("Differences by other measures", figures=figures, tables=[table])


def draw_systems(reports: Mapping[str, Any], display: Any, ax: Any) -> None:
    """Draw the curve of each model on one axes, with one legend entry for each reference line."""
    drawn, many = [], len(reports) > MAX_SHADED
    for position, (name, report) in enumerate(reports.items()):
        once, true, options = read_once(report.out_of_fold, report.confidence_level)
        predictions, shown = report.out_of_fold, shorten_name(_text.name_label(name))
        # of scores that are not probabilities, only the ROC curve can be drawn
        if predictions.probabilities is None and display is not RocCurveDisplay:
            continue
        scores, positive = predictions.probabilities, predictions.target.positive_code
        scores = predictions.class_scores if scores is None else scores
        style: dict[str, Any] = {"color": f"C{position}", "linestyle": LINES[position]}
        style |= {"marker": MARKERS[position], "markersize": 4}
        if display is ReliabilityDisplay:
            style |= {"band": False, "histogram": False}
            style |= {"yerr": None, "label": shown} if many else {}
        else:
            style["markevery"] = (0.02 * position, 0.15)
            if predictions.n_fits:  # the area under the pooled curve is not that of the table
                style["label"] = shown
        draw = partial(display.from_predictions, true, scores[once, positive], ax=ax)
        drawn.append(draw(name=shown, **options, **style))
    # simultaneous bands of several curves would cover each other, and so would many intervals
    for shade in [one for one in ax.collections if many or "band of" in str(one.get_label())]:
        shade.remove()
    _sections.end_axes(ax, drawn, omitted=("interval at",))


def show_each_subgroup(report: ComparisonReport) -> Section | None:
    """Return the section on the main metric of each model in each subgroup."""
    # one row for each subgroup and model
    by_system = report.subgroups
    if not by_system:
        return None
    subgroups = report.first.subgroups
    rows = []
    for name, system in product(subgroups, by_system):
        estimate = by_system[system][name]
        value, _, interval = _sections.in_target_unit(estimate)
        rows.append((str(name), f"{estimate.n_samples}", system, value, interval))
    # mean squared errors are shown as their roots
    squared, first = report.first.answer.loss == "squared", next(iter(subgroups.values()))
    quantity = ROOT if squared else first.name
    head = ["subgroup", "samples", "model", quantity, _sections.write_level(report.first)]
    caption = f"The table lists the {quantity} of each model in each subgroup."
    table = Table(caption, head, rows, left=(0, 2, 4))
    return Section("By subgroup", tables=[table], in_summary=True)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ComparisonReport(Report):
    """Reports of several models, and the comparison of all pairs."""

    SECTIONS = (show_side_by_side, show_pairs, show_measures, show_each_subgroup)
    MAIN_TABLE = "estimators", "name"

    answer: Comparison | None = field(repr=False)
    reports: dict[str, Any]
    comparison: Any
    """`Comparison`, or None if fits failed or there is a single test set."""
    deciding: str
    """Name of the compared metric, "" for the main estimate."""
    metrics: dict[str, Any] = field(repr=False)
    measures: tuple[dict[str, Any], ...]
    subgroups: dict[str, Any] | None
    confidence_level: float

    @property
    def first(self) -> Any:
        """The first of the reports. The others have the same kind and options."""
        return next(iter(self.reports.values()))

    @property
    def _entries(self) -> Mapping[str, Any]:
        return self.reports

    title = "Comparison of models"

    @property
    def quantity(self) -> str:
        """Display name of the compared metric, which is the root of a mean squared error."""
        if self.deciding:
            return str(next(iter(self.estimates.values())).name)
        return ROOT if self.first.answer.loss == "squared" else str(self.first.answer.name)

    @cached_property
    def judgments(self) -> dict[str, Judgment]:
        """Whether each model is better than the baseline by the metric that decides."""
        return {name: judge(one, self.deciding) for name, one in self.reports.items()}

    @property
    def facts(self) -> list[str]:
        """The size of the data, the estimators, and the method of evaluation."""
        fitted = self.first.out_of_fold.n_fits > 0
        steps = [f"{name}: {one.estimator_name}" for name, one in self.reports.items() if fitted]
        on = "on the same folds" if fitted else "on the same samples"
        size = f"{self.first.facts[0]}; {len(self)} models {on}"
        return [size, *([list_few(steps)] if steps else []), *self.first.basis[:1]]

    _write_verdict = write_comparison

    def _draw_main(self) -> Figure:
        label = f"Main estimates of {len(self)} models with their intervals. A table has the "
        height = 1.3 + 0.42 * min(len(self), _sections.MAX_DRAWN)
        return Figure(self.plot, "", f"{label}numbers.", height=height)

    def _list_rows(self) -> list[dict[str, Any]]:
        rows = []
        for name, one in self.reports.items():
            low, high = one.answer.interval
            row = {"name": name, "error": one.answer.value, "low": low, "high": high}
            rows.append(
                row | {key: each.value for key, each in _sections.find_main_metrics(one).items()}
            )
        return rows

    @property
    def predictions(self) -> _text.DataFrame:
        """The predictions of all models, with a column of their names. Requires pandas."""
        import pandas as pd

        frames = {name: one.predictions for name, one in self.reports.items()}
        return pd.concat(frames, names=["name"]).reset_index("name").reset_index(drop=True)

    @property
    def splits(self) -> dict[str, np.ndarray]:
        """Every metric of each test set, with a column of the names of the estimators."""
        tables = {name: one.splits for name, one in self.reports.items()}
        first, *others = tables.values()
        shared = [key for key in first if all(key in table for table in others)]
        names = np.repeat([*tables], [len(table["fold"]) for table in tables.values()])
        columns = {key: np.concatenate([t[key] for t in tables.values()]) for key in shared}
        return {"name": names, **columns}

    def plot(self, ax: Any = None) -> EstimatesDisplay:
        """Draw the error of each model with its interval. Requires matplotlib."""
        return _sections.plot_estimates(self.first, ax, self.estimates, quoted=None)

    def to_methods(self) -> str:
        """Return a paragraph on the methods, and one on the comparison, with references."""
        compared, paragraph = "", _sentences.write_methods(self.reports, self.deciding)
        if self.comparison is not None:
            compared = replace(self.comparison, scoring=self.quantity).to_methods()
            # references are numbered through both paragraphs
            compared = compared.replace("[1]", f"[{paragraph.count(chr(10) + '[') + 1}]")
        return "\n\n".join(filter(None, [paragraph, compared]))


def collect_cautions(reports: Mapping[str, Any]) -> Iterator[CheckResult]:
    """Yield each warning once for all reports. Name the estimators if only some have it."""
    # models with the same warning
    systems: dict[CheckResult, list[str]] = {}
    for name, report in reports.items():
        for warning in report.warnings:
            systems.setdefault(warning, []).append(name)
    for warning, names in systems.items():
        named = f" ({', '.join(names)})" if len(names) < len(reports) else ""
        yield replace(warning, title=f"{warning.title}{named}")


def find_rare_metric(reports: Mapping[str, ScoredReport]) -> str:
    """Return the metric that replaces the error of a rare class for all models, or ""."""
    wanted = {"" if one.rare_class is None else one.rare_class.metric for one in reports.values()}
    # constant scores have an area without an interval
    areas = [one.metrics.get("roc_auc") for one in reports.values()]
    if "roc_auc" in wanted and all(area and np.isfinite(area.value) for area in areas):
        return "roc_auc"
    return wanted.pop() if len(wanted) == 1 else ""


def compare_reports(reports: Mapping[str, ScoredReport]) -> tuple[Comparison | None, str]:
    """Compare all pairs by the scores of the test sets.

    Returns the comparison, or None if it is not possible, and the metric. The metric is the first
    requested score, or the metric of a rare class, or "" for the main estimate.
    """
    first = next(iter(reports.values()))
    loss, level = first.answer.loss, first.confidence_level
    known = {} if first.out_of_fold.target.outputs else SCORINGS
    scoring = known.get(loss, f"minus the {first.answer.name}")
    if first.out_of_fold.cases.kind is UnitKind.TIME_BLOCK:
        return _compare_in_time(reports, scoring), ""
    # the requested score, that of a rare class, or the mean loss, of each test set
    requested = [one for one in first.out_of_fold.scores if not one.startswith(IMPORTANCE)]
    deciding = requested[0] if requested else find_rare_metric(reports)
    deciding = "" if deciding == scoring else deciding
    columns = {name: _score_test_sets(one, deciding) for name, one in reports.items()}
    if deciding and not requested and not np.isfinite([*columns.values()]).all():
        deciding = ""  # the metric of a rare class is undefined in a test set
        columns = {name: _score_test_sets(one, deciding) for name, one in reports.items()}
    # one test set has no variance, and a failed fit leaves scores without partners
    if first.out_of_fold.n_fits < 2 or any(np.isnan(one).any() for one in columns.values()):
        return None, deciding
    # the variance is corrected for training sets that overlap
    ratio = first.out_of_fold.test_train_ratio
    with ignored_warnings(UndefinedMetricWarning):  # the table shows undefined values
        comparison = compare_scores(columns, test_train_ratio=ratio, confidence_level=level)
    return replace(comparison, scoring=deciding or scoring, n_samples=first.n_samples), deciding


def _compare_in_time(reports: Mapping[str, ScoredReport], scoring: str) -> Comparison | None:
    """Compare all pairs by blocks of time, or None if a fit failed."""
    predictions = [report.out_of_fold for report in reports.values()]
    n = len(predictions[0].target)
    # all models must be tested on the same samples equally often
    tests = np.array([np.bincount(system.row, minlength=n) for system in predictions])
    if np.any(tests != tests[0]):
        return None
    # the mean loss of each sample in the order of time
    tested, level = tests[0] > 0, next(iter(reports.values())).confidence_level
    sums = np.array([np.bincount(system.row, system.loss, n) for system in predictions])
    scores = (1.0 if scoring == "accuracy" else 0.0) - (sums[:, tested] / tests[0][tested]).T
    # the mean of the scores is the weighted mean
    weight = predictions[0].weight[tested]
    scores *= (weight / weight.mean())[:, None]
    with ignored_warnings(UndefinedMetricWarning):  # the table shows undefined values
        return compare_pairs(
            "time_blocks",
            scores.mean(axis=0),
            (scores,),
            "two-sided",
            level,
            names=tuple(reports),
            scoring=scoring,
            n_samples=len(scores),
        )


def compare_measures(
    reports: Mapping[str, Any], deciding: str, seed: int
) -> Iterator[dict[str, Any]]:
    """Yield the difference of each pair for each other measure of two classes.

    Predictions of estimators are compared over test sets, which includes the variation from
    retraining. Other predictions are compared over samples.
    """
    first = next(iter(reports.values()))
    predictions, target = first.out_of_fold, first.out_of_fold.target
    systems = {name: one.out_of_fold for name, one in reports.items()}
    scored = all(one.class_scores is not None for one in systems.values())
    in_time = predictions.cases.kind is UnitKind.TIME_BLOCK
    # measures of two classes and their scores, for samples that are not in time order
    if target.outputs or target.n_classes != 2 or not scored or in_time:
        return
    compared = _find_deciding(first, deciding).name
    values = {name: dict(_measure_samples(one)) for name, one in reports.items()}
    _, _, drawn = read_once(first.out_of_fold, first.confidence_level)
    for measure in next(iter(values.values())):
        columns = {name: one[measure] for name, one in values.items() if measure in one}
        # a rate such as the sensitivity counts the samples of one class only
        kept = ~np.isnan(next(iter(columns.values())))
        if measure == compared or len(columns) < len(reports) or kept.sum() < 2:
            continue
        # an area needs all samples at once, and other measures are means over samples
        truth, metric = None, None
        if measure == AREA:
            truth = (target.codes == target.positive_code)[predictions.row].astype(int)
            metric = roc_auc_score
        # each pair alone, so that its interval and its P-value agree
        for pair in combinations(columns, 2):
            if predictions.n_fits:
                scores = {name: _by_fit(systems[name], columns[name], truth) for name in pair}
                ratio = predictions.test_train_ratio
                compare: Any = partial(compare_scores, scores, test_train_ratio=ratio)
                if np.isnan([*scores.values()]).any():  # a test set without one of the classes
                    continue
            else:
                scores = {name: columns[name][kept] for name in pair}
                options: Any = {"metric": metric, "method": "max_t", "random_state": seed}
                for key in ("groups", "sample_weight"):
                    options[key] = None if drawn[key] is None else drawn[key][kept]
                compare = partial(compare_predictions, truth, scores, **options)
            with ignored_warnings(UserWarning):  # of undefined intervals, which the table shows
                one = compare(confidence_level=first.confidence_level).difference
            # differences of rates, areas and Brier scores lie between -1 and 1
            largest = np.inf if measure.startswith("net benefit") else 1.0
            low, high = np.clip([*one.interval], -largest, largest).tolist()
            yield {
                "measure": measure,
                "pair": " - ".join(pair),
                "difference": one.value,
                "low": low,
                "high": high,
                "pvalue": one.pvalue,
            }


def _measure_samples(report: ScoredReport) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the value of each prediction by each measure, or nan if it is not counted."""
    predictions, target = report.out_of_fold, report.out_of_fold.target
    true = (target.codes == target.positive_code)[predictions.row]
    yield AREA, np.asarray(predictions.class_scores)[:, target.positive_code]
    chance = predictions.probabilities
    if chance is not None:
        yield "Brier score", (chance[:, target.positive_code] - true) ** 2
    if not predictions.has_values:
        return
    called = predictions.predicted == target.positive_code
    yield "error rate", (called != true).astype(float)
    # rates within a class leave out the samples of the other one
    yield "sensitivity", np.where(true, called, np.nan)
    yield "specificity", np.where(true, np.nan, ~called)
    # the net benefit at the prevalence, because at 0.5 it is a constant minus the error rate
    cut = getattr(report, "threshold", None) or 0.5
    cut = np.average(true, weights=predictions.weight[predictions.row]) if cut == 0.5 else cut
    if chance is not None and 0 < cut < 1 and cut != 0.5:
        treated = chance[:, target.positive_code] >= cut
        yield f"net benefit at {cut:.3g}", treated * np.where(true, 1.0, -cut / (1 - cut))


def _by_fit(
    predictions: Any,
    values: np.ndarray,
    truth: np.ndarray | None,
    metric: Callable[..., float] = roc_auc_score,
) -> np.ndarray:
    """Return the mean of the values in each test set, or their metric if all classes occur."""
    fit, weight, n = predictions.fit, predictions.weight[predictions.row], predictions.n_fits
    result = np.full(n, np.nan)
    for test in range(n):
        rows = (fit == test) & ~np.isnan(values)
        if truth is None and rows.any():
            result[test] = np.average(values[rows], weights=weight[rows])
        elif truth is not None and len(np.unique(truth[rows])) == len(np.unique(truth)):
            # a metric is undefined in a test set that lacks a class
            result[test] = metric(truth[rows], values[rows], sample_weight=weight[rows])
    return result


def _score_test_sets(report: ScoredReport, deciding: str) -> np.ndarray:
    """Return a score of each test set, nan if the fit failed. Larger is better.

    It is the requested score or metric of a rare class `deciding`, or the mean loss for "".
    """
    predictions, target = report.out_of_fold, report.out_of_fold.target
    codes = target.codes[predictions.row]
    if deciding in predictions.scores:
        scores = np.full(predictions.n_fits, np.nan)
        scores[np.unique(predictions.fit)] = predictions.scores[deciding]
        return scores
    if deciding == "roc_auc":
        ranked = np.asarray(predictions.class_scores)[:, target.positive_code]
        return _by_fit(predictions, ranked, codes == target.positive_code)
    if deciding:
        return _by_fit(predictions, predictions.predicted, codes, balanced_accuracy_score)
    means = _by_fit(predictions, predictions.loss, None)
    return 1 - means if report.answer.loss == "zero_one" else -means
