"""A primal-dual active-set method for many SVM duals at once: exact once the sets settle.

Each sample is at its lower bound (alpha = 0), at its upper bound (alpha = C) or free
(y f = 1). Given a guess of these sets the rest is linear; where its solution breaks a bound or a
margin, the sample changes sides, and so on until nothing changes (Hintermueller, Ito & Kunisch
2002, doi:10.1137/S1052623401383558). Near the solution that takes a few rounds; far from it the
rounds may cycle: a problem that gets worse is given up, and the caller must look at `settled`.
"""

from typing import NamedTuple

import numpy as np

__all__ = ["ActiveSet", "active_set", "no_active_set", "room", "strictly_free"]

# Both in units of the margin for margins, and of `room` for dual fractions.
_ROUNDING = 1e-9
_STRICT = 1e-7  # nearer to a bound than this, a sample is not free
_REPEATS = 3  # at most, of the step that puts the free samples on their margins
_GAP = 1e-8  # and what it may leave of a duality gap, as a share of sum(alpha)


def room(box, a):
    """Return the unit that ``a = alpha / C`` is measured in: ``min(1, max_j alpha_j / C_i)``.

    Where the classes can be separated a box may be larger than its problem needs by any factor,
    and every fraction tiny, so a tolerance has to follow the largest alpha of the solution.
    """
    largest = np.max(np.abs(box * a), axis=1, keepdims=True)
    return np.minimum(1.0, np.divide(largest, box, out=np.ones_like(box), where=box > 0))


def strictly_free(box, alpha):
    """Return which samples are clear of both bounds, ``0 < alpha_i < C_i``."""
    unit = np.minimum(box, alpha.max(axis=1, keepdims=True))
    return (alpha > _STRICT * unit) & (alpha < (1.0 - _STRICT) * box)


class ActiveSet(NamedTuple):
    """Dual fractions ``a = alpha / C``, coefficients, intercepts, margins ``y f - 1``."""

    a: np.ndarray
    v: np.ndarray
    b: np.ndarray
    margin: np.ndarray
    any_free: np.ndarray
    settled: np.ndarray

    def put(self, problems, other):
        for mine, theirs in zip(self, other, strict=True):
            mine[problems] = theirs


def no_active_set(box, v):
    """Return the result of problems for which nothing has settled yet."""
    n_problems = len(box)
    never = np.zeros(n_problems, dtype=bool)
    return ActiveSet(
        np.zeros(box.shape),
        np.zeros_like(v),
        np.zeros(n_problems),
        np.zeros(box.shape),
        never,
        never.copy(),
    )


def active_set(system, signs, box, low, up, a, b, *, max_iter, patience):
    """Solve from the guess that the samples in `low` and `up` are at their bounds.

    `a` (of the free samples) and `b` are where the linear solves start from. A problem is given
    up when more than `patience` samples more switch sides than in the round before.
    """
    low = low | (box == 0)
    up = up & ~low
    left, before = np.arange(len(box)), np.full(len(box), box.shape[1])
    result = no_active_set(box, system.zeros(len(box)))
    here, y, C = system, signs, box
    for _ in range(max_iter):
        found = _solve_sets(here, y, C, low, up, a, b)
        free = ~(low | up)
        alpha = C * found.a
        slack = _ROUNDING * np.minimum(C, alpha.max(axis=1, keepdims=True))
        falls, rises = free & (alpha < -slack), free & (alpha > C + slack)
        freed = (low & (found.margin < -_ROUNDING) & (C > 0)) | (up & (found.margin > _ROUNDING))
        switches = np.count_nonzero(falls | rises | freed, axis=1)
        found.settled[...] &= switches == 0
        result.put(left, found)
        keep = ~found.settled & (switches <= before + patience)
        if not keep.any():
            break
        left, here, before = left[keep], here.take(keep), switches[keep]
        y, C, b, a = y[keep], C[keep], found.b[keep], np.clip(found.a[keep], 0.0, 1.0)
        low = ((low & ~freed) | falls)[keep]
        up = ((up & ~freed) | rises)[keep]
    np.clip(result.a, 0.0, 1.0, out=result.a)
    _centre_intercepts(signs, box, result)
    return result


def _centre_intercepts(signs, box, result):
    """Where no sample is strictly free, put the intercept in the middle of its interval.

    There a sample on its margin ends the interval of optimal intercepts, and libsvm's rule is
    the middle; elsewhere the intercept is unique.
    """
    a = result.a
    result.any_free[...] = strictly_free(box, box * a).any(axis=1)
    at = np.flatnonzero(result.settled & ~result.any_free)
    if len(at):
        y, low = signs[at], a[at] <= 0.5 * room(box[at], a[at])
        scores = y * (result.margin[at] + 1.0) - result.b[at, None]
        result.b[at] = _midpoint_intercept(y, box[at], scores, low, ~low)
        result.margin[at] = y * (scores + result.b[at, None]) - 1.0


def _solve_sets(system, y, C, low, up, a, b):
    """Solve the linear problem of given sets by the method of multipliers on the free samples."""
    free = ~(low | up)
    a = np.where(free, a, up)
    beta = y * C * a
    scale = system.kernel_scale()
    stiffness = system.stiffness / np.where(scale > 0, scale, 1.0)
    D = np.where(free, np.reshape(stiffness, (-1, 1)), 0.0)
    system.factor(D)
    v = system.coef(beta)
    b = b.copy()
    f = system.scores(v) + b[:, None]
    e = np.where(free, y - f, 0.0)
    for repeat in range(1, _REPEATS + 1):
        dv, db, df, d_beta = system.step(D, e, beta, v)
        beta = beta + d_beta
        v, b, f = v + dv, b + db, f + df
        e = np.where(free, y - f, 0.0)
        size = np.abs(beta).sum(axis=1)
        gap = np.einsum("bi,bi->b", C, np.abs(e))
        if repeat >= system.repeats and (gap <= _GAP * size).all():
            break
    a = np.divide(y * beta, C, out=np.zeros_like(beta), where=C > 0)
    any_free = free.any(axis=1)
    at = np.flatnonzero(~any_free)
    if len(at):
        scores = f[at] - b[at, None]
        b[at] = _midpoint_intercept(y[at], C[at], scores, low[at], up[at])
        f[at] = scores + b[at, None]
    balance = np.abs(system.moments(beta)[:, -1]) <= _ROUNDING * size
    exact = np.abs(e).max(axis=1) <= _ROUNDING
    return ActiveSet(a, v, b, y * f - 1.0, any_free, exact & balance)


def _midpoint_intercept(y, C, scores, low, up):
    """Return libsvm's intercept where no sample is free: the middle of the feasible interval."""
    bound = y - scores
    below = (C > 0) & ((low & (y > 0)) | (up & (y < 0)))
    above = (C > 0) & ((low & (y < 0)) | (up & (y > 0)))
    lowest = np.where(below, bound, -np.inf).max(axis=1)
    highest = np.where(above, bound, np.inf).min(axis=1)
    bounded = np.isfinite(lowest) & np.isfinite(highest)
    return 0.5 * (np.where(bounded, lowest, 0.0) + np.where(bounded, highest, 0.0))
