"""Many tests at once: P-values and levels that hold for all of them together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "CORRECTIONS",
    "LARGEST_LEVEL",
    "adjust_pvalues",
    "holm",
    "significance_level",
    "simultaneous_level",
]

LARGEST_LEVEL = 0.05

Floats = NDArray[np.float64]


def holm(pvalues: Floats) -> Floats:
    """Holm (1979): the i-th smallest of m times m - i + 1, none below one before it; nan counts."""
    order = np.argsort(pvalues)
    factors = np.arange(len(pvalues), 0, -1)
    adjusted = np.empty(len(pvalues))
    # `maximum` hands a nan on to what comes after it, and nan is sorted last
    adjusted[order] = np.maximum.accumulate(np.asarray(pvalues)[order] * factors)
    return np.minimum(adjusted, 1.0)


def bonferroni(pvalues: Floats) -> Floats:
    """Each P-value times their number."""
    return np.minimum(np.asarray(pvalues) * len(pvalues), 1.0)


def no_correction(pvalues: Floats) -> Floats:
    """The P-values as they are."""
    return np.asarray(pvalues, dtype=float)


CORRECTIONS = {"holm": holm, "bonferroni": bonferroni, "none": no_correction}


def adjust_pvalues(pvalues: Floats, correction: str) -> Floats:
    """Return P-values that are adjusted for their number by a named correction."""
    return CORRECTIONS[correction](pvalues)


def simultaneous_level(confidence_level: float, n_intervals: int) -> float:
    """Return the level at which so many intervals hold together, by Bonferroni's inequality."""
    return 1 - (1 - confidence_level) / n_intervals


def significance_level(confidence_level: float) -> float:
    """Return the level of the tests beside intervals: one minus theirs, and 5 % at most.

    Who asks for shorter intervals does not ask for more to be called more than chance.
    """
    return min(round(1 - confidence_level, 12), LARGEST_LEVEL)  # 1 - 0.9 is below 0.1
