"""Checks of arguments that scikit-learn does not have; each names argument, rule and value."""

from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import type_of_target

from skeval.utils._compat import num_samples

__all__ = ["check_level", "check_option", "check_targets", "check_y"]


def check_level(level: float) -> None:
    """Raise unless `level` lies strictly between 0 and 1."""
    if not isinstance(level, Real) or not 0 < level < 1:
        raise ValueError(f"level must fulfil 0 < level < 1, got {level!r}.")


def check_option(name: str, value: str, options: Iterable[str]) -> str:
    """Return `value`, or raise unless it is one of the options."""
    options = tuple(options)
    if value not in options:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, options))}; got {value!r}.")
    return value


def check_y(name: str, y: Any) -> np.ndarray:
    """Return `y` as a 1-D array without missing values."""
    y = column_or_1d(np.asarray(y))
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError(f"{name} must be finite, got {y[~np.isfinite(y)][0]}.")
    if y.dtype.kind == "O" and any(value is None or value != value for value in y):  # noqa: PLR0124
        raise ValueError(f"{name} must not hold missing values.")
    return y


def check_targets(y_true: Any, y_pred: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return both label vectors as 1-D arrays of the same, positive, length."""
    if num_samples(y_true) != num_samples(y_pred):
        raise ValueError(
            "y_true and y_pred must have the same length, got "
            f"{num_samples(y_true)} and {num_samples(y_pred)}."
        )
    if num_samples(y_true) == 0:
        raise ValueError("y_true must hold at least one sample, got 0.")
    return check_y("y_true", y_true), check_y("y_pred", y_pred)


def is_discrete(y: np.ndarray) -> bool:
    """Whether `y` holds class labels rather than measurements."""
    return type_of_target(y) in ("binary", "multiclass")
