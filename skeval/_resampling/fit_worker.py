"""One fit in a joblib worker: train a clone of the estimator and read its outputs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from skeval._resampling.fit_outputs import FitOutput, join_outputs
from skeval._resampling.fit_params import Params, fit_arguments, weight_parameters
from skeval._resampling.fit_request import FitRequest
from skeval._resampling.inputs import Inputs
from skeval._resampling.jobs import Jobs
from skeval._resampling.plans import Fit, PlanBlock, ResamplingPlan
from skeval._resampling.target import Target, permute_labels
from skeval.utils._compat import safe_split


@dataclass(eq=False, repr=False)
class FitWorker:
    """Fits clones of an estimator and reads the requested outputs.

    Under ``error_score=numpy.nan`` a fit may fail.
    """

    estimator: Any
    X: Any
    target: Target
    params: Params
    request: FitRequest
    error_score: float | str
    models: dict[bytes, Any] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"models": {}}  # results do not depend on models

    def keep_model(self, fit: Fit) -> Any:
        """Return the model of a trial fit, and keep it for the loop."""
        key = identify(fit)
        if key not in self.models:
            rows = fit.training_rows
            labels = permute_labels(self.target.given, fit.order)
            self.models[key] = self._fit(fit, rows, *self._split(labels, rows))
        return self.models[key]

    def read_samples(self, fit: Fit) -> Any:
        """Return the tested samples as input of the model of a fit; a kernel loses columns."""
        return self._split(self.target.given, np.flatnonzero(fit.test), fit.training_rows)[0]

    def _fit(self, fit: Fit, rows: np.ndarray, train: Any, train_labels: Any) -> Any:
        """Return a clone of the estimator, fitted."""
        model = clone(self.estimator)
        groups = self.target.groups
        arguments = fit_arguments(model, self.X, self.params, fit.weights, groups, rows)
        return model.fit(train, train_labels, **arguments)

    def __call__(self, fit: Fit) -> FitOutput:
        rows, tested = fit.training_rows, np.flatnonzero(fit.test)
        labels = permute_labels(self.target.given, fit.order)
        train, train_labels = self._split(labels, rows)
        # the test part of a kernel has the columns of the training rows
        test, test_labels = self._split(labels, tested, rows)
        # a trial fit is not repeated
        model = self.models.get(identify(fit)) if self.models else None
        try:
            if model is None:
                model = self._fit(fit, rows, train, train_labels)
            columns = self.request.read(model, test, test_labels, self.target)
        except Exception as error:
            if self.error_score == "raise":
                # `explaining_errors` looks them up in the plan
                vars(error)["training_rows"] = rows
                raise
            return FitOutput(fit.test[None], np.ones(1, dtype=bool))
        if "predicted" in columns:
            columns["predicted"] = self.target.encode(columns["predicted"], len(tested))
        return FitOutput(fit.test[None], np.zeros(1, dtype=bool), **columns)

    def complete(self, output: FitOutput, block: PlanBlock, jobs: Jobs | None = None) -> FitOutput:
        """Return the output of a block; fits without a solution are done one by one."""
        left = np.flatnonzero(output.failed).tolist()
        if not left:
            return replace(output, n_solved=len(output))
        # merge single fits into the output in the order of the block
        fits = [block[r] for r in left]
        fitted = dict(zip(left, map(self, fits) if jobs is None else jobs(fits), strict=True))
        joined = join_outputs([fitted.get(r, part) for r, part in enumerate(output)])
        return replace(joined, n_solved=len(output) - len(left))

    @cached_property
    def _plain(self) -> bool:
        """Whether samples are rows of an array, which can be indexed directly."""
        arrays = type(self.X) in (np.ndarray, np.memmap) and type(self.target.given) is np.ndarray
        return arrays and not get_tags(self.estimator).input_tags.pairwise

    def _split(
        self, labels: Any, rows: np.ndarray, columns: np.ndarray | None = None
    ) -> tuple[Any, Any]:
        """Return some samples and their labels; of a kernel, the columns of the training rows."""
        if self._plain:
            return take_rows(self.X, rows), labels[rows]
        parts: tuple[Any, Any] = safe_split(self.estimator, self.X, labels, rows, columns)
        return parts


def make_worker(inputs: Inputs, plan: ResamplingPlan, request: FitRequest) -> FitWorker:
    """Return the worker that fits a plan; it shares the models of trial fits with the inputs."""
    estimator, params = inputs.estimator, dict(inputs.params or {})
    if inputs.weight is not None and not plan.weighted:
        # all steps that take weights get them, unless the user specifies otherwise
        params = {**weight_parameters(estimator, inputs.weight), **params}
    models = {} if params else inputs.trial_models
    estimator, X, target = clone(estimator), inputs.X, inputs.target
    return FitWorker(estimator, X, target, params, request, inputs.error_score, models)


def identify(fit: Fit) -> bytes:
    """Return a key that identifies the training samples, in order, and their labels."""
    parts = (fit.train, fit.order, fit.rows)
    return b"".join(b"-" if part is None else part.tobytes() for part in parts)


def take_rows(X: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return rows of an array, in the same memory layout as by indexing."""
    X = np.asarray(X)  # joblib maps large arrays for other processes
    # take is faster
    return X.take(rows, axis=0) if X.flags.c_contiguous else X[rows]
