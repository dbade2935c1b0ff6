"""Parts of an evaluation.

`choose_folds` chooses the folds, or fewer folds if time is limited. `estimate_mains` computes the
main estimates. `PARTS` lists all other computations of `evaluate`, with the supported data, the
number of fits, and whether ``include="auto"`` runs them. `run_parts` goes through this list once.
A time limit and Ctrl-C are conditions in its loop, and finished parts are kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from time import monotonic, process_time
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import make_scorer
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC

from skeval._adapters.runner import NoFitLeftError, Runner
from skeval._inference.errors import mean_loss_name
from skeval._inference.estimate import Estimate, Results, Test
from skeval._inference.paired import stop_when_decided
from skeval._resampling import plans
from skeval._resampling.fit_request import FitRequest
from skeval._resampling.inputs import FitOutput, Inputs, Loss, last_step, params_of_part
from skeval._resampling.predictions import Predictions
from skeval._resampling.progress import begin_step, show_estimate
from skeval._resampling.sampling_units import Target, TooFewMembersError, UnitKind
from skeval.feature_selection._cv2 import (
    CV2FeatureSelectionPipeline,
    compare_selections,
    list_steps,
    selection_stability,
)
from skeval.model_selection import _estimates, _interval_methods
from skeval.model_selection._bootstrap import estimate_bootstraps
from skeval.model_selection._permutation import compare_with_permutations, draw_orders
from skeval.model_selection._score_interval import measure_scorers, settle
from skeval.report._findings import ALPHA
from skeval.report._page import CheckResult, note
from skeval.report._sentences import PERTURBED, note_few_folds, note_single_group
from skeval.utils._checks import ignored_warnings, root_seed
from skeval.utils._text import count, quote_label, write_ends, write_number

INTERRUPTED = "interrupted"
"""Reason for parts that were not run because of Ctrl-C."""
N_BOOTSTRAPS, N_PERTURBATIONS = 200, 500
"""Numbers of resamples. `bootstrap_error` and `PerturbationResamplingSVC` have options for them."""
SCORINGS = {
    "zero_one": "accuracy",
    "squared": "neg_mean_squared_error",
    "absolute": "neg_mean_absolute_error",
    "log_loss": "neg_log_loss",
    "brier": "neg_brier_score",
}


class Clock:
    """Elapsed and remaining time of an evaluation, and time per fit.

    Parameters
    ----------
    budget : float or None
        Time limit in seconds. None means no limit.

    Attributes
    ----------
    stopped : str
        The step interrupted by Ctrl-C, or "". After an interrupt, no time is left.
    """

    def __init__(self, budget: float | None) -> None:
        number = isinstance(budget, Real) and not isinstance(budget, bool)
        if budget is not None and not (number and budget > 0):
            raise ValueError(f"budget must be None or a number of seconds above 0, got {budget!r}.")
        self.budget, self.start, self.seconds_per_fit = budget, monotonic(), 0.0
        self.stopped = ""

    @property
    def left(self) -> float:
        """Remaining seconds."""
        if self.stopped:
            return -np.inf
        return np.inf if self.budget is None else self.budget - (monotonic() - self.start)

    def share(self, n_parts: int) -> Clock:
        """Return a clock for the first of several parts, with an equal part of the time left."""
        part = copy(self)
        if self.budget is not None:
            # an n-th of the time that is left, counted from the same start
            part.budget = self.budget - self.left * (1 - 1 / n_parts)
        return part

    def allows(self, n_fits: int, seconds: float = 0.0) -> bool:
        """Whether the remaining time is sufficient for a number of fits and further `seconds`."""
        return n_fits * self.seconds_per_fit + seconds <= self.left

    def stop(self, where: str) -> None:
        """Record an interrupt. No further parts are started."""
        self.stopped = self.stopped or where

    def finish(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return the result of a function of finished fits. Run it again after an interrupt."""
        try:
            return function(*args)
        except KeyboardInterrupt:
            self.stop("after the main estimate")
            return function(*args)


OwnCheck = Callable[[Any, Any], str | None]
"""Check of the user, from X and y to the text of a warning, or None."""


@dataclass(frozen=True, eq=False, kw_only=True)
class RunOptions:
    """Options of an evaluation, the same for all its estimators."""

    seed: int
    n_permutations: int
    include: frozenset[str] | str
    scoring: Any
    pos_label: Any
    sample_weight: Any
    feature_names: tuple[str, ...] | None
    row_names: Sequence[Any] | None
    by: Any
    left_out: dict[str, np.ndarray]
    ignored: frozenset[str]
    """Codes of checks without warnings."""
    own_checks: tuple[OwnCheck, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Task:
    """One estimator to evaluate, with its validated arguments and its folds."""

    runner: Runner
    request: FitRequest
    options: RunOptions
    notes: tuple[CheckResult, ...]
    """Notes on the number of folds."""
    splitter: Any
    design: _interval_methods.RepeatedFolds
    """Folds of the main estimate, either repeated draws, or the folds passed."""
    folds: Any
    """Folds of cross-validation, perturbation and selection, the first repeat of the design."""
    ordered: bool
    """Whether the folds keep the order of the samples, which then cannot be exchanged."""

    @property
    def inputs(self) -> Inputs:
        """Estimator, data and options."""
        return self.runner.inputs

    @property
    def target(self) -> Target:
        """Class labels or numeric target."""
        return self.inputs.target

    @property
    def root(self) -> np.random.SeedSequence:
        """Seed of all draws, the same for each part."""
        return root_seed(self.options.seed)


@dataclass(frozen=True, eq=False, kw_only=True)
class Evaluation(Task):
    """A task with its main estimate, from the fits on all folds."""

    estimate: Estimate
    predictions: Predictions
    outputs: Sequence[FitOutput | None]
    """Output of each fit, in the order of the design, or None if the fit failed."""
    metric: str | None = None
    """Metric that replaces the error for a rare class."""
    better: bool = False
    """Whether the interval of the metric, or of the error, excludes chance."""

    @property
    def strict(self) -> Runner:
        """Runner of results that require every fit."""
        return self.runner.with_options(error_score="raise")


def plan_task(
    runner: Runner,
    request: FitRequest,
    options: RunOptions,
    cv: Any,
    splitter: Any,
    notes: Sequence[CheckResult],
) -> Task:
    """Return the task of an estimator, with all repeats of the folds, and those of the first."""
    root = root_seed(options.seed)
    design = _interval_methods.plan_repeats(runner.inputs, root, cv=cv)
    folds = design.splits
    if folds is None:
        # other parts need one set of folds, which is the first repeat of drawn folds
        plan = design.plan
        blocks = (plan.draw(fold) for fold in range(plan.n_folds))
        splits = ((block[0].training_rows, np.flatnonzero(block.test[0])) for block in blocks)
        folds = plans.KeptFolds(len(runner.inputs.target), splits)
    return Task(
        runner=runner,
        request=request,
        options=options,
        notes=tuple(notes),
        splitter=splitter,
        design=design,
        folds=folds,
        ordered=plans.keeps_order(splitter, folds),
    )


# --- the folds


def choose_folds(
    every_inputs: Sequence[Inputs], cv: Any, seconds: float, seed: int
) -> tuple[Any, Any, list[CheckResult]]:
    """Return the folds of all estimators, as `cv` and as a splitter, and notes on their number.

    None means ten folds, or the maximum number for these data, with a note. If time is limited to
    some `seconds`, there may be fewer folds. The folds of an integer are drawn for each repeat.
    """
    inputs, notes = every_inputs[0], list[CheckResult]()
    target, groups = inputs.target, inputs.groups
    # a short time limit allows fewer folds
    if cv is None and seconds < np.inf:
        cv, notes = choose_folds_in_time(every_inputs, seconds, seed)
    # a class with fewer samples than folds is missing in some test sets
    n_folds, smallest, rarest = cv, np.inf, ""
    if target.classes is not None:
        sizes = np.bincount(target.codes)
        smallest = int(sizes.min())
        rarest = f"class {quote_label(target.classes[sizes.argmin()])} has {smallest} samples"
    # the default, or fewer folds for few samples, few groups or a small class
    if cv is None:
        most = plans.folds_for(len(target))
        n_folds = n_main_folds = min(most, plans.default_folds(target, groups))
        reason = f"there are {n_folds} {'samples' if groups is None else 'groups'}"
        if groups is not None and n_folds < most and n_folds < len(np.unique(groups, axis=0)):
            reason = f"a class has {n_folds} groups"
        if 2 <= smallest <= n_folds:
            n_folds, reason = smallest, rarest
        if n_folds != most:
            notes = [note_few_folds(reason, n_main_folds)]
    elif isinstance(cv, Integral) and smallest < int(cv):
        notes.append(note_few_folds(rarest, int(cv), int(cv)))
    if target.classes is not None and groups is not None:
        # classes in one group are tested by models that were trained without them
        units, last = inputs.units.unit, np.zeros(target.n_classes, dtype=np.intp)
        last[target.codes] = units
        several = np.bincount(target.codes, units != last[target.codes], target.n_classes) > 0
        for code in np.flatnonzero(~several & (sizes > 0)):
            notes.append(note_single_group(quote_label(target.classes[code])))
    # the splitter has a seed, so that each use of it gives the same folds
    splitter = plans.resolve_splitter(n_folds, target, groups, seed)
    splitter = plans.seed_splitter(splitter, root_seed(seed))
    return cv if cv is None or isinstance(cv, Integral) else splitter, splitter, notes


MIN_SAMPLES = 10_000
"""Fits to fewer samples are not timed beforehand."""
MIN_TIMED, MAX_TIMED_SHARE, TIMING_SHARE = 1000, 0.05, 0.02
"""Samples of the first timed fit. Timing ends at these fractions of samples and budget."""
GROWTH = 4
"""Ratio of the numbers of samples of two timed fits."""
MAX_ANSWER_SHARE = 0.5
"""Maximum fraction of the remaining time for the fits of the main estimate."""
SECONDS_PER_SAMPLE, SECONDS_PER_CLASS, SECONDS_PER_SCORE = 5e-6, 1e-3, 2e-7
"""Time of the metrics, for each prediction, each class, and each score of a class."""
TEST_SHARE = 0.2


def predict_seconds(target: Target, n_predictions: int) -> float:
    """Return the expected seconds of the metrics of all predictions and of each class."""
    n_classes = 0 if target.classes is None else len(target.classes)
    per_class = SECONDS_PER_CLASS + SECONDS_PER_SCORE * n_predictions
    return SECONDS_PER_SAMPLE * n_predictions + n_classes * per_class


def choose_folds_in_time(
    every_inputs: Sequence[Inputs], seconds: float, seed: int
) -> tuple[Any, list[CheckResult]]:
    """Return folds that take half of the time, and a note, or None for the default folds.

    The result is up to five folds, or a single hold-out of a fifth of the samples or groups. All
    estimators are fitted on the same folds.
    """
    inputs = every_inputs[0]
    # the time of a fit of all estimators
    n = len(inputs.target)
    if n < MIN_SAMPLES:
        return None, []
    stop = monotonic() + seconds
    timed = TIMING_SHARE * seconds / len(every_inputs)
    fit = sum(time_fit(inputs, timed, seed) for inputs in every_inputs)
    metrics = len(every_inputs) * predict_seconds(inputs.target, n)
    left = MAX_ANSWER_SHARE * (stop - monotonic()) - metrics
    # folds that take half of the time that is left
    n_folds = max(0, math.floor(left / fit)) if fit > 0 else plans.FOLDS_OF_LARGE
    if n_folds >= plans.FOLDS_OF_LARGE:
        return None, []
    # fewer folds, or a single hold-out
    cv: Any = n_folds
    chosen = f"{cv} folds"
    if n_folds < 2:
        chosen = f"a single hold-out of {100 * TEST_SHARE:g} % of the samples"
        splitter = ShuffleSplit if inputs.target.classes is None else StratifiedShuffleSplit
        splitter = splitter if inputs.groups is None else GroupShuffleSplit
        cv = splitter(1, test_size=TEST_SHARE, random_state=seed)
    of_all = "of each estimator " if len(every_inputs) > 1 else ""
    evidence = f"one fit {of_all}takes about {fit:.2g} seconds, so the budget allows {chosen} "
    evidence += f"instead of {plans.FOLDS_OF_LARGE} folds"
    advice = "Increase the budget for a more precise estimate."
    return cv, [note("few-folds", "Few folds", evidence, advice)]


def time_fit(inputs: Inputs, seconds: float, seed: int) -> float:
    """Return the expected seconds of a fit to all samples, or 0 if fits to fewer samples fail.

    The number of samples is quadrupled until a fit takes long enough. The time is then
    extrapolated as a power of the number of samples, between linear and cubic. The power is fitted
    to processor time, which depends less on the load of the machine.
    """
    n, inputs = len(inputs.target), inputs.with_options(n_jobs=None, verbose=0, memory=None)
    order, runner = np.random.default_rng(seed).permutation(n), Runner(inputs)

    def fit(size: int) -> tuple[float, float]:
        train, test = np.sort(order[:size]), np.sort(order[size : 2 * size])
        start, used = monotonic(), process_time()
        list(runner.fits(plans.fold_plan(n, [(train, test)])))
        return monotonic() - start, max(process_time() - used, 1e-6)

    try:
        fit(MIN_TIMED)  # imports and first calls
        # quadruple the samples until a fit takes long enough
        size = MIN_TIMED
        taken, used = fit(size)
        power = 1.0
        while taken < seconds and GROWTH * size <= MAX_TIMED_SHARE * n:
            size, before = GROWTH * size, used
            taken, used = fit(size)
            power = min(max(math.log(used / before, GROWTH), 1.0), 3.0)
    except Exception:  # the evaluation itself reports the error
        return 0.0
    return taken * (n / size) ** power


# --- the main estimates


def estimate_mains(tasks: Mapping[str, Task], clock: Clock) -> dict[str, Evaluation]:
    """Return the evaluations of tasks, with their main estimates and out-of-fold predictions.

    The folds are repeated until no estimator needs more, or the time is over. After an interrupt,
    the repeats that all estimators completed are used, if there are any.
    """
    done: dict[str, list[FitOutput | None]] = {name: [] for name in tasks}
    first = next(iter(tasks.values())).design
    whole = first.plan
    # a given number of repeats is one plan
    rounds = whole.repeats() if first.adaptive or clock.budget is not None else [whole]
    try:
        for part in rounds:
            for name, task in tasks.items():
                if not done[name]:
                    step = f"error interval of {name}" if name else "error interval"
                    begin_step(step, task.inputs.verbose)
                runner = task.runner.with_options(method=task.design.inputs.method)
                for output in runner.each(part, task.request):
                    done[name].append(output)
                    if len(done[name]) % whole.n_folds == 0:
                        show_estimate(partial(_write_estimate, task.design, done[name]))
            # the mean time of a fit predicts whether later parts fit into the budget
            n_fits = sum(map(len, done.values()))
            clock.seconds_per_fit = (monotonic() - clock.start) / n_fits
            # another repeat is started only if the training error can follow it
            more = any(
                _interval_methods.needs_more(task.design, done[name])
                for name, task in tasks.items()
            )
            n_rounds = n_fits // (whole.n_folds * len(tasks)) + 1
            seconds = predict_seconds(first.inputs.target, n_rounds * len(first.inputs.target))
            if not (more and clock.allows((whole.n_folds + 1) * len(tasks), len(tasks) * seconds)):
                break
    except KeyboardInterrupt:
        n_repeats = min(map(len, done.values())) // whole.n_folds
        # without a complete repeat there is nothing to report
        if not n_repeats:
            raise
        clock.stop(f"after {n_repeats} of {count(whole.n_repeats, 'repeat')} of the folds")
    # the repeats that all estimators completed
    n_repeats = min(map(len, done.values())) // whole.n_folds
    results = {}
    for name, task in tasks.items():
        outputs = done[name][: n_repeats * whole.n_folds]
        completed = task.design.take(len(outputs))
        estimate, predictions = _interval_methods.collect_repeats(completed, outputs)
        results[name] = Evaluation(
            **vars(task) | {"design": completed},
            estimate=estimate,
            predictions=predictions,
            outputs=outputs,
        )
    return results


def _write_estimate(
    design: _interval_methods.RepeatedFolds, outputs: Sequence[FitOutput | None]
) -> str:
    """Return the current estimate as text, after a whole number of repeats."""
    n_repeats, n_done = design.plan.n_repeats, len(outputs) // design.plan.n_folds
    estimate, _ = _interval_methods.collect_repeats(design.take(len(outputs)), outputs)
    ends = write_ends(estimate.interval.low, estimate.interval.high)
    after = f" after {n_done} of at most {n_repeats} repeats" if n_repeats > 1 else ""
    return f"{estimate.name} {write_number(estimate.value)} {ends}{after}"


def find_earlier(evaluation: Evaluation) -> list[tuple[str, np.ndarray]]:
    """Return the naive forecast of samples in time order, as its name and the row of each target.

    It is the target at the lag between the last training sample and the first test sample. This
    target may be in the same test set, because features may contain it.
    """
    design, predictions = evaluation.design, evaluation.predictions
    if not evaluation.ordered or design.splits is None or len(design.splits) < design.plan.n_fits:
        return []
    # the smallest distance of a test sample from the last training sample
    last = np.array([train.max() for train, _ in design.splits])
    lag = int(np.min(predictions.row - last[predictions.fit]))
    return [("the naive forecast" + f" (lag {lag})" * (lag > 1), predictions.row - lag)]


# --- the parts


def _estimate(method: str, evaluation: Evaluation) -> list[Estimate]:
    """Return the error by a method of `error_interval`."""
    runner = evaluation.runner.with_options(method=method)
    return [_interval_methods.ERROR_METHODS[method].estimate(runner, evaluation.root)]


def _cross_validate(evaluation: Evaluation) -> list[Estimate]:
    """Return the error over one set of folds, from the first fits of the main estimate."""
    finished = []
    for k, output in enumerate(evaluation.outputs[: len(evaluation.folds)]):
        block = evaluation.design.plan.draw(k)
        if output is None:
            # a failed fit keeps its place among the folds
            output = FitOutput(block.test, np.ones(1, dtype=bool))
        finished.append((block, output))
    runner = Runner(evaluation.design.inputs.with_options(method="cross_validation"), finished)
    return [_estimates.cross_validation(runner, evaluation.root, cv=evaluation.folds)]


def _bootstrap(evaluation: Evaluation) -> list[Estimate]:
    """Return the out-of-bag, .632 and .632+ errors of one set of resamples."""
    runner, root = evaluation.runner.with_options(method="bootstrap"), evaluation.root
    return list(estimate_bootstraps(runner, root, n_resamples=N_BOOTSTRAPS).values())


def _perturb(evaluation: Evaluation) -> list[tuple[Estimate, ...]]:
    """Return the intervals around the cross-validated error, by both statistics."""
    _, root = evaluation.root.spawn(2)
    runner = evaluation.strict.with_options(method="perturbation")
    # the report has its own sentence for this
    with ignored_warnings(UserWarning, "the resubstitution error"):
        intervals = tuple(
            _estimates.perturb_error(
                runner, evaluation.folds, root, n_resamples=N_PERTURBATIONS, statistic=name
            )
            for name in PERTURBED
        )
    return [intervals]


def _permute(evaluation: Evaluation) -> list[Test]:
    """Return the permutation test of the cross-validated loss, or of the metric of a rare class.

    With ``include="auto"`` it stops as soon as it is clear whether P exceeds `ALPHA`.
    """
    inputs, target, root = evaluation.inputs, evaluation.target, evaluation.root
    loss, metric = inputs.loss, evaluation.metric
    scoring: Any = metric or SCORINGS.get(loss.name)
    if target.outputs or loss.response == "predict_proba" or scoring is None:
        # scikit-learn's Brier score supports 0 and 1 only
        score = partial(_mean_loss, loss=loss, classes=target.classes)
        scoring = make_scorer(score, greater_is_better=False, response_method=loss.response)
    with ignored_warnings(UserWarning, r"\d+ of \d+ groups have"):  # the report warns
        exchange = draw_orders(target.y, inputs.groups, root)
    n_most = evaluation.options.n_permutations
    rule = stop_when_decided(n_most, ALPHA) if evaluation.options.include == "auto" else None
    with ignored_warnings(UserWarning, "The least populated class"):  # the report has a note
        result: Any = compare_with_permutations(  # one metric, one result
            evaluation.strict, evaluation.splitter, scoring, exchange, n_most, root, rule
        )
    named = SCORINGS.get(loss.name, f"minus the {mean_loss_name(loss.name)}")
    return [replace(result, name=metric or named)]


def _mean_loss(y_true: Any, response: Any, *, loss: Loss, classes: np.ndarray | None) -> float:
    """Return the mean of a per-sample loss of predictions, or of probabilities."""
    y_true, response = np.asarray(y_true), np.asarray(response)
    if loss.response == "predict_proba" and classes is not None:
        y_true = np.searchsorted(classes, y_true)
        if response.ndim == 1:  # of the second of two classes
            response = np.column_stack([1 - response, response])
    return float(np.mean(loss(y_true, response)))


def split_at_selector(estimator: Any, X: Any) -> tuple[Pipeline, Pipeline] | None:
    """Return the steps up to the last selector and the later ones, or None without a selector."""
    if isinstance(estimator, CV2FeatureSelectionPipeline):
        steps = list_steps(estimator._selector(np.shape(X)[1]))
        estimator = make_pipeline(*steps, estimator._classifier())
    if not isinstance(estimator, Pipeline):
        return None
    for last in reversed(range(len(estimator) - 1)):
        if hasattr(estimator[last], "get_support"):
            return estimator[: last + 1], estimator[last + 1 :]
    return None


def _select(evaluation: Evaluation) -> list[Any]:
    """Return the bias of selection outside the folds, its stability, and the names of features."""
    folds = evaluation.folds
    parts: Any = split_at_selector(evaluation.inputs.estimator, evaluation.inputs.X)
    plan = plans.fold_plan(len(evaluation.target), folds)
    # the report shows that the interval is nan
    with ignored_warnings(UndefinedMetricWarning, "The interval is undefined"):
        repeat_of = np.zeros(len(folds), dtype=int)
        bias = compare_selections(evaluation.strict.inputs, parts, plan, repeat_of)
    # the selected features of each fold
    head, _ = parts
    note = partial(read_selected, feature_names=evaluation.options.feature_names)
    selecting = evaluation.strict.inputs.with_options(
        estimator=head, params=params_of_part(head, evaluation.inputs.params)
    )
    fits = Runner(selecting).fits(plan, FitRequest((), note=note))
    aligned = align_selections([note for _, output in fits for note in output.notes or ()])
    if aligned is None:
        return [bias, None, None]
    with ignored_warnings(UndefinedMetricWarning):  # a warning says that all features are kept
        stability = selection_stability(aligned[0], confidence_level=bias.confidence_level)
    return [bias, stability, aligned[1]]


IMPORTANCE = "importance of "
"""Prefix of the scores of the main fits that are drops of another score."""


def measure_scores(evaluation: Evaluation, *, drops: bool = False) -> list[Estimate]:
    """Return the requested scores of the main fits, or the decreases for shuffled features."""
    predictions, level = evaluation.predictions, evaluation.inputs.confidence_level
    scores = predictions.scores.items()
    chosen = {name: values for name, values in scores if name.startswith(IMPORTANCE) == drops}
    n_units = predictions.cases.n_units
    with ignored_warnings(UndefinedMetricWarning):  # the report shows undefined intervals
        measured = measure_scorers(replace(predictions, scores=chosen))
        return [settle(one, None, n_units, level) for one in measured]


def _measure_importance(evaluation: Evaluation) -> list[Results]:
    """Return the permutation importance of each feature, the most important first."""
    drops = sorted(measure_scores(evaluation, drops=True), key=lambda one: -one.value)
    return [Results({one.name.removeprefix(IMPORTANCE): one for one in drops})]


# --- what prevents a part, or "", and how many fits it takes


def _refuse_order(evaluation: Evaluation) -> str:
    """Return why samples must not be exchanged."""
    return "the samples are in time order" if evaluation.ordered else ""


def _refuse_permutations(evaluation: Evaluation) -> str:
    """Return why labels must not be shuffled, which breaks up sampling units."""
    if evaluation.predictions.cases.kind is UnitKind.FOLD:
        return "cv may keep dependent samples in the same fold. Pass their groups"
    return _refuse_order(evaluation)


def _refuse_importance(evaluation: Evaluation) -> str:
    """Return why the main fits have not scored shuffled features."""
    scored = any(name.startswith(IMPORTANCE) for name in evaluation.predictions.scores)
    return "" if scored else "X has no columns to shuffle"


def _refuse_selection(evaluation: Evaluation) -> str:
    """Return why there is no selection of features before a classifier."""
    split = split_at_selector(evaluation.inputs.estimator, evaluation.inputs.X)
    selects = split is not None and evaluation.target.classes is not None
    return "" if selects else "no step selects features for a classifier"


def _refuse_perturbation(evaluation: Evaluation) -> str:
    """Return why the error of a support vector machine has no perturbation intervals."""
    inputs, classes = evaluation.inputs, evaluation.target.classes
    final = last_step(inputs.estimator)
    if not (isinstance(final, SVC) and final.kernel == "linear"):
        return "it is defined for SVC(kernel='linear')"
    if classes is None or len(classes) != 2 or inputs.groups is not None or evaluation.ordered:
        return "it is defined for two classes of independent samples"
    try:
        _estimates.check_perturbed(inputs)
    except ValueError as error:  # weights in params would be replaced
        return str(error).rstrip(".")
    return ""


class Part(NamedTuple):
    """A part of an evaluation other than the main estimate."""

    compute: Callable[[Evaluation], list[Any]]
    """Returns estimates of the error, or the values of `results`."""
    n_fits: Callable[[Evaluation], int]
    obstacle: Callable[[Evaluation], str] = lambda _: ""
    """Returns why the part is not defined for these data, or ""."""
    results: tuple[str, ...] = ()
    """Names of its results in the report, if they are not estimates of the error."""
    in_auto: bool = False
    required: bool = False
    """Whether it is computed whatever `include` names."""
    only_in_doubt: bool = False
    """Whether "auto" skips it if the interval already excludes chance."""


PARTS = {
    "resubstitution": Part(partial(_estimate, "resubstitution"), lambda _: 1, required=True),
    "holdout": Part(partial(_estimate, "holdout"), lambda _: 1, _refuse_order),
    "cross_validation": Part(_cross_validate, lambda _: 0, required=True),
    "leave_one_out": Part(
        partial(_estimate, "leave_one_out"),
        lambda evaluation: evaluation.inputs.units.n_units,
        _refuse_order,
    ),
    "bootstrap": Part(_bootstrap, lambda evaluation: 1 + N_BOOTSTRAPS, _refuse_order),
    "perturbation": Part(
        _perturb,
        lambda evaluation: len(evaluation.folds) * (1 + N_PERTURBATIONS),
        _refuse_perturbation,
        results=("perturbation",),
    ),
    "importance": Part(_measure_importance, lambda _: 0, _refuse_importance, ("importance",)),
    "selection": Part(
        _select,
        lambda evaluation: 1 + 3 * len(evaluation.folds),
        _refuse_selection,
        results=("selection_bias", "selection_stability", "candidate_names"),
        in_auto=True,
    ),
    "permutation": Part(
        _permute,
        lambda evaluation: len(evaluation.folds) * (1 + evaluation.options.n_permutations),
        _refuse_permutations,
        results=("permutation",),
        in_auto=True,
        only_in_doubt=True,
    ),
}
"""Parts by name. The estimates come first, from the most optimistic to the most conservative."""


def run_parts(evaluation: Evaluation, clock: Clock) -> tuple[dict[str, Any], list[CheckResult]]:
    """Compute the parts that are included and defined, as long as time is left.

    Return their results by name, and warnings. "estimates" are all estimates of the error except
    the main estimate, and "omitted" contains the reasons for the parts that were not run, whose
    results are None.
    """
    results: dict[str, Any] = {key: None for part in PARTS.values() for key in part.results}
    estimates, omitted, cautions = Results(), dict[str, str](), list[CheckResult]()
    include, inputs = evaluation.options.include, evaluation.inputs
    wanted: Any = PARTS if include in ("auto", "all") else include
    for name, part in PARTS.items():
        if not (part.required or name in wanted):
            continue
        # parts that are not defined, or disabled; a requested one has a warning
        obstacle = part.obstacle(evaluation)
        if name == "permutation" and not evaluation.options.n_permutations:
            obstacle = "n_permutations=0"
        if obstacle:
            if wanted is include:
                cautions.append(note("not-run", f"Requested {name} not run", obstacle))
            continue
        # why a part is not run now
        n_fits = part.n_fits(evaluation)
        reason = ""
        if include == "auto" and not (part.in_auto or part.required):
            reason = "on request"
        elif include == "auto" and part.only_in_doubt and evaluation.better:
            reason = "the interval already excludes chance"
        elif clock.stopped and n_fits:  # finished fits can still be read
            reason = INTERRUPTED
        elif n_fits and not clock.stopped and not clock.allows(n_fits):
            reason = f"{count(n_fits, 'fit')}, more than the time limit allows"
        if reason:
            omitted[name] = reason
            continue
        # a part that fails leaves a warning
        begin_step(name, inputs.verbose)
        try:
            computed = part.compute(evaluation)
            if part.results:
                results |= zip(part.results, computed, strict=True)
            else:
                estimates |= {one.method: one for one in computed}
        except KeyboardInterrupt:
            clock.stop(f"in {name}")
            omitted[name] = INTERRUPTED
        except Exception as error:
            # undefined parts are left out, and failed ones too if failed fits are allowed
            undefined = isinstance(error, NoFitLeftError | TooFewMembersError)
            if part.required or not (undefined or inputs.error_score != "raise"):
                raise
            reason = ", because one of its fits failed" * (not undefined)
            evidence = f"{name}{reason}: {str(error).rstrip('.')}"
            cautions.append(note("failed", "Part not computed", evidence))
    return results | {"estimates": estimates, "omitted": omitted}, cautions


def read_selected(
    model: Pipeline, *_: Any, feature_names: tuple[str, ...] | None
) -> tuple[tuple[str, ...] | None, np.ndarray]:
    """Return the names of the candidates, if known, and those that a pipeline selects last."""
    support, names = np.asarray(model[-1].get_support()), feature_names
    if len(model) > 1:
        names = None
        for given in (feature_names, None):
            # without names, or with names of other inputs, steps raise
            with suppress(AttributeError, TypeError, ValueError):
                names = tuple(map(str, model[:-1].get_feature_names_out(given)))
                break
    return names if names is None or len(names) == len(support) else None, support


def align_selections(
    selections: Sequence[tuple[tuple[str, ...] | None, np.ndarray]],
) -> tuple[np.ndarray, tuple[str, ...] | None] | None:
    """Return the selections as rows of a mask over common features, and the feature names.

    Folds may select from different features, such as words of their own texts. These are matched
    by name, and features missing in a fold count as not selected. Return None if there are no
    names.
    """
    names, supports = zip(*selections, strict=True)
    # all folds select from the same features
    if len(set(names)) == 1 and len({len(support) for support in supports}) == 1:
        return np.array(supports), names[0]
    if None in names:
        return None
    # features by name
    pairs = zip(names, supports, strict=True)
    chosen = [dict(zip(own, support, strict=True)) for own, support in pairs]
    every = dict.fromkeys(name for by_name in chosen for name in by_name)
    return np.array([list({**every, **by_name}.values()) for by_name in chosen], bool), tuple(every)
