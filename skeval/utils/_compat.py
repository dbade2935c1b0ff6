"""The only importer of private scikit-learn names; a test checks that they are still there.

Here is, too, what routes metadata to scorers that are not made by scikit-learn.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Self, TypeVar

import sklearn
from sklearn.metrics.pairwise import _VALID_METRICS as PAIRWISE_METRICS
from sklearn.utils import _safe_indexing as safe_indexing
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
from sklearn.utils.metadata_routing import MetadataRequest
from sklearn.utils.metaestimators import _safe_split as safe_split
from sklearn.utils.parallel import _get_threadpool_controller as threadpool_controller
from sklearn.utils.parallel import _threadpool_controller_decorator as limit_threads
from sklearn.utils.validation import _check_method_params as params_of_rows
from sklearn.utils.validation import _num_samples as num_samples

__all__ = [
    "PAIRWISE_METRICS",
    "CallbackSupportMixin",
    "HasMethods",
    "Interval",
    "InvalidParameterError",
    "MetadataRequester",
    "Options",
    "RoutedScorer",
    "StrOptions",
    "array_namespace",
    "device",
    "limit_threads",
    "metric_of_scorer",
    "num_samples",
    "params_of_rows",
    "safe_indexing",
    "safe_split",
    "threadpool_controller",
    "validate_params",
    "widest_float_dtype",
    "with_callbacks",
]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9 has no callbacks

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stand in for the support of callbacks."""

    def with_callbacks(method: Any) -> Any:
        """Return the method as it is."""
        return method


try:
    from sklearn.externals.array_api_compat import array_namespace, device
except ImportError:  # scikit-learn 1.6 lacks it; SciPy has it in one of two places
    try:
        from scipy._lib.array_api_compat import array_namespace, device
    except ImportError:
        from scipy._lib.array_api_compat.array_api_compat import array_namespace, device

Function = TypeVar("Function", bound=Callable[..., Any])


def validate_params(
    constraints: Mapping[str, Any], *, prefer_skip_nested_validation: bool = True
) -> Callable[[Function], Function]:
    """Return scikit-learn's check of parameters as a decorator that keeps the types."""
    check: Callable[[Function], Function] = validate_all_params(
        constraints, prefer_skip_nested_validation=prefer_skip_nested_validation
    )
    return check


def metric_of_scorer(scorer: Any) -> tuple[Any, dict[str, Any], bool]:
    """Return the function behind a scorer, what it fixes of it, and whether more is better."""
    return scorer._score_func, dict(scorer._kwargs), scorer._sign > 0


class RoutedScorer:
    """A scorer that hands metadata, such as `sample_weight`, on to a function if asked to."""

    _requests: MetadataRequest | None = None

    @property
    def _scored_by(self) -> Callable[..., float]:
        """The function that gets the metadata."""
        raise NotImplementedError

    def set_score_request(self, **requests: bool | str | None) -> Self:
        """Request metadata for the scorer.

        Parameters
        ----------
        **requests : bool, str or None
            By the name of an argument of the metric: True passes it on where it is given, False
            does not, None makes it an error to give it, and a string is the name under which it
            is given. See scikit-learn's user guide on metadata routing.

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

    def get_metadata_routing(self) -> MetadataRequest:
        """Return what is requested: by default nothing, and sample weights are refused.

        Returns
        -------
        MetadataRequest
        """
        if self._requests is not None:
            return self._requests
        requests = MetadataRequest(owner=type(self).__name__)
        if "sample_weight" in inspect.signature(self._scored_by).parameters:
            requests.score.add_request(param="sample_weight", alias=None)
        return requests
