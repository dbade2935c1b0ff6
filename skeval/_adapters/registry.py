"""Protocols and registry of adapters, which fit a block of a plan at once by a solver."""

from __future__ import annotations

from functools import cache, singledispatch
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from sklearn.pipeline import Pipeline

import skeval._adapters
from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.plans import PlanBlock, ResamplingPlan
from skeval._resampling.target import Target


class NoSolver(NamedTuple):
    """Reason why no adapter supports a procedure."""

    why: str


class Agreement(NamedTuple):
    """Comparison of a solver's fit with the estimator's, on all samples.

    Attributes
    ----------
    agrees : bool
        Whether they differ by no more than the tolerance of the estimator.
    share : float
        Share of predicted labels that differ.
    """

    agrees: bool
    share: float


class Adapter(Protocol):
    """Solver of all fits of a block.

    Outputs are those of predict, decision_function and predict_proba, if the estimator has these
    methods.
    """

    def __call__(self, block: PlanBlock) -> FitOutput:
        """Return the outputs of the fits; the estimator does the fits marked as failed."""


@runtime_checkable
class TriedAdapter(Adapter, Protocol):
    """Adapter that reaches the optimum that the estimator approaches up to a tolerance."""

    def gain(self, plan: ResamplingPlan) -> float:
        """Return how many times as fast as the loop the solver is at least, 0 if it is slower.

        The result depends on the sizes of the data and of the plan. Nothing is timed, so numbers
        are the same on every machine and for any `n_jobs`.
        """

    def compare(self, block: PlanBlock, model: Any, samples: Any) -> Agreement | None:
        """Return the agreement of the fit of a block with a model; None if it is not solved."""


@runtime_checkable
class PlannedAdapter(Protocol):
    """Adapter that supports some plans only.

    It reuses results from block to block, so it stays in the calling process. Blocks have at most
    `max_fits` fits, unless that is None.
    """

    max_fits: int | None

    def prepare(self, plan: ResamplingPlan) -> Adapter | None:
        """Return the adapter for a plan, or None if the loop is as fast; nothing is timed."""


@singledispatch
def adapter_for(
    estimator: Any, X: Any, target: Target, transformers: tuple
) -> Adapter | NoSolver | None:
    """Return the adapter of an estimator after transformers, or None if there is none.

    An adapter module registers an implementation for each type of estimator. It returns None, or
    the reason as a `NoSolver`, for unsupported parameters, subclasses, transformers or data. The
    adapters of this package's own estimators are registered where the estimators are defined.
    """
    return None


@cache
def register_adapters() -> None:
    """Import all modules of adapters, so a new module need not be listed."""
    for module in iter_modules(skeval._adapters.__path__):
        import_module(f"skeval._adapters.{module.name}")


def ask_steps(estimator: Any, X: Any, target: Target) -> Adapter | NoSolver | None:
    """Return the adapter of a bare estimator or of a pipeline, or why there is none."""
    register_adapters()
    if isinstance(X, np.memmap):  # joblib maps large arrays for its processes
        X = X.view(np.ndarray)
    if type(estimator) is not Pipeline:
        return adapter_for(estimator, X, target, ())
    if estimator.memory is not None:
        return NoSolver("the pipeline keeps its fitted transformers in memory")
    *before, final = (step for _, step in estimator.steps if step not in ("passthrough", None))
    return adapter_for(final, X, target, tuple(before))
