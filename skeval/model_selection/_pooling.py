r"""Internal-external validation, with pooled errors of several sites and the error at a new one.

For quantities other than rates, the true value at site `i` is :math:`\mu + u_i`, with the variance
:math:`\tau^2` between sites. Its estimate :math:`y_i` deviates from it with the known variance
:math:`v_i`. With the weights :math:`w_i = 1 / (v_i + \tau^2)`, the mean is :math:`\hat\mu = \sum
w_i y_i / \sum w_i`. The variance between sites is that of Paule and Mandel (1982), for which

.. math:: Q(\tau^2) = \sum_i w_i (y_i - \hat\mu)^2

is equal to its expectation, the number of sites minus 1. It is 0 if `Q` is smaller without it.

Rates are pooled in this way on the log-odds scale, or by a binomial mixed model. In this model,
site `i` has :math:`x_i` errors among :math:`n_i` samples, :math:`x_i \sim B(n_i, p_i)` with
:math:`\mathrm{logit}\, p_i = \mu + \tau z_i` and standard normal :math:`z_i`. Counts may be
fractional if they are effective numbers of errors and samples.

The likelihood of :math:`(\mu, \tau)` integrates over each :math:`z_i` by adaptive Gauss-Hermite
quadrature, centered at the mode of the integrand. Limits average over a grid of :math:`(\mu,
\tau)`, with a half-normal prior for :math:`\tau`. The median rate :math:`p = \mathrm{expit}(\mu)`
has the prior that gives exact limits for a single proportion, :math:`p^{-1}` for the lower limit
and :math:`(1 - p)^{-1}` for the upper limit. Without variation between sites, the limits are
Clopper and Pearson's for all samples together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats
from scipy.special import expit, log_expit, logit, logsumexp, ndtr

from skeval._adapters.runner import Runner
from skeval._inference import intervals
from skeval._inference.errors import TestLosses, mean_loss, mean_loss_name, spread_of_mean
from skeval._inference.estimate import ErrorExtra, Estimate
from skeval._resampling.inputs import LossLike, Params, validate_inputs
from skeval.model_selection._estimates import plan_leave_one_out
from skeval.utils._checks import ErrorScore, in_order
from skeval.utils._text import write_ends

Floats = NDArray[np.float64]

DRAWS, N_GRID = 100, 600
"""Numbers of draws of tau^2 to average, and of its values in the grid that inverts Q."""

FEW_SITES, MIN_COUNT = range(3, 6), 5
"""Numbers of sites with normal log-odds, and the minimum expected errors of each."""


@in_order()
def new_site_error(
    estimator: Any,
    X: Any,
    y: Any,
    groups: Any,
    *,
    loss: LossLike = None,
    params: Params = None,
    sample_weight: Any = None,
    confidence_level: float = 0.95,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
    error_score: ErrorScore = "raise",
) -> Estimate:
    r"""Estimate the error at new sites by internal-external validation.

    Each site is left out in turn, and its error is computed with the model trained on all other
    sites. The errors are pooled by a random-effects model. The true error of site `i` is
    :math:`\theta_i \sim N(\mu, \tau^2)`, on the log-odds scale for error rates.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn classifier, regressor or pipeline. Feature selection and tuning must be
        part of it.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or other inputs of the estimator, such as texts, or a square precomputed kernel.
    y : array-like of shape (n_samples,)
        Class labels or numeric target.
    groups : array-like of shape (n_samples,)
        Group of each sample, such as the site. At least two sites are required, each with at least
        two samples.
    loss : str or callable, default=None
        "zero_one", "squared" or "absolute", or "log_loss" or "brier" for the probabilities of a
        classifier. A function ``(y_true, y_pred) -> (n,)`` returns the loss of each sample. None
        means 0-1 loss for classifiers and squared error for regressors.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as in scikit-learn's ``cross_validate``.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. They are used in every fit and in the means of the losses.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    n_jobs : int, default=None
        Number of joblib workers. Results do not depend on it.
    verbose : int, default=0
        1 shows progress. Larger values add joblib's messages.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits. If `random_state` is an int, a repeated call after an interruption
        computes only the remaining fits. See :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        Treatment of a failed fit. "raise" raises the error. ``numpy.nan`` omits the site, counts
        it and warns.

    Returns
    -------
    Estimate
        `value` is the mean over all sites for the scale "identity", and otherwise the value at the
        median site. ``confidence_interval(method="prediction")`` is the prediction interval
        for the true error at another site. It requires at least three sites. `replicates` contains
        the errors of the sites. ``plot()`` draws the forest plot. `details` contains:

        - "scale", on which the errors of the sites are normal. It is "binomial" (the log-odds) for
          a loss between 0 and 1, "log" for a loss that is not negative, and otherwise "identity"
        - "between", the standard deviation :math:`\tau` on the scale
        - "i_squared", the fraction of the variance of an estimate that is between sites [3]_
        - "q", Cochran's statistic, with its "q_pvalue" for the hypothesis of equal sites
        - "sites", with "another site"

    Raises
    ------
    ValueError
        If there are fewer than two sites, or a site has only one sample.
    TypeError
        If `sample_weight` is passed and the estimator does not support it.

    See Also
    --------
    error_interval : With ``groups=``, the mean error at new sites, without their variation.

    Notes
    -----
    Samples of a site are assumed to be conditionally independent. The errors of the sites are also
    assumed to be independent, although their models share most of their training samples.

    *Error rates of three to five sites.* At the pooled rate, each site must expect at least five
    errors and five correct predictions. The log-odds are then treated as normal, with half an error
    and half a correct prediction added and the variance of the pooled rate. The interval of Hartung
    and Knapp [1]_ uses Student's t quantile, which has :math:`k - 1` degrees of freedom for `k`
    sites. It is at least as wide as the normal interval without variation between sites [2]_. If
    sites do not differ, its median width is 1.3 to 2 times the width of Wilson's interval for all
    samples. Its coverage is .94 to .985 if the sizes of sites differ up to fourfold, and .91 to .95
    if they differ by a factor of 20 or more.

    *Other error rates* follow a binomial mixed model. Site `i` has :math:`x_i` errors among
    :math:`n_i` samples with :math:`x_i \sim B(n_i, p_i)` and :math:`\mathrm{logit}\, p_i \sim
    N(\mu, \tau^2)`. Weights reduce the number of samples. The likelihood integrates over the sites
    by adaptive Gauss-Hermite quadrature [6]_. The limits average over :math:`\mu` and
    :math:`\tau`, with a half-normal prior of scale 1.5 for :math:`\tau`. The priors of :math:`\mu`
    are chosen such that the limits are Clopper and Pearson's if sites do not differ.

    *Other losses.* The errors of the sites, or their logarithms if the loss is not negative, are
    normal. The variance between sites is Paule and Mandel's [7]_. The quantile is Student's, with
    :math:`k - 1` degrees of freedom. The prediction interval averages Student's t distribution of
    another site over the confidence distribution of :math:`\tau^2`, similar to [4]_. The usual
    interval :math:`\hat\mu \pm t_{k-2} \sqrt{\hat\tau^2 + s^2}` [5]_ treats the estimated variance
    as known, although it is often 0 with few sites. :doc:`/validation` has the measured coverage.

    References
    ----------
    .. [1] Hartung, J. and Knapp, G. (2001). On tests of the overall treatment effect in
       meta-analysis with normally distributed responses. Statistics in Medicine 20, 1771-1782.
       https://doi.org/10.1002/sim.791
    .. [2] Roever, C., Knapp, G. and Friede, T. (2015). Hartung-Knapp-Sidik-Jonkman approach and its
       modification for random-effects meta-analysis with few studies. BMC Medical Research
       Methodology 15, 99. https://doi.org/10.1186/s12874-015-0091-1
    .. [3] Higgins, J. P. T. and Thompson, S. G. (2002). Quantifying heterogeneity in a
       meta-analysis. Statistics in Medicine 21, 1539-1558. https://doi.org/10.1002/sim.1186
    .. [4] Nagashima, K., Noma, H. and Furukawa, T. A. (2019). Prediction intervals for
       random-effects meta-analysis: a confidence distribution approach. Statistical Methods in
       Medical Research 28, 1689-1702. https://doi.org/10.1177/0962280218773520
    .. [5] Higgins, J. P. T., Thompson, S. G. and Spiegelhalter, D. J. (2009). A re-evaluation of
       random-effects meta-analysis. Journal of the Royal Statistical Society A 172, 137-159.
       https://doi.org/10.1111/j.1467-985X.2008.00552.x
    .. [6] Stijnen, T., Hamza, T. H. and Ozdemir, P. (2010). Random effects meta-analysis of event
       outcome in the framework of the generalized linear mixed model with applications in sparse
       data. Statistics in Medicine 29, 3046-3067. https://doi.org/10.1002/sim.4040
    .. [7] Paule, R. C. and Mandel, J. (1982). Consensus values and weighting factors. Journal of
       Research of the National Bureau of Standards 87, 377-385.
       https://doi.org/10.6028/jres.087.022

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skeval.model_selection import new_site_error
    >>> rng = np.random.default_rng(0)
    >>> site = np.repeat(np.arange(8), 50)
    >>> X = rng.normal(size=(400, 3))
    >>> y = (X[:, 0] + rng.normal(size=8)[site] + rng.normal(size=400) > 0).astype(int)
    >>> print(new_site_error(LogisticRegression(), X, y, site))
    error rate (random_effects)
      value           0.3378
      standard error  0.0640
      95 % interval   [0.2105, 0.4966] (binomial)
      samples         400
      sites           8
      scale           binomial
      another site    [0.0819, 0.7470] (95 %)
      between         0.5449
      i squared       0.7686
      q               33.15
      q pvalue        2.478e-05
    """
    run = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory, "error_score": error_score}
    options = {"groups": groups, "sample_weight": sample_weight, "params": params}
    options |= {"confidence_level": confidence_level}
    inputs = validate_inputs(
        estimator, X, y, loss=loss, method="leave_one_site_out", **options, **run
    )
    if inputs.groups is None:
        raise ValueError("groups must contain the site of each sample, got None.")
    # every site needs two samples
    names, counts = np.unique(inputs.groups, return_counts=True)
    if counts.min() < 2:
        alone = names.tolist()[int(counts.argmin())]
        raise ValueError(f"groups must have two samples of each site, but {alone!r} has one.")
    # error at each site, of the model trained on all others
    sites, n_failed, loss_name = {}, 0, inputs.loss.name
    sizes: list[float] = []
    for _, outputs in Runner(inputs).fits(plan_leave_one_out(inputs)):
        for output in outputs:
            # a failed fit leaves out its site
            if output.failed[0]:
                n_failed += 1
                continue
            rows, losses = output.rows, inputs.loss_values(output)
            tested = TestLosses(losses, None if inputs.weight is None else inputs.weight[rows])
            value, error, size = mean_loss(tested), spread_of_mean(tested).error, np.nan
            limits: dict[str, Any] = {"normal": partial(intervals.normal_interval, value, error)}
            # a rate has Wilson's interval and the binomial standard error
            if loss_name == "zero_one":
                size = tested.effective_size
                error = float(np.sqrt(value * (1 - value) / size))
                limits = {"wilson": partial(intervals.wilson_interval, value * size, size)}
            sizes.append(size)
            sites[inputs.groups[rows[:1]].tolist()[0]] = Estimate(
                name=mean_loss_name(loss_name),
                value=value,
                standard_error=error,
                method="given",
                limits=limits,
                n_samples=len(rows),
                confidence_level=confidence_level,
                allow_point=True,
            )
    bounds = intervals.bounds_of(loss_name, inputs.target.n_classes)
    return pool_sites(sites, np.array(sizes), confidence_level, bounds, n_failed)


def pool_sites(
    sites: Mapping[Any, Estimate],
    sizes: Floats,
    confidence_level: float,
    bounds: intervals.Limits,
    n_failed: int = 0,
) -> Estimate:
    """Return the pooled estimate of sites.

    `sizes` contains effective numbers of samples. A mean `p` with the standard error `s` and an
    unknown size (nan) counts as ``p (1 - p) / s^2`` samples. The `bounds` of the loss decide the
    scale.
    """
    if len(sites) < 2:
        raise ValueError(f"groups must contain two sites without failed fits, got {len(sites)}.")
    # the range of the loss decides the scale: log-odds, logarithms or the values themselves
    scale = {(0.0, 1.0): "binomial", (0.0, np.inf): "log"}.get(bounds, "identity")
    values, errors = np.array([(site.value, site.standard_error) for site in sites.values()]).T
    # weights of the sites: numbers of samples, or inverse variances on the scale
    with np.errstate(divide="ignore", invalid="ignore"):
        known = np.where(np.isnan(sizes), values * (1 - values) / errors**2, sizes)
        inverse = {"binomial": known, "log": (values / errors) ** 2}.get(scale, 1 / errors**2)
    weighted = np.isfinite(inverse) & (inverse > 0)
    if not weighted.all():
        name, site = list(sites.items())[int(np.argmin(weighted))]
        raise ValueError(
            "groups must have sites with standard errors above 0, because these determine the "
            f"weights of the sites, but {name!r} has {site.standard_error} (error {site.value})."
        )

    # the mixed model of counts, or a normal model of log-odds, logarithms or values
    back = {"binomial": expit, "log": np.exp}.get(scale, np.positive)
    name, pooled = "hartung_knapp", pool_rates(values, inverse) if scale == "binomial" else None
    if isinstance(pooled, PooledRate):
        name, back = "binomial", np.positive
    elif pooled is None:
        pooled = Pooled(np.log(values) if scale == "log" else values, 1 / inverse)
    # limits of the mean, and prediction limits of another site
    limits: dict[str, Any] = {
        form: partial(intervals.rescaled, back, ends)
        for form, ends in ((name, pooled.limits), ("prediction", pooled.prediction_limits))
    }
    # errors on the original scale, by the linear approximation
    mean = float(back(pooled.mean))
    slope = {"binomial": mean * (1 - mean), "log": mean}.get(scale, 1.0)
    error = pooled.standard_error * (1.0 if name == "binomial" else slope)
    between = float(np.sqrt(pooled.between))
    ends = write_ends(*limits["prediction"](confidence_level))
    # the error at another site also varies between sites
    another = Estimate(
        name=next(iter(sites.values())).name,
        value=mean,
        standard_error=float(np.hypot(error, slope * between)),
        method="random_effects",
        limits={"prediction": limits["prediction"]},
        confidence_level=confidence_level,
        bounds=bounds,
    )
    return replace(
        another,
        standard_error=error,
        limits=limits,
        n_samples=sum(site.n_samples or 0 for site in sites.values()),
        extra=ErrorExtra(n_failed=n_failed),
        replicates=values,
        details={
            "n_sites": len(sites),
            "scale": scale,
            "another_site": f"{ends} ({100 * confidence_level:g} %)",
            "between": between,
            "i_squared": pooled.i_squared,
            "q": pooled.q,
            "q_pvalue": float(stats.chi2.sf(pooled.q, len(sites) - 1)),
            "sites": {**sites, "another site": another},
        },
    )


def pool_rates(rates: Floats, sizes: Floats) -> Pooled | PooledRate:
    """Return the mixed model of rates, or the normal one for few sites with enough samples.

    The mixed model is far too wide for three to five sites, because they do not determine its
    variance. Their log-odds have variances at the rate of all samples.
    """
    errors = rates * sizes
    rate = float(errors.sum() / sizes.sum())
    if len(sizes) not in FEW_SITES or min(rate, 1 - rate) * sizes.min() < MIN_COUNT:
        return PooledRate(errors, sizes)
    odds = np.log((errors + 0.5) / (sizes - errors + 0.5))
    return Pooled(odds, 1 / (sizes * rate * (1 - rate)), at_least_normal=True)


class Pooled:
    """Random-effects mean of sites with known positive variances, and their heterogeneity.

    Hartung and Knapp (2001) multiply the error by ``sqrt(Q / (n_sites - 1))``, with `Q` for the
    variance between sites. For the estimate of Paule and Mandel (1982), this factor is 1 if the
    variance is above 0, and otherwise at most 1. Sites may agree by chance. Therefore, the factor
    is not used, or the interval is at least as wide as the normal one (`at_least_normal`).

    Attributes
    ----------
    mean, standard_error : float
        Mean, and its standard error.
    corrected_error : float
        The standard error for Student's t interval, with ``n_sites - 1`` degrees of freedom.
    between : float
        Variance between the sites, tau^2.
    q : float
        Cochran's statistic for the hypothesis of equal sites.
    i_squared : float
        Fraction of the variance of an estimate that is between sites (Higgins & Thompson 2002).
    values, variances : ndarray of shape (n_sites,)
        Pooled values and their variances.
    """

    def __init__(self, values: Floats, variances: Floats, *, at_least_normal: bool = False) -> None:
        self.values, self.variances, self.n_sites = values, variances, len(values)

        def excess(between: float) -> float:
            return float(weigh_sites(values, variances, np.array([between]))[2][0]) - freedom

        # heterogeneity: Cochran's Q, the variance between sites, and I^2
        freedom = self.n_sites - 1
        self.q, self.between = excess(0.0) + freedom, 0.0
        if self.q > freedom:
            self.between = float(optimize.brentq(excess, 0.0, np.var(values, ddof=1)))
        self.i_squared = share_between(self.between, 1 / variances)
        # weighted mean with the variance between sites
        weights, (self.mean,), _ = weigh_sites(values, variances, np.array([self.between]))
        self.standard_error = self.corrected_error = float(weights.sum() ** -0.5)
        if at_least_normal:
            self.corrected_error *= min(1.0, self.q / freedom) ** 0.5

    def limits(self, confidence_level: float) -> intervals.Limits:
        """Return the interval of the mean of all sites."""
        half = max(
            intervals.normal_quantile(confidence_level, self.n_sites - 1) * self.corrected_error,
            intervals.normal_quantile(confidence_level) * self.standard_error,
        )
        return self.mean - half, self.mean + half

    def prediction_limits(self, confidence_level: float) -> intervals.Limits:
        """Return the interval of the true value of another site.

        To account for the uncertainty of the variance between sites, the interval averages over
        the confidence distribution of this variance (Nagashima, Noma & Furukawa 2019). It is based
        on the statistic ``Q(tau^2) = sum_i w_i (y_i - mean)^2``, which is chi-squared for the true
        variance.
        """
        if self.n_sites < 3:
            return -np.inf, np.inf
        # draws from the confidence distribution of tau^2, by inversion of Q
        chances = (np.arange(DRAWS) + 0.5) / DRAWS
        # start far below the variance of the most precise site, so that the grid is fine enough
        least, most = (
            1e-4 * self.variances.min(),
            1e4 * (self.variances.max() + np.var(self.values)),
        )
        grid = np.append(0.0, np.geomspace(least, most, N_GRID))
        # Q decreases in tau^2, so it is inverted by interpolation
        q = weigh_sites(self.values, self.variances, grid)[2]
        wanted = stats.chi2.isf(chances, self.n_sites - 1)
        between = np.interp(wanted, q[::-1], grid[::-1])
        # Student's distribution of another site for each tau^2
        weights, means, _ = weigh_sites(self.values, self.variances, between)
        law = stats.t(self.n_sites - 1, means, np.sqrt(between + 1 / weights.sum(axis=1)))
        # quantiles of the average of these distributions
        low, high = law.ppf(1e-6).min(), law.ppf(1 - 1e-6).max()
        tail = (1 - confidence_level) / 2

        def quantile(share: float) -> float:
            return float(optimize.brentq(lambda x: law.cdf(x).mean() - share, low, high))

        return quantile(tail), quantile(1 - tail)


def weigh_sites(
    values: Floats, variances: Floats, between: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the weights of the sites for each variance between them, the means, and Q."""
    weights = 1 / (variances + between[:, None])
    means = weights @ values / weights.sum(axis=1)
    return weights, means, np.sum(weights * (values - means[:, None]) ** 2, axis=1)


def share_between(between: float, precisions: Floats) -> float:
    """Return I^2, with a typical variance within sites (Higgins and Thompson 2002)."""
    if not between > 0:
        return 0.0
    freedom = precisions.sum() - np.sum(precisions**2) / precisions.sum()
    return float(between / (between + (len(precisions) - 1) / freedom))


# the binomial mixed model

PRIOR_SCALE = 1.5
"""Scale of the half-normal prior of the standard deviation between sites, on the log-odds."""
SPREADS = np.append(0.0, np.geomspace(0.004, 6.0, 45))
"""Grid of the standard deviation between sites."""
STEPS = np.sinh(np.linspace(-4.6, 4.6, 91)) / 2
"""Grid of the mean log-odds, in standard errors around the mode: denser near the center."""
NODES, NODE_WEIGHTS = np.polynomial.hermite.hermgauss(11)
MAX_NEWTON_STEPS, MAX_STEP = 25, 1.5


class PooledRate:
    """Median rate of all sites, and the rate at another site.

    Attributes
    ----------
    mean, between : float
        Median rate, and variance of the log-odds between sites. Both are at the maximum of the
        likelihood times the prior of the variance.
    standard_error : float
        Standard deviation of the median rate, with half an error and half a success added.
    q : float
        Pearson's statistic for equal rates.
    i_squared : float
        Fraction of the variance of a site's log-odds that is between sites.
    errors, sizes : ndarray of shape (n_sites,)
        Numbers of errors and of samples.
    means, logs : ndarray of shape (n_spreads, n_means)
        Grid of means of the log-odds for each of `SPREADS`, and their log likelihoods.
    """

    def __init__(self, errors: Floats, sizes: Floats) -> None:
        self.errors, self.sizes = errors, sizes
        self.rate = rate = float(errors.sum() / sizes.sum())
        self.means = self._place_means()
        rows = zip(self.means, SPREADS.tolist(), strict=True)
        self.logs = np.array([self.log_likelihood(means, spread) for means, spread in rows])
        self.mean, self.between = (rate, 0.0) if rate in (0.0, 1.0) else self._maximize()
        # spread of the rates
        weights = self.weigh((log_expit(self.means) + log_expit(-self.means)) / 2)
        deviations = expit(self.means) - np.sum(weights * expit(self.means))
        self.standard_error = float(np.sqrt(np.sum(weights * deviations**2)))
        # heterogeneity: Pearson's statistic, and I^2
        squares = np.sum((errors - sizes * rate) ** 2 / sizes)
        self.q = float(squares / (rate * (1 - rate))) if 0 < rate < 1 else 0.0
        self.i_squared = share_between(self.between, sizes * self.mean * (1 - self.mean))

    def _place_means(self) -> Floats:
        """Return means of the log-odds around the estimate for each spread, denser near it.

        The estimate weights sites by their effective sizes for rates with the intraclass
        correlation that the spread causes, with half an error and half a success added.
        """
        rate = (self.errors.sum() + 0.5) / (self.sizes.sum() + 1)
        variances = SPREADS[:, None] ** 2 * rate * (1 - rate)
        weights = self.sizes / (1 + (self.sizes - 1) * variances / (1 + variances))
        totals = weights.sum(axis=1) + 1
        rates = (weights @ (self.errors / self.sizes) + 0.5) / totals
        # the median of the rates is further from 1/2 than their mean
        centers = logit(rates) * np.sqrt(1 + 0.35 * SPREADS**2)
        return centers[:, None] + STEPS / np.sqrt(totals * rates * (1 - rates))[:, None]

    def log_likelihood(self, mean: Floats, spread: float) -> Floats:
        """Return the log likelihood of means of the log-odds, for one variance between sites."""
        errors, right = self.errors[:, None], (self.sizes - self.errors)[:, None]
        if spread == 0:
            return np.sum(errors * log_expit(mean) + right * log_expit(-mean), axis=0)
        # quadrature around the mode of each site
        modes, curvature = self._find_modes(mean, spread)
        width = np.sqrt(2 / curvature)
        odds = modes[..., None] + width[..., None] * NODES
        logs = errors * log_expit(odds) + right * log_expit(-odds)
        logs -= ((odds - mean[:, None, None]) / spread) ** 2 / 2 - NODES**2
        per_site = logsumexp(logs, b=NODE_WEIGHTS, axis=-1)
        return np.sum(per_site + np.log(width / spread / np.sqrt(2 * np.pi)), axis=1)

    def _find_modes(self, mean: Floats, spread: float) -> tuple[Floats, Floats]:
        """Return the modes of the log-odds of sites for each mean, and the curvature there.

        Newton's method with bounded steps starts at the precision-weighted mean of the site's own
        log-odds and the common mean. The shape is (n_means, n_sites).
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
        return odds, curvature

    def _maximize(self) -> tuple[float, float]:
        """Return the median rate and the variance of the log-odds of the largest likelihood."""

        def loss(point: Floats) -> float:
            mean, spread = point[:1], abs(float(point[1]))
            value = self.log_likelihood(mean, spread if spread > SPREADS[1] else 0.0)[0]
            return float(spread**2 / 2 / PRIOR_SCALE**2 - value)

        # refine the best point of the grid
        penalized = self.logs - (SPREADS**2)[:, None] / 2 / PRIOR_SCALE**2
        best = np.unravel_index(np.argmax(penalized), self.logs.shape)
        start, options = [self.means[best], SPREADS[best[0]]], {"xatol": 1e-6, "fatol": 1e-9}
        mean, spread = optimize.minimize(loss, start, method="Nelder-Mead", options=options).x
        if abs(spread) <= SPREADS[1]:
            return self.rate, 0.0
        return float(expit(mean)), float(spread**2)

    def weigh(self, log_prior: Floats) -> Floats:
        """Return the posterior weights of the grid for a prior of the mean log-odds."""
        # widths of the grid cells, times the half-normal prior of the spread
        edges = np.concatenate([[0.0], (SPREADS[1:] + SPREADS[:-1]) / 2, SPREADS[-1:]])
        of_spread = np.log(np.diff(edges)) - SPREADS**2 / 2 / PRIOR_SCALE**2
        logs = self.logs + np.log(np.gradient(self.means, axis=1)) + of_spread[:, None] + log_prior
        weights: Floats = np.exp(logs - logs.max())
        weights /= weights.sum()
        return weights

    def limits(self, confidence_level: float) -> intervals.Limits:
        """Return the interval of the median rate of all sites."""
        return self._limit(confidence_level, np.zeros(len(SPREADS)))

    def prediction_limits(self, confidence_level: float) -> intervals.Limits:
        """Return the interval of the rate at another site, or [0, 1] for fewer than 3 sites."""
        if len(self.sizes) < 3:
            return 0.0, 1.0
        return self._limit(confidence_level, SPREADS)

    def _limit(self, confidence_level: float, spreads: Floats) -> intervals.Limits:
        """Return quantiles of normal deviates of these spreads around the means of the grid."""
        # a spread of 0 becomes half the grid spacing, which smooths the sum
        widths = np.hypot(spreads[:, None], np.gradient(self.means, axis=1) / 2)
        margin = 10 * float(widths.max())
        ends = float(self.means.min()) - margin, float(self.means.max()) + margin

        def excess(odds: float, weights: Floats, share: float) -> float:
            return float(np.sum(weights * ndtr((odds - self.means) / widths))) - share

        low, high, tail = 0.0, 1.0, (1 - confidence_level) / 2
        if self.rate > 0:  # prior 1/p of the rate is 1 - p of its log-odds
            args = self.weigh(log_expit(-self.means)), tail
            low = float(expit(optimize.brentq(excess, *ends, args, xtol=1e-8)))
        if self.rate < 1:
            args = self.weigh(log_expit(self.means)), 1 - tail
            high = float(expit(optimize.brentq(excess, *ends, args, xtol=1e-8)))
        return min(low, self.mean), max(high, self.mean)
