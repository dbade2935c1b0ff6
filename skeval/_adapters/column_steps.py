"""Transformers before a classifier, and what is known of their parameters.

Those that drop constant columns, scale columns and select them are computed for all fits of a block
at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from inspect import signature
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, SelectPercentile, VarianceThreshold, f_classif
from sklearn.impute import SimpleImputer
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
from skeval._resampling.target import Target
from skeval._solvers.column_scales import ColumnScales
from skeval._solvers.f_statistics import TwoClassF
from skeval.utils._checks import warn_user

AFFINE = {
    StandardScaler: "copy with_mean with_std",
    MaxAbsScaler: "copy",
    MinMaxScaler: "feature_range copy",
    RobustScaler: "with_centering with_scaling quantile_range copy unit_variance",
}
"""Scalers that only shift and scale each column, and the parameters for which they do."""

EPSILON = float(np.finfo(np.float64).eps)

SELECTORS = (SelectKBest, SelectPercentile)
"""Selectors of the columns with the largest statistics, by number or by percentile."""

STACK_ELEMENTS = 2**20
"""Approximate maximum size of a stack of selected columns, in numbers."""

NONE = -1
"""Index that marks a fit whose columns only the estimator can select."""

APART = 0.01
"""Minimum distance between a percentile and the next scores, as a share of their difference."""


def uses_only(estimator: Any, known: str) -> bool:
    """Whether all parameters except the `known` ones have their default values.

    Versions of scikit-learn add parameters, whose effect a solver does not know.
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


def scales_to_unit(steps: tuple) -> bool | None:
    """Whether affine transformers end with variance 1; None if they end with another scale."""
    scalers = [step for step in steps if getattr(step, "with_std", True)]
    if not scalers:
        return False
    return True if steps[-1] is scalers[-1] and type(steps[-1]) is StandardScaler else None


class ColumnMaps(NamedTuple):
    """Transformations of the columns in some fits: ``(x - shift) / scale``, then a selection.

    shift, scale : ndarray of shape (n_fits, n_features)
        A dropped column has an infinite scale.
    features : int ndarray of shape (n_fits, k) or None
        Selected columns, `NONE` for a fit that is left to the estimator.
    """

    shift: np.ndarray
    scale: np.ndarray
    features: np.ndarray | None = None

    @property
    def n_kept(self) -> np.ndarray:
        """Number of columns (n_fits,) that the classifier receives."""
        if self.features is not None:
            return np.full(len(self.features), self.features.shape[1])
        return np.count_nonzero(np.isfinite(self.scale), axis=1)

    @property
    def usable(self) -> np.ndarray:
        """Whether each fit (n_fits,) has columns, all of them computed."""
        if self.features is not None:
            return np.asarray(self.features[:, 0] != NONE)
        return self.n_kept > 0

    def transform(self, X: np.ndarray, fit: int) -> np.ndarray:
        """Return the columns of X in one of the fits."""
        if self.features is not None:
            return self._select(X, np.array([fit]))[0]
        return (X - self.shift[fit]) / self.scale[fit]

    def stack(self, X: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield usable fits, and their columns (fits, n, k), each contiguous."""
        usable = np.flatnonzero(self.usable)
        size = max(1, STACK_ELEMENTS // (len(X) * int(self.n_kept.max(initial=1))))
        for start in range(0, len(usable), size):
            fits = usable[start : start + size]
            if self.features is not None:
                yield fits, self._select(X, fits)
            else:
                yield fits, np.stack([self.transform(X, fit).T for fit in fits]).swapaxes(1, 2)

    def _select(self, X: np.ndarray, fits: np.ndarray) -> np.ndarray:
        """Return the selected columns (fits, n, k)."""
        assert self.features is not None
        at = self.features[fits]
        columns = X.T[at]
        columns -= np.take_along_axis(self.shift[fits], at, axis=1)[:, :, None]
        columns /= np.take_along_axis(self.scale[fits], at, axis=1)[:, :, None]
        return columns.swapaxes(1, 2)


def make_column_steps(steps: Sequence[Any], X: Any, target: Target) -> ColumnSteps | str:
    """Return the transformers of the columns of X, or the reason why they are not supported.

    The supported steps are, in this order: an imputer that has nothing to impute, a
    VarianceThreshold that drops constant columns, and a scaler. A univariate selection of two
    classes may have one scaler before or after it.
    """
    numbers = np.asarray(X, dtype=float)
    left = list(steps)
    if any(type(step) in SELECTORS for step in left):
        scalers = [step for step in left if type(step) not in SELECTORS]
        selectors = [step for step in left if type(step) in SELECTORS]
        supported = len(selectors) == 1 and len(scalers) <= 1
        supported &= target.n_classes == 2 and all(map(is_supported_scaler, scalers))
        if not supported or not selects_as_we_do(selectors[0], X):
            return (
                "features selected in each fit are supported for two classes, with SelectKBest "
                "or SelectPercentile(f_classif) on an array, and one scaler before or after"
            )
        before = scalers if left[-1] is selectors[0] else []
        numbers = np.asfortranarray(numbers)  # columns are selected fast
        selection = Selection(selectors[0], before, numbers, target)
        return ColumnSteps(numbers, False, next(iter(scalers), None), selection=selection)
    if left and type(left[0]) is SimpleImputer and imputes_nothing(left[0], numbers):
        left.pop(0)
    drops = bool(left) and type(left[0]) is VarianceThreshold and left[0].threshold == 0
    left = left[1:] if drops else left
    scaler = left[0] if len(left) == 1 else None
    if len(left) > 1 or (scaler is not None and not is_supported_scaler(scaler)):
        names = ", ".join(type(step).__name__ for step in steps)
        return f"no solver supports these transformers: {names}"
    return ColumnSteps(numbers, drops, scaler)


def has_plain_columns(X: Any) -> bool:
    """Whether X holds finite numbers in double precision, or integers.

    Transformers keep single precision, unlike solvers, and may impute missing values.
    """
    X = np.asarray(X)
    return (X.dtype == np.float64 or X.dtype.kind in "iu") and bool(np.isfinite(X).all())


def imputes_nothing(imputer: SimpleImputer, X: np.ndarray) -> bool:
    """Whether an imputer leaves X as it is, and adds no column."""
    missing = imputer.missing_values
    nan = isinstance(missing, float) and np.isnan(missing)
    return nan and bool(np.isfinite(X).all())


def is_supported_scaler(scaler: Any) -> bool:
    """Whether `ColumnSteps` computes the scales of a scaler."""
    kind = type(scaler)
    return kind in (StandardScaler, MinMaxScaler) and uses_only(scaler, AFFINE[kind])


def selects_as_we_do(selector: SelectKBest | SelectPercentile, X: Any) -> bool:
    """Whether a selector applies `f_classif` to finite numbers in double precision."""
    return (
        selector.score_func is f_classif
        and type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in (np.float64, np.int64)
        and count_selected(selector, X.shape[1]) > 0
        and bool(np.isfinite(X).all())
    )


def count_selected(selector: SelectKBest | SelectPercentile, p: int) -> int:
    """Return how many of p features with distinct scores are selected, or 0 if unsupported.

    SelectPercentile selects the scores above their percentile, which lies between two scores.
    """
    if type(selector) is SelectKBest:
        supported = isinstance(selector.k, Integral) and 1 <= int(selector.k) <= p
        return int(selector.k) if supported else 0
    if not isinstance(selector.percentile, Real):
        return 0
    share = float(selector.percentile)
    if not 0 < share <= 100:
        return 0
    if share == 100:
        return p
    position = (p - 1) * ((100 - share) / 100)  # as numpy computes it
    below = int(position)
    certain = position == below or APART <= position - below <= 1 - APART
    return p - 1 - below if certain else 0


class Selection:
    """Columns with the largest F statistics of two classes.

    `before` contains the scaler before the selector, if there is one. Scaling changes the
    statistics by rounding errors only.
    """

    def __init__(self, selector: Any, before: list[Any], X: np.ndarray, target: Target) -> None:
        self.selector, self.before, self.X, self.codes = selector, before, X, target.codes
        self.k = count_selected(selector, X.shape[1])
        self._by_share = type(selector) is SelectPercentile
        # the selectors treat ties differently; ties of SelectPercentile are never certain
        self._statistics = TwoClassF(X, scaled=bool(before) or self._by_share)

    def __call__(self, block: PlanBlock) -> np.ndarray:
        """Return the selected features (n_fits, k) in ascending order.

        They are `NONE` in fits without one of the classes, or with fewer features because of ties.
        """
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
            warn_user(f"Features {constant} are constant in a training set.")
        features = selection.features.copy()  # (n_fits, k)
        undefined = self._by_share and selection.constant.any()
        # the selector itself decides where rounding errors matter
        for fit in np.flatnonzero(~selection.certain | undefined):
            rows = np.repeat(np.arange(len(self.X)), counts[fit])
            samples = self.X[rows]
            for scaler in self.before:
                weighted = train.dtype.kind == "f" and has_fit_parameter(scaler, "sample_weight")
                weights = {"sample_weight": train[fit, rows]} if weighted else {}
                samples = clone(scaler).fit(samples, **weights).transform(samples)
            fitted = clone(self.selector).fit(samples, positive[fit, rows])
            chosen = fitted.get_support(indices=True)
            features[fit] = chosen if len(chosen) == self.k else NONE
        return features


class ColumnSteps:
    """Transformers that drop constant columns, scale columns, and select them."""

    def __init__(
        self, X: np.ndarray, drops: bool, scaler: Any, selection: Selection | None = None
    ) -> None:
        self.X, self.drops, self.scaler = X, drops, scaler
        self.selection = selection

    @property
    def reduces(self) -> bool:
        """Whether each fit selects columns."""
        return self.selection is not None

    @property
    def changes(self) -> bool:
        """Whether fits change the columns."""
        return self.drops or self.scaler is not None or self.reduces

    @property
    def n_columns(self) -> int:
        """Maximum number of columns that the classifier receives."""
        if self.selection is not None:
            return self.selection.k
        return self.X.shape[1]

    @cached_property
    def _scales(self) -> ColumnScales:
        """Means and scales of a StandardScaler for arbitrary sample weights."""
        return ColumnScales(self.X)

    @cached_property
    def _order(self) -> np.ndarray:
        """Rows of X (n, p) in the order of each column."""
        return np.argsort(self.X, axis=0, kind="stable")

    def maps(self, block: PlanBlock) -> ColumnMaps:
        """Return the transformations in the fits of a block."""
        maps = self.scale(block)
        if self.selection is not None:
            return maps._replace(features=self.selection(block))
        return maps

    def scale(self, block: PlanBlock) -> ColumnMaps:
        """Return the transformations without a selection."""
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
        """Return the map of a MinMaxScaler, which does not scale nearly constant columns."""
        lowest, highest = self._extremes(trained)
        span = highest - lowest
        span[span < 10 * EPSILON] = 1.0
        low, high = self.scaler.feature_range
        scale = span / (high - low)
        return lowest - low * scale, scale

    def _extremes(self, trained: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest and the largest training value (n_fits, n_features) of columns."""
        lowest = self._first_value(trained, self._order)
        return lowest, self._first_value(trained, self._order[::-1])

    def _first_value(self, trained: np.ndarray, order: np.ndarray) -> np.ndarray:
        """Return the value of the training sample that is first in `order` (n, p), by column."""
        columns = np.arange(order.shape[1])
        values = np.full((len(trained), order.shape[1]), np.nan)
        missing = np.ones(values.shape, dtype=bool)
        for rows in order:
            here = missing & trained[:, rows]
            values[here] = np.broadcast_to(self.X[rows, columns], values.shape)[here]
            missing &= ~here
            if not missing.any():
                break
        return values
