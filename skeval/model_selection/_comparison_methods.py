"""The tests of `compare_classifiers`: what each needs of the estimators, and how it judges two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.random import SeedSequence
from sklearn.utils import get_tags

from skeval._inference.delong import delong
from skeval._inference.equivalence import correlated_t_probabilities
from skeval._inference.paired_tests import (
    PairedTest,
    corrected_t,
    differences_of,
    mcnemar,
    paired_bootstrap,
    paired_delong,
)
from skeval._resampling.fits import fit_plan, score_plan
from skeval._resampling.folds import fold_plan
from skeval._resampling.outputs import RESPONSES, ReplayedEstimator, join_outputs
from skeval._resampling.questions import Questions
from skeval._resampling.target import Target
from skeval._resampling.task import Task
from skeval._resampling.units import drawing_units, values_or_nan, warn_of_undefined
from skeval.utils._checks import warn_undefined

__all__ = ["METHODS", "Findings", "Problem", "judge_splits"]


@dataclass(frozen=True)
class Problem:
    """Tasks of some estimators on the same data, the splits they share, and how to judge them."""

    tasks: tuple[Task, ...]
    folds: list[tuple[np.ndarray, np.ndarray]]
    scoring: Any
    scorer: Any
    rope: float
    alternative: str
    n_resamples: int
    root: SeedSequence

    @property
    def target(self) -> Target:
        """What all estimators are to predict."""
        return self.tasks[0].target

    def replay(self, *methods: str) -> list[ReplayedEstimator]:
        """Return all with their out-of-fold responses: those of some methods, or of all."""
        return [replay_out_of_fold(task, self.folds, methods or RESPONSES) for task in self.tasks]


def replay_out_of_fold(
    task: Task, folds: list[tuple[np.ndarray, np.ndarray]], methods: tuple[str, ...]
) -> ReplayedEstimator:
    """Fit on each training part and replay the responses to its test part."""
    target, tested = task.target, np.concatenate([test for _, test in folds])
    if not np.array_equal(np.sort(tested), np.arange(len(target))):
        raise ValueError(
            "cv must test every sample exactly once where out-of-fold predictions are pooled; "
            "method='corrected_t' takes any splits."
        )
    asked = Questions(methods, note=read_classes)
    fits = fit_plan(task, fold_plan(len(target), folds), asked)
    output = join_outputs([output for _, output in fits])
    classes = output.notes or [None]
    if any(not np.array_equal(seen, classes[0]) for seen in classes):
        raise ValueError(
            "cv must leave every class in every training part, got parts with the classes "
            f"{sorted({str(seen.tolist()) for seen in classes})}."
        )
    order = np.argsort(output.rows)
    answers = {name: values[order] for name, values in output.responses.items()}
    if "predict" in answers:
        answers["predict"] = target.decode(answers["predict"])
    return ReplayedEstimator(answers, get_tags(task.estimator), classes[0])


def read_classes(model: Any, X: Any, y: Any) -> Any:
    """Return the classes that a model has seen, None where it has none."""
    return getattr(model, "classes_", None)


Details = dict[str, Any]


class Findings(NamedTuple):
    """What a method finds.

    Attributes
    ----------
    scores : ndarray of shape (n_estimators,)
    judge : callable
        The test of two estimators by their places, and what else the result says of the two.
    """

    scores: np.ndarray
    judge: Callable[[int, int], tuple[PairedTest, Details]]


def judge_splits(
    scores: np.ndarray, ratio: float, rope: float, alternative: str
) -> tuple[PairedTest, Details]:
    """Return the corrected t-test of two columns of scores of splits, and what else it says."""
    test = corrected_t(differences_of(scores), ratio, alternative)
    if test.standard_error == 0:
        warn_undefined(
            "The difference is the same on every split, which leaves no variance to test by: the "
            "interval is nan, and the P-value too unless the scores are equal."
        )
    difference = float(scores[:, 0].mean() - scores[:, 1].mean())
    probabilities = correlated_t_probabilities(difference, test.standard_error, len(scores), rope)
    return test, {"split_scores": scores, "rope": rope, "probabilities": probabilities}


def compare_by_splits(problem: Problem) -> Findings:
    """Score every split, and test the differences."""
    if len(problem.folds) < 2:
        raise ValueError(f"cv must make at least two splits, got {len(problem.folds)}.")
    plan = fold_plan(len(problem.target), problem.folds)
    asked = plan, problem.scorer, problem.scoring
    scores = np.column_stack(
        [np.concatenate(list(score_plan(task, *asked))) for task in problem.tasks]
    )
    if problem.tasks[0].error_score != "raise":
        scores = scores[np.isfinite(scores).all(axis=1)]
        if len(scores) < 2:
            raise ValueError("error_score=numpy.nan leaves fewer than two splits to compare on.")
    ratio = float(np.mean([len(test) / len(train) for train, test in problem.folds]))

    def judge(a: int, b: int) -> tuple[PairedTest, Details]:
        return judge_splits(scores[:, [a, b]], ratio, problem.rope, problem.alternative)

    return Findings(scores.mean(axis=0), judge)


def compare_by_errors(problem: Problem) -> Findings:
    """Count the samples that one of two gets right alone."""
    truth = problem.target.y
    right = np.array([each.predict(slice(None)) == truth for each in problem.replay("predict")])

    def judge(a: int, b: int) -> tuple[PairedTest, Details]:
        only_a, only_b = int(np.sum(right[a] & ~right[b])), int(np.sum(right[b] & ~right[a]))
        test, method = mcnemar(only_a, only_b, len(truth), problem.alternative)
        return test, {"method": method, "discordant": (only_a, only_b)}

    return Findings(right.mean(axis=1), judge)


def compare_by_areas(problem: Problem) -> Findings:
    """Compare areas under ROC curves by their covariance."""
    replayed = problem.replay("decision_function", "predict_proba")
    classes = replayed[0].classes_
    if len(classes) != 2:
        raise ValueError(f"method='delong' needs two classes in y, got {len(classes)}.")
    positive = problem.target.y == classes[1]
    if min(positive.sum(), (~positive).sum()) < 2:
        raise ValueError("method='delong' needs two samples of each class in y, got fewer.")
    areas, covariance = delong(positive, np.array([each.positive_score() for each in replayed]))

    def judge(a: int, b: int) -> tuple[PairedTest, Details]:
        two = [a, b]
        return paired_delong(areas[two], covariance[np.ix_(two, two)], problem.alternative), {}

    return Findings(areas, judge)


def compare_by_resamples(problem: Problem) -> Findings:
    """Score all on the same resamples of their out-of-fold responses."""
    replayed, truth = problem.replay(), problem.target.y
    units = drawing_units(len(truth), None, problem.tasks[0].groups)
    scores, drawn = [], []
    for each in replayed:

        def score(rows: np.ndarray, each: ReplayedEstimator = each) -> float:
            return float(problem.scorer(each, rows, truth[rows]))

        scores.append(score(np.arange(len(truth))))
        drawn.append(
            values_or_nan(score, units, problem.n_resamples, problem.root, problem.tasks[0].n_jobs)
        )

    def judge(a: int, b: int) -> tuple[PairedTest, Details]:
        replicates = drawn[a] - drawn[b]
        warn_of_undefined(replicates)
        defined = replicates[~np.isnan(replicates)]
        if len(defined) < 2:
            raise ValueError("scoring must be defined on two resamples at least, it is on fewer.")
        test = paired_bootstrap(scores[a] - scores[b], defined, problem.alternative)
        return test, {"replicates": replicates}

    return Findings(np.array(scores), judge)


METHODS: dict[str, Callable[[Problem], Findings]] = {
    "corrected_t": compare_by_splits,
    "mcnemar": compare_by_errors,
    "bootstrap": compare_by_resamples,
    "delong": compare_by_areas,
}
