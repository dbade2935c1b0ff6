"""What is asked of every fit of a plan: predictions, scores of classes, a scorer, a note.

A scorer that needs no more than answers to samples is asked of a solver's fits, too. The metrics
that most tests are made with are computed for many fits at once, from tables and ranks: a row of
the table is found by the function that a scorer calls, so a scorer with a name and one that is made
of the same function are one. A score of nan is undefined, or of a case that scikit-learn warns of:
it is computed again by the scorer itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from sklearn import metrics
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import accuracy_score, get_scorer, make_scorer
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from skeval._resampling.plan import FitOutput, PlanBlock, answers_by_size, tie_values
from skeval._resampling.task import Target, Task
from skeval.metrics._scorers import read_scoring
from skeval.metrics._table import BINARY, find_row
from skeval.utils._compat import limit_threads

__all__ = [
    "EachScorer",
    "Questions",
    "ReplayedEstimator",
    "decides_by_pairs",
    "find_response_method",
]


SCORING_METHODS = ("predict_proba", "decision_function")


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

    def score_by(self, names: tuple[str, ...], target: Target) -> Callable[[Any, Any, Any], Any]:
        """Return what scores by some of the scorers; one without a name is the only one."""
        if self.scoring is None:
            return get_scorer("r2" if target.classes is None else "accuracy")
        if not is_several(self.scoring):
            assert self.scorer is not None
            return self.scorer
        if isinstance(self.scorer, EachScorer):
            return EachScorer({name: self.scorer.scorers[name] for name in names})
        parts = name_parts(self.scoring)
        return read_scoring(None, {name: parts[name] for name in names})

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
    parts = name_parts(scoring).values()
    if None in parts:  # the score of an estimator, that of all that a solver serves
        return True
    if not all(isinstance(part, str | Scorer) for part in parts):
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


@limit_threads(limits=1, user_api="blas")
def score_answers(
    output: FitOutput, block: PlanBlock, questions: Questions, tags: Any, target: Target
) -> list[Any]:
    """Return the score of each fit that a solver did, None for the others.

    The usual metrics are computed for all fits at once, and what is left of them one by one.
    """
    done, parts = np.flatnonzero(~output.failed), name_parts(questions.scoring)
    found = np.full((len(output), len(parts)), np.nan)
    answers = Answers(block.tested_labels(target.codes, ~output.failed), output, target)
    for column, part in zip(found.T, parts.values(), strict=True):
        score_fits = find_scores(part, target)
        if score_fits is not None and len(done):
            column[done] = score_fits(answers)
    names, several = np.array([*parts, ""])[:-1], is_several(questions.scoring)
    scores: list[Any] = [None] * len(output)
    for fit in done.tolist():
        scores[fit] = dict(zip(parts, found[fit].tolist(), strict=True))
    for fit, part in enumerate(output if np.isnan(found[done]).any() else ()):
        left = tuple(names[np.isnan(found[fit])].tolist())
        if left and scores[fit] is not None:
            scorer = questions.score_by(left, target)
            rows = part.rows
            codes = target.codes[rows if block.order is None else block.order[fit, rows]]
            responses: dict[str, Any] = part.responses
            responses["predict"] = target.decode(responses["predict"])
            if part.decision is not None:
                responses["decision_function"] = part.tie_decision()
            replayed = ReplayedEstimator(responses, tags, target.classes)
            scored = scorer(replayed, np.arange(len(rows)), target.decode(codes))
            scores[fit] |= scored if several else {"": scored}
    return scores if several else [each and each[""] for each in scores]


def is_several(scoring: Any) -> bool:
    """Whether an argument `scoring` names several scorers."""
    return isinstance(scoring, list | tuple | set | dict)


def name_parts(scoring: Any) -> dict[str, Any]:
    """Return the scorers that an argument `scoring` names; a single one has no name."""
    if isinstance(scoring, dict):
        return scoring
    return {part: part for part in scoring} if is_several(scoring) else {"": scoring}


class ReplayedEstimator:
    """A fitted estimator whose samples are row numbers of responses found before.

    Any scorer that uses its samples only through the methods of the estimator can judge it:
    ``scorer(replayed, rows, y[rows])``.
    """

    def __init__(self, responses: dict[str, np.ndarray], tags: Any, classes: Any) -> None:
        self.responses = responses
        self._tags = tags
        if classes is not None:
            self.classes_ = classes

    @available_if(lambda self: "predict" in self.responses)
    def predict(self, rows: np.ndarray) -> np.ndarray:
        return self.responses["predict"][rows]

    @available_if(lambda self: "decision_function" in self.responses)
    def decision_function(self, rows: np.ndarray) -> np.ndarray:
        return self.responses["decision_function"][rows]

    @available_if(lambda self: "predict_proba" in self.responses)
    def predict_proba(self, rows: np.ndarray) -> np.ndarray:
        return self.responses["predict_proba"][rows]

    def positive_score(self) -> np.ndarray:
        """Return the score of the second class for every sample."""
        if "decision_function" in self.responses:
            return self.responses["decision_function"]
        if "predict_proba" in self.responses:
            return self.responses["predict_proba"][:, 1]
        raise ValueError("the estimators must have decision_function or predict_proba.")

    def __sklearn_tags__(self) -> Any:
        return self._tags

    def __sklearn_is_fitted__(self) -> bool:
        return True


Scorer = type(make_scorer(accuracy_score))

ANY_CLASS = ("pos_label", None)
"""What scorers of the mean over classes are made with."""


class Answers:
    """The answers of some fits that did not fail, fit after fit, and the true labels.

    Parameters
    ----------
    true : ndarray of shape (n_answers,)
        Codes, or numbers.
    output : FitOutput
    target : Target
    """

    def __init__(self, true: np.ndarray, output: FitOutput, target: Target) -> None:
        self.true = true
        self.output = output
        self.predicted = output.predicted
        self.sizes = output.sizes[~output.failed]
        self.n_classes = target.n_classes

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Return the sum over the answers of each fit; no fit is tested on nothing."""
        starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        sums: np.ndarray = np.add.reduceat(values, starts)
        return sums

    @cached_property
    def table(self) -> np.ndarray:
        """How often each class was predicted as each, shape (n_classes, n_classes, n_fits)."""
        k, n_fits = self.n_classes, len(self.sizes)
        pair = (self.true * k + self.predicted) * n_fits
        cell = pair + np.repeat(np.arange(n_fits), self.sizes)
        return np.bincount(cell, minlength=k * k * n_fits).reshape(k, k, n_fits)

    @cached_property
    def hits(self) -> np.ndarray:
        """How often each class was found, shape (n_classes, n_fits)."""
        return np.diagonal(self.table).T

    @cached_property
    def members(self) -> np.ndarray:
        """How many tested samples each class has, shape (n_classes, n_fits)."""
        return self.table.sum(axis=1)

    @cached_property
    def named(self) -> np.ndarray:
        """How often each class was predicted, shape (n_classes, n_fits)."""
        return self.table.sum(axis=0)

    @cached_property
    def of_second(self) -> np.ndarray | None:
        """What ranks the answers by the second class, decision values without rounding errors."""
        if self.output.decision is not None:
            return self.output.tie_decision()
        return None if self.output.probability is None else self.output.probability[:, 1]

    @cached_property
    def second(self) -> np.ndarray:
        """The probability of the second of two classes."""
        probability: np.ndarray = self.output.probability[:, 1]
        return probability

    def ranked(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield the fits of one size, their labels, best first, and where a score is the last one.

        Labels and ends have the shape (n_fits_of_size, size).
        """
        assert self.of_second is not None
        for fits, at in answers_by_size(self.sizes):
            scores = self.of_second[at]
            order = np.argsort(-scores, axis=1, kind="stable")
            scores = np.take_along_axis(scores, order, axis=1)
            ends = np.ones(scores.shape, dtype=bool)
            ends[:, :-1] = scores[:, 1:] != scores[:, :-1]
            yield fits, np.take_along_axis(self.true[at], order, axis=1), ends


def divide(over: np.ndarray, under: np.ndarray) -> np.ndarray:
    """Return fractions, nan where the denominator is 0."""
    fractions: np.ndarray = over / np.where(under > 0, under, np.nan)
    return fractions


def accuracy(answers: Answers) -> np.ndarray:
    """Return the fraction that is predicted right."""
    return answers.sums((answers.true == answers.predicted).astype(np.intp)) / answers.sizes


def balanced_accuracy(answers: Answers) -> np.ndarray:
    """Return the mean fraction of each class that is found; nan where an absent one is named."""
    absent = answers.members == 0
    shares = np.where(absent, 0.0, answers.hits / np.maximum(answers.members, 1))
    mean = shares.sum(axis=0) / (~absent).sum(axis=0)
    return np.where((absent & (answers.named > 0)).any(axis=0), np.nan, mean)


def f1(answers: Answers) -> np.ndarray:
    """Return the harmonic mean of precision and recall, of the second class."""
    return divide(2 * answers.hits[1], answers.members[1] + answers.named[1])


def f1_macro(answers: Answers) -> np.ndarray:
    """Return the mean of F1 over the classes that are there or are named."""
    both = answers.members + answers.named
    each = np.where(both > 0, 2 * answers.hits / np.maximum(both, 1), 0.0)
    mean: np.ndarray = each.sum(axis=0) / (both > 0).sum(axis=0)
    return mean


def precision(answers: Answers) -> np.ndarray:
    """Return the fraction of what is named the second class that is of it."""
    return divide(answers.hits[1], answers.named[1])


def recall(answers: Answers) -> np.ndarray:
    """Return the fraction of the second class that is found."""
    return divide(answers.hits[1], answers.members[1])


def matthews(answers: Answers) -> np.ndarray:
    """Return Matthews' correlation of true and predicted classes, 0 where one is constant."""
    n = answers.sizes.astype(float)
    members, named = answers.members.astype(float), answers.named.astype(float)
    covariance = answers.hits.sum(axis=0) * n - (members * named).sum(axis=0)
    both = (n**2 - (named**2).sum(axis=0)) * (n**2 - (members**2).sum(axis=0))
    return np.where(both > 0, covariance / np.sqrt(np.maximum(both, 1.0)), 0.0)


def kappa(answers: Answers) -> np.ndarray:
    """Return Cohen's kappa, nan where all is one class."""
    by_chance = (answers.members * (answers.named / answers.sizes)).sum(axis=0)
    wrong = answers.sizes - answers.hits.sum(axis=0)
    return 1 - divide(wrong, answers.sizes - by_chance)


def roc_auc(answers: Answers) -> np.ndarray:
    """Return the area under the ROC curve, nan where a class is absent."""
    areas = np.empty(len(answers.sizes))
    for fits, labels, ends in answers.ranked():
        size = labels.shape[1]
        positive = labels.sum(axis=1)
        last = np.where(ends, np.arange(size), size)
        last = np.minimum.accumulate(last[:, ::-1], axis=1)[:, ::-1]  # of those tied with each
        first = np.zeros_like(last)
        first[:, 1:] = np.where(ends[:, :-1], np.arange(1, size), 0)
        first = np.maximum.accumulate(first, axis=1)
        behind = (2 * size - first - last) * labels  # twice the rank from the end
        pairs = positive * (size - positive)
        areas[fits] = divide(behind.sum(axis=1) - positive * (positive + 1), 2 * pairs)
    return areas


def average_precision(answers: Answers) -> np.ndarray:
    """Return the mean precision at the samples of the second class; nan where one is absent."""
    means = np.empty(len(answers.sizes))
    for fits, labels, ends in answers.ranked():
        size = labels.shape[1]
        positive = labels.sum(axis=1)
        found = np.where(ends, labels.cumsum(axis=1), 0)
        gained = found - np.maximum.accumulate(np.c_[np.zeros(len(found)), found[:, :-1]], axis=1)
        there = np.where(ends, gained * found / np.arange(1, size + 1), 0.0).sum(axis=1)
        means[fits] = np.where(positive == size, np.nan, divide(there, positive))
    return means


def log_loss(answers: Answers) -> np.ndarray:
    """Return minus the mean log-probability of the true class; nan where a class is absent."""
    if answers.n_classes == 2:
        of_true = np.where(answers.true == 1, answers.second, 1 - answers.second)
    else:
        of_true = answers.output.probability[np.arange(len(answers.true)), answers.true]
    eps = np.finfo(of_true.dtype).eps
    loss = answers.sums(-np.log(np.clip(of_true, eps, 1 - eps))) / answers.sizes
    return np.where((answers.members == 0).any(axis=0), np.nan, loss)


def brier(answers: Answers) -> np.ndarray:
    """Return the mean squared error of the probability; nan where a class is absent."""
    loss = answers.sums((answers.second - answers.true) ** 2) / answers.sizes
    return np.where((answers.members == 0).any(axis=0), np.nan, loss)


def r2(answers: Answers) -> np.ndarray:
    """Return the fraction of the variance that is explained; nan where there is none."""
    true, sizes = answers.true.astype(float), answers.sizes
    means = np.repeat(answers.sums(true) / sizes, sizes)
    total = answers.sums((true - means) ** 2)
    unexplained = answers.sums((true - answers.predicted) ** 2)
    # A variance that is but a rounding error of the mean is left to scikit-learn.
    defined = total > 1e-20 * answers.sums(true**2)
    score: np.ndarray = 1 - unexplained / np.where(defined, total, np.nan)
    if np.array_equal(true, np.rint(true)):  # sums are exact, and so is a variance of 0
        constant = (total == 0) & (sizes > 1)
        score[constant] = unexplained[constant] == 0
    return score


def squared_error(answers: Answers) -> np.ndarray:
    """Return the mean of the squared residuals."""
    return answers.sums((answers.true - answers.predicted) ** 2) / answers.sizes


def root_squared_error(answers: Answers) -> np.ndarray:
    """Return the root of the mean of the squared residuals."""
    return np.sqrt(squared_error(answers))


def absolute_error(answers: Answers) -> np.ndarray:
    """Return the mean of the absolute residuals."""
    return answers.sums(np.abs(answers.true - answers.predicted)) / answers.sizes


class ScoreFits(NamedTuple):
    """A metric of many fits at once.

    Attributes
    ----------
    score : callable
        ``score(answers)`` returns one number for each fit.
    positive : bool
        Whether it takes the label 1 as the class to be found, of two.
    """

    score: Callable[[Answers], np.ndarray]
    positive: bool = False

    def serves(self, scorer: Any, classes: np.ndarray) -> bool:
        """Whether it says of these classes what a scorer says."""
        row = find_row(scorer._score_func)
        assert row is not None
        if not np.array_equal(scorer._response_method, row.response):
            return False
        if (self.positive or row.targets == BINARY) and len(classes) != 2:
            return False
        return not self.positive or (classes.dtype.kind in "iuf" and classes.tolist()[1] == 1)


SCORES_OF_CLASSES = {
    (metrics.accuracy_score, ""): ScoreFits(accuracy),
    (metrics.balanced_accuracy_score, ""): ScoreFits(balanced_accuracy),
    (metrics.f1_score, ""): ScoreFits(f1, positive=True),
    (metrics.f1_score, "binary"): ScoreFits(f1, positive=True),
    (metrics.f1_score, "macro"): ScoreFits(f1_macro),
    (metrics.f1_score, "micro"): ScoreFits(accuracy),
    (metrics.precision_score, ""): ScoreFits(precision, positive=True),
    (metrics.precision_score, "binary"): ScoreFits(precision, positive=True),
    (metrics.recall_score, ""): ScoreFits(recall, positive=True),
    (metrics.recall_score, "binary"): ScoreFits(recall, positive=True),
    (metrics.matthews_corrcoef, ""): ScoreFits(matthews),
    (metrics.cohen_kappa_score, ""): ScoreFits(kappa),
    (metrics.roc_auc_score, ""): ScoreFits(roc_auc),
    (metrics.average_precision_score, ""): ScoreFits(average_precision, positive=True),
    (metrics.log_loss, ""): ScoreFits(log_loss),
    (metrics.brier_score_loss, ""): ScoreFits(brier, positive=True),
}
"""By the function that a scorer calls, and its argument `average`."""

SCORES_OF_NUMBERS = {
    (metrics.r2_score, ""): ScoreFits(r2),
    (metrics.mean_squared_error, ""): ScoreFits(squared_error),
    (metrics.root_mean_squared_error, ""): ScoreFits(root_squared_error),
    (metrics.mean_absolute_error, ""): ScoreFits(absolute_error),
}


def find_scores(scoring: Any, target: Target) -> Callable[[Answers], np.ndarray] | None:
    """Return what computes a metric of many fits at once, None where nothing does.

    None is the `score` of an estimator, the accuracy or R^2 of all that a solver serves.
    """
    if scoring is None:
        scoring = "r2" if target.classes is None else "accuracy"
    if isinstance(scoring, str):
        try:
            scoring = get_scorer(scoring)
        except ValueError:
            return None
    if type(scoring) is not Scorer:
        return None
    given = {name: value for name, value in scoring._kwargs.items() if (name, value) != ANY_CLASS}
    if given.keys() - {"average"}:
        return None
    key = scoring._score_func, given.get("average", "")
    row = (SCORES_OF_NUMBERS if target.classes is None else SCORES_OF_CLASSES).get(key)
    if row is None or not (target.classes is None or row.serves(scoring, target.classes)):
        return None
    score, sign = row.score, scoring._sign
    return score if sign == 1 else lambda answers: sign * score(answers)
