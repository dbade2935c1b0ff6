"""Choice between a solver and the loop, by trial fits.

The user's estimator may stop before its optimum, or suffer from columns of very different scales.
Some fits of the plan are therefore done by the estimator itself and compared with the solver. They
are results of the plan, so a loop does not repeat them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from skeval._adapters.registry import (
    Adapter,
    CostedAdapter,
    Difference,
    NoSolver,
    PlannedAdapter,
    ask_steps,
)
from skeval._resampling.fit_errors import explaining_errors
from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.fit_request import FitRequest
from skeval._resampling.fit_worker import FitWorker, make_worker
from skeval._resampling.inputs import Inputs
from skeval._resampling.plans import PlanBlock, ResamplingPlan, concatenate_blocks
from skeval._resampling.progress import tell
from skeval.utils._checks import warn_user
from skeval.utils._compat import has_valid_params, limit_threads

MAX_TRIALS, FITS_PER_TRIAL, SAMPLES_OF_TRIALS = 3, 5, 6000
"""Maximum number of trial fits, fits of the plan per trial fit, and samples of all trial fits."""

MAX_DIFFERENCE = 1e-2
"""Largest difference of a probability, or of a decision value in units of 1 + its size."""

NOISE_MARGIN = 2.0
"""The estimator does a fit if a tested sample is within this many differences of the boundary."""

N_PILOTS, MIN_FITS_PER_PILOT, MAX_FAILED = 8, 4, 0.3
"""Number of pilot fits, fits of the plan per pilot fit, and the share of them that may fail."""

SLOWER = NoSolver("a loop is as fast as a solver for these data and this number of fits")


class TrialResult(NamedTuple):
    """The largest difference of trial fits, and the share of labels that differ under true y."""

    difference: float
    share: float


@dataclass(eq=False, repr=False)
class BlockSolver:
    """Fits of a block by an adapter; the worker does the fits that the adapter leaves.

    The adapter is not pickled: each process makes its own from the same data.
    """

    worker: FitWorker
    noise: float = 0.0
    max_fits: int | None = None
    stays_here: bool = False

    @classmethod
    def of_adapter(cls, adapter: Adapter, worker: FitWorker) -> BlockSolver:
        """Return the solver that uses an adapter in this process."""
        # an adapter with its own block size reuses results from block to block
        solver = cls(
            worker,
            getattr(adapter, "noise", 0.0),
            getattr(adapter, "max_fits", None),
            hasattr(adapter, "max_fits"),
        )
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
        if isinstance(adapter, CostedAdapter):
            adapter.noise = self.noise
        return adapter

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "adapter"}

    def __call__(self, block: PlanBlock) -> FitOutput:
        return self.worker.complete(self.solve(block), block)

    def solve(self, block: PlanBlock) -> FitOutput:
        """Return the requested outputs of the fits that the adapter completes."""
        worker = self.worker
        output = solve_block(self.adapter, block)
        return worker.request.keep(output, block, worker.estimator, worker.target)


def choose_solver(
    inputs: Inputs, worker: FitWorker, plan: ResamplingPlan, times: float = 1.0
) -> BlockSolver | None:
    """Return the solver for the fits of a plan, None if a loop does them.

    The solver must be at least `times` as fast as the loop. The worker keeps the models of trial
    fits, and a function of the adapter that does single fits.
    """
    adapter: Adapter | NoSolver = NoSolver("the call requires each model, or more than X and y")
    if not worker.params and worker.request.need_no_model(inputs):
        adapter = find_adapter(inputs)
        worker.fit_one = getattr(adapter, "fit_one", None)
        if not isinstance(adapter, NoSolver):
            adapter = try_adapter(adapter, worker, plan, times)
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


def is_served(
    inputs: Inputs, plan: ResamplingPlan, scoring: Any = None, times: float = 1.0
) -> bool:
    """Whether a solver does the fits of a plan and is at least `times` as fast as the loop."""
    request = FitRequest() if scoring is None else FitRequest.for_scores(inputs.estimator, scoring)
    worker = make_worker(inputs, plan, request)
    with explaining_errors(inputs, plan):
        return choose_solver(inputs.with_options(verbose=0), worker, plan, times) is not None


def try_adapter(
    adapter: Adapter, worker: FitWorker, plan: ResamplingPlan, times: float = 1.0
) -> Adapter | NoSolver:
    """Return the adapter for a plan, or the reason why a loop does its fits.

    An adapter with a cost must be at least `times` as fast as a loop, and its fits must agree with
    those of the estimator.
    """
    if isinstance(adapter, PlannedAdapter):
        return adapter.prepare(plan) or SLOWER
    if not isinstance(adapter, CostedAdapter):
        return adapter
    adapter.noise = 0.0
    trials = draw_trials(plan)
    # no trial fit where even the slowest loop is as fast
    if not adapter.pays(plan.n_fits, None, times, trials[0]):
        return SLOWER
    try:
        # the last fit first: the first one of a permutation test has the true labels
        model = worker.keep_model(trials[-1][0])
        if not adapter.pays(plan.n_fits, model, times, trials[0]):
            return SLOWER
        result = compare_fits(adapter, worker, trials)
    except Exception:  # the loop raises the same error or leaves the fit out
        return NoSolver("a trial fit failed")
    if result is None:
        return NoSolver("the solver can complete only few of these fits")
    if not result.difference <= MAX_DIFFERENCE:
        if result.share > 0:
            warn_user(explain_difference(worker.estimator, result), ConvergenceWarning)
        return NoSolver("the estimator stops before its optimum, which a solver reaches")
    # other fits may stop farther from the optimum, but within the tolerance
    adapter.noise = NOISE_MARGIN * max(result.difference, adapter.tol)
    if not settles(adapter, plan):
        return NoSolver("the solver can complete only few of these fits")
    return adapter


def draw_trials(plan: ResamplingPlan) -> list[PlanBlock]:
    """Return the trial fits of a plan, spread over repetitions and folds, tested on all samples."""
    n_trials = min(MAX_TRIALS, plan.n_fits // FITS_PER_TRIAL, SAMPLES_OF_TRIALS // plan.n_samples)
    chosen = np.linspace(plan.n_fits - 1, 0, max(1, n_trials)).astype(int)[::-1]
    trials = []
    for repetition, fit in zip(*np.divmod(chosen, plan.fits_per_draw), strict=True):
        block = plan.draw(int(repetition)).take(np.array([fit]))
        trials.append(replace(block, test=np.ones_like(block.test)))
    return trials


def compare_fits(
    adapter: CostedAdapter, worker: FitWorker, trials: list[PlanBlock]
) -> TrialResult | None:
    """Return how far a solver's fits are from the estimator's; None if it completes none."""
    differences: list[Difference] = []
    shares: list[float] = []
    for block in trials:
        fit = block[0]
        difference = measure(adapter, block, worker.keep_model(fit), worker.read_samples(fit))
        if difference is not None:
            differences.append(difference)
            # for shuffled labels, distance from the optimum is irrelevant to users
            if fit.order is None or np.array_equal(fit.order, np.arange(len(fit.order))):
                shares.append(difference.share)
            if not difference.largest <= MAX_DIFFERENCE:
                break
    if not differences:
        return None
    # np.max keeps nan, which no comparison passes
    largest = float(np.max([difference.largest for difference in differences]))
    return TrialResult(largest, max(shares, default=0.0))


def explain_difference(estimator: Any, result: TrialResult) -> str:
    """Return the warning about a model that does not reach its optimum."""
    return (
        f"{type(estimator).__name__} does not reach its optimum on these samples: at the optimum, "
        f"{100 * result.share:.1f} % of its predictions would differ. The results are from the "
        "estimator as it is. Scale the features (StandardScaler), or change tol or max_iter."
    )


def settles(adapter: Adapter, plan: ResamplingPlan) -> bool:
    """Whether an adapter completes most of a sample of the fits of a plan."""
    if plan.n_fits < MIN_FITS_PER_PILOT * N_PILOTS:
        return True
    # pilot fits, spread over repetitions and folds
    some = np.linspace(0, plan.n_draws - 1, min(N_PILOTS, plan.n_draws)).astype(int)
    block = concatenate_blocks([plan.draw(repetition) for repetition in some.tolist()])
    pilots = np.linspace(0, len(block) - 1, N_PILOTS).astype(int)
    failed = solve_block(adapter, block.take(pilots)).failed
    return bool(np.mean(failed) <= MAX_FAILED)


@limit_threads(limits=1, user_api="blas")
def measure(
    adapter: CostedAdapter, block: PlanBlock, model: Any, samples: Any
) -> Difference | None:
    """Return how far a solver's fit is from a model."""
    return adapter.compare(block, model, samples)


# The many matrix products of a block are too small to gain from several threads.
@limit_threads(limits=1, user_api="blas")
def solve_block(adapter: Adapter, block: PlanBlock) -> FitOutput:
    """Return the outputs of the fits of a block, by an adapter."""
    return adapter(block)
