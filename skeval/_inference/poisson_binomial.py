"""The number, or the weighted share, of independent events that happen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import fft
from scipy.stats import beta

from skeval._inference.interval import Limits

__all__ = ["count_probabilities", "share_limits"]

Floats = NDArray[np.float64]


def count_probabilities(p: Floats) -> Floats:
    """Return the probability that 0, 1, ..., n of independent events happen, shape (n + 1,).

    The Poisson-binomial distribution. Those of two halves are convolved, down to single events.
    """
    found = np.column_stack([1 - p, p])
    while len(found) > 1:
        if len(found) % 2:  # an event that never happens changes nothing
            found = np.vstack([found, np.eye(1, found.shape[1])])
        size = 2 * found.shape[1] - 1
        waves = fft.rfft(found, fft.next_fast_len(size, real=True))
        found = fft.irfft(waves[::2] * waves[1::2], fft.next_fast_len(size, real=True))[:, :size]
    return np.maximum(found[0][: len(p) + 1], 0.0)


def share_limits(p: Floats, weight: Floats, confidence_level: float) -> Limits:
    """Return quantiles of the share that happens of events with these probabilities.

    Of equal weights they are exact, and hold at least the level; of others those of the beta
    distribution with the same mean and variance, but 0 or 1 where none or all of the events happen
    more often than a tail: there the distribution has an atom.
    """
    tails = np.array([(1 - confidence_level) / 2, (1 + confidence_level) / 2])
    if weight.min() == weight.max():
        below = np.cumsum(count_probabilities(p))
        low, high = np.minimum(np.searchsorted(below, tails), len(p)) / len(p)
        return float(low), float(high)
    share = weight / weight.sum()
    mean, variance = share @ p, share**2 @ (p * (1 - p))
    if variance <= 0:
        return float(mean), float(mean)
    size = mean * (1 - mean) / variance - 1
    low, high = beta.ppf(tails, mean * size, (1 - mean) * size)
    if np.prod(1 - p) > tails[0]:
        low = 0.0
    if np.prod(p) > tails[0]:
        high = 1.0
    return float(low), float(high)
