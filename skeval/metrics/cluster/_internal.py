"""Internal indices of clusterings, and the table of all indices.

The module contains distances within clusters, between clusters and to centroids, and the
silhouette, Dunn, connectivity, compactness, Davies-Bouldin and DBCV indices. Each function
computes its index from the quantities that its row of the table lists.

`internal_indices` computes the quantities of all requested indices in one pass. If there are too
many pairs, indices that are means over rows are estimated from a stratified sample of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed
from numpy.random import Generator, RandomState
from numpy.typing import ArrayLike
from scipy.special import logsumexp
from sklearn import metrics as sk
from sklearn.metrics import pairwise_distances

from skeval._inference.estimate import Estimate, Results
from skeval._inference.intervals import normal_interval
from skeval.metrics.cluster import _distance_pass, _external
from skeval.metrics.cluster._distances import Partition, Samples, Tiles, to_centroids
from skeval.metrics.cluster._samples import (
    METRIC_CONSTRAINTS,
    PASS_CONSTRAINTS,
    check_has_centroids,
    check_n_neighbors,
    check_samples,
    measure,
    measure_without_pass,
)
from skeval.utils._checks import (
    Noise,
    RandomStateLike,
    check_option,
    check_same_length,
    give_nan,
    refuse_shuffled_index,
    repetition_rng,
    root_seed,
    small_seed,
    validate_params,
    warn_undefined,
)
from skeval.utils._compat import Interval, StrOptions, num_samples, safe_indexing

Dispersion = Literal["pairwise", "centroid"]

CompactnessUnit = Literal["root_mean", "mean", "sum"]

Table = dict[str, np.ndarray]
"""Dict of columns."""


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
    """Return the mean and the largest distance within each cluster.

    These are ``avg(C) = 2/(|C|(|C|-1)) sum_(i<j in C) d(x_i, x_j)`` and the diameter ``diam(C) =
    max_(i,j in C) d(x_i, x_j)``. The range is [0, inf). Smaller is better, and 0 is best.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        The samples, or their distances if ``metric="precomputed"``. Entries that a sparse distance
        matrix does not store count as 0, so a neighbor graph is rejected.
    labels : array-like of shape (n_samples,)
        Cluster label of each sample, as numbers or strings.
    metric : str or callable, default="euclidean"
        Any symmetric metric of :func:`sklearn.metrics.pairwise_distances`, or "precomputed".
    noise : {"cluster", "drop", "singletons"} or None, default=None
        Treatment of samples with label -1 (or "-1"). "cluster" treats them as an ordinary cluster,
        "drop" omits them, and "singletons" makes each of them a cluster of its own. None means
        "cluster", with a warning.
    n_jobs : int or None, default=None
        Number of threads. Results do not depend on it.

    Returns
    -------
    distances : dict of str to ndarray of shape (n_clusters,)
        The "label" and "size" of each cluster, and the "mean" and "max" of its distances, in the
        unit of the metric. They can be passed to ``pandas.DataFrame`` as columns.

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
    A singleton has no pairs, so its mean and its diameter are 0 by convention. Only distances
    within clusters are computed.

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
    # pairs within clusters only
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
    """Return the mean, smallest and centroid distance between each pair of clusters.

    The first two are the mean and the smallest ``d(x_i, x_j)`` for ``i`` in one cluster and ``j``
    in the other. The third is ``d(mu_k, mu_l)``, the distance between the centroids. The range is
    [0, inf). Larger is better, and 0 is the worst value.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        The samples, or their distances if ``metric="precomputed"``. Entries that a sparse distance
        matrix does not store count as 0, so a neighbor graph is rejected.
    labels : array-like of shape (n_samples,)
        Cluster label of each sample, as numbers or strings.
    metric : str or callable, default="euclidean"
        Any symmetric metric of :func:`sklearn.metrics.pairwise_distances`, or "precomputed".
    noise : {"cluster", "drop", "singletons"} or None, default=None
        Treatment of samples with label -1 (or "-1"). "cluster" treats them as an ordinary cluster,
        "drop" omits them, and "singletons" makes each of them a cluster of its own. None means
        "cluster", with a warning.
    n_jobs : int or None, default=None
        Number of threads. Results do not depend on it.

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
        If the metric has no centroids ("precomputed", metrics of Boolean vectors). "centroid" is
        then nan.

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
    result = measure(samples, {"mean_between", "min_between", "centroid_between"})
    if result["centroid_between"] is None:
        warn_undefined(f"The result for centroids is nan, because metric={metric!r} has none.")
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
    """Return the silhouette of each sample.

    The silhouette is ``s_i = (b_i - a_i) / max(a_i, b_i)``. Here, ``a_i`` is the mean distance to
    the other samples of the same cluster, and ``b_i`` the smallest mean distance to the samples of
    another cluster. The range is [-1, 1]. The best value is 1. Negative values mean that another
    cluster is nearer on average.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        The samples, or their distances if ``metric="precomputed"``. Entries that a sparse distance
        matrix does not store count as 0, so a neighbor graph is rejected.
    labels : array-like of shape (n_samples,)
        Cluster label of each sample, as numbers or strings.
    metric : str or callable, default="euclidean"
        Any symmetric metric of :func:`sklearn.metrics.pairwise_distances`, or "precomputed".
    noise : {"cluster", "drop", "singletons"} or None, default=None
        Treatment of samples with label -1 (or "-1"). "cluster" treats them as an ordinary cluster,
        "drop" omits them, and "singletons" makes each of them a cluster of its own. None means
        "cluster", with a warning.
    n_jobs : int or None, default=None
        Number of threads. Results do not depend on it.
    **metric_arguments : dict
        Arguments of the metric, such as ``p=3`` of "minkowski".

    Returns
    -------
    silhouettes : ndarray of shape (n_samples,)
        The silhouettes, which are nan for samples dropped as noise.

    Raises
    ------
    ValueError
        If there are fewer than two clusters, the input is malformed, or metric arguments are
        passed with precomputed distances.

    See Also
    --------
    silhouette_score : The mean over the samples.
    sklearn.metrics.silhouette_samples : Same values from the full distance matrix.

    Notes
    -----
    The silhouette is 0 for a singleton, and for a sample at distance 0 from both its own and
    another cluster. Unlike in scikit-learn, all samples may be singletons.

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
    if metric_arguments and metric == "precomputed":
        raise ValueError(f'metric="precomputed" takes no arguments, got {list(metric_arguments)}.')
    if metric_arguments:
        metric = partial(pairwise_distances, metric=metric, **metric_arguments)
    samples = check_samples(X, labels, metric=metric, noise=noise, n_jobs=n_jobs, min_clusters=2)
    return measure(samples, {"silhouette_samples"})["silhouette_samples"]


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
    """Return the silhouette width, the mean silhouette of all samples.

    It is ``mean_i (b_i - a_i) / max(a_i, b_i)``. Here, ``a_i`` is the mean distance to the other
    samples of the same cluster, and ``b_i`` the smallest mean distance to the samples of another
    cluster. The range is [-1, 1]. The best value is 1, the worst -1.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        The samples, or their distances if ``metric="precomputed"``. Entries that a sparse distance
        matrix does not store count as 0, so a neighbor graph is rejected.
    labels : array-like of shape (n_samples,)
        Cluster label of each sample, as numbers or strings.
    metric : str or callable, default="euclidean"
        Any symmetric metric of :func:`sklearn.metrics.pairwise_distances`, or "precomputed".
    sample_size : int or None, default=None
        Number of samples to draw without replacement. None means all samples, in one pass that
        does not store the distance matrix.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call. It selects the same
        subsample as scikit-learn's function.
    noise : {"cluster", "drop", "singletons"} or None, default=None
        Treatment of samples with label -1 (or "-1"). "cluster" treats them as an ordinary cluster,
        "drop" omits them, and "singletons" makes each of them a cluster of its own. None means
        "cluster", with a warning.
    n_jobs : int or None, default=None
        Number of threads. Results do not depend on it.
    **metric_arguments : dict
        Arguments of the metric, such as ``p=3`` of "minkowski".

    Returns
    -------
    silhouette : float
        The mean silhouette. Samples dropped as noise are ignored.

    Raises
    ------
    ValueError
        If there are fewer than two clusters, or the input is invalid.

    See Also
    --------
    silhouette_samples : The silhouette of each sample.

    Notes
    -----
    The silhouette of singletons is 0. This function averages over samples, as scikit-learn does.
    Some texts average within clusters first.

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
    if sample_size is not None:  # the same subsample as in scikit-learn for the same seed
        check_same_length(X=X, labels=labels)
        refuse_shuffled_index({"X": X, "labels": labels})
        rows = RandomState(small_seed(random_state)).permutation(num_samples(X))[:sample_size]
        X, labels = safe_indexing(X, rows), safe_indexing(labels, rows)
        labels = getattr(labels, "array", labels)  # without an index, which may have been reset
        if metric == "precomputed":
            X = safe_indexing(X, rows, axis=1)
    options: dict[str, Any] = {"metric": metric, "noise": noise, "n_jobs": n_jobs}
    return float(np.nanmean(silhouette_samples(X, labels, **options, **metric_arguments)))


def dunn_ratio(nearest: float, diameter: float) -> float:
    """Return nearest / diameter, inf if only the diameter is 0, or nan if both are 0."""
    if diameter > 0:
        return float(nearest / diameter)
    if nearest > 0:
        return float("inf")
    return give_nan("The Dunn index is 0/0, as clusters share a point and have diameter 0.")


@validate_params(PASS_CONSTRAINTS)
def dunn_score(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    metric: str | Callable = "euclidean",
    noise: Noise | None = None,
    n_jobs: int | None = None,
) -> float:
    """Return the Dunn index.

    The index is ``min_{k<l} d_min(C_k, C_l) / max_m diam(C_m)``. This is the smallest distance
    between samples of different clusters, divided by the largest distance between samples of the
    same cluster. The range is [0, inf]. Larger is better, and 0 is the worst value.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        The samples, or their distances if ``metric="precomputed"``. Entries that a sparse distance
        matrix does not store count as 0, so a neighbor graph is rejected.
    labels : array-like of shape (n_samples,)
        Cluster label of each sample, as numbers or strings.
    metric : str or callable, default="euclidean"
        Any symmetric metric of :func:`sklearn.metrics.pairwise_distances`, or "precomputed".
    noise : {"cluster", "drop", "singletons"} or None, default=None
        Treatment of samples with label -1 (or "-1"). "cluster" treats them as an ordinary cluster,
        "drop" omits them, and "singletons" makes each of them a cluster of its own. None means
        "cluster", with a warning.
    n_jobs : int or None, default=None
        Number of threads. Results do not depend on it.

    Returns
    -------
    dunn : float
        The index, a dimensionless number. It is inf if all clusters have diameter 0 and no two
        clusters share a point.

    Raises
    ------
    ValueError
        If there are fewer than two clusters, or the input is invalid.

    Warns
    -----
    UndefinedMetricWarning
        If both distances are 0, because the index is then nan.

    See Also
    --------
    davies_bouldin_index : Uses a mean over clusters instead of the worst case.

    Notes
    -----
    For dense Euclidean data, k-d trees replace the pass over all pairs if they prune well, which
    is estimated from a sample of searches. Trees find the nearest pair, and bounds on radii
    exclude points from the search for the diameter. Both results are exact. Some packages apply
    the name Dunn index to "generalized" indices with mean or centroid distances.

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
    """Return the connectivity of a clustering.

    The connectivity is ``sum_i sum_{j=1..L} x_ij``. Here, ``x_ij`` is ``1/j`` if the j-th nearest
    neighbor of sample ``i`` lies in another cluster, and 0 otherwise. The range is [0, n (1 + 1/2
    + ... + 1/L)]. Despite the name, smaller is better, and 0 is best.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        The samples, or their distances if ``metric="precomputed"``. Entries that a sparse distance
        matrix does not store count as 0, so a neighbor graph is rejected.
    labels : array-like of shape (n_samples,)
        Cluster label of each sample, as numbers or strings.
    n_neighbors : int, default=10
        Number ``L`` of neighbors. It must be smaller than the number of samples.
    metric : str or callable, default="euclidean"
        Any symmetric metric of :func:`sklearn.metrics.pairwise_distances`, or "precomputed".
    noise : {"cluster", "drop", "singletons"} or None, default=None
        Treatment of samples with label -1 (or "-1"). "cluster" treats them as an ordinary cluster,
        "drop" omits them, and "singletons" makes each of them a cluster of its own. None means
        "cluster", with a warning.
    n_jobs : int or None, default=None
        Number of threads. Results do not depend on it.

    Returns
    -------
    connectivity : float
        The connectivity, a dimensionless number. It grows with the number of samples. For a single
        cluster it is 0.

    Raises
    ------
    ValueError
        If ``n_neighbors`` is not smaller than the number of samples, or the input is invalid.

    Notes
    -----
    Equidistant neighbors share the mean weight of their ranks, and ranks beyond ``L`` have weight
    0. The result therefore does not depend on the order of the rows. Distances with a relative
    difference below 1e-10 count as equal. The R packages clValid and clv break ties by row order,
    so their values differ if there are ties.

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
    samples = check_samples(X, labels, metric=metric, noise=noise, n_jobs=n_jobs)
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
    """Return the mean and the longest edge of the minimum spanning tree of each cluster.

    The tree joins the ``|C|`` samples of a cluster by ``|C| - 1`` edges of minimum total length.
    The range is [0, inf). Smaller is better, and 0 is best. Unlike the diameter, edges stay short
    in a long but dense cluster.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        The samples, or their distances if ``metric="precomputed"``. Entries that a sparse distance
        matrix does not store count as 0, so a neighbor graph is rejected.
    labels : array-like of shape (n_samples,)
        Cluster label of each sample, as numbers or strings.
    metric : str or callable, default="euclidean"
        Any symmetric metric of :func:`sklearn.metrics.pairwise_distances`, or "precomputed".
    noise : {"cluster", "drop", "singletons"} or None, default=None
        Treatment of samples with label -1 (or "-1"). "cluster" treats them as an ordinary cluster,
        "drop" omits them, and "singletons" makes each of them a cluster of its own. None means
        "cluster", with a warning.
    n_jobs : int or None, default=None
        Number of threads. Results do not depend on it.

    Returns
    -------
    edges : dict of str to ndarray of shape (n_clusters,)
        The "label" and "size" of each cluster, and the "mean" and "max" of its edges, in the unit
        of the metric. They can be passed to ``pandas.DataFrame`` as columns.

    Raises
    ------
    ValueError
        If the input is invalid.

    See Also
    --------
    within_cluster_distances : Uses all pairs instead of tree edges.

    Notes
    -----
    A singleton has no edges, so its mean and its longest edge are 0. Prim's algorithm computes
    ``|C|^2`` distances and stores ``|C|`` at a time.

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
        delayed(_spanning_tree)(samples.tiles, rows) for rows in partition.members
    )
    mean = np.array([edges.mean() if len(edges) else 0.0 for _, edges in trees])
    return by_cluster(partition, mean, np.array([edges.max(initial=0.0) for _, edges in trees]))


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
    """Return the compactness, the within-cluster variance or the sum of squared errors.

    The sum of squared errors is ``SSE = sum_k sum_(i in k) delta(x_i, mu_k)``, where ``mu_k`` is
    the centroid of cluster ``k``. By default, ``delta`` is the squared Euclidean distance, as
    minimized by K-means. The variance within clusters is ``SSE / n``. The compactness is its
    square root, the root mean square distance to the centroid. The range is [0, inf). Smaller is
    better, and 0 is best.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The samples.
    labels : array-like of shape (n_samples,)
        Cluster label of each sample, as numbers or strings.
    unit : {"root_mean", "mean", "sum"}, default="root_mean"
        "root_mean" returns the compactness, in the unit of the features. "mean" returns the
        variance and "sum" the sum of squared errors, both in the squared unit.
    metric : str or callable, default="sqeuclidean"
        Any metric of :func:`sklearn.metrics.pairwise_distances` that is defined for means of
        samples. This excludes "precomputed" and metrics of Boolean vectors.
    noise : {"cluster", "drop", "singletons"} or None, default=None
        Treatment of samples with label -1 (or "-1"). "cluster" treats them as an ordinary cluster,
        "drop" omits them, and "singletons" makes each of them a cluster of its own. None means
        "cluster", with a warning.

    Returns
    -------
    compactness : float

    Raises
    ------
    ValueError
        If the metric has no centroids or the input is invalid.

    See Also
    --------
    centroid_distances : Returns the distances of each cluster.

    Notes
    -----
    A single cluster is allowed. As in the definition, the square root also applies to
    another ``delta``. For example, ``metric="euclidean"`` gives the root of the mean distance.

    The sum equals the ``inertia_`` of a converged :class:`sklearn.cluster.KMeans`. All three
    values decrease as clusters are added, so use them to compare only partitions with equal
    numbers of clusters. The variance is summed over the features and divided by ``n``. In
    contrast, the denominator of the Calinski-Harabasz index divides by ``n - K``.

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
    """Return the mean and the largest distance to the centroid of each cluster.

    These are ``mean_(i in k) d(x_i, mu_k)`` and ``max_(i in k) d(x_i, mu_k)``, where ``mu_k`` is
    the centroid of cluster ``k``. The range is [0, inf). Smaller is better, and 0 is best.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The samples.
    labels : array-like of shape (n_samples,)
        Cluster label of each sample, as numbers or strings.
    metric : str or callable, default="euclidean"
        Any metric of :func:`sklearn.metrics.pairwise_distances` that is defined for means of
        samples. This excludes "precomputed" and metrics of Boolean vectors.
    noise : {"cluster", "drop", "singletons"} or None, default=None
        Treatment of samples with label -1 (or "-1"). "cluster" treats them as an ordinary cluster,
        "drop" omits them, and "singletons" makes each of them a cluster of its own. None means
        "cluster", with a warning.

    Returns
    -------
    distances : dict of str to ndarray of shape (n_clusters,)
        The "label" and "size" of each cluster, and the "mean" and "max" of its distances, in the
        unit of the metric. They can be passed to ``pandas.DataFrame`` as columns.

    Raises
    ------
    ValueError
        If the metric has no centroids or the input is invalid.

    See Also
    --------
    within_cluster_distances : Returns distances between the samples of a cluster.

    Notes
    -----
    Scikit-learn's form of the Davies-Bouldin index uses the mean distance as dispersion.

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
    # over the samples of each cluster
    mean = np.add.reduceat(distances, partition.starts) / partition.sizes
    return by_cluster(partition, mean, np.maximum.reduceat(distances, partition.starts))


def davies_bouldin_ratio(dispersion: np.ndarray, between: np.ndarray) -> float:
    """Return (1/K) sum_k max_{l != k} (S_k + S_l) / d(k, l), or inf if centroids coincide."""
    sums, ratio = dispersion[:, None] + dispersion, np.full(between.shape, np.inf)
    np.divide(sums, between, out=ratio, where=between > 0)
    np.fill_diagonal(ratio, -np.inf)
    # the worst other cluster of each
    return float(ratio.max(axis=1).mean())


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
    """Return the Davies-Bouldin index.

    The index is ``(1/K) sum_k max_{l != k} (S_k + S_l) / d(mu_k, mu_l)``, where ``mu_k`` is the
    centroid of cluster ``k`` and ``S_k`` its dispersion. The range is [0, inf]. Smaller is better,
    and 0 is best.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The samples.
    labels : array-like of shape (n_samples,)
        Cluster label of each sample, as numbers or strings.
    dispersion : {"pairwise", "centroid"}, default="pairwise"
        Definition of ``S_k``. "pairwise" is the mean distance between the samples of the cluster.
        "centroid" is their mean distance to the centroid, as in scikit-learn.
    metric : str or callable, default="euclidean"
        Any symmetric metric of :func:`sklearn.metrics.pairwise_distances` that is defined for
        means of samples. This excludes "precomputed" and metrics of Boolean vectors.
    noise : {"cluster", "drop", "singletons"} or None, default=None
        Treatment of samples with label -1 (or "-1"). "cluster" treats them as an ordinary cluster,
        "drop" omits them, and "singletons" makes each of them a cluster of its own. None means
        "cluster", with a warning.
    n_jobs : int or None, default=None
        Number of threads. Results do not depend on it.

    Returns
    -------
    davies_bouldin : float
        The index, a dimensionless number. It is inf if two centroids coincide.

    Raises
    ------
    ValueError
        If there are fewer than two clusters, the metric has no centroids, or the input is invalid.

    See Also
    --------
    davies_bouldin_score : The Euclidean centroid form of scikit-learn.

    Notes
    -----
    The dispersion of a singleton is 0. If centroids coincide, this function returns inf, whereas
    scikit-learn returns 0.0, the best value, in some cases. Davies and Bouldin allow any power
    mean for the dispersion. Both forms here use the first power.

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
    # dispersion of each cluster, and distances of the centroids
    check_has_centroids(metric)
    samples = check_samples(X, labels, metric=metric, noise=noise, n_jobs=n_jobs, min_clusters=2)
    spread = "mean_within" if dispersion == "pairwise" else "mean_to_centroid"
    result = measure(samples, {spread, "centroid_between"})
    return davies_bouldin_ratio(result[spread], result["centroid_between"])


def calinski_harabasz_index(result: dict[str, Any]) -> float:
    """Return ``[between / (K - 1)] / [squares.sum() / (n - K)]``, or inf if only the sum is 0."""
    # singletons have no variance within, and equal samples none at all
    squares, between, K = result["squares"], result["between_squares"], len(result["sizes"])
    n, sse = len(squares), float(squares.sum())
    if n == K:
        return float("nan")
    if sse == 0:
        return float("inf") if between > 0 else float("nan")
    return float(between / (K - 1) / sse * (n - K))


@validate_params(
    PASS_CONSTRAINTS | {"n_features": [Interval(Integral, 1, None, closed="left"), None]}
)
def dbcv_score(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    metric: str | Callable = "euclidean",
    noise: Noise | None = "singletons",
    n_features: int | None = None,
    n_jobs: int | None = None,
) -> float:
    r"""Return the density-based clustering validation index (DBCV).

    The core distance of a sample :math:`o` is an inverse density. In a cluster :math:`C` of
    :math:`m` samples in :math:`p` dimensions, it is

    .. math:: a(o) = \Bigl(\frac{1}{m-1} \sum_{q \in C, q \ne o} d(o, q)^{-p}\Bigr)^{-1/p} .

    The mutual reachability of two samples is :math:`r(o, q) = \max\{a(o), a(q), d(o, q)\}`. Each
    cluster has a minimum spanning tree by :math:`r`, and a sample is inner if it has at least two
    edges of this tree. The sparseness :math:`S_k` is the longest edge between two inner samples of
    cluster :math:`k`. The separation :math:`D_k` is the smallest reachability between an inner
    sample of cluster :math:`k` and an inner sample of another cluster. With the number of samples
    :math:`n`, including noise,

    .. math:: DBCV = \sum_k \frac{|C_k|}{n} \frac{D_k - S_k}{\max(D_k, S_k)} .

    The range is [-1, 1]. Larger is better. Clusters may have any shape.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        The samples, or their distances if ``metric="precomputed"``. Entries that a sparse distance
        matrix does not store count as 0, so a neighbor graph is rejected.
    labels : array-like of shape (n_samples,)
        Cluster label of each sample, as numbers or strings.
    metric : str or callable, default="euclidean"
        Any symmetric metric of :func:`sklearn.metrics.pairwise_distances`, or "precomputed".
    noise : {"cluster", "drop", "singletons"} or None, default="singletons"
        Treatment of samples with label -1 (or "-1"). "singletons" makes each of them a cluster of
        its own, which contributes 0 and counts in `n`, like noise in the paper. "drop" omits them,
        and "cluster" treats them as an ordinary cluster. None means "cluster", with a warning.
    n_features : int or None, default=None
        Number of dimensions :math:`p`. None means the number of columns of X. It is required for
        precomputed distances.
    n_jobs : int or None, default=None
        Number of threads. Results do not depend on it.

    Returns
    -------
    dbcv : float
        The index, a dimensionless number. It is nan if undefined.

    Raises
    ------
    ValueError
        If there are fewer than two clusters, if `n_features` is missing or contradicts X, or the
        input is invalid.

    Warns
    -----
    UndefinedMetricWarning
        If fewer than two clusters have at least two samples, or two clusters of zero width have
        the same position. The index is then nan.

    See Also
    --------
    silhouette_score : An index for round clusters.
    mst_compactness : Returns the edges of spanning trees by distance alone.

    Notes
    -----
    A cluster of one sample is noise. As in the authors' program, all edges count if a tree has no
    edge between two inner samples, and all samples count if it has no inner samples. Core
    distances are computed on the logarithmic scale to avoid overflow and underflow in many
    dimensions. Each distance is computed three times, and only a few rows are stored at a time.

    A minimum spanning tree by mutual reachability is rarely unique, because a sample with a large
    core distance is equally close to many others. The paper does not specify the tree. In other
    programs, it depends on the order of the rows. Here, ties in reachability are broken by the
    densest sample (the smallest core distance), and then by the shortest edge. As a result, border
    samples are attached to the core of a cluster and are not inner samples, and the order of the
    rows does not matter.

    Other programs differ. The authors' MATLAB program squares the distances and keeps the exponent
    (like ``metric="sqeuclidean"`` here). It treats label 0 as noise, although the authors' own
    files use -1. It excludes duplicates of a sample from its core distance, which is 0 by the
    definition. ``hdbscan.validity_index`` also excludes duplicates, and fails for a cluster of one
    sample. ``relative_validity_`` of hdbscan uses the tree of the algorithm, so it is a different
    index. See :doc:`/differences` for numbers.

    References
    ----------
    .. [1] Moulavi, D., Jaskowiak, P. A., Campello, R. J. G. B., Zimek, A. and Sander, J. (2014).
       Density-based clustering validation. Proceedings of the 2014 SIAM International Conference
       on Data Mining, 839-847. https://doi.org/10.1137/1.9781611973440.96

    Examples
    --------
    >>> from sklearn.cluster import DBSCAN, KMeans
    >>> from sklearn.datasets import make_moons
    >>> from skeval.metrics.cluster import dbcv_score
    >>> X, _ = make_moons(300, noise=0.05, random_state=0)
    >>> round(dbcv_score(X, DBSCAN(eps=0.2).fit_predict(X)), 3)
    0.628
    >>> round(dbcv_score(X, KMeans(2, n_init=5, random_state=0).fit_predict(X)), 3)
    -0.526
    """
    samples = check_samples(X, labels, metric=metric, noise=noise, min_clusters=2)
    # number of dimensions p
    columns = None if metric == "precomputed" else samples.points.shape[1]
    dimension = columns or n_features
    if dimension is None:
        raise ValueError('n_features must be passed when metric="precomputed", got None.')
    if n_features not in (None, dimension):
        raise ValueError(f"n_features must be None or {columns}, as in X, got {n_features}.")
    # singletons are noise
    old, points = samples.partition, samples.points
    large = old.sizes > 1
    kept, sizes = large[old.cluster], old.sizes[large]
    if len(sizes) < 2:
        return give_nan("DBCV needs at least two clusters with at least two samples each.")
    starts = np.cumsum(sizes) - sizes
    partition = Partition(old.order[kept], starts, sizes, old.names[large], old.n_rows)
    points = points if columns is None else points[np.flatnonzero(kept)]
    samples = replace(samples, points=points, partition=partition)
    # spanning tree of each cluster, and separation of its inner samples
    trees = Parallel(n_jobs, require="sharedmem")(
        delayed(_density_tree)(samples.tiles, rows, dimension) for rows in partition.members
    )
    sparseness = np.array([sparse for sparse, _ in trees])
    reach = np.concatenate([reach for _, reach in trees])

    # mutual reachability instead of the distance
    def reachabilities(rows: slice) -> Callable[[slice], np.ndarray]:
        strip, own = samples.tiles(rows), reach[rows, None]
        return lambda columns: np.maximum(np.maximum(strip(columns), reach[columns]), own)

    options: Any = {"sums": False, "n_jobs": n_jobs}
    nearest = _distance_pass.distance_pass(reachabilities, starts, len(reach), **options)[2]
    separation = nearest.min(axis=1)
    # contrast of separation and sparseness, weighted by cluster size
    larger = np.maximum(separation, sparseness)
    if not larger.all():
        return give_nan("DBCV is 0/0, because all samples of two clusters are the same point.")
    return float(np.sum(sizes * (separation - sparseness) / larger) / old.n_samples)


def _density_tree(tiles: Tiles, members: slice, dimension: int) -> tuple[float, np.ndarray]:
    """Return the sparseness of a cluster, and the (m,) core distances, infinite unless inner."""
    core = _core_distances(tiles, members, dimension)
    ends, weights = _spanning_tree(tiles, members, core)
    # inner samples have at least two edges; without inner edges or samples, all of them count
    inner = np.bincount(ends.ravel(), minlength=len(core)) > 1
    between = inner[ends].all(axis=1)
    sparseness = weights[between].max() if between.any() else weights.max()
    return float(sparseness), np.where(inner, core, np.inf) if inner.any() else core


def _core_distances(tiles: Tiles, members: slice, dimension: int) -> np.ndarray:
    """Return the (m,) core distances of a cluster, or 0 for a sample that has a duplicate."""
    m = members.stop - members.start
    core = np.empty(m)
    for rows, distances in _distance_pass.whole_rows(tiles, members, members):
        own = np.arange(rows.start, rows.stop) - members.start
        # on the logarithmic scale, without the sample itself
        with np.errstate(divide="ignore"):
            logs = -dimension * np.log(distances)
        logs[np.arange(len(own)), own] = -np.inf
        core[own] = np.exp((np.log(m - 1) - logsumexp(logs, axis=1)) / dimension)
    return core


def _spanning_tree(
    tiles: Tiles, members: slice, core: np.ndarray | float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return the (m-1, 2) ends of the edges and their (m-1,) reachabilities, by Prim's algorithm.

    Among edges of equal reachability, the edge at the densest sample is chosen, then the shortest.
    With core distances of 0 the reachability is the distance.
    """
    m = members.stop - members.start
    core = np.broadcast_to(core, m)
    outside = np.ones(m, dtype=bool)
    # the best edge to the tree from each sample outside: three keys, and its end in the tree
    best, parent = np.full((3, m), np.inf), np.zeros(m, dtype=np.intp)
    ends, weights, last = np.empty((m - 1, 2), dtype=np.intp), np.empty(m - 1), 0
    for step in range(m - 1):
        outside[last] = False
        row = slice(members.start + last, members.start + last + 1)
        distance = tiles(row)(members)[0]
        reach = np.maximum(np.maximum(distance, core), core[last])
        edges = np.stack([reach, np.minimum(core, core[last]), distance])
        # which new edges come before the best ones, by the last key and then by those before it
        closer = edges[2] < best[2]
        for key, other in zip(edges[1::-1], best[1::-1], strict=True):
            closer = (key < other) | ((key == other) & closer)
        best[:, closer], parent[closer] = edges[:, closer], last
        # the first edge of all in the order of the keys
        among = np.flatnonzero(outside)
        for key in best:
            values = key[among]
            among = among[values == values.min()]
        last = int(among[0])
        ends[step], weights[step] = (parent[last], last), best[0, last]
    return ends, weights


@dataclass(frozen=True)
class Index:
    """Properties of an index, that is, one row of the table `INTERNAL` or `EXTERNAL`.

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
        Quantities of `measure` that `compute` uses. The set is empty if `internal_indices` does
        not offer the index.
    compute : callable or None
        ``quantities -> float``.
    by_row : callable or None
        ``(sums, weights, partition, rows) -> values``. The mean of these values is the index, so
        it can be estimated from a sample of rows.
    """

    name: str
    function: Callable[..., float]
    low: float
    high: float
    greater_is_better: bool
    needs: frozenset[str] = frozenset()
    compute: Callable[[dict[str, Any]], float] | None = None
    by_row: Callable[[np.ndarray, np.ndarray, Partition, np.ndarray], np.ndarray] | None = None


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


def pair_distance(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    pairs: str,
    statistic: str,
    within: str = "clusters",
    **options: Any,
) -> float:
    """Return the mean, smallest or largest distance of one kind of pairs, or nan without a pair.

    The pairs are samples "within" a cluster, samples "between" clusters, or pairs with "centroid".
    Means are averaged over clusters of at least two samples, or over pairs of clusters. With
    ``within="pairs"``, the mean within clusters is over all pairs of samples.
    """
    check_option("within", within, ("clusters", "pairs"))
    # extremes that no index needs have a pass of their own
    if (pairs, statistic) in (("within", "min"), ("between", "max")):
        options = {"metric": "euclidean", "noise": None} | options
        samples = check_samples(X, labels, min_clusters=1 + (pairs == "between"), **options)
        smallest, largest = _distance_pass.rare_extremes(samples.tiles, samples.partition.cluster)
        value = smallest if pairs == "within" else largest
        return value if np.isfinite(value) else np.nan
    if pairs == "within":
        table = within_cluster_distances(X, labels, **options)
        values, sizes = table[statistic], table["size"]
        if statistic == "mean":  # of singletons it is undefined
            weight = sizes > 1 if within == "clusters" else sizes * (sizes - 1)
            return float(np.average(values, weights=weight)) if weight.any() else np.nan
    else:
        table = between_cluster_distances(X, labels, **options)
        column = table["centroid" if pairs == "centroid" else statistic]
        # each pair of clusters once
        values = column[np.triu_indices(len(column), 1)]
    return float(getattr(np, statistic)(values)) if len(values) else np.nan


def mst_compactness_score(X: ArrayLike, labels: ArrayLike, **options: Any) -> float:
    """Return the mean edge of the minimum spanning trees of all clusters, nan without an edge."""
    # mean over the edges of all trees
    trees = mst_compactness(X, labels, **options)
    n_edges = trees["size"] - 1
    return float(np.average(trees["mean"], weights=n_edges)) if n_edges.any() else np.nan


def distance_row(name: str, pairs: str, statistic: str) -> Index:
    """Return the row of a distance. Small is better within clusters, and large between them."""
    function = partial(pair_distance, pairs=pairs, statistic=statistic)
    return Index(name, function, 0.0, np.inf, pairs != "within")


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
        lambda result: float(np.nanmean(result["silhouette_samples"])),
        lambda sums, _, partition, rows: _distance_pass.silhouettes(sums, partition, rows),
    ),
    Index(
        "dunn", dunn_score, 0.0, np.inf, True,
        frozenset({"extremes"}),
        lambda result: dunn_ratio(*result["extremes"]),
    ),
    davies_bouldin_row("pairwise", "mean_within"),
    davies_bouldin_row("centroid", "mean_to_centroid"),
    Index(
        "calinski_harabasz", sk.calinski_harabasz_score, 0.0, np.inf, True,
        frozenset({"squares", "between_squares"}),
        calinski_harabasz_index,
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
    Index("mst_compactness", mst_compactness_score, 0.0, np.inf, False),
    distance_row("mean_within", "within", "mean"),
    distance_row("min_within", "within", "min"),
    distance_row("diameter", "within", "max"),
    distance_row("mean_separation", "between", "mean"),
    distance_row("min_separation", "between", "min"),
    distance_row("max_separation", "between", "max"),
    distance_row("centroid_separation", "centroid", "mean"),
    distance_row("min_centroid_separation", "centroid", "min"),
    distance_row("max_centroid_separation", "centroid", "max"),
)  # fmt: skip
EXTERNAL = (
    Index("adjusted_mutual_info", sk.adjusted_mutual_info_score, -np.inf, 1.0, True),
    Index("adjusted_rand", sk.adjusted_rand_score, -1.0, 1.0, True),
    Index("class_f_measure", _external.class_f_measure, 0.0, 1.0, True),
    Index("completeness", sk.completeness_score, 0.0, 1.0, True),
    Index("fowlkes_mallows", _external.fowlkes_mallows_score, 0.0, 1.0, True),
    Index("homogeneity", sk.homogeneity_score, 0.0, 1.0, True),
    Index("inverse_purity", _external.inverse_purity_score, 0.0, 1.0, True),
    Index("minkowski", _external.minkowski_score, 0.0, np.inf, False),
    Index("mutual_info", sk.mutual_info_score, 0.0, np.inf, True),
    Index("normalized_mutual_info", sk.normalized_mutual_info_score, 0.0, 1.0, True),
    Index("pair_fbeta", _external.pair_fbeta_score, 0.0, 1.0, True),
    Index("pair_jaccard", _external.pair_jaccard_score, 0.0, 1.0, True),
    Index("purity", _external.purity_score, 0.0, 1.0, True),
    Index("rand", sk.rand_score, 0.0, 1.0, True),
    Index("v_measure", sk.v_measure_score, 0.0, 1.0, True),
)
BY_NAME = {row.name: row for row in INTERNAL}
"""Rows of the internal indices. A new index needs a function and a row."""


ROWS = {row.name: row for row in INTERNAL if row.compute is not None}
TABLES = (
    "silhouette_samples",
    "mean_within",
    "max_within",
    "mean_between",
    "min_between",
    "centroid_between",
)
"""Quantities that are returned as results."""


@validate_params(
    PASS_CONSTRAINTS
    | {
        "indices": ["array-like", None],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "max_pairs": [Interval(Integral, 1, None, closed="left"), None],
        "confidence_level": [Interval(Real, 0, 1, closed="neither")],
    }
)
def internal_indices(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    indices: Sequence[str] | None = None,
    metric: str | Callable = "euclidean",
    n_neighbors: int = 10,
    noise: Noise | None = None,
    max_pairs: int | None = None,
    confidence_level: float = 0.95,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
) -> Results:
    """Return internal indices of a clustering from one pass over the pairs of samples.

    The functions listed below describe the formula, range and direction of each index. Larger is
    better for silhouette, Dunn and Calinski-Harabasz. Smaller is better for all others.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        The samples, or their distances if ``metric="precomputed"``. Entries that a sparse distance
        matrix does not store count as 0, so a neighbor graph is rejected.
    labels : array-like of shape (n_samples,)
        Cluster label of each sample, as numbers or strings.
    indices : sequence of str or None, default=None
        Names of indices and tables to compute. None means all. Centroid indices require no pairs.
        If only "dunn" and "connectivity" are requested, trees and bounds are used to avoid most
        pairs.
    metric : str or callable, default="euclidean"
        Any symmetric metric of :func:`sklearn.metrics.pairwise_distances`, or "precomputed".
    n_neighbors : int, default=10
        Number of neighbors for the connectivity. It must be smaller than the number of samples.
    noise : {"cluster", "drop", "singletons"} or None, default=None
        Treatment of samples with label -1 (or "-1"). "cluster" treats them as an ordinary cluster,
        "drop" omits them, and "singletons" makes each of them a cluster of its own. None means
        "cluster", with a warning.
    max_pairs : int or None, default=None
        Maximum number of pairs whose distances are computed. If there are more pairs, silhouette
        and connectivity are estimated from a sample of rows of each cluster. Other results that
        require all pairs are omitted. Dunn's index is still computed if bounds exclude enough
        pairs. None means no limit.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call.
    n_jobs : int or None, default=None
        Number of threads. Results do not depend on it.

    Returns
    -------
    indices : dict of str to float, Estimate or ndarray
        The requested results, with their names as keys. They print as a table, and `to_frame` has
        one row for each index.

        The indices are "silhouette", "dunn", "connectivity", and the following:

        - "compactness" is the Euclidean root mean square distance to the centroid, and "sse" the
          sum of squared errors.
        - "davies_bouldin_pairwise" and "davies_bouldin_centroid" are named by their dispersion.
        - "calinski_harabasz" is Euclidean. It is inf if the samples of each cluster are equal.

        The tables are:

        - "silhouette_samples", of shape (n_samples,), is nan for dropped noise.
        - "mean_within" and "max_within", the diameter, of shape (n_clusters,), are 0 for
          singletons.
        - "mean_between", "min_between" and "centroid_between" have shape (n_clusters, n_clusters).
          The diagonal of the first two is nan.
        - "label" and "size" of each cluster are always included.

        If `max_pairs` is exceeded, an index that is estimated from a sample of rows is an
        Estimate, with standard error and interval for the index of all rows. All other results are
        exact.

    Raises
    ------
    ValueError
        If there are fewer than two clusters, an index is unknown, ``n_neighbors`` is too large, or
        the input is invalid.

    Warns
    -----
    UndefinedMetricWarning
        If an index is nan. Centroid indices are nan for a metric without centroids.
        Calinski-Harabasz is nan if all clusters are singletons. It and Dunn are nan if they are
        0 / 0.

    See Also
    --------
    silhouette_score, dunn_score, davies_bouldin_index, connectivity_score, compactness_score :
        Individual indices.

    Notes
    -----
    The distance matrix is never stored, so memory grows as ``n_samples * n_clusters``.
    ``compactness``, ``sse`` and ``calinski_harabasz`` are Euclidean for any metric.

    References
    ----------
    .. [1] Handl, J., Knowles, J. and Kell, D. B. (2005). Computational cluster validation in
       post-genomic data analysis. Bioinformatics, 21(15), 3201-3212.
       https://doi.org/10.1093/bioinformatics/bti517

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skeval.metrics.cluster import internal_indices
    >>> X, y = load_iris(return_X_y=True)
    >>> print(internal_indices(X, y))
    compactness              0.7716
    sse                      89.3
    silhouette               0.5035
    dunn                     0.0585
    davies_bouldin_pairwise  1.0705
    davies_bouldin_centroid  0.7514
    calinski_harabasz        487.3
    connectivity             23.07
    """
    samples = check_samples(X, labels, metric=metric, noise=noise, n_jobs=n_jobs, min_clusters=2)
    partition, valid = samples.partition, (*ROWS, *TABLES)
    requested = valid if indices is None else np.asarray(indices, dtype=object).ravel().tolist()
    if not requested:
        raise ValueError("indices must name at least one index, got none.")
    # quantities behind each result
    names = {check_option("indices", name, valid) for name in requested}
    rng = repetition_rng(root_seed(random_state), 0)
    needs = {name: ROWS[name].needs if name in ROWS else {name} for name in names}
    if any("connectivity" in needed for needed in needs.values()):
        check_n_neighbors(n_neighbors, partition.n_samples)
    values: dict[str, Any] = {}
    result: dict[str, Any] = {}
    if max_pairs is not None and partition.n_samples * (partition.n_samples - 1) // 2 > max_pairs:
        # means over rows are estimated; the extremes may need no pass over all pairs
        rows = [ROWS[name] for name in sorted(names & ROWS.keys()) if ROWS[name].by_row]
        if "dunn" in names:
            result = measure_without_pass(samples, {"extremes"})
        beyond = {name for name in names if needs[name] & _distance_pass.FROM_PAIRS - set(result)}
        missing = beyond - {row.name for row in rows}
        if missing and indices is not None:
            raise ValueError(
                f"max_pairs must be None for {', '.join(sorted(missing))}, got {max_pairs}."
            )
        needs = {name: needed for name, needed in needs.items() if name not in beyond}
        values |= estimate_from_rows(samples, rows, n_neighbors, max_pairs, confidence_level, rng)
    # the other quantities, from one pass
    result |= measure(samples, set().union(*needs.values()) - set(result), n_neighbors)
    for name in needs:  # nan if the metric does not provide a quantity
        lacks = any(result[need] is None for need in needs[name])
        compute = ROWS[name].compute if name in ROWS else None
        if compute is not None:
            values[name] = np.nan if lacks else compute(result)
        else:
            values[name] = np.full((partition.n_clusters,) * 2, np.nan) if lacks else result[name]
    # the Dunn index warns by itself
    undefined = [
        name for name in ROWS if name in needs and name != "dunn" and np.isnan(values[name])
    ]
    if undefined:
        warn_undefined(f"Undefined for this metric or partition (nan): {', '.join(undefined)}.")
    clusters = {"label": partition.names, "size": partition.sizes}
    return Results({name: values[name] for name in (*ROWS, *TABLES) if name in values} | clusters)


MIN_ROWS = 2  # of a cluster, for a variance


def estimate_from_rows(
    samples: Samples,
    indices: Sequence[Index],
    n_neighbors: int,
    max_pairs: int,
    confidence_level: float,
    rng: np.random.Generator,
) -> dict[str, Estimate]:
    """Estimate indices that are means over rows, from a sample of rows.

    Rows are sampled without replacement within clusters, which are the strata.
    """
    if not indices:
        return {}
    # rows of each cluster, drawn at random
    partition = samples.partition
    counts = allocate(partition, max_pairs)
    drawn = [rng.choice(k, m, replace=False) for k, m in zip(partition.sizes, counts, strict=True)]
    rows = np.concatenate(list(map(np.add, partition.starts, drawn)))
    L = n_neighbors if any("connectivity" in index.needs for index in indices) else 1
    sums, weights = _distance_pass.measure_rows(samples, rows, L)
    estimates = {}
    for index in indices:
        # a stratified mean with Student's t interval
        assert index.by_row is not None
        by_row = index.by_row(sums, weights, partition, rows)
        value, error, dof = mean_over_strata(by_row, counts, partition.sizes)
        limits = partial(normal_interval, value, error, degrees_of_freedom=dof)
        estimates[index.name] = Estimate(
            name=index.name,
            value=value,
            standard_error=error,
            method="sampled rows",
            n_samples=partition.n_samples,
            details={"n_rows": int(counts.sum())},
            # without variation in the sampled rows there is no interval for the others
            limits={"t": limits} if error > 0 else {},
            bounds=(index.low, index.high),
            confidence_level=confidence_level,
        )
    return estimates


def allocate(partition: Partition, max_pairs: int) -> np.ndarray:
    """Return the (K,) numbers of rows to sample, proportional to the cluster sizes."""
    # at least two rows of each cluster, and fractions of the others
    sizes, n_rows = partition.sizes, max_pairs // partition.n_samples
    fewest = np.minimum(sizes, MIN_ROWS)
    if n_rows < fewest.sum():
        raise ValueError(
            f"max_pairs must allow pairs with {MIN_ROWS} samples of each cluster, at least "
            f"{fewest.sum() * partition.n_samples}, got {max_pairs}."
        )
    spare = sizes - fewest
    share = (n_rows - fewest.sum()) / max(1, spare.sum())
    return fewest + np.floor(spare * min(1.0, share)).astype(np.intp)


def mean_over_strata(
    values: np.ndarray, counts: np.ndarray, sizes: np.ndarray
) -> tuple[float, float, float]:
    """Return the stratified mean, its standard error and degrees of freedom.

    The mean is ``sum_k W_k mean_k`` with ``W_k = n_k / n``. Its variance is ``sum_k a_k`` with
    ``a_k = W_k^2 (1 - m_k / n_k) s_k^2 / m_k`` (Cochran, 1977, eq. 5.12). Satterthwaite's degrees
    of freedom are ``(sum_k a_k)^2 / sum_k a_k^2 / (m_k - 1)`` (his eq. 5.16).
    """
    # means and variances of the strata
    starts, share = np.cumsum(counts) - counts, sizes / sizes.sum()
    means = np.add.reduceat(values, starts) / counts
    squares = np.add.reduceat(np.square(values - np.repeat(means, counts)), starts)
    part = share**2 * (1 - counts / sizes) * squares / np.maximum(counts - 1, 1) / counts
    variance = float(part.sum())
    dof = variance**2 / np.sum(part**2 / np.maximum(counts - 1, 1)) if variance > 0 else np.inf
    return float(share @ means), float(np.sqrt(variance)), float(dof)
