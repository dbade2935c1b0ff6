"""The score of every repetition of a plan, by any scorer."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.utils import get_tags

from skeval._resampling.fits import FAILED, FittedBlock, make_no_decisions, resampled_fits
from skeval._resampling.plan import ResamplingPlan
from skeval._resampling.replay import ReplayedEstimator
from skeval._resampling.target import Target
from skeval.utils._compat import limit_threads

__all__ = ["Scores", "resampled_scores"]

Scores = float | dict[str, float]
Scorer = type(make_scorer(accuracy_score))
DECIMALS = 9
"""Decision values, in units of the margin, are known to so many decimals: what agrees is tied."""


def resampled_scores(
    estimator: Any,
    X: Any,
    target: Target,
    plan: ResamplingPlan,
    scorer: Any,
    *,
    scoring: Any = None,
    **options: Any,
) -> Iterator[list[Scores]]:
    """Yield, block by block, the mean score over the fits of each repetition, by metric.

    `scorer` is what `scoring` names; `options` are those of `resampled_fits`.
    """
    tags = get_tags(estimator)
    adapted = takes_decisions(scorer, scoring, tags, target)
    read, finish = partial(read_score, scorer), None
    if adapted:
        finish = partial(score_block, scorer=scorer, scoring=scoring, tags=tags, target=target)
    options |= {"adapted": adapted, "finish": finish}
    for fitted in resampled_fits(estimator, X, target, plan, read, **options):
        scores, per_repetition = fitted.findings, plan.fits_per_repetition
        starts = range(0, len(scores), per_repetition)
        yield [mean_score(scores[start : start + per_repetition]) for start in starts]


def read_score(scorer: Any, model: Any, X: Any, y: Any) -> Scores:
    """Return the score of a fitted model."""
    score: Scores = scorer(model, X, y)
    return score


def takes_decisions(scorer: Any, scoring: Any, tags: Any, target: Target) -> bool:
    """Whether a scorer needs no more than the decision values of two classes.

    A scorer that scikit-learn made uses its samples only through the methods of the
    estimator; which methods it needs is tried on two samples of each class.
    """
    if target.classes is None or len(target.classes) != 2:
        return False
    if is_accuracy(scoring):
        return True
    if not all(isinstance(part, str | Scorer) for part in list_parts(scoring)):
        return False
    replayed = ReplayedEstimator.from_decisions(np.array([-2.0, -1, 1, 2]), tags, target.classes)
    try:
        scorer(replayed, np.arange(4), target.classes[[0, 0, 1, 1]])
    except AttributeError:
        return False
    except ValueError:  # the scorer refuses these labels, and will raise for the real ones too
        return True
    return True


def is_accuracy(scoring: Any) -> bool:
    """Whether a metric is the default one of classifiers."""
    return scoring is None or (isinstance(scoring, str) and scoring == "accuracy")


def list_parts(scoring: Any) -> list[Any]:
    """Return the scorers that an argument `scoring` names."""
    if isinstance(scoring, dict):
        return list(scoring.values())
    return list(scoring) if isinstance(scoring, list | tuple | set) else [scoring]


def score_block(
    fitted: FittedBlock, scorer: Any, scoring: Any, tags: Any, target: Target
) -> FittedBlock:
    """Return a block with the scores of all its fits, and without decisions."""
    scores = add_solved_scores(fitted, scorer, scoring, tags, target)
    block, (_, solved), _ = fitted
    return FittedBlock(block, make_no_decisions(block)._replace(solved=solved), scores)


@limit_threads(limits=1, user_api="blas")
def add_solved_scores(
    fitted: FittedBlock, scorer: Any, scoring: Any, tags: Any, target: Target
) -> list[Any]:
    """Return the scores of all fits of a block, those that a solver did included."""
    block, (values, solved), scores = fitted
    codes = block.order_labels(target.codes)
    if is_accuracy(scoring):  # the usual case is computed without a loop
        correct = ((values >= 0) == codes) & block.test
        accuracy = (correct.sum(axis=1) / block.test.sum(axis=1)).tolist()
        return [a if done else s for a, s, done in zip(accuracy, scores, solved, strict=True)]
    scores, values = list(scores), np.round(values, DECIMALS)
    for r in np.flatnonzero(solved):
        rows = np.flatnonzero(block.test[r])
        replayed = ReplayedEstimator.from_decisions(values[r], tags, target.classes)
        scores[r] = scorer(replayed, rows, target.decode(codes[r, rows]))
    return scores


def mean_score(scores: list[Any]) -> Scores:
    """Return the mean over the fits of a repetition, of each metric if there are several.

    It is over the fits that did not fail, and nan where all did.
    """
    scores = [score for score in scores if score is not FAILED]
    if not scores:
        return np.nan
    if isinstance(scores[0], dict):
        return {name: float(np.mean([score[name] for score in scores])) for name in scores[0]}
    return float(np.mean(scores))
