"""Transformers before a classifier, and checks of their parameters.

Transformers that scale and select columns are computed for all fits of a block at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from inspect import signature
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.utils.validation import has_fit_parameter

from skeval._resampling.plans import PlanBlock
from skeval._resampling.sampling_units import Target
from skeval._solvers.f_statistics import TwoClassF
from skeval._solvers.splits import ColumnScales
from skeval.utils._checks import warn_user

AFFINE = {
    StandardScaler: "copy with_mean with_std",
    MaxAbsScaler: "copy",
    MinMaxScaler: "feature_range copy",
    RobustScaler: "with_centering with_scaling quantile_range copy unit_variance",
}
"""Scalers that only shift and scale each column, with the parameters for which this holds."""

EPSILON = float(np.finfo(np.float64).eps)

NONE = -1
"""Index that marks a fit whose columns only the estimator can select."""


def uses_only(estimator: Any, known: str) -> bool:
    """Whether all parameters except the `known` ones have their default values.

    New versions of scikit-learn add parameters that a solver does not support.
    """
    parameters = signature(type(estimator)).parameters
    values = estimator.get_params(deep=False)
    return all(
        values[name] is parameters[name].default or values[name] == parameters[name].default
        for name in values.keys() - set(known.split())
    )


def are_affine(steps: tuple) -> bool:
    """Whether transformers only shift and scale each column."""
    return all(type(step) in AFFINE and uses_only(step, AFFINE[type(step)]) for step in steps)


def maps_each_sample(step: Any) -> bool:
    """Whether the transformed sample does not depend on the training set."""
    if isinstance(step, str) or step is None:  # "passthrough"
        return True
    if type(step) is FunctionTransformer:
        return step.func is None or isinstance(step.func, np.ufunc)
    return type(step) in (Normalizer, Binarizer, PolynomialFeatures)


class ColumnMaps(NamedTuple):
    """Transformations of the columns in some fits: ``(x - shift) / scale``, then a selection.

    shift, scale : ndarray of shape (n_fits, n_features)
    features : int ndarray of shape (n_fits, k) or None
        Selected columns, `NONE` for a fit that is left to the estimator.
    """

    shift: np.ndarray
    scale: np.ndarray
    features: np.ndarray | None = None

    @property
    def usable(self) -> np.ndarray:
        """Whether the columns of each fit (n_fits,) are computed."""
        if self.features is None:
            return np.ones(len(self.shift), dtype=bool)
        return np.asarray(self.features[:, 0] != NONE)

    def transform(self, X: np.ndarray, fit: int) -> np.ndarray:
        """Return the columns of X in one of the fits."""
        if self.features is not None:
            return self.select(X, np.array([fit]))[0]
        return (X - self.shift[fit]) / self.scale[fit]

    def select(self, X: np.ndarray, fits: np.ndarray) -> np.ndarray:
        """Return the selected columns (fits, n, k), each contiguous."""
        assert self.features is not None
        at = self.features[fits]
        columns = X.T[at]
        columns -= np.take_along_axis(self.shift[fits], at, axis=1)[:, :, None]
        columns /= np.take_along_axis(self.scale[fits], at, axis=1)[:, :, None]
        return columns.swapaxes(1, 2)


def make_column_steps(steps: Sequence[Any], X: Any, target: Target) -> ColumnSteps | str:
    """Return the transformers of the columns of X, or the reason why they are not supported.

    One scaler is supported, and for two classes a SelectKBest with at most one scaler before or
    after it.
    """
    # scalers and selectors among the steps
    numbers = np.asarray(X, dtype=float)
    selectors = [step for step in steps if type(step) is SelectKBest]
    scalers = [step for step in steps if type(step) is not SelectKBest]
    supported = len(scalers) <= 1 and all(
        type(step) in (StandardScaler, MinMaxScaler) and are_affine((step,)) for step in scalers
    )
    scaler = next(iter(scalers), None)
    if not selectors:
        names = ", ".join(type(step).__name__ for step in steps)
        reason = f"no solver supports these transformers: {names}"
        return ColumnSteps(numbers, scaler) if supported else reason
    # f_classif of two classes selects from X as from an array of numbers
    selector, binary = selectors[0], len(selectors) == 1 and target.n_classes == 2
    k = int(selector.k) if isinstance(selector.k, Integral) else 0
    selects = selector.score_func is f_classif and 1 <= k <= numbers.shape[1]
    if not (supported and binary and selects):
        return (
            "feature selection within the fits requires two classes, SelectKBest(f_classif), "
            "numbers without missing values, and at most one scaler before or after the selection"
        )
    numbers = np.asfortranarray(numbers)  # columns are selected fast
    # the selector sees scaled columns only if the scaler comes before it
    before = scalers if steps[-1] is selector else []
    return ColumnSteps(numbers, scaler, Selection(selector, before, numbers, target))


def has_plain_columns(X: Any) -> bool:
    """Whether X contains finite numbers in double precision, or integers.

    Transformers keep single precision, unlike solvers, and may impute missing values.
    """
    X = np.asarray(X)
    return (X.dtype == np.float64 or X.dtype.kind in "iu") and bool(np.isfinite(X).all())


class Selection:
    """Columns with the largest F statistics of two classes.

    `before` contains the scaler before the selector, if there is one. Scaling changes the
    statistics only by rounding errors.
    """

    def __init__(
        self, selector: SelectKBest, before: list[Any], X: np.ndarray, target: Target
    ) -> None:
        self.selector, self.before, self.X, self.codes = selector, before, X, target.codes
        self.k = int(selector.k)
        self._statistics = TwoClassF(X, scaled=bool(before))

    def __call__(self, block: PlanBlock) -> np.ndarray:
        """Return the selected features (n_fits, k) in ascending order.

        They are `NONE` in fits without one of the classes.
        """
        # fits with both classes
        positive, trained = block.order_labels(self.codes) == 1, block.train > 0
        features = np.full((len(block), self.k), NONE)
        complete = (trained & positive).any(axis=1) & (trained & ~positive).any(axis=1)
        fits = np.flatnonzero(complete)
        if len(fits):
            features[fits] = self._select(block.train[fits], positive[fits])
        return features

    def _select(self, train: np.ndarray, positive: np.ndarray) -> np.ndarray:
        """Return the selected features of fits with both classes."""
        # selectors ignore weights; counts repeat samples
        counts = (train if train.dtype.kind in "iu" else train > 0).astype(np.intp)
        selection = self._statistics.select(counts, positive, self.k)
        if selection.constant.any():
            constant = np.flatnonzero(selection.constant)
            warn_user(f"The features {constant} are constant in a training set.")
        features = selection.features.copy()  # (n_fits, k)
        # the selector itself decides where rounding errors matter
        for fit in np.flatnonzero(~selection.certain):
            rows = np.repeat(np.arange(len(self.X)), counts[fit])
            samples = self.X[rows]
            for scaler in self.before:
                weighted = train.dtype.kind == "f" and has_fit_parameter(scaler, "sample_weight")
                weights = {"sample_weight": train[fit, rows]} if weighted else {}
                samples = clone(scaler).fit(samples, **weights).transform(samples)
            fitted = clone(self.selector).fit(samples, positive[fit, rows])
            features[fit] = fitted.get_support(indices=True)
        return features


class ColumnSteps:
    """Transformers that scale columns and select them."""

    def __init__(self, X: np.ndarray, scaler: Any, selection: Selection | None = None) -> None:
        self.X, self.scaler, self.selection = X, scaler, selection

    @property
    def n_columns(self) -> int:
        """Number of columns that the classifier receives."""
        return self.X.shape[1] if self.selection is None else self.selection.k

    @cached_property
    def _scales(self) -> ColumnScales:
        """Means and scales of a StandardScaler for arbitrary sample weights."""
        return ColumnScales(self.X)

    def maps(self, block: PlanBlock) -> ColumnMaps:
        """Return the transformations in the fits of a block."""
        shape = len(block), self.X.shape[1]
        shift, scale = np.zeros(shape), np.ones(shape)
        if type(self.scaler) is StandardScaler:
            weights = block.train.astype(float)
            if self.scaler.with_mean:
                shift = self._scales.means(weights)
            if self.scaler.with_std:
                scale = self._scales.deviations(weights)
        elif self.scaler is not None:
            shift, scale = self._min_max(block.train > 0)
        return ColumnMaps(shift, scale, None if self.selection is None else self.selection(block))

    def _min_max(self, trained: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the map of a MinMaxScaler, which does not scale nearly constant columns."""
        # smallest training value and range of each column
        lowest = np.stack([self.X[rows].min(axis=0) for rows in trained])
        span = np.stack([np.ptp(self.X[rows], axis=0) for rows in trained])
        span[span < 10 * EPSILON] = 1.0
        low, high = self.scaler.feature_range
        scale = span / (high - low)
        return lowest - low * scale, scale
