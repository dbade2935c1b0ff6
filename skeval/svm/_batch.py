"""Many linear two-class SVMs over the same samples, solved together.

The problems differ in their boxes ``0 <= alpha_i <= C_i`` (a box of 0 leaves the sample out, an
integer multiple repeats it, a random factor perturbs it), in their labels, or in the scales of
the columns. Arrays in, arrays out: what a result means is the caller's business.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from skeval.svm._newton import FeatureSystem, GramSystem
from skeval.svm._scales import ColumnScales
from skeval.svm._screening import screen
from skeval.svm._solver import solve_from_sets, solve_from_values
from skeval.svm._tolerance import GramColumns

__all__ = ["BatchSolution", "LinearSVMBatch", "solve_gram_svms"]

# Numbers in one (problems, samples) array, and in one stack of Gram matrices, of a block of
# problems: what the solvers touch in one round should stay in the cache.
_BLOCK = 2**15
_GRAM_BLOCK = 2**18
_N_PILOTS = 24
# How far off, in margins, a start is: nothing known, or the solution of the mean problem.
_COLD, _WARM = 1.0, 0.3


class BatchSolution(NamedTuple):
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
    def empty(cls, n_problems, n_samples):
        return cls(
            np.full((n_problems, n_samples), np.nan),
            np.full((n_problems, n_samples), np.nan),
            np.full(n_problems, np.nan),
            np.zeros(n_problems, dtype=bool),
        )

    def put(self, problems, signs, box, found):
        """Store the settled ones of an `ActiveSet`; `problems` are their places here."""
        fine = found.settled
        at = problems[fine]
        self.decision[at] = signs[fine] * (found.margin[fine] + 1.0)
        self.alpha[at] = box[fine] * found.a[fine]
        self.intercept[at] = found.b[fine]
        self.converged[at] = True


class LinearSVMBatch:
    """Linear SVMs on the rows of X (n, p), which is prepared once.

    Where ``3 p < 2 n`` nothing of size n x n is formed; elsewhere the Gram matrix, at most twice
    the size of X, is the faster way.
    """

    def __init__(self, X: np.ndarray) -> None:
        self._columns = ColumnScales(X)
        n, p = self._columns.standard.shape
        ridge = self._columns.ridge()
        self._system: FeatureSystem | GramSystem
        if 3 * p < 2 * n:
            self._system = FeatureSystem(self._columns.standard, ridge)
        else:
            self._system = GramSystem(self._columns.gram(ridge))

    def solve(
        self,
        signs: np.ndarray,
        box: np.ndarray,
        *,
        scale_weights: np.ndarray | None = None,
        max_iter: int = 60,
    ) -> BatchSolution:
        """Solve ``min 1/2 beta' K beta - y' beta, sum beta = 0, 0 <= y_i beta_i <= box_i``.

        `signs` (n,) or (B, n) of -1 and +1, `box` (B, n). Given `scale_weights` (B, n), problem
        ``b`` sees the columns as a StandardScaler fitted with these sample weights leaves them.
        """

        def system_of(problems):
            if scale_weights is None:
                return self._system
            ridge = self._columns.ridge(scale_weights[problems])
            if isinstance(self._system, FeatureSystem):
                return self._system.with_ridge(ridge)
            return GramSystem(self._columns.gram(ridge))

        if isinstance(self._system, FeatureSystem):
            return _FeatureProblems(system_of, signs, box, max_iter).solve_all()
        return _solve_grams(system_of, scale_weights is None, signs, box, max_iter)

    def columns(self, scale_weights: np.ndarray | None = None) -> GramColumns:
        """Return what gives columns of the problems' Gram matrices, centred on all samples."""
        if scale_weights is None:
            return lambda at, rows: self._columns.columns(self._columns.ridge()[None], rows)
        ridge = self._columns.ridge(scale_weights)
        return lambda at, rows: self._columns.columns(ridge[at], rows)

    def norms(self, scale_weights: np.ndarray | None = None) -> np.ndarray:
        """Return the norms (B, n) or (1, n) of the samples as the problems see them."""
        return self._columns.norms(scale_weights)


def solve_gram_svms(
    K: np.ndarray, signs: np.ndarray, box: np.ndarray, *, max_iter: int = 60
) -> BatchSolution:
    """Solve SVMs on one Gram matrix (n, n), or on one each (B, n, n), as `LinearSVMBatch` does."""
    system = GramSystem(K)
    return _solve_grams(system.take, K.ndim == 2, signs, box, max_iter)


def _solvable(signs, box):
    """Return the problems that train on both classes."""
    trained, positive = box > 0, signs > 0
    return np.flatnonzero((trained & positive).any(axis=1) & (trained & ~positive).any(axis=1))


def _blocks(problems, size):
    return (problems[i : i + size] for i in range(0, len(problems), size))


class _Start(NamedTuple):
    """Where problems start: coefficients (1, p) and intercepts (1,) or zeros, and how far off."""

    v: np.ndarray | None
    b: np.ndarray | None
    mu: float

    def repeat(self, system, count):
        if self.v is None or self.b is None:
            return system.zeros(count), np.zeros(count)
        return np.repeat(self.v, count, axis=0), np.repeat(self.b, count)


class _FeatureProblems:
    """Problems on few features: from their mean problem and on a strip, where labels are equal."""

    def __init__(self, system_of, signs, box, max_iter):
        self.system_of, self.max_iter = system_of, max_iter
        self.same_labels = signs.ndim == 1
        self.signs, self.box = np.broadcast_to(signs, box.shape), box
        self.size = max(8, _BLOCK // box.shape[1])
        self.solution = BatchSolution.empty(*box.shape)

    def solve_all(self):
        left = _solvable(self.signs, self.box)
        start, strip = _Start(None, None, _COLD), None
        if self.same_labels and len(left):
            start = self._mean_start(left, start)
        if self.same_labels and len(left) >= 4 * _N_PILOTS:
            strip = self._pilot_strip(left, start)
        if strip is not None:
            left = self._unsolved(left)
            near = left[strip.admits(self.signs[left], self.box[left])]
            part = self.system_of(left[:1]).take_samples(strip.inside)
            self._solve(near, start, partial(strip.solve, part), 2 * self.size)
        self._solve(self._unsolved(left), start, solve_from_values, self.size)
        # A start far from every bound frees what got stuck.
        far = _Start(None, None, 10.0 * _COLD)
        self._solve(self._unsolved(left), far, solve_from_values, self.size)
        return self.solution

    def _unsolved(self, problems):
        return problems[~self.solution.converged[problems]]

    def _solve(self, problems, start, solver, size):
        for at in _blocks(problems, size):
            system, signs, box = self.system_of(at), self.signs[at], self.box[at]
            v, b = start.repeat(system, len(at))
            found = solver(system, signs, box, v, b, mu=start.mu, max_iter=self.max_iter)
            self.solution.put(at, signs, box, found)

    def _mean_start(self, problems, start):
        system, mean = self.system_of(problems[:1]), self.box[problems].mean(axis=0)[None]
        v, b = start.repeat(system, 1)
        found = solve_from_values(
            system, self.signs[:1], mean, v, b, mu=start.mu, max_iter=self.max_iter
        )
        return _Start(found.v, found.b, _WARM) if found.settled[0] else start

    def _pilot_strip(self, problems, start):
        pilots = problems[np.linspace(0, len(problems) - 1, _N_PILOTS).astype(int)]
        self._solve(pilots, start, solve_from_values, self.size)
        done = pilots[self.solution.converged[pilots]]
        return screen(self.signs[done] * self.solution.decision[done] - 1.0)


def _solve_grams(system_of, same_gram, signs, box, max_iter):
    """Many features: active sets from the mean problem's, or from all samples on the margin."""
    same_labels, signs = signs.ndim == 1, np.broadcast_to(signs, box.shape)
    n = box.shape[1]
    solution = BatchSolution.empty(*box.shape)
    left = _solvable(signs, box)
    guess = None
    if same_labels and same_gram and len(left):
        _solve_unbound(system_of(left[:1]), signs, box, left, max_iter, solution)
        left = left[~solution.converged[left]]
    if same_labels and len(left):
        mean = box[left].mean(axis=0, keepdims=True)
        guess = _solve_from_margins(system_of(left[:1]), signs[:1], mean, max_iter)
    for at in _blocks(left, max(8, _GRAM_BLOCK // n**2)):
        system, y, C = system_of(at), signs[at], box[at]
        if guess is None:
            found = _solve_from_margins(system, y, C, max_iter)
        else:
            a, b = np.repeat(guess.a, len(at), axis=0), np.repeat(guess.b, len(at))
            found = solve_from_sets(system, y, C, a <= 0.0, a >= 1.0, a, b, max_iter=max_iter)
        solution.put(at, y, C, found)
    return solution


def _solve_from_margins(system, signs, box, max_iter):
    """Start with every sample on its margin: right at once where features abound."""
    bound = np.zeros(box.shape, dtype=bool)
    a, b = np.full(box.shape, 0.5), np.zeros(len(box))
    return solve_from_sets(system, signs, box, bound, bound, a, b, max_iter=max_iter)


def _solve_unbound(system, signs, box, problems, max_iter, solution):
    """Solve the problem of the loosest box: where a box holds its solution, it is the solution.

    Every box is a part of the loosest, so an optimum of the latter that lies in the former is
    the optimum there too.
    """
    loosest = box[problems].max(axis=0, keepdims=True)
    found = _solve_from_margins(system, signs[:1], loosest, max_iter)
    alpha = found.a * loosest
    free = (found.a > 1e-7) & (alpha < (1.0 - 1e-7) * box[problems])  # the intercept is unique
    holds = (alpha <= box[problems]).all(axis=1) & free.any(axis=1) & found.settled
    at = problems[holds]
    solution.decision[at] = signs[:1] * (found.margin + 1.0)
    solution.alpha[at] = alpha
    solution.intercept[at] = found.b
    solution.converged[at] = True
