"""Every estimate of the error of one estimator, in one call.

What `evaluate` may be told and what it chooses where it is told nothing, estimators that resample
in their own fit, and what the steps find, as the fields of a report.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypedDict, Unpack, overload

import numpy as np
from sklearn.base import clone, is_classifier

from skeval._inference.estimate import Estimate
from skeval._resampling.fits import NoFitLeftError
from skeval._resampling.folds import DEFAULT_FOLDS, default_folds, resolve_splitter, seed_splitter
from skeval._resampling.jobs import tallied_warnings
from skeval._resampling.progress import begin_step
from skeval._resampling.questions import Questions
from skeval._resampling.task import LossLike, Params, Target, TooFewMembersError, read_task
from skeval.model_selection._error_interval import read_positive_weight
from skeval.model_selection._interval_methods import AUTO, ERROR_METHODS, LISTED
from skeval.report import _predictions, _sentences
from skeval.report._comparison import EvaluationComparison, collect_cautions, compare_reports
from skeval.report._data_checks import (
    name_columns,
    warn_of_least_squares,
    warn_of_order,
    write_data_warnings,
)
from skeval.report._report import EvaluationReport
from skeval.report._sections import Caution
from skeval.report._sentences import ALPHA, Guess, RareClass
from skeval.report._source import check_feature_names, count_columns, describe_run, write_estimator
from skeval.report._steps import Clock, Steps
from skeval.svm import PerturbationResamplingSVC
from skeval.utils import _checks
from skeval.utils._checks import RandomStateLike
from skeval.utils._text import count

__all__ = ["evaluate", "make_announcer"]

Parts = str | Iterable[str]
"""What to run: "auto", "all" or names."""

ORDERED = (
    "The folds test only what comes after all that they train on, so the order of the samples "
    "counts. Hold-out, leave-one-out, bootstrap, perturbation and permutation test mix early and "
    "late samples, which would let the future predict the past: they are left out."
)
TOO_ALIKE = (
    " Neighbours in time err so much alike that the samples are worth fewer than three independent "
    "blocks of time: how well the error is known cannot be told."
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
) -> EvaluationReport | EvaluationComparison:
    """Return the error of an estimator with an interval that holds, and all other views of it.

    Of several estimators, given as a dict, it evaluates each on the same folds and compares them.

    `report.answer` is what `error_interval` returns: the number to quote. Every metric of the same
    predictions is read off its fits. Beside it stand resubstitution and cross-validation and, as
    far as `include` goes, hold-out (a third of the samples), leave-one-out and the bootstrap
    (out-of-bag, .632, .632+), each with its standard error and confidence interval; for a linear
    support vector machine the perturbation intervals around its cross-validated error; the
    permutation P-value of the whole procedure; where a pipeline selects features, what selecting
    them outside the loop would have claimed, and how stable the selection is; and warnings in
    plain words where a number should not be taken at its face. Errors are mean losses: fractions
    in [0, 1] for 0-1 loss, 0 is best.

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
    include : "auto", "all" or names, default="auto"
        What is run beside the answer, resubstitution and cross-validation: any of "holdout",
        "leave_one_out", "bootstrap", "perturbation", "permutation" and "selection". "auto" runs
        what a solver does in the time of half of the fits of the answer, and of the rest what
        costs, all together, no more than that; the permutation test only where the interval of
        the answer does not show that the rule is better than one constant answer, and no longer
        than until P is known to be above 0.05 [1]_. The report says what it left out.
    budget : float, default=None
        Seconds after which nothing more is begun: the answer has as many repeats of its folds as
        fit in, one at least, with a larger variance where there are fewer than ten, and what would
        take longer than what is left is left out. The numbers then depend on how fast the machine
        is. None does not look at the clock.
    n_bootstraps : int, default=200
        Number of bootstrap resamples.
    n_permutations : int, default=200
        Number of permutations of the labels for the P-value, at most; 0 does without it.
    n_perturbations : int, default=500
        Number of perturbations of a linear two-class `SVC`; 0 does without its intervals.
    confidence_level : float, default=0.95
        Nominal coverage of the intervals.
    loss : str or callable, default=None
        "zero_one", "squared" or "absolute"; "log_loss" or "brier", of the probabilities of a
        classifier; or any loss of predictions, ``(y_true, y_pred) -> (n,)``. None means 0-1 loss
        for classifiers and squared error for regressors.
    scoring : str, callable, list or dict, default=None
        Scorers beside the usual metrics, which need none; each scores each test set of the
        repeated folds, as in ``cross_validate``.
    groups : array-like of shape (n_samples,) or str, default=None
        Groups that no split takes apart, or the column of a data frame that holds them. The column
        is then no feature: new samples come from groups that no model has seen.
    by : array-like of shape (n_samples,) or str, default=None
        Subgroup of each sample, or the column of a data frame that holds it: the error in each,
        and the largest difference. The column stays a feature, unless it holds the groups.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as ``cross_validate`` of scikit-learn takes
        them; the steps that select features, fitted by themselves, are given their own. Weights
        (``{"sample_weight": w}``) are those of the fits; losses and metrics are averaged without
        them, and there are no perturbation intervals.
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
        1 names each step on standard error and shows a progress bar for each, behind that of the
        answer what is known of it so far.
    memory : str, path-like or joblib.Memory, default=None
        Where finished fits are kept. A run that was interrupted and starts again with the same
        arguments, `random_state` an int, does only the rest; see :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        What to do when a fit raises: raise too, or leave it out, count and warn. Of the estimates,
        those that `include` names are left out, with a sentence among the warnings, where no fit
        is left.

    Returns
    -------
    EvaluationReport
        Of a dict an `EvaluationComparison`, which holds one for each estimator.

    Raises
    ------
    ValueError
        If an argument breaks a rule; the message names argument, rule and value.
    KeyboardInterrupt
        Where Ctrl-C stops it. Once a repeat of the folds is done, the attribute `report` of the
        exception holds the report of what is done, of as many repeats as are, marked as such.

    See Also
    --------
    skeval.model_selection.error_interval : The answer alone.
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
    _checks.check_confidence_level(confidence_level)
    counts = {
        "bootstrap": _checks.check_count("n_bootstraps", n_bootstraps),
        "permutation": _checks.check_count("n_permutations", n_permutations, 0),
        "perturbation": _checks.check_count("n_perturbations", n_perturbations, 0),
    }
    include, clock = check_include(include), Clock(check_budget(budget))
    table = X
    if isinstance(groups, str):
        X, groups = _predictions.take_column(X, groups)
    how = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory, "error_score": error_score}
    task = read_task(estimator, X, y, groups, loss=loss, params=params, method=AUTO, **how)
    X, target = task.X, task.target
    names = check_feature_names(X, feature_names)
    seed = _checks.small_seed(random_state)
    questions = _predictions.add_search_question(_predictions.resolve_scorers(scoring), estimator)
    by = _predictions.find_subgroups(table, by, len(target))
    columns = check_left_out(left_out, len(target))
    rule, notes = skip_nested_resampling(estimator)
    folds, few = choose_folds(cv, target, task.groups)
    splitter = seed_splitter(
        resolve_splitter(folds, target, task.groups, seed), _checks.root_seed(seed)
    )
    task = task.of(rule)
    task = task.under(weight=read_positive_weight(task, sample_weight))
    steps, notes = Steps(task, cv, splitter, seed, confidence_level), notes + few
    say = make_announcer(n_jobs, verbose)
    if steps.ordered:
        counts |= {"permutation": 0, "perturbation": 0}
    run = Run(steps, counts, include, clock, say, notes)
    with tallied_warnings():
        findings = run.find_all(questions, names, by, columns)
    report = EvaluationReport(
        **findings,
        n_features=count_columns(X),
        estimator=write_estimator(estimator),
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
    for name, each in estimator.items():
        _checks.check_methods(f"estimator[{name!r}]", each, "fit", "predict", "get_params")
    if len({is_classifier(each) for each in estimator.values()}) > 1:
        raise ValueError("estimator must hold classifiers only or regressors only, got both.")
    arguments["random_state"] = seed = _checks.small_seed(arguments["random_state"])
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
    _checks.check_jobs(n_jobs, verbose)

    return partial(begin_step, verbose=verbose)


NOT_PERTURBED = (
    "There are no perturbation intervals, for the weights that they perturb are given in params; "
    "sample_weight takes them."
)
INTERRUPTED = "interrupted"
"""Why a part is left out that Ctrl-C has kept from being run."""
ALWAYS = ("resubstitution", "cross_validation")
CHEAP = [part for part, method in LISTED.items() if ERROR_METHODS[method].plan is None]
OPTIONAL = (
    *(part for part in CHEAP if part not in ALWAYS),
    "permutation",
    "selection",
    *(part for part in LISTED if part not in CHEAP),
    "perturbation",
)
"""What may be left out, in the order in which it is granted its fits."""
SHARE = 0.5
"""Of the fits of the answer, what all that no solver serves may cost."""
MOST_PLANNED = 2**26
"""Fits times samples of the folds that are drawn only to see whether a solver serves them."""


class Options(TypedDict, total=False):
    """The keywords of `evaluate`, for the types of its two forms."""

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


def check_include(include: Any) -> frozenset[str] | str:
    """Return "auto", "all", or the names of what is to be run."""
    if isinstance(include, str) and include in ("auto", "all"):
        return include
    names = [include] if isinstance(include, str) or not np.iterable(include) else list(include)
    for name in names:
        if not (isinstance(name, str) and name in (*ALWAYS, *OPTIONAL)):
            known = ", ".join(map(repr, (*ALWAYS, *OPTIONAL)))
            raise ValueError(f"include must be 'auto', 'all' or some of {known}, got {name!r}.")
    return frozenset(names)


def check_budget(budget: Any) -> float | None:
    """Return a limit of time in seconds, or None."""
    if budget is None:
        return None
    if isinstance(budget, bool) or not isinstance(budget, int | float) or not budget > 0:
        raise ValueError(f"budget must be None or a number of seconds above 0, got {budget!r}.")
    return float(budget)


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


@dataclass(eq=False)
class Run:
    """The steps of an evaluation that are run, one after another, and what is noted meanwhile."""

    steps: Steps
    counts: dict[str, int]
    include: frozenset[str] | str
    clock: Clock
    say: Callable[[str], None]
    notes: list[Caution]
    omitted: dict[str, str] = field(default_factory=dict)

    def find_all(
        self,
        questions: Questions,
        names: tuple[str, ...] | None,
        by: Any,
        left_out: Mapping[str, Any],
    ) -> dict[str, Any]:
        """Return the fields of a report that resampling finds: the answer, then all the rest."""
        steps, notes = self.steps, self.notes
        self.say("error interval")
        answer, found = steps.answer(questions, self.clock)
        if self.clock.stopped:
            questions = replace(questions, note=None)  # what a search found takes another fit
        about = _predictions.name_rows(steps.task.X), by, steps.confidence_level
        counted = steps.design.task.under(counted=found.cases)
        shared = counted, answer, found, questions, *about
        summary = self._finish(_predictions.summarize_predictions, *shared)
        metrics = summary["metrics"]
        weighed = _predictions.count_classes(steps.target, steps.task.weight)
        loss = steps.task.loss.name
        rare = _sentences.find_rare_class(weighed, metrics, loss)
        guess = _sentences.find_guess(found, loss, steps.find_earlier(found))
        if steps.ordered:
            notes.append(Caution("ordered", ORDERED + TOO_ALIKE * (found.cases.n_units == 1)))
        if found.cases.name == "folds":
            notes.append(Caution("given-folds", _sentences.write_given_folds(found.cases.n_units)))
            self.counts["permutation"] = 0
        granted = self._finish(self.grant, found.n_fits, guess, rare)
        estimates = tuple(self._estimate_all(granted))
        if not steps.ordered:
            rows = _predictions.name_rows(steps.task.X)
            where = name_columns(steps.task.X, names), left_out, rows
            notes += self._finish(warn_of_order, *where, found, steps.groups, steps.folds)
        notes += self._finish(_predictions.warn_of_scores, found, metrics, steps.task.estimator)
        asked = steps.task.estimator, steps.task.X, steps.target.y
        notes += self._finish(warn_of_least_squares, *asked)
        tests = self._test_all(granted, names, rare)
        together = steps.design.task.kept_together
        about_data = steps.task.X, steps.target, together, names, left_out
        data = self._finish(write_data_warnings, *about_data)
        warnings = [*data, *notes, *_sentences.write_warnings(estimates)]
        if guess and not guess.better:
            warnings.append(Caution("guess", _sentences.write_guess(guess, loss)))
        if self.clock.stopped:
            told = _sentences.write_interruption(self.clock.stopped)
            warnings.insert(0, Caution(INTERRUPTED, told))
        return {
            "answer": answer,
            "estimates": estimates,
            "rare": rare,
            "unanswered": _sentences.find_unanswered(found),
            **summary,
            **tests,
            "feature_names": names,
            "confidence_level": float(steps.confidence_level),
            "n_samples": len(steps.target),
            "class_sizes": _predictions.count_classes(steps.target),
            "guess": guess,
            "omitted": self.omitted,
            "warnings": tuple(warnings),
        }

    def grant(self, n_answer: int, guess: Guess | None, rare: RareClass | None) -> set[str]:
        """Return the parts that are run, and note why others are not, as far as they apply."""
        steps, granted = self.steps, set()
        n_left = SHARE * n_answer - steps.n_needed
        n_begun = steps.n_needed
        better = rare.better if rare is not None else guess is not None and guess.better
        for part in OPTIONAL:
            size = self.counts.get(part)
            if size == 0 or not steps.applies(part):
                continue
            if self.include not in ("auto", "all"):
                if part not in self.include:
                    continue
            elif self.include == "auto" and part == "permutation" and better:
                self.omitted[part] = "an interval is clear of chance already"
                continue
            if part == "perturbation" and steps.weighs_by_params:
                self.notes.append(Caution("failed", NOT_PERTURBED))
                continue
            if self.clock.stopped:
                self.omitted[part] = INTERRUPTED
                continue
            n_units = steps.task.units.n_units
            large = part == "leave_one_out" and n_units * len(steps.target) > MOST_PLANNED
            if self.include == "auto" and large:
                self.omitted[part] = count(n_units, "fit")
                continue
            plan = steps.plan(part, size)
            n_fits = steps.n_fits_of(part) if plan is None else plan.n_fits
            late = self.clock.seconds_of(n_begun + n_fits) > self.clock.left
            metric = None if rare is None else rare.metric
            # Permutations, which end early, need only be faster than a loop of all of them.
            times = 1.0 if part == "permutation" else n_fits / (SHARE * n_answer)
            served = plan is not None and steps.serves(part, plan, metric, times)
            costly = self.include == "auto" and n_fits > n_left and not served
            if late or costly:
                self.omitted[part] = f"{count(n_fits, 'fit')}{', more than the time' * late}"
                continue
            granted.add(part)
            n_begun += n_fits
            n_left -= 0 if served else n_fits
        return granted

    def _test_all(
        self, granted: Collection[str], names: tuple[str, ...] | None, rare: RareClass | None
    ) -> dict[str, Any]:
        """Return what is found by fits under other weights, features and labels.

        A permutation test that runs by itself ends as soon as P cannot be `ALPHA` or less.
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
        """Return what a part of the report finds; None where it is not run, or Ctrl-C stops it.

        With `what`, a failing fit costs that part alone and a note, unless it is to raise.
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
            if not what or self.steps.task.error_score == "raise":
                raise
            text = f"There is no {what}, since it cannot do without a fit that failed: {error}"
            self.notes.append(Caution("failed", text))
        return None

    def _stop_in(self, part: str) -> None:
        """Note that Ctrl-C has stopped a part of the report."""
        self.clock.stop(f"in {part}")
        self.omitted[part] = INTERRUPTED

    def _finish(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return what is read off finished fits, once more where Ctrl-C comes meanwhile."""
        try:
            return function(*args)
        except KeyboardInterrupt:
            self.clock.stop("behind the answer")
            return function(*args)

    def _estimate_all(self, granted: Collection[str]) -> Iterator[Estimate]:
        """Yield every estimate, from the most optimistic to the most careful."""
        steps = self.steps
        for part in LISTED:
            if part not in granted and part not in ALWAYS:
                continue
            if self.clock.stopped and not (part == "cross_validation" and steps.repeats_folds):
                self.omitted[part] = INTERRUPTED
                continue
            self.say(part)
            try:
                found = list(steps.estimate(part, self.counts.get(part)))
            except KeyboardInterrupt:
                self._stop_in(part)
            except (NoFitLeftError, TooFewMembersError) as error:
                if part in ALWAYS:
                    raise
                self.notes.append(Caution("failed", f"There is no {part} estimate: {error}"))
            else:
                yield from found


NOTHING_SELECTED = dict.fromkeys(("selection_bias", "selection_stability", "candidate_names"))


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
