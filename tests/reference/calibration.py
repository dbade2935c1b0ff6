"""Calibration by its definitions, sample by sample."""

from itertools import product
from math import log


def members(p, edges):
    """Return the indices of each bin: above its first edge, up to its second."""
    inner = edges[1:-1]
    places = [sum(edge < value for edge in inner) for value in p]
    found = [[i for i, place in enumerate(places) if place == k] for k in range(len(edges) - 1)]
    return [inside for inside in found if inside]


def mean(values, w, inside):
    return sum(w[i] * values[i] for i in inside) / sum(w[i] for i in inside)


def calibration_error(y, p, w, edges):
    total = sum(w)
    return sum(
        sum(w[i] for i in inside) / total * abs(mean(y, w, inside) - mean(p, w, inside))
        for inside in members(p, edges)
    )


def murphy(y, p, w, edges):
    """Return reliability, resolution, uncertainty, and the two terms within bins."""
    everyone, total = range(len(y)), sum(w)
    rate = mean(y, w, everyone)
    reliability = resolution = variance = covariance = 0.0
    for inside in members(p, edges):
        share = sum(w[i] for i in inside) / total
        forecast, fraction = mean(p, w, inside), mean(y, w, inside)
        reliability += share * (forecast - fraction) ** 2
        resolution += share * (fraction - rate) ** 2
        for i in inside:
            variance += w[i] / total * (p[i] - forecast) ** 2
            covariance += 2 * w[i] / total * (y[i] - fraction) * (p[i] - forecast)
    return reliability, resolution, rate * (1 - rate), variance, covariance


def pool_violators(y, p, w):
    """Return the isotonic regression of y on p: equal p are one, and a fall is averaged away."""
    blocks = []
    for value in sorted(set(p)):
        blocks.append([i for i in range(len(p)) if p[i] == value])
        while len(blocks) > 1 and mean(y, w, blocks[-2]) >= mean(y, w, blocks[-1]):
            last = blocks.pop()
            blocks[-1] += last
    found = [0.0] * len(p)
    for block in blocks:
        for i in block:
            found[i] = mean(y, w, block)
    return found


def mean_loss(y, q, w, loss):
    def one(happened, probability):
        if loss == "brier":
            return (probability - happened) ** 2
        return -log(probability if happened else 1 - probability)

    return sum(v * one(a, b) for a, b, v in zip(y, q, w, strict=True)) / sum(w)


def corp(y, p, w, loss):
    """Return miscalibration, discrimination and uncertainty."""
    rate = mean(y, w, range(len(y)))
    given, recalibrated, constant = (
        mean_loss(y, q, w, loss) for q in (p, pool_violators(y, p, w), [rate] * len(y))
    )
    return given - recalibrated, constant - recalibrated, constant


def number_of_events(p):
    """Return the probabilities of 0, 1, ... events, by all that can happen."""
    found = [0.0] * (len(p) + 1)
    for happened in product([0, 1], repeat=len(p)):
        probability = 1.0
        for value, event in zip(p, happened, strict=True):
            probability *= value if event else 1 - value
        found[sum(happened)] += probability
    return found
