"""The slow, obvious mean of a metric over units, and its variance."""

import numpy as np


def mean_over_units(metric, y_true, y_pred, units):
    """Mean, standard error and degrees of freedom."""
    names = sorted(set(units))
    values = []
    for name in names:
        chosen = [at for at, unit in enumerate(units) if unit == name]
        values.append(metric([y_true[at] for at in chosen], [y_pred[at] for at in chosen]))
    k, mean = len(values), sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / (k - 1)
    return mean, np.sqrt(variance / k), k - 1
