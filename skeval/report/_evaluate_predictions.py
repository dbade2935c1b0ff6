"""Report of existing predictions, with metrics and their intervals, curves and calibration.

The module contains the public function, the comparison of several models, and the sections.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import brier_score_loss, mean_squared_error, roc_auc_score

from skeval._inference.estimate import Results
from skeval._resampling.sampling_units import find_positive_name
from skeval.model_selection import Comparison, EstimatesDisplay, compare_predictions
from skeval.model_selection._score_interval import measure_metrics
from skeval.model_selection._threshold import measure_at, read_rule
from skeval.report import _arguments, _findings, _sections, _sentences
from skeval.report._arguments import PredictionKind
from skeval.report._comparison import find_rare_metric, join_reports
from skeval.report._page import Section
from skeval.report._report import Report, recorded
from skeval.report._warnings import (
    warn_of_batches,
    warn_of_calibration,
    warn_of_outputs,
    warn_of_predictions,
)
from skeval.utils import _checks
from skeval.utils._checks import RandomStateLike, read_arrays
from skeval.utils._text import quote_label, write_range, write_threshold


@read_arrays
@recorded
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
    confidence_level: float = 0.95,
    random_state: RandomStateLike = None,
) -> Report:
    """Evaluate existing predictions with metrics and their confidence intervals.

    Use it for models that are not estimators, or were trained elsewhere. The model is not
    retrained, and the intervals are for the same model on new samples. `report.answer` is the main
    metric. It is the error rate for labels, the Brier score for probabilities, the area under the
    ROC curve for scores, and the root mean squared error for a numeric target. It is compared with
    the baseline, the best constant prediction on the same samples.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
        True classes or numeric target. For a multilabel target, 0 or 1 for each label.
    predictions : array-like of shape (n_samples,) or (n_samples, n_classes), or dict of them
        Labels, numeric predictions, or probabilities or scores. The latter belong to the second of
        two classes, or have one column for each class. Labels of 0 and 1, or -1 and 1, may encode
        two classes with other names. 1 then means "yes", "true" or "positive" or, for other names,
        `pos_label`. For a multilabel target, predictions are 0 or 1 or a probability for each
        label. A dict, or a data frame whose columns are not classes of `y_true`, contains several
        models, which `compare_predictions` compares.
    kind : {"auto", "labels", "probabilities", "scores", "numbers"}, default="auto"
        Kind of the predictions. "auto" uses the first of these rules that applies. The kind is
        labels if all predictions are classes of `y_true`, text, or only 0 and 1. It is numbers if
        `y_true` has fractions or more than 20 distinct integers. It is probabilities if they lie in
        [0, 1] and sum to 1 in each row. Otherwise, it is scores.
    threshold : float, "youden" or dict, default=None
        Probability or score from which a sample is predicted as the second of two classes. None
        means 0.5 for probabilities. For scores, None means that there are no labels, and only the
        ranking is evaluated. A number must have been chosen without these samples. "youden",
        ``{"sensitivity": 0.9}``, ``{"specificity": 0.9}`` and ``{"cost_ratio": 5}`` choose a
        threshold on these samples. ``report.at_threshold`` then contains estimates for new
        samples, computed by `threshold_measures`.
    scoring : str, callable, list or dict, default=None
        Additional metrics. Each is the name of a scorer, or ``metric(y_true, predictions)``, which
        is called with the predictions as passed.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as the patient. The variance is computed between groups, with
        Student's t quantile.
    by : array-like of shape (n_samples,), or dict or data frame of them, default=None
        Subgroup of each sample, or several such columns. The report has the main metric in each
        subgroup, and the differences from all other samples with corrected P-values.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. They must be positive.
    pos_label : int, float, bool or str, default=None
        With two classes, the positive class, to which probabilities or scores in one column refer.
        None means the second class in sorted order for one column, and the same class as in
        `evaluate` for two.
    labels : array-like of shape (n_classes,), default=None
        Class of each column of `predictions`, or label of each column of `y_true`. None means the
        column names of a data frame, or the sorted classes of `y_true`.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call. Only metrics in
        `scoring` without a formula depend on it, because they are bootstrapped.

    Returns
    -------
    Report
        The report. For several models, a comparison with one report for each.

    Raises
    ------
    ValueError
        If an argument is invalid. The message names argument, rule and value. For a multilabel
        target, `scoring`, `pos_label` and the choice of a threshold are not supported.

    See Also
    --------
    evaluate : Evaluates an estimator, including its training.
    skeval.model_selection.metric_interval : Only one metric.
    skeval.model_selection.compare_predictions : Compares several models.

    Notes
    -----
    With four positives or fewer, the interval of the average precision is too narrow.
    :doc:`/validation` has the coverage of all intervals in simulations.

    Examples
    --------
    >>> import numpy as np
    >>> import skeval
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> p = 1 / (1 + np.exp(-rng.normal(2 * y - 1, 1.0)))
    >>> report = skeval.evaluate_predictions(y, p)
    >>> print(report.verdict)
    Brier score 0.130 (95 % CI 0.110 to 0.154): better than always predicting the class frequencies
    (0.247). Area under the ROC curve 0.91 (95 % CI 0.86 to 0.94).
    """
    _checks.check_confidence_level(confidence_level)
    _checks.check_option("kind", kind, get_args(PredictionKind))
    seed = _checks.small_seed(random_state)
    sampling = {"groups": groups, "sample_weight": sample_weight, "random_state": seed}
    # several models are evaluated one by one, and compared
    systems = _arguments.list_systems(y_true, predictions)
    if systems is not None:
        options = {"kind": kind, "threshold": threshold, "scoring": scoring, "by": by}
        options |= {"pos_label": pos_label, "labels": labels, "confidence_level": confidence_level}
        reports = {
            name: evaluate_predictions(y_true, system, **options, **sampling)
            for name, system in systems.items()
        }
        comparison, deciding = _compare_systems(
            reports, scoring, confidence_level=confidence_level, **sampling
        )
        return join_reports(reports, comparison, deciding, seed=seed)
    # one label, score or number of each sample, or several labels
    parsed: Any
    if several := _arguments.is_wide(y_true):
        for name, value in (("scoring", scoring), ("pos_label", pos_label)):
            if value is not None:
                raise ValueError(
                    f"{name} must be None for several labels per sample, got {value!r}."
                )
        parsed = _arguments.read_labels(y_true, predictions, kind, threshold, labels)
    else:
        parsed = _arguments.read_predictions(
            y_true, predictions, kind, labels, pos_label, threshold
        )
    with _checks.ignored_warnings(UndefinedMetricWarning):  # the report lists undefined metrics
        if several:
            results = _measure_labels(parsed, sampling, confidence_level)
        else:
            results = _measure(parsed, sampling, confidence_level, threshold, scoring, y_true)
        # the main metric, or that of a rare class, in each subgroup
        scored, rare = results["out_of_fold"], results["rare_class"]
        metric = None if rare is None else rare.metric
        subgroups = _arguments.measure_slices(
            scored,
            by,
            metric,
            confidence_level,
            lambda chosen: parsed.measure_answer(
                _arguments.choose_samples(scored, chosen), confidence_level
            ),
        )
    # a subgroup, such as a batch, may determine the class
    if not several:
        results["warnings"] += tuple(warn_of_batches(parsed.target, by, {}))
    # the report
    return PredictionsReport(
        **results,
        estimates=Results({"all samples": results["answer"], **(subgroups or {})}),
        loss=parsed.loss,
        subgroups=subgroups,
        less_the_rest=None if subgroups is None else subgroups.less_the_rest,
        kind=parsed.kind,
        positive=parsed.positive,
    )


def _measure(
    parsed: _arguments.ParsedPredictions,
    sampling: dict[str, Any],
    level: float,
    threshold: Any,
    scoring: Any,
    y_true: Any,
) -> dict[str, Any]:
    """Return the results of one prediction per sample."""
    # the threshold comes first, because the predicted labels depend on it
    scored, seed = parsed.collect(**sampling), sampling["random_state"]
    sample = parsed.positive is not None and scored.ranked
    sample = replace(sample, confidence_level=level) if sample else None
    cut, at_threshold = parsed.threshold if threshold is None else threshold, None
    if sample is not None and cut is not None:
        with _checks.ignored_warnings(UserWarning):  # of few groups
            at_threshold = measure_at(sample, read_rule(cut), seed)
    # the labels follow from the threshold that the rule chose
    if at_threshold and (parsed.threshold is None or isinstance(threshold, str | Mapping)):
        parsed = parsed.cut(at_threshold["threshold"].value)
        scored = parsed.collect(**sampling)
    # the metrics, and what they mean
    metrics = measure_metrics(scored, level)
    metrics |= parsed.measure_scoring(scoring, level, metrics, **sampling)
    answer, names = parsed.find_answer(metrics), _arguments.name_rows(y_true)
    is_chosen = isinstance(threshold, str | Mapping)
    cut, given = parsed.threshold, (scored, answer, metrics, parsed.loss, names, seed)
    results = _findings.summarize(*given, threshold=cut, is_chosen=is_chosen)
    return results | {
        "_parsed": parsed,
        "threshold": parsed.threshold,
        "at_threshold": at_threshold,
        "warnings": (
            *warn_of_predictions(parsed, scored, metrics, y_true, at_threshold),
            *warn_of_calibration(results["calibration"]),
        ),
    }


def _measure_labels(
    parsed: _arguments.ParsedLabels, sampling: dict[str, Any], level: float
) -> dict[str, Any]:
    """Return the results of predictions of several labels per sample."""
    scored, target = parsed.collect(**sampling), parsed.target
    answer = parsed.measure_answer(scored, level)
    # the best constant of each label
    constant, value = np.average(target.codes, axis=0, weights=scored.weight), "prevalence"
    if parsed.kind == "labels":
        constant, value = constant > 0.5, "majority value"
    always = np.mean((target.codes - constant) ** 2, axis=1)
    never = ~parsed.predicted.any(axis=0)
    with _checks.ignored_warnings(UserWarning):  # the report has warnings of its own
        metrics = parsed.measure_labels(answer, level, **sampling)
    seed = sampling["random_state"]
    return _findings.summarize(scored, answer, metrics, parsed.loss, None, seed) | {
        "_parsed": parsed,
        "threshold": parsed.threshold,
        "baseline": _findings.make_baseline(scored, f"the {value} of each label", always),
        "never_predicted": tuple(np.array(target.outputs)[never].tolist()),
        "class_sizes": dict(zip(target.outputs, target.codes.sum(axis=0).tolist(), strict=True)),
        "warnings": tuple(warn_of_outputs(scored)),
    }


COMPARED = {"probabilities": brier_score_loss, "scores": roc_auc_score}


def _compare_systems(
    reports: Mapping[str, Any], scoring: Any, **options: Any
) -> tuple[Comparison, str]:
    """Return the comparison of all pairs, and its metric, which is "" for the main metric.

    The first requested metric decides, or the metric for a rare class.
    """
    kinds = {report.kind for report in reports.values()}
    if len(kinds) > 1:
        got = ", ".join(f"{report.kind} for {name!r}" for name, report in reports.items())
        raise ValueError(f"predictions must all be of one kind, got {got}. See kind=.")
    (kind,), first = kinds, next(iter(reports.values()))
    # the first requested metric, or that of a rare class
    rare = find_rare_metric(reports)
    requested = [*_arguments.name_scorers(scoring).items()] or ([(rare, rare)] if rare else [])
    columns: dict[str, Any] = {}
    for name, report in reports.items() if requested else ():
        deciding, metric, better, (truth, columns[name]) = report._parsed.read_metric(*requested[0])
    changes: dict[str, Any] = {}
    if columns and deciding != first._parsed.metric:
        changes = {"scoring": deciding, "greater_is_better": better}
    else:
        # scores of one kind: a metric of the predictions, or minus the losses
        deciding, truth, metric = "", None, None
        # losses are negated, because larger scores are better
        by_name = {name: report.out_of_fold for name, report in reports.items()}
        many = first.class_sizes is not None and len(first.class_sizes) > 2
        columns = {name: -system.loss for name, system in by_name.items()}
        if kind == "numbers":
            truth, metric = first.out_of_fold.target.y, mean_squared_error
            columns = {name: system.predicted for name, system in by_name.items()}
        elif first.out_of_fold.target.outputs or (kind == "probabilities" and many):
            changes = {"scoring": f"minus the {first.answer.name}"}
        elif kind != "labels" and not many:
            truth, metric = first.out_of_fold.target.codes, COMPARED[kind]
            columns = {name: system.class_scores[:, 1] for name, system in by_name.items()}
        else:
            changes = {"scoring": "accuracy"}
            columns = {name: 1 - system.loss for name, system in by_name.items()}
    with _checks.ignored_warnings(UndefinedMetricWarning):  # the table shows undefined values
        comparison = compare_predictions(truth, columns, metric=metric, method="max_t", **options)
    return replace(comparison, **changes), deciding


# --- the report


def show_threshold(report: PredictionsReport) -> Section | None:
    """Return the section on the threshold, with the optimism of its choice."""
    measures, level = report.at_threshold, _sections.write_level(report)
    if measures is None:
        return None
    shares = dict(measures)
    cut = shares.pop("threshold")
    start = f"At the threshold {report.written_threshold} for class {quote_label(report.positive)}"
    rows = [(WORDS.get(str(name), str(name)), measure) for name, measure in shares.items()]
    table = _sections.tabulate(report, f"{start}.", f"at {report.written_threshold}", rows)
    if cut.method == "bootstrap":
        # the values on these samples are optimistic
        apparent = (measure.details["apparent"] for measure in shares.values())
        ends = write_range(cut.interval.low, cut.interval.high)
        table = replace(
            table,
            head=[*table.head, "on these samples"],
            rows=[(*row, value) for row, value in zip(table.rows, apparent, strict=True)],
            caption=f"The threshold {report.written_threshold} was chosen on these samples "
            f"({level} {ends}). Estimates are for new samples, corrected for the optimism of this "
            "choice.",
        )
    texts = [f"{name} is {measures[name].value:.2f}" for name in ("sensitivity", "specificity")]
    not_reached = [cut.details["caution"]] if "caution" in cut.details else []
    return Section(f"{start}, {' and '.join(texts)}", not_reached, tables=[table])


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PredictionsReport(_sections.PredictionsPage):
    """Report of existing predictions."""

    SECTIONS = (
        _sections.show_metrics,
        _sections.show_curves,
        show_threshold,
        _sections.show_calibration,
        _sections.show_subgroups,
        _sections.show_hard_samples,
    )
    MAIN_TABLE = "metrics", "name"

    kind: str
    _parsed: Any = field(repr=False)
    threshold: float | None
    at_threshold: Results | None = None

    @property
    def written_threshold(self) -> str:
        """The threshold, with enough digits to repeat the decisions."""
        scores = self.out_of_fold.response
        if self.threshold is None or scores is None:  # none, or one that was passed for labels
            return str(self.threshold)
        return write_threshold(self.threshold, scores[:, 1] if scores.ndim == 2 else scores)

    @property
    def title(self) -> str:
        """Default heading of the page."""
        return "Evaluation of predictions"

    @property
    def facts(self) -> list[str]:
        """The predictions, and the classes."""
        facts = [f"{_sentences.describe_classes(self)}, predicted as {self.kind}"]
        if self.threshold is not None:
            facts.append(f"threshold: {self.written_threshold}")
        return facts

    @property
    def basis(self) -> list[str]:
        """The target of the intervals, and the positive class."""
        units = "samples" if self.n_groups is None else "groups"
        basis = [
            f"Intervals are for the same model on new {units} from the same population. Variation "
            "from retraining is not included."
        ]
        # the class that scores refer to and, if chosen by order, how to change it
        classes = self.out_of_fold.target.classes
        if self.positive is None or classes is None or classes.dtype.kind not in "USO":
            return basis
        text = f"Positive class: {quote_label(self.positive)}"
        by_order = self.settings.get("pos_label", "None") == "None"
        if by_order and find_positive_name(classes.tolist()) != 1:
            text += (
                f", the second in sorted order; if the {self.kind} refer to "
                f"{quote_label(classes[0])}, pass pos_label={classes.tolist()[0]!r} (--pos-label)"
            )
        return [*basis, f"{text}."]

    def _list_rows(self) -> Results:
        return self.metrics

    def plot(self, ax: Any = None) -> EstimatesDisplay:
        """Draw the main metric, for all samples and for each subgroup. Requires matplotlib."""
        return _sections.plot_estimates(self, ax)

    def list_methods(self) -> Iterator[tuple[str, str]]:
        """Yield the sentences on calibration and on the threshold, with their references."""
        yield from _sentences.describe_calibration(self)
        cut = self.at_threshold
        if cut is not None and cut["threshold"].method == "bootstrap":
            text = (
                f"The threshold of {self.written_threshold} was chosen on these samples. The "
                "resulting optimism was estimated by repeating the choice on bootstrap resamples, "
                "and subtracted"
            )
            yield text, OPTIMISM
        elif cut is not None:
            yield f"Classes were predicted with a threshold of {self.written_threshold}", ""


OPTIMISM = "B. Efron (1983), https://doi.org/10.1080/01621459.1983.10477973"
WORDS = {
    "ppv": "positive predictive value",
    "npv": "negative predictive value",
    "net_benefit": "net benefit",
}
