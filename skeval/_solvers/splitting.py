"""Operator splitting for SVM duals that share a Gram matrix: cheap steps toward all optima.

Labels and boxes differ between the problems. A step is one product with a matrix that all problems
share, and a clip to the boxes (alternating directions, Boyd et al. 2011, doi:10.1561/2200000016).
The iterates are not exact, but they show which samples are at a bound, and `active_set` continues
with these sets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skeval._solvers.newton import ProblemRows

# Over-relaxation, between 1 and 2.
_RELAXATION = 1.6
# Penalties are powers of this base, because each penalty requires a matrix inverse.
_BASE = 4.0


@dataclass
class SplitPoint(ProblemRows):
    """Iterates of B problems over n samples, in single precision.

    beta (B, n): y alpha, within the boxes. scaled_dual (B, n): (y - f) / penalty at the end. low,
    high (B, n): bounds of beta. signs (B, n): the labels y.
    """

    beta: np.ndarray
    scaled_dual: np.ndarray
    low: np.ndarray
    high: np.ndarray
    signs: np.ndarray

    @property
    def fraction(self) -> np.ndarray:
        """Return alpha / C (B, n); the bounds are 0 and 1."""
        width = self.high - self.low
        return np.divide(np.abs(self.beta), width, out=np.zeros(width.shape), where=width > 0)

    def margin(self, penalty: float) -> np.ndarray:
        """Return approximate margins ``y f - 1`` (B, n), eq. (4) of splitting."""
        return np.asarray(-penalty * self.signs * self.scaled_dual, dtype=float)

    def count_free(self) -> int:
        """Return the total number of dual variables strictly between their bounds."""
        return int(np.count_nonzero((self.beta > self.low) & (self.beta < self.high)))


class Splitting:
    """Steps on one Gram matrix K (n, n) with a diagonal of about 1."""

    def __init__(self, K: np.ndarray) -> None:
        self._K = K
        self._maps: dict[float, np.ndarray] = {}

    def penalty(self, box: np.ndarray) -> float:
        """Return the initial penalty for boxes (B, n), eq. (5) of splitting."""
        mean = float(box.sum() / max(1, np.count_nonzero(box)))
        return _nearest_power(1.0 / mean)

    def start(self, signs: np.ndarray, box: np.ndarray) -> SplitPoint:
        """Return the starting point beta = 0."""
        ends = (signs * box).astype(np.float32)
        zeros = np.zeros_like(ends)
        low, high = np.minimum(ends, 0.0), np.maximum(ends, 0.0)
        return SplitPoint(zeros, zeros.copy(), low, high, signs.astype(np.float32))

    def steps(self, point: SplitPoint, penalty: float, n_steps: int) -> float:
        """Advance a point in place; return the penalty of the next steps."""
        step = self._map(penalty)
        for _ in range(n_steps):
            last = point.beta
            right = last - point.scaled_dual
            right *= np.float32(penalty)
            right += point.signs
            unbounded = right @ step  # eq. (2) of splitting
            # over-relaxed clip, eq. (3) of splitting
            target = unbounded * np.float32(_RELAXATION)
            target += np.float32(1.0 - _RELAXATION) * last
            target += point.scaled_dual
            point.beta = np.minimum(np.maximum(target, point.low), point.high)
            point.scaled_dual = target - point.beta
        # balance primal and dual residuals, eq. (6) of splitting
        primal = _norm(unbounded - point.beta) * _norm(point.scaled_dual)
        dual = _norm(point.beta - last) * _norm(point.beta)
        if primal > 0 and dual > 0:
            change = _nearest_power(np.sqrt(primal / dual))
            point.scaled_dual /= np.float32(change)
            penalty *= change
        return penalty

    def _map(self, penalty: float) -> np.ndarray:
        """Return the symmetric matrix of a step, eq. (1) of splitting."""
        if penalty not in self._maps:
            inverse = np.linalg.inv(self._K + penalty * np.eye(len(self._K)))
            total = inverse.sum(axis=0)
            inverse -= np.outer(total, total / total.sum())
            self._maps[penalty] = inverse.astype(np.float32)
        return self._maps[penalty]


def _norm(values: np.ndarray) -> float:
    """Return the Euclidean norm of all elements."""
    return float(np.sqrt(np.vdot(values, values)))


def _nearest_power(penalty: float) -> float:
    """Return the nearest power of `_BASE`."""
    return float(_BASE ** np.round(np.log(penalty) / np.log(_BASE)))
