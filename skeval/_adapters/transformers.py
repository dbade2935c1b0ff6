"""Properties of the transformers of scikit-learn, and of their parameters."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

AFFINE = {
    StandardScaler: "copy with_mean with_std",
    MaxAbsScaler: "copy",
    MinMaxScaler: "feature_range copy",
    RobustScaler: "with_centering with_scaling quantile_range copy unit_variance",
}
"""Scalers that only shift and scale each column, and the parameters for which they do."""


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
    return all(type(step) in AFFINE and uses_only(step, AFFINE[type(step)]) for step in steps)


def maps_each_sample(step: Any) -> bool:
    """Whether the transformed sample does not depend on the training set."""
    if isinstance(step, str) or step is None:  # "passthrough"
        return True
    if type(step) is FunctionTransformer:
        return step.func is None or isinstance(step.func, np.ufunc)
    return type(step) in (Normalizer, Binarizer, PolynomialFeatures)


def scales_to_unit(steps: tuple) -> bool | None:
    """Whether affine transformers end with variance 1; None if they end with another scale."""
    scalers = [step for step in steps if getattr(step, "with_std", True)]
    if not scalers:
        return False
    return True if steps[-1] is scalers[-1] and type(steps[-1]) is StandardScaler else None
