"""The slow, obvious mean of a metric over units, and its variance."""

import numpy as np


def mean_over_units(metric, y_true, y_pred, units, weights=None):
    """Mean, standard error, and Satterthwaite's degrees of freedom, by the whole matrices."""
    names = sorted(set(units))
    values = []
    for name in names:
        chosen = [at for at, unit in enumerate(units) if unit == name]
        values.append(metric([y_true[at] for at in chosen], [y_pred[at] for at in chosen]))
    values = np.array(values)
    w = np.array([1.0 if weights is None else weights[name] for name in names])
    w /= w.sum()
    mean = sum(w * values)
    # residuals of values with a common variance, and the quadratic form of the estimated variance
    residual = np.eye(len(w)) - np.outer(np.ones(len(w)), w)
    unbiased = w**2 / np.diag(residual @ residual.T)
    variance = sum(unbiased * (values - mean) ** 2)
    form = residual.T @ np.diag(unbiased) @ residual
    return mean, np.sqrt(variance), np.trace(form) ** 2 / np.trace(form @ form)


def mean_over_fixed_units(values, lows, highs, errors, z, weights=None):
    """Mean of independent estimates, and ends from the sums of second and third cumulants."""
    w = np.ones(len(values)) if weights is None else np.array(weights, dtype=float)
    w /= w.sum()
    mean = second = third = 0.0
    for share, value, low, high, error in zip(w, values, lows, highs, errors, strict=True):
        half = max((high - low) / 2, z * error)
        mean += share * value
        second += share**2 * half**2
        third += share**3 * half**2 * ((high + low) / 2 - value)
    center = mean + third / second
    return mean, center - second**0.5, center + second**0.5
