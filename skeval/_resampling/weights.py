"""What `fit` is given besides samples and labels: weights, and arguments of the user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from skeval.utils._checks import check_weights, naming
from skeval.utils._compat import num_samples, params_of_rows

__all__ = [
    "Params",
    "add_sample_weight",
    "check_params",
    "check_takes_weights",
    "count_effective",
    "fit_arguments",
    "mean_of_tested",
    "weight_parameters",
]

Params = Mapping[str, Any] | None
"""Arguments of `fit` by name, as `sklearn.model_selection.cross_validate` takes them."""


def check_takes_weights(estimator: Any) -> None:
    """Raise unless the estimator, or the last step of a pipeline, fits with `sample_weight`."""
    if isinstance(estimator, Pipeline):
        name, final = estimator.steps[-1]
        where = f"the last step {name!r} of the pipeline ({type(final).__name__})"
    else:
        final, where = estimator, type(estimator).__name__
    if isinstance(final, Pipeline):
        check_takes_weights(final)
    elif not has_fit_parameter(final, "sample_weight"):
        raise TypeError(f"estimator must take sample_weight in fit; {where} does not.")


def weight_parameters(estimator: Any, weights: np.ndarray | None) -> dict[str, np.ndarray]:
    """Return the keyword arguments that hand weights to every step of `fit` that takes them.

    A scaler in front of a classifier is part of the procedure that is perturbed, so it is
    weighted too.
    """
    if weights is None:
        return {}
    if not isinstance(estimator, Pipeline):
        return {"sample_weight": weights}
    parameters: dict[str, np.ndarray] = {}
    for name, step in estimator.steps:
        if isinstance(step, Pipeline) or has_fit_parameter(step, "sample_weight"):
            for parameter, value in weight_parameters(step, weights).items():
                parameters[f"{name}__{parameter}"] = value
    return parameters


def mean_of_tested(losses: np.ndarray, weights: np.ndarray | None) -> float:
    """Return the weighted mean loss of tested samples; raise where they weigh nothing."""
    if weights is None:
        return float(losses.mean())
    largest = weights.max()
    if largest == 0:
        raise ValueError(
            "sample_weight must be positive for a sample that cv tests, it is 0 for all of them."
        )
    return float(np.average(losses, weights=weights / largest))


def check_params(params: Params, n_samples: int) -> None:
    """Raise unless `params` are arguments of `fit` by name, its weights one for each sample."""
    if params is None:
        return
    if not isinstance(params, Mapping) or not all(isinstance(name, str) for name in params):
        raise TypeError(f"params must be None or a dict of arguments of fit, got {params!r}.")
    for name, value in params.items():
        if name.rpartition("__")[2] == "sample_weight" and value is not None:
            with naming("params"):
                found = num_samples(value)
            if found != n_samples:
                raise ValueError(
                    f"params[{name!r}] must hold one weight for each of the {n_samples} samples, "
                    f"got {found}."
                )


def add_sample_weight(
    estimator: Any, sample_weight: Any, params: Params, n_samples: int
) -> tuple[Params, np.ndarray | None]:
    """Return the arguments of `fit`, and the weights of the losses with mean 1, None for none."""
    if sample_weight is None:
        return params, None
    check_takes_weights(estimator)
    weights = check_weights("sample_weight", sample_weight, n_samples)
    given = weight_parameters(estimator, weights)
    twice = sorted(given.keys() & (params or {}).keys())
    if twice:
        raise ValueError(f"sample_weight and params[{twice[0]!r}] must not both be given.")
    relative = weights / weights.max()
    return {**given, **(params or {})}, relative / relative.mean()


def count_effective(weights: np.ndarray) -> float:
    """Return how many samples of equal weight are worth as much; raise where none weighs."""
    if not weights.any():
        raise ValueError(
            "sample_weight must be positive for a sample that is tested, it is 0 for all of them."
        )
    return float(weights.sum() ** 2 / np.sum(weights**2))


def fit_arguments(
    estimator: Any, X: Any, params: Params, weights: np.ndarray | None, rows: np.ndarray
) -> dict[str, Any]:
    """Return the keyword arguments of a fit to some rows of `X`, of these weights."""
    given = {} if params is None else params_of_rows(X, params, rows)
    return {**weight_parameters(estimator, weights), **given}
