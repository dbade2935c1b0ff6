"""The partition that an internal index judges: rows sorted by cluster, noise settled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils import assert_all_finite, column_or_1d

from skeval.utils._checks import naming, native_labels, warn_user

__all__ = ["Partition", "make_partition"]

NOISE = -1
NOISE_AS_TEXT = ("-1", "-1.0")  # in a table of strings


@dataclass(frozen=True)
class Partition:
    """Rows in cluster order.

    Cluster `k` holds the rows `order[starts[k]:starts[k] + sizes[k]]` of the caller's data.
    """

    order: np.ndarray
    starts: np.ndarray
    sizes: np.ndarray
    names: np.ndarray
    n_rows: int

    @property
    def n_clusters(self) -> int:
        return len(self.starts)

    @property
    def n_samples(self) -> int:
        """The number of rows kept; noise may have been dropped."""
        return len(self.order)

    @property
    def members(self) -> list[slice]:
        """The slice of sorted rows that each cluster holds."""
        return [slice(a, a + m) for a, m in zip(self.starts, self.sizes, strict=True)]

    @property
    def cluster(self) -> np.ndarray:
        """The cluster number of each sorted row."""
        return np.repeat(np.arange(self.n_clusters), self.sizes)

    def unsort(self, values: np.ndarray) -> np.ndarray:
        """Put one value per sorted row back in the caller's order; dropped rows get nan."""
        result = np.full(self.n_rows, np.nan)
        result[self.order] = values
        return result


def make_partition(labels: object, *, n_rows: int, noise: str | None) -> Partition:
    """Check the labels, settle what label -1 means, and sort the rows by cluster."""
    with naming("labels"):
        values = native_labels("labels", column_or_1d(labels))
    if len(values) != n_rows:
        raise ValueError(
            f"labels must hold one label for each of the {n_rows} rows of X, got {len(values)}."
        )
    assert_all_finite(values, input_name="labels")
    noisy = _is_noise(values)
    kept = np.flatnonzero(~noisy) if noise == "drop" else np.arange(n_rows)
    if not len(kept):
        raise ValueError('noise="drop" must leave at least one sample, got only noise labels (-1).')
    if noise is None and noisy.any():
        warn_user(
            f"{noisy.sum()} samples are labelled -1, which DBSCAN and its kin use for noise, and "
            'are treated as one cluster; choose noise="cluster", "drop" or "singletons".'
        )
    names, number = _number_values(values[kept])
    if noise == "singletons":
        names, number = _split_noise(names, number, noisy)
    sizes = np.bincount(number, minlength=len(names))
    few = len(names) <= np.iinfo(np.uint16).max  # which NumPy sorts in linear time
    order = kept[np.argsort(number.astype(np.uint16) if few else number, kind="stable")]
    return Partition(order, np.cumsum(sizes) - sizes, sizes, names, n_rows)


def _number_values(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what `np.unique` does with inverses; integers of a narrow range are not sorted."""
    if values.dtype.kind == "i":
        low, high = int(values.min()), int(values.max())
        if high - low < max(1024, len(values)):
            codes = values.astype(np.int64) - low
            used = np.bincount(codes) > 0
            return (np.flatnonzero(used) + low).astype(values.dtype), (np.cumsum(used) - 1)[codes]
    names, number = np.unique(values, return_inverse=True)
    return names, number.reshape(-1)


def _is_noise(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind in "if":
        return np.asarray(values == NOISE)
    if values.dtype.kind in "OUST":
        return np.isin(values.astype(str), NOISE_AS_TEXT)
    return np.zeros(len(values), dtype=bool)  # unsigned and booleans have no -1


def _split_noise(
    names: np.ndarray, number: np.ndarray, noisy: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Give each noise sample a cluster of its own, after the others, all named -1."""
    n_noise = int(noisy.sum())
    if not n_noise:
        return names, number
    is_name = ~_is_noise(names)
    n_real = int(is_name.sum())
    renumbered = (np.cumsum(is_name) - 1)[number]
    renumbered[noisy] = n_real + np.arange(n_noise)
    return np.concatenate([names[is_name], np.repeat(names[~is_name][:1], n_noise)]), renumbered
