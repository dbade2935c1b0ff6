"""Validated inputs of a public function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real
from typing import Any, TypedDict

import numpy as np
from sklearn.utils import get_tags

from skeval._inference.errors import TestLosses
from skeval._resampling.fit_outputs import RESPONSES, FitOutput
from skeval._resampling.fit_params import Params, check_params, read_weight
from skeval._resampling.label_steps import warn_biased_error
from skeval._resampling.losses import Loss, LossLike, resolve_loss
from skeval._resampling.plans import PlanBlock
from skeval._resampling.sampling_units import SamplingUnits, UnitKind, units_of
from skeval._resampling.target import Target, validate_data
from skeval.utils import _checks
from skeval.utils._checks import RandomStateLike
from skeval.utils._options import ErrorScore


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
    finished : list of (PlanBlock, FitOutput) or None
        Outputs of the fits, if several results share them; `fit_plan` fills an empty list.
    shared : dict
        The adapter of the estimator on X, the same for all plans and options.
    trial_models : dict
        Models of trial fits by training set, which need not be fitted again.
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
    finished: list[tuple[PlanBlock, FitOutput]] | None = None
    shared: dict[str, Any] = field(default_factory=dict, repr=False)
    trial_models: dict[bytes, Any] = field(default_factory=dict, repr=False)

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
        unit = None if self.units.n_groups is None else self.units.unit[rows]
        return TestLosses(losses, None if self.weight is None else self.weight[rows], unit)

    @property
    def n_groups(self) -> int | None:
        """Number of sampling units; None if these are single samples."""
        return None if self.units.kind is UnitKind.SAMPLE else self.units.n_groups

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
        X = self.X if X is None else X
        return replace(self, estimator=estimator, X=X, shared={}, trial_models={})

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
    _checks.check_confidence_level(confidence_level)
    _checks.refuse_swapped_data(X, y)
    columns = {"y": y, "groups": groups, "sample_weight": sample_weight}
    if isinstance(params, Mapping):
        columns = {f"params[{name!r}]": array for name, array in params.items()} | columns
    _checks.refuse_shuffled_index(X, columns)
    X, target, _ = validate_data(estimator, X, y, groups, several=several)
    warn_biased_error(estimator)
    n = len(target)
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
