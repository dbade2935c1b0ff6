"""Targets: labels or numbers, with the classes and groups of the samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import get_tags, indexable

from skeval.utils import _checks
from skeval.utils._compat import num_samples, safe_indexing


@dataclass(frozen=True, eq=False)
class Target:
    """A target as the estimators see it (`given`) and as the reductions do (`y`, `codes`).

    Attributes
    ----------
    y : ndarray of shape (n_samples,)
        Labels or numbers.
    classes : ndarray of shape (n_classes,) or None
        The sorted labels; None for regression.
    codes : ndarray of shape (n_samples,)
        Positions in `classes`; `y` itself for regression.
    given : ndarray or Series of shape (n_samples,)
        The Series that the user gave, with its index and dtype; `y` where it was none.
    groups : ndarray of shape (n_samples,) or None
        What samples belong to, for an estimator that splits by it in its `fit`.
    """

    y: np.ndarray
    classes: np.ndarray | None
    codes: np.ndarray
    given: Any = None
    groups: np.ndarray | None = None

    def __post_init__(self) -> None:
        if self.given is None:
            object.__setattr__(self, "given", self.y)

    def __len__(self) -> int:
        return len(self.y)

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 for regression."""
        return 0 if self.classes is None else len(self.classes)

    def encode(self, predicted: np.ndarray, n_tested: int) -> np.ndarray:
        """Return the predictions of some samples: labels as codes, numbers as they are."""
        predicted = np.asarray(predicted)
        if predicted.shape != (n_tested,):
            raise ValueError(
                f"estimator must predict one value for each sample, shape ({n_tested},), "
                f"got an array of shape {predicted.shape}."
            )
        if self.classes is None:
            what = "predictions of estimator"
            return _checks.check_data(what, predicted, ensure_2d=False, dtype=np.float64)
        codes = np.searchsorted(self.classes, predicted).clip(max=len(self.classes) - 1)
        unknown = self.classes[codes] != predicted
        if np.any(unknown):
            first = predicted[unknown].tolist()[0]
            raise ValueError(f"estimator must predict labels that are in y, got {first!r}.")
        return codes

    def decode(self, codes: np.ndarray) -> np.ndarray:
        """Return codes as the labels they stand for."""
        return codes if self.classes is None else self.classes[codes]


def validate_data(estimator: Any, X: Any, y: Any, groups: Any = None) -> tuple[Any, Target, Any]:
    """Check what every estimator of error is given; return indexable X, the target and groups."""
    _checks.check_methods("estimator", estimator, "fit", "predict", "get_params")
    _checks.check_predicts_target(estimator)
    with _checks.naming("X"):
        num_samples(X)
    _checks.check_same_length(X=X, y=y)
    groups = _checks.check_groups(groups, num_samples(y))
    with _checks.naming("X"):
        (X,) = indexable(X)
    if get_tags(estimator).input_tags.pairwise:
        X = _checks.check_square(X)
    y, passed = _checks.check_y("y", y), y
    passed = read_series(passed, y)
    if not is_classifier(estimator):
        return X, Target(y, None, y, passed, groups), groups
    _checks.check_classes("y", y)
    classes, codes = np.unique(y, return_inverse=True)
    return X, Target(y, classes, codes, passed, groups), groups


class TooFewMembersError(ValueError):
    """A class has too few members for a method, or there are too few samples or groups."""


def read_series(given: Any, y: np.ndarray) -> Any:
    """Return a Series as it was given, None for anything else.

    Numbers stored as objects, which scikit-learn does not accept as classes, get a dtype.
    """
    if not hasattr(given, "iloc") or given.ndim != 1:
        return None
    dtype = getattr(given, "dtype", y.dtype)
    held_as_objects = dtype == np.dtype(object) and y.dtype != object
    return given.astype(y.dtype) if held_as_objects else given


def permute_labels(y: Any, order: np.ndarray | None) -> Any:
    """Return labels in another order; the index of a Series stays, for it names the samples."""
    if order is None:
        return y
    labels = safe_indexing(y, order)
    return labels.set_axis(y.index) if hasattr(y, "set_axis") else labels
