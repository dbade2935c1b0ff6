"""Resampling plans: training weights, test masks and labels of each fit, in blocks.

The module begins with the classes. The plans of folds, subsamples and resamples follow, and the
splits of an argument `cv`. Integers are pickled in the smallest type that represents them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, combinations
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.random import SeedSequence
from sklearn import model_selection as sk
from sklearn.utils import check_random_state

from skeval._resampling.sampling_units import (
    DrawingUnits,
    SamplingUnits,
    Target,
    TooFewMembersError,
    units_of,
)
from skeval._resampling.series import GroupTimeSeriesSplit, check_rows_in_order
from skeval.utils._checks import (
    RandomStateLike,
    check_count,
    child_seed,
    ignored_warnings,
    naming,
    repetition_rng,
    root_seed,
    suggest,
    warn_user,
)

BLOCK_ELEMENTS = 2**22
"""Maximum number of elements of a (fits, n_samples) array in one block, 32 MB of float64."""


@dataclass(frozen=True, eq=False, slots=True)
class Fit:
    """One fit of a plan, with a row of each array of its block.

    Attributes
    ----------
    train, test, order : ndarray of shape (n_samples,)
        One row of the same attribute of `PlanBlock`.
    rows : ndarray or None
        Training samples in the order of the splitter, or None if it is ascending.
    """

    train: np.ndarray
    test: np.ndarray
    order: np.ndarray | None
    rows: np.ndarray | None = None

    def __reduce__(self) -> tuple:
        return Fit, (shrink(self.train), self.test, shrink(self.order), self.rows)

    @property
    def training_rows(self) -> np.ndarray:
        """Training samples in the order of the splitter, each repeated by its number of copies."""
        # without an order of the splitter, rows ascend
        if self.rows is None:
            rows = np.flatnonzero(self.train != 0)  # faster on booleans
            distinct = self.is_weighted or self.train.max(initial=0) <= 1
            return rows if distinct else np.repeat(rows, self.train[rows])
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
        """Weights of the training rows, or None if `train` contains numbers of copies."""
        return self.train[self.training_rows] if self.is_weighted else None


@dataclass(frozen=True, eq=False)
class PlanBlock:
    """Consecutive fits of a plan. Its items are single fits.

    Attributes
    ----------
    train : ndarray of shape (n_fits, n_samples)
        Integers are numbers of copies of a sample in the training set. Floats are sample weights.
        Samples with 0 are not in the training set.
    test : bool ndarray of shape (n_fits, n_samples)
        Test samples.
    order : int ndarray of shape (n_fits, n_samples) or None
        Fit `r` is trained and tested with the labels ``y[order[r]]``. If None, `y` is unchanged.
    rows : sequence of (ndarray or None), or None
        Training samples of each fit in the order of the splitter, or None if it is ascending.
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
        train, order = shrink(self.train), shrink(self.order)
        return PlanBlock, (train, self.test, order, self.rows, self.n_redrawn)

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
        Number of fits in each draw. It is 1, or the number of folds of a cross-validation.
    weighted : bool
        Whether `train` contains the sample weights, so that no weights are added to the fits.
    single_fits : bool
        Whether each fit counts separately, as a fold does. It is then yielded as soon as it is
        done, its training set must have two classes, and sample weights are put into `train`.
    n_folds : int
        Number of fits of a repeat. 0 means `fits_per_draw`.
    """

    n_samples: int
    n_draws: int
    draw: Callable[[int], PlanBlock]
    fits_per_draw: int = 1
    weighted: bool = False
    single_fits: bool = False
    n_folds: int = 0

    def __post_init__(self) -> None:
        if not self.n_folds:
            object.__setattr__(self, "n_folds", self.fits_per_draw)

    @property
    def n_fits(self) -> int:
        """Number of fits of the whole plan."""
        return self.n_draws * self.fits_per_draw

    @property
    def shuffled(self) -> bool:
        """Whether labels are permuted, even if only in later draws."""
        return self.draw(self.n_draws - 1).order is not None

    @property
    def n_repeats(self) -> int:
        """Number of repeats."""
        return self.n_fits // self.n_folds

    def repeats(self) -> Iterator[ResamplingPlan]:
        """Yield each repeat as a separate plan."""
        for repeat in range(self.n_repeats):
            yield self.take(repeat, 1)

    def take(self, first: int, n_repeats: int) -> ResamplingPlan:
        """Return a plan of some repeats, beginning with `first`."""
        if (first, n_repeats) == (0, self.n_repeats):
            return self
        # number draws from the first repeat taken
        draws_per_repeat = self.n_folds // self.fits_per_draw
        skipped = first * draws_per_repeat

        def draw(number: int) -> PlanBlock:
            return self.draw(skipped + number)

        return replace(self, n_draws=n_repeats * draws_per_repeat, draw=draw)

    def blocks(self, max_fits: int | None = None, first: int | None = None) -> Iterator[PlanBlock]:
        """Yield whole repetitions in blocks of bounded size, so memory does not grow with them.

        The first block has at most `first` repetitions. Each further block is as large as all
        previous blocks together. A plan of a single block is drawn once, even if it is iterated
        again.
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
    if len(parts) == 1:
        return parts[0]
    # labels and row orders are kept only if a part has them
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
    """Plan of one fit that trains and tests on all samples (resubstitution)."""
    everything = PlanBlock(np.ones((1, n_samples), dtype=np.intp), np.ones((1, n_samples), bool))
    return ResamplingPlan(n_samples, 1, lambda _: everything)


def shrink(array: np.ndarray | None) -> Any:
    """Return nonnegative integers in the smallest signed type, and other arrays unchanged."""
    if array is None or array.dtype.kind not in "iu" or not array.size:
        return array
    return array.astype(np.min_scalar_type(-1 - int(array.max())))


MAX_TRIES = 100


def bootstrap_plan(
    units: DrawingUnits,
    n_resamples: int,
    random_state: RandomStateLike,
    classes: np.ndarray | None = None,
    codes: np.ndarray | None = None,
) -> ResamplingPlan:
    """Plan that trains on resamples and tests on the samples that they leave out.

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
        # no try gave a valid resample
        if codes is None or classes is None:
            raise ValueError(f"y must have more samples: each of {MAX_TRIES} resamples had all.")
        sizes = np.bincount(codes)
        raise ValueError(
            "y must have more samples of each class, because no resample has two classes and "
            f"leaves out a sample. Class {classes.tolist()[sizes.argmin()]!r} has {sizes.min()} "
            f"of {sizes.sum()} samples."
        )

    return ResamplingPlan(len(units.unit), n_resamples, draw)


def plan_resamples(
    indices: Any, units: DrawingUnits, codes: np.ndarray | None = None
) -> ResamplingPlan:
    """Plan that trains on the user's resamples, rows of sample indices that draw whole groups."""
    # rows of valid sample indices
    with naming("indices"):
        indices = np.asarray(indices)
    n_samples = len(units.unit)
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
                "indices must draw all samples of a group equally often if groups are passed, but "
                f"row {row} does not."
            )

    def draw(row: int) -> PlanBlock:
        counts = np.bincount(indices[row], minlength=n_samples)
        if is_degenerate(counts, codes):
            raise ValueError(
                f"indices must leave out a sample and have two classes, but row {row} does not."
            )
        # the test set is the samples out of the bag
        return PlanBlock(counts[None], counts[None] == 0, rows=[indices[row]])

    return ResamplingPlan(n_samples, len(indices), draw)


def check_class_sizes(classes: np.ndarray | None, codes: np.ndarray | None) -> None:
    """Raise unless each class has two members, one to train on if the other is left out."""
    if classes is None or codes is None:
        return
    sizes = np.bincount(codes)
    if sizes.min() < 2:
        raise TooFewMembersError(
            "y must contain at least 2 samples of each class for a bootstrap, but class "
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


Folds = Iterable[tuple[np.ndarray, np.ndarray]]
"""The (train, test) indices of each fold."""


class KeptFolds(Sequence):
    """The (train, test) indices of each fold, in little more memory than the test sets.

    A training set is not stored if it is in ascending order and the complement of its test set.
    Leave-one-out therefore stores n numbers, not n^2.
    """

    def __init__(self, n_samples: int, folds: Folds) -> None:
        self.n_samples = n_samples
        self.parts = [_compact(n_samples, train, test) for train, test in folds]

    @classmethod
    def join(cls, draws: Iterable[KeptFolds]) -> KeptFolds:
        """Return the folds of several draws as one sequence."""
        first, *others = draws
        joined = cls(first.n_samples, [])
        joined.parts = sum((draw.parts for draw in others), first.parts)
        return joined

    @property
    def tests(self) -> list[np.ndarray]:
        """The test set of each fold."""
        return [test for _, test in self.parts]

    def __len__(self) -> int:
        return len(self.parts)

    def __getitem__(self, fold: Any) -> Any:
        train, test = self.parts[fold]
        return np.delete(np.arange(self.n_samples), test) if train is None else train, test


def fold_plan(n_samples: int, folds: Folds, n_repeats: int = 0) -> ResamplingPlan:
    """Plan of one fit for each (training indices, test indices) of a scikit-learn splitter.

    With `n_repeats`, the folds of the repeats follow each other, and each fold counts separately.
    """
    kept = (folds if isinstance(folds, KeptFolds) else KeptFolds(n_samples, folds)).parts
    if not kept:
        raise ValueError("cv must yield at least one pair (train, test), got none.")

    def draw(fold: int) -> PlanBlock:
        train, test = kept[fold]
        tested = np.zeros((1, n_samples), dtype=bool)
        tested[0, test] = True
        # no training rows are stored if they are the complement of the test set
        if train is None:
            return PlanBlock((~tested).astype(np.int8), tested)
        return PlanBlock(np.bincount(train, minlength=n_samples)[None], tested, rows=[train])

    if not n_repeats:
        return ResamplingPlan(n_samples, len(kept), draw)
    n_folds = len(kept) // n_repeats
    return ResamplingPlan(n_samples, len(kept), draw, single_fits=True, n_folds=n_folds)


def fold_indices(n_samples: int, part: str, rows: Any) -> np.ndarray:
    """Return the rows of a fold, which are indices or a boolean mask, as indices."""
    rows = np.asarray(rows)
    if rows.dtype.kind == "b" and rows.shape == (n_samples,):
        rows = np.flatnonzero(rows)
    if rows.dtype.kind not in "iu" or rows.ndim != 1 or not rows.size:
        raise ValueError(
            f"cv must yield non-empty {part} sets, as integer indices or boolean masks "
            f"of length {n_samples}, got shape {rows.shape} and dtype {rows.dtype}."
        )
    if rows.min() < 0 or rows.max() >= n_samples:
        raise ValueError(
            f"cv must yield {part} indices from 0 to {n_samples - 1}, "
            f"got {rows.min()} to {rows.max()}."
        )
    return rows


def _compact(n_samples: int, train: Any, test: Any) -> tuple[np.ndarray | None, np.ndarray]:
    # no sample may be tested twice, or trained on and tested
    train, test = fold_indices(n_samples, "train", train), fold_indices(n_samples, "test", test)
    if np.bincount(test).max() > 1:
        raise ValueError("cv must yield test sets without repeated samples, got a sample twice.")
    trained = np.zeros(n_samples, dtype=bool)
    trained[train] = True
    both = test[trained[test]]
    if both.size:
        raise ValueError(
            f"cv must yield training and test sets without common samples, got sample {both[0]} "
            "in both. resubstitution_error computes the training error."
        )
    # the complement of a test set need not be stored
    ascending = bool(np.all(train[1:] > train[:-1]))
    if ascending and len(train) + len(test) == n_samples:
        return None, test
    # indices of the smallest type
    return train.astype(np.min_scalar_type(n_samples)), test


def deal_folds(
    units: SamplingUnits, n_folds: int, n_repeats: int, root: SeedSequence
) -> np.ndarray:
    """Return the fold of each unit in each repeat, shape (n_repeats, n_units)."""
    everything = np.arange(units.n_units)
    rngs = (repetition_rng(root, repeat) for repeat in range(n_repeats))
    return np.stack([units.deal(everything, n_folds, rng) for rng in rngs])


def list_left_out(n_folds: int, *, nested: bool) -> list[tuple[int, ...]]:
    """Return the folds that each fit of a repeat leaves out: one, or if `nested` also two."""
    left_out: list[tuple[int, ...]] = [(k,) for k in range(n_folds)]
    return left_out + list(combinations(range(n_folds), 2)) if nested else left_out


def repeated_folds(
    units: SamplingUnits, n_folds: int, n_repeats: int, root: SeedSequence, *, nested: bool = False
) -> ResamplingPlan:
    """Plan that leaves out each fold of each repeat, and each pair of folds if `nested`.

    A fit without the folds k and l is used for both orders of nesting, that is, l within k and k
    within l.
    """
    folds = deal_folds(units, n_folds, n_repeats, root)
    left_out = list_left_out(n_folds, nested=nested)

    def draw(fit: int) -> PlanBlock:
        repeat, at = divmod(fit, len(left_out))
        # comparisons, because isin would cost as much as a small fit
        fold_of_sample = folds[repeat][units.unit]
        test = np.logical_or.reduce([fold_of_sample == fold for fold in left_out[at]])
        return PlanBlock((~test).astype(np.intp)[None], test[None])

    n_fits, n_folds = n_repeats * len(left_out), len(left_out)
    return ResamplingPlan(len(units.unit), n_fits, draw, single_fits=True, n_folds=n_folds)


def subsamples(
    units: SamplingUnits, n_test: int, n_repeats: int, root: SeedSequence
) -> ResamplingPlan:
    """Plan that tests on a random part and trains on the rest."""
    everything = np.arange(units.n_units)

    def draw(fit: int) -> PlanBlock:
        test = units.mask(units.spread(everything, repetition_rng(root, fit))[:n_test])[None]
        return PlanBlock((~test).astype(np.intp), test)

    return ResamplingPlan(len(units.unit), n_repeats, draw, single_fits=True)


DEFAULT_FOLDS, LARGE, FOLDS_OF_LARGE = 10, 5000, 5
"""Number of folds, and number for the main estimate with more than `LARGE` samples."""


class StratifiedDealer:
    """Folds of a stratified splitter for the same labels in another order.

    They equal the folds of scikit-learn, whose checks of the labels take longer than the folds
    themselves. The folds of the members of a class depend only on the seed and the sizes of the
    classes, in order of appearance.
    """

    def __init__(self, splitter: Any, sizes: np.ndarray) -> None:
        self.n_folds, self.shuffle = splitter.n_splits, splitter.shuffle
        self.random_state, self.sizes = splitter.random_state, sizes
        self._dealt: dict[bytes, list[np.ndarray]] = {}

    def __call__(self, codes: np.ndarray) -> np.ndarray:
        """Return the samples that each fold tests, shape (n_folds, n_samples)."""
        # deal the members of each class, in the order in which classes appear
        appearance = np.argsort(np.unique(codes, return_index=True)[1])
        fold = np.empty(len(codes), dtype=np.intp)
        for code, folds in zip(appearance, self._deal(appearance), strict=True):
            fold[codes == code] = folds
        return np.asarray(fold == np.arange(self.n_folds)[:, None])

    def _deal(self, appearance: np.ndarray) -> list[np.ndarray]:
        """Return the folds of the members of each class."""
        # folds with a seed, or without shuffling, are made once
        again = not self.shuffle or isinstance(self.random_state, Integral)
        if again and appearance.tobytes() in self._dealt:
            return self._dealt[appearance.tobytes()]
        # every n_folds-th sample of the sorted labels decides the fraction of a class in each fold
        ranked = np.repeat(np.arange(len(appearance)), self.sizes[appearance])
        shares = [np.bincount(ranked[i :: self.n_folds]) for i in range(self.n_folds)]
        dealt = [np.arange(self.n_folds).repeat(share) for share in np.transpose(shares)]
        if self.shuffle:
            rng = check_random_state(self.random_state)
            for folds in dealt:
                rng.shuffle(folds)
        self._dealt = {**self._dealt, appearance.tobytes(): dealt} if again else {}
        return dealt


def make_dealer(splitter: Any, target: Target) -> StratifiedDealer | None:
    """Return a fast version of a stratified splitter, or None if there is none."""
    if type(splitter) is not sk.StratifiedKFold or target.classes is None:
        return None
    dealer = StratifiedDealer(splitter, np.bincount(target.codes))
    # the splitter itself warns about smaller classes, or raises
    return dealer if dealer.sizes.min() >= dealer.n_folds else None


def splits_by_position(splitter: Any) -> bool:
    """Whether a splitter makes the same folds for all labels."""
    if type(splitter) not in (sk.KFold, sk.RepeatedKFold, sk.ShuffleSplit, sk.LeaveOneOut):
        return False
    shuffles = type(splitter) is not sk.LeaveOneOut and getattr(splitter, "shuffle", True)
    return not shuffles or isinstance(splitter.random_state, Integral)


def make_permutation_plan(
    cv: Any,
    X: Any,
    target: Target,
    order_of: Callable[[int], np.ndarray],
    n_permutations: int,
    random_state: RandomStateLike,
    *,
    in_time: bool = False,
) -> ResamplingPlan:
    """Plan with the observed labels, then with the permutation ``order_of(r)`` of repetition `r`.

    Folds in time order raise an error unless the permutations are valid for series (`in_time`).
    """
    # labels may only be shuffled if samples are exchangeable
    groups = target.groups
    splitter = resolve_splitter(cv, target, groups, random_state)
    if isinstance(splitter, BalancedFolds):  # folds that balance the true labels alone
        splitter = splitter.ignore_target()
    if not in_time:
        drawn = cv is None or isinstance(cv, Integral) or hasattr(cv, "get_n_splits")
        if keeps_order(splitter, [] if drawn else list(splitter.split(X))):
            raise ValueError(
                "cv must shuffle the samples, because labels in time order are not exchangeable. "
                "For a time series, pass exchange='blocks', exchange='rotations' if the labels "
                "are stationary, or your own permutations=."
            )
    unpermuted = np.arange(len(target))
    n_folds = splitter.get_n_splits(X, target.y, groups)
    # folds that do not depend on the labels are made once
    if splits_by_position(splitter):
        splitter = sk.check_cv(list(split_samples(splitter, X, target, None)))
    # folds stratified by the permuted labels
    deal = make_dealer(splitter, target) if groups is None else None
    planned: dict[tuple[int, ...], tuple[list, PlanBlock]] = {}
    one_label = False  # of all samples of a group
    if groups is not None:
        number = np.unique(groups, return_inverse=True)[1].reshape(-1)
        pairs = np.unique(np.column_stack([number, target.codes]), axis=0)
        one_label = len(pairs) == number.max() + 1

    def find_folds(labels: np.ndarray) -> PlanBlock:
        folds = list(_split_quietly(splitter, X, labels, groups))
        key = tuple(map(id, chain.from_iterable(folds)))
        if key not in planned:  # folds from the user are the same arrays for each permutation
            planned.clear()
            plan = fold_plan(len(target), folds)
            # with labels exchanged within groups the test is valid for any folds
            for fold, (train, test) in enumerate(folds if one_label else []):
                check_whole_groups(fold, train, test, groups)
            planned[key] = folds, concatenate_blocks([plan.draw(f) for f in range(len(folds))])
        return planned[key][1]

    def draw(repetition: int) -> PlanBlock:
        # the first draw has the observed labels
        order = order_of(repetition - 1) if repetition else unpermuted
        if deal is not None:
            tested = deal(target.codes[order])
            orders = np.broadcast_to(order, tested.shape)
            return PlanBlock((~tested).astype(np.int8), tested, orders)
        folds = find_folds(target.y[order])
        orders = np.broadcast_to(order, (len(folds), len(order)))
        return replace(folds, order=orders)

    return ResamplingPlan(len(target), 1 + n_permutations, draw, n_folds)


def resolve_folds(
    cv: Any, X: Any, target: Target, groups: Any, random_state: RandomStateLike
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the (train, test) indices of each fold of `cv`."""
    return split_samples(resolve_splitter(cv, target, groups, random_state), X, target, groups)


def split_samples(
    splitter: Any, X: Any, target: Target, groups: Any
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the (train, test) indices of each fold.

    Raise an error if a fold splits a group, or lacks a class because rows are sorted by class.
    """
    n = len(target)
    # samples sorted by class, without the splitters of series, whose order has a meaning
    is_sorted = target.n_classes == 1 + np.count_nonzero(target.codes[1:] != target.codes[:-1])
    is_sorted &= groups is None and not isinstance(splitter, sk.TimeSeriesSplit)
    for fold, (train, test) in enumerate(_split_quietly(splitter, X, target.y, groups)):
        train, test = fold_indices(n, "train", train), fold_indices(n, "test", test)
        check_whole_groups(fold, train, test, groups)
        absent = np.setdiff1d(target.codes[test], target.codes[train]) if is_sorted else test[:0]
        # a contiguous test set holds all samples of a class
        if absent.size and np.ptp(test) == len(test) - 1:
            raise ValueError(
                f"cv must train on all classes, but class {target.decode(absent).tolist()[0]!r} "
                f"is absent from the training samples of fold {fold}, because the rows are sorted "
                "by y and the folds are not shuffled. Pass StratifiedKFold() or "
                "KFold(shuffle=True)."
            )
        yield train, test


def check_whole_groups(fold: int, train: np.ndarray, test: np.ndarray, groups: Any) -> None:
    """Raise an error if a group has samples in both the training set and the test set of a fold."""
    if groups is None:
        return
    groups = np.asarray(groups)
    split = groups[test][np.isin(groups[test], groups[train])]
    if split.size:
        raise ValueError(
            f"cv must not split groups: group {split[0]!s} has samples in both the training set "
            f"and the test set of fold {fold}. Use a number of folds (cv=5), GroupKFold, "
            "StratifiedGroupKFold or, in time order, GroupTimeSeriesSplit(other_groups=True). "
            "Leave out groups= only if samples of a group are independent."
        )


def _split_quietly(splitter: Any, X: Any, y: Any, groups: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the folds without the warning that groups are ignored."""
    if isinstance(splitter, GroupTimeSeriesSplit):
        check_rows_in_order(splitter, X)
    splits = None
    while True:
        with ignored_warnings(UserWarning, "The groups parameter is ignored"):
            splits = iter(splitter.split(X, y, groups)) if splits is None else splits
            fold = next(splits, None)
        if fold is None:
            return
        yield fold


def make_repeated_plan(
    cv: Any, n_repeats: int, X: Any, target: Target, groups: Any, random_state: RandomStateLike
) -> tuple[ResamplingPlan, np.ndarray]:
    """Return the folds of all repeats as one plan, and the repeat of each fold.

    Raise an error if there are several repeats and `cv` cannot be shuffled again.
    """
    n_repeats = check_count("n_repeats", n_repeats)
    if n_repeats > 1 and not isinstance(cv, Integral):
        raise ValueError(f"cv must be a number of folds if n_repeats={n_repeats}, got {cv!r}.")
    folds, repeat_of = draw_repeats(cv, n_repeats, X, target, groups, random_state)
    if len(folds) < 2:
        raise ValueError(f"cv must make at least two folds, got {len(folds)}.")
    return fold_plan(len(target), folds), np.array(repeat_of)


def draw_repeats(
    cv: Any, n_repeats: int, X: Any, target: Target, groups: Any, random_state: RandomStateLike
) -> tuple[list[tuple[np.ndarray, np.ndarray]], list[int]]:
    """Return the folds of all repeats, without identical repeats, and the repeat of each fold.

    Folds of single groups or single samples are always the same. Their repeats would count as new
    evidence.
    """
    # each repeat shuffles its folds with a seed of its own
    root, seen = root_seed(random_state), set()
    folds, repeat_of = [], []
    for repeat in range(n_repeats):
        drawn = list(resolve_folds(cv, X, target, groups, repetition_rng(root, repeat)))
        partition = frozenset(np.asarray(test).tobytes() for _, test in drawn)
        if partition not in seen:
            folds += drawn
            repeat_of += [repeat] * len(drawn)
        seen.add(partition)
    return folds, repeat_of


def keeps_order(splitter: Any, folds: Sequence[tuple[np.ndarray, np.ndarray]]) -> bool:
    """Whether the test samples of all folds come after the training samples, as in time series.

    A single split of this form may be a test set at the end of a file.
    """
    if isinstance(splitter, sk.TimeSeriesSplit):
        return True
    return len(folds) > 1 and all(_follows(train, test) for train, test in folds)


def _follows(train: Any, test: Any) -> bool:
    """Whether all test rows are indices after all training rows."""
    parts = [np.asarray(part) for part in (train, test)]
    before, after = (np.flatnonzero(part) if part.dtype.kind == "b" else part for part in parts)
    if not all(part.size and part.dtype.kind in "iu" for part in (before, after)):
        return False
    return bool(before.max() < after.min())


def resolve_splitter(cv: Any, target: Target, groups: Any, random_state: RandomStateLike) -> Any:
    """Return the splitter of an argument `cv`."""
    if isinstance(cv, type):
        raise ValueError(f"cv must be an instance, such as {cv.__name__}(), got the class itself.")
    if cv is None or isinstance(cv, Integral):
        n_folds = default_folds(target, groups) if cv is None else check_count("cv", cv, 2)
        return make_splitter(n_folds, target, groups, random_state)
    # the training sets must leave out the groups of the test set
    if type(cv) is sk.TimeSeriesSplit and groups is not None:
        return GroupTimeSeriesSplit(
            cv.n_splits,
            max_train_size=cv.max_train_size,
            test_size=cv.test_size,
            gap=cv.gap,
            other_groups=True,
        )
    return cv if hasattr(cv, "get_n_splits") else sk.check_cv(read_splits(cv))


def choose_time_folds(cv: Any, times: np.ndarray, target: Target) -> Any:
    """Return folds that test later times than they train on, without their groups.

    None means all folds that train on two classes, up to the default number. Samples of the same
    time are not separated.
    """
    if cv is not None and not isinstance(cv, Integral):
        return cv
    groups, most = target.groups, folds_for(len(times))
    make = partial(GroupTimeSeriesSplit, time=times, other_groups=groups is not None)
    for n_folds in range(most, 2, -1) if cv is None else ():
        with suppress(ValueError):  # too few times, or no group is left to train on
            trained = [train for train, _ in make(n_folds).split(times, groups=groups)]
            n_classes = [len(np.unique(target.codes[train])) for train in trained]
            if target.classes is None or min(n_classes) > 1:
                return make(n_folds)
    return make(2 if cv is None else check_count("cv", cv, 2))


def deals_at_random(splitter: Any) -> bool:
    """Whether a splitter assigns samples, or the groups passed to it, to its parts at random."""
    return hasattr(splitter, "random_state") and bool(getattr(splitter, "shuffle", True))


def draws_anew(splitter: Any) -> bool:
    """Whether a splitter makes different folds with another seed."""
    return deals_at_random(splitter) and hasattr(splitter, "shuffle")


def seed_splitter(splitter: Any, root: SeedSequence, draw: int = 0) -> Any:
    """Return a splitter with a seed for one of several draws.

    The first draw uses the splitter's own seed, if it has one.
    """
    if not deals_at_random(splitter):
        return splitter
    if draw == 0 and isinstance(splitter.random_state, Integral):
        return splitter
    seeded = copy(splitter)
    seeded.random_state = int(child_seed(root, draw).generate_state(1)[0])
    return seeded


def part_repeats(tests: Sequence[np.ndarray], n_samples: int) -> list[Sequence[np.ndarray]] | None:
    """Return the test sets of each repeat, or None if the splits are not repeats.

    The test sets of a repeat have no sample in common. Every repeat has the same number of test
    sets and the same samples.
    """
    # the first repeat ends where a sample is tested again
    covered = np.zeros(n_samples, dtype=bool)
    n_folds = 0
    for test in tests:
        if covered[test].any():
            break
        covered[test] = True
        n_folds += 1
    # every repeat must test the same samples in as many folds
    repeats = [tests[start : start + n_folds] for start in range(0, len(tests), n_folds)]
    for repeat in repeats[1:]:
        counts = np.bincount(np.concatenate(repeat), minlength=n_samples)
        if len(repeat) != n_folds or not np.array_equal(counts, covered):
            return None
    return repeats


def number_kept_together(repeats: Iterable[Sequence[np.ndarray]], n_samples: int) -> np.ndarray:
    """Return a number for each sample, equal for samples that no test set separates.

    The test sets of a repeat have no sample in common.
    """
    unit = np.zeros(n_samples, dtype=np.intp)
    for tests in repeats:
        fold = np.zeros(n_samples, dtype=np.intp)
        for number, test in enumerate(tests, start=1):
            fold[test] = number
        # samples stay together if all repeats so far put them into the same test set
        unit = np.unique(unit * (len(tests) + 1) + fold, return_inverse=True)[1].reshape(-1)
    return unit


def folds_for(n_samples: int) -> int:
    """Return the number of folds of the main estimate, if no class or group limits it."""
    return FOLDS_OF_LARGE if n_samples > LARGE else DEFAULT_FOLDS


def default_folds(target: Target, groups: Any) -> int:
    """Return the number of folds for ``cv=None``, 10, or the largest possible number.

    The largest class must have at least this number of members, or groups. For example, ten groups
    with one class each, five for each class, give five folds, because each of ten folds would lack
    one class.
    """
    codes = np.zeros(len(target), dtype=np.intp) if target.classes is None else target.codes
    if groups is None:
        return max(2, min(DEFAULT_FOLDS, int(np.bincount(codes).max())))
    # a class counts once in each of its groups
    labels, numbers = np.unique(np.asarray(groups), return_inverse=True)
    pairs = np.unique(codes * len(labels) + numbers.reshape(-1))
    return max(2, min(DEFAULT_FOLDS, int(np.bincount(pairs // len(labels)).max())))


def limit_folds(cv: Any, codes: np.ndarray) -> Any:
    """Return valid folds. Return fewer, with a warning, if the smallest class is too small."""
    if not isinstance(cv, Integral):
        return cv if cv is None or hasattr(cv, "get_n_splits") else read_splits(cv)
    check_count("cv", cv, 2)
    smallest = int(np.bincount(codes).min())
    if cv <= smallest or smallest < 2:
        return cv
    warn_user(f"cv={cv} exceeds the {smallest} samples of a class, so {smallest} folds are used.")
    return smallest


SPLITTERS = (
    *("KFold()", "StratifiedKFold()", "GroupKFold()", "LeaveOneOut()", "LeaveOneGroupOut()"),
    *("TimeSeriesSplit()", "ShuffleSplit()"),
)
"""Splitters of scikit-learn that a name may mean."""


def read_splits(cv: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the splits of an iterable of (train, test), at least one."""
    wanted = "cv must be a number of folds, a splitter, or an iterable of (train, test) indices"
    try:
        splits = [(np.asarray(train), np.asarray(test)) for train, test in cv]
    except (TypeError, ValueError) as error:
        # guess what the user meant
        hint = suggest(cv, SPLITTERS)
        if isinstance(cv, Real) and 0 < float(cv) < 1:
            hint = f" (did you mean ShuffleSplit(test_size={cv:g})?)"
        elif str(cv).removesuffix(".0").isdigit():
            hint = f" (did you mean {str(cv).removesuffix('.0')}?)"
        raise ValueError(f"{wanted}, got {cv!r}{hint}.") from error
    if not splits:
        raise ValueError("cv must yield at least one pair (train, test), got none.")
    return splits


class FilledGroupFolds(sk.StratifiedGroupKFold):
    """Stratified folds of whole groups, unless a fold is empty, as may happen with few groups.

    In this case, the folds are not stratified, but have similar numbers of samples.
    """

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Any]:
        """Yield the indices of the training and the test samples of each fold."""
        folds = list(super().split(X, y, groups))
        if not all(len(test) for _, test in folds):
            even = sk.GroupKFold(self.n_splits, shuffle=True, random_state=self.random_state)
            folds = list(even.split(X, y, groups))
        yield from folds


class BalancedFolds(sk.KFold):
    """Folds of sampling units that balance several labels."""

    def __init__(self, n_splits: int, units: SamplingUnits, random_state: int) -> None:
        super().__init__(n_splits, shuffle=True, random_state=random_state)
        self.units = units

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Any]:
        """Yield the indices of the training and the test samples of each fold."""
        rng = np.random.default_rng(self.random_state)
        fold = self.units.deal(np.arange(self.units.n_units), self.n_splits, rng)[self.units.unit]
        for k in range(self.n_splits):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)

    def ignore_target(self) -> sk.BaseCrossValidator:
        """Return folds that do not depend on the target."""
        plain = sk.GroupKFold if self.units.clustered else sk.KFold
        return plain(self.n_splits, shuffle=True, random_state=self.random_state)


def make_splitter(
    n_folds: int, target: Target, groups: Any, random_state: RandomStateLike
) -> sk.BaseCrossValidator:
    """Return shuffled folds, stratified by the target and never splitting a group."""
    # enough groups or samples for the folds
    seed = int(root_seed(random_state).generate_state(1)[0])
    if groups is not None and (n_groups := len(np.unique(groups))) < n_folds:
        raise ValueError(f"cv={n_folds} folds need at least {n_folds} groups, got {n_groups}.")
    if target.classes is None:
        if groups is None and len(target) < n_folds:
            raise ValueError(f"cv={n_folds} folds need {n_folds} samples, got {len(target)}.")
        if target.output_classes:
            return BalancedFolds(n_folds, units_of(target, groups), seed)
        plain = sk.KFold if groups is None else sk.GroupKFold
        return plain(n_folds, shuffle=True, random_state=seed)
    n = np.bincount(target.codes).max()
    if n < n_folds:
        raise ValueError(
            f"cv={n_folds} folds need a class with at least {n_folds} samples, but the largest "
            f"has {n}. Use fewer folds, or LeaveOneOut()."
        )
    # classes are spread over the folds
    splitter = sk.StratifiedKFold if groups is None else FilledGroupFolds
    return splitter(n_folds, shuffle=True, random_state=seed)
