"""Permutation importance over folds by a plain loop."""

import numpy as np
from sklearn.base import clone
from sklearn.inspection import permutation_importance


def mean_drops(estimator, X, y, splitters):
    """Return the mean drop of each column over repeats, and its standard error, by column name."""
    repeats = []
    for splitter in splitters:
        drops = [
            permutation_importance(
                clone(estimator).fit(X[train], y[train]), X[test], y[test], n_repeats=5
            ).importances_mean
            for train, test in splitter.split(X)
        ]
        repeats.append(np.mean(drops, axis=0))
    mean, spread = np.mean(repeats, axis=0), np.std(repeats, axis=0, ddof=1)
    names = [str(column) for column in range(X.shape[1])]
    return dict(zip(names, mean, strict=True)), dict(zip(names, spread, strict=True))
