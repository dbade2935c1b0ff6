"""Report of existing predictions: metrics with intervals, curves, calibration.

Read from top to bottom: the public function, its report, and the drawings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import brier_score_loss, mean_squared_error, roc_auc_score

from skeval._inference.estimate import Results
from skeval._resampling.predictions import Predictions
from skeval.metrics._curves import CurveSample
from skeval.model_selection import Comparison, compare_predictions
from skeval.model_selection._fold_metrics import measure_metrics
from skeval.model_selection._subgroups import UNITS
from skeval.model_selection._threshold import check_prevalence, measure_at, read_rule
from skeval.report import _findings, _predictions
from skeval.report._comparison import join_reports
from skeval.report._multilabel import evaluate_labels
from skeval.report._parsed_predictions import (
    KINDS,
    ParsedPredictions,
    is_wide,
    list_systems,
    measure_slices,
    read_predictions,
    read_units,
)
from skeval.report._prediction_checks import warn_of_predictions
from skeval.report._predictions import HardSamples
from skeval.report._report import Report
from skeval.report._run import describe_run
from skeval.report._systems import PREDICTIONS
from skeval.utils._checks import (
    PredictionKind,
    RandomStateLike,
    UnitSampling,
    check_confidence_level,
    check_option,
    ignored_warnings,
    small_seed,
)
from skeval.utils._compat import read_arrays


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
) -> Report:
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
    Report
        For several systems, a comparison with one report per system.

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
    Brier score 0.130 (95 % CI 0.110 to 0.154): better than always predicting the class frequencies
    (0.247). Area under the ROC curve 0.91 (95 % CI 0.86 to 0.94).
    """
    options = dict(locals())
    del options["y_true"], options["predictions"]
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
    results: dict[str, Any] = {
        "answer": answer,
        "loss": parsed.loss,
        "estimates": Results({"all samples": answer, **(subgroups or {})}),
        "n_groups": scored.cases.n_groups,
        "kind": parsed.kind,
        "threshold": parsed.threshold,
        "positive": parsed.positive,
        "metrics": metrics,
        "calibration": calibration,
        "at_threshold": at_threshold,
        "prevalence": prevalence,
        "within": means,
        "units": units,
        "confusion": _predictions.measure_confusion(scored, confidence_level),
        "hard_samples": find_worst(scored, _predictions.name_rows(y_true)),
        "subgroups": subgroups,
        "out_of_fold": scored,
        "baseline": _findings.find_baseline(scored, parsed.loss, metrics),
        "rare_class": _findings.find_rare_class(sizes, metrics, parsed.loss),
        "never_predicted": _findings.list_never_predicted(scored),
        "confidence_level": float(confidence_level),
        "n_samples": len(weight),
        "class_sizes": _predictions.count_classes(parsed.target),
    }
    warned = tuple(warn_of_predictions(parsed, scored, metrics, y_true, at_threshold))
    run = describe_run("skeval.evaluate_predictions", arguments, seed)
    return Report(PREDICTIONS, results, warned, **run)


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
) -> Report:
    """Return the reports of several systems, and their comparison on the same samples."""
    seed = small_seed(options["random_state"])
    options = options | {"random_state": seed}
    reports = {
        name: evaluate_predictions(y_true, system, **options) for name, system in systems.items()
    }
    arguments = {"y_true": y_true, "predictions": predictions} | options
    run = describe_run("skeval.evaluate_predictions", arguments, seed)
    return join_reports(reports, _compare_systems(reports, options), run)


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
    elif "labels" in first.results:
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
