"""Warning of an error of its own that a fitted estimator reports behind a step with the labels.

Some estimators here report an error of their own, in attributes such as `cv2_error_`. Behind a
selector that was fitted to all labels, this error is far too low. A pipeline passes only the
selected columns on: neither `fit` nor an attribute of the inner estimator has a reference to the
pipeline, and scikit-learn has no other way to ask for it. So `warn_biased_part` looks for the
estimator in all pipelines and selectors that exist, when its error is read.

It finds nothing, and does not warn, if the pipeline was deleted and only its last step was kept, or
if the estimator was fitted to columns that a selector outside a pipeline had returned.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectorMixin, VarianceThreshold
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from skeval.utils._checks import warn_user


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
    # a later step whose error would ignore this selection
    has_error = getattr(estimator, "_own_error", None) is not None
    if before is not None and has_error:
        yield before, estimator
    # later steps of a pipeline are behind the first that uses the labels
    elif isinstance(estimator, Pipeline):
        for name, step in estimator.steps:
            yield from find_biased(step, before)
            if before is None and uses_labels(step):
                before = Step(repr(name), step)
    elif not has_error and hasattr(estimator, "get_params"):
        if hasattr(estimator, "get_support"):  # the estimator in a selector fits its selection
            before = Step(type(estimator).__name__, estimator)
        # parameters and fitted parts, also in lists of estimators or of (name, estimator)
        for value in vars(estimator).values():
            items = value if isinstance(value, list) else [value]
            for part in (part for one in items for part in (one if type(one) is tuple else [one])):
                if hasattr(part, "fit") and not isinstance(part, type):
                    yield from find_biased(part, before)


def warn_biased_part(part: Any) -> None:
    """Warn if a pipeline or a selector fits this part to features that it has selected.

    The part is given their columns only, so this looks at all pipelines and selectors that exist.
    """
    wholes = [one for one in gc.get_objects() if issubclass(type(one), Pipeline | SelectorMixin)]
    for step, biased in (pair for whole in wholes for pair in find_biased(whole)):
        if biased is part:
            with suppress(NotFittedError):
                check_is_fitted(step.estimator)
                warn_of_step(step, part)
                return


def warn_of_step(step: Step, part: Any) -> None:
    """Warn that the error of a part ignores a step before it."""
    warn_user(
        f"{part._own_error} of {type(part).__name__} ignores the step {step.name} before it, which "
        "has seen the labels of all samples, so this attribute may be far too low. Put the step "
        "inside: PerturbationResamplingSVC(estimator=make_pipeline(selector, SVC())) or "
        "CV2FeatureSelectionPipeline(selector)."
    )
