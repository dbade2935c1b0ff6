"""An estimate in each subgroup, and the largest difference between two of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from skeval._inference.estimate import Limits
from skeval.utils._checks import is_missing
from skeval.utils._text import (
    DataFrame,
    ShownAsText,
    align_text,
    make_frame,
    write_ends,
    write_estimate,
    write_number,
)

__all__ = ["Subgroups", "compare_subgroups", "read_subgroups"]


@dataclass(frozen=True, eq=False)
class Subgroups(ShownAsText):
    """An estimate with its interval in each subgroup of the samples.

    Attributes
    ----------
    metric : str
        What is estimated.
    names : tuple
        The subgroups, sorted.
    sizes : tuple of int
        Number of samples of each.
    results : tuple
        The result of each subgroup: a `MetricInterval` or an `Estimate`.
    estimates : tuple of float
        The estimate of each, nan where it is undefined.
    confidence_level : float
        Nominal coverage of the interval of each subgroup, and of all differences at once.

    Notes
    -----
    The interval of the largest difference is made of those of the two subgroups (the method of
    variance estimates recovery [1]_) at the level that Bonferroni's correction for all pairs asks
    for, since it was chosen among them. It takes the subgroups for independent: where groups of
    samples lie in several of them, it is too long.

    References
    ----------
    .. [1] Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect
       measures: a general approach. Statistics in Medicine 27, 1693-1702.
       :doi:`10.1002/sim.3095`
    """

    metric: str
    names: tuple[Any, ...]
    sizes: tuple[int, ...]
    results: tuple[Any, ...] = field(repr=False)
    estimates: tuple[float, ...]
    confidence_level: float

    def __getitem__(self, name: Any) -> Any:
        """Return the result of a subgroup."""
        if name not in self.names:
            raise KeyError(f"no subgroup {name!r}; there are {', '.join(map(repr, self.names))}")
        return self.results[self.names.index(name)]

    @property
    def largest_difference(self) -> LargestDifference | None:
        """The largest difference between two subgroups, with an interval; None without two."""
        limits = [_limits_of(result) for result in self.results]
        return find_largest_difference(self.estimates, limits, self.confidence_level)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, ready for JSON.

        Returns
        -------
        dict
        """
        found = self.largest_difference
        return {
            "metric": self.metric,
            "confidence_level": self.confidence_level,
            "subgroups": [
                {
                    "subgroup": str(name),
                    "n_samples": size,
                    "estimate": estimate,
                    "low": result.interval.low,
                    "high": result.interval.high,
                    "interval": result.interval.method,
                }
                for name, size, estimate, result in self._rows()
            ],
            "largest_difference": found
            and {
                "first": str(self.names[found.first]),
                "second": str(self.names[found.second]),
                "difference": found.difference,
                "low": found.low,
                "high": found.high,
                "n_pairs": found.n_pairs,
            },
        }

    def to_frame(self) -> DataFrame:
        """Return a row for each subgroup; needs pandas."""
        return make_frame(self.to_dict()["subgroups"]).set_index("subgroup")

    def describe_difference(self) -> str:
        """Say between which subgroups the difference is largest, and whether it may be none."""
        found = self.largest_difference
        if found is None:
            return "There are no two subgroups to compare."
        a, b = self.names[found.first], self.names[found.second]
        width = (found.high - found.low) / 4
        difference, low, high = (
            write_estimate(number, width) for number in (found.difference, found.low, found.high)
        )
        start = (
            f"The largest difference is that of {a} over {b}: {difference}, "
            f"{100 * self.confidence_level:g} % interval {low} to {high}, corrected for "
            f"{found.n_pairs} pair{'s' * (found.n_pairs > 1)} of subgroups"
        )
        if found.low > 0:
            return f"{start}: it is more than chance explains."
        return f"{start}: there may be none."

    def __str__(self) -> str:
        rows = [
            (
                str(name),
                f"{write_number(estimate)}  {write_ends(found.low, found.high)}  {size} sample"
                + "s" * (size != 1),
            )
            for name, size, estimate, found in ((*row[:3], row[3].interval) for row in self._rows())
        ]
        return align_text(f"{self.metric} by subgroup", rows) + f"\n{self.describe_difference()}"

    def _rows(self) -> list[tuple[Any, int, float, Any]]:
        return list(zip(self.names, self.sizes, self.estimates, self.results, strict=True))


def _limits_of(result: Any) -> Callable[[float], Limits]:
    """Return the ends of the interval of a result, by confidence level."""

    def limits(confidence_level: float) -> Limits:
        interval = result.confidence_interval(confidence_level)
        return interval.low, interval.high

    return limits


def read_subgroups(by: Any, n_samples: int) -> tuple[list[Any], list[np.ndarray]]:
    """Return the names of the subgroups, and which samples each holds.

    What is missing is a subgroup, too; names of several types are compared as text.
    """
    if isinstance(by, str | bytes) or np.ndim(by) != 1 or len(by) != n_samples:
        got = np.shape(by) if not isinstance(by, str | bytes) else repr(by)
        raise ValueError(f"by must hold a subgroup for each of {n_samples} samples, got {got}.")
    values = ["missing" if is_missing(value) else value for value in list(by)]
    if len({type(value) for value in values}) > 1:
        values = [str(value) for value in values]
    names, codes = np.unique(np.array(values), return_inverse=True)
    return names.tolist(), [codes == code for code in range(len(names))]


def compare_subgroups(
    metric: str,
    by: Any,
    n_samples: int,
    measure: Callable[[np.ndarray], tuple[float, Any]],
    confidence_level: float,
) -> Subgroups:
    """Return what is measured in each subgroup: ``measure(chosen)`` gives estimate and result."""
    names, chosen = read_subgroups(by, n_samples)
    found: Sequence[tuple[float, Any]] = [measure(each) for each in chosen]
    return Subgroups(
        metric=metric,
        names=tuple(names),
        sizes=tuple(int(each.sum()) for each in chosen),
        results=tuple(result for _, result in found),
        estimates=tuple(float(estimate) for estimate, _ in found),
        confidence_level=confidence_level,
    )


class LargestDifference(NamedTuple):
    """The largest of all differences of two estimates, that of the first less the second.

    Attributes
    ----------
    first, second : int
        Which two; the first has the larger estimate.
    difference : float
    low, high : float
        Ends of its interval, which holds at the level for all differences at once.
    n_pairs : int
        Number of differences.
    """

    first: int
    second: int
    difference: float
    low: float
    high: float
    n_pairs: int


def subtract_limits(a: float, b: float, of_a: Limits, of_b: Limits) -> Limits:
    r"""Return the interval of ``a - b`` from those of two independent estimates.

    The method of variance estimates recovery (Zou and Donner 2008; Newcombe 1998 for Wilson's):
    :math:`a - b - \sqrt{(a - l_a)^2 + (u_b - b)^2}` and its mirror image.
    """
    low = a - b - np.hypot(a - of_a[0], of_b[1] - b)
    high = a - b + np.hypot(of_a[1] - a, b - of_b[0])
    return float(low), float(high)


def find_largest_difference(
    estimates: Sequence[float],
    limits: Sequence[Callable[[float], Limits]],
    confidence_level: float,
) -> LargestDifference | None:
    """Return the largest difference of two estimates; None where fewer than two are defined,
    with an interval.

    The level is Bonferroni's for all pairs, since the largest is chosen among them.
    """
    known = [
        k
        for k, estimate in enumerate(estimates)
        if np.isfinite([estimate, *limits[k](confidence_level)]).all()
    ]
    if len(known) < 2:
        return None
    pairs = list(combinations(known, 2))
    level = 1 - (1 - confidence_level) / len(pairs)
    first, second = max(pairs, key=lambda pair: abs(estimates[pair[0]] - estimates[pair[1]]))
    if estimates[first] < estimates[second]:
        first, second = second, first
    a, b = estimates[first], estimates[second]
    low, high = subtract_limits(a, b, limits[first](level), limits[second](level))
    return LargestDifference(first, second, a - b, low, high, len(pairs))
