"""Indices that are means over rows, estimated from a stratified sample of the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import t as student

from skeval.metrics.cluster._kernels.sampled_rows import pass_over_rows
from skeval.metrics.cluster._partition import Partition
from skeval.metrics.cluster._samples import Samples
from skeval.metrics.cluster._silhouette import silhouettes
from skeval.utils._text import ShownAsText

__all__ = ["ESTIMABLE", "IndexEstimate", "estimate_from_rows"]

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
