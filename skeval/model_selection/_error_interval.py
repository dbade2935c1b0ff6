"""One interval for the error of any procedure."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np
from numpy.random import SeedSequence

from skeval._inference.estimate import ErrorEstimate, Results
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
) -> ErrorEstimate:
    r"""Estimate the error of a procedure on new samples, with a confidence interval.

    With `e_i` the losses of tested samples, `sd` and `var` with divisor `n - 1`, and `z` and `t`
    the quantiles at :math:`1 - a/2` of the normal and of Student's distribution, the intervals are

    - "repeated_cv" (ours, and the default "auto"): the mean of `R` stratified `K`-fold
      cross-validations, and Jeffreys' interval [8]_ for ``n / f`` samples. Named losses other
      than 0-1 have Student's interval of the logarithm. Its degrees of freedom are the smallest of
      ``n / f - 1``, :math:`2 n / (\kappa - 1)` for losses of kurtosis :math:`\kappa`, and
      :math:`2 \max(1, \alpha)` if Hill's index :math:`\alpha` of the largest losses [10]_ is less
      than 2, so that their variance is infinite; at least 1. The inflation `f` multiplies the
      variance and does not divide :math:`2 n / (\kappa - 1)`, except for losses of probabilities.
      The index is not used if the largest losses do not fit a power law. If the upper 95 % limit
      were more than 20 times the estimate, there is no interval: it is nan, and `no_interval`
      states the reason. The inflation is :math:`f = 1.15 + 8 / n + 1 / (2 R)`, or
      :math:`1 + \delta` if that is larger and :math:`\delta` exceeds its noise, where
      :math:`\delta` measures the covariance of losses that share a model, estimated from the
      repeats (Notes); with `groups`, and with one repeat, f is 1.55 + .45 / `R`.
    - "cross_validation", "leave_one_out": the intervals of `cross_val_error`, with one set of folds
      or with a fold for each sample or group. "resubstitution": the interval of
      `resubstitution_error`, which is no interval for the error on new samples.
    - "holdout": :math:`\bar e \mp z\, sd(e)/\sqrt{n_{test}}`.
    - "cv_wald" [2]_: :math:`\bar e \mp z\, s/\sqrt n` of one cross-validation, with
      :math:`s^2 = \frac1n \sum_i (e_i - \bar e)^2` (``variance="all_pairs"``) or the mean over
      the folds of `var(e)` in the fold ("within_folds").
    - "corrected_t" [3]_: with :math:`\mu_j` the mean losses of `J` random subsamplings that train
      on :math:`n_1` and test on :math:`n_2` samples,
      :math:`\bar\mu \mp t_{J-1}\, sd(\mu) \sqrt{1/J + n_2/n_1}`.
    - "conservative_z" [3]_: :math:`\bar\mu \mp z s`, where each of `M` pairs of disjoint halves
      is subsampled as well, with the same :math:`n_2`, to means :math:`a_m` and :math:`b_m`, and
      :math:`s^2 = \sum_m (a_m - b_m)^2 / (2M)`.
    - "nested_cv" [4]_: for each fold `k`, :math:`e^{out}` are its losses under the model trained
      without it, and :math:`e^{in}` the losses of each other fold `l` under the model trained
      without `k` and `l`; with :math:`a = (\bar e^{in} - \bar e^{out})^2`,
      :math:`b = var(e^{out})/|k|` and :math:`mse = \frac{K-1}{K} \overline{a - b}`, the interval is
      :math:`\bar e^{in} - bias \mp z \sqrt{mse}`, where
      :math:`bias = (1 + \frac{K-2}{K})(\bar e^{in} - \bar e^{out})` and :math:`\sqrt{mse}` is held
      between 1 and :math:`\sqrt K` times :math:`sd(e^{in})/\sqrt n`. A fit without `k` and `l` is
      used in both orders, so there are ``R K (K+1) / 2`` fits.
    - "oob", ".632", ".632+" [5]_: the estimates of `bootstrap_error` with its standard errors.
    - "perturbation" [6]_: the interval of `perturbation_interval` with
      ``statistic="cross_validation"``.

    For 0-1 loss each ``estimate -/+ quantile * se`` is by default replaced by Wilson's interval
    [1]_ for ``error (1 - error) / se^2`` samples, at most `n`, or for `n` (or `n / f`) samples if
    there is no error; for squared and absolute loss it is computed on the logarithmic scale. The
    published form is ``result.confidence_interval(method="normal")`` (or "t"). Limits outside the
    range of the loss are clipped.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn classifier, regressor or pipeline. Selection and tuning belong inside it.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or any other input of the estimator: texts, or a square precomputed kernel.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Labels or numbers; several columns are several labels or numbers of each sample.
    method : str, default="auto"
        One of the names above.
    cv : int, splitter or iterable of (train, test), default=None
        Folds of "cross_validation" or "repeated_cv", instead of `n_folds`. A number of folds, or a
        splitter with ``shuffle=True``, draws new folds for each repeat. All other folds are used as
        they are, and the method of the result is "given_folds": the error is then the error of
        `cross_val_error` on these folds. Samples that no test set separates count as one unit,
        unless the splitter assigns samples to folds at random or the folds consist of `groups`.
    confidence_level : float, default=0.95
        Nominal coverage.
    loss : str or callable, default=None
        "zero_one", "squared" or "absolute"; "log_loss" or "brier", of the probabilities of a
        classifier; or any loss of predictions, ``(y_true, y_pred) -> (n,)``. None means 0-1 loss
        for classifiers and squared error for regressors. With several columns of `y`: "hamming",
        the share of wrong labels of a sample (the default), "zero_one", whether any is wrong, or
        the mean over columns of "squared" or "absolute".
    groups : array-like of shape (n_samples,), default=None
        Group of each sample. Groups are never split. Intervals count groups instead of samples,
        with Student's quantile for their number.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as in scikit-learn's ``cross_validate``; arrays
        with one value per sample are split with the samples.
    sample_weight : array-like of shape (n_samples,), default=None
        Positive weights of the samples, in training and in mean losses. The bootstrap methods do
        not support them.
    n_folds : int, default=None
        Number `K` of folds; None is 5 for "nested_cv" and 10 for "repeated_cv", "cv_wald" and
        "perturbation", or fewer if the most frequent class has fewer
        members, or is in fewer groups.
    n_repeats : int, default=None
        Number of repeats; None is 10 for "repeated_cv" and "nested_cv", 50 subsamplings for
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
        Seed of all random draws.
    n_jobs : int, default=None
        Number of joblib workers; the result does not depend on it.
    verbose : int, default=0
        1 reports whether a solver is used and shows a progress bar; more adds joblib's own lines.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits. An interrupted run that is repeated with the same arguments and an
        integer `random_state` does only the remaining fits; see :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        What to do if a fit fails: raise an error that names the fit, or leave it out, count it and
        warn.

    Returns
    -------
    ErrorEstimate
        `replicates` holds the errors of the folds, subsamples, repeats or resamples; for "holdout",
        the losses. `interval` has the form that suits the loss and the method.
        ``confidence_interval(method=)`` accepts all `interval_methods`: the forms of
        `cross_val_error`, and "t" instead of "normal" for Student's quantile. `parameters` holds
        the parameters of the method, and `no_interval` the reason if there is no interval. With
        several columns of `y`, `by_output` has the error of each, on the same folds.

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
    There are two targets: the risk of the model fitted to these data, and its mean over data sets
    of this size. "nested_cv" and "repeated_cv" are designed for the first target; the theory of
    "cv_wald" and "corrected_t" applies to the second or to a target in between.

    *Coverage.* Measured coverage of the risk by the default at level .95, with 400 data sets per
    cell (standard error .011), or 100 (.022) for 1,000 samples and more, except for losses of
    probabilities. With two classes and 50 to 10,000 samples, coverage was .90 to .99, .963 on
    average, in 59 cells of populations and learners that were not used to choose the rule (.51 to
    .99 with a fixed factor of 1.55), at 1.16 times the median width of Wilson's interval on one
    cross-validation; it was .93 to .99 in the 43 cells that were used. With one class in 31 and 200
    to 1,000 samples it was .95 to .98 in 7 of these cells. Brier score: .90 to .98 in 30 cells. Log
    loss: .89 to 1.00 in 16 cells of models that never predict a probability of 0, but .80 to .99 in
    14 cells of nearest neighbors, which do. Absolute loss: .90 to .99 in 25 cells; squared loss:
    .93 to .99 in 21, and .92 to .95 in four where errors have heavy tails. It failed for least
    squares on 100 samples with 100 features (.24 and .01). With fewer repeats the interval is
    wider, and coverage over 102 cells of 0-1 loss was .963 on average with five repeats (at least
    .89), .961 with two (.88), and .957 with one, from which :math:`\delta` cannot be estimated (.53
    for a tree on exclusive-or). With five and with twenty folds it was .93 to 1.00, in 7 cells of
    100 samples each. Coverage with weights or more than two classes was not measured.

    :math:`\delta` is the variance of the risk between the models of different folds, in units of
    the variance of a mean of independent losses: the covariance of two losses of the same model
    minus the covariance of two losses of different models, times `n`, divided by the variance of
    the losses. Bengio and Grandvalet [9]_ show that it cannot be estimated from one
    cross-validation; repeats make it possible. See :doc:`/derivations/shared_variance`.

    "given_folds" (ours): the mean loss of all tested samples. Its units are the `groups`, the sets
    of samples that no test set separates, or single samples. The variance of the mean over units is
    multiplied by the same inflation if single samples are the units and folds are repeated, by 1
    for a single test set, and otherwise by 1.55 + .45 / R for R repeats. With this fixed factor,
    coverage in 200 data sets of each cell was, for linear discriminant analysis, .995 on a list of
    five or ten folds of 100 independent samples (at 1.9 and 1.5 times the width of a binomial
    interval), .975 to .99 on repeated folds, leave-one-out and random subsamples, and .95 on a
    single third; with 20 groups of 10 or 8 groups of 20 it was .96 to .98 on folds by groups, both
    as a list and with `groups`. For a tree it was .93 to .98 on independent samples, and .92 on a
    single third.

    *Several outputs.* Samples are the units, whatever the number of columns. "hamming" has
    Student's interval of the logarithm, and Jeffreys' interval if no label is wrong. Folds are
    stratified by the rarest label that a sample has. With six correlated labels, coverage in 100
    data sets of each cell was .93 to .98 for "hamming" and .97 to .99 for "zero_one" (ridge
    classifier, 5 nearest neighbors and a tree of depth 3, 50 and 200 samples); it was .93 and .97
    for the squared error of six numbers (least squares).

    A comparison [7]_ on data sets of 100 to 10,000 samples found that "corrected_t",
    "conservative_z" and "nested_cv" cover best, and that "holdout" and test shares above a tenth
    cover far too little.

    Folds, subsamples and halves are stratified by class. The random draws do not depend on the
    names of the classes, nor (except for the bootstrap and "cross_validation") on the names of the
    groups, but they do depend on the order of the samples.

    References
    ----------
    .. [1] Wilson, E. B. (1927). Probable inference, the law of succession, and statistical
       inference. Journal of the American Statistical Association 22, 209-212.
       :doi:`10.1080/01621459.1927.10502953`
    .. [2] Bayle, P., Bayle, A., Janson, L. and Mackey, L. (2020). Cross-validation confidence
       intervals for test error. Advances in Neural Information Processing Systems 33.
       :doi:`10.48550/arXiv.2007.12671`
    .. [3] Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine
       Learning 52, 239-281. :doi:`10.1023/A:1024068626366`
    .. [4] Bates, S., Hastie, T. and Tibshirani, R. (2024). Cross-validation: what does it estimate
       and how well does it do it? Journal of the American Statistical Association 119, 1434-1445.
       :doi:`10.1080/01621459.2023.2197686`
    .. [5] Efron, B. and Tibshirani, R. (1997). Improvements on cross-validation: the .632+
       bootstrap method. Journal of the American Statistical Association 92, 548-560.
       :doi:`10.1080/01621459.1997.10474007`
    .. [6] Jiang, B., Zhang, X. and Cai, T. (2008). Estimating the confidence interval for
       prediction errors of support vector machine classifiers. Journal of Machine Learning
       Research 9, 521-540.
    .. [7] Schulz-Kümpel, H., Fischer, S., Hornung, R., Boulesteix, A.-L., Nagler, T. and
       Bischl, B. (2024). Constructing confidence intervals for "the" generalization error: a
       comprehensive benchmark study. :doi:`10.48550/arXiv.2409.18836`
    .. [8] Brown, L. D., Cai, T. T. and DasGupta, A. (2001). Interval estimation for a binomial
       proportion. Statistical Science 16, 101-133. :doi:`10.1214/ss/1009213286`
    .. [9] Bengio, Y. and Grandvalet, Y. (2004). No unbiased estimator of the variance of K-fold
       cross-validation. Journal of Machine Learning Research 5, 1089-1105.
    .. [10] Hill, B. M. (1975). A simple general approach to inference about the tail of a
       distribution. Annals of Statistics 3, 1163-1174. https://doi.org/10.1214/aos/1176343247

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from skeval.model_selection import error_interval
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> result = error_interval(RidgeClassifier(), X, y, random_state=0)
    >>> print(result)
    error rate (repeated_cv)
      value              0.0432
      standard error     0.0094
      95 % interval      [0.0275, 0.0645] (jeffreys)
      samples            569
      loss               zero_one
      effective samples  468.7
      fits               100
    >>> print(result.confidence_interval(0.9))
    [0.0298, 0.0608] (90 %, jeffreys)
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


def estimate_outputs(
    inputs: Inputs, root: SeedSequence, parameters: dict[str, Any]
) -> ErrorEstimate:
    """Return the error over all outputs, and of each output on the same folds or resamples.

    Methods with a single plan share its fits.
    """
    method, (loss,) = ERROR_METHODS[inputs.method], inputs.losses
    if inputs.method in ONE_PLAN:
        inputs = inputs.with_options(finished=[])
    estimate = method(inputs, deepcopy(root), **parameters)
    by_output = {
        name: replace(
            method(inputs.with_options(losses=(own,)), deepcopy(root), **parameters), label=name
        )
        for name, own in losses_by_output(loss, inputs.target).items()
    }
    return replace(estimate, by_output=Results(by_output))


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
