"""Gap statistic: the dispersion of the clusters, compared with data without structure."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from numbers import Integral
from typing import Any, Final

import numpy as np
from scipy.sparse import issparse
from scipy.stats import sem

from skeval.cluster import _stability
from skeval.cluster._n_clusters_choice import (
    GAP,
    NClustersChoice,
    Trial,
    check_candidates,
    read_trial,
    with_n_clusters,
)
from skeval.cluster._references import REFERENCES, Draws
from skeval.cluster._stability import STABILITY, Draw, Seed
from skeval.metrics.cluster import compactness_score, within_cluster_distances
from skeval.metrics.cluster._kernels.distances import to_centroids
from skeval.metrics.cluster._samples import partition_rows
from skeval.utils._checks import in_order, is_no_table, warn_user
from skeval.utils._compat import Interval, StrOptions, validate_params
from skeval.utils._options import GapMetric, Reference

SQUARED: Final = "sqeuclidean"


@in_order(clusterer=is_no_table, X=None)
@validate_params(
    STABILITY
    | {
        "reference": [StrOptions(set(REFERENCES))],
        "metric": [StrOptions({SQUARED, "euclidean"})],
        "n_references": [Interval(Integral, 2, None, closed="left")],
        "param_name": [str, None],
    }
)
def gap_statistic(
    clusterer: Any,
    X: Any,
    *,
    n_clusters: Iterable[int] = range(1, 11),
    reference: Reference = "auto",
    metric: GapMetric = SQUARED,
    n_references: int = 100,
    param_name: str | None = None,
    random_state: Seed = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
) -> NClustersChoice:
    r"""Compute the gap statistic for several numbers of clusters.

    The dispersion of k clusters :math:`C_r` of :math:`n_r` samples is

    .. math:: W_k = \sum_{r=1}^k \frac{1}{2 n_r} \sum_{i, j \in C_r} d_{ij} ,

    which for squared distances is the sum of squares around the centroids. It decreases as clusters
    are added, even in data without structure. The gap is the additional decrease,

    .. math:: gap(k) = \frac1B \sum_{b=1}^B \log W^*_{kb} - \log W_k , \qquad
        s_k = \sqrt{1 + 1/B}\; sd_b(\log W^*_{kb}) ,

    where :math:`W^*_{kb}` is the dispersion of the clusters in the b-th draw of data without
    structure. The choice is the smallest k with :math:`gap(k) \ge gap(k+1) - s_{k+1}`, which may be
    1.

    Parameters
    ----------
    clusterer : estimator
        Clusterer or pipeline with `fit_predict` and a parameter for the number of clusters. A
        single cluster contains all samples and needs no fit.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data. Distances are computed on X as passed, so scale X beforehand.
    n_clusters : iterable of int, default=range(1, 11)
        Candidates, at least 1 and fewer than the samples. The rule compares each candidate with the
        next.
    reference : {"auto", "uniform", "box", "permuted"}, default="auto"
        Reference data without structure: points drawn uniformly in the bounding box of the data
        along the principal axes ("uniform"), or along the features ("box"), or the data with each
        column permuted separately ("permuted"). "auto" is "uniform", or "permuted" for sparse X.
    metric : {"sqeuclidean", "euclidean"}, default="sqeuclidean"
        The distance :math:`d` of the dispersion.
    n_references : int, default=100
        Number of draws :math:`B` of reference data, at least 2.
    param_name : str, default=None
        The clusterer's parameter for the number of clusters. None uses `n_clusters` or
        `n_components`, also in a pipeline if unique.
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
    NClustersChoice
        The choice, with the gaps as `values`, s_k as `standard_errors`, and the logarithms of the
        dispersions in `details`.

    Raises
    ------
    ValueError
        If a candidate is out of range, if the parameter for the number of clusters is not found or
        not unique, if the clusterer takes precomputed distances, or if X has fewer than 4 samples
        or only equal ones, is not finite or of a size whose squares are not, or if the reference
        data have no more distinct points than clusters.

    Warns
    -----
    UserWarning
        If no candidate satisfies the rule: the gap still increases at the largest candidate, which
        is returned.

    See Also
    --------
    choose_n_clusters : Compares the gap with prediction strength and the silhouette.
    StabilityDisplay : Draws the curve.

    Notes
    -----
    ``clusGap`` of the R package cluster sums plain distances, unless ``d.power = 2``: the example
    in the paper and the default of this function use squared distances (``metric="euclidean"``
    gives plain distances). It divides the variance by B - 1, the paper and this function by B. Its
    default rule differs from the rule of the paper, which it calls "Tibs2001SEmax". Label -1,
    noise, counts as one cluster.

    The rule may fail for nested clusters, where the gap may decrease and increase again. It also
    assumes compact clusters, which W describes well.

    References
    ----------
    .. [1] Tibshirani, R., Walther, G. and Hastie, T. (2001). Estimating the number of clusters in a
       data set via the gap statistic. Journal of the Royal Statistical Society B 63, 411-423.
       https://doi.org/10.1111/1467-9868.00293

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import make_blobs
    >>> from skeval.cluster import gap_statistic
    >>> X, _ = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> result = gap_statistic(
    ...     KMeans(n_init=2), X, n_clusters=range(1, 6), n_references=20, random_state=0
    ... )
    >>> result.n_clusters
    3
    """
    X = _stability.check_points(clusterer, X)
    candidates = check_candidates(n_clusters, 1, GAP)
    check_sizes(X, candidates)
    options = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory}
    trial = read_trial(
        clusterer, X, param_name, reference, n_references, 0.0, random_state, **options
    )
    return choose_by_gap(trial, candidates, metric)


def choose_by_gap(trial: Trial, candidates: np.ndarray, metric: str = SQUARED) -> NClustersChoice:
    """Return the choice of the gap statistic; the gap of the reference is 0."""
    # log dispersions of the data, (K,), and of the draws, (K, B), the same for all candidates
    root = trial.copy_root()
    of_reference = root.spawn(1)[0]
    clusterers = with_n_clusters(trial.clusterer, trial.parameter, candidates)
    measure = partial(measure_draw, trial.X, trial.draws, clusterers, metric)
    draws = [(root, 1), (of_reference, trial.n_repeats)]
    measured = np.transpose(_stability.run_draws(measure, draws, **trial.options))
    logs, reference_logs = measured[:, 0], measured[:, 1:]
    if not np.isfinite(reference_logs).all():
        raise ValueError(
            "n_clusters must be less than the number of different points in data without "
            "structure, whose dispersion is 0 otherwise and has no logarithm."
        )
    # gaps and their standard errors s_k, equations (3) and (6) of the paper
    gap = reference_logs.mean(axis=1) - logs
    errors = reference_logs.std(axis=1) * np.sqrt(1 + 1 / trial.n_repeats)
    limits = np.append((gap - errors)[1:], -np.inf)  # no limit for the last candidate
    chosen = int(candidates[gap >= limits].min())
    if chosen == candidates[-1] > candidates[0]:
        warn_user(
            f"The gap still increases at {chosen} clusters, the largest candidate, which is "
            "chosen; try more clusters."
        )
    return NClustersChoice(
        n_clusters=chosen,
        candidates=candidates,
        values=gap,
        standard_errors=errors,
        replicates=reference_logs - logs[:, None],
        reference_values=np.zeros(len(candidates)),
        reference_standard_errors=sem(reference_logs, axis=1),
        reference_replicates=reference_logs - reference_logs.mean(axis=1, keepdims=True),
        limits=limits,
        method=GAP,
        reference=trial.kind,
        threshold=trial.threshold,
        rule="smallest k whose gap is within one standard error of that of the next k",
        details={"log_dispersions": logs, "reference_log_dispersions": reference_logs},
    )


def measure_draw(
    X: Any, reference: Draws, clusterers: dict[int, Any], metric: str, job: Draw
) -> list[float]:
    """Cluster the data or a draw of the reference, and return the log dispersions."""
    data, logs = reference(job.rng) if job.of_reference else X, []
    for k, clusterer in _stability.seed_alike(clusterers, job.rng).items():
        labels = np.zeros(data.shape[0]) if k == 1 else _stability.fit_labels(clusterer, data)
        logs.append(log_dispersion(data, labels, metric))
    return logs


def log_dispersion(X: Any, labels: np.ndarray, metric: str) -> float:
    """Return the logarithm of the pooled within-cluster dispersion, equation (2) of the paper."""
    if metric == SQUARED:
        points = X if issparse(X) else np.asarray(X, dtype=np.float64)
        partition = partition_rows(labels)
        total = to_centroids(points[partition.order], partition, SQUARED).sum()
    else:
        distances = within_cluster_distances(X, labels, metric=metric, noise="cluster")
        total = np.sum(distances["mean"] * (distances["size"] - 1) / 2)
    return float(np.log(total)) if total > 0 else -np.inf


def check_sizes(X: Any, candidates: np.ndarray) -> None:
    """Raise unless there are more samples than clusters and two distinct samples."""
    if candidates.max() >= X.shape[0]:
        raise ValueError(
            f"n_clusters must be less than the {X.shape[0]} samples of X, got {candidates.max()}."
        )
    if compactness_score(X, np.zeros(X.shape[0]), unit="sum") == 0:
        raise ValueError("X must hold two samples that differ, got equal ones.")
