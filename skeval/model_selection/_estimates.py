"""Estimates of the error: the form that they have, and the two that need no more than folds.

Resubstitution is the error on the samples that the estimator was fitted on; cross-validation that
on held-out folds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skeval._inference.estimate import Estimate, LimitsByMethod
from skeval._inference.proportions import (
    Finding,
    bounds_of,
    effective_size,
    make_limits,
    row_means,
    standard_error_of_ratio,
)
from skeval._resampling.fits import Outputs, fit_plan
from skeval._resampling.folds import Folds, fold_plan, resolve_folds
from skeval._resampling.plan import whole_plan
from skeval._resampling.target import LossLike, Target
from skeval._resampling.task import Task, read_task
from skeval._resampling.weights import Params, count_effective
from skeval.utils._checks import check_confidence_level
from skeval.utils._seeds import RandomStateLike, repetition_rng, root_seed
from skeval.utils._text import mean_loss_name

__all__ = [
    "cross_val_error",
    "estimate_over_folds",
    "estimate_resubstitution",
    "find_error",
    "make_estimate",
    "predict_own_samples",
    "repeat_folds",
    "resubstitution_error",
]

INFLATION = 2.0
"""Mean squared deviation of one cross-validation from the risk, over its naive variance."""


def find_error(
    error: float,
    standard_error: float,
    replicates: np.ndarray,
    n_samples: float,
    n_groups: int | None = None,
) -> Finding:
    """Return what was found of an error, in so many samples of equal weight, or in groups."""
    df = np.inf if n_groups is None else n_groups - 1.0
    n = effective_size(error, standard_error, n_samples, n_groups)
    return Finding(error, standard_error, replicates, df, n)


def make_estimate(
    found: Finding,
    *,
    method: str,
    loss: str,
    n_samples: int,
    confidence_level: float,
    limits: LimitsByMethod | None = None,
    n_failed: int = 0,
    n_groups: int | None = None,
    **details: Any,
) -> Estimate:
    """Return what a method found of a mean loss; `limits` are by default those of the loss."""
    shared = {"loss": loss, "n_groups": n_groups, "effective_n_samples": found.n_effective}
    return Estimate(
        name=mean_loss_name(loss),
        value=found.value,
        standard_error=found.standard_error,
        method=method,
        limits=make_limits(found, loss) if limits is None else limits,
        n_samples=n_samples,
        n_failed=n_failed,
        replicates=found.replicates,
        details=shared | details,
        confidence_level=confidence_level,
        bounds=bounds_of(loss),
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
) -> Estimate:
    r"""Estimate the error on the training samples themselves.

    With :math:`e_i` the loss of sample `i` under the estimator fitted on all samples,

    .. math:: AE = \frac{1}{n} \sum_{i=1}^{n} e_i .

    This is the empirical risk, also called training or apparent error. It is optimistic: the best
    value 0 says nothing of new samples (1-nearest-neighbour always reaches it).

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
    loss : {"zero_one", "squared", "absolute"} or callable, default=None
        Per-sample loss ``(y_true, y_pred) -> (n,)``; None means 0-1 loss for classifiers and
        squared error for regressors.
    params : dict, default=None
        Arguments of the estimator's `fit` by name. Weights (``{"sample_weight": w}``) are those of
        the fit; losses are averaged without them.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples, in the fit and in the mean of the losses.
    confidence_level : float, default=0.95
        Nominal coverage of the interval.

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
    check_confidence_level(confidence_level)
    given: dict[str, Any] = {"sample_weight": sample_weight, "params": params}
    task = read_task(estimator, X, y, groups=groups, loss=loss, **given)
    return estimate_resubstitution(task, confidence_level)


def estimate_resubstitution(task: Task, confidence_level: float) -> Estimate:
    """Return the error on the training samples."""
    weights = task.relative_weight
    losses = task.loss(task.target.y, task.target.decode(predict_own_samples(task)))
    counted = np.ones(len(losses)) if weights is None else weights
    spread, n_groups = standard_error_of_ratio(counted * losses, counted, task.groups)
    size = len(losses) if weights is None else count_effective(weights)
    error = float(np.average(losses, weights=weights))
    return make_estimate(
        find_error(error, spread, losses, size, n_groups),
        method="resubstitution",
        loss=task.loss.name,
        n_samples=len(losses),
        n_groups=n_groups,
        confidence_level=confidence_level,
    )


def predict_own_samples(task: Task) -> np.ndarray:
    """Return the predictions (codes or numbers) of one fit on all samples for those samples."""
    task = task.under(n_jobs=None, verbose=0, error_score="raise")
    ((_, output),) = fit_plan(task, whole_plan(len(task.target)))
    predicted: np.ndarray = output.predicted
    return predicted


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
    loss : {"zero_one", "squared", "absolute"} or callable, default=None
        Per-sample loss ``(y_true, y_pred) -> (n,)``; None means 0-1 loss for classifiers and
        squared error for regressors.
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
        1 says whether a solver does the fits, and shows a progress bar; more adds joblib's own
        lines.
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
    The standard error is that of the mean of the per-sample losses. It ignores that the folds
    share training samples; no unbiased estimate of that variance exists [1]_. Wilson's interval
    on it covered the error of the fitted rule in 73 to 94 % where 95 % were promised (some 40
    combinations of populations and learners, mostly 50 samples, 200 or 400 data sets each), so
    the default, "inflated", takes twice the variance, for 0-1 loss in the form of Jeffreys: it
    covered in 92 to 99 %. A hold-out, a single fold, has Wilson's. The interval of
    `error_interval` is shorter, by a tenth, since it averages over repeated folds: quote that one.
    With `groups` the losses of a group are added up first, and intervals count the independent
    samples that would have this standard error, fewer by Student's quantile [2]_.

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
    check_confidence_level(confidence_level)
    task = read_task(
        estimator,
        X,
        y,
        groups=groups,
        loss=loss,
        sample_weight=sample_weight,
        params=params,
        n_jobs=n_jobs,
        verbose=verbose,
        memory=memory,
        error_score=error_score,
    )
    folds = resolve_folds(cv, task.X, task.target, task.groups, random_state)
    return estimate_over_folds(task, folds, "cross_validation", confidence_level)


def estimate_over_folds(
    task: Task,
    folds: Folds,
    method: str,
    confidence_level: float,
    groups: Any = None,
    outputs: Outputs | None = None,
) -> Estimate:
    """Return the error over folds by the name of the method: one split is a hold-out.

    Its spread is that over `groups`, by default the groups of the task. `outputs` are what the fits
    of these folds answer, where they are done.
    """
    loss, weights = task.loss, task.relative_weight
    n = len(task.target)
    sums, tests = np.zeros(n), np.zeros(n)
    fold_errors, n_failed = [], 0
    for block, output in fit_plan(task, fold_plan(n, folds)) if outputs is None else outputs:
        losses = loss.of_output(task.target, block, output)
        tested = ~np.isnan(losses)
        sums += np.where(tested, losses, 0).sum(axis=0)
        tests += tested.sum(axis=0)
        fold_errors.append(row_means(losses, weights))
        n_failed += int(output.failed.sum())
    n_tested = int(np.count_nonzero(tests))
    size: float = n_tested
    if weights is not None:
        size = count_effective(weights[tests > 0])
        sums, tests = weights * sums, weights * tests
    groups = task.groups if groups is None else groups
    spread, n_groups = standard_error_of_ratio(sums, tests, groups)
    errors = np.concatenate(fold_errors)
    found = find_error(float(sums.sum() / tests.sum()), spread, errors, size, n_groups)
    limits = make_limits(found, loss.name)
    if len(errors) > 1:
        wider, *_ = make_limits(found.inflate(INFLATION), loss.name, first="jeffreys").values()
        limits = {"inflated": wider, **limits}
    return make_estimate(
        found,
        method=method,
        loss=loss.name,
        limits=limits,
        n_samples=n_tested,
        n_failed=n_failed,
        n_groups=n_groups,
        confidence_level=confidence_level,
        fold_mean=float(np.nanmean(errors)),
    )


def repeat_folds(
    n_repeats: int, X: Any, target: Target, groups: Any, random_state: RandomStateLike
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the default folds drawn several times, those that come out the same only once.

    A fold for each group or sample can be made in one way; repeats would look like evidence.
    """
    root, seen, splits = root_seed(random_state), set(), []
    for repeat in range(n_repeats):
        folds = list(resolve_folds(None, X, target, groups, repetition_rng(root, repeat)))
        partition = frozenset(test.tobytes() for _, test in folds)
        if partition not in seen:
            splits += folds
        seen.add(partition)
    return splits
