"""The score of every repetition of a plan, by any scorer."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, get_scorer, make_scorer
from sklearn.utils import get_tags

from skeval._resampling.fits import FAILED, FittedBlock, make_no_decisions, resampled_fits
from skeval._resampling.plan import ResamplingPlan
from skeval._resampling.replay import RESPONSES, ReplayedEstimator
from skeval._resampling.score_arrays import SCORES_OF_CLASSES, SCORES_OF_NUMBERS, ScoresOfFits
from skeval._resampling.target import Target
from skeval.utils._compat import limit_threads

__all__ = [
    "Scores",
    "resampled_scores",
    "takes_responses",
]

Scores = float | dict[str, float]
Scorer = type(make_scorer(accuracy_score))


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
    adapted = takes_responses(estimator, scorer, scoring, tags, target)
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


def takes_responses(estimator: Any, scorer: Any, scoring: Any, tags: Any, target: Target) -> bool:
    """Whether a scorer needs no more than the responses of an estimator to the tested samples.

    A scorer that scikit-learn made uses its samples only through the methods of the
    estimator; which methods it needs is tried on two samples of each class.
    """
    if find_scores(scoring, target) is not None:
        return True
    if not all(isinstance(part, str | Scorer) for part in list_parts(scoring)):
        return False
    codes = np.repeat(np.arange(2 if target.classes is None else len(target.classes)), 2)
    methods = [method for method in RESPONSES if hasattr(estimator, method)]
    found = {method: make_response(method, codes, target) for method in methods}
    replayed = ReplayedEstimator(found, tags, target.classes)
    try:
        scorer(replayed, np.arange(len(codes)), make_response("predict", codes, target))
    except AttributeError:
        return False
    except ValueError:  # the scorer refuses these labels, and will raise for the real ones too
        return True
    return True


def make_response(method: str, codes: np.ndarray, target: Target) -> np.ndarray:
    """Return what a method might answer to samples of these classes."""
    if target.classes is None:
        return codes + 1.0
    if method == "predict":
        return target.decode(codes)
    if method == "decision_function" and len(target.classes) == 2:
        return np.array([-2.0, -1, 1, 2])
    # Rows that add up to 1 with the largest value at the class, no two of them equal.
    n_classes, n_samples = len(target.classes), len(codes)
    share = 0.6 + 0.3 * np.arange(n_samples) / n_samples
    rest = np.broadcast_to((1 - share[:, None]) / (n_classes - 1), (n_samples, n_classes)).copy()
    rest[np.arange(n_samples), codes] = share
    return rest


def name_metric(scoring: Any, target: Target) -> str | None:
    """Return the name of a single metric, None where it has none.

    The default is the `score` of an estimator, which is that of all that a solver serves.
    """
    if scoring is None:
        return "r2" if target.classes is None else "accuracy"
    return scoring if isinstance(scoring, str) else None


def find_scores(scoring: Any, target: Target) -> ScoresOfFits | None:
    """Return what computes a metric of many fits at once, None where nothing does."""
    known = SCORES_OF_NUMBERS if target.classes is None else SCORES_OF_CLASSES
    return known.get(name_metric(scoring, target))


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
    decisions = make_no_decisions(fitted.block)._replace(solved=fitted.decisions.solved)
    return FittedBlock(fitted.block, decisions, scores)


@limit_threads(limits=1, user_api="blas")
def add_solved_scores(
    fitted: FittedBlock, scorer: Any, scoring: Any, tags: Any, target: Target
) -> list[Any]:
    """Return the scores of all fits of a block, those that a solver did included."""
    block, decisions, findings = fitted
    scores, waiting = list(findings), decisions.solved.copy()
    score_fits = find_scores(scoring, target)
    if score_fits is not None:  # the usual cases are computed without a loop
        found = score_fits(
            block.tested_labels(target.codes, decisions.solved),
            decisions.answers(block),
            block.test[decisions.solved].sum(axis=1),
        )
        for r, score in zip(np.flatnonzero(decisions.solved), found.tolist(), strict=True):
            scores[r] = score
        waiting[decisions.solved] = np.isnan(found)
        scorer = get_scorer(name_metric(scoring, target))
    if not waiting.any():
        return scores
    for fit, rows, responses in decisions.each_fit(block):
        if waiting[fit]:
            codes = target.codes[rows if block.order is None else block.order[fit, rows]]
            responses["predict"] = target.decode(responses["predict"])
            replayed = ReplayedEstimator(responses, tags, target.classes)
            scores[fit] = scorer(replayed, np.arange(len(rows)), target.decode(codes))
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
