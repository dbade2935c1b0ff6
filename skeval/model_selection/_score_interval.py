"""Interval for any score of any procedure.

A score that is a mean of losses has the interval of this loss. A metric of all tested samples has
the interval of its row in `METRICS`. Any other score is averaged over test sets. Intervals of
out-of-fold predictions are for the model trained on all samples. They are wider than for a test
set, because the model varies with its training samples (see `Sample.inflate`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple, Unpack, get_args, overload

import numpy as np
from numpy.random import SeedSequence
from sklearn.base import is_classifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import matthews_corrcoef

from skeval._adapters.runner import Runner, score_each, split_by_metric
from skeval._inference import intervals
from skeval._inference.estimate import ErrorExtra, Estimate, MetricExtra, Results
from skeval._inference.tables import Cells, ConfusionTable, CountedClasses, count_cells, score_form
from skeval._resampling import fit_request
from skeval._resampling.fit_request import FitRequest
from skeval._resampling.inputs import (
    FitOptions,
    Inputs,
    Loss,
    Params,
    resolve_loss,
    validate_inputs,
)
from skeval._resampling.predictions import Predictions
from skeval.metrics import _table
from skeval.metrics._scorers import range_of, read_scoring, row_of_scorer
from skeval.metrics._table import Arguments, Folds, Forms, Metric, Sample
from skeval.model_selection import _interval_methods
from skeval.model_selection._estimates import NamedScore, losses_of, name_scores, to_score
from skeval.utils import _checks
from skeval.utils._checks import ErrorScore, RandomStateLike, ignored_warnings
from skeval.utils._text import name_of

ScoreMethod = Literal["repeated_cv", "corrected_t"]

One = str | Callable[..., float] | None
Several = list[str] | tuple[str, ...] | set[str] | dict[str, Any]


class ScoreOptions(FitOptions, total=False):
    """Options of `score_interval` other than `scoring`, which determines the type of the result."""

    method: ScoreMethod
    n_folds: int | None
    n_repeats: int | None
    test_size: float | int | None


@overload
def score_interval(
    estimator: Any, X: Any, y: Any, *, scoring: One = None, **options: Unpack[ScoreOptions]
) -> Estimate: ...
@overload
def score_interval(
    estimator: Any, X: Any, y: Any, *, scoring: Several, **options: Unpack[ScoreOptions]
) -> Results: ...
@_checks.in_order()
def score_interval(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    scoring: Any = None,
    method: ScoreMethod = _interval_methods.AUTO,
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

    Any scorer is supported, and several scores share one set of fits. The default "repeated_cv"
    repeats cross-validation as `error_interval` does. There are three kinds of scores:

    - Scores that are mean losses are computed as in `error_interval`, with the opposite sign.
      These are "accuracy", "neg_log_loss", "neg_brier_score", "neg_mean_squared_error" and
      "neg_mean_absolute_error".
    - Some scores are computed from all tested samples of a repeat together (areas compare only
      samples of the same test set). The variance of independent samples is inflated as for the
      error, or more if the score differs between repeats. These scores are "balanced_accuracy",
      "f1_macro", "matthews_corrcoef", "roc_auc_ovr", "r2", "neg_root_mean_squared_error" and other
      means of regression losses, such as "neg_mean_absolute_percentage_error". For two classes,
      they include "roc_auc", "average_precision", "f1", "precision" and "recall".
    - Any other score is averaged over the test sets, with the interval of "corrected_t".

    With :math:`\mu_j` the scores of `J` random subsamples that train on :math:`n_1` and test on
    :math:`n_2` samples, "corrected_t" [1]_ is

    .. math:: \bar\mu \mp t_{J-1}\, sd(\mu) \sqrt{1/J + n_2/n_1} .

    Larger is better.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn classifier, regressor or pipeline. Feature selection and tuning must be
        part of it.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or any other input of the estimator, such as texts, or a square precomputed kernel.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Class labels or numeric targets. Several columns are several outputs for each sample.
    scoring : str, callable, list, tuple or dict, default=None
        One score or several, as in scikit-learn's ``cross_validate``. Larger is better. None means
        "accuracy" for classifiers and "r2" for regressors.
    method : {"repeated_cv", "corrected_t"}, default="repeated_cv"
        The method. See `error_interval` for other methods, which support mean losses.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as the patient. Groups are never split.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as in scikit-learn's ``cross_validate``.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. They must be positive. They are used in every fit and in all results for
        single samples. The scores of single folds are computed without weights.
    n_folds, n_repeats : int, default=None
        Parameters of the method, as in `error_interval`.
    test_size : float or int, default=None
        Fraction or number of samples (or groups) in the test set of a subsample.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call.
    n_jobs : int, default=None
        Number of joblib workers. Results do not depend on it.
    verbose : int, default=0
        1 shows progress. Larger values add joblib's messages.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits. If `random_state` is an int, a repeated call after an interruption
        computes only the remaining fits. See :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        Treatment of a failed fit. "raise" raises an error that names it. ``numpy.nan`` omits the
        fit, counts it and warns.

    Returns
    -------
    Estimate or dict
        One estimate, or a dict with one for each name if there are several scores. `name` is the
        name of the score, followed by "()" if the score is a function. `replicates` contains the
        scores of folds, subsamples or repeats. It is empty for a score of all samples together.
        `n_undefined` is the number of fits that were omitted because they failed or their score is
        undefined.

    Raises
    ------
    ValueError
        If a parameter is passed that the method does not use, or if a fit fails. The message names
        the method, the fold and the rarest class.

    Warns
    -----
    UndefinedMetricWarning
        If a score is undefined for some fits, which are omitted. If a score is the same for all
        fits, because the limits are then nan.

    Notes
    -----
    The coverage of "corrected_t" is lower on small test sets, where R2 is too low on average.
    :doc:`/validation` compares both methods. Intervals of R2 are too narrow for log-normal targets
    and rare outliers. Intervals of scikit-learn's named scores are clipped to the range of the
    score. In a small data set, a test set with a tenth of the samples may contain a single class.
    The area under the curve is then undefined for "corrected_t", so increase `test_size`.

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
      value           0.9882
      standard error  0.0038
      95 % interval   [0.9778, 0.9937] (score)
      samples         569
      undefined       0
      fits            20
    """
    # validated inputs; scikit-learn's scorers use the second of two classes
    _checks.check_option("method", method, get_args(ScoreMethod))
    run = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory, "error_score": error_score}
    run |= {"with_loss": False, "method": method, "confidence_level": confidence_level}
    inputs = validate_inputs(estimator, X, y, groups, params=params, several=True, **run)
    inputs = _interval_methods.add_positive_weight(inputs, sample_weight)
    classes = inputs.target.classes
    if classes is not None and len(classes) == 2:  # scikit-learn's scorers use the second class
        inputs = inputs.with_options(target=inputs.target.with_positive(classes.tolist()[1]))
    if scoring is None:
        scoring = "accuracy" if is_classifier(estimator) else "r2"
    parameters = _interval_methods.take_parameters(
        method, n_folds=n_folds, n_repeats=n_repeats, test_size=test_size
    )
    # all scores from one set of fits
    read_scoring(estimator, scoring)  # raises before anything is fitted
    scores, root = name_scores(scoring), _checks.root_seed(random_state)
    if method == _interval_methods.AUTO:
        results = score_repeats(inputs, scores, root, parameters)
    else:
        parameters = {"n_repeats": 50, "test_size": 0.1} | parameters
        plan, ratio = _interval_methods.plan_subsamples(inputs, root, **parameters)
        scorers = {name: score.scoring for name, score in scores.items()}
        values = score_each(Runner(inputs), plan, scorers, skip_undefined=True)
        results = {
            name: average_scores(inputs, score, values[name], ratio, parameters)
            for name, score in scores.items()
        }
    if isinstance(scoring, list | tuple | set | dict):
        return Results({name: results[name] for name in scores})
    return results.popitem()[1]


ANY = Loss("", np.subtract)
"""Placeholder for the loss of a score that is not a mean loss, without bounds."""


def average_scores(
    inputs: Inputs,
    score: NamedScore,
    of_fits: np.ndarray,
    test_train_ratio: float,
    parameters: dict[str, Any],
) -> Estimate:
    """Return the mean of one score over fits, corrected for the overlap of training sets."""
    means = np.where(np.isfinite(of_fits), of_fits, np.nan)
    n_undefined = int(np.isnan(means).sum())
    if inputs.error_score != "raise" and len(means) - n_undefined < 2:
        extra = ErrorExtra(n_fits=len(means), n_undefined=n_undefined)
        return score_of_metric(inputs, score, None, extra)
    # a mean loss has the interval of this loss
    loss = ANY if score.mean is None else resolve_loss(score.mean.loss, inputs.target)
    means = means if score.mean is None else score.mean.best - means
    of_loss = inputs.with_options(losses=(loss,))
    error = _interval_methods.average_subsamples(of_loss, means, test_train_ratio, parameters)
    return score_of_error(inputs, score, error)


def score_repeats(
    inputs: Inputs, scores: dict[str, NamedScore], root: SeedSequence, parameters: dict[str, Any]
) -> dict[str, Estimate]:
    """Return the scores of repeated cross-validation, all from the same fits.

    Mean losses are errors, as in `error_interval`. Metrics of `measure_metrics` use all tested
    samples of a repeat together. Any other score is the mean over the test sets.
    """
    # three kinds of scores: mean losses, metrics of all tested samples, others
    reported = {name: find_reported(inputs, score.label) for name, score in scores.items()}
    errors = {name: score for name, score in scores.items() if score.mean}
    others = {name: s for name, s in scores.items() if name not in errors and not reported[name]}
    losses = losses_of(inputs, errors.values())

    # one set of fits, which also returns the other scores
    inputs = inputs.with_options(losses=(resolve_loss(None, inputs.target),))
    folds, request = _interval_methods.plan_repeats(inputs, root, **parameters), FitRequest()
    if others:
        scorers = {name: score.scoring for name, score in others.items()}
        request = FitRequest.for_scores(inputs.estimator, scorers, inputs.error_score == "raise")
        fit_request.check_scorers(inputs, request.scorers)
        fit_request.check_test_sets(inputs, folds.plan, request.scorers, skip_undefined=True)
    folds, outputs = _interval_methods.fit_repeats(Runner(inputs), folds, request)
    plan = folds.plan

    # means of losses, with the sign changed
    results = {}
    for (name, score), loss in zip(errors.items(), losses, strict=True):
        of_loss = folds._replace(inputs=inputs.with_options(losses=(loss,)))
        error, _ = _interval_methods.collect_repeats(of_loss, outputs)
        results[name] = score_of_error(inputs, score, error)
    # any other score: the mean over test sets
    of_fits = split_by_metric({} if one is None else (one.scores or [{}])[0] for one in outputs)
    shown = {"n_folds": plan.n_folds, "n_repeats": plan.n_repeats}
    for name, score in others.items():
        results[name] = average_scores(inputs, score, of_fits[name], 1 / (plan.n_folds - 1), shown)
    # metrics of all tested samples of a repeat together
    if len(results) < len(scores):
        predictions = _interval_methods.predict_repeats(inputs, plan, outputs)
        also = {s.label for n, s in scores.items() if reported[n] == s.label}
        also -= _table.REPORTED.keys()
        only = {reported[name] for name in scores.keys() - results.keys()}
        metrics = measure_metrics(predictions, inputs.confidence_level, only, also)
        n_failed = outputs.count(None)
        extra = ErrorExtra(n_fits=plan.n_fits, n_undefined=n_failed, parameters=shown)
        for name in scores.keys() - results.keys():
            warn_left_out(scores[name].label, n_failed, len(outputs))
            metric = metrics.get(reported[name] or "")
            results[name] = score_of_metric(inputs, scores[name], metric, extra)
    return results


def find_reported(inputs: Inputs, label: str, at: int | None = None) -> str | None:
    """Return the name of a scorer's metric in `measure_metrics`, or None.

    `at` is the index of the positive class of the scorers, if it is not 1, as in scikit-learn.
    """
    # the row of the metric, and the responses and classes it requires
    row, each = row_of_scorer(label), _table.REPORTED.get(label.removeprefix("neg_"))
    if inputs.target.outputs or row is None:
        return None
    classes = None if inputs.target.classes is None else inputs.target.classes.tolist()
    if each not in row.reported:  # not in reports
        mean_loss = classes is None and row.of_numbers and row.per_sample is not None
        mean_area = label == MEAN_AREA and len(classes or ()) > 2
        pooled = mean_loss or (mean_area and "predict_proba" in inputs.responses)
        return label if pooled else None
    # metrics of numbers belong to numeric targets only
    if classes is None or row.of_numbers:
        return each.name if classes is None and row.of_numbers else None
    # metrics of scores and probabilities need a model that returns them
    responds = fit_request.find_response_method(inputs.estimator, inputs.target) is not None
    if row.response != "predict" and not responds:
        return None
    if row.targets == _table.BINARY and len(classes) != 2:
        return None
    # metrics of a class are those of the positive class, which is 1 for scikit-learn
    positive = row.targets == _table.BINARY and "pos_label" in row.supported
    if (each.of_class or positive) and (len(classes) != 2 or (at is None and classes[1] != 1)):
        return None
    return name_of(each.name, classes[1 if at is None else at]) if each.of_class else each.name


def score_of_metric(
    inputs: Inputs, score: NamedScore, metric: Estimate | None, extra: ErrorExtra
) -> Estimate:
    """Return a metric of out-of-fold predictions as a score. Larger is better."""
    # a score of a loss has the opposite sign
    value, standard_error, limits = np.nan, np.nan, {"none": intervals.give_no_limits}
    # without a metric, the score is undefined
    if metric is not None:
        value, standard_error, limits = metric.value, metric.standard_error, dict(metric.limits)
    if score.label.startswith("neg_"):
        value = -value
        limits = {form: partial(intervals.mirrored, 0.0, ends) for form, ends in limits.items()}
    result = Estimate(
        name=score.label,
        value=value,
        standard_error=standard_error,
        method=_interval_methods.AUTO,
        limits=limits,
        n_samples=len(inputs.target),
        n_groups=inputs.units.n_groups,
        extra=extra,
        confidence_level=inputs.confidence_level,
        bounds=score.bounds(inputs.target.n_classes),
    )
    if not np.isfinite(result.interval.low):
        _checks.warn_undefined(
            f"scoring {score.label!r} is {value:.4g} and has no interval, because it is undefined "
            "for these predictions or does not vary."
        )
    return result


def warn_left_out(label: str, n_undefined: int, n_fits: int) -> None:
    """Warn if a score is undefined for some fits."""
    if n_undefined:
        _checks.warn_undefined(
            f"scoring {label!r} is undefined for {n_undefined} of {n_fits} fits, which are "
            "left out. A larger test_size may help if test sets contain one class."
        )


def score_of_error(inputs: Inputs, score: NamedScore, error: Estimate) -> Estimate:
    """Return a score from its mean loss, or from the mean of the score itself."""
    n_undefined = error.extra.n_failed or int(np.isnan(error.replicates).sum())
    warn_left_out(score.label, n_undefined, error.extra.n_fits or 0)
    return to_score(
        inputs,
        score,
        error,
        n_samples=len(inputs.target),
        n_groups=inputs.units.n_groups,
        extra=replace(error.extra, n_undefined=n_undefined),
    )


SHOWN = [(row, reported) for row in _table.METRICS for reported in row.reported]
"""Metrics that are always computed."""

MEAN_AREA = "roc_auc_ovr"


def measure_metrics(
    predictions: Predictions, confidence_level: float, only: Names = None, also: Iterable[str] = ()
) -> Results:
    """Return the metrics of predictions, for all samples and then for each class.

    `only` selects metrics by name. `also` contains scorers that reports do not show, as in
    `measure_scorer`. `details` has the name of the metric in scikit-learn (`metric`), its class
    (`label`, None for all samples), and `greater_is_better`. A metric of a class counts the
    samples that are in this class or predicted as this class.

    ``benchmarks/results/coverage_out_of_fold.csv`` has the measured coverage.
    """
    measure = measure_numbers if predictions.target.classes is None else measure_classes
    with ignored_warnings(UndefinedMetricWarning):  # nan suffices if nothing varies
        metrics = list(measure(predictions, only))
        # metrics of scorers that reports do not show, and no name twice
        metrics += [measure_scorer(predictions, name) for name in also]
        names = {metric.name for metric in metrics}
        metrics += [score for score in measure_scorers(predictions) if score.name not in names]
        n_classes = None if predictions.target.classes is None else len(predictions.target.classes)
        n_units = predictions.cases.n_units
        results: dict[str, Estimate] = {}
        for metric in metrics:
            # labels that differ in signs only may have the same name
            name = metric.name
            while name in results:
                name += "_"
            results[name] = settle(metric, n_classes, n_units, confidence_level, name)
        return Results(results)


def settle(
    metric: Measured,
    n_classes: int | None,
    n_units: int,
    confidence_level: float,
    name: str | None = None,
) -> Estimate:
    """Return the estimate of a measured metric, with its interval."""
    method, limits, error = metric.form
    if n_units == 1:  # a single unit has no variance
        method, limits, error = NO_FORM
    return Estimate(
        name=metric.name if name is None else name,
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


COLUMNS_OF_BLOCK = 8
"""Number of columns of scores that are copied together, because they share cache lines."""


Form = tuple[str, Callable[[float], intervals.Limits], float]
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
        return self.metric if self.label is None else name_of(self.metric, self.label)


Names = Collection[str | None] | None
"""Names of the metrics to be computed. None means all."""


def is_wanted(only: Names, metric: str, label: str | None = None) -> bool:
    """Whether a metric, for all samples or for one class, is among the selected ones."""
    return only is None or (metric if label is None else name_of(metric, label)) in only


def read_sample(predictions: Predictions) -> Sample:
    """Return the true values and predictions, with the models that made them."""
    target, weight = predictions.target, predictions.look_up(predictions.weight)
    true = target.codes if target.classes is not None else target.y.astype(float)
    folds = None
    if predictions.n_fits:
        # first prediction of each sample, and -1 for samples that are not tested
        row, repeats = predictions.row, predictions.repeats
        first = np.full(row.max() + 1, -1)
        first[row[::-1]] = np.arange(len(row))[::-1]
        tested = first >= 0
        place = np.cumsum(tested) - 1
        folds = Folds(place[row], predictions.fit, first[tested], repeats, predictions.inflation)
    # equal weights are no weights
    return Sample(
        predictions.look_up(true),
        predictions.predicted,
        weight=None if np.ptp(weight) == 0 else weight,
        groups=predictions.group,
        folds=folds,
    )


def measure_row(row: Metric, sample: Sample, arguments: Arguments, **fields: Any) -> Measured:
    """Return the metric of a row, with the first of its intervals.

    For a fixed model, the function returns the value. For out-of-fold predictions of several
    models, it is the value to which the interval belongs.
    """
    forms: Forms
    one_class = row.response == _table.SCORES and sample.y_true.dtype == bool
    if sample.folds is None and not one_class:
        weight = {} if sample.weight is None else {"sample_weight": sample.weight}
        try:
            # the oldest scikit-learn has no labels for Brier
            if row.per_sample and row.response == "predict_proba":
                losses = _table.find_sample_losses(row, arguments, *sample[:2])
                value = float(np.average(losses, weights=sample.weight))
            else:
                value = float(row.function(*sample[:2], **arguments, **weight))
        except ValueError:  # a class is missing
            value = np.nan
        metric = partial(row.function, **arguments)
        forms = _table.make_closed_forms(metric, sample._replace(value=value))
    else:
        # several models, or one class: the interval also computes the value
        value, forms = row.interval[0].make(row, arguments, sample)
    form = next(((name, *form) for name, form in forms.items()), NO_FORM)
    return Measured(value=value, form=form, greater_is_better=row.greater_is_better, **fields)


def measure_classes(predictions: Predictions, only: Names = None) -> Iterator[Measured]:
    """Yield the selected metrics of a classifier."""
    # metrics of labels, from the counts of cells
    sample, n, classes = read_sample(predictions), predictions.n_tested, predictions.target.classes
    if classes is None:
        return
    codes, counted = sample.y_true, None
    if predictions.has_values:
        predicted = predictions.predicted.astype(np.intp, copy=False)
        counted = count_cells(codes, predicted, sample.weight, predictions.repeat)
        yield from measure_tables(predictions, sample, counted, only)
    # losses of probabilities
    known = {"labels": np.arange(len(classes))}
    if predictions.probabilities is not None:
        shares = predictions.probabilities
        shares = shares[:, 1] if len(classes) == 2 and sample.folds is None else shares
        for row, reported in SHOWN:
            of_proba = row.per_sample is not None and row.response == "predict_proba"
            if of_proba and is_wanted(only, reported.name):
                of_shares = sample._replace(y_pred=shares)
                yield measure_row(row, of_shares, known, metric=reported.name, n_samples=n)
    # ranking of the positive class, or of each class against the rest
    scores, positive_only = predictions.class_scores, len(classes) == 2
    if scores is not None:
        for code in [predictions.target.positive_code] if positive_only else range(len(classes)):
            label = None if positive_only else str(classes[code])
            # columns are read from memory in blocks
            if positive_only or code % COLUMNS_OF_BLOCK == 0:
                start = code
                columns = scores[:, code : code + COLUMNS_OF_BLOCK].T.astype(float, order="C")
            own = codes == code
            of_class = sample._replace(y_true=own, y_pred=columns[code - start])
            n_positive = len(np.unique(predictions.cases.unit[predictions.row[own]]))
            for row, reported in SHOWN:
                if row.response != _table.SCORES or not is_wanted(only, reported.name, label):
                    continue
                size = n_positive if row.counted == "y_true" else n
                one = measure_row(row, of_class, {}, metric=reported.name, n_samples=size)
                # all samples are tied, so the metric is a constant
                tied = predictions.ranks_nothing.all()
                yield one._replace(label=label, form=NO_FORM if tied else one.form)
    # metrics of each class
    for code, label in enumerate(classes if counted is not None else ()):
        assert counted is not None
        # four cells, whatever the number of classes, with this class first
        cell = 2 * (codes != code) + (predicted != code)
        cells = replace(counted.cells, cell=cell, n_cells=4)
        yield from measure_tables(predictions, sample, cells, only, str(label))


def measure_tables(
    predictions: Predictions,
    sample: Sample,
    counted: CountedClasses | Cells,
    only: Names = None,
    label: str | None = None,
) -> Iterator[Measured]:
    """Yield the metrics of a confusion table, or of the four cells of one class."""
    for row, reported in SHOWN:
        if not row.from_table or reported.of_class == (label is None):
            continue
        if not is_wanted(only, reported.name, label):
            continue
        # value, and the interval from its derivatives in the cells
        if isinstance(counted, Cells):
            table = row.from_table(counted.table, np.array([True, False]), {})
        else:
            table = _table.arrange(row, reported.arguments, counted)
        with np.errstate(invalid="ignore", divide="ignore"):
            values: list[float] = []
            if row.loss is None and sample.folds is not None:  # not a mean of losses
                values = [table.metric(share)[0] for share in table.shares()]
            widen = partial(sample.inflate, values=values, of_all=label is None)
            estimate, form = score_form(table, predictions.group, widen=widen)
            estimate = np.nan if is_undefined(row, table) else estimate
        yield Measured(reported.name, estimate, ("score", *form), predictions.n_tested, label=label)


def is_undefined(row: Metric, table: ConfusionTable) -> bool:
    """Whether a metric of a class, or Matthews' correlation, is 0/0, in scikit-learn 0."""
    if row.function is matthews_corrcoef:
        return min(np.count_nonzero(table.share.sum(axis=axis)) for axis in (0, 1)) == 1
    if table.score is None or not table.score.has_closed_limits:
        return False
    # samples of the first class
    true, predicted = table.share[0].sum(), table.share[:, 0].sum()
    counted = {"y_true": true, "y_pred": predicted}.get(row.counted, true + predicted)
    return bool(counted == 0)


def measure_loss(predictions: Predictions, name: str, losses: np.ndarray) -> Measured:
    """Return the mean of losses of several outputs."""
    value, forms = _table.close_mean(losses, read_sample(predictions), bounded=True)
    return Measured(
        name, value, ("log", *forms["log"]), predictions.n_tested, greater_is_better=False
    )


def measure_scorer(predictions: Predictions, name: str) -> Measured:
    """Return the metric of a scorer, that is, a mean loss, or the mean area of several classes."""
    sample, row, n = read_sample(predictions), row_of_scorer(name), predictions.n_tested
    if name == MEAN_AREA:
        codes, shares = sample.y_true, predictions.probabilities
        assert shares is not None
        result, noise = _table.rank_out_of_fold(sample._replace(y_pred=shares), codes)
        form: Form = "score", *_table.close_area(result, sample, noise)["score"]
        if predictions.ranks_nothing.all():
            form = NO_FORM
        return Measured(name, result.value, form, n)
    assert row is not None
    return measure_row(row, sample, {}, metric=name, n_samples=n)


def measure_numbers(predictions: Predictions, only: Names = None) -> Iterator[Measured]:
    """Yield the selected metrics of a regressor."""
    sample = read_sample(predictions)
    for row, reported in SHOWN:
        if row.of_numbers and is_wanted(only, reported.name):
            name, n = reported.name, predictions.n_tested
            yield measure_row(row, sample, {}, metric=name, n_samples=n)


def measure_scorers(predictions: Predictions) -> Iterator[Measured]:
    """Yield the requested scores as means over the test sets.

    The variance is corrected for the overlap of training sets (Nadeau and Bengio 2003).
    """
    for name, scores in predictions.scores.items():
        # as in scikit-learn, the mean is nan if the score of a test set is
        mean, error = float(np.mean(scores)), np.nan
        limits: Callable[[float], intervals.Limits] = intervals.give_no_limits
        if len(scores) > 1:
            error = intervals.corrected_error(scores, predictions.test_train_ratio)
            args = mean, error
            limits = partial(intervals.normal_interval, *args, degrees_of_freedom=len(scores) - 1)
        yield Measured(name, mean, ("corrected_t", limits, error), predictions.n_tested)
