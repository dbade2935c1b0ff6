"""What metric_interval returns."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from skeval._inference.interval import ConfidenceInterval
from skeval.utils._text import aligned

__all__ = ["MetricInterval"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MetricInterval(ConfidenceInterval):
    """A metric and its confidence interval.

    Attributes
    ----------
    low, high : float
        Ends of the interval, in the unit of the metric.
    level : float
        Nominal coverage.
    method : str
        The method that was used: "wilson", "exact", "wald", "score", "delong", "delta", "normal",
        "hall", "t", "bca" or "percentile".
    metric : str
        Name of the metric.
    estimate : float
        Its value on the data.
    standard_error : float
        Standard error of the estimate: of the formula, or the spread of the replicates.
    n_samples : int
        Number of samples.
    replicates : ndarray of shape (n_resamples,) or None
        Values on the resamples, nan where undefined; None for a formula.
    """

    metric: str
    estimate: float
    standard_error: float
    n_samples: int
    replicates: Floats | None = field(default=None, repr=False)

    @property
    def n_undefined(self) -> int:
        """Number of replicates on which the metric is undefined, and which are left out."""
        return 0 if self.replicates is None else int(np.isnan(self.replicates).sum())

    def __str__(self) -> str:
        rows = [
            ("estimate", f"{self.estimate:.4f}"),
            ("standard error", f"{self.standard_error:.4f}"),
            (f"{100 * self.level:g} % interval", f"[{self.low:.4f}, {self.high:.4f}]"),
            ("method", self.method),
            ("samples", f"{self.n_samples}"),
        ]
        if self.replicates is not None:
            rows.append(("resamples", f"{len(self.replicates)}"))
            if self.n_undefined:
                rows.append(("undefined", f"{self.n_undefined} of them"))
        return aligned(self.metric, rows)
