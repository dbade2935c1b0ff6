"""Permutation tests that stop early, with P-values that are valid nevertheless."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

RISK = 0.005
"""Probability, if P is the level, of as many or as few exceedances as those that stop the test."""


class StoppingRule(NamedTuple):
    """Numbers of exceedances that stop a test after each permutation.

    Attributes
    ----------
    low, high : int ndarray of shape (n_permutations,)
        The test stops with at most `low` or at least `high` exceedances.
    """

    low: NDArray[np.intp]
    high: NDArray[np.intp]

    @property
    def earliest(self) -> int:
        """Smallest number of permutations after which the test may stop."""
        n = len(self.high)
        return 1 + int(np.argmax((self.low >= 0) | (self.high <= np.arange(1, n + 1))))

    def stop(self, exceeding: NDArray[np.bool_]) -> int | None:
        """Return the number of permutations at which the test stops; None if it does not."""
        counts = np.cumsum(exceeding)
        stops = (counts <= self.low[: len(counts)]) | (counts >= self.high[: len(counts)])
        return int(stops.argmax()) + 1 if stops.any() else None

    def pvalue(self, n_exceedances: int, n_permutations: int) -> float:
        """Return the probability of a share of exceedances that is at most the observed one.

        The result is at least this share, so that it agrees with the test of all permutations.
        If the null hypothesis is true, the observed score has each rank among `L + 1` scores with
        the same probability, so that permutation `L + 1` exceeds it with probability
        ``(c + 1) / (L + 2)`` after `c` exceedances (Fay, Kim and Hachey 2007, section 3).
        """
        if self.low.max() < 0 and n_exceedances == self.high[-1]:  # Besag and Clifford (1991)
            return n_exceedances / n_permutations
        count = np.arange(self.high.max() + 2)
        running = np.zeros(len(count))  # probability of each count while the test goes on
        running[0], pvalue = 1.0, 0.0
        for n, (low, high) in enumerate(zip(self.low, self.high, strict=True), start=1):
            exceeding = running * (count + 1) / (n + 1)
            running -= exceeding
            running[1:] += exceeding[:-1]
            ends = (count <= low) | (count >= high) | (n == len(self.low))
            as_low = (1 + count) * (1 + n_permutations) <= (1 + n_exceedances) * (1 + n)
            pvalue += float(running[ends & as_low].sum())
            running[ends] = 0
        return max(pvalue, (1 + n_exceedances) / (1 + n_permutations))


def stop_after(n_permutations: int, max_exceedances: int) -> StoppingRule:
    """Return the rule that stops at a number of exceedances: Besag and Clifford (1991)."""
    return StoppingRule(np.full(n_permutations, -1), np.full(n_permutations, max_exceedances))


def stop_when_decided(n_permutations: int, level: float) -> StoppingRule:
    """Return the rule that stops as soon as it is clear whether P exceeds a level.

    It is clear if the remaining permutations cannot change it, or if a P-value equal to the level
    would produce so few, or so many, exceedances with a probability below `RISK`.
    """
    n = np.arange(1, n_permutations + 1)
    # P exceeds the level from this number of exceedances on
    enough = int(level * (1 + n_permutations) * (1 + 1e-12))
    low = np.maximum(enough - 1 - (n_permutations - n), binom.ppf(RISK, n, level) - 1)
    high = np.minimum(max(enough, 1), binom.isf(RISK, n, level) + 1)
    return StoppingRule(low.astype(np.intp), high.astype(np.intp))
