"""Gaussian naive Bayes and linear discriminant analysis, by the moments of the classes.

Fits whose predictions depend on rounding errors, or whose covariance is nearly singular, are left
to the estimator.
"""

from __future__ import annotations

from functools import cache
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

from skeval._adapters.column_steps import are_affine, has_plain_columns, scales_to_unit, uses_only
from skeval._adapters.deletion import DeletionSolver, distinct_rows
from skeval._adapters.registry import UNKNOWN, Solver, supports
from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.target import Target
from skeval._solvers.moments import Columns, LinearGaussians, NaiveGaussians
from skeval._solvers.splits import EPSILON, Splits

MAX_COLUMNS = 1024
"""Maximum number of columns of a covariance matrix."""

PARAMETERS = {
    GaussianNB: "priors var_smoothing",
    LinearDiscriminantAnalysis: "solver shrinkage priors n_components store_covariance tol",
}
"""Parameters of each estimator that the solver takes into account."""


@supports.register(GaussianNB)
@supports.register(LinearDiscriminantAnalysis)
def support_moments(estimator: Any, X: Any, target: Target, transformers: tuple) -> Solver | str:
    """Return the solver of a classifier by moments of the classes."""
    known = PARAMETERS.get(type(estimator))
    if target.n_classes < 2 or known is None or not uses_only(estimator, known):
        return UNKNOWN
    return DeletionSolver(make_moments_deletion, estimator, X, target, transformers)


def make_moments_deletion(
    estimator: Any, X: Any, target: Target, transformers: tuple
) -> MomentsDeletion | None:
    """Return a solver that fits an estimator to arbitrary training sets, or None if unsupported."""
    plain = not issparse(X) and np.ndim(X) == 2 and has_plain_columns(X)
    if not plain or not are_affine(transformers):
        return None
    samples = np.asarray(X, dtype=float)
    # the last scaler determines the scale of the columns, unless it has no effect
    discriminates = type(estimator) is LinearDiscriminantAnalysis
    two = target.n_classes == 2
    invariant = discriminates and not estimator.shrinkage and (estimator.solver == "svd" or two)
    scaled = False if invariant else scales_to_unit(transformers)
    if scaled is None:
        return None
    if not discriminates:
        priors = read_priors(estimator.priors, target.n_classes)
        rule = NaiveGaussians(priors, float(estimator.var_smoothing))
        return MomentsDeletion(Columns(samples, target.n_classes, scaled=scaled), rule)
    constant = np.ptp(samples, axis=0) == 0
    # the estimator may divide by the rounding error of the mean of a constant column
    if constant.all() or np.any(samples[0, constant] != np.rint(samples[0, constant])):
        return None
    if not estimator.shrinkage:
        samples = samples[:, ~constant]
    last = transformers[-1] if scaled else StandardScaler(with_std=False)
    linear = make_linear(estimator, target.n_classes, samples, last)
    columns = Columns(samples, target.n_classes, scaled=scaled)
    return None if linear is None else MomentsDeletion(columns, linear)


def read_priors(priors: Any, n_classes: int) -> np.ndarray | None:
    """Return positive priors that sum to 1, or None if the class frequencies are used."""
    if priors is None:
        return None
    array = np.asarray(priors, dtype=float)
    if array.shape != (n_classes,) or array.min() <= 0 or abs(array.sum() - 1) > 4 * EPSILON:
        raise ValueError("the estimator reports the error in its priors.")
    return array


def make_linear(
    estimator: LinearDiscriminantAnalysis, n_classes: int, samples: np.ndarray, last: StandardScaler
) -> LinearGaussians | None:
    """Return the rule of linear discriminant analysis, or None if it is not supported."""
    n, p = samples.shape
    by_values = estimator.solver == "svd"
    if p > MAX_COLUMNS or not isinstance(estimator.shrinkage, Real | None):
        return None
    if by_values and estimator.shrinkage:
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
        n_classes if by_values and divides_by_freedom() else 0,
        by_values,
    )


@cache
def divides_by_freedom() -> bool:
    """Whether this version of scikit-learn divides the scatter by n less the number of classes."""
    model = LinearDiscriminantAnalysis().fit([[-1.0], [1.0], [3.0], [5.0]], [0, 0, 1, 1])
    # means differ by 4 and the scatter is 4: the coefficient is 4 with divisor n, 2 with n - 2
    return bool(model.coef_[0, 0] < 3)


class MomentsDeletion:
    """Fits to arbitrary training sets, computed from the moments of the classes."""

    def __init__(self, columns: Columns, rule: NaiveGaussians | LinearGaussians) -> None:
        self.columns, self.rule = columns, rule
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
        if isinstance(self.rule, LinearGaussians):
            decision = scores[..., 1] - scores[..., 0] if scores.shape[2] == 2 else scores
        return FitOutput.of_same_samples(predicted[..., 0], solved, decision, shares)
