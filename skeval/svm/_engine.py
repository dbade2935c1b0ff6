"""Serve the fits of a plan by the batch solver: a linear two-class SVC, alone or standardised."""

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils import check_array

from skeval.model_selection._plan import PlanBlock
from skeval.model_selection._predict import BatchDecisions, BatchEngine, batch_engine
from skeval.model_selection._target import Target
from skeval.model_selection._weights import weight_parameters
from skeval.svm._batch import LinearSVMBatch
from skeval.svm._tolerance import doubtful_fits, residual_bound

__all__ = ["LinearSVMEngine", "loop_decision", "serves", "signs_of"]


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
    return LinearSVMEngine(make_pipeline(*transformers, estimator), X, target)


def is_plain_scaler(step: Any) -> bool:
    """Whether a step is a StandardScaler that both centres and scales."""
    return type(step) is StandardScaler and step.with_mean and step.with_std


class LinearSVMEngine:
    """Solve the fits of a StandardScaler (or none) and an SVC on samples that are prepared once."""

    def __init__(self, pipeline: Pipeline, X: np.ndarray, target: Target) -> None:
        self.pipeline, self.X, self.target = pipeline, X, target
        self._batch = LinearSVMBatch(X)

    def __call__(self, block: PlanBlock) -> BatchDecisions:
        """Return the exact decisions: those of the loop within the tolerance of libsvm."""
        solution = self._batch.solve(**self._problems(block))
        return BatchDecisions(solution.decision, solution.converged)

    def as_in_loop(self, block: PlanBlock, *, ranks: bool) -> BatchDecisions:
        """Return decisions whose signs, and if asked order within a fit, are those of the loop."""
        problems = self._problems(block)
        solution = self._batch.solve(**problems)
        scales = problems["scale_weights"]
        doubtful = doubtful_fits(
            self._batch.columns(scales),
            np.broadcast_to(problems["signs"], problems["box"].shape),
            problems["box"],
            solution.alpha,
            solution.decision,
            block.test,
            residual_bound(self.pipeline[-1].tol, self._batch.norms(scales), solution.alpha),
            ranks=ranks,
        )
        for r in np.flatnonzero(doubtful):
            positive = (
                self.target.codes[slice(None) if block.order is None else block.order[r]] == 1
            )
            solution.decision[r] = loop_decision(self.pipeline, self.X, positive, block.train[r])
        return BatchDecisions(solution.decision, np.ones(len(block), dtype=bool))

    def _problems(self, block: PlanBlock) -> dict[str, Any]:
        weights = block.train.astype(float)
        return {
            "signs": signs_of(self.target, block),
            "box": self.pipeline[-1].C * weights,
            "scale_weights": weights if len(self.pipeline) > 1 else None,
        }


def loop_decision(
    estimator: Any, X: np.ndarray, positive: np.ndarray, train: np.ndarray
) -> np.ndarray:
    """Return the decision values (n,) of one fit by scikit-learn itself, of weights (n,)."""
    rows, weights = np.flatnonzero(train), None
    if train.dtype.kind == "f":
        weights = train[rows]
    else:
        rows = np.repeat(rows, train[rows])
    with config_context(assume_finite=True, skip_parameter_validation=True):
        model = clone(estimator)
        model.fit(X[rows], positive[rows], **weight_parameters(estimator, weights))
        return model.decision_function(X)


def signs_of(target: Target, block: PlanBlock) -> np.ndarray:
    """Return the labels as -1 and +1, one row for each fit where these differ."""
    signs = 2.0 * target.codes - 1.0
    return signs if block.order is None else signs[block.order]
