"""Subgroups of the samples, compared with each other, and metrics averaged over units.

Units are tasks, subjects, readers, queries or images. The metric is computed in each unit, and the
estimate is the mean of these values.

The units are a random sample of all units. The variance of the mean is the variance of the K
values divided by K, which includes the variation within units. If the metric has two bounds, the
interval is Wilson's for the proportion with this variance, with Student's t quantile. If the
values do not vary, it is for a proportion of K units if they are all at a bound, and of all
samples otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from skeval._inference import intervals
from skeval._inference.estimate import Estimate, Results
from skeval._inference.intervals import Limits, LimitsByMethod
from skeval._resampling.sampling_units import Statistic
from skeval.utils import _checks

Floats = NDArray[np.float64]
MAX_NAMED = 5
"""Number of undefined units that a sentence names."""


def compare_subgroups(
    by: Any, n_samples: int, measure: Callable[[np.ndarray], Estimate], confidence_level: float
) -> Results:
    """Return the estimate of each subgroup, ``measure(chosen)``, for one column or several.

    For each subgroup, `less_the_rest` is the difference from all other samples, which are assumed
    to be independent of it. The P-value is 1 minus the largest confidence level at which the
    interval of this difference excludes 0, so that test and interval agree. For small subgroups,
    it uses intervals for few samples (Wilson's, Student's t). P-values are adjusted for the number
    of subgroups, so that on average at most a twentieth of the subgroups called different are not
    different (Benjamini and Hochberg [1]_).

    References
    ----------
    .. [1] Benjamini, Y. and Hochberg, Y. (1995). Controlling the false discovery rate. Journal of
       the Royal Statistical Society B 57, 289-300. :doi:`10.1111/j.2517-6161.1995.tb02031.x`
    """
    # subgroups of one column or several
    several = isinstance(by, Mapping) or hasattr(by, "columns")
    columns = {str(name): by[name] for name in by} if several else {"": by}
    if not columns:
        raise ValueError("by must have at least one column, got none.")
    chosen = {
        f"{column}: {name}" if column else name: mask
        for column, values in columns.items()
        for name, mask in zip(*read_subgroups(values, n_samples), strict=True)
    }
    estimates = Results({name: measure(mask) for name, mask in chosen.items()})
    # difference of each subgroup from all other samples
    less = {}
    for name, mask in chosen.items():
        rest = replace(estimates[name], value=np.nan, standard_error=np.nan, limits={})
        if not mask.all():
            rest = measure(~mask)
        less[name] = subtract(estimates[name], rest, confidence_level)
    # false discovery rate over all subgroups
    pvalues = np.array([invert_interval(each) for each in less.values()])
    tested, adjusted = np.isfinite(pvalues), np.full(len(pvalues), np.nan)
    adjusted[tested] = stats.false_discovery_control(pvalues[tested])
    parts = zip(less.items(), pvalues.tolist(), adjusted.tolist(), strict=True)
    estimates.less_the_rest = Results(
        {
            name: replace(each, details={"pvalue": pvalue, "pvalue_adjusted": corrected})
            for (name, each), pvalue, corrected in parts
        }
    )
    if len(estimates) > 1:
        estimates.largest_difference = find_largest_difference(estimates, n_samples)
    return estimates


def find_largest_difference(estimates: Results, n_samples: int) -> Estimate:
    """Return the largest minus the smallest metric of the subgroups, with its interval.

    The difference between the two values is positive even if all subgroups are equal. The interval
    is therefore computed from the simultaneous intervals of all subgroups. It contains 0 if they
    overlap.
    """
    several = tuple(estimates.values())
    return Estimate(
        name=f"{several[0].name}, largest difference of subgroups",
        value=float(np.ptp([estimate.value for estimate in several])),
        standard_error=np.nan,
        method="simultaneous",
        limits={"simultaneous": partial(limit_largest_difference, several)},
        n_samples=n_samples,
        confidence_level=several[0].confidence_level,
    )


def limit_largest_difference(estimates: Sequence[Estimate], confidence_level: float) -> Limits:
    """Return limits of the largest difference from intervals with Bonferroni's level."""
    level = intervals.simultaneous_level(confidence_level, len(estimates))
    ends = (estimate.confidence_interval(level) for estimate in estimates)
    low, high = np.array([[end.low, end.high] for end in ends]).T
    return max(0.0, float(low.max() - high.min())), float(high.max() - low.min())


def invert_interval(difference: Estimate) -> float:
    """Return the P-value of no difference from its interval, or nan without an interval."""
    if not difference.limits:
        return np.nan
    if difference.value == 0:
        return 1.0
    pvalue = intervals.invert_limits(difference.confidence_interval, 0.0)
    return 2 * min(pvalue, 1 - pvalue)


def subtract(a: Estimate, b: Estimate, confidence_level: float) -> Estimate:
    """Return the difference of a subgroup from the rest, which are independent."""
    ends = [a.interval.low, a.interval.high, b.interval.low, b.interval.high]
    limits: LimitsByMethod = {"recovery": partial(subtract_limits, a, b)}
    return Estimate(
        name=f"{a.name} minus the rest",
        n_samples=a.n_samples,
        value=a.value - b.value,
        standard_error=float(np.hypot(a.standard_error, b.standard_error)),
        method="recovery",
        limits=limits if np.isfinite(ends).all() else {},
        confidence_level=confidence_level,
    )


def read_subgroups(by: Any, n_samples: int) -> tuple[list[Any], list[np.ndarray]]:
    """Return the names of the subgroups, and a mask of the samples of each.

    Missing values form a subgroup, the last one of numbers. Names of several types are compared as
    text, and texts that are all numbers as numbers.
    """
    with _checks.naming("by"):
        shape = np.shape(by) if not isinstance(by, str | bytes) else repr(by)
    if shape != (n_samples,):
        raise ValueError(
            f"by must have a subgroup for each of {n_samples} samples, got {shape}. Pass the "
            "column of a data frame, not its name."
        )
    values = ["missing" if _checks.is_missing(value) else value for value in list(by)]
    if len({type(value) for value in values}) > 1:
        values = [str(value) for value in values]
    names, codes = np.unique(np.array(values), return_inverse=True)
    # texts that are all numbers are sorted by value, with missing values last
    order = list(range(len(names)))
    with suppress(ValueError, TypeError):  # texts and dates
        numbers = np.array([np.inf if name == "missing" else float(name) for name in names])
        order = np.argsort(numbers, kind="stable").tolist()
    return names[order].tolist(), [codes == code for code in order]


def subtract_limits(a: Estimate, b: Estimate, confidence_level: float) -> Limits:
    r"""Return the interval of ``a - b`` from the intervals of both.

    The method recovers the variances from the intervals (Zou and Donner 2008, Newcombe 1998 for
    Wilson's). The limits are :math:`a - b - \sqrt{(a - l_a)^2 + (u_b - b)^2}` and its mirror
    image.
    """
    of_a, of_b = (each.confidence_interval(confidence_level) for each in (a, b))
    difference = a.value - b.value
    low = difference - np.hypot(a.value - of_a.low, of_b.high - b.value)
    return float(low), float(difference + np.hypot(of_a.high - a.value, b.value - of_b.low))


class Units(NamedTuple):
    """Names of the units of the samples, in sorted order, and the indices of their samples."""

    names: list[Any]
    rows: list[NDArray[np.intp]]

    @property
    def text(self) -> str:
        """Description of the mean, for names of results."""
        return f"mean over {len(self.names)} units"


def read_units(within: Any, n_samples: int) -> Units:
    """Return the units of samples. Raise an error unless there are at least two."""
    shape = np.shape(within) if not isinstance(within, str | bytes) else repr(within)
    if shape != (n_samples,):
        raise ValueError(f"within must have a unit for each of {n_samples} samples, got {shape}.")
    entries = np.asarray(within)
    _checks.check_complete("within", entries)
    # samples of each unit
    names, codes = np.unique(_checks.check_y("within", entries), return_inverse=True)
    if len(names) < 2:
        raise ValueError(
            f"within must contain at least two units, got one: {names.tolist()[0]!r}. For the "
            "metric on all samples, leave out within=."
        )
    order = np.argsort(codes, kind="stable")
    return Units(names.tolist(), np.split(order, np.cumsum(np.bincount(codes))[:-1]))


def score_units(statistics: Sequence[Statistic], units: Units) -> tuple[Floats, Units]:
    """Return the values of statistics in each unit, (n_statistics, n_units), and these units.

    Units where a statistic is undefined are omitted with a warning.
    """
    values, reason = np.full((len(statistics), len(units.names)), np.nan), ""
    # a unit where the metric raises an error stays nan
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
            "within must contain at least two units in which the metric is defined, got "
            f"{defined.sum()} of {len(defined)}{reason}. Use larger units, or leave out within=."
        )
    if not defined.all():
        names = [units.names[k] for k in np.flatnonzero(~defined)]
        more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
        _checks.warn_undefined(
            f"The metric is undefined in {len(names)} of {len(defined)} units, which are left out: "
            f"{', '.join(map(str, names[:MAX_NAMED]))}{more}. The mean is over the other units. "
            "Merge units, or choose a metric that is defined in all."
        )
    kept = np.flatnonzero(defined).tolist()
    return values[:, defined], Units([units.names[k] for k in kept], [units.rows[k] for k in kept])


CORRELATION_AT_BOUND = 0.3
"""Intraclass correlation assumed if all units are at a bound, so that it cannot be estimated."""


def _limit_share(
    share: float, n: float, at_bound: float, degrees: float, confidence_level: float
) -> Limits:
    """Return Wilson's limits of a mean fraction, not better than with all units at a bound.

    A single error among many samples leaves the variation between units as uncertain as no error
    does.
    """
    precision = {"confidence_level": confidence_level, "degrees_of_freedom": degrees}
    low, high = intervals.wilson_interval(share * n, n, **precision)
    _, nearest = intervals.wilson_interval(0.0, at_bound, **precision)
    return min(low, 1 - nearest), max(high, nearest)


def estimate_mean(
    name: str,
    values: Floats,
    units: Units,
    confidence_level: float,
    bounds: Limits,
    method: str = "auto",
) -> Estimate:
    """Return the mean of the values of the units.

    The interval is Wilson's if the metric has two `bounds`, and Student's t otherwise.
    """
    # mean, and the variance between units
    n_units, mean = len(values), float(values.mean())
    error, degrees = float(np.std(values, ddof=1) / np.sqrt(n_units)), n_units - 1.0
    t = partial(intervals.normal_interval, mean, error, degrees_of_freedom=degrees)
    limits: LimitsByMethod = {"t": t}
    # Wilson's interval for a metric with two bounds
    low, span = bounds[0], bounds[1] - bounds[0]
    if np.isfinite(span):
        constant = np.ptp(values) <= intervals.ROUNDING * span
        share = float(np.clip(((values[0] if constant else mean) - low) / span, 0, 1))
        sizes = np.array(list(map(len, units.rows)))
        # divided by the design effect, with the mean size of the unit of a sample
        at_bound = sizes.sum() / (1 + (np.sum(sizes**2) / sizes.sum() - 1) * CORRELATION_AT_BOUND)
        # number of samples of a proportion with this standard error
        if not constant:
            n = max(1.0, share * (1 - share) * (span / error) ** 2)
        else:
            n = at_bound if share in (0, 1) else float(n_units**2 / np.sum(1 / sizes))
        unit = partial(_limit_share, share, n, at_bound, degrees)
        limits = {"score": partial(intervals.stretch, low, span, unit), **limits}
    limits = intervals.put_first(method, limits)
    return Estimate(
        name=f"{name}, {units.text}",
        value=float(np.clip(mean, *bounds)),  # rounding may exceed 1
        standard_error=error,
        method=next(iter(limits)),
        limits=limits,
        n_samples=sum(map(len, units.rows)),
        replicates=values,
        details={
            "n_units": n_units,
            "unit_values": dict(zip(units.names, values.tolist(), strict=True)),
        },
        confidence_level=confidence_level,
        bounds=bounds,
    )
