"""Validation shared by the metrics: weights, two-class scores, class labels."""

import warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import unique_labels

from skeval.utils._checks import check_data, check_y, naming, native_labels
from skeval.utils._compat import num_samples

__all__ = [
    "check_binary_scores",
    "check_labels",
    "check_weights",
    "undefined",
    "warn_undefined",
]


def check_weights(sample_weight: ArrayLike | None, n_samples: int) -> NDArray[np.float64]:
    """Return weights of shape (n_samples,): ones for None, else finite, >= 0 and not all 0."""
    if sample_weight is None:
        return np.ones(n_samples)
    weight = check_data("sample_weight", sample_weight, ensure_2d=False, dtype=np.float64)
    if weight.shape != (n_samples,):
        raise ValueError(f"sample_weight must have shape ({n_samples},), got {weight.shape}.")
    if weight.min() < 0:
        raise ValueError(f"sample_weight must be >= 0, got {weight.min()}.")
    if not weight.any():
        raise ValueError("sample_weight must hold a weight > 0, got only zeros.")
    return weight


def check_labels(
    y_true: ArrayLike, y_pred: ArrayLike, labels: ArrayLike | None
) -> tuple[ArrayLike, ArrayLike, NDArray[np.generic]]:
    """Return labels, or indicator matrices, as scikit-learn takes them, and the classes.

    The classes in order: those given, without repeats, or all that occur, sorted.
    """
    with naming("y_true", "y_pred"):
        check_consistent_length(y_true, y_pred)
        if num_samples(y_true) == 0:  # scikit-learn before 1.7 goes on to 0/0
            raise ValueError("y_true must hold at least one sample, got 0.")
        assert_all_finite(y_true, input_name="y_true")
        assert_all_finite(y_pred, input_name="y_pred")
        y_true, y_pred = native_labels("y_true", y_true), native_labels("y_pred", y_pred)
        present = unique_labels(y_true, y_pred)
    return y_true, y_pred, present if labels is None else _given_classes(labels)


def _given_classes(labels: ArrayLike) -> NDArray[np.generic]:
    with naming("labels"):
        given = column_or_1d(labels)
    if len(given) == 0:
        raise ValueError("labels must name at least one class, got an empty list.")
    if len(set(given.tolist())) < len(given):
        raise ValueError(f"labels must not repeat a class, got {given.tolist()}.")
    return given


def check_binary_scores(
    y_true: ArrayLike,
    y_score: ArrayLike,
    pos_label: object,
    sample_weight: ArrayLike | None,
) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64]]:
    """Return (is positive, score, weight), each of shape (n_samples,)."""
    with naming("y_true", "y_score"):
        check_consistent_length(y_true, y_score, sample_weight)
    labels = check_y("y_true", y_true)
    score = check_data("y_score", y_score, ensure_2d=False, dtype=np.float64)
    with naming("y_score"):
        score = column_or_1d(score)
    classes = unique_labels(labels).tolist()
    if len(classes) > 2:
        raise ValueError(f"y_true must hold two classes, got {len(classes)}: {classes[:10]}.")
    positive = labels == _positive_label(classes, pos_label)
    return positive, score, check_weights(sample_weight, len(score))


def _positive_label(classes: list[object], pos_label: object) -> object:
    if pos_label is None:
        if set(classes) <= {0, 1} or set(classes) <= {-1, 1}:
            return 1
        raise ValueError(
            "pos_label must be given unless y_true takes values in {0, 1} or {-1, 1}, "
            f"got the classes {classes}."
        )
    if len(classes) == 2 and pos_label not in classes:
        raise ValueError(f"pos_label must be one of the classes {classes}, got {pos_label!r}.")
    return pos_label


def undefined(reason: str) -> float:
    """Warn that a metric has no value on these data, and return nan in its place."""
    warn_undefined(f"{reason} The metric is nan.")
    return float("nan")


def warn_undefined(message: str) -> None:
    """Warn of a 0/0 at the line that called the public function."""
    warnings.warn(message, UndefinedMetricWarning, stacklevel=4)
