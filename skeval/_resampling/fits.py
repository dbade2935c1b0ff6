"""The one loop over fits: a plan in, what is read off each fitted model out, block by block."""

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning

from skeval._resampling.adapters import Adapter, Decisions, find_adapter
from skeval._resampling.jobs import open_jobs
from skeval._resampling.plan import PlanBlock, ResamplingPlan
from skeval._resampling.responses import Responses
from skeval._resampling.target import Target, permute_labels
from skeval._resampling.weights import Params, check_params, fit_arguments
from skeval.utils._checks import warn_user
from skeval.utils._compat import limit_threads, safe_split

__all__ = ["FAILED", "FittedBlock", "NoFitLeftError", "Read", "resampled_fits"]

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


def resampled_fits(
    estimator: Any,
    X: Any,
    target: Target,
    plan: ResamplingPlan,
    read: Read,
    *,
    adapted: bool = True,
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
    does each block at once and agrees with it. A caller that may stop early gives the number of
    repetitions of the `first_block`; the number then doubles.
    """
    check_error_score(error_score)
    check_params(params, len(target))
    adapter = None
    tell = tell_path if verbose and plan.n_fits > 1 else str
    if not adapted or params:
        tell(f"{plan.n_fits} fits one by one: each model, or more than X and y, is asked for")
    else:
        adapter = find_adapter(estimator, X, target, plan, tell)
    options: dict[str, Any] = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory}
    task = clone(estimator), X, target.given, params, read, error_score
    n_failed = n_done = 0
    with open_jobs(fit_and_read, *task, total=plan.n_fits, **options) as run:
        for block in plan.blocks(run.max_batch if adapter else None, first_block):
            decisions: Decisions | Responses = make_no_decisions(block)
            if adapter is not None:
                decisions = run.batch(partial(solve_block, adapter), block)
                run.parallel.advance(int(decisions.solved.sum()))
            findings: list[Any] = [None] * len(block)
            unsolved = np.flatnonzero(~decisions.solved)
            for r, finding in zip(unsolved, run(list_fits(block, unsolved)), strict=True):
                findings[r] = finding
            fitted = FittedBlock(block, decisions, findings)
            n_failed += int(fitted.failed.sum())
            n_done += len(block)
            yield fitted
    report_failures(n_failed, n_done)


def tell_path(what: str) -> None:
    """Say on standard error how the fits are done."""
    print(f"skeval does {what}", file=sys.stderr)


# The many matrix products of a block are too small to gain from several threads.
@limit_threads(limits=1, user_api="blas")
def solve_block(adapter: Adapter, block: PlanBlock) -> Decisions | Responses:
    """Return the decisions, or the responses, of a block."""
    return adapter(block)


def make_no_decisions(block: PlanBlock) -> Decisions:
    """Return the decisions of a block of which no fit is solved."""
    return Decisions(np.empty((len(block), 0)), np.zeros(len(block), dtype=bool))


def list_fits(block: PlanBlock, fits: Iterable[int]) -> Iterator[tuple]:
    """Yield (training rows, weights or None, tested rows, order or None) of some fits."""
    for r in fits:
        train = block.train[r]
        rows = np.flatnonzero(train)
        weights = None
        if train.dtype.kind == "f":
            weights = train[rows]
        else:
            rows = np.repeat(rows, train[rows])
        order = None if block.order is None else block.order[r]
        yield rows, weights, np.flatnonzero(block.test[r]), order


def fit_and_read(
    estimator: Any,
    X: Any,
    y: Any,
    params: Params,
    read: Read,
    error_score: float | str,
    fit: tuple,
) -> Any:
    """Fit a clone on the training rows and read what is wanted off it; `FAILED` if it raises."""
    rows, weights, tested, order = fit
    labels = permute_labels(y, order)
    model = clone(estimator)
    train, train_labels = safe_split(estimator, X, labels, rows)
    test, test_labels = safe_split(estimator, X, labels, tested, rows)
    arguments = fit_arguments(estimator, X, params, weights, rows)
    try:
        model.fit(train, train_labels, **arguments)
        return read(model, test, test_labels)
    except Exception as error:
        if error_score == "raise":
            vars(error)["training_rows"] = (
                rows  # for whoever knows the plan to say which fit it was
            )
            raise
        return FAILED


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
