"""What a bootstrap draws: samples or groups, plans of their counts, a statistic on resamples."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.random import SeedSequence
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from skeval._inference.intervals import Codes
from skeval._resampling.plan import PlanBlock, ResamplingPlan
from skeval._resampling.task import TooFewMembersError
from skeval.utils._checks import (
    RandomStateLike,
    check_groups,
    number_groups,
    repetition_rng,
    root_seed,
    warn_undefined,
)

__all__ = [
    "MAX_TRIES",
    "DrawingUnits",
    "ExchangedUnits",
    "Statistic",
    "bootstrap_plan",
    "check_class_sizes",
    "drawing_units",
    "explain_no_draw",
    "leave_one_out_values",
    "mean_held",
    "mean_signed",
    "plan_resamples",
    "values_of_draws",
    "values_or_nan",
    "warn_of_undefined",
]

MAX_TRIES = 100


@dataclass(frozen=True, eq=False)
class DrawingUnits:
    """What a bootstrap draws: samples, or groups of them, from the whole or within strata.

    Attributes
    ----------
    unit : int ndarray of shape (n_samples,)
        The unit that each sample belongs to, numbered from 0.
    strata : tuple of int ndarray
        The units of each stratum.
    n_groups : int or None
        Number of groups where units are groups of samples, None where they are samples.
    crossed : tuple of DrawingUnits
        Groups of other kinds, of which there are more.
    """

    unit: np.ndarray
    strata: tuple[np.ndarray, ...]
    n_groups: int | None = None
    crossed: tuple[DrawingUnits, ...] = ()

    @property
    def codes(self) -> Codes:
        """The group of each sample, of crossed ones a column for each kind."""
        if not self.crossed:
            return self.unit
        return np.column_stack([self.unit, *(units.unit for units in self.crossed)])

    @property
    def n_units(self) -> int:
        """Number of units."""
        return sum(len(units) for units in self.strata)

    @property
    def stratum(self) -> np.ndarray:
        """Stratum of each unit, shape (n_units,)."""
        stratum = np.empty(self.n_units, dtype=np.intp)
        for number, units in enumerate(self.strata):
            stratum[units] = number
        return stratum

    @property
    def left_out_probability(self) -> np.ndarray:
        """Probability ``(1 - 1/n)^n`` that a resample leaves each sample out."""
        sizes = np.array([len(units) for units in self.strata])
        return ((1 - 1 / sizes) ** sizes)[self.stratum][self.unit]

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Return how often one resample holds each sample, shape (n_samples,).

        Crossed groups are drawn each by themselves, and a sample is held as often as all of its
        groups together (the pigeonhole bootstrap of Owen 2007).
        """
        counts = np.zeros(self.n_units, dtype=np.intp)
        for units in self.strata:
            drawn = rng.integers(0, len(units), size=len(units))
            counts[units] = np.bincount(drawn, minlength=len(units))
        held: np.ndarray = counts[self.unit]
        for units_of_kind in self.crossed:
            held = held * units_of_kind.draw(rng)
        return held


class ExchangedUnits(DrawingUnits):
    """Draws each unit once or not at all: whether its predictions are exchanged."""

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Return whether each sample is exchanged."""
        exchanged: np.ndarray = rng.integers(0, 2, self.n_units)[self.unit]
        return exchanged


def drawing_units(
    n_samples: int, codes: np.ndarray | None, groups: Any, *, crossed: bool = False
) -> DrawingUnits:
    """Return the units for samples, for classes as strata (`codes` given) or for groups.

    They may be `crossed` where nothing is trained on what is drawn.
    """
    if groups is not None and codes is not None:
        raise ValueError("stratify=True cannot be combined with groups: a group may hold classes.")
    if not crossed:
        groups = check_groups(groups, n_samples)
    numbered = number_groups(groups, n_samples)
    if numbered is not None:
        kinds = [
            DrawingUnits(unit, (np.arange(unit.max() + 1),), int(unit.max()) + 1)
            for unit in numbered.reshape(n_samples, -1).T
        ]
        first, *others = sorted(kinds, key=lambda units: units.n_units)
        return replace(first, crossed=tuple(others))
    if n_samples < 2:
        raise ValueError(f"X must hold at least 2 samples for a bootstrap, got {n_samples}.")
    if codes is None:
        return DrawingUnits(np.arange(n_samples), (np.arange(n_samples),))
    strata = tuple(np.flatnonzero(codes == code) for code in np.unique(codes))
    return DrawingUnits(np.arange(n_samples), strata)


def bootstrap_plan(
    units: DrawingUnits,
    n_resamples: int,
    random_state: RandomStateLike,
    classes: np.ndarray | None = None,
    codes: np.ndarray | None = None,
) -> ResamplingPlan:
    """Train on a resample, test on what it left out.

    A resample that leaves nothing out, or (with `codes`) holds fewer than two classes, is drawn
    again.
    """
    root = root_seed(random_state)

    def draw(repetition: int) -> PlanBlock:
        rng = repetition_rng(root, repetition)
        for n_redrawn in range(MAX_TRIES):
            counts = units.draw(rng)
            if not is_degenerate(counts, codes):
                return PlanBlock(counts[None], counts[None] == 0, None, n_redrawn)
        raise ValueError(explain_no_draw(classes, codes))

    return ResamplingPlan(len(units.unit), n_resamples, draw)


def plan_resamples(
    indices: Any, units: DrawingUnits, codes: np.ndarray | None = None
) -> ResamplingPlan:
    """Train on given resamples, rows of sample indices, that draw groups whole."""
    indices, n_samples = np.asarray(indices), len(units.unit)
    if indices.ndim != 2 or indices.shape[1] != n_samples or not len(indices):
        raise ValueError(
            f"indices must have shape (n_resamples, {n_samples}), got {indices.shape}."
        )
    if indices.dtype.kind not in "iu" or indices.min() < 0 or indices.max() >= n_samples:
        raise ValueError(f"indices must be integers from 0 to {n_samples - 1}.")
    first = np.unique(units.unit, return_index=True)[1][units.unit]
    for row, drawn in enumerate(indices):
        counts = np.bincount(drawn, minlength=n_samples)
        if np.any(counts != counts[first]):
            raise ValueError(
                "indices must draw groups whole where groups are given, each of their samples as "
                f"often as the others; row {row} does not."
            )

    def draw(row: int) -> PlanBlock:
        counts = np.bincount(indices[row], minlength=n_samples)
        if is_degenerate(counts, codes):
            raise ValueError(
                f"indices row {row} must leave a sample out and hold two classes; it does not."
            )
        return PlanBlock(counts[None], counts[None] == 0)

    return ResamplingPlan(n_samples, len(indices), draw)


def check_class_sizes(classes: np.ndarray | None, codes: np.ndarray | None) -> None:
    """Raise unless each class has a second member: left out, a single one is never learnt."""
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


def explain_no_draw(classes: np.ndarray | None, codes: np.ndarray | None) -> str:
    """Say why no resample can be drawn."""
    if codes is None or classes is None:
        return f"no resample left a sample out in {MAX_TRIES} tries: y has too few samples."
    sizes = np.bincount(codes)
    return (
        f"no resample with two classes and a sample left out in {MAX_TRIES} tries: class "
        f"{classes.tolist()[sizes.argmin()]!r} has {sizes.min()} of {sizes.sum()} samples."
    )


Floats = NDArray[np.float64]
Statistic = Callable[[NDArray[np.intp]], float]  # of the indices of a selection of samples
_BLOCK = 100


def values_of_draws(
    compute: Callable[[NDArray[np.intp]], Floats],
    units: DrawingUnits,
    n_resamples: int,
    root: SeedSequence,
    n_jobs: int | None,
) -> Floats:
    """Return what is computed of each resample, a column for each, and nan where it is not finite.

    `compute` takes how often the resample holds each sample and returns a vector.
    """
    starts = range(0, n_resamples, _BLOCK)
    blocks = [range(start, min(start + _BLOCK, n_resamples)) for start in starts]
    jobs = (delayed(_block_values)(compute, units, root, block) for block in blocks)
    values = np.concatenate(list(Parallel(n_jobs=n_jobs)(jobs))).T
    values[~np.isfinite(values)] = np.nan
    return values


def values_or_nan(statistics: Sequence[Statistic], *plan: Any) -> Floats:
    """Return statistics on the same resamples, a row for each, nan where one is undefined.

    `plan` is what `values_of_draws` takes beside its first argument.
    """
    return values_of_draws(partial(_value_each, statistics), *plan)


def mean_held(scores: Floats, weight: Floats | None, counts: NDArray[np.intp]) -> Floats:
    """Return the mean of each row of scores where each sample is held so often."""
    held = counts if weight is None else counts * weight
    with np.errstate(invalid="ignore"):  # of no sample at all there is no mean
        means: Floats = scores @ held / held.sum()
    return means


def mean_signed(differences: Floats, weight: Floats | None, exchanged: NDArray[np.intp]) -> Floats:
    """Return the mean of differences, those of exchanged samples with the other sign."""
    return np.average(differences * (1 - 2 * exchanged), weights=weight, keepdims=True)


def leave_one_out_values(statistic: Statistic, units: DrawingUnits) -> list[Floats]:
    """Return the statistic without each unit, an array for each stratum, where it is defined."""
    values = [
        np.array([_value_or_nan(statistic, np.flatnonzero(units.unit != u)) for u in stratum])
        for stratum in units.strata
    ]
    n_undefined = sum(int(np.isnan(stratum).sum()) for stratum in values)
    if n_undefined:
        warn_undefined(
            f"The metric is undefined without one of the samples or groups, for {n_undefined} of "
            f"{units.n_units}, which are left out of the acceleration of BCa."
        )
    return [stratum[np.isfinite(stratum)] for stratum in values if np.isfinite(stratum).any()]


def warn_of_undefined(values: Floats) -> None:
    """Say on how many resamples the statistic is undefined."""
    n_undefined = int(np.isnan(values).sum())
    if n_undefined:
        warn_undefined(
            f"The metric is undefined on {n_undefined} of {len(values)} resamples, which are left "
            "out; where a class is missing there, strata or more samples of it would help."
        )


def _block_values(
    compute: Callable[[NDArray[np.intp]], Floats],
    units: DrawingUnits,
    root: SeedSequence,
    block: range,
) -> Floats:
    return np.array([compute(units.draw(repetition_rng(root, b))) for b in block], dtype=float)


def _value_each(statistics: Sequence[Statistic], counts: NDArray[np.intp]) -> Floats:
    indices = np.repeat(np.arange(len(counts)), counts)
    return np.array([_value_or_nan(statistic, indices) for statistic in statistics])


def _value_or_nan(statistic: Statistic, indices: NDArray[np.intp]) -> float:
    """Return nan where the metric has no value on a resample although it has one on the data."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        try:
            return statistic(indices)
        except ValueError:
            return np.nan
