"""Scores of fitted models on their test sets, with the classes of the whole target.

A model may order its classes in another way, or may not have seen one of them, and a test set may
lack a class. Scorers of scikit-learn therefore get an `AlignedModel` and the known classes.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import make_scorer
from sklearn.utils.metaestimators import available_if

from skeval._resampling.inputs import Inputs
from skeval._resampling.plans import ResamplingPlan
from skeval._resampling.target import Target
from skeval.utils._checks import ignored_warnings
from skeval.utils._compat import is_plain_scorer, metric_of_scorer, responses_of_scorer

OF_CLASSES = {"predict_proba", "decision_function"}
"""Prediction methods with a column for each class."""


def align_columns(method: str, response: np.ndarray, seen: Any, classes: np.ndarray) -> Any:
    """Return scores with a column for each of the classes, or decision values of the second of two.

    `seen` are the classes of the columns in the order of the model. A class that the model has not
    seen has probability 0. The result is None if decision values are of other classes.
    """
    seen = classes if seen is None else np.asarray(seen)
    response = flatten_column(response)
    if response.ndim not in (1, 2) or not np.isin(seen, classes).all():
        return None
    if np.array_equal(seen, classes):
        return response
    if response.ndim == 1:  # decision values of the second of two classes
        return -response if np.array_equal(seen[::-1], classes) else None
    if response.shape[1] != len(seen) or (method != "predict_proba" and len(seen) < len(classes)):
        return None
    aligned = np.zeros((len(response), len(classes)))
    aligned[:, np.searchsorted(classes, seen)] = response
    return aligned


def flatten_column(predicted: Any, outputs: Any = ()) -> Any:
    """Return predictions of shape (n, 1) as a vector, unless the target has several outputs."""
    if not outputs and getattr(predicted, "ndim", 1) == 2 and predicted.shape[1] == 1:
        return np.asarray(predicted).reshape(-1)
    return predicted


class AlignedModel:
    """A fitted model whose scores of classes are in the order of the classes of the target.

    Each response to the same samples is computed once.
    """

    def __init__(self, model: Any, target: Target) -> None:
        self._model, self._target = model, target
        self._known: dict[str, tuple[Any, Any]] = {}
        if target.classes is not None:
            self.classes_ = target.classes

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["_model"], name)

    def __sklearn_tags__(self) -> Any:
        return self._model.__sklearn_tags__()

    def _respond(self, method: str, X: Any) -> Any:
        samples, response = self._known.get(method, (None, None))
        if samples is not X:
            response = getattr(self._model, method)(X)
            if method == "predict":
                response = flatten_column(response, self._target.outputs)
            elif self._target.classes is not None:
                seen = getattr(self._model, "classes_", None)
                aligned = align_columns(method, np.asarray(response), seen, self._target.classes)
                response = response if aligned is None else aligned
            self._known[method] = X, response
        return response

    @available_if(lambda self: hasattr(self._model, "predict"))
    def predict(self, X: Any) -> Any:
        return self._respond("predict", X)

    @available_if(lambda self: hasattr(self._model, "predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        return self._respond("predict_proba", X)

    @available_if(lambda self: hasattr(self._model, "decision_function"))
    def decision_function(self, X: Any) -> Any:
        return self._respond("decision_function", X)


def know_classes(scorer: Any, classes: np.ndarray | None) -> Any:
    """Return a scorer of scikit-learn with all classes as `labels` of its metric, if it has any."""
    if classes is None or not is_plain_scorer(scorer):
        return scorer
    function, fixed, better = metric_of_scorer(scorer)
    methods = responses_of_scorer(scorer)
    named = {methods} if isinstance(methods, str) else set(methods or ())
    if not named <= OF_CLASSES or "labels" in fixed:
        return scorer
    if "labels" not in signature(function).parameters:
        return scorer
    options = fixed | {"labels": classes}
    return make_scorer(function, response_method=methods, greater_is_better=better, **options)


def score_model(scorer: Any, model: Any, X: Any, y: Any, target: Target) -> Any:
    """Return the score of a fitted model, or a dict of scores by name."""
    if isinstance(scorer, EachScorer):
        return scorer.score_parts(model, X, y, target)
    if is_plain_scorer(scorer):
        model = AlignedModel(model, target)
    return know_classes(scorer, target.classes)(model, X, y)


@dataclass(frozen=True)
class EachScorer:
    """Scorers by name, whose scores come from the same predictions.

    An undefined score, for which scikit-learn raises a ValueError, is nan unless `raises`.
    """

    scorers: dict[str, Any]
    raises: bool = False

    def score_parts(self, model: Any, X: Any, y: Any, target: Target) -> dict[str, Any]:
        """Return the score by each scorer."""
        scores, aligned = {}, AlignedModel(model, target)
        # the caller counts undefined scores
        with nullcontext() if self.raises else ignored_warnings(UndefinedMetricWarning):
            for name, scorer in self.scorers.items():
                plain = is_plain_scorer(scorer)
                try:
                    scorer = know_classes(scorer, target.classes)
                    scores[name] = scorer(aligned if plain else model, X, y)
                except ValueError:  # for example, the test set has one class
                    if self.raises:
                        raise
                    scores[name] = np.nan
                except AttributeError as error:
                    check_response(name, scorer, model, error)
                    raise
                if isinstance(scores[name], dict):
                    raise TypeError(
                        f"scoring must give one number by each scorer, {name!r} gave a dict with "
                        f"{', '.join(map(repr, scores[name]))}; give a dict of scorers instead."
                    )
        return scores


class NoResponseError(ValueError, AttributeError):
    """Error for a model without any prediction method that a scorer accepts."""


def check_response(name: str, scorer: Any, model: Any, error: Exception) -> None:
    """Raise `NoResponseError` if a model lacks all prediction methods that a scorer accepts."""
    methods = responses_of_scorer(scorer) or ()
    methods = [methods] if isinstance(methods, str) else list(methods)
    if not methods or any(hasattr(model, method) for method in methods):
        return
    remedy = "a scorer of predicted labels or numbers, such as balanced_accuracy"
    if "predict_proba" in methods:
        remedy = f"an estimator with probabilities, such as LogisticRegression, or {remedy}"
    raise NoResponseError(
        f"scoring={name!r} needs {' or '.join(methods)}, which the estimator does not have; use "
        f"{remedy}."
    ) from error


class ReplayedEstimator:
    """A fitted estimator that looks up stored predictions: its samples are their row numbers.

    It works with any scorer that uses its samples only through prediction methods:
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


def make_response(method: str, codes: np.ndarray, target: Target) -> np.ndarray:
    """Return possible outputs of a prediction method for samples of these classes."""
    if target.classes is None:
        return codes + 1.5  # fractions, which no metric mistakes for classes
    if method == "predict":
        return target.decode(codes)
    n_classes, n_samples = len(target.classes), len(codes)
    share = 0.6 + 0.3 * np.arange(n_samples) / n_samples
    if method == "decision_function" and n_classes == 2:
        return np.where(codes == 1, share, -share)
    # Rows that add up to 1 with the largest value at the class, no two of them equal.
    rest = np.broadcast_to((1 - share[:, None]) / (n_classes - 1), (n_samples, n_classes)).copy()
    rest[np.arange(n_samples), codes] = share
    return rest


def methods_of_scorers(scorers: Iterable[Any], inputs: Inputs) -> tuple[str, ...]:
    """Return the prediction methods of the estimator that scorers of scikit-learn may use."""
    methods = {"predict"}
    for scorer in scorers:
        names = responses_of_scorer(scorer) or ()
        methods |= {names} if isinstance(names, str) else set(names)
    return tuple(sorted(methods & set(inputs.responses)))


class SmallTestSetError(ValueError):
    """Error for a score of several samples, or classes, that a test set lacks."""


class Trial:
    """Possible predictions for a few samples of each class, or some numbers, some of them wrong.

    Scores of subsets show which test sets a scorer requires.
    """

    def __init__(self, inputs: Inputs) -> None:
        rng, target = np.random.default_rng(0), inputs.target
        self.target = target
        if target.outputs:
            rows, others = rng.integers(len(target), size=(2, 12))
            true, responses = target.y[rows], {"predict": target.y[others]}
        elif target.classes is None:
            true = 1 + rng.random(12)
            responses = {"predict": true + 0.3 * rng.random(12)}
        else:
            k = len(target.classes)
            # classes of unequal sizes, with unequal shares of wrong predictions
            codes = np.r_[np.repeat(np.arange(k), 3), np.zeros(4, dtype=np.intp)]
            guesses = codes.copy()
            guesses[[0, 1, 3]] = [1, 1, 0]
            true = target.decode(codes)
            responses = {
                method: make_response(method, guesses, target) for method in inputs.responses
            }
        self.true, self.n = true, len(true)
        self.model = ReplayedEstimator(responses, inputs.tags, target.classes)

    def score(self, scorer: Any, rows: np.ndarray) -> float:
        """Return the score of some samples, nan if it is undefined."""
        with ignored_warnings(), np.errstate(all="ignore"):
            try:
                return float(score_model(scorer, self.model, rows, self.true[rows], self.target))
            except Exception:  # a function of the user may use the samples in any way
                return np.nan

    def is_mean(self, scorer: Any) -> bool:
        """Whether a score is a mean over samples, or cannot be tried."""
        rows = np.arange(self.n)
        whole = self.score(scorer, rows)
        if np.isnan(whole):
            return True
        singles = np.array([self.score(scorer, rows[row : row + 1]) for row in rows])
        return bool(np.isclose(singles.mean(), whole, rtol=1e-9, atol=1e-12))

    def is_defined(self, scorer: Any, classes: np.ndarray, size: int) -> bool:
        """Whether the score of a test set of this size with these classes is defined."""
        rows = np.arange(self.n)
        if self.target.classes is not None:
            rows = rows[np.isin(self.true, self.target.classes[classes])]
        return bool(np.isfinite(self.score(scorer, rows[:1] if size == 1 else rows)))


def check_test_sets(
    inputs: Inputs, plan: ResamplingPlan, scorers: dict[str, Any], *, skip_undefined: bool = False
) -> None:
    """Raise if a score needs several samples or classes that a test set of the plan lacks.

    A mean over samples, such as accuracy, may be averaged over test sets of any size. Other scores
    of a single sample or class are undefined, or constants that do not depend on the model. With
    `skip_undefined`, the caller leaves out test sets without a score.
    """
    target = inputs.target
    # the test sets of the observed labels: a permutation test has those first
    poor: dict[tuple[int, ...], int] = {}
    for number in range(plan.n_draws):
        block = plan.draw(number)
        for fit in (block[number] for number in range(len(block))):
            rows = np.flatnonzero(fit.test) if fit.order is None else fit.order[fit.test]
            codes = target.codes[rows] if target.classes is not None else rows[:0]
            present = np.unique(codes).tolist()
            if len(rows) == 1 or len(present) < target.n_classes:
                poor.setdefault(tuple(present), len(rows))
        if block.order is not None:
            break
    if not poor:
        return
    trial = Trial(inputs)
    for name, scorer in scorers.items():
        if trial.is_mean(scorer):
            continue
        for present, size in poor.items():
            defined = trial.is_defined(scorer, np.array(present, dtype=np.intp), size)
            if skip_undefined and not defined:
                continue
            if size == 1 or len(present) == 1:
                what = "with a single sample"
                if size > 1:
                    assert target.classes is not None
                    what = f"with class {target.decode(np.array(present)).tolist()[0]!r} only"
            elif defined:
                continue
            else:
                absent = np.setdiff1d(np.arange(target.n_classes), present)
                what = f"without class {target.decode(absent).tolist()[0]!r}"
            shown = f"={name!r}" if name else ""
            kinds, mean = " of all classes", "'accuracy' or 'neg_log_loss'"
            if target.classes is None:
                kinds, mean = "", "'neg_mean_squared_error'"
            raise SmallTestSetError(
                f"scoring{shown} must be computed from test sets with several samples{kinds}, cv "
                f"makes one {what}; use fewer folds{', stratified by the classes' if kinds else ''}"
                f", or a mean over samples, such as {mean}. score_interval computes the usual "
                "scores from all test sets together."
            )
