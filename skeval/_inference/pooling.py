r"""Estimates of several sites or studies as one: the random-effects model.

The error of site `i` is :math:`\mu + u_i`, with the variance :math:`\tau^2` between sites, and its
estimate :math:`y_i` deviates from that with the known variance :math:`v_i`. With the weights
:math:`w_i = 1 / (v_i + \tau^2)` the mean is :math:`\hat\mu = \sum w_i y_i / \sum w_i`. The variance
between sites has the largest restricted likelihood where

.. math:: \sum_i w_i^2 (y_i - \hat\mu)^2 = \sum_i w_i - \frac{\sum_i w_i^2}{\sum_i w_i} .
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

from skeval._inference.estimate import Limits
from skeval._inference.proportions import normal_interval

__all__ = ["Pooled", "pool"]

Floats = NDArray[np.float64]

STARTS, DRAWS = 60, 100
"""Values of tau^2: among which a largest likelihood is looked for; that are averaged."""


class Pooled(NamedTuple):
    """The mean of sites, and how they differ.

    Attributes
    ----------
    mean, standard_error : float
        The standard error of Hartung & Knapp (2001), on one degree of freedom less than there are
        sites.
    between : float
        Variance between the sites, tau^2.
    q, pvalue : float
        Cochran's statistic of equal sites, and its P-value by chi-squared.
    i_squared : float
        Share of the variance of an estimate that is between sites (Higgins & Thompson 2002).
    values, variances : ndarray of shape (n_sites,)
        What was pooled.
    """

    mean: float
    standard_error: float
    between: float
    q: float
    pvalue: float
    i_squared: float
    values: Floats
    variances: Floats

    @property
    def n_sites(self) -> int:
        """Number of sites."""
        return len(self.values)

    def limits(self, confidence_level: float) -> Limits:
        """Return the interval of the mean of all sites; all numbers where there is one."""
        if self.n_sites < 2:
            return -np.inf, np.inf
        return normal_interval(
            self.mean, self.standard_error, confidence_level, n_units=self.n_sites
        )

    def prediction_limits(self, confidence_level: float) -> Limits:
        """Return the interval of the true value of another site.

        How well the variance between sites is known counts: it is averaged over its confidence
        distribution, as Nagashima, Noma & Furukawa (2019) have it, here that of the statistic
        ``Q(tau^2) = sum_i w_i (y_i - mean)^2``, which is chi-squared for the true variance.
        """
        if self.n_sites < 3:
            return -np.inf, np.inf
        chances = (np.arange(DRAWS) + 0.5) / DRAWS
        between = invert_q(self.values, self.variances, stats.chi2.isf(chances, self.n_sites - 1))
        weights = 1 / (self.variances + between[:, None])
        means = weights @ self.values / weights.sum(axis=1)
        spreads = np.sqrt(between + 1 / weights.sum(axis=1))
        law = stats.t(self.n_sites - 1, means, spreads)
        low, high = law.ppf(1e-6).min(), law.ppf(1 - 1e-6).max()
        tail = (1 - confidence_level) / 2
        return tuple(
            float(optimize.brentq(lambda x, share=share: law.cdf(x).mean() - share, low, high))
            for share in (tail, 1 - tail)
        )


def pool(values: Floats, variances: Floats) -> Pooled:
    """Return the mean of the values of sites, whose variances are known and above 0."""
    n = len(values)
    between = find_between(values, variances)
    weights = 1 / (variances + between)
    mean = float(np.average(values, weights=weights))
    deviations = np.sum(weights * (values - mean) ** 2)
    # never below the error without the correction, as sites alike by chance would have it
    error = float(np.sqrt(max(1.0, deviations / max(1, n - 1)) / weights.sum()))
    fixed = 1 / variances
    q = float(np.sum(fixed * (values - np.average(values, weights=fixed)) ** 2))
    pvalue = float(stats.chi2.sf(q, n - 1)) if n > 1 else np.nan
    freedom = fixed.sum() - np.sum(fixed**2) / fixed.sum()
    typical = (n - 1) / freedom if n > 1 else np.inf
    share = between / (between + typical)
    return Pooled(mean, error, between, q, pvalue, float(share), values, variances)


def find_between(values: Floats, variances: Floats) -> float:
    """Return the variance between sites of the largest restricted likelihood."""
    if len(values) < 2:
        return 0.0
    most = float(np.var(values, ddof=1)) * len(values)

    def minus_likelihood(between: float) -> float:
        return float(_deviances(values, variances, np.array([between]))[0])

    if most == 0:
        return 0.0
    grid = most * np.linspace(0, 1, STARTS) ** 3
    place = int(np.argmin(_deviances(values, variances, grid)))
    ends = grid[max(0, place - 1)], grid[min(STARTS - 1, place + 1)]
    found = optimize.minimize_scalar(
        minus_likelihood, bounds=ends, method="bounded", options={"xatol": 1e-10 * most}
    )
    return float(found.x) if found.fun < minus_likelihood(0.0) else 0.0


def invert_q(values: Floats, variances: Floats, wanted: Floats) -> Floats:
    """Return the variances between sites at which Q has some values, 0 where it is below them."""
    scale = variances.mean() + np.var(values)
    grid = np.append(0.0, scale * np.logspace(-4, 4, 400))
    weights = 1 / (variances + grid[:, None])
    means = weights @ values / weights.sum(axis=1)
    q = np.sum(weights * (values - means[:, None]) ** 2, axis=1)
    found: Floats = np.interp(wanted, q[::-1], grid[::-1])
    return found


def _deviances(values: Floats, variances: Floats, between: Floats) -> Floats:
    """Return minus twice the restricted log likelihood, but for a constant, of each variance."""
    weights = 1 / (variances + between[:, None])
    total = weights.sum(axis=1)
    means = weights @ values / total
    residuals = np.sum(weights * (values - means[:, None]) ** 2, axis=1)
    deviances: Floats = residuals - np.log(weights).sum(axis=1) + np.log(total)
    return deviances
