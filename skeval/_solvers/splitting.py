"""Near the solutions of many SVM duals by operator splitting, with one factor for all of them.

The problems share a Gram matrix; labels and boxes differ. A step is one product with a matrix
that all problems have in common, and a clip into the boxes (alternating directions, Boyd et al.
2011, doi:10.1561/2200000016). Its end is not exact: it tells which samples are at which bound.
Numbers in parentheses are the equations of doc/derivations/splitting.rst.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skeval._solvers.active_set import ActiveSets, SetSolution, active_set
from skeval._solvers.newton import Duals, ProblemRows

__all__ = ["SplitPoint", "Splitting", "solve_by_splitting"]

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
        """Return how many samples are at neither bound, in all problems."""
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

    Active sets finish what the splitting comes near to. What they do not is not `settled`.
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
