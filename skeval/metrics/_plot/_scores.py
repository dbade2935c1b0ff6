"""What the displays share: the score of a fitted classifier, and axes to draw on."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from skeval.utils._plotting import axes_and_figure

__all__ = ["axes_and_figure", "positive_scores"]


def positive_scores(estimator: Any, X: ArrayLike, pos_label: object) -> tuple[np.ndarray, object]:
    """Return the score of the positive class for each row of X, and that class."""
    check_is_fitted(estimator)
    classes = getattr(estimator, "classes_", [])
    if len(classes) != 2:
        raise ValueError(f"estimator must be a classifier of two classes, got {len(classes)}.")
    positive = classes[1] if pos_label is None else pos_label
    if positive not in classes:
        raise ValueError(f"pos_label must be one of {list(classes)}, got {pos_label!r}.")
    if hasattr(estimator, "decision_function"):
        score = estimator.decision_function(X)
        return (score if positive == classes[1] else -score), positive
    return estimator.predict_proba(X)[:, list(classes).index(positive)], positive
