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
from skeval._resampling.fit_worker import OneFit
from skeval._resampling.plans import PlanBlock, ResamplingPlan
from skeval._resampling.target import Target


class NoSolver(NamedTuple):
    """Reason why no adapter supports a procedure, and a function for single fits."""

    why: str
    fit_one: OneFit | None = None


class Difference(NamedTuple):
    """Difference between two models of one fit on all samples.

    Attributes
    ----------
    largest : float
        Largest difference of probabilities, or of decision values in units of 1 + their size.
    share : float
        Share of predicted labels that differ.
    """

    largest: float
    share: float


class Adapter(Protocol):
    """Solver of all fits of a block.

    Outputs are those of predict, decision_function and predict_proba, if the estimator has these
    methods.
    """

    def __call__(self, block: PlanBlock) -> FitOutput:
        """Return the outputs of the fits; the estimator does the fits marked as failed."""


@runtime_checkable
class CostedAdapter(Protocol):
    """Adapter that reaches an optimum, and is not always faster than the loop.

    The estimator stops at a tolerance `tol`, and does the fits with a tested sample within `noise`
    of the boundary; the noise is infinite if the tolerance does not bound the difference. Unless
    `fit_one` is None, it does the fits that are not solved in blocks.
    """

    noise: float
    tol: float
    fit_one: OneFit | None

    def pays(
        self, n_fits: int, model: Any, times: float = 1.0, trial: PlanBlock | None = None
    ) -> bool:
        """Return whether the solver is faster than the loop by a factor of at least `times`.

        `model` is one of the fits, by the estimator; with None, the result is whether it is
        possible for any model. `trial` is a block of one of the fits. Nothing is timed: the result
        depends on the data and the number of fits, so numbers are the same on every machine and for
        any `n_jobs`.
        """

    def compare(self, block: PlanBlock, model: Any, samples: Any) -> Difference | None:
        """Return the difference of the fit of a block from a model; None if it is not solved."""


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
