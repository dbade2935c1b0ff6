"""Arguments with one entry for each sample, whose rows must belong together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from inspect import signature
from typing import Any, TypeVar, cast

import numpy as np
from scipy.sparse import issparse

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

TRUTH = ("y_true", "labels_true", "y_human")
"""Arguments with the true values of the samples."""
OF_SAMPLES = {
    *TRUTH, "y_pred", "y_score", "y_proba", "predictions", "baseline",
    "labels_pred", "judge", "sample_weight", "groups", "by", "within",
}  # fmt: skip
"""Arguments with an entry for each sample, or dicts and lists of such arrays."""


def pair_samples(function: FunctionT) -> FunctionT:
    """Refuse arguments with the labels of the true values, as in pandas, in other places.

    Rows are paired by position, so those of other samples would be compared without a word.
    Functions without true values are returned unchanged.
    """
    names = list(signature(function).parameters)
    if not set(TRUTH) & set(names):
        return function

    @wraps(function)
    def paired(*args: Any, **kwargs: Any) -> Any:
        arguments = dict(zip(names, args, strict=False)) | kwargs
        check_pairs({name: arguments[name] for name in names if name in OF_SAMPLES & {*arguments}})
        return function(*args, **kwargs)

    return cast(FunctionT, paired)


def check_pairs(arguments: Mapping[str, Any]) -> None:
    """Raise if arguments share labels of an index in other places, or have masked values."""
    first: tuple[str, Any] | None = None
    for name, values in name_columns(arguments):
        refuse_mask(name, values)
        # a sparse matrix is useful for several labels only
        if issparse(values) and (values.ndim < 2 or values.shape[1] == 1):
            raise TypeError(
                f"{name} must be a dense array, got a sparse one; {name}.toarray().ravel() makes "
                "it."
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


def name_columns(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
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


def index_of(values: Any) -> Any:
    """Return the index of a Series or data frame, None for anything else."""
    index = getattr(values, "index", None)
    return index if hasattr(index, "equals") else None


def refuse_big_integers(name: str, values: Any) -> None:
    """Raise if labels are integers that no dtype of NumPy represents exactly."""
    big = (one for one in values if type(one) is int and not -(2**63) <= one < 2**63)
    first = next(big, None)
    if first is not None:
        raise ValueError(
            f"{name} must contain integers of 64 bits, got {first}; as names of classes they may "
            f"be strings: list(map(str, {name}))."
        )


def count_dimensions(X: Any) -> int:
    """Return the number of dimensions of data; 1 for samples that differ in length."""
    try:
        return np.ndim(X)
    except ValueError:
        return 1


def refuse_mask(name: str, values: Any) -> None:
    """Raise if NumPy masks some of the values, since most functions would use what is below."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(
            f"{name} must have no masked values, got {np.ma.count_masked(values)} among "
            f"{values.size}; leave these samples out, or fill in missing values: {name}.filled()."
        )


def explain_other_index(first: str, index: Any, name: str, other: Any) -> str:
    """Return the message about two indexes, and how to pair the rows."""
    by_position = f"{name}.to_numpy() keeps the order, if row i of both is the same sample"
    if index.is_unique and other.is_unique and set(index) == set(other):
        return (
            f"{name} must have its index in the order of {first}, got the labels of {first} in "
            f"another order; {name}.loc[{first}.index] matches the labels, and {by_position}."
        )
    # name a label that only one of them has
    different = next((label for label in other if label not in index), other[0])
    return (
        f"{name} must have the index of {first}, in the same order, got another one, with "
        f"{different!r}; {by_position}."
    )
