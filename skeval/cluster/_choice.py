"""A chosen number of clusters, and the choices of several methods side by side."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from skeval.cluster._reference import REFERENCE_WORDS
from skeval.utils._frames import DataFrame, make_frame
from skeval.utils._text import ShownAsText, align_text, write_number

__all__ = ["NClustersChoice", "NClustersComparison"]


@dataclass(frozen=True, eq=False)
class NClustersChoice(ShownAsText):
    """A chosen number of clusters and the value of every candidate.

    The values are stabilities, silhouettes or gaps, as the method says. The gap of a candidate is
    held against that of the next one, and the reference has a gap of 0.

    Attributes
    ----------
    n_clusters : int
        The choice.
    candidates : ndarray of shape (n_candidates,)
        The numbers of clusters that were asked for, ascending.
    values, standard_errors : ndarray of shape (n_candidates,)
        Mean of each candidate and its standard error over the halvings; of the gap s_k.
    replicates : ndarray of shape (n_candidates, n_repeats)
        Value of each halving; a column holds the same halves, or the same draw of the reference of
        the gap, for every candidate.
    reference_values, reference_standard_errors : ndarray of shape (n_candidates,)
        The same of data without structure: the mean over as many draws, each halved once.
    reference_replicates : ndarray of shape (n_candidates, n_repeats)
        Value of each draw.
    limits : ndarray of shape (n_candidates,)
        What the value of each candidate had to reach.
    method : str
        What was measured.
    reference : {"uniform", "permuted"}
        The data without structure.
    threshold : float
        Smallest strength of real clusters, whatever the reference.
    rule : str
        The rule of the choice, in words.
    """

    n_clusters: int
    candidates: np.ndarray
    values: np.ndarray
    standard_errors: np.ndarray
    replicates: np.ndarray = field(repr=False)
    reference_values: np.ndarray
    reference_standard_errors: np.ndarray
    reference_replicates: np.ndarray = field(repr=False)
    limits: np.ndarray
    method: str
    reference: str
    threshold: float
    rule: str

    def to_frame(self) -> DataFrame:
        """Return a data frame with one row per candidate."""
        return make_frame(
            {
                self.method: self.values,
                "standard_error": self.standard_errors,
                "reference": self.reference_values,
                "reference_standard_error": self.reference_standard_errors,
                "limit": self.limits,
                "chosen": self.candidates == self.n_clusters,
            },
            self.candidates,
            "n_clusters",
        )

    def __str__(self) -> str:
        rows = [("rule", self.rule), ("reference", REFERENCE_WORDS[self.reference])]
        for k, *numbers in zip(
            self.candidates,
            self.values,
            self.standard_errors,
            self.reference_values,
            self.limits,
            strict=True,
        ):
            value, error, reference, limit = (write_number(number) for number in numbers)
            mark = "  <- chosen" if k == self.n_clusters else ""
            text = f"{value} +/- {error}, reference {reference}, limit {limit}{mark}"
            rows.append((f"k = {k}", text))
        noun = "cluster" if self.n_clusters == 1 else "clusters"
        return align_text(f"{self.n_clusters} {noun} by {self.method}", rows)


@dataclass(frozen=True, eq=False)
class NClustersComparison(ShownAsText):
    """Numbers of clusters chosen by several methods, on the same halves of the data.

    Attributes
    ----------
    choices : dict of str to NClustersChoice
        The choice of each method.
    """

    choices: dict[str, NClustersChoice]

    @property
    def n_clusters(self) -> dict[str, int]:
        """The number of clusters that each method chooses."""
        return {method: choice.n_clusters for method, choice in self.choices.items()}

    def to_frame(self) -> DataFrame:
        """Return a data frame with one row per candidate, nan where a method does not take it."""
        columns = {}
        for method, choice in self.choices.items():
            frame = choice.to_frame()
            columns[method] = frame[method]
            columns[f"{method}_limit"] = frame["limit"]
        return make_frame(columns).rename_axis("n_clusters")

    def __str__(self) -> str:
        rows = []
        for method, choice in self.choices.items():
            pairs = zip(choice.candidates, choice.values, strict=True)
            curve = ", ".join(
                f"{k}: {value:.3f}{'*' if k == choice.n_clusters else ''}" for k, value in pairs
            )
            rows.append((f"{method.replace('_', ' ')}: {choice.n_clusters}", curve))
        return align_text("number of clusters by method (* chosen)", rows)
