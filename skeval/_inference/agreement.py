"""Agreement and cost of a table of probabilities, each with its gradient."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["kappa", "mean_cost", "phi"]

Floats = NDArray[np.float64]


def mean_cost(p: Floats, costs: Floats) -> tuple[float, Floats]:
    """Return the expected cost ``sum c_ij p_ij``."""
    return float(np.sum(costs * p)), costs


def kappa(p: Floats, disagreement: Floats) -> tuple[float, Floats]:
    """Return Cohen's kappa, ``1 - sum w_ij p_ij / sum w_ij row_i column_j``."""
    row, column = p.sum(axis=1), p.sum(axis=0)
    seen, expected = np.sum(disagreement * p), row @ disagreement @ column
    if expected <= 0:
        return np.nan, np.zeros_like(p)
    slope = (disagreement @ column)[:, None] + (row @ disagreement)[None, :]
    return float(1 - seen / expected), (seen / expected * slope - disagreement) / expected


def phi(p: Floats) -> tuple[float, Floats]:
    """Return Matthews' correlation, 0 where all are of one class or predicted to be."""
    row, column = p.sum(axis=1), p.sum(axis=0)
    of_true, of_predicted = 1 - row @ row, 1 - column @ column
    scale = np.sqrt(max(of_true, 0.0) * max(of_predicted, 0.0))
    if scale <= 1e-12:
        return 0.0, np.zeros_like(p)
    covariance = np.trace(p) - row @ column
    slope = np.eye(len(p)) - column[:, None] - row[None, :]
    scales = row[:, None] / of_true + column[None, :] / of_predicted
    return float(covariance / scale), (slope + covariance * scales) / scale
