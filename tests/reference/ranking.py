"""Metrics over pairs and over every threshold."""


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
        tp = fp = 0.0
        for is_positive, s, w in zip(positive, score, weight, strict=True):
            if s >= threshold:
                tp, fp = (tp + w, fp) if is_positive else (tp, fp + w)
        points.append((threshold, tp, fp))
    return points


def break_even_point(positive, score, weight):
    """Walk along the (recall, precision) points until precision is no more above recall."""
    total = sum(w for is_positive, w in zip(positive, weight, strict=True) if is_positive)
    points = [(tp / total, tp / (tp + fp)) for _, tp, fp in cuts(positive, score, weight)[1:]]
    wanted = [tp + fp >= total for _, tp, fp in cuts(positive, score, weight)[1:]]
    r0, p0 = 0.0, points[0][1]
    for (r1, p1), reached in zip(points, wanted, strict=True):
        if reached:
            if p1 == r1:
                return p1
            t = (p0 - r0) / ((p0 - r0) + (r1 - p1))
            return p0 + t * (p1 - p0)
        r0, p0 = r1, p1
    raise AssertionError("the last cut predicts everything")


def envelope(positive, score, weight, x):
    """Normalised expected cost at x, the best over every threshold, and the best threshold."""
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
