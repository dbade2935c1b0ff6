"""Evaluation of one or several estimators in one call.

`evaluate` validates its arguments. `_report_one` computes the metrics, the baseline, the other
parts and the warnings, in this order. `_parts` contains the main estimate and the list of other
parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.pipeline import Pipeline

from skeval._adapters.runner import Runner
from skeval._inference.estimate import Estimate, MetricExtra, Results, Test
from skeval._inference.intervals import rescaled
from skeval._resampling.fit_request import FitRequest, check_scorers, use_positive
from skeval._resampling.inputs import Inputs, LossLike, Params, losses_by_output, validate_inputs
from skeval._resampling.jobs import tallied_warnings
from skeval._resampling.plans import choose_time_folds
from skeval._resampling.progress import begin_step
from skeval._resampling.sampling_units import UnitKind
from skeval._resampling.series import sort_rows
from skeval.feature_selection import SelectionFrequencyDisplay
from skeval.metrics._scorers import range_of, read_scoring, row_of_scorer
from skeval.metrics._table import ANY_NUMBER, REPORTED, REPORTED_ROWS, Metric
from skeval.model_selection import EstimatesDisplay
from skeval.model_selection._importance import list_drops
from skeval.model_selection._interval_methods import (
    AUTO,
    add_positive_weight,
    collect_repeats,
    error_of_some,
)
from skeval.model_selection._score_interval import find_reported, measure_metrics
from skeval.model_selection._searches import read_search, summarize_searches
from skeval.model_selection._subgroups import read_subgroups
from skeval.report import (
    _arguments,
    _data_checks,
    _findings,
    _parts,
    _report,
    _sections,
    _sentences,
    _warnings,
)
from skeval.report._comparison import compare_reports, join_reports
from skeval.report._data_checks import CHECKS
from skeval.report._page import CheckResult, Figure, Section, Table, list_grave, note
from skeval.report._parts import OwnCheck
from skeval.report._report import Report, recorded
from skeval.utils import _checks
from skeval.utils._checks import ErrorScore, RandomStateLike, ignored_warnings
from skeval.utils._compat import BaseSearchCV
from skeval.utils._text import count, name_of, write_number, write_spread

Parts = str | Iterable[str]
"""Estimates to run, "auto", "all" or names."""


@recorded
def evaluate(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    cv: Any = None,
    include: Parts = "auto",
    budget: float | None = None,
    n_permutations: int = 200,
    confidence_level: float = 0.95,
    loss: LossLike = None,
    scoring: Any = None,
    groups: Any = None,
    time: Any = None,
    by: Any = None,
    params: Params = None,
    sample_weight: Any = None,
    feature_names: Sequence[str] | None = None,
    left_out: Any = None,
    ignore: str | Iterable[str] = (),
    checks: Sequence[OwnCheck] = (),
    pos_label: Any = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
    error_score: ErrorScore = "raise",
) -> Report:
    """Evaluate an estimator with error estimates, intervals, metrics, tests and warnings.

    If a dict of estimators is passed, they are evaluated on the same folds and compared.

    `report.answer` is the main estimate, the result of `error_interval`. Every metric uses the
    same out-of-fold predictions. The report also contains the following parts:

    - the resubstitution and cross-validation estimates
    - the permutation P-value of the whole procedure, if the interval does not exclude chance
    - for a pipeline that selects features, the bias of selection on all samples, and the stability
      of the selection
    - warnings about numbers that should not be reported without changes

    On request (`include`), it contains hold-out (a third of the samples), leave-one-out, and the
    bootstrap (out-of-bag, .632 and .632+ from 200 resamples). For a linear support vector machine,
    it can also contain the perturbation intervals of the cross-validated error from 500
    perturbations. Errors are mean losses. For 0-1 loss, they are fractions in [0, 1], and 0 is
    best.

    Parameters
    ----------
    estimator : estimator, or dict of str to estimator
        Any scikit-learn classifier, regressor or pipeline. Feature selection and tuning must be
        part of it.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or other inputs of the estimator, such as texts, or a square precomputed kernel.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Class labels or numeric target. Several columns are several outputs for each sample, named
        after the columns of a data frame. The data are then not checked. A sparse matrix of 0 and
        1 indicates the labels of each sample.
    cv : int, splitter or iterable of (train, test), default=None
        Folds. If `cv` is an integer, samples are shuffled with `random_state`, folds are stratified
        by class, and groups are kept together. If `cv` is an integer or a splitter with
        ``shuffle=True``, each repeat has new folds. Other folds are used without changes. Without
        `groups`, samples that they never separate count as one unit. None means 10, or fewer if
        there are fewer samples, groups or members of the smallest class. If all folds test later
        samples than they train on, as ``TimeSeriesSplit`` does, estimates that would mix early and
        late samples are not run, with a warning.
    include : "auto", "all" or names, default="auto"
        Parts to run in addition to the main estimate, resubstitution and cross-validation. The
        names are "holdout", "leave_one_out", "bootstrap", "perturbation", "permutation",
        "selection" and "importance". The last is the permutation importance of each feature in the
        fits of the main estimate, as in `feature_importance`. "auto" runs "selection" if the
        estimator selects features. It runs the permutation test if the interval does not show that
        the model is better than the baseline. The test stops when it is clear whether P exceeds
        0.05 [1]_. The report lists the parts that were not run.
    budget : float, default=None
        Time limit in seconds for all estimators together. The folds of the main estimate are
        repeated as often as time permits, at least once. With fewer repeats, the variance is
        larger. No other part is started if it would take longer than the remaining time. With
        10,000 samples or more, fits to some of them are timed first. If ``cv=None`` would take too
        long, two to five folds or a single hold-out of a fifth of the samples replace it. All
        estimators use the same folds. The report lists what was omitted. Results then depend on
        the speed of the machine. None sets no limit.
    n_permutations : int, default=200
        Maximum number of permutations of the labels. 0 disables the test.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    loss : str or callable, default=None
        "zero_one", "squared" or "absolute", or "log_loss" or "brier" for the probabilities of a
        classifier. A function ``(y_true, y_pred) -> (n,)`` returns the loss of each sample. None
        means 0-1 loss for classifiers and squared error for regressors.
    scoring : str, callable, list or dict, default=None
        One score or several, as in scikit-learn's ``cross_validate``. Larger is better. They are
        added to the usual metrics. A score of such a metric has its interval, as in
        `score_interval`. Any other score is the mean over the test sets.
    groups : array-like of shape (n_samples,) or str, default=None
        Group of each sample, such as the patient. Groups are never split. A name refers to a
        column of a data frame. The column is then not a feature, because new samples come from new
        groups.
    time : array-like of shape (n_samples,) or str, default=None
        Number or date of each sample, or the name of a column of a data frame, which is then not a
        feature. The samples are sorted by it, and the report numbers samples in this order. If `cv`
        is an integer or None, the folds of `GroupTimeSeriesSplit` test later times than they train
        on. They do not separate samples of the same time, and groups of a test set are not in its
        training set. A splitter must also test later samples than it trains on.
    by : array-like of shape (n_samples,) or str, default=None
        Subgroup of each sample, or the name of a column of a data frame. The report has the error
        in each subgroup and the largest difference. The column remains a feature unless it also
        contains the groups.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as in scikit-learn's ``cross_validate``.
        Selection steps that are fitted separately receive their own arguments. Weights
        (``{"sample_weight": w}``) are used in the fits only. Losses and metrics are averaged
        without them, and there are no perturbation intervals.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. They must be positive. They are used in every fit and in the means of
        losses and metrics. The permutation test and the selection bias use them in the fits only.
    feature_names : sequence of str of length n_features, default=None
        Names of the features. None means the column names of a data frame.
    left_out : dict of str to array-like or DataFrame, default=None
        Columns of the same samples that are not features, such as an identifier or a date. No
        model uses them, but they are checked for repeated values, for example of patients, and for
        time order.
    ignore : str or iterable of str, default=()
        Codes of checks whose warnings are omitted, as in ``report.checks``.
    checks : sequence of callable, default=()
        Further checks ``check(X, y)``. Each returns the text of a warning, or None. The name of
        the function is the code of the warning.
    pos_label : int, float, bool or str, default=None
        The positive one of two classes, for average precision, curves, and scores of one class in
        `scoring`, such as "f1". None means the class named 1, yes, true or positive, otherwise the
        rarer class.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call.
    n_jobs : int, default=None
        Number of joblib workers. Results do not depend on it.
    verbose : int, default=0
        1 shows progress. Larger values add joblib's messages. The progress bar of the main estimate
        shows its current value.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits. If `random_state` is an int, a repeated call after an interruption
        computes only the remaining fits. See :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        Treatment of a failed fit. "raise" raises the error. ``numpy.nan`` omits the fit, counts it
        and warns. Estimates in `include` are omitted if all their fits fail, with a warning in the
        report.

    Returns
    -------
    Report
        The report. For a dict of estimators, a comparison with one report for each.

    Raises
    ------
    ValueError
        If an argument is invalid. The message names argument, rule and value.
    KeyboardInterrupt
        If Ctrl-C stops the call. If at least one repeat of the folds is complete, the attribute
        `report` of the exception contains the report of the completed repeats and parts, marked as
        interrupted.

    See Also
    --------
    skeval.model_selection.error_interval : Only the estimated error and its interval.
    skeval.model_selection.cross_val_error : Only cross-validation.
    skeval.model_selection.bootstrap_error : Only the bootstrap.

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
    0.019
    >>> round(report["leave_one_out"].value, 4)
    0.02
    """
    # arguments that all estimators share
    if isinstance(estimator, list | tuple):
        raise TypeError(f"estimator must be one estimator, or a dict of names, got {estimator!r}.")
    _checks.refuse_no_target(estimator, y)
    several = isinstance(estimator, Mapping)
    estimators = check_estimators(estimator) if several else {"": estimator}
    clock, seed = _parts.Clock(budget), _checks.small_seed(random_state)
    _checks.check_count("n_permutations", n_permutations, 0)
    parts, ignored = check_include(include), _warnings.check_codes(ignore, checks)
    # the data, without the column of the groups
    # the rows of an Arrow table cannot be selected
    table = X.to_pandas() if hasattr(X, "column_names") and hasattr(X, "to_pandas") else X
    X, groups = _arguments.take_column("groups", table, groups)
    X, time = _arguments.take_column("time", X, time)
    by = _arguments.find_column("by", table, by)
    row_names = _arguments.name_rows(X)
    if time is not None:
        # everything that belongs to a row is sorted by time with it
        rows = {"y": y, "groups": groups, "by": by, "sample_weight": sample_weight}
        rows |= {"left_out": left_out, "params": params, "names": row_names}
        X, time, rows = sort_rows(X, time, rows)
        y, groups, by, sample_weight, left_out, params, row_names = rows.values()
    # the fits of each estimator, with the same options
    options = _parts.RunOptions(
        seed=seed,
        n_permutations=n_permutations,
        include=parts,
        scoring=scoring,
        pos_label=pos_label,
        sample_weight=sample_weight,
        feature_names=_arguments.check_feature_names(X, feature_names),
        row_names=row_names,
        by=by,
        left_out=read_left_out(left_out),
        ignored=ignored,
        own_checks=tuple(checks),
    )
    run = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory, "error_score": error_score}
    run |= {"loss": loss, "params": params, "confidence_level": confidence_level}
    prepared = {
        name: prepare_fits(
            validate_inputs(model, X, y, groups, method=AUTO, several=True, **run), options
        )
        for name, model in estimators.items()
    }
    every_inputs = [runner.inputs for runner, _ in prepared.values()]
    if time is not None:
        # a number of folds or None becomes folds that test later times than they train on
        cv = choose_time_folds(cv, time, every_inputs[0].target)
    # the main estimates on the same folds, then all other parts of each estimator
    reports: dict[str, EvaluationReport] = {}
    with tallied_warnings():
        cv, splitter, notes = _parts.choose_folds(every_inputs, cv, clock.left, seed)
        tasks = {
            name: _parts.plan_task(*fits, options, cv, splitter, notes)
            for name, fits in prepared.items()
        }
        if time is not None and not all(task.ordered for task in tasks.values()):
            raise ValueError(
                "cv must test later samples than it trains on if time is passed, got "
                f"{splitter!r}. Leave cv out, or pass the number of folds."
            )
        evaluations = _parts.estimate_mains(tasks, clock)
        for name, evaluation in evaluations.items():
            if several:
                begin_step(f"evaluating {name}", verbose)
            # each estimator gets an equal part of the remaining time
            own = clock.share(len(evaluations) - len(reports))
            reports[name] = _report_one(evaluation, estimators[name], own)
            clock.stopped = own.stopped
    report: Report = next(iter(reports.values()))
    if several:
        report = join_reports(reports, *compare_reports(reports), seed=seed)
    # an interruption is raised again, with the report of the completed fits
    if clock.stopped:
        stop = KeyboardInterrupt(f"interrupted {clock.stopped}")
        vars(stop)["report"] = report
        raise stop
    return report


def check_estimators(estimators: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a dict of several estimators. Raise an error unless they can be compared."""
    if len(estimators) < 2:
        raise ValueError(f"estimator must contain at least two estimators, got {len(estimators)}.")
    for name, model in estimators.items():
        _checks.check_methods(f"estimator[{name!r}]", model, "fit", "predict", "get_params")
    if len({is_classifier(model) for model in estimators.values()}) > 1:
        raise ValueError("estimator must contain classifiers only or regressors only, got both.")
    named = {str(name): model for name, model in estimators.items()}
    if len(named) < len(estimators):
        raise ValueError(
            f"the names in estimator must differ when written as text, got {list(estimators)}."
        )
    return named


def prepare_fits(inputs: Inputs, options: _parts.RunOptions) -> tuple[Runner, FitRequest]:
    """Return what fits an estimator, and the outputs of each fit.

    Raise an error if an option is wrong for the data.
    """
    # options that depend on the target and the number of samples
    if inputs.target.outputs:
        for option in ("pos_label", "left_out"):
            if (value := getattr(options, option)) not in (None, {}):
                raise ValueError(f"{option} must be None if y has several columns, got {value!r}.")
    target = inputs.target
    if options.pos_label is not None:
        inputs = inputs.with_options(target=target.with_positive(options.pos_label))
    elif target.n_classes == 2:  # the reported class is also that of the scores
        inputs = inputs.with_options(target=replace(target, positive=target.positive_code))
    for name, column in options.left_out.items():
        if column.shape != target.y.shape[:1]:
            raise ValueError(
                f"left_out must have a value for each of {len(target)} samples, {name!r} has shape "
                f"{column.shape}."
            )
    if options.by is not None:
        _checks.refuse_shuffled_index({"X": inputs.X, "by": options.by})
        read_subgroups(options.by, len(inputs.target))  # raise before the work
    request = request_scores(inputs, options)
    inputs = add_positive_weight(inputs, options.sample_weight)
    return Runner(inputs), request


def request_scores(inputs: Inputs, options: _parts.RunOptions) -> FitRequest:
    """Return the request for scores of each fit, and for the results of a final search.

    The importance of features is the decrease of the estimator's score for each shuffled feature.
    Inputs without columns, such as texts and kernels, have no features to shuffle.
    """
    parts, names = options.include, options.feature_names
    scorers = _arguments.name_scorers(options.scoring)
    scorers = {
        name: use_positive(read_scoring(inputs.estimator, one), inputs.target)
        for name, one in scorers.items()
    }
    has_columns = _arguments.count_columns(inputs.X) is not None
    wanted = parts == "all" or "importance" in parts
    if wanted and has_columns and not inputs.tags.input_tags.pairwise:
        named = names or tuple(f"x{column}" for column in range(inputs.X.shape[1]))
        # names are the keys of the scores, so they must be distinct
        if len(set(named)) < len(named):
            named = tuple(f"{name} [{column}]" for column, name in enumerate(named))
        drops = list_drops(read_scoring(inputs.estimator, None), inputs.X, named, seed=options.seed)
        scorers |= {_parts.IMPORTANCE + name: one for name, one in drops.items()}
    check_scorers(inputs, scorers)
    # the results of a search at the end of a pipeline
    final = inputs.estimator
    while isinstance(final, Pipeline):
        final = final.steps[-1][1]
    note = note_search if isinstance(final, BaseSearchCV) and final.refit is not False else None
    raises = inputs.error_score == "raise"
    return FitRequest(scorers=scorers, scoring=scorers, raises=raises, note=note)


def _report_one(
    evaluation: _parts.Evaluation, estimator: Any, clock: _parts.Clock
) -> EvaluationReport:
    """Return the report of an estimator from its main estimate, with all that is computed of it."""
    summary = clock.finish(_summarize, evaluation)
    metrics, baseline, rare = (summary[name] for name in ("metrics", "baseline", "rare_class"))
    # if the interval excludes chance, "auto" can skip the permutation test
    better = baseline is not None and baseline.better
    if rare is not None:
        interval = metrics[rare.metric].confidence_interval(1 - _findings.ALPHA)
        better = interval.low > rare.chance
    judged = replace(evaluation, better=better, metric=None if rare is None else rare.metric)
    # the other estimates and the tests
    results, notes = _parts.run_parts(judged, clock)
    checks, cautions = clock.finish(_run_checks, judged, summary | results, notes, clock)
    # the check that refits the model on shuffled labels needs time for a fit
    if not clock.stopped and not clock.allows(1):
        results["omitted"]["fits to shuffled labels"] = "more than the time limit allows"
    report = EvaluationReport(
        **summary,
        **results,
        feature_names=evaluation.options.feature_names,
        n_features=_arguments.count_columns(evaluation.inputs.X),
        positive=_findings.find_positive_class(evaluation.target),
        estimator=_report.write_estimator(estimator),
        estimator_name=_report.name_steps(estimator),
        estimator_steps=_report.describe_steps(estimator),
    )
    # an interruption comes first, then the relation to the baseline, which the report decides
    notes = [_sentences.note_interruption(clock.stopped)] if clock.stopped else []
    decided = report.out_of_fold.cases.n_units < 2 or _findings.judge(report).better
    if baseline is not None and not (baseline.better or decided or list_grave(cautions)):
        notes.append(_sentences.note_baseline(baseline, report.loss))
    return replace(report, warnings=(*notes, *cautions), checks=tuple(checks))


def note_order(n_units: int) -> CheckResult:
    """State which parts were not run for folds in time order."""
    advice = (
        "Hold-out, leave-one-out, bootstrap, perturbation and permutation were not run, because "
    )
    advice += "they would predict early samples from later ones."
    if n_units == 1:
        advice += " Errors of neighboring samples are so strongly correlated that there are fewer "
        advice += "than three independent blocks of time, so the error has no interval."
    evidence = "every fold tests samples that come after its training samples"
    return note("ordered", "Folds in time order", evidence, advice)


def _run_checks(
    evaluation: _parts.Evaluation,
    computed: Mapping[str, Any],
    notes: Sequence[CheckResult],
    clock: _parts.Clock,
) -> tuple[list[CheckResult], list[CheckResult]]:
    """Return the results of all checks, and the warnings with notes on the run."""
    inputs, target, options = evaluation.inputs, evaluation.target, evaluation.options
    predictions, names, ignored = evaluation.predictions, options.feature_names, options.ignored
    metrics, estimates = computed["metrics"], computed["estimates"].values()
    units = predictions.cases
    found: list[CheckResult] = []
    # the checks of a table are for a single output
    if target.outputs:
        results = [CheckResult("not applicable", code=one.code, title=one.title) for one in CHECKS]
        cautions = list(_warnings.warn_of_outputs(predictions))
    else:
        # the table, the order of its rows, and perfect predictions with the features that give them
        kept = evaluation.design.inputs.kept_together
        table = _data_checks.describe_table(inputs.X, target, kept, names, options.left_out)
        results = _data_checks.run_checks(table, ignore=ignored)
        if "perfect" not in ignored and _findings.is_perfect(predictions, metrics):
            found += _data_checks.check_perfection(inputs.X, target, names)
        if not ignored >= {"time-order", "runs", "autocorrelation"}:
            found += _check_order(evaluation)
        # the scores and the model
        cautions = _warnings.warn_of_fitted_scores(predictions, metrics, inputs.estimator)
        cautions += _warnings.check_least_squares(inputs.estimator, inputs.X, target.y)
        columns = _data_checks.name_columns(inputs.X, names) | dict(options.left_out)
        found += _warnings.warn_of_batches(target, options.by, columns)
        if "fitted-before" not in ignored:
            cautions += _warnings.check_fitted_before(evaluation.runner, options.seed, clock.allows)
    # checks of the user, the folds and the estimates
    for check in options.own_checks:
        code = _warnings.name_check(check)
        if code not in ignored and (text := check(inputs.X, target.given)):
            cautions.append(CheckResult.from_text(code, text))
    cautions += evaluation.notes
    if evaluation.ordered:
        cautions.append(note_order(units.n_units))
    if units.kind is UnitKind.FOLD:
        cautions.append(_sentences.note_given_folds(units.n_units))
    cautions += notes
    cautions += _warnings.warn_of_calibration(computed["calibration"])
    test = computed["permutation"]
    cautions += _warnings.warn_of_pure_groups(predictions, test)
    cautions += _warnings.check_estimates(estimates, evaluation.estimate)
    cautions = [one for one in cautions if one.code not in ignored]
    found = [one for one in found if one.code not in ignored]
    # why other checks have no finding
    skipped = _warnings.OF_ONE_OUTPUT if target.outputs else _warnings.OF_SEVERAL
    others = dict.fromkeys(skipped, "not applicable")
    others |= {} if test is not None else {"single-label-groups": "not run"}
    # the check of .632+ requires the bootstrap
    if not any(one.method == ".632+" for one in estimates):
        others["632"] = "not run"
    others |= dict.fromkeys(ignored, "ignored")
    named = _data_checks.drop_repeated([*results, *found])  # no finding is said twice
    results += _warnings.list_checks([*found, *cautions], others, options.own_checks)
    return results, _data_checks.write_cautions(named) + cautions


def _summarize(evaluation: _parts.Evaluation) -> dict[str, Any]:
    """Return the results that are computed from the predictions of the main estimate."""
    answer, predictions, inputs = evaluation.estimate, evaluation.predictions, evaluation.inputs
    loss, options = inputs.loss, evaluation.options
    metrics = (measure_outputs if evaluation.target.outputs else measure_named)(evaluation)
    summary = _findings.summarize(
        predictions,
        answer,
        metrics,
        loss,
        options.row_names,
        options.seed,
        _parts.find_earlier(evaluation),
    )
    rare = summary["rare_class"]
    # the error, or the metric of a rare class, in each subgroup
    metric = None if rare is None else rare.metric
    counted = evaluation.design.inputs.with_options(counted=predictions.cases)
    error = partial(error_of_some, counted, predictions, answer)
    with ignored_warnings(UndefinedMetricWarning):  # the report shows undefined values
        subgroups = _arguments.measure_slices(
            predictions, options.by, metric, inputs.confidence_level, error
        )
    return summary | {
        "loss": "zero_one" if answer.loss == "hamming" else loss.name,
        "subgroups": subgroups,
        "less_the_rest": subgroups and subgroups.less_the_rest,
        "tuning": _summarize_searches(evaluation) if evaluation.request.note else None,
    }


def measure_named(evaluation: _parts.Evaluation) -> Results:
    """Return the metrics of the predictions and the requested scores.

    A score with a name has the interval of its metric, as in `score_interval`. The metric of the
    loss has the interval of the main estimate. Any other score is the mean over the test sets.
    """
    # names of scorers, and of the metrics of out-of-fold predictions that they return
    inputs, predictions = evaluation.inputs, evaluation.predictions
    named = _arguments.name_scorers(evaluation.options.scoring)
    found = {
        name: (scorer, find_reported(inputs, scorer, inputs.target.positive))
        for name, scorer in named.items()
        if isinstance(scorer, str)
    }
    also = {scorer for scorer, metric in found.values() if metric == scorer} - REPORTED.keys()
    scores = {n: s for n, s in predictions.scores.items() if not n.startswith(_parts.IMPORTANCE)}
    predictions = replace(predictions, scores=scores)
    metrics = measure_metrics(predictions, inputs.confidence_level, also=also)
    # the metric of the loss must agree with the main estimate
    for name, metric in metrics.items():
        row = REPORTED_ROWS.get(name) or row_of_scorer(name)
        if row is not None and row.loss == evaluation.estimate.loss:
            metrics[name] = share_interval(metric, evaluation.estimate, row)
    for name, (scorer, metric) in found.items():
        if metric is None or name == metric in REPORTED:
            continue
        # a score of a loss has the opposite sign
        one = metrics.pop(metric) if metric in also else metrics[metric]
        one = replace(one, bounds=ANY_NUMBER)
        one = _arguments.mirror(one, one, 0.0) if scorer.startswith("neg_") else one
        extra, bounds = replace(one.extra, metric=name, label=None), range_of(scorer)
        metrics[name] = replace(one, name=name, extra=extra, bounds=bounds)
    return metrics


def share_interval(metric: Estimate, answer: Estimate, row: Metric) -> Estimate:
    """Return the metric of the loss with the value and the interval of the main estimate."""
    if row.greater_is_better:
        return _arguments.mirror(metric, answer)
    value, error = answer.value, answer.standard_error
    # a root mean squared error has the roots of both limits
    change = np.sqrt if row.root else np.positive
    if row.root:
        value, error, _ = _sections.in_target_unit(answer)
    forms = list(answer.limits.items())[:1]  # the default form
    limits = {name: partial(rescaled, change, ends) for name, ends in forms}
    low, high = change(np.array(answer.bounds)).tolist()
    return replace(metric, value=value, standard_error=error, limits=limits, bounds=(low, high))


def measure_outputs(evaluation: _parts.Evaluation) -> Results:
    """Return the error over all outputs, the error of each output, and the requested scores."""
    metrics = Results({evaluation.estimate.name: evaluation.estimate})
    for output, loss in losses_by_output(evaluation.inputs.loss, evaluation.target).items():
        # the loss of another column, from the outputs of the same fits
        inputs = evaluation.design.inputs.with_options(losses=(loss,))
        one, _ = collect_repeats(evaluation.design._replace(inputs=inputs), evaluation.outputs)
        extra = MetricExtra(metric=one.name, label=output, greater_is_better=False)
        name = name_of(one.name, output, metrics)
        metrics[name] = replace(one, name=name, extra=extra)
    return Results(metrics | {one.name: one for one in _parts.measure_scores(evaluation)})


def note_search(model: Any, X: Any, y: Any) -> Any:
    """Return the results of a search, or None if its table lacks the scores used for selection."""
    try:
        return read_search(model, X, y)
    except (TypeError, ValueError):
        return None


def _summarize_searches(evaluation: _parts.Evaluation) -> Estimate | None:
    """Return the optimism from the searches in the training parts."""
    predictions, level = evaluation.predictions, evaluation.inputs.confidence_level
    searches, ratio = list(predictions.noted), predictions.test_train_ratio
    if any(search is None for search in searches):
        return None
    with ignored_warnings(UndefinedMetricWarning):  # the report shows undefined values
        try:
            return summarize_searches(searches, ratio, level)
        except ValueError:  # fewer than two folds have a score
            return None


def _check_order(evaluation: _parts.Evaluation) -> Iterator[CheckResult]:
    """Return the findings about the order of the rows."""
    X, folds, options = evaluation.inputs.X, evaluation.folds, evaluation.options
    columns = _data_checks.name_columns(X, options.feature_names)
    where = columns, options.left_out, options.row_names
    if evaluation.ordered:
        return _data_checks.check_split_order(*where, folds)
    return _data_checks.check_order(*where, evaluation.predictions, evaluation.inputs.groups, folds)


# --- arguments


def read_left_out(left_out: Any) -> dict[str, np.ndarray]:
    """Return the columns outside X as a dict."""
    if left_out is None:
        return {}
    if not (isinstance(left_out, Mapping) or hasattr(left_out, "columns")):
        raise ValueError(
            f"left_out must be a dict or a data frame of columns, got {type(left_out).__name__}."
        )
    return {str(name): np.asarray(left_out[name]) for name in left_out}


def check_include(include: Any) -> frozenset[str] | str:
    """Return "auto" or "all", or the names of the parts to run."""
    if isinstance(include, str) and include in ("auto", "all"):
        return include
    names = [include] if isinstance(include, str) or not np.iterable(include) else list(include)
    for name in names:
        if not (isinstance(name, str) and name in _parts.PARTS):
            options = ", ".join(
                repr(name) for name, part in _parts.PARTS.items() if not part.required
            )
            raise ValueError(
                f"include must be 'auto', 'all' or some of {options}, got "
                f"{name!r}{_checks.suggest(name, _parts.PARTS)}."
            )
    return frozenset(names)


# --- the report


def _name_estimates(report: EvaluationReport) -> dict[str, Estimate]:
    """Return all estimates by name, the main estimate first, perturbation last."""
    intervals = report.perturbation or ()
    perturbed = {_sentences.PERTURBED[one.extra.statistic]: one for one in intervals}
    main = {f"main estimate ({report.answer.method})": report.answer}
    # the training error and a single repeat are numbers that explain the main estimate
    others = {
        name: replace(one, limits={}, standard_error=np.nan) if name in WITHOUT_INTERVAL else one
        for name, one in report.estimates.items()
    }
    return main | others | perturbed


WITHOUT_INTERVAL = ("resubstitution", "cross_validation")
"""Estimates that a report shows without their intervals."""


def show_estimates(report: EvaluationReport) -> Section:
    """Return the section with a figure and a table of every estimate of the error."""
    named, loss = _name_estimates(report), report.loss
    figure = Figure(
        report.plot,
        f"The figure shows all estimates with {100 * report.confidence_level:g} % intervals.",
        label="Forest plot of the estimates and of the training error. The table contains the "
        "numbers.",
        height=1.1 + 0.42 * len(named),
    )
    rows = []
    for name, estimate in named.items():
        # estimates without limits, such as the training error, have empty cells
        value, spread, interval = _sections.in_target_unit(estimate)
        cells = (write_spread(spread), interval, interval.method) if estimate.limits else ("",) * 3
        rows.append((name, value, *cells))
    error = "root mean squared error" if loss == "squared" else "error"
    table = Table(
        "Each row estimates the error on new samples, except resubstitution, the training error.",
        ["estimate", error, "std. error", _sections.write_level(report), "method"],
        rows,
        quoted={next(iter(named))},
        left=(0, 3, 4),
    )
    # the baseline, and what was not run
    sentences = _sections.compare_with_baseline(report)
    if report.omitted:
        sentences.append(_sentences.write_omitted(report.omitted))
    # the range of the estimates, without the training error
    values = [one.value for name, one in named.items() if name != "resubstitution"]
    width = _sentences.find_width(report.answer, loss)
    least, most = (_sentences.write_amount(end, loss, width) for end in (min(values), max(values)))
    span = f"from {least} to {most}" if least != most else f"all {least}"
    heading = f"{count(len(values), 'estimate')} of the same error, {span}"
    explained = "The main estimate is the number to report. Resubstitution is the training error, "
    explained += "usually too low, and cross_validation is one repeat of the main estimate."
    if "oob" in named:
        explained += " The out-of-bag error of bootstrap samples (oob) is usually too high; .632 "
        explained += "and .632+ combine it with the training error."
    return Section(heading, sentences, [explained], figures=[figure], tables=[table])


def show_perturbation(report: EvaluationReport) -> Section | None:
    """Return the section on the intervals of a linear support vector machine."""
    intervals = report.perturbation
    if not intervals:
        return None
    figures = [
        Figure(
            result.plot,
            f"The histogram shows the error under each random weighting "
            f"({_sentences.PERTURBED[result.extra.statistic]}).",
            label="Histogram of the error of the support vector machine under random weights.",
            height=3.2,
        )
        for result in intervals
    ]
    # the histograms
    text = (
        f"The model was refitted {len(intervals[0].replicates)} times with random sample weights. "
        "Each value is the cross-validated error plus W*/√n, the change of the weighted mean loss "
        "of held-out samples (left) or of training samples (right)."
    )
    # the interval of the first statistic is recommended
    low, high = intervals[0].interval
    return Section(
        f"Perturbation interval of the support vector machine: {100 * low:.1f} to "
        f"{100 * high:.1f} %",
        sentences=[
            "Prefer the interval from perturbed cross-validation. The published interval, from "
            "perturbed training, requires many samples and few features."
        ],
        explains=[text],
        figures=figures,
    )


def show_permutation(report: EvaluationReport) -> Section | None:
    """Return the section on the permutation test."""
    test = report.permutation
    if test is None:
        return None
    figure = Figure(
        replace(test, name=_sentences.name_metric(test.name)).plot,
        "The histogram shows the scores on shuffled labels (the null distribution).",
        label="Histogram of the scores on shuffled labels, with the score on the true labels.",
        height=2.8,
    )
    # the precision of P
    interval = test.confidence_interval()
    explains = [
        "P is estimated from a limited number of permutations "
        f"({100 * interval.confidence_level:g} % CI {interval.low:.2g} to {interval.high:.2g}).",
        "The score on the true labels is from one cross-validation, usually with other folds. It "
        "can therefore differ from the metrics above.",
    ]
    runs = count(test.n_resamples, "run")
    return Section(
        f"Shuffled labels scored as well in {test.n_exceedances} of {runs}",
        sentences=[_sentences.write_permutation(test, report)],
        explains=explains,
        figures=[figure] * (test.n_resamples >= MIN_DRAWS),
    )


MIN_DRAWS = 20
"""Minimum number of scores on shuffled labels for their histogram."""


def show_selection(report: EvaluationReport) -> Section | None:
    """Return the section on selection outside and within the folds, and the selected features."""
    bias, stability = report.selection_bias, report.selection_stability
    if bias is None:
        return None
    figures = [
        Figure(
            bias.plot,
            "Features were selected on all samples (CV1) or within the folds (CV2).",
            label="CV1 error, CV2 error and their difference.",
            height=2.6,
        )
    ]
    if stability is not None:
        # the features that were selected most often
        options: Any = {"feature_names": report.candidate_names, "n_top": _sections.MAX_ROWS}
        figures.append(
            Figure(
                partial(SelectionFrequencyDisplay.from_result, stability, **options),
                "The figure shows the fraction of folds that selected each feature.",
                label="Selection frequency of each feature over the folds.",
                height=0.8 + 0.22 * min(_sections.MAX_ROWS, stability.extra.selected_ever),
            )
        )
    return Section(
        f"Selecting features on all samples would have given "
        f"{_sentences.write_rate(bias.extra.cv1_error)}",
        sentences=_sentences.write_selection(bias, stability),
        figures=figures,
    )


def show_importance(report: EvaluationReport) -> Section | None:
    """Return the section on the permutation importance of each feature."""
    importance = report.importance
    if not importance:
        return None
    score = "accuracy" if report.class_sizes else "R2"
    # the largest drops with their intervals
    largest = list(importance.items())[: _sections.MAX_DRAWN]
    shown = {name: replace(one, name=f"decrease of the {score}") for name, one in largest}
    figure = Figure(
        partial(EstimatesDisplay.from_result, shown),
        "The figure shows the permutation importance of each feature.",
        label=f"Decrease of the {score} for each feature. The table contains the numbers.",
        height=0.9 + 0.42 * len(shown),
    )
    # the result in words and as a table
    first, highest = largest[0]
    n_used = sum(one.interval.low > 0 for one in importance.values())
    sentence = (
        f"Shuffling {first} decreases the {score} most, by {write_number(highest.value)}. The "
        f"interval of the decrease is above 0 for {n_used} of {count(len(importance), 'feature')}."
    )
    explained = (
        f"The importance of a feature is the decrease of the {score} when its values are shuffled "
        "among the samples of a test set. The models are those of the main estimate. Features with "
        "a rank correlation above 0.8 are shuffled together. The intervals are not adjusted for "
        "the number of features."
    )
    caption = "The most important features are listed first."
    options = {"n_on_page": _sections.FIRST_ROWS, "n_in_text": _sections.MAX_ROWS}
    return Section(
        f"{first} matters most to the predictions",
        sentences=[sentence],
        explains=[explained],
        figures=[figure],
        tables=[_sections.tabulate(report, caption, "feature", importance.items(), **options)],
    )


def show_tuning(report: EvaluationReport) -> Section | None:
    """Return the section with the best score and the settings of the search."""
    bias = report.tuning
    if bias is None:
        return None
    shown = "is optimistic" if bias.interval.low > 0 else "is not significantly optimistic"
    # the selected settings, the most frequent first
    n_searches = int(bias.extra.counts.sum())
    settings = bias.extra.settings[: _sections.MAX_ROWS]
    rows = [
        (", ".join(f"{name}={value!r}" for name, value in setting.items()), f"{n} of {n_searches}")
        for setting, n in zip(settings, bias.extra.counts, strict=False)
    ]
    caption = "The table lists how often the searches selected each setting."
    head = ["setting", "chosen"]
    return Section(
        f"The best score of the search {shown}",
        sentences=[_sentences.write_tuning(bias)],
        tables=[Table(caption, head, rows, n_on_page=_sections.FIRST_ROWS, n_in_text=0)],
    )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EvaluationReport(_sections.PredictionsPage):
    """Report of an estimator."""

    SECTIONS = (
        _sections.show_metrics,
        _sections.show_curves,
        _sections.show_calibration,
        _sections.show_subgroups,
        show_estimates,
        show_perturbation,
        show_permutation,
        show_selection,
        show_importance,
        show_tuning,
        _sections.show_hard_samples,
    )
    MAIN_TABLE = "estimates", "method"

    estimator: str
    estimator_name: str = field(repr=False)
    estimator_steps: str = field(repr=False)
    n_features: int | None
    feature_names: tuple[str, ...] | None
    omitted: dict[str, str]
    perturbation: tuple[Estimate, ...] | None
    permutation: Test | None
    selection_bias: Estimate | None
    selection_stability: Estimate | None
    candidate_names: tuple[str, ...] | None
    importance: Results | None
    tuning: Estimate | None

    @property
    def title(self) -> str:
        """Heading of the page, the target, if it has a name, and the size of the data."""
        target = getattr(self.out_of_fold.target.given, "name", None)
        predicted = "Evaluation report" if target is None else f"Predicting {target}"
        return f"{predicted}: {count(self.n_samples, 'sample')}"

    @property
    def facts(self) -> list[str]:
        """The size of the data, and the classes."""
        features = "" if self.n_features is None else f", {count(self.n_features, 'feature')}"
        return [f"{_sentences.describe_classes(self)}{features}"]

    basis = property(_sentences.describe_interval)

    @property
    def splits(self) -> dict[str, np.ndarray]:
        """Every metric of each test set, by repeat and fold, and the times of its fit in seconds.

        Requested scores are included. ``to_frame("splits")`` returns the same as a data frame.
        """
        with ignored_warnings(UndefinedMetricWarning):
            return _sections.measure_splits(self)

    def _list_rows(self) -> list[Estimate]:
        return [self.answer, *self.estimates.values()]

    def plot(self, ax: Any = None) -> EstimatesDisplay:
        """Draw all estimates of the error, the main estimate first. Requires matplotlib."""
        return _sections.plot_estimates(self, ax, _name_estimates(self))

    def list_methods(self) -> Iterator[tuple[str, str]]:
        """Yield the sentences on calibration and the permutation test, with their references."""
        yield from _sentences.describe_calibration(self)
        if self.permutation is not None:
            n_most = self.settings.get("n_permutations", "")
            test, predictions = self.permutation, self.out_of_fold
            yield from _sentences.describe_permutation(test, predictions, n_most)
