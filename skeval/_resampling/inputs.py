"""Validated inputs of a public function, and the arguments of `fit`.

Sample weights, groups and params are routed to the steps that accept them. An estimator behind a
step that uses the labels, such as a selector, does not repeat this step when it estimates its own
error; a step without weights uses all samples alike. Both are reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral, Real
from typing import Any, TypedDict

import numpy as np
from sklearn import get_config
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.feature_selection import RFE, RFECV, SelectFromModel, VarianceThreshold
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.validation import has_fit_parameter

from skeval._inference.errors import TestLosses
from skeval._resampling.fit_outputs import RESPONSES, FitOutput, Loss, LossLike, resolve_loss
from skeval._resampling.sampling_units import (
    SamplingUnits,
    Target,
    UnitKind,
    units_of,
    validate_data,
)
from skeval.utils import _checks
from skeval.utils._checks import ErrorScore, RandomStateLike
from skeval.utils._compat import is_search, num_samples, params_of_rows, safe_indexing


class FitOptions(TypedDict, total=False):
    """Options that public functions with overloads share, for type checkers."""

    groups: Any
    params: Params
    sample_weight: Any
    confidence_level: float
    random_state: RandomStateLike
    n_jobs: int | None
    verbose: int
    memory: Any
    error_score: ErrorScore


@dataclass(frozen=True, eq=False)
class Inputs:
    """An estimator with its data, losses, weights and run options.

    Attributes
    ----------
    estimator : estimator
    X : indexable
    target : Target
        Labels or numbers, and the groups of the samples.
    losses : tuple of Loss
        Losses to compute from the fits; methods use the first. Empty if no loss is needed.
    weight : ndarray of shape (n_samples,) or None
        Sample weights of fits and of means of losses, as passed by the user.
    params : dict or None
        Other arguments of `fit` by name.
    n_jobs, verbose, memory, error_score
        As in scikit-learn.
    method : str
        Name of the method that repeats the fits, for results and errors.
    confidence_level : float
        Nominal coverage of the intervals of results.
    counted : SamplingUnits or None
        Sampling units of the losses, if these are not the groups or the samples.
    """

    estimator: Any
    X: Any
    target: Target
    losses: tuple[Loss, ...] = ()
    weight: np.ndarray | None = None
    params: Params = None
    n_jobs: int | None = None
    verbose: int = 0
    memory: Any = None
    error_score: float | str = "raise"
    method: str = ""
    confidence_level: float = 0.95
    counted: SamplingUnits | None = None

    @property
    def groups(self) -> np.ndarray | None:
        """Group of each sample; None if samples are independent."""
        return self.target.groups

    @property
    def loss(self) -> Loss:
        """The first of the losses."""
        return self.losses[0]

    @cached_property
    def units(self) -> SamplingUnits:
        """Sampling units, held out together: by default the groups, or the samples."""
        return self.counted or units_of(self.target, self.groups)

    @property
    def kept_together(self) -> np.ndarray | None:
        """Unit of each sample; None if samples are independent."""
        if self.counted is not None and self.counted.kind is UnitKind.FOLD:
            return self.counted.unit
        return None if self.groups is None else units_of(self.target, self.groups).unit

    def loss_values(self, output: FitOutput) -> np.ndarray:
        """Return the loss of each prediction."""
        return self.loss(*self.loss.pair(self.target, self.target.codes[output.rows], output))

    def tested(self, output: FitOutput) -> TestLosses:
        """Return the loss of each prediction, with the weights and units of the samples."""
        return self.count(output.rows, self.loss_values(output))

    def count(self, rows: np.ndarray, losses: np.ndarray) -> TestLosses:
        """Return losses of some samples, with the weights and units of these."""
        unit = self.units.unit[rows] if self.units.clustered else None
        return TestLosses(losses, None if self.weight is None else self.weight[rows], unit)

    @property
    def loss_methods(self) -> tuple[str, ...]:
        """Prediction methods required by the losses; always includes `predict`."""
        others = {loss.response for loss in self.losses} - {"predict"}
        return ("predict", *sorted(others))

    @cached_property
    def relative_weight(self) -> np.ndarray | None:
        """Sample weights scaled to mean 1, for weighted mean losses."""
        if self.weight is None:
            return None
        relative = self.weight / self.weight.max()  # their sum may overflow otherwise
        return relative / relative.mean()

    @property
    def run_options(self) -> dict[str, Any]:
        """Options of the jobs: workers, progress and cache."""
        return {"n_jobs": self.n_jobs, "verbose": self.verbose, "memory": self.memory}

    @property
    def tags(self) -> Any:
        """Tags of the estimator in scikit-learn."""
        return get_tags(self.estimator)

    @property
    def responses(self) -> list[str]:
        """The prediction methods to use, some of `RESPONSES`."""
        return [method for method in RESPONSES if hasattr(self.estimator, method)]

    def with_estimator(self, estimator: Any, X: Any = None) -> Inputs:
        """Return the inputs with another estimator, perhaps on other features."""
        return replace(self, estimator=estimator, X=self.X if X is None else X)

    def with_options(self, **settings: Any) -> Inputs:
        """Return the inputs with other losses, weights or run options."""
        return replace(self, **settings)


def validate_inputs(
    estimator: Any,
    X: Any,
    y: Any,
    groups: Any = None,
    *,
    loss: LossLike = None,
    with_loss: bool = True,
    sample_weight: Any = None,
    params: Params = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
    error_score: float | str = "raise",
    method: str = "",
    confidence_level: float = 0.95,
    several: bool = False,
) -> Inputs:
    """Return the validated inputs of a public function.

    Without a loss (`with_loss`), every target of the estimator is valid. It may have several
    outputs if the function supports them (`several`).
    """
    # arguments in the wrong places, before the data are read
    _checks.check_confidence_level(confidence_level)
    _checks.refuse_swapped_data(X, y)
    columns = {"y": y, "groups": groups, "sample_weight": sample_weight}
    if isinstance(params, Mapping):
        columns = {f"params[{name!r}]": array for name, array in params.items()} | columns
    _checks.refuse_shuffled_index(X, columns)
    # data
    X, target, _ = validate_data(estimator, X, y, groups, several=several)
    for step, part in find_biased(estimator):
        _checks.warn_user(
            f"{part._own_error} of {type(part).__name__} ignores the step {step} before it, which "
            "has seen the labels of all samples, so this attribute may be far too low. Put the "
            "step inside: PerturbationResamplingSVC(estimator=make_pipeline(selector, SVC())) or "
            "CV2FeatureSelectionPipeline(selector)."
        )
        break
    n = len(target)
    # options of the run
    _checks.check_jobs(n_jobs, verbose)
    check_params(params, n)
    raises = isinstance(error_score, str) and error_score == "raise"
    if not raises and not (isinstance(error_score, Real) and np.isnan(error_score)):
        raise ValueError(f"error_score must be 'raise' or numpy.nan, got {error_score!r}.")
    return Inputs(
        estimator,
        X,
        target,
        (resolve_loss(loss, target, estimator),) if with_loss else (),
        None if sample_weight is None else read_weight(estimator, sample_weight, params, n),
        params,
        n_jobs,
        verbose,
        memory,
        error_score,
        method,
        confidence_level,
    )


def uses_labels(step: Any) -> bool:
    """Return whether a step, or any part of it, selects features or requires labels."""
    parts = [step, *(step.get_params().values() if hasattr(step, "get_params") else ())]
    return any(
        (hasattr(part, "get_support") and not isinstance(part, VarianceThreshold))
        or (hasattr(part, "__sklearn_tags__") and get_tags(part).target_tags.required)
        for part in parts
        if hasattr(part, "fit") and not isinstance(part, type)
    )


def find_biased(estimator: Any, before: str | None = None) -> Iterator[tuple[str, Any]]:
    """Yield steps that use the labels, and parts behind them whose own error ignores this step.

    `before` is the name of such a step in front of `estimator`.
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
                before = repr(name)
    elif not has_error and hasattr(estimator, "get_params"):
        if hasattr(estimator, "get_support"):  # the estimator in a selector fits its selection
            before = type(estimator).__name__
        # parameters and fitted parts, also in lists of estimators or of (name, estimator)
        for value in vars(estimator).values():
            items = value if isinstance(value, list) else [value]
            for part in (part for one in items for part in (one if type(one) is tuple else [one])):
                if hasattr(part, "fit") and not isinstance(part, type):
                    yield from find_biased(part, before)


OF_SELECTOR, OF_CLASSIFIER = MethodMapping(), MethodMapping()
"""Methods of an estimator and those of its parts that they call, as in a pipeline of the parts."""
for _method in ("fit", *RESPONSES, "predict_log_proba"):
    OF_SELECTOR.add(caller=_method, callee="transform")
    OF_CLASSIFIER.add(caller=_method, callee=_method)
OF_SELECTOR.add(caller="fit", callee="fit").add(caller="transform", callee="transform")


def read_weight(estimator: Any, sample_weight: Any, params: Params, n_samples: int) -> np.ndarray:
    """Return checked sample weights; raise if no fit accepts them or `params` has others."""
    check_takes_weights(estimator)
    # weights may come from one argument only
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


def last_step(estimator: Any) -> Any:
    """Return the last step of a pipeline, or of the pipeline that is its last step."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return estimator


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
        raise TypeError(f"estimator must accept sample_weight in fit; {where} does not.")


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
    # samples to keep
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
                "sample_weight must be positive for a training sample and a test sample of "
                "each fold; it is 0 for all samples of a part of a fold."
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
    # without routing there are only weights and groups
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
                    f"params[{name!r}] must have one weight for each of the {n_samples} samples, "
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
