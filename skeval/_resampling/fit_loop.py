"""The loop over the fits of a plan, the worker that does one fit, and the errors of fits.

The loop yields the outputs of the fits block by block. An error names the rarest class of its
training set, or the missing values and texts in X.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils import get_tags

from skeval._resampling.fit_outputs import FitOutput, join_outputs
from skeval._resampling.fit_request import FitRequest
from skeval._resampling.inputs import Inputs, Params, fit_arguments, weight_parameters
from skeval._resampling.jobs import open_jobs
from skeval._resampling.plans import Fit, PlanBlock, ResamplingPlan
from skeval._resampling.sampling_units import Target, TooFewMembersError, permute_labels
from skeval.utils._checks import find_missing
from skeval.utils._compat import count_dimensions, safe_split, threadpool_controller

Outputs = Iterator[tuple[PlanBlock, FitOutput]]
"""The blocks of a plan, each with the outputs of its fits."""


def run_plan(
    plan: ResamplingPlan,
    worker: FitWorker,
    options: dict[str, Any],
    solver: Any = None,
    first_block: int | None = None,
) -> Outputs:
    """Yield each block of a plan with the outputs of its fits.

    The solver, from the layer above, fits a block at once. If it reuses work between blocks
    (`in_process`), it stays in the calling process. Without a solver, joblib workers clone and fit
    the estimator. The first block has at most `first_block` draws, for a caller that may stop
    early; each further block is as large as all blocks before it. `options` are the number of jobs,
    verbosity and memory.
    """
    if solver is None:
        # a job is one fit; single fits are handed out as soon as they are done
        blocks = plan.blocks(1 if plan.single_fits else None, first_block)
        with open_jobs(worker, total=plan.n_fits, **options) as jobs:
            for block, outputs in jobs.stream(blocks):
                yield block, join_outputs(outputs)
        return
    # A job is a block. Its size does not depend on the workers or the number of repetitions,
    # because batching may change the last digits of a solution.
    elements = MAX_ELEMENTS if solver.in_process else SOLVED_ELEMENTS
    size = max(FITS_OF_BLOCK, elements // plan.n_samples)
    if plan.single_fits:
        size = min(size, max(SHOWN_FITS, MAX_ELEMENTS // plan.n_samples))
    size = max(size, plan.fits_per_draw)
    # a single block is not worth a second process
    if solver.in_process or plan.n_fits <= size:
        options = options | {"n_jobs": 1}
    # jobs in threads of this process would undo each other's limit
    one_thread = threadpool_controller().limit(limits=1, user_api="blas")
    with one_thread, open_jobs(solver, total=plan.n_fits, blocks=True, **options) as jobs:
        for block, (output,) in jobs.stream(plan.blocks(size, first_block)):
            yield block, output


class NoFitLeftError(ValueError):
    """All fits of a plan failed under ``error_score=numpy.nan``."""


FITS_OF_BLOCK = 256
"""Minimum number of fits in a block for a solver.

With fewer, the pilot fits, whose number is constant, would cost too much.
"""

SOLVED_ELEMENTS = 2**16
"""Elements of a (fits, n_samples) array; a block of at most this size is not divided."""

SHOWN_FITS = 10
"""Minimum number of fits in a block if fits are returned one by one: enough for an interval."""

MAX_ELEMENTS = 2**18
"""Maximum number of elements of a block if a solver reuses work, so that it stays in the cache, or
if fits are returned one by one: about a second, the work that Ctrl-C loses."""


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
                # for `explaining_errors`
                vars(error)["training_rows"] = rows
                raise
            return FitOutput(fit.test[None], np.ones(1, dtype=bool))
        if "predicted" in columns:
            columns["predicted"] = self.target.encode(columns["predicted"], len(tested))
        return FitOutput(fit.test[None], np.zeros(1, dtype=bool), **columns)

    def complete(self, output: FitOutput, block: PlanBlock) -> FitOutput:
        """Return the output of a block; fits without a solution are done one by one."""
        left = np.flatnonzero(output.failed).tolist()
        if not left:
            return replace(output, n_solved=len(output))
        # merge single fits into the output in the order of the block
        fitted = {r: self(block[r]) for r in left}
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
            X = np.asarray(self.X)  # joblib maps large arrays for other processes
            # `take` is faster than an index, and gives the same memory layout
            part = X.take(rows, axis=0) if X.flags.c_contiguous else X[rows]
            return part, labels[rows]
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


def check_plan(inputs: Inputs, plan: ResamplingPlan) -> ResamplingPlan:
    """Return a plan with the weights of its single fits; raise for draws of a single class."""
    target = inputs.target
    if not plan.single_fits:
        return plan

    def draw(fit: int) -> PlanBlock:
        block = plan.draw(fit)
        (train,) = block.train
        if target.classes is not None:
            codes = target.codes[train > 0]
            if (codes == codes[:1]).all():
                names, sizes = np.unique(target.y, return_counts=True)
                rarest, only = names.tolist()[int(sizes.argmin())], names[codes[:1]].tolist()
                what = f"class {only[0]!r} only" if only else "no sample"
                raise TooFewMembersError(
                    f"y has too few samples of class {rarest!r}, {sizes.min()}, for "
                    f"method={inputs.method!r}: a training set has {what}. "
                    "Collect more samples of this class, or merge it with another class."
                )
        if inputs.weight is None:
            return block
        # counts become weights; training rows are then not repeated
        return replace(block, train=block.train * inputs.weight)

    return replace(plan, draw=draw, weighted=inputs.weight is not None)


@contextmanager
def explaining_errors(inputs: Inputs, plan: ResamplingPlan) -> Iterator[None]:
    """Locate missing values and strings in the error of a fit, or describe its training set."""
    try:
        yield
    except Exception as error:
        explained = explain_inputs(error, inputs.X)
        if explained is not None:
            raise explained from error
        rows = getattr(error, "training_rows", None)
        if rows is None or not plan.single_fits:
            raise
        explanation = explain_failure(inputs, rows)
        # other error types keep their type and traceback
        if type(error) is not ValueError or inputs.target.classes is None:
            error.add_note(f"skeval: {explanation}.")
            raise
        raise ValueError(f"{explanation}: {error}") from error


def explain_failure(inputs: Inputs, rows: np.ndarray) -> str:
    """Return the size of a training set on which a fit failed, and its rarest or only class."""
    target = inputs.target
    explanation = f"method={inputs.method!r}: estimator failed on {len(rows)} training samples"
    if target.output_classes:
        constant = np.array(target.outputs)[np.ptp(target.codes[rows], axis=0) == 0]
        if len(constant):
            explanation += f", all with the same value of {', '.join(constant[:MAX_NAMED])}"
    if target.classes is None:
        return explanation
    sizes = np.bincount(target.codes[rows], minlength=len(target.classes))
    rarest = target.classes.tolist()[int(sizes.argmin())]
    return f"{explanation}, of which {sizes.min()} have class {rarest!r}"


MAX_NAMED = 5
NO_TEXTS = r"could not convert string|arrays of bytes/strings|Expected 2D array, got 1D array"
"""Messages of scikit-learn's estimators about strings."""


def explain_inputs(error: Exception, X: Any) -> Exception | None:
    """Return an error that locates the values or strings in X that made a fit fail."""
    if not isinstance(error, ValueError):
        return None
    # missing and infinite values, which may also be in single columns
    if "contains NaN" in str(error) and (located := locate_values(X, find_missing)):
        return ValueError(
            f"X must not have missing values for this estimator, got {located}; put SimpleImputer "
            "before it in a pipeline, or use an estimator that supports them, such as "
            "HistGradientBoostingClassifier."
        )
    if "contains infinity" in str(error) and (located := locate_values(X, find_infinite)):
        return ValueError(
            f"X must be finite for this estimator, got infinite values, {located}; correct them, "
            "or replace them by nan and put SimpleImputer before it in a pipeline."
        )
    if re.search(NO_TEXTS, str(error)) is None:
        return None
    # texts, and the encoder for them
    if not hasattr(X, "columns"):
        columns, texts, where = [""] * has_texts(X), X, "instead of numbers"
        remedy = "OneHotEncoder" if count_dimensions(X) == 2 else "CountVectorizer"
        if count_dimensions(X) == 1 and not columns:
            return ValueError(
                "X must have two dimensions for this estimator, got the shape "
                f"{np.shape(X)}; for a single feature give np.reshape(X, (-1, 1)), or X.to_frame() "
                "for a pandas Series."
            )
    else:
        columns = [name for name in X.columns if has_texts(X[name])]
        texts, named = X[columns], ", ".join(repr(str(name)) for name in columns)
        where = f"in the column{'s' * (len(columns) > 1)} {named}"
        remedy = "OneHotEncoder in a ColumnTransformer (TfidfVectorizer for free text)"
    if not columns:
        return None
    advice = "convert them by X.astype(float), after replacing decimal commas by points"
    try:  # numbers as text, with a decimal point or comma
        np.char.replace(np.asarray(texts).astype(str), ",", ".").astype(float)
    except ValueError:
        advice = f"put an encoder, such as {remedy}, before it in a pipeline"
    return ValueError(
        f"X must contain numbers for this estimator, got strings {where}; {advice}. The estimator "
        f"raised: {error}"
    )


def locate_values(X: Any, find: Callable[[np.ndarray], np.ndarray]) -> str:
    """Return the number of the values of a table that `find` marks, and the names of their columns.

    The result is empty if there are no such values.
    """
    array = np.asarray(X.data if issparse(X) else X)
    marked = find(array.ravel()).reshape(array.shape)
    if not marked.any() or array.ndim != 2:
        return f"{marked.sum()}" if marked.any() else ""
    names = list(X.columns) if hasattr(X, "columns") else range(array.shape[1])
    columns = [repr(names[at]) for at in np.flatnonzero(marked.any(axis=0)).tolist()]
    more = f" and {len(columns) - MAX_NAMED} more" if len(columns) > MAX_NAMED else ""
    listed = ", ".join(columns[:MAX_NAMED])
    return f"{marked.sum()} in column{'s' * (len(columns) > 1)} {listed}{more}"


def find_infinite(values: np.ndarray) -> np.ndarray:
    """Return a mask of the infinite values of a vector."""
    if values.dtype.kind == "O":
        return np.array([isinstance(value, float) and np.isinf(value) for value in values])
    infinite: np.ndarray = np.isinf(values)
    return infinite


def has_texts(values: Any) -> bool:
    """Whether some of the values are strings."""
    array = np.asarray(values)
    return array.dtype.kind in "US" or any(isinstance(value, str) for value in array.flat)
