"""Nearest neighbors, which do not depend on the labels."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
from sklearn.preprocessing import StandardScaler

from skeval._adapters.column_steps import are_affine, uses_only
from skeval._adapters.deletion import DeletionSolver
from skeval._adapters.registry import UNKNOWN, Solver, supports
from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.target import Target
from skeval._solvers.least_squares import standardize_all
from skeval._solvers.neighbors import ScaledNeighbors, SortedNeighbors
from skeval._solvers.splits import EPSILON, Splits

ROUNDING = 64.0
"""Error of squared distances, in machine epsilons times the largest squared norm."""

PAIRWISE_METRICS = ("minkowski", "euclidean", "l2", "manhattan", "cityblock", "l1", "chebyshev")
"""Metrics whose distances do not depend on the other samples."""

MIN_FITS = 20
"""Minimum number of fits for which sorted lists are faster; single fits are cheap."""

SORTING_COST = 5
"""Cost of sorted lists, with a comparison of two fits, in units of all pairwise distances."""

PARAMETERS = "n_neighbors weights algorithm leaf_size p metric metric_params n_jobs"
"""Parameters of the estimators that the solver takes into account."""


@supports.register(KNeighborsClassifier)
@supports.register(KNeighborsRegressor)
def support_neighbors(estimator: Any, X: Any, target: Target, transformers: tuple) -> Solver | str:
    """Return the solver of nearest neighbors with uniform or distance weights."""
    known = type(estimator) in (KNeighborsClassifier, KNeighborsRegressor)
    known = known and uses_only(estimator, PARAMETERS)
    if not known or estimator.weights not in ("uniform", "distance"):
        return UNKNOWN
    n_pairs = SORTING_COST * len(target) ** 2
    make = make_neighbors_deletion
    return DeletionSolver(make, estimator, X, target, transformers, MIN_FITS, n_pairs)


def make_neighbors_deletion(
    estimator: Any, X: Any, target: Target, transformers: tuple
) -> NeighborsDeletion | None:
    """Return the neighbors in arbitrary training sets, or None if these are not supported."""
    if estimator.metric not in PAIRWISE_METRICS or estimator.metric_params:
        return None
    samples: Any = X if issparse(X) else np.asarray(X)
    if samples.dtype == np.float32 or samples.dtype.kind not in "iuf":
        return None
    if transformers:
        return make_scaled_deletion(estimator, samples, target, transformers)
    n = samples.shape[0]
    find = partial(find_sorted, clone(estimator).fit(X, np.arange(n) % 2), X)
    # rounding errors of distances computed from scalar products
    squares = samples.multiply(samples) if issparse(samples) else samples.astype(float) ** 2
    noise = ROUNDING * EPSILON * float(squares.sum(axis=1).max())
    k, by_distance = estimator.n_neighbors, estimator.weights == "distance"
    return NeighborsDeletion(SortedNeighbors(find, n, k, noise, by_distance), target)


def make_scaled_deletion(
    estimator: Any, samples: Any, target: Target, transformers: tuple
) -> NeighborsDeletion | None:
    """Return the neighbors after a scaler that is fitted to each training set."""
    euclidean = estimator.metric in ("euclidean", "l2") or (
        estimator.metric == "minkowski" and estimator.p == 2
    )
    last = transformers[-1]
    scales = are_affine(transformers) and type(last) is StandardScaler and last.with_std
    if not euclidean or issparse(samples) or not scales:
        return None
    columns = samples.astype(float)
    if not np.isfinite(columns).all() or not (np.ptp(columns, axis=0) > 0).any():
        return None
    by_distance = estimator.weights == "distance"
    columns, k = standardize_all(columns), estimator.n_neighbors
    find = partial(find_sorted, NearestNeighbors().fit(columns), columns)
    neighbors = ScaledNeighbors(columns, find, k, ROUNDING * EPSILON, by_distance)
    return NeighborsDeletion(neighbors, target)


def find_sorted(model: Any, X: Any, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the squared distances and indices of the nearest samples of each row."""
    distances, indices = model.kneighbors(X, n_neighbors=size)
    return distances**2, indices


class NeighborsDeletion:
    """Predictions from the neighbors in arbitrary training sets."""

    def __init__(self, neighbors: SortedNeighbors, target: Target) -> None:
        self.neighbors = neighbors
        self.n_classes = target.n_classes
        self.noise = EPSILON

    def __call__(self, labels: np.ndarray, splits: Splits) -> FitOutput:
        """Return the predictions for label vectors (n_fits, n_samples)."""
        shares, certain = self.neighbors.vote(labels, splits, self.n_classes)
        certain &= splits.weights.dtype.kind != "f"
        if not self.n_classes:
            return FitOutput.of_same_samples(shares[..., 0], certain)
        return FitOutput.of_same_samples(shares.argmax(axis=-1), certain, probability=shares)
