"""Intervals of a smooth function of the cells of a confusion table."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from skeval._inference.delta import FScore, delta_variance
from skeval._inference.means import normal_quantile
from skeval._inference.score_region import ValueAndGradient, score_limits

__all__ = ["ConfusionTable", "delta_error", "score_interval"]

Floats = NDArray[np.float64]
_ROUNDING = 1e-24  # of squared influence values, each of a relative error of about 1e-16


class ConfusionTable(NamedTuple):
    """A table of counts (rows true), the cell of each sample, and the metric of such tables."""

    counts: Floats
    cell: NDArray[np.intp]
    weight: Floats
    metric: ValueAndGradient
    score: FScore | None = None  # for the delta method

    @property
    def share(self) -> Floats:
        """Share of each cell."""
        return self.counts / self.counts.sum()


def score_interval(
    table: ConfusionTable, estimate: float, level: float, groups: Any = None
) -> tuple[tuple[float, float], float]:
    """Return the score interval and the standard error of the estimate.

    The size of the sample is the number of independent samples, each of weight 1, whose metric
    would have this variance. Groups take Student's quantile, as Korn and Graubard (1998) do.
    """
    share = table.share
    gradient = table.metric(share)[1]
    slope = gradient - np.sum(share * gradient)
    weight = table.weight / table.weight.max()  # the square of a weight may be no float
    influence = weight * slope.ravel()[table.cell]
    total = weight.sum()
    largest = total**2 / np.sum(weight**2)
    z = normal_quantile(level)
    size, variance = largest, np.sum(influence**2) / total**2
    if groups is not None:
        unit = np.unique(np.asarray(groups), return_inverse=True)[1]
        influence = np.bincount(unit, influence).astype(np.float64)
        size = n_groups = len(influence)
        variance = n_groups / (n_groups - 1) * np.sum(influence**2) / total**2
        z = float(stats.t.isf((1 - level) / 2, n_groups - 1))
    alone = np.sum(share * slope**2)
    if alone > _ROUNDING * np.max(slope**2) and variance > 0:
        size = min(float(alone / variance), largest)
    low, high = score_limits(table.metric, share, z**2 / size)
    return (min(low, estimate), max(high, estimate)), float(np.sqrt(variance))


def delta_error(table: ConfusionTable) -> float:
    """Return the standard error of the delta method."""
    if table.score is None:
        return np.nan
    return float(np.sqrt(delta_variance(table.counts, table.score)[1]))
