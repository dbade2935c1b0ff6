"""The losses of single predictions, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["LOSSES"]

LOSSES: dict[str, Callable[[Any, Any], Any]] = {
    "zero_one": lambda y_true, y_pred: (y_true != y_pred).astype(float),
    # Floats are subtracted, since the difference of small unsigned integers would wrap around.
    "squared": lambda y_true, y_pred: np.subtract(y_true, y_pred, dtype=float) ** 2,
    "absolute": lambda y_true, y_pred: np.abs(np.subtract(y_true, y_pred, dtype=float)),
}
