"""Linear discriminant analysis of two classes for many label vectors or training sets.

Derivation: doc/derivations/discriminant.rst.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Singular values below this fraction of the largest are rounding errors.
_NEGLIGIBLE = 1e-12
# Maximum relative distance of a tested sample from the span of the training set.
_NEAR = 1e-9
# Minimum fraction of the variance along the discriminant that lies within the classes.
_SEPARATED = 1e-6


class Discriminants(NamedTuple):
    """Decision values of linear discriminant analysis for many label vectors.

    Attributes
    ----------
    values : ndarray of shape (n_fits, n_tested)
    bound : ndarray of shape (n_fits,)
        Upper bound on the eigenvalues of the inverse covariance within classes, with the columns
        in units of their standard deviations within classes; valid without shrinkage.
    solved : bool ndarray of shape (n_fits,)
        False if the covariance is nearly singular.
    """

    values: np.ndarray
    bound: np.ndarray
    solved: np.ndarray


class Discriminant:
    """Linear discriminant analysis of two classes, in the basis of the total scatter.

    Parameters
    ----------
    train : ndarray of shape (m, p)
    test : ndarray of shape (n_tested, p)
    shrinkage : float
        Between 0 and 1. Without shrinkage the columns are scaled first, which changes no result.
    divisor : float
        Divisor of the scatter within classes.
    priors : tuple of two floats or None
        Class probabilities; None estimates them from each label vector.

    Attributes
    ----------
    full_rank : bool
        Whether the columns that vary are linearly independent.
    in_span : bool
        Whether the tested samples lie in the span of the training set.
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
        center = train.mean(axis=0)
        train, test = train - center, test - center  # (m, p), (n_tested, p)
        if shrinkage == 0.0:
            deviation = np.sqrt(np.mean(train**2, axis=0))
            varies = deviation > 0
            train, test = train[:, varies] / deviation[varies], test[:, varies] / deviation[varies]
        left, singular, right = np.linalg.svd(train, full_matrices=False)  # eq. (1) of discriminant
        kept = singular > _NEGLIGIBLE * singular.max(initial=0.0)
        self._singular = singular[kept]  # (r,)
        self._scores = left[:, kept] * self._singular  # (m, r)
        self._tested = test @ right[kept].T  # (n_tested, r)
        self.full_rank = len(self._singular) == train.shape[1]
        outside = np.linalg.norm(test - self._tested @ right[kept], axis=1)
        self.in_span = bool(np.all(outside <= _NEAR * (1 + np.linalg.norm(test, axis=1))))

    @property
    def size(self) -> int:
        """Number of stored numbers."""
        return self._scores.size + self._tested.size

    def solve(self, codes: np.ndarray) -> Discriminants:
        """Return the decision values for label vectors (n_fits, m) of codes 0 and 1."""
        # class sizes and the difference of the means
        m, codes = codes.shape[1], codes.astype(float)
        n1 = codes.sum(axis=1)[:, None]  # (n_fits, 1)
        n0 = m - n1
        between = n0 * n1 / m
        scatter = self._singular**2  # (r,)
        difference = (codes @ self._scores) / between  # (n_fits, r), eq. (2) of discriminant
        length = np.sum(difference**2, axis=1, keepdims=True)
        # diagonal part of the covariance
        share = (1 - self._shrinkage) / self._divisor
        within = (scatter.sum() - between * length) / self._divisor  # eq. (4) of discriminant
        ridge = self._shrinkage * within / self._n_features
        inverse = 1 / (share * scatter + ridge)  # (n_fits, r)
        slope = inverse * difference
        # correct the inverse by the scatter between classes, a matrix of rank one
        explained = share * between * np.sum(difference * slope, axis=1, keepdims=True)
        remaining = 1 - explained
        slope /= remaining  # eq. (5) of discriminant
        distance = np.sum(difference * slope, axis=1, keepdims=True)
        offset = decision_offset(n0, n1, distance, self._priors)
        gained = share * between * remaining * np.sum(slope**2, axis=1, keepdims=True)
        bound = inverse.sum(axis=1, keepdims=True) + gained  # eq. (10) of discriminant
        solved = (remaining > _SEPARATED) & (n0 > 1) & (n1 > 1)
        return Discriminants(slope @ self._tested.T + offset, bound[:, 0], solved[:, 0])


def decision_offset(
    n0: np.ndarray, n1: np.ndarray, distance: np.ndarray, priors: tuple[float, float] | None
) -> np.ndarray:
    """Return the decision values at the mean of all samples, for class sizes n0 and n1.

    `distance` is the difference between the decision values at the two class means.
    """
    m = n0 + n1
    first, second = (n0 / m, n1 / m) if priors is None else priors
    middle = (second * n0 - first * n1) / m + 0.5 * (first**2 - second**2)
    offset: np.ndarray = np.log(second / first) - middle * distance  # eq. (6) of discriminant
    return offset


def discriminate(
    fitted: np.ndarray,
    residual: np.ndarray,
    n_trained: np.ndarray,
    n_second: np.ndarray,
    divisor: np.ndarray,
    priors: tuple[float, float] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the decision values of linear discriminant analysis from least squares on codes.

    Parameters
    ----------
    fitted : ndarray of shape (n_fits, n_tested)
        Predictions of least squares on the codes 0 and 1.
    residual, n_trained, n_second, divisor : ndarray of shape (n_fits,)
        Sum of squared residuals, number of training samples, number of these in the second class,
        and divisor of the scatter within classes.
    priors : tuple of two floats or None

    Returns
    -------
    values : ndarray of shape (n_fits, n_tested)
    remaining : ndarray of shape (n_fits,)
        Fraction of the variance along the discriminant that lies within the classes.
    solved : bool ndarray of shape (n_fits,)
        False if this fraction is nearly 0.
    """
    n1, m = n_second[:, None].astype(float), n_trained[:, None].astype(float)
    n0 = m - n1
    between = n0 * n1 / m
    remaining = residual[:, None] / between  # eq. (7) of discriminant
    solved = (remaining > _SEPARATED) & (n0 > 1) & (n1 > 1)
    remaining = np.where(solved, remaining, 1.0)
    scale = divisor[:, None] / between / remaining
    offset = decision_offset(n0, n1, scale * (1 - remaining), priors)
    values = scale * (fitted - n1 / m) + offset  # eq. (8) of discriminant
    return values, remaining[:, 0], solved[:, 0]
