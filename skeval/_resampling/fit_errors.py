"""Errors of fits: they name the fit, its rarest class, and the missing values or texts in X."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from skeval._resampling.inputs import Inputs
from skeval._resampling.plans import PlanBlock, ResamplingPlan
from skeval._resampling.target import TooFewMembersError
from skeval.utils._checks import find_missing
from skeval.utils._samples import count_dimensions


def check_plan(inputs: Inputs, plan: ResamplingPlan) -> ResamplingPlan:
    """Return a plan with names and weights of its fits; raise for draws of a single class."""
    target, describe = inputs.target, plan.describe
    if describe is None:
        return plan

    def draw(fit: int) -> PlanBlock:
        block = plan.draw(fit)
        (train,) = block.train
        if target.classes is not None:
            codes = target.codes[train > 0]
            if np.all(codes == codes[:1]):
                raise TooFewMembersError(explain_one_class(inputs, describe(fit), codes))
        if inputs.weight is None:
            return block
        # counts become weights; training rows are then not repeated
        return replace(block, train=block.train * inputs.weight)

    return replace(plan, draw=draw, weighted=inputs.weight is not None)


def explain_one_class(inputs: Inputs, which: str, codes: np.ndarray) -> str:
    """Return the message about a training set of one class."""
    names, sizes = np.unique(inputs.target.y, return_counts=True)
    rarest, present = names.tolist()[int(sizes.argmin())], np.unique(codes)
    what = f"class {names.tolist()[present[0]]!r} only" if len(present) else "no sample"
    return (
        f"y has too few samples of class {rarest!r}, {sizes.min()}, for "
        f"method={inputs.method!r}: the training set {which} holds {what}. Collect more samples of "
        "this class, or merge it with another class."
    )


@contextmanager
def explaining_errors(inputs: Inputs, plan: ResamplingPlan) -> Iterator[None]:
    """Locate missing values and texts in the error of a fit, or name the fit."""
    try:
        yield
    except Exception as error:
        explained = explain_inputs(error, inputs.X)
        if explained is not None:
            raise explained from error
        rows = getattr(error, "training_rows", None)
        if rows is None or plan.describe is None:
            raise
        explanation = explain_failure(inputs, plan, np.asarray(rows))
        # other error types keep their type and traceback
        if type(error) is not ValueError or inputs.target.classes is None:
            error.add_note(f"skeval: {explanation}.")
            raise
        raise ValueError(f"{explanation}: {error}") from error


def explain_failure(inputs: Inputs, plan: ResamplingPlan, rows: np.ndarray) -> str:
    """Return the name of the fit with this training set, and the size of its rarest class."""
    assert plan.describe is not None
    # joblib returns only the error, so find the fit by its training rows
    fits = range(plan.n_fits)
    fit = next(f for f in fits if np.array_equal(plan.draw(f)[0].training_rows, rows))
    explanation = f"method={inputs.method!r}: estimator failed {plan.describe(fit)}"
    if inputs.target.output_classes:
        trained = inputs.target.codes[rows]
        constant = np.array(inputs.target.outputs)[np.ptp(trained, axis=0) == 0]
        if len(constant):
            explanation += f", whose samples all have the same value of {', '.join(constant[:5])}"
    if inputs.target.classes is None:
        return explanation
    sizes = np.bincount(inputs.target.codes[rows], minlength=len(inputs.target.classes))
    rarest = inputs.target.classes.tolist()[int(sizes.argmin())]
    return f"{explanation}, where class {rarest!r} has {sizes.min()} of {len(rows)} samples"


NO_MISSING, INFINITE, MAX_NAMED = "contains NaN", "contains infinity", 5
MIXED_NAMES = "Feature names are only supported if all input features have string names"
NO_TEXTS = "could not convert string|arrays of bytes/strings|Expected 2D array, got 1D array"
"""Messages of scikit-learn's estimators about texts."""


def explain_inputs(error: Exception, X: Any) -> Exception | None:
    """Return an error that locates the values or texts in X that made a fit fail."""
    if isinstance(error, TypeError) and MIXED_NAMES in str(error):
        kinds = sorted({type(name).__name__ for name in X.columns})
        return TypeError(
            f"X must have column names that are all strings, got {' and '.join(kinds)}; "
            "X.rename(columns=str) makes them strings."
        )
    if not isinstance(error, ValueError):
        return None
    if NO_MISSING in str(error):
        return _explain_missing(X)
    if INFINITE in str(error):
        return _explain_infinite(X)
    if re.search(NO_TEXTS, str(error)) is None:
        return None
    if count_dimensions(X) == 1 and not holds_texts(X):
        return ValueError(
            f"X must have two dimensions for this estimator, got the shape {np.shape(X)}; for a "
            "single feature give np.reshape(X, (-1, 1)), or X.to_frame() for a pandas Series."
        )
    if hasattr(X, "columns"):
        columns = [str(name) for name in X.columns if holds_texts(X[name])]
        what = f"in the column{'s' * (len(columns) > 1)} {', '.join(map(repr, columns))}"
        remedy = "OneHotEncoder in a ColumnTransformer (TfidfVectorizer for free text)"
    else:
        columns, what = [""] * holds_texts(X), "instead of numbers"
        remedy = "OneHotEncoder" if count_dimensions(X) == 2 else "CountVectorizer"
    if not columns:
        return None
    advice = f"put an encoder, such as {remedy}, before it in a pipeline"
    texts = X[[name for name in X.columns if holds_texts(X[name])]] if columns[0] else X
    if _are_numbers_as_text(texts):
        advice = "convert them by X.astype(float), after replacing decimal commas by points"
    return ValueError(
        f"X must hold numbers for this estimator, got texts {what}; {advice}. The estimator "
        f"raised: {error}"
    )


def _are_numbers_as_text(values: Any) -> bool:
    """Whether all texts are numbers, with a decimal point or comma."""
    try:
        np.char.replace(np.asarray(values).astype(str), ",", ".").astype(float)
    except ValueError:
        return False
    return True


def _explain_infinite(X: Any) -> Exception | None:
    """Return an error that counts the infinite values of a table, and names its columns."""
    array = np.asarray(X.data if issparse(X) else X)
    if array.dtype.kind not in "fO":
        return None
    infinite = np.isinf(array.astype(float))
    n_infinite = int(np.sum(infinite))
    if not n_infinite:
        return None
    where = ""
    if array.ndim == 2:
        names = list(X.columns) if hasattr(X, "columns") else range(array.shape[1])
        first = names[int(np.flatnonzero(infinite.any(axis=0))[0])]
        where = f", the first in column {first!r}"
    return ValueError(
        f"X must be finite for this estimator, got {n_infinite} infinite "
        f"value{'s' * (n_infinite > 1)}{where}; "
        "correct them, or replace them by nan and put SimpleImputer before it in a pipeline."
    )


def _explain_missing(X: Any) -> Exception | None:
    """Return an error that counts the missing values of a table, and names its columns."""
    array = np.asarray(X) if not issparse(X) else X.data
    missing = find_missing(array.ravel()).reshape(array.shape)
    n_missing = int(np.sum(missing))
    if not n_missing:
        return None
    where = ""
    if array.ndim == 2:
        positions = np.flatnonzero(missing.any(axis=0)).tolist()
        names = list(X.columns) if hasattr(X, "columns") else range(array.shape[1])
        columns = [repr(names[position]) for position in positions]
        more = f" and {len(columns) - MAX_NAMED} more" if len(columns) > MAX_NAMED else ""
        where = f" in column{'s' * (len(columns) > 1)} {', '.join(columns[:MAX_NAMED])}{more}"
    return ValueError(
        f"X must not hold missing values for this estimator, got {n_missing}{where}; put "
        "SimpleImputer before it in a pipeline, or use an estimator that takes them, such as "
        "HistGradientBoostingClassifier."
    )


def holds_texts(values: Any) -> bool:
    """Whether some of the values are texts."""
    array = np.asarray(values)
    return array.dtype.kind in "US" or any(isinstance(value, str) for value in array.flat)
