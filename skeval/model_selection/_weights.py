"""Sample weights: which steps of an estimator take them, and how they are handed over."""

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

__all__ = ["check_takes_weights", "weight_parameters"]


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
