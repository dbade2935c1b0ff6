"""Checked label vectors of two partitions, and the contingency table made of them."""

from numbers import Real

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length

from skeval.metrics.cluster._pairs import Contingency, PairCounts, contingency, count_pairs
from skeval.utils._checks import check_data, naming
from skeval.utils._compat import Interval, check_sample_weight

__all__ = ["BETA", "LABELS", "check_labels", "checked_contingency", "checked_pairs"]

# What validate_params checks of every external index.
LABELS = {
    "labels_true": ["array-like"],
    "labels_pred": ["array-like"],
    "sample_weight": ["array-like", None],
}
BETA = {"beta": [Interval(Real, 0, None, closed="left")]}


def check_labels(labels: ArrayLike, name: str) -> np.ndarray:
    """Return labels as a 1-D array of integers, strings or other hashable objects."""
    array: np.ndarray = check_data(name, labels, ensure_2d=False, ensure_min_samples=0, dtype=None)
    if array.ndim != 1:
        raise ValueError(f"{name} must be 1-D, got an array of shape {array.shape}.")
    if array.dtype.kind == "f":
        return _whole_numbers(array, name)
    if array.dtype.kind == "O":
        with naming(name):
            present = set(array.tolist())  # a TypeError where a label cannot be hashed
        if None in present:
            raise ValueError(f"{name} must not hold missing values, got None.")
    return array


def _whole_numbers(labels: np.ndarray, name: str) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # beyond int64; the comparison below refuses it
        whole = labels.astype(np.int64)
    wrong = labels[whole != labels]
    if wrong.size:
        raise ValueError(f"{name} must be discrete labels, got the fraction {wrong[0]!r}.")
    return whole


def checked_contingency(
    labels_true: ArrayLike, labels_pred: ArrayLike, sample_weight: ArrayLike | None
) -> Contingency:
    """Check the input of an external index and return its contingency table."""
    true, pred = check_labels(labels_true, "labels_true"), check_labels(labels_pred, "labels_pred")
    check_consistent_length(true, pred, sample_weight)
    if sample_weight is None or not len(true):
        return contingency(true, pred)
    weight = check_sample_weight(sample_weight, true, dtype=np.float64, ensure_non_negative=True)
    if not np.any(weight):
        raise ValueError("sample_weight must hold a positive weight, got only zeros.")
    return contingency(true, pred, weight)


def checked_pairs(
    labels_true: ArrayLike, labels_pred: ArrayLike, sample_weight: ArrayLike | None
) -> PairCounts:
    """Check the input of a pair-counting index and return its pair counts."""
    return count_pairs(checked_contingency(labels_true, labels_pred, sample_weight))
