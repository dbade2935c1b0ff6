"""Several estimators evaluated on the same folds, side by side and compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skeval._inference.estimate import ConfidenceInterval
from skeval._resampling.sampling_units import UnitKind
from skeval.model_selection import Comparison, EstimatesDisplay
from skeval.model_selection._comparison import JointComparison, SplitComparison
from skeval.model_selection._pair_tests import correct, corrected_t, time_blocks
from skeval.report import _sections
from skeval.report._parts import SCORINGS
from skeval.report._report import EvaluationReport, draw_quoted, in_target_unit
from skeval.report._sections import Caution, Figure, ReportsByName, Section, Table
from skeval.report._sentences import name_error, name_metric, write_amount
from skeval.utils._checks import ignored_warnings
from skeval.utils._text import count, say_pvalue, write_estimate, write_pvalue

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
MAX_DRAWN = 12
"""Maximum number of main estimates drawn below the headline; more are drawn further down."""
MAX_TABULATED = 5
"""Maximum number of systems with a table of pairs; more are shown by ranks."""
CORRECTED = {"holm": "Holm-corrected P-values", "none": "and so do the P-values"}


ROOT = name_error("squared")
COMPARED = {
    "accuracy": ("error rate", -1.0),
    "neg_mean_squared_error": (ROOT, -1.0),
    "mean_squared_error": (ROOT, 1.0),
    "neg_mean_absolute_error": ("mean absolute error", -1.0),
    "neg_log_loss": ("log loss", -1.0),
    "neg_brier_score": ("Brier score", -1.0),
    "brier_score_loss": ("Brier score", 1.0),
    "roc_auc_score": (name_metric("roc_auc"), 1.0),
}
"""Display names of compared scores, and -1 for negative errors."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EvaluationComparison(ReportsByName):
    """Reports of several estimators, or systems, and the comparison of all pairs.

    It is a mapping: ``comparison["svm"]`` is the report of one estimator. It has the `warnings` of
    all reports, and the `seed`, `settings`, `versions`, `call` and `date` of every report.

    Attributes
    ----------
    reports : dict of str to EvaluationReport or PredictionsReport
        One report per estimator, on the same folds and resamples, or per system.
    comparison : Comparison or None
        All pairs on the test sets of the repeated folds, by the corrected resampled t; None if
        the folds keep the order of the samples, or fits failed. For predictions, all pairs on the
        same samples, by the largest t.
    """

    comparison: Comparison | None

    _main_part = "estimators"

    @property
    def _title(self) -> str:  # type: ignore[override]
        """Heading of the page."""
        return f"Comparison of {self._noun}s"

    @property
    def _noun(self) -> str:
        """Noun for a compared object: estimator or system."""
        noun: str = self._first._compared.split()[0]
        return noun[:-1]

    @property
    def _scored_reports(self) -> dict[str, Any]:
        """All reports by name."""
        return self.reports

    def to_methods(self) -> str:
        """Return a paragraph for the methods section, and one on the comparison.

        Returns
        -------
        str
        """
        compared = "" if self.comparison is None else self.comparison.to_methods()
        return "\n\n".join(filter(None, [super().to_methods(), compared]))

    @property
    def verdict(self) -> str:
        """Return which estimator is better, and serious warnings."""
        reason = "there is a single test set" if self._first.out_of_fold.n_fits == 1 else ""
        result = f"The systems were not compared, because {reason or 'some fits failed'}."
        if self.comparison is not None:
            result = self._compare_two() if len(self) == 2 else self._compare_many()
            result = result or self.comparison.conclusion
        grave = _sections.forbid_quoting(self.warnings)
        poor = [
            name for name, report in self.items() if report.baseline and not report.baseline.better
        ]
        beaten = f"No evidence that {' or '.join(poor)} beats the baseline." if poor else ""
        return " ".join(filter(None, [grave, result, beaten]))

    @property
    def _compared_metric(self) -> tuple[str, float]:
        """Display name of the compared metric, and -1 if the scores are its negative."""
        assert self.comparison is not None
        scoring = self.comparison.scoring
        if scoring.startswith("minus the "):
            return scoring.removeprefix("minus the "), -1.0
        return COMPARED.get(scoring, (name_metric(scoring), 1.0))

    def _find_difference(self, pair: tuple[str, str]) -> tuple[float, ConfidenceInterval]:
        """Return the difference of a pair in the unit of the target, with its interval.

        The difference of two mean squared errors is divided by the sum of their roots, which makes
        it the difference of the roots. The interval treats this sum as fixed. Intervals of normal
        errors covered .947 to .999 in 18 cells of 4,000 data sets, with 60 to 1,000 samples and
        one root up to three times the other: they are too wide if the roots differ much
        (``tests/validity/test_rmse_difference.py``).
        """
        assert self.comparison is not None
        difference, (name, scale) = self.comparison.differences[pair], self._compared_metric
        if name == ROOT:
            scale /= sum(in_target_unit(self[one].answer)[0] for one in pair) or 1.0
        ends = scale * difference.interval.low, scale * difference.interval.high
        interval = replace(difference.interval, low=min(ends), high=max(ends))
        return scale * difference.value, interval

    def _compare_two(self) -> str:
        """Return which of two systems is better, with the difference; "" without an interval."""
        assert self.comparison is not None
        (pair, difference), *_ = self.comparison.differences.items()
        (name, sign), (value, interval) = self._compared_metric, self._find_difference(pair)
        shown = difference.pvalue <= difference.level
        if not np.isfinite([interval.low, interval.high]).all():
            return ""
        if shown and interval.low <= 0 <= interval.high:
            return ""
        lower_is_better = sign < 0 or not self.comparison.greater_is_better
        better, worse = pair if (value < 0) == lower_is_better else pair[::-1]
        ends = [value, interval.low, interval.high]
        if shown:
            ends = [abs(value), *sorted((abs(interval.low), abs(interval.high)))]
        scale = 100.0 if name == "error rate" else 1.0
        spread = scale * (interval.high - interval.low) / 4
        amount, low, high = (write_estimate(scale * end, spread) for end in ends)
        unit = " percentage points" if name == "error rate" else ""
        level = f"{100 * interval.confidence_level:g} % CI"
        ends_text, chance = f"{level} {low} to {high}", say_pvalue(difference.pvalue)
        text = (
            f"No significant difference in {name} ({chance}): {pair[0]} minus {pair[1]} is "
            f"{amount}{unit} ({ends_text}). This is not evidence that they are equal."
        )
        if shown:
            order = "lower" if lower_is_better else "higher"
            text = f"{better} has a significantly {order} {name} than {worse} ({chance}): "
            text += f"the difference is {amount}{unit} ({ends_text})."
        return " ".join(filter(None, [text, difference.scope]))

    def _compare_many(self) -> str:
        """Return the best of many systems with the evidence; "" if errors and tests disagree."""
        comparison, text = self.comparison, self._name_best()
        if comparison is None or not text:
            return ""
        n_found = sum(one.pvalue <= comparison.level for one in comparison.differences.values())
        text += f" ({comparison.title}, {comparison._describe_level()}). {n_found} of "
        text += f"{len(comparison.differences)} pairs differ significantly."
        return f"{text} {comparison.scope}".rstrip()

    @property
    def _headline(self) -> str:
        """Return the best estimator with the evidence, or the reason not to report it."""
        if grave := _sections.list_grave(self.warnings):
            return f"Do not report these errors: {_sections.write_gravest(grave)}."
        text = self._name_best()
        return f"{text}{self._judge_baseline()}." if text else self.verdict

    def _name_best(self) -> str:
        """Return the best estimators, and the others that differ significantly.

        "" without a comparison, or if the comparison of test sets orders the estimators differently
        from their main estimates.
        """
        comparison = self.comparison
        if comparison is None:
            return ""
        best, names = self[comparison.best[0]]._quote(), comparison.best
        quoted = [report._quote() for report in self.values()]
        if abs(best.value - best.best) > min(abs(one.value - best.best) for one in quoted):
            return ""
        text = f"{' and '.join(names)} {'has' if len(names) == 1 else 'have'} the best "
        text += f"{best.quantity}, {best.write(best.value)}"
        pvalues = dict(
            zip(
                comparison.names,
                comparison.to_matrix("pvalue")[comparison.names.index(names[0])],
                strict=True,
            )
        )
        others = [name for name in self if name not in names]
        beaten = [name for name in others if pvalues[name] <= comparison.level]
        left = [name for name in others if name not in beaten]
        judged = [f"significantly better than {_sections.list_few(beaten)}"] if beaten else []
        judged += [f"not significantly different from {_sections.list_few(left)}"] if left else []
        return ": ".join([text, *([", and ".join(judged)] if judged else [])])

    def _judge_baseline(self) -> str:
        """Return which of the estimators beat the baseline, as the end of a sentence."""
        if any(report.baseline is None for report in self.values()):
            return ""
        poor = [name for name, report in self.items() if not report.baseline.better]
        baseline = self._first.baseline
        amount = write_amount(baseline.error, self._first.answer.loss)
        both = "both" if len(self) == 2 else f"all {len(self)}"
        who = f"only {_sections.list_few([name for name in self if name not in poor])} beats"
        if not poor or len(poor) == len(self):
            who = f"{'none' if poor else both} beat{'s' * bool(poor)}"
        elif len(self) - len(poor) > 1:
            who = f"{_sections.list_few(poor)} {'does' if len(poor) == 1 else 'do'} not beat"
        return f"; {who} {baseline} ({amount})"

    @property
    def _figure(self) -> Figure | None:
        """The main estimates on one axis; None for many systems, which a section shows."""
        return self._draw_quoted() if len(self) <= MAX_DRAWN else None

    def _draw_quoted(self, caption: str = "") -> Figure | None:
        """Return a forest plot of the main estimates."""
        return draw_quoted({name: report._quote() for name, report in self.items()}, caption)

    @property
    def _facts(self) -> list[str]:
        """The size of the data, the estimators, and how they were evaluated."""
        steps = [
            f"{name}: {report._evaluated[0]}" for name, report in self.items() if report._evaluated
        ]
        size = f"{self._first._facts[0]}; {len(self)} {self._first._compared}"
        return [size, *([_sections.list_few(steps)] if steps else []), *self._first._basis[:1]]

    @property
    def _results(self) -> dict[str, Any]:
        """The results by their names in `to_dict` and `to_frame`, after the warnings."""
        rows = []
        for name, report in self.items():
            low, high = report.answer.interval
            row = {"name": name, "error": report.answer.value, "low": low, "high": high}
            rows.append(row | {key: one.value for key, one in report._main_metrics.items()})
        results: dict[str, Any] = {"estimators": rows, "comparison": []}
        if self.comparison is not None:
            differences, ranks = self.comparison.differences.values(), self.comparison.ranks
            results["comparison"] = [difference.to_dict() for difference in differences]
            results["ranks"] = [{"name": name, **rank.to_dict()} for name, rank in ranks.items()]
        return results | {"subgroups": self._subgroups or None}

    @property
    def _subgroups(self) -> dict[str, Any]:
        """The main estimate in each subgroup, by system."""
        reports = self.items()
        return {name: one.subgroups for name, one in reports if one.subgroups is not None}

    def _make_sections(self) -> Iterator[Section]:
        """Yield the sections of all estimators side by side, of pairs, and of each estimator."""
        yield self._show_side_by_side()
        if self.comparison is not None:
            yield self._show_pairs(self.comparison)
        if self._subgroups:
            yield self._show_subgroups()
        verdicts = [f"{name}: {report.verdict}" for name, report in self.items()]
        yield Section("Individual results", explains=verdicts)

    def plot(self, ax: Any = None) -> EstimatesDisplay:
        """Draw the error of each estimator with its interval; requires matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a figure.

        Returns
        -------
        EstimatesDisplay
        """
        baseline = None if self._first.baseline is None else self._first.baseline.error
        quoted = {name: report.answer for name, report in self.items()}
        return EstimatesDisplay.from_result(quoted, guess=baseline, ax=ax)

    def _show_side_by_side(self) -> Section:
        """Return the section of errors and metrics, with one row per estimator."""
        available = {name for report in self.values() for name in report._main_metrics}
        metrics = [name for name in USUAL if name in available]
        level, named = self._first._level, self._first._headline_metric
        if getattr(self._first.answer, "loss", "") == "squared":
            named = metrics.pop(metrics.index("root_mean_squared_error")).replace("_", " ")
        rows = []
        for name, report in self.items():
            values = report._main_metrics
            cells = [values[metric].value if metric in values else "--" for metric in metrics]
            value, _, interval = in_target_unit(report.answer)
            rows.append((name, value, interval, *cells))
        figure = self._draw_quoted(
            f"{named} of each system with {level}s. Overlapping intervals do not rule out a "
            "significant difference: the pairs below are compared on the same samples."
        )
        head = [self._noun, named, level, *map(name_metric, metrics)]
        poor = sum(bool(report.baseline and not report.baseline.better) for report in self.values())
        heading = f"{len(self) - poor} of {len(self)} beat the baseline significantly"
        return Section(
            heading if self._first.baseline else "Side by side",
            figures=[figure] if figure and len(self) > MAX_DRAWN else [],
            tables=[Table("In numbers.", head, rows, left=(0, 2))],
        )

    def _show_subgroups(self) -> Section:
        """Return the section of the main estimate of each system in each subgroup."""
        by_system, first = self._subgroups, self._first
        rows = [
            (str(name), f"{estimate.n_samples}", system, estimate.value, estimate.interval)
            for name in next(iter(by_system.values()))
            for system, estimate in ((system, one[name]) for system, one in by_system.items())
        ]
        head = ["subgroup", "samples", self._noun, first.answer.name, first._level]
        caption = f"The {first.answer.name} of each in each subgroup."
        table = Table(caption, head, rows, left=(0, 2, 4))
        return Section("By subgroup", tables=[table], in_summary=True)

    def _show_pairs(self, comparison: Comparison) -> Section:
        """Return the section of the differences of all pairs."""
        differences = comparison.differences
        n_found = sum(one.pvalue <= comparison.level for one in differences.values())
        verb = "differs" if 1 in (n_found, len(differences)) else "differ"
        heading = f"{n_found} of {count(len(differences), 'pair')} {verb} significantly"
        if isinstance(comparison, JointComparison) and len(self) > MAX_TABULATED:
            caption = "Ranks, 1 for the best, with simultaneous intervals."
            head = [self._noun, "rank", self._first._level]
            ranks = sorted(comparison.ranks.items(), key=lambda item: item[1].value)
            of_systems = [
                (name, f"{rank.value:g}", f"{rank.interval.low:g} to {rank.interval.high:g}")
                for name, rank in ranks
            ]
            table = Table(caption, head, of_systems, left=(0, 2))
            return Section(heading, tables=[table])
        rows = [
            (" - ".join(pair), *self._find_difference(pair), write_pvalue(difference.pvalue))
            for pair, difference in differences.items()
        ]
        name, _ = self._compared_metric
        table = Table(
            f"Differences in {name} on the same test sets, by {comparison.title}; "
            f"simultaneous intervals, {CORRECTED[comparison.correction]}.",
            ["pair", f"difference in {name}", self._first._level, "P"],
            rows,
            left=(0, 2),
        )
        return Section(heading, tables=[table])


def collect_cautions(reports: Mapping[str, Any]) -> Iterator[Caution]:
    """Yield the warnings of all reports once, naming the estimators unless all have it."""
    systems: dict[tuple[str, str, str], list[str]] = {}
    for name, report in reports.items():
        for text in report.warnings:
            systems.setdefault((text.code, str(text), text.headline), []).append(name)
    for (code, text, headline), names in systems.items():
        if len(names) < len(reports):
            title, _, rest = text.partition(":")
            text = f"{title} ({', '.join(names)}):{rest}"
        yield Caution(code, text, headline)


def compare_reports(reports: dict[str, EvaluationReport]) -> Comparison | None:
    """Compare all pairs by the mean losses of the test sets; None if not possible."""
    first = next(iter(reports.values()))
    loss, level = first.answer.loss, first.confidence_level
    scoring = SCORINGS.get(loss, f"minus the mean {loss} loss")
    if first.out_of_fold.cases.kind is UnitKind.TIME_BLOCK:
        return _compare_in_time(reports, scoring)
    columns = [_score_test_sets(report) for report in reports.values()]
    if len(columns[0]) < 2 or any(np.isnan(column).any() for column in columns):
        return None
    scores, ratio = np.column_stack(columns), first.out_of_fold.test_train_ratio
    with ignored_warnings(UndefinedMetricWarning):  # the table shows undefined values
        return SplitComparison(
            names=tuple(reports),
            values=scores.mean(axis=0),
            tests=correct(corrected_t(scores, ratio), "holm", level),
            method="corrected_t",
            confidence_level=level,
            scoring=scoring,
            n_samples=first.n_samples,
            split_scores=scores,
            test_train_ratio=ratio,
        )


def _compare_in_time(reports: dict[str, EvaluationReport], scoring: str) -> Comparison | None:
    """Compare all pairs by blocks of time; None if a fit failed."""
    predictions = [report.out_of_fold for report in reports.values()]
    tests = np.array(
        [np.bincount(system.row, minlength=len(system.target)) for system in predictions]
    )
    if np.any(tests != tests[0]):
        return None
    tested, level = tests[0] > 0, next(iter(reports.values())).confidence_level
    sums = np.array(
        [np.bincount(system.row, system.loss, len(system.target)) for system in predictions]
    )
    scores = (1.0 if scoring == "accuracy" else 0.0) - (sums[:, tested] / tests[0][tested]).T
    with ignored_warnings(UndefinedMetricWarning):  # the table shows undefined values
        return Comparison(
            names=tuple(reports),
            values=scores.mean(axis=0),
            tests=correct(time_blocks(scores), "holm", level),
            method="time_blocks",
            confidence_level=level,
            scoring=scoring,
            n_samples=len(scores),
        )


def _score_test_sets(report: EvaluationReport) -> np.ndarray:
    """Return the score of each test set, nan if the fit failed; larger is better."""
    predictions, n_fits = report.out_of_fold, report.out_of_fold.n_fits
    sizes = np.bincount(predictions.fit, minlength=n_fits)
    with np.errstate(invalid="ignore"):
        means: np.ndarray = np.bincount(predictions.fit, predictions.loss, minlength=n_fits) / sizes
    return 1 - means if report.answer.loss == "zero_one" else -means
