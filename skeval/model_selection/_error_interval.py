"""One interval for the error, or for any score, of any procedure.

Metrics of out-of-fold predictions have intervals for the model trained on all samples. Their
variance is larger than for a test set, because the model varies with its training samples. For
error rates, the mean squared deviation of repeated cross-validation from the risk of the model is
`Predictions.inflation` times the variance of independent samples; all mean losses use it. Other
metrics may vary more with the training samples than with the tested samples, such as the explained
variance of a useless model, or the recall of a model that guesses. Their variance is at least the
variance of independent samples plus `BETWEEN` times the variance between repeats of the folds,
which comes from the training samples alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from functools import partial
from inspect import signature
from typing import Any, NamedTuple, Unpack, get_args, overload

import numpy as np
from numpy.random import SeedSequence
from sklearn import metrics as sk
from sklearn.base import is_classifier
from sklearn.exceptions import UndefinedMetricWarning

from skeval._adapters.fits import fit_each, score_each
from skeval._inference import intervals
from skeval._inference.areas import Area, Term, find_area, rank_terms, spread_of_areas
from skeval._inference.errors import (
    TestLosses,
    degrees_of_mean,
    is_too_wide,
    mean_loss,
    spread_of_mean,
)
from skeval._inference.estimate import ErrorExtra, Estimate, MetricExtra, Results
from skeval._inference.intervals import (
    Limits,
    corrected_error,
    give_no_limits,
    mirrored,
    size_from_weights,
)
from skeval._inference.tables import CountedClasses, count_cells, score_form
from skeval._resampling.fit_outputs import Loss, LossLike, losses_by_output, resolve_loss
from skeval._resampling.fit_request import (
    FitRequest,
    check_one_number,
    check_scorers,
    check_test_sets,
    find_response_method,
)
from skeval._resampling.inputs import FitOptions, Inputs, Params, read_weight, validate_inputs
from skeval._resampling.predictions import Predictions
from skeval.metrics._scorers import range_of, read_scoring, row_of_scorer
from skeval.metrics._table import BINARY, METRICS, REPORTED, Sample, arrange, make_closed_forms
from skeval.model_selection._estimates import find_mean_loss, label_parts, losses_of, to_score
from skeval.model_selection._interval_methods import (
    AUTO,
    ERROR_METHODS,
    FitMeans,
    average_repeats,
    average_subsamples,
    plan_repeats,
    plan_subsamples,
    predict_repeats,
)
from skeval.utils import _checks
from skeval.utils._checks import (
    ErrorMethodName,
    ErrorScore,
    FoldVariance,
    RandomStateLike,
    ScoreMethod,
    ignored_warnings,
)

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
    if predictions.cases.n_groups is None:
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
    group = None if predictions.cases.n_groups is None else unit
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
    group = None if predictions.cases.n_groups is None else predictions.cases.unit
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


def error_interval(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    method: ErrorMethodName = "auto",
    cv: Any = None,
    confidence_level: float = 0.95,
    loss: LossLike = None,
    groups: Any = None,
    params: Params = None,
    sample_weight: Any = None,
    n_folds: int | None = None,
    n_repeats: int | None = None,
    n_pairs: int | None = None,
    test_size: float | None = None,
    n_resamples: int | None = None,
    variance: FoldVariance | None = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
    error_score: ErrorScore = "raise",
) -> Estimate:
    r"""Estimate the error of a procedure on new samples, with a confidence interval.

    The default repeats 10-fold cross-validation five times. Its interval accounts for losses that
    share a model.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn classifier, regressor or pipeline. Selection and tuning belong inside it.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or any other input of the estimator: texts, or a square precomputed kernel.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Labels or numbers; several columns are several labels or numbers of each sample.
    method : str, default="auto"
        "auto" is "repeated_cv"; the other methods are listed in the Notes.
    cv : int, splitter or iterable of (train, test), default=None
        Folds. A number of folds is shuffled with `random_state`, stratified by class, and keeps
        groups together. They are the folds of "cross_validation" or "repeated_cv", instead of
        `n_folds`. A number of folds, or a splitter with ``shuffle=True``, draws new folds for each
        repeat. All other folds are used as they are, and the method of the result is "given_folds":
        the error is then the error of `cross_val_error` on these folds. Samples that no test set
        separates count as one unit, unless the splitter assigns samples to folds at random or the
        folds consist of `groups`.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    loss : str or callable, default=None
        "zero_one", "squared" or "absolute"; "log_loss" or "brier", of the probabilities of a
        classifier; or any loss of predictions, ``(y_true, y_pred) -> (n,)``. None means 0-1 loss
        for classifiers and squared error for regressors. With several columns of `y`: "hamming",
        the share of wrong labels of a sample (the default), "zero_one", whether any is wrong, or
        the mean over columns of "squared" or "absolute".
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as the patient. Groups are never split. Intervals count groups
        instead of samples, with Student's t quantile.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as in scikit-learn's ``cross_validate``. Arrays
        with one value per sample are split with the samples.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. They must be positive and are used in every fit and in the means of the
        losses. The bootstrap methods do not support them.
    n_folds : int, default=None
        Number `K` of folds; None is 5 for "nested_cv" and 10 for "repeated_cv", "cv_wald" and
        "perturbation", or fewer if the most frequent class has fewer
        members, or is in fewer groups.
    n_repeats : int, default=None
        Number of repeats; None is 5 for "repeated_cv", 10 for "nested_cv", 50 subsamplings for
        "corrected_t" and 15 for "conservative_z".
    n_pairs : int, default=None
        Number `M` of pairs of halves of "conservative_z"; None is 10.
    test_size : float or int, default=None
        Share or number of samples (or groups) that a subsampling tests on; None is a third for
        "holdout", a tenth for "corrected_t" and "conservative_z".
    n_resamples : int, default=None
        Number of resamples or perturbations; None is 200.
    variance : {"all_pairs", "within_folds"}, default=None
        The variance of "cv_wald"; None is "all_pairs".
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws; an int gives the same result in each call.
    n_jobs : int, default=None
        Number of joblib workers; results do not depend on it.
    verbose : int, default=0
        1 shows progress; larger values add joblib's messages.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits: an interrupted run that is repeated with an int as `random_state`
        does only the remaining ones; see :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        What to do if a fit fails: raise an error that names the fit, or leave it out, count it and
        warn.

    Returns
    -------
    Estimate
        `replicates` has the errors of the folds, subsamples, repeats or resamples; for "holdout",
        the losses. `interval` has the form that suits the loss and the method.
        ``confidence_interval(method=)`` accepts all `interval_methods`: the forms of
        `cross_val_error`, and "t" instead of "normal" for Student's quantile. In `extra`, `n_fits`
        and `n_failed` count the fits, `parameters` has the parameters of the method, and
        `no_interval` the reason if there is no interval. With several columns of `y`, `by_output`
        has the error of each, on the same folds.

    Raises
    ------
    TypeError
        If weights are passed, or the method is "perturbation", and the estimator does not accept
        weights.
    ValueError
        If the method does not take a parameter that is passed; if there are too few samples, groups
        or members of a class; or if a fit fails. The error then names the method, the fold and the
        rarest class of its training set.

    Notes
    -----
    ======================  ======================================================================
    "repeated_cv"           repeated cross-validation and Jeffreys' interval, with the variance
                            multiplied by an inflation estimated from the repeats
    "cross_validation"      the interval of `cross_val_error`
    "leave_one_out"         the same with a fold for each sample or group
    "resubstitution"        the training error, not the error on new samples
    "holdout"               one split
    "cv_wald"               one cross-validation, as if losses were independent [1]_
    "corrected_t"           random subsamplings [2]_
    "conservative_z"        subsamplings of the samples and of pairs of disjoint halves [2]_
    "nested_cv"             nested folds [3]_
    "oob", ".632", ".632+"  `bootstrap_error` [4]_
    "perturbation"          `perturbation_interval` [5]_
    ======================  ======================================================================

    :doc:`/user_guide/formulas` has the formulas and :doc:`/validation` the measured coverage.
    Coverage is too low for log loss if a probability may be 0, and for least squares with as many
    features as samples.

    The draws do not depend on the names of the classes, but on the order of the samples.

    References
    ----------
    .. [1] Bayle, P., Bayle, A., Janson, L. and Mackey, L. (2020). Cross-validation confidence
       intervals for test error. Advances in Neural Information Processing Systems 33.
       :doi:`10.48550/arXiv.2007.12671`
    .. [2] Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine
       Learning 52, 239-281. :doi:`10.1023/A:1024068626366`
    .. [3] Bates, S., Hastie, T. and Tibshirani, R. (2024). Cross-validation: what does it estimate
       and how well does it do it? Journal of the American Statistical Association 119, 1434-1445.
       :doi:`10.1080/01621459.2023.2197686`
    .. [4] Efron, B. and Tibshirani, R. (1997). Improvements on cross-validation: the .632+
       bootstrap method. Journal of the American Statistical Association 92, 548-560.
       :doi:`10.1080/01621459.1997.10474007`
    .. [5] Jiang, B., Zhang, X. and Cai, T. (2008). Estimating the confidence interval for
       prediction errors of support vector machine classifiers. Journal of Machine Learning
       Research 9, 521-540.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from skeval.model_selection import error_interval
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> result = error_interval(RidgeClassifier(), X, y, random_state=0)
    >>> print(result)
    error rate (repeated_cv)
      value              0.0425
      standard error     0.0095
      95 % interval      [0.0267, 0.0642] (jeffreys)
      samples            569
      loss               zero_one
      effective samples  450.1
      fits               50
    >>> print(result.confidence_interval(0.9))
    [0.0290, 0.0604] (90 %, jeffreys)
    """
    _checks.check_option("method", method, ("auto", *ERROR_METHODS))
    method = AUTO if method == "auto" else method
    run = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory, "error_score": error_score}
    run |= {"confidence_level": confidence_level}
    inputs = validate_inputs(
        estimator, X, y, groups, loss=loss, params=params, method=method, several=True, **run
    )
    inputs = inputs.with_options(weight=read_positive_weight(inputs, sample_weight))
    parameters = take_parameters(
        method,
        cv=cv,
        n_folds=n_folds,
        n_repeats=n_repeats,
        n_pairs=n_pairs,
        test_size=test_size,
        n_resamples=n_resamples,
        variance=variance,
    )
    root, row = _checks.root_seed(random_state), ERROR_METHODS[method]
    if not inputs.target.outputs:
        return row.estimate(inputs, root, **parameters)
    # the error over all outputs, and of each output on the same folds or resamples
    if row.shares_fits:
        inputs = inputs.with_options(finished=[])
    estimate = row.estimate(inputs, deepcopy(root), **parameters)
    by_output = {
        name: row.estimate(inputs.with_options(losses=(own,)), deepcopy(root), **parameters)
        for name, own in losses_by_output(inputs.loss, inputs.target).items()
    }
    return replace(estimate, extra=replace(estimate.extra, by_output=Results(by_output)))


def take_parameters(method: str, **parameters: Any) -> dict[str, Any]:
    """Return the parameters that are not None; raise if the method does not take one of them."""
    # the signature of a method lists its parameters
    takes = signature(ERROR_METHODS[method].estimate).parameters
    parameters = {name: value for name, value in parameters.items() if value is not None}
    for name, value in parameters.items():
        if name not in takes:
            accepted = list(takes)[2:]
            raise ValueError(
                f"{name} is not a parameter of method={method!r}, which accepts "
                f"{' and '.join(accepted) or 'no parameters'}; got {value!r}."
            )
    return parameters


def read_positive_weight(inputs: Inputs, sample_weight: Any) -> np.ndarray | None:
    """Return the weights of the samples, or None; raise if the method does not support them."""
    if sample_weight is None:
        return None
    if not ERROR_METHODS[inputs.method].takes_weights:
        able = ", ".join(repr(name) for name, row in ERROR_METHODS.items() if row.takes_weights)
        raise ValueError(
            f"sample_weight must be None for method={inputs.method!r}, which draws samples in "
            f"proportion to their number; methods that support weights are {able}."
        )
    _checks.refuse_shuffled_index(inputs.X, {"sample_weight": sample_weight})
    weights = read_weight(inputs.estimator, sample_weight, inputs.params, len(inputs.target))
    if weights.min() == 0:
        raise ValueError("sample_weight must be > 0, got 0; leave out samples with zero weight.")
    return weights


Score = Callable[..., float]
Several = list[str] | tuple[str, ...] | Mapping[str, Any]


class ScoreOptions(FitOptions, total=False):
    """Options of `score_interval` other than `scoring`, which determines the type of the result."""

    method: ScoreMethod
    n_folds: int | None
    n_repeats: int | None
    test_size: float | int | None


@overload
def score_interval(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    scoring: str | Score | None = None,
    **options: Unpack[ScoreOptions],
) -> Estimate: ...
@overload
def score_interval(
    estimator: Any, X: Any, y: Any, *, scoring: Several, **options: Unpack[ScoreOptions]
) -> Results: ...
def score_interval(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    scoring: Any = None,
    method: ScoreMethod = AUTO,
    confidence_level: float = 0.95,
    groups: Any = None,
    params: Params = None,
    sample_weight: Any = None,
    n_folds: int | None = None,
    n_repeats: int | None = None,
    test_size: float | int | None = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
    error_score: ErrorScore = "raise",
) -> Estimate | Results:
    r"""Return the score that a procedure will have on new samples, with a confidence interval.

    Takes any scorer, or several from one set of fits. The default "repeated_cv" repeats
    cross-validation as `error_interval` does, and treats a score according to its kind:

    - scores that are mean losses ("accuracy", "neg_log_loss", "neg_brier_score",
      "neg_mean_squared_error", "neg_mean_absolute_error") are computed as the error, with the sign
      changed;
    - "balanced_accuracy", "f1_macro", "matthews_corrcoef", "roc_auc_ovr", "r2",
      "neg_root_mean_squared_error", other means of losses of numbers, such as
      "neg_mean_absolute_percentage_error", and, for two classes, "roc_auc", "average_precision",
      "f1", "precision" and "recall" are computed from all tested samples of a repeat together
      (areas only compare samples of the same test set). The variance of independent samples is
      inflated as for the error, or more if the score differs between repeats;
    - any other score is averaged over the test sets, with the interval of "corrected_t".

    With :math:`\mu_j` the scores of `J` random subsamplings that train on :math:`n_1` and test on
    :math:`n_2` samples, "corrected_t" [1]_ is

    .. math:: \bar\mu \mp t_{J-1}\, sd(\mu) \sqrt{1/J + n_2/n_1} .

    Larger is better.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn classifier, regressor or pipeline. Selection and tuning belong inside it.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or any other input of the estimator: texts, or a square precomputed kernel.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Labels or numbers; several columns are several labels or numbers of each sample.
    scoring : str, callable, list, tuple or dict, default=None
        One score or several, as in scikit-learn's ``cross_validate``; larger is better. None is
        "accuracy" for classifiers and "r2" for regressors.
    method : {"repeated_cv", "corrected_t"}, default="repeated_cv"
        The method; see `error_interval` for others of mean losses.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as the patient. Groups are never split.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as in scikit-learn's ``cross_validate``.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. They must be positive and are used in every fit and in everything that is
        computed from single samples; scores of fits are not weighted.
    n_folds, n_repeats : int, default=None
        Parameters of the method, as in `error_interval`.
    test_size : float or int, default=None
        Share or number of samples (or groups) in the test set of a subsampling.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws; an int gives the same result in each call.
    n_jobs : int, default=None
        Number of joblib workers; results do not depend on it.
    verbose : int, default=0
        1 shows progress; larger values add joblib's messages.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits: an interrupted run that is repeated with an int as `random_state`
        does only the remaining ones; see :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        What to do if a fit fails: raise an error that names it, or leave it out, count it and warn.

    Returns
    -------
    Estimate or dict
        An estimate, or one per name for several scores. Its `name` is the name of the score,
        followed by "()" if the score is a function; `replicates` contains the scores of folds,
        subsamples or repeats, and is empty for a score of all samples together; `n_undefined` is
        the number of fits that were left out because they failed or their score is undefined.

    Raises
    ------
    ValueError
        If the method does not take a parameter that is passed, or if a fit fails; the error names
        the method, the fold and the rarest class.

    Warns
    -----
    UndefinedMetricWarning
        If a score is undefined for some fits, which are left out; or if it is the same for all
        fits, so that the limits are nan.

    Notes
    -----
    "corrected_t" covers less on small test sets, where R2 is too low on average. :doc:`/validation`
    compares both methods. Intervals of R2 are too short for log-normal targets and rare outliers.

    Intervals of scikit-learn's named scores are clipped to the range of the score. In a small data
    set, a test set with a tenth of the samples may contain a single class. The area under the curve
    is then undefined for "corrected_t": increase `test_size`.

    References
    ----------
    .. [1] Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine
       Learning 52, 239-281. :doi:`10.1023/A:1024068626366`

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skeval.model_selection import score_interval
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> results = score_interval(
    ...     GaussianNB(), X, y, scoring=["roc_auc", "f1"], random_state=0
    ... )
    >>> print(results["roc_auc"])
    roc_auc (repeated_cv)
      value           0.9886
      standard error  0.0038
      95 % interval   [0.9779, 0.9941] (score)
      samples         569
      undefined       0
      fits            50
    """
    # validated inputs; scikit-learn's scorers use the second of two classes
    _checks.check_option("method", method, get_args(ScoreMethod))
    run = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory, "error_score": error_score}
    run |= {"confidence_level": confidence_level}
    inputs = validate_inputs(
        estimator, X, y, groups, with_loss=False, params=params, method=method, several=True, **run
    )
    inputs = inputs.with_options(weight=read_positive_weight(inputs, sample_weight))
    classes = inputs.target.classes
    if classes is not None and len(classes) == 2:  # scikit-learn's scorers use the second class
        inputs = inputs.with_options(target=inputs.target.with_positive(classes.tolist()[1]))
    if scoring is None:
        scoring = "accuracy" if is_classifier(estimator) else "r2"
    parameters = take_parameters(method, n_folds=n_folds, n_repeats=n_repeats, test_size=test_size)
    # all scores from one set of fits
    read_scoring(estimator, scoring)  # raises before anything is fitted
    labels, root = label_parts(scoring), _checks.root_seed(random_state)
    if method == AUTO:
        results = score_repeats(inputs, scoring, labels, root, parameters)
    else:
        results = score_subsamples(inputs, scoring, labels, root, parameters)
    if isinstance(scoring, list | tuple | set | dict):
        return Results({name: results[name] for name in labels})
    return results.popitem()[1]


ANY = Loss("", np.subtract)
"""Placeholder for the loss of a score that is not a mean loss, without bounds."""


def score_subsamples(
    inputs: Inputs,
    scoring: Any,
    labels: dict[str, str],
    root: SeedSequence,
    parameters: dict[str, Any],
) -> dict[str, Estimate]:
    """Return scores by the corrected t of subsamplings, all from the same fits."""
    parameters = {"n_repeats": 50, "test_size": 0.1} | parameters
    plan, ratio = plan_subsamples(inputs, root, **parameters)
    scores, results = score_each(inputs, plan, scoring, skip_undefined=True), {}
    for name, label in labels.items():
        of_score = inputs.with_options(losses=(loss_of_score(inputs, label),))
        error = average_subsamples(of_score, take_score(scores, name, label), ratio, parameters)
        results[name] = score_of_error(inputs, label, error)
    return results


def loss_of_score(inputs: Inputs, label: str) -> Loss:
    """Return the loss of a score that is a mean loss, otherwise a placeholder."""
    mean = find_mean_loss(label)
    return ANY if mean is None else resolve_loss(mean.loss, inputs.target)


def take_score(scores: list[Any], name: str, label: str) -> FitMeans:
    """Return one score of each fit, or its mean loss if it has one; undefined scores are nan."""
    # the numbers of this score
    of_name = [score[name] if isinstance(score, dict) else score for score in scores]
    for score in of_name:
        check_one_number(name, score)
    values = np.array(of_name, dtype=float)
    values[~np.isfinite(values)] = np.nan
    mean = find_mean_loss(label)
    return FitMeans(values if mean is None else mean.best - values, np.nan, 0)


def score_repeats(
    inputs: Inputs,
    scoring: Any,
    labels: dict[str, str],
    root: SeedSequence,
    parameters: dict[str, Any],
) -> dict[str, Estimate]:
    """Return the scores of repeated cross-validation by name, all from the same fits.

    Mean losses are errors, as in `error_interval`. Metrics of `measure_metrics` use all tested
    samples of a repeat together, and any other score is the mean over the test sets.
    """
    parts = scoring if isinstance(scoring, dict) else dict.fromkeys(labels, scoring)
    if isinstance(scoring, list | tuple | set):
        parts = dict(zip(labels, scoring, strict=True))
    # three kinds of scores: mean losses, metrics of all tested samples, others
    reported = {name: find_reported(inputs, label) for name, label in labels.items()}
    errors = {name: label for name, label in labels.items() if find_mean_loss(label)}
    others = {n: label for n, label in labels.items() if n not in errors and reported[n] is None}
    losses = losses_of(inputs, errors)

    # one set of fits, which also returns the other scores
    inputs = inputs.with_options(losses=(resolve_loss(None, inputs.target),))
    folds = plan_repeats(inputs, root, **parameters)
    plan, request = folds.plan, FitRequest()
    if others:
        scorers = {name: parts[name] for name in others}
        request = FitRequest.for_scores(inputs.estimator, scorers)
        check_scorers(inputs, request.scorers(inputs.target))
        check_test_sets(inputs, plan, request.scorers(inputs.target), skip_undefined=True)
    outputs = list(fit_each(inputs, plan, request))

    # means of losses, with the sign changed
    results = {}
    for (name, label), loss in zip(errors.items(), losses, strict=True):
        of_loss = folds._replace(inputs=inputs.with_options(losses=(loss,)))
        results[name] = score_of_error(inputs, label, average_repeats(of_loss, outputs))
    scores = [np.nan if one is None or one.scores is None else one.scores[0] for one in outputs]
    shown = {"n_folds": plan.n_folds, "n_repeats": plan.n_repeats}
    # any other score: the mean over test sets, corrected for the overlap of training sets
    for name, label in others.items():
        of_score = inputs.with_options(losses=(loss_of_score(inputs, label),))
        means, ratio = take_score(scores, name, label), 1 / (plan.n_folds - 1)
        error = average_subsamples(of_score, means, ratio, shown)
        results[name] = score_of_error(inputs, label, error)
    # metrics of all tested samples of a repeat together
    if len(results) < len(labels):
        predictions = predict_repeats(inputs, plan, outputs)
        also = {label for n, label in labels.items() if reported[n] == label} - REPORTED.keys()
        metrics = measure_metrics(predictions, inputs.confidence_level, also=also)
        for name in labels.keys() - results.keys():
            warn_left_out(labels[name], outputs.count(None), len(outputs))
            metric = metrics.get(reported[name] or "")
            extra = ErrorExtra(
                n_fits=plan.n_fits, n_undefined=outputs.count(None), parameters=shown
            )
            results[name] = score_of_metric(inputs, labels[name], metric, extra)
    return results


def find_reported(inputs: Inputs, label: str) -> str | None:
    """Return the name of a scorer's metric in `measure_metrics`, or None."""
    # the row of the metric, and the responses and classes it requires
    row, each = row_of_scorer(label), REPORTED.get(label.removeprefix("neg_"))
    if inputs.target.outputs or row is None:
        return None
    classes = None if inputs.target.classes is None else inputs.target.classes.tolist()
    if each not in row.reported:  # not in reports
        mean_loss = classes is None and row.of_numbers and row.per_sample is not None
        mean_area = label == MEAN_AREA and len(classes or ()) > 2
        pooled = mean_loss or (mean_area and "predict_proba" in inputs.responses)
        return label if pooled else None
    if classes is None or row.of_numbers:
        return each.name if classes is None and row.of_numbers else None
    if row.response != "predict" and find_response_method(inputs.estimator, inputs.target) is None:
        return None
    if row.targets == BINARY and len(classes) != 2:
        return None
    # scikit-learn's metrics of a class are those of class 1
    positive = each.of_class or (row.targets == BINARY and "pos_label" in row.keywords)
    if positive and (len(classes) != 2 or classes[1] != 1):  # scikit-learn's positive class
        return None
    return f"{each.name}, {classes[1]}" if each.of_class else each.name


def score_of_metric(
    inputs: Inputs, label: str, metric: Estimate | None, extra: ErrorExtra
) -> Estimate:
    """Return a metric of out-of-fold predictions as a score; larger is better."""
    # a score of a loss has the opposite sign
    value, standard_error, limits = np.nan, np.nan, {"none": give_no_limits}
    if metric is not None:
        value, standard_error, limits = metric.value, metric.standard_error, dict(metric.limits)
    if label.startswith("neg_"):
        value = -value
        limits = {form: partial(mirrored, 0.0, ends) for form, ends in limits.items()}
    result = Estimate(
        name=label,
        value=value,
        standard_error=standard_error,
        method=AUTO,
        limits=limits,
        n_samples=len(inputs.target),
        n_groups=inputs.units.n_groups,
        extra=extra,
        confidence_level=inputs.confidence_level,
        bounds=range_of(label, inputs.target.n_classes or None),
    )
    if not np.isfinite(result.interval.low):
        _checks.warn_undefined(
            f"scoring {label!r} is {value:.4g} and has no interval: it is undefined for these "
            "predictions, or does not vary."
        )
    return result


def warn_left_out(label: str, n_undefined: int, n_fits: int) -> None:
    """Warn if a score is undefined for some fits."""
    if n_undefined:
        _checks.warn_undefined(
            f"scoring {label!r} is undefined for {n_undefined} of {n_fits} fits, which are "
            "left out; a larger test_size may help if test sets contain one class."
        )


def score_of_error(inputs: Inputs, label: str, error: Estimate) -> Estimate:
    """Return a score from its mean loss, or from the mean of the score itself."""
    n_undefined = error.extra.n_failed or int(np.isnan(error.replicates).sum())
    warn_left_out(label, n_undefined, error.extra.n_fits or 0)
    return to_score(
        inputs,
        label,
        error,
        n_samples=len(inputs.target),
        n_groups=inputs.units.n_groups,
        extra=replace(error.extra, n_undefined=n_undefined),
    )
