"""Fits by deletion: one factorization of all samples serves every training set.

The samples left out are deleted from the factorization, exactly. It does not depend on the labels,
so that the fits of a permutation test share it, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from sklearn.base import clone

from skeval._adapters.column_steps import maps_each_sample
from skeval._adapters.registry import SLOWER, Agreement, Solver
from skeval._resampling.fit_outputs import FitOutput, place_outputs
from skeval._resampling.plans import PlanBlock, ResamplingPlan, concatenate_blocks
from skeval._resampling.target import Target
from skeval._solvers.splits import Splits

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
"""Largest difference from a single fit, in units of the values or of the spread of y."""

MARGIN = 100.0
"""A value is certain if it exceeds the observed difference from single fits by this factor."""


class Deletion(Protocol):
    """A factorization of all samples that gives the predictions for any training set."""

    noise: float

    def __call__(self, labels: np.ndarray, splits: Splits) -> FitOutput:
        """Return the predictions for label vectors (n_fits, n_samples) of codes or numbers.

        Fits whose predicted classes depend on rounding errors, and fits with singular equations,
        are marked as failed.
        """


MakeDeletion = Callable[[Any, Any, Target, tuple], Deletion | None]
"""``make_deletion(estimator, X, target, transformers)`` returns the deletion, or None."""


@dataclass(eq=False)
class DeletionSolver(Solver):
    """Fits of an estimator after transformers, by deletion of the samples left out.

    `n_pairs` is the number of distances that the factorization of all samples costs.
    """

    make_deletion: MakeDeletion
    estimator: Any
    X: Any
    target: Target
    transformers: tuple
    min_fits: int = MIN_FITS
    n_pairs: int = 0

    def __post_init__(self) -> None:
        self.max_fits = max(MIN_FITS, MAX_BLOCK_ELEMENTS // len(self.target))

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

    def refuses(self, plan: ResamplingPlan) -> str:
        """Return why a loop does the fits of a plan; an empty string if the deletion is faster.

        Ten folds compute as many distances as the lists of all samples, which must also be sorted.
        """
        target = self.target
        texts = target.classes is None and target.y.dtype.kind not in "iuf"
        if texts or target.n_classes > MAX_CLASSES:
            return "the target has more classes than solvers support"
        if plan.n_fits < self.min_fits:
            return SLOWER
        n_tested = plan.n_draws * np.count_nonzero(plan.draw(0).test) if self.n_pairs else 0
        slower = self.n_pairs > plan.n_fits * COST_OF_FIT + n_tested * plan.n_samples
        return SLOWER if slower else ""

    def draw_trials(self, plan: ResamplingPlan) -> list[PlanBlock] | str:
        """Return two of some fits of which enough are settled, or why the loop must do all."""
        if self.deletion is None:
            return "no solver supports these samples or transformers"
        # some fits of the last draws: the first draw of a permutation test has the true labels
        n_tried = min(max(MIN_TRIED, int(TRIED_SHARE * plan.n_fits)), MAX_TRIED, plan.n_fits)
        n_draws = -(-n_tried // plan.fits_per_draw)
        draws = [plan.draw(draw) for draw in range(plan.n_draws - n_draws, plan.n_draws)]
        block = concatenate_blocks(draws)
        tried = block.take(np.linspace(0, len(block) - 1, n_tried).astype(int))
        settled = np.flatnonzero(~self.solve(tried).failed)
        if len(settled) < MIN_SETTLED * n_tried:
            return "rounding errors decide most of these fits"
        return [tried.take(np.array([fit])) for fit in sorted({settled[0], settled[-1]})]

    def solve(self, block: PlanBlock) -> FitOutput:
        """Return the outputs of the fits of a block."""
        return place_outputs(block.test, self._solve(block))

    def _solve(self, block: PlanBlock) -> Iterator[tuple[np.ndarray, FitOutput]]:
        """Yield fits with equal sizes of training and test sets, and their outputs."""
        assert self.deletion is not None
        labels = block.order_labels(self.labels)  # (n_fits, n)
        trained = block.train != 0
        # the estimator does fits without one of the classes
        whole = np.ones(len(labels), dtype=bool)
        for code in range(self.target.n_classes):
            whole &= ((labels == code) & trained).any(axis=1)
        sizes = np.column_stack([trained.sum(axis=1), block.test.sum(axis=1)])
        for n_trained, n_tested in np.unique(sizes, axis=0):
            fits = np.flatnonzero(whole & (sizes == (n_trained, n_tested)).all(axis=1))
            if len(fits):
                tested = np.nonzero(block.test[fits])[1].reshape(len(fits), -1)
                yield fits, self.deletion(labels[fits], Splits(block.train[fits], tested))

    def compare(self, block: PlanBlock, model: Any, samples: Any) -> Agreement | None:
        """Return whether the predictions of a fit equal its model's; keep the difference as noise.

        None if the fit is not settled.
        """
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
