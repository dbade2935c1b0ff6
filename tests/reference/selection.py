"""Stability, consensus and F statistics by their definitions."""

from itertools import combinations

import numpy as np


def nogueira(supports):
    n_rounds, p = len(supports), len(supports[0])
    spread = 0.0
    for j in range(p):
        column = [float(bool(row[j])) for row in supports]
        spread += sum((z - sum(column) / n_rounds) ** 2 for z in column) / (n_rounds - 1) / p
    share = sum(sum(map(bool, row)) for row in supports) / n_rounds / p
    return 1 - spread / (share * (1 - share))


def pairwise(supports, measure):
    sets = [{j for j, z in enumerate(row) if z} for row in supports]
    values = [measure(a, b, len(supports[0])) for a, b in combinations(sets, 2)]
    return sum(values) / len(values)


def jaccard_pair(a, b, p):
    return len(a & b) / len(a | b)


def jaccard_variance(supports):
    sets = [{j for j, z in enumerate(row) if z} for row in supports]
    means = []
    for r, a in enumerate(sets):
        others = [jaccard_pair(a, b, None) for s, b in enumerate(sets) if s != r]
        means.append(sum(others) / len(others))
    center = sum(means) / len(means)
    return 4 / len(means) ** 2 * sum((m - center) ** 2 for m in means)


def consensus(supports, ranks, n_features):
    """Features by times selected (most first), then by mean rank, then by index."""
    p = len(supports[0])
    keys = []
    for j in range(p):
        times = sum(bool(row[j]) for row in supports)
        mean_rank = sum(row[j] for row in ranks) / len(ranks)
        keys.append((-times, mean_rank, j))
    return sorted(j for _, _, j in sorted(keys)[:n_features])


def descending_ranks(scores):
    """1 for the largest score, ties share the mean of their places, nan comes last."""
    scores = [-np.inf if np.isnan(s) else s for s in scores]
    return [
        sum(other > s for other in scores) + (sum(other == s for other in scores) + 1) / 2
        for s in scores
    ]


def f_statistic(values, labels):
    """One-way analysis of variance of one feature, from the centered sums of squares."""
    groups = [
        [v for v, c in zip(values, labels, strict=True) if c == name]
        for name in sorted(set(labels))
    ]
    grand = sum(values) / len(values)
    between = sum(len(g) * (sum(g) / len(g) - grand) ** 2 for g in groups)
    within = sum((v - sum(g) / len(g)) ** 2 for g in groups for v in g)
    return between / (len(groups) - 1) / (within / (len(values) - len(groups)))
