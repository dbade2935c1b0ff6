"""Every internal index of a clustering from one pass over its distances.

What a pass has to find follows from the indices that are asked for. Where all pairs are too many,
indices that are means over rows are estimated from a stratified sample of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from scipy.stats import t as student

from skeval.metrics.cluster._centroids import (
    centroid_distances_of,
    davies_bouldin_index,
    mean_to_centroid,
    to_centroids,
)
from skeval.metrics.cluster._distances import (
    check_n_neighbors,
    connectivity_by_tree,
    connectivity_from_pass,
    dunn_ratio,
    extremes_by_bounds,
    silhouettes,
)
from skeval.metrics.cluster._kernels.distance_pass import (
    ClusterSums,
    Reductions,
    add_to_totals,
    mean_between,
    mean_within,
    pass_over_rows,
    within_pass,
)
from skeval.metrics.cluster._kernels.distances import squared_norms
from skeval.metrics.cluster._samples import (
    PASS_CONSTRAINTS,
    Partition,
    Samples,
    check_samples,
    has_centroids,
)
from skeval.utils._checks import warn_undefined
from skeval.utils._compat import Interval, validate_params
from skeval.utils._frames import DataFrame, make_frame
from skeval.utils._seeds import RandomStateLike, repetition_rng, root_seed
from skeval.utils._text import ShownAsText

__all__ = [
    "IndexEstimate",
    "InternalIndices",
    "internal_indices",
]


SCALARS = (
    "compactness",
    "sse",
    "silhouette",
    "dunn",
    "davies_bouldin_pairwise",
    "davies_bouldin_centroid",
    "calinski_harabasz",
    "connectivity",
)


FROM_SSE = {"compactness", "sse", "calinski_harabasz"}
FROM_CENTROIDS = {"davies_bouldin_pairwise", "davies_bouldin_centroid", "centroid_between"}
TABLES = (
    "silhouette_samples",
    "mean_within",
    "max_within",
    "mean_between",
    "min_between",
    "centroid_between",
)


@dataclass(frozen=True, repr=False)
class InternalIndices(ShownAsText):
    """The internal indices of one clustering that were asked for; others raise AttributeError.

    Attributes
    ----------
    compactness, sse : float
        Root mean square distance to the centroid and sum of squared errors, both Euclidean.
    silhouette : float
        Mean silhouette.
    silhouette_samples : ndarray of shape (n_samples,)
        Silhouette of each sample; nan for those dropped as noise.
    dunn, davies_bouldin_pairwise, davies_bouldin_centroid : float
        Dunn index, and Davies-Bouldin index with the pairwise and the centroid dispersion.
    calinski_harabasz : float
        Calinski-Harabasz index, Euclidean; inf where the samples of each cluster are equal.
    connectivity : float
        Connectivity with ``n_neighbors`` neighbours.
    mean_within, max_within : ndarray of shape (n_clusters,)
        Mean distance within each cluster, and its diameter; 0 for singletons.
    mean_between, min_between : ndarray of shape (n_clusters, n_clusters)
        Mean distance and nearest pair of every two clusters; nan on the diagonal.
    centroid_between : ndarray of shape (n_clusters, n_clusters)
        Distance of every two centroids.
    labels, sizes : ndarray of shape (n_clusters,)
        Label and number of samples of each cluster.
    estimates : dict of str to IndexEstimate
        Standard error and interval of each index that was estimated from a sample of rows because
        of ``max_pairs``; all others are exact.
    """

    compactness: float
    sse: float
    silhouette: float
    silhouette_samples: np.ndarray
    dunn: float
    davies_bouldin_pairwise: float
    davies_bouldin_centroid: float
    calinski_harabasz: float
    connectivity: float
    mean_within: np.ndarray
    max_within: np.ndarray
    mean_between: np.ndarray
    min_between: np.ndarray
    centroid_between: np.ndarray
    labels: np.ndarray
    sizes: np.ndarray
    estimates: dict[str, IndexEstimate]

    def __post_init__(self) -> None:
        for name in (*SCALARS, *TABLES):
            if vars(self)[name] is None:
                object.__delattr__(self, name)

    def __getattr__(self, name: str) -> NoReturn:
        if name in (*SCALARS, *TABLES):
            raise AttributeError(
                f"{name} was not computed; indices must hold {name!r}, or be None for all of them, "
                "and max_pairs must be None or allow all pairs."
            )
        raise AttributeError(f"InternalIndices has no attribute {name!r}.")

    def to_dict(self) -> dict[str, float]:
        """Return the indices that are one number, by name; those not asked for are absent."""
        return {name: vars(self)[name] for name in SCALARS if name in vars(self)}

    def to_frame(self) -> DataFrame:
        """Return one row per cluster; what was not asked for has no column."""
        columns = {"size": self.sizes}
        columns |= {name: vars(self)[name] for name in TABLES[1:3] if name in vars(self)}
        if "min_between" in vars(self):
            columns["nearest_other"] = np.nanmin(self.min_between, axis=1)
        return make_frame(columns, self.labels, "label")

    def __str__(self) -> str:
        lines = [
            f"{name:<24}{value:>14.6g}{self._mark(name)}" for name, value in self.to_dict().items()
        ]
        return "\n".join([f"{'clusters':<24}{len(self.labels):>14d}", *lines])

    def _mark(self, name: str) -> str:
        """Return what to print beside an index that is estimated."""
        if name not in self.estimates:
            return ""
        estimate = self.estimates[name]
        return f"  estimated from {estimate.n_rows} rows, s.e. {estimate.standard_error:.2g}"

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.to_dict().items())
        return f"InternalIndices({len(self.labels)} clusters: {values})"


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
    noise: str | None = None,
    max_pairs: int | None = None,
    confidence_level: float = 0.95,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
) -> InternalIndices:
    """Compute internal indices of a clustering from one pass over the pairs of samples.

    Each index has its own formula, range and direction: see the functions named below. Larger is
    better for silhouette, Dunn and Calinski-Harabasz; smaller for all the others.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        The samples, or their distances when ``metric="precomputed"``; what a sparse matrix of
        distances does not store is 0, which a graph of neighbours does not mean and is refused.
    labels : array-like of shape (n_samples,)
        The cluster of each sample; numbers or strings.
    indices : sequence of str or None, default=None
        Names of attributes of the result, all of them by default. Nothing else is computed: the
        indices of centroids need no pairs, and "dunn" and "connectivity" alone only where trees and
        bounds do not prune.
    metric : str or callable, default="euclidean"
        Any symmetric metric of :func:`sklearn.metrics.pairwise_distances`, or "precomputed".
    n_neighbors : int, default=10
        The number of neighbours of the connectivity, smaller than the number of samples.
    noise : {"cluster", "drop", "singletons"} or None, default=None
        What label -1, also as text, means: a cluster ("cluster"; None does the same and warns),
        samples to leave out ("drop"), or samples that each form a cluster ("singletons").
    max_pairs : int or None, default=None
        The most pairs whose distances may be computed. If all pairs are more, silhouette and
        connectivity are estimated from a sample of the rows of each cluster (``estimates`` has
        their standard errors), connectivity and Dunn are exact where trees and bounds prune, and
        what else needs all pairs is left out. None sets no limit.
    confidence_level : float, default=0.95
        Level of the intervals of estimated indices.
    random_state : int, RandomState, Generator or None, default=None
        Draws that sample of rows.
    n_jobs : int or None, default=None
        Number of threads; the numbers do not depend on it.

    Returns
    -------
    indices : InternalIndices
        The indices by name, with the tables they come from.

    Raises
    ------
    ValueError
        If there are fewer than two clusters, an index is unknown, ``n_neighbors`` is too large, or
        the input is malformed.

    Warns
    -----
    UndefinedMetricWarning
        If some index is nan: those that need centroids, for a metric without them;
        Calinski-Harabasz, for sparse X, only singletons, or where it is 0 / 0; Dunn, where it is.

    See Also
    --------
    silhouette_score, dunn_score, davies_bouldin_score, connectivity_score, compactness_score :
        The indices one by one.

    Notes
    -----
    The distance matrix is never held: memory grows as ``n_samples * n_clusters``. ``compactness``,
    ``sse`` and ``calinski_harabasz`` are Euclidean whatever the metric.

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
    clusters                             3
    compactness                   0.771567
    sse                            89.2974
    silhouette                    0.503477
    dunn                         0.0584805
    davies_bouldin_pairwise        1.07046
    davies_bouldin_centroid       0.751371
    calinski_harabasz              487.331
    connectivity                    23.071
    """
    samples = check_samples(X, labels, metric=metric, noise=noise, min_clusters=2, by_place=True)
    partition, names = samples.partition, _check_indices(indices)
    root = root_seed(random_state)
    if "connectivity" in names:
        check_n_neighbors(n_neighbors, partition.n_samples)
    estimates: dict[str, IndexEstimate] = {}
    if max_pairs is None or partition.n_samples * (partition.n_samples - 1) // 2 <= max_pairs:
        found = compute_from_pairs(samples, names, n_neighbors, n_jobs=n_jobs)
    else:
        asked = names if indices is not None else set()
        # what is refused in any case is refused before the bounds of Dunn's index are computed
        _check_affordable(asked & FROM_PAIRS - ESTIMABLE - {"dunn"}, max_pairs)
        if "silhouette" in names:
            allocate(partition, max_pairs)
        found = compute_without_pass(samples, names, n_neighbors, n_jobs=n_jobs)
        rest = (names & ESTIMABLE) - set(found)
        missing = (names & FROM_PAIRS) - rest - set(found)
        _check_affordable(asked & missing, max_pairs)
        names -= missing
        rng = repetition_rng(root, 0)
        numbers, estimates = estimate_from_rows(
            samples, rest, n_neighbors, max_pairs, confidence_level, rng, n_jobs=n_jobs
        )
        found |= numbers
    found |= _centroid_indices(samples, names, found.get("mean_within"))
    values: dict[str, Any] = dict.fromkeys((*SCALARS, *TABLES))
    values |= {name: found[name] for name in names}
    result = InternalIndices(
        labels=partition.names, sizes=partition.sizes, estimates=estimates, **values
    )
    _warn_of_undefined(result)
    return result


def _check_indices(indices: Sequence[str] | None) -> set[str]:
    """Return the names of indices and tables asked for, or raise."""
    known = (*SCALARS, *TABLES)
    if indices is None:
        return set(known)
    names = np.asarray(indices, dtype=object).ravel().tolist()
    unknown = [name for name in names if not isinstance(name, str) or name not in known]
    if unknown or not names:
        got = repr(unknown[0]) if unknown else "none"
        raise ValueError(f"indices must be None or names among {', '.join(known)}; got {got}.")
    return set(names)


def _check_affordable(missing: set[str], max_pairs: int) -> None:
    """Raise if an index that was named needs all pairs, which are too many."""
    if missing:
        raise ValueError(
            f"max_pairs must be None or allow all pairs, which {', '.join(sorted(missing))} need; "
            f"got {max_pairs}."
        )


def _centroid_indices(samples: Samples, names: set[str], within: np.ndarray | None) -> dict:
    """Return the indices asked for that need centroids by name; nan where the metric has none."""
    partition, points, metric = samples.partition, samples.points, samples.metric
    found: dict[str, Any] = dict.fromkeys((*FROM_CENTROIDS, *FROM_SSE), np.nan)
    K = partition.n_clusters
    found["centroid_between"] = np.full((K, K), np.nan)
    if names & FROM_SSE and samples.has_points:
        sse = float(to_centroids(points, partition, "sqeuclidean").sum())
        found |= {"sse": sse, "compactness": float(np.sqrt(sse / partition.n_samples))}
        found["calinski_harabasz"] = _calinski_harabasz(samples, sse)
    if names & FROM_CENTROIDS and has_centroids(metric):
        to_centroid, between = centroid_distances_of(points, partition, metric)
        spread = mean_to_centroid(to_centroid, partition)
        found["centroid_between"] = between
        found["davies_bouldin_centroid"] = davies_bouldin_index(spread, between)
        if within is not None:
            found["davies_bouldin_pairwise"] = davies_bouldin_index(within, between)
    return found


def _calinski_harabasz(samples: Samples, sse: float) -> float:
    """Return ``[sum_k n_k |mu_k - mu|^2 / (K - 1)] / [sse / (n - K)]``; inf where only sse is 0."""
    points, partition = samples.points, samples.partition
    n, K = partition.n_samples, partition.n_clusters
    if issparse(points) or n == K:
        return float("nan")
    means = np.add.reduceat(points - points[0], partition.starts, axis=0) / partition.sizes[:, None]
    deviations = means - partition.sizes @ means / n
    between = partition.sizes @ squared_norms(deviations) / (K - 1)
    if sse == 0:
        return float("inf") if between > 0 else float("nan")
    return float(between / sse * (n - K))


def _warn_of_undefined(indices: InternalIndices) -> None:
    found = indices.to_dict()
    names = [name for name in found if name != "dunn" and np.isnan(found[name])]
    if names:
        warn_undefined(f"Undefined for this metric or partition, nan: {', '.join(names)}.")


SILHOUETTES = {"silhouette", "silhouette_samples"}
WITHIN = {"mean_within", "max_within", "davies_bouldin_pairwise"}
SUMS = SILHOUETTES | {"mean_within", "mean_between", "davies_bouldin_pairwise"}
EXTREMES = {"dunn", "max_within", "min_between"}
FROM_PAIRS = SUMS | EXTREMES | {"connectivity"}


def compute_without_pass(
    samples: Samples, asked: set[str], n_neighbors: int, *, n_jobs: int | None
) -> dict[str, Any]:
    """Return those of Dunn and connectivity that are asked for and that trees and bounds give."""
    found = {}
    if "dunn" in asked:
        extremes = extremes_by_bounds(samples, n_jobs=n_jobs)
        if extremes is not None:
            found["dunn"] = dunn_ratio(*extremes)
    if "connectivity" in asked:
        connectivity = connectivity_by_tree(samples, n_neighbors, n_jobs=n_jobs)
        if connectivity is not None:
            found["connectivity"] = connectivity
    return found


def compute_from_pairs(
    samples: Samples, asked: set[str], n_neighbors: int, *, n_jobs: int | None
) -> dict[str, Any]:
    """Return what is asked for and comes from pairs, by name.

    For davies_bouldin it is the dispersion, mean_within.
    """
    asked, found = asked & FROM_PAIRS, {}
    if asked <= {"dunn", "connectivity"}:
        found = compute_without_pass(samples, asked, n_neighbors, n_jobs=n_jobs)
        asked -= set(found)
    if not asked:
        return found
    if asked <= WITHIN:
        totals, largest = within_pass(samples.tiles, samples.partition.members, n_jobs=n_jobs)
        return {"mean_within": mean_within(totals, samples.partition.sizes), "max_within": largest}
    reduced, strips = samples.reduce_distances(
        sums=bool(asked & SUMS),
        extremes=bool(asked & EXTREMES),
        by_pair="min_between" in asked,
        n_neighbors=n_neighbors if "connectivity" in asked else 0,
        n_jobs=n_jobs,
    )
    if asked & SUMS:
        found |= _reduce_sums(samples, strips, with_silhouettes=bool(asked & SILHOUETTES))
    if asked & EXTREMES:
        found |= _read_extremes(reduced, with_dunn="dunn" in asked)
    if "connectivity" in asked:
        nearest = reduced.nearest
        found["connectivity"] = connectivity_from_pass(samples, nearest, n_neighbors, n_jobs=n_jobs)
    return found


def _reduce_sums(
    samples: Samples, strips: ClusterSums, *, with_silhouettes: bool
) -> dict[str, Any]:
    partition = samples.partition
    K, silhouette = partition.n_clusters, np.empty(partition.n_samples)
    totals = np.zeros((K, K))
    for rows, sums in strips:
        if with_silhouettes:
            silhouette[rows] = silhouettes(sums, partition, rows)
        add_to_totals(totals, sums, rows, partition.starts)
    found: dict[str, Any] = {"mean_within": mean_within(np.diagonal(totals) / 2, partition.sizes)}
    found["mean_between"] = mean_between(totals, partition.sizes)
    if with_silhouettes:
        found["silhouette"] = float(silhouette.mean())
        found["silhouette_samples"] = partition.unsort(silhouette)
    return found


def _read_extremes(reduced: Reductions, *, with_dunn: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"max_within": reduced.largest, "min_between": reduced.smallest}
    if with_dunn:  # which warns where it is undefined
        found["dunn"] = dunn_ratio(float(reduced.smallest.min()), float(reduced.largest.max()))
    np.fill_diagonal(reduced.smallest, np.nan)
    return found


ESTIMABLE = {"silhouette", "connectivity"}
FEWEST_ROWS = 2  # of a cluster, for a variance


@dataclass(frozen=True)
class IndexEstimate(ShownAsText):
    """How near an index estimated from a sample of rows is to that of all of them.

    Attributes
    ----------
    standard_error : float
        Standard error of the estimate, in the unit of the index.
    low, high : float
        Limits of the interval for the index of all rows; nan where the sampled rows do not vary.
    confidence_level : float
        Its level.
    n_rows : int
        The number of sampled rows; the distances of each to all others were used.
    """

    standard_error: float
    low: float
    high: float
    confidence_level: float
    n_rows: int


def estimate_from_rows(
    samples: Samples,
    names: set[str],
    n_neighbors: int,
    max_pairs: int,
    confidence_level: float,
    rng: np.random.Generator,
    *,
    n_jobs: int | None,
) -> tuple[dict[str, float], dict[str, IndexEstimate]]:
    """Return the estimates of silhouette and connectivity, and how near they are.

    Rows are sampled within clusters, which are the strata, without replacement.
    """
    if not names:
        return {}, {}
    partition = samples.partition
    counts = allocate(partition, max_pairs)
    samples = put_sample_first(samples, counts, rng)
    sampled = [slice(a, a + m) for a, m in zip(partition.starts, counts, strict=True)]
    values: dict[str, list[np.ndarray]] = {"silhouette": [], "connectivity": []}
    n, L = partition.n_samples, n_neighbors if "connectivity" in names else 1
    strips = pass_over_rows(
        samples.tiles, partition.starts, sampled, partition.cluster, samples.zero, L, n_jobs=n_jobs
    )
    for rows, sums, weights in strips:
        values["silhouette"].append(silhouettes(sums, partition, rows))
        values["connectivity"].append(n * weights)
    found, estimates = {}, {}
    for name in sorted(names):
        by_row = np.concatenate(values[name])
        estimate, error, dof = stratified_mean(by_row, counts, partition.sizes)
        low, high = (
            estimate
            + student.ppf([0.5 - confidence_level / 2, 0.5 + confidence_level / 2], dof) * error
        )
        if error == 0:  # where nothing varies, the rows do not say how the others would
            low = high = estimate if counts.sum() == n else np.nan
        lowest, highest = (-1.0, 1.0) if name == "silhouette" else (0.0, np.inf)
        found[name] = estimate
        estimates[name] = IndexEstimate(
            standard_error=error,
            low=float(np.maximum(low, lowest)),
            high=float(np.minimum(high, highest)),
            confidence_level=confidence_level,
            n_rows=int(counts.sum()),
        )
    return found, estimates


def allocate(partition: Partition, max_pairs: int) -> np.ndarray:
    """Return the (K,) numbers of rows to sample, in proportion to the sizes of the clusters."""
    sizes, n_rows = partition.sizes, max_pairs // partition.n_samples
    fewest = np.minimum(sizes, FEWEST_ROWS)
    if n_rows < fewest.sum():
        raise ValueError(
            f"max_pairs must allow {FEWEST_ROWS} rows of each cluster, "
            f"{fewest.sum() * partition.n_samples} pairs, got {max_pairs}."
        )
    spare = sizes - fewest
    share = (n_rows - fewest.sum()) / max(1, spare.sum())
    return fewest + np.floor(spare * min(1.0, share)).astype(np.intp)


def put_sample_first(samples: Samples, counts: np.ndarray, rng: np.random.Generator) -> Samples:
    """Return the samples with the rows drawn, without replacement, first in their cluster."""
    partition, points = samples.partition, samples.points
    order = np.arange(partition.n_samples)
    for rows, m in zip(partition.members, counts, strict=True):
        drawn = np.zeros(rows.stop - rows.start, dtype=bool)
        drawn[rng.choice(len(drawn), m, replace=False)] = True
        order[rows] = rows.start + np.argsort(~drawn, kind="stable")
    again = replace(partition, order=partition.order[order])
    return Samples(points[order] if samples.has_points else points, again, samples.metric)


def stratified_mean(
    values: np.ndarray, counts: np.ndarray, sizes: np.ndarray
) -> tuple[float, float, float]:
    """Return the mean over all rows, its standard error, and the degrees of freedom of that.

    ``sum_k W_k mean_k`` with ``W_k = n_k / n``, of variance ``sum_k a_k`` with
    ``a_k = W_k^2 (1 - m_k / n_k) s_k^2 / m_k`` (Cochran, 1977, eq. 5.12), and Satterthwaite's
    ``(sum_k a_k)^2 / sum_k a_k^2 / (m_k - 1)`` degrees of freedom (his eq. 5.16).
    """
    starts, share = np.cumsum(counts) - counts, sizes / sizes.sum()
    means = np.add.reduceat(values, starts) / counts
    squares = np.add.reduceat(np.square(values - np.repeat(means, counts)), starts)
    part = share**2 * (1 - counts / sizes) * squares / np.maximum(counts - 1, 1) / counts
    variance = float(part.sum())
    dof = variance**2 / np.sum(part**2 / np.maximum(counts - 1, 1)) if variance > 0 else np.inf
    return float(share @ means), float(np.sqrt(variance)), float(dof)
