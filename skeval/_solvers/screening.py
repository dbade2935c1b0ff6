"""Leave out of many similar SVM problems the samples whose part is plain, and check afterwards.

Far outside of its margin a sample has alpha = 0, far inside alpha = C. Where a few pilot
problems agree that a sample is far from its margin, the other problems take that for granted and
are solved on the samples in between; each is then checked on all samples.
"""

from typing import NamedTuple

import numpy as np

from skeval._solvers.svm_solver import solve_from_values

__all__ = ["Strip", "screen"]

_DEVIATIONS = 4.0
_WORTHWHILE = 0.8


class Strip(NamedTuple):
    """The samples near their margins, and those taken to be at alpha = 0 or alpha = C."""

    inside: np.ndarray
    low: np.ndarray
    up: np.ndarray

    def admits(self, signs, box):
        """Return which problems can have ``sum y_i alpha_i = 0`` with the rest at its bounds."""
        fixed = (signs[:, self.up] * box[:, self.up]).sum(axis=1)
        y, C = signs[:, self.inside], box[:, self.inside]
        return (fixed < (C * (y < 0)).sum(axis=1)) & (-fixed < (C * (y > 0)).sum(axis=1))

    def solve(self, part, system, signs, box, v, b, *, mu, max_iter):
        """Solve on the strip (`part`, of `system`); `settled` only where every sample agrees."""
        bound = signs[:, self.up] * box[:, self.up]
        part = part.with_pull(system.ridge, bound @ system.Z[self.up])
        y, C = signs[:, self.inside], box[:, self.inside]
        found = solve_from_values(part, y, C, v, b, mu=mu, max_iter=max_iter)
        a = np.broadcast_to(self.up.astype(float), box.shape).copy()
        a[:, self.inside] = found.a
        margin = signs * (system.scores(found.v) + found.b[:, None]) - 1.0
        wrong = ((self.low & (margin < 0.0)) | (self.up & (margin > 0.0))) & (box > 0.0)
        # Without a free sample the intercept depends on samples that may lie outside the strip.
        settled = found.settled & found.any_free & ~wrong.any(axis=1)
        return found._replace(a=a, margin=margin, settled=settled)


def screen(margins: np.ndarray) -> Strip | None:
    """Return the strip that pilot margins (problems, samples) suggest, None if not worthwhile."""
    if len(margins) < 2:
        return None
    centre = margins.mean(axis=0)
    spread = _DEVIATIONS * margins.std(axis=0)
    low, up = centre - spread > 0.0, centre + spread < 0.0
    inside = np.flatnonzero(~(low | up))
    if not 0 < len(inside) <= _WORTHWHILE * margins.shape[1]:
        return None
    return Strip(inside, low, up)
