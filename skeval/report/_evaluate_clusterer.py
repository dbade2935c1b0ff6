"""Evaluation of a clusterer at several numbers of clusters, or of one clustering.

The module contains the public function, the warnings, the verdict and the sections. The
corresponding functions for a clusterer without a number of clusters follow. The picture of a
clustering and the reports come last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.pipeline import Pipeline

from skeval._resampling.progress import begin_step
from skeval.cluster import _choose
from skeval.cluster._choose import NClustersChoice, choose_n_clusters, structure_test
from skeval.cluster._pareto import (
    GREATER_IS_BETTER,
    ClusteringComparison,
    compare_clusterings,
    compute_internal,
    resolve_directions,
)
from skeval.cluster._plot import StabilityDisplay, name_index
from skeval.cluster._references import NOISE, name_reference
from skeval.cluster._stability import (
    PREDICTION_STRENGTH,
    RECOVERED,
    check_pairwise,
    check_points,
    cluster_stability,
    fit_labels,
    seed_clusterer,
    takes_pairs,
)
from skeval.metrics.cluster import dbcv_score, external_indices
from skeval.report._data_checks import warn_of_points
from skeval.report._page import (
    MARKERS,
    CheckResult,
    Figure,
    Section,
    Table,
    list_few,
    list_grave,
    note,
)
from skeval.report._report import Report, recorded, write_estimator
from skeval.report._sections import MAX_POINTS
from skeval.utils import _checks
from skeval.utils._checks import RandomStateLike
from skeval.utils._compat import safe_indexing
from skeval.utils._text import DataFrame, count, make_frame, write_pvalue, write_with_spread

HALVES = (PREDICTION_STRENGTH, "adjusted_rand", _choose.SILHOUETTE)
"""Rules based on halves of the data, whose agreement is in the verdict."""

INDICES = ("silhouette", "dunn", "davies_bouldin_pairwise", "calinski_harabasz", "connectivity")
MAX_CLUSTERS = 8
MAX_ROWS = 20_000
"""Number of samples above which the internal indices are those of a random sample of them."""
N_NEIGHBORS = 10
N_REFERENCES = 99
"""Draws of data without structure, which give P-values of .01 and more."""
LEVEL = 0.05
"""Level of the test of structure in the verdict."""


@_checks.in_order(clusterer=_checks.is_no_table)
@recorded
def evaluate_clusterer(
    clusterer: Any,
    X: Any,
    *,
    n_clusters: Iterable[int] | None = None,
    labels_true: Any = None,
    indices: Sequence[str] = INDICES,
    n_repeats: int = 10,
    param_name: str | None = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
) -> Report:
    """Evaluate a clusterer at several numbers of clusters, or once if it has no such number.

    The report chooses the number of clusters by sequential tests, and compares the choice with the
    other rules of `choose_n_clusters`. It contains internal indices of the clustering of all
    samples and their Pareto front, the stability between random halves, and the agreement with
    known classes, if passed. It warns if the choice may not be reliable.

    A clusterer without a number of clusters, such as DBSCAN and HDBSCAN, or with precomputed
    distances, is evaluated with its own parameters. The report then contains the number of
    clusters, the fraction of noise, DBCV, internal indices of the samples in clusters, and the
    stability of each cluster in ``10 * n_repeats`` bootstrap samples. It also contains a test of
    DBCV against data without structure, in which fewer than two clusters count as the lowest DBCV,
    -1. With precomputed distances, DBCV and its test are omitted, because they require coordinates.

    Parameters
    ----------
    clusterer : estimator
        Clusterer or pipeline with `fit_predict`. A parameter for the number of clusters is ignored
        if its value is None.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features) or \
            (n_samples, n_samples)
        The data, or distances for a clusterer with ``metric="precomputed"``. Indices and nearest
        neighbors use Euclidean distances in X, so scale X first.
    n_clusters : iterable of int, default=None
        Candidate numbers of clusters, from 2 to half the number of samples. None means 2 to 8,
        within this limit. It must be None for a clusterer without a number of clusters.
    labels_true : array-like of shape (n_samples,), default=None
        Known classes. They are used only for comparison, not for the clusterings or the choice.
    indices : sequence of str, default=("silhouette", "dunn", "davies_bouldin_pairwise", \
            "calinski_harabasz", "connectivity")
        Internal indices, as in `compare_clusterings`. Calinski-Harabasz is not available for
        sparse X.
    n_repeats : int, default=10
        Number of random halvings, at least 2.
    param_name : str, default=None
        Parameter of the clusterer for the number of clusters. None detects it in the last step.
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
    Report

    Raises
    ------
    ValueError
        If an argument is invalid, or an index is undefined for a clustering. The message names
        argument, rule and value.

    See Also
    --------
    skeval.cluster.choose_n_clusters : Only the stability and the choice.
    skeval.cluster.compare_clusterings : Only the indices and the front.

    Notes
    -----
    The connectivity uses 10 neighbors, or all other samples if there are fewer. With more than
    20,000 samples, the internal indices are computed on a random sample of 20,000. A k above a
    sixth of the samples cannot be tested on halves. See `choose_n_clusters` for this and for the
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

    >>> from sklearn.cluster import DBSCAN
    >>> report = evaluate_clusterer(DBSCAN(eps=1.2), X, random_state=0)
    >>> report.n_clusters, round(report.noise_share, 2), round(report.dbcv, 2)
    (3, 0.08, 0.77)
    """
    # validate the arguments
    if isinstance(clusterer, Mapping):
        raise TypeError(
            f"clusterer must be a single clusterer, got a {type(clusterer).__name__}. To compare "
            "several, evaluate each of them with the same random_state and thus on the same halves."
        )
    _checks.check_methods("clusterer", clusterer, "fit_predict", "get_params", "set_params")
    _checks.check_same_length(X=X, labels_true=labels_true)
    seed = _checks.small_seed(random_state)
    run: dict[str, Any] = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory}
    run["random_state"] = seed
    # clusterers such as DBSCAN find the number of clusters by themselves
    if param_name is None and (takes_pairs(clusterer) or not has_number(clusterer)):
        if n_clusters is not None:
            raise ValueError(
                "n_clusters must be None for a clusterer without a number of clusters or of "
                f"precomputed distances, got {n_clusters!r}."
            )
        return evaluate_as_is(clusterer, X, labels_true, indices, n_repeats, run)
    X, given = check_points(clusterer, X), X
    table_warnings = warn_of_points(given, getattr(given, "columns", None))
    candidates = _check_range(n_clusters, X.shape[0])
    _checks.check_jobs(n_jobs, verbose)
    # cluster all samples, and compare the clusterings
    begin_step("clusterings", verbose)
    name = _choose.resolve_parameter(clusterer, param_name)
    partitions = {k: _cluster(clusterer, X, seed, **{name: k}) for k in candidates.tolist()}
    begin_step("indices", verbose)
    comparison = _compare_partitions(X, partitions, indices, n_jobs, seed)
    # agreement with known classes
    external = None
    if labels_true is not None:
        external = tuple(external_indices(labels_true, labels) for labels in partitions.values())
    # choose the number by all rules
    begin_step("number of clusters", verbose)
    ties = name_reference(X, "auto") == "permuted"  # permuted columns keep ties
    methods = [_choose.SEQUENTIAL, *HALVES, *([] if ties else [_choose.GAP])]
    choices: Any = choose_n_clusters(  # a mapping, because there are several methods
        clusterer,
        X,
        n_clusters=candidates.tolist(),
        method=methods,
        n_repeats=n_repeats,
        param_name=param_name,
        **run,
    )
    # the report
    choice = choices[_choose.SEQUENTIAL]
    warned = [CheckResult.from_text("clusters", text) for text in choice.notes]
    warned += warn_of_choice(comparison, choice)
    return ClusteringReport(
        answer=choice,
        estimates=choices,
        metrics=comparison,
        comparison=comparison,
        choice=choice,
        choices=choices,
        n_clusters=choice.n_clusters,
        stability=choices[PREDICTION_STRENGTH],
        external=external,
        partitions=partitions,
        shown=place_samples(X, partitions.get(choice.n_clusters), seed),
        n_samples=X.shape[0],
        n_features=X.shape[1],
        clusterer=write_estimator(clusterer),
        warnings=(*table_warnings, *warned),
        seed=seed,
    )


def _cluster(clusterer: Any, X: Any, seed: int, **params: Any) -> np.ndarray:
    """Return the clusters of all samples."""
    copy = clone(clusterer).set_params(**params)
    return fit_labels(seed_clusterer(copy, np.random.default_rng(seed)), X)


def _compare_partitions(
    X: Any, partitions: Mapping[int, np.ndarray], indices: Sequence[str], n_jobs: Any, seed: int
) -> ClusteringComparison:
    """Return the internal indices of several clusterings, on at most `MAX_ROWS` samples."""
    n = X.shape[0]
    rows = np.sort(np.random.default_rng(seed).choice(n, min(n, MAX_ROWS), replace=False))
    comparison = compare_clusterings(
        X if n <= MAX_ROWS else safe_indexing(X, rows),
        {f"k = {k}": labels[rows] for k, labels in partitions.items()},
        indices=indices,
        n_neighbors=min(N_NEIGHBORS, n - 1),
        n_jobs=n_jobs,
    )
    n_found = [len(np.unique(labels)) for labels in partitions.values()]  # also beyond the sample
    return replace(comparison, n_clusters=np.array(n_found))


def _check_range(n_clusters: Iterable[int] | None, n_samples: int) -> np.ndarray:
    """Return the candidates in ascending order, or raise."""
    if n_clusters is None:
        return np.arange(2, min(MAX_CLUSTERS, n_samples // 2) + 1)
    candidates = _choose.check_candidates(n_clusters, 2)
    if candidates[-1] > n_samples // 2:
        raise ValueError(
            f"n_clusters must lie between 2 and {n_samples // 2}, half of the {n_samples} samples, "
            f"because halves are clustered too, got {candidates[-1]}."
        )
    return candidates


MAX_SIZES = 12


# --- warnings and verdict


def warn_of_choice(
    comparison: ClusteringComparison, choice: NClustersChoice
) -> Iterator[CheckResult]:
    """Yield the warnings about missing clusters, and about a choice at the end of the range."""
    tried = choice.candidates.tolist()
    for k, n in zip(tried, comparison.n_clusters, strict=True):
        if k != n:
            evidence = f"the algorithm returned {n} clusters instead of {k}"
            yield note("clusters", "Fewer clusters", evidence, f"Ignore k = {k}.")
    if len(tried) > 1 and choice.n_clusters == tried[-1]:
        evidence = f"{tried[-1]} is the largest number of clusters tried"
        advice = "Try larger ones, which may be as good."
        yield note("clusters", "Largest k chosen", evidence, advice)


def write_choice(choices: Mapping[str, NClustersChoice]) -> str:
    """Return the choice, its P-value and the agreement of the other rules, as far as they count."""
    choice = choices[_choose.SEQUENTIAL]
    found = "no evidence of clusters"
    if choice.n_clusters > 1:
        found = count(choice.n_clusters, "cluster")
    # rules that agree with the choice, and others; a gap that still increases chooses no number
    others = [
        one.n_clusters for one in choices.values() if one is not choice and not one.gap_increases
    ]
    deviating = sorted({k for k in others if k != choice.n_clusters})
    n_agree = sum(k == choice.n_clusters for k in others)
    span = " or ".join(map(str, deviating))
    if len(deviating) > 2:
        span = f"{deviating[0]} to {deviating[-1]}"
    agreement = f"{n_agree} of {len(others)} other rules agree{'s' * (n_agree == 1)}"
    agreement += f", the rest choose {span}" if deviating else ""
    # no other rule confirms the choice
    if others and not n_agree:
        found = f"Undecided: {found} by the sequential tests"
        agreement = f"all {len(others)} other rules choose {span}"
    # the gap statistic is still in the table of rules
    uncounted = " The gap statistic does not count, because the gap still increases at the largest "
    uncounted = f"{uncounted}k." if len(others) < len(choices) - 1 else ""
    found = f"{found[0].upper()}{found[1:]} (P = {write_pvalue(choice.pvalue)} for structure)"
    return f"{found}; {agreement}.{uncounted}"


def _write_evidence(choice: NClustersChoice) -> str:
    """Return the P-values of the sequential tests, or the value and limit of another rule."""
    if choice.method == _choose.SEQUENTIAL:
        texts = [f"P = {write_pvalue(choice.pvalue)} for more than one"]
        if np.isfinite(choice.pvalue_more):
            more = write_pvalue(choice.pvalue_more)
            texts.append(f"P = {more} for more than {choice.n_clusters}")
        return "; ".join(texts)
    rows = np.flatnonzero(choice.candidates == choice.n_clusters)
    if not len(rows):
        return "no k reaches its limit"
    value, limit = choice.values[rows[0]], choice.limits[rows[0]]
    required = f", {limit:.3f} required" if np.isfinite(limit) else ""
    return f"{write_with_spread(value, choice.standard_errors[rows[0]])}{required}"


# --- sections


def show_clusters(report: ClusteringReport) -> Section:
    """Return the section on the samples in their clusters, if there are at least two."""
    # the sizes of all clusterings
    rows = []
    for k, labels in report.partitions.items():
        sizes = np.sort(np.unique(labels, return_counts=True)[1])[::-1].tolist()
        rows.append((str(k), list_few([*map(str, sizes)], MAX_SIZES)))
    table = Table(
        "The table lists the number of samples in each cluster.",
        ["k", "sizes"],
        rows,
        quoted={str(report.n_clusters)},
        beside="Sizes of the clusters",
        n_in_text=0,
    )
    if report.shown is None:
        return Section("The clusters", tables=[table])
    caption = f"The figure shows the chosen number of clusters, k = {report.n_clusters}."
    figures = [draw_clusters(report.shown)]
    return Section("The clusters", explains=[caption], figures=figures, tables=[table])


def show_rules(report: ClusteringReport) -> Section:
    """Return the section on the number of clusters by each rule."""
    rows = [
        (RULE_NAMES[name], "none" if choice.gap_increases else str(choice.n_clusters), evidence)
        for name, choice in report.choices.items()
        for evidence in [_write_evidence(choice)]
    ]
    caption = "The table lists the number of clusters that each rule chooses."
    table = Table(caption, ["rule", "k", "evidence"], rows, left=(2,))
    figure = Figure(
        report.plot,
        f"The data were split into random halves {report.stability.replicates.shape[1]} times; "
        "both halves were clustered, and the clusters of one half were predicted from the other. "
        "The value is 1 if the two results agree. Gray lines show data without structure, and the "
        "value required by the rule (dashed).",
        label="Stability by number of clusters. The table contains the numbers.",
        height=3.2,
    )
    notes = [
        f"{RULE_NAMES[name][0].upper()}{RULE_NAMES[name][1:]}: {note}"
        for name, choice in report.choices.items()
        if choice is not report.choice  # whose notes are warnings
        for note in choice.notes
    ]
    return Section(
        "How many clusters?", sentences=notes, explains=[PRESUMES], figures=[figure], tables=[table]
    )


def show_numbers(report: ClusteringReport) -> Section:
    """Return the section with one row for each number of clusters.

    A column has a header of up to three lines, and its cells.
    """
    stability, comparison = report.stability, report.comparison
    columns: list[tuple[tuple[str, ...], list[str]]] = [(("k",), list(map(str, report.partitions)))]
    # internal indices, with their better direction
    for name, up, values in zip(
        comparison.indices, comparison.greater_is_better, comparison.values.T, strict=True
    ):
        words = name_index(name).split(" ", 1)
        columns.append(((*words, "larger" if up else "smaller"), _write_alike(values)))
    # the stability between halves, and the Pareto front of the indices
    means = zip(stability.values, stability.standard_errors, strict=True)
    columns += [
        (("prediction", "strength", "larger"), [write_with_spread(*mean) for mean in means]),
        (("Pareto", "front"), ["yes" if this else "no" for this in comparison.front]),
    ]
    if report.external is not None:
        rand = np.array([indices["adjusted_rand"] for indices in report.external])
        columns.append((("adjusted", "Rand with", "classes"), _write_alike(rand)))
    heads, cells = zip(*columns, strict=True)
    table = Table(
        "The better direction is below each name. The number of clusters is k.",
        ["\n".join(head) for head in heads],
        list(zip(*cells, strict=True)),
        quoted={str(report.n_clusters)},
    )
    sentences = [FRONT]
    if report.external is not None:
        sentences.append("The known classes were not used for the choice.")
    if report.n_samples > MAX_ROWS:
        sentences.append(f"The internal indices were computed on {MAX_ROWS} random samples.")
    return Section("All numbers", sentences=sentences, tables=[table])


def _write_alike(values: np.ndarray) -> list[str]:
    """Return numbers with four digits for the largest."""
    sizes = np.abs(values[np.isfinite(values)])
    figures = int(np.floor(np.log10(sizes.max()))) if sizes.any() else 0
    form = ".3e" if figures > 6 else f".{min(max(3 - figures, 0), 4)}f"
    return [f"{value:{form}}" for value in values]


FRONT = (
    "A k is on the Pareto front if no other k is at least as good on every index to its left and "
    "better on one."
)
PRESUMES = (
    "The choice is that of the sequential tests. The other rules are for comparison. All assume "
    "clusters of the shape that the algorithm detects (round for k-means and Ward). Each k is "
    "compared with the same algorithm on data without structure."
)
RULE_NAMES = {
    _choose.SEQUENTIAL: "sequential tests",
    PREDICTION_STRENGTH: "prediction strength",
    "adjusted_rand": "adjusted Rand of halves",
    "silhouette": "silhouette of halves",
    "gap": "gap statistic",
}


# --- one clustering, of a clusterer without a number of clusters


def has_number(clusterer: Any) -> bool:
    """Return whether a clusterer, or the last step of a pipeline, has a number of clusters."""
    final = clusterer.steps[-1][1] if isinstance(clusterer, Pipeline) else clusterer
    params = final.get_params(deep=False)
    return any(params.get(name) is not None for name in ("n_clusters", "n_components"))


def evaluate_as_is(
    clusterer: Any,
    X: Any,
    labels_true: Any,
    indices: Sequence[str],
    n_repeats: int,
    run: dict[str, Any],
) -> Report:
    """Return the report of the clustering that a clusterer finds with its own parameters."""
    # distances have no coordinates, which the checks of points and DBCV require
    names, of_pairs = [*resolve_directions(indices)], takes_pairs(clusterer)
    warnings: list[CheckResult] = []
    if not of_pairs:
        warnings += warn_of_points(X, getattr(X, "columns", None))
    X = check_pairwise(X) if of_pairs else check_points(clusterer, X)
    # the clustering, and the defined indices without the noise
    begin_step("clustering", run["verbose"])
    labels = _cluster(clusterer, X, run["random_state"])
    n_clusters = len({*labels.tolist()} - {NOISE})
    values = {}
    if n_clusters > 1:
        options = {
            "metric": "precomputed" if of_pairs else "euclidean",
            "n_neighbors": min(N_NEIGHBORS, np.sum(labels != NOISE) - 1),
            "noise": "drop",
            "n_jobs": run["n_jobs"],
        }
        pairs = zip(names, compute_internal(X, labels, names, options), strict=True)
        values = {name: value for name, value in pairs if np.isfinite(value)}
    # the stability of its clusters
    stability = structure = shown = None
    if n_clusters:
        begin_step("stability", run["verbose"])
        stability = cluster_stability(clusterer, X, n_resamples=10 * n_repeats, **run)
    # the test of structure needs points, which are clustered again
    if n_clusters > 1 and not of_pairs:
        shown = place_samples(X, labels, run["random_state"])
        begin_step("structure", run["verbose"])
        structure = structure_test(
            clusterer, X, index=measure_density, n_references=N_REFERENCES, **run
        )
        if structure.caution:
            warnings.append(CheckResult.from_text("clusters", structure.caution))
    # without a test of structure, DBCV and its P-value are unknown
    return OneClusteringReport(
        answer=stability,
        estimates={},
        n_clusters=n_clusters,
        noise_share=float(np.mean(labels == NOISE)),
        dbcv=np.nan if structure is None else structure.statistic,
        pvalue=np.nan if structure is None else structure.pvalue,
        indices=values,
        stability=stability,
        structure=structure,
        labels=labels,
        external=None if labels_true is None else external_indices(labels_true, labels),
        shown=shown,
        n_samples=X.shape[0],
        n_features=None if of_pairs else X.shape[1],
        clusterer=write_estimator(clusterer),
        warnings=tuple(warnings),
        seed=run["random_state"],
    )


def measure_density(X: Any, labels: np.ndarray) -> float:
    """Return DBCV, or its lowest value if it is undefined, as for a single cluster."""
    if len(np.unique(labels[labels != NOISE])) < 2:
        return -1.0
    with _checks.ignored_warnings(UndefinedMetricWarning):
        value = dbcv_score(X, labels)
    return value if np.isfinite(value) else -1.0


def write_problems(report: ClustererReport) -> list[str]:
    """Return the serious problems of the table in a sentence, if there are any."""
    grave = list_grave(report.warnings)
    return [f"Do not rely on these clusters: {'; '.join(grave)}."] if grave else []


def _write_verdict_as_is(report: OneClusteringReport) -> list[str]:
    """Return the serious problems of the table, and the clusters with their stability."""
    if not report.n_clusters:
        text = "No clusters: all samples are noise. Increase a radius such as `eps`."
        return [*write_problems(report), text]
    text = f"{count(report.n_clusters, 'cluster')} and {100 * report.noise_share:.1f} % noise"
    if report.structure is not None:
        text += f" (P = {write_pvalue(report.pvalue)} for structure)"
        # data without structure may give such clusters as well
        if report.pvalue > LEVEL:
            text = f"No evidence of clusters: {text}"
    # clusters with a high mean Jaccard coefficient over the bootstrap samples
    n_stable = int(np.sum(report.stability.values >= RECOVERED))
    verb = "is" if n_stable == 1 else "are"
    text += f"; {n_stable} of {report.n_clusters} {verb} stable."
    if report.n_clusters == 1:
        text += (
            " Structure was not tested, because the index needs two clusters. To look for clusters "
            "within this one, decrease a radius such as `eps`."
        )
    return [*write_problems(report), text]


def show_labels_as_is(report: OneClusteringReport) -> Section:
    """Return the section on the clusters, their sizes and their stability."""
    stability, shown = report.stability, report.shown
    if stability is None:
        return Section("The clusters", sentences=["All samples are noise."])
    means = zip(stability.values, stability.standard_errors, strict=True)
    texts = [write_with_spread(*mean) for mean in means]
    columns = map(str, stability.labels), map(str, stability.sizes), texts, stability.verdicts
    rows = list(zip(*columns, strict=True))
    # noise, which has no stability
    n_noise = int(np.sum(report.labels == NOISE))
    if n_noise:
        rows.append(("noise", f"{n_noise}", "", ""))
    n_resamples = stability.replicates.shape[1]
    table = Table(
        "The table lists the Jaccard coefficient with the most similar cluster of a bootstrap "
        f"sample, averaged over {n_resamples} samples. A cluster is stable above 0.75.",
        ["cluster", "samples", "Jaccard", "verdict"],
        rows,
        left=(0, 3),
    )
    figures = [] if shown is None else [draw_clusters(shown)]
    return Section("The clusters", figures=figures, tables=[table])


def show_numbers_as_is(report: OneClusteringReport) -> Section:
    """Return the section on the indices of the clustering."""
    values = {"fraction of noise": report.noise_share, "DBCV (larger)": report.dbcv}
    for name, value in report.indices.items():
        up = "larger" if GREATER_IS_BETTER[name] else "smaller"
        values[f"{name_index(name)} ({up})"] = value
    if report.external is not None:
        values["adjusted Rand with classes (larger)"] = report.external["adjusted_rand"]
    rows = [(name, f"{value:.4f}") for name, value in values.items() if np.isfinite(value)]
    caption = (
        "The better direction is in parentheses. Only DBCV and the Rand index take noise into "
        "account."
    )
    return Section("All numbers", tables=[Table(caption, ["", "value"], rows)])


# --- the picture of a clustering


@dataclass(frozen=True, eq=False)
class ShownClusters:
    """Clustering in the plane of the first two principal components.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
        Cluster of each sample.
    components : ndarray of shape (n_samples, 2)
        Coordinates on the first two principal components of X. For one feature the second is 0.
    shares : ndarray of shape (2,)
        Fraction of the variance of X of each component, or nan if X does not vary.
    """

    labels: np.ndarray
    components: np.ndarray
    shares: np.ndarray


N_COMPONENTS = 2


def place_samples(X: Any, labels: np.ndarray | None, seed: int) -> ShownClusters | None:
    """Return a clustering on the first two principal components, or None without two clusters."""
    if labels is None or len(np.unique(labels)) < 2:
        return None
    # principal components, of sparse data without a dense copy unless it is small; one memory
    # layout, because sums in another differ in the last digits
    n_axes, is_wide = min(N_COMPONENTS, X.shape[1]), issparse(X) and X.shape[1] > N_COMPONENTS
    if not is_wide:
        X = np.ascontiguousarray(X.toarray() if issparse(X) else X, dtype=float)
    components, shares = np.zeros((X.shape[0], N_COMPONENTS)), np.zeros(N_COMPONENTS)
    with np.errstate(divide="ignore", invalid="ignore"):  # shares are undefined if nothing varies
        analysis = PCA(n_axes, svd_solver="arpack" if is_wide else "auto", random_state=seed)
        components[:, :n_axes] = analysis.fit_transform(X)
        shares[:n_axes] = analysis.explained_variance_ratio_
    return ShownClusters(labels, components, shares)


def draw_clusters(shown: ShownClusters) -> Figure:
    """Return the figure of the samples in a plane."""
    n_clusters = len(np.unique(shown.labels))
    return Figure(
        partial(draw_map, shown),
        "The figure shows the first two principal components. The number at the mean of "
        "each cluster is its label. Clusters that overlap here may be separated in other "
        "directions.",
        label=f"The samples of {n_clusters} clusters on two principal components.",
    )


BACKGROUND = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}


def draw_map(shown: ShownClusters, ax: Any) -> None:
    """Draw the samples on two principal components, with a marker and number for each cluster.

    Large samples are thinned, because dense points cannot be distinguished.
    """
    # at most MAX_POINTS samples
    step = -(-len(shown.labels) // MAX_POINTS)
    drawn, labels = shown.components[::step], shown.labels[::step]
    for place, label in enumerate(np.unique(shown.labels)):
        style = {"marker": MARKERS[place % len(MARKERS)], "color": f"C{place}"}
        ax.scatter(*drawn[labels == label].T, s=14, alpha=0.6, linewidths=0, **style)
    for label in np.unique(shown.labels):
        center = shown.components[shown.labels == label].mean(axis=0)
        name = "noise" if label == NOISE else str(label)
        ax.text(*center, name, ha="center", va="center", weight="bold", bbox=BACKGROUND)
    for axis, name, share in zip("xy", ("first", "second"), shown.shares, strict=True):
        share_text = f", {100 * share:.0f} % of the variance" if np.isfinite(share) else ""
        ax.set(**{f"{axis}label": f"{name} component{share_text}"})


# --- the reports


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ClustererReport(Report):
    """Report of a clusterer."""

    answer: Any = field(repr=False)
    clusterer: str
    n_features: int | None
    n_clusters: int
    shown: ShownClusters | None = field(repr=False)

    @property
    def title(self) -> str:
        """Heading of the page."""
        return "Clustering report"

    @property
    def facts(self) -> list[str]:
        """The clusterer and the size of the data."""
        columns = "distances" if self.n_features is None else count(self.n_features, "feature")
        return [self.clusterer, f"{self.n_samples} samples, {columns}"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class OneClusteringReport(ClustererReport):
    """Report of a clustering without a number of clusters."""

    SECTIONS = (show_labels_as_is, show_numbers_as_is)
    MAIN_TABLE = "rows", "cluster"

    noise_share: float
    dbcv: float
    pvalue: float
    indices: dict[str, float]
    stability: Any = field(repr=False)
    structure: Any
    external: Any
    labels: np.ndarray = field(repr=False)

    _write_verdict = _write_verdict_as_is

    def _list_rows(self) -> list[dict[str, Any]]:
        if self.stability is None:
            return []
        return list(self.stability.to_frame().reset_index().to_dict("records"))

    @property
    def predictions(self) -> DataFrame:
        """The cluster of each sample as a data frame. Requires pandas."""
        return make_frame({"cluster": self.labels})

    def plot(self, ax: Any = None) -> Any:
        """Draw the stability of each cluster. Requires matplotlib."""
        return self.stability.plot(ax)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ClusteringReport(ClustererReport):
    """Report of a clusterer at several numbers of clusters."""

    SECTIONS = (show_clusters, show_rules, show_numbers)
    MAIN_TABLE = "rows", "n_clusters"

    choices: Mapping[str, NClustersChoice]
    choice: NClustersChoice = field(repr=False)
    metrics: ClusteringComparison = field(repr=False)
    comparison: ClusteringComparison = field(repr=False)
    stability: NClustersChoice = field(repr=False)
    external: tuple[Any, ...] | None = field(repr=False)
    partitions: dict[int, np.ndarray] = field(repr=False)

    def _write_verdict(self) -> list[str]:
        return [*write_problems(self), write_choice(self.choices)]

    def _list_rows(self) -> list[dict[str, Any]]:
        comparison, choice, stability = self.comparison, self.choice, self.stability
        columns: dict[str, Any] = {
            "n_clusters": stability.candidates,
            "n_found": comparison.n_clusters,
        }
        columns |= zip(comparison.indices, comparison.values.T, strict=True)
        # the stability, and that of data without structure
        columns |= {
            PREDICTION_STRENGTH: stability.values,
            f"{PREDICTION_STRENGTH}_standard_error": stability.standard_errors,
            f"{PREDICTION_STRENGTH}_reference": stability.reference_values,
            f"{PREDICTION_STRENGTH}_reference_standard_error": stability.reference_standard_errors,
            f"{PREDICTION_STRENGTH}_limit": stability.limits,
            "silhouette_reference": choice.reference_values,
            "silhouette_limit": choice.limits,
            "front": comparison.front,
            "chosen": stability.candidates == self.n_clusters,
        }
        cells = zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
        rows = [dict(zip(columns, row, strict=True)) for row in cells]
        # the agreement with known classes, if they were passed
        for row, indices in zip(rows, self.external or (), strict=False):
            row["external"] = indices.to_dict()
        return rows

    @property
    def predictions(self) -> DataFrame:
        """A column of labels for each number of clusters as a data frame. Requires pandas."""
        return make_frame({f"k = {k}": labels for k, labels in self.partitions.items()})

    def plot(self, ax: Any = None) -> StabilityDisplay:
        """Draw the stability of each number of clusters. Requires matplotlib."""
        return StabilityDisplay.from_result(self.stability, ax=ax)
