"""Predictions that are linear in the labels, for many label vectors at once.

Derivation: doc/derivations/smoothers.rst.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

EPSILON = float(np.finfo(float).eps)


def class_signs(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return targets for codes (n_fits, m): 1 for samples of a class and -1 for all others.

    For two classes, the shape is (n_fits, m), and the class is the second. For more classes, the
    shape is (n_fits, n_classes, m).
    """
    if n_classes == 2:
        return 2.0 * codes - 1.0
    of_class = codes[:, None, :] == np.arange(n_classes)[:, None]  # (n_fits, n_classes, m)
    signs: np.ndarray = np.where(of_class, 1.0, -1.0)
    return signs


class Smoother(NamedTuple):
    """Matrix from labels to predictions, as a product of two matrices.

    Attributes
    ----------
    basis : ndarray of shape (m, r) or None
        Orthonormal columns. Predictions depend on the labels only through their products with these
        columns. None represents the identity matrix.
    responses : ndarray of shape (n_tested, r)
        Predictions whose labels are a column of the basis.
    """

    basis: np.ndarray | None
    responses: np.ndarray

    def __call__(self, targets: np.ndarray) -> np.ndarray:
        """Return the predictions (..., n_tested) of targets (..., m)."""
        flat = targets.reshape(-1, targets.shape[-1])
        parts = flat if self.basis is None else flat @ self.basis
        return (parts @ self.responses.T).reshape(*targets.shape[:-1], -1)  # eq. (3) of smoothers

    @property
    def size(self) -> int:
        """Number of stored numbers."""
        return self.responses.size + (0 if self.basis is None else self.basis.size)

    def rounding(self, n_trained: int) -> float:
        """Return the magnitude of the rounding errors in predictions of signs."""
        longest = float(np.sqrt(np.sum(self.responses**2, axis=1)).max())
        return EPSILON * longest * n_trained**0.5  # eq. (4) of smoothers


def find_basis(train: np.ndarray) -> np.ndarray | None:
    """Return an orthonormal basis (m, p + 1) of a constant and the columns (m, p).

    The result is None if there are too few samples.
    """
    m, p = train.shape
    if m <= p + 1:
        return None
    basis, _ = np.linalg.qr(np.column_stack([np.ones(m), train]))  # eq. (2) of smoothers
    return basis


def decide(values: np.ndarray, noise: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the predicted codes (n_fits, n_tested), and whether all codes of a fit are certain.

    Decision values have the shape (n_fits, n_tested) for two classes, else (n_fits, n_classes,
    n_tested). Their error is at most `noise`, a number or an array (n_fits,).
    """
    # eq. (5) of smoothers
    if values.ndim == 2:
        return (values > 0).astype(np.intp), np.abs(values).min(axis=1) > noise
    ranked = np.partition(values, -2, axis=1)
    gap = ranked[:, -1] - ranked[:, -2]
    return values.argmax(axis=1), gap.min(axis=1) > 2 * noise
