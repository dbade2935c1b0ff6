"""Solutions of many SVM problems over the same samples, and the problems in blocks.

Boxes are in the units of eq. (8) of doc/derivations/svm.rst.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from skeval._solvers.active_set import SetSolution
from skeval._solvers.duals import Duals
from skeval._solvers.svm_solver import optimal

__all__ = ["BatchSolution", "divide", "find_solvable"]


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

    def put(self, problems: np.ndarray, duals: Duals, found: SetSolution) -> None:
        """Store those solutions that are optimal; `problems` (b,) are their places here."""
        fine = found.settled & optimal(duals, found)
        at = problems[fine]
        self.decision[at] = duals.signs[fine] * (found.margin[fine] + 1.0)
        self.alpha[at] = duals.box[fine] * found.fraction[fine]
        self.intercept[at] = found.intercept[fine]
        self.converged[at] = True

    def in_units(self, unit: np.ndarray | float, box: np.ndarray) -> BatchSolution:
        """Return the solution with alpha as it was before boxes were multiplied by `unit` (8)."""
        return replace(self, alpha=np.minimum(self.alpha / unit, box))


def find_solvable(signs: np.ndarray, box: np.ndarray) -> np.ndarray:
    """Return the numbers of the problems that train on both classes."""
    trained, positive = box > 0, signs > 0
    return np.flatnonzero((trained & positive).any(axis=1) & (trained & ~positive).any(axis=1))


def divide(problems: np.ndarray, size: int) -> Iterator[np.ndarray]:
    """Return problems in blocks."""
    return (problems[i : i + size] for i in range(0, len(problems), size))
