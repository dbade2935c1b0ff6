"""The one form of an interval, and of a result that has one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skeval.utils._checks import check_confidence_level, check_option, warn_undefined
from skeval.utils._text import ShownAsText, write_ends

__all__ = [
    "ConfidenceInterval",
    "IntervalResult",
    "Limits",
    "LimitsByMethod",
    "LimitsResult",
    "WithEnds",
    "require_width",
]

Limits = tuple[float, float]
LimitsByMethod = Mapping[str, Callable[[float], Limits]]
_ROUNDING = 1e-12  # a relative width


@dataclass(frozen=True)
class ConfidenceInterval(ShownAsText):
    """A two-sided confidence interval.

    Attributes
    ----------
    low, high : float
        Its ends, in the unit of the estimate.
    confidence_level : float
        Nominal coverage, between 0 and 1.
    method : str
        How it was made.
    """

    low: float
    high: float
    confidence_level: float
    method: str

    def __str__(self) -> str:
        level = f"{100 * self.confidence_level:g} %"
        return f"{write_ends(self.low, self.high)} ({level}, {self.method})"

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True, eq=False)
class IntervalResult(ShownAsText):
    """A result with an interval, whose numbers make one at any confidence level.

    A subclass says by which methods, and computes the limits. Where nothing varies and the interval
    would have no width, it is nan, with a warning.
    """

    interval: ConfidenceInterval = field(init=False)
    confidence_level: float = field(default=0.95, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "interval", self.confidence_interval())

    @property
    def interval_methods(self) -> tuple[str, ...]:
        """The names that `confidence_interval` takes, the default first."""
        raise NotImplementedError

    def confidence_interval(
        self, confidence_level: float | None = None, method: str | None = None
    ) -> ConfidenceInterval:
        """Read an interval off the numbers of the result, without computing them again.

        Where nothing varies and the interval would have no width, it is nan, with a warning.

        Parameters
        ----------
        confidence_level : float, default=None
            Nominal coverage, between 0 and 1; None keeps that of the result.
        method : str, default=None
            One of `interval_methods`; None takes the first.

        Returns
        -------
        ConfidenceInterval
        """
        level = self.confidence_level if confidence_level is None else confidence_level
        check_confidence_level(level)
        methods = self.interval_methods
        method = check_option("method", methods[0] if method is None else method, methods)
        return ConfidenceInterval(
            *require_width(self._limits_at(level, method)), float(level), method
        )

    def _limits_at(self, confidence_level: float, method: str) -> Limits:
        raise NotImplementedError

    def _interval_items(self) -> dict[str, Any]:
        """Return what `to_dict` of a result says of its interval."""
        return {
            "low": self.interval.low,
            "high": self.interval.high,
            "confidence_level": self.interval.confidence_level,
            "interval": self.interval.method,
        }

    def _interval_row(self) -> tuple[str, str]:
        """Return the level and the ends as a line of the printed result."""
        ends = write_ends(self.interval.low, self.interval.high)
        return f"{100 * self.confidence_level:g} % interval", ends


@dataclass(frozen=True, eq=False)
class LimitsResult(IntervalResult):
    """A result that is given the ends of its interval by method, as functions of the level.

    No interval ends beyond `bounds`, the smallest and the largest value that there can be.
    """

    limits: LimitsByMethod = field(kw_only=True, repr=False)
    bounds: Limits = field(default=(-np.inf, np.inf), kw_only=True, repr=False)

    @property
    def interval_methods(self) -> tuple[str, ...]:
        """The names that `confidence_interval` takes, the default first."""
        return tuple(self.limits)

    def _limits_at(self, confidence_level: float, method: str) -> Limits:
        low, high = np.clip(self.limits[method](confidence_level), *self.bounds).tolist()
        return low, high


class WithEnds:
    """A result that has the ends of its interval as attributes of its own."""

    interval: ConfidenceInterval

    @property
    def low(self) -> float:
        """Lower end of `interval`."""
        return self.interval.low

    @property
    def high(self) -> float:
        """Upper end of `interval`."""
        return self.interval.high


def require_width(limits: Limits) -> Limits:
    """Return the limits; nan with a warning where they coincide."""
    low, high = limits
    if low != high and not high - low <= _ROUNDING * max(abs(low), abs(high)) < np.inf:
        return limits
    warn_undefined(
        f"The interval is undefined, nan: nothing varies around {low:.6g}, so that the data do not "
        "say how the estimate would."
    )
    return np.nan, np.nan
