"""What `evaluate_clusterer` returns: every number of clusters, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.cluster import ClusteringComparison, NClustersChoice
from skeval.metrics.cluster import ExternalIndices
from skeval.report._clustering_sentences import FRONT, ORIENTATION, PRESUMES, write_choice
from skeval.report._clustering_table import make_columns
from skeval.report._shown_clusters import ShownClusters
from skeval.report._text_table import align_rows
from skeval.report._writing import WritableReport
from skeval.utils._frames import DataFrame, make_frame

__all__ = ["ClusteringReport"]


@dataclass(frozen=True, eq=False, repr=False)
class ClusteringReport(WritableReport):
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
    shown : ShownClusters or None
        What a page draws of the samples: the clustering of the choice, or the most stable one,
        along two principal components, with the silhouettes; None where it has one cluster.
    warnings : tuple of str
        What a reader should know before quoting the choice, in plain words.
    n_samples, n_features : int
        Size of the data.
    clusterer : str
        The clusterer, as source text.
    seed : int
        The seed of clusterings and halvings: ``random_state=seed`` repeats the evaluation.
    settings : dict of str to str
        The other arguments of the call, as source text.
    versions : dict of str to str
        Versions of the packages that the numbers depend on.
    call : str
        The program that made the report, as source text; it begins with what it needs.
    date : str
        The day on which it was made.
    """

    comparison: ClusteringComparison
    stability: NClustersChoice
    external: tuple[ExternalIndices, ...] | None
    partitions: dict[int, np.ndarray]
    shown: ShownClusters | None
    warnings: tuple[str, ...]
    n_samples: int
    n_features: int
    clusterer: str
    seed: int
    settings: dict[str, str]
    versions: dict[str, str]
    call: str
    date: str

    @property
    def n_clusters(self) -> int:
        """The choice; 1 where no number of clusters is stable enough."""
        return self.stability.n_clusters

    @property
    def verdict(self) -> str:
        """The choice in one sentence, with the rule that made it."""
        return write_choice(self.stability)

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
            "reference": stability.reference,
            "stability": stability.method,
            "n_repeats": stability.replicates.shape[1],
            "rows": self.rows(),
            "warnings": list(self.warnings),
            "verdict": self.verdict,
            "settings": dict(self.settings),
            "versions": dict(self.versions),
        }

    def to_frame(self) -> DataFrame:
        """Return a data frame with one row for each number of clusters; needs pandas.

        Returns
        -------
        pandas.DataFrame
            Indexed by `n_clusters`.
        """
        rows = [row | row.pop("external", {}) for row in self.rows()]
        return make_frame(rows).set_index("n_clusters")

    def __str__(self) -> str:
        lines = [self.verdict, PRESUMES, "", *self._write_table(), "", FRONT]
        if self.external is not None:
            lines.append(ORIENTATION)
        return "\n".join([*lines, *(f"! {text}" for text in self.warnings)])

    def _write_table(self) -> list[str]:
        """Return the table as text, with an arrow at the end of the row of the choice."""
        columns = make_columns(self.comparison, self.stability, self.external)
        heads = [[""] * (3 - len(column.heading)) + [*column.heading] for column in columns]
        cells = [[*head, *column.cells] for head, column in zip(heads, columns, strict=True)]
        chosen = self.stability.candidates == self.n_clusters
        marks = ["", "", "", *("<- chosen" if this else "" for this in chosen)]
        return align_rows(list(zip(*cells, marks, strict=True)))
