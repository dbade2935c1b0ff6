"""Sampling units: samples, groups or blocks of time, resampled and counted as a whole."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any

import numpy as np

from skeval._inference.intervals import Codes
from skeval._resampling.target import Target
from skeval.utils._checks import check_groups, number_groups


class UnitKind(Enum):
    """Kinds of sampling units."""

    SAMPLE = auto()
    GROUP = auto()
    FOLD = auto()
    TIME_BLOCK = auto()

    @property
    def label(self) -> str:
        """Plural for sentences; no computation depends on it."""
        return LABELS[self]


LABELS = {
    UnitKind.SAMPLE: "samples",
    UnitKind.GROUP: "groups",
    UnitKind.FOLD: "folds",
    UnitKind.TIME_BLOCK: "blocks of time",
}


@dataclass(frozen=True, eq=False)
class SamplingUnits:
    """Units that are assigned to folds, halves and resamples as a whole.

    Attributes
    ----------
    unit : int ndarray of shape (n_samples,)
        Unit of each sample, numbered from 0 in the order of their first samples.
    stratum : int ndarray of shape (n_units,)
        Class of each unit (of a group, its most frequent one), numbered like units; 0 for numbers.
    n_groups : int or None
        Number of groups; None if each sample is a unit.
    kind : UnitKind
        A unit of kind FOLD is a set of samples that no fold from the user splits. A unit of kind
        SAMPLE is a sample, or its predictions by several models.
    crossed : int ndarray of shape (n_samples, n_kinds) or None
        Crossed groups, a column for each kind; the units are the groups of the smallest kind.
    """

    unit: np.ndarray
    stratum: np.ndarray
    n_groups: int | None = None
    kind: UnitKind = UnitKind.GROUP
    crossed: np.ndarray | None = None

    @property
    def n_units(self) -> int:
        """Number of units."""
        return len(self.stratum)

    def __post_init__(self) -> None:
        if self.n_groups is None:
            object.__setattr__(self, "kind", UnitKind.SAMPLE)

    def mask(self, units: np.ndarray) -> np.ndarray:
        """Return which samples belong to some units, shape (n_samples,)."""
        chosen = np.zeros(self.n_units, dtype=bool)
        chosen[units] = True
        return chosen[self.unit]

    def deal(self, units: np.ndarray, n_folds: int, rng: np.random.Generator) -> np.ndarray:
        """Return a fold for each of some units, dealt in turn, class after class."""
        # shuffle within classes, then deal class after class
        order = np.lexsort([rng.random(len(units)), self.stratum[units]])
        fold = np.empty(len(units), dtype=np.intp)
        fold[order] = np.arange(len(units)) % n_folds
        return fold

    def spread(self, units: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return some units in a random order with balanced classes in every interval.

        The units of a class are shuffled and placed at equal distances from a random start.
        """
        stratum, place = self.stratum[units], np.empty(len(units))
        for s in np.unique(stratum):
            members = np.flatnonzero(stratum == s)
            place[members] = (rng.permutation(len(members)) + rng.random()) / len(members)
        return units[np.argsort(place, kind="stable")]


def units_of(target: Target, groups: np.ndarray | None = None) -> SamplingUnits:
    """Return the samples of a target, or their groups, as units."""
    classes = np.zeros(len(target), dtype=np.intp)
    if target.classes is not None:
        classes = number_by_appearance(target.codes)
    elif target.output_classes:
        classes = number_by_appearance(find_rarest_labels(target.codes))
    if groups is None:
        return SamplingUnits(np.arange(len(target)), classes)
    crossed = None
    if groups.ndim == 2:
        # folds keep the groups of the smallest kind together
        crossed, groups = groups, groups[:, groups.max(axis=0).argmin()]
    unit = number_by_appearance(groups)
    n_groups = int(unit.max()) + 1
    if n_groups < 2:
        raise ValueError(f"groups must hold at least two groups, got one: {groups.tolist()[0]!r}.")
    # the stratum of a group is its most frequent class
    members = np.zeros((n_groups, int(classes.max()) + 1), dtype=np.intp)
    np.add.at(members, (unit, classes), 1)
    return SamplingUnits(unit, members.argmax(axis=1), n_groups, crossed=crossed)


def find_rarest_labels(codes: np.ndarray) -> np.ndarray:
    """Return the rarest label that each sample has, as a number; 0 for a sample without any.

    Folds stratified by it balance the labels, the rarest first.
    """
    # rank labels by frequency; a sample gets its rarest one
    held = codes > 0
    rank = np.argsort(np.argsort(held.sum(axis=0), kind="stable"))
    rarest = np.where(held, rank, len(rank)).min(axis=1)
    return np.asarray((rarest + 1) % (len(rank) + 1))


def number_by_appearance(values: np.ndarray) -> np.ndarray:
    """Number the values by their first appearance.

    Random draws then do not depend on the names of classes and groups.
    """
    # small integers need no sort
    if values.dtype.kind not in "iu" or values.min() < 0 or values.max() > len(values):
        values = np.unique(values, return_inverse=True)[1].reshape(-1)
    n = len(values)
    first = np.full(int(values.max()) + 1, n)
    first[values[::-1]] = np.arange(n)[::-1]  # the last assignment wins
    return np.argsort(np.argsort(first))[values]


@dataclass(frozen=True, eq=False)
class DrawingUnits:
    """Units that a bootstrap draws: samples or groups, overall or within strata.

    Attributes
    ----------
    unit : int ndarray of shape (n_samples,)
        The unit that each sample belongs to, numbered from 0.
    strata : tuple of int ndarray
        The units of each stratum.
    n_groups : int or None
        Number of groups; None if units are samples.
    crossed : tuple of DrawingUnits
        Groups of the other kinds, which have more groups.
    """

    unit: np.ndarray
    strata: tuple[np.ndarray, ...]
    n_groups: int | None = None
    crossed: tuple[DrawingUnits, ...] = ()

    @property
    def codes(self) -> Codes:
        """Group of each sample; for crossed groups a column for each kind."""
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
        """Return how often one resample contains each sample, shape (n_samples,).

        Each kind of crossed groups is drawn independently, and the number of a sample is the
        product of the numbers of its groups (the pigeonhole bootstrap of Owen 2007).
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
    """Units whose predictions are exchanged with probability one half."""

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Return whether each sample is exchanged."""
        exchanged: np.ndarray = rng.integers(0, 2, self.n_units)[self.unit]
        return exchanged


def drawing_units(
    n_samples: int, codes: np.ndarray | None, groups: Any, *, crossed: bool = False
) -> DrawingUnits:
    """Return the units of a bootstrap: samples, samples within classes (`codes`), or groups.

    Groups may be `crossed` if no model is trained on the resamples.
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
