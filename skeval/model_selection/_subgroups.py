"""An estimate in each subgroup, and the largest difference between two of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from scipy import stats

from skeval._inference.estimate import Estimate, Limits, LimitsByMethod, Results
from skeval.utils._checks import is_missing
from skeval.utils._text import write_estimate

__all__ = [
    "compare_subgroups",
    "compare_with_rest",
    "describe_difference",
    "describe_slices",
    "read_subgroups",
]

FALSE_DISCOVERIES = 0.05
"""Of the subgroups that are said to differ from the rest, how many at most do not, on average."""


def compare_subgroups(
    by: Any, n_samples: int, measure: Callable[[np.ndarray], Estimate], confidence_level: float
) -> Results:
    """Return what is measured of the samples of each subgroup: ``measure(chosen)``.

    The interval of the largest difference is made of those of the two subgroups (the method of
    variance estimates recovery [1]_) at the level that Bonferroni's correction for all pairs asks
    for, since it was chosen among them. It takes the subgroups for independent: where groups of
    samples lie in several of them, it is too long.

    References
    ----------
    .. [1] Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect
       measures: a general approach. Statistics in Medicine 27, 1693-1702.
       :doi:`10.1002/sim.3095`
    """
    names, chosen = read_subgroups(by, n_samples)
    found = {name: measure(each) for name, each in zip(names, chosen, strict=True)}
    results = Results(found)
    results.largest_difference = find_largest_difference(found, confidence_level)
    return results


def compare_with_rest(
    by: Any, n_samples: int, measure: Callable[[np.ndarray], Estimate], confidence_level: float
) -> Results:
    """Return what is measured of the samples of each subgroup, of one column or of several.

    Of each, `less_the_rest` is the difference to all other samples, which its interval takes for
    independent, with a P-value that is corrected for all subgroups so that of those that are called
    different a twentieth at most are not, on average (Benjamini and Hochberg [1]_).

    References
    ----------
    .. [1] Benjamini, Y. and Hochberg, Y. (1995). Controlling the false discovery rate. Journal of
       the Royal Statistical Society B 57, 289-300. :doi:`10.1111/j.2517-6161.1995.tb02031.x`
    """
    columns = {str(name): by[name] for name in by} if hasattr(by, "items") else {"": by}
    chosen = {
        f"{column}: {name}" if column else name: mask
        for column, values in columns.items()
        for name, mask in zip(*read_subgroups(values, n_samples), strict=True)
    }
    found = Results({name: measure(mask) for name, mask in chosen.items()})
    less = {}
    for name, mask in chosen.items():
        rest = replace(found[name], value=np.nan, standard_error=np.nan, limits={})
        if not mask.all():
            rest = measure(~mask)
        less[name] = subtract(found[name], rest, confidence_level)
    known = [name for name, each in less.items() if np.isfinite(each.details["pvalue"])]
    adjusted = dict.fromkeys(less, np.nan)
    if known:
        pvalues = [less[name].details["pvalue"] for name in known]
        adjusted |= zip(known, stats.false_discovery_control(pvalues).tolist(), strict=True)
    found.less_the_rest = Results(
        {
            name: replace(each, details={**each.details, "pvalue_adjusted": adjusted[name]})
            for name, each in less.items()
        }
    )
    return found


def subtract(part: Estimate, rest: Estimate, confidence_level: float) -> Estimate:
    """Return the difference of two estimates from different samples, and its P-value."""
    difference = part.value - rest.value
    error = float(np.hypot(part.standard_error, rest.standard_error))
    pvalue = float(2 * stats.norm.sf(abs(difference) / error)) if error > 0 else np.nan
    ends = [part.interval.low, part.interval.high, rest.interval.low, rest.interval.high]
    limits: LimitsByMethod = {"recovery": partial(subtract_limits, part, rest, 1)}
    return Estimate(
        name=f"{part.name} less the rest",
        value=difference,
        standard_error=error,
        method="recovery",
        limits=limits if np.isfinite(ends).all() else {},
        n_samples=part.n_samples,
        details={"pvalue": pvalue},
        confidence_level=confidence_level,
    )


def describe_slices(found: Results) -> str:
    """Say which subgroups differ from the rest."""
    less = found.less_the_rest
    differ = [
        name for name, each in less.items() if each.details["pvalue_adjusted"] <= FALSE_DISCOVERIES
    ]
    differ.sort(key=lambda name: less[name].details["pvalue_adjusted"])
    rate = f"false discovery rate of {100 * FALSE_DISCOVERIES:g} % over {len(less)} subgroups"
    if not differ:
        return f"No subgroup is shown to differ from the rest ({rate})."
    named = []
    for name in differ[:MOST_NAMED]:
        low, high = less[name].interval.low, less[name].interval.high
        value = write_estimate(less[name].value, (high - low) / 4)
        named.append(f"{name} ({value} less the rest)")
    more = f" and {len(differ) - MOST_NAMED} more" if len(differ) > MOST_NAMED else ""
    verb = "differs" if len(differ) == 1 else "differ"
    return f"{', '.join(named)}{more} {verb} from the rest ({rate})."


MOST_NAMED = 5


def read_subgroups(by: Any, n_samples: int) -> tuple[list[Any], list[np.ndarray]]:
    """Return the names of the subgroups, and which samples each holds.

    What is missing is a subgroup, too; names of several types are compared as text.
    """
    if isinstance(by, str | bytes) or np.ndim(by) != 1 or len(by) != n_samples:
        got = np.shape(by) if not isinstance(by, str | bytes) else repr(by)
        raise ValueError(f"by must hold a subgroup for each of {n_samples} samples, got {got}.")
    values = ["missing" if is_missing(value) else value for value in list(by)]
    if len({type(value) for value in values}) > 1:
        values = [str(value) for value in values]
    names, codes = np.unique(np.array(values), return_inverse=True)
    return names.tolist(), [codes == code for code in range(len(names))]


def subtract_limits(a: Estimate, b: Estimate, n_pairs: int, confidence_level: float) -> Limits:
    r"""Return the interval of ``a - b``, for as many pairs at once, from those of both.

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
    known = [
        name
        for name, each in estimates.items()
        if np.isfinite([each.value, each.interval.low, each.interval.high]).all()
    ]
    pairs = list(combinations(known, 2))
    if not pairs:
        return None
    pair = max(pairs, key=lambda two: abs(estimates[two[0]].value - estimates[two[1]].value))
    first, second = sorted(pair, key=lambda name: -estimates[name].value)
    a, b = estimates[first], estimates[second]
    return Estimate(
        name=f"{a.name}, {first} less {second}",
        value=a.value - b.value,
        standard_error=float(np.hypot(a.standard_error, b.standard_error)),
        method="recovery",
        limits={"recovery": partial(subtract_limits, a, b, len(pairs))},
        details={"first": first, "second": second, "n_pairs": len(pairs)},
        confidence_level=confidence_level,
    )


def describe_difference(found: Estimate | None) -> str:
    """Say between which subgroups the difference is largest, and whether it may be none."""
    if found is None:
        return "There are no two subgroups to compare."
    low, high, n_pairs = found.interval.low, found.interval.high, found.details["n_pairs"]
    difference, low_end, high_end = (
        write_estimate(number, (high - low) / 4) for number in (found.value, low, high)
    )
    start = (
        f"The largest difference is that of {found.details['first']} over "
        f"{found.details['second']}: {difference}, "
        f"{100 * found.confidence_level:g} % interval {low_end} to {high_end}, corrected for "
        f"{n_pairs} pair{'s' * (n_pairs > 1)} of subgroups"
    )
    return f"{start}: {'it is more than chance explains' if low > 0 else 'there may be none'}."
