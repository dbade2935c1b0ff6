"""Report of existing predictions: metrics with intervals, curves, calibration.

Read from top to bottom: the public function, its report, and the drawings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import brier_score_loss, mean_squared_error, roc_auc_score

from skeval._inference.errors import TestLosses, spread_of_mean
from skeval._inference.estimate import Curve, Results
from skeval._inference.intervals import describe_groups
from skeval._resampling.predictions import Predictions
from skeval._resampling.target import Target
from skeval.metrics import NetBenefitDisplay, ReliabilityDisplay
from skeval.metrics._curves import CurveSample
from skeval.model_selection import Comparison, compare_predictions
from skeval.model_selection._fold_metrics import measure_metrics
from skeval.model_selection._threshold import check_prevalence, measure_at, read_rule
from skeval.model_selection._within_units import UNITS
from skeval.report import _findings, _predictions, _sentences
from skeval.report._comparison import EvaluationComparison, collect_cautions
from skeval.report._findings import RareClass
from skeval.report._multilabel import MultilabelReport, evaluate_labels
from skeval.report._parsed_predictions import (
    KINDS,
    POSITIVE_WORDS,
    ParsedPredictions,
    SystemReport,
    is_wide,
    list_systems,
    measure_slices,
    read_predictions,
    read_units,
)
from skeval.report._prediction_checks import warn_of_predictions
from skeval.report._predictions import HardSamples
from skeval.report._run import describe_run
from skeval.report._sections import Figure, Section, Table, list_few
from skeval.utils._checks import (
    RandomStateLike,
    check_confidence_level,
    check_option,
    ignored_warnings,
    small_seed,
)
from skeval.utils._compat import read_arrays
from skeval.utils._options import PredictionKind, UnitSampling
from skeval.utils._plotting import shorten_name
from skeval.utils._text import count, name_label, write_ends, write_number

MEANINGS = {
    "Brier score": "The Brier score is the mean squared difference between predicted probability "
    "and outcome; 0 is best.",
    "area under the ROC curve": "The area under the ROC curve is the share of pairs of samples "
    "from both classes that the score ranks correctly; 1 is best.",
}


@read_arrays
def evaluate_predictions(
    y_true: Any,
    predictions: Any,
    *,
    kind: PredictionKind = "auto",
    threshold: float | str | Mapping[str, float] | None = None,
    scoring: Any = None,
    groups: Any = None,
    by: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    labels: Any = None,
    prevalence: float | None = None,
    within: Any = None,
    unit_weights: Mapping[Any, float] | None = None,
    units: UnitSampling = "random",
    confidence_level: float = 0.95,
    random_state: RandomStateLike = None,
) -> Evaluated:
    """Evaluate existing predictions: every metric with its confidence interval.

    For systems that are not estimators, or were trained elsewhere: the system is not retrained, and
    the intervals are for the same system on new samples. `report.answer` is the main metric: the
    error rate of labels, the Brier score of probabilities, the area under the ROC curve of scores,
    the root mean squared error of numbers. It is compared with the baseline, the best constant
    prediction on the same samples.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
        True classes or numbers; with several labels per sample 0 or 1 for each label.
    predictions : array-like of shape (n_samples,) or (n_samples, n_classes), or dict of them
        Labels; probabilities or scores of the second of two classes, or of each class; or numbers.
        Labels of 0 and 1, or -1 and 1, may stand for two classes with other names: 1 means "yes",
        "true" or "positive" or, for other names, `pos_label`. With several labels per sample, 0 or
        1 or a probability for each label. A dict, or a data frame whose columns are not classes of
        `y_true`, contains several systems, which are compared by `compare_predictions`.
    kind : {"auto", "labels", "probabilities", "scores", "numbers"}, default="auto"
        Kind of the predictions. "auto": labels if all are classes of `y_true`, text, or only 0 and
        1; numbers if `y_true` has fractions or more than 20 distinct whole numbers; otherwise
        probabilities if they lie in [0, 1] and those of a sample add up to 1; otherwise scores.
    threshold : float, "youden" or dict, default=None
        Probability or score from which a sample is predicted as the second of two classes. None
        means 0.5 for probabilities; scores then have no labels, and only their ranking is
        evaluated. A number must have been chosen without these samples. "youden",
        ``{"sensitivity": 0.9}``, ``{"specificity": 0.9}`` and ``{"cost_ratio": 5}`` choose a
        threshold on them, and ``report.at_threshold`` has the values to expect on other samples,
        computed by `threshold_measures`.
    scoring : str, callable, list or dict, default=None
        Additional metrics: names of scorers, or ``metric(y_true, predictions)``, called with the
        predictions as passed.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as the patient. The variance is computed between groups, with
        Student's t quantile.
    by : array-like of shape (n_samples,), or dict or data frame of them, default=None
        Subgroup of each sample, or several such columns: the report has the main metric in each
        subgroup, and the differences from the rest with corrected P-values.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. They must be positive.
    pos_label : int, float, bool or str, default=None
        With two classes, the class to which probabilities or scores refer; None means the second
        in sorted order.
    labels : array-like of shape (n_classes,), default=None
        Class of each column of `predictions`, or label of each column of `y_true`; None means the
        column names of a data frame, or the sorted classes of `y_true`.
    prevalence : float in (0, 1), default=None
        Frequency of the positive class in the population of interest, for probabilities or scores
        of two classes with a threshold. ``report.at_threshold`` then has predictive values,
        accuracy and net benefit in that population, see `threshold_measures`; all other metrics
        refer to the population of the samples.
    within : array-like of shape (n_samples,), default=None
        Unit of each sample, such as a task, subject or query: ``report.within`` has the main metric
        and those in `scoring` as means over the units, see `metric_interval`. Several systems are
        compared by these means.
    unit_weights : dict of unit to float, default=None
        Weight of each unit in the means.
    units : {"random", "fixed"}, default="random"
        Whether the units are a random sample, or all units of interest.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws; an int gives the same result in each call. Only metrics in
        `scoring` without a formula, which are bootstrapped, use them.

    Returns
    -------
    PredictionsReport
        A `MultilabelReport` for several labels per sample; an `EvaluationComparison` with one
        report per system for several systems.

    Raises
    ------
    ValueError
        If an argument is invalid; the message names argument, rule and value. With several labels
        per sample, `scoring`, `pos_label` and choosing a threshold are not supported.

    See Also
    --------
    evaluate : The same for an estimator, including its training.
    skeval.model_selection.metric_interval : One metric.
    skeval.model_selection.compare_predictions : Several systems.

    Notes
    -----
    In 27 cells of 100 or 200 sets (``benchmarks/results/coverage_predictions.csv``) 95 % intervals
    of metrics at a fixed threshold, of losses and of areas covered the true value in .88 to 1.00,
    on average in .95 to .96; those of average precision in .77 with one event, in .90 with four,
    and in .89 to .91 in three of nine cells with groups. `calibration_measures` has its own table.

    Examples
    --------
    >>> import numpy as np
    >>> import skeval
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> p = 1 / (1 + np.exp(-rng.normal(2 * y - 1, 1.0)))
    >>> report = skeval.evaluate_predictions(y, p)
    >>> print(report.verdict)
    Brier score 0.130 (95 % CI 0.110 to 0.154). Always predicting the class frequencies gives
    0.247; area under the ROC curve 0.91. Better than chance: significantly lower error on the same
    samples.
    """
    options: dict[str, Any] = {"kind": kind, "threshold": threshold, "scoring": scoring}
    options |= {"groups": groups, "by": by, "sample_weight": sample_weight}
    options |= {"pos_label": pos_label, "labels": labels, "prevalence": prevalence}
    options |= {"within": within, "unit_weights": unit_weights, "units": units}
    options |= {"confidence_level": confidence_level, "random_state": random_state}
    check_confidence_level(confidence_level)
    check_option("kind", kind, KINDS)
    check_option("units", units, UNITS)
    prevalence = check_prevalence(prevalence)
    if (systems := list_systems(y_true, predictions)) is not None:
        return _evaluate_each(y_true, predictions, systems, options)
    if is_wide(y_true):
        return evaluate_labels(y_true, predictions, options)
    arguments = {"y_true": y_true, "predictions": predictions} | options
    parsed = read_predictions(y_true, predictions, kind, labels, pos_label, threshold)
    _refuse_prevalence(prevalence, parsed, threshold)
    groups, weight = read_units(groups, sample_weight, len(parsed.target))
    seed = small_seed(random_state)
    sampling = {"groups": groups, "sample_weight": sample_weight, "random_state": seed}
    with ignored_warnings(UndefinedMetricWarning):  # the report lists undefined metrics
        scored = parsed.collect(slice(None), groups, weight)
        sample = parsed.positive is not None and scored.ranked
        sample = sample.with_level(confidence_level) if sample else None
        at_threshold = _measure_threshold(sample, parsed, threshold, prevalence, seed)
        if at_threshold and (parsed.threshold is None or isinstance(threshold, str | Mapping)):
            parsed = parsed.cut(at_threshold["threshold"].value)
            scored = parsed.collect(slice(None), groups, weight)
        metrics = measure_metrics(scored, confidence_level)
        metrics |= parsed.measure_scoring(scoring, confidence_level, metrics, **sampling)
        means = parsed.average(options | {"random_state": seed})
        calibration = parsed.validate(sample, seed)
        subgroups = measure_slices(parsed, by, groups, weight, confidence_level)
        answer = parsed.find_answer(metrics)
    sizes = _predictions.count_classes(parsed.target, weight) if scored.has_values else None
    return PredictionsReport(
        answer=answer,
        kind=parsed.kind,
        threshold=parsed.threshold,
        positive=parsed.positive,
        metrics=metrics,
        calibration=calibration,
        at_threshold=at_threshold,
        prevalence=prevalence,
        within=means,
        units=units,
        confusion=_predictions.measure_confusion(scored, confidence_level),
        hard_samples=find_worst(scored, _predictions.name_rows(y_true)),
        subgroups=subgroups,
        out_of_fold=scored,
        baseline=_findings.find_baseline(scored, parsed.loss, metrics),
        rare_class=_findings.find_rare_class(sizes, metrics, "zero_one"),
        never_predicted=_findings.list_never_predicted(scored),
        confidence_level=float(confidence_level),
        n_samples=len(weight),
        class_sizes=_predictions.count_classes(parsed.target),
        warnings=tuple(warn_of_predictions(parsed, scored, metrics, y_true, at_threshold)),
        **describe_run("skeval.evaluate_predictions", arguments, seed),
    )


def _refuse_prevalence(prevalence: float | None, parsed: ParsedPredictions, threshold: Any) -> None:
    """Raise if there are no predictive values to convert to another prevalence."""
    no_threshold = threshold is None and parsed.threshold is None
    if prevalence is not None and (parsed.positive is None or no_threshold):
        raise ValueError(
            "prevalence must be None unless predictions are probabilities or scores of two classes "
            f"with a threshold, got {prevalence} for {parsed.kind}; labels of 0 and 1 may be "
            'passed with kind="scores" and threshold=0.5.'
        )


def _measure_threshold(
    sample: CurveSample | None,
    parsed: ParsedPredictions,
    threshold: Any,
    prevalence: float | None,
    seed: int,
) -> Results | None:
    """Return the measures at the threshold, or None if there is no threshold."""
    cut = parsed.threshold if threshold is None else threshold
    if sample is None or cut is None:
        return None
    with ignored_warnings(UserWarning):  # of few groups
        return measure_at(sample, read_rule(cut), seed, prevalence=prevalence)


def find_worst(predictions: Predictions, index: Any) -> HardSamples:
    """Return the misclassified samples, the lowest score of the true class first."""
    if not predictions.has_values:
        none = np.empty(0, dtype=np.intp)
        return HardSamples(none, (), (), (), np.empty(0), 0, none.astype(bool), {})
    hard = _predictions.find_hard_samples(predictions, index)
    scores = predictions.class_scores
    if scores is None:
        return hard
    own = scores[hard.sample, predictions.target.codes[hard.sample]]
    order = np.argsort(own - scores[hard.sample].max(axis=1), kind="stable")
    wrong = 1 - own if predictions.probabilities is not None else hard.wrong
    return replace(
        hard,
        sample=hard.sample[order],
        name=np.asarray(hard.name)[order],
        truth=np.asarray(hard.truth)[order],
        prediction=np.asarray(hard.prediction)[order],
        wrong=wrong[order],
        suspect=hard.suspect[order],
    )


SHARED = (
    "sample_weight", "confidence_level", "random_state", "within", "unit_weights", "units"
)  # fmt: skip
"""Options that `compare_predictions` has too."""
COMPARED = {"probabilities": brier_score_loss, "scores": roc_auc_score}


def _evaluate_each(
    y_true: Any, predictions: Any, systems: Mapping[str, Any], options: dict[str, Any]
) -> EvaluationComparison:
    """Return the reports of several systems, and their comparison on the same samples."""
    seed = small_seed(options["random_state"])
    options = options | {"random_state": seed}
    reports = {
        name: evaluate_predictions(y_true, system, **options) for name, system in systems.items()
    }
    arguments = {"y_true": y_true, "predictions": predictions} | options
    return EvaluationComparison(
        reports=reports,
        comparison=_compare_systems(reports, options),
        warnings=tuple(collect_cautions(reports)),
        **describe_run("skeval.evaluate_predictions", arguments, seed),
    )


def _compare_systems(reports: Mapping[str, Any], options: Mapping[str, Any]) -> Comparison:
    """Return the comparison of all pairs by the main metric."""
    kinds = {report.kind for report in reports.values()}
    if len(kinds) > 1:
        raise ValueError(f"predictions must all be of one kind, got {sorted(kinds)}; see kind=.")
    (kind,), first = kinds, next(iter(reports.values()))
    by_name = {name: report.out_of_fold for name, report in reports.items()}
    many = first.class_sizes is not None and len(first.class_sizes) > 2
    truth, metric, scoring = None, None, "accuracy"
    columns = {name: -system.loss for name, system in by_name.items()}
    if kind == "numbers":
        truth, metric = first.out_of_fold.target.y, mean_squared_error
        columns = {name: system.predicted for name, system in by_name.items()}
    elif isinstance(first, MultilabelReport):
        scoring = f"minus the {first.answer.name}"
    elif kind != "labels" and not many:
        truth, metric = first.out_of_fold.target.codes, COMPARED[kind]
        columns = {name: system.class_scores[:, 1] for name, system in by_name.items()}
    elif kind == "probabilities":
        scoring = "minus the Brier score"
    else:
        columns = {name: 1 - system.loss for name, system in by_name.items()}
    shared = {name: options[name] for name in SHARED}
    if options["within"] is None or options["units"] == "fixed":
        shared["groups"] = options["groups"]
    with ignored_warnings(UndefinedMetricWarning):  # the table shows undefined values
        comparison = compare_predictions(truth, columns, metric=metric, method="max_t", **shared)
    # the name may end with a description of units
    if metric is None:
        scoring = comparison.scoring.replace("score", scoring, 1)
        return replace(comparison, scoring=scoring)
    return comparison


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PredictionsReport(SystemReport):
    """Report of predictions, metric by metric.

    It has the `warnings`, `seed`, `settings`, `versions`, `call` and `date` of every report.

    Attributes
    ----------
    answer : Estimate
        The main metric, which is the number to report; see `evaluate_predictions`.
    kind : {"labels", "probabilities", "scores", "numbers"}
        Kind of the predictions.
    threshold : float or None
        Probability or score from which a sample is predicted as positive.
    positive : object
        The class to which probabilities or scores of two classes refer, or None.
    calibration : dict of Estimate, or None
        Results of `calibration_measures` for probabilities of two classes, else None.
    at_threshold : dict of Estimate, or None
        Results of `threshold_measures`; None without a threshold.
    prevalence : float or None
        Prevalence in the population of `at_threshold`, if it is not that of the samples.
    within : dict of Estimate, or None
        Means over units.
    units : {"random", "fixed"}
        Target of these means.
    metrics : dict of str to Estimate
        The usual metrics, for all samples and for each class, and those in `scoring`.
    confusion : ConfusionRates or None
        Confusion matrix with intervals of its rates; None for numbers and for scores without a
        threshold.
    hard_samples : HardSamples
        The worst predictions. ``wrong`` is 1 minus the probability of the true class if there are
        probabilities.
    subgroups : dict of Estimate, or None
        Main metric in each subgroup. Its attribute `less_the_rest` has the difference of each from
        all other samples, with a P-value corrected for the number of subgroups.
    out_of_fold : Predictions
        The predictions, with integer classes.
    baseline : Baseline or None
        Best constant prediction, with the difference from it on the same samples; None for scores.
    rare : RareClass or None
        Rarest class, if it is rare, with the metric that is used instead of the error.
    never_predicted : tuple of str
        Classes that are never predicted.
    confidence_level : float
        Nominal coverage of the intervals.
    n_samples : int
        Number of samples.
    class_sizes : dict or None
        Number of samples of each class; None for numbers.
    """

    positive: Any
    calibration: Results | None
    at_threshold: Results | None
    prevalence: float | None

    _scored = "predictions"
    _listed = (*SystemReport._listed, "positive", "rare_class", "never_predicted")
    _residuals = "true value minus prediction of each sample."

    @property
    def verdict(self) -> str:
        """The main metric with its interval, the baseline, and whether the system is better."""
        interval, text = self.answer.interval, self._write_beside_baseline()
        name = {"numbers": "r2", "probabilities": "roc_auc"}.get(self.kind, "")
        if name in self.metrics and np.isfinite(self.metrics[name].value):
            text += f"; {_sentences.name_metric(name).split(',')[0]} {self.metrics[name].value:.2f}"
        if self.never_predicted:
            text += f"; never predicted: {list_few(self.never_predicted, 3)}"
        if self.answer.name == _sentences.name_metric("roc_auc"):
            chance = "no evidence that it beats chance: the interval includes 0.5"
            if not np.isfinite(interval.low):
                chance = "not compared with chance (0.5)"
            elif interval.low > 0.5:
                chance = "better than chance (0.5)"
            elif interval.high < 0.5:
                chance = "worse than chance (0.5)"
            return f"{text}: {chance}."
        other = _sentences.write_better_metric(self)
        by = _sentences.name_deciding_loss(self, self._loss)
        chance = _sentences.write_chance(self.baseline, self._rare, None, self._loss, other, by)
        return f"{text}. {chance}".rstrip()

    @property
    def _rare(self) -> RareClass | None:
        """The rare class, unless the main metric uses probabilities."""
        return self.rare_class if self.kind != "probabilities" else None

    @property
    def _headline(self) -> str:
        """The main metric with its interval, compared with the baseline."""
        if self.answer.name == _sentences.name_metric("roc_auc"):
            return self.verdict
        return _sentences.write_headline(
            self._write_answer(),
            self._loss,
            baseline=self.baseline,
            rare_class=self._rare,
            never_predicted=self.never_predicted,
            width=self._width,
            other=_sentences.write_better_metric(self),
        )

    @property
    def _basis(self) -> list[str]:
        """Explanation of a lesser-known main metric, and the target of the intervals."""
        more = ", each with its weight" if np.ptp(self.out_of_fold.weight) else ""
        meaning = [text for name, text in MEANINGS.items() if name == self.answer.name]
        target = self._describe_target(more)
        return [*meaning, target, *self._describe_groups(), *self._describe_positive()]

    def _describe_positive(self) -> Iterator[str]:
        """Describe the class that scores refer to and, if chosen by order, how to change it."""
        classes = self.out_of_fold.target.classes
        if self.positive is None or classes is None or classes.dtype.kind not in "USO":
            return
        text = f"Positive class: {name_label(self.positive)}"
        words = tuple(str(label).strip().lower() for label in classes)
        if self.settings.get("pos_label", "None") == "None" and words not in POSITIVE_WORDS:
            text += (
                f", the second in sorted order; if the {self.kind} refer to "
                f"{name_label(classes[0])}, pass pos_label={classes.tolist()[0]!r} (--pos-label)"
            )
        yield f"{text}."

    def _describe_groups(self) -> Iterator[str]:
        """Yield the within-group correlation of the losses."""
        predictions = self.out_of_fold
        if predictions.group is None or np.isnan(predictions.loss).any():
            return
        weight = predictions.look_up(predictions.weight)
        spread = spread_of_mean(TestLosses(predictions.loss, weight, predictions.group))
        alone = spread_of_mean(TestLosses(predictions.loss, weight)).variance
        if spread.variance > 0:
            effective = self.n_samples * min(1.0, alone / spread.variance)
            together = spread.groups["intraclass_correlation"]
            yield describe_groups(self.n_samples, together, effective)

    @property
    def _facts(self) -> list[str]:
        """The predictions, and the classes."""
        what = self.kind
        if self.positive is not None:
            what += f" of class {self.positive}"
        facts = [f"{self._describe_classes()} with {what}"]
        if self.threshold is not None:
            facts.append(f"predicted as {self.positive} at a threshold of {self.threshold:g}")
        return facts if self.n_groups is None else [*facts, f"{self.n_groups} groups"]

    _parts = (*SystemReport._parts, "at_threshold", "calibration", "within")

    def _make_sections(self) -> Iterator[Section]:
        """Yield the sections of metrics and curves, subgroups and samples."""
        yield self._show_metrics()
        yield self._show_curves()
        if self.at_threshold is not None:
            yield self._show_threshold(self.at_threshold)
        if self.calibration is not None:
            yield self._show_calibration(self.calibration)
        if self.within is not None:
            yield self._show_units(self.within)
        if self.subgroups is not None:
            yield self._show_subgroups(self.subgroups)
        if self.out_of_fold.has_values and len(self.hard_samples.sample):
            yield self._show_hard_samples()

    def _explain_metrics(self) -> str:
        """Describe the samples of the metrics."""
        text = "Computed from the given predictions."
        if self.kind == "scores" and self.threshold is None:
            text += (
                " Without a threshold, scores have no predicted labels: pass threshold= for the "
                "other metrics."
            )
        return text

    def _describe_curve(self, name: str) -> str:
        """Describe the band."""
        return f"{name} curve with pointwise intervals and a simultaneous band."

    def _draw_curves(self) -> Iterator[Figure]:
        """Yield scores and curves, and for probabilities of two classes the net benefit."""
        yield from self._draw_scores()
        yield from super()._draw_curves()
        predictions, classes = self.out_of_fold, self.out_of_fold.target.classes
        if classes is None or predictions.probabilities is None or len(classes) > 2:
            return
        options: dict[str, Any] = {"sample_weight": predictions.weight, "groups": predictions.group}
        options |= {"pos_label": classes[1], "confidence_level": self.confidence_level}
        draw = NetBenefitDisplay.from_predictions
        yield Figure(
            partial(draw, predictions.target.y, predictions.probabilities[:, 1], **options),
            f"Net benefit of treating everyone whose probability of {classes[1]} reaches the "
            "threshold, in true positives per sample; the odds of the threshold are the cost "
            "of a false positive. The model is useful where its curve is above both lines.",
            label="Net benefit by threshold, compared with treating all and none.",
        )

    def _draw_scores(self) -> Iterator[Figure]:
        """Yield the distribution of the scores of each class."""
        predictions, classes = self.out_of_fold, self.out_of_fold.target.classes
        scores = predictions.class_scores
        if classes is None or scores is None:
            return
        what = "probability" if predictions.probabilities is not None else "score"
        if len(classes) > 2:
            own = scores[np.arange(len(scores)), predictions.target.codes]
            yield Figure(
                partial(draw_spreads, own, predictions.target, f"{what} of the true class"),
                f"{what} of the true class, by class: median, middle half and 90 % of its "
                "samples. Far to the right is best.",
                label=f"Spread of the {what} of the true class, by class.",
                height=1.2 + 0.25 * min(len(classes), 30),
            )
            return
        label = f"{what} of {classes[1]}"
        draw = partial(
            draw_scores, scores[:, 1], predictions.target, predictions.weight, self.threshold
        )
        yield Figure(
            partial(draw, label),
            f"The {label}, by true class. The classes are separated where the histograms do "
            "not overlap.",
            label=f"Histograms of the {what} by class.",
        )

    def _draw_curves_of_many(self, classes: np.ndarray) -> Iterator[Figure]:
        """Yield the accuracy by the largest probability."""
        predictions = self.out_of_fold
        if predictions.probabilities is None:
            return
        options: dict[str, Any] = {"labels": classes, "confidence_level": self.confidence_level}
        if np.ptp(predictions.weight):
            options["sample_weight"] = predictions.weight
        draw = ReliabilityDisplay.from_predictions
        yield Figure(
            partial(draw, predictions.target.y, predictions.probabilities, **options),
            "Calibration: accuracy of the most probable class at each predicted probability.",
            label="Calibration curve with the intervals of its bins.",
        )

    def _show_threshold(self, measures: Results) -> Section:
        """Return the section of the threshold, with the optimism of choosing it."""
        shares = dict(measures)
        cut = shares.pop("threshold")
        start = f"From {write_number(cut.value)} on"
        texts = [f"{name} is {measures[name].value:.2f}" for name in ("sensitivity", "specificity")]
        rows: list[Any] = [
            (WORDS.get(name, name), measure.value, measure.interval)
            for name, measure in shares.items()
        ]
        head, caption = ["", "estimate", self._level], f"{start}."
        if cut.method == "bootstrap":
            rows = [
                (*row, measure.details["apparent"])
                for row, measure in zip(rows, shares.values(), strict=True)
            ]
            head.append("on these samples")
            ends = write_ends(cut.interval.low, cut.interval.high)
            caption = (
                f"The threshold {write_number(cut.value)} was chosen on these samples "
                f"({self._level} {ends}). Estimates are for new samples, corrected for the "
                "optimism of choosing it here."
            )
        table = Table(caption, head, rows, left=(0, 2))
        heading = f"{start}, {' and '.join(texts)}"
        return Section(heading, self._describe_population(), tables=[table])

    def _describe_population(self) -> list[str]:
        """Describe the population of another prevalence."""
        prevalence = self.prevalence
        if prevalence is None or self.at_threshold is None:
            return []
        own = np.average(self.out_of_fold.target.codes, weights=self.out_of_fold.weight)
        size = self.at_threshold["accuracy"].effective_n_samples
        sentence = (
            f"Predictive values, accuracy and net benefit are for a prevalence of "
            f"{100 * prevalence:.3g} %; in these samples it is {100 * own:.3g} %."
        )
        if size is None:
            return [sentence]
        return [
            f"{sentence} The accuracy is as precise as with {size:.0f} samples of that population."
        ]

    def _show_calibration(self, measures: Results) -> Section:
        """Return the section of the calibration measures."""
        rows = [(measure.name, measure.value, measure.interval) for measure in measures.values()]
        table = Table(
            "Calibration measures of external validation studies.",
            ["measure", "estimate", self._level],
            rows,
            notes={measures[name].name: note for name, note in BEST.items()},
            left=(0, 2),
        )
        heading, precision = write_calibration(measures, self.n_samples)
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

    def _show_units(self, means: Results) -> Section:
        """Return the section of the means over units."""
        rows = []
        for name, mean in means.items():
            span = f"{mean.replicates.min():.3g} to {mean.replicates.max():.3g}"
            rows.append((_sentences.name_metric(name), mean.value, mean.interval, span))
        head = ["mean over units", "estimate", self._level, "range of the units"]
        target = (
            "on new samples of these units"
            if self.units == "fixed"
            else "over all units of which these are a random sample"
        )
        return Section(
            f"Means over {len(next(iter(means.values())).replicates)} units",
            sentences=[f"Intervals of means over units are for the mean {target}."],
            tables=[Table("The metric is computed in each unit.", head, rows, left=(0, 2))],
        )

    def _show_hard_samples(self) -> Section:
        """Return the section of the worst predictions."""
        hard, numbers = self.hard_samples, self.class_sizes is None
        predictions = self.out_of_fold
        n_wrong = (
            int(np.sum(predictions.predicted != predictions.target.codes)) if not numbers else 0
        )
        heading = f"{count(n_wrong, 'sample')} {'is' if n_wrong == 1 else 'are'} misclassified"
        sentences, table = [], self._tabulate_samples()
        if numbers:
            heading = _sentences.write_large_residuals(len(hard.sample))
            listed = _sentences.write_hard_samples(hard, numbers=True)
            sentences += listed or [f"{heading}."]
        elif predictions.probabilities is not None:
            last = "probability of the true class"
            table = self._tabulate_samples(last, lambda wrong: f"{1 - wrong:.3f}")
        elif predictions.class_scores is None:
            table = self._tabulate_samples()
        sentences += [
            f"{n_wrong} of {size} samples of class {name} are misclassified."
            for name, (n_wrong, size) in hard.unknown.items()
        ]
        return Section(heading, sentences=sentences, tables=[table])


Evaluated = PredictionsReport | MultilabelReport | EvaluationComparison
"""Union of the reports of predictions."""


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
    if not problems:
        return "No miscalibration was detected", precision
    return f"Probabilities are {' and '.join(problems)}", precision


MAX_CLASSES_DRAWN, N_BARS = 30, 24
"""Maximum number of classes that are drawn; bars of a histogram of scores."""


def draw_scores(
    score: np.ndarray, target: Target, weight: np.ndarray, cut: float | None, label: str, ax: Any
) -> None:
    """Draw the distribution of the scores of each of two classes, as shares of the class."""
    assert target.classes is not None
    low, high = float(score.min()), float(score.max())
    cells = np.linspace(low, high if high > low else low + 1, N_BARS + 1)
    for code, name in enumerate(target.classes):
        own = target.codes == code
        share = weight[own] / weight[own].sum()
        shown: dict[str, Any] = {"weights": share, "color": f"C{code}"}
        ax.hist(score[own], cells, histtype="step", linewidth=1.5, label=str(name), **shown)
        ax.hist(score[own], cells, alpha=0.15, **shown)
    if cut is not None and low <= cut <= high:
        ax.axvline(cut, color="0.4", linestyle="--", linewidth=1, label="threshold")
    ax.set(xlabel=label, ylabel="share of the class")
    ax.legend(fontsize="small")


def draw_spreads(score: np.ndarray, target: Target, label: str, ax: Any) -> None:
    """Draw the median, quartiles and central 90 % of the scores of each class, for many classes."""
    assert target.classes is not None
    sizes = np.bincount(target.codes, minlength=len(target.classes))
    drawn = np.sort(np.argsort(-sizes, kind="stable")[:MAX_CLASSES_DRAWN])
    drawn = drawn[sizes[drawn] > 0]
    for row, code in enumerate(drawn):
        ends = np.quantile(score[target.codes == code], [0.05, 0.25, 0.5, 0.75, 0.95])
        ax.plot(ends[[0, 4]], [row, row], color="C0", linewidth=1)
        ax.plot(ends[[1, 3]], [row, row], color="C0", linewidth=5, alpha=0.5)
        ax.plot(ends[2], row, "o", color="C0", markersize=5)
    ax.set(xlabel=label, yticks=range(len(drawn)), ylim=(len(drawn) - 0.5, -0.5))
    ax.set_yticklabels([shorten_name(str(target.classes[code])) for code in drawn])


def draw_smooth(curve: Curve, ax: Any) -> None:
    """Draw a smooth calibration curve with pointwise intervals."""
    ax.plot([0, 1], [0, 1], linestyle=":", color="0.4", linewidth=1, label="calibrated")
    level = f"{100 * curve.confidence_level:g} % interval at each"
    ax.fill_between(curve.x, curve.low, curve.high, alpha=0.2, linewidth=0, label=level)
    ax.plot(curve.x, curve.y, label="smooth curve")
    ax.set(xlabel="predicted probability", ylabel="observed frequency", box_aspect=1)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.legend(loc="best", fontsize="small")
