"""Statistics of fixed predictions on bootstrap resamples of the samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.random import SeedSequence
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from skeval._resampling.sampling_units import DrawingUnits
from skeval.utils._checks import ignored_warnings, repetition_rng, warn_undefined

Floats = NDArray[np.float64]
Statistic = Callable[[NDArray[np.intp]], float]  # function of the indices of samples
_BLOCK = 100


def values_of_draws(
    compute: Callable[[NDArray[np.intp]], Floats],
    units: DrawingUnits,
    n_resamples: int,
    root: SeedSequence,
    n_jobs: int | None,
) -> Floats:
    """Return a vector for each resample as a column, nan where it is not finite.

    The argument of `compute` is the number of times that a resample contains each sample.
    """
    starts = range(0, n_resamples, _BLOCK)
    blocks = [range(start, min(start + _BLOCK, n_resamples)) for start in starts]
    jobs = (delayed(_block_values)(compute, units, root, block) for block in blocks)
    values = np.concatenate(list(Parallel(n_jobs=n_jobs)(jobs))).T
    values[~np.isfinite(values)] = np.nan
    return values


def values_or_nan(statistics: Sequence[Statistic], *plan: Any) -> Floats:
    """Return statistics on the same resamples, one row each, nan where one is undefined.

    `plan` has the arguments of `values_of_draws` after the first.
    """
    return values_of_draws(partial(_value_each, statistics), *plan)


def mean_held(scores: Floats, weight: Floats | None, counts: NDArray[np.intp]) -> Floats:
    """Return the mean of each row of scores, with samples counted by the resample."""
    held = counts if weight is None else counts * weight
    with np.errstate(invalid="ignore"):  # the mean of no sample is nan
        means: Floats = scores @ held / held.sum()
    return means


def mean_signed(differences: Floats, weight: Floats | None, exchanged: NDArray[np.intp]) -> Floats:
    """Return the mean of differences, with the sign of exchanged samples changed."""
    return np.average(differences * (1 - 2 * exchanged), weights=weight, keepdims=True)


def leave_one_out_values(statistic: Statistic, units: DrawingUnits) -> list[Floats]:
    """Return the statistic without each unit where it is defined, an array per stratum."""
    values = [
        np.array([_value_or_nan(statistic, np.flatnonzero(units.unit != u)) for u in stratum])
        for stratum in units.strata
    ]
    n_undefined = sum(int(np.isnan(stratum).sum()) for stratum in values)
    if n_undefined:
        warn_undefined(
            f"The metric is undefined without one of the samples or groups, for {n_undefined} of "
            f"{units.n_units}, which are left out of the acceleration of BCa."
        )
    return [stratum[np.isfinite(stratum)] for stratum in values if np.isfinite(stratum).any()]


def warn_of_undefined(values: Floats) -> None:
    """Warn about resamples on which the statistic is undefined."""
    n_undefined = int(np.isnan(values).sum())
    if n_undefined:
        warn_undefined(
            f"The metric is undefined on {n_undefined} of {len(values)} resamples, which are left "
            "out; where a class is missing there, strata or more samples of it would help."
        )


def _block_values(
    compute: Callable[[NDArray[np.intp]], Floats],
    units: DrawingUnits,
    root: SeedSequence,
    block: range,
) -> Floats:
    return np.array([compute(units.draw(repetition_rng(root, b))) for b in block], dtype=float)


def _value_each(statistics: Sequence[Statistic], counts: NDArray[np.intp]) -> Floats:
    indices = np.repeat(np.arange(len(counts)), counts)
    return np.array([_value_or_nan(statistic, indices) for statistic in statistics])


def _value_or_nan(statistic: Statistic, indices: NDArray[np.intp]) -> float:
    """Return the statistic of a resample, nan if it is undefined there."""
    with ignored_warnings(UndefinedMetricWarning):
        try:
            return statistic(indices)
        except ValueError:
            return np.nan
