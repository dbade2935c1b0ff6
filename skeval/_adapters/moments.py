"""Classifiers that see no more of a training part than counts, means and moments of its classes.

Gaussian naive Bayes, nearest centroids, linear and quadratic discriminant analysis. A fit in which
rounding decides, or whose covariance is all but singular, is left to the estimator.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.preprocessing import StandardScaler

from skeval._adapters.label_free import are_affine, distinct_rows, label_free_adapter
from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.solvers import Adapter, adapter_for
from skeval._resampling.target import Target
from skeval._solvers.deletion import Parts
from skeval._solvers.moments import (
    Centroids,
    Columns,
    LinearGaussians,
    NaiveGaussians,
    QuadraticGaussians,
)

MOST_COLUMNS = 1024
"""More columns have no covariance here, which grows with their square."""

EPSILON = float(np.finfo(float).eps)

Rule = Callable[..., Any]


@adapter_for.register(GaussianNB)
@adapter_for.register(NearestCentroid)
@adapter_for.register(QuadraticDiscriminantAnalysis)
def moments_adapter(estimator: Any, X: Any, target: Target, transformers: tuple) -> Adapter | None:
    """Return the adapter of an estimator that moments of the classes are all of."""
    if target.n_classes < 2:
        return None
    if type(estimator) not in (GaussianNB, NearestCentroid, QuadraticDiscriminantAnalysis):
        return None
    return label_free_adapter(None, factor_moments, estimator, X, target, transformers)


def factor_moments(
    estimator: Any, X: Any, target: Target, transformers: tuple
) -> MomentsDeletion | None:
    """Return the fits of an estimator to any training parts, None where none are exact."""
    if issparse(X) or not are_affine(transformers):
        return None
    samples = np.asarray(X)
    if samples.dtype != np.float64 and samples.dtype.kind not in "iu":
        return None
    samples = samples.astype(float)
    if samples.ndim != 2 or not np.isfinite(samples).all():
        return None
    # Only the last scaler says how large the columns are that the estimator sees.
    last = transformers[-1] if transformers else StandardScaler(with_std=False)
    if is_invariant(estimator, target):
        last = StandardScaler(with_std=False)
    elif type(last) is not StandardScaler or (
        not last.with_std and any(getattr(step, "with_std", True) for step in transformers)
    ):
        return None
    constant = np.ptp(samples, axis=0) == 0
    exact = bool(np.all(samples[0, constant] == np.rint(samples[0, constant])))
    if type(estimator) is LinearDiscriminantAnalysis and not estimator.shrinkage and exact:
        samples, constant = samples[:, ~constant], constant[~constant]
    rule = MAKERS[type(estimator)](estimator, target.n_classes, samples, last)
    # Where rounding makes another mean of a constant, an estimator may divide by what is left.
    if rule is None or constant.all() or not (exact or isinstance(rule, NaiveGaussians)):
        return None
    columns = Columns(samples, target.n_classes, scaled=bool(last.with_std))
    return MomentsDeletion(columns, rule, type(estimator) is not GaussianNB)


def is_invariant(estimator: Any, target: Target) -> bool:
    """Whether answers depend neither on the places nor on the scales of the columns."""
    if type(estimator) is not LinearDiscriminantAnalysis or estimator.shrinkage:
        return False
    return estimator.solver == "svd" or int(target.codes.max()) == 1


def read_priors(priors: Any, n_classes: int) -> np.ndarray | None:
    """Return positive priors that sum to 1, or None if the class frequencies are used."""
    if priors is None:
        return None
    given_priors = np.asarray(priors, dtype=float)
    if (
        given_priors.shape != (n_classes,)
        or given_priors.min() <= 0
        or abs(given_priors.sum() - 1) > 4 * EPSILON
    ):
        raise ValueError("the estimator says what is wrong with its priors.")
    return given_priors


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
    """Return the rule of quadratic discriminant analysis; versions differ in its parameters."""
    others = ("shrinkage", "covariance_estimator")
    if getattr(estimator, "solver", "svd") != "svd" or samples.shape[1] > MOST_COLUMNS:
        return None
    if any(getattr(estimator, name, None) is not None for name in others):
        return None
    return QuadraticGaussians(
        read_priors(estimator.priors, n_classes),
        float(estimator.reg_param),
        float(estimator.tol),
        samples_taken_off(),
    )


def make_linear(
    estimator: LinearDiscriminantAnalysis, n_classes: int, samples: np.ndarray, last: StandardScaler
) -> LinearGaussians | None:
    """Return the rule of linear discriminant analysis."""
    n, p = samples.shape
    by_values = estimator.solver == "svd"
    if estimator.covariance_estimator is not None or p > MOST_COLUMNS:
        return None
    if not isinstance(estimator.shrinkage, Real | None) or (by_values and estimator.shrinkage):
        return None
    if not estimator.shrinkage and p + n_classes >= n:
        return None
    if estimator.n_components is not None and estimator.n_components > min(n_classes - 1, p):
        return None
    # With priors of its own the other solvers weigh the classes' covariances by them.
    if not by_values and estimator.priors is not None:
        return None
    # Scores at the point 0 are known where a scaler puts it at the mean.
    if not by_values and last.with_std and not last.with_mean and n_classes > 2:
        return None
    return LinearGaussians(
        read_priors(estimator.priors, n_classes),
        float(estimator.shrinkage or 0.0),
        float(estimator.tol) if by_values else 0.0,
        n_classes if by_values and classes_taken_off() else 0,
        by_values,
    )


MAKERS: dict[type, Callable[..., Rule | None]] = {
    GaussianNB: make_naive,
    NearestCentroid: make_centroids,
    QuadraticDiscriminantAnalysis: make_quadratic,
    LinearDiscriminantAnalysis: make_linear,
}
"""What makes the rule of an estimator that predicts from moments, None where it is not served."""


@cache
def classes_taken_off() -> int:
    """Return 2 where this scikit-learn divides the scatter by n - 2, as it once did, else 0."""
    model = LinearDiscriminantAnalysis().fit([[-1.0], [1.0], [3.0], [5.0]], [0, 0, 1, 1])
    # The means differ by 4 and the scatter is 4: divided by n it gives a coefficient of 4, by
    # n - 2 one of 2.
    return 0 if model.coef_[0, 0] > 3 else 2


@cache
def samples_taken_off() -> int:
    """Return 1 where this scikit-learn divides the scatter of a class by n - 1, else 0."""
    model = QuadraticDiscriminantAnalysis().fit([[-1.0], [1.0], [3.0], [5.0]], [0, 0, 1, 1])
    return 0 if model.scalings_[0][0] < 1.5 else 1  # The scatter is 2, of two samples.


class MomentsDeletion:
    """The fits to any training parts by the moments of their classes."""

    def __init__(self, columns: Columns, rule: Rule, decides: bool) -> None:
        self.columns = columns
        self.rule = rule
        self.decides = decides
        self.noise = EPSILON

    def __call__(self, labels: np.ndarray, parts: Parts) -> FitOutput:
        """Return the predictions under label vectors (n_fits, n_samples) of codes."""
        with np.errstate(all="ignore"):  # Fits that are left to the estimator may divide by 0.
            values, error, scores, solved = self.columns.score(
                self.rule, *distinct_rows(labels), parts
            )
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
