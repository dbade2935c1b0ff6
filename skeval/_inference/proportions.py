"""Confidence intervals of a proportion or a mean: numbers in, (low, high) out.

First means with their standard errors and normal intervals, then proportions, then what is found of
an estimate: its standard error and the intervals that can be read off it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import brentq
from scipy.special import betainccinv, betaincinv, expit, logit, ndtr, ndtri, stdtrit

from skeval._inference.estimate import Details, Limits, LimitsByMethod
from skeval._inference.groups import Codes, Spread, spread_between
from skeval.utils._checks import warn_undefined

__all__ = [
    "PROPORTION_INTERVALS",
    "Finding",
    "area_interval",
    "binomial_limits",
    "bounds_of",
    "effective_number",
    "effective_size",
    "exact_interval",
    "give_no_limits",
    "jeffreys_interval",
    "list_forms",
    "log_interval",
    "log_odds_interval",
    "make_limits",
    "mean_interval",
    "mirrored",
    "normal_interval",
    "normal_quantile",
    "row_means",
    "shrink_area_variance",
    "spread_of_ratio",
    "stratified_wilson_interval",
    "take_root",
    "warn_of_one_group",
    "wilson_interval",
    "wilson_limits",
]

_ROUNDING = 1e-12


def normal_quantile(confidence_level: float, degrees_of_freedom: float = np.inf) -> float:
    """Return the two-sided quantile ``z_{1-a/2}``, or Student's of a spread among few units."""
    if np.isinf(degrees_of_freedom):
        return float(ndtri((1 + confidence_level) / 2))
    return -float(stdtrit(degrees_of_freedom, (1 - confidence_level) / 2))


def normal_interval(
    estimate: float,
    standard_error: float,
    confidence_level: float,
    bounds: Limits = (-np.inf, np.inf),
    degrees_of_freedom: float = np.inf,
) -> Limits:
    """Return ``estimate -/+ z se``, clipped to the range of the quantity."""
    half = normal_quantile(confidence_level, degrees_of_freedom) * standard_error
    low, high = np.clip([estimate - half, estimate + half], *bounds)
    return float(low), float(high)


def mirrored(best: float, limits: Callable[[float], Limits], confidence_level: float) -> Limits:
    """Return the ends of the interval of `best` less a quantity, from those of the quantity."""
    low, high = limits(confidence_level)
    return best - high, best - low


def take_root(limits: Callable[[float], Limits], confidence_level: float) -> Limits:
    """Return the ends of the interval of the root of a quantity, from those of the quantity."""
    low, high = limits(confidence_level)
    return float(np.sqrt(low)), float(np.sqrt(high))


def give_no_limits(confidence_level: float) -> Limits:
    """Return the ends of an interval that has none."""
    return np.nan, np.nan


def row_means(losses: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Return the (weighted) mean of the tested entries of each row, nan where there is none."""
    tested = ~np.isnan(losses)
    known = np.where(tested, losses, 0)
    with np.errstate(invalid="ignore"):
        if weights is not None:
            return (known @ weights) / (tested @ weights)
        return known.sum(axis=1) / tested.sum(axis=1)


def spread_of_ratio(sums: np.ndarray, counts: np.ndarray, groups: Codes | None = None) -> Spread:
    """Return how far ``sums.sum() / counts.sum()`` is known, of one value for each sample."""
    total = counts.sum()
    residuals = (sums - sums.sum() / total * counts) / total
    if groups is None:
        return Spread(np.array([[np.sum(residuals**2)]]))
    if counts.min() == 0:
        seen = counts > 0
        residuals, groups, counts = residuals[seen], groups[seen], counts[seen]
    return warn_of_one_group(spread_between(residuals, groups, counts))


def warn_of_one_group(spread: Spread) -> Spread:
    """Return a spread; warn where a single group does not tell it."""
    if spread.n_groups == 1:
        warn_undefined("The standard error of one group is undefined and set to nan.")
    return spread


def mean_interval(losses: np.ndarray, method: str, confidence_level: float) -> Limits:
    """Return the interval of the mean of non-negative losses.

    "t" is Student's; "hall" corrects it for skewness by the cubic transformation of Hall (1992).
    """
    n, mean, error = len(losses), float(losses.mean()), float(stats.sem(losses))
    ends = stats.t.ppf((1 + confidence_level) / 2, n - 1) * np.array([1.0, -1.0])
    skew = stats.skew(losses) / n**0.5 if error > _ROUNDING * abs(mean) else 0.0
    if method == "hall" and abs(skew) > _ROUNDING:  # the inverse of the transformation
        ends = 3 / skew * (np.cbrt(1 + skew * (ends - skew / 6)) - 1)
    low, high = (mean - ends * error).tolist()
    return max(min(low, mean), 0.0), max(high, mean)


Floats = NDArray[np.float64]
_NEGLIGIBLE = 1e-12


def log_interval(
    estimate: float,
    standard_error: float,
    confidence_level: float,
    degrees_of_freedom: float = np.inf,
) -> Limits:
    """Return the normal interval of the logarithm, ``estimate exp(-/+ z se / estimate)``.

    It holds no negative number, whatever the standard error of a mean of non-negative losses.
    """
    if estimate == 0:
        return 0.0, 0.0
    half = normal_quantile(confidence_level, degrees_of_freedom) * standard_error / estimate
    with np.errstate(over="ignore"):
        return float(estimate * np.exp(-half)), float(estimate * np.exp(half))


def log_odds_interval(estimate: float, standard_error: float, confidence_level: float) -> Limits:
    """Return the normal interval of the log-odds of a rate; nan where it is 0 or 1."""
    scale = estimate * (1 - estimate)
    if not (scale > 0 and standard_error > _NEGLIGIBLE):
        return np.nan, np.nan
    spread = standard_error / scale
    low, high = expit(normal_interval(float(logit(estimate)), spread, confidence_level))
    return float(low), float(high)


_EVENTS = 0.25
"""The weight, in samples that count most, of the number of groups in the effective number."""


def effective_size(
    proportion: float, standard_error: float, n_samples: float, n_groups: int | None = None
) -> float:
    """Return how many independent samples would give a proportion its standard error.

    That is ``p (1 - p) / se^2``, but never more than `n_samples`, nor less than 1: nothing between
    0 and 1 has a larger variance than ``p (1 - p)``. A proportion of 0 or 1 has no spread to tell
    it by: there it is the number of groups, the samples unless groups are given.
    """
    rest = 1 - proportion
    if n_groups is None:
        return effective_number(proportion * rest, standard_error, n_samples, n_samples)
    rarity = min(proportion, rest) / max(proportion, rest)
    return effective_number(proportion * rest, standard_error, n_samples, n_groups, rarity)


def effective_number(
    variance: float, standard_error: float, most: float, unvaried: float, rarity: float = np.inf
) -> float:
    """Return ``variance / se^2``: how many values of a variance have a mean with a standard error.

    It is never more than `most` nor less than 1, and `unvaried` where the variance is 0. Of groups,
    whose number `unvaried` is, it is drawn to that: it is known as well as the samples tell it that
    count most, ``n rarity`` of them. Where a single sample errs, groups look alike.
    """
    if variance <= 0:
        return unvaried
    n = most
    if variance < most * standard_error**2:
        n = max(1.0, variance / standard_error**2)
    if np.isinf(rarity):
        return n
    events = n * rarity
    return min(n, (events + _EVENTS) / (events / n + _EVENTS / unvaried))


# The functions below take a real-valued number of errors, which weighted samples and repeated
# cross-validation produce; for whole numbers they equal scipy.stats.binomtest.proportion_ci.


def wilson_interval(
    errors: float, n: float, confidence_level: float, degrees_of_freedom: float = np.inf
) -> Limits:
    """Return the score interval of Wilson (1927), of groups with Student's quantile."""
    z = normal_quantile(confidence_level, degrees_of_freedom)
    low, high = wilson_limits(errors / n, n, z)
    return float(low), float(high)


def wilson_limits(rate: Any, n: Any, z: float) -> tuple[Any, Any]:
    """Return the ends of Wilson's interval of each rate."""
    centre = (rate + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(rate * (1 - rate) / n + z**2 / (4 * n**2))
    # Only rounding puts the rate outside.
    return np.clip(centre - half, 0.0, rate), np.clip(centre + half, rate, 1.0)


def binomial_limits(rate: Floats, size: float, z: Floats, *, exact: bool) -> tuple[Floats, Floats]:
    """Return the limits of rates of so many samples, at one-sided normal quantiles z.

    Those of Clopper and Pearson if `exact`, otherwise those of Jeffreys; 0 or 1 where no error or
    nothing but errors was seen.
    """
    hits, misses, tail = rate * size, (1 - rate) * size, ndtr(-z)
    own, other = (0.0, 1.0) if exact else (0.5, 0.5)
    # Exact limits of no error, or of nothing else, are nan here.
    with np.errstate(invalid="ignore"):
        low = betaincinv(hits + own, misses + other, tail)
        high = betainccinv(hits + other, misses + own, tail)
    low = np.where(hits <= _NEGLIGIBLE * size, 0.0, np.minimum(low, rate))
    high = np.where(misses <= _NEGLIGIBLE * size, 1.0, np.maximum(high, rate))
    return low, high


def exact_interval(
    errors: float, n: float, confidence_level: float, degrees_of_freedom: float = np.inf
) -> Limits:
    """Return the interval of Clopper and Pearson (1934), of groups with Student's quantile."""
    z = np.asarray(normal_quantile(confidence_level, degrees_of_freedom))
    low, high = binomial_limits(np.asarray(errors / n), n, z, exact=True)
    return float(low), float(high)


def jeffreys_interval(errors: float, n: float, confidence_level: float) -> Limits:
    """Return the equal-tailed posterior interval under Jeffreys' prior: Brown et al. (2001).

    The quantiles of Beta(errors + 1/2, n - errors + 1/2), and 0 or 1 where no error or nothing but
    errors was seen.
    """
    z = np.asarray(normal_quantile(confidence_level))
    low, high = binomial_limits(np.asarray(errors / n), n, z, exact=False)
    return float(low), float(high)


def wald_interval(errors: float, n: float, confidence_level: float) -> Limits:
    """Return the normal interval on the plug-in variance; too short near 0 and 1."""
    p = errors / n
    return normal_interval(p, float(np.sqrt(p * (1 - p) / n)), confidence_level, (0.0, 1.0))


def agresti_coull_interval(errors: float, n: float, confidence_level: float) -> Limits:
    """Return the interval of Wald about the centre of Wilson's, after Agresti and Coull (1998)."""
    added = normal_quantile(confidence_level) ** 2
    return wald_interval(errors + added / 2, n + added, confidence_level)


PROPORTION_INTERVALS = {
    "wilson": wilson_interval,
    "agresti_coull": agresti_coull_interval,
    "jeffreys": jeffreys_interval,
    "exact": exact_interval,
    "wald": wald_interval,
}


def stratified_wilson_interval(
    errors: np.ndarray, sizes: np.ndarray, priors: np.ndarray, confidence_level: float
) -> Limits:
    """Return the stratified Wilson interval of Yan and Su (2010) with the priors as weights.

    Each stratum's Wilson limits are taken at the quantile
    ``z sqrt(sum P_c^2 V_c) / sum P_c sqrt(V_c)`` and averaged with weights ``P_c``.
    """
    rates = errors / sizes
    variances = rates * (1 - rates) / sizes
    z = normal_quantile(confidence_level)
    if not np.any(priors * variances):  # It would be 0/0: take those at Wilson's centres.
        centres = (errors + z**2 / 2) / (sizes + z**2)
        variances = centres * (1 - centres) / (sizes + z**2)
    z *= np.sqrt(np.sum(priors**2 * variances)) / np.sum(priors * np.sqrt(variances))
    low, high = (priors @ ends for ends in wilson_limits(rates, sizes, z))
    return float(low), float(high)


def area_interval(
    area: float,
    standard_error: float,
    sizes: tuple[float, float],
    confidence_level: float,
    degrees_of_freedom: float = np.inf,
) -> Limits:
    """Return the score interval of an area under the ROC curve: ``(A - t)^2 <= z^2 r V(t)``.

    V(t) is the variance of Hanley and McNeil as Newcombe (2006) takes it, and r is DeLong's
    variance over V(A): a ratio that, where it is below 1, is shrunk toward 1 with the weight of 4
    samples of the smaller class, of which it would be known too badly. `sizes` are the numbers of
    positives and negatives. A standard error between groups takes Student's quantile.
    """
    quantile = normal_quantile(confidence_level)
    standard_error *= normal_quantile(confidence_level, degrees_of_freedom) / quantile
    model = _area_variance(area, sizes)
    ratio = 1.0
    if model > 0 and np.isfinite(standard_error):
        ratio = shrink_area_variance(area, standard_error**2, sizes) / model
    z2 = quantile**2 * ratio

    def excess(t: float) -> float:
        return (area - t) ** 2 - z2 * _area_variance(t, sizes)

    # The area itself is a root where V(A) = 0, and not the one that is wanted.
    low = brentq(excess, 0.0, area * (1 - _BESIDE)) if area > 0 else 0.0
    high = brentq(excess, area + (1 - area) * _BESIDE, 1.0) if area < 1 else 1.0
    return float(low), float(high)


_BESIDE = 1e-12


def shrink_area_variance(area: float, variance: float, sizes: tuple[float, float]) -> float:
    """Return DeLong's variance of an area, drawn toward that of the model where it is below."""
    model, n = _area_variance(area, sizes), min(sizes)
    return max(variance, (n * variance + 4 * model) / (n + 4))


def _area_variance(t: float, sizes: tuple[float, float]) -> float:
    more = (sizes[0] + sizes[1]) / 2 - 1
    return t * (1 - t) * (1 + more * ((1 - t) / (2 - t) + t / (1 + t))) / (sizes[0] * sizes[1])


NON_NEGATIVE = ("squared", "absolute", "log_loss", "brier")
"""Losses whose mean has an interval on the logarithmic scale."""


def bounds_of(loss: str) -> Limits:
    """Return the smallest and the largest mean that a loss of this name can have."""
    if loss == "zero_one":
        return (0.0, 1.0)
    return (0.0 if loss in NON_NEGATIVE else -np.inf, np.inf)


NOTHING: Details = {}


class Finding(NamedTuple):
    """What a method finds of a mean loss, or of a score.

    Attributes
    ----------
    value, standard_error : float
    replicates : ndarray
        What was averaged, or whose quantiles are the interval.
    degrees_of_freedom : float
        Of Student's quantile; infinity for the normal one.
    n_effective : float or None
        Number of independent samples whose mean would have the standard error; None if unknown.
    forms : mapping
        Intervals beside those that these numbers make, by form.
    details : mapping
        What else the method found, by name.
    """

    value: float
    standard_error: float
    replicates: Floats
    degrees_of_freedom: float = np.inf
    n_effective: float | None = None
    forms: LimitsByMethod = NOTHING
    details: Details = NOTHING

    def inflate(self, factor: float) -> Finding:
        """Return what would have been found if the variance were so many times as large."""
        n = None if self.n_effective is None else self.n_effective / factor
        wider = float(np.sqrt(factor)) * self.standard_error
        return self._replace(standard_error=wider, n_effective=n)

    def limits(self, confidence_level: float, form: str, bounds: Limits) -> Limits:
        """Return the limits of one form, within the range of the quantity."""
        df, n = self.degrees_of_freedom, self.n_effective
        if df == 0:  # a single group does not say how groups vary
            return bounds
        quantile = normal_quantile(confidence_level, df)
        if form in PROPORTION_INTERVALS and n is not None:
            # Student's quantile of groups, as Korn and Graubard (1998) take it
            n *= (normal_quantile(confidence_level) / quantile) ** 2
            return PROPORTION_INTERVALS[form](self.value * n, n, confidence_level)
        if form == "log":
            return log_interval(self.value, self.standard_error, confidence_level, df)
        if form == "quantile":
            tail = (1 - confidence_level) / 2
            limits = np.nanquantile(self.replicates, [tail, 1 - tail])
        else:
            limits = self.value + quantile * self.standard_error * np.array([-1.0, 1.0])
        low, high = np.clip(limits, *bounds)
        return float(low), float(high)


def list_forms(loss: str) -> tuple[str, ...]:
    """Return the forms of an interval of a mean loss, that which suits it best first."""
    if loss == "zero_one":
        return (*PROPORTION_INTERVALS, "normal")
    return ("log", "normal") if loss in NON_NEGATIVE else ("normal",)


def make_limits(
    found: Finding, loss: str, first: str = "", bounds: Limits | None = None
) -> LimitsByMethod:
    """Return the intervals that can be read off what was found, by form, the default first.

    That is the form `first`, where it exists, or else the first of `list_forms`: quantiles make an
    interval if the replicates vary, and a mean of 0 has no logarithm. Forms of the method itself
    follow. `bounds` are by default those of the loss.
    """
    forms = list(list_forms(loss))
    if found.n_effective is None:
        forms = [form for form in forms if form not in PROPORTION_INTERVALS]
    if forms[0] == "log" and found.value <= 0:
        forms.reverse()
    if np.isfinite(found.degrees_of_freedom):
        forms[forms.index("normal")] = "t"
    if first == "quantile" and np.nanmin(found.replicates) < np.nanmax(found.replicates):
        forms.append("quantile")
    ends = bounds_of(loss) if bounds is None else bounds
    read = {form: partial(found.limits, form=form, bounds=ends) for form in forms}
    limits: LimitsByMethod = {**read, **found.forms}
    return {form: limits[form] for form in sorted(limits, key=lambda form: form != first)}
