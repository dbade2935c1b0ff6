"""Compactness along the minimum spanning tree, for clusters of any shape."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike

from skeval.metrics.cluster._kernels.distances import Tiles
from skeval.metrics.cluster._samples import PASS_CONSTRAINTS, check_samples
from skeval.metrics.cluster._separation import ClusterDistances
from skeval.utils._compat import validate_params

__all__ = ["mst_compactness"]


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
