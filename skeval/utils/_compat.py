"""Private names of scikit-learn, which differ between versions, and scorers that use them."""

# ruff: noqa: F401  (imported for the other modules)

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
import sklearn
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.metrics.pairwise import _VALID_METRICS as PAIRWISE_METRICS
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import _safe_indexing
from sklearn.utils._array_api import _convert_to_numpy as convert_to_numpy
from sklearn.utils._array_api import _max_precision_float_dtype as widest_float_dtype
from sklearn.utils._param_validation import HasMethods, InvalidParameterError, Options, StrOptions
from sklearn.utils._param_validation import Interval as AnyInterval
from sklearn.utils._param_validation import validate_params as validate_all_params
from sklearn.utils._response import _get_response_values as response_values
from sklearn.utils.metadata_routing import MetadataRequest
from sklearn.utils.metaestimators import _safe_split as safe_split
from sklearn.utils.multiclass import _ovr_decision_function as ovr_decision_function
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


class Interval(AnyInterval):
    """Interval of numbers, without True and False."""

    def is_satisfied_by(self, val: Any) -> bool:
        """Return whether a value is a number in the interval."""
        return not isinstance(val, bool | np.bool_) and bool(super().is_satisfied_by(val))


def safe_indexing(X: Any, indices: Any, *, axis: int = 0) -> Any:
    """Return some rows or columns, for NumPy arrays in a tenth of scikit-learn's time."""
    if axis == 0 and type(X) is np.ndarray and type(indices) is np.ndarray:
        return X[indices]
    return _safe_indexing(X, indices, axis=axis)


def metric_of_scorer(scorer: Any) -> tuple[Any, dict[str, Any], bool]:
    """Return the metric of a scorer, its fixed arguments, and whether larger is better."""
    sign = getattr(scorer, "_sign", 1)
    return score_function(scorer), dict(getattr(scorer, "_kwargs", {})), sign > 0


def score_function(scorer: Any) -> Any:
    """Return the function inside a scorer. Other callables are returned unchanged."""
    return getattr(scorer, "_score_func", scorer)


def callback_context(estimator: Any, n_subtasks: int) -> Any:
    """Return the context of a fit for the callbacks of an estimator, or None if unsupported."""
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
            Request for each argument of the metric. True passes the argument on if it is provided,
            and False does not. None raises an error if it is provided. A string is the name under
            which it is provided. See scikit-learn's user guide on metadata routing.

        Returns
        -------
        scorer
            The scorer itself.

        Raises
        ------
        RuntimeError
            If metadata routing is off. Turn it on with
            ``sklearn.set_config(enable_metadata_routing=True)``.
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
        """Return the requests. By default there are none, and sample weights raise an error.

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
