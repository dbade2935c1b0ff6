"""How resubstitution and out-of-bag error combine: oob, .632 and .632+."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["METHODS", "Combination", "combine"]

METHODS = ("oob", ".632", ".632+")


class Combination(NamedTuple):
    """An estimate as a function of (AE, BI, gamma).

    Attributes
    ----------
    error : float
        Its value.
    weight : float
        Weight `w` of the out-of-bag error.
    relative_overfitting : float
        `R`, between 0 and 1.
    gradient : ndarray of shape (3,)
        Its derivatives in `AE`, `BI` and `gamma`.
    """

    error: float
    weight: float
    relative_overfitting: float
    gradient: np.ndarray


def combine(method: str, apparent: float, oob: float, no_information: float) -> Combination:
    """Return the estimate that `method` makes of `AE`, `BI` and `gamma`."""
    capped = min(oob, no_information)
    overfits = capped > apparent and no_information > apparent
    gap = no_information - apparent
    overfitting = (capped - apparent) / gap if overfits else 0.0
    if method != ".632+":
        weight = 1.0 if method == "oob" else 0.632
        error = (1 - weight) * apparent + weight * oob
        return Combination(error, weight, overfitting, np.array([1 - weight, weight, 0.0]))
    weight = 0.632 / (1 - 0.368 * overfitting)
    by_apparent, by_capped, by_gamma = 1 - weight, weight, 0.0
    if overfits:
        # This is (d w / d R) (BI' - AE), over the gap that the derivatives of R have below. Since
        # R is (BI' - AE) / gap, no power of a small gap is left.
        slope = 0.632 * 0.368 / (1 - 0.368 * overfitting) ** 2 * overfitting
        by_apparent += slope * (overfitting - 1)
        by_capped += slope
        by_gamma -= slope * overfitting
    if oob > no_information:  # Here BI' is gamma.
        by_capped, by_gamma = 0.0, by_gamma + by_capped
    error = (1 - weight) * apparent + weight * capped
    return Combination(error, weight, overfitting, np.array([by_apparent, by_capped, by_gamma]))
