"""What hands the fits of an estimator to a solver, where one serves it."""

from __future__ import annotations

from functools import cache, singledispatch
from importlib import import_module
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from sklearn.pipeline import Pipeline

from skeval._resampling.outputs import FitOutput
from skeval._resampling.plan import PlanBlock, ResamplingPlan, concatenate_blocks
from skeval._resampling.target import Target
from skeval.utils._compat import limit_threads

__all__ = [
    "Adapter",
    "CostedAdapter",
    "PlannedAdapter",
    "Unserved",
    "adapter_for",
    "adapter_of_steps",
    "ask_steps",
    "count_fits_of_block",
    "solve_block",
    "suit_plan",
]

SERVING = "skeval._adapters"
"""The floor above that registers adapters as it is imported, before the first is asked for."""

FITS_OF_BLOCK = 256
"""Fits that a solver is given at once at least: it gains little from more, where samples are many.

Fewer would not do: the pilots that tell which samples matter are the same for any number.
"""

BLOCK_ELEMENTS = 2**16
"""Elements of a (fits, n_samples) array, up to which a block costs little and is not divided."""

SHOWN_FITS, SHOWN_ELEMENTS = 10, 2**18
"""Where each fit is handed out as it is done, a block has so many at least, from which an interval
stands, and at most so many elements: it takes a second or so, and is what Ctrl-C loses."""

N_PILOTS, FEWEST_TRIED, MOST_LEFT = 8, 4, 0.3
"""So many fits are tried of a plan that has so many times as many, and the solver is given the
plan unless it leaves more than this share of them to the estimator."""


class Unserved(NamedTuple):
    """What stands for an adapter where there is none, and why."""

    why: str


class Adapter(Protocol):
    """Solves all fits of a block at once.

    It answers each of predict, decision_function and predict_proba that its estimator has.
    """

    def __call__(self, block: PlanBlock) -> FitOutput:
        """Return the answers of the fits; those that it calls failed, the estimator does."""


@runtime_checkable
class CostedAdapter(Protocol):
    """An adapter that is not always faster than the loop."""

    def pays(self, n_fits: int, codes: np.ndarray, times: float = 1.0) -> bool:
        """Whether so many fits, to labels like these, take less time here than in a loop.

        They must be faster by `times` at least. The answer depends on the data and on the number of
        fits, and on nothing that is timed: the numbers are the same on every machine and for any
        `n_jobs`.
        """


@runtime_checkable
class PlannedAdapter(Protocol):
    """An adapter that serves some plans only.

    What it learns of a plan it keeps from block to block: it stays in the calling process, for
    each worker would learn the same again. It is given blocks of at most `max_fits`, if that is
    a number.
    """

    max_fits: int | None

    def prepare(self, plan: ResamplingPlan) -> Adapter | None:
        """Return the adapter for a plan, None if a loop does it as fast.

        The answer depends on the plan and the data, and on nothing that is timed.
        """


@singledispatch
def adapter_for(
    estimator: Any, X: Any, target: Target, transformers: tuple
) -> Adapter | Unserved | None:
    """Return the adapter that serves an estimator behind some transformers, None if none does.

    `skeval._adapters` registers an implementation for each type that a solver serves. It returns
    None for parameters, subclasses, transformers or data that are not served, or says why. An
    estimator of this package registers one where it is defined.
    """
    return None


def suit_plan(
    adapter: Adapter | Unserved, target: Target, plan: ResamplingPlan, times: float = 1.0
) -> Adapter | Unserved:
    """Return the adapter for a plan, or why a loop does it as well.

    Where an adapter has a price it must be faster by `times`, and a few fits are the evidence.
    """
    slower = Unserved("a loop is as fast as a solver for these data and so many fits")
    if isinstance(adapter, PlannedAdapter):
        return adapter.prepare(plan) or slower
    if not isinstance(adapter, CostedAdapter):
        return adapter
    # The last repetition, since the first one of a permutation test has the true labels.
    order = plan.draw(plan.n_repetitions - 1).order
    codes = target.codes if order is None else target.codes[order[0]]
    if not adapter.pays(plan.n_fits, codes, times):
        return slower
    return adapter if settles(adapter, plan) else Unserved("a solver settles few of these fits")


def settles(adapter: Adapter, plan: ResamplingPlan) -> bool:
    """Whether an adapter settles most of some fits of a plan, all of which it would try first."""
    if plan.n_fits < FEWEST_TRIED * N_PILOTS:
        return True
    some = np.linspace(0, plan.n_repetitions - 1, min(N_PILOTS, plan.n_repetitions)).astype(int)
    block = concatenate_blocks([plan.draw(repetition) for repetition in some.tolist()])
    pilots = np.linspace(0, len(block) - 1, N_PILOTS).astype(int)
    failed = solve_block(adapter, block.take(pilots)).failed
    return bool(np.mean(failed) <= MOST_LEFT)


# The many matrix products of a block are too small to gain from several threads.
@limit_threads(limits=1, user_api="blas")
def solve_block(adapter: Adapter, block: PlanBlock) -> FitOutput:
    """Return what an adapter answers."""
    return adapter(block)


def count_fits_of_block(plan: ResamplingPlan, *, shown: bool = False) -> int:
    """Return how many fits of a plan a solver is given at once, fewer where each is `shown`.

    Neither the workers nor the number of repetitions are asked: a solution may depend, in its
    last digits, on what is solved with it.
    """
    fits = max(FITS_OF_BLOCK, BLOCK_ELEMENTS // plan.n_samples)
    if shown:
        fits = min(fits, max(SHOWN_FITS, SHOWN_ELEMENTS // plan.n_samples))
    return max(fits, plan.fits_per_repetition)


def adapter_of_steps(estimator: Any, X: Any, target: Target) -> Adapter | None:
    """Return the adapter of a bare estimator or of a pipeline that ends in one."""
    found = ask_steps(estimator, X, target)
    return None if isinstance(found, Unserved) else found


@cache
def register_adapters() -> None:
    """Import the floor above that registers adapters, once."""
    import_module(SERVING)


def ask_steps(estimator: Any, X: Any, target: Target) -> Adapter | Unserved | None:
    """Return the adapter of a bare estimator or of a pipeline, or why there is none."""
    register_adapters()
    if isinstance(X, np.memmap):  # what joblib makes of large arrays for other processes
        X = X.view(np.ndarray)
    if type(estimator) is not Pipeline:
        return adapter_for(estimator, X, target, ())
    if estimator.memory is not None:
        return Unserved("the pipeline keeps its fitted transformers in memory")
    *before, final = (step for _, step in estimator.steps if step not in ("passthrough", None))
    return adapter_for(final, X, target, tuple(before))
