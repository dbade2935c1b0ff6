"""The one loop over fits: a plan in, predictions out, block by block."""

import warnings
from collections.abc import Iterable, Iterator
from functools import partial, singledispatch
from numbers import Real
from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.pipeline import Pipeline

from skeval.model_selection._plan import PlanBlock, ResamplingPlan
from skeval.model_selection._target import Target
from skeval.model_selection._weights import weight_parameters
from skeval.utils._compat import limit_threads, safe_split
from skeval.utils._jobs import open_jobs

__all__ = [
    "BatchDecisions",
    "BatchEngine",
    "PredictedBlock",
    "batch_engine",
    "find_batch_engine",
    "resampled_predictions",
    "selection_engine",
]


class PredictedBlock(NamedTuple):
    """The predictions of one block.

    Attributes
    ----------
    block : PlanBlock
    predictions : ndarray of shape (n_fits, n_samples)
        Class codes (-1 where untested) or numbers (nan where untested).
    failed : bool ndarray of shape (n_fits,)
        Fits that raised, under ``error_score=numpy.nan``.
    """

    block: PlanBlock
    predictions: np.ndarray
    failed: np.ndarray


class BatchDecisions(NamedTuple):
    """What a batch engine finds for one block.

    Attributes
    ----------
    decisions : ndarray of shape (n_fits, n_samples)
        Decision values of all samples; the second class is predicted where they are >= 0.
    solved : bool ndarray of shape (n_fits,)
        The fits that they hold for; the generic path does the others.
    """

    decisions: np.ndarray
    solved: np.ndarray


class BatchEngine(Protocol):
    """What decides all fits of a block of a two-class problem at once."""

    def __call__(self, block: PlanBlock) -> BatchDecisions:
        """Return the decisions of a block."""


@singledispatch
def batch_engine(estimator: Any, X: Any, target: Target, transformers: tuple) -> BatchEngine | None:
    """Return the engine that serves an estimator behind some transformers, None if there is none.

    Packages of engines register an implementation for the type of the last step of a pipeline;
    it returns None for parameters, subclasses, transformers or data that it does not serve.
    """
    return None


@singledispatch
def selection_engine(
    transformer: Any, estimator: Any, X: Any, target: Target, transformers: tuple
) -> BatchEngine | None:
    """Return the engine of a transformer (what is dispatched on) in front of an estimator.

    `transformers` are the steps before it. Asked where `batch_engine` has none for the estimator.
    """
    return None


def find_batch_engine(estimator: Any, X: Any, target: Target) -> BatchEngine | None:
    """Return the batch engine of a bare estimator or of a pipeline that ends in one."""
    if type(estimator) is not Pipeline or estimator.memory is not None:
        return batch_engine(estimator, X, target, ())
    *before, final = (step for _, step in estimator.steps if step not in ("passthrough", None))
    engine = batch_engine(final, X, target, tuple(before))
    if engine is None and before:
        return selection_engine(before[-1], final, X, target, tuple(before[:-1]))
    return engine


def resampled_predictions(
    estimator: Any,
    X: Any,
    target: Target,
    plan: ResamplingPlan,
    *,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
    error_score: float | str = "raise",
) -> Iterator[PredictedBlock]:
    """Yield the predictions of every fit of a plan.

    The generic path clones, fits and predicts through `joblib.Parallel` with no backend forced;
    where a batch engine serves the estimator, it solves each block at once and agrees with it.
    """
    check_error_score(error_score)
    engine = find_batch_engine(estimator, X, target)
    n_failed = 0
    options = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory, "total": plan.n_fits}
    task = clone(estimator), X, target.y, error_score
    solve = partial(batch_predictions, engine, target)
    with open_jobs(fit_and_predict, *task, **options) as run:
        for block in plan.blocks(run.max_batch if engine else None):
            predictions, solved = solve(block) if engine is None else run.batch(solve, block)
            predictions = np.require(predictions, requirements="W")  # not so from memory as memmap
            run.parallel.advance(int(solved.sum()))
            rows = run(fits_of(block, np.flatnonzero(~solved)))
            failed = np.zeros(len(block), dtype=bool)
            for r, row in zip(np.flatnonzero(~solved), rows, strict=True):
                if row is None:
                    failed[r] = True
                else:
                    tested = block.test[r]
                    predictions[r, tested] = target.encode(row, int(tested.sum()))
            n_failed += int(failed.sum())
            yield PredictedBlock(block, predictions, failed)
    report_failures(n_failed, plan.n_fits)


@limit_threads(limits=1, user_api="blas")  # many small products: threads only wait for another
def batch_predictions(
    engine: BatchEngine | None, target: Target, block: PlanBlock
) -> tuple[np.ndarray, np.ndarray]:
    """Return the predictions of the fits that an engine solved, and which these are."""
    predictions = target.empty_predictions(len(block))
    if engine is None:
        return predictions, np.zeros(len(block), dtype=bool)
    decisions, solved = engine(block)
    known = block.test & solved[:, None]
    predictions[known] = decisions[known] >= 0
    return predictions, solved


def fits_of(block: PlanBlock, which: Iterable[int] | None = None) -> Iterator[tuple]:
    """Yield (training rows, weights or None, tested rows, order or None) of all fits or some."""
    for r in range(len(block)) if which is None else which:
        train = block.train[r]
        rows = np.flatnonzero(train)
        weights = None
        if train.dtype.kind == "f":
            weights = train[rows]
        else:
            rows = np.repeat(rows, train[rows])
        order = None if block.order is None else block.order[r]
        yield rows, weights, np.flatnonzero(block.test[r]), order


def fit_and_predict(
    estimator: Any, X: Any, y: np.ndarray, error_score: float | str, fit: tuple
) -> np.ndarray | None:
    """Fit a clone on the training rows and predict the tested ones; None if it raises."""
    rows, weights, tested, order = fit
    labels = y if order is None else y[order]
    model = clone(estimator)
    train, train_labels = safe_split(estimator, X, labels, rows)
    test, _ = safe_split(estimator, X, None, tested, rows)
    try:
        model.fit(train, train_labels, **weight_parameters(estimator, weights))
        return np.asarray(model.predict(test))
    except Exception:
        if error_score == "raise":
            raise
        return None


def check_error_score(error_score: float | str) -> None:
    """Raise unless `error_score` is "raise" or nan."""
    raises = isinstance(error_score, str) and error_score == "raise"
    if not raises and not (isinstance(error_score, Real) and np.isnan(error_score)):
        raise ValueError(f"error_score must be 'raise' or numpy.nan, got {error_score!r}.")


def report_failures(n_failed: int, n_fits: int) -> None:
    """Warn of fits that failed; raise when none is left."""
    if n_failed == n_fits:
        raise ValueError(f"all {n_fits} fits failed; error_score='raise' shows the first error.")
    if n_failed:
        warnings.warn(
            f"{n_failed} of {n_fits} fits failed and are left out of the estimate; "
            "error_score='raise' shows the first error.",
            FitFailedWarning,
            stacklevel=3,
        )
