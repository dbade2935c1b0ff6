"""Estimators whose predictions are linear in the labels of a training part, or nearly so.

Ridge regression and its kin: scikit-learn's own fit many targets at once. Targets that make up a
basis, of all labels or of those that the columns explain, give the matrix that makes predictions of
labels. Nearest neighbours are the same whatever the labels. Linear discriminant analysis sees the
labels by way of the means of the classes: that of two classes without shrinkage is least squares;
the others are served by their moments.
"""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    LinearRegression,
    Ridge,
    RidgeClassifier,
    RidgeClassifierCV,
    RidgeCV,
)
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
from sklearn.preprocessing import StandardScaler

from skeval._adapters.label_free import (
    MARGIN,
    TRIED_FITS,
    Deletion,
    LabelMap,
    Part,
    are_affine,
    distinct_rows,
    label_free_adapter,
)
from skeval._adapters.moments import classes_taken_off, factor_moments
from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.solvers import Adapter, adapter_for
from skeval._resampling.target import Target
from skeval._solvers import deletion, label_free
from skeval._solvers.deletion import (
    Parts,
    PenalisedSquares,
    ScaledNeighbours,
    SearchedSquares,
    SortedNeighbours,
)
from skeval._solvers.label_free import EPSILON, Discriminant, Neighbours, Smoother
from skeval.utils._compat import read_parameter

MOST_UNITS = 2048
"""No square matrix of training samples is made where they are more than this and the features."""

AGREEMENT = 1e-11
"""How far a prediction may lie from that of a single fit, in units of the labels."""

AT_ONCE = 16
"""Number of label vectors that a trial fits at once, because equations with several targets are
solved in another order."""

MOST_ELEMENTS = 2**24
"""Numbers of a factorisation of all samples at most."""

LARGEST_NOISE = 1e-9
"""A fit whose rounding errors may be larger is left to the estimator, in units of the labels."""

DIRECT_SOLVERS = ("auto", "cholesky", "svd")


@adapter_for.register(Ridge)
@adapter_for.register(RidgeClassifier)
@adapter_for.register(LinearRegression)
@adapter_for.register(KernelRidge)
@adapter_for.register(RidgeCV)
@adapter_for.register(RidgeClassifierCV)
def linear_adapter(estimator: Any, X: Any, target: Target, transformers: tuple) -> Adapter | None:
    """Return the adapter of an estimator that solves its equations directly."""
    if not solves_directly(estimator):
        return None
    learn = None if searches(estimator) else learn_linear  # a search sees the labels
    return label_free_adapter(learn, factor_linear, estimator, X, target, transformers)


def searches(estimator: Any) -> bool:
    """Whether an estimator chooses its penalty by the errors of samples that are left out."""
    return type(estimator) in (RidgeCV, RidgeClassifierCV)


def solves_directly(estimator: Any) -> bool:
    """Whether the predictions of an estimator are a matrix times the labels, for one penalty."""
    if searches(estimator):
        search_options = (
            estimator.cv,
            estimator.scoring,
            read_parameter(estimator, "class_weight", None),
        )
        one_for_all = not read_parameter(estimator, "alpha_per_target", False)
        return search_options == (None, None, None) and estimator.fit_intercept and one_for_all
    if type(estimator) is LinearRegression:
        return not estimator.positive
    if type(estimator) is KernelRidge:
        return isinstance(estimator.alpha, Real)
    return (
        type(estimator) in (Ridge, RidgeClassifier)
        and isinstance(estimator.alpha, Real)
        and not estimator.positive
        and estimator.solver in DIRECT_SOLVERS
        and not read_parameter(estimator, "class_weight", None)
    )


def learn_linear(estimator: Any, part: Part) -> LabelMap | None:
    """Return the map of a training part, None where none agrees with a single fit."""
    if issparse(part.train) and type(estimator) is not KernelRidge:
        return None  # Sparse equations are solved in steps, whose number depends on the labels.
    if not issparse(part.train):
        part = part._replace(train=as_floats(part.train), test=as_floats(part.test))
    if part.train.dtype != np.float64:
        return None  # In single precision too much depends on the order of sums.
    n_classes = part.n_classes
    single = clone(estimator).fit(part.train, part.example)
    expected = single.decision_function(part.test) if n_classes else single.predict(part.test)
    unit = 1.0 if n_classes else float(np.abs(part.example).max())
    for find in (find_smoother, ManyTargets):
        predict = find(estimator, part)
        if predict is None:
            continue
        label_map = LinearMap(predict, n_classes)
        values = label_map.values(np.tile(part.example, (AT_ONCE, 1)))[0]
        difference = float(np.abs(values - expected.T).max())
        if difference <= AGREEMENT * unit:
            label_map.noise = MARGIN * max(difference, predict.rounding(len(part.example)))
            return label_map
    return None


def factor_linear(
    estimator: Any, X: Any, target: Target, transformers: tuple
) -> LinearDeletion | None:
    """Return the fits of an estimator to any training parts, None where none are exact.

    Least squares do not depend on the scales of the columns; ridge regression does, and is served
    behind a scaler where there are fewer columns than samples.
    """
    if issparse(X):
        return None
    samples = as_floats(X)
    n, p = samples.shape
    if samples.dtype != np.float64 or n * min(n, p) > MOST_ELEMENTS:
        return None
    squares: PenalisedSquares | SearchedSquares | None
    scales = (
        bool(transformers) and are_affine(transformers) and type(transformers[-1]) is StandardScaler
    ) and transformers[-1].with_std
    if searches(estimator):
        alphas = np.atleast_1d(np.asarray(estimator.alphas, dtype=float))
        if (transformers and not scales) or p >= n - 2 or not np.all(alphas > 0):
            return None
        return LinearDeletion(SearchedSquares(samples, alphas, scaled=scales), target)
    alpha = 0.0 if type(estimator) is LinearRegression else float(estimator.alpha)
    if type(estimator) is KernelRidge:
        if transformers or n * n > MOST_ELEMENTS:
            return None
        squares = deletion.factor_kernel(compute_kernel(estimator, samples), alpha)
    elif not transformers or (alpha == 0 and estimator.fit_intercept and are_affine(transformers)):
        squares = deletion.factor_columns(samples, alpha, with_intercept=estimator.fit_intercept)
    elif scales and estimator.fit_intercept and p < n:
        squares = deletion.standardise_columns(samples, alpha)
    else:
        return None
    return None if squares is None else LinearDeletion(squares, target)


def compute_kernel(estimator: KernelRidge, samples: np.ndarray) -> np.ndarray:
    """Return the kernel of all pairs of samples, as KernelRidge computes it."""
    if callable(estimator.kernel):
        params = estimator.kernel_params or {}
    else:
        params = {name: getattr(estimator, name) for name in ("gamma", "degree", "coef0")}
    kernel = pairwise_kernels(samples, metric=estimator.kernel, filter_params=True, **params)
    return np.asarray(kernel)


def as_floats(samples: Any) -> np.ndarray:
    """Return the numbers that an estimator makes of dense samples."""
    array = np.asarray(samples)
    return array if array.dtype == np.float32 else array.astype(float)


def find_smoother(estimator: Any, part: Part) -> Smoother | None:
    """Return the smoother of a training part, None where it is larger than its uses."""
    m, linear = len(part.example), type(estimator) is not KernelRidge
    basis = label_free.find_basis(part.train) if linear else None
    if basis is None and m > min(part.n_draws, max(MOST_UNITS, part.train.shape[1])):
        return None
    fit = ManyTargets(estimator, part)
    # Equation (3) of doc/derivations/smoothers.rst where there is a basis, elsewhere equation (1).
    return Smoother(basis, fit((np.eye(m) if basis is None else basis).T).T)


class ManyTargets:
    """One fit to all label vectors at once, each as a separate target."""

    def __init__(self, estimator: Any, part: Part) -> None:
        self.part = part
        self.estimator = estimator
        self.weights: dict[str, np.ndarray] = {}
        if type(estimator) is RidgeClassifier:  # It fits a Ridge to signs, with all weights 1.
            names = Ridge().get_params()
            self.estimator = Ridge(**{name: getattr(estimator, name) for name in names})
            self.weights = {"sample_weight": np.ones(len(part.example))}

    def __call__(self, targets: np.ndarray) -> np.ndarray:
        """Return the predictions (..., n_tested) of targets (..., m)."""
        flat = targets.reshape(-1, targets.shape[-1])
        model = clone(self.estimator).fit(self.part.train, flat.T, **self.weights)
        predicted = model.predict(self.part.test).reshape(-1, len(flat))
        return predicted.T.reshape(*targets.shape[:-1], -1)

    @property
    def size(self) -> int:
        """Return how many numbers it holds."""
        return int(np.prod(self.part.train.shape) + np.prod(self.part.test.shape))

    def rounding(self, n_trained: int) -> float:
        """Return what rounding may change in predictions of signs."""
        return EPSILON * n_trained**0.5


class LinearMap:
    """The map to numbers, or to classes by their signs."""

    def __init__(self, predict: Smoother | ManyTargets, n_classes: int) -> None:
        self.predict = predict
        self.n_classes = n_classes
        self.noise = EPSILON

    @property
    def size(self) -> int:
        """Return how many numbers it holds."""
        return self.predict.size

    def __call__(self, labels: np.ndarray) -> FitOutput:
        """Return the predictions under label vectors (n_fits, n_trained)."""
        values = self.values(labels)
        if not self.n_classes:
            return FitOutput.of_same_samples(values, np.isfinite(values).all(axis=1))
        predicted, certain = label_free.decide(values, self.noise)
        by_sample = values if values.ndim == 2 else values.swapaxes(1, 2)
        return FitOutput.of_same_samples(predicted, certain, by_sample)

    def values(self, labels: np.ndarray) -> np.ndarray:
        """Return numbers or decision values (n_fits, n_tested), or one array per class.

        Those of three or more classes are of shape (n_fits, n_classes, n_tested).
        """
        return self.predict(
            label_free.class_signs(labels, self.n_classes)
            if self.n_classes
            else labels.astype(float)
        )


class LinearDeletion:
    """The fits to any training parts, to numbers, or to classes by the signs of their values."""

    def __init__(self, squares: PenalisedSquares | SearchedSquares, target: Target) -> None:
        self.squares = squares
        self.n_classes = target.n_classes
        # Numbers are centred: an intercept carries their mean, which only costs digits.
        self.centre = 0.0 if self.n_classes or squares.penalty[0] else float(target.y.mean())
        self.unit = 1.0 if self.n_classes else float(np.abs(target.y - self.centre).max()) or 1.0
        self.noise = EPSILON

    def __call__(self, labels: np.ndarray, parts: Parts) -> FitOutput:
        """Return the predictions under label vectors (n_fits, n_samples)."""
        distinct_labels, of_fit = distinct_rows(labels)
        if self.n_classes:
            targets = label_free.class_signs(distinct_labels, self.n_classes)
        else:
            targets = (distinct_labels - self.centre) / self.unit
        targets = targets.reshape(len(distinct_labels), -1, labels.shape[1])  # (L, c, n)
        values, noise, *_ = self.squares.solve(targets, of_fit, parts)
        solved = noise < LARGEST_NOISE
        if isinstance(self.squares, SearchedSquares):
            solved &= parts.weights.dtype.kind != "f"
        if not self.n_classes:
            numbers = self.centre + self.unit * values[:, 0]
            return FitOutput.of_same_samples(numbers, solved & np.isfinite(numbers).all(axis=1))
        if self.n_classes == 2:
            values = values[:, 0]
        predicted, certain = label_free.decide(values, np.maximum(self.noise, MARGIN * noise))
        by_sample = values if values.ndim == 2 else values.swapaxes(1, 2)
        return FitOutput.of_same_samples(predicted, certain & solved, by_sample)


ROUNDING = 64.0
"""Error of squared distances, in units in the last place of the largest sample."""

OF_TWO_SAMPLES = ("minkowski", "euclidean", "l2", "manhattan", "cityblock", "l1", "chebyshev")
"""Metrics whose distance between two samples does not depend on the other samples."""

SORTED = 5
"""Cost of the lists, in distances of all pairs: to find and sort them, and to compare two fits."""
MOST_PAIRS = 2**24
"""Maximum number of pairs of a tested and a training sample for probabilities."""


@adapter_for.register(KNeighborsClassifier)
@adapter_for.register(KNeighborsRegressor)
def neighbours_adapter(
    estimator: Any, X: Any, target: Target, transformers: tuple
) -> Adapter | None:
    """Return the adapter of neighbours that weigh the same, or by their distance."""
    served = type(estimator) in (KNeighborsClassifier, KNeighborsRegressor)
    if not served or estimator.weights not in ("uniform", "distance"):
        return None
    learn, factor = learn_neighbours, factor_neighbours
    # Fits by the estimator are cheap: a plan that is tried as a whole would be solved twice.
    return label_free_adapter(learn, factor, estimator, X, target, transformers, TRIED_FITS + 1)


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
    """Return the neighbours after a scaler that is fitted to each training part."""
    euclidean = estimator.metric in ("euclidean", "l2") or (
        estimator.metric == "minkowski" and estimator.p == 2
    )
    scales = type(transformers[-1]) is StandardScaler and transformers[-1].with_std
    if not (euclidean and scales and are_affine(transformers)) or issparse(samples):
        return None
    columns = samples.astype(float)
    if not np.isfinite(columns).all() or not (np.ptp(columns, axis=0) > 0).any():
        return None
    columns, k = deletion.standardise_all(columns), estimator.n_neighbors
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
            return FitOutput.of_same_samples(label_free.average(labels, self.neighbours), certain)
        vote = label_free.count_votes if self.neighbours.weights is None else label_free.weigh_votes
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


AGREEMENT_OF_SQUARES = 1e-6
"""How far decision values may lie from those of a single fit, which squares the samples."""

SMALLEST_VARIANCE = 1e-10
"""The variance of every combination of columns must be more than this, in units of theirs."""

ROOM = 2.0
"""The smallest singular value must exceed the tolerance of the estimator by this factor."""


@adapter_for.register
def discriminant_adapter(
    estimator: LinearDiscriminantAnalysis, X: Any, target: Target, transformers: tuple
) -> Adapter | None:
    """Return the adapter of a linear discriminant analysis."""
    if type(estimator) is not LinearDiscriminantAnalysis or target.classes is None:
        return None
    learn = learn_discriminant if is_least_squares(estimator, target) else None
    return label_free_adapter(learn, factor_discriminant, estimator, X, target, transformers)


def is_least_squares(estimator: LinearDiscriminantAnalysis, target: Target) -> bool:
    """Whether the covariance within classes is the total one less what the two means explain.

    With priors of its own the least-squares solver weighs the classes' covariances by them.
    """
    if estimator.covariance_estimator or target.n_classes != 2:
        return False
    if estimator.n_components not in (None, 1):
        return False
    priors = estimator.priors
    if estimator.solver == "lsqr":
        return priors is None and isinstance(estimator.shrinkage, Real | None)
    if estimator.solver != "svd" or estimator.shrinkage is not None:
        return False
    return priors is None or (
        np.shape(priors) == (2,) and np.min(priors) > 0 and abs(np.sum(priors) - 1) < 4 * EPSILON
    )


def learn_discriminant(estimator: LinearDiscriminantAnalysis, part: Part) -> LabelMap | None:
    """Return the map of a training part, None where it does not agree with a single fit."""
    if issparse(part.train):
        return None
    train, test = np.asarray(part.train), np.asarray(part.test)
    if train.dtype == np.float32 or train.dtype.kind not in "iuf":
        return None
    if not (np.isfinite(train).all() and np.isfinite(test).all()):
        return None
    if estimator.solver == "svd" and not has_exact_constants(train):
        return None
    single = clone(estimator).fit(part.train, part.example)
    expected = single.decision_function(part.test)
    shrinkage = float(estimator.shrinkage or 0.0)
    m, priors = len(train), estimator.priors
    divisor = m - classes_taken_off() if estimator.solver == "svd" else m
    solver = Discriminant(
        train.astype(float),
        test.astype(float),
        shrinkage,
        float(divisor),
        None if priors is None else (float(priors[0]), float(priors[1])),
    )
    if shrinkage == 0.0 and not (
        solver.full_rank or (estimator.solver == "svd" and solver.in_span)
    ):
        return None
    label_map = DiscriminantMap(solver, estimator.tol if estimator.solver == "svd" else 0.0)
    values = solver.solve(part.example[None]).values[0]
    difference = float(np.abs(values - expected).max() / max(1.0, np.abs(expected).max()))
    if not difference <= AGREEMENT_OF_SQUARES:
        return None
    label_map.noise = MARGIN * max(difference, EPSILON)
    return label_map


def factor_discriminant(
    estimator: LinearDiscriminantAnalysis, X: Any, target: Target, transformers: tuple
) -> Deletion | None:
    """Return the fits of an estimator to any training parts, None where none are exact.

    The direction between two classes without shrinkage is that of least squares, which does not
    depend on the scales of the columns; the others are served by their moments.
    """
    if estimator.shrinkage or not is_least_squares(estimator, target):
        return factor_moments(estimator, X, target, transformers)
    if issparse(X) or not are_affine(transformers):
        return None
    samples = np.asarray(X)
    if samples.dtype == np.float32 or samples.dtype.kind not in "iuf":
        return None
    samples = samples.astype(float)
    n, p = samples.shape
    constant = np.ptp(samples, axis=0) == 0
    if p + 2 >= n or n * p > MOST_ELEMENTS:
        return None
    # Sums of whole numbers are exact, so that their mean is their value in every training part.
    if np.any(samples[0, constant] != np.rint(samples[0, constant])):
        return None
    centred = samples[:, ~constant] - samples[:, ~constant].mean(axis=0)
    scaled = centred / np.sqrt(np.mean(centred**2, axis=0))
    smallest = float(np.linalg.svd(scaled, compute_uv=False).min(initial=np.inf))
    if smallest**2 < SMALLEST_VARIANCE * n:
        return None
    return DiscriminantDeletion(deletion.factor_columns(scaled, 0.0), estimator, smallest**2)


def has_exact_constants(train: np.ndarray) -> bool:
    """Whether columns of one value have that value as their mean.

    Where rounding makes another mean, scikit-learn scales the rounding errors up to variance 1.
    """
    constant = np.ptp(train, axis=0) == 0
    return bool(np.all(train[:, constant].mean(axis=0) == train[0, constant]))


class DiscriminantMap:
    """The map to decision values by way of the total scatter of the training part."""

    def __init__(self, solver: Discriminant, tolerance: float) -> None:
        self.solver = solver
        self.tolerance = tolerance
        self.noise = EPSILON

    @property
    def size(self) -> int:
        """Return how many numbers it holds."""
        return self.solver.size

    def __call__(self, labels: np.ndarray) -> FitOutput:
        """Return the predictions under label vectors (n_fits, n_trained) of codes."""
        values, bound, solved = self.solver.solve(labels)
        noise = self.noise * np.maximum(1.0, np.abs(values).max(axis=1))  # (n_fits,)
        predicted, certain = label_free.decide(values, noise)
        if self.tolerance:  # (8): no singular value is cut off
            certain &= bound * (ROOM * self.tolerance) ** 2 < 1
        probability = expit(values)
        shares = np.stack([1 - probability, probability], axis=-1)
        return FitOutput.of_same_samples(predicted, certain & solved, values, shares)


class DiscriminantDeletion:
    """The fits to any training parts by way of least squares on all samples."""

    def __init__(
        self, squares: PenalisedSquares, estimator: LinearDiscriminantAnalysis, smallest: float
    ) -> None:
        self.squares = squares
        self.priors = estimator.priors
        self.tolerance = estimator.tol if estimator.solver == "svd" else 0.0
        self.n_taken_off = classes_taken_off() if estimator.solver == "svd" else 0
        self.smallest = smallest
        self.noise = EPSILON

    def __call__(self, labels: np.ndarray, parts: Parts) -> FitOutput:
        """Return the predictions under label vectors (n_fits, n_samples) of codes."""
        distinct_labels, of_fit = distinct_rows(labels)
        fitted = self.squares.solve(distinct_labels[:, None].astype(float), of_fit, parts)
        m = parts.weights.sum(axis=1)
        n1 = np.sum(parts.weights * labels, axis=1)
        decisions = label_free.discriminate(
            fitted.values[:, 0], fitted.residual[:, 0], m, n1, m - self.n_taken_off, self.priors
        )
        values, remaining, solved = decisions
        # (11): lower bound on the smallest eigenvalue after the deletions
        if self.tolerance:
            least = self.smallest * remaining / (ROOM * fitted.inverse * m)
            solved &= least > (ROOM * self.tolerance) ** 2
        if parts.weights.dtype.kind == "f":
            solved &= False
        error_bound = np.maximum(self.noise, MARGIN * fitted.noise / remaining)
        noise = error_bound * np.maximum(1.0, np.abs(values).max(axis=1))
        predicted, certain = label_free.decide(values, noise)
        probability = expit(values)
        shares = np.stack([1 - probability, probability], axis=-1)
        solved &= error_bound < AGREEMENT_OF_SQUARES
        return FitOutput.of_same_samples(predicted, certain & solved, values, shares)
