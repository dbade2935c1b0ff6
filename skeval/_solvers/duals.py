"""What the solvers work on: a block of SVM duals, and arrays with a row for each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from skeval._solvers.newton import FeatureSystem, NewtonSystem

__all__ = ["Duals", "FeatureDuals", "ProblemRows"]


@dataclass(frozen=True)
class Duals:
    """B dual problems over n samples, eq. (1) of doc/derivations/svm.rst.

    system: their kernel. signs (B, n): the labels y, -1 or +1. box (B, n): the bounds C of alpha.
    """

    system: NewtonSystem
    signs: np.ndarray
    box: np.ndarray

    def take(self, problems: np.ndarray) -> Duals:
        """Return some of the problems."""
        if problems.dtype == bool and problems.all():
            return self
        return Duals(self.system.take(problems), self.signs[problems], self.box[problems])

    def margins(self, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
        """Return ``y f - 1`` (B, n) of coefficients (B, q) and intercepts (B,), eq. (2) there."""
        return self.signs * (self.system.scores(coef) + intercept[:, None]) - 1.0


@dataclass(frozen=True)
class FeatureDuals(Duals):
    """The same in feature space."""

    system: FeatureSystem


class ProblemRows:
    """A dataclass of arrays, each of which has one row for each problem."""

    def take(self, problems: np.ndarray) -> Self:
        """Return the rows of some problems, as copies."""
        return type(self)(*(rows[problems] for rows in vars(self).values()))

    def put(self, problems: np.ndarray, other: Self) -> None:
        """Write the rows of another object into those of these problems."""
        for name, rows in vars(self).items():
            rows[problems] = getattr(other, name)
