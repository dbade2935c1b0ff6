"""Which fits of a LogisticRegression go to the solver, alone or behind transformers of its columns.

The solver computes the optimum. scikit-learn stops where the gradient falls below `tol`, at 1e-4 by
default. Trial fits measure how far its probabilities are from the optimum; a fit with a tested
sample that close to the boundary is left to it, so that labels are those of the estimator.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.special import expit, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import check_array

from skeval._adapters.svc import SELECTORS, SelectedSVCAdapter, last_step, serves_selection
from skeval._adapters.svc_problems import TIED, Boxes, ColumnSteps, make_boxes, make_column_steps
from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.plans import PlanBlock
from skeval._resampling.solvers import Adapter, Difference, NoSolver, adapter_for
from skeval._resampling.target import Target
from skeval._solvers.logistic import LogisticBatch, solve_selected_logistic
from skeval._solvers.newton import stores_products, uses_features
from skeval.utils._compat import read_parameter

SOLVERS = ("lbfgs", "newton-cg", "newton-cholesky")
"""The others draw at random, or penalise the intercept."""

MOST_UNKNOWNS = 400
"""Coefficients of one fit, of all classes, at most."""

MAX_SHARE_OF_STEPS = 0.5
"""If a trial fit takes more than this share of `max_iter`, other fits may not end in time."""

MAX_SCALE_RATIO = 30.0
"""Columns whose standard deviations differ by more are left to scikit-learn unless scaled."""

# Seconds of one core of a fit by scikit-learn: a call, and in a step the step itself, a sample, a
# number of X and a coefficient, of each class.
_CALL, _STEP, _SAMPLE, _NUMBER, _COEFFICIENT = 2.5e-3, 1.2e-4, 4.5e-8, 5e-10, 8e-8
# Those of a transformer before it: a call, and a number of X.
_TRANSFORM, _TRANSFORMED = 8e-4, 1e-8
# Newton's steps of one fit: on few features, and on Gram matrices. A batch must be faster by a
# margin.
_STEPS, _GRAM_STEPS, _MARGIN = 6, 8, 1.2
# Seconds of a batch and the trial before it, and of a product of two columns in a step: of those
# that all fits share, of a fit's own, and of shared ones that are made, and met by one fit first.
_BATCH, _SHARED_PRODUCT, _OWN_PRODUCT, _FIRST_PRODUCT = 5e-3, 2.5e-11, 1.1e-10, 1e-8


@adapter_for.register
def logistic_adapter(
    estimator: LogisticRegression, X: Any, target: Target, transformers: tuple
) -> Adapter | NoSolver | None:
    """Return the adapter of a LogisticRegression and the transformers before it."""
    if type(estimator) is not LogisticRegression or target.classes is None:
        return None
    n_classes = target.n_classes
    penalised = find_penalty(estimator, n_classes)
    if isinstance(penalised, str):
        return NoSolver(penalised)
    C = float(estimator.C) if penalised else 1.0
    boxes = make_boxes(C, estimator.class_weight, target)
    if boxes is None:
        return NoSolver("class_weight does not give every class a positive weight")
    if issparse(X) or np.ndim(X) != 2 or not has_plain_columns(X):
        return NoSolver("samples are served as a table of finite numbers in double precision")
    pipeline = make_pipeline(*transformers, estimator)
    if any(type(step) in SELECTORS for step in transformers):
        if n_classes > 2 or not penalised or not serves_selection(transformers, X):
            return NoSolver(
                "features selected in each fit are served before two classes and a penalty, by "
                "SelectKBest or SelectPercentile(f_classif) on an array, with a scaler beside it"
            )
        return SelectedLogisticAdapter(pipeline, X, target, boxes)
    columns = check_array(X, dtype=np.float64, estimator=estimator, input_name="X")
    steps = make_column_steps(transformers, columns)
    if steps is None:
        names = ", ".join(type(step).__name__ for step in transformers)
        return NoSolver(f"no solver serves these transformers: {names}")
    n, p = columns.shape
    if not uses_features(n, p) and (n_classes > 2 or not penalised):
        return NoSolver("many features are served for two classes and a penalty")
    if uses_features(n, p) and (n_classes if n_classes > 2 else 1) * (p + 1) > MOST_UNKNOWNS:
        return NoSolver(f"a fit has more than {MOST_UNKNOWNS} coefficients")
    return LogisticAdapter(pipeline, X, target, boxes, steps, penalised)


def find_penalty(estimator: LogisticRegression, n_classes: int) -> bool | str:
    """Return whether the squares of coefficients are penalised, or why a fit is not served.

    Versions differ: `penalty` becomes `l1_ratio` and an infinite `C`, `multi_class` goes.
    """
    multi_class = read_parameter(estimator, "multi_class", "deprecated")
    if estimator.solver not in SOLVERS:
        return f"the optimum is that of the solvers {', '.join(SOLVERS)}"
    penalty = read_parameter(estimator, "penalty", "deprecated")
    l1_ratio = read_parameter(estimator, "l1_ratio", None)
    if penalty not in ("l2", "deprecated", None) or l1_ratio not in (None, 0):
        return "absolute values of coefficients are penalised"
    if multi_class == "ovr" or (multi_class == "multinomial" and n_classes == 2):
        return f"multi_class={multi_class!r} is no single model of these classes"
    if not estimator.fit_intercept:
        return "fit_intercept is False"
    return penalty is not None and bool(np.isfinite(estimator.C))


def has_plain_columns(X: Any) -> bool:
    """Whether X holds finite numbers of double precision, or integers."""
    X = np.asarray(X)
    return X.dtype in (np.float64, np.int64) and bool(np.isfinite(X).all())


def scales_differ(X: np.ndarray) -> bool:
    """Return whether standard deviations of columns differ by more than a factor."""
    deviations = X.std(axis=0)
    deviations = deviations[deviations > 0]
    return bool(len(deviations)) and np.ptp(np.log(deviations)) > np.log(MAX_SCALE_RATIO)


class LogisticAdapter:
    """The fits of a LogisticRegression and of the transformers before it."""

    def __init__(
        self,
        pipeline: Pipeline,
        X: Any,
        target: Target,
        boxes: Boxes,
        steps: ColumnSteps,
        penalised: bool,
    ) -> None:
        self.pipeline, self.X, self.target = pipeline, X, target
        self.boxes, self.steps, self.penalised = boxes, steps, penalised
        # lbfgs on raw columns of different scales stops anywhere: a trial says little of others.
        erratic = steps.scaler is None and scales_differ(steps.X)
        self.noise, self.tol = 0.0, np.inf if erratic else float(pipeline[-1].tol)
        self._n_classes = int(target.codes.max()) + 1
        self._batch: LogisticBatch | None = None

    def pays(self, n_fits: int, model: Any, times: float = 1.0, *, shuffled: bool = False) -> bool:
        """Return whether so many fits end in time, and sooner than in a loop."""
        n, p = self.steps.X.shape
        scaled = self.steps.scaler is not None
        seconds = batch_seconds(n, p, self._n_classes, n_fits, scaled=scaled)
        return is_faster(self.pipeline, (n, p), times * seconds, self._n_classes, model)

    def compare(self, block: PlanBlock, model: Any, samples: Any) -> Difference | None:
        """Return how far probabilities are from those of a model."""
        return compare_probabilities(self(block), model, samples, self.target)

    def __call__(self, block: PlanBlock) -> FitOutput:
        """Return log odds and probabilities."""
        if not self.boxes.serves_logistic(block):
            return FitOutput(block.test, np.ones(len(block), dtype=bool))
        if self._batch is None:
            self._batch = LogisticBatch(self.steps.X)
        codes, scales = self.target.codes, None
        codes = codes if block.order is None else codes[block.order]
        maps = None
        if self.steps.drops or self.steps.scaler is not None:
            maps = self.steps.maps(block)
            # A column that is dropped is constant in the fit, and gets no coefficient anyway.
            scales = np.where(np.isfinite(maps.scale), maps.scale, 1.0)
        solution = self._batch.solve(
            codes, self.boxes(block), scales=scales, penalised=self.penalised
        )
        solved = solution.converged
        if maps is not None:
            solved = solved & (maps.n_kept > 0)
        return answer(block, solution.decision, solved, self.noise)


class SelectedLogisticAdapter(SelectedSVCAdapter):
    """The fits of a selector and a LogisticRegression on the columns that each selects."""

    def pays(self, n_fits: int, model: Any, times: float = 1.0, *, shuffled: bool = False) -> bool:
        """Return whether so many fits end in time, and sooner than in a loop."""
        n, p = self.X.shape
        k = self.k
        seconds = 4 * solve_seconds(n, k, 2, _OWN_PRODUCT) + 4e-9 * n * p + _BATCH / n_fits
        faster = is_faster(self.pipeline, (n, p), times * seconds, 2, model)
        return uses_features(n, k) and faster

    def compare(self, block: PlanBlock, model: Any, samples: Any) -> Difference | None:
        """Return how far probabilities are from those of a model."""
        return compare_probabilities(self(block), model, samples, self.target)

    def answer(self, block: PlanBlock, values: np.ndarray, solved: np.ndarray) -> FitOutput:
        """Return log odds and probabilities."""
        return answer(block, values, solved & self.boxes.serves_logistic(block), self.noise)

    def solve_columns(
        self, columns: np.ndarray, positive: np.ndarray, box: np.ndarray
    ) -> np.ndarray:
        """Return the log odds (B, n) of problems on their columns (B, n, k)."""
        return solve_selected_logistic(columns, positive.astype(np.intp), box).decision


def compare_probabilities(
    output: FitOutput, model: Any, samples: Any, target: Target
) -> Difference | None:
    """Return how far the probabilities of one fit are from those of a model."""
    if output.failed[0]:
        return None
    expected = model.predict_proba(samples)
    largest = np.abs(output.probability - expected).max()
    labels = target.encode(model.predict(samples), len(expected))
    return Difference(float(largest), float(np.mean(output.predicted != labels)))


def answer(block: PlanBlock, values: np.ndarray, solved: np.ndarray, noise: float) -> FitOutput:
    """Return what fits answer whose decision values (n_fits, n_samples, ...) are solved.

    A fit is left to the estimator if rounding, or an error `noise` of probabilities, may change
    the label of a tested sample.
    """
    if values.ndim == 2:
        gap = np.abs(np.tanh(values / 2))  # the difference of two probabilities
    else:
        ranked = np.sort(softmax(values, axis=2), axis=2)
        gap = ranked[..., -1] - ranked[..., -2]
    doubtful = block.test & ~(gap > max(TIED, 2 * noise))
    solved = solved & ~doubtful.any(axis=1)
    decision = values[block.test & solved[:, None]]
    if values.ndim == 2:
        predicted = (decision > 0).astype(np.intp)
        probability = np.column_stack([1.0 - expit(decision), expit(decision)])
    else:
        predicted, probability = decision.argmax(axis=1), softmax(decision, axis=1)
    return FitOutput(block.test, ~solved, predicted, decision, probability)


def batch_seconds(n: int, p: int, n_classes: int, n_fits: int, *, scaled: bool) -> float:
    """Return the time of one of so many fits by the solver, fitted to measured ones."""
    if not uses_features(n, p):
        gram = 8.5e-11 * n**2 * p if scaled else 0.0
        steps = _GRAM_STEPS * (2e-5 + 1e-8 * n**2 + 7e-11 * n**3)
        return gram + steps + _BATCH / n_fits
    if not stores_products(n, p + 1):
        return solve_seconds(n, p, n_classes, _OWN_PRODUCT) + _BATCH / n_fits
    start = _BATCH + 1.2e-6 * n + _FIRST_PRODUCT * n * (p + 1) ** 2
    return solve_seconds(n, p, n_classes, _SHARED_PRODUCT) + start / n_fits


def solve_seconds(n: int, p: int, n_classes: int, product: float) -> float:
    """Return the time of Newton's steps on few features, given that of a product of columns."""
    K = n_classes if n_classes > 2 else 1
    pairs, size = K * (K + 1) // 2, K * (p + 1)
    products = product * n * (p + 1) ** 2 * pairs
    return _STEPS * (2e-5 + 6e-8 * n * K + products + 5e-11 * size**3)


def is_faster(
    pipeline: Pipeline, shape: tuple[int, int], seconds: float, n_classes: int, model: Any
) -> bool:
    """Return whether so many seconds are less than a fit takes that ends long before `max_iter`.

    A fit takes as many steps as the model did; without one, as many as it may.
    """
    n, p = shape
    call = _CALL + (len(pipeline) - 1) * (_TRANSFORM + _TRANSFORMED * n * p)
    n_steps = max_steps = MAX_SHARE_OF_STEPS * pipeline[-1].max_iter
    if model is not None:
        n_steps = float(np.max(last_step(model).n_iter_))
    loop = call + n_steps * step_seconds(n, p, n_classes)
    return n_steps <= max_steps and _MARGIN * seconds <= loop


def step_seconds(n: int, p: int, n_classes: int) -> float:
    """Return the time that scikit-learn takes for a step."""
    K = n_classes if n_classes > 2 else 1
    return _STEP + K * (_SAMPLE * n + _NUMBER * n * p + _COEFFICIENT * p)
