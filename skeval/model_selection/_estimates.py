"""Estimates of the error: the form that they have, and those that need no more than folds.

Resubstitution is the error on the samples that the estimator was fitted on; cross-validation that
on held-out folds, of which leave-one-out has as many as samples; perturbation repeats either under
random weights of the samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.random import SeedSequence
from sklearn.model_selection import LeaveOneGroupOut, LeaveOneOut

from skeval._inference import intervals
from skeval._inference.errors import SINGLE_INFLATION, TestLosses, spread_of_mean, worth
from skeval._inference.estimate import Estimate
from skeval._inference.intervals import DRAWN, Finding, Spread
from skeval._inference.ordered import time_units
from skeval._resampling.fit_loop import Outputs, run_plan
from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.fit_params import (
    Params,
    check_takes_weights,
    count_effective,
    weight_parameters,
)
from skeval._resampling.inputs import Inputs, validate_inputs
from skeval._resampling.losses import Loss, LossLike, mean_of_tested
from skeval._resampling.plans import PlanBlock, ResamplingPlan, concatenate_blocks, whole_plan
from skeval._resampling.sampling_units import units_of
from skeval._resampling.splitters import Folds, KeptFolds, fold_plan, keeps_order, resolve_folds
from skeval._resampling.target import Target
from skeval.utils import _checks
from skeval.utils._checks import RandomStateLike
from skeval.utils._text import mean_loss_name, write_number

INFLATED = "inflated"
"""The form of an interval by the inflated variance of one cross-validation."""

Settings = dict[str, Any]
"""The parameters of a method, by name."""


class Outcome(NamedTuple):
    """What a method finds for each loss, and from what.

    Attributes
    ----------
    findings : list of Finding
    n_fits, n_failed : int
    n_tested : int or None
        Number of samples that the findings are of; None for all.
    n_groups : int or None
        Number of groups whose losses were added up; None where none were.
    form : str
        The form of the interval, where it is not that of the method.
    """

    findings: list[Finding]
    n_fits: int
    n_failed: int = 0
    n_tested: int | None = None
    n_groups: int | None = None
    form: str = ""


def find_error(
    error: float,
    standard_error: float,
    replicates: np.ndarray,
    n_samples: float,
    n_groups: int | None = None,
    loss: str = "zero_one",
) -> Finding:
    """Return what was found of an error, in so many samples of equal weight, or in groups."""
    df = np.inf if n_groups is None else n_groups - 1.0
    n = None
    if loss == "zero_one":
        n = intervals.effective_size(error, standard_error, n_samples, n_groups)
    return Finding(error, standard_error, replicates, df, n)


def find_mean(
    error: float, spread: Spread, replicates: np.ndarray, n_samples: float, loss: str
) -> Finding:
    """Return what was found of a mean loss, with what it tells of groups."""
    found = find_error(error, spread.error, replicates, n_samples, spread.n_groups, loss)
    details = {k: v for k, v in spread.details.items() if k != "n_groups"}
    return found._replace(degrees_of_freedom=spread.degrees_of_freedom, details=details)


def check_enough(inputs: Inputs, values: np.ndarray, least: int) -> None:
    """Raise unless so many values are defined: fits may have failed, scores be undefined."""
    n = int(np.isfinite(values).sum())
    if n < least:
        raise ValueError(
            f"estimator must succeed more often for method={inputs.method!r}: of {len(values)} "
            f"numbers that it needs, {n} are defined, and {least} must be."
        )


def completed(answers: list[FitOutput | None]) -> list[FitOutput]:
    """Return the answers of the fits that did not fail."""
    return [answer for answer in answers if answer is not None]


def untested_losses(inputs: Inputs, share: float = 1.0) -> TestLosses:
    """Return a stand-in for losses of a share of the units: weights and units alone count."""
    counted = inputs.units.unit < int(share * inputs.units.n_units)
    return inputs.count(np.flatnonzero(counted), np.zeros(counted.sum()))


def find(
    loss: Loss,
    error: float,
    standard_error: float,
    replicates: np.ndarray,
    tested: TestLosses,
    *,
    degrees_of_freedom: float = np.inf,
    variance: float = np.nan,
    binomial: bool = True,
    inflation: float = 1.0,
) -> Finding:
    """Return what was found, with the number of independent samples that it is worth.

    `tested` are the losses (or what stands for them) that the error is a mean of, `variance` that
    of a single loss; that of 0-1 loss is ``error (1 - error)`` but for a `binomial` of False. Where
    no loss varies, it is worth the number of units over `inflation`.
    """
    low, high = intervals.bounds_of(loss.name)
    error = float(np.clip(error, low, high))
    if loss.name == "zero_one" and binomial:
        variance = error * (1 - error)
    n_effective = None
    if np.isfinite(variance) and np.isfinite(standard_error):
        unvaried = worth(tested) if tested.unit is None else float(len(np.unique(tested.unit)))
        most = worth(tested)
        least = unvaried / inflation
        n_effective = intervals.effective_number(variance, standard_error, most, least)
    return Finding(error, float(standard_error), replicates, degrees_of_freedom, n_effective)


def make_estimate(
    found: Finding,
    *,
    method: str,
    loss: str,
    n_samples: int,
    confidence_level: float,
    form: str = "",
    n_failed: int = 0,
    n_groups: int | None = None,
    **details: Any,
) -> Estimate:
    """Return what a method found of a mean loss, by default with an interval of a form."""
    shared = {"loss": loss, "n_groups": n_groups, "effective_n_samples": found.n_effective}
    return Estimate(
        name=mean_loss_name(loss),
        value=found.value,
        standard_error=found.standard_error,
        method=method,
        limits=intervals.make_limits(found, loss, first=form),
        n_samples=n_samples,
        n_failed=n_failed,
        replicates=found.replicates,
        details={**shared, **found.details, **details},
        confidence_level=confidence_level,
        bounds=intervals.bounds_of(loss),
    )


def conclude(
    inputs: Inputs,
    outcome: Outcome,
    confidence_level: float,
    *,
    form: str = "",
    settings: Settings | None = None,
) -> Estimate:
    """Return the estimate of a method for the one loss of the inputs."""
    (found,) = outcome.findings
    df = found.degrees_of_freedom
    return make_estimate(
        found,
        method=inputs.method,
        loss=inputs.loss.name,
        form=outcome.form or form,
        n_samples=len(inputs.target) if outcome.n_tested is None else outcome.n_tested,
        n_failed=outcome.n_failed,
        n_groups=outcome.n_groups,
        confidence_level=confidence_level,
        n_fits=outcome.n_fits,
        degrees_of_freedom=None if np.isinf(df) else df,
        parameters={} if settings is None else settings,
    )


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
    error_score: float | str = "raise",
) -> Estimate:
    r"""Estimate the error on the training samples themselves.

    With :math:`e_i` the loss of sample `i` under the estimator fitted on all samples,

    .. math:: AE = \frac{1}{n} \sum_{i=1}^{n} e_i .

    This is the empirical risk, also called training or apparent error. It is optimistic: the best
    value 0 carries no information about new samples (1-nearest-neighbor always reaches it).

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn classifier, regressor or pipeline; it is cloned, never fitted itself.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or what else the estimator takes: texts, or a square precomputed kernel.
    y : array-like of shape (n_samples,)
        Labels or numbers.
    groups : array-like of shape (n_samples,), default=None
        Samples that belong together, for the standard error; the estimator does not see them.
    loss : str or callable, default=None
        "zero_one", "squared" or "absolute"; "log_loss" or "brier", of the probabilities of a
        classifier; or any loss of predictions, ``(y_true, y_pred) -> (n,)``. None means 0-1 loss
        for classifiers and squared error for regressors.
    params : dict, default=None
        Arguments of the estimator's `fit` by name. Weights (``{"sample_weight": w}``) are those of
        the fit; losses are averaged without them.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples, in the fit and in the mean of the losses.
    confidence_level : float, default=0.95
        Nominal coverage of the interval.
    memory : str, path-like or joblib.Memory, default=None
        Where the finished fit is kept; see :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        What to do when the fit raises: raise its error, or under ``numpy.nan``, as where all fits
        of an estimate fail, a `ValueError`; no estimate can do without the only fit.

    Returns
    -------
    Estimate
        `replicates` holds the n losses; its intervals are those of `cross_val_error`, without
        "inflated". They describe the sampling of the n losses only, not the optimism.

    Raises
    ------
    ValueError
        If `y` holds one class only, or `X` and `y` differ in length.
    TypeError
        If `estimator` has no `predict`, or takes no weights where some are given.

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
    _checks.check_confidence_level(confidence_level)
    run = {"memory": memory, "error_score": error_score}
    given = {"groups": groups, "sample_weight": sample_weight, "params": params}
    inputs = validate_inputs(estimator, X, y, loss=loss, method="resubstitution", **given, **run)
    return conclude(inputs, run_resubstitution(inputs, _checks.root_seed(0), {}), confidence_level)


def run_resubstitution(inputs: Inputs, root: SeedSequence, settings: Settings) -> Outcome:
    """Test on the samples of training, which gives no interval of the error: 1 fit."""
    weights, findings = inputs.relative_weight, []
    answered, n = answer_own_samples(inputs), len(inputs.target)
    counted = np.ones(n) if weights is None else weights
    size = n if weights is None else count_effective(weights)
    unit = None if inputs.groups is None else units_of(inputs.target, inputs.groups).unit
    for loss in inputs.losses:
        losses = inputs.loss_values(loss, answered)
        spread = intervals.spread_of_ratio(counted * losses, counted, unit)
        error = float(np.average(losses, weights=weights))
        findings.append(find_mean(error, spread, losses, size, loss.name))
    return Outcome(findings, 1, n_groups=spread.n_groups)


def answer_own_samples(inputs: Inputs) -> FitOutput:
    """Return what one fit on all samples answers to those samples."""
    inputs = inputs.with_options(n_jobs=None, verbose=0)
    ((_, output),) = run_plan(inputs, whole_plan(len(inputs.target)))
    return output


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
    error_score: float | str = "raise",
) -> Estimate:
    r"""Estimate the error by cross-validation: K-fold, repeated, stratified or leave-one-out.

    Every sample is predicted by an estimator that was fitted without it. Two averages exist, and
    differ when folds differ in size: `value` is pooled over all held-out predictions,

    .. math:: CV = \frac{1}{n} \sum_{i=1}^{n} e_i ,

    and the detail "fold_mean" is the mean of the fold errors. Smaller is better, 0 is best.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn classifier, regressor or pipeline. Selection and tuning belong inside it.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or what else the estimator takes: texts, or a square precomputed kernel.
    y : array-like of shape (n_samples,)
        Labels or numbers.
    cv : int, splitter or iterable of (train, test), default=None
        None means 10 folds, or as many as there are samples, groups or members of the largest
        class where these are fewer. A number of folds is drawn *shuffled* with `random_state`,
        stratified for a classifier, and never splits a group when `groups` is given; where a
        class has fewer members, scikit-learn warns that some folds do without it. A scikit-learn
        splitter is used as it is, for example ``LeaveOneOut()``; training samples come in the
        order of the data.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, for the splitter.
    loss : str or callable, default=None
        "zero_one", "squared" or "absolute"; "log_loss" or "brier", of the probabilities of a
        classifier; or any loss of predictions, ``(y_true, y_pred) -> (n,)``. None means 0-1 loss
        for classifiers and squared error for regressors.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as ``cross_validate`` of scikit-learn takes
        them: of arrays with a value for each sample every fit is given those of its own. Weights
        (``{"sample_weight": w}``) are those of the fit; losses are averaged without them.
    sample_weight : array-like of shape (n_samples,), default=None
        What each sample counts, in every fit (each step that takes weights is given them as they
        are) and in the means of the losses, where only ratios matter. Weights are not numbers of
        copies: intervals count ``sum(w)^2 / sum(w^2)`` samples at most.
    confidence_level : float, default=0.95
        Nominal coverage of the interval.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the shuffling when `cv` is a number.
    n_jobs : int, default=None
        Number of joblib workers; the result does not depend on it.
    verbose : int, default=0
        1 reports whether a solver is used and shows a progress bar; more adds joblib's own lines.
    memory : str, path-like or joblib.Memory, default=None
        Where finished fits are kept. A run that was interrupted and starts again with the same
        arguments, `random_state` an int, does only the rest; see :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        What to do when a fit raises: raise too, or leave the fold out, count and warn.

    Returns
    -------
    Estimate
        `replicates` holds the error of each fold, nan where its fit failed; `details` has
        "fold_mean", the "loss", and "n_groups", None where samples are independent.

    Raises
    ------
    ValueError
        If a number of folds `cv` exceeds the members of every class or the groups, `cv` yields no
        indices of samples, `y` holds one class only, or `X` and `y` differ in length.
    TypeError
        If `sample_weight` is given and the estimator takes none; the step is named.

    Notes
    -----
    The standard error is that of the mean of the per-sample losses. It ignores that the folds share
    training samples; no unbiased estimate of that variance exists [1]_. Wilson's interval on it
    covered the error of the trained model in 73 to 94 % at a nominal 95 % (some 40 combinations of
    populations and learners, mostly 50 samples, 200 or 400 data sets each), so the default,
    "inflated", takes twice the variance, for 0-1 loss in the form of Jeffreys: it covered in 92 to
    99 %. A hold-out, a single fold, has Wilson's. The interval of `error_interval` is shorter, by a
    tenth, since it averages over repeated folds: quote that one. With `groups` the losses of a
    group are added up first, and intervals count the independent samples that would have this
    standard error, fewer by Student's quantile [2]_. Where folds test only what comes after all
    that they train on, as ``TimeSeriesSplit`` does, blocks of time are counted in place of groups,
    and the variance is not doubled: standard error and degrees of freedom are those of
    `error_interval` for the same folds, and mean the error, at times like these, of the rules that
    were fitted. Its interval is the same, too; of few errors in 0-1 loss it is somewhat longer
    here, as with groups. In simulations (100 sets a cell of 100 and 400 samples; squared, absolute
    and 0-1 loss) 95 % intervals held that error in .88 to 1.00 where the errors of neighbours had
    an autocorrelation of 0 or .5, and in .89 to .91 with .9 and 400 samples; with .9 and 100, .93
    for 0-1 loss, while of the others .71 and .75 were refused and of the rest .52 and .72 held.

    For 0-1 loss ``result.confidence_interval(method=)`` takes "wilson", "agresti_coull",
    "jeffreys", "exact" and "wald", of ``value (1 - value) / standard_error^2`` independent samples,
    of `n_samples` at most, and of `n_samples` (or of the groups) where the error is 0 or 1; so all
    but "wald" have a width even if no error was seen. For squared and absolute loss "log" is the
    normal interval of the logarithm, which holds no negative number. "normal", with `groups` "t",
    is cut off at the range of the loss.

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
    _checks.check_confidence_level(confidence_level)
    run = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory, "error_score": error_score}
    given = {"groups": groups, "sample_weight": sample_weight, "params": params}
    inputs = validate_inputs(estimator, X, y, loss=loss, method="cross_validation", **given, **run)
    outcome = run_cross_validation(inputs, _checks.root_seed(random_state), {"cv": cv})
    return conclude(inputs, outcome, confidence_level, form=INFLATED)


def run_cross_validation(inputs: Inputs, root: SeedSequence, settings: Settings) -> Outcome:
    """Cross-validate once, and count half of the samples: K fits.

    The folds may be given, as "cv", and what their fits answer where they are done, as "outputs".
    """
    cv, n = settings["cv"], len(inputs.target)
    folds = KeptFolds(n, resolve_folds(cv, inputs.X, inputs.target, inputs.groups, root))
    ordered = inputs.units.n_groups is None and keeps_order(cv, folds)
    return average_folds(inputs, fold_plan(n, folds), settings.get("outputs"), ordered)


def plan_leave_one_out(inputs: Inputs, root: SeedSequence, settings: Settings) -> ResamplingPlan:
    """Return the fits without each sample, or each group, in turn."""
    splitter = LeaveOneOut() if inputs.groups is None else LeaveOneGroupOut()
    folds = resolve_folds(splitter, inputs.X, inputs.target, inputs.groups, root)
    return fold_plan(len(inputs.target), folds)


def run_leave_one_out(inputs: Inputs, root: SeedSequence, settings: Settings) -> Outcome:
    """Hold each sample, or each group, out in turn, and count half of the samples: n fits."""
    return average_folds(inputs, plan_leave_one_out(inputs, root, settings))


def average_folds(
    inputs: Inputs, plan: ResamplingPlan, outputs: Outputs | None = None, ordered: bool = False
) -> Outcome:
    """Return the error over folds; losses of samples that are kept together are added up first.

    Under folds that keep the order of the samples these are blocks of time, and the error is that
    of the very models that were fitted.
    """
    weights, n = inputs.relative_weight, len(inputs.target)
    sums, tests = np.zeros((len(inputs.losses), n)), np.zeros(n)
    fold_errors, n_failed = [], 0
    for block, output in run_plan(inputs, plan) if outputs is None else outputs:
        losses = np.stack([loss.of_output(inputs.target, block, output) for loss in inputs.losses])
        sums += np.nansum(losses, axis=1)
        tests += np.sum(~np.isnan(losses[0]), axis=0)
        fold_errors.append([intervals.row_means(each, weights) for each in losses])
        n_failed += int(output.failed.sum())
    n_tested = int(np.count_nonzero(tests))
    size: float = n_tested
    unit = time_units(sums[0], tests) if ordered else inputs.kept_together
    if weights is not None:
        size = count_effective(weights[tests > 0])
        sums, tests = weights * sums, weights * tests
    findings = []
    for loss, total, errors in zip(inputs.losses, sums, np.hstack(fold_errors), strict=True):
        error = float(total.sum() / tests.sum())
        if ordered and unit is not None:
            seen = tests > 0
            spread = spread_of_mean(TestLosses(total[seen] / tests[seen], tests[seen], unit[seen]))
        else:
            spread = intervals.spread_of_ratio(total, tests, unit)
        found = find_mean(error, spread, errors, size, loss.name)
        if ordered and np.isnan(spread.error):
            # A single block of time does not say how blocks vary.
            found = found._replace(n_effective=None)
        if len(errors) > 1 and not ordered:
            wider = found.inflate(SINGLE_INFLATION)
            limits = intervals.make_limits(wider, loss.name, first="jeffreys")
            found = found._replace(forms={INFLATED: next(iter(limits.values()))})
        details = {**found.details, "fold_mean": float(np.nanmean(errors))}
        findings.append(found._replace(details=details))
    form = "jeffreys" if ordered else ""
    return Outcome(findings, plan.n_fits, n_failed, n_tested, spread.n_groups, form)


def repeat_folds(
    n_repeats: int, X: Any, target: Target, groups: Any, random_state: RandomStateLike
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the default folds drawn several times, those that come out the same only once.

    A fold for each group or sample can be made in one way; repeats would look like evidence.
    """
    root, seen, splits = _checks.root_seed(random_state), set(), []
    for repeat in range(n_repeats):
        folds = list(resolve_folds(None, X, target, groups, _checks.repetition_rng(root, repeat)))
        partition = frozenset(test.tobytes() for _, test in folds)
        if partition not in seen:
            splits += folds
        seen.add(partition)
    return splits


STATISTICS = ("resubstitution", "cross_validation")

Draw = Callable[[int], np.ndarray]


def perturbation_interval(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    n_resamples: int = 1000,
    statistic: str = "cross_validation",
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
    error_score: float | str = "raise",
) -> Estimate:
    r"""Return a confidence interval of the error by perturbation resampling.

    The fit is repeated under random sample weights :math:`G_i`, independent of the data, with mean
    and variance 1; for a support vector machine that minimises
    :math:`\sum_i G_i \{(1 - y_i f(x_i))_+ + \lambda w'w\}` [1]_. With :math:`e_i` the loss of
    sample `i`, :math:`\hat\theta` the fit without weights and :math:`\theta^*` that under weights,

    .. math:: W^* = n^{-1/2} \sum_i G_i \{ e_i(\theta^*) - AE(\hat\theta) \}

    imitates the deviation of the error from its estimate (``statistic="resubstitution"``, that of
    [1]_). ``statistic="cross_validation"``, which is not in [1]_, runs the cross-validation again
    under the weights, which enter training and evaluation:

    .. math:: W^* = n^{-1/2} \sum_i G_i \{ e_i^{CV}(\theta^*) - CV \} .

    With :math:`se = sd(W^*)/\sqrt n` and :math:`q_u` the quantiles of `W*`, the interval around the
    cross-validated error `CV` is

    - "wilson", for 0-1 loss: Wilson's interval of the proportion `CV` of
      :math:`\min(n, CV(1-CV)/se^2)` samples, of `n` where `CV` is 0 or 1,
    - "log", for squared and absolute loss: :math:`CV \exp(\mp z_{1-a/2}\, se/CV)`,
    - "normal": :math:`CV \mp z_{1-a/2}\, se`,
    - "pivotal": :math:`[CV - q_{1-a/2}/\sqrt n,\; CV - q_{a/2}/\sqrt n]`,
    - "symmetric": :math:`CV \mp q_{1-a}(|W^*|)/\sqrt n`,
    - "quantile": :math:`CV \mp q_{1-a/2}/\sqrt n`, as some notes print it; for comparison only,

    clipped to the range of the loss. The first two do not leave it, and are the default.

    Parameters
    ----------
    estimator : estimator
        Any classifier or regressor whose `fit` takes `sample_weight`, or a pipeline that ends in
        one; within a pipeline every step that takes weights is given them.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or what else the estimator takes: texts, or a square precomputed kernel.
    y : array-like of shape (n_samples,)
        Labels or numbers.
    n_resamples : int, default=1000
        Number of perturbations.
    statistic : {"cross_validation", "resubstitution"}, default="cross_validation"
        What is perturbed. The default takes as many fits again as there are folds, and is the one
        whose coverage was measured to hold; see Notes.
    interval : str, default=None
        Form of the interval: one of the above, or for 0-1 loss another that `cross_val_error` has;
        None is "wilson" for 0-1 loss, "log" for squared and absolute loss, "normal" for a loss of
        your own.
    confidence_level : float, default=0.95
        Nominal coverage.
    cv : int, splitter or iterable of (train, test), default=10
        Folds, as in `cross_val_error`; repeated splitters are averaged for each sample.
    groups : array-like of shape (n_samples,), default=None
        Groups for the splitter.
    loss : str or callable, default=None
        "zero_one", "squared" or "absolute"; "log_loss" or "brier", of the probabilities of a
        classifier; or any loss of predictions, ``(y_true, y_pred) -> (n,)``. None means 0-1 loss
        for classifiers and squared error for regressors.
    weights : array-like of shape (n_resamples, n_samples), default=None
        Use these perturbations `G` instead of drawing them from the exponential distribution.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, other than weights, as ``cross_validate`` of
        scikit-learn takes them.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples themselves; they multiply `G` in training and evaluation.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the folds and perturbations.
    n_jobs : int, default=None
        Number of joblib workers; the result does not depend on it.
    verbose : int, default=0
        1 reports whether a solver is used and shows a progress bar; more adds joblib's own lines.
    memory : str, path-like or joblib.Memory, default=None
        Where finished fits are kept. A run that was interrupted and starts again with the same
        arguments, `random_state` an int, does only the rest; see :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        What to do when a fit raises: raise too, or leave it out and warn; a repetition of which no
        fit is left has no draw.

    Returns
    -------
    Estimate
        `value` is the cross-validated error, `replicates` are its perturbations,
        ``CV + W*/sqrt(n)``, which can be read again at another level or in another form; `details`
        has "statistics" (`W*`), "statistic", "resubstitution" (error of the fit on all samples on
        those samples), "loss" and "n_resamples".

    Raises
    ------
    TypeError
        If the estimator does not take `sample_weight`; the step is named.
    ValueError
        If `weights` are negative, all zero in a row or of the wrong shape; if there are too few
        perturbations for the quantile asked; if `interval` does not fit the loss; if classes are
        more than two and the loss is not 0-1.

    Warns
    -----
    UserWarning
        If the resubstitution error is below half the cross-validated one: `W*` degenerates when
        the estimator overfits, and ``statistic="cross_validation"`` is the one to use.

    Notes
    -----
    The theory of [1]_, for "resubstitution", is that of many samples and few features. On
    simulated data (two Gaussian classes, 50 to 200 samples, 5 to 200 features, 400 sets each)
    the nominal 95 % interval "normal" covered the error of the fitted rule in 0 to 94 %, in more
    than 90 % only with 100 samples or more and 5 weakly separated features. With
    "cross_validation" it covered in 94 to 99 % where there were at least five samples for each
    feature and the class means three standard deviations apart at most, but in 83 to 93 % where
    there were as many features as samples or more. The user guide has the table.

    Where classes are easy few errors are seen, or none, and "normal" falls short of all that: it
    is the reason for "wilson". Coverage of the error of the fitted rule by nominal 95 % intervals,
    mean width in parentheses (linear discriminant analysis of two Gaussian classes whose means are
    `d` standard deviations apart in one of `p` features, 10 folds, 100 perturbations; 300 data
    sets for p = 4, 200 for p = 15):

    ===  ==  ===  =====  ===========  ===========  ===========  ===========
    n    p   d    error  CV           CV           training     training
                         normal       wilson       normal       wilson
    ===  ==  ===  =====  ===========  ===========  ===========  ===========
    40   4   4    .031   .91 (.10)    .99 (.17)    .62 (.05)    .97 (.13)
    100  4   4    .026   .91 (.06)    .95 (.09)    .79 (.05)    .93 (.07)
    40   4   2.5  .126   .95 (.25)    .97 (.28)    .80 (.15)    .92 (.20)
    100  4   2.5  .113   .96 (.15)    .98 (.15)    .89 (.12)    .95 (.13)
    40   4   1.2  .309   .98 (.40)    .99 (.37)    .89 (.26)    .93 (.27)
    100  4   1.2  .291   .97 (.23)    .98 (.22)    .93 (.18)    .95 (.18)
    40   15  4    .069   .98 (.21)    .93 (.31)    .14 (.02)    .88 (.17)
    100  15  4    .036   .97 (.09)    .95 (.14)    .59 (.03)    .92 (.08)
    40   15  2.5  .193   .95 (.36)    .95 (.37)    .34 (.06)    .86 (.24)
    100  15  2.5  .136   .98 (.20)    .98 (.20)    .67 (.08)    .92 (.13)
    40   15  1.2  .372   .99 (.43)    .99 (.40)    .56 (.14)    .91 (.28)
    100  15  1.2  .323   .99 (.27)    1.00 (.26)   .84 (.15)    .91 (.18)
    ===  ==  ===  =====  ===========  ===========  ===========  ===========

    "wilson" with "resubstitution" is never shorter than Wilson's interval of `n` independent
    samples, and where the fit separates the classes it is that interval.

    A fit depends on the ratios of the weights only: they are divided by their mean over the
    training samples. Notes that print :math:`W^* = n^{1/2} \sum_i G_i |y_i - f(x_i)|` lack the
    centring and have a factor `n` too much; that quantity has no limit.

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
    _checks.check_confidence_level(confidence_level)
    check_takes_weights(estimator)
    run = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory, "error_score": error_score}
    given = {"groups": groups, "sample_weight": sample_weight, "params": params}
    inputs = validate_inputs(estimator, X, y, loss=loss, method="perturbation", **given, **run)
    fold_root, draw_root = _checks.root_seed(random_state).spawn(2)
    forms = (*intervals.list_forms(inputs.loss.name), *DRAWN)
    asked = f"interval of {inputs.loss.name!r} loss"
    form = _checks.check_option(asked, forms[0] if interval is None else interval, forms)
    folds = resolve_folds(
        cv, inputs.X, inputs.target, inputs.groups, np.random.default_rng(fold_root)
    )
    settings = {"n_resamples": n_resamples, "statistic": statistic, "weights": weights}
    shown: dict[str, Any] = {"form": form, "confidence_level": confidence_level}
    outcome = find_perturbed(inputs, folds, draw_root, settings, **shown)
    return conclude(inputs, outcome, **shown)


def find_perturbed(
    inputs: Inputs,
    folds: Folds,
    root: np.random.SeedSequence,
    settings: Settings,
    *,
    form: str = "normal",
    confidence_level: float = 0.95,
) -> Outcome:
    """Return the error over folds, with the spread of it or of the training error.

    It raises where there are too few draws for a form of interval.
    """
    statistic = settings.get("statistic", "cross_validation")
    loss, target, n = inputs.loss, inputs.target, len(inputs.target)
    n_classes = 0 if target.classes is None else len(target.classes)
    if n_classes > 2 and loss.response == "predict" and loss.name != "zero_one":
        raise ValueError(
            "loss must be 'zero_one', 'log_loss' or 'brier' for more than two classes, got "
            f"{loss.name!r} for {n_classes} classes."
        )
    twice = weight_parameters(inputs.estimator, np.ones(n)).keys() & (inputs.params or {}).keys()
    if twice:
        raise ValueError(
            f"params must not hold {min(twice)!r}, which is perturbed; give sample_weight= for it."
        )
    _checks.check_option("statistic", statistic, STATISTICS)
    sample_weight = np.ones(n) if inputs.weight is None else inputs.weight
    n_resamples, draw = choose_draws(settings.get("weights"), settings["n_resamples"], root, n)
    intervals.check_enough_draws(n_resamples, confidence_level, form)
    plans = {"resubstitution": whole_plan(n), "cross_validation": fold_plan(n, folds)}

    def losses(base: ResamplingPlan, n_draws: int, draw: Draw) -> Iterator[np.ndarray]:
        plan = make_weighted_plan(base, n_draws, draw, sample_weight)
        return compute_mean_losses(inputs, run_plan(inputs, plan), plan.fits_per_draw)

    errors, sizes = {}, {}
    for name, base in plans.items():
        (plain,) = losses(base, 1, lambda _: np.ones(n))
        tested = np.isfinite(plain[0])
        errors[name] = mean_of_tested(plain[0][tested], sample_weight[tested])
        sizes[name] = count_effective(sample_weight[tested])
    perturbed = losses(plans[statistic], n_resamples, draw)
    statistics = compute_statistics(perturbed, draw, sample_weight, errors[statistic])
    error, apparent = errors["cross_validation"], errors["resubstitution"]
    if statistic == "resubstitution" and apparent < error / 2:
        _checks.warn_user(
            f"the resubstitution error ({write_number(apparent)}) is below half the "
            f"cross-validated error ({write_number(error)}): the estimator overfits and the "
            "interval is too short; use statistic='cross_validation'."
        )
    intervals.check_enough_draws(len(statistics), confidence_level, form)
    deviations = statistics / np.sqrt(n)
    spread = float(np.std(statistics, ddof=1) / np.sqrt(n))
    found = find_error(error, spread, error + deviations, sizes["cross_validation"], loss=loss.name)
    details = {
        "statistic": statistic,
        "resubstitution": apparent,
        "statistics": statistics,
        "n_resamples": len(statistics),
    }
    limits = partial(intervals.limits_of_draws, error, deviations)
    forms = {name: partial(limits, form=name) for name in DRAWN}
    n_fits = sum(base.n_fits for base in plans.values()) + n_resamples * plans[statistic].n_fits
    return Outcome([found._replace(forms=forms, details=details)], n_fits)


def choose_draws(
    weights: Any, n_resamples: int, root: np.random.SeedSequence, n_samples: int
) -> tuple[int, Draw]:
    """Return how many weightings there are, and what gives each.

    Weights that are not given are drawn, with mean and variance 1.
    """
    if weights is None:
        n_resamples = _checks.check_count("n_resamples", n_resamples)
        return n_resamples, lambda r: _checks.repetition_rng(root, r).exponential(size=n_samples)
    given = _checks.check_weights("weights", weights, "n_resamples", n_samples)
    return len(given), given.__getitem__


def make_weighted_plan(
    base: ResamplingPlan, n_resamples: int, draw: Draw, sample_weight: np.ndarray
) -> ResamplingPlan:
    """Repeat all fits of a plan under each of the perturbations.

    The weights are divided by their mean over the training samples, so that the penalty of the fit
    is perturbed with its loss.
    """
    fits = concatenate_blocks([base.draw(r) for r in range(base.n_draws)])
    sizes = fits.train.sum(axis=1, keepdims=True)

    def draw_weighted(repetition: int) -> PlanBlock:
        perturbed = fits.train * draw(repetition)
        perturbed *= sample_weight * (sizes / perturbed.sum(axis=1, keepdims=True))
        return PlanBlock(perturbed, fits.test)

    return ResamplingPlan(base.n_samples, n_resamples, draw_weighted, len(fits), weighted=True)


def compute_mean_losses(
    inputs: Inputs, outputs: Outputs, fits_per_draw: int
) -> Iterator[np.ndarray]:
    """Yield the mean loss of each sample in each repetition, nan where it is never tested."""
    for block, output in outputs:
        losses = inputs.loss.of_output(inputs.target, block, output)
        losses = losses.reshape(-1, fits_per_draw, len(inputs.target))
        tests = np.isfinite(losses).sum(axis=1)
        with np.errstate(invalid="ignore"):
            yield np.nansum(losses, axis=1) / tests


def compute_statistics(
    losses: Iterable[np.ndarray], draw: Draw, sample_weight: np.ndarray, error: float
) -> np.ndarray:
    """Return ``W* = n^(-1/2) sum_i G_i {e_i - error}`` of each repetition.

    Where `m` samples alone are tested, the sum over them is multiplied by ``n / m``: `W*` over the
    root of `n` stays their mean. Repetitions of which all fits failed are left out.
    """
    statistics: list[float] = []
    for repetition, row in enumerate(chain.from_iterable(losses)):
        tested = np.isfinite(row)
        if not tested.any():
            continue
        share = sample_weight[tested] / sample_weight[tested].mean()
        perturbation = draw(repetition)[tested] * share
        total = perturbation @ (row[tested] - error)
        statistics.append(float(total * np.sqrt(len(row)) / tested.sum()))
    return np.array(statistics)
