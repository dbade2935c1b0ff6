"""Adapter for SVC, alone or after transformers of its columns.

The solver computes decision values at the optimum. libsvm stops at a tolerance `tol`, so the label
of a sample whose decision value is about `tol` or less may change with the order of the rows or
with `tol`. Trial fits are compared with the estimator on all other samples.

The two-class problems of the fits differ in the boxes of their samples, in their columns after the
transformers, and in gamma. Everything that the fits share is prepared once.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import cached_property, partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC
from sklearn.utils import check_array
from sklearn.utils.class_weight import compute_class_weight

from skeval._adapters.column_steps import (
    ColumnMaps,
    ColumnSteps,
    has_plain_columns,
    make_column_steps,
)
from skeval._adapters.regions import Sizes, kernel_svc, linear_svc
from skeval._adapters.runner import UNKNOWN, Agreement, Solver, supports
from skeval._resampling.inputs import FitOutput
from skeval._resampling.plans import PlanBlock, ResamplingPlan, concatenate_blocks, whole_plan
from skeval._resampling.sampling_units import Target
from skeval._solvers.kernel_svm import Kernels, KernelSVMBatch, squared_distances
from skeval._solvers.linear_svm import LinearSVMBatch, solve_feature_svms, solve_gram_svms
from skeval._solvers.newton import uses_features
from skeval._solvers.optimum import BatchSolution, strictly_free
from skeval.utils import _compat
from skeval.utils._checks import count_dimensions

TOLERANCES = 10.0
"""Decision values of libsvm beyond this multiple of `tol` have the sign of the optimum."""

MAX_UNCLEAR = 0.01
"""Largest fraction of samples within the tolerance that a solver labels differently."""


@supports.register
def support_svc(estimator: SVC, X: Any, target: Target, transformers: tuple) -> Solver | str:
    """Return the solver of an SVC and the transformers before it."""
    if type(estimator) is not SVC or target.classes is None:
        return UNKNOWN
    if estimator.max_iter != -1:
        return "max_iter may end a fit before the optimum"
    # newer versions of scikit-learn have the default "deprecated", or lack the parameter
    if getattr(estimator, "probability", False) is True:
        return "probability=True cross-validates every fit"
    # upper bounds C_i of the dual variables
    boxes = make_boxes(estimator.C, estimator.class_weight, target)
    if boxes is None:
        return "class_weight does not give every class a positive weight"
    solver = make_pair_solver(estimator, X, target, transformers)
    if isinstance(solver, str):
        return solver
    return SVCSolver(make_pipeline(*transformers, estimator), target, boxes, solver)


def make_pair_solver(
    estimator: SVC, X: Any, target: Target, transformers: tuple
) -> PairSolver | str:
    """Return the solver of the problems of an SVC, or the reason why there is none."""
    kernel = estimator.kernel
    if kernel not in ("linear", "rbf"):
        return "only the kernels 'linear' and 'rbf' are supported"
    if transformers and issparse(X):
        return "sparse samples are supported only without transformers"
    # sparse samples are solved on a Gram matrix, for the linear kernel too
    if issparse(X):
        return KernelPairSolver(csr_array(X, dtype=float), None, kernel, estimator.gamma)
    if count_dimensions(X) != 2:
        return "X is not a table with one row per sample"
    if transformers and not has_plain_columns(X):
        return "transformers are supported only for finite numbers in double precision"
    # columns that each fit may scale or select
    checked = check_array(X, dtype=np.float64, estimator=estimator, input_name="X")
    steps = make_column_steps(transformers, X if transformers else checked, target)
    if isinstance(steps, str):
        return steps
    if kernel == "linear":
        return LinearPairSolver(steps)
    if steps.selection is not None:
        return "feature selection before the kernel is not supported"
    return KernelPairSolver(checked, steps if transformers else None, kernel, estimator.gamma)


ROUNDED = 4.0
"""Assumed ratio of the errors of tested samples to the largest error of free samples."""

LARGEST_NOISE = 1e-9
"""Maximum rounding error, in units of the margin. Larger differences have other causes."""


class SVCSolver(Solver):
    """Fits of an SVC and of the transformers before it."""

    def __init__(
        self, pipeline: Pipeline, target: Target, boxes: Boxes, solver: PairSolver
    ) -> None:
        self.pipeline, self.classifier, self.target = pipeline, pipeline[-1], target
        self.boxes, self.solver = boxes, solver
        self._n_classes = int(target.codes.max()) + 1

    def is_faster(self, plan: ResamplingPlan) -> bool:
        """Return whether the solver is faster than a loop over the fits of a plan."""
        return self.solver.is_faster(plan, self._n_classes)

    def compare(self, block: PlanBlock, model: Any, samples: Any) -> Agreement | None:
        """Return whether decision values beyond the tolerance have the signs of a model's."""
        # CV2FeatureSelectionPipeline has `fitted_steps`
        steps = getattr(model, "fitted_steps", (model,))
        pipeline = model if isinstance(model, Pipeline) else make_pipeline(*steps)
        pairs, svc = copy(self), copy(pipeline[-1])
        # compare the decision values of pairs, not their votes
        pairs.classifier, svc.decision_function_shape = copy(self.classifier), "ovo"
        pairs.classifier.decision_function_shape = "ovo"
        output = pairs.solve(block)
        if output.failed[0]:
            return None
        samples = pipeline[:-1].transform(samples) if len(pipeline) > 1 else samples
        expected = svc.decision_function(samples)
        # beyond the tolerance the signs must agree, and few labels may differ
        differs = (output.decision > 0) != (expected > 0)
        clear = np.abs(expected) > TOLERANCES * self.classifier.tol
        labels = expected >= 0
        if self._n_classes > 2:
            labels = count_pair_votes(expected, pairs.classifier)[0]
        wrong = output.predicted != labels
        few = np.count_nonzero(wrong) <= max(1, MAX_UNCLEAR * len(wrong))
        return Agreement(bool(few and not (clear & differs).any()), float(np.mean(wrong)))

    def solve(self, block: PlanBlock) -> FitOutput:
        """Return decision values for two classes, or votes for more than two."""
        box = self.boxes(block)
        if self._n_classes > 2:
            return self._vote(block, box)
        signs = 2.0 * self._codes(block) - 1.0
        values, solved, noise = self._solve(PairProblems(block, signs, box))
        return replace(FitOutput.of_decisions(block, values, solved), noise=noise)

    def _codes(self, block: PlanBlock) -> np.ndarray:
        """Return codes (n_samples,), or (n_fits, n_samples) if labels differ between fits."""
        codes = self.target.codes
        return codes if block.order is None else codes[block.order]

    def _solve(self, problems: PairProblems) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return decision values of all samples, a mask of the solved fits, and their noise."""
        solution = self.solver.solve(problems)
        values, alpha = solution.decision, solution.alpha
        solved = self.boxes.settles(problems.box, alpha) & np.isfinite(values).all(axis=1)
        noise = find_noise(problems, values, alpha)
        # rounding errors must not decide a label
        largest = np.abs(values).max(axis=1, keepdims=True)
        values[np.abs(values) <= TIED * np.minimum(1.0, largest)] = 0.0
        return values, solved, noise

    def _vote(self, block: PlanBlock, box: np.ndarray) -> FitOutput:
        """Solve the problems of all pairs of classes, and count their votes."""
        # fits with all classes
        codes, classes = self._codes(block), range(self._n_classes)
        present = [((codes == c) & (block.train > 0)).any(axis=1) for c in classes]
        solved = np.all(present, axis=0)
        values, noise = [], np.zeros(len(block))
        for first, second in combinations(classes, 2):
            # problem of a pair: samples of other classes have boxes of 0
            signs = np.where(codes == first, 1.0, -1.0)
            pair_box = np.where((codes == first) | (codes == second), box, 0.0)
            of_pair, settled, off = self._solve(PairProblems(block, signs, pair_box))
            solved &= settled
            if not solved.any():
                return FitOutput(block.test, ~solved)
            values.append(of_pair[block.test])
            noise += off
        # votes of the fits whose pairs are all solved
        of_solved = np.broadcast_to(solved[:, None], block.test.shape)[block.test]
        predicted, decision = count_pair_votes(np.stack(values, 1)[of_solved], self.classifier)
        return FitOutput(block.test, ~solved, predicted, decision, noise=noise)


def find_noise(problems: PairProblems, values: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Return the size (n_fits,) of the rounding errors of decision values, except for a shift.

    A free sample has the decision value y at the optimum. Its computed value differs from y by the
    rounding error of a sum over all support vectors, which is proportional to the size of their
    kernel values, and by the rounding error of the intercept, which is the same for all samples.
    """
    # range of the deviations from y among the free samples
    off = values - problems.signs
    free = strictly_free(problems.box, alpha) & np.isfinite(off)
    highest = np.max(off, axis=1, where=free, initial=-np.inf)
    lowest = np.min(off, axis=1, where=free, initial=np.inf)
    worst = np.where(free.any(axis=1), highest - lowest, 0.0)
    return np.minimum(ROUNDED * worst, LARGEST_NOISE)


def count_pair_votes(values: np.ndarray, classifier: SVC) -> tuple[np.ndarray, np.ndarray]:
    """Return predicted codes and decision values, computed from pairs of classes as in SVC.

    `values` has the shape (n_tested, n_pairs). Positive values favor the first class of a pair. The
    prediction is the first class with the most votes. The decision value of a class against the
    rest is its number of votes plus the sum of its values, scaled to less than half a vote. With
    `break_ties`, the largest decision value gives the prediction. A value of 0 is a vote for the
    second class in libsvm's prediction, but for the first one in scikit-learn's decision values.
    """
    n_classes = int(0.5 + np.sqrt(0.25 + 2 * values.shape[1]))
    votes = np.zeros((len(values), n_classes))
    for value, (first, second) in zip(values.T, combinations(range(n_classes), 2), strict=True):
        votes[:, first] += value > 0
        votes[:, second] += value <= 0
    # sums of values decide between equal votes
    rest = np.asarray(_compat.ovr_decision_function(values < 0, -values, n_classes))
    one_to_rest = classifier.decision_function_shape == "ovr"
    ranked = rest if classifier.break_ties and one_to_rest else votes
    return ranked.argmax(axis=1), rest if one_to_rest else values


KEPT_KERNELS = 2**20
"""Maximum size of the Gram matrices in memory at a time, in numbers. They stay in the cache."""

STACK_ELEMENTS = 2**20
"""Approximate maximum number of elements in a stack of selected columns."""

TIED = 1e-8
"""Largest decision value whose sign may be a rounding error. Such a value counts as 0."""


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
    """Boxes ``0 <= alpha_i <= C_i`` of fits.

    ``C_i`` is C times class weight and sample weight. The weights "balanced" depend on the
    training samples of a fit, as in an SVC. Each copy of a repeated sample counts, and a weighted
    sample counts once. In a logistic regression ``C_i`` is the weight of a sample.
    """

    def __init__(self, C: float, target: Target, of_class: np.ndarray | None) -> None:
        self._C = float(C)
        self._codes, self._n_classes = target.codes, int(target.codes.max()) + 1
        self._of_class = of_class  # (n_classes,), None if class weights depend on the fit

    def serves_logistic(self, block: PlanBlock) -> bool:
        """Whether LogisticRegression uses the same class weights.

        Versions of scikit-learn compute balanced weights differently.
        """
        return self._of_class is not None or block.train.dtype.kind in "iu"

    def settles(self, box: np.ndarray, alpha: np.ndarray) -> np.ndarray:
        """Return a mask of the fits (n_fits,) that have the same intercept in libsvm.

        The intercept is not unique if every sample is at a bound, for example at the upper bound
        when the upper bounds of both classes have the same sum. Libsvm then returns the middle,
        unless a sample is slightly below its bound because class weights are rounded.
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
    signs : ndarray of shape (n_samples,) or (n_fits, n_samples)
    box : ndarray of shape (n_fits, n_samples)
        It is 0 for samples of other classes.
    """

    block: PlanBlock
    signs: np.ndarray
    box: np.ndarray


class LinearPairSolver:
    """Solver of linear SVMs. Each fit may scale or select the columns first."""

    def __init__(self, steps: ColumnSteps) -> None:
        self.steps = steps

    @cached_property
    def _batch(self) -> LinearSVMBatch:
        """The samples, prepared once for all fits."""
        return LinearSVMBatch(self.steps.X)

    def is_faster(self, plan: ResamplingPlan, n_classes: int) -> bool:
        """Return whether the solver is faster than libsvm for the sizes of data and plan."""
        n, p = plan.n_samples, self.steps.n_columns
        region = linear_svc if uses_features(n, p) else kernel_svc
        return region(Sizes(plan.n_fits, n, p, n_classes))

    def solve(self, problems: PairProblems) -> BatchSolution:
        """Return decision values and alpha of all samples, nan for unsolved fits."""
        steps, maps = self.steps, None
        if steps.scaler is not None or steps.selection is not None:
            maps = steps.maps(problems.block)
            # fits without usable columns train on no samples
            problems = problems._replace(box=np.where(maps.usable[:, None], problems.box, 0.0))
        _, signs, box = problems
        if not uses_features(len(steps.X), steps.n_columns):
            return self._solve_on_grams(problems, maps)
        if maps is None or steps.selection is None:
            return self._batch.solve(signs, box, scales=None if maps is None else maps.scale)
        # few columns of each fit, a stack of fits at a time
        solutions, usable = BatchSolution.empty(*box.shape), np.flatnonzero(maps.usable)
        size = max(1, STACK_ELEMENTS // (len(steps.X) * steps.n_columns))
        for start in range(0, len(usable), size):
            fits = usable[start : start + size]
            columns = maps.select(steps.X, fits)
            columns -= columns.mean(axis=1, keepdims=True)
            part = np.broadcast_to(signs, box.shape)[fits]
            solutions.put(fits, solve_feature_svms(columns, part, box[fits]))
        return solutions

    @np.errstate(all="ignore")  # squares of numbers above 1e150 overflow
    def _solve_on_grams(self, problems: PairProblems, maps: ColumnMaps | None) -> BatchSolution:
        """Return the solutions on many columns. Fits with the same columns share a Gram matrix."""

        def gram(fit: int) -> np.ndarray:
            columns = self.steps.X if maps is None else maps.transform(self.steps.X, fit)
            columns = columns - columns.mean(axis=0)
            return np.asarray(columns @ columns.T)

        groups = [np.arange(len(problems.box))] if maps is None else group_equal(maps)
        return solve_in_stacks(problems, groups, gram, solve_gram_svms)


class KernelPairSolver:
    """Solves SVMs with the kernel "linear", or "rbf" on columns that each fit may scale.

    `gamma` is the parameter of the estimator, which is a number, "scale" or "auto".
    """

    def __init__(self, X: Any, steps: ColumnSteps | None, kernel: str, gamma: Any) -> None:
        self._X, self.steps, self.kernel, self.gamma = X, steps, kernel, gamma
        self._n, self._p = X.shape
        self._batches: dict[bytes, KernelSVMBatch] = {}

    def is_faster(self, plan: ResamplingPlan, n_classes: int) -> bool:
        """Return whether the solver is faster than libsvm for the sizes of data and plan."""
        sizes = Sizes(plan.n_fits, plan.n_samples, self._p, n_classes)
        if plan.n_draws == 1 or not kernel_svc(sizes):
            return False
        # the first and last draw share kernels unless each fit has its own
        block = concatenate_blocks([plan.draw(0), plan.draw(plan.n_draws - 1)])
        maps = None if self.steps is None else self.steps.maps(block)
        return len(group_equal(maps, self._gammas(block, maps))) < len(block)

    def solve(self, problems: PairProblems) -> BatchSolution:
        """Return decision values and alpha of all samples, nan for unsolved fits."""
        maps = None if self.steps is None else self.steps.maps(problems.block)
        gamma = self._gammas(problems.block, maps)
        # prepare the samples of a pair of classes once
        rows = np.flatnonzero(problems.box.any(axis=0))
        key = rows.tobytes()
        if key not in self._batches:
            self._batches[key] = KernelSVMBatch(self._near[np.ix_(rows, rows)], rows)

        def solve(K: np.ndarray, which: np.ndarray, signs: np.ndarray, box: np.ndarray) -> Any:
            kernels = Kernels(K, which)
            return self._batches[key].solve(kernels, signs[..., rows], box[:, rows], self._n)

        # fits with the same columns and gamma share a matrix
        gram = partial(self._gram, gamma=gamma, maps=maps)
        return solve_in_stacks(problems, group_equal(maps, gamma), gram, solve)

    @cached_property
    def _near(self) -> np.ndarray:
        """Gram matrix of the fit to all samples, which is similar to the matrices of all fits."""
        block = whole_plan(self._n).draw(0)
        maps = None if self.steps is None else self.steps.maps(block)
        K = self._gram(0, self._gammas(block, maps), maps)
        return 0.5 * (K + K.T)

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
        if self.gamma != "scale":
            gamma = 1.0 / self._p if self.gamma == "auto" else float(self.gamma)
            return np.full(len(block), gamma)
        # variance of all numbers of a training set, which several fits may share
        counts = block.train if block.train.dtype.kind in "iu" else block.train > 0
        variances: dict[bytes, float] = {}
        gamma = np.ones(len(block))
        for fit, row in enumerate(counts.astype(np.intp)):
            parts = [row] if maps is None else [row, maps.shift[fit], maps.scale[fit]]
            key = b"".join(part.tobytes() for part in parts)
            if key not in variances:
                # as an SVC computes it
                X: Any = self._X[np.repeat(np.arange(self._n), row)]
                X = X if maps is None else maps.transform(X, fit)
                sparse = issparse(X)
                variances[key] = float(X.multiply(X).mean() - X.mean() ** 2 if sparse else X.var())
            if variances[key] > 0:
                gamma[fit] = 1.0 / (self._p * variances[key])
        return gamma


PairSolver = LinearPairSolver | KernelPairSolver


def group_equal(maps: ColumnMaps | None, gamma: np.ndarray | None = None) -> list[np.ndarray]:
    """Group the fits (n_fits,) by columns and gamma. A group shares one kernel."""
    parts = [part for part in (gamma, *(maps or ())) if part is not None]
    groups: dict[bytes, list[int]] = {}
    for fit, rows in enumerate(zip(*parts, strict=True)):
        groups.setdefault(b"".join(row.tobytes() for row in rows), []).append(fit)
    return [np.array(fits) for fits in groups.values()]


def solve_in_stacks(
    problems: PairProblems,
    groups: list[np.ndarray],
    gram: Callable[[int], np.ndarray],
    solve: Callable[..., BatchSolution],
) -> BatchSolution:
    """Solve the fits of several groups at a time, whose Gram matrices are kept together.

    ``gram(fit)`` returns the matrix (n_samples, n_samples) of a fit and its group. ``solve(K,
    which, signs, box)`` solves problems on matrices K, and `which` is the index of the one of each.
    """
    signs, solutions = problems.signs, BatchSolution.empty(*problems.box.shape)
    size = max(1, KEPT_KERNELS // problems.box.shape[1] ** 2)
    for start in range(0, len(groups), size):
        some = groups[start : start + size]
        fits, K = np.concatenate(some), np.stack([gram(group[0]) for group in some])
        which = np.repeat(np.arange(len(some)), list(map(len, some)))
        part = signs if signs.ndim == 1 else signs[fits]
        solutions.put(fits, solve(K, which, part, problems.box[fits]))
    return solutions
