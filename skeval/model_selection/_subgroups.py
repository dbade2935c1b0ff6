r"""Subgroups of the samples, compared with each other, and metrics averaged over units.

Units are tasks, subjects, readers, queries or images. The metric is computed in each unit, and the
estimate is the mean of these values, weighted if units have weights.

*Random units* are a sample of all units: with K values :math:`m_k` and weights :math:`w_k` that sum
to 1, the variance of the mean :math:`\bar m` is

.. math:: \sum_k c_k w_k^2 (m_k - \bar m)^2, \quad c_k = 1 / (1 - 2 w_k + \sum_j w_j^2),

which is unbiased if all values have the same variance. With equal weights it is the variance of the
values divided by K. It includes the variation within units, because the values do. If the metric
has two bounds, the interval is Wilson's for the proportion with this variance, with Student's
quantile. Without any variation, it is a proportion of K units if all values are on a bound, and of
all samples otherwise.

*Fixed units* are all units of interest. The variances :math:`v_k` within units add up to
:math:`\sum_k w_k^2 v_k`, and the third cumulants to :math:`\sum_k w_k^3 \kappa_k`. The interval of
unit k has the half-width :math:`h_k`, about proportional to :math:`\sqrt{v_k}` and at least
:math:`z \sqrt{v_k}`, and its center lies :math:`s_k` above :math:`m_k`, proportional to
:math:`\kappa_k / v_k`. The interval of the mean is

.. math:: \bar m + \frac{\sum_k w_k^3 h_k^2 s_k}{\sum_k w_k^2 h_k^2} \mp \sqrt{\sum_k w_k^2 h_k^2} ,

which is symmetric if there are many units.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import brentq

from skeval._inference import intervals
from skeval._inference.estimate import Estimate, Results
from skeval._inference.intervals import Limits, LimitsByMethod
from skeval._resampling.sampling_units import Statistic
from skeval.utils import _checks
from skeval.utils._text import write_estimate

Floats = NDArray[np.float64]
FALSE_DISCOVERIES = 0.05
"""False discovery rate of the differences between subgroups and the rest."""
SMALLEST_QUANTILE, LARGEST_QUANTILE = 0.01, 7.0
"""Normal quantiles for P-values of .99, and of 3e-12 near the resolution of levels."""
MAX_NAMED = 5
"""Number of subgroups, or of undefined units, that a sentence names."""
UNITS = ("random", "fixed")
ROUNDING = 1e-12


def compare_subgroups(
    by: Any, n_samples: int, measure: Callable[[np.ndarray], Estimate], confidence_level: float
) -> Results:
    """Return the estimate of each subgroup, ``measure(chosen)``, and the largest difference.

    The interval of the largest difference combines the intervals of the two subgroups (method of
    variance estimates recovery [1]_) at Bonferroni's level for all pairs, because the pair was
    chosen among them. It assumes independent subgroups: if groups of samples lie in several of
    them, it is too wide.

    References
    ----------
    .. [1] Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect
       measures: a general approach. Statistics in Medicine 27, 1693-1702.
       :doi:`10.1002/sim.3095`
    """
    # the estimate of each subgroup
    names, chosen = read_subgroups(by, n_samples)
    estimates = {name: measure(each) for name, each in zip(names, chosen, strict=True)}
    results = Results(estimates)
    known = [
        name
        for name, each in estimates.items()
        if np.isfinite([each.value, each.interval.low, each.interval.high]).all()
    ]
    # the largest difference, at Bonferroni's level for all pairs
    pairs = list(combinations(known, 2))
    if pairs:
        pair = max(pairs, key=lambda two: abs(estimates[two[0]].value - estimates[two[1]].value))
        first, second = sorted(pair, key=lambda name: -estimates[name].value)
        difference = subtract(estimates[first], estimates[second], len(pairs), confidence_level)
        results.largest_difference = replace(
            difference,
            name=f"{difference.name}, {first} less {second}",
            details={"first": first, "second": second, "n_pairs": len(pairs)},
        )
    return results


def compare_with_rest(
    by: Any, n_samples: int, measure: Callable[[np.ndarray], Estimate], confidence_level: float
) -> Results:
    """Return the estimate of each subgroup, from one column or several.

    For each subgroup, `less_the_rest` is the difference from all other samples, which are assumed
    to be independent of it. The P-value is one minus the largest confidence level at which the
    interval of this difference excludes 0, so that test and interval agree; for small subgroups it
    uses intervals suitable for few samples (Wilson's, Student's). P-values are adjusted for the
    number of subgroups so that on average at most a twentieth of those called different are not
    (Benjamini and Hochberg [1]_).

    References
    ----------
    .. [1] Benjamini, Y. and Hochberg, Y. (1995). Controlling the false discovery rate. Journal of
       the Royal Statistical Society B 57, 289-300. :doi:`10.1111/j.2517-6161.1995.tb02031.x`
    """
    # subgroups of one column or several
    several = isinstance(by, Mapping) or hasattr(by, "columns")
    columns = {str(name): by[name] for name in by} if several else {"": by}
    chosen = {
        f"{column}: {name}" if column else name: mask
        for column, values in columns.items()
        for name, mask in zip(*read_subgroups(values, n_samples), strict=True)
    }
    estimates = Results({name: measure(mask) for name, mask in chosen.items()})
    # difference of each subgroup from all other samples
    less, pvalues = {}, {}
    for name, mask in chosen.items():
        rest = replace(estimates[name], value=np.nan, standard_error=np.nan, limits={})
        if not mask.all():
            rest = measure(~mask)
        each = subtract(estimates[name], rest, 1, confidence_level)
        less[name] = replace(
            each, name=f"{each.name} less the rest", n_samples=estimates[name].n_samples
        )
        pvalues[name] = invert_interval(each)
    # false discovery rate over all subgroups
    tested = [name for name, pvalue in pvalues.items() if np.isfinite(pvalue)]
    adjusted = dict.fromkeys(less, np.nan)
    if tested:
        corrected = stats.false_discovery_control([pvalues[name] for name in tested])
        adjusted |= zip(tested, corrected.tolist(), strict=True)
    compared = Results()
    for name, difference in less.items():
        details = {"pvalue": pvalues[name], "pvalue_adjusted": adjusted[name]}
        compared[name] = replace(difference, details=details)
    estimates.less_the_rest = compared
    return estimates


def invert_interval(difference: Estimate) -> float:
    """Return the P-value of no difference; nan where the difference has no interval.

    It is one minus the largest confidence level at which the interval excludes 0. The search runs
    over quantiles of the normal distribution, in which the limits are nearly linear.
    """
    if not difference.limits:
        return np.nan
    if difference.value == 0:
        return 1.0

    def nearest_end(quantile: float) -> float:
        """Return the distance from 0 to the nearer limit, positive if the interval excludes 0."""
        interval = difference.confidence_interval(1 - float(2 * stats.norm.sf(quantile)))
        return interval.low if difference.value > 0 else -interval.high

    if nearest_end(SMALLEST_QUANTILE) <= 0:
        return 1.0
    # the quantile at which the interval touches 0
    quantile = LARGEST_QUANTILE
    if nearest_end(LARGEST_QUANTILE) < 0:
        quantile = brentq(nearest_end, SMALLEST_QUANTILE, LARGEST_QUANTILE, xtol=1e-3)
    return float(2 * stats.norm.sf(quantile))


def subtract(a: Estimate, b: Estimate, n_pairs: int, confidence_level: float) -> Estimate:
    """Return the difference of two independent estimates, simultaneous for `n_pairs` pairs."""
    ends = [a.interval.low, a.interval.high, b.interval.low, b.interval.high]
    limits: LimitsByMethod = {"recovery": partial(subtract_limits, a, b, n_pairs)}
    return Estimate(
        name=a.name,
        value=a.value - b.value,
        standard_error=float(np.hypot(a.standard_error, b.standard_error)),
        method="recovery",
        limits=limits if np.isfinite(ends).all() else {},
        confidence_level=confidence_level,
    )


def describe_slices(found: Results) -> str:
    """Describe which subgroups differ from the rest."""
    less = found.less_the_rest
    adjusted = {name: each.details["pvalue_adjusted"] for name, each in less.items()}
    differ = [name for name in less if adjusted[name] <= FALSE_DISCOVERIES]
    differ.sort(key=adjusted.__getitem__)
    rate = f"false discovery rate of {100 * FALSE_DISCOVERIES:g} % over {len(less)} subgroups"
    if not differ:
        return f"No subgroup differs significantly from the rest ({rate})."
    named = []
    for name in differ[:MAX_NAMED]:
        low, high = less[name].interval.low, less[name].interval.high
        value = write_estimate(less[name].value, (high - low) / 4)
        named.append(f"{name} ({value} compared with the rest)")
    more = f" and {len(differ) - MAX_NAMED} more" if len(differ) > MAX_NAMED else ""
    verb = "differs" if len(differ) == 1 else "differ"
    return f"{', '.join(named)}{more} {verb} significantly from the rest ({rate})."


def read_subgroups(by: Any, n_samples: int) -> tuple[list[Any], list[np.ndarray]]:
    """Return the names of the subgroups, and a mask of the samples of each.

    Missing values form a subgroup; names of several types are compared as text.
    """
    if isinstance(by, str | bytes) or np.ndim(by) != 1 or len(by) != n_samples:
        got = np.shape(by) if not isinstance(by, str | bytes) else repr(by)
        raise ValueError(f"by must have a subgroup for each of {n_samples} samples, got {got}.")
    values = ["missing" if _checks.is_missing(value) else value for value in list(by)]
    if len({type(value) for value in values}) > 1:
        values = [str(value) for value in values]
    names, codes = np.unique(np.array(values), return_inverse=True)
    return names.tolist(), [codes == code for code in range(len(names))]


def subtract_limits(a: Estimate, b: Estimate, n_pairs: int, confidence_level: float) -> Limits:
    r"""Return the interval of ``a - b`` from the intervals of both, for `n_pairs` pairs.

    The method of variance estimates recovery (Zou and Donner 2008; Newcombe 1998 for Wilson's):
    :math:`a - b - \sqrt{(a - l_a)^2 + (u_b - b)^2}` and its mirror image.
    """
    # limits of both at the level of one pair, combined
    level = 1 - (1 - confidence_level) / n_pairs
    of_a, of_b = a.confidence_interval(level), b.confidence_interval(level)
    difference = a.value - b.value
    low = difference - np.hypot(a.value - of_a.low, of_b.high - b.value)
    high = difference + np.hypot(of_a.high - a.value, b.value - of_b.low)
    return float(low), float(high)


def describe_difference(found: Estimate | None, scale: float = 1.0) -> str:
    """Describe the largest difference between subgroups and its interval, divided by `scale`."""
    if found is None:
        return "No two subgroups have enough samples to be compared."
    value, low, high = np.array([found.value, *found.interval]) / scale
    n_pairs = found.details["n_pairs"]
    difference, low_end, high_end = (
        write_estimate(number, (high - low) / 4) for number in (value, low, high)
    )
    level = f"{100 * found.confidence_level:g} % CI"
    pairs = f", corrected for {n_pairs} pairs of subgroups" if n_pairs > 1 else ""
    return (
        f"The largest difference between subgroups is {difference}, {found.details['first']} minus "
        f"{found.details['second']} ({level} {low_end} to {high_end}{pairs}); it is "
        f"{'' if low > 0 else 'not '}significant."
    )


class Units(NamedTuple):
    """Units of the samples, in sorted order.

    Attributes
    ----------
    names : list
    rows : list of ndarray
        Positions of the samples of each unit.
    weights : ndarray of shape (n_units,), or None
    fixed : bool
        Whether these are all units of interest, not a sample of them.
    """

    names: list[Any]
    rows: list[NDArray[np.intp]]
    weights: Floats | None
    fixed: bool = False

    @property
    def text(self) -> str:
        """Description of the mean, for names of results."""
        weighted = "" if self.weights is None else "weighted "
        kind = "fixed" if self.fixed else "random"
        return f"{weighted}mean over {len(self.names)} units ({kind})"

    @property
    def shares(self) -> Floats:
        """Weights that sum to 1."""
        weights = np.ones(len(self.names)) if self.weights is None else self.weights
        return weights / weights.sum()

    def select(self, kept: NDArray[np.bool_]) -> Units:
        """Return some of the units."""
        places = np.flatnonzero(kept).tolist()
        weights = None if self.weights is None else self.weights[kept]
        names, rows = [self.names[k] for k in places], [self.rows[k] for k in places]
        return Units(names, rows, weights, self.fixed)


def read_units(within: Any, n_samples: int, unit_weights: Any, units: str = "random") -> Units:
    """Return the units of samples; raise unless there are two, each with a weight."""
    _checks.check_option("units", units, UNITS)
    if within is None:
        given = "unit_weights" if units == "random" else f"units={units!r}"
        raise ValueError(f"{given} requires within, got None.")
    shape = np.shape(within) if not isinstance(within, str | bytes) else repr(within)
    if shape != (n_samples,):
        raise ValueError(f"within must have a unit for each of {n_samples} samples, got {shape}.")
    entries = np.asarray(within)
    missing = _checks.find_missing(entries)
    if missing.any():
        raise ValueError(
            f"within must name the unit of each sample, {missing.sum()} of {n_samples} are "
            f"missing, the first at position {missing.argmax()}; leave these samples out."
        )
    # samples of each unit
    names, codes = np.unique(_checks.check_y("within", entries), return_inverse=True)
    if len(names) < 2:
        raise ValueError(
            f"within must contain at least two units, got one: {names.tolist()[0]!r}; leave within "
            "out for the metric on all samples."
        )
    order = np.argsort(codes, kind="stable")
    rows = np.split(order, np.cumsum(np.bincount(codes))[:-1])
    weights = None
    if unit_weights is not None:
        if not hasattr(unit_weights, "items"):
            raise TypeError(f"unit_weights must be a dict of unit to weight, got {unit_weights!r}.")
        listed, expected = dict(unit_weights.items()), set(names.tolist())
        apart = sorted(listed.keys() ^ expected, key=str)
        if apart:
            lacks = f"it lacks {apart[0]!r}"
            problem = lacks if apart[0] in expected else f"{apart[0]!r} is not in within"
            raise ValueError(
                f"unit_weights must have a weight for each of {len(names)} units, {problem}."
            )
        weights = np.array([listed[name] for name in names.tolist()])
        weights = _checks.check_weights("unit_weights", weights, len(names))
    return Units(names.tolist(), rows, weights, units == "fixed")


def score_units(statistics: Sequence[Statistic], units: Units) -> tuple[Floats, Units]:
    """Return the values of statistics in each unit, (n_statistics, n_units), and these units.

    Units where a statistic is undefined are left out with a warning.
    """
    values, reason = np.full((len(statistics), len(units.names)), np.nan), ""
    for row, statistic in enumerate(statistics):
        for column, samples in enumerate(units.rows):
            try:
                with _checks.ignored_warnings():  # the warning below names the units
                    values[row, column] = statistic(samples)
            except (ValueError, ZeroDivisionError) as error:
                reason = reason or f" ({error})"
    # units in which all statistics are defined
    defined = np.isfinite(values).all(axis=0)
    if defined.sum() < 2:
        raise ValueError(
            f"within must contain at least two units in which the metric is defined, got "
            f"{defined.sum()} of {len(defined)}{reason}; use larger units, or leave within out."
        )
    if units.weights is not None and np.count_nonzero(units.weights[defined]) < 2:
        raise ValueError(
            "unit_weights must be > 0 for at least two units in which the metric is defined."
        )
    if not defined.all():
        names = [units.names[k] for k in np.flatnonzero(~defined)]
        more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
        _checks.warn_undefined(
            f"The metric is undefined in {len(names)} of {len(defined)} units, which are left out: "
            f"{', '.join(map(str, names[:MAX_NAMED]))}{more}. The mean is that of the other units; "
            "merge units, or choose a metric that is defined in all."
        )
    return values[:, defined], units.select(defined)


def estimate_mean(
    name: str,
    values: Floats,
    units: Units,
    confidence_level: float,
    bounds: Limits,
    method: str = "auto",
) -> Estimate:
    """Return the mean of the values of random units.

    The interval is Wilson's if the metric has two `bounds`, and otherwise Student's.
    """
    # weighted mean, and the variance between units
    shares = units.shares
    mean = float(shares @ values)
    spread = intervals.spread_between(shares * (values - mean), np.arange(len(values)), shares)
    error, degrees = spread.error, spread.degrees_of_freedom
    limits = {"t": partial(intervals.normal_interval, mean, error, degrees_of_freedom=degrees)}
    # Wilson's interval for a metric with two bounds
    low, span = bounds[0], bounds[1] - bounds[0]
    if np.isfinite(span):
        constant = np.ptp(values) <= ROUNDING * span
        share = float(np.clip(((values[0] if constant else mean) - low) / span, 0, 1))
        # number of samples of a proportion with this standard error
        if not constant:
            n = max(1.0, share * (1 - share) * (span / error) ** 2)
        elif share in (0, 1):
            n = float(1 / np.sum(shares**2))
        else:
            n = float(1 / np.sum(shares**2 / list(map(len, units.rows))))
        unit = partial(intervals.wilson_interval, share * n, n, degrees_of_freedom=degrees)
        limits = {"score": partial(intervals.stretch, low, span, unit), **limits}
    parts = {"standard_error": error, "limits": intervals.put_first(method, limits)}
    return _describe_mean(name, values, units, confidence_level, bounds=bounds, **parts)


def combine_units(
    name: str, estimates: Sequence[Estimate], units: Units, confidence_level: float, **fields: Any
) -> Estimate:
    """Return the mean of the estimates of fixed units with the interval of their sum."""
    for unit, estimate in zip(units.names, estimates, strict=True):
        if not np.isfinite([estimate.interval.low, estimate.interval.high]).all():
            raise ValueError(
                f"units='fixed' requires an interval in each unit, there is none in {unit!r}; "
                "merge small units, or use another method."
            )
    values = np.array([estimate.value for estimate in estimates])
    errors = np.array([estimate.standard_error for estimate in estimates])
    parts = {
        "standard_error": float(np.sqrt(np.sum((units.shares * errors) ** 2))),
        "limits": {estimates[0].interval.method: partial(add_intervals, estimates, units.shares)},
    }
    return _describe_mean(name, values, units, confidence_level, **parts, **fields)


def add_intervals(estimates: Sequence[Estimate], shares: Floats, confidence_level: float) -> Limits:
    """Return the interval of a weighted mean of independent estimates."""
    values = np.array([estimate.value for estimate in estimates])
    ends = np.array([list(each.confidence_interval(confidence_level)) for each in estimates])
    # half-widths and centers of the intervals of the units
    half, shift = np.ptp(ends, axis=1) / 2, ends.mean(axis=1) - values
    # score intervals are narrower than their standard errors suggest, because their centers move
    errors = np.array([estimate.standard_error for estimate in estimates])
    half = np.fmax(half, intervals.normal_quantile(confidence_level) * errors)
    variances = (shares * half) ** 2
    center = float(shares @ values)
    if variances.any():
        center += float(np.average(shares * shift, weights=variances))
    width = float(np.sqrt(variances.sum()))
    return center - width, center + width


def _describe_mean(
    name: str, values: Floats, units: Units, confidence_level: float, **fields: Any
) -> Estimate:
    """Return the mean over units."""
    by_name = dict(zip(units.names, values.tolist(), strict=True))
    return Estimate(
        name=f"{name}, {units.text}",
        value=float(np.clip(units.shares @ values, *fields["bounds"])),  # rounding may exceed 1
        method=next(iter(fields["limits"])),
        n_samples=sum(map(len, units.rows)),
        replicates=values,
        details={"n_units": len(values), "unit_values": by_name},
        confidence_level=confidence_level,
        **fields,
    )
