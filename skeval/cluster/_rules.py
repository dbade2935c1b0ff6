"""Rules that choose a number of clusters from a curve of values."""

from __future__ import annotations

import numpy as np
from scipy.stats import t

from skeval.cluster._agreements import PREDICTION_STRENGTH

__all__ = [
    "GAP",
    "SILHOUETTE",
    "compute_limits",
    "describe_rule",
    "gap_limits",
    "pick_candidate",
    "silhouette_limits",
]

GAP, SILHOUETTE = "gap", "silhouette"

SHARE = 2 / 3
"""Least share of the way from the reference to 1; by simulation, see `choose_n_clusters`."""

ERROR = 0.05
"""Share of data without structure in which the silhouette of some candidate reaches its limit."""


def compute_limits(
    values: np.ndarray, errors: np.ndarray, base: np.ndarray, method: str, threshold: float
) -> np.ndarray:
    """Return what the stability of each candidate must reach, given that of the reference."""
    limits = base + SHARE * (1 - base)
    if method == PREDICTION_STRENGTH:
        return np.maximum(limits, threshold)
    sufficient = (values >= limits) & (values > base)
    return _near_the_best(values, errors, limits, sufficient)


def silhouette_limits(
    values: np.ndarray, errors: np.ndarray, reference_replicates: np.ndarray
) -> np.ndarray:
    """Return what the silhouette of each candidate must reach, given those of the reference.

    It is the upper prediction limit of one more draw, for all candidates together, and lies within
    one standard error of the best that reaches that.
    """
    n_candidates, n_draws = reference_replicates.shape
    quantile = t.isf(ERROR / n_candidates, n_draws - 1)
    spread = reference_replicates.std(axis=1, ddof=1) * np.sqrt(1 + 1 / n_draws)
    base = reference_replicates.mean(axis=1)
    limits = base + quantile * spread
    return _near_the_best(values, errors, limits, (values >= limits) & (values > base))


def _near_the_best(
    values: np.ndarray, errors: np.ndarray, limits: np.ndarray, sufficient: np.ndarray
) -> np.ndarray:
    """Raise the limits to one standard error below the best of the sufficient candidates."""
    found = np.flatnonzero(sufficient)
    if not found.size:
        return limits
    best = found[np.argmax(values[found])]
    return np.maximum(limits, values[best] - errors[best])


def gap_limits(gap: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Return the gap of the next candidate less its standard error; the last one has no limit."""
    return np.append((gap - errors)[1:], -np.inf)


def pick_candidate(
    candidates: np.ndarray, values: np.ndarray, limits: np.ndarray, base: np.ndarray, method: str
) -> int:
    """Return the chosen number of clusters."""
    if method == GAP:
        return int(candidates[values >= limits].min())
    reached = candidates[(values >= limits) & (values > base)]
    if method == SILHOUETTE:
        return int(reached.min()) if reached.size else 1
    return int(reached.max(initial=1))


def describe_rule(method: str, threshold: float) -> str:
    """Return the rule of a method."""
    if method == GAP:
        return "smallest k whose gap is within one standard error of that of the next k"
    if method == SILHOUETTE:
        return "smallest k within one standard error of the best and above the reference, else 1"
    least = "at least 2/3 of the way from the reference to 1"
    if method == PREDICTION_STRENGTH:
        return f"largest k with strength >= {threshold:g} and {least}, else 1"
    return f"largest k within one standard error of the best and {least}, else 1"
