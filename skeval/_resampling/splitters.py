"""Splits of an argument `cv`, and the plans that fit each training set once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from itertools import chain
from numbers import Integral
from typing import Any

import numpy as np
from numpy.random import SeedSequence
from sklearn.model_selection import (
    BaseCrossValidator,
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    check_cv,
)
from sklearn.utils import check_random_state

from skeval._inference.errors import unique_rows
from skeval._resampling.inputs import Inputs
from skeval._resampling.plans import PlanBlock, ResamplingPlan, concatenate_blocks
from skeval._resampling.target import Target
from skeval.utils import _checks
from skeval.utils._checks import RandomStateLike, ignored_warnings

DEFAULT_FOLDS = 10

Folds = Iterable[tuple[np.ndarray, np.ndarray]]
"""The (train, test) indices of each fold."""


class KeptFolds(Sequence):
    """The (train, test) indices of each fold, in little more memory than the test sets.

    A training set in ascending order that is the complement of its test set is not stored, so
    leave-one-out takes n numbers, not n^2.
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


def fold_plan(n_samples: int, folds: Folds) -> ResamplingPlan:
    """One fit for each (training indices, test indices), as a scikit-learn splitter yields them."""
    kept = (folds if isinstance(folds, KeptFolds) else KeptFolds(n_samples, folds)).parts
    if not kept:
        raise ValueError("cv must yield at least one pair (train, test), got none.")

    def draw(fold: int) -> PlanBlock:
        train, test = kept[fold]
        tested = np.zeros((1, n_samples), dtype=bool)
        tested[0, test] = True
        if train is None:
            return PlanBlock((~tested).astype(np.intp), tested)
        return PlanBlock(np.bincount(train, minlength=n_samples)[None], tested, rows=[train])

    return ResamplingPlan(n_samples, len(kept), draw)


class StratifiedDealer:
    """Folds of a stratified splitter for the same labels in another order.

    They equal the folds of scikit-learn, whose checks of the labels take longer than the folds
    themselves. The folds of the members of a class depend only on the sizes of the classes, in
    order of appearance, and on the seed.
    """

    def __init__(self, splitter: Any, sizes: np.ndarray) -> None:
        repeated = type(splitter) is RepeatedStratifiedKFold
        self.n_repeats = splitter.n_repeats if repeated else 1
        self.n_folds = splitter.cvargs["n_splits"] if repeated else splitter.n_splits
        self.shuffle = repeated or splitter.shuffle
        self.random_state = splitter.random_state
        self.sizes = sizes
        self._dealt: dict[bytes, list[list[np.ndarray]]] = {}

    def __call__(self, codes: np.ndarray) -> np.ndarray:
        """Return the samples that each fold tests, shape (n_repeats * n_folds, n_samples)."""
        appearance = np.argsort(np.unique(codes, return_index=True)[1])
        fold = np.empty((self.n_repeats, len(codes)), dtype=np.intp)
        for repeat, of_class in zip(fold, self._deal(appearance), strict=True):
            for code, folds in zip(appearance, of_class, strict=True):
                repeat[codes == code] = folds
        tested: np.ndarray = fold[:, None] == np.arange(self.n_folds)[:, None]
        return tested.reshape(-1, len(codes))

    def _deal(self, appearance: np.ndarray) -> list[list[np.ndarray]]:
        """Return, repeat by repeat, the folds of the members of each class."""
        again = not self.shuffle or isinstance(self.random_state, Integral)
        if again and appearance.tobytes() in self._dealt:
            return self._dealt[appearance.tobytes()]
        # every n_folds-th sample of the sorted labels decides the share of a class in each fold
        ranked = np.repeat(np.arange(len(appearance)), self.sizes[appearance])
        shares = [np.bincount(ranked[i :: self.n_folds]) for i in range(self.n_folds)]
        rng = check_random_state(self.random_state) if self.shuffle else None
        dealt = []
        for _ in range(self.n_repeats):
            of_class = [np.arange(self.n_folds).repeat(share) for share in np.transpose(shares)]
            for folds in of_class:
                if rng is not None:
                    rng.shuffle(folds)
            dealt.append(of_class)
        self._dealt = {**self._dealt, appearance.tobytes(): dealt} if again else {}
        return dealt


def make_dealer(splitter: Any, target: Target) -> StratifiedDealer | None:
    """Return a fast version of a stratified splitter, or None if there is none."""
    if type(splitter) not in (StratifiedKFold, RepeatedStratifiedKFold) or target.classes is None:
        return None
    dealer = StratifiedDealer(splitter, np.bincount(target.codes))
    # the splitter itself warns about smaller classes, or raises
    return dealer if dealer.sizes.min() >= dealer.n_folds else None


def splits_by_position(splitter: Any) -> bool:
    """Whether a splitter makes the same folds for all labels."""
    if type(splitter) not in (KFold, RepeatedKFold, ShuffleSplit, LeaveOneOut):
        return False
    shuffles = type(splitter) is not LeaveOneOut and getattr(splitter, "shuffle", True)
    return not shuffles or isinstance(splitter.random_state, Integral)


def make_permutation_plan(
    cv: Any,
    inputs: Inputs,
    order_of: Callable[[int], np.ndarray],
    n_permutations: int,
    random_state: RandomStateLike,
    *,
    in_time: bool = False,
) -> ResamplingPlan:
    """Cross-validate the observed labels, then the permutation ``order_of(r)`` of repetition `r`.

    Folds in time order raise an error unless the permutations are valid for series (`in_time`).
    """
    X, target, groups = inputs.X, inputs.target, inputs.groups
    splitter = resolve_splitter(cv, target, groups, random_state)
    if not in_time:
        drawn = cv is None or isinstance(cv, Integral) or hasattr(cv, "get_n_splits")
        if keeps_order(splitter, [] if drawn else list(splitter.split(X))):
            raise ValueError(
                "cv keeps the order of the samples, and similar labels of neighboring samples are "
                "not exchangeable: shuffling single labels makes P-values too small. Give "
                "exchange='blocks', 'rotations' if the series of labels is stationary, or "
                "permutations= of your own."
            )
    unpermuted = np.arange(len(target))
    n_folds = splitter.get_n_splits(X, target.y, groups)
    # folds that do not depend on the labels are made once
    if splits_by_position(splitter):
        splitter = check_cv(list(splitter.split(X)))
    deal = make_dealer(splitter, target) if groups is None else None
    planned: dict[tuple[int, ...], tuple[list, PlanBlock]] = {}
    one_label = False  # of all samples of a group
    if groups is not None:
        number = np.unique(groups, return_inverse=True)[1].reshape(-1)
        pairs = np.unique(np.column_stack([number, unique_rows(target.y)[1]]), axis=0)
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
        order = order_of(repetition - 1) if repetition else unpermuted
        if deal is not None:
            tested = deal(target.codes[order])
            orders = np.broadcast_to(order, tested.shape)
            return PlanBlock((~tested).astype(np.intp), tested, orders)
        folds = find_folds(target.y[order])
        orders = np.broadcast_to(order, (len(folds), len(order)))
        return replace(folds, order=orders)

    return ResamplingPlan(len(target), 1 + n_permutations, draw, n_folds)


def fold_indices(n_samples: int, part: str, rows: Any) -> np.ndarray:
    """Return the rows of a fold, which are indices or a boolean mask, as indices."""
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
    both = test[np.isin(test, train, kind="table")]
    if both.size:
        raise ValueError(
            f"cv must yield training and test sets without common samples, got sample {both[0]} in "
            f"both ({both.size} in all): an error on training samples says nothing about new ones. "
            "For the training error use resubstitution_error."
        )
    ascending = bool(np.all(train[1:] > train[:-1]))
    if ascending and len(train) + len(test) == n_samples:
        return None, test
    # indices of the smallest type
    return train.astype(np.min_scalar_type(n_samples)), test


def resolve_folds(
    cv: Any, X: Any, target: Target, groups: Any, random_state: RandomStateLike
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the (train, test) indices of each fold of `cv`."""
    return split_samples(resolve_splitter(cv, target, groups, random_state), X, target, groups)


def split_samples(
    splitter: Any, X: Any, target: Target, groups: Any
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the (train, test) indices of each fold; raise if a fold splits a group."""
    n = len(target)
    for fold, (train, test) in enumerate(_split_quietly(splitter, X, target.y, groups)):
        train, test = fold_indices(n, "train", train), fold_indices(n, "test", test)
        check_whole_groups(fold, train, test, groups)
        yield train, test


def check_whole_groups(fold: int, train: np.ndarray, test: np.ndarray, groups: Any) -> None:
    """Raise if a group has samples in both the training set and the test set of a fold."""
    if groups is None:
        return
    groups = np.asarray(groups)
    split = groups[test][np.isin(groups[test], groups[train])]
    if split.size:
        raise ValueError(
            f"cv must not split groups: group {split[0]!s} has samples in both the training set "
            f"and the test set of fold {fold}, so the error would be too low. Use a number of "
            "folds (cv=5), GroupKFold or StratifiedGroupKFold; leave out groups= only if its "
            "samples are independent."
        )


def _split_quietly(splitter: Any, X: Any, y: Any, groups: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the folds without the warning that groups are ignored: `split_samples` checks them."""
    splits = None
    while True:
        with ignored_warnings(UserWarning, "The groups parameter is ignored"):
            splits = iter(splitter.split(X, y, groups)) if splits is None else splits
            fold = next(splits, None)
        if fold is None:
            return
        yield fold


def check_repeats(cv: Any, n_repeats: int) -> int:
    """Return the number of repeats; raise if `cv` cannot be shuffled again."""
    n_repeats = _checks.check_count("n_repeats", n_repeats)
    if n_repeats > 1 and not isinstance(cv, Integral):
        raise ValueError(
            f"n_repeats={n_repeats} needs cv to be a number of folds, which are shuffled anew; got "
            f"{cv!r}."
        )
    return n_repeats


def make_repeated_plan(
    cv: Any, n_repeats: int, X: Any, target: Target, groups: Any, random_state: RandomStateLike
) -> tuple[ResamplingPlan, np.ndarray]:
    """Return the folds of all repeats as one plan, and the repeat of each fold."""
    root = _checks.root_seed(random_state)
    folds, repeat_of = [], []
    for repeat in range(n_repeats):
        drawn = list(resolve_folds(cv, X, target, groups, _checks.repetition_rng(root, repeat)))
        folds += drawn
        repeat_of += [repeat] * len(drawn)
    if len(folds) < 2:
        raise ValueError(f"cv must make at least two folds, got {len(folds)}.")
    return fold_plan(len(target), folds), np.array(repeat_of)


def keeps_order(splitter: Any, folds: Sequence[tuple[np.ndarray, np.ndarray]]) -> bool:
    """Whether the test samples of all folds come after the training samples, as in time series.

    A single split of this form may be a plain test set at the end of a file.
    """
    if isinstance(splitter, TimeSeriesSplit):
        return True
    return len(folds) > 1 and all(_follows(train, test) for train, test in folds)


def _follows(train: Any, test: Any) -> bool:
    """Whether the test rows come after the training rows; False if they are not row indices."""
    parts = [np.asarray(part) for part in (train, test)]
    before, after = (np.flatnonzero(part) if part.dtype.kind == "b" else part for part in parts)
    if not all(part.size and part.dtype.kind in "iu" for part in (before, after)):
        return False
    return bool(before.max() < after.min())


def resolve_splitter(cv: Any, target: Target, groups: Any, random_state: RandomStateLike) -> Any:
    """Return the splitter of an argument `cv`."""
    if cv is None or isinstance(cv, Integral):
        n_folds = default_folds(target, groups) if cv is None else _checks.check_count("cv", cv, 2)
        return make_splitter(n_folds, target, groups, random_state)
    return cv if hasattr(cv, "get_n_splits") else check_cv(read_splits(cv))


def deals_at_random(splitter: Any) -> bool:
    """Whether a splitter assigns samples, or the groups passed to it, to its parts at random."""
    return hasattr(splitter, "random_state") and bool(getattr(splitter, "shuffle", True))


def draws_anew(splitter: Any) -> bool:
    """Whether a splitter makes one set of folds, and another one with another seed."""
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
    seeded.random_state = int(_checks.child_seed(root, draw).generate_state(1)[0])
    return seeded


def part_repeats(tests: Sequence[np.ndarray], n_samples: int) -> list[Sequence[np.ndarray]] | None:
    """Return the test sets of each repeat, or None if the splits are not repeats.

    The test sets of a repeat have no sample in common; every repeat has the same number of test
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
        pair = unit * (len(tests) + 1) + fold
        unit = np.unique(pair, return_inverse=True)[1].reshape(-1)
    return unit


def default_folds(target: Target, groups: Any) -> int:
    """Return the number of folds for ``cv=None``: 10, or the largest possible number.

    The largest class must have at least this number of members, or groups. Ten groups with one
    class each, five of each class, give five folds, since each of ten folds would lack one class.
    """
    codes = np.zeros(len(target), dtype=np.intp) if target.classes is None else target.codes
    if groups is not None:
        labels, numbers = np.unique(groups, return_inverse=True)
        if len(labels) < len(codes):
            # a class counts once in each of its groups
            codes = np.unique(np.column_stack([codes, numbers.reshape(-1)]), axis=0)[:, 0]
    return max(2, min(DEFAULT_FOLDS, int(np.bincount(codes).max())))


def limit_folds(cv: Any, codes: np.ndarray) -> Any:
    """Return `cv`; warn and return fewer folds if the smallest class has too few members."""
    smallest = int(np.bincount(codes).min())
    if not isinstance(cv, Integral) or cv <= smallest or smallest < 2:
        return cv
    _checks.warn_user(
        f"cv={cv} needs {cv} members of each class, the smallest class has {smallest}: "
        f"{smallest} folds are made."
    )
    return smallest


def read_splits(cv: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the splits of an iterable of (train, test), at least one."""
    wanted = "cv must be a number of folds, a splitter, or an iterable of (train, test) indices"
    try:
        splits = [(np.asarray(train), np.asarray(test)) for train, test in cv]
    except (TypeError, ValueError) as error:
        raise ValueError(f"{wanted}, got {cv!r}.") from error
    if not splits:
        raise ValueError("cv must yield at least one pair (train, test), got none.")
    return splits


class FilledGroupFolds(StratifiedGroupKFold):
    """Stratified folds of whole groups, unless one is empty, as may happen with few groups.

    The folds then have similar numbers of samples.
    """

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Any]:
        """Yield the indices of the training and the test samples of each fold."""
        folds = list(super().split(X, y, groups))
        if not all(len(test) for _, test in folds):
            even = GroupKFold(self.n_splits, shuffle=True, random_state=self.random_state)
            folds = list(even.split(X, y, groups))
        yield from folds


def make_splitter(
    n_folds: int, target: Target, groups: Any, random_state: RandomStateLike
) -> BaseCrossValidator:
    """Return shuffled folds, stratified by class and never splitting a group."""
    seed = int(_checks.root_seed(random_state).generate_state(1)[0])
    if groups is not None and len(np.unique(groups)) < n_folds:
        raise ValueError(
            f"cv={n_folds} folds need at least {n_folds} groups, got {len(np.unique(groups))}."
        )
    if target.classes is None:
        if groups is None and len(target) < n_folds:
            raise ValueError(f"cv={n_folds} folds need {n_folds} samples, got {len(target)}.")
        if groups is None:
            return KFold(n_folds, shuffle=True, random_state=seed)
        return GroupKFold(n_folds, shuffle=True, random_state=seed)
    largest = np.bincount(target.codes).max()
    if largest < n_folds:
        raise ValueError(
            f"cv={n_folds} folds need a class of at least {n_folds} members, the largest has "
            f"{largest}."
        )
    splitter = StratifiedKFold if groups is None else FilledGroupFolds
    return splitter(n_folds, shuffle=True, random_state=seed)
