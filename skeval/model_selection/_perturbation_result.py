"""The perturbation interval: its draws, and the forms that it can be read in."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import norm

from skeval.model_selection._results import ConfidenceInterval
from skeval.utils._checks import check_level, check_option
from skeval.utils._text import aligned

__all__ = ["INTERVALS", "PerturbationInterval", "interval_of_draws"]

INTERVALS = ("normal", "pivotal", "symmetric", "quantile")


@dataclass(frozen=True, eq=False)
class PerturbationInterval:
    """A confidence interval of an error, and the draws that it was made of.

    Attributes
    ----------
    error : float
        The cross-validated error, the centre of the interval.
    low, high : float
        Its ends.
    level : float
        Nominal coverage.
    resubstitution : float
        Error of the fit on all samples on those samples.
    statistics : ndarray of shape (n_resamples,)
        The perturbed statistics `W*`; divided by the root of `n_samples` they are errors.
    interval : {"normal", "pivotal", "symmetric", "quantile"}
        The form of the interval.
    statistic : {"resubstitution", "cross_validation"}
        The statistic that was perturbed.
    n_samples : int
        Number of samples.
    loss : str
        Name of the loss.
    """

    error: float
    low: float
    high: float
    level: float
    resubstitution: float
    statistics: np.ndarray = field(repr=False)
    interval: str
    statistic: str
    n_samples: int
    loss: str

    @property
    def standard_error(self) -> float:
        """Standard deviation of `W*` over the root of n."""
        return float(np.std(self.statistics, ddof=1) / np.sqrt(self.n_samples))

    def confidence_interval(
        self, level: float | None = None, interval: str | None = None
    ) -> ConfidenceInterval:
        """Read another interval off the same draws, without refitting.

        Parameters
        ----------
        level : float, default=None
            Nominal coverage; None keeps that of the result.
        interval : {"normal", "pivotal", "symmetric", "quantile"}, default=None
            Its form; None keeps that of the result.

        Returns
        -------
        ConfidenceInterval
        """
        level = self.level if level is None else level
        form = self.interval if interval is None else interval
        deviations = self.statistics / np.sqrt(self.n_samples)
        low, high = interval_of_draws(self.error, deviations, level, form)
        bounds = (0.0, 1.0) if self.loss == "zero_one" else (-np.inf, np.inf)
        low, high = np.clip([low, high], *bounds)
        return ConfidenceInterval(float(low), float(high), float(level), form)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers without the draws, ready for JSON.

        Returns
        -------
        dict
        """
        return {
            "error": self.error,
            "standard_error": self.standard_error,
            "low": self.low,
            "high": self.high,
            "level": self.level,
            "resubstitution": self.resubstitution,
            "interval": self.interval,
            "statistic": self.statistic,
            "n_samples": self.n_samples,
            "n_resamples": len(self.statistics),
            "loss": self.loss,
        }

    def __str__(self) -> str:
        rows = [
            ("cross-validated error", f"{self.error:.4f}"),
            (f"{100 * self.level:g} % interval", f"[{self.low:.4f}, {self.high:.4f}]"),
            ("form", self.interval),
            ("statistic", self.statistic),
            ("resubstitution error", f"{self.resubstitution:.4f}"),
            ("perturbations", f"{len(self.statistics)}"),
        ]
        return aligned(f"perturbation interval ({self.loss} loss)", rows)


def interval_of_draws(
    centre: float, deviations: np.ndarray, level: float, form: str
) -> tuple[float, float]:
    """Return the interval around `centre` that draws of its deviation make (not clipped)."""
    check_level(level)
    check_option("interval", form, INTERVALS)
    tail = (1 - level) / 2
    needed = 2 if form == "normal" else int(np.ceil(1 / tail - 1e-9))
    if len(deviations) < needed:
        raise ValueError(
            f"n_resamples must be >= {needed} for interval={form!r} at level {level:g}, "
            f"got {len(deviations)}."
        )
    if form == "normal":
        half = norm.isf(tail) * np.std(deviations, ddof=1)
    elif form == "symmetric":
        half = np.quantile(np.abs(deviations), level)
    else:
        lower, upper = np.quantile(deviations, [tail, 1 - tail])
        if form == "pivotal":
            return float(centre - upper), float(centre - lower)
        half = abs(upper)
    return float(centre - half), float(centre + half)
