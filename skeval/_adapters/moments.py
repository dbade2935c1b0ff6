"""Classifiers that depend on a training set only through counts, means and moments of its classes.

Gaussian naive Bayes, nearest centroids, linear and quadratic discriminant analysis. Fits whose
predictions depend on rounding errors, or whose covariance is nearly singular, are left to the
estimator.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.preprocessing import StandardScaler

from skeval._adapters.label_free import distinct_rows, label_free_adapter
from skeval._adapters.registry import Adapter, adapter_for
from skeval._adapters.transformers import are_affine, read_reduction, scales_to_unit
from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.target import Target
from skeval._solvers.moments import (
    Centroids,
    Columns,
    LinearGaussians,
    NaiveGaussians,
    QuadraticGaussians,
)
from skeval._solvers.reduction import ReducedColumns
from skeval._solvers.splits import Splits

MAX_COLUMNS = 1024
"""Maximum number of columns of a covariance matrix."""

EPSILON = float(np.finfo(float).eps)

Rule = Callable[..., Any]


@adapter_for.register(GaussianNB)
@adapter_for.register(NearestCentroid)
@adapter_for.register(QuadraticDiscriminantAnalysis)
def moments_adapter(estimator: Any, X: Any, target: Target, transformers: tuple) -> Adapter | None:
    """Return the adapter of a classifier by moments of the classes."""
    if target.n_classes < 2:
        return None
    if type(estimator) not in (GaussianNB, NearestCentroid, QuadraticDiscriminantAnalysis):
        return None
    return label_free_adapter(
        None, make_moments_deletion, estimator, X, target, transformers, supervised=(SelectKBest,)
    )


def make_moments_deletion(
    estimator: Any, X: Any, target: Target, transformers: tuple
) -> MomentsDeletion | None:
    """Return a solver that fits an estimator to arbitrary training sets, or None if unsupported."""
    samples = as_double_precision(X)
    if samples is None:
        return None
    decides = type(estimator) is not GaussianNB
    if not are_affine(transformers):
        reduction = read_reduction(transformers, samples.shape[1])
        if (
            reduction is None
            or type(estimator) is NearestCentroid
            or np.ptp(samples, axis=0).min() == 0
        ):
            return None
        reduced = ReducedColumns(samples, target.n_classes, reduction[0], scaled=reduction[1])
        received, unscaled = samples[:, : reduction[0].k], StandardScaler(with_std=False)
        rule = RULES[type(estimator)](estimator, target.n_classes, received, unscaled)
        centered = not isinstance(rule, LinearGaussians) or rule.centered
        return MomentsDeletion(reduced, rule, decides) if rule is not None and centered else None
    # the last scaler determines the scale of the columns
    scaled = False if is_invariant(estimator, target) else scales_to_unit(transformers)
    if scaled is None:
        return None
    last = transformers[-1] if scaled else StandardScaler(with_std=False)
    constant = np.ptp(samples, axis=0) == 0
    exact = bool(np.all(samples[0, constant] == np.rint(samples[0, constant])))
    if type(estimator) is LinearDiscriminantAnalysis and not estimator.shrinkage and exact:
        samples, constant = samples[:, ~constant], constant[~constant]
    rule = RULES[type(estimator)](estimator, target.n_classes, samples, last)
    # estimators may divide by the rounding error of the mean of a constant column
    if rule is None or constant.all() or not (exact or isinstance(rule, NaiveGaussians)):
        return None
    return MomentsDeletion(Columns(samples, target.n_classes, scaled=scaled), rule, decides)


def as_double_precision(X: Any) -> np.ndarray | None:
    """Return finite dense samples as float64, or None if an estimator computes otherwise."""
    if issparse(X):
        return None
    samples = np.asarray(X)
    if samples.ndim != 2 or (samples.dtype != np.float64 and samples.dtype.kind not in "iu"):
        return None
    samples = samples.astype(float)
    return samples if np.isfinite(samples).all() else None


def is_invariant(estimator: Any, target: Target) -> bool:
    """Whether predictions are invariant to shifts and scales of the columns."""
    if type(estimator) is not LinearDiscriminantAnalysis or estimator.shrinkage:
        return False
    return estimator.solver == "svd" or int(target.codes.max()) == 1


def read_priors(priors: Any, n_classes: int) -> np.ndarray | None:
    """Return positive priors that sum to 1, or None if the class frequencies are used."""
    if priors is None:
        return None
    array = np.asarray(priors, dtype=float)
    if array.shape != (n_classes,) or array.min() <= 0 or abs(array.sum() - 1) > 4 * EPSILON:
        raise ValueError("the estimator reports the error in its priors.")
    return array


def make_naive(
    estimator: GaussianNB, n_classes: int, samples: np.ndarray, last: StandardScaler
) -> NaiveGaussians:
    """Return the rule of naive Bayes."""
    return NaiveGaussians(read_priors(estimator.priors, n_classes), float(estimator.var_smoothing))


def make_centroids(
    estimator: NearestCentroid, n_classes: int, samples: np.ndarray, last: StandardScaler
) -> Centroids | None:
    """Return the rule of nearest centroids."""
    if estimator.metric != "euclidean":
        return None
    priors = estimator.priors
    if isinstance(priors, str):
        priors = np.full(n_classes, 1 / n_classes) if priors == "uniform" else None
    return Centroids(read_priors(priors, n_classes), float(estimator.shrink_threshold or 0.0))


def make_quadratic(
    estimator: QuadraticDiscriminantAnalysis,
    n_classes: int,
    samples: np.ndarray,
    last: StandardScaler,
) -> QuadraticGaussians | None:
    """Return the rule of quadratic discriminant analysis."""
    others = ("shrinkage", "covariance_estimator")
    if getattr(estimator, "solver", "svd") != "svd" or samples.shape[1] > MAX_COLUMNS:
        return None
    if any(getattr(estimator, name, None) is not None for name in others):
        return None
    return QuadraticGaussians(
        read_priors(estimator.priors, n_classes),
        float(estimator.reg_param),
        float(estimator.tol),
        quadratic_divisor_offset(),
    )


def make_linear(
    estimator: LinearDiscriminantAnalysis, n_classes: int, samples: np.ndarray, last: StandardScaler
) -> LinearGaussians | None:
    """Return the rule of linear discriminant analysis."""
    n, p = samples.shape
    by_values = estimator.solver == "svd"
    if estimator.covariance_estimator is not None or p > MAX_COLUMNS:
        return None
    if not isinstance(estimator.shrinkage, Real | None) or (by_values and estimator.shrinkage):
        return None
    if not estimator.shrinkage and p + n_classes >= n:
        return None
    if estimator.n_components is not None and estimator.n_components > min(n_classes - 1, p):
        return None
    # with given priors the other solvers weight the class covariances by them
    if not by_values and estimator.priors is not None:
        return None
    # scores are expanded at 0, which must be the mean after a scaler
    if not by_values and last.with_std and not last.with_mean and n_classes > 2:
        return None
    return LinearGaussians(
        read_priors(estimator.priors, n_classes),
        float(estimator.shrinkage or 0.0),
        float(estimator.tol) if by_values else 0.0,
        n_classes if by_values and linear_divisor_offset() else 0,
        by_values,
    )


RULES: dict[type, Callable[..., Rule | None]] = {
    GaussianNB: make_naive,
    NearestCentroid: make_centroids,
    QuadraticDiscriminantAnalysis: make_quadratic,
    LinearDiscriminantAnalysis: make_linear,
}
"""Functions that return the rule of an estimator, or None if it is not supported."""


@cache
def linear_divisor_offset() -> int:
    """Return 2 if this version of scikit-learn divides the scatter by n - 2, else 0."""
    model = LinearDiscriminantAnalysis().fit([[-1.0], [1.0], [3.0], [5.0]], [0, 0, 1, 1])
    # means differ by 4 and the scatter is 4: the coefficient is 4 with divisor n, 2 with n - 2
    return 0 if model.coef_[0, 0] > 3 else 2


@cache
def quadratic_divisor_offset() -> int:
    """Return 1 if this version of scikit-learn divides the scatter of a class by n - 1, else 0."""
    model = QuadraticDiscriminantAnalysis().fit([[-1.0], [1.0], [3.0], [5.0]], [0, 0, 1, 1])
    return 0 if model.scalings_[0][0] < 1.5 else 1  # two samples with scatter 2


class MomentsDeletion:
    """Fits to arbitrary training sets, computed from the moments of the classes."""

    def __init__(self, columns: Columns, rule: Rule, decides: bool) -> None:
        self.columns = columns
        self.rule = rule
        self.decides = decides
        self.noise = EPSILON

    def __call__(self, labels: np.ndarray, splits: Splits) -> FitOutput:
        """Return the predictions for label vectors (n_fits, n_samples) of codes."""
        with np.errstate(all="ignore"):  # in fits that are left to the estimator
            values, error, scores, solved = self.columns.score(
                self.rule, *distinct_rows(labels), splits
            )
            # the largest value must exceed the others by more than both errors
            error = error + self.noise * (1 + np.abs(values))
            predicted = values.argmax(axis=2)[..., None]
            best = np.take_along_axis(values - error, predicted, axis=2)
            others = values + error
            np.put_along_axis(others, predicted, -np.inf, axis=2)
            certain = (best[..., 0] > others.max(axis=2)).all(axis=1)
            shares = np.exp(scores - scores.max(axis=2, keepdims=True))
            shares /= shares.sum(axis=2, keepdims=True)
        solved = solved & certain & np.isfinite(scores).all(axis=(1, 2))
        decision = None
        if self.decides:
            decision = scores[..., 1] - scores[..., 0] if scores.shape[2] == 2 else scores
        return FitOutput.of_same_samples(predicted[..., 0], solved, decision, shares)
