"""Leave out of many similar SVM problems the samples whose part is plain, and check afterwards.

Far outside of its margin a sample has alpha = 0, far inside alpha = C. Where a few pilot
problems agree that a sample is far from its margin, the other problems take that for granted and
are solved on the samples in between; each is then checked on all samples.
Numbers in parentheses are the equations of doc/derivations/screening.rst.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skeval._solvers.active_set import SetSolution
from skeval._solvers.duals import Duals, FeatureDuals
from skeval._solvers.interior_point import Start
from skeval._solvers.newton import FeatureSystem
from skeval._solvers.svm_solver import solve_from_values

__all__ = ["Strip", "screen"]

_DEVIATIONS = 4.0
_WORTHWHILE = 0.8


@dataclass(frozen=True)
class Strip:
    """The samples near their margins, and those taken to be at alpha = 0 or alpha = C.

    inside (m,): the numbers of the first. low, up (n,): which are the others.
    """

    inside: np.ndarray
    low: np.ndarray
    up: np.ndarray

    def admits(self, signs: np.ndarray, box: np.ndarray) -> np.ndarray:
        """Return which problems (B,) can be balanced with the other samples at their bounds."""
        fixed = (signs[:, self.up] * box[:, self.up]).sum(axis=1)
        y, C = signs[:, self.inside], box[:, self.inside]
        return (fixed < (C * (y < 0)).sum(axis=1)) & (-fixed < (C * (y > 0)).sum(axis=1))  # (4)

    def solve(
        self, part: FeatureSystem, duals: FeatureDuals, start: Start, *, max_iter: int
    ) -> SetSolution:
        """Solve on the strip (`part`, of the system); `settled` only where every sample agrees."""
        whole = duals.system
        signs, box = duals.signs, duals.box
        bound = signs[:, self.up] * box[:, self.up]
        system = part.with_ridge(whole.ridge, bound @ whole.Z[self.up])  # (2)
        inner = Duals(system, signs[:, self.inside], box[:, self.inside])
        found = solve_from_values(inner, start, max_iter=max_iter)  # (3)
        a = np.broadcast_to(self.up.astype(float), box.shape).copy()
        a[:, self.inside] = found.fraction
        margin = duals.margins(found.coef, found.intercept)
        wrong = ((self.low & (margin < 0.0)) | (self.up & (margin > 0.0))) & (box > 0.0)  # (5)
        # Without a free sample the intercept depends on samples that may lie outside the strip.
        settled = found.settled & found.any_free & ~wrong.any(axis=1)
        return replace(found, fraction=a, margin=margin, settled=settled)


def screen(margins: np.ndarray) -> Strip | None:
    """Return the strip that pilot margins (problems, samples) suggest, None if not worthwhile."""
    if len(margins) < 2:
        return None
    centre = margins.mean(axis=0)
    spread = _DEVIATIONS * margins.std(axis=0)
    low, up = centre - spread > 0.0, centre + spread < 0.0  # (1)
    inside = np.flatnonzero(~(low | up))
    if not 0 < len(inside) <= _WORTHWHILE * margins.shape[1]:
        return None
    return Strip(inside, low, up)
