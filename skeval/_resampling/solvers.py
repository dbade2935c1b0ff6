"""Solvers that fit a block of a plan at once: their protocols and their registry."""

from __future__ import annotations

from functools import cache, singledispatch
from importlib import import_module
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from sklearn.pipeline import Pipeline

from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.plans import PlanBlock, ResamplingPlan
from skeval._resampling.target import Target

SERVING = "skeval._adapters"
"""The floor above that registers adapters as it is imported, before the first is asked for."""


class NoSolver(NamedTuple):
    """No adapter serves the estimator, and the reason."""

    why: str


class Difference(NamedTuple):
    """The difference of two models of one fit on all samples.

    largest: of probabilities, or of decision values in units of 1 + their size. share: of labels.
    """

    largest: float
    share: float


class Adapter(Protocol):
    """Solves all fits of a block at once.

    It answers each of predict, decision_function and predict_proba that its estimator has.
    """

    def __call__(self, block: PlanBlock) -> FitOutput:
        """Return the answers of the fits; those that it calls failed, the estimator does."""


@runtime_checkable
class CostedAdapter(Protocol):
    """An adapter that is not always faster than the loop, and reaches an optimum.

    Fits with a tested sample within `noise` of the boundary are left to the estimator, which stops
    at a tolerance `tol`; the noise is infinite if the tolerance bounds no difference.
    """

    noise: float
    tol: float

    def pays(self, n_fits: int, model: Any, times: float = 1.0, *, shuffled: bool = False) -> bool:
        """Return whether these fits are faster here than in a loop by a factor of at least `times`.

        `model` is one of the fits, by the estimator; None: could they for any model? Labels are
        `shuffled` for each fit. The result depends on the data and the number of fits, and on
        nothing that is timed: the numbers are the same on every machine and for any `n_jobs`.
        """

    def compare(self, block: PlanBlock, model: Any, samples: Any) -> Difference | None:
        """Return how far the fit of a block is from its model; None if it is not solved."""


@runtime_checkable
class PlannedAdapter(Protocol):
    """An adapter that serves some plans only.

    It reuses its results on a plan from block to block, so it stays in the calling process: each
    worker would have to compute them again. Blocks have at most `max_fits` fits, if that is a
    number.
    """

    max_fits: int | None

    def prepare(self, plan: ResamplingPlan) -> Adapter | None:
        """Return the adapter for a plan, None if a loop does it as fast.

        The answer depends on the plan and the data, and on nothing that is timed.
        """


@singledispatch
def adapter_for(
    estimator: Any, X: Any, target: Target, transformers: tuple
) -> Adapter | NoSolver | None:
    """Return the adapter that serves an estimator behind some transformers, None if none does.

    `skeval._adapters` registers an implementation for each type that a solver serves. It returns
    None, or the reason as a `NoSolver`, for unsupported parameters, subclasses, transformers or
    data. Estimators of this package register theirs where they are defined.
    """
    return None


def adapter_of_steps(estimator: Any, X: Any, target: Target) -> Adapter | None:
    """Return the adapter of a bare estimator or of a pipeline that ends in one."""
    adapter = ask_steps(estimator, X, target)
    return None if isinstance(adapter, NoSolver) else adapter


@cache
def register_adapters() -> None:
    """Import the floor above that registers adapters, once."""
    import_module(SERVING)


def ask_steps(estimator: Any, X: Any, target: Target) -> Adapter | NoSolver | None:
    """Return the adapter of a bare estimator or of a pipeline, or why there is none."""
    register_adapters()
    if isinstance(X, np.memmap):  # what joblib makes of large arrays for other processes
        X = X.view(np.ndarray)
    if type(estimator) is not Pipeline:
        return adapter_for(estimator, X, target, ())
    if estimator.memory is not None:
        return NoSolver("the pipeline keeps its fitted transformers in memory")
    *before, final = (step for _, step in estimator.steps if step not in ("passthrough", None))
    return adapter_for(final, X, target, tuple(before))
