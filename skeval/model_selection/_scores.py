"""The scores of every repetition of a plan: the loop over fits for metrics of any kind."""

from collections.abc import Iterable, Iterator
from typing import Any, Protocol, runtime_checkable

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from skeval.model_selection._plan import PlanBlock, ResamplingPlan, concatenated
from skeval.model_selection._predict import BatchEngine, find_batch_engine, fits_of
from skeval.model_selection._target import Target
from skeval.utils._compat import safe_indexing

__all__ = ["DecisionEngine", "resampled_scores"]

Scores = float | dict[str, float]


@runtime_checkable
class DecisionEngine(Protocol):
    """A batch engine of two-class rules that also gives their decision values."""

    def decisions(self, block: PlanBlock) -> np.ndarray:
        """Return the decision values of a block, shape (n_fits, n_samples), nan where untested."""


class KnownDecisions(ClassifierMixin, BaseEstimator):
    """A fitted two-class rule of which only its decision values are left.

    It stands in for the estimator that a scorer is given, and ignores the samples it is asked
    about: they are the ones that the values are of.
    """

    def __init__(self, decisions: np.ndarray, classes: Any) -> None:
        self.decisions = decisions
        self.classes = classes
        self.classes_ = classes

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the known values."""
        return self.decisions

    def predict(self, X: Any) -> np.ndarray:
        """Return the class that each value stands for; as in libsvm, 0 means the second."""
        return self.classes[(self.decisions >= 0).astype(np.intp)]

    def __sklearn_is_fitted__(self) -> bool:
        return True


def resampled_scores(
    estimator: Any,
    X: Any,
    target: Target,
    plan: ResamplingPlan,
    scorer: Any,
    stages: Iterable[tuple[int, int]],
    *,
    scoring: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Iterator[list[Scores]]:
    """Yield, stage by stage, the mean score over the fits of each repetition, by metric.

    A stage is a range of repetitions, which the caller may leave before the next.
    """
    engine = engine_for(estimator, X, target, scoring)
    with Parallel(n_jobs=n_jobs, verbose=verbose) as parallel:
        for start, stop in stages:
            blocks = (plan.draw(r) for r in range(start, stop))
            if engine is not None:
                yield engine_scores(engine, X, target, list(blocks), scorer, scoring)
            else:
                yield parallel(
                    delayed(repetition_scores)(estimator, X, target.y, block, scorer)
                    for block in blocks
                )


def engine_for(estimator: Any, X: Any, target: Target, scoring: Any) -> BatchEngine | None:
    """Return the batch engine that can serve a metric."""
    engine = find_batch_engine(estimator, X, target)
    served = isinstance(engine, DecisionEngine) or scoring_is_accuracy(scoring, target)
    return engine if served else None


def scoring_is_accuracy(scoring: Any, target: Target) -> bool:
    """Whether predictions are all that a metric needs, and it is the default one."""
    return target.classes is not None and (scoring is None or scoring == "accuracy")


def repetition_scores(
    estimator: Any, X: Any, y: np.ndarray, block: PlanBlock, scorer: Any
) -> Scores:
    """Fit and score each fold of one repetition; return the means."""
    scores = []
    for rows, _, tested, order in fits_of(block):
        labels = y if order is None else y[order]
        model = clone(estimator).fit(safe_indexing(X, rows), labels[rows])
        scores.append(scorer(model, safe_indexing(X, tested), labels[tested]))
    return means(scores)


def engine_scores(
    engine: BatchEngine, X: Any, target: Target, blocks: list[PlanBlock], scorer: Any, scoring: Any
) -> list[Scores]:
    """Solve some repetitions at once and score each of their fits; return the means."""
    block = concatenated(blocks)
    if isinstance(engine, DecisionEngine) and not scoring_is_accuracy(scoring, target):
        scores = stand_in_scores(engine, X, target, block, scorer)
    else:
        scores = accuracies(engine, target, block).tolist()
    ends = np.cumsum([len(part) for part in blocks])
    return [means(scores[end - len(part) : end]) for part, end in zip(blocks, ends, strict=True)]


def accuracies(engine: BatchEngine, target: Target, block: PlanBlock) -> np.ndarray:
    """Return the fraction of the tested samples that each fit predicts correctly."""
    truth = target.codes if block.order is None else target.codes[block.order]
    correct = (engine(block) == truth) & block.test
    return correct.sum(axis=1) / block.test.sum(axis=1)


def stand_in_scores(
    engine: DecisionEngine, X: Any, target: Target, block: PlanBlock, scorer: Any
) -> list[Any]:
    """Return what a scorer says of each fit, given its decision values."""
    scores: list[Any] = []
    for r, decisions in enumerate(engine.decisions(block)):
        tested = np.flatnonzero(block.test[r])
        labels = target.y if block.order is None else target.y[block.order[r]]
        model = KnownDecisions(decisions[tested], target.classes)
        scores.append(scorer(model, safe_indexing(X, tested), labels[tested]))
    return scores


def means(scores: list[Any]) -> Scores:
    """Return the mean over the fits of a repetition, of each metric if there are several."""
    if isinstance(scores[0], dict):
        return {name: float(np.mean([score[name] for score in scores])) for name in scores[0]}
    return float(np.mean(scores))
