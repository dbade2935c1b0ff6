"""What is known of an index of clusterings, and its value where that may be undefined."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

__all__ = [
    "GROWTHS",
    "KNOWN",
    "SUM",
    "Index",
    "check_index_value",
    "describe_index",
    "growth_of",
    "name_index",
    "value_or_nan",
]

Index = Callable[[Any, Any], float]
"""Of data and labels, or of two partitions."""

MEAN, SUM, NO_LIMIT = "mean", "sum", "no limit"
GROWTHS = (MEAN, SUM)
"""How an index grows with the number n of samples: it has a limit, or a share I/n that has one."""


class Known(NamedTuple):
    """What is known of an index: its smallest and largest value, and how it grows."""

    low: float = -np.inf
    high: float = np.inf
    growth: str | None = None


KNOWN = {
    "adjusted_mutual_info_score": Known(-np.inf, 1.0, MEAN),
    "adjusted_rand_score": Known(-1.0, 1.0, MEAN),
    "calinski_harabasz_score": Known(0.0, np.inf, SUM),
    "class_f_measure": Known(0.0, 1.0, MEAN),
    "compactness_score": Known(0.0, np.inf, MEAN),
    "completeness_score": Known(0.0, 1.0, MEAN),
    "connectivity_score": Known(0.0, np.inf, SUM),
    "davies_bouldin_score": Known(0.0, np.inf, MEAN),
    "dbcv_score": Known(-1.0, 1.0, MEAN),
    "dunn_score": Known(0.0, np.inf, NO_LIMIT),
    "fowlkes_mallows_score": Known(0.0, 1.0, MEAN),
    "homogeneity_score": Known(0.0, 1.0, MEAN),
    "inverse_purity_score": Known(0.0, 1.0, MEAN),
    "minkowski_score": Known(0.0, np.inf, MEAN),
    "mutual_info_score": Known(0.0, np.inf, MEAN),
    "normalized_mutual_info_score": Known(0.0, 1.0, MEAN),
    "pair_fbeta_score": Known(0.0, 1.0, MEAN),
    "pair_jaccard_score": Known(0.0, 1.0, MEAN),
    "purity_score": Known(0.0, 1.0, MEAN),
    "rand_score": Known(0.0, 1.0, MEAN),
    "silhouette_score": Known(-1.0, 1.0, MEAN),
    "v_measure_score": Known(0.0, 1.0, MEAN),
    "within_cluster_sse": Known(0.0, np.inf, SUM),
    "within_cluster_variance": Known(0.0, np.inf, MEAN),
}
"""The indices of this package and of scikit-learn, by name."""


def name_index(index: Index) -> str:
    """Return the name of a function, also of one with arguments bound."""
    index = _unbind(index)
    return getattr(index, "__name__", type(index).__name__)


def describe_index(index: Index) -> Known:
    """Return what is known of an index; the name tells, of this package and of scikit-learn."""
    package = str(getattr(_unbind(index), "__module__", "")).split(".")[0]
    return KNOWN.get(name_index(index) if package in ("skeval", "sklearn") else "", Known())


def growth_of(index: Index, growth: str | None) -> str:
    """Return how an index grows with the number of samples, as given or as known, or raise."""
    resolved = growth or describe_index(index).growth
    if resolved in GROWTHS:
        return str(resolved)
    why = "rests on few samples and has no limit" if resolved else "is not known here"
    raise ValueError(
        "growth must say how the index grows with the number of samples: 'mean' if it has a limit, "
        "as a mean over samples, 'sum' if it grows in proportion, as a sum over them; "
        f"got None, and {name_index(index)} {why}."
    )


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
