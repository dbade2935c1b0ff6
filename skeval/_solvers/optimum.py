"""Exact optima of a block of SVM duals, and the conditions for accepting a solution.

The interior-point method approaches the optima from any start, and active sets solve them exactly
from a good guess. A solution of any method is accepted if it satisfies the optimality conditions.
Boxes are in the units of eq. (8) of svm.

**Active sets.** Each sample is at its lower bound (alpha = 0), at its upper bound (alpha = C), or
free (y f = 1). For fixed sets, the problem is linear. A sample changes sets if its alpha leaves
its box or its margin has the wrong sign. The linear problem is then solved again, until no sample
changes (Hintermueller, Ito and Kunisch 2002, doi:10.1137/S1052623401383558). This takes a few
rounds near the solution, but may cycle far from it. A problem is therefore abandoned if the number
of changes grows, and callers must check `settled`.

**Interior point.** The variables are fractions ``a = alpha / C`` of the boxes, so tiny boxes are
as easy as large ones. Margins are consistent with the coefficients from the start. Newton steps
make beta consistent, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from skeval._solvers.newton import Duals, ProblemRows

# Maximum number of interior-point steps of a problem.
_MAX_ITER = 120
# Maximum number of rounds of active sets, from an interior point and from guessed sets.
_ROUNDS_OF_POINT, _ROUNDS_OF_SETS = 8, 15
# Relative duality gaps at which active sets are tried. Most problems settle at the first two.
_GAPS = (1e-2, 1e-4, 1e-6, 1e-9, 1e-11, 1e-13)
# Tolerances of accepted solutions: of margins, and relative tolerances of the duality gap, the
# balance sum(y alpha) = 0 and the lag v - coef(y alpha).
_MARGIN, _GAP, _BALANCE, _LAG = 1e-6, 1e-8, 1e-9, 1e-6
# Rounding error of sums over samples. It is added to the tolerance of the lag, which is relative
# to v and so almost 0 if features and labels are unrelated.
_ERROR_OF_SUM = 1e-14


@dataclass
class BatchSolution(ProblemRows):
    """Solutions of B problems over n samples, or nan for problems that did not converge.

    decision, alpha (B, n): decision values of all samples, and dual variables. intercept (B,): for
    columns centered on all samples. converged (B,): also False if all training samples are of one
    class.
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

    def store(self, problems: np.ndarray, duals: Duals, solved: SetSolution) -> None:
        """Store the solutions that are optimal, for the given problems (b,)."""
        optimal = solved.settled & are_optimal(duals, solved)
        at = problems[optimal]
        self.decision[at] = duals.signs[optimal] * (solved.margin[optimal] + 1.0)
        self.alpha[at] = duals.box[optimal] * solved.fraction[optimal]
        self.intercept[at] = solved.intercept[optimal]
        self.converged[at] = True

    def in_units(self, unit: np.ndarray | float, box: np.ndarray) -> BatchSolution:
        """Return the solution for the original bounds `box`, without `unit`, eq. (8) of svm."""
        return replace(self, alpha=np.minimum(self.alpha / unit, box))


def find_solvable(signs: np.ndarray, box: np.ndarray) -> np.ndarray:
    """Return the indices of the problems with training samples of both classes."""
    trained, positive = box > 0, signs > 0
    return np.flatnonzero((trained & positive).any(axis=1) & (trained & ~positive).any(axis=1))


def unit_of(scale: np.ndarray | float) -> np.ndarray:
    """Return the smallest powers of 2 above mean kernel values ``K_ii``, eq. (8) of svm.

    Decision values depend only on C K. With K / unit and C unit, all quantities that the solvers
    compare with 1 are of order 1, and dividing by a power of 2 is exact. A scale of 0 has unit 1.
    """
    return np.ldexp(1.0, np.frexp(scale)[1])


def solve_from_values(duals: Duals, start: Start) -> SetSolution:
    """Solve problems from coefficients and intercepts."""
    point = start_point(duals, start)
    result = SetSolution.unsettled(duals)
    problems, max_iter = np.arange(len(duals.box)), _MAX_ITER
    for gap in _GAPS:
        # interior-point steps to the next duality gap
        max_iter -= interior_point(duals, point, tol=gap, max_iter=max_iter)
        # predict the sets, eq. (9) of svm
        low = point.fraction < room(duals.box, point.fraction) * point.surplus
        low, up = low | (duals.box == 0), point.rest < point.shortfall
        sets = ActiveSets(low, up, point.fraction, point.intercept)
        # free samples cannot exceed the rank, eq. (10) of svm, unless samples are repeated
        ready = np.count_nonzero(~(low | up), axis=1) <= duals.system.rank
        if gap == _GAPS[-1]:
            ready[:] = True
        if not ready.any():
            continue
        # exact solution by active sets, and the path goes on for the others
        part, guess = duals.take(ready), sets.take(ready)
        solved = active_set(part, guess, max_iter=_ROUNDS_OF_POINT, patience=2)
        result.put(problems[ready], solved)
        again = ~ready
        again[ready] = ~solved.settled
        if not again.any():
            return result
        problems, duals, point = problems[again], duals.take(again), point.take(again)
    result.put(problems, _end_of_path(duals, point))
    return result


def _end_of_path(duals: Duals, point: PathPoint) -> SetSolution:
    """Return the last points of the path as solutions. Callers must check `are_optimal`.

    If features and labels are unrelated, hundreds of samples may be within 1e-6 of their margins.
    Their sets are then undetermined, but do not affect the decision values.
    """
    a, v, b = point.fraction, point.coef, point.intercept
    # surplus - shortfall is not the margin of samples that are left out
    margin = duals.margins(v, b)
    any_free = np.any(strictly_free(duals.box, duals.box * a), axis=1)
    return SetSolution(a, v, b, margin, np.asarray(any_free))


def are_optimal(duals: Duals, solved: SetSolution) -> np.ndarray:
    """Return a mask (B,) of feasible and optimal solutions, eq. (13) of svm."""
    system, v, trained = duals.system, solved.coef, duals.box > 0
    alpha = duals.box * solved.fraction
    total = alpha.sum(axis=1)
    # reduce large boxes, because the rounding error of a margin times 1e20 is not a duality gap
    box = np.minimum(duals.box, 2.0 * alpha.max(axis=1, keepdims=True))  # eq. (11) of svm
    margin = duals.margins(v, solved.intercept)
    beta = duals.signs * alpha
    lag = system.squared_norm(v - system.coef(beta))
    norm = system.squared_norm(v)
    rounding = (_ERROR_OF_SUM * total) ** 2 * system.kernel_scale()
    # duality gap as a sum of terms that do not cancel, eq. (12) of svm
    excess = np.where(trained, np.maximum(margin, 0.0), 0.0)
    shortfall = np.where(trained, np.maximum(-margin, 0.0), 0.0)
    balance = np.abs(system.moments(beta)[:, -1])
    gap = 0.5 * lag + (alpha * excess + (box - alpha) * shortfall).sum(axis=1)
    gap += np.abs(solved.intercept) * balance
    # margins of the wrong sign
    above = alpha > STRICT * box
    below = alpha < (1.0 - STRICT) * box
    wrong = np.maximum(np.where(above, excess, 0.0), np.where(below, shortfall, 0.0))
    return (
        (alpha >= 0.0).all(axis=1)
        & (balance <= _BALANCE * total)
        & (lag <= _LAG**2 * norm + rounding)
        & (wrong.max(axis=1) <= _MARGIN)
        & (gap <= _GAP * (total - 0.5 * norm))
    )


def solve_from_sets(duals: Duals, sets: ActiveSets) -> SetSolution:
    """Solve problems from guessed sets.

    Problems whose sets do not converge are solved by the interior point.
    """
    result = active_set(duals, sets, max_iter=_ROUNDS_OF_SETS, patience=duals.box.shape[1])
    again = ~result.settled
    if again.any():
        part, count = duals.take(again), int(np.count_nonzero(again))
        start = Start(part.system.zeros(count), np.zeros(count), mu=1.0)
        result.put(again, solve_from_values(part, start))
    return result


# Samples within this fraction of their box from a bound count as at the bound.
STRICT = 1e-7
# Tolerance of margins, and of alpha relative to the smaller of its box and the largest alpha.
_SLACK = 1e-9
# Maximum number of multiplier steps, and the relative duality gap that ends them.
_MAX_STEPS, _MULTIPLIER_GAP = 3, 1e-8


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
    settled (B,): whether the sets are final.
    """

    fraction: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray
    margin: np.ndarray
    settled: np.ndarray

    @classmethod
    def unsettled(cls, duals: Duals) -> SetSolution:
        """Return solutions of 0, none of them settled."""
        B, n = duals.box.shape
        zeros, no = np.zeros((B, n)), np.zeros(B, dtype=bool)
        return cls(zeros, duals.system.zeros(B), np.zeros(B), zeros.copy(), no)


def active_set(duals: Duals, sets: ActiveSets, *, max_iter: int, patience: int) -> SetSolution:
    """Solve problems from guessed sets.

    A problem is abandoned when the number of samples that change sets grows by more than
    `patience` from one round to the next.
    """
    all_duals, result = duals, SetSolution.unsettled(duals)
    problems, last_count = np.arange(len(duals.box)), np.full(len(duals.box), duals.box.shape[1])
    # samples outside the training set stay at alpha = 0
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
    any_free = strictly_free(duals.box, duals.box * a).any(axis=1)
    problems = np.flatnonzero(result.settled & ~any_free)
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
    # coefficients, decision values, and residuals y - f of the free samples
    v, b = system.coef(beta), sets.intercept.copy()
    f = system.scores(v) + b[:, None]
    e = np.where(free, y - f, 0.0)
    for n_steps in range(1, _MAX_STEPS + 1):
        # step of eq. (1) of newton
        dv, db, df, d_beta = step_to(e, beta, v)
        beta = beta + d_beta
        v, b, f = v + dv, b + db, f + df
        e = np.where(free, y - f, 0.0)  # eq. (6) of active_set
        size = np.abs(beta).sum(axis=1)
        gap = np.einsum("bi,bi->b", C, np.abs(e))
        if (
            n_steps >= system.min_steps and (gap <= _MULTIPLIER_GAP * size).all()
        ):  # eq. (7) of active_set
            break
    a = np.divide(y * beta, C, out=np.zeros_like(beta), where=C > 0)
    # no step determines the intercept of a problem without free samples
    bound = np.flatnonzero(~free.any(axis=1))
    if len(bound):
        scores = f[bound] - b[bound, None]
        b[bound] = _midpoint_intercept(y[bound], C[bound], scores, sets.low[bound], sets.up[bound])
        f[bound] = scores + b[bound, None]
    # the equations must hold, eq. (9) of active_set
    balanced = np.abs(system.moments(beta)[:, -1]) <= _SLACK * size
    exact = np.abs(e).max(axis=1) <= _SLACK
    return SetSolution(a, v, b, y * f - 1.0, exact & balanced)


def _midpoint_intercept(
    y: np.ndarray, C: np.ndarray, scores: np.ndarray, low: np.ndarray, up: np.ndarray
) -> np.ndarray:
    """Return the midpoints (B,) of the intervals of optimal intercepts, as libsvm does.

    `scores` (B, n) are the decision values without intercept. No sample is free.
    """
    bound = y - scores
    below = (C > 0) & ((low & (y > 0)) | (up & (y < 0)))
    above = (C > 0) & ((low & (y < 0)) | (up & (y > 0)))
    # the interval and its midpoint, eqs. (11) and (12) of active_set
    lowest = np.where(below, bound, -np.inf).max(axis=1)
    highest = np.where(above, bound, np.inf).min(axis=1)
    bounded = np.isfinite(lowest) & np.isfinite(highest)
    return 0.5 * (np.where(bounded, lowest, 0.0) + np.where(bounded, highest, 0.0))


# Maximum length of a step, as a fraction of the distance to the nearest bound.
_TO_BOUNDARY = 0.9995


class Start(NamedTuple):
    """Starting coefficients (B, q), intercepts (B,) and mu, which is small for accurate ones."""

    coef: np.ndarray
    intercept: np.ndarray
    mu: float


@dataclass
class PathPoint(ProblemRows):
    """Iterates of B problems over n samples near the central path, eq. (1) of interior_point.

    fraction (B, n): a = alpha / C. rest (B, n): c = 1 - a. surplus, shortfall (B, n): s and x, with
    the margin s - x. coef (B, q), intercept (B,): v and b. residual (B,): remaining fraction of the
    initial residuals v - coef(beta) and sum(beta).
    """

    fraction: np.ndarray
    rest: np.ndarray
    surplus: np.ndarray
    shortfall: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray
    residual: np.ndarray


def start_point(duals: Duals, start: Start) -> PathPoint:
    """Return the points for starting coefficients and mu, eq. (2) of interior_point."""
    v, b, mu = start
    margin = duals.margins(v, b)
    # samples that are left out keep a = c = 1/2
    margin[duals.box == 0] = 0.0
    s = 0.5 * (margin + 2.0 * mu + np.sqrt(margin * margin + 4.0 * mu * mu))
    x = s - margin
    return PathPoint(mu / s, mu / x, s, x, v.copy(), b.copy(), np.ones(len(b)))


def interior_point(duals: Duals, point: PathPoint, *, tol: float, max_iter: int) -> int:
    """Advance `point` in place until its relative duality gap is at most `tol`.

    Return the number of steps. If a problem diverges, its point becomes nan.
    """
    total = duals.box.sum(axis=1)
    problems, at = np.arange(len(duals.box)), point
    for n_steps in range(max_iter):
        C = duals.box
        # duality gap, eq. (3) of interior_point, and dual objective
        gap = np.einsum("bi,bi->b", C, at.fraction * at.surplus + at.rest * at.shortfall)
        dual = np.einsum("bi,bi->b", C, at.fraction) - 0.5 * duals.system.squared_norm(at.coef)
        # remove converged problems from the block, eq. (4) of interior_point
        done = ~np.isfinite(gap) | ((gap <= tol * np.abs(dual)) & (at.residual <= tol))
        if done.any():
            point.put(problems[done], at.take(done))
            keep = ~done
            problems, at, duals = problems[keep], at.take(keep), duals.take(keep)
            gap, total = gap[keep], total[keep]
            if not len(problems):
                return n_steps
        at = _step(duals, at, gap, total)
    point.put(problems, at)
    return max_iter


def _step(duals: Duals, at: PathPoint, gap: np.ndarray, total: np.ndarray) -> PathPoint:
    """Take one predictor-corrector step, given the gaps (B,) and the sums of the boxes (B,)."""
    y, C = duals.signs, duals.box
    a, c, s, x = at.fraction, at.rest, at.surplus, at.shortfall
    beta = y * C * a
    # both steps share one factorization, eqs. (6) and (7) of interior_point
    H = a * c / (s * c + x * a)
    H[C == 0] = 0.0
    step_to = duals.system.factor(C * H)

    # predictor, eq. (8) of interior_point
    r = -(s - x)
    dm = y * step_to(y * r, beta, at.coef).df
    da = H * (r - dm)
    up, down = da / a, da / c
    tightest = np.maximum(1.0 + np.abs(up), 1.0 + np.abs(down)).max(axis=1)
    t = 1.0 / np.maximum(1.0, tightest)  # eq. (9) of interior_point
    # predicted gap and target mu, eqs. (10) and (11) of interior_point
    predicted = (1.0 - t) * gap + t * t * np.einsum("bi,bi->b", C, da * dm)
    mu = ((predicted / gap) ** 3 * gap / (2.0 * total))[:, None]

    # corrector, eq. (12) of interior_point
    r_s = mu / a + s * (up * (1.0 + up) - 1.0)
    r_x = mu / c - x * (down * (1.0 - down) + 1.0)
    r = r_s - r_x
    change = step_to(y * r, beta, at.coef)
    da = H * (r - y * change.df)
    up, down = da / a, da / c
    ds, dx = r_s - s * up, r_x + x * down  # eq. (5) of interior_point
    # longest step within the bounds, eq. (13) of interior_point
    blocking = np.minimum(np.minimum(up, -down), np.minimum(ds / s, dx / x)).min(axis=1)
    t = np.minimum(1.0, _TO_BOUNDARY / np.maximum(-blocking, 1e-300))
    step = t[:, None]
    return PathPoint(
        fraction=a + step * da,
        rest=c - step * da,
        surplus=s + step * ds,
        shortfall=x + step * dx,
        coef=at.coef + step * change.dv,
        intercept=at.intercept + t * change.db,
        residual=at.residual * (1.0 - t),  # eq. (14) of interior_point
    )
