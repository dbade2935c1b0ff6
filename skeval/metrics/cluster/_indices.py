"""Internal indices of clusterings, and the table of all indices.

The module contains distances within and between clusters and to centroids, and the silhouette,
Dunn, connectivity, compactness and Davies-Bouldin indices. Each function measures the quantities
that its row lists and computes the index from them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from inspect import signature
from numbers import Integral
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.random import Generator, RandomState
from numpy.typing import ArrayLike
from sklearn.metrics import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    calinski_harabasz_score,
    completeness_score,
    homogeneity_score,
    mutual_info_score,
    normalized_mutual_info_score,
    rand_score,
    v_measure_score,
)
from sklearn.utils import check_consistent_length

from skeval.metrics.cluster import _external
from skeval.metrics.cluster._dbcv import dbcv_score
from skeval.metrics.cluster._kernels.distance_pass import silhouettes, slices
from skeval.metrics.cluster._kernels.distances import MetricOfRows, Partition, Tiles, to_centroids
from skeval.metrics.cluster._samples import (
    METRIC_CONSTRAINTS,
    PASS_CONSTRAINTS,
    check_has_centroids,
    check_n_neighbors,
    check_samples,
    measure,
)
from skeval.utils._checks import RandomStateLike, give_nan, small_seed, warn_undefined
from skeval.utils._compat import Interval, StrOptions, num_samples, safe_indexing, validate_params
from skeval.utils._options import CompactnessUnit, Dispersion, Noise

Table = dict[str, np.ndarray]
"""Columns by name."""


def by_cluster(partition: Partition, mean: np.ndarray, largest: np.ndarray) -> Table:
    """Return a table with the mean and the largest distance of each cluster."""
    return {"label": partition.names, "size": partition.sizes, "mean": mean, "max": largest}


@validate_params(PASS_CONSTRAINTS)
def within_cluster_distances(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    metric: str | Callable = "euclidean",
    noise: Noise | None = None,
    n_jobs: int | None = None,
) -> Table:
    """Compute the mean and the largest distance within each cluster.

    ``avg(C) = 2/(|C|(|C|-1)) sum_(i<j in C) d(x_i, x_j)`` and the diameter
    ``diam(C) = max_(i,j in C) d(x_i, x_j)``. Range [0, inf); 0 is best, smaller is better.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        The samples, or their distances if ``metric="precomputed"``. Missing entries of a sparse
        distance matrix are 0, so a neighbor graph is rejected.
    labels : array-like of shape (n_samples,)
        Cluster label of each sample; numbers or strings.
    metric : str or callable, default="euclidean"
        Any symmetric metric of :func:`sklearn.metrics.pairwise_distances`, or "precomputed".
    noise : {"cluster", "drop", "singletons"} or None, default=None
        Treatment of label -1, also as text: an ordinary cluster ("cluster"; None does the same and
        warns), samples to omit ("drop"), or one cluster per sample ("singletons").
    n_jobs : int or None, default=None
        Number of threads; results do not depend on it.

    Returns
    -------
    distances : dict of str to ndarray of shape (n_clusters,)
        The "label" and the "size" of each cluster, and the "mean" and the "max" of its distances,
        in the unit of the metric, as columns for ``pandas.DataFrame``.

    Raises
    ------
    ValueError
        If the input is invalid.

    See Also
    --------
    centroid_distances : Distances to the centroid.
    between_cluster_distances : Distances between clusters.

    Notes
    -----
    A singleton has no pairs; its mean and its diameter are 0 by convention. Only the pairs within
    clusters are computed.

    References
    ----------
    .. [1] Handl, J., Knowles, J. and Kell, D. B. (2005). Computational cluster validation in
       post-genomic data analysis. Bioinformatics, 21(15), 3201-3212.
       https://doi.org/10.1093/bioinformatics/bti517

    Examples
    --------
    >>> from skeval.metrics.cluster import within_cluster_distances
    >>> result = within_cluster_distances([[0.0], [1.0], [5.0], [7.0]], ["a", "a", "a", "b"])
    >>> result["mean"].round(2), result["max"]
    (array([3.33, 0.  ]), array([5., 0.]))
    """
    samples = check_samples(X, labels, metric=metric, noise=noise, n_jobs=n_jobs)
    result = measure(samples, {"mean_within", "max_within"})
    return by_cluster(samples.partition, result["mean_within"], result["max_within"])


@validate_params(PASS_CONSTRAINTS)
def between_cluster_distances(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    metric: str | Callable = "euclidean",
    noise: Noise | None = None,
    n_jobs: int | None = None,
) -> Table:
    """Compute the mean, smallest and centroid distance between each pair of clusters.

    The first two are the mean and the smallest ``d(x_i, x_j)`` over ``i`` in one and ``j`` in the
    other cluster, the third is ``d(mu_k, mu_l)`` between the centroids. Range [0, inf); larger is
    better, 0 is the worst value.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        The samples, or their distances if ``metric="precomputed"``. Missing entries of a sparse
        distance matrix are 0, so a neighbor graph is rejected.
    labels : array-like of shape (n_samples,)
        Cluster label of each sample; numbers or strings.
    metric : str or callable, default="euclidean"
        Any symmetric metric of :func:`sklearn.metrics.pairwise_distances`, or "precomputed".
    noise : {"cluster", "drop", "singletons"} or None, default=None
        Treatment of label -1, also as text: an ordinary cluster ("cluster"; None does the same and
        warns), samples to omit ("drop"), or one cluster per sample ("singletons").
    n_jobs : int or None, default=None
        Number of threads; results do not depend on it.

    Returns
    -------
    distances : dict of str to ndarray
        The "label" of each cluster, and three symmetric (n_clusters, n_clusters) arrays "mean",
        "min" and "centroid", in the unit of the metric. The diagonal of the first two is nan.

    Raises
    ------
    ValueError
        If there are fewer than two clusters, or the input is invalid.

    Warns
    -----
    UndefinedMetricWarning
        If the metric has no centroids ("precomputed", metrics of Boolean vectors); "centroid" is
        nan.

    See Also
    --------
    within_cluster_distances : Distances within each cluster.

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
    >>> result = between_cluster_distances([[0.0], [2.0], [5.0], [9.0]], ["a", "a", "b", "b"])
    >>> result["min"]
    array([[nan,  3.],
           [ 3., nan]])
    """
    samples = check_samples(X, labels, metric=metric, noise=noise, n_jobs=n_jobs, min_clusters=2)
    needs = {"mean_between", "min_between", "centroid_between"}
    result = measure(samples, needs)
    if result["centroid_between"] is None:
        warn_undefined(f"centroid is nan: metric={metric!r} has no centroids.")
        result["centroid_between"] = np.full_like(result["min_between"], np.nan)
    return {
        "label": samples.partition.names,
        "mean": result["mean_between"],
        "min": result["min_between"],
        "centroid": result["centroid_between"],
    }


@validate_params(PASS_CONSTRAINTS)
def silhouette_samples(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    metric: str | Callable = "euclidean",
    noise: Noise | None = None,
    n_jobs: int | None = None,
    **metric_arguments: Any,
) -> np.ndarray:
    """Compute the silhouette of each sample.

    ``s_i = (b_i - a_i) / max(a_i, b_i)``, where ``a_i`` is the mean distance to the other samples
    of the same cluster and ``b_i`` the smallest mean distance to the samples of another cluster.
    Range [-1, 1]; 1 is best, and negative values mean that another cluster is nearer on average.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        The samples, or their distances if ``metric="precomputed"``. Missing entries of a sparse
        distance matrix are 0, so a neighbor graph is rejected.
    labels : array-like of shape (n_samples,)
        Cluster label of each sample; numbers or strings.
    metric : str or callable, default="euclidean"
        Any symmetric metric of :func:`sklearn.metrics.pairwise_distances`, or "precomputed".
    noise : {"cluster", "drop", "singletons"} or None, default=None
        Treatment of label -1, also as text: an ordinary cluster ("cluster"; None does the same and
        warns), samples to omit ("drop"), or one cluster per sample ("singletons").
    n_jobs : int or None, default=None
        Number of threads; results do not depend on it.
    **metric_arguments : dict
        Arguments of the metric, such as ``p=3`` of "minkowski".

    Returns
    -------
    silhouettes : ndarray of shape (n_samples,)
        Silhouettes, without unit; nan for samples dropped as noise.

    Raises
    ------
    ValueError
        If there are fewer than two clusters, the input is malformed, or metric arguments are passed
        with precomputed distances.

    See Also
    --------
    silhouette_score : The mean over the samples.
    sklearn.metrics.silhouette_samples : Same values from the full distance matrix.

    Notes
    -----
    A singleton has silhouette 0, and so has a sample at distance 0 from both its own and another
    cluster. Unlike in scikit-learn, all samples may be singletons.

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
    samples = check_samples(
        X, labels, metric=metric, noise=noise, n_jobs=n_jobs, min_clusters=2, by_place=True
    )
    result = measure(samples, {"silhouette_samples"})
    values: np.ndarray = result["silhouette_samples"]
    return values


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
    noise: Noise | None = None,
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
        The samples, or their distances if ``metric="precomputed"``. Missing entries of a sparse
        distance matrix are 0, so a neighbor graph is rejected.
    labels : array-like of shape (n_samples,)
        Cluster label of each sample; numbers or strings.
    metric : str or callable, default="euclidean"
        Any symmetric metric of :func:`sklearn.metrics.pairwise_distances`, or "precomputed".
    sample_size : int or None, default=None
        Number of samples to draw without replacement. None uses all samples, in one pass that does
        not store the distance matrix.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws; an int gives the same result in each call. An int selects the same
        subsample as in scikit-learn's function.
    noise : {"cluster", "drop", "singletons"} or None, default=None
        Treatment of label -1, also as text: an ordinary cluster ("cluster"; None does the same and
        warns), samples to omit ("drop"), or one cluster per sample ("singletons").
    n_jobs : int or None, default=None
        Number of threads; results do not depend on it.
    **metric_arguments : dict
        Arguments of the metric, such as ``p=3`` of "minkowski".

    Returns
    -------
    silhouette : float
        Mean silhouette, without unit; samples dropped as noise are ignored.

    Raises
    ------
    ValueError
        If there are fewer than two clusters, or the input is invalid.

    See Also
    --------
    silhouette_samples : The silhouette of each sample.

    Notes
    -----
    Singletons have silhouette 0. Some texts average within clusters first; this function averages
    over samples, as in scikit-learn.

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
    """Return a subsample, the same as scikit-learn's for the same seed."""
    check_consistent_length(X, labels)
    rows = RandomState(small_seed(random_state)).permutation(num_samples(X))[:size]
    some = safe_indexing(X, rows)
    return safe_indexing(some, rows, axis=1) if precomputed else some, safe_indexing(labels, rows)


def dunn_ratio(nearest: float, diameter: float) -> float:
    """Return nearest / diameter; inf if only the diameter is 0, nan if both are."""
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
    noise: Noise | None = None,
    n_jobs: int | None = None,
) -> float:
    """Compute the Dunn index.

    ``min_{k<l} d_min(C_k, C_l) / max_m diam(C_m)``: the distance of the nearest pair of samples in
    different clusters divided by the distance of the farthest pair in one cluster. Range [0, inf];
    larger is better, 0 is the worst value.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        The samples, or their distances if ``metric="precomputed"``. Missing entries of a sparse
        distance matrix are 0, so a neighbor graph is rejected.
    labels : array-like of shape (n_samples,)
        Cluster label of each sample; numbers or strings.
    metric : str or callable, default="euclidean"
        Any symmetric metric of :func:`sklearn.metrics.pairwise_distances`, or "precomputed".
    noise : {"cluster", "drop", "singletons"} or None, default=None
        Treatment of label -1, also as text: an ordinary cluster ("cluster"; None does the same and
        warns), samples to omit ("drop"), or one cluster per sample ("singletons").
    n_jobs : int or None, default=None
        Number of threads; results do not depend on it.

    Returns
    -------
    dunn : float
        Dunn index, without unit; inf if all clusters have diameter 0 and no two clusters share a
        point.

    Raises
    ------
    ValueError
        If there are fewer than two clusters, or the input is invalid.

    Warns
    -----
    UndefinedMetricWarning
        If both distances are 0; the index is nan.

    See Also
    --------
    davies_bouldin_index : Mean over clusters instead of the worst case.

    Notes
    -----
    For dense Euclidean data, k-d trees avoid a pass over all pairs if they prune well, which is
    estimated from a sample of searches. Trees find the nearest pair, and bounds on radii exclude
    points from the diameter; both are exact. Some packages call "generalized" Dunn indices, with
    mean or centroid distances, Dunn index.

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
    samples = check_samples(X, labels, metric=metric, noise=noise, n_jobs=n_jobs, min_clusters=2)
    return dunn_ratio(*measure(samples, {"extremes"})["extremes"])


@validate_params(PASS_CONSTRAINTS | {"n_neighbors": [Interval(Integral, 1, None, closed="left")]})
def connectivity_score(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    n_neighbors: int = 10,
    metric: str | Callable = "euclidean",
    noise: Noise | None = None,
    n_jobs: int | None = None,
) -> float:
    """Compute the connectivity of a clustering.

    ``sum_i sum_{j=1..L} x_ij`` with ``x_ij = 1/j`` if the j-th nearest neighbor of sample ``i``
    lies in another cluster, and 0 otherwise. Range [0, n (1 + 1/2 + ... + 1/L)]; 0 is best, smaller
    is better. Despite its name, it must be minimized.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        The samples, or their distances if ``metric="precomputed"``. Missing entries of a sparse
        distance matrix are 0, so a neighbor graph is rejected.
    labels : array-like of shape (n_samples,)
        Cluster label of each sample; numbers or strings.
    n_neighbors : int, default=10
        Number ``L`` of neighbors, smaller than the number of samples.
    metric : str or callable, default="euclidean"
        Any symmetric metric of :func:`sklearn.metrics.pairwise_distances`, or "precomputed".
    noise : {"cluster", "drop", "singletons"} or None, default=None
        Treatment of label -1, also as text: an ordinary cluster ("cluster"; None does the same and
        warns), samples to omit ("drop"), or one cluster per sample ("singletons").
    n_jobs : int or None, default=None
        Number of threads; results do not depend on it.

    Returns
    -------
    connectivity : float
        Connectivity, without unit. It grows with the number of samples and is 0 for a single
        cluster.

    Raises
    ------
    ValueError
        If ``n_neighbors`` is not smaller than the number of samples, or the input is invalid.

    Notes
    -----
    Equidistant neighbors share the mean weight of their ranks, where ranks beyond ``L`` have weight
    0, so the result does not depend on the order of the rows. Distances with a relative difference
    below 1e-10 count as equal. The R packages clValid and clv break ties by row order, so their
    values differ if there are ties.

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
    samples = check_samples(X, labels, metric=metric, noise=noise, n_jobs=n_jobs, by_place=True)
    check_n_neighbors(n_neighbors, samples.partition.n_samples)
    return float(measure(samples, {"connectivity"}, n_neighbors)["connectivity"])


@validate_params(PASS_CONSTRAINTS)
def mst_compactness(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    metric: str | Callable = "euclidean",
    noise: Noise | None = None,
    n_jobs: int | None = None,
) -> Table:
    """Compute the mean and the longest edge of the minimum spanning tree of each cluster.

    The tree joins the ``|C|`` samples of a cluster by ``|C| - 1`` edges of minimum total length.
    Range [0, inf); 0 is best, smaller is better. Unlike the diameter it stays small for a long but
    dense cluster.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        The samples, or their distances if ``metric="precomputed"``. Missing entries of a sparse
        distance matrix are 0, so a neighbor graph is rejected.
    labels : array-like of shape (n_samples,)
        Cluster label of each sample; numbers or strings.
    metric : str or callable, default="euclidean"
        Any symmetric metric of :func:`sklearn.metrics.pairwise_distances`, or "precomputed".
    noise : {"cluster", "drop", "singletons"} or None, default=None
        Treatment of label -1, also as text: an ordinary cluster ("cluster"; None does the same and
        warns), samples to omit ("drop"), or one cluster per sample ("singletons").
    n_jobs : int or None, default=None
        Number of threads; results do not depend on it.

    Returns
    -------
    edges : dict of str to ndarray of shape (n_clusters,)
        The "label" and the "size" of each cluster, and the "mean" and the "max" of its edges, in
        the unit of the metric, as columns for ``pandas.DataFrame``.

    Raises
    ------
    ValueError
        If the input is invalid.

    See Also
    --------
    within_cluster_distances : Uses all pairs instead of tree edges.

    Notes
    -----
    A singleton has no edges; its mean and longest edge are 0. Prim's algorithm computes ``|C|^2``
    distances and stores ``|C|`` at a time.

    References
    ----------
    .. [1] Prim, R. C. (1957). Shortest connection networks and some generalizations. Bell System
       Technical Journal, 36(6), 1389-1401. https://doi.org/10.1002/j.1538-7305.1957.tb01515.x

    Examples
    --------
    >>> from skeval.metrics.cluster import mst_compactness
    >>> result = mst_compactness([[0.0], [1.0], [5.0], [7.0]], ["a", "a", "a", "b"])
    >>> result["mean"], result["max"]
    (array([2.5, 0. ]), array([4., 0.]))
    """
    samples = check_samples(X, labels, metric=metric, noise=noise)
    partition = samples.partition
    trees = Parallel(n_jobs, require="sharedmem")(
        delayed(_spanning_edges)(samples.tiles, rows) for rows in partition.members
    )
    mean = np.array([edges.mean() if len(edges) else 0.0 for edges in trees])
    return by_cluster(partition, mean, np.array([edges.max(initial=0.0) for edges in trees]))


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


def _to_own_centroid(
    X: ArrayLike, labels: ArrayLike, metric: str | Callable, noise: str | None
) -> tuple[np.ndarray, Partition]:
    check_has_centroids(metric)
    samples = check_samples(X, labels, metric=metric, noise=noise)
    return to_centroids(samples.points, samples.partition, metric), samples.partition


UNITS: dict[str, Callable[[np.ndarray], Any]] = {
    "root_mean": lambda distances: np.sqrt(distances.mean()),
    "mean": np.mean,
    "sum": np.sum,
}


@validate_params(METRIC_CONSTRAINTS | {"unit": [StrOptions(set(UNITS))]})
def compactness_score(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    unit: CompactnessUnit = "root_mean",
    metric: str | Callable = "sqeuclidean",
    noise: Noise | None = None,
) -> float:
    """Compute the compactness, within-cluster variance or sum of squared errors.

    ``SSE = sum_k sum_(i in k) delta(x_i, mu_k)``, where ``mu_k`` is the centroid of cluster ``k``
    and ``delta`` by default the squared Euclidean distance, as minimized by K-means. ``SSE / n`` is
    the variance within clusters, and its square root the compactness, the root mean square distance
    to the centroid. Range [0, inf); 0 is best, smaller is better.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The samples.
    labels : array-like of shape (n_samples,)
        Cluster label of each sample; numbers or strings.
    unit : {"root_mean", "mean", "sum"}, default="root_mean"
        "root_mean" is the compactness, in the unit of the features; "mean" is the variance and
        "sum" the sum of squared errors, both in the squared unit.
    metric : str or callable, default="sqeuclidean"
        Any metric of :func:`sklearn.metrics.pairwise_distances` that is defined for a mean of
        samples, so not "precomputed" and not the metrics of Boolean vectors.
    noise : {"cluster", "drop", "singletons"} or None, default=None
        Treatment of label -1, also as text: an ordinary cluster ("cluster"; None does the same and
        warns), samples to omit ("drop"), or one cluster per sample ("singletons").

    Returns
    -------
    compactness : float

    Raises
    ------
    ValueError
        If the metric has no centroids or the input is invalid.

    See Also
    --------
    centroid_distances : Distances by cluster.

    Notes
    -----
    One cluster is allowed. With another ``delta`` the square root is still taken, as in the
    definition, so ``metric="euclidean"`` gives the root of the mean distance.

    The sum is the ``inertia_`` of a :class:`sklearn.cluster.KMeans` that has converged. All three
    fall as clusters are added, so they only compare partitions with equal numbers of clusters. The
    variance is summed over the features and divided by ``n``; the denominator of the
    Calinski-Harabasz index divides by ``n - K``.

    References
    ----------
    .. [1] Handl, J., Knowles, J. and Kell, D. B. (2005). Computational cluster validation in
       post-genomic data analysis. Bioinformatics, 21(15), 3201-3212.
       https://doi.org/10.1093/bioinformatics/bti517
    .. [2] MacQueen, J. (1967). Some methods for classification and analysis of multivariate
       observations. Proceedings of the Fifth Berkeley Symposium, 1, 281-297.

    Examples
    --------
    >>> from skeval.metrics.cluster import compactness_score
    >>> X, labels = [[0.0], [2.0], [7.0], [9.0]], [0, 0, 1, 1]
    >>> compactness_score(X, labels), compactness_score(X, labels, unit="sum")
    (1.0, 4.0)
    """
    distances, _ = _to_own_centroid(X, labels, metric, noise)
    return float(UNITS[unit](distances))


@validate_params(METRIC_CONSTRAINTS)
def centroid_distances(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    metric: str | Callable = "euclidean",
    noise: Noise | None = None,
) -> Table:
    """Compute the mean and the largest distance to the centroid of each cluster.

    ``mean_(i in k) d(x_i, mu_k)`` and ``max_(i in k) d(x_i, mu_k)``. Range [0, inf); 0 is best,
    smaller is better.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The samples.
    labels : array-like of shape (n_samples,)
        Cluster label of each sample; numbers or strings.
    metric : str or callable, default="euclidean"
        Any metric of :func:`sklearn.metrics.pairwise_distances` that is defined for a mean of
        samples, so not "precomputed" and not the metrics of Boolean vectors.
    noise : {"cluster", "drop", "singletons"} or None, default=None
        Treatment of label -1, also as text: an ordinary cluster ("cluster"; None does the same and
        warns), samples to omit ("drop"), or one cluster per sample ("singletons").

    Returns
    -------
    distances : dict of str to ndarray of shape (n_clusters,)
        The "label" and the "size" of each cluster, and the "mean" and the "max" of its distances,
        in the unit of the metric, as columns for ``pandas.DataFrame``.

    Raises
    ------
    ValueError
        If the metric has no centroids or the input is invalid.

    See Also
    --------
    within_cluster_distances : Distances between the samples of a cluster.

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
    >>> result = centroid_distances([[0.0], [4.0], [7.0]], ["a", "a", "b"])
    >>> result["mean"], result["max"]
    (array([2., 0.]), array([2., 0.]))
    """
    distances, partition = _to_own_centroid(X, labels, metric, noise)
    mean = np.add.reduceat(distances, partition.starts) / partition.sizes
    return by_cluster(partition, mean, np.maximum.reduceat(distances, partition.starts))


MAX_PAIRS = 2**20
"""Maximum number of pairs of clusters compared at once."""


def davies_bouldin_ratio(dispersion: np.ndarray, between: np.ndarray) -> float:
    """Return (1/K) sum_k max_{l != k} (S_k + S_l) / d(k, l); inf if centroids coincide."""
    K = len(dispersion)
    worst = np.empty(K)
    for rows in slices(K, max(1, MAX_PAIRS // K)):
        distance = between[rows]
        ratio = np.full(distance.shape, np.inf)
        sums = dispersion[rows, None] + dispersion
        np.divide(sums, distance, out=ratio, where=distance > 0)
        ratio[np.arange(len(ratio)), np.arange(K)[rows]] = -np.inf
        worst[rows] = ratio.max(axis=1)
    return float(worst.mean())


@validate_params(PASS_CONSTRAINTS | {"dispersion": [StrOptions({"pairwise", "centroid"})]})
def davies_bouldin_index(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    dispersion: Dispersion = "pairwise",
    metric: str | Callable = "euclidean",
    noise: Noise | None = None,
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
        Cluster label of each sample; numbers or strings.
    dispersion : {"pairwise", "centroid"}, default="pairwise"
        ``S_k`` is the mean distance of the pairs of samples in the cluster ("pairwise"), or the
        mean distance of its samples to the centroid ("centroid", the form of scikit-learn).
    metric : str or callable, default="euclidean"
        Any symmetric metric of :func:`sklearn.metrics.pairwise_distances` that is defined for a
        mean of samples, so not "precomputed" and not the metrics of Boolean vectors.
    noise : {"cluster", "drop", "singletons"} or None, default=None
        Treatment of label -1, also as text: an ordinary cluster ("cluster"; None does the same and
        warns), samples to omit ("drop"), or one cluster per sample ("singletons").
    n_jobs : int or None, default=None
        Number of threads; results do not depend on it.

    Returns
    -------
    davies_bouldin : float
        Davies-Bouldin index, without unit; inf if two centroids coincide.

    Raises
    ------
    ValueError
        If there are fewer than two clusters, the metric has no centroids, or the input is invalid.

    See Also
    --------
    davies_bouldin_score : The Euclidean centroid form of scikit-learn.

    Notes
    -----
    The dispersion of a singleton is 0. If centroids coincide, scikit-learn returns 0.0, the best
    value, in some cases; here the index is inf. Davies and Bouldin allow any power mean for the
    dispersion; both forms here use the first power.

    References
    ----------
    .. [1] Davies, D. L. and Bouldin, D. W. (1979). A cluster separation measure. IEEE Transactions
       on Pattern Analysis and Machine Intelligence, 1(2), 224-227.
       https://doi.org/10.1109/TPAMI.1979.4766909

    Examples
    --------
    >>> from skeval.metrics.cluster import davies_bouldin_index
    >>> X, labels = [[0.0], [2.0], [9.0], [11.0]], [0, 0, 1, 1]
    >>> round(davies_bouldin_index(X, labels), 4)
    0.4444
    >>> round(davies_bouldin_index(X, labels, dispersion="centroid"), 4)
    0.2222
    """
    check_has_centroids(metric)
    samples = check_samples(X, labels, metric=metric, noise=noise, n_jobs=n_jobs, min_clusters=2)
    spread = "mean_within" if dispersion == "pairwise" else "mean_to_centroid"
    result = measure(samples, {spread, "centroid_between"})
    return davies_bouldin_ratio(result[spread], result["centroid_between"])


def calinski_harabasz_index(squares: np.ndarray, between: float, n_clusters: int) -> float:
    """Return ``[between / (K - 1)] / [squares.sum() / (n - K)]``; inf if only the sum is 0."""
    n, K, sse = len(squares), n_clusters, float(squares.sum())
    if n == K:
        return float("nan")
    if sse == 0:
        return float("inf") if between > 0 else float("nan")
    return float(between / (K - 1) / sse * (n - K))


@dataclass(frozen=True)
class Index:
    """Properties of an index: one row of the table `INDICES`.

    Attributes
    ----------
    name : str
        Name in `internal_indices` and `compare_clusterings`.
    function : callable
        ``(X, labels) -> float`` for an internal index, ``(labels_true, labels_pred) -> float`` for
        an external index.
    low, high : float
        Smallest and largest value.
    greater_is_better : bool
        Whether larger values are better.
    needs : frozenset of str
        Quantities of `measure` used by `compute`; empty if `internal_indices` does not offer the
        index.
    compute : callable or None
        ``quantities -> float``.
    by_row : callable or None
        ``(sums, weights, partition, rows) -> values`` whose mean is the index, so that it can be
        estimated from a sample of rows.
    """

    name: str
    function: Callable[..., float]
    low: float
    high: float
    greater_is_better: bool
    needs: frozenset[str] = frozenset()
    compute: Callable[[dict[str, Any]], float] | None = None
    by_row: Callable[[np.ndarray, np.ndarray, Partition, slice], np.ndarray] | None = None

    @property
    def bound(self) -> dict[str, Any]:
        """Arguments bound to the function if the index is a `partial` of it."""
        return self.function.keywords if isinstance(self.function, partial) else {}

    @property
    def function_name(self) -> str:
        """Name of the function, without bound arguments."""
        function = self.function.func if isinstance(self.function, partial) else self.function
        return str(function.__name__)

    @property
    def is_internal(self) -> bool:
        """Whether the index uses the data rather than reference labels."""
        return next(iter(signature(self.function).parameters)) == "X"


def davies_bouldin_row(dispersion: Dispersion, spread: str) -> Index:
    """Return the row of one form of the Davies-Bouldin index."""
    return Index(
        f"davies_bouldin_{dispersion}",
        partial(davies_bouldin_index, dispersion=dispersion),
        0.0,
        np.inf,
        False,
        frozenset({spread, "centroid_between"}),
        lambda result: davies_bouldin_ratio(result[spread], result["centroid_between"]),
    )


INTERNAL = (
    Index(
        "compactness", compactness_score, 0.0, np.inf, False,
        frozenset({"squares"}),
        lambda result: float(np.sqrt(result["squares"].sum() / len(result["squares"]))),
    ),
    Index(
        "sse", partial(compactness_score, unit="sum"), 0.0, np.inf, False,
        frozenset({"squares"}),
        lambda result: float(result["squares"].sum()),
    ),
    Index(
        "silhouette", silhouette_score, -1.0, 1.0, True,
        frozenset({"silhouette_samples"}),
        lambda result: float(result["silhouettes"].mean()),
        lambda sums, _, partition, rows: silhouettes(sums, partition, rows),
    ),
    Index(
        "dunn", dunn_score, 0.0, np.inf, True,
        frozenset({"extremes"}),
        lambda result: dunn_ratio(*result["extremes"]),
    ),
    davies_bouldin_row("pairwise", "mean_within"),
    davies_bouldin_row("centroid", "mean_to_centroid"),
    Index(
        "calinski_harabasz", calinski_harabasz_score, 0.0, np.inf, True,
        frozenset({"squares", "between_squares"}),
        lambda result: calinski_harabasz_index(
            result["squares"], result["between_squares"], len(result["sizes"])
        ),
    ),
    Index(
        "connectivity", connectivity_score, 0.0, np.inf, False,
        frozenset({"connectivity"}),
        lambda result: float(result["connectivity"]),
        lambda _, weights, partition, rows: partition.n_samples * weights,
    ),
    Index(
        "within_cluster_variance", partial(compactness_score, unit="mean"), 0.0, np.inf, False
    ),
    Index("dbcv", dbcv_score, -1.0, 1.0, True),
)  # fmt: skip
EXTERNAL = (
    Index("adjusted_mutual_info", adjusted_mutual_info_score, -np.inf, 1.0, True),
    Index("adjusted_rand", adjusted_rand_score, -1.0, 1.0, True),
    Index("class_f_measure", _external.class_f_measure, 0.0, 1.0, True),
    Index("completeness", completeness_score, 0.0, 1.0, True),
    Index("fowlkes_mallows", _external.fowlkes_mallows_score, 0.0, 1.0, True),
    Index("homogeneity", homogeneity_score, 0.0, 1.0, True),
    Index("inverse_purity", _external.inverse_purity_score, 0.0, 1.0, True),
    Index("minkowski", _external.minkowski_score, 0.0, np.inf, False),
    Index("mutual_info", mutual_info_score, 0.0, np.inf, True),
    Index("normalized_mutual_info", normalized_mutual_info_score, 0.0, 1.0, True),
    Index("pair_fbeta", _external.pair_fbeta_score, 0.0, 1.0, True),
    Index("pair_jaccard", _external.pair_jaccard_score, 0.0, 1.0, True),
    Index("purity", _external.purity_score, 0.0, 1.0, True),
    Index("rand", rand_score, 0.0, 1.0, True),
    Index("v_measure", v_measure_score, 0.0, 1.0, True),
)
INDICES = (*INTERNAL, *EXTERNAL)
"""All indices of this package and of scikit-learn; a new index needs a function and a row."""
