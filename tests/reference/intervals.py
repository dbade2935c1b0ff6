"""Intervals of the error of a procedure: their definitions, one fit and one sample at a time.

Each takes the splits as lists of row numbers and returns an estimate and its standard error.
"""

import math

from scipy.stats import beta, norm
from sklearn.base import clone


def losses_of(model, X, y, train, test, loss):
    """The losses of each tested row, by a clone that is fitted to the training rows."""
    rule = clone(model).fit(X[train], y[train])
    return [loss(y[i], rule.predict(X[[i]])[0]) for i in test]


def mean(values):
    return sum(values) / len(values)


def variance(values, ddof=1):
    return sum((v - mean(values)) ** 2 for v in values) / (len(values) - ddof)


def grouped_variance(losses, groups):
    """Variance of a mean of losses by CR1."""
    center, sums = mean(losses), {}
    for e, group in zip(losses, groups, strict=True):
        sums[group] = sums.get(group, 0.0) + e - center
    G = len(sums)
    return G / (G - 1) * sum(s**2 for s in sums.values()) / len(losses) ** 2


def jeffreys(p, n, quantile):
    """Jeffreys' interval of a rate of n samples at the level of a normal quantile."""
    tail, a, b = norm.sf(quantile), p * n + 0.5, (1 - p) * n + 0.5
    return beta.ppf(tail, a, b) if p > 0 else 0.0, beta.isf(tail, a, b) if p < 1 else 1.0


def wilson(p, n, quantile):
    center = (p + quantile**2 / (2 * n)) / (1 + quantile**2 / n)
    half = quantile * math.sqrt(p * (1 - p) / n + quantile**2 / (4 * n**2)) / (1 + quantile**2 / n)
    return center - half, center + half


def holdout(model, X, y, split, loss):
    losses = losses_of(model, X, y, *split, loss)
    return mean(losses), math.sqrt(variance(losses) / len(losses))


def cv_wald(model, X, y, splits, loss, within_folds=False):
    folds = [losses_of(model, X, y, train, test, loss) for train, test in splits]
    pooled = [e for fold in folds for e in fold]
    s2 = mean([variance(fold) for fold in folds]) if within_folds else variance(pooled, ddof=0)
    return mean(pooled), math.sqrt(s2 / len(pooled))


def corrected_t(model, X, y, splits, loss):
    means = [mean(losses_of(model, X, y, train, test, loss)) for train, test in splits]
    J, (train, test) = len(splits), splits[0]
    factor = 1 / J + len(test) / len(train)
    return mean(means), math.sqrt(variance(means)) * math.sqrt(factor)


def nested_cv(model, X, y, repeats, K, loss):
    """`repeats` holds the fold of each row; K^2 separate fits for each of them."""
    n, a_minus_b, all_in, all_out = len(y), [], [], []
    for fold in repeats:
        rows = {k: [i for i in range(n) if fold[i] == k] for k in range(K)}
        for k in range(K):
            train = [i for i in range(n) if fold[i] != k]
            e_out = losses_of(model, X, y, train, rows[k], loss)
            e_in = []
            for other in range(K):
                if other != k:
                    train = [i for i in range(n) if fold[i] not in (k, other)]
                    e_in += losses_of(model, X, y, train, rows[other], loss)
            a_minus_b.append((mean(e_in) - mean(e_out)) ** 2 - variance(e_out) / len(e_out))
            all_in += e_in
            all_out += e_out
    mse = (K - 1) / K * mean(a_minus_b)
    naive = math.sqrt(variance(all_in) / n)
    se = min(max(math.sqrt(max(0.0, mse)), naive), math.sqrt(K) * naive)
    bias = (1 + (K - 2) / K) * (mean(all_in) - mean(all_out))
    return mean(all_in) - bias, se, mse / naive**2 if naive else None


def repeated_cv(model, X, y, repeats, K, loss):
    """The mean error, the mean variance of the losses, its inflation, and all of them."""
    n, errors, spreads, table = len(y), [], [], []
    for fold in repeats:
        row = [0.0] * n
        for k in range(K):
            train, test = ([i for i in range(n) if (fold[i] == k) == held] for held in (0, 1))
            for i, value in zip(test, losses_of(model, X, y, train, test, loss), strict=True):
                row[i] = value
        errors.append(mean(row))
        spreads.append(variance(row))
        table.append(row)
    every = [value for row in table for value in row]
    shared, noise, _ = shared_variance(table, repeats, [1.0] * n)
    zero_one = set(every) <= {0, 1}
    share = split_share(table, range(n), [1.0] * n)
    f = max(1.15 + share + (8 / n if zero_one else 0), 1 + shared - 0.8 * noise)
    return mean(errors), mean(spreads), f, every


def degrees_of_mean(every, n, f):
    """Satterthwaite's degrees of freedom, from the kurtosis of the losses."""
    center, squared = mean(every), variance(every, 0)
    kurtosis = mean([(value - center) ** 4 for value in every]) / squared**2
    return max(1.0, min(n / f - 1, 2 * n / (kurtosis - 1)))


def split_share(losses, unit, weights):
    """The variance of the mean of R repeats due to the splits, over that of one, unit by unit."""
    R, n, total = len(losses), len(weights), sum(weights)
    grand = sum(weights[i] * losses[r][i] for r in range(R) for i in range(n)) / (R * total)
    within = whole = 0.0
    for one in set(unit):
        of_unit = [i for i in range(n) if unit[i] == one]
        sums = [sum(weights[i] * (losses[r][i] - grand) for i in of_unit) for r in range(R)]
        within += variance(sums)
        whole += mean([value**2 for value in sums])
    return within / whole / R if whole else 0.0


def shared_variance(losses, fold, weights):
    """Bengio and Grandvalet's omega less gamma, pair by pair, over the variance of the mean.

    The second number is its standard deviation where nothing is shared, the third that of samples.

    `losses` and `fold` hold a list for each repeat; `weights` one number for each sample.
    """
    R, n, total = len(losses), len(weights), sum(weights)
    center = [mean([losses[r][i] for r in range(R)]) for i in range(n)]
    grand = sum(weights[i] * losses[r][i] for r in range(R) for i in range(n)) / (R * total)
    spread = sum(weights[i] * (losses[r][i] - grand) ** 2 for r in range(R) for i in range(n)) / (
        R * total
    )
    products, counts, squares = {True: 0.0, False: 0.0}, {True: 0.0, False: 0.0}, 0.0
    for r in range(R):
        for i in range(n):
            for j in range(n):
                if i != j:
                    together, w = fold[r][i] == fold[r][j], weights[i] * weights[j]
                    moved = (losses[r][i] - center[i]) * (losses[r][j] - center[j])
                    products[together] += w * moved
                    counts[together] += w
                    squares += 2 * (w * moved) ** 2 if together else 0.0
    shared = products[True] / counts[True] - products[False] / counts[False]
    size = total**2 / sum(w**2 for w in weights)
    factor = size / spread / (1 - 1 / R) ** 2
    return factor * shared, factor * math.sqrt(squares) / counts[True], size
