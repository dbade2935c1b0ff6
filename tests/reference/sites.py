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


def log_likelihoods(errors, sizes, means, spreads):
    """The same for all pairs of a spread and a mean, from sums over one grid of log-odds."""
    nodes = np.arange(-30, 20, 0.03)
    counts, p = np.array([errors, sizes])[:, :, None], expit(nodes)
    of_sites = np.exp(counts[0] * np.log(p) + (counts[1] - counts[0]) * np.log1p(-p))
    found = np.empty((len(spreads), len(means)))
    for row, spread in zip(found, spreads, strict=True):
        density = stats.norm.pdf(nodes, means[:, None], spread)
        with np.errstate(divide="ignore"):  # hardly any density where there is likelihood
            row[:] = np.log(0.03 * density @ of_sites.T).sum(axis=1)
    return found
