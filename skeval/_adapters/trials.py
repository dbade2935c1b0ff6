"""Choice between a solver and the loop, for all fits of a plan.

A solver must be faster for the sizes of the data and the number of fits, and it must agree with the
estimator in a few trial fits, which are made once for all plans of a call. The estimator may stop
before its optimum, for example on columns of very different scales; the loop then does all fits.
Trial fits are results of a plan, so the loop does not repeat them.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from skeval._adapters.registry import MIN_FITS, SLOWER, Agreement, Solver, find_solver
from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.fit_worker import FitWorker
from skeval._resampling.inputs import Inputs
from skeval._resampling.plans import PlanBlock, ResamplingPlan
from skeval._resampling.progress import tell
from skeval.utils._checks import ignored_warnings, warn_user
from skeval.utils._compat import has_valid_params, limit_threads


@dataclass(eq=False, repr=False)
class BlockSolver:
    """Fits of a block by a solver; the worker does the fits that the solver leaves.

    The solver is not pickled: each process makes its own from the same data.
    """

    worker: FitWorker
    max_fits: int | None = None

    @classmethod
    def of_solver(cls, solver: Solver, worker: FitWorker) -> BlockSolver:
        """Return the fits of a block by a solver of this process."""
        block_solver = cls(worker, solver.max_fits)
        block_solver.solver = solver
        return block_solver

    @cached_property
    def solver(self) -> Solver:
        """The solver of the estimator."""
        worker = self.worker
        solver = find_solver(worker.estimator, worker.X, worker.target)
        if isinstance(solver, str):
            raise RuntimeError(
                "the solver used by the main process is not available in this worker process."
            )
        return solver

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "solver"}

    def __call__(self, block: PlanBlock) -> FitOutput:
        return self.worker.complete(self.solve(block), block)

    # The many matrix products of a block are too small to gain from several threads.
    @limit_threads(limits=1, user_api="blas")
    def solve(self, block: PlanBlock) -> FitOutput:
        """Return the requested outputs of the fits that the solver completes."""
        worker = self.worker
        output = self.solver.solve(block)
        return worker.request.keep(output, block, worker.estimator, worker.target)


def choose_solver(inputs: Inputs, worker: FitWorker, plan: ResamplingPlan) -> BlockSolver | None:
    """Return the solver for the fits of a plan, None if a loop does them.

    The worker keeps the models of trial fits.
    """
    solver: Solver | str = "the call requires each model, or more than X and y"
    if not worker.params and worker.request.need_no_model(inputs):
        solver = solver_of(inputs)
        if not isinstance(solver, str):
            solver = solver.refuses(plan) or find_trusted(solver, inputs, worker, plan)
    if not isinstance(solver, str):
        return BlockSolver.of_solver(solver, worker)
    if reports_progress(inputs, plan):
        tell(f"skeval runs {plan.n_fits} fits one by one: {solver}")
    return None


def solver_of(inputs: Inputs) -> Solver | str:
    """Return the solver of the estimator on X, or the reason why there is none.

    Plans of the same inputs share it. An estimator with invalid parameters has no solver, so that
    its own fit raises the error.
    """
    if inputs.target.outputs:
        return "y has several columns"
    if "solver" not in inputs.shared:
        solver: Solver | str = "its parameters are not valid"
        if has_valid_parts(inputs.estimator):
            solver = find_solver(inputs.estimator, inputs.X, inputs.target)
        inputs.shared["solver"] = solver
    shared: Solver | str = inputs.shared["solver"]
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
    solver: Solver, inputs: Inputs, worker: FitWorker, plan: ResamplingPlan
) -> Solver | str:
    """Return the solver if its trial fits agree, or the reason for a loop.

    Plans of the same inputs share the trials, but shuffled labels are tried separately.
    """
    key = "shuffled" if plan.draw(plan.n_draws - 1).order is not None else "tried"
    if key not in inputs.shared:
        if plan.n_fits < MIN_FITS:
            return SLOWER
        inputs.shared[key] = try_solver(solver, worker, plan)
    trusted: Solver | str = inputs.shared[key]
    return trusted


@limit_threads(limits=1, user_api="blas")
def try_solver(solver: Solver, worker: FitWorker, plan: ResamplingPlan) -> Solver | str:
    """Return the solver if its trial fits agree with the estimator's, or the reason for a loop."""
    agreements: list[Agreement] = []
    try:
        trials = solver.draw_trials(plan)
        if isinstance(trials, str):
            return trials
        for block in trials:
            fit = block[0]
            # a solver that shares work between blocks is exact, whatever the estimator warns of
            with nullcontext() if solver.max_fits is None else ignored_warnings():
                model = worker.keep_model(fit)
            agreement = solver.compare(block, model, worker.read_samples(fit))
            if agreement is None:
                continue
            # for shuffled labels, distance from the optimum is irrelevant to users
            shuffled = fit.order is not None and np.any(np.diff(fit.order) < 0)
            agreements.append(agreement._replace(share=0.0) if shuffled else agreement)
            if not agreement.agrees:
                break
    except Exception:  # the loop raises the same error or leaves the fit out
        return "a trial fit failed"
    if not agreements:
        return "the solver completes none of the trial fits"
    if agreements[-1].agrees:
        return solver
    share = max(agreement.share for agreement in agreements)
    if share > 0:
        warn_user(explain_difference(worker.estimator, share), ConvergenceWarning)
    return "trial fits of the estimator differ from those of the solver"


def explain_difference(estimator: Any, share: float) -> str:
    """Return the warning about a model that does not reach its optimum."""
    return (
        f"{type(estimator).__name__} does not reach its optimum on these samples: at the optimum, "
        f"{100 * share:.1f} % of its predictions would differ. The results are from the "
        "estimator as it is. Scale the features (StandardScaler), or change tol or max_iter."
    )
