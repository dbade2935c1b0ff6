"""An estimate with its standard error, and the intervals that can be read off it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from skeval._inference.means import normal_quantile
from skeval._inference.proportions import log_interval, wilson_interval

__all__ = ["Finding", "finding_forms", "finding_limits"]

Floats = NDArray[np.float64]
NON_NEGATIVE = ("squared", "absolute")


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


def finding_forms(loss: str, quantiles: bool, degrees_of_freedom: float) -> tuple[str, ...]:
    """Return the forms of interval that suit a loss, the default first.

    `quantiles` says whether those of the replicates make an interval.
    """
    plain = "normal" if np.isinf(degrees_of_freedom) else "t"
    first = {"zero_one": "wilson"} | dict.fromkeys(NON_NEGATIVE, "log")
    forms = (first[loss], plain) if loss in first else (plain,)
    return ("quantile", *forms) if quantiles else forms


def finding_limits(
    found: Finding, form: str, level: float, bounds: tuple[float, float]
) -> tuple[float, float, str]:
    """Return the limits of one form, within the range of the quantity, and the form.

    Where a rate is 0 or 1 in each of the replicates their quantiles say nothing: Wilson's interval
    stands in.
    """
    z = quantile = normal_quantile(level)
    if np.isfinite(found.degrees_of_freedom):
        quantile = float(stats.t.ppf((1 + level) / 2, found.degrees_of_freedom))
    error, n = found.error, found.n_effective
    if form == "quantile":
        draws = found.replicates[np.isfinite(found.replicates)]
        low, high = np.clip(np.quantile(draws, [(1 - level) / 2, (1 + level) / 2]), *bounds)
        if low < high or bounds[1] == np.inf:
            return float(low), float(high), form
        form = "wilson"
    if form == "wilson" and n is not None:
        return *wilson_interval(error * n, n, level, quantile), form
    if form == "log" and error > 0:
        return *log_interval(error, found.standard_error * quantile / z, level), form
    half = quantile * found.standard_error
    low, high = np.clip([error - half, error + half], *bounds)
    return float(low), float(high), form
