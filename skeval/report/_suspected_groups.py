"""Samples that lie together as measurements of one object do, without a group that says so."""

import numpy as np
from sklearn.neighbors import NearestNeighbors

from skeval.report._cautions import Caution

__all__ = ["warn_of_groups"]

LEAST_SAMPLES, MOST_SAMPLES = 100, 5000
"""Fewer say too little of how far neighbours are; the neighbours of more would take seconds."""
SIZES = range(1, 6)
"""Numbers of companions of a sample that are looked for."""
LEAST_COLUMNS = 2
"""Columns of few values are left out: within one of their cells neighbours are near by chance."""
FAR = 10
"""The neighbours number `FAR` and ``2 FAR``, which no such companions are, tell the dimension."""
CHANCE = 0.005
"""Share of samples, evenly spread, whose k nearest lie so far from the next."""
SHARE = 0.1
"""Share of samples from which groups are suspected."""
TIES = 0.01
"""Share of equal distances above which the samples lie on a grid, where ratios say nothing."""


def _varies(column: np.ndarray) -> bool:
    """Whether a column has so many values that the distance to a neighbour means something."""
    return bool(np.isfinite(column).all()) and len(np.unique(column)) > len(column) / 2


def warn_of_groups(columns: np.ndarray) -> Caution | None:
    r"""Say how many samples have close companions, and then nothing for a long way.

    Where samples are spread evenly in `d` dimensions, the distances :math:`r_k` to the k-th
    neighbour fulfil :math:`P(r_k / r_{k+1} < q) = q^{kd}`, whatever the density, and
    :math:`(r_k / r_{2k})^d` has median 1/2, which tells `d`.
    """
    table = columns[:, [_varies(column) for column in columns.T]]
    table = np.unique(table, axis=0)  # copies have a check of their own
    if not LEAST_SAMPLES <= len(table) <= MOST_SAMPLES or table.shape[1] < LEAST_COLUMNS:
        return None
    table = table / np.abs(table).max(axis=0)  # squares of tiny numbers are 0
    table = (table - table.mean(axis=0)) / table.std(axis=0)
    distances = NearestNeighbors(n_neighbors=2 * FAR).fit(table).kneighbors()[0]
    ratios = distances[:, :-1] / distances[:, 1:]
    middle = float(np.median(distances[:, FAR - 1] / distances[:, 2 * FAR - 1]))
    if not 0 < middle < 1 or np.mean(ratios == 1) > TIES:
        return None
    dimension = np.log(0.5) / np.log(middle)
    shares = [np.mean(ratios[:, k - 1] < CHANCE ** (1 / (k * dimension))) for k in SIZES]
    most = int(np.argmax(shares))
    if shares[most] < SHARE:
        return None
    return Caution(
        "groups",
        f"{100 * shares[most]:.0f} % of the samples have {SIZES[most]} close neighbours and then "
        "none for a long way, which chance explains for one in 200: they may be measurements of "
        "one object. If they are, name the object in groups=, or every error here is too low.",
    )
