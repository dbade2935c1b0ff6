"""L-BFGS for many smooth problems at once, with the steps of SciPy's L-BFGS-B without bounds.

If an estimator stops this method early, its coefficients depend on the path. The same starting
values, line search, updates and stopping rules therefore give the coefficients of the estimator, up
to rounding. All problems advance together, one evaluation of their objectives at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from skeval._solvers.newton import ProblemRows

# Number of corrections; maximum number of evaluations per line search and per problem.
N_CORRECTIONS, MAX_EVALUATIONS, MAX_TOTAL = 10, 50, 15_000
# Sufficient decrease, curvature and relative width of the bracket, eq. (4) of lbfgs; maximum step.
_DECREASE, _CURVATURE, _WIDTH, _LARGEST_STEP = 1e-3, 0.9, 0.1, 1e10
_EPS = float(np.finfo(np.float64).eps)
# A relative reduction of the objective below this ends the iterations, eq. (6) of lbfgs.
_REDUCTION = 64 * _EPS
UNFINISHED, CONVERGED, MAX_ITER, ABNORMAL = -1, 0, 1, 2
"""Status of a problem. All except UNFINISHED end at the iterate where SciPy ends."""


class Objective(Protocol):
    """Objectives of some problems."""

    def take(self, problems: np.ndarray) -> Objective:
        """Return the objectives of some of the problems."""

    def is_flat(self, g: np.ndarray, tol: float) -> np.ndarray:
        """Return where the derivatives in gradients (A, P) are at most `tol`, eq. (6) of lbfgs."""

    def __call__(self, coef: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return values (B,) and gradients (B, P) at coefficients (B, P)."""


@dataclass(frozen=True)
class Minima:
    """Coefficients (B, P) where the iterations end, their number (B,) and the status (B,)."""

    coef: np.ndarray
    n_iter: np.ndarray
    status: np.ndarray


@dataclass
class LineSearches(ProblemRows):
    """Line searches of MINPACK-2, one direction per problem.

    A search ends at a step that satisfies eq. (4) of lbfgs.
    All attributes have shape (B,). `best` and `other` are the ends of the bracket, with values and
    slopes; `low` and `high` limit the next step. `modified` marks the first stage, where the search
    may use the function minus the line of sufficient decrease.
    """

    step: np.ndarray
    start: np.ndarray
    slope: np.ndarray
    best: np.ndarray
    best_value: np.ndarray
    best_slope: np.ndarray
    other: np.ndarray
    other_value: np.ndarray
    other_slope: np.ndarray
    low: np.ndarray
    high: np.ndarray
    width: np.ndarray
    last_width: np.ndarray
    bracketed: np.ndarray
    modified: np.ndarray
    n_evaluations: np.ndarray

    @classmethod
    def begin(cls, value: np.ndarray, slope: np.ndarray, step: np.ndarray) -> LineSearches:
        """Return searches with the first step, from values and slopes at 0."""
        zero, no = np.zeros(len(step)), np.zeros(len(step), dtype=bool)
        width = np.full(len(step), _LARGEST_STEP)
        rows = (
            step, value, slope, zero, value, slope, zero, value, slope, zero, 5.0 * step,
            width, 2.0 * width, no, ~no, np.zeros(len(step), dtype=np.intp),
        )  # fmt: skip
        return cls(*map(np.copy, rows))  # no two attributes share memory

    def advance(self, value: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """Return a mask (B,) of searches that end at their step; set the next step of others."""
        self.n_evaluations += 1
        decrease = _DECREASE * self.slope
        line = self.start + self.step * decrease
        low_enough = value <= line
        self.modified &= ~(low_enough & (slope >= 0))
        done = low_enough & (np.abs(slope) <= -_CURVATURE * self.slope)  # eq. (4) of lbfgs
        # rounding errors, a narrow bracket or the largest step end a search, too
        done |= self.bracketed & ((self.step <= self.low) | (self.step >= self.high))
        done |= self.bracketed & (self.high - self.low <= _WIDTH * self.high)
        done |= (self.step == _LARGEST_STEP) & low_enough & (slope <= decrease)
        done |= (self.step == 0) & (~low_enough | (slope >= decrease))
        if not done.all():
            going = np.flatnonzero(~done)
            part = self.take(going)
            part.shrink(value[going], slope[going])
            self.put(going, part)
        return done

    def shrink(self, value: np.ndarray, slope: np.ndarray) -> None:
        """Choose the next step from the values and slopes at the current one."""
        tilt = _DECREASE * self.slope
        # subtract the line of sufficient decrease while the decrease is too small
        tilt = np.where(
            self.modified & (value <= self.best_value) & (value > self.start + self.step * tilt),
            tilt,
            0.0,
        )
        best = self.best, self.best_value - self.best * tilt, self.best_slope - tilt
        other = self.other, self.other_value - self.other * tilt, self.other_slope - tilt
        trial = self.step, value - self.step * tilt, slope - tilt
        step = next_step(best, other, trial, self.bracketed, self.low, self.high)
        higher = trial[1] > best[1]
        crossed = ~higher & (trial[2] * np.sign(best[2]) < 0)
        self.bracketed = self.bracketed | higher | crossed
        # replace an end of the bracket by the trial
        trial = self.step, value, slope
        best = self.best, self.best_value, self.best_slope
        other = self.other, self.other_value, self.other_slope
        self.other, self.other_value, self.other_slope = (
            np.select([higher, crossed], [t, b], o)
            for t, b, o in zip(trial, best, other, strict=True)
        )
        self.best, self.best_value, self.best_slope = (
            np.where(higher, b, t) for t, b in zip(trial, best, strict=True)
        )
        # bisect a bracket that does not shrink fast enough
        width = np.abs(self.other - self.best)
        bisect = self.bracketed & (width >= 0.66 * self.last_width)
        step = np.where(bisect, self.best + 0.5 * (self.other - self.best), step)
        self.last_width = np.where(self.bracketed, self.width, self.last_width)
        self.width = np.where(self.bracketed, width, self.width)
        ahead = step - self.best
        lower, upper = np.minimum(self.best, self.other), np.maximum(self.best, self.other)
        self.low = np.where(self.bracketed, lower, step + 1.1 * ahead)
        self.high = np.where(self.bracketed, upper, step + 4.0 * ahead)
        step = np.clip(step, 0.0, _LARGEST_STEP)
        # return to the best step if no progress is possible
        stuck = (step <= self.low) | (step >= self.high)
        stuck |= self.high - self.low <= _WIDTH * self.high
        self.step = np.where(self.bracketed & stuck, self.best, step)


Points = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Steps, values and slopes of some searches."""


def next_step(
    best: Points,
    other: Points,
    trial: Points,
    bracketed: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
) -> np.ndarray:
    """Return a safeguarded step from cubic and quadratic interpolation, eq. (5) of lbfgs."""
    (x, fx, dx), (t, ft, dt) = best, trial
    beyond = np.where(t > x, high, low)
    # minima of the cubics around the best step and around the trial, and of the quadratics
    theta = 3.0 * (fx - ft) / (t - x) + dx + dt
    size = np.maximum(np.maximum(np.abs(theta), np.abs(dx)), np.abs(dt))
    root = np.maximum(0.0, (theta / size) ** 2 - (dx / size) * (dt / size))
    gamma = np.where(t < x, -1.0, 1.0) * size * np.sqrt(root)
    cubic = x + ((gamma - dx) + theta) / (((gamma - dx) + gamma) + dt) * (t - x)
    quadratic = x + dx / ((fx - ft) / (t - x) + dx) / 2.0 * (t - x)
    near = np.abs(cubic - x) <= np.abs(quadratic - x)
    higher = np.where(near, cubic, cubic + (quadratic - cubic) / 2.0)

    ratio = ((-gamma - dt) + theta) / (((-gamma - dt) - gamma) + dx)
    cubic, secant = t + ratio * (x - t), t + dt / (dt - dx) * (x - t)
    crossed = np.where(np.abs(cubic - t) > np.abs(secant - t), cubic, secant)

    # the slope shrinks without a change of sign: ignore a cubic without a minimum ahead
    cubic = np.where((ratio < 0) & (gamma != 0), cubic, beyond)
    nearer = np.where(np.abs(cubic - t) < np.abs(secant - t), cubic, secant)
    edge = t + 0.66 * (other[0] - t)
    nearer = np.where(t > x, np.minimum(edge, nearer), np.maximum(edge, nearer))
    farther = np.where(np.abs(cubic - t) > np.abs(secant - t), cubic, secant)
    shrunk = np.where(bracketed, nearer, np.clip(farther, low, high))

    # the slope does not shrink: interpolate towards the other end
    o, fo, do = other
    theta = 3.0 * (ft - fo) / (o - t) + do + dt
    size = np.maximum(np.maximum(np.abs(theta), np.abs(do)), np.abs(dt))
    root = np.maximum(0.0, (theta / size) ** 2 - (do / size) * (dt / size))
    gamma = np.where(t > o, -1.0, 1.0) * size * np.sqrt(root)
    cubic = t + ((gamma - dt) + theta) / (((gamma - dt) + gamma) + do) * (o - t)
    grown = np.where(bracketed, cubic, beyond)

    cases = [ft > fx, dt * np.sign(dx) < 0, np.abs(dt) < np.abs(dx)]
    step: np.ndarray = np.select(cases, [higher, crossed, shrunk], grown)
    return step


class Corrections:
    """Last changes s of coefficients and y of gradients of B problems, in a ring of M slots.

    pairs (B, M, 2, P): s and y of each slot. inverse (B, M, M): inverse of the triangle of products
    s'y in eq. (3) of lbfgs, zero in free slots. Formulas do not depend on the order of slots.
    """

    def __init__(self, n_problems: int, n_coef: int) -> None:
        M = N_CORRECTIONS
        self.pairs = np.zeros((n_problems, M, 2, n_coef))
        self.inverse, self.yy = np.zeros((2, n_problems, M, M))
        self.sy = np.zeros((n_problems, M))
        self.gamma = np.ones(n_problems)
        self.count = np.zeros(n_problems, dtype=np.intp)

    def clear(self, rows: np.ndarray) -> None:
        """Remove the corrections of some problems."""
        self.pairs[rows] = self.inverse[rows] = self.yy[rows] = 0.0
        self.sy[rows], self.gamma[rows], self.count[rows] = 0.0, 1.0, 0

    def add(self, rows: np.ndarray, s: np.ndarray, y: np.ndarray, sy: np.ndarray) -> None:
        """Add one correction to each of some problems, replacing the oldest."""
        slot = self.count[rows] % N_CORRECTIONS
        self.pairs[rows, slot, 0], self.pairs[rows, slot, 1] = s, y
        self.count[rows] += 1
        used, pairs = self._used(rows)
        products = np.matmul(pairs, y[:, :, None]).reshape(len(rows), -1, 2)
        # without the oldest row and column, it is the inverse of the remaining triangle
        inverse = self.inverse[rows, :used, :used]
        at = np.arange(len(rows))
        inverse[at, slot] = inverse[at, :, slot] = 0.0
        column = -np.matmul(inverse, products[:, :, :1])[:, :, 0] / sy[:, None]
        column[at, slot] = 1.0 / sy
        inverse[at, :, slot] = column
        self.inverse[rows, :used, :used] = inverse
        self.yy[rows, slot, :used] = self.yy[rows, :used, slot] = products[:, :, 1]
        self.sy[rows, slot] = sy
        self.gamma[rows] = sy / products[at, slot, 1]

    def direct(self, rows: np.ndarray, g: np.ndarray) -> np.ndarray:
        """Return the directions ``-H g`` (A, P) of some problems, eq. (3) of lbfgs."""
        used, pairs = self._used(rows)
        products = np.matmul(pairs, g[:, :, None]).reshape(len(rows), -1, 2)
        gamma, inverse = self.gamma[rows, None], self.inverse[rows, :used, :used]
        u = np.matmul(inverse, products[:, :, :1])[:, :, 0]
        yu = np.matmul(self.yy[rows, :used, :used], u[:, :, None])[:, :, 0]
        v = self.sy[rows, :used] * u + gamma * (yu - products[:, :, 1])
        v = np.matmul(v[:, None], inverse)[:, 0]
        weights = np.stack([v, -gamma * u], axis=2).reshape(len(rows), 1, -1)
        return -gamma * g - np.matmul(weights, pairs)[:, 0]

    def _used(self, rows: np.ndarray) -> tuple[int, np.ndarray]:
        """Return the number of slots to read, and their corrections (A, 2 slots, P)."""
        used = min(N_CORRECTIONS, max(1, int(self.count[rows].max())))
        pairs = self.pairs[:, :used] if len(rows) == len(self.pairs) else self.pairs[rows, :used]
        return used, pairs.reshape(len(rows), 2 * used, -1)


@dataclass
class Iterates(ProblemRows):
    """Number, iterations, coefficients, value, gradient and direction of active problems."""

    number: np.ndarray
    n_iter: np.ndarray
    x: np.ndarray
    f: np.ndarray
    g: np.ndarray
    d: np.ndarray


@np.errstate(all="ignore")  # problems that overflow end as UNFINISHED
def minimize_each(
    objective: Objective, n_problems: int, n_coef: int, *, tol: float, max_iter: int
) -> Minima:
    """Minimize B objectives from coefficients of 0.

    Iterations end if no derivative exceeds `tol`, if the objective no longer decreases, or after
    `max_iter`, eq. (6) of lbfgs.
    """
    result = Minima(
        np.zeros((n_problems, n_coef)),
        np.zeros(n_problems, dtype=np.intp),
        np.full(n_problems, UNFINISHED),
    )
    corrections = Corrections(n_problems, n_coef)
    x = np.zeros((n_problems, n_coef))
    f, g = objective(x)
    at = Iterates(np.arange(n_problems), np.zeros(n_problems, dtype=np.intp), x, f, g, -g)
    # the first step has length 1, eq. (1) of lbfgs
    squares = np.einsum("bj,bj->b", g, g)
    step = np.minimum(1.0 / np.sqrt(squares), _LARGEST_STEP)
    search = LineSearches.begin(f, -squares, step)
    status = np.where(objective.is_flat(g, tol), CONVERGED, UNFINISHED)
    lost = ~np.isfinite(f) | ~np.isfinite(squares)
    for _ in range(MAX_TOTAL):
        # remove problems that have stopped
        stopped = lost | (status != UNFINISHED)
        if stopped.any():
            numbers = at.number[stopped]
            result.coef[numbers], result.n_iter[numbers] = at.x[stopped], at.n_iter[stopped]
            result.status[numbers] = np.where(lost, UNFINISHED, status)[stopped]
            left = np.flatnonzero(~stopped)
            if not len(left):
                break
            at, search, objective = at.take(left), search.take(left), objective.take(left)
        status = np.full(len(at.f), UNFINISHED)
        # evaluate every problem at its trial step
        trial = at.x + search.step[:, None] * at.d
        f, g = objective(trial)
        slope = np.einsum("bj,bj->b", g, at.d)
        lost = ~np.isfinite(f) | ~np.isfinite(slope)
        done = search.advance(f, slope)
        failed = ~done & (search.n_evaluations >= MAX_EVALUATIONS)
        if done.any():
            new = np.flatnonzero(done)
            accept(at, corrections, new, trial[new], f[new], g[new], slope[new], search)
            flat = objective.is_flat(at.g[new], tol)
            status[new] = stopping_status(at, new, search.start[new], flat, max_iter)
        turn = np.flatnonzero(((done & (status == UNFINISHED)) | failed) & ~lost)
        if len(turn):
            # after a failed search, restart along the gradient or stop, eq. (7) of lbfgs
            status[turn] = new_directions(at, corrections, turn, failed[turn])
            slopes = np.einsum("bj,bj->b", at.g[turn], at.d[turn])
            search.put(turn, LineSearches.begin(at.f[turn], slopes, np.ones(len(turn))))
    return result


def accept(
    at: Iterates,
    corrections: Corrections,
    new: np.ndarray,
    x: np.ndarray,
    f: np.ndarray,
    g: np.ndarray,
    slope: np.ndarray,
    search: LineSearches,
) -> None:
    """Move problems to new iterates; add corrections with enough curvature, eq. (2) of lbfgs."""
    step, before = search.step[new], search.slope[new]
    sy = (slope - before) * step
    keep = sy > -_EPS * before * step  # eq. (2) of lbfgs
    rows = at.number[new[keep]]
    s = step[keep, None] * at.d[new[keep]]
    if len(rows):
        corrections.add(rows, s, g[keep] - at.g[new[keep]], sy[keep])
    at.x[new], at.f[new], at.g[new] = x, f, g
    at.n_iter[new] += 1


def stopping_status(
    at: Iterates, new: np.ndarray, before: np.ndarray, flat: np.ndarray, max_iter: int
) -> np.ndarray:
    """Return the status of new iterates: `flat` or without descent, eq. (6) of lbfgs."""
    f = at.f[new]
    scale = np.maximum(np.maximum(np.abs(before), np.abs(f)), 1.0)
    converged = flat | (before - f <= _REDUCTION * scale)
    status = np.where(converged, CONVERGED, UNFINISHED)
    status[at.n_iter[new] >= max_iter] = MAX_ITER
    return status


def new_directions(
    at: Iterates, corrections: Corrections, turn: np.ndarray, failed: np.ndarray
) -> np.ndarray:
    """Set the next directions, and return the status of the problems, eq. (7) of lbfgs."""
    rows = at.number[turn]
    status = np.full(len(turn), UNFINISHED)
    for _ in range(2):
        # without corrections to remove, a failure is final
        status[failed & (corrections.count[rows] == 0)] = ABNORMAL
        corrections.clear(rows[failed])
        at.d[turn] = corrections.direct(rows, at.g[turn])
        failed = np.einsum("bj,bj->b", at.g[turn], at.d[turn]) >= 0
        if not failed.any():
            break
    return status
