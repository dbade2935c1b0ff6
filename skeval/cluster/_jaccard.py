"""Jaccard coefficients of clusters with the most similar cluster of another partition."""

from __future__ import annotations

import numpy as np

__all__ = ["cluster_jaccards"]

NOISE = -1


def cluster_jaccards(names: np.ndarray, labels: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Return for each named cluster of `labels` the largest coefficient with one of `found`.

    Both label the same samples; -1 is no cluster. It is 0 without any cluster to compare with.
    """
    others = np.unique(found[found != NOISE])
    if not others.size:
        return np.zeros(len(names))
    ours, theirs = labels[:, None] == names, found[:, None] == others  # (n, K) and (n, L)
    common = ours.T.astype(float) @ theirs.astype(float)
    either = ours.sum(axis=0)[:, None] + theirs.sum(axis=0) - common
    return (common / either).max(axis=1)
