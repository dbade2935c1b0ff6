"""A primal-dual active-set method for many SVM duals at once: exact once the sets settle.

Each sample is at its lower bound (alpha = 0), at its upper bound (alpha = C) or free
(y f = 1). Given a guess of these sets the rest is linear; where its solution breaks a bound or a
margin, the sample changes sides, and so on until nothing changes (Hintermueller, Ito & Kunisch
2002, doi:10.1137/S1052623401383558). Near the solution that takes a few rounds; far from it the
rounds may cycle, so the caller must look at `settled`.
"""

from typing import NamedTuple

import numpy as np

__all__ = ["ActiveSet", "active_set", "midpoint_intercept"]

_ROUNDING = 1e-9
_STIFFNESS = 1e8


class ActiveSet(NamedTuple):
    """Dual fractions ``a = alpha / C``, coefficients, intercepts, margins ``y f - 1``."""

    a: np.ndarray
    v: np.ndarray
    b: np.ndarray
    margin: np.ndarray
    any_free: np.ndarray
    settled: np.ndarray

    def take(self, problems):
        return ActiveSet(*(part[problems] for part in self))

    def repeat(self, count):
        return ActiveSet(*(np.repeat(part, count, axis=0) for part in self))

    def put(self, problems, other):
        for mine, theirs in zip(self, other, strict=True):
            mine[problems] = theirs


def active_set(system, signs, box, low, up, a, b, *, max_iter):
    """Solve from the guess that the samples in `low` and `up` are at their bounds.

    `a` (of the free samples) and `b` are where the linear solves start from.
    """
    low = low | (box == 0)
    up = up & ~low
    left = np.arange(len(box))
    result = None
    here, y, C = system, signs, box
    for _ in range(max_iter):
        found = _solve_sets(here, y, C, low, up, a, b)
        free = ~(low | up)
        falls = free & (found.a < -_ROUNDING)
        rises = free & (found.a > 1.0 + _ROUNDING)
        freed = (low & (found.margin < -_ROUNDING) & (C > 0)) | (up & (found.margin > _ROUNDING))
        found.settled[...] &= ~(falls | rises | freed).any(axis=1)
        if result is None:
            result = found
        else:
            result.put(left, found)
        keep = ~found.settled
        if not keep.any():
            break
        left, here = left[keep], here.take(keep)
        y, C, b, a = y[keep], C[keep], found.b[keep], np.clip(found.a[keep], 0.0, 1.0)
        low = ((low & ~freed) | falls)[keep]
        up = ((up & ~freed) | rises)[keep]
    np.clip(result.a, 0.0, 1.0, out=result.a)
    return result


def _solve_sets(system, y, C, low, up, a, b):
    """Solve the linear problem of given sets by the method of multipliers on the free samples."""
    free = ~(low | up)
    a = np.where(free, a, up)
    beta = y * C * a
    stiffness = _STIFFNESS / np.maximum(system.kernel_scale(), 1e-300)
    D = np.where(free, np.reshape(stiffness, (-1, 1)), 0.0)
    system.factor(D)
    v = system.coef(beta)
    b = b.copy()
    f = system.scores(v) + b[:, None]
    for _ in range(5):
        e = np.where(free, y - f, 0.0)
        dv, db, df = system.step(D, e, beta, v)
        beta = beta + D * (e - df)
        v, b, f = v + dv, b + db, f + df
        if np.max(np.abs(np.where(free, y - f, 0.0))) <= 0.1 * _ROUNDING:
            break
    a = np.divide(y * beta, C, out=np.zeros_like(beta), where=C > 0)
    any_free = free.any(axis=1)
    if not any_free.all():
        f -= b[:, None]
        b = np.where(any_free, b, midpoint_intercept(y, C, f, low, up))
        f += b[:, None]
    balance = np.abs(system.moments(beta)[:, -1]) <= _ROUNDING * C.sum(axis=1)
    exact = np.abs(np.where(free, y - f, 0.0)).max(axis=1) <= _ROUNDING
    return ActiveSet(a, v, b, y * f - 1.0, any_free, exact & balance)


def midpoint_intercept(y, C, scores, low, up):
    """Return libsvm's intercept where no sample is free: the middle of the feasible interval."""
    bound = y - scores
    below = (C > 0) & ((low & (y > 0)) | (up & (y < 0)))
    above = (C > 0) & ((low & (y < 0)) | (up & (y > 0)))
    lowest = np.where(below, bound, -np.inf).max(axis=1)
    highest = np.where(above, bound, np.inf).min(axis=1)
    middle = 0.5 * (lowest + highest)
    return np.where(np.isfinite(middle), middle, 0.0)
