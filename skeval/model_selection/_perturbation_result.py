"""The perturbation interval: its draws, and the forms that it can be read in."""

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skeval._inference.draws import interval_of_draws
from skeval._inference.interval import ConfidenceInterval
from skeval.model_selection._results import NON_NEGATIVE, bounds_of
from skeval.utils._checks import check_option
from skeval.utils._text import aligned

__all__ = ["INTERVALS", "PerturbationInterval", "interval_form"]

INTERVALS = ("wilson", "log", "normal", "pivotal", "symmetric", "quantile")


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
    interval : {"wilson", "log", "normal", "pivotal", "symmetric", "quantile"}
        The form of the interval.
    statistic : {"resubstitution", "cross_validation"}
        The statistic that was perturbed.
    n_samples : int
        Number of samples.
    loss : str
        Name of the loss.
    effective_size : float
        Number of samples of equal weight that say as much as those tested, ``(sum w)^2 / sum w^2``;
        `n_samples` without sample weights where `cv` tests every sample.
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
    effective_size: float

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
        interval : {"wilson", "log", "normal", "pivotal", "symmetric", "quantile"}, default=None
            Its form; None keeps that of the result.

        Returns
        -------
        ConfidenceInterval

        Warns
        -----
        UserWarning
            If an interval of 0-1 loss has no width, which "wilson" always has.
        """
        level = self.level if level is None else level
        form = self.interval if interval is None else interval_form(interval, self.loss)
        deviations = self.statistics / np.sqrt(self.n_samples)
        low, high = interval_of_draws(self.error, deviations, level, form, self.effective_size)
        low, high = np.clip([low, high], *bounds_of(self.loss))
        if low == high and self.loss == "zero_one":
            warnings.warn(
                f"the interval {form!r} has no width, which does not mean that the error is known; "
                "interval='wilson' has a width in every case.",
                UserWarning,
                stacklevel=2,
            )
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


def interval_form(form: str | None, loss: str) -> str:
    """Return the form of an interval that a loss has; None means the one that fits the loss."""
    if form is None:
        return "wilson" if loss == "zero_one" else "log" if loss in NON_NEGATIVE else "normal"
    check_option("interval", form, INTERVALS)
    if (form == "wilson" and loss != "zero_one") or (form == "log" and loss not in NON_NEGATIVE):
        raise ValueError(
            "interval must fit the loss: 'wilson' is for 'zero_one', 'log' for 'squared' and "
            f"'absolute'; got {form!r} for {loss!r}."
        )
    return form
