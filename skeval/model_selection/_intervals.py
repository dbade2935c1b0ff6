"""Confidence intervals of a proportion or a mean: numbers in, (low, high) out."""

import numpy as np
from scipy.stats import beta, norm

__all__ = [
    "PROPORTION_INTERVALS",
    "exact_interval",
    "normal_interval",
    "stratified_wilson_interval",
    "wald_interval",
    "wilson_interval",
]


def normal_quantile(level: float) -> float:
    """Return the two-sided normal quantile ``z_{1-a/2}`` of a level ``1-a``."""
    return float(norm.ppf((1 + level) / 2))


def normal_interval(
    estimate: float,
    standard_error: float,
    level: float,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> tuple[float, float]:
    """Return ``estimate -/+ z se``, clipped to the range of the quantity."""
    half = normal_quantile(level) * standard_error
    low, high = np.clip([estimate - half, estimate + half], *bounds)
    return float(low), float(high)


# The three below take a real-valued number of errors, which weighted samples and repeated
# cross-validation produce; for whole numbers they equal scipy.stats.binomtest.proportion_ci.


def wilson_interval(errors: float, n: float, level: float, z: float | None = None) -> tuple:
    """Return the score interval of Wilson (1927)."""
    z = normal_quantile(level) if z is None else z
    p = errors / n
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    low = 0.0 if errors == 0 else max(0.0, centre - half)
    high = 1.0 if errors == n else min(1.0, centre + half)
    return float(low), float(high)


def exact_interval(errors: float, n: float, level: float) -> tuple[float, float]:
    """Return the interval of Clopper and Pearson (1934)."""
    tail = (1 - level) / 2
    low = beta.ppf(tail, errors, n - errors + 1) if errors > 0 else 0.0
    high = beta.isf(tail, errors + 1, n - errors) if errors < n else 1.0
    return float(low), float(high)


def wald_interval(errors: float, n: float, level: float) -> tuple[float, float]:
    """Return the normal interval on the plug-in variance; too short near 0 and 1."""
    p = errors / n
    return normal_interval(p, float(np.sqrt(p * (1 - p) / n)), level, (0.0, 1.0))


PROPORTION_INTERVALS = {
    "wilson": wilson_interval,
    "exact": exact_interval,
    "wald": wald_interval,
}


def stratified_wilson_interval(
    errors: np.ndarray, sizes: np.ndarray, priors: np.ndarray, level: float
) -> tuple[float, float]:
    """Return the stratified Wilson interval of Yan and Su (2010) with the priors as weights.

    Each stratum's Wilson limits are taken at the quantile
    ``z sqrt(sum P_c^2 V_c) / sum P_c sqrt(V_c)`` and averaged with weights ``P_c``.
    """
    rates = errors / sizes
    variances = rates * (1 - rates) / sizes
    z = normal_quantile(level)
    if not np.any(priors * variances):  # 0/0: take the variances at Wilson's centres instead
        centres = (errors + z**2 / 2) / (sizes + z**2)
        variances = centres * (1 - centres) / (sizes + z**2)
    z *= np.sqrt(np.sum(priors**2 * variances)) / np.sum(priors * np.sqrt(variances))
    limits = np.array([wilson_interval(k, n, level, z) for k, n in zip(errors, sizes, strict=True)])
    low, high = priors @ limits
    return float(low), float(high)
