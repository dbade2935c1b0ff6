"""Steps of a pipeline that use the labels: selectors, supervised transformers.

An estimator behind such a step that estimates its own error does not repeat the step, which has
seen the labels of all samples. A step without weights uses all samples alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from skeval._resampling.fit_params import is_routed, list_receivers, weight_parameters
from skeval.utils import _checks


def uses_labels(step: Any) -> bool:
    """Return whether a step, or any part of it, selects features or requires labels."""
    parts = [step, *(step.get_params().values() if hasattr(step, "get_params") else ())]
    return any(
        hasattr(part, "get_support")
        or (hasattr(part, "__sklearn_tags__") and get_tags(part).target_tags.required)
        for part in parts
        if hasattr(part, "fit") and not isinstance(part, type)
    )


def find_biased_error(estimator: Any, before: str | None = None) -> tuple[str, str] | None:
    """Return a step that uses the labels, and the attribute with an error that ignores it.

    `before` is the name of such a step in front of `estimator`.
    """
    error = getattr(estimator, "_own_error", None)
    if before is not None and error is not None:
        return before, f"{error} of {type(estimator).__name__}"
    if isinstance(estimator, Pipeline):
        for name, step in estimator.steps:
            if biased := find_biased_error(step, before):
                return biased
            if before is None and uses_labels(step):
                before = repr(name)
        return None
    if error is not None or not hasattr(estimator, "get_params"):
        return None
    if hasattr(estimator, "get_support"):  # the estimator in a selector is fitted to its selection
        before = type(estimator).__name__
    for value in estimator.get_params(deep=False).values():
        # the parts of ensembles and unions are lists of (name, estimator)
        pairs = value if isinstance(value, list) else [(value,)]
        for part in (part for pair in pairs if isinstance(pair, tuple) for part in pair):
            if hasattr(part, "fit") and (biased := find_biased_error(part, before)):
                return biased
    return None


def warn_biased_error(estimator: Any) -> None:
    """Warn if a part of an estimator has an error that ignores a step before it."""
    biased = find_biased_error(estimator)
    if biased is not None:
        step, error = biased
        _checks.warn_user(
            f"{error} ignores the step {step} before it, which has seen the labels of all samples, "
            "so this attribute may be far too low. Put the step inside: PerturbationResamplingSVC("
            "estimator=make_pipeline(selector, SVC())) or CV2FeatureSelectionPipeline(selector)."
        )


def warn_unweighted(steps: Any, weights: np.ndarray) -> None:
    """Warn if unequal weights do not reach a selector or another step that uses the labels."""
    if np.ptp(weights) == 0:
        return
    for _, step in list_receivers(steps):
        if isinstance(step, Pipeline) or not uses_labels(step):
            continue
        # under metadata routing, a part that gets no weights has refused them
        if not (is_routed(step) or weight_parameters(step, weights)):
            name = type(step).__name__
            _checks.warn_user(
                f"sample_weight does not reach {name}, whose fit does not accept it: features are "
                "selected without weights."
            )
