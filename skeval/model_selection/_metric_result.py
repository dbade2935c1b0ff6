"""The result of `metric_interval`."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from skeval._inference.interval import Limits, LimitsResult, require_width
from skeval.utils._checks import warn_undefined
from skeval.utils._text import align_text, write_number, write_spread

__all__ = ["MetricInterval"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MetricInterval(LimitsResult):
    """A metric and its confidence interval.

    Attributes
    ----------
    method : str
        The method that was used: "wilson", "exact", "jeffreys", "wald", "score", "delong",
        "delta", "normal", "hall", "t", "bca", "percentile" or "basic".
    metric : str
        Name of the metric.
    estimate : float
        Its value on the data.
    standard_error : float
        Standard error of the estimate: of the formula, or the spread of the replicates.
    n_samples : int
        Number of samples.
    limits : dict of str to callable
        The ends of the interval by confidence level, for each method that these numbers allow.
    replicates : ndarray of shape (n_resamples,) or None
        Values on the resamples, nan where undefined; None for a formula.
    interval : ConfidenceInterval
        That of the metric, by the method that was used; nan where it is undefined.
    confidence_level : float
        Its nominal coverage.
    """

    method: str
    metric: str
    estimate: float
    standard_error: float
    n_samples: int
    replicates: Floats | None = field(default=None, repr=False)

    @property
    def n_undefined(self) -> int:
        """Number of replicates on which the metric is undefined, and which are left out."""
        return 0 if self.replicates is None else int(np.isnan(self.replicates).sum())

    def _limits_at(self, confidence_level: float, method: str) -> Limits:
        limits = super()._limits_at(confidence_level, method)
        if np.isnan(limits).any():
            warn_undefined("The interval of the metric is undefined on these data: nan.")
            return limits
        return require_width(limits)

    def __str__(self) -> str:
        rows = [
            ("estimate", write_number(self.estimate)),
            ("standard error", write_spread(self.standard_error)),
            self._interval_row(),
            ("method", self.method),
            ("samples", f"{self.n_samples}"),
        ]
        if self.replicates is not None:
            rows.append(("resamples", f"{len(self.replicates)}"))
            if self.n_undefined:
                rows.append(("undefined", f"{self.n_undefined} of them"))
        return align_text(self.metric, rows)
