"""Stability of each cluster: is it found again in resamples of the data?"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.sparse import issparse
from scipy.stats import sem

from skeval._resampling.jobs import open_jobs
from skeval.cluster._jaccard import cluster_jaccards
from skeval.cluster._resamples import RESAMPLES, Resamples, make_resamples
from skeval.cluster._stability import STABILITY, Seed, check_points, seed_clusterer
from skeval.utils._compat import Interval, StrOptions, validate_params
from skeval.utils._frames import DataFrame, make_frame
from skeval.utils._seeds import repetition_rng, root_seed
from skeval.utils._text import ShownAsText, align_text

__all__ = ["DISSOLVED", "VERDICTS", "ClusterStability", "cluster_stability"]

NOISE = -1
DISSOLVED, RECOVERED = 0.5, 0.75
VERDICTS = {0.85: "highly stable", RECOVERED: "stable", 0.6: "pattern", DISSOLVED: "doubtful"}
"""Least mean Jaccard coefficient of each verdict; at the last and below it is "dissolved"."""


@dataclass(frozen=True, eq=False)
class ClusterStability(ShownAsText):
    """How well each cluster is found again in resamples of the data.

    Attributes
    ----------
    labels : ndarray of shape (n_clusters,)
        The clusters of all samples, without noise.
    sizes : ndarray of shape (n_clusters,)
        Their numbers of samples.
    mean_jaccard, standard_errors : ndarray of shape (n_clusters,)
        Mean Jaccard coefficient with the most similar cluster of a resample, and its standard
        error over the resamples.
    replicates : ndarray of shape (n_clusters, n_resamples)
        The coefficient in each resample.
    partition : ndarray of shape (n_samples,)
        The cluster of each sample; -1 is noise.
    method : {"bootstrap", "subset", "noise", "jitter"}
        The resamples.
    """

    labels: np.ndarray
    sizes: np.ndarray
    mean_jaccard: np.ndarray
    standard_errors: np.ndarray
    replicates: np.ndarray = field(repr=False)
    partition: np.ndarray = field(repr=False)
    method: str

    @property
    def n_dissolved(self) -> np.ndarray:
        """How often each cluster was dissolved: a Jaccard coefficient of at most 0.5."""
        return np.sum(self.replicates <= DISSOLVED, axis=1)

    @property
    def n_recovered(self) -> np.ndarray:
        """How often each cluster was found again: a Jaccard coefficient above 0.75."""
        return np.sum(self.replicates > RECOVERED, axis=1)

    @property
    def verdicts(self) -> tuple[str, ...]:
        """What the mean coefficient says of each cluster."""
        return tuple(map(_judge, self.mean_jaccard.tolist()))

    def to_frame(self) -> DataFrame:
        """Return a data frame with one row per cluster."""
        return make_frame(
            {
                "size": self.sizes,
                "mean_jaccard": self.mean_jaccard,
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
            self.labels,
            self.sizes,
            self.mean_jaccard,
            self.standard_errors,
            self.verdicts,
            strict=True,
        )
        rows = [
            (f"cluster {label} ({size})", f"{mean:.3f} +/- {error:.3f}  {verdict}")
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


class Job(NamedTuple):
    """One resample: its clusterer and its stream of random numbers."""

    clusterer: Any
    rng: Generator


def compare_resample(
    resamples: Resamples, partition: np.ndarray, labels: np.ndarray, job: Job
) -> np.ndarray:
    """Cluster a resample, and return the (K,) Jaccard coefficients of the clusters."""
    data, rows, own = resamples(job.rng)
    found = np.asarray(seed_clusterer(job.clusterer, job.rng).fit_predict(data))
    return cluster_jaccards(labels, partition[rows], found[own])


@validate_params(
    {name: rule for name, rule in STABILITY.items() if name != "n_repeats"}
    | {
        "method": [StrOptions(set(RESAMPLES))],
        "n_resamples": [Interval(Integral, 2, None, closed="left")],
    }
)
def cluster_stability(
    clusterer: Any,
    X: Any,
    *,
    method: str = "bootstrap",
    n_resamples: int = 100,
    random_state: Seed = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
) -> ClusterStability:
    r"""Measure how well each cluster is found again in resamples of the data.

    All samples are clustered, and then each resample is by itself. Of a cluster C, with S the
    samples of the data that the resample holds, the Jaccard coefficient

    .. math:: \gamma(C) = \max_D \frac{|C \cap S \cap D|}{|(C \cap S) \cup (D \cap S)|}

    is that with the most similar cluster D of the resample. Its mean over the resamples is the
    stability of the cluster (Hennig): in [0, 1], larger is better.

    Parameters
    ----------
    clusterer : estimator
        Any clusterer, or pipeline, with `fit_predict`; it is cloned. It may find another number of
        clusters in each resample.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data.
    method : {"bootstrap", "subset", "noise", "jitter"}, default="bootstrap"
        The resamples: the distinct samples of a bootstrap ("bootstrap"), half of the samples
        ("subset"), all samples of which each is replaced with probability 0.05 by a point uniform
        in the box of 4 standard deviations on either side of the mean along the principal axes
        ("noise"), or all samples with normal noise added, whose standard deviation along each
        principal axis is the 0.05 quantile of the distances between neighbours there ("jitter").
        The last two need dense X.
    n_resamples : int, default=100
        Number of resamples, at least 2.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the resamples and of the clusterer's own `random_state` where that is None.
    n_jobs : int, default=None
        Number of resamples computed at a time, through joblib; the numbers do not depend on it.
    verbose : int, default=0
        1 shows a progress bar; more adds joblib's own lines.
    memory : str, path-like or joblib.Memory, default=None
        Where finished fits are kept. A run that was interrupted and starts again with the same
        arguments, `random_state` an int, does only the rest; see :doc:`/user_guide/scale`.

    Returns
    -------
    ClusterStability
        The mean coefficient of each cluster with a verdict, and the coefficients behind it.

    Raises
    ------
    ValueError
        If X has fewer than 4 samples, is not finite or of a size whose squares are not, is sparse
        where that cannot be, or holds noise alone for the clusterer; if the clusterer takes
        precomputed distances, or a parameter is out of range.

    See Also
    --------
    predictive_power : Stability of the whole partition between halves.
    ClusterStabilityDisplay : Draws the coefficients.

    Notes
    -----
    The verdicts are those of Hennig's function ``clusterboot`` in the R package fpc: a mean of 0.85
    or more is "highly stable", 0.75 "stable"; from 0.6 a cluster is a "pattern" of which it is
    doubtful which samples belong to it; up to 0.5 it is "dissolved", and "doubtful" between. They
    were found for the bootstrap. Coefficients of at most 0.5 and above 0.75 are counted, too.

    The resamples are those of fpc with its default settings, where a sample that is drawn twice
    enters once: duplicates look like dense clusters. Label -1, the noise of DBSCAN, is no cluster
    on either side. A resample without any sample of a cluster counts 0 for it.

    Stable is not valid: an algorithm that always cuts in the same place, as K-means cuts a long
    cloud in the middle, has stable clusters. `choose_n_clusters` and `structure_test` compare with
    data without structure.

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
    first = seed_clusterer(clusterer, repetition_rng(root, 0))
    partition = np.asarray(first.fit_predict(X))
    labels, sizes = np.unique(partition[partition != NOISE], return_counts=True)
    if not labels.size:
        raise ValueError("clusterer must find a cluster in X, got noise (-1) alone.")
    of_resamples = root.spawn(1)[0]
    compare = partial(compare_resample, make_resamples(X, method), partition, labels)
    options = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory}
    with open_jobs(compare, total=n_resamples, **options) as run:
        found = run(Job(clusterer, repetition_rng(of_resamples, b)) for b in range(n_resamples))
    replicates = np.stack(found, axis=1)
    return ClusterStability(
        labels=labels,
        sizes=sizes,
        mean_jaccard=replicates.mean(axis=1),
        standard_errors=sem(replicates, axis=1),
        replicates=replicates,
        partition=partition,
        method=method,
    )
