"""What `error_interval` returns."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from skeval._inference.finding import Finding, finding_forms, finding_limits
from skeval._inference.interval import ConfidenceInterval
from skeval.model_selection._interval_bootstraps import QUANTILES
from skeval.model_selection._results import bounds_of
from skeval.utils._checks import check_level, check_option
from skeval.utils._text import aligned, mean_loss_name

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ErrorInterval", "read_error"]


@dataclass(frozen=True, eq=False)
class ErrorInterval:
    """The error of a procedure, and a confidence interval of it.

    Attributes
    ----------
    method : str
        The method that found it.
    error : float
        The estimate, in the unit of the loss (a fraction for 0-1 loss). Smaller is better.
    standard_error : float
        What the method takes for its standard error, same unit.
    interval : ConfidenceInterval
        The interval at the level asked for, in the form that suits the loss.
    n_fits : int
        Number of models that were fitted.
    effective_n_samples : float or None
        Number of independent samples whose mean loss would have this standard error; None where
        the method does not tell it.
    replicates : ndarray
        What was averaged, or whose quantiles make the interval: errors of folds, subsamples,
        repeats or resamples; of "holdout" the losses.
    loss : str
        Name of the loss.
    n_samples : int
        Number of samples.
    n_groups : int or None
        Number of groups, the units that were counted; None where samples are independent.
    n_failed : int
        Number of fits that failed and were left out (``error_score=numpy.nan`` only).
    degrees_of_freedom : float
        Of Student's quantile; infinity where it is the normal one.
    parameters : dict
        The parameters of the method.
    """

    method: str
    error: float
    standard_error: float
    interval: ConfidenceInterval
    n_fits: int
    effective_n_samples: float | None
    replicates: np.ndarray = field(repr=False)
    loss: str
    n_samples: int
    n_groups: int | None
    n_failed: int
    degrees_of_freedom: float
    parameters: dict[str, Any]

    @property
    def interval_methods(self) -> tuple[str, ...]:
        """The forms that `confidence_interval` takes, the default first."""
        return finding_forms(self.loss, self.method in QUANTILES, self.degrees_of_freedom)

    def confidence_interval(
        self, confidence_level: float | None = None, method: str | None = None
    ) -> ConfidenceInterval:
        """Read another interval off the same numbers, without fitting.

        Parameters
        ----------
        confidence_level : float, default=None
            Nominal coverage, between 0 and 1; None keeps that of `interval`.
        method : str, default=None
            One of `interval_methods`; None takes the first. "wilson" is Wilson's interval of
            `effective_n_samples` for 0-1 loss, "log" that of the logarithm for squared and
            absolute loss, "normal" and "t" are ``error -/+ quantile * standard_error``, cut off
            at the range of the loss, and "quantile" is of the replicates.

        Returns
        -------
        ConfidenceInterval
        """
        level = self.interval.level if confidence_level is None else confidence_level
        finding = Finding(
            self.error,
            self.standard_error,
            self.replicates,
            self.degrees_of_freedom,
            self.effective_n_samples,
        )
        return read_error(finding, self.loss, level, self.interval_methods, method)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers without the replicates, ready for JSON.

        Returns
        -------
        dict
        """
        return {
            "method": self.method,
            "error": self.error,
            "standard_error": self.standard_error,
            "low": self.interval.low,
            "high": self.interval.high,
            "confidence_level": self.interval.level,
            "interval": self.interval.method,
            "n_fits": self.n_fits,
            "n_failed": self.n_failed,
            "effective_n_samples": self.effective_n_samples,
            "n_samples": self.n_samples,
            "n_groups": self.n_groups,
            "loss": self.loss,
        }

    def to_frame(self) -> "pd.DataFrame":
        """Return one row with the numbers, to be put below those of other methods."""
        import pandas as pd

        return pd.DataFrame([self.to_dict()])

    def __str__(self) -> str:
        interval = self.interval
        rows = [
            (mean_loss_name(self.loss), f"{self.error:.4f}"),
            (
                f"{100 * interval.level:g} % interval",
                f"[{interval.low:.4f}, {interval.high:.4f}] ({interval.method})",
            ),
            ("standard error", f"{self.standard_error:.4f}"),
        ]
        if self.effective_n_samples is not None:
            rows.append(("worth", f"{self.effective_n_samples:.0f} of {self.n_samples} samples"))
        if self.n_groups is not None:
            rows.append(("groups", f"{self.n_groups}"))
        rows.append(("fits", f"{self.n_fits}"))
        if self.n_failed:
            rows.append(("failed fits", f"{self.n_failed}"))
        return aligned(f"error interval, {self.method} ({self.loss} loss)", rows)


def read_error(
    finding: Finding, loss: str, level: float, forms: tuple[str, ...], form: str | None = None
) -> ConfidenceInterval:
    """Return the interval of a finding in one of the forms, the first by default."""
    check_level(level, "confidence_level")
    form = check_option("method", form or forms[0], forms)
    low, high, form = finding_limits(finding, form, level, bounds_of(loss))
    return ConfidenceInterval(low, high, float(level), form)
