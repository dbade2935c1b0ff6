"""The slow, obvious likelihood of a binomial mixed model of sites."""

import numpy as np
from scipy import integrate, stats
from scipy.special import expit


def log_likelihood(errors, sizes, mean, spread):
    """Sum over sites of the log of the integral over the site's log-odds, without constants."""
    total = 0.0
    for x, n in zip(errors, sizes, strict=True):
        nodes = np.linspace(mean - 12 * spread, mean + 12 * spread, 40_001)
        p = expit(nodes)
        density = p**x * (1 - p) ** (n - x) * stats.norm.pdf(nodes, mean, spread)
        total += np.log(integrate.simpson(density, x=nodes))
    return total
