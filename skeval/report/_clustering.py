"""Report of one clusterer over a range of numbers of clusters.

Its sections, their sentences, and the clustering that is plotted on a page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from textwrap import shorten
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.decomposition import PCA

from skeval.cluster import ClusteringComparison, NClustersChoice, ParetoDisplay, StabilityDisplay
from skeval.cluster._n_clusters_choice import SEQUENTIAL
from skeval.cluster._stability import PREDICTION_STRENGTH, SMALLEST
from skeval.metrics.cluster import silhouette_samples
from skeval.report._drawings import draw_map, draw_silhouettes
from skeval.report._report import Layout
from skeval.report._sections import Figure, Section, Table, list_grave
from skeval.utils._text import DataFrame, count, make_frame, write_pvalue, write_with_spread

MAX_SIZES = 12
MAX_FACT = 300  # characters


def write_warnings(
    comparison: ClusteringComparison,
    choice: NClustersChoice,
    stability: NClustersChoice,
    n_samples: int,
) -> list[str]:
    """Return the warnings about the choice of the number of clusters."""
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
    sentences += _write_unstable(stability)
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


def _write_unstable(stability: NClustersChoice) -> list[str]:
    """Return sentences about values above the threshold but below the limit from the reference."""
    if stability.method != PREDICTION_STRENGTH:
        return []
    return [
        f"Not stable enough: at k = {stability.candidates[row]} the prediction strength is "
        f"{stability.values[row]:.2f}, but {stability.limits[row]:.2f} is required, because data "
        f"without structure reach {stability.reference_values[row]:.2f}."
        for row in np.flatnonzero(
            (stability.values >= stability.threshold) & (stability.values < stability.limits)
        )
    ]


def _write_verdict(report: Any) -> list[str]:
    """Return the serious problems of the table, and the choice with the rules that agree."""
    grave = list_grave(report.warnings)
    start = [f"Do not rely on these clusters: {'; '.join(grave)}."] if grave else []
    return [*start, write_choice(report.choices)]


def _write_facts(report: Any) -> list[str]:
    """Return the clusterer and the size of the data."""
    clusterer = shorten(report.clusterer, MAX_FACT, placeholder=" …")
    return [clusterer, f"{report.n_samples} samples, {report.n_features} features"]


def _name_stability(report: Any) -> str:
    """Return the name of the agreement of halves."""
    method: str = report.stability.method
    return method


def _count_clusters(report: Any) -> dict[str, int]:
    """Return the number of clusters by each rule."""
    return {name: choice.n_clusters for name, choice in report.choices.items()}


def _plot(report: Any, ax: Any) -> StabilityDisplay:
    """Draw the stability of each number of clusters."""
    return StabilityDisplay.from_result(report.stability, ax=ax)


def _frame_partitions(report: Any) -> DataFrame:
    """Return a column of labels for each number of clusters."""
    return make_frame({f"k = {k}": labels for k, labels in report.partitions.items()})


def _refuse_methods(report: Any) -> Any:
    """Raise: clusterings have no methods paragraph."""
    raise TypeError("a clustering report has no predictions that were scored.")


def show_clusters(report: Any) -> Section:
    """Return the section of the samples in their clusters, if there are at least two."""
    shown, heading, tables = report.shown, "The clusters", [tabulate_sizes(report)]
    if shown is None:
        return Section(heading, tables=tables)
    figures = [
        Figure(
            partial(draw_map, shown),
            "Samples on the first two principal components; each cluster has its number "
            "at its mean. Clusters that overlap here may be separated in other "
            "directions.",
            label=f"The samples of {shown.n_clusters} clusters on two principal components.",
        ),
        Figure(
            partial(draw_silhouettes, shown),
            "Silhouette of each sample: near 1 if its own cluster is much nearer than "
            "any other, below 0 if another cluster is nearer.",
            label=f"Silhouettes of the samples of {shown.n_clusters} clusters.",
        ),
    ]
    chosen = shown.n_clusters == report.n_clusters
    what = "the chosen number" if chosen else "the largest silhouette; no number was chosen"
    caption = f"Shown: k = {shown.n_clusters}, {what}."
    return Section(heading, explains=[caption], figures=figures, tables=tables)


def tabulate_sizes(report: Any) -> Table:
    """Return the cluster sizes for each number of clusters."""
    rows = []
    for k, labels in report.partitions.items():
        sizes = np.sort(np.unique(labels, return_counts=True)[1])[::-1].tolist()
        more = f" and {len(sizes) - MAX_SIZES} more" if len(sizes) > MAX_SIZES else ""
        rows.append((str(k), ", ".join(map(str, sizes[:MAX_SIZES])) + more))
    return Table(
        "Samples in each cluster, the largest first.",
        ["k", "sizes"],
        rows,
        quoted={str(report.n_clusters)},
        beside=True,
        n_in_text=0,
    )


def show_rules(report: Any) -> Section:
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
        f"{RULE_NAMES[name]}: {note}"
        for name, choice in report.choices.items()
        for note in choice.notes
    ]
    return Section(
        "How many clusters?", sentences=notes, explains=[PRESUMES], figures=[figure], tables=[table]
    )


def tabulate_numbers(report: Any) -> Table:
    """Return the table of all numbers, one row per number of clusters."""
    columns = list(make_columns(report))
    chosen = report.choice.candidates == report.n_clusters
    columns.append((("", "", "choice"), ["chosen" if this else "" for this in chosen]))
    heads, cells = zip(*columns, strict=True)
    return Table(
        "The better direction is below each name; k is the number of clusters.",
        ["\n".join(filter(None, head)) for head in heads],
        list(zip(*cells, strict=True)),
        quoted={str(report.n_clusters)},
        left=(len(columns) - 1,),
    )


def make_columns(report: Any) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Yield the header of each column, in up to three lines, and its cells."""
    stability, comparison = report.stability, report.comparison
    yield ("k",), [str(k) for k in stability.candidates]
    for place, name in enumerate(comparison.indices):
        first, _, last = name.partition("_")
        up = "larger" if comparison.greater_is_better[place] else "smaller"
        yield (first, last.replace("_", " "), up), _write_alike(comparison.values[:, place])
    means = zip(stability.values, stability.standard_errors, strict=True)
    yield (*MEASURES[stability.method], "larger"), [write_with_spread(*mean) for mean in means]
    reference = [f"{value:.3f}" for value in stability.reference_values]
    yield ("the same", "without", "structure"), reference
    single = [f"{value:.4f}" for value in report.choice.reference_values]
    yield ("silhouette", "of a single", "cluster"), single
    yield ("Pareto", "front"), ["yes" if this else "no" for this in comparison.front]
    if report.external is not None:
        values = np.array([indices["adjusted_rand"] for indices in report.external])
        yield ("adjusted", "Rand with", "classes"), _write_alike(values)


def show_indices(report: Any) -> Section:
    """Return the section of the indices by number of clusters, and of the first two."""
    comparison = report.comparison
    n_panels = len(comparison.indices)
    figures = [
        Figure(
            comparison.plot,
            "Internal indices of the clustering of all samples.",
            label=f"{n_panels} internal indices against the number of clusters, as in the table.",
            height=0.5 + 1.45 * n_panels,
            n_panels=n_panels,
        )
    ]
    if n_panels > 1:
        first, second = (name.replace("_", " ") for name in comparison.indices[:2])
        figures.append(
            Figure(
                partial(ParetoDisplay.from_result, comparison),
                f"{first.capitalize()} against {second}; the front is that of these two "
                "indices alone.",
                label=f"Each number of clusters by {first} and {second}.",
                height=3.4,
            )
        )
    return Section("Internal indices", figures=figures)


def list_rows(report: Any) -> list[dict[str, Any]]:
    """Return one row per number of clusters, as plain Python objects.

    Returns
    -------
    list of dict
        Requested and actual number of clusters, internal indices, stability of the data and of
        data without structure with standard errors and the limit of its rule, mean silhouette
        of data from a single cluster and the limit of the test, whether the row is on the
        Pareto front and whether it is the choice, and with known classes the external indices.
    """
    comparison, choice, stability = report.comparison, report.choice, report.stability
    rows = []
    for row, k in enumerate(stability.candidates.tolist()):
        cells = {
            "n_clusters": k,
            "n_found": int(comparison.n_clusters[row]),
            **dict(zip(comparison.indices, comparison.values[row].tolist(), strict=True)),
            stability.method: float(stability.values[row]),
            "standard_error": float(stability.standard_errors[row]),
            "reference": float(stability.reference_values[row]),
            "reference_standard_error": float(stability.reference_standard_errors[row]),
            "limit": float(stability.limits[row]),
            "silhouette_reference": float(choice.reference_values[row]),
            "silhouette_limit": float(choice.limits[row]),
            "front": bool(comparison.front[row]),
            "chosen": k == report.n_clusters,
        }
        if report.external is not None:
            cells["external"] = report.external[row].to_dict()
        rows.append(cells)
    return rows


def show_numbers(report: Any) -> Section:
    """Return the section of all numbers of clusters."""
    sentences = [FRONT] if report.external is None else [FRONT, ORIENTATION]
    return Section("All numbers", sentences=sentences, tables=[tabulate_numbers(report)])


def _write_alike(values: np.ndarray) -> list[str]:
    """Return numbers with four digits for the largest."""
    sizes = np.abs(values[np.isfinite(values)])
    figures = int(np.floor(np.log10(sizes.max()))) if sizes.any() else 0
    form = ".3e" if figures > 6 else f".{min(max(3 - figures, 0), 4)}f"
    return [f"{value:{form}}" for value in values]


ORIENTATION = (
    "The adjusted Rand index with the known classes is for orientation only: the choice does not "
    "use them."
)
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
    "matched_accuracy": "matched accuracy of halves",
    "silhouette": "silhouette of halves",
    "gap": "gap statistic",
}


def write_choice(choices: Mapping[str, NClustersChoice]) -> str:
    """Return the choice, its P-value and the agreement of the other rules in one sentence.

    The gap statistic does not count if it still increases at the largest candidate.
    """
    choice = choices[SEQUENTIAL]
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


MEASURES = {
    "prediction_strength": ("prediction", "strength"),
    "adjusted_rand": ("adjusted Rand", "of halves"),
    "matched_accuracy": ("matched accuracy", "of halves"),
}
"""The stability measure, in words on two lines."""


N_COMPONENTS = 2


def find_shown(choice: NClustersChoice) -> int:
    """Return the chosen k or, if it is 1, the k with the largest silhouette."""
    if choice.n_clusters > 1:
        return choice.n_clusters
    return int(choice.candidates[np.argmax(choice.values)])


def find_clustering(
    X: Any,
    partitions: Mapping[int, np.ndarray],
    choice: NClustersChoice,
    seed: int,
    n_jobs: int | None,
) -> ShownClusters | None:
    """Return the clustering to show; None if the algorithm found one cluster only."""
    shown = find_shown(choice)
    labels = partitions[shown]
    if len(np.unique(labels)) < 2:
        return None
    # one memory layout, because sums in another differ in the last digits
    points = X if issparse(X) else np.ascontiguousarray(X, dtype=float)
    silhouettes = silhouette_samples(points, labels, noise="cluster", n_jobs=n_jobs)
    components, shares = _project(points, seed)
    return ShownClusters(shown, labels, components, shares, silhouettes)


def _project(points: Any, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return coordinates on the first two principal components, and their shares of variance."""
    n_axes = min(N_COMPONENTS, points.shape[1])
    solver = "auto"
    if issparse(points):
        if points.shape[1] > N_COMPONENTS:
            solver = "arpack"  # needs no dense copy
        else:
            points = points.toarray()
    components, shares = np.zeros((points.shape[0], N_COMPONENTS)), np.zeros(N_COMPONENTS)
    with np.errstate(divide="ignore", invalid="ignore"):  # shares are undefined if nothing varies
        analysis = PCA(n_axes, svd_solver=solver, random_state=seed)
        components[:, :n_axes] = analysis.fit_transform(points)
        shares[:n_axes] = analysis.explained_variance_ratio_
    return components, shares


@dataclass(frozen=True, eq=False)
class ShownClusters:
    """Clustering in the plane of the first two principal components.

    Attributes
    ----------
    n_clusters : int
        Requested number of clusters: the choice, or the most stable one if none was chosen.
    labels : ndarray of shape (n_samples,)
        Cluster of each sample.
    components : ndarray of shape (n_samples, 2)
        Coordinates on the first two principal components of X; for one feature the second is 0.
    shares : ndarray of shape (2,)
        Their shares of the variance of X; nan if nothing varies.
    silhouettes : ndarray of shape (n_samples,)
        Silhouette of each sample.
    """

    n_clusters: int
    labels: np.ndarray
    components: np.ndarray
    shares: np.ndarray
    silhouettes: np.ndarray


CLUSTERING = Layout(
    title="Clustering report",
    verdict=_write_verdict,
    facts=_write_facts,
    sections=(show_clusters, show_rules, show_numbers, show_indices),
    about=(
        "clusterer", "n_samples", "n_features", "n_clusters", "rule", "pvalue", "pvalue_more",
        "choices", "stability", "threshold", "reference", "n_repeats",
    ),
    records=("rows",),
    computed={"choices": _count_clusters, "stability": _name_stability, "rows": list_rows},
    main_part="rows",
    row_name="n_clusters",
    plot=_plot,
    predictions=_frame_partitions,
    methods=_refuse_methods,
)  # fmt: skip
