"""Batches of linear two-class SVMs on the same samples.

The problems differ in their boxes ``0 <= alpha_i <= C_i`` (0 leaves a sample out, an integer
multiple repeats it, a random factor perturbs it), in their labels, or in the scales of the
columns. With few features, the size of Newton systems is the number of features. With many
features, the systems are on a Gram matrix. Problems with the same labels start from the solution
for their mean box.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skeval._solvers import newton, optimum
from skeval._solvers.newton import Duals, FeatureSystem, GramSystem, SelectedFeatures
from skeval._solvers.optimum import ActiveSets, BatchSolution, SetSolution, Start, strictly_free
from skeval._solvers.splits import ColumnScales

# Maximum size of a (problems, samples) array and of a stack of Gram matrices, so that they fit in
# the cache.
_BLOCK = 2**15
_GRAM_BLOCK = 2**18
# Minimum number of problems for which the mean box is solved first.
_MANY = 24
# Initial mu of the interior point: without a start, from the solution for the mean box, and for
# problems whose variables got stuck at a bound.
_COLD, _WARM, _FAR = 1.0, 0.3, 10.0


class LinearSVMBatch:
    """Linear SVMs on the rows of X (n, p), without an n x n matrix."""

    # squares of numbers above 1e150 overflow, and then no problem converges
    @np.errstate(all="ignore")
    def __init__(self, X: np.ndarray) -> None:
        self._columns = ColumnScales(X)
        ridge = self._columns.ridge()
        self._unit = optimum.unit_of(np.sum(1.0 / ridge))
        self._system = FeatureSystem(self._columns.standard, self._unit * ridge)

    @np.errstate(all="ignore")  # problems that diverge end as nan, not converged
    def solve(
        self, signs: np.ndarray, box: np.ndarray, *, scales: np.ndarray | None = None
    ) -> BatchSolution:
        """Solve ``min 1/2 beta' K beta - y' beta, sum beta = 0, 0 <= y_i beta_i <= box_i``.

        `signs` (n,) or (B, n) of -1 and +1, `box` (B, n). The columns of problem ``b`` are divided
        by `scales[b]` (p,).
        """
        system = self._system
        ridge = None if scales is None else self._columns.ridge_of(scales)
        unit = self._unit if ridge is None else 1.0

        def system_of(problems: np.ndarray) -> FeatureSystem:
            return system if ridge is None else system.with_ridge(ridge[problems])

        solution = _solve_on_features(system_of, signs, unit * box, _BLOCK // box.shape[1])
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
        coef = (signs * solution.alpha) @ columns.standard / ridge  # eq. (4) of svm
        standard = (X[:, columns.varies] - columns.mean) / columns.scale
        return coef @ standard.T + solution.intercept[:, None]


@np.errstate(all="ignore")
def solve_feature_svms(X: np.ndarray, signs: np.ndarray, box: np.ndarray) -> BatchSolution:
    """Solve SVMs with their own features, X (B, n, p), centered on all samples."""
    scale = np.sqrt(np.mean(X**2, axis=1))  # eq. (5) of newton
    scale[scale == 0] = 1.0
    unit = optimum.unit_of(np.sum(scale**2, axis=1))[:, None]
    system = SelectedFeatures(X / scale[:, None, :], unit / scale**2)
    size = _GRAM_BLOCK // (X.shape[1] * X.shape[2])
    return _solve_on_features(system.take, signs, unit * box, size).in_units(unit, box)


@np.errstate(all="ignore")
def solve_gram_svms(
    K: np.ndarray, which: np.ndarray, signs: np.ndarray, box: np.ndarray
) -> BatchSolution:
    """Solve SVMs on Gram matrices K (g, n, n). `which` (B,) is the index of the one of each."""
    unit = optimum.unit_of(np.mean(np.diagonal(K, axis1=1, axis2=2), axis=1))
    K, unit = K / unit[:, None, None], unit[which][:, None]

    def system_of(problems: np.ndarray) -> GramSystem:
        return GramSystem(K[which[problems]] if len(K) > 1 else K[0])

    return _solve_on_grams(system_of, len(K) == 1, signs, unit * box).in_units(unit, box)


def _solve_on_features(
    system_of: Callable[[np.ndarray], FeatureSystem], signs: np.ndarray, box: np.ndarray, size: int
) -> BatchSolution:
    """Solve problems on few features, in blocks of about `size`.

    `system_of` returns the system of some problems. If all problems have the same labels, they
    start from the solution for the mean box.
    """
    same_labels, signs = signs.ndim == 1, np.broadcast_to(signs, box.shape)
    solution = BatchSolution.empty(*box.shape)
    left = optimum.find_solvable(signs, box)
    if not len(left):
        return solution
    cold = Start(system_of(left[:1]).zeros(1), np.zeros(1), _COLD)
    start = cold
    if same_labels and len(left) >= _MANY:
        mean = box[left].mean(axis=0)[None]
        solved = optimum.solve_from_values(Duals(system_of(left[:1]), signs[:1], mean), cold)
        if solved.settled[0]:
            start = Start(solved.coef, solved.intercept, _WARM)
    # again from far away, if variables got stuck at a bound
    for begin in (start, cold._replace(mu=_FAR)):
        for at in newton.split_problems(left, max(8, size)):
            duals = Duals(system_of(at), signs[at], box[at])
            coef, b = np.repeat(begin.coef, len(at), axis=0), np.repeat(begin.intercept, len(at))
            solution.put(at, duals, optimum.solve_from_values(duals, Start(coef, b, begin.mu)))
        left = left[~solution.converged[left]]
    return solution


def _solve_on_grams(
    system_of: Callable[[np.ndarray], GramSystem],
    same_gram: bool,
    signs: np.ndarray,
    box: np.ndarray,
) -> BatchSolution:
    """Solve problems on many features by active sets.

    `system_of` returns the system of some problems. `same_gram` is true if they share one matrix.

    If all problems have the same labels, the first guess are the sets for the mean box. Otherwise
    all samples are assumed to be on their margins.
    """
    same_labels, signs = signs.ndim == 1, np.broadcast_to(signs, box.shape)
    solution = BatchSolution.empty(*box.shape)
    left = optimum.find_solvable(signs, box)
    guess = None
    if same_labels and same_gram and len(left):
        _solve_loosest(system_of(left[:1]), signs, box, left, solution)
        left = left[~solution.converged[left]]
    if same_labels and len(left):
        mean = box[left].mean(axis=0)[None]
        guess = _solve_from_margins(Duals(system_of(left[:1]), signs[:1], mean))
    for at in newton.split_problems(left, max(8, _GRAM_BLOCK // box.shape[1] ** 2)):
        duals = Duals(system_of(at), signs[at], box[at])
        if guess is None:
            solved = _solve_from_margins(duals)
        else:
            a, b = np.repeat(guess.fraction, len(at), axis=0), np.repeat(guess.intercept, len(at))
            solved = optimum.solve_from_sets(duals, ActiveSets(a <= 0.0, a >= 1.0, a, b))
        solution.put(at, duals, solved)
    return solution


def _solve_from_margins(duals: Duals) -> SetSolution:
    """Solve from the guess that all samples are on their margins, likely with many features."""
    bound = np.zeros(duals.box.shape, dtype=bool)
    sets = ActiveSets(bound, bound, np.zeros(duals.box.shape), np.zeros(len(duals.box)))
    return optimum.solve_from_sets(duals, sets)


def _solve_loosest(
    system: GramSystem,
    signs: np.ndarray,
    box: np.ndarray,
    problems: np.ndarray,
    solution: BatchSolution,
) -> None:
    """Solve the problem with the loosest box, and store its solution for all boxes that contain it.

    The loosest box contains every box, so a solution inside a box is also optimal for that box,
    eq. (14) of svm.
    """
    C = box[problems]
    duals = Duals(system, signs[:1], C.max(axis=0, keepdims=True))
    solved = _solve_from_margins(duals)
    alpha = solved.fraction * duals.box
    # with a sample away from both bounds the intercept is unique
    holds = (alpha <= C).all(axis=1) & strictly_free(C, alpha).any(axis=1)
    at = problems[holds & solved.settled & optimum.are_optimal(duals, solved)]
    solution.decision[at] = duals.signs * (solved.margin + 1.0)
    solution.alpha[at] = alpha
    solution.intercept[at] = solved.intercept
    solution.converged[at] = True
