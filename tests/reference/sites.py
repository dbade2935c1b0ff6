"""The slow, obvious rate at the median of some sites, and at another one."""

import numpy as np
from scipy import stats
from scipy.special import expit, logit

ATTENUATION = 256 * 3 / (225 * np.pi**2)


def weigh(rates, variances, between):
    """Return the weighted mean of the rates, and the sum of the weights."""
    weights = 1 / (variances + between)
    return np.sum(weights * rates) / weights.sum(), weights.sum()


def median_site(errors, sizes, between, level):
    """Return the median rate and its limits for a variance of the log-odds between sites."""
    errors, sizes, k = np.asarray(errors, float), np.asarray(sizes, float), len(sizes)
    rate = (errors.sum() + 0.5) / (sizes.sum() + 1)
    rates, variances = errors / sizes, rate * (1 - rate) / sizes
    of_rates = between * (rate * (1 - rate)) ** 2
    mean, total = weigh(rates, variances, of_rates)
    knapp = np.sum((rates - mean) ** 2 / (variances + of_rates)) / (k - 1) / total
    normal, student = stats.norm.isf((1 - level) / 2), stats.t.isf((1 - level) / 2, k - 1)
    half = max(normal * np.sqrt(1 / total), student * np.sqrt(knapp))
    size = rate * (1 - rate) / (half / normal) ** 2
    hits = mean * size
    low = stats.beta.ppf((1 - level) / 2, hits, size - hits + 1) if mean > 0 else 0.0
    high = stats.beta.isf((1 - level) / 2, hits + 1, size - hits) if mean < 1 else 1.0
    return expit(np.sqrt(1 + ATTENUATION * between) * logit(np.array([mean, low, high])))


def beyond_another_site(errors, sizes, ends, n_draws=200_000):
    """Return the probabilities that another one of equally large sites is beyond the ends."""
    errors, k, n = np.asarray(errors, float), len(errors), float(sizes[0])
    rates, rate = errors / n, (errors.sum() + 0.5) / (k * n + 1)
    slope = rate * (1 - rate)
    chi2 = np.random.default_rng(0).chisquare(k - 1, n_draws)
    between = np.maximum(0, np.sum((rates - rates.mean()) ** 2) / chi2 - slope / n)
    error = np.sqrt(between + (between + slope / n) / k) / slope
    odds = logit(rates.mean()) * np.sqrt(1 + ATTENUATION * between / slope**2)
    law = stats.t(k - 1, odds, error)
    return law.cdf(logit(ends[0])).mean(), law.sf(logit(ends[1])).mean()
