"""The silhouette: is each sample nearer to its own cluster than to the next one?"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.random import Generator, RandomState
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length

from skeval.metrics.cluster._kernels.distances import MetricOfRows
from skeval.metrics.cluster._partition import Partition
from skeval.metrics.cluster._samples import PASS_CONSTRAINTS, check_samples
from skeval.utils._compat import Interval, num_samples, safe_indexing, validate_params
from skeval.utils._seeds import RandomStateLike, small_seed

__all__ = ["silhouette_samples", "silhouette_score", "silhouettes"]


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
