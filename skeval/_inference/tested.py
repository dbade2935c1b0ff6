"""Losses of tested samples: their mean, its variance, and how many samples they are worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Tested",
    "concatenate_tested",
    "design_effect",
    "mean_loss",
    "n_units",
    "variance_of_mean",
    "worth",
]

Floats = NDArray[np.float64]


class Tested(NamedTuple):
    """Losses of tested samples.

    Attributes
    ----------
    losses : ndarray of shape (n,)
    weight : ndarray of shape (n,) or None
        None where all samples weigh the same.
    unit : int ndarray of shape (n,) or None
        The group of each sample; None where samples are independent.
    """

    losses: Floats
    weight: Floats | None = None
    unit: NDArray[np.intp] | None = None


def concatenate_tested(parts: Sequence[Tested]) -> Tested:
    """Return the losses of several test sets as one."""
    losses, weights, units = zip(*parts, strict=True)
    weight = None if weights[0] is None else np.concatenate(weights)
    unit = None if units[0] is None else np.concatenate(units)
    return Tested(np.concatenate(losses), weight, unit)


def mean_loss(tested: Tested) -> float:
    """Return the weighted mean."""
    if tested.weight is None:
        return float(tested.losses.mean())
    return float(np.average(tested.losses, weights=tested.weight))


def n_units(tested: Tested) -> int:
    """Return the number of samples or groups."""
    return len(tested.losses) if tested.unit is None else len(np.unique(tested.unit))


def worth(tested: Tested) -> float:
    """Return how many samples of equal weight say as much, ``(sum w)^2 / sum w^2``."""
    if tested.weight is None:
        return float(len(tested.losses))
    return float(tested.weight.sum() ** 2 / np.sum(tested.weight**2))


def variance_of_mean(tested: Tested) -> float:
    """Return ``G/(G-1) sum_g (sum_{i in g} w_i (e_i - mean))^2 / (sum w)^2``; nan for one unit.

    With `n` samples of equal weight it is ``var(e, ddof=1) / n``; with groups it is CR1, the
    sandwich of clustered samples.
    """
    weight = np.ones(len(tested.losses)) if tested.weight is None else tested.weight
    residuals = weight * (tested.losses - mean_loss(tested)) / weight.sum()
    if tested.unit is not None:
        residuals = np.bincount(np.unique(tested.unit, return_inverse=True)[1], residuals)
    n = len(residuals)
    return float(n / (n - 1) * np.sum(residuals**2)) if n > 1 else np.nan


def design_effect(parts: Sequence[Tested]) -> float:
    """Return how much larger groups and weights make the variance of means, on average.

    It is 1 without both.
    """
    if parts[0].weight is None and parts[0].unit is None:
        return 1.0
    real = np.nanmean([variance_of_mean(part) for part in parts])
    plain = np.nanmean([variance_of_mean(Tested(part.losses)) for part in parts])
    return float(real / plain) if plain > 0 else 1.0
