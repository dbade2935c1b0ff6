"""The bootstrap estimates of error as their papers print them: plain loops, no cleverness."""

import itertools

import numpy as np
from sklearn.base import clone


def rows_of(X, rows):
    """Rows of an array, sparse matrix, data frame or list."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if isinstance(X, list):
        return [X[row] for row in rows]
    return X[rows]


def zero_one(true, predicted):
    return float(true != predicted)


def squared(true, predicted):
    return float((true - predicted) ** 2)


def absolute(true, predicted):
    return float(abs(true - predicted))


def out_of_bag_losses(estimator, X, y, indices, loss=zero_one):
    """Q (B, n): the loss of each sample under each resample, nan where it was drawn."""
    y = np.asarray(y)
    Q = np.full((len(indices), len(y)), np.nan)
    for b, drawn in enumerate(indices):
        left_out = [i for i in range(len(y)) if i not in set(drawn)]
        model = clone(estimator).fit(rows_of(X, drawn), y[drawn])
        for i, predicted in zip(left_out, model.predict(rows_of(X, left_out)), strict=True):
            Q[b, i] = loss(y[i], predicted)
    return Q


def mean_over_samples(Q):
    per_sample = [np.mean([q for q in Q[:, i] if q == q]) for i in range(Q.shape[1])]
    return np.mean(per_sample)


def mean_over_bootstraps(Q):
    return np.mean([np.mean([q for q in row if q == q]) for row in Q])


def apparent_and_no_information(estimator, X, y, loss=zero_one):
    """AE of one fit on all samples, and gamma over all n^2 pairs."""
    y = np.asarray(y)
    predicted = clone(estimator).fit(X, y).predict(X)
    n = len(y)
    apparent = sum(loss(y[i], predicted[i]) for i in range(n)) / n
    pairs = sum(loss(y[i], predicted[j]) for i in range(n) for j in range(n))
    return apparent, pairs / n**2


def point632(apparent, oob):
    return 0.368 * apparent + 0.632 * oob


def point632plus(apparent, oob, gamma):
    """Efron & Tibshirani (1997), section 3, with BI' = min(BI, gamma) throughout."""
    capped = min(oob, gamma)
    R = 0.0
    if capped > apparent and gamma > apparent:
        R = (capped - apparent) / (gamma - apparent)
    w = 0.632 / (1 - 0.368 * R)
    return (1 - w) * apparent + w * capped


def all_resamples(units_by_stratum):
    """Every equally likely resample of units, as counts (B, n_units)."""
    n_units = sum(len(units) for units in units_by_stratum)
    draws = [itertools.product(units, repeat=len(units)) for units in units_by_stratum]
    return np.array(
        [
            np.bincount([unit for part in parts for unit in part], minlength=n_units)
            for parts in itertools.product(*draws)
        ]
    )


def paper_influence(Q, counts):
    """D_i of Efron & Tibshirani (1997), eq. (36) to (40), over the given resamples.

    D_i = (2 + 1/(n-1)) (E_i - BI)/n + (1 - 1/n)^-n (1/B) sum_b (N_i^b - mean N_i) q^b.
    """
    B, n = Q.shape
    E = np.zeros(n)
    for i in range(n):
        left_out = [b for b in range(B) if counts[b, i] == 0]
        E[i] = sum(Q[b, i] for b in left_out) / len(left_out)
    q = [sum(Q[b, j] for j in range(n) if counts[b, j] == 0) / n for b in range(B)]
    D = np.zeros(n)
    for i in range(n):
        mean_count = sum(counts[b, i] for b in range(B)) / B
        covariance = sum((counts[b, i] - mean_count) * q[b] for b in range(B)) / B
        D[i] = (2 + 1 / (n - 1)) * (E[i] - E.mean()) / n + covariance / (1 - 1 / n) ** n
    return D


def out_of_bag_functional(Q, unit, counts, size, probability):
    """BI where unit u is drawn with probability[u] within its stratum of size[u] units.

    Q (B, n) holds the loss of every sample under every resample of `counts` (B, n_units). A
    stratum weighs what it holds, so a sample weighs size[u] probability[u].
    """
    likelihood = np.prod(probability**counts, axis=1)
    numerator = denominator = 0.0
    for i, u in enumerate(unit):
        left_out = counts[:, u] == 0
        error = np.sum(likelihood[left_out] * Q[left_out, i]) / np.sum(likelihood[left_out])
        numerator += size[u] * probability[u] * error
        denominator += size[u] * probability[u]
    return numerator / denominator


def numerical_influence(functional, strata, step=1e-5):
    """(1/n_h) d/de functional((1 - e) F_h + e delta_u) for each unit u of each stratum h.

    `functional` takes the probabilities of all units, which sum to 1 within each stratum and are
    1/n_h there under the empirical distribution.
    """
    n_units = sum(len(units) for units in strata)
    start = np.empty(n_units)
    for units in strata:
        start[units] = 1 / len(units)
    D = np.zeros(n_units)
    for units in strata:
        for u in units:
            direction = np.zeros(n_units)
            direction[units] = -start[units]
            direction[u] += 1
            ahead = functional(start + step * direction)
            behind = functional(start - step * direction)
            D[u] = (ahead - behind) / (2 * step) / len(units)
    return D
