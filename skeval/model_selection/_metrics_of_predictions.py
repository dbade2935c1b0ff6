"""Metrics of out-of-fold predictions, of all samples and of each class, with their intervals.

The rows of `METRICS` have the intervals. Those of out-of-fold predictions are for the model trained
on all samples, and wider than for a test set, because the model varies with its training samples:
see `Sample.inflate`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skeval._inference import intervals
from skeval._inference.estimate import Estimate, MetricExtra, Results
from skeval._inference.intervals import Limits, corrected_error
from skeval._inference.tables import CountedClasses, count_cells, score_form
from skeval._resampling.predictions import Predictions
from skeval.metrics._scorers import range_of, row_of_scorer
from skeval.metrics._table import (
    METRICS,
    SCORES,
    Arguments,
    Folds,
    Forms,
    Metric,
    Sample,
    arrange,
    close_area,
    close_mean,
    find_sample_losses,
    make_closed_forms,
    rank_out_of_fold,
)
from skeval.utils._checks import ignored_warnings

SHOWN = [(row, reported) for row in METRICS for reported in row.reported]
"""Metrics that are always computed."""

MEAN_AREA = "roc_auc_ovr"


def measure_metrics(
    predictions: Predictions,
    confidence_level: float,
    only: str | None = None,
    also: Iterable[str] = (),
) -> Results:
    """Return the metrics of predictions by name, for all samples and then for each class.

    With `only` it is the metric of that name. `also` are scorers that reports do not show, as in
    `measure_scorer`. `details` has the name of the metric in scikit-learn
    (`metric`), the class that it belongs to (`label`, None for all samples), and
    `greater_is_better`. A metric of a class counts the samples that are, or are predicted to be, of
    this class.

    ``benchmarks/results/coverage_out_of_fold.csv`` has the measured coverage.
    """
    measure = measure_numbers if predictions.target.classes is None else measure_classes
    with ignored_warnings(UndefinedMetricWarning):  # nan suffices if nothing varies
        metrics = [metric for metric in measure(predictions) if only in (None, metric.name)]
        metrics += [measure_scorer(predictions, name) for name in also]
        names = {metric.name for metric in metrics}
        metrics += [score for score in measure_scorers(predictions) if score.name not in names]
        n_classes = None if predictions.target.classes is None else len(predictions.target.classes)
        n_units = predictions.cases.n_units
        return Results(
            {
                metric.name: settle(metric, n_classes, n_units, confidence_level)
                for metric in metrics
            }
        )


def settle(
    metric: Measured, n_classes: int | None, n_units: int, confidence_level: float
) -> Estimate:
    """Return the estimate of a measured metric, with its interval."""
    method, limits, error = metric.form
    if n_units == 1:  # a single unit has no variance
        method, limits, error = NO_FORM
    return Estimate(
        name=metric.name,
        value=metric.value,
        standard_error=error,
        method="out_of_fold",
        limits={method: limits if np.isfinite(metric.value) else intervals.give_no_limits},
        n_samples=metric.n_samples,
        extra=MetricExtra(
            metric=metric.metric, label=metric.label, greater_is_better=metric.greater_is_better
        ),
        confidence_level=confidence_level,
        bounds=range_of(metric.metric, n_classes),
    )


Form = tuple[str, Callable[[float], Limits], float]
"""Name of an interval, its limits by confidence level, and the standard error."""
NO_FORM: Form = "none", intervals.give_no_limits, np.nan


class Measured(NamedTuple):
    """Value and interval of a metric, for all samples or for one class."""

    metric: str
    value: float
    form: Form
    n_samples: int
    label: str | None = None
    greater_is_better: bool = True

    @property
    def name(self) -> str:
        """Name of the metric, with the class if there is one."""
        return self.metric if self.label is None else f"{self.metric}, {self.label}"


def read_sample(predictions: Predictions) -> Sample:
    """Return the true values and predictions with the models that made them."""
    target, weight = predictions.target, predictions.look_up(predictions.weight)
    true = target.codes if target.classes is not None else target.y.astype(float)
    folds = None
    if predictions.n_fits:
        _, first, row = np.unique(predictions.row, return_index=True, return_inverse=True)
        repeats = predictions.repeats, predictions.inflation
        folds = Folds(row, predictions.fit, first, *repeats)
    return Sample(
        predictions.look_up(true),
        predictions.predicted,
        weight=None if np.ptp(weight) == 0 else weight,
        groups=predictions.group,
        folds=folds,
    )


def measure_row(row: Metric, sample: Sample, arguments: Arguments, **fields: Any) -> Measured:
    """Return the metric of a row, with the first of its intervals.

    The value of a fixed model is that of the function. Out-of-fold predictions of several models
    have the value that belongs to the interval.
    """
    forms: Forms
    if sample.folds is None:
        weight = {} if sample.weight is None else {"sample_weight": sample.weight}
        try:
            if (
                row.per_sample and row.response == "predict_proba"
            ):  # the oldest scikit-learn has no labels for Brier
                losses = find_sample_losses(row, arguments, *sample[:2])
                value = float(np.average(losses, weights=sample.weight))
            else:
                value = float(row.function(*sample[:2], **arguments, **weight))
        except ValueError:  # a class is missing
            value = np.nan
        metric = partial(row.function, **arguments)
        forms = make_closed_forms(metric, sample._replace(value=value))
    else:
        value, forms = row.interval[0].make(row, arguments, sample)
    form = next(((name, *form) for name, form in forms.items()), NO_FORM)
    return Measured(value=value, form=form, greater_is_better=row.greater_is_better, **fields)


def measure_classes(predictions: Predictions) -> Iterator[Measured]:
    """Yield the metrics of a classifier."""
    # metrics of labels, from the counts of cells
    sample, n, classes = read_sample(predictions), predictions.n_tested, predictions.target.classes
    if classes is None:
        return
    codes, counted = sample.y_true, None
    if predictions.has_values:
        predicted = predictions.predicted.astype(np.intp, copy=False)
        counted = count_cells(
            codes, predicted, predictions.look_up(predictions.weight), predictions.repeat
        )
        yield from measure_tables(predictions, sample, counted)
    # losses of probabilities
    known = {"labels": np.arange(len(classes))}
    if predictions.probabilities is not None:
        shares = predictions.probabilities
        shares = shares[:, 1] if len(classes) == 2 and sample.folds is None else shares
        for row, reported in SHOWN:
            if row.per_sample is not None and row.response == "predict_proba":
                of_shares = sample._replace(y_pred=shares)
                yield measure_row(row, of_shares, known, metric=reported.name, n_samples=n)
    # ranking of the positive class, or of each class against the rest
    scores, positive_only = predictions.class_scores, len(classes) == 2
    if scores is not None:
        for code in [predictions.target.positive_code] if positive_only else range(len(classes)):
            label = None if positive_only else str(classes[code])
            own = codes == code
            of_class = sample._replace(y_true=own, y_pred=scores[:, code])
            n_positive = len(np.unique(predictions.cases.unit[predictions.row[own]]))
            for row, reported in SHOWN:
                if row.response != SCORES:
                    continue
                size = n_positive if row.counted == "y_true" else n
                one = measure_row(row, of_class, {}, metric=reported.name, n_samples=size)
                # all samples are tied, so the metric is a constant
                tied = predictions.ranks_nothing.all()
                yield one._replace(label=label, form=NO_FORM if tied else one.form)
    # metrics of each class
    for code, label in enumerate(classes if counted is not None else ()):
        assert counted is not None
        # four cells, whatever the number of classes
        cell = 2 * (codes == code) + (predictions.predicted == code)
        cells = replace(counted.cells, cell=cell, n_cells=4)
        table = CountedClasses(np.array([False, True]), cells)
        yield from measure_tables(predictions, sample, table, code, str(label))


def measure_tables(
    predictions: Predictions,
    sample: Sample,
    counted: CountedClasses,
    code: int | None = None,
    label: str | None = None,
) -> Iterator[Measured]:
    """Yield the metrics of a confusion table, for all samples or for one class."""
    called = code is None or bool(np.any(predictions.predicted == code))
    for row, reported in SHOWN:
        if not row.from_table or reported.of_class == (code is None):
            continue
        options = reported.arguments if code is None else {"pos_label": True, "average": "binary"}
        # value, and the interval from its derivatives in the cells
        table = arrange(row, options, counted)
        with np.errstate(invalid="ignore", divide="ignore"):
            estimate = float(table.metric(table.share)[0])
            if row.counted == "y_pred" and not called:
                estimate = np.nan
            values: list[float] = []
            if row.loss is None:  # the metric is not a mean of losses
                values = [table.metric(share)[0] for share in table.shares()]
            widen = partial(sample.inflate, values=values)
            form = score_form(table, estimate, predictions.group, widen=widen)
        yield Measured(reported.name, estimate, ("score", *form), predictions.n_tested, label=label)


def measure_loss(
    predictions: Predictions, name: str, losses: np.ndarray, *, bounded: bool
) -> Measured:
    """Return the mean of losses of several outputs."""
    value, forms = close_mean(losses, read_sample(predictions), bounded=bounded)
    return Measured(
        name, value, ("log", *forms["log"]), predictions.n_tested, greater_is_better=False
    )


def summarize_losses(
    predictions: Predictions, losses: np.ndarray, values: Iterable[float] = ()
) -> tuple[float, float, float]:
    """Return the mean loss, its standard error for the trained model, and degrees of freedom."""
    return read_sample(predictions).average(losses, values)


def measure_scorer(predictions: Predictions, name: str) -> Measured:
    """Return the metric of a scorer, that is, a mean loss, or the mean area of several classes."""
    sample, row, n = read_sample(predictions), row_of_scorer(name), predictions.n_tested
    if name == MEAN_AREA:
        codes, shares = sample.y_true, predictions.probabilities
        assert shares is not None
        result, values = rank_out_of_fold(sample._replace(y_pred=shares), codes)
        form: Form = "score", *close_area(result, sample, values)["score"]
        if predictions.ranks_nothing.all():
            form = NO_FORM
        return Measured(name, result.value, form, n)
    assert row is not None
    return measure_row(row, sample, {}, metric=name, n_samples=n)


def measure_numbers(predictions: Predictions) -> Iterator[Measured]:
    """Yield the metrics of a regressor."""
    sample = read_sample(predictions)
    for row, reported in SHOWN:
        if row.of_numbers:
            name, n = reported.name, predictions.n_tested
            yield measure_row(row, sample, {}, metric=name, n_samples=n)


def measure_scorers(predictions: Predictions) -> Iterator[Measured]:
    """Yield the requested scores as means over the test sets.

    The variance is corrected for the overlap of training sets (Nadeau and Bengio 2003).
    """
    for name, scores in predictions.scores.items():
        # as in scikit-learn, the mean is nan if the score of a test set is
        mean, error = float(np.mean(scores)), np.nan
        limits: Callable[[float], Limits] = intervals.give_no_limits
        if len(scores) > 1:
            error = corrected_error(scores, predictions.test_train_ratio)
            args = mean, error
            degrees = len(scores) - 1
            limits = partial(intervals.normal_interval, *args, degrees_of_freedom=degrees)
        yield Measured(name, mean, ("corrected_t", limits, error), predictions.n_tested)
