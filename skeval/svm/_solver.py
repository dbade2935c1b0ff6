"""Solve a block of SVM problems: interior point to get near, active sets to be exact."""

import numpy as np

from skeval.svm._active_set import ActiveSet, active_set
from skeval.svm._interior_point import interior_point, start_point

__all__ = ["solve_cold", "solve_warm"]

# Relative duality gaps at which the active sets are tried; most problems are done at the first.
_GAPS = (1e-1, 1e-3, 1e-6, 1e-10)


def solve_cold(system, signs, box, v, b, *, mu, max_iter) -> ActiveSet:
    """Solve from any start: the smaller `mu`, the more (v, b) are trusted."""
    point = start_point(system, signs, box, v, b, mu)
    left = np.arange(len(box))
    result = None
    for gap in _GAPS:
        interior_point(system, signs, box, point, tol=gap, max_iter=max_iter)
        low, up = point.a < point.s, point.c < point.x
        found = active_set(system, signs, box, low, up, point.a, point.b, max_iter=8)
        if result is None:
            result = found
        else:
            result.put(left, found)
        again = ~found.settled
        if not again.any():
            break
        left, system, point = left[again], system.take(again), point.take(again)
        signs, box = signs[again], box[again]
    return result


def solve_warm(system, signs, box, guess, *, max_iter) -> ActiveSet:
    """Solve from the active sets of a `guess`, and from scratch where they do not settle."""
    low, up = guess.a <= 0.0, guess.a >= 1.0
    result = active_set(system, signs, box, low, up, guess.a, guess.b, max_iter=12)
    again = ~result.settled
    if again.any():
        here = system.take(again)
        count = np.count_nonzero(again)
        v, b = here.zeros(count), np.zeros(count)
        redone = solve_cold(here, signs[again], box[again], v, b, mu=1.0, max_iter=max_iter)
        result.put(again, redone)
    return result
