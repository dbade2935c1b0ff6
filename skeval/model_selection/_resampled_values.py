"""A statistic of samples on bootstrap resamples of them."""

import warnings
from collections.abc import Callable

import numpy as np
from joblib import Parallel, delayed
from numpy.random import SeedSequence
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from skeval.metrics._checks import warn_undefined
from skeval.model_selection._resamples import DrawingUnits
from skeval.utils._random import repetition_rng

__all__ = ["Statistic", "resampled_values", "value_or_nan"]

Floats = NDArray[np.float64]
Statistic = Callable[[NDArray[np.intp]], float]  # of the indices of a selection of samples
_BLOCK = 100


def resampled_values(
    statistic: Statistic,
    units: DrawingUnits,
    n_resamples: int,
    root: SeedSequence,
    n_jobs: int | None,
) -> Floats:
    """Return the statistic on each resample, nan where it is undefined (with a warning)."""
    starts = range(0, n_resamples, _BLOCK)
    blocks = [range(start, min(start + _BLOCK, n_resamples)) for start in starts]
    jobs = (delayed(_block_values)(statistic, units, root, block) for block in blocks)
    values = np.concatenate(list(Parallel(n_jobs=n_jobs)(jobs)))
    values[~np.isfinite(values)] = np.nan
    n_undefined = int(np.isnan(values).sum())
    if n_undefined:
        warn_undefined(
            f"The metric is undefined on {n_undefined} of {n_resamples} resamples, which are left "
            "out; where a class is missing there, strata or more samples of it would help."
        )
    return values


def _block_values(
    statistic: Statistic, units: DrawingUnits, root: SeedSequence, block: range
) -> Floats:
    sample = np.arange(len(units.unit))
    draws = (units.draw(repetition_rng(root, b)) for b in block)
    return np.array([value_or_nan(statistic, np.repeat(sample, counts)) for counts in draws])


def value_or_nan(statistic: Statistic, indices: NDArray[np.intp]) -> float:
    """Return nan where the metric has no value on a resample although it has one on the data."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        try:
            return statistic(indices)
        except ValueError:
            return np.nan
