"""Definitions for predictions of samples by models that were trained without them."""

import numpy as np
from scipy.stats import norm


def area_within_fits(fits, weights):
    """Share of pairs of a positive and a negative in order, among those that one model scored.

    `fits` is a list of (rows, positive, score).
    """
    right = total = 0.0
    for rows, positive, score in fits:
        for i in range(len(rows)):
            for j in range(len(rows)):
                if positive[i] and not positive[j]:
                    w = weights[rows[i]] * weights[rows[j]]
                    total += w
                    right += w * ((score[i] > score[j]) + 0.5 * (score[i] == score[j]))
    return right / total


def without_shifts(positive, score, fold):
    """Scores less the shift of each model: least squares on the class and on the folds."""
    shifts = (np.asarray(fold)[:, None] == np.unique(fold)).astype(float)
    design = np.column_stack([np.asarray(positive, dtype=float), shifts])
    coefficients = np.linalg.lstsq(design, np.asarray(score), rcond=None)[0]
    return np.asarray(score) - shifts @ coefficients[1:]


def wilson(rate, n, level):
    """Wilson's interval as the roots of (rate - p)^2 = z^2 p (1 - p) / n."""
    z2 = norm.ppf((1 + level) / 2) ** 2
    roots = np.roots([1 + z2 / n, -2 * rate - z2 / n, rate**2])
    return tuple(np.sort(roots.real))
