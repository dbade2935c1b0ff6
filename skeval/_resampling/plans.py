"""Resampling plans: training weights, test masks and labels of each fit, in blocks.

Arrays are compressed when they are pickled: booleans and counts of 0 and 1 take a bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from skeval._resampling.sampling_units import DrawingUnits
from skeval._resampling.target import TooFewMembersError
from skeval.utils._checks import RandomStateLike, repetition_rng, root_seed

BLOCK_ELEMENTS = 2**22
"""Elements of a (fits, n_samples) array in one block: 32 MB of float64."""


@dataclass(frozen=True, eq=False, slots=True)
class Fit:
    """One fit of a plan: a row of each array of its block.

    Attributes
    ----------
    train, test, order : ndarray of shape (n_samples,)
        As in `PlanBlock`.
    rows : ndarray or None
        Training samples in the order of the splitter; None if it is ascending.
    """

    train: np.ndarray
    test: np.ndarray
    order: np.ndarray | None
    rows: np.ndarray | None = None

    def __reduce__(self) -> tuple:
        return Fit, (squeeze(self.train), squeeze(self.test), squeeze(self.order), self.rows)

    @property
    def training_rows(self) -> np.ndarray:
        """Training samples in the order of the splitter, each repeated by its number of copies."""
        if self.rows is None:
            rows = np.flatnonzero(self.train)
            return rows if self.is_weighted else np.repeat(rows, self.train[rows])
        # some of the splitter's samples may have been left out
        rows = self.rows[self.train[self.rows] > 0].astype(np.intp)
        # a weight includes the number of copies
        return rows[np.sort(np.unique(rows, return_index=True)[1])] if self.is_weighted else rows

    @property
    def is_weighted(self) -> bool:
        """Whether `train` contains weights instead of numbers of copies."""
        return self.train.dtype.kind == "f"

    @property
    def weights(self) -> np.ndarray | None:
        """Weights of the training rows; None if `train` contains numbers of copies."""
        return self.train[self.training_rows] if self.is_weighted else None


@dataclass(frozen=True, eq=False)
class PlanBlock:
    """Consecutive fits of a plan; its items are single fits.

    Attributes
    ----------
    train : ndarray of shape (n_fits, n_samples)
        Integers are numbers of copies of a sample in the training set; floats are sample weights.
        Samples with 0 are not in the training set.
    test : bool ndarray of shape (n_fits, n_samples)
        Test samples.
    order : int ndarray of shape (n_fits, n_samples) or None
        Fit `r` is trained and tested with the labels ``y[order[r]]``; None leaves `y` as it is.
    rows : sequence of (ndarray or None), or None
        Training samples of each fit in the order of the splitter; None if it is ascending.
    n_redrawn : int
        Number of degenerate draws that were drawn again.
    """

    train: np.ndarray
    test: np.ndarray
    order: np.ndarray | None = None
    rows: Sequence[np.ndarray | None] | None = None
    n_redrawn: int = 0

    def __len__(self) -> int:
        return len(self.train)

    def __getitem__(self, fit: int) -> Fit:
        order = None if self.order is None else self.order[fit]
        rows = None if self.rows is None else self.rows[fit]
        return Fit(self.train[fit], self.test[fit], order, rows)

    def take(self, fits: np.ndarray) -> PlanBlock:
        """Return some of the fits."""
        order = None if self.order is None else self.order[fits]
        rows = None if self.rows is None else [self.rows[fit] for fit in fits]
        return PlanBlock(self.train[fits], self.test[fits], order, rows)

    def __reduce__(self) -> tuple:
        order = squeeze_rows(self.order)
        train, test = squeeze(self.train), squeeze(self.test)
        return PlanBlock, (train, test, order, self.rows, self.n_redrawn)

    def order_labels(self, y: np.ndarray) -> np.ndarray:
        """Return the labels of the samples in each fit, shape (n_fits, n_samples)."""
        return np.broadcast_to(y, self.train.shape) if self.order is None else y[self.order]

    def tested_labels(self, y: np.ndarray, fits: np.ndarray) -> np.ndarray:
        """Return the labels of the tested samples of some fits (a mask), fit after fit."""
        test = self.test & fits[:, None]
        return y[np.nonzero(test)[1]] if self.order is None else y[self.order[test]]


@dataclass(frozen=True, eq=False)
class ResamplingPlan:
    """Fits that are drawn in small parts and yielded in blocks.

    Attributes
    ----------
    n_samples : int
    n_draws : int
    draw : callable
        ``draw(r)`` returns the `PlanBlock` of draw `r`, the same in every call. All random
        numbers of a resampling are drawn here, in the calling process.
    fits_per_draw : int
        Number of fits in each draw: 1, or the number of folds that cross it.
    weighted : bool
        Whether `train` contains the sample weights, so that fits get no others.
    describe : callable or None
        ``describe(fit)`` names a fit in an error. Training sets of fits without names may have a
        single class.
    n_folds : int
        Number of fits of a repeat; 0 means `fits_per_draw`.
    """

    n_samples: int
    n_draws: int
    draw: Callable[[int], PlanBlock]
    fits_per_draw: int = 1
    weighted: bool = False
    describe: Callable[[int], str] | None = None
    n_folds: int = 0

    def __post_init__(self) -> None:
        if not self.n_folds:
            object.__setattr__(self, "n_folds", self.fits_per_draw)

    @property
    def n_fits(self) -> int:
        """Number of fits of the whole plan."""
        return self.n_draws * self.fits_per_draw

    @property
    def n_repeats(self) -> int:
        """Number of repeats."""
        return self.n_fits // self.n_folds

    def repeats(self) -> Iterator[ResamplingPlan]:
        """Yield each repeat as a plan of its own."""
        for repeat in range(self.n_repeats):
            yield self.take(repeat, 1)

    def take(self, first: int, n_repeats: int) -> ResamplingPlan:
        """Return a plan of some repeats, from `first` on."""
        if (first, n_repeats) == (0, self.n_repeats):
            return self
        draws_per_repeat, describe = self.n_folds // self.fits_per_draw, self.describe
        skipped = first * draws_per_repeat

        def draw(number: int) -> PlanBlock:
            return self.draw(skipped + number)

        def describe_taken(fit: int) -> str:
            assert describe is not None
            return describe(first * self.n_folds + fit)

        return replace(
            self,
            n_draws=n_repeats * draws_per_repeat,
            draw=draw,
            describe=None if describe is None else describe_taken,
        )

    def blocks(self, max_fits: int | None = None, first: int | None = None) -> Iterator[PlanBlock]:
        """Yield whole repetitions in blocks of bounded size, so memory does not grow with them.

        The first block has at most `first` repetitions; each further block is as large as all
        blocks before it. A plan of a single block is drawn once, even if it is iterated again.
        """
        # whole repetitions in a block of bounded memory
        fits = BLOCK_ELEMENTS // self.n_samples
        largest = max(1, min(fits, max_fits or fits) // self.fits_per_draw)
        size, start = first or largest, 0
        if self.n_draws <= min(size, largest):
            yield self._only_block
            return
        while start < self.n_draws:
            stop = min(start + min(size, largest), self.n_draws)
            yield concatenate_blocks([self.draw(r) for r in range(start, stop)])
            start, size = stop, max(size, stop)

    @cached_property
    def _only_block(self) -> PlanBlock:
        return concatenate_blocks([self.draw(r) for r in range(self.n_draws)])


def concatenate_blocks(parts: list[PlanBlock]) -> PlanBlock:
    """Return consecutive repetitions as one block."""
    order = None if parts[0].order is None else np.concatenate([part.order for part in parts])
    rows = [row for part in parts for row in part.rows or [None] * len(part)]
    return PlanBlock(
        np.concatenate([part.train for part in parts]),
        np.concatenate([part.test for part in parts]),
        order,
        None if all(row is None for row in rows) else rows,
        sum(part.n_redrawn for part in parts),
    )


def whole_plan(n_samples: int) -> ResamplingPlan:
    """Train on all samples once, test on all of them: resubstitution."""
    everything = PlanBlock(np.ones((1, n_samples), dtype=np.intp), np.ones((1, n_samples), bool))
    return ResamplingPlan(n_samples, 1, lambda _: everything)


class Squeezed(NamedTuple):
    """Compressed array, restored when it is unpickled.

    Attributes
    ----------
    content : ndarray
        The same numbers in the smallest type that holds them, or one bit each.
    dtype : dtype
        Type of the array.
    shape : tuple of int or None
        The shape, where `content` is bits.
    repeats : int ndarray or None
        Number of consecutive copies of each row of `content`.
    """

    content: np.ndarray
    dtype: np.dtype
    shape: tuple[int, ...] | None = None
    repeats: np.ndarray | None = None

    def __reduce__(self) -> tuple:
        return unpack, tuple(self)


def unpack(
    content: np.ndarray, dtype: np.dtype, shape: tuple[int, ...] | None, repeats: np.ndarray | None
) -> np.ndarray:
    """Return the array of a `Squeezed`."""
    if shape is not None:
        content = np.unpackbits(content, count=int(np.prod(shape))).reshape(shape)
    content = content.astype(dtype)
    return content if repeats is None else np.repeat(content, repeats, axis=0)


def squeeze(array: np.ndarray | None) -> Any:
    """Return non-negative integers or booleans compressed, other arrays unchanged.

    Booleans and counts of 0 and 1 take a bit, other integers a byte or two.
    """
    if array is None or array.dtype.kind not in "biu" or not array.size:
        return array
    largest = array.max()
    if largest <= 1:
        return Squeezed(np.packbits(array.astype(bool)), array.dtype, array.shape)
    return Squeezed(array.astype(np.min_scalar_type(largest)), array.dtype)


def squeeze_rows(array: np.ndarray | None) -> Any:
    """Return an array of integers without copies of consecutive equal rows."""
    if array is None:
        return None
    # all folds of a permutation share one order of the labels
    starts = np.flatnonzero(np.r_[True, (array[1:] != array[:-1]).any(axis=1)])
    return squeeze(array[starts])._replace(repeats=np.diff(np.r_[starts, len(array)]))


MAX_TRIES = 100


def bootstrap_plan(
    units: DrawingUnits,
    n_resamples: int,
    random_state: RandomStateLike,
    classes: np.ndarray | None = None,
    codes: np.ndarray | None = None,
) -> ResamplingPlan:
    """Train on a resample, test on the samples that it leaves out.

    A resample that leaves no sample out, or (with `codes`) has fewer than two classes, is drawn
    again.
    """
    root = root_seed(random_state)

    def draw(repetition: int) -> PlanBlock:
        rng = repetition_rng(root, repetition)
        # rejection keeps the distribution of the valid resamples
        for n_redrawn in range(MAX_TRIES):
            counts = units.draw(rng)
            if not is_degenerate(counts, codes):
                return PlanBlock(counts[None], counts[None] == 0, n_redrawn=n_redrawn)
        if codes is None or classes is None:
            raise ValueError(
                f"no resample left a sample out in {MAX_TRIES} tries: y has too few samples."
            )
        sizes = np.bincount(codes)
        raise ValueError(
            f"no resample with two classes and a sample left out in {MAX_TRIES} tries: class "
            f"{classes.tolist()[sizes.argmin()]!r} has {sizes.min()} of {sizes.sum()} samples."
        )

    return ResamplingPlan(len(units.unit), n_resamples, draw)


def plan_resamples(
    indices: Any, units: DrawingUnits, codes: np.ndarray | None = None
) -> ResamplingPlan:
    """Train on the user's resamples: rows of sample indices, which must draw whole groups."""
    indices, n_samples = np.asarray(indices), len(units.unit)
    if indices.ndim != 2 or indices.shape[1] != n_samples or not len(indices):
        raise ValueError(
            f"indices must have shape (n_resamples, {n_samples}), got {indices.shape}."
        )
    if indices.dtype.kind not in "iu" or indices.min() < 0 or indices.max() >= n_samples:
        raise ValueError(f"indices must be integers from 0 to {n_samples - 1}.")
    # samples of a group must be drawn as often as its first one
    first = np.unique(units.unit, return_index=True)[1][units.unit]
    for row, drawn in enumerate(indices):
        counts = np.bincount(drawn, minlength=n_samples)
        if np.any(counts != counts[first]):
            raise ValueError(
                "indices must draw whole groups if groups are given, all their samples equally "
                f"often; row {row} does not."
            )

    def draw(row: int) -> PlanBlock:
        counts = np.bincount(indices[row], minlength=n_samples)
        if is_degenerate(counts, codes):
            raise ValueError(
                f"indices row {row} must leave a sample out and hold two classes; it does not."
            )
        return PlanBlock(counts[None], counts[None] == 0, rows=[indices[row]])

    return ResamplingPlan(n_samples, len(indices), draw)


def check_class_sizes(classes: np.ndarray | None, codes: np.ndarray | None) -> None:
    """Raise unless each class has two members, one to train on if the other is left out."""
    if classes is None or codes is None:
        return
    sizes = np.bincount(codes)
    if sizes.min() < 2:
        raise TooFewMembersError(
            "y must hold at least 2 members of each class for a bootstrap, class "
            f"{classes.tolist()[sizes.argmin()]!r} has {sizes.min()}."
        )


def is_degenerate(counts: np.ndarray, codes: np.ndarray | None) -> bool:
    """Whether a resample leaves nothing to test or trains on fewer than two classes."""
    if counts.all():
        return True
    if codes is None:
        return False
    drawn = codes[counts > 0]
    return bool(np.all(drawn == drawn[0]))
