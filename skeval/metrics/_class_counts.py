"""How the predictions of each class are right or wrong, of labels or indicator matrices."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix
from sklearn.metrics import multilabel_confusion_matrix

from skeval.metrics._checks import classes_of

__all__ = ["Counts", "Floats", "class_counts", "rows_differ"]

Floats = NDArray[np.float64]
Counts = tuple[Floats, Floats, Floats]


def class_counts(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    classes: NDArray[np.generic],
    labels: ArrayLike | None,
    weight: Floats | None,
) -> Counts:
    """Return the true positives, false positives and false negatives of each class."""
    if np.ndim(y_true) == 1:
        true, pred = np.asarray(y_true), np.asarray(y_pred)
        found = classes if labels is None else classes_of(true, pred)
        true_code, pred_code = np.searchsorted(found, true), np.searchsorted(found, pred)
        right = true_code == pred_code
        parts = ((true_code, right), (pred_code, ~right), (true_code, ~right))
        each = [_sums(code[of], weight, of, len(found)) for code, of in parts]
        if labels is not None:
            place = np.minimum(np.searchsorted(found, classes), len(found) - 1)
            each = [np.where(found[place] == classes, sums[place], 0.0) for sums in each]
        return each[0], each[1], each[2]
    tables = multilabel_confusion_matrix(
        y_true, y_pred, labels=None if labels is None else classes, sample_weight=weight
    ).astype(np.float64)
    return tables[:, 1, 1], tables[:, 0, 1], tables[:, 1, 0]


def _sums(
    code: NDArray[np.intp], weight: Floats | None, of: NDArray[np.bool_], n_classes: int
) -> Floats:
    weights = None if weight is None else weight[of]
    return np.bincount(code, weights, minlength=n_classes).astype(np.float64)


def rows_differ(y_true: ArrayLike, y_pred: ArrayLike) -> NDArray[np.bool_]:
    """Return whether each row of two indicator matrices differs."""
    true, pred = csr_matrix(y_true), csr_matrix(y_pred)
    return np.asarray((true != pred).sum(axis=1)).ravel() > 0
