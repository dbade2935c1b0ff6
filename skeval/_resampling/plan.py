"""Who trains with which weight, who is tested, under which labels: resampling as arrays.

Arrays of a plan go to other processes in few bytes: counts of 0 and 1 and booleans take a bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

__all__ = [
    "BLOCK_ELEMENTS",
    "Fit",
    "PlanBlock",
    "ResamplingPlan",
    "Squeezed",
    "concatenate_blocks",
    "squeeze",
    "squeeze_rows",
    "whole_plan",
]

BLOCK_ELEMENTS = 2**22
"""Elements of a (fits, n_samples) array in one block: 32 MB of float64."""


@dataclass(frozen=True, eq=False, slots=True)
class Fit:
    """One fit of a plan: a row of each array of its block.

    Attributes
    ----------
    train, test, order : ndarray of shape (n_samples,)
        As in `PlanBlock`.
    """

    train: np.ndarray
    test: np.ndarray
    order: np.ndarray | None

    def __reduce__(self) -> tuple:
        order = None if self.order is None else squeeze(self.order)
        return unpack_fit, (squeeze(self.train), squeeze(self.test), order)

    @property
    def training_rows(self) -> np.ndarray:
        """The samples that are trained on, repeated as often as they count."""
        rows = np.flatnonzero(self.train)
        return rows if self.weights is not None else np.repeat(rows, self.train[rows])

    @property
    def weights(self) -> np.ndarray | None:
        """The weights of the training rows, None where samples count or do not."""
        return self.train[self.train > 0] if self.train.dtype.kind == "f" else None


@dataclass(frozen=True, eq=False)
class PlanBlock:
    """Some consecutive fits of a plan, which are its items.

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

    def __getitem__(self, fit: int) -> Fit:
        order = None if self.order is None else self.order[fit]
        return Fit(self.train[fit], self.test[fit], order)

    def take(self, fits: np.ndarray) -> PlanBlock:
        """Return some of the fits."""
        order = None if self.order is None else self.order[fits]
        return PlanBlock(self.train[fits], self.test[fits], order)

    def __reduce__(self) -> tuple:
        order = None if self.order is None else squeeze_rows(self.order)
        return unpack_block, (squeeze(self.train), squeeze(self.test), order, self.n_redrawn)

    def order_labels(self, y: np.ndarray) -> np.ndarray:
        """Return the labels of the samples in each fit, shape (n_fits, n_samples)."""
        return np.broadcast_to(y, self.train.shape) if self.order is None else y[self.order]

    def tested_labels(self, y: np.ndarray, fits: np.ndarray) -> np.ndarray:
        """Return the labels of the tested samples of some fits (a mask), fit after fit."""
        test = self.test & fits[:, None]
        return np.broadcast_to(y, test.shape)[test] if self.order is None else y[self.order[test]]


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
    weighted : bool
        Whether the weights of the samples are in `train`, so that no others are given to a fit.
    """

    n_samples: int
    n_repetitions: int
    draw: Callable[[int], PlanBlock]
    fits_per_repetition: int = 1
    weighted: bool = False

    @property
    def n_fits(self) -> int:
        """Number of fits of the whole plan."""
        return self.n_repetitions * self.fits_per_repetition

    def blocks(self, max_fits: int | None = None, first: int | None = None) -> Iterator[PlanBlock]:
        """Yield whole repetitions in blocks of bounded size, so memory does not grow with them.

        The first block has at most `first` repetitions; each block then doubles those before it.
        A plan of a single block is drawn once, however often it is gone through.
        """
        fits = BLOCK_ELEMENTS // self.n_samples
        largest = max(1, min(fits, max_fits or fits) // self.fits_per_repetition)
        size, start = first or largest, 0
        if self.n_repetitions <= min(size, largest):
            yield self._only_block
            return
        while start < self.n_repetitions:
            stop = min(start + min(size, largest), self.n_repetitions)
            yield concatenate_blocks([self.draw(r) for r in range(start, stop)])
            start, size = stop, max(size, stop)

    @cached_property
    def _only_block(self) -> PlanBlock:
        return concatenate_blocks([self.draw(r) for r in range(self.n_repetitions)])


def unpack_fit(train: Squeezed, test: Squeezed, order: Squeezed | None) -> Fit:
    """Return a fit as it was before it was sent."""
    return Fit(train.unpack(), test.unpack(), None if order is None else order.unpack())


def unpack_block(
    train: Squeezed, test: Squeezed, order: Squeezed | None, n_redrawn: int
) -> PlanBlock:
    """Return a block as it was before it was sent."""
    whose = None if order is None else order.unpack()
    return PlanBlock(train.unpack(), test.unpack(), whose, n_redrawn)


def concatenate_blocks(parts: list[PlanBlock]) -> PlanBlock:
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


@dataclass(frozen=True, eq=False)
class Squeezed:
    """An array in few bytes.

    Attributes
    ----------
    content : ndarray
        The same numbers in the smallest type that holds them, or one bit each.
    dtype : dtype
        What the type was.
    shape : tuple of int or None
        The shape, where `content` is bits.
    repeats : int ndarray or None
        How often each row of `content` follows itself.
    """

    content: np.ndarray
    dtype: np.dtype
    shape: tuple[int, ...] | None = None
    repeats: np.ndarray | None = None

    def unpack(self) -> np.ndarray:
        """Return the array as it was."""
        content = self.content
        if self.shape is not None:
            content = np.unpackbits(content, count=int(np.prod(self.shape))).reshape(self.shape)
        content = content.astype(self.dtype)
        return content if self.repeats is None else np.repeat(content, self.repeats, axis=0)


def squeeze(array: np.ndarray) -> Squeezed:
    """Return an array of non-negative integers, of booleans or of numbers in few bytes.

    Counts of 0 and 1 and booleans take a bit, other integers a byte or two, numbers what they do.
    """
    if array.dtype.kind not in "biu" or not array.size:
        return Squeezed(array, array.dtype)
    largest = array.max()
    if largest <= 1:
        return Squeezed(np.packbits(array.astype(bool)), array.dtype, array.shape)
    return Squeezed(array.astype(np.min_scalar_type(largest)), array.dtype)


def squeeze_rows(array: np.ndarray) -> Squeezed:
    """Return an array of which rows follow that are equal, each once."""
    starts = np.flatnonzero(np.r_[True, (array[1:] != array[:-1]).any(axis=1)])
    squeezed = squeeze(array[starts])
    repeats = np.diff(np.r_[starts, len(array)])
    return Squeezed(squeezed.content, squeezed.dtype, squeezed.shape, repeats)
