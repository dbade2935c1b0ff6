"""Evaluation of one estimator, or of several, in one call.

`evaluate` validates its arguments; `_run_all` computes the main estimate, its metrics, the
baseline, the other parts and the warnings, in this order. `_parts` lists the other parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone, is_classifier

from skeval._inference.estimate import Results
from skeval._resampling.fit_outputs import LossLike
from skeval._resampling.fit_request import FitRequest, check_scorers
from skeval._resampling.inputs import Inputs, Params, validate_inputs
from skeval._resampling.jobs import tallied_warnings
from skeval._resampling.plans import DEFAULT_FOLDS, default_folds, resolve_splitter, seed_splitter
from skeval._resampling.predictions import Predictions
from skeval._resampling.progress import begin_step
from skeval._resampling.sampling_units import UnitKind, has_outputs
from skeval.model_selection._error_interval import read_positive_weight
from skeval.model_selection._interval_methods import AUTO
from skeval.report import _findings, _predictions, _sentences
from skeval.report._budget import check_rows_in_time, choose_folds_in_time
from skeval.report._comparison import compare_reports, join_reports
from skeval.report._data_checks import (
    check_split_order,
    name_columns,
    warn_of_order,
    warn_of_perfection,
    write_data_warnings,
)
from skeval.report._estimate_checks import check_estimates
from skeval.report._estimator import ESTIMATOR
from skeval.report._model_checks import check_fitted_before, check_least_squares
from skeval.report._outputs import evaluate_outputs
from skeval.report._parts import (
    INTERRUPTED,
    PARTS,
    Clock,
    Evaluation,
    MainEstimate,
    estimate_mains,
    find_earlier,
    run_parts,
)
from skeval.report._report import Report
from skeval.report._run import RUN_OPTIONS, describe_run, name_steps, write_estimator
from skeval.report._sections import Caution, list_grave
from skeval.svm import PerturbationResamplingSVC
from skeval.utils import _checks
from skeval.utils._checks import ErrorScore, RandomStateLike

Parts = str | Iterable[str]
"""Estimates to run: "auto", "all" or names."""

ORDERED = (
    "Folds in time order: every fold tests samples that come after its training samples. "
    "Hold-out, leave-one-out, bootstrap, perturbation and permutation were not run, because they "
    "would predict early samples from later ones."
)
TOO_ALIKE = (
    " Errors of neighboring samples are so strongly correlated that there are fewer than three "
    "independent blocks of time, so the error has no interval."
)


def evaluate(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    cv: Any = None,
    include: Parts = "auto",
    budget: float | None = None,
    n_bootstraps: int = 200,
    n_permutations: int = 200,
    n_perturbations: int = 500,
    confidence_level: float = 0.95,
    loss: LossLike = None,
    scoring: Any = None,
    groups: Any = None,
    by: Any = None,
    params: Params = None,
    sample_weight: Any = None,
    feature_names: Sequence[str] | None = None,
    left_out: Any = None,
    pos_label: Any = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
    error_score: ErrorScore = "raise",
) -> Report:
    """Evaluate an estimator: error with a confidence interval, metrics, tests and warnings.

    A dict of estimators is evaluated on the same folds and compared.

    `report.answer` is the main estimate, the result of `error_interval`. Every metric uses the same
    out-of-fold predictions. The report adds resubstitution and cross-validation; the permutation
    P-value of the whole procedure if the interval does not exclude chance; for a pipeline that
    selects features, the bias of selecting them on all samples, and the stability of the selection;
    and warnings if a number should not be reported as it is. On request (`include`), it adds
    hold-out (a third of the samples), leave-one-out, the bootstrap (out-of-bag, .632, .632+), and
    for a linear support vector machine the perturbation intervals of its cross-validated error.
    Errors are mean losses: fractions in [0, 1] for 0-1 loss, 0 is best.

    Parameters
    ----------
    estimator : estimator, or dict of str to estimator
        Any scikit-learn classifier, regressor or pipeline. Selection and tuning belong inside it.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or other inputs of the estimator: texts, or a square precomputed kernel.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Labels or numbers. Several columns give a shorter report, whose labels or numbers are named
        after the columns of a data frame. A sparse matrix of 0 and 1 indicates which labels each
        sample has.
    cv : int, splitter or iterable of (train, test), default=None
        Folds. A number of folds is shuffled with `random_state`, stratified by class, and keeps
        groups together. A number of folds, or a splitter with ``shuffle=True``, draws new folds for
        each repeat. Other folds are used as they are, and without `groups` samples that they never
        separate count as one unit. None means 10, or the number of samples, of groups or of members
        of the smallest class if this is smaller. If folds test only samples after all that they
        train on, as ``TimeSeriesSplit`` does, estimates that would mix early and late samples are
        not run, with a warning.
    include : "auto", "all" or names, default="auto"
        Parts besides the main estimate, resubstitution and cross-validation: any of "holdout",
        "leave_one_out", "bootstrap", "perturbation", "permutation" and "selection". "auto" runs the
        permutation test if the interval does not show that the model is better than the baseline,
        and only until it is clear whether P exceeds 0.05 [1]_, and "selection" if the estimator
        selects features. The report lists what was not run.
    budget : float, default=None
        Time limit in seconds, of all estimators together. The folds of the main estimate are
        repeated as often as time permits, at least once; with fewer repeats, its variance is
        larger. No other part is started if it would take longer than the remaining time. With
        10,000 samples and more, fits to some of them are timed first. If ``cv=None`` would take too
        long, two to five folds or a single hold-out of a fifth of the samples replace it, and the
        table is checked on a random sample of its rows. All estimators get the same folds. The
        report lists what was left out. Results then depend on the speed of the
        machine. None sets no limit.
    n_bootstraps : int, default=200
        Number of bootstrap resamples.
    n_permutations : int, default=200
        Maximum number of permutations of the labels; 0 disables the test.
    n_perturbations : int, default=500
        Number of perturbations of a linear two-class `SVC`; 0 disables its intervals.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    loss : str or callable, default=None
        "zero_one", "squared" or "absolute"; "log_loss" or "brier" for the probabilities of a
        classifier; or any loss of predictions, ``(y_true, y_pred) -> (n,)``. None means 0-1 loss
        for classifiers and squared error for regressors.
    scoring : str, callable, list or dict, default=None
        One score or several, as in scikit-learn's ``cross_validate``; larger is better. These
        scores of each test set are added to the usual metrics.
    groups : array-like of shape (n_samples,) or str, default=None
        Group of each sample, such as the patient. Groups are never split. The name of a column of a
        data frame is also allowed; this column is then not a feature, because new samples come from
        new groups.
    by : array-like of shape (n_samples,) or str, default=None
        Subgroup of each sample, or a column of a data frame: the report has the error in each
        subgroup and the largest difference. The column stays a feature unless it has the groups.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as in scikit-learn's ``cross_validate``.
        Selection steps that are fitted separately receive their own. Weights (``{"sample_weight":
        w}``) are used in the fits only; losses and metrics are averaged without them, and there are
        no perturbation intervals.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. They must be positive and are used in every fit and in the means of losses
        and metrics; the permutation test and the selection bias use them in the fits only.
    feature_names : sequence of str of length n_features, default=None
        Names of the features; None means the column names of a data frame.
    left_out : dict of str to array-like or DataFrame, default=None
        Columns of the same samples that are not features, such as an identifier or a date. They
        are not used by any model, but are checked for repeated values, as of patients, and for
        time order.
    pos_label : int, float, bool or str, default=None
        Positive of two classes, for average precision, curves and the scores of the predictions.
        None means the rarer class.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws; an int gives the same result in each call.
    n_jobs : int, default=None
        Number of joblib workers; results do not depend on it.
    verbose : int, default=0
        1 shows progress; larger values add joblib's messages. The progress bar of the main estimate
        shows its current value.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits: an interrupted run that is repeated with an int as `random_state`
        does only the remaining ones; see :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        If a fit raises: raise the error, or skip the fit, count it and warn. Estimates in `include`
        whose fits all fail are skipped, with a warning in the report.

    Returns
    -------
    Report
        For a dict, a comparison with one report for each estimator.

    Raises
    ------
    ValueError
        If an argument breaks a rule; the message names argument, rule and value.
    KeyboardInterrupt
        If Ctrl-C stops it. Once a repeat of the folds is done, the attribute `report` of the
        exception holds the report of the completed repeats and parts, marked as interrupted.

    See Also
    --------
    skeval.model_selection.error_interval : Estimated error and interval, without a report.
    skeval.model_selection.cross_val_error : Cross-validation alone.
    skeval.model_selection.bootstrap_error : The bootstrap alone.

    References
    ----------
    .. [1] Fay, M. P., Kim, H.-J. and Hachey, M. (2007). On using truncated sequential probability
       ratio test boundaries for Monte Carlo implementation of hypothesis tests. Journal of
       Computational and Graphical Statistics 16, 946-967. :doi:`10.1198/106186007X257025`

    Examples
    --------
    >>> import skeval
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(kernel="linear")
    >>> report = skeval.evaluate(model, X, y, include=["leave_one_out"], random_state=0)
    >>> round(report.answer.value, 4)
    0.0187
    >>> round(report["leave_one_out"].value, 4)
    0.02
    """
    options = dict(locals())
    for name in ("estimator", "X", "y"):
        del options[name]
    _checks.refuse_no_target(estimator, y)
    if isinstance(estimator, Mapping):
        return _evaluate_each(estimator, X, y, options)
    if has_outputs(y):
        return evaluate_outputs(estimator, X, y, options)
    (report,) = _evaluate_all({"": estimator}, X, y, options).values()
    return report


class Task(NamedTuple):
    """Validated arguments for the evaluation of one estimator."""

    evaluation: Evaluation
    request: FitRequest
    by: Any
    left_out: dict[str, np.ndarray]
    notes: list[Caution]


def _evaluate_all(
    estimators: Mapping[str, Any], X: Any, y: Any, options: dict[str, Any]
) -> dict[str, Report]:
    """Return the reports of estimators on the same folds, chosen once."""
    # validate all arguments before the first fit
    clock = Clock(check_budget(options["budget"]))
    seed = _checks.small_seed(options["random_state"])
    tasks = {name: _validate(one, X, y, options, seed) for name, one in estimators.items()}
    every_inputs = [task.evaluation.inputs for task in tasks.values()]
    cv, splitter, few = choose_folds(options["cv"], every_inputs, seed, clock)
    tasks = {
        name: task._replace(
            evaluation=replace(task.evaluation, cv=cv, splitter=splitter), notes=task.notes + few
        )
        for name, task in tasks.items()
    }
    reports: dict[str, Report] = {}
    with tallied_warnings():
        mains = estimate_mains(
            {name: (task.evaluation, task.request) for name, task in tasks.items()},
            clock,
            options["verbose"],
        )
        for (name, task), main in zip(tasks.items(), mains, strict=True):
            if name:
                begin_step(f"evaluating {name}", options["verbose"])
            # each estimator gets an equal part of the remaining time
            part = clock.share(len(tasks) - len(reports))
            results, warned = _run_all(task, main, part, options["verbose"])
            clock.stopped = part.stopped
            evaluation, one = task.evaluation, estimators[name]
            results |= {
                "loss": evaluation.inputs.loss.name,
                "feature_names": evaluation.feature_names,
                "confidence_level": float(evaluation.confidence_level),
                "n_samples": len(evaluation.target),
                "n_groups": results["out_of_fold"].cases.n_groups,
                "class_sizes": _predictions.count_classes(evaluation.target),
                "n_features": _predictions.count_columns(evaluation.inputs.X),
                "estimator": write_estimator(one),
                "estimator_name": name_steps(one),
            }
            arguments = {"estimator": one, "X": X, "y": y} | options
            run = describe_run("skeval.evaluate", arguments, seed)
            reports[name] = Report(ESTIMATOR, results, warned, **run)
            if clock.stopped:
                stop = KeyboardInterrupt(f"interrupted {clock.stopped}")
                vars(stop)["report"] = reports[name]
                raise stop
    return reports


def _validate(estimator: Any, X: Any, y: Any, options: dict[str, Any], seed: int) -> Task:
    """Return the arguments for the evaluation of one estimator; the folds are chosen later."""
    _checks.check_confidence_level(options["confidence_level"])
    sizes = {
        "bootstrap": _checks.check_count("n_bootstraps", options["n_bootstraps"]),
        "permutation": _checks.check_count("n_permutations", options["n_permutations"], 0),
        "perturbation": _checks.check_count("n_perturbations", options["n_perturbations"], 0),
    }
    include = check_include(options["include"])
    table = _predictions.convert_arrow(X)
    X, groups = _predictions.take_groups(table, options["groups"])
    inputs = validate_inputs(
        estimator, X, y, groups, method=AUTO, **{name: options[name] for name in RUN_OPTIONS}
    )
    if options["pos_label"] is not None:
        inputs = inputs.with_options(target=inputs.target.with_positive(options["pos_label"]))
    names = _predictions.check_feature_names(inputs.X, options["feature_names"])
    scorers = _predictions.resolve_scorers(options["scoring"])
    request = _predictions.request_search_notes(scorers, estimator)
    check_scorers(inputs, request.scorers(inputs.target))
    by = _predictions.find_subgroups(table, options["by"], len(inputs.target))
    left_out = check_left_out(options["left_out"], len(inputs.target))
    rule, notes = skip_nested_resampling(estimator)
    inputs = inputs.with_estimator(rule)
    inputs = inputs.with_options(weight=read_positive_weight(inputs, options["sample_weight"]))
    evaluation = Evaluation(
        inputs, None, None, seed, options["confidence_level"], sizes, include, names
    )
    return Task(evaluation, request, by, left_out, notes)


def _run_all(
    task: Task, main: MainEstimate, clock: Clock, verbose: int
) -> tuple[dict[str, Any], tuple[Caution, ...]]:
    """Return the results of a report that are computed from fits, and the warnings."""
    evaluation, request, by, left_out, cautions = task
    inputs, target = evaluation.inputs, evaluation.target
    loss, level, X = inputs.loss.name, evaluation.confidence_level, inputs.X
    say = partial(begin_step, verbose=verbose)

    # the metrics of the out-of-fold predictions of the main estimate
    estimate, predictions = main.estimate, main.predictions
    if clock.stopped:
        request = replace(request, note=None)  # noting a search result takes another fit
    counted = evaluation.design.inputs.with_options(counted=predictions.cases)
    row_names = _predictions.name_rows(X)
    shared = counted, estimate, predictions, request, row_names, by, level
    summary = clock.finish(_predictions.summarize_predictions, *shared)
    metrics = summary["metrics"]

    # the baseline; for a rare class, the metric that replaces the error
    weighted_sizes = _predictions.count_classes(target, inputs.weight)
    rare = _findings.find_rare_class(weighted_sizes, metrics, loss)
    earlier = find_earlier(evaluation, predictions)
    baseline = _findings.find_baseline(predictions, loss, metrics, earlier)
    better = bool(rare.better if rare is not None else baseline is not None and baseline.better)
    main = replace(main, better=better, metric=None if rare is None else rare.metric)

    # sampling units that shuffling single labels would break up
    n_units = predictions.cases.n_units
    if evaluation.ordered:
        cautions.append(Caution("ordered", ORDERED + TOO_ALIKE * (n_units == 1)))
    if predictions.cases.kind is UnitKind.FOLD:
        cautions.append(Caution("given-folds", _sentences.write_given_folds(n_units)))
        evaluation = replace(evaluation, sizes=evaluation.sizes | {"permutation": 0})

    # the other estimates and the tests
    results, omitted, failed = finished = run_parts(evaluation, main, clock, say)
    selection = results.get("selection", NOTHING_SELECTED)

    # warnings about the table, the order of its rows, the model and the estimates
    estimates = finished.estimates
    data = clock.finish(_check_table, evaluation, clock, left_out)
    if _findings.is_perfect(predictions, metrics):
        perfect = clock.finish(warn_of_perfection, X, target, evaluation.feature_names)
        if list_grave(perfect):  # it names the features
            data = [caution for caution in data if caution.code != "telling-feature"]
        data += perfect
    cautions = [
        *data,
        *cautions,
        *clock.finish(_check_order, evaluation, predictions, left_out),
        *clock.finish(_predictions.warn_of_scores, predictions, metrics, inputs.estimator),
        *clock.finish(_check_model, evaluation, clock),
        *failed,
        *check_estimates(estimates, estimate, predictions.cases.kind),
    ]
    if not clock.stopped and not clock.allows(1):
        omitted["fits to shuffled labels"] = "more than the time limit allows"
    first = []
    if clock.stopped:
        first.append(Caution(INTERRUPTED, _sentences.write_interruption(clock.stopped)))
    # after a grave warning nothing is said of the baseline
    if baseline and not baseline.better and not list_grave(cautions):
        n_classes = 1 if target.classes is None else len(target.classes)
        other, _ = _findings.find_better_metric(metrics, n_classes)
        first.append(Caution("baseline", _sentences.write_baseline(baseline, loss, other)))
    every_result = {
        "answer": estimate,
        "estimates": Results({one.method: one for one in estimates}),
        "rare_class": rare,
        "never_predicted": _findings.list_never_predicted(predictions),
        **summary,
        "perturbation": results.get("perturbation"),
        **selection,
        "permutation": results.get("permutation"),
        "baseline": baseline,
        "omitted": omitted,
    }
    return every_result, (*first, *cautions)


NOTHING_SELECTED = dict.fromkeys(("selection_bias", "selection_stability", "candidate_names"))


def _check_order(
    evaluation: Evaluation, predictions: Predictions, left_out: Mapping[str, Any]
) -> list[Caution]:
    """Return the warnings about the order of the rows."""
    X = evaluation.inputs.X
    where = (name_columns(X, evaluation.feature_names), left_out, _predictions.name_rows(X))
    if evaluation.ordered:
        return check_split_order(*where, evaluation.folds)
    return warn_of_order(*where, predictions, evaluation.groups, evaluation.folds)


def _check_model(evaluation: Evaluation, clock: Clock) -> list[Caution]:
    """Return the warnings about the model, as far as time permits their fits."""
    inputs, root = evaluation.inputs, _checks.root_seed(evaluation.seed)
    cautions = check_least_squares(inputs.estimator, inputs.X, inputs.target.y)
    return cautions + check_fitted_before(inputs, root, lambda: clock.allows(1))


def _check_table(
    evaluation: Evaluation, clock: Clock, left_out: Mapping[str, Any]
) -> list[Caution]:
    """Return the warnings about the table, from a sample of its rows if time is limited."""
    kept, names = evaluation.design.inputs.kept_together, evaluation.feature_names
    about = evaluation.inputs.X, evaluation.target, kept, names, left_out
    if clock.budget is None or clock.stopped:
        return write_data_warnings(*about)
    return check_rows_in_time(write_data_warnings, max(0.0, clock.left), *about)


def _evaluate_each(
    estimators: Mapping[str, Any], X: Any, y: Any, options: dict[str, Any]
) -> Report:
    """Return the reports of several estimators under one seed, and their comparison."""
    if len(estimators) < 2:
        raise ValueError(f"estimator must contain at least two estimators, got {len(estimators)}.")
    if has_outputs(y):
        raise ValueError(
            "estimator must be a single one if y has several columns; evaluate each estimator "
            "with the same random_state."
        )
    for name, model in estimators.items():
        _checks.check_methods(f"estimator[{name!r}]", model, "fit", "predict", "get_params")
    if len({is_classifier(model) for model in estimators.values()}) > 1:
        raise ValueError("estimator must contain classifiers only or regressors only, got both.")
    _checks.check_jobs(options["n_jobs"], options["verbose"])
    seed = _checks.small_seed(options["random_state"])
    named = {str(name): model for name, model in estimators.items()}
    reports = _evaluate_all(named, X, y, options | {"random_state": seed})
    arguments = {"estimator": dict(estimators), "X": X, "y": y} | options
    run = describe_run("skeval.evaluate", arguments, seed)
    return join_reports(reports, compare_reports(reports), run)


MAX_LISTED = 3
"""Maximum number of classes in an error message."""


def check_left_out(left_out: Any, n_samples: int) -> dict[str, np.ndarray]:
    """Return the columns outside X by name; each must have one value per sample."""
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
                f"left_out must have a value for each of {n_samples} samples, {name!r} has shape "
                f"{column.shape}."
            )
    return columns


def check_include(include: Any) -> frozenset[str] | str:
    """Return "auto", or the names of the parts to run."""
    if isinstance(include, str) and include in ("auto", "all"):
        return include if include == "auto" else frozenset(PARTS)
    names = [include] if isinstance(include, str) or not np.iterable(include) else list(include)
    for name in names:
        if not (isinstance(name, str) and name in PARTS):
            options = ", ".join(map(repr, PARTS))
            raise ValueError(f"include must be 'auto', 'all' or some of {options}, got {name!r}.")
    return frozenset(names)


def check_budget(budget: Any) -> float | None:
    """Return a time limit in seconds, or None."""
    if budget is None:
        return None
    if isinstance(budget, bool) or not isinstance(budget, int | float) or not budget > 0:
        raise ValueError(f"budget must be None or a number of seconds above 0, got {budget!r}.")
    return float(budget)


def choose_folds(
    cv: Any, every_inputs: Sequence[Inputs], seed: int, clock: Clock
) -> tuple[Any, Any, list[Caution]]:
    """Return `cv`, or fewer folds if time is limited, and its splitter.

    None means ten folds, or the maximum number for these data, with a note. The inputs differ in
    their estimators.
    """
    target, groups, notes = every_inputs[0].target, every_inputs[0].groups, list[Caution]()
    if cv is None and clock.budget is not None:
        cv, notes = choose_folds_in_time(every_inputs, clock.left, seed)
    n_folds = cv
    if cv is None:
        n_folds = n_main_folds = default_folds(target, groups)
        reason = f"there are {n_folds} {'samples' if groups is None else 'groups'}"
        if target.classes is not None:
            sizes = np.bincount(target.codes)
            if 2 <= sizes.min() <= n_folds:
                n_folds = int(sizes.min())
                reason = f"class {target.classes[sizes.argmin()]} has {n_folds} members"
        if n_folds != DEFAULT_FOLDS:
            text = _sentences.write_few_folds(reason, n_main_folds)
            notes = [Caution("few-folds", text)]
    splitter = resolve_splitter(n_folds, target, groups, seed)
    return cv, seed_splitter(splitter, _checks.root_seed(seed)), notes


def skip_nested_resampling(estimator: Any) -> tuple[Any, list[Caution]]:
    """Return an estimator whose fits do not resample, with a note if they would have.

    A `PerturbationResamplingSVC`, alone or inside other estimators, predicts the same with
    ``n_resamples=0``, but neither cross-validates nor perturbs.
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
        "Inner resampling skipped: PerturbationResamplingSVC was fitted with n_resamples=0, "
        "because its own resampling does not affect predictions, and every fit would repeat it.",
    )
    return clone(estimator).set_params(**dict.fromkeys(busy, 0)), [note]
