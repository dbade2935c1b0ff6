"""Every estimate of the error of one estimator, in one call."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack, overload

from sklearn.base import is_classifier

from skeval._resampling.jobs import tallied_warnings
from skeval._resampling.target import LossLike
from skeval._resampling.task import read_task
from skeval.model_selection._error_interval import AUTO, check_sample_weight
from skeval.report._cautions import Caution
from skeval.report._choices import (
    Options,
    check_counts,
    check_left_out,
    choose_leave_one_out,
    choose_splitter,
)
from skeval.report._comparison_report import EvaluationComparison, compare_reports
from skeval.report._findings import find_all
from skeval.report._nested import skip_nested_resampling
from skeval.report._predictions import (
    add_search_question,
    find_subgroups,
    resolve_scorers,
    take_column,
)
from skeval.report._provenance import (
    check_feature_names,
    count_columns,
    describe_run,
    write_estimator,
)
from skeval.report._report import EvaluationReport
from skeval.report._steps import Steps
from skeval.utils._checks import (
    check_confidence_level,
    check_jobs,
    check_methods,
)
from skeval.utils._seeds import RandomStateLike, small_seed

__all__ = ["evaluate", "make_announcer"]

ORDERED = (
    "The folds test only what comes after all that they train on, so the order of the samples "
    "counts. Hold-out, leave-one-out, bootstrap, perturbation and permutation test mix early and "
    "late samples, which would let the future predict the past: they are left out. The interval "
    "of cross-validation takes the losses of samples as independent; where neighbours in time err "
    "together it is too short."
)


@overload
def evaluate(
    estimator: Mapping[str, Any], X: Any, y: Any, **options: Unpack[Options]
) -> EvaluationComparison: ...
@overload
def evaluate(estimator: Any, X: Any, y: Any, **options: Unpack[Options]) -> EvaluationReport: ...
def evaluate(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    n_bootstraps: int = 200,
    n_permutations: int = 200,
    n_resamples: int = 500,
    leave_one_out: bool | None = None,
    confidence_level: float = 0.95,
    loss: LossLike = None,
    scoring: Any = None,
    groups: Any = None,
    by: Any = None,
    sample_weight: Any = None,
    feature_names: Sequence[str] | None = None,
    left_out: Any = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
    error_score: float | str = "raise",
) -> EvaluationReport | EvaluationComparison:
    """Return the error of an estimator with an interval that holds, and all other views of it.

    Of several estimators, given as a dict, it evaluates each on the same folds and compares them.

    `report.answer` is what `error_interval` returns: the number to quote. Beside it stand
    resubstitution, hold-out (a third of the samples), cross-validation, leave-one-out and the
    bootstrap (out-of-bag, .632, .632+), each with its standard error and confidence interval; for
    a linear support vector machine the perturbation intervals around its cross-validated error;
    the permutation P-value of the whole procedure; where a pipeline selects features, what
    selecting them outside the loop would have claimed, and how stable the selection is; and
    warnings in plain words where a number should not be taken at its face. Errors are mean
    losses: fractions in [0, 1] for 0-1 loss, 0 is best.

    Parameters
    ----------
    estimator : estimator, or dict of str to estimator
        Any scikit-learn classifier, regressor or pipeline. Selection and tuning belong inside it.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or what else the estimator takes: texts, or a square precomputed kernel.
    y : array-like of shape (n_samples,)
        Labels or numbers.
    cv : int, splitter or iterable of (train, test), default=None
        Folds, which decide the answer and all that is read off it, as in `error_interval`: those
        of a number, and of a splitter with ``shuffle=True``, are drawn anew for each repeat; all
        others are taken as they are, and without `groups` samples that they never part count as
        one unit. None means 10, or as many as the smallest class has members, or as there are
        samples or groups. Where folds test only what comes after all that they train on, as those
        of ``TimeSeriesSplit`` do, what would mix early and late samples is left out, and a warning
        says so.
    n_bootstraps : int, default=200
        Number of bootstrap resamples.
    n_permutations : int, default=200
        Number of permutations of the labels for the P-value; 0 does without it.
    n_resamples : int, default=500
        Number of perturbations of a linear two-class `SVC`; 0 does without its intervals.
    leave_one_out : bool, default=None
        Whether to run leave-one-out; None does up to 1,000 samples.
    confidence_level : float, default=0.95
        Nominal coverage of the intervals.
    loss : {"zero_one", "squared", "absolute"} or callable, default=None
        Per-sample loss ``(y_true, y_pred) -> (n,)``; None means 0-1 loss for classifiers and
        squared error for regressors.
    scoring : str, callable, list or dict, default=None
        Scorers beside the usual metrics, which need none; each scores each test set of the
        repeated folds, as in ``cross_validate``.
    groups : array-like of shape (n_samples,) or str, default=None
        Groups that no split takes apart, or the column of a data frame that holds them. The column
        is then no feature: new samples come from groups that no model has seen.
    by : array-like of shape (n_samples,) or str, default=None
        Subgroup of each sample, or the column of a data frame that holds it: the error in each,
        and the largest difference. The column stays a feature, unless it holds the groups.
    sample_weight : array-like of shape (n_samples,), default=None
        Positive weights of the samples, in every fit and in the means of losses and metrics; of
        the permutation test, and of the bias of selection, in the fits alone.
    feature_names : sequence of str of length n_features, default=None
        What the report calls the features; None takes the column names of a data frame.
    left_out : dict of str to array-like or DataFrame, default=None
        Columns of the same samples that are no features, such as an identifier or a date. No model
        sees them; the warnings do: values that repeat as those of a patient do, and the order of
        time.
    random_state : int, RandomState, Generator or None, default=None
        Seed of all splits and resamples.
    n_jobs : int, default=None
        Number of joblib workers; the result does not depend on it.
    verbose : int, default=0
        1 names each step on standard error and shows a progress bar for each.
    memory : str, path-like or joblib.Memory, default=None
        Where finished fits are kept. A run that was interrupted and starts again with the same
        arguments, `random_state` an int, does only the rest; see :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        What to do when a fit raises: raise too, or leave it out, count and warn. Of the estimates,
        the hold-out and leave-one-out errors are left out, with a sentence among the warnings,
        where no fit is left.

    Returns
    -------
    EvaluationReport
        Of a dict an `EvaluationComparison`, which holds one for each estimator.

    Raises
    ------
    ValueError
        If an argument breaks a rule; the message names argument, rule and value.

    See Also
    --------
    skeval.model_selection.error_interval : The answer alone.
    skeval.model_selection.cross_val_error : Cross-validation alone.
    skeval.model_selection.bootstrap_error : The bootstrap alone.

    Examples
    --------
    >>> import skeval
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(kernel="linear")
    >>> report = skeval.evaluate(model, X, y, n_bootstraps=50, n_permutations=50, random_state=0)
    >>> round(report.answer.error, 4)
    0.0193
    >>> round(report["leave-one-out"].error, 4)
    0.02
    """
    arguments = dict(locals())  # first, while the only local variables are the arguments
    if isinstance(estimator, Mapping):
        return _evaluate_each(**arguments)
    check_confidence_level(confidence_level)
    counts = check_counts(n_bootstraps, n_permutations, n_resamples)
    table = X
    if isinstance(groups, str):
        X, groups = take_column(X, groups)
    task = read_task(
        estimator,
        X,
        y,
        groups=groups,
        loss=loss,
        n_jobs=n_jobs,
        verbose=verbose,
        memory=memory,
        error_score=error_score,
    )
    X, target = task.X, task.target
    leave_out = choose_leave_one_out(leave_one_out, len(target))
    names = check_feature_names(X, feature_names)
    seed = small_seed(random_state)
    questions = add_search_question(resolve_scorers(scoring), estimator)
    by = find_subgroups(table, by, len(target))
    columns = check_left_out(left_out, len(target))
    rule, notes = skip_nested_resampling(estimator)
    splitter, few = choose_splitter(cv, target, task.groups, seed)
    weight = check_sample_weight(sample_weight, rule, AUTO, len(target))
    task = task.of(rule).under(weight=weight)
    steps, notes = Steps(task, cv, splitter, seed, confidence_level), notes + few
    say = make_announcer(n_jobs, verbose)
    if steps.ordered:
        counts = counts._replace(permutations=0, perturbations=0)
        notes.append(Caution("ordered", ORDERED))
    with tallied_warnings():
        findings = find_all(steps, counts, leave_out, questions, names, by, columns, notes, say)
    return EvaluationReport(
        **findings,
        n_features=count_columns(X),
        estimator=write_estimator(estimator),
        **describe_run("skeval.evaluate", arguments, seed),
    )


def _evaluate_each(estimator: Mapping[str, Any], **arguments: Any) -> EvaluationComparison:
    """Return the reports of several estimators under one seed, and their comparison."""
    if len(estimator) < 2:
        raise ValueError(f"estimator must hold at least two estimators, got {len(estimator)}.")
    for name, each in estimator.items():
        check_methods(f"estimator[{name!r}]", each, "fit", "predict", "get_params")
    if len({is_classifier(each) for each in estimator.values()}) > 1:
        raise ValueError("estimator must hold classifiers only or regressors only, got both.")
    arguments["random_state"] = seed = small_seed(arguments["random_state"])
    say = make_announcer(arguments["n_jobs"], arguments["verbose"])
    reports = {}
    with tallied_warnings():
        for name, each in estimator.items():
            say(f"evaluating {name}")
            reports[str(name)] = evaluate(each, **arguments)
    made = describe_run("skeval.evaluate", {"estimator": dict(estimator)} | arguments, seed)
    return EvaluationComparison(reports, compare_reports(reports), made["call"])


def make_announcer(n_jobs: int | None, verbose: int) -> Callable[[str], None]:
    """Return what names each step on standard error, or nothing."""
    check_jobs(n_jobs, verbose)

    def say(step: str) -> None:
        if verbose:
            print(f"skeval: {step} ...", file=sys.stderr, flush=True)

    return say
