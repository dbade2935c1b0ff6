"""The scores of every repetition of a plan: the loop over fits for metrics of any kind."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Protocol, runtime_checkable

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.utils.metaestimators import available_if

from skeval.model_selection._plan import PlanBlock, ResamplingPlan, concatenated
from skeval.model_selection._predict import (
    BatchDecisions,
    batch_predictions,
    find_batch_engine,
    fits_of,
)
from skeval.model_selection._target import Target
from skeval.utils._compat import limit_threads, safe_indexing, safe_split
from skeval.utils._jobs import Jobs, open_jobs

__all__ = ["LoopEngine", "resampled_scores"]

Scores = float | dict[str, float]
Scorer = type(make_scorer(accuracy_score))


@runtime_checkable
class LoopEngine(Protocol):
    """A batch engine that can give the answers of the loop, its tolerance included."""

    def as_in_loop(self, block: PlanBlock, *, ranks: bool) -> BatchDecisions:
        """Return decisions whose signs, and if asked order within a fit, are those of the loop."""


class KnownDecisions(ClassifierMixin, BaseEstimator):
    """A fitted two-class rule of which only the decision values of some samples are left.

    It stands in for the estimator that a scorer is given. The signs and the order of the values
    are those of the estimator, the values themselves nearly; so `decision_function` is there for
    scorers that are known to use no more than the order.
    """

    def __init__(self, decisions: np.ndarray, classes: Any, ranks: bool) -> None:
        self.decisions = decisions
        self.classes = classes
        self.ranks = ranks
        self.classes_ = classes

    @available_if(lambda rule: rule.ranks)
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
    memory: Any = None,
) -> Iterator[list[Scores]]:
    """Yield, stage by stage, the mean score over the fits of each repetition, by metric.

    A stage is a range of repetitions, which the caller may leave before the next.
    """
    engine = engine_for(estimator, X, target, scoring)
    options = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory}
    task = clone(estimator), X, target.y, scorer
    with open_jobs(repetition_scores, *task, total=plan.n_repetitions, **options) as run:
        for start, stop in stages:
            blocks: Iterable[PlanBlock] = (plan.draw(r) for r in range(start, stop))
            if engine is not None:
                blocks = list(blocks)
                solve = partial(engine_scores, engine, X, target, scorer, scoring)
                scores = batch_scores(run, solve, blocks)
                if scores is not None:
                    run.parallel.advance(len(scores))
                    yield scores
                    continue
                engine = None
            yield run(blocks)


def batch_scores(run: Jobs, solve: Any, blocks: list[PlanBlock]) -> list[Scores] | None:
    """Return the scores of repetitions that an engine solves, as many at once as are kept."""
    size = max(1, (run.max_batch or sum(map(len, blocks))) // len(blocks[0]))
    scores: list[Scores] = []
    for start in range(0, len(blocks), size):
        found = run.batch(solve, blocks[start : start + size])
        if found is None:
            return None
        scores += found
    return scores


def engine_for(estimator: Any, X: Any, target: Target, scoring: Any) -> LoopEngine | None:
    """Return the batch engine that gives a metric its value in the loop."""
    engine = find_batch_engine(estimator, X, target)
    served = scoring_is_accuracy(scoring, target) or uses_responses(scoring)
    return engine if served and isinstance(engine, LoopEngine) else None


def scoring_is_accuracy(scoring: Any, target: Target) -> bool:
    """Whether predictions are all that a metric needs, and it is the default one."""
    return target.classes is not None and (scoring is None or scoring == "accuracy")


def uses_responses(scoring: Any) -> bool:
    """Whether scorers are made by scikit-learn: these use nothing but predictions."""
    return all(isinstance(part, str | Scorer) for part in parts_of(scoring))


def uses_ranks(scoring: Any) -> bool:
    """Whether scorers are scikit-learn's own: of decision values these use no more than order."""
    return all(isinstance(part, str) for part in parts_of(scoring))


def parts_of(scoring: Any) -> list[Any]:
    """Return the scorers that an argument `scoring` names."""
    if isinstance(scoring, dict):
        return list(scoring.values())
    return list(scoring) if isinstance(scoring, list | tuple | set) else [scoring]


def repetition_scores(
    estimator: Any, X: Any, y: np.ndarray, scorer: Any, block: PlanBlock
) -> Scores:
    """Fit and score each fold of one repetition; return the means."""
    scores = []
    for rows, _, tested, order in fits_of(block):
        labels = y if order is None else y[order]
        model = clone(estimator).fit(*safe_split(estimator, X, labels, rows))
        scores.append(scorer(model, *safe_split(estimator, X, labels, tested, rows)))
    return means(scores)


def engine_scores(
    engine: LoopEngine, X: Any, target: Target, scorer: Any, scoring: Any, blocks: list[PlanBlock]
) -> list[Scores] | None:
    """Solve some repetitions at once and score each of their fits; return the means.

    None if a fit is not solved, or the scorer needs the fitted estimator itself.
    """
    block = concatenated(blocks)
    if scoring_is_accuracy(scoring, target):
        scores = accuracies(engine, target, block)
    else:
        scores = stand_in_scores(engine, X, target, block, scorer, uses_ranks(scoring))
    if scores is None:
        return None
    ends = np.cumsum([len(part) for part in blocks])
    return [means(scores[end - len(part) : end]) for part, end in zip(blocks, ends, strict=True)]


def accuracies(engine: LoopEngine, target: Target, block: PlanBlock) -> list[float] | None:
    """Return the fraction of the tested samples that each fit predicts correctly."""
    truth = target.codes if block.order is None else target.codes[block.order]
    predictions, solved = batch_predictions(partial(engine.as_in_loop, ranks=False), target, block)
    correct = (predictions == truth) & block.test
    fractions: list[float] = (correct.sum(axis=1) / block.test.sum(axis=1)).tolist()
    return fractions if solved.all() else None


@limit_threads(limits=1, user_api="blas")
def stand_in_scores(
    engine: LoopEngine, X: Any, target: Target, block: PlanBlock, scorer: Any, ranks: bool
) -> list[Any] | None:
    """Return what a scorer says of each fit, given its decision values; None if it needs more."""
    scores: list[Any] = []
    values, solved = engine.as_in_loop(block, ranks=True)
    if not solved.all():
        return None
    for r, decisions in enumerate(values):
        tested = np.flatnonzero(block.test[r])
        labels = target.y if block.order is None else target.y[block.order[r]]
        model = KnownDecisions(decisions[tested], target.classes, ranks)
        try:
            scores.append(scorer(model, safe_indexing(X, tested), labels[tested]))
        except AttributeError:
            return None
    return scores


def means(scores: list[Any]) -> Scores:
    """Return the mean over the fits of a repetition, of each metric if there are several."""
    if isinstance(scores[0], dict):
        return {name: float(np.mean([score[name] for score in scores])) for name in scores[0]}
    return float(np.mean(scores))
