"""From the counts of each class to averaged precision, recall and F."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skeval.metrics._checks import check_labels, scale_weights
from skeval.metrics._class_counts import Counts, Floats, class_counts
from skeval.utils._checks import check_data, warn_undefined
from skeval.utils._compat import num_samples

__all__ = [
    "class_weights",
    "count_and_weigh",
    "f_beta",
    "mean_precision_recall",
    "warn_of_empty",
    "weighted_mean",
]

_WEIGHTS = "class weights (average= or class_weight=)"


def f_beta(precision: float, recall: float, beta: float) -> float:
    """Return 1 / ((1 - a) / P + a / R) with a = b^2 / (1 + b^2), which is between P and R.

    P for b = 0 and R for infinite b; else 0 where one of both is 0, even if the other is nan.
    """
    if beta in (0, np.inf):
        return precision if beta == 0 else recall
    if precision == 0 or recall == 0:
        return 0.0
    if np.isnan(precision) or np.isnan(recall):
        return float("nan")
    ratio = beta if beta < 1 else 1 / beta  # at most 1, so that its square cannot overflow
    large, small = 1 / (1 + ratio**2), ratio**2 / (1 + ratio**2)
    for_recall, for_precision = (small, large) if beta < 1 else (large, small)
    score = 1 / (for_precision / precision + for_recall / recall)
    return min(max(score, min(precision, recall)), max(precision, recall))


def mean_precision_recall(counts: Counts, weight: Floats, filling: float) -> tuple[float, float]:
    """Return the means over classes, with `filling` for 0/0.

    `counts` are the true positives, false positives and false negatives of each class.
    """
    tp, fp, fn = counts
    precision, recall = _divide(tp, tp + fp, filling), _divide(tp, tp + fn, filling)
    return weighted_mean(precision, weight), weighted_mean(recall, weight)


def _divide(part: Floats, whole: Floats, filling: float) -> Floats:
    return np.divide(part, whole, out=np.full(part.shape, filling), where=whole > 0)


def weighted_mean(values: Floats, weight: Floats) -> float:
    """Return the weighted mean over the values that are defined; nan if none is."""
    defined = ~np.isnan(values)
    if not weight[defined].any():
        return float("nan")
    return float(np.average(values[defined], weights=weight[defined]))


def class_weights(
    average: str | ArrayLike | Mapping[Any, float], classes: NDArray[np.generic], support: Floats
) -> Floats:
    """Return a weight for each class, summing to 1."""
    if isinstance(average, str):
        weight = np.ones(len(classes)) if average == "macro" else _log_inverse(classes, support)
    elif isinstance(average, Mapping):
        weight = check_data(_WEIGHTS, _from_mapping(average, classes), ensure_2d=False)
    else:
        weight = check_data(_WEIGHTS, average, ensure_2d=False, dtype=np.float64)
    if weight.shape != (len(classes),):
        raise ValueError(
            f"{_WEIGHTS} must be one per class, {len(classes)}, got shape {weight.shape}."
        )
    if weight.min() < 0 or not weight.any():
        raise ValueError(f"{_WEIGHTS} must be >= 0 and not all 0, got {weight.tolist()}.")
    weight = weight / weight.max()  # the sum of large weights may overflow
    return weight / weight.sum()


def _from_mapping(weights: Mapping[Any, float], classes: NDArray[np.generic]) -> Floats:
    if set(weights) != set(classes.tolist()):
        raise ValueError(
            f"{_WEIGHTS} must name exactly the classes {classes.tolist()}, got {list(weights)}."
        )
    return np.array([weights[label] for label in classes.tolist()], dtype=np.float64)


def _log_inverse(classes: NDArray[np.generic], support: Floats) -> Floats:
    """Return 1 / log2(n_c)."""
    small = support <= 1
    if small.any():
        raise ValueError(
            "'log_inverse' weights of y_true need more than one sample of every class, got "
            f"{dict(zip(classes[small].tolist(), support[small].tolist(), strict=True))}."
        )
    return 1 / np.log2(support)


def warn_of_empty(classes: list[object], counts: Counts) -> None:
    tp, fp, fn = counts
    for what, empty in (
        ("Precision (never predicted)", tp + fp == 0),
        ("Recall (never true)", tp + fn == 0),
    ):
        if empty.any():
            concerned = [classes[i] for i in np.flatnonzero(empty)[:10]]
            warn_undefined(
                f"{what} is 0/0 for {concerned} and set to 0; zero_division= says otherwise."
            )


def count_and_weigh(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    average: str | ArrayLike | Mapping[Any, float],
    labels: ArrayLike | None,
    sample_weight: ArrayLike | None,
) -> tuple[list[object], Counts, Floats]:
    """Return the classes, their weighted counts and their weights; micro makes one class of all.

    Counts are true positives, false positives and false negatives, relative to some scale.
    """
    y_true, y_pred, classes = check_labels(y_true, y_pred, labels)
    relative, scale = scale_weights(sample_weight, num_samples(y_true))
    weight = None if sample_weight is None else relative
    counts = class_counts(y_true, y_pred, classes, labels, weight)
    if isinstance(average, str) and average == "micro":
        tp, fp, fn = (count.sum(keepdims=True) for count in counts)
        return [classes.tolist()], (tp, fp, fn), np.ones(1)
    return (
        classes.tolist(),
        counts,
        class_weights(average, classes, (counts[0] + counts[2]) * scale),
    )
