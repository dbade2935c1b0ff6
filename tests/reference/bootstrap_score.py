"""Scores by bootstrap, and instability, as the papers print them: plain loops over clones."""

import numpy as np
from reference.bootstrap import rows_of
from sklearn.base import clone


def resample_scores(estimator, X, y, indices, scorer):
    """Scores (B, 3): on the resample, on all samples, and on the samples left out."""
    y, everything = np.asarray(y), np.arange(len(y))
    rows = []
    for drawn in indices:
        left_out = np.array([i for i in everything if i not in set(drawn)])
        model = clone(estimator).fit(rows_of(X, drawn), y[drawn])
        rows.append([scorer(model, rows_of(X, r), y[r]) for r in (drawn, everything, left_out)])
    return np.array(rows)


def all_pairs(estimator, X, y, scorer):
    """No-information score: every label beside every prediction."""
    y, n = np.asarray(y), len(y)
    model = clone(estimator).fit(X, y)
    i, j = np.divmod(np.arange(n * n), n)
    return scorer(model, rows_of(X, i), y[j])


def scores(estimator, X, y, indices, scorer):
    """The four estimates by method."""
    of_resamples = resample_scores(estimator, X, y, indices, scorer)
    apparent = scorer(clone(estimator).fit(X, y), X, np.asarray(y))
    inside, whole, outside = of_resamples.mean(axis=0)
    gamma = all_pairs(estimator, X, y, scorer)
    worse = max(outside, gamma)
    R = (apparent - worse) / (apparent - gamma) if apparent > worse and apparent > gamma else 0
    w = 0.632 / (1 - 0.368 * R)
    return {
        "oob": outside,
        ".632": 0.368 * apparent + 0.632 * outside,
        ".632+": (1 - w) * apparent + w * worse,
        "optimism": apparent - (inside - whole),
    }
