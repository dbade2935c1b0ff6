"""Adapter for SVC, alone or after transformers of its columns.

The solver computes decision values at the optimum. libsvm stops at a tolerance `tol`, so it does
not know the label of a sample whose decision value is about `tol` or less: with its rows in another
order, or with another `tol`, it predicts another one. Trial fits are compared with the estimator on
all other samples.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC
from sklearn.utils import check_array

from skeval._adapters import svc_problems
from skeval._adapters.column_steps import has_plain_columns, make_column_steps
from skeval._adapters.registry import SLOWER, UNKNOWN, Agreement, Solver, supports
from skeval._adapters.svc_problems import (
    Boxes,
    GramPairSolver,
    KernelPairSolver,
    LinearPairSolver,
    PairProblems,
    PairSolver,
)
from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.plans import PlanBlock, ResamplingPlan
from skeval._resampling.target import Target
from skeval._solvers.active_set import strictly_free
from skeval._solvers.kernel_svm import is_positive
from skeval.utils._compat import num_samples
from skeval.utils._samples import count_dimensions

TOLERANCES = 10.0
"""Decision values of libsvm beyond this multiple of `tol` have the sign of the optimum."""

MAX_UNCLEAR = 0.01
"""Largest share of samples within the tolerance that a solver labels differently."""

MOST_SAMPLES = 4096
"""Maximum number of samples of a stored Gram matrix: 128 MB, and the same again for its parts."""

INDEFINITE = "the kernel is not positive semi-definite"
"""Such a problem may have several optima; which one SVC finds depends on its steps."""


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
    boxes = svc_problems.make_boxes(estimator.C, estimator.class_weight, target)
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
    kernel, many = estimator.kernel, shape_of(X)[0] > MOST_SAMPLES
    if kernel == "sigmoid":
        return INDEFINITE
    if kernel == "poly":
        return "a loop is about as fast as a solver for polynomials"
    own = callable(kernel) or kernel == "precomputed"
    if transformers and (own or issparse(X)):
        return "custom kernels and sparse samples are supported without transformers only"
    if many and (own or issparse(X) or kernel == "rbf"):
        return f"more than {MOST_SAMPLES} samples, whose Gram matrix is not kept"
    if own:
        K = compute_gram(estimator, X)
        if isinstance(K, str):
            return K
        return GramPairSolver(K) if is_positive(K) else INDEFINITE
    if issparse(X):
        return KernelPairSolver(csr_array(X, dtype=float), None, kernel, estimator.gamma)
    if count_dimensions(X) != 2:
        return "samples are not rows of a table"
    if transformers and not has_plain_columns(X):
        return "transformers are supported on finite numbers in double precision only"
    checked = check_array(X, dtype=np.float64, estimator=estimator, input_name="X")
    steps = make_column_steps(transformers, X if transformers else checked, target)
    if isinstance(steps, str):
        return steps
    if kernel == "linear":
        return LinearPairSolver(steps)
    if steps.reduces:
        return "features are selected or projected before the kernel"
    return KernelPairSolver(checked, steps if transformers else None, kernel, estimator.gamma)


def compute_gram(estimator: SVC, X: Any) -> np.ndarray | str:
    """Return the Gram matrix of all samples, or the reason why it cannot be used."""
    if estimator.kernel == "precomputed":
        if issparse(X):
            return "SVC does not accept a sparse kernel"
        K = check_array(X, dtype=np.float64, input_name="X")
    else:
        K = np.asarray(estimator.kernel(X, X), dtype=float)
        odd, even = X[1::2], X[::2]
        parts = (odd, odd, K[1::2, 1::2]), (even, odd, K[::2, 1::2])
        if not all(are_close(estimator.kernel(a, b), part) for a, b, part in parts):
            return "the kernel of two samples depends on the other samples"
    size = shape_of(X)[0]
    if K.shape != (size, size) or not are_close(K, K.T):
        return "the kernel is not symmetric"
    return K


def are_close(one: Any, other: np.ndarray) -> bool:
    """Return whether kernel values are equal up to rounding."""
    one = np.asarray(one)
    size = np.abs(other).max(initial=0.0)
    return one.shape == other.shape and bool(np.abs(one - other).max(initial=0.0) <= 1e-12 * size)


ROUNDED = 4.0
"""Assumed ratio of the errors of tested samples to the largest error of free samples."""

LARGEST_NOISE = 1e-9
"""Maximum rounding error, in units of the margin; larger differences have other causes."""


class SVCSolver(Solver):
    """Fits of an SVC and of the transformers before it."""

    def __init__(
        self, pipeline: Pipeline, target: Target, boxes: Boxes, solver: PairSolver
    ) -> None:
        self.pipeline, self.classifier, self.target = pipeline, pipeline[-1], target
        self.boxes, self.solver = boxes, solver
        self._n_classes = int(target.codes.max()) + 1

    def refuses(self, plan: ResamplingPlan) -> str:
        """Return why a loop does the fits of a plan; an empty string if the solver is faster."""
        return "" if self.solver.is_faster(plan, self._n_classes) else SLOWER

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
        codes = self._codes(block)
        rows = np.arange(len(self.target))
        values, solved, noise = self._solve(PairProblems(block, rows, 2.0 * codes - 1.0, box))
        return replace(FitOutput.of_decisions(block, values, solved), noise=noise)

    def _codes(self, block: PlanBlock) -> np.ndarray:
        """Return codes (n_samples,), or (n_fits, n_samples) if labels differ between fits."""
        codes = self.target.codes
        return codes if block.order is None else codes[block.order]

    def _solve(self, problems: PairProblems) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return decision values of all samples, a mask of the solved fits, and their noise."""
        values, alpha = self.solver.solve(problems)
        solved = self.boxes.settles(problems.box, alpha) & np.isfinite(values).all(axis=1)
        noise = find_noise(problems, values, alpha)
        # rounding errors must not decide a label
        largest = np.abs(values).max(axis=1, keepdims=True)
        values[np.abs(values) <= svc_problems.TIED * np.minimum(1.0, largest)] = 0.0
        return values, solved, noise

    def _vote(self, block: PlanBlock, box: np.ndarray) -> FitOutput:
        """Solve the problems of all pairs of classes, and count their votes."""
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
        of_solved = np.broadcast_to(solved[:, None], block.test.shape)[block.test]
        predicted, decision = count_pair_votes(np.stack(values, 1)[of_solved], self.classifier)
        return FitOutput(block.test, ~solved, predicted, decision, noise=noise)


def find_noise(problems: PairProblems, values: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Return the size (n_fits,) of the rounding errors of decision values, except for a shift.

    A free sample has the decision value y at the optimum. Its computed value differs from y by the
    rounding error of a sum over all support vectors, which is proportional to the size of their
    kernel values, and by the rounding error of the intercept, which is the same for all samples.
    """
    off = values[:, problems.rows] - problems.signs
    free = strictly_free(problems.box, alpha) & np.isfinite(off)
    highest = np.max(off, axis=1, where=free, initial=-np.inf)
    lowest = np.min(off, axis=1, where=free, initial=np.inf)
    worst = np.where(free.any(axis=1), highest - lowest, 0.0)
    return np.minimum(ROUNDED * worst, LARGEST_NOISE)


def count_pair_votes(values: np.ndarray, classifier: SVC) -> tuple[np.ndarray, np.ndarray]:
    """Return predicted codes and decision values, computed from pairs of classes as in SVC.

    `values` has the shape (n_tested, n_pairs); positive values favor the first class of a pair. The
    prediction is the first class with the most votes. The decision value of a class against the
    rest is its number of votes plus the sum of its values, scaled to less than half a vote. With
    `break_ties`, the largest decision value gives the prediction. A value of 0 is a vote for the
    second class in libsvm's prediction, but for the first one in scikit-learn's decision values.
    """
    n_classes = int(0.5 + np.sqrt(0.25 + 2 * values.shape[1]))
    votes, rest, sums = np.zeros((3, len(values), n_classes))
    for value, (first, second) in zip(values.T, combinations(range(n_classes), 2), strict=True):
        votes[:, first] += value > 0
        votes[:, second] += value <= 0
        rest[:, first] += value >= 0
        rest[:, second] += value < 0
        sums[:, first] += value
        sums[:, second] -= value
    rest += sums / (3.0 * (np.abs(sums) + 1.0))
    one_to_rest = classifier.decision_function_shape == "ovr"
    ranked = rest if classifier.break_ties and one_to_rest else votes
    return ranked.argmax(axis=1), rest if one_to_rest else values


def shape_of(X: Any) -> tuple[int, ...]:
    """Return the numbers of samples and features of an array or list, or of samples alone."""
    if count_dimensions(X) == 1:
        return (num_samples(X),)
    shape: tuple[int, ...] = X.shape if hasattr(X, "shape") else np.asarray(X).shape
    return shape
