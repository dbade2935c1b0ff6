"""Checked label vectors of two partitions, and the contingency table made of them."""

from __future__ import annotations

from dataclasses import astuple
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length

from skeval.metrics.cluster._pairs import Contingency, PairCounts, contingency, count_pairs
from skeval.utils._checks import check_data, check_weights, naming
from skeval.utils._compat import Interval

__all__ = [
    "BETA",
    "LABELS",
    "check_labels",
    "f_weights",
    "make_contingency",
    "make_pairs",
    "scale_counts",
]

# What validate_params checks of every external index.
LABELS = {
    "labels_true": ["array-like"],
    "labels_pred": ["array-like"],
    "sample_weight": ["array-like", None],
}
BETA = {"beta": [Interval(Real, 0, None, closed="both")]}


def check_labels(labels: ArrayLike, name: str) -> np.ndarray:
    """Return labels as a 1-D array of integers, strings or other hashable objects."""
    array: np.ndarray = check_data(name, labels, ensure_2d=False, ensure_min_samples=0, dtype=None)
    if array.ndim != 1:
        raise ValueError(f"{name} must be 1-D, got an array of shape {array.shape}.")
    if array.dtype.kind == "f":
        return _check_whole_numbers(array, name)
    if array.dtype.kind == "O":
        with naming(name):
            present = set(array.tolist())  # raises a TypeError where a label cannot be hashed
        if None in present:
            raise ValueError(f"{name} must not hold missing values, got None.")
    return array


def _check_whole_numbers(labels: np.ndarray, name: str) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # values that int64 cannot hold are refused below
        whole = labels.astype(np.int64)
    wrong = labels[whole != labels]
    if wrong.size:
        raise ValueError(f"{name} must be discrete labels, got the fraction {wrong[0]!r}.")
    return whole


def make_contingency(
    labels_true: ArrayLike, labels_pred: ArrayLike, sample_weight: ArrayLike | None
) -> Contingency:
    """Check the input of an external index and return its contingency table."""
    true, pred = check_labels(labels_true, "labels_true"), check_labels(labels_pred, "labels_pred")
    check_consistent_length(true, pred, sample_weight)
    if sample_weight is None or not len(true):
        return contingency(true, pred)
    return contingency(true, pred, check_weights("sample_weight", sample_weight, len(true)))


def make_pairs(
    labels_true: ArrayLike, labels_pred: ArrayLike, sample_weight: ArrayLike | None
) -> PairCounts:
    """Check the input of a pair-counting index and return its pair counts, to a common factor."""
    return count_pairs(make_contingency(labels_true, labels_pred, sample_weight))


def scale_counts(table: Contingency) -> PairCounts:
    """Return the pair counts themselves, or raise where a float cannot hold them."""
    pairs = count_pairs(table)
    if not table.exponent:
        return pairs
    with np.errstate(over="ignore", under="ignore"):
        scaled = np.array(astuple(pairs))
        counts = np.ldexp(scaled, 2 * table.exponent)
    if not np.all((scaled == 0) | ((counts >= np.finfo(float).tiny) & np.isfinite(counts))):
        raise ValueError(
            "sample_weight must be such that products of two weights are neither infinite nor next "
            f"to 0, got weights of about 2**{table.exponent}; scale sample_weight."
        )
    return PairCounts(*counts.tolist())


def f_weights(beta: float) -> tuple[float, float]:
    """Return ``1 / (1 + b^2)`` and ``b^2 / (1 + b^2)``, the weights of precision and recall.

    With them ``F_b = TP / (TP + (1 - v) FP + v FN)``; 0 and infinite `beta` are their own limits.
    """
    if beta > 1:
        recall, precision = f_weights(1 / beta)
        return precision, recall
    square = float(beta) ** 2
    return 1 / (1 + square), square / (1 + square)
