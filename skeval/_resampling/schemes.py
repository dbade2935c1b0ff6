"""Plans whose fits have names: repeated and nested folds, subsamples, halves, replacements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.random import SeedSequence

from skeval._resampling.cases import Cases
from skeval._resampling.folds import fold_plan
from skeval._resampling.plan import PlanBlock, ResamplingPlan
from skeval.utils._seeds import repetition_rng

__all__ = [
    "FoldScheme",
    "RepeatedScheme",
    "ReplacementScheme",
    "Scheme",
    "child_seed",
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
    """

    n_folds: int

    @property
    def n_repeats(self) -> int:
        """Number of repeats."""
        return self.plan.n_fits // self.n_folds


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


def child_seed(root: SeedSequence, use: int) -> SeedSequence:
    """Return the root of one of several uses of a root."""
    return SeedSequence(root.entropy, spawn_key=(*root.spawn_key, use))


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
