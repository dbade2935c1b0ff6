"""Many two-class SVMs on Gram matrices that they share, or nearly share.

Splitting comes near the solutions, active sets finish exactly. Arrays in, arrays out.
Numbers in parentheses are the equations of doc/derivations/splitting.rst.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skeval._solvers.active_set import ActiveSets, SetSolution, active_set
from skeval._solvers.batch_solution import BatchSolution
from skeval._solvers.duals import Duals
from skeval._solvers.kernels import Kernels
from skeval._solvers.newton import GramSystem
from skeval._solvers.splitting import Splitting
from skeval._solvers.svm import unit_of
from skeval._solvers.svm_solver import optimal

__all__ = ["KernelSVMBatch", "is_positive"]

# Numbers in one (problems, samples) array, and in one stack of Gram matrices: what is touched in
# one round should stay in the cache.
_BLOCK = 2**15
_GRAM_BLOCK = 2**18
_STEPS, _MOST_STEPS = 10, 320  # of the splitting, before each look at it and in all
_FALLING = 0.8  # while the free samples become fewer like this, it is too early to finish
_ROUNDS = 12  # of the active sets in one attempt
_NEAR = 0.3  # samples farther outside their margin than this are left out of an attempt (7)
_INDEFINITE = 1e-9  # how far an eigenvalue may lie below 0, in units of the mean diagonal
_MARGIN = 1e-6  # what they may be found inside of it in the end


class KernelSVMBatch:
    """SVMs trained on some samples, `rows` (m,) of all n, under kernels like the one given.

    near (m, m): a Gram matrix of the rows that is near those of the problems.
    """

    @np.errstate(all="ignore")
    def __init__(self, near: np.ndarray, rows: np.ndarray) -> None:
        K, self._unit = standardise(near)
        self._rows, self._splitting = rows, Splitting(K)

    @np.errstate(all="ignore")  # a problem that diverges ends as nan, unconverged
    def solve(
        self, kernels: Kernels, signs: np.ndarray, box: np.ndarray, n_samples: int
    ) -> BatchSolution:
        """Solve ``min 1/2 beta' K beta - y' beta, sum beta = 0, 0 <= y_i beta_i <= box_i``.

        `signs` (m,) or (B, m) of -1 and +1, `box` (B, m). The decisions are those of all samples.
        """
        signs = np.broadcast_to(signs, box.shape)
        solution = BatchSolution.empty(len(box), n_samples)
        trained, positive = box > 0, signs > 0
        both = (trained & positive).any(axis=1) & (trained & ~positive).any(axis=1)
        problems = np.flatnonzero(both)
        alike = [problems[group] for group in kernels.groups(problems)]
        problems = np.concatenate([problems[:0], *alike])
        size = max(32, _BLOCK // len(self._rows))
        for start in range(0, len(problems), size):
            at = problems[start : start + size]
            self._solve_block(_Block(kernels, self._rows, at, signs[at], box[at]), solution)
        return solution

    def _solve_block(self, block: _Block, solution: BatchSolution) -> None:
        """Try to finish wherever the splitting has come to rest, and at the latest at its end."""
        box = self._unit * block.box
        point, penalty = self._splitting.start(block.signs, box), self._splitting.penalty(box)
        n_free, n_done, due = box.size, 0, 0
        while n_done < _MOST_STEPS:
            penalty = self._splitting.steps(point, penalty, _STEPS)
            n_done += _STEPS
            before, n_free = n_free, point.count_free()
            if (n_free < _FALLING * before or n_done < due) and n_done < _MOST_STEPS:
                continue
            due = 2 * n_done
            block.finish(point.fraction, point.margin(penalty), solution)
            again = ~solution.converged[block.problems]
            if not again.any():
                return
            block, point = block.take(again), point.take(again)
            n_free = point.count_free()


@dataclass(frozen=True)
class _Block:
    """Some problems (b,) on the samples `rows` (m,): signs and box (b, m)."""

    kernels: Kernels
    rows: np.ndarray
    problems: np.ndarray
    signs: np.ndarray
    box: np.ndarray

    def take(self, which: np.ndarray) -> _Block:
        """Return some of the problems."""
        rest = self.problems[which], self.signs[which], self.box[which]
        return _Block(self.kernels, self.rows, *rest)

    def take_rows(self, at: np.ndarray) -> _Block:
        """Return the problems on some of the samples."""
        rest = self.signs[:, at], self.box[:, at]
        return _Block(self.kernels, self.rows[at], self.problems, *rest)

    def finish(self, fraction: np.ndarray, margin: np.ndarray, solution: BatchSolution) -> None:
        """Solve from the sets that alpha / C (b, m) tells, and store what is a solution."""
        widest = np.count_nonzero((fraction > 0) & (fraction < 1), axis=1).max()
        size = max(8, min(_BLOCK // len(self.rows), _GRAM_BLOCK // max(1, widest) ** 2))
        for group in self.kernels.groups(self.problems):
            for start in range(0, len(group), size):
                part = group[start : start + size]
                block = self.take(part)
                near = block._find_near(fraction[part], margin[part])
                if not len(near):  # the splitting has diverged: the kernel is not a positive one
                    continue
                inner = block.take_rows(near)
                found, beta = inner._solve_sets(fraction[part][:, near])
                block._store(found, beta, near, solution)

    def _find_near(self, fraction: np.ndarray, margin: np.ndarray) -> np.ndarray:
        """Return the places (r,) in `rows` of the samples that may be support vectors (7)."""
        near = (fraction > 0) | ((margin < _NEAR) & (self.box > 0))
        return np.flatnonzero(near.any(axis=0))

    def _solve_sets(self, fraction: np.ndarray) -> tuple[SetSolution, np.ndarray]:
        """Return solutions from the sets of alpha / C (b, r), and beta (b, r), 0 if unsettled."""
        K, unit = standardise(self.kernels.stack(self.problems, self.rows))
        unit = np.reshape(unit, (-1, 1))
        duals = Duals(GramSystem(K), self.signs, unit * self.box)
        sets = ActiveSets(fraction <= 0, fraction >= 1, fraction, np.zeros(len(fraction)))
        found = active_set(duals, sets, max_iter=_ROUNDS, patience=fraction.shape[1])
        found.settled &= optimal(duals, found)
        beta = self.signs * self.box * found.fraction
        beta[~found.settled] = 0.0
        return found, beta

    def _store(
        self, found: SetSolution, beta: np.ndarray, near: np.ndarray, solution: BatchSolution
    ) -> None:
        """Store the solutions that leave no other sample inside its margin."""
        scores = self._scores(self.rows[near], beta)  # (b, n)
        inner = self.signs[:, near] * (found.margin + 1.0)
        intercept = (inner - scores[:, self.rows[near]]).mean(axis=1)  # (9)
        decision = scores + intercept[:, None]
        margin = self.signs * decision[:, self.rows] - 1.0
        margin[:, near] = 0.0
        fine = found.settled & ~((margin < -_MARGIN) & (self.box > 0)).any(axis=1)  # (10)
        at = self.problems[fine]
        solution.decision[at] = decision[fine]
        alpha = np.zeros((len(at), solution.alpha.shape[1]))
        alpha[:, self.rows[near]] = np.abs(beta[fine])
        solution.alpha[at] = alpha
        solution.intercept[at] = intercept[fine]
        solution.converged[at] = True

    def _scores(self, rows: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Return the decision values (b, n) of all samples without intercept."""
        if self.kernels.stack(self.problems, rows[:1]).ndim == 2:
            support = beta.any(axis=0)
            return beta[:, support] @ self.kernels.cross(self.problems[0], rows[support])
        scores = []
        for problem, one in zip(self.problems, beta, strict=True):
            support = one != 0
            scores.append(one[support] @ self.kernels.cross(problem, rows[support]))
        return np.stack(scores)


def standardise(K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return Gram matrices centred and divided by powers of two, and these (8)."""
    K = K - K.mean(axis=-1, keepdims=True)  # (8)
    K -= K.mean(axis=-2, keepdims=True)
    unit = unit_of(np.mean(np.diagonal(K, axis1=-2, axis2=-1), axis=-1))
    K /= unit[..., None, None]
    return K, unit


def is_positive(K: np.ndarray) -> bool:
    """Whether a Gram matrix is positive semi-definite on vectors that sum to 0."""
    centred, _ = standardise(K)
    centred[np.diag_indices(len(K))] += _INDEFINITE
    try:
        np.linalg.cholesky(centred)
    except np.linalg.LinAlgError:
        return False
    return True
