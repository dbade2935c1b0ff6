"""Every view of one clusterer over a range of numbers of clusters: the report of it.

Section by section, with its sentences and the one clustering that a page shows sample by sample.
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

from skeval._inference.estimate import Results
from skeval.cluster import ClusteringComparison, NClustersChoice, ParetoDisplay, StabilityDisplay
from skeval.cluster._stability import PREDICTION_STRENGTH, SMALLEST
from skeval.metrics.cluster import silhouette_samples
from skeval.report._sections import Figure, Report, Section, Table
from skeval.utils._text import DataFrame, make_frame, write_with_spread

__all__ = [
    "MARKERS",
    "MEASURES",
    "ORIENTATION",
    "ClusteringReport",
    "show_clusters",
    "write_warnings",
]

MOST_SIZES = 12
LONGEST_FACT = 300


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


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ClusteringReport(Report):
    """A clusterer at several numbers of clusters.

    It has the `warnings`, the `seed`, the `settings`, the `versions`, the `call` and the `date` of
    every report.

    Attributes
    ----------
    comparison : ClusteringComparison
        Internal indices of the clustering of all samples by each number of clusters, and the
        Pareto front over these indices.
    stability : NClustersChoice
        How well random halves predict each other's clusters, and the choice by that rule.
    external : tuple of dict of str to float, or None
        Agreement of each clustering with known classes; None without such classes.
    partitions : dict of int to ndarray of shape (n_samples,)
        The labels of all samples by number of clusters.
    shown : ShownClusters or None
        What a page draws of the samples: the clustering of the choice, or the most stable one,
        along two principal components, with the silhouettes; None where it has one cluster.
    n_samples, n_features : int
        Size of the data.
    clusterer : str
        The clusterer, as source text.
    """

    comparison: ClusteringComparison
    stability: NClustersChoice
    external: tuple[Results, ...] | None
    partitions: dict[int, np.ndarray]
    shown: ShownClusters | None
    n_samples: int
    n_features: int
    clusterer: str

    title, before = "Clustering report", "Before you quote the choice"
    main_part, row_name = "rows", "n_clusters"
    told = ("clusterer", "n_samples", "n_features", "n_clusters")

    @property
    def n_clusters(self) -> int:
        """The choice; 1 where no number of clusters is stable enough."""
        return self.stability.n_clusters

    @property
    def verdict(self) -> str:
        """The choice, with the rule that made it, and what is to be said against it."""
        return write_choice(self.stability)

    @property
    def facts(self) -> list[str]:
        """The clusterer and the size of the data."""
        clusterer = shorten(self.clusterer, LONGEST_FACT, placeholder=" …")
        return [clusterer, f"{self.n_samples} samples, {self.n_features} features"]

    @property
    def about(self) -> dict[str, Any]:
        """What `to_dict` has before the results of the sections."""
        rule = {name: getattr(self.stability, name) for name in ("rule", "threshold", "reference")}
        n_repeats = self.stability.replicates.shape[1]
        return super().about | rule | {"stability": self.stability.method, "n_repeats": n_repeats}

    def _make_sections(self) -> Iterator[Section]:
        """Yield the samples, the stability, all numbers and the indices."""
        yield self._show_samples()
        yield self._show_stability()
        yield self._show_numbers()
        yield self._show_indices()

    def _show_samples(self) -> Section:
        """Show the samples in their clusters, where there are two clusters to tell apart."""
        shown, heading, tables = self.shown, "What the clusters look like", [self._tabulate_sizes()]
        if shown is None:
            return Section(heading, tables=tables)
        figures = [
            Figure(
                partial(draw_map, shown),
                "The samples along the two directions in which they vary most, each cluster with "
                "its number at its mean. What overlaps here may be apart along other directions.",
                label=f"The samples of {shown.n_clusters} clusters on two principal components.",
                height=3.6,
            ),
            Figure(
                partial(draw_silhouettes, shown),
                "The silhouette of each sample: near 1 where its own cluster is much nearer than "
                "any other, below 0 where another one is nearer.",
                label=f"Silhouettes of the samples of {shown.n_clusters} clusters.",
                height=3.6,
            ),
        ]
        chosen = shown.n_clusters == self.n_clusters
        what = "the choice" if chosen else "no choice, the most stable k"
        told = f"Shown is k = {shown.n_clusters}, {what}."
        return Section(heading, explains=[told], figures=figures, tables=tables)

    def _tabulate_sizes(self) -> Table:
        """Return the sizes of the clusters for each number of them."""
        rows = []
        for k, labels in self.partitions.items():
            sizes = np.sort(np.unique(labels, return_counts=True)[1])[::-1].tolist()
            more = f" and {len(sizes) - MOST_SIZES} more" if len(sizes) > MOST_SIZES else ""
            rows.append((str(k), ", ".join(map(str, sizes[:MOST_SIZES])) + more))
        return Table(
            "Samples in each cluster, the largest first.",
            ["k", "sizes"],
            rows,
            quoted={str(self.n_clusters)},
            beside=True,
            n_in_text=0,
        )

    def plot(self, ax: Any = None) -> StabilityDisplay:
        """Draw the stability of each number of clusters; requires matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        StabilityDisplay
        """
        return StabilityDisplay.from_result(self.stability, ax=ax)

    def _show_stability(self) -> Section:
        """Show how well halves of the data predict each other's clusters."""
        figure = Figure(
            self.plot,
            f"Each of {self.stability.replicates.shape[1]} times the data were halved at random, "
            "both halves clustered, and the clusters of one predicted from the other; 1 is "
            "perfect agreement. In grey the same of data without structure, and what the rule "
            "asks for.",
            label="Stability against the number of clusters; the table holds the numbers.",
            height=3.2,
        )
        heading = "How stable is each number of clusters?"
        return Section(heading, sentences=[PRESUMES], figures=[figure])

    def _show_numbers(self) -> Section:
        """Show all numbers as a table."""
        sentences = [FRONT] if self.external is None else [FRONT, ORIENTATION]
        tables, results = [self.tabulate_numbers()], {"rows": self.rows()}
        return Section("All numbers", sentences=sentences, tables=tables, results=results)

    def tabulate_numbers(self) -> Table:
        """Return the table of all numbers, a row for each number of clusters."""
        columns = list(self._make_columns())
        chosen = self.stability.candidates == self.n_clusters
        columns.append((("", "", "choice"), ["chosen" if this else "" for this in chosen]))
        heads, cells = zip(*columns, strict=True)
        return Table(
            "Which way is better stands below each name; k is the number of clusters.",
            ["\n".join(filter(None, head)) for head in heads],
            list(zip(*cells, strict=True)),
            quoted={str(self.n_clusters)},
            left=(len(columns) - 1,),
        )

    def _make_columns(self) -> Iterator[tuple[tuple[str, ...], list[str]]]:
        """Yield the name of each column, in up to three lines, and its cells."""
        stability, comparison = self.stability, self.comparison
        yield ("k",), [str(k) for k in stability.candidates]
        for place, name in enumerate(comparison.indices):
            first, _, last = name.partition("_")
            up = "larger" if comparison.greater_is_better[place] else "smaller"
            yield (first, last.replace("_", " "), up), _write_alike(comparison.values[:, place])
        means = zip(stability.values, stability.standard_errors, strict=True)
        yield (*MEASURES[stability.method], "larger"), [write_with_spread(*each) for each in means]
        reference = [f"{value:.3f}" for value in stability.reference_values]
        yield ("the same", "without", "structure"), reference
        yield ("Pareto", "front"), ["yes" if this else "no" for this in comparison.front]
        if self.external is not None:
            values = np.array([indices["adjusted_rand"] for indices in self.external])
            yield ("adjusted", "Rand with", "classes"), _write_alike(values)

    def _show_indices(self) -> Section:
        """Show the indices against the number of clusters, and the first two by each other."""
        comparison = self.comparison
        n_panels = len(comparison.indices)
        figures = [
            Figure(
                comparison.plot,
                "Internal indices of the clustering of all samples.",
                label=f"{n_panels} internal indices against the number of clusters, as in the "
                "table.",
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
        return Section("What the internal indices say", figures=figures)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row for each number of clusters, as plain Python objects.

        Returns
        -------
        list of dict
            With the number of clusters asked for and found, the internal indices, the stability
            with its standard error, that of data without structure with its own, the limit that
            the rule sets, whether the row is on the Pareto front and whether it is the choice, and
            the adjusted Rand index where there are classes.
        """
        comparison, stability = self.comparison, self.stability
        rows = []
        for row, k in enumerate(stability.candidates.tolist()):
            found = {
                "n_clusters": k,
                "n_found": int(comparison.n_clusters[row]),
                **dict(zip(comparison.indices, comparison.values[row].tolist(), strict=True)),
                stability.method: float(stability.values[row]),
                "standard_error": float(stability.standard_errors[row]),
                "reference": float(stability.reference_values[row]),
                "reference_standard_error": float(stability.reference_standard_errors[row]),
                "limit": float(stability.limits[row]),
                "front": bool(comparison.front[row]),
                "chosen": k == self.n_clusters,
            }
            if self.external is not None:
                found["external"] = self.external[row].to_dict()
            rows.append(found)
        return rows

    def to_frame(self, part: str | None = None) -> DataFrame:
        """Return a data frame with one row for each number of clusters; needs pandas.

        Parameters
        ----------
        part : str, default=None
            "rows" (the default), or another name of `to_dict` that holds rows.

        Returns
        -------
        pandas.DataFrame
            Indexed by `n_clusters`.
        """
        if part not in (None, "rows"):
            return super().to_frame(part)
        rows = [row | row.pop("external", {}) for row in self.rows()]
        return make_frame(rows).set_index("n_clusters")


def _write_alike(values: np.ndarray) -> list[str]:
    """Return numbers with as many decimals as show four figures of the largest."""
    sizes = np.abs(values[np.isfinite(values)])
    figures = int(np.floor(np.log10(sizes.max()))) if sizes.any() else 0
    form = ".3e" if figures > 6 else f".{min(max(3 - figures, 0), 4)}f"
    return [f"{value:{form}}" for value in values]


ORIENTATION = (
    "Adjusted Rand with the known classes: for orientation only, nothing else here has seen them."
)
FRONT = "Pareto front: no other k is at least as good on every index to its left and better on one."
PRESUMES = (
    "The choice presumes clusters of the kind that the algorithm looks for (k-means and Ward: "
    "round ones); others are cut. To be cut alike in both halves is no evidence of groups, so "
    "each k is held against the same algorithm on data without structure."
)
REFERENCE_NAMES = {
    "uniform": "data without structure (uniform in the principal box)",
    "box": "data without structure (uniform in the ranges of the features)",
    "permuted": "data without structure (every column shuffled by itself)",
}


def write_choice(stability: NClustersChoice) -> str:
    """Say which number of clusters the rule chose, why, and what is to be said against it."""
    measure = " ".join(MEASURES[stability.method])
    repeats = stability.replicates.shape[1]
    hedge = ", but only just" if stability.edge else ""
    if stability.caution:
        hedge += ", which the shapes of single columns explain"
    chosen = np.flatnonzero(stability.candidates == stability.n_clusters)
    if not len(chosen):
        told = (
            f"Choice: one cluster{hedge}, since no k tried has a mean {measure} "
            f"{_write_limit(stability)}, over {repeats} random halvings."
        )
    else:
        value, error = stability.values[chosen[0]], stability.standard_errors[chosen[0]]
        best = "within one standard error of the best and "
        if stability.method == PREDICTION_STRENGTH:
            best = ""
        told = (
            f"Choice: {stability.n_clusters} clusters{hedge}, the largest k with a {measure} "
            f"{best}{_write_limit(stability)}: {write_with_spread(value, error)} over {repeats} "
            f"random halvings, where {stability.limits[chosen[0]]:.3f} is needed."
        )
    return " ".join(filter(None, (told, stability.caution, stability.edge)))


def _write_limit(stability: NClustersChoice) -> str:
    """Say how far a stability must lie above the reference."""
    above = f"at least 2/3 of the way from that of {REFERENCE_NAMES[stability.reference]} to 1"
    if stability.method != PREDICTION_STRENGTH:
        return above
    return f"of {stability.threshold:g} or more and {above}"


MEASURES = {
    "prediction_strength": ("prediction", "strength"),
    "adjusted_rand": ("adjusted Rand", "of halves"),
    "matched_accuracy": ("matched accuracy", "of halves"),
}
"""What is measured between halves, in words on two lines."""


N_COMPONENTS = 2


def show_clusters(
    X: Any,
    partitions: Mapping[int, np.ndarray],
    choice: NClustersChoice,
    seed: int,
    n_jobs: int | None,
) -> ShownClusters | None:
    """Return the clustering of the choice; None where the algorithm found one cluster only."""
    shown = choice.n_clusters
    if shown not in partitions:
        shown = int(choice.candidates[np.argmax(choice.values)])
    labels = partitions[shown]
    if len(np.unique(labels)) < 2:
        return None
    # in one layout of memory, since sums in another differ in their last digits
    points = X if issparse(X) else np.ascontiguousarray(X, dtype=float)
    silhouettes = silhouette_samples(points, labels, noise="cluster", n_jobs=n_jobs)
    components, shares = _project(points, seed)
    return ShownClusters(shown, labels, components, shares, silhouettes)


def _project(points: Any, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return coordinates on the first two principal components, and their shares of variance."""
    n_found = min(N_COMPONENTS, points.shape[1])
    solver = "auto"
    if issparse(points):
        if points.shape[1] > N_COMPONENTS:
            solver = "arpack"  # needs no dense copy
        else:
            points = points.toarray()
    components, shares = np.zeros((points.shape[0], N_COMPONENTS)), np.zeros(N_COMPONENTS)
    with np.errstate(divide="ignore", invalid="ignore"):  # where nothing varies there are no shares
        analysis = PCA(n_found, svd_solver=solver, random_state=seed)
        components[:, :n_found] = analysis.fit_transform(points)
        shares[:n_found] = analysis.explained_variance_ratio_
    return components, shares


@dataclass(frozen=True, eq=False)
class ShownClusters:
    """A clustering of the data, seen along the directions in which they vary most.

    Attributes
    ----------
    n_clusters : int
        The number of clusters that was asked for: the choice, or the most stable one where no
        number was chosen.
    labels : ndarray of shape (n_samples,)
        The cluster of each sample.
    components : ndarray of shape (n_samples, 2)
        Coordinates on the first two principal components of X; of one feature the second is 0.
    shares : ndarray of shape (2,)
        Shares of the variance of X along them; nan where nothing varies.
    silhouettes : ndarray of shape (n_samples,)
        The silhouette of each sample.
    """

    n_clusters: int
    labels: np.ndarray
    components: np.ndarray
    shares: np.ndarray
    silhouettes: np.ndarray


MOST_POINTS = 2000
MARKERS = "o^sDvP*X"
BACKGROUND = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}


def draw_map(shown: ShownClusters, ax: Any) -> None:
    """Draw the samples on two principal components, each cluster with a marker and its number.

    Of many samples, every so many are drawn: more would not be told apart.
    """
    step = -(-len(shown.labels) // MOST_POINTS)
    drawn, labels = shown.components[::step], shown.labels[::step]
    for place, label in enumerate(np.unique(shown.labels)):
        style = {"marker": MARKERS[place % len(MARKERS)], "color": f"C{place % 2}"}
        ax.scatter(*drawn[labels == label].T, s=14, alpha=0.6, linewidths=0, **style)
    for label in np.unique(shown.labels):
        centre = shown.components[shown.labels == label].mean(axis=0)
        ax.text(*centre, str(label), ha="center", va="center", weight="bold", bbox=BACKGROUND)
    for axis, name, share in zip("xy", ("first", "second"), shown.shares, strict=True):
        told = f", {100 * share:.0f} % of the variance" if np.isfinite(share) else ""
        ax.set(**{f"{axis}label": f"{name} component{told}"})


def draw_silhouettes(shown: ShownClusters, ax: Any) -> None:
    """Draw the silhouettes of each cluster from the worst to the best, one cluster on another."""
    start, gap, ticks = 0.0, 0.02 * len(shown.labels), []
    for place, label in enumerate(np.unique(shown.labels)):
        found = np.sort(shown.silhouettes[shown.labels == label])
        rows = start + np.arange(len(found) + 1)
        ax.fill_betweenx(
            rows, np.append(found, found[-1]), step="post", color=f"C{place % 2}", alpha=0.7
        )
        ticks.append((start + len(found) / 2, f"{label} ({len(found)})"))
        start += len(found) + gap
    ax.axvline(0, color="0.5", linewidth=0.8)
    mean = shown.silhouettes.mean()
    ax.axvline(mean, color="0.5", linestyle="--", label=f"mean {mean:.3f}")
    ax.set_yticks(*zip(*ticks, strict=True))
    ax.set_ylim(start, 0)
    ax.set(xlabel="silhouette (larger is better)", ylabel="cluster (samples)")
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), frameon=False, borderaxespad=0)
