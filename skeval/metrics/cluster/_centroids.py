"""Indices of the distances to and between centroids: compactness and Davies-Bouldin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix, issparse, vstack

from skeval.metrics.cluster._kernels.distance_pass import mean_within, within_pass
from skeval.metrics.cluster._kernels.distances import (
    COINCIDENT,
    EUCLIDEAN,
    ROUNDED_ZERO,
    Points,
    check_distances,
    distance_function,
    euclidean,
    squared_norms,
)
from skeval.metrics.cluster._samples import (
    CONSTRAINTS,
    METRIC_CONSTRAINTS,
    PASS_CONSTRAINTS,
    Partition,
    check_has_centroids,
    check_samples,
)
from skeval.utils._compat import StrOptions, validate_params
from skeval.utils._frames import DataFrame, make_frame
from skeval.utils._text import ShownAsText

__all__ = [
    "ClusterDistances",
    "between_centroids",
    "centroid_distances",
    "centroid_distances_of",
    "compactness_score",
    "davies_bouldin_index",
    "davies_bouldin_score",
    "mean_to_centroid",
    "to_centroids",
    "within_cluster_sse",
    "within_cluster_variance",
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


def to_centroids(points: Points, partition: Partition, metric: str | Callable) -> np.ndarray:
    """Return the (n,) distance from each sorted row to the centroid of its cluster."""
    if metric in (*EUCLIDEAN, "sqeuclidean") and not issparse(points):
        squared = _around_means(points, partition)[0]
        return squared if metric == "sqeuclidean" else np.sqrt(squared)
    distance = distance_function(metric, points)
    result = np.empty(points.shape[0])
    for rows, name in zip(partition.members, partition.names, strict=True):
        block = distance(_mean(points[rows]), points[rows])
        check_distances(block, metric, partial(_row_and_centroid, partition.order[rows], name))
        result[rows] = block[0]
    return result


def _row_and_centroid(rows: np.ndarray, name: object, _: int, j: int) -> str:
    return f"row {rows[j]} of X and the centroid of cluster {name!s}"


def between_centroids(points: Points, partition: Partition, metric: str | Callable) -> np.ndarray:
    """Return the (K, K) distances between the centroids; 0 where they coincide."""
    plain = _euclidean_between(points, partition)
    if metric in EUCLIDEAN:
        return plain
    centroids = _stack([_mean(points[rows]) for rows in partition.members])
    between, names = distance_function(metric, points)(centroids, centroids), partition.names
    np.fill_diagonal(between, 0.0)
    check_distances(
        between, metric, lambda k, m: f"the centroids of clusters {names[k]!s} and {names[m]!s}"
    )
    noise = ROUNDED_ZERO.get(metric, 0.0) if isinstance(metric, str) else 0.0
    between[(plain == 0) | (between <= noise)] = 0.0
    return between


def centroid_distances_of(
    points: Points, partition: Partition, metric: str | Callable
) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances to the centroids and those between them."""
    if metric in EUCLIDEAN and not issparse(points):
        squared, means = _around_means(points, partition)
        return np.sqrt(squared), _between_means(means, squared.max())
    between = between_centroids(points, partition, metric)
    return to_centroids(points, partition, metric), between


def mean_to_centroid(to_centroid: np.ndarray, partition: Partition) -> np.ndarray:
    """Return the (K,) mean distance to the centroid."""
    return np.add.reduceat(to_centroid, partition.starts) / partition.sizes


def _euclidean_between(points: Points, partition: Partition) -> np.ndarray:
    if not issparse(points):
        squared, means = _around_means(points, partition)
        return _between_means(means, squared.max())
    means = _stack([_mean(points[rows]) for rows in partition.members])
    return _between_means(means, squared_norms(points).max())


def _around_means(points: np.ndarray, partition: Partition) -> tuple[np.ndarray, np.ndarray]:
    """Return the (n,) squared distances to the own mean and the (K, p) means less the first row.

    Differences of rows keep their digits far from the origin, and are 0 where rows are equal.
    """
    squared, means = np.empty(len(points)), np.empty((partition.n_clusters, points.shape[1]))
    space = np.empty((partition.sizes.max(), points.shape[1]))
    for rows, size, mean in zip(partition.members, partition.sizes, means, strict=True):
        deviations = np.subtract(points[rows], points[rows.start], out=space[:size])
        deviations.mean(axis=0, out=mean)
        deviations -= mean
        squared[rows] = np.square(deviations, out=deviations) @ np.ones(len(mean))
        mean += points[rows.start] - points[0]
    return squared, means


def _between_means(means: Points, largest: float) -> np.ndarray:
    """Return Euclidean distances, 0 where rounding may have made them."""
    if not issparse(means):
        means = means - means.mean(axis=0)
    between = euclidean(means, means)
    np.fill_diagonal(between, 0.0)
    scale = np.sqrt(largest) + np.sqrt(squared_norms(means).max())
    between[between <= COINCIDENT * scale] = 0.0
    return between


def _stack(means: list[Any]) -> Points:
    return vstack(means, format="csr") if issparse(means[0]) else np.concatenate(means)


def _mean(cluster: Points) -> Points:
    """Return the mean as a (1, p) matrix, sparse where the cluster is."""
    mean = cluster.mean(axis=0)
    return csr_matrix(mean) if issparse(cluster) else mean[None]


def _to_own_centroid(
    X: ArrayLike, labels: ArrayLike, metric: str | Callable, noise: str | None
) -> tuple[np.ndarray, Partition]:
    check_has_centroids(metric)
    samples = check_samples(X, labels, metric=metric, noise=noise)
    return to_centroids(samples.points, samples.partition, metric), samples.partition


@validate_params(METRIC_CONSTRAINTS)
def compactness_score(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    metric: str | Callable = "sqeuclidean",
    noise: str | None = None,
) -> float:
    """Compute the compactness of a clustering.

    ``V = sqrt( (1/n) sum_k sum_(i in k) delta(x_i, mu_k) )``, where ``mu_k`` is the centroid of
    cluster ``k``. With the default ``delta``, the squared Euclidean distance, it is the root mean
    square distance to the centroid. Range [0, inf); 0 is best, smaller is better.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The samples.
    labels : array-like of shape (n_samples,)
        The cluster of each sample; numbers or strings.
    metric : str or callable, default="sqeuclidean"
        Any metric of :func:`sklearn.metrics.pairwise_distances` that can measure a mean of
        samples: not "precomputed", and not the metrics of Boolean vectors.
    noise : {"cluster", "drop", "singletons"} or None, default=None
        What label -1, also as text, means: a cluster ("cluster"; None does the same and warns),
        samples to leave out ("drop"), or samples that each form a cluster ("singletons").

    Returns
    -------
    compactness : float
        In the unit of the features, by default.

    Raises
    ------
    ValueError
        If the metric has no centroids or the input is malformed.

    See Also
    --------
    within_cluster_sse : The sum in place of the root of the mean.
    centroid_distances : By cluster.

    Notes
    -----
    One cluster is allowed. With another ``delta`` the square root is still taken, as in the
    definition, so ``metric="euclidean"`` gives the root of the mean distance.

    References
    ----------
    .. [1] Handl, J., Knowles, J. and Kell, D. B. (2005). Computational cluster validation in
       post-genomic data analysis. Bioinformatics, 21(15), 3201-3212.
       https://doi.org/10.1093/bioinformatics/bti517

    Examples
    --------
    >>> from skeval.metrics.cluster import compactness_score
    >>> compactness_score([[0.0], [2.0], [7.0], [9.0]], [0, 0, 1, 1])
    1.0
    """
    distances, _ = _to_own_centroid(X, labels, metric, noise)
    return float(np.sqrt(distances.mean()))


@validate_params(CONSTRAINTS)
def within_cluster_sse(X: ArrayLike, labels: ArrayLike, *, noise: str | None = None) -> float:
    """Compute the sum of squared errors, which K-means minimises.

    ``sum_k sum_(i in k) |x_i - mu_k|^2``, where ``mu_k`` is the centroid of cluster ``k``. Range
    [0, inf); 0 is best, smaller is better.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The samples.
    labels : array-like of shape (n_samples,)
        The cluster of each sample; numbers or strings.
    noise : {"cluster", "drop", "singletons"} or None, default=None
        What label -1, also as text, means: a cluster ("cluster"; None does the same and warns),
        samples to leave out ("drop"), or samples that each form a cluster ("singletons").

    Returns
    -------
    sse : float
        In the square of the unit of the features.

    Raises
    ------
    ValueError
        If the input is malformed.

    See Also
    --------
    within_cluster_variance : The mean in place of the sum.

    Notes
    -----
    It is the ``inertia_`` of a :class:`sklearn.cluster.KMeans` that has converged. It falls as
    clusters are added, so it compares only partitions with equally many clusters.

    References
    ----------
    .. [1] MacQueen, J. (1967). Some methods for classification and analysis of multivariate
       observations. Proceedings of the Fifth Berkeley Symposium, 1, 281-297.

    Examples
    --------
    >>> from skeval.metrics.cluster import within_cluster_sse
    >>> within_cluster_sse([[0.0], [2.0], [7.0], [9.0]], [0, 0, 1, 1])
    4.0
    """
    squared, _ = _to_own_centroid(X, labels, "sqeuclidean", noise)
    return float(squared.sum())


@validate_params(CONSTRAINTS)
def within_cluster_variance(X: ArrayLike, labels: ArrayLike, *, noise: str | None = None) -> float:
    """Compute the within-cluster variance.

    ``(1/n) sum_k sum_(i in k) |x_i - mu_k|^2``: the square of the compactness. Range [0, inf);
    0 is best, smaller is better.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The samples.
    labels : array-like of shape (n_samples,)
        The cluster of each sample; numbers or strings.
    noise : {"cluster", "drop", "singletons"} or None, default=None
        What label -1, also as text, means: a cluster ("cluster"; None does the same and warns),
        samples to leave out ("drop"), or samples that each form a cluster ("singletons").

    Returns
    -------
    variance : float
        In the square of the unit of the features.

    Raises
    ------
    ValueError
        If the input is malformed.

    See Also
    --------
    compactness_score : Its square root.

    Notes
    -----
    It is summed over the features and divided by ``n``; the denominator of the Calinski-Harabasz
    index divides by ``n - K``.

    References
    ----------
    .. [1] Handl, J., Knowles, J. and Kell, D. B. (2005). Computational cluster validation in
       post-genomic data analysis. Bioinformatics, 21(15), 3201-3212.
       https://doi.org/10.1093/bioinformatics/bti517

    Examples
    --------
    >>> from skeval.metrics.cluster import within_cluster_variance
    >>> within_cluster_variance([[0.0], [2.0], [7.0], [9.0]], [0, 0, 1, 1])
    1.0
    """
    squared, _ = _to_own_centroid(X, labels, "sqeuclidean", noise)
    return float(squared.mean())


@validate_params(METRIC_CONSTRAINTS)
def centroid_distances(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    metric: str | Callable = "euclidean",
    noise: str | None = None,
) -> ClusterDistances:
    """Compute the mean and the largest distance to the centroid of each cluster.

    ``mean_(i in k) d(x_i, mu_k)`` and ``max_(i in k) d(x_i, mu_k)``. Range [0, inf); 0 is best,
    smaller is better.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The samples.
    labels : array-like of shape (n_samples,)
        The cluster of each sample; numbers or strings.
    metric : str or callable, default="euclidean"
        Any metric of :func:`sklearn.metrics.pairwise_distances` that can measure a mean of
        samples: not "precomputed", and not the metrics of Boolean vectors.
    noise : {"cluster", "drop", "singletons"} or None, default=None
        What label -1, also as text, means: a cluster ("cluster"; None does the same and warns),
        samples to leave out ("drop"), or samples that each form a cluster ("singletons").

    Returns
    -------
    distances : ClusterDistances
        ``labels``, ``sizes``, ``mean`` and ``max``, one entry per cluster, in the unit of the
        metric.

    Raises
    ------
    ValueError
        If the metric has no centroids or the input is malformed.

    See Also
    --------
    within_cluster_distances : Between the samples of a cluster.

    Notes
    -----
    The mean distance is the dispersion in scikit-learn's form of the Davies-Bouldin index.

    References
    ----------
    .. [1] Handl, J., Knowles, J. and Kell, D. B. (2005). Computational cluster validation in
       post-genomic data analysis. Bioinformatics, 21(15), 3201-3212.
       https://doi.org/10.1093/bioinformatics/bti517

    Examples
    --------
    >>> from skeval.metrics.cluster import centroid_distances
    >>> print(centroid_distances([[0.0], [4.0], [7.0]], ["a", "a", "b"]))
           label    size        mean         max
               a       2           2           2
               b       1           0           0
    """
    distances, partition = _to_own_centroid(X, labels, metric, noise)
    return ClusterDistances(
        labels=partition.names,
        sizes=partition.sizes,
        mean=mean_to_centroid(distances, partition),
        max=np.maximum.reduceat(distances, partition.starts),
    )


def davies_bouldin_index(dispersion: np.ndarray, between: np.ndarray) -> float:
    """Return (1/K) sum_k max_{l != k} (S_k + S_l) / d(k, l); inf where centroids coincide."""
    worst = np.empty(len(dispersion))
    for k, distance in enumerate(between):
        ratio = np.full(len(dispersion), np.inf)
        np.divide(dispersion[k] + dispersion, distance, out=ratio, where=distance > 0)
        ratio[k] = -np.inf
        worst[k] = ratio.max()
    return float(worst.mean())


@validate_params(PASS_CONSTRAINTS | {"dispersion": [StrOptions({"pairwise", "centroid"})]})
def davies_bouldin_score(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    dispersion: str = "pairwise",
    metric: str | Callable = "euclidean",
    noise: str | None = None,
    n_jobs: int | None = None,
) -> float:
    """Compute the Davies-Bouldin index.

    ``(1/K) sum_k max_{l != k} (S_k + S_l) / d(mu_k, mu_l)``, where ``mu_k`` is the centroid of
    cluster ``k`` and ``S_k`` its dispersion. Range [0, inf]; 0 is best, smaller is better.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The samples.
    labels : array-like of shape (n_samples,)
        The cluster of each sample; numbers or strings.
    dispersion : {"pairwise", "centroid"}, default="pairwise"
        ``S_k`` is the mean distance of the pairs of samples in the cluster ("pairwise"), or the
        mean distance of its samples to the centroid ("centroid", the form of scikit-learn).
    metric : str or callable, default="euclidean"
        Any symmetric metric of :func:`sklearn.metrics.pairwise_distances` that can measure a mean
        of samples: not "precomputed", and not the metrics of Boolean vectors.
    noise : {"cluster", "drop", "singletons"} or None, default=None
        What label -1, also as text, means: a cluster ("cluster"; None does the same and warns),
        samples to leave out ("drop"), or samples that each form a cluster ("singletons").
    n_jobs : int or None, default=None
        Number of threads; the numbers do not depend on it.

    Returns
    -------
    davies_bouldin : float
        Without unit; inf when two centroids coincide.

    Raises
    ------
    ValueError
        If there are fewer than two clusters, the metric has no centroids, or the input is
        malformed.

    See Also
    --------
    sklearn.metrics.davies_bouldin_score : The Euclidean centroid form.

    Notes
    -----
    The dispersion of a singleton is 0. Where centroids coincide scikit-learn returns 0.0, the best
    value, in some cases; here the index is inf. Davies and Bouldin allow any power mean for the
    dispersion; both forms here are of the first power.

    References
    ----------
    .. [1] Davies, D. L. and Bouldin, D. W. (1979). A cluster separation measure. IEEE Transactions
       on Pattern Analysis and Machine Intelligence, 1(2), 224-227.
       https://doi.org/10.1109/TPAMI.1979.4766909

    Examples
    --------
    >>> from skeval.metrics.cluster import davies_bouldin_score
    >>> X, labels = [[0.0], [2.0], [9.0], [11.0]], [0, 0, 1, 1]
    >>> round(davies_bouldin_score(X, labels), 4)
    0.4444
    >>> round(davies_bouldin_score(X, labels, dispersion="centroid"), 4)
    0.2222
    """
    check_has_centroids(metric)
    samples = check_samples(X, labels, metric=metric, noise=noise, min_clusters=2)
    points, partition = samples.points, samples.partition
    if dispersion == "pairwise":
        totals, _ = within_pass(samples.tiles, partition.members, n_jobs=n_jobs)
        spread = mean_within(totals, partition.sizes)
        return davies_bouldin_index(spread, between_centroids(points, partition, metric))
    to_centroid, between = centroid_distances_of(points, partition, metric)
    return davies_bouldin_index(mean_to_centroid(to_centroid, partition), between)
