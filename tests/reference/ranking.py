"""Metrics over pairs and over every threshold."""

from fractions import Fraction
from itertools import combinations


def ranking_loss(positive, score, weight):
    loss = total = 0.0
    for i in range(len(score)):
        for j in range(len(score)):
            if positive[i] and not positive[j]:
                pair = weight[i] * weight[j]
                total += pair
                loss += pair * ((score[i] < score[j]) + 0.5 * (score[i] == score[j]))
    return loss / total


def cuts(positive, score, weight):
    """(threshold, true positives, false positives) for every threshold, the empty cut first."""
    points = [(float("inf"), 0.0, 0.0)]
    for threshold in sorted(set(score), reverse=True):
        tp = fp = 0
        for is_positive, s, w in zip(positive, score, weight, strict=True):
            if s >= threshold:
                tp, fp = (tp + w, fp) if is_positive else (tp, fp + w)
        points.append((threshold, tp, fp))
    return points


def break_even_point(positive, score, weight):
    """Walk along the (recall, precision) points until precision is no more above recall.

    Weights are taken as the fractions that they stand for, .1 as 1/10: nothing is rounded.
    """
    weight = [Fraction(float(w)).limit_denominator(10**6) for w in weight]
    total = sum(w for is_positive, w in zip(positive, weight, strict=True) if is_positive)
    before = None
    for _, tp, fp in cuts(positive, score, weight)[1:]:
        recall, precision = tp / total, tp / (tp + fp)
        if tp + fp >= total:
            if precision == recall or before is None:
                return float(precision)
            above, below = before[1] - before[0], recall - precision
            return float(before[1] + above / (above + below) * (precision - before[1]))
        if tp > 0:
            before = recall, precision
    raise AssertionError("the last cut predicts everything")


def envelope(positive, score, weight, x):
    """Normalized expected cost at x, the best over every threshold, and the best threshold."""
    points = cuts(positive, score, weight)
    m_pos, m_neg = points[-1][1], points[-1][2]
    return min(((1 - tp / m_pos) * x + fp / m_neg * (1 - x), t) for t, tp, fp in points)


def value_on_curve(x, y, at, side):
    """Height of a polyline just before (-1) or just after (+1) `at`, by a tiny step."""
    at = at + side * 1e-9
    for i in range(len(x) - 1):
        if x[i] <= at <= x[i + 1] and x[i] < x[i + 1]:
            return y[i] + (y[i + 1] - y[i]) * (at - x[i]) / (x[i + 1] - x[i])
    raise AssertionError("outside the curve")


def gains(positive, score, k):
    """Hits among the k samples with the highest scores, over all orders of tied samples."""
    order = sorted(range(len(score)), key=lambda i: -score[i])
    last = score[order[k - 1]]
    above = [i for i in order if score[i] > last]
    tied = [i for i in order if score[i] == last]
    drawn = list(combinations(tied, k - len(above)))
    hits = sum(sum(bool(positive[i]) for i in [*above, *some]) for some in drawn)
    return hits / len(drawn)
