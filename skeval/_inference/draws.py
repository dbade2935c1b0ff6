"""Intervals made of draws: of replicates of a statistic, or of its deviation.

First the percentile, basic and bias-corrected limits of a bootstrap, then what other draws have in
common with it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import norm, t

from skeval._inference.estimate import Limits

__all__ = [
    "DRAWN",
    "bca_correction",
    "bootstrap_limits",
    "check_enough_draws",
    "corrected_levels",
    "expand_level",
    "limits_of_draws",
]

Floats = NDArray[np.float64]
DRAWN = ("pivotal", "symmetric", "quantile")
"""Forms of interval that are quantiles of draws; all others take their standard deviation."""


def check_enough_draws(n_draws: int, confidence_level: float, form: str) -> None:
    """Raise where a form of interval takes more draws for this confidence level."""
    tail = (1 - confidence_level) / 2
    needed = int(np.ceil(1 / tail - 1e-9)) if form in DRAWN else 2
    if n_draws < needed:
        raise ValueError(
            f"n_resamples must be >= {needed} for the interval {form!r} at confidence_level "
            f"{confidence_level:g}, got {n_draws}."
        )


def limits_of_draws(
    centre: float, deviations: np.ndarray, confidence_level: float, form: str
) -> Limits:
    """Return the interval around `centre` that draws of its deviation make, one of `DRAWN`."""
    check_enough_draws(len(deviations), confidence_level, form)
    tail = (1 - confidence_level) / 2
    lower, upper = np.quantile(deviations, [tail, 1 - tail])
    if form == "pivotal":
        return float(centre - upper), float(centre - lower)
    half = abs(upper)
    if form == "symmetric":
        half = np.quantile(np.abs(deviations), confidence_level)
    return float(centre - half), float(centre + half)


def bootstrap_limits(
    replicates: Floats,
    estimate: float,
    n_units: int,
    correction: Correction | None,
    confidence_level: float,
) -> Limits:
    """Return the limits that finite replicates make: percentile, or BCa with its correction."""
    level = expand_level(confidence_level, n_units)
    levels = (1 - level) / 2, (1 + level) / 2
    if correction is not None:
        levels = corrected_levels(correction, level)
    low, high = np.quantile(replicates, levels)
    # A quantile at a level that BCa moved far may lie on the other side of the estimate.
    return min(float(low), estimate), max(float(high), estimate)


def expand_level(confidence_level: float, n: int) -> float:
    """Return the level whose normal quantile is ``sqrt(n / (n-1)) t_{n-1}`` (Hesterberg 2015).

    The spread of `n` units on a bootstrap lacks the factor n / (n - 1), as the plug-in variance
    does, and the normal quantile takes that spread for known.
    """
    wider = np.sqrt(n / (n - 1)) * t.isf((1 - confidence_level) / 2, n - 1)
    return float(1 - 2 * norm.sf(wider))


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
    z = z.clip(-FARTHEST, FARTHEST)  # The level of two samples is 1, whose quantile is infinite.
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
