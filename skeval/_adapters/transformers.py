"""Transformers of scikit-learn that ignore the labels: their properties, and batches of fits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, VarianceThreshold, f_classif
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
)

from skeval._resampling.plans import PlanBlock
from skeval._solvers.column_scales import ColumnScales
from skeval._solvers.reduction import Projection, Selection

EPSILON = float(np.finfo(np.float64).eps)

AFFINE = (StandardScaler, MaxAbsScaler, MinMaxScaler, RobustScaler)

MAX_PROJECTED = 200
"""Maximum number of columns whose principal components are computed from their covariances."""

MIN_GAP = 1e-6
"""Smallest difference of consecutive eigenvalues of a covariance, in units of the largest."""

LABEL_FREE = (
    *AFFINE,
    Binarizer,
    MissingIndicator,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    SimpleImputer,
    SplineTransformer,
    VarianceThreshold,
)


def ignores_labels(step: Any) -> bool:
    """Whether a transformer ignores the labels and depends on the samples alone.

    Only scikit-learn's own classes are recognized: a subclass may do anything. PCA may draw random
    numbers, depending on the shape of the training set: see `draws_nothing`.
    """
    if step is None or isinstance(step, str):  # "passthrough" and "drop"
        return True
    if type(step) is Pipeline:
        return step.memory is None and all(ignores_labels(part) for _, part in step.steps)
    if type(step) is ColumnTransformer:
        parts = [part for _, part, _ in step.transformers]
        return all(ignores_labels(part) for part in [*parts, step.remainder])
    if type(step) is PCA:
        return isinstance(step.random_state, Integral) or step.svd_solver in (
            "auto",
            "full",
            "covariance_eigh",
        )
    if type(step) is FunctionTransformer:
        return step.func is None or isinstance(step.func, np.ufunc)
    return type(step) in LABEL_FREE


def draws_nothing(step: Any) -> bool:
    """Whether a fitted transformer would be the same for any random numbers."""
    if type(step) is Pipeline:
        return all(draws_nothing(part) for _, part in step.steps)
    if type(step) is ColumnTransformer:
        return all(draws_nothing(part) for _, part, _ in step.transformers_)
    return type(step) is not PCA or is_deterministic(step, step.n_samples_, step.n_features_in_)


def is_deterministic(step: PCA, n_samples: int, n_features: int) -> bool:
    """Whether PCA of a training set of this shape draws no random numbers.

    With svd_solver="auto", scikit-learn 1.6 to 1.9 uses the covariance matrix of tall samples, all
    components of small ones, and a randomized solver if fewer than 80 % of them are requested.
    """
    if isinstance(step.random_state, Integral) or step.svd_solver != "auto":
        return True
    tall = n_features <= 1000 and n_samples >= 10 * n_features
    few = isinstance(step.n_components, Integral) and (
        step.n_components < 0.8 * min(n_samples, n_features)
    )
    return tall or max(n_samples, n_features) <= 500 or not few


def are_affine(steps: tuple) -> bool:
    """Whether transformers only shift and scale each column."""
    return all(type(step) in AFFINE and not getattr(step, "clip", False) for step in steps)


def maps_each_sample(step: Any) -> bool:
    """Whether the transformed sample does not depend on the training set."""
    if isinstance(step, str) or step is None:
        return True
    if type(step) is FunctionTransformer:
        return ignores_labels(step)
    return type(step) in (Normalizer, Binarizer, PolynomialFeatures)


def scales_to_unit(steps: tuple) -> bool | None:
    """Whether affine transformers end with variance 1; None if they end with another scale."""
    scalers = [step for step in steps if getattr(step, "with_std", True)]
    if not scalers:
        return False
    return True if steps[-1] is scalers[-1] and type(steps[-1]) is StandardScaler else None


def read_reduction(steps: tuple, n_features: int) -> tuple[Selection | Projection, bool] | None:
    """Return the reduction of columns in a pipeline, and whether they are scaled before.

    The result is None unless the steps are one reduction and affine transformers.
    """
    (at, *more) = [i for i, step in enumerate(steps) if type(step) in (PCA, SelectKBest)] or [-1]
    others = (*steps[:at], *steps[at + 1 :])
    scaled = scales_to_unit(others) if at >= 0 and not more and are_affine(others) else None
    if scaled is None:
        return None
    step = steps[at]
    k = step.k if type(step) is SelectKBest else step.n_components
    if not isinstance(k, Integral) or not 0 < int(k) < n_features:
        return None
    if type(step) is SelectKBest:
        return (Selection(int(k)), scaled) if step.score_func is f_classif else None
    exact = step.svd_solver in ("auto", "full", "covariance_eigh") and not step.whiten
    if not exact or step is not steps[-1] or n_features > MAX_PROJECTED:
        return None
    return Projection(int(k), partial(is_deterministic, step, n_features=n_features)), scaled


class ColumnMaps(NamedTuple):
    """Transformations of the columns in some fits: ``(x - shift) / scale``, times `axes`.

    shift, scale : ndarray of shape (n_fits, n_features)
        A dropped column has an infinite scale.
    axes : ndarray of shape (n_fits, n_features, n_components) or None
        Principal axes, nan for a fit that is left to the estimator.
    """

    shift: np.ndarray
    scale: np.ndarray
    axes: np.ndarray | None = None

    @property
    def n_kept(self) -> np.ndarray:
        """Number of columns (n_fits,) that the last step receives."""
        if self.axes is not None:
            return np.full(len(self.axes), self.axes.shape[2])
        return np.count_nonzero(np.isfinite(self.scale), axis=1)

    @property
    def usable(self) -> np.ndarray:
        """Whether each fit (n_fits,) has columns, all of them computed."""
        if self.axes is not None:
            return np.asarray(np.isfinite(self.axes).all(axis=(1, 2)))
        return self.n_kept > 0

    def transform(self, X: np.ndarray, fit: int) -> np.ndarray:
        """Return the columns of X in one of the fits."""
        columns = (X - self.shift[fit]) / self.scale[fit]
        return columns if self.axes is None else columns @ self.axes[fit]


def make_column_steps(steps: Sequence[Any], X: np.ndarray) -> ColumnSteps | None:
    """Return the supported transformers of the columns of X; None if one is not supported.

    The supported steps are, in this order: an imputer that has nothing to impute, a
    VarianceThreshold that drops constant columns, a scaler, and PCA.
    """
    left = list(steps)
    if left and type(left[0]) is SimpleImputer and imputes_nothing(left[0], X):
        left.pop(0)
    drops = bool(left) and type(left[0]) is VarianceThreshold and left[0].threshold == 0
    left = left[1:] if drops else left
    pca = left.pop() if left and is_supported_pca(left[-1], X.shape[1]) else None
    scaler = left[0] if len(left) == 1 else None
    if len(left) > 1 or (scaler is not None and not is_supported_scaler(scaler)):
        return None
    return ColumnSteps(X, drops, scaler, pca)


def imputes_nothing(imputer: SimpleImputer, X: np.ndarray) -> bool:
    """Whether an imputer leaves X as it is, and adds no column."""
    missing = imputer.missing_values
    nan = isinstance(missing, float) and np.isnan(missing)
    return nan and bool(np.isfinite(X).all())


def is_supported_scaler(scaler: Any) -> bool:
    """Whether `ColumnSteps` computes the scales of a scaler."""
    if type(scaler) is MinMaxScaler:
        return not scaler.clip
    return type(scaler) is StandardScaler


def is_supported_pca(step: Any, n_features: int) -> bool:
    """Whether a step is a PCA whose components are computed from covariances."""
    if type(step) is not PCA or step.svd_solver not in ("auto", "full", "covariance_eigh"):
        return False
    k = step.n_components
    return isinstance(k, Integral) and 0 < int(k) <= n_features <= MAX_PROJECTED


class ColumnSteps:
    """Transformers that drop constant columns, scale columns, and project them, in this order."""

    def __init__(self, X: np.ndarray, drops: bool, scaler: Any, pca: PCA | None = None) -> None:
        self.X, self.drops, self.scaler, self.pca = X, drops, scaler, pca

    @property
    def changes(self) -> bool:
        """Whether fits change the columns."""
        return self.drops or self.scaler is not None or self.pca is not None

    @property
    def projection_seconds(self) -> float:
        """Time of the principal axes of a fit: covariances and their eigenvectors."""
        n, p = self.X.shape
        return 0.0 if self.pca is None else 2e-5 + 5e-11 * n * p**2 + 6e-10 * p**3

    @cached_property
    def _scales(self) -> ColumnScales:
        """Means and scales of a StandardScaler under any weights."""
        return ColumnScales(self.X)

    @cached_property
    def _order(self) -> np.ndarray:
        """Rows of X (n, p) in the order of each column."""
        return np.argsort(self.X, axis=0, kind="stable")

    def maps(self, block: PlanBlock) -> ColumnMaps:
        """Return the transformations in the fits of a block."""
        shape = len(block), self.X.shape[1]
        shift, scale = np.zeros(shape), np.ones(shape)
        trained = block.train > 0
        weights = block.train.astype(float)
        if type(self.scaler) is StandardScaler:
            if self.scaler.with_mean:
                shift = self._scales.means(weights)
            if self.scaler.with_std:
                scale = self._scales.deviations(weights)
        elif self.scaler is not None:
            shift, scale = self._min_max(trained)
        if self.drops:
            lowest, highest = self._extremes(trained)
            scale = np.where(lowest == highest, np.inf, scale)
        if self.pca is None:
            return ColumnMaps(shift, scale)
        maps = ColumnMaps(self._scales.means(weights), scale)  # PCA centers
        repeated = block.train.dtype.kind in "iu"  # PCA ignores other weights
        return maps._replace(axes=self._find_axes(maps, weights, self.pca, repeated))

    def _find_axes(
        self, maps: ColumnMaps, weights: np.ndarray, pca: PCA, repeated: bool
    ) -> np.ndarray:
        """Return the principal axes (n_fits, p, k), nan unless they are certain."""
        k, sizes = int(pca.n_components), weights.sum(axis=1)
        covariance = np.empty((len(weights), self.X.shape[1], self.X.shape[1]))
        for fit, weight in enumerate(weights):
            columns = maps.transform(self.X, fit)
            covariance[fit] = (columns.T * (weight / sizes[fit])) @ columns
        eigenvalues, vectors = np.linalg.eigh(covariance)
        # components must be separated, whatever the rounding errors: eq. (3) of reduction
        bounded = np.concatenate([np.zeros((len(sizes), 1)), eigenvalues], axis=1)
        gaps = np.diff(bounded[:, -k - 1 :], axis=1).min(axis=1)
        certain = repeated & (gaps > MIN_GAP * eigenvalues[:, -1])
        certain &= [
            is_deterministic(pca, int(size), int(n_kept))
            for size, n_kept in zip(sizes, maps.n_kept, strict=True)
        ]
        axes = vectors[:, :, : -k - 1 : -1]
        if pca.whiten:
            variance = eigenvalues[:, : -k - 1 : -1] * (sizes / np.maximum(1, sizes - 1))[:, None]
            axes = axes / np.sqrt(np.where(certain[:, None], variance, 1.0))[:, None]
        return np.where(certain[:, None, None], axes, np.nan)

    def _min_max(self, trained: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the map of a MinMaxScaler, which leaves columns of hardly any range unscaled."""
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
        """Return the value of the first training sample of each column, in an order (n, p)."""
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
