"""Results with one row per cluster, or one per pair of clusters."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BetweenClusterDistances", "ClusterDistances"]


@dataclass(frozen=True)
class ClusterDistances:
    """The mean and the largest of some distances of each cluster.

    Attributes
    ----------
    labels : ndarray of shape (n_clusters,)
        The label of each cluster, sorted.
    sizes : ndarray of shape (n_clusters,)
        The number of samples of each cluster.
    mean, max : ndarray of shape (n_clusters,)
        The mean and the largest distance, in the unit of the metric; 0 for a singleton.
    """

    labels: np.ndarray
    sizes: np.ndarray
    mean: np.ndarray
    max: np.ndarray

    def to_frame(self) -> "pd.DataFrame":
        """Return one row per cluster."""
        import pandas as pd

        columns = {"size": self.sizes, "mean": self.mean, "max": self.max}
        return pd.DataFrame(columns, index=pd.Index(self.labels, name="label"))

    def __str__(self) -> str:
        rows = zip(self.labels, self.sizes, self.mean, self.max, strict=True)
        lines = [
            f"{name!s:>12}{size:>8d}{mean:>12.6g}{high:>12.6g}" for name, size, mean, high in rows
        ]
        return "\n".join([f"{'label':>12}{'size':>8}{'mean':>12}{'max':>12}", *lines])


@dataclass(frozen=True)
class BetweenClusterDistances:
    """The distances between every two clusters.

    Attributes
    ----------
    labels : ndarray of shape (n_clusters,)
        The label of each cluster, sorted.
    mean, min : ndarray of shape (n_clusters, n_clusters)
        The mean and the smallest distance of a sample of one cluster to one of the other;
        nan on the diagonal.
    centroid : ndarray of shape (n_clusters, n_clusters)
        The distance between the centroids; nan where the metric has none.
    """

    labels: np.ndarray
    mean: np.ndarray
    min: np.ndarray
    centroid: np.ndarray

    def to_frame(self) -> "pd.DataFrame":
        """Return one row per pair of clusters, each pair once."""
        import pandas as pd

        first, second = np.triu_indices(len(self.labels), k=1)
        index = pd.MultiIndex.from_arrays(
            [self.labels[first], self.labels[second]], names=["label", "other"]
        )
        tables = {"mean": self.mean, "min": self.min, "centroid": self.centroid}
        return pd.DataFrame({name: t[first, second] for name, t in tables.items()}, index=index)

    def __str__(self) -> str:
        lines = [f"{'label':>12}{'other':>12}{'mean':>12}{'min':>12}{'centroid':>12}"]
        for i, j in zip(*np.triu_indices(len(self.labels), k=1), strict=True):
            values = self.mean[i, j], self.min[i, j], self.centroid[i, j]
            cells = "".join(f"{value:>12.6g}" for value in values)
            lines.append(f"{self.labels[i]!s:>12}{self.labels[j]!s:>12}{cells}")
        return "\n".join(lines)
