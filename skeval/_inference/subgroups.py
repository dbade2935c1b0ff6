"""Differences of independent estimates, each of which has an interval at any level."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from skeval._inference.interval import Limits

__all__ = ["LargestDifference", "find_largest_difference", "subtract_limits"]


class LargestDifference(NamedTuple):
    """The largest of all differences of two estimates, that of the first less the second.

    Attributes
    ----------
    first, second : int
        Which two; the first has the larger estimate.
    difference : float
    low, high : float
        Ends of its interval, which holds at the level for all differences at once.
    n_pairs : int
        Number of differences.
    """

    first: int
    second: int
    difference: float
    low: float
    high: float
    n_pairs: int


def subtract_limits(a: float, b: float, of_a: Limits, of_b: Limits) -> Limits:
    r"""Return the interval of ``a - b`` from those of two independent estimates.

    The method of variance estimates recovery (Zou and Donner 2008; Newcombe 1998 for Wilson's):
    :math:`a - b - \sqrt{(a - l_a)^2 + (u_b - b)^2}` and its mirror image.
    """
    low = a - b - np.hypot(a - of_a[0], of_b[1] - b)
    high = a - b + np.hypot(of_a[1] - a, b - of_b[0])
    return float(low), float(high)


def find_largest_difference(
    estimates: Sequence[float],
    limits: Sequence[Callable[[float], Limits]],
    confidence_level: float,
) -> LargestDifference | None:
    """Return the largest difference of two estimates; None where fewer than two are defined,
    with an interval.

    The level is Bonferroni's for all pairs, since the largest is chosen among them.
    """
    known = [
        k
        for k, estimate in enumerate(estimates)
        if np.isfinite([estimate, *limits[k](confidence_level)]).all()
    ]
    if len(known) < 2:
        return None
    pairs = list(combinations(known, 2))
    level = 1 - (1 - confidence_level) / len(pairs)
    first, second = max(pairs, key=lambda pair: abs(estimates[pair[0]] - estimates[pair[1]]))
    if estimates[first] < estimates[second]:
        first, second = second, first
    a, b = estimates[first], estimates[second]
    low, high = subtract_limits(a, b, limits[first](level), limits[second](level))
    return LargestDifference(first, second, a - b, low, high, len(pairs))
