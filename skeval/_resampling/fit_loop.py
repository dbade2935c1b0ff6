"""The loop over fits: a plan goes in, the outputs of its fits come out, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from sklearn.exceptions import FitFailedWarning

from skeval._resampling.fit_outputs import FitOutput, join_outputs
from skeval._resampling.fit_request import FitRequest
from skeval._resampling.fit_worker import FitWorker, explain_inputs, make_worker
from skeval._resampling.inputs import Inputs
from skeval._resampling.jobs import Jobs, open_jobs
from skeval._resampling.plans import PlanBlock, ResamplingPlan
from skeval._resampling.progress import tell
from skeval._resampling.solvers import Adapter, CostedAdapter, PlannedAdapter, adapter_of_steps
from skeval._resampling.target import TooFewMembersError
from skeval._resampling.trials import find_adapter, reports_progress, solve_block
from skeval.utils._checks import warn_user
from skeval.utils._compat import threadpool_controller

Outputs = Iterator[tuple[PlanBlock, FitOutput]]
"""The blocks of a plan, each with the outputs of its fits."""

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
    before it. Fits with names are handed out as soon as they are done. Fits in `inputs.finished`
    are not run again.
    """
    if inputs.finished:
        yield from inputs.finished
        return
    request = FitRequest(inputs.asked) if request is None else request
    check_error_score(inputs.error_score)
    checked = plan if plan.describe is None else check_plan(inputs, plan)
    worker = make_worker(inputs, checked, request)
    try:
        adapter = find_adapter(inputs, worker, checked)
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

    A job is one fit, or a block if a solver works in the workers. The block size depends only on
    the data, because batching changes the last digits.
    """
    named = plan.describe is not None
    if isinstance(adapter, PlannedAdapter):
        # this adapter reuses work between blocks, so only the fits that it cannot do become jobs
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
        # jobs in threads of this process would undo each other's limit
        threads = threadpool_controller().limit(limits=1, user_api="blas")
        if plan.n_fits <= size:
            options = options | {"n_jobs": 1}
    with threads, open_jobs(job, total=plan.n_fits, blocks=adapter is not None, **options) as jobs:
        for block, outputs in jobs.stream(blocks):
            yield block, join_outputs(outputs)


@dataclass(eq=False, repr=False)
class Solver:
    """Does the fits of a block by an adapter, and those that it leaves one by one.

    The adapter is not pickled: each worker makes its own from the same data.
    """

    worker: FitWorker
    noise: float = 0.0

    @cached_property
    def adapter(self) -> Adapter:
        """The adapter of the estimator."""
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
        """Return the requested outputs of the fits that the adapter completes."""
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
    request = FitRequest.for_scores(inputs.estimator, scoring)
    for _, output in run_plan(inputs, plan, request, first_block=first_block):
        scores = output.scores or [None] * len(output)
        several_given = next((score for score in scores if isinstance(score, dict)), {})
        if several_given and not several:
            raise TypeError(
                "scoring must give one number here, got a dict with "
                f"{', '.join(map(repr, several_given))}."
            )
        starts = range(0, len(scores), plan.fits_per_draw)
        yield [mean_score(scores[start : start + plan.fits_per_draw]) for start in starts]


def mean_score(scores: list[Any]) -> Scores:
    """Return the mean over the fits that did not fail, by metric if there are several."""
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
"""Minimum number of fits in a block for a solver.

With fewer, the pilot fits, whose number is constant, would cost too much.
"""

SOLVED_ELEMENTS = 2**16
"""Elements of a (fits, n_samples) array; a block of at most this size is not divided."""

SHOWN_FITS, SHOWN_ELEMENTS = 10, 2**18
"""If fits are returned one by one, a block has at least this many fits, enough for an interval, and
at most this many elements: it takes about a second, which is what Ctrl-C loses."""


def count_fits_of_block(plan: ResamplingPlan, *, shown: bool = False) -> int:
    """Return the number of fits in a block for a solver; fewer if single fits are `shown`.

    It does not depend on the workers or the number of repetitions: batching may change the last
    digits of a solution.
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
    """Return the message about a training set of one class."""
    names, sizes = np.unique(inputs.target.y, return_counts=True)
    rarest, left = names.tolist()[int(sizes.argmin())], np.unique(codes)
    what = f"class {names.tolist()[left[0]]!r} only" if len(left) else "no sample"
    return (
        f"y has too few samples of class {rarest!r}, {sizes.min()}, for "
        f"method={inputs.method!r}: the training set {which} holds {what}."
    )


@contextmanager
def naming_the_fit(inputs: Inputs, plan: ResamplingPlan) -> Iterator[None]:
    """Name the fit in the error of a fit, with the size of its rarest class."""
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
    """Return the name of the fit with this training set, and the size of its rarest class."""
    assert plan.describe is not None
    counts = np.bincount(rows, minlength=len(inputs.target))
    fits = range(plan.n_fits)
    fit = next(f for f in fits if np.array_equal(plan.draw(f).train[0], counts))
    explanation = f"method={inputs.method!r}: estimator failed {plan.describe(fit)}"
    if inputs.target.output_classes:
        trained = inputs.target.codes[rows]
        constant = np.array(inputs.target.outputs)[np.ptp(trained, axis=0) == 0]
        if len(constant):
            explanation += f", whose samples all have the same value of {', '.join(constant[:5])}"
    if inputs.target.classes is None:
        return explanation
    sizes = np.bincount(inputs.target.codes[rows], minlength=len(inputs.target.classes))
    rarest = inputs.target.classes.tolist()[int(sizes.argmin())]
    return f"{explanation}, where class {rarest!r} has {sizes.min()} of {len(rows)} samples"
