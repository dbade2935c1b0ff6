"""Adapter for SVC, alone or after transformers of its columns.

Batches compute decision values at the optimum; ``SVC`` itself does the other fits. The cost model
at the end of the file decides whether a batch is faster than libsvm. Its constants are times in
seconds on one core, fitted to the results of ``benchmarks/solver_cost.py``; their ratios are
similar on other machines. Nothing is timed at run time, so the choice depends only on the data.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC
from sklearn.utils import check_array

from skeval._adapters import svc_problems
from skeval._adapters.column_steps import ColumnSteps, has_plain_columns, make_column_steps
from skeval._adapters.libsvm import count_pair_votes, make_libsvm_fits
from skeval._adapters.registry import Adapter, Difference, NoSolver, adapter_for
from skeval._adapters.svc_problems import (
    Boxes,
    GramPairSolver,
    KernelPairSolver,
    LinearPairSolver,
    PairProblems,
    PairSolver,
)
from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.fit_worker import OneFit
from skeval._resampling.plans import PlanBlock
from skeval._resampling.target import Target
from skeval._solvers.active_set import strictly_free
from skeval._solvers.kernel_svm import KernelForm, is_positive
from skeval._solvers.newton import uses_features

MOST_SAMPLES = 4096
"""Maximum number of samples of a stored Gram matrix: 128 MB, and the same again for its parts."""

INDEFINITE = "the kernel is not positive semi-definite"
"""Such a problem may have several optima; which one SVC finds depends on its steps."""


@adapter_for.register
def svc_adapter(
    estimator: SVC, X: Any, target: Target, transformers: tuple
) -> Adapter | NoSolver | None:
    """Return the adapter of an SVC and the transformers before it."""
    if type(estimator) is not SVC or target.classes is None:
        return None
    if estimator.max_iter != -1:
        return NoSolver("max_iter may end a fit before the optimum")
    # newer versions of scikit-learn have the default "deprecated", or lack the parameter
    if getattr(estimator, "probability", False) is True:
        return NoSolver("probability=True cross-validates every fit")
    boxes = svc_problems.make_boxes(estimator.C, estimator.class_weight, target)
    if boxes is None:
        return NoSolver("class_weight does not give every class a positive weight")
    fit_one = make_libsvm_fits(estimator, X, target, boxes, transformers)
    pipeline = make_pipeline(*transformers, estimator)
    solver = make_pair_solver(estimator, X, target, transformers)
    if isinstance(solver, str):
        return NoSolver(solver, fit_one)
    return SVCAdapter(pipeline, X, target, boxes, solver, fit_one)


def make_pair_solver(
    estimator: SVC, X: Any, target: Target, transformers: tuple
) -> PairSolver | str:
    """Return the solver of the problems of an SVC, or the reason why there is none."""
    few = shape_of(X)[0] <= MOST_SAMPLES
    too_many = f"more than {MOST_SAMPLES} samples, whose Gram matrix is not kept"
    if callable(estimator.kernel) or estimator.kernel == "precomputed":
        if transformers or not few:
            return "a custom kernel is supported without transformers only" if few else too_many
        K = compute_gram(estimator, X)
        if isinstance(K, str):
            return K
        return GramPairSolver(K) if is_positive(K) else INDEFINITE
    if issparse(X):
        if transformers or not few:
            return "sparse samples are supported without transformers only" if few else too_many
        return make_kernel_solver(estimator, csr_array(X, dtype=float), None)
    if np.ndim(X) != 2:
        return "samples are not rows of a table"
    if transformers and not has_plain_columns(X):
        return "transformers are supported on finite numbers in double precision only"
    checked = check_array(X, dtype=np.float64, estimator=estimator, input_name="X")
    steps = make_column_steps(transformers, X if transformers else checked, target)
    if isinstance(steps, str):
        return steps
    if estimator.kernel == "linear":
        return LinearPairSolver(steps, float(estimator.tol))
    return (
        make_kernel_solver(estimator, checked, steps if transformers else None) if few else too_many
    )


def make_kernel_solver(estimator: SVC, X: Any, steps: Any) -> PairSolver | str:
    """Return the solver of problems with a named kernel, or the reason why there is none."""
    form = KernelForm(estimator.kernel, estimator.degree, float(estimator.coef0))
    if not form.positive:
        return INDEFINITE
    return KernelPairSolver(X, steps, form, estimator.gamma, float(estimator.tol))


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


class SVCAdapter:
    """Fits of an SVC and of the transformers before it."""

    def __init__(
        self,
        pipeline: Pipeline,
        X: Any,
        target: Target,
        boxes: Boxes,
        solver: PairSolver,
        fit_one: OneFit | None = None,
    ) -> None:
        self.pipeline, self.X, self.target, self.fit_one = pipeline, X, target, fit_one
        self.boxes, self.solver = boxes, solver
        self.classifier = pipeline[-1]
        self.noise, self.tol = 0.0, float(pipeline[-1].tol)
        self._n_classes = int(target.codes.max()) + 1
        self._gamma = getattr(solver, "gamma", None)

    def pays(
        self, n_fits: int, model: Any, times: float = 1.0, trial: PlanBlock | None = None
    ) -> bool:
        """Return whether a batch of fits is faster than single ones."""
        n, p = len(self.target), shape_of(self.X)[-1]
        steps: ColumnSteps | None = getattr(self.solver, "steps", None)
        reduces = steps is not None and steps.reduces
        shuffled = trial is not None and trial.order is not None
        counts = trial is None or trial.train.dtype.kind in "iu"
        scaled = len(self.pipeline) > 1 + reduces
        grams = not isinstance(self.solver, LinearPairSolver)
        own_gamma = scaled or (counts and self._gamma == "scale")
        shape = FitShape(
            n,
            p,
            p if steps is None else steps.n_columns,
            reduces=reduces,
            scaled=scaled,
            grams=grams,
            own_kernels=grams and (reduces or (own_gamma and not shuffled)),
            n_classes=self._n_classes,
            shuffled=shuffled,
        )
        saved = 0.0 if self.fit_one is None else _VALIDATION
        if steps is not None and reduces:
            loop = _PROJECTION if steps.selection is None else _SELECTION + _SELECTED * n * p
            saved += _MARGIN * times * steps.seconds_of_reduction - loop
        return batch_pays(shape, n_fits, model, times, saved)

    def compare(self, block: PlanBlock, model: Any, samples: Any) -> Difference | None:
        """Return the difference of the decision values of all pairs of classes from a model's."""
        return compare_decisions(self, block, model, samples)

    def __call__(self, block: PlanBlock) -> FitOutput:
        """Return decision values for two classes, or votes for more than two."""
        box = self.boxes(block)
        if self._n_classes > 2:
            return self._vote(block, box)
        codes = self._codes(block)
        rows = np.arange(len(self.target))
        values, solved, noise = self._solve(PairProblems(block, rows, 2.0 * codes - 1.0, box, -1.0))
        return replace(FitOutput.of_decisions(block, values, solved), noise=noise)

    def _codes(self, block: PlanBlock) -> np.ndarray:
        """Return codes (n_samples,), or (n_fits, n_samples) if labels differ between fits."""
        codes = self.target.codes
        return codes if block.order is None else codes[block.order]

    def _solve(self, problems: PairProblems) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return decision values of all samples, a mask of the solved fits, and their noise."""
        values, alpha = self.solver.solve(problems)
        settled = self.boxes.settles(problems.box, alpha)
        certain = settled & svc_problems.are_certain(values, problems.block.test, self.noise)
        return values, certain, find_noise(problems, values, alpha)

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
            of_pair, settled, off = self._solve(PairProblems(block, rows, signs, pair_box, 1.0))
            solved &= settled
            if not solved.any():
                return FitOutput(block.test, ~solved)
            values.append(of_pair[block.test])
            noise += off
        of_solved = np.broadcast_to(solved[:, None], block.test.shape)[block.test]
        predicted, decision = count_pair_votes(np.stack(values, 1)[of_solved], self.classifier)
        return FitOutput(block.test, ~solved, predicted, decision, noise=noise)


def compare_decisions(
    adapter: SVCAdapter, block: PlanBlock, model: Any, samples: Any
) -> Difference | None:
    """Return the difference of decision values of one fit from a model's, for pairs of classes."""
    pairs, svc = copy(adapter), copy(last_step(model))
    # compare the decision values of pairs, not their votes
    pairs.classifier, svc.decision_function_shape = copy(adapter.classifier), "ovo"
    pairs.classifier.decision_function_shape = "ovo"
    output = pairs(block)
    if output.failed[0]:
        return None
    before = fitted_pipeline(model)[:-1]
    samples = before.transform(samples) if len(before) else samples
    expected = svc.decision_function(samples)
    largest = np.max(np.abs(output.decision - expected) / (1 + np.abs(expected)))
    svc.decision_function_shape = last_step(model).decision_function_shape
    labels = adapter.target.encode(svc.predict(samples), len(expected))
    return Difference(float(largest), float(np.mean(output.predicted != labels)))


def fitted_pipeline(model: Any) -> Pipeline:
    """Return a fitted model as a pipeline, also a model with `fitted_steps`."""
    if isinstance(model, Pipeline):
        return model
    return make_pipeline(*getattr(model, "fitted_steps", (model,)))


def last_step(model: Any) -> Any:
    """Return the last step of a fitted model."""
    return fitted_pipeline(model)[-1]


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


def shape_of(X: Any) -> tuple[int, ...]:
    """Return the numbers of samples and features of an array or list."""
    shape: tuple[int, ...] = X.shape if hasattr(X, "shape") else np.asarray(X).shape
    return shape


# Seconds of a fit and a prediction of an SVC on the smallest data sets.
_CALL = 2.5e-3
# Part of this time that is spent outside of libsvm.
_VALIDATION = 2.2e-3
# Seconds of a PCA apart from linear algebra; seconds per selection, and per element of X.
_PROJECTION, _SELECTION, _SELECTED = 5e-4, 2e-3, 1.2e-8
# Seconds of libsvm per product in a kernel value; its other costs, as a number of products.
_KERNEL, _CELL = 7e-10, 15
# Seconds per sample in a step of libsvm.
_STEP = 3.5e-9
# A batch must be faster by this factor.
_MARGIN = 1.1


class FitShape(NamedTuple):
    """The size of one fit.

    The SVM uses `n_solved` of `n_features` columns. Each fit may scale its columns (`scaled`),
    select or project them (`reduces`), use Gram matrices (`grams`), and have a kernel of its own
    (`own_kernels`). Each pair of the `n_classes` is a problem on the samples of the pair, or on all
    samples if labels are `shuffled` for each fit.
    """

    n_samples: int
    n_features: int
    n_solved: int
    reduces: bool = False
    scaled: bool = False
    grams: bool = False
    own_kernels: bool = False
    n_classes: int = 2
    shuffled: bool = False

    @property
    def _pair_samples(self) -> int:
        """Number of samples of two classes."""
        return max(2, 2 * self.n_samples // self.n_classes)

    def batch_seconds(self, n_fits: int, n_steps: float = 0.0) -> float:
        """Return the time per fit: Newton systems in features or in samples, or libsvm's steps."""
        if self.n_classes > 2:
            n_pairs = self.n_classes * (self.n_classes - 1) // 2
            n_samples = self.n_samples if self.shuffled else self._pair_samples
            pair = self._replace(n_samples=n_samples, n_classes=2)
            return n_pairs * pair.batch_seconds(n_fits, n_steps / n_pairs)
        n, k = float(self.n_samples), float(self.n_solved)
        start = 2e-4 + 8e-3 / n_fits
        on_features = uses_features(self.n_samples, self.n_solved)
        if self.own_kernels or ((self.reduces or self.scaled) and not (self.grams or on_features)):
            product = 5e-10 * n**2 * k if self.reduces or self.scaled else 0.0
            return start + 1.5e-8 * n**2 + product + _STEP * n_steps * n
        if self.grams:
            return 5e-5 + 1.2e-6 * n + 4e-9 * n**2 + (8e-3 + 4e-10 * n**3) / n_fits
        if on_features:
            system = n * (1.35e-6 + 4e-8 * k + 1.25e-9 * k**2)
            # Where all fits share the columns, the problem of mean weights is solved first.
            system *= 2.5 if self.reduces else 1.0 + 8.0 / n_fits
        else:
            system = 1.5e-7 * n**2 + 2.5e-10 * n**3
        return start + system

    def loop_seconds(self, n_support: float, n_steps: float) -> float:
        """Return the time of one fit by scikit-learn, for numbers of support vectors and steps."""
        cells = float(self.n_samples * self.n_features)
        transform = 8e-4 + 2e-8 * cells if self.scaled else 0.0
        n_pair, n_shared = float(self._pair_samples), self.n_classes - 1  # problems per sample
        kernel = _KERNEL * n_shared * n_support * n_pair * (self.n_solved + _CELL)
        return _CALL + 5e-9 * cells + transform + kernel + _STEP * n_steps * n_pair


def batch_pays(
    shape: FitShape, n_fits: int, model: Any, times: float = 1.0, saved: float = 0.0
) -> bool:
    """Return whether a batch of fits is at least `times` as fast as a loop.

    A loop that calls libsvm directly saves `saved` seconds per fit.

    libsvm takes from ten steps, if classes are far apart, to millions. A fitted model has its
    number of steps; None means the slowest fits.
    """
    if model is None:
        return True
    svc = last_step(model)
    n_support, n_steps = float(svc.n_support_.sum()), float(np.sum(svc.n_iter_))
    loop = shape.loop_seconds(n_support, n_steps) - saved
    return _MARGIN * times * shape.batch_seconds(n_fits, n_steps) <= loop
