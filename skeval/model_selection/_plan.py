"""Who trains with which weight, who is tested, under which labels: resampling as arrays."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["PlanBlock", "ResamplingPlan", "fold_indices", "fold_plan", "whole_plan"]

BLOCK_ELEMENTS = 2**22
"""Elements of a (fits, n_samples) array in one block: 32 MB of float64."""


@dataclass(frozen=True, eq=False)
class PlanBlock:
    """Some consecutive fits of a plan.

    Attributes
    ----------
    train : ndarray of shape (n_fits, n_samples)
        Integers say how often a sample is repeated in the training set; floats are sample
        weights. Samples of weight 0 are not in the training set.
    test : bool ndarray of shape (n_fits, n_samples)
        The samples that are predicted.
    order : int ndarray of shape (n_fits, n_samples) or None
        Fit `r` is trained and tested under the labels ``y[order[r]]``; None leaves `y` as it is.
    n_redrawn : int
        Number of degenerate draws that were thrown away while the block was made.
    """

    train: np.ndarray
    test: np.ndarray
    order: np.ndarray | None = None
    n_redrawn: int = 0

    def __len__(self) -> int:
        return len(self.train)

    def take(self, fits: np.ndarray) -> "PlanBlock":
        """Return the block of some of the fits."""
        order = None if self.order is None else self.order[fits]
        return PlanBlock(self.train[fits], self.test[fits], order)


@dataclass(frozen=True, eq=False)
class ResamplingPlan:
    """Repetitions that are drawn one by one and handed out in blocks.

    Attributes
    ----------
    n_samples : int
    n_repetitions : int
    draw : callable
        ``draw(r)`` returns the `PlanBlock` of repetition `r`, the same however often it is
        called: all randomness of a resampling lives here, in the calling process.
    fits_per_repetition : int
        Number of fits in each repetition: 1, or the number of folds that cross it.
    """

    n_samples: int
    n_repetitions: int
    draw: Callable[[int], PlanBlock]
    fits_per_repetition: int = 1

    @property
    def n_fits(self) -> int:
        """Number of fits of the whole plan."""
        return self.n_repetitions * self.fits_per_repetition

    def blocks(self, max_fits: int | None = None) -> Iterator[PlanBlock]:
        """Yield whole repetitions in blocks of bounded size, so memory does not grow with them."""
        fits = BLOCK_ELEMENTS // self.n_samples
        per_block = max(1, min(fits, max_fits or fits) // self.fits_per_repetition)
        for start in range(0, self.n_repetitions, per_block):
            stop = min(start + per_block, self.n_repetitions)
            yield concatenated([self.draw(r) for r in range(start, stop)])


def concatenated(parts: list[PlanBlock]) -> PlanBlock:
    """Return consecutive repetitions as one block."""
    order = None if parts[0].order is None else np.concatenate([part.order for part in parts])
    return PlanBlock(
        np.concatenate([part.train for part in parts]),
        np.concatenate([part.test for part in parts]),
        order,
        sum(part.n_redrawn for part in parts),
    )


def whole_plan(n_samples: int) -> ResamplingPlan:
    """Train on all samples once, test on all of them: resubstitution."""
    everything = PlanBlock(np.ones((1, n_samples), dtype=np.intp), np.ones((1, n_samples), bool))
    return ResamplingPlan(n_samples, 1, lambda _: everything)


def fold_plan(n_samples: int, folds: Iterable[tuple[np.ndarray, np.ndarray]]) -> ResamplingPlan:
    """One fit for each (training indices, test indices), as a scikit-learn splitter yields them.

    A training set that is all but the test set is not kept, so leave-one-out takes n numbers.
    """
    kept = [_compact(n_samples, train, test) for train, test in folds]
    if not kept:
        raise ValueError("cv must yield at least one pair (train, test), got none.")

    def draw(fold: int) -> PlanBlock:
        train, test = kept[fold]
        tested = np.zeros((1, n_samples), dtype=bool)
        tested[0, test] = True
        if train is None:
            return PlanBlock((~tested).astype(np.intp), tested)
        return PlanBlock(np.bincount(train, minlength=n_samples)[None], tested)

    return ResamplingPlan(n_samples, len(kept), draw)


def fold_indices(n_samples: int, part: str, rows: Any) -> np.ndarray:
    """Return the rows that a fold names, by index or by a boolean mask, as indices."""
    rows = np.asarray(rows)
    if rows.dtype.kind == "b" and rows.shape == (n_samples,):
        rows = np.flatnonzero(rows)
    if rows.dtype.kind not in "iu" or rows.ndim != 1 or not rows.size:
        raise ValueError(
            f"cv must yield {part} sets that are not empty, as integer indices or as boolean "
            f"masks of {n_samples} samples; got shape {rows.shape}, dtype {rows.dtype}."
        )
    if rows.min() < 0 or rows.max() >= n_samples:
        raise ValueError(
            f"cv must yield {part} indices from 0 to {n_samples - 1}, "
            f"got {rows.min()} to {rows.max()}."
        )
    return rows


def _compact(n_samples: int, train: Any, test: Any) -> tuple[np.ndarray | None, np.ndarray]:
    train, test = fold_indices(n_samples, "train", train), fold_indices(n_samples, "test", test)
    if np.bincount(test).max() > 1:
        raise ValueError("cv must yield test sets without repetitions, got a sample twice.")
    covered = np.bincount(train, minlength=n_samples) + np.bincount(test, minlength=n_samples)
    return (None if np.all(covered == 1) else train), test
