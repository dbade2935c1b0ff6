"""A statistic of samples on bootstrap resamples of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from joblib import Parallel, delayed
from numpy.random import SeedSequence
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from skeval._resampling.units import DrawingUnits
from skeval.utils._checks import warn_undefined
from skeval.utils._seeds import repetition_rng

__all__ = [
    "Statistic",
    "leave_one_out_values",
    "values_or_nan",
    "warn_of_undefined",
]

Floats = NDArray[np.float64]
Statistic = Callable[[NDArray[np.intp]], float]  # of the indices of a selection of samples
_BLOCK = 100


def values_or_nan(
    statistic: Statistic,
    units: DrawingUnits,
    n_resamples: int,
    root: SeedSequence,
    n_jobs: int | None,
) -> Floats:
    """Return the statistic on each resample, nan where it is undefined."""
    starts = range(0, n_resamples, _BLOCK)
    blocks = [range(start, min(start + _BLOCK, n_resamples)) for start in starts]
    jobs = (delayed(_block_values)(statistic, units, root, block) for block in blocks)
    values = np.concatenate(list(Parallel(n_jobs=n_jobs)(jobs)))
    values[~np.isfinite(values)] = np.nan
    return values


def leave_one_out_values(statistic: Statistic, units: DrawingUnits) -> list[Floats]:
    """Return the statistic without each unit, an array for each stratum, where it is defined."""
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
    """Say on how many resamples the statistic is undefined."""
    n_undefined = int(np.isnan(values).sum())
    if n_undefined:
        warn_undefined(
            f"The metric is undefined on {n_undefined} of {len(values)} resamples, which are left "
            "out; where a class is missing there, strata or more samples of it would help."
        )


def _block_values(
    statistic: Statistic, units: DrawingUnits, root: SeedSequence, block: range
) -> Floats:
    sample = np.arange(len(units.unit))
    draws = (units.draw(repetition_rng(root, b)) for b in block)
    return np.array([_value_or_nan(statistic, np.repeat(sample, counts)) for counts in draws])


def _value_or_nan(statistic: Statistic, indices: NDArray[np.intp]) -> float:
    """Return nan where the metric has no value on a resample although it has one on the data."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        try:
            return statistic(indices)
        except ValueError:
            return np.nan
