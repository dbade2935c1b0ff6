"""external: all pair-counting indices of 10^7 labels against scikit-learn's functions in turn."""

import numpy as np
import sklearn.metrics
from _harness import growth_slope, paired_ratio, parse_arguments

from skeval.metrics.cluster import external_indices

N_SAMPLES, N_CLUSTERS = 10**7, 100


def labels(n_samples):
    rng = np.random.default_rng(0)
    true = rng.integers(0, N_CLUSTERS, n_samples)
    noise = rng.integers(0, N_CLUSTERS, n_samples)
    return true, np.where(rng.random(n_samples) < 0.7, true, noise)


def ours(pair):
    found = external_indices(*pair)
    return [found["rand"], found["adjusted_rand"], found["fowlkes_mallows"]]


def scikit_learn(pair):
    """The pair-counting indices that scikit-learn has; ours adds purity, F, Jaccard, Minkowski."""
    return [
        sklearn.metrics.rand_score(*pair),
        sklearn.metrics.adjusted_rand_score(*pair),
        sklearn.metrics.fowlkes_mallows_score(*pair),
    ]


if __name__ == "__main__":
    options = parse_arguments(__doc__)
    if options.sweep:
        pairs = {n: labels(n) for n in (10**5, 10**6, 10**7)}
        growth_slope("time against n", list(pairs), lambda n: external_indices(*pairs[n]))
    else:
        pair = labels(N_SAMPLES)
        paired_ratio(
            lambda: ours(pair),
            lambda: scikit_learn(pair),
            check=lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12),
            rounds=options.rounds,
        )
