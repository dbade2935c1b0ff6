"""What a public function is asked: an estimator on data, how it is fitted and judged, read once.

A public function reads its arguments into a `Task`; all that it calls takes the task, and so do
other public functions' inner ones. What is found out about the estimator on the data, such as the
adapter that serves it, is found out once for all plans. Below it stands what it is made of: the
target, the losses of predictions, what `fit` is given besides samples and labels, the units that
are held out together, and what hands fits to a solver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, singledispatch
from importlib import import_module
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, is_classifier
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
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, get_routing_for_object
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import has_fit_parameter

from skeval._inference.errors import Tested
from skeval._resampling.plan import RESPONSES, FitOutput, PlanBlock, ResamplingPlan
from skeval.metrics._regression import LOSSES, PROBABILITY_LOSSES
from skeval.utils import _checks
from skeval.utils._compat import InvalidParameterError, num_samples, params_of_rows, safe_indexing

__all__ = [
    "Adapter",
    "Cases",
    "CostedAdapter",
    "Loss",
    "LossLike",
    "Params",
    "PlannedAdapter",
    "Target",
    "Task",
    "TooFewMembersError",
    "Unserved",
    "adapter_for",
    "adapter_of_steps",
    "cases_of",
    "check_takes_weights",
    "count_effective",
    "fit_arguments",
    "group_parameters",
    "mean_of_tested",
    "number_by_appearance",
    "params_of_part",
    "permute_labels",
    "read_task",
    "read_weight",
    "resolve_loss",
    "weight_parameters",
]


@dataclass(frozen=True, eq=False)
class Task:
    """An estimator on data, and how it is fitted and judged.

    Attributes
    ----------
    estimator : estimator
    X : indexable
    target : Target
        Labels or numbers, and the groups of the samples.
    losses : tuple of Loss
        Those that predictions are judged by; empty where nothing asks for losses.
    weight : ndarray of shape (n_samples,) or None
        Weights of the samples as they were given: those of fits and of means of losses.
    params : dict or None
        Other arguments of `fit` by name.
    n_jobs, verbose, memory, error_score
        As in scikit-learn.
    method : str
        Name of the method that repeats the fits, for results and errors.
    counted : Cases or None
        The units that losses are counted by, where these are not the groups or the samples.
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
    counted: Cases | None = None
    _found: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def groups(self) -> np.ndarray | None:
        """The group of each sample, None where samples are independent."""
        return self.target.groups

    @property
    def loss(self) -> Loss:
        """The first of the losses."""
        return self.losses[0]

    @cached_property
    def units(self) -> Cases:
        """The units that are held out together and counted: by default the groups, or samples."""
        return self.counted or cases_of(self.target, self.groups)

    @property
    def kept_together(self) -> np.ndarray | None:
        """The unit of each sample; None where its losses count by themselves."""
        if self.counted is not None and self.counted.name == "folds":
            return self.counted.unit
        return None if self.groups is None else cases_of(self.target, self.groups).unit

    def loss_values(self, loss: Loss, output: FitOutput) -> np.ndarray:
        """Return the losses of all answers of some fits."""
        return loss(*loss.pair(self.target, self.target.codes[output.rows], output))

    def tested(self, loss: Loss, output: FitOutput) -> Tested:
        """Return the losses of all answers, with the weights and units of their samples."""
        return self.count(output.rows, self.loss_values(loss, output))

    def count(self, rows: np.ndarray, losses: np.ndarray) -> Tested:
        """Return losses of some samples, with the weights and units of these."""
        unit = None if self.units.n_groups is None else self.units.unit[rows]
        return Tested(losses, None if self.weight is None else self.weight[rows], unit)

    @property
    def asked(self) -> tuple[str, ...]:
        """The methods of the models whose answers the losses judge; predictions always."""
        others = {loss.response for loss in self.losses} - {"predict"}
        return ("predict", *sorted(others))

    @cached_property
    def relative_weight(self) -> np.ndarray | None:
        """The weights with mean 1, for means of losses."""
        if self.weight is None:
            return None
        relative = self.weight / self.weight.max()  # their sum may overflow otherwise
        return relative / relative.mean()

    def params_under(self, plan: ResamplingPlan) -> dict[str, Any]:
        """Return the arguments of every fit of a plan: what the user gave, and weights.

        All that takes weights is given them, unless they are in the plan.
        """
        given = dict(self.params or {})
        if plan.weighted or self.weight is None:
            return given
        return {**weight_parameters(self.estimator, self.weight), **given}

    @property
    def adapter(self) -> Adapter | Unserved:
        """What hands fits of the estimator to a solver, or why there is none.

        Parameters that the estimator itself would refuse are left to it: it raises.
        """
        if "adapter" not in self._found:
            found: Adapter | Unserved | None = Unserved("its parameters are not valid")
            if self._is_valid:
                found = ask_steps(self.estimator, self.X, self.target)
            self._found["adapter"] = found or Unserved("no solver serves this estimator")
        adapter: Adapter | Unserved = self._found["adapter"]
        return adapter

    @property
    def _is_valid(self) -> bool:
        """Whether the estimator and all that its parameters hold pass their own validation."""
        if get_config()["skip_parameter_validation"]:
            return True
        for part in (self.estimator, *self.estimator.get_params().values()):
            if isinstance(part, BaseEstimator) and hasattr(part, "_parameter_constraints"):
                try:
                    part._validate_params()
                except InvalidParameterError:
                    return False
        return True

    @property
    def tags(self) -> Any:
        """What scikit-learn knows of the estimator."""
        return get_tags(self.estimator)

    @property
    def responses(self) -> list[str]:
        """The methods by which a fit of the estimator may answer, some of `RESPONSES`."""
        return [method for method in RESPONSES if hasattr(self.estimator, method)]

    def of(self, estimator: Any, X: Any = None) -> Task:
        """Return the task of another estimator, perhaps on other features."""
        return replace(self, estimator=estimator, X=self.X if X is None else X, _found={})

    def under(self, **settings: Any) -> Task:
        """Return the task under other settings: the loss, weights, or how fits are done."""
        return replace(self, **settings)


def read_task(
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
) -> Task:
    """Check what a public function is given, and return it as a task.

    Without a loss (`with_loss`) the target may be anything that the estimator takes.
    """
    X, target, _ = check_task(estimator, X, y, groups)
    n = len(target)
    _checks.check_jobs(n_jobs, verbose)
    check_params(params, n)
    return Task(
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
    )


def read_weight(estimator: Any, sample_weight: Any, params: Params, n_samples: int) -> np.ndarray:
    """Return the weights of the samples; raise where no fit takes them, or takes others."""
    check_takes_weights(estimator)
    weights = _checks.check_weights("sample_weight", sample_weight, n_samples)
    twice = sorted(weight_parameters(estimator, weights).keys() & (params or {}).keys())
    if twice:
        raise ValueError(f"sample_weight and params[{twice[0]!r}] must not both be given.")
    return weights


@dataclass(frozen=True, eq=False)
class Target:
    """A target as the estimators see it (`given`) and as the reductions do (`y`, `codes`).

    Attributes
    ----------
    y : ndarray of shape (n_samples,)
        Labels or numbers.
    classes : ndarray of shape (n_classes,) or None
        The sorted labels; None for regression.
    codes : ndarray of shape (n_samples,)
        Positions in `classes`; `y` itself for regression.
    given : ndarray or Series of shape (n_samples,)
        The Series that the user gave, with its index and dtype; `y` where it was none.
    groups : ndarray of shape (n_samples,) or None
        What samples belong to, for an estimator that splits by it in its `fit`.
    """

    y: np.ndarray
    classes: np.ndarray | None
    codes: np.ndarray
    given: Any = None
    groups: np.ndarray | None = None

    def __post_init__(self) -> None:
        if self.given is None:
            object.__setattr__(self, "given", self.y)

    def __len__(self) -> int:
        return len(self.y)

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 for regression."""
        return 0 if self.classes is None else len(self.classes)

    def encode(self, predicted: np.ndarray, n_tested: int) -> np.ndarray:
        """Return what is predicted for so many samples: labels as codes, numbers as they are."""
        predicted = np.asarray(predicted)
        if predicted.shape != (n_tested,):
            raise ValueError(
                f"estimator must predict one value for each sample, shape ({n_tested},), "
                f"got an array of shape {predicted.shape}."
            )
        if self.classes is None:
            what = "predictions of estimator"
            return _checks.check_data(what, predicted, ensure_2d=False, dtype=np.float64)
        codes = np.searchsorted(self.classes, predicted).clip(max=len(self.classes) - 1)
        unknown = self.classes[codes] != predicted
        if np.any(unknown):
            first = predicted[unknown].tolist()[0]
            raise ValueError(f"estimator must predict labels that are in y, got {first!r}.")
        return codes

    def decode(self, codes: np.ndarray) -> np.ndarray:
        """Return codes as the labels they stand for."""
        return codes if self.classes is None else self.classes[codes]


def check_task(estimator: Any, X: Any, y: Any, groups: Any = None) -> tuple[Any, Target, Any]:
    """Check what every estimator of error is given; return indexable X, the target and groups."""
    _checks.check_methods("estimator", estimator, "fit", "predict", "get_params")
    with _checks.naming("X"):
        num_samples(X)
    _checks.check_same_length(X=X, y=y)
    groups = _checks.check_groups(groups, num_samples(y))
    with _checks.naming("X"):
        (X,) = indexable(X)
    if get_tags(estimator).input_tags.pairwise:
        X = _checks.check_square(X)
    y, given = _checks.check_y("y", y), y
    given = read_series(given, y)
    if not is_classifier(estimator):
        return X, Target(y, None, y, given, groups), groups
    with _checks.naming("y"):
        check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y must hold at least two classes, got one: {classes.tolist()[0]!r}.")
    return X, Target(y, classes, codes, given, groups), groups


class TooFewMembersError(ValueError):
    """A class has too few members for a method, or there are too few samples or groups."""


def read_series(given: Any, y: np.ndarray) -> Any:
    """Return a Series as it was given, None for anything else.

    Numbers that it holds as objects, of which scikit-learn makes no classes, get a dtype.
    """
    if not hasattr(given, "iloc") or given.ndim != 1:
        return None
    dtype = getattr(given, "dtype", y.dtype)
    held_as_objects = dtype == np.dtype(object) and y.dtype != object
    return given.astype(y.dtype) if held_as_objects else given


def permute_labels(y: Any, order: np.ndarray | None) -> Any:
    """Return labels in another order; the index of a Series stays, for it names the samples."""
    if order is None:
        return y
    labels = safe_indexing(y, order)
    return labels.set_axis(y.index) if hasattr(y, "set_axis") else labels


NAMED = {**LOSSES, **PROBABILITY_LOSSES}
"""The losses that an argument `loss` names."""

LossLike = str | Callable[[np.ndarray, np.ndarray], np.ndarray] | None


@dataclass(frozen=True)
class Loss:
    """A per-sample loss, its name, and the method of a model whose answers it judges."""

    name: str
    function: Callable[[np.ndarray, np.ndarray], np.ndarray]
    response: str = "predict"

    def __call__(self, y_true: np.ndarray, y_pred: np.ndarray) -> np.ndarray:
        """Return the loss of each prediction, shape (n,)."""
        values = np.asarray(self.function(y_true, y_pred), dtype=float)
        if values.shape != y_true.shape:
            raise ValueError(
                f"loss must return one value for each sample, shape {y_true.shape}; "
                f"got shape {values.shape}."
            )
        if not np.isfinite(values).all():
            raise ValueError(f"loss must be finite, got {values[~np.isfinite(values)][0]}.")
        return values

    def of_output(self, target: Target, block: PlanBlock, output: FitOutput) -> np.ndarray:
        """Return the losses of all answers, shape (n_fits, n_samples), nan where there is none."""
        losses = np.full(block.test.shape, np.nan)
        if output.predicted is None:
            return losses
        true = block.tested_labels(target.codes, ~output.failed)
        pairs = self.pair(target, true, output)
        if self.name in NAMED:
            losses[output.answered] = self(*pairs)
            return losses
        stops = np.cumsum(output.sizes)[:-1]
        of_fits = zip(*(np.split(side, stops) for side in pairs), strict=True)
        losses[output.answered] = np.concatenate([self(t, p) if len(t) else t for t, p in of_fits])
        return losses

    def pair(
        self, target: Target, codes: np.ndarray, output: FitOutput
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return what is true, given as codes, and what is answered, as the loss takes them."""
        if self.response == "predict_proba":
            if output.probability is None:
                raise ValueError(
                    f"loss={self.name!r} needs a probability of each class from predict_proba of "
                    "every fitted model; one gave none."
                )
            return codes, output.probability
        if self.name == "zero_one":
            return codes, output.predicted
        return target.decode(codes), target.decode(output.predicted)


def resolve_loss(
    loss: LossLike, target: Target, estimator: Any = None, asked: str | None = None
) -> Loss:
    """Return the loss that an argument `loss` names; the estimator must answer what it judges.

    `asked` is what errors say instead of ``loss='...'``.
    """
    if callable(loss):
        name = getattr(loss, "__name__", type(loss).__name__)
        # The name decides shortcuts and intervals, so a callable must not be named like ours.
        return Loss(f"{name}()" if name in NAMED else name, loss)
    if loss is None:
        loss = "squared" if target.classes is None else "zero_one"
    if not isinstance(loss, str) or loss not in NAMED:
        raise ValueError(
            f"loss must be None, a callable or one of {', '.join(map(repr, NAMED))}; got {loss!r}."
        )
    asked = f"loss={loss!r}" if asked is None else asked
    if loss in PROBABILITY_LOSSES:
        if target.classes is None:
            raise ValueError(f"{asked} needs a classifier; this estimator predicts numbers.")
        if estimator is not None and not hasattr(estimator, "predict_proba"):
            raise ValueError(
                f"{asked} needs an estimator with predict_proba, which "
                f"{type(estimator).__name__} lacks."
            )
        return Loss(loss, NAMED[loss], "predict_proba")
    if loss != "zero_one" and target.y.dtype.kind not in "fiu":
        raise ValueError(f"{asked} needs numbers in y, got dtype {target.y.dtype}.")
    return Loss(loss, NAMED[loss])


Params = Mapping[str, Any] | None
"""Arguments of `fit` by name, as `sklearn.model_selection.cross_validate` takes them."""

ENSEMBLES = (StackingClassifier, StackingRegressor, VotingClassifier, VotingRegressor)
"""What takes weights, from scikit-learn 1.7 on, among other arguments of `fit`."""


def forwards(estimator: Any) -> Any:
    """Return what an estimator hands the arguments of its `fit` on to, None if it does not.

    They are the searches of scikit-learn and the like, whose base class says so by `_run_search`,
    and the selectors and regressors around another estimator. `RFECV` refuses all but groups.
    """
    if hasattr(estimator, "_run_search") or isinstance(estimator, SelectFromModel):
        return estimator.estimator
    if isinstance(estimator, RFE) and not isinstance(estimator, RFECV):
        return estimator.estimator
    if isinstance(estimator, TransformedTargetRegressor):
        return LinearRegression() if estimator.regressor is None else estimator.regressor
    return None


def list_receivers(estimator: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all that the arguments of `fit` reach, each behind the prefix that leads to it."""
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
    """Whether `fit` takes groups, and a splitter among the parameters asks for them."""
    if hasattr(estimator, "_run_search") or isinstance(estimator, RFECV):
        splitters = [estimator.cv]
    elif has_fit_parameter(estimator, "groups"):
        splitters = [value for value in estimator.get_params().values() if hasattr(value, "split")]
    else:
        return False
    return any(get_routing_for_object(cv).consumes("split", ["groups"]) for cv in splitters)


def is_routed(estimator: Any) -> bool:
    """Whether scikit-learn's metadata routing decides which part of an estimator is given what."""
    if not get_config()["enable_metadata_routing"]:
        return False
    return isinstance(get_routing_for_object(estimator), MetadataRouter)


def consumes(estimator: Any, name: str) -> bool:
    """Whether some part of a routed estimator asks for an argument of `fit`."""
    return bool(get_routing_for_object(estimator).consumes("fit", [name]))


def check_takes_weights(estimator: Any) -> None:
    """Raise unless the estimator, or what its arguments of `fit` reach last, takes weights."""
    if is_routed(estimator):
        if not consumes(estimator, "sample_weight"):
            raise TypeError(
                "estimator must ask for sample_weight by set_fit_request where metadata routing is "
                f"enabled; no part of {type(estimator).__name__} does."
            )
        return
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
    """Return the keyword arguments that hand weights to all of `fit` that takes them.

    A scaler in front of a classifier is part of the procedure that is perturbed, so it is
    weighted too. Under metadata routing it is given what it asks for.
    """
    return {} if weights is None else _hand_on(estimator, "sample_weight", weights, takes_weights)


def group_parameters(estimator: Any, groups: np.ndarray | None) -> dict[str, np.ndarray]:
    """Return the keyword arguments that hand groups to what splits by them, such as a search."""
    return {} if groups is None else _hand_on(estimator, "groups", groups, splits_by_groups)


def _hand_on(
    estimator: Any, name: str, values: np.ndarray, takes: Callable[[Any], bool]
) -> dict[str, np.ndarray]:
    """Return the keyword arguments that hand values to all parts that take them."""
    if is_routed(estimator):
        return {name: values} if consumes(estimator, name) else {}
    return {f"{prefix}{name}": values for prefix, part in list_receivers(estimator) if takes(part)}


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
            with _checks.naming("params"):
                found = num_samples(value)
            if found != n_samples:
                raise ValueError(
                    f"params[{name!r}] must hold one weight for each of the {n_samples} samples, "
                    f"got {found}."
                )


def params_of_part(part: Any, params: Params) -> dict[str, Any]:
    """Return those arguments of the `fit` of an estimator that are of some of its steps.

    Weights and groups that are of no step are of all that takes them.
    """
    found: dict[str, Any] = {}
    for name, value in (params or {}).items():
        step, is_of_step, _ = name.partition("__")
        if is_routed(part):
            found |= {name: value} if consumes(part, name) else {}
        elif is_of_step:
            found |= {name: value} if step in part.named_steps else {}
        elif name == "sample_weight":
            found |= weight_parameters(part, value)
        elif name == "groups":
            found |= group_parameters(part, value)
    return found


def count_effective(weights: np.ndarray) -> float:
    """Return how many samples of equal weight are worth as much; raise where none weighs."""
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
    """Return the keyword arguments of a fit to some rows of `X`, of these weights.

    `groups` and `params` are of all samples; what the user gives by name goes first.
    """
    given = {**group_parameters(estimator, groups), **(params or {})}
    return {**weight_parameters(estimator, weights), **params_of_rows(X, given, rows)}


@dataclass(frozen=True, eq=False)
class Cases:
    """The units that are folded, halved and drawn whole.

    Attributes
    ----------
    unit : int ndarray of shape (n_samples,)
        Unit of each sample, numbered from 0 in the order of their first samples.
    stratum : int ndarray of shape (n_units,)
        Class of each unit (of a group, its most frequent one), numbered like units; 0 for numbers.
    n_groups : int or None
        Number of groups; None where each sample is a unit.
    kept_by : {"groups", "folds", "samples"}
        What keeps the samples of a unit together: the groups, or the folds that were given, which
        never part them; "samples" where a unit is the answers of several models to one sample.
    crossed : int ndarray of shape (n_samples, n_kinds) or None
        The groups of all kinds, where they cross; the units are those of the kind with the fewest.
    """

    unit: np.ndarray
    stratum: np.ndarray
    n_groups: int | None = None
    kept_by: str = "groups"
    crossed: np.ndarray | None = None

    @property
    def n_units(self) -> int:
        """Number of units."""
        return len(self.stratum)

    @property
    def name(self) -> str:
        """What the units are called."""
        return "samples" if self.n_groups is None else self.kept_by

    def mask(self, units: np.ndarray) -> np.ndarray:
        """Return which samples belong to some units, shape (n_samples,)."""
        chosen = np.zeros(self.n_units, dtype=bool)
        chosen[units] = True
        return chosen[self.unit]

    def deal(self, units: np.ndarray, n_folds: int, rng: np.random.Generator) -> np.ndarray:
        """Return a fold for each of some units: like cards, class after class."""
        order = np.lexsort([rng.random(len(units)), self.stratum[units]])
        fold = np.empty(len(units), dtype=np.intp)
        fold[order] = np.arange(len(units)) % n_folds
        return fold

    def spread(self, units: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return some units in a random order of which every stretch has its share of classes.

        The units of a class are shuffled and set at equal distances from a random start.
        """
        stratum, place = self.stratum[units], np.empty(len(units))
        for s in np.unique(stratum):
            members = np.flatnonzero(stratum == s)
            place[members] = (rng.permutation(len(members)) + rng.random()) / len(members)
        return units[np.argsort(place, kind="stable")]


def cases_of(target: Target, groups: np.ndarray | None = None) -> Cases:
    """Return the samples of a target, or their groups, as units."""
    classes = np.zeros(len(target), dtype=np.intp)
    if target.classes is not None:
        classes = number_by_appearance(target.codes)
    if groups is None:
        return Cases(np.arange(len(target)), classes)
    crossed = None
    if groups.ndim == 2:
        crossed, groups = groups, groups[:, groups.max(axis=0).argmin()]
    unit = number_by_appearance(groups)
    n_groups = int(unit.max()) + 1
    if n_groups < 2:
        raise ValueError(f"groups must hold at least two groups, got one: {groups.tolist()[0]!r}.")
    members = np.zeros((n_groups, int(classes.max()) + 1), dtype=np.intp)
    np.add.at(members, (unit, classes), 1)
    return Cases(unit, members.argmax(axis=1), n_groups, crossed=crossed)


def number_by_appearance(values: np.ndarray) -> np.ndarray:
    """Return the number of each value in the order in which they first appear.

    So what is drawn does not depend on how classes and groups are called.
    """
    if values.dtype.kind not in "iu" or values.min() < 0 or values.max() > len(values):
        values = np.unique(values, return_inverse=True)[1].reshape(-1)
    n = len(values)
    first = np.full(int(values.max()) + 1, n)
    first[values[::-1]] = np.arange(n)[::-1]  # of several places the last one stays
    return np.argsort(np.argsort(first))[values]


SERVING = "skeval._adapters"
"""The floor above that registers adapters as it is imported, before the first is asked for."""


class Unserved(NamedTuple):
    """What stands for an adapter where there is none, and why."""

    why: str


class Adapter(Protocol):
    """Solves all fits of a block at once.

    It answers each of predict, decision_function and predict_proba that its estimator has.
    """

    def __call__(self, block: PlanBlock) -> FitOutput:
        """Return the answers of the fits; those that it calls failed, the estimator does."""


@runtime_checkable
class CostedAdapter(Protocol):
    """An adapter that is not always faster than the loop."""

    def pays(self, n_fits: int, codes: np.ndarray, times: float = 1.0) -> bool:
        """Whether so many fits, to labels like these, take less time here than in a loop.

        They must be faster by `times` at least. The answer depends on the data and on the number of
        fits, and on nothing that is timed: the numbers are the same on every machine and for any
        `n_jobs`.
        """


@runtime_checkable
class PlannedAdapter(Protocol):
    """An adapter that serves some plans only.

    What it learns of a plan it keeps from block to block: it stays in the calling process, for
    each worker would learn the same again. It is given blocks of at most `max_fits`, if that is
    a number.
    """

    max_fits: int | None

    def prepare(self, plan: ResamplingPlan) -> Adapter | None:
        """Return the adapter for a plan, None if a loop does it as fast.

        The answer depends on the plan and the data, and on nothing that is timed.
        """


@singledispatch
def adapter_for(
    estimator: Any, X: Any, target: Target, transformers: tuple
) -> Adapter | Unserved | None:
    """Return the adapter that serves an estimator behind some transformers, None if none does.

    `skeval._adapters` registers an implementation for each type that a solver serves. It returns
    None for parameters, subclasses, transformers or data that are not served, or says why. An
    estimator of this package registers one where it is defined.
    """
    return None


def adapter_of_steps(estimator: Any, X: Any, target: Target) -> Adapter | None:
    """Return the adapter of a bare estimator or of a pipeline that ends in one."""
    found = ask_steps(estimator, X, target)
    return None if isinstance(found, Unserved) else found


@cache
def register_adapters() -> None:
    """Import the floor above that registers adapters, once."""
    import_module(SERVING)


def ask_steps(estimator: Any, X: Any, target: Target) -> Adapter | Unserved | None:
    """Return the adapter of a bare estimator or of a pipeline, or why there is none."""
    register_adapters()
    if isinstance(X, np.memmap):  # what joblib makes of large arrays for other processes
        X = X.view(np.ndarray)
    if type(estimator) is not Pipeline:
        return adapter_for(estimator, X, target, ())
    if estimator.memory is not None:
        return Unserved("the pipeline keeps its fitted transformers in memory")
    *before, final = (step for _, step in estimator.steps if step not in ("passthrough", None))
    return adapter_for(final, X, target, tuple(before))
