"""Evaluation of a clusterer at several numbers of clusters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from skeval._resampling.progress import begin_step
from skeval.cluster import choose_n_clusters, compare_clusterings
from skeval.cluster._n_clusters_choice import (
    GAP,
    SEQUENTIAL,
    SILHOUETTE,
    check_candidates,
    resolve_parameter,
)
from skeval.cluster._references import REFERENCES, resolve_reference
from skeval.cluster._stability import (
    AGREEMENTS,
    PREDICTION_STRENGTH,
    check_points,
    fit_labels,
    seed_clusterer,
)
from skeval.metrics.cluster import external_indices
from skeval.report import _clustering
from skeval.report._data_checks import warn_of_points
from skeval.report._report import Report
from skeval.report._run import describe_run, write_estimator
from skeval.utils._checks import (
    RandomStateLike,
    StabilityAgreement,
    StructureReference,
    check_jobs,
    check_methods,
    check_option,
    check_same_length,
    ignored_warnings,
    small_seed,
)

HALVES = (PREDICTION_STRENGTH, "adjusted_rand", SILHOUETTE)
"""Rules based on halves of the data, whose agreement is in the verdict."""

HALVING_OPTIONS = ("reference", "n_repeats", "param_name", "n_jobs", "verbose", "memory")
"""Options that `choose_n_clusters` has too."""
INDICES = ("silhouette", "dunn", "davies_bouldin_pairwise", "calinski_harabasz", "connectivity")
N_NEIGHBORS = 10
MAX_CLUSTERS = 8


def evaluate_clusterer(
    clusterer: Any,
    X: Any,
    *,
    n_clusters: Iterable[int] | None = None,
    labels_true: Any = None,
    indices: Sequence[str] = INDICES,
    stability: StabilityAgreement = "prediction_strength",
    reference: StructureReference = "auto",
    n_repeats: int = 10,
    param_name: str | None = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
) -> Report:
    """Evaluate a clusterer at several numbers of clusters.

    The report chooses the number of clusters by sequential tests, and compares the choice with the
    other rules of `choose_n_clusters`. It has internal indices of the clustering of all samples and
    their Pareto front, the stability between random halves, agreement with known classes if there
    are any, and warnings if the choice should not be taken at face value.

    Parameters
    ----------
    clusterer : estimator
        Clusterer, or pipeline, with `fit_predict` and a parameter for the number of clusters.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        The data. Indices and nearest neighbors use Euclidean distances in X, so scale X
        beforehand.
    n_clusters : iterable of int, default=None
        Candidates, from 2 to half the number of samples. None means 2 to 8, within this limit.
    labels_true : array-like of shape (n_samples,), default=None
        Known classes, for comparison only: neither the clusterings nor the choice use them.
    indices : sequence of str, default=("silhouette", "dunn", "davies_bouldin_pairwise", \
            "calinski_harabasz", "connectivity")
        Internal indices, as in `compare_clusterings`. Sparse X has no Calinski-Harabasz index.
    stability : {"prediction_strength", "adjusted_rand", "matched_accuracy"}, \
            default="prediction_strength"
        Measure of agreement between halves to report; the choice does not depend on it.
    reference : {"auto", "uniform", "box", "permuted", "unimodal"}, default="auto"
        Data without structure to compare halves and the gap with, as in `choose_n_clusters`.
    n_repeats : int, default=10
        Number of random halvings, at least 2.
    param_name : str, default=None
        Parameter of the clusterer for the number of clusters; None detects it.
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
    Report

    Raises
    ------
    ValueError
        If an argument is invalid, or an index is undefined for a clustering; the message names
        argument, rule and value.

    See Also
    --------
    skeval.cluster.choose_n_clusters : Only the stability and the choice.
    skeval.cluster.compare_clusterings : Only the indices and the front.

    Notes
    -----
    The connectivity uses 10 neighbors, or all other samples if there are fewer. A k above a sixth
    of the samples cannot be tested on halves; see `choose_n_clusters` for this and for the
    assumptions of the choice.

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
    arguments = dict(locals())
    if isinstance(clusterer, Mapping):
        raise TypeError(
            f"clusterer must be one clusterer, got a {type(clusterer).__name__}. Evaluate each "
            "with the same random_state, so that all are clustered on the same halves."
        )
    check_methods("clusterer", clusterer, "fit_predict", "get_params", "set_params")
    check_option("stability", stability, AGREEMENTS)
    check_option("reference", reference, REFERENCES)
    check_same_length(X=X, labels_true=labels_true)
    table_warnings = warn_of_points(X, getattr(X, "columns", None))
    X = check_points(clusterer, X)
    candidates = _check_range(n_clusters, X.shape[0])
    seed = small_seed(random_state)
    check_jobs(n_jobs, verbose)
    begin_step("clusterings", verbose)
    partitions = _cluster_all(clusterer, X, candidates, param_name, seed)
    begin_step("indices", verbose)
    comparison = compare_clusterings(
        X,
        {f"k = {k}": labels for k, labels in partitions.items()},
        indices=indices,
        n_neighbors=min(N_NEIGHBORS, X.shape[0] - 1),
        n_jobs=n_jobs,
    )
    external = None
    if labels_true is not None:
        external = tuple(external_indices(labels_true, labels) for labels in partitions.values())
    begin_step("number of clusters", verbose)
    methods = [SEQUENTIAL, *dict.fromkeys((stability, *HALVES))]
    if resolve_reference(X, reference)[0] != "permuted":  # permuted columns keep ties
        methods.append(GAP)
    # the report has its own sentence for this
    with ignored_warnings(UserWarning, "The gap still increases"):
        choices: Any = choose_n_clusters(  # a mapping, because there are several methods
            clusterer,
            X,
            n_clusters=candidates.tolist(),
            method=methods,
            random_state=seed,
            **{name: arguments[name] for name in HALVING_OPTIONS},
        )
    choice = choices[SEQUENTIAL]
    results: dict[str, Any] = {
        "answer": choice,
        "estimates": choices,
        "metrics": comparison,
        "comparison": comparison,
        "choice": choice,
        "choices": choices,
        "n_clusters": choice.n_clusters,
        "rule": choice.rule,
        "pvalue": choice.pvalue,
        "pvalue_more": choice.pvalue_more,
        "threshold": choices[stability].threshold,
        "reference": choices[stability].reference,
        "n_repeats": n_repeats,
        "stability": choices[stability],
        "external": external,
        "partitions": partitions,
        "shown": _clustering.find_clustering(X, partitions, choice, seed, n_jobs),
        "n_samples": X.shape[0],
        "n_features": X.shape[1],
        "clusterer": write_estimator(clusterer),
    }
    warned = _clustering.write_warnings(comparison, choice, choices[stability], X.shape[0])
    run = describe_run("skeval.report.evaluate_clusterer", arguments, seed)
    return Report(_clustering.CLUSTERING, results, (*table_warnings, *warned), **run)


def _check_range(n_clusters: Iterable[int] | None, n_samples: int) -> np.ndarray:
    """Return the candidates in ascending order, or raise."""
    if n_clusters is None:
        return np.arange(2, min(MAX_CLUSTERS, n_samples // 2) + 1)
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
        partitions[k] = fit_labels(copy, X)
    return partitions
