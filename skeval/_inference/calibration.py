"""The mean distance between observed fractions and predicted probabilities of bins.

A fraction of `n` samples deviates from its probability by chance, so that the mean of absolute
distances is too large; by how much depends on the true distances. All that is found here is found
by asking which true distances would make the observed mean likely.

The number of independent events that happen, or its weighted share, is Poisson-binomial.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import fft
from scipy.optimize import brentq
from scipy.special import betainc
from scipy.stats import beta

from skeval._inference.estimate import Limits
from skeval._inference.intervals import normal_quantile

__all__ = [
    "Bins",
    "corrected_gap",
    "count_probabilities",
    "gap_limits",
    "gap_moments",
    "share_limits",
    "shrink_distances",
]

Floats = NDArray[np.float64]
_GRID = np.concatenate([[0.0], np.geomspace(0.01, 1e3, 51), [1e9]])  # standard errors
_STEPS = 40  # halvings of [0, 1]: 1e-12


class Bins(NamedTuple):
    """Bins of predicted probabilities, all of shape (n_bins,).

    Attributes
    ----------
    share : ndarray
        Of the weight.
    size : ndarray
        Number of samples, effective where they have weights.
    predicted, observed : ndarray
        Mean probability, and the fraction that happened.
    """

    share: Floats
    size: Floats
    predicted: Floats
    observed: Floats


def _below(n: Floats, j: Floats, p: Floats) -> Floats:
    """Return P(X <= j) of a binomial number of `n`, which may be no whole number."""
    inside = (j >= 0) & (j < n)
    safe_n, safe_j = np.where(inside, n, 1.0), np.where(inside, j, 0.0)
    found: Floats = betainc(safe_n - safe_j, safe_j + 1, 1 - p)
    return np.where(inside, found, np.where(j < 0, 0.0, 1.0))


def _distance_moments(n: Floats, p: Floats, centre: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance of ``|X / n - centre|`` for a binomial X."""
    c = n * centre
    j = np.floor(c)
    short = c * _below(n, j, p) - n * p * _below(n - 1, j - 1, p)  # E max(c - X, 0)
    mean = n * p - c + 2 * short
    second = n * p * (1 - p) + (n * p - c) ** 2
    return mean / n, np.maximum(second - mean**2, 0.0) / n**2


def gap_moments(bins: Bins, truth: Floats) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of the observed mean distance, were `truth` true.

    `truth` has shape (..., n_bins), what is returned (...).
    """
    means, variances = _distance_moments(bins.size, truth, bins.predicted)
    return means @ bins.share, np.sqrt(variances @ bins.share**2)


def _observed_gap(bins: Bins) -> float:
    return float(bins.share @ np.abs(bins.observed - bins.predicted))


def shrink_distances(bins: Bins) -> Floats:
    """Return the true distance of each bin whose expected observed one is what was observed.

    With its sign; 0 where chance alone makes a larger one.
    """
    side = np.sign(bins.observed - bins.predicted)
    low, high = np.zeros(len(side)), np.abs(bins.observed - bins.predicted)
    seen = high.copy()
    for _ in range(_STEPS):
        middle = (low + high) / 2
        truth = np.clip(bins.predicted + side * middle, 0.0, 1.0)
        more = _distance_moments(bins.size, truth, bins.predicted)[0] < seen
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    return side * low


def _smallest(bins: Bins, distances: Floats, z: float) -> float:
    """Return the smallest mean distance that the observed one exceeds by no more than `z`.

    In standard deviations; the distances of the bins are to each other as the shrunken ones.
    """
    observed = _observed_gap(bins)

    def excess(scale: float) -> float:
        truth = np.clip(bins.predicted + scale * distances, 0.0, 1.0)
        mean, spread = gap_moments(bins, truth)
        return float(mean + z * spread - observed)

    whole = float(bins.share @ np.abs(distances))
    if excess(0.0) >= 0 or whole == 0:
        return 0.0
    return whole if excess(1.0) <= 0 else whole * float(brentq(excess, 0.0, 1.0))


def _largest(bins: Bins, z: float) -> float:
    """Return the largest mean distance that the observed one falls short of by no more than `z`.

    In standard deviations; each bin is as many of its standard errors away as any other, toward
    1/2, which of all ways makes the expected observed distance the least.
    """
    p, n = bins.predicted, bins.size
    toward = np.where(p < 0.5, 1.0, -1.0)

    def truth(steps: float | Floats) -> Floats:  # Wilson's limits
        square = np.square(steps)[..., None]
        centre = (p + square / (2 * n)) / (1 + square / n)
        half = np.sqrt(square * (p * (1 - p) / n + square / (4 * n**2))) / (1 + square / n)
        return np.clip(centre + toward * half, 0.0, 1.0)

    # A calibrated model has this distance on average: less of it is luck.
    observed = max(_observed_gap(bins), float(gap_moments(bins, p)[0]))

    def excess(steps: float | Floats) -> Floats:
        mean, spread = gap_moments(bins, truth(steps))
        return mean - z * spread - observed

    # The last crossing, for that of few bins need not be the only one.
    last = int(np.flatnonzero(excess(_GRID) <= 0).max(initial=0))
    steps = _GRID[last]
    if last + 1 < len(_GRID):
        steps = brentq(excess, steps, _GRID[last + 1])
    return float(bins.share @ np.abs(truth(steps) - p))


def corrected_gap(bins: Bins, distances: Floats) -> float:
    """Return the mean distance whose expected observed value is the observed one, or 0.

    `distances` are those of `shrink_distances`.
    """
    return _smallest(bins, distances, 0.0)


def gap_limits(bins: Bins, distances: Floats, confidence_level: float) -> Limits:
    """Return the interval of the mean distance, by inverting two one-sided tests."""
    z = normal_quantile(confidence_level)
    return _smallest(bins, distances, z), _largest(bins, z)


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


def share_limits(p: Floats, weight: Floats, confidence_level: float, larger: float = 1.0) -> Limits:
    """Return quantiles of the share that happens of events with these probabilities.

    Of equal weights they are exact, and hold at least the level; of others those of the beta
    distribution with the same mean and variance, but 0 or 1 where none or all of the events happen
    more often than a tail: there the distribution has an atom. Events that happen together make
    the variance so many times `larger`.
    """
    tails = np.array([(1 - confidence_level) / 2, (1 + confidence_level) / 2])
    if weight.min() == weight.max() and larger == 1:
        below = np.cumsum(count_probabilities(p))
        low, high = np.minimum(np.searchsorted(below, tails), len(p)) / len(p)
        return float(low), float(high)
    share = weight / weight.sum()
    mean = share @ p
    variance = min(larger * share**2 @ (p * (1 - p)), (1 - 1e-9) * mean * (1 - mean))
    if variance <= 0:
        return float(mean), float(mean)
    size = mean * (1 - mean) / variance - 1
    low, high = beta.ppf(tails, mean * size, (1 - mean) * size)
    if np.prod(1 - p) > tails[0]:
        low = 0.0
    if np.prod(p) > tails[0]:
        high = 1.0
    return float(low), float(high)
