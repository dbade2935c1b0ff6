"""Covariance of areas under ROC curves, whole or partial, of scores of the same samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

__all__ = ["delong", "partial_delong"]

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


def partial_delong(
    positive: NDArray[np.bool_], scores: Floats, max_fpr: float
) -> tuple[Floats, Floats]:
    """Return partial areas (k,), standardised as by McClish, and their covariance (k, k).

    The area over false positive rates up to u is the mean over the negatives x of ``w(x) S(x)``:
    S(x) is the fraction of positives above x, and w(x) is 1 above the quantile c of the negatives
    that u cuts off, a fraction of 1 where u falls within a step. That c is estimated takes
    ``w(x) S(c)`` from the influence of a negative, which is ``w(x) (S(x) - S(c))``; that of a
    positive is the mean of w over the negatives below it. At u = 1 it is `delong`.
    """
    m, n = int(positive.sum()), int((~positive).sum())
    v10, v01, areas = np.empty((len(scores), m)), np.empty((len(scores), n)), np.empty(len(scores))
    for row, values in enumerate(scores):
        above, below = values[positive], values[~positive]
        higher = rankdata(-below) - 0.5  # middle of the step of a negative, in negatives
        ties = np.bincount(np.unique(below, return_inverse=True)[1].reshape(-1))
        step = ties[np.unique(below, return_inverse=True)[1].reshape(-1)]
        weight = np.clip((max_fpr * n - (higher - step / 2)) / step, 0.0, 1.0)
        wins = (above[:, None] > below) + 0.5 * (above[:, None] == below)
        survival = wins.mean(axis=0)
        cut = survival[weight > 0].max()
        v10[row] = wins @ weight / n
        v01[row] = weight * (survival - cut)
        areas[row] = np.mean(weight * survival)
    lowest = max_fpr**2 / 2
    scale = 0.5 / (max_fpr - lowest)
    covariance = np.atleast_2d(np.cov(v10)) / m + np.atleast_2d(np.cov(v01)) / n
    return 0.5 + (areas - lowest) * scale, covariance * scale**2
