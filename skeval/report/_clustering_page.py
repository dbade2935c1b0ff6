"""The page of an evaluation of a clusterer."""

from collections.abc import Iterator
from functools import partial
from textwrap import shorten

from skeval.cluster import IndicesDisplay, ParetoDisplay, StabilityDisplay
from skeval.report._clustering_report import FRONT, ORIENTATION, ClusteringReport, columns_of
from skeval.report._page import (
    Figure,
    Page,
    Section,
    Table,
    reproduction_section,
    warnings_section,
)
from skeval.report._svg import inline_svg

__all__ = ["clustering_page"]

LONGEST_FACT = 300


def clustering_page(report: ClusteringReport) -> Page:
    """Return the choice first, then what it rests on, then how to repeat it."""
    return Page(
        title="Clustering report",
        verdict=report.verdict,
        facts=[
            shorten(report.clusterer, LONGEST_FACT, placeholder=" …"),
            f"{report.n_samples} samples, {report.n_features} features",
        ],
        sections=[
            warnings_section("Before you quote the choice", report.warnings),
            stability_section(report),
            indices_section(report),
            *pareto_section(report),
            reproduction_section(report.call, report.versions),
        ],
    )


def stability_section(report: ClusteringReport) -> Section:
    """Return how well halves of the data predict each other's clusters."""
    svg = inline_svg(
        partial(StabilityDisplay.from_result, report.stability),
        label="Stability against the number of clusters; the table below holds the numbers.",
        height=3.2,
    )
    halvings = report.stability.replicates.shape[1]
    caption = (
        f"Each of {halvings} times the data were halved at random, both halves clustered, and the "
        "clusters of one predicted from the other; 1 is perfect agreement."
    )
    return Section("How stable is each number of clusters?", figures=[Figure(svg, caption)])


def indices_section(report: ClusteringReport) -> Section:
    """Return the indices against the number of clusters, and the table of all numbers."""
    comparison = report.comparison
    n_panels = len(comparison.indices)
    svg = inline_svg(
        lambda ax: IndicesDisplay.from_result(comparison, axes=ax),
        label=f"{n_panels} internal indices against the number of clusters, as in the table.",
        height=0.5 + 1.45 * n_panels,
        n_panels=n_panels,
    )
    heads, cells = zip(*columns_of(report), strict=True)
    table = Table(
        "All numbers.",
        [" ".join(filter(None, lines)) for lines in heads],
        list(zip(*cells, strict=True)),
    )
    sentences = [FRONT] if report.external is None else [FRONT, ORIENTATION]
    figures = [Figure(svg, "Internal indices of the clustering of all samples.")]
    return Section("Internal indices", sentences=sentences, figures=figures, table=table)


def pareto_section(report: ClusteringReport) -> Iterator[Section]:
    """Yield the first two indices against each other."""
    if len(report.comparison.indices) < 2:
        return
    first, second = (name.replace("_", " ") for name in report.comparison.indices[:2])
    svg = inline_svg(
        partial(ParetoDisplay.from_result, report.comparison),
        label=f"Each number of clusters by {first} and {second}.",
        height=3.4,
    )
    caption = (
        f"{first.capitalize()} against {second}; the front here is that of these two indices alone."
    )
    yield Section("One index against another", figures=[Figure(svg, caption)])
