"""Indices of the distances between samples: separation, silhouette, Dunn, connectivity, trees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.random import Generator, RandomState
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length

from skeval.metrics.cluster._centroids import ClusterDistances, between_centroids
from skeval.metrics.cluster._kernels.distance_pass import (
    add_to_totals,
    mean_between,
    mean_within,
    within_pass,
)
from skeval.metrics.cluster._kernels.distances import MetricOfRows, Tiles
from skeval.metrics.cluster._kernels.nearest_farthest import largest_diameter, nearest_between
from skeval.metrics.cluster._kernels.neighbours import (
    VISIT_COST,
    Nearest,
    PlaceTree,
    foreign_weight_by_rows,
)
from skeval.metrics.cluster._samples import (
    PASS_CONSTRAINTS,
    Partition,
    Samples,
    check_samples,
    has_centroids,
)
from skeval.utils._checks import check_count, give_nan, warn_undefined
from skeval.utils._compat import Interval, num_samples, safe_indexing, validate_params
from skeval.utils._frames import DataFrame, make_frame
from skeval.utils._seeds import RandomStateLike, small_seed
from skeval.utils._text import ShownAsText

__all__ = [
    "BetweenClusterDistances",
    "between_cluster_distances",
    "check_n_neighbors",
    "connectivity_by_tree",
    "connectivity_from_pass",
    "connectivity_score",
    "dunn_ratio",
    "dunn_score",
    "extremes_by_bounds",
    "mst_compactness",
    "silhouette_samples",
    "silhouette_score",
    "silhouettes",
    "within_cluster_distances",
]


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


def silhouettes(sums: np.ndarray, partition: Partition, rows: slice) -> np.ndarray:
    """Return the (r,) silhouettes of sorted rows from their (K, r) distance sums to clusters."""
    cluster, sizes = partition.cluster[rows], partition.sizes
    column = np.arange(len(cluster))
    own = sums[cluster, column] / np.maximum(sizes[cluster] - 1, 1)
    means = sums / sizes[:, None]
    means[cluster, column] = np.inf
    other = means.min(axis=0)
    larger = np.maximum(own, other)
    defined = (sizes[cluster] > 1) & (larger > 0)
    return np.divide(other - own, larger, out=np.zeros(len(cluster)), where=defined)


@validate_params(PASS_CONSTRAINTS)
def silhouette_samples(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    metric: str | Callable = "euclidean",
    noise: str | None = None,
    n_jobs: int | None = None,
    **metric_arguments: Any,
) -> np.ndarray:
    """Compute the silhouette of each sample.

    ``s_i = (b_i - a_i) / max(a_i, b_i)``, where ``a_i`` is the mean distance to the other samples
    of the same cluster and ``b_i`` the smallest mean distance to the samples of another cluster.
    Range [-1, 1]; best 1; negative where another cluster is nearer on average.

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
    **metric_arguments : dict
        Arguments of the metric, such as ``p=3`` of "minkowski".

    Returns
    -------
    silhouettes : ndarray of shape (n_samples,)
        Without unit. Samples dropped as noise get nan.

    Raises
    ------
    ValueError
        If there are fewer than two clusters, the input is malformed, or distances are given with
        arguments of a metric.

    See Also
    --------
    silhouette_score : The mean over the samples.
    sklearn.metrics.silhouette_samples : The same numbers by the full distance matrix.

    Notes
    -----
    The silhouette of a singleton is 0, and so is that of a sample at distance 0 from its own and
    from another cluster. Unlike in scikit-learn, every sample may be a singleton.

    References
    ----------
    .. [1] Rousseeuw, P. J. (1987). Silhouettes: a graphical aid to the interpretation and
       validation of cluster analysis. Journal of Computational and Applied Mathematics, 20, 53-65.
       https://doi.org/10.1016/0377-0427(87)90125-7

    Examples
    --------
    >>> from skeval.metrics.cluster import silhouette_samples
    >>> silhouette_samples([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1]).round(3)
    array([0.818, 0.778, 0.778, 0.818])
    """
    metric = _bind_arguments(metric, metric_arguments)
    samples = check_samples(X, labels, metric=metric, noise=noise, min_clusters=2, by_place=True)
    partition = samples.partition
    _, strips = samples.reduce_distances(extremes=False, n_jobs=n_jobs)
    found = [silhouettes(sums, partition, rows) for rows, sums in strips]
    return partition.unsort(np.concatenate(found))


@validate_params(
    PASS_CONSTRAINTS
    | {
        "sample_size": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state", Generator],
    }
)
def silhouette_score(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    metric: str | Callable = "euclidean",
    sample_size: int | None = None,
    random_state: RandomStateLike = None,
    noise: str | None = None,
    n_jobs: int | None = None,
    **metric_arguments: Any,
) -> float:
    """Compute the silhouette width, the mean silhouette of all samples.

    ``mean_i (b_i - a_i) / max(a_i, b_i)``, where ``a_i`` is the mean distance to the other samples
    of the same cluster and ``b_i`` the smallest mean distance to the samples of another cluster.
    Range [-1, 1]; best 1, worst -1.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        The samples, or their distances when ``metric="precomputed"``; what a sparse matrix of
        distances does not store is 0, which a graph of neighbours does not mean and is refused.
    labels : array-like of shape (n_samples,)
        The cluster of each sample; numbers or strings.
    metric : str or callable, default="euclidean"
        Any symmetric metric of :func:`sklearn.metrics.pairwise_distances`, or "precomputed".
    sample_size : int or None, default=None
        Number of samples to draw, without replacement, of which the silhouette is computed; None
        takes all, which one pass over the distances does without holding them.
    random_state : int, RandomState, Generator or None, default=None
        Draws that sample; an int draws the same one as scikit-learn's function.
    noise : {"cluster", "drop", "singletons"} or None, default=None
        What label -1, also as text, means: a cluster ("cluster"; None does the same and warns),
        samples to leave out ("drop"), or samples that each form a cluster ("singletons").
    n_jobs : int or None, default=None
        Number of threads; the numbers do not depend on it.
    **metric_arguments : dict
        Arguments of the metric, such as ``p=3`` of "minkowski".

    Returns
    -------
    silhouette : float
        Without unit; samples dropped as noise do not count.

    Raises
    ------
    ValueError
        If there are fewer than two clusters, or the input is malformed.

    See Also
    --------
    silhouette_samples : The silhouette of each sample.

    Notes
    -----
    Singletons count with silhouette 0. Some texts average by cluster first; this is the mean over
    samples, as in scikit-learn.

    References
    ----------
    .. [1] Rousseeuw, P. J. (1987). Silhouettes: a graphical aid to the interpretation and
       validation of cluster analysis. Journal of Computational and Applied Mathematics, 20, 53-65.
       https://doi.org/10.1016/0377-0427(87)90125-7

    Examples
    --------
    >>> from skeval.metrics.cluster import silhouette_score
    >>> round(silhouette_score([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1]), 3)
    0.798
    """
    if sample_size is not None:
        X, labels = _draw_sample(X, labels, sample_size, random_state, metric == "precomputed")
    options: dict[str, Any] = {"metric": metric, "noise": noise, "n_jobs": n_jobs}
    return float(np.nanmean(silhouette_samples(X, labels, **options, **metric_arguments)))


def _bind_arguments(metric: str | Callable, arguments: dict[str, Any]) -> str | Callable:
    """Return a metric that needs no further arguments."""
    if not arguments:
        return metric
    if metric == "precomputed":
        raise ValueError(f'metric="precomputed" takes no arguments, got {list(arguments)}.')
    return (
        MetricOfRows(metric, arguments) if isinstance(metric, str) else partial(metric, **arguments)
    )


def _draw_sample(
    X: Any, labels: Any, size: int, random_state: RandomStateLike, precomputed: bool
) -> tuple[Any, Any]:
    """Return some of the samples, those that scikit-learn draws for the same seed."""
    check_consistent_length(X, labels)
    rows = RandomState(small_seed(random_state)).permutation(num_samples(X))[:size]
    some = safe_indexing(X, rows)
    return safe_indexing(some, rows, axis=1) if precomputed else some, safe_indexing(labels, rows)


def dunn_ratio(nearest: float, diameter: float) -> float:
    """Return nearest / diameter; inf where only the diameter is 0, nan where both are."""
    if diameter > 0:
        return float(nearest / diameter)
    if nearest > 0:
        return float("inf")
    return give_nan(
        "The Dunn index is 0 / 0: two clusters share a point and no cluster has two different ones."
    )


@validate_params(PASS_CONSTRAINTS)
def dunn_score(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    metric: str | Callable = "euclidean",
    noise: str | None = None,
    n_jobs: int | None = None,
) -> float:
    """Compute the Dunn index.

    ``min_{k<l} d_min(C_k, C_l) / max_m diam(C_m)``: the distance of the nearest pair of samples
    in different clusters over that of the farthest pair within one cluster. Range [0, inf]; larger
    is better, 0 is the worst value.

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
    dunn : float
        Without unit; inf when every cluster has diameter 0 and no two clusters touch.

    Raises
    ------
    ValueError
        If there are fewer than two clusters, or the input is malformed.

    Warns
    -----
    UndefinedMetricWarning
        If both distances are 0; the index is nan.

    See Also
    --------
    davies_bouldin_score : The mean over clusters in place of the worst case.

    Notes
    -----
    Dense Euclidean data need no pass over all pairs where k-d trees prune, which a sample of
    searches tells: they find the nearest pair, bounds on radii and bounding boxes the diameter;
    both are exact. The "generalized" indices that some packages call Dunn put mean or centroid
    distances in either place.

    References
    ----------
    .. [1] Dunn, J. C. (1974). Well-separated clusters and optimal fuzzy partitions. Journal of
       Cybernetics, 4(1), 95-104. https://doi.org/10.1080/01969727408546059

    Examples
    --------
    >>> from skeval.metrics.cluster import dunn_score
    >>> dunn_score([[0.0], [1.0], [5.0], [7.0]], [0, 0, 1, 1])
    2.0
    """
    samples = check_samples(X, labels, metric=metric, noise=noise, min_clusters=2)
    extremes = extremes_by_bounds(samples, n_jobs=n_jobs)
    if extremes is None:
        reduced, _ = samples.reduce_distances(sums=False, by_pair=False, n_jobs=n_jobs)
        extremes = float(reduced.smallest.min()), float(reduced.largest.max())
    return dunn_ratio(*extremes)


def extremes_by_bounds(samples: Samples, *, n_jobs: int | None) -> tuple[float, float] | None:
    """Return the nearest pair and the diameter; None where bounds do not prune."""
    if not samples.is_dense_euclidean:
        return None
    partition, points = samples.partition, samples.points
    budget = partition.n_samples / VISIT_COST
    nearest = nearest_between(points, partition.cluster, budget=budget, n_jobs=n_jobs)
    return None if nearest is None else (nearest, largest_diameter(points, partition.members))


def check_n_neighbors(n_neighbors: int, n_samples: int) -> None:
    """Raise unless every sample has that many others."""
    check_count("n_neighbors", n_neighbors)
    if n_neighbors >= n_samples:
        raise ValueError(
            f"n_neighbors must be smaller than the number of samples, {n_samples}, "
            f"got {n_neighbors}."
        )


def connectivity_by_tree(samples: Samples, n_neighbors: int, *, n_jobs: int | None) -> float | None:
    """Return the connectivity without looking at all pairs; None where a tree does not prune."""
    if not samples.is_dense_euclidean:
        return None
    workers = effective_n_jobs(n_jobs)
    tree = PlaceTree(samples.points, samples.partition.cluster, n_jobs=workers)
    return tree.foreign_weight(n_neighbors) if tree.prunes(n_neighbors) else None


def connectivity_from_pass(
    samples: Samples, nearest: Nearest | None, n_neighbors: int, *, n_jobs: int | None
) -> float:
    """Return the connectivity from the neighbours that a pass has kept, if it could."""
    if nearest is not None:
        return float(nearest.foreign_weights().sum())
    cluster = samples.partition.cluster
    return foreign_weight_by_rows(samples.tiles, cluster, samples.zero, n_neighbors, n_jobs=n_jobs)


@validate_params(PASS_CONSTRAINTS | {"n_neighbors": [Interval(Integral, 1, None, closed="left")]})
def connectivity_score(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    n_neighbors: int = 10,
    metric: str | Callable = "euclidean",
    noise: str | None = None,
    n_jobs: int | None = None,
) -> float:
    """Compute the connectivity of a clustering.

    ``sum_i sum_{j=1..L} x_ij`` with ``x_ij = 1/j`` if the j-th nearest neighbour of sample ``i``
    lies in another cluster, else 0. Range [0, n (1 + 1/2 + ... + 1/L)]; 0 is best, smaller is
    better. Despite its name it is not a score to maximise.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        The samples, or their distances when ``metric="precomputed"``; what a sparse matrix of
        distances does not store is 0, which a graph of neighbours does not mean and is refused.
    labels : array-like of shape (n_samples,)
        The cluster of each sample; numbers or strings.
    n_neighbors : int, default=10
        The number ``L`` of neighbours, smaller than the number of samples.
    metric : str or callable, default="euclidean"
        Any symmetric metric of :func:`sklearn.metrics.pairwise_distances`, or "precomputed".
    noise : {"cluster", "drop", "singletons"} or None, default=None
        What label -1, also as text, means: a cluster ("cluster"; None does the same and warns),
        samples to leave out ("drop"), or samples that each form a cluster ("singletons").
    n_jobs : int or None, default=None
        Number of threads.

    Returns
    -------
    connectivity : float
        Without unit; it grows with the number of samples. 0 for a single cluster.

    Raises
    ------
    ValueError
        If ``n_neighbors`` is not smaller than the number of samples, or the input is malformed.

    Notes
    -----
    Equidistant neighbours share the mean of the weights of their ranks, those beyond ``L`` being
    0, so that the order of the rows does not matter; distances within a relative 1e-10 are equal.
    The R packages clValid and clv break ties by row order and give another number where there are
    ties.

    References
    ----------
    .. [1] Handl, J., Knowles, J. and Kell, D. B. (2005). Computational cluster validation in
       post-genomic data analysis. Bioinformatics, 21(15), 3201-3212.
       https://doi.org/10.1093/bioinformatics/bti517

    Examples
    --------
    >>> from skeval.metrics.cluster import connectivity_score
    >>> X = [[0.0], [1.0], [2.5], [7.0], [8.5]]
    >>> connectivity_score(X, [0, 0, 0, 1, 1], n_neighbors=2)
    1.0
    """
    samples = check_samples(X, labels, metric=metric, noise=noise, by_place=True)
    check_n_neighbors(n_neighbors, samples.partition.n_samples)
    found = connectivity_by_tree(samples, n_neighbors, n_jobs=n_jobs)
    if found is not None:
        return found
    reduced, _ = samples.reduce_distances(
        sums=False, extremes=False, n_neighbors=n_neighbors, n_jobs=n_jobs
    )
    return connectivity_from_pass(samples, reduced.nearest, n_neighbors, n_jobs=n_jobs)


@validate_params(PASS_CONSTRAINTS)
def mst_compactness(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    metric: str | Callable = "euclidean",
    noise: str | None = None,
    n_jobs: int | None = None,
) -> ClusterDistances:
    """Compute the mean and the longest edge of the minimum spanning tree of each cluster.

    The tree joins the ``|C|`` samples of a cluster by the ``|C| - 1`` edges of least total length.
    Range [0, inf); 0 is best, smaller is better. Unlike the diameter it stays small for a long but
    dense cluster.

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
    edges : ClusterDistances
        ``labels``, ``sizes``, ``mean`` and ``max`` (the longest edge), one entry per cluster, in
        the unit of the metric.

    Raises
    ------
    ValueError
        If the input is malformed.

    See Also
    --------
    within_cluster_distances : Over all pairs in place of the edges of a tree.

    Notes
    -----
    A singleton has no edge; its mean and longest are 0. Prim's algorithm: ``|C|^2`` distances, of
    which ``|C|`` are held at a time.

    References
    ----------
    .. [1] Prim, R. C. (1957). Shortest connection networks and some generalizations. Bell System
       Technical Journal, 36(6), 1389-1401. https://doi.org/10.1002/j.1538-7305.1957.tb01515.x

    Examples
    --------
    >>> from skeval.metrics.cluster import mst_compactness
    >>> print(mst_compactness([[0.0], [1.0], [5.0], [7.0]], ["a", "a", "a", "b"]))
           label    size        mean         max
               a       3         2.5           4
               b       1           0           0
    """
    samples = check_samples(X, labels, metric=metric, noise=noise)
    partition = samples.partition
    trees = Parallel(n_jobs, require="sharedmem")(
        delayed(_spanning_edges)(samples.tiles, rows) for rows in partition.members
    )
    return ClusterDistances(
        labels=partition.names,
        sizes=partition.sizes,
        mean=np.array([edges.mean() if len(edges) else 0.0 for edges in trees]),
        max=np.array([edges.max(initial=0.0) for edges in trees]),
    )


def _spanning_edges(tiles: Tiles, members: slice) -> np.ndarray:
    """Return the edge lengths of the minimum spanning tree, by Prim's algorithm."""
    n = members.stop - members.start
    to_tree, edges, last = np.full(n, np.inf), np.empty(n - 1), 0
    outside = np.ones(n, dtype=bool)
    for step in range(n - 1):
        outside[last] = False
        row = slice(members.start + last, members.start + last + 1)
        np.minimum(to_tree, tiles(row)(members).distances[0], out=to_tree)
        last = int(np.where(outside, to_tree, np.inf).argmin())
        edges[step] = to_tree[last]
    return edges
