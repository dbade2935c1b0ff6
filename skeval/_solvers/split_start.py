"""Solve SVM duals on few samples from the sets that operator splitting comes to rest at.

Numbers in parentheses are the equations of doc/derivations/splitting.rst.
"""

from __future__ import annotations

import numpy as np

from skeval._solvers.active_set import ActiveSets, SetSolution, active_set
from skeval._solvers.duals import Duals
from skeval._solvers.splitting import Splitting

__all__ = ["solve_by_splitting"]

_STEPS = 60  # of the splitting before each attempt to finish
_ADAPTED = 10  # steps with the same penalty
_ROUNDS, _PATIENCE = 8, 2  # of the active sets in one attempt


def solve_by_splitting(splitting: Splitting, duals: Duals, n_attempts: int) -> SetSolution:
    """Solve duals that share the Gram matrix of the splitting, as far as that takes few steps.

    The others are not `settled`.
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
        found = active_set(
            duals.take(ready), sets.take(ready), max_iter=_ROUNDS, patience=_PATIENCE
        )
        result.put(left[ready], found)
        again = np.ones(len(left), dtype=bool)
        again[ready] = ~found.settled
        if not again.any():
            break
        left, duals, point = left[again], duals.take(again), point.take(again)
    return result
