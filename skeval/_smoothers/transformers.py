"""Which steps before an estimator give the same whatever the labels and however often fitted."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import VarianceThreshold
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

__all__ = ["ignores_labels"]

LABEL_FREE = (
    Binarizer,
    MaxAbsScaler,
    MinMaxScaler,
    MissingIndicator,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    RobustScaler,
    SimpleImputer,
    SplineTransformer,
    StandardScaler,
    VarianceThreshold,
)


def ignores_labels(step: Any) -> bool:
    """Whether a transformer makes no use of labels and draws nothing at random.

    Only scikit-learn's own are known to do so; a subclass may do anything.
    """
    if step is None or isinstance(step, str):  # "passthrough" and "drop"
        return True
    if type(step) is Pipeline:
        return step.memory is None and all(ignores_labels(part) for _, part in step.steps)
    if type(step) is ColumnTransformer:
        parts = [part for _, part, _ in step.transformers]
        return all(ignores_labels(part) for part in [*parts, step.remainder])
    if type(step) is PCA:
        return draws_nothing(step)
    if type(step) is FunctionTransformer:
        return step.func is None or isinstance(step.func, np.ufunc)
    return type(step) in LABEL_FREE


def draws_nothing(step: PCA) -> bool:
    """Whether the components are the same in every fit to the same samples."""
    if isinstance(step.random_state, Integral) or step.svd_solver in ("full", "covariance_eigh"):
        return True
    whole = not isinstance(step.n_components, Integral)  # never found at random
    return step.svd_solver == "auto" and whole
