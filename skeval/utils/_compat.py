"""Private scikit-learn names, arrays of other libraries, and scorers that route metadata.

All private names of scikit-learn are imported here. Arrays may be of pandas or of any library of
the Array API. Arguments with one entry for each sample must have their rows in the same order.
"""

# ruff: noqa: F401  (imported for the other modules)

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from numbers import Integral, Real
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np
import sklearn
from numpy.random import Generator
from scipy.sparse import issparse
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.metrics.pairwise import _VALID_METRICS as PAIRWISE_METRICS
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._array_api import _convert_to_numpy as convert_to_numpy
from sklearn.utils._array_api import _max_precision_float_dtype as widest_float_dtype
from sklearn.utils._metadata_requests import _MetadataRequester as MetadataRequester
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    InvalidParameterError,
    Options,
    StrOptions,
)
from sklearn.utils._param_validation import validate_params as validate_all_params
from sklearn.utils._response import _get_response_values as response_values
from sklearn.utils.metadata_routing import MetadataRequest
from sklearn.utils.metaestimators import _safe_split as safe_split
from sklearn.utils.parallel import _get_threadpool_controller as threadpool_controller
from sklearn.utils.parallel import _threadpool_controller_decorator as limit_threads
from sklearn.utils.validation import _check_method_params as params_of_rows
from sklearn.utils.validation import _num_samples as num_samples

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9 has no callbacks

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Placeholder for the support of callbacks."""

    def with_callbacks(method: Any) -> Any:
        """Return the method unchanged."""
        return method


try:
    from sklearn.externals.array_api_compat import array_namespace, device
except ImportError:  # scikit-learn 1.6 lacks it; its place in SciPy depends on the version
    try:
        from scipy._lib.array_api_compat import array_namespace, device
    except ImportError:
        from scipy._lib.array_api_compat.array_api_compat import array_namespace, device

Scorer = type(make_scorer(accuracy_score))

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
"""Argument constraints of all metrics; `validate_params` ignores those that a function lacks."""


def validate_params(
    constraints: Mapping[str, Any], *, prefer_skip_nested_validation: bool = True
) -> Callable[[Function], Function]:
    """Return scikit-learn's parameter validation, after that of `read_arrays`."""
    check: Callable[[Function], Function] = validate_all_params(
        constraints, prefer_skip_nested_validation=prefer_skip_nested_validation
    )

    def decorate(function: Function) -> Function:
        return read_arrays(check(function))

    return decorate


def read_arrays(function: Function) -> Function:
    """Return a function of labels, scores or samples that accepts arrays of any library.

    Functions of true values refuse arguments with the same labels of an index in other places,
    since rows are paired by position.
    """
    names = list(inspect.signature(function).parameters)
    checked = OF_SAMPLES if set(TRUTH) & set(names) else set()

    @wraps(function)
    def converted(*args: Any, **kwargs: Any) -> Any:
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
        return function(*arrays, **kwargs)

    return cast(Function, converted)


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


def is_foreign_array(value: Any) -> bool:
    """Return whether a value is an array of a library of the Array API other than NumPy."""
    if isinstance(value, np.ndarray | np.generic):
        return False
    return hasattr(value, "__array_namespace__") or type(value).__module__ == "torch"


def metric_of_scorer(scorer: Any) -> tuple[Any, dict[str, Any], bool]:
    """Return the metric of a scorer, its fixed arguments, and whether larger is better."""
    sign = getattr(scorer, "_sign", 1)
    return score_function(scorer), dict(getattr(scorer, "_kwargs", {})), sign > 0


def score_function(scorer: Any) -> Any:
    """Return the function inside a scorer; other callables are returned unchanged."""
    return getattr(scorer, "_score_func", scorer)


def is_search(estimator: Any) -> bool:
    """Return whether an estimator is a search: scikit-learn's all override `_run_search`."""
    return hasattr(estimator, "_run_search")


def callback_context(estimator: Any, n_subtasks: int) -> Any:
    """Return the context of a fit for the callbacks of an estimator, None if it supports none."""
    make_context = getattr(estimator, "_init_callback_context", None)
    return None if make_context is None else make_context(max_subtasks=n_subtasks)


def is_plain_scorer(scorer: Any) -> bool:
    """Return whether a scorer is from `make_scorer` and readable by `metric_of_scorer`."""
    parts = ("_score_func", "_kwargs", "_sign", "_response_method")
    return type(scorer) is Scorer and all(hasattr(scorer, part) for part in parts)


def responses_of_scorer(scorer: Any) -> Any:
    """Return the response method, or methods, that a scorer uses."""
    return getattr(scorer, "_response_method", None)


def has_valid_params(estimator: Any) -> bool:
    """Return whether the parameters of an estimator pass its own validation, if any."""
    if not hasattr(estimator, "_parameter_constraints"):
        return True
    try:
        getattr(estimator, "_validate_params", lambda: None)()
    except InvalidParameterError:
        return False
    return True


class RoutedScorer:
    """Scorer that passes requested metadata, such as `sample_weight`, to a function."""

    _requests: MetadataRequest | None = None
    resamples: ClassVar[bool] = False
    """Whether the scorer fits clones to the samples that it scores."""

    @property
    def _scored_by(self) -> Callable[..., float]:
        """Function that receives the metadata."""
        raise NotImplementedError

    def set_score_request(self, **requests: bool | str | None) -> Self:
        """Request metadata for the scorer.

        Parameters
        ----------
        **requests : bool, str or None
            Requests by argument of the metric: True passes it on if provided, False does not, None
            makes it an error to provide it, and a string is the name under which it is provided.
            See scikit-learn's user guide on metadata routing.

        Returns
        -------
        scorer
            The scorer itself.

        Raises
        ------
        RuntimeError
            If metadata routing is off: ``sklearn.set_config(enable_metadata_routing=True)``.
        """
        if not sklearn.get_config()["enable_metadata_routing"]:
            raise RuntimeError(
                "This method is only available when metadata routing is enabled: "
                "sklearn.set_config(enable_metadata_routing=True)."
            )
        self._requests = MetadataRequest(owner=type(self).__name__)
        for name, request in requests.items():
            self._requests.score.add_request(param=name, alias=request)
        return self

    def _accept_sample_weight(self) -> bool:
        """Return whether searches of scikit-learn pass their weights on."""
        return "sample_weight" in inspect.signature(self._scored_by).parameters

    def get_metadata_routing(self) -> MetadataRequest:
        """Return the requests; by default there are none, and sample weights raise an error.

        Returns
        -------
        MetadataRequest
        """
        if self._requests is not None:
            return self._requests
        requests = MetadataRequest(owner=type(self).__name__)
        if self._accept_sample_weight():
            requests.score.add_request(param="sample_weight", alias=None)
        return requests


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
    for name, values in name_columns(arguments):
        refuse_mask(name, values)
        # a sparse matrix is useful for several labels only
        if issparse(values) and (values.ndim < 2 or values.shape[1] == 1):
            raise TypeError(
                f"{name} must be a dense array, got a sparse one; use {name}.toarray().ravel()."
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
    same = index.is_unique and other.is_unique and set(index) == set(other)
    match = f"{name}.loc[{first}.index] matches the labels, and " if same else ""
    if not same and index.isin(other).any():
        match = f"with common = {first}.index.intersection({name}.index), {first}.loc[common] and "
        match += f"{name}.loc[common] are the same samples, and "
    return (
        f"{name} must have the index of {first}, in the same order, got another one; {match}"
        f"{name}.to_numpy() keeps the order, if row i of both is the same sample."
    )
