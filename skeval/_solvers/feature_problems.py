"""Many SVM problems on few features, each solved from a start that is near.

They start from where operator splitting comes to rest, eq. (2) of doc/derivations/splitting.rst,
from their mean problem, or on the strip of eq. (1) of doc/derivations/screening.rst.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from skeval._solvers.active_set import SetSolution
from skeval._solvers.batch_solution import BatchSolution, divide, find_solvable
from skeval._solvers.duals import Duals, FeatureDuals
from skeval._solvers.interior_point import Start
from skeval._solvers.newton import FeatureSystem
from skeval._solvers.screening import Strip, screen
from skeval._solvers.split_start import solve_by_splitting
from skeval._solvers.splitting import Splitting
from skeval._solvers.svm_solver import solve_from_values

__all__ = ["FEW_SAMPLES", "FeatureProblems"]

_N_PILOTS = 24
# Samples up to which a step of the splitting costs little, and the share of the pilots that it has
# to settle to be worth it for the others.
FEW_SAMPLES, _WORTHWHILE = 256, 0.6
# How far off, in margins, a start is: nothing known, the solution of the mean problem, or farther
# from every bound than is likely, which frees what got stuck at one.
_COLD, _WARM, _FAR = 1.0, 0.3, 10.0


def _spread_pilots(problems: np.ndarray) -> np.ndarray:
    """Return a few problems that stand for all."""
    return problems[np.linspace(0, len(problems) - 1, _N_PILOTS).astype(int)]


class FeatureProblems:
    """Problems on few features: from their mean problem and on a strip, where labels are equal."""

    def __init__(
        self,
        system_of: Callable[[np.ndarray], FeatureSystem],
        signs: np.ndarray,
        box: np.ndarray,
        max_iter: int,
        size: int,
    ) -> None:
        self.system_of, self.max_iter = system_of, max_iter
        self.same_labels = signs.ndim == 1
        self.signs, self.box = np.broadcast_to(signs, box.shape), box
        self.size = max(8, size)
        self.solution = BatchSolution.empty(*box.shape)

    def try_splitting(self, splitting: Splitting) -> None:
        """Solve what a few steps of the splitting settle, if they settle most of the pilots."""
        left = find_solvable(self.signs, self.box)
        if len(left) < 4 * _N_PILOTS:
            return
        pilots = _spread_pilots(left)
        for problems, n_attempts in (pilots, 1), (left, 2):
            for at in divide(self._unsolved(problems), self.size):
                duals = FeatureDuals(self.system_of(at), self.signs[at], self.box[at])
                self.solution.put(at, duals, solve_by_splitting(splitting, duals, n_attempts))
            if np.mean(self.solution.converged[pilots]) < _WORTHWHILE:
                return

    def solve_all(self) -> BatchSolution:
        """Solve what is not solved yet."""
        left = self._unsolved(find_solvable(self.signs, self.box))
        if not len(left):
            return self.solution
        zeros, strip = self.system_of(left[:1]).zeros(1), None
        start = Start(zeros, np.zeros(1), _COLD)
        if self.same_labels and len(left) >= _N_PILOTS:
            start = self._mean_start(left, start)
        if self.same_labels and len(left) >= 4 * _N_PILOTS:
            strip = self._pilot_strip(left, start)
        if strip is not None:
            left = self._unsolved(left)
            near = left[strip.admits(self.signs[left], self.box[left])]
            part = self.system_of(left[:1]).take_samples(strip.inside)
            self._solve(near, start, partial(strip.solve, part), 2 * self.size)
        self._solve(self._unsolved(left), start, solve_from_values, self.size)
        far = Start(zeros, np.zeros(1), _FAR)
        self._solve(self._unsolved(left), far, solve_from_values, self.size)
        return self.solution

    def _unsolved(self, problems: np.ndarray) -> np.ndarray:
        return problems[~self.solution.converged[problems]]

    def _solve(
        self, problems: np.ndarray, start: Start, solver: Callable[..., SetSolution], size: int
    ) -> None:
        """Solve in blocks, all from the same start of one row."""
        for at in divide(problems, size):
            duals = FeatureDuals(self.system_of(at), self.signs[at], self.box[at])
            coef = np.repeat(start.coef, len(at), axis=0)
            begin = Start(coef, np.repeat(start.intercept, len(at)), start.mu)
            self.solution.put(at, duals, solver(duals, begin, max_iter=self.max_iter))

    def _mean_start(self, problems: np.ndarray, start: Start) -> Start:
        mean = self.box[problems].mean(axis=0)[None]
        duals = Duals(self.system_of(problems[:1]), self.signs[:1], mean)
        found = solve_from_values(duals, start, max_iter=self.max_iter)
        return Start(found.coef, found.intercept, _WARM) if found.settled[0] else start

    def _pilot_strip(self, problems: np.ndarray, start: Start) -> Strip | None:
        pilots = _spread_pilots(problems)
        self._solve(pilots, start, solve_from_values, self.size)
        done = pilots[self.solution.converged[pilots]]
        return screen(self.signs[done] * self.solution.decision[done] - 1.0)
