"""Many linear two-class SVMs over the same samples, solved together.

The problems differ in their boxes ``0 <= alpha_i <= C_i`` (a box of 0 leaves the sample out, an
integer multiple repeats it, a random factor perturbs it), in their labels, or in the scales of
the columns. Arrays in, arrays out: what a result means is the caller's business.
Numbers in parentheses are the equations of doc/derivations/svm.rst.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skeval._solvers.active_set import ActiveSets, SetSolution, strictly_free
from skeval._solvers.batch_solution import BatchSolution, divide, find_solvable
from skeval._solvers.column_scales import ColumnScales
from skeval._solvers.duals import Duals
from skeval._solvers.feature_problems import FEW_SAMPLES, FeatureProblems
from skeval._solvers.linear_systems import take_each
from skeval._solvers.newton import FeatureSystem, GramSystem, NewtonSystem, SelectedFeatures
from skeval._solvers.splitting import Splitting
from skeval._solvers.svm_solver import optimal, solve_from_sets

__all__ = [
    "LinearSVMBatch",
    "solve_feature_svms",
    "solve_gram_svms",
    "solve_training_svms",
    "unit_of",
    "uses_features",
]

# Numbers in one (problems, samples) array, and in one stack of Gram matrices, of a block of
# problems: what the solvers touch in one round should stay in the cache.
_BLOCK = 2**15
_GRAM_BLOCK = 2**18


class LinearSVMBatch:
    """Linear SVMs on the rows of X (n, p), which is prepared once.

    Where features are few nothing of size n x n is formed; elsewhere the Gram matrix, at most
    twice the size of X, is the faster way.
    """

    @np.errstate(all="ignore")  # numbers beyond 1e150: nothing converges
    def __init__(self, X: np.ndarray) -> None:
        self._columns = ColumnScales(X)
        n, p = self._columns.standard.shape
        ridge = self._columns.ridge()
        self._unit = unit_of(np.sum(1.0 / ridge))
        self._system: FeatureSystem | GramSystem
        if uses_features(n, p):
            self._system = FeatureSystem(self._columns.standard, self._unit * ridge)
        else:
            self._system = GramSystem(self._columns.gram(self._unit * ridge))

    @np.errstate(all="ignore")  # a problem that diverges ends as nan, unconverged
    def solve(
        self,
        signs: np.ndarray,
        box: np.ndarray,
        *,
        scales: np.ndarray | None = None,
        max_iter: int = 120,
    ) -> BatchSolution:
        """Solve ``min 1/2 beta' K beta - y' beta, sum beta = 0, 0 <= y_i beta_i <= box_i``.

        `signs` (n,) or (B, n) of -1 and +1, `box` (B, n). Problem ``b`` sees the columns divided
        by `scales` (B, p), if given.
        """
        system = self._system
        ridge = None if scales is None else self._columns.ridge_of(scales)
        unit = self._unit if ridge is None else 1.0
        if isinstance(system, FeatureSystem):

            def features_of(problems: np.ndarray) -> FeatureSystem:
                return system if ridge is None else system.with_ridge(ridge[problems])

            size = _BLOCK // box.shape[1]
            problems = FeatureProblems(features_of, signs, unit * box, max_iter, size)
            if ridge is None and len(system.Z) <= FEW_SAMPLES:
                gram = self._columns.gram(system.ridge)
                problems.try_splitting(Splitting(gram))
            solution = problems.solve_all()
        else:

            def gram_of(problems: np.ndarray) -> GramSystem:
                if ridge is None:
                    return system
                return GramSystem(self._columns.gram(ridge[problems]))

            solution = _solve_grams(gram_of, ridge is None, signs, unit * box, max_iter)
        return solution.in_units(unit, box)

    def decide(
        self,
        X: np.ndarray,
        signs: np.ndarray,
        solution: BatchSolution,
        *,
        scales: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the decision values (B, m) of other samples X (m, p)."""
        columns = self._columns
        ridge = columns.ridge() if scales is None else columns.ridge_of(scales)
        coef = (signs * solution.alpha) @ columns.standard / ridge  # (4)
        standard = (X[:, columns.varies] - columns.mean) / columns.scale
        return coef @ standard.T + solution.intercept[:, None]


@np.errstate(all="ignore")
def solve_gram_svms(
    K: np.ndarray, signs: np.ndarray, box: np.ndarray, *, max_iter: int = 120
) -> BatchSolution:
    """Solve SVMs on one Gram matrix (n, n), or on one each (B, n, n), as `LinearSVMBatch` does."""
    unit = unit_of(np.mean(np.diagonal(K, axis1=-2, axis2=-1), axis=-1))
    system, unit = GramSystem(K / unit[..., None, None]), unit[..., None]
    solution = _solve_grams(system.take, K.ndim == 2, signs, unit * box, max_iter)
    return solution.in_units(unit, box)


@np.errstate(all="ignore")
def solve_feature_svms(
    X: np.ndarray, signs: np.ndarray, box: np.ndarray, *, max_iter: int = 120
) -> BatchSolution:
    """Solve SVMs of which each sees other features, X (B, n, p), centred on all samples."""
    scale = np.sqrt(np.mean(X**2, axis=1))  # eq. (5) of doc/derivations/newton.rst
    scale[scale == 0] = 1.0
    unit = unit_of(np.sum(scale**2, axis=1))[:, None]
    system = SelectedFeatures(X / scale[:, None, :], unit / scale**2)
    size = _GRAM_BLOCK // (X.shape[1] * X.shape[2])
    solution = FeatureProblems(system.take, signs, unit * box, max_iter, size).solve_all()
    return solution.in_units(unit, box)


def solve_training_svms(X: np.ndarray, signs: np.ndarray, box: np.ndarray) -> BatchSolution:
    """Solve the same by way of Gram matrices, where features are many.

    The solver is given the training samples alone; problems that have fewer than the largest are
    filled up with samples of box 0. The decisions are those of all samples.
    """
    gram, trained = np.matmul(X, X.transpose(0, 2, 1)), box > 0
    rows = np.argsort(~trained, axis=1, kind="stable")[:, : trained.sum(axis=1).max()]
    problems = np.arange(len(box))[:, None]
    found = solve_gram_svms(take_each(gram, rows), signs[problems, rows], box[problems, rows])
    alpha = np.zeros(box.shape)
    alpha[problems, rows] = found.alpha
    scores = np.matmul(gram, (signs * alpha)[:, :, None])[:, :, 0]  # (15)
    decision = scores + found.intercept[:, None]
    return BatchSolution(decision, alpha, found.intercept, found.converged)


def unit_of(scale: np.ndarray | float) -> np.ndarray:
    """Return the powers of 2 next above mean kernel values ``K_ii``, 1 where these are 0 (8).

    Only C K matters to the decisions, so the solvers are given K / unit and C unit, and all that
    they compare with 1 is of the size of 1. Powers of 2 round nothing.
    """
    _, exponent = np.frexp(np.asarray(scale, dtype=float))
    return np.ldexp(1.0, exponent)


def uses_features(n_samples: int, n_features: int) -> bool:
    """Whether systems of the size of the features are faster to solve than Gram matrices."""
    return 3 * n_features < 2 * n_samples


def _solve_grams(
    system_of: Callable[[np.ndarray], GramSystem],
    same_gram: bool,
    signs: np.ndarray,
    box: np.ndarray,
    max_iter: int,
) -> BatchSolution:
    """Many features: active sets from the mean problem's, or from all samples on the margin."""
    same_labels, signs = signs.ndim == 1, np.broadcast_to(signs, box.shape)
    n = box.shape[1]
    solution = BatchSolution.empty(*box.shape)
    left = find_solvable(signs, box)
    guess = None
    if same_labels and same_gram and len(left):
        _solve_unbound(system_of(left[:1]), signs, box, left, max_iter, solution)
        left = left[~solution.converged[left]]
    if same_labels and len(left):
        mean = box[left].mean(axis=0, keepdims=True)
        guess = _solve_from_margins(Duals(system_of(left[:1]), signs[:1], mean), max_iter)
    for at in divide(left, max(8, _GRAM_BLOCK // n**2)):
        duals = Duals(system_of(at), signs[at], box[at])
        if guess is None:
            found = _solve_from_margins(duals, max_iter)
        else:
            a, b = np.repeat(guess.fraction, len(at), axis=0), np.repeat(guess.intercept, len(at))
            found = solve_from_sets(duals, ActiveSets(a <= 0.0, a >= 1.0, a, b), max_iter=max_iter)
        solution.put(at, duals, found)
    return solution


def _solve_from_margins(duals: Duals, max_iter: int) -> SetSolution:
    """Start with every sample on its margin: right at once where features abound."""
    bound = np.zeros(duals.box.shape, dtype=bool)
    sets = ActiveSets(bound, bound, np.zeros(duals.box.shape), np.zeros(len(duals.box)))
    return solve_from_sets(duals, sets, max_iter=max_iter)


def _solve_unbound(
    system: NewtonSystem,
    signs: np.ndarray,
    box: np.ndarray,
    problems: np.ndarray,
    max_iter: int,
    solution: BatchSolution,
) -> None:
    """Solve the problem of the loosest box: where a box holds its solution, it is the solution.

    Every box is a part of the loosest, so an optimum of the latter that lies in the former is
    the optimum there too (14).
    """
    C = box[problems]
    duals = Duals(system, signs[:1], C.max(axis=0, keepdims=True))
    found = _solve_from_margins(duals, max_iter)
    alpha = found.fraction * duals.box
    # With a sample clear of both bounds the intercept is unique, so it is that of the loosest box.
    holds = (alpha <= C).all(axis=1) & strictly_free(C, alpha).any(axis=1)
    at = problems[holds & found.settled & optimal(duals, found)]
    solution.decision[at] = duals.signs * (found.margin + 1.0)
    solution.alpha[at] = alpha
    solution.intercept[at] = found.intercept
    solution.converged[at] = True
