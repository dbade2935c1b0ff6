"""Units that are dealt out whole, and plans of them whose fits have names.

Units are samples, or groups of them, dealt so that classes are spread evenly. The plans are
repeated and nested folds, subsamples, halves, replacements, and bootstraps within bootstraps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import combinations

import numpy as np
from numpy.random import Generator, SeedSequence

from skeval._resampling.folds import fold_plan
from skeval._resampling.plan import PlanBlock, ResamplingPlan
from skeval._resampling.task import Cases, Target
from skeval._resampling.units import MAX_TRIES, explain_no_draw
from skeval.utils._checks import child_seed, repetition_rng

__all__ = [
    "BootstrapScheme",
    "FoldScheme",
    "RepeatedScheme",
    "Scheme",
    "bootstrap_scheme",
    "fold_scheme",
    "given_scheme",
    "halves_scheme",
    "replacement_scheme",
    "subsample_scheme",
]


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
        [cases.deal(everything, n_folds, repetition_rng(root, r)) for r in range(n_repeats)]
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
        order = cases.spread(everything, repetition_rng(root, fit))
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
    whole = subsample_scheme(cases, n_test, n_repeats, child_seed(root, 0))
    everything, h = np.arange(cases.n_units), cases.n_units // 2
    halving, within = child_seed(root, 1), child_seed(root, 2)
    halves = []
    for pair in range(n_pairs):
        order = cases.spread(everything, repetition_rng(halving, pair))
        halves += [order[:h], order[h : 2 * h]]

    def draw(fit: int) -> PlanBlock:
        if fit < n_repeats:
            return whole.plan.draw(fit)
        return of_halves.draw(fit - n_repeats)

    def parts(fit: int) -> Parts:
        order = cases.spread(halves[fit // n_repeats], repetition_rng(within, fit))
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
    whole = fold_scheme(cases, n_folds, 1, child_seed(root, 0))
    rng, h = repetition_rng(root, 1), cases.n_units // 2
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
        rng = repetition_rng(child_seed(self.root, number), 0)
        for _ in range(MAX_TRIES):
            units = rng.integers(0, n, n) if number else np.arange(n)
            rows = np.concatenate([members[u] for u in units])
            if not number or self.has_classes(rows):
                sizes = [len(members[u]) for u in units]
                return DrawnSample(rows, np.repeat(np.arange(n), sizes), n)
        raise ValueError(explain_no_draw(self.target.classes, self.target.codes))

    def counts(self, number: int, resample: int, sample: DrawnSample) -> np.ndarray:
        """Return how often a resample holds each case of a sample, shape (n_cases,)."""
        rng = repetition_rng(child_seed(self.root, number), 1 + resample)
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
