"""What `evaluate_clusterer` returns: every number of clusters, side by side."""

import json
import math
from dataclasses import dataclass, field
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from skeval.cluster import ClusteringComparison, NClustersChoice
from skeval.metrics.cluster import ExternalIndices
from skeval.report._page import template
from skeval.report._provenance import call_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FRONT", "ORIENTATION", "ClusteringReport", "columns_of"]

Column = tuple[list[str], list[str]]  # three lines of heading, one cell for each row
ORIENTATION = (
    "Adjusted Rand with the known classes: for orientation only, nothing else here has seen them."
)
FRONT = "Pareto front: no other k is at least as good on every index to its left and better on one."
MEASURES = {
    "prediction_strength": ["prediction", "strength"],
    "adjusted_rand": ["adjusted Rand", "of halves"],
    "matched_accuracy": ["matched accuracy", "of halves"],
}


@dataclass(frozen=True, eq=False)
class ClusteringReport:
    """A clusterer at several numbers of clusters.

    Attributes
    ----------
    comparison : ClusteringComparison
        Internal indices of the clustering of all samples by each number of clusters, and the
        Pareto front over these indices.
    stability : NClustersChoice
        How well random halves predict each other's clusters, and the choice by that rule.
    external : tuple of ExternalIndices, or None
        Agreement of each clustering with known classes; None without such classes.
    partitions : dict of int to ndarray of shape (n_samples,)
        The labels of all samples by number of clusters.
    warnings : tuple of str
        What a reader should know before quoting the choice, in plain words.
    n_samples, n_features : int
        Size of the data.
    clusterer : str
        The clusterer, as it prints itself.
    seed : int
        The seed of clusterings and halvings: ``random_state=seed`` repeats the evaluation.
    settings : dict of str to str
        The other arguments of the call, as source text.
    versions : dict of str to str
        Versions of the packages that the numbers depend on.
    """

    comparison: ClusteringComparison
    stability: NClustersChoice
    external: tuple[ExternalIndices, ...] | None
    partitions: dict[int, np.ndarray] = field(repr=False)
    warnings: tuple[str, ...]
    n_samples: int
    n_features: int
    clusterer: str
    seed: int
    settings: dict[str, str]
    versions: dict[str, str]

    @property
    def n_clusters(self) -> int:
        """The choice; 1 where no number of clusters is stable enough."""
        return self.stability.n_clusters

    @property
    def verdict(self) -> str:
        """The choice in one sentence, with the rule that made it."""
        return choice_sentence(self.stability)

    @property
    def call(self) -> str:
        """The call that made the report, as source text."""
        function = "skeval.report.evaluate_clusterer"
        return call_of(function, "clusterer, X", self.clusterer, self.settings)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row for each number of clusters, as plain Python objects.

        Returns
        -------
        list of dict
            With the number of clusters asked for and found, the internal indices, the stability
            with its standard error, whether the row is on the Pareto front and whether it is the
            choice, and the adjusted Rand index where there are classes.
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
                "front": bool(comparison.front[row]),
                "chosen": k == self.n_clusters,
            }
            if self.external is not None:
                found["external"] = self.external[row].to_dict()
            rows.append(found)
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain Python objects, without labels and replicates."""
        stability = self.stability
        return {
            "clusterer": self.clusterer,
            "n_samples": self.n_samples,
            "n_features": self.n_features,
            "seed": self.seed,
            "n_clusters": self.n_clusters,
            "rule": stability.rule,
            "threshold": stability.threshold,
            "stability": stability.method,
            "n_repeats": stability.replicates.shape[1],
            "rows": self.rows(),
            "warnings": list(self.warnings),
            "verdict": self.verdict,
            "settings": dict(self.settings),
            "versions": dict(self.versions),
        }

    def to_json(self, path: str | PathLike | None = None) -> str:
        """Return `to_dict` as JSON, and write it to a file when a path is given.

        JSON has no infinity: an infinite index is null.

        Parameters
        ----------
        path : str or path-like, default=None
            Where to write it.

        Returns
        -------
        str
        """
        text = json.dumps(finite(self.to_dict()), indent=2, allow_nan=False)
        if path is not None:
            Path(path).write_text(text + "\n", encoding="utf-8")
        return text

    def to_frame(self) -> "pd.DataFrame":
        """Return a data frame with one row for each number of clusters; needs pandas.

        Returns
        -------
        pandas.DataFrame
            Indexed by `n_clusters`.
        """
        import pandas as pd

        rows = [row | row.pop("external", {}) for row in self.rows()]
        return pd.DataFrame(rows).set_index("n_clusters")

    def to_html(self, path: str | PathLike | None = None, *, title: str | None = None) -> str:
        """Return the report as one page that needs nothing else, and write it when a path is given.

        The choice in a sentence, what to know before quoting it, the stability and the indices
        against the number of clusters, the Pareto plot, and how to reproduce it all. Needs
        matplotlib and Jinja2: ``pip install "skeval[report]"``.

        Parameters
        ----------
        path : str or path-like, default=None
            Where to write it.
        title : str, default=None
            Heading of the page, such as the name of the data; None is "Clustering report".

        Returns
        -------
        str
            HTML.
        """
        from skeval.report._clustering_page import clustering_page  # draws, so it imports this

        text = template("page.html").render(page=clustering_page(self, title))
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the page, or the text where the extra is missing."""
        from skeval.report._clustering_page import clustering_page

        try:
            return template("fragment.html").render(page=clustering_page(self))
        except ImportError:
            return f"<pre>{escape(str(self))}</pre>"

    def __str__(self) -> str:
        lines = [*side_by_side(columns_of(self)), "", self.verdict, FRONT]
        if self.external is not None:
            lines.append(ORIENTATION)
        return "\n".join([*lines, *(f"! {text}" for text in self.warnings)])


def columns_of(report: ClusteringReport) -> list[Column]:
    """Return the columns of the table, that of the choice last."""
    comparison, stability = report.comparison, report.stability
    candidates = stability.candidates
    columns: list[Column] = [(["", "", "k"], [str(k) for k in candidates])]
    directions = zip(comparison.indices, comparison.greater_is_better, strict=True)
    for (name, up), values in zip(directions, comparison.values.T, strict=True):
        columns.append((heading(name, "larger" if up else "smaller"), same_decimals(values)))
    means_and_errors = zip(stability.values, stability.standard_errors, strict=True)
    cells = [f"{value:.3f} +/- {error:.3f}" for value, error in means_and_errors]
    columns.append(([*MEASURES[stability.method], "larger"], cells))
    marks = ["yes" if kept else "no" for kept in comparison.front]
    columns.append((["", "Pareto", "front"], marks))
    if report.external is not None:
        values = np.array([indices.adjusted_rand for indices in report.external])
        columns.append((["adjusted", "Rand with", "classes"], same_decimals(values)))
    marks = ["<- chosen" if k == report.n_clusters else "" for k in candidates]
    return [*columns, (["", "", ""], marks)]


def finite(value: Any) -> Any:
    """Return nested lists and dicts with None in the place of infinite numbers."""
    if isinstance(value, dict):
        return {name: finite(item) for name, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and math.isinf(value) else value


def heading(name: str, better: str) -> list[str]:
    """Return the three lines above a column: a name of two words, and which way is better."""
    first, _, last = name.partition("_")
    return [first, last.replace("_", " "), better] if last else ["", first, better]


def same_decimals(values: np.ndarray) -> list[str]:
    """Return numbers with as many decimals as show four figures of the largest."""
    sizes = np.abs(values[np.isfinite(values)])
    figures = int(np.floor(np.log10(sizes.max()))) if sizes.any() else 0
    if figures > 6:
        return [f"{value:.3e}" for value in values]
    return [f"{value:.{min(max(3 - figures, 0), 4)}f}" for value in values]


def side_by_side(columns: list[Column]) -> list[str]:
    """Return headings and cells as lines, right-aligned in columns."""
    stacked = [[*head, *cells] for head, cells in columns]
    widths = [max(map(len, column)) for column in stacked]
    lines = zip(*stacked, strict=True)
    return [
        "  ".join(f"{cell:>{width}}" for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]


def choice_sentence(stability: NClustersChoice) -> str:
    """Say which number of clusters the rule chose, and why."""
    measure = " ".join(MEASURES[stability.method])
    repeats = stability.replicates.shape[1]
    chosen = np.flatnonzero(stability.candidates == stability.n_clusters)
    if not len(chosen):
        return (
            f"Choice: one cluster, since no k tried reaches a mean {measure} of "
            f"{stability.threshold:g} over {repeats} random halvings."
        )
    value, error = stability.values[chosen[0]], stability.standard_errors[chosen[0]]
    return (
        f"Choice: {stability.n_clusters} clusters, the {rule_in_words(stability)}: "
        f"{value:.3f} +/- {error:.3f} over {repeats} random halvings."
    )


def rule_in_words(stability: NClustersChoice) -> str:
    """Return the rule of a choice above one cluster."""
    measure = " ".join(MEASURES[stability.method])
    if stability.method == "prediction_strength":
        return f"largest k whose {measure} reaches {stability.threshold:g}"
    return f"largest k whose {measure} lies within one standard error of the best"
