"""Estimates of the error: their names, what they return, and the two that need no more than folds.

Resubstitution is the error on the samples that the estimator was fitted on; cross-validation that
on held-out folds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skeval._inference.estimate import IntervalResult, Limits
from skeval._inference.proportions import (
    PROPORTION_INTERVALS,
    effective_size,
    log_interval,
    normal_interval,
    normal_quantile,
    row_means,
    standard_error_of_ratio,
)
from skeval._resampling.fits import fit_plan
from skeval._resampling.folds import Folds, fold_plan, resolve_folds
from skeval._resampling.plan import whole_plan
from skeval._resampling.target import LossLike, Target
from skeval._resampling.task import Task, read_task
from skeval._resampling.weights import Params, count_effective
from skeval.utils._checks import check_confidence_level
from skeval.utils._seeds import RandomStateLike, repetition_rng, root_seed
from skeval.utils._text import align_text, write_number, write_spread

__all__ = [
    "BOOTSTRAP",
    "BOOTSTRAP_632",
    "BOOTSTRAP_632_PLUS",
    "BOOTSTRAP_OOB",
    "CROSS_VALIDATION",
    "HOLD_OUT",
    "LEAVE_ONE_OUT",
    "NON_NEGATIVE",
    "RESUBSTITUTION",
    "THIRD_HELD_OUT",
    "CrossValErrorEstimate",
    "ErrorEstimate",
    "bounds_of",
    "cross_val_error",
    "estimate_over_folds",
    "estimate_resubstitution",
    "predict_own_samples",
    "repeat_folds",
    "resubstitution_error",
]

RESUBSTITUTION = "resubstitution"
HOLD_OUT = "hold-out"
THIRD_HELD_OUT = f"{HOLD_OUT} (1/3)"
CROSS_VALIDATION = "cross-validation"
LEAVE_ONE_OUT = "leave-one-out"
BOOTSTRAP_OOB = "bootstrap oob"
BOOTSTRAP_632 = "bootstrap .632"
BOOTSTRAP_632_PLUS = "bootstrap .632+"

BOOTSTRAP = {"oob": BOOTSTRAP_OOB, ".632": BOOTSTRAP_632, ".632+": BOOTSTRAP_632_PLUS}
"""The name of each estimate of the bootstrap, by the `method` that asks for it."""


INFLATION = 2.0
"""Mean squared deviation of one cross-validation from the risk, over its naive variance."""
NON_NEGATIVE = ("squared", "absolute")
"""Losses whose mean has an interval on the logarithmic scale."""


@dataclass(frozen=True, eq=False)
class ErrorEstimate(IntervalResult):
    """An estimate of the expected loss of a classifier or regressor.

    Attributes
    ----------
    method : str
        The name of the estimator.
    error : float
        The estimate, in the unit of the loss (a fraction for 0-1 loss). Smaller is better.
    standard_error : float
        Its estimated standard error, same unit.
    n_samples : int
        Number of distinct samples that were tested.
    loss : str
        Name of the loss.
    replicates : ndarray
        What was averaged: per-sample losses, fold errors or the errors of the resamples.
    n_failed : int
        Number of fits that failed and were left out (``error_score=numpy.nan`` only).
    effective_n_samples : float or None
        Where the samples have weights ``w``, ``sum(w)^2 / sum(w^2)``: no interval counts more.
    n_groups : int or None
        Number of groups of samples that belong together, the units of `standard_error` and of
        the intervals; None where the samples are independent.
    interval : ConfidenceInterval
        That of the error, by the first of `interval_methods`.
    confidence_level : float
        Nominal coverage of `interval`.

    Notes
    -----
    For 0-1 loss "wilson", "agresti_coull", "jeffreys", "exact" and "wald" take the error for a
    proportion of ``error (1 - error) / standard_error^2`` independent samples, of `n_samples` at
    most, and of `n_samples` (or `n_groups`) where the error is 0 or 1; so all but "wald" have a
    width even if no error was seen. "wald" and "normal" have none there, and are nan, with a
    warning, as every interval is where nothing varies. For squared and absolute loss "log" is the
    normal interval of the logarithm of the error, which holds no negative number; "normal" is cut
    off at 0.
    """

    method: str
    error: float
    standard_error: float
    n_samples: int
    loss: str
    replicates: np.ndarray = field(repr=False)
    n_failed: int = field(default=0, kw_only=True)
    n_groups: int | None = field(default=None, kw_only=True)
    effective_n_samples: float | None = field(default=None, kw_only=True)

    @property
    def interval_methods(self) -> tuple[str, ...]:
        """The names that `confidence_interval` takes, the default first."""
        if self.loss == "zero_one":
            return (*PROPORTION_INTERVALS, "normal")
        return ("log", "normal") if self.loss in NON_NEGATIVE else ("normal",)

    def _limits_at(self, confidence_level: float, method: str) -> Limits:
        return self._limits_inflated(confidence_level, method, 1.0)

    def _limits_inflated(self, confidence_level: float, method: str, inflation: float) -> Limits:
        """Return the limits as if the variance were so many times as large."""
        if self.n_groups == 1:
            return bounds_of(self.loss)
        # Student's quantile of groups, as Korn and Graubard (1998) take it
        student = normal_quantile(confidence_level, self.n_groups)
        wider = float(np.sqrt(inflation)) * student / normal_quantile(confidence_level)
        spread = wider * self.standard_error
        if method == "normal":
            return normal_interval(self.error, spread, confidence_level, bounds_of(self.loss))
        if method == "log":
            return log_interval(self.error, spread, confidence_level)
        n = self._interval_size / wider**2
        return PROPORTION_INTERVALS[method](self.error * n, n, confidence_level)

    @property
    def _interval_size(self) -> float:
        """Number of independent samples whose error rate would have this standard error."""
        n = self.n_samples if self.effective_n_samples is None else self.effective_n_samples
        return effective_size(self.error, self.standard_error, n, self.n_groups)

    def _lines(self) -> list[tuple[str, str]]:
        head, ends = self._interval_row()
        rows = [
            ("error", write_number(self.error)),
            ("standard error", write_spread(self.standard_error)),
            (head, f"{ends} ({self.interval.method})"),
            ("samples tested", f"{self.n_samples}"),
        ]
        if self.n_groups is not None:
            rows.append(("groups tested", f"{self.n_groups}"))
        if self.n_failed:
            rows.append(("failed fits", f"{self.n_failed}"))
        return rows

    def __str__(self) -> str:
        return align_text(f"{self.method} ({self.loss} loss)", self._lines())

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and the interval, without the replicates, ready for JSON.

        Returns
        -------
        dict
        """
        return {
            "method": self.method,
            "error": self.error,
            "standard_error": self.standard_error,
            **self._interval_items(),
            "n_samples": self.n_samples,
            "n_failed": self.n_failed,
            "n_groups": self.n_groups,
            "loss": self.loss,
        }


@dataclass(frozen=True, eq=False)
class CrossValErrorEstimate(ErrorEstimate):
    """A cross-validated error; `error` pools the held-out predictions, `replicates` are the folds.

    Two averages exist and differ when folds differ in size: `error` is the mean loss of all
    held-out predictions, `fold_mean` the mean of the fold errors.

    The default interval of more than one fold is "inflated": that of `ErrorEstimate` on twice the
    variance, since losses of rules that share training samples are not independent; for 0-1 loss
    Jeffreys' ("jeffreys") at half the effective number of samples.
    """

    @property
    def interval_methods(self) -> tuple[str, ...]:
        """The names that `confidence_interval` takes, the default first."""
        plain = super().interval_methods
        return plain if len(self.replicates) == 1 else ("inflated", *plain)

    def _limits_at(self, confidence_level: float, method: str) -> Limits:
        if method != "inflated":
            return super()._limits_at(confidence_level, method)
        form = "jeffreys" if self.loss == "zero_one" else super().interval_methods[0]
        return self._limits_inflated(confidence_level, form, INFLATION)

    @property
    def fold_errors(self) -> np.ndarray:
        """Error of each fold, nan where the fit failed."""
        return self.replicates

    @property
    def fold_mean(self) -> float:
        """Mean of the fold errors."""
        return float(np.nanmean(self.replicates))

    def _lines(self) -> list[tuple[str, str]]:
        first, *rest = super()._lines()
        return [
            first,
            (f"mean of {len(self.fold_errors)} folds", write_number(self.fold_mean)),
            *rest,
        ]


def bounds_of(loss: str) -> tuple[float, float]:
    """Return the smallest and the largest mean that a loss of this name can have."""
    if loss == "zero_one":
        return (0.0, 1.0)
    return (0.0 if loss in NON_NEGATIVE else -np.inf, np.inf)


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
) -> ErrorEstimate:
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
    ErrorEstimate
        `replicates` holds the n losses. The intervals describe the sampling of the n losses
        only, not the optimism.

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
    >>> resubstitution_error(KNeighborsClassifier(n_neighbors=1), X, y).error
    0.0
    """
    check_confidence_level(confidence_level)
    given: dict[str, Any] = {"sample_weight": sample_weight, "params": params}
    task = read_task(estimator, X, y, groups=groups, loss=loss, **given)
    return estimate_resubstitution(task, confidence_level)


def estimate_resubstitution(task: Task, confidence_level: float) -> ErrorEstimate:
    """Return the error on the training samples."""
    weights = task.relative_weight
    losses = task.loss(task.target.y, task.target.decode(predict_own_samples(task)))
    counted = np.ones(len(losses)) if weights is None else weights
    spread, n_groups = standard_error_of_ratio(counted * losses, counted, task.groups)
    error = float(np.average(losses, weights=weights))
    found = RESUBSTITUTION, error, spread, len(losses), task.loss.name, losses
    return ErrorEstimate(
        *found,
        n_groups=n_groups,
        effective_n_samples=None if weights is None else count_effective(weights),
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
) -> CrossValErrorEstimate:
    r"""Estimate the error by cross-validation: K-fold, repeated, stratified or leave-one-out.

    Every sample is predicted by an estimator that was fitted without it. Two averages exist, and
    differ when folds differ in size: `error` is pooled over all held-out predictions,

    .. math:: CV = \frac{1}{n} \sum_{i=1}^{n} e_i ,

    and `fold_mean` is the mean of the fold errors. Smaller is better, 0 is best.

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
    CrossValErrorEstimate
        `replicates`, also `fold_errors`, holds the error of each fold.

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
    >>> round(result.error, 4)
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
    return estimate_over_folds(task, folds, CROSS_VALIDATION, confidence_level)


def estimate_over_folds(
    task: Task, folds: Folds, method: str, confidence_level: float, groups: Any = None
) -> CrossValErrorEstimate:
    """Return the error over folds by the name of the method: one split is a hold-out.

    Its spread is that over `groups`, by default the groups of the task.
    """
    loss, weights = task.loss, task.relative_weight
    n = len(task.target)
    sums, tests = np.zeros(n), np.zeros(n)
    fold_errors, n_failed = [], 0
    for block, output in fit_plan(task, fold_plan(n, folds)):
        losses = loss.of_output(task.target, block, output)
        tested = ~np.isnan(losses)
        sums += np.where(tested, losses, 0).sum(axis=0)
        tests += tested.sum(axis=0)
        fold_errors.append(row_means(losses, weights))
        n_failed += int(output.failed.sum())
    n_tested, n_effective = int(np.count_nonzero(tests)), None
    if weights is not None:
        n_effective = count_effective(weights[tests > 0])
        sums, tests = weights * sums, weights * tests
    groups = task.groups if groups is None else groups
    spread, n_groups = standard_error_of_ratio(sums, tests, groups)
    return CrossValErrorEstimate(
        method,
        float(sums.sum() / tests.sum()),
        spread,
        n_tested,
        loss.name,
        np.concatenate(fold_errors),
        n_failed=n_failed,
        n_groups=n_groups,
        effective_n_samples=n_effective,
        confidence_level=confidence_level,
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
