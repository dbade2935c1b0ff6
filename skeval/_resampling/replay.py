"""A stand-in for a fitted estimator that replays what it answered before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from skeval._resampling.fits import resampled_fits
from skeval._resampling.folds import fold_plan
from skeval._resampling.target import Target

__all__ = ["RESPONSES", "ReplayedEstimator", "out_of_fold_responses"]

RESPONSES = ("predict", "decision_function", "predict_proba")


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


def out_of_fold_responses(
    estimator: Any, X: Any, target: Target, folds: list, methods: tuple[str, ...], **options: Any
) -> ReplayedEstimator:
    """Fit on each training part and replay the responses to its test part."""
    tested = np.concatenate([test for _, test in folds])
    if not np.array_equal(np.sort(tested), np.arange(len(target))):
        raise ValueError(
            "cv must test every sample exactly once where out-of-fold predictions are pooled; "
            "method='corrected_t' takes any splits."
        )
    plan = fold_plan(len(target), folds)
    read = Responses(methods)
    found = [
        answer
        for fitted in resampled_fits(estimator, X, target, plan, read, adapted=False, **options)
        for answer in fitted.findings
    ]
    answers, classes = zip(*found, strict=True)
    if any(not np.array_equal(seen, classes[0]) for seen in classes):
        raise ValueError(
            "cv must leave every class in every training part, got parts with the classes "
            f"{sorted({str(seen.tolist()) for seen in classes})}."
        )
    # A plan tests in the order of the samples, whatever the order that a fold names them in.
    order = np.argsort(np.concatenate([np.sort(test) for _, test in folds]))
    responses = {
        name: np.concatenate([answer[name] for answer in answers])[order] for name in answers[0]
    }
    return ReplayedEstimator(responses, get_tags(estimator), classes[0])


@dataclass(eq=False, repr=False)
class Responses:
    """Reads the responses of a fitted model to the tested samples, and its classes."""

    methods: tuple[str, ...] = RESPONSES

    def __call__(self, model: Any, X: Any, y: Any) -> tuple[dict[str, np.ndarray], Any]:
        methods = [name for name in self.methods if hasattr(model, name)]
        return {name: getattr(model, name)(X) for name in methods}, getattr(model, "classes_", None)
