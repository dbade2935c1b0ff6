"""Predictions that are linear in the labels, for many label vectors at once.

See doc/derivations/smoothers.rst, whose equation numbers stand at the lines below.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["EPSILON", "Smoother", "class_signs", "decide", "find_basis"]

EPSILON = float(np.finfo(float).eps)


def class_signs(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return 1 for the class and -1 for the rest.

    Of codes (n_fits, m): signs (n_fits, m) of the second of two classes, else those of each class,
    (n_fits, n_classes, m).
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

    Of decision values (n_fits, n_tested) of the second of two classes, or of each class,
    (n_fits, n_classes, n_tested), that are known up to `noise`,
    one number or one for each fit.
    """
    if values.ndim == 2:
        return (values > 0).astype(np.intp), np.abs(values).min(axis=1) > noise  # (6)
    ranked = np.partition(values, -2, axis=1)
    gap = ranked[:, -1] - ranked[:, -2]
    return values.argmax(axis=1), gap.min(axis=1) > 2 * noise  # (5)
