"""Votes and means of neighbours that do not depend on the labels, for many label vectors at once.

See doc/derivations/smoothers.rst, whose equation numbers stand at the lines below. Sums are taken
in the order in which scikit-learn takes them, so that equal votes are equal in every bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["Neighbours", "average", "count_votes", "weigh_votes"]

BLOCK_ELEMENTS = 2**22
"""Numbers in one stack of votes of all neighbours."""


class Neighbours(NamedTuple):
    """The training samples that predict each tested sample.

    Attributes
    ----------
    indices : int ndarray of shape (n_tested, k)
        Positions in the training part.
    weights : ndarray of shape (n_tested, k) or None
        None where all neighbours weigh the same.
    """

    indices: np.ndarray
    weights: np.ndarray | None


def count_votes(
    codes: np.ndarray, neighbours: Neighbours, n_classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return codes (n_fits, n_tested) of most votes and the shares (n_fits, n_tested, n_classes).

    Of the codes (n_fits, m) of the training part; all neighbours count the same.
    """
    by_sample = np.ascontiguousarray(codes.T)  # (m, n_fits)
    n_tested, k = neighbours.indices.shape
    counts = np.empty((n_classes, n_tested, len(codes)), dtype=np.int32)
    for code in range(n_classes):
        member = (by_sample == code).view(np.int8)
        counts[code] = sum(member[rank].astype(np.int32) for rank in neighbours.indices.T)  # (6)
    predicted = counts.argmax(axis=0).T  # (7)
    return predicted, counts.transpose(2, 1, 0) / k


def weigh_votes(
    codes: np.ndarray, neighbours: Neighbours, n_classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the same as `count_votes` where neighbours weigh differently."""
    indices, weights = neighbours
    assert weights is not None
    predicted = np.empty((len(codes), len(indices)), dtype=np.intp)
    shares = np.empty((*predicted.shape, n_classes))
    step = max(1, BLOCK_ELEMENTS // indices.size)
    for start in range(0, len(codes), step):
        part = slice(start, start + step)
        voted = codes[part][:, indices]  # (fits, n_tested, k)
        votes = np.empty((n_classes, *voted.shape[:2]))
        share = np.zeros((*voted.shape[:2], n_classes))
        for code in range(n_classes):
            given = np.where(voted == code, weights, 0.0)
            votes[code] = given.sum(axis=-1)  # (6), as predict sums
            for rank in range(given.shape[-1]):
                share[..., code] += given[..., rank]  # (6), as predict_proba sums
        predicted[part] = votes.argmax(axis=0)  # (7)
        shares[part] = share / share.sum(axis=-1)[..., None]
    return predicted, shares


def average(numbers: np.ndarray, neighbours: Neighbours) -> np.ndarray:
    """Return the means (n_fits, n_tested) of the neighbours' numbers (n_fits, m)."""
    indices, weights = neighbours
    means = np.empty((len(numbers), len(indices)))
    step = max(1, BLOCK_ELEMENTS // indices.size)
    for start in range(0, len(numbers), step):
        part = slice(start, start + step)
        found = numbers[part][:, indices]  # (fits, n_tested, k)
        if weights is None:
            means[part] = found.mean(axis=-1)  # (8)
        else:
            means[part] = (found * weights).sum(axis=-1) / weights.sum(axis=-1)  # (8)
    return means
