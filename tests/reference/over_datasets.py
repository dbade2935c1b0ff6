"""The slow, obvious definitions of the tests of classifiers over data sets."""

from itertools import product

import numpy as np


def mean_ranks(scores):
    n, k = len(scores), len(scores[0])
    means = [0.0] * k
    for row in scores:
        for j in range(k):
            better = sum(other > row[j] for other in row)
            same = sum(other == row[j] for other in row)
            means[j] += (better + (same + 1) / 2) / n
    return means


def signed_rank_pvalue(differences):
    """Two-sided, by all signs of the ranks that there are."""
    used = [d for d in differences if d != 0]
    if not used:
        return 1.0
    sizes = [abs(d) for d in used]
    ranks = [sum(o < s for o in sizes) + (sum(o == s for o in sizes) + 1) / 2 for s in sizes]

    def distance(signs):
        return abs(sum(s * r for s, r in zip(signs, ranks, strict=True)))

    observed = distance([1 if d > 0 else -1 for d in used])
    signs = list(product([-1, 1], repeat=len(used)))
    return sum(distance(each) >= observed - 1e-9 for each in signs) / len(signs)


def skillings_mack(scores):
    """The statistic, with None for a missing score, by the covariance of ranks without ties."""
    k = len(scores[0])
    sums, covariance = np.zeros(k), np.zeros((k, k))
    for row in scores:
        held = [j for j in range(k) if row[j] is not None]
        for j in held:
            better = sum(row[other] > row[j] for other in held)
            same = sum(row[other] == row[j] for other in held)
            rank = better + (same + 1) / 2
            sums[j] += (12 / (len(held) + 1)) ** 0.5 * (rank - (len(held) + 1) / 2)
            for other in held:
                covariance[j, other] -= other != j
                covariance[j, j] += other != j
    part = covariance[:-1, :-1]
    return float(sums[:-1] @ np.linalg.solve(part, sums[:-1]))
