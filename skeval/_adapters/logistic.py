"""Adapter for LogisticRegression, alone or after transformers of its columns.

The solver follows scikit-learn's default solver "lbfgs" step by step, with the same tolerance and
limit of iterations. The two differ by rounding errors, which grow with the number of iterations.
The estimator itself does a fit if such an error may change the label of a tested sample.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.special import expit, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline

from skeval._adapters.column_steps import (
    ColumnMaps,
    ColumnSteps,
    has_plain_columns,
    make_column_steps,
)
from skeval._adapters.registry import Adapter, Agreement, NoSolver, adapter_for
from skeval._adapters.svc_problems import TIED, Boxes, make_boxes
from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.plans import PlanBlock, ResamplingPlan, whole_plan
from skeval._resampling.target import Target
from skeval._solvers.lbfgs import CONVERGED, UNFINISHED
from skeval._solvers.logistic import Columns, LogisticOptions, LogisticSolution, solve_logistic
from skeval.utils._checks import warn_user

MAX_DIFFERENCE = 1e-2
"""Largest difference of the probabilities of a solver and of the estimator."""

MAX_COEFFICIENTS = 20_000
"""Largest number of coefficients of a fit, of all classes."""

MAX_RATIO = 3000.0
"""Maximum ratio of column sizes; beyond it, the path of lbfgs depends on rounding errors."""

# Probabilities differ from scikit-learn's by less than ROUNDING up to LONG iterations, and by ten
# times more for each further GROWTH iterations.
ROUNDING, LONG, GROWTH, MAX_NOISE = 5e-7, 50, 10, 0.01

MIN_FITS = 5
"""Minimum number of fits for which the solver and a trial fit are faster than a loop."""


@adapter_for.register
def logistic_adapter(
    estimator: LogisticRegression, X: Any, target: Target, transformers: tuple
) -> Adapter | NoSolver | None:
    """Return the adapter of a LogisticRegression and the transformers before it."""
    if type(estimator) is not LogisticRegression or target.classes is None:
        return None
    n_classes = target.n_classes
    penalized = find_penalty(estimator, n_classes)
    if isinstance(penalized, str):
        return NoSolver(penalized)
    boxes = make_boxes(float(estimator.C) if penalized else 1.0, estimator.class_weight, target)
    if boxes is None:
        return NoSolver("class_weight does not give every class a positive weight")
    if issparse(X) or np.ndim(X) != 2 or not has_plain_columns(X):
        return NoSolver("the solver requires a table of finite numbers in double precision")
    options = LogisticOptions(
        float(estimator.tol),
        int(estimator.max_iter),
        ridge=float(penalized),
        intercept=bool(estimator.fit_intercept),
    )
    pipeline = make_pipeline(*transformers, estimator)
    steps = make_column_steps(transformers, X, target)
    if isinstance(steps, str):
        return NoSolver(steps)
    if count_rows(target) * (steps.n_columns + 1) > MAX_COEFFICIENTS:
        return NoSolver(f"a fit has more than {MAX_COEFFICIENTS} coefficients")
    return LogisticAdapter(pipeline, target, boxes, steps, options)


def find_penalty(estimator: LogisticRegression, n_classes: int) -> bool | str:
    """Return whether squared coefficients are penalized, or why the solver cannot be used.

    Versions of scikit-learn differ: newer ones replace `penalty` by `l1_ratio` and an infinite `C`,
    and remove `multi_class`.
    """
    multi_class = getattr(estimator, "multi_class", "deprecated")
    if estimator.solver != "lbfgs":
        return "only solver='lbfgs' is supported"
    penalty = getattr(estimator, "penalty", "deprecated")
    l1_ratio = getattr(estimator, "l1_ratio", None)
    if penalty not in ("l2", "deprecated", None) or l1_ratio not in (None, 0):
        return "absolute values of coefficients are penalized"
    if multi_class == "ovr" or (multi_class == "multinomial" and n_classes == 2):
        return f"multi_class={multi_class!r} is not supported for these classes"
    return penalty is not None and bool(np.isfinite(estimator.C))


def count_rows(target: Target) -> int:
    """Return the number of rows of coefficients: 1 for two classes."""
    return 1 if target.n_classes == 2 else target.n_classes


class LogisticAdapter:
    """Fits of a LogisticRegression and of the transformers before it."""

    def __init__(
        self,
        pipeline: Pipeline,
        target: Target,
        boxes: Boxes,
        steps: ColumnSteps,
        options: LogisticOptions,
    ) -> None:
        self.pipeline, self.target = pipeline, target
        self.boxes, self.steps, self.options = boxes, steps, options
        # fits shift and scale standardized columns, which keeps rounding errors small
        self._center, deviations = steps.X.mean(axis=0), steps.X.std(axis=0)
        self._unit = np.where(deviations > 0, deviations, 1.0)
        self._standard = (steps.X - self._center) / self._unit
        # the path depends on rounding errors if columns differ much in size
        block = whole_plan(len(target)).draw(0)
        whole = (steps.scale if steps.pca is None else steps.maps)(block).transform(steps.X, 0)
        spreads = whole.std(axis=0)
        sizes = np.hypot(whole.mean(axis=0), spreads)
        self._erratic = sizes.max() > MAX_RATIO * np.min(spreads[spreads > 0], initial=np.inf)
        self.noise, self.tol = 0.0, np.inf if self._erratic else ROUNDING

    @cached_property
    def _columns(self) -> Columns:
        """Columns of fits without transformers."""
        return Columns.of_rows(self.steps.X)

    def gain(self, plan: ResamplingPlan) -> float:
        """Return how many times as fast as the loop the solver is at least, 0 if it is slower."""
        return 2.0 if plan.n_fits >= MIN_FITS else 0.0

    def compare(self, block: PlanBlock, model: Any, samples: Any) -> Agreement | None:
        """Return the difference between the probabilities of one fit and of its model."""
        if not self._erratic:
            return compare_probabilities(self(block), model, samples, self.target)
        if self.steps.reduces:
            return None
        # lbfgs depends on rounding errors: return how far from the optimum it stops
        weights, options = self.boxes(block), self.options
        ridge = options.ridge * (self.steps.maps(block).scale[0] / self._unit) ** 2
        # equal curvatures of all columns speed up the search for the optimum
        size = np.sqrt(1.0 + 4.0 * ridge / weights.sum())
        columns = Columns(self._standard, np.zeros((1, len(size))), size[None])
        exact = LogisticOptions(1e-7, 300, ridge / size**2, options.intercept)
        solution = solve_logistic(columns, block.order_labels(self.target.codes), weights, exact)
        output = make_output(block, solution, 0.0)
        return compare_probabilities(output, model, samples, self.target, optimum=True)

    def __call__(self, block: PlanBlock) -> FitOutput:
        """Return log odds and probabilities."""
        if not self.boxes.serves_logistic(block):
            return FitOutput(block.test, np.ones(len(block), dtype=bool))
        codes = self.target.codes if block.order is None else self.target.codes[block.order]
        weights = self.boxes(block)
        if not self.steps.changes:
            solution = solve_logistic(self._columns, codes, weights, self.options)
            return make_output(block, solution, self.noise)
        maps = self.steps.maps(block)
        if self.steps.reduces:
            solution = self._solve_reduced(maps, codes, weights)
        else:
            shift, scale = (maps.shift - self._center) / self._unit, maps.scale / self._unit
            columns = Columns(self._standard, shift, scale)
            weights = np.where(maps.usable[:, None], weights, 0.0)
            solution = solve_logistic(columns, codes, weights, self.options)
        return make_output(block, solution, self.noise)

    def _solve_reduced(
        self, maps: ColumnMaps, codes: np.ndarray, weights: np.ndarray
    ) -> LogisticSolution:
        """Return the solutions on few columns of each fit, a stack of fits at a time."""
        codes = np.broadcast_to(codes, weights.shape)
        (B, n), K = weights.shape, count_rows(self.target)
        result = LogisticSolution(
            np.full((B, n, K), np.nan), np.zeros(B, dtype=np.intp), np.full(B, UNFINISHED)
        )
        for fits, columns in maps.stack(self.steps.X):
            solution = solve_logistic(Columns(columns), codes[fits], weights[fits], self.options)
            for whole, part in zip(result, solution, strict=True):
                whole[fits] = part
        return result


def compare_probabilities(
    output: FitOutput, model: Any, samples: Any, target: Target, *, optimum: bool = False
) -> Agreement | None:
    """Return the difference between the probabilities of one fit and of a model.

    Labels are compared at the `optimum` only.
    """
    if output.failed[0]:
        return None
    expected = model.predict_proba(samples)
    largest = float(np.abs(output.probability - expected).max())
    labels = target.encode(model.predict(samples), len(expected)) if optimum else output.predicted
    return Agreement(largest <= MAX_DIFFERENCE, float(np.mean(output.predicted != labels)))


def make_output(block: PlanBlock, solution: LogisticSolution, noise: float) -> FitOutput:
    """Return the outputs of the fits whose labels rounding errors cannot change.

    `noise` is an additional error of all probabilities.
    """
    values = solution.decision  # (n_fits, n, K)
    if values.shape[2] == 1:
        gap = np.abs(np.tanh(values[..., 0] / 2))  # difference of the two probabilities
    else:
        ranked = np.sort(softmax(values, axis=2), axis=2)
        gap = ranked[..., -1] - ranked[..., -2]
    rounding = 2 * np.maximum(noise, rounding_error(solution.n_iter))
    certain = gap > np.maximum(TIED, rounding)[:, None]
    solved = (solution.status != UNFINISHED) & (certain | ~block.test).all(axis=1)
    warn_unconverged(solution.status[solved])
    decision = values[block.test & solved[:, None]]
    if values.shape[2] == 1:
        decision = decision[:, 0]
        predicted = (decision > 0).astype(np.intp)
        probability = np.column_stack([1.0 - expit(decision), expit(decision)])
    else:
        predicted, probability = decision.argmax(axis=1), softmax(decision, axis=1)
    return FitOutput(block.test, ~solved, predicted, decision, probability)


def rounding_error(n_iter: Any) -> Any:
    """Return a bound of the rounding errors of probabilities after a number of iterations."""
    return ROUNDING * 10.0 ** np.maximum(0.0, (n_iter - LONG) / GROWTH)


def warn_unconverged(status: np.ndarray) -> None:
    """Warn as scikit-learn does, once for a block."""
    n_stopped = np.count_nonzero(status != CONVERGED)
    if n_stopped:
        warn_user(
            f"lbfgs failed to converge in {n_stopped} of {len(status)} fits. Increase max_iter, "
            "or scale the features (StandardScaler).",
            ConvergenceWarning,
        )
