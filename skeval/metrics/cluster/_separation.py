"""Distances within and between clusters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from skeval.metrics.cluster._centroids import between_centroids
from skeval.metrics.cluster._kernels.distance_pass import (
    add_to_totals,
    mean_between,
    mean_within,
    within_pass,
)
from skeval.metrics.cluster._samples import PASS_CONSTRAINTS, check_samples, has_centroids
from skeval.utils._checks import warn_undefined
from skeval.utils._compat import validate_params
from skeval.utils._frames import DataFrame, make_frame
from skeval.utils._text import ShownAsText

__all__ = [
    "BetweenClusterDistances",
    "ClusterDistances",
    "between_cluster_distances",
    "within_cluster_distances",
]


@dataclass(frozen=True)
class ClusterDistances(ShownAsText):
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

    def to_frame(self) -> DataFrame:
        """Return one row per cluster."""
        columns = {"size": self.sizes, "mean": self.mean, "max": self.max}
        return make_frame(columns, self.labels, "label")

    def __str__(self) -> str:
        rows = zip(self.labels, self.sizes, self.mean, self.max, strict=True)
        lines = [
            f"{name!s:>12}{size:>8d}{mean:>12.6g}{high:>12.6g}" for name, size, mean, high in rows
        ]
        return "\n".join([f"{'label':>12}{'size':>8}{'mean':>12}{'max':>12}", *lines])


@dataclass(frozen=True)
class BetweenClusterDistances(ShownAsText):
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

    def to_frame(self) -> DataFrame:
        """Return one row per pair of clusters, each pair once."""
        first, second = np.triu_indices(len(self.labels), k=1)
        pairs = {"label": self.labels[first], "other": self.labels[second]}
        tables = {"mean": self.mean, "min": self.min, "centroid": self.centroid}
        columns = {name: table[first, second] for name, table in tables.items()}
        return make_frame(pairs | columns).set_index(list(pairs))

    def __str__(self) -> str:
        lines = [f"{'label':>12}{'other':>12}{'mean':>12}{'min':>12}{'centroid':>12}"]
        for i, j in zip(*np.triu_indices(len(self.labels), k=1), strict=True):
            values = self.mean[i, j], self.min[i, j], self.centroid[i, j]
            cells = "".join(f"{value:>12.6g}" for value in values)
            lines.append(f"{self.labels[i]!s:>12}{self.labels[j]!s:>12}{cells}")
        return "\n".join(lines)


@validate_params(PASS_CONSTRAINTS)
def within_cluster_distances(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    metric: str | Callable = "euclidean",
    noise: str | None = None,
    n_jobs: int | None = None,
) -> ClusterDistances:
    """Compute the mean and the largest distance within each cluster.

    ``avg(C) = 2/(|C|(|C|-1)) sum_(i<j in C) d(x_i, x_j)`` and the diameter
    ``diam(C) = max_(i,j in C) d(x_i, x_j)``. Range [0, inf); 0 is best, smaller is better.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        The samples, or their distances when ``metric="precomputed"``; what a sparse matrix of
        distances does not store is 0, which a graph of neighbours does not mean and is refused.
    labels : array-like of shape (n_samples,)
        The cluster of each sample; numbers or strings.
    metric : str or callable, default="euclidean"
        Any symmetric metric of :func:`sklearn.metrics.pairwise_distances`, or "precomputed".
    noise : {"cluster", "drop", "singletons"} or None, default=None
        What label -1, also as text, means: a cluster ("cluster"; None does the same and warns),
        samples to leave out ("drop"), or samples that each form a cluster ("singletons").
    n_jobs : int or None, default=None
        Number of threads; the numbers do not depend on it.

    Returns
    -------
    distances : ClusterDistances
        ``labels``, ``sizes``, ``mean`` and ``max``, one entry per cluster, in the unit of the
        metric.

    Raises
    ------
    ValueError
        If the input is malformed.

    See Also
    --------
    centroid_distances : To the centroid.
    between_cluster_distances : Between clusters.

    Notes
    -----
    A singleton has no pair: its diameter is 0 by convention, and so is its mean. Only the pairs
    within clusters are computed.

    References
    ----------
    .. [1] Handl, J., Knowles, J. and Kell, D. B. (2005). Computational cluster validation in
       post-genomic data analysis. Bioinformatics, 21(15), 3201-3212.
       https://doi.org/10.1093/bioinformatics/bti517

    Examples
    --------
    >>> from skeval.metrics.cluster import within_cluster_distances
    >>> print(within_cluster_distances([[0.0], [1.0], [5.0], [7.0]], ["a", "a", "a", "b"]))
           label    size        mean         max
               a       3     3.33333           5
               b       1           0           0
    """
    samples = check_samples(X, labels, metric=metric, noise=noise)
    partition = samples.partition
    totals, largest = within_pass(samples.tiles, partition.members, n_jobs=n_jobs)
    mean = mean_within(totals, partition.sizes)
    return ClusterDistances(partition.names, partition.sizes, mean, largest)


@validate_params(PASS_CONSTRAINTS)
def between_cluster_distances(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    metric: str | Callable = "euclidean",
    noise: str | None = None,
    n_jobs: int | None = None,
) -> BetweenClusterDistances:
    """Compute the separation of every two clusters: mean, nearest pair and centroids.

    The mean and the smallest ``d(x_i, x_j)`` over ``i`` in one and ``j`` in the other cluster, and
    ``d(mu_k, mu_l)`` of the centroids. Range [0, inf); larger is better, 0 is the worst value.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        The samples, or their distances when ``metric="precomputed"``; what a sparse matrix of
        distances does not store is 0, which a graph of neighbours does not mean and is refused.
    labels : array-like of shape (n_samples,)
        The cluster of each sample; numbers or strings.
    metric : str or callable, default="euclidean"
        Any symmetric metric of :func:`sklearn.metrics.pairwise_distances`, or "precomputed".
    noise : {"cluster", "drop", "singletons"} or None, default=None
        What label -1, also as text, means: a cluster ("cluster"; None does the same and warns),
        samples to leave out ("drop"), or samples that each form a cluster ("singletons").
    n_jobs : int or None, default=None
        Number of threads; the numbers do not depend on it.

    Returns
    -------
    distances : BetweenClusterDistances
        ``labels`` and three symmetric (n_clusters, n_clusters) arrays ``mean``, ``min`` and
        ``centroid``, in the unit of the metric. The diagonal of ``mean`` and ``min`` is nan.

    Raises
    ------
    ValueError
        If there are fewer than two clusters, or the input is malformed.

    Warns
    -----
    UndefinedMetricWarning
        If the metric has no centroids ("precomputed", metrics of Boolean vectors); ``centroid`` is
        nan.

    See Also
    --------
    within_cluster_distances : Within each cluster.

    Notes
    -----
    These are the average, single and centroid linkage of agglomerative clustering.

    References
    ----------
    .. [1] Handl, J., Knowles, J. and Kell, D. B. (2005). Computational cluster validation in
       post-genomic data analysis. Bioinformatics, 21(15), 3201-3212.
       https://doi.org/10.1093/bioinformatics/bti517

    Examples
    --------
    >>> from skeval.metrics.cluster import between_cluster_distances
    >>> print(between_cluster_distances([[0.0], [2.0], [5.0], [9.0]], ["a", "a", "b", "b"]))
           label       other        mean         min    centroid
               a           b           6           3           6
    """
    samples = check_samples(X, labels, metric=metric, noise=noise, min_clusters=2)
    partition = samples.partition
    reduced, strips = samples.reduce_distances(n_jobs=n_jobs)
    totals = np.zeros_like(reduced.smallest)
    for rows, sums in strips:
        add_to_totals(totals, sums, rows, partition.starts)
    np.fill_diagonal(reduced.smallest, np.nan)
    if has_centroids(metric):
        centroid = between_centroids(samples.points, partition, metric)
    else:
        warn_undefined(f"centroid is nan: metric={metric!r} has no centroids.")
        centroid = np.full_like(reduced.smallest, np.nan)
    return BetweenClusterDistances(
        labels=partition.names,
        mean=mean_between(totals, partition.sizes),
        min=reduced.smallest,
        centroid=centroid,
    )
