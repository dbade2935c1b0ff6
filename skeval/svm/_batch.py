"""Many linear two-class SVMs over the same samples, solved together.

The problems differ in their boxes ``0 <= alpha_i <= C_i`` (a box of 0 leaves the sample out, an
integer multiple repeats it, a random factor perturbs it), in their labels, or in the scales of
the columns. Arrays in, arrays out: what a result means is the caller's business.
"""

from typing import NamedTuple

import numpy as np

from skeval.svm._newton import FeatureSystem, GramSystem
from skeval.svm._scales import ColumnScales
from skeval.svm._screening import screen
from skeval.svm._solver import solve_cold, solve_warm

__all__ = ["BatchSolution", "LinearSVMBatch", "solve_gram_svms"]

# Numbers in one (problems, samples) array, and in one stack of Gram matrices, of a block of
# problems: what the solvers touch in one round should stay in the cache.
_BLOCK = 2**15
_GRAM_BLOCK = 2**17
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

    With fewer features than samples nothing of size n x n is formed.
    """

    def __init__(self, X):
        self._columns = ColumnScales(X)
        n, p = self._columns.standard.shape
        self._few_features = p < n
        ridge = self._columns.ridge()
        if self._few_features:
            self._system = FeatureSystem(self._columns.standard, ridge)
        else:
            self._system = GramSystem(self._columns.gram(ridge))

    def solve(self, signs, box, *, scale_weights=None, max_iter=60) -> BatchSolution:
        """Solve ``min 1/2 beta' K beta - y' beta, sum beta = 0, 0 <= y_i beta_i <= box_i``.

        `signs` (n,) or (B, n) of -1 and +1, `box` (B, n). Given `scale_weights` (B, n), problem
        ``b`` sees the columns as a StandardScaler fitted with these sample weights leaves them.
        """

        def system_of(problems):
            if scale_weights is None:
                return self._system
            ridge = self._columns.ridge(scale_weights[problems])
            if self._few_features:
                return self._system.with_ridge(ridge)
            return GramSystem(self._columns.gram(ridge))

        same_system = scale_weights is None
        if self._few_features:
            return _solve_features(system_of, signs, box, max_iter)
        return _solve_grams(system_of, same_system, signs, box, max_iter)


def solve_gram_svms(K, signs, box, *, max_iter=60) -> BatchSolution:
    """Solve SVMs on one Gram matrix (n, n), or on one each (B, n, n), as `LinearSVMBatch` does."""
    system = GramSystem(K)
    return _solve_grams(system.take, K.ndim == 2, signs, box, max_iter)


def _solvable(signs, box):
    """Return the problems that train on both classes."""
    trained, positive = box > 0, signs > 0
    return np.flatnonzero((trained & positive).any(axis=1) & (trained & ~positive).any(axis=1))


def _blocks(problems, size):
    return (problems[i : i + size] for i in range(0, len(problems), size))


def _spread(problems, count):
    """Return `count` of the problems, evenly spread."""
    return problems[np.linspace(0, len(problems) - 1, count).astype(int)]


def _mean_problem(system_of, signs, box, problems, max_iter):
    """Solve the problem of the mean box, where labels are the same: a guess for all of them."""
    middle = system_of(problems[:1])
    mean = box[problems].mean(axis=0, keepdims=True)
    v, b = middle.zeros(1), np.zeros(1)
    return solve_cold(middle, signs[:1], mean, v, b, mu=1.0, max_iter=max_iter)


def _solve_features(system_of, signs, box, max_iter) -> BatchSolution:
    same_labels, signs = signs.ndim == 1, np.broadcast_to(signs, box.shape)
    solution = BatchSolution.empty(*box.shape)
    left = _solvable(signs, box)
    size = max(8, _BLOCK // box.shape[1])
    start, mu = None, 1.0
    if same_labels and len(left):
        start, mu = _mean_problem(system_of, signs, box, left, max_iter), _TRUST

    def solve(problems, strip=None, part=None):
        for at in _blocks(problems, size if strip is None else 2 * size):
            system, y, C = system_of(at), signs[at], box[at]
            if start is None:
                v, b = system.zeros(len(at)), np.zeros(len(at))
            else:
                v, b = np.repeat(start.v, len(at), axis=0), np.repeat(start.b, len(at))
            if strip is None:
                found = solve_cold(system, y, C, v, b, mu=mu, max_iter=max_iter)
            else:
                found = strip.solve(system, part, y, C, v, b, mu=mu, max_iter=max_iter)
            solution.put(at, y, C, found)

    if start is not None and len(left) >= 4 * _N_PILOTS:
        pilots = _spread(left, _N_PILOTS)
        solve(pilots)
        done = pilots[solution.converged[pilots]]
        strip = screen(signs[done] * solution.decision[done] - 1.0)
        left = np.setdiff1d(left, pilots)
        if strip is not None:
            solve(left, strip, system_of(left[:1]).take_samples(strip.inside))
            left = left[~solution.converged[left]]
    solve(left)
    return solution


def _solve_grams(system_of, same_gram, signs, box, max_iter) -> BatchSolution:
    same_labels, signs = signs.ndim == 1, np.broadcast_to(signs, box.shape)
    n = box.shape[1]
    solution = BatchSolution.empty(*box.shape)
    left = _solvable(signs, box)
    guess = None
    if same_labels and len(left):
        guess = _mean_problem(system_of, signs, box, left, max_iter)
        if same_gram:
            _solve_unbound(system_of(left), signs, box, left, max_iter, solution)
            left = left[~solution.converged[left]]
    for at in _blocks(left, max(8, _GRAM_BLOCK // n**2)):
        system, y, C = system_of(at), signs[at], box[at]
        if guess is None:
            v, b = system.zeros(len(at)), np.zeros(len(at))
            found = solve_cold(system, y, C, v, b, mu=1.0, max_iter=max_iter)
        else:
            found = solve_warm(system, y, C, guess.repeat(len(at)), max_iter=max_iter)
        solution.put(at, y, C, found)
    return solution


def _solve_unbound(system, signs, box, problems, max_iter, solution):
    """Solve the problem of the loosest box: where a box holds its solution, it is the solution.

    Every box is a part of the loosest, so an optimum of the latter that lies in the former is
    the optimum there too.
    """
    loosest = box[problems].max(axis=0, keepdims=True)
    v, b = system.zeros(1), np.zeros(1)
    found = solve_cold(system, signs[:1], loosest, v, b, mu=1.0, max_iter=max_iter)
    alpha = found.a * loosest
    free = (alpha > 0) & (alpha < box[problems])
    holds = (alpha <= box[problems]).all(axis=1) & free.any(axis=1) & found.settled
    at = problems[holds]
    solution.decision[at] = signs[:1] * (found.margin + 1.0)
    solution.alpha[at] = alpha
    solution.intercept[at] = found.b
    solution.converged[at] = True
