"""Solvers of the fits of estimators: what they do, and which type of estimator has one."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, singledispatch
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.pipeline import Pipeline

import skeval._adapters
from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.plans import PlanBlock, ResamplingPlan
from skeval._resampling.target import Target

UNKNOWN = "no solver supports this estimator"
SLOWER = "a loop is as fast as a solver for these data and this number of fits"

MAX_TRIALS, FITS_PER_TRIAL, SAMPLES_OF_TRIALS = 3, 20, 2000
"""Maximum number of trial fits, fits of the plan per trial fit, and samples of all trial fits."""

MIN_FITS, MAX_TESTED = 5, 1000
"""Fewest fits of a plan that are worth a trial fit, and number of samples that it is tested on."""


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
    share: float = 0.0


class Solver(Protocol):
    """Fits of an estimator, all fits of a block at once.

    Attributes
    ----------
    max_fits : int or None
        Maximum number of fits of a block, if blocks share work: the solver then stays in the
        calling process.
    """

    max_fits: int | None = None

    def refuses(self, plan: ResamplingPlan) -> str:
        """Return why a loop does the fits of a plan; an empty string if the solver is faster.

        The result depends on the sizes of the data and of the plan. Nothing is timed, so numbers
        are the same on every machine and for any `n_jobs`.
        """
        return "" if plan.n_fits >= MIN_FITS else SLOWER

    def draw_trials(self, plan: ResamplingPlan) -> list[PlanBlock] | str:
        """Return some single fits to compare with the estimator, or why the loop must do all.

        They are spread over repetitions and folds, and their tested samples over all samples.
        """
        n_trials = min(
            MAX_TRIALS, plan.n_fits // FITS_PER_TRIAL, SAMPLES_OF_TRIALS // plan.n_samples
        )
        # the last fit is one of them: the first fit of a permutation test has the true labels
        chosen = np.linspace(plan.n_fits - 1, 0, max(1, n_trials)).astype(int)[::-1]
        tested = np.zeros((1, plan.n_samples), dtype=bool)
        tested[:, :: -(-plan.n_samples // MAX_TESTED)] = True
        fits = np.transpose(np.divmod(chosen, plan.fits_per_draw))
        return [replace(plan.draw(draw).take(np.array([fit])), test=tested) for draw, fit in fits]

    def compare(self, block: PlanBlock, model: Any, samples: Any) -> Agreement | None:
        """Return the agreement of a single fit with its model; None if it is not solved.

        `samples` are the tested samples.
        """

    def solve(self, block: PlanBlock) -> FitOutput:
        """Return the outputs of predict, decision_function and predict_proba.

        The estimator does the fits that are marked as failed.
        """


@singledispatch
def supports(estimator: Any, X: Any, target: Target, transformers: tuple) -> Solver | str:
    """Return the solver of an estimator after transformers, or the reason why there is none.

    A module of this package registers an implementation for each type of estimator. Subclasses
    and unknown parameters are never supported. The package's own estimators are registered where
    they are defined.
    """
    return UNKNOWN


@cache
def import_adapters() -> None:
    """Import all modules of adapters, so a new module need not be listed."""
    for module in iter_modules(skeval._adapters.__path__):
        import_module(f"skeval._adapters.{module.name}")


def find_solver(estimator: Any, X: Any, target: Target) -> Solver | str:
    """Return the solver of a bare estimator or of a pipeline, or why there is none."""
    import_adapters()
    if isinstance(X, np.memmap):  # joblib maps large arrays for its processes
        X = X.view(np.ndarray)
    if type(estimator) is not Pipeline:
        return supports(estimator, X, target, ())
    if estimator.memory is not None:
        return "the pipeline keeps its fitted transformers in memory"
    *before, final = (step for _, step in estimator.steps if step not in ("passthrough", None))
    return supports(final, X, target, tuple(before))
