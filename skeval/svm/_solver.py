"""Solve a block of SVM problems: interior point to get near, active sets to be exact."""

import numpy as np

from skeval.svm._active_set import active_set, no_active_set
from skeval.svm._interior_point import interior_point, start_point

__all__ = ["solve_from_sets", "solve_from_values"]

# Relative duality gaps at which the active sets are tried; most problems are done early on.
_GAPS = (1e-2, 1e-4, 1e-6, 1e-9, 1e-12)


def solve_from_values(system, signs, box, v, b, *, mu, max_iter):
    """Solve from coefficients and intercepts: the smaller `mu`, the more they are trusted."""
    point = start_point(system, signs, box, v, b, mu)
    result = no_active_set(box, v)
    left = np.arange(len(box))
    for gap in _GAPS:
        interior_point(system, signs, box, point, tol=gap, max_iter=max_iter)
        low, up = (point.a < point.s) | (box == 0), point.c < point.x
        # More equations than unknowns: the sets are not right yet, unless samples are repeated.
        ready = np.count_nonzero(~(low | up), axis=1) <= system.rank
        if gap == _GAPS[-1]:
            ready[:] = True
        if not ready.any():
            continue
        found = active_set(
            system.take(ready), signs[ready], box[ready], low[ready], up[ready],
            point.a[ready], point.b[ready], max_iter=min(8, max_iter), patience=2,
        )  # fmt: skip
        result.put(left[ready], found)
        again = ~ready
        again[ready] = ~found.settled
        if not again.any():
            break
        left, system, point = left[again], system.take(again), point.take(again)
        signs, box = signs[again], box[again]
    return result


def solve_from_sets(system, signs, box, low, up, a, b, *, max_iter):
    """Solve from a guess of the active sets, and from scratch where they do not settle."""
    rounds, n_samples = min(15, max_iter), box.shape[1]
    result = active_set(system, signs, box, low, up, a, b, max_iter=rounds, patience=n_samples)
    again = ~result.settled
    if again.any():
        here = system.take(again)
        v, b = here.zeros(len(signs[again])), np.zeros(np.count_nonzero(again))
        redone = solve_from_values(here, signs[again], box[again], v, b, mu=1.0, max_iter=max_iter)
        result.put(again, redone)
    return result
