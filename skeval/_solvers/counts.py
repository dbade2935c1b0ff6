"""Naive Bayes classifiers for counts, for many training sets at once.

One matrix product gives the class sums of many training sets. The log-probabilities are linear in
the counts of a sample.
Derivation: doc/derivations/counts.rst.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

EPSILON = float(np.finfo(float).eps)

# Rounding errors of a scalar product, in units of the last place of the sum of absolute terms.
_ROUNDING = 16.0
# Maximum size of the arrays of one stack of fits.
_STACK = 2**20


def count_by_class(
    X: Any, labels: np.ndarray, weights: np.ndarray, n_classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return sums (F, n_classes, p) of samples over training sets, and class sizes.

    `labels` and `weights` have the shape (F, n).
    """
    member = (labels[:, None] == np.arange(n_classes)[:, None]) * weights[:, None].astype(float)
    sums = (X.T @ member.reshape(-1, labels.shape[1]).T).T  # eq. (1) of counts
    return sums.reshape(len(labels), n_classes, -1), member.sum(axis=2)


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
    F, K, p = slopes.shape
    if issparse(X):  # selecting rows costs more than a product of all samples
        scores = (X @ slopes.reshape(F * K, p).T).reshape(-1, F, K).swapaxes(0, 1)
        products = np.take_along_axis(scores, tested[..., None], axis=1)
    else:
        products = X[tested] @ slopes.swapaxes(1, 2)
    length = X.sum(axis=1)[tested].max(axis=1)
    largest = length * np.abs(slopes).max(axis=(1, 2)) + np.abs(offsets).max(axis=1)
    return products + offsets[:, None], _ROUNDING * EPSILON * largest


def stack_size(X: Any, n_classes: int, n_tested: int) -> int:
    """Return the number of fits in one stack."""
    n, p = X.shape
    return max(1, _STACK // (n_classes * (2 * p + n) + (0 if issparse(X) else n_tested * p)))
