"""Internal indices of a clustering from one pass over the distances.

The requested indices determine the quantities that the pass computes. If there are too many pairs,
indices that are means over rows are estimated from a stratified sample of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skeval._inference.estimate import Estimate, Results
from skeval._inference.intervals import normal_interval
from skeval.metrics.cluster._indices import INTERNAL, Index
from skeval.metrics.cluster._kernels.distance_pass import FROM_PAIRS, PRUNED, pass_over_rows
from skeval.metrics.cluster._kernels.distances import Partition, Samples
from skeval.metrics.cluster._samples import (
    PASS_CONSTRAINTS,
    check_n_neighbors,
    check_samples,
    measure,
    measure_without_pass,
)
from skeval.utils._checks import Noise, RandomStateLike, repetition_rng, root_seed, warn_undefined
from skeval.utils._compat import Interval, validate_params

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
    """Compute internal indices of a clustering from one pass over the pairs of samples.

    Formula, range and direction of each index are described at the functions listed below. Larger
    is better for silhouette, Dunn and Calinski-Harabasz; smaller is better for all others.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        The samples, or their distances if ``metric="precomputed"``. Missing entries of a sparse
        distance matrix are 0, so a neighbor graph is rejected.
    labels : array-like of shape (n_samples,)
        Cluster label of each sample; numbers or strings.
    indices : sequence of str or None, default=None
        Names of indices and tables to compute. None computes all. Centroid indices need no pairs,
        and "dunn" and "connectivity" alone need them only if trees and bounds do not prune.
    metric : str or callable, default="euclidean"
        Any symmetric metric of :func:`sklearn.metrics.pairwise_distances`, or "precomputed".
    n_neighbors : int, default=10
        Number of neighbors for the connectivity, smaller than the number of samples.
    noise : {"cluster", "drop", "singletons"} or None, default=None
        Treatment of label -1, also as text: an ordinary cluster ("cluster"; None does the same and
        warns), samples to omit ("drop"), or one cluster per sample ("singletons").
    max_pairs : int or None, default=None
        Maximum number of pairs whose distances are computed. If there are more pairs, silhouette
        and connectivity are estimated from a sample of rows of each cluster, and other results that
        need all pairs are omitted. Dunn is exact if bounds prune, and connectivity if a tree visits
        at most ten times as many points. None means no limit.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws; an int gives the same result in each call.
    n_jobs : int or None, default=None
        Number of threads; results do not depend on it.

    Returns
    -------
    indices : dict of str to float, Estimate or ndarray
        The requested results by name; they print as a table, and `to_frame` has a row per index.
        Indices are the Euclidean "compactness", the root mean square distance to the centroid, and
        "sse", the sum of squared errors; "silhouette"; "dunn"; "davies_bouldin_pairwise" and
        "davies_bouldin_centroid", named by their dispersion; the Euclidean "calinski_harabasz", inf
        if the samples of each cluster are equal; and "connectivity".

        Tables are "silhouette_samples" of shape (n_samples,), nan for dropped noise; "mean_within"
        and "max_within", the diameter, of shape (n_clusters,), 0 for singletons; "mean_between",
        "min_between" and "centroid_between" of shape (n_clusters, n_clusters), the first two with
        nan on the diagonal. The "label" and the "size" of each cluster are always included.

        An index estimated from a sample of rows because of `max_pairs` is an Estimate, with
        standard error and interval for the index of all rows. All others are exact.

    Raises
    ------
    ValueError
        If there are fewer than two clusters, an index is unknown, ``n_neighbors`` is too large, or
        the input is invalid.

    Warns
    -----
    UndefinedMetricWarning
        If an index is nan: centroid indices for a metric without centroids; Calinski-Harabasz for
        sparse X, for singletons only, or if it is 0 / 0; Dunn if it is 0 / 0.

    See Also
    --------
    silhouette_score, dunn_score, davies_bouldin_index, connectivity_score, compactness_score :
        Individual indices.

    Notes
    -----
    The distance matrix is never stored: memory grows as ``n_samples * n_clusters``.
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
    samples = check_samples(
        X, labels, metric=metric, noise=noise, n_jobs=n_jobs, min_clusters=2, by_place=True
    )
    partition, valid = samples.partition, (*ROWS, *TABLES)
    requested = valid if indices is None else np.asarray(indices, dtype=object).ravel().tolist()
    unknown = [name for name in requested if not isinstance(name, str) or name not in valid]
    if unknown or not requested:
        got = repr(unknown[0]) if unknown else "none"
        raise ValueError(f"indices must be None or names among {', '.join(valid)}; got {got}.")
    # quantities behind each result
    names = set(requested)
    rng = repetition_rng(root_seed(random_state), 0)
    needs = {name: ROWS[name].needs if name in ROWS else {name} for name in names}
    if any("connectivity" in needed for needed in needs.values()):
        check_n_neighbors(n_neighbors, partition.n_samples)
    estimates: dict[str, Estimate] = {}
    result: dict[str, Any] = {}
    if max_pairs is not None and partition.n_samples * (partition.n_samples - 1) // 2 > max_pairs:
        named = names if indices is not None else set()
        # before the search by trees: some results always need all pairs or a sample of rows
        _split_beyond(needs, FROM_PAIRS - PRUNED, named, partition, max_pairs)
        quantities = set().union(*needs.values())
        max_visits = MAX_VISITS * max_pairs / partition.n_samples
        result = measure_without_pass(samples, quantities, n_neighbors, max_visits)
        # results that trees and bounds did not find
        left = FROM_PAIRS - set(result)
        beyond, rows = _split_beyond(needs, left, named, partition, max_pairs)
        estimates = estimate_from_rows(samples, rows, n_neighbors, max_pairs, confidence_level, rng)
        needs = {name: needed for name, needed in needs.items() if name not in beyond}
    # the other quantities, from one pass
    still = set().union(*needs.values()) - set(result)
    result |= measure(samples, still, n_neighbors)
    values: dict[str, Any] = dict(estimates)
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
        warn_undefined(f"Undefined for this metric or partition, nan: {', '.join(undefined)}.")
    clusters = {"label": partition.names, "size": partition.sizes}
    return Results({name: values[name] for name in (*ROWS, *TABLES) if name in values} | clusters)


def _split_beyond(
    needs: Mapping[str, Set[str]],
    quantities: Set[str],
    named: Set[str],
    partition: Partition,
    max_pairs: int,
) -> tuple[set[str], list[Index]]:
    """Return the results that need some quantities, and the indices among them that rows estimate.

    An index can be estimated if it is a mean over rows. Raise if a requested result cannot be, or
    if `max_pairs` is too low to sample rows.
    """
    beyond = {name for name, needed in needs.items() if needed & quantities}
    rows = [ROWS[name] for name in sorted(beyond & ROWS.keys()) if ROWS[name].by_row is not None]
    missing = named & beyond - {row.name for row in rows}
    if missing:
        raise ValueError(
            f"max_pairs must be None or allow all pairs, which {', '.join(sorted(missing))} need; "
            f"got {max_pairs}."
        )
    if rows:
        allocate(partition, max_pairs)
    return beyond, rows


MIN_ROWS = 2  # of a cluster, for a variance
MAX_VISITS = 10  # points that a tree may visit for each pair allowed by max_pairs


def estimate_from_rows(
    samples: Samples,
    indices: Sequence[Index],
    n_neighbors: int,
    max_pairs: int,
    confidence_level: float,
    rng: np.random.Generator,
) -> dict[str, Estimate]:
    """Estimate indices that are means over rows from a sample of rows.

    Rows are sampled without replacement within clusters, which are the strata.
    """
    if not indices:
        return {}
    # rows of each cluster, drawn at random
    partition = samples.partition
    counts = allocate(partition, max_pairs)
    samples = put_sample_first(samples, counts, rng)
    sampled = [slice(a, a + m) for a, m in zip(partition.starts, counts, strict=True)]
    L = n_neighbors if any("connectivity" in index.needs for index in indices) else 1
    values: dict[str, list[np.ndarray]] = {index.name: [] for index in indices}
    for rows, sums, weights in pass_over_rows(samples, sampled, L):
        for index in indices:
            if index.by_row is not None:
                values[index.name].append(index.by_row(sums, weights, partition, rows))
    estimates = {}
    for index in indices:
        # a stratified mean with Student's t interval
        by_row = np.concatenate(values[index.name])
        value, error, dof = stratified_mean(by_row, counts, partition.sizes)
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
    # at least two rows of each cluster, and shares of the others
    sizes, n_rows = partition.sizes, max_pairs // partition.n_samples
    fewest = np.minimum(sizes, MIN_ROWS)
    if n_rows < fewest.sum():
        raise ValueError(
            f"max_pairs must allow {MIN_ROWS} rows of each cluster, "
            f"{fewest.sum() * partition.n_samples} pairs, got {max_pairs}."
        )
    spare = sizes - fewest
    share = (n_rows - fewest.sum()) / max(1, spare.sum())
    return fewest + np.floor(spare * min(1.0, share)).astype(np.intp)


def put_sample_first(samples: Samples, counts: np.ndarray, rng: np.random.Generator) -> Samples:
    """Return the samples with randomly drawn rows first in each cluster."""
    partition, points = samples.partition, samples.points
    # sampled rows come first in their cluster
    order = np.arange(partition.n_samples)
    for rows, m in zip(partition.members, counts, strict=True):
        drawn = np.zeros(rows.stop - rows.start, dtype=bool)
        drawn[rng.choice(len(drawn), m, replace=False)] = True
        order[rows] = rows.start + np.argsort(~drawn, kind="stable")
    again = replace(partition, order=partition.order[order])
    points = points[order] if samples.metric != "precomputed" else points
    return replace(samples, points=points, partition=again)


def stratified_mean(
    values: np.ndarray, counts: np.ndarray, sizes: np.ndarray
) -> tuple[float, float, float]:
    """Return the stratified mean, its standard error and degrees of freedom.

    ``sum_k W_k mean_k`` with ``W_k = n_k / n``, of variance ``sum_k a_k`` with
    ``a_k = W_k^2 (1 - m_k / n_k) s_k^2 / m_k`` (Cochran, 1977, eq. 5.12), and Satterthwaite's
    ``(sum_k a_k)^2 / sum_k a_k^2 / (m_k - 1)`` degrees of freedom (his eq. 5.16).
    """
    # means and variances of the strata
    starts, share = np.cumsum(counts) - counts, sizes / sizes.sum()
    means = np.add.reduceat(values, starts) / counts
    squares = np.add.reduceat(np.square(values - np.repeat(means, counts)), starts)
    part = share**2 * (1 - counts / sizes) * squares / np.maximum(counts - 1, 1) / counts
    variance = float(part.sum())
    dof = variance**2 / np.sum(part**2 / np.maximum(counts - 1, 1)) if variance > 0 else np.inf
    return float(share @ means), float(np.sqrt(variance)), float(dof)
