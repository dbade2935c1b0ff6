"""Arguments of public functions, arrays of other libraries, paired rows and parameter types.

Arrays may be of pandas or of any library of the Array API. Arguments with one entry for each sample
must have their rows in the same order.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from numbers import Integral, Real
from typing import Any, TypeVar, cast

import numpy as np
from numpy.random import Generator
from scipy.sparse import issparse

from skeval.utils._checks import (
    explain_other_index,
    index_of,
    is_foreign_array,
    naming,
    refuse_big_integers,
    refuse_mask,
    suggest,
)
from skeval.utils._compat import (
    Interval,
    Options,
    StrOptions,
    array_namespace,
    convert_to_numpy,
    validate_all_params,
)

Function = TypeVar("Function", bound=Callable[..., Any])

CONSTRAINTS: dict[str, list[object] | str] = {
    "y_true": ["array-like"],
    "y_pred": ["array-like"],
    "y_score": ["array-like"],
    "y_proba": ["array-like"],
    "baseline": ["array-like", None],
    "labels_true": "no_validation",  # check_labels has the better message
    "labels_pred": "no_validation",
    "labels": ["array-like", None],
    "pos_label": [Real, str, "boolean", None],
    "sample_weight": ["array-like", None],
    "groups": ["array-like", None],
    "beta": [Interval(Real, 0, None, closed="both")],
    "zero_division": [Options(Real, {0.0, 1.0}), "nan", StrOptions({"warn"})],
    "confidence_level": [Interval(Real, 0, 1, closed="neither")],
    "n_resamples": [Interval(Integral, 1, None, closed="left")],
    "n_points": [Interval(Integral, 2, None, closed="left")],
    "n_bins": [Interval(Integral, 1, None, closed="left")],
    "strategy": [StrOptions({"quantile", "uniform"})],
    "random_state": ["random_state", Generator],
}
"""Argument constraints of all metrics. `validate_params` ignores those that a function lacks."""


def validate_params(constraints: Mapping[str, Any]) -> Callable[[Function], Function]:
    """Return scikit-learn's parameter validation, after that of `read_arrays`."""
    check: Callable[[Function], Function] = validate_all_params(
        constraints, prefer_skip_nested_validation=True
    )

    def decorate(function: Function) -> Function:
        return read_arrays(check(function))

    return decorate


def read_arrays(function: Function) -> Function:
    """Return a function of labels, scores or samples that accepts arrays of any library.

    Functions of true values refuse arguments with the same labels of an index in other places,
    since rows are paired by position.
    """
    call = inspect.signature(function)
    names = list(call.parameters)
    needed = [
        f"{each.name}=" if each.kind is each.KEYWORD_ONLY else each.name
        for each in call.parameters.values()
        if each.default is each.empty
    ]
    plain = not CALLED & set(names)
    checked = OF_SAMPLES if set(TRUTH) & set(names) else set()

    @wraps(function)
    def converted(*args: Any, **kwargs: Any) -> Any:
        # the arguments
        try:
            call.bind(*args, **kwargs)
        except TypeError as error:
            hints = (suggest(name, names) for name in kwargs if name not in names)
            raise TypeError(
                f"the call is {function.__name__}({', '.join(needed)}), with the other arguments "
                f"by name; {error}{next(hints, '')}."
            ) from None
        # arrays of other libraries, and their rows
        arrays = [to_numpy(value) for value in args]
        kwargs = {name: to_numpy(value) for name, value in kwargs.items()}
        named = dict(zip(names, arrays, strict=False)) | kwargs
        check_pairs({name: named[name] for name in names if name in checked & {*named}})
        # frames of a column for each class
        wide = RESPONSES & checked & {*named} if named.get("labels") is None else ()
        for name in wide:
            if hasattr(named[name], "columns") and np.ndim(named.get("y_true", 0)) == 1:
                classes = {*np.asarray(named["y_true"]).tolist()}
                order = sorted(classes, key=lambda one: (str(type(one)), one))
                check_column_names(order, name, named[name])
        # errors of other packages name the arguments with data
        mine = plain and not callable(named.get("metric"))
        data = [name for name in names if is_data(named.get(name))] if mine else []
        with naming(*data, known=names):
            return function(*arrays, **kwargs)

    return cast(Function, converted)


CALLED = {"estimator", "estimators", "clusterer", "metrics", "scoring"}
"""Arguments that raise errors of their own, as a metric does that is no name."""


def is_data(value: Any) -> bool:
    """Return whether a value may be data of samples."""
    return hasattr(value, "__len__") and not isinstance(value, str | bytes)


def to_numpy(value: Any) -> Any:
    """Return arrays of other libraries, in dicts and lists too, as NumPy arrays."""
    if is_foreign_array(value):
        return convert_to_numpy(value, array_namespace(value))
    if hasattr(value, "column_names") and hasattr(value, "to_pandas"):  # a table of Arrow
        return value.to_pandas()
    if is_foreign(value):
        return np.asarray(value)
    if isinstance(value, Mapping) and any(map(is_foreign, value.values())):
        return {name: to_numpy(item) for name, item in value.items()}
    if isinstance(value, list | tuple) and value and is_foreign(value[0]):
        return [to_numpy(item) for item in value]
    return value


def is_foreign(value: Any) -> bool:
    """Return whether a value is an array of the Array API or of PyArrow."""
    return is_foreign_array(value) or type(value).__module__ == "pyarrow.lib"


TRUTH = ("y_true", "labels_true", "references")
"""Arguments with the true values of the samples."""
OF_SAMPLES = {
    *TRUTH, "y_pred", "y_score", "y_proba", "predictions", "baseline",
    "labels_pred", "hypotheses", "sample_weight", "groups", "by", "within",
}  # fmt: skip
"""Arguments with an entry for each sample, or dicts and lists of such arrays."""


RESPONSES = {"y_pred", "y_score", "y_proba"}
"""Arguments that may have a column for each class."""


def check_pairs(arguments: Mapping[str, Any]) -> None:
    """Raise if arguments share labels of an index in other places, or have masked values."""
    first: tuple[str, Any] | None = None
    for name, values in name_arrays(arguments):
        refuse_mask(name, values)
        # a sparse matrix is useful for several labels only
        if issparse(values) and (values.ndim < 2 or values.shape[1] == 1):
            raise TypeError(
                f"{name} must be a dense array, got a sparse one. Use {name}.toarray().ravel()."
            )
        if isinstance(values, list) or getattr(values, "dtype", None) == np.dtype(object):
            refuse_big_integers(name, values)
        # compare with the first index
        index = index_of(values)
        if index is None:
            continue
        if first is None:
            first = name, index
            continue
        same = len(index) != len(first[1]) or index.equals(first[1])
        # without a common label, one of the two indexes was reset
        if not same and index.isin(first[1]).any():
            raise ValueError(explain_other_index(*first, name, index))


def check_column_names(classes: list[Any], name: str, frame: Any) -> None:
    """Raise if the columns of a data frame are named after the classes, in another order."""
    columns = list(frame.columns)
    for names, labels in ((columns, classes), (list(map(str, columns)), list(map(str, classes)))):
        if set(names) == set(labels) and names != labels:
            ordered = [columns[names.index(label)] for label in labels]
            raise ValueError(
                f"{name} must have its columns in the order of the classes, got {columns}; sort "
                f"them: {name}[{ordered}]."
            )


def name_arrays(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield arrays with their names, those in dicts and lists one by one."""
    for name, values in arguments.items():
        if isinstance(values, Mapping):
            yield from ((f"{name}[{key!r}]", value) for key, value in values.items())
        elif isinstance(values, list | tuple):
            yield name, values
            for key, value in enumerate(values):
                if index_of(value) is None and not isinstance(value, np.ma.MaskedArray):
                    break
                yield f"{name}[{key}]", value
        else:
            yield name, values
