"""Arguments of `fit`: sample weights, groups and params, routed to the steps that accept them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from numbers import Integral
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.feature_selection import RFE, RFECV, SelectFromModel
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.validation import has_fit_parameter

from skeval.utils import _checks
from skeval.utils._compat import is_search, num_samples, params_of_rows, safe_indexing

RESPONSES = ("predict", "decision_function", "predict_proba", "predict_log_proba")
OF_SELECTOR, OF_CLASSIFIER = MethodMapping(), MethodMapping()
"""Methods of an estimator and those of its parts that they call, as in a pipeline of the parts."""
for _method in ("fit", *RESPONSES):
    OF_SELECTOR.add(caller=_method, callee="transform")
    OF_CLASSIFIER.add(caller=_method, callee=_method)
OF_SELECTOR.add(caller="fit", callee="fit").add(caller="transform", callee="transform")


def read_weight(estimator: Any, sample_weight: Any, params: Params, n_samples: int) -> np.ndarray:
    """Return checked sample weights; raise if no fit accepts them or `params` has others."""
    check_takes_weights(estimator)
    weights = _checks.check_weights("sample_weight", sample_weight, n_samples)
    twice = sorted(weight_parameters(estimator, weights).keys() & (params or {}).keys())
    if twice:
        raise ValueError(f"sample_weight and params[{twice[0]!r}] must not both be given.")
    return weights


Params = Mapping[str, Any] | None
"""Arguments of `fit` by name, as in `sklearn.model_selection.cross_validate`."""

ENSEMBLES = (StackingClassifier, StackingRegressor, VotingClassifier, VotingRegressor)
"""Ensembles whose `fit` accepts weights through ``**fit_params`` from scikit-learn 1.7 on."""


def forwards(estimator: Any) -> Any:
    """Return the part of an estimator that receives the arguments of its `fit`, or None.

    These are searches, and selectors and regressors that wrap another estimator. `RFECV` accepts
    groups only.
    """
    if is_search(estimator) or isinstance(estimator, SelectFromModel):
        return estimator.estimator
    if isinstance(estimator, RFE) and not isinstance(estimator, RFECV):
        return estimator.estimator
    if isinstance(estimator, TransformedTargetRegressor):
        return LinearRegression() if estimator.regressor is None else estimator.regressor
    return None


def list_receivers(estimator: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the estimators that receive arguments of `fit`, with the prefix of their arguments."""
    yield prefix, estimator
    if isinstance(estimator, Pipeline):
        for name, step in estimator.steps:
            yield from list_receivers(step, f"{prefix}{name}__")
    elif (inner := forwards(estimator)) is not None:
        yield from list_receivers(inner, prefix)


def takes_weights(estimator: Any) -> bool:
    """Whether `fit` has `sample_weight`; some ensembles have it among other arguments."""
    return has_fit_parameter(estimator, "sample_weight") or isinstance(estimator, ENSEMBLES)


def splits_by_groups(estimator: Any) -> bool:
    """Whether `fit` takes groups, and a splitter among the parameters requests them."""
    if is_search(estimator) or isinstance(estimator, RFECV):
        splitters = [estimator.cv]
    elif has_fit_parameter(estimator, "groups"):
        splitters = [value for value in estimator.get_params().values() if hasattr(value, "split")]
    else:
        return False
    return any(get_routing_for_object(cv).consumes("split", ["groups"]) for cv in splitters)


def is_routed(estimator: Any) -> bool:
    """Whether scikit-learn's metadata routing distributes the arguments of `fit`."""
    if not get_config()["enable_metadata_routing"]:
        return False
    return isinstance(get_routing_for_object(estimator), MetadataRouter)


def consumes(estimator: Any, name: str) -> bool:
    """Whether some part of a routed estimator requests an argument of `fit`."""
    return bool(get_routing_for_object(estimator).consumes("fit", [name]))


def check_takes_weights(estimator: Any) -> None:
    """Raise unless the estimator, or the last estimator inside it, accepts sample weights."""
    if is_routed(estimator):
        if not consumes(estimator, "sample_weight"):
            raise TypeError(
                "estimator must request sample_weight by set_fit_request if metadata routing is "
                f"enabled; no part of {type(estimator).__name__} does."
            )
        return
    # follow pipelines and wrappers to the estimator that is fitted last
    final, where = estimator, type(estimator).__name__
    while True:
        if isinstance(final, Pipeline):
            name, final = final.steps[-1]
            where = f"the last step {name!r} of the pipeline ({type(final).__name__})"
        elif (inner := forwards(final)) is not None:
            final, where = inner, f"the {type(inner).__name__} in {type(final).__name__}"
        else:
            break
    if not takes_weights(final):
        raise TypeError(f"estimator must take sample_weight in fit; {where} does not.")


def weight_parameters(estimator: Any, weights: np.ndarray | None) -> dict[str, np.ndarray]:
    """Return the keyword arguments of `fit` that pass weights to all steps that accept them.

    A scaler in front of a classifier is part of the procedure, so it is weighted too. Under
    metadata routing it receives the arguments that it requests.
    """
    return {} if weights is None else _hand_on(estimator, "sample_weight", weights, takes_weights)


def drop_unweighted(
    X: Any, y: np.ndarray, weights: np.ndarray, groups: np.ndarray | None, cv: Any
) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray | None, Any]:
    """Return samples, labels, weights, groups and folds without the samples of weight 0.

    Ensembles leave samples out by such weights, and test on them.
    """
    rows = np.flatnonzero(weights)
    n = len(y)
    if len(rows) == n:
        return X, y, weights, groups, cv
    if not (cv is None or isinstance(cv, Integral) or hasattr(cv, "split")):
        # renumber the rows of explicit folds
        place = np.cumsum(weights > 0) - 1
        folds = [[np.arange(n)[part] for part in fold] for fold in cv]
        cv = [tuple(place[part[weights[part] > 0]] for part in fold) for fold in folds]
        if not all(part.size for fold in cv for part in fold):
            raise ValueError(
                "sample_weight must be positive for a sample that cv trains with and one that it "
                "tests in each fold; it is 0 for all samples of a part of a fold."
            )
    kept = None if groups is None else groups[rows]
    return safe_indexing(X, rows), y[rows], weights[rows], kept, cv


def group_parameters(estimator: Any, groups: np.ndarray | None) -> dict[str, np.ndarray]:
    """Return the keyword arguments of `fit` that pass groups to steps that split by them."""
    return {} if groups is None else _hand_on(estimator, "groups", groups, splits_by_groups)


def _hand_on(
    estimator: Any, name: str, values: np.ndarray, takes: Callable[[Any], bool]
) -> dict[str, np.ndarray]:
    """Return the keyword arguments of `fit` that pass values to all parts that accept them."""
    if is_routed(estimator):
        return {name: values} if consumes(estimator, name) else {}
    return {f"{prefix}{name}": values for prefix, part in list_receivers(estimator) if takes(part)}


def route_fit(router: Any, metadata: dict[str, Any], **parts: Any) -> dict[str, dict[str, Any]]:
    """Return the keyword arguments of `fit` for each part of an estimator, by name.

    Under metadata routing each part receives what it requests, as the steps of a pipeline do.
    Otherwise all parts that accept weights and groups receive them.
    """
    if get_config()["enable_metadata_routing"]:
        routed = process_routing(router, "fit", **metadata)
        return {name: routed[name].fit for name in parts}
    unknown = sorted(metadata.keys() - {"sample_weight", "groups"})
    if unknown:
        raise TypeError(
            f"{type(router).__name__}.fit got an unexpected argument {unknown[0]!r}; other "
            "arguments than sample_weight and groups need "
            "sklearn.set_config(enable_metadata_routing=True) and a part that requests them."
        )
    return {
        name: weight_parameters(part, metadata.get("sample_weight"))
        | group_parameters(part, metadata.get("groups"))
        for name, part in parts.items()
    }


def route_call(
    router: Any, method: str, metadata: dict[str, Any], part: str, callee: str
) -> dict[str, Any]:
    """Return the keyword arguments of a method of a part, which a method of an estimator calls.

    Without metadata routing the part of the same method receives all of them, as in a pipeline.
    """
    if not get_config()["enable_metadata_routing"]:
        return metadata if callee == method else {}
    routed: dict[str, Any] = process_routing(router, method, **metadata)[part][callee]
    return routed


def check_params(params: Params, n_samples: int) -> None:
    """Raise unless `params` are arguments of `fit` by name, with one weight per sample."""
    if params is None:
        return
    if not isinstance(params, Mapping) or not all(isinstance(name, str) for name in params):
        raise TypeError(f"params must be None or a dict of arguments of fit, got {params!r}.")
    for name, value in params.items():
        if name.rpartition("__")[2] == "sample_weight" and value is not None:
            with _checks.naming("params"):
                length = num_samples(value)
            if length != n_samples:
                raise ValueError(
                    f"params[{name!r}] must hold one weight for each of the {n_samples} samples, "
                    f"got {length}."
                )


def params_of_part(part: Any, params: Params) -> dict[str, Any]:
    """Return the arguments of `fit` that belong to a part of an estimator.

    Weights and groups without the prefix of a step go to all steps that accept them.
    """
    arguments: dict[str, Any] = {}
    for name, value in (params or {}).items():
        step, is_of_step, _ = name.partition("__")
        if is_routed(part):  # scikit-learn distributes them by request
            arguments |= {name: value} if consumes(part, name) else {}
        elif is_of_step:
            arguments |= {name: value} if step in part.named_steps else {}
        elif name == "sample_weight":
            arguments |= weight_parameters(part, value)
        elif name == "groups":
            arguments |= group_parameters(part, value)
    return arguments


def count_effective(weights: np.ndarray) -> float:
    """Return the effective sample size of weights; raise if all are 0."""
    if not weights.any():
        raise ValueError(
            "sample_weight must be positive for a sample that is tested, it is 0 for all of them."
        )
    relative = weights / weights.max()  # the square of a weight may overflow
    return float(relative.sum() ** 2 / np.sum(relative**2))


def fit_arguments(
    estimator: Any,
    X: Any,
    params: Params,
    weights: np.ndarray | None,
    groups: np.ndarray | None,
    rows: np.ndarray,
) -> dict[str, Any]:
    """Return the keyword arguments of a fit to some rows of `X` with these weights.

    `groups` and `params` cover all samples; `params`, from the user, override the rest.
    """
    # weights are already selected by row; groups and params are not
    arguments = {**group_parameters(estimator, groups), **(params or {})}
    return {**weight_parameters(estimator, weights), **params_of_rows(X, arguments, rows)}
