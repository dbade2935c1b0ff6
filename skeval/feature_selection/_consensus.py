"""The features that the rounds of a resampling agree on: arrays in, a mask out."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata

__all__ = ["consensus_support", "feature_ranks"]


def consensus_support(
    supports: np.ndarray, ranks: np.ndarray, threshold: float | None = None
) -> np.ndarray:
    """Return the mask of the features selected most often, or in a fraction of the rounds.

    Parameters
    ----------
    supports : bool ndarray of shape (n_rounds, n_features)
    ranks : ndarray of shape (n_rounds, n_features)
        Rank of each feature in each round, 1 is best; it breaks ties of the frequency.
    threshold : float or None
        Keep the features with at least this frequency; None keeps as many as the rounds select on
        average.
    """
    times = supports.sum(axis=0)
    if threshold is not None:
        return times / len(supports) >= threshold
    order = np.lexsort((ranks.mean(axis=0), -times))  # ties that remain are broken by position
    mask = np.zeros(len(times), dtype=bool)
    mask[order[: int(np.rint(supports.sum(axis=1).mean()))]] = True
    return mask


def feature_ranks(selector: Any, n_features: int) -> np.ndarray:
    """Return the rank that a fitted selector gives each feature, 1 is best; equal if it has none.

    Taken from `ranking_` (recursive elimination) or `scores_` (univariate selection); an undefined
    score ranks last.
    """
    if hasattr(selector, "ranking_"):
        return np.asarray(selector.ranking_, dtype=float)
    if hasattr(selector, "scores_"):
        scores = np.where(np.isnan(selector.scores_), -np.inf, selector.scores_)
        _, places = np.unique(-scores, return_inverse=True)  # older rankdata fails for infinities
        return rankdata(places)
    return np.ones(n_features)
