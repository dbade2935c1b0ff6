"""One interval for the error, or for any score, of any procedure.

`error_interval` validates its arguments and calls a method of `ERROR_METHODS`. `score_interval`
computes all scores from one set of fits. It treats mean losses as errors with the sign changed,
metrics that need all tested samples by `measure_metrics`, and any other score as the mean over the
test sets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from functools import partial
from inspect import signature
from typing import Any, Literal, Unpack, get_args, overload

import numpy as np
from numpy.random import SeedSequence
from sklearn.base import is_classifier

from skeval._adapters.runner import Runner, score_each
from skeval._inference.estimate import ErrorExtra, Estimate, Results
from skeval._inference.intervals import give_no_limits, mirrored
from skeval._resampling.fit_request import (
    FitRequest,
    check_one_number,
    check_scorers,
    check_test_sets,
    find_response_method,
)
from skeval._resampling.inputs import (
    FitOptions,
    Inputs,
    Loss,
    LossLike,
    Params,
    losses_by_output,
    resolve_loss,
    validate_inputs,
)
from skeval.metrics._scorers import read_scoring, row_of_scorer
from skeval.metrics._table import BINARY, REPORTED
from skeval.model_selection._estimates import NamedScore, losses_of, name_scores, to_score
from skeval.model_selection._interval_methods import (
    AUTO,
    ERROR_METHODS,
    average_repeats,
    average_subsamples,
    fit_repeats,
    plan_repeats,
    plan_subsamples,
    predict_repeats,
    read_positive_weight,
)
from skeval.model_selection._metrics_of_predictions import MEAN_AREA, measure_metrics
from skeval.utils import _checks
from skeval.utils._checks import (
    ErrorMethodName,
    ErrorScore,
    FoldVariance,
    RandomStateLike,
    ScoreMethod,
)


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
    n_repeats: int | Literal["auto"] | None = None,
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

    The default repeats 10-fold cross-validation, more often if the error depends on the random
    splits. Its interval accounts for losses that share a model.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn classifier, regressor or pipeline. Selection and tuning belong inside it.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or any other input of the estimator, such as texts, or a square precomputed kernel.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Labels or numbers. Several columns mean several labels or numbers for each sample.
    method : str, default="auto"
        "auto" is "repeated_cv". The other methods are listed in the Notes.
    cv : int, splitter or iterable of (train, test), default=None
        Folds. If `cv` is an integer, samples are shuffled with `random_state`, folds are stratified
        by class, and groups are kept together. They are the folds of "cross_validation" or
        "repeated_cv", instead of `n_folds`. If `cv` is an integer or a splitter with
        ``shuffle=True``, each repeat has new folds. All other folds are used as they are, and the
        method of the result is "given_folds". The error is then the error of `cross_val_error` on
        these folds. Samples that no test set separates count as one unit, unless the splitter
        assigns samples to folds at random or the folds consist of `groups`.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    loss : str or callable, default=None
        "zero_one", "squared" or "absolute", or "log_loss" or "brier" for the probabilities of a
        classifier. A function ``(y_true, y_pred) -> (n,)`` returns the loss of each sample. None
        means 0-1 loss for classifiers and squared error for regressors. With several columns of
        `y`, the loss is "hamming", the fraction of wrong labels of a sample (the default),
        "zero_one", whether any is wrong, or the mean over columns of "squared" or "absolute".
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
        Number `K` of folds. None is 5 for "nested_cv" and for "repeated_cv" of more than 5,000
        samples, and otherwise 10 for "repeated_cv", "cv_wald" and "perturbation", or fewer if the
        most frequent class has fewer members, or is in fewer groups.
    n_repeats : int or "auto", default=None
        Number of repeats. None is "auto" for "repeated_cv", 10 for "nested_cv" and 50 subsamplings
        for "corrected_t". "auto" repeats the folds twice, and then until
        random splits add at most 5 % to the standard error, at most ten times. It depends on the
        data and `random_state` only. More than 5,000 samples have two repeats of five folds.
    test_size : float or int, default=None
        Share or number of samples (or groups) that a subsampling tests on. None is a third for
        "holdout", a tenth for "corrected_t".
    n_resamples : int, default=None
        Number of resamples or perturbations. None is 200.
    variance : {"all_pairs", "within_folds"}, default=None
        The variance of "cv_wald". None is "all_pairs".
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call.
    n_jobs : int, default=None
        Number of joblib workers. Results do not depend on it.
    verbose : int, default=0
        1 shows progress. Larger values add joblib's messages.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits. An interrupted run that is repeated with an int as `random_state`
        does only the remaining ones. See :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        If a fit fails, raise an error that describes its training set, or leave it out,
        count it and warn.

    Returns
    -------
    Estimate
        `replicates` has the errors of the folds, subsamples, repeats or resamples, or for "holdout"
        the losses. `interval` has the form that suits the loss and the method.
        ``confidence_interval(method=)`` accepts all `interval_methods`, that is, the forms of
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
        If the method does not take a parameter that is passed. If there are too few samples, groups
        or members of a class. If a fit fails. The error then names the method, the fold and the
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
      value              0.0422
      standard error     0.0092
      95 % interval      [0.0269, 0.0630] (jeffreys)
      samples            569
      loss               zero_one
      effective samples  479.8
      fits               20
    >>> print(result.confidence_interval(0.9))
    [0.0291, 0.0594] (90 %, jeffreys)
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
        test_size=test_size,
        n_resamples=n_resamples,
        variance=variance,
    )
    root, row = _checks.root_seed(random_state), ERROR_METHODS[method]
    if not inputs.target.outputs:
        return row.estimate(Runner(inputs), root, **parameters)
    # the error over all outputs, and of each output on the same folds or resamples
    own_losses = losses_by_output(inputs.loss, inputs.target)
    each_loss = [(inputs.loss,), *((own,) for own in own_losses.values())]
    runner = Runner(inputs, finished=[] if row.shares_fits and method != AUTO else None)
    if method == AUTO:
        # the error over all outputs determines the number of repeats
        folds = plan_repeats(inputs, root, **parameters)
        folds, outputs = fit_repeats(runner.with_options(method=folds.inputs.method), folds)
        of_losses = (folds.inputs.with_options(losses=losses) for losses in each_loss)
        estimates = [average_repeats(folds._replace(inputs=one), outputs) for one in of_losses]
    else:
        runners = (runner.with_options(losses=losses) for losses in each_loss)
        estimates = [row.estimate(one, deepcopy(root), **parameters) for one in runners]
    by_output = Results(zip(own_losses, estimates[1:], strict=True))
    return replace(estimates[0], extra=replace(estimates[0].extra, by_output=by_output))


def take_parameters(method: str, **parameters: Any) -> dict[str, Any]:
    """Return the parameters that are not None. Raise if the method does not take one of them."""
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
      changed.
    - "balanced_accuracy", "f1_macro", "matthews_corrcoef", "roc_auc_ovr", "r2",
      "neg_root_mean_squared_error", other means of losses of numbers, such as
      "neg_mean_absolute_percentage_error", and, for two classes, "roc_auc", "average_precision",
      "f1", "precision" and "recall" are computed from all tested samples of a repeat together
      (areas only compare samples of the same test set). The variance of independent samples is
      inflated as for the error, or more if the score differs between repeats.
    - Any other score is averaged over the test sets, with the interval of "corrected_t".

    With :math:`\mu_j` the scores of `J` random subsamplings that train on :math:`n_1` and test on
    :math:`n_2` samples, "corrected_t" [1]_ is

    .. math:: \bar\mu \mp t_{J-1}\, sd(\mu) \sqrt{1/J + n_2/n_1} .

    Larger is better.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn classifier, regressor or pipeline. Selection and tuning belong inside it.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or any other input of the estimator, such as texts, or a square precomputed kernel.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Labels or numbers. Several columns mean several labels or numbers for each sample.
    scoring : str, callable, list, tuple or dict, default=None
        One score or several, as in scikit-learn's ``cross_validate``. Larger is better. None is
        "accuracy" for classifiers and "r2" for regressors.
    method : {"repeated_cv", "corrected_t"}, default="repeated_cv"
        The method. See `error_interval` for others of mean losses.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as the patient. Groups are never split.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as in scikit-learn's ``cross_validate``.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. They must be positive and are used in every fit and in everything that is
        computed from single samples. Scores of fits are not weighted.
    n_folds, n_repeats : int, default=None
        Parameters of the method, as in `error_interval`.
    test_size : float or int, default=None
        Share or number of samples (or groups) in the test set of a subsampling.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call.
    n_jobs : int, default=None
        Number of joblib workers. Results do not depend on it.
    verbose : int, default=0
        1 shows progress. Larger values add joblib's messages.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits. An interrupted run that is repeated with an int as `random_state`
        does only the remaining ones. See :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        If a fit fails, raise an error that names it, or leave it out, count it and warn.

    Returns
    -------
    Estimate or dict
        An estimate, or one per name for several scores. Its `name` is the name of the score,
        followed by "()" if the score is a function. `replicates` contains the scores of folds,
        subsamples or repeats, and is empty for a score of all samples together. `n_undefined` is
        the number of fits that were left out because they failed or their score is undefined.

    Raises
    ------
    ValueError
        If the method does not take a parameter that is passed, or if a fit fails. The error names
        the method, the fold and the rarest class.

    Warns
    -----
    UndefinedMetricWarning
        If a score is undefined for some fits, which are left out. If it is the same for all
        fits, so that the limits are nan.

    Notes
    -----
    "corrected_t" covers less on small test sets, where R2 is too low on average. :doc:`/validation`
    compares both methods. Intervals of R2 are too short for log-normal targets and rare outliers.

    Intervals of scikit-learn's named scores are clipped to the range of the score. In a small data
    set, a test set with a tenth of the samples may contain a single class. The area under the curve
    is then undefined for "corrected_t". Increase `test_size`.

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
      standard error  0.0037
      95 % interval   [0.9783, 0.9935] (score)
      samples         569
      undefined       0
      fits            20
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
    scores, root = name_scores(scoring), _checks.root_seed(random_state)
    if method == AUTO:
        results = score_repeats(inputs, scores, root, parameters)
    else:
        results = score_subsamples(inputs, scores, root, parameters)
    if isinstance(scoring, list | tuple | set | dict):
        return Results({name: results[name] for name in scores})
    return results.popitem()[1]


ANY = Loss("", np.subtract)
"""Placeholder for the loss of a score that is not a mean loss, without bounds."""


def score_subsamples(
    inputs: Inputs, scores: dict[str, NamedScore], root: SeedSequence, parameters: dict[str, Any]
) -> dict[str, Estimate]:
    """Return scores by the corrected t of subsamplings, all from the same fits."""
    parameters = {"n_repeats": 50, "test_size": 0.1} | parameters
    plan, ratio = plan_subsamples(inputs, root, **parameters)
    scorers = {name: score.scoring for name, score in scores.items()}
    values = score_each(Runner(inputs), plan, scorers, skip_undefined=True)
    return {
        name: average_scores(inputs, name, score, values, ratio, parameters)
        for name, score in scores.items()
    }


def average_scores(
    inputs: Inputs,
    name: str,
    score: NamedScore,
    of_fits: list[Any],
    test_train_ratio: float,
    parameters: dict[str, Any],
) -> Estimate:
    """Return the mean of one score over fits, corrected for the overlap of training sets."""
    # numbers of this score; undefined ones are nan
    values = [scores[name] if isinstance(scores, dict) else scores for scores in of_fits]
    for value in values:
        check_one_number(name, value)
    means = np.where(np.isfinite(np.array(values, dtype=float)), values, np.nan)
    n_undefined = int(np.isnan(means).sum())
    if inputs.error_score != "raise" and len(means) - n_undefined < 2:
        return score_of_metric(
            inputs, score, None, ErrorExtra(n_fits=len(means), n_undefined=n_undefined)
        )
    # a mean loss has the interval of this loss
    loss = ANY if score.mean is None else resolve_loss(score.mean.loss, inputs.target)
    means = means if score.mean is None else score.mean.best - means
    of_loss = inputs.with_options(losses=(loss,))
    error = average_subsamples(of_loss, means, test_train_ratio, parameters)
    return score_of_error(inputs, score, error)


def score_repeats(
    inputs: Inputs, scores: dict[str, NamedScore], root: SeedSequence, parameters: dict[str, Any]
) -> dict[str, Estimate]:
    """Return the scores of repeated cross-validation by name, all from the same fits.

    Mean losses are errors, as in `error_interval`. Metrics of `measure_metrics` use all tested
    samples of a repeat together, and any other score is the mean over the test sets.
    """
    # three kinds of scores: mean losses, metrics of all tested samples, others
    reported = {name: find_reported(inputs, score.label) for name, score in scores.items()}
    errors = {name: score for name, score in scores.items() if score.mean}
    others = {name: s for name, s in scores.items() if name not in errors and not reported[name]}
    losses = losses_of(inputs, errors.values())

    # one set of fits, which also returns the other scores
    inputs = inputs.with_options(losses=(resolve_loss(None, inputs.target),))
    folds, request = plan_repeats(inputs, root, **parameters), FitRequest()
    if others:
        scorers = {name: score.scoring for name, score in others.items()}
        raises = inputs.error_score == "raise"
        request = FitRequest.for_scores(inputs.estimator, scorers, raises)
        check_scorers(inputs, request.scorers(inputs.target))
        check_test_sets(inputs, folds.plan, request.scorers(inputs.target), skip_undefined=True)
    folds, outputs = fit_repeats(Runner(inputs), folds, request)
    plan = folds.plan

    # means of losses, with the sign changed
    results = {}
    for (name, score), loss in zip(errors.items(), losses, strict=True):
        of_loss = folds._replace(inputs=inputs.with_options(losses=(loss,)))
        results[name] = score_of_error(inputs, score, average_repeats(of_loss, outputs))
    # any other score: the mean over test sets
    of_fits = [np.nan if one is None or one.scores is None else one.scores[0] for one in outputs]
    shown = {"n_folds": plan.n_folds, "n_repeats": plan.n_repeats}
    for name, score in others.items():
        results[name] = average_scores(inputs, name, score, of_fits, 1 / (plan.n_folds - 1), shown)
    # metrics of all tested samples of a repeat together
    if len(results) < len(scores):
        predictions = predict_repeats(inputs, plan, outputs)
        also = {s.label for n, s in scores.items() if reported[n] == s.label} - REPORTED.keys()
        metrics = measure_metrics(predictions, inputs.confidence_level, also=also)
        for name in scores.keys() - results.keys():
            warn_left_out(scores[name].label, outputs.count(None), len(outputs))
            metric = metrics.get(reported[name] or "")
            extra = ErrorExtra(
                n_fits=plan.n_fits, n_undefined=outputs.count(None), parameters=shown
            )
            results[name] = score_of_metric(inputs, scores[name], metric, extra)
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
    inputs: Inputs, score: NamedScore, metric: Estimate | None, extra: ErrorExtra
) -> Estimate:
    """Return a metric of out-of-fold predictions as a score. Larger is better."""
    # a score of a loss has the opposite sign
    value, standard_error, limits = np.nan, np.nan, {"none": give_no_limits}
    if metric is not None:
        value, standard_error, limits = metric.value, metric.standard_error, dict(metric.limits)
    if score.label.startswith("neg_"):
        value = -value
        limits = {form: partial(mirrored, 0.0, ends) for form, ends in limits.items()}
    result = Estimate(
        name=score.label,
        value=value,
        standard_error=standard_error,
        method=AUTO,
        limits=limits,
        n_samples=len(inputs.target),
        n_groups=inputs.units.n_groups,
        extra=extra,
        confidence_level=inputs.confidence_level,
        bounds=score.bounds(inputs.target.n_classes),
    )
    if not np.isfinite(result.interval.low):
        _checks.warn_undefined(
            f"scoring {score.label!r} is {value:.4g} and has no interval: it is undefined for "
            "these predictions, or does not vary."
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
