"""Solve a block of SVM problems: interior point to get near, active sets to be exact.

Numbers in parentheses are the equations of doc/derivations/svm.rst.
"""

from __future__ import annotations

import numpy as np

from skeval._solvers.active_set import ActiveSets, SetSolution, active_set, room, strictly_free
from skeval._solvers.duals import Duals
from skeval._solvers.interior_point import PathPoint, Start, interior_point, start_point

__all__ = ["optimal", "solve_from_sets", "solve_from_values"]

# Relative duality gaps at which the active sets are tried; most problems are done early on.
_GAPS = (1e-2, 1e-4, 1e-6, 1e-9, 1e-11, 1e-13)
# What an answer may be off: margins as in libsvm at its finest usual tolerance; the duality gap,
# the balance sum(y alpha) = 0 and v = coef(y alpha) as shares of what they are made of.
_MARGIN, _GAP, _BALANCE, _LAG = 1e-6, 1e-8, 1e-9, 1e-6
_ROUNDING = 1e-14  # of sums over samples; it decides where labels and features are unrelated
_STRICT = 1e-7


def solve_from_values(duals: Duals, start: Start, *, max_iter: int) -> SetSolution:
    """Solve from coefficients and intercepts."""
    point = start_point(duals, start)
    result = SetSolution.unsettled(duals)
    left, rounds = np.arange(len(duals.box)), min(8, max_iter)
    for gap in _GAPS:
        max_iter -= interior_point(duals, point, tol=gap, max_iter=max_iter)
        low = point.fraction < room(duals.box, point.fraction) * point.surplus  # (9)
        low, up = low | (duals.box == 0), point.rest < point.shortfall
        sets = ActiveSets(low, up, point.fraction, point.intercept)
        ready = np.count_nonzero(~(low | up), axis=1) <= duals.system.rank  # (10)
        if gap == _GAPS[-1]:
            ready[:] = True
        if not ready.any():
            continue
        found = active_set(duals.take(ready), sets.take(ready), max_iter=rounds, patience=2)
        result.put(left[ready], found)
        again = ~ready
        again[ready] = ~found.settled
        if not again.any():
            return result
        left, duals, point = left[again], duals.take(again), point.take(again)
    result.put(left, _near_enough(duals, point))
    return result


def _near_enough(duals: Duals, point: PathPoint) -> SetSolution:
    """Take where the interior point ended: the caller must look whether that is `optimal`.

    Where hundreds of samples lie within 1e-6 of their margin (labels that the features say
    nothing about), which of them are free cannot be told, nor does it matter.
    """
    a, v, b = point.fraction, point.coef, point.intercept
    # Surplus minus shortfall is no margin where a sample is left out: both stay where they started.
    margin = duals.margins(v, b)
    any_free = np.any(strictly_free(duals.box, duals.box * a), axis=1)
    return SetSolution(a, v, b, margin, any_free, any_free.copy())


def optimal(duals: Duals, found: SetSolution) -> np.ndarray:
    """Return which solutions (B,) are feasible and optimal, whatever solver they come from (13).

    The duality gap is a sum of terms that do not cancel (12). A box that no alpha comes near may
    be taken smaller (11), so that a box of 1e20, which means separation, does not turn rounding
    into a gap.
    """
    system, v, live = duals.system, found.coef, duals.box > 0
    alpha = duals.box * found.fraction
    total = alpha.sum(axis=1)
    box = np.minimum(duals.box, 2.0 * alpha.max(axis=1, keepdims=True))  # (11)
    margin = duals.margins(v, found.intercept)
    beta = duals.signs * alpha
    lag = system.squared_norm(v - system.coef(beta))
    norm = system.squared_norm(v)
    rounding = (_ROUNDING * total) ** 2 * system.kernel_scale()
    excess = np.where(live, np.maximum(margin, 0.0), 0.0)
    shortfall = np.where(live, np.maximum(-margin, 0.0), 0.0)
    balance = np.abs(system.moments(beta)[:, -1])
    gap = 0.5 * lag + (alpha * excess + (box - alpha) * shortfall).sum(axis=1)  # (12)
    gap += np.abs(found.intercept) * balance
    above = alpha > _STRICT * box
    below = alpha < (1.0 - _STRICT) * box
    wrong = np.maximum(np.where(above, excess, 0.0), np.where(below, shortfall, 0.0))
    return (  # (13)
        (alpha >= 0.0).all(axis=1)
        & (balance <= _BALANCE * total)
        & (lag <= _LAG**2 * norm + rounding)
        & (wrong.max(axis=1) <= _MARGIN)
        & (gap <= _GAP * (total - 0.5 * norm))
    )


def solve_from_sets(duals: Duals, sets: ActiveSets, *, max_iter: int) -> SetSolution:
    """Solve from a guess of the active sets, and from scratch where they do not settle."""
    rounds, n_samples = min(15, max_iter), duals.box.shape[1]
    result = active_set(duals, sets, max_iter=rounds, patience=n_samples)
    again = ~result.settled
    if again.any():
        here, count = duals.take(again), int(np.count_nonzero(again))
        start = Start(here.system.zeros(count), np.zeros(count), mu=1.0)
        result.put(again, solve_from_values(here, start, max_iter=max_iter))
    return result
