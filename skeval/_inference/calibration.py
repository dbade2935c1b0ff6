"""Distance between predicted probabilities and observed fractions, by bins and by regression.

The regression is a logistic regression of the events on their log-odds.

The bins estimate the mean distance between observed fraction and probability. The fraction in a
bin of `n` samples deviates from its probability by chance. Therefore, the mean of the absolute
distances is biased upward, by an amount that depends on the true distances. Estimate and interval
are inversions of tests, that is, the true distances for which the observed mean is likely.

The number of independent events that happen, or its weighted fraction, is Poisson-binomial.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import fft
from scipy.optimize import brentq
from scipy.special import betainc
from scipy.stats import beta

from skeval._inference.intervals import Limits, normal_quantile

Floats = NDArray[np.float64]
_GRID = np.concatenate([[0.0], np.geomspace(0.01, 1e3, 51), [1e9]])  # standard errors
_STEPS = 40  # halvings of [0, 1]: 1e-12


class Bins(NamedTuple):
    """Bins of predicted probabilities. All arrays have shape (n_bins,).

    Attributes
    ----------
    share : ndarray
        Fraction of the total weight.
    size : ndarray
        Number of samples, or the effective size if they have weights.
    predicted, observed : ndarray
        Mean predicted probability, and observed fraction of events.
    """

    share: Floats
    size: Floats
    predicted: Floats
    observed: Floats


def _below(n: Floats, j: Floats, p: Floats) -> Floats:
    """Return P(X <= j) of a binomial variable with `n` trials. `n` need not be an integer."""
    inside = (j >= 0) & (j < n)
    safe_n, safe_j = np.where(inside, n, 1.0), np.where(inside, j, 0.0)
    cdf: Floats = betainc(safe_n - safe_j, safe_j + 1, 1 - p)
    return np.where(inside, cdf, np.where(j < 0, 0.0, 1.0))


def _distance_moments(n: Floats, p: Floats, center: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance of ``|X / n - center|`` for a binomial X."""
    c = n * center
    j = np.floor(c)
    short = c * _below(n, j, p) - n * p * _below(n - 1, j - 1, p)  # E max(c - X, 0)
    mean = n * p - c + 2 * short
    second = n * p * (1 - p) + (n * p - c) ** 2
    return mean / n, np.maximum(second - mean**2, 0.0) / n**2


def gap_moments(bins: Bins, truth: Floats) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of the observed mean distance if `truth` is true.

    `truth` has shape (..., n_bins). The results have shape (...).
    """
    means, variances = _distance_moments(bins.size, truth, bins.predicted)
    return means @ bins.share, np.sqrt(variances @ bins.share**2)


def _observed_gap(bins: Bins) -> float:
    return float(bins.share @ np.abs(bins.observed - bins.predicted))


def shrink_distances(bins: Bins) -> Floats:
    """Return the signed true distance of each bin, corrected for chance.

    With this true distance, the expected observed distance equals the observed one. The result is
    0 if chance alone explains a larger distance.
    """
    # bisect the distance of each bin on its side
    side = np.sign(bins.observed - bins.predicted)
    low, high = np.zeros(len(side)), np.abs(bins.observed - bins.predicted)
    observed = high.copy()
    for _ in range(_STEPS):
        middle = (low + high) / 2
        truth = np.clip(bins.predicted + side * middle, 0.0, 1.0)
        more = _distance_moments(bins.size, truth, bins.predicted)[0] < observed
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    return side * low


def smallest_gap(bins: Bins, distances: Floats, z: float = 0.0) -> float:
    """Return the smallest mean distance that the observed one exceeds by at most `z`.

    `z` is in standard deviations. The distances of the bins keep the ratios of the shrunken
    `distances`, the result of `shrink_distances`. By default, the expected observed value of the
    mean distance is the observed one.
    """
    observed = _observed_gap(bins)

    def excess(scale: float) -> float:
        mean, spread = gap_moments(bins, np.clip(bins.predicted + scale * distances, 0.0, 1.0))
        return float(mean + z * spread - observed)

    # scale all distances until the observed mean is likely
    whole = float(bins.share @ np.abs(distances))
    if excess(0.0) >= 0 or whole == 0:
        return 0.0
    return whole if excess(1.0) <= 0 else whole * float(brentq(excess, 0.0, 1.0))


def _largest(bins: Bins, z: float) -> float:
    """Return the largest mean distance that exceeds the observed one by at most `z`.

    `z` is in standard deviations. All bins deviate by the same number of their standard errors,
    toward 1/2. This deviation gives the smallest expected observed distance.
    """
    # deviate toward 1/2
    p, n = bins.predicted, bins.size
    toward = np.where(p < 0.5, 1.0, -1.0)

    def truth(steps: float | Floats) -> Floats:  # Wilson's limits
        square = np.square(steps)[..., None]
        center = (p + square / (2 * n)) / (1 + square / n)
        half = np.sqrt(square * (p * (1 - p) / n + square / (4 * n**2))) / (1 + square / n)
        return np.clip(center + toward * half, 0.0, 1.0)

    # A calibrated model has this distance on average; a smaller one is due to chance.
    observed = max(_observed_gap(bins), float(gap_moments(bins, p)[0]))

    def excess(steps: float | Floats) -> Floats:
        mean, spread = gap_moments(bins, truth(steps))
        return mean - z * spread - observed

    # the last crossing: with few bins there may be several
    last = int(np.flatnonzero(excess(_GRID) <= 0).max(initial=0))
    steps = _GRID[last]
    if last + 1 < len(_GRID):
        steps = brentq(excess, steps, _GRID[last + 1])
    return float(bins.share @ np.abs(truth(steps) - p))


def gap_limits(bins: Bins, distances: Floats, confidence_level: float) -> Limits:
    """Return the interval of the mean distance, by inverting two one-sided tests."""
    z = normal_quantile(confidence_level)
    return smallest_gap(bins, distances, z), _largest(bins, z)


def count_probabilities(p: Floats) -> Floats:
    """Return the probabilities that 0, 1, ..., n of independent events happen, shape (n + 1,).

    This is the Poisson-binomial distribution. It is computed by recursively convolving the
    distributions of two halves.
    """
    halves = np.column_stack([1 - p, p])
    while len(halves) > 1:
        if len(halves) % 2:  # an event that never happens changes nothing
            halves = np.vstack([halves, np.eye(1, halves.shape[1])])
        size = 2 * halves.shape[1] - 1
        waves = fft.rfft(halves, fft.next_fast_len(size, real=True))
        halves = fft.irfft(waves[::2] * waves[1::2], fft.next_fast_len(size, real=True))[:, :size]
    return np.maximum(halves[0][: len(p) + 1], 0.0)


def share_limits(p: Floats, weight: Floats, confidence_level: float, larger: float = 1.0) -> Limits:
    """Return quantiles of the fraction of events that happen, given their probabilities.

    With equal weights, the quantiles are exact, with at least the nominal coverage. With other
    weights, they are quantiles of the beta distribution with the same mean and variance. A limit
    is 0 or 1 if the probability that no event or every event happens exceeds a tail. `larger` is
    the variance inflation due to dependence between events.
    """
    # exact quantiles for equal weights
    tails = np.array([(1 - confidence_level) / 2, (1 + confidence_level) / 2])
    if weight.min() == weight.max() and larger == 1:
        below = np.cumsum(count_probabilities(p))
        low, high = np.minimum(np.searchsorted(below, tails), len(p)) / len(p)
        return float(low), float(high)
    # mean and variance of a weighted fraction
    share = weight / weight.sum()
    mean = share @ p
    variance = min(larger * share**2 @ (p * (1 - p)), (1 - 1e-9) * mean * (1 - mean))
    if variance <= 0:
        return float(mean), float(mean)
    # beta distribution with this mean and variance
    size = mean * (1 - mean) / variance - 1
    low, high = beta.ppf(tails, mean * size, (1 - mean) * size)
    if np.prod(1 - p) > tails[0]:
        low = 0.0
    if np.prod(p) > tails[0]:
        high = 1.0
    return float(low), float(high)


class Masses(NamedTuple):
    """Sorted log-odds, and the weights of events and non-events at each of them.

    Attributes
    ----------
    odds, events, others : ndarray of shape (n_odds,)
    squares : tuple of two ndarray of shape (n_odds,)
        Sums of the squared weights.
    """

    odds: Floats
    events: Floats
    others: Floats
    squares: tuple[Floats, Floats]


BLOCK = 2**14
"""Number of log-odds processed at a time, so that intermediate results fit into the cache."""

Design = Callable[[Floats], Floats]
"""Function that computes the terms of a regression on log-odds, one block at a time."""


SEPARATED = 1e-6
"""Negative mean log-likelihood below which the classes count as separated."""


def make_line(odds: Floats) -> Floats:
    """Return the terms of a straight line, shape (2, n)."""
    return np.array([np.ones(len(odds)), odds])


class Passed(NamedTuple):
    """Sums of one pass over the samples, the log-likelihood and its derivatives."""

    likelihood: float
    gradient: Floats
    information: Floats
    squares: Floats


def pass_over(masses: Masses, design: Design, beta: Floats) -> Passed:
    """Return the log-likelihood, its gradient and curvature, and the squares of the scores."""
    k, likelihood = len(beta), 0.0
    gradient, information, squares = np.zeros(k), np.zeros((k, k)), np.zeros((k, k))
    for start in range(0, len(masses.odds), BLOCK):
        odds, events, others, *squared = (
            column[start : start + BLOCK] for column in (*masses[:3], *masses.squares)
        )
        # logistic function from exp(-|x|), which cannot overflow
        terms = design(odds)
        line = beta @ terms
        less = np.exp(-np.abs(line))
        whole, below = 1 + less, line < 0
        chance, rest = np.where(below, less, 1.0) / whole, np.where(below, 1.0, less) / whole
        # sums of the log-likelihood and its derivatives
        likelihood += float(events @ np.minimum(line, 0) - others @ np.maximum(line, 0))
        likelihood -= float((events + others) @ np.log1p(less))
        gradient += terms @ (events * rest - others * chance)
        information += (terms * ((events + others) * chance * rest)) @ terms.T
        squares += (terms * (squared[0] * rest**2 + squared[1] * chance**2)) @ terms.T
    return Passed(likelihood, gradient, information, squares)


def maximize(
    masses: Masses, design: Design, start: Floats, free: list[int]
) -> tuple[Floats, Passed] | None:
    """Return the maximum-likelihood coefficients by Newton's method, or None if they do not exist.

    Only the coefficients `free` change. The error after the last full step is about the square of
    this step.
    """
    beta, among, step = start.astype(np.float64), np.ix_(free, free), np.zeros(len(start))
    now, size = pass_over(masses, design, beta), float(masses.events.sum() + masses.others.sum())
    for _ in range(100):
        # Newton step
        before = now.likelihood
        try:
            step[free] = np.linalg.solve(now.information[among], now.gradient[free])
        except np.linalg.LinAlgError:
            return None
        now = pass_over(masses, design, beta + step)
        # halve the step until the likelihood does not decrease
        while now.likelihood < before - 1e-9 * abs(before) and np.abs(step).max() > 1e-12:
            step /= 2
            now = pass_over(masses, design, beta + step)
        beta = beta + step
        # coefficients that diverge belong to separated classes
        largest = np.abs(beta[free]).max()
        if largest > 1e4 or now.likelihood > -SEPARATED * size:
            return None
        if np.abs(step).max() < 1e-7 * (1 + largest):
            return beta, now
    return None


def make_spline(odds: Floats, knots: Floats) -> Floats:
    """Return an intercept and a restricted cubic spline, which is linear beyond the outer knots.

    The result has shape (n_terms, n).
    """
    # cubes above each knot, less those that bend the tails
    above = np.maximum(odds - knots[:, None], 0)
    cubes = above * above * above  # much faster than a power
    last, second, inner = knots[-1], knots[-2], knots[:-2, None]
    tails = (cubes[-2] * (last - inner) - cubes[-1] * (second - inner)) / (last - second)
    terms = (cubes[:-2] - tails) / (last - knots[0]) ** 2
    return np.concatenate([np.ones((1, len(odds))), odds[None], terms])
