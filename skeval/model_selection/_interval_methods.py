"""Interval for the error of any procedure, and its methods.

Each method is a function from a runner, a seed and parameters to an estimate. The module contains
the public function and shared helpers, the methods that hold samples out (folds, subsamples), and
repeated cross-validation. The bootstrap and perturbation are in `_bootstrap` and `_estimates`.
`ERROR_METHODS` lists all methods.

The folds of `cv` determine the units. A splitter that shuffles draws new folds for each repeat. A
splitter that draws at random and repeats by itself (``RepeatedStratifiedKFold``, ``ShuffleSplit``)
is used without changes. In both cases the units are the samples, or the groups if there are any.
All other folds are also used without changes. Without groups, samples that these folds never
separate count as one unit, because they may belong together. A list of five folds therefore has
five units.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import replace
from inspect import signature
from numbers import Integral, Real
from typing import Any, Final, Literal, NamedTuple, get_args

import numpy as np
from numpy.random import SeedSequence

from skeval._adapters.runner import Runner
from skeval._inference import errors
from skeval._inference.errors import TestLosses
from skeval._inference.estimate import Estimate, Results
from skeval._inference.intervals import NON_NEGATIVE, corrected_error
from skeval._inference.paired import time_units
from skeval._resampling import plans, sampling_units
from skeval._resampling.fit_request import FitRequest
from skeval._resampling.inputs import (
    FitOutput,
    Inputs,
    LossLike,
    Params,
    check_takes_weights,
    losses_by_output,
    read_weight,
    validate_inputs,
)
from skeval._resampling.plans import KeptFolds, ResamplingPlan
from skeval._resampling.predictions import Predictions, collect_predictions
from skeval.model_selection import _estimates
from skeval.model_selection._bootstrap import ErrorBootstrap, bootstrap
from skeval.model_selection._estimates import cross_validation, leave_one_out, resubstitution
from skeval.utils import _checks
from skeval.utils._checks import ErrorScore, RandomStateLike

FoldVariance = Literal["all_pairs", "within_folds"]


@_checks.in_order()
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

    By default, 10-fold cross-validation is repeated, with more repeats if the error depends on the
    random splits. The interval accounts for the dependence of losses that share a model.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn classifier, regressor or pipeline. Feature selection and tuning must be
        part of it.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or any other input of the estimator, such as texts, or a square precomputed kernel.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Class labels or numeric targets. Several columns are several outputs for each sample.
    method : str, default="auto"
        "auto" is "repeated_cv". The Notes list the other methods.
    cv : int, splitter or iterable of (train, test), default=None
        Folds. If `cv` is an integer, samples are shuffled with `random_state`, folds are stratified
        by class, and groups are kept together. They are the folds of "cross_validation" or
        "repeated_cv", instead of `n_folds`. If `cv` is an integer or a splitter with
        ``shuffle=True``, each repeat has new folds. All other folds are used without changes, and
        the method of the result is "given_folds". The estimate is then the same as from
        `cross_val_error` on these folds. Samples that no test set separates count as one unit,
        unless the splitter assigns samples to folds at random or the folds consist of `groups`.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    loss : str or callable, default=None
        "zero_one", "squared" or "absolute", or "log_loss" or "brier" for the probabilities of a
        classifier. A function ``(y_true, y_pred) -> (n,)`` returns the loss of each sample. None
        means 0-1 loss for classifiers and squared error for regressors. If `y` has several
        columns, the loss of multilabel targets is "hamming", the fraction of wrong labels of a
        sample (the default), or "zero_one", whether any label is wrong. For numeric targets, it is
        the mean over columns of "squared" or "absolute".
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as the patient. Groups are never split. The sample size of the
        interval is the number of groups, with Student's t quantile.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as in scikit-learn's ``cross_validate``. Arrays
        with one value per sample are split with the samples.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. They must be positive. They are used in every fit and in the means of the
        losses. The bootstrap methods do not support them.
    n_folds : int, default=None
        Number `K` of folds. None means 5 for "nested_cv", and for "repeated_cv" with more than
        5,000 samples. Otherwise, it means 10 for "repeated_cv", "cv_wald" and "perturbation". It
        is smaller if the most frequent class has fewer members or is in fewer groups.
    n_repeats : int or "auto", default=None
        Number of repeats. None means "auto" for "repeated_cv", 10 for "nested_cv" and 50
        subsamples for "corrected_t". "auto" starts with two repeats and adds more until random
        splits add at most 5 % to the standard error, up to ten repeats. It depends only on the
        data and `random_state`. With more than 5,000 samples, there are two repeats of five folds.
    test_size : float or int, default=None
        Fraction or number of samples (or groups) in the test set of a subsample. None means a
        third for "holdout" and a tenth for "corrected_t".
    n_resamples : int, default=None
        Number of resamples or perturbations. None means 200.
    variance : {"all_pairs", "within_folds"}, default=None
        The variance of "cv_wald". None means "all_pairs".
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
        Treatment of a failed fit. "raise" raises an error that describes the training set.
        ``numpy.nan`` omits the fit, counts it and warns.

    Returns
    -------
    Estimate
        `replicates` contains the errors of the folds, subsamples, repeats or resamples, or the
        losses for "holdout". `interval` has the form for the loss and the method.
        ``confidence_interval(method=)`` accepts all `interval_methods`. These are the forms of
        `cross_val_error`, and "t" instead of "normal" for Student's t quantile. In `extra`,
        `n_fits` and `n_failed` count the fits, `parameters` contains the parameters of the method,
        and `no_interval` is the reason if there is no interval. If `y` has several columns,
        `by_output` contains the error of each column, on the same folds.

    Raises
    ------
    TypeError
        If weights are passed, or the method is "perturbation", and the estimator does not accept
        weights.
    ValueError
        If a parameter is passed that the method does not use. If there are too few samples, groups
        or members of a class. If a fit fails. The message then names the method, the fold and the
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

    :doc:`/user_guide/formulas` has the formulas, and :doc:`/validation` has the measured coverage.
    Coverage is too low for log loss if a probability may be 0, and for least squares if there are
    as many features as samples.

    The random draws depend on the order of the samples, but not on the names of the classes.

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
    run |= {"loss": loss, "method": method, "confidence_level": confidence_level}
    inputs = validate_inputs(estimator, X, y, groups, params=params, several=True, **run)
    inputs = add_positive_weight(inputs, sample_weight)
    given = {"cv": cv, "n_folds": n_folds, "n_repeats": n_repeats, "test_size": test_size}
    given |= {"n_resamples": n_resamples, "variance": variance}
    parameters = take_parameters(method, **given)
    root, row = _checks.root_seed(random_state), ERROR_METHODS[method]
    # the error over all outputs, and of each of several on the same folds or resamples
    own_losses = losses_by_output(inputs.loss, inputs.target)
    each_loss = [(inputs.loss,), *((own,) for own in own_losses.values())]
    runner = Runner(inputs, finished=[] if own_losses and row.shares_fits else None)
    if own_losses and method == AUTO:
        # the error over all outputs determines the number of repeats of each of them
        folds = plan_repeats(inputs, root, **parameters)
        folds, outputs = fit_repeats(runner.with_options(method=folds.inputs.method), folds)
        of_losses = (folds.inputs.with_options(losses=losses) for losses in each_loss)
        estimates = [collect_repeats(folds._replace(inputs=one), outputs)[0] for one in of_losses]
    else:
        # a seed counts the children that it spawns, so each loss draws the same from a copy
        runners = (runner.with_options(losses=losses) for losses in each_loss)
        estimates = [row.estimate(one, deepcopy(root), **parameters) for one in runners]
    if not inputs.target.outputs:
        return estimates[0]
    # several outputs: the error over all, with the error of each
    by_output = Results(zip(own_losses, estimates[1:], strict=True))
    return replace(estimates[0], extra=replace(estimates[0].extra, by_output=by_output))


def take_parameters(method: str, **parameters: Any) -> dict[str, Any]:
    """Return the parameters that are not None. Raise an error if the method does not use one."""
    # the signature of a method lists its parameters
    takes = signature(ERROR_METHODS[method].estimate).parameters
    parameters = {name: value for name, value in parameters.items() if value is not None}
    for name, value in parameters.items():
        if name not in takes:
            accepted = list(takes)[2:]
            raise ValueError(
                f"{name} is not a parameter of method={method!r}, which accepts "
                f"{' and '.join(accepted) or 'no parameters'}, got {value!r}."
            )
    return parameters


def units_to_test(inputs: Inputs, test_size: Any, least: int = 1) -> int:
    """Return the number of units in a test set. At least 2 are left for training."""
    n = inputs.units.n_units
    if isinstance(test_size, bool) or not isinstance(test_size, Real):
        raise ValueError(f"test_size must be a fraction or a number of samples, got {test_size!r}.")
    if isinstance(test_size, Integral):
        n_test = int(test_size)
    elif 0 < float(test_size) < 1:
        n_test = max(least, math.ceil(float(test_size) * n - 1e-9))
    else:
        raise ValueError(f"test_size must be a fraction between 0 and 1, got {test_size!r}.")
    if not least <= n_test <= n - 2:
        raise sampling_units.TooFewMembersError(
            f"test_size must leave at least 2 of {n} {inputs.units.kind.value} for training and "
            f"{least} for testing in method={inputs.method!r}, got {test_size!r}."
        )
    return n_test


def count_folds(
    inputs: Inputs,
    n_folds: Any,
    default: int,
    *,
    least: int = 2,
    per_fold: int = 1,
    argument: str = "n_folds",
) -> int:
    """Return the number of folds with at least `per_fold` units each.

    None means the default, or fewer if there are too few units or members of the classes.
    """
    n = inputs.units.n_units
    most = n // per_fold
    method, got = f"method={inputs.method!r}", f"{n} {inputs.units.kind.value}"
    if most < least:
        least *= per_fold
        raise ValueError(f"{method} requires at least {least} samples or groups, got {got}.")
    if n_folds is None:
        return min(default, most, max(least, plans.default_folds(inputs.target, inputs.units.unit)))
    if isinstance(n_folds, bool) or not isinstance(n_folds, Integral):
        raise ValueError(f"{argument} must be an integer, got {n_folds!r}.")
    if not least <= int(n_folds) <= most:
        limits = f"must be from {least} to {most} for {method} with {got}"
        raise ValueError(f"{argument} {limits}, got {n_folds}.")
    return int(n_folds)


def completed(outputs: Iterable[FitOutput | None]) -> list[FitOutput]:
    """Return the outputs of the successful fits."""
    return [output for output in outputs if output is not None]


def holdout(runner: Runner, root: SeedSequence, *, test_size: Any = 1 / 3) -> Estimate:
    """Test once on held-out samples, with 1 fit."""
    # one split; the tested losses are independent
    inputs = runner.inputs
    n_test = units_to_test(inputs, test_size, least=2)
    (output,) = completed(runner.each(plans.subsamples(inputs.units, n_test, 1, root)))
    tested = inputs.tested(output)
    spread = errors.spread_of_mean(tested)
    return _estimates.estimate_error(
        inputs,
        errors.mean_loss(tested),
        spread.error,
        tested.losses,
        tested,
        float(np.var(tested.losses, ddof=1)),
        binomial=False,
        degrees_of_freedom=spread.degrees_of_freedom,
        n_samples=len(output.rows),
        n_groups=n_test if inputs.units.clustered else None,
        n_fits=1,
        parameters={"test_size": test_size},
    )


def cv_wald(
    runner: Runner, root: SeedSequence, *, n_folds: int | None = None, variance: str = "all_pairs"
) -> Estimate:
    """Cross-validate once, and treat the losses as independent, with K fits.

    The two variances come from Bayle et al. (2020).
    """
    # losses of all folds together
    inputs = runner.inputs
    within = _checks.check_option("variance", variance, get_args(FoldVariance)) == "within_folds"
    n_folds = count_folds(inputs, n_folds, 10, per_fold=1 + within)
    outputs = list(runner.each(plans.repeated_folds(inputs.units, n_folds, 1, root)))
    folds = [inputs.tested(output) for output in completed(outputs)]
    pooled = errors.concatenate_tested(folds)
    spread = errors.spread_of_mean(pooled)
    if within:
        # mean over folds of the variance of single losses in the fold, their second variance
        sizes = np.array([len(fold.losses) for fold in folds])
        variances = sizes * np.array([errors.spread_of_mean(fold).variance for fold in folds])
        standard_error = float(np.sqrt(np.mean(variances) / sizes.sum()))
    elif pooled.unit is None:
        # variance of all losses, with divisor n
        standard_error = spread.error * np.sqrt(1 - 1 / len(pooled.losses))
    else:
        standard_error = spread.error
    return _estimates.estimate_error(
        inputs,
        errors.mean_loss(pooled),
        standard_error,
        np.array([errors.mean_loss(fold) for fold in folds]),
        pooled,
        float(np.var(pooled.losses)),
        degrees_of_freedom=spread.degrees_of_freedom,
        n_fits=n_folds,
        n_failed=outputs.count(None),
        parameters={"n_folds": n_folds, "variance": variance},
    )


def mean_losses(runner: Runner, plan: ResamplingPlan) -> tuple[np.ndarray, float]:
    """Return the mean loss of each fit, nan if it failed, and the variance of single losses."""
    # means of losses and of their squares, by fit
    moments = np.full((2, plan.n_fits), np.nan)
    for fit, output in enumerate(runner.each(plan)):
        if output is not None:
            losses, weight, _ = runner.inputs.tested(output)
            moments[:, fit] = np.average(np.stack([losses, losses**2]), axis=1, weights=weight)
    # E L^2 - (E L)^2, over all fits
    means, squares = moments
    return means, max(0.0, float(np.nanmean(squares) - np.nanmean(means) ** 2))


def corrected_t(
    runner: Runner, root: SeedSequence, *, n_repeats: int = 50, test_size: Any = 0.1
) -> Estimate:
    """Subsample, with the variance corrected for the overlap of training sets, with J fits."""
    inputs = runner.inputs
    plan, ratio = plan_subsamples(inputs, root, n_repeats, test_size)
    parameters = {"n_repeats": n_repeats, "test_size": test_size}
    means, variance = mean_losses(runner, plan)
    n_failed = int(np.isnan(means).sum())
    return average_subsamples(inputs, means, ratio, parameters, variance, n_failed)


def plan_subsamples(
    inputs: Inputs, root: SeedSequence, n_repeats: int, test_size: Any
) -> tuple[ResamplingPlan, float]:
    """Return random subsamples, and the ratio of test to training."""
    n_repeats = _checks.check_count("n_repeats", n_repeats, 2)
    n_test = units_to_test(inputs, test_size)
    plan = plans.subsamples(inputs.units, n_test, n_repeats, root)
    return plan, n_test / (inputs.units.n_units - n_test)


def average_subsamples(
    inputs: Inputs,
    means: np.ndarray,
    test_train_ratio: float,
    parameters: dict[str, Any],
    variance: float = np.nan,
    n_failed: int = 0,
) -> Estimate:
    """Return the mean over subsamples, with the variance of Nadeau and Bengio (2003).

    `means` contains the mean losses or the scores of the fits, and `variance` belongs to single
    losses.
    """
    # fits that failed do not count
    _estimates.check_enough(inputs, means)
    defined = means[np.isfinite(means)]
    return _estimates.estimate_error(
        inputs,
        float(defined.mean()),
        corrected_error(defined, test_train_ratio),  # sd sqrt(1/J + n2/n1)
        means,
        inputs.count(np.arange(len(inputs.target))),
        variance,
        degrees_of_freedom=len(defined) - 1.0,
        n_fits=len(means),
        n_failed=n_failed,
        parameters=parameters,
    )


def nested_cv(
    runner: Runner, root: SeedSequence, *, n_folds: int | None = None, n_repeats: int = 10
) -> Estimate:
    """Cross-validate within folds to measure the error, with R K (K+1) / 2 fits."""
    inputs = runner.inputs
    n_folds = count_folds(inputs, n_folds, 5, least=3, per_fold=2)
    n_repeats = _checks.check_count("n_repeats", n_repeats)
    # fits without one fold, and without two
    plan = plans.repeated_folds(inputs.units, n_folds, n_repeats, root, nested=True)
    outputs = list(runner.each(plan))
    folds = nested_losses(inputs, plans.deal_folds(inputs.units, n_folds, n_repeats, root), outputs)
    # error and standard error of Bates, Hastie and Tibshirani (2024)
    value, standard_error = errors.nested_interval(folds, n_folds, len(inputs.target))
    # a normal quantile, or Student's for groups
    n_groups = inputs.units.n_groups
    return _estimates.estimate_error(
        inputs,
        value,
        standard_error,
        np.array([errors.mean_loss(fold.outer) for fold in folds]),
        inputs.count(np.arange(len(inputs.target))),
        float(np.var(np.concatenate([fold.outer.losses for fold in folds]))),
        degrees_of_freedom=np.inf if n_groups is None else n_groups - 1.0,
        n_fits=plan.n_fits,
        n_failed=outputs.count(None),
        parameters={"n_folds": n_folds, "n_repeats": n_repeats},
    )


def nested_losses(
    inputs: Inputs, folds_of_units: np.ndarray, outputs: Sequence[FitOutput | None]
) -> list[errors.NestedFold]:
    """Return each fold with the losses of nested fits in it. Folds with failed fits are omitted.

    `folds_of_units`, of shape (n_repeats, n_units), contains the folds of each repeat. A fit
    without the folds k and l tests l for the outer fold k, and k for the outer fold l.
    """
    # fits of each repeat, in the order of the plan
    left_out_by_fit = plans.list_left_out(int(folds_of_units.max()) + 1, nested=True)
    nested: list[errors.NestedFold] = []
    for repeat, folds in enumerate(folds_of_units):
        outer: dict[int, TestLosses] = {}
        inner: dict[int, list[TestLosses]] = {}
        of_repeat = outputs[repeat * len(left_out_by_fit) :]
        for left_out, output in zip(left_out_by_fit, of_repeat, strict=False):
            if output is None:
                continue
            tested = inputs.tested(output)
            if len(left_out) == 1:
                outer[left_out[0]] = tested
                continue
            # without the folds k and l: l belongs within k, and k within l
            fold = folds[inputs.units.unit[output.rows]]
            for k, within in (left_out, left_out[::-1]):
                kept = fold == within
                inner.setdefault(k, []).append(inputs.count(output.rows[kept], tested.losses[kept]))
        # folds with losses on both levels
        pairs = [(outer[k], inner[k]) for k in outer if k in inner]
        nested += [errors.NestedFold(out, errors.concatenate_tested(parts)) for out, parts in pairs]
    if not nested:
        raise ValueError("all inner fits failed. error_score='raise' shows the first error.")
    return nested


def perturbation(
    runner: Runner, root: SeedSequence, *, n_resamples: int = 200, n_folds: int | None = None
) -> Estimate:
    """Cross-validate again under random weights of samples or groups, with (B + 1) K + 1 fits."""
    inputs = runner.inputs
    n_folds = count_folds(inputs, n_folds, 10)
    n_resamples = _checks.check_count("n_resamples", n_resamples, 2)
    if inputs.error_score != "raise":
        raise ValueError(
            f"error_score must be 'raise' for method='perturbation', got {inputs.error_score!r}."
        )
    check_takes_weights(inputs.estimator)
    # folds of the units, drawn once
    plan = plans.repeated_folds(inputs.units, n_folds, 1, _checks.child_seed(root, 0))
    blocks = [plan.draw(fold) for fold in range(n_folds)]
    # weights have seeds of their own, apart from those of the folds
    _, draws_root = _checks.child_seed(root, 2).spawn(2)
    estimate = _estimates.perturb_error(
        runner,
        [(b[0].training_rows, np.flatnonzero(b.test[0])) for b in blocks],
        draws_root,
        n_resamples=n_resamples,
    )
    parameters = {"n_resamples": n_resamples, "n_folds": n_folds}
    return replace(estimate, extra=replace(estimate.extra, parameters=parameters))


MAX_REPEATS, REPEATS_OF_LARGE = 10, 2
"""Maximum number of repeats of cross-validation, and number for more than `LARGE` samples."""
GIVEN_FOLDS = "given_folds"
"""Name of the method if the folds of `cv` are used without changes."""


class RepeatedFolds(NamedTuple):
    """Folds of repeated cross-validation and the units of their losses.

    Attributes
    ----------
    inputs : Inputs
        Data with the units that are counted, and the name of the method.
    plan : ResamplingPlan
    splits : list of (train, test) or None
        Passed folds of the first repeat.
    ordered : bool
        Whether the folds keep the order of the samples. Units are then blocks of time.
    adaptive : bool
        Whether to use only as many repeats of the plan as the losses require.
    """

    inputs: Inputs
    plan: ResamplingPlan
    splits: KeptFolds | None = None
    ordered: bool = False
    adaptive: bool = False

    def take(self, n_fits: int) -> RepeatedFolds:
        """Return the folds of the complete repeats."""
        return self._replace(plan=self.plan.take(0, n_fits // self.plan.n_folds))


def repeated_cv(
    runner: Runner,
    root: SeedSequence,
    *,
    cv: Any = None,
    n_folds: int | None = None,
    n_repeats: int | str = "auto",
) -> Estimate:
    """Average repeated cross-validations, and inflate the variance of one, with R K fits."""
    folds = plan_repeats(runner.inputs, root, cv=cv, n_folds=n_folds, n_repeats=n_repeats)
    runner = runner.with_options(method=folds.inputs.method)
    return collect_repeats(*fit_repeats(runner, folds))[0]


def plan_repeats(
    inputs: Inputs,
    root: SeedSequence,
    *,
    cv: Any = None,
    n_folds: int | None = None,
    n_repeats: int | str | None = "auto",
) -> RepeatedFolds:
    """Return repeated folds, drawn or from `cv`, with the maximum number of repeats for "auto"."""
    if cv is not None and n_folds is not None:
        raise ValueError(f"n_folds must be None if cv is passed, got {n_folds!r}.")
    # a number of folds, from either argument
    n, argument = len(inputs.target), "n_folds"
    if isinstance(cv, Integral):
        argument, cv, n_folds = "cv", None, _checks.check_count("cv", cv, 2)
    n_folds = count_folds(inputs, n_folds, plans.folds_for(n), argument=argument)
    adaptive = n_repeats is None or (isinstance(n_repeats, str) and n_repeats == "auto")
    # the maximum number of repeats, which is smaller for large data sets
    count = REPEATS_OF_LARGE if n > plans.LARGE else MAX_REPEATS
    count = count if adaptive else _checks.check_count("n_repeats", n_repeats)
    if cv is None:
        # folds of one unit each are always the same
        count = 1 if n_folds == inputs.units.n_units else count
        plan = plans.repeated_folds(inputs.units, n_folds, count, root)
        return RepeatedFolds(inputs, plan, adaptive=adaptive)
    # more repeats need a splitter that draws new folds
    if not adaptive and not plans.draws_anew(cv):
        raise ValueError(
            f"n_repeats must be 'auto' for a cv with fixed folds, got n_repeats={n_repeats!r}, "
            f"cv={cv!r}. A splitter with shuffle=True draws new folds."
        )
    folds = draw_given_folds(inputs, cv, root, count)
    return folds._replace(adaptive=adaptive and plans.draws_anew(cv))


def fit_repeats(
    runner: Runner, folds: RepeatedFolds, request: FitRequest | None = None
) -> tuple[RepeatedFolds, list[FitOutput | None]]:
    """Fit the repeats that are needed, and return their folds and the output of each fit."""
    outputs: list[FitOutput | None] = []
    for part in folds.plan.repeats() if folds.adaptive else [folds.plan]:
        outputs += runner.each(part, request)
        if not needs_more(folds, outputs):
            break
    return folds.take(len(outputs)), outputs


def needs_more(folds: RepeatedFolds, outputs: Sequence[FitOutput | None]) -> bool:
    """Return whether random splits still add more than 5 % to the standard error.

    At least two repeats are needed. The result depends only on the losses of the repeats so far.
    """
    if len(outputs) >= folds.plan.n_fits or not folds.adaptive:
        return len(outputs) < folds.plan.n_fits
    predictions = collect_predictions(folds.inputs, outputs, folds.plan)
    return errors.needs_repeat(split_share(predictions), len(outputs) // folds.plan.n_folds)


def split_share(predictions: Predictions) -> float:
    """Return the fraction of the variance of the mean loss that is due to random splits."""
    row, repeat, cases = predictions.row, predictions.repeat, predictions.cases
    weight = predictions.look_up(predictions.weight)
    return errors.split_share(predictions.loss, row, repeat, cases.unit, weight)


def draw_given_folds(inputs: Inputs, cv: Any, root: SeedSequence, n_draws: int) -> RepeatedFolds:
    """Return the folds of a splitter, or of an iterable of (train, test)."""
    n, groups = len(inputs.target), inputs.groups
    # different draws of a splitter that shuffles, else its own folds
    splitter = plans.resolve_splitter(cv, inputs.target, groups, root)
    draws: dict[frozenset[bytes], KeptFolds] = {}
    for draw in range(n_draws if plans.draws_anew(splitter) else 1):
        seeded = plans.seed_splitter(splitter, root, draw)
        drawn = KeptFolds(n, plans.split_samples(seeded, inputs.X, inputs.target, groups))
        # folds of one group each are always the same; repeats would count as new evidence
        draws.setdefault(frozenset(np.sort(test).tobytes() for test in drawn.tests), drawn)
    splits, first = KeptFolds.join(draws.values()), next(iter(draws.values()))
    # the units that these folds separate
    repeats = plans.part_repeats(splits.tests, n)
    plan = plans.fold_plan(n, splits, 1 if repeats is None else len(repeats))
    ordered = not inputs.units.clustered and plans.keeps_order(splitter, first)
    at_random = ordered or plans.deals_at_random(splitter)
    inputs = inputs.with_options(
        method=inputs.method if plans.draws_anew(splitter) else GIVEN_FOLDS,
        counted=find_loss_units(inputs, splits.tests, repeats, at_random),
    )
    return RepeatedFolds(inputs, plan, first, ordered)


def find_loss_units(
    inputs: Inputs,
    tests: Sequence[np.ndarray],
    repeats: Sequence[Sequence[np.ndarray]] | None,
    at_random: bool,
) -> sampling_units.SamplingUnits:
    """Return the sampling units of the losses for the folds of `cv`.

    If test sets overlap (no `repeats`), all losses of a sample are one unit.
    """
    n, alone = len(inputs.target), np.arange(len(inputs.target))
    if inputs.units.clustered:
        return inputs.units
    # samples that are never separated count as one unit
    tested = np.unique(np.concatenate(tests))
    unit, parts = alone, [[test] for test in tests] if repeats is None else repeats
    # folds at random or in time order do not show which samples belong together
    if not at_random:
        unit = plans.number_kept_together(parts, n)
    n_units = len(np.unique(unit[tested]))
    if n_units in (1, len(tested)):  # a single test set does not reveal groups
        unit, n_units = alone, n
        if repeats is not None:
            return inputs.units
    else:
        unit[np.setdiff1d(alone, tested)] = unit[tested[0]]  # no unit of its own
    kind = sampling_units.UnitKind.SAMPLE if unit is alone else sampling_units.UnitKind.FOLD
    return sampling_units.SamplingUnits(
        sampling_units.number_by_appearance(unit), np.zeros(n_units, dtype=np.intp), True, kind
    )


def add_positive_weight(inputs: Inputs, sample_weight: Any) -> Inputs:
    """Return inputs with sample weights. Raise an error if the method does not support them."""
    if sample_weight is None:
        return inputs
    if not ERROR_METHODS[inputs.method].takes_weights:
        able = ", ".join(repr(name) for name, row in ERROR_METHODS.items() if row.takes_weights)
        raise ValueError(
            f"sample_weight must be None for method={inputs.method!r}, which draws all samples "
            f"with equal probability. For weights, use {able}."
        )
    _checks.refuse_shuffled_index({"X": inputs.X, "sample_weight": sample_weight})
    weights = read_weight(inputs.estimator, sample_weight, inputs.params, len(inputs.target))
    if weights.min() == 0:
        raise ValueError("sample_weight must be > 0, got 0. Leave out samples with zero weight.")
    return inputs.with_options(weight=weights)


def collect_repeats(
    folds: RepeatedFolds, outputs: Sequence[FitOutput | None]
) -> tuple[Estimate, Predictions]:
    """Return the error of repeated folds, and their out-of-fold predictions."""
    inputs, plan = folds.inputs, folds.plan
    if folds.ordered:
        # units are blocks of consecutive samples, as long as the losses are correlated, or all
        # samples if there are too few blocks; samples that were not tested form no unit
        done, n = completed(outputs), len(inputs.target)
        rows = np.concatenate([output.rows for output in done])
        losses = np.concatenate([inputs.loss_values(output) for output in done])
        unit = time_units(np.bincount(rows, losses, n), np.bincount(rows, minlength=n))
        stratum = np.zeros(int(unit.max()) + 1, dtype=np.intp)
        blocks = sampling_units.SamplingUnits(
            unit, stratum, True, sampling_units.UnitKind.TIME_BLOCK
        )
        inputs = inputs.with_options(counted=blocks)
    predictions = predict_repeats(inputs, plan, outputs)
    estimate = average_predictions(
        inputs,
        predictions,
        np.ones(len(predictions.row), dtype=bool),
        n_fits=plan.n_fits,
        n_failed=outputs.count(None),
        parameters={"n_folds": plan.n_folds, "n_repeats": plan.n_repeats},
    )
    return estimate, predictions


def predict_repeats(
    inputs: Inputs, plan: ResamplingPlan, outputs: Sequence[FitOutput | None]
) -> Predictions:
    """Return the out-of-fold predictions of repeated folds, with the inflation of the variance.

    The inflation is the mean squared deviation from the risk, divided by the variance of
    independent losses. The losses of a single test set count as independent. The ratio is
    estimated if samples are the units and each repeat draws new folds. Otherwise, only its part
    due to random splits is estimated. In time order, the error refers to the fitted models
    themselves, each trained on earlier samples.
    """
    # a single test set, or blocks of time: no inflation
    predictions = collect_predictions(inputs, outputs, plan)
    if plan.n_fits == 1 or inputs.units.kind is sampling_units.UnitKind.TIME_BLOCK:
        return predictions
    share = split_share(predictions)
    if inputs.units.clustered:
        return replace(predictions, inflation=errors.fixed_inflation(share))
    row, repeat, fold = predictions.row, predictions.repeat, predictions.fold
    weight = None if inputs.weight is None else predictions.weight[row]
    # covariance of losses that share a model, eq. (1) of doc/user_guide/formulas.rst
    shared = errors.shared_variance(predictions.loss, row, repeat, fold, weight)
    inflation = errors.inflation_of(shared, share, zero_one=inputs.loss.name == "zero_one")
    return replace(predictions, inflation=inflation)


def average_predictions(
    inputs: Inputs, predictions: Predictions, kept: np.ndarray, **fields: Any
) -> Estimate:
    """Return the mean loss of repeated folds, with the inflated variance of one repeat.

    `kept` marks the predictions that count.
    """
    # losses of each repeat, with the weights and units of the samples
    repeats = [
        inputs.count(predictions.row[part], predictions.loss[part])
        for of_repeat in predictions.repeats
        if len(part := np.arange(len(kept))[of_repeat][kept[of_repeat]])
    ]
    # mean loss, and its spread over the units
    tested = inputs.count(np.unique(predictions.row[kept]))
    everything, n, loss = errors.concatenate_tested(repeats), len(tested.losses), inputs.loss
    error, inflation = errors.mean_loss(everything), predictions.inflation
    variance = float(np.average((everything.losses - error) ** 2, weights=everything.weight))
    spreads = [errors.spread_of_mean(repeat) for repeat in repeats]
    whole = errors.spread_of_mean(everything)
    if whole.n_groups is not None:
        # mean over repeats, because the losses of a sample are similar in all repeats
        fields["intraclass_correlation"] = float(np.mean([one.correlation for one in spreads]))

    # variance of one cross-validation; for an error rate of n samples it is p (1 - p) / n
    naive = float(np.mean([one.variance for one in spreads]))
    equal_weights = tested.weight is None or not np.ptp(tested.weight)
    if tested.unit is None and equal_weights:
        if loss.name == "zero_one":
            naive = variance / n
        else:
            variance = naive * n
    standard_error = float(np.sqrt(inflation * naive))

    # degrees of freedom of the tails of the losses
    degrees = whole.degrees_of_freedom
    if loss.name != "zero_one" and np.isinf(degrees):
        bounded = loss.response == "predict_proba"
        degrees = errors.degrees_of_mean(everything, n, inflation, bounded=bounded)
    # no interval if a few losses determine the mean
    log = loss.name in NON_NEGATIVE
    non_negative = loss.name != "zero_one" and everything.losses.min() >= 0
    if non_negative and errors.is_too_wide(error, standard_error, degrees, log=log):
        reason, sentence = errors.explain_no_interval(everything, n, inflation, loss.name)
        fields |= {"no_interval": reason, "details": {"caution": sentence}}
    elif loss.name == "squared" and (sentence := errors.describe_tail(everything, n)):
        fields |= {"details": {"caution": sentence}}
    return _estimates.estimate_error(
        inputs,
        error,
        standard_error,
        np.array([errors.mean_loss(repeat) for repeat in repeats]),
        tested,
        variance,
        inflation=inflation,
        first="jeffreys",
        degrees_of_freedom=degrees,
        n_samples=n,
        **fields,
    )


def error_of_some(
    inputs: Inputs, predictions: Predictions, whole: Estimate, chosen: np.ndarray
) -> Estimate:
    """Return the error on some samples, from the predictions behind the error on all samples."""
    # predictions of these samples, in all repeats
    kept = chosen[predictions.row]
    units = np.unique(inputs.units.unit[predictions.row[kept]])
    return average_predictions(
        inputs,
        predictions,
        kept,
        n_groups=None if whole.n_groups is None else len(units),
        n_fits=whole.extra.n_fits,
        n_failed=whole.extra.n_failed,
        parameters=whole.extra.parameters,
    )


class ErrorMethod(NamedTuple):
    """A method of `error_interval`.

    Attributes
    ----------
    estimate : callable
        ``estimate(runner, root, **parameters)``. Its name is that of the method. The user guide
        shows the first line of its docstring.
    takes_weights : bool
        Whether samples may have weights.
    shares_fits : bool
        Whether several losses share the fits. The fits must form one plan and be few enough to
        keep.
    names : tuple of str
        Names of the methods, if there are several of one function.
    """

    estimate: Callable[..., Estimate]
    takes_weights: bool = True
    shares_fits: bool = True
    names: tuple[str, ...] = ()


Textbook = Literal["resubstitution", "holdout", "cross_validation", "leave_one_out"]
Published = Literal["cv_wald", "corrected_t", "nested_cv", "perturbation"]
ErrorMethodName = Literal["auto", "repeated_cv", Textbook, ErrorBootstrap, Published]
ROWS = (
    ErrorMethod(resubstitution),
    ErrorMethod(holdout),
    ErrorMethod(cross_validation),
    ErrorMethod(leave_one_out, shares_fits=False),
    ErrorMethod(bootstrap, takes_weights=False, shares_fits=False, names=errors.METHODS),
    ErrorMethod(repeated_cv, shares_fits=False),
    ErrorMethod(cv_wald),
    ErrorMethod(corrected_t),
    ErrorMethod(nested_cv),
    ErrorMethod(perturbation, shares_fits=False),
)
ERROR_METHODS = {name: row for row in ROWS for name in row.names or (row.estimate.__name__,)}
"""Methods of `error_interval` by name. Its docstring also lists them."""
AUTO: Final = "repeated_cv"
"""The method of ``method="auto"``."""
