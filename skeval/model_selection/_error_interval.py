"""One interval for the error of any procedure, and for any of its scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from inspect import signature
from typing import Any, NamedTuple, TypedDict, Unpack, overload

import numpy as np
from numpy.random import SeedSequence
from sklearn.base import is_classifier
from sklearn.metrics import get_scorer_names

from skeval._inference.errors import n_units
from skeval._inference.estimate import ErrorEstimate, Estimate, Results
from skeval._inference.intervals import give_no_limits, mirrored
from skeval._resampling.fit_loop import fit_each, score_each
from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.fit_params import Params, read_weight
from skeval._resampling.fit_request import FitRequest, find_response_method
from skeval._resampling.inputs import Inputs, validate_inputs
from skeval._resampling.losses import Loss, LossLike, resolve_loss
from skeval._resampling.plans import ResamplingPlan
from skeval._resampling.predictions import Predictions, collect_predictions
from skeval.metrics._scorers import range_of, read_scoring, row_of_scorer
from skeval.metrics._table import BINARY, REPORTED
from skeval.model_selection._fold_metrics import measure_metrics
from skeval.model_selection._interval_methods import (
    AUTO,
    ERROR_METHODS,
    FOR_ANY_SCORE,
    WITHOUT_HOLDOUT,
    WITHOUT_WEIGHTS,
    FitMeans,
    RepeatedFolds,
    average_repeats,
    average_subsamples,
    average_tested,
    count_in_time,
    find_inflation,
    plan_repeats,
)
from skeval.utils import _checks
from skeval.utils._checks import RandomStateLike


def error_interval(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    method: str = "auto",
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
    n_inner_resamples: int | None = None,
    variance: str | None = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
    error_score: float | str = "raise",
) -> ErrorEstimate:
    r"""Return the error that a procedure will make on new samples, with a confidence interval.

    Offers every published method and one of ours. With `e_i` the losses of tested samples, `sd` and
    `var` with divisor `n - 1`, and `z` and `t` the quantiles at :math:`1 - a/2` of the normal and
    of Student's distribution, the intervals are

    - "repeated_cv" (ours, what "auto" stands for): the mean of `R` stratified `K`-fold
      cross-validations, and Jeffreys' interval [11]_ for ``n / f`` samples. Squared and absolute
      loss have Student's interval of the logarithm. Its degrees of freedom are the smallest of
      ``n / f - 1``, :math:`2 n / (\kappa - 1)` for losses of kurtosis :math:`\kappa`, and
      :math:`2 \max(1, \alpha)` if Hill's index :math:`\alpha` of the largest losses [13]_ is less
      than 2, so that their variance is infinite; at least 1. The inflation `f` multiplies the
      variance and does not divide :math:`2 n / (\kappa - 1)`, except for losses of probabilities.
      The index is not used if the largest losses do not fit a power law. If the upper 95 % limit
      were more than 20 times the estimate, there is no interval: it is nan, and the result says
      why (`no_interval`). The inflation is :math:`f = 1.15 + 8 / n + 1 / (2 R)`, or
      :math:`1 + \delta` if that is larger and :math:`\delta` exceeds its noise, where
      :math:`\delta` is what losses share because one model tests them, estimated from the repeats
      (Notes); with `groups`, and with one repeat, f is 1.55 + .45 / `R`.
    - "cross_validation", "leave_one_out", "resubstitution": those of `cross_val_error`, of one
      set of folds and of as many as samples or groups, and of `resubstitution_error`, which is no
      interval of the error.
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
    - "nested_cv" [4]_: for each fold `k`, :math:`e^{out}` are its losses by the rule trained
      without it, :math:`e^{in}` those of each other fold `l` by the rule trained without `k` and
      `l`; with :math:`a = (\bar e^{in} - \bar e^{out})^2`, :math:`b = var(e^{out})/|k|` and
      :math:`mse = \frac{K-1}{K} \overline{a - b}`, the interval is
      :math:`\bar e^{in} - bias \mp z \sqrt{mse}`, where
      :math:`bias = (1 + \frac{K-2}{K})(\bar e^{in} - \bar e^{out})` and :math:`\sqrt{mse}` is
      held between 1 and :math:`\sqrt K` times :math:`sd(e^{in})/\sqrt n`. A fit without `k` and
      `l` serves both orders: ``R K (K+1) / 2`` fits.
    - "five_by_two" [5]_: :math:`p_{11} \mp t_5 s`, with
      :math:`s^2 = \frac15 \sum_r \sum_k (p_{rk} - \bar p_r)^2`.
    - "oob", ".632", ".632+" [6]_: the estimates of `bootstrap_error` with its standard errors.
    - "location_shifted_bootstrap" [7]_: the quantiles of the in-bag errors of the bootstrap rules,
      shifted by .632+ less the resubstitution error.
    - "two_stage_bootstrap" [7]_: the quantiles of .632+ computed again in resamples of the data,
      whose repeats count as cases of their own.
    - "replace_one_cv" [8]_: :math:`\bar e \mp z s/\sqrt n`, with
      :math:`s^2 = \frac n4 \sum_i (m_0 - m_i)^2`, where :math:`m_0` is the cross-validated error
      of one half of the data and :math:`m_i` that with its `i`-th case replaced by the `i`-th of
      the other half.
    - "perturbation" [9]_: that of `perturbation_interval` under ``statistic="cross_validation"``.

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
    y : array-like of shape (n_samples,)
        Labels or numbers.
    method : str, default="auto"
        One of the names above.
    cv : int, splitter or iterable of (train, test), default=None
        For "cross_validation", its folds. For "repeated_cv", instead of `n_folds`: the folds that
        the error is of. Those of a number,
        and of a splitter with ``shuffle=True``, are drawn anew for each repeat. All others are
        taken as they are, and the method of the result is "given_folds": the error is then that of
        `cross_val_error` on them, and where folds are neither dealt at random by the splitter nor
        made of `groups`, samples that no test set takes apart count as one unit.
    confidence_level : float, default=0.95
        Nominal coverage.
    loss : str or callable, default=None
        "zero_one", "squared" or "absolute"; "log_loss" or "brier", of the probabilities of a
        classifier; or any loss of predictions, ``(y_true, y_pred) -> (n,)``. None means 0-1 loss
        for classifiers and squared error for regressors.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample. Groups are never split, and they are the units that are counted, with
        Student's quantile for their number.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as in scikit-learn's ``cross_validate``; arrays
        with one value per sample are split with the samples.
    sample_weight : array-like of shape (n_samples,), default=None
        Positive weights of the samples, in training and in mean losses; for "perturbation" and the
        methods that hold samples out.
    n_folds : int, default=None
        Number `K` of folds; None is 5 for "nested_cv" and "replace_one_cv" and 10 for
        "repeated_cv", "cv_wald" and "perturbation", or as many as can be made: the most frequent
        class has a member, or a group that holds it, for each of them.
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
    n_inner_resamples : int, default=None
        Number of resamples of each resample of "two_stage_bootstrap"; None is 10.
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
        What to do if a fit fails: raise an error that names it, or leave it out, count it and warn.

    Returns
    -------
    ErrorEstimate
        `replicates` holds the errors of folds, subsamples, repeats or resamples that are averaged
        or whose quantiles are the limits; for "holdout" the losses. `interval` has the form that
        suits the loss and the method; ``confidence_interval(method=)`` accepts all
        `interval_methods`: those of `cross_val_error`, "t" instead of "normal" for Student's
        quantile, and "quantile" (of the replicates) for the two bootstraps with quantiles.
        `parameters` holds the parameters of the method, and `no_interval` the reason if there is no
        interval.

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
    There are two targets: the risk of the rule fitted to these data, and its mean over data sets of
    this size. "nested_cv" and "repeated_cv" are designed for the first target; the theory of
    "cv_wald", "corrected_t" and "replace_one_cv" applies to the second or to something in between.

    *Coverage.* Measured coverage of the risk by the default at level .95, with 400 data sets per
    cell (standard error .011), or 100 (.022) for 1,000 samples and more, except for losses of
    probabilities. With two classes and 50 to 10,000 samples, coverage was .90 to .99, .963 on
    average, in 59 cells of populations and learners that were not used to choose the rule (.51 to
    .99 with a fixed factor of 1.55), at 1.16 times the median width of Wilson's interval on one
    cross-validation; it was .93 to .99 in the 43 cells that were used. With one class in 31 and 200
    to 1,000 samples it was .95 to .98 in 7 of these cells. Brier score: .90 to .98 in 30 cells. Log
    loss: .89 to 1.00 in 16 cells of rules that never predict a probability of 0, but .80 to .99 in
    14 cells of nearest neighbours, which do. Absolute loss: .90 to .99 in 25 cells; squared loss:
    .93 to .99 in 21, and .92 to .95 in four where errors have heavy tails. It failed for least
    squares on 100 samples with 100 features (.24 and .01). With fewer repeats the interval is
    wider, and coverage over 102 cells of 0-1 loss was .963 on average with five repeats (at least
    .89), .961 with two (.88), and .957 with one, from which :math:`\delta` cannot be estimated (.53
    for a tree on exclusive-or). With five and with twenty folds it was .93 to 1.00, in 7 cells of
    100 samples each. Coverage with weights or more than two classes was not measured.

    :math:`\delta` is the variance of the risk between the models of different folds, in units of
    the variance of a mean of independent losses: the covariance of two losses of the same model
    minus the covariance of two losses of different models, times `n`, divided by the variance of
    the losses. Bengio and Grandvalet [12]_ show that it cannot be estimated from one
    cross-validation; repeats make it possible. See :doc:`/derivations/shared_variance`.

    "given_folds" (ours): the mean loss of all tested samples, with the variance of the mean of
    its units times the same inflation where single samples are the units and folds are repeated,
    and else times 1.55 + .45 / R, for R repeats: units are the `groups`, or samples that are never
    parted, or single samples; a single test set has a factor of 1. (The figures that follow are of
    the fixed factor.) In 200 data sets of each
    cell, linear discriminant analysis: .995 on five or ten folds of 100 independent samples as a
    list, at 1.9 and 1.5 times the width of a binomial interval, .975 to .99 on repeated
    folds, leave-one-out and random subsamples, .95 on a single third; with 20 groups of 10 or 8 of
    20, .96 to .98 on folds by groups, as a list and with `groups`. A tree had .93 to .98 on
    independent samples, .92 on a single third.

    A comparison [10]_ on data sets of 100 to 10,000 samples found that "corrected_t",
    "conservative_z" and "nested_cv" cover best, that "five_by_two", "holdout" and test shares above
    a tenth cover far too little, and that the two bootstraps with quantiles cover half as often as
    they should.

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
    .. [5] Dietterich, T. G. (1998). Approximate statistical tests for comparing supervised
       classification learning algorithms. Neural Computation 10, 1895-1923.
       :doi:`10.1162/089976698300017197`
    .. [6] Efron, B. and Tibshirani, R. (1997). Improvements on cross-validation: the .632+
       bootstrap method. Journal of the American Statistical Association 92, 548-560.
       :doi:`10.1080/01621459.1997.10474007`
    .. [7] Noma, H., Shinozaki, T., Iba, K., Teramukai, S. and Furukawa, T. A. (2021). Confidence
       intervals of prediction accuracy measures for multivariable prediction models based on the
       bootstrap-based optimism correction methods. Statistics in Medicine 40, 5691-5701.
       :doi:`10.48550/arXiv.2005.01457`
    .. [8] Austern, M. and Zhou, W. (2020). Asymptotics of cross-validation.
       :doi:`10.48550/arXiv.2001.11111`
    .. [9] Jiang, B., Zhang, X. and Cai, T. (2008). Estimating the confidence interval for
       prediction errors of support vector machine classifiers. Journal of Machine Learning
       Research 9, 521-540.
    .. [10] Schulz-Kümpel, H., Fischer, S., Hornung, R., Boulesteix, A.-L., Nagler, T. and
       Bischl, B. (2024). Constructing confidence intervals for "the" generalization error: a
       comprehensive benchmark study. :doi:`10.48550/arXiv.2409.18836`
    .. [11] Brown, L. D., Cai, T. T. and DasGupta, A. (2001). Interval estimation for a binomial
       proportion. Statistical Science 16, 101-133. :doi:`10.1214/ss/1009213286`
    .. [12] Bengio, Y. and Grandvalet, Y. (2004). No unbiased estimator of the variance of K-fold
       cross-validation. Journal of Machine Learning Research 5, 1089-1105.
    .. [13] Hill, B. M. (1975). A simple general approach to inference about the tail of a
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
    method = _checks.check_option("method", method, ("auto", *ERROR_METHODS))
    method = AUTO if method == "auto" else method
    run = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory, "error_score": error_score}
    run |= {"confidence_level": confidence_level}
    inputs = validate_inputs(
        estimator, X, y, groups, loss=loss, params=params, method=method, **run
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
        n_inner_resamples=n_inner_resamples,
        variance=variance,
    )
    return ERROR_METHODS[method](inputs, _checks.root_seed(random_state), **parameters)


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


def collect_repeats(
    folds: RepeatedFolds, outputs: Sequence[FitOutput | None]
) -> tuple[ErrorEstimate, Predictions]:
    """Return the error of repeated folds, and their out-of-fold predictions."""
    folds = count_in_time(folds, outputs)
    inflation = find_inflation(folds.inputs, folds.plan, outputs)
    predictions = collect_predictions(folds.inputs, outputs, folds.plan, inflation)
    return average_repeats(folds, outputs), predictions


def error_of_some(
    inputs: Inputs, predictions: Predictions, whole: ErrorEstimate, chosen: np.ndarray
) -> ErrorEstimate:
    """Return the error on some samples, by the models that made the error on all."""
    repeats = []
    for of_repeat in predictions.repeats:
        part = of_repeat & chosen[predictions.row]
        if part.any():
            repeats.append(inputs.count(predictions.row[part], predictions.loss[part]))
    kept = np.unique(predictions.row[chosen[predictions.row]])
    tested = inputs.count(kept, np.zeros(len(kept)))
    return average_tested(
        inputs,
        repeats,
        tested,
        predictions.inflation,
        n_groups=None if whole.n_groups is None else n_units(tested),
        n_fits=whole.n_fits,
        n_failed=whole.n_failed,
        parameters=whole.parameters,
    )


def read_positive_weight(inputs: Inputs, sample_weight: Any) -> np.ndarray | None:
    """Return the weights of the samples, or None; raise where nothing would take them."""
    if sample_weight is None:
        return None
    if inputs.method in WITHOUT_WEIGHTS:
        able = ", ".join(repr(name) for name in ERROR_METHODS if name not in WITHOUT_WEIGHTS)
        raise ValueError(
            f"sample_weight must be None for method={inputs.method!r}, which draws samples in "
            f"proportion to their number; those that take weights are {able}."
        )
    weights = read_weight(inputs.estimator, sample_weight, inputs.params, len(inputs.target))
    if weights.min() == 0:
        raise ValueError("sample_weight must be > 0, got 0; leave out samples that weigh nothing.")
    return weights


class MeanLoss(NamedTuple):
    """A score that is `best` less the mean of a loss."""

    loss: str
    best: float


def find_mean_loss(label: str) -> MeanLoss | None:
    """Return the loss of single samples that makes a score; None where it is of another kind."""
    row = row_of_scorer(label)
    if row is None or row.loss is None or row.root:
        return None
    return MeanLoss(row.loss, 1.0 if row.greater_is_better else 0.0)


Score = Callable[..., float]
Several = list[str] | tuple[str, ...] | Mapping[str, Any]


class Options(TypedDict, total=False):
    """Options of `score_interval` beside `scoring`, which decides the type of the result."""

    method: str
    confidence_level: float
    groups: Any
    params: Params
    sample_weight: Any
    n_folds: int | None
    n_repeats: int | None
    n_pairs: int | None
    test_size: float | int | None
    variance: str | None
    random_state: RandomStateLike
    n_jobs: int | None
    verbose: int
    memory: Any
    error_score: float | str


@overload
def score_interval(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    scoring: str | Score | None = None,
    **options: Unpack[Options],
) -> ErrorEstimate: ...
@overload
def score_interval(
    estimator: Any, X: Any, y: Any, *, scoring: Several, **options: Unpack[Options]
) -> Results: ...
def score_interval(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    scoring: Any = None,
    method: str = AUTO,
    confidence_level: float = 0.95,
    groups: Any = None,
    params: Params = None,
    sample_weight: Any = None,
    n_folds: int | None = None,
    n_repeats: int | None = None,
    n_pairs: int | None = None,
    test_size: float | int | None = None,
    variance: str | None = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
    error_score: float | str = "raise",
) -> ErrorEstimate | Results:
    r"""Return the score that a procedure will have on new samples, with a confidence interval.

    Takes any scorer, or several from one set of fits. The default "repeated_cv" (ours) repeats
    cross-validation as `error_interval` does, and treats a score according to its kind:

    - scores that are mean losses ("accuracy", "neg_log_loss", "neg_brier_score",
      "neg_mean_squared_error", "neg_mean_absolute_error") are computed as the error, with the sign
      changed;
    - "balanced_accuracy", "f1_macro", "matthews_corrcoef", "r2", "neg_root_mean_squared_error" and,
      for two classes, "roc_auc", "average_precision", "f1", "precision" and "recall" are computed
      from all tested samples of a repeat together (areas only compare samples of the same test
      set). The variance is that of independent samples, inflated as for the error, or more if the
      score differs between repeats;
    - any other score is averaged over the test sets, with the interval of "corrected_t".

    "corrected_t" and "conservative_z" [1]_ and "five_by_two" [2]_ need only one score per fit. With
    :math:`\mu_j` the scores of `J` random subsamplings that train on :math:`n_1` and test on
    :math:`n_2` samples, "corrected_t" is

    .. math:: \bar\mu \mp t_{J-1}\, sd(\mu) \sqrt{1/J + n_2/n_1} .

    The other methods of `error_interval` that hold samples out need the loss of each sample, so
    they only accept scores that are mean losses. Larger is better.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn classifier, regressor or pipeline. Selection and tuning belong inside it.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or any other input of the estimator: texts, or a square precomputed kernel.
    y : array-like of shape (n_samples,)
        Labels or numbers.
    scoring : str, callable, list, tuple or dict, default=None
        One score or several, as in scikit-learn's ``cross_validate``; None is "accuracy" for
        classifiers and "r2" for regressors.
    method : str, default="repeated_cv"
        "repeated_cv", "corrected_t", "conservative_z", "five_by_two", "holdout", "cv_wald",
        "nested_cv" or "replace_one_cv"; see `error_interval`.
    confidence_level : float, default=0.95
        Nominal coverage.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample; groups are not split.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as in scikit-learn's ``cross_validate``.
    sample_weight : array-like of shape (n_samples,), default=None
        Positive weights of the samples, in every fit and in everything that is computed from single
        samples; scores of fits are not weighted.
    n_folds, n_repeats, n_pairs : int, default=None
        Parameters of the method, as in `error_interval`.
    test_size : float or int, default=None
        Share or number of samples (or groups) in the test set of a subsampling.
    variance : {"all_pairs", "within_folds"}, default=None
        The variance of "cv_wald", as in `error_interval`.
    random_state : int, RandomState, Generator or None, default=None
        Seed of all random draws.
    n_jobs : int, default=None
        Number of joblib workers; the result does not depend on it.
    verbose : int, default=0
        1 reports whether a solver is used and shows a progress bar; more adds joblib's own lines.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits; see :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        What to do if a fit fails: raise an error that names it, or leave it out, count it and warn.

    Returns
    -------
    ErrorEstimate or dict
        An estimate, or one per name for several scores. Its `name` is the name of the score, with
        brackets if the score is a function; `replicates` holds the scores of folds, subsamples or
        repeats, and is empty for a score of all samples together; `n_undefined` is the number of
        fits that were left out because they failed or their score is undefined.

    Raises
    ------
    ValueError
        If the method needs the loss of each sample and the score is not a mean loss, if the method
        does not take a parameter that is passed, or if a fit fails; the error names the method, the
        fold and the rarest class.

    Warns
    -----
    UndefinedMetricWarning
        If a score is undefined for some fits, which are left out; or if it is the same for all
        fits, so that the limits are nan.

    Notes
    -----
    Coverage of nominal 95 % intervals by "repeated_cv", with that of "corrected_t" on the same data
    in brackets (80 data sets per cell): "roc_auc" 0.89 to 1.00 (0.75 to 0.94), "average_precision"
    0.96 to 1.00 (0.44 to 0.82), "balanced_accuracy" 0.97 to 1.00 (0.66 to 0.96) and "f1_macro" 0.97
    to 1.00 (0.61 to 0.96), in five cells of 100 samples with 5 features and a class of a half or a
    tenth (linear discriminant analysis and, in one cell, a tree of depth 3); "r2" 0.93 to 0.96
    (0.85 to 0.93), in eight cells of 50 and 100 samples (ridge regression and least squares). The
    interval of "r2" had 0.24 to 0.64 times the width of "corrected_t", because the R2 of a test set
    of 5 or 10 samples is too low, in these cells by 0.17 to 0.76 on average; scores of the third
    kind above have this bias.

    Intervals of scikit-learn's named scores are clipped to the range of the score. In a small
    sample, a test set of a tenth may contain one class only, so that "corrected_t" has no area
    under the curve: increase `test_size`.

    References
    ----------
    .. [1] Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine
       Learning 52, 239-281. :doi:`10.1023/A:1024068626366`
    .. [2] Dietterich, T. G. (1998). Approximate statistical tests for comparing supervised
       classification learning algorithms. Neural Computation 10, 1895-1923.
       :doi:`10.1162/089976698300017197`

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
      value           0.9881
      standard error  0.0037
      95 % interval   [0.9779, 0.9936] (score)
      samples         569
      undefined       0
      fits            100
    """
    held_out = [name for name in ERROR_METHODS if name not in WITHOUT_WEIGHTS + WITHOUT_HOLDOUT]
    _checks.check_option("method", method, held_out)
    run = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory, "error_score": error_score}
    run |= {"confidence_level": confidence_level}
    inputs = validate_inputs(
        estimator, X, y, groups, with_loss=False, params=params, method=method, **run
    )
    inputs = inputs.with_options(weight=read_positive_weight(inputs, sample_weight))
    if scoring is None:
        scoring = "accuracy" if is_classifier(estimator) else "r2"
    parameters = take_parameters(
        method,
        n_folds=n_folds,
        n_repeats=n_repeats,
        n_pairs=n_pairs,
        test_size=test_size,
        variance=variance,
    )
    read_scoring(estimator, scoring)  # raises before anything is fitted
    labels, root = label_parts(scoring), _checks.root_seed(random_state)
    if method == AUTO:
        results = score_repeats(inputs, scoring, labels, root, parameters)
    elif method in FOR_ANY_SCORE:
        results = score_fits(inputs, scoring, labels, root, parameters)
    else:
        results = score_losses(inputs, labels, root, parameters)
    if isinstance(scoring, list | tuple | set | dict):
        return Results({name: results[name] for name in labels})
    return results.popitem()[1]


def label_parts(scoring: Any) -> dict[str, str]:
    """Return, for each name that a scorer gives a score, what `scoring` calls it.

    That is a name of scikit-learn, or one that none of these has.
    """
    if isinstance(scoring, dict):
        return {name: label_of(part, name) for name, part in scoring.items()}
    parts = list(scoring) if isinstance(scoring, list | tuple | set) else [scoring]
    labels = [label_of(part, getattr(part, "__name__", type(part).__name__)) for part in parts]
    return dict(zip(labels, labels, strict=True))


def label_of(part: Any, name: str) -> str:
    """Return the name of a score; of one that scikit-learn does not name, with brackets."""
    return part if isinstance(part, str) else f"{name}()"


ANY = Loss("", np.subtract)
"""Stands for the loss of a score that is no mean of losses: no bounds, and a normal interval."""


def score_losses(
    inputs: Inputs, labels: dict[str, str], root: SeedSequence, parameters: dict[str, Any]
) -> dict[str, ErrorEstimate]:
    """Return scores that are means of losses, by a method that needs single losses.

    The fits of the first score serve all others.
    """
    losses = losses_of(inputs, labels)
    inputs = inputs.with_options(finished=[])
    results = {}
    for (name, label), loss in zip(labels.items(), losses, strict=True):
        of_loss = inputs.with_options(losses=(loss, *losses))
        error = ERROR_METHODS[inputs.method](of_loss, root, **parameters)
        results[name] = score_of_error(inputs, label, error)
    return results


def score_fits(
    inputs: Inputs,
    scoring: Any,
    labels: dict[str, str],
    root: SeedSequence,
    parameters: dict[str, Any],
) -> dict[str, ErrorEstimate]:
    """Return the scores of a method that needs only one number per fit."""
    scores: list[Any] = []

    def measure(inputs: Inputs, plan: ResamplingPlan, name: str, label: str) -> FitMeans:
        """Return a score of each fit as `FitMeans`; all scores come from the same fits."""
        if not scores:
            scores.extend(score_each(inputs, plan, scoring))
        return take_score(scores, name, label)

    results = {}
    for name, label in labels.items():
        error = ERROR_METHODS[inputs.method](
            inputs.with_options(losses=(loss_of_score(inputs, label),)),
            root,
            measure=partial(measure, name=name, label=label),
            **parameters,
        )
        results[name] = score_of_error(inputs, label, error)
    return results


def loss_of_score(inputs: Inputs, label: str) -> Loss:
    """Return the loss whose mean makes a score, or what stands for it."""
    mean = find_mean_loss(label)
    return ANY if mean is None else resolve_loss(mean.loss, inputs.target)


def take_score(scores: list[Any], name: str, label: str) -> FitMeans:
    """Return one score of each fit, or the mean loss that makes it; undefined scores are nan."""
    of_name = [score[name] if isinstance(score, dict) else score for score in scores]
    several = next((score for score in of_name if isinstance(score, dict)), None)
    if several is not None:
        raise TypeError(
            f"scoring must give one number by each scorer, {name!r} gave a dict with "
            f"{', '.join(map(repr, several))}; give a dict of scorers instead."
        )
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
) -> dict[str, ErrorEstimate]:
    """Return the scores of repeated cross-validation by name, all from the same fits.

    Means of losses are errors, as in `error_interval`. Metrics of `measure_metrics` are of all
    tested samples of a repeat together, and any other score is the mean over the test sets.
    """
    parts = scoring if isinstance(scoring, dict) else dict.fromkeys(labels, scoring)
    if isinstance(scoring, list | tuple | set):
        parts = dict(zip(labels, scoring, strict=True))
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
        request = FitRequest(scorer=read_scoring(inputs.estimator, scorers), scoring=scorers)
    outputs = list(fit_each(inputs, plan, request))

    results = {}
    for (name, label), loss in zip(errors.items(), losses, strict=True):
        of_loss = folds._replace(inputs=inputs.with_options(losses=(loss,)))
        results[name] = score_of_error(inputs, label, average_repeats(of_loss, outputs))
    scores = [np.nan if one is None or one.scores is None else one.scores[0] for one in outputs]
    shown = {"n_folds": plan.n_folds, "n_repeats": plan.n_repeats}
    for name, label in others.items():
        of_score = inputs.with_options(losses=(loss_of_score(inputs, label),))
        means, ratio = take_score(scores, name, label), 1 / (plan.n_folds - 1)
        error = average_subsamples(of_score, means, ratio, shown)
        results[name] = score_of_error(inputs, label, error)
    if len(results) < len(labels):
        inflation = find_inflation(inputs, plan, outputs)
        predictions = collect_predictions(inputs, outputs, plan, inflation)
        metrics = measure_metrics(predictions, inputs.confidence_level)
        for name in labels.keys() - results.keys():
            warn_left_out(labels[name], outputs.count(None), len(outputs))
            metric = metrics.get(reported[name] or "")
            result = score_of_metric(inputs, labels[name], metric)
            results[name] = replace(
                result, n_fits=plan.n_fits, n_undefined=outputs.count(None), parameters=shown
            )
    return results


def find_reported(inputs: Inputs, label: str) -> str | None:
    """Return the name of a scorer's metric in `measure_metrics`, or None."""
    row, each = row_of_scorer(label), REPORTED.get(label.removeprefix("neg_"))
    if row is None or each not in row.reported:
        return None
    classes = None if inputs.target.classes is None else inputs.target.classes.tolist()
    of_numbers = row.response == "predict" and row.from_table is None
    if classes is None or of_numbers:
        return each.name if classes is None and of_numbers else None
    if row.response != "predict" and find_response_method(inputs.estimator, inputs.target) is None:
        return None
    if row.targets == BINARY and len(classes) != 2:
        return None
    positive = each.of_class or (row.targets == BINARY and "pos_label" in row.keywords)
    if positive and (len(classes) != 2 or classes[1] != 1):  # scikit-learn's positive class
        return None
    return f"{each.name}, {classes[1]}" if each.of_class else each.name


def score_of_metric(inputs: Inputs, label: str, metric: Estimate | None) -> ErrorEstimate:
    """Return a metric of out-of-fold predictions as a score; larger is better."""
    value, standard_error, limits = np.nan, np.nan, {"none": give_no_limits}
    if metric is not None:
        value, standard_error, limits = metric.value, metric.standard_error, dict(metric.limits)
    if label.startswith("neg_"):
        value = -value
        limits = {form: partial(mirrored, 0.0, ends) for form, ends in limits.items()}
    result = ErrorEstimate(
        name=label,
        value=value,
        standard_error=standard_error,
        method=AUTO,
        limits=limits,
        n_samples=len(inputs.target),
        n_groups=inputs.units.n_groups,
        confidence_level=inputs.confidence_level,
        bounds=range_of(label),
    )
    if not np.isfinite(result.interval.low):
        _checks.warn_undefined(
            f"scoring {label!r} is {value:.4g} and has no interval: it is undefined for these "
            "answers, or the same for all answers like them."
        )
    return result


def losses_of(inputs: Inputs, labels: dict[str, str]) -> tuple[Loss, ...]:
    """Return the losses whose means the scores are; raise where one is of another kind."""
    losses = []
    for label in labels.values():
        mean = find_mean_loss(label)
        if mean is None:
            means = [name for name in get_scorer_names() if find_mean_loss(name) is not None]
            raise ValueError(
                f"scoring must be {', '.join(map(repr, means))} for method={inputs.method!r}, "
                f"which needs losses of single samples, got {label!r}; methods for any score are "
                f"{', '.join(map(repr, FOR_ANY_SCORE))}."
            )
        argument = f"scoring={label!r}"
        losses.append(resolve_loss(mean.loss, inputs.target, inputs.estimator, argument))
    return tuple(losses)


def warn_left_out(label: str, n_undefined: int, n_fits: int) -> None:
    """Warn if a score is undefined for some fits."""
    if n_undefined:
        _checks.warn_undefined(
            f"scoring {label!r} is undefined for {n_undefined} of {n_fits} fits, which are "
            "left out; a larger test_size may help where test sets hold one class."
        )


def score_of_error(inputs: Inputs, label: str, error: ErrorEstimate) -> ErrorEstimate:
    """Return a score from the mean loss that makes it, or from the mean of the score itself."""
    limits: Mapping[str, Any] = error.limits
    value, replicates, mean = error.value, error.replicates, find_mean_loss(label)
    if mean is not None:
        value, replicates = mean.best - value, mean.best - replicates
        limits = {form: partial(mirrored, mean.best, ends) for form, ends in limits.items()}
    n_undefined = error.n_failed or int(np.isnan(replicates).sum())
    warn_left_out(label, n_undefined, error.n_fits or 0)
    classes = inputs.target.classes
    return replace(
        error,
        name=label,
        value=value,
        replicates=replicates,
        limits=limits,
        bounds=range_of(label, None if classes is None else len(classes)),
        n_samples=len(inputs.target),
        n_groups=inputs.units.n_groups,
        n_undefined=n_undefined,
        loss="",
    )
