"""Ridge regression and its kin, whose predictions are linear in the labels of a training part.

scikit-learn's own estimators fit many targets at once. Targets that make up a basis, of all labels
or of those that the columns explain, give the matrix that makes predictions of labels.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    LinearRegression,
    Ridge,
    RidgeClassifier,
    RidgeClassifierCV,
    RidgeCV,
)
from sklearn.preprocessing import StandardScaler

from skeval._adapters.label_free import (
    LabelMap,
    Part,
    are_affine,
    distinct_rows,
    label_free_adapter,
)
from skeval._resampling.plan import FitOutput
from skeval._resampling.task import Adapter, Target, adapter_for
from skeval._solvers.deletion import (
    Parts,
    PenalisedSquares,
    SearchedSquares,
    factor_columns,
    factor_kernel,
    standardise_columns,
)
from skeval._solvers.label_free import EPSILON, Smoother, class_signs, decide, find_basis

__all__ = ["LinearDeletion", "LinearMap", "factor_linear", "learn_linear"]

MOST_UNITS = 2048
"""No square matrix of training samples is made where they are more than this and the features."""

AGREEMENT = 1e-11
"""How far a prediction may lie from that of a single fit, in units of the labels."""

AT_ONCE = 16
"""A trial fits so many label vectors at once, since equations of many targets are solved in
another order than those of one."""

MARGIN = 100.0
"""A decision value is certain of its sign where it is so many times the difference between maps
and fits that was seen."""

MOST_ELEMENTS = 2**24
"""Numbers of a factorisation of all samples at most."""

LARGEST_NOISE = 1e-9
"""A fit whose rounding errors may be larger is left to the estimator, in units of the labels."""

DIRECT_SOLVERS = ("auto", "cholesky", "svd")


@adapter_for.register(Ridge)
@adapter_for.register(RidgeClassifier)
@adapter_for.register(LinearRegression)
@adapter_for.register(KernelRidge)
@adapter_for.register(RidgeCV)
@adapter_for.register(RidgeClassifierCV)
def linear_adapter(estimator: Any, X: Any, target: Target, transformers: tuple) -> Adapter | None:
    """Return the adapter of an estimator that solves its equations directly."""
    if not solves_directly(estimator):
        return None
    learn = None if searches(estimator) else learn_linear  # a search sees the labels
    return label_free_adapter(learn, factor_linear, estimator, X, target, transformers)


def searches(estimator: Any) -> bool:
    """Whether an estimator chooses its penalty by the errors of samples that are left out."""
    return type(estimator) in (RidgeCV, RidgeClassifierCV)


def solves_directly(estimator: Any) -> bool:
    """Whether the predictions of an estimator are a matrix times the labels, for one penalty."""
    if searches(estimator):
        given = (estimator.cv, estimator.scoring, getattr(estimator, "class_weight", None))
        one_for_all = not getattr(estimator, "alpha_per_target", False)
        return given == (None, None, None) and estimator.fit_intercept and one_for_all
    if type(estimator) is LinearRegression:
        return not estimator.positive
    if type(estimator) is KernelRidge:
        return isinstance(estimator.alpha, Real)
    return (
        type(estimator) in (Ridge, RidgeClassifier)
        and isinstance(estimator.alpha, Real)
        and not estimator.positive
        and estimator.solver in DIRECT_SOLVERS
        and not getattr(estimator, "class_weight", None)
    )


def learn_linear(estimator: Any, part: Part) -> LabelMap | None:
    """Return the map of a training part, None where none agrees with a single fit."""
    if issparse(part.train) and type(estimator) is not KernelRidge:
        return None  # Sparse equations are solved in steps, whose number depends on the labels.
    if not issparse(part.train):
        part = part._replace(train=as_floats(part.train), test=as_floats(part.test))
    if part.train.dtype != np.float64:
        return None  # In single precision too much depends on the order of sums.
    n_classes = part.n_classes
    single = clone(estimator).fit(part.train, part.example)
    expected = single.decision_function(part.test) if n_classes else single.predict(part.test)
    unit = 1.0 if n_classes else float(np.abs(part.example).max())
    for find in (find_smoother, ManyTargets):
        predict = find(estimator, part)
        if predict is None:
            continue
        label_map = LinearMap(predict, n_classes)
        values = label_map.values(np.tile(part.example, (AT_ONCE, 1)))[0]
        difference = float(np.abs(values - expected.T).max())
        if difference <= AGREEMENT * unit:
            label_map.noise = MARGIN * max(difference, predict.rounding(len(part.example)))
            return label_map
    return None


def factor_linear(
    estimator: Any, X: Any, target: Target, transformers: tuple
) -> LinearDeletion | None:
    """Return the fits of an estimator to any training parts, None where none are exact.

    Least squares do not depend on the scales of the columns; ridge regression does, and is served
    behind a scaler where there are fewer columns than samples.
    """
    if issparse(X):
        return None
    samples = as_floats(X)
    n, p = samples.shape
    if samples.dtype != np.float64 or n * min(n, p) > MOST_ELEMENTS:
        return None
    squares: PenalisedSquares | SearchedSquares | None
    scales = (
        bool(transformers) and are_affine(transformers) and type(transformers[-1]) is StandardScaler
    ) and transformers[-1].with_std
    if searches(estimator):
        alphas = np.atleast_1d(np.asarray(estimator.alphas, dtype=float))
        if (transformers and not scales) or p >= n - 2 or not np.all(alphas > 0):
            return None
        return LinearDeletion(SearchedSquares(samples, alphas, scaled=scales), target)
    alpha = 0.0 if type(estimator) is LinearRegression else float(estimator.alpha)
    if type(estimator) is KernelRidge:
        if transformers or n * n > MOST_ELEMENTS:
            return None
        squares = factor_kernel(estimator._get_kernel(samples), alpha)
    elif not transformers or (alpha == 0 and estimator.fit_intercept and are_affine(transformers)):
        squares = factor_columns(samples, alpha, with_intercept=estimator.fit_intercept)
    elif scales and estimator.fit_intercept and p < n:
        squares = standardise_columns(samples, alpha)
    else:
        return None
    return None if squares is None else LinearDeletion(squares, target)


def as_floats(samples: Any) -> np.ndarray:
    """Return the numbers that an estimator makes of dense samples."""
    array = np.asarray(samples)
    return array if array.dtype == np.float32 else array.astype(float)


def find_smoother(estimator: Any, part: Part) -> Smoother | None:
    """Return the smoother of a training part, None where it is larger than its uses."""
    m, linear = len(part.example), type(estimator) is not KernelRidge
    basis = find_basis(part.train) if linear else None
    if basis is None and m > min(part.n_repetitions, max(MOST_UNITS, part.train.shape[1])):
        return None
    fit = ManyTargets(estimator, part)
    # Equation (3) of doc/derivations/smoothers.rst where there is a basis, elsewhere equation (1).
    return Smoother(basis, fit((np.eye(m) if basis is None else basis).T).T)


class ManyTargets:
    """One fit to all label vectors at once, each of which is a target of its own."""

    def __init__(self, estimator: Any, part: Part) -> None:
        self.part = part
        self.estimator = estimator
        self.weights: dict[str, np.ndarray] = {}
        if type(estimator) is RidgeClassifier:  # It fits a Ridge to signs, with all weights 1.
            names = Ridge().get_params()
            self.estimator = Ridge(**{name: getattr(estimator, name) for name in names})
            self.weights = {"sample_weight": np.ones(len(part.example))}

    def __call__(self, targets: np.ndarray) -> np.ndarray:
        """Return the predictions (..., n_tested) of targets (..., m)."""
        flat = targets.reshape(-1, targets.shape[-1])
        model = clone(self.estimator).fit(self.part.train, flat.T, **self.weights)
        predicted = model.predict(self.part.test).reshape(-1, len(flat))
        return predicted.T.reshape(*targets.shape[:-1], -1)

    @property
    def size(self) -> int:
        """Return how many numbers it holds."""
        return int(np.prod(self.part.train.shape) + np.prod(self.part.test.shape))

    def rounding(self, n_trained: int) -> float:
        """Return what rounding may change in predictions of signs."""
        return EPSILON * n_trained**0.5


class LinearMap:
    """The map to numbers, or to classes by their signs."""

    def __init__(self, predict: Smoother | ManyTargets, n_classes: int) -> None:
        self.predict = predict
        self.n_classes = n_classes
        self.noise = EPSILON

    @property
    def size(self) -> int:
        """Return how many numbers it holds."""
        return self.predict.size

    def __call__(self, labels: np.ndarray) -> FitOutput:
        """Return the predictions under label vectors (n_fits, n_trained)."""
        values = self.values(labels)
        if not self.n_classes:
            return FitOutput.of_same_samples(values, np.isfinite(values).all(axis=1))
        predicted, certain = decide(values, self.noise)
        by_sample = values if values.ndim == 2 else values.swapaxes(1, 2)
        return FitOutput.of_same_samples(predicted, certain, by_sample)

    def values(self, labels: np.ndarray) -> np.ndarray:
        """Return numbers or decision values (n_fits, n_tested), or those of each class.

        Those of three or more classes are of shape (n_fits, n_classes, n_tested).
        """
        return self.predict(
            class_signs(labels, self.n_classes) if self.n_classes else labels.astype(float)
        )


class LinearDeletion:
    """The fits to any training parts, to numbers, or to classes by the signs of their values."""

    def __init__(self, squares: PenalisedSquares | SearchedSquares, target: Target) -> None:
        self.squares = squares
        self.n_classes = target.n_classes
        # Numbers are centred: an intercept carries their mean, which only costs digits.
        self.centre = 0.0 if self.n_classes or squares.penalty[0] else float(target.y.mean())
        self.unit = 1.0 if self.n_classes else float(np.abs(target.y - self.centre).max()) or 1.0
        self.noise = EPSILON

    def __call__(self, labels: np.ndarray, parts: Parts) -> FitOutput:
        """Return the predictions under label vectors (n_fits, n_samples)."""
        given, of_fit = distinct_rows(labels)
        if self.n_classes:
            targets = class_signs(given, self.n_classes)
        else:
            targets = (given - self.centre) / self.unit
        targets = targets.reshape(len(given), -1, labels.shape[1])  # (L, c, n)
        values, noise, *_ = self.squares.solve(targets, of_fit, parts)
        solved = noise < LARGEST_NOISE
        if isinstance(self.squares, SearchedSquares):
            solved &= parts.weights.dtype.kind != "f"
        if not self.n_classes:
            numbers = self.centre + self.unit * values[:, 0]
            return FitOutput.of_same_samples(numbers, solved & np.isfinite(numbers).all(axis=1))
        if self.n_classes == 2:
            values = values[:, 0]
        predicted, certain = decide(values, np.maximum(self.noise, MARGIN * noise))
        by_sample = values if values.ndim == 2 else values.swapaxes(1, 2)
        return FitOutput.of_same_samples(predicted, certain & solved, by_sample)
