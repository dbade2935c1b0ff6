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
from sklearn.pipeline import make_pipeline

from skeval._adapters.registry import NoSolver
from skeval._adapters.transformers import maps_each_sample
from skeval._resampling.fit_outputs import FitOutput, place_outputs
from skeval._resampling.fit_params import weight_parameters
from skeval._resampling.plans import Fit, PlanBlock, ResamplingPlan, concatenate_blocks
from skeval._resampling.target import Target
from skeval._solvers.splits import Splits
from skeval.utils._checks import ignored_warnings
from skeval.utils._compat import safe_split

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
class DeletionAdapter:
    """Fits of an estimator after transformers, by deletion of the samples left out."""

    make_deletion: MakeDeletion
    estimator: Any
    X: Any
    target: Target
    transformers: tuple
    min_fits: int = MIN_FITS

    @property
    def max_fits(self) -> int:
        """Maximum number of fits in a block."""
        return max(MIN_FITS, MAX_BLOCK_ELEMENTS // len(self.target))

    @cached_property
    def procedure(self) -> Any:
        """The transformers and the estimator."""
        return make_pipeline(*self.transformers, self.estimator)

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

    def prepare(self, plan: ResamplingPlan) -> Any:
        """Return the adapter, or why the loop does the fits of a plan."""
        target = self.target
        strings = target.classes is None and target.y.dtype.kind not in "iuf"
        if strings or target.n_classes > MAX_CLASSES:
            return NoSolver("the target has more classes than solvers support")
        if plan.n_fits < self.min_fits:
            return None
        # some fits of the last draws: the first draw of a permutation test has the true labels
        n_tried = min(max(MIN_TRIED, int(TRIED_SHARE * plan.n_fits)), MAX_TRIED, plan.n_fits)
        n_draws = -(-n_tried // plan.fits_per_draw)
        draws = [plan.draw(draw) for draw in range(plan.n_draws - n_draws, plan.n_draws)]
        block = concatenate_blocks(draws)
        tried = block.take(np.linspace(0, len(block) - 1, n_tried).astype(int))
        try:
            if self.deletion is None:
                return NoSolver("no solver supports these samples or transformers")
            if costs_more(self.deletion, plan, draws[0]):
                return None
            why = self.disagrees(tried)
        except Exception:  # the estimator raises the same error
            return NoSolver("a trial fit failed")
        return NoSolver(why) if why else self

    def __call__(self, block: PlanBlock) -> FitOutput:
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

    def disagrees(self, block: PlanBlock) -> str:
        """Return why the fits of a block are not those of the estimator, or an empty string.

        Enough of them must be settled, and two must equal the estimator's. The largest difference
        is kept as noise.
        """
        outputs = list(self(block))
        settled = [fit for fit, output in enumerate(outputs) if not output.failed[0]]
        if len(settled) < MIN_SETTLED * len(outputs):
            return "rounding errors decide most of these fits"
        if not all(self._compares(block[fit], outputs[fit]) for fit in {settled[0], settled[-1]}):
            return "rounding errors change the predictions of these fits"
        return ""

    def _compares(self, fit: Fit, output: FitOutput) -> bool:
        """Whether the predictions of a fit equal the estimator's."""
        rows, tested = fit.training_rows, np.flatnonzero(fit.test)
        labels = self.labels if fit.order is None else self.labels[fit.order]
        weights = {} if fit.weights is None else weight_parameters(self.procedure, fit.weights)
        train, _ = safe_split(self.procedure, self.X, None, rows)
        test, _ = safe_split(self.procedure, self.X, None, tested, rows)
        with ignored_warnings():
            model = clone(self.procedure).fit(train, labels[rows], **weights)
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
        # scores of classes have a unit; differences of numbers are relative to their spread
        unit = max(1.0, float(np.abs(expected).max()))
        if self.target.classes is None:
            unit = float(np.std(self.target.y))
        difference = float(np.abs(values - expected).max())
        assert self.deletion is not None
        self.deletion.noise = max(self.deletion.noise, MARGIN * difference / (unit or 1.0))
        return difference <= AGREEMENT * unit


def costs_more(deletion: Deletion, plan: ResamplingPlan, draw: PlanBlock) -> bool:
    """Whether a deletion computes more distances than the fits of a plan; `draw` is one draw.

    Ten folds compute as many distances as the lists of all samples, which must also be sorted.
    Other factorizations compute none.
    """
    n_tested = plan.n_draws * np.count_nonzero(draw.test)
    by_fits = plan.n_fits * COST_OF_FIT + n_tested * plan.n_samples
    return bool(getattr(deletion, "n_pairs", 0) > by_fits)


def distinct_rows(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the label vectors without consecutive repetitions, and the index of each fit."""
    new = np.r_[True, (labels[1:] != labels[:-1]).any(axis=1)]
    return labels[new], np.cumsum(new) - 1
