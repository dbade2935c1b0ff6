"""The slow, obvious range of a measure over the pairs of rates that a score test accepts."""

import numpy as np


def measures(prevalence, odds, s, t):
    """Predictive values, accuracy and net benefit of sensitivity s and specificity t."""
    sick, healthy = prevalence, 1 - prevalence
    return {
        "ppv": sick * s / (sick * s + healthy * (1 - t)),
        "npv": healthy * t / (healthy * t + sick * (1 - s)),
        "accuracy": sick * s + healthy * t,
        "net_benefit": sick * s - odds * healthy * (1 - t),
    }


def limits(prevalence, odds, rates, sizes, z=1.959964, correlation=0.0, n_points=2001):
    """Ends of each measure over a grid of all pairs of rates."""
    grid = np.linspace(0, 1, n_points)[1:-1]
    s, t = np.meshgrid(grid, grid, indexing="ij")
    a, b = (
        (own - rate) / np.sqrt(own * (1 - own) / n)
        for own, rate, n in zip((s, t), rates, sizes, strict=True)
    )
    form = (a**2 + b**2 - 2 * correlation * a * b) / (1 - correlation**2)
    accepted = form <= z**2
    found = measures(prevalence, odds, s[accepted], t[accepted])
    return {name: (values.min(), values.max()) for name, values in found.items()}
