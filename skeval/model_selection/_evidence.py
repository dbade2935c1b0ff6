"""Evidence of a comparison, and the result of a test for each pair or for all pairs.

With 332 systems there are 54,946 pairs. Text and ranks need a few numbers of each, which are
arrays; a `Difference` for each takes longer, so it is made when it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from skeval._inference.estimate import Test
from skeval._inference.intervals import Spread, normal_quantile
from skeval._inference.paired import EQUAL, PairedTest
from skeval.utils._checks import warn_undefined

Floats = NDArray[np.float64]


class Source(Protocol):
    """The compared systems, with a method for each kind of evidence that they can give."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the systems."""

    @property
    def scoring(self) -> str:
        """Name of the score."""

    @property
    def n_samples(self) -> int | None:
        """Number of samples, if known."""


class Splits(NamedTuple):
    """Scores of all on the same splits, of shape (n_splits, n_names)."""

    scores: np.ndarray
    test_train_ratio: float = np.nan


class Areas(NamedTuple):
    """Areas under ROC curves, their covariance, and whether they use the same samples."""

    values: np.ndarray
    spread: Spread
    paired: bool = True


class Draws(NamedTuple):
    """Scores on all samples, and on resamples of them, of shape (n_names, n_resamples).

    `exchange` returns the differences of a pair after exchanges of the two predictions.
    """

    values: np.ndarray
    resampled: np.ndarray
    exchange: Callable[[int, int], np.ndarray] | None = None


class Joint(NamedTuple):
    """Scores of all, (n_names,), and their covariance; see `Predictions.joint`.

    Attributes
    ----------
    values : ndarray of shape (n_names,)
    covariance : ndarray of shape (n_names, n_names)
        Covariance due to the samples or groups, which all systems share.
    degrees_of_freedom : float
        Degrees of freedom of the covariance; infinity for a normal quantile.
    n_rates : int or None
        Number of samples if all scores are 0 or 1.
    n_groups : int or None
        Number of groups; None for independent samples.
    together : dict
        Attributes of a result that describe its groups.
    own : ndarray of shape (n_names,)
        Variance of the mean over seeds of each system; with more than two systems, the variance
        of a run is pooled.
    seed_degrees : float
        Degrees of freedom of the variance of a difference due to seeds.
    """

    values: np.ndarray
    covariance: np.ndarray
    degrees_of_freedom: float
    n_rates: int | None
    n_groups: int | None
    together: dict[str, Any]
    own: np.ndarray
    seed_degrees: float


class InTime(NamedTuple):
    """Losses or gains of all systems in time order, (n_names, n_samples).

    A forecast is made `horizon` samples ahead.
    """

    values: np.ndarray
    horizon: int = 1


class Table(NamedTuple):
    """Scores by data set and name, and attributes of the result."""

    scores: np.ndarray
    fields: dict[str, Any]


@dataclass(frozen=True)
class Question:
    """The hypothesis for all pairs, and the confidence level."""

    alternative: str = "two-sided"
    rope: float = 0.0
    confidence_level: float = 0.95
    correction: str = "holm"
    root: SeedSequence = field(default_factory=SeedSequence)
    greater_is_better: bool = True


class Pair(NamedTuple):
    """Result of a test of two systems: the difference, its test, the name of its interval, and
    more."""

    value: float
    test: PairedTest
    interval: str
    fields: dict[str, Any]
    replicates: np.ndarray = np.empty(0)
    allow_point: bool = False


class PairTable(NamedTuple):
    """Numbers of all pairs of names, in the order of `itertools.combinations`.

    Attributes
    ----------
    value, low, high, pvalue : ndarray of shape (n_pairs,)
        The ends are the limits of the simultaneous intervals; the P-values are not corrected.
    has_ties : ndarray of shape (n_pairs,)
        Whether two have equal scores on a data set, which the test leaves out.
    """

    value: Floats
    low: Floats
    high: Floats
    pvalue: Floats
    has_ties: NDArray[np.bool_]

    def to_matrix(self, what: str) -> Floats:
        """Return an attribute as a matrix; ends and values of reversed pairs change their sign."""
        reverse = {"low": -self.high, "high": -self.low, "value": -self.value}
        n_names = int((1 + np.sqrt(1 + 8 * len(self.value))) // 2)
        rows, columns = np.triu_indices(n_names, 1)
        matrix = np.eye(n_names) * (what == "pvalue")
        matrix[rows, columns] = getattr(self, what)
        matrix[columns, rows] = reverse.get(what, self.pvalue)
        return matrix

    def count_reaching_zero(self, level: float) -> int:
        """Return the number of significant pairs with ties whose interval contains 0."""
        reaching = self.has_ties & (self.low <= 0) & (self.high >= 0)
        return int(np.sum(reaching & (self.pvalue <= level)))


def tabulate_normal(
    value: Floats,
    confidence_level: float,
    *,
    pvalue: Floats,
    centers: Floats,
    errors: Floats,
    degrees: Floats,
    bounds: tuple[float, float],
) -> PairTable:
    """Return the table of normal or Student's intervals at the level of each."""
    kinds, kind = np.unique(degrees, return_inverse=True)
    quantiles = [normal_quantile(confidence_level, each) for each in kinds.tolist()]
    half = np.array(quantiles)[kind] * errors
    low, high = np.clip(centers - half, *bounds), np.clip(centers + half, *bounds)
    unvaried = high - low <= EQUAL * np.abs(centers)
    if unvaried.any():
        warn_undefined(
            f"The intervals of {unvaried.sum()} differences are undefined (nan): they do not vary."
        )
    low[unvaried], high[unvaried] = np.nan, np.nan
    return PairTable(value, low, high, pvalue, np.zeros(len(value), dtype=bool))


class LazyDifferences(Mapping[tuple[str, str], Any]):
    """Differences of all pairs of names, each made when it is first read.

    A pickle contains all of them as a dict.
    """

    def __init__(self, names: tuple[str, ...], make: Callable[[int, int], Any]) -> None:
        self._names, self._make = names, make
        self._place = {name: place for place, name in enumerate(names)}
        self._made: dict[tuple[str, str], Any] = {}

    def __getitem__(self, pair: tuple[str, str]) -> Any:
        if pair not in self._made:
            a, b = pair
            if not self._place[a] < self._place[b]:
                raise KeyError(pair)
            self._made[pair] = self._make(self._place[a], self._place[b])
        return self._made[pair]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return combinations(self._names, 2)

    def __len__(self) -> int:
        return len(self._names) * (len(self._names) - 1) // 2

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


class Findings(NamedTuple):
    """Result of a test of all systems: their scores, and a function that compares two by their
    positions.

    `alone` turns the simultaneous level of all intervals into the level of each; None means
    Bonferroni's inequality. `tabulate` returns the numbers of all pairs at the level of each.
    """

    values: np.ndarray
    judge: Callable[[int, int], Pair]
    fields: Mapping[str, Any] = MappingProxyType({})
    omnibus: Test | None = None
    alone: Callable[[float], float] | None = None
    tabulate: Callable[[float], PairTable] | None = None
