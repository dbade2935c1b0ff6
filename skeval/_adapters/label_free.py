"""Fits that do not depend on the labels: each training part is prepared once for all labels.

A permutation test repeats the same training parts under other labels. Where an estimator sees the
labels last, or by way of two means only, and the steps before it see none, a training part gives a
map from its labels to predictions, which is found once. Each map is checked against a fit.
Where each fit has a training part of its own, one factorisation of all samples serves them all:
those that a training part leaves out are deleted from it, exactly.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
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

from skeval._resampling.fit_outputs import FitOutput, place_outputs
from skeval._resampling.fit_params import weight_parameters
from skeval._resampling.plans import (
    BLOCK_ELEMENTS,
    Fit,
    PlanBlock,
    ResamplingPlan,
    concatenate_blocks,
)
from skeval._resampling.target import Target
from skeval._solvers.deletion import Parts
from skeval.utils._compat import safe_split

FEWEST_REPETITIONS = 10
"""Smallest number of label vectors for which one map takes less time than separate fits."""

KEPT_ELEMENTS = 2**24
"""Maximum size of the maps that are kept from block to block, in numbers."""

MOST_CLASSES = 32
"""More classes are not served, since each predicted sample has a number for each class."""

CACHED_ELEMENTS = 2**18
"""Maximum size of a (fits, n_samples) array of a block if maps are kept, so that it stays in the
cache."""

FEWEST_FITS = 10
"""Smallest number of fits for which a factorisation of all samples, checked on two fits, pays
off."""

TRIED_FITS = 20
"""So many fits are tried at least before a plan is done by deletion."""

FIT_IN_PAIRS = 3 * 10**5
"""Cost of a fit and its predictions, without distances, in units of one distance."""
FEWEST_SETTLED = 0.25
"""A loop runs the plan if a smaller share of it than this can be settled by deletion."""

AGREEMENT = 1e-9
"""How far values may lie from those of a single fit, relative to the largest."""

MARGIN = 100.0
"""A value is certain if it exceeds the observed difference from single fits by this factor."""

SMALL_BLOCK = 256
"""Number of fits per block if progress is shown or fits are cached."""

LABEL_FREE = (
    Binarizer,
    MaxAbsScaler,
    MinMaxScaler,
    MissingIndicator,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    RobustScaler,
    SimpleImputer,
    SplineTransformer,
    StandardScaler,
    VarianceThreshold,
)


class Part(NamedTuple):
    """A training part and the samples that it predicts, as the last step of a pipeline sees them.

    Attributes
    ----------
    train, test : {array-like, sparse matrix, dataframe}
    n_draws : int
        Number of label vectors of the whole plan.
    example : ndarray of shape (n_trained,)
        One label vector: codes or numbers.
    n_classes : int
        0 where labels are numbers.
    """

    train: Any
    test: Any
    n_draws: int
    example: np.ndarray
    n_classes: int


class LabelMap(Protocol):
    """A prepared training part, which predicts its test part for any labels."""

    @property
    def size(self) -> int:
        """Return how many numbers it holds."""

    def __call__(self, labels: np.ndarray) -> FitOutput:
        """Return the predictions under label vectors (n_fits, n_trained) of codes or numbers.

        A fit whose labels depend on rounding has failed: it is left to the estimator.
        """


Learn = Callable[[Any, Part], LabelMap | None]
"""``learn(estimator, part)`` returns the map of a part, None where none is exact."""


class Deletion(Protocol):
    """A factorisation of all samples, which predicts the test part of any training part."""

    noise: float

    def __call__(self, labels: np.ndarray, parts: Parts) -> FitOutput:
        """Return the predictions under label vectors (n_fits, n_samples) of codes or numbers.

        All fits are tested on as many samples, and leave out as many. A fit has failed if
        a label depends on rounding or if its equations are singular.
        """


Factor = Callable[[Any, Any, Target, tuple], Deletion | None]
"""``factor(estimator, X, target, transformers)`` returns the deletion that serves an estimator
behind some transformers, None where there is none."""


def label_free_adapter(
    learn: Learn | None,
    factor: Factor,
    estimator: Any,
    X: Any,
    target: Target,
    transformers: tuple,
    min_fits: int = FEWEST_FITS,
) -> LabelFreeAdapter | None:
    """Return the adapter of an estimator whose maps `learn` finds, and whose deletion `factor`.

    There is no `learn` where a training part has no map. The adapter is None for data that are
    not served, and behind transformers that may see the labels.
    """
    texts = target.classes is None and target.y.dtype.kind not in "iuf"
    if (
        texts
        or target.n_classes > MOST_CLASSES
        or not all(ignores_labels(step) for step in transformers)
    ):
        return None
    X = np.asarray(X) if isinstance(X, list | tuple) else X
    return LabelFreeAdapter(learn, factor, transformers, estimator, X, target, min_fits)


class LabelFreeAdapter:
    """The fits of an estimator, alone or behind label-free steps, to many labels of few parts."""

    def __init__(
        self,
        learn: Learn | None,
        factor: Factor,
        transformers: tuple,
        estimator: Any,
        X: Any,
        target: Target,
        min_fits: int = FEWEST_FITS,
    ) -> None:
        self.min_fits = min_fits
        self.learn = learn
        self.factor = factor
        self.transformers = transformers
        self.estimator = estimator
        self.X = X
        self.target = target
        self.labels = compact(target)
        self.n_draws = 0
        self.max_fits: int | None = None
        self._maps: dict[bytes, LabelMap | None] = {}
        self._n_kept = 0

    def prepare(self, plan: ResamplingPlan) -> LabelFreeAdapter | DeletionAdapter | None:
        """Return the adapter for a plan: by maps if it repeats the same training parts."""
        if plan.n_fits < self.min_fits:
            return None
        n_tried = max(2, TRIED_FITS // plan.fits_per_draw)
        some = range(max(0, plan.n_draws - n_tried), plan.n_draws)
        tried = [plan.draw(repetition) for repetition in reversed(some)]
        return self._prepare_maps(plan, tried) or self._prepare_deletion(plan, tried)

    def _prepare_maps(
        self, plan: ResamplingPlan, tried: list[PlanBlock]
    ) -> LabelFreeAdapter | None:
        """Return the adapter for a plan that repeats the same training parts with other labels."""
        if self.learn is None or plan.n_draws < FEWEST_REPETITIONS:
            return None
        last, before = tried[:2]
        same = np.array_equal(last.train, before.train) and np.array_equal(last.test, before.test)
        if last.order is None or not same or last.train.dtype.kind not in "iu":
            return None
        keeps = self._keeps_maps(last)
        if not (keeps or holds_repetitions(plan)):
            return None
        prepared = LabelFreeAdapter(
            self.learn, self.factor, self.transformers, self.estimator, self.X, self.target
        )
        prepared.n_draws = plan.n_draws
        fewest = FEWEST_REPETITIONS * plan.fits_per_draw
        if keeps:
            prepared.max_fits = max(fewest, CACHED_ELEMENTS // plan.n_samples)
        # Two maps are tried: where there are none, a loop does all of them.
        return prepared if prepared._finds_maps(last, self.labels[last.order[0]]) else None

    def _finds_maps(self, parts: PlanBlock, labels: np.ndarray) -> bool:
        """Whether the first or the last of some training parts has a map."""
        for key, (fit, *_) in list(group_fits(parts))[:: max(1, len(parts) - 1)]:
            rows = np.repeat(np.arange(len(labels)), parts.train[fit])
            label_rows = labels[rows]
            if not self._has_all_classes(label_rows[None]).all():
                return True
            if self._find_map(key, rows, np.flatnonzero(parts.test[fit]), label_rows) is not None:
                return True
        return False

    def _prepare_deletion(
        self, plan: ResamplingPlan, tried: list[PlanBlock]
    ) -> DeletionAdapter | None:
        """Return the adapter for a plan whose training parts differ, if it settles enough fits."""
        try:
            adapter = self._deletion
            if adapter is None or costs_more(adapter.deletion, plan, tried[0]):
                return None
            if not adapter.agrees(concatenate_blocks(tried)):
                return None
        except Exception:  # The estimator does the fits, and raises what there is to raise.
            return None
        size = max(FEWEST_FITS, CACHED_ELEMENTS // plan.n_samples)
        return replace(adapter, max_fits=size)

    @cached_property
    def _deletion(self) -> DeletionAdapter | None:
        """What does fits to any parts, if anything does."""
        X, steps = self.X, list(self.transformers)
        while steps and maps_each_sample(steps[0]):
            X = clone(steps.pop(0)).fit_transform(X)
        deletion = self.factor(self.estimator, X, self.target, tuple(steps))
        if deletion is None:
            return None
        procedure = make_pipeline(*self.transformers, self.estimator)
        return DeletionAdapter(deletion, procedure, self.X, self.target, self.labels)

    def _keeps_maps(self, parts: PlanBlock) -> bool:
        """Whether maps as large as any of these training parts may give can all be kept."""
        m = int(parts.train.sum(axis=1).max())
        width = self.X.shape[1] if len(getattr(self.X, "shape", ())) == 2 else m
        return len(parts) * m * min(m, width + 1) <= KEPT_ELEMENTS

    def __call__(self, block: PlanBlock) -> FitOutput:
        """Return the answers of a block."""
        return place_outputs(block.test, self._solve(block))

    def _solve(self, block: PlanBlock) -> Iterator[tuple[np.ndarray, FitOutput]]:
        """Yield the fits of each training part that has a map, and their answers."""
        labels = block.order_labels(self.labels)  # (n_fits, n)
        for key, fits in group_fits(block):
            train = block.train[fits[0]]
            rows = np.repeat(np.arange(len(train)), train)
            label_columns = labels[even_slice(fits)].take(rows, axis=1)  # (fits, m)
            whole = self._has_all_classes(label_columns)
            if not whole.all():
                fits, label_columns = fits[whole], label_columns[whole]
            if not len(fits):
                continue
            label_map = self._find_map(
                key, rows, np.flatnonzero(block.test[fits[0]]), label_columns[0]
            )
            if label_map is not None:
                yield fits, label_map(label_columns)

    def _has_all_classes(self, labels: np.ndarray) -> np.ndarray:
        """Return which label vectors hold every class; the others are left to the estimator."""
        return hold_all_classes(self.target, labels)

    def _find_map(
        self, key: bytes, rows: np.ndarray, tested: np.ndarray, example: np.ndarray
    ) -> LabelMap | None:
        """Return the map of a training part, None where the estimator is to do its fits."""
        if key in self._maps:
            return self._maps[key]
        try:
            part = self._transform(rows, tested, example)
            label_map = self.learn and self.learn(self.estimator, part)
        except Exception:  # The estimator does these fits, and raises what there is to raise.
            label_map = None
        size = 0 if label_map is None else label_map.size
        if self._n_kept + size <= KEPT_ELEMENTS:
            self._maps[key] = label_map
            self._n_kept += size
        return label_map

    def _transform(self, rows: np.ndarray, tested: np.ndarray, example: np.ndarray) -> Part:
        """Return a training part as the last step sees it."""
        steps = make_pipeline(*self.transformers, self.estimator)
        train, _ = safe_split(steps, self.X, None, rows)
        test, _ = safe_split(steps, self.X, None, tested, rows)
        if self.transformers:
            before = clone(steps[:-1])
            train = before.fit_transform(train)
            test = before.transform(test)
        return Part(train, test, self.n_draws, example, self.target.n_classes)


def costs_more(deletion: Deletion, plan: ResamplingPlan, one: PlanBlock) -> bool:
    """Whether a deletion looks at more pairs of samples than the fits of a plan would.

    `one` is a repetition of it. Ten folds inspect as many distances as the neighbour lists of all
    samples, which must also be sorted. Other factorisations look at no pairs.
    """
    n_tested = plan.n_draws * np.count_nonzero(one.test)
    by_fits = plan.n_fits * FIT_IN_PAIRS + n_tested * plan.n_samples
    return bool(getattr(deletion, "n_pairs", 0) > by_fits)


@dataclass(frozen=True, eq=False)
class DeletionAdapter:
    """The fits of an estimator to any training parts, by deletion of the samples left out."""

    deletion: Deletion
    estimator: Any
    X: Any
    target: Target
    labels: np.ndarray
    max_fits: int | None = None

    def __call__(self, block: PlanBlock) -> FitOutput:
        """Return the answers of a block."""
        return place_outputs(block.test, self._solve(block))

    def _solve(self, block: PlanBlock) -> Iterator[tuple[np.ndarray, FitOutput]]:
        """Yield the fits that leave out as many and are tested on as many, and their answers."""
        labels = block.order_labels(self.labels)  # (n_fits, n)
        trained = block.train != 0
        whole = hold_all_classes(self.target, labels, trained)
        sizes = np.column_stack([trained.sum(axis=1), block.test.sum(axis=1)])
        for n_trained, n_tested in np.unique(sizes, axis=0):
            fits = np.flatnonzero(whole & (sizes == (n_trained, n_tested)).all(axis=1))
            if not len(fits):
                continue
            tested = np.nonzero(block.test[fits])[1].reshape(len(fits), -1)
            yield fits, self.deletion(labels[fits], Parts(block.train[fits], tested))

    def agrees(self, block: PlanBlock) -> bool:
        """Whether enough fits of a block are settled, and the first and the last are the same.

        They are compared with fits of the estimator; the largest difference is kept as noise.
        """
        parts = list(self(block))
        settled = [fit for fit, output in enumerate(parts) if not output.failed[0]]
        if len(settled) < FEWEST_SETTLED * len(parts):
            return False
        return all(self._compares(block[fit], parts[fit]) for fit in {settled[0], settled[-1]})

    def _compares(self, fit: Fit, output: FitOutput) -> bool:
        """Whether the predictions of a fit equal the estimator's."""
        rows, tested = fit.training_rows, np.flatnonzero(fit.test)
        labels = self.labels if fit.order is None else self.labels[fit.order]
        weights = {} if fit.weights is None else weight_parameters(self.estimator, fit.weights)
        train, _ = safe_split(self.estimator, self.X, None, rows)
        test, _ = safe_split(self.estimator, self.X, None, tested, rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = clone(self.estimator).fit(train, labels[rows], **weights)
        same = np.array_equal(model.predict(test), output.predicted)
        if self.target.classes is not None and not same:
            return False
        if output.decision is not None:
            values, expected = output.decision, model.decision_function(test)
        elif output.probability is not None:
            values, expected = output.probability, model.predict_proba(test)
        else:
            values, expected = output.predicted, model.predict(test)
        unit = max(1.0, float(np.abs(expected).max()))
        difference = float(np.abs(values - expected).max()) / unit
        self.deletion.noise = max(self.deletion.noise, MARGIN * difference)
        return difference <= AGREEMENT


def hold_all_classes(
    target: Target, labels: np.ndarray, trained: np.ndarray | bool = True
) -> np.ndarray:
    """Return which fits are trained on every class, under labels (n_fits, n) of codes."""
    whole = np.ones(len(labels), dtype=bool)
    for code in range(target.n_classes):
        whole &= ((labels == code) & trained).any(axis=1)
    return whole


def distinct_rows(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return label vectors, those that follow themselves once, and which one each fit has."""
    new = np.r_[True, (labels[1:] != labels[:-1]).any(axis=1)]
    return labels[new], np.cumsum(new) - 1


def are_affine(steps: tuple) -> bool:
    """Whether transformers move and scale each column by itself, and nothing else."""
    affine_scalers = (StandardScaler, MaxAbsScaler, MinMaxScaler, RobustScaler)
    return all(type(step) in affine_scalers and not getattr(step, "clip", False) for step in steps)


def maps_each_sample(step: Any) -> bool:
    """Whether a transformer makes of a sample the same whatever it is fitted to."""
    if isinstance(step, str) or step is None:
        return True
    if type(step) is FunctionTransformer:
        return ignores_labels(step)
    return type(step) in (Normalizer, Binarizer, PolynomialFeatures)


def holds_repetitions(plan: ResamplingPlan) -> bool:
    """Whether each block holds so many repetitions that maps need not be kept."""
    fits = min(BLOCK_ELEMENTS // plan.n_samples, SMALL_BLOCK)
    return fits // plan.fits_per_draw >= FEWEST_REPETITIONS


def compact(target: Target) -> np.ndarray:
    """Return codes of one byte each, or numbers as they are."""
    return target.codes if target.classes is None else target.codes.astype(np.int8)


def group_fits(block: PlanBlock) -> Iterator[tuple[bytes, np.ndarray]]:
    """Yield the fits that share a training part and a test part, with a key of both."""
    once = block.train.max(initial=0) <= 1
    trains = np.packbits(block.train > 0, axis=1) if once else block.train
    groups: dict[bytes, list[int]] = {}
    for r, (train, test) in enumerate(zip(trains, np.packbits(block.test, axis=1), strict=True)):
        groups.setdefault(train.tobytes() + test.tobytes(), []).append(r)
    for key, fits in groups.items():
        yield key, np.array(fits)


def even_slice(fits: np.ndarray) -> np.ndarray | slice:
    """Return fits in even steps as a slice, which copies nothing, and others as they are."""
    step = int(fits[1] - fits[0]) if len(fits) > 1 else 1
    return slice(fits[0], fits[-1] + 1, step) if np.all(np.diff(fits) == step) else fits


def ignores_labels(step: Any) -> bool:
    """Whether a transformer makes no use of labels and draws nothing at random.

    Only scikit-learn's own are known to do so; a subclass may do anything.
    """
    if step is None or isinstance(step, str):  # "passthrough" and "drop"
        return True
    if type(step) is Pipeline:
        return step.memory is None and all(ignores_labels(part) for _, part in step.steps)
    if type(step) is ColumnTransformer:
        parts = [part for _, part, _ in step.transformers]
        return all(ignores_labels(part) for part in [*parts, step.remainder])
    if type(step) is PCA:
        return draws_nothing(step)
    if type(step) is FunctionTransformer:
        return step.func is None or isinstance(step.func, np.ufunc)
    return type(step) in LABEL_FREE


def draws_nothing(step: PCA) -> bool:
    """Whether the components are the same in every fit to the same samples."""
    if isinstance(step.random_state, Integral) or step.svd_solver in ("full", "covariance_eigh"):
        return True
    # "auto" draws at random only where a number of components is asked for.
    return step.svd_solver == "auto" and not isinstance(step.n_components, Integral)
