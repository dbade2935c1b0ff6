"""A chosen number of clusters, and the choices of several methods side by side."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from skeval.cluster._reference import REFERENCE_WORDS
from skeval.cluster._rules import GAP, SILHOUETTE
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
    caution : str
        That the shapes of single columns explain the clusters, where that is so; else empty.
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
    caution: str = ""

    @property
    def margins(self) -> np.ndarray:
        """How far each value lies above what it had to reach; below 0 where it did not."""
        return self.values - self.limits

    @property
    def edge(self) -> str:
        """How near the choice is to another one, in a sentence; empty where it is not near.

        Near is less than two standard errors, those of the values over the halvings: others may
        choose otherwise.
        """
        ours = self.candidates == self.n_clusters
        missed = (self.margins < 0) & (self.candidates != 1)
        # where the smallest sufficient k is chosen, a larger one has no say, and the reverse
        if self.method in (GAP, SILHOUETTE):
            missed &= ~np.any(ours) | (self.candidates < self.n_clusters)
        else:
            missed &= self.candidates > self.n_clusters
        eligible = missed | (ours & (self.candidates > 1) & np.isfinite(self.margins))
        near = eligible & (np.abs(self.margins) < 2 * self.standard_errors)
        if not near.any():
            return ""
        row = np.flatnonzero(near)[np.argmin(np.abs(self.margins[near]))]
        k, value, margin = self.candidates[row], self.values[row], self.margins[row]
        verb = "reaches" if margin >= 0 else "misses"
        return (
            f"Near the edge: k = {k} {verb} the limit of {self.limits[row]:.3f} by "
            f"{abs(margin):.3f} ({value:.3f} +/- {self.standard_errors[row]:.3f}), so other "
            "halvings may choose otherwise."
        )

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
        text = align_text(f"{self.n_clusters} {noun} by {self.method}", rows)
        return "\n".join([text, *(f"! {each}" for each in (self.edge, self.caution) if each)])


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
