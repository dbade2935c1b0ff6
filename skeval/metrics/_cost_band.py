"""Bootstrap band of a cost curve, or of the difference of two."""

from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator, RandomState
from numpy.typing import ArrayLike, NDArray

from skeval.metrics._checks import check_binary_scores
from skeval.metrics._cost import hull, lower_envelope
from skeval.metrics._ranking import SCORE_CONSTRAINTS, cumulative_counts
from skeval.utils._compat import Interval, validate_params
from skeval.utils._random import repetition_rng, root_seed

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CostCurveBand", "cost_curve_band"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CostCurveBand:
    """A cost curve, or the difference of two, with a pointwise bootstrap interval.

    Attributes
    ----------
    probability_cost : ndarray of shape (n_points,)
        The x values, evenly from 0 to 1.
    cost : ndarray of shape (n_points,)
        The normalised expected cost, or its difference.
    low, high : ndarray of shape (n_points,)
        Ends of the interval at each x.
    level : float
        Nominal pointwise coverage.
    replicates : ndarray of shape (n_resamples, n_points)
        The curves of the resamples.
    is_difference : bool
        Whether a baseline was subtracted.
    """

    probability_cost: Floats = field(repr=False)
    cost: Floats = field(repr=False)
    low: Floats = field(repr=False)
    high: Floats = field(repr=False)
    level: float
    replicates: Floats = field(repr=False)
    is_difference: bool

    def to_frame(self) -> "pd.DataFrame":
        """Return one row per x."""
        import pandas as pd

        columns = ("probability_cost", "cost", "low", "high")
        return pd.DataFrame({name: getattr(self, name) for name in columns})

    def __str__(self) -> str:
        what = "difference" if self.is_difference else "cost"
        rows = [f"{'P(+)cost':>8}  {what:>10}  {100 * self.level:g} % interval"]
        for i in np.unique(np.linspace(0, len(self.cost) - 1, 5).astype(int)):
            interval = f"[{self.low[i]:.4f}, {self.high[i]:.4f}]"
            rows.append(f"{self.probability_cost[i]:8.2f}  {self.cost[i]:10.4f}  {interval}")
        return "\n".join(rows)


@validate_params(
    {
        **SCORE_CONSTRAINTS,
        "baseline": ["array-like", None],
        "level": [Interval(Real, 0, 1, closed="neither")],
        "n_resamples": [Interval(Integral, 1, None, closed="left")],
        "n_points": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state", Generator],
    },
    prefer_skip_nested_validation=True,
)
def cost_curve_band(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    baseline: ArrayLike | None = None,
    pos_label: object = None,
    level: float = 0.95,
    n_resamples: int = 1000,
    n_points: int = 101,
    random_state: int | RandomState | Generator | None = None,
) -> CostCurveBand:
    """Bootstrap interval of the cost curve at each x, or of its difference from a second one.

    Positive and negative samples are resampled separately, for the axis of the curve, not the
    sample, says how frequent they are; two scores are resampled together. Lower cost is better:
    where the band of a difference lies below 0, `y_score` beats `baseline` at those costs.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes, two.
    y_score : array-like of shape (n_samples,)
        Larger says more surely positive.
    baseline : array-like of shape (n_samples,), default=None
        A second score, whose curve is subtracted.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 where `y_true` takes values in {0, 1} or {-1, 1}.
    level : float, default=0.95
        Nominal coverage at each x by itself, not of the whole curve.
    n_resamples : int, default=1000
        Number of bootstrap resamples.
    n_points : int, default=101
        Number of x values.
    random_state : int, RandomState, Generator or None, default=None
        Draws the resamples.

    Returns
    -------
    band : CostCurveBand
        With `probability_cost`, `cost`, `low`, `high` and the `replicates`.

    Raises
    ------
    ValueError
        If a class is absent, there are more than two, or a score is not finite.

    Notes
    -----
    Percentile interval. Every resample takes its own best thresholds, so the replicates share the
    optimism of the curve itself.

    References
    ----------
    .. [1] C. Drummond and R. C. Holte (2006), Cost curves: an improved method for visualizing
       classifier performance, Machine Learning 65:95-130,
       https://doi.org/10.1007/s10994-006-8199-5

    Examples
    --------
    >>> from skeval.metrics import cost_curve_band
    >>> y, score = [0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.6, 0.4, 0.7, 0.9]
    >>> band = cost_curve_band(y, score, n_points=3, random_state=0)
    >>> print(band)
    P(+)cost        cost  95 % interval
        0.00      0.0000  [0.0000, 0.0000]
        0.50      0.1667  [0.0000, 0.3333]
        1.00      0.0000  [0.0000, 0.0000]
    """
    scores = [y_score] if baseline is None else [y_score, baseline]
    checked = [check_binary_scores(y_true, score, pos_label, None)[:2] for score in scores]
    positive = checked[0][0]
    if positive.all() or not positive.any():
        raise ValueError("y_true must hold both classes, got one.")
    grid = np.linspace(0, 1, n_points)

    def curve(weight: Floats) -> Floats:
        costs = [_costs_on(grid, positive, score, weight) for _, score in checked]
        return costs[0] if baseline is None else costs[0] - costs[1]

    root = root_seed(random_state)
    replicates = np.array(
        [curve(_counts(positive, repetition_rng(root, b))) for b in range(n_resamples)]
    )
    low, high = np.quantile(replicates, [(1 - level) / 2, (1 + level) / 2], axis=0)
    estimate = curve(np.ones(len(positive)))
    return CostCurveBand(grid, estimate, low, high, level, replicates, baseline is not None)


def _counts(positive: NDArray[np.bool_], rng: Generator) -> Floats:
    """Return how often each sample is drawn, each class with replacement to its own size."""
    counts = np.empty(len(positive))
    for members in (positive, ~positive):
        size = int(members.sum())
        counts[members] = np.bincount(rng.integers(0, size, size), minlength=size)
    return counts


def _costs_on(grid: Floats, positive: NDArray[np.bool_], score: Floats, weight: Floats) -> Floats:
    tp, fp, _ = cumulative_counts(positive, score, weight)
    vertices = hull(tp, fp)
    lines = np.column_stack([fp[vertices] / fp[-1], 1 - tp[vertices] / tp[-1]])
    x, y, _ = lower_envelope(lines)
    return np.interp(grid, x, y)
