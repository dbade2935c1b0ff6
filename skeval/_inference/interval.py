"""The one form of an interval."""

from dataclasses import dataclass

import numpy as np

from skeval.utils._checks import warn_undefined

__all__ = ["ConfidenceInterval", "require_width"]

_ROUNDING = 1e-12  # a relative width


@dataclass(frozen=True)
class ConfidenceInterval:
    """A two-sided confidence interval.

    Attributes
    ----------
    low, high : float
        Its ends, in the unit of the estimate.
    level : float
        Nominal coverage, between 0 and 1.
    method : str
        How it was made.
    """

    low: float
    high: float
    level: float
    method: str

    def __str__(self) -> str:
        return f"[{self.low:.4f}, {self.high:.4f}] ({100 * self.level:g} %, {self.method})"

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


def require_width(limits: tuple[float, float]) -> tuple[float, float]:
    """Return the limits; where they are undefined or coincide, nan with a warning."""
    low, high = limits
    if np.isnan(low) or np.isnan(high):
        warn_undefined("The interval of the metric is undefined on these data: nan.")
    elif high - low <= _ROUNDING * max(abs(low), abs(high)):
        warn_undefined(
            f"The interval is undefined, nan: nothing varies around {low}, so that the data do "
            "not say how the metric would."
        )
    else:
        return low, high
    return np.nan, np.nan
