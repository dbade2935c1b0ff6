"""Limits of a bootstrap interval, from replicates and leave-one-out values."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

__all__ = ["bca_levels"]

Floats = NDArray[np.float64]


def bca_levels(
    replicates: Floats, estimate: float, jackknife: list[Floats], level: float
) -> tuple[float, float]:
    """Return the quantile levels of the BCa interval of Efron (1987), equations (6.4) to (6.6).

    `jackknife` holds, for each stratum, the statistic without each of its units. The levels are
    nan where all replicates lie on one side of the estimate.
    """
    bias = ndtri((np.mean(replicates < estimate) + np.mean(replicates <= estimate)) / 2)
    acceleration = _acceleration(jackknife)
    z = ndtri(np.array([1 - level, 1 + level]) / 2)
    if not np.isfinite(bias):
        return np.nan, np.nan
    low, high = ndtr(bias + (bias + z) / (1 - acceleration * (bias + z)))
    return float(low), float(high)


def _acceleration(jackknife: list[Floats]) -> float:
    """Return sum U^3 / (6 (sum U^2)^1.5) over the strata, U the empirical influence values."""
    cubes = squares = 0.0
    for values in jackknife:
        n = len(values)
        influence = (n - 1) * (values.mean() - values)
        cubes += np.sum(influence**3) / n**3
        squares += np.sum(influence**2) / n**2
    return float(cubes / squares**1.5 / 6) if squares > 0 else 0.0
