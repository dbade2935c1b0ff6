"""Hold-out errors, their intervals and sizes, literally."""

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm


def class_counts(y_true, y_pred):
    """{class: (N_c, k_c)}"""
    counts = {}
    for true, predicted in zip(y_true, y_pred, strict=True):
        n, k = counts.get(true, (0, 0))
        counts[true] = (n + 1, k + (true != predicted))
    return counts


def selective_error(y_true, y_pred, priors):
    counts = class_counts(y_true, y_pred)
    return sum(priors[c] * k / n for c, (n, k) in counts.items())


def selective_variance(y_true, y_pred, priors):
    total = 0.0
    for c, (n, k) in class_counts(y_true, y_pred).items():
        total += priors[c] ** 2 * (k / n) * (1 - k / n) / n
    return total


def wilson_by_roots(k, n, z):
    """The two p at which |k/n - p| = z sqrt(p (1 - p) / n)."""

    def excess(p):
        return (k / n - p) ** 2 - z**2 * p * (1 - p) / n

    # k/n itself is a root where it is 0 or 1; the other one lies strictly inside
    low = 0.0 if k == 0 else brentq(excess, 0.0, min(k / n, 1 - 1e-9), xtol=1e-15)
    high = 1.0 if k == n else brentq(excess, max(k / n, 1e-9), 1.0, xtol=1e-15)
    return low, high


def stratified_wilson(wrong, sizes, weights, level):
    """Yan & Su (2010) with given weights w_c.

    Wilson limits of each stratum at the quantile
    z' = z sqrt(sum w_c^2 V_c) / sum w_c sqrt(V_c), V_c = p_c (1 - p_c) / n_c, then their weighted
    means; the R packages tern and cardx compute the same.
    """
    z = norm.ppf((1 + level) / 2)
    squares = total = 0.0
    for k, n, w in zip(wrong, sizes, weights, strict=True):
        variance = (k / n) * (1 - k / n) / n
        squares += w**2 * variance
        total += w * variance**0.5
    quantile = z * squares**0.5 / total
    low = high = 0.0
    for k, n, w in zip(wrong, sizes, weights, strict=True):
        limits = wilson_by_roots(k, n, quantile)
        low += w * limits[0]
        high += w * limits[1]
    return low, high


def smallest_size(error, half_width, interval, level):
    """First N of 1, 2, 3 ... whose interval is short enough."""
    n = 1
    while True:
        low, high = interval(error * n, n, level)
        if (high - low) / 2 <= half_width:
            return n
        n += 1


def weighted_error(y_true, y_pred, weights):
    wrong = np.array([t != p for t, p in zip(y_true, y_pred, strict=True)], float)
    return sum(w * e for w, e in zip(weights, wrong, strict=True)) / sum(weights)
