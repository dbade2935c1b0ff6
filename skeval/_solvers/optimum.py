"""Solve a block of SVM duals exactly, and judge and keep what is a solution.

The interior point comes near, the active sets are exact; every solution, wherever it comes from,
is judged by its optimality conditions alone. Boxes are in the units of (8).
Numbers in parentheses are the equations of doc/derivations/svm.rst.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skeval._solvers.active_set import ActiveSets, SetSolution, active_set, room, strictly_free
from skeval._solvers.interior_point import PathPoint, Start, interior_point, start_point
from skeval._solvers.newton import Duals

__all__ = [
    "BatchSolution",
    "find_solvable",
    "optimal",
    "solve_from_sets",
    "solve_from_values",
    "unit_of",
]

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
