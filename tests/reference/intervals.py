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
    least = 1.15 + 8 / n + 0.5 / len(repeats)
    return mean(errors), mean(spreads), max(1 + shared, least) if shared > noise else least, every


def degrees_of_mean(every, n, f):
    """Satterthwaite's degrees of freedom, and 2 alpha at most where alpha < 2: Hill's estimate."""
    center, squared = mean(every), variance(every, 0)
    kurtosis = mean([(value - center) ** 4 for value in every]) / squared**2
    degrees = min(n / f - 1, 2 * n / (kurtosis - 1))
    k, times = round(max(10, math.sqrt(n))), len(every) // n
    largest = sorted(every, reverse=True)[times // 2 :: times][: k + 1]
    if n > 2 * k and largest[k] > 0:
        spacings = [i * math.log(largest[i - 1] / largest[i]) for i in range(1, k + 1)]
        if 2 * sum(s > 0 for s in spacings) > k and tail_pvalue(spacings) >= 0.05:
            alpha = 1 / mean(spacings)
            degrees = min(degrees, 2 * max(1.0, alpha)) if alpha < 2 else degrees
    return max(1.0, degrees)


def tail_pvalue(spacings):
    """Fisher's (1929) exact P-value of the largest of exponential variables in their sum."""
    k, share = len(spacings), max(spacings) / sum(spacings)
    terms = (
        (-1) ** (j - 1) * math.comb(k, j) * (1 - j * share) ** (k - 1)
        for j in range(1, k + 1)
        if j * share < 1
    )
    return sum(terms)


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
