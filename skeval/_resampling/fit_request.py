"""Outputs requested from each fit, and scores of fitted models with the classes of the target.

A request lists predictions, scores of classes, scorers and a note. A scorer that uses only the
predictions of the tested samples also supports the fits of a solver.

A model may order its classes in another way, or may not have seen one of them, and a test set may
lack a class. Scorers of scikit-learn therefore receive a `StandIn` and the known classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from skeval._resampling.inputs import RESPONSES, FitOutput, Inputs, tie_values
from skeval._resampling.plans import PlanBlock, ResamplingPlan
from skeval._resampling.sampling_units import Target
from skeval.metrics._scorers import find_batch, name_scoring, read_scoring, refuse_metric_of_numbers
from skeval.metrics._table import BatchPredictions
from skeval.utils import _compat
from skeval.utils._checks import ignored_warnings

SCORING_METHODS = ("predict_proba", "decision_function")


@dataclass(frozen=True, eq=False)
class FitRequest:
    """Outputs requested from each fitted model, which are the columns of a `FitOutput`.

    Attributes
    ----------
    methods : tuple of str
        Prediction methods to call on the test samples, some of `RESPONSES`.
    scorers : dict of callables
        ``scorer(model, X, y)`` returns a number. Scores have the same names. A single scorer has
        the name "", and may return a dict of numbers.
    scoring : dict
        The scorers as passed by the user, names among them.
    raises : bool
        Whether a score that fails raises an error. Otherwise it is nan.
    note : callable or None
        ``note(model, X, y)`` returns further output of a model and its test samples. The models
        are then fitted one by one.
    """

    methods: tuple[str, ...] = ("predict",)
    scorers: Mapping[str, Any] = field(default_factory=dict)
    scoring: Mapping[str, Any] = field(default_factory=dict)
    raises: bool = True
    note: Callable[[Any, Any, Any], Any] | None = None

    @classmethod
    def for_scores(cls, estimator: Any, scoring: Any, raises: bool = True) -> FitRequest:
        """Return the request for the scores that an argument `scoring` names, and nothing else."""
        if not isinstance(scoring, list | tuple | set | dict):
            return cls((), {"": read_scoring(estimator, scoring)}, {"": scoring}, raises)
        read_scoring(estimator, scoring)  # raises unless all names are different strings
        parts = scoring if isinstance(scoring, dict) else {part: part for part in scoring}
        scorers = {name: read_scoring(estimator, part) for name, part in parts.items()}
        return cls((), scorers, parts, raises)

    def and_scores_of_classes(self, estimator: Any, target: Target) -> FitRequest:
        """Return the request with predictions and the available scores of classes.

        As in scikit-learn, two classes are ranked by decision values if there are any.
        """
        method = find_response_method(estimator, target)
        methods = {"predict"} if method is None else {"predict", method}
        if method is not None and target.n_classes == 2 and hasattr(estimator, SCORING_METHODS[1]):
            methods.add(SCORING_METHODS[1])
        return replace(self, methods=tuple(sorted(methods)))

    def need_no_model(self, inputs: Inputs) -> bool:
        """Whether only predictions are requested.

        A solver, which returns no models, can then do the fits.
        """
        if self.note is not None or not self.scorers:
            return self.note is None
        # a scorer may use the model in other ways
        parts = self.scoring.values()
        if None in parts:  # `score` of an estimator with a solver is accuracy or R^2
            return True
        if not all(isinstance(part, str) or _compat.is_plain_scorer(part) for part in parts):
            return False
        # scorers of scikit-learn use samples only through prediction methods
        known = [list_responses(scorer) for scorer in self.scorers.values()]
        return all(set(methods) & set(inputs.responses) for methods in known)

    def of_predictions(self, target: Target) -> FitRequest:
        """Return the request with a metric in place of the `score` of the estimator."""
        if None not in self.scoring.values():
            return self
        of_labels = target.classes is not None or target.output_classes
        return replace(self, scorers={"": get_scorer("accuracy" if of_labels else "r2")})

    def read(self, model: Any, X: Any, y: Any, target: Target) -> dict[str, Any]:
        """Return the outputs of a fitted model as a dict of columns. Labels are not encoded."""
        outputs: dict[str, Any] = {}
        if "decision_function" in self.methods:
            decision = read_response("decision_function", model, X, target)
            # rounding errors must not rank samples, so close decision values are made equal
            outputs["decision"] = None if decision is None else tie_values(decision)
        if "predict_proba" in self.methods:
            outputs["probability"] = read_response("predict_proba", model, X, target)
        if self.scorers:
            outputs["scores"] = [self.score(model, X, y, target)]
        if self.note is not None:
            outputs["notes"] = [self.note(model, X, y)]
        if "predict" in self.methods:
            # classifiers of several labels may predict a sparse matrix
            predicted = model.predict(X)
            dense = predicted.toarray() if issparse(predicted) else predicted
            outputs["predicted"] = flatten_column(np.asarray(dense), target.outputs)
        return outputs

    def score(self, model: Any, X: Any, y: Any, target: Target) -> dict[str, Any]:
        """Return the scores of a fitted model, all from the same predictions."""
        scores: dict[str, Any] = {}
        aligned = StandIn.of_model(model, target)
        # the caller counts undefined scores
        with nullcontext() if self.raises else ignored_warnings(UndefinedMetricWarning):
            for name, scorer in self.scorers.items():
                label = name or name_scoring(scorer)
                try:
                    score = score_model(scorer, model, X, y, target, aligned)
                except ValueError as error:  # for example, negative predictions
                    if self.raises and name:
                        raise ValueError(f"scoring={name!r} failed: {error}") from error
                    if self.raises:
                        raise
                    score = np.nan
                except AttributeError as error:
                    check_response(label, scorer, model, error)
                    raise
                # a scorer of several metrics returns a dict
                several = isinstance(score, dict) and not name
                for own, value in score.items() if several else [(label, score)]:
                    check_one_number(own, value)
                scores |= score if several else {name: score}
        return scores

    def keep(
        self, output: FitOutput, block: PlanBlock, estimator: Any, target: Target
    ) -> FitOutput:
        """Return the requested part of a solver's output, in the worker."""
        kept = {name: output.responses.get(name) for name in self.methods}
        if kept.get("decision_function") is not None:
            kept["decision_function"] = output.tie_decision()
        scores = None
        if self.scorers:
            scores = score_predictions(output, block, self, get_tags(estimator), target)
        predicted, decision, probability = map(kept.get, RESPONSES)
        return FitOutput(output.test, output.failed, predicted, decision, probability, scores)


def check_one_number(name: str, score: Any) -> None:
    """Raise an error if the scorer of a name returns several scores, or no number."""
    wrong = f"each scorer in scoring must return one number, {name!r} returned"
    if isinstance(score, Mapping):
        raise TypeError(
            f"{wrong} a dict with {', '.join(map(repr, score))}. Pass a dict of scorers instead."
        )
    if np.ndim(score):
        raise TypeError(
            f"{wrong} an array of shape {np.shape(score)}. Average it, or pass one scorer for "
            "each output."
        )
    if np.asarray(score).dtype.kind not in "biuf":
        raise TypeError(f"{wrong} {score!r}.")


def find_response_method(estimator: Any, target: Target) -> str | None:
    """Return the prediction method for scores of classes, probabilities if there are any.

    Decision values of pairs of classes are not class scores, even with three classes, which form
    three pairs.
    """
    if target.classes is None or decides_by_pairs(estimator, target):
        return None
    return next((name for name in SCORING_METHODS if hasattr(estimator, name)), None)


def decides_by_pairs(estimator: Any, target: Target) -> bool:
    """Whether an estimator has only decision values of pairs of classes."""
    if target.classes is None or len(target.classes) < 3 or hasattr(estimator, "predict_proba"):
        return False
    shapes = [
        value
        for name, value in estimator.get_params(deep=True).items()
        if name.endswith("decision_function_shape")
    ]
    return "ovo" in shapes and hasattr(estimator, "decision_function")


def read_response(method: str, model: Any, X: Any, target: Target) -> np.ndarray | None:
    """Return scores with one column for each class, or decision values of the second class.

    A class that the model has not seen has probability 0. The result is None if the model lacks
    the method, if the method raises an error, or if decision values are for other classes.
    """
    if not hasattr(model, method):
        return None
    try:
        response = np.asarray(getattr(model, method)(X))
    except Exception:
        return None
    return align_columns(method, response, model, target)


def check_scorers(inputs: Inputs, scorers: Mapping[str, Any]) -> None:
    """Raise if a scorer of scikit-learn cannot score the classes, or the numbers, of a target."""
    # possible predictions of a few samples replace a fit
    trial = ScoreTrial(inputs)
    for name, scorer in scorers.items():
        refuse_metric_of_numbers(inputs.estimator, name, scorer)
        # other scorers may read more than the predictions
        if inputs.target.outputs or not _compat.is_plain_scorer(scorer):
            continue
        try:
            trial.run(scorer)
        except AttributeError:  # the fitted model may have the method
            continue
        except ValueError as error:
            # variants average over the classes, such as f1_macro
            variants = [other for other in get_scorer_names() if other.startswith(f"{name}_")]
            remedy = f" Its variants are {', '.join(variants)}." if variants else ""
            reason = str(error).rstrip(".")
            if inputs.target.classes is None:
                remedy = " For numbers, use 'r2' or 'neg_root_mean_squared_error'."
            if "pos_label" in reason and inputs.target.n_classes == 2:
                label = inputs.target.decode(np.array([inputs.target.positive_code])).tolist()[0]
                remedy = f" Encode the positive class as 1, as in (y == {label!r}).{remedy}"
            raise ValueError(
                f"scoring={name!r} cannot be computed for this target: {reason}.{remedy}"
            ) from error


@_compat.limit_threads(limits=1, user_api="blas")
def score_predictions(
    output: FitOutput, block: PlanBlock, request: FitRequest, tags: Any, target: Target
) -> list[Any]:
    """Return the scores of each fit that a solver completed, and None for the others.

    The usual metrics are computed for all fits at once, and other metrics one by one.
    """
    done, parts = np.flatnonzero(~output.failed), request.scoring
    request = request.of_predictions(target)
    values = np.full((len(output), len(parts)), np.nan)
    # metrics of all fits at once; nan if there is no such form or the score is undefined
    tested = block.tested_labels(target.codes, ~output.failed)
    predictions = BatchPredictions(tested, output, target.n_classes)
    for column, part in zip(values.T, parts.values(), strict=True):
        score_fits = find_batch(part, target.classes)
        if score_fits is not None and len(done):
            column[done] = score_fits(predictions)
    scores: list[Any] = [None] * len(output)
    for fit in done.tolist():
        scores[fit] = dict(zip(parts, values[fit].tolist(), strict=True))
    # scikit-learn's scorers compute the rest, fit by fit
    for fit, part in enumerate(output if np.isnan(values[done]).any() else ()):
        missing = [name for name, score in (scores[fit] or {}).items() if np.isnan(score)]
        if not missing:
            continue
        rows = part.rows
        # tested labels, which are permuted if the block has an order
        codes = target.codes[rows if block.order is None else block.order[fit, rows]]
        tied = part if part.decision is None else replace(part, decision=part.tie_decision())
        replayed = StandIn.of_output(tied, tags, target)
        rest = replace(request, scorers={name: request.scorers[name] for name in missing})
        scores[fit] |= rest.score(replayed, np.arange(len(rows)), target.decode(codes), target)
    return scores


def align_columns(method: str, response: np.ndarray, model: Any, target: Target) -> Any:
    """Return scores of each class in a column, or decision values of the second of two classes.

    The columns of a model have the order of its classes. A class that the model has not seen has
    probability 0. The result is None if decision values are for other classes.
    """
    classes, response = target.classes, flatten_column(response)
    if response.ndim not in (1, 2):
        return None
    seen = getattr(model, "classes_", None)
    if classes is None or seen is None or np.array_equal(seen, classes):
        return response
    if not np.isin(seen, classes).all():
        return None
    if response.ndim == 1:  # decision values of the second of two classes
        return -response if np.array_equal(seen[::-1], classes) else None
    if response.shape[1] != len(seen) or (method != "predict_proba" and len(seen) < len(classes)):
        return None
    # columns in the order of the target's classes
    aligned = np.zeros((len(response), len(classes)))
    aligned[:, np.searchsorted(classes, seen)] = response
    return aligned


def flatten_column(predicted: Any, outputs: Any = ()) -> Any:
    """Return predictions of shape (n, 1) as a vector, unless the target has several outputs."""
    if not outputs and getattr(predicted, "ndim", 1) == 2 and predicted.shape[1] == 1:
        return np.asarray(predicted).reshape(-1)
    return predicted


class StandIn:
    """A fitted model for scorers, with one function of the samples for each prediction method.

    Its samples are row numbers of known responses, or the samples of a model. Classes are in the
    order of the target. Each response to the same samples is computed once.
    """

    def __init__(
        self, responses: Mapping[str, Any], tags: Any, classes: Any, model: Any = None
    ) -> None:
        self._responses, self._tags, self._model = responses, tags, model
        self._known: dict[str, tuple[Any, Any]] = {}
        if classes is not None:
            self.classes_ = classes

    @classmethod
    def of_output(cls, output: FitOutput, tags: Any, target: Target) -> StandIn:
        """Return a model that replays predictions. Its samples are their row numbers."""
        responses: dict[str, Any] = output.responses
        responses["predict"] = target.decode(responses["predict"])
        return cls(responses, tags, target.classes)

    @classmethod
    def of_model(cls, model: Any, target: Target) -> StandIn:
        """Return a model with the columns of its responses in the order of the target's classes."""
        methods = [method for method in RESPONSES if hasattr(model, method)]
        responses = {method: partial(respond_in_order, model, target, method) for method in methods}
        return cls(responses, None, target.classes, model)

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self).get("_model"), name)

    def __sklearn_tags__(self) -> Any:
        return self._tags if self._model is None else self._model.__sklearn_tags__()

    def _respond(self, method: str, X: Any) -> Any:
        responses = self._responses[method]
        if not callable(responses):
            return responses[X]
        samples, response = self._known.get(method, (None, None))
        if samples is not X:
            response = responses(X)
            self._known[method] = X, response
        return response

    @available_if(lambda self: "predict" in self._responses)
    def predict(self, X: Any) -> Any:
        return self._respond("predict", X)

    @available_if(lambda self: "predict_proba" in self._responses)
    def predict_proba(self, X: Any) -> Any:
        return self._respond("predict_proba", X)

    @available_if(lambda self: "decision_function" in self._responses)
    def decision_function(self, X: Any) -> Any:
        return self._respond("decision_function", X)


def respond_in_order(model: Any, target: Target, method: str, X: Any) -> Any:
    """Return a response of a model, with its columns in the order of the target's classes."""
    response = getattr(model, method)(X)
    if method == "predict":
        return flatten_column(response, target.outputs)
    aligned = None if target.classes is None else align_columns(method, response, model, target)
    return response if aligned is None else aligned


def list_responses(scorer: Any) -> list[str]:
    """Return the prediction methods that a scorer may use."""
    methods = _compat.responses_of_scorer(scorer) or ()
    return [methods] if isinstance(methods, str) else list(methods)


def know_classes(scorer: Any, classes: np.ndarray | None) -> Any:
    """Return a scorer of scikit-learn with all classes as `labels` of its metric, if it has any."""
    if classes is None or not _compat.is_plain_scorer(scorer):
        return scorer
    function, fixed, better = _compat.metric_of_scorer(scorer)
    methods = list_responses(scorer)
    known = not methods or set(methods) - set(SCORING_METHODS) or "labels" in fixed
    if known or "labels" not in signature(function).parameters:
        return scorer
    options = fixed | {"labels": classes}
    return make_scorer(function, response_method=methods, greater_is_better=better, **options)


def use_positive(scorer: Any, target: Target) -> Any:
    """Return a scorer of scikit-learn whose positive class is the one that the target names."""
    if target.classes is None or target.positive is None or not _compat.is_plain_scorer(scorer):
        return scorer
    function, fixed, better = _compat.metric_of_scorer(scorer)
    options = {"pos_label": target.classes.tolist()[target.positive]} | fixed
    # averages over classes have no positive class, and 1 is the default
    is_binary = fixed.get("average", "binary") == "binary" and options["pos_label"] != 1
    if not is_binary or "pos_label" not in signature(function).parameters:
        return scorer
    methods = list_responses(scorer)
    return make_scorer(function, response_method=methods, greater_is_better=better, **options)


def score_model(
    scorer: Any, model: Any, X: Any, y: Any, target: Target, aligned: StandIn | None = None
) -> Any:
    """Return the score of a fitted model. Scorers of scikit-learn get its `aligned` responses."""
    if _compat.is_plain_scorer(scorer):
        model = StandIn.of_model(model, target) if aligned is None else aligned
    try:
        return know_classes(scorer, target.classes)(model, X, y)
    except ValueError:
        # the reason may be predictions that are no labels or numbers
        if hasattr(model, "predict"):
            target.encode(flatten_column(np.asarray(model.predict(X))), len(y))
        raise


class NoResponseError(ValueError, AttributeError):
    """Error for a model without any prediction method that a scorer accepts."""


def check_response(name: str, scorer: Any, model: Any, error: Exception) -> None:
    """Raise `NoResponseError` if a model lacks all prediction methods that a scorer accepts."""
    methods = list_responses(scorer)
    if not methods or any(hasattr(model, method) for method in methods):
        return
    remedy = "a scorer of predictions, such as balanced_accuracy or r2"
    if "predict_proba" in methods:
        remedy = f"an estimator with predict_proba, such as LogisticRegression, or {remedy}"
    raise NoResponseError(
        f"scoring={name!r} needs {' or '.join(methods)}, which the estimator does not have. Use "
        f"{remedy}."
    ) from error


def make_response(method: str, codes: np.ndarray, target: Target) -> np.ndarray:
    """Return possible outputs of a classifier's prediction method for some classes."""
    if method == "predict":
        return target.decode(codes)
    n_classes, n_samples = target.n_classes, len(codes)
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
        methods |= set(list_responses(scorer))
    return tuple(sorted(methods & set(inputs.responses)))


class SmallTestSetError(ValueError):
    """Error for a score of several samples, or classes, that a test set lacks."""


class ScoreTrial:
    """Possible predictions for a few samples of each class or some numbers, some of them wrong.

    Scores of subsets show which test sets a scorer requires.
    """

    def __init__(self, inputs: Inputs) -> None:
        rng, target = np.random.default_rng(0), inputs.target
        self.target = target
        if target.outputs:
            rows, others = rng.integers(len(target), size=(2, 12))
            true, responses = target.y[rows], {"predict": target.y[others]}
        elif target.classes is None:
            # positive numbers, for losses that require them, such as deviances
            true = 1 + rng.random(12)
            responses = {"predict": true + 0.3 * rng.random(12)}
        else:
            # classes of unequal sizes, with unequal shares of wrong predictions
            codes = np.r_[np.repeat(np.arange(len(target.classes)), 3), np.zeros(4, dtype=np.intp)]
            guesses = codes.copy()
            guesses[[0, 1, 3]] = [1, 1, 0]
            true = target.decode(codes)
            responses = {
                method: make_response(method, guesses, target) for method in inputs.responses
            }
        self.true, self.n = true, len(true)
        self.model = StandIn(responses, inputs.tags, target.classes)

    def run(self, scorer: Any, rows: np.ndarray | None = None) -> Any:
        """Return the score of some samples (by default all)."""
        rows = np.arange(self.n) if rows is None else rows
        return score_model(scorer, self.model, rows, self.true[rows], self.target)

    def score(self, scorer: Any, rows: np.ndarray) -> float:
        """Return the score of some samples, or nan if it is undefined."""
        with ignored_warnings(), np.errstate(all="ignore"):
            try:
                return float(self.run(scorer, rows))
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
    inputs: Inputs,
    plan: ResamplingPlan,
    scorers: Mapping[str, Any],
    *,
    skip_undefined: bool = False,
) -> None:
    """Raise an error if a score needs several samples or classes that a test set of the plan lacks.

    A mean over samples, such as accuracy, may be averaged over test sets of any size. Other scores
    of a single sample or class are undefined, or constants that do not depend on the model. With
    `skip_undefined`, the caller omits test sets without a score.
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
    # try the scores on subsets like these test sets
    trial = ScoreTrial(inputs)
    for name, scorer in scorers.items():
        # a mean over samples is defined on every test set
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
            # name the score, the test set and the remedy
            kinds, mean = " of all classes", "'accuracy' or 'neg_log_loss'"
            if target.classes is None:
                kinds, mean = "", "'neg_mean_squared_error'"
            raise SmallTestSetError(
                f"scoring={name!r} must be computed from test sets with several samples{kinds}, "
                f"but cv makes a test set {what}. Use fewer "
                f"folds{', stratified by the classes' if kinds else ''}, or a mean over samples, "
                f"such as {mean}. score_interval pools all test sets for the usual scores."
            )
