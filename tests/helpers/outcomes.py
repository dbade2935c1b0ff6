"""What a call may end in: a value, or an error of a documented type that says what is wrong."""

import inspect
import pickle
import re
import warnings
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from numbers import Real

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.exceptions import UndefinedMetricWarning

from skeval.cluster import NClustersChoice
from skeval.metrics import Curve
from skeval.model_selection import Estimate
from skeval.report import Report

# The estimates, by name and method, whose docstring says that they have no standard error.
NO_STANDARD_ERROR = {
    ("area under the cost curve", "cost_curve"),
    ("average precision", "exact"),
    ("expected calibration error", "quantile"),
    ("expected calibration error", "uniform"),
    ("expected loss", "quadrature"),
}


def without_progress(text):
    """Return what a command wrote on standard error, less how far it has come."""
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not re.match("skeval: (?!error:)|  ", line))


# scikit-learn's own words where it does not name the argument.
NAMELESS = (
    "inconsistent numbers of samples",
    "Found array with",
    "Found input variables",
    "Unknown label type",
)
NAMELESS_ESTIMATORS = (
    "Expected 2D array",
    "Expected a 2-dimensional container",
    "could not convert string to float",
    "float() argument must be",
    "dual coefficients or intercepts are not finite",
    "number of classes has to be greater than one",
    "Input contains",
    "Expected array-like",
    "Complex data not supported",
    "at least one array or dtype is required",
    "Mix of label input types",
    "can't handle a mix of",
)


class Refused:
    """A documented error: an outcome as good as a value."""

    def __init__(self, error):
        self.error = error

    def __repr__(self):
        return f"Refused({type(self.error).__name__}: {str(self.error)[:200]})"


def numbers(result):
    """Return all numbers of a result, nested as it may be, as one vector."""
    if result is None or isinstance(result, str | bytes):
        return np.empty(0)
    if isinstance(result, Mapping):
        return joined(result.values())
    if is_dataclass(result):
        return joined(getattr(result, field.name) for field in fields(result))
    if issparse(result):
        return numbers(result.toarray())
    if isinstance(result, list | tuple):
        return joined(result)
    array = np.asarray(result)
    if array.dtype.kind == "O" and all(isinstance(item, Real) for item in array.flat):
        array = array.astype(float)
    return array.astype(float).ravel() if array.dtype.kind in "fiub" else np.empty(0)


def joined(results):
    return np.concatenate([np.empty(0), *map(numbers, results)])


def assert_value_or_error(function, *data, theirs=False, **options):
    """Call a function; return its result, or Refused. Anything else that it does fails the test.

    It must not raise another type of error, warn of an accident of arithmetic, return nan without
    having told, or change its input. Where it runs estimators that are `theirs`, scikit-learn's,
    what these warn of, and say without naming an argument, is not ours.
    """
    before = snapshot(data)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(*data, **options)
        except (ValueError, TypeError) as error:
            result = Refused(error)
    assert snapshot(data) == before, "the input was changed"
    if isinstance(result, Refused):
        assert names_an_argument(str(result.error), function, theirs), f"no argument: {result}"
        return result
    accidents = [
        w
        for w in caught
        if issubclass(w.category, RuntimeWarning) and not (theirs and "sklearn" in w.filename)
    ]
    assert not accidents, f"arithmetic went wrong: {accidents[0].message}"
    told = any(issubclass(w.category, UndefinedMetricWarning) for w in caught)
    told |= any(getattr(w, "code", "") == "undefined" for w in getattr(result, "warnings", ()))
    assert told or not np.isnan(numbers(without_documented(result))).any(), f"silent nan: {result}"
    return result


def without_documented(result):
    """Return the numbers of a result without those that are documented to be nan.

    They are, between clusters, those of a cluster to itself; over data sets the standard errors of
    differences, which medians of averages have none of; of instabilities, the calibration curves at
    probabilities that a model does not predict; of choices of the number of clusters, what their
    rule does not compute; of an estimate, also of one within another result, the ends of its
    interval where it has none, and the standard errors listed above.
    """
    if isinstance(result, NClustersChoice):
        undefined = undefined_of_choice(result)
        for name in undefined:
            assert np.isnan(getattr(result, name)).all(), f"documented to be nan: {name}, {result}"
        return [getattr(result, each.name) for each in fields(result) if each.name not in undefined]
    if isinstance(result, Report) and hasattr(result, "choices"):
        choices = [without_documented(each) for each in result.choices.values()]
        left_out = {"answer", "estimates", "choice", "choices", "stability", "pvalue_more"}
        others = [value for name, value in vars(result).items() if name not in left_out]
        return [*others, choices]
    if isinstance(result, Estimate):
        left_out = {"interval"} if not result.limits else set()
        if (result.name, result.method) in NO_STANDARD_ERROR:
            assert np.isnan(result.standard_error), f"documented to be nan: {result}"
            left_out.add("standard_error")
        return [
            getattr(result, field.name) for field in fields(result) if field.name not in left_out
        ]
    if type(result).__name__ == "Comparison" and result.extra.scores is not None:
        pairs = [each.to_dict() | {"standard_error": 0.0} for each in result.differences.values()]
        shown = ("scores", "mean_ranks", "critical_difference", "reason")
        return [result.values, [getattr(result.extra, name) for name in shown], pairs]
    if isinstance(result, Curve):
        others = [getattr(result, field.name) for field in fields(result) if field.name != "area"]
        return [*others, without_documented(result.area)]
    if not isinstance(result, dict):
        return result
    entries = [
        without_documented(each) if isinstance(each, Estimate | Curve | NClustersChoice) else each
        for each in result.values()
    ]
    return [
        each[~np.eye(len(each), dtype=bool)]
        if isinstance(each, np.ndarray) and each.ndim == 2
        else each
        for each in entries
    ]


def undefined_of_choice(choice):
    """Return the names of the attributes that are documented to be nan."""
    if choice.method != "sequential":
        return {"pvalue", "pvalue_more"}
    has_no_more = choice.n_clusters in (1, choice.candidates[-1])
    return {"standard_errors"} | ({"pvalue_more"} if has_no_more else set())


def snapshot(data):
    """Return all that a caller sees of the data; pandas fills hidden caches when it is read."""
    if isinstance(data, list | tuple):
        return [snapshot(item) for item in data]
    if issparse(data):
        return snapshot(list(data.__dict__.values()))
    if isinstance(data, pd.Series | pd.DataFrame):
        return repr((data.to_dict(), getattr(data, "dtypes", None), data.index))
    if isinstance(data, np.ndarray) and not isinstance(data, np.ma.MaskedArray):
        return pickle.dumps(data)
    return repr(data)  # a masked array changes inside when it is printed


def names_an_argument(message, function, theirs=False):
    """Whether a message says which argument it means, in our words or in scikit-learn's."""
    function = options_of(function)
    own = [name for name in inspect.signature(function).parameters if name != "self"]
    usual = ["X", "y", "labels", "y_true", "y_pred", "n_neighbors", "cv_results", "estimator"]
    words = set(re.findall(r"\w+", message))
    nameless = NAMELESS + (NAMELESS_ESTIMATORS if theirs else ())
    return bool(words & {*own, *usual}) or any(part in message for part in nameless)


def options_of(function):
    """Return the public function or class whose options a function of data takes."""
    while isinstance(function, partial):
        function = function.func
    return getattr(function, "options_of", function)


def assert_same_numbers(found, expected, tolerance=0.0):
    """Raise unless two results hold the same numbers."""
    found, expected = numbers(found), numbers(expected)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
