"""The slow, obvious analysis of readers and cases of Obuchowski and Rockette."""

import numpy as np
from scipy import stats


def area(truth, score):
    pairs = [
        (p, q)
        for p, t in zip(score, truth, strict=True)
        if t
        for q, u in zip(score, truth, strict=True)
        if not u
    ]
    return np.mean([(p > q) + 0.5 * (p == q) for p, q in pairs])


def delong(truth, scores):
    """Areas of each row of scores, and their covariance, from the placements of single cases."""
    positive = [k for k, t in enumerate(truth) if t]
    negative = [k for k, t in enumerate(truth) if not t]
    win = lambda s, p, q: (s[p] > s[q]) + 0.5 * (s[p] == s[q])  # noqa: E731
    over = np.array([[np.mean([win(s, p, q) for q in negative]) for p in positive] for s in scores])
    under = np.array(
        [[np.mean([win(s, p, q) for p in positive]) for q in negative] for s in scores]
    )
    return over.mean(axis=1), np.cov(over) / len(positive) + np.cov(under) / len(negative)


def jackknife(metric, truth, scores):
    """Values of each row of scores, and their covariance, by leaving out each case."""
    n = len(truth)
    kept = [[k for k in range(n) if k != left] for left in range(n)]
    values = [metric(truth, row) for row in scores]
    left_out = np.array([[metric(truth[k], row[k]) for k in kept] for row in scores])
    return np.array(values), np.cov(left_out) * (n - 1) ** 2 / n


def components(covariance, n_systems, n_readers):
    """Variance, Cov1, Cov2 and Cov3 as means over pairs of values."""
    kinds = {(True, True): [], (False, True): [], (True, False): [], (False, False): []}
    cells = [(i, j) for i in range(n_systems) for j in range(n_readers)]
    for row, (i, j) in enumerate(cells):
        for column, (k, m) in enumerate(cells):
            kinds[i == k, j == m].append(covariance[row, column])
    return [np.mean(entries) if entries else 0.0 for entries in kinds.values()]


def analyze(values, covariance, a=0, b=1, level=0.95):
    """Difference of two systems, its standard error, degrees of freedom, interval and P-value."""
    n_systems, n_readers = values.shape
    interaction = 0.0
    for i in range(n_systems):
        for j in range(n_readers):
            rest = values[i, j] - values[i].mean() - values[:, j].mean() + values.mean()
            interaction += rest**2 / ((n_systems - 1) * (n_readers - 1))
    _, _, same_system, neither = components(covariance, n_systems, n_readers)
    total = interaction + n_readers * max(same_system - neither, 0)
    degrees = total**2 / (interaction**2 / ((n_systems - 1) * (n_readers - 1)))
    error = np.sqrt(2 / n_readers * total)
    difference = values[a].mean() - values[b].mean()
    half = stats.t.ppf((1 + level) / 2, degrees) * error
    pvalue = 2 * stats.t.sf(abs(difference / error), degrees)
    return difference, error, degrees, difference - half, difference + half, pvalue


def analyze_fixed(values, covariance):
    """Difference of two systems with fixed readers, and its standard error."""
    n_readers = values.shape[1]
    variance, same_reader, same_system, neither = components(covariance, *values.shape)
    total = variance - same_reader + (n_readers - 1) * (same_system - neither)
    return values[0].mean() - values[1].mean(), np.sqrt(2 / n_readers * total)


def analyze_system(values, covariance):
    """Mean, standard error and degrees of freedom of one system of readers."""
    n = len(values)
    shared = np.mean([covariance[j, k] for j in range(n) for k in range(n) if j != k])
    square = np.var(values, ddof=1)
    total = square + n * max(shared, 0)
    return values.mean(), np.sqrt(total / n), total**2 / (square**2 / (n - 1))
