"""Plans of resamples of a sample, and of resamples of its resamples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.random import Generator, SeedSequence

from skeval._resampling.cases import Cases
from skeval._resampling.plan import PlanBlock, ResamplingPlan
from skeval._resampling.schemes import Scheme, child_seed
from skeval._resampling.target import Target
from skeval._resampling.units import MAX_TRIES, explain_no_draw
from skeval.utils._seeds import repetition_rng

__all__ = ["BootstrapScheme", "DrawnSample", "bootstrap_scheme"]


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
