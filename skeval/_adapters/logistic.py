"""Adapter for LogisticRegression, alone or after transformers that scale its columns.

The solver reaches the optimum, which scikit-learn's solver "lbfgs" approaches up to its tolerance.
Trial fits show whether the probabilities agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.special import expit, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from skeval._adapters import column_steps, regions
from skeval._adapters.runner import SLOWER, UNKNOWN, Agreement, Solver, supports
from skeval._adapters.svc import Boxes, make_boxes
from skeval._resampling.inputs import FitOutput
from skeval._resampling.plans import PlanBlock, ResamplingPlan
from skeval._resampling.sampling_units import Target
from skeval._solvers.logistic import solve_logistic
from skeval._solvers.splits import Products
from skeval.utils._checks import count_dimensions

LARGEST = 1e8
"""Largest divisor of a column, in units of its standard deviation."""

MAX_DIFFERENCE = 1e-2
"""Largest difference of the probabilities of a trial fit."""

MAX_TOL = 1e-3
"""Largest `tol` of the estimator. Probabilities differ by about `tol` if columns have no effect."""

MAX_ITERATIONS = 0.6
"""Maximum number of iterations of a trial fit, as a fraction of `max_iter`."""

MAX_REACH = 0.7
"""Bound on the difference of probabilities beyond which the estimator does a fit.

The bound is conservative, because actual differences are about a hundredth of it.
"""

PARAMETERS = (
    "penalty C tol fit_intercept class_weight max_iter dual intercept_scaling random_state "
    "verbose warm_start n_jobs"
)
"""Parameters of the estimator that the solver takes into account."""


@supports.register
def support_logistic(
    estimator: LogisticRegression, X: Any, target: Target, transformers: tuple
) -> Solver | str:
    """Return the solver of a LogisticRegression and the transformers before it."""
    # parameters
    if type(estimator) is not LogisticRegression or target.classes is None:
        return UNKNOWN
    if not column_steps.uses_only(estimator, PARAMETERS):
        return "the solver does not support a parameter of the estimator"
    if estimator.tol > MAX_TOL:
        return "tol may end a fit before the optimum"
    # newer versions of scikit-learn have an infinite C instead of no penalty
    penalized = getattr(estimator, "penalty", "l2") is not None and np.isfinite(estimator.C)
    boxes = make_boxes(float(estimator.C) if penalized else 1.0, estimator.class_weight, target)
    if boxes is None:
        return "class_weight does not give every class a positive weight"
    # samples and transformers, their size before their values are read
    if issparse(X) or count_dimensions(X) != 2:
        return "the solver requires numbers in X"
    n, p = np.shape(X)
    if not regions.logistic(regions.Sizes(np.inf, n, p, target.n_classes)):
        return SLOWER
    if not column_steps.has_plain_columns(X):
        return "the solver requires finite numbers in double precision in X"
    if transformers and not estimator.fit_intercept:
        return "the solver does not support transformers without an intercept"
    steps = column_steps.make_column_steps(transformers, X, target)
    if isinstance(steps, str) or steps.selection is not None:
        return "only transformers that scale columns are supported"
    return LogisticSolver(estimator, target, boxes, steps, float(penalized))


@dataclass(eq=False)
class LogisticSolver(Solver):
    """Fits of a LogisticRegression and of the transformers before it."""

    estimator: LogisticRegression
    target: Target
    boxes: Boxes
    steps: column_steps.ColumnSteps
    penalty: float

    @cached_property
    def center(self) -> np.ndarray:
        """Means of the columns (p,), which an intercept absorbs."""
        X = self.steps.X
        return np.asarray(X.mean(axis=0) if self.estimator.fit_intercept else np.zeros(X.shape[1]))

    @cached_property
    def unit(self) -> np.ndarray:
        """Divisors of the columns (p,). Columns of variance 1 keep rounding errors small."""
        deviation = self.steps.X.std(axis=0)
        return np.where(deviation > 0, deviation, 1.0)

    @cached_property
    def products(self) -> Products:
        """Products of the columns of the solver."""
        columns = (self.steps.X - self.center) / self.unit
        if self.estimator.fit_intercept:
            columns = np.column_stack([columns, np.ones(len(columns))])
        return Products(columns)

    def is_faster(self, plan: ResamplingPlan) -> bool:
        """Return whether the solver is faster than a loop over the fits of a plan."""
        n, p = self.steps.X.shape
        return regions.logistic(regions.Sizes(plan.n_fits, n, p, self.target.n_classes))

    def compare(self, block: PlanBlock, model: Any, samples: Any) -> Agreement | None:
        """Return the agreement between the probabilities of one fit and of its model."""
        output = self.solve(block)
        if output.failed[0]:
            return None
        expected = model.predict_proba(samples)
        labels = self.target.encode(model.predict(samples), len(expected))
        share = float(np.mean(output.predicted != labels))
        largest = float(np.abs(output.probability - expected).max())
        # other fits may end at max_iter, before the optimum
        final = model[-1] if isinstance(model, Pipeline) else model
        is_free = np.max(final.n_iter_) <= MAX_ITERATIONS * final.max_iter
        return Agreement(bool(largest <= MAX_DIFFERENCE and is_free), share)

    def solve(self, block: PlanBlock) -> FitOutput:
        """Return log odds and probabilities."""
        if not self.boxes.serves_logistic(block):
            return FitOutput(block.test, np.ones(len(block), dtype=bool))
        # weights, labels and columns of the fits
        weights, codes = self.boxes(block), block.order_labels(self.target.codes)
        total = weights.sum(axis=1, keepdims=True)
        maps = self.steps.maps(block)
        # the fits shift the columns of the solver and divide them by these scales
        ridge = self.penalty * np.minimum(maps.scale / self.unit, LARGEST) ** 2
        away = np.abs(self.center - maps.shift) if self.estimator.fit_intercept else 0.0
        units = np.minimum((maps.scale + away) / self.unit, LARGEST)
        if self.estimator.fit_intercept:
            ridge, units = (
                np.column_stack([a, np.full(len(a), b)]) for a, b in ((ridge, 0.0), (units, 1.0))
            )
        solution = solve_logistic(
            self.products, ridge, codes, weights, units * total * self.estimator.tol
        )
        # fits whose probabilities hardly depend on the stopping rule
        near = np.max(solution.reach, axis=1, where=block.test, initial=0.0) <= MAX_REACH
        solved = solution.solved & near
        # log odds, labels and probabilities of the tested samples
        values = solution.decision  # (n_fits, n, K)
        decision = values[block.test & solved[:, None]]
        if values.shape[2] == 1:
            decision = decision[:, 0]
            predicted = (decision > 0).astype(np.intp)
            probability = np.column_stack([1.0 - expit(decision), expit(decision)])
        else:
            predicted, probability = decision.argmax(axis=1), softmax(decision, axis=1)
        return FitOutput(block.test, ~solved, predicted, decision, probability)
