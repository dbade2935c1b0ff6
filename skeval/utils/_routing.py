"""Metadata routing of scorers that are not made by scikit-learn."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Self

import sklearn
from sklearn.utils.metadata_routing import MetadataRequest

__all__ = ["RoutedScorer"]


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
