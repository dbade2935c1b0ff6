"""Nearest neighbours, who are the same whatever the labels."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
from sklearn.preprocessing import StandardScaler

from skeval._adapters.label_free import LabelMap, Part, are_affine, label_free_adapter
from skeval._resampling.plan import FitOutput
from skeval._resampling.task import Adapter, Target, adapter_for
from skeval._solvers.deletion import Parts, ScaledNeighbours, SortedNeighbours, standardise_all
from skeval._solvers.label_free import EPSILON, Neighbours, average, count_votes, weigh_votes

__all__ = ["NeighboursDeletion", "factor_neighbours", "find_neighbours", "learn_neighbours"]

ROUNDING = 64.0
"""Squared distances may be wrong by so many units in the last place of the largest sample."""

OF_TWO_SAMPLES = ("minkowski", "euclidean", "l2", "manhattan", "cityblock", "l1", "chebyshev")
"""Metrics in which the distance of two samples does not depend on the other samples."""

SORTED = 5
"""What the lists cost, in distances of all pairs: finding, sorting, and two fits to compare."""
MOST_PAIRS = 2**24
"""Probabilities are asked of so many pairs of a tested and a training sample at most."""


@adapter_for.register(KNeighborsClassifier)
@adapter_for.register(KNeighborsRegressor)
def neighbours_adapter(
    estimator: Any, X: Any, target: Target, transformers: tuple
) -> Adapter | None:
    """Return the adapter of neighbours that weigh the same, or by their distance."""
    served = type(estimator) in (KNeighborsClassifier, KNeighborsRegressor)
    if not served or estimator.weights not in ("uniform", "distance"):
        return None
    return label_free_adapter(
        learn_neighbours, factor_neighbours, estimator, X, target, transformers
    )


def learn_neighbours(estimator: Any, part: Part) -> LabelMap | None:
    """Return the map of a training part, None where its neighbours are not known."""
    neighbours = find_neighbours(estimator, part)
    return None if neighbours is None else NeighboursMap(neighbours, part.n_classes)


def find_neighbours(estimator: Any, part: Part) -> Neighbours | None:
    """Return the neighbours that the estimator itself finds, None where it says too little.

    A classifier of equal votes may not look for them by `kneighbors`, and may choose otherwise
    among neighbours of the same distance. Where each training sample is a class of its own,
    its probabilities name them.
    """
    m, k = len(part.example), estimator.n_neighbors
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns of as many classes as samples.
        model = clone(estimator).fit(part.train, np.arange(m))
        if estimator.weights == "distance":
            distances, indices = model.kneighbors(part.test)
            return Neighbours(indices, weigh_distances(distances))
        if type(estimator) is KNeighborsRegressor:
            return Neighbours(model.kneighbors(part.test, return_distance=False), None)
        if m * part.test.shape[0] > MOST_PAIRS:
            return None
        tested, indices = np.nonzero(model.predict_proba(part.test))
    if len(tested) != k * part.test.shape[0]:
        return None
    return Neighbours(indices.reshape(-1, k), None)


def factor_neighbours(
    estimator: Any, X: Any, target: Target, transformers: tuple
) -> NeighboursDeletion | None:
    """Return the neighbours among any training parts, None where they are not sorted once."""
    if estimator.metric not in OF_TWO_SAMPLES or estimator.metric_params:
        return None
    samples: Any = X if issparse(X) else np.asarray(X)
    if samples.dtype == np.float32 or samples.dtype.kind not in "iuf":
        return None
    if transformers:
        return factor_scaled(estimator, samples, target, transformers)
    n = samples.shape[0]
    model = clone(estimator).fit(X, np.arange(n) % 2)

    def find(size: int) -> tuple[np.ndarray, np.ndarray]:
        distances, indices = model.kneighbors(X, n_neighbors=size)
        return distances**2, indices

    # Distances by way of products are known up to rounding errors of the squared samples.
    squares = samples.multiply(samples) if issparse(samples) else samples.astype(float) ** 2
    noise = ROUNDING * EPSILON * float(squares.sum(axis=1).max())
    k, by_distance = estimator.n_neighbors, estimator.weights == "distance"
    return NeighboursDeletion(SortedNeighbours(find, n, k, noise, by_distance), target)


def factor_scaled(
    estimator: Any, samples: Any, target: Target, transformers: tuple
) -> NeighboursDeletion | None:
    """Return the neighbours behind a scaler that each training part has for itself."""
    euclidean = estimator.metric in ("euclidean", "l2") or (
        estimator.metric == "minkowski" and estimator.p == 2
    )
    scales = type(transformers[-1]) is StandardScaler and transformers[-1].with_std
    if not (euclidean and scales and are_affine(transformers)) or issparse(samples):
        return None
    columns = samples.astype(float)
    if not np.isfinite(columns).all() or not (np.ptp(columns, axis=0) > 0).any():
        return None
    columns, k = standardise_all(columns), estimator.n_neighbors
    model = NearestNeighbors().fit(columns)

    def find(size: int) -> tuple[np.ndarray, np.ndarray]:
        distances, indices = model.kneighbors(columns, n_neighbors=size)
        return distances**2, indices

    by_distance = estimator.weights == "distance"
    neighbours = ScaledNeighbours(columns, find, k, ROUNDING * EPSILON, by_distance)
    return NeighboursDeletion(neighbours, target)


def weigh_distances(distances: np.ndarray) -> np.ndarray:
    """Return inverse distances; where a distance is 0, only those of 0 weigh, and the same."""
    with np.errstate(divide="ignore"):
        weights = 1.0 / distances
    endless = np.isinf(weights)
    on_one = endless.any(axis=1)
    weights[on_one] = endless[on_one]
    return weights


class NeighboursMap:
    """The map to the classes of most votes, or to the means, of neighbours."""

    def __init__(self, neighbours: Neighbours, n_classes: int) -> None:
        self.neighbours = neighbours
        self.n_classes = n_classes

    @property
    def size(self) -> int:
        """Return how many numbers it holds."""
        return 2 * self.neighbours.indices.size

    def __call__(self, labels: np.ndarray) -> FitOutput:
        """Return the predictions under label vectors (n_fits, n_trained)."""
        certain = np.ones(len(labels), dtype=bool)
        if not self.n_classes:
            return FitOutput.of_same_samples(average(labels, self.neighbours), certain)
        vote = count_votes if self.neighbours.weights is None else weigh_votes
        predicted, shares = vote(labels, self.neighbours, self.n_classes)
        return FitOutput.of_same_samples(predicted, certain, probability=shares)


class NeighboursDeletion:
    """The neighbours among any training parts, which are the first in a list of all samples."""

    def __init__(self, neighbours: SortedNeighbours, target: Target) -> None:
        self.neighbours = neighbours
        self.n_classes = target.n_classes
        self.noise = EPSILON
        self.n_pairs = SORTED * len(target) ** 2

    def __call__(self, labels: np.ndarray, parts: Parts) -> FitOutput:
        """Return the predictions under label vectors (n_fits, n_samples)."""
        shares, certain = self.neighbours.vote(labels, parts, self.n_classes)
        certain &= parts.weights.dtype.kind != "f"
        if not self.n_classes:
            return FitOutput.of_same_samples(shares[..., 0], certain)
        return FitOutput.of_same_samples(shares.argmax(axis=-1), certain, probability=shares)
