"""The slow, obvious definitions of the tests of classifiers over data sets."""

from itertools import permutations, product

import numpy as np
from scipy import integrate, stats


def mean_ranks(scores):
    n, k = len(scores), len(scores[0])
    means = [0.0] * k
    for row in scores:
        for j in range(k):
            better = sum(other > row[j] for other in row)
            same = sum(other == row[j] for other in row)
            means[j] += (better + (same + 1) / 2) / n
    return means


def friedman_pvalue(ranks):
    """By all orders of the ranks of every row."""

    def size(rows):
        return sum(sum(column) ** 2 for column in zip(*rows, strict=True))

    tables = list(product(*(permutations(row) for row in ranks)))
    return sum(size(table) >= size(ranks) - 1e-9 for table in tables) / len(tables)


def signed_rank_pvalue(differences):
    """Two-sided, by all signs of the ranks that there are."""
    used = [d for d in differences if d != 0]
    if not used:
        return 1.0
    sizes = [abs(d) for d in used]
    ranks = [sum(o < s for o in sizes) + (sum(o == s for o in sizes) + 1) / 2 for s in sizes]

    def distance(signs):
        return abs(sum(s * r for s, r in zip(signs, ranks, strict=True)))

    observed = distance([1 if d > 0 else -1 for d in used])
    signs = list(product([-1, 1], repeat=len(used)))
    return sum(distance(each) >= observed - 1e-9 for each in signs) / len(signs)


def signed_rank_draw(differences, rope, weights):
    """The three probabilities of one draw: above the region, within, below."""
    z = [0.0, *differences]
    found = [0.0, 0.0, 0.0]
    for i, a in enumerate(z):
        for j, b in enumerate(z):
            mean, weight = (a + b) / 2, weights[i] * weights[j]
            for place, size in ((0, mean), (2, -mean)):
                found[place] += weight * (1.0 if size > rope else 0.5 if size == rope else 0.0)
    found[1] = 1 - found[0] - found[2]
    return found


def mean_hierarchical(differences, rope, rho, widest):
    """Posterior means of the three probabilities of the hierarchical model, by quadrature.

    `widest` is the largest standard deviation of the priors relative to that of the data.
    """
    scale = np.mean([np.std(d) for d in differences])
    rope, data = rope / scale, [np.asarray(d) / scale for d in differences]
    furthest = max(np.abs(d).max() for d in data)
    inner = widest * np.mean([np.std(d) for d in data])
    outer = widest * np.std([d.mean() for d in data])
    center_grid = np.linspace(-furthest, furthest, 31)
    spread_grid = (np.arange(25) + 0.5) / 25 * outer
    freedom_grid = 1 + np.exp(np.linspace(np.log(0.02), np.log(600), 20))
    places = np.linspace(-4 * furthest, 4 * furthest, 401)

    def prior_of_freedom(freedom):
        # shape and rate are uniform; times the step of the logarithmic grid
        shapes, rates = np.meshgrid(np.linspace(1, 2, 21), np.linspace(0.01, 0.1, 21))
        return stats.gamma.pdf(freedom - 1, shapes, scale=1 / rates).mean() * (freedom - 1)

    def likelihood_of_center(d):
        """Of each place, with the standard deviation integrated out."""
        n = len(d)
        within = np.sum((d - d.mean()) ** 2) / (1 - rho)
        sums = within + n * (d.mean() - places) ** 2 / (1 + (n - 1) * rho)
        sigmas = (np.arange(500) + 0.5) / 500 * inner
        terms = sigmas[:, None] ** -n * np.exp(-sums / (2 * sigmas[:, None] ** 2))
        return terms.sum(axis=0)

    likelihoods = [likelihood_of_center(d) for d in data]
    total, means = 0.0, np.zeros(3)
    for freedom in freedom_grid:
        prior = prior_of_freedom(freedom)
        for center in center_grid:
            law = stats.t.pdf((places - center) / spread_grid[:, None], freedom)
            law /= spread_grid[:, None]
            weight = prior * np.prod(
                [integrate.trapezoid(law * each, places, axis=1) for each in likelihoods], axis=0
            )
            above = stats.t.sf((rope - center) / spread_grid, freedom)
            below = stats.t.cdf((-rope - center) / spread_grid, freedom)
            means += [weight @ above, weight @ (1 - above - below), weight @ below]
            total += weight.sum()
    return means / total
