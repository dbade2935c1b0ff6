"""Serve the fits of a plan by the batch solver: a linear two-class SVC, alone or standardised."""

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils import check_array

from skeval.model_selection._plan import PlanBlock
from skeval.model_selection._predict import BatchDecisions, BatchEngine, batch_engine
from skeval.model_selection._target import Target
from skeval.svm._batch import LinearSVMBatch

__all__ = ["serves", "signs_of"]


def serves(estimator: SVC, target: Target) -> bool:
    """Whether the batch solver solves the problems of this classifier as it would itself."""
    return (
        type(estimator) is SVC
        and estimator.kernel == "linear"
        and estimator.max_iter == -1
        and estimator.class_weight in (None, {})
        and estimator.probability is not True  # "deprecated" is its newer default
        and target.classes is not None
        and len(target.classes) == 2
    )


@batch_engine.register
def svc_engine(estimator: SVC, X: Any, target: Target, transformers: tuple) -> BatchEngine | None:
    """Return the engine of a linear two-class SVC, alone or behind a StandardScaler."""
    standardize = [is_plain_scaler(step) for step in transformers]
    if not serves(estimator, target) or len(standardize) > 1 or not all(standardize):
        return None
    if issparse(X) or (standardize and np.asarray(X).dtype == np.float32):
        return None  # a scaler keeps single precision, which the solver does not imitate
    X = check_array(X, dtype=np.float64, estimator=estimator, input_name="X")
    return linear_engine(X, estimator.C, target, bool(standardize))


def is_plain_scaler(step: Any) -> bool:
    """Whether a step is a StandardScaler that both centres and scales."""
    return type(step) is StandardScaler and step.with_mean and step.with_std


def linear_engine(X: np.ndarray, C: float, target: Target, standardize: bool) -> BatchEngine:
    """Return what solves a block of fits on samples that are prepared once."""
    batch = LinearSVMBatch(X)

    def decisions(block: PlanBlock) -> BatchDecisions:
        weights = block.train.astype(float)
        solution = batch.solve(
            signs_of(target, block),
            C * weights,
            scale_weights=weights if standardize else None,
        )
        return BatchDecisions(solution.decision, solution.converged)

    return decisions


def signs_of(target: Target, block: PlanBlock) -> np.ndarray:
    """Return the labels as -1 and +1, one row for each fit where these differ."""
    signs = 2.0 * target.codes - 1.0
    return signs if block.order is None else signs[block.order]
