"""Batches of linear two-class SVMs on the same samples.

The problems differ in their boxes ``0 <= alpha_i <= C_i`` (0 leaves a sample out, an integer
multiple repeats it, a random factor perturbs it), in their labels, or in the scales of the
columns. With few features, the size of Newton systems is the number of features. A few problems
are solved first, and their solutions are the start for the others. With many features, the systems
are on a Gram matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from skeval._solvers import newton, optimum
from skeval._solvers.newton import Duals, FeatureSystem, GramSystem, SelectedFeatures
from skeval._solvers.optimum import ActiveSets, BatchSolution, SetSolution, Start, strictly_free
from skeval._solvers.splits import ColumnScales

# Maximum size of a (problems, samples) array and of a stack of Gram matrices, so that they fit in
# the cache.
_BLOCK = 2**15
_GRAM_BLOCK = 2**18
# Number of pilots, problems that are solved first.
_N_PILOTS = 24
# Initial mu of the interior point: without a start, from the solution for the mean box, and for
# problems whose variables got stuck at a bound.
_COLD, _WARM, _FAR = 1.0, 0.3, 10.0
# Number of standard deviations of the pilot margins, beyond which a sample is screened out, and
# maximum fraction of the remaining samples for which screening is used.
_DEVIATIONS, _LARGEST_STRIP = 4.0, 0.8


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


@np.errstate(all="ignore")
def solve_feature_svms(X: np.ndarray, signs: np.ndarray, box: np.ndarray) -> BatchSolution:
    """Solve SVMs with their own features, X (B, n, p), centered on all samples."""
    scale = np.sqrt(np.mean(X**2, axis=1))  # eq. (5) of newton
    scale[scale == 0] = 1.0
    unit = optimum.unit_of(np.sum(scale**2, axis=1))[:, None]
    system = SelectedFeatures(X / scale[:, None, :], unit / scale**2)
    size = _GRAM_BLOCK // (X.shape[1] * X.shape[2])
    return _solve_on_features(system.take, signs, unit * box, size).in_units(unit, box)


def _solve_on_features(
    system_of: Callable[[np.ndarray], FeatureSystem], signs: np.ndarray, box: np.ndarray, size: int
) -> BatchSolution:
    """Solve problems on few features, in blocks of about `size`.

    `system_of` returns the system of some problems. If all problems have the same labels, they
    start from the solution for the mean box, and are solved on the samples near the margins of a
    few problems, the pilots.
    """
    same_labels, signs = signs.ndim == 1, np.broadcast_to(signs, box.shape)
    solution = BatchSolution.empty(*box.shape)

    def solve(problems: np.ndarray, begin: Start, strip: Strip | None = None) -> np.ndarray:
        """Solve problems from the same single row, and return those that are not solved."""
        inner = None if strip is None else system_of(problems[:1]).take_samples(strip.inside)
        for at in newton.split_problems(problems, max(8, size) * (1 if strip is None else 2)):
            duals = Duals(system_of(at), signs[at], box[at])
            coef, b = np.repeat(begin.coef, len(at), axis=0), np.repeat(begin.intercept, len(at))
            start = Start(coef, b, begin.mu)
            if strip is None or inner is None:
                solution.store(at, duals, optimum.solve_from_values(duals, start))
            else:
                solution.store(at, duals, strip.solve(inner, duals, start))
        return problems[~solution.converged[problems]]

    # a problem needs training samples of both classes
    left = optimum.find_solvable(signs, box)
    if not len(left):
        return solution
    cold = Start(system_of(left[:1]).zeros(1), np.zeros(1), _COLD)
    start = cold
    # with equal labels, all start from the solution for the mean box
    if same_labels and len(left) >= _N_PILOTS:
        mean = box[left].mean(axis=0)[None]
        solved = optimum.solve_from_values(Duals(system_of(left[:1]), signs[:1], mean), cold)
        if solved.settled[0]:
            start = Start(solved.coef, solved.intercept, _WARM)
    if same_labels and len(left) >= 4 * _N_PILOTS:
        # evenly spaced problems, whose margins suggest a strip
        pilots = left[np.linspace(0, len(left) - 1, _N_PILOTS).astype(int)]
        solve(pilots, start)
        done = pilots[solution.converged[pilots]]
        strip = screen(signs[done] * solution.decision[done] - 1.0)
        left = left[~solution.converged[left]]
        # the others on the strip, if its fixed samples allow a balanced solution
        if strip is not None:
            solve(left[strip.admits(signs[left], box[left])], start, strip)
            left = left[~solution.converged[left]]
    # again from far away, if variables got stuck at a bound
    solve(solve(left, start), cold._replace(mu=_FAR))
    return solution


@np.errstate(all="ignore")
def solve_gram_svms(
    K: np.ndarray, which: np.ndarray, signs: np.ndarray, box: np.ndarray
) -> BatchSolution:
    """Solve SVMs on Gram matrices K (g, n, n) by active sets. `which` (B,) is the index of each.

    If all problems have the same labels, the first guess are the sets for the mean box. Otherwise
    all samples are assumed to be on their margins.
    """
    # matrices and boxes in common units
    unit = optimum.unit_of(np.mean(np.diagonal(K, axis1=1, axis2=2), axis=1))
    K, unit = K / unit[:, None, None], unit[which][:, None]

    def duals_of(at: np.ndarray, signs: np.ndarray, box: np.ndarray) -> Duals:
        return Duals(GramSystem(K[which[at]] if len(K) > 1 else K[0]), signs, box)

    same_labels, signs = signs.ndim == 1, np.broadcast_to(signs, box.shape)
    original, box = box, unit * box
    solution, guess = BatchSolution.empty(*box.shape), None
    left = optimum.find_solvable(signs, box)
    # the optimum of the loosest box may lie in others, eq. (14) of svm
    if same_labels and len(K) == 1 and len(left):
        loosest = box[left].max(axis=0, keepdims=True)
        _solve_loosest(duals_of(left[:1], signs[:1], loosest), box, left, solution)
        left = left[~solution.converged[left]]
    # sets for the mean box as a first guess
    if same_labels and len(left):
        guess = _solve_from_margins(duals_of(left[:1], signs[:1], box[left].mean(axis=0)[None]))
    for at in newton.split_problems(left, max(8, _GRAM_BLOCK // box.shape[1] ** 2)):
        duals = duals_of(at, signs[at], box[at])
        if guess is None:
            solved = _solve_from_margins(duals)
        else:
            a, b = np.repeat(guess.fraction, len(at), axis=0), np.repeat(guess.intercept, len(at))
            solved = optimum.solve_from_sets(duals, ActiveSets(a <= 0.0, a >= 1.0, a, b))
        solution.store(at, duals, solved)
    return solution.in_units(unit, original)


def _solve_from_margins(duals: Duals) -> SetSolution:
    """Solve from the guess that all samples are on their margins, likely with many features."""
    bound = np.zeros(duals.box.shape, dtype=bool)
    sets = ActiveSets(bound, bound, np.zeros(duals.box.shape), np.zeros(len(duals.box)))
    return optimum.solve_from_sets(duals, sets)


def _solve_loosest(
    duals: Duals, box: np.ndarray, problems: np.ndarray, solution: BatchSolution
) -> None:
    """Solve the problem with the loosest box, and store its solution for all boxes that contain it.

    The loosest box contains every box, so a solution inside a box is also optimal for that box,
    eq. (14) of svm.
    """
    C, solved = box[problems], _solve_from_margins(duals)
    alpha = solved.fraction * duals.box
    # with a sample away from both bounds the intercept is unique
    holds = (alpha <= C).all(axis=1) & strictly_free(C, alpha).any(axis=1)
    at = problems[holds & solved.settled & optimum.are_optimal(duals, solved)]
    solution.decision[at] = duals.signs * (solved.margin + 1.0)
    solution.alpha[at] = alpha
    solution.intercept[at] = solved.intercept
    solution.converged[at] = True


@dataclass(frozen=True)
class Strip:
    """Samples near their margins. The others are fixed at alpha = 0 or alpha = C.

    Samples far outside of their margins have alpha = 0, samples far inside have alpha = C. A sample
    is fixed if it is far from its margin in all pilots. The other problems are solved on the
    remaining samples, and checked on all.
    inside (m,): indices of the samples near their margins. low, up (n,): masks of the samples fixed
    at alpha = 0 and at alpha = C.
    """

    inside: np.ndarray
    low: np.ndarray
    up: np.ndarray

    def admits(self, signs: np.ndarray, box: np.ndarray) -> np.ndarray:
        """Return a mask (B,) of problems that can satisfy sum(beta) = 0 with the fixed samples."""
        fixed = (signs[:, self.up] * box[:, self.up]).sum(axis=1)
        y, C = signs[:, self.inside], box[:, self.inside]
        # eq. (4) of screening
        return (fixed < (C * (y < 0)).sum(axis=1)) & (-fixed < (C * (y > 0)).sum(axis=1))

    def solve(self, part: FeatureSystem, duals: Duals, start: Start) -> SetSolution:
        """Solve on the strip, whose system is `part`, and check the fixed samples."""
        whole = duals.system
        assert isinstance(whole, FeatureSystem)
        signs, box = duals.signs, duals.box
        bound = signs[:, self.up] * box[:, self.up]
        # eq. (2) of screening
        system = part.with_ridge(whole.ridge, bound @ whole.Z[self.up])
        inner = Duals(system, signs[:, self.inside], box[:, self.inside])
        solved = optimum.solve_from_values(inner, start)  # eq. (3) of screening
        a = np.broadcast_to(self.up.astype(float), box.shape).copy()
        a[:, self.inside] = solved.fraction
        margin = duals.margins(solved.coef, solved.intercept)
        # eq. (5) of screening
        wrong = ((self.low & (margin < 0.0)) | (self.up & (margin > 0.0))) & (box > 0.0)
        # without a free sample the intercept depends on samples outside the strip
        free = strictly_free(inner.box, inner.box * solved.fraction).any(axis=1)
        settled = solved.settled & free & ~wrong.any(axis=1)
        return replace(solved, fraction=a, margin=margin, settled=settled)


def screen(margins: np.ndarray) -> Strip | None:
    """Return the strip from pilot margins (problems, samples), or None if it saves too little."""
    if len(margins) < 2:
        return None
    center = margins.mean(axis=0)
    spread = _DEVIATIONS * margins.std(axis=0)
    low, up = center - spread > 0.0, center + spread < 0.0  # eq. (1) of screening
    inside = np.flatnonzero(~(low | up))
    if not 0 < len(inside) <= _LARGEST_STRIP * margins.shape[1]:
        return None
    return Strip(inside, low, up)
