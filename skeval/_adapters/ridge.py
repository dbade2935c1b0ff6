"""Ridge regression, least squares and kernel ridge regression: predictions linear in the labels.

scikit-learn's estimators fit many targets at once. Targets that form a basis of all label vectors,
or of the span of the columns, give the matrix from labels to predictions.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    LinearRegression,
    Ridge,
    RidgeClassifier,
    RidgeClassifierCV,
    RidgeCV,
)
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.preprocessing import StandardScaler

from skeval._adapters.label_free import (
    MARGIN,
    LabelMap,
    TransformedSplit,
    distinct_rows,
    label_free_adapter,
)
from skeval._adapters.registry import Adapter, adapter_for
from skeval._adapters.transformers import are_affine
from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.target import Target
from skeval._solvers import least_squares, smoothers
from skeval._solvers.least_squares import PenalizedSquares, SearchedSquares
from skeval._solvers.smoothers import EPSILON, Smoother
from skeval._solvers.splits import Splits

MAX_TARGETS = 2048
"""Maximum number of unit vectors as targets, unless there are more features or label vectors."""

AGREEMENT = 1e-11
"""Largest difference from the predictions of a single fit, in units of the labels."""

TARGETS_PER_TRIAL = 16
"""Number of label vectors in a trial: several targets change the order of the operations."""

MAX_ELEMENTS = 2**24
"""Maximum size of a factorization of all samples, in numbers."""

MAX_NOISE = 1e-9
"""Maximum rounding error of a solved fit, in units of the labels."""

KERNEL_MODELS = (KernelRidge, GaussianProcessRegressor)

DIRECT_SOLVERS = ("auto", "cholesky", "svd")
"""Solvers of Ridge that do not iterate."""


@adapter_for.register(Ridge)
@adapter_for.register(RidgeClassifier)
@adapter_for.register(LinearRegression)
@adapter_for.register(KernelRidge)
@adapter_for.register(GaussianProcessRegressor)
@adapter_for.register(RidgeCV)
@adapter_for.register(RidgeClassifierCV)
def linear_adapter(estimator: Any, X: Any, target: Target, transformers: tuple) -> Adapter | None:
    """Return the adapter of a ridge regression that solves its equations directly."""
    if not solves_directly(estimator):
        return None
    make_map = None if searches(estimator) else make_linear_map  # a search depends on the labels
    return label_free_adapter(make_map, make_linear_deletion, estimator, X, target, transformers)


def searches(estimator: Any) -> bool:
    """Whether an estimator selects its penalty by leave-one-out errors."""
    return type(estimator) in (RidgeCV, RidgeClassifierCV)


def solves_directly(estimator: Any) -> bool:
    """Whether predictions are a matrix times the labels, for a fixed penalty."""
    if searches(estimator):
        search_options = (estimator.cv, estimator.scoring, getattr(estimator, "class_weight", None))
        one_alpha = not getattr(estimator, "alpha_per_target", False)
        return search_options == (None, None, None) and estimator.fit_intercept and one_alpha
    if type(estimator) is LinearRegression:
        return not estimator.positive
    if type(estimator) is GaussianProcessRegressor:
        # the default kernel has free parameters, which the labels determine, since version 1.9
        fixed = estimator.optimizer is None or getattr(estimator.kernel, "n_dims", 1) == 0
        return isinstance(estimator.alpha, Real) and fixed and not estimator.normalize_y
    if type(estimator) is KernelRidge:
        return isinstance(estimator.alpha, Real)
    return (
        type(estimator) in (Ridge, RidgeClassifier)
        and isinstance(estimator.alpha, Real)
        and not estimator.positive
        and estimator.solver in DIRECT_SOLVERS
        and not getattr(estimator, "class_weight", None)
    )


def make_linear_map(estimator: Any, split: TransformedSplit) -> LabelMap | None:
    """Return the map of a training set, or None if it differs from a single fit."""
    if issparse(split.train) and type(estimator) is not KernelRidge:
        return None  # the iterations for sparse equations depend on the labels
    if not issparse(split.train):
        split = split._replace(train=as_floats(split.train), test=as_floats(split.test))
    if split.train.dtype != np.float64:
        return None  # results in single precision depend on the order of sums
    n_classes = split.n_classes
    single = clone(estimator).fit(split.train, split.example)
    expected = single.decision_function(split.test) if n_classes else single.predict(split.test)
    unit = 1.0 if n_classes else float(np.abs(split.example).max())
    # try the fastest map first, and keep it if it reproduces the single fit
    for make in (make_smoother, ManyTargets):
        predict = make(estimator, split)
        if predict is None:
            continue
        label_map = LinearMap(predict, n_classes)
        values = label_map.values(np.tile(split.example, (TARGETS_PER_TRIAL, 1)))[0]
        difference = float(np.abs(values - expected.T).max())
        if difference <= AGREEMENT * unit:
            label_map.noise = MARGIN * max(difference, predict.rounding(len(split.example)))
            return label_map
    return None


def make_linear_deletion(
    estimator: Any, X: Any, target: Target, transformers: tuple
) -> LinearDeletion | None:
    """Return a solver that fits an estimator to arbitrary training sets, or None if unsupported.

    Least squares do not depend on the scales of the columns. Ridge regression does, and is
    supported after a scaler if there are fewer columns than samples.
    """
    if issparse(X):
        return None
    samples = as_floats(X)
    n, p = samples.shape
    if samples.dtype != np.float64 or n * min(n, p) > MAX_ELEMENTS:
        return None
    squares: PenalizedSquares | SearchedSquares | None
    # whether the last step scales each training set to variance 1
    scales = (
        bool(transformers) and are_affine(transformers) and type(transformers[-1]) is StandardScaler
    ) and transformers[-1].with_std
    if searches(estimator):
        alphas = np.atleast_1d(np.asarray(estimator.alphas, dtype=float))
        if (transformers and not scales) or p >= n - 2 or not np.all(alphas > 0):
            return None
        return LinearDeletion(SearchedSquares(samples, alphas, scaled=scales), target)
    alpha = 0.0 if type(estimator) is LinearRegression else float(estimator.alpha)
    if type(estimator) in KERNEL_MODELS:
        if transformers or n * n > MAX_ELEMENTS:
            return None
        squares = least_squares.factor_kernel(compute_kernel(estimator, samples), alpha)
    elif not transformers or (alpha == 0 and estimator.fit_intercept and are_affine(transformers)):
        squares = least_squares.factor_columns(
            samples, alpha, with_intercept=estimator.fit_intercept
        )
    elif scales and estimator.fit_intercept and p < n:
        squares = least_squares.standardize_columns(samples, alpha)
    else:
        return None
    return None if squares is None else LinearDeletion(squares, target)


def compute_kernel(estimator: Any, samples: np.ndarray) -> np.ndarray:
    """Return the kernel matrix of all samples, as the estimator computes it."""
    if type(estimator) is GaussianProcessRegressor:
        return np.asarray((estimator.kernel or RBF())(samples, samples))
    if callable(estimator.kernel):
        params = estimator.kernel_params or {}
    else:
        params = {name: getattr(estimator, name) for name in ("gamma", "degree", "coef0")}
    kernel = pairwise_kernels(samples, metric=estimator.kernel, filter_params=True, **params)
    return np.asarray(kernel)


def as_floats(samples: Any) -> np.ndarray:
    """Return dense samples in the precision that an estimator uses."""
    array = np.asarray(samples)
    return array if array.dtype == np.float32 else array.astype(float)


def make_smoother(estimator: Any, split: TransformedSplit) -> Smoother | None:
    """Return the smoother of a training set, or None if it costs more than separate fits."""
    m, linear = len(split.example), type(estimator) not in KERNEL_MODELS
    basis = smoothers.find_basis(split.train) if linear else None
    if basis is None and m > min(split.n_draws, max(MAX_TARGETS, split.train.shape[1])):
        return None
    fit = ManyTargets(estimator, split)
    # eq. (3) of smoothers if there is a basis, else eq. (1)
    return Smoother(basis, fit((np.eye(m) if basis is None else basis).T).T)


class ManyTargets:
    """Fit to all label vectors at once, as separate targets."""

    def __init__(self, estimator: Any, split: TransformedSplit) -> None:
        self.split = split
        self.estimator = estimator
        self.weights: dict[str, np.ndarray] = {}
        if type(estimator) is RidgeClassifier:  # fits a Ridge to signs, with unit weights
            names = Ridge().get_params()
            self.estimator = Ridge(**{name: getattr(estimator, name) for name in names})
            self.weights = {"sample_weight": np.ones(len(split.example))}

    def __call__(self, targets: np.ndarray) -> np.ndarray:
        """Return the predictions (..., n_tested) of targets (..., m)."""
        flat = targets.reshape(-1, targets.shape[-1])
        model = clone(self.estimator).fit(self.split.train, flat.T, **self.weights)
        predicted = model.predict(self.split.test).reshape(-1, len(flat))
        return predicted.T.reshape(*targets.shape[:-1], -1)

    @property
    def size(self) -> int:
        """Number of stored numbers."""
        return int(np.prod(self.split.train.shape) + np.prod(self.split.test.shape))

    def rounding(self, n_trained: int) -> float:
        """Return the order of the rounding errors in predictions of signs."""
        return EPSILON * n_trained**0.5


class LinearMap:
    """Map from labels to numbers, or to classes by the signs of decision values."""

    def __init__(self, predict: Smoother | ManyTargets, n_classes: int) -> None:
        self.predict = predict
        self.n_classes = n_classes
        self.noise = EPSILON

    @property
    def size(self) -> int:
        """Number of stored numbers."""
        return self.predict.size

    def __call__(self, labels: np.ndarray) -> FitOutput:
        """Return the predictions for label vectors (n_fits, n_trained)."""
        values = self.values(labels)
        if not self.n_classes:
            return FitOutput.of_same_samples(values, np.isfinite(values).all(axis=1))
        predicted, certain = smoothers.decide(values, self.noise)
        by_sample = values if values.ndim == 2 else values.swapaxes(1, 2)
        return FitOutput.of_same_samples(predicted, certain, by_sample)

    def values(self, labels: np.ndarray) -> np.ndarray:
        """Return numbers or decision values (n_fits, n_tested).

        For three or more classes the shape is (n_fits, n_classes, n_tested).
        """
        return self.predict(
            smoothers.class_signs(labels, self.n_classes)
            if self.n_classes
            else labels.astype(float)
        )


class LinearDeletion:
    """Linear fits to arbitrary training sets, for regression or classification."""

    def __init__(self, squares: PenalizedSquares | SearchedSquares, target: Target) -> None:
        self.squares = squares
        self.n_classes = target.n_classes
        # targets without their mean, which the intercept absorbs, keep more digits
        self.center = 0.0 if self.n_classes or squares.penalty[0] else float(target.y.mean())
        self.unit = 1.0 if self.n_classes else float(np.abs(target.y - self.center).max()) or 1.0
        self.noise = EPSILON

    def __call__(self, labels: np.ndarray, splits: Splits) -> FitOutput:
        """Return the predictions for label vectors (n_fits, n_samples)."""
        distinct_labels, of_fit = distinct_rows(labels)
        if self.n_classes:
            targets = smoothers.class_signs(distinct_labels, self.n_classes)
        else:
            targets = (distinct_labels - self.center) / self.unit
        targets = targets.reshape(len(distinct_labels), -1, labels.shape[1])  # (L, c, n)
        # a fit is solved if its rounding errors are small
        values, noise, *_ = self.squares.solve(targets, of_fit, splits)
        solved = noise < MAX_NOISE
        if isinstance(self.squares, SearchedSquares):
            solved &= splits.weights.dtype.kind != "f"
        if not self.n_classes:
            numbers = self.center + self.unit * values[:, 0]
            return FitOutput.of_same_samples(numbers, solved & np.isfinite(numbers).all(axis=1))
        if self.n_classes == 2:
            values = values[:, 0]
        predicted, certain = smoothers.decide(values, np.maximum(self.noise, MARGIN * noise))
        by_sample = values if values.ndim == 2 else values.swapaxes(1, 2)
        return FitOutput.of_same_samples(predicted, certain & solved, by_sample)
