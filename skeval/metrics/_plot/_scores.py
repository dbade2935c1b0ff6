"""What the displays share: the score of a fitted classifier."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from skeval.utils._text import name_estimators

__all__ = ["ScoreDisplay"]


def _positive_scores(estimator: Any, X: ArrayLike, pos_label: object) -> tuple[np.ndarray, object]:
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


class ScoreDisplay:
    """A display of the score of a classifier of two classes, made by its `from_predictions`."""

    @classmethod
    def from_predictions(cls, y_true: ArrayLike, y_score: ArrayLike, **kwargs: Any) -> Self:
        """Draw the curve of a score; each display says which options it takes."""
        raise NotImplementedError

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike, y: ArrayLike, *, pos_label: object = None, **kwargs: Any
    ) -> Self:
        """Draw the curve of a fitted classifier of two classes.

        Parameters
        ----------
        estimator : classifier
            Fitted; its `decision_function`, or else `predict_proba`, gives the score.
        X : array-like of shape (n_samples, n_features)
            Held-out samples.
        y : array-like of shape (n_samples,)
            Their classes.
        pos_label : int, float, bool or str, default=None
            The positive class; None is the second of ``estimator.classes_``.
        **kwargs : dict
            Passed to `from_predictions`.

        Returns
        -------
        display : object of this class
        """
        score, positive = _positive_scores(estimator, X, pos_label)
        kwargs.setdefault("name", name_estimators(estimator)[0])
        return cls.from_predictions(y, score, pos_label=positive, **kwargs)
