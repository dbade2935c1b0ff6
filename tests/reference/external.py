"""External indices by their definitions: loops over pairs, classes, clusters and pixels."""

from math import inf, sqrt

import numpy as np


def pair_counts(true, pred, weight=None):
    """SS, SD, DS, DD by a double loop; a weight above 1 also pairs a sample with its copies."""
    n = len(true)
    weight = [1] * n if weight is None else weight
    ss = sd = ds = dd = 0
    for i in range(n):
        ss += max(weight[i] * (weight[i] - 1) / 2, 0)
        for j in range(i + 1, n):
            together_true, together_pred = true[i] == true[j], pred[i] == pred[j]
            if together_true and together_pred:
                ss += weight[i] * weight[j]
            elif together_true:
                sd += weight[i] * weight[j]
            elif together_pred:
                ds += weight[i] * weight[j]
            else:
                dd += weight[i] * weight[j]
    return ss, sd, ds, dd


def size(label, labels, weight):
    return sum(w for value, w in zip(labels, weight, strict=True) if value == label)


def overlap(true_label, pred_label, true, pred, weight):
    return sum(
        w for t, p, w in zip(true, pred, weight, strict=True) if t == true_label and p == pred_label
    )


def purity(true, pred, weight=None):
    weight = [1] * len(true) if weight is None else weight
    if not len(true):
        return 1.0
    best = [max(overlap(t, p, true, pred, weight) for t in set(true)) for p in set(pred)]
    return sum(best) / sum(weight)


def class_f(true, pred, beta=1.0, weight=None):
    weight = [1] * len(true) if weight is None else weight
    if not len(true):
        return 1.0
    total = 0.0
    for t in set(true):
        scores = []
        for p in set(pred):
            common = overlap(t, p, true, pred, weight)
            if not common:
                scores.append(0.0)
                continue
            precision = common / size(p, pred, weight)
            recall = common / size(t, true, weight)
            scores.append((1 + beta**2) * precision * recall / (beta**2 * precision + recall))
        total += size(t, true, weight) / sum(weight) * max(scores)
    return total


def all_indices(true, pred, weight=None):
    """Every index; identical partitions score perfect, no pair in common scores 0."""
    ss, sd, ds, dd = pair_counts(true, pred, weight)
    same = sd == 0 and ds == 0
    precision = 1.0 if same else ss / (ss + ds) if ss + ds else 0.0
    recall = 1.0 if same else ss / (ss + sd) if ss + sd else 0.0
    return {
        "purity": purity(true, pred, weight),
        "inverse_purity": purity(pred, true, weight),
        "class_f_measure": class_f(true, pred, 1.0, weight),
        "pair_precision": precision,
        "pair_recall": recall,
        "pair_f1": 2 * precision * recall / (precision + recall) if precision + recall else 0.0,
        "pair_jaccard": 1.0 if same else ss / (ss + sd + ds),
        "rand": 1.0 if same else (ss + dd) / (ss + sd + ds + dd),
        "adjusted_rand": 1.0 if same else adjusted_rand(ss, sd, ds, dd),
        "fowlkes_mallows": sqrt(precision * recall),
        "minkowski": 0.0 if same else sqrt((sd + ds) / (ss + sd)) if ss + sd else inf,
    }


def adjusted_rand(ss, sd, ds, dd):
    """(index - expected index) / (largest index - expected index), Hubert and Arabie (1985)."""
    m, in_true, in_pred = ss + sd + ds + dd, ss + sd, ss + ds
    expected = in_true * in_pred / m
    return (ss - expected) / ((in_true + in_pred) / 2 - expected)


def coassociation(labels):
    return np.array([[int(u == v) for v in labels] for u in labels])


def mask_rand(masks_true, masks_pred):
    """Formula of the mask Rand index, with loops over masks and pixels."""
    sides = []
    for masks in (masks_true, masks_pred):
        rows = [np.ravel(mask).astype(float) for mask in masks]
        background = [min(max(1 - sum(pixel), 0), 1) for pixel in zip(*rows, strict=True)]
        sides.append([*rows, np.array(background)])
    table = np.array(
        [[sum(u * v for u, v in zip(s, r, strict=True)) for r in sides[1]] for s in sides[0]]
    )
    n = table.sum()
    margins = (table.sum(axis=0) ** 2).sum() + (table.sum(axis=1) ** 2).sum()
    return 1 - (margins / 2 - (table**2).sum()) / (n * (n - 1) / 2)
