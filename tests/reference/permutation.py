"""Permutation tests by their definition: plain loops over permutations and folds."""

from math import factorial

import numpy as np
from sklearn.base import clone


def fold_mean_score(estimator, X, y, splits, metric):
    scores = []
    for train, test in splits:
        model = clone(estimator).fit(X[train], y[train])
        scores.append(metric(y[test], model.predict(X[test])))
    return sum(scores) / len(scores)


def null_distribution(estimator, X, y, splitter, permutations, metric, groups=None):
    scores = []
    for order in permutations:
        splits = splitter.split(X, y[list(order)], groups)
        scores.append(fold_mean_score(estimator, X, y[list(order)], splits, metric))
    return scores


def tolerance(statistic, null):
    """Ties up to 1e-12 of the largest score, but no more than of 1 and of the middle one."""
    sizes = sorted([abs(value) for value in null] + [abs(statistic)])
    below, above = sizes[(len(sizes) - 1) // 2], sizes[len(sizes) // 2]
    middle = (below + above) / 2
    return 1e-12 * max(min(sizes[-1], max(1.0, middle)), abs(statistic))


def pvalue(statistic, null):
    lowest = statistic - tolerance(statistic, null)
    return (1 + sum(value >= lowest for value in null)) / (1 + len(null))


def sequential_pvalue(statistic, null, h):
    """Besag and Clifford (1991): look at one permutation after the other."""
    count, lowest = 0, statistic - tolerance(statistic, null)
    for used, value in enumerate(null, start=1):
        count += value >= lowest
        if count == h:
            return h / used, used
    return (1 + count) / (1 + len(null)), len(null)


def decided_pvalues(stops, sequences):
    """P-value of each stop of sequences of exceedances, which are as likely as ranks are."""
    chance = {}
    for stop, sequence in zip(stops, sequences, strict=True):
        n, c = len(sequence), int(sum(sequence))
        chance[stop] = chance.get(stop, 0) + factorial(c) * factorial(n - c) / factorial(n + 1)
    share = {stop: (1 + stop[0]) / (1 + stop[1]) for stop in chance}
    return {s: sum(p for t, p in chance.items() if share[t] <= share[s] + 1e-12) for s in chance}


def negative_binomial_interval(h, used, level):
    """Values of p under which waiting so long, or so short, for h exceedances is not unlikely."""
    from scipy.stats import nbinom

    grid = np.linspace(1e-6, 1 - 1e-6, 200001)
    failures = used - h
    tail = (1 - level) / 2
    not_too_long = nbinom.sf(failures - 1, h, grid) > tail
    not_too_short = nbinom.cdf(failures, h, grid) > tail
    inside = grid[not_too_long & not_too_short]
    return inside.min(), inside.max()
