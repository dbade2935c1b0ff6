"""Values of an index of clusterings where it may be undefined, and its name."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

__all__ = ["Index", "check_index_value", "name_index", "range_of", "value_or_nan"]

Index = Callable[[Any, Any], float]
"""Of data and labels, or of two partitions."""

RANGES = {
    "silhouette_score": (-1.0, 1.0),
    "dbcv_score": (-1.0, 1.0),
    "adjusted_rand_score": (-1.0, 1.0),
    "mask_adjusted_rand_score": (-1.0, 1.0),
    "adjusted_mutual_info_score": (-np.inf, 1.0),
}
"""Of the indices of this package and of scikit-learn, by name."""
FROM_0_TO_1 = {
    "class_f_measure",
    "completeness_score",
    "fowlkes_mallows_score",
    "homogeneity_score",
    "inverse_purity_score",
    "mask_rand_score",
    "normalized_mutual_info_score",
    "pair_fbeta_score",
    "pair_jaccard_score",
    "purity_score",
    "rand_score",
    "v_measure_score",
}
FROM_0 = {
    "calinski_harabasz_score",
    "compactness_score",
    "connectivity_score",
    "davies_bouldin_score",
    "dunn_score",
    "minkowski_score",
    "mst_compactness",
    "mutual_info_score",
    "within_cluster_sse",
    "within_cluster_variance",
}


def name_index(index: Index) -> str:
    """Return the name of a function, also of one with arguments bound."""
    index = _unbind(index)
    return getattr(index, "__name__", type(index).__name__)


def range_of(index: Index) -> tuple[float, float]:
    """Return the smallest and the largest value of an index, infinite where they are not known.

    The name tells, of functions of this package and of scikit-learn.
    """
    package = str(getattr(_unbind(index), "__module__", "")).split(".")[0]
    name = name_index(index) if package in ("skeval", "sklearn") else ""
    if name in FROM_0_TO_1:
        return 0.0, 1.0
    return RANGES.get(name, (0.0 if name in FROM_0 else -np.inf, np.inf))


def _unbind(index: Index) -> Index:
    while isinstance(index, partial):
        index = index.func
    return index


def check_index_value(index: Index, *arguments: Any) -> float:
    """Return the index of all samples, or raise where it is undefined."""
    value = float(index(*arguments))
    if not np.isfinite(value):
        raise ValueError(f"index must have a finite value on the data, got {value}.")
    return value


def value_or_nan(index: Index, *arguments: Any) -> float:
    """Return the index, nan where it has no finite value or refuses a partition."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        try:
            value = float(index(*arguments))
        except ValueError:
            return np.nan
    return value if np.isfinite(value) else np.nan
