"""Intervals of any scores of any procedure, from one set of fits."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.random import SeedSequence
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring

from skeval._inference.estimate import Estimate, Limits, Results
from skeval._inference.proportions import Finding, make_limits
from skeval._resampling.procedure import score_scheme
from skeval._resampling.target import resolve_loss
from skeval._resampling.task import Task, read_task
from skeval._resampling.weights import Params
from skeval.metrics._scorers import get_scorer_names, range_of, row_of_scorer
from skeval.model_selection._error_interval import check_sample_weight
from skeval.model_selection._estimates import Outcome, Settings, find, untested_losses
from skeval.model_selection._interval_methods import (
    ERROR_METHODS,
    MeansRule,
    resolve_settings,
)
from skeval.utils._checks import check_confidence_level, check_option, naming, warn_undefined
from skeval.utils._seeds import RandomStateLike, root_seed

__all__ = [
    "label_parts",
    "score_interval",
]


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


def score_interval(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    scoring: Any = None,
    method: str = "corrected_t",
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
) -> Estimate | Results:
    r"""Return the score that a procedure will have on new samples, with a confidence interval.

    Any scorer, or several from one set of fits. "corrected_t" and "conservative_z" [1]_ and
    "five_by_two" [2]_ need no more than a score of each fit: with :math:`\mu_j` the scores of `J`
    random subsamplings that train on :math:`n_1` and test on :math:`n_2` samples, the first is

    .. math:: \bar\mu \mp t_{J-1}\, sd(\mu) \sqrt{1/J + n_2/n_1} .

    The other methods of `error_interval` that hold samples out need the losses of single samples,
    which "accuracy", "neg_mean_squared_error" and "neg_mean_absolute_error" have; there the
    interval is that of the error, mirrored. Larger is better.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn classifier, regressor or pipeline. Selection and tuning belong inside it.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or what else the estimator takes: texts, or a square precomputed kernel.
    y : array-like of shape (n_samples,)
        Labels or numbers.
    scoring : str, callable, list, tuple or dict, default=None
        A score, as in ``cross_validate`` of scikit-learn, or several; None is "accuracy" for
        classifiers and "r2" for regressors.
    method : str, default="corrected_t"
        "corrected_t", "conservative_z", "five_by_two", "holdout", "cv_wald", "nested_cv",
        "replace_one_cv" or "repeated_cv"; see `error_interval`.
    confidence_level : float, default=0.95
        Nominal coverage.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample; they are held out and halved whole.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as ``cross_validate`` of scikit-learn takes
        them.
    sample_weight : array-like of shape (n_samples,), default=None
        Positive weights of the samples in every fit, and in the means of the methods that need
        losses of single samples; scores of fits are not weighted.
    n_folds, n_repeats, n_pairs : int, default=None
        Parameters of the method, as in `error_interval`.
    test_size : float or int, default=None
        Share or number of samples (or groups) that a subsampling tests on.
    variance : {"all_pairs", "within_folds"}, default=None
        The variance of "cv_wald", as in `error_interval`.
    random_state : int, RandomState, Generator or None, default=None
        Seed of all that is drawn.
    n_jobs : int, default=None
        Number of joblib workers; the result does not depend on it.
    verbose : int, default=0
        1 says whether a solver does the fits, and shows a progress bar; more adds joblib's own
        lines.
    memory : str, path-like or joblib.Memory, default=None
        Where finished fits are kept; see :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        What to do when a fit raises: raise too, naming the fit, or leave it out, count and warn.

    Returns
    -------
    Estimate or dict
        An estimate; of several scores, one for each name. Its `name` is that of the score, that of
        a function with brackets behind it; `replicates` holds the scores of folds, subsamples or
        repeats; `details` has what those of `error_interval` have, and "n_undefined", the number
        of fits that failed, or whose score is undefined, which were left out.

    Raises
    ------
    ValueError
        If the method needs losses of single samples and a score has none, or does not take a
        parameter that is given; if a fit fails: method, fold and rarest class are named.

    Warns
    -----
    UndefinedMetricWarning
        If a score is undefined for some fits, which are left out, or the same for all of them: the
        limits are then nan.

    Notes
    -----
    Intervals of scikit-learn's named scores are cut off at the range of the score. A test set of a
    tenth of few samples may hold one class only, and no area under a curve: raise `test_size`.

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
    roc_auc (corrected_t)
      value               0.9887
      standard error      0.0036
      95 % interval       [0.9814, 0.9959] (t)
      samples             569
      fits                50
      undefined           0
      degrees of freedom  49
    """
    check_confidence_level(confidence_level)
    check_option("method", method, [m for m, row in ERROR_METHODS.items() if row.holds_out])
    task = read_task(
        estimator,
        X,
        y,
        groups=groups,
        with_loss=False,
        params=params,
        n_jobs=n_jobs,
        verbose=verbose,
        memory=memory,
        error_score=error_score,
        method=method,
    )
    weight = check_sample_weight(sample_weight, estimator, method, len(task.target))
    if scoring is None:
        scoring = "accuracy" if is_classifier(estimator) else "r2"
    task = task.under(weight=weight)
    given = {
        "n_folds": n_folds,
        "n_repeats": n_repeats,
        "n_pairs": n_pairs,
        "test_size": test_size,
        "variance": variance,
    }
    given = {name: value for name, value in given.items() if value is not None}
    settings = resolve_settings(task, ERROR_METHODS[method], given)
    with naming("scoring"):
        scorer = check_scoring(estimator, scoring)
    scores = Scores(scoring, scorer, label_parts(scoring))
    root, means = root_seed(random_state), ERROR_METHODS[method].means
    if means is None:
        outcome = score_losses(task, scores, root, settings)
    else:
        outcome = score_means(task, scores, means(task, root, settings))
    results = {
        name: score_result(task, label, found, outcome, confidence_level, settings)
        for (name, label), found in zip(scores.labels.items(), outcome.findings, strict=True)
    }
    if isinstance(scoring, list | tuple | set | dict):
        return Results(results)
    return results.popitem()[1]


class Scores(NamedTuple):
    """What is scored.

    Attributes
    ----------
    scoring : str, callable, list, tuple, set or dict
        As it was given.
    scorer : callable
        What it means.
    labels : dict
        For each name that `scorer` gives a score, the name of what is scored: one of
        scikit-learn's, or one that none of these has.
    """

    scoring: Any
    scorer: Any
    labels: dict[str, str]


def label_parts(scoring: Any) -> dict[str, str]:
    """Return the names of the scores that an argument `scoring` names."""
    if isinstance(scoring, dict):
        return {name: label_of(part, name) for name, part in scoring.items()}
    parts = list(scoring) if isinstance(scoring, list | tuple | set) else [scoring]
    labels = [label_of(part, getattr(part, "__name__", type(part).__name__)) for part in parts]
    return dict(zip(labels, labels, strict=True))


def label_of(part: Any, name: str) -> str:
    """Return the name of a score; of one that scikit-learn does not name, with brackets."""
    return part if isinstance(part, str) else f"{name}()"


def score_means(task: Task, scores: Scores, rule: MeansRule) -> Outcome:
    """Run a method that needs no more than a score of each fit."""
    found = score_scheme(task, rule.scheme, scores.scorer, scores.scoring)
    findings = []
    for name, label in scores.labels.items():
        values = np.array([s[name] if isinstance(s, dict) else s for s in found], dtype=float)
        values[~np.isfinite(values)] = np.nan
        student = rule.degrees_of_freedom
        mean = find_mean_loss(label)
        if mean is None:
            value, standard_error, kept = rule.estimate(values)
            findings.append(Finding(value, standard_error, kept, student))
            continue
        loss = resolve_loss(mean.loss, task.target)
        estimate = rule.estimate(mean.best - values)
        tested = untested_losses(task, rule.tested_share)
        findings.append(find(loss, *estimate, tested, degrees_of_freedom=student))
    return Outcome(findings, rule.scheme.plan.n_fits)


def score_losses(task: Task, scores: Scores, root: SeedSequence, settings: Settings) -> Outcome:
    """Run a method that needs the losses of single samples."""
    losses = []
    for label in scores.labels.values():
        mean = find_mean_loss(label)
        if mean is None:
            known = [name for name in get_scorer_names() if find_mean_loss(name) is not None]
            raise ValueError(
                f"scoring must be {', '.join(map(repr, known))} for method={task.method!r}, which "
                f"needs losses of single samples, got {label!r}; methods for any score are "
                f"{', '.join(repr(m) for m, row in ERROR_METHODS.items() if row.means)}."
            )
        losses.append(resolve_loss(mean.loss, task.target))
    return ERROR_METHODS[task.method].run(task.under(losses=tuple(losses)), root, settings)


def score_result(
    task: Task,
    label: str,
    found: Finding,
    outcome: Outcome,
    confidence_level: float,
    settings: Settings,
) -> Estimate:
    """Return what was found of one score; where that is a loss, the mirrored intervals of it."""
    classes, df = task.target.classes, found.degrees_of_freedom
    bounds = range_of(label, None if classes is None else len(classes))
    limits = make_limits(found, "", bounds=bounds)
    mean = find_mean_loss(label)
    if mean is not None:
        loss, best = mean
        mirrored = make_limits(found, loss, first=ERROR_METHODS[task.method].form)
        limits = {form: partial(mirror, best, ends) for form, ends in mirrored.items()}
        found = found._replace(value=best - found.value, replicates=best - found.replicates)
    n_undefined = outcome.n_failed or int(np.isnan(found.replicates).sum())
    if n_undefined:
        warn_undefined(
            f"scoring {label!r} is undefined for {n_undefined} of {outcome.n_fits} fits, which are "
            "left out; a larger test_size may help where test sets hold one class."
        )
    return Estimate(
        name=label,
        value=found.value,
        standard_error=found.standard_error,
        method=task.method,
        limits=limits,
        n_samples=len(task.target),
        n_failed=outcome.n_failed,
        replicates=found.replicates,
        details={
            "n_groups": task.units.n_groups,
            "effective_n_samples": found.n_effective,
            "n_fits": outcome.n_fits,
            "n_undefined": n_undefined,
            "degrees_of_freedom": None if np.isinf(df) else df,
            "parameters": settings,
        },
        confidence_level=confidence_level,
        bounds=bounds,
    )


def mirror(best: float, limits: Callable[[float], Limits], confidence_level: float) -> Limits:
    """Return the limits of a score, `best` less those of a loss."""
    low, high = limits(confidence_level)
    return best - high, best - low
