"""The loop over fits: a plan goes in, the outputs of its fits come out, block by block."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.utils import get_tags

from skeval._resampling.fit_outputs import FitOutput, join_outputs
from skeval._resampling.fit_params import Params, fit_arguments
from skeval._resampling.fit_request import FitRequest
from skeval._resampling.inputs import Inputs
from skeval._resampling.jobs import Jobs, open_jobs
from skeval._resampling.plans import Fit, PlanBlock, ResamplingPlan
from skeval._resampling.progress import tell
from skeval._resampling.solvers import (
    Adapter,
    CostedAdapter,
    NoSolver,
    PlannedAdapter,
    adapter_of_steps,
)
from skeval._resampling.target import Target, TooFewMembersError, permute_labels
from skeval._resampling.trials import choose_solver, solve_block
from skeval.metrics._scorers import read_scoring
from skeval.utils._checks import find_missing, warn_user
from skeval.utils._compat import safe_split, threadpool_controller

NO_MISSING, MAX_NAMED = "contains NaN", 5
NO_TEXTS = "could not convert string|arrays of bytes/strings|Expected 2D array, got 1D array"
"""What scikit-learn's estimators say of texts."""

Outputs = Iterator[tuple[PlanBlock, FitOutput]]
"""The blocks of a plan, each with what its fits answer."""

Scores = float | dict[str, float]


def run_plan(
    inputs: Inputs,
    plan: ResamplingPlan,
    request: FitRequest | None = None,
    *,
    first_block: int | None = None,
) -> Outputs:
    """Yield each block of a plan with the outputs of its fits: predictions, by default.

    A solver, if one supports the estimator, fits a block at once. Fits that it leaves, and all
    fits without a solver, clone and fit the estimator in joblib workers. The first block has at
    most `first_block` draws, for a caller that may stop early; each block then doubles those
    before it. Fits with names are handed out as soon as they are done. Fits that the inputs have
    as finished are not run again.
    """
    if inputs.finished:
        yield from inputs.finished
        return
    request = FitRequest(inputs.asked) if request is None else request
    check_error_score(inputs.error_score)
    checked = plan if plan.describe is None else check_plan(inputs, plan)
    worker = make_worker(inputs, checked, request)
    try:
        adapter = find_adapter(inputs, checked, request, worker=worker)
    except ValueError as error:
        raise explain_inputs(error, inputs.X) or error from error
    n_failed = n_done = n_solved = 0
    with naming_the_fit(inputs, plan):
        for block, output in fit_blocks(worker, adapter, checked, first_block, inputs.run_options):
            n_failed += int(output.failed.sum())
            n_done += len(output)
            n_solved += output.n_solved
            if inputs.finished is not None:
                inputs.finished.append((block, output))
            yield block, output
    if adapter is not None and reports_progress(inputs, plan):
        rest = "" if n_solved == n_done else f", {n_done - n_solved} one by one"
        tell(f"skeval used a solver for {n_solved} fits{rest}")
    report_failures(n_failed, n_done)


def fit_blocks(
    worker: FitWorker,
    adapter: Adapter | None,
    plan: ResamplingPlan,
    first_block: int | None,
    options: dict[str, Any],
) -> Outputs:
    """Yield the blocks of a plan with their outputs.

    A job is one fit, or a block where a solver travels to the workers. A solver that keeps what it
    learns of a plan stays in this process, and the fits that it leaves are jobs. The block size
    depends only on the data, because batching changes the last digits.
    """
    named = plan.describe is not None
    if isinstance(adapter, PlannedAdapter):
        with open_jobs(worker, total=plan.n_fits, **options) as jobs:
            limits = [size for size in (jobs.max_fits, adapter.max_fits) if size]
            solver = Solver(worker)
            solver.adapter = adapter
            for block in plan.blocks(min(limits, default=None), first_block):
                output = jobs.do_here(solver.solve, block)
                jobs.advance(int(np.sum(~output.failed)))
                yield block, complete(worker, output, block, jobs)
        return
    job: Any = worker
    blocks, threads = plan.blocks(1 if named else None, first_block), nullcontext()
    if adapter is not None:
        job = Solver(worker, getattr(adapter, "noise", 0.0))
        job.adapter = adapter
        size = count_fits_of_block(plan, shown=named)
        blocks = plan.blocks(size, first_block)
        # Jobs that are threads of this process would undo each other's limit but for this one.
        threads = threadpool_controller().limit(limits=1, user_api="blas")
        if plan.n_fits <= size:
            options = options | {"n_jobs": 1}
    with threads, open_jobs(job, total=plan.n_fits, blocks=adapter is not None, **options) as jobs:
        for block, outputs in jobs.stream(blocks):
            yield block, join_outputs(outputs)


def find_adapter(
    inputs: Inputs,
    plan: ResamplingPlan,
    request: FitRequest,
    times: float = 1.0,
    worker: FitWorker | None = None,
) -> Adapter | None:
    """Return what does a plan faster than a loop, None if nothing does; say so if asked.

    It must be faster by `times` at least. The models of trial fits are kept by the worker.
    """
    adapter: Adapter | NoSolver = NoSolver("the call requires each model, or more than X and y")
    if not inputs.params_under(plan) and request.need_no_model(inputs):
        adapter = inputs.adapter
        if not isinstance(adapter, NoSolver):
            worker = worker or make_worker(inputs, plan, request)
            adapter = choose_solver(adapter, worker, plan, times)
    if not isinstance(adapter, NoSolver):
        return adapter
    if reports_progress(inputs, plan):
        tell(f"skeval runs {plan.n_fits} fits one by one: {adapter.why}")
    return None


def reports_progress(inputs: Inputs, plan: ResamplingPlan) -> bool:
    """Whether the progress of the fits of a plan is shown to the user."""
    return bool(inputs.verbose) and plan.n_fits > 1


def is_served(
    inputs: Inputs, plan: ResamplingPlan, scoring: Any = None, times: float = 1.0
) -> bool:
    """Whether a solver runs a plan, for predictions or for scores.

    It must be faster than the loop by `times` at least.
    """
    request = FitRequest() if scoring is None else ask_scores(inputs, scoring)
    return find_adapter(inputs.with_options(verbose=0), plan, request, times) is not None


@dataclass(eq=False, repr=False)
class FitWorker:
    """Fits clones of an estimator and asks them; under ``error_score=numpy.nan`` fits may fail."""

    estimator: Any
    X: Any
    target: Target
    params: Params
    request: FitRequest
    error_score: float | str
    models: dict[bytes, Any] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"models": {}}  # results do not depend on them

    def keep_model(self, fit: Fit) -> Any:
        """Return the model of a trial fit; it is kept, so that no loop fits it again."""
        key = identify(fit)
        if key not in self.models:
            rows = fit.training_rows
            labels = permute_labels(self.target.given, fit.order)
            self.models[key] = self._fit(fit, rows, *self._split(labels, rows))
        return self.models[key]

    def read_samples(self, fit: Fit) -> Any:
        """Return all samples as the model of a fit takes them."""
        return self._split(self.target.given, np.arange(len(self.target)), fit.training_rows)[0]

    def _fit(self, fit: Fit, rows: np.ndarray, train: Any, train_labels: Any) -> Any:
        """Return a clone of the estimator, fitted."""
        model = clone(self.estimator)
        groups = self.target.groups
        arguments = fit_arguments(model, self.X, self.params, fit.weights, groups, rows)
        return model.fit(train, train_labels, **arguments)

    def __call__(self, fit: Fit) -> FitOutput:
        rows, tested = fit.training_rows, np.flatnonzero(fit.test)
        labels = permute_labels(self.target.given, fit.order)
        train, train_labels = self._split(labels, rows)
        test, test_labels = self._split(labels, tested, rows)
        model = self.models.get(identify(fit)) if self.models else None
        try:
            if model is None:
                model = self._fit(fit, rows, train, train_labels)
            output = self.request.read(model, test, test_labels, self.target)
        except Exception as error:
            if self.error_score == "raise":
                explained = explain_inputs(error, self.X)
                if explained is not None:
                    raise explained from error
                # for whoever knows the plan to say which fit it was
                vars(error)["training_rows"] = rows
                raise
            return FitOutput(fit.test[None], np.ones(1, dtype=bool))
        if "predicted" in output:
            output["predicted"] = self.target.encode(output["predicted"], len(tested))
        return FitOutput(fit.test[None], np.zeros(1, dtype=bool), **output)

    @cached_property
    def _plain(self) -> bool:
        """Whether samples are rows of an array, which can be indexed directly."""
        arrays = type(self.X) in (np.ndarray, np.memmap) and type(self.target.given) is np.ndarray
        return arrays and not get_tags(self.estimator).input_tags.pairwise

    def _split(
        self, labels: Any, rows: np.ndarray, columns: np.ndarray | None = None
    ) -> tuple[Any, Any]:
        """Return some samples and their labels; of kernels, the columns of the training rows."""
        if self._plain:
            return take_rows(self.X, rows), labels[rows]
        parts: tuple[Any, Any] = safe_split(self.estimator, self.X, labels, rows, columns)
        return parts


def make_worker(inputs: Inputs, plan: ResamplingPlan, request: FitRequest) -> FitWorker:
    """Return the worker that fits a plan; it shares the models of trial fits with the inputs."""
    params = inputs.params_under(plan)
    models = {} if params else inputs.trial_models
    estimator = clone(inputs.estimator)
    return FitWorker(
        estimator, inputs.X, inputs.target, params, request, inputs.error_score, models
    )


def identify(fit: Fit) -> bytes:
    """Return a key of the training samples and their labels."""
    return fit.train.tobytes() + (b"" if fit.order is None else fit.order.tobytes())


def explain_inputs(error: Exception, X: Any) -> Exception | None:
    """Return an error that locates the missing values or texts in X that made a fit fail."""
    if not isinstance(error, ValueError):
        return None
    if NO_MISSING in str(error):
        return _explain_missing(X)
    if re.search(NO_TEXTS, str(error)) is None:
        return None
    if hasattr(X, "columns"):
        held = [str(name) for name in X.columns if holds_texts(X[name])]
        what = f"in the column{'s' * (len(held) > 1)} {', '.join(map(repr, held))}"
        remedy = "OneHotEncoder in a ColumnTransformer"
    else:
        held, what = [""] * holds_texts(X), "instead of numbers"
        remedy = "OneHotEncoder" if np.ndim(X) == 2 else "CountVectorizer"
    if not held:
        return None
    return ValueError(
        f"X must hold numbers for this estimator, got texts {what}; put what turns them into "
        f"numbers, such as {remedy}, before it in a pipeline. It said: {error}"
    )


def _explain_missing(X: Any) -> Exception | None:
    """Return an error that counts the missing values of a table, and names its columns."""
    array = np.asarray(X) if not issparse(X) else X.data
    missing = find_missing(array.ravel()).reshape(array.shape)
    n_missing = int(np.sum(missing))
    if not n_missing:
        return None
    where = ""
    if array.ndim == 2:
        positions = np.flatnonzero(missing.any(axis=0)).tolist()
        names = list(X.columns) if hasattr(X, "columns") else range(array.shape[1])
        held = [repr(names[position]) for position in positions]
        more = f" and {len(held) - MAX_NAMED} more" if len(held) > MAX_NAMED else ""
        where = f" in column{'s' * (len(held) > 1)} {', '.join(held[:MAX_NAMED])}{more}"
    return ValueError(
        f"X must not hold missing values for this estimator, got {n_missing}{where}; put "
        "SimpleImputer before it in a pipeline, or use an estimator that takes them, such as "
        "HistGradientBoostingClassifier."
    )


def holds_texts(values: Any) -> bool:
    """Whether there is a text among some values."""
    array = np.asarray(values)
    return array.dtype.kind in "US" or any(isinstance(each, str) for each in array.flat)


def take_rows(X: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return rows in the layout of memory that indexing gives them, which `take` does sooner."""
    X = np.asarray(X)  # not a memmap, what joblib makes of it for other processes
    return X.take(rows, axis=0) if X.flags.c_contiguous else X[rows]


@dataclass(eq=False, repr=False)
class Solver:
    """Does the fits of a block by an adapter; those that it leaves, one by one.

    The adapter does not travel: a worker makes its own of the same data.
    """

    worker: FitWorker
    noise: float = 0.0

    @cached_property
    def adapter(self) -> Adapter:
        """What solves blocks."""
        adapter = adapter_of_steps(self.worker.estimator, self.worker.X, self.worker.target)
        if adapter is None:
            raise RuntimeError(
                "the solver used by the main process is not available in this worker process."
            )
        if isinstance(adapter, CostedAdapter):
            adapter.noise = self.noise
        return adapter

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "adapter"}

    def __call__(self, block: PlanBlock) -> FitOutput:
        return complete(self.worker, self.solve(block), block)

    def solve(self, block: PlanBlock) -> FitOutput:
        """Return what the adapter answers of what is asked for."""
        worker = self.worker
        output = solve_block(self.adapter, block)
        if output.failed.all():
            return FitOutput(block.test, output.failed)
        return worker.request.keep(output, block, worker.estimator, worker.target)


def complete(
    worker: FitWorker, output: FitOutput, block: PlanBlock, run: Jobs | None = None
) -> FitOutput:
    """Return the output of a block with the fits that a solver left, done one by one."""
    left = np.flatnonzero(output.failed).tolist()
    if not left:
        return replace(output, n_solved=len(output))
    fits = [block[r] for r in left]
    fitted = dict(zip(left, map(worker, fits) if run is None else run(fits), strict=True))
    joined = join_outputs([fitted.get(r, part) for r, part in enumerate(output)])
    return replace(joined, n_solved=len(output) - len(left))


def score_plan(
    inputs: Inputs,
    plan: ResamplingPlan,
    scoring: Any,
    *,
    first_block: int | None = None,
    several: bool = False,
) -> Iterator[list[Scores]]:
    """Yield, block by block, the mean score over the fits of each repetition, by metric.

    Unless there may be several scores, `scoring` must give one number.
    """
    for _, output in run_plan(inputs, plan, ask_scores(inputs, scoring), first_block=first_block):
        several_found = next((each for each in output.scores or () if isinstance(each, dict)), {})
        if several_found and not several:
            raise TypeError(
                "scoring must give one number here, got a dict with "
                f"{', '.join(map(repr, several_found))}."
            )
        yield mean_scores(output, plan.fits_per_draw)


def ask_scores(inputs: Inputs, scoring: Any) -> FitRequest:
    """Return what asks for nothing but the scores that an argument `scoring` names."""
    return FitRequest((), read_scoring(inputs.estimator, scoring), scoring)


def mean_scores(output: FitOutput, fits_per_draw: int) -> list[Scores]:
    """Return the mean over the fits of each repetition, of each metric if there are several.

    It is over the fits that did not fail, and nan where all did.
    """
    scores = output.scores or [None] * len(output)
    starts = range(0, len(scores), fits_per_draw)
    return [mean_score(scores[start : start + fits_per_draw]) for start in starts]


def mean_score(scores: list[Any]) -> Scores:
    """Return the mean of the scores that there are, of each metric if there are several."""
    scores = [score for score in scores if score is not None]
    if not scores:
        return np.nan
    if isinstance(scores[0], dict):
        return {name: float(np.mean([score[name] for score in scores])) for name in scores[0]}
    return float(np.mean(scores))


def check_error_score(error_score: float | str) -> None:
    """Raise unless `error_score` is "raise" or nan."""
    raises = isinstance(error_score, str) and error_score == "raise"
    if not raises and not (isinstance(error_score, Real) and np.isnan(error_score)):
        raise ValueError(f"error_score must be 'raise' or numpy.nan, got {error_score!r}.")


class NoFitLeftError(ValueError):
    """All fits of a plan failed under ``error_score=numpy.nan``."""


def report_failures(n_failed: int, n_fits: int) -> None:
    """Warn of fits that failed; raise when none is left."""
    if n_failed == n_fits:
        raise NoFitLeftError(
            f"all {n_fits} fits failed; error_score='raise' shows the first error."
        )
    if n_failed:
        warn_user(
            f"{n_failed} of {n_fits} fits failed and are left out of the estimate; "
            "error_score='raise' shows the first error.",
            FitFailedWarning,
        )


FITS_OF_BLOCK = 256
"""Smallest number of fits in a block for a solver; with many samples, more bring little.

With fewer, the pilot fits, whose number is constant, would cost too much.
"""

SOLVED_ELEMENTS = 2**16
"""Elements of a (fits, n_samples) array, up to which a block costs little and is not divided."""

SHOWN_FITS, SHOWN_ELEMENTS = 10, 2**18
"""If fits are returned one by one, a block has at least this many fits, enough for an interval, and
at most this many elements: it takes about a second, which is what Ctrl-C loses."""


def count_fits_of_block(plan: ResamplingPlan, *, shown: bool = False) -> int:
    """Return how many fits of a plan a solver is given at once, fewer where each is `shown`.

    Neither the workers nor the number of repetitions are asked: a solution may depend, in its
    last digits, on what is solved with it.
    """
    fits = max(FITS_OF_BLOCK, SOLVED_ELEMENTS // plan.n_samples)
    if shown:
        fits = min(fits, max(SHOWN_FITS, SHOWN_ELEMENTS // plan.n_samples))
    return max(fits, plan.fits_per_draw)


def fit_each(
    inputs: Inputs, plan: ResamplingPlan, request: FitRequest | None = None
) -> Iterator[FitOutput | None]:
    """Yield the output of each fit, None where it failed; a request gets scores of classes, too."""
    if request is not None:
        request = request.and_scores_of_classes(inputs.estimator, inputs.target)
    for _, outputs in run_plan(inputs, plan, request):
        for output in outputs:
            yield None if output.failed[0] else output


def score_each(inputs: Inputs, plan: ResamplingPlan, scoring: Any) -> list[Any]:
    """Return the score of each fit, nan where it failed."""
    parts = score_plan(inputs, plan, scoring, several=not callable(scoring))
    return [score for part in parts for score in part]


def check_plan(inputs: Inputs, plan: ResamplingPlan) -> ResamplingPlan:
    """Return the plan with weights; it raises for a training set with one class only."""
    target, describe = inputs.target, plan.describe
    assert describe is not None

    def draw(fit: int) -> PlanBlock:
        block = plan.draw(fit)
        (train,) = block.train
        if target.classes is not None:
            codes = target.codes[train > 0]
            if np.all(codes == codes[:1]):
                raise TooFewMembersError(explain_one_class(inputs, describe(fit), codes))
        if inputs.weight is None:
            return block
        return PlanBlock(block.train * inputs.weight, block.test)

    return replace(plan, draw=draw, weighted=inputs.weight is not None)


def explain_one_class(inputs: Inputs, which: str, codes: np.ndarray) -> str:
    """Say which training set has lost a class."""
    names, sizes = np.unique(inputs.target.y, return_counts=True)
    rarest, left = names.tolist()[int(sizes.argmin())], np.unique(codes)
    what = f"class {names.tolist()[left[0]]!r} only" if len(left) else "no sample"
    return (
        f"y has too few samples of class {rarest!r}, {sizes.min()}, for "
        f"method={inputs.method!r}: the training set {which} holds {what}."
    )


@contextmanager
def naming_the_fit(inputs: Inputs, plan: ResamplingPlan) -> Iterator[None]:
    """Let the error of a fit say which fit it was, and which class was rare there."""
    try:
        yield
    except Exception as error:
        rows = getattr(error, "training_rows", None)
        if rows is None or plan.describe is None:
            raise
        explanation = explain_failure(inputs, plan, np.asarray(rows))
        if type(error) is not ValueError or inputs.target.classes is None:
            error.add_note(f"skeval: {explanation}.")
            raise
        raise ValueError(f"{explanation}: {error}") from error


def explain_failure(inputs: Inputs, plan: ResamplingPlan, rows: np.ndarray) -> str:
    """Say which fit has this training set, and how many members its smallest class has."""
    assert plan.describe is not None
    counts = np.bincount(rows, minlength=len(inputs.target))
    fits = range(plan.n_fits)
    fit = next(f for f in fits if np.array_equal(plan.draw(f).train[0], counts))
    explanation = f"method={inputs.method!r}: estimator failed {plan.describe(fit)}"
    if inputs.target.classes is None:
        return explanation
    sizes = np.bincount(inputs.target.codes[rows], minlength=len(inputs.target.classes))
    rarest = inputs.target.classes.tolist()[int(sizes.argmin())]
    return f"{explanation}, where class {rarest!r} has {sizes.min()} of {len(rows)} samples"
