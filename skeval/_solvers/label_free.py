"""Predictions of a training part under many label vectors at once, for fits that labels do not
shape.

Predictions that are linear in the labels, votes and means of neighbours that do not depend on
them, and linear discriminant analysis, which sees them by way of two means.
Numbers in parentheses are the equations of doc/derivations/smoothers.rst.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

EPSILON = float(np.finfo(float).eps)

# Numbers in one stack of votes of all neighbours.
_BLOCK = 2**22
# Singular values below this share of the largest belong to directions of rounding errors only.
_NEGLIGIBLE = 1e-12
# No larger part of a tested sample than this may lie outside of the span of a training part.
_NEAR = 1e-9
# At least this part of the variance along the discriminant must remain within the classes.
_SEPARATED = 1e-6


def class_signs(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return 1 for the class and -1 for the rest.

    Codes are of shape (n_fits, m), the signs of the second of two classes, too; of more classes
    the signs of each are returned, shape (n_fits, n_classes, m).
    """
    if n_classes == 2:
        return 2.0 * codes - 1.0
    of_class = codes[:, None, :] == np.arange(n_classes)[:, None]  # (n_fits, n_classes, m)
    signs: np.ndarray = np.where(of_class, 1.0, -1.0)
    return signs


class Smoother(NamedTuple):
    """A matrix that makes predictions of labels, as a product of two.

    Attributes
    ----------
    basis : ndarray of shape (m, r) or None
        Orthonormal columns; predictions depend on the labels by their products with these. None
        stands for all unit vectors.
    responses : ndarray of shape (n_tested, r)
        The predictions for labels that are the columns of the basis.
    """

    basis: np.ndarray | None
    responses: np.ndarray

    def __call__(self, targets: np.ndarray) -> np.ndarray:
        """Return the predictions (..., n_tested) of targets (..., m)."""
        flat = targets.reshape(-1, targets.shape[-1])
        parts = flat if self.basis is None else flat @ self.basis
        return (parts @ self.responses.T).reshape(*targets.shape[:-1], -1)  # (3)

    @property
    def size(self) -> int:
        """Numbers that it holds."""
        return self.responses.size + (0 if self.basis is None else self.basis.size)

    def rounding(self, n_trained: int) -> float:
        """Return what rounding may change in predictions of signs."""
        longest = float(np.sqrt(np.sum(self.responses**2, axis=1)).max())
        return EPSILON * longest * n_trained**0.5  # (4)


def find_basis(train: np.ndarray) -> np.ndarray | None:
    """Return a basis (m, p + 1) of a constant and the columns (m, p); None where m is smaller."""
    m, p = train.shape
    if m <= p + 1:
        return None
    basis: np.ndarray = np.linalg.qr(np.column_stack([np.ones(m), train]))[0]  # (2)
    return basis


def decide(values: np.ndarray, noise: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the predicted codes (n_fits, n_tested), and which fits are certain of all of them.

    The decision values are for the second of two classes, shape (n_fits, n_tested), or for each
    class, shape (n_fits, n_classes, n_tested). They are known up to `noise`, one number or one for
    each fit.
    """
    if values.ndim == 2:
        return (values > 0).astype(np.intp), np.abs(values).min(axis=1) > noise  # (6)
    ranked = np.partition(values, -2, axis=1)
    gap = ranked[:, -1] - ranked[:, -2]
    return values.argmax(axis=1), gap.min(axis=1) > 2 * noise  # (5)


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
    """Return the classes of most votes and the shares of all classes in the votes.

    The codes of the training part are of shape (n_fits, m), those returned (n_fits, n_tested), the
    shares (n_fits, n_tested, n_classes). All neighbours count the same.
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
    """Return what `count_votes` returns, where neighbours weigh differently.

    Sums are taken in the order of scikit-learn, so that equal votes are equal in
    every bit.
    """
    indices, weights = neighbours
    assert weights is not None
    predicted = np.empty((len(codes), len(indices)), dtype=np.intp)
    shares = np.empty((*predicted.shape, n_classes))
    step = max(1, _BLOCK // indices.size)
    for start in range(0, len(codes), step):
        part = slice(start, start + step)
        voted = codes[part][:, indices]  # (fits, n_tested, k)
        votes = np.empty((n_classes, *voted.shape[:2]))
        share = np.zeros((*voted.shape[:2], n_classes))
        for code in range(n_classes):
            class_weights = np.where(voted == code, weights, 0.0)
            votes[code] = class_weights.sum(axis=-1)  # (6), as predict sums
            for rank in range(class_weights.shape[-1]):
                share[..., code] += class_weights[..., rank]  # (6), as predict_proba sums
        predicted[part] = votes.argmax(axis=0)  # (7)
        shares[part] = share / share.sum(axis=-1)[..., None]
    return predicted, shares


def average(numbers: np.ndarray, neighbours: Neighbours) -> np.ndarray:
    """Return the means (n_fits, n_tested) of the neighbours' numbers (n_fits, m)."""
    indices, weights = neighbours
    means = np.empty((len(numbers), len(indices)))
    step = max(1, _BLOCK // indices.size)
    for start in range(0, len(numbers), step):
        part = slice(start, start + step)
        neighbor_values = numbers[part][:, indices]  # (fits, n_tested, k)
        if weights is None:
            means[part] = neighbor_values.mean(axis=-1)  # (8)
        else:
            means[part] = (neighbor_values * weights).sum(axis=-1) / weights.sum(axis=-1)  # (8)
    return means


class Discriminants(NamedTuple):
    """The decision values of linear discriminant analysis for many label vectors.

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
    """Linear discriminant analysis of two classes on a training part, in its total scatter's basis.

    Numbers in parentheses are from here on the equations of doc/derivations/discriminant.rst.

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
        kept = singular > _NEGLIGIBLE * singular.max(initial=0.0)
        self._singular = singular[kept]  # (r,)
        self._scores = left[:, kept] * self._singular  # (m, r)
        self._tested = test @ right[kept].T  # (n_tested, r)
        self.full_rank = len(self._singular) == train.shape[1]
        outside = np.linalg.norm(test - self._tested @ right[kept], axis=1)
        self.in_span = bool(np.all(outside <= _NEAR * (1 + np.linalg.norm(test, axis=1))))

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
        offset = place_boundary(
            n0, n1, np.sum(difference * slope, axis=1, keepdims=True), self._priors
        )
        gained = share * between * remaining * np.sum(slope**2, axis=1, keepdims=True)
        bound = inverse.sum(axis=1, keepdims=True) + gained  # (7)
        solved = (remaining > _SEPARATED) & (n0 > 1) & (n1 > 1)
        return Discriminants(slope @ self._tested.T + offset, bound[:, 0], solved[:, 0])


def place_boundary(
    n0: np.ndarray, n1: np.ndarray, distance: np.ndarray, priors: tuple[float, float] | None
) -> np.ndarray:
    """Return the decision values at the mean of all samples, with n0 and n1 in the classes.

    `distance` is the difference between the decision values at the means of the two classes.
    """
    m = n0 + n1
    first, second = (n0 / m, n1 / m) if priors is None else priors
    middle = (second * n0 - first * n1) / m + 0.5 * (first**2 - second**2)
    offset: np.ndarray = np.log(second / first) - middle * distance  # (6)
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
        Its sum of squared residuals; the samples that were trained on, and those of the second
        class among them; what the scatter within classes is divided by.
    priors : tuple of two floats or None

    Returns
    -------
    values : ndarray of shape (n_fits, n_tested)
    remaining : ndarray of shape (n_fits,)
        The part of the variance along the discriminant that remains within the classes.
    solved : bool ndarray of shape (n_fits,)
        False where that is all but nothing.
    """
    n1, m = n_second[:, None].astype(float), n_trained[:, None].astype(float)
    n0 = m - n1
    between = n0 * n1 / m
    remaining = residual[:, None] / between  # (9)
    solved = (remaining > _SEPARATED) & (n0 > 1) & (n1 > 1)
    remaining = np.where(solved, remaining, 1.0)
    scale = divisor[:, None] / between / remaining
    offset = place_boundary(n0, n1, scale * (1 - remaining), priors)
    return scale * (fitted - n1 / m) + offset, remaining[:, 0], solved[:, 0]  # (10)
