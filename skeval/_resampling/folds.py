"""Folds: what an argument `cv` means, and the plan of fitting each training part once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
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

from skeval._resampling.plan import PlanBlock, ResamplingPlan
from skeval._resampling.task import Target
from skeval.utils._checks import (
    RandomStateLike,
    check_count,
    child_seed,
    repetition_rng,
    root_seed,
    warn_user,
)

__all__ = [
    "DEFAULT_FOLDS",
    "Folds",
    "check_repeats",
    "deals_at_random",
    "default_folds",
    "draws_anew",
    "fold_indices",
    "fold_plan",
    "keeps_order",
    "limit_folds",
    "make_dealer",
    "make_repeated_plan",
    "number_kept_together",
    "part_repeats",
    "resolve_folds",
    "resolve_splitter",
    "seed_splitter",
    "splits_by_position",
]

DEFAULT_FOLDS = 10

Folds = Iterable[tuple[np.ndarray, np.ndarray]]
"""The (train, test) indices of each fold."""


def fold_plan(n_samples: int, folds: Folds) -> ResamplingPlan:
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


class StratifiedDealer:
    """The folds that a stratified splitter makes of the same labels in another order.

    They are those of scikit-learn, which checks the labels again for each split, and takes longer
    for it than for the folds: the members of a class, in order, are in folds that depend on the
    sizes of the classes, in order of appearance, and on the seed.
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
    """Return what deals permuted labels as a splitter does, None where only it can do so."""
    if type(splitter) not in (StratifiedKFold, RepeatedStratifiedKFold) or target.classes is None:
        return None
    dealer = StratifiedDealer(splitter, np.bincount(target.codes))
    # It warns of smaller classes, or raises.
    return dealer if dealer.sizes.min() >= dealer.n_folds else None


def splits_by_position(splitter: Any) -> bool:
    """Whether a splitter makes the same folds again whatever the labels are."""
    if type(splitter) not in (KFold, RepeatedKFold, ShuffleSplit, LeaveOneOut):
        return False
    shuffles = type(splitter) is not LeaveOneOut and getattr(splitter, "shuffle", True)
    return not shuffles or isinstance(splitter.random_state, Integral)


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


def resolve_folds(
    cv: Any, X: Any, target: Target, groups: Any, random_state: RandomStateLike
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the (train, test) indices that an argument `cv` means."""
    splitter, n = resolve_splitter(cv, target, groups, random_state), len(target)
    for train, test in splitter.split(X, target.y, groups):
        yield fold_indices(n, "train", train), fold_indices(n, "test", test)


def check_repeats(cv: Any, n_repeats: int) -> int:
    """Return the number of repeats; raise where `cv` cannot be shuffled anew."""
    n_repeats = check_count("n_repeats", n_repeats)
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
    root = root_seed(random_state)
    folds, repeat_of = [], []
    for repeat in range(n_repeats):
        drawn = list(resolve_folds(cv, X, target, groups, repetition_rng(root, repeat)))
        folds += drawn
        repeat_of += [repeat] * len(drawn)
    if len(folds) < 2:
        raise ValueError(f"cv must make at least two folds, got {len(folds)}.")
    return fold_plan(len(target), folds), np.array(repeat_of)


def keeps_order(splitter: Any, folds: Sequence[tuple[np.ndarray, np.ndarray]]) -> bool:
    """Whether folds test only what comes after all that they train on, as those of time series do.

    One such split may be a plain test set at the end of a file; of several that is no accident.
    """
    if isinstance(splitter, TimeSeriesSplit):
        return True
    return len(folds) > 1 and all(_follows(train, test) for train, test in folds)


def _follows(train: Any, test: Any) -> bool:
    """Whether the rows of a test come after those of its training; not if they are no rows."""
    parts = [np.asarray(part) for part in (train, test)]
    before, after = (np.flatnonzero(part) if part.dtype.kind == "b" else part for part in parts)
    if not all(part.size and part.dtype.kind in "iu" for part in (before, after)):
        return False
    return bool(before.max() < after.min())


def resolve_splitter(cv: Any, target: Target, groups: Any, random_state: RandomStateLike) -> Any:
    """Return the splitter that an argument `cv` means."""
    if cv is None or isinstance(cv, Integral):
        n_folds = default_folds(target, groups) if cv is None else check_count("cv", cv, 2)
        return make_splitter(n_folds, target, groups, random_state)
    return cv if hasattr(cv, "get_n_splits") else check_cv(read_splits(cv))


def deals_at_random(splitter: Any) -> bool:
    """Whether a splitter deals samples, or the groups that it is handed, to its parts at random."""
    return hasattr(splitter, "random_state") and bool(getattr(splitter, "shuffle", True))


def draws_anew(splitter: Any) -> bool:
    """Whether a splitter makes one set of folds, and another one with another seed."""
    return deals_at_random(splitter) and hasattr(splitter, "shuffle")


def seed_splitter(splitter: Any, root: SeedSequence, draw: int = 0) -> Any:
    """Return a splitter with a seed for one of several draws.

    The first draw is that of the seed which the splitter has, if it has one.
    """
    if not deals_at_random(splitter):
        return splitter
    if draw == 0 and isinstance(splitter.random_state, Integral):
        return splitter
    seeded = copy(splitter)
    seeded.random_state = int(child_seed(root, draw).generate_state(1)[0])
    return seeded


def part_repeats(tests: Sequence[np.ndarray], n_samples: int) -> list[Sequence[np.ndarray]] | None:
    """Return the test sets repeat by repeat, None where they are no repeats of one another.

    The test sets of a repeat have no sample in common, and those of each repeat are as many and
    hold the same samples.
    """
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
    """Return a number for each sample, the same for samples that no test set takes apart.

    The test sets of a repeat have no sample in common.
    """
    unit = np.zeros(n_samples, dtype=np.intp)
    for tests in repeats:
        fold = np.zeros(n_samples, dtype=np.intp)
        for number, test in enumerate(tests, start=1):
            fold[test] = number
        pair = unit * (len(tests) + 1) + fold
        unit = np.unique(pair, return_inverse=True)[1].reshape(-1)
    return unit


def default_folds(target: Target, groups: Any) -> int:
    """Return the number of folds for ``cv=None``: 10, or as many as can be made."""
    most = len(target) if target.classes is None else int(np.bincount(target.codes).max())
    if groups is not None:
        most = min(most, len(np.unique(groups)))
    return max(2, min(DEFAULT_FOLDS, most))


def limit_folds(cv: Any, codes: np.ndarray) -> Any:
    """Return `cv`, with a warning fewer folds where the smallest class has too few members."""
    smallest = int(np.bincount(codes).min())
    if not isinstance(cv, Integral) or cv <= smallest or smallest < 2:
        return cv
    warn_user(
        f"cv={cv} needs {cv} members of each class, the smallest class has {smallest}: "
        f"{smallest} folds are made."
    )
    return smallest


def read_splits(cv: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the splits of an iterable of (train, test), of which there must be one."""
    wanted = "cv must be a number of folds, a splitter, or an iterable of (train, test) indices"
    try:
        splits = [(np.asarray(train), np.asarray(test)) for train, test in cv]
    except (TypeError, ValueError) as error:
        raise ValueError(f"{wanted}, got {cv!r}.") from error
    if not splits:
        raise ValueError("cv must yield at least one pair (train, test), got none.")
    return splits


def make_splitter(
    n_folds: int, target: Target, groups: Any, random_state: RandomStateLike
) -> BaseCrossValidator:
    """Return shuffled folds, stratified by class and never splitting a group."""
    seed = int(root_seed(random_state).generate_state(1)[0])
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
    splitter = StratifiedKFold if groups is None else StratifiedGroupKFold
    return splitter(n_folds, shuffle=True, random_state=seed)
