r"""Confidence intervals and cluster-robust variances: arrays in, (low, high) out.

The module contains means with standard errors and normal intervals, proportions, the result of an
estimation method with its intervals, intervals from bootstrap replicates or other draws, and the
variance of sums of grouped samples, with nested or crossed groups.

**Groups.** The deviation of an estimate from its target is approximately a sum of influence
values, :math:`\hat\theta - \theta \approx \sum_i \psi_i`. The values are first summed within each
group, because the errors of its samples are correlated:

.. math:: V = \sum_g a_g u_g^2, \qquad u_g = \sum_{i \in g} \psi_i .

**Few or unequal groups.** The deviation of a group is measured from the estimate, which the group
itself moves in proportion to its fraction :math:`s_g` of the weight. The factor :math:`a_g`
(:math:`1 / (1 - s_g)` for equal weights) makes V unbiased if samples are independent. This is CR2
of Bell and McCaffrey (2002). The degrees of freedom of V are Satterthwaite's, :math:`(E V)^2 /
(var V / 2)`, computed with the estimated correlation of samples in a group (Imbens and Kolesar
2016). For groups of equal size, they are G - 1. If the estimate has several parts with separate
weights, such as the two classes of an area under a curve, each part is a stratum. The influence of
a group on the two coefficients of a logistic regression is not a fraction. There, each group is
left out in turn (CR3).

**Crossed groups**, such as raters and items. The variance is the sum of the variances between
groups of each kind, minus the variance between their intersections, which both include (Cameron,
Gelbach and Miller 2011). The amount added to the largest variance is at least 0, and the smallest
degrees of freedom are used.

References
----------
.. [1] Bell, R. M. and McCaffrey, D. F. (2002). Bias reduction in standard errors for linear
   regression with multi-stage samples. Survey Methodology 28, 169-181.
.. [2] Imbens, G. W. and Kolesar, M. (2016). Robust standard errors in small samples: some practical
   advice. Review of Economics and Statistics 98, 701-712. :doi:`10.1162/REST_a_00552`
.. [3] Cameron, A. C., Gelbach, J. B. and Miller, D. L. (2011). Robust inference with multiway
   clustering. Journal of Business & Economic Statistics 29, 238-249.
   :doi:`10.1198/jbes.2010.07136`
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import brentq
from scipy.special import betainccinv, betaincinv, expit, logit, ndtr, ndtri, stdtrit
from scipy.stats import norm, t

from skeval.utils._checks import warn_undefined, warn_user

Limits = tuple[float, float]
LimitsByMethod = Mapping[str, Callable[[float], Limits]]
ROUNDING = 1e-12
"""Relative difference up to which numbers are equal except for rounding."""
MIN_GROUPS = 10
"""Number of groups below which reports and functions warn that an interval may be too narrow."""


def clip_limits(limits: Limits, bounds: Limits) -> Limits:
    """Return limits moved into `bounds`. A limit of nan is unchanged."""
    lowest, highest = map(float, bounds)
    # numpy.clip takes 10 times as long for two numbers; nan and -0.0 stay correct in this order
    low, high = (min(max(float(end) + 0.0, lowest), highest) for end in limits)
    return low, high


def simultaneous_level(confidence_level: float, n_intervals: int) -> float:
    """Return the level of single intervals for simultaneous coverage, after Bonferroni."""
    if n_intervals == 1:
        return confidence_level
    return 1 - (1 - confidence_level) / n_intervals


def normal_quantile(confidence_level: float, degrees_of_freedom: float = np.inf) -> float:
    """Return the two-sided quantile of the normal distribution, or of Student's t."""
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
    """Return ``estimate -/+ z se``, clipped to `bounds`."""
    half = normal_quantile(confidence_level, degrees_of_freedom) * standard_error
    return clip_limits((estimate - half, estimate + half), bounds)


def mirrored(best: float, limits: Callable[[float], Limits], confidence_level: float) -> Limits:
    """Return the limits of `best - x` from the interval of a quantity `x`."""
    low, high = limits(confidence_level)
    return best - high, best - low


def rescaled(
    function: Callable[..., Any], limits: Callable[[float], Limits], confidence_level: float
) -> Limits:
    """Return the interval of an increasing function of a quantity, from the quantity's interval."""
    with np.errstate(over="ignore"):
        low, high = function(np.array(limits(confidence_level))).tolist()
    return low, high


def stretch(
    low: float, span: float, limits: Callable[[float], Limits], confidence_level: float
) -> Limits:
    """Return an interval within (0, 1) on a scale that starts at `low`."""
    lower, upper = limits(confidence_level)
    return low + span * lower, low + span * upper


def give_no_limits(confidence_level: float) -> Limits:
    return np.nan, np.nan


SMALL_QUANTILES, LARGEST_QUANTILE = (0.1257, 0.25, 0.5, 1.0, 1.6), 7.0
"""Smallest and largest normal quantiles of the search, for one-sided P-values of 0.45 and 1e-12."""


def invert_limits(limits: Callable[[float], Iterable[float]], bound: float) -> float:
    """Return the P-value that a value is at most a bound, by inverting confidence limits.

    It is the smallest level `alpha` at which the lower limit of the interval at ``1 - 2 alpha``
    exceeds the bound, or 1 minus the level at which the upper limit is below the bound. P-values
    of 0.45 to 0.55 are returned as 0.5. The search uses quantiles of the normal distribution, in
    which the limits are nearly linear.
    """

    def excess(quantile: float, sign: int) -> float:
        low, high = limits(float(1 - 2 * ndtr(-quantile)))
        distance = low - bound if sign > 0 else bound - high
        return -np.inf if np.isnan(distance) else distance

    # resamples of few values have no interval at the smallest levels
    first = next((z for z in SMALL_QUANTILES if np.isfinite(excess(z, 1))), SMALL_QUANTILES[-1])
    for sign in (1, -1):
        if excess(first, sign) > 0:
            quantile, args = LARGEST_QUANTILE, (sign,)
            if excess(LARGEST_QUANTILE, sign) < 0:
                quantile = brentq(excess, first, LARGEST_QUANTILE, args, xtol=1e-6)
            tail = float(ndtr(-quantile))
            return tail if sign > 0 else 1 - tail
    return 0.5


def row_means(losses: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Return the (weighted) mean of the tested entries of each row, or nan if there are none."""
    tested = ~np.isnan(losses)
    values = np.where(tested, losses, 0)
    with np.errstate(invalid="ignore"):
        if weights is not None:
            return (values @ weights) / (tested @ weights)
        return values.sum(axis=1) / tested.sum(axis=1)


def spread_of_ratio(sums: np.ndarray, counts: np.ndarray, groups: Codes | None = None) -> Spread:
    """Return the variance of ``sums.sum() / counts.sum()``, with one value per sample."""
    total = counts.sum()
    # influence of each sample on the ratio
    residuals = (sums - sums.sum() / total * counts) / total
    if groups is None:
        return Spread(np.array([[np.sum(residuals**2)]]))
    if counts.min() == 0:
        used = counts > 0
        residuals, groups, counts = residuals[used], groups[used], counts[used]
    return warn_of_one_group(spread_between(residuals, groups, counts))


def warn_of_one_group(spread: Spread) -> Spread:
    """Return the spread unchanged. Warn if it is undefined because there is a single group."""
    if spread.n_groups == 1:
        warn_undefined("The standard error for a single group is undefined and set to nan.")
    return spread


def corrected_error(differences: Floats, test_train_ratio: float) -> float:
    """Return the standard error of Nadeau & Bengio (2003, eq. 12)."""
    return float(np.sqrt((1 / len(differences) + test_train_ratio) * np.var(differences, ddof=1)))


def mean_interval(losses: np.ndarray, method: str, confidence_level: float) -> Limits:
    """Return the interval of the mean of nonnegative losses.

    "t" is Student's t interval. "hall" corrects it for skewness by the cubic transformation of
    Hall (1992).
    """
    # quantiles of Student's t, corrected for skewness
    n, mean, error = len(losses), float(losses.mean()), float(stats.sem(losses))
    ends = stats.t.ppf((1 + confidence_level) / 2, n - 1) * np.array([1.0, -1.0])
    skew = stats.skew(losses) / n**0.5 if error > ROUNDING * abs(mean) else 0.0
    if method == "hall" and abs(skew) > ROUNDING:  # the inverse of the transformation
        ends = 3 / skew * (np.cbrt(1 + skew * (ends - skew / 6)) - 1)
    low, high = (mean - ends * error).tolist()
    return max(min(low, mean), 0.0), max(high, mean)


Floats = NDArray[np.float64]


def log_interval(
    estimate: float,
    standard_error: float,
    confidence_level: float,
    degrees_of_freedom: float = np.inf,
) -> Limits:
    """Return the normal interval of the logarithm, ``estimate exp(-/+ z se / estimate)``.

    It contains no negative number for any standard error.
    """
    if estimate == 0:
        return 0.0, 0.0
    half = normal_quantile(confidence_level, degrees_of_freedom) * standard_error / estimate
    with np.errstate(over="ignore"):
        return float(estimate * np.exp(-half)), float(estimate * np.exp(half))


def log_odds_interval(
    estimate: float,
    standard_error: float,
    confidence_level: float,
    degrees_of_freedom: float = np.inf,
) -> Limits:
    """Return the normal interval of the log-odds of a rate, or nan for rates of 0 and 1."""
    scale = estimate * (1 - estimate)
    if not (scale > 0 and standard_error > ROUNDING):
        return np.nan, np.nan
    spread, center = standard_error / scale, float(logit(estimate))
    half = normal_quantile(confidence_level, degrees_of_freedom) * spread
    return float(expit(center - half)), float(expit(center + half))


_EVENTS = 0.25
"""Prior weight of the number of groups in the effective size, as a number of rare samples."""


def size_of_proportion(
    proportion: float, standard_error: float, n_samples: float, n_groups: int | None = None
) -> float:
    """Return the number of independent samples whose proportion has this standard error.

    It is ``p (1 - p) / se^2``, limited to the range from 1 to `n_samples`, because no variable
    between 0 and 1 has a larger variance than ``p (1 - p)``. For a proportion of 0 or 1, the
    variance cannot be estimated. The result is then the number of groups, or of samples without
    groups.
    """
    rest = 1 - proportion
    if n_groups is None:
        return size_from_variance(proportion * rest, standard_error, n_samples, n_samples)
    rarity = min(proportion, rest) / max(proportion, rest)
    return size_from_variance(proportion * rest, standard_error, n_samples, n_groups, rarity)


def size_from_weights(weight: Floats) -> float:
    """Return the effective sample size ``(sum w)^2 / sum w^2``."""
    weight = weight / weight.max()  # squares of tiny weights would underflow
    return float(weight.sum() ** 2 / np.sum(weight**2))


def size_from_variance(
    variance: float, standard_error: float, most: float, unvaried: float, rarity: float = np.inf
) -> float:
    """Return ``variance / se^2``, the number of values whose mean has this standard error.

    The result is limited to the range from 1 to `most`, and is `unvaried` if the variance is 0.
    For groups, whose number is `unvaried`, it is shrunk toward that number, because groups appear
    homogeneous if a single sample is misclassified. The weight of the data in this shrinkage is
    the number of rare samples, ``n rarity``.
    """
    if variance <= 0:
        return unvaried
    # effective number of values
    n = most
    if variance < most * standard_error**2:
        n = max(1.0, variance / standard_error**2)
    if np.isinf(rarity):
        return n
    # shrink toward the number of groups
    events = n * rarity
    return min(n, (events + _EVENTS) / (events / n + _EVENTS / unvaried))


# The functions below accept a non-integer number of errors, as from weighted samples and repeated
# cross-validation; for integers they equal scipy.stats.binomtest.proportion_ci.


def wilson_interval(
    errors: float, n: float, confidence_level: float, degrees_of_freedom: float = np.inf
) -> Limits:
    """Return the score interval of Wilson (1927), with Student's t quantile for groups."""
    z = normal_quantile(confidence_level, degrees_of_freedom)
    low, high = wilson_limits(errors / n, n, z)
    return float(low), float(high)


def wilson_limits(rate: Any, n: Any, z: Any) -> tuple[Any, Any]:
    """Return the limits of Wilson's interval for each rate."""
    center = (rate + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(rate * (1 - rate) / n + z**2 / (4 * n**2))
    # rounding may put the rate outside
    return np.clip(center - half, 0.0, rate), np.clip(center + half, rate, 1.0)


N_ANGLES = 721
"""Number of points on the boundary of the region of two rates, half a degree apart."""


def score_region_limits(
    function: Callable[[Floats, Floats], Floats],
    rates: Sequence[float],
    sizes: Sequence[float],
    correlation: float,
    confidence_level: float,
    degrees_of_freedom: float = np.inf,
) -> Limits:
    """Return the range of a monotone function of two rates over their joint score region.

    The region contains the pairs of rates whose score statistics have a quadratic form of at most
    the squared quantile. At angle t, its boundary has the statistics ``z cos(t)`` and, for
    correlation r, ``z (r cos(t) + sqrt(1 - r^2) sin(t))``. Each rate is the limit of Wilson's
    interval at its statistic.
    """
    z = normal_quantile(confidence_level, degrees_of_freedom)
    # statistics of both rates along the boundary of the region
    angle = np.linspace(0, 2 * np.pi, N_ANGLES)
    first = z * np.cos(angle)
    second = correlation * first + np.sqrt(1 - correlation**2) * z * np.sin(angle)
    # limit of each rate at its statistic
    ends = []
    for rate, n, statistic in zip(rates, sizes, (first, second), strict=True):
        low, high = wilson_limits(rate, n, np.abs(statistic))
        ends.append(np.where(statistic < 0, low, high))
    # a monotone function has its extremes on the boundary
    values = function(*ends)
    return float(values.min()), float(values.max())


def binomial_limits(rate: Floats, size: Any, z: Floats, *, exact: bool) -> tuple[Floats, Floats]:
    """Return the limits of rates of `size` samples, at one-sided normal quantiles z.

    The limits are Clopper and Pearson's if `exact`, and otherwise Jeffreys'. They are 0 or 1 for
    rates of 0 or 1.
    """
    hits, misses, tail = rate * size, (1 - rate) * size, ndtr(-z)
    own, other = (0.0, 1.0) if exact else (0.5, 0.5)
    # exact limits at rates of 0 and 1 are nan here and replaced below
    with np.errstate(invalid="ignore"):
        low = betaincinv(hits + own, misses + other, tail)
        high = betainccinv(hits + other, misses + own, tail)
    low = np.where(hits <= ROUNDING * size, 0.0, np.minimum(low, rate))
    high = np.where(misses <= ROUNDING * size, 1.0, np.maximum(high, rate))
    return low, high


def exact_interval(
    errors: float, n: float, confidence_level: float, degrees_of_freedom: float = np.inf
) -> Limits:
    """Return the interval of Clopper and Pearson (1934), with Student's t quantile for groups."""
    z = np.asarray(normal_quantile(confidence_level, degrees_of_freedom))
    low, high = binomial_limits(np.asarray(errors / n), n, z, exact=True)
    return float(low), float(high)


def jeffreys_interval(errors: float, n: float, confidence_level: float) -> Limits:
    """Return the equal-tailed posterior interval with Jeffreys' prior. See Brown et al. (2001).

    The limits are quantiles of Beta(errors + 1/2, n - errors + 1/2), and 0 or 1 for rates of 0 or
    1.
    """
    z = np.asarray(normal_quantile(confidence_level))
    low, high = binomial_limits(np.asarray(errors / n), n, z, exact=False)
    return float(low), float(high)


def wald_interval(errors: float, n: float, confidence_level: float) -> Limits:
    """Return the normal interval on the plug-in variance, which is too narrow near 0 and 1."""
    p = errors / n
    return normal_interval(p, float(np.sqrt(p * (1 - p) / n)), confidence_level, (0.0, 1.0))


def agresti_coull_interval(errors: float, n: float, confidence_level: float) -> Limits:
    """Return Wald's interval around the center of Wilson's, after Agresti and Coull (1998)."""
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

    The Wilson limits of each stratum use the quantile
    ``z sqrt(sum P_c^2 V_c) / sum P_c sqrt(V_c)`` and are averaged with weights ``P_c``.
    """
    # quantile shared by all strata
    rates = errors / sizes
    variances = rates * (1 - rates) / sizes
    z = normal_quantile(confidence_level)
    if not np.any(priors * variances):  # avoids 0/0: variances at Wilson's centers
        centers = (errors + z**2 / 2) / (sizes + z**2)
        variances = centers * (1 - centers) / (sizes + z**2)
    z *= np.sqrt(np.sum(priors**2 * variances)) / np.sum(priors * np.sqrt(variances))
    low, high = (priors @ ends for ends in wilson_limits(rates, sizes, z))
    return float(low), float(high)


def area_interval(
    area: float,
    standard_error: float,
    sizes: tuple[float, float],
    confidence_level: float,
    degrees_of_freedom: float = np.inf,
    inflation: float = 1.0,
) -> Limits:
    """Return the score interval of an area under the ROC curve, ``(A - t)^2 <= z^2 r f(t) V(t)``.

    V(t) is the variance of Hanley and McNeil in the form of Newcombe (2006), and r is DeLong's
    variance divided by V(A). A ratio below 1 is shrunk toward 1 with the weight of 4 samples of
    the smaller class, because it is poorly estimated from few samples. `sizes` contains the
    numbers of positives and negatives. A standard error between groups uses Student's t quantile.

    A perfect area has a DeLong variance of 0, and r is midway between the shrunk 0 and 1. With 0,
    the coverage was too low. With 1, the interval was 4 to 7 times as wide as the interval of the
    model. No other interval may be shorter, because zero misranked pairs imply no more precision
    than one.

    f(t) is the `inflation`, which is above 1 for an out-of-fold area. Above this area, f(t) is at
    least `inflate_area`. Below it, this is not needed, because the areas of noise are skewed. They
    are often far below 1/2 but seldom far above. Therefore, the upper limit is at least 1/2.
    """
    # ratio of the variance of DeLong to the model variance
    quantile, n = normal_quantile(confidence_level), min(sizes)
    standard_error *= normal_quantile(confidence_level, degrees_of_freedom) / quantile
    model = area_variance(area, sizes)
    of_perfect = (1 + 4 / (n + 4)) / 2
    ratio = 1.0 if model > 0 else of_perfect
    if model > 0 and np.isfinite(standard_error):
        ratio = shrink_area_variance(area, standard_error**2, sizes) / model

    def solve(area: float, ratio: float, start: float, stop: float) -> float:
        def excess(t: float) -> float:
            factor = inflation
            if factor > 1 and t > area:
                factor = max(factor, inflate_area(t, sizes))
            return (area - t) ** 2 - quantile**2 * ratio * factor * area_variance(t, sizes)

        return float(brentq(excess, start, stop))

    # If V(A) = 0 the area itself is a root, but not the required one.
    low = solve(area, ratio, 0.0, area * (1 - ROUNDING)) if area > 0 else 0.0
    high = solve(area, ratio, area + (1 - area) * ROUNDING, 1.0) if area < 1 else 1.0
    high = max(high, 0.5) if inflation > 1 else high
    # at least as wide as the interval of a perfect area
    width = 1 - solve(1.0, of_perfect, 0.0, 1 - ROUNDING)
    if area > 0.5:
        return max(0.0, min(low, high - width)), high
    return low, min(1.0, max(high, low + width))


def shrink_area_variance(
    area: float, variance: float, sizes: tuple[float, float], weight: float = 4.0
) -> float:
    """Return DeLong's variance of an area, shrunk toward the model variance if it is smaller."""
    model, n = area_variance(area, sizes), min(sizes)
    return max(variance, (n * variance + weight * model) / (n + weight))


def area_variance(t: float, sizes: tuple[float, float]) -> float:
    """Return the variance of an area t by Hanley and McNeil, in the form of Newcombe (2006)."""
    more = (sizes[0] + sizes[1]) / 2 - 1
    return t * (1 - t) * (1 + more * ((1 - t) / (2 - t) + t / (1 + t))) / (sizes[0] * sizes[1])


def inflate_area(t: float, sizes: tuple[float, float]) -> float:
    r"""Return the least variance of an out-of-fold area, relative to a fixed model.

    The deviation of an out-of-fold area from the area of the trained model is due to the tested
    and to the training samples. Let :math:`B` be the signal of a linear model, and :math:`V` the
    noise of its coefficients. The ratio is :math:`1 + V / (B + V)`, which is 2 without signal.
    With one feature, :math:`V = 1/m + 1/n` in units of the variance within the classes. An area t
    implies that :math:`B^2 / (B + V) = 2 \Phi^{-1}(t)^2`, the squared distance of the classes.
    """
    noise, distance = 1 / sizes[0] + 1 / sizes[1], 2 * float(ndtri(t)) ** 2
    signal = (distance + math.sqrt(distance**2 + 4 * distance * noise)) / 2
    return 1 + noise / (signal + noise)


# scikit-learn clips probabilities at eps
LARGEST_LOG_LOSS = -float(np.log(np.finfo(float).eps))
LARGEST_LOSSES = {"hamming": 1.0, "brier": 2.0, "log_loss": LARGEST_LOG_LOSS}
NON_NEGATIVE = ("squared", "absolute", *LARGEST_LOSSES)
"""Losses whose mean has an interval on the log scale."""


def bounds_of(loss: str, n_classes: int | None = None) -> Limits:
    """Return the smallest and largest possible mean of the loss with this name."""
    if loss == "zero_one" or (loss == "brier" and n_classes == 2):
        return (0.0, 1.0)
    return (0.0 if loss in NON_NEGATIVE else -np.inf, LARGEST_LOSSES.get(loss, np.inf))


def list_forms(loss: str) -> tuple[str, ...]:
    """Return the forms of an interval of a mean loss, the most suitable first."""
    if loss == "zero_one":
        return (*PROPORTION_INTERVALS, "normal")
    return ("log", "normal") if loss in NON_NEGATIVE else ("normal",)


def mean_loss_limits(
    value: float,
    standard_error: float,
    loss: str,
    *,
    degrees_of_freedom: float = np.inf,
    n_effective: float | None = None,
    first: str = "",
) -> LimitsByMethod:
    """Return the intervals of a mean loss, with the default form first.

    The default is the form `first` if available, and otherwise the first of `list_forms`.
    Intervals of a proportion require the effective number of samples, and the logarithm requires a
    positive mean. If the degrees of freedom are finite, Student's t quantile replaces the normal
    quantile.
    """
    # forms that are defined for this mean
    no_wrong_label = loss == "hamming" and value <= 0
    forms = list(list_forms("zero_one" if no_wrong_label else loss))
    # a proportion needs an effective number of samples
    if n_effective is None:
        forms = [form for form in forms if form not in PROPORTION_INTERVALS]
    # a mean of 0 has no logarithm, so the plain interval comes first
    if forms[0] == "log" and value <= 0:
        forms.reverse()
    if np.isfinite(degrees_of_freedom):
        forms[forms.index("normal")] = "t"
    numbers = value, standard_error, degrees_of_freedom, n_effective, bounds_of(loss)
    limits = {form: partial(limits_of_mean, form, *numbers) for form in forms}
    return put_first(first, limits)


def put_first(form: str, limits: LimitsByMethod) -> LimitsByMethod:
    """Return the intervals with one form before all others, if it is available."""
    return {name: limits[name] for name in sorted(limits, key=lambda name: name != form)}


def limits_of_mean(
    form: str,
    value: float,
    standard_error: float,
    degrees_of_freedom: float,
    n_effective: float | None,
    bounds: Limits,
    confidence_level: float,
) -> Limits:
    """Return the limits of a mean loss in one form, clipped to `bounds`."""
    if degrees_of_freedom == 0:  # undefined for a single group
        return bounds
    quantile = normal_quantile(confidence_level, degrees_of_freedom)
    if form in PROPORTION_INTERVALS and n_effective is not None:
        # Student's quantile for groups, as in Korn and Graubard (1998)
        n = n_effective * (normal_quantile(confidence_level) / quantile) ** 2
        return PROPORTION_INTERVALS[form](value * n, n, confidence_level)
    if form == "log":
        limits = log_interval(value, standard_error, confidence_level, degrees_of_freedom)
        return clip_limits(limits, bounds)
    return normal_interval(value, standard_error, confidence_level, bounds, degrees_of_freedom)


DRAWN = ("pivotal", "symmetric", "quantile")
"""Forms of interval based on quantiles of draws. All others use their standard deviation."""


def check_enough_draws(n_draws: int, confidence_level: float, form: str) -> None:
    """Raise an error if a form of interval requires more draws at this confidence level."""
    tail = (1 - confidence_level) / 2
    needed = int(np.ceil(1 / tail - 1e-9)) if form in DRAWN else 2
    if n_draws < needed:
        raise ValueError(
            f"n_resamples must be >= {needed} for the interval {form!r} at confidence_level="
            f"{confidence_level:g}, got {n_draws}."
        )


def limits_of_draws(
    center: float, deviations: np.ndarray, confidence_level: float, form: str
) -> Limits:
    """Return an interval from draws of the deviation of `center`. `form` is one of `DRAWN`."""
    check_enough_draws(len(deviations), confidence_level, form)
    tail = (1 - confidence_level) / 2
    lower, upper = np.quantile(deviations, [tail, 1 - tail])
    if form == "pivotal":
        return float(center - upper), float(center - lower)
    half = abs(upper)
    if form == "symmetric":
        half = np.quantile(np.abs(deviations), confidence_level)
    return float(center - half), float(center + half)


def percentile_limits(replicates: Floats, confidence_level: float) -> Limits:
    """Return the percentile interval of replicates."""
    low, high = np.quantile(replicates, [(1 - confidence_level) / 2, (1 + confidence_level) / 2])
    return float(low), float(high)


def bootstrap_limits(
    replicates: Floats,
    estimate: float,
    n_units: int,
    correction: Correction | None,
    confidence_level: float,
) -> Limits:
    """Return percentile limits of finite replicates, or BCa limits with a correction."""
    # quantile levels, corrected for bias and acceleration
    level = expand_level(confidence_level, n_units)
    levels = np.array([1 - level, 1 + level]) / 2
    if correction is not None:
        # equation (6.5) of Efron (1987); for two samples the expanded level is 1
        bias, acceleration = correction
        z = bias + ndtri(levels).clip(-MAX_DEVIATE, MAX_DEVIATE)
        levels = ndtr(bias + z / (1 - acceleration * z))
    low, high = np.quantile(replicates, levels)
    # A large BCa correction may move a limit to the other side of the estimate.
    return min(float(low), estimate), max(float(high), estimate)


def expand_level(confidence_level: float, n: int) -> float:
    """Return the level whose normal quantile is ``sqrt(n / (n-1)) t_{n-1}`` (Hesterberg 2015).

    The bootstrap variance of `n` units lacks the factor n / (n - 1), like the plug-in variance,
    and the normal quantile ignores that the variance is estimated.
    """
    wider = np.sqrt(n / (n - 1)) * t.isf((1 - confidence_level) / 2, n - 1)
    return float(1 - 2 * norm.sf(wider))


MAX_DEVIATE = 38.0
"""Largest absolute normal deviate. The distribution function is 0 below its negative."""


class Correction(NamedTuple):
    """Bias and acceleration of the BCa interval of Efron (1987)."""

    bias: float
    acceleration: float


def bca_correction(replicates: Floats, estimate: float, jackknife: list[Floats]) -> Correction:
    """Return the correction by equations (6.4) and (6.6) of Efron (1987).

    `jackknife` contains, for each stratum, the statistic without each of its units. The bias is
    infinite if all replicates lie on one side of the estimate.
    """
    bias = ndtri((np.mean(replicates < estimate) + np.mean(replicates <= estimate)) / 2)
    # sum U^3 / (6 (sum U^2)^1.5) over the strata, U the empirical influence values
    cubes = squares = 0.0
    for values in jackknife:
        n = len(values)
        influence = (n - 1) * (values.mean() - values)
        cubes += np.sum(influence**3) / n**3
        squares += np.sum(influence**2) / n**2
    return Correction(float(bias), float(cubes / squares**1.5 / 6) if squares > 0 else 0.0)


Codes = NDArray[np.intp]
"""Group of each sample, numbered from 0, shape (n,), or (n, n_kinds) for crossed groups."""
Labels = NDArray[np.bool_] | NDArray[np.signedinteger[Any]]
"""Small nonnegative integers or booleans."""


class Spread(NamedTuple):
    """Covariance of an estimate and its degrees of freedom.

    Attributes
    ----------
    covariance : ndarray of shape (k, k)
    degrees_of_freedom : float
        Infinity for independent samples, and 0 if undefined because there is a single group.
    n_groups : int or None
        Number of groups, of the smallest kind if groups cross. None for independent samples.
    correlation : tuple of float
        Intraclass correlation in [0, 1], one for each kind of groups.
    """

    covariance: Floats
    degrees_of_freedom: float = np.inf
    n_groups: int | None = None
    correlation: tuple[float, ...] = ()

    @property
    def variance(self) -> float:
        """Variance of the first part of the estimate."""
        return float(self.covariance[0, 0])

    @property
    def error(self) -> float:
        """Standard error of the first part of the estimate."""
        return float(np.sqrt(self.variance))

    @property
    def groups(self) -> dict[str, Any]:
        """Attributes of an estimate that describe its groups, empty without groups."""
        if self.n_groups is None:
            return {}
        together = self.correlation if len(self.correlation) > 1 else self.correlation[0]
        return {"n_groups": self.n_groups, "intraclass_correlation": together}


def warn_of_few_groups(n_groups: int) -> None:
    """Warn if there are too few groups to estimate the variation between groups."""
    if n_groups < MIN_GROUPS:
        warn_user(
            f"{n_groups} groups are too few for a reliable interval. The documentation of "
            "metric_interval has the simulated coverage by number of groups."
        )


def count_groups(group: Codes) -> int:
    """Return the number of nonempty groups of the smallest kind."""
    kinds = group.reshape(len(group), -1).T
    return min(int(np.count_nonzero(np.bincount(kind))) for kind in kinds)


def combine_ways(group: Codes, measure: Callable[[Codes], Spread]) -> Spread:
    """Return the spread over all kinds of groups, from ``measure(codes)`` for each kind."""
    if group.ndim == 1:
        return measure(group)
    # spread over each kind of groups, and over their intersections, with the sign of its variance
    signed, each = [], range(group.shape[1])
    for chosen in chain(*(combinations(each, n_kinds + 1) for n_kinds in each)):
        # number the intersections of the chosen kinds of groups
        code = group[:, chosen[0]]
        for kind in chosen[1:]:
            code = code * (int(group[:, kind].max()) + 1) + group[:, kind]
            if code.max() > 4 * len(code):  # otherwise empty groups are cheaper than a sort
                code = np.unique(code, return_inverse=True)[1].reshape(-1)
        signed.append(((-1) ** (len(chosen) + 1), measure(code)))
    kinds = [spread for _, spread in signed[: group.shape[1]]]
    # inclusion and exclusion of the kinds (Cameron, Gelbach and Miller 2011)
    total = sum(sign * spread.covariance for sign, spread in signed)
    # the largest covariance, plus the positive part of the rest
    first = max((spread.covariance for spread in kinds), key=np.trace)
    more = total - first
    if np.isfinite(more).all():  # the additional variance is not negative
        values, vectors = np.linalg.eigh(more)
        more = (vectors * values.clip(0.0)) @ vectors.T
    return Spread(
        first + more,
        min(spread.degrees_of_freedom for spread in kinds),
        min(spread.n_groups for spread in kinds if spread.n_groups is not None),
        tuple(spread.correlation[0] for spread in kinds),
    )


def spread_between(
    influence: Floats,
    group: Codes,
    weight: Floats | None = None,
    stratum: NDArray[np.intp] | None = None,
    leverage: Floats | None = None,
) -> Spread:
    """Return the covariance of a sum of influence values of grouped samples.

    Parameters
    ----------
    influence : ndarray of shape (n,) or (n, k)
        Influence of each sample on the estimate. The values sum to 0 in each stratum.
    group : ndarray of shape (n,) or (n, n_kinds)
    weight : ndarray of shape (n,), default=None
        Weight of each sample. Its influence is about proportional to it. None means equal weights.
    stratum : ndarray of shape (n,), default=None
        The part of the estimate to which each sample belongs, numbered from 0.
    leverage : ndarray of shape (n,), default=None
        Fraction of the estimate determined by each sample, with which its deviation is measured.
        None means the weight.
    """
    # squared influence, plain and divided by the weights, of each part
    moved = influence.reshape(len(influence), -1)
    squares = counted = np.einsum("ij,ij->i", moved, moved)
    if weight is not None and weight.min() == weight.max():
        weight = None
    if weight is not None:
        weight = weight / weight.max()
        counted = np.divide(squares, weight, out=np.zeros(len(moved)), where=weight > 0)
    n_parts, totals = 1, Totals(squares.sum(keepdims=True), counted.sum(keepdims=True))
    if stratum is not None:
        n_parts = int(stratum.max()) + 1
        totals = Totals(add_up(stratum, squares, n_parts), add_up(stratum, counted, n_parts))

    def measure(code: Codes) -> Spread:
        n_groups = int(code.max()) + 1
        cell = code if stratum is None else code * n_parts + stratum

        def add(values: Floats | None) -> Floats:
            return add_up(cell, values, n_groups * n_parts).reshape(n_groups, n_parts)

        # sums of each group and part
        size = add(weight)
        squared = size if weight is None else add(weight**2)
        share = size if leverage is None else add(leverage)
        return measure_sums(
            np.array([add(column) for column in moved.T]), size, squared, totals, share
        )

    return combine_ways(group, measure)


def spreads_of_cells(
    values: Floats,
    cell: Labels,
    group: Codes,
    weight: Floats | None = None,
    part: NDArray[np.intp] | None = None,
) -> list[Spread]:
    """Return the spread of the weighted mean of a value, for each part of the samples.

    A sample in cell c has the value ``values[c]``. Parts without samples are omitted.
    """
    own = np.take(values, cell)  # cells may be bool
    weight = np.ones(len(own)) if weight is None else weight / weight.max()
    inside: list[Any] = [slice(None)]
    if part is not None:
        inside = [part == number for number in np.flatnonzero(np.bincount(part))]
    spreads = []
    for at in inside:
        # influence of each sample on the weighted mean of its part
        share = weight[at] / weight[at].sum()
        influence = share * (own[at] - share @ own[at])
        spreads.append(spread_between(influence, group[at], weight[at]))
    return spreads


def covariance_left_out(influence: Floats, own: Floats, group: Codes) -> Floats:
    r"""Return the leave-one-group-out covariance of k coefficients, CR3, in one step.

    .. math:: V = \sum_g d_g d_g', \qquad d_g = (I - H_g)^{-1} \sum_{i \in g} \psi_i

    `influence` :math:`\psi` has shape (n, k). `own`, of shape (n, k, k), sums to :math:`H_g` in
    each group, the leverage of the group on the coefficients. Over all samples it sums to I.
    """
    k = influence.shape[1]

    def measure(code: Codes) -> Spread:
        n_groups = int(code.max()) + 1
        sums, moved = (
            np.stack([add_up(code, column, n_groups) for column in values.reshape(-1, size).T], 1)
            for values, size in ((influence, k), (own, k * k))
        )
        # coefficients without the group
        rest = np.eye(k) - moved.reshape(-1, k, k)
        rest[np.linalg.det(rest) < ROUNDING] = np.nan  # no estimate if the group is left out
        left_out = np.linalg.solve(rest, sums[:, :, None])[:, :, 0]
        return Spread(left_out.T @ left_out, np.inf, n_groups, (0.0,))

    return combine_ways(group, measure).covariance


def add_up(code: Labels, values: Floats | None, size: int) -> Floats:
    """Return the sum of the values of each code, or the number of its samples."""
    return np.bincount(code, values, size).astype(np.float64, copy=False)


class Totals(NamedTuple):
    """Sums over each part of squared influence values, plain and divided by the weights."""

    squares: Floats
    counted: Floats


def measure_sums(
    sums: Floats, weight: Floats, squares: Floats, totals: Totals, leverage: Floats
) -> Spread:
    r"""Return the spread of one kind of groups.

    `sums` of influence values has shape (k, n_groups, n_parts). The sums of weights, of squared
    weights and of leverages have shape (n_groups, n_parts). Let :math:`D_{gc}` be the variance of
    the sum of a group in part c, which has the scale :math:`v_c`, and :math:`\rho` the intraclass
    correlation. Then

    .. math:: D_{gc} = v_c \sum_{i, j \in g} w_i w_j \rho^{[i \ne j]}, \qquad
              C = diag(\sum_c D_c) + \sum_c (s_c s_c' T_c - s_c D_c' - D_c s_c').

    Here, C is the covariance of the sums minus their fractions of the total, and :math:`T_c =
    \sum_g D_{gc}`.
    """
    with np.errstate(invalid="ignore"):  # a part of weight 0 has neither shares nor a scale
        share = np.nan_to_num(leverage / leverage.sum(axis=0))
        scale = np.nan_to_num(totals.squares / squares.sum(axis=0))
    if not scale.any():  # nothing varies, and the degrees of freedom do not depend on the scale
        scale = np.ones(len(scale))
    correlation = find_correlation(sums, weight, squares, totals)
    # factors a_g of the groups: the ratio of the variances of a group's sum before and after
    # centering, and 0 for groups without samples
    alone = scale * squares
    whole = alone.sum(axis=1)
    left = (alone * (1 - 2 * share) + share**2 * alone.sum(axis=0)).sum(axis=1)
    factor, counted = np.where(whole > 0, np.nan, 0.0), left > ROUNDING * whole
    np.divide(whole, left, out=factor, where=counted)
    of_group = sums.sum(axis=2)
    # cluster-robust covariance with the factors of CR2
    covariance = (of_group * factor) @ of_group.T
    d = scale * (squares + correlation * (weight**2 - squares))
    # C = diag(d) + U K U', where U has the columns share and d of each part.
    columns = np.concatenate([share.T, d.T])  # stored as rows, which is much faster to sum
    inner = -np.roll(np.eye(len(columns)), weight.shape[1], axis=0)
    np.fill_diagonal(inner[: weight.shape[1]], d.sum(axis=0))
    own, lost = d.sum(axis=1), np.sum((inner @ columns) * columns, axis=0)
    gram = inner @ ((factor * columns) @ columns.T)
    # Satterthwaite: mean and half the variance of V
    mean = float(factor @ (own + lost))
    square = float(factor**2 @ (own**2 + 2 * own * lost) + np.trace(gram @ gram))
    degrees = mean**2 / square if square > 0 else 0.0
    n_groups = int(np.count_nonzero(weight.sum(axis=1)))
    return Spread(covariance, degrees, n_groups, (correlation,))


def find_correlation(sums: Floats, weight: Floats, squares: Floats, totals: Totals) -> float:
    """Return the intraclass correlation, in [0, 1], from a one-way analysis of variance."""
    # mean squares between and within groups
    whole = weight.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        between = np.nansum(sums**2 / weight, axis=(0, 1)) / totals.counted
        alone = np.nansum(squares / weight, axis=0)
        means, pairs = squares.sum(axis=0) / whole, np.sum(weight**2, axis=0) / whole
    defined = np.isfinite(between)
    # solve the expected mean squares for the correlation
    top = between * (whole - means) - (alone - means)
    bottom = whole - pairs - alone + means - between * (means - pairs)
    top, bottom = top[defined].sum(), bottom[defined].sum()
    return float(np.clip(top / bottom, 0.0, 1.0)) if bottom > 0 else 0.0


def close_proportion(
    value: float, hits: float, n: float
) -> dict[str, tuple[Callable[[float], Limits], float]]:
    """Return the intervals of a proportion of `n` samples."""
    error = float(np.sqrt(value * (1 - value) / n))
    return {name: (partial(of, hits, n), error) for name, of in PROPORTION_INTERVALS.items()}
