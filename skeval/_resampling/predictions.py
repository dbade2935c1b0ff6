"""The predictions of every fit of a plan, as arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from skeval._resampling.fits import FittedBlock, resampled_fits
from skeval._resampling.plan import PlanBlock, ResamplingPlan
from skeval._resampling.responses import Responses
from skeval._resampling.target import Target

__all__ = ["PredictedBlock", "resampled_predictions"]


class PredictedBlock(NamedTuple):
    """The predictions of one block.

    Attributes
    ----------
    block : PlanBlock
    predictions : ndarray of shape (n_fits, n_samples)
        Class codes (-1 where untested) or numbers (nan where untested).
    failed : bool ndarray of shape (n_fits,)
        Fits that raised, under ``error_score=numpy.nan``.
    """

    block: PlanBlock
    predictions: np.ndarray
    failed: np.ndarray


def resampled_predictions(
    estimator: Any, X: Any, target: Target, plan: ResamplingPlan, **options: Any
) -> Iterator[PredictedBlock]:
    """Yield the predictions of every fit of a plan; `options` are those of `resampled_fits`."""
    options["finish"] = decide
    for fitted in resampled_fits(estimator, X, target, plan, predict, **options):
        block, decisions, findings = fitted
        solved = decisions.solved
        predictions = target.empty_predictions(len(block))
        if solved.any():
            settled = block.test & solved[:, None]
            predictions[settled] = decisions.answers(block)
        failed = fitted.failed
        for r in np.flatnonzero(~solved & ~failed):
            tested = block.test[r]
            predictions[r, tested] = target.encode(findings[r], int(tested.sum()))
        yield PredictedBlock(block, predictions, failed)


def decide(fitted: FittedBlock) -> FittedBlock:
    """Return a block with the predictions of the tested samples alone, which are smaller."""
    predicted, solved = fitted.decisions.answers(fitted.block), fitted.decisions.solved
    return fitted._replace(decisions=Responses(predicted, solved))


def predict(model: Any, X: Any, y: Any) -> np.ndarray:
    """Return what a fitted model predicts."""
    return np.asarray(model.predict(X))
