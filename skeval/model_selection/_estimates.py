"""Estimates by resubstitution, one cross-validation, perturbation resampling, or a test set.

Resubstitution is the error on the training samples. Cross-validation is the error on held-out
folds, and leave-one-out uses one fold for each sample. Perturbation repeats either of them with
random weights of the samples. Each of these methods is a function from a runner, a seed and its
parameters to an estimate.

The last part is for predictions of a test set that was sampled at random or by class, and for the
required size of a test set.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from numbers import Real
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.random import SeedSequence

from skeval._adapters.runner import Runner
from skeval._inference import errors, intervals
from skeval._inference.estimate import Estimate, HoldoutExtra, PerturbationExtra, Result
from skeval._inference.intervals import DRAWN, mirrored
from skeval._inference.paired import time_units
from skeval._resampling import plans
from skeval._resampling.fit_request import FitRequest
from skeval._resampling.inputs import (
    FitOutput,
    Inputs,
    Loss,
    LossLike,
    Params,
    check_takes_weights,
    mean_of_tested,
    resolve_loss,
    validate_inputs,
    weight_parameters,
)
from skeval._resampling.sampling_units import SamplingUnits
from skeval.metrics._scorers import name_of_scorer, name_scoring, range_of, row_of_scorer
from skeval.utils import _checks
from skeval.utils._checks import ErrorScore, RandomStateLike, Statistic
from skeval.utils._text import align_text, write_number

INFLATED = "inflated"
"""Interval with the inflated variance of one cross-validation."""
TOO_WIDE = (
    "No interval: the upper limit would be more than 20 times the error, which is too wide to be "
    "useful. Collect more samples."
)


def estimate_error(
    inputs: Inputs,
    value: float,
    standard_error: float,
    replicates: np.ndarray,
    tested: errors.TestLosses | None = None,
    variance: float = np.nan,
    *,
    inflation: float = 1.0,
    binomial: bool = True,
    widest: float | None = None,
    **fields: Any,
) -> Estimate:
    """Return the estimate of a method. By default all samples and groups are counted.

    If the value is a mean of losses, `tested` contains the losses. Otherwise, its losses are 0,
    and it only has the weights and units of the samples. `variance` is then the variance of a
    single loss (for 0-1 loss with `binomial`, ``value (1 - value)``), and `inflation` is the
    factor of the squared standard error. The interval is nan if it is too wide to be useful, with
    the standard error or with `widest`.
    """
    loss, n_classes = inputs.loss.name, inputs.target.n_classes
    shared: dict[str, Any] = {"n_samples": len(inputs.target), "n_groups": inputs.units.n_groups}
    # rounding may exceed the range
    value = float(np.clip(value, *intervals.bounds_of(loss, n_classes)))
    if binomial and loss == "zero_one":
        variance = value * (1 - value)
    if tested is not None and np.isfinite([variance, standard_error]).all():
        # number of independent samples with this standard error, or of units if nothing varies
        size = tested.effective_size
        units = size if tested.unit is None else float(len(np.unique(tested.unit)))
        size = intervals.size_from_variance(variance, standard_error, size, units / inflation)
        shared["effective_n_samples"] = size
    widest, degrees = widest or standard_error, fields.get("degrees_of_freedom", np.inf)
    if loss in intervals.NON_NEGATIVE and errors.is_too_wide(value, widest, degrees):
        shared |= {"no_interval": "too_wide", "details": {"caution": TOO_WIDE}}
    return errors.mean_loss_estimate(
        value,
        float(standard_error),
        loss=loss,
        n_classes=n_classes,
        method=inputs.method,
        replicates=replicates,
        confidence_level=inputs.confidence_level,
        **(shared | fields),
    )


def size_of_rate(
    inputs: Inputs, value: float, standard_error: float, n_samples: float, n_groups: int | None
) -> float | None:
    """Return the effective number of samples of an error rate, or None for other losses."""
    no_wrong_label = inputs.loss.name == "hamming" and value <= 0
    if inputs.loss.name != "zero_one" and not no_wrong_label:
        return None
    return intervals.size_of_proportion(value, standard_error, n_samples, n_groups)


class MeanLoss(NamedTuple):
    """A score that equals `best` minus a mean loss."""

    loss: str
    best: float


def find_mean_loss(label: str) -> MeanLoss | None:
    """Return the loss of a score that is a mean loss, or None for other scores."""
    row = row_of_scorer(label)
    if row is None or row.loss is None or row.root:
        return None
    return MeanLoss(row.loss, 1.0 if row.greater_is_better else 0.0)


class NamedScore(NamedTuple):
    """A score with its name in scikit-learn, or the name of its function followed by "()"."""

    label: str
    scoring: Any

    @property
    def mean(self) -> MeanLoss | None:
        """Loss of a score that is a mean loss, or None for other scores."""
        return find_mean_loss(self.label)

    def bounds(self, n_classes: int) -> intervals.Limits:
        """Return the smallest and the largest score, infinite if unknown."""
        return range_of(self.scoring, n_classes or None)


def name_scores(scoring: Any) -> dict[str, NamedScore]:
    """Return one score or several, with their names in the results as keys."""
    # names of a dict, or those of the scorers
    if isinstance(scoring, dict):
        pairs, keys = list(scoring.items()), list(scoring)
    else:
        parts = scoring if isinstance(scoring, list | tuple | set) else [scoring]
        pairs = [(name_scoring(part), part) for part in map(name_of_scorer, parts)]
        keys = []
    # a score that is not passed by name is labeled as a function
    named = [NamedScore(p if isinstance(p, str) else f"{name}()", p) for name, p in pairs]
    scores = dict(zip(keys or [score.label for score in named], named, strict=True))
    if len(scores) < len(named):
        raise ValueError(
            "scoring must have a different name for each score, got "
            f"{[part for _, part in pairs]!r}. Use a dict."
        )
    if not scores:
        raise ValueError("scoring must contain at least one score, got none.")
    return scores


def losses_of(inputs: Inputs, scores: Iterable[NamedScore]) -> tuple[Loss, ...]:
    """Return the losses of scores that are all mean losses."""
    return tuple(
        resolve_loss(score.mean.loss, inputs.target, inputs.estimator, f"scoring={score.label!r}")
        for score in scores
        if score.mean is not None
    )


def to_score(inputs: Inputs, score: NamedScore, error: Estimate, **fields: Any) -> Estimate:
    """Return a score that equals a constant minus a mean loss, or this estimate if it has none."""
    bounds, mean = score.bounds(inputs.target.n_classes), score.mean
    fields |= {"name": score.label, "bounds": bounds, "loss": ""}
    if mean is not None:
        limits = {form: partial(mirrored, mean.best, ends) for form, ends in error.limits.items()}
        fields |= {"value": mean.best - error.value, "limits": limits}
        fields["replicates"] = mean.best - error.replicates
    return replace(error, **fields)


def check_enough(inputs: Inputs, values: np.ndarray) -> None:
    """Raise an error if too few values are defined, because of failed fits or undefined scores."""
    n = int(np.isfinite(values).sum())
    if n < 2:
        raise ValueError(
            f"at least 2 scores must be defined for method={inputs.method!r}, got {n} of "
            f"{len(values)}, because of failed fits or undefined scores."
        )


@_checks.in_order()
def resubstitution_error(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    loss: LossLike = None,
    params: Params = None,
    sample_weight: Any = None,
    confidence_level: float = 0.95,
    memory: Any = None,
    error_score: ErrorScore = "raise",
) -> Estimate:
    r"""Estimate the error on the training samples themselves (resubstitution).

    With :math:`e_i` the loss of sample `i` for the estimator fitted to all samples,

    .. math:: AE = \frac{1}{n} \sum_{i=1}^{n} e_i .

    This is the empirical risk, also called training or apparent error. It is optimistic. The best
    value is 0, which 1-nearest-neighbor always reaches, so it implies nothing about new samples.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn classifier, regressor or pipeline. It is cloned, so it is not fitted
        itself.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or any other input of the estimator, such as texts, or a square precomputed kernel.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Class labels or numeric targets. Several columns are several outputs for each sample.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as the patient. Only the standard error depends on them.
    loss : str or callable, default=None
        "zero_one", "squared" or "absolute", or "log_loss" or "brier" for the probabilities of a
        classifier. A function ``(y_true, y_pred) -> (n,)`` returns the loss of each sample. None
        means 0-1 loss for classifiers and squared error for regressors.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as in scikit-learn's ``cross_validate``. Weights
        (``{"sample_weight": w}``) are used in the fit only. Losses are averaged without them.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. They are used in every fit and in the means of the losses.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits. If `random_state` is an int, a repeated call after an interruption
        computes only the remaining fits. See :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        Treatment of a failed fit. "raise" raises its error. ``numpy.nan`` raises a `ValueError`,
        because there is no other fit.

    Returns
    -------
    Estimate
        `replicates` contains the n losses. The intervals have the forms of `cross_val_error`,
        except for "inflated". They account for the sampling of the losses, but not for the
        optimism.

    Raises
    ------
    ValueError
        If `y` has only one class, or `X` and `y` differ in length.
    TypeError
        If `estimator` has no `predict`, or does not accept weights that are passed.

    See Also
    --------
    bootstrap_error : Corrects the optimism.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from skeval.model_selection import resubstitution_error
    >>> X, y = load_iris(return_X_y=True)
    >>> resubstitution_error(KNeighborsClassifier(n_neighbors=1), X, y).value
    0.0
    """
    run = {"memory": memory, "error_score": error_score, "confidence_level": confidence_level}
    run |= {"groups": groups, "sample_weight": sample_weight, "params": params, "loss": loss}
    inputs = validate_inputs(estimator, X, y, method="resubstitution", several=True, **run)
    return resubstitution(Runner(inputs))


def resubstitution(runner: Runner, _: SeedSequence | None = None) -> Estimate:
    """Test on the training samples, which is not the error on new samples, with 1 fit."""
    runner = runner.with_options(n_jobs=None, verbose=0)
    return average_folds(runner, plans.whole_plan(len(runner.inputs.target)), by_sample=True)


def fit_to_all(runner: Runner, request: FitRequest | None = None) -> FitOutput:
    """Fit once to all samples, and return the predictions for the same samples.

    No estimate is defined without this fit, so its errors are raised.
    """
    runner = runner.with_options(n_jobs=None, verbose=0, error_score="raise")
    ((_, output),) = runner.fits(plans.whole_plan(len(runner.inputs.target)), request)
    return output


@_checks.in_order()
def cross_val_error(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    groups: Any = None,
    loss: LossLike = None,
    params: Params = None,
    sample_weight: Any = None,
    confidence_level: float = 0.95,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
    error_score: ErrorScore = "raise",
) -> Estimate:
    r"""Estimate the error by cross-validation (K-fold, repeated, stratified or leave-one-out).

    Every sample is predicted by an estimator that was fitted without it. There are two averages,
    which differ if the folds have different sizes. `value` is the mean over all out-of-fold
    predictions,

    .. math:: CV = \frac{1}{n} \sum_{i=1}^{n} e_i .

    `fold_mean` is the mean of the fold errors. Smaller is better, and 0 is best.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn classifier, regressor or pipeline. Feature selection and tuning must be
        part of it.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or any other input of the estimator, such as texts, or a square precomputed kernel.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Class labels or numeric targets. Several columns are several outputs for each sample.
    cv : int, splitter or iterable of (train, test), default=None
        Folds. If `cv` is an integer, samples are shuffled with `random_state`, folds are stratified
        by class, and groups are kept together. None means 10 folds, or fewer if there are fewer
        samples, groups or members of the largest class. scikit-learn warns if a class has fewer
        members than there are folds. Splitters of scikit-learn, such as ``LeaveOneOut()``, are
        used without changes. Training samples keep the order of the data.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as the patient. Groups are never split.
    loss : str or callable, default=None
        "zero_one", "squared" or "absolute", or "log_loss" or "brier" for the probabilities of a
        classifier. A function ``(y_true, y_pred) -> (n,)`` returns the loss of each sample. None
        means 0-1 loss for classifiers and squared error for regressors.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as in scikit-learn's ``cross_validate``. Arrays
        with one value per sample are split with the samples. Weights (``{"sample_weight": w}``) are
        used in the fits only. Losses are averaged without them.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. They are used in every fit and in the means of the losses. Each step that
        accepts weights receives them unchanged. In the mean losses, only the ratios of weights
        matter. A weight is not a number of copies, so intervals count at most ``sum(w)^2 /
        sum(w^2)`` samples.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
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
        Treatment of a failed fit. "raise" raises the error. ``numpy.nan`` omits the fold, with a
        warning, and the result contains the number of failed fits.

    Returns
    -------
    Estimate
        `replicates` contains the error of each fold (nan if its fit failed), and
        ``extra.fold_mean`` is their mean. `n_groups` is None if samples are independent.

    Raises
    ------
    ValueError
        If the number of folds exceeds the members of every class or the number of groups, `cv` does
        not yield indices of samples, `y` has one class only, or `X` and `y` differ in length.
    TypeError
        If `sample_weight` is passed and a step of the estimator does not accept it. The message
        names the step.

    Notes
    -----
    The standard error is the standard error of the mean per-sample loss. It ignores that folds
    share training samples. No unbiased estimate of that variance exists [1]_, and Wilson's
    interval with this standard error is too narrow (:doc:`/validation`). The default, "inflated",
    therefore doubles the variance, and uses Jeffreys' interval for 0-1 loss. For a single test set
    (hold-out), the interval is Wilson's. For a report, use the interval of `error_interval`
    instead. It is a tenth shorter, because it averages over repeated folds.

    With `groups`, the losses of each group are summed first. Intervals then use the number of
    independent samples with this standard error, reduced to account for Student's t quantile [2]_.
    If test samples are later than the training samples, as with ``TimeSeriesSplit``, blocks of time
    replace the groups, and the variance is not doubled. Standard error and degrees of freedom then
    equal those from `error_interval` for the same folds. They refer to the error of the fitted
    models in this period. The interval is also the same, except that it is somewhat longer for few
    errors in 0-1 loss, as with groups.

    For 0-1 loss, ``result.confidence_interval(method=)`` accepts "wilson", "agresti_coull",
    "jeffreys", "exact" and "wald". They use ``value (1 - value) / standard_error^2`` independent
    samples, at most `n_samples`. If the error is 0 or 1, they use `n_samples` (or the number of
    groups), so all but "wald" have a positive width even without errors. For squared and absolute
    loss, "log" is the normal interval of the logarithm, which contains no negative number.
    "normal" (with `groups`, "t") is clipped to the range of the loss.

    References
    ----------
    .. [1] Bengio, Y. and Grandvalet, Y. (2004). No unbiased estimator of the variance of K-fold
       cross-validation. Journal of Machine Learning Research 5, 1089-1105.
    .. [2] Korn, E. L. and Graubard, B. I. (1998). Confidence intervals for proportions with small
       expected number of positive counts estimated from survey data. Survey Methodology 24,
       193-201.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import LeaveOneOut
    >>> from sklearn.svm import SVC
    >>> from skeval.model_selection import cross_val_error
    >>> X, y = load_iris(return_X_y=True)
    >>> result = cross_val_error(SVC(kernel="linear"), X, y, cv=LeaveOneOut())
    >>> round(result.value, 4)
    0.02
    >>> print(result.confidence_interval())
    [0.0032, 0.0721] (95 %, inflated)
    """
    run = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory, "error_score": error_score}
    run |= {"groups": groups, "sample_weight": sample_weight, "params": params}
    run |= {"loss": loss, "method": "cross_validation", "confidence_level": confidence_level}
    inputs = validate_inputs(estimator, X, y, several=True, **run)
    return cross_validation(Runner(inputs), _checks.root_seed(random_state), cv=cv)


def cross_validation(runner: Runner, root: SeedSequence, *, cv: Any = None) -> Estimate:
    """Cross-validate once, with twice the variance, with K fits."""
    # the folds of scikit-learn's splitters, as in `permutation_test` with the same seed; a report
    # shows the first repeat of `repeated_cv` instead, whose fits it has anyway
    inputs, n = runner.inputs, len(runner.inputs.target)
    # folds in time order have blocks of time as units
    given = plans.resolve_folds(cv, inputs.X, inputs.target, inputs.groups, root)
    folds = plans.KeptFolds(n, given)
    ordered = not inputs.units.clustered and plans.keeps_order(cv, folds)
    return average_folds(runner, plans.fold_plan(n, folds), ordered)


def leave_one_out(runner: Runner, _: SeedSequence | None = None) -> Estimate:
    """Leave each sample, or each group, out in turn, with twice the variance, with n fits."""
    return average_folds(runner, plan_leave_one_out(runner.inputs))


def plan_leave_one_out(inputs: Inputs) -> plans.ResamplingPlan:
    """Return the plan that leaves out each sample, or each group, in turn."""
    n, groups = len(inputs.target), inputs.groups
    unit = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    n_units = int(unit.max()) + 1
    if n_units < 2:
        raise ValueError("groups must contain at least 2 groups to leave one out, got 1.")

    def draw(fit: int) -> plans.PlanBlock:
        tested = (unit == fit)[None]
        return plans.PlanBlock((~tested).astype(np.int8), tested)

    return plans.ResamplingPlan(n, n_units, draw)


def average_folds(
    runner: Runner, plan: plans.ResamplingPlan, ordered: bool = False, by_sample: bool = False
) -> Estimate:
    """Return the error over folds. The losses of each unit are summed first.

    If the folds keep the order of the samples, the units are blocks of time, and the error refers
    to the fitted models themselves. The replicates are the errors of the folds. If `by_sample` is
    true, they are the losses of a single test set.
    """
    inputs = runner.inputs
    weights, n = inputs.relative_weight, len(inputs.target)
    # sums of losses for each sample, and the error of each fold
    sums, tests = np.zeros(n), np.zeros(n)
    parts, n_failed = [], 0
    for block, output in runner.fits(plan):
        losses, rows = inputs.loss.of_predictions(inputs.target, block, output), output.rows
        sums += np.bincount(rows, losses, minlength=n)
        tests += np.bincount(rows, minlength=n)
        parts.append(means_of_fits(losses, output, weights))
        n_failed += int(output.failed.sum())
    # units of the losses: blocks of time, groups or samples
    of_folds, tested = np.concatenate(parts), tests > 0
    n_tested = int(np.count_nonzero(tested))
    size: float = n_tested
    unit = time_units(sums, tests) if ordered else inputs.kept_together
    means = sums[tested] / tests[tested]
    # weighted sums, and Kish's effective sample size
    if weights is not None:
        _checks.check_weights("sample_weight of tested samples", weights[tested], n_tested)
        size = intervals.size_from_weights(weights[tested])
        sums, tests = weights * sums, weights * tests

    # mean over samples, with the variance of independent samples or units
    error = float(sums.sum() / tests.sum())
    if ordered and unit is not None:
        spread = errors.spread_of_mean(errors.TestLosses(means, tests[tested], unit[tested]))
    else:
        spread = intervals.spread_of_ratio(sums, tests, unit)
    # effective number of samples, for the interval of an error rate
    counted = size_of_rate(inputs, error, spread.error, size, spread.n_groups)
    fields: dict[str, Any] = {
        "n_samples": n_tested,
        "n_groups": None,
        "degrees_of_freedom": spread.degrees_of_freedom,
        "effective_n_samples": counted,
        "n_fits": plan.n_fits,
        "n_failed": n_failed,
        **spread.groups,
    }
    # the interval: of one test set, of blocks of time, or with an inflated variance
    if len(of_folds) == 1 and not ordered:
        replicates = means if by_sample else of_folds
        return estimate_error(inputs, error, spread.error, replicates, **fields)
    fields["fold_mean"] = float(np.nanmean(of_folds))
    if ordered:
        fields["first"] = "jeffreys"
        if np.isnan(spread.error):  # a single block of time has no variance between blocks
            fields["effective_n_samples"] = None
        return estimate_error(inputs, error, spread.error, of_folds, **fields)
    # folds share training samples: twice the variance, half of the samples
    wider = float(np.sqrt(errors.SINGLE_INFLATION) * spread.error)
    limits = intervals.mean_loss_limits(
        error,
        wider,
        inputs.loss.name,
        degrees_of_freedom=spread.degrees_of_freedom,
        n_effective=None if counted is None else counted / errors.SINGLE_INFLATION,
        first="jeffreys",
    )
    fields |= {"forms": {INFLATED: next(iter(limits.values()))}, "first": INFLATED}
    return estimate_error(inputs, error, spread.error, of_folds, widest=wider, **fields)


def means_of_fits(losses: np.ndarray, output: FitOutput, weights: np.ndarray | None) -> np.ndarray:
    """Return the (weighted) mean loss of the predictions of each fit, nan if there are none."""
    fit, n_fits = np.repeat(np.arange(len(output)), output.sizes), len(output)
    counted = np.ones(len(losses)) if weights is None else weights[output.rows]
    with np.errstate(invalid="ignore"):
        means = np.bincount(fit, counted * losses, n_fits) / np.bincount(fit, counted, n_fits)
    return np.asarray(means)


N_RESAMPLES = 1000

Draw = Callable[[int], np.ndarray]


@_checks.in_order()
def perturbation_interval(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    n_resamples: int | None = None,
    statistic: Statistic = "cross_validation",
    interval: str | None = None,
    confidence_level: float = 0.95,
    cv: Any = 10,
    groups: Any = None,
    loss: LossLike = None,
    weights: Any = None,
    params: Params = None,
    sample_weight: Any = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
    error_score: ErrorScore = "raise",
) -> Estimate:
    r"""Estimate the error with a confidence interval by perturbation resampling.

    The fit is repeated with random sample weights :math:`G_i`, independent of the data, with mean
    and variance 1. For example, a support vector machine then minimizes :math:`\sum_i G_i \{(1 -
    y_i f(x_i))_+ + \lambda w'w\}` [1]_. Let :math:`e_i` be the loss of sample `i`,
    :math:`\hat\theta` the fit without weights and :math:`\theta^*` the fit with weights. Then

    .. math:: W^* = n^{-1/2} \sum_i G_i \{ e_i(\theta^*) - AE(\hat\theta) \}

    imitates the deviation of the error from its estimate (``statistic="resubstitution"``, as in
    [1]_). ``statistic="cross_validation"``, which is not in [1]_, repeats the cross-validation
    with the weights, in training and evaluation,

    .. math:: W^* = n^{-1/2} \sum_i G_i \{ e_i^{CV}(\theta^*) - CV \} .

    With :math:`se = sd(W^*)/\sqrt n` and :math:`q_u` the quantiles of `W*`, the interval for the
    cross-validated error `CV` is one of:

    - "wilson", for 0-1 loss: Wilson's interval of the proportion `CV` among :math:`\min(n,
      CV(1-CV)/se^2)` samples, or among `n` if `CV` is 0 or 1
    - "log", for squared and absolute loss: :math:`CV \exp(\mp z_{1-a/2}\, se/CV)`
    - "normal": :math:`CV \mp z_{1-a/2}\, se`
    - "pivotal": :math:`[CV - q_{1-a/2}/\sqrt n,\; CV - q_{a/2}/\sqrt n]`
    - "symmetric": :math:`CV \mp q_{1-a}(|W^*|)/\sqrt n`
    - "quantile": :math:`CV \mp q_{1-a/2}/\sqrt n`, which some notes print, for comparison only

    The interval is clipped to the range of the loss. The first two, which are the defaults, never
    exceed it.

    Parameters
    ----------
    estimator : estimator
        Any classifier or regressor whose `fit` accepts `sample_weight`, or a pipeline that ends
        with one. Every step that accepts weights receives them.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or any other input of the estimator, such as texts, or a square precomputed kernel.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Class labels or numeric targets. Several columns are several outputs for each sample.
    n_resamples : int, default=None
        Number of perturbations. None means 1000, or the number of rows of `weights`.
    statistic : {"cross_validation", "resubstitution"}, default="cross_validation"
        The perturbed error. The default fits each fold once for each perturbation, and its
        intervals have better coverage (see Notes).
    interval : str, default=None
        Form of the interval, which is one of the above or, for 0-1 loss, another form of
        `cross_val_error`. None means "wilson" for 0-1 loss, "log" for squared and absolute loss,
        and "normal" otherwise.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    cv : int, splitter or iterable of (train, test), default=10
        Folds. If `cv` is an integer, samples are shuffled with `random_state`, folds are stratified
        by class, and groups are kept together. With repeated folds, the losses of each sample are
        averaged.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as the patient. Groups are never split, and the samples of a
        group have the same random weight.
    loss : str or callable, default=None
        "zero_one", "squared" or "absolute", or "log_loss" or "brier" for the probabilities of a
        classifier. A function ``(y_true, y_pred) -> (n,)`` returns the loss of each sample. None
        means 0-1 loss for classifiers and squared error for regressors.
    weights : array-like of shape (n_resamples, n_samples), default=None
        Perturbations `G` to use instead of random draws from the exponential distribution.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as in scikit-learn's ``cross_validate``. Weights
        are not allowed.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. They multiply `G` in training and evaluation.
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
        Treatment of a failed fit. "raise" raises the error. ``numpy.nan`` omits the fit and warns.
        A perturbation is omitted if all its fits fail.

    Returns
    -------
    Estimate
        `value` is the cross-validated error, and `replicates` contains its perturbations, ``CV +
        W*/sqrt(n)``. In `extra`, `statistics` contains `W*`, and `resubstitution` is the training
        error. ``confidence_interval`` returns other levels and forms from the same perturbations.

    Raises
    ------
    TypeError
        If the estimator does not accept `sample_weight`. The message names the step.
    ValueError
        If `weights` are negative, have a row of zeros or the wrong shape. If there are too few
        perturbations for the requested quantile. If `interval` does not support the loss. If there
        are more than two classes and the loss is not 0-1.

    Warns
    -----
    UserWarning
        If ``statistic="resubstitution"`` and the training error is below half the cross-validated
        error, because `W*` degenerates for overfitted models. Use
        ``statistic="cross_validation"``.

    Notes
    -----
    The theory of [1]_, for "resubstitution", assumes many samples and few features. On other data,
    its interval "normal" is far too narrow, and "cross_validation" is better (:doc:`/validation`
    has the coverage of both). If the classes are easy to separate, there are few errors or none,
    and the coverage of "normal" is even lower. Therefore, the default is "wilson".

    "wilson" with "resubstitution" is never shorter than Wilson's interval for `n` independent
    samples. It equals that interval if the fit separates the classes.

    The weights are divided by their mean over the training samples, so a fit depends only on their
    ratios. Some notes define :math:`W^* = n^{1/2} \sum_i G_i |y_i - f(x_i)|`, which is not
    centered, has an additional factor `n`, and has no limit.

    References
    ----------
    .. [1] Jiang, B., Zhang, X. and Cai, T. (2008). Estimating the confidence interval for
       prediction errors of support vector machine classifiers. Journal of Machine Learning Research
       9, 521-540.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from skeval.model_selection import perturbation_interval
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> result = perturbation_interval(RidgeClassifier(), X, y, n_resamples=50, random_state=0)
    >>> result.interval.low < result.value < result.interval.high
    True
    """
    check_takes_weights(estimator)
    run = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory, "error_score": error_score}
    run |= {"groups": groups, "sample_weight": sample_weight, "params": params}
    run |= {"loss": loss, "method": "perturbation", "confidence_level": confidence_level}
    inputs = validate_inputs(estimator, X, y, several=True, **run)
    fold_root, draw_root = _checks.root_seed(random_state).spawn(2)
    forms = (*intervals.list_forms(inputs.loss.name), *DRAWN)
    # the default form of the interval is the first one of this loss
    title = f"interval of {inputs.loss.name!r} loss"
    form = _checks.check_option(title, forms[0] if interval is None else interval, forms)
    rng = np.random.default_rng(fold_root)
    # folds and perturbations have seeds of their own
    folds = plans.resolve_folds(cv, inputs.X, inputs.target, inputs.groups, rng)
    options = {"n_resamples": n_resamples, "statistic": statistic, "weights": weights}
    return perturb_error(Runner(inputs), folds, draw_root, form=form, **options)


def perturb_error(
    runner: Runner,
    folds: plans.Folds,
    root: SeedSequence,
    *,
    n_resamples: int | None,
    statistic: str = "cross_validation",
    weights: Any = None,
    form: str = "",
) -> Estimate:
    """Return the error over folds, with the spread of perturbed cross-validations or fits."""
    inputs, n = runner.inputs, len(runner.inputs.target)
    # weights of the samples, and the plans of plain fits
    check_perturbed(inputs)
    _checks.check_option("statistic", statistic, get_args(Statistic))
    sample_weight = np.ones(n) if inputs.weight is None else inputs.weight
    n_resamples, draw = choose_draws(weights, n_resamples, root, inputs.units)
    # the weights of a block are used twice
    draw = lru_cache(max(1, plans.BLOCK_ELEMENTS // n))(draw)
    intervals.check_enough_draws(n_resamples, inputs.confidence_level, form)
    bases = {"cross_validation": plans.fold_plan(n, folds), "resubstitution": plans.whole_plan(n)}

    def losses(base: plans.ResamplingPlan, n_draws: int, draw: Draw) -> Iterator[np.ndarray]:
        """Yield the mean loss of each sample, nan where it is not tested, in some repetitions."""
        plan = make_weighted_plan(base, n_draws, draw, sample_weight)
        for block, output in runner.fits(plan):
            of_fits = inputs.loss.of_output(inputs.target, block, output)
            of_fits = of_fits.reshape(-1, plan.fits_per_draw, n)
            with np.errstate(invalid="ignore"):
                yield np.nansum(of_fits, axis=1) / np.isfinite(of_fits).sum(axis=1)

    # both errors without perturbation
    value_of, sizes = {}, {}
    for name, base in bases.items():
        ((plain,),) = losses(base, 1, lambda _: np.ones(n))
        tested = np.isfinite(plain)
        value_of[name] = mean_of_tested(plain[tested], sample_weight[tested])
        sizes[name] = intervals.size_from_weights(sample_weight[tested])
    # perturbed statistics; a much smaller training error makes them useless
    perturbed = losses(bases[statistic], n_resamples, draw)
    statistics = compute_statistics(perturbed, draw, sample_weight, value_of[statistic])
    error, apparent = value_of["cross_validation"], value_of["resubstitution"]
    if statistic == "resubstitution" and apparent < error / 2:
        _checks.warn_user(
            f"the resubstitution error ({write_number(apparent)}) is below half the "
            f"cross-validated error ({write_number(error)}): the estimator overfits, so the "
            "interval is too narrow. Use statistic='cross_validation'."
        )
    intervals.check_enough_draws(len(statistics), inputs.confidence_level, form)
    # standard error and intervals from the deviations
    deviations = statistics / np.sqrt(n)
    standard_error = float(np.std(statistics, ddof=1) / np.sqrt(n))
    # effective number of samples
    size = sizes["cross_validation"]
    # without variation, groups count
    if error in (0, 1):
        size = min(size, inputs.units.n_units)
    limits = partial(intervals.limits_of_draws, error, deviations)
    return estimate_error(
        inputs,
        error,
        standard_error,
        error + deviations,
        extra=PerturbationExtra,
        effective_n_samples=size_of_rate(inputs, error, standard_error, size, None),
        first=form,
        forms={name: partial(limits, form=name) for name in DRAWN},
        n_fits=sum(base.n_fits for base in bases.values()) + n_resamples * bases[statistic].n_fits,
        n_resamples=len(statistics),
        statistic=statistic,
        resubstitution=apparent,
        statistics=statistics,
    )


def check_perturbed(inputs: Inputs) -> None:
    """Raise an error if the loss, or weights among the fit arguments, cannot be perturbed."""
    loss, target, n_classes = inputs.loss, inputs.target, inputs.target.n_classes
    if n_classes > 2 and loss.response == "predict" and loss.name != "zero_one":
        raise ValueError(
            "loss must be 'zero_one', 'log_loss' or 'brier' for more than two classes, got "
            f"{loss.name!r} and {n_classes} classes."
        )
    weights = weight_parameters(inputs.estimator, np.ones(len(target)))
    twice = weights.keys() & (inputs.params or {}).keys()
    if twice:
        raise ValueError(
            f"params must not contain {min(twice)!r}, which the method perturbs. Pass "
            "sample_weight= instead."
        )


def choose_draws(
    weights: Any, n_resamples: int | None, root: SeedSequence, units: SamplingUnits
) -> tuple[int, Draw]:
    """Return the number of perturbations, and a function that returns the weights of one.

    If `weights` is None, the weights are drawn with mean and variance 1, one for each unit.
    """
    if weights is None:
        count = N_RESAMPLES if n_resamples is None else n_resamples

        def draw(repetition: int) -> np.ndarray:
            # samples of a group share a weight
            rng = _checks.repetition_rng(root, repetition)
            return rng.exponential(size=units.n_units)[units.unit]

        return _checks.check_count("n_resamples", count), draw
    rows = _checks.check_weights("weights", weights, "n_resamples", len(units.unit))
    if n_resamples not in (None, len(rows)):
        raise ValueError(
            f"n_resamples must be None or the number of rows of weights, {len(rows)}, got "
            f"{n_resamples}."
        )
    return len(rows), rows.__getitem__


def make_weighted_plan(
    base: plans.ResamplingPlan, n_resamples: int, draw: Draw, sample_weight: np.ndarray
) -> plans.ResamplingPlan:
    """Repeat all fits of a plan under each perturbation.

    The weights are divided by their mean over the training samples, so that the ratio of loss and
    penalty is not perturbed.
    """
    # all fits of the plan, repeated with other weights
    fits = plans.concatenate_blocks([base.draw(r) for r in range(base.n_draws)])
    sizes = fits.train.sum(axis=1, keepdims=True)

    def draw_weighted(repetition: int) -> plans.PlanBlock:
        perturbed = fits.train * draw(repetition)
        perturbed *= sample_weight * (sizes / perturbed.sum(axis=1, keepdims=True))
        return replace(fits, train=perturbed)

    return plans.ResamplingPlan(
        base.n_samples, n_resamples, draw_weighted, len(fits), weighted=True
    )


def compute_statistics(
    losses: Iterable[np.ndarray], draw: Draw, sample_weight: np.ndarray, error: float
) -> np.ndarray:
    """Return ``W* = n^(-1/2) sum_i G_i {e_i - error}`` of each repetition.

    `losses` contains arrays of some repetitions, (n_repetitions, n_samples), nan for untested
    samples. If only `m` samples are tested, the sum over them is multiplied by ``n / m``, so that
    ``W*`` divided by the root of `n` is their mean. Repetitions without a successful fit are
    omitted.
    """
    statistics, n_done = [], 0
    for rows in losses:
        drawn = np.stack([draw(n_done + row) for row in range(len(rows))])
        n_done += len(rows)
        done = np.isfinite(rows).any(axis=1)
        # sample weights with a mean of 1 over the tested samples of each repetition, 0 elsewhere
        tested = np.isfinite(rows[done])
        share, sizes = tested * sample_weight, tested.sum(axis=1)
        share *= (sizes / share.sum(axis=1))[:, None]
        # weighted sum of the deviations of the losses from the error
        deviations = np.where(tested, rows[done] - error, 0.0)
        totals = np.einsum("ri,ri,ri->r", drawn[done], share, deviations)
        statistics.append(totals * np.sqrt(rows.shape[1]) / sizes)
    return np.concatenate(statistics)


Allocation = Literal["proportional", "optimal"]

STRATIFIED = "stratified_wilson"
"""Form of the interval with priors of the classes."""
LARGEST_SIZE = 2**62
Priors = Mapping[Any, float] | Sequence[float] | np.ndarray


@_checks.in_order(y_true=_checks.is_table, y_pred=_checks.is_table)
@_checks.read_arrays
def holdout_error(
    y_true: Any,
    y_pred: Any,
    *,
    priors: Priors | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    confidence_level: float = 0.95,
) -> Estimate:
    r"""Estimate the error rate from predictions for a separate test set.

    *Random sampling* (``priors=None``). If `k` of `N` samples are misclassified,

    .. math:: \hat\epsilon = k / N, \qquad \mathrm{var}(\hat\epsilon) = \epsilon(1-\epsilon)/N .

    *Selective sampling.* If :math:`N_c` samples were drawn from each class `c`, whose prior
    :math:`P_c` is known, and :math:`k_c` of them are misclassified,

    .. math::

        \hat\epsilon' = \sum_c P_c k_c / N_c, \qquad
        \mathrm{var}(\hat\epsilon') = \sum_c P_c^2 \epsilon_c (1-\epsilon_c) / N_c .

    Both are unbiased fractions in [0, 1]. Smaller is better.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_pred : array-like of shape (n_samples,)
        Predicted labels.
    priors : dict or array-like of shape (n_classes,), default=None
        Prior of each class. Keys of a dict are labels, and an array has the order of the sorted
        labels of `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. The variance uses the effective number of samples, :math:`(\sum w)^2 / \sum
        w^2`.
    groups : array-like of shape (n_samples,) or (n_samples, n_kinds), default=None
        Group of each sample, such as the patient. Several columns are nested or crossed groups. See
        :doc:`/user_guide/dependence`. The deviations of the losses from the error are summed within
        groups.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.

    Returns
    -------
    Estimate
        `replicates` is 1 for each misclassified sample and 0 for all others. In `extra`,
        `n_errors` is the number of errors (a sum of weights if samples have weights).
        `class_errors` and `class_sizes` contain the error rate and the effective number of samples
        of each of the `classes`. If `priors` is passed, `variance_reduction` is the reduction of
        the variance compared with random sampling of the same size.

        Under random sampling, ``confidence_interval(method=)`` accepts "wilson" (default),
        "agresti_coull", "jeffreys", "exact", "wald" or "normal". With priors, it accepts
        "stratified_wilson" [1]_ (default) or "normal". The normal interval is too narrow for few
        errors, and nan for none. If groups are passed, the methods are the same as for random
        sampling, even if priors are passed. They use the effective number of independent samples
        and Student's t quantile. "t" replaces "normal".

    Raises
    ------
    ValueError
        If lengths differ, weights are negative or zero for a whole class, or `priors` are negative,
        do not sum to 1 or do not name exactly the classes of `y_true`.

    Notes
    -----
    Some texts print the binomial probability with :math:`(1-\epsilon)^k`. The correct exponent is
    `N - k`. If the allocation is proportional to the priors, selective sampling reduces the
    variance by :math:`\frac1N \sum_c P_c (\epsilon_c - \epsilon)^2`. `variance_reduction` is the
    plug-in difference for the actual allocation. It may be negative.

    References
    ----------
    .. [1] Yan, X. and Su, X. G. (2010). Stratified Wilson and Newcombe confidence intervals for
       multiple binomial proportions. Statistics in Biopharmaceutical Research 2, 329-335.
       https://doi.org/10.1198/sbr.2009.0049

    Examples
    --------
    >>> from skeval.model_selection import holdout_error
    >>> y_true = ["a"] * 50 + ["b"] * 50
    >>> y_pred = ["a"] * 45 + ["b"] * 55
    >>> print(holdout_error(y_true, y_pred))
    error rate (holdout)
      value              0.0500
      standard error     0.0218
      95 % interval      [0.0215, 0.1118] (wilson)
      samples            100
      loss               zero_one
      effective samples  100
      errors             5.0000
    >>> holdout_error(y_true, y_pred, priors={"a": 0.9, "b": 0.1}).value
    0.09...
    """
    _checks.check_confidence_level(confidence_level)
    _checks.check_same_length(y_true=y_true, y_pred=y_pred)
    y_true, y_pred = _checks.check_y("y_true", y_true), _checks.check_y("y_pred", y_pred)
    _checks.check_comparable(y_true, "y_pred", y_pred)
    weight = _checks.check_weights("sample_weight", sample_weight, len(y_true))
    group = _checks.number_groups(groups, len(y_true))
    # errors of the classes, and their effective sizes
    wrong = (y_true != y_pred).astype(float)
    classes, codes = np.unique(y_true, return_inverse=True)
    class_errors, sizes = _compute_class_errors(wrong, weight, codes)
    if np.isnan(sizes).any():
        raise ValueError(
            "sample_weight must be positive for at least one sample of each class, but is 0 for "
            f"all of class {classes.tolist()[int(np.isnan(sizes).argmax())]!r}."
        )
    # a random sample is a single stratum, and a selective one has the classes and their priors
    stratum, prior, share = np.zeros_like(codes), np.ones(1), weight / weight.sum()
    rates, n_of = _compute_class_errors(wrong, weight, stratum)
    n_effective = float(n_of[0])
    if priors is not None:
        stratum, prior, rates, n_of = codes, check_priors(priors, classes), class_errors, sizes
        share = prior[codes] * share / np.bincount(codes, weights=share)[codes]
    error, variance = float(prior @ rates), float(np.sum(prior**2 * rates * (1 - rates) / n_of))
    fields: dict[str, Any] = {"effective_n_samples": n_effective}
    # variance that selective sampling saves relative to random sampling
    if priors is not None:
        reduction = error * (1 - error) / n_effective - variance
        fields |= {"priors": prior, "variance_reduction": reduction}
    standard_error = float(np.sqrt(variance))
    if group is not None:
        # groups: the variance of sums of influences
        within = None if priors is None else codes
        spread = intervals.spread_between(share * (wrong - rates[stratum]), group, share, within)
        intervals.warn_of_one_group(spread)
        standard_error, n = spread.error, 1 / np.sum(share**2)
        n_effective = intervals.size_of_proportion(error, spread.error, n, spread.n_groups)
        fields |= {"degrees_of_freedom": spread.degrees_of_freedom, **spread.groups}
        fields["effective_n_samples"] = n_effective
    elif priors is not None:
        # Wilson's limits of the classes, combined
        strata = partial(intervals.stratified_wilson_interval, class_errors * sizes, sizes, prior)
        fields |= {"effective_n_samples": None, "forms": {STRATIFIED: strata}}
    return errors.mean_loss_estimate(
        error,
        standard_error,
        extra=HoldoutExtra,
        method="holdout",
        loss="zero_one",
        first=STRATIFIED,
        replicates=wrong,
        n_samples=len(wrong),
        confidence_level=confidence_level,
        n_errors=float(np.sum(weight * wrong)),
        classes=classes,
        class_errors=class_errors,
        class_sizes=sizes,
        **fields,
    )


def _compute_class_errors(
    wrong: np.ndarray, weight: np.ndarray, codes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return, for each code, the weighted error and `(sum w)^2 / sum w^2`, or nan without weight.

    Weights are divided by the largest weight of their code, so that their squares do not underflow.
    """
    largest = np.zeros(int(codes.max()) + 1)
    np.maximum.at(largest, codes, weight)
    with np.errstate(invalid="ignore"):  # A class without samples makes 0/0.
        relative = weight / largest[codes]
    totals = np.bincount(codes, weights=relative)
    rates = np.bincount(codes, weights=relative * wrong) / totals
    return rates, totals**2 / np.bincount(codes, weights=relative**2)


def check_priors(priors: Priors, classes: np.ndarray) -> np.ndarray:
    """Return the priors in the order of the classes."""
    labels = classes.tolist()
    if hasattr(priors, "to_dict"):  # A pandas Series is read by its labels, never by its order.
        priors = priors.to_dict()
    if isinstance(priors, Mapping):
        if set(priors) != set(labels):
            raise ValueError(
                f"priors must name exactly the classes of y_true, {labels}, got {list(priors)}."
            )
        priors = [priors[label] for label in labels]
    values = _checks.check_data("priors", priors, ensure_2d=False, dtype=np.float64)
    if values.shape != (len(labels),):
        raise ValueError(
            f"priors must have one value for each of the {len(labels)} classes {labels}, "
            f"got shape {values.shape}."
        )
    if not values.min() >= 0:
        raise ValueError(f"priors must be >= 0, got {values.min():g}.")
    if not np.isclose(values.sum(), 1, rtol=0, atol=1e-8):
        raise ValueError(f"priors must sum to 1, got {values.sum():g}.")
    return values


@dataclass(frozen=True)
class HoldoutSize(Result):
    """Number of test samples for a confidence interval of a given width.

    Attributes
    ----------
    n_samples : int
        Required number of test samples.
    per_class : tuple of int or None
        Number of samples from each class under selective sampling, in the order of `priors`.
    half_width : float
        Half the width of the interval at the assumed error.
    confidence_level : float
        Nominal coverage of the interval.
    method : str
        Name of the interval.
    """

    n_samples: int
    per_class: tuple[int, ...] | None
    half_width: float
    confidence_level: float
    method: str

    def __str__(self) -> str:
        rows = [
            ("samples", f"{self.n_samples}"),
            ("half width", write_number(self.half_width)),
            ("interval", f"{100 * self.confidence_level:g} %, {self.method}"),
        ]
        if self.per_class is not None:
            rows.insert(1, ("from each class", ", ".join(map(str, self.per_class))))
        return align_text("hold-out size", rows)


@_checks.in_order()
def holdout_size(
    error: Any,
    half_width: float,
    *,
    confidence_level: float = 0.95,
    priors: Sequence[float] | np.ndarray | None = None,
    allocation: Allocation = "proportional",
) -> HoldoutSize:
    r"""Return the number of test samples for a confidence interval of a given width.

    Under random sampling, it is the smallest `N` for which half the width of Wilson's interval at
    `error` is at most `h`. Under selective sampling with priors :math:`P_c` and errors
    :math:`\epsilon_c`, let :math:`a_c` be the fraction of the samples from class `c`. Then

    .. math:: N = (z/h)^2 \sum_c P_c^2 \epsilon_c (1-\epsilon_c) / a_c .

    Each :math:`a_c N` is rounded up.

    Parameters
    ----------
    error : float or array-like of shape (n_classes,)
        Expected error, between 0 and 1. With `priors`, pass the error of each class, or one error
        for all classes.
    half_width : float
        Half the width of the interval, between 0 and 0.5.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    priors : array-like of shape (n_classes,), default=None
        Prior of each class.
    allocation : {"proportional", "optimal"}, default="proportional"
        Fraction of the samples from each class, with `priors`. "proportional" is :math:`a_c =
        P_c`. "optimal" is :math:`a_c \propto P_c\sqrt{\epsilon_c(1-\epsilon_c)}` (Neyman), which
        minimizes `N`.

    Returns
    -------
    HoldoutSize
        `n_samples` is the total, and `half_width` is half the width of the interval at the assumed
        error. Under selective sampling, `per_class` contains the number of samples from each
        class, in the order of `priors`.

    Raises
    ------
    ValueError
        If an argument is outside its range, or the normal interval with `priors` has no width
        because no class has an error strictly between 0 and 1.

    Examples
    --------
    >>> from skeval.model_selection import holdout_size
    >>> holdout_size(0.1, 0.03).n_samples
    388
    >>> holdout_size([0.05, 0.3], 0.03, priors=[0.9, 0.1], allocation="optimal").per_class
    (203, 48)
    """
    with _checks.naming("error"):
        rates = np.atleast_1d(np.asarray(error, dtype=float))
    if not (rates.ndim == 1 and np.all((rates >= 0) & (rates <= 1))):
        raise ValueError(
            f"error must lie in [0, 1], got {error!r}{_checks.suggest_fraction(error)}."
        )
    if not isinstance(half_width, Real) or not 0 < half_width < 0.5:
        raise ValueError(f"half_width must satisfy 0 < half_width < 0.5, got {half_width!r}.")
    _checks.check_confidence_level(confidence_level)
    _checks.check_option("allocation", allocation, ("proportional", "optimal"))
    too_small = f"half_width must be larger: {LARGEST_SIZE} samples are too few for {half_width}."
    if priors is None:
        # random sampling: the smallest number whose interval is short enough
        if rates.size != 1:
            raise ValueError(f"error must be one number when priors is None, got {error!r}.")

        def half(n: int) -> float:
            return float(np.ptp(intervals.wilson_interval(rates[0] * n, n, confidence_level))) / 2

        if half(LARGEST_SIZE) > half_width:
            raise ValueError(too_small)
        n = bisect_left(range(1, LARGEST_SIZE), -half_width, key=lambda n: -half(n)) + 1
        return HoldoutSize(n, None, half(n), confidence_level, "wilson")
    # selective sampling: the normal interval, with an allocation to the classes
    prior = _checks.check_data("priors", priors, ensure_2d=False, dtype=np.float64)
    prior = check_priors(prior, np.arange(len(prior)))
    if rates.size not in (1, len(prior)):
        raise ValueError(
            f"error must have {len(prior)} values, one for each prior, got {rates.size}."
        )
    # P_c sqrt(e_c (1 - e_c)), to which the optimal numbers of samples are proportional
    deviations = prior * np.sqrt(rates * (1 - rates))
    if not deviations.any():
        raise ValueError(
            "error must satisfy 0 < error < 1 for a class with a prior, because the normal "
            f"interval has no width at {rates.tolist()}."
        )
    shares = prior if allocation == "proportional" else deviations / deviations.sum()
    used, z = shares > 0, intervals.normal_quantile(confidence_level)
    # N = (z / h)^2 sum_c P_c^2 e_c (1 - e_c) / a_c
    total = (z / half_width) ** 2 * np.sum(deviations[used] ** 2 / shares[used])
    if total > LARGEST_SIZE:
        raise ValueError(too_small)
    # each class with a prior needs a sample, or its error cannot be estimated
    sizes = np.maximum(np.ceil(total * shares - 1e-9).astype(int), prior > 0)
    # half width with the rounded numbers of samples
    reached = z * float(np.sqrt(np.sum(deviations**2 / np.maximum(sizes, 1))))
    per_class = tuple(sizes.tolist())
    return HoldoutSize(sum(per_class), per_class, reached, confidence_level, "normal")
