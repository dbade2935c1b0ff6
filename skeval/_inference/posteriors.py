"""Posterior of "better, practically equivalent, worse" on a future data set.

Each draw is a triple of probabilities: that the difference on a future data set lies above the
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

Floats = NDArray[np.float64]
N_DRAWS = 10_000
"""Number of draws of the signed-rank test; probabilities have a Monte Carlo error of about 0.01."""

PRIOR_STRENGTH = 0.5
"""Weight of the pseudo-observation 0 of the signed-rank test."""

N_CHAINS, N_WARMUP, N_KEPT = 100, 200, 200
MAX_PRIOR_SCALE = 1000.0
"""Largest standard deviation of the priors, relative to the data."""

ALPHA, BETA = (1.0, 2.0), (0.01, 0.1)
"""Ranges of the shape and rate of the Gamma prior of the degrees of freedom less 1."""


def largest_fractions(draws: Floats) -> RegionProbabilities:
    """Return for each of the three regions the fraction of draws that favor it."""
    largest = np.bincount(draws.argmax(axis=1), minlength=3) / len(draws)
    return RegionProbabilities._make(largest.tolist())


def dirichlet_weights(n: int, n_draws: int, rng: Generator) -> Floats:
    """Return draws of the weights of the pseudo-observation and of n differences."""
    return rng.dirichlet([PRIOR_STRENGTH, *np.ones(n)], n_draws)


def signed_rank_draws(differences: Floats, rope: float, weights: Floats) -> Floats:
    """Return draws of Benavoli et al. (2014; 2017, section 4.2): a Dirichlet process prior.

    The prior has a pseudo-observation 0. A draw has weight w_i w_j for the mean of the differences
    i and j. A mean exactly at an end of the ROPE counts half on either side.
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
    """Return draws of Corani et al. (2017): cross-validated differences on several data sets.

    On data set i the differences are normal with mean d_i, standard deviation s_i and correlation
    ``rho = test_fraction``; d_i is Student's t with center d_0 and scale s_0. Each draw contains
    the probabilities of the regions under that t distribution. The priors are those of baycomp.
    """
    scale = float(np.mean([np.std(values) for values in differences])) or 1.0
    data = _summarize([values / scale for values in differences], rope / scale, test_fraction)
    chains = _Chains(data, rng)
    for _ in range(N_WARMUP):
        chains.advance()
    draws = []
    for _ in range(N_KEPT):
        chains.advance()
        ends = [-rope / scale - chains.center, chains.center - rope / scale]
        below, above = (special.stdtr(chains.freedom, end / chains.spread) for end in ends)
        draws.append(np.column_stack([above, np.maximum(1 - above - below, 0.0), below]))
    return np.concatenate(draws)


class _Summary(NamedTuple):
    """Sufficient statistics of q data sets, arrays of shape (q,), and bounds of the priors."""

    sizes: Floats
    means: Floats
    inner: Floats  # sum of squares around the mean, over 1 - rho
    shares: Floats  # n / (1 + (n - 1) rho): the precision of a mean is this over s^2
    furthest: float
    widest_inner: float
    widest_outer: float


def _summarize(differences: list[Floats], rope: float, rho: float) -> _Summary:
    sizes = np.array([len(values) for values in differences], dtype=float)
    means = np.array([values.mean() for values in differences])
    variances = np.array([values.var() for values in differences])
    # without variance, use the variance of a uniform distribution on the ROPE
    variances = np.where(variances > 1e-24 * np.max(variances), variances, rope**2 / 3)
    outer = float(np.std(means)) or float(np.mean(np.sqrt(variances)))
    return _Summary(
        sizes,
        means,
        sizes * variances / (1 - rho),
        sizes / (1 + (sizes - 1) * rho),
        max(float(np.abs(values).max()) for values in differences) or 1.0,
        float(np.mean(np.sqrt(variances))) * MAX_PRIOR_SCALE,
        outer * MAX_PRIOR_SCALE,
    )


def _draw_precision(shape: Floats | float, rate: Floats, least: float, rng: Generator) -> Floats:
    """Return draws of a gamma distribution truncated below at `least`."""
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
    """Gibbs sampler of independent chains; arrays have shape (chains, q) or (chains,)."""

    def __init__(self, data: _Summary, rng: Generator) -> None:
        self.data, self.rng = data, rng
        shape = N_CHAINS, len(data.means)
        self.inner_variance = np.tile(data.inner / data.sizes, (N_CHAINS, 1))
        noise = np.sqrt(self.inner_variance / data.shares)
        self.centers = data.means + noise * rng.normal(size=shape)  # d_i
        self.center = self.centers.mean(axis=1)  # d_0
        self.spread = self.centers.std(axis=1) + 1e-3  # s_0
        self.freedom = 1 + rng.gamma(1.5, 1 / 0.05, N_CHAINS)
        self.alpha, self.beta = rng.uniform(*ALPHA, N_CHAINS), rng.uniform(*BETA, N_CHAINS)
        self.mixing = np.ones(shape)  # d_i is normal with variance s_0^2 / mixing_i

    def advance(self) -> None:
        """Draw each parameter once from its conditional distribution."""
        self._draw_freedom()
        self._draw_mixing()
        self._draw_center_and_spread()
        self._draw_data_sets()
        self._draw_prior_of_freedom()

    def _draw_freedom(self) -> None:
        """Take a Metropolis step on log(nu - 1), with the mixing integrated out."""
        scaled = (self.centers - self.center[:, None]) / self.spread[:, None]

        def log_density(freedom: Floats) -> Floats:
            prior = self.alpha * np.log(freedom - 1) - self.beta * (freedom - 1)
            terms = np.log1p(scaled**2 / freedom[:, None]).sum(axis=1) * (freedom + 1) / 2
            norms = special.gammaln((freedom + 1) / 2) - special.gammaln(freedom / 2)
            norms -= np.log(freedom) / 2
            return prior + scaled.shape[1] * norms - terms

        steps = np.exp(self.rng.normal(0, 1.0, N_CHAINS))
        # Beyond 1e6 degrees of freedom the t distribution is normal.
        proposed = 1 + np.clip((self.freedom - 1) * steps, 1e-9, 1e6)
        gain = log_density(proposed) - log_density(self.freedom)
        taken = np.log(self.rng.random(N_CHAINS)) < gain
        self.freedom = np.where(taken, proposed, self.freedom)

    def _draw_mixing(self) -> None:
        scaled = (self.centers - self.center[:, None]) / self.spread[:, None]
        freedom = self.freedom[:, None]
        self.mixing = self.rng.gamma((freedom + 1) / 2, 2 / (freedom + scaled**2))

    def _draw_center_and_spread(self) -> None:
        # d_0: normal, truncated to the range of the data
        total = self.mixing.sum(axis=1)
        mean = (self.mixing * self.centers).sum(axis=1) / total
        error = self.spread / np.sqrt(total)
        low, high = special.ndtr((np.array([[-1.0], [1.0]]) * self.data.furthest - mean) / error)
        level = low + (high - low) * self.rng.random(N_CHAINS)
        self.center = np.clip(
            mean + error * special.ndtri(level), -self.data.furthest, self.data.furthest
        )
        # s_0: its precision is gamma, truncated below
        squares = (self.mixing * (self.centers - self.center[:, None]) ** 2).sum(axis=1)
        least = self.data.widest_outer**-2.0
        shape = (self.centers.shape[1] - 1) / 2
        self.spread = _draw_precision(shape, squares / 2, least, self.rng) ** -0.5

    def _draw_data_sets(self) -> None:
        data = self.data
        # d_i: normal, from its own data and from d_0
        outside = self.mixing / self.spread[:, None] ** 2
        inside = data.shares / self.inner_variance
        mean = (outside * self.center[:, None] + inside * data.means) / (outside + inside)
        noise = self.rng.normal(size=mean.shape)
        self.centers = mean + noise / np.sqrt(outside + inside)
        # s_i: its precision is gamma, truncated below
        squares = data.inner + data.shares * (data.means - self.centers) ** 2
        least = data.widest_inner**-2.0
        precision = _draw_precision((data.sizes - 1) / 2, squares / 2, least, self.rng)
        self.inner_variance = 1 / precision

    def _draw_prior_of_freedom(self) -> None:
        """Take a Metropolis step with proposals from the priors of alpha and beta."""
        alpha, beta = self.rng.uniform(*ALPHA, N_CHAINS), self.rng.uniform(*BETA, N_CHAINS)
        new = log_gamma_density(self.freedom - 1, alpha, beta)
        old = log_gamma_density(self.freedom - 1, self.alpha, self.beta)
        taken = np.log(self.rng.random(N_CHAINS)) < new - old
        self.alpha = np.where(taken, alpha, self.alpha)
        self.beta = np.where(taken, beta, self.beta)


def log_gamma_density(x: Floats, shape: Floats, rate: Floats) -> Floats:
    """Return the log density of a gamma distribution, up to terms in x alone."""
    density: Floats = shape * np.log(rate * x) - rate * x - special.gammaln(shape)
    return density
