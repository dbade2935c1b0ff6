"""Primal-dual active sets: exact solutions of SVM duals from a good guess of the sets.

Each sample is at its lower bound (alpha = 0), at its upper bound (alpha = C), or free (y f = 1).
For fixed sets the problem is linear. Samples whose alpha leaves its box or whose margin has the
wrong sign change sets, and the linear problem is solved again, until no sample changes
(Hintermueller, Ito and Kunisch 2002, doi:10.1137/S1052623401383558). This takes a few rounds near
the solution, but may cycle far from it. A problem is therefore abandoned if the number of changes
grows, and callers must check `settled`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skeval._solvers.newton import Duals, ProblemRows

# Samples within this fraction of their box from a bound count as at the bound.
STRICT = 1e-7
# Tolerance of margins, and of alpha relative to the smaller of its box and the largest alpha.
_SLACK = 1e-9
# Maximum number of multiplier steps, and the relative duality gap that ends them.
_MAX_STEPS, _GAP = 3, 1e-8


def room(box: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Return the scales (B, n) of the fractions ``a = alpha / C``, eq. (1) of active_set."""
    largest = np.max(np.abs(box * a), axis=1, keepdims=True)
    return np.minimum(1.0, np.divide(largest, box, out=np.ones_like(box), where=box > 0))


def strictly_free(box: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Return a mask (B, n) of the samples away from both bounds, eq. (2) of active_set."""
    unit = np.minimum(box, alpha.max(axis=1, keepdims=True))
    return (alpha > STRICT * unit) & (alpha < (1.0 - STRICT) * box)


@dataclass
class ActiveSets(ProblemRows):
    """Guessed sets of B problems over n samples.

    low, up (B, n): masks of the samples at their lower and upper bounds. fraction (B, n) of the
    free samples and intercept (B,): starting values of the linear solves.
    """

    low: np.ndarray
    up: np.ndarray
    fraction: np.ndarray
    intercept: np.ndarray


@dataclass
class SetSolution(ProblemRows):
    """Solutions of B problems over n samples with q coefficients.

    fraction (B, n): a = alpha / C. coef (B, q), intercept (B,): v and b. margin (B, n): y f - 1.
    any_free (B,): whether a sample is away from both bounds. settled (B,): whether the sets are
    final.
    """

    fraction: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray
    margin: np.ndarray
    any_free: np.ndarray
    settled: np.ndarray

    @classmethod
    def unsettled(cls, duals: Duals) -> SetSolution:
        """Return solutions of 0, none of them settled."""
        B, n = duals.box.shape
        zeros, no = np.zeros((B, n)), np.zeros(B, dtype=bool)
        return cls(zeros, duals.system.zeros(B), np.zeros(B), zeros.copy(), no, no.copy())


def active_set(duals: Duals, sets: ActiveSets, *, max_iter: int, patience: int) -> SetSolution:
    """Solve problems from guessed sets.

    A problem is abandoned when the number of samples that change sets grows by more than
    `patience` from one round to the next.
    """
    all_duals, result = duals, SetSolution.unsettled(duals)
    problems, last_count = np.arange(len(duals.box)), np.full(len(duals.box), duals.box.shape[1])
    low = sets.low | (duals.box == 0)
    sets = ActiveSets(low, sets.up & ~low, sets.fraction, sets.intercept)
    for _ in range(max_iter):
        C, low, up = duals.box, sets.low, sets.up
        trial = _solve_sets(duals, sets)
        # samples that violate their condition change sets, eq. (8) of active_set
        free, margin, alpha = ~(low | up), trial.margin, C * trial.fraction
        slack = _SLACK * np.minimum(C, alpha.max(axis=1, keepdims=True))
        to_low, to_up = free & (alpha < -slack), free & (alpha > C + slack)
        to_free = (low & (margin < -_SLACK) & (C > 0)) | (up & (margin > _SLACK))
        count = np.count_nonzero(to_low | to_up | to_free, axis=1)
        trial.settled &= count == 0
        result.put(problems, trial)
        # continue with unsettled problems that still improve, eq. (10) of active_set
        keep = ~trial.settled & (count <= last_count + patience)
        if not keep.any():
            break
        problems, last_count, duals = problems[keep], count[keep], duals.take(keep)
        sets = ActiveSets(
            low=((low & ~to_free) | to_low)[keep],
            up=((up & ~to_free) | to_up)[keep],
            fraction=np.clip(trial.fraction[keep], 0.0, 1.0),
            intercept=trial.intercept[keep],
        )
    np.clip(result.fraction, 0.0, 1.0, out=result.fraction)
    _center_intercepts(all_duals, result)
    return result


def _center_intercepts(duals: Duals, result: SetSolution) -> None:
    """Move the intercepts of problems without free samples to the middle of their interval.

    The interval of optimal intercepts ends where a sample reaches its margin. libsvm uses its
    midpoint.
    """
    a = result.fraction
    result.any_free[...] = strictly_free(duals.box, duals.box * a).any(axis=1)
    problems = np.flatnonzero(result.settled & ~result.any_free)
    if len(problems):
        y, C = duals.signs[problems], duals.box[problems]
        low = a[problems] <= 0.5 * room(C, a[problems])
        scores = y * (result.margin[problems] + 1.0) - result.intercept[problems, None]
        result.intercept[problems] = _midpoint_intercept(y, C, scores, low, ~low)
        result.margin[problems] = y * (scores + result.intercept[problems, None]) - 1.0


def _solve_sets(duals: Duals, sets: ActiveSets) -> SetSolution:
    """Solve the linear problems of fixed sets by the method of multipliers."""
    system, y, C = duals.system, duals.signs, duals.box
    free = ~(sets.low | sets.up)
    beta = y * C * np.where(free, sets.fraction, sets.up)  # eq. (3) of active_set
    # one factorization serves all steps, eq. (4) of active_set
    scale = system.kernel_scale()
    stiffness = system.stiffness / np.where(scale > 0, scale, 1.0)
    step_to = system.factor(np.where(free, np.reshape(stiffness, (-1, 1)), 0.0))
    v, b = system.coef(beta), sets.intercept.copy()
    f = system.scores(v) + b[:, None]
    e = np.where(free, y - f, 0.0)
    for n_steps in range(1, _MAX_STEPS + 1):
        dv, db, df, d_beta = step_to(e, beta, v)
        beta = beta + d_beta
        v, b, f = v + dv, b + db, f + df
        e = np.where(free, y - f, 0.0)  # eq. (6) of active_set
        size = np.abs(beta).sum(axis=1)
        gap = np.einsum("bi,bi->b", C, np.abs(e))
        if n_steps >= system.min_steps and (gap <= _GAP * size).all():  # eq. (7) of active_set
            break
    a = np.divide(y * beta, C, out=np.zeros_like(beta), where=C > 0)
    # no step determines the intercept of a problem without free samples
    any_free = free.any(axis=1)
    bound = np.flatnonzero(~any_free)
    if len(bound):
        scores = f[bound] - b[bound, None]
        b[bound] = _midpoint_intercept(y[bound], C[bound], scores, sets.low[bound], sets.up[bound])
        f[bound] = scores + b[bound, None]
    # the equations must hold, eq. (9) of active_set
    balanced = np.abs(system.moments(beta)[:, -1]) <= _SLACK * size
    exact = np.abs(e).max(axis=1) <= _SLACK
    return SetSolution(a, v, b, y * f - 1.0, any_free, exact & balanced)


def _midpoint_intercept(
    y: np.ndarray, C: np.ndarray, scores: np.ndarray, low: np.ndarray, up: np.ndarray
) -> np.ndarray:
    """Return the midpoints (B,) of the intervals of optimal intercepts, as libsvm does.

    `scores` (B, n) are the decision values without intercept; no sample is free.
    """
    bound = y - scores
    below = (C > 0) & ((low & (y > 0)) | (up & (y < 0)))
    above = (C > 0) & ((low & (y < 0)) | (up & (y > 0)))
    # the interval and its midpoint, eqs. (11) and (12) of active_set
    lowest = np.where(below, bound, -np.inf).max(axis=1)
    highest = np.where(above, bound, np.inf).min(axis=1)
    bounded = np.isfinite(lowest) & np.isfinite(highest)
    return 0.5 * (np.where(bounded, lowest, 0.0) + np.where(bounded, highest, 0.0))
