"""What the estimators of error return: frozen, with their replicates, printable."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skeval._inference.interval import IntervalResult, Limits
from skeval._inference.means import normal_interval, normal_quantile
from skeval._inference.proportions import PROPORTION_INTERVALS, effective_size, log_interval
from skeval.utils._text import align_text, write_number, write_spread

__all__ = ["NON_NEGATIVE", "CrossValErrorEstimate", "ErrorEstimate", "bounds_of"]

INFLATION = 2.0
"""Mean squared deviation of one cross-validation from the risk, over its naive variance."""
NON_NEGATIVE = ("squared", "absolute")
"""Losses whose mean has an interval on the logarithmic scale."""


@dataclass(frozen=True, eq=False)
class ErrorEstimate(IntervalResult):
    """An estimate of the expected loss of a classifier or regressor.

    Attributes
    ----------
    method : str
        The name of the estimator.
    error : float
        The estimate, in the unit of the loss (a fraction for 0-1 loss). Smaller is better.
    standard_error : float
        Its estimated standard error, same unit.
    n_samples : int
        Number of distinct samples that were tested.
    loss : str
        Name of the loss.
    replicates : ndarray
        What was averaged: per-sample losses, fold errors or the errors of the resamples.
    n_failed : int
        Number of fits that failed and were left out (``error_score=numpy.nan`` only).
    effective_n_samples : float or None
        Where the samples have weights ``w``, ``sum(w)^2 / sum(w^2)``: no interval counts more.
    n_groups : int or None
        Number of groups of samples that belong together, the units of `standard_error` and of
        the intervals; None where the samples are independent.
    interval : ConfidenceInterval
        That of the error, by the first of `interval_methods`.
    confidence_level : float
        Nominal coverage of `interval`.

    Notes
    -----
    For 0-1 loss "wilson", "agresti_coull", "jeffreys", "exact" and "wald" take the error for a
    proportion of ``error (1 - error) / standard_error^2`` independent samples, of `n_samples` at
    most, and of `n_samples` (or `n_groups`) where the error is 0 or 1; so all but "wald" have a
    width even if no error was seen. "wald" and "normal" have none there, and are nan, with a
    warning, as every interval is where nothing varies. For squared and absolute loss "log" is the
    normal interval of the logarithm of the error, which holds no negative number; "normal" is cut
    off at 0.
    """

    method: str
    error: float
    standard_error: float
    n_samples: int
    loss: str
    replicates: np.ndarray = field(repr=False)
    n_failed: int = field(default=0, kw_only=True)
    n_groups: int | None = field(default=None, kw_only=True)
    effective_n_samples: float | None = field(default=None, kw_only=True)

    @property
    def interval_methods(self) -> tuple[str, ...]:
        """The names that `confidence_interval` takes, the default first."""
        if self.loss == "zero_one":
            return (*PROPORTION_INTERVALS, "normal")
        return ("log", "normal") if self.loss in NON_NEGATIVE else ("normal",)

    def _limits_at(self, confidence_level: float, method: str) -> Limits:
        return self._limits_inflated(confidence_level, method, 1.0)

    def _limits_inflated(self, confidence_level: float, method: str, inflation: float) -> Limits:
        """Return the limits as if the variance were so many times as large."""
        if self.n_groups == 1:
            return bounds_of(self.loss)
        # Student's quantile of groups, as Korn and Graubard (1998) take it
        student = normal_quantile(confidence_level, self.n_groups)
        wider = float(np.sqrt(inflation)) * student / normal_quantile(confidence_level)
        spread = wider * self.standard_error
        if method == "normal":
            return normal_interval(self.error, spread, confidence_level, bounds_of(self.loss))
        if method == "log":
            return log_interval(self.error, spread, confidence_level)
        n = self._interval_size / wider**2
        return PROPORTION_INTERVALS[method](self.error * n, n, confidence_level)

    @property
    def _interval_size(self) -> float:
        """Number of independent samples whose error rate would have this standard error."""
        n = self.n_samples if self.effective_n_samples is None else self.effective_n_samples
        return effective_size(self.error, self.standard_error, n, self.n_groups)

    def _lines(self) -> list[tuple[str, str]]:
        head, ends = self._interval_row()
        rows = [
            ("error", write_number(self.error)),
            ("standard error", write_spread(self.standard_error)),
            (head, f"{ends} ({self.interval.method})"),
            ("samples tested", f"{self.n_samples}"),
        ]
        if self.n_groups is not None:
            rows.append(("groups tested", f"{self.n_groups}"))
        if self.n_failed:
            rows.append(("failed fits", f"{self.n_failed}"))
        return rows

    def __str__(self) -> str:
        return align_text(f"{self.method} ({self.loss} loss)", self._lines())

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and the interval, without the replicates, ready for JSON.

        Returns
        -------
        dict
        """
        return {
            "method": self.method,
            "error": self.error,
            "standard_error": self.standard_error,
            **self._interval_items(),
            "n_samples": self.n_samples,
            "n_failed": self.n_failed,
            "n_groups": self.n_groups,
            "loss": self.loss,
        }


@dataclass(frozen=True, eq=False)
class CrossValErrorEstimate(ErrorEstimate):
    """A cross-validated error; `error` pools the held-out predictions, `replicates` are the folds.

    Two averages exist and differ when folds differ in size: `error` is the mean loss of all
    held-out predictions, `fold_mean` the mean of the fold errors.

    The default interval of more than one fold is "inflated": that of `ErrorEstimate` on twice the
    variance, since losses of rules that share training samples are not independent; for 0-1 loss
    Jeffreys' ("jeffreys") at half the effective number of samples.
    """

    @property
    def interval_methods(self) -> tuple[str, ...]:
        """The names that `confidence_interval` takes, the default first."""
        plain = super().interval_methods
        return plain if len(self.replicates) == 1 else ("inflated", *plain)

    def _limits_at(self, confidence_level: float, method: str) -> Limits:
        if method != "inflated":
            return super()._limits_at(confidence_level, method)
        form = "jeffreys" if self.loss == "zero_one" else super().interval_methods[0]
        return self._limits_inflated(confidence_level, form, INFLATION)

    @property
    def fold_errors(self) -> np.ndarray:
        """Error of each fold, nan where the fit failed."""
        return self.replicates

    @property
    def fold_mean(self) -> float:
        """Mean of the fold errors."""
        return float(np.nanmean(self.replicates))

    def _lines(self) -> list[tuple[str, str]]:
        first, *rest = super()._lines()
        return [
            first,
            (f"mean of {len(self.fold_errors)} folds", write_number(self.fold_mean)),
            *rest,
        ]


def bounds_of(loss: str) -> tuple[float, float]:
    """Return the smallest and the largest mean that a loss of this name can have."""
    if loss == "zero_one":
        return (0.0, 1.0)
    return (0.0 if loss in NON_NEGATIVE else -np.inf, np.inf)
