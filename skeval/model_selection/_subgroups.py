"""Estimates in subgroups, their differences from the rest, and the largest difference of two."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from scipy import stats
from scipy.optimize import brentq

from skeval._inference.estimate import Estimate, Limits, LimitsByMethod, Results
from skeval.utils import _checks
from skeval.utils._text import write_estimate

FALSE_DISCOVERIES = 0.05
"""False discovery rate of the differences between subgroups and the rest."""


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
    names, chosen = read_subgroups(by, n_samples)
    estimates = {name: measure(each) for name, each in zip(names, chosen, strict=True)}
    results = Results(estimates)
    results.largest_difference = find_largest_difference(estimates, confidence_level)
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
    several = isinstance(by, Mapping) or hasattr(by, "columns")
    columns = {str(name): by[name] for name in by} if several else {"": by}
    chosen = {
        f"{column}: {name}" if column else name: mask
        for column, values in columns.items()
        for name, mask in zip(*read_subgroups(values, n_samples), strict=True)
    }
    estimates = Results({name: measure(mask) for name, mask in chosen.items()})
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


SMALLEST_QUANTILE, LARGEST_QUANTILE = 0.01, 7.0
"""Normal quantiles for P-values of .99, and of 3e-12 near the resolution of levels."""


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


MAX_NAMED = 5


def read_subgroups(by: Any, n_samples: int) -> tuple[list[Any], list[np.ndarray]]:
    """Return the names of the subgroups, and a mask of the samples of each.

    Missing values form a subgroup; names of several types are compared as text.
    """
    if isinstance(by, str | bytes) or np.ndim(by) != 1 or len(by) != n_samples:
        got = np.shape(by) if not isinstance(by, str | bytes) else repr(by)
        raise ValueError(f"by must hold a subgroup for each of {n_samples} samples, got {got}.")
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
    level = 1 - (1 - confidence_level) / n_pairs
    of_a, of_b = a.confidence_interval(level), b.confidence_interval(level)
    difference = a.value - b.value
    low = difference - np.hypot(a.value - of_a.low, of_b.high - b.value)
    high = difference + np.hypot(of_a.high - a.value, b.value - of_b.low)
    return float(low), float(high)


def find_largest_difference(
    estimates: dict[Any, Estimate], confidence_level: float
) -> Estimate | None:
    """Return the largest difference of two estimates; None unless two have a value and an interval.

    The level is Bonferroni's for all pairs, since the largest is chosen among them.
    """
    candidates = [
        name
        for name, each in estimates.items()
        if np.isfinite([each.value, each.interval.low, each.interval.high]).all()
    ]
    pairs = list(combinations(candidates, 2))
    if not pairs:
        return None
    pair = max(pairs, key=lambda two: abs(estimates[two[0]].value - estimates[two[1]].value))
    first, second = sorted(pair, key=lambda name: -estimates[name].value)
    difference = subtract(estimates[first], estimates[second], len(pairs), confidence_level)
    details = {"first": first, "second": second, "n_pairs": len(pairs)}
    return replace(difference, name=f"{difference.name}, {first} less {second}", details=details)


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
