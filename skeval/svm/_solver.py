"""Solve a block of SVM problems: interior point to get near, active sets to be exact."""

import numpy as np

from skeval.svm._active_set import ActiveSet, active_set, no_active_set
from skeval.svm._interior_point import interior_point, start_point

__all__ = ["solve_from_sets", "solve_from_values"]

# Relative duality gaps at which the active sets are tried; most problems are done early on.
_GAPS = (1e-2, 1e-4, 1e-6, 1e-9, 1e-11, 1e-13)
_STRICT = 1e-7


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
            return result
        left, system, point = left[again], system.take(again), point.take(again)
        signs, box = signs[again], box[again]
    result.put(left, _near_enough(system, signs, box, point))
    return result


def _near_enough(system, signs, box, point):
    """Accept what is optimal to libsvm's finest usual tolerance, 1e-6, if not exact.

    Where hundreds of samples lie within 1e-6 of their margin (labels that the features say
    nothing about), which of them are free cannot be told, nor does it matter.
    """
    live = box > 0
    # not s - x, which is no margin for the samples that are left out: they have no s and x
    margin = signs * (system.scores(point.v) + point.b[:, None]) - 1.0
    above, below = point.a > _STRICT, point.c > _STRICT
    beta = signs * box * point.a
    lag = system.squared_norm(point.v - system.coef(beta))
    wrong = np.maximum(np.where(above & live, margin, 0.0), np.where(below & live, -margin, 0.0))
    any_free = (above & below & live).any(axis=1)
    feasible = np.abs(system.moments(beta)[:, -1]) <= 1e-9 * box.sum(axis=1)
    close = lag <= 1e-12 * system.squared_norm(point.v)
    settled = any_free & feasible & close & (wrong.max(axis=1) <= 1e-6)
    return ActiveSet(point.a, point.v, point.b, margin, any_free, settled)


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
