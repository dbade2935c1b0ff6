"""Fits by deletion. One factorization of all samples serves every training set.

The omitted samples are deleted exactly from the factorization. It does not depend on the labels,
so the fits of a permutation test share it. Ridge regression, least squares and kernel ridge
regression are linear in the labels. Gaussian naive Bayes and linear discriminant analysis depend
on the moments of the classes. Nearest neighbors do not depend on the labels. Fits whose
predictions depend on rounding errors are left to the estimator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from numbers import Real
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import StandardScaler

from skeval._adapters import regions
from skeval._adapters.column_steps import are_affine, has_plain_columns, maps_each_sample, uses_only
from skeval._adapters.runner import Agreement, Solver, supports
from skeval._resampling.inputs import COLUMNS, FitOutput
from skeval._resampling.plans import PlanBlock, ResamplingPlan, concatenate_blocks
from skeval._resampling.sampling_units import Target
from skeval._solvers import least_squares
from skeval._solvers.least_squares import PenalizedSquares, class_signs, decide, standardize_all
from skeval._solvers.moments import Columns, LinearGaussians, NaiveGaussians
from skeval._solvers.neighbors import SortedNeighbors
from skeval._solvers.splits import EPSILON, Splits

TRIED_SHARE, MIN_TRIED, MAX_TRIED = 0.05, 4, 20
"""Fraction of the fits of a plan used to try a deletion, and its limits in fits."""

MIN_SETTLED = 0.5
"""Minimum fraction of the tried fits that a deletion must settle."""

AGREEMENT = 1e-9
"""Largest difference from a single fit, in units of the values or of the spread of y."""

MARGIN = 100.0
"""A value is certain if it exceeds the observed difference from single fits by this factor."""


class Outputs(NamedTuple):
    """Outputs of fits with test sets of one size: (n_fits,) and (n_fits, n_tested, ...).

    They have the order of the columns of a `FitOutput`.
    """

    certain: np.ndarray
    predicted: np.ndarray
    decision: np.ndarray | None = None
    probability: np.ndarray | None = None


class Deletion(Protocol):
    """A factorization of all samples that gives the predictions for any training set."""

    noise: float

    def __call__(self, labels: np.ndarray, splits: Splits) -> Outputs:
        """Return the predictions for label vectors (n_fits, n_samples) of codes or numbers.

        Fits whose predicted classes depend on rounding errors, and fits with singular equations,
        are not certain.
        """


MakeDeletion = Callable[[Any, Any, Target, tuple], Deletion | None]
"""``make_deletion(estimator, X, target, transformers)`` returns the deletion, or None."""


@dataclass(eq=False)
class DeletionSolver(Solver):
    """Solver that fits an estimator after transformers by deleting the omitted samples."""

    make_deletion: MakeDeletion
    estimator: Any
    X: Any
    target: Target
    transformers: tuple
    region: Callable[[regions.Sizes], bool]
    in_process = True

    @cached_property
    def labels(self) -> np.ndarray:
        """Codes of one byte each, or numbers."""
        target = self.target
        return target.codes if target.classes is None else target.codes.astype(np.int8)

    @cached_property
    def deletion(self) -> Deletion | None:
        """The factorization of all samples, or None if the samples are not supported."""
        X = np.asarray(self.X) if isinstance(self.X, list | tuple) else self.X
        steps = list(self.transformers)
        while steps and maps_each_sample(steps[0]):
            X = clone(steps.pop(0)).fit_transform(X)
        return self.make_deletion(self.estimator, X, self.target, tuple(steps))

    def is_faster(self, plan: ResamplingPlan) -> bool:
        """Return whether the solver is faster than a loop over the fits of a plan."""
        # ten folds require as many distances as the lists of all samples, which are also sorted
        n_tested = plan.n_draws * int(plan.draw(0).test.sum())
        n, shape = plan.n_samples, tuple[int, ...](getattr(self.X, "shape", ()))
        p = shape[1] if len(shape) == 2 else 1
        return self.region(regions.Sizes(plan.n_fits, n, p, self.target.n_classes, n_tested))

    def draw_trials(self, plan: ResamplingPlan) -> list[PlanBlock] | str:
        """Return two fits for comparison, or the reason why the solver is not used."""
        if self.deletion is None:
            return "the solver does not support these samples or transformers"
        # some fits of the last draws: the first draw of a permutation test has the true labels
        n_tried = min(max(MIN_TRIED, int(TRIED_SHARE * plan.n_fits)), MAX_TRIED, plan.n_fits)
        n_draws = -(-n_tried // plan.fits_per_draw)
        draws = [plan.draw(draw) for draw in range(plan.n_draws - n_draws, plan.n_draws)]
        block = concatenate_blocks(draws)
        tried = block.take(np.linspace(0, len(block) - 1, n_tried).astype(int))
        settled = np.flatnonzero(~self.solve(tried).failed)
        if len(settled) < MIN_SETTLED * n_tried:
            return "rounding errors would change the labels of most of these fits"
        return [tried.take(np.array([fit])) for fit in sorted({settled[0], settled[-1]})]

    def solve(self, block: PlanBlock) -> FitOutput:
        """Return the outputs of the fits of a block."""
        assert self.deletion is not None
        labels = block.order_labels(self.labels)  # (n_fits, n)
        trained = block.train != 0
        # the estimator does fits without one of the classes
        whole = np.ones(len(labels), dtype=bool)
        for code in range(self.target.n_classes):
            whole &= ((labels == code) & trained).any(axis=1)
        # fits of equal sizes are solved together
        sizes, n_tested = trained.sum(axis=1), block.test.sum(axis=1)
        starts, failed = np.cumsum(n_tested) - n_tested, np.ones(len(block), dtype=bool)
        columns: dict[str, Any] = {}
        for size in np.unique(np.column_stack([sizes, n_tested])[whole], axis=0):
            fits = np.flatnonzero(whole & (sizes == size[0]) & (n_tested == size[1]))
            tested = np.nonzero(block.test[fits])[1].reshape(len(fits), -1)
            certain, *outputs = self.deletion(labels[fits], Splits(block.train[fits], tested))
            failed[fits] = ~certain
            # predictions have the order of the fits
            at = starts[fits][:, None] + np.arange(size[1])
            for name, values in zip(COLUMNS, outputs, strict=True):
                if values is not None:
                    shape = (n_tested.sum(), *values.shape[2:])
                    columns.setdefault(name, np.zeros(shape, values.dtype))[at] = values
        kept = np.repeat(~failed, n_tested)
        columns = {name: values[kept] for name, values in columns.items()}
        return FitOutput(block.test, failed, **columns)

    def compare(self, block: PlanBlock, model: Any, samples: Any) -> Agreement | None:
        """Compare a fit with the fitted model. Return whether they agree.

        Their difference is stored as rounding noise. None if the fit is not settled.
        """
        # labels must be equal
        output, target = self.solve(block), self.target
        if output.failed[0]:
            return None
        predicted = target.encode(model.predict(samples), len(output.predicted))
        if target.classes is not None and not np.array_equal(predicted, output.predicted):
            return Agreement(False)
        # the most informative output that both have
        if output.decision is not None:
            values, expected = output.decision, model.decision_function(samples)
        elif output.probability is not None:
            values, expected = output.probability, model.predict_proba(samples)
        else:
            values, expected = output.predicted, predicted
        # scores of classes have a unit; differences of numbers are relative to their spread
        unit = max(1.0, float(np.abs(expected).max()))
        if target.classes is None:
            unit = float(np.std(target.y))
        difference = float(np.abs(values - expected).max())
        assert self.deletion is not None
        self.deletion.noise = max(self.deletion.noise, MARGIN * difference / (unit or 1.0))
        return Agreement(difference <= AGREEMENT * unit)


def distinct_rows(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the label vectors without consecutive repetitions, and the index of each fit."""
    new = np.r_[True, (labels[1:] != labels[:-1]).any(axis=1)]
    return labels[new], np.cumsum(new) - 1


MAX_ELEMENTS = 2**24
"""Maximum size of a factorization of all samples, in numbers."""

MAX_NOISE = 1e-9
"""Maximum rounding error of a solved fit, in units of the labels."""

ROOM = 2.0
"""Factor by which singular values must exceed the tolerance of the estimator."""


def make_linear_deletion(
    estimator: Any, X: Any, target: Target, transformers: tuple
) -> LinearDeletion | None:
    """Return a solver that fits an estimator to arbitrary training sets, or None if unsupported.

    Least squares does not depend on the scales of the columns. Ridge regression does, and is
    supported after a scaler if there are fewer columns than samples.
    """
    # numbers in double precision, and not too many
    samples = X if issparse(X) else np.asarray(X)
    samples = samples if samples.dtype == np.float32 else samples.astype(float)
    n, p = samples.shape
    if samples.dtype != np.float64 or n * min(n, p) > MAX_ELEMENTS or not are_affine(transformers):
        return None
    # kernels
    if type(estimator) is KernelRidge:
        if transformers or n * n > MAX_ELEMENTS:
            return None
        kernel = compute_kernel(estimator, samples)
        squares = least_squares.factor_kernel(kernel, float(estimator.alpha))
        return None if squares is None else LinearDeletion(squares, target)
    if issparse(X):
        return None
    # columns as they are
    alpha, intercept = float(getattr(estimator, "alpha", 0.0)), estimator.fit_intercept
    if not transformers or (alpha == 0 and intercept):
        squares = least_squares.factor_columns(samples, alpha, with_intercept=intercept)
        least = 0.0
        if type(estimator) is LinearRegression and cuts_by_tol() and estimator.tol > 0:
            least = estimator.tol * find_condition(samples, transformers, intercept)
        return LinearDeletion(squares, target, least) if np.isfinite(least) else None
    last = transformers[-1]
    if type(last) is not StandardScaler or not last.with_std or not intercept or p >= n:
        return None
    return LinearDeletion(least_squares.standardize_columns(samples, alpha), target)


@cache
def cuts_by_tol() -> bool:
    """Whether LinearRegression drops singular values below `tol`, as it does since version 1.9."""
    X = np.array([[1.0, 0.0], [0.0, 1e-7], [-1.0, 0.0], [0.0, -1e-7]])
    return bool(LinearRegression().fit(X, X[:, 1]).coef_[1] < 0.5)


def find_condition(samples: np.ndarray, transformers: tuple, intercept: bool) -> float:
    """Return a bound on the condition number of the columns, infinite if there is none.

    It is valid if no direction has a smaller sum of squares in the training set than over all
    samples, eq. (6) of deletion.
    """
    # columns as the estimator scales them
    columns, scaled = samples - samples.mean(axis=0) if intercept else samples, bool(transformers)
    if scaled:
        if type(transformers[-1]) is not StandardScaler or not transformers[-1].with_std:
            return np.inf
        columns = least_squares.standardize_all(samples)
    columns = columns[:, np.any(columns != 0, axis=0)]
    # largest over smallest singular value
    singular = np.linalg.svd(columns, compute_uv=False)
    largest = columns.size**0.5 if scaled else singular.max(initial=0.0)
    smallest = singular.min(initial=np.inf)
    return float(largest / smallest) if smallest > EPSILON * largest else np.inf


def compute_kernel(estimator: KernelRidge, samples: np.ndarray) -> np.ndarray:
    """Return the kernel matrix of all samples, as the estimator computes it."""
    if callable(estimator.kernel):
        params = estimator.kernel_params or {}
    else:
        params = {name: getattr(estimator, name) for name in ("gamma", "degree", "coef0")}
    kernel = pairwise_kernels(samples, metric=estimator.kernel, filter_params=True, **params)
    return np.asarray(kernel)


class LinearDeletion:
    """Linear fits to arbitrary training sets, for regression or classification.

    `least` is the condition number of all samples, divided by the number above which the estimator
    drops a direction.
    """

    def __init__(self, squares: PenalizedSquares, target: Target, least: float = 0.0) -> None:
        self.squares, self.least = squares, least
        self.n_classes = target.n_classes
        # targets without their mean, which the intercept absorbs, keep more digits
        self.center = 0.0 if self.n_classes or squares.penalty[0] else float(target.y.mean())
        self.unit = 1.0 if self.n_classes else float(np.abs(target.y - self.center).max()) or 1.0
        self.noise = EPSILON

    def __call__(self, labels: np.ndarray, splits: Splits) -> Outputs:
        """Return the predictions for label vectors (n_fits, n_samples)."""
        # targets: signs of the classes, or numbers in units of their spread
        distinct_labels, of_fit = distinct_rows(labels)
        if self.n_classes:
            targets = class_signs(distinct_labels, self.n_classes)
        else:
            targets = (distinct_labels - self.center) / self.unit
        targets = targets.reshape(len(distinct_labels), -1, labels.shape[1])  # (L, c, n)
        values, noise, inverse = self.squares.solve(targets, of_fit, splits)
        # a fit is solved if its rounding errors are small and the estimator drops no direction
        solved = noise < MAX_NOISE
        if self.least:  # eq. (6) of deletion
            solved &= splits.weights.max(axis=1) * inverse * (ROOM * self.least) ** 2 < 1
        if not self.n_classes:
            numbers = self.center + self.unit * values[:, 0]
            return Outputs(solved & np.isfinite(numbers).all(axis=1), numbers)
        if self.n_classes == 2:
            values = values[:, 0]
        predicted, certain = decide(values, np.maximum(self.noise, MARGIN * noise))
        by_sample = values if values.ndim == 2 else values.swapaxes(1, 2)
        return Outputs(certain & solved, predicted, by_sample)


MAX_COLUMNS = 1024
"""Maximum number of columns of a covariance matrix."""

MIN_TOL = 1e-12
"""Smallest `tol` that drops directions of rounding errors, to which an estimator may fit."""


def make_moments_deletion(
    estimator: Any, X: Any, target: Target, transformers: tuple
) -> MomentsDeletion | None:
    """Return a solver that fits an estimator to arbitrary training sets, or None if unsupported."""
    # tables of numbers, after transformers that only shift and scale
    plain = not issparse(X) and np.ndim(X) == 2 and has_plain_columns(X)
    if not plain or not are_affine(transformers):
        return None
    samples = np.asarray(X, dtype=float)
    n, n_classes = len(samples), target.n_classes
    if type(estimator) is GaussianNB:  # the scale of the columns determines the smoothing
        rule = NaiveGaussians(float(estimator.var_smoothing))
        return None if transformers else MomentsDeletion(Columns(samples, n_classes), rule)
    # discriminant analysis does not depend on scales; the estimator may divide by the rounding
    # error of the mean of a constant column
    constant = np.ptp(samples, axis=0) == 0
    p = int(np.sum(~constant))
    unsafe = np.any(samples[0, constant] != np.rint(samples[0, constant]))
    if unsafe or not 0 < p <= min(MAX_COLUMNS, n - n_classes - 1) or estimator.tol < MIN_TOL:
        return None
    columns = Columns(samples[:, ~constant], n_classes)
    offset = n_classes if divides_by_freedom() else 0
    return MomentsDeletion(columns, LinearGaussians(float(estimator.tol), offset))


@cache
def divides_by_freedom() -> bool:
    """Whether this version of scikit-learn divides the scatter by n minus the number of classes."""
    model = LinearDiscriminantAnalysis().fit([[-1.0], [1.0], [3.0], [5.0]], [0, 0, 1, 1])
    # means differ by 4 and the scatter is 4: the coefficient is 4 with divisor n, 2 with n - 2
    return bool(model.coef_[0, 0] < 3)


class MomentsDeletion:
    """Fits to arbitrary training sets, computed from the moments of the classes."""

    def __init__(self, columns: Columns, rule: NaiveGaussians | LinearGaussians) -> None:
        self.columns, self.rule = columns, rule
        self.noise = EPSILON

    def __call__(self, labels: np.ndarray, splits: Splits) -> Outputs:
        """Return the predictions for label vectors (n_fits, n_samples) of codes."""
        with np.errstate(all="ignore"):  # in fits that are left to the estimator
            values, error, scores, solved = self.columns.score(
                self.rule, *distinct_rows(labels), splits
            )
            # the largest value must exceed the others by more than both errors
            error = error + self.noise * (1 + np.abs(values))
            predicted = values.argmax(axis=2)[..., None]
            best = np.take_along_axis(values - error, predicted, axis=2)
            others = values + error
            np.put_along_axis(others, predicted, -np.inf, axis=2)
            certain = (best[..., 0] > others.max(axis=2)).all(axis=1)
            # softmax of log-probabilities, shifted by the largest against overflow
            shares = np.exp(scores - scores.max(axis=2, keepdims=True))
            shares /= shares.sum(axis=2, keepdims=True)
        # all other fits are left to the estimator
        solved = solved & certain & np.isfinite(scores).all(axis=(1, 2))
        solved &= splits.weights.dtype.kind != "f"
        # scikit-learn has one decision value for two classes, the log odds of the second
        decision = None
        if isinstance(self.rule, LinearGaussians):
            decision = scores[..., 1] - scores[..., 0] if scores.shape[2] == 2 else scores
        return Outputs(solved, predicted[..., 0], decision, shares)


ERROR_OF_DISTANCES = 64.0
"""Error of squared distances, in machine epsilons times the largest squared norm."""

PAIRWISE_METRICS = ("minkowski", "euclidean", "l2", "manhattan", "cityblock", "l1", "chebyshev")
"""Metrics whose distances do not depend on the other samples."""


def make_neighbors_deletion(
    estimator: Any, X: Any, target: Target, transformers: tuple
) -> NeighborsDeletion | None:
    """Return the neighbors in arbitrary training sets, or None if these are not supported."""
    if estimator.metric not in PAIRWISE_METRICS or estimator.metric_params:
        return None
    samples: Any = X if issparse(X) else np.asarray(X)
    if samples.dtype == np.float32 or samples.dtype.kind not in "iuf":
        return None
    columns, model, data, unit = None, clone(estimator), X, 1.0
    if transformers:
        # distances are sums over the columns, which a scaler weights
        last, by_squares = transformers[-1], estimator.metric in ("euclidean", "l2")
        by_squares |= estimator.metric == "minkowski" and estimator.p == 2
        scales = are_affine(transformers) and type(last) is StandardScaler and last.with_std
        if not (by_squares and scales) or issparse(samples) or not np.isfinite(samples).all():
            return None
        if not np.ptp(samples, axis=0).any():
            return None
        # neighbors in the scales of all samples
        data = columns = standardize_all(samples.astype(float))
    else:
        # rounding errors of distances computed from scalar products
        squares = samples.multiply(samples) if issparse(samples) else samples.astype(float) ** 2
        unit = float(squares.sum(axis=1).max())
    n, k, by_distance = samples.shape[0], estimator.n_neighbors, estimator.weights == "distance"
    model.fit(data, np.arange(n) % 2)

    def find(size: int) -> tuple[np.ndarray, np.ndarray]:
        distances, indices = model.kneighbors(data, n_neighbors=size)
        return distances**2, indices

    noise = ERROR_OF_DISTANCES * EPSILON * unit
    return NeighborsDeletion(SortedNeighbors(find, n, k, noise, by_distance, columns), target)


class NeighborsDeletion:
    """Predictions from the neighbors in arbitrary training sets."""

    def __init__(self, neighbors: SortedNeighbors, target: Target) -> None:
        self.neighbors = neighbors
        self.n_classes = target.n_classes
        self.noise = EPSILON

    def __call__(self, labels: np.ndarray, splits: Splits) -> Outputs:
        """Return the predictions for label vectors (n_fits, n_samples)."""
        shares, certain = self.neighbors.vote(labels, splits, self.n_classes)
        certain &= splits.weights.dtype.kind != "f"
        if not self.n_classes:
            return Outputs(certain, shares[..., 0])
        return Outputs(certain, shares.argmax(axis=-1), probability=shares)


class Served(NamedTuple):
    """How the fits of an estimator are done: factorization, region, and known parameters."""

    make_deletion: MakeDeletion
    region: Callable[[regions.Sizes], bool]
    parameters: str


LEAST_SQUARES, DISCRIMINANT = "fit_intercept copy_X tol n_jobs", "store_covariance tol"
RIDGE = "alpha fit_intercept copy_X max_iter tol solver random_state"
NEIGHBORS = "n_neighbors weights algorithm leaf_size p metric metric_params n_jobs"
KERNELS = "alpha kernel gamma degree coef0 kernel_params"
SERVED = {
    Ridge: Served(make_linear_deletion, regions.linear, RIDGE),
    RidgeClassifier: Served(make_linear_deletion, regions.linear, RIDGE),
    LinearRegression: Served(make_linear_deletion, regions.linear, LEAST_SQUARES),
    KernelRidge: Served(make_linear_deletion, regions.linear, KERNELS),
    GaussianNB: Served(make_moments_deletion, regions.naive, "var_smoothing"),
    LinearDiscriminantAnalysis: Served(make_moments_deletion, regions.discriminant, DISCRIMINANT),
    KNeighborsClassifier: Served(make_neighbors_deletion, regions.neighbors, NEIGHBORS),
    KNeighborsRegressor: Served(make_neighbors_deletion, regions.neighbors, NEIGHBORS),
}
"""The estimators. Parameters that are not known must have their default values."""

KNOWN_VALUES = {"solver": ("auto", "cholesky", "svd"), "weights": ("uniform", "distance")}
"""Values of parameters, which exclude iterations and functions."""


def support_deletion(estimator: Any, X: Any, target: Target, transformers: tuple) -> Solver | str:
    """Return the solver of an estimator, or the reason why there is none."""
    served = SERVED.get(type(estimator))
    known = served is not None and uses_only(estimator, served.parameters)
    for name, values in KNOWN_VALUES.items():
        known &= getattr(estimator, name, values[0]) in values
    if served is None or not known or not isinstance(getattr(estimator, "alpha", 0.0), Real):
        return "the solver does not support a subclass or a parameter of the estimator"
    if target.classes is None and target.y.dtype.kind not in "iuf":
        return "the solver requires a numeric target or a classifier"
    make_deletion, region, _ = served
    return DeletionSolver(make_deletion, estimator, X, target, transformers, region)


for kind in SERVED:
    supports.register(kind, support_deletion)
