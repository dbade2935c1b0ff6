"""A primal-dual active-set method for many SVM duals at once, exact once the sets settle.

Each sample is at its lower bound (alpha = 0), at its upper bound (alpha = C) or free
(y f = 1). Given a guess of these sets the rest is linear; where its solution breaks a bound or a
margin, the sample changes sides, and so on until nothing changes (Hintermueller, Ito & Kunisch
2002, doi:10.1137/S1052623401383558). Near the solution that takes a few rounds; far from it the
rounds may cycle: a problem that gets worse is given up, and the caller must look at `settled`.
Numbers in parentheses are the equations of doc/derivations/active_set.rst.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skeval._solvers.newton import Duals, ProblemRows

__all__ = ["ActiveSets", "SetSolution", "active_set", "room", "strictly_free"]

# How far margins may be off, and alpha in units of the smaller of its box and the largest alpha.
_ROUNDING = 1e-9
# A sample that is nearer to a bound than this is not free.
_STRICT = 1e-7
# The step that puts the free samples on their margins is taken so often at most, and until it
# leaves no more of a duality gap than this share of sum(alpha).
_REPEATS, _GAP = 3, 1e-8


def room(box: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Return the units (B, n) that the fractions ``a = alpha / C`` are measured in (1)."""
    largest = np.max(np.abs(box * a), axis=1, keepdims=True)
    return np.minimum(1.0, np.divide(largest, box, out=np.ones_like(box), where=box > 0))


def strictly_free(box: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Return which samples (B, n) are clear of both bounds (2)."""
    unit = np.minimum(box, alpha.max(axis=1, keepdims=True))
    return (alpha > _STRICT * unit) & (alpha < (1.0 - _STRICT) * box)


@dataclass
class ActiveSets(ProblemRows):
    """A guess of the sets of B problems over n samples.

    low, up (B, n): the samples at their lower and their upper bounds. fraction (B, n) of the free
    samples and intercept (B,): where the linear solves start from.
    """

    low: np.ndarray
    up: np.ndarray
    fraction: np.ndarray
    intercept: np.ndarray


@dataclass
class SetSolution(ProblemRows):
    """What is known of the solutions of B problems over n samples with q coefficients.

    fraction (B, n): a = alpha / C. coef (B, q), intercept (B,): v and b. margin (B, n): y f - 1.
    any_free (B,): whether a sample is clear of both bounds. settled (B,): whether no sample
    changes sides any more.
    """

    fraction: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray
    margin: np.ndarray
    any_free: np.ndarray
    settled: np.ndarray

    @classmethod
    def unsettled(cls, duals: Duals) -> SetSolution:
        """Return the result of problems of which nothing is known yet."""
        B, n = duals.box.shape
        zeros, never = np.zeros((B, n)), np.zeros(B, dtype=bool)
        coef = duals.system.zeros(B)
        return cls(zeros, coef, np.zeros(B), zeros.copy(), never, never.copy())


def active_set(duals: Duals, sets: ActiveSets, *, max_iter: int, patience: int) -> SetSolution:
    """Solve from a guess of the sets.

    A problem is given up when more than `patience` samples more change sides than in the round
    before.
    """
    whole, result = duals, SetSolution.unsettled(duals)
    left, before = np.arange(len(duals.box)), np.full(len(duals.box), duals.box.shape[1])
    low = sets.low | (duals.box == 0)
    sets = ActiveSets(low, sets.up & ~low, sets.fraction, sets.intercept)
    for _ in range(max_iter):
        C, low, up = duals.box, sets.low, sets.up
        trial = _solve_sets(duals, sets)
        free, margin, alpha = ~(low | up), trial.margin, C * trial.fraction
        slack = _ROUNDING * np.minimum(C, alpha.max(axis=1, keepdims=True))
        falls, rises = free & (alpha < -slack), free & (alpha > C + slack)  # (8), left
        freed = (low & (margin < -_ROUNDING) & (C > 0)) | (up & (margin > _ROUNDING))  # (8), right
        switches = np.count_nonzero(falls | rises | freed, axis=1)
        trial.settled &= switches == 0
        result.put(left, trial)
        keep = ~trial.settled & (switches <= before + patience)  # (10)
        if not keep.any():
            break
        left, before, duals = left[keep], switches[keep], duals.take(keep)
        sets = ActiveSets(
            low=((low & ~freed) | falls)[keep],
            up=((up & ~freed) | rises)[keep],
            fraction=np.clip(trial.fraction[keep], 0.0, 1.0),
            intercept=trial.intercept[keep],
        )
    np.clip(result.fraction, 0.0, 1.0, out=result.fraction)
    _centre_intercepts(whole, result)
    return result


def _centre_intercepts(duals: Duals, result: SetSolution) -> None:
    """Put intercepts that are not unique, as no sample is free, in the middle of their interval.

    Samples on their margins end the interval of optimal intercepts there, and libsvm takes its
    middle.
    """
    a = result.fraction
    result.any_free[...] = strictly_free(duals.box, duals.box * a).any(axis=1)
    at = np.flatnonzero(result.settled & ~result.any_free)
    if len(at):
        y, C = duals.signs[at], duals.box[at]
        low = a[at] <= 0.5 * room(C, a[at])
        scores = y * (result.margin[at] + 1.0) - result.intercept[at, None]
        result.intercept[at] = _midpoint_intercept(y, C, scores, low, ~low)
        result.margin[at] = y * (scores + result.intercept[at, None]) - 1.0


def _solve_sets(duals: Duals, sets: ActiveSets) -> SetSolution:
    """Solve the problem of given sets, which is linear, by multipliers of the free samples."""
    system, y, C = duals.system, duals.signs, duals.box
    free = ~(sets.low | sets.up)
    beta = y * C * np.where(free, sets.fraction, sets.up)  # (3)
    scale = system.kernel_scale()
    stiffness = system.stiffness / np.where(scale > 0, scale, 1.0)
    step_to = system.factor(np.where(free, np.reshape(stiffness, (-1, 1)), 0.0))  # (4)
    v, b = system.coef(beta), sets.intercept.copy()
    f = system.scores(v) + b[:, None]
    e = np.where(free, y - f, 0.0)
    for repeat in range(1, _REPEATS + 1):
        dv, db, df, d_beta = step_to(e, beta, v)
        beta = beta + d_beta
        v, b, f = v + dv, b + db, f + df
        e = np.where(free, y - f, 0.0)  # (6)
        size = np.abs(beta).sum(axis=1)
        gap = np.einsum("bi,bi->b", C, np.abs(e))
        if repeat >= system.repeats and (gap <= _GAP * size).all():  # (7)
            break
    a = np.divide(y * beta, C, out=np.zeros_like(beta), where=C > 0)
    any_free = free.any(axis=1)
    at = np.flatnonzero(~any_free)
    if len(at):
        scores = f[at] - b[at, None]
        b[at] = _midpoint_intercept(y[at], C[at], scores, sets.low[at], sets.up[at])
        f[at] = scores + b[at, None]
    balance = np.abs(system.moments(beta)[:, -1]) <= _ROUNDING * size  # (9)
    exact = np.abs(e).max(axis=1) <= _ROUNDING
    return SetSolution(a, v, b, y * f - 1.0, any_free, exact & balance)


def _midpoint_intercept(
    y: np.ndarray, C: np.ndarray, scores: np.ndarray, low: np.ndarray, up: np.ndarray
) -> np.ndarray:
    """Return the middle (B,) of the optimal intercepts, as libsvm does where no sample is free.

    `scores` (B, n) are the decision values without intercept.
    """
    bound = y - scores
    below = (C > 0) & ((low & (y > 0)) | (up & (y < 0)))
    above = (C > 0) & ((low & (y < 0)) | (up & (y > 0)))
    lowest = np.where(below, bound, -np.inf).max(axis=1)  # (11)
    highest = np.where(above, bound, np.inf).min(axis=1)
    bounded = np.isfinite(lowest) & np.isfinite(highest)
    return 0.5 * (np.where(bounded, lowest, 0.0) + np.where(bounded, highest, 0.0))  # (12)
