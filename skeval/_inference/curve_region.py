"""Bands of a ROC curve: what the counts of two classes say of the rates at every threshold.

At a threshold whose true rates are (x, y), the observed rates of two classes of n and m samples
deviate from them by about

    a = (x' - x) / sqrt(x (1 - x) / n),   b = (y' - y) / sqrt(y (1 - y) / m),

independent and standard normal. The band at x holds every y that a pair with a^2 + b^2 <= z^2
reaches: with z the normal quantile it covers at one x, for only the deviation across the curve
counts; for all x together z is the quantile of the largest distance of a true curve from the
observed one (`curve_distances`).
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from skeval._inference.proportions import binomial_limits

__all__ = ["Steps", "curve_distances", "curve_limits", "rates_on_sphere"]

Floats = NDArray[np.float64]
_DIRECTIONS = 13
"""Into how many directions of a quadrant the limits look."""
_PLACES = 24
"""At how many rates of each class the distance of two curves is taken."""
_BLOCK = 8
"""Simulated curves that are held against the true one at once."""
_ROUNDING = 1e-12


class Steps(NamedTuple):
    """The rates of two classes at every cut, none to all, and how many samples each is worth.

    `x` and `y` have shape (n_cuts,), from 0 to 1. The size of a class is real where samples have
    weights or belong to groups.
    """

    x: Floats
    y: Floats
    n_x: float
    n_y: float

    def below(self, x: Floats) -> Floats:
        """Return y where x is just not reached yet: the foot of a vertical step."""
        return np.interp(x - _ROUNDING, self.x, self.y, left=0.0, right=1.0)

    def above(self, x: Floats) -> Floats:
        """Return y where x is just not left yet: the top of a vertical step."""
        return np.interp(x + _ROUNDING, self.x, self.y, left=0.0, right=1.0)

    def swap(self) -> "Steps":
        """Return the same cuts with the two classes exchanged."""
        return Steps(self.y, self.x, self.n_y, self.n_x)


def rates_on_sphere(steps: Steps, x: Floats, across: Floats, along: Floats, exact: bool) -> Floats:
    """Return the ends of y at each x, shape (2, n_directions, n_x).

    `across` says by how many deviations the threshold is off, `along` by how many the rate there;
    both have shape (n_directions,).
    """
    off = across[:, None] * np.sqrt(x * (1 - x) / steps.n_x)
    z = along[:, None]
    low, _ = binomial_limits(steps.below(x - off), steps.n_y, z, exact=exact)
    _, high = binomial_limits(steps.above(x + off), steps.n_y, z, exact=exact)
    return np.stack([low, high])


def curve_limits(steps: Steps, x: Floats, z: float, exact: bool) -> tuple[Floats, Floats]:
    """Return the smallest and the largest y at each x of all pairs of deviations of length z."""
    angle = np.linspace(0, np.pi / 2, _DIRECTIONS)
    low, high = rates_on_sphere(steps, x, z * np.sin(angle), z * np.cos(angle), exact)
    return low.min(axis=0), high.max(axis=0)


def curve_distances(steps: Steps, rngs: Iterable[Generator]) -> Floats:
    """Return the largest distance of the true curve from one drawn from it, for each generator.

    The true curve is taken to be the observed one with half a sample added on either side of every
    cut, so that it leaves the corners. The distance of a point is that to the next point of the
    drawn curve, in deviations.
    """
    true = _smooth_curve(steps)
    inside = true[:, ((true > _ROUNDING) & (true < 1 - _ROUNDING)).all(axis=0)]
    sizes = np.array([max(1, round(steps.n_x)), max(1, round(steps.n_y))])
    scale = np.sqrt(inside * (1 - inside) / sizes[:, None])
    drawn = np.array([_draw_curve(true, sizes, rng) for rng in rngs])  # (draw, class, place)
    blocks = range(0, len(drawn), _BLOCK)
    return np.concatenate([_largest_distance(drawn[b : b + _BLOCK], inside, scale) for b in blocks])


def _smooth_curve(steps: Steps) -> Floats:
    """Return places on the smoothed curve, shape (2, n_places), even in the normal scale."""
    rates = [
        np.concatenate([[0.0], (rate * n + 0.5) / (n + 1), [1.0]])
        for rate, n in ((steps.x, steps.n_x), (steps.y, steps.n_y))
    ]
    length = rates[0] + rates[1]  # It grows along the curve.
    places = [np.array([0.0, 2.0])]
    for rate, n in zip(rates, (steps.n_x, steps.n_y), strict=True):
        ends = ndtri(0.25 / max(n, 1.0))
        wanted = ndtr(np.linspace(ends, -ends, _PLACES))
        rising = rate + _ROUNDING * np.arange(len(rate))
        places.append(np.interp(wanted, rising, length))
    at = np.unique(np.concatenate(places))
    return np.array([np.interp(at, length, rate) for rate in rates])


def _draw_curve(true: Floats, sizes: NDArray[np.intp], rng: Generator) -> Floats:
    """Return the observed rates of both classes at the true ones, shape (2, n_places)."""
    drawn = np.zeros_like(true)
    for row, (rates, size) in enumerate(zip(true, sizes, strict=True)):
        share = np.maximum(np.diff(rates), 0.0)
        drawn[row, 1:] = np.cumsum(rng.multinomial(size, share / share.sum())) / size
    return drawn


def _largest_distance(drawn: Floats, inside: Floats, scale: Floats) -> Floats:
    """Return how far the farthest of the true points lies from each drawn curve."""
    # Each has shape (draw, true point, place on the drawn curve).
    a, b = ((drawn[:, row, None, :] - inside[row][:, None]) / scale[row][:, None] for row in (0, 1))
    da, db = np.diff(a, axis=-1), np.diff(b, axis=-1)
    a, b = a[..., :-1], b[..., :-1]
    along = -(a * da + b * db) / np.maximum(da**2 + db**2, _ROUNDING)
    np.clip(along, 0.0, 1.0, out=along)
    squared = (a + along * da) ** 2 + (b + along * db) ** 2
    return np.sqrt(squared.min(axis=-1).max(axis=-1))
