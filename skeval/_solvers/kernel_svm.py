"""Batches of SVMs whose problems share a few Gram matrices.

Operator splitting on one matrix approximates all solutions. A step consists of one product with a
matrix that all problems share, and a clip to the boxes (alternating directions, Boyd et al. 2011,
doi:10.1561/2200000016). Labels and boxes differ between the problems. The iterates are not exact,
but they reveal which samples are at a bound. From these sets, active sets solve each problem
exactly on its own matrix, which may differ slightly from the shared one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skeval._solvers import optimum
from skeval._solvers.newton import Duals, GramSystem, ProblemRows
from skeval._solvers.optimum import ActiveSets, BatchSolution, SetSolution, active_set

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
# Over-relaxation of the splitting, between 1 and 2.
_RELAXATION = 1.6
# Penalties are powers of this base, because each penalty requires a matrix inverse.
_BASE = 4.0


@dataclass(frozen=True, eq=False)
class Kernels:
    """Gram matrices K (g, n, n) over n samples, and the index (B,) of each problem's matrix."""

    K: np.ndarray
    which: np.ndarray

    def groups(self, problems: np.ndarray) -> list[np.ndarray]:
        """Return indices into `problems`, one array for each matrix."""
        which = self.which[problems]
        return [np.flatnonzero(which == number) for number in np.unique(which)]


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
        K, self._unit = standardize_kernel(near)
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
            self._solve_block(_Block(kernels, self._rows, at, signs[at], box[at]), solution)
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
            # wait until the number of free samples is stable, and longer after a failure
            if (n_free < _FALLING * before or n_done < due) and n_done < _MAX_STEPS:
                continue
            first, due = due == 0, 2 * n_done
            # exact solutions by active sets
            block.finish(point.fraction, point.margin(penalty), solution)
            again = ~solution.converged[block.problems]
            if not again.any():
                return
            # libsvm is faster if the first active sets settle few of many problems
            if first and len(again) >= _MANY and again.mean() > 1.0 - _WORTHWHILE:
                return
            # more steps for the unsolved problems
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

    @property
    def shared(self) -> np.ndarray:
        """Gram matrix (n, n) of problems that share one."""
        return self.kernels.K[self.kernels.which[self.problems[0]]]

    def take(self, which: np.ndarray) -> _Block:
        """Return some of the problems."""
        problems, signs, box = self.problems[which], self.signs[which], self.box[which]
        return replace(self, problems=problems, signs=signs, box=box)

    def finish(self, fraction: np.ndarray, margin: np.ndarray, solution: BatchSolution) -> None:
        """Solve from the sets of the fractions alpha / C (b, m), and store the solutions."""
        # block size, so that Gram matrices of the free samples fit the cache
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
                # active sets on the possible support vectors alone
                signs, box = block.signs[:, near], block.box[:, near]
                inner = replace(block, rows=block.rows[near], signs=signs, box=box)
                solved, beta = inner._solve_sets(fraction[part][:, near])
                block._store(solved, beta, near, solution)

    def _solve_sets(self, fraction: np.ndarray) -> tuple[SetSolution, np.ndarray]:
        """Return solutions from the sets of alpha / C (b, r), and beta (b, r), 0 if unsettled."""
        K, unit = standardize_kernel(self.shared[np.ix_(self.rows, self.rows)])
        duals = Duals(GramSystem(K), self.signs, unit * self.box)
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
        # decision values K beta of all samples, without intercept
        support = beta.any(axis=0)
        scores = beta[:, support] @ self.shared[self.rows[near[support]]]  # (b, n)
        inner = self.signs[:, near] * (solved.margin + 1.0)
        intercept = (inner - scores[:, self.rows[near]]).mean(axis=1)  # eq. (9) of splitting
        decision = scores + intercept[:, None]
        margin = self.signs * decision[:, self.rows] - 1.0
        # settled problems already satisfy the conditions of the near samples
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


def standardize_kernel(K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a centered Gram matrix over a power of 2, and this power, eq. (8) of splitting."""
    K = K - K.mean(axis=1, keepdims=True)
    K -= K.mean(axis=0)
    unit = optimum.unit_of(np.mean(np.diagonal(K)))
    return K / unit, unit


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
        """Return alpha / C (B, n). The bounds are 0 and 1."""
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
        return _nearest_power(1.0 / float(box.sum() / max(1, np.count_nonzero(box))))

    def start(self, signs: np.ndarray, box: np.ndarray) -> SplitPoint:
        """Return the starting point beta = 0."""
        ends = (signs * box).astype(np.float32)
        zeros = np.zeros_like(ends)
        low, high = np.minimum(ends, 0.0), np.maximum(ends, 0.0)
        return SplitPoint(zeros, zeros.copy(), low, high, signs.astype(np.float32))

    def steps(self, point: SplitPoint, penalty: float, n_steps: int) -> float:
        """Advance a point in place, and return the penalty of the next steps."""
        # matrix of eq. (1) of splitting, the same for all problems
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
