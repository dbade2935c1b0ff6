"""Distances within and between clusters."""

import warnings
from collections.abc import Callable
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import UndefinedMetricWarning

from skeval.metrics.cluster._centroids import between_centroids
from skeval.metrics.cluster._cluster_distances import BetweenClusterDistances, ClusterDistances
from skeval.metrics.cluster._davies_bouldin import mean_of_pairs
from skeval.metrics.cluster._distance_pass import distance_pass, within_pass
from skeval.metrics.cluster._partition import Partition
from skeval.metrics.cluster._samples import NOISE_RULE, check_samples, has_centroids, metric_rule
from skeval.utils._compat import validate_params

__all__ = ["between_cluster_distances", "mean_between", "within_cluster_distances"]

RULES: dict[str, list] = {
    "X": ["array-like", "sparse matrix"],
    "labels": ["array-like"],
    "metric": metric_rule(),
    "noise": NOISE_RULE,
    "n_jobs": [Integral, None],
}


def mean_between(sums: np.ndarray, partition: Partition) -> np.ndarray:
    """Return the (K, K) mean distances between clusters from the (K, n) sums; nan to itself."""
    totals = np.add.reduceat(sums, partition.starts, axis=1)
    means = totals / (partition.sizes[:, None] * partition.sizes)
    np.fill_diagonal(means, np.nan)
    return means


@validate_params(RULES, prefer_skip_nested_validation=True)
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
        The samples, or their distances when ``metric="precomputed"``.
    labels : array-like of shape (n_samples,)
        The cluster of each sample; numbers or strings.
    metric : str or callable, default="euclidean"
        Any symmetric metric of :func:`sklearn.metrics.pairwise_distances`, or "precomputed".
    noise : {"cluster", "drop", "singletons"} or None, default=None
        What label -1 means: a cluster like any other ("cluster"; None does the same and warns),
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
    Handl, J., Knowles, J. & Kell, D. B. (2005). Computational cluster validation in post-genomic
    data analysis. Bioinformatics, 21(15), 3201-3212. https://doi.org/10.1093/bioinformatics/bti517

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
    mean = mean_of_pairs(totals, partition.sizes)
    return ClusterDistances(partition.names, partition.sizes, mean, largest)


@validate_params(RULES, prefer_skip_nested_validation=True)
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
        The samples, or their distances when ``metric="precomputed"``.
    labels : array-like of shape (n_samples,)
        The cluster of each sample; numbers or strings.
    metric : str or callable, default="euclidean"
        Any symmetric metric of :func:`sklearn.metrics.pairwise_distances`, or "precomputed".
    noise : {"cluster", "drop", "singletons"} or None, default=None
        What label -1 means: a cluster like any other ("cluster"; None does the same and warns),
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
    Handl, J., Knowles, J. & Kell, D. B. (2005). Computational cluster validation in post-genomic
    data analysis. Bioinformatics, 21(15), 3201-3212. https://doi.org/10.1093/bioinformatics/bti517

    Examples
    --------
    >>> from skeval.metrics.cluster import between_cluster_distances
    >>> print(between_cluster_distances([[0.0], [2.0], [5.0], [9.0]], ["a", "a", "b", "b"]))
           label       other        mean         min    centroid
               a           b           6           3           6
    """
    samples = check_samples(X, labels, metric=metric, noise=noise, min_clusters=2)
    partition = samples.partition
    reduced = distance_pass(samples.tiles, partition.starts, partition.n_samples, n_jobs=n_jobs)
    np.fill_diagonal(reduced.smallest, np.nan)
    if has_centroids(metric):
        centroid = between_centroids(samples.points, partition.members, metric)
    else:
        warnings.warn(
            f"centroid is nan: metric={metric!r} has no centroids.",
            UndefinedMetricWarning,
            stacklevel=3,
        )
        centroid = np.full_like(reduced.smallest, np.nan)
    return BetweenClusterDistances(
        labels=partition.names,
        mean=mean_between(reduced.sums, partition),
        min=reduced.smallest,
        centroid=centroid,
    )
