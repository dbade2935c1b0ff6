"""Outputs requested from each fit: predictions, scores of classes, a scorer, a note.

A scorer that needs only the predictions of the tested samples works on the fits of a solver, too.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.utils import get_tags

from skeval._resampling.fit_outputs import FitOutput, tie_values
from skeval._resampling.inputs import Inputs
from skeval._resampling.model_scores import (
    EachScorer,
    ReplayedEstimator,
    align_columns,
    flatten_column,
    make_response,
    score_model,
)
from skeval._resampling.plans import PlanBlock
from skeval._resampling.target import Target
from skeval.metrics._scorers import find_batch, read_scoring, refuse_metric_of_numbers
from skeval.metrics._table import BatchPredictions
from skeval.utils._compat import is_plain_scorer, limit_threads

SCORING_METHODS = ("predict_proba", "decision_function")


@dataclass(frozen=True, eq=False)
class FitRequest:
    """Outputs requested from each fitted model, the columns of a `FitOutput`.

    Attributes
    ----------
    methods : tuple of str
        Prediction methods to call on the test samples, some of `RESPONSES`.
    scorer : callable, EachScorer or None
        ``scorer(model, X, y)`` returns a number or a dict of numbers.
    scoring : str, callable, list, tuple, set, dict or None
        Argument that `scorer` was made from.
    note : callable or None
        ``note(model, X, y)`` returns further output of a model and its test samples; the models
        are then fitted one by one.
    """

    methods: tuple[str, ...] = ("predict",)
    scorer: Any = None
    scoring: Any = None
    note: Callable[[Any, Any, Any], Any] | None = None

    @classmethod
    def for_scores(cls, estimator: Any, scoring: Any) -> FitRequest:
        """Return the request for the scores that an argument `scoring` names, and nothing else."""
        scorer = read_scoring(estimator, scoring)
        if scoring is not None:
            for name, part in name_parts(scoring).items():
                named = name or getattr(part, "__name__", part)
                # older versions cannot print the scorer of a partial function
                with suppress(AttributeError):
                    named = str(named)
                refuse_metric_of_numbers(estimator, named, read_scoring(estimator, part))
        if is_several(scoring):
            parts = name_parts(scoring).items()
            scorer = EachScorer({n: read_scoring(estimator, part) for n, part in parts}, True)
        return cls((), scorer, scoring)

    def and_scores_of_classes(self, estimator: Any, target: Target) -> FitRequest:
        """Return the request with predictions and the available scores of classes."""
        method = find_response_method(estimator, target)
        return replace(self, methods=("predict", *([] if method is None else [method])))

    def need_no_model(self, inputs: Inputs) -> bool:
        """Whether predictions suffice, so that a solver, which has no models, may do the fits."""
        if self.note is not None or self.scorer is None:
            return self.note is None
        parts = name_parts(self.scoring).values()
        if None in parts:  # `score` of an estimator with a solver is accuracy or R^2
            return True
        if not all(isinstance(part, str) or is_plain_scorer(part) for part in parts):
            return False
        # scorers of scikit-learn use samples only through prediction methods, which are tried
        try:
            try_scorer(inputs, self.scorer)
        except AttributeError:
            return False
        except ValueError:  # the scorer will also raise for the real labels
            return True
        return True

    def scorers(self, target: Target) -> dict[str, Any]:
        """Return the scorers by name; a single scorer has no name."""
        if isinstance(self.scorer, EachScorer):
            return self.scorer.scorers
        if self.scoring is None:
            return {"": get_scorer("r2" if target.classes is None else "accuracy")}
        return {"": self.scorer}

    def score_by(self, names: tuple[str, ...], target: Target) -> Any:
        """Return the scorer of some of the names; a single scorer has no name."""
        if isinstance(self.scorer, EachScorer):
            scorers = {name: self.scorer.scorers[name] for name in names}
            return replace(self.scorer, scorers=scorers)
        return self.scorers(target)[""]

    def read(self, model: Any, X: Any, y: Any, target: Target) -> dict[str, Any]:
        """Return the outputs of a fitted model by name of column; labels are not encoded."""
        outputs: dict[str, Any] = {}
        if "decision_function" in self.methods:
            decision = read_response("decision_function", model, X, target)
            outputs["decision"] = None if decision is None else tie_values(decision)
        if "predict_proba" in self.methods:
            outputs["probability"] = read_response("predict_proba", model, X, target)
        if self.scorer is not None:
            outputs["scores"] = [check_scores(score_model(self.scorer, model, X, y, target))]
        if self.note is not None:
            outputs["notes"] = [self.note(model, X, y)]
        if "predict" in self.methods:
            predicted = model.predict(X)
            dense = predicted.toarray() if issparse(predicted) else predicted
            outputs["predicted"] = flatten_column(np.asarray(dense), target.outputs)
        return outputs

    def keep(
        self, output: FitOutput, block: PlanBlock, estimator: Any, target: Target
    ) -> FitOutput:
        """Return the requested part of a solver's output, in the worker."""
        scores = None
        if self.scorer is not None:
            scores = score_predictions(output, block, self, get_tags(estimator), target)
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


def check_scores(scores: Any) -> Any:
    """Return a score or scores by name; raise unless each is a single number."""
    for name, score in (scores if isinstance(scores, dict) else {"": scores}).items():
        if np.ndim(score):
            raise TypeError(
                f"scoring must give one number by each scorer, {name!r} gave an array of shape "
                f"{np.shape(score)}; average it, or make a scorer of each output."
            )
    return scores


def find_response_method(estimator: Any, target: Target) -> str | None:
    """Return the prediction method for scores of classes, probabilities if there are any.

    Decision values of pairs of classes are not class scores, even with three classes, which have
    three pairs.
    """
    if target.classes is None or decides_by_pairs(estimator, target):
        return None
    return next((name for name in SCORING_METHODS if hasattr(estimator, name)), None)


def decides_by_pairs(estimator: Any, target: Target) -> bool:
    """Whether an estimator has decision values of pairs of classes only."""
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

    A class that the model has not seen has probability 0. The result is None if the model lacks the
    method, if the method raises, or if decision values are of other classes.
    """
    if not hasattr(model, method):
        return None
    try:
        response = np.asarray(getattr(model, method)(X))
    except Exception:
        return None
    response = flatten_column(response)
    if target.classes is None:
        return response if response.ndim in (1, 2) else None
    seen = getattr(model, "classes_", None)
    return align_columns(method, response, seen, target.classes)


def try_scorer(inputs: Inputs, scorer: Any) -> None:
    """Score possible predictions of two samples of each class, without fitting."""
    target = inputs.target
    codes = np.repeat(np.arange(2 if target.classes is None else len(target.classes)), 2)
    responses = {method: make_response(method, codes, target) for method in inputs.responses}
    replayed = ReplayedEstimator(responses, inputs.tags, target.classes)
    labels = make_response("predict", codes, target)
    score_model(scorer, replayed, np.arange(len(codes)), labels, target)


def check_scorers(inputs: Inputs, request: FitRequest) -> None:
    """Raise if a scorer of scikit-learn cannot score the classes, or the numbers, of a target."""
    scorers = request.scorer.scorers if isinstance(request.scorer, EachScorer) else {}
    for name, scorer in scorers.items():
        if not is_plain_scorer(scorer):
            continue
        refuse_metric_of_numbers(inputs.estimator, name, scorer)
        try:
            try_scorer(inputs, scorer)
        except AttributeError:  # the fitted model may have the method
            continue
        except ValueError as error:
            variants = [other for other in get_scorer_names() if other.startswith(f"{name}_")]
            remedy = f" Variants: {', '.join(variants)}." if variants else ""
            reason = str(error).rstrip(".")
            raise ValueError(
                f"scoring={name!r} cannot be computed for this target: {reason}.{remedy}"
            ) from error


@limit_threads(limits=1, user_api="blas")
def score_predictions(
    output: FitOutput, block: PlanBlock, request: FitRequest, tags: Any, target: Target
) -> list[Any]:
    """Return the score of each fit that a solver completed, None for the others.

    The usual metrics are computed for all fits at once, the others one by one.
    """
    done, parts = np.flatnonzero(~output.failed), name_parts(request.scoring)
    values = np.full((len(output), len(parts)), np.nan)
    # metrics of all fits at once; nan if there is no such form or the score is undefined
    tested = block.tested_labels(target.codes, ~output.failed)
    predictions = BatchPredictions(tested, output, target.n_classes)
    for column, part in zip(values.T, parts.values(), strict=True):
        score_fits = find_batch(part, target.classes)
        if score_fits is not None and len(done):
            column[done] = score_fits(predictions)
    names, several = np.array([*parts, ""])[:-1], is_several(request.scoring)
    scores: list[Any] = [None] * len(output)
    for fit in done.tolist():
        scores[fit] = dict(zip(parts, values[fit].tolist(), strict=True))
    # scikit-learn's scorers compute the rest, fit by fit
    for fit, part in enumerate(output if np.isnan(values[done]).any() else ()):
        missing = tuple(names[np.isnan(values[fit])].tolist())
        if missing and scores[fit] is not None:
            scorer = request.score_by(missing, target)
            rows = part.rows
            codes = target.codes[rows if block.order is None else block.order[fit, rows]]
            responses: dict[str, Any] = part.responses
            responses["predict"] = target.decode(responses["predict"])
            if part.decision is not None:
                responses["decision_function"] = part.tie_decision()
            replayed = ReplayedEstimator(responses, tags, target.classes)
            scored = score_model(
                scorer, replayed, np.arange(len(rows)), target.decode(codes), target
            )
            scores[fit] |= scored if several else {"": scored}
    return scores if several else [by_name and by_name[""] for by_name in scores]


def is_several(scoring: Any) -> bool:
    """Whether an argument `scoring` names several scorers."""
    return isinstance(scoring, list | tuple | set | dict)


def name_parts(scoring: Any) -> dict[str, Any]:
    """Return the scorers in an argument `scoring` by name; a single one has the name ''."""
    if isinstance(scoring, dict):
        return scoring
    return {part: part for part in scoring} if is_several(scoring) else {"": scoring}
