"""Compactness: how near the samples are to the centroid of their cluster."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from skeval.metrics.cluster._centroids import mean_to_centroid, to_centroids
from skeval.metrics.cluster._partition import Partition
from skeval.metrics.cluster._samples import (
    CONSTRAINTS,
    METRIC_CONSTRAINTS,
    check_has_centroids,
    check_samples,
)
from skeval.metrics.cluster._separation import ClusterDistances
from skeval.utils._compat import validate_params

__all__ = [
    "centroid_distances",
    "compactness_score",
    "within_cluster_sse",
    "within_cluster_variance",
]


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
