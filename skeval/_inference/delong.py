"""Covariance of areas under ROC curves of scores of the same samples."""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

__all__ = ["delong"]

Floats = NDArray[np.float64]


def delong(positive: NDArray[np.bool_], scores: Floats) -> tuple[Floats, Floats]:
    """Return the areas (k,) and their covariance (k, k) for scores of shape (k, n).

    DeLong, DeLong & Clarke-Pearson (1988), with the placements found from midranks as in Sun & Xu
    (2014), https://doi.org/10.1109/LSP.2014.2337313. Each class needs two samples.
    """
    m, n = positive.sum(), (~positive).sum()
    ranks = rankdata(scores, axis=1)
    # Fraction of negatives below each positive (ties half), and of positives above each negative.
    v10 = (ranks[:, positive] - rankdata(scores[:, positive], axis=1)) / n
    v01 = 1 - (ranks[:, ~positive] - rankdata(scores[:, ~positive], axis=1)) / m
    covariance = np.atleast_2d(np.cov(v10)) / m + np.atleast_2d(np.cov(v01)) / n
    return v10.mean(axis=1), covariance
