"""Steps of a pipeline that use the labels: selectors, supervised transformers.

An estimator behind such a step that estimates its own error does not repeat the step, which has
seen the labels of all samples. A step without weights uses all samples alike.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectorMixin, VarianceThreshold
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from skeval._resampling.fit_params import is_routed, list_receivers, weight_parameters
from skeval.utils import _checks


class Step(NamedTuple):
    """Step of a pipeline, or a selector with an estimator inside, by the name in messages."""

    name: str
    estimator: Any


def uses_labels(step: Any) -> bool:
    """Return whether a step, or any part of it, selects features or requires labels."""
    parts = [step, *(step.get_params().values() if hasattr(step, "get_params") else ())]
    return any(
        (hasattr(part, "get_support") and not isinstance(part, VarianceThreshold))
        or (hasattr(part, "__sklearn_tags__") and get_tags(part).target_tags.required)
        for part in parts
        if hasattr(part, "fit") and not isinstance(part, type)
    )


def find_biased(estimator: Any, before: Step | None = None) -> Iterator[tuple[Step, Any]]:
    """Yield the parts with an error of their own that ignores a step before them, and that step.

    `before` is a step in front of `estimator` that uses the labels.
    """
    has_error = getattr(estimator, "_own_error", None) is not None
    if before is not None and has_error:
        yield before, estimator
    elif isinstance(estimator, Pipeline):
        for name, step in estimator.steps:
            yield from find_biased(step, before)
            if before is None and uses_labels(step):
                before = Step(repr(name), step)
    elif not has_error and hasattr(estimator, "get_params"):
        if hasattr(estimator, "get_support"):  # the estimator in a selector fits its selection
            before = Step(type(estimator).__name__, estimator)
        # parameters and fitted parts; ensembles have lists of them or of pairs with a name
        for value in vars(estimator).values():
            items = value if isinstance(value, list) else [value]
            for part in (part for one in items for part in (one if type(one) is tuple else [one])):
                if hasattr(part, "fit") and not isinstance(part, type):
                    yield from find_biased(part, before)


def warn_biased_error(estimator: Any) -> None:
    """Warn if a part of an estimator has an error that ignores a step before it."""
    for step, part in find_biased(estimator):
        warn_of_step(step, part)
        return


def warn_biased_part(part: Any) -> None:
    """Warn if a pipeline or a selector fits this part to features that it has selected.

    The part is given their columns only, so this looks at all pipelines and selectors that exist.
    """
    wholes = [one for one in gc.get_objects() if issubclass(type(one), Pipeline | SelectorMixin)]
    for step, biased in (pair for whole in wholes for pair in find_biased(whole)):
        if biased is part and is_fitted(step.estimator):
            warn_of_step(step, part)
            return


def is_fitted(estimator: Any) -> bool:
    """Return whether an estimator is fitted."""
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True


def warn_of_step(step: Step, part: Any) -> None:
    """Warn that the error of a part ignores a step before it."""
    _checks.warn_user(
        f"{part._own_error} of {type(part).__name__} ignores the step {step.name} before it, which "
        "has seen the labels of all samples, so this attribute may be far too low. Put the step "
        "inside: PerturbationResamplingSVC(estimator=make_pipeline(selector, SVC())) or "
        "CV2FeatureSelectionPipeline(selector)."
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
