"""The Dunn index: the nearest pair of clusters against the widest cluster."""

from __future__ import annotations

from collections.abc import Callable

from numpy.typing import ArrayLike

from skeval.metrics.cluster._kernels.nearest_farthest import largest_diameter, nearest_between
from skeval.metrics.cluster._kernels.place_tree import VISIT_COST
from skeval.metrics.cluster._samples import PASS_CONSTRAINTS, Samples, check_samples
from skeval.utils._checks import give_nan
from skeval.utils._compat import validate_params

__all__ = ["dunn_ratio", "dunn_score", "extremes_by_bounds"]


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
