"""Choice between a solver and the loop, for all fits of a plan.

A solver must be faster for the sizes of the data and the number of fits, and it must agree with the
estimator in a few trial fits, which are made once for all plans of a call. The estimator may stop
before its optimum, for example on columns of very different scales; the loop then does all fits.
Trial fits are results of a plan, so the loop does not repeat them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from skeval._adapters.registry import Adapter, NoSolver, PlannedAdapter, TriedAdapter, ask_steps
from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.fit_worker import FitWorker
from skeval._resampling.inputs import Inputs
from skeval._resampling.plans import PlanBlock, ResamplingPlan
from skeval._resampling.progress import tell
from skeval.utils._checks import warn_user
from skeval.utils._compat import has_valid_params, limit_threads

MAX_TRIALS, FITS_PER_TRIAL, SAMPLES_OF_TRIALS = 3, 20, 2000
"""Maximum number of trial fits, fits of the plan per trial fit, and samples of all trial fits."""

MIN_FITS, MAX_TESTED = 5, 1000
"""Fewest fits of a plan that are worth a trial fit, and number of samples that it is tested on."""

SLOWER = NoSolver("a loop is as fast as a solver for these data and this number of fits")


@dataclass(eq=False, repr=False)
class BlockSolver:
    """Fits of a block by an adapter; the worker does the fits that the adapter leaves.

    The adapter is not pickled: each process makes its own from the same data.
    """

    worker: FitWorker
    max_fits: int | None = None
    stays_here: bool = False

    @classmethod
    def of_adapter(cls, adapter: Adapter, worker: FitWorker) -> BlockSolver:
        """Return the solver that uses an adapter in this process."""
        # an adapter with its own block size reuses results from block to block
        solver = cls(worker, getattr(adapter, "max_fits", None), hasattr(adapter, "max_fits"))
        solver.adapter = adapter
        return solver

    @cached_property
    def adapter(self) -> Adapter:
        """The adapter of the estimator."""
        worker = self.worker
        adapter = ask_steps(worker.estimator, worker.X, worker.target)
        if adapter is None or isinstance(adapter, NoSolver):
            raise RuntimeError(
                "the solver used by the main process is not available in this worker process."
            )
        return adapter

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "adapter"}

    def __call__(self, block: PlanBlock) -> FitOutput:
        return self.worker.complete(self.solve(block), block)

    # The many matrix products of a block are too small to gain from several threads.
    @limit_threads(limits=1, user_api="blas")
    def solve(self, block: PlanBlock) -> FitOutput:
        """Return the requested outputs of the fits that the adapter completes."""
        worker = self.worker
        return worker.request.keep(self.adapter(block), block, worker.estimator, worker.target)


def choose_solver(inputs: Inputs, worker: FitWorker, plan: ResamplingPlan) -> BlockSolver | None:
    """Return the solver for the fits of a plan, None if a loop does them.

    The worker keeps the models of trial fits.
    """
    adapter: Adapter | NoSolver = NoSolver("the call requires each model, or more than X and y")
    if not worker.params and worker.request.need_no_model(inputs):
        adapter = find_adapter(inputs)
        if isinstance(adapter, PlannedAdapter):
            adapter = adapter.prepare(plan) or SLOWER
        elif isinstance(adapter, TriedAdapter):
            fast = adapter.gain(plan) >= 1.0
            adapter = find_trusted(adapter, inputs, worker, plan) if fast else SLOWER
    if not isinstance(adapter, NoSolver):
        return BlockSolver.of_adapter(adapter, worker)
    if reports_progress(inputs, plan):
        tell(f"skeval runs {plan.n_fits} fits one by one: {adapter.why}")
    return None


def find_adapter(inputs: Inputs) -> Adapter | NoSolver:
    """Return the adapter of the estimator on X, or the reason why there is none.

    Plans of the same inputs share it. An estimator with invalid parameters has no adapter, so that
    its own fit raises the error.
    """
    if inputs.target.outputs:
        return NoSolver("y has several columns")
    if "adapter" not in inputs.shared:
        adapter: Adapter | NoSolver | None = NoSolver("its parameters are not valid")
        if has_valid_parts(inputs.estimator):
            adapter = ask_steps(inputs.estimator, inputs.X, inputs.target)
        inputs.shared["adapter"] = adapter or NoSolver("no solver supports this estimator")
    shared: Adapter | NoSolver = inputs.shared["adapter"]
    return shared


def has_valid_parts(estimator: Any) -> bool:
    """Whether an estimator and the estimators in its parameters pass their own validation."""
    parts = [estimator, *estimator.get_params().values()]
    return bool(get_config()["skip_parameter_validation"]) or all(
        has_valid_params(part) for part in parts if isinstance(part, BaseEstimator)
    )


def reports_progress(inputs: Inputs, plan: ResamplingPlan) -> bool:
    """Whether the progress of the fits of a plan is shown to the user."""
    return bool(inputs.verbose) and plan.n_fits > 1


def find_trusted(
    adapter: TriedAdapter, inputs: Inputs, worker: FitWorker, plan: ResamplingPlan
) -> Adapter | NoSolver:
    """Return the adapter if its trial fits agree, or the reason for a loop.

    Plans of the same inputs share the trials, but shuffled labels are tried separately.
    """
    key = "shuffled" if plan.draw(plan.n_draws - 1).order is not None else "tried"
    if key not in inputs.shared:
        if plan.n_fits < MIN_FITS:
            return SLOWER
        inputs.shared[key] = try_adapter(adapter, worker, plan)
    trusted: Adapter | NoSolver = inputs.shared[key]
    return trusted


def try_adapter(
    adapter: TriedAdapter, worker: FitWorker, plan: ResamplingPlan
) -> Adapter | NoSolver:
    """Return the adapter if its trial fits agree with the estimator's, or the reason for a loop."""
    solved, shares = False, [0.0]
    for block in draw_trials(plan):
        fit = block[0]
        try:
            agreement = compare(adapter, block, worker.keep_model(fit), worker.read_samples(fit))
        except Exception:  # the loop raises the same error or leaves the fit out
            return NoSolver("a trial fit failed")
        if agreement is None:
            continue
        solved = True
        # for shuffled labels, distance from the optimum is irrelevant to users
        if fit.order is None or np.array_equal(fit.order, np.arange(len(fit.order))):
            shares.append(agreement.share)
        if not agreement.agrees:
            if max(shares) > 0:
                warn_user(explain_difference(worker.estimator, max(shares)), ConvergenceWarning)
            return NoSolver("the estimator stops before its optimum, which a solver reaches")
    return adapter if solved else NoSolver("the solver completes none of the trial fits")


def draw_trials(plan: ResamplingPlan) -> list[PlanBlock]:
    """Return the trial fits of a plan, spread over repetitions and folds, and over the samples."""
    n_trials = min(MAX_TRIALS, plan.n_fits // FITS_PER_TRIAL, SAMPLES_OF_TRIALS // plan.n_samples)
    # the last fit is one of them: the first fit of a permutation test has the true labels
    chosen = np.linspace(plan.n_fits - 1, 0, max(1, n_trials)).astype(int)[::-1]
    tested = np.zeros((1, plan.n_samples), dtype=bool)
    tested[:, :: -(-plan.n_samples // MAX_TESTED)] = True
    trials = []
    for repetition, fit in zip(*np.divmod(chosen, plan.fits_per_draw), strict=True):
        block = plan.draw(int(repetition)).take(np.array([fit]))
        trials.append(replace(block, test=tested))
    return trials


@limit_threads(limits=1, user_api="blas")
def compare(adapter: TriedAdapter, block: PlanBlock, model: Any, samples: Any) -> Any:
    """Return the agreement of a solver's fit with a model, None if the fit is not solved."""
    return adapter.compare(block, model, samples)


def explain_difference(estimator: Any, share: float) -> str:
    """Return the warning about a model that does not reach its optimum."""
    return (
        f"{type(estimator).__name__} does not reach its optimum on these samples: at the optimum, "
        f"{100 * share:.1f} % of its predictions would differ. The results are from the "
        "estimator as it is. Scale the features (StandardScaler), or change tol or max_iter."
    )
