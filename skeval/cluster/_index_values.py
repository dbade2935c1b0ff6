"""Values of an index of clusterings where it may be undefined, and its name."""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

__all__ = ["Index", "check_index_value", "name_index", "value_or_nan"]

Index = Callable[[Any, Any], float]
"""Of data and labels, or of two partitions."""


def name_index(index: Index) -> str:
    """Return the name of a function, also of one with arguments bound."""
    while isinstance(index, partial):
        index = index.func
    return getattr(index, "__name__", type(index).__name__)


def check_index_value(index: Index, *arguments: Any) -> float:
    """Return the index of all samples, or raise where it is undefined."""
    value = float(index(*arguments))
    if not np.isfinite(value):
        raise ValueError(f"index must have a finite value on the data, got {value}.")
    return value


def value_or_nan(index: Index, *arguments: Any) -> float:
    """Return the index, nan where it has no finite value or refuses a partition."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        try:
            value = float(index(*arguments))
        except ValueError:
            return np.nan
    return value if np.isfinite(value) else np.nan
