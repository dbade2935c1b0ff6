"""Many logistic regressions over the same samples, solved together by Newton's method.

The problems differ in their weights (0 leaves a sample out, an integer multiple repeats it), in
their labels, or in the scales of the columns. Where features are few, the matrices of all Newton
steps are one product of weights with products of columns; where they are many, Gram matrices are.
Numbers in parentheses are the equations of doc/derivations/logistic.rst.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from scipy.special import expit, softmax

from skeval._solvers import newton
from skeval._solvers.column_scales import ColumnScales
from skeval._solvers.newton import (
    FeatureSystem,
    GramSystem,
    NewtonSystem,
    ProblemRows,
    SelectedFeatures,
)

# Numbers in one (problems, samples) array, and in one stack of matrices, of a block of problems.
_BLOCK, _MATRIX_BLOCK, _GRAM_BLOCK = 2**16, 2**18, 2**20
# A problem takes so many Newton steps at most, and a step is halved so many times.
_MAX_ITER, _HALVINGS, _MARGIN_STEPS = 40, 25, 4
# The last step changes decision values by less than this share of 1 and the largest of them, and
# leaves a gradient below this share of the sum of weights (7).
_LAST_STEP, _GRADIENT = 1e-6, 1e-10
# Products of rows are worth their time for so many Gram matrices.
_MANY_GRAMS = 64
# Columns depend on each other where the matrix of their products has such eigenvalues.
_DEPENDENT = 1e-10


@dataclass(frozen=True, eq=False)
class LogisticSolution:
    """The solutions of B problems over n samples.

    decision: (B, n) of two classes, the log odds of the second, or (B, n, K), of which the classes
    of a sample sum to 0 at the intercept. converged (B,): the problems that are at their optimum.
    """

    decision: np.ndarray
    converged: np.ndarray


class LogisticBatch:
    """Logistic regressions on the rows of X (n, p), which is prepared once."""

    @np.errstate(all="ignore")
    def __init__(self, X: np.ndarray) -> None:
        self._columns = ColumnScales(X)
        n, p = self._columns.standard.shape
        self.uses_features = newton.uses_features(n, p)
        ridge = self._columns.ridge()
        self._system: FeatureSystem | GramSystem
        if self.uses_features:
            self._system = FeatureSystem(self._columns.standard, ridge)
        else:
            self._system = GramSystem(self._columns.gram(ridge))

    @np.errstate(all="ignore")  # A problem that diverges ends as nan and has not converged.
    def solve(
        self,
        codes: np.ndarray,
        weights: np.ndarray,
        *,
        scales: np.ndarray | None = None,
        penalised: bool = True,
    ) -> LogisticSolution:
        """Minimise the weighted log loss plus half of the squared coefficients, if penalised (1).

        `codes` (n,) or (B, n) of the classes 0 to K - 1, `weights` (B, n). Problem ``b`` sees the
        columns divided by `scales` (B, p), if given. More than two classes need few features, and
        so do coefficients without a penalty.
        """
        columns, system = self._columns, self._system
        ridge = None if scales is None else columns.ridge_of(scales)
        if not self.uses_features and ridge is not None and len(ridge) >= _MANY_GRAMS:
            columns.keep_row_products()
        if not penalised and isinstance(system, FeatureSystem):
            ridge, system = None, system.with_ridge(np.zeros_like(columns.scale))

        def system_of(problems: np.ndarray) -> NewtonSystem:
            if ridge is None:
                return system
            if isinstance(system, FeatureSystem):
                return system.with_ridge(ridge[problems])
            return GramSystem(columns.gram(ridge[problems]))

        def mean_system(problems: np.ndarray) -> NewtonSystem:
            if ridge is None:
                return system
            mean = ridge[problems].mean(axis=0, keepdims=True)
            if isinstance(system, FeatureSystem):
                return system.with_ridge(mean)
            return GramSystem(columns.gram(mean))

        n = weights.shape[1]
        size = _BLOCK // n if self.uses_features else _GRAM_BLOCK // n**2
        solution = _solve_blocks(system_of, codes, weights, max(8, size), mean_system)
        if not penalised and isinstance(system, FeatureSystem):
            # Without a penalty columns that depend on each other leave predictions open.
            eigenvalues = np.linalg.eigvalsh(system.weighted_products((weights > 0).astype(float)))
            solution.converged[eigenvalues[:, 0] <= _DEPENDENT * eigenvalues[:, -1]] = False
        return solution


@np.errstate(all="ignore")
def solve_selected_logistic(
    X: np.ndarray, codes: np.ndarray, weights: np.ndarray
) -> LogisticSolution:
    """Solve two-class problems of which each sees other features, X (B, n, q), as `LogisticBatch`.

    The columns are centred on all samples.
    """
    scale = np.sqrt(np.mean(X**2, axis=1))
    scale[scale == 0] = 1.0
    system = SelectedFeatures(X / scale[:, None, :], 1.0 / scale**2)
    return _solve_blocks(system.take, codes, weights, max(8, _MATRIX_BLOCK // X[0].size))


SystemOf = Callable[[np.ndarray], NewtonSystem]
"""The system of some problems."""


def _solve_blocks(
    system_of: SystemOf,
    codes: np.ndarray,
    weights: np.ndarray,
    size: int,
    mean_system: SystemOf | None = None,
) -> LogisticSolution:
    """Solve problems in blocks; where all labels are equal, from the solution of mean weights."""
    n_classes = int(codes.max()) + 1
    same_labels, codes = codes.ndim == 1, np.broadcast_to(codes, weights.shape)
    values = 1 if n_classes == 2 else n_classes
    decision = np.full((*weights.shape, values), np.nan)
    converged = np.zeros(len(weights), dtype=bool)
    present = [((codes == code) & (weights > 0)).any(axis=1) for code in range(n_classes)]
    left = np.flatnonzero(np.all(present, axis=0))
    start: Point | None = None
    make = TwoClasses if n_classes == 2 else partial(ManyClasses, n_classes=n_classes)
    if same_labels and mean_system is not None and len(left) > 1:
        mean = weights[left].mean(axis=0, keepdims=True)
        problems = make(mean_system(left), codes[:1], mean)
        start, settled = solve_newton(problems, problems.start())
        start = start if settled[0] else None
    for at in newton.divide(left, size):
        problems = make(system_of(at), codes[at], weights[at])
        point = problems.start() if start is None else problems.start_from(start)
        point, settled = solve_newton(problems, point)
        done = at[settled]
        found = point.f[settled]
        decision[done] = found[..., None] if n_classes == 2 else found.transpose(0, 2, 1)
        converged[done] = True
    return LogisticSolution(decision[..., 0] if n_classes == 2 else decision, converged)


@dataclass
class Point(ProblemRows):
    """Where B problems stand: coefficients v, intercepts b and decision values f of all samples.

    v (B, q), b (B,) and f (B, n); of K > 2 classes v (B, K, q), b (B, K) and f (B, K, n).
    """

    v: np.ndarray
    b: np.ndarray
    f: np.ndarray

    def moved(self, step: Point, length: np.ndarray) -> Point:
        """Return the point after some share (B,) of a step."""

        def move(start: np.ndarray, change: np.ndarray) -> np.ndarray:
            return start + length.reshape(-1, *[1] * (start.ndim - 1)) * change

        return Point(move(self.v, step.v), move(self.b, step.b), move(self.f, step.f))


class LogisticProblems(Protocol):
    """B problems of one number of classes."""

    def take(self, problems: np.ndarray) -> LogisticProblems:
        """Return some of the problems."""

    def start(self) -> Point:
        """Return the point where everything is 0."""

    def start_from(self, point: Point) -> Point:
        """Return the point where all problems have the coefficients of one."""

    def value(self, point: Point) -> np.ndarray:
        """Return what is minimised (B,) (1)."""

    def gradient(self, point: Point) -> np.ndarray:
        """Return the largest derivative (B,) as a share of the sum of weights (7)."""

    def step(self, point: Point) -> Point:
        """Return Newton's step from a point."""


def solve_newton(problems: LogisticProblems, point: Point) -> tuple[Point, np.ndarray]:
    """Return the points where Newton's method ends, and which of them are optima (B,)."""
    result, settled = point, np.zeros(len(point.b), dtype=bool)
    left, value = np.arange(len(point.b)), problems.value(point)
    result = point.take(left)
    for _ in range(_MAX_ITER):
        step = problems.step(point)
        length = np.ones(len(left))
        moved = point.moved(step, length)
        after = problems.value(moved)
        for _ in range(_HALVINGS):
            worse = ~(after <= value + 1e-12 * np.abs(value))
            if not worse.any():
                break
            length[worse] *= 0.5  # (6)
            moved = point.moved(step, length)
            after = problems.value(moved)
        axes = tuple(range(1, step.f.ndim))
        size = np.abs(step.f).max(axis=axes)
        point, value = moved, after
        largest = np.abs(point.f).max(axis=axes)
        last = (size <= _LAST_STEP * (1.0 + largest)) & (length == 1.0)  # (7)
        if last.any():
            last[last] = problems.take(last).gradient(point.take(last)) <= _GRADIENT
            result.put(left[last], point.take(last))
            settled[left[last]] = True
        keep = ~last & np.isfinite(size) & np.isfinite(value)
        if not keep.any():
            break
        if not keep.all():
            left, value = left[keep], value[keep]
            problems, point = problems.take(keep), point.take(keep)
    return result, settled


@dataclass(frozen=True, eq=False)
class TwoClasses:
    """Problems of two classes: signs of the second class t (B, n) are 1, weights s (B, n)."""

    system: NewtonSystem
    t: np.ndarray
    s: np.ndarray

    def take(self, problems: np.ndarray) -> TwoClasses:
        return TwoClasses(self.system.take(problems), self.t[problems], self.s[problems])

    def start(self) -> Point:
        v, b = self.system.zeros(len(self.s)), np.zeros(len(self.s))
        if not isinstance(self.system, GramSystem):
            return Point(v, b, np.zeros(self.s.shape))
        # Where features abound the kernel is nearly a multiple of the identity, for which each
        # sample has the margin f = k s (1 - expit(f)).
        k = np.maximum(self.s * np.reshape(self.system.kernel_scale(), (-1, 1)), 1e-300)
        margin = np.minimum(np.log1p(k), 0.5 * k)
        for _ in range(_MARGIN_STEPS):
            rest = k * expit(-margin)
            margin -= (margin - rest) / (1.0 + rest * expit(margin))  # (8)
        v = np.where(self.t > 0, 1.0, -1.0) * self.s * expit(-margin)
        return Point(v, b, self.system.scores(v))

    def start_from(self, point: Point) -> Point:
        v, b = (np.repeat(part, len(self.s), axis=0) for part in (point.v, point.b))
        return Point(v, b, self.system.scores(v) + b[:, None])

    def value(self, point: Point) -> np.ndarray:
        loss = np.logaddexp(0.0, np.where(self.t > 0, -point.f, point.f))
        return np.einsum("bi,bi->b", self.s, loss) + 0.5 * self.system.squared_norm(point.v)  # (1)

    def gradient(self, point: Point) -> np.ndarray:
        beta = self.s * (self.t - expit(point.f))  # (2)
        return np.abs(self.system.gradient(beta, point.v)).max(axis=1) / self.s.sum(axis=1)

    def step(self, point: Point) -> Point:
        p = expit(point.f)
        D = self.s * p * (1.0 - p)  # (3)
        step_to = self.system.factor(D)
        step = step_to(np.zeros_like(D), self.s * (self.t - p), point.v)
        return Point(step.dv, step.db, step.df)


class ManyClasses:
    """Problems of K classes on few features that all problems share, codes and weights (B, n)."""

    def __init__(
        self, system: NewtonSystem, codes: np.ndarray, s: np.ndarray, n_classes: int
    ) -> None:
        if not isinstance(system, FeatureSystem):
            raise TypeError("more than two classes need a system in feature space.")
        self.system, self.codes, self.s, self.n_classes = system, codes, s, n_classes
        self._first, self._second = np.triu_indices(n_classes)

    def take(self, problems: np.ndarray) -> ManyClasses:
        system = self.system.take(problems)
        return ManyClasses(system, self.codes[problems], self.s[problems], self.n_classes)

    def start(self) -> Point:
        B, n = self.s.shape
        q, K = self.system.rank - 1, self.n_classes
        return Point(np.zeros((B, K, q)), np.zeros((B, K)), np.zeros((B, K, n)))

    def start_from(self, point: Point) -> Point:
        v, b = (np.repeat(part, len(self.s), axis=0) for part in (point.v, point.b))
        return Point(v, b, self._changes(v, b))

    def value(self, point: Point) -> np.ndarray:
        largest = point.f.max(axis=1)
        total = largest + np.log(np.exp(point.f - largest[:, None]).sum(axis=1))
        own = np.take_along_axis(point.f, self.codes[:, None, :], axis=1)[:, 0]
        penalty = np.einsum("bkj,bj->b", point.v**2, self._ridge())
        return np.einsum("bi,bi->b", self.s, total - own) + 0.5 * penalty  # (1)

    def gradient(self, point: Point) -> np.ndarray:
        right = self._right(softmax(point.f, axis=1), point.v)
        return np.abs(right).max(axis=(1, 2)) / self.s.sum(axis=1)

    def step(self, point: Point) -> Point:
        p = softmax(point.f, axis=1)  # (B, K, n)
        right = self._right(p, point.v)
        B, K, q = right.shape
        solution = newton.factor_each(self._hessian(p))(right.reshape(B, K * q, 1))
        d = solution.reshape(B, K, q)
        return Point(d[..., :-1], d[..., -1], self._changes(d[..., :-1], d[..., -1]))

    def _ridge(self) -> np.ndarray:
        """Return the ridge (B, q) of each problem."""
        return np.broadcast_to(self.system.ridge, (len(self.s), self.system.rank - 1))

    def _changes(self, v: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return decision values (B, K, n) of coefficients and intercepts."""
        B, K, q = v.shape
        return self.system.scores(v.reshape(B * K, q)).reshape(B, K, -1) + b[..., None]

    def _right(self, p: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return minus the gradient (B, K, q + 1) (2)."""
        beta = -self.s[:, None] * p
        at = self.codes[:, None, :]
        own = np.take_along_axis(beta, at, axis=1) + self.s[:, None]
        np.put_along_axis(beta, at, own, axis=1)
        B, K, n = p.shape
        right = self.system.moments(beta.reshape(B * K, n)).reshape(B, K, -1)
        right[..., :-1] -= self._ridge()[:, None] * v
        return right

    def _hessian(self, p: np.ndarray) -> np.ndarray:
        """Return the matrices (B, K (q + 1), K (q + 1)) of Newton's steps (4)."""
        B, K, n = p.shape
        first, second = self._first, self._second
        D = -self.s[:, None] * p[:, first] * p[:, second]  # (B, pairs of classes, n)
        D[:, first == second] += self.s[:, None] * p
        parts = self.system.weighted_products(D.reshape(-1, n))
        q = parts.shape[-1]
        parts = parts.reshape(B, len(first), q, q)
        H = np.empty((B, K, q, K, q))
        for number, (k, m) in enumerate(zip(first, second, strict=True)):
            H[:, k, :, m] = H[:, m, :, k] = parts[:, number]
        j = np.arange(q)
        # A change of all classes alike changes nothing but the penalty, which is least where
        # coefficients sum to 0: a stiffness against it moves no optimum and makes H regular (5).
        stiff = np.einsum("bkjkj->bj", H) / K**2
        stiff[stiff == 0] = 1.0
        H[:, :, j, :, j] += stiff.T[:, :, None, None]
        for code in range(K):
            H[:, code, j[:-1], code, j[:-1]] += self._ridge()
        return H.reshape(B, K * q, K * q)
