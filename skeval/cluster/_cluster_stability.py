"""Stability of each cluster in resamples of the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.sparse import issparse
from scipy.stats import sem

from skeval._inference.estimate import Result
from skeval.cluster._references import rebuild
from skeval.cluster._stability import (
    NOISE,
    STABILITY,
    Draw,
    Seed,
    check_points,
    fit_labels,
    half_of,
    run_draws,
    seed_clusterer,
)
from skeval.utils._checks import in_order, is_no_table, repetition_rng, root_seed
from skeval.utils._compat import Interval, StrOptions, safe_indexing, validate_params
from skeval.utils._options import Perturbation
from skeval.utils._text import DataFrame, align_text, make_frame, write_with_spread

Resample = tuple[Any, np.ndarray, np.ndarray]
"""Data to cluster, the original rows that they contain, and the positions of these rows."""

Resamples = Callable[[Generator], Resample]
RESAMPLES = ("bootstrap", "subset", "noise", "jitter")
NOISE_SHARE, NOISE_REACH = 0.05, 4.0  # share of the samples; in standard deviations
JITTER_QUANTILE = 0.05
DISSOLVED, RECOVERED = 0.5, 0.75
VERDICTS = {0.85: "highly stable", RECOVERED: "stable", 0.6: "pattern", DISSOLVED: "doubtful"}
"""Minimum mean Jaccard coefficient of each verdict; up to the last one it is "dissolved"."""


@dataclass(frozen=True, eq=False)
class ClusterStability(Result):
    """Stability of each cluster in resamples of the data.

    Attributes
    ----------
    labels : ndarray of shape (n_clusters,)
        Labels of the clusters of all samples, without noise.
    sizes : ndarray of shape (n_clusters,)
        Number of samples of each cluster.
    values, standard_errors : ndarray of shape (n_clusters,)
        Mean Jaccard coefficient with the most similar cluster of a resample, and its standard
        error over the resamples.
    replicates : ndarray of shape (n_clusters, n_resamples)
        Coefficient in each resample.
    partition : ndarray of shape (n_samples,)
        Cluster of each sample; -1 is noise.
    method : {"bootstrap", "subset", "noise", "jitter"}
        Type of resamples.
    """

    labels: np.ndarray
    sizes: np.ndarray
    values: np.ndarray
    standard_errors: np.ndarray
    replicates: np.ndarray = field(repr=False)
    partition: np.ndarray = field(repr=False)
    method: str

    @property
    def n_dissolved(self) -> np.ndarray:
        """Number of resamples that dissolve each cluster (Jaccard coefficient at most 0.5)."""
        return np.sum(self.replicates <= DISSOLVED, axis=1)

    @property
    def n_recovered(self) -> np.ndarray:
        """Number of resamples that recover each cluster (Jaccard coefficient above 0.75)."""
        return np.sum(self.replicates > RECOVERED, axis=1)

    @property
    def verdicts(self) -> tuple[str, ...]:
        """Verdict on each cluster, from its mean coefficient."""
        return tuple(map(_judge, self.values.tolist()))

    def to_frame(self) -> DataFrame:
        """Return a data frame with one row per cluster."""
        return make_frame(
            {
                "size": self.sizes,
                "mean_jaccard": self.values,
                "standard_error": self.standard_errors,
                "dissolved": self.n_dissolved,
                "recovered": self.n_recovered,
                "verdict": self.verdicts,
            },
            self.labels,
            "cluster",
        )

    def __str__(self) -> str:
        numbers = zip(
            self.labels, self.sizes, self.values, self.standard_errors, self.verdicts, strict=True
        )
        rows = [
            (f"cluster {label} ({size})", f"{write_with_spread(mean, error)}  {verdict}")
            for label, size, mean, error, verdict in numbers
        ]
        title = f"mean Jaccard over {self.replicates.shape[1]} resamples ({self.method})"
        return align_text(title, rows)


def _judge(mean: float) -> str:
    """Return the verdict on a mean Jaccard coefficient."""
    for least, verdict in VERDICTS.items():
        if mean > least or mean == least > DISSOLVED:
            return verdict
    return "dissolved"


@in_order(clusterer=is_no_table, X=None)
@validate_params(
    STABILITY
    | {
        "method": [StrOptions(set(RESAMPLES))],
        "n_resamples": [Interval(Integral, 2, None, closed="left")],
    }
)
def cluster_stability(
    clusterer: Any,
    X: Any,
    *,
    method: Perturbation = "bootstrap",
    n_resamples: int = 100,
    random_state: Seed = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
) -> ClusterStability:
    r"""Measure how well each cluster is recovered in resamples of the data.

    All samples are clustered, and then each resample separately. For a cluster C, where S are the
    samples that the resample contains, the Jaccard coefficient

    .. math:: \gamma(C) = \max_D \frac{|C \cap S \cap D|}{|(C \cap S) \cup (D \cap S)|}

    refers to the most similar cluster D of the resample. Its mean over the resamples is the
    stability of the cluster (Hennig [1]_), in [0, 1]; larger is better.

    Parameters
    ----------
    clusterer : estimator
        Clusterer or pipeline with `fit_predict`; it is cloned. The number of clusters may differ
        between resamples.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data.
    method : {"bootstrap", "subset", "noise", "jitter"}, default="bootstrap"
        The resamples: the distinct samples of a bootstrap ("bootstrap"), half of the samples
        ("subset"), all samples, each replaced with probability 0.05 by a uniform point in the box
        of 4 standard deviations on either side of the mean along the principal axes ("noise"), or
        all samples with added normal noise, whose standard deviation along each principal axis is
        the 0.05 quantile of the distances between adjacent projections ("jitter"). The last two
        need dense X.
    n_resamples : int, default=100
        Number of resamples, at least 2.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws; an int gives the same result in each call. It also seeds the
        clusterer if the `random_state` of the clusterer is None.
    n_jobs : int, default=None
        Number of joblib workers; results do not depend on it.
    verbose : int, default=0
        1 shows progress; larger values add joblib's messages.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits: an interrupted run that is repeated with an int as `random_state`
        does only the remaining ones; see :doc:`/user_guide/scale`.

    Returns
    -------
    ClusterStability
        The mean coefficient of each cluster with a verdict, and the coefficients behind it.

    Raises
    ------
    ValueError
        If X has fewer than 4 samples, is not finite or of a size whose squares are not, is sparse
        with "noise" or "jitter", or if the clusterer labels all samples as noise; if the clusterer
        takes precomputed distances, or a parameter is out of range.

    See Also
    --------
    predictive_power : Stability of the whole partition between halves.
    ClusterStabilityDisplay : Draws the coefficients.

    Notes
    -----
    The verdicts follow Hennig's function ``clusterboot`` in the R package fpc: a mean of 0.85 or
    more is "highly stable", 0.75 "stable"; from 0.6 a cluster is a "pattern" with uncertain
    members; up to 0.5 it is "dissolved", and "doubtful" in between. These limits were developed for
    the bootstrap. Coefficients of at most 0.5 and above 0.75 are also counted.

    The resamples follow the default settings of fpc, where a sample that is drawn twice is
    used once, because duplicates look like dense clusters. Label -1, the noise of DBSCAN, is not a
    cluster. A resample without any sample of a cluster counts 0 for that cluster.

    Stable clusters need not be real: an algorithm that always splits at the same place, as K-means
    splits an elongated cloud in the middle, has stable clusters. `choose_n_clusters` and
    `structure_test` compare with data without structure.

    References
    ----------
    .. [1] Hennig, C. (2007). Cluster-wise assessment of cluster stability. Computational Statistics
       and Data Analysis 52, 258-271. https://doi.org/10.1016/j.csda.2006.11.025
    .. [2] Hennig, C. (2008). Dissolution point and isolation robustness: robustness criteria for
       general cluster analysis methods. Journal of Multivariate Analysis 99, 1154-1176.
       https://doi.org/10.1016/j.jmva.2007.07.002

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import make_blobs
    >>> from skeval.cluster import cluster_stability
    >>> X, _ = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> result = cluster_stability(KMeans(3, n_init=2), X, n_resamples=20, random_state=0)
    >>> result.verdicts
    ('highly stable', 'highly stable', 'highly stable')
    """
    X = check_points(clusterer, X)
    if method in ("noise", "jitter") and issparse(X):
        raise ValueError(f"method={method!r} needs dense X, got sparse X: use 'bootstrap'.")
    root = root_seed(random_state)
    # the clusters of the data, whose stability is measured
    first = seed_clusterer(clusterer, repetition_rng(root, 0))
    partition = fit_labels(first, X)
    labels, sizes = np.unique(partition[partition != NOISE], return_counts=True)
    if not labels.size:
        raise ValueError("clusterer must find a cluster in X, got noise (-1) alone.")
    # one coefficient for each cluster and resample
    compare = partial(compare_resample, clusterer, make_resamples(X, method), partition, labels)
    options = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory}
    coefficients = run_draws(compare, [(root.spawn(1)[0], n_resamples)], **options)
    replicates = np.stack(coefficients, axis=1)
    return ClusterStability(
        labels=labels,
        sizes=sizes,
        values=replicates.mean(axis=1),
        standard_errors=sem(replicates, axis=1),
        replicates=replicates,
        partition=partition,
        method=method,
    )


def compare_resample(
    clusterer: Any, resamples: Resamples, partition: np.ndarray, labels: np.ndarray, draw: Draw
) -> np.ndarray:
    """Cluster a resample, and return the (K,) Jaccard coefficients of the clusters."""
    data, rows, own = resamples(draw.rng)
    predicted = fit_labels(seed_clusterer(clusterer, draw.rng), data)
    return cluster_jaccards(labels, partition[rows], predicted[own])


def cluster_jaccards(names: np.ndarray, labels: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Return the largest coefficient of each named cluster with a cluster of `predicted`.

    Both label the same samples; -1 is not a cluster. Without predicted clusters, all are 0.
    """
    others = np.unique(predicted[predicted != NOISE])
    if not others.size:
        return np.zeros(len(names))
    ours, theirs = labels[:, None] == names, predicted[:, None] == others  # (n, K) and (n, L)
    # sizes of all intersections and unions in one matrix product
    common = ours.T.astype(float) @ theirs.astype(float)
    either = ours.sum(axis=0)[:, None] + theirs.sum(axis=0) - common
    return (common / either).max(axis=1)


def make_resamples(X: Any, method: str) -> Resamples:
    """Return a function that draws resamples of X."""
    if method in ("bootstrap", "subset"):
        return partial(draw_rows, X, method)
    points = np.asarray(X, dtype=np.float64)
    # noise is drawn along the principal axes, so that it follows the shape of the data
    center = points.mean(axis=0)
    axes = np.linalg.svd(points - center, full_matrices=False)[2]
    scores = (points - center) @ axes.T
    if method == "noise":
        reach = NOISE_REACH * scores.std(axis=0, ddof=1)
        return partial(replace_rows, X, points, center, axes, reach)
    # standard deviation of the noise: a low quantile of the positive steps between projections
    steps = [np.diff(np.unique(column)) for column in scores.T]
    scales = [np.quantile(step, JITTER_QUANTILE) if step.size else 0.0 for step in steps]
    return partial(move_rows, X, points, axes, np.array(scales))


def draw_rows(X: Any, method: str, rng: Generator) -> Resample:
    """Draw half of the rows, or the distinct rows of a bootstrap."""
    n = X.shape[0]
    rows = half_of(n, rng) if method == "subset" else np.unique(rng.integers(0, n, size=n))
    return safe_indexing(X, rows), rows, np.arange(len(rows))


def replace_rows(
    X: Any, points: np.ndarray, center: np.ndarray, axes: np.ndarray, reach: np.ndarray,
    rng: Generator,
) -> Resample:  # fmt: skip
    """Replace some rows by points uniform in a box along the axes."""
    # only rows that are kept are compared with their clusters
    replaced = rng.random(len(points)) < NOISE_SHARE
    noise = center + rng.uniform(-reach, reach, size=(replaced.sum(), len(reach))) @ axes
    data = points.copy()
    data[replaced] = noise
    rows = np.flatnonzero(~replaced)
    return rebuild(X, data), rows, rows


def move_rows(
    X: Any, points: np.ndarray, axes: np.ndarray, scales: np.ndarray, rng: Generator
) -> Resample:
    """Add normal noise to all rows, with the standard deviations `scales` along the axes."""
    data = points + rng.normal(scale=scales, size=(len(points), len(scales))) @ axes
    rows = np.arange(len(points))
    return rebuild(X, data), rows, rows
