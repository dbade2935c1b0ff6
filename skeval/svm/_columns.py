"""What transformers that act on columns do in each fit, from the weights of its training samples.

Each is ``(x - shift) / scale``; a column that is dropped has an infinite scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from skeval._resampling.plan import PlanBlock
from skeval._solvers.column_scales import ColumnScales

__all__ = ["ColumnMaps", "ColumnSteps", "is_served_scaler", "make_column_steps"]

_EPS = float(np.finfo(np.float64).eps)


class ColumnMaps(NamedTuple):
    """The maps of some fits, shift and scale (n_fits, n_features)."""

    shift: np.ndarray
    scale: np.ndarray

    @property
    def n_kept(self) -> np.ndarray:
        """Return how many columns each fit keeps."""
        return np.count_nonzero(np.isfinite(self.scale), axis=1)


def make_column_steps(steps: Sequence[Any], X: np.ndarray) -> ColumnSteps | None:
    """Return what some transformers do to the columns of X; None if one is not served.

    Served are, in this order: an imputer that has nothing to impute, a VarianceThreshold that
    drops constant columns, and a scaler.
    """
    left = list(steps)
    if left and type(left[0]) is SimpleImputer and imputes_nothing(left[0], X):
        left.pop(0)
    drops = bool(left) and type(left[0]) is VarianceThreshold and left[0].threshold == 0
    left = left[1:] if drops else left
    scaler = left[0] if len(left) == 1 else None
    if len(left) > 1 or (scaler is not None and not is_served_scaler(scaler)):
        return None
    return ColumnSteps(X, drops, scaler)


def imputes_nothing(imputer: SimpleImputer, X: np.ndarray) -> bool:
    """Whether an imputer leaves X as it is, and adds no column."""
    missing = imputer.missing_values
    nan = isinstance(missing, float) and np.isnan(missing)
    return nan and bool(np.isfinite(X).all())


def is_served_scaler(scaler: Any) -> bool:
    """Whether a scaler is one of those that are written down here."""
    if type(scaler) is MinMaxScaler:
        return not scaler.clip
    return type(scaler) is StandardScaler


class ColumnSteps:
    """The transformers before an SVC, which drop constant columns, or scale, or both."""

    def __init__(self, X: np.ndarray, drops: bool, scaler: Any) -> None:
        self.X, self.drops, self.scaler = X, drops, scaler

    @cached_property
    def _scales(self) -> ColumnScales:
        return ColumnScales(self.X)

    @cached_property
    def _order(self) -> np.ndarray:
        """Return the rows of X (n, p) in the order of each column."""
        return np.argsort(self.X, axis=0, kind="stable")

    def maps(self, block: PlanBlock) -> ColumnMaps:
        """Return the maps of the fits of a block."""
        shape = len(block), self.X.shape[1]
        shift, scale = np.zeros(shape), np.ones(shape)
        trained = block.train > 0
        if type(self.scaler) is StandardScaler:
            weights = block.train.astype(float)
            if self.scaler.with_mean:
                shift = self._scales.means(weights)
            if self.scaler.with_std:
                scale = self._scales.deviations(weights)
        elif self.scaler is not None:
            shift, scale = self._min_max(trained)
        if self.drops:
            lowest, highest = self._extremes(trained)
            scale = np.where(lowest == highest, np.inf, scale)
        return ColumnMaps(shift, scale)

    def _min_max(self, trained: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the map of a MinMaxScaler, which leaves columns of hardly any range unscaled."""
        lowest, highest = self._extremes(trained)
        span = highest - lowest
        span[span < 10 * _EPS] = 1.0
        low, high = self.scaler.feature_range
        scale = span / (high - low)
        return lowest - low * scale, scale

    def _extremes(self, trained: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest and the largest training value (n_fits, n_features) of columns."""
        return self._first_value(trained, self._order), self._first_value(
            trained, self._order[::-1]
        )

    def _first_value(self, trained: np.ndarray, order: np.ndarray) -> np.ndarray:
        """Return the value of the first training sample of each column, in an order (n, p)."""
        columns = np.arange(order.shape[1])
        found = np.full((len(trained), order.shape[1]), np.nan)
        missing = np.ones(found.shape, dtype=bool)
        for rows in order:
            here = missing & trained[:, rows]
            found[here] = np.broadcast_to(self.X[rows, columns], found.shape)[here]
            missing &= ~here
            if not missing.any():
                break
        return found
