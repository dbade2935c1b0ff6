"""How far predicted probabilities are from observed fractions: by bins, and by regression.

The regression is logistic, of events on their log-odds, of which there may be very many: `condense`
finds few that stand for all.

In bins the mean distance of fraction and probability is sought. A fraction of `n` samples deviates
from its probability by chance, so that the mean of absolute distances is too large; by how much
depends on the true distances. All that is found of it is found by asking which true distances would
make the observed mean likely.

The number of independent events that happen, or its weighted share, is Poisson-binomial.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.polynomial.chebyshev import chebpts1, chebvander
from numpy.typing import NDArray
from scipy import fft
from scipy.optimize import brentq
from scipy.special import betainc
from scipy.stats import beta

from skeval._inference.areas import Ranked
from skeval._inference.estimate import Limits
from skeval._inference.intervals import normal_quantile

__all__ = [
    "Bins",
    "Design",
    "Masses",
    "condense",
    "corrected_gap",
    "gap_limits",
    "gap_moments",
    "make_line",
    "make_spline",
    "maximize",
    "pass_over",
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


class Masses(NamedTuple):
    """Log-odds in order, and what the events and the others at each of them weigh.

    Attributes
    ----------
    odds, events, others : ndarray of shape (n_odds,)
    squares : tuple of two ndarray of shape (n_odds,)
        The squares of these weights, added up.
    width : float
        Largest width of the pieces that were condensed; 0 where no log-odds stand for others.
    """

    odds: Floats
    events: Floats
    others: Floats
    squares: tuple[Floats, Floats]
    width: float = 0.0

    @classmethod
    def weigh(cls, ranked: Ranked, odds: Floats, scale: float = 1.0) -> Masses:
        """Return those of ranked samples, their weights times `scale`."""
        up, down, squares = ranked.positives, ranked.negatives, ranked.squares
        if scale != 1:
            up, down = up * scale, down * scale
            squares = squares[0] * scale**2, squares[1] * scale**2
        return cls(odds, up, down, squares)

    def suffice(self, line: Floats) -> bool:
        """Whether a regression, `line` at these log-odds, moves by 1/2 at most within a piece.

        Then its sums over them are those over all but for rounding.
        """
        return bool(np.all(np.abs(np.diff(line)) * self.width <= np.diff(self.odds) / 2))


NODES = 10
"""Into so many log-odds those of a piece are condensed."""
MANY = 2**15
"""More log-odds than this are condensed."""
BLOCK = 2**14
"""So many log-odds are read at a time: what is made of them stays in a fast memory."""
FINE = 1 / 16, 1 / 32
"""A piece is no wider than this: in log-odds, and as a share of the distance of their quartiles."""


def condense(masses: Masses, edges: Floats) -> tuple[Masses, ...]:
    """Return few log-odds that stand for many, where there are many, and then all.

    Sums of smooth functions over both are the same: the weights of a piece go to Chebyshev's nodes
    in it by Lagrange's polynomials, which is exact for all polynomials of a degree below `NODES`.
    Of ``log(1 + exp(x))`` within a piece of width h the rest is about ``(4 pi / h) ** -NODES``. No
    piece goes across an edge, where what is summed up may bend.
    """
    odds, n = masses.odds, len(masses.odds)
    if n <= MANY:
        return (masses,)
    width = min(FINE[0], FINE[1] * float(np.ptp(odds[[n // 4, 3 * n // 4]])))
    if not np.ptp(odds) < width * n / (4 * NODES):
        return (masses,)
    cuts = np.append(np.arange(odds[0], odds[-1], width), edges)
    starts = np.unique([*range(0, n, BLOCK), *np.searchsorted(odds, cuts), n])
    nodes = chebpts1(NODES)
    back = chebvander(nodes, NODES - 1).T * (2 / NODES)
    back[0] /= 2
    sums = [masses.events, masses.others]
    if masses.squares[0] is not masses.events:
        sums += masses.squares
    places, weights = list[Floats](), list[Floats]()
    for start, stop in itertools.pairwise(starts.tolist()):
        own, held = odds[start:stop], np.array([each[start:stop] for each in sums])
        if len(own) > NODES:
            middle, half = (own[-1] + own[0]) / 2, (own[-1] - own[0]) / 2 or 1.0
            held = held @ chebvander((own - middle) / half, NODES - 1) @ back
            own = middle + half * nodes
        places.append(own)
        weights.append(held)
    found = np.concatenate(weights, axis=1)
    few = Masses(np.concatenate(places), found[0], found[1], (found[-2], found[-1]), width)
    return few, masses


Design = Callable[[Floats], Floats]
"""Makes the terms of a regression of the log-odds, so that they are never all there at once."""


SEPARATED = 1e-6
"""Where the events are nearer to certain than this on average, no finite coefficient is best."""


def make_line(odds: Floats) -> Floats:
    """Return the terms of a straight line, shape (2, n)."""
    return np.array([np.ones(len(odds)), odds])


class Passed(NamedTuple):
    """What one pass over the samples adds up: the log-likelihood and its derivatives."""

    likelihood: float
    gradient: Floats
    information: Floats
    squares: Floats


def pass_over(masses: Masses, design: Design, beta: Floats) -> Passed:
    """Return the log-likelihood, its slope and curvature, and the squares of the slopes."""
    k, likelihood = len(beta), 0.0
    gradient, information, squares = np.zeros(k), np.zeros((k, k)), np.zeros((k, k))
    for start in range(0, len(masses.odds), BLOCK):
        odds, events, others, *squared = (
            each[start : start + BLOCK] for each in (*masses[:3], *masses.squares)
        )
        terms = design(odds)
        line = beta @ terms
        less = np.exp(-np.abs(line))
        whole, below = 1 + less, line < 0
        chance, rest = np.where(below, less, 1.0) / whole, np.where(below, 1.0, less) / whole
        likelihood += float(events @ np.minimum(line, 0) - others @ np.maximum(line, 0))
        likelihood -= float((events + others) @ np.log1p(less))
        gradient += terms @ (events * rest - others * chance)
        information += (terms * ((events + others) * chance * rest)) @ terms.T
        squares += (terms * (squared[0] * rest**2 + squared[1] * chance**2)) @ terms.T
    return Passed(likelihood, gradient, information, squares)


def maximize(
    masses: Masses, design: Design, start: Floats, free: list[int]
) -> tuple[Floats, Passed] | None:
    """Return the best coefficients, of those that are free, by Newton's method; None without one.

    What a last full step misses is of the order of its square.
    """
    beta, among, step = start.astype(np.float64), np.ix_(free, free), np.zeros(len(start))
    now, size = pass_over(masses, design, beta), float(masses.events.sum() + masses.others.sum())
    for _ in range(100):
        before = now.likelihood
        try:
            step[free] = np.linalg.solve(now.information[among], now.gradient[free])
        except np.linalg.LinAlgError:
            return None
        now = pass_over(masses, design, beta + step)
        while now.likelihood < before - 1e-9 * abs(before) and np.abs(step).max() > 1e-12:
            step /= 2
            now = pass_over(masses, design, beta + step)
        beta = beta + step
        largest = np.abs(beta[free]).max()
        if largest > 1e4 or now.likelihood > -SEPARATED * size:
            return None
        if np.abs(step).max() < 1e-7 * (1 + largest):
            return beta, now
    return None


def make_spline(odds: Floats, knots: Floats) -> Floats:
    """Return an intercept and a restricted cubic spline, which is linear beyond the outer knots.

    Its terms have shape (n_terms, n).
    """
    above = np.maximum(odds - knots[:, None], 0)
    cubes = above * above * above  # much faster than a power
    last, second, inner = knots[-1], knots[-2], knots[:-2, None]
    tails = (cubes[-2] * (last - inner) - cubes[-1] * (second - inner)) / (last - second)
    terms = (cubes[:-2] - tails) / (last - knots[0]) ** 2
    return np.concatenate([np.ones((1, len(odds))), odds[None], terms])
