"""Sequential tests of the number of clusters by their definitions, with loops."""

import statistics


def minorant(x, y):
    """The greatest convex function below the points (x, y), at x: the lowest chord."""
    values = []
    for j in range(len(x)):
        chords = [y[j]]
        for i in range(j):
            for k in range(j + 1, len(x)):
                share = (x[j] - x[i]) / (x[k] - x[i])
                chords.append((1 - share) * y[i] + share * y[k])
        values.append(min(chords))
    return values


def unimodal(x, y, modes):
    """The distribution function closest to y that is convex up to a mode and concave above."""
    best = None
    for mode in modes:
        left = minorant(x[: mode + 1], y[: mode + 1])
        right = [-value for value in minorant(x[mode:], [-value for value in y[mode:]])]
        fitted = left + right[1:]
        distance = max(abs(a - b) for a, b in zip(fitted, y, strict=True))
        if best is None or distance < best[0]:
            best = distance, fitted
    return best[1]


def pvalue(values, draws, handicap=2):
    """The share of the data and the draws whose statistic is as large as that of the data.

    Each value is standardized by the others of its row. If the last row varies, the other rows are
    `handicap` behind it.
    """
    table = [[value, *row] for value, row in zip(values, draws, strict=True)]
    behind = handicap if len(set(table[-1])) > 1 else 0

    def statistic(b):
        scores = []
        for place, row in enumerate(table):
            others = row[:b] + row[b + 1 :]
            if len(set(row)) > 1:
                score = (row[b] - statistics.mean(others)) / statistics.stdev(others)
                scores.append(score - (behind if place < len(table) - 1 else 0))
        return max(scores)

    statistics_of_all = [statistic(b) for b in range(len(table[0]))]
    return sum(one >= statistics_of_all[0] for one in statistics_of_all) / len(table[0])
