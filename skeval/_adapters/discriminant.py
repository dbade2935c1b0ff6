"""Linear discriminant analysis, whose solution depends on the labels only through class means."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest

from skeval._adapters.label_free import (
    MARGIN,
    Deletion,
    LabelMap,
    TransformedSplit,
    distinct_rows,
    label_free_adapter,
)
from skeval._adapters.moments import linear_divisor_offset, make_moments_deletion
from skeval._adapters.registry import Adapter, adapter_for
from skeval._adapters.ridge import MAX_ELEMENTS
from skeval._adapters.transformers import are_affine
from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.target import Target
from skeval._solvers.discriminant import Discriminant, discriminate
from skeval._solvers.least_squares import PenalizedSquares, factor_columns
from skeval._solvers.smoothers import EPSILON, decide
from skeval._solvers.splits import Splits

MAX_DIFFERENCE = 1e-6
"""Largest difference from the decision values of a single fit, which squares the samples."""

MIN_VARIANCE = 1e-10
"""Smallest variance of a combination of columns of variance 1."""

ROOM = 2.0
"""Factor by which singular values must exceed the tolerance of the estimator."""


@adapter_for.register
def discriminant_adapter(
    estimator: LinearDiscriminantAnalysis, X: Any, target: Target, transformers: tuple
) -> Adapter | None:
    """Return the adapter of a linear discriminant analysis."""
    if type(estimator) is not LinearDiscriminantAnalysis or target.classes is None:
        return None
    make_map = make_discriminant_map if is_least_squares(estimator, target) else None
    return label_free_adapter(
        make_map,
        make_discriminant_deletion,
        estimator,
        X,
        target,
        transformers,
        supervised=(SelectKBest,),
    )


def is_least_squares(estimator: LinearDiscriminantAnalysis, target: Target) -> bool:
    """Whether the analysis of two classes is equivalent to least squares.

    The covariance within classes is then the total covariance minus the covariance of the two
    means. With given priors the solver "lsqr" weights the class covariances by them instead.
    """
    if estimator.covariance_estimator or target.n_classes != 2:
        return False
    if estimator.n_components not in (None, 1):
        return False
    priors = estimator.priors
    if estimator.solver == "lsqr":
        return priors is None and isinstance(estimator.shrinkage, Real | None)
    if estimator.solver != "svd" or estimator.shrinkage is not None:
        return False
    return priors is None or (
        np.shape(priors) == (2,) and np.min(priors) > 0 and abs(np.sum(priors) - 1) < 4 * EPSILON
    )


def make_discriminant_map(
    estimator: LinearDiscriminantAnalysis, split: TransformedSplit
) -> LabelMap | None:
    """Return the map of a training set, or None if it differs from a single fit."""
    if issparse(split.train):
        return None
    train, test = np.asarray(split.train), np.asarray(split.test)
    if train.dtype == np.float32 or train.dtype.kind not in "iuf":
        return None
    if not (np.isfinite(train).all() and np.isfinite(test).all()):
        return None
    if estimator.solver == "svd" and not has_exact_constants(train):
        return None
    # one label vector, fitted by the estimator and by the solver
    single = clone(estimator).fit(split.train, split.example)
    expected = single.decision_function(split.test)
    shrinkage = float(estimator.shrinkage or 0.0)
    m, priors = len(train), estimator.priors
    divisor = m - linear_divisor_offset() if estimator.solver == "svd" else m
    solver = Discriminant(
        train.astype(float),
        test.astype(float),
        shrinkage,
        float(divisor),
        None if priors is None else (float(priors[0]), float(priors[1])),
    )
    if shrinkage == 0.0 and not (
        solver.full_rank or (estimator.solver == "svd" and solver.in_span)
    ):
        return None
    label_map = DiscriminantMap(solver, estimator.tol if estimator.solver == "svd" else 0.0)
    values = solver.solve(split.example[None]).values[0]
    difference = float(np.abs(values - expected).max() / max(1.0, np.abs(expected).max()))
    if not difference <= MAX_DIFFERENCE:
        return None
    label_map.noise = MARGIN * max(difference, EPSILON)
    return label_map


def make_discriminant_deletion(
    estimator: LinearDiscriminantAnalysis, X: Any, target: Target, transformers: tuple
) -> Deletion | None:
    """Return a solver that fits an estimator to arbitrary training sets, or None if unsupported.

    Two classes without shrinkage are solved by least squares, which does not depend on the scales
    of the columns, other cases by the moments of the classes.
    """
    least_squares = not estimator.shrinkage and is_least_squares(estimator, target)
    if not least_squares or not are_affine(transformers):
        return make_moments_deletion(estimator, X, target, transformers)
    if issparse(X):
        return None
    samples = np.asarray(X)
    if samples.dtype == np.float32 or samples.dtype.kind not in "iuf":
        return None
    samples = samples.astype(float)
    n, p = samples.shape
    constant = np.ptp(samples, axis=0) == 0
    if p + 2 >= n or n * p > MAX_ELEMENTS:
        return None
    # constant columns of integers have an exact mean in every training set
    if np.any(samples[0, constant] != np.rint(samples[0, constant])):
        return None
    centered = samples[:, ~constant] - samples[:, ~constant].mean(axis=0)
    scaled = centered / np.sqrt(np.mean(centered**2, axis=0))
    smallest = float(np.linalg.svd(scaled, compute_uv=False).min(initial=np.inf))
    if smallest**2 < MIN_VARIANCE * n:
        return None
    return DiscriminantDeletion(factor_columns(scaled, 0.0), estimator, smallest**2)


def has_exact_constants(train: np.ndarray) -> bool:
    """Whether the computed mean of each constant column equals its value.

    Otherwise scikit-learn scales the rounding errors up to variance 1.
    """
    constant = np.ptp(train, axis=0) == 0
    return bool(np.all(train[:, constant].mean(axis=0) == train[0, constant]))


class DiscriminantMap:
    """Map from labels to decision values in the basis of the total scatter."""

    def __init__(self, solver: Discriminant, tolerance: float) -> None:
        self.solver = solver
        self.tolerance = tolerance
        self.noise = EPSILON

    @property
    def size(self) -> int:
        """Number of stored numbers."""
        return self.solver.size

    def __call__(self, labels: np.ndarray) -> FitOutput:
        """Return the predictions for label vectors (n_fits, n_trained) of codes."""
        values, bound, solved = self.solver.solve(labels)
        if self.tolerance:  # eq. (11) of discriminant: no singular value is discarded
            solved &= bound * (ROOM * self.tolerance) ** 2 < 1
        return make_output(values, solved, self.noise)


class DiscriminantDeletion:
    """Fits to arbitrary training sets by least squares on all samples."""

    def __init__(
        self, squares: PenalizedSquares, estimator: LinearDiscriminantAnalysis, smallest: float
    ) -> None:
        self.squares = squares
        self.priors = estimator.priors
        self.tolerance = estimator.tol if estimator.solver == "svd" else 0.0
        self.divisor_offset = linear_divisor_offset() if estimator.solver == "svd" else 0
        self.smallest = smallest
        self.noise = EPSILON

    def __call__(self, labels: np.ndarray, splits: Splits) -> FitOutput:
        """Return the predictions for label vectors (n_fits, n_samples) of codes."""
        distinct_labels, of_fit = distinct_rows(labels)
        fitted = self.squares.solve(distinct_labels[:, None].astype(float), of_fit, splits)
        m = splits.weights.sum(axis=1)
        n1 = np.sum(splits.weights * labels, axis=1)
        decisions = discriminate(
            fitted.values[:, 0], fitted.residual[:, 0], m, n1, m - self.divisor_offset, self.priors
        )
        values, remaining, solved = decisions
        if self.tolerance:  # eq. (9) of discriminant: no singular value is discarded
            least = self.smallest * remaining / (ROOM * fitted.inverse * m)
            solved &= least > (ROOM * self.tolerance) ** 2
        if splits.weights.dtype.kind == "f":
            solved &= False
        error_bound = np.maximum(self.noise, MARGIN * fitted.noise / remaining)
        solved &= error_bound < MAX_DIFFERENCE
        return make_output(values, solved, error_bound)


def make_output(
    values: np.ndarray, solved: np.ndarray, relative_error: float | np.ndarray
) -> FitOutput:
    """Return the outputs of decision values (n_fits, n_tested) whose signs are certain."""
    noise = relative_error * np.maximum(1.0, np.abs(values).max(axis=1))  # (n_fits,)
    predicted, certain = decide(values, noise)
    probability = expit(values)
    shares = np.stack([1 - probability, probability], axis=-1)
    return FitOutput.of_same_samples(predicted, certain & solved, values, shares)
