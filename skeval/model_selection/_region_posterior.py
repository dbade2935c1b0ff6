"""What the data sets seen say about the difference of two classifiers on a next one."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from skeval._inference.equivalence import RegionProbabilities
from skeval._inference.posteriors import largest_fractions
from skeval.utils._text import ShownAsText, align_text, fill_text, write_probability

__all__ = ["RegionPosterior"]


@dataclass(frozen=True, eq=False)
class RegionPosterior(ShownAsText):
    """How probable it is that one of two classifiers is better on a next data set.

    Attributes
    ----------
    method : {"signed_rank", "hierarchical"}
        The Bayesian test.
    name_a, name_b : str
        The classifiers.
    rope : float
        Half the width of the region of practical equivalence.
    n_datasets : int
        Number of data sets.
    draws : ndarray of shape (n_draws, 3)
        Draws from the posterior of three probabilities: that on a next data set `a` is better by
        more than `rope`, neither is, or `b` is.
    probabilities : RegionProbabilities
        Fraction of the draws in which each of the three is the largest: ``a_better``,
        ``equivalent``, ``b_better``.
    """

    method: str
    name_a: str
    name_b: str
    rope: float
    n_datasets: int
    draws: np.ndarray = field(repr=False)
    probabilities: RegionProbabilities = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "probabilities", largest_fractions(self.draws))

    @property
    def conclusion(self) -> str:
        """What may be concluded, and what not, in words."""
        better, equivalent, worse = self.probabilities
        said = {
            better: f"{self.name_a} is the better one on data sets like these",
            equivalent: f"{self.name_a} and {self.name_b} are practically equivalent on data sets "
            "like these",
            worse: f"{self.name_b} is the better one on data sets like these",
        }
        largest = max(better, equivalent, worse)
        if largest >= 0.95:
            probability = write_probability(largest)
            return f"{said[largest]}, with probability {probability}; a single one may differ."
        return (
            "Nothing is settled: no one of better, equivalent and worse has the probability 0.95. "
            "More data sets are needed."
        )

    def __str__(self) -> str:
        rows = [
            (f"{self.name_a} better", write_probability(self.probabilities.a_better)),
            (f"equivalent within {self.rope:g}", write_probability(self.probabilities.equivalent)),
            (f"{self.name_b} better", write_probability(self.probabilities.b_better)),
        ]
        title = f"{self.method}, {self.n_datasets} data sets"
        return align_text(title, rows) + "\n" + fill_text(self.conclusion)
