"""Intervals made of draws: of replicates of a statistic, or of its deviation."""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, t

from skeval._inference.bootstrap_intervals import bca_levels
from skeval._inference.means import normal_quantile
from skeval._inference.proportions import effective_size, log_interval, wilson_interval
from skeval.utils._checks import check_level, warn_undefined

__all__ = ["bootstrap_limits", "interval_of_draws"]

Floats = NDArray[np.float64]
_BY_STANDARD_ERROR = ("wilson", "log", "normal")


def interval_of_draws(
    centre: float, deviations: np.ndarray, level: float, form: str, n_samples: float
) -> tuple[float, float]:
    """Return the interval around `centre` that draws of its deviation make (not clipped)."""
    check_level(level)
    tail = (1 - level) / 2
    needed = 2 if form in _BY_STANDARD_ERROR else int(np.ceil(1 / tail - 1e-9))
    if len(deviations) < needed:
        raise ValueError(
            f"n_resamples must be >= {needed} for interval={form!r} at level {level:g}, "
            f"got {len(deviations)}."
        )
    spread = float(np.std(deviations, ddof=1))
    if form == "wilson":
        n = effective_size(centre, spread, n_samples)
        return wilson_interval(centre * n, n, level)
    if form == "log":
        return log_interval(centre, spread, level)
    if form == "normal":
        half = normal_quantile(level) * spread
    elif form == "symmetric":
        half = np.quantile(np.abs(deviations), level)
    else:
        lower, upper = np.quantile(deviations, [tail, 1 - tail])
        if form == "pivotal":
            return float(centre - upper), float(centre - lower)
        half = abs(upper)
    return float(centre - half), float(centre + half)


def bootstrap_limits(
    replicates: Floats,
    estimate: float,
    level: float,
    method: str,
    n_units: int,
    jackknife: list[Floats],
) -> tuple[tuple[float, float], str]:
    """Return the limits and the method, which is percentile where BCa has no value.

    `jackknife` is that of `bca_levels`, which "percentile" does not need.
    """
    finite = replicates[np.isfinite(replicates)]
    if len(finite) == 0 or not np.isfinite(estimate):
        return (np.nan, np.nan), method
    level = _expand_level(level, n_units)
    levels = (1 - level) / 2, (1 + level) / 2
    if method == "bca":
        corrected = bca_levels(finite, estimate, jackknife, level)
        if np.isnan(corrected).any():
            method = "percentile"
            warn_undefined("All replicates lie on one side of the estimate: percentile, not BCa.")
        else:
            levels = corrected
    low, high = np.quantile(finite, levels)
    # A quantile at a level that BCa moved far may lie on the other side of the estimate.
    return (min(float(low), estimate), max(float(high), estimate)), method


def _expand_level(level: float, n: int) -> float:
    """Return the level whose normal quantile is ``sqrt(n / (n-1)) t_{n-1}`` (Hesterberg 2015).

    The spread of `n` units on a bootstrap lacks the factor n / (n - 1), as the plug-in variance
    does, and the normal quantile takes that spread for known.
    """
    wider = np.sqrt(n / (n - 1)) * t.isf((1 - level) / 2, n - 1)
    return float(1 - 2 * norm.sf(wider))
