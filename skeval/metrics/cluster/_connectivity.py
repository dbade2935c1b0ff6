"""Connectivity: how often near neighbours are put in different clusters."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral

from joblib import effective_n_jobs
from numpy.typing import ArrayLike

from skeval.metrics.cluster._kernels.neighbours import Nearest, foreign_weight_by_rows
from skeval.metrics.cluster._kernels.place_tree import PlaceTree
from skeval.metrics.cluster._samples import PASS_CONSTRAINTS, Samples, check_samples
from skeval.utils._checks import check_count
from skeval.utils._compat import Interval, validate_params

__all__ = [
    "check_n_neighbors",
    "connectivity_by_tree",
    "connectivity_from_pass",
    "connectivity_score",
]


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
