r"""Estimates from special study designs: several sites, judgments of a model.

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

**Judges.** Mean of an outcome from few labels and many judgments of a model.

The n labeled and N unlabeled samples are drawn from the same population, and all have a judgment
j. Judgments may be biased: they only make the mean of the labels y more precise.

*Strata.* If outcome and judgment are 0 or 1, with a and b the rates of the outcome among
labeled samples judged 1 and 0, and w the share judged 1 of all n + N samples,
:math:`\theta = w a + (1 - w) b`. Jeffreys limits :math:`(l_a, u_a)` and :math:`(l_b, u_b)` of the
two rates are combined by recovery of variance estimates:

.. math:: \theta - \sqrt{w^2 (a - l_a)^2 + (1 - w)^2 (b - l_b)^2
          + z^2 (a - b)^2 w (1 - w) / (n + N)} ,

and the upper limit likewise.

*Regression.* Otherwise j is the rank of the judgment among all samples, because the mean of a
skewed judgment would be as uncertain as the outcome. With :math:`\beta` the slope of y on j, and
means over the labeled samples and over all,

.. math:: \theta = \bar y + \beta (\bar j_{all} - \bar j) .

A labeled sample has the influence :math:`c_i e_i + \beta (j_i - \bar j_{all}) / (n + N)` with its
residual :math:`e_i` and :math:`c_i = 1/n + (\bar j_{all} - \bar j)(j_i - \bar j) / S_{jj}`, an
unlabeled one only the second term. Residuals are divided by :math:`\sqrt{1 - h_i}` (HC2).
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats
from scipy.special import expit, logit, logsumexp, ndtr

from skeval._inference import intervals
from skeval._inference.intervals import Codes, Limits

Floats = NDArray[np.float64]

PRIOR_SCALE = 1.5
"""Scale of the half-normal prior of the standard deviation between sites, on the log-odds."""
SPREADS = np.append(0.0, np.geomspace(0.004, 6.0, 45))
"""Grid of the standard deviation between sites."""
STEPS = np.sinh(np.linspace(-4.6, 4.6, 91)) / 2
"""Grid of the mean log-odds, in standard errors around the mode: denser near the center."""
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
        Median rate and variance between sites of the log-odds; the maximum of the likelihood times
        the prior of the variance.
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


_LEAST = 1e-12
_EVENTS = 2.0
"""Prior weight of the effective size without a judge, as a number of rare samples."""


class MeanAndLimits(NamedTuple):
    """A mean and its limits, each of the shape of the counts without the last axis."""

    value: Floats
    low: Floats
    high: Floats


def stratified_mean(labeled: Floats, positive: Floats, judged: Floats, z: float) -> MeanAndLimits:
    """Return the mean of binary outcomes by strata of a binary judgment.

    The last axis of the counts has the samples judged 0 and 1: labeled ones, positive ones among
    them, and all. If a stratum has no label, the result is Wilson's interval of the labels alone.
    """
    # rate in each stratum, and their mean
    n, n_all = labeled.sum(axis=-1), judged.sum(axis=-1)
    rates = np.divide(positive, labeled, out=np.zeros(labeled.shape), where=labeled > 0)
    share = judged / n_all[..., None]
    value = np.sum(share * rates, axis=-1)
    lows, highs = intervals.binomial_limits(rates, labeled, np.asarray(z), exact=False)
    # recovery of variance estimates
    between = np.sum(share * (rates - value[..., None]) ** 2, axis=-1) * z**2 / n_all
    below = np.sqrt(np.sum((share * (rates - lows)) ** 2, axis=-1) + between)
    above = np.sqrt(np.sum((share * (highs - rates)) ** 2, axis=-1) + between)
    low, high = np.maximum(value - below, 0.0), np.minimum(value + above, 1.0)
    # without labels in a stratum, the labels alone
    empty, alone = (labeled == 0).any(axis=-1), positive.sum(axis=-1) / n
    wilson = intervals.wilson_limits(alone, n, z)
    low, high = np.where(empty, wilson[0], low), np.where(empty, wilson[1], high)
    return MeanAndLimits(np.where(empty, alone, value), low, high)


class Regression(NamedTuple):
    """A mean by regression on the judgments.

    Attributes
    ----------
    value, error : float
    degrees_of_freedom : float
    n_groups : int or None
        Number of groups with a label.
    used : bool
        Whether judgments were used.
    """

    value: float
    error: float
    degrees_of_freedom: float
    n_groups: int | None
    used: bool


def regress_on_judge(y: Floats, judge: Floats, group: Codes | None) -> Regression:
    """Return the mean of the outcomes of all samples; the first samples are the labeled ones.

    With groups, the influence is summed in each group. Judgments are not used
    if they, or the outcomes, are the same for all labeled samples.
    """
    n, n_all = len(y), len(judge)
    off, centered = judge.mean() - judge[:n].mean(), judge[:n] - judge[:n].mean()
    square = float(centered @ centered)
    used = square > 0 and n_all > n and bool(np.ptp(y) > 0)
    slope = float(centered @ y) / square if used else 0.0
    # residuals and their weights c_i
    residual, leverage, weight = y - y.mean() - slope * centered, np.full(n, 1 / n), 1 / n
    if used:
        weight = weight + off * centered / square
        leverage += centered**2 / square
    value = float(y.mean() + slope * off)
    # influence of a label, and of a judgment
    own, shared = weight * residual, slope * (judge - judge.mean()) / n_all
    if group is not None:
        shared[:n] += own
        # typical influence of a label and of a judgment
        size = np.full(n_all, np.sqrt(np.mean(shared[n:] ** 2)) if n_all > n else 0.0)
        size[:n] = np.sqrt(np.mean(shared[:n] ** 2)) or 1.0
        is_labeled = (np.arange(n_all) < n).astype(float)
        spread = intervals.spread_between(shared, group, size, leverage=is_labeled)
        n_groups = intervals.count_groups(group[:n])
        return Regression(value, spread.error, spread.degrees_of_freedom, n_groups, used)
    own /= np.sqrt(np.maximum(1 - leverage, _LEAST))
    # Satterthwaite's degrees of freedom of both parts
    parts = np.array([own @ own, shared @ shared])
    fourth = float(np.sum(residual**4) / np.sum(residual**2) ** 2) if residual.any() else 0.0
    degrees = min(n - 1.0 - used, 2 / max(fourth - 1 / n, _LEAST))  # 2 n / (kurtosis - 1)
    total = float(parts.sum())
    freedom = (
        total**2 / float(parts[0] ** 2 / degrees + parts[1] ** 2 / n_all) if total else degrees
    )
    return Regression(value, float(np.sqrt(total)), freedom, None, used)


def limits_of_mean(
    y: Floats, result: Regression, alone: Regression, signed: bool, confidence_level: float
) -> Limits:
    """Return the limits of a mean by regression; `alone` is the regression without the judge.

    Rates have Wilson's interval with the effective number of labels, `signed` differences of two
    binary outcomes that of Agresti and Min (2005), which adds half a sample to each cell, means of
    non-negative outcomes Student's on the log scale, and other means Student's.
    """
    value, degrees = result.value, result.degrees_of_freedom
    if signed:
        outcomes = float(np.mean(y != 0))
        size = _size_with_judge(y, result, alone, outcomes)
        variance = size * max(outcomes - value**2, 0.0) + 1 + 2 * size * value**2 / (size + 2)
        error, value = np.sqrt(variance) / (size + 2), value * size / (size + 2)
        degrees = np.inf if result.n_groups is None else degrees
        return intervals.normal_interval(value, error, confidence_level, (-1.0, 1.0), degrees)
    if set(np.unique(y).tolist()) <= {0.0, 1.0}:
        value = min(max(value, 0.0), 1.0)
        size = _size_with_judge(y, result, alone, min(y.mean(), 1 - y.mean()))
        degrees = np.inf if result.n_groups is None else degrees
        return intervals.wilson_interval(value * size, size, confidence_level, degrees)
    if y.min() >= 0 and value > 0:
        return intervals.log_interval(value, result.error, confidence_level, degrees)
    return intervals.normal_interval(
        value, result.error, confidence_level, degrees_of_freedom=degrees
    )


def _size_with_judge(y: Floats, result: Regression, alone: Regression, rarity: float) -> float:
    """Return the number of independent labels whose mean is as precise.

    The judge may look better than it is if few labels are rare outcomes. So the number is shrunk
    toward the number without the judge, whose weight is `_EVENTS` rare outcomes.
    """
    n, variance = len(y), float(np.var(y))
    own = float(n)
    if alone.n_groups is not None:
        odds = rarity / max(1 - rarity, _LEAST)
        own = intervals.size_from_variance(variance, alone.error, n, alone.n_groups, odds)
    events = n * rarity
    if not result.used or events == 0:
        return own
    return (events + _EVENTS) / (events * result.error**2 / variance + _EVENTS / own)
