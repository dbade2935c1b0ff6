"""Every estimate of the error of one estimator, in one call.

What `evaluate` may be told and what it chooses where it is told nothing, estimators that resample
in their own fit, and what the steps find, as the fields of a report.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict, Unpack, overload

import numpy as np
from sklearn.base import clone, is_classifier

from skeval._inference.estimate import Estimate, Test
from skeval._resampling.fits import NoFitLeftError
from skeval._resampling.folds import DEFAULT_FOLDS, default_folds, resolve_splitter, seed_splitter
from skeval._resampling.jobs import tallied_warnings
from skeval._resampling.procedure import OutOfFold
from skeval._resampling.questions import Questions
from skeval._resampling.target import LossLike, Target
from skeval._resampling.task import read_task
from skeval._resampling.units import check_class_sizes
from skeval.model_selection._error_interval import check_sample_weight
from skeval.model_selection._interval_methods import AUTO
from skeval.report._comparison import EvaluationComparison, collect_cautions, compare_reports
from skeval.report._data_checks import name_columns, warn_of_order, write_data_warnings
from skeval.report._predictions import (
    add_search_question,
    find_subgroups,
    name_rows,
    resolve_scorers,
    summarize_predictions,
    take_column,
    warn_of_scores,
)
from skeval.report._report import EvaluationReport
from skeval.report._sentences import (
    RareClass,
    find_guess,
    find_rare_class,
    find_unanswered,
    write_given_folds,
    write_guess,
)
from skeval.report._source import (
    check_feature_names,
    count_columns,
    describe_run,
    write_estimator,
)
from skeval.report._steps import Selection, Steps, ends_in_linear_svc
from skeval.report._warnings import Caution, write_warnings
from skeval.svm import PerturbationResamplingSVC
from skeval.utils._checks import (
    check_confidence_level,
    check_count,
    check_flag,
    check_jobs,
    check_methods,
)
from skeval.utils._seeds import RandomStateLike, root_seed, small_seed

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
    >>> round(report.answer.value, 4)
    0.0193
    >>> round(report["leave_one_out"].value, 4)
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
    return EvaluationComparison(
        reports=reports,
        comparison=compare_reports(reports),
        warnings=tuple(collect_cautions(reports)),
        **made,
    )


def make_announcer(n_jobs: int | None, verbose: int) -> Callable[[str], None]:
    """Return what names each step on standard error, or nothing."""
    check_jobs(n_jobs, verbose)

    def say(step: str) -> None:
        if verbose:
            print(f"skeval: {step} ...", file=sys.stderr, flush=True)

    return say


LEAVE_ONE_OUT_LIMIT = 1000


class Options(TypedDict, total=False):
    """The keywords of `evaluate`, for the types of its two forms."""

    cv: Any
    n_bootstraps: int
    n_permutations: int
    n_resamples: int
    leave_one_out: bool | None
    confidence_level: float
    loss: LossLike
    scoring: Any
    groups: Any
    by: Any
    sample_weight: Any
    feature_names: Sequence[str] | None
    left_out: Any
    random_state: RandomStateLike
    n_jobs: int | None
    verbose: int
    memory: Any
    error_score: float | str


class Counts(NamedTuple):
    """How many resamples of each kind there are."""

    bootstraps: int
    permutations: int
    perturbations: int


def check_counts(n_bootstraps: Any, n_permutations: Any, n_resamples: Any) -> Counts:
    """Return the numbers of resamples; 0 does without permutations and perturbations."""
    return Counts(
        check_count("n_bootstraps", n_bootstraps),
        check_count("n_permutations", n_permutations, 0),
        check_count("n_resamples", n_resamples, 0),
    )


def check_left_out(left_out: Any, n_samples: int) -> dict[str, np.ndarray]:
    """Return the columns that are no features by name; each must have a value for each sample."""
    if left_out is None:
        return {}
    if not hasattr(left_out, "items"):
        raise ValueError(
            f"left_out must be a dict or a data frame of columns, got {type(left_out).__name__}."
        )
    columns = {str(name): np.asarray(column) for name, column in left_out.items()}
    for name, column in columns.items():
        if column.shape != (n_samples,):
            raise ValueError(
                f"left_out must hold a value for each of {n_samples} samples, {name!r} has shape "
                f"{column.shape}."
            )
    return columns


def choose_leave_one_out(asked: bool | None, n_samples: int) -> bool:
    """Return whether to leave each sample out in turn: as asked, or where samples are few."""
    if asked is None:
        return n_samples <= LEAVE_ONE_OUT_LIMIT
    check_flag("leave_one_out", asked)
    return asked


def choose_splitter(cv: Any, target: Target, groups: Any, seed: int) -> tuple[Any, list[Caution]]:
    """Return what splits, and a note where there are fewer folds than usual."""
    cv, notes = choose_folds(cv, target, groups)
    splitter = resolve_splitter(cv, target, groups, seed)
    return seed_splitter(splitter, root_seed(seed)), notes


def choose_folds(cv: Any, target: Target, groups: Any) -> tuple[Any, list[Caution]]:
    """Return `cv`, or ten folds, or as many as the data allow and a note of it."""
    if cv is not None:
        return cv, []
    n_folds = default_folds(target, groups)
    what = f"There are {n_folds} {'samples' if groups is None else 'groups'}"
    if target.classes is not None:
        sizes = np.bincount(target.codes)
        if 2 <= sizes.min() <= n_folds:
            n_folds = int(sizes.min())
            what = f"Class {target.classes[sizes.argmin()]} has {n_folds} members"
    if n_folds == DEFAULT_FOLDS:
        return n_folds, []
    text = (
        f"{what}, fewer than {DEFAULT_FOLDS} folds need: the row of cross-validation has {n_folds}."
    )
    return n_folds, [Caution("few-folds", text)]


def count_classes(target: Target, weight: np.ndarray | None = None) -> dict[Any, Any] | None:
    """Return the number of samples of each class, or what they weigh."""
    if target.classes is None:
        return None
    sizes = np.bincount(target.codes, weight)
    return dict(zip(target.classes.tolist(), sizes.tolist(), strict=True))


def find_all(
    steps: Steps,
    counts: Counts,
    leave_one_out: bool,
    questions: Questions,
    names: tuple[str, ...] | None,
    by: Any,
    left_out: Mapping[str, Any],
    notes: list[Caution],
    say: Callable[[str], None],
) -> dict[str, Any]:
    """Return the fields of a report that resampling finds."""
    estimates = tuple(_estimate_all(steps, counts.bootstraps, leave_one_out, say, notes))
    say("error interval")
    answer, found = steps.answer(questions)
    about = name_rows(steps.task.X), by, steps.confidence_level
    summary = summarize_predictions(steps.counted, answer, found, questions, *about)
    if not steps.ordered:
        where = name_columns(steps.task.X, names), left_out, name_rows(steps.task.X)
        notes += warn_of_order(*where, found, steps.groups, steps.folds)
    notes += warn_of_scores(summary, steps.estimator, by, steps.ordered)
    weighed = count_classes(steps.target, steps.task.weight)
    rare = find_rare_class(weighed, summary.metrics, estimates[0].details["loss"])
    if steps.counted.cases.name == "folds":
        notes.append(Caution("given-folds", write_given_folds(steps.counted.cases.n_units)))
        counts = counts._replace(permutations=0)
    tests = _run_tests(steps, counts, rare, names, say, notes)
    return {
        "answer": answer,
        "estimates": estimates,
        "rare": rare,
        "unanswered": find_unanswered(found),
        **summary._asdict(),
        **tests,
        **_describe_findings(steps, found, estimates, names, left_out, notes),
    }


def _run_tests(
    steps: Steps,
    counts: Counts,
    rare: RareClass | None,
    names: tuple[str, ...] | None,
    say: Callable[[str], None],
    notes: list[Caution],
) -> dict[str, Any]:
    """Return the fields of a report that resampling beyond the estimates finds."""
    return {
        "perturbation": _run_perturbation(steps, counts.perturbations, say),
        **_run_selection(steps, names, notes)._asdict(),
        "permutation": _run_permutation(steps, counts.permutations, rare, say, notes),
        "feature_names": names,
    }


def _describe_findings(
    steps: Steps,
    found: OutOfFold,
    estimates: Sequence[Estimate],
    names: tuple[str, ...] | None,
    left_out: Mapping[str, Any],
    notes: list[Caution],
) -> dict[str, Any]:
    """Return the fields of a report that say what to make of its estimates."""
    guess = find_guess(found, estimates[0].details["loss"], ordered=steps.ordered)
    warnings = [
        *write_data_warnings(steps.task.X, steps.target, steps.kept_together, names, left_out),
        *notes,
        *write_warnings(estimates),
    ]
    if guess and not guess.better and not steps.ordered:
        warnings.append(Caution("guess", write_guess(guess, estimates[0].details["loss"])))
    return {
        "confidence_level": float(steps.confidence_level),
        "n_samples": len(steps.target),
        "class_sizes": count_classes(steps.target),
        "guess": guess,
        "warnings": tuple(warnings),
    }


def _estimate_all(
    steps: Steps,
    n_bootstraps: int,
    leave_one_out: bool,
    say: Callable[[str], None],
    notes: list[Caution],
) -> Iterator[Estimate]:
    """Yield every estimate, from the most optimistic to the most careful."""
    estimators = {
        "resubstitution": steps.estimate_resubstitution,
        "holdout": steps.estimate_hold_out,
        "cross_validation": steps.estimate_cross_validation,
        "leave_one_out": steps.estimate_leave_one_out,
    }
    left_out = {"holdout", "leave_one_out"} if steps.ordered else set()
    for name, estimate in estimators.items():
        if name in left_out or (name == "leave_one_out" and not leave_one_out):
            continue
        say(name)
        try:
            yield estimate()
        except NoFitLeftError as error:
            if name not in ("holdout", "leave_one_out"):
                raise
            notes.append(Caution("failed", f"There is no {name} estimate: {error}"))
    if steps.ordered:
        return
    try:
        check_class_sizes(steps.target.classes, steps.target.codes)
    except ValueError as error:
        notes.append(Caution("failed", f"There are no bootstrap estimates: {error}"))
        return
    say("bootstrap")
    yield from steps.estimate_bootstrap(n_bootstraps)


def _run_perturbation(
    steps: Steps, n_resamples: int, say: Callable[[str], None]
) -> tuple[Estimate, ...] | None:
    """Return the perturbation intervals where they are wanted and have a meaning."""
    served = steps.groups is None and ends_in_linear_svc(steps.estimator, steps.target)
    if not n_resamples or not served:
        return None
    say("perturbation")
    return steps.perturb(n_resamples)


def _run_permutation(
    steps: Steps,
    n_permutations: int,
    rare: RareClass | None,
    say: Callable[[str], None],
    notes: list[Caution],
) -> Test | None:
    """Return the permutation test if it is wanted; a note where a fit of it fails."""
    if not n_permutations:
        return None
    say("permutation")
    try:
        return steps.permute(n_permutations, None if rare is None else rare.metric)
    except Exception as error:
        _note_failure(steps, "permutation test", error, notes)
        return None


def _run_selection(steps: Steps, names: tuple[str, ...] | None, notes: list[Caution]) -> Selection:
    """Return what is known of the selection of features; a note where a fit of it fails."""
    try:
        return steps.select(names)
    except Exception as error:
        _note_failure(steps, "account of the selected features", error, notes)
        return Selection(None, None, None)


def _note_failure(steps: Steps, what: str, error: Exception, notes: list[Caution]) -> None:
    """Note what a failing fit has cost, or raise where failing fits are to raise."""
    if steps.task.error_score == "raise":
        raise error
    text = f"There is no {what}, since it cannot do without a fit that failed: {error}"
    notes.append(Caution("failed", text))


def skip_nested_resampling(estimator: Any) -> tuple[Any, list[Caution]]:
    """Return an estimator whose fits do not resample, and a note where it would have.

    A `PerturbationResamplingSVC`, alone or within other estimators, predicts the same with
    ``n_resamples=0``, where it does neither cross-validate nor perturb.
    """
    parts = {"": estimator, **estimator.get_params(deep=True)}
    busy = [
        f"{name}__n_resamples".removeprefix("__")
        for name, part in parts.items()
        if isinstance(part, PerturbationResamplingSVC) and part.n_resamples
    ]
    if not busy:
        return estimator, []
    note = Caution(
        "nested",
        "PerturbationResamplingSVC was fitted with n_resamples=0, without the resampling of its "
        "own that no prediction depends on and that every fit here would have repeated.",
    )
    return clone(estimator).set_params(**dict.fromkeys(busy, 0)), [note]
