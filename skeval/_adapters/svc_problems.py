"""Two-class problems of the fits of an SVC, and their solvers.

Fits differ in the boxes of their samples, in their columns after the transformers, and in gamma.
Everything that the fits share is prepared once.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.class_weight import compute_class_weight

from skeval._adapters.column_steps import ColumnMaps, ColumnSteps
from skeval._resampling.plans import PlanBlock, ResamplingPlan, concatenate_blocks, whole_plan
from skeval._resampling.target import Target
from skeval._solvers.active_set import strictly_free
from skeval._solvers.kernel_svm import Kernels, KernelSVMBatch, squared_distances
from skeval._solvers.linear_svm import LinearSVMBatch, solve_feature_svms, solve_gram_svms
from skeval._solvers.newton import uses_features

MIN_FITS, MAX_CLASSES = 10, 5
"""Fits per pair of classes from which on a solver is faster, and most classes."""

LARGE = 1000
"""Number of samples from which on even a single linear fit in feature space is faster."""

MAX_GRAM, MAX_OWN = 600, 200
"""Maximum number of samples for which solvers on Gram matrices are faster; for two classes under
shuffled labels, which take libsvm longer, also if each fit has a matrix of its own."""

KEPT_KERNELS = 2**20
"""Maximum size of the Gram matrices in memory at a time, in numbers; they stay in the cache."""

TIED = 1e-8
"""Largest decision value whose sign may be a rounding error; such a value counts as 0."""


def make_boxes(C: float, class_weight: Any, target: Target) -> Boxes | None:
    """Return the boxes of a classifier, None unless every class has a positive finite weight."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        return Boxes(C, target, None)
    try:
        of_class = compute_class_weight(class_weight, classes=target.classes, y=target.y)
    except (TypeError, ValueError):  # the classifier raises the same error
        return None
    positive = np.all(np.isfinite(of_class) & (of_class > 0))
    return Boxes(C, target, of_class) if positive else None


class Boxes:
    """Boxes ``0 <= alpha_i <= C_i`` of fits: ``C_i`` is C times class weight and sample weight.

    The weights "balanced" depend on the training samples of a fit, as in an SVC: repeated samples
    are counted repeatedly, weighted samples once. In a logistic regression ``C_i`` is the weight of
    a sample.
    """

    def __init__(self, C: float, target: Target, of_class: np.ndarray | None) -> None:
        self._C = float(C)
        self._codes, self._n_classes = target.codes, int(target.codes.max()) + 1
        self._of_class = of_class  # (n_classes,), None if class weights depend on the fit

    def serves_logistic(self, block: PlanBlock) -> bool:
        """Whether LogisticRegression uses the same class weights.

        scikit-learn versions compute balanced weights differently.
        """
        return self._of_class is not None or block.train.dtype.kind in "iu"

    def settles(self, box: np.ndarray, alpha: np.ndarray) -> np.ndarray:
        """Return a mask of the fits (n_fits,) that have the same intercept in libsvm.

        The intercept is not unique if every sample is at a bound, for example at the upper bound
        when the upper bounds of both classes have the same sum. Libsvm then returns the middle,
        unless rounding of class weights leaves a sample a little below its bound.
        """
        if self._of_class is not None and np.all(self._of_class == 1.0):
            return np.ones(len(box), dtype=bool)
        return np.asarray(strictly_free(box, alpha).any(axis=1))

    def __call__(self, block: PlanBlock) -> np.ndarray:
        """Return the upper bounds (n_fits, n_samples) of the dual variables of each fit."""
        codes = block.order_labels(self._codes)
        if self._of_class is not None:
            return self._C * block.train * self._of_class[codes]
        counts = block.train if block.train.dtype.kind in "iu" else block.train > 0
        members = np.stack([(counts * (codes == c)).sum(axis=1) for c in range(self._n_classes)], 1)
        total = members.sum(axis=1, keepdims=True)
        weights = total / (self._n_classes * np.maximum(members, 1))  # (n_fits, n_classes)
        return self._C * block.train * np.take_along_axis(weights, codes, axis=1)


class PairProblems(NamedTuple):
    """Two-class problems, one for each fit of a block.

    Attributes
    ----------
    block : PlanBlock
        The fits, with the training samples of all classes.
    rows : ndarray of shape (m,)
        The samples of the two classes.
    signs : ndarray of shape (m,) or (n_fits, m)
    box : ndarray of shape (n_fits, m)
    """

    block: PlanBlock
    rows: np.ndarray
    signs: np.ndarray
    box: np.ndarray

    def restrict(self, maps: ColumnMaps) -> PairProblems:
        """Return the problems with no training samples in fits that have no usable columns."""
        return self._replace(box=np.where(maps.usable[:, None], self.box, 0.0))


class Solutions(NamedTuple):
    """Decision values (n_fits, n_samples), nan for unsolved fits, and alpha (n_fits, m)."""

    decision: np.ndarray
    alpha: np.ndarray


class LinearPairSolver:
    """Solves linear SVMs, on columns that each fit may scale or select."""

    def __init__(self, steps: ColumnSteps) -> None:
        self.steps = steps
        self._batches: dict[bytes, LinearSVMBatch] = {}

    def is_faster(self, plan: ResamplingPlan, n_classes: int) -> bool:
        """Return whether the solver is faster than libsvm for the sizes of data and plan."""
        n, enough = plan.n_samples, has_enough_fits(plan, n_classes)
        if uses_features(n, self.steps.n_columns):
            return enough or (n >= LARGE and n_classes == 2)
        return enough and n <= MAX_GRAM

    def solve(self, problems: PairProblems) -> Solutions:
        steps = self.steps
        if not steps.changes:
            return self._solve_scaled(problems, None)
        maps = steps.maps(problems.block)
        problems = problems.restrict(maps)
        on_features = uses_features(len(problems.rows), steps.n_columns)
        if steps.reduces and on_features:
            return self._solve_reduced(problems, maps)
        # A column that is constant in a fit changes nothing there and need not be dropped.
        if on_features or (steps.scaler is None and not steps.reduces):
            return self._solve_scaled(problems, None if steps.scaler is None else maps.scale)
        return self._solve_on_grams(problems, maps)

    def _solve_scaled(self, problems: PairProblems, scales: np.ndarray | None) -> Solutions:
        """Return the solutions on all columns, divided by scales (n_fits, p)."""
        batch, X = self._prepare(problems.rows), self.steps.X
        solution = batch.solve(problems.signs, problems.box, scales=scales)
        decision = solution.decision
        if len(problems.rows) < len(X):
            decision = batch.decide(X, problems.signs, solution, scales=scales)
        return Solutions(decision, solution.alpha)

    def _solve_reduced(self, problems: PairProblems, maps: ColumnMaps) -> Solutions:
        """Return the solutions on few columns of each fit, a stack of fits at a time."""
        _, rows, signs, box = problems
        X, n_fits = self.steps.X, len(box)
        # samples of other classes have boxes of 0
        all_signs, all_boxes = np.ones((n_fits, len(X))), np.zeros((n_fits, len(X)))
        all_signs[:, rows], all_boxes[:, rows] = signs, box
        solutions = Solutions(np.full((n_fits, len(X)), np.nan), np.zeros(box.shape))
        for fits, columns in maps.stack(X):
            columns -= columns.mean(axis=1, keepdims=True)
            solution = solve_feature_svms(columns, all_signs[fits], all_boxes[fits])
            solutions.decision[fits], solutions.alpha[fits] = (
                solution.decision,
                solution.alpha[:, rows],
            )
        return solutions

    def _solve_on_grams(self, problems: PairProblems, maps: ColumnMaps) -> Solutions:
        """Return the solutions on many columns; fits with the same columns share a Gram matrix."""
        X, rows, n_fits = self.steps.X, problems.rows, len(problems.box)
        solutions = Solutions(np.full((n_fits, len(X)), np.nan), np.zeros(problems.box.shape))
        for groups in divide_groups(group_equal(maps), len(X)):
            K = np.empty((len(groups), len(X), len(X)))
            for gram, fits in zip(K, groups, strict=True):
                columns = maps.transform(X, fits[0])
                columns -= columns.mean(axis=0)
                np.matmul(columns, columns.T, out=gram)
            fits, which = np.concatenate(groups), number_groups(groups)
            part = take_fits(problems, fits)
            inner = K if len(rows) == len(X) else K[:, rows[:, None], rows]
            solution = solve_gram_svms(inner, which, part.signs, part.box)
            solutions.alpha[fits] = solution.alpha
            beta = part.signs * solution.alpha
            for number, gram in enumerate(K):
                at = which == number
                decision = beta[at] @ gram[rows] + solution.intercept[at, None]
                solutions.decision[fits[at]] = decision
        return solutions

    def _prepare(self, rows: np.ndarray) -> LinearSVMBatch:
        """Return the batch for problems on some samples, which fits of a pair of classes share."""
        key = rows.tobytes()
        if key not in self._batches:
            self._batches[key] = LinearSVMBatch(self.steps.X[rows])
        return self._batches[key]


class GramPairSolver:
    """Solves SVMs on one Gram matrix K (n, n) that all fits share."""

    def __init__(self, K: np.ndarray) -> None:
        self._K = 0.5 * (K + K.T)
        self._batches: dict[bytes, KernelSVMBatch] = {}

    def is_faster(self, plan: ResamplingPlan, n_classes: int) -> bool:
        """Return whether the solver is faster than libsvm for the sizes of data and plan."""
        return plan.n_samples <= MAX_GRAM and has_enough_fits(plan, n_classes)

    def solve(self, problems: PairProblems) -> Solutions:
        kernels = Kernels(self._K[None], np.zeros(len(problems.box), dtype=np.intp))
        return self.solve_with(kernels, problems)

    def solve_with(self, kernels: Kernels, problems: PairProblems) -> Solutions:
        """Solve problems whose kernels are similar to one matrix."""
        rows = problems.rows
        key = rows.tobytes()
        if key not in self._batches:
            self._batches[key] = KernelSVMBatch(self._K[np.ix_(rows, rows)], rows)
        batch = self._batches[key]
        solutions = batch.solve(kernels, problems.signs, problems.box, len(self._K))
        return Solutions(solutions.decision, solutions.alpha[:, rows])


class KernelPairSolver:
    """Solves SVMs with the kernel "rbf", on columns that each fit may scale, or "linear".

    `gamma` is the parameter of the estimator: a number, "scale" or "auto".
    """

    def __init__(self, X: Any, steps: ColumnSteps | None, kernel: str, gamma: Any) -> None:
        self._X, self.steps, self.kernel, self.gamma = X, steps, kernel, gamma
        self._n, self._p = X.shape

    def is_faster(self, plan: ResamplingPlan, n_classes: int) -> bool:
        """Return whether the solver is faster than libsvm for the sizes of data and plan."""
        # the first and the last draw have kernels in common unless each fit has its own
        block = concatenate_blocks([plan.draw(0), plan.draw(plan.n_draws - 1)])
        maps = None if self.steps is None else self.steps.maps(block)
        n_kernels = len(group_equal(maps, self._gammas(block, maps)))
        shared = plan.n_draws > 1 and n_kernels < len(block)
        hard = block.order is not None and n_classes == 2
        most = MAX_GRAM if shared else MAX_OWN if hard else 0
        return plan.n_samples <= most and has_enough_fits(plan, n_classes)

    def solve(self, problems: PairProblems) -> Solutions:
        maps = None
        if self.steps is not None:
            maps = self.steps.maps(problems.block)
            problems = problems.restrict(maps)
        gamma = self._gammas(problems.block, maps)
        solutions = Solutions(np.full((len(gamma), self._n), np.nan), np.zeros(problems.box.shape))
        for groups in divide_groups(group_equal(maps, gamma), self._n):
            K = np.stack([self._gram(fits[0], gamma, maps) for fits in groups])
            kernels, fits = Kernels(K, number_groups(groups)), np.concatenate(groups)
            solved = self._near.solve_with(kernels, take_fits(problems, fits))
            solutions.decision[fits], solutions.alpha[fits] = solved
        return solutions

    @cached_property
    def _near(self) -> GramPairSolver:
        """Solver of problems whose kernels are similar to the kernel of the fit to all samples."""
        block = whole_plan(self._n).draw(0)
        maps = None if self.steps is None else self.steps.maps(block)
        return GramPairSolver(self._gram(0, self._gammas(block, maps), maps))

    def _gram(self, fit: int, gamma: np.ndarray, maps: ColumnMaps | None) -> np.ndarray:
        """Return the Gram matrix (n, n) of all samples in one of the fits."""
        pairs = self._pairs if maps is None else self._pair(maps.transform(self._X, fit))
        return pairs if self.kernel == "linear" else np.exp(-gamma[fit] * pairs)

    @cached_property
    def _pairs(self) -> np.ndarray:
        """Products, or squared distances, of all pairs of samples."""
        # smaller numbers lose fewer digits in distances
        return self._pair(self._X if issparse(self._X) else self._X - self._X.mean(axis=0))

    def _pair(self, X: Any) -> np.ndarray:
        """Return products, or squared distances, of all pairs of rows, eq. (1) of kernels."""
        products = X @ X.T
        products = products.toarray() if issparse(products) else products
        if self.kernel == "linear":
            return np.asarray(products)
        squares = np.diagonal(products).copy()
        distances = squared_distances(products, squares, squares)
        np.fill_diagonal(distances, 0.0)
        return distances

    def _gammas(self, block: PlanBlock, maps: ColumnMaps | None) -> np.ndarray:
        """Return gamma (n_fits,) of each fit."""
        kept = np.full(len(block), self._p)
        if maps is not None:
            kept = np.maximum(1, maps.n_kept)
        if self.gamma == "auto":
            return 1.0 / kept
        if self.gamma != "scale":
            return np.full(len(block), float(self.gamma))
        counts = block.train if block.train.dtype.kind in "iu" else block.train > 0
        variance = self._variances(counts.astype(float), maps, kept)
        flat = variance == 0
        return np.where(flat, 1.0, 1.0 / (kept * np.where(flat, 1.0, variance)))

    def _variances(
        self, counts: np.ndarray, maps: ColumnMaps | None, kept: np.ndarray
    ) -> np.ndarray:
        """Return the variance (n_fits,) of all numbers in each training set."""
        shares = counts / counts.sum(axis=1, keepdims=True)
        first, second, center = self._moments
        first, second = shares @ first, shares @ second  # (n_fits, p)
        if maps is not None:
            shift, scale = maps.shift - center, maps.scale
            second = (second - 2.0 * shift * first + shift**2) / scale**2
            first = (first - shift) / scale
        mean, square = first.sum(axis=1) / kept, second.sum(axis=1) / kept
        variance = square - mean**2
        canceled = ~(variance > 1e-6 * square)
        for fit in np.flatnonzero(canceled).tolist():
            variance[fit] = self._direct_variance(counts[fit], maps, fit)
        return variance

    @cached_property
    def _moments(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the sums of the centered samples and of their squares, and the centers.

        The sums are over each row. If fits scale their columns, the values are not summed.
        """
        X = self._X
        if issparse(X):
            return X.sum(axis=1).reshape(-1, 1), X.power(2).sum(axis=1).reshape(-1, 1), np.zeros(1)
        if self.steps is None:
            center = X.mean()
            X = X - center
            return X.sum(axis=1)[:, None], (X**2).sum(axis=1)[:, None], np.array([center])
        center = X.mean(axis=0)
        return X - center, (X - center) ** 2, center

    def _direct_variance(self, counts: np.ndarray, maps: ColumnMaps | None, fit: int) -> float:
        """Return the variance of all numbers in a training set, computed in two passes."""
        rows = np.flatnonzero(counts)
        part = self._X[rows]
        part = part.toarray() if issparse(part) else part
        if maps is not None:
            part = maps.transform(part, fit)[:, np.isfinite(maps.scale[fit])]
        return (
            float(np.repeat(part, counts[rows].astype(np.intp), axis=0).var()) if part.size else 0.0
        )


def has_enough_fits(plan: ResamplingPlan, n_classes: int) -> bool:
    """Return whether a plan has enough fits for every pair of classes to be a batch."""
    n_pairs = n_classes * (n_classes - 1) // 2
    return n_classes <= MAX_CLASSES and plan.n_fits >= MIN_FITS * n_pairs


PairSolver = LinearPairSolver | GramPairSolver | KernelPairSolver


def group_equal(maps: ColumnMaps | None, gamma: np.ndarray | None = None) -> list[np.ndarray]:
    """Return groups of fits that share their columns and gamma (n_fits,), so their kernel."""
    parts = [part for part in (gamma, *(maps or ())) if part is not None]
    groups: dict[bytes, list[int]] = {}
    for fit, rows in enumerate(zip(*parts, strict=True)):
        groups.setdefault(b"".join(row.tobytes() for row in rows), []).append(fit)
    return [np.array(fits) for fits in groups.values()]


def divide_groups(groups: list[np.ndarray], n_samples: int) -> Iterator[list[np.ndarray]]:
    """Yield groups of fits whose Gram matrices (n_samples, n_samples) are kept together."""
    size = max(1, KEPT_KERNELS // n_samples**2)
    return (groups[start : start + size] for start in range(0, len(groups), size))


def number_groups(groups: list[np.ndarray]) -> np.ndarray:
    """Return the number of the group of each fit, group after group."""
    return np.repeat(np.arange(len(groups)), [len(fits) for fits in groups])


def take_fits(problems: PairProblems, fits: np.ndarray) -> PairProblems:
    """Return the problems of some fits."""
    signs = problems.signs if problems.signs.ndim == 1 else problems.signs[fits]
    return problems._replace(block=problems.block.take(fits), signs=signs, box=problems.box[fits])
