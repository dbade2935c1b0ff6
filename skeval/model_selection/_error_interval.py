"""One interval for the error of any procedure."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np
from numpy.random import SeedSequence

from skeval._inference.estimate import Estimate, Results
from skeval._resampling.fit_params import Params, read_weight
from skeval._resampling.inputs import Inputs, validate_inputs
from skeval._resampling.losses import LossLike, losses_by_output
from skeval.model_selection._interval_methods import AUTO, ERROR_METHODS, WITHOUT_WEIGHTS
from skeval.utils import _checks
from skeval.utils._checks import RandomStateLike
from skeval.utils._options import ErrorMethod, ErrorScore, FoldVariance

ONE_PLAN = ("holdout", "repeated_cv", "cv_wald", "corrected_t", "conservative_z", "nested_cv")
"""Methods whose fits are one plan, so that several losses can share them."""


def error_interval(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    method: ErrorMethod = "auto",
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
        `replicates` holds the errors of the folds, subsamples, repeats or resamples; for "holdout",
        the losses. `interval` has the form that suits the loss and the method.
        ``confidence_interval(method=)`` accepts all `interval_methods`: the forms of
        `cross_val_error`, and "t" instead of "normal" for Student's quantile. In `extra`, `n_fits`
        and `n_failed` count the fits, `parameters` holds the parameters of the method, and
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
    root = _checks.root_seed(random_state)
    if inputs.target.outputs:
        return estimate_outputs(inputs, root, parameters)
    return ERROR_METHODS[method](inputs, root, **parameters)


def estimate_outputs(inputs: Inputs, root: SeedSequence, parameters: dict[str, Any]) -> Estimate:
    """Return the error over all outputs, and of each output on the same folds or resamples.

    Methods with a single plan share its fits.
    """
    method, (loss,) = ERROR_METHODS[inputs.method], inputs.losses
    if inputs.method in ONE_PLAN:
        inputs = inputs.with_options(finished=[])
    estimate = method(inputs, deepcopy(root), **parameters)
    by_output = {
        name: method(inputs.with_options(losses=(own,)), deepcopy(root), **parameters)
        for name, own in losses_by_output(loss, inputs.target).items()
    }
    return replace(estimate, extra=replace(estimate.extra, by_output=Results(by_output)))


def take_parameters(method: str, **parameters: Any) -> dict[str, Any]:
    """Return the parameters that are not None; raise if the method does not take one of them."""
    takes = signature(ERROR_METHODS[method]).parameters
    parameters = {name: value for name, value in parameters.items() if value is not None}
    for name, value in parameters.items():
        if name not in takes:
            accepted = [
                accepted for accepted in takes if accepted not in ("inputs", "root", "measure")
            ]
            raise ValueError(
                f"{name} is no parameter of method={method!r}, which takes "
                f"{' and '.join(accepted) or 'no parameters'}; got {value!r}."
            )
    return parameters


def read_positive_weight(inputs: Inputs, sample_weight: Any) -> np.ndarray | None:
    """Return the weights of the samples, or None; raise if the method does not support them."""
    if sample_weight is None:
        return None
    if inputs.method in WITHOUT_WEIGHTS:
        able = ", ".join(repr(name) for name in ERROR_METHODS if name not in WITHOUT_WEIGHTS)
        raise ValueError(
            f"sample_weight must be None for method={inputs.method!r}, which draws samples in "
            f"proportion to their number; those that take weights are {able}."
        )
    _checks.refuse_shuffled_index(inputs.X, {"sample_weight": sample_weight})
    weights = read_weight(inputs.estimator, sample_weight, inputs.params, len(inputs.target))
    if weights.min() == 0:
        raise ValueError("sample_weight must be > 0, got 0; leave out samples that weigh nothing.")
    return weights
