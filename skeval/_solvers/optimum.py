"""Exact optima of a block of SVM duals, and the conditions for accepting a solution.

The interior-point method approaches the optimum, and active sets solve it exactly. A solution of
any method is accepted if it satisfies the optimality conditions. Boxes are in the units of eq. (8)
of svm.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skeval._solvers.active_set import (
    STRICT,
    ActiveSets,
    SetSolution,
    active_set,
    room,
    strictly_free,
)
from skeval._solvers.interior_point import PathPoint, Start, interior_point, start_point
from skeval._solvers.newton import Duals

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
_ROUNDING = 1e-14


@dataclass
class BatchSolution:
    """Solutions of B problems over n samples; nan for problems that did not converge.

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

    def put(self, problems: np.ndarray, duals: Duals, solved: SetSolution) -> None:
        """Store the solutions of some problems (b,) that are optimal."""
        optimal = solved.settled & are_optimal(duals, solved)
        at = problems[optimal]
        self.decision[at] = duals.signs[optimal] * (solved.margin[optimal] + 1.0)
        self.alpha[at] = duals.box[optimal] * solved.fraction[optimal]
        self.intercept[at] = solved.intercept[optimal]
        self.converged[at] = True

    def in_units(self, unit: np.ndarray | float, box: np.ndarray) -> BatchSolution:
        """Return the solution for the original bounds `box`, without `unit`; eq. (8) of svm."""
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
    """Return the last points of the path as solutions; callers must check `are_optimal`.

    If features and labels are unrelated, hundreds of samples may be within 1e-6 of their margins.
    Their sets are then undetermined, but do not affect the decision values.
    """
    a, v, b = point.fraction, point.coef, point.intercept
    # surplus - shortfall is not the margin of samples that are left out
    margin = duals.margins(v, b)
    any_free = np.any(strictly_free(duals.box, duals.box * a), axis=1)
    return SetSolution(a, v, b, margin, any_free, any_free.copy())


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
    rounding = (_ROUNDING * total) ** 2 * system.kernel_scale()
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
    """Solve problems from guessed sets, and those that do not settle by the interior point."""
    result = active_set(duals, sets, max_iter=_ROUNDS_OF_SETS, patience=duals.box.shape[1])
    again = ~result.settled
    if again.any():
        part, count = duals.take(again), int(np.count_nonzero(again))
        start = Start(part.system.zeros(count), np.zeros(count), mu=1.0)
        result.put(again, solve_from_values(part, start))
    return result
