"""One entry for each sample, as an array or what else a metric takes."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

__all__ = ["encode_classes", "has_classes", "make_column", "make_plain"]


def make_column(entries: Any) -> NDArray[Any]:
    """Return one entry per sample as an array, of objects where entries differ in length."""
    try:
        return np.asarray(entries)
    except ValueError:
        column = np.empty(len(entries), dtype=object)
        for row, entry in enumerate(entries):
            column[row] = entry
        return column


def make_plain(column: Any) -> Any:
    """Return a column in the form that any metric takes.

    What is no NumPy dtype (nullable, categorical, polars) becomes one; numbers and booleans that
    are held as objects get their own; half precision, in which squares overflow, becomes double.
    All else is returned as it is.
    """
    if hasattr(column, "to_numpy") and not isinstance(getattr(column, "dtype", None), np.dtype):
        column = column.to_numpy() if np.ndim(column) == 1 else column
    elif hasattr(column, "to_numpy") and not hasattr(column, "iloc"):
        column = column.to_numpy()  # The index of a pandas frame has no rows to select.
    if getattr(column, "dtype", None) == np.float16:
        return column.astype(np.float64)
    objects = np.asarray(column) if getattr(column, "dtype", None) == np.dtype(object) else None
    if objects is not None and all(isinstance(item, Real | np.bool_) for item in objects.flat):
        return np.array(objects.tolist())
    return column


def has_classes(y_true: Any) -> bool:
    try:
        return type_of_target(y_true) in ("binary", "multiclass")
    except ValueError:  # These are texts, split into lists of several lengths.
        return False


def encode_classes(y_true: Any) -> NDArray[np.intp]:
    if not has_classes(y_true):
        kind = type_of_target(y_true)
        raise ValueError(f"stratify=True needs classes in y_true, got a {kind} target.")
    return np.unique(np.asarray(y_true), return_inverse=True)[1]
