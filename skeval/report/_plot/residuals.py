"""Residuals of out-of-fold predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import PredictionErrorDisplay

from skeval._resampling.out_of_fold import OutOfFold

__all__ = ["draw_residuals"]


def draw_residuals(found: OutOfFold, ax: Any = None) -> Any:
    """Draw the residual of each sample beside its mean prediction."""
    n = len(found.target)
    counts = np.bincount(found.row, minlength=n)
    tested = counts > 0
    means = np.bincount(found.row, found.predicted, minlength=n)[tested] / counts[tested]
    true = found.target.y[tested].astype(float)
    return PredictionErrorDisplay.from_predictions(
        true, means, kind="residual_vs_predicted", ax=ax, subsample=None
    )
