"""Validation shared by the metrics: weights, two-class scores, class labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import unique_labels

from skeval.utils._checks import check_data, check_weights, check_y, naming, native_labels
from skeval.utils._compat import num_samples

__all__ = [
    "check_binary_scores",
    "check_labels",
    "check_predictions",
    "classes_of",
    "positive_label",
    "scale_weights",
]


def scale_weights(
    sample_weight: ArrayLike | None, n_samples: int
) -> tuple[NDArray[np.float64], float]:
    """Return weights of at most 1, and the power of 2 by which `check_weights` has them larger.

    For metrics in which only the ratios of weights count: no sum or product of them overflows.
    """
    weight = check_weights("sample_weight", sample_weight, n_samples)
    exponent = int(np.frexp(weight.max())[1])
    if sample_weight is None or exponent in (0, 1):
        return weight, 1.0
    return np.ldexp(weight, -exponent), float(np.ldexp(1.0, exponent))


def check_predictions(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[ArrayLike, ArrayLike]:
    """Return labels as 1-D arrays of numbers or text, or indicator matrices as they are."""
    with naming("y_true", "y_pred"):
        check_consistent_length(y_true, y_pred)
        if num_samples(y_true) == 0:  # scikit-learn before 1.7 would compute 0/0
            raise ValueError("y_true must hold at least one sample, got 0.")
        true, pred = _read_plain_labels(y_true), _read_plain_labels(y_pred)
        if true is not None and pred is not None and _is_text(true) == _is_text(pred):
            return true, pred
        assert_all_finite(y_true, input_name="y_true")
        assert_all_finite(y_pred, input_name="y_pred")
        y_true, y_pred = native_labels("y_true", y_true), native_labels("y_pred", y_pred)
        unique_labels(y_true, y_pred)  # raises unless both are of one kind
        return _flatten_labels("y_true", y_true), _flatten_labels("y_pred", y_pred)


def _read_plain_labels(y: Any) -> NDArray[np.generic] | None:
    """Return whole numbers, booleans or text in one dimension as an array, None for all else."""
    if isinstance(y, list) and len({isinstance(label, str) for label in y}) == 1:
        try:
            y = np.array(y)
        except ValueError:  # the rows differ in length
            return None
    elif hasattr(y, "to_numpy") and isinstance(getattr(y, "dtype", None), np.dtype):
        y = y.to_numpy()
    if getattr(getattr(y, "dtype", None), "kind", None) == "S":
        raise ValueError("classes must be numbers, booleans or strings, got bytes.")
    if type(y) is not np.ndarray or y.ndim != 1:
        return None
    if y.dtype.kind == "f":
        return y if np.isfinite(y).all() and (y == np.floor(y)).all() else None
    return y if y.dtype.kind in "biuU" else None


def _is_text(labels: NDArray[np.generic]) -> bool:
    return labels.dtype.kind == "U"


def _flatten_labels(name: str, y: Any) -> Any:
    """Return labels as an array of numbers or text; an indicator matrix as it is."""
    if issparse(y):
        return y
    labels = native_labels(name, np.asarray(y))
    if labels.ndim > 1 and labels.shape[1] > 1:
        return y
    return labels.ravel().astype(str) if labels.dtype.kind == "O" else labels.ravel()


def check_labels(
    y_true: ArrayLike, y_pred: ArrayLike, labels: ArrayLike | None
) -> tuple[ArrayLike, ArrayLike, NDArray[np.generic]]:
    """Return what `check_predictions` does, and the classes in order.

    Those given, without repeats, or all that occur, sorted.
    """
    y_true, y_pred = check_predictions(y_true, y_pred)
    return y_true, y_pred, classes_of(y_true, y_pred) if labels is None else _check_classes(labels)


def classes_of(y_true: ArrayLike, y_pred: ArrayLike) -> NDArray[np.generic]:
    """Return the classes that occur, sorted; of indicator matrices the columns."""
    if np.ndim(y_true) == 1 and np.ndim(y_pred) == 1:
        return np.union1d(np.unique(y_true), np.unique(y_pred))
    return np.arange(np.shape(y_true)[1])


def _check_classes(labels: ArrayLike) -> NDArray[np.generic]:
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
    name: str = "y_score",
) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64]]:
    """Return (is positive, score, weight relative to the largest), each of shape (n_samples,).

    `name` is the argument that holds the scores.
    """
    with naming("y_true", name):
        check_consistent_length(y_true, y_score, sample_weight)
    labels = check_y("y_true", y_true)
    score = check_data(name, y_score, ensure_2d=False, dtype=np.float64)
    with naming(name):
        score = column_or_1d(score)
    classes = unique_labels(labels).tolist()
    if len(classes) > 2:
        raise ValueError(f"y_true must hold two classes, got {len(classes)}: {classes[:10]}.")
    positive = labels == positive_label(classes, pos_label)
    return positive, score, scale_weights(sample_weight, len(score))[0]


def positive_label(classes: list[object], pos_label: object) -> object:
    """Return the class that counts as positive; raise where it is not said and not clear."""
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
