"""Batches of SVMs whose problems share a few Gram matrices.

Operator splitting on one matrix approaches all solutions. Active sets then solve each problem
exactly on its own matrix, which may differ slightly from that matrix.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skeval._solvers import optimum
from skeval._solvers.active_set import ActiveSets, SetSolution, active_set
from skeval._solvers.newton import Duals, GramSystem
from skeval._solvers.optimum import BatchSolution
from skeval._solvers.splitting import Splitting

# Maximum size of a (problems, samples) array and of a stack of Gram matrices, so that they fit in
# the cache.
_BLOCK = 2**15
_GRAM_BLOCK = 2**18
# Number of splitting steps between checks, and maximum number of steps.
_STEPS, _MAX_STEPS = 10, 320
# Active sets are tried when these steps leave at least this fraction of the free samples free.
_FALLING = 0.8
# Maximum number of active-set rounds.
_ROUNDS = 12
# A block of at least this many problems is abandoned if the first active sets settle less than this
# fraction of them, because libsvm is then faster.
_MANY, _WORTHWHILE = 8, 0.6
# Active sets omit samples with a margin above the first number. In a solution, the margins of these
# samples must be above minus the second.
_NEAR, _MARGIN = 0.3, 1e-6
# Average number of problems that must share a matrix, or each takes a copy of its own.
_SHARING = 4
# Eigenvalues above minus this multiple of the mean diagonal count as 0.
_INDEFINITE = 1e-9


@dataclass(frozen=True, eq=False)
class Kernels:
    """Gram matrices K (g, n, n) over n samples, and the index (B,) of the one of each problem."""

    K: np.ndarray
    which: np.ndarray

    def groups(self, problems: np.ndarray) -> list[np.ndarray]:
        """Return positions in `problems`: one array for each matrix, or one if few share any."""
        which = self.which[problems]
        numbers = np.unique(which)
        if _SHARING * len(numbers) > len(problems):
            return [np.arange(len(problems))]
        return [np.flatnonzero(which == number) for number in numbers]

    def of(self, problems: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the kernel values of some samples with all, (r, n) if shared, else (b, r, n)."""
        which = self.which[problems]
        if (which == which[0]).all():
            return self.K[which[0], rows]
        return self.K[which[:, None], rows]


def squared_distances(products: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return ``|x - z|^2`` (r, c) from products x'z and squares, eq. (2) of kernels."""
    distances = left[:, None] + right - 2.0 * products
    return np.maximum(distances, 0.0, out=distances)


class KernelSVMBatch:
    """SVMs on the samples `rows` (m,) of all n.

    near (m, m): a Gram matrix of these samples that is similar to the matrices of the problems.
    """

    @np.errstate(all="ignore")
    def __init__(self, near: np.ndarray, rows: np.ndarray) -> None:
        K, self._unit = standardize(near)
        self._rows, self._splitting = rows, Splitting(K)

    @np.errstate(all="ignore")  # problems that diverge end as nan, not converged
    def solve(
        self, kernels: Kernels, signs: np.ndarray, box: np.ndarray, n_samples: int
    ) -> BatchSolution:
        """Solve ``min 1/2 beta' K beta - y' beta, sum beta = 0, 0 <= y_i beta_i <= box_i``.

        `signs` (m,) or (B, m) of -1 and +1, `box` (B, m). Decision values are for all samples.
        A block of problems is abandoned if the first active sets settle too few of them.
        """
        signs = np.broadcast_to(signs, box.shape)
        solution = BatchSolution.empty(len(box), n_samples)
        problems = optimum.find_solvable(signs, box)
        alike = [problems[group] for group in kernels.groups(problems)]
        problems = np.concatenate([problems[:0], *alike])
        size = max(32, _BLOCK // len(self._rows))
        for start in range(0, len(problems), size):
            at = problems[start : start + size]
            block = _Block(kernels, self._rows, at, signs[at], box[at])
            self._solve_block(block, solution)
        return solution

    def _solve_block(self, block: _Block, solution: BatchSolution) -> None:
        """Try active sets when the number of free samples is stable, and after the last step."""
        box = self._unit * block.box
        point, penalty = self._splitting.start(block.signs, box), self._splitting.penalty(box)
        n_free, n_done, due = box.size, 0, 0
        while n_done < _MAX_STEPS:
            penalty = self._splitting.steps(point, penalty, _STEPS)
            n_done += _STEPS
            before, n_free = n_free, point.count_free()
            if (n_free < _FALLING * before or n_done < due) and n_done < _MAX_STEPS:
                continue
            first, due = due == 0, 2 * n_done
            block.finish(point.fraction, point.margin(penalty), solution)
            again = ~solution.converged[block.problems]
            if not again.any():
                return
            if first and len(again) >= _MANY and again.mean() > 1.0 - _WORTHWHILE:
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
        problems, signs, box = self.problems[which], self.signs[which], self.box[which]
        return replace(self, problems=problems, signs=signs, box=box)

    def take_rows(self, at: np.ndarray) -> _Block:
        """Return the problems on some of the samples."""
        return replace(self, rows=self.rows[at], signs=self.signs[:, at], box=self.box[:, at])

    def finish(self, fraction: np.ndarray, margin: np.ndarray, solution: BatchSolution) -> None:
        """Solve from the sets of the fractions alpha / C (b, m), and store the solutions."""
        widest = np.count_nonzero((fraction > 0) & (fraction < 1), axis=1).max()
        size = max(8, min(_BLOCK // len(self.rows), _GRAM_BLOCK // max(1, widest) ** 2))
        for group in self.kernels.groups(self.problems):
            for start in range(0, len(group), size):
                part = group[start : start + size]
                block = self.take(part)
                # possible support vectors, eq. (7) of splitting
                inside = (margin[part] < _NEAR) & (block.box > 0)
                near = np.flatnonzero(((fraction[part] > 0) | inside).any(axis=0))
                if not len(near):  # nan: the splitting diverges if a kernel value is infinite
                    continue
                inner = block.take_rows(near)
                solved, beta = inner._solve_sets(fraction[part][:, near])
                block._store(solved, beta, near, solution)

    def _solve_sets(self, fraction: np.ndarray) -> tuple[SetSolution, np.ndarray]:
        """Return solutions from the sets of alpha / C (b, r), and beta (b, r), 0 if unsettled."""
        K, unit = standardize(self.kernels.of(self.problems, self.rows)[..., self.rows])
        duals = Duals(GramSystem(K), self.signs, np.reshape(unit, (-1, 1)) * self.box)
        sets = ActiveSets(fraction <= 0, fraction >= 1, fraction, np.zeros(len(fraction)))
        solved = active_set(duals, sets, max_iter=_ROUNDS, patience=fraction.shape[1])
        solved.settled &= optimum.are_optimal(duals, solved)
        beta = self.signs * self.box * solved.fraction
        beta[~solved.settled] = 0.0
        return solved, beta

    def _store(
        self, solved: SetSolution, beta: np.ndarray, near: np.ndarray, solution: BatchSolution
    ) -> None:
        """Store the solutions that leave no other sample inside its margin."""
        support = beta.any(axis=0)
        K = self.kernels.of(self.problems, self.rows[near[support]])
        scores = np.matmul(beta[:, None, support], K)[:, 0]  # (b, n)
        inner = self.signs[:, near] * (solved.margin + 1.0)
        intercept = (inner - scores[:, self.rows[near]]).mean(axis=1)  # eq. (9) of splitting
        decision = scores + intercept[:, None]
        margin = self.signs * decision[:, self.rows] - 1.0
        margin[:, near] = 0.0
        # eq. (10) of splitting
        fine = solved.settled & ~((margin < -_MARGIN) & (self.box > 0)).any(axis=1)
        at = self.problems[fine]
        solution.decision[at] = decision[fine]
        alpha = np.zeros((len(at), solution.alpha.shape[1]))
        alpha[:, self.rows[near]] = np.abs(beta[fine])
        solution.alpha[at] = alpha
        solution.intercept[at] = intercept[fine]
        solution.converged[at] = True


def standardize(K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return centered Gram matrices over powers of 2, and these powers, eq. (8) of splitting."""
    K = K - K.mean(axis=-1, keepdims=True)
    K -= K.mean(axis=-2, keepdims=True)
    unit = optimum.unit_of(np.mean(np.diagonal(K, axis1=-2, axis2=-1), axis=-1))
    K /= unit[..., None, None]
    return K, unit


def is_positive(K: np.ndarray) -> bool:
    """Return whether a Gram matrix is positive semi-definite on vectors that sum to 0."""
    centered, _ = standardize(K)
    centered[np.diag_indices(len(K))] += _INDEFINITE
    try:
        np.linalg.cholesky(centered)
    except np.linalg.LinAlgError:
        return False
    return True
