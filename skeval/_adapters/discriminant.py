"""Linear discriminant analysis, which sees the labels by way of the means of the classes.

That of two classes without shrinkage is least squares; the others are served by their moments.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from skeval._adapters.label_free import (
    Deletion,
    LabelMap,
    Part,
    are_affine,
    distinct_rows,
    label_free_adapter,
)
from skeval._adapters.moments import classes_taken_off, factor_moments
from skeval._resampling.plan import FitOutput
from skeval._resampling.task import Adapter, Target, adapter_for
from skeval._solvers.deletion import Parts, PenalisedSquares, factor_columns
from skeval._solvers.label_free import EPSILON, Discriminant, decide, discriminate

__all__ = [
    "DiscriminantDeletion",
    "factor_discriminant",
    "has_exact_constants",
    "learn_discriminant",
]

AGREEMENT = 1e-6
"""How far decision values may lie from those of a single fit, which squares the samples."""

MARGIN = 100.0
"""A decision value is certain of its sign where it is so many times the difference between map
and fit that was seen."""

MOST_ELEMENTS = 2**24
"""Numbers of a factorisation of all samples at most."""

SMALLEST_VARIANCE = 1e-10
"""The variance of every combination of columns must be more than this, in units of theirs."""

ROOM = 2.0
"""The smallest singular value must be so many times the tolerance of the estimator."""


@adapter_for.register
def discriminant_adapter(
    estimator: LinearDiscriminantAnalysis, X: Any, target: Target, transformers: tuple
) -> Adapter | None:
    """Return the adapter of a linear discriminant analysis."""
    if type(estimator) is not LinearDiscriminantAnalysis or target.classes is None:
        return None
    learn = learn_discriminant if is_least_squares(estimator, target) else None
    return label_free_adapter(learn, factor_discriminant, estimator, X, target, transformers)


def is_least_squares(estimator: LinearDiscriminantAnalysis, target: Target) -> bool:
    """Whether the covariance within classes is the total one less what the two means explain.

    With priors of its own the least-squares solver weighs the classes' covariances by them.
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


def learn_discriminant(estimator: LinearDiscriminantAnalysis, part: Part) -> LabelMap | None:
    """Return the map of a training part, None where it does not agree with a single fit."""
    if issparse(part.train):
        return None
    train, test = np.asarray(part.train), np.asarray(part.test)
    if train.dtype == np.float32 or train.dtype.kind not in "iuf":
        return None
    if not (np.isfinite(train).all() and np.isfinite(test).all()):
        return None
    if estimator.solver == "svd" and not has_exact_constants(train):
        return None
    single = clone(estimator).fit(part.train, part.example)
    expected = single.decision_function(part.test)
    shrinkage = float(estimator.shrinkage or 0.0)
    m, priors = len(train), estimator.priors
    divisor = m - classes_taken_off() if estimator.solver == "svd" else m
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
    values = solver.solve(part.example[None]).values[0]
    difference = float(np.abs(values - expected).max() / max(1.0, np.abs(expected).max()))
    if not difference <= AGREEMENT:
        return None
    label_map.noise = MARGIN * max(difference, EPSILON)
    return label_map


def factor_discriminant(
    estimator: LinearDiscriminantAnalysis, X: Any, target: Target, transformers: tuple
) -> Deletion | None:
    """Return the fits of an estimator to any training parts, None where none are exact.

    The direction between two classes without shrinkage is that of least squares, which does not
    depend on the scales of the columns; the others are served by their moments.
    """
    if estimator.shrinkage or not is_least_squares(estimator, target):
        return factor_moments(estimator, X, target, transformers)
    if issparse(X) or not are_affine(transformers):
        return None
    samples = np.asarray(X)
    if samples.dtype == np.float32 or samples.dtype.kind not in "iuf":
        return None
    samples = samples.astype(float)
    n, p = samples.shape
    constant = np.ptp(samples, axis=0) == 0
    if p + 2 >= n or n * p > MOST_ELEMENTS:
        return None
    # Sums of whole numbers are exact, so that their mean is their value in every training part.
    if np.any(samples[0, constant] != np.rint(samples[0, constant])):
        return None
    centred = samples[:, ~constant] - samples[:, ~constant].mean(axis=0)
    scaled = centred / np.sqrt(np.mean(centred**2, axis=0))
    smallest = float(np.linalg.svd(scaled, compute_uv=False).min(initial=np.inf))
    if smallest**2 < SMALLEST_VARIANCE * n:
        return None
    return DiscriminantDeletion(factor_columns(scaled, 0.0), estimator, smallest**2)


def has_exact_constants(train: np.ndarray) -> bool:
    """Whether columns of one value have that value as their mean.

    Where rounding makes another mean, scikit-learn scales the rounding errors up to variance 1.
    """
    constant = np.ptp(train, axis=0) == 0
    return bool(np.all(train[:, constant].mean(axis=0) == train[0, constant]))


class DiscriminantMap:
    """The map to decision values by way of the total scatter of the training part."""

    def __init__(self, solver: Discriminant, tolerance: float) -> None:
        self.solver = solver
        self.tolerance = tolerance
        self.noise = EPSILON

    @property
    def size(self) -> int:
        """Return how many numbers it holds."""
        return self.solver.size

    def __call__(self, labels: np.ndarray) -> FitOutput:
        """Return the predictions under label vectors (n_fits, n_trained) of codes."""
        values, bound, solved = self.solver.solve(labels)
        noise = self.noise * np.maximum(1.0, np.abs(values).max(axis=1))  # (n_fits,)
        predicted, certain = decide(values, noise)
        if self.tolerance:  # (8): no singular value is cut off
            certain &= bound * (ROOM * self.tolerance) ** 2 < 1
        probability = expit(values)
        shares = np.stack([1 - probability, probability], axis=-1)
        return FitOutput.of_same_samples(predicted, certain & solved, values, shares)


class DiscriminantDeletion:
    """The fits to any training parts by way of least squares on all samples."""

    def __init__(
        self, squares: PenalisedSquares, estimator: LinearDiscriminantAnalysis, smallest: float
    ) -> None:
        self.squares = squares
        self.priors = estimator.priors
        self.tolerance = estimator.tol if estimator.solver == "svd" else 0.0
        self.n_taken_off = classes_taken_off() if estimator.solver == "svd" else 0
        self.smallest = smallest
        self.noise = EPSILON

    def __call__(self, labels: np.ndarray, parts: Parts) -> FitOutput:
        """Return the predictions under label vectors (n_fits, n_samples) of codes."""
        given, of_fit = distinct_rows(labels)
        fitted = self.squares.solve(given[:, None].astype(float), of_fit, parts)
        m = parts.weights.sum(axis=1)
        n1 = np.sum(parts.weights * labels, axis=1)
        found = discriminate(
            fitted.values[:, 0], fitted.residual[:, 0], m, n1, m - self.n_taken_off, self.priors
        )
        values, remaining, solved = found
        # (11): no smaller eigenvalue than that of all samples, those left out deleted
        if self.tolerance:
            least = self.smallest * remaining / (ROOM * fitted.inverse * m)
            solved &= least > (ROOM * self.tolerance) ** 2
        if parts.weights.dtype.kind == "f":
            solved &= False
        known = np.maximum(self.noise, MARGIN * fitted.noise / remaining)
        noise = known * np.maximum(1.0, np.abs(values).max(axis=1))
        predicted, certain = decide(values, noise)
        probability = expit(values)
        shares = np.stack([1 - probability, probability], axis=-1)
        solved &= known < AGREEMENT
        return FitOutput.of_same_samples(predicted, certain & solved, values, shares)
