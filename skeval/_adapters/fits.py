"""Fits of a plan: by a solver if one supports the estimator, otherwise in a loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from skeval._adapters.trials import choose_solver, reports_progress
from skeval._resampling.fit_errors import check_plan, explaining_errors
from skeval._resampling.fit_loop import Outputs, run_plan
from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.fit_request import FitRequest
from skeval._resampling.fit_worker import make_worker
from skeval._resampling.inputs import Inputs
from skeval._resampling.plans import ResamplingPlan
from skeval._resampling.progress import tell

Scores = float | dict[str, float]


def fit_plan(
    inputs: Inputs,
    plan: ResamplingPlan,
    request: FitRequest | None = None,
    *,
    first_block: int | None = None,
) -> Outputs:
    """Yield each block of a plan with the outputs of its fits: predictions, by default.

    The first block has at most `first_block` draws. Fits in `inputs.finished` are not run again.
    """
    if inputs.finished:
        yield from inputs.finished
        return
    request = FitRequest(inputs.loss_methods) if request is None else request
    plan = check_plan(inputs, plan)
    worker = make_worker(inputs, plan, request)
    n_done = n_solved = 0
    with explaining_errors(inputs, plan):
        solver = choose_solver(inputs, worker, plan)
        for block, output in run_plan(
            plan, worker, inputs.run_options, solver=solver, first_block=first_block
        ):
            n_done += len(output)
            n_solved += output.n_solved
            if inputs.finished is not None:
                inputs.finished.append((block, output))
            yield block, output
    if solver is not None and reports_progress(inputs, plan):
        rest = "" if n_solved == n_done else f", {n_done - n_solved} one by one"
        tell(f"skeval used a solver for {n_solved} fits{rest}")


def fit_each(
    inputs: Inputs, plan: ResamplingPlan, request: FitRequest | None = None
) -> Iterator[FitOutput | None]:
    """Yield the output of each fit, None if it failed; requests also get scores of classes."""
    if request is not None:
        request = request.and_scores_of_classes(inputs.estimator, inputs.target)
    for _, outputs in fit_plan(inputs, plan, request):
        for output in outputs:
            yield None if output.failed[0] else output


def score_plan(
    inputs: Inputs,
    plan: ResamplingPlan,
    scoring: Any,
    *,
    first_block: int | None = None,
    several: bool = False,
) -> Iterator[list[Scores]]:
    """Yield, block by block, the mean score over the fits of each repetition, by metric.

    `scoring` must give one number unless `several` is True.
    """
    request = FitRequest.for_scores(inputs.estimator, scoring)
    for _, output in fit_plan(inputs, plan, request, first_block=first_block):
        scores = output.scores or [None] * len(output)
        by_name = next((score for score in scores if isinstance(score, dict)), {})
        if by_name and not several:
            names = ", ".join(map(repr, by_name))
            raise TypeError(f"scoring must give one number here, got a dict with {names}.")
        starts = range(0, len(scores), plan.fits_per_draw)
        yield [mean_score(scores[start : start + plan.fits_per_draw]) for start in starts]


def score_each(inputs: Inputs, plan: ResamplingPlan, scoring: Any) -> list[Any]:
    """Return the score of each fit, nan if it failed."""
    parts = score_plan(inputs, plan, scoring, several=not callable(scoring))
    return [score for part in parts for score in part]


def mean_score(scores: list[Any]) -> Scores:
    """Return the mean over the fits that did not fail, by metric if there are several."""
    scores = [score for score in scores if score is not None]
    if not scores:
        return np.nan
    if isinstance(scores[0], dict):
        return {name: float(np.mean([score[name] for score in scores])) for name in scores[0]}
    return float(np.mean(scores))
