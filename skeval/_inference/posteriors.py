"""Posterior of "better, practically equivalent, worse" on a next data set, from the data sets seen.

Every draw is a triple of probabilities: that the difference on a next data set lies above the
region of practical equivalence (ROPE), within it, and below it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import special

from skeval._inference.paired import RegionProbabilities
from skeval._inference.ranks import settle

__all__ = [
    "N_DRAWS",
    "dirichlet_weights",
    "hierarchical_draws",
    "largest_fractions",
    "signed_rank_draws",
]

Floats = NDArray[np.float64]
N_DRAWS = 10_000
"""From the posterior of the signed-rank test: a probability is known to 0.01."""

PRIOR_STRENGTH = 0.5
"""Of the pseudo-observation 0 of the signed-rank test."""

N_CHAINS, N_WARMUP, N_KEPT = 100, 200, 200
WIDEST = 1000.0
"""Largest standard deviation of the priors, relative to that of the data."""

ALPHA, BETA = (1.0, 2.0), (0.01, 0.1)
"""Ranges of the shape and rate of the Gamma prior of the degrees of freedom less 1."""


def largest_fractions(draws: Floats) -> RegionProbabilities:
    """Return the fraction of draws in which each of the three regions is the most probable."""
    largest = np.bincount(draws.argmax(axis=1), minlength=3) / len(draws)
    return RegionProbabilities._make(largest.tolist())


def dirichlet_weights(n: int, n_draws: int, rng: Generator) -> Floats:
    """Return draws of the weights of the pseudo-observation and of n differences."""
    return rng.dirichlet([PRIOR_STRENGTH, *np.ones(n)], n_draws)


def signed_rank_draws(differences: Floats, rope: float, weights: Floats) -> Floats:
    """Benavoli et al. (2014; 2017, section 4.2): a Dirichlet process with a pseudo-observation 0.

    A draw has weight w_i w_j for the mean of the differences i and j; a mean at the very end of
    the ROPE counts half on either side.
    """
    z = np.concatenate([[0.0], differences])
    sums, end = settle(np.append((z[:, None] + z).ravel(), 2 * rope)), len(z)
    means, edge = sums[:-1].reshape(end, end), sums[-1]
    above = (means > edge) + 0.5 * (means == edge)
    below = (means < -edge) + 0.5 * (means == -edge)
    p_above = np.einsum("di,di->d", weights @ above, weights)
    p_below = np.einsum("di,di->d", weights @ below, weights)
    return np.column_stack([p_above, np.maximum(1 - p_above - p_below, 0.0), p_below])


def hierarchical_draws(
    differences: list[Floats], rope: float, test_fraction: float, rng: Generator
) -> Floats:
    """Corani et al. (2017): cross-validated differences on several data sets.

    On data set i they are normal around d_i with standard deviation s_i and correlation
    ``rho = test_fraction``; d_i is Student's t around d_0 with scale s_0. Each draw gives the
    probabilities of the regions under that t. The priors are those of baycomp.
    """
    scale = float(np.mean([np.std(each) for each in differences])) or 1.0
    data = _summarise([each / scale for each in differences], rope / scale, test_fraction)
    chains = _Chains(data, rng)
    for _ in range(N_WARMUP):
        chains.advance()
    draws = []
    for _ in range(N_KEPT):
        chains.advance()
        ends = [-rope / scale - chains.centre, chains.centre - rope / scale]
        below, above = (special.stdtr(chains.freedom, end / chains.spread) for end in ends)
        draws.append(np.column_stack([above, np.maximum(1 - above - below, 0.0), below]))
    return np.concatenate(draws)


class _Summary(NamedTuple):
    """What the likelihood needs of q data sets, each an array (q,), and the ends of priors."""

    sizes: Floats
    means: Floats
    inner: Floats  # sum of squares around the mean, over 1 - rho
    shares: Floats  # n / (1 + (n - 1) rho): the precision of a mean is this over s^2
    furthest: float
    widest_inner: float
    widest_outer: float


def _summarise(differences: list[Floats], rope: float, rho: float) -> _Summary:
    sizes = np.array([len(each) for each in differences], dtype=float)
    means = np.array([each.mean() for each in differences])
    variances = np.array([each.var() for each in differences])
    # Equal differences leave no variance: that of a uniform law within the ROPE stands for it.
    variances = np.where(variances > 1e-24 * np.max(variances), variances, rope**2 / 3)
    outer = float(np.std(means)) or float(np.mean(np.sqrt(variances)))
    return _Summary(
        sizes,
        means,
        sizes * variances / (1 - rho),
        sizes / (1 + (sizes - 1) * rho),
        max(float(np.abs(each).max()) for each in differences) or 1.0,
        float(np.mean(np.sqrt(variances))) * WIDEST,
        outer * WIDEST,
    )


def _draw_precision(shape: Floats | float, rate: Floats, least: float, rng: Generator) -> Floats:
    """Return draws of a gamma law that is cut off below."""
    draws: Floats = rng.gamma(shape, 1 / rate)
    below = draws < least
    if below.any():
        shape, rate = np.broadcast_to(shape, draws.shape)[below], rate[below]
        kept = special.gammaincc(shape, least * rate)
        # The probability above such a draw is uniform in (0, kept].
        again = special.gammainccinv(shape, kept * (1 - rng.random(kept.shape))) / rate
        draws[below] = np.maximum(again, least)
    return draws


class _Chains:
    """Gibbs sampler of many independent chains at once; arrays are (chains, q) or (chains,)."""

    def __init__(self, data: _Summary, rng: Generator) -> None:
        self.data, self.rng = data, rng
        shape = N_CHAINS, len(data.means)
        self.inner_variance = np.tile(data.inner / data.sizes, (N_CHAINS, 1))
        noise = np.sqrt(self.inner_variance / data.shares)
        self.centres = data.means + noise * rng.normal(size=shape)  # d_i
        self.centre = self.centres.mean(axis=1)  # d_0
        self.spread = self.centres.std(axis=1) + 1e-3  # s_0
        self.freedom = 1 + rng.gamma(1.5, 1 / 0.05, N_CHAINS)
        self.alpha, self.beta = rng.uniform(*ALPHA, N_CHAINS), rng.uniform(*BETA, N_CHAINS)
        self.mixing = np.ones(shape)  # d_i is normal with variance s_0^2 / mixing_i

    def advance(self) -> None:
        """Draw every parameter once, given all others."""
        self._draw_freedom()
        self._draw_mixing()
        self._draw_centre_and_spread()
        self._draw_data_sets()
        self._draw_prior_of_freedom()

    def _draw_freedom(self) -> None:
        """Metropolis step on log(nu - 1), with the mixing integrated out."""
        scaled = (self.centres - self.centre[:, None]) / self.spread[:, None]

        def log_density(freedom: Floats) -> Floats:
            prior = self.alpha * np.log(freedom - 1) - self.beta * (freedom - 1)
            terms = np.log1p(scaled**2 / freedom[:, None]).sum(axis=1) * (freedom + 1) / 2
            norms = special.gammaln((freedom + 1) / 2) - special.gammaln(freedom / 2)
            norms -= np.log(freedom) / 2
            return prior + scaled.shape[1] * norms - terms

        steps = np.exp(self.rng.normal(0, 1.0, N_CHAINS))
        # With so many degrees of freedom the t law is normal, and more of them change nothing.
        proposed = 1 + np.clip((self.freedom - 1) * steps, 1e-9, 1e6)
        gain = log_density(proposed) - log_density(self.freedom)
        taken = np.log(self.rng.random(N_CHAINS)) < gain
        self.freedom = np.where(taken, proposed, self.freedom)

    def _draw_mixing(self) -> None:
        scaled = (self.centres - self.centre[:, None]) / self.spread[:, None]
        freedom = self.freedom[:, None]
        self.mixing = self.rng.gamma((freedom + 1) / 2, 2 / (freedom + scaled**2))

    def _draw_centre_and_spread(self) -> None:
        total = self.mixing.sum(axis=1)
        mean = (self.mixing * self.centres).sum(axis=1) / total
        error = self.spread / np.sqrt(total)
        low, high = special.ndtr((np.array([[-1.0], [1.0]]) * self.data.furthest - mean) / error)
        level = low + (high - low) * self.rng.random(N_CHAINS)
        self.centre = np.clip(
            mean + error * special.ndtri(level), -self.data.furthest, self.data.furthest
        )
        squares = (self.mixing * (self.centres - self.centre[:, None]) ** 2).sum(axis=1)
        least = self.data.widest_outer**-2.0
        shape = (self.centres.shape[1] - 1) / 2
        self.spread = _draw_precision(shape, squares / 2, least, self.rng) ** -0.5

    def _draw_data_sets(self) -> None:
        data = self.data
        outside = self.mixing / self.spread[:, None] ** 2
        inside = data.shares / self.inner_variance
        mean = (outside * self.centre[:, None] + inside * data.means) / (outside + inside)
        noise = self.rng.normal(size=mean.shape)
        self.centres = mean + noise / np.sqrt(outside + inside)
        squares = data.inner + data.shares * (data.means - self.centres) ** 2
        least = data.widest_inner**-2.0
        precision = _draw_precision((data.sizes - 1) / 2, squares / 2, least, self.rng)
        self.inner_variance = 1 / precision

    def _draw_prior_of_freedom(self) -> None:
        """Metropolis step that proposes from the priors of alpha and beta."""
        alpha, beta = self.rng.uniform(*ALPHA, N_CHAINS), self.rng.uniform(*BETA, N_CHAINS)
        new = log_gamma_density(self.freedom - 1, alpha, beta)
        old = log_gamma_density(self.freedom - 1, self.alpha, self.beta)
        taken = np.log(self.rng.random(N_CHAINS)) < new - old
        self.alpha = np.where(taken, alpha, self.alpha)
        self.beta = np.where(taken, beta, self.beta)


def log_gamma_density(x: Floats, shape: Floats, rate: Floats) -> Floats:
    """Return the logarithm of the density of a gamma law, but for what depends on x alone."""
    density: Floats = shape * np.log(rate * x) - rate * x - special.gammaln(shape)
    return density
