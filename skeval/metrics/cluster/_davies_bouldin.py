"""The Davies-Bouldin index, with the pairwise and with the centroid dispersion."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from skeval.metrics.cluster._centroids import (
    between_centroids,
    centroid_distances_of,
    mean_to_centroid,
)
from skeval.metrics.cluster._kernels.distance_pass import mean_within, within_pass
from skeval.metrics.cluster._samples import PASS_CONSTRAINTS, check_has_centroids, check_samples
from skeval.utils._compat import StrOptions, validate_params

__all__ = ["davies_bouldin_index", "davies_bouldin_score"]


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
