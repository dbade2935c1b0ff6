"""Intervals of a smooth function of the cells of a confusion table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skeval._inference.delta import FScore, delta_variance
from skeval._inference.interval import Limits
from skeval._inference.means import normal_quantile, standard_error_of_ratio
from skeval._inference.score_region import ValueAndGradient, score_limits

__all__ = ["ConfusionTable", "delta_error", "score_form"]

Floats = NDArray[np.float64]
_ROUNDING = 1e-24
"""Of squared influence values, each of a relative error of about 1e-16."""


class ConfusionTable(NamedTuple):
    """A table of counts (rows true), the cell of each sample, and the metric of such tables."""

    counts: Floats
    cell: NDArray[np.intp]
    weight: Floats
    metric: ValueAndGradient
    score: FScore | None = None  # The delta method needs it.

    @property
    def share(self) -> Floats:
        """Share of each cell."""
        return self.counts / self.counts.sum()

    def shares(self, parts: Iterable[NDArray[np.bool_]]) -> Iterator[Floats]:
        """Yield the share of each cell among some of the samples."""
        for part in parts:
            counts = np.bincount(self.cell[part], self.weight[part], minlength=self.counts.size)
            yield (counts / counts.sum()).reshape(self.counts.shape)


def score_form(
    table: ConfusionTable,
    estimate: float,
    groups: Any = None,
    *,
    repeat: NDArray[np.intp] | None = None,
    widen: Callable[[float], float] | None = None,
) -> tuple[Callable[[float], Limits], float]:
    """Return the score interval by confidence level, and the standard error of the estimate.

    The size of the sample is the number of independent samples, each of weight 1, whose metric
    would have this variance. Groups take Student's quantile, as Korn and Graubard (1998) do.
    Where the table adds up several tables of the same samples, each a `repeat`, the variance is
    the mean of theirs. `widen` says of it how many times as large that of the estimate is.
    """
    share = table.share
    gradient = table.metric(share)[1]
    slope = gradient - np.sum(share * gradient)
    weight = table.weight / table.weight.max()  # The square of a weight may overflow.
    influence = weight * slope.ravel()[table.cell]
    by_group, group = groups is not None, np.asarray(groups)
    parts: list[Any] = (
        [slice(None)] if repeat is None else [repeat == one for one in np.unique(repeat)]
    )
    largest = weight.sum() ** 2 / np.sum(weight**2) / len(parts)
    found = [
        standard_error_of_ratio(influence[part], weight[part], group[part] if by_group else None)
        for part in parts
    ]
    error, n_groups = float(np.sqrt(np.mean([one[0] ** 2 for one in found]))), found[0][1]
    size = largest if n_groups is None else n_groups
    alone = np.sum(share * slope**2)
    if alone > _ROUNDING * np.max(slope**2) and error > 0:
        size = min(float(alone / error**2), largest)
    larger = 1.0 if widen is None else widen(error**2)
    made_of = table.metric, share, estimate, float(size) / larger, n_groups
    return partial(_score_interval, *made_of), error * float(np.sqrt(larger))


def _score_interval(
    metric: ValueAndGradient,
    share: Floats,
    estimate: float,
    size: float,
    n_groups: int | None,
    confidence_level: float,
) -> Limits:
    z = normal_quantile(confidence_level, n_groups)
    low, high = score_limits(metric, share, z**2 / size)
    return min(low, estimate), max(high, estimate)


def delta_error(table: ConfusionTable) -> float:
    """Return the standard error of the delta method."""
    if table.score is None:
        return np.nan
    return float(np.sqrt(delta_variance(table.counts, table.score)[1]))
