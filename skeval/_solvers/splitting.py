"""Near the solutions of many SVM duals by operator splitting, with one factor for all of them.

The problems share a Gram matrix; labels and boxes differ. A step is one product with a matrix
that all problems have in common, and a clip into the boxes (alternating directions, Boyd et al.
2011, doi:10.1561/2200000016). Its end is not exact: it tells which samples are at which bound.
Numbers in parentheses are the equations of doc/derivations/splitting.rst.
"""

from dataclasses import dataclass

import numpy as np

from skeval._solvers.duals import ProblemRows

__all__ = ["SplitPoint", "Splitting"]

_RELAXED = 1.6  # over-relaxation, between 1 and 2
_LEVEL = 4.0  # penalties are powers of this number


@dataclass
class SplitPoint(ProblemRows):
    """Where B problems over n samples stand.

    beta (B, n): y alpha, in the boxes. push (B, n): at the end, (y - f) / penalty. low, high
    (B, n): the bounds of beta.
    """

    beta: np.ndarray
    push: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def between(self) -> np.ndarray:
        """Return which samples (B, n) are at neither bound."""
        return (self.beta > self.low) & (self.beta < self.high)


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
        ends = signs * box
        zeros = np.zeros(box.shape)
        return SplitPoint(zeros, zeros.copy(), np.minimum(ends, 0.0), np.maximum(ends, 0.0))

    def steps(self, point: SplitPoint, signs: np.ndarray, penalty: float, n_steps: int) -> float:
        """Move a point on, in place; return the penalty that suits it from there (6)."""
        step = self._map(penalty)
        for _ in range(n_steps):
            before = point.beta
            free = (signs + penalty * (before - point.push)) @ step  # (2)
            target = _RELAXED * free + (1.0 - _RELAXED) * before + point.push
            point.beta = np.clip(target, point.low, point.high)  # (3)
            point.push = target - point.beta
        primal = size_of(free - point.beta) * size_of(point.push)
        dual = size_of(point.beta - before) * size_of(point.beta)
        if primal > 0 and dual > 0:
            change = _nearest_level(np.sqrt(primal / dual))  # (6)
            point.push /= change
            penalty *= change
        return penalty

    def _map(self, penalty: float) -> np.ndarray:
        """Return the symmetric matrix of the first half of a step (1)."""
        if penalty not in self._maps:
            inverse = np.linalg.inv(self._K + penalty * np.eye(len(self._K)))  # (1)
            total = inverse.sum(axis=0)
            inverse -= np.outer(total, total / total.sum())
            self._maps[penalty] = inverse
        return self._maps[penalty]


def size_of(values: np.ndarray) -> float:
    """Return the root of the sum of squares."""
    return float(np.sqrt(np.vdot(values, values)))


def _nearest_level(penalty: float) -> float:
    """Return the power of `_LEVEL` that is nearest."""
    return float(_LEVEL ** np.round(np.log(penalty) / np.log(_LEVEL)))
