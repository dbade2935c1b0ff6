"""Report of `evaluate`: estimates side by side, in sections."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from skeval._inference.estimate import ConfidenceInterval, Estimate, Results, Test
from skeval._resampling.predictions import Predictions
from skeval.feature_selection import SelectionFrequencyDisplay
from skeval.metrics import PrecisionRecallDisplay, ReliabilityDisplay, RocCurveDisplay
from skeval.model_selection import EstimatesDisplay
from skeval.model_selection._subgroups import describe_difference
from skeval.report import _sentences
from skeval.report._coverage import write_coverage
from skeval.report._findings import ALPHA, Baseline, RareClass
from skeval.report._predictions import (
    MAX_POINTS,
    ConfusionRates,
    HardSamples,
    draw_residuals,
    make_predictions_frame,
    name_columns,
)
from skeval.report._sections import Figure, Report, Section, Table, list_few, list_grave
from skeval.utils._text import (
    DataFrame,
    count,
    name_label,
    write_estimate,
    write_number,
    write_spread,
)

MIN_PERTURBATIONS = 200
MAX_CLASSES = 6
"""Maximum number of classes of a confusion matrix beside the verdict; larger ones get their own
table."""
MAX_METRICS, MAX_ROWS, FIRST_ROWS = 12, 20, 5
"""Maximum number of metrics in the text; maximum number of settings, samples and features on a
page, and the number of them that is visible without unfolding."""
HEADLINERS = ("balanced_accuracy", "accuracy", "r2", "root_mean_squared_error")
"""Metrics in order of preference; the first available one heads the section."""
SQUARES = ("mean squared error", "root mean squared error")
N_RESAMPLES = 200
"""Resamples for the bands of curves; more would not change the drawing visibly."""


def in_target_unit(estimate: Estimate) -> tuple[float, float, ConfidenceInterval]:
    """Return value, standard error and interval; a mean squared error is replaced by its root."""
    value, spread, interval = estimate.value, estimate.standard_error, estimate.interval
    if getattr(estimate, "loss", "") != "squared" or not value > 0:
        return value, spread, interval
    low, high = np.sqrt(np.maximum([interval.low, interval.high], 0)).tolist()
    root = float(np.sqrt(value))
    return root, spread / (2 * root), replace(interval, low=low, high=high)  # delta method


class Quoted(NamedTuple):
    """Main estimate with its interval, the value of the baseline, and the best possible value."""

    quantity: str
    value: float
    low: float
    high: float
    baseline: float | None
    best: float

    def write(self, value: float) -> str:
        """Return a value with the number of decimals that the interval supports."""
        width = self.high - self.low
        if self.quantity == "error rate":
            return _sentences.write_amount(value, loss="zero_one", width=width)
        return write_estimate(value, width / 4)


def draw_quoted(quoted: Mapping[str, Quoted], caption: str = "") -> Figure | None:
    """Return a forest plot of one quantity with the baseline; the axis includes the best value."""
    first, *_ = listed = list(quoted.values())
    if not np.isfinite([one.value for one in listed]).all():
        return None
    display = EstimatesDisplay(
        names=list(quoted),
        values=[one.value for one in listed],
        lows=[one.low for one in listed],
        highs=[one.high for one in listed],
        xlabel=first.quantity,
        guess=first.baseline,
    )

    def draw(ax: Any) -> None:
        display.plot(ax)
        ax.update_datalim([(first.best, 0)])
        ax.autoscale_view(scaley=False)

    read = [
        f"{name} {one.write(one.value)}, interval {one.write(one.low)} to {one.write(one.high)}"
        for name, one in quoted.items()
    ]
    if first.baseline is not None:
        read.append(f"baseline {first.write(first.baseline)}")
    label = f"{first.quantity}: {'; '.join(read)}."
    return Figure(draw, caption, label, height=0.9 + 0.42 * len(read))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ScoredReport(Report):
    """Base class of reports on predictions for samples that the system has not seen.

    Subclasses provide the fields, and the sentences that describe the predictions.
    """

    answer: Estimate
    metrics: Results
    confusion: ConfusionRates | None
    hard_samples: HardSamples
    subgroups: Results | None
    out_of_fold: Predictions
    baseline: Baseline | None
    rare_class: RareClass | None
    never_predicted: tuple[str, ...]
    confidence_level: float
    n_samples: int
    class_sizes: dict[Any, int] | None

    _listed: ClassVar[Sequence[str]] = ("answer", "n_samples", "class_sizes", "confidence_level")
    _counted = ""
    """Text after a comma: how the confusion matrix counts samples."""
    _compared, _headline_metric = "estimators on the same folds", "error"
    """Plural of the predictions, and the header of their first column."""
    _scored = "scores"
    """Label of the curves in the legend."""
    _residuals = ""
    """Caption of the residual plot."""

    def _explain_metrics(self) -> str:
        """Describe the samples of the metrics and the target of their intervals."""
        raise NotImplementedError

    def _describe_curve(self, name: str) -> str:
        """Describe the samples of a curve and its band."""
        raise NotImplementedError

    @property
    def _main_metrics(self) -> dict[str, Estimate]:
        """Metrics of all samples, and requested scores, by name."""
        metrics = self.metrics.items()
        return {
            name: estimate
            for name, estimate in metrics
            if getattr(estimate.extra, "label", None) is None
        }

    @property
    def _level(self) -> str:
        """Header of the intervals."""
        return f"{100 * self.confidence_level:g} % CI"

    @property
    def _figure(self) -> Figure | None:
        """The main estimate and its baseline; for a rare class, the metric that replaces the
        error."""
        return draw_quoted({"main estimate": self._quote(self._rare)})

    @property
    def _rare(self) -> RareClass | None:
        """The rare class, unless the results should not be reported at all."""
        return None if list_grave(self.warnings) else self.rare_class

    def _quote(self, rare: RareClass | None = None) -> Quoted:
        """Return the main estimate and its baseline, or the metric of a rare class."""
        if rare is not None:
            ends = rare.estimate, rare.low, rare.high
            return Quoted(_sentences.name_metric(rare.metric), *ends, rare.chance, 1.0)
        value, _, interval = in_target_unit(self.answer)
        ends = value, interval.low, interval.high
        if self.answer.name == _sentences.name_metric("roc_auc"):
            return Quoted(self.answer.name, *ends, 0.5, 1.0)
        baseline = None
        if self.baseline is not None:
            root = np.sqrt if self.answer.name in SQUARES else float
            baseline = float(root(self.baseline.error))
        squared = self.answer.loss == "squared"
        quantity = _sentences.name_error("squared") if squared else self.answer.name
        return Quoted(quantity, *ends, baseline, 0.0)

    def _describe_classes(self) -> str:
        """Return the number of samples, and of samples per class."""
        if not self.class_sizes:
            return count(self.n_samples, "sample")
        sizes = [f"{name_label(name)}: {size}" for name, size in self.class_sizes.items()]
        of = count(len(sizes), "class")
        return f"{count(self.n_samples, 'sample')} of {of} ({list_few(sizes)})"

    def _show_metrics(self) -> Section:
        """Return the section with every metric and its interval; of numbers with the residuals."""
        metrics = self._main_metrics
        first = next((name for name in HEADLINERS if name in metrics), None)
        return Section(
            _sentences.write_metric(first, metrics[first]) if first else "By other measures",
            explains=[self._explain_metrics()],
            figures=list(self._draw_curves()) if self.class_sizes is None else (),
            tables=[
                self._tabulate_metrics(),
                *self._tabulate_classes(),
                *self._tabulate_confusion(),
            ],
        )

    def _show_curves(self) -> Section:
        """Return the section with the curves of a classifier."""
        figures = list(self._draw_curves()) if self.class_sizes is not None else []
        metrics = self._main_metrics
        first = next((name for name in ("roc_auc", "log_loss") if name in metrics), None)
        heading = _sentences.write_metric(first, metrics[first]) if first else "Curves"
        return Section(heading, figures=figures)

    @property
    def _positive_class(self) -> Any:
        """The positive of two classes."""
        target = self.out_of_fold.target
        names = [] if target.classes is None else target.classes.tolist()
        return names[target.positive_code] if len(names) == 2 else None

    def _tabulate_metrics(self) -> Table:
        """Return the metrics of all samples; on a page the area is shown above its curve."""
        labels = {name: _sentences.name_metric(name) for name in self._main_metrics}
        classes = self.out_of_fold.target.classes
        if classes is not None and "average_precision" in labels:
            labels["average_precision"] += f", class {name_label(self._positive_class)}"
        rows = [
            (labels[name], estimate.value, estimate.interval)
            for name, estimate in self._main_metrics.items()
        ]
        head = ["metric on new samples", "estimate", self._level]
        of_two = self.class_sizes is not None and len(self.class_sizes) == 2
        stated = {_sentences.name_metric("roc_auc")} if of_two else ()
        return Table("All samples.", head, rows, omitted=stated, n_in_text=MAX_METRICS, left=(0, 2))

    def _tabulate_classes(self) -> list[Table]:
        """Yield a table of the metrics of each class, if there are any."""
        by_class: dict[str, dict[str, Estimate]] = {}
        for estimate in self.metrics.values():
            label = getattr(estimate.extra, "label", None)
            if label is not None:
                by_class.setdefault(label, {})[estimate.extra.metric] = estimate
        names = list(dict.fromkeys(name for estimates in by_class.values() for name in estimates))
        rows = [
            (
                label,
                *(_write_shortly(estimates[name]) if name in estimates else "" for name in names),
            )
            for label, estimates in by_class.items()
        ]
        head = ["class", *map(_sentences.name_metric, names)]
        caption = "By class."
        if len(by_class) == 2:
            caption += f" The recall of {name_label(self._positive_class)}, the positive class, is "
            caption += "the sensitivity, of the other the specificity."
        table = Table(caption, head, rows, n_on_page=MAX_CLASSES, n_in_text=0)
        return [table] if rows else []

    def _tabulate_confusion(self) -> list[Table]:
        """Yield the confusion matrix: counts, and row shares with their intervals."""
        confusion = self.confusion
        if confusion is None:
            return []
        rows = [
            (label, *(confusion.write_cell(k, j) for j in range(len(confusion.labels))))
            for k, label in enumerate(confusion.labels)
        ]
        caption = (
            f"True classes (rows) and predicted classes (columns){self._counted}; share of the "
            f"row, {self._level}."
        )
        beside = len(confusion.labels) <= MAX_CLASSES
        head, shades = name_columns(confusion.labels), np.round(confusion.rates, 3).tolist()
        return [Table(caption, head, rows, beside=beside, shades=shades, n_in_text=0)]

    def _draw_curves(self) -> Iterator[Figure]:
        """Yield the ROC, precision-recall and calibration curves, or the residuals."""
        predictions, classes = self.out_of_fold, self.out_of_fold.target.classes
        if classes is None:
            drawn = ""
            if self.n_samples > MAX_POINTS:
                drawn = f" {MAX_POINTS:,} of the samples are drawn, chosen at random."
            yield Figure(
                partial(draw_residuals, predictions),
                f"Residuals: {self._residuals} No pattern is best.{drawn}",
                label="Residuals by prediction.",
                height=3.0,
            )
        if classes is None or predictions.class_scores is None:
            return
        if len(classes) > 2:
            yield from self._draw_curves_of_many(classes)
            return
        one = predictions.repeat == 0  # a band counts each sample once
        positive = predictions.target.positive_code
        about = f"Positive class: {name_label(classes[positive])}."
        options: dict[str, Any] = {"pos_label": classes[positive]}
        options["confidence_level"] = self.confidence_level
        if np.ptp(predictions.weight):
            options["sample_weight"] = predictions.weight[predictions.row[one]]
        banded = options | {"n_resamples": N_RESAMPLES, "random_state": 0, "label": self._scored}
        banded["groups"] = None if predictions.group is None else predictions.group[one]
        true = predictions.target.y[predictions.row[one]]
        for display, name in (
            (RocCurveDisplay, "ROC"),
            (PrecisionRecallDisplay, "Precision-recall"),
        ):
            scores = predictions.class_scores[one, positive]
            yield Figure(
                partial(display.from_predictions, true, scores, **banded),
                f"{self._describe_curve(name)} {about}",
                label=f"{name} curve with its band. {about}",
            )
        if predictions.probabilities is not None:
            probabilities = predictions.probabilities[one, positive]
            yield Figure(
                partial(ReliabilityDisplay.from_predictions, true, probabilities, **options),
                f"Calibration: observed frequency at each predicted probability. {about}",
                label="Calibration curve with the intervals of its bins.",
            )

    def _draw_curves_of_many(self, classes: np.ndarray) -> Iterator[Figure]:
        """Yield the curves of more than two classes."""
        yield from ()

    def _tabulate_samples(self, last: str = "", write: Callable[[float], str] = str) -> Table:
        """Return a table of the worst predictions; `last` names the last column.

        For numeric targets it is the absolute residual.
        """
        head, caption = ["sample", "true", "predicted as"], "Misclassified samples."
        if self.class_sizes is None:
            caption = "Largest residuals."
            head[2], last, write = "predicted", "residual / RMS", "{:.1f}".format
        rows = [
            (row["name"], row["truth"], row["prediction"], *([write(row["wrong"])] if last else []))
            for row in self.hard_samples.to_records()[:MAX_ROWS]
        ]
        head += [last] if last else []
        return Table(caption, head, rows, n_on_page=FIRST_ROWS, n_in_text=0)

    def _show_subgroups(self, estimates: Results) -> Section:
        """Return the section of the error in each subgroup; squared errors by their root.

        The difference of mean squared errors is divided by the sum of their roots, which makes it
        a difference of the roots.
        """
        differ, largest = "may be the same in all", estimates.largest_difference
        if largest and (largest.interval.low > 0 or largest.interval.high < 0):
            differ = "differs between"
        quantity, scale = next(iter(estimates.values())).name, 1.0
        if quantity == SQUARES[0]:
            quantity = SQUARES[1]
            pair = (largest.details["first"], largest.details["second"]) if largest else ()
            scale = sum(in_target_unit(estimates[name])[0] for name in pair) or 1.0
        head = ["subgroup", "samples", quantity, self._level]
        rows = []
        for name, estimate in estimates.items():
            value, _, interval = in_target_unit(estimate)
            rows.append((str(name), f"{estimate.n_samples}", value, interval))
        return Section(
            f"The {self.answer.name} {differ} subgroups",
            sentences=[describe_difference(largest, scale)],
            tables=[Table("Error by subgroup.", head, rows, left=(0, 3))],
            in_summary=True,
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EvaluationReport(ScoredReport):
    """Error of one estimator with its interval, and all other estimates of it.

    It also has the `warnings`, `seed`, `settings`, `versions`, `call` and `date` of every report.

    Attributes
    ----------
    answer : Estimate
        The main estimate, which is the number to report; equal to that of `error_interval`.
    metrics : dict of str to Estimate
        Metrics of out-of-fold predictions, for all samples and for each class, and the scores
        in `scoring`. Their intervals, too, are for the model trained on all samples.
    confusion : ConfusionRates or None
        Confusion matrix with intervals of its rates; None for regression.
    hard_samples : HardSamples
        Samples that are repeatedly misclassified out of fold.
    subgroups : dict of Estimate, or None
        Error in each subgroup of `by`, and the largest difference.
    tuning : Estimate or None
        Optimism of the best scores of the hyperparameter searches, and the selected settings;
        None if the estimator does not end in a search.
    out_of_fold : Predictions
        Out-of-fold predictions; see `predictions`.
    estimates : dict of str to Estimate
        Estimates by method, from the most optimistic to the most conservative.
    perturbation : tuple of Estimate or None
        For a linear two-class `SVC`, the intervals by the cross-validation statistic and by the
        resubstitution statistic.
    permutation : Test or None
        Permutation test of the whole procedure.
    selection_bias : Estimate or None
        Bias of selecting the features on all samples; None without a selector.
    selection_stability : Estimate or None
        Agreement of the features selected in the folds (Nogueira); None without a selector, or
        if the folds select from different features without names.
    candidate_names : tuple of str or None
        Names of the input features of the selector, after the steps before it.
    baseline : Baseline or None
        Best constant prediction (majority class, mean), and the difference of its error on the
        same samples; None for custom losses.
    omitted : dict of str to str
        Estimates that were not run, by name, with the reason.
    rare_class : RareClass or None
        Rarest class, if it is rare, with the metric that is used instead of the error.
    never_predicted : tuple of str
        Classes that are never predicted in any repeat.
    confidence_level : float
        Nominal coverage of the intervals.
    n_samples : int
        Number of samples.
    n_features : int or None
        Number of columns of the data; None if samples are not rows of a table, such as texts.
    class_sizes : dict or None
        Number of samples of each class; None for regression.
    estimator : str
        The estimator, as source text.
    estimator_name : str
        Its class, or the classes of its steps.
    feature_names : tuple of str or None
        Names of the features, if known.
    """

    answer: Estimate
    tuning: Estimate | None
    estimates: Results
    perturbation: tuple[Estimate, ...] | None
    permutation: Test | None
    selection_bias: Estimate | None
    selection_stability: Estimate | None
    candidate_names: tuple[str, ...] | None
    omitted: dict[str, str]
    n_features: int | None
    estimator: str
    estimator_name: str
    feature_names: tuple[str, ...] | None

    def __getitem__(self, method: str) -> Estimate:
        """Return the estimate with this name."""
        estimate: Estimate = self.estimates[method]
        return estimate

    @property
    def _title(self) -> str:  # type: ignore[override]
        """Heading of the page: the target, if it has a name, and the size of the data."""
        target = getattr(self.out_of_fold.target.given, "name", None)
        predicted = "Evaluation report" if target is None else f"Predicting {target}"
        return f"{predicted}: {count(self.n_samples, 'sample')}"

    _main_part, _row_name = "estimates", "method"
    _listed = (
        *ScoredReport._listed,
        "estimator",
        "n_features",
        "feature_names",
        "rare_class",
        "never_predicted",
    )
    _counted = ", on average over the repeats"
    _residuals = "true value minus mean out-of-fold prediction of each sample."

    @property
    def verdict(self) -> str:
        """Return error, interval, baseline, chance and serious warnings in a few sentences."""
        return _sentences.write_verdict(self)

    @property
    def _basis(self) -> list[str]:
        """Describe the target of the main interval, how it was computed, and its measured
        coverage."""
        predictions = self.out_of_fold
        weighted, shares = bool(np.ptp(predictions.weight)), predictions.probabilities
        certain = shares is not None and not np.all(shares)
        target = predictions.target.y.astype(float) if predictions.target.classes is None else None
        coverage = write_coverage(
            self.answer, self.class_sizes, predictions.cases, weighted, certain, target
        )
        if coverage and list_grave(self.warnings):
            return [*coverage[:1], _sentences.FAULTY]
        return coverage

    @property
    def _headline(self) -> str:
        """Return the error with its interval and baseline, or the reason not to report it."""
        return _sentences.write_headline(
            _sentences.write_answer(self.answer),
            self.answer.loss,
            warnings=self.warnings,
            baseline=self.baseline,
            rare_class=self.rare_class,
            never_predicted=self.never_predicted,
            permutation=self.permutation,
            width=_sentences.find_width(self.answer, self.answer.loss),
            other=_sentences.write_better_metric(self),
        )

    @property
    def _evaluated(self) -> tuple[str, str]:
        """The estimator, as a short text and as source text."""
        return self.estimator_name, self.estimator

    @property
    def _facts(self) -> list[str]:
        """The size of the data, and the classes."""
        features = "" if self.n_features is None else f", {count(self.n_features, 'feature')}"
        return [f"{self._describe_classes()}{features}"]

    @property
    def _about(self) -> dict[str, Any]:
        """The first entries of `to_dict`, before the results of the sections."""
        return super()._about | {
            "answer": self.answer.to_dict() | {"covers": " ".join(self._basis)},
            "positive": self._positive_class,
        }

    @property
    def _results(self) -> dict[str, Any]:
        """The results by their names in `to_dict` and `to_frame`, after the warnings."""
        subgroups = self.subgroups
        return {
            "metrics": self.metrics,
            "confusion": self.confusion,
            "subgroups": subgroups,
            "largest_difference": subgroups and subgroups.largest_difference,
            "estimates": [self.answer, *self.estimates.values()],
            "baseline": self.baseline,
            "omitted": self.omitted,
            "perturbation": self.perturbation,
            "permutation": self.permutation,
            "selection_bias": self.selection_bias,
            "selection_stability": self.selection_stability,
            "candidate_names": self.candidate_names,
            "tuning": self.tuning,
            "hard_samples": self.hard_samples.to_records(),
        }

    def _make_sections(self) -> Iterator[Section]:
        """Yield the sections of predictions, estimates, tests and samples."""
        yield self._show_metrics()
        yield self._show_curves()
        if self.subgroups is not None:
            yield self._show_subgroups(self.subgroups)
        yield self._show_estimates()
        if self.perturbation:
            yield self._show_perturbation(self.perturbation)
        if self.permutation is not None:
            yield self._show_permutation(self.permutation)
        if self.selection_bias is not None:
            yield self._show_selection(self.selection_bias)
        if self.tuning is not None:
            yield self._show_tuning(self.tuning)
        yield self._show_hard_samples()

    def _explain_metrics(self) -> str:
        """Describe the samples of the metrics and the target of their intervals."""
        return (
            "Based on out-of-fold predictions. The intervals are for the model trained on all "
            "samples, as is that of the error."
        )

    def _describe_curve(self, name: str) -> str:
        """State that the scores of several models are pooled."""
        return (
            f"{name} curve of the out-of-fold scores of one cross-validation, with pointwise "
            "intervals and a simultaneous band. The curve pools the scores of all folds, so its "
            "area differs from the AUC above, which is computed within folds. The band does not "
            "include variation from retraining."
        )

    def _show_tuning(self, bias: Estimate) -> Section:
        """Return the section of the hyperparameter search: its best score, and the selected
        settings."""
        shown = "is optimistic" if bias.interval.low > 0 else "is not significantly optimistic"
        n_searches = int(bias.extra.counts.sum())
        rows = [
            (
                ", ".join(f"{name}={value!r}" for name, value in setting.items()),
                f"{n} of {n_searches}",
            )
            for setting, n in zip(bias.extra.settings[:MAX_ROWS], bias.extra.counts, strict=False)
        ]
        caption = "Hyperparameters selected by the searches."
        return Section(
            f"The best score of the search {shown}",
            sentences=[_sentences.write_tuning(bias)],
            tables=[Table(caption, ["setting", "chosen"], rows, n_on_page=FIRST_ROWS, n_in_text=0)],
        )

    def _show_hard_samples(self) -> Section:
        """Return the section of the samples that are misclassified repeatedly."""
        hard, numbers = self.hard_samples, self.class_sizes is None
        table = self._tabulate_samples("wrong in", lambda wrong: f"{100 * wrong:.0f} %")
        verb = "is" if hard.always == 1 else "are"
        heading = f"{count(hard.always, 'sample')} {verb} misclassified"
        if len(self.out_of_fold.repeats) > 1:
            heading += " in every repeat"
        if numbers:
            heading = _sentences.write_large_residuals(hard.always)
        return Section(
            heading,
            sentences=_sentences.write_hard_samples(hard, numbers),
            tables=[table] if hard.always else [],
        )

    @property
    def _named_estimates(self) -> list[tuple[str, Estimate]]:
        """All estimates by name, the main estimate first, perturbation last."""
        named = [(f"main estimate ({self.answer.method})", self.answer)]
        named += list(self.estimates.items())
        perturbed = _sentences.PERTURBED
        return named + [(perturbed[one.extra.statistic], one) for one in self.perturbation or ()]

    def plot(self, ax: Any = None) -> EstimatesDisplay:
        """Draw all estimates of the error, the main estimate first; requires matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a figure.

        Returns
        -------
        EstimatesDisplay
        """
        squared = self.answer.loss == "squared"
        quantity = _sentences.name_error("squared") if squared else self.answer.name
        rows = {name: in_target_unit(estimate) for name, estimate in self._named_estimates}
        baseline = None
        if self.baseline is not None:
            baseline = float(np.sqrt(self.baseline.error)) if squared else self.baseline.error
        return EstimatesDisplay(
            names=list(rows),
            values=[value for value, *_ in rows.values()],
            lows=[interval.low for *_, interval in rows.values()],
            highs=[interval.high for *_, interval in rows.values()],
            xlabel=f"{quantity}, {100 * self.confidence_level:g} % intervals",
            quoted=0,
            guess=baseline,
        ).plot(ax)

    def _show_estimates(self) -> Section:
        """Return the section with every estimate of the error, drawn and in a table."""
        named, loss, baseline = self._named_estimates, self.answer.loss, self.baseline
        figure = Figure(
            self.plot,
            f"Estimates of one error, with {100 * self.confidence_level:g} % intervals.",
            label=f"Forest plot of {len(named)} estimates of the error; the table holds the "
            "numbers.",
            height=1.1 + 0.42 * len(named),
        )
        rows = []
        for name, estimate in named:
            value, spread, interval = in_target_unit(estimate)
            rows.append((name, value, write_spread(spread), interval, interval.method))
        error = "root mean squared error" if loss == "squared" else "error"
        table = Table(
            "The same as a table.",
            ["estimate", error, "std. error", self._level, "method"],
            rows,
            notes=_sentences.MEANINGS,
            quoted={named[0][0]},
            muted={"resubstitution"},
            left=(0, 3, 4),
        )
        sentences = []
        if baseline is not None and baseline.better and not list_grave(self.warnings):
            sentences.append(_sentences.write_baseline(baseline, loss))
        if self.omitted:
            sentences.append(_sentences.write_omitted(self.omitted))
        values = [estimate.value for _, estimate in named]
        width = _sentences.find_width(self.answer, loss)
        least, most = (
            _sentences.write_amount(end, loss, width) for end in (min(values), max(values))
        )
        span = f"from {least} to {most}" if least != most else f"all {least}"
        heading = f"{len(named)} estimates of one error, {span}"
        return Section(heading, sentences=sentences, figures=[figure], tables=[table])

    def _show_perturbation(self, intervals: Sequence[Estimate]) -> Section:
        """Return the section of the intervals of a linear support vector machine."""
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

    def _show_permutation(self, test: Test) -> Section:
        """Return the section of the permutation test."""
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
        if self.baseline is not None and self.baseline.better != (test.pvalue <= ALPHA):
            explains.append(_sentences.TESTS_DISAGREE)
        runs = count(test.n_resamples, "run")
        return Section(
            f"Shuffled labels scored as well in {test.n_exceedances} of {runs}",
            sentences=[_sentences.write_permutation(test)],
            explains=explains,
            figures=[figure],
        )

    def _show_selection(self, bias: Estimate) -> Section:
        """Return the section of selection outside and within the folds, and the selected
        features."""
        stability, claimed = self.selection_stability, _sentences.write_rate(bias.extra.cv1_error)
        figures = [
            Figure(
                bias.plot,
                "Error with features selected on all samples (CV1) and within the folds (CV2).",
                label="CV1 error, CV2 error and their difference.",
                height=2.6,
            )
        ]
        if stability is not None:
            draw: Any = SelectionFrequencyDisplay.from_result
            figures.append(
                Figure(
                    partial(draw, stability, feature_names=self.candidate_names, n_top=MAX_ROWS),
                    "Selection frequency of each feature.",
                    label="Selection frequency of each feature over the folds.",
                    height=0.8 + 0.22 * min(MAX_ROWS, stability.extra.selected_ever),
                )
            )
        return Section(
            f"Selecting features on all samples would have given {claimed}",
            sentences=_sentences.write_selection(bias, stability),
            figures=figures,
        )

    @property
    def predictions(self) -> DataFrame:
        """Return one row for each out-of-fold prediction as a data frame; requires pandas.

        Columns: sample (row of X), repeat, fold, truth, prediction. Classifiers with scores add
        "score_<class>" (decision value, or probability) of the positive of two classes, or of each
        of more classes.
        """
        return make_predictions_frame(self.out_of_fold)

    def to_frame(self, part: str | None = None) -> DataFrame:
        """Return a part of the report as a data frame; requires pandas.

        Parameters
        ----------
        part : str, default=None
            "estimates" (the default): one row per estimate of the error, indexed by method, the
            main estimate first; "metrics", "confusion", "hard_samples", "subgroups" or any other
            name of `to_dict`: the attribute of that name; "predictions": all predictions.

        Returns
        -------
        pandas.DataFrame
        """
        return self.predictions if part == "predictions" else super().to_frame(part)


def _write_shortly(estimate: Estimate) -> str:
    """Return an estimate with its interval on the next line."""
    if np.isnan(estimate.interval.low):
        return write_number(estimate.value)
    return f"{estimate.value:.3f}\n({estimate.interval.low:.3f}–{estimate.interval.high:.3f})"
