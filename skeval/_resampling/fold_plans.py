"""Plans of folds, subsamples and halves; errors name their fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.random import SeedSequence

from skeval._resampling.plans import PlanBlock, ResamplingPlan
from skeval._resampling.sampling_units import SamplingUnits
from skeval._resampling.splitters import fold_plan
from skeval.utils import _checks

Parts = tuple[np.ndarray, np.ndarray]


def unit_plan(
    units: SamplingUnits,
    n_fits: int,
    parts: Callable[[int], Parts],
    describe: Callable[[int], str],
    n_folds: int = 1,
) -> ResamplingPlan:
    """Train on some units, test on others: ``parts(fit)`` names both."""

    def draw(fit: int) -> PlanBlock:
        train, test = parts(fit)
        return PlanBlock(units.mask(train).astype(np.intp)[None], units.mask(test)[None])

    return ResamplingPlan(len(units.unit), n_fits, draw, describe=describe, n_folds=n_folds)


def deal_folds(
    units: SamplingUnits, n_folds: int, n_repeats: int, root: SeedSequence
) -> np.ndarray:
    """Return the fold of each unit in each repeat, shape (n_repeats, n_units)."""
    everything = np.arange(units.n_units)
    rngs = (_checks.repetition_rng(root, repeat) for repeat in range(n_repeats))
    return np.stack([units.deal(everything, n_folds, rng) for rng in rngs])


def list_left_out(n_folds: int, *, nested: bool) -> list[tuple[int, ...]]:
    """Return the folds that each fit of a repeat leaves out: one, and if `nested` also two."""
    left_out: list[tuple[int, ...]] = [(k,) for k in range(n_folds)]
    return left_out + list(combinations(range(n_folds), 2)) if nested else left_out


def repeated_folds(
    units: SamplingUnits, n_folds: int, n_repeats: int, root: SeedSequence, *, nested: bool = False
) -> ResamplingPlan:
    """Leave out each fold of each repeat; if `nested`, also each pair of folds.

    A fit without the folds k and l is used for both orders of nesting, l within k and k within l.
    """
    folds = deal_folds(units, n_folds, n_repeats, root)
    left_out = list_left_out(n_folds, nested=nested)

    def parts(fit: int) -> Parts:
        repeat, at = divmod(fit, len(left_out))
        tested = np.isin(folds[repeat], left_out[at])
        return np.flatnonzero(~tested), np.flatnonzero(tested)

    def describe(fit: int) -> str:
        repeat, at = divmod(fit, len(left_out))
        names = " and ".join(str(k + 1) for k in left_out[at])
        return f"without fold{'s' * (len(left_out[at]) - 1)} {names} of repeat {repeat + 1}"

    return unit_plan(units, n_repeats * len(left_out), parts, describe, len(left_out))


def given_folds(n_samples: int, folds: Sequence[Parts], n_repeats: int) -> ResamplingPlan:
    """Fit on the training part of each fold, repeat after repeat."""
    n_folds = len(folds) // n_repeats

    def describe(fit: int) -> str:
        repeat, fold = divmod(fit, n_folds)
        return f"of fold {fold + 1}" + (f" of repeat {repeat + 1}" if n_repeats > 1 else "")

    return replace(fold_plan(n_samples, folds), describe=describe, n_folds=n_folds)


def subsamples(
    units: SamplingUnits, n_test: int, n_repeats: int, root: SeedSequence
) -> ResamplingPlan:
    """Test on a random part, train on the rest."""
    everything = np.arange(units.n_units)

    def parts(fit: int) -> Parts:
        order = units.spread(everything, _checks.repetition_rng(root, fit))
        return order[n_test:], order[:n_test]

    return unit_plan(units, n_repeats, parts, lambda fit: f"in subsampling {fit + 1}")


def subsamples_of_halves(
    units: SamplingUnits, n_test: int, n_repeats: int, n_pairs: int, root: SeedSequence
) -> ResamplingPlan:
    """Draw subsamplings of all units, then of both halves in each of several random divisions.

    The fits are (n_repeats,) of all units, and (n_pairs, 2, n_repeats) of the halves. Test sets
    are of the same size in all of them.
    """
    # independent seeds for the subsamplings of all units, the divisions, and those of halves
    whole, halving, within = (_checks.child_seed(root, number) for number in range(3))
    everything, h = np.arange(units.n_units), units.n_units // 2
    halves = []
    for pair in range(n_pairs):
        order = units.spread(everything, _checks.repetition_rng(halving, pair))
        halves += [order[:h], order[h : 2 * h]]

    def parts(fit: int) -> Parts:
        drawn, rng = everything, _checks.repetition_rng(whole, fit)
        if fit >= n_repeats:
            drawn = halves[fit // n_repeats - 1]
            rng = _checks.repetition_rng(within, fit - n_repeats)
        order = units.spread(drawn, rng)
        return order[n_test:], order[:n_test]

    def describe(fit: int) -> str:
        half, repeat = divmod(fit - n_repeats, n_repeats)
        name = f"in subsampling {repeat + 1}"
        return name if half < 0 else f"{name} of half {half % 2 + 1} of division {half // 2 + 1}"

    return unit_plan(units, (1 + len(halves)) * n_repeats, parts, describe)
