"""The gap statistic: are clusters tighter than those of data without structure?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator, SeedSequence

from skeval._resampling.jobs import open_jobs
from skeval.cluster._candidates import check_candidates, resolve_parameter, with_n_clusters
from skeval.cluster._reference import REFERENCE_WORDS, REFERENCES, Draws, resolve_reference
from skeval.cluster._rules import GAP, describe_rule, gap_limits, pick_candidate
from skeval.cluster._stability import STABILITY, Seed, check_points, seed_clusterer
from skeval.metrics.cluster import within_cluster_distances, within_cluster_sse
from skeval.utils._checks import warn_user
from skeval.utils._compat import Interval, StrOptions, validate_params
from skeval.utils._frames import DataFrame, make_frame
from skeval.utils._seeds import repetition_rng, root_seed
from skeval.utils._text import ShownAsText, align_text, write_number

__all__ = [
    "SQUARED",
    "GapStatistic",
    "check_sizes",
    "choose_by_gap",
    "compute_dispersions",
    "gap_statistic",
    "read_gap",
]

SQUARED = "sqeuclidean"


@dataclass(frozen=True, eq=False)
class GapStatistic(ShownAsText):
    """The gap statistic of several numbers of clusters.

    Attributes
    ----------
    n_clusters : int
        The number of clusters that the rule chooses.
    candidates : ndarray of shape (n_candidates,)
        The numbers of clusters that were asked for, ascending.
    gap, standard_errors : ndarray of shape (n_candidates,)
        The gap of each candidate, and s_k, the error of its reference with that of simulation.
    log_dispersions : ndarray of shape (n_candidates,)
        Logarithm of the dispersion of the data.
    reference_log_dispersions : ndarray of shape (n_candidates, n_references)
        The same of each draw of data without structure.
    limits : ndarray of shape (n_candidates,)
        What the gap had to reach: that of the next candidate less its standard error; minus
        infinity for the last one.
    reference : {"uniform", "box", "permuted"}
        The data without structure.
    rule : str
        The rule of the choice, in words.
    """

    n_clusters: int
    candidates: np.ndarray
    gap: np.ndarray
    standard_errors: np.ndarray
    log_dispersions: np.ndarray
    reference_log_dispersions: np.ndarray = field(repr=False)
    limits: np.ndarray
    reference: str
    rule: str

    def to_frame(self) -> DataFrame:
        """Return a data frame with one row per candidate."""
        return make_frame(
            {
                "gap": self.gap,
                "standard_error": self.standard_errors,
                "log_dispersion": self.log_dispersions,
                "reference_log_dispersion": self.reference_log_dispersions.mean(axis=1),
                "limit": self.limits,
                "chosen": self.candidates == self.n_clusters,
            },
            self.candidates,
            "n_clusters",
        )

    def __str__(self) -> str:
        rows = [("rule", self.rule), ("reference", REFERENCE_WORDS[self.reference])]
        for k, value, error in zip(self.candidates, self.gap, self.standard_errors, strict=True):
            mark = "  <- chosen" if k == self.n_clusters else ""
            rows.append((f"k = {k}", f"{write_number(value)} +/- {write_number(error)}{mark}"))
        noun = "cluster" if self.n_clusters == 1 else "clusters"
        return align_text(f"{self.n_clusters} {noun} by the gap statistic", rows)


class Draw(NamedTuple):
    """One clustering: of the data, or of a draw of data without structure."""

    clusterer: Any
    n_clusters: int
    rng: Generator
    of_reference: bool


def measure_draw(X: Any, reference: Draws, metric: str, job: Draw) -> float:
    """Cluster the data or a draw of the reference, and return the logarithm of the dispersion."""
    data = reference(job.rng) if job.of_reference else X
    if job.n_clusters == 1:
        return log_dispersion(data, np.zeros(data.shape[0], dtype=int), metric)
    labels = seed_clusterer(job.clusterer, job.rng).fit_predict(data)
    return log_dispersion(data, np.asarray(labels), metric)


def log_dispersion(X: Any, labels: np.ndarray, metric: str) -> float:
    """Return the logarithm of the pooled within-cluster dispersion, equation (2) of the paper."""
    if metric == SQUARED:
        total = within_cluster_sse(X, labels, noise="cluster")
    else:
        found = within_cluster_distances(X, labels, metric=metric, noise="cluster")
        total = np.sum(found.mean * (found.sizes - 1) / 2)
    return float(np.log(total)) if total > 0 else -np.inf


def compute_dispersions(
    X: Any,
    clusterers: dict[int, Any],
    draws: Draws,
    metric: str,
    n_references: int,
    root: SeedSequence,
    options: dict[str, Any],
) -> tuple[np.ndarray, np.ndarray]:
    """Return the (K,) logarithms of dispersions of the data, and the (K, B) of the references.

    All numbers of clusters meet the same draws.
    """
    of_reference = root.spawn(1)[0]
    shape = (len(clusterers), 1 + n_references)
    measure = partial(measure_draw, X, draws, metric)
    with open_jobs(measure, total=int(np.prod(shape)), **options) as run:
        logs = run(
            Draw(clusterer, k, repetition_rng(own_root, draw), own_root is of_reference)
            for k, clusterer in clusterers.items()
            for own_root, n_draws in ((root, 1), (of_reference, n_references))
            for draw in range(n_draws)
        )
    table = np.reshape(logs, shape)
    return table[:, 0], table[:, 1:]


def read_gap(logs: np.ndarray, reference_logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the (K,) gaps and their standard errors s_k, equations (3) and (6) of the paper."""
    if not np.isfinite(reference_logs).all():
        raise ValueError(
            "n_clusters must be less than the number of different points in data without "
            "structure, whose dispersion is 0 otherwise and has no logarithm."
        )
    n_references = reference_logs.shape[1]
    errors = reference_logs.std(axis=1) * np.sqrt(1 + 1 / n_references)
    return reference_logs.mean(axis=1) - logs, errors


def choose_by_gap(candidates: np.ndarray, gap: np.ndarray, limits: np.ndarray) -> int:
    """Return the chosen number of clusters; warn where it is that without a limit."""
    chosen = pick_candidate(candidates, gap, limits, np.zeros(len(gap)), GAP)
    if chosen == candidates[-1] > candidates[0]:
        warn_user(
            f"The gap still grows at {chosen} clusters, the largest candidate, which is given as "
            "the choice; try more."
        )
    return chosen


def check_sizes(X: Any, candidates: np.ndarray) -> None:
    """Raise unless there are more samples than clusters, and two that differ."""
    if candidates.max() >= X.shape[0]:
        raise ValueError(
            f"n_clusters must be less than the {X.shape[0]} samples of X, got {candidates.max()}."
        )
    if within_cluster_sse(X, np.zeros(X.shape[0])) == 0:
        raise ValueError("X must hold two samples that differ, got equal ones.")


@validate_params(
    {name: rule for name, rule in STABILITY.items() if name != "n_repeats"}
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
    reference: str = "auto",
    metric: str = SQUARED,
    n_references: int = 100,
    param_name: str | None = None,
    random_state: Seed = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
) -> GapStatistic:
    r"""Compute the gap statistic of several numbers of clusters.

    The dispersion of k clusters :math:`C_r` of :math:`n_r` samples is

    .. math:: W_k = \sum_{r=1}^k \frac{1}{2 n_r} \sum_{i, j \in C_r} d_{ij} ,

    which for squared distances is the sum of squares around the centroids. It falls as clusters
    are added, in data without structure too; the gap is how much further it fell,

    .. math:: gap(k) = \frac1B \sum_{b=1}^B \log W^*_{kb} - \log W_k , \qquad
        s_k = \sqrt{1 + 1/B}\; sd_b(\log W^*_{kb}) ,

    with :math:`W^*_{kb}` the dispersion of the clusters of the b-th draw of data without
    structure. The choice is the smallest k with :math:`gap(k) \ge gap(k+1) - s_{k+1}`, which may
    be 1.

    Parameters
    ----------
    clusterer : estimator
        Any clusterer, or pipeline, with `fit_predict` and a parameter for the number of clusters.
        One cluster is all samples, without a fit.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data. Distances are those of X as given, so scale X beforehand.
    n_clusters : iterable of int, default=range(1, 11)
        The candidates, at least 1 and fewer than the samples. The rule compares each with the
        next.
    reference : {"auto", "uniform", "box", "permuted"}, default="auto"
        The data without structure: points drawn uniformly in the box along the principal axes that
        holds the data ("uniform"), or in the box of the ranges of the features ("box"), or the data
        with every column shuffled by itself ("permuted"). "auto" is "uniform", or "permuted" for
        sparse X.
    metric : {"sqeuclidean", "euclidean"}, default="sqeuclidean"
        The distance :math:`d` of the dispersion.
    n_references : int, default=100
        Number of draws :math:`B` of data without structure, at least 2.
    param_name : str, default=None
        The clusterer's parameter for the number of clusters. None finds `n_clusters` or
        `n_components`, in a pipeline too if it is unique there.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws and of the clusterer's own `random_state` where that is None.
    n_jobs : int, default=None
        Number of clusterings computed at a time, through joblib; the numbers do not depend on it.
    verbose : int, default=0
        1 shows a progress bar; more adds joblib's own lines.
    memory : str, path-like or joblib.Memory, default=None
        Where finished fits are kept. A run that was interrupted and starts again with the same
        arguments, `random_state` an int, does only the rest; see :doc:`/user_guide/scale`.

    Returns
    -------
    GapStatistic
        The gap and s_k of each candidate, the dispersions behind them, and the choice.

    Raises
    ------
    ValueError
        If a candidate is out of range, if the parameter for the number of clusters is not found or
        not unique, if the clusterer takes precomputed distances, or if X has fewer than 4 samples
        or only equal ones, is not finite or of a size whose squares are not, or if draws without
        structure have no more different points than clusters.

    Warns
    -----
    UserWarning
        If no candidate fulfils the rule: the gap still grows at the largest, which is given.

    See Also
    --------
    choose_n_clusters : The gap beside prediction strength and the silhouette.
    GapDisplay : Draws the curve.

    Notes
    -----
    ``clusGap`` of the R package cluster sums plain distances, unless ``d.power = 2``: the paper's
    example and this function's default square them (``metric="euclidean"`` gives the former). It
    divides the variance by B - 1, the paper and this function by B. Its default rule is not that of
    the paper, which it calls "Tibs2001SEmax". Label -1, noise, counts as one cluster.

    The rule errs where clusters are nested: the gap may fall and rise again. And it presumes
    clusters that W sees, compact ones.

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
    X = check_points(clusterer, X)
    candidates = check_candidates(n_clusters, 1, GAP)
    check_sizes(X, candidates)
    kind, draws = resolve_reference(X, reference)
    name = resolve_parameter(clusterer, param_name)
    clusterers = with_n_clusters(clusterer, name, candidates)
    options = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory}
    logs, reference_logs = compute_dispersions(
        X, clusterers, draws, metric, n_references, root_seed(random_state), options
    )
    gap, errors = read_gap(logs, reference_logs)
    limits = gap_limits(gap, errors)
    return GapStatistic(
        n_clusters=choose_by_gap(candidates, gap, limits),
        candidates=candidates,
        gap=gap,
        standard_errors=errors,
        log_dispersions=logs,
        reference_log_dispersions=reference_logs,
        limits=limits,
        reference=kind,
        rule=describe_rule(GAP, np.nan),
    )
