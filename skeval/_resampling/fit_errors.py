"""Errors of fits, with the values in X or the training set that caused them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse

from skeval._resampling.inputs import Inputs
from skeval._resampling.plans import ResamplingPlan
from skeval.utils._checks import count_dimensions, find_missing


def explain_error(error: Exception, inputs: Inputs, plan: ResamplingPlan) -> Exception:
    """Return an error that locates values in X or describes the training set, or the error."""
    explained = explain_inputs(error, inputs.X) or explain_call(error, inputs)
    if explained is not None:
        return explained
    rows = getattr(error, "training_rows", None)
    if rows is None or not plan.single_fits:
        return error
    explanation = explain_failure(inputs, rows)
    # other error types keep their type and traceback
    if type(error) is not ValueError or inputs.target.classes is None:
        error.add_note(f"skeval: {explanation}.")
        return error
    return ValueError(f"{explanation}: {error}")


def explain_failure(inputs: Inputs, rows: np.ndarray) -> str:
    """Return the size of a failed fit's training set, and its rarest or only class."""
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


def explain_call(error: Exception, inputs: Inputs) -> Exception | None:
    """Return an error that names the argument, or the estimator, behind an error of a fit."""
    text = str(error)
    for name in inputs.params or {}:
        if isinstance(error, TypeError) and f"argument '{name}'" in text:
            return TypeError(f"params must be arguments of fit, got {name!r}: {text}.")
    if "inhomogeneous shape" in text and count_dimensions(inputs.X) == 1:
        return ValueError(f"X must have rows of equal length for this estimator: {text}")
    if "should be a 1d array" in text and inputs.target.outputs:
        return ValueError(
            f"y must have one column for this estimator, got {len(inputs.target.outputs)}. "
            "If each column is a class, pass np.asarray(y).argmax(axis=1)."
        )
    return None


MAX_NAMED, MAX_QUOTED = 5, 120
NO_TEXTS = r"could not convert string|arrays of bytes/strings|Expected 2D array, got 1D array"
"""Messages of scikit-learn's estimators about strings."""


def explain_inputs(error: Exception, X: Any) -> Exception | None:
    """Return an error that locates the values or strings in X that made a fit fail."""
    if re.search("(?i)datetime|timestamp", str(error)) and hasattr(X, "columns"):
        dates = [repr(name) for name in X.columns if np.asarray(X[name]).dtype.kind in "Mm"]
        return TypeError(
            f"X must contain numbers for this estimator, got dates in {', '.join(dates)}. Convert "
            "them to numbers, such as days since the first date. skeval.evaluate(..., "
            "time='column') leaves a column of dates out of X and sorts the samples by it."
        )
    if not isinstance(error, ValueError):
        return None
    # missing and infinite values, which may also be in single columns
    if "contains NaN" in str(error) and (located := locate_values(X, find_missing)):
        return ValueError(
            f"X must not have missing values for this estimator, got {located}. Put SimpleImputer "
            "before it in a pipeline, or use an estimator that supports them, such as "
            "HistGradientBoostingClassifier."
        )
    if "contains infinity" in str(error) and (located := locate_values(X, find_infinite)):
        return ValueError(
            f"X must be finite for this estimator, got infinite values, {located}. Correct them, "
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
                f"X must have two dimensions for this estimator, got the shape {np.shape(X)}. For "
                "a single feature, pass np.reshape(X, (-1, 1)), or X.to_frame() for a pandas "
                "Series."
            )
    else:
        columns = [name for name in X.columns if has_texts(X[name])]
        texts, named = X[columns], ", ".join(repr(str(name)) for name in columns)
        where = f"in the column{'s' * (len(columns) > 1)} {named}"
        remedy = "OneHotEncoder in a ColumnTransformer (TfidfVectorizer for free text)"
    if not columns:
        return None
    advice = "Convert them with X.astype(float), after replacing decimal commas with points"
    try:  # numbers as text, with a decimal point or comma
        np.char.replace(np.asarray(texts).astype(str), ",", ".").astype(float)
    except ValueError:
        advice = f"Put an encoder, such as {remedy}, before it in a pipeline"
    raised = str(error) if len(str(error)) < MAX_QUOTED else f"{str(error)[:MAX_QUOTED]} ..."
    return ValueError(
        f"X must contain numbers for this estimator, got strings {where}. {advice}. The estimator "
        f"raised: {raised}"
    )


def locate_values(X: Any, find: Callable[[np.ndarray], np.ndarray]) -> str:
    """Return the number of values of a table that `find` marks, and the names of their columns.

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
    return np.isinf(values)


def has_texts(values: Any) -> bool:
    """Whether some of the values are strings."""
    array = np.asarray(values)
    return array.dtype.kind in "US" or any(isinstance(value, str) for value in array.flat)
