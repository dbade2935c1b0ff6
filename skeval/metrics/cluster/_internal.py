"""Every internal index of a clustering from one pass over its distances.

What a pass has to find follows from the indices that are asked for. Where all pairs are too many,
indices that are means over rows are estimated from a stratified sample of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student

from skeval.metrics.cluster._indices import INTERNAL, Index
from skeval.metrics.cluster._kernels.distance_pass import pass_over_rows
from skeval.metrics.cluster._measures import (
    FROM_PAIRS,
    PRUNED,
    check_n_neighbors,
    measure,
    measure_without_pass,
)
from skeval.metrics.cluster._samples import (
    PASS_CONSTRAINTS,
    Partition,
    Samples,
    check_samples,
)
from skeval.utils._checks import warn_undefined
from skeval.utils._compat import Interval, validate_params
from skeval.utils._seeds import RandomStateLike, repetition_rng, root_seed
from skeval.utils._text import DataFrame, ShownAsText, make_frame

__all__ = [
    "IndexEstimate",
    "InternalIndices",
    "internal_indices",
]


ROWS = {row.name: row for row in INTERNAL if row.compute is not None}
TABLES = (
    "silhouette_samples",
    "mean_within",
    "max_within",
    "mean_between",
    "min_between",
    "centroid_between",
)
"""Quantities that are results themselves."""


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
    values : dict of str to float or ndarray
        All of the above that were computed, by name.
    estimates : dict of str to IndexEstimate
        Standard error and interval of each index that was estimated from a sample of rows because
        of ``max_pairs``; all others are exact.
    """

    values: dict[str, Any]
    labels: np.ndarray
    sizes: np.ndarray
    estimates: dict[str, IndexEstimate]

    def __getattr__(self, name: str) -> Any:
        values = vars(self).get("values", {})  # absent while a copy is being made
        if name in values:
            return values[name]
        if name in (*ROWS, *TABLES):
            raise AttributeError(
                f"{name} was not computed; indices must hold {name!r}, or be None for all of them, "
                "and max_pairs must be None or allow all pairs."
            )
        raise AttributeError(f"InternalIndices has no attribute {name!r}.")

    def to_dict(self) -> dict[str, float]:
        """Return the indices that are one number, by name; those not asked for are absent."""
        return {name: self.values[name] for name in ROWS if name in self.values}

    def to_frame(self) -> DataFrame:
        """Return one row per cluster; what was not asked for has no column."""
        columns = {"size": self.sizes}
        columns |= {name: self.values[name] for name in TABLES[1:3] if name in self.values}
        if "min_between" in self.values:
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
    rng = repetition_rng(root_seed(random_state), 0)
    needs = {name: ROWS[name].needs if name in ROWS else {name} for name in names}
    if any("connectivity" in needed for needed in needs.values()):
        check_n_neighbors(n_neighbors, partition.n_samples)
    estimates: dict[str, IndexEstimate] = {}
    estimated: dict[str, float] = {}
    found: dict[str, Any] = {}
    if max_pairs is not None and partition.n_samples * (partition.n_samples - 1) // 2 > max_pairs:
        named = names if indices is not None else set()
        _check_before_trees(named, needs, partition, max_pairs)
        asked = set().union(*needs.values())
        found = measure_without_pass(samples, asked, n_neighbors, n_jobs=n_jobs)
        beyond = {name for name, needed in needs.items() if needed & FROM_PAIRS - set(found)}
        rows = [ROWS[name] for name in sorted(beyond) if _is_estimable(name)]
        _check_affordable(named & beyond - {row.name for row in rows}, max_pairs)
        estimated, estimates = estimate_from_rows(
            samples, rows, n_neighbors, max_pairs, confidence_level, rng, n_jobs=n_jobs
        )
        needs = {name: needed for name, needed in needs.items() if name not in beyond}
    still = set().union(*needs.values()) - set(found)
    found |= measure(samples, still, n_neighbors=n_neighbors, n_jobs=n_jobs)
    values = {name: _compute(name, found) for name in needs} | estimated
    result = InternalIndices(values, partition.names, partition.sizes, estimates)
    _warn_of_undefined(result)
    return result


def _is_estimable(name: str) -> bool:
    """Tell whether an index is a mean over rows; tables are not."""
    return name in ROWS and ROWS[name].by_row is not None


def _check_before_trees(
    named: set[str], needs: Mapping[str, Set[str]], partition: Partition, max_pairs: int
) -> None:
    """Raise, before trees and bounds are tried, where they cannot help.

    That is so for a named index or table that needs all pairs in any case, and for too few pairs
    to estimate one from rows.
    """
    unaided = {name for name, needed in needs.items() if needed & FROM_PAIRS - PRUNED}
    estimable = {name for name in unaided if _is_estimable(name)}
    _check_affordable(named & unaided - estimable, max_pairs)
    if estimable:
        allocate(partition, max_pairs)


def _compute(name: str, found: dict[str, Any]) -> Any:
    """Return an index or a table; nan where the metric cannot measure what it needs."""
    if name in ROWS:
        compute, needs = ROWS[name].compute, ROWS[name].needs
        if compute is None or any(found[need] is None for need in needs):
            return np.nan
        return compute(found)
    if found[name] is None:
        return np.full((len(found["sizes"]),) * 2, np.nan)
    return found[name]


def _check_indices(indices: Sequence[str] | None) -> set[str]:
    """Return the names of indices and tables asked for, or raise."""
    known = (*ROWS, *TABLES)
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


def _warn_of_undefined(indices: InternalIndices) -> None:
    found = indices.to_dict()
    names = [name for name in found if name != "dunn" and np.isnan(found[name])]
    if names:
        warn_undefined(f"Undefined for this metric or partition, nan: {', '.join(names)}.")


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
    indices: Sequence[Index],
    n_neighbors: int,
    max_pairs: int,
    confidence_level: float,
    rng: np.random.Generator,
    *,
    n_jobs: int | None,
) -> tuple[dict[str, float], dict[str, IndexEstimate]]:
    """Return the estimates of indices that are means over rows, and how near they are.

    Rows are sampled within clusters, which are the strata, without replacement.
    """
    if not indices:
        return {}, {}
    partition = samples.partition
    counts = allocate(partition, max_pairs)
    samples = put_sample_first(samples, counts, rng)
    sampled = [slice(a, a + m) for a, m in zip(partition.starts, counts, strict=True)]
    n = partition.n_samples
    L = n_neighbors if any("connectivity" in index.needs for index in indices) else 1
    strips = pass_over_rows(
        samples.tiles, partition.starts, sampled, partition.cluster, samples.zero, L, n_jobs=n_jobs
    )
    values: dict[str, list[np.ndarray]] = {index.name: [] for index in indices}
    for rows, sums, weights in strips:
        for index in indices:
            if index.by_row is not None:
                values[index.name].append(index.by_row(sums, weights, partition, rows))
    found, estimates = {}, {}
    for index in indices:
        by_row = np.concatenate(values[index.name])
        estimate, error, dof = stratified_mean(by_row, counts, partition.sizes)
        low, high = (
            estimate
            + student.ppf([0.5 - confidence_level / 2, 0.5 + confidence_level / 2], dof) * error
        )
        if error == 0:  # where nothing varies, the rows do not say how the others would
            low = high = estimate if counts.sum() == n else np.nan
        found[index.name] = estimate
        estimates[index.name] = IndexEstimate(
            standard_error=error,
            low=float(np.maximum(low, index.low)),
            high=float(np.minimum(high, index.high)),
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
