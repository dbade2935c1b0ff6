"""Limits of a bootstrap interval, from replicates and leave-one-out values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

__all__ = ["Correction", "bca_correction", "corrected_levels"]

Floats = NDArray[np.float64]

FARTHEST = 38.0
"""Below minus this the normal distribution function is 0."""


class Correction(NamedTuple):
    """Bias and acceleration of the BCa interval of Efron (1987)."""

    bias: float
    acceleration: float


def bca_correction(replicates: Floats, estimate: float, jackknife: list[Floats]) -> Correction:
    """Return the correction by equations (6.4) and (6.6) of Efron (1987).

    `jackknife` holds, for each stratum, the statistic without each of its units. The bias is
    infinite where all replicates lie on one side of the estimate.
    """
    bias = ndtri((np.mean(replicates < estimate) + np.mean(replicates <= estimate)) / 2)
    return Correction(float(bias), _acceleration(jackknife))


def corrected_levels(correction: Correction, confidence_level: float) -> tuple[float, float]:
    """Return the quantile levels of the BCa interval, equation (6.5) of Efron (1987)."""
    bias, acceleration = correction
    z = ndtri(np.array([1 - confidence_level, 1 + confidence_level]) / 2)
    z = z.clip(-FARTHEST, FARTHEST)  # a level of 1, as that of two samples, has no quantile
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
