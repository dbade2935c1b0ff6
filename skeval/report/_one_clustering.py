"""One clustering: the report of a clusterer without a number of clusters, and its pictures.

Read from top to bottom: the report and its results, its verdict and sections, and the pictures,
which the report of several numbers of clusters shares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from textwrap import shorten
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.pipeline import Pipeline

from skeval._resampling.progress import begin_step
from skeval.cluster import cluster_stability, predictive_power, structure_test
from skeval.cluster._pareto import GREATER_IS_BETTER, compute_internal, resolve_directions
from skeval.cluster._references import NOISE
from skeval.cluster._stability import (
    PREDICTION_STRENGTH,
    RECOVERED,
    check_pairwise,
    check_points,
    fit_labels,
    seed_clusterer,
    takes_pairs,
)
from skeval.metrics.cluster import dbcv_score, external_indices
from skeval.report._data_checks import warn_of_points
from skeval.report._page import Figure, Section, Table, list_grave
from skeval.report._report import Report, write_estimator
from skeval.report._sections import MAX_POINTS
from skeval.utils import _checks
from skeval.utils._checks import StructureReference
from skeval.utils._text import DataFrame, count, make_frame, write_pvalue, write_with_spread

N_NEIGHBORS = 10
MAX_FACT = 300  # characters
N_REFERENCES = 99
"""Draws of data without structure, which give P-values of .01 and more."""
LEVEL = 0.05
"""Level of the test of structure in the verdict."""
ORIENTATION = (
    "The adjusted Rand index with the known classes is for orientation only: the choice does not "
    "use them."
)


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
    reference: StructureReference,
    n_repeats: int,
    seed: int,
    run: dict[str, Any],
) -> Report:
    """Return the report of the clustering that a clusterer finds with its own parameters."""
    directions, of_pairs = resolve_directions(indices), takes_pairs(clusterer)
    warnings: list[str] = [] if of_pairs else list(warn_of_points(X, getattr(X, "columns", None)))
    X = check_pairwise(X) if of_pairs else check_points(clusterer, X)
    # the clustering, its noise and its indices
    begin_step("clustering", run["verbose"])
    labels = fit_labels(seed_clusterer(clone(clusterer), np.random.default_rng(seed)), X)
    names, sizes = np.unique(labels[labels != NOISE], return_counts=True)
    values: dict[str, float] = {}
    if len(names) > 1:
        options = {
            "metric": "precomputed" if of_pairs else "euclidean",
            "n_neighbors": min(N_NEIGHBORS, sizes.sum() - 1),
            "noise": "drop",
            "n_jobs": run["n_jobs"],
        }
        pairs = zip(directions, compute_internal(X, labels, [*directions], options), strict=True)
        values = {name: value for name, value in pairs if np.isfinite(value)}
    # the stability of its clusters
    stability = halves = structure = shown = None
    run = {"random_state": seed, **run}
    if len(names):
        begin_step("stability", run["verbose"])
        stability = cluster_stability(clusterer, X, n_resamples=10 * n_repeats, **run)
    # agreement of halves and a test of structure need points, which are clustered again
    if len(names) > 1 and not of_pairs:
        shown = place_samples(X, labels, seed)
        halves = predictive_power(
            clusterer, X, agreement=PREDICTION_STRENGTH, n_repeats=n_repeats, **run
        )
        begin_step("structure", run["verbose"])
        structure = structure_test(
            clusterer,
            X,
            index=measure_density,
            reference=reference,
            n_references=N_REFERENCES,
            **run,
        )
        warnings += filter(None, [structure.caution])
    return OneClusteringReport(
        answer=stability,
        estimates={} if halves is None else {"halves": halves},
        n_clusters=len(names),
        noise_share=float(np.mean(labels == NOISE)),
        dbcv=np.nan if structure is None else structure.statistic,
        pvalue=np.nan if structure is None else structure.pvalue,
        indices=values,
        stability=stability,
        halves=halves,
        structure=structure,
        labels=labels,
        external=None if labels_true is None else external_indices(labels_true, labels),
        shown=shown,
        n_samples=X.shape[0],
        n_features=None if of_pairs else X.shape[1],
        clusterer=write_estimator(clusterer),
        warnings=tuple(warnings),
        seed=seed,
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
        return [*write_problems(report), "No clusters: all samples are noise."]
    text = f"{count(report.n_clusters, 'cluster')} and {100 * report.noise_share:.1f} % noise"
    if report.structure is not None:
        text += f" (P = {write_pvalue(report.pvalue)} for structure)"
        if report.pvalue > LEVEL:
            text = f"No evidence of clusters: {text}"
    n_stable = int(np.sum(report.stability.values >= RECOVERED))
    verb = "is" if n_stable == 1 else "are"
    return [*write_problems(report), f"{text}; {n_stable} of {report.n_clusters} {verb} stable."]


def show_labels_as_is(report: OneClusteringReport) -> Section:
    """Return the section of the clusters, their sizes and their stability."""
    stability, figures = report.stability, []
    if stability is None:
        return Section("The clusters", sentences=["All samples are noise."])
    columns = stability.labels, stability.sizes, stability.values, stability.standard_errors
    rows = [
        (f"{label}", f"{size}", write_with_spread(mean, error), verdict)
        for (label, size, mean, error), verdict in zip(
            zip(*columns, strict=True), stability.verdicts, strict=True
        )
    ]
    # noise, which has no stability
    n_noise = int(np.sum(report.labels == NOISE))
    if n_noise:
        rows.append(("noise", f"{n_noise}", "", ""))
    n_resamples = stability.replicates.shape[1]
    table = Table(
        f"Mean Jaccard coefficient with the most similar cluster of {n_resamples} bootstrap "
        "samples; above 0.75 a cluster is stable.",
        ["cluster", "samples", "Jaccard", "verdict"],
        rows,
        left=(0, 3),
    )
    if report.shown is not None:
        figures = [draw_clusters(report.shown)]
    figures.append(
        Figure(
            stability.plot,
            "Jaccard coefficient of each cluster in each resample, and the limits of the verdicts.",
            label="Stability of each cluster in resamples; see the table.",
            height=1.2 + 0.42 * len(stability.labels),
        )
    )
    return Section("The clusters", figures=figures, tables=[table])


def show_numbers_as_is(report: OneClusteringReport) -> Section:
    """Return the section of the indices of the clustering."""
    values = {"share of noise": report.noise_share, "DBCV (larger)": report.dbcv}
    for name, value in report.indices.items():
        up = "larger" if GREATER_IS_BETTER[name] else "smaller"
        values[f"{name.replace('_', ' ')} ({up})"] = value
    if report.halves is not None:
        values["prediction strength (larger)"] = report.halves.value
    if report.external is not None:
        values["adjusted Rand with classes (larger)"] = report.external["adjusted_rand"]
    rows = [(name, f"{value:.4f}") for name, value in values.items() if np.isfinite(value)]
    sentences = [] if report.external is None else [ORIENTATION]
    if report.structure is not None:
        sentences.append(
            f"Structure: DBCV is as large in {report.structure.n_exceedances} of {N_REFERENCES} "
            "data sets without structure, clustered by the same algorithm."
        )
    caption = "The better direction is in parentheses. Only DBCV and the Rand index count noise."
    return Section("All numbers", sentences=sentences, tables=[Table(caption, ["", "value"], rows)])


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
        clusterer = shorten(self.clusterer, MAX_FACT, placeholder=" …")
        columns = "distances" if self.n_features is None else count(self.n_features, "feature")
        return [clusterer, f"{self.n_samples} samples, {columns}"]


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
    halves: Any
    structure: Any
    external: Any
    labels: np.ndarray = field(repr=False)

    def _write_verdict(self) -> list[str]:
        return _write_verdict_as_is(self)

    def _list_rows(self) -> list[dict[str, Any]]:
        if self.stability is None:
            return []
        return list(self.stability.to_frame().reset_index().to_dict("records"))

    @property
    def predictions(self) -> DataFrame:
        """The cluster of each sample as a data frame; requires pandas."""
        return make_frame({"cluster": self.labels})

    def plot(self, ax: Any = None) -> Any:
        """Draw the stability of each cluster; requires matplotlib."""
        return self.stability.plot(ax)


# --- the picture of a clustering


@dataclass(frozen=True, eq=False)
class ShownClusters:
    """Clustering in the plane of the first two principal components.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
        Cluster of each sample.
    components : ndarray of shape (n_samples, 2)
        Coordinates on the first two principal components of X; for one feature the second is 0.
    shares : ndarray of shape (2,)
        Their shares of the variance of X; nan if nothing varies.
    """

    labels: np.ndarray
    components: np.ndarray
    shares: np.ndarray


N_COMPONENTS = 2


def place_samples(X: Any, labels: np.ndarray | None, seed: int) -> ShownClusters | None:
    """Return a clustering on the first two principal components; None without two clusters."""
    if labels is None or len(np.unique(labels)) < 2:
        return None
    # one memory layout, because sums in another differ in the last digits
    points = X if issparse(X) else np.ascontiguousarray(X, dtype=float)
    # principal components, of sparse data without a dense copy
    n_axes, solver = min(N_COMPONENTS, points.shape[1]), "auto"
    if issparse(X):
        solver = "arpack" if n_axes < X.shape[1] else "auto"
        points = X if n_axes < X.shape[1] else X.toarray()
    components, shares = np.zeros((points.shape[0], N_COMPONENTS)), np.zeros(N_COMPONENTS)
    with np.errstate(divide="ignore", invalid="ignore"):  # shares are undefined if nothing varies
        analysis = PCA(n_axes, svd_solver=solver, random_state=seed)
        components[:, :n_axes] = analysis.fit_transform(points)
        shares[:n_axes] = analysis.explained_variance_ratio_
    return ShownClusters(labels, components, shares)


def draw_clusters(shown: ShownClusters) -> Figure:
    """Return the figure of the samples in a plane."""
    n_clusters = len(np.unique(shown.labels))
    return Figure(
        partial(draw_map, shown),
        "Samples on the first two principal components; each cluster has its number at its mean. "
        "Clusters that overlap here may be separated in other directions.",
        label=f"The samples of {n_clusters} clusters on two principal components.",
    )


MARKERS = "o^sDvP*X"
BACKGROUND = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}


def draw_map(shown: ShownClusters, ax: Any) -> None:
    """Draw the samples on two principal components, with a marker and number for each cluster.

    Large samples are thinned, because dense points cannot be distinguished.
    """
    # at most MAX_POINTS samples
    step = -(-len(shown.labels) // MAX_POINTS)
    drawn, labels = shown.components[::step], shown.labels[::step]
    for place, label in enumerate(np.unique(shown.labels)):
        style = {"marker": MARKERS[place % len(MARKERS)], "color": f"C{place % 2}"}
        ax.scatter(*drawn[labels == label].T, s=14, alpha=0.6, linewidths=0, **style)
    for label in np.unique(shown.labels):
        center = shown.components[shown.labels == label].mean(axis=0)
        name = "noise" if label == NOISE else str(label)
        ax.text(*center, name, ha="center", va="center", weight="bold", bbox=BACKGROUND)
    for axis, name, share in zip("xy", ("first", "second"), shown.shares, strict=True):
        share_text = f", {100 * share:.0f} % of the variance" if np.isfinite(share) else ""
        ax.set(**{f"{axis}label": f"{name} component{share_text}"})
