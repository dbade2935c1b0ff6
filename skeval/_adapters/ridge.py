"""Ridge regression, least squares and kernel ridge regression, which are linear in the labels."""

from __future__ import annotations

from functools import cache
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.preprocessing import StandardScaler

from skeval._adapters.column_steps import are_affine, scales_to_unit, uses_only
from skeval._adapters.deletion import MARGIN, DeletionSolver, distinct_rows
from skeval._adapters.registry import UNKNOWN, Solver, supports
from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.target import Target
from skeval._solvers import least_squares
from skeval._solvers.least_squares import PenalizedSquares, class_signs, decide
from skeval._solvers.splits import EPSILON, Splits

MAX_ELEMENTS = 2**24
"""Maximum size of a factorization of all samples, in numbers."""

MAX_NOISE = 1e-9
"""Maximum rounding error of a solved fit, in units of the labels."""

ROOM = 2.0
"""Factor by which singular values must exceed the tolerance of the estimator."""

PARAMETERS = {
    Ridge: "alpha fit_intercept copy_X max_iter tol solver positive random_state",
    RidgeClassifier: (
        "alpha fit_intercept copy_X max_iter tol class_weight solver positive random_state"
    ),
    LinearRegression: "fit_intercept copy_X tol n_jobs positive",
    KernelRidge: "alpha kernel gamma degree coef0 kernel_params",
}
"""Parameters of each estimator that the solver takes into account."""


@supports.register(Ridge)
@supports.register(RidgeClassifier)
@supports.register(LinearRegression)
@supports.register(KernelRidge)
def support_linear(estimator: Any, X: Any, target: Target, transformers: tuple) -> Solver | str:
    """Return the solver of a ridge regression that solves its equations directly."""
    kind = type(estimator)
    if kind not in PARAMETERS or not uses_only(estimator, PARAMETERS[kind]):
        return "the solver does not know a subclass or a parameter of the estimator"
    iterates = getattr(estimator, "solver", "auto") not in ("auto", "cholesky", "svd")
    own_penalties = not isinstance(getattr(estimator, "alpha", 0.0), Real)
    limited = getattr(estimator, "positive", False) or getattr(estimator, "class_weight", None)
    if iterates or own_penalties or limited:
        return UNKNOWN
    return DeletionSolver(make_linear_deletion, estimator, X, target, transformers)


def make_linear_deletion(
    estimator: Any, X: Any, target: Target, transformers: tuple
) -> LinearDeletion | None:
    """Return a solver that fits an estimator to arbitrary training sets, or None if unsupported.

    Least squares do not depend on the scales of the columns. Ridge regression does, and is
    supported after a scaler if there are fewer columns than samples.
    """
    samples = X if issparse(X) else np.asarray(X)
    samples = samples if samples.dtype == np.float32 else samples.astype(float)
    n, p = samples.shape
    if samples.dtype != np.float64 or n * min(n, p) > MAX_ELEMENTS or not are_affine(transformers):
        return None
    if type(estimator) is KernelRidge:
        if transformers or n * n > MAX_ELEMENTS:
            return None
        kernel = compute_kernel(estimator, samples)
        squares = least_squares.factor_kernel(kernel, float(estimator.alpha))
        return None if squares is None else LinearDeletion(squares, target)
    if issparse(X):
        return None
    alpha, intercept = float(getattr(estimator, "alpha", 0.0)), estimator.fit_intercept
    if not transformers or (alpha == 0 and intercept):
        squares = least_squares.factor_columns(samples, alpha, with_intercept=intercept)
        least = 0.0
        if type(estimator) is LinearRegression and cuts_by_tol() and estimator.tol > 0:
            least = estimator.tol * find_condition(samples, transformers, intercept)
        return LinearDeletion(squares, target, least) if np.isfinite(least) else None
    last = transformers[-1]
    if type(last) is not StandardScaler or not last.with_std or not intercept or p >= n:
        return None
    return LinearDeletion(least_squares.standardize_columns(samples, alpha), target)


@cache
def cuts_by_tol() -> bool:
    """Whether `tol` of LinearRegression drops small singular values, as since version 1.9."""
    X = np.array([[1.0, 0.0], [0.0, 1e-7], [-1.0, 0.0], [0.0, -1e-7]])
    return bool(LinearRegression().fit(X, X[:, 1]).coef_[1] < 0.5)


def find_condition(samples: np.ndarray, transformers: tuple, intercept: bool) -> float:
    """Return a bound on the condition number of the columns, infinite if there is none.

    It is valid for training sets in which the sum of squares of no direction is smaller than over
    all samples, eq. (6) of deletion.
    """
    columns = samples - samples.mean(axis=0) if intercept else samples
    scaled = bool(transformers) and scales_to_unit(transformers) is True
    if transformers and not scaled:
        return np.inf
    columns = least_squares.standardize_all(samples) if scaled else columns
    columns = columns[:, np.any(columns != 0, axis=0)]
    singular = np.linalg.svd(columns, compute_uv=False)
    largest = columns.size**0.5 if scaled else singular.max(initial=0.0)
    smallest = singular.min(initial=np.inf)
    return float(largest / smallest) if smallest > EPSILON * largest else np.inf


def compute_kernel(estimator: KernelRidge, samples: np.ndarray) -> np.ndarray:
    """Return the kernel matrix of all samples, as the estimator computes it."""
    if callable(estimator.kernel):
        params = estimator.kernel_params or {}
    else:
        params = {name: getattr(estimator, name) for name in ("gamma", "degree", "coef0")}
    kernel = pairwise_kernels(samples, metric=estimator.kernel, filter_params=True, **params)
    return np.asarray(kernel)


class LinearDeletion:
    """Linear fits to arbitrary training sets, for regression or classification.

    `least` is the condition number of all samples, in units of the condition number beyond which
    the estimator drops a direction.
    """

    def __init__(self, squares: PenalizedSquares, target: Target, least: float = 0.0) -> None:
        self.squares, self.least = squares, least
        self.n_classes = target.n_classes
        # targets without their mean, which the intercept absorbs, keep more digits
        self.center = 0.0 if self.n_classes or squares.penalty[0] else float(target.y.mean())
        self.unit = 1.0 if self.n_classes else float(np.abs(target.y - self.center).max()) or 1.0
        self.noise = EPSILON

    def __call__(self, labels: np.ndarray, splits: Splits) -> FitOutput:
        """Return the predictions for label vectors (n_fits, n_samples)."""
        distinct_labels, of_fit = distinct_rows(labels)
        if self.n_classes:
            targets = class_signs(distinct_labels, self.n_classes)
        else:
            targets = (distinct_labels - self.center) / self.unit
        targets = targets.reshape(len(distinct_labels), -1, labels.shape[1])  # (L, c, n)
        values, noise, inverse = self.squares.solve(targets, of_fit, splits)
        # a fit is solved if its rounding errors are small and the estimator drops no direction
        solved = noise < MAX_NOISE
        if self.least:  # eq. (6) of deletion
            heaviest = splits.weights.max(axis=1)
            solved &= heaviest * inverse * (ROOM * self.least) ** 2 < 1
        if not self.n_classes:
            numbers = self.center + self.unit * values[:, 0]
            return FitOutput.of_same_samples(numbers, solved & np.isfinite(numbers).all(axis=1))
        if self.n_classes == 2:
            values = values[:, 0]
        predicted, certain = decide(values, np.maximum(self.noise, MARGIN * noise))
        by_sample = values if values.ndim == 2 else values.swapaxes(1, 2)
        return FitOutput.of_same_samples(predicted, certain & solved, by_sample)
