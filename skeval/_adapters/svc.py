"""Which fits of an SVC go to the solvers, alone or behind transformers of its columns.

The decisions are those of the optimum. A fit that a solver does not settle is left to ``SVC``.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC
from sklearn.utils import check_array

from skeval._adapters.selected_svc import SELECTORS, SelectedSVCAdapter, serves_selection
from skeval._adapters.svc_costs import FitShape, batch_pays
from skeval._adapters.svc_problems import (
    Boxes,
    GramPairSolver,
    KernelPairSolver,
    LinearPairSolver,
    PairProblems,
    PairSolver,
    are_certain,
    make_boxes,
    make_column_steps,
)
from skeval._resampling.plan import FitOutput, PlanBlock
from skeval._resampling.task import Adapter, Target, Unserved, adapter_for
from skeval._solvers.active_set import strictly_free
from skeval._solvers.kernel_svm import KernelForm, is_positive

__all__ = ["SVCAdapter"]

MOST_SAMPLES = 4096
"""Samples of which a Gram matrix is kept: 128 MB, and again as much for what it is made of."""

INDEFINITE = "the kernel is not positive semi-definite"
"""Such a problem has no unique optimum, and where SVC ends depends on its steps."""


@adapter_for.register
def svc_adapter(
    estimator: SVC, X: Any, target: Target, transformers: tuple
) -> Adapter | Unserved | None:
    """Return the adapter of an SVC and the transformers before it."""
    if type(estimator) is not SVC or target.classes is None:
        return None
    if estimator.max_iter != -1:
        return Unserved("max_iter may end a fit before the optimum")
    if estimator.probability is True:  # Newer versions have the default "deprecated".
        return Unserved("probability=True cross-validates every fit")
    boxes = make_boxes(estimator.C, estimator.class_weight, target)
    if boxes is None:
        return Unserved("class_weight does not give every class a positive weight")
    pipeline = make_pipeline(*transformers, estimator)
    if any(type(step) in SELECTORS for step in transformers):
        linear = estimator.kernel == "linear" and target.codes.max() == 1
        if not linear or not serves_selection(transformers, X):
            return Unserved(
                "features selected in each fit are served before a linear SVC of two classes, by "
                "SelectKBest or SelectPercentile(f_classif) on an array, with a scaler beside it"
            )
        return SelectedSVCAdapter(pipeline, X, target, boxes)
    solver = make_pair_solver(estimator, X, transformers)
    if isinstance(solver, str):
        return Unserved(solver)
    return SVCAdapter(pipeline, X, target, boxes, solver)


def make_pair_solver(estimator: SVC, X: Any, transformers: tuple) -> PairSolver | str:
    """Return what solves the problems of an SVC, or why the data are not served."""
    few = shape_of(X)[0] <= MOST_SAMPLES
    too_many = f"more than {MOST_SAMPLES} samples, whose Gram matrix is not kept"
    if callable(estimator.kernel) or estimator.kernel == "precomputed":
        if transformers or not few:
            return "a kernel of your own is served without transformers" if few else too_many
        K = compute_gram(estimator, X)
        if isinstance(K, str):
            return K
        return GramPairSolver(K) if is_positive(K) else INDEFINITE
    if issparse(X):
        if transformers or not few:
            return "sparse samples are served without transformers" if few else too_many
        return make_kernel_solver(estimator, csr_array(X, dtype=float), None)
    if np.ndim(X) != 2:
        return "samples are no rows of a table"
    if transformers and not takes_columns(X):
        return "transformers are served on finite numbers in double precision"
    X = check_array(X, dtype=np.float64, estimator=estimator, input_name="X")
    steps = make_column_steps(transformers, X)
    if steps is None:
        return f"no solver serves these transformers: {', '.join(map(name_type, transformers))}"
    if estimator.kernel == "linear":
        return LinearPairSolver(steps)
    return make_kernel_solver(estimator, X, steps if transformers else None) if few else too_many


def name_type(step: Any) -> str:
    """Return the name of the type of a step."""
    return type(step).__name__


def takes_columns(X: Any) -> bool:
    """Whether transformers compute with columns of X as a solver does.

    They keep single precision, which a solver does not, and may mend missing values.
    """
    X = np.asarray(X)
    return X.dtype in (np.float64, np.int64) and bool(np.isfinite(X).all())


def make_kernel_solver(estimator: SVC, X: Any, steps: Any) -> PairSolver | str:
    """Return what solves the problems of a kernel that scikit-learn has, or why nothing does."""
    form = KernelForm(estimator.kernel, estimator.degree, float(estimator.coef0))
    solver = KernelPairSolver(X, steps, form, estimator.gamma)
    return solver if form.positive or is_positive(solver.gram()) else INDEFINITE


def compute_gram(estimator: SVC, X: Any) -> np.ndarray | str:
    """Return the kernel values of all pairs of samples, or why they do not serve."""
    if estimator.kernel == "precomputed":
        if issparse(X):
            return "SVC takes no sparse kernel"
        K = check_array(X, dtype=np.float64, input_name="X")
    else:
        K = np.asarray(estimator.kernel(X, X), dtype=float)
        odd, even = X[1::2], X[::2]
        parts = (odd, odd, K[1::2, 1::2]), (even, odd, K[::2, 1::2])
        if not all(are_close(estimator.kernel(a, b), part) for a, b, part in parts):
            return "the kernel of two samples depends on the others that it is given"
    size = shape_of(X)[0]
    if K.shape != (size, size) or not are_close(K, K.T):
        return "the kernel is not symmetric"
    return K


def are_close(one: Any, other: np.ndarray) -> bool:
    """Whether kernel values are equal but for rounding."""
    one = np.asarray(one)
    size = np.abs(other).max(initial=0.0)
    return one.shape == other.shape and bool(np.abs(one - other).max(initial=0.0) <= 1e-12 * size)


ROUNDED = 4.0
"""Of the samples that are tested some may be farther off than any of the free ones."""

LARGEST_NOISE = 1e-9
"""In units of the margin: a solver that is farther off has not settled for other reasons."""


class SVCAdapter:
    """The fits of an SVC and of the transformers before it."""

    def __init__(
        self, pipeline: Pipeline, X: Any, target: Target, boxes: Boxes, solver: PairSolver
    ) -> None:
        self.pipeline, self.X, self.target = pipeline, X, target
        self.boxes, self.solver = boxes, solver
        self._n_classes = int(target.codes.max()) + 1

    def pays(self, n_fits: int, codes: np.ndarray, times: float = 1.0) -> bool:
        """Whether so many fits, to labels like these, take less time here than in a loop."""
        n, p = len(self.target), shape_of(self.X)[-1]
        grams = not isinstance(self.solver, LinearPairSolver)
        scaled = len(self.pipeline) > 1
        shuffled = not np.array_equal(codes, self.target.codes)
        kind = {"scaled": scaled, "grams": grams, "shuffled": shuffled}
        shape = FitShape(n, p, p, n_classes=self._n_classes, **kind)
        labels = self.target.decode(codes)
        return batch_pays(self.pipeline, self.X, labels, shape, n_fits, times)

    def __call__(self, block: PlanBlock) -> FitOutput:
        """Return the decisions of two classes, or the votes of more."""
        box = self.boxes(block)
        if self._n_classes > 2:
            return self._vote(block, box)
        codes = self._codes(block)
        rows = np.arange(len(self.target))
        values, solved, noise = self._solve(PairProblems(block, rows, 2.0 * codes - 1.0, box))
        return replace(FitOutput.of_decisions(block, values, solved), noise=noise)

    def _codes(self, block: PlanBlock) -> np.ndarray:
        """Return codes (n_samples,), or (n_fits, n_samples) where each fit has its own."""
        codes = self.target.codes
        return codes if block.order is None else codes[block.order]

    def _solve(self, problems: PairProblems) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return decision values of all samples, which fits they hold for, and their noise."""
        values, alpha = self.solver.solve(problems)
        settled = self.boxes.settles(problems.box, alpha)
        certain = settled & are_certain(values, problems.block.test)
        return values, certain, find_noise(problems, values, alpha)

    def _vote(self, block: PlanBlock, box: np.ndarray) -> FitOutput:
        """Solve the problems of all pairs of classes, and let them vote."""
        codes, classes = self._codes(block), range(self._n_classes)
        present = [((codes == c) & (block.train > 0)).any(axis=1) for c in classes]
        solved = np.all(present, axis=0)
        values, noise = [], np.zeros(len(block))
        for first, second in combinations(classes, 2):
            member = (codes == first) | (codes == second)
            rows = np.flatnonzero(member.any(axis=0) if member.ndim == 2 else member)
            signs = np.where(codes == first, 1.0, -1.0)[..., rows]
            pair_box = np.where(member, box, 0.0)[:, rows]
            of_pair, settled, off = self._solve(PairProblems(block, rows, signs, pair_box))
            solved &= settled
            if not solved.any():
                return FitOutput(block.test, ~solved)
            values.append(of_pair[block.test])
            noise += off
        answered = np.broadcast_to(solved[:, None], block.test.shape)[block.test]
        predicted, decision = count_pair_votes(np.stack(values, 1)[answered], self.pipeline[-1])
        return FitOutput(block.test, ~solved, predicted, decision, noise=noise)


def find_noise(problems: PairProblems, values: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Return how large the rounding errors (n_fits,) of decision values are, but for a shift.

    A free sample has the decision value y at the optimum. What it has instead is off by the
    rounding of a sum over all support vectors, in the scale of their kernel, and by that of the
    intercept, which all samples have in common.
    """
    off = values[:, problems.rows] - problems.signs
    free = strictly_free(problems.box, alpha) & np.isfinite(off)
    highest = np.max(off, axis=1, where=free, initial=-np.inf)
    lowest = np.min(off, axis=1, where=free, initial=np.inf)
    worst = np.where(free.any(axis=1), highest - lowest, 0.0)
    return np.minimum(ROUNDED * worst, LARGEST_NOISE)


def count_pair_votes(values: np.ndarray, classifier: SVC) -> tuple[np.ndarray, np.ndarray]:
    """Return the codes and the decision values that SVC makes of the decision values of pairs.

    `values` has the shape (n_answers, n_pairs); positive ones favour the first class of a pair. Of
    classes with as many votes the first is predicted. Decision values of one against the rest add
    the sums of the values to the votes, squeezed to less than half a vote, and `break_ties`
    predicts by them.
    """
    n_classes = int(0.5 + np.sqrt(0.25 + 2 * values.shape[1]))
    votes, sums = np.zeros((2, len(values), n_classes))
    for value, (first, second) in zip(values.T, combinations(range(n_classes), 2), strict=True):
        votes[:, first] += value > 0
        votes[:, second] += value <= 0
        sums[:, first] += value
        sums[:, second] -= value
    rest = votes + sums / (3.0 * (np.abs(sums) + 1.0))
    one_to_rest = classifier.decision_function_shape == "ovr"
    ranked = rest if classifier.break_ties and one_to_rest else votes
    return ranked.argmax(axis=1), rest if one_to_rest else values


def shape_of(X: Any) -> tuple[int, ...]:
    """Return the numbers of samples and features, also of lists."""
    shape: tuple[int, ...] = X.shape if hasattr(X, "shape") else np.asarray(X).shape
    return shape
