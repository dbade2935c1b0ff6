"""Engine: from the counts of each class to averaged precision, recall and F."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import UndefinedMetricWarning

from skeval.utils._checks import check_data

__all__ = [
    "class_precision_recall",
    "class_weights",
    "f_beta",
    "pooled_precision_recall",
    "weighted_mean",
]

Floats = NDArray[np.float64]
_WEIGHTS = "class weights (average= or class_weight=)"


def f_beta(precision: float, recall: float, beta: float) -> float:
    """Return (1 + b^2) P R / (b^2 P + R); 0 where P = R = 0, and the limit R for infinite b."""
    if np.isinf(beta):
        return recall
    if precision == recall == 0:
        return 0.0
    return float((1 + beta**2) * precision * recall / (beta**2 * precision + recall))


def _divide(
    part: Floats, whole: Floats, zero_division: float | str, what: str, classes: list[object]
) -> Floats:
    """Return part / whole, with `zero_division` for 0/0."""
    empty = whole == 0
    if zero_division == "warn" and empty.any():
        concerned = [label for label, is_empty in zip(classes, empty, strict=True) if is_empty]
        warnings.warn(
            f"{what} is 0/0 for {concerned[:10]} and set to 0; zero_division= says otherwise.",
            UndefinedMetricWarning,
            stacklevel=4,
        )
    filling = 0.0 if zero_division == "warn" else float(zero_division)
    return np.divide(part, whole, out=np.full(part.shape, filling), where=~empty)


def class_precision_recall(
    tp: Floats, fp: Floats, fn: Floats, classes: NDArray[np.generic], zero_division: float | str
) -> tuple[Floats, Floats]:
    """Return precision and recall of each class."""
    names = classes.tolist()
    precision = _divide(tp, tp + fp, zero_division, "Precision (never predicted)", names)
    recall = _divide(tp, tp + fn, zero_division, "Recall (never true)", names)
    return precision, recall


def pooled_precision_recall(
    tp: Floats, fp: Floats, fn: Floats, classes: NDArray[np.generic], zero_division: float | str
) -> tuple[float, float]:
    """Return precision and recall of the counts summed over classes."""
    tp, fp, fn = (np.atleast_1d(counts.sum()) for counts in (tp, fp, fn))
    names = [classes.tolist()]
    precision = _divide(tp, tp + fp, zero_division, "Precision (never predicted)", names)
    recall = _divide(tp, tp + fn, zero_division, "Recall (never true)", names)
    return float(precision[0]), float(recall[0])


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
        weight = _from_mapping(average, classes)
    else:
        weight = check_data(_WEIGHTS, average, ensure_2d=False, dtype=np.float64)
    if weight.shape != (len(classes),):
        raise ValueError(
            f"{_WEIGHTS} must be one per class, {len(classes)}, got shape {weight.shape}."
        )
    if weight.min() < 0 or not weight.any():
        raise ValueError(f"{_WEIGHTS} must be >= 0 and not all 0, got {weight.tolist()}.")
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
