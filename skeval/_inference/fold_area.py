"""The area under the ROC curve from the pairs of samples that one model scored."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["FoldArea", "within_fold_area"]

Floats = NDArray[np.float64]


class FoldArea(NamedTuple):
    """An area, and how much each sample moves it.

    Attributes
    ----------
    area : float
        nan where no test set holds both classes.
    influence : ndarray of shape (n_samples,)
    """

    area: float
    influence: Floats


def within_fold_area(
    positive: NDArray[np.bool_],
    score: Floats,
    row: NDArray[np.intp],
    fold: NDArray[np.intp],
    weight: Floats,
) -> FoldArea:
    r"""Return the share of pairs of a positive and a negative that the scores put in order.

    Scores of different models have no common scale, and need not be in the order of their
    quality when they are put together (Parker, Gunter and Bedo 2007): a pair counts where one
    model scored both. With :math:`s_{ij}` 1, 1/2 or 0,

    .. math:: A = \sum_{ij} w_i w_j s_{ij} / \sum_{ij} w_i w_j .

    The influence of a sample is the sum of :math:`w_i w_j (s_{ij} - A)` over its pairs, divided
    by the sum of all weights, and scaled as variances of two samples are, by m / (m - 1).

    Parameters
    ----------
    positive, score, row, fold : ndarray of shape (n_answers,)
        Whether the sample is positive, its score, its number, and the fit that scored it.
    weight : ndarray of shape (n_samples,)
    """
    wins, pairs = np.zeros(len(weight)), np.zeros(len(weight))
    order = np.argsort(fold, kind="stable")
    starts = np.flatnonzero(np.diff(fold[order], prepend=-1))
    for part in np.split(order, starts[1:]):
        up, down = part[positive[part]], part[~positive[part]]
        for own, others, sign in ((up, down, 1.0), (down, up, -1.0)):
            w = weight[row[own]]
            below = _weigh_below(score[own], score[others], weight[row[others]], sign)
            wins[row[own]] += w * below
            pairs[row[own]] += w * weight[row[others]].sum()
    is_positive = np.zeros(len(weight), dtype=bool)
    is_positive[row[positive]] = True
    total = pairs[is_positive].sum()
    if not total > 0:
        return FoldArea(np.nan, np.full(len(weight), np.nan))
    area = float(wins[is_positive].sum() / total)
    influence = (wins - area * pairs) / total
    for side in (is_positive, ~is_positive):
        m = np.count_nonzero(pairs[side])
        influence[side] *= np.sqrt(m / (m - 1)) if m > 1 else 1.0
    return FoldArea(area, influence)


def _weigh_below(score: Floats, others: Floats, weight: Floats, sign: float) -> Floats:
    """Return the weight of the other scores that lie below each score, half of those equal to it.

    Above it for a `sign` of -1.
    """
    order = np.argsort(others, kind="stable")
    sums = np.concatenate([[0.0], np.cumsum(weight[order])])
    low, high = (np.searchsorted(others[order], score, side) for side in ("left", "right"))
    below = (sums[low] + sums[high]) / 2
    return below if sign > 0 else sums[-1] - below
