"""Stability of clusterings by its definition: loops over halves, samples, pairs and renamings."""

from itertools import permutations

import numpy as np
from reference.external import adjusted_rand, pair_counts


def nearest_labels(X_from, labels, X_to):
    """The label of the nearest neighbour, sample by sample."""
    result = []
    for point in X_to:
        distances = [sum((point - other) ** 2) for other in X_from]
        result.append(labels[int(np.argmin(distances))])
    return result


def adjusted_rand_agreement(labels, predicted):
    ss, sd, ds, dd = pair_counts(labels, predicted)
    return 1.0 if sd == ds == 0 else adjusted_rand(ss, sd, ds, dd)


def matched_accuracy(labels, predicted):
    """The best share of equal labels over all renamings of the clusters."""
    names = sorted(set(labels) | set(predicted))
    best = 0
    for renamed in permutations(names):
        name = dict(zip(names, renamed, strict=True))
        best = max(best, sum(a == name[b] for a, b in zip(labels, predicted, strict=True)))
    return best / len(labels)


def prediction_strength(labels, predicted):
    """The smallest share of kept pairs over clusters; a cluster without pairs keeps them all."""
    strengths = []
    for cluster in set(labels):
        members = [i for i, label in enumerate(labels) if label == cluster]
        pairs = [(i, j) for i in members for j in members if i != j]
        kept = sum(predicted[i] == predicted[j] for i, j in pairs)
        strengths.append(kept / len(pairs) if pairs else 1.0)
    return min(strengths)


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
