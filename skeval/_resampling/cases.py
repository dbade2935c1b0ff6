"""What is split: samples, or groups of them, dealt out so that classes are spread evenly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skeval._resampling.target import Target

__all__ = ["Cases", "cases_of", "number_by_appearance"]


@dataclass(frozen=True, eq=False)
class Cases:
    """The units that are folded, halved and drawn whole.

    Attributes
    ----------
    unit : int ndarray of shape (n_samples,)
        Unit of each sample, numbered from 0 in the order of their first samples.
    stratum : int ndarray of shape (n_units,)
        Class of each unit (of a group, its most frequent one), numbered like units; 0 for numbers.
    n_groups : int or None
        Number of groups; None where each sample is a unit.
    kept_by : {"groups", "folds", "samples"}
        What keeps the samples of a unit together: the groups, or the folds that were given, which
        never part them; "samples" where a unit is the answers of several models to one sample.
    """

    unit: np.ndarray
    stratum: np.ndarray
    n_groups: int | None = None
    kept_by: str = "groups"

    @property
    def n_units(self) -> int:
        """Number of units."""
        return len(self.stratum)

    @property
    def name(self) -> str:
        """What the units are called."""
        return "samples" if self.n_groups is None else self.kept_by

    def mask(self, units: np.ndarray) -> np.ndarray:
        """Return which samples belong to some units, shape (n_samples,)."""
        chosen = np.zeros(self.n_units, dtype=bool)
        chosen[units] = True
        return chosen[self.unit]

    def deal(self, units: np.ndarray, n_folds: int, rng: np.random.Generator) -> np.ndarray:
        """Return a fold for each of some units: like cards, class after class."""
        order = np.lexsort([rng.random(len(units)), self.stratum[units]])
        fold = np.empty(len(units), dtype=np.intp)
        fold[order] = np.arange(len(units)) % n_folds
        return fold

    def spread(self, units: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return some units in a random order of which every stretch has its share of classes.

        The units of a class are shuffled and set at equal distances from a random start.
        """
        stratum, place = self.stratum[units], np.empty(len(units))
        for s in np.unique(stratum):
            members = np.flatnonzero(stratum == s)
            place[members] = (rng.permutation(len(members)) + rng.random()) / len(members)
        return units[np.argsort(place, kind="stable")]


def cases_of(target: Target, groups: np.ndarray | None = None) -> Cases:
    """Return the samples of a target, or their groups, as units."""
    classes = np.zeros(len(target), dtype=np.intp)
    if target.classes is not None:
        classes = number_by_appearance(target.codes)
    if groups is None:
        return Cases(np.arange(len(target)), classes)
    unit = number_by_appearance(groups)
    n_groups = int(unit.max()) + 1
    if n_groups < 2:
        raise ValueError(f"groups must hold at least two groups, got one: {groups.tolist()[0]!r}.")
    members = np.zeros((n_groups, int(classes.max()) + 1), dtype=np.intp)
    np.add.at(members, (unit, classes), 1)
    return Cases(unit, members.argmax(axis=1), n_groups)


def number_by_appearance(values: np.ndarray) -> np.ndarray:
    """Return the number of each value in the order in which they first appear.

    So what is drawn does not depend on how classes and groups are called.
    """
    _, first, codes = np.unique(values, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[codes.reshape(-1)]
