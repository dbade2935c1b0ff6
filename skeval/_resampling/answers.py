"""What every fit of a plan answers to its tested samples: predictions, and scores of classes."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import get_tags

from skeval._resampling.fits import FAILED, FittedBlock, resampled_fits
from skeval._resampling.plan import PlanBlock, ResamplingPlan
from skeval._resampling.replay import ReplayedEstimator
from skeval._resampling.responses import Responses, tie_values
from skeval._resampling.scores import takes_responses
from skeval._resampling.target import Target

__all__ = ["Answer", "Questions", "find_response_method", "resampled_answers"]

SCORING_METHODS = ("predict_proba", "decision_function")


class Answer(NamedTuple):
    """What a fit answers to the rows that it is tested on.

    Attributes
    ----------
    rows : int ndarray of shape (n_tested,)
    predicted : ndarray of shape (n_tested,)
        Class codes, or numbers.
    response : ndarray of shape (n_tested, n_classes) or (n_tested,), or None
        Probabilities of the classes, or decision values (of two classes, those of the second);
        None where the estimator has neither.
    scores : dict of str to float
        What the scorers that were asked for find, by name.
    noted : object
        What was read off the model, None where nothing was asked for.
    """

    rows: np.ndarray
    predicted: np.ndarray
    response: np.ndarray | None = None
    scores: dict[str, float] | None = None
    noted: Any = None


@dataclass(frozen=True, eq=False)
class Questions:
    """What is read off each model beside its predictions.

    Attributes
    ----------
    scorers : dict of str to callable
        Scorers, each ``(model, X, y) -> float``.
    note : callable or None
        ``note(model, X, y)`` returns what is worth keeping of a model and the samples that it is
        tested on; the models are then fitted one by one.
    """

    scorers: dict[str, Any]
    note: Callable[[Any, Any, Any], Any] | None = None


def resampled_answers(
    estimator: Any,
    X: Any,
    target: Target,
    plan: ResamplingPlan,
    questions: Questions,
    **options: Any,
) -> Iterator[Answer | None]:
    """Yield what each fit of a plan answers, None where it failed.

    `options` are those of `resampled_fits`. One fit serves predictions, scores of classes and all
    scorers.
    """
    method = find_response_method(estimator, target)
    tags = get_tags(estimator)
    adapted = questions.note is None and all(
        takes_responses(estimator, scorer, scorer, tags, target)
        for scorer in questions.scorers.values()
    )
    read = partial(read_answer, method=method, questions=questions, target=target)
    options |= {"adapted": adapted, "finish": keep_tested}
    for fitted in resampled_fits(estimator, X, target, plan, read, **options):
        block, solved = fitted.block, {}
        for fit, rows, responses in fitted.decisions.each_fit(block):
            solved[fit] = answer_of_responses(rows, responses, method, questions, tags, target)
        for fit, finding in enumerate(fitted.findings):
            if fit in solved:
                yield solved[fit]
            elif finding is FAILED:
                yield None
            else:
                yield place_answer(finding, block, fit, target)


def find_response_method(estimator: Any, target: Target) -> str | None:
    """Return the method that scores classes: probabilities where there are some.

    Decision values of pairs of classes are no scores of classes, not even where three classes
    have as many pairs.
    """
    if target.classes is None:
        return None
    method = next((name for name in SCORING_METHODS if hasattr(estimator, name)), None)
    shapes = [
        value
        for name, value in estimator.get_params(deep=True).items()
        if name.endswith("decision_function_shape")
    ]
    by_pairs = method == "decision_function" and "ovo" in shapes and len(target.classes) > 2
    return None if by_pairs else method


def keep_tested(fitted: FittedBlock) -> FittedBlock:
    """Return a block with the decision values of the tested samples alone, which are fewer."""
    if isinstance(fitted.decisions, Responses):
        return fitted
    return fitted._replace(decisions=fitted.decisions.keep_tested(fitted.block))


def read_answer(
    model: Any, X: Any, y: Any, *, method: str | None, questions: Questions, target: Target
) -> tuple[Any, ...]:
    """Return what a fitted model answers, in the worker."""
    response = None
    if method is not None:
        try:
            response = align_response(getattr(model, method)(X), method, model, target)
            if method == "decision_function" and response is not None:
                response = tie_values(response)
        except Exception:  # the error needs no scores; who reads the answer says what is missing
            response = None
    scores = score_model(questions, model, X, y)
    noted = None if questions.note is None else questions.note(model, X, y)
    return np.asarray(model.predict(X)), response, scores, noted


def score_model(questions: Questions, model: Any, X: Any, y: Any) -> dict[str, float]:
    """Return what each scorer finds: nan where it refuses, as for a test set of one class."""
    scores = {}
    with warnings.catch_warnings():  # whoever asks counts what is undefined
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        for name, scorer in questions.scorers.items():
            try:
                score = scorer(model, X, y)
            except ValueError:
                score = np.nan
            if isinstance(score, dict):
                raise TypeError(f"scoring must give one number, {name!r} gave a dict.")
            scores[name] = float(score)
    return scores


def align_response(given: Any, method: str, model: Any, target: Target) -> np.ndarray | None:
    """Return scores with a column for each class of the target, or decision values of the second.

    A class that the model has not seen has probability 0. Decision values say nothing of it, nor
    have those of a model of other classes a meaning for all: None.
    """
    response, classes = np.asarray(given), target.classes
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


def place_answer(found: tuple[Any, ...], block: PlanBlock, fit: int, target: Target) -> Answer:
    """Return what was read off a model, beside the rows that it was tested on."""
    predicted, response, scores, noted = found
    rows = np.flatnonzero(block.test[fit])
    return Answer(rows, target.encode(predicted, len(rows)), response, scores, noted)


def answer_of_responses(
    rows: np.ndarray,
    responses: dict[str, np.ndarray],
    method: str | None,
    questions: Questions,
    tags: Any,
    target: Target,
) -> Answer:
    """Return the answer of a fit that a solver did."""
    scores = {}
    if questions.scorers:
        named = responses | {"predict": target.decode(responses["predict"])}
        replayed, order = ReplayedEstimator(named, tags, target.classes), np.arange(len(rows))
        true = target.decode(target.codes[rows])
        scores = score_model(questions, replayed, order, true)
    response = None if method is None else responses.get(method)
    return Answer(rows, responses["predict"], response, scores)
