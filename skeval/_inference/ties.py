"""Comparisons of scores that are equal but for rounding."""

from __future__ import annotations

import numpy as np

__all__ = ["at_least", "exceedances"]

_TIE_TOLERANCE = 1e-12


def at_least(value: float, others: np.ndarray) -> np.ndarray:
    """Whether each of other scores is as large as a score, up to rounding.

    A score rounds at the scale of the numbers that it is the difference of, which its own size
    does not tell: kappa, MCC and R2 are differences of numbers near 1, and may end up near 0. So
    the tolerance is relative to the largest score of all; one that is out of all proportion (an
    error that exploded) is not taken for the scale of the others.
    """
    if not np.isfinite(value):
        return others >= value
    sizes = np.abs(np.append(others[np.isfinite(others)], value))
    scale = min(sizes.max(), max(1.0, float(np.median(sizes))))
    return others >= value - _TIE_TOLERANCE * max(scale, abs(value))


def exceedances(statistic: float, null: np.ndarray) -> np.ndarray:
    """Whether each null score is at least as good, ties up to rounding included.

    An undefined null score counts as at least as good, which errs on the safe side.
    """
    return np.isnan(null) | at_least(statistic, null)
