"""Means: their standard errors and normal intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from skeval._inference.interval import Limits
from skeval.utils._checks import warn_undefined

__all__ = [
    "mean_interval",
    "normal_interval",
    "normal_quantile",
    "row_means",
    "standard_error_of_ratio",
]

_ROUNDING = 1e-12


def normal_quantile(confidence_level: float, n_units: int | None = None) -> float:
    """Return the two-sided quantile ``z_{1-a/2}``, or Student's of a spread among few units."""
    if n_units is None:
        return float(stats.norm.ppf((1 + confidence_level) / 2))
    return float(stats.t.isf((1 - confidence_level) / 2, n_units - 1))


def normal_interval(
    estimate: float,
    standard_error: float,
    confidence_level: float,
    bounds: Limits = (-np.inf, np.inf),
    n_units: int | None = None,
) -> Limits:
    """Return ``estimate -/+ z se``, clipped to the range of the quantity."""
    half = normal_quantile(confidence_level, n_units) * standard_error
    low, high = np.clip([estimate - half, estimate + half], *bounds)
    return float(low), float(high)


def row_means(losses: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Return the (weighted) mean of the tested entries of each row, nan where there is none."""
    tested = ~np.isnan(losses)
    known = np.where(tested, losses, 0)
    with np.errstate(invalid="ignore"):
        if weights is not None:
            return (known @ weights) / (tested @ weights)
        return known.sum(axis=1) / tested.sum(axis=1)


def standard_error_of_ratio(
    sums: np.ndarray, counts: np.ndarray, groups: Any = None
) -> tuple[float, int | None]:
    """Return the standard error of ``sums.sum() / counts.sum()``, and the number of groups.

    With groups their residuals are added up first (CR1, the sandwich of clustered samples).
    """
    seen, total = counts > 0, counts.sum()
    residuals = (sums - sums.sum() / total * counts)[seen]
    if groups is None:
        return float(np.sqrt(np.sum(residuals**2)) / total), None
    codes = np.unique(np.asarray(groups)[seen], return_inverse=True)[1].reshape(-1)
    n_groups = int(codes.max()) + 1
    if n_groups == 1:
        warn_undefined("The standard error of one group is undefined and set to nan.")
        return float("nan"), 1
    by_group = np.bincount(codes, residuals)
    spread = np.sqrt(n_groups / (n_groups - 1) * np.sum(by_group**2))
    return float(spread / total), n_groups


def mean_interval(losses: np.ndarray, method: str, confidence_level: float) -> Limits:
    """Return the interval of the mean of non-negative losses.

    "t" is Student's; "hall" corrects it for skewness by the cubic transformation of Hall (1992).
    """
    n, mean, error = len(losses), float(losses.mean()), float(stats.sem(losses))
    ends = stats.t.ppf((1 + confidence_level) / 2, n - 1) * np.array([1.0, -1.0])
    skew = stats.skew(losses) / n**0.5 if error > _ROUNDING * abs(mean) else 0.0
    if method == "hall" and abs(skew) > _ROUNDING:  # the inverse of the transformation
        ends = 3 / skew * (np.cbrt(1 + skew * (ends - skew / 6)) - 1)
    low, high = (mean - ends * error).tolist()
    return max(min(low, mean), 0.0), max(high, mean)
