"""Size and power of the tests of classifiers over data sets, by simulation.

Scores of k classifiers on N data sets are drawn from four populations:

- "equal": all alike, normal around the data set's own level;
- "noisy": all alike on average, but every other one varies thirty times as much as the rest;
- "skewed": k classifiers of the same mean, whose scores are exponential for every other one. Means
  are equal, medians and laws are not;
- "apart": the last is better by one standard deviation of a difference.

Counted in the first three is that any pair is called different (the familywise error), in the last
that the best differs from the first.

    python benchmarks/over_datasets.py [N_SIMULATIONS] > benchmarks/results/over_datasets.md
"""

import sys

import numpy as np
from scipy import stats

from skeval._inference.paired import (
    EXACT_UP_TO,
    critical_difference,
    distribute_signed_ranks,
    rank_error,
)

LEVEL = 0.05
SIZES, COUNTS = (5, 15, 50), (2, 5, 10)


def draw(kind, rng, shape):
    """Return scores (simulations, N, k)."""
    n_simulations, n, _ = shape
    noise = rng.normal(size=shape)
    if kind == "noisy":
        noise[:, :, ::2] *= 30.0
    elif kind == "skewed":
        noise[:, :, ::2] = rng.exponential(size=noise[:, :, ::2].shape) - 1.0
    elif kind == "apart":
        noise[:, :, -1] += np.sqrt(2)
    return noise + rng.normal(size=(n_simulations, n, 1))


def signed_rank_pvalues(d):
    """Return Wilcoxon's P-values along the second axis of (simulations, N, pairs), no ties."""
    n = d.shape[1]
    ranks = stats.rankdata(np.abs(d), axis=1)
    positive = np.where(d > 0, ranks, 0.0).sum(axis=1)
    smaller = np.minimum(positive, n * (n + 1) / 2 - positive)
    assert n <= EXACT_UP_TO
    below = np.cumsum(distribute_signed_ranks(tuple(range(2, 2 * n + 1, 2)))[::2])
    return np.minimum(2 * below[np.rint(smaller).astype(int)], 1.0)


def holm_rejects(pvalues):
    """Return which of (simulations, pairs) Holm's correction rejects."""
    m = pvalues.shape[1]
    order = np.argsort(pvalues, axis=1)
    adjusted = np.take_along_axis(pvalues, order, 1) * np.arange(m, 0, -1)
    adjusted = np.maximum.accumulate(adjusted, axis=1)
    rejected = np.empty_like(adjusted, dtype=bool)
    np.put_along_axis(rejected, order, adjusted <= LEVEL, 1)
    return rejected


def decide(scores):
    """Return by test which pairs it calls different, (simulations, pairs)."""
    _, n, k = scores.shape
    rows, columns = np.triu_indices(k, 1)
    means = stats.rankdata(-scores, axis=2).mean(axis=1)
    distances = np.abs(means[:, rows] - means[:, columns])
    differences = scores[:, :, rows] - scores[:, :, columns]
    z = distances / rank_error(n, k)
    found = {
        "wilcoxon, Holm": holm_rejects(signed_rank_pvalues(differences)),
        "nemenyi": distances >= critical_difference(n, k, 1 - LEVEL) - 1e-9,
        "mean ranks, Holm": holm_rejects(2 * stats.norm.sf(z)),
    }
    if k > 2:
        chi = 12 * n / (k * (k + 1)) * ((means - (k + 1) / 2) ** 2).sum(axis=1)
        rest = np.maximum(n * (k - 1) - chi, 1e-12)
        f = (n - 1) * chi / rest
        found["Friedman"] = (stats.chi2.sf(chi, k - 1) <= LEVEL)[:, None]
        found["Iman-Davenport"] = (stats.f.sf(f, k - 1, (k - 1) * (n - 1)) <= LEVEL)[:, None]
    return found


def count(kind, n, k, n_simulations, rng):
    """Return by test the fraction of simulations that count."""
    n_blocks = max(1, n_simulations * n * k * k // 20_000_000)
    block = n_simulations // n_blocks
    total = {}
    for _ in range(n_blocks):
        found = decide(draw(kind, rng, (block, n, k)))
        for test, rejected in found.items():
            omnibus = rejected.shape[1] == 1
            # of all pairs, or of the first and the last
            counted = (
                rejected[:, k - 2] if kind == "apart" and not omnibus else rejected.any(axis=1)
            )
            total[test] = total.get(test, 0) + counted.mean() / n_blocks
    return total


def main(n_simulations=4000):
    """Print the tables."""
    titles = {
        "equal": "All equal: any pair is called different (size, nominal .05)",
        "noisy": "Equal on average, every other noisy: any pair is called different (size)",
        "skewed": "Equal means, every other skewed: any pair is called different",
        "apart": "One is better by one standard deviation of a difference: it differs from the "
        "first (power)",
    }
    print(f"# Tests of classifiers over data sets\n\n{n_simulations} simulations a cell;", end=" ")
    print("made by `benchmarks/over_datasets.py`.")
    rng = np.random.default_rng(0)
    tests = ["wilcoxon, Holm", "nemenyi", "mean ranks, Holm", "Friedman", "Iman-Davenport"]
    for kind, title in titles.items():
        print(f"\n## {title}\n\n| N | k | " + " | ".join(tests) + " |")
        print("|" + " --- |" * (2 + len(tests)))
        for n in SIZES:
            for k in COUNTS:
                found = count(kind, n, k, n_simulations, rng)
                cells = [f"{found[test]:.3f}" if test in found else "" for test in tests]
                print(f"| {n} | {k} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
