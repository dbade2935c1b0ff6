"""Fits of a plan, by a solver if one supports the estimator, and otherwise in a loop.

A solver must be faster for the sizes of the data and the number of fits, and it must agree with the
estimator in a few trial fits, which are made once for all plans of a call. The estimator may stop
before its optimum, for example on columns of very different scales. The loop then does all fits.
Trial fits are results of a plan, so the loop does not repeat them. The module ends with the errors
of fits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, singledispatch
from importlib import import_module
from itertools import chain
from math import nan
from pkgutil import iter_modules
from time import monotonic
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.sparse import issparse
from sklearn import get_config
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

import skeval._adapters
from skeval._resampling import fit_request
from skeval._resampling.inputs import (
    FitOutput,
    Inputs,
    Params,
    fit_arguments,
    join_outputs,
    weight_parameters,
)
from skeval._resampling.jobs import open_jobs
from skeval._resampling.plans import Fit, PlanBlock, ResamplingPlan
from skeval._resampling.progress import tell
from skeval._resampling.sampling_units import Target, TooFewMembersError, permute_labels
from skeval.utils import _compat
from skeval.utils._checks import count_dimensions, find_missing, ignored_warnings, warn_user

Scores = dict[str, float]
"""Scores by metric, empty if all fits failed. A single score has the name ''."""


class Runner:
    """Fits of one estimator on one data set, with the solver, its trial fits and the finished fits.

    It is created once in each public call, and every fit uses it.

    Attributes
    ----------
    inputs : Inputs
    finished : list of (PlanBlock, FitOutput) or None
        Outputs that several results share. The first plan fills an empty list.
    solvers : dict
        The solver that supports the estimator, or the reason why there is none, with "found" as
        key. With True or False as key, the same after trial fits to shuffled or given labels.
        Runners for other losses share it, and the models.
    models : dict
        Models of trial fits with the training set as key. They need not be fitted again.
    """

    def __init__(
        self, inputs: Inputs, finished: list[tuple[PlanBlock, FitOutput]] | None = None
    ) -> None:
        self.inputs, self.finished = inputs, finished
        self.solvers: dict[bool | str, Solver | str] = {}
        self.models: dict[bytes, Any] = {}

    def with_options(self, **settings: Any) -> Runner:
        """Return a runner for other losses, weights or options, which shares the known results."""
        other = copy(self)
        other.inputs = self.inputs.with_options(**settings)
        return other

    def fits(
        self,
        plan: ResamplingPlan,
        request: fit_request.FitRequest | None = None,
        *,
        first_block: int | None = None,
    ) -> Iterator[tuple[PlanBlock, FitOutput]]:
        """Yield each block of a plan with the outputs of its fits, by default predictions.

        The first block has at most `first_block` draws, for a caller that may stop early. Each
        further block is as large as all blocks before it.
        """
        # outputs that an earlier result shares
        if self.finished:
            yield from self.finished
            return
        # what to read from each fit, and who does it
        inputs = self.inputs
        request = fit_request.FitRequest(inputs.loss_methods) if request is None else request
        plan = check_plan(inputs, plan)
        worker = self.make_worker(plan, request)
        # a caller that stops early skips the reports at the end
        n_done = n_solved = n_failed = 0
        try:
            solver = self.choose_solver(worker, plan)
            # a job is one fit, or a block for a solver
            options = {"n_jobs": inputs.n_jobs, "verbose": inputs.verbose, "memory": inputs.memory}
            one_thread, size = nullcontext(), 1 if plan.single_fits else None
            if solver is not None:
                size = solver.size_blocks(plan)
                # a single block is not worth a second process
                if solver.in_process or plan.n_fits <= size:
                    options["n_jobs"] = 1
                # jobs in threads of this process would undo each other's limit
                one_thread = _compat.threadpool_controller().limit(limits=1, user_api="blas")
            jobs = open_jobs(
                solver or worker, total=plan.n_fits, blocks=solver is not None, **options
            )
            with one_thread, jobs as run:
                for block, outputs in run.stream(plan.blocks(size, first_block)):
                    output = join_outputs(outputs)
                    n_done += len(output)
                    n_solved += output.n_solved
                    n_failed += int(output.failed.sum())
                    if self.finished is not None:
                        self.finished.append((block, output))
                    yield block, output
        except Exception as error:
            # describe the cause in terms of the data or the training set, if it is known
            explained = explain_error(error, inputs, plan)
            if explained is error:
                raise
            raise explained from error
        if n_failed == n_done:
            raise NoFitLeftError(
                f"all {n_done} fits failed. error_score='raise' shows the first error."
            )
        if n_failed:
            warn_user(
                f"{n_failed} of {n_done} fits failed and are left out of the estimate. "
                "error_score='raise' shows the first error.",
                FitFailedWarning,
            )
        if solver is not None and inputs.verbose and plan.n_fits > 1:
            rest = "" if n_solved == n_done else f", {n_done - n_solved} one by one"
            tell(f"skeval used a solver for {n_solved} fits{rest}")

    def each(
        self, plan: ResamplingPlan, request: fit_request.FitRequest | None = None
    ) -> Iterator[FitOutput | None]:
        """Yield the output of each fit, None if it failed. Scores of classes are also requested."""

        def separate(done: tuple[PlanBlock, FitOutput]) -> list[FitOutput | None]:
            return [None if output.failed[0] else output for output in done[1]]

        if request is not None:
            request = request.and_scores_of_classes(self.inputs.estimator, self.inputs.target)
        # no generator, which would be one more frame above each fit
        return chain.from_iterable(map(separate, self.fits(plan, request)))

    def make_worker(self, plan: ResamplingPlan, request: fit_request.FitRequest) -> FitWorker:
        """Return the worker that fits a plan."""
        inputs = self.inputs
        estimator, params = inputs.estimator, dict(inputs.params or {})
        if inputs.weight is not None and not plan.weighted:
            # all steps that take weights get them, unless the user specifies otherwise
            params = {**weight_parameters(estimator, inputs.weight), **params}
        models = {} if params else self.models
        estimator, X, target = clone(estimator), inputs.X, inputs.target
        return FitWorker(estimator, X, target, params, request, inputs.error_score, models)

    def choose_solver(self, worker: FitWorker, plan: ResamplingPlan) -> BlockSolver | None:
        """Return the solver for the fits of a plan, None if a loop does them.

        The worker keeps the models of trial fits. All plans share the trials, but shuffled labels
        are tried separately.
        """
        # a solver that supports the estimator and is faster
        solver: Solver | str = "fit gets more arguments than X and y, or models are needed"
        if not worker.params and worker.request.need_no_model(self.inputs):
            solver = self.find_solver()
        if not isinstance(solver, str):
            solver = solver if solver.is_faster(plan) else SLOWER
        if not isinstance(solver, str):
            # and whose trial fits agree
            if plan.shuffled not in self.solvers and plan.n_fits >= FEWEST:
                self.solvers[plan.shuffled] = try_solver(solver, worker, plan)
            solver = self.solvers.get(plan.shuffled, SLOWER)
        if not isinstance(solver, str):
            return BlockSolver(worker, solver)
        if self.inputs.verbose and plan.n_fits > 1:
            tell(f"skeval runs {plan.n_fits} fits one by one: {solver}")
        return None

    def find_solver(self) -> Solver | str:
        """Return the solver of the estimator on X, or the reason why there is none.

        An estimator with invalid parameters has no solver, so that its own fit raises the error.
        """
        inputs = self.inputs
        if inputs.target.outputs:
            return "y has several columns"
        if "found" not in self.solvers:
            solver = find_solver(inputs.estimator, inputs.X, inputs.target)
            if not isinstance(solver, str) and not get_config()["skip_parameter_validation"]:
                parts = [inputs.estimator, *inputs.estimator.get_params().values()]
                parts = [part for part in parts if isinstance(part, BaseEstimator)]
                if not all(map(_compat.has_valid_params, parts)):
                    solver = "the parameters of the estimator are not valid"
            self.solvers["found"] = solver
        return self.solvers["found"]


def score_plan(
    runner: Runner,
    plan: ResamplingPlan,
    scoring: Any,
    *,
    first_block: int | None = None,
    several: bool = False,
    skip_undefined: bool = False,
    pool: bool = False,
) -> Iterator[list[Scores]]:
    """Yield, for each block, the mean score over the fits of each repetition, by metric.

    `scoring` must give one number unless `several` is True. If a test set is too small for a score
    and `pool` is True, the score is computed from all test sets of a repetition together.
    Otherwise, it raises an error before any fit, except with `skip_undefined` if the score is
    undefined there.
    """
    # scores must be defined on every test set, or are pooled
    inputs = runner.inputs
    request = fit_request.FitRequest.for_scores(inputs.estimator, scoring)
    label = scoring if isinstance(scoring, str) else "scorer"
    scorers = request.of_predictions(inputs.target).scorers
    scorers = {name or label: scorer for name, scorer in scorers.items()}
    fit_request.check_scorers(inputs, scorers)
    try:
        fit_request.check_test_sets(inputs, plan, scorers, skip_undefined=skip_undefined)
    except fit_request.SmallTestSetError:
        if not (pool and all(map(_compat.is_plain_scorer, scorers.values()))):
            raise
        yield from pool_plan(runner, plan, request, first_block)
        return
    for _, output in runner.fits(plan, request, first_block=first_block):
        # fits that failed have no scores
        scores = [{} if score is None else score for score in output.scores or [{}] * len(output)]
        names = [name for name in next(filter(None, scores), {}) if name]
        if names and not several:
            listed = ", ".join(map(repr, names))
            raise TypeError(f"scoring must return one number here, got a dict with {listed}.")
        # mean over the fits of each repetition
        starts = range(0, len(scores), plan.fits_per_draw)
        yield [mean_score(scores[start : start + plan.fits_per_draw]) for start in starts]


def pool_plan(
    runner: Runner, plan: ResamplingPlan, request: fit_request.FitRequest, first_block: int | None
) -> Iterator[list[Scores]]:
    """Yield, block by block, the score of all test sets of each repetition together."""
    # scorers replay the predictions of all test sets together
    inputs, target = runner.inputs, runner.inputs.target
    request = request.of_predictions(target)
    methods = fit_request.methods_of_scorers(request.scorers.values(), inputs)
    wanted = fit_request.FitRequest(methods)
    for block, output in runner.fits(plan, wanted, first_block=first_block):
        fits, pooled = list(output), list[Scores]()
        for start in range(0, len(fits), plan.fits_per_draw):
            # test sets of one repetition as one set
            of_draw = slice(start, start + plan.fits_per_draw)
            joined = join_outputs(fits[of_draw])
            part = block.take(np.arange(len(fits))[of_draw])
            codes = part.tested_labels(target.codes, ~joined.failed)
            if not len(codes):
                pooled.append({})
                continue
            # the scorers read the stored predictions as from a fitted model
            model = fit_request.StandIn.of_output(joined, inputs.tags, target)
            labels = target.decode(codes)
            pooled.append(request.score(model, np.arange(len(codes)), labels, target))
        yield pooled


def score_each(
    runner: Runner, plan: ResamplingPlan, scoring: Any, *, skip_undefined: bool = False
) -> dict[str, np.ndarray]:
    """Return the scores of all fits by metric, nan if a fit failed."""
    options = {"several": isinstance(scoring, dict), "skip_undefined": skip_undefined}
    return split_by_metric(chain.from_iterable(score_plan(runner, plan, scoring, **options)))


def mean_score(scores: list[Scores]) -> Scores:
    """Return the mean of each metric over the successful fits."""
    scores = list(filter(None, scores))
    names = scores[0] if scores else ()
    return {name: float(np.mean([each[name] for each in scores])) for name in names}


def split_by_metric(scores: Iterable[Scores]) -> dict[str, np.ndarray]:
    """Return the scores of each metric, nan where all fits failed."""
    scores = list(scores)
    names = next(filter(None, scores), {"": np.nan})
    return {name: np.array([score.get(name, np.nan) for score in scores]) for name in names}


class NoFitLeftError(ValueError):
    """Error for a plan whose fits all failed with ``error_score=numpy.nan``."""


FITS_OF_BLOCK = 256
"""Minimum number of fits in a block for a solver.

With fewer fits, the pilot fits, whose number is constant, would take too much time.
"""

SOLVED_ELEMENTS = 2**16
"""Elements of a (fits, n_samples) array. A block of at most this size is not divided."""

SHOWN_FITS = 10
"""Minimum number of fits in a block if fits are returned one by one, enough for an interval."""

MAX_ELEMENTS = 2**18
"""Maximum number of elements of a block if a solver reuses work, so that it stays in the cache. It
also applies if fits are returned one by one. It then takes about a second, the work that Ctrl-C
loses."""


@dataclass(eq=False, repr=False)
class FitWorker:
    """Fits clones of an estimator and reads the requested outputs.

    With ``error_score=numpy.nan``, a fit may fail.
    """

    estimator: Any
    X: Any
    target: Target
    params: Params
    request: fit_request.FitRequest
    error_score: float | str
    models: dict[bytes, Any] = field(default_factory=dict)
    kept: Any = None

    def __getstate__(self) -> dict[str, Any]:
        # results do not depend on models and on samples of earlier fits
        return vars(self) | {"models": {}, "kept": None}

    def keep_model(self, fit: Fit) -> Any:
        """Return the model of a trial fit, and keep it for the loop."""
        key = identify(fit)
        if key not in self.models:
            rows = fit.training_rows
            labels = permute_labels(self.target.given, fit.order)
            train, train_labels = self.split(labels, rows)
            arguments = self.arguments(fit, rows)
            self.models[key] = clone(self.estimator).fit(train, train_labels, **arguments)
        return self.models[key]

    def arguments(self, fit: Fit, rows: np.ndarray) -> dict[str, Any]:
        """Return the keyword arguments of a fit to these rows."""
        groups = self.target.groups
        return fit_arguments(self.estimator, self.X, self.params, fit.weights, groups, rows)

    def __call__(self, fit: Fit) -> FitOutput:
        rows, tested = fit.training_rows, np.flatnonzero(fit.test)
        labels = permute_labels(self.target.given, fit.order)
        train, train_labels = self.split(labels, rows)
        # the samples of a fit are freed after those of the next are made, as in a loop, so that
        # the allocator does not return their memory to the system and get it again for each fit
        self.kept = train
        # the test part of a kernel has the columns of the training rows
        test, test_labels = self.split(labels, tested, rows)
        # a trial fit is not repeated
        model = self.models.get(identify(fit)) if self.models else None
        start, fitted = monotonic(), nan
        try:
            if model is None:
                model = clone(self.estimator).fit(train, train_labels, **self.arguments(fit, rows))
                fitted = monotonic() - start
            scored = monotonic()
            columns = self.request.read(model, test, test_labels, self.target)
        except Exception as error:
            if self.error_score == "raise":
                # for `explain_error`
                vars(error)["training_rows"] = rows
                raise
            seconds = np.array([[monotonic() - start, nan]])
            return FitOutput(fit.test[None], np.ones(1, dtype=bool), seconds=seconds)
        columns["seconds"] = np.array([[fitted, monotonic() - scored]])
        if "predicted" in columns:
            columns["predicted"] = self.target.encode(columns["predicted"], len(tested))
        return FitOutput(fit.test[None], np.zeros(1, dtype=bool), **columns)

    def complete(self, output: FitOutput, block: PlanBlock) -> FitOutput:
        """Return the output of a block. Fits without a solution are done one by one."""
        left = np.flatnonzero(output.failed).tolist()
        if not left:
            return replace(output, n_solved=len(output))
        # merge single fits into the output in the order of the block
        fitted = {r: self(block[r]) for r in left}
        joined = join_outputs([fitted.get(r, part) for r, part in enumerate(output)])
        return replace(joined, n_solved=len(output) - len(left))

    @cached_property
    def _plain(self) -> bool:
        """Whether samples are rows of an array, which can be indexed directly."""
        arrays = type(self.X) in (np.ndarray, np.memmap) and type(self.target.given) is np.ndarray
        return arrays and not get_tags(self.estimator).input_tags.pairwise

    def split(
        self, labels: Any, rows: np.ndarray, columns: np.ndarray | None = None
    ) -> tuple[Any, Any]:
        """Return samples and labels. For a kernel, return the columns of the training rows."""
        if self._plain:
            X = np.asarray(self.X)  # joblib maps large arrays for other processes
            # `take` is faster than an index, and gives the same memory layout
            part = X.take(rows, axis=0) if X.flags.c_contiguous else X[rows]
            return part, labels[rows]
        return _compat.safe_split(self.estimator, self.X, labels, rows, columns)


def identify(fit: Fit) -> bytes:
    """Return a key that identifies the training samples, in order, and their labels."""
    parts = (fit.train, fit.order, fit.rows)
    return b"".join(b"-" if part is None else part.tobytes() for part in parts)


def check_plan(inputs: Inputs, plan: ResamplingPlan) -> ResamplingPlan:
    """Return a plan with the weights of its folds. Raise an error for draws of a single class."""
    # resamples keep copies of samples, which are weighted one by one
    target, weighted = inputs.target, inputs.weight is not None and not plan.weighted
    weighted &= plan.single_fits or plan.shuffled
    if not (weighted or plan.single_fits):
        return plan

    def draw(fit: int) -> PlanBlock:
        block = plan.draw(fit)
        # a classifier cannot be fitted to one class
        if plan.single_fits and target.classes is not None:
            codes = target.codes[block.train[0] > 0]
            if (codes == codes[:1]).all():
                names, sizes = np.unique(target.y, return_counts=True)
                rarest, only = names.tolist()[int(sizes.argmin())], names[codes[:1]].tolist()
                what = f"class {only[0]!r} only" if only else "no sample"
                raise TooFewMembersError(
                    f"y must have two classes in each training set of method={inputs.method!r}, "
                    f"got {what} in one. Use stratified folds or, in time order, fewer folds. "
                    f"Otherwise collect more samples of class {rarest!r}, which has {sizes.min()}."
                )
        return replace(block, train=block.train * inputs.weight) if weighted else block

    return replace(plan, draw=draw, weighted=weighted)


UNKNOWN = "no solver supports this estimator"
SLOWER = "a loop is as fast as a solver for these data and this number of fits"

MAX_TRIALS, FITS_PER_TRIAL, SAMPLES_OF_TRIALS = 3, 20, 2000
"""Maximum number of trial fits, fits of the plan per trial fit, and samples of all trial fits."""

MAX_SPARE = 5
"""Number of further trial fits if the solver does none of the first ones."""

FEWEST = 5
"""Minimum number of fits of a plan for a solver, because at least one is repeated as a trial."""

MAX_TESTED = 1000
"""Number of samples that a trial fit is tested on."""


class Agreement(NamedTuple):
    """Comparison of a solver's fit with the estimator's, on all samples.

    Attributes
    ----------
    agrees : bool
        Whether they differ by no more than the tolerance of the estimator.
    share : float
        Fraction of predicted labels that differ.
    """

    agrees: bool
    share: float = 0.0


class Solver(Protocol):
    """Fits of an estimator, all fits of a block at once.

    Attributes
    ----------
    in_process : bool
        Whether blocks share work. The solver then stays in the calling process.
    """

    in_process: bool = False

    def is_faster(self, plan: ResamplingPlan) -> bool:
        """Return whether the solver is faster than a loop over the fits of a plan.

        The result depends on the sizes of the data and of the plan. Nothing is timed, so numbers
        are the same on every machine and for any `n_jobs`.
        """

    def draw_trials(self, plan: ResamplingPlan) -> list[PlanBlock] | str:
        """Return single fits to compare with the estimator, or why no solver is used.

        They are spread over repetitions and folds, and their tested samples over all samples.
        """
        n_trials = min(
            MAX_TRIALS, plan.n_fits // FITS_PER_TRIAL, SAMPLES_OF_TRIALS // plan.n_samples
        )
        # the last fit is one of them: the first fit of a permutation test has the true labels
        chosen = np.linspace(plan.n_fits - 1, 0, max(1, n_trials)).astype(int)[::-1]
        return [draw_trial(plan, fit) for fit in chosen.tolist()]

    def compare(self, block: PlanBlock, model: Any, samples: Any) -> Agreement | None:
        """Return the agreement of a single fit with its model, or None if it is not solved.

        `samples` are the tested samples.
        """

    def solve(self, block: PlanBlock) -> FitOutput:
        """Return the outputs of predict, decision_function and predict_proba.

        The estimator does the fits that are marked as failed.
        """


def draw_trial(plan: ResamplingPlan, number: int) -> PlanBlock:
    """Return a single fit of a plan, tested on a limited number of samples."""
    tested = np.zeros((1, plan.n_samples), dtype=bool)
    tested[:, :: -(-plan.n_samples // MAX_TESTED)] = True
    draw, fit = divmod(number, plan.fits_per_draw)
    return replace(plan.draw(draw).take(np.array([fit])), test=tested)


@singledispatch
def supports(estimator: Any, X: Any, target: Target, transformers: tuple) -> Solver | str:
    """Return the solver of an estimator after transformers, or the reason why there is none.

    A module of this package registers an implementation for each type of estimator. Subclasses
    and unknown parameters are never supported. The package's own estimators are registered where
    they are defined.
    """
    return UNKNOWN


@cache
def import_adapters() -> None:
    """Import all modules of adapters, so a new module need not be listed."""
    for module in iter_modules(skeval._adapters.__path__):
        import_module(f"skeval._adapters.{module.name}")


def find_solver(estimator: Any, X: Any, target: Target) -> Solver | str:
    """Return the solver of a bare estimator or of a pipeline, or why there is none."""
    import_adapters()
    if isinstance(X, np.memmap):  # joblib maps large arrays for its processes
        X = X.view(np.ndarray)
    if type(estimator) is not Pipeline:
        return supports(estimator, X, target, ())
    if estimator.memory is not None:
        return "the pipeline caches its fitted transformers (memory=)"
    *before, final = (step for _, step in estimator.steps if step not in ("passthrough", None))
    return supports(final, X, target, tuple(before))


@dataclass(eq=False, repr=False)
class BlockSolver:
    """Fits of a block by a solver. The worker does the fits that the solver leaves.

    The solver is not pickled. Each process finds its own solver from the same data.
    """

    worker: FitWorker
    solver: Solver | None = None

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"solver": None}

    @property
    def in_process(self) -> bool:
        """Whether the solver shares work between blocks, and stays in the calling process."""
        return self.solver is not None and self.solver.in_process

    def size_blocks(self, plan: ResamplingPlan) -> int:
        """Return the number of fits in a block.

        It does not depend on the workers or the number of repetitions, because batching may change
        the last digits of a solution.
        """
        elements = MAX_ELEMENTS if self.in_process else SOLVED_ELEMENTS
        size = max(FITS_OF_BLOCK, elements // plan.n_samples)
        if plan.single_fits:
            size = min(size, max(SHOWN_FITS, MAX_ELEMENTS // plan.n_samples))
        return max(size, plan.fits_per_draw)

    def __call__(self, block: PlanBlock) -> FitOutput:
        start = monotonic()
        output = self.solve(block)
        seconds = np.tile([(monotonic() - start) / len(block), nan], (len(block), 1))
        return self.worker.complete(replace(output, seconds=seconds), block)

    # The many matrix products of a block are too small to gain from several threads.
    @_compat.limit_threads(limits=1, user_api="blas")
    def solve(self, block: PlanBlock) -> FitOutput:
        """Return the requested outputs of the fits that the solver completes."""
        worker = self.worker
        if self.solver is None:
            solver = find_solver(worker.estimator, worker.X, worker.target)
            if isinstance(solver, str):
                raise RuntimeError(
                    "the solver of the main process is not available in this worker process."
                )
            self.solver = solver
        return worker.request.keep(self.solver.solve(block), block, worker.estimator, worker.target)


@_compat.limit_threads(limits=1, user_api="blas")
def try_solver(solver: Solver, worker: FitWorker, plan: ResamplingPlan) -> Solver | str:
    """Return the solver if its trial fits agree with the estimator's, or the reason for a loop."""
    agreements: list[Agreement] = []
    try:
        trials = solver.draw_trials(plan)
        if isinstance(trials, str):
            return trials
        # a solver that leaves these fits to the estimator may do others
        spare = (draw_trial(plan, n * plan.n_fits // MAX_SPARE) for n in range(MAX_SPARE))
        for place, block in enumerate(chain(trials, spare)):
            if place >= len(trials) and agreements:
                break
            fit = block[0]
            # a solver that shares work between blocks is exact, whatever the estimator warns of
            with ignored_warnings() if solver.in_process else nullcontext():
                model = worker.keep_model(fit)
            tested = worker.split(worker.target.given, np.flatnonzero(fit.test), fit.training_rows)
            agreement = solver.compare(block, model, tested[0])
            if agreement is None:
                continue
            # for shuffled labels, distance from the optimum is irrelevant to users
            shuffled = fit.order is not None and np.any(np.diff(fit.order) < 0)
            agreements.append(agreement._replace(share=0.0) if shuffled else agreement)
            if not agreement.agrees:
                break
    except Exception:  # the loop raises the same error or leaves the fit out
        return "a trial fit failed"
    if not agreements:
        return "the solver completed none of the trial fits"
    if agreements[-1].agrees:
        return solver
    # the estimator stops before its optimum
    share = max(agreement.share for agreement in agreements)
    if share > 0:
        warn_user(
            f"{type(worker.estimator).__name__} does not reach its optimum on these samples. At "
            f"the optimum, {100 * share:.1f} % of its predictions would differ. The results are "
            "for the estimator as passed. Scale the features (StandardScaler), or change tol or "
            "max_iter.",
            ConvergenceWarning,
        )
    return "the solver and the estimator gave different results in trial fits"


# --- errors of fits, with the values in X or the training set that caused them


def explain_error(error: Exception, inputs: Inputs, plan: ResamplingPlan) -> Exception:
    """Return an error that locates values in X or describes the training set, or the error."""
    explained = explain_inputs(error, inputs.X) or explain_call(error, inputs)
    if explained is not None:
        return explained
    rows = getattr(error, "training_rows", None)
    if rows is None or not plan.single_fits:
        return error
    explanation = explain_failure(inputs, rows)
    # other error types keep their type and traceback
    if type(error) is not ValueError or inputs.target.classes is None:
        error.add_note(f"skeval: {explanation}.")
        return error
    return ValueError(f"{explanation}: {error}")


def explain_failure(inputs: Inputs, rows: np.ndarray) -> str:
    """Return the size of a failed fit's training set, and its rarest or only class."""
    target = inputs.target
    explanation = f"method={inputs.method!r}: estimator failed on {len(rows)} training samples"
    if target.output_classes:
        constant = np.array(target.outputs)[np.ptp(target.codes[rows], axis=0) == 0]
        if len(constant):
            explanation += f", all with the same value of {', '.join(constant[:MAX_NAMED])}"
    if target.classes is None:
        return explanation
    sizes = np.bincount(target.codes[rows], minlength=len(target.classes))
    rarest = target.classes.tolist()[int(sizes.argmin())]
    return f"{explanation}, of which {sizes.min()} have class {rarest!r}"


def explain_call(error: Exception, inputs: Inputs) -> Exception | None:
    """Return an error that names the argument, or the estimator, behind an error of a fit."""
    text = str(error)
    for name in inputs.params or {}:
        if isinstance(error, TypeError) and f"argument '{name}'" in text:
            return TypeError(f"params must be arguments of fit, got {name!r}: {text}.")
    if "inhomogeneous shape" in text and count_dimensions(inputs.X) == 1:
        return ValueError(f"X must have rows of equal length for this estimator: {text}")
    if "should be a 1d array" in text and inputs.target.outputs:
        return ValueError(
            f"y must have one column for this estimator, got {len(inputs.target.outputs)}. "
            "If each column is a class, pass np.asarray(y).argmax(axis=1)."
        )
    return None


MAX_NAMED, MAX_QUOTED = 5, 120
NO_TEXTS = r"could not convert string|arrays of bytes/strings|Expected (2D|a 2-dim)"
"""Messages of scikit-learn's estimators about strings, or about data of one dimension."""


def explain_inputs(error: Exception, X: Any) -> Exception | None:
    """Return an error that locates the values or strings in X that made a fit fail."""
    if re.search("(?i)datetime|timestamp", str(error)) and hasattr(X, "columns"):
        dates = [repr(name) for name in X.columns if np.asarray(X[name]).dtype.kind in "Mm"]
        return TypeError(
            f"X must contain numbers for this estimator, got dates in {', '.join(dates)}. Convert "
            "them to numbers, such as days since the first date. skeval.evaluate(..., "
            "time='column') leaves a column of dates out of X and sorts the samples by it."
        )
    if not isinstance(error, ValueError):
        return None
    # missing and infinite values, which may also be in single columns
    if "contains NaN" in str(error) and (located := locate_values(X, find_missing)):
        return ValueError(
            f"X must not have missing values for this estimator, got {located}. Put SimpleImputer "
            "before it in a pipeline, or use an estimator that supports them, such as "
            "HistGradientBoostingClassifier."
        )
    if "contains infinity" in str(error) and (located := locate_values(X, find_infinite)):
        return ValueError(
            f"X must be finite for this estimator, got infinite values, {located}. Correct them, "
            "or replace them by nan and put SimpleImputer before it in a pipeline."
        )
    # a vectorizer of texts iterates over a data frame, which yields the names of the columns
    columns = list(getattr(X, "columns", ()))
    if columns and f"numbers of samples: [{len(columns)}, " in str(error):
        return ValueError(
            f"X must be one column of texts for a vectorizer, got a data frame. Pass "
            f"X[{columns[0]!r}], or put the vectorizer in a ColumnTransformer."
        )
    if re.search(NO_TEXTS, str(error)) is None:
        return None
    # texts, and the encoder for them
    if not hasattr(X, "columns"):
        columns, texts, where = [""] * has_texts(X), X, "instead of numbers"
        remedy = "OneHotEncoder" if count_dimensions(X) == 2 else "CountVectorizer"
        # one dimension of numbers is a single feature without the axis of columns
        if count_dimensions(X) == 1 and not columns:
            return ValueError(
                f"X must have two dimensions for this estimator, got the shape {np.shape(X)}. For "
                "a single feature, pass np.reshape(X, (-1, 1)), or X.to_frame() or "
                f"data[[{getattr(X, 'name', None) or 'name'!r}]] for a pandas Series."
            )
    else:
        columns = [name for name in X.columns if has_texts(X[name])]
        texts, named = X[columns], ", ".join(repr(str(name)) for name in columns)
        where = f"in the column{'s' * (len(columns) > 1)} {named}"
        remedy = "OneHotEncoder in a ColumnTransformer (TfidfVectorizer for free text)"
    if not columns:
        return None
    advice = "Convert them with X.astype(float), after replacing decimal commas with points"
    try:  # numbers as text, with a decimal point or comma
        np.char.replace(np.asarray(texts).astype(str), ",", ".").astype(float)
    except ValueError:
        advice = f"Put an encoder, such as {remedy}, before it in a pipeline"
    raised = str(error) if len(str(error)) < MAX_QUOTED else f"{str(error)[:MAX_QUOTED]} ..."
    return ValueError(
        f"X must contain numbers for this estimator, got strings {where}. {advice}. The estimator "
        f"raised: {raised}"
    )


def locate_values(X: Any, find: Callable[[np.ndarray], np.ndarray]) -> str:
    """Return the number of values of a table that `find` marks, and the names of their columns.

    The result is empty if there are no such values.
    """
    array = np.asarray(X.data if issparse(X) else X)
    marked = find(array.ravel()).reshape(array.shape)
    if not marked.any() or array.ndim != 2:
        return f"{marked.sum()}" if marked.any() else ""
    names = list(X.columns) if hasattr(X, "columns") else range(array.shape[1])
    columns = [repr(names[at]) for at in np.flatnonzero(marked.any(axis=0)).tolist()]
    more = f" and {len(columns) - MAX_NAMED} more" if len(columns) > MAX_NAMED else ""
    listed = ", ".join(columns[:MAX_NAMED])
    return f"{marked.sum()} in column{'s' * (len(columns) > 1)} {listed}{more}"


def find_infinite(values: np.ndarray) -> np.ndarray:
    """Return a mask of the infinite values of a vector."""
    if values.dtype.kind == "O":
        return np.array([isinstance(value, float) and np.isinf(value) for value in values])
    return np.isinf(values)


def has_texts(values: Any) -> bool:
    """Whether some of the values are strings."""
    array = np.asarray(values)
    return array.dtype.kind in "US" or any(isinstance(value, str) for value in array.flat)
