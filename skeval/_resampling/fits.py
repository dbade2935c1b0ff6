"""The one loop over fits: a plan in, what is read off each fitted model out, block by block."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.utils import get_tags

from skeval._resampling.adapters import (
    Adapter,
    Decisions,
    PlannedAdapter,
    adapter_of_steps,
    count_fits_of_block,
    find_adapter,
)
from skeval._resampling.jobs import open_jobs
from skeval._resampling.plan import Fit, PlanBlock, ResamplingPlan
from skeval._resampling.responses import Responses
from skeval._resampling.target import Target, permute_labels
from skeval._resampling.weights import Params, check_params, fit_arguments
from skeval.utils._checks import check_jobs, warn_user
from skeval.utils._compat import limit_threads, safe_split, threadpool_controller

__all__ = [
    "FAILED",
    "Finish",
    "FittedBlock",
    "NoFitLeftError",
    "Read",
    "make_no_decisions",
    "resampled_fits",
]

FAILED = None
"""What stands for a fit that raised, under ``error_score=numpy.nan``."""

Read = Callable[[Any, Any, Any], Any]
"""``read(model, X_test, y_test)`` takes what is wanted from a fitted model, in the worker."""


class FittedBlock(NamedTuple):
    """The fits of one block.

    Attributes
    ----------
    block : PlanBlock
    decisions : Decisions or Responses
        Of the fits that a solver did.
    findings : list of length n_fits
        What was read off the models of the other fits; `FAILED` where they failed.
    """

    block: PlanBlock
    decisions: Decisions | Responses
    findings: list[Any]

    @property
    def failed(self) -> np.ndarray:
        """The fits that failed, shape (n_fits,)."""
        missing = np.array([finding is FAILED for finding in self.findings], dtype=bool)
        return missing & ~self.decisions.solved


Finish = Callable[[FittedBlock], FittedBlock]
"""Leaves of a block of which a solver did some fits what is wanted, in the worker."""


def resampled_fits(
    estimator: Any,
    X: Any,
    target: Target,
    plan: ResamplingPlan,
    read: Read,
    *,
    adapted: bool = True,
    finish: Finish | None = None,
    first_block: int | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
    error_score: float | str = "raise",
    params: Params = None,
) -> Iterator[FittedBlock]:
    """Yield every fit of a plan.

    The generic path clones, fits and reads through `joblib.Parallel` with no backend forced.
    Where an adapter serves the estimator, and decision values are enough (`adapted`), a solver
    does each block at once and agrees with it; `finish`, if given, leaves there what is wanted of
    the decisions. A caller that may stop early gives the number of repetitions of the
    `first_block`; the number then doubles.
    """
    check_error_score(error_score)
    check_jobs(n_jobs, verbose)
    check_params(params, len(target))
    adapter = None
    tell = tell_path if verbose and plan.n_fits > 1 else str
    if not adapted or params:
        tell(f"{plan.n_fits} fits one by one: each model, or more than X and y, is asked for")
    else:
        adapter = find_adapter(estimator, X, target, plan, tell)
    fitter = Fitter(clone(estimator), X, target.given, params, target.groups, read, error_score)
    options: dict[str, Any] = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory}
    if adapter is None:
        found = fit_each(fitter, plan, first_block, options)
    else:
        solver = Solver(fitter, target, finish)
        solver.adapter = adapter
        if isinstance(adapter, PlannedAdapter):
            found = solve_here(solver, adapter.max_fits, plan, first_block, options)
        else:
            found = solve_blocks(solver, plan, first_block, options)
    n_failed = n_done = 0
    for fitted in found:
        n_failed += int(fitted.failed.sum())
        n_done += len(fitted.block)
        yield fitted
    report_failures(n_failed, n_done)


def tell_path(what: str) -> None:
    """Say on standard error how the fits are done."""
    print(f"skeval does {what}", file=sys.stderr)


def fit_each(
    fitter: "Fitter", plan: ResamplingPlan, first_block: int | None, options: dict[str, Any]
) -> Iterator[FittedBlock]:
    """Yield the fits of a plan, each of which is a job."""
    with open_jobs(fitter, total=plan.n_fits, **options) as run:
        for block, findings in run.stream(plan.blocks(first=first_block)):
            yield FittedBlock(block, make_no_decisions(block), findings)


def solve_here(
    solver: "Solver",
    max_fits: int | None,
    plan: ResamplingPlan,
    first_block: int | None,
    options: dict[str, Any],
) -> Iterator[FittedBlock]:
    """Yield the fits of a plan, of which a solver does in this process all that it can.

    Each of the others is a job.
    """
    solve = partial(solve_block, solver.adapter)
    with open_jobs(solver.fitter, total=plan.n_fits, **options) as run:
        limits = [size for size in (run.max_fits, max_fits) if size]
        for block in plan.blocks(min(limits, default=None), first_block):
            decisions = run.do_here(solve, block)
            run.advance(int(decisions.solved.sum()))
            unsolved = np.flatnonzero(~decisions.solved).tolist()
            findings = run(block[r] for r in unsolved)
            yield solver.complete(block, decisions, dict(zip(unsolved, findings, strict=True)))


def solve_blocks(
    solver: "Solver", plan: ResamplingPlan, first_block: int | None, options: dict[str, Any]
) -> Iterator[FittedBlock]:
    """Yield the fits of a plan, of which a solver does a block in each job.

    Blocks depend on the data alone: a solution may depend, in its last digits, on what is solved
    with it.
    """
    size = count_fits_of_block(plan)
    if plan.n_fits <= size:
        options = options | {"n_jobs": 1}
    blocks = ([block] for block in plan.blocks(size, first_block))
    # Jobs that are threads of this process would undo each other's limit but for this one.
    limit = threadpool_controller().limit(limits=1, user_api="blas")
    with limit, open_jobs(solver, total=plan.n_fits, blocks=True, **options) as run:
        for (block,), (found,) in run.stream(blocks):
            yield FittedBlock(block, *found)


def make_no_decisions(block: PlanBlock) -> Decisions:
    """Return the decisions of a block of which no fit is solved."""
    return Decisions(np.empty((len(block), 0)), np.zeros(len(block), dtype=bool))


@dataclass(eq=False, repr=False)
class Fitter:
    """Fits clones of an estimator and reads what is wanted off them; `FAILED` if that raises."""

    estimator: Any
    X: Any
    y: Any
    params: Params
    groups: np.ndarray | None
    read: Read
    error_score: float | str

    def __call__(self, fit: Fit) -> Any:
        rows, tested = fit.training_rows, np.flatnonzero(fit.test)
        labels = permute_labels(self.y, fit.order)
        model = clone(self.estimator)
        train, train_labels = self._split(labels, rows)
        test, test_labels = self._split(labels, tested, rows)
        arguments = fit_arguments(model, self.X, self.params, fit.weights, self.groups, rows)
        try:
            model.fit(train, train_labels, **arguments)
            return self.read(model, test, test_labels)
        except Exception as error:
            if self.error_score == "raise":
                # for whoever knows the plan to say which fit it was
                vars(error)["training_rows"] = rows
                raise
            return FAILED

    @cached_property
    def _plain(self) -> bool:
        """Whether rows of samples are rows of an array, of which nothing need be asked."""
        arrays = type(self.X) in (np.ndarray, np.memmap) and type(self.y) is np.ndarray
        return arrays and not get_tags(self.estimator).input_tags.pairwise

    def _split(
        self, labels: Any, rows: np.ndarray, columns: np.ndarray | None = None
    ) -> tuple[Any, Any]:
        """Return some samples and their labels; of kernels, the columns of the training rows."""
        if self._plain:
            return take_rows(self.X, rows), labels[rows]
        parts: tuple[Any, Any] = safe_split(self.estimator, self.X, labels, rows, columns)
        return parts


def take_rows(X: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return rows in the layout of memory that indexing gives them, which `take` does sooner."""
    X = np.asarray(X)  # not a memmap, what joblib makes of it for other processes
    return X.take(rows, axis=0) if X.flags.c_contiguous else X[rows]


@dataclass(eq=False, repr=False)
class Solver:
    """Does the fits of a block by an adapter; those that it leaves, one by one.

    The adapter does not travel: a worker makes its own of the same data.
    """

    fitter: Fitter
    target: Target
    finish: Finish | None

    @cached_property
    def adapter(self) -> Adapter:
        """What solves blocks."""
        adapter = adapter_of_steps(self.fitter.estimator, self.fitter.X, self.target)
        if adapter is None:
            raise RuntimeError("no adapter serves in this process what is served in the main one.")
        return adapter

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "adapter"}

    def __call__(self, block: PlanBlock) -> tuple[Decisions | Responses, list[Any]]:
        decisions = solve_block(self.adapter, block)
        unsolved = np.flatnonzero(~decisions.solved).tolist()
        fitted = self.complete(block, decisions, {r: self.fitter(block[r]) for r in unsolved})
        return fitted.decisions, fitted.findings

    def complete(
        self, block: PlanBlock, decisions: Decisions | Responses, found: dict[int, Any]
    ) -> FittedBlock:
        """Return a block, of which `found` is read off the models that the solver left."""
        findings = [found.get(r, FAILED) for r in range(len(block))]
        fitted = FittedBlock(block, decisions, findings)
        if self.finish is not None and decisions.solved.any():
            fitted = self.finish(fitted)
        return fitted


# The many matrix products of a block are too small to gain from several threads.
@limit_threads(limits=1, user_api="blas")
def solve_block(adapter: Adapter, block: PlanBlock) -> Decisions | Responses:
    """Return the decisions, or the responses, of a block."""
    return adapter(block)


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
