"""Stability of clusterings by its definition: loops over halves, samples, pairs and renamings."""

from itertools import permutations

import numpy as np
from reference.external import adjusted_rand, pair_counts


def nearest_labels(X_from, labels, X_to):
    """The label of the nearest neighbor, sample by sample."""
    result = []
    for point in X_to:
        distances = [sum((point - other) ** 2) for other in X_from]
        result.append(labels[int(np.argmin(distances))])
    return result


def without_noise(labels, predicted):
    """Leave out what is noise on both sides; any other sample of noise is alone."""
    pairs = [(a, b) for a, b in zip(labels, predicted, strict=True) if (a, b) != (-1, -1)]
    own = [f"alone {i}" if a == -1 else a for i, (a, _) in enumerate(pairs)]
    other = [f"alone {i}" if b == -1 else b for i, (_, b) in enumerate(pairs)]
    return own, other


def adjusted_rand_agreement(labels, predicted):
    """The adjusted Rand index; 0 where the labels put no two samples together."""
    labels, predicted = without_noise(labels, predicted)
    if len(set(labels)) == len(labels):
        return 0.0
    ss, sd, ds, dd = pair_counts(labels, predicted)
    return 1.0 if sd == ds == 0 else adjusted_rand(ss, sd, ds, dd)


def matched_accuracy(labels, predicted):
    """The best share of equal labels over all renamings of the clusters; noise equals nothing."""
    names = sorted(set(labels) | set(predicted))
    if all(labels.count(name) < 2 for name in set(labels) - {-1}):
        return 0.0
    either = sum((a, b) != (-1, -1) for a, b in zip(labels, predicted, strict=True))
    best = 0
    for renamed in permutations(names):
        name = dict(zip(names, renamed, strict=True))
        equal = sum(
            a == name[b] and a != -1 and b != -1 for a, b in zip(labels, predicted, strict=True)
        )
        best = max(best, equal)
    return best / either if either else 0.0


def prediction_strength(labels, predicted):
    """The smallest share of kept pairs over clusters; one of fewer than 3 samples counts 0."""
    strengths = []
    for cluster in set(labels) - {-1}:
        members = [i for i, label in enumerate(labels) if label == cluster]
        pairs = [(i, j) for i in members for j in members if i != j]
        kept = sum(predicted[i] == predicted[j] != -1 for i, j in pairs)
        strengths.append(kept / len(pairs) if len(members) >= 3 else 0.0)
    return min(strengths, default=0.0)


def halving(cluster, X, first, second, agreement):
    """Cluster both halves, transfer the clusters both ways, average the agreement."""
    labels_first, labels_second = list(cluster(X[first])), list(cluster(X[second]))
    forth = nearest_labels(X[first], labels_first, X[second])
    back = nearest_labels(X[second], labels_second, X[first])
    return (agreement(labels_second, forth) + agreement(labels_first, back)) / 2


def dominates(a, b, greater_is_better):
    """At least as good on every criterion, better on one."""
    no_worse = better = 0
    for x, y, up in zip(a, b, greater_is_better, strict=True):
        x, y = (x, y) if up else (-x, -y)
        no_worse += x >= y
        better += x > y
    return no_worse == len(a) and better > 0
