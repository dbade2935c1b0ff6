"""Validated inputs of a public function, outputs of fits, losses, and the arguments of `fit`.

Outputs are predictions, scores and decision values of the tested samples. A loss is a name, or a
function of labels and predictions.

Sample weights, groups and params are routed to the steps that accept them. If a step before an
estimator uses the labels, for example a selector, the estimator does not repeat this step when it
estimates its own error. A step without weights uses all samples equally. Both cases are reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from numbers import Integral, Real
from typing import Any, Self, TypedDict

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

from skeval._inference.errors import LossFn, TestLosses
from skeval._resampling.plans import PlanBlock
from skeval._resampling.sampling_units import (
    SamplingUnits,
    Target,
    UnitKind,
    units_of,
    validate_data,
)
from skeval.metrics._regression import LOSSES, PROBABILITY_LOSSES
from skeval.metrics._table import group_by_size
from skeval.utils import _checks
from skeval.utils._compat import BaseSearchCV, num_samples, params_of_rows, safe_indexing

RESPONSES = ("predict", "decision_function", "predict_proba")
"""Prediction methods of the columns of a `FitOutput`, in the same order."""

COLUMNS = ("predicted", "decision", "probability")

SHARE = 1e-9
"""Accuracy of decision values of solvers, relative to their spread. Closer values are tied."""

LAST_PLACES = 2.0**-48
"""Rounding errors of a sum relative to its largest term, sixteen machine epsilons."""


@dataclass(frozen=True, eq=False)
class FitOutput:
    """Predictions of several fits for their test samples.

    Predictions are ordered by fit, and within a fit by sample. Failed fits have no predictions.
    Outputs that were not requested are None.

    Attributes
    ----------
    test : bool ndarray of shape (n_fits, n_samples)
        Test samples of each fit.
    failed : bool ndarray of shape (n_fits,)
        Fits without predictions. Either a solver left the fit to the estimator, or the estimator
        raised an error and ``error_score=numpy.nan``.
    predicted : ndarray of shape (n_predictions,) or None
        Class codes, or numeric predictions.
    decision : ndarray of shape (n_predictions,) or (n_predictions, n_classes), or None
        Decision values. For two classes, they are for the second class.
    probability : ndarray of shape (n_predictions, n_classes) or None
    scores : list of length n_fits, or None
        Score of each fit, a number or a dict of numbers, or None if the fit failed.
    notes : list of length n_fits, or None
        Further output of each model, as requested.
    noise : ndarray of shape (n_fits,) or None
        Size of the rounding errors of decision values, or None if unknown.
    seconds : ndarray of shape (n_fits, 2) or None
        Time of each fit, and of its predictions and scores, or nan if unknown. For a solver, the
        time of a block is divided among its fits.
    n_solved : int
        Number of fits by a solver.
    """

    test: np.ndarray
    failed: np.ndarray
    predicted: Any = None
    decision: Any = None
    probability: Any = None
    scores: list[Any] | None = None
    notes: list[Any] | None = None
    noise: Any = None
    seconds: Any = None
    n_solved: int = 0

    @classmethod
    def of_decisions(cls, block: PlanBlock, values: np.ndarray, solved: np.ndarray) -> FitOutput:
        """Return the outputs of fits to two classes from their decision values.

        `values` has the shape (n_fits, n_samples), and `solved` the shape (n_fits,). As in libsvm,
        a decision value of 0 means the second class.
        """
        decision = values[block.test & solved[:, None]]
        return cls(block.test, ~solved, (decision >= 0).astype(np.intp), decision)

    def __len__(self) -> int:
        return len(self.test)

    def __iter__(self) -> Iterator[FitOutput]:
        """Yield the output of each fit."""
        if len(self) == 1:
            yield self
            return
        start = 0
        for fit, size in enumerate(self.sizes.tolist()):
            yield self._take(slice(fit, fit + 1), slice(start, start + size))
            start += size

    @cached_property
    def mask(self) -> np.ndarray:
        """Mask of the samples that each fit predicts, shape (n_fits, n_samples)."""
        return self.test & ~self.failed[:, None] if self.failed.any() else self.test

    @cached_property
    def rows(self) -> np.ndarray:
        """Sample of each prediction, shape (n_predictions,)."""
        return np.nonzero(self.mask)[1]

    @cached_property
    def sizes(self) -> np.ndarray:
        """Number of predictions of each fit, shape (n_fits,)."""
        return self.mask.sum(axis=1)

    @property
    def responses(self) -> dict[str, np.ndarray]:
        """Predictions with the name of the prediction method as key. Classes are codes."""
        named = zip(RESPONSES, (self.predicted, self.decision, self.probability), strict=True)
        return {name: values for name, values in named if values is not None}

    def tie_decision(self) -> np.ndarray:
        """Return decision values. Values of a fit that differ by rounding only are made equal."""
        noise = np.zeros(len(self)) if self.noise is None else self.noise
        n_columns = int(np.prod(self.decision.shape[1:]))  # also where there is no prediction
        columns = self.decision.reshape(len(self.decision), n_columns)
        tied = np.empty_like(columns)
        for fits, at in group_by_size(self.sizes):
            values = columns[at].swapaxes(1, 2)  # (n_fits_of_size, n_columns, size)
            rows = values.reshape(-1, at.shape[1])
            off = np.repeat(noise[fits], columns.shape[1])
            tied[at] = tie_rows(rows, off).reshape(values.shape).swapaxes(1, 2)
        return tied.reshape(self.decision.shape)

    def _take(self, fits: slice, rows: slice) -> FitOutput:
        selections = dict.fromkeys(COLUMNS, rows) | dict.fromkeys(
            ("scores", "notes", "noise", "seconds"), fits
        )
        known = {name: at for name, at in selections.items() if getattr(self, name) is not None}
        parts = {name: getattr(self, name)[at] for name, at in known.items()}
        return FitOutput(self.test[fits], self.failed[fits], **parts)


def join_outputs(parts: Sequence[FitOutput]) -> FitOutput:
    """Return the outputs of consecutive fits as one.

    A column is None if any fit lacks it or its shapes differ.
    """
    if len(parts) == 1:
        return parts[0]
    # fits that failed have no columns
    with_answers = [part for part in parts if not part.failed.all()]

    def join(name: str, parts: Sequence[FitOutput] = with_answers) -> Any:
        columns = [getattr(part, name) for part in parts]
        if not columns or any(column is None for column in columns):
            return None
        same_shape = len({column.shape[1:] for column in columns}) == 1
        return np.concatenate(columns) if same_shape else None

    def chain(name: str) -> list[Any] | None:
        lists = [getattr(part, name) for part in parts]
        if all(values is None for values in lists):
            return None
        # a part without the list has None for each of its fits
        sized = zip(parts, lists, strict=True)
        return [value for part, values in sized for value in values or [None] * len(part)]

    return FitOutput(
        np.concatenate([part.test for part in parts]),
        np.concatenate([part.failed for part in parts]),
        join("predicted"),
        join("decision"),
        join("probability"),
        scores=chain("scores"),
        notes=chain("notes"),
        noise=join("noise", parts),
        seconds=join("seconds", parts),
    )


def tie_values(values: np.ndarray) -> np.ndarray:
    """Return decision values, made equal if they differ by rounding errors only.

    Values are tied if their distance is at most the largest of the following: 1e-9 of the spread of
    all values, the relative accuracy of a solver, sixteen machine epsilons of the largest value
    (which may come from the intercept), and, in `tie_rows`, the rounding errors of the underlying
    sums. Therefore, a classifier that is constant except for rounding ranks no pair of samples. If
    its values differ by more, all pairs are ranked, even if the differences are small relative to
    the intercept.

    `values` has shape (n_samples,) or (n_samples, n_classes). Each column is tied separately.
    """
    if not values.size:
        return values
    rows = values.T if values.ndim == 2 else values[None]
    tied = tie_rows(rows, np.zeros(len(rows)))
    return tied.T if values.ndim == 2 else tied[0]


def tie_rows(values: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Return values (n_rows, size), tied within each row up to rounding errors `noise` of the row.

    Rows with nan or infinite values are not changed.
    """
    finite = np.isfinite(values).all(axis=1)
    if not finite.all():
        tied = values.copy()
        tied[finite] = tie_rows(values[finite], noise[finite])
        return tied
    # spread of the inner half, so that a single outlier does not make all other values equal
    spread = 2 * np.median(np.abs(values - np.median(values, axis=1, keepdims=True)), axis=1)
    spread = np.where(spread > 0, spread, np.ptp(values, axis=1))
    # distance up to which neighboring values are tied
    unit = np.maximum(spread * SHARE, np.abs(values).max(axis=1) * LAST_PLACES)
    unit = np.maximum(unit, noise)
    # sort each row, and compare neighbors
    order = np.argsort(values, axis=1, kind="stable")
    ranked = np.take_along_axis(values, order, axis=1)
    # each value becomes the first of its run of ties
    first = np.zeros(values.shape, dtype=np.intp)
    new = np.diff(ranked, axis=1) > unit[:, None]
    first[:, 1:] = np.where(new, np.arange(1, values.shape[1]), 0)
    first = np.maximum.accumulate(first, axis=1)
    tied = np.empty_like(values)
    np.put_along_axis(tied, order, np.take_along_axis(ranked, first, axis=1), axis=1)
    return tied


NAMED = {**LOSSES, **PROBABILITY_LOSSES}
"""Losses with their names in an argument `loss`."""

LossLike = str | LossFn | None


@dataclass(frozen=True)
class Loss:
    """A per-sample loss, with its name and the prediction method that it uses."""

    name: str
    function: LossFn
    response: str = "predict"

    def __call__(self, y_true: np.ndarray, y_pred: np.ndarray) -> np.ndarray:
        """Return the loss of each prediction, shape (n,)."""
        values = np.asarray(self.function(y_true, y_pred), dtype=float)
        if values.shape != y_true.shape[:1]:
            raise ValueError(
                f"loss must return one value for each sample, shape {y_true.shape[:1]}, "
                f"got shape {values.shape}."
            )
        if not np.isfinite(values).all():
            raise ValueError(f"loss must be finite, got {values[~np.isfinite(values)][0]}.")
        return values

    def of_output(self, target: Target, block: PlanBlock, output: FitOutput) -> np.ndarray:
        """Return all losses, shape (n_fits, n_samples), or nan without a prediction."""
        losses = np.full(block.test.shape, np.nan)
        if output.predicted is not None:
            losses[output.mask] = self.of_predictions(target, block, output)
        return losses

    def of_predictions(self, target: Target, block: PlanBlock, output: FitOutput) -> np.ndarray:
        """Return the loss of each prediction, fit after fit, shape (n_predictions,)."""
        if output.predicted is None:
            return np.empty(0)
        # all fits at once
        pairs = self.pair(target, block.tested_labels(target.codes, ~output.failed), output)
        if self.name in NAMED:
            return self(*pairs)
        # a loss of the user may depend on the other samples, so call it for each fit
        stops = np.cumsum(output.sizes)[:-1]
        of_fits = zip(*(np.split(side, stops) for side in pairs), strict=True)
        return np.concatenate([self(t, p) if len(t) else t for t, p in of_fits])

    def pair(
        self, target: Target, codes: np.ndarray, output: FitOutput
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return true values (from `codes`) and predictions as arguments of the loss."""
        if self.response == "predict_proba":
            if output.probability is None:
                raise ValueError(
                    f"loss={self.name!r} needs an estimator whose fitted models all return a "
                    "probability of each class from predict_proba. At least one model does not."
                )
            return codes, _checks.check_rows("predict_proba of the estimator", output.probability)
        if self.name == "zero_one":
            return codes, output.predicted
        return target.decode(codes), target.decode(output.predicted)


def resolve_loss(
    loss: LossLike, target: Target, estimator: Any = None, argument: str | None = None
) -> Loss:
    """Return the `Loss` for an argument `loss`, after checking that the estimator supports it.

    Error messages name `argument` instead of ``loss='...'``.
    """
    if callable(loss):
        name = getattr(loss, "__name__", type(loss).__name__)
        # The name selects shortcuts and intervals, so a callable must not have one of our names.
        return Loss(f"{name}()" if name in {*NAMED, "hamming"} else name, loss)
    if target.outputs:
        return resolve_output_loss(loss, target)
    # the loss by name
    if loss is None:
        argument = argument or "a regressor"
        loss = "squared" if target.classes is None else "zero_one"
    if not isinstance(loss, str) or loss not in NAMED:
        raise ValueError(
            f"loss must be None, a callable or one of {', '.join(map(repr, NAMED))}; got {loss!r}"
            f"{_checks.suggest(loss, NAMED)}."
        )
    argument = f"loss={loss!r}" if argument is None else argument
    # requirements of the loss on the estimator and the target
    if loss in PROBABILITY_LOSSES:
        if target.classes is None:
            raise ValueError(f"{argument} needs a classifier. The estimator is a regressor.")
        if estimator is not None and not hasattr(estimator, "predict_proba"):
            raise ValueError(
                f"{argument} needs an estimator with predict_proba, which "
                f"{type(estimator).__name__} lacks."
            )
        return Loss(loss, NAMED[loss], "predict_proba")
    if loss == "zero_one":
        _checks.refuse_fractions("y", target.y, f"{argument} counts wrong classes")
    elif target.y.dtype.kind not in "fiu":
        raise ValueError(
            f"y must contain numbers for {argument}, got {target.y[:1].tolist()[0]!r}. Classes "
            "need a classifier as the estimator."
        )
    return Loss(loss, NAMED[loss])


LOSSES_OF_LABELS: dict[str, LossFn] = {
    "hamming": lambda true, predicted: np.mean(true != predicted, axis=1),
    "zero_one": lambda true, predicted: np.any(true != predicted, axis=1),
}
"""Losses of labels: the fraction of wrong labels, and whether any label is wrong."""
LOSSES_OF_OUTPUTS: dict[str, LossFn] = {
    "squared": lambda true, predicted: np.mean((true - predicted) ** 2, axis=1),
    "absolute": lambda true, predicted: np.mean(np.abs(true - predicted), axis=1),
}
"""Losses that are means over the outputs."""


def resolve_output_loss(loss: str | None, target: Target) -> Loss:
    """Return the loss of several outputs, or labels, of a sample."""
    losses = LOSSES_OF_LABELS if target.output_classes else LOSSES_OF_OUTPUTS
    loss = next(iter(losses)) if loss is None else loss
    if not isinstance(loss, str) or loss not in losses:
        what = "labels" if target.output_classes else "outputs"
        raise ValueError(
            f"loss must be None, a callable or one of {', '.join(map(repr, losses))} if y has "
            f"several {what}, got {loss!r}."
        )
    return Loss(loss, losses[loss])


def losses_by_output(loss: Loss, target: Target) -> dict[str, Loss]:
    """Return the loss of each output as a dict, empty for a user's function of all outputs."""
    if loss.name not in {**LOSSES_OF_LABELS, **LOSSES_OF_OUTPUTS}:
        return {}
    name = "zero_one" if target.output_classes else loss.name
    return {
        output: Loss(name, partial(judge_output, LOSSES[name], k))
        for k, output in enumerate(target.outputs)
    }


def judge_output(
    function: LossFn, position: int, y_true: np.ndarray, y_pred: np.ndarray
) -> np.ndarray:
    """Return the loss of one column of labels and predictions."""
    return function(y_true[:, position], y_pred[:, position])


def mean_of_tested(losses: np.ndarray, weights: np.ndarray | None) -> float:
    """Return the weighted mean loss of test samples. Raise an error if all weights are 0."""
    if weights is None:
        return float(losses.mean())
    largest = weights.max()
    if largest == 0:
        raise ValueError(
            "sample_weight must be positive for at least one test sample of cv, got only zeros."
        )
    return float(np.average(losses, weights=weights / largest))


class FitOptions(TypedDict, total=False):
    """Options that public functions with overloads share, for type checkers."""

    groups: Any
    params: Params
    sample_weight: Any
    confidence_level: float
    random_state: _checks.RandomStateLike
    n_jobs: int | None
    verbose: int
    memory: Any
    error_score: _checks.ErrorScore


@dataclass(frozen=True, eq=False)
class Inputs:
    """An estimator with its data, losses, weights and run options.

    Attributes
    ----------
    estimator : estimator
    X : indexable
    target : Target
        Labels or numeric target, and the groups of the samples.
    losses : tuple of Loss
        Losses to compute from the fits. Methods use the first. Empty if no loss is needed.
    weight : ndarray of shape (n_samples,) or None
        Sample weights of fits and of means of losses, as passed by the user.
    params : dict or None
        Other arguments of `fit`.
    n_jobs, verbose, memory, error_score
        Run options, as in scikit-learn.
    method : str
        Name of the method that repeats the fits, for results and error messages.
    confidence_level : float
        Nominal coverage of the intervals of results.
    counted : SamplingUnits or None
        Sampling units of the losses, if they are not the groups or the samples.
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
        """Group of each sample, or None if samples are independent."""
        return self.target.groups

    @property
    def loss(self) -> Loss:
        """The first of the losses."""
        return self.losses[0]

    @cached_property
    def units(self) -> SamplingUnits:
        """Sampling units that are held out together, by default groups or samples."""
        return self.counted or units_of(self.target, self.groups)

    @property
    def kept_together(self) -> np.ndarray | None:
        """Unit of each sample, or None if samples are independent."""
        if self.counted is not None and self.counted.kind is UnitKind.FOLD:
            return self.counted.unit
        return None if self.groups is None else units_of(self.target, self.groups).unit

    def loss_values(self, output: FitOutput) -> np.ndarray:
        """Return the loss of each prediction."""
        return self.loss(*self.loss.pair(self.target, self.target.codes[output.rows], output))

    def tested(self, output: FitOutput) -> TestLosses:
        """Return the loss of each prediction, with the weights and units of the samples."""
        return self.count(output.rows, self.loss_values(output))

    def count(self, rows: np.ndarray, losses: np.ndarray | None = None) -> TestLosses:
        """Return losses of some samples, by default 0, with the samples' weights and units."""
        losses = np.zeros(len(rows)) if losses is None else losses
        unit = self.units.unit[rows] if self.units.clustered else None
        return TestLosses(losses, None if self.weight is None else self.weight[rows], unit)

    @property
    def loss_methods(self) -> tuple[str, ...]:
        """Prediction methods required by the losses, which always include `predict`."""
        return ("predict", *sorted({loss.response for loss in self.losses} - {"predict"}))

    @cached_property
    def relative_weight(self) -> np.ndarray | None:
        """Sample weights scaled to mean 1, for weighted mean losses."""
        if self.weight is None:
            return None
        relative = self.weight / self.weight.max()  # their sum may overflow otherwise
        return relative / relative.mean()

    @property
    def tags(self) -> Any:
        """Tags of the estimator in scikit-learn."""
        return get_tags(self.estimator)

    @property
    def responses(self) -> list[str]:
        """The prediction methods to use, some of `RESPONSES`."""
        return [method for method in RESPONSES if hasattr(self.estimator, method)]

    def with_options(self, **settings: Any) -> Inputs:
        """Return the inputs with another estimator, or other samples, losses or run options."""
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
    several: bool = False,
    name: str = "estimator",
    **options: Any,
) -> Inputs:
    """Return the validated inputs of a public function.

    Without a loss (`with_loss`), every target of the estimator is valid. It may have several
    outputs if the function supports them (`several`). `name` is the name of the argument with the
    estimator. `options` are the run options, the method and the confidence level of the inputs.
    """
    # arguments in the wrong places, before the data are read
    _checks.check_confidence_level(options.get("confidence_level", 0.95))
    _checks.refuse_swapped_data(X, y)
    columns = {"y": y, "groups": groups, "sample_weight": sample_weight}
    if isinstance(params, Mapping):
        columns = {f"params[{name!r}]": array for name, array in params.items()} | columns
    _checks.refuse_shuffled_index({"X": X, **columns})
    # data
    X, target, _ = validate_data(estimator, X, y, groups, several=several, name=name)
    check_search(name, last_step(estimator))
    for step, part in find_biased(estimator):
        _checks.warn_user(
            f"{part._own_error} of {type(part).__name__} ignores the step {step} before it, which "
            "was fitted to the labels of all samples. The error may be far too low. Put the step "
            "inside, as in PerturbationResamplingSVC(estimator=make_pipeline(selector, SVC())) or "
            "CV2FeatureSelectionPipeline(selector)."
        )
        break
    n = len(target)
    # options of the run
    _checks.check_jobs(options.get("n_jobs"), options.get("verbose", 0))
    check_params(params, n)
    score = options.get("error_score", "raise")
    raises = isinstance(score, str) and score == "raise"
    if not raises and not (isinstance(score, Real) and score != score):
        raise ValueError(f"error_score must be 'raise' or numpy.nan, got {score!r}.")
    losses = (resolve_loss(loss, target, estimator),) if with_loss else ()
    weight = None if sample_weight is None else read_weight(estimator, sample_weight, params, n)
    return Inputs(estimator, X, target, losses, weight, params, **options)


def check_search(name: str, estimator: Any) -> None:
    """Raise an error if a search does not refit, or tries parameters that its estimator lacks."""
    if not isinstance(estimator, BaseSearchCV):
        return
    if getattr(estimator, "refit", True) is False:
        raise ValueError(f"refit of {name} must be True, a metric or a function, got False.")
    for argument in ("param_grid", "param_distributions"):
        grids = getattr(estimator, argument, None) or []
        grids = [grids] if isinstance(grids, Mapping) else grids
        refuse_unknown_params(argument, estimator.estimator, chain(*grids))


def refuse_unknown_params(argument: str, estimator: Any, names: Iterable[str]) -> None:
    """Raise an error if an argument contains names that are no parameters of an estimator."""
    known = estimator.get_params()
    for name in names:
        # the first part of a name, because the value of a step may replace it
        if name.partition("__")[0] not in known:
            inside = [one for one in known if one.endswith(f"__{name}")]
            hint = f" (did you mean {inside[0]!r}?)" if inside else _checks.suggest(name, known)
            raise ValueError(
                f"{argument} must contain parameters of {type(estimator).__name__}, got {name!r}"
                f"{hint}."
            )


class HintsAtParams:
    """Estimator that suggests a parameter of its parts for an unknown one."""

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the estimator and of its parts.

        Parameters
        ----------
        **params : dict
            Parameters, such as ``cv`` or ``classifier__C``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the estimator has no such parameter.
        """
        refuse_unknown_params("params", self, params)
        return super().set_params(**params)  # type: ignore[misc]


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
    """Yield steps that use the labels, and parts after them whose own error ignores this step.

    `before` is the name of such a step before `estimator`.
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
"""Methods of an estimator, and the methods of its parts that they call, as in a pipeline."""
for _method in ("fit", *RESPONSES, "predict_log_proba"):
    OF_SELECTOR.add(caller=_method, callee="transform")
    OF_CLASSIFIER.add(caller=_method, callee=_method)
OF_SELECTOR.add(caller="fit", callee="fit").add(caller="transform", callee="transform")


def read_weight(estimator: Any, sample_weight: Any, params: Params, n_samples: int) -> np.ndarray:
    """Return checked sample weights. Raise if no fit accepts them or `params` has others."""
    check_takes_weights(estimator)
    # weights may come from one argument only
    weights = _checks.check_weights("sample_weight", sample_weight, n_samples)
    twice = sorted(weight_parameters(estimator, weights).keys() & (params or {}).keys())
    if twice:
        raise ValueError(f"sample_weight and params[{twice[0]!r}] must not both be passed.")
    return weights


Params = Mapping[str, Any] | None
"""Arguments of `fit`, as in `sklearn.model_selection.cross_validate`."""

ENSEMBLES = (StackingClassifier, StackingRegressor, VotingClassifier, VotingRegressor)
"""Ensembles whose `fit` accepts weights through ``**fit_params`` from scikit-learn 1.7 on."""


def forwards(estimator: Any) -> Any:
    """Return the part of an estimator that receives the arguments of its `fit`, or None.

    Such estimators are searches, and selectors and regressors that wrap another estimator. `RFECV`
    accepts only groups.
    """
    if isinstance(estimator, BaseSearchCV | SelectFromModel):
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
    """Whether `fit` has `sample_weight`. Some ensembles have it among other arguments."""
    return has_fit_parameter(estimator, "sample_weight") or isinstance(estimator, ENSEMBLES)


def splits_by_groups(estimator: Any) -> bool:
    """Whether `fit` takes groups, and a splitter among the parameters requests them."""
    if isinstance(estimator, BaseSearchCV | RFECV):
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
                f"enabled, but no part of {type(estimator).__name__} does."
            )
        return
    # the estimator that is fitted last, inside pipelines and wrappers
    *_, (prefix, final) = list_receivers(estimator)
    if not takes_weights(final):
        where = type(final).__name__
        where = f"its last step {prefix.removesuffix('__')!r} ({where})" if prefix else where
        raise TypeError(f"estimator must accept sample_weight in fit, but {where} does not.")


def weight_parameters(estimator: Any, weights: np.ndarray | None) -> dict[str, np.ndarray]:
    """Return the keyword arguments of `fit` that pass weights to all steps that accept them.

    A scaler before a classifier is part of the procedure, so it is weighted too. With metadata
    routing, it receives the arguments that it requests.
    """
    return {} if weights is None else _hand_on(estimator, "sample_weight", weights, takes_weights)


def drop_unweighted(
    X: Any, y: np.ndarray, weights: np.ndarray, groups: np.ndarray | None, cv: Any
) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray | None, Any]:
    """Return samples, labels, weights, groups and folds without the samples of weight 0.

    Ensembles omit samples by weights of 0, and test on them.
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
                "sample_weight must be positive for at least one training sample and one test "
                "sample of each fold, but is 0 for all of them in a fold."
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
    """Return the keyword arguments of `fit` for each part of an estimator, as a dict.

    With metadata routing, each part receives what it requests, as the steps of a pipeline do.
    Otherwise, all parts that accept weights and groups receive them.
    """
    # with routing, each part states what it requests
    if get_config()["enable_metadata_routing"]:
        routed = process_routing(router, "fit", **metadata)
        return {name: routed[name].fit for name in parts}
    # without routing there are only weights and groups
    unknown = sorted(metadata.keys() - {"sample_weight", "groups"})
    if unknown:
        raise TypeError(
            f"{type(router).__name__}.fit got an unexpected argument {unknown[0]!r}. Arguments "
            "besides sample_weight and groups need "
            "sklearn.set_config(enable_metadata_routing=True) and an estimator that requests them."
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

    Without metadata routing, the part with the same method receives all of them, as in a pipeline.
    """
    if not get_config()["enable_metadata_routing"]:
        return metadata if callee == method else {}
    return process_routing(router, method, **metadata)[part][callee]


def check_params(params: Params, n_samples: int) -> None:
    """Raise an error unless `params` are arguments of `fit` by name, with one weight per sample."""
    if params is None:
        return
    if not isinstance(params, Mapping) or not all(isinstance(name, str) for name in params):
        raise TypeError(f"params must be None or a dict of arguments of fit, got {params!r}.")
    for name, value in params.items():
        # a pipeline's arguments have the name of the step in front, as in svc__sample_weight
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

    `groups` and `params` cover all samples. `params`, from the user, overrides the rest.
    """
    # weights are already selected by row; groups and params are not
    arguments = {**group_parameters(estimator, groups), **(params or {})}
    return {**weight_parameters(estimator, weights), **params_of_rows(X, arguments, rows)}


MAX_MEAN_COUNT = 10
"""Maximum mean of integer weights that are treated as repeated rows, unlike those of a survey."""


def find_unweighted(steps: Any, weights: np.ndarray) -> list[Any]:
    """Return the steps whose fit accepts no weights, or none if the weights are equal."""
    if np.ptp(weights) == 0:
        return []
    parts = [step for _, step in list_receivers(steps) if not isinstance(step, Pipeline)]
    # under metadata routing, a part that gets no weights has refused them
    return [
        step
        for step in parts
        if hasattr(step, "fit") and not (is_routed(step) or weight_parameters(step, weights))
    ]


def repeat_rows(steps: Any, X: Any, metadata: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the rows to fit and their arguments. Warn if weights cannot reach a step.

    Ensembles pass the counts of a bootstrap sample as weights. If a step accepts no weights, each
    row is repeated as often as its count, and the fit needs no weights.
    """
    weights = metadata.get("sample_weight")
    if weights is None or not find_unweighted(steps, weights):
        return slice(None), metadata
    if weights.mean() > MAX_MEAN_COUNT or np.any(weights % 1):
        warn_unweighted(steps, weights)
        return slice(None), metadata
    rows = np.repeat(np.arange(len(weights)), weights.astype(np.intp))
    others = {name: value for name, value in metadata.items() if name != "sample_weight"}
    return rows, params_of_rows(X, others, rows)


def warn_unweighted(steps: Any, weights: np.ndarray) -> None:
    """Warn if unequal weights do not reach a selector or another step that uses the labels."""
    for step in find_unweighted(steps, weights):
        if uses_labels(step):
            _checks.warn_user(
                f"sample_weight does not reach {type(step).__name__}, whose fit does not accept "
                "it, so features are selected without weights."
            )
