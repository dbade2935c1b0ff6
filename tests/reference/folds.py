"""Iterative stratification of labels by plain loops, with folds of equal sizes."""

import numpy as np


def deal_labels(labels, n_folds, rng):
    """Return the fold of each row, with the same random draws as the package."""
    n, n_labels = labels.shape
    wanted = [[sum(labels[:, k]) / n_folds for k in range(n_labels)] for _ in range(n_folds)]
    room = rng.permutation([(n + j) // n_folds for j in range(n_folds)]).tolist()
    fold = [-1] * n
    while -1 in fold:
        left = [row for row in range(n) if fold[row] < 0]
        counts = {k: sum(labels[row, k] for row in left) for k in range(n_labels)}
        counts = {k: count for k, count in counts.items() if count > 0}
        rarest = min(counts, key=lambda k: (counts[k], k)) if counts else None
        members = left if rarest is None else [row for row in left if labels[row, rarest]]
        for row in rng.permutation(np.array(members)):
            chance = rng.random(n_folds)
            lacks = room if rarest is None else [wanted[j][rarest] for j in range(n_folds)]
            allowed = [j for j in range(n_folds) if room[j] > 0]
            best = max(allowed, key=lambda j: (lacks[j], room[j], chance[j]))
            fold[row] = best
            room[best] -= 1
            for k in range(n_labels):
                wanted[best][k] -= labels[row, k]
    return np.array(fold)
