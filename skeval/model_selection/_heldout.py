"""What an estimator says of samples that it was not trained on, each sample once."""

from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from skeval.utils._compat import num_samples, safe_split

__all__ = ["RecordedEstimator", "recorded_outputs"]

_RESPONSES = ("predict", "decision_function", "predict_proba")
Split = tuple[np.ndarray, np.ndarray]


class RecordedEstimator:
    """A fitted estimator whose samples are row numbers of outputs found before.

    Any scorer can judge it: ``scorer(recorded, rows, y[rows])``.
    """

    def __init__(self, outputs: dict[str, np.ndarray], tags: Any, classes: Any) -> None:
        self.outputs = outputs
        self._tags = tags
        if classes is not None:
            self.classes_ = classes

    @available_if(lambda self: "predict" in self.outputs)
    def predict(self, rows: np.ndarray) -> np.ndarray:
        return self.outputs["predict"][rows]

    @available_if(lambda self: "decision_function" in self.outputs)
    def decision_function(self, rows: np.ndarray) -> np.ndarray:
        return self.outputs["decision_function"][rows]

    @available_if(lambda self: "predict_proba" in self.outputs)
    def predict_proba(self, rows: np.ndarray) -> np.ndarray:
        return self.outputs["predict_proba"][rows]

    def positive_score(self) -> np.ndarray:
        """Return the score of the second class for every sample."""
        if "decision_function" in self.outputs:
            return self.outputs["decision_function"]
        if "predict_proba" in self.outputs:
            return self.outputs["predict_proba"][:, 1]
        raise ValueError("the estimators must have decision_function or predict_proba.")

    def __sklearn_tags__(self) -> Any:
        return self._tags

    def __sklearn_is_fitted__(self) -> bool:
        return True


def recorded_outputs(
    estimator: Any, X: Any, y: np.ndarray, splits: list[Split], n_jobs: int | None
) -> RecordedEstimator:
    """Fit on each training part and keep what is said of its test part."""
    tested = np.concatenate([test for _, test in splits])
    if not np.array_equal(np.sort(tested), np.arange(num_samples(X))):
        raise ValueError(
            "cv must test every sample exactly once where held-out predictions are pooled; "
            "method='corrected_t' takes any splits."
        )
    jobs = (delayed(_fit_and_answer)(estimator, X, y, *split) for split in splits)
    answers, classes = zip(*Parallel(n_jobs=n_jobs)(jobs), strict=True)
    if any(not np.array_equal(found, classes[0]) for found in classes):
        raise ValueError(
            "cv must leave every class in every training part, got parts with the classes "
            f"{sorted({str(found.tolist()) for found in classes})}."
        )
    order = np.argsort(tested)
    outputs = {
        name: np.concatenate([answer[name] for answer in answers])[order] for name in answers[0]
    }
    return RecordedEstimator(outputs, get_tags(estimator), classes[0])


def _fit_and_answer(
    estimator: Any, X: Any, y: np.ndarray, train: np.ndarray, test: np.ndarray
) -> tuple[dict[str, np.ndarray], Any]:
    fitted = clone(estimator).fit(*safe_split(estimator, X, y, train))
    part, _ = safe_split(estimator, X, y, test, train)
    names = [name for name in _RESPONSES if hasattr(fitted, name)]
    return {name: getattr(fitted, name)(part) for name in names}, getattr(fitted, "classes_", None)
