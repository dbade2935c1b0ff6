"""What `evaluate` returns: estimates side by side, and what to make of them, section by section."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from skeval._inference.estimate import Estimate, Results, Test
from skeval._resampling.fits import OutOfFold
from skeval.feature_selection import SelectionFrequencyDisplay
from skeval.metrics import CalibrationDisplay, PrecisionRecallDisplay, RocCurveDisplay
from skeval.model_selection import EstimatesDisplay
from skeval.model_selection._interval_methods import AUTO, ERROR_METHODS, GIVEN_FOLDS
from skeval.model_selection._metric_interval import describe_difference
from skeval.report import _sentences
from skeval.report._coverage import write_coverage
from skeval.report._predictions import (
    ConfusionRates,
    HardSamples,
    draw_residuals,
    make_predictions_frame,
    name_columns,
)
from skeval.report._sections import Figure, Line, Report, Section, Table, list_few, list_grave
from skeval.report._sentences import ALPHA, Guess, RareClass
from skeval.report._source import name_steps
from skeval.utils._text import (
    DataFrame,
    count,
    name_label,
    write_estimate,
    write_number,
    write_spread,
)

__all__ = ["PERTURBED", "EvaluationReport", "ScoredReport"]

PERTURBED = {
    "cross_validation": "SVM, perturbed cross-validation",
    "resubstitution": "SVM, perturbed training",
}
"""The name of a perturbation interval by the statistic that was perturbed."""
MEANINGS = {
    f"answer, {AUTO}": ERROR_METHODS[AUTO].meaning,
    f"answer, {GIVEN_FOLDS}": "the number to quote: the error on the folds that were given",
    **{method: row.meaning for method, row in ERROR_METHODS.items() if row.part},
    PERTURBED["cross_validation"]: ERROR_METHODS["perturbation"].meaning,
    PERTURBED["resubstitution"]: "the same, of the training error; for many samples",
}
FEW_PERTURBATIONS = 200
MOST_CLASSES = 6
"""Classes of a confusion matrix that stands beside the answer; more make a table of their own."""
MOST_METRICS, MOST_ROWS, FIRST_ROWS = 12, 20, 5
"""Metrics that text shows; rows of settings, samples and features that a page holds, and shows."""
FAULTY = "Under the fault that is named first it need not hold that error."
ASKED = (
    "This and the comparison with the guess disagree, since they ask different things: P, whether "
    "labels and features are related at all; the other, whether new samples are predicted better "
    "than by one constant answer."
)
HEADLINERS = ("balanced_accuracy", "accuracy", "r2", "root_mean_squared_error")
"""The metrics of which the first that there is heads all others."""
SQUARES = ("mean squared error", "root mean squared error")
N_RESAMPLES = 200
"""Of the bands of curves; their ends need no more where they are drawn."""


def say_metric(name: str, found: Estimate) -> str:
    """Return a metric with its interval as a heading: The Brier score is 0.13 [0.11, 0.15]."""
    value, low, high = _sentences.write_with_ends(found, found.value)
    label = _sentences.name_metric(name).split(",")[0]
    article = "" if label.startswith(("R2", "F1")) else "The "
    ends = f" [{low}, {high}]" if np.isfinite(found.interval.low) else ", without an interval"
    return f"{article}{label} is {value}{ends}"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ScoredReport(Report):
    """What predictions of samples by a system that did not see them tell, whoever made them.

    Its fields are those of the subclasses, which say in sentences what the predictions are.
    """

    answer: Estimate
    metrics: Results
    confusion: ConfusionRates | None
    hard_samples: HardSamples
    subgroups: Results | None
    out_of_fold: OutOfFold
    guess: Guess | None
    rare: RareClass | None
    unanswered: tuple[str, ...]
    confidence_level: float
    n_samples: int
    class_sizes: dict[Any, int] | None

    told: ClassVar[Sequence[str]] = ("answer", "n_samples", "class_sizes", "confidence_level")
    counted = ""
    """How the samples of the confusion matrix are counted, behind a comma."""
    compared, headline_metric = "estimators on the same folds", "error"
    """What several of them are, and what stands first of each."""
    scored = "scores"
    """What the legend calls the curves."""
    residuals = ""
    """What the drawing of residuals shows."""

    def _explain_metrics(self) -> str:
        """Say what the metrics are of, and what their intervals are for."""
        raise NotImplementedError

    def _describe_curve(self, name: str) -> str:
        """Say what a curve and its band are of."""
        raise NotImplementedError

    @property
    def main_metrics(self) -> dict[str, Estimate]:
        """The metrics of all samples, and what was asked for, by name."""
        found = self.metrics.items()
        return {name: each for name, each in found if each.details["label"] is None}

    @property
    def level(self) -> str:
        """What stands above intervals."""
        return f"{100 * self.confidence_level:g} % interval"

    @property
    def line(self) -> Line | None:
        """The answer on a line to the guess; of a rare class what counts there."""
        return self.draw_answer(None if list_grave(self.warnings) else self.rare)

    def draw_answer(self, rare: RareClass | None = None) -> Line:
        """Return the answer on a line to the guess, above the other estimates of the same."""
        squared = self.answer.details.get("loss") == "squared"
        scale = np.sqrt if squared else float
        ends = self.answer.interval.low, self.answer.interval.high
        quantity = _sentences.name_error("squared") if squared else self.answer.name
        value, low, high = (float(scale(each)) for each in (self.answer.value, *ends))
        others = {
            each.method.replace("_", " "): float(scale(each.value))
            for each in self.listed_estimates
        }
        guess, best = None, 0.0
        if rare is not None:
            others = {}
            value, low, high, quantity = (
                rare.estimate,
                rare.low,
                rare.high,
                _sentences.name_metric(rare.metric),
            )
            guess, best = ("chance", rare.chance), 1.0
        elif self.answer.name == _sentences.name_metric("roc_auc"):
            guess, best = ("chance", 0.5), 1.0
        elif self.guess is not None:
            root = np.sqrt if self.answer.name in SQUARES else float
            guess = str(self.guess), float(root(self.guess.error))
        write = partial(write_estimate, spread=(high - low) / 4)
        if quantity == "error rate":
            write = partial(_sentences.write_amount, loss="zero_one")
        return Line(quantity, {"answer": (value, low, high)}, others, guess, best, write)

    @property
    def listed_estimates(self) -> Sequence[Estimate]:
        """The other estimates of what the answer is."""
        return ()

    def _describe_classes(self) -> str:
        """Say how many samples there are, and of which classes."""
        if not self.class_sizes:
            return f"{self.n_samples} samples"
        sizes = [f"{name_label(name)}: {size}" for name, size in self.class_sizes.items()]
        of = count(len(sizes), "class")
        return f"{self.n_samples} samples of {of} ({list_few(sizes)})"

    def _show_metrics(self) -> Section:
        """Show every metric with its interval."""
        found = self.main_metrics
        first = next((name for name in HEADLINERS if name in found), None)
        return Section(
            say_metric(first, found[first]) if first else "By other measures",
            explains=[self._explain_metrics()],
            tables=[
                self._tabulate_metrics(),
                *self._tabulate_classes(),
                *self._tabulate_confusion(),
            ],
            results={"metrics": self.metrics, "confusion": self.confusion},
        )

    def _show_curves(self) -> Section:
        """Show the curves or the residuals."""
        figures, found = list(self._draw_curves()), self.main_metrics
        first = next(
            (n for n in ("roc_auc", "mean_absolute_error", "log_loss") if n in found), None
        )
        heading = say_metric(first, found[first]) if first else "Curves"
        return Section(heading, figures=figures)

    def _tabulate_metrics(self) -> Table:
        """Return the metrics of all samples; the area stands above its curve on a page."""
        rows = [
            (_sentences.name_metric(name), each.value, each.interval)
            for name, each in self.main_metrics.items()
        ]
        head = ["metric of new samples", "estimate", self.level]
        of_two = self.class_sizes is not None and len(self.class_sizes) == 2
        said = {_sentences.name_metric("roc_auc")} if of_two else ()
        options: dict[str, Any] = {"said": said, "n_in_text": MOST_METRICS, "left": (0, 2)}
        beside = self.class_sizes is None
        return Table("All samples.", head, rows, beside=beside, **options)

    def _tabulate_classes(self) -> list[Table]:
        """Return the metrics of each class in a table, if there are any."""
        by_class: dict[str, dict[str, Estimate]] = {}
        for each in self.metrics.values():
            label = each.details["label"]
            if label is not None:
                by_class.setdefault(label, {})[each.details["metric"]] = each
        names = list(dict.fromkeys(name for found in by_class.values() for name in found))
        rows = [
            (label, *(_write_shortly(found[name]) if name in found else "" for name in names))
            for label, found in by_class.items()
        ]
        head = ["class", *map(_sentences.name_metric, names)]
        made = Table("By class.", head, rows, n_on_page=MOST_CLASSES, n_in_text=0)
        return [made] if rows else []

    def _tabulate_confusion(self) -> list[Table]:
        """Return the confusion matrix: counts, and shares of the row with their intervals."""
        found = self.confusion
        if found is None:
            return []
        rows = [
            (label, *(found.write_cell(k, j) for j in range(len(found.labels))))
            for k, label in enumerate(found.labels)
        ]
        caption = (
            "Samples of each class (rows) by what they are taken for (columns)"
            f"{self.counted}; share of the row, {self.level}."
        )
        beside = len(found.labels) <= MOST_CLASSES
        return [Table(caption, name_columns(found.labels), rows, beside=beside, n_in_text=0)]

    def _draw_curves(self) -> Iterator[Figure]:
        """Yield the ROC, precision-recall and calibration curves, or the residuals."""
        found, classes = self.out_of_fold, self.out_of_fold.target.classes
        if classes is None:
            yield Figure(
                partial(draw_residuals, found),
                f"What is left to explain: {self.residuals} Without a pattern is best.",
                label="Residuals by prediction.",
                height=3.0,
            )
        if classes is None or found.class_scores is None:
            return
        if len(classes) > 2:
            yield from self._draw_curves_of_many(classes)
            return
        one = found.repeat == 0  # a sample counts once in a band
        options: dict[str, Any] = {"pos_label": classes[1]}
        options["confidence_level"] = self.confidence_level
        if np.ptp(found.weight):
            options["sample_weight"] = found.weight[found.row[one]]
        banded = options | {"n_resamples": N_RESAMPLES, "random_state": 0, "label": self.scored}
        banded["groups"] = None if found.group is None else found.group[one]
        true = found.target.y[found.row[one]]
        for display, name in (
            (RocCurveDisplay, "ROC"),
            (PrecisionRecallDisplay, "Precision-recall"),
        ):
            scores = found.class_scores[one, 1]
            yield Figure(
                partial(display.from_predictions, true, scores, **banded),
                self._describe_curve(name),
                label=f"{name} curve with its band.",
                height=3.6,
            )
        if found.probabilities is not None:
            probabilities = found.probabilities[one, 1]
            yield Figure(
                partial(CalibrationDisplay.from_predictions, true, probabilities, **options),
                "Calibration: how often the class is there where it is said to be with a "
                "probability.",
                label="Calibration curve with the intervals of its bins.",
                height=3.6,
            )

    def _draw_curves_of_many(self, classes: np.ndarray) -> Iterator[Figure]:
        """Yield the curves of more than two classes."""
        yield from ()

    def _tabulate_samples(
        self,
        last: str = "",
        write: Callable[[float], str] = str,
        caption: str = "The worst predicted.",
    ) -> Table:
        """Return the samples that are predicted worst, with what is `last` of each.

        Of numbers that is how far off they are.
        """
        head = ["sample", "is", "taken for"]
        if self.class_sizes is None:
            head[2], last, write = "predicted", "usual residual", "{:.1f} times".format
        rows = [
            (row["name"], row["truth"], row["prediction"], *([write(row["wrong"])] if last else []))
            for row in self.hard_samples.to_records()[:MOST_ROWS]
        ]
        head += [last] if last else []
        return Table(caption, head, rows, n_on_page=FIRST_ROWS, n_in_text=0)

    def _show_subgroups(self) -> Section:
        """Show the error in each subgroup."""
        found = self.subgroups
        results = {"subgroups": found, "largest_difference": found and found.largest_difference}
        if found is None:
            return Section("By subgroup", results=results)
        differ, largest = "may be the same in all", found.largest_difference
        if largest and (largest.interval.low > 0 or largest.interval.high < 0):
            differ = "differs between"
        rows = [
            (str(name), f"{each.n_samples}", each.value, each.interval)
            for name, each in found.items()
        ]
        return Section(
            f"The {self.answer.name} {differ} subgroups",
            sentences=[describe_difference(found.largest_difference)],
            tables=[
                Table(
                    "The error in each subgroup.",
                    ["subgroup", "samples", next(iter(found.values())).name, self.level],
                    rows,
                    left=(0, 3),
                )
            ],
            results=results,
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EvaluationReport(ScoredReport):
    """The error of one estimator with an interval, and every other estimate of it.

    It has the `warnings`, the `seed`, the `settings`, the `versions`, the `call` and the `date` of
    every report.

    Attributes
    ----------
    answer : Estimate
        The number to quote: what `error_interval` finds.
    metrics : dict of str to Estimate
        The usual metrics of out-of-fold predictions, of all samples and of each class, and what
        `scoring` named. Their intervals, too, are for the rule fitted to all samples.
    confusion : ConfusionRates or None
        The confusion matrix with intervals of its rates; None for regression.
    hard_samples : HardSamples
        The samples that models which did not see them predict wrongly again and again.
    subgroups : dict of Estimate, or None
        The error in each subgroup that `by` names, and the largest difference.
    tuning : Estimate or None
        What the best scores of the searches for hyperparameters claimed beside what their models
        score, and what they chose; None where the estimator ends in no search.
    out_of_fold : OutOfFold
        The predictions of every sample by models that did not see it; see `predictions`.
    estimates : tuple of Estimate
        From the most optimistic to the most careful.
    perturbation : tuple of Estimate or None
        For a linear two-class `SVC` the intervals by the cross-validation statistic and by the
        resubstitution statistic.
    permutation : Test or None
        The P-value of the whole procedure.
    selection_bias : Estimate or None
        What selecting the features outside the loop would have claimed; None without a selector.
    selection_stability : Estimate or None
        Agreement of the features selected in the folds (Nogueira); None without a selector, or
        where the folds choose from different features that have no names.
    candidate_names : tuple of str or None
        Names of the features that the selector chooses from, which the steps before it made.
    guess : Guess or None
        The best answer that is always the same, the largest class or the mean, and the difference
        to its error on the same samples; None for a loss of one's own.
    omitted : dict of str to str
        What `include` would have run, by name, and why it was left out.
    rare : RareClass or None
        The rarest class, where it is rare, and the statistic that counts there.
    unanswered : tuple of str
        The classes that are the answer to no sample in any of the repeats.
    confidence_level : float
        Nominal coverage of the intervals.
    n_samples : int
        Number of samples.
    n_features : int or None
        Number of columns of the data; None where samples are no rows of a table, as texts are.
    class_sizes : dict or None
        Number of samples of each class; None for regression.
    estimator : str
        The estimator, as source text.
    feature_names : tuple of str or None
        Names of the features, where they are known.
    """

    tuning: Estimate | None
    estimates: tuple[Estimate, ...]
    perturbation: tuple[Estimate, ...] | None
    permutation: Test | None
    selection_bias: Estimate | None
    selection_stability: Estimate | None
    candidate_names: tuple[str, ...] | None
    omitted: dict[str, str]
    n_features: int | None
    estimator: str
    feature_names: tuple[str, ...] | None

    def __getitem__(self, method: str) -> Estimate:
        """Return the estimate of a name."""
        for estimate in self.estimates:
            if estimate.method == method:
                return estimate
        names = ", ".join(repr(estimate.method) for estimate in self.estimates)
        raise KeyError(f"no estimate {method!r}; there are {names}")

    title = "Evaluation report"
    main_part, row_name = "estimates", "method"
    told = (*ScoredReport.told, "estimator", "n_features", "feature_names", "rare", "unanswered")
    counted = ", on average over the repeats"
    residuals = (
        "the mean out-of-fold prediction of each sample and how far the truth lies above it."
    )

    @property
    def verdict(self) -> str:
        """In three sentences at most: error, interval, the guess, chance, and what is grave."""
        return _sentences.write_verdict(self)

    @property
    def basis(self) -> list[str]:
        """What the interval of the answer is for, how it was made, and how that is known."""
        found = self.out_of_fold
        weighted, shares = bool(np.ptp(found.weight)), found.probabilities
        certain = shares is not None and not np.all(shares)
        told = write_coverage(self.answer, self.class_sizes, found.cases, weighted, certain)
        return [*told[:1], FAULTY] if told and list_grave(self.warnings) else told

    @property
    def headline(self) -> str:
        """The error with its interval beside the guess, or what forbids to quote it."""
        return _sentences.write_headline(
            _sentences.say_error(self.answer),
            self.answer.details["loss"],
            warnings=self.warnings,
            guess=self.guess,
            rare=self.rare,
            unanswered=self.unanswered,
            permutation=self.permutation,
        )

    @property
    def listed_estimates(self) -> Sequence[Estimate]:
        """The published estimates."""
        return self.estimates

    @property
    def evaluated(self) -> tuple[str, str]:
        """The estimator, in a few words and as source text."""
        return name_steps(self.estimator), self.estimator

    @property
    def facts(self) -> list[str]:
        """The size of the data, and the classes."""
        features = "" if self.n_features is None else f", {count(self.n_features, 'feature')}"
        return [f"{self._describe_classes()}{features}"]

    @property
    def about(self) -> dict[str, Any]:
        """What `to_dict` has before the results of the sections."""
        return super().about | {"answer": self.answer.to_dict() | {"covers": " ".join(self.basis)}}

    def _make_sections(self) -> Iterator[Section]:
        """Yield what is read off the predictions, every estimate, the tests, the samples."""
        yield self._show_metrics()
        yield self._show_curves()
        yield self._show_subgroups()
        yield self._show_estimates()
        yield self._show_perturbation()
        yield self._show_permutation()
        yield self._show_selection()
        yield self._show_tuning()
        yield self._show_hard_samples()

    def _explain_metrics(self) -> str:
        """Say what the metrics are of, and what their intervals are for."""
        start = "Of predictions of every sample by models that were fitted without it"
        text = f"{start}. The intervals are, as that of the answer, for the rule fitted to all "
        return f"{text}samples."

    def _describe_curve(self, name: str) -> str:
        """Say that scores of several models are pooled."""
        return (
            f"{name} curve of the out-of-fold scores of one cross-validation, with its interval at "
            "each point and the band of the whole curve. It pools the scores of all folds, and the "
            "bands leave out that training anew would change the models: its area is not that of "
            "the estimate, which counts pairs that one model scored."
        )

    def _show_tuning(self) -> Section:
        """Show what the search for hyperparameters claimed, and what it chose."""
        found = self.tuning
        if found is None:
            return Section("Tuning", results={"tuning": None})
        shown = "is too good" if found.interval.low > 0 else "is not shown to be too good"
        heading = f"The best score of the search {shown}"
        counts = found.details["counts"]
        chosen = zip(found.details["settings"][:MOST_ROWS], counts, strict=False)
        rows = [
            (
                ", ".join(f"{name}={value!r}" for name, value in setting.items()),
                f"{count} of {int(counts.sum())}",
            )
            for setting, count in chosen
        ]
        caption = "Settings that the searches chose."
        return Section(
            heading,
            sentences=[_sentences.write_tuning(found)],
            tables=[Table(caption, ["setting", "chosen"], rows, n_on_page=FIRST_ROWS, n_in_text=0)],
            results={"tuning": found},
        )

    def _show_hard_samples(self) -> Section:
        """Show the samples that are wrong again and again."""
        hard, numbers = self.hard_samples, self.class_sizes is None
        table = self._tabulate_samples("wrong in", lambda wrong: f"{100 * wrong:.0f} %")
        what = "wrong in every repeat" if len(self.out_of_fold.repeats) > 1 else "predicted wrongly"
        what = "more than three times as far off as usual" if numbers else what
        verb = "is" if hard.always == 1 else "are"
        return Section(
            f"{count(hard.always, 'sample')} {verb} {what}",
            sentences=_sentences.write_hard_samples(hard, numbers),
            tables=[table] if hard.always else [],
            results={"hard_samples": hard.to_records()},
        )

    @property
    def named_estimates(self) -> list[tuple[str, Estimate]]:
        """The estimates by name, the answer first, those of perturbation last."""
        named = [(f"answer, {self.answer.method}", self.answer)]
        named += [(estimate.method, estimate) for estimate in self.estimates]
        return named + [
            (PERTURBED[each.details["statistic"]], each) for each in self.perturbation or ()
        ]

    def plot(self, ax: Any = None) -> EstimatesDisplay:
        """Draw every estimate of the error, the answer first; requires matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        EstimatesDisplay
        """
        guess = None if self.guess is None else self.guess.error
        return EstimatesDisplay.from_result(
            dict(self.named_estimates), quoted=0, guess=guess, ax=ax
        )

    def _show_estimates(self) -> Section:
        """Show every estimate of the error, drawn and in a table."""
        named = self.named_estimates
        level = f"{100 * self.confidence_level:g} %"
        figure = Figure(
            self.plot,
            f"Estimates of one error, with {level} intervals.",
            label=f"Forest plot of {len(named)} estimates of the error; the table holds the "
            "numbers.",
            height=1.1 + 0.42 * len(named),
        )
        rows = [
            (
                name,
                each.value,
                write_spread(each.standard_error),
                each.interval,
                each.interval.method,
            )
            for name, each in named
        ]
        table = Table(
            "The same in numbers.",
            ["estimate", "error", "std. error", self.level, "method"],
            rows,
            notes=MEANINGS,
            quoted={named[0][0]},
            muted={"resubstitution"},
            left=(0, 3, 4),
        )
        sentences = []
        grave = list_grave(self.warnings)
        if self.guess is not None and self.guess.better and not grave:
            sentences.append(_sentences.write_guess(self.guess, self.answer.details["loss"]))
        if self.omitted:
            sentences.append(_sentences.write_omitted(self.omitted))
        loss = self.answer.details["loss"]
        values = [each.value for _, each in named]
        least, most = (_sentences.write_amount(each, loss) for each in (min(values), max(values)))
        told = f"from {least} to {most}" if least != most else f"all {least}"
        return Section(
            f"{len(named)} estimates of one error, {told}",
            sentences=sentences,
            figures=[figure],
            tables=[table],
            results={
                "estimates": [self.answer, *self.estimates],
                "guess": self.guess,
                "omitted": self.omitted,
            },
        )

    def _show_perturbation(self) -> Section:
        """Show the intervals of a linear support vector machine."""
        found = self.perturbation or ()
        if not found:
            return Section("Perturbation", results={"perturbation": self.perturbation})
        figures = [
            Figure(
                result.plot,
                f"{PERTURBED[result.details['statistic']]}: the error under each random weighting.",
                label="Histogram of the error of the support vector machine under random weights.",
                height=3.2,
            )
            for result in found
        ]
        n = len(found[0].replicates)
        told = (
            f"{n} times each sample got a random weight, and the machine was trained with these "
            "weights. Drawn is the cross-validated error plus what the weighted mean loss then had "
            "more (W*/√n in the paper of the method): on the left the loss of samples left out, on "
            "the right that of the samples trained on. So much would the error vary with other "
            "samples; from this spread the interval is made."
        )
        if n < FEW_PERTURBATIONS:
            told += f" {n} are few: the shape of the histogram, and the interval, are rough."
        ends = [100 * end for end in (found[0].interval.low, found[0].interval.high)]
        return Section(
            f"By perturbation the support vector machine has an interval of {ends[0]:.1f} to "
            f"{ends[1]:.1f} %",
            sentences=[_sentences.write_perturbation(found[1])],
            explains=[told],
            figures=figures,
            results={"perturbation": found},
        )

    def _show_permutation(self) -> Section:
        """Show the permutation test."""
        test = self.permutation
        if test is None:
            return Section("Chance", results={"permutation": None})
        n_as_good = test.details["n_exceedances"]
        heading = f"Shuffled labels did as well in {n_as_good} of {count(test.n_resamples, 'run')}"
        figure = Figure(
            test.plot,
            "The score that labels without any relation to the features reach.",
            label="Histogram of the scores of shuffled labels, and the score of the true ones.",
            height=2.8,
        )
        known = test.confidence_interval()
        told = [
            f"With endlessly many permutations P would lie between {known.low:.2g} and "
            f"{known.high:.2g} ({100 * known.confidence_level:g} % interval)."
        ]
        if self.guess is not None and self.guess.better != (test.pvalue <= ALPHA):
            told.append(ASKED)
        return Section(
            heading,
            sentences=[_sentences.write_permutation(test)],
            explains=told,
            figures=[figure],
            results={"permutation": test},
        )

    def _show_selection(self) -> Section:
        """Show selection outside against inside the loop, and what was selected."""
        bias, stability = self.selection_bias, self.selection_stability
        results = {
            "selection_bias": bias,
            "selection_stability": stability,
            "candidate_names": self.candidate_names,
        }
        if bias is None:
            return Section("Selection", results=results)
        claimed = _sentences.write_amount(bias.details["cv1_error"], "zero_one")
        heading = f"Selecting features outside the loop would have claimed {claimed}"
        figures = [
            Figure(
                bias.plot,
                "What selecting the features on all samples hides.",
                label="The errors of selecting outside and inside the loop, and their difference.",
                height=2.6,
            )
        ]
        if stability is not None:
            draw: Any = SelectionFrequencyDisplay.from_result
            figures.append(
                Figure(
                    partial(draw, stability, feature_names=self.candidate_names, n_top=MOST_ROWS),
                    "How often each feature was selected.",
                    label="How often each feature was selected over the folds.",
                    height=0.8 + 0.22 * min(MOST_ROWS, stability.details["selected_ever"]),
                )
            )
        sentences = _sentences.write_selection(bias, stability)
        return Section(heading, sentences=sentences, figures=figures, results=results)

    @property
    def predictions(self) -> DataFrame:
        """A row for each prediction of a sample by a model that did not see it; needs pandas.

        Columns: sample (row of X), repeat, fold, truth, prediction; and for classifiers that score
        classes "score" (decision value, or probability of the second class), of more than two
        classes one score for each, "score_<class>".
        """
        return make_predictions_frame(self.out_of_fold)

    def to_frame(self, part: str | None = None) -> DataFrame:
        """Return a part of the report as a data frame; needs pandas.

        Parameters
        ----------
        part : str, default=None
            "estimates" (the default): one row for each estimate of the error, indexed by method,
            the answer first; "metrics", "confusion", "hard_samples", "subgroups" or any other name
            of `to_dict`: what the attribute of that name holds; "predictions": every prediction;
            "tripod": the topics of TRIPOD+AI's results section that the report answers.

        Returns
        -------
        pandas.DataFrame
        """
        return self.predictions if part == "predictions" else super().to_frame(part)


def _write_shortly(each: Estimate) -> str:
    """Return an estimate with its interval below it."""
    if np.isnan(each.interval.low):
        return write_number(each.value)
    return f"{each.value:.3f}\n{each.interval.low:.3f}–{each.interval.high:.3f}"
