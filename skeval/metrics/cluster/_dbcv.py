"""Density-based clustering validation (DBCV)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from numbers import Integral
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from skeval.metrics.cluster._kernels.distances import Partition, Samples, Tiles
from skeval.metrics.cluster._samples import PASS_CONSTRAINTS, check_samples
from skeval.utils._checks import give_nan
from skeval.utils._compat import Interval, validate_params
from skeval.utils._options import Noise

NUMBERS_AT_ONCE = 2**20


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
    r"""Compute the density-based clustering validation index (DBCV).

    The core distance of a sample :math:`o` in a cluster :math:`C` of :math:`m` samples, in
    :math:`p` dimensions, is an inverse density,

    .. math:: a(o) = \Bigl(\frac{1}{m-1} \sum_{q \in C, q \ne o} d(o, q)^{-p}\Bigr)^{-1/p} ,

    and the mutual reachability of two samples is :math:`r(o, q) = \max\{a(o), a(q), d(o, q)\}`. For
    each cluster, the minimum spanning tree by :math:`r` is computed; its inner samples have at
    least two edges. The sparseness :math:`S_k` is the longest edge between two inner samples of
    cluster :math:`k`, the separation :math:`D_k` the smallest reachability from an inner sample of
    cluster :math:`k` to an inner sample of another cluster. With the number of samples :math:`n`,
    including noise,

    .. math:: DBCV = \sum_k \frac{|C_k|}{n} \frac{D_k - S_k}{\max(D_k, S_k)} .

    Range [-1, 1]; larger is better. Clusters may have any shape.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        The samples, or their distances if ``metric="precomputed"``. Missing entries of a sparse
        distance matrix are 0, so a neighbor graph is rejected.
    labels : array-like of shape (n_samples,)
        Cluster label of each sample; numbers or strings.
    metric : str or callable, default="euclidean"
        Any symmetric metric of :func:`sklearn.metrics.pairwise_distances`, or "precomputed".
    noise : {"cluster", "drop", "singletons"} or None, default="singletons"
        Treatment of label -1, also as text: one cluster per sample, which contributes 0 and counts
        in `n`, like noise in the paper ("singletons"); samples to omit ("drop"); or an ordinary
        cluster ("cluster"; None does the same and warns).
    n_features : int or None, default=None
        Number of dimensions :math:`p`. None uses the number of columns of X; required for
        precomputed distances.
    n_jobs : int or None, default=None
        Number of threads; results do not depend on it.

    Returns
    -------
    dbcv : float
        DBCV, without unit; nan if undefined.

    Raises
    ------
    ValueError
        If there are fewer than two clusters, if `n_features` is missing or contradicts X, or the
        input is invalid.

    Warns
    -----
    UndefinedMetricWarning
        If fewer than two clusters have at least two samples, or two clusters of zero width share a
        position; the index is nan.

    See Also
    --------
    silhouette_score : Index for round clusters.
    mst_compactness : Edges of the spanning trees by distance alone.

    Notes
    -----
    A cluster of one sample is noise. If a tree has no edge between two inner samples, all of its
    edges count, and if it has no inner samples, all of its samples count, as in the authors'
    program. Core distances are computed on the logarithmic scale to avoid overflow and underflow in
    many dimensions. Each distance is computed three times, and only a few rows are stored at a
    time.

    A minimum spanning tree by mutual reachability is rarely unique: a sample with a large core
    distance is equally close to many others. The paper does not specify the tree, and in other
    programs it depends on the order of the rows. Here, ties in reachability are broken by the
    densest sample (the smallest core distance), and then by the shortest edge. As a result, border
    samples are attached to the core of a cluster and are not inner samples, and the order of the
    rows does not matter.

    Other programs differ. The authors' MATLAB program squares the distances and keeps the exponent
    (like ``metric="sqeuclidean"`` here), treats label 0 as noise, although their own files use -1,
    and excludes duplicates of a sample from its core distance, which by the definition is then 0.
    ``hdbscan.validity_index`` also excludes duplicates, and fails for a cluster of one sample.
    ``relative_validity_`` of hdbscan uses the tree of the algorithm and is a different index. See
    :doc:`/differences` for numbers.

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
    dimension = _count_dimensions(samples, n_features)
    n, samples = samples.partition.n_samples, _drop_singletons(samples)
    partition = samples.partition
    if partition.n_clusters < 2:
        return give_nan("DBCV needs two clusters of two samples or more.")
    trees = Parallel(n_jobs, require="sharedmem")(
        delayed(_density_tree)(samples.tiles, rows, dimension) for rows in partition.members
    )
    sparseness = np.array([tree.sparseness for tree in trees])
    separation = _separations(samples, np.concatenate([tree.reach for tree in trees]))
    larger = np.maximum(separation, sparseness)
    if not larger.all():
        return give_nan("DBCV is 0 / 0: two clusters share a place and have no width.")
    return float(np.sum(partition.sizes * (separation - sparseness) / larger) / n)


def _count_dimensions(samples: Samples, n_features: int | None) -> int:
    """Return the dimension of the data, or `n_features` for precomputed distances."""
    if samples.metric == "precomputed":
        if n_features is None:
            raise ValueError('n_features must be given when metric="precomputed", got None.')
        return n_features
    own = samples.points.shape[1]
    if n_features not in (None, own):
        raise ValueError(f"n_features must be None or the {own} columns of X, got {n_features}.")
    return own


def _drop_singletons(samples: Samples) -> Samples:
    """Return the samples of clusters with at least two samples."""
    old = samples.partition
    large = old.sizes > 1
    kept = large[old.cluster]
    sizes = old.sizes[large]
    starts, points = np.cumsum(sizes) - sizes, samples.points
    partition = Partition(old.order[kept], starts, sizes, old.names[large], old.n_rows)
    points = points if samples.metric == "precomputed" else points[np.flatnonzero(kept)]
    return replace(samples, points=points, partition=partition)


class DensityTree(NamedTuple):
    """Results from the minimum spanning tree of a cluster by mutual reachability.

    Attributes
    ----------
    sparseness : float
    reach : ndarray of shape (m,)
        The core distance of each inner sample, infinity for the others.
    """

    sparseness: float
    reach: np.ndarray


def _density_tree(tiles: Tiles, members: slice, dimension: int) -> DensityTree:
    """Return the sparseness of a cluster, and the core distances of its inner samples."""
    core = _core_distances(tiles, members, dimension)
    ends, weights = _spanning_tree(tiles, members, core)
    inner = np.bincount(ends.ravel(), minlength=len(core)) > 1
    between = inner[ends].all(axis=1)
    sparseness = weights[between].max() if between.any() else weights.max()
    return DensityTree(float(sparseness), np.where(inner, core, np.inf) if inner.any() else core)


def _core_distances(tiles: Tiles, members: slice, dimension: int) -> np.ndarray:
    """Return the (m,) core distances of a cluster; 0 for a sample that has a duplicate."""
    m = members.stop - members.start
    core = np.empty(m)
    for rows in _strips(members, m):
        distances = tiles(rows)(members).distances
        own = np.arange(rows.start, rows.stop) - members.start
        with np.errstate(divide="ignore"):
            logs = -dimension * np.log(distances)
        logs[np.arange(len(own)), own] = -np.inf
        core[own] = np.exp((np.log(m - 1) - logsumexp(logs, axis=1)) / dimension)
    return core


def _spanning_tree(tiles: Tiles, members: slice, core: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the (m-1, 2) ends of the edges and their (m-1,) reachabilities, by Prim's algorithm.

    Among edges of equal reachability, the edge at the densest sample is chosen, then the shortest.
    """
    m = len(core)
    outside = np.ones(m, dtype=bool)
    best, parent = np.full((3, m), np.inf), np.zeros(m, dtype=np.intp)
    ends, weights, last = np.empty((m - 1, 2), dtype=np.intp), np.empty(m - 1), 0
    for step in range(m - 1):
        outside[last] = False
        distance = tiles(slice(members.start + last, members.start + last + 1))(members).distances[
            0
        ]
        reach = np.maximum(np.maximum(distance, core), core[last])
        edges = np.stack([reach, np.minimum(core, core[last]), distance])
        closer = _is_before(edges, best)
        best[:, closer], parent[closer] = edges[:, closer], last
        last = _first(best, np.flatnonzero(outside))
        ends[step], weights[step] = (parent[last], last), best[0, last]
    return ends, weights


def _is_before(edges: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return which columns of (3, m) keys precede the same columns of others, row by row."""
    before = edges[2] < others[2]
    for key, other in zip(edges[1::-1], others[1::-1], strict=True):
        before = (key < other) | ((key == other) & before)
    return before


def _first(edges: np.ndarray, among: np.ndarray) -> int:
    """Return the index of the column of (3, m) keys that sorts first."""
    for key in edges:
        values = key[among]
        among = among[values == values.min()]
    return int(among[0])


def _separations(samples: Samples, reach: np.ndarray) -> np.ndarray:
    """Return the (K,) smallest reachability from inner samples of a cluster to those of others."""
    partition = samples.partition
    smallest = np.full(partition.n_clusters, np.inf)
    for k, members in enumerate(partition.members[:-1]):
        others = slice(members.stop, partition.n_samples)
        starts = partition.starts[k + 1 :] - members.stop
        for rows in _strips(members, others.stop - others.start):
            distances = samples.tiles(rows)(others).distances
            weight = np.maximum(np.maximum(distances, reach[others]), reach[rows, None])
            by_cluster = np.minimum.reduceat(weight.min(axis=0), starts)
            smallest[k] = min(smallest[k], by_cluster.min())
            np.minimum(smallest[k + 1 :], by_cluster, out=smallest[k + 1 :])
    return smallest


def _strips(members: slice, n_columns: int) -> Iterator[slice]:
    """Divide the rows of a cluster into strips of few distances."""
    size = max(1, NUMBERS_AT_ONCE // n_columns)
    for start in range(members.start, members.stop, size):
        yield slice(start, min(start + size, members.stop))
