r"""Estimates from special study designs, several sites, judgments of a model.

**Sites.** A binomial mixed model of error rates at several sites.

Site `i` has :math:`x_i` errors among :math:`n_i` samples, :math:`x_i \sim B(n_i, p_i)` with
:math:`\mathrm{logit}\, p_i = \mu + \tau z_i` and standard normal :math:`z_i`. Counts may be
fractional, as effective numbers of errors and samples are.

The likelihood of :math:`(\mu, \tau)` integrates over each :math:`z_i` by adaptive Gauss-Hermite
quadrature, centered at the mode of the integrand. Limits average over a grid of
:math:`(\mu, \tau)`, with a half-normal prior for :math:`\tau`. The prior of the median rate
:math:`p = \mathrm{expit}(\mu)` is that of exact limits of a single proportion: :math:`p^{-1}` for
the lower limit and :math:`(1 - p)^{-1}` for the upper one. Without variation between sites these
are the limits of Clopper and Pearson for all samples together.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats
from scipy.special import expit, logit, logsumexp, ndtr

from skeval._inference.intervals import Limits

Floats = NDArray[np.float64]

PRIOR_SCALE = 1.5
"""Scale of the half-normal prior of the standard deviation between sites, on the log-odds."""
SPREADS = np.append(0.0, np.geomspace(0.004, 6.0, 45))
"""Grid of the standard deviation between sites."""
STEPS = np.sinh(np.linspace(-4.6, 4.6, 91)) / 2
"""Grid of the mean log-odds, in standard errors around the mode, denser near the center."""
NODES, NODE_WEIGHTS = np.polynomial.hermite.hermgauss(11)
MAX_NEWTON_STEPS, MAX_STEP = 25, 1.5


def log1pexp(odds: Floats) -> Floats:
    """Return ``log(1 + exp(odds))``."""
    value: Floats = np.logaddexp(0.0, odds)
    return value


class SiteCounts(NamedTuple):
    """Errors and samples of each site, both of shape (n_sites,)."""

    errors: Floats
    sizes: Floats

    @property
    def rate(self) -> float:
        """Pooled error rate."""
        return float(self.errors.sum() / self.sizes.sum())

    def site_modes(self, mean: Floats, spread: float) -> tuple[Floats, Floats]:
        """Return the modes of the log-odds of sites for each mean, and the curvature there.

        Newton's method with bounded steps, from the precision-weighted mean of the site's own
        log-odds and the common mean. Shape (n_means, n_sites).
        """
        # start between the site and the common mean
        shares = (self.errors + 0.5) / (self.sizes + 1)
        weights = self.sizes * shares * (1 - shares) * spread**2
        odds = (weights * logit(shares) + mean[:, None]) / (weights + 1)
        for _ in range(MAX_NEWTON_STEPS):
            p = expit(odds)
            curvature = self.sizes * p * (1 - p) + spread**-2
            slope = self.errors - self.sizes * p - (odds - mean[:, None]) / spread**2
            step = np.clip(slope / curvature, -MAX_STEP, MAX_STEP)
            odds = odds + step
            if np.abs(step).max() < 1e-7:
                break
        p = expit(odds)
        return odds, self.sizes * p * (1 - p) + spread**-2

    def log_likelihood(self, mean: Floats, spread: float) -> Floats:
        """Return the log likelihood of means of the log-odds, at one spread between sites."""
        if spread == 0:
            total = self.errors.sum() * mean - self.sizes.sum() * log1pexp(mean)
            return np.asarray(total, dtype=np.float64)
        # quadrature around the mode of each site
        modes, curvature = self.site_modes(mean, spread)
        width = np.sqrt(2 / curvature)
        terms = []
        for node, weight in zip(NODES, NODE_WEIGHTS, strict=True):
            odds = modes + width * node
            density = self.errors * odds - self.sizes * log1pexp(odds)
            density -= ((odds - mean[:, None]) / spread) ** 2 / 2
            terms.append(density + node**2 + np.log(weight))
        per_site = logsumexp(terms, axis=0) + np.log(width / spread / np.sqrt(2 * np.pi))
        total = per_site.sum(axis=1)
        return np.asarray(total, dtype=np.float64)

    def center(self, spread: float) -> tuple[float, float]:
        """Return the approximate maximum-likelihood mean, and its standard error.

        The estimate is the mode of the joint likelihood of the mean and all sites, with half an
        error and half a correct prediction added so that it is finite.
        """
        total = self.sizes.sum()
        mean = float(logit((self.errors.sum() + 0.5) / (total + 1)))
        information = np.nan
        for _ in range(MAX_NEWTON_STEPS):
            odds = np.full(len(self.sizes), mean)
            if spread > 0:
                odds = self.site_modes(np.array([mean]), spread)[0][0]
            p, middle = expit(odds), float(expit(mean))
            own = self.sizes * p * (1 - p)
            information = float(np.sum(own / (1 + own * spread**2))) + middle * (1 - middle)
            slope = float(np.sum(self.errors - self.sizes * p)) + 0.5 - middle
            step = float(np.clip(slope / information, -MAX_STEP, MAX_STEP))
            mean += step
            if abs(step) < 1e-6:
                break
        return mean, information**-0.5


class PooledRate:
    """Median rate of all sites, and the rate at another site.

    Attributes
    ----------
    mean, between : float
        Median rate and variance between sites of the log-odds, at the maximum of the likelihood
        times the prior of the variance.
    q, pvalue : float
        Pearson's statistic of equal rates and its P-value by chi-squared.
    i_squared : float
        Fraction of the variance of a site's log-odds that is between sites.
    """

    def __init__(self, sites: SiteCounts) -> None:
        self.sites = sites
        self.mean, self.between = self._maximize()

    def _maximize(self) -> tuple[float, float]:
        sites = self.sites
        if sites.rate in (0.0, 1.0):
            return sites.rate, 0.0

        means, logs = self.grid
        penalized = logs - (SPREADS**2)[:, None] / 2 / PRIOR_SCALE**2
        row, column = np.unravel_index(np.argmax(penalized), logs.shape)

        def loss(point: Floats) -> float:
            mean, spread = point[:1], abs(float(point[1]))
            value = sites.log_likelihood(mean, spread if spread > SPREADS[1] else 0.0)[0]
            return float(spread**2 / 2 / PRIOR_SCALE**2 - value)

        # refine the best point of the grid
        start = np.array([means[row, column], SPREADS[row]])
        error = max(sites.center(float(start[1]))[1], 1e-6)
        simplex = start + np.array([[0, 0], [0.3 * error, 0], [0, 0.2 * start[1] + 0.01]])
        options = {"initial_simplex": simplex, "xatol": 1e-5 * error, "fatol": 1e-9}
        mean, spread = optimize.minimize(loss, start, method="Nelder-Mead", options=options).x
        if abs(spread) <= SPREADS[1]:
            return sites.rate, 0.0
        return float(expit(mean)), float(spread**2)

    @cached_property
    def grid(self) -> tuple[Floats, Floats]:
        """Means of the log-odds and their log likelihoods, of shape (n_spreads, n_means)."""
        means, logs = np.empty((2, len(SPREADS), len(STEPS)))
        for row, spread in enumerate(SPREADS):
            center, error = self.sites.center(float(spread))
            means[row] = center + error * STEPS
            logs[row] = self.sites.log_likelihood(means[row], float(spread))
        return means, logs

    def weigh(self, log_prior: Floats) -> Floats:
        """Return the posterior weights of the grid for a prior of the mean log-odds."""
        means, logs = self.grid
        # widths of the grid cells, times the half-normal prior of the spread
        edges = np.concatenate([[0.0], (SPREADS[1:] + SPREADS[:-1]) / 2, SPREADS[-1:]])
        of_spread = np.log(np.diff(edges)) - SPREADS**2 / 2 / PRIOR_SCALE**2
        logs = logs + np.log(np.gradient(means, axis=1)) + of_spread[:, None] + log_prior
        weights: Floats = np.exp(logs - logs.max())
        weights /= weights.sum()
        return weights

    @property
    def q(self) -> float:
        """Pearson's statistic."""
        rate = self.sites.rate
        if rate in (0.0, 1.0):
            return 0.0
        deviations = self.sites.errors - self.sites.sizes * rate
        return float(np.sum(deviations**2 / self.sites.sizes) / (rate * (1 - rate)))

    @property
    def pvalue(self) -> float:
        """P-value of Pearson's statistic."""
        return float(stats.chi2.sf(self.q, len(self.sites.sizes) - 1))

    @property
    def i_squared(self) -> float:
        """Fraction of the variance between sites, with a typical variance within (Higgins 2002)."""
        precisions = self.sites.sizes * self.mean * (1 - self.mean)
        if not self.between > 0:
            return 0.0
        freedom = precisions.sum() - np.sum(precisions**2) / precisions.sum()
        return float(self.between / (self.between + (len(precisions) - 1) / freedom))

    @property
    def site_error(self) -> float:
        """Standard error of the rate at another site, by the linear approximation."""
        slope = self.mean * (1 - self.mean)
        return float(np.hypot(self.standard_error, slope * np.sqrt(self.between)))

    @property
    def standard_error(self) -> float:
        """Standard deviation of the median rate, with half an error and half a success added."""
        means = self.grid[0]
        weights = self.weigh((log_share(means) + log_share(-means)) / 2)
        rates = expit(means)
        middle = float(np.sum(weights * rates))
        return float(np.sqrt(np.sum(weights * (rates - middle) ** 2)))

    def limits(self, confidence_level: float) -> Limits:
        """Return the interval of the median rate of all sites."""
        return self._limit(confidence_level, np.zeros(len(SPREADS)))

    def prediction_limits(self, confidence_level: float) -> Limits:
        """Return the interval of the rate at another site, [0, 1] with fewer than three sites."""
        if len(self.sites.sizes) < 3:
            return 0.0, 1.0
        return self._limit(confidence_level, SPREADS)

    def _limit(self, confidence_level: float, spreads: Floats) -> Limits:
        """Return quantiles of normal deviates of these spreads around the means of the grid."""
        tail, means = (1 - confidence_level) / 2, self.grid[0]
        low = high = np.nan
        if self.sites.rate == 0:
            low = 0.0
        else:  # prior 1/p of the rate is 1 - p of its log-odds
            low = _quantile(means, self.weigh(log_share(-means)), spreads, tail)
        if self.sites.rate == 1:
            high = 1.0
        else:
            high = _quantile(means, self.weigh(log_share(means)), spreads, 1 - tail)
        return min(low, self.mean), max(high, self.mean)


def log_share(odds: Floats) -> Floats:
    """Return ``log(expit(odds))``."""
    return -log1pexp(-odds)


def _quantile(means: Floats, weights: Floats, spreads: Floats, share: float) -> float:
    """Return a quantile of a mixture of normal distributions, as a rate."""
    kept = weights > 1e-12
    centers, mass = means[kept], weights[kept]
    widths = np.broadcast_to(spreads[:, None], means.shape)[kept]
    # a spread of 0 becomes half the grid spacing, which smooths the sum
    steps = np.gradient(means, axis=1)[kept] / 2
    widths = np.hypot(widths, steps)

    def excess(odds: float) -> float:
        return float(np.sum(mass * ndtr((odds - centers) / widths))) - share

    margin = 10 * float(widths.max())
    ends = float(centers.min()) - margin, float(centers.max()) + margin
    return float(expit(optimize.brentq(excess, *ends, xtol=1e-8)))
