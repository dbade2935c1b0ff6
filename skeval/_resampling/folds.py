"""Folds: what an argument `cv` means, and the plan of fitting each training part once.

Schemes are plans whose fits have names, of units that are dealt out whole. Units are samples, or
groups of them, dealt so that classes are spread evenly. The schemes are repeated and nested folds,
subsamples, halves, replacements, and bootstraps within bootstraps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import chain, combinations
from numbers import Integral
from typing import Any

import numpy as np
from numpy.random import Generator, SeedSequence
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

from skeval._resampling.plan import PlanBlock, ResamplingPlan, concatenate_blocks
from skeval._resampling.task import Cases, Target, Task
from skeval._resampling.units import MAX_TRIES, explain_no_draw
from skeval.utils import _checks
from skeval.utils._checks import RandomStateLike

__all__ = [
    "DEFAULT_FOLDS",
    "BootstrapScheme",
    "FoldScheme",
    "Folds",
    "RepeatedScheme",
    "Scheme",
    "bootstrap_scheme",
    "check_repeats",
    "deals_at_random",
    "default_folds",
    "draws_anew",
    "fold_indices",
    "fold_plan",
    "fold_scheme",
    "given_scheme",
    "halves_scheme",
    "keeps_order",
    "limit_folds",
    "make_permutation_plan",
    "make_repeated_plan",
    "number_kept_together",
    "part_repeats",
    "replacement_scheme",
    "resolve_folds",
    "resolve_splitter",
    "seed_splitter",
    "subsample_scheme",
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


def make_permutation_plan(
    splitter: Any, task: Task, order_of: Callable[[int], np.ndarray], n_permutations: int
) -> ResamplingPlan:
    """Split and order: repetition 0 is the observed labels, `r` is permutation ``r - 1``."""
    X, target, groups = task.X, task.target, task.groups
    unpermuted = np.arange(len(target))
    n_folds = splitter.get_n_splits(X, target.y, groups)
    if splits_by_position(splitter):
        splitter = check_cv(list(splitter.split(X)))
    deal = make_dealer(splitter, target) if groups is None else None
    planned: dict[tuple[int, ...], tuple[list, PlanBlock]] = {}

    def find_folds(labels: np.ndarray) -> PlanBlock:
        folds = list(splitter.split(X, labels, groups))
        key = tuple(map(id, chain.from_iterable(folds)))
        if key not in planned:  # Folds given once as arrays come back as the same arrays.
            planned.clear()
            plan = fold_plan(len(target), folds)
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
        return PlanBlock(folds.train, folds.test, orders)

    return ResamplingPlan(len(target), 1 + n_permutations, draw, n_folds)


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
        n_folds = default_folds(target, groups) if cv is None else _checks.check_count("cv", cv, 2)
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
    seeded.random_state = int(_checks.child_seed(root, draw).generate_state(1)[0])
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
    """Return the number of folds for ``cv=None``: 10, or as many as can be made.

    A class must have as many members, or groups that hold it. Of ten groups of one class each, five
    of each, five folds are made, for more would leave out one class and not the other.
    """
    codes = np.zeros(len(target), dtype=np.intp) if target.classes is None else target.codes
    if groups is not None:
        numbers = np.unique(groups, return_inverse=True)[1]
        codes = np.unique(np.column_stack([codes, numbers.reshape(-1)]), axis=0)[:, 0]
    return max(2, min(DEFAULT_FOLDS, int(np.bincount(codes).max())))


def limit_folds(cv: Any, codes: np.ndarray) -> Any:
    """Return `cv`, with a warning fewer folds where the smallest class has too few members."""
    smallest = int(np.bincount(codes).min())
    if not isinstance(cv, Integral) or cv <= smallest or smallest < 2:
        return cv
    _checks.warn_user(
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
    splitter = StratifiedKFold if groups is None else StratifiedGroupKFold
    return splitter(n_folds, shuffle=True, random_state=seed)


Parts = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Scheme:
    """A plan of which each repetition is one fit.

    Attributes
    ----------
    plan : ResamplingPlan
    describe : callable
        ``describe(fit)`` says which fit it is, for an error.
    """

    plan: ResamplingPlan
    describe: Callable[[int], str]


@dataclass(frozen=True, eq=False)
class RepeatedScheme(Scheme):
    """Fits repeat by repeat.

    Attributes
    ----------
    n_folds : int
        Number of fits of a repeat.
    is_cut : bool
        Whether repeats were left out for want of time.
    """

    n_folds: int
    is_cut: bool = field(default=False, kw_only=True)

    @property
    def n_repeats(self) -> int:
        """Number of repeats."""
        return self.plan.n_fits // self.n_folds

    def parts(self) -> Iterator[RepeatedScheme]:
        """Yield each repeat as a scheme of its own."""
        for start in range(0, self.plan.n_fits, self.n_folds):
            yield self._take(start, self.n_folds)

    def cut_to(self, n_repeats: int) -> RepeatedScheme:
        """Return the first repeats."""
        if n_repeats == self.n_repeats:
            return self
        return replace(self._take(0, n_repeats * self.n_folds), is_cut=True)

    def _take(self, start: int, n_fits: int) -> RepeatedScheme:
        """Return some of the fits, from one on."""
        plan = self.plan

        def draw(fit: int) -> PlanBlock:
            return plan.draw(start + fit)

        taken = ResamplingPlan(plan.n_samples, n_fits, draw, weighted=plan.weighted)
        return RepeatedScheme(taken, lambda fit: self.describe(start + fit), self.n_folds)


@dataclass(frozen=True, eq=False)
class FoldScheme(RepeatedScheme):
    """Repeated folds.

    Attributes
    ----------
    folds : int ndarray of shape (n_repeats, n_units)
        Fold of each unit.
    left_out : list of tuple of int
        The folds that the fits of a repeat leave out and are tested on: each fold alone, and
        then, where they are nested, each pair of folds.
    """

    folds: np.ndarray
    left_out: list[tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class ReplacementScheme(Scheme):
    """Folds of all units, folds of a half of them, and these with each unit replaced in turn.

    Attributes
    ----------
    n_folds, n_half : int
        Number of folds, and of units in the half. There are ``n_half + 2`` cross-validations.
    """

    n_folds: int
    n_half: int


def unit_plan(cases: Cases, n_fits: int, parts: Callable[[int], Parts]) -> ResamplingPlan:
    """Train on some units, test on others: ``parts(fit)`` names both."""

    def draw(fit: int) -> PlanBlock:
        train, test = parts(fit)
        return PlanBlock(cases.mask(train).astype(np.intp)[None], cases.mask(test)[None])

    return ResamplingPlan(len(cases.unit), n_fits, draw)


def fold_scheme(
    cases: Cases, n_folds: int, n_repeats: int, root: SeedSequence, *, nested: bool = False
) -> FoldScheme:
    """Leave out each fold of each repeat; each two folds as well where they are nested.

    A fit without the folds k and l serves both orders of nesting, l within k and k within l.
    """
    everything = np.arange(cases.n_units)
    folds = np.stack(
        [cases.deal(everything, n_folds, _checks.repetition_rng(root, r)) for r in range(n_repeats)]
    )
    left_out: list[tuple[int, ...]] = [(k,) for k in range(n_folds)]
    if nested:
        left_out += combinations(range(n_folds), 2)

    def parts(fit: int) -> Parts:
        repeat, at = divmod(fit, len(left_out))
        tested = folds[repeat] == left_out[at][0]
        for fold in left_out[at][1:]:
            tested |= folds[repeat] == fold
        return np.flatnonzero(~tested), np.flatnonzero(tested)

    def describe(fit: int) -> str:
        repeat, at = divmod(fit, len(left_out))
        names = " and ".join(str(k + 1) for k in left_out[at])
        return f"without fold{'s' * (len(left_out[at]) - 1)} {names} of repeat {repeat + 1}"

    plan = unit_plan(cases, n_repeats * len(left_out), parts)
    return FoldScheme(plan, describe, len(left_out), folds, left_out)


def given_scheme(n_samples: int, folds: Sequence[Parts], n_repeats: int) -> RepeatedScheme:
    """Fit on the training part of each fold that was given, repeat after repeat."""
    n_folds = len(folds) // n_repeats

    def describe(fit: int) -> str:
        repeat, fold = divmod(fit, n_folds)
        return f"of fold {fold + 1}" + (f" of repeat {repeat + 1}" if n_repeats > 1 else "")

    return RepeatedScheme(fold_plan(n_samples, folds), describe, n_folds)


def subsample_scheme(cases: Cases, n_test: int, n_repeats: int, root: SeedSequence) -> Scheme:
    """Test on a random part, train on the rest."""
    everything = np.arange(cases.n_units)

    def parts(fit: int) -> Parts:
        order = cases.spread(everything, _checks.repetition_rng(root, fit))
        return order[n_test:], order[:n_test]

    plan = unit_plan(cases, n_repeats, parts)
    return Scheme(plan, lambda fit: f"in subsampling {fit + 1}")


def halves_scheme(
    cases: Cases, n_test: int, n_repeats: int, n_pairs: int, root: SeedSequence
) -> Scheme:
    """Draw subsamplings of all units, then of both halves in each of several random divisions.

    The fits are (n_repeats,) of all units, and (n_pairs, 2, n_repeats) of the halves. Test sets
    are of the same size in all of them.
    """
    whole = subsample_scheme(cases, n_test, n_repeats, _checks.child_seed(root, 0))
    everything, h = np.arange(cases.n_units), cases.n_units // 2
    halving, within = _checks.child_seed(root, 1), _checks.child_seed(root, 2)
    halves = []
    for pair in range(n_pairs):
        order = cases.spread(everything, _checks.repetition_rng(halving, pair))
        halves += [order[:h], order[h : 2 * h]]

    def draw(fit: int) -> PlanBlock:
        if fit < n_repeats:
            return whole.plan.draw(fit)
        return of_halves.draw(fit - n_repeats)

    def parts(fit: int) -> Parts:
        order = cases.spread(halves[fit // n_repeats], _checks.repetition_rng(within, fit))
        return order[n_test:], order[:n_test]

    def describe(fit: int) -> str:
        half, repeat = divmod(fit - n_repeats, n_repeats)
        if half < 0:
            return whole.describe(fit)
        return f"in subsampling {repeat + 1} of half {half % 2 + 1} of division {half // 2 + 1}"

    of_halves = unit_plan(cases, len(halves) * n_repeats, parts)
    n_fits = n_repeats * (1 + len(halves))
    return Scheme(ResamplingPlan(len(cases.unit), n_fits, draw), describe)


def replacement_scheme(cases: Cases, n_folds: int, root: SeedSequence) -> ReplacementScheme:
    """Fold all units; fold one half, and again with its i-th unit replaced by one of the other."""
    whole = fold_scheme(cases, n_folds, 1, _checks.child_seed(root, 0))
    rng, h = _checks.repetition_rng(root, 1), cases.n_units // 2
    order = cases.spread(np.arange(cases.n_units), rng)
    half, others = order[:h], rng.permutation(order[h : 2 * h])
    fold = cases.deal(half, n_folds, rng)

    def draw(fit: int) -> PlanBlock:
        return whole.plan.draw(fit) if fit < n_folds else of_half.draw(fit - n_folds)

    def parts(fit: int) -> Parts:
        replaced, k = divmod(fit, n_folds)
        units = half.copy()
        if replaced:
            units[replaced - 1] = others[replaced - 1]
        return units[fold != k], units[fold == k]

    def describe(fit: int) -> str:
        replaced, k = divmod(fit - n_folds, n_folds)
        if replaced < 0:
            return f"without fold {fit + 1}"
        exchanged = f" with {cases.name[:-1]} {replaced} replaced" if replaced else ""
        return f"without fold {k + 1} of one half{exchanged}"

    of_half = unit_plan(cases, (h + 1) * n_folds, parts)
    plan = ResamplingPlan(len(cases.unit), (h + 2) * n_folds, draw)
    return ReplacementScheme(plan, describe, n_folds, h)


@dataclass(frozen=True, eq=False)
class DrawnSample:
    """A sample to resample: the data, or a resample of them whose repeats are cases of their own.

    Attributes
    ----------
    rows : int ndarray of shape (n_cases,)
        Row of the data that each case repeats.
    unit : int ndarray of shape (n_cases,)
        Unit that each case is drawn with.
    n_units : int
    """

    rows: np.ndarray
    unit: np.ndarray
    n_units: int


@dataclass(frozen=True, eq=False)
class Resampler:
    """Draws samples, and resamples of them; degenerate ones are drawn again."""

    cases: Cases
    target: Target
    root: SeedSequence

    @cached_property
    def members(self) -> list[np.ndarray]:
        """The rows of each unit."""
        order = np.argsort(self.cases.unit, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.cases.unit))[:-1])

    def sample(self, number: int) -> DrawnSample:
        """Return the data themselves (number 0), or a resample of them."""
        n, members = self.cases.n_units, self.members
        rng = _checks.repetition_rng(_checks.child_seed(self.root, number), 0)
        for _ in range(MAX_TRIES):
            units = rng.integers(0, n, n) if number else np.arange(n)
            rows = np.concatenate([members[u] for u in units])
            if not number or self.has_classes(rows):
                sizes = [len(members[u]) for u in units]
                return DrawnSample(rows, np.repeat(np.arange(n), sizes), n)
        raise ValueError(explain_no_draw(self.target.classes, self.target.codes))

    def counts(self, number: int, resample: int, sample: DrawnSample) -> np.ndarray:
        """Return how often a resample holds each case of a sample, shape (n_cases,)."""
        rng = _checks.repetition_rng(_checks.child_seed(self.root, number), 1 + resample)
        for _ in range(MAX_TRIES):
            counts = draw_counts(rng, sample.n_units)[sample.unit]
            if not counts.all() and self.has_classes(sample.rows[counts > 0]):
                return counts
        raise ValueError(explain_no_draw(self.target.classes, self.target.codes))

    def has_classes(self, rows: np.ndarray) -> bool:
        """Whether some rows hold two classes, where there are classes."""
        codes = self.target.codes[rows]
        return self.target.classes is None or bool(np.any(codes != codes[0]))


def draw_counts(rng: Generator, n_units: int) -> np.ndarray:
    """Return how often a resample holds each unit."""
    return np.bincount(rng.integers(0, n_units, n_units), minlength=n_units)


@dataclass(frozen=True, eq=False)
class BootstrapScheme(Scheme):
    """Fits of samples and of their resamples, all tested on every row of the sample.

    Attributes
    ----------
    resampler : Resampler
    n_resamples : list of int
        Number of resamples of each sample, the data first. A sample has one fit more: its own.
    """

    resampler: Resampler
    n_resamples: list[int]


def bootstrap_scheme(
    cases: Cases, target: Target, n_resamples: list[int], root: SeedSequence
) -> BootstrapScheme:
    """Fit each sample, and so many resamples of it."""
    resampler, n = Resampler(cases, target, root), len(target)
    last_sample = lru_cache(1)(resampler.sample)  # its fits are drawn one after another
    starts = np.cumsum([0] + [1 + b for b in n_resamples])

    def locate(fit: int) -> tuple[int, int]:
        number = int(np.searchsorted(starts, fit, side="right")) - 1
        return number, int(fit - starts[number]) - 1

    def draw(fit: int) -> PlanBlock:
        number, resample = locate(fit)
        sample = last_sample(number)
        counts = np.ones(len(sample.rows), dtype=np.intp)
        if resample >= 0:
            counts = resampler.counts(number, resample, sample)
        train, test = np.zeros(n, dtype=np.intp), np.zeros(n, dtype=bool)
        np.add.at(train, sample.rows, counts)
        test[sample.rows] = True
        return PlanBlock(train[None], test[None])

    def describe(fit: int) -> str:
        number, resample = locate(fit)
        name = f"of resample {number}" if number else "of the data"
        return f"in resample {resample + 1} {name}" if resample >= 0 else f"in the fit {name}"

    plan = ResamplingPlan(n, int(starts[-1]), draw)
    return BootstrapScheme(plan, describe, resampler, n_resamples)
