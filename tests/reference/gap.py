"""The gap statistic as Tibshirani, Walther and Hastie (2001) define it: loops over pairs."""

import math


def dispersion(X, labels, power=2):
    """W_k of equation (2): the sum over all ordered pairs of each cluster, over twice its size."""
    total = 0.0
    for cluster in set(labels):
        own = [x for x, label in zip(X, labels, strict=True) if label == cluster]
        total += sum(math.dist(a, b) ** power for a in own for b in own) / (2 * len(own))
    return total


def gap(log_w, reference_log_w):
    """The gap and s_k of one number of clusters."""
    B = len(reference_log_w)
    mean = sum(reference_log_w) / B
    sd = math.sqrt(sum((log - mean) ** 2 for log in reference_log_w) / B)
    return mean - log_w, sd * math.sqrt(1 + 1 / B)


def choice(candidates, gaps, errors):
    """The first k whose gap is at least that of the next k less its error; None if none is."""
    for row in range(len(candidates) - 1):
        if gaps[row] >= gaps[row + 1] - errors[row + 1]:
            return candidates[row]
    return None
