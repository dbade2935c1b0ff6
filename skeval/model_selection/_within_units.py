r"""Metrics averaged over units: tasks, subjects, readers, queries or images.

The metric is computed in each unit, and the estimate is the mean of these values, weighted if units
have weights.

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

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skeval._inference import intervals
from skeval._inference.estimate import Estimate, Limits
from skeval._resampling.resampled_statistics import Statistic
from skeval.utils import _checks
from skeval.utils._checks import ignored_warnings

Floats = NDArray[np.float64]
UNITS = ("random", "fixed")
ROUNDING = 1e-12
MAX_NAMED = 5
"""Number of undefined units that the warning names."""


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
        raise ValueError(f"within must hold a unit for each of {n_samples} samples, got {shape}.")
    entries = np.asarray(within)
    missing = _checks.find_missing(entries)
    if missing.any():
        raise ValueError(
            f"within must name the unit of each sample, {missing.sum()} of {n_samples} are "
            f"missing, the first at position {missing.argmax()}; leave these samples out."
        )
    names, codes = np.unique(_checks.check_y("within", entries), return_inverse=True)
    if len(names) < 2:
        raise ValueError(
            f"within must hold at least two units, got one: {names.tolist()[0]!r}; leave within "
            "out for the metric on all samples."
        )
    order = np.argsort(codes, kind="stable")
    rows = np.split(order, np.cumsum(np.bincount(codes))[:-1])
    weights = _read_weights(unit_weights, names.tolist())
    return Units(names.tolist(), rows, weights, units == "fixed")


def _read_weights(unit_weights: Any, names: list[Any]) -> Floats | None:
    """Return the weight of each unit, None for equal weights."""
    if unit_weights is None:
        return None
    if not hasattr(unit_weights, "items"):
        raise TypeError(f"unit_weights must be a dict of unit to weight, got {unit_weights!r}.")
    listed = dict(unit_weights.items())
    lacking = [name for name in names if name not in listed]
    unknown = [name for name in listed if name not in set(names)]
    if lacking or unknown:
        problem = f"it lacks {lacking[0]!r}" if lacking else f"{unknown[0]!r} is not in within"
        raise ValueError(
            f"unit_weights must hold a weight for each of {len(names)} units, {problem}."
        )
    weights = np.array([listed[name] for name in names])
    return _checks.check_weights("unit_weights", weights, len(names))


def score_units(statistics: Sequence[Statistic], units: Units) -> tuple[Floats, Units]:
    """Return the values of statistics in each unit, (n_statistics, n_units), and these units.

    Units where a statistic is undefined are left out with a warning.
    """
    values, reason = np.full((len(statistics), len(units.names)), np.nan), ""
    for row, statistic in enumerate(statistics):
        for column, samples in enumerate(units.rows):
            try:
                with ignored_warnings():  # the warning below names the units
                    values[row, column] = statistic(samples)
            except (ValueError, ZeroDivisionError) as error:
                reason = reason or f" ({error})"
    defined = np.isfinite(values).all(axis=0)
    if defined.sum() < 2:
        raise ValueError(
            f"within must hold at least two units in which the metric is defined, got "
            f"{defined.sum()} of {len(defined)}{reason}; use larger units, or leave within out."
        )
    if units.weights is not None and np.count_nonzero(units.weights[defined]) < 2:
        raise ValueError(
            "unit_weights must be > 0 for at least two units in which the metric is defined."
        )
    if not defined.all():
        _warn_of_undefined([units.names[k] for k in np.flatnonzero(~defined)], len(defined))
    return values[:, defined], units.select(defined)


def _warn_of_undefined(names: list[Any], n_units: int) -> None:
    """Name the units that are left out."""
    listed = ", ".join(map(str, names[:MAX_NAMED]))
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    _checks.warn_undefined(
        f"The metric is undefined in {len(names)} of {n_units} units, which are left out: {listed}"
        f"{more}. The mean is that of the other units; merge units, or choose a metric that is "
        "defined in all."
    )


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
    shares = units.shares
    mean = float(shares @ values)
    spread = intervals.spread_between(shares * (values - mean), np.arange(len(values)), shares)
    error, degrees = spread.error, spread.degrees_of_freedom
    limits = {"t": partial(intervals.normal_interval, mean, error, degrees_of_freedom=degrees)}
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
