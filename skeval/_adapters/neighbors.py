"""Nearest neighbors, which do not depend on the labels."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
from sklearn.preprocessing import StandardScaler

from skeval._adapters.label_free import LabelMap, TransformedSplit, label_free_adapter
from skeval._adapters.registry import Adapter, adapter_for
from skeval._adapters.transformers import are_affine, read_reduction
from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.target import Target
from skeval._solvers import neighbors as solver
from skeval._solvers.least_squares import standardize_all
from skeval._solvers.neighbors import Neighbors, ScaledNeighbors, SortedNeighbors
from skeval._solvers.reduction import ReducedColumns, ReducedNeighbors
from skeval._solvers.splits import Splits

EPSILON = float(np.finfo(float).eps)

ROUNDING = 64.0
"""Error of squared distances, in machine epsilons times the largest squared norm."""

PAIRWISE_METRICS = ("minkowski", "euclidean", "l2", "manhattan", "cityblock", "l1", "chebyshev")
"""Metrics whose distances do not depend on the other samples."""

MIN_FITS = 20
"""Minimum number of fits for which sorted lists are faster; single fits are cheap."""

SORTING_COST = 5
"""Cost of sorted lists, with a comparison of two fits, in units of all pairwise distances."""
MAX_SAMPLES = 1000
"""Maximum number of samples for distances to all samples, in columns of each training set."""

MAX_PAIRS = 2**24
"""Maximum number of pairs of a test and a training sample in a matrix of probabilities."""


@adapter_for.register(KNeighborsClassifier)
@adapter_for.register(KNeighborsRegressor)
def neighbors_adapter(
    estimator: Any, X: Any, target: Target, transformers: tuple
) -> Adapter | None:
    """Return the adapter of nearest neighbors with uniform or distance weights."""
    supported = type(estimator) in (KNeighborsClassifier, KNeighborsRegressor)
    if not supported or estimator.weights not in ("uniform", "distance"):
        return None
    return label_free_adapter(
        make_neighbors_map,
        make_neighbors_deletion,
        estimator,
        X,
        target,
        transformers,
        MIN_FITS,
        supervised=() if target.classes is None else (SelectKBest,),
    )


def make_neighbors_map(estimator: Any, split: TransformedSplit) -> LabelMap | None:
    """Return the map of a training set, or None if its neighbors are not unique."""
    neighbors = find_neighbors(estimator, split)
    return None if neighbors is None else NeighborsMap(neighbors, split.n_classes)


def find_neighbors(estimator: Any, split: TransformedSplit) -> Neighbors | None:
    """Return the neighbors that the estimator itself uses, or None if they cannot be identified.

    A classifier with uniform weights may choose other samples among equidistant ones than
    `kneighbors` does. If each training sample is a class of its own, the probabilities identify
    the neighbors.
    """
    m, k = len(split.example), estimator.n_neighbors
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # each sample is a class
        model = clone(estimator).fit(split.train, np.arange(m))
        if estimator.weights == "distance":
            distances, indices = model.kneighbors(split.test)
            return Neighbors(indices, inverse_distances(distances))
        if type(estimator) is KNeighborsRegressor:
            return Neighbors(model.kneighbors(split.test, return_distance=False), None)
        if m * split.test.shape[0] > MAX_PAIRS:
            return None
        tested, indices = np.nonzero(model.predict_proba(split.test))
    if len(tested) != k * split.test.shape[0]:
        return None
    return Neighbors(indices.reshape(-1, k), None)


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
    scales = type(transformers[-1]) is StandardScaler and transformers[-1].with_std
    if not euclidean or issparse(samples):
        return None
    # columns that each training set scales and, possibly, reduces
    columns = samples.astype(float)
    width = np.ptp(columns, axis=0)
    if not np.isfinite(columns).all() or not (width > 0).any():
        return None
    by_distance = estimator.weights == "distance"
    if not are_affine(transformers):
        reduction = read_reduction(transformers, columns.shape[1])
        if reduction is None or not width.all() or len(columns) > MAX_SAMPLES:
            return None
        reduced = ReducedColumns(columns, target.n_classes, reduction[0], scaled=reduction[1])
        nearest = ReducedNeighbors(reduced, estimator.n_neighbors, ROUNDING * EPSILON, by_distance)
        return NeighborsDeletion(nearest, target, n_pairs=0)
    if not scales:
        return None
    columns, k = standardize_all(columns), estimator.n_neighbors
    find = partial(find_sorted, NearestNeighbors().fit(columns), columns)
    neighbors = ScaledNeighbors(columns, find, k, ROUNDING * EPSILON, by_distance)
    return NeighborsDeletion(neighbors, target)


def find_sorted(model: Any, X: Any, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the squared distances and indices of the nearest samples of each row."""
    distances, indices = model.kneighbors(X, n_neighbors=size)
    return distances**2, indices


def inverse_distances(distances: np.ndarray) -> np.ndarray:
    """Return inverse distances; if some distances are 0, these have weight 1 and others 0."""
    with np.errstate(divide="ignore"):
        weights = 1.0 / distances
    infinite = np.isinf(weights)
    coincident = infinite.any(axis=1)
    weights[coincident] = infinite[coincident]
    return weights


class NeighborsMap:
    """Map from labels to the majority class, or the mean, of the neighbors."""

    def __init__(self, neighbors: Neighbors, n_classes: int) -> None:
        self.neighbors = neighbors
        self.n_classes = n_classes

    @property
    def size(self) -> int:
        """Number of stored values."""
        return 2 * self.neighbors.indices.size

    def __call__(self, labels: np.ndarray) -> FitOutput:
        """Return the predictions for label vectors (n_fits, n_trained)."""
        certain = np.ones(len(labels), dtype=bool)
        if not self.n_classes:
            return FitOutput.of_same_samples(solver.average(labels, self.neighbors), certain)
        vote = solver.count_votes if self.neighbors.weights is None else solver.weight_votes
        predicted, shares = vote(labels, self.neighbors, self.n_classes)
        return FitOutput.of_same_samples(predicted, certain, probability=shares)


class NeighborsDeletion:
    """Predictions from the neighbors in arbitrary training sets."""

    def __init__(
        self, neighbors: SortedNeighbors, target: Target, n_pairs: int | None = None
    ) -> None:
        self.neighbors = neighbors
        self.n_classes = target.n_classes
        self.noise = EPSILON
        self.n_pairs = SORTING_COST * len(target) ** 2 if n_pairs is None else n_pairs

    def __call__(self, labels: np.ndarray, splits: Splits) -> FitOutput:
        """Return the predictions for label vectors (n_fits, n_samples)."""
        shares, certain = self.neighbors.vote(labels, splits, self.n_classes)
        certain &= splits.weights.dtype.kind != "f"
        if not self.n_classes:
            return FitOutput.of_same_samples(shares[..., 0], certain)
        return FitOutput.of_same_samples(shares.argmax(axis=-1), certain, probability=shares)
