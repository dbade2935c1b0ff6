"""Two-class problems of the fits of an SVC, and their solvers.

Fits differ in the boxes of their samples, in their columns after the transformers, and in gamma.
Everything that the fits share is prepared once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.class_weight import compute_class_weight

from skeval._adapters.column_steps import ColumnMaps, ColumnSteps
from skeval._resampling.plans import PlanBlock, whole_plan
from skeval._resampling.target import Target
from skeval._solvers.active_set import strictly_free
from skeval._solvers.kernel_svm import KernelForm, Kernels, KernelSVMBatch, squared_distances
from skeval._solvers.libsvm import solve_each
from skeval._solvers.linear_svm import LinearSVMBatch, solve_feature_svms
from skeval._solvers.newton import uses_features

FITS_OF_KERNEL = 10
"""Average number of fits that must share a Gram matrix for a batch to be faster than libsvm."""

KEPT_KERNELS = 2**23
"""Maximum size of the Gram matrices in memory at a time, in numbers."""

TIED = 1e-8
"""Largest decision value whose sign may be a rounding error."""


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

    def class_weights(self, counts: np.ndarray) -> np.ndarray:
        """Return the class weights of a training set with the given class counts (n_classes,)."""
        if self._of_class is not None:
            return self._of_class
        return counts.sum() / (self._n_classes * counts)

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
    lower : float
        Sign of the class with the lower code.
    """

    block: PlanBlock
    rows: np.ndarray
    signs: np.ndarray
    box: np.ndarray
    lower: float = 1.0

    def restrict(self, maps: ColumnMaps) -> PairProblems:
        """Return the problems with no training samples in fits that have no usable columns."""
        return self._replace(box=np.where(maps.usable[:, None], self.box, 0.0))


class Solutions(NamedTuple):
    """Decision values (n_fits, n_samples), nan for unsolved fits, and alpha (n_fits, m)."""

    decision: np.ndarray
    alpha: np.ndarray


def are_certain(values: np.ndarray, test: np.ndarray, noise: float = 0.0) -> np.ndarray:
    """Return a mask of the fits (n_fits,) whose labels rounding and `noise` cannot change.

    Decision values (n_fits, n_samples) of unsolved fits are nan. The estimator does the other fits,
    so that samples on the boundary are predicted as in a loop.
    """
    doubtful = np.isnan(values) | ((np.abs(values) <= max(TIED, noise)) & test)
    return np.asarray(~doubtful.any(axis=1))


class PairSolver(Protocol):
    """Solves two-class problems."""

    def solve(self, problems: PairProblems) -> Solutions:
        """Return the solutions."""


class LinearPairSolver:
    """Solves linear SVMs, on columns that each fit may scale, select or project."""

    def __init__(self, steps: ColumnSteps, tol: float = 1e-3) -> None:
        self.steps, self._tol = steps, tol
        self._batches: dict[bytes, LinearSVMBatch] = {}

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

        def gram_of(fit: int) -> np.ndarray:
            columns = maps.transform(steps.X, fit)
            columns -= columns.mean(axis=0)
            return np.asarray(columns[problems.rows] @ columns.T)

        return solve_own_grams(problems, gram_of, len(steps.X), self._tol)

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
        _, rows, signs, box, _ = problems
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
    """Solves SVMs with a kernel of scikit-learn, on columns that each fit may transform.

    `gamma` is the parameter of the estimator: a number, "scale" or "auto".
    """

    def __init__(
        self, X: Any, steps: ColumnSteps | None, form: KernelForm, gamma: Any, tol: float = 1e-3
    ) -> None:
        self._X, self.steps, self._form, self.gamma, self._tol = X, steps, form, gamma, tol
        self._n, self._p = X.shape

    def solve(self, problems: PairProblems) -> Solutions:
        maps = None
        if self.steps is not None:
            maps = self.steps.maps(problems.block)
            problems = problems.restrict(maps)
        gamma = self._gammas(problems.block, maps)
        groups = group_equal(gamma, maps)
        # kernels of selected or projected columns are too different for a common factorization
        reduces = self.steps is not None and self.steps.reduces
        if reduces or (len(groups) > 1 and len(groups) * FITS_OF_KERNEL > len(gamma)):

            def gram_of(fit: int) -> np.ndarray:
                return self._gram(fit, gamma, maps, problems.rows)

            return solve_own_grams(problems, gram_of, self._n, self._tol)
        solutions = Solutions(np.full((len(gamma), self._n), np.nan), np.zeros(problems.box.shape))
        size = max(1, KEPT_KERNELS // self._n**2)
        for start in range(0, len(groups), size):
            part = groups[start : start + size]
            K = np.stack([self._gram(fits[0], gamma, maps) for fits in part])
            kernels = Kernels(K, np.repeat(np.arange(len(part)), [len(fits) for fits in part]))
            fits = np.concatenate(part)
            solved = self._near.solve_with(kernels, take_fits(problems, fits))
            solutions.decision[fits], solutions.alpha[fits] = solved
        return solutions

    @cached_property
    def _near(self) -> GramPairSolver:
        """Solver of problems whose kernels are similar to the kernel of the fit to all samples."""
        block = whole_plan(self._n).draw(0)
        maps = None if self.steps is None else self.steps.maps(block)
        return GramPairSolver(self._gram(0, self._gammas(block, maps), maps))

    def _gram(
        self, fit: int, gamma: np.ndarray, maps: ColumnMaps | None, rows: Any = slice(None)
    ) -> np.ndarray:
        """Return the kernel values (r, n) of some samples with all, in one of the fits."""
        if maps is None:
            return self._form.apply(self._pairs[rows], gamma[fit])
        columns = maps.transform(self._X, fit)
        pairs = columns[rows] @ columns.T
        if self._form.takes_distances:
            squares = np.sum(columns**2, axis=1)
            pairs = squared_distances(pairs, squares[rows], squares)
        return self._form.apply(pairs, gamma[fit])

    @cached_property
    def _pairs(self) -> np.ndarray:
        """Products, or squared distances, of all pairs of samples."""
        X = self._X
        if self._form.takes_distances and not issparse(X):
            X = X - X.mean(axis=0)  # smaller numbers lose fewer digits in distances
        products = X @ X.T
        products = products.toarray() if issparse(products) else products
        if not self._form.takes_distances:
            return np.asarray(products)
        squares = np.diagonal(products).copy()
        pairs = squared_distances(products, squares, squares)
        np.fill_diagonal(pairs, 0.0)
        return pairs

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
        if maps is not None and self.steps is not None and self.steps.reduces:
            fits = np.flatnonzero(maps.usable).tolist()
            variance = np.zeros(len(block))
            variance[fits] = [self._direct_variance(counts[fit], maps, fit) for fit in fits]
        else:
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
        if maps is not None and self.steps is not None:
            part = maps.transform(part, fit)
            part = part if self.steps.reduces else part[:, np.isfinite(maps.scale[fit])]
        return (
            float(np.repeat(part, counts[rows].astype(np.intp), axis=0).var()) if part.size else 0.0
        )


def solve_own_grams(
    problems: PairProblems, gram_of: Callable[[int], np.ndarray], n_samples: int, tol: float
) -> Solutions:
    """Return the solutions of problems that each have a Gram matrix, by libsvm.

    ``gram_of(fit)`` returns the kernel values (m, n_samples) of `problems.rows` with all samples.
    """
    block, rows, signs, box, lower = problems
    counts = block.train[:, rows]
    # libsvm takes the steps of SVC if the lower class is positive
    decision, alpha = solve_each(
        gram_of, lower * signs, box, counts, rows=rows, n_samples=n_samples, tol=tol
    )
    # without a free sample, rounding errors decide the intercept
    decision[~strictly_free(box, alpha).any(axis=1)] = np.nan
    return Solutions(lower * decision, alpha)


def group_equal(gamma: np.ndarray, maps: ColumnMaps | None) -> list[np.ndarray]:
    """Return groups of fits that share a kernel."""
    groups: dict[bytes, list[int]] = {}
    for fit, value in enumerate(gamma):
        parts = (
            [value] if maps is None else [value, *(rows[fit] for rows in maps if rows is not None)]
        )
        groups.setdefault(b"".join(part.tobytes() for part in parts), []).append(fit)
    return [np.array(fits) for fits in groups.values()]


def take_fits(problems: PairProblems, fits: np.ndarray) -> PairProblems:
    """Return the problems of some fits."""
    signs = problems.signs if problems.signs.ndim == 1 else problems.signs[fits]
    return problems._replace(block=problems.block.take(fits), signs=signs, box=problems.box[fits])
