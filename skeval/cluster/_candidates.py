"""Numbers of clusters to try, and the parameter of a clusterer that sets them."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone

__all__ = ["check_candidates", "resolve_parameter", "with_n_clusters"]


def check_candidates(n_clusters: Iterable[int], smallest: int, method: str) -> np.ndarray:
    """Return the distinct candidates in ascending order, or raise."""
    if not isinstance(n_clusters, Iterable):
        raise TypeError(f"n_clusters must be an iterable of integers, got {n_clusters!r}.")
    candidates = list(n_clusters)
    wrong = [k for k in candidates if not isinstance(k, Integral) or k < smallest]
    if wrong or not candidates:
        got = f"{wrong[0]!r}" if wrong else "no candidate"
        raise ValueError(
            f"n_clusters must hold integers >= {smallest} for method={method!r}, got {got}."
        )
    return np.unique(np.asarray(candidates, dtype=np.int64))


def with_n_clusters(clusterer: Any, name: str, candidates: np.ndarray) -> dict[int, Any]:
    """Return a clone of the clusterer for each number of clusters."""
    return {k: clone(clusterer).set_params(**{name: k}) for k in candidates.tolist()}


def resolve_parameter(clusterer: Any, param_name: str | None) -> str:
    """Return the parameter for the number of clusters, given or found."""
    if param_name is None:
        return find_parameter(clusterer)
    if not isinstance(param_name, str) or param_name not in clusterer.get_params(deep=True):
        raise ValueError(
            f"param_name must be a parameter of {type(clusterer).__name__}, got {param_name!r}."
        )
    return param_name


def find_parameter(clusterer: Any) -> str:
    """Return the name of the one parameter that sets the number of clusters."""
    names = sorted(clusterer.get_params(deep=True))
    for ending in ("n_clusters", "n_components"):
        found = [name for name in names if name.split("__")[-1] == ending]
        if len(found) == 1:
            return found[0]
        if found:
            raise ValueError(f"param_name must say which of {', '.join(found)} to set.")
    raise ValueError(
        "param_name must name the parameter for the number of clusters: "
        f"{type(clusterer).__name__} has neither n_clusters nor n_components."
    )
