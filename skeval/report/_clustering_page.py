"""The page of an evaluation of a clusterer."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from textwrap import shorten

import numpy as np

from skeval.cluster import IndicesDisplay, ParetoDisplay, StabilityDisplay
from skeval.report._clustering import FRONT, ORIENTATION, PRESUMES, ClusteringReport, make_columns
from skeval.report._page import (
    Figure,
    Page,
    Section,
    Table,
    make_figure,
    make_page,
    make_reproduction_section,
    make_warnings_section,
)
from skeval.report._plot import draw_map, draw_silhouettes

__all__ = ["make_clustering_page"]

LONGEST_FACT = 300
MOST_SIZES = 12


@make_page.register
def make_clustering_page(
    report: ClusteringReport, title: str | None = None, command: str | None = None
) -> Page:
    """Return the choice first, then what it rests on, then how to repeat it."""
    return Page(
        title=title or "Clustering report",
        verdict=report.verdict,
        facts=[
            shorten(report.clusterer, LONGEST_FACT, placeholder=" …"),
            f"{report.n_samples} samples, {report.n_features} features",
        ],
        beside=[_make_sizes_table(report)],
        sections=[
            make_warnings_section("Before you quote the choice", report.warnings),
            *_make_samples_section(report),
            _make_stability_section(report),
            _make_table_section(report),
            _make_indices_section(report),
            make_reproduction_section(report.call, report.versions, report.date, command),
        ],
    )


def _make_samples_section(report: ClusteringReport) -> Iterator[Section]:
    """Yield the samples in their clusters, where there are two clusters to tell apart."""
    shown = report.shown
    if shown is None:
        return
    figures = [
        make_figure(
            partial(draw_map, shown),
            "The samples along the two directions in which they vary most, each cluster with its "
            "number at its mean. What overlaps here may be apart along other directions.",
            label=f"The samples of {shown.n_clusters} clusters on two principal components.",
            height=3.6,
        ),
        make_figure(
            partial(draw_silhouettes, shown),
            "The silhouette of each sample: near 1 where its own cluster is much nearer than any "
            "other, below 0 where another one is nearer.",
            label=f"Silhouettes of the samples of {shown.n_clusters} clusters.",
            height=3.6,
        ),
    ]
    what = "the choice" if shown.n_clusters == report.n_clusters else "no choice, the most stable k"
    sentence = f"Shown is k = {shown.n_clusters}, {what}."
    yield Section("What the clusters look like", sentences=[sentence], figures=figures)


def _make_sizes_table(report: ClusteringReport) -> Table:
    """Return the sizes of the clusters for each number of them."""
    rows = []
    for k, labels in report.partitions.items():
        sizes = np.sort(np.unique(labels, return_counts=True)[1])[::-1]
        rows.append((str(k), ", ".join(map(str, sizes[:MOST_SIZES].tolist()))))
        if len(sizes) > MOST_SIZES:
            rows[-1] = (str(k), f"{rows[-1][1]} and {len(sizes) - MOST_SIZES} more")
    return Table(
        "Samples in each cluster, the largest first.",
        ["k", "sizes"],
        rows,
        quoted={str(report.n_clusters)},
    )


def _make_stability_section(report: ClusteringReport) -> Section:
    """Return how well halves of the data predict each other's clusters."""
    halvings = report.stability.replicates.shape[1]
    caption = (
        f"Each of {halvings} times the data were halved at random, both halves clustered, and the "
        "clusters of one predicted from the other; 1 is perfect agreement. In grey the same of "
        "data without structure, and what the rule asks for."
    )
    figure = make_figure(
        partial(StabilityDisplay.from_result, report.stability),
        caption,
        label="Stability against the number of clusters; the table holds the numbers.",
        height=3.2,
    )
    heading = "How stable is each number of clusters?"
    return Section(heading, sentences=[PRESUMES], figures=[figure])


def _make_table_section(report: ClusteringReport) -> Section:
    """Return all numbers as a table."""
    columns = make_columns(report.comparison, report.stability, report.external)
    names = [*(" ".join(column.heading) for column in columns), "choice"]
    chosen = report.stability.candidates == report.n_clusters
    marks = ["chosen" if this else "" for this in chosen]
    rows = list(zip(*(column.cells for column in columns), marks, strict=True))
    sentences = [FRONT] if report.external is None else [FRONT, ORIENTATION]
    caption = "Which way is better stands below each name; k is the number of clusters."
    table = Table(caption, names, rows, quoted={str(report.n_clusters)})
    return Section("All numbers", sentences=sentences, tables=[table])


def _make_indices_section(report: ClusteringReport) -> Section:
    """Return the indices against the number of clusters, and the first two against each other."""
    comparison = report.comparison
    n_panels = len(comparison.indices)
    figure = make_figure(
        lambda ax: IndicesDisplay.from_result(comparison, axes=ax),
        "Internal indices of the clustering of all samples.",
        label=f"{n_panels} internal indices against the number of clusters, as in the table.",
        height=0.5 + 1.45 * n_panels,
        n_panels=n_panels,
    )
    return Section("What the internal indices say", figures=[figure, *_draw_pareto(report)])


def _draw_pareto(report: ClusteringReport) -> Iterator[Figure]:
    """Yield the first two indices against each other, where there are two."""
    if len(report.comparison.indices) < 2:
        return
    first, second = (name.replace("_", " ") for name in report.comparison.indices[:2])
    yield make_figure(
        partial(ParetoDisplay.from_result, report.comparison),
        f"{first.capitalize()} against {second}; the front is that of these two indices alone.",
        label=f"Each number of clusters by {first} and {second}.",
        height=3.4,
    )
