"""How many independent samples weighted or grouped samples are worth, for rates and for an area."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["area_error", "class_size", "independent_size"]

Floats = NDArray[np.float64]
Groups = NDArray[np.intp] | None
_CUTS = 50
"""At how many cuts of a class the spread between groups is taken."""


def independent_size(weight: Floats) -> float:
    """Return ``(sum w)^2 / sum w^2``: how many samples of one weight have this spread."""
    return float(weight.sum() ** 2 / np.sum(weight**2))


def class_size(score: Floats, weight: Floats, group: Groups) -> float:
    """Return how many independent samples have rates as exact as those of the samples of a class.

    With groups, numbered from 0, it is the mean of ``p (1 - p)`` over the cuts, over the mean of
    the variance between groups (CR1); never more than the number without, nor less than 1.
    """
    largest = independent_size(weight)
    if group is None:
        return largest
    codes = np.unique(group, return_inverse=True)[1]
    n_groups = int(codes.max()) + 1
    if n_groups == 1:
        return 1.0
    cuts = np.unique(np.quantile(score, np.linspace(0, 1, _CUTS), method="nearest"))[1:]
    if not len(cuts):
        return min(largest, float(n_groups))
    admitted = (score[:, None] >= cuts).astype(np.float64)
    rate = weight @ admitted / weight.sum()
    sums = np.zeros((n_groups, len(cuts)))
    np.add.at(sums, codes, weight[:, None] * (admitted - rate))
    between = n_groups / (n_groups - 1) * np.mean(sums**2, axis=1).sum() / weight.sum() ** 2
    alone = float(np.mean(rate * (1 - rate)))
    return float(np.clip(alone / between, 1.0, largest)) if between > 0 else largest


def area_error(positive: NDArray[np.bool_], score: Floats, weight: Floats, group: Groups) -> float:
    """Return the standard error of the area under the ROC curve of weighted samples.

    Of samples of one weight it is that of DeLong; with groups their deviations are added up first
    (Obuchowski 1997, CR1). A class of one sample has none: nan.
    """
    placement = np.empty(len(score))
    for own in (positive, ~positive):
        below = _mass_below(score[own], score[~own], weight[~own])
        placement[own] = below if own is positive else 1 - below
    area = float(np.average(placement[positive], weights=weight[positive]))
    share = weight / np.where(positive, weight[positive].sum(), weight[~positive].sum())
    deviation = share * (placement - area)
    if group is not None:
        sums = np.bincount(group, deviation)
        n_groups = len(np.unique(group))
        return float(np.sqrt(n_groups / (n_groups - 1) * np.sum(sums**2)))
    sizes = [independent_size(weight[own]) for own in (positive, ~positive)]
    if min(sizes) < 1.5:  # A class of one sample, or of one that counts.
        return float("nan")
    squares = [np.sum(deviation[own] ** 2) for own in (positive, ~positive)]
    return float(np.sqrt(sum(n / (n - 1) * s for n, s in zip(sizes, squares, strict=True))))


def _mass_below(points: Floats, score: Floats, weight: Floats) -> Floats:
    """Return the share of the weight that lies below each point, ties counting half."""
    order = np.argsort(score)
    mass = np.concatenate([[0.0], np.cumsum(weight[order])])
    ends = [mass[np.searchsorted(score[order], points, side)] for side in ("left", "right")]
    return (ends[0] + ends[1]) / 2 / mass[-1]
