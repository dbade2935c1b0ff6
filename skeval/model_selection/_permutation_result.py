"""What a permutation test returns."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import beta

from skeval._inference.interval import ConfidenceInterval
from skeval._inference.proportions import exact_interval
from skeval._inference.ties import exceedances
from skeval.utils._checks import check_level
from skeval.utils._text import aligned

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PermutationTest", "PermutationTests", "permutation_result"]


@dataclass(frozen=True, eq=False)
class PermutationTest:
    """The P-value of a score, by permutation of the labels.

    Attributes
    ----------
    metric : str
        Name of the score.
    statistic : float
        The score on the observed labels; larger is better.
    pvalue : float
        Estimated probability of a score at least as good if labels and features were
        independent; in (0, 1].
    n_permutations : int
        Number of permutations that were used.
    n_exceedances : int
        How many of them scored at least as well as the observed labels.
    max_exceedances : int or None
        The number of exceedances that stops a sequential test.
    null_distribution : ndarray of shape (n_permutations,)
        The scores on permuted labels.
    """

    metric: str
    statistic: float
    pvalue: float
    n_permutations: int
    n_exceedances: int
    max_exceedances: int | None
    null_distribution: np.ndarray = field(repr=False)

    @property
    def stopped(self) -> bool:
        """Whether a sequential test ended with the last exceedance it waited for."""
        return self.n_exceedances == self.max_exceedances

    @property
    def pvalue_interval(self) -> ConfidenceInterval:
        """The 95 % interval of the P-value that infinitely many permutations would give."""
        return self.confidence_interval()

    def confidence_interval(self, level: float = 0.95) -> ConfidenceInterval:
        """Return the interval of the P-value that infinitely many permutations would give.

        Parameters
        ----------
        level : float, default=0.95
            Nominal coverage, between 0 and 1.

        Returns
        -------
        ConfidenceInterval
            Clopper and Pearson's, of the Monte-Carlo error only; after a sequential stop that of
            the negative binomial distribution.
        """
        check_level(level)
        low, high = exact_interval(self.n_exceedances, self.n_permutations, level)
        if self.stopped:
            # L permutations for h exceedances: fewer than h in the first L - 1
            before = self.n_permutations - self.n_exceedances
            high = float(beta.isf((1 - level) / 2, self.n_exceedances, before)) if before else 1.0
        return ConfidenceInterval(low, high, float(level), "exact")

    def __str__(self) -> str:
        null = self.null_distribution
        interval = self.pvalue_interval
        rows = [
            ("score", f"{self.statistic:.4f}"),
            ("score of permuted labels", f"{null.mean():.4f} (sd {null.std():.4f})"),
            ("P-value", f"{self.pvalue:.4g}"),
            ("its Monte-Carlo interval", f"[{interval.low:.4g}, {interval.high:.4g}] (95 %)"),
            ("permutations", f"{self.n_permutations}"),
            ("at least as good", f"{self.n_exceedances}" + " (stopped)" * self.stopped),
        ]
        return aligned(f"permutation test ({self.metric})", rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers without the null distribution, ready for JSON.

        Returns
        -------
        dict
        """
        interval = self.pvalue_interval
        return {
            "metric": self.metric,
            "statistic": self.statistic,
            "pvalue": self.pvalue,
            "pvalue_low": interval.low,
            "pvalue_high": interval.high,
            "level": interval.level,
            "n_permutations": self.n_permutations,
            "n_exceedances": self.n_exceedances,
            "stopped": self.stopped,
        }


@dataclass(frozen=True, eq=False)
class PermutationTests(Mapping):
    """The tests of several metrics on the same fits, by name.

    Attributes
    ----------
    tests : dict of str to PermutationTest
    """

    tests: dict[str, PermutationTest]

    def __getitem__(self, metric: str) -> PermutationTest:
        return self.tests[metric]

    def __iter__(self) -> Iterator[str]:
        return iter(self.tests)

    def __len__(self) -> int:
        return len(self.tests)

    def __str__(self) -> str:
        return "\n".join(str(test) for test in self.tests.values())

    def to_frame(self) -> "pd.DataFrame":
        """Return one row for each metric.

        Returns
        -------
        pandas.DataFrame
        """
        import pandas as pd

        return pd.DataFrame([test.to_dict() for test in self.tests.values()]).set_index("metric")


def permutation_result(
    metric: str, statistic: float, null: np.ndarray, max_exceedances: int | None
) -> PermutationTest:
    """Return the P-value of Phipson and Smyth (2010), or of Besag and Clifford (1991).

    A sequential test that met its last exceedance at permutation L has P-value h/L; every other
    has (1 + exceedances) / (1 + permutations).
    """
    exceeding = exceedances(statistic, null)
    if max_exceedances is not None and exceeding.sum() >= max_exceedances:
        last = int(np.searchsorted(np.cumsum(exceeding), max_exceedances)) + 1
        null, pvalue, count = null[:last], max_exceedances / last, max_exceedances
    else:
        count = int(exceeding.sum())
        pvalue = (1 + count) / (1 + len(null))
    return PermutationTest(
        metric, float(statistic), float(pvalue), len(null), count, max_exceedances, null
    )
