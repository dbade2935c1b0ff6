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

__all__ = ["BatchSolution", "LinearSVMBatch", "solve_gram_svms"]

# Numbers in one (problems, samples) array, and in one stack of Gram matrices, of a block of
# problems: what the solvers touch in one round should stay in the cache.
_BLOCK = 2**15
_GRAM_BLOCK = 2**18
_N_PILOTS = 24
_TRUST = 0.3  # how near (in margins) the problems are taken to be to their mean problem


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
        self.X = X
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
            return _solve_features(system_of, signs, box, max_iter)
        return _solve_grams(system_of, scale_weights is None, signs, box, max_iter)


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


def _solve_features(system_of, signs, box, max_iter):
    """Few features: from the mean problem, and on a strip, where the labels are the same."""
    same_labels, signs = signs.ndim == 1, np.broadcast_to(signs, box.shape)
    solution = BatchSolution.empty(*box.shape)
    left = _solvable(signs, box)
    size = max(8, _BLOCK // box.shape[1])
    start = None

    def solve(problems, solver, size):
        for at in _blocks(problems, size):
            system = system_of(at)
            v, b, mu = _starts(system, start, len(at))
            found = solver(system, signs[at], box[at], v, b, mu=mu, max_iter=max_iter)
            solution.put(at, signs[at], box[at], found)

    if same_labels and len(left):
        middle, mean = system_of(left[:1]), box[left].mean(axis=0, keepdims=True)
        zeros = middle.zeros(1), np.zeros(1)
        start = solve_from_values(middle, signs[:1], mean, *zeros, mu=1.0, max_iter=max_iter)
    if same_labels and len(left) >= 4 * _N_PILOTS:
        pilots = left[np.linspace(0, len(left) - 1, _N_PILOTS).astype(int)]
        solve(pilots, solve_from_values, size)
        left = np.setdiff1d(left, pilots)
        done = pilots[solution.converged[pilots]]
        strip = screen(signs[done] * solution.decision[done] - 1.0)
        if strip is not None:
            part = system_of(left[:1]).take_samples(strip.inside)
            near = left[strip.admits(signs[left], box[left])]
            solve(near, partial(strip.solve, part), 2 * size)
            left = left[~solution.converged[left]]
    solve(left, solve_from_values, size)
    return solution


def _starts(system, start, count):
    if start is None or not start.settled[0]:
        return system.zeros(count), np.zeros(count), 1.0
    return np.repeat(start.v, count, axis=0), np.repeat(start.b, count), _TRUST


def _solve_grams(system_of, same_gram, signs, box, max_iter):
    """Many features: active sets from the mean problem's, or from all samples on the margin."""
    same_labels, signs = signs.ndim == 1, np.broadcast_to(signs, box.shape)
    n = box.shape[1]
    solution = BatchSolution.empty(*box.shape)
    left = _solvable(signs, box)
    guess = None
    if same_labels and len(left):
        if same_gram:
            _solve_unbound(system_of(left[:1]), signs, box, left, max_iter, solution)
            left = left[~solution.converged[left]]
        mean = box.mean(axis=0, keepdims=True)
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
