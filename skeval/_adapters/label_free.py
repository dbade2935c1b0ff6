"""Fits whose expensive part does not depend on the labels.

A permutation test may repeat the same training sets with other labels. Each training set then has
a map from labels to predictions, which is computed once and compared with a fit of the estimator.
If training sets differ, one factorization of all samples is used for all fits: the samples left out
are deleted from it, exactly.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from skeval._adapters.transformers import draws_nothing, ignores_labels, maps_each_sample
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
from skeval._solvers.splits import Splits
from skeval.utils._compat import safe_split

MIN_REPETITIONS = 10
"""Smallest number of label vectors for which one map is faster than separate fits."""

MAX_KEPT_ELEMENTS = 2**24
"""Maximum size of the maps that are kept from block to block, in numbers."""

MAX_CLASSES = 32
"""Maximum number of classes: every tested sample has a number for each of them."""

MAX_BLOCK_ELEMENTS = 2**18
"""Maximum size of a (fits, n_samples) array of a block, so that it stays in the cache."""

MIN_FITS = 10
"""Minimum number of fits for which a deletion, and its comparison with two fits, is faster."""

TRIED_SHARE, MIN_TRIED, MAX_TRIED = 0.05, 4, 20
"""Share of the fits of a plan used to try a deletion; minimum and maximum number of these fits."""

MIN_SETTLED = 0.25
"""Minimum share of the tried fits that a deletion must settle."""

COST_OF_FIT = 3 * 10**5
"""Cost of a fit and its predictions, without distances, in units of one distance."""

AGREEMENT = 1e-9
"""Largest difference from the values of a single fit, relative to the largest value."""

MARGIN = 100.0
"""A value is certain if it exceeds the observed difference from single fits by this factor."""

FITS_OF_SMALL_BLOCK = 256
"""Number of fits per block if progress is shown or fits are cached."""


class TransformedSplit(NamedTuple):
    """A training set and a test set as the last step of a pipeline receives them.

    Attributes
    ----------
    train, test : {array-like, sparse matrix, dataframe}
    n_draws : int
        Number of label vectors of the whole plan.
    example : ndarray of shape (n_trained,)
        One label vector: codes or numbers.
    n_classes : int
        0 for a numeric target.
    """

    train: Any
    test: Any
    n_draws: int
    example: np.ndarray
    n_classes: int


class LabelMap(Protocol):
    """Predictions for a test set as a function of the labels of the training set."""

    @property
    def size(self) -> int:
        """Number of stored numbers."""

    def __call__(self, labels: np.ndarray) -> FitOutput:
        """Return the predictions for label vectors (n_fits, n_trained) of codes or numbers.

        Fits whose predicted classes depend on rounding errors are marked as failed.
        """


class Deletion(Protocol):
    """A factorization of all samples that gives the predictions for any training set."""

    noise: float

    def __call__(self, labels: np.ndarray, splits: Splits) -> FitOutput:
        """Return the predictions for label vectors (n_fits, n_samples) of codes or numbers.

        Fits whose predicted classes depend on rounding errors, and fits with singular equations,
        are marked as failed.
        """


MakeMap = Callable[[Any, TransformedSplit], LabelMap | None]
"""``make_map(estimator, split)`` returns the map of a training set, or None."""

MakeDeletion = Callable[[Any, Any, Target, tuple], Deletion | None]
"""``make_deletion(estimator, X, target, transformers)`` returns the deletion, or None."""


def label_free_adapter(
    make_map: MakeMap | None,
    make_deletion: MakeDeletion,
    estimator: Any,
    X: Any,
    target: Target,
    transformers: tuple,
    min_fits: int = MIN_FITS,
    *,
    supervised: tuple[type, ...] = (),
) -> LabelFreeAdapter | None:
    """Return the adapter of an estimator after transformers, or None if they are not supported.

    `supervised` lists types of transformers that use the labels but are supported by
    `make_deletion`.
    """
    strings = target.classes is None and target.y.dtype.kind not in "iuf"
    if strings or target.n_classes > MAX_CLASSES:
        return None
    uses_labels = any(type(step) in supervised for step in transformers)
    if not all(ignores_labels(step) or type(step) in supervised for step in transformers):
        return None
    X = np.asarray(X) if isinstance(X, list | tuple) else X
    return LabelFreeAdapter(
        None if uses_labels else make_map,
        make_deletion,
        transformers,
        estimator,
        X,
        target,
        min_fits,
    )


@dataclass(eq=False)
class LabelFreeAdapter:
    """Fits to many label vectors of few training sets, by one map for each training set."""

    make_map: MakeMap | None
    make_deletion: MakeDeletion
    transformers: tuple
    estimator: Any
    X: Any
    target: Target
    min_fits: int = MIN_FITS
    n_draws: int = 0
    max_fits: int | None = None
    _maps: dict[bytes, LabelMap | None] = field(default_factory=dict)
    _n_kept: int = 0

    @cached_property
    def labels(self) -> np.ndarray:
        """Codes of one byte each, or numbers."""
        target = self.target
        return target.codes if target.classes is None else target.codes.astype(np.int8)

    def prepare(self, plan: ResamplingPlan) -> LabelFreeAdapter | DeletionAdapter | None:
        """Return the adapter for a plan: by maps if it repeats the same training sets."""
        if plan.n_fits < self.min_fits:
            return None
        return self._prepare_maps(plan) or self._prepare_deletion(plan)

    def _prepare_maps(self, plan: ResamplingPlan) -> LabelFreeAdapter | None:
        """Return the adapter for a plan that repeats the same training sets with other labels."""
        if self.make_map is None or plan.n_draws < MIN_REPETITIONS:
            return None
        last, before = plan.draw(plan.n_draws - 1), plan.draw(plan.n_draws - 2)
        same = np.array_equal(last.train, before.train) and np.array_equal(last.test, before.test)
        if last.order is None or not same or last.train.dtype.kind not in "iu":
            return None
        keeps = self._keeps_maps(last)
        if not (keeps or holds_repetitions(plan)):
            return None
        fewest = MIN_REPETITIONS * plan.fits_per_draw
        size = max(fewest, MAX_BLOCK_ELEMENTS // plan.n_samples) if keeps else None
        prepared = replace(self, n_draws=plan.n_draws, max_fits=size, _maps={})
        return prepared if prepared._has_map(last, self.labels[last.order[0]]) else None

    def _has_map(self, block: PlanBlock, labels: np.ndarray) -> bool:
        """Whether the first or the last training set of a block has a map."""
        for key, (fit, *_) in list(group_fits(block))[:: max(1, len(block) - 1)]:
            rows = np.repeat(np.arange(len(labels)), block.train[fit])
            label_rows = labels[rows]
            if not have_all_classes(self.target, label_rows[None]).all():
                return True
            if self._find_map(key, rows, np.flatnonzero(block.test[fit]), label_rows) is not None:
                return True
        return False

    def _prepare_deletion(self, plan: ResamplingPlan) -> DeletionAdapter | None:
        """Return the adapter for a plan whose training sets differ, if it settles enough fits."""
        n_tried = min(max(MIN_TRIED, int(TRIED_SHARE * plan.n_fits)), MAX_TRIED, plan.n_fits)
        n_draws = -(-n_tried // plan.fits_per_draw)
        draws = [plan.draw(draw) for draw in range(plan.n_draws - n_draws, plan.n_draws)]
        try:
            adapter = self._deletion
            if adapter is None or costs_more(adapter.deletion, plan, draws[0]):
                return None
            block = concatenate_blocks(draws)
            tried = np.linspace(0, len(block) - 1, n_tried).astype(int)
            if not adapter.agrees(block.take(tried)):
                return None
        except Exception:  # the estimator raises the same error
            return None
        return replace(adapter, max_fits=max(MIN_FITS, MAX_BLOCK_ELEMENTS // plan.n_samples))

    @cached_property
    def _deletion(self) -> DeletionAdapter | None:
        """The adapter for arbitrary training sets, or None if there is none."""
        X, steps = self.X, list(self.transformers)
        while steps and maps_each_sample(steps[0]):
            X = clone(steps.pop(0)).fit_transform(X)
        deletion = self.make_deletion(self.estimator, X, self.target, tuple(steps))
        if deletion is None:
            return None
        procedure = make_pipeline(*self.transformers, self.estimator)
        return DeletionAdapter(deletion, procedure, self.X, self.target, self.labels)

    def _keeps_maps(self, block: PlanBlock) -> bool:
        """Whether the maps of all training sets of a block fit into memory."""
        m = int(block.train.sum(axis=1).max())
        width = self.X.shape[1] if len(getattr(self.X, "shape", ())) == 2 else m
        return len(block) * m * min(m, width + 1) <= MAX_KEPT_ELEMENTS

    def __call__(self, block: PlanBlock) -> FitOutput:
        """Return the outputs of the fits of a block."""
        return place_outputs(block.test, self._solve(block))

    def _solve(self, block: PlanBlock) -> Iterator[tuple[np.ndarray, FitOutput]]:
        """Yield the fits of each training set that has a map, and their outputs."""
        labels = block.order_labels(self.labels)  # (n_fits, n)
        for key, fits in group_fits(block):
            train = block.train[fits[0]]
            rows = np.repeat(np.arange(len(train)), train)
            label_columns = labels[even_slice(fits)].take(rows, axis=1)  # (fits, m)
            # the estimator does fits without one of the classes
            whole = have_all_classes(self.target, label_columns)
            if not whole.all():
                fits, label_columns = fits[whole], label_columns[whole]
            if not len(fits):
                continue
            label_map = self._find_map(
                key, rows, np.flatnonzero(block.test[fits[0]]), label_columns[0]
            )
            if label_map is not None:
                yield fits, label_map(label_columns)

    def _find_map(
        self, key: bytes, rows: np.ndarray, tested: np.ndarray, example: np.ndarray
    ) -> LabelMap | None:
        """Return the map of a training set, or None if the estimator must do its fits."""
        if key in self._maps:
            return self._maps[key]
        label_map = None
        try:
            split = self._transform(rows, tested, example)
            if split is not None and self.make_map is not None:
                label_map = self.make_map(self.estimator, split)
        except Exception:  # the estimator raises the same error
            label_map = None
        size = 0 if label_map is None else label_map.size
        if self._n_kept + size <= MAX_KEPT_ELEMENTS:
            self._maps[key] = label_map
            self._n_kept += size
        return label_map

    def _transform(
        self, rows: np.ndarray, tested: np.ndarray, example: np.ndarray
    ) -> TransformedSplit | None:
        """Return a split as the last step receives it, or None if a transformer is random."""
        steps = make_pipeline(*self.transformers, self.estimator)
        train, _ = safe_split(steps, self.X, None, rows)
        test, _ = safe_split(steps, self.X, None, tested, rows)
        if self.transformers:
            before = clone(steps[:-1])
            train = before.fit_transform(train)
            test = before.transform(test)
            if not draws_nothing(before):
                return None
        return TransformedSplit(train, test, self.n_draws, example, self.target.n_classes)


def costs_more(deletion: Deletion, plan: ResamplingPlan, draw: PlanBlock) -> bool:
    """Whether a deletion computes more distances than the fits of a plan; `draw` is one draw.

    Ten folds compute as many distances as the lists of all samples, which must also be sorted.
    Other factorizations compute none.
    """
    n_tested = plan.n_draws * np.count_nonzero(draw.test)
    by_fits = plan.n_fits * COST_OF_FIT + n_tested * plan.n_samples
    return bool(getattr(deletion, "n_pairs", 0) > by_fits)


@dataclass(frozen=True, eq=False)
class DeletionAdapter:
    """Fits to arbitrary training sets, by deletion of the samples left out."""

    deletion: Deletion
    estimator: Any
    X: Any
    target: Target
    labels: np.ndarray
    max_fits: int | None = None

    def __call__(self, block: PlanBlock) -> FitOutput:
        """Return the outputs of the fits of a block."""
        return place_outputs(block.test, self._solve(block))

    def _solve(self, block: PlanBlock) -> Iterator[tuple[np.ndarray, FitOutput]]:
        """Yield fits with equal sizes of training and test sets, and their outputs."""
        labels = block.order_labels(self.labels)  # (n_fits, n)
        trained = block.train != 0
        whole = have_all_classes(self.target, labels, trained)
        sizes = np.column_stack([trained.sum(axis=1), block.test.sum(axis=1)])
        for n_trained, n_tested in np.unique(sizes, axis=0):
            fits = np.flatnonzero(whole & (sizes == (n_trained, n_tested)).all(axis=1))
            if not len(fits):
                continue
            tested = np.nonzero(block.test[fits])[1].reshape(len(fits), -1)
            yield fits, self.deletion(labels[fits], Splits(block.train[fits], tested))

    def agrees(self, block: PlanBlock) -> bool:
        """Whether enough fits of a block are settled and two of them equal the estimator's.

        The largest difference is kept as noise.
        """
        outputs = list(self(block))
        settled = [fit for fit, output in enumerate(outputs) if not output.failed[0]]
        if len(settled) < MIN_SETTLED * len(outputs):
            return False
        return all(self._compares(block[fit], outputs[fit]) for fit in {settled[0], settled[-1]})

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
        predicted = model.predict(test)
        if self.target.classes is not None and not np.array_equal(predicted, output.predicted):
            return False
        # the most informative output that both have
        if output.decision is not None:
            values, expected = output.decision, model.decision_function(test)
        elif output.probability is not None:
            values, expected = output.probability, model.predict_proba(test)
        else:
            values, expected = output.predicted, predicted
        unit = max(1.0, float(np.abs(expected).max()))
        difference = float(np.abs(values - expected).max()) / unit
        self.deletion.noise = max(self.deletion.noise, MARGIN * difference)
        return difference <= AGREEMENT


def have_all_classes(
    target: Target, labels: np.ndarray, trained: np.ndarray | bool = True
) -> np.ndarray:
    """Return a mask of the fits whose training sets contain every class; `codes` (n_fits, n)."""
    whole = np.ones(len(labels), dtype=bool)
    for code in range(target.n_classes):
        whole &= ((labels == code) & trained).any(axis=1)
    return whole


def distinct_rows(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the label vectors without consecutive repetitions, and the index of each fit."""
    new = np.r_[True, (labels[1:] != labels[:-1]).any(axis=1)]
    return labels[new], np.cumsum(new) - 1


def holds_repetitions(plan: ResamplingPlan) -> bool:
    """Whether blocks contain so many repetitions that maps need not be kept."""
    fits = min(BLOCK_ELEMENTS // plan.n_samples, FITS_OF_SMALL_BLOCK)
    return fits // plan.fits_per_draw >= MIN_REPETITIONS


def group_fits(block: PlanBlock) -> Iterator[tuple[bytes, np.ndarray]]:
    """Yield the fits that share a training set and a test set, with a key of both."""
    once = block.train.max(initial=0) <= 1
    trains = np.packbits(block.train > 0, axis=1) if once else block.train
    groups: dict[bytes, list[int]] = {}
    for fit, (train, test) in enumerate(zip(trains, np.packbits(block.test, axis=1), strict=True)):
        groups.setdefault(train.tobytes() + test.tobytes(), []).append(fit)
    for key, fits in groups.items():
        yield key, np.array(fits)


def even_slice(fits: np.ndarray) -> np.ndarray | slice:
    """Return evenly spaced fits as a slice, which copies nothing, and others unchanged."""
    step = int(fits[1] - fits[0]) if len(fits) > 1 else 1
    return slice(fits[0], fits[-1] + 1, step) if np.all(np.diff(fits) == step) else fits
