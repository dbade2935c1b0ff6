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


def largest_standardized(values, draws):
    """The largest of the values, each standardized by the draws of its row."""
    return max(
        (value - statistics.mean(row)) / statistics.stdev(row)
        for value, row in zip(values, draws, strict=True)
    )


def pvalue(values, draws):
    """The share of draws, with the data, whose statistic is as large; each without itself."""
    observed = largest_standardized(values, draws)
    n_draws, count = len(draws[0]), 0
    for b in range(n_draws):
        others = [[value for a, value in enumerate(row) if a != b] for row in draws]
        count += largest_standardized([row[b] for row in draws], others) >= observed
    return (1 + count) / (1 + n_draws)
