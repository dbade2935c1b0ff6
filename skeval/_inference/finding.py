"""An estimate with its standard error, and the intervals that can be read off it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from skeval._inference.interval import Limits
from skeval._inference.means import normal_quantile
from skeval._inference.proportions import jeffreys_interval, log_interval, wilson_interval

__all__ = ["Finding", "finding_forms", "finding_limits"]

Floats = NDArray[np.float64]
NON_NEGATIVE = ("squared", "absolute")
QUANTILES = ("location_shifted_bootstrap", "two_stage_bootstrap")


class Finding(NamedTuple):
    """What a method finds.

    Attributes
    ----------
    error, standard_error : float
    replicates : ndarray
        What was averaged, or whose quantiles are the interval.
    degrees_of_freedom : float
        Of Student's quantile; infinity for the normal one.
    n_effective : float or None
        Number of independent samples whose mean would have the standard error; None if unknown.
    """

    error: float
    standard_error: float
    replicates: Floats
    degrees_of_freedom: float
    n_effective: float | None


def finding_forms(found: Finding, loss: str, method: str = "") -> tuple[str, ...]:
    """Return the forms of interval that suit what a method finds of a loss, the default first.

    Quantiles of replicates make an interval if they vary.
    """
    forms = []
    if method in QUANTILES and np.nanmin(found.replicates) < np.nanmax(found.replicates):
        forms.append("quantile")
    if loss == "zero_one" and found.n_effective is not None:
        forms += (
            ["jeffreys", "wilson"]
            if method in ("repeated_cv", "given_folds")
            else ["wilson", "jeffreys"]
        )
    if loss in NON_NEGATIVE and found.error > 0:
        forms.append("log")
    return (*forms, "normal" if np.isinf(found.degrees_of_freedom) else "t")


def finding_limits(found: Finding, form: str, confidence_level: float, bounds: Limits) -> Limits:
    """Return the limits of one form, within the range of the quantity."""
    z = quantile = normal_quantile(confidence_level)
    if np.isfinite(found.degrees_of_freedom):
        quantile = float(stats.t.isf((1 - confidence_level) / 2, found.degrees_of_freedom))
    error, n = found.error, found.n_effective
    if form == "wilson" and n is not None:
        return wilson_interval(error * n, n, confidence_level, quantile)
    if form == "jeffreys" and n is not None:
        n /= (quantile / z) ** 2
        return jeffreys_interval(error * n, n, confidence_level)
    if form == "log":
        return log_interval(error, found.standard_error * quantile / z, confidence_level)
    if form == "quantile":
        tail = (1 - confidence_level) / 2
        limits = np.nanquantile(found.replicates, [tail, 1 - tail])
    else:
        limits = error + quantile * found.standard_error * np.array([-1.0, 1.0])
    low, high = np.clip(limits, *bounds)
    return float(low), float(high)
