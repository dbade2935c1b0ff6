"""Score intervals of metrics of a confusion table, Wilson's carried over to any of them.

The interval is the range of the metric over the tables that Pearson's chi-square does not reject,
``{p : sum (n_i - n p_i)^2 / (n p_i) <= z^2}``. For a proportion it is Wilson's (1927). An empty
cell costs n p_i, so that no cell counts as impossible because it has not been seen.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

__all__ = ["ValueAndGradient", "best_table", "score_limits"]

Floats = NDArray[np.float64]
ValueAndGradient = Callable[[Floats], tuple[float, Floats]]
_TOLERANCE = 1e-6
"""Up to which an end of the interval is found, in the unit of the metric."""
_MAX_STEPS = 500
_TIE = 1e-12
"""Slopes that differ by less, relative to their range, are equal but for rounding."""


def score_limits(metric: ValueAndGradient, share: Floats, radius: float) -> tuple[float, float]:
    """Return the smallest and largest metric of the tables p with ``sum share^2/p <= 1 + radius``.

    `share` are the observed shares of the cells, `radius` is z^2/n, and `metric` returns its value
    and gradient for cell probabilities.
    """

    def negative(p: Floats) -> tuple[float, Floats]:
        value, gradient = metric(p)
        return -value, -gradient

    return -_largest(negative, share, radius), _largest(metric, share, radius)


def _largest(metric: ValueAndGradient, share: Floats, radius: float) -> float:
    """Climb by pairwise Frank-Wolfe steps (Lacoste-Julien and Jaggi 2015).

    The point is a mean of tables of the convex region; each step moves weight from the worst of
    them to the best of the region, both by the gradient. It starts inside, where each cell has
    mass, for the gradient may be infinite at an empty cell.
    """
    mixed = radius / (1 + radius) / 2
    tables = [(1 - mixed) * share + mixed / share.size]
    weights = [1.0]
    p = tables[0]
    for _ in range(_MAX_STEPS):
        gradient = metric(p)[1]
        best = best_table(share, gradient, radius)
        if np.sum(gradient * (best - p)) <= _TOLERANCE:
            break
        worst = int(np.argmin([np.sum(gradient * table) for table in tables]))
        direction = best - tables[worst]
        step = _step(metric, p, direction, weights[worst])
        p = p + step * direction
        weights[worst] -= step
        if weights[worst] <= 0:
            del tables[worst], weights[worst]
        tables.append(best)
        weights.append(step)
    return metric(p)[0]


def _step(metric: ValueAndGradient, p: Floats, direction: Floats, longest: float) -> float:
    """Return the step in (0, longest] at which the metric stops rising along a direction.

    The whole step empties cells, where a rate may become 0/0 and the metric jump: it is taken only
    where it loses nothing.
    """

    def rise(step: float) -> float:
        return float(np.sum(metric(p + step * direction)[1] * direction))

    almost = longest * (1 - 1e-6)
    if rise(almost) < 0:
        return float(brentq(rise, 0.0, almost, xtol=1e-4 * longest, rtol=1e-4))
    loses = metric(p + longest * direction)[0] < metric(p + almost * direction)[0]
    return almost if loses else longest


def best_table(share: Floats, slope: Floats, radius: float) -> Floats:
    """Return the table p of the region with the largest ``sum slope p``.

    With a Lagrange multiplier, ``p_i = c share_i / sqrt(m - slope_i)`` in the cells seen. Where m
    would fall below the slope of an empty cell, it is that slope, and that cell takes what is left.
    """
    seen = share > 0
    spread = np.ptp(slope)
    if spread == 0:
        return share
    depth = (slope[seen].max() - slope[seen]) / spread  # It is 0 at the best of the cells seen.
    depth[depth < _TIE] = 0.0
    # This is what the best of the empty cells would gain.
    gain = (slope[~seen].max(initial=-np.inf) - slope[seen].max()) / spread
    q = share[seen]

    def excess(log_margin: float) -> float:
        root = np.sqrt(np.exp(log_margin) + depth)
        return float(np.sum(q / root) * np.sum(q * root)) - 1 - radius

    margin = 0.0
    if depth.any():
        margin = float(np.exp(brentq(excess, -60.0, np.log1p(1 / np.sqrt(radius)), xtol=1e-14)))
    elif gain <= 0:
        return share
    p = np.zeros_like(share)
    root = np.sqrt(max(margin, gain) + depth)
    p[seen] = q / root * (np.sum(q * root) / (1 + radius))
    if gain <= margin:
        p[seen] /= p[seen].sum()
    else:
        top = ~seen & (slope >= slope[~seen].max() - _TIE * spread)
        p[top] = max(0.0, 1 - p[seen].sum()) / top.sum()
    return p
