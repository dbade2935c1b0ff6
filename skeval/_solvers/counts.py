"""Naive Bayes classifiers of counts for many training sets at once.

The counts of a class in a training set are those in all samples minus those in the samples left
out. Log-probabilities are linear in the counts of a sample.
Derivation: doc/derivations/counts.rst.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from skeval._solvers.splits import Splits

EPSILON = float(np.finfo(float).eps)

# Rounding errors of a scalar product, in units of the last place of the sum of absolute terms.
_ROUNDING = 16.0
# Numbers in one stack of fits.
_STACK = 2**20


def sum_by_class(X: Any, labels: np.ndarray, weights: np.ndarray, n_classes: int) -> np.ndarray:
    """Return sums (F, n_classes, p) of samples (n, p) under labels and weights (F, n)."""
    fits, rows = np.nonzero(weights)
    cells = (weights[fits, rows], (fits * n_classes + labels[fits, rows], rows))
    sums = csr_array(cells, shape=(len(labels) * n_classes, X.shape[0])) @ X
    dense = sums.toarray() if issparse(sums) else sums
    return dense.reshape(len(labels), n_classes, -1)


def count_by_class(
    X: Any, labels: np.ndarray, splits: Splits, n_classes: int, *, exact: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return sums (F, n_classes, p) of samples over training sets, and class sizes.

    Samples left out are subtracted from the sum of all samples if that is exact.
    """
    weights = splits.weights.astype(float)
    member = labels[:, None] == np.arange(n_classes)[:, None]
    sizes = np.sum(member * weights[:, None], axis=2)
    if not (exact and splits.plain and (labels[:1] == labels).all()):
        return sum_by_class(X, labels, weights, n_classes), sizes
    total = sum_by_class(X, labels[:1], np.ones((1, labels.shape[1])), n_classes)
    return total - sum_by_class(X, labels, 1 - weights, n_classes), sizes  # eq. (1) of counts


def linear_scores(
    kind: str, counts: np.ndarray, sizes: np.ndarray, alpha: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return slopes (F, K, p) and offsets (F, K) of the log-likelihoods, without priors."""
    smoothed = counts + alpha
    if kind == "multinomial":  # eq. (2) of counts
        return np.log(smoothed / smoothed.sum(axis=2, keepdims=True)), np.zeros_like(sizes)
    if kind == "bernoulli":  # eq. (3) of counts
        share = smoothed / (sizes + 2 * alpha)[..., None]
        absent = np.log1p(-share)
        return np.log(share) - absent, absent.sum(axis=2)
    others = counts.sum(axis=1, keepdims=True) + alpha - counts  # eq. (4) of counts
    return -np.log(others / others.sum(axis=2, keepdims=True)), np.zeros_like(sizes)


def score_tested(
    X: Any, slopes: np.ndarray, offsets: np.ndarray, tested: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores (F, t, K) of tested samples (F, t), and their rounding errors (F,)."""
    if issparse(X):
        products = [X[rows] @ slope.T for rows, slope in zip(tested, slopes, strict=True)]
        lengths = np.array([X[rows].sum(axis=1).max() for rows in tested])
    else:
        products, lengths = X[tested] @ slopes.swapaxes(1, 2), X[tested].sum(axis=2).max(axis=1)
    largest = lengths * np.abs(slopes).max(axis=(1, 2)) + np.abs(offsets).max(axis=1)
    return np.asarray(products) + offsets[:, None], _ROUNDING * EPSILON * largest


def stack_size(X: Any, n_classes: int, n_tested: int) -> int:
    """Return the number of fits in one stack."""
    return max(1, _STACK // (X.shape[1] * (3 * n_classes + (0 if issparse(X) else n_tested))))
