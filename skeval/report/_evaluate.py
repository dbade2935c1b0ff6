"""Evaluation of one estimator, or of several, in one call.

Arguments of `evaluate` and their defaults, estimators that resample in their own fit, and the
fields of a report.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypedDict, Unpack, overload

import numpy as np
from sklearn.base import clone, is_classifier

from skeval._inference.estimate import Estimate, Results
from skeval._resampling.fit_loop import NoFitLeftError
from skeval._resampling.fit_params import Params
from skeval._resampling.fit_request import FitRequest, check_scorers
from skeval._resampling.inputs import validate_inputs
from skeval._resampling.jobs import tallied_warnings
from skeval._resampling.losses import LossLike
from skeval._resampling.predictions import Predictions
from skeval._resampling.progress import begin_step
from skeval._resampling.sampling_units import UnitKind
from skeval._resampling.splitters import (
    DEFAULT_FOLDS,
    default_folds,
    resolve_splitter,
    seed_splitter,
)
from skeval._resampling.target import Target, TooFewMembersError, has_outputs
from skeval.model_selection._error_interval import read_positive_weight
from skeval.model_selection._interval_methods import AUTO
from skeval.report import _findings, _predictions, _sentences
from skeval.report._budget import (
    MIN_SAMPLES,
    check_rows_in_time,
    choose_folds_in_time,
    describe_skipped,
)
from skeval.report._comparison import EvaluationComparison, collect_cautions, compare_reports
from skeval.report._data_checks import (
    check_split_order,
    name_columns,
    warn_of_order,
    write_data_warnings,
)
from skeval.report._estimate_checks import check_estimates
from skeval.report._findings import ALPHA, Baseline, RareClass
from skeval.report._model_checks import check_fitted_before, check_least_squares
from skeval.report._outputs import OutputsReport, evaluate_outputs
from skeval.report._report import EvaluationReport
from skeval.report._run import describe_run, name_steps, write_estimator
from skeval.report._sections import Caution
from skeval.report._steps import Clock, Steps
from skeval.svm import PerturbationResamplingSVC
from skeval.utils import _checks
from skeval.utils._checks import RandomStateLike
from skeval.utils._text import count

AnyReport = EvaluationReport | EvaluationComparison | OutputsReport
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
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
    error_score: float | str = "raise",
) -> AnyReport:
    """Estimate the error of an estimator with a confidence interval, and everything around it.

    A dict of estimators is evaluated on the same folds and compared.

    `report.answer` is the result of `error_interval`: the number to quote. Every metric uses the
    same out-of-fold predictions. The report adds resubstitution and cross-validation and, depending
    on `include`, hold-out (a third of the samples), leave-one-out and the bootstrap (out-of-bag,
    .632, .632+), each with standard error and confidence interval; for a linear support vector
    machine the perturbation intervals of its cross-validated error; the permutation P-value of the
    whole procedure; for a pipeline that selects features, the bias of selecting them on all
    samples, and the stability of the selection; and warnings if a number should not be quoted as it
    is. Errors are mean losses: fractions in [0, 1] for 0-1 loss, 0 is best.

    Parameters
    ----------
    estimator : estimator, or dict of str to estimator
        Any scikit-learn classifier, regressor or pipeline. Selection and tuning belong inside it.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or other inputs of the estimator: texts, or a square precomputed kernel.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Labels or numbers; several columns give a shorter report, whose labels or numbers are named
        after the columns of a data frame. A sparse matrix holds 0 and 1, whether a sample has each
        label.
    cv : int, splitter or iterable of (train, test), default=None
        Folds of the answer and of all its metrics, as in `error_interval`: for a number, or a
        splitter with ``shuffle=True``, new folds are drawn for each repeat; other folds are used
        as they are, and without `groups` samples that they never separate count as one unit.
        None means 10, or the number of members of the smallest class, of samples or of groups if
        that is lower. If folds test only samples after all that they train on, as
        ``TimeSeriesSplit`` does, estimates that would mix early and late samples are not run,
        with a warning.
    include : "auto", "all" or names, default="auto"
        Estimates besides the answer, resubstitution and cross-validation: any of "holdout",
        "leave_one_out", "bootstrap", "perturbation", "permutation" and "selection". "auto" runs
        those that a fast solver computes in the time of half of the fits of the answer, and
        others as long as they cost no more than that in total; the permutation test only if the
        interval does not show that the model is better than the baseline, and only until P is
        known to be above 0.05 [1]_. The report lists what was not run.
    budget : float, default=None
        Time limit in seconds. The headline error has as many repeats of its folds as fit in, at
        least one, and a larger variance with fewer than ten; parts that would take longer than the
        rest of the time are not run. With 10,000 samples and more, fits to some of them are timed
        first. Where ``cv=None`` would take too long, two to five folds or a single hold-out of a
        fifth of the samples replace it, and the table is checked on a random sample of its rows.
        The report lists what was left out. Results then depend on the speed of the machine. None
        sets no limit.
    n_bootstraps : int, default=200
        Number of bootstrap resamples.
    n_permutations : int, default=200
        Maximum number of permutations of the labels; 0 disables the test.
    n_perturbations : int, default=500
        Number of perturbations of a linear two-class `SVC`; 0 disables its intervals.
    confidence_level : float, default=0.95
        Nominal coverage of the intervals.
    loss : str or callable, default=None
        "zero_one", "squared" or "absolute"; "log_loss" or "brier" for the probabilities of a
        classifier; or any loss of predictions, ``(y_true, y_pred) -> (n,)``. None means 0-1 loss
        for classifiers and squared error for regressors.
    scoring : str, callable, list or dict, default=None
        Additional scorers; each scores each test set of the repeated folds, as in
        ``cross_validate``. The usual metrics need none.
    groups : array-like of shape (n_samples,) or str, default=None
        Groups that are never split, or the column of a data frame with the groups. The column is
        then not a feature: new samples come from groups that no model has seen.
    by : array-like of shape (n_samples,) or str, default=None
        Subgroup of each sample, or a column of a data frame: the report has the error in each
        subgroup and the largest difference. The column stays a feature unless it has the groups.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as in ``cross_validate`` of scikit-learn;
        selection steps that are fitted separately receive their own. Weights
        (``{"sample_weight": w}``) are used in the fits only; losses and metrics are averaged
        without them, and there are no perturbation intervals.
    sample_weight : array-like of shape (n_samples,), default=None
        Positive weights of the samples, used in every fit and in the means of losses and metrics;
        the permutation test and the selection bias use them in the fits only.
    feature_names : sequence of str of length n_features, default=None
        Names of the features; None means the column names of a data frame.
    left_out : dict of str to array-like or DataFrame, default=None
        Columns of the same samples that are not features, such as an identifier or a date. They
        are not used by any model, but are checked for repeated values, as of patients, and for
        time order.
    random_state : int, RandomState, Generator or None, default=None
        Seed of all splits and resamples.
    n_jobs : int, default=None
        Number of joblib workers; the result does not depend on it.
    verbose : int, default=0
        1 prints each step to standard error with a progress bar; the bar of the answer shows the
        current estimate.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits. An interrupted run that is repeated with the same arguments, and an
        int as `random_state`, does only the remaining fits; see :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        If a fit raises: raise the error, or skip the fit, count it and warn. Estimates in
        `include` without any remaining fit are skipped, with a warning in the report.

    Returns
    -------
    EvaluationReport
        For a dict, an `EvaluationComparison` with one report for each estimator. For several
        columns of `y`, an `OutputsReport`.

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
    .. [1] Besag, J. and Clifford, P. (1991). Sequential Monte Carlo p-values. Biometrika 78,
       301-304. :doi:`10.1093/biomet/78.2.301`

    Examples
    --------
    >>> import skeval
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(kernel="linear")
    >>> report = skeval.evaluate(model, X, y, include=["leave_one_out"], random_state=0)
    >>> round(report.answer.value, 4)
    0.0193
    >>> round(report["leave_one_out"].value, 4)
    0.02
    """
    arguments = dict(locals())  # first, while the only local variables are the arguments
    if isinstance(estimator, Mapping):
        return _evaluate_each(**arguments)
    if has_outputs(y):
        return evaluate_outputs(arguments)
    _checks.check_confidence_level(confidence_level)
    counts = {
        "bootstrap": _checks.check_count("n_bootstraps", n_bootstraps),
        "permutation": _checks.check_count("n_permutations", n_permutations, 0),
        "perturbation": _checks.check_count("n_perturbations", n_perturbations, 0),
    }
    include, clock = check_include(include), Clock(check_budget(budget))
    if hasattr(X, "column_names") and hasattr(X, "to_pandas"):
        X = X.to_pandas()  # an Arrow table has no rows to select
    table = X
    if isinstance(groups, str):
        X, groups = _predictions.take_column(X, groups)
    how = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory, "error_score": error_score}
    how["confidence_level"] = confidence_level
    inputs = validate_inputs(estimator, X, y, groups, loss=loss, params=params, method=AUTO, **how)
    X, target = inputs.X, inputs.target
    names = _predictions.check_feature_names(X, feature_names)
    seed = _checks.small_seed(random_state)
    request = _predictions.request_search_notes(_predictions.resolve_scorers(scoring), estimator)
    check_scorers(inputs, request)
    by = _predictions.find_subgroups(table, by, len(target))
    columns = check_left_out(left_out, len(target))
    rule, notes = skip_nested_resampling(estimator)
    inputs = inputs.with_estimator(rule)
    late: list[Caution] = []
    if cv is None and clock.budget is not None:
        cv, late = choose_folds_in_time(inputs, clock.left, seed)
    folds, few = choose_folds(cv, target, inputs.groups)
    splitter = seed_splitter(
        resolve_splitter(folds, target, inputs.groups, seed), _checks.root_seed(seed)
    )
    inputs = inputs.with_options(weight=read_positive_weight(inputs, sample_weight))
    steps, notes = Steps(inputs, cv, splitter, seed, confidence_level), notes + few + late
    say = make_announcer(n_jobs, verbose)
    if steps.ordered:
        counts |= {"permutation": 0, "perturbation": 0}
    run = Run(steps, counts, include, clock, say, notes)
    with tallied_warnings():
        findings = run.find_all(request, names, by, columns)
    report = EvaluationReport(
        **findings,
        n_features=_predictions.count_columns(X),
        estimator=write_estimator(estimator),
        estimator_name=name_steps(estimator),
        **describe_run("skeval.evaluate", arguments, seed),
    )
    if clock.stopped:
        stop = KeyboardInterrupt(f"interrupted {clock.stopped}")
        vars(stop)["report"] = report
        raise stop
    return report


def _evaluate_each(estimator: Mapping[str, Any], **arguments: Any) -> EvaluationComparison:
    """Return the reports of several estimators under one seed, and their comparison."""
    if len(estimator) < 2:
        raise ValueError(f"estimator must hold at least two estimators, got {len(estimator)}.")
    if has_outputs(arguments["y"]):
        raise ValueError(
            "estimator must be a single one where y has several columns; evaluate each estimator "
            "with the same random_state."
        )
    for name, model in estimator.items():
        _checks.check_methods(f"estimator[{name!r}]", model, "fit", "predict", "get_params")
    if len({is_classifier(model) for model in estimator.values()}) > 1:
        raise ValueError("estimator must hold classifiers only or regressors only, got both.")
    arguments["random_state"] = seed = _checks.small_seed(arguments["random_state"])
    say = make_announcer(arguments["n_jobs"], arguments["verbose"])
    reports = {}
    with tallied_warnings():
        for name, model in estimator.items():
            say(f"evaluating {name}")
            reports[str(name)] = evaluate(model, **arguments)
    made = describe_run("skeval.evaluate", {"estimator": dict(estimator)} | arguments, seed)
    return EvaluationComparison(
        reports=reports,
        comparison=compare_reports(reports),
        warnings=tuple(collect_cautions(reports)),
        **made,
    )


def make_announcer(n_jobs: int | None, verbose: int) -> Callable[[str], None]:
    """Return a function that prints the name of each step to standard error, or does nothing."""
    _checks.check_jobs(n_jobs, verbose)

    return partial(begin_step, verbose=verbose)


NOT_PERTURBED = (
    "No perturbation intervals: they need weights of their own, but params already contains "
    "weights. Pass these as sample_weight."
)
INTERRUPTED = "interrupted"
"""Reason for parts that were not run because of Ctrl-C."""
ALWAYS = ("resubstitution", "cross_validation")
ESTIMATES = ("resubstitution", "holdout", "cross_validation", "leave_one_out", "bootstrap")
"""Parts that are estimates of the error, from the most optimistic to the most conservative."""
OPTIONAL = ("holdout", "permutation", "selection", "leave_one_out", "bootstrap", "perturbation")
"""Optional parts, in the order of their claim on the fits."""
SHARE = 0.5
"""Share of the fits of the answer that all parts without a fast solver may cost together."""
MAX_PLANNED = 2**26
"""A fast solver is looked for, by drawing folds, up to this number of fits times samples."""


class Options(TypedDict, total=False):
    """Keyword arguments of `evaluate`."""

    cv: Any
    include: Parts
    budget: float | None
    n_bootstraps: int
    n_permutations: int
    n_perturbations: int
    confidence_level: float
    loss: LossLike
    scoring: Any
    groups: Any
    by: Any
    params: Params
    sample_weight: Any
    feature_names: Sequence[str] | None
    left_out: Any
    random_state: RandomStateLike
    n_jobs: int | None
    verbose: int
    memory: Any
    error_score: float | str


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
                f"left_out must hold a value for each of {n_samples} samples, {name!r} has shape "
                f"{column.shape}."
            )
    return columns


def check_include(include: Any) -> frozenset[str] | str:
    """Return "auto", "all", or the names of the parts to run."""
    if isinstance(include, str) and include in ("auto", "all"):
        return include
    names = [include] if isinstance(include, str) or not np.iterable(include) else list(include)
    for name in names:
        if not (isinstance(name, str) and name in (*ALWAYS, *OPTIONAL)):
            options = ", ".join(map(repr, (*ALWAYS, *OPTIONAL)))
            raise ValueError(f"include must be 'auto', 'all' or some of {options}, got {name!r}.")
    return frozenset(names)


def check_budget(budget: Any) -> float | None:
    """Return a time limit in seconds, or None."""
    if budget is None:
        return None
    if isinstance(budget, bool) or not isinstance(budget, int | float) or not budget > 0:
        raise ValueError(f"budget must be None or a number of seconds above 0, got {budget!r}.")
    return float(budget)


def choose_folds(cv: Any, target: Target, groups: Any) -> tuple[Any, list[Caution]]:
    """Return `cv`, or ten folds, or with a note as many as the data permit."""
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
        f"Few folds: {what[0].lower()}{what[1:]}, too few for {DEFAULT_FOLDS} folds. The single "
        f"cross-validation uses {n_folds} folds."
    )
    return n_folds, [Caution("few-folds", text)]


@dataclass(eq=False)
class Run:
    """Runs the steps of an evaluation in order, and collects notes."""

    steps: Steps
    counts: dict[str, int]
    include: frozenset[str] | str
    clock: Clock
    say: Callable[[str], None]
    notes: list[Caution]
    omitted: dict[str, str] = field(default_factory=dict)

    def find_all(
        self,
        request: FitRequest,
        names: tuple[str, ...] | None,
        by: Any,
        left_out: Mapping[str, Any],
    ) -> dict[str, Any]:
        """Return the resampled fields of a report: the answer, then all others."""
        steps, notes = self.steps, self.notes
        self.say("error interval")
        answer, predictions = steps.answer(request, self.clock)
        if self.clock.stopped:
            request = replace(request, note=None)  # the choice of a search takes another fit
        about = _predictions.name_rows(steps.inputs.X), by, steps.confidence_level
        counted = steps.design.inputs.with_options(counted=predictions.cases)
        shared = counted, answer, predictions, request, *about
        summary = self._finish(_predictions.summarize_predictions, *shared)
        metrics = summary["metrics"]
        weighed = _predictions.count_classes(steps.target, steps.inputs.weight)
        loss = steps.inputs.loss.name
        rare = _findings.find_rare_class(weighed, metrics, loss)
        baseline = _findings.find_baseline(predictions, loss, steps.find_earlier(predictions))
        if steps.ordered:
            notes.append(Caution("ordered", ORDERED + TOO_ALIKE * (predictions.cases.n_units == 1)))
        if predictions.cases.kind is UnitKind.FOLD:
            notes.append(
                Caution("given-folds", _sentences.write_given_folds(predictions.cases.n_units))
            )
            self.counts["permutation"] = 0
        granted = self._finish(self.grant, predictions.n_fits, baseline, rare)
        estimates = tuple(self._estimate_all(granted))
        notes += self._finish(self._check_order, predictions, names, left_out)
        notes += self._finish(
            _predictions.warn_of_scores, predictions, metrics, steps.inputs.estimator
        )
        notes += self._finish(self._check_model)
        tests = self._test_all(granted, names, rare)
        data = self._finish(self._check_table, names, left_out)
        warnings = [*data, *notes, *check_estimates(estimates, answer)]
        if baseline and not baseline.better:
            warnings.insert(0, Caution("baseline", _sentences.write_baseline(baseline, loss)))
        if self.clock.stopped:
            note = _sentences.write_interruption(self.clock.stopped)
            warnings.insert(0, Caution(INTERRUPTED, note))
        return {
            "answer": answer,
            "estimates": Results({estimate.method: estimate for estimate in estimates}),
            "rare_class": rare,
            "never_predicted": _findings.list_never_predicted(predictions),
            **summary,
            **tests,
            "feature_names": names,
            "confidence_level": float(steps.confidence_level),
            "n_samples": len(steps.target),
            "class_sizes": _predictions.count_classes(steps.target),
            "baseline": baseline,
            "omitted": self.omitted,
            "warnings": tuple(warnings),
        }

    def _check_order(
        self, predictions: Predictions, names: tuple[str, ...] | None, left_out: Mapping[str, Any]
    ) -> list[Caution]:
        """Return the warnings about the order of the rows, unless it is too late to look."""
        steps = self.steps
        X = steps.inputs.X
        where = name_columns(X, names), left_out, _predictions.name_rows(X)
        if steps.ordered:
            return check_split_order(*where, steps.folds)
        if not self.clock.stopped and (
            self.clock.left < ORDER_SECONDS_PER_SAMPLE * len(steps.target)
        ):
            self.omitted["order of the rows"] = describe_skipped(0)
            return []
        return warn_of_order(*where, predictions, steps.groups, steps.folds)

    def _check_table(
        self, names: tuple[str, ...] | None, left_out: Mapping[str, Any]
    ) -> list[Caution]:
        """Return the warnings about the table, from a sample of its rows if time is limited."""
        steps = self.steps
        about = steps.inputs.X, steps.target, steps.design.inputs.kept_together, names, left_out
        if self.clock.budget is None or self.clock.stopped:
            return write_data_warnings(*about)
        return check_rows_in_time(write_data_warnings, max(0.0, self.clock.left), *about)

    def _check_model(self) -> list[Caution]:
        """Return the warnings about the model; after an interrupt only those that need no fit."""
        inputs, target = self.steps.inputs, self.steps.target
        cautions = check_least_squares(inputs.estimator, inputs.X, target.y)
        if not self.clock.stopped:
            cautions += check_fitted_before(inputs, _checks.root_seed(self.steps.seed))
        return cautions

    def grant(self, n_answer: int, baseline: Baseline | None, rare: RareClass | None) -> set[str]:
        """Return the parts to run, and note why applicable others are not run."""
        steps, granted = self.steps, set()
        n_left = SHARE * n_answer - steps.n_needed
        n_begun = steps.n_needed
        better = rare.better if rare is not None else baseline is not None and baseline.better
        for part in OPTIONAL:
            size = self.counts.get(part)
            if size == 0 or not steps.applies(part):
                continue
            if self.include not in ("auto", "all"):
                if part not in self.include:
                    continue
            elif self.include == "auto" and part == "permutation" and better:
                self.omitted[part] = "the interval already excludes chance"
                continue
            if part == "perturbation" and steps.weighs_by_params:
                self.notes.append(Caution("failed", NOT_PERTURBED))
                continue
            if self.clock.stopped:
                self.omitted[part] = INTERRUPTED
                continue
            n_units = steps.inputs.units.n_units
            large = part == "leave_one_out" and n_units * len(steps.target) > MAX_PLANNED
            if self.include == "auto" and large:
                self.omitted[part] = count(n_units, "fit")
                continue
            plan = steps.plan(part, size)
            n_fits = steps.n_fits_of(part) if plan is None else plan.n_fits
            if self.clock.seconds_of(n_begun + n_fits) > self.clock.left:
                self.omitted[part] = describe_skipped(n_fits)
                continue
            metric = None if rare is None else rare.metric
            # Permutations, which end early, need only be faster than a loop of all of them.
            times = 1.0 if part == "permutation" else n_fits / (SHARE * n_answer)
            served = plan is not None and steps.serves(part, plan, metric, times)
            if self.include == "auto" and n_fits > n_left and not served:
                self.omitted[part] = count(n_fits, "fit")
                continue
            granted.add(part)
            n_begun += n_fits
            n_left -= 0 if served else n_fits
        return granted

    def _test_all(
        self, granted: Collection[str], names: tuple[str, ...] | None, rare: RareClass | None
    ) -> dict[str, Any]:
        """Return the results of fits with other weights, features and labels.

        Unless requested, a permutation test stops as soon as P cannot be `ALPHA` or less.
        """
        n, stop = self.counts["permutation"], None
        if self.include == "auto":
            stop = max(1, int(ALPHA * (1 + n)))
        perturb = partial(self.steps.perturb, self.counts["perturbation"])
        select = partial(self.steps.select, names)
        permute = partial(self.steps.permute, n, None if rare is None else rare.metric, stop)
        perturbation = self._try("perturbation", granted, perturb)
        selected = self._try("selection", granted, select, "account of the selected features")
        permutation = self._try("permutation", granted, permute, "permutation test")
        return {
            "perturbation": perturbation,
            **(selected or NOTHING_SELECTED),
            "permutation": permutation,
        }

    def _try(
        self, part: str, granted: Collection[str], run: Callable[[], Any], what: str = ""
    ) -> Any:
        """Return the result of a part of the report; None if it is not run or is interrupted.

        With `what`, a failing fit loses only that part, with a note, unless errors are raised.
        """
        if part not in granted:
            return None
        if self.clock.stopped:
            self.omitted[part] = INTERRUPTED
            return None
        self.say(part)
        try:
            return run()
        except KeyboardInterrupt:
            self._stop_in(part)
        except Exception as error:
            if not what or self.steps.inputs.error_score == "raise":
                raise
            text = f"Part not computed: there is no {what}, because one of its fits failed: {error}"
            self.notes.append(Caution("failed", text))
        return None

    def _stop_in(self, part: str) -> None:
        """Note that Ctrl-C has stopped a part of the report."""
        self.clock.stop(f"in {part}")
        self.omitted[part] = INTERRUPTED

    def _finish(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return the result of a function of finished fits; run it again after an interrupt."""
        try:
            return function(*args)
        except KeyboardInterrupt:
            self.clock.stop("after the answer")
            return function(*args)

    def _is_late(self, part: str, n_fits: int) -> bool:
        """Whether an estimate that is always run would exceed the time of a large table."""
        large = len(self.steps.target) >= MIN_SAMPLES
        return part in ALWAYS and large and self.clock.seconds_of(n_fits) > self.clock.left

    def _estimate_all(self, granted: Collection[str]) -> Iterator[Estimate]:
        """Yield every estimate, from the most optimistic to the most conservative."""
        steps = self.steps
        for part in ESTIMATES:
            if part not in granted and part not in ALWAYS:
                continue
            if self.clock.stopped and not (part == "cross_validation" and steps.repeats_folds):
                self.omitted[part] = INTERRUPTED
                continue
            n_fits = len(steps.folds) if part == "cross_validation" else 1
            n_fits = 0 if part == "cross_validation" and steps.repeats_folds else n_fits
            if self._is_late(part, n_fits):
                self.omitted[part] = describe_skipped(n_fits)
                continue
            self.say(part)
            try:
                estimates = list(steps.estimate(part, self.counts.get(part)))
            except KeyboardInterrupt:
                self._stop_in(part)
            except (NoFitLeftError, TooFewMembersError) as error:
                if part in ALWAYS:
                    raise
                self.notes.append(
                    Caution("failed", f"Part not computed: there is no {part} estimate: {error}")
                )
            else:
                yield from estimates


ORDER_SECONDS_PER_SAMPLE = 2e-6
"""Time that the check of the order of rows takes."""
NOTHING_SELECTED = dict.fromkeys(("selection_bias", "selection_stability", "candidate_names"))


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
