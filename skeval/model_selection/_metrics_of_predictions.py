"""Metrics of out-of-fold predictions, of all samples and of each class, with their intervals.

The intervals are for the model trained on all samples. Their
variance is larger than for a test set, because the model varies with its training samples. For
error rates, the mean squared deviation of repeated cross-validation from the risk of the model is
`Predictions.inflation` times the variance of independent samples; all mean losses use it. Other
metrics may vary more with the training samples than with the tested samples, such as the explained
variance of a useless model, or the recall of a model that guesses. Their variance is at least the
variance of independent samples plus `BETWEEN` times the variance between repeats of the folds,
which comes from the training samples alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn import metrics as sk
from sklearn.exceptions import UndefinedMetricWarning

from skeval._inference import intervals
from skeval._inference.areas import Area, Term, find_area, rank_terms, spread_of_areas
from skeval._inference.errors import (
    TestLosses,
    degrees_of_mean,
    is_too_wide,
    mean_loss,
    spread_of_mean,
)
from skeval._inference.estimate import Estimate, MetricExtra, Results
from skeval._inference.intervals import Limits, corrected_error, size_from_weights
from skeval._inference.tables import CountedClasses, count_cells, score_form
from skeval._resampling.predictions import Predictions
from skeval.metrics._scorers import range_of, row_of_scorer
from skeval.metrics._table import METRICS, Sample, arrange, make_closed_forms
from skeval.utils._checks import ignored_warnings

SHOWN = [(row, reported) for row in METRICS for reported in row.reported]
"""Metrics that are always computed."""

MEAN_AREA = "roc_auc_ovr"
BETWEEN = 3.5
"""Variance of a metric due to training sets, divided by its variance between repeats of the folds.

For R2 the ratio was 2.2 to 4.4 in six cells of 150 sets: the mean, Lasso, ridge and least squares,
with 80 samples of 10 features, none or one of them informative.
"""


def measure_metrics(
    predictions: Predictions,
    confidence_level: float,
    only: str | None = None,
    also: Iterable[str] = (),
) -> Results:
    """Return the metrics of predictions by name, for all samples and then for each class.

    With `only` it is the metric of that name; `also` are scorers that reports do not show, as in
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


def measure_classes(predictions: Predictions) -> Iterator[Measured]:
    """Yield the metrics of a classifier."""
    # metrics of labels, from the counts of cells
    codes = predictions.look_up(predictions.target.codes)
    n, classes = predictions.n_tested, predictions.target.classes
    if classes is None:
        return
    counted = None
    if predictions.has_values:
        predicted = predictions.predicted.astype(np.intp, copy=False)
        counted = count_cells(
            codes, predicted, predictions.look_up(predictions.weight), predictions.repeat
        )
        yield from measure_tables(predictions, counted, n)
    # losses of probabilities
    if predictions.probabilities is not None:
        for row, reported in SHOWN:
            if row.per_sample is not None and row.response == "predict_proba":
                losses = row.per_sample(codes, predictions.probabilities)
                yield measure_loss(predictions, reported.name, losses, bounded=True)
    # ranking of the positive class, or of each class against the rest
    scores, positive_only = predictions.class_scores, len(classes) == 2
    if scores is not None:
        for code in [predictions.target.positive_code] if positive_only else range(len(classes)):
            label = None if positive_only else str(classes[code])
            if predictions.n_fits == 0:
                yield from measure_given_scores(predictions, code, label)
            else:
                yield from measure_ranking(predictions, codes == code, scores[:, code], label)
    # metrics of each class
    for code, label in enumerate(classes if counted is not None else ()):
        assert counted is not None
        yield from measure_tables(predictions, counted.choose(code), n, code, str(label))


def measure_tables(
    predictions: Predictions,
    counted: CountedClasses,
    n_samples: int,
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
            widen = partial(inflate, predictions, values=values)
            form = score_form(table, estimate, predictions.group, widen=widen)
        yield Measured(reported.name, estimate, ("score", *form), n_samples, label=label)


def inflate(predictions: Predictions, variance: float, values: Iterable[float]) -> float:
    """Return the factor by which training sets increase the variance of a metric.

    `variance` is due to the tested samples alone; `values` are the metric in each repeat of the
    folds.
    """
    # the variance between repeats comes from the training sets
    finite = np.array([value for value in values if np.isfinite(value)])
    if len(finite) < 2 or not variance > 0:
        return predictions.inflation
    if np.ptp(finite) <= intervals.ROUNDING * np.abs(finite).max():  # variance is rounding
        return predictions.inflation
    return max(predictions.inflation, 1 + BETWEEN * float(np.var(finite, ddof=1)) / variance)


def measure_loss(
    predictions: Predictions, name: str, losses: np.ndarray, *, bounded: bool, root: bool = False
) -> Measured:
    """Return the mean of non-negative losses, or its root."""
    # mean, and its standard error for the trained model
    estimate, error, degrees = summarize_losses(predictions, losses)
    if not predictions.cases.clustered:
        tested, n = (
            TestLosses(losses, predictions.look_up(predictions.weight)),
            len(predictions.target),
        )
        degrees = degrees_of_mean(tested, n, predictions.inflation, bounded=bounded)
    limits: Callable[[float], Limits] = partial(
        intervals.log_interval, estimate, error, degrees_of_freedom=degrees
    )
    if is_too_wide(estimate, error, degrees):
        limits = intervals.give_no_limits
    if root:
        limits = partial(intervals.take_root, limits)
        estimate = estimate**0.5
        error = error / (2 * estimate) if estimate else 0.0
    form = "log", limits, error
    return Measured(name, estimate, form, predictions.n_tested, greater_is_better=False)


def summarize_losses(
    predictions: Predictions, losses: np.ndarray, values: Iterable[float] = ()
) -> tuple[float, float, float]:
    """Return the mean loss, its standard error for the trained model, and degrees of freedom.

    `values` has one value per repeat if the losses are influences on another metric.
    """
    # spread of the losses in each repeat
    weight, group = predictions.look_up(predictions.weight), predictions.group
    tested = [
        TestLosses(losses[part], weight[part], None if group is None else group[part])
        for part in predictions.repeats
    ]
    spreads = [spread_of_mean(repeat) for repeat in tested]
    # variance of a single repeat: the samples of all repeats are the same
    variance = float(np.mean([spread.variance for spread in spreads]))
    degrees = min(spread.degrees_of_freedom for spread in spreads)
    if group is None:
        # degrees of freedom of the effective sample size
        degrees = max(1.0, size_from_weights(predictions.weight) / predictions.inflation - 1)
    else:
        # units whose means happen to agree do not tell how units vary: take that of samples
        alone = [spread_of_mean(repeat._replace(unit=None)).variance for repeat in tested]
        variance = variance if variance > 1e-20 * np.mean(alone) else float(np.mean(alone))
    # inflated by the variation of the training sets
    mean = mean_loss(TestLosses(losses, weight))
    return mean, float(np.sqrt(variance * inflate(predictions, variance, values))), degrees


def measure_ranking(
    predictions: Predictions, positive: np.ndarray, score: np.ndarray, label: str | None
) -> Iterator[Measured]:
    """Yield the area under the ROC curve and the average precision of a class."""
    row, fold, unit = predictions.row, predictions.fit, predictions.cases.unit
    # areas compare samples of the same test set only
    area, influence = find_area(positive, score, predictions.weight, row=row, fold=fold)
    # effective sizes of both classes
    is_positive = np.zeros(len(predictions.target), dtype=bool)
    is_positive[row[positive]] = True
    sides = is_positive, ~is_positive
    counts = [len(np.unique(unit[own])) for own in sides]
    sizes = [
        min(n, size_from_weights(predictions.weight[own]))
        for n, own in zip(counts, sides, strict=True)
    ]
    group = unit if predictions.cases.clustered else None
    spread = spread_of_areas(influence[:, None], is_positive, predictions.weight, group)
    variance = spread.variance
    # the spread between repeats comes from the training sets
    areas = [
        find_area(
            positive[part], score[part], predictions.weight, row=row[part], fold=fold[part]
        ).value
        for part in predictions.repeats
    ]
    # interval of the area
    larger = inflate(predictions, variance, areas)
    error = float(np.sqrt(larger * variance))
    effective = sizes[0] / larger, sizes[1] / larger
    degrees = spread.degrees_of_freedom
    limits = partial(intervals.area_interval, area, error, effective, degrees_of_freedom=degrees)
    form: Form = "score", limits, error
    if predictions.ranks_nothing.all():  # all samples are tied, so the area is always 1/2
        form = NO_FORM
    yield Measured("roc_auc", area, form, predictions.n_tested, label=label)
    weight = predictions.look_up(predictions.weight)
    precisions = [
        sk.average_precision_score(positive[part], score[part], sample_weight=weight[part])
        for part in predictions.repeats
    ]
    precision = min(1.0, float(np.mean(precisions)))  # rounding may exceed it
    variance = precision * (1 - precision) / sizes[0]
    larger = inflate(predictions, variance, precisions)
    n, error = sizes[0] / larger, float(np.sqrt(larger * variance))
    form = "wilson", partial(intervals.wilson_interval, precision * n, n), error
    yield Measured("average_precision", precision, form, counts[0], label=label)


def measure_scorer(predictions: Predictions, name: str) -> Measured:
    """Return the metric of a scorer: a mean loss, or the mean area of several classes."""
    row = row_of_scorer(name)
    if name == MEAN_AREA:
        return measure_mean_area(predictions)
    assert row is not None
    assert row.per_sample is not None
    true = predictions.look_up(predictions.target.y).astype(float)
    losses = row.per_sample(true, predictions.predicted)
    return measure_loss(predictions, name, losses, bounded=False, root=row.root)


def measure_mean_area(predictions: Predictions) -> Measured:
    """Return the mean over classes of the area of each class against the rest."""
    probabilities, target = predictions.probabilities, predictions.target
    assert probabilities is not None
    weight = predictions.weight
    codes, classes = predictions.look_up(target.codes), range(target.n_classes)

    def find_areas(part: Any) -> list[Area]:
        """Return the area of each class from pairs of samples of the same test set."""
        where = {"row": predictions.row[part], "fold": predictions.fit[part]}
        scores = probabilities[part]
        return [find_area(codes[part] == a, scores[:, a], weight, **where) for a in classes]

    areas = find_areas(slice(None))
    terms = [Term(slice(None), target.codes == a, weight) for a in classes]
    group = predictions.cases.unit if predictions.cases.clustered else None
    result = rank_terms(terms, weight, group, of_area=True, areas=areas)
    # the spread between repeats comes from the training sets
    values = [float(np.mean([a.value for a in find_areas(part)])) for part in predictions.repeats]
    larger = inflate(predictions, result.error**2, values)
    positives, negatives = result.sizes
    error, sizes = result.error * larger**0.5, (positives / larger, negatives / larger)
    area, degrees = result.value, result.degrees_of_freedom
    limits = partial(intervals.area_interval, area, error, sizes, degrees_of_freedom=degrees)
    form: Form = "score", limits, error
    if predictions.ranks_nothing.all():
        form = NO_FORM
    return Measured(MEAN_AREA, area, form, predictions.n_tested)


def measure_given_scores(
    predictions: Predictions, code: int, label: str | None
) -> Iterator[Measured]:
    """Yield area and average precision of existing scores, with intervals of `metric_interval`.

    There is no interval if a class has no sample or all samples have one score.
    """
    value, precision, of_area, of_precision = np.nan, np.nan, NO_FORM, NO_FORM
    sample = predictions.ranked if predictions.target.n_classes == 2 else predictions.rank(code)
    if sample is not None:
        # rounding may exceed 1
        value, precision = min(1.0, sample.area), min(1.0, sample.average_precision)
        if not predictions.ranks_nothing.all():
            of_area = "score", *sample.area_form(value)
            weight = None if np.ptp(sample.weight) == 0 else sample.weight
            positive = sample.positive.astype(int)
            of_class = Sample(positive, sample.score, precision, weight, predictions.group)
            forms = make_closed_forms(sk.average_precision_score, of_class)
            of_precision = next((name, *form) for name, form in forms.items())
    yield Measured("roc_auc", value, of_area, predictions.n_tested, label=label)
    n_positive = int(np.sum(predictions.target.codes == code))
    yield Measured("average_precision", precision, of_precision, n_positive, label=label)


def measure_numbers(predictions: Predictions) -> Iterator[Measured]:
    """Yield the metrics of a regressor."""
    # R2 is one minus the ratio of two mean squares
    true = predictions.look_up(predictions.target.y).astype(float)
    residual = true - predictions.predicted
    weight = predictions.look_up(predictions.weight)
    mean = float(np.average(true, weights=weight))  # some samples may not be tested
    total = float(np.average((true - mean) ** 2, weights=weight))
    squares = residual**2
    if total > 0:
        ratio = summarize_losses(predictions, squares)[0] / total
        # influence of each sample on the ratio of two means
        moved = (squares - ratio * (true - mean) ** 2) / total
        ratios = [mean_loss(TestLosses(squares[p], weight[p])) / total for p in predictions.repeats]
        _, error, degrees = summarize_losses(predictions, moved, ratios)
        # The variance about the mean of n samples is 1 - 1/n of that about the true one.
        unbiased = ratio * (1 - 1 / size_from_weights(predictions.weight))
        of_ratio = partial(intervals.log_interval, unbiased, error, degrees_of_freedom=degrees)
        limits: Callable[[float], Limits] = partial(intervals.mirrored, 1.0, of_ratio)
        if is_too_wide(unbiased, error, degrees):
            limits = intervals.give_no_limits
        yield Measured("r2", 1 - ratio, ("log", limits, error), predictions.n_tested)
    for row, reported in SHOWN:
        if row.per_sample is not None and row.response == "predict":
            losses = row.per_sample(true, predictions.predicted)
            yield measure_loss(predictions, reported.name, losses, bounded=False, root=row.root)


def measure_scorers(predictions: Predictions) -> Iterator[Measured]:
    """Yield the requested scores as means over the test sets.

    The variance is corrected for the overlap of training sets (Nadeau and Bengio 2003).
    """
    for name, scores in predictions.scores.items():
        # mean over the test sets where the score is defined
        values = scores[np.isfinite(scores)]
        mean = float(values.mean()) if len(values) else np.nan
        error = np.nan
        if len(values) > 1:
            error = corrected_error(values, predictions.test_train_ratio)
        limits: Callable[[float], Limits] = partial(
            intervals.normal_interval, mean, error, degrees_of_freedom=len(values) - 1
        )
        if len(values) < 2:
            limits = intervals.give_no_limits
        yield Measured(name, mean, ("corrected_t", limits, error), predictions.n_tested)
