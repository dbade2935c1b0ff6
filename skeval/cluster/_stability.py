"""Stability of clusterings over halves of the data, and of clusters over resamples.

The module also contains the seeds, checks and job runner that all methods with resampled
clusterings share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.random import Generator, RandomState, SeedSequence
from scipy.optimize import linear_sum_assignment
from scipy.sparse import issparse
from scipy.stats import sem
from sklearn.base import clone
from sklearn.metrics.cluster import adjusted_rand_score, contingency_matrix
from sklearn.neighbors import NearestNeighbors

from skeval._inference.estimate import Estimate, Result
from skeval._resampling.jobs import open_jobs
from skeval.cluster._references import NOISE, Draws, rebuild
from skeval.metrics._scorers import name_scoring
from skeval.metrics.cluster import silhouette_score
from skeval.metrics.cluster._samples import check_magnitude
from skeval.utils import _checks
from skeval.utils._checks import validate_params
from skeval.utils._compat import HasMethods, Interval, StrOptions, safe_indexing
from skeval.utils._text import DataFrame, align_text, make_frame, write_with_spread

Perturbation = Literal["bootstrap", "subset", "jitter"]

PREDICTION_STRENGTH = "prediction_strength"
Agreement = Callable[[np.ndarray, np.ndarray], float]
SMALLEST = 3
"""Minimum size of a cluster in a half. One sample has no pair, and two samples may be together by
chance."""

MAX_ROWS_OF_HALF = 1500
"""Number of samples of a half above which its silhouette is that of a random sample of them."""

Seed = int | RandomState | Generator | None
Measure = Callable[["Halves", list[np.ndarray]], float]
"""Measure of agreement, a function of two halves and their labels."""

STABILITY = {
    "clusterer": [HasMethods(["fit_predict", "get_params", "set_params"])],
    "n_repeats": [Interval(Integral, 2, None, closed="left")],
    "n_jobs": [Integral, None],
    "verbose": [Integral, "boolean"],
}
"""Argument constraints. `validate_params` ignores entries that a function lacks."""


def number_noise_apart(labels: np.ndarray) -> np.ndarray:
    """Return integer labels where each noise sample is a separate cluster."""
    noise = labels == NOISE
    values, numbers = np.unique(labels, return_inverse=True)
    numbers[noise] = len(values) + np.arange(noise.sum())
    return numbers


def adjusted_rand_agreement(labels: np.ndarray, predicted: np.ndarray) -> float:
    """Return the adjusted Rand index without samples that are noise in both labelings."""
    # samples that are noise on both sides do not count
    clustered = (labels != NOISE) | (predicted != NOISE)
    ours, theirs = (number_noise_apart(part[clustered]) for part in (labels, predicted))
    if np.max(np.bincount(ours), initial=0) < 2:
        return 0.0
    return float(adjusted_rand_score(ours, theirs))


def matched_accuracy(labels: np.ndarray, predicted: np.ndarray) -> float:
    """Return the fraction of equal labels after the best one-to-one renaming of clusters.

    Noise never matches. Samples that are noise in both labelings are ignored.
    """
    # samples that both partitions put in a cluster
    clustered, other = labels != NOISE, predicted != NOISE
    sizes = np.unique(labels[clustered], return_counts=True)[1]
    if np.max(sizes, initial=0) < 2 or not np.any(clustered & other):
        return 0.0
    table = contingency_matrix(labels[clustered & other], predicted[clustered & other])
    # the best one-to-one renaming
    equal = table[linear_sum_assignment(table, maximize=True)].sum()
    return float(equal / np.sum(clustered | other))


def worst_cluster_strength(labels: np.ndarray, predicted: np.ndarray) -> float:
    """Return the smallest fraction, over clusters, of pairs that stay together in the prediction.

    The result is 0 if a cluster has fewer than `SMALLEST` samples or all samples are noise.
    """
    clustered = labels != NOISE
    if not clustered.any():
        return 0.0
    table = contingency_matrix(labels[clustered], number_noise_apart(predicted[clustered]))
    sizes = table.sum(axis=1)
    if sizes.min() < SMALLEST:
        return 0.0
    # pairs of each cluster that stay together
    kept = np.sum(table * (table - 1), axis=1)
    return float(np.min(kept / (sizes * (sizes - 1))))


# compare the labels of a half with the labels transferred from the other half
AGREEMENTS: dict[str, Agreement] = {
    "adjusted_rand": adjusted_rand_agreement,
    "matched_accuracy": matched_accuracy,
    PREDICTION_STRENGTH: worst_cluster_strength,
}


@_checks.in_order(clusterer=_checks.is_no_table)
@validate_params(STABILITY | {"agreement": [StrOptions(set(AGREEMENTS)), callable]})
def predictive_power(
    clusterer: Any,
    X: Any,
    *,
    n_repeats: int = 20,
    agreement: str | Agreement = "adjusted_rand",
    random_state: Seed = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
) -> Estimate:
    """Return how well the clusters of one half of the data predict the clusters of the other half.

    The samples are split at random into two halves, and each half is clustered separately. Each
    sample of the second half is assigned to the cluster of its nearest neighbor in the first half.
    These labels are compared with the second half's own clusters. The agreement is averaged over
    both directions and `n_repeats` splits. The best value is 1. With ``"adjusted_rand"``, the
    expected value by chance is 0.

    ``"prediction_strength"`` (Tibshirani and Walther) is the fraction of pairs of samples of a
    cluster that are also together in the transferred clusters, for the cluster with the smallest
    fraction. It lies in [0, 1]. Values above 0.8 to 0.9 are considered evidence of real clusters
    [2]_.

    Parameters
    ----------
    clusterer : estimator
        Clusterer or pipeline with `fit_predict`. It is cloned, and does not need `predict`.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data. Nearest neighbors use Euclidean distances on X as passed, so scale X first.
    n_repeats : int, default=20
        Number of random halvings, at least 2.
    agreement : {"adjusted_rand", "matched_accuracy", "prediction_strength"} or callable, \
            default="adjusted_rand"
        "adjusted_rand" is the adjusted Rand index. "matched_accuracy" is the fraction of equal
        labels with the best one-to-one matching of clusters (the Hungarian algorithm). A function
        ``(labels, predicted) -> float`` receives the own and the transferred labels of a half.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call. It also seeds the
        clusterer if the `random_state` of the clusterer is None.
    n_jobs : int, default=None
        Number of joblib workers. Results do not depend on it.
    verbose : int, default=0
        1 shows progress. Larger values add joblib's messages.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits. If `random_state` is an int, a repeated call after an interruption
        computes only the remaining fits. See :doc:`/user_guide/scale`.

    Returns
    -------
    Estimate
        The mean is `value`, with its `standard_error`. `replicates` contains the agreement of each
        halving, averaged over both directions. `method` is the agreement. There is no interval.

    Raises
    ------
    ValueError
        If X has fewer than 4 samples, is not finite, or has infinite squares, if the clusterer
        requires precomputed distances, or if a parameter is out of range.

    See Also
    --------
    choose_n_clusters : Chooses the number of clusters, for example by the agreement of halves.

    Notes
    -----
    A single cluster always agrees with itself, so its value is 1 for any data. The standard error
    refers to random halvings of the same data. It measures the precision due to `n_repeats`, but
    not the variation with new data.

    Label -1, the noise of DBSCAN, is not a cluster. Samples that are noise in both labelings (of
    their own half and by transfer) are ignored. A sample that is noise in one labeling is a
    singleton there, and never matches in the matched accuracy. If no two samples of a half are in
    the same cluster, the agreement is 0. A function receives the labels unchanged.

    The paper on prediction strength transfers clusters by the nearest centroid, which fits
    K-means. The nearest neighbor is suitable for any clusterer. A cluster of fewer than 3 samples
    in a half counts as 0 (in R's fpc, a singleton counts as 1). Noise samples do not form a
    cluster, and are never together with other samples. If all samples are noise, the strength is
    0. K-means splits an elongated cloud or uniform noise in the middle, in the same way in both
    halves. Therefore, a large strength alone is not evidence of clusters. `choose_n_clusters`
    compares it with data without structure.

    References
    ----------
    .. [1] Lange, T., Roth, V., Braun, M. L. and Buhmann, J. M. (2004). Stability-based validation
       of clustering solutions. Neural Computation 16, 1299-1323.
       https://doi.org/10.1162/089976604773717621
    .. [2] Tibshirani, R. and Walther, G. (2005). Cluster validation by prediction strength. Journal
       of Computational and Graphical Statistics 14, 511-528.
       https://doi.org/10.1198/106186005X59243

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import make_blobs
    >>> from skeval.cluster import predictive_power
    >>> X, _ = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> print(predictive_power(KMeans(3, n_init=2), X, n_repeats=5, random_state=0))
    predictive power (adjusted_rand)
      value           1.0000
      standard error  unknown
      samples         90
    """
    X = check_points(clusterer, X)
    measure = AGREEMENTS[agreement] if isinstance(agreement, str) else agreement
    options = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory}
    root = _checks.root_seed(random_state)
    # agreement of two clusterings of random halves, in both directions
    measures = (partial(agree_both_ways, measure),)
    values = run_halvings({0: clusterer}, X, None, measures, n_repeats, root, options)[0, 0, 0]
    return Estimate(
        name="predictive power",
        value=float(values.mean()),
        standard_error=float(sem(values)),
        method=agreement if isinstance(agreement, str) else name_scoring(agreement),
        n_samples=X.shape[0],
        replicates=values,
    )


def takes_pairs(clusterer: Any) -> bool:
    """Return whether a clusterer requires distances or affinities of pairs instead of points."""
    values = clusterer.get_params().values()
    return any(isinstance(value, str) and "precomputed" in value for value in values)


def check_pairwise(X: Any) -> Any:
    """Return the validated matrix of distances or affinities of all pairs of samples."""
    checked = _checks.check_data("X", X, accept_sparse="csr", ensure_min_samples=4)
    if checked.shape[0] != checked.shape[1]:
        raise ValueError(
            "X must be square for a clusterer of precomputed distances or affinities, got shape "
            f"{checked.shape}."
        )
    return checked


def check_points(clusterer: Any, X: Any) -> Any:
    """Return validated numeric data. Data frames are returned unchanged."""
    _checks.check_methods("clusterer", clusterer, "fit_predict", "get_params", "set_params")
    if takes_pairs(clusterer):
        raise ValueError(
            f"clusterer must not require precomputed distances or affinities, got {clusterer!r}."
        )
    # finite data of moderate size
    _checks.refuse_swapped_data(X, None)
    checked = _checks.check_data("X", X, accept_sparse="csr", ensure_min_samples=4)
    check_magnitude("X", checked)
    return X if hasattr(X, "iloc") else checked


def seed_clusterer(clusterer: Any, rng: Generator) -> Any:
    """Return a clone with drawn seeds for all `random_state` parameters that are None."""
    copy = clone(clusterer)
    params = copy.get_params(deep=True)
    # a seed is drawn for each parameter, so that setting one does not change the others
    names = sorted(name for name in params if name.split("__")[-1] == "random_state")
    seeds = {name: int(rng.integers(2**31)) for name in names}
    return copy.set_params(**{name: seeds[name] for name in names if params[name] is None})


def fit_labels(clusterer: Any, X: Any) -> np.ndarray:
    """Return the label of each row of X. Raise an error if one is missing or nan."""
    # one label for each row
    labels = np.asarray(clusterer.fit_predict(X))
    if labels.shape != (X.shape[0],):
        raise ValueError(
            f"clusterer must return one label for each of the {X.shape[0]} samples, got shape "
            f"{labels.shape}."
        )
    if labels.dtype.kind in "fO" and np.any(labels != labels):
        raise ValueError(f"clusterer must not return nan as a label, got nan from {clusterer!r}.")
    return labels


def seed_alike(clusterers: dict[int, Any], rng: Generator) -> dict[int, Any]:
    """Return seeded clones of clusterers, all with the same seeds."""
    # rewind the generator: clusterers differ only in their number of clusters
    state, seeded = rng.bit_generator.state, {}
    for n_clusters, clusterer in clusterers.items():
        rng.bit_generator.state = state
        seeded[n_clusters] = seed_clusterer(clusterer, rng)
    return seeded


class Draw(NamedTuple):
    """Random draw, which is a resample or halving of the data, or reference data."""

    rng: Generator
    of_reference: bool


def run_draws(
    function: Callable[[Draw], Any], roots: Sequence[tuple[SeedSequence, int]], **options: Any
) -> list[Any]:
    """Return ``function(draw)`` for the draws of each root. The second root is the reference."""
    with open_jobs(function, total=sum(n_draws for _, n_draws in roots), **options) as run:
        return run(
            Draw(_checks.repetition_rng(root, draw), place > 0)
            for place, (root, n_draws) in enumerate(roots)
            for draw in range(n_draws)
        )


@dataclass
class Halves:
    """Two halves of the samples, with nearest neighbors in the other half."""

    parts: Sequence[Any]

    @cached_property
    def nearest(self) -> list[np.ndarray]:
        """Index of the nearest neighbor of each sample in the other half."""
        return [
            NearestNeighbors(n_neighbors=1).fit(there).kneighbors(here, return_distance=False)[:, 0]
            for here, there in (self.parts, self.parts[::-1])
        ]


def run_halvings(
    clusterers: dict[int, Any],
    X: Any,
    reference: Draws | None,
    measures: Sequence[Measure],
    n_repeats: int,
    root: SeedSequence,
    options: dict[str, Any],
) -> np.ndarray:
    """Return (n_measures, 2, n_clusterers, n_repeats) values of the data and the reference.

    The keys of `clusterers` are the required numbers of clusters in each half, or 0 for any
    number. All clusterers use the same halves of the data and of the reference. Without a
    reference, the second axis has length 1.
    """
    # independent draws of the data and of the reference
    roots = [root] if reference is None else [root, root.spawn(1)[0]]
    halve = partial(compare_halves, X, reference, measures, clusterers)
    values = run_draws(halve, [(seed, n_repeats) for seed in roots], **options)
    table = np.reshape(values, (len(roots), n_repeats, len(clusterers), len(measures)))
    return table.transpose(3, 0, 2, 1)


def compare_halves(
    X: Any,
    reference: Draws | None,
    measures: Sequence[Measure],
    clusterers: dict[int, Any],
    draw: Draw,
) -> list[list[float]]:
    """Cluster random halves of the data or reference with each clusterer, and measure them.

    A value is 0 if clusters are missing.
    """
    rng = draw.rng
    data = reference(rng) if reference is not None and draw.of_reference else X
    # a random order, cut in the middle
    order = rng.permutation(data.shape[0])
    halves = Halves([safe_indexing(data, part) for part in np.array_split(order, 2)])
    seeded, values = [seed_alike(clusterers, rng) for _ in halves.parts], []
    for n_clusters in clusterers:
        pairs = zip(seeded, halves.parts, strict=True)
        # cluster each half by itself; a half with too few clusters has no agreement
        labels = [fit_labels(models.pop(n_clusters), half) for models, half in pairs]
        sizes = [np.unique(own[own != NOISE], return_counts=True)[1] for own in labels]
        is_complete = all(np.sum(size >= SMALLEST) >= n_clusters for size in sizes)
        values.append([measure(halves, labels) if is_complete else 0.0 for measure in measures])
    return values


def agree_both_ways(agreement: Agreement, halves: Halves, labels: list[np.ndarray]) -> float:
    """Transfer the clusters of either half to the other, and average the agreement."""
    (first, second), (in_second, in_first) = labels, halves.nearest
    # a sample takes the cluster of its nearest neighbor in the other half
    forth = agreement(second, first[in_first])
    return (float(forth) + float(agreement(first, second[in_second]))) / 2


def mean_silhouette(halves: Halves, labels: list[np.ndarray]) -> float:
    """Return the mean silhouette of both halves. It is 0 for noise and for a single cluster."""
    # the first rows of a half are a random sample of it
    rows = np.arange(min(MAX_ROWS_OF_HALF, *map(len, labels)))
    labels = [own[rows] for own in labels]
    if any(len(np.unique(own)) < 2 for own in labels):
        return 0.0
    pairs = zip([safe_indexing(X, rows) for X in halves.parts], labels, strict=True)
    return float(np.mean([silhouette_score(X, own, noise="singletons") for X, own in pairs]))


# Stability of each cluster.

DISSOLVED, RECOVERED = 0.5, 0.75
LIMITS = (DISSOLVED, 0.6, RECOVERED, 0.85)
VERDICTS = ("doubtful", "pattern", "stable", "highly stable")
"""Minimum mean Jaccard coefficients and their verdicts. Up to the first it is "dissolved"."""


@dataclass(frozen=True, eq=False)
class ClusterStability(Result):
    """Stability of each cluster in resamples or disturbed copies of the data.

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
        Jaccard coefficient of each cluster in each resample.
    partition : ndarray of shape (n_samples,)
        Cluster of each sample. -1 is noise.
    method : {"bootstrap", "subset", "jitter"}
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
        places = np.searchsorted([np.nextafter(DISSOLVED, 1), *LIMITS[1:]], self.values, "right")
        return tuple(np.take(("dissolved", *VERDICTS), places).tolist())

    def to_frame(self) -> DataFrame:
        """Return a data frame with one row for each cluster."""
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


@_checks.in_order(clusterer=_checks.is_no_table)
@validate_params(
    STABILITY
    | {
        "method": [StrOptions(set(get_args(Perturbation)))],
        "noise": [Interval(Real, 0, None, closed="neither")],
        "n_resamples": [Interval(Integral, 2, None, closed="left")],
    }
)
def cluster_stability(
    clusterer: Any,
    X: Any,
    *,
    method: Perturbation = "bootstrap",
    noise: float = 0.1,
    n_resamples: int = 100,
    random_state: Seed = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
) -> ClusterStability:
    r"""Return how well each cluster is recovered in resamples or disturbed copies of the data.

    All samples are clustered, and then each resample is clustered separately. Let C be a cluster
    of all samples, and S the samples in the resample. The Jaccard coefficient

    .. math:: \gamma(C) = \max_D \frac{|C \cap S \cap D|}{|(C \cap S) \cup (D \cap S)|}

    refers to the most similar cluster D of the resample. Its mean over the resamples is the
    stability of the cluster (Hennig [1]_). It lies in [0, 1]. Larger is better.

    Parameters
    ----------
    clusterer : estimator
        Clusterer or pipeline with `fit_predict`. It is cloned. The number of clusters may differ
        between resamples.
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        The data, or the distances or affinities that the clusterer requires ("precomputed").
    method : {"bootstrap", "subset", "jitter"}, default="bootstrap"
        Kind of resamples. "bootstrap" uses the distinct samples of a bootstrap, and "subset" half
        of the samples. "jitter" uses all samples, with independent normal noise added to each
        feature.
    noise : float, default=0.1
        Standard deviation of the noise of "jitter", as a fraction of the standard deviation of the
        feature.
    n_resamples : int, default=100
        Number of resamples, at least 2.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call. It also seeds the
        clusterer if the `random_state` of the clusterer is None.
    n_jobs : int, default=None
        Number of joblib workers. Results do not depend on it.
    verbose : int, default=0
        1 shows progress. Larger values add joblib's messages.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits. If `random_state` is an int, a repeated call after an interruption
        computes only the remaining fits. See :doc:`/user_guide/scale`.

    Returns
    -------
    ClusterStability
        The mean coefficient of each cluster with a verdict, and the coefficient in each resample.

    Raises
    ------
    ValueError
        If X has fewer than 4 samples, is not finite, or has infinite squares. If the clusterer
        labels all samples as noise. If X is sparse or contains distances with ``method="jitter"``.
        If a parameter is out of range.

    See Also
    --------
    predictive_power : Stability of the whole partition between halves.
    ClusterStabilityDisplay : Draws the coefficients.

    Notes
    -----
    The verdicts are the same as in Hennig's function ``clusterboot`` of the R package fpc. A mean
    of at least 0.85 is "highly stable", and of at least 0.75 "stable". From 0.6, a cluster is a
    "pattern" with uncertain members. Up to 0.5, it is "dissolved", and in between it is "doubtful".
    These limits were developed for the bootstrap. Coefficients of at most 0.5 and above 0.75 are
    also counted.

    The resamples follow the default settings of fpc. A sample that is drawn twice is used once,
    because duplicates look like dense clusters. Label -1, the noise of DBSCAN, is not a cluster. A
    resample without any sample of a cluster counts as 0 for that cluster. "jitter" measures
    whether measurement errors of this size would change the clusters.

    Stable clusters need not be real. For example, K-means always splits an elongated cloud in the
    middle, so its clusters are stable. `choose_n_clusters` and `structure_test` compare the data
    with data without structure.

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
    X = check_pairwise(X) if takes_pairs(clusterer) else check_points(clusterer, X)
    if method == "jitter" and (issparse(X) or takes_pairs(clusterer)):
        raise ValueError(
            "method='jitter' adds noise to features, so X must be a dense array of features. Use "
            "method='bootstrap' or 'subset'."
        )
    root = _checks.root_seed(random_state)
    # the clusters of the data, whose stability is measured
    partition = fit_labels(seed_clusterer(clusterer, _checks.repetition_rng(root, 0)), X)
    labels, sizes = np.unique(partition[partition != NOISE], return_counts=True)
    if not labels.size:
        raise ValueError("clusterer must find a cluster in X, got only noise (-1).")
    # one coefficient for each cluster and resample
    compare = partial(compare_resample, clusterer, X, (method, noise), partition, labels)
    options = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory}
    replicates = np.stack(run_draws(compare, [(root.spawn(1)[0], n_resamples)], **options), axis=1)
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
    clusterer: Any,
    X: Any,
    how: tuple[str, float],
    partition: np.ndarray,
    labels: np.ndarray,
    draw: Draw,
) -> np.ndarray:
    """Cluster a resample, and return the (K,) Jaccard coefficients of the clusters."""
    (method, noise), n, rng = how, X.shape[0], draw.rng
    if method == "jitter":
        # normal noise, in proportion to the standard deviation of each feature
        rows, points = np.arange(n), np.asarray(X, dtype=np.float64)
        spread = noise * points.std(axis=0)
        data = rebuild(X, points + spread * rng.normal(size=points.shape))
    else:  # half of the rows, or the distinct rows of a bootstrap, ascending
        half = method == "subset"
        rows = np.unique(rng.permutation(n)[: n // 2] if half else rng.integers(0, n, size=n))
        data = safe_indexing(X, rows)
    # a pairwise matrix needs the same rows and columns
    if takes_pairs(clusterer):
        data = data[:, rows]
    predicted = fit_labels(seed_clusterer(clusterer, rng), data)
    return cluster_jaccards(labels, partition[rows], predicted)


def cluster_jaccards(names: np.ndarray, labels: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Return the largest coefficient of each named cluster with any cluster of `predicted`.

    Both label the same samples. -1 is not a cluster. Without predicted clusters, all coefficients
    are 0.
    """
    others = np.unique(predicted[predicted != NOISE])
    if not others.size:
        return np.zeros(len(names))
    ours, theirs = labels[:, None] == names, predicted[:, None] == others  # (n, K) and (n, L)
    # sizes of all intersections and unions in one matrix product
    common = ours.T.astype(float) @ theirs.astype(float)
    either = ours.sum(axis=0)[:, None] + theirs.sum(axis=0) - common
    return (common / either).max(axis=1)
