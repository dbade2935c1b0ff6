"""Whether an interval covered as often as it says."""

from scipy.stats import binom


def consistent_with(hits, n, probability=0.95, size=0.001):
    return min(binom.cdf(hits, n, probability), binom.sf(hits - 1, n, probability)) > size
