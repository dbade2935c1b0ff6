"""Bands of curves by their definitions, one place at a time."""

from itertools import pairwise

import numpy as np
from reference.ranking import cuts
from scipy.stats import beta, norm


def binomial_limits(hits, size, tail, exact):
    """The limits of Clopper and Pearson, or of Jeffreys, from quantiles of beta distributions."""
    more = 0.0 if exact else 0.5
    low = beta.ppf(tail, hits + more, size - hits + 1 - more) if hits > 0 else 0.0
    high = beta.isf(tail, hits + 1 - more, size - hits + more) if hits < size else 1.0
    return low, high


def curve_limits(points, sizes, at, z, exact, n_angles=13):
    """Smallest and largest rate at `at` over deviations of length z, by walking the cuts."""
    n_x, n_y = sizes
    low, high = 1.0, 0.0
    for angle in np.linspace(0, np.pi / 2, n_angles):
        off = z * np.sin(angle) * np.sqrt(at * (1 - at) / n_x)
        foot, top = height(points, at - off, "foot"), height(points, at + off, "top")
        tail = norm.sf(z * np.cos(angle))
        low = min(low, foot, binomial_limits(foot * n_y, n_y, tail, exact)[0])
        high = max(high, top, binomial_limits(top * n_y, n_y, tail, exact)[1])
    return low, high


def height(points, at, end):
    """The foot or the top of the curve at a place; 0 before it begins and 1 after it ends."""
    here = [y for x, y in points if abs(x - at) < 1e-12]
    if here:
        return min([*here, 0.0] if at < 1e-12 else here) if end == "foot" else max(here)
    if at < 0 or at > 1:
        return float(at > 1)
    x0, y0 = max(point for point in points if point[0] < at)
    x1, y1 = min(point for point in points if point[0] > at)
    return y0 + (y1 - y0) * (at - x0) / (x1 - x0)


def distance(true, drawn, sizes):
    """The largest distance of the inner points of a curve from another, by dense pieces."""
    t = np.linspace(0, 1, 2001)[:, None]
    pieces = np.concatenate([a + t * (b - a) for a, b in pairwise(drawn)])
    found = []
    for x, y in true:
        if 0 < x < 1 and 0 < y < 1:
            scale = np.sqrt(x * (1 - x) / sizes[0]), np.sqrt(y * (1 - y) / sizes[1])
            found.append(np.hypot(*((pieces - (x, y)) / scale).T).min())
    return max(found)


def net_benefit(positive, proba, threshold, weight):
    """TP/n - FP/n odds, from a loop over the samples."""
    total = true = false = 0.0
    for is_positive, p, w in zip(positive, proba, weight, strict=True):
        total += w
        if p >= threshold:
            true, false = (true + w, false) if is_positive else (true, false + w)
    return true / total - false / total * threshold / (1 - threshold)


def precision_at(positive, score, weight, recall):
    """The precision of the first cut whose recall reaches a value that some cut has."""
    points = cuts(positive, score, weight)
    total = points[-1][1]
    return next(tp / (tp + fp) for _, tp, fp in points[1:] if tp / total >= recall - 1e-12)


def roc_points(positive, score, weight):
    points = cuts(positive, score, weight)
    return [(fp / points[-1][2], tp / points[-1][1]) for _, tp, fp in points]
