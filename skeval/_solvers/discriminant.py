"""Linear discriminant analysis of two classes for many label vectors on the same samples.

See doc/derivations/discriminant.rst, whose equation numbers stand at the lines below.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["Discriminant", "Discriminants"]

NEGLIGIBLE = 1e-12
"""Singular values, relative to the largest, below which a direction holds rounding errors only."""

NEAR = 1e-9
"""How little of a tested sample may lie outside of the span of a training part."""

SEPARATED = 1e-6
"""The part of the variance along the discriminant that must remain within the classes."""


class Discriminants(NamedTuple):
    """The decision values for many label vectors.

    Attributes
    ----------
    values : ndarray of shape (n_fits, n_tested)
    bound : ndarray of shape (n_fits,)
        The inverse of the covariance within classes, the columns in units of their standard
        deviations there, has no larger eigenvalue; without shrinkage only.
    solved : bool ndarray of shape (n_fits,)
        False where the covariance is all but singular.
    """

    values: np.ndarray
    bound: np.ndarray
    solved: np.ndarray


class Discriminant:
    """The training part of a fold in the basis of its total scatter.

    Parameters
    ----------
    train : ndarray of shape (m, p)
    test : ndarray of shape (n_tested, p)
    shrinkage : float
        0 or more; the columns are brought to one scale where it is 0, which changes nothing.
    divisor : float
        What the scatter within classes is divided by.
    priors : tuple of two floats or None
        Of the classes; None estimates them from each label vector.

    Attributes
    ----------
    full_rank : bool
        Whether no column that varies is a combination of others.
    in_span : bool
        Whether the tested samples differ from the mean in directions of the training part only.
    """

    def __init__(
        self,
        train: np.ndarray,
        test: np.ndarray,
        shrinkage: float,
        divisor: float,
        priors: tuple[float, float] | None = None,
    ) -> None:
        self._shrinkage = shrinkage
        self._divisor = divisor
        self._priors = priors
        self._n_features = train.shape[1]
        centre = train.mean(axis=0)
        train, test = train - centre, test - centre  # (m, p), (n_tested, p)
        if shrinkage == 0.0:
            deviation = np.sqrt(np.mean(train**2, axis=0))
            varies = deviation > 0
            train, test = train[:, varies] / deviation[varies], test[:, varies] / deviation[varies]
        left, singular, right = np.linalg.svd(train, full_matrices=False)  # (1)
        kept = singular > NEGLIGIBLE * singular.max(initial=0.0)
        self._singular = singular[kept]  # (r,)
        self._scores = left[:, kept] * self._singular  # (m, r)
        self._tested = test @ right[kept].T  # (n_tested, r)
        self.full_rank = len(self._singular) == train.shape[1]
        outside = np.linalg.norm(test - self._tested @ right[kept], axis=1)
        self.in_span = bool(np.all(outside <= NEAR * (1 + np.linalg.norm(test, axis=1))))

    @property
    def size(self) -> int:
        """Numbers that are kept."""
        return self._scores.size + self._tested.size

    def solve(self, codes: np.ndarray) -> Discriminants:
        """Return the decision values for label vectors (n_fits, m) of codes 0 and 1."""
        m, codes = codes.shape[1], codes.astype(float)
        n1 = codes.sum(axis=1)[:, None]  # (n_fits, 1)
        n0 = m - n1
        between = n0 * n1 / m
        scatter = self._singular**2  # (r,)
        difference = (codes @ self._scores) / between  # (2), (n_fits, r)
        length = np.sum(difference**2, axis=1, keepdims=True)
        share = (1 - self._shrinkage) / self._divisor
        within = (scatter.sum() - between * length) / self._divisor  # (4)
        ridge = self._shrinkage * within / self._n_features
        inverse = 1 / (share * scatter + ridge)  # (n_fits, r)
        slope = inverse * difference
        explained = share * between * np.sum(difference * slope, axis=1, keepdims=True)
        remaining = 1 - explained
        slope /= remaining  # (5)
        first, second = (n0 / m, n1 / m) if self._priors is None else self._priors
        middle = (second * n0 - first * n1) / m + 0.5 * (first**2 - second**2)
        odds = np.log(second / first)
        offset = odds - middle * np.sum(difference * slope, axis=1, keepdims=True)  # (6)
        gained = share * between * remaining * np.sum(slope**2, axis=1, keepdims=True)
        bound = inverse.sum(axis=1, keepdims=True) + gained  # (7)
        solved = (remaining > SEPARATED) & (n0 > 1) & (n1 > 1)
        return Discriminants(slope @ self._tested.T + offset, bound[:, 0], solved[:, 0])
