"""Every view of one clusterer over a range of numbers of clusters, in one call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from skeval.cluster import (
    ClusteringComparison,
    NClustersChoice,
    choose_n_clusters,
    compare_clusterings,
)
from skeval.cluster._choose import check_candidates, resolve_parameter
from skeval.cluster._stability import (
    AGREEMENTS,
    PREDICTION_STRENGTH,
    REFERENCES,
    SMALLEST,
    check_points,
    seed_clusterer,
)
from skeval.metrics.cluster import ExternalIndices, external_indices
from skeval.report._clustering_report import ClusteringReport
from skeval.report._evaluate import make_announcer
from skeval.report._provenance import describe_run, write_estimator
from skeval.report._shown_clusters import show_clusters
from skeval.utils._checks import check_option, check_same_length
from skeval.utils._seeds import RandomStateLike, small_seed

__all__ = ["evaluate_clusterer", "write_warnings"]

INDICES = ("silhouette", "dunn", "davies_bouldin_pairwise", "calinski_harabasz", "connectivity")
NEIGHBOURS = 10
MOST = 8


def evaluate_clusterer(
    clusterer: Any,
    X: Any,
    *,
    n_clusters: Iterable[int] | None = None,
    labels_true: Any = None,
    indices: Sequence[str] = INDICES,
    stability: str = "prediction_strength",
    reference: str = "auto",
    n_repeats: int = 10,
    param_name: str | None = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
) -> ClusteringReport:
    """Evaluate a clusterer at several numbers of clusters, side by side.

    Internal indices of the clustering of all samples, the Pareto front over them, the stability
    between random halves with the number of clusters that it chooses, agreement with known
    classes where there are any, and warnings in plain words where the choice should not be taken
    at its face.

    Parameters
    ----------
    clusterer : estimator
        Any clusterer, or pipeline, with `fit_predict` and a parameter for the number of clusters.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        The data. Indices and nearest neighbours are Euclidean in X as given, so scale X
        beforehand.
    n_clusters : iterable of int, default=None
        The candidates, from 2 to half the number of samples. None tries 2 to 8, as far as that.
    labels_true : array-like of shape (n_samples,), default=None
        Known classes, for orientation: neither the clusterings nor the choice use them.
    indices : sequence of str, default=("silhouette", "dunn", "davies_bouldin_pairwise", \
            "calinski_harabasz", "connectivity")
        Internal indices, as in `compare_clusterings`. Sparse X has no Calinski-Harabasz index.
    stability : {"prediction_strength", "adjusted_rand", "matched_accuracy"}, \
            default="prediction_strength"
        What is measured between halves; its rule, that of `choose_n_clusters`, makes the choice.
    reference : {"auto", "uniform", "box", "permuted"}, default="auto"
        The data without structure that stability is held against, as in `choose_n_clusters`.
    n_repeats : int, default=10
        Number of random halvings, at least 2.
    param_name : str, default=None
        The clusterer's parameter for the number of clusters; None finds it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the halvings and of the clusterer's own `random_state` where that is None.
    n_jobs : int, default=None
        Number of joblib workers; the numbers do not depend on it.
    verbose : int, default=0
        1 names each step on standard error and shows how far it has come.
    memory : str, path-like or joblib.Memory, default=None
        Where finished halvings are kept. A run that was interrupted and starts again with the same
        arguments, `random_state` an int, does only the rest; see :doc:`/user_guide/scale`.

    Returns
    -------
    ClusteringReport

    Raises
    ------
    ValueError
        If an argument breaks a rule, or an index is undefined for a clustering; the message names
        argument, rule and value.

    See Also
    --------
    skeval.cluster.choose_n_clusters : The stability and the choice alone.
    skeval.cluster.compare_clusterings : The indices and the front alone.

    Notes
    -----
    The connectivity looks at 10 neighbours, or at all others where there are fewer. What halves
    cannot hold, a k above a sixth of the samples, carries no evidence and is never chosen; see
    `choose_n_clusters`, which also says what the choice presumes.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import make_blobs
    >>> from skeval.report import evaluate_clusterer
    >>> X, y = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> report = evaluate_clusterer(
    ...     KMeans(n_init=5), X, n_clusters=(2, 3, 4), labels_true=y, random_state=0
    ... )
    >>> report.n_clusters, report.comparison.front_names
    (3, ('k = 3',))
    """
    arguments = dict(locals())  # first, while the only local variables are the arguments
    check_option("stability", stability, AGREEMENTS)
    check_option("reference", reference, REFERENCES)
    check_same_length(X=X, labels_true=labels_true)
    X = check_points(clusterer, X)
    candidates = _check_range(n_clusters, X.shape[0])
    seed, say = small_seed(random_state), make_announcer(n_jobs, verbose)
    say("clusterings")
    partitions = _cluster_all(clusterer, X, candidates, param_name, seed)
    say("indices")
    comparison = _compare_partitions(X, partitions, indices, n_jobs)
    say("stability")
    choice: Any = choose_n_clusters(  # of one method, so an NClustersChoice
        clusterer,
        X,
        n_clusters=candidates.tolist(),
        method=stability,
        reference=reference,
        n_repeats=n_repeats,
        param_name=param_name,
        random_state=seed,
        n_jobs=n_jobs,
        verbose=verbose,
        memory=memory,
    )
    return ClusteringReport(
        comparison=comparison,
        stability=choice,
        external=_compare_with_classes(labels_true, partitions),
        partitions=partitions,
        shown=show_clusters(X, partitions, choice, seed, n_jobs),
        warnings=tuple(write_warnings(comparison, choice, X.shape[0])),
        n_samples=X.shape[0],
        n_features=X.shape[1],
        clusterer=write_estimator(clusterer),
        **describe_run("skeval.report.evaluate_clusterer", arguments, seed),
    )


def _compare_partitions(
    X: Any, partitions: dict[int, np.ndarray], indices: Sequence[str], n_jobs: int | None
) -> ClusteringComparison:
    """Return the internal indices of each clustering."""
    return compare_clusterings(
        X,
        {f"k = {k}": labels for k, labels in partitions.items()},
        indices=indices,
        n_neighbors=min(NEIGHBOURS, X.shape[0] - 1),
        n_jobs=n_jobs,
    )


def _compare_with_classes(
    labels_true: Any, partitions: dict[int, np.ndarray]
) -> tuple[ExternalIndices, ...] | None:
    """Return how well each clustering agrees with known classes; None without such classes."""
    if labels_true is None:
        return None
    return tuple(external_indices(labels_true, found) for found in partitions.values())


def _check_range(n_clusters: Iterable[int] | None, n_samples: int) -> np.ndarray:
    """Return the candidates in ascending order, or raise."""
    if n_clusters is None:
        return np.arange(2, min(MOST, n_samples // 2) + 1)
    candidates = check_candidates(n_clusters, 1, PREDICTION_STRENGTH)
    for k in (candidates[0], candidates[-1]):
        if not 2 <= k <= n_samples // 2:
            raise ValueError(
                f"n_clusters must lie between 2 and {n_samples // 2}, half of the {n_samples} "
                f"samples, since halves are clustered too; got {k}."
            )
    return candidates


def _cluster_all(
    clusterer: Any, X: Any, candidates: np.ndarray, param_name: str | None, seed: int
) -> dict[int, np.ndarray]:
    """Return the labels of all samples for each number of clusters."""
    name = resolve_parameter(clusterer, param_name)
    partitions = {}
    for k in candidates.tolist():
        copy = seed_clusterer(clone(clusterer).set_params(**{name: k}), np.random.default_rng(seed))
        partitions[k] = np.asarray(copy.fit_predict(X))
    return partitions


def write_warnings(
    comparison: ClusteringComparison, choice: NClustersChoice, n_samples: int
) -> list[str]:
    """Return the sentences that a reader should know before quoting the choice."""
    tried, chosen = choice.candidates, np.flatnonzero(choice.candidates == choice.n_clusters)
    sentences = [
        f"Asked for {k} clusters, the algorithm found {found}."
        for k, found in zip(tried, comparison.n_clusters, strict=True)
        if k != found
    ]
    sentences += _write_stability_warnings(choice, n_samples)
    if not len(chosen):
        return sentences
    row = chosen[0]
    if len(tried) > 1 and row == len(tried) - 1:
        sentences.append(f"{tried[row]} is the largest k tried: a larger one may do as well.")
    better = tried[comparison.dominates[:, row]]
    if len(better):
        names = " and ".join(map(str, better))
        sentences.append(f"On the internal indices k = {names} beats the choice, k = {tried[row]}.")
    return sentences


def _write_stability_warnings(choice: NClustersChoice, n_samples: int) -> list[str]:
    """Return sentences on candidates that are stable without being evidence of clusters."""
    sentences = []
    above = choice.candidates[choice.candidates * SMALLEST > n_samples // 2]
    if above.size:
        sentences.append(
            f"Halves of {n_samples // 2} samples cannot hold {above[0]} clusters or more of "
            f"{SMALLEST} each: there is no evidence of so many."
        )
    if choice.method != PREDICTION_STRENGTH:
        return sentences
    for row in np.flatnonzero(
        (choice.values >= choice.threshold) & (choice.values < choice.limits)
    ):
        sentences.append(
            f"Halves agree on k = {choice.candidates[row]} ({choice.values[row]:.2f}), but on data "
            f"without structure, too ({choice.reference_values[row]:.2f})."
        )
    return sentences
