"""Fits of a plan: by a solver if one supports the estimator, otherwise in a loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from skeval._adapters.trials import choose_solver, reports_progress
from skeval._resampling.fit_errors import check_plan, explaining_errors
from skeval._resampling.fit_loop import Outputs, run_plan
from skeval._resampling.fit_outputs import FitOutput, join_outputs
from skeval._resampling.fit_request import FitRequest
from skeval._resampling.fit_worker import make_worker
from skeval._resampling.inputs import Inputs
from skeval._resampling.model_scores import (
    EachScorer,
    ReplayedEstimator,
    SmallTestSetError,
    check_test_sets,
    methods_of_scorers,
)
from skeval._resampling.plans import ResamplingPlan
from skeval._resampling.progress import tell
from skeval.utils._compat import is_plain_scorer

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
    skip_undefined: bool = False,
    pool: bool = False,
) -> Iterator[list[Scores]]:
    """Yield, block by block, the mean score over the fits of each repetition, by metric.

    `scoring` must give one number unless `several` is True. Where a test set is too small for a
    score, it is computed from all test sets of a repetition together if `pool` is True; otherwise
    it raises an error before any fit, except with `skip_undefined` if the score is undefined there.
    """
    request = FitRequest.for_scores(inputs.estimator, scoring)
    scorers = request.scorers(inputs.target)
    try:
        check_test_sets(inputs, plan, scorers, skip_undefined=skip_undefined)
    except SmallTestSetError:
        if not (pool and all(map(is_plain_scorer, scorers.values()))):
            raise
        yield from pool_plan(inputs, plan, request, first_block)
        return
    for _, output in fit_plan(inputs, plan, request, first_block=first_block):
        scores = output.scores or [None] * len(output)
        by_name = next((score for score in scores if isinstance(score, dict)), {})
        if by_name and not several:
            names = ", ".join(map(repr, by_name))
            raise TypeError(f"scoring must give one number here, got a dict with {names}.")
        starts = range(0, len(scores), plan.fits_per_draw)
        yield [mean_score(scores[start : start + plan.fits_per_draw]) for start in starts]


def pool_plan(
    inputs: Inputs, plan: ResamplingPlan, request: FitRequest, first_block: int | None
) -> Iterator[list[Scores]]:
    """Yield, block by block, the score of all test sets of each repetition together."""
    target, several = inputs.target, isinstance(request.scorer, EachScorer)
    scorers = EachScorer(request.scorers(target), raises=True)
    wanted = FitRequest(methods_of_scorers(scorers.scorers.values(), inputs))
    for block, output in fit_plan(inputs, plan, wanted, first_block=first_block):
        fits, pooled = list(output), list[Scores]()
        for start in range(0, len(fits), plan.fits_per_draw):
            of_draw = slice(start, start + plan.fits_per_draw)
            joined = join_outputs(fits[of_draw])
            part = block.take(np.arange(len(fits))[of_draw])
            codes = part.tested_labels(target.codes, ~joined.failed)
            if not len(codes):
                pooled.append(np.nan)
                continue
            responses = joined.responses | {"predict": target.decode(joined.predicted)}
            model = ReplayedEstimator(responses, inputs.tags, target.classes)
            rows, labels = np.arange(len(codes)), target.decode(codes)
            scores = scorers.score_parts(model, rows, labels, target)
            pooled.append(scores if several else scores[""])
        yield pooled


def score_each(
    inputs: Inputs, plan: ResamplingPlan, scoring: Any, *, skip_undefined: bool = False
) -> list[Any]:
    """Return the score of each fit, nan if it failed."""
    options = {"several": not callable(scoring), "skip_undefined": skip_undefined}
    parts = score_plan(inputs, plan, scoring, **options)
    return [score for part in parts for score in part]


def mean_score(scores: list[Any]) -> Scores:
    """Return the mean over the fits that did not fail, by metric if there are several."""
    scores = [score for score in scores if score is not None]
    if not scores:
        return np.nan
    if isinstance(scores[0], dict):
        return {name: float(np.mean([score[name] for score in scores])) for name in scores[0]}
    return float(np.mean(scores))
