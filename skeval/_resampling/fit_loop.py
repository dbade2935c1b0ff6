"""The loop over the fits of a plan, which yields their outputs block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from sklearn.exceptions import FitFailedWarning

from skeval._resampling.fit_outputs import FitOutput, join_outputs
from skeval._resampling.fit_worker import FitWorker
from skeval._resampling.jobs import open_jobs
from skeval._resampling.plans import PlanBlock, ResamplingPlan
from skeval.utils._checks import warn_user
from skeval.utils._compat import threadpool_controller

Outputs = Iterator[tuple[PlanBlock, FitOutput]]
"""The blocks of a plan, each with the outputs of its fits."""


class Solver(Protocol):
    """Fits a block at once; the layer above chooses it and passes it to `run_plan`.

    Attributes
    ----------
    max_fits : int or None
        Maximum number of fits in a block, if it reuses work between blocks: it then stays in the
        calling process.
    """

    max_fits: int | None

    def solve(self, block: PlanBlock) -> FitOutput:
        """Return the outputs of a block; fits without a solution are marked as failed."""

    def __call__(self, block: PlanBlock) -> FitOutput:
        """Return the outputs of a block; the estimator does the fits without a solution."""


def run_plan(
    plan: ResamplingPlan,
    worker: FitWorker,
    options: dict[str, Any],
    *,
    solver: Solver | None = None,
    first_block: int | None = None,
) -> Outputs:
    """Yield each block of a plan with the outputs of its fits.

    The solver fits a block at once. Fits that it cannot solve, and all fits without a solver, clone
    and fit the estimator in joblib workers. The first block has at most `first_block` draws, for a
    caller that may stop early; each further block is as large as all blocks before it. `options`
    are the number of jobs, verbosity and memory.
    """
    n_failed = n_done = 0  # a caller that stops early skips the report of failures
    for block, output in do_fits(plan, worker, options, solver, first_block):
        n_failed += int(output.failed.sum())
        n_done += len(output)
        yield block, output
    if n_failed == n_done:
        raise NoFitLeftError(
            f"all {n_done} fits failed; error_score='raise' shows the first error."
        )
    if n_failed:
        warn_user(
            f"{n_failed} of {n_done} fits failed and are left out of the estimate; "
            "error_score='raise' shows the first error.",
            FitFailedWarning,
        )


def do_fits(
    plan: ResamplingPlan,
    worker: FitWorker,
    options: dict[str, Any],
    solver: Solver | None,
    first_block: int | None,
) -> Outputs:
    """Yield the blocks of a plan, done fit by fit, by a solver here, or by one in each worker."""
    if solver is None:
        # a job is one fit; fits with names are handed out as soon as they are done
        blocks = plan.blocks(None if plan.describe is None else 1, first_block)
        with open_jobs(worker, total=plan.n_fits, **options) as jobs:
            for block, outputs in jobs.stream(blocks):
                yield block, join_outputs(outputs)
    elif solver.max_fits is not None:
        # a job is a fit without a solution
        with open_jobs(worker, total=plan.n_fits, **options) as jobs:
            # blocks are stored and shown whole, so their size is limited
            limits = [size for size in (jobs.max_fits, solver.max_fits) if size]
            for block in plan.blocks(min(limits, default=None), first_block):
                output = jobs.do_here(solver.solve, block)
                jobs.advance(int(np.sum(~output.failed)))
                yield block, worker.complete(output, block, jobs)
    else:
        # a job is a block; a single block is not worth a second process
        size = count_fits_of_block(plan, shown=plan.describe is not None)
        if plan.n_fits <= size:
            options = options | {"n_jobs": 1}
        # jobs in threads of this process would undo each other's limit
        one_thread = threadpool_controller().limit(limits=1, user_api="blas")
        with one_thread, open_jobs(solver, total=plan.n_fits, blocks=True, **options) as jobs:
            for block, (output,) in jobs.stream(plan.blocks(size, first_block)):
                yield block, output


class NoFitLeftError(ValueError):
    """All fits of a plan failed under ``error_score=numpy.nan``."""


FITS_OF_BLOCK = 256
"""Minimum number of fits in a block for a solver.

With fewer, the pilot fits, whose number is constant, would cost too much.
"""

SOLVED_ELEMENTS = 2**16
"""Elements of a (fits, n_samples) array; a block of at most this size is not divided."""

SHOWN_FITS, SHOWN_ELEMENTS = 10, 2**18
"""If fits are returned one by one, a block has at least this many fits, enough for an interval, and
at most this many elements. It takes about a second, the work that Ctrl-C loses."""


def count_fits_of_block(plan: ResamplingPlan, *, shown: bool = False) -> int:
    """Return the number of fits in a block for a solver; fewer if single fits are `shown`.

    It does not depend on the workers or the number of repetitions: batching may change the last
    digits of a solution.
    """
    fits = max(FITS_OF_BLOCK, SOLVED_ELEMENTS // plan.n_samples)
    if shown:
        fits = min(fits, max(SHOWN_FITS, SHOWN_ELEMENTS // plan.n_samples))
    return max(fits, plan.fits_per_draw)
