"""Transformers of scikit-learn that ignore the labels, and their properties."""

from __future__ import annotations

from functools import partial
from inspect import signature
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, VarianceThreshold, f_classif
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
)

from skeval._solvers.reduction import Projection, Selection

AFFINE = (StandardScaler, MaxAbsScaler, MinMaxScaler, RobustScaler)

MAX_PROJECTED = 200
"""Maximum number of columns whose principal components are computed from their covariances."""

LABEL_FREE = (
    *AFFINE,
    Binarizer,
    MissingIndicator,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    SimpleImputer,
    SplineTransformer,
    VarianceThreshold,
)


def ignores_labels(step: Any) -> bool:
    """Whether a transformer ignores the labels and depends only on the samples.

    Only scikit-learn's own classes are recognized: a subclass may do anything. PCA may draw random
    numbers, depending on the shape of the training set: see `draws_nothing`.
    """
    if step is None or isinstance(step, str):  # "passthrough" and "drop"
        return True
    if type(step) is Pipeline:
        return step.memory is None and all(ignores_labels(part) for _, part in step.steps)
    if type(step) is ColumnTransformer:
        parts = [part for _, part, _ in step.transformers]
        return all(ignores_labels(part) for part in [*parts, step.remainder])
    if type(step) is PCA:
        return isinstance(step.random_state, Integral) or step.svd_solver in (
            "auto",
            "full",
            "covariance_eigh",
        )
    if type(step) is FunctionTransformer:
        return step.func is None or isinstance(step.func, np.ufunc)
    return type(step) in LABEL_FREE


def draws_nothing(step: Any) -> bool:
    """Whether a fitted transformer would be the same for any random numbers."""
    if type(step) is Pipeline:
        return all(draws_nothing(part) for _, part in step.steps)
    if type(step) is ColumnTransformer:
        return all(draws_nothing(part) for _, part, _ in step.transformers_)
    return type(step) is not PCA or is_deterministic(step, step.n_samples_, step.n_features_in_)


def is_deterministic(step: PCA, n_samples: int, n_features: int) -> bool:
    """Whether PCA of a training set of this shape draws no random numbers.

    With svd_solver="auto", scikit-learn 1.6 to 1.9 uses the covariance matrix of tall samples, all
    components of small ones, and a randomized solver if fewer than 80 % of them are requested.
    """
    if isinstance(step.random_state, Integral) or step.svd_solver != "auto":
        return True
    tall = n_features <= 1000 and n_samples >= 10 * n_features
    few = isinstance(step.n_components, Integral) and (
        step.n_components < 0.8 * min(n_samples, n_features)
    )
    return tall or max(n_samples, n_features) <= 500 or not few


def uses_only(estimator: Any, known: str) -> bool:
    """Whether all parameters except the `known` ones have their default values.

    Versions of scikit-learn add parameters, whose effect a solver does not know.
    """
    parameters = signature(type(estimator)).parameters
    values = estimator.get_params(deep=False)
    return all(
        values[name] is parameters[name].default or values[name] == parameters[name].default
        for name in values.keys() - set(known.split())
    )


def are_affine(steps: tuple) -> bool:
    """Whether transformers only shift and scale each column."""
    return all(type(step) in AFFINE and not getattr(step, "clip", False) for step in steps)


def maps_each_sample(step: Any) -> bool:
    """Whether the transformed sample does not depend on the training set."""
    if isinstance(step, str) or step is None:
        return True
    if type(step) is FunctionTransformer:
        return ignores_labels(step)
    return type(step) in (Normalizer, Binarizer, PolynomialFeatures)


def scales_to_unit(steps: tuple) -> bool | None:
    """Whether affine transformers end with variance 1; None if they end with another scale."""
    scalers = [step for step in steps if getattr(step, "with_std", True)]
    if not scalers:
        return False
    return True if steps[-1] is scalers[-1] and type(steps[-1]) is StandardScaler else None


def read_reduction(steps: tuple, n_features: int) -> tuple[Selection | Projection, bool] | None:
    """Return the reduction of columns in a pipeline, and whether they are scaled before.

    The result is None unless the steps are one reduction and affine transformers.
    """
    (at, *more) = [i for i, step in enumerate(steps) if type(step) in (PCA, SelectKBest)] or [-1]
    others = (*steps[:at], *steps[at + 1 :])
    scaled = scales_to_unit(others) if at >= 0 and not more and are_affine(others) else None
    if scaled is None:
        return None
    step = steps[at]
    k = step.k if type(step) is SelectKBest else step.n_components
    if not isinstance(k, Integral) or not 0 < int(k) < n_features:
        return None
    if type(step) is SelectKBest:
        return (Selection(int(k)), scaled) if step.score_func is f_classif else None
    exact = step.svd_solver in ("auto", "full", "covariance_eigh") and not step.whiten
    if not exact or step is not steps[-1] or n_features > MAX_PROJECTED:
        return None
    return Projection(int(k), partial(is_deterministic, step, n_features=n_features)), scaled
