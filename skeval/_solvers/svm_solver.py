"""Solve a block of SVM problems: interior point to get near, active sets to be exact."""

import numpy as np

from skeval._solvers.active_set import ActiveSet, active_set, no_active_set, room, strictly_free
from skeval._solvers.interior_point import interior_point, start_point

__all__ = ["optimal", "solve_from_sets", "solve_from_values"]

# Relative duality gaps at which the active sets are tried; most problems are done early on.
_GAPS = (1e-2, 1e-4, 1e-6, 1e-9, 1e-11, 1e-13)
# What an answer may be off: margins as in libsvm at its finest usual tolerance; the duality gap,
# the balance sum(y alpha) = 0 and v = coef(y alpha) as shares of what they are made of.
_MARGIN, _GAP, _BALANCE, _LAG = 1e-6, 1e-8, 1e-9, 1e-6
_ROUNDING = 1e-14  # of sums over samples; it decides where labels and features are unrelated
_STRICT = 1e-7


def solve_from_values(system, signs, box, v, b, *, mu, max_iter):
    """Solve from coefficients and intercepts: the smaller `mu`, the more they are trusted."""
    point = start_point(system, signs, box, v, b, mu)
    result = no_active_set(box, v)
    left, rounds = np.arange(len(box)), min(8, max_iter)
    for gap in _GAPS:
        max_iter -= interior_point(system, signs, box, point, tol=gap, max_iter=max_iter)
        low, up = (point.a < room(box, point.a) * point.s) | (box == 0), point.c < point.x
        # More equations than unknowns: the sets are not right yet, unless samples are repeated.
        ready = np.count_nonzero(~(low | up), axis=1) <= system.rank
        if gap == _GAPS[-1]:
            ready[:] = True
        if not ready.any():
            continue
        found = active_set(
            system.take(ready), signs[ready], box[ready], low[ready], up[ready],
            point.a[ready], point.b[ready], max_iter=rounds, patience=2,
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
    """Take where the interior point ended: the caller must look whether that is `optimal`.

    Where hundreds of samples lie within 1e-6 of their margin (labels that the features say
    nothing about), which of them are free cannot be told, nor does it matter.
    """
    # not s - x, which is no margin for the samples that are left out: they have no s and x
    margin = signs * (system.scores(point.v) + point.b[:, None]) - 1.0
    any_free = strictly_free(box, box * point.a).any(axis=1)
    return ActiveSet(point.a, point.v, point.b, margin, any_free, any_free.copy())


def optimal(system, signs, box, found):
    """Return which solutions are feasible and optimal, whatever solver they come from.

    With margins ``m = y f - 1`` of the coefficients v and ``beta = y alpha`` the duality gap is

        1/2 |v - coef(beta)|^2 + sum alpha m_+ + sum (C - alpha) (-m)_+ - b sum beta,

    of terms that do not cancel. A box that no alpha comes near may be taken smaller without
    changing the problem: twice the largest alpha stands for C, so that a box of 1e20, which
    means separation, does not turn rounding into a gap.
    """
    alpha, live = box * found.a, box > 0
    total = alpha.sum(axis=1)
    box = np.minimum(box, 2.0 * alpha.max(axis=1, keepdims=True))
    margin = signs * (system.scores(found.v) + found.b[:, None]) - 1.0
    beta = signs * alpha
    lag = system.squared_norm(found.v - system.coef(beta))
    norm = system.squared_norm(found.v)
    rounding = (_ROUNDING * total) ** 2 * system.kernel_scale()
    excess = np.where(live, np.maximum(margin, 0.0), 0.0)
    shortfall = np.where(live, np.maximum(-margin, 0.0), 0.0)
    balance = np.abs(system.moments(beta)[:, -1])
    gap = 0.5 * lag + (alpha * excess + (box - alpha) * shortfall).sum(axis=1)
    gap += np.abs(found.b) * balance
    above = alpha > _STRICT * box
    below = alpha < (1.0 - _STRICT) * box
    wrong = np.maximum(np.where(above, excess, 0.0), np.where(below, shortfall, 0.0))
    return (
        (alpha >= 0.0).all(axis=1)
        & (balance <= _BALANCE * total)
        & (lag <= _LAG**2 * norm + rounding)
        & (wrong.max(axis=1) <= _MARGIN)
        & (gap <= _GAP * (total - 0.5 * norm))
    )


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
