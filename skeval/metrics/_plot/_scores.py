"""What the displays share: the scores of fitted classifiers, and their bands."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from skeval.utils._checks import check_groups, check_y, naming
from skeval.utils._compat import num_samples, safe_indexing
from skeval.utils._text import name_estimators

__all__ = ["ScoreDisplay", "draw_bands"]


def _positive_scores(
    estimator: Any, X: ArrayLike, pos_label: object, responses: tuple[str, ...]
) -> tuple[np.ndarray, object]:
    """Return the score of the positive class for each row of X, and that class."""
    check_is_fitted(estimator)
    classes = getattr(estimator, "classes_", [])
    if len(classes) != 2:
        raise ValueError(f"estimator must be a classifier of two classes, got {len(classes)}.")
    positive = classes[1] if pos_label is None else pos_label
    if positive not in classes:
        raise ValueError(f"pos_label must be one of {list(classes)}, got {pos_label!r}.")
    response = next((name for name in responses if hasattr(estimator, name)), None)
    if response is None:
        raise ValueError(
            f"estimator must have {' or '.join(responses)}, got {type(estimator).__name__}."
        )
    score = getattr(estimator, response)(X)
    if response == "decision_function":
        return (score if positive == classes[1] else -score), positive
    return score[:, list(classes).index(positive)], positive


def _out_of_fold_scores(
    cv_results: Any, X: ArrayLike, n_samples: int, pos_label: object, responses: tuple[str, ...]
) -> tuple[np.ndarray, object]:
    """Return the mean score of each sample over the folds that test it, nan where none does."""
    _check_cv_results(cv_results)
    sums, counts = np.zeros(n_samples), np.zeros(n_samples)
    positive: object = None
    pairs = zip(cv_results["estimator"], cv_results["indices"]["test"], strict=True)
    for estimator, test in pairs:
        last = np.max(test)
        if last >= n_samples:
            raise ValueError(
                f"X must be what cv_results come from: a fold tests sample {last}, "
                f"X has {n_samples} samples."
            )
        score, positive = _positive_scores(estimator, safe_indexing(X, test), pos_label, responses)
        np.add.at(sums, test, score)
        np.add.at(counts, test, 1)
    return np.divide(sums, counts, out=np.full(n_samples, np.nan), where=counts > 0), positive


def _check_cv_results(cv_results: Any) -> None:
    needed = {"estimator", "indices"}
    if not isinstance(cv_results, Mapping) or not needed <= set(cv_results):
        raise ValueError(
            "cv_results must be what cross_validate returns with return_estimator=True and "
            "return_indices=True, got "
            f"{sorted(cv_results) if isinstance(cv_results, Mapping) else type(cv_results)}."
        )


class ScoreDisplay:
    """A display of the score of a classifier of two classes, made by its `from_predictions`."""

    _responses: ClassVar[tuple[str, ...]] = ("decision_function", "predict_proba")
    """Which of a classifier's responses are its score, the first that it has."""
    _responses_of_folds: ClassVar[tuple[str, ...]] = ("predict_proba", "decision_function")
    """The same for several fitted classifiers, whose probabilities have one scale."""

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
            Fitted; its `decision_function`, or else `predict_proba`, gives the score. Net benefit
            takes `predict_proba` alone.
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
        score, positive = _positive_scores(estimator, X, pos_label, cls._responses)
        kwargs.setdefault("name", name_estimators(estimator)[0])
        return cls.from_predictions(y, score, pos_label=positive, **kwargs)

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: ArrayLike,
        y: ArrayLike,
        *,
        pos_label: object = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw one curve of the out-of-fold scores of a cross-validation.

        Each sample is scored by the models that were fitted without it. Over repeated folds its
        scores are averaged; a sample that no fold tests is left out. The scores of different
        models meet in one curve, so that they must share a scale: `predict_proba` is taken where
        there is one.

        Parameters
        ----------
        cv_results : dict
            As `sklearn.model_selection.cross_validate` returns it with ``return_estimator=True``
            and ``return_indices=True``.
        X : array-like of shape (n_samples, n_features)
            The samples that were cross-validated.
        y : array-like of shape (n_samples,)
            Their classes.
        pos_label : int, float, bool or str, default=None
            The positive class; None is the second of the ``classes_`` of the estimators.
        sample_weight : array-like of shape (n_samples,), default=None
            Passed to `from_predictions` for the samples that are tested.
        groups : array-like of shape (n_samples,), default=None
            Passed to `from_predictions` for the samples that are tested.
        **kwargs : dict
            Passed to `from_predictions`.

        Returns
        -------
        display : object of this class
        """
        if groups is not None and "groups" not in signature(cls.from_predictions).parameters:
            raise ValueError(f"groups must be None for {cls.__name__}, which has no band of them.")
        with naming("X", "y"):
            check_consistent_length(X, y, sample_weight)
        groups = check_groups(groups, num_samples(X))
        score, positive = _out_of_fold_scores(
            cv_results, X, num_samples(X), pos_label, cls._responses_of_folds
        )
        tested = ~np.isnan(score)
        given = {"sample_weight": sample_weight, "groups": groups}
        for name, values in given.items():
            if values is not None:
                kwargs[name] = np.asarray(values)[tested]
        kwargs.setdefault("name", name_estimators(cv_results["estimator"][0])[0])
        labels = check_y("y", y)[tested]
        return cls.from_predictions(labels, score[tested], pos_label=positive, **kwargs)


def draw_bands(ax: Any, x: np.ndarray, band: Any, color: Any) -> None:
    """Shade the interval at each x of a curve, and more faintly the band of the whole."""
    level = f"{100 * band.confidence_level:g} %"
    style: dict[str, Any] = {"color": color, "linewidth": 0}
    ax.fill_between(
        x, band.low, band.high, alpha=0.25, label=f"{level} interval at each point", **style
    )
    ax.fill_between(
        x,
        band.simultaneous_low,
        band.simultaneous_high,
        alpha=0.12,
        label=f"{level} band of the whole curve",
        **style,
    )
