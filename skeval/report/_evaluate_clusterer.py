"""Evaluation of a clusterer at several numbers of clusters, and its report.

Read from top to bottom: the public function, the warnings and the verdict, the sections, and the
clustering that a page draws.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from skeval._resampling.progress import begin_step
from skeval.cluster import (
    ClusteringComparison,
    NClustersChoice,
    StabilityDisplay,
    choose_n_clusters,
    compare_clusterings,
)
from skeval.cluster._choose import GAP, SEQUENTIAL, SILHOUETTE, check_candidates, resolve_parameter
from skeval.cluster._references import REFERENCES, resolve_reference
from skeval.cluster._stability import (
    PREDICTION_STRENGTH,
    SMALLEST,
    check_points,
    fit_labels,
    seed_clusterer,
    takes_pairs,
)
from skeval.metrics.cluster import external_indices
from skeval.report._data_checks import warn_of_points
from skeval.report._one_clustering import (
    N_NEIGHBORS,
    ORIENTATION,
    ClustererReport,
    draw_clusters,
    evaluate_as_is,
    has_number,
    place_samples,
    write_problems,
)
from skeval.report._page import Figure, Section, Table
from skeval.report._report import Report, recorded, write_estimator
from skeval.utils import _checks
from skeval.utils._checks import RandomStateLike, StructureReference
from skeval.utils._text import DataFrame, count, make_frame, write_pvalue, write_with_spread

HALVES = (PREDICTION_STRENGTH, "adjusted_rand", SILHOUETTE)
"""Rules based on halves of the data, whose agreement is in the verdict."""

INDICES = ("silhouette", "dunn", "davies_bouldin_pairwise", "calinski_harabasz", "connectivity")
MAX_CLUSTERS = 8


@recorded
def evaluate_clusterer(
    clusterer: Any,
    X: Any,
    *,
    n_clusters: Iterable[int] | None = None,
    labels_true: Any = None,
    indices: Sequence[str] = INDICES,
    reference: StructureReference = "auto",
    n_repeats: int = 10,
    param_name: str | None = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
) -> Report:
    """Evaluate a clusterer at several numbers of clusters, or one clustering without this number.

    The report chooses the number of clusters by sequential tests, and compares the choice with the
    other rules of `choose_n_clusters`. It has internal indices of the clustering of all samples and
    their Pareto front, the stability between random halves, agreement with known classes if there
    are any, and warnings if the choice should not be taken at face value.

    A clusterer without a number of clusters, such as DBSCAN and HDBSCAN, or of precomputed
    distances, is evaluated as it is: number of clusters, share of noise, DBCV, internal indices of
    the samples in clusters, the stability of each cluster in ``10 * n_repeats`` bootstrap samples,
    agreement between halves, and a test of DBCV against data without structure. Data with fewer
    than two clusters count as the lowest DBCV, -1. Distances have no DBCV, halves and test, which
    need points.

    Parameters
    ----------
    clusterer : estimator
        Clusterer, or pipeline, with `fit_predict`. A parameter for the number of clusters is not
        used if it is None.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features) or \
            (n_samples, n_samples)
        The data. Indices and nearest neighbors use Euclidean distances in X, so scale X
        beforehand. Distances of a clusterer with ``metric="precomputed"``.
    n_clusters : iterable of int, default=None
        Candidates, from 2 to half the number of samples. None means 2 to 8, within this limit. It
        must be None without a number of clusters.
    labels_true : array-like of shape (n_samples,), default=None
        Known classes, for comparison only: neither the clusterings nor the choice use them.
    indices : sequence of str, default=("silhouette", "dunn", "davies_bouldin_pairwise", \
            "calinski_harabasz", "connectivity")
        Internal indices, as in `compare_clusterings`. Sparse X has no Calinski-Harabasz index.
    reference : {"auto", "uniform", "box", "permuted", "unimodal"}, default="auto"
        Data without structure to compare halves and the gap with, as in `choose_n_clusters`.
    n_repeats : int, default=10
        Number of random halvings, at least 2.
    param_name : str, default=None
        Parameter of the clusterer for the number of clusters; None detects it in the last step.
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

    >>> from sklearn.cluster import DBSCAN
    >>> report = evaluate_clusterer(DBSCAN(eps=1.2), X, random_state=0)
    >>> report.n_clusters, round(report.noise_share, 2), round(report.dbcv, 2)
    (3, 0.08, 0.77)
    """
    # validate the arguments
    if isinstance(clusterer, Mapping):
        raise TypeError(
            f"clusterer must be one clusterer, got a {type(clusterer).__name__}. Evaluate each "
            "with the same random_state, so that all are clustered on the same halves."
        )
    _checks.check_methods("clusterer", clusterer, "fit_predict", "get_params", "set_params")
    _checks.check_option("reference", reference, REFERENCES)
    _checks.check_same_length(X=X, labels_true=labels_true)
    seed = _checks.small_seed(random_state)
    run: dict[str, Any] = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory}
    if param_name is None and (takes_pairs(clusterer) or not has_number(clusterer)):
        if n_clusters is not None:
            raise ValueError(
                "n_clusters must be None for a clusterer without a number of clusters or of "
                f"precomputed distances, got {n_clusters!r}."
            )
        return evaluate_as_is(clusterer, X, labels_true, indices, reference, n_repeats, seed, run)
    table_warnings = warn_of_points(X, getattr(X, "columns", None))
    X = check_points(clusterer, X)
    candidates = _check_range(n_clusters, X.shape[0])
    _checks.check_jobs(n_jobs, verbose)
    # cluster all samples, and compare the clusterings
    begin_step("clusterings", verbose)
    name, partitions = resolve_parameter(clusterer, param_name), {}
    for k in candidates.tolist():
        copy = seed_clusterer(clone(clusterer).set_params(**{name: k}), np.random.default_rng(seed))
        partitions[k] = fit_labels(copy, X)
    begin_step("indices", verbose)
    comparison = compare_clusterings(
        X,
        {f"k = {k}": labels for k, labels in partitions.items()},
        indices=indices,
        n_neighbors=min(N_NEIGHBORS, X.shape[0] - 1),
        n_jobs=n_jobs,
    )
    # agreement with known classes
    external = None
    if labels_true is not None:
        external = tuple(external_indices(labels_true, labels) for labels in partitions.values())
    # choose the number by all rules
    begin_step("number of clusters", verbose)
    methods = [SEQUENTIAL, *HALVES]
    if resolve_reference(X, reference)[0] != "permuted":  # permuted columns keep ties
        methods.append(GAP)
    choices: Any = choose_n_clusters(  # a mapping, because there are several methods
        clusterer,
        X,
        n_clusters=candidates.tolist(),
        method=methods,
        reference=reference,
        n_repeats=n_repeats,
        param_name=param_name,
        random_state=seed,
        **run,
    )
    # the report
    choice = choices[SEQUENTIAL]
    warned = write_warnings(comparison, choice, X.shape[0])
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


MAX_SIZES = 12


# --- warnings and verdict


def write_warnings(
    comparison: ClusteringComparison, choice: NClustersChoice, n_samples: int
) -> list[str]:
    """Return the warnings about the choice of the number of clusters."""
    # clusters that are missing, or too small in halves
    tried, chosen = choice.candidates, np.flatnonzero(choice.candidates == choice.n_clusters)
    sentences = [
        f"Fewer clusters: the algorithm returned {n} clusters instead of {k}; ignore k = {k}."
        for k, n in zip(tried, comparison.n_clusters, strict=True)
        if k != n
    ]
    above = tried[tried * SMALLEST > n_samples // 2]
    if above.size:
        sentences.append(
            f"Too few samples for large k: halves of {n_samples // 2} samples cannot contain "
            f"{above[0]} or more clusters with at least {SMALLEST} samples each, so their "
            "stability is unknown. Do not choose such a k from these data."
        )
    # the choice at the end of the range, or dominated by another
    if not len(chosen):
        return sentences
    row = chosen[0]
    if len(tried) > 1 and row == len(tried) - 1:
        sentences.append(
            f"Largest k chosen: {tried[row]} is the largest number of clusters tried. Try larger "
            "ones, which may be as good."
        )
    better = tried[comparison.dominates[:, row]]
    if len(better):
        names = " and ".join(map(str, better))
        sentences.append(
            f"Internal indices disagree: k = {names} is better than the choice, k = {tried[row]}, "
            "on the internal indices. Compare both clusterings before you use one."
        )
    return sentences


def write_choice(choices: Mapping[str, NClustersChoice]) -> str:
    """Return the choice, its P-value and the agreement of the other rules in one sentence.

    The gap statistic does not count if it still increases at the largest candidate.
    """
    choice = choices[SEQUENTIAL]
    # rules that agree with the choice, and others
    decided = [one for one in choices.values() if one is not choice and not one.gap_increases]
    others = [other.n_clusters for other in decided]
    deviating = sorted({k for k in others if k != choice.n_clusters})
    n_agree = sum(k == choice.n_clusters for k in others)
    is_clear = 2 * n_agree >= len(others) and not choice.edge
    if choice.n_clusters > 1:
        text = count(choice.n_clusters, "cluster")
        text = text if is_clear else f"Probably {text}"
        if others and not n_agree:
            text = f"Undecided: {count(choice.n_clusters, 'cluster')} by the sequential tests"
    else:
        text = "No evidence of clusters" if is_clear else "No clear evidence of clusters"
    if choice.edge:
        text += ", a narrow decision"
    text += f" (P = {write_pvalue(choice.pvalue)} for structure); "
    span = " or ".join(map(str, deviating))
    if len(deviating) > 2:
        span = f"{deviating[0]} to {deviating[-1]}"
    if not n_agree and others:
        return f"{text}all {len(others)} other rules choose {span}."
    verb = "agrees" if n_agree == 1 else "agree"
    text += f"{n_agree} of {len(others)} other rules {verb}"
    if deviating:
        text += f", the rest choose {span}"
    return f"{text}."


def _write_evidence(choice: NClustersChoice) -> str:
    """Return the P-values of the sequential tests, or the value and limit of another rule."""
    if choice.method == SEQUENTIAL:
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
    """Return the section of the samples in their clusters, if there are at least two."""
    # the sizes of all clusterings
    rows = []
    for k, labels in report.partitions.items():
        sizes = np.sort(np.unique(labels, return_counts=True)[1])[::-1].tolist()
        more = f" and {len(sizes) - MAX_SIZES} more" if len(sizes) > MAX_SIZES else ""
        rows.append((str(k), ", ".join(map(str, sizes[:MAX_SIZES])) + more))
    table = Table(
        "Samples in each cluster, the largest first.",
        ["k", "sizes"],
        rows,
        quoted={str(report.n_clusters)},
        beside=True,
        n_in_text=0,
    )
    if report.shown is None:
        return Section("The clusters", tables=[table])
    caption = f"Shown: k = {report.n_clusters}, the chosen number."
    figures = [draw_clusters(report.shown)]
    return Section("The clusters", explains=[caption], figures=figures, tables=[table])


def show_rules(report: ClusteringReport) -> Section:
    """Return the section of the number of clusters by each rule."""
    rows = [
        (RULE_NAMES[name], str(choice.n_clusters), _write_evidence(choice))
        for name, choice in report.choices.items()
    ]
    table = Table("Number of clusters by each rule.", ["rule", "k", "evidence"], rows, left=(2,))
    figure = Figure(
        report.plot,
        f"The data were split into random halves {report.stability.replicates.shape[1]} "
        "times; both halves were clustered, and the clusters of one half predicted from "
        "the other. 1 is perfect agreement. Gray: data without structure, and the limit "
        "of the rule.",
        label="Stability by number of clusters; see the table.",
        height=3.2,
    )
    notes = [
        f"{RULE_NAMES[name][0].upper()}{RULE_NAMES[name][1:]}: {note}"
        for name, choice in report.choices.items()
        for note in choice.notes
    ]
    return Section(
        "How many clusters?", sentences=notes, explains=[PRESUMES], figures=[figure], tables=[table]
    )


def show_numbers(report: ClusteringReport) -> Section:
    """Return the section of all numbers of clusters, one row for each.

    A column has a header of up to three lines, and its cells.
    """
    stability, comparison = report.stability, report.comparison
    columns: list[tuple[tuple[str, ...], list[str]]] = [(("k",), list(map(str, report.partitions)))]
    for name, up, values in zip(
        comparison.indices, comparison.greater_is_better, comparison.values.T, strict=True
    ):
        first, _, last = name.partition("_")
        head = first, last.replace("_", " "), "larger" if up else "smaller"
        columns.append((tuple(filter(None, head)), _write_alike(values)))
    # stability, and the evidence of data without structure
    means = zip(stability.values, stability.standard_errors, strict=True)
    reference, single = stability.reference_values, report.choice.reference_values
    columns += [
        (("prediction", "strength", "larger"), [write_with_spread(*mean) for mean in means]),
        (("the same", "without", "structure"), [f"{value:.3f}" for value in reference]),
        (("silhouette", "of a single", "cluster"), [f"{value:.4f}" for value in single]),
        (("Pareto", "front"), ["yes" if this else "no" for this in comparison.front]),
    ]
    if report.external is not None:
        rand = np.array([indices["adjusted_rand"] for indices in report.external])
        columns.append((("adjusted", "Rand with", "classes"), _write_alike(rand)))
    chosen = ["chosen" if k == report.n_clusters else "" for k in report.partitions]
    heads, cells = zip(*columns, (("choice",), chosen), strict=True)
    table = Table(
        "The better direction is below each name; k is the number of clusters.",
        ["\n".join(head) for head in heads],
        list(zip(*cells, strict=True)),
        quoted={str(report.n_clusters)},
        left=(len(heads) - 1,),
    )
    sentences = [FRONT] if report.external is None else [FRONT, ORIENTATION]
    return Section("All numbers", sentences=sentences, tables=[table])


def show_indices(report: ClusteringReport) -> Section:
    """Return the section of the indices by number of clusters, one panel each."""
    n_panels = len(report.comparison.indices)
    figure = Figure(
        report.comparison.plot,
        "Internal indices of the clustering of all samples.",
        label=f"{n_panels} internal indices against the number of clusters, as in the table.",
        height=0.5 + 1.45 * n_panels,
        n_panels=n_panels,
    )
    return Section("Internal indices", figures=[figure])


def _write_alike(values: np.ndarray) -> list[str]:
    """Return numbers with four digits for the largest."""
    sizes = np.abs(values[np.isfinite(values)])
    figures = int(np.floor(np.log10(sizes.max()))) if sizes.any() else 0
    form = ".3e" if figures > 6 else f".{min(max(3 - figures, 0), 4)}f"
    return [f"{value:{form}}" for value in values]


FRONT = "Pareto front: no other k is at least as good on every index to its left and better on one."
PRESUMES = (
    "The choice assumes clusters of the shape that the algorithm looks for (k-means and Ward: "
    "round ones) and splits others. Agreement between halves alone is not evidence of "
    "clusters, so each k is compared with the same algorithm on data without structure. The "
    "sequential tests decide; the other rules are listed for comparison."
)
RULE_NAMES = {
    SEQUENTIAL: "sequential tests",
    PREDICTION_STRENGTH: "prediction strength",
    "adjusted_rand": "adjusted Rand of halves",
    "silhouette": "silhouette of halves",
    "gap": "gap statistic",
}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ClusteringReport(ClustererReport):
    """Report of a clusterer at several numbers of clusters."""

    SECTIONS = (show_clusters, show_rules, show_numbers, show_indices)
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
        columns |= {
            PREDICTION_STRENGTH: stability.values,
            "standard_error": stability.standard_errors,
            "reference": stability.reference_values,
            "reference_standard_error": stability.reference_standard_errors,
            "limit": stability.limits,
            "silhouette_reference": choice.reference_values,
            "silhouette_limit": choice.limits,
            "front": comparison.front,
            "chosen": stability.candidates == self.n_clusters,
        }
        cells = zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
        rows = [dict(zip(columns, row, strict=True)) for row in cells]
        for row, indices in zip(rows, self.external or (), strict=False):
            row["external"] = indices.to_dict()
        return rows

    @property
    def predictions(self) -> DataFrame:
        """A column of labels for each number of clusters as a data frame; requires pandas."""
        return make_frame({f"k = {k}": labels for k, labels in self.partitions.items()})

    def plot(self, ax: Any = None) -> StabilityDisplay:
        """Draw the stability of each number of clusters; requires matplotlib."""
        return StabilityDisplay.from_result(self.stability, ax=ax)
