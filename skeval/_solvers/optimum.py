"""Solve a block of SVM duals exactly, and judge and keep what is a solution.

The interior point comes near, and so does the splitting of problems that share a Gram matrix; the
active sets are exact. Every solution, wherever it comes from, is judged by its optimality
conditions alone. Boxes are in the units of (8).
Numbers in parentheses are the equations of doc/derivations/svm.rst.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from skeval._solvers.newton import Duals, ProblemRows

# Steps after which a problem that is not solved is given up.
MAX_ITER = 120
# Relative duality gaps at which the active sets are tried; most problems are done early on.
_GAPS = (1e-2, 1e-4, 1e-6, 1e-9, 1e-11, 1e-13)
# By how much a solution may break the conditions of optimality. Margins are held as by libsvm at
# its finest usual tolerance; the duality gap, the balance sum(y alpha) = 0 and the lag of v behind
# coef(y alpha) are shares of what they are made of.
_MARGIN, _GAP, _BALANCE, _LAG = 1e-6, 1e-8, 1e-9, 1e-6
# The rounding of sums over samples, which the lag is made of where labels and features are
# unrelated.
_ROUNDING = 1e-14
# A sample nearer to a bound than this share of its box counts as being there.
_STRICT = 1e-7


@dataclass
class BatchSolution:
    """Solutions of B problems over n samples; those that did not converge are nan.

    `decision` (B, n) of every sample, trained on or not; `alpha` (B, n); `intercept` (B,), for
    columns centred on all samples; `converged` (B,), False too where all training samples are
    of one class.
    """

    decision: np.ndarray
    alpha: np.ndarray
    intercept: np.ndarray
    converged: np.ndarray

    @classmethod
    def empty(cls, n_problems: int, n_samples: int) -> BatchSolution:
        return cls(
            np.full((n_problems, n_samples), np.nan),
            np.full((n_problems, n_samples), np.nan),
            np.full(n_problems, np.nan),
            np.zeros(n_problems, dtype=bool),
        )

    def put(self, problems: np.ndarray, duals: Duals, solved: SetSolution) -> None:
        """Store those solutions that are optimal; `problems` (b,) are their places here."""
        fine = solved.settled & optimal(duals, solved)
        at = problems[fine]
        self.decision[at] = duals.signs[fine] * (solved.margin[fine] + 1.0)
        self.alpha[at] = duals.box[fine] * solved.fraction[fine]
        self.intercept[at] = solved.intercept[fine]
        self.converged[at] = True

    def in_units(self, unit: np.ndarray | float, box: np.ndarray) -> BatchSolution:
        """Return the solution with alpha as it was before boxes were multiplied by `unit` (8)."""
        return replace(self, alpha=np.minimum(self.alpha / unit, box))


def find_solvable(signs: np.ndarray, box: np.ndarray) -> np.ndarray:
    """Return the numbers of the problems that train on both classes."""
    trained, positive = box > 0, signs > 0
    return np.flatnonzero((trained & positive).any(axis=1) & (trained & ~positive).any(axis=1))


def unit_of(scale: np.ndarray | float) -> np.ndarray:
    """Return the powers of 2 next above mean kernel values ``K_ii``, 1 where these are 0 (8).

    Only C K matters to the decisions, so the solvers are given K / unit and C unit, and all that
    they compare with 1 is of the size of 1. Powers of 2 round nothing.
    """
    _, exponent = np.frexp(np.asarray(scale, dtype=float))
    return np.ldexp(1.0, exponent)


def solve_from_values(duals: Duals, start: Start) -> SetSolution:
    """Solve from coefficients and intercepts."""
    point = start_point(duals, start)
    result = SetSolution.unsettled(duals)
    left, max_iter = np.arange(len(duals.box)), MAX_ITER
    rounds = min(8, max_iter)
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
        solved = active_set(duals.take(ready), sets.take(ready), max_iter=rounds, patience=2)
        result.put(left[ready], solved)
        again = ~ready
        again[ready] = ~solved.settled
        if not again.any():
            return result
        left, duals, point = left[again], duals.take(again), point.take(again)
    result.put(left, _near_enough(duals, point))
    return result


def _near_enough(duals: Duals, point: PathPoint) -> SetSolution:
    """Take where the interior point ended: the caller must look whether that is `optimal`.

    Where the features say nothing about the labels, hundreds of samples may lie within 1e-6 of
    their margin. Which of them are free cannot be told there, nor does it matter.
    """
    a, v, b = point.fraction, point.coef, point.intercept
    # Where a sample is left out, surplus less shortfall stays 0, which is not its margin.
    margin = duals.margins(v, b)
    any_free = np.any(strictly_free(duals.box, duals.box * a), axis=1)
    return SetSolution(a, v, b, margin, any_free, any_free.copy())


def optimal(duals: Duals, solved: SetSolution) -> np.ndarray:
    """Return which solutions (B,) are feasible and optimal, whatever solver they come from (13).

    The duality gap is a sum of terms that do not cancel (12). A box that no alpha comes near may
    be taken smaller (11), so that a box of 1e20, which means separation, does not turn rounding
    into a gap.
    """
    system, v, live = duals.system, solved.coef, duals.box > 0
    alpha = duals.box * solved.fraction
    total = alpha.sum(axis=1)
    box = np.minimum(duals.box, 2.0 * alpha.max(axis=1, keepdims=True))  # (11)
    margin = duals.margins(v, solved.intercept)
    beta = duals.signs * alpha
    lag = system.squared_norm(v - system.coef(beta))
    norm = system.squared_norm(v)
    rounding = (_ROUNDING * total) ** 2 * system.kernel_scale()
    excess = np.where(live, np.maximum(margin, 0.0), 0.0)
    shortfall = np.where(live, np.maximum(-margin, 0.0), 0.0)
    balance = np.abs(system.moments(beta)[:, -1])
    gap = 0.5 * lag + (alpha * excess + (box - alpha) * shortfall).sum(axis=1)  # (12)
    gap += np.abs(solved.intercept) * balance
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


def solve_from_sets(duals: Duals, sets: ActiveSets) -> SetSolution:
    """Solve from a guess of the active sets, and from scratch where they do not settle."""
    rounds, n_samples = min(15, MAX_ITER), duals.box.shape[1]
    result = active_set(duals, sets, max_iter=rounds, patience=n_samples)
    again = ~result.settled
    if again.any():
        here, count = duals.take(again), int(np.count_nonzero(again))
        start = Start(here.system.zeros(count), np.zeros(count), mu=1.0)
        result.put(again, solve_from_values(here, start))
    return result


# Exact once the sets settle: a primal-dual active-set method.
# Each sample is at its lower bound (alpha = 0), at its upper bound (alpha = C) or free (y f = 1).
# Given a guess of these sets the rest is linear; where its solution breaks a bound or a margin, the
# sample changes sides, and so on until nothing changes (Hintermueller, Ito & Kunisch 2002,
# doi:10.1137/S1052623401383558). Near the solution that takes a few rounds; far from it the rounds
# may cycle: a problem that gets worse is given up, and the caller must look at `settled`.
# Numbers in parentheses are the equations of doc/derivations/active_set.rst.

# How far margins may be off, and alpha in units of the smaller of its box and the largest alpha.
_SLACK = 1e-9
# The step that puts the free samples on their margins is taken so often at most, and until it
# leaves no more of a duality gap than `_GAP` of sum(alpha).
_REPEATS = 3


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
    """Current solutions of B problems over n samples with q coefficients.

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
        """Return the state of the problems before the first step."""
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
        slack = _SLACK * np.minimum(C, alpha.max(axis=1, keepdims=True))
        falls, rises = free & (alpha < -slack), free & (alpha > C + slack)  # (8), left
        freed = (low & (margin < -_SLACK) & (C > 0)) | (up & (margin > _SLACK))  # (8), right
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
    balance = np.abs(system.moments(beta)[:, -1]) <= _SLACK * size  # (9)
    exact = np.abs(e).max(axis=1) <= _SLACK
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


# From far away: a primal-dual interior-point method. Fractions of the boxes make a tiny box no
# harder than a large one. The margins agree with the decision values from the start; Newton steps
# bring beta in line with the coefficients.
# Numbers in parentheses are the equations of doc/derivations/interior_point.rst.

# A step goes at most this share of the way to the nearest bound.
_TO_BOUNDARY = 0.9995


class Start(NamedTuple):
    """Coefficients (B, q) and intercepts (B,) to start from; a smaller mu trusts them more."""

    coef: np.ndarray
    intercept: np.ndarray
    mu: float


@dataclass
class PathPoint(ProblemRows):
    """Where B problems over n samples stand on their way along the central path (1).

    fraction (B, n): a = alpha / C. rest (B, n): c = 1 - a. surplus, shortfall (B, n): s and x, the
    margin is s - x. coef (B, q), intercept (B,): v and b. residual (B,): the share that is left of
    what v and coef(beta), and sum(beta) and 0, first differed by.
    """

    fraction: np.ndarray
    rest: np.ndarray
    surplus: np.ndarray
    shortfall: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray
    residual: np.ndarray


def start_point(duals: Duals, start: Start) -> PathPoint:
    """Return the point of the path at mu that has the decision values of the start (2)."""
    v, b, mu = start
    margin = duals.margins(v, b)
    margin[duals.box == 0] = 0.0  # No step moves a sample that is left out: a = c = 1/2 for good.
    root = np.sqrt(margin * margin + 4.0 * mu * mu)
    s = 0.5 * (margin + 2.0 * mu + root)  # (2), left
    x = s - margin
    return PathPoint(mu / s, mu / x, s, x, v.copy(), b.copy(), np.ones(len(b)))


def interior_point(duals: Duals, point: PathPoint, *, tol: float, max_iter: int) -> int:
    """Move `point` along the central path, in place, until its relative gap is below `tol`.

    Return the number of steps. A problem that diverges is left where it is, as nan.
    """
    total = duals.box.sum(axis=1)
    left, at = np.arange(len(duals.box)), point
    for n_steps in range(max_iter):
        C = duals.box
        gap = np.einsum("bi,bi->b", C, at.fraction * at.surplus + at.rest * at.shortfall)  # (3)
        dual = np.einsum("bi,bi->b", C, at.fraction) - 0.5 * duals.system.squared_norm(at.coef)
        done = ~np.isfinite(gap) | ((gap <= tol * np.abs(dual)) & (at.residual <= tol))  # (4)
        if done.any():
            point.put(left[done], at.take(done))
            keep = ~done
            left, at, duals = left[keep], at.take(keep), duals.take(keep)
            gap, total = gap[keep], total[keep]
            if not len(left):
                return n_steps
        at = _step(duals, at, gap, total)
    point.put(left, at)
    return max_iter


def _step(duals: Duals, at: PathPoint, gap: np.ndarray, total: np.ndarray) -> PathPoint:
    """Take one predictor-corrector step, given the gaps (B,) and the sums of the boxes (B,)."""
    y, C = duals.signs, duals.box
    a, c, s, x = at.fraction, at.rest, at.surplus, at.shortfall
    beta = y * C * a
    H = a * c / (s * c + x * a)  # (6)
    H[C == 0] = 0.0
    step_to = duals.system.factor(C * H)  # (7)

    r = -(s - x)  # (8), the predictor
    dm = y * step_to(y * r, beta, at.coef).df
    da = H * (r - dm)  # (6)
    up, down = da / a, da / c
    tightest = np.maximum(1.0 + np.abs(up), 1.0 + np.abs(down)).max(axis=1)
    t = 1.0 / np.maximum(1.0, tightest)  # (9), (B,)
    predicted = (1.0 - t) * gap + t * t * np.einsum("bi,bi->b", C, da * dm)  # (10)
    mu = ((predicted / gap) ** 3 * gap / (2.0 * total))[:, None]  # (11)

    r_s = mu / a + s * (up * (1.0 + up) - 1.0)  # (12), the corrector
    r_x = mu / c - x * (down * (1.0 - down) + 1.0)
    r = r_s - r_x
    change = step_to(y * r, beta, at.coef)
    da = H * (r - y * change.df)  # (6)
    up, down = da / a, da / c
    ds, dx = r_s - s * up, r_x + x * down  # (5)
    blocking = np.minimum(np.minimum(up, -down), np.minimum(ds / s, dx / x)).min(axis=1)
    t = np.minimum(1.0, _TO_BOUNDARY / np.maximum(-blocking, 1e-300))  # (13)
    step = t[:, None]
    return PathPoint(
        fraction=a + step * da,
        rest=c - step * da,
        surplus=s + step * ds,
        shortfall=x + step * dx,
        coef=at.coef + step * change.dv,
        intercept=at.intercept + t * change.db,
        residual=at.residual * (1.0 - t),  # (14)
    )


# Near the solutions by operator splitting, with one factor for all of them: the problems share a
# Gram matrix; labels and boxes differ. A step is one product with a matrix that all problems have
# in common, and a clip into the boxes (alternating directions, Boyd et al. 2011,
# doi:10.1561/2200000016). Its end is not exact: it tells which samples are at which bound.
# Numbers in parentheses are the equations of doc/derivations/splitting.rst.

# The over-relaxation, a number between 1 and 2.
_RELAXED = 1.6
# Penalties are powers of this number.
_LEVEL = 4.0

# Before each attempt to finish by active sets, the splitting takes so many steps, so many of them
# with the same penalty. An attempt has so many rounds, and the patience of `active_set`.
_STEPS, _ADAPTED = 60, 10
_ROUNDS, _PATIENCE = 8, 2


@dataclass
class SplitPoint(ProblemRows):
    """Where B problems over n samples stand, in single precision.

    beta (B, n): y alpha, in the boxes. push (B, n): at the end, (y - f) / penalty. low, high
    (B, n): the bounds of beta. signs (B, n): the labels y.
    """

    beta: np.ndarray
    push: np.ndarray
    low: np.ndarray
    high: np.ndarray
    signs: np.ndarray

    @property
    def fraction(self) -> np.ndarray:
        """Return alpha / C (B, n): 0 and 1 are the bounds."""
        room = self.high - self.low
        return np.divide(np.abs(self.beta), room, out=np.zeros(room.shape), where=room > 0)

    def margin(self, penalty: float) -> np.ndarray:
        """Return about ``y f - 1`` (B, n)."""
        return np.asarray(-penalty * self.signs * self.push, dtype=float)  # (4)

    def count_free(self) -> int:
        """Return the number of samples at neither bound, over all problems."""
        return int(np.count_nonzero((self.beta > self.low) & (self.beta < self.high)))


class Splitting:
    """The steps on a Gram matrix K (n, n), whose diagonal is about 1."""

    def __init__(self, K: np.ndarray) -> None:
        self._K = K
        self._maps: dict[float, np.ndarray] = {}

    def penalty(self, box: np.ndarray) -> float:
        """Return the penalty that suits some boxes (B, n) (5)."""
        mean = float(box.sum() / max(1, np.count_nonzero(box)))
        return _nearest_level(1.0 / mean)  # (5)

    def start(self, signs: np.ndarray, box: np.ndarray) -> SplitPoint:
        """Return the point where every beta is 0."""
        ends = (signs * box).astype(np.float32)
        zeros = np.zeros_like(ends)
        low, high = np.minimum(ends, 0.0), np.maximum(ends, 0.0)
        return SplitPoint(zeros, zeros.copy(), low, high, signs.astype(np.float32))

    def steps(self, point: SplitPoint, penalty: float, n_steps: int) -> float:
        """Move a point on, in place; return the penalty that suits it from there (6)."""
        step = self._map(penalty)
        for _ in range(n_steps):
            before = point.beta
            right = before - point.push
            right *= np.float32(penalty)
            right += point.signs
            free = right @ step  # (2)
            target = free * np.float32(_RELAXED)
            target += np.float32(1.0 - _RELAXED) * before
            target += point.push
            point.beta = np.minimum(np.maximum(target, point.low), point.high)  # (3)
            point.push = target - point.beta
        primal = _size(free - point.beta) * _size(point.push)
        dual = _size(point.beta - before) * _size(point.beta)
        if primal > 0 and dual > 0:
            change = _nearest_level(np.sqrt(primal / dual))  # (6)
            point.push /= np.float32(change)
            penalty *= change
        return penalty

    def _map(self, penalty: float) -> np.ndarray:
        """Return the symmetric matrix of the first half of a step (1)."""
        if penalty not in self._maps:
            inverse = np.linalg.inv(self._K + penalty * np.eye(len(self._K)))  # (1)
            total = inverse.sum(axis=0)
            inverse -= np.outer(total, total / total.sum())
            self._maps[penalty] = inverse.astype(np.float32)
        return self._maps[penalty]


def solve_by_splitting(splitting: Splitting, duals: Duals, n_attempts: int) -> SetSolution:
    """Solve duals that share the Gram matrix of the splitting, as far as that takes few steps.

    Active sets refine the solutions of the splitting. Problems left unsolved are not `settled`.
    """
    result, left = SetSolution.unsettled(duals), np.arange(len(duals.box))
    point, penalty = splitting.start(duals.signs, duals.box), splitting.penalty(duals.box)
    for _ in range(n_attempts):
        for _ in range(_STEPS // _ADAPTED):
            penalty = splitting.steps(point, penalty, _ADAPTED)  # (1) to (6)
        fraction = point.fraction.astype(float)
        sets = ActiveSets(fraction <= 0.0, fraction >= 1.0, fraction, np.zeros(len(left)))
        free = np.count_nonzero(~(sets.low | sets.up), axis=1)
        ready = np.flatnonzero(free <= duals.system.rank)
        if not len(ready):
            continue
        solved = active_set(
            duals.take(ready), sets.take(ready), max_iter=_ROUNDS, patience=_PATIENCE
        )
        result.put(left[ready], solved)
        again = np.ones(len(left), dtype=bool)
        again[ready] = ~solved.settled
        if not again.any():
            break
        left, duals, point = left[again], duals.take(again), point.take(again)
    return result


def _size(values: np.ndarray) -> float:
    """Return the root of the sum of squares."""
    return float(np.sqrt(np.vdot(values, values)))


def _nearest_level(penalty: float) -> float:
    """Return the power of `_LEVEL` that is nearest."""
    return float(_LEVEL ** np.round(np.log(penalty) / np.log(_LEVEL)))
