"""Is a difference larger than a region of practical equivalence (ROPE)? Posterior probabilities."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

__all__ = ["RegionProbabilities", "correlated_t_probabilities"]

Floats = NDArray[np.float64]


class RegionProbabilities(NamedTuple):
    """Where a difference "a minus b" lies: above the ROPE, within it, or below."""

    a_better: float
    equivalent: float
    b_better: float


def correlated_t_probabilities(
    difference: float, standard_error: float, n_splits: int, rope: float
) -> RegionProbabilities:
    """Bayesian correlated t test of Corani & Benavoli (2015), with the reference prior.

    The posterior of the difference is Student's t on ``n_splits - 1`` degrees of freedom, around
    the mean, with the standard error of Nadeau & Bengio for its scale.
    """
    if not standard_error > 0:
        return RegionProbabilities(np.nan, np.nan, np.nan)
    posterior = stats.t(n_splits - 1, difference, standard_error)
    above, below = float(posterior.sf(rope)), float(posterior.cdf(-rope))
    return RegionProbabilities(above, max(1 - above - below, 0.0), below)
