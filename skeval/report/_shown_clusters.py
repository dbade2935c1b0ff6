"""The one clustering that a page shows sample by sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.decomposition import PCA

from skeval.cluster import NClustersChoice
from skeval.metrics.cluster import silhouette_samples

__all__ = ["ShownClusters", "show_clusters"]

N_COMPONENTS = 2


@dataclass(frozen=True, eq=False)
class ShownClusters:
    """A clustering of the data, seen along the directions in which they vary most.

    Attributes
    ----------
    n_clusters : int
        The number of clusters that was asked for: the choice, or the most stable one where no
        number was chosen.
    labels : ndarray of shape (n_samples,)
        The cluster of each sample.
    components : ndarray of shape (n_samples, 2)
        Coordinates on the first two principal components of X; of one feature the second is 0.
    shares : ndarray of shape (2,)
        Shares of the variance of X along them; nan where nothing varies.
    silhouettes : ndarray of shape (n_samples,)
        The silhouette of each sample.
    """

    n_clusters: int
    labels: np.ndarray
    components: np.ndarray
    shares: np.ndarray
    silhouettes: np.ndarray


def show_clusters(
    X: Any,
    partitions: Mapping[int, np.ndarray],
    choice: NClustersChoice,
    seed: int,
    n_jobs: int | None,
) -> ShownClusters | None:
    """Return the clustering of the choice; None where the algorithm found one cluster only."""
    shown = choice.n_clusters
    if shown not in partitions:
        shown = int(choice.candidates[np.argmax(choice.values)])
    labels = partitions[shown]
    if len(np.unique(labels)) < 2:
        return None
    # in one layout of memory, since sums in another differ in their last digits
    points = X if issparse(X) else np.ascontiguousarray(X, dtype=float)
    silhouettes = silhouette_samples(points, labels, noise="cluster", n_jobs=n_jobs)
    components, shares = _project(points, seed)
    return ShownClusters(shown, labels, components, shares, silhouettes)


def _project(points: Any, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return coordinates on the first two principal components, and their shares of variance."""
    n_found = min(N_COMPONENTS, points.shape[1])
    solver = "auto"
    if issparse(points):
        if points.shape[1] > N_COMPONENTS:
            solver = "arpack"  # needs no dense copy
        else:
            points = points.toarray()
    components, shares = np.zeros((points.shape[0], N_COMPONENTS)), np.zeros(N_COMPONENTS)
    with np.errstate(divide="ignore", invalid="ignore"):  # where nothing varies there are no shares
        analysis = PCA(n_found, svd_solver=solver, random_state=seed)
        components[:, :n_found] = analysis.fit_transform(points)
        shares[:n_found] = analysis.explained_variance_ratio_
    return components, shares
