"""What is asked of every fit of a plan: predictions, scores of classes, a scorer, a note.

A scorer that needs no more than answers to samples is asked of a solver's fits, too; the metrics
that most tests are made with are computed for many fits at once.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import accuracy_score, get_scorer, make_scorer
from sklearn.utils import get_tags

from skeval._resampling.outputs import FitOutput, ReplayedEstimator, tie_values
from skeval._resampling.plan import PlanBlock
from skeval._resampling.target import Target
from skeval._resampling.task import Task
from skeval.utils._compat import limit_threads

__all__ = [
    "SCORES_OF_CLASSES",
    "SCORES_OF_NUMBERS",
    "EachScorer",
    "Questions",
    "ScoresOfFits",
    "decides_by_pairs",
    "find_response_method",
]

SCORING_METHODS = ("predict_proba", "decision_function")
Scorer = type(make_scorer(accuracy_score))


@dataclass(frozen=True, eq=False)
class Questions:
    """What is read off each fitted model; a `FitOutput` holds the answers.

    Attributes
    ----------
    methods : tuple of str
        The methods of the model that answer to its tested samples, some of `RESPONSES`.
    scorer : callable or None
        ``scorer(model, X, y)`` returns a number or a dict of numbers.
    scoring : str, callable, list, tuple, set, dict or None
        What `scorer` was made of: it tells whether answers are enough for it.
    note : callable or None
        ``note(model, X, y)`` returns what else is worth keeping of a model and the samples that
        it is tested on; the models are then fitted one by one.
    """

    methods: tuple[str, ...] = ("predict",)
    scorer: Callable[[Any, Any, Any], Any] | None = None
    scoring: Any = None
    note: Callable[[Any, Any, Any], Any] | None = None

    def and_scores_of_classes(self, estimator: Any, target: Target) -> Questions:
        """Return what is asked, and predictions with the scores of classes that there are."""
        method = find_response_method(estimator, target)
        return replace(self, methods=("predict", *([] if method is None else [method])))

    def need_no_model(self, task: Task) -> bool:
        """Whether a solver, which finds answers to samples but makes no model, can answer."""
        if self.note is not None:
            return False
        return self.scorer is None or takes_answers(task, self.scorer, self.scoring)

    def read(self, model: Any, X: Any, y: Any, target: Target) -> dict[str, Any]:
        """Return what a fitted model answers, by the names of columns; labels are not encoded."""
        found: dict[str, Any] = {}
        if "decision_function" in self.methods:
            decision = read_response("decision_function", model, X, target)
            found["decision"] = None if decision is None else tie_values(decision)
        if "predict_proba" in self.methods:
            found["probability"] = read_response("predict_proba", model, X, target)
        if self.scorer is not None:
            found["scores"] = [self.scorer(model, X, y)]
        if self.note is not None:
            found["notes"] = [self.note(model, X, y)]
        if "predict" in self.methods:
            found["predicted"] = np.asarray(model.predict(X))
        return found

    def keep(
        self, output: FitOutput, block: PlanBlock, estimator: Any, target: Target
    ) -> FitOutput:
        """Return of a solver's output, in the worker, what is asked for."""
        scores = None
        if self.scorer is not None:
            scores = score_answers(output, block, self, get_tags(estimator), target)
        decision = None
        if "decision_function" in self.methods and output.decision is not None:
            decision = output.tie_decision()
        return FitOutput(
            output.test,
            output.failed,
            output.predicted if "predict" in self.methods else None,
            decision,
            output.probability if "predict_proba" in self.methods else None,
            scores,
        )


@dataclass(frozen=True)
class EachScorer:
    """Scorers by name as one, which gives a dict of numbers: nan where a scorer refuses."""

    scorers: dict[str, Any]

    def __call__(self, model: Any, X: Any, y: Any) -> dict[str, float]:
        scores = {}
        with warnings.catch_warnings():  # whoever asks counts what is undefined
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            for name, scorer in self.scorers.items():
                try:
                    score = scorer(model, X, y)
                except ValueError:  # as for a test set of one class
                    score = np.nan
                if isinstance(score, dict):
                    raise TypeError(
                        f"scoring must give one number by each scorer, {name!r} gave a dict with "
                        f"{', '.join(map(repr, score))}; give a dict of scorers instead."
                    )
                scores[name] = float(score)
        return scores


def find_response_method(estimator: Any, target: Target) -> str | None:
    """Return the method that scores classes: probabilities where there are some.

    Decision values of pairs of classes are no scores of classes, not even where three classes
    have as many pairs.
    """
    if target.classes is None or decides_by_pairs(estimator, target):
        return None
    return next((name for name in SCORING_METHODS if hasattr(estimator, name)), None)


def decides_by_pairs(estimator: Any, target: Target) -> bool:
    """Whether an estimator has decision values of pairs of classes, and nothing else."""
    if target.classes is None or len(target.classes) < 3 or hasattr(estimator, "predict_proba"):
        return False
    shapes = [
        value
        for name, value in estimator.get_params(deep=True).items()
        if name.endswith("decision_function_shape")
    ]
    return "ovo" in shapes and hasattr(estimator, "decision_function")


def read_response(method: str, model: Any, X: Any, target: Target) -> np.ndarray | None:
    """Return scores with a column for each class of the target, or decision values of the second.

    A class that the model has not seen has probability 0. Decision values say nothing of it, nor
    have those of a model of other classes a meaning for all: None. So is what the model cannot
    say; whoever needs it tells that it is missing.
    """
    if not hasattr(model, method):
        return None
    try:
        response = np.asarray(getattr(model, method)(X))
    except Exception:
        return None
    classes = target.classes
    seen = np.asarray(getattr(model, "classes_", classes))
    if response.ndim == 2 and response.shape[1] == 1:
        response = response[:, 0]
    if classes is None or np.array_equal(seen, classes):
        return response if response.ndim in (1, 2) else None
    if method != "predict_proba" or response.shape[1:] != (len(seen),):
        return None
    aligned = np.zeros((len(response), len(classes)))
    aligned[:, np.searchsorted(classes, seen)] = response
    return aligned


def takes_answers(task: Task, scorer: Any, scoring: Any) -> bool:
    """Whether a scorer needs no more than the answers of an estimator to the tested samples.

    A scorer that scikit-learn made uses its samples only through the methods of the
    estimator; which methods it needs is tried on two samples of each class.
    """
    target = task.target
    if find_scores(scoring, target) is not None:
        return True
    if not all(isinstance(part, str | Scorer) for part in list_parts(scoring)):
        return False
    codes = np.repeat(np.arange(2 if target.classes is None else len(target.classes)), 2)
    found = {method: make_response(method, codes, target) for method in task.responses}
    replayed = ReplayedEstimator(found, task.tags, target.classes)
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


@limit_threads(limits=1, user_api="blas")
def score_answers(
    output: FitOutput, block: PlanBlock, questions: Questions, tags: Any, target: Target
) -> list[Any]:
    """Return the score of each fit that a solver did, None for the others."""
    done = ~output.failed
    scores: list[Any] = [None] * len(output)
    waiting, scorer = done.copy(), questions.scorer
    score_fits = find_scores(questions.scoring, target)
    if score_fits is not None:  # the usual cases are computed without a loop
        true = block.tested_labels(target.codes, done)
        found = score_fits(true, output.predicted, output.sizes[done])
        for fit, score in zip(np.flatnonzero(done), found.tolist(), strict=True):
            scores[fit] = score
        waiting[done] = np.isnan(found)
        scorer = get_scorer(name_metric(questions.scoring, target))
    if not waiting.any() or scorer is None:
        return scores
    for number, part in enumerate(output):
        if waiting[number]:
            rows = part.rows
            codes = target.codes[rows if block.order is None else block.order[number, rows]]
            answers = part.responses | {"predict": target.decode(part.responses["predict"])}
            tied = part.tie_decision()
            if tied is not None:
                answers["decision_function"] = tied
            replayed = ReplayedEstimator(answers, tags, target.classes)
            scores[number] = scorer(replayed, np.arange(len(rows)), target.decode(codes))
    return scores


def sums_of_fits(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the sum over the answers of each fit; no fit is tested on nothing."""
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    sums: np.ndarray = np.add.reduceat(values, starts)
    return sums


def accuracy(true: np.ndarray, predicted: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the fraction that is predicted right."""
    return sums_of_fits((true == predicted).astype(np.intp), sizes) / sizes


def r2(true: np.ndarray, predicted: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the fraction of the variance that is explained; nan where there is none."""
    true = true.astype(float)
    means = np.repeat(sums_of_fits(true, sizes) / sizes, sizes)
    total = sums_of_fits((true - means) ** 2, sizes)
    unexplained = sums_of_fits((true - predicted) ** 2, sizes)
    # A variance that is but a rounding error of the mean is left to scikit-learn.
    defined = total > 1e-20 * sums_of_fits(true**2, sizes)
    score: np.ndarray = 1 - unexplained / np.where(defined, total, np.nan)
    if np.array_equal(true, np.rint(true)):  # sums are exact, and so is a variance of 0
        constant = (total == 0) & (sizes > 1)
        score[constant] = unexplained[constant] == 0
    return score


def negative_mean_squared_error(
    true: np.ndarray, predicted: np.ndarray, sizes: np.ndarray
) -> np.ndarray:
    """Return minus the mean of the squared residuals."""
    error: np.ndarray = -sums_of_fits((true - predicted) ** 2, sizes) / sizes
    return error


ScoresOfFits = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]

SCORES_OF_CLASSES: dict[str | None, ScoresOfFits] = {"accuracy": accuracy}
SCORES_OF_NUMBERS: dict[str | None, ScoresOfFits] = {
    "r2": r2,
    "neg_mean_squared_error": negative_mean_squared_error,
}
"""``(true, predicted, sizes)`` of all answers, fit after fit, to one score for each fit.

A score of nan is computed again by scikit-learn's scorer.
"""
