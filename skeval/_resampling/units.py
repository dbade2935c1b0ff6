"""Bootstrap resamples: the units that are drawn, and plans of their counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval._resampling.plan import PlanBlock, ResamplingPlan
from skeval.utils._checks import check_groups
from skeval.utils._seeds import RandomStateLike, repetition_rng, root_seed

__all__ = [
    "MAX_TRIES",
    "DrawingUnits",
    "bootstrap_plan",
    "check_class_sizes",
    "drawing_units",
    "explain_no_draw",
    "plan_resamples",
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
    """

    unit: np.ndarray
    strata: tuple[np.ndarray, ...]
    n_groups: int | None = None

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
        """Return how often one resample holds each sample, shape (n_samples,)."""
        counts = np.zeros(self.n_units, dtype=np.intp)
        for units in self.strata:
            drawn = rng.integers(0, len(units), size=len(units))
            counts[units] = np.bincount(drawn, minlength=len(units))
        return counts[self.unit]


def drawing_units(n_samples: int, codes: np.ndarray | None, groups: Any) -> DrawingUnits:
    """Return the units for samples, for classes as strata (`codes` given) or for groups."""
    groups = check_groups(groups, n_samples)
    if groups is not None and codes is not None:
        raise ValueError("stratify=True cannot be combined with groups: a group may hold classes.")
    if groups is not None:
        names, unit = np.unique(groups, return_inverse=True)
        if len(names) < 2:
            raise ValueError(
                f"groups must hold at least two groups, got one: {names.tolist()[0]!r}."
            )
        return DrawingUnits(unit, (np.arange(len(names)),), len(names))
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
        raise ValueError(
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
