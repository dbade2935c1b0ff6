r"""Internal-external validation, with pooled errors of several sites and the error at a new one.

For quantities other than rates, the true value at site `i` is :math:`\mu + u_i`, with the variance
:math:`\tau^2` between sites. Its estimate :math:`y_i` deviates from it with the known variance
:math:`v_i`. With the weights :math:`w_i = 1 / (v_i + \tau^2)`, the mean is :math:`\hat\mu = \sum
w_i y_i / \sum w_i`. The restricted likelihood of the variance between sites has its maximum where

.. math:: \sum_i w_i^2 (y_i - \hat\mu)^2 = \sum_i w_i - \frac{\sum_i w_i^2}{\sum_i w_i} .

Rates `y_i` of :math:`n_i` samples have the variances :math:`v_i = p (1 - p) / n_i` at the rate
`p` of all samples. Their mean has an effective sample size, for which its limits are exact.
Log-odds of sites are normal around those of the median site, and their variance :math:`\tau^2` is
that of the rates, divided by :math:`p^2 (1 - p)^2`. Then the log-odds of the median rate are about
:math:`\sqrt{1 + 0.346 \tau^2}` times those of the mean rate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats
from scipy.special import expit, logit

from skeval._adapters.runner import Runner
from skeval._inference import intervals
from skeval._inference.errors import TestLosses, mean_loss, mean_loss_name, variance_of_mean
from skeval._inference.estimate import ErrorExtra, Estimate
from skeval._resampling.inputs import LossLike, Params, validate_inputs
from skeval.model_selection._estimates import plan_leave_one_out
from skeval.utils._checks import ErrorScore, check_confidence_level, check_option, in_order
from skeval.utils._text import write_ends

ScaleName = Literal["auto", "binomial", "identity", "log"]

Floats = NDArray[np.float64]

STARTS, DRAWS, N_GRID = 60, 100, 600
"""Values of tau^2, starts of the maximization, draws to average, grid to invert Q."""

ATTENUATION = (16 * np.sqrt(3) / 15 / np.pi) ** 2
"""Reduction of the log-odds of a mean rate by the variance between sites (Zeger et al. 1988)."""


def describe_site(
    name: str,
    value: float,
    error: float,
    level: float,
    n_samples: int | None = None,
    size: float | None = None,
) -> Estimate:
    """Return the estimate of a site with its normal interval.

    The interval of a proportion with an effective `size` is Wilson's, with the binomial standard
    error.
    """
    limits: dict[str, Any] = {"normal": partial(intervals.normal_interval, value, error)}
    if size is not None:
        error = float(np.sqrt(value * (1 - value) / size))
        limits = {"wilson": partial(intervals.wilson_interval, value * size, size)}
    return Estimate(
        name=name,
        value=value,
        standard_error=error,
        method="given",
        limits=limits,
        n_samples=n_samples,
        confidence_level=level,
        allow_point=True,
    )


@in_order()
def new_site_error(
    estimator: Any,
    X: Any,
    y: Any,
    groups: Any,
    *,
    loss: LossLike = None,
    scale: ScaleName = "auto",
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
    scale : {"auto", "binomial", "identity", "log"}, default="auto"
        Scale on which the errors of the sites are normal. "auto" is "binomial" for a loss between
        0 and 1, such as the 0-1 loss, "log" for a nonnegative loss, and "identity" otherwise.
        "binomial" uses the log-odds of the error rate.
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
        Cache of finished fits. An interrupted run that is repeated with an int as `random_state`
        does only the remaining ones. See :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        Treatment of a failed fit. "raise" raises the error. ``numpy.nan`` omits the site, counts
        it and warns.

    Returns
    -------
    Estimate
        `value` is the mean over all sites. On the scales "binomial" and "log", it is the value at
        the median site. ``confidence_interval(method="prediction")`` is the prediction interval
        for the true error at another site. It requires at least three sites. `replicates` contains
        the errors of the sites. ``plot()`` draws the forest plot. `details` contains:

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

    *Error rates.* The mean rate over sites is a random-effects mean with binomial variances.
    Weights reduce the number of samples. The effective sample size gives a proportion the standard
    error of Hartung and Knapp [1]_ with Student's t quantile with :math:`k - 1` degrees of freedom
    for `k` sites. This error is at least the one without variation between sites [2]_. The limits
    are Clopper and Pearson's for the effective sample size, so they are exact if sites do not
    differ and there are few errors. Log-odds of sites are assumed to be normal. Their variance
    :math:`\tau^2` turns the mean rate into the rate at the median site, whose log-odds are about
    :math:`\sqrt{1 + 0.346 \tau^2}` times those of the mean rate [6]_.

    *Other scales.* The standard error is Hartung and Knapp's, or the one without their correction
    if that is larger. The prediction interval averages Student's t distribution of another site
    over the confidence distribution of :math:`\tau^2`, similar to [4]_. The usual interval
    :math:`\hat\mu \pm t_{k-2} \sqrt{\hat\tau^2 + s^2}` [5]_ treats the estimated variance as
    known, although it is often 0 with few sites. :doc:`/validation` has the measured coverage.

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
    .. [6] Zeger, S. L., Liang, K.-Y. and Albert, P. S. (1988). Models for longitudinal data: a
       generalized estimating equation approach. Biometrics 44, 1049-1060.
       https://doi.org/10.2307/2531734

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
      value           0.3396
      standard error  0.0541
      95 % interval   [0.2156, 0.4830] (effective_size)
      samples         400
      sites           8
      scale           binomial
      another site    [0.0748, 0.7503] (95 %)
      between         0.5737
      i squared       0.7888
      q               33.14
      q pvalue        2.496e-05
    """
    check_confidence_level(confidence_level)
    check_option("scale", scale, get_args(ScaleName))
    run = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory, "error_score": error_score}
    options = {"groups": groups, "sample_weight": sample_weight, "params": params}
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
    sizes: list[float | None] = []
    for _, outputs in Runner(inputs).fits(plan_leave_one_out(inputs)):
        for output in outputs:
            if output.failed[0]:
                n_failed += 1
                continue
            rows, losses = output.rows, inputs.loss_values(output)
            tested = TestLosses(losses, None if inputs.weight is None else inputs.weight[rows])
            sizes.append(tested.effective_size if loss_name == "zero_one" else None)
            sites[inputs.groups[rows[0]]] = describe_site(
                mean_loss_name(loss_name),
                mean_loss(tested),
                float(np.sqrt(variance_of_mean(tested))),
                confidence_level,
                len(rows),
                sizes[-1],
            )
    bounds = intervals.bounds_of(loss_name, inputs.target.n_classes)
    return pool_sites(sites, sizes, scale, confidence_level, bounds, n_failed)


def pool_sites(
    sites: Mapping[Any, Estimate],
    sizes: Sequence[float | None],
    scale: str,
    confidence_level: float,
    bounds: intervals.Limits,
    n_failed: int,
) -> Estimate:
    """Return the pooled estimate of sites. Rates need the effective sizes of the sites."""
    if len(sites) < 2:
        raise ValueError(f"groups must contain two sites without failed fits, got {len(sites)}.")
    listed = list(sites.values())
    if scale == "auto":
        scale = {(0.0, 1.0): "binomial", (0.0, np.inf): "log"}.get(bounds, "identity")
    counts = count_errors(sites, sizes) if scale == "binomial" else None
    pooled: PooledRates | Pooled
    if counts is not None:
        pooled, slope = PooledRates(*counts), 1.0
        mean = pooled.mean
        limits = {"effective_size": pooled.limits, "prediction": pooled.prediction_limits}
    else:
        # a normal model of logarithms or values
        back = np.exp if scale == "log" else np.positive
        pooled = pool(*rescale(sites, scale))
        mean = float(back(pooled.mean))
        slope = mean if scale == "log" else 1.0
        limits = {"hartung_knapp": pooled.limits, "prediction": pooled.prediction_limits}
        limits = {name: partial(scale_back, back, ends) for name, ends in limits.items()}
    name, n_samples = listed[0].name, sum(site.n_samples or 0 for site in listed)
    ends = write_ends(*limits["prediction"](confidence_level))
    another = Estimate(
        name=name,
        value=mean,
        standard_error=float(pooled.site_error * slope),
        method="random_effects",
        limits={"prediction": limits["prediction"]},
        confidence_level=confidence_level,
        bounds=bounds,
    )
    return replace(
        another,
        standard_error=float(pooled.standard_error * slope),
        limits=limits,
        n_samples=n_samples,
        extra=ErrorExtra(n_failed=n_failed),
        replicates=np.array([site.value for site in listed]),
        details={
            "n_sites": len(sites),
            "scale": scale,
            "another_site": f"{ends} ({100 * confidence_level:g} %)",
            "between": float(np.sqrt(pooled.between)),
            "i_squared": pooled.i_squared,
            "q": pooled.q,
            "q_pvalue": pooled.pvalue,
            "sites": {**sites, "another site": another},
        },
    )


def scale_back(
    back: Any, ends: Callable[[float], intervals.Limits], confidence_level: float
) -> intervals.Limits:
    """Return the limits of an interval of logarithms on the original scale."""
    with np.errstate(over="ignore"):
        low, high = back(np.array(ends(confidence_level))).tolist()
    return low, high


def count_errors(
    sites: Mapping[Any, Estimate], sizes: Sequence[float | None]
) -> tuple[Floats, Floats]:
    """Return the error rates of sites and their effective numbers of samples.

    A mean `p` with the standard error `s` and an unknown size counts as ``p (1 - p) / s^2``
    samples.
    """
    counts = []
    for (name, site), size in zip(sites.items(), sizes, strict=True):
        value = site.value
        if not 0 <= value <= 1:
            raise ValueError(
                f"scale must not be 'binomial' for errors outside [0, 1], got {value} of {name!r}."
            )
        with np.errstate(divide="ignore", invalid="ignore"):
            counts.append(size or np.divide(value * (1 - value), site.standard_error**2))
    require_weights(sites, np.array(counts))
    return np.array([site.value for site in sites.values()]), np.array(counts)


def require_weights(sites: Mapping[Any, Estimate], numbers: Floats) -> None:
    """Raise an error unless the values that determine site weights are positive and finite."""
    weighted = np.isfinite(numbers) & (numbers > 0)
    if not weighted.all():
        name, site = list(sites.items())[int(np.argmin(weighted))]
        raise ValueError(
            "groups must have sites with a standard error above 0, which gives the weight of a "
            f"site, but {name!r} has {site.standard_error} at {site.value}."
        )


def rescale(sites: Mapping[Any, Estimate], scale: str) -> tuple[Floats, Floats]:
    """Return the values of sites or their logarithms, and the variances of these."""
    values = np.array([site.value for site in sites.values()])
    errors = np.array([site.standard_error for site in sites.values()])
    if scale == "log" and not (values > 0).all():
        name = list(sites)[int(np.argmin(values > 0))]
        raise ValueError(
            f"scale must not be 'log' for errors of 0, got {sites[name].value} of {name!r}."
        )
    variances = (errors * (1 / values if scale == "log" else 1.0)) ** 2
    require_weights(sites, variances)
    return np.log(values) if scale == "log" else values, variances


class Pooled(NamedTuple):
    """Mean of the sites, and their heterogeneity.

    Attributes
    ----------
    mean, standard_error : float
        Mean, and the standard error of Hartung & Knapp (2001), or the one without their correction
        if that is larger.
    corrected_error : float
        The standard error of Hartung and Knapp itself.
    between : float
        Variance between the sites, tau^2.
    q, pvalue : float
        Cochran's statistic for the hypothesis of equal sites, and its chi-squared P-value.
    i_squared : float
        Fraction of the variance of an estimate that is between sites (Higgins & Thompson 2002).
    values, variances : ndarray of shape (n_sites,)
        Pooled values and their variances.
    """

    mean: float
    standard_error: float
    between: float
    q: float
    pvalue: float
    i_squared: float
    values: Floats
    variances: Floats
    corrected_error: float

    @property
    def site_error(self) -> float:
        """Standard error of the predicted value of a new site."""
        return float(np.hypot(self.standard_error, np.sqrt(self.between)))

    @property
    def uncorrected_error(self) -> float:
        """Standard error without the correction of Hartung and Knapp."""
        return float(np.sqrt(1 / np.sum(1 / (self.variances + self.between))))

    @property
    def n_sites(self) -> int:
        """Number of sites."""
        return len(self.values)

    def limits(self, confidence_level: float) -> intervals.Limits:
        """Return the interval of the mean of all sites."""
        quantile = intervals.normal_quantile(confidence_level, self.n_sites - 1)
        half = quantile * self.standard_error
        return self.mean - half, self.mean + half

    def prediction_limits(self, confidence_level: float) -> intervals.Limits:
        """Return the interval of the true value of another site."""
        if self.n_sites < 3:
            return -np.inf, np.inf
        between, means, variances = self.draw_between()
        return predict(means, between + variances, self.n_sites - 1, confidence_level)

    def draw_between(self) -> tuple[Floats, Floats, Floats]:
        """Return draws from the confidence distribution of tau^2, the means and their variances.

        The variance between sites is uncertain, so that a prediction averages over it (Nagashima,
        Noma & Furukawa 2019). The statistic ``Q(tau^2) = sum_i w_i (y_i - mean)^2`` is chi-squared
        for the true variance.
        """
        # draws from the confidence distribution of tau^2, by inversion of Q
        chances = (np.arange(DRAWS) + 0.5) / DRAWS
        between = invert_q(self.values, self.variances, stats.chi2.isf(chances, self.n_sites - 1))
        weights, means, _ = weigh_sites(self.values, self.variances, between)
        return between, means, 1 / weights.sum(axis=1)


def predict(means: Floats, variances: Floats, freedom: int, level: float) -> intervals.Limits:
    """Return quantiles of the average of Student's t distributions."""
    law = stats.t(freedom, means, np.sqrt(variances))
    low, high = law.ppf(1e-6).min(), law.ppf(1 - 1e-6).max()
    tail = (1 - level) / 2

    def quantile(share: float) -> float:
        return float(optimize.brentq(lambda x: law.cdf(x).mean() - share, low, high))

    return quantile(tail), quantile(1 - tail)


class PooledRates:
    """Rate at the median site, and the rate at another site.

    Rates with their binomial variances are pooled like values. The log-odds of sites are normal
    with the variance tau^2, so the log-odds of the mean rate is about that of the median site,
    divided by ``sqrt(1 + ATTENUATION tau^2)``.

    Attributes
    ----------
    mean, standard_error : float
        Rate at the median site, and its standard error.
    between : float
        Variance of the log-odds between sites, tau^2.
    q, pvalue, i_squared : float
        Heterogeneity, as in `Pooled`. `q` is Pearson's statistic.
    """

    def __init__(self, rates: Floats, sizes: Floats) -> None:
        # half an error and half a correct prediction give rates of 0 and 1 a variance
        self.least = 0.5 / float(sizes.sum() + 1)
        self.rate = float(rates @ sizes / (sizes.sum() + 1)) + self.least
        self.variance = self.rate * (1 - self.rate)
        self.pooled = pooled = pool(rates, self.variance / sizes)
        self.q, self.pvalue, self.i_squared = pooled.q, pooled.pvalue, pooled.i_squared
        # the median site, and the slope of its rate
        self.between = pooled.between / self.variance**2
        stretch = stretch_odds(self.between)
        self.mean = float(expit(logit(pooled.mean) * stretch))
        middle = float(expit(logit(self.rate) * stretch))
        self.slope = middle * (1 - middle)
        self.standard_error = pooled.standard_error * stretch * self.slope / self.variance

    @property
    def site_error(self) -> float:
        """Standard error of the rate at another site, by the linear approximation."""
        return float(np.hypot(self.standard_error, self.slope * np.sqrt(self.between)))

    def limits(self, confidence_level: float) -> intervals.Limits:
        """Return the exact interval of the rate at the median site, for the effective size.

        The effective size gives a proportion the standard error of Hartung and Knapp with Student's
        t quantile, or the one without their correction with the normal quantile, if larger.
        """
        pooled, normal = self.pooled, intervals.normal_quantile(confidence_level)
        student = intervals.normal_quantile(confidence_level, pooled.n_sites - 1)
        error = max(pooled.corrected_error * student / normal, pooled.uncorrected_error)
        size = self.variance / error**2
        ends = intervals.exact_interval(pooled.mean * size, size, confidence_level)
        low, high = expit(logit(ends) * stretch_odds(self.between)).tolist()
        return low, high

    def prediction_limits(self, confidence_level: float) -> intervals.Limits:
        """Return the interval of the rate at another site, or [0, 1] for fewer than 3 sites."""
        pooled = self.pooled
        if pooled.n_sites < 3:
            return 0.0, 1.0
        # log-odds at the median site for each variance between sites, away from 0 and 1
        between, means, variances = pooled.draw_between()
        between = between / self.variance**2
        odds = logit(means.clip(self.least, 1 - self.least)) * stretch_odds(between)
        variances = between + variances / self.variance**2
        low, high = expit(predict(odds, variances, pooled.n_sites - 1, confidence_level)).tolist()
        return min(low, self.mean), max(high, self.mean)


def stretch_odds(between: Any) -> Any:
    """Return the ratio of the log-odds of the median rate and of the mean rate."""
    return np.sqrt(1 + ATTENUATION * between)


def pool(values: Floats, variances: Floats) -> Pooled:
    """Return the random-effects mean of sites with known positive variances.

    Sites may agree by chance. Therefore, the error is at least the one without the correction of
    Hartung and Knapp.
    """
    n = len(values)
    # weighted mean with the variance between sites
    between = find_between(values, variances)
    weights, (mean,), (deviations,) = weigh_sites(values, variances, np.array([between]))
    ratio = float(deviations / (n - 1))
    error = float(np.sqrt(max(1.0, ratio) / weights.sum()))
    corrected = float(np.sqrt(ratio / weights.sum()))
    # heterogeneity: Cochran's Q, and I^2
    q = float(weigh_sites(values, variances, np.zeros(1))[2][0])
    pvalue, share = float(stats.chi2.sf(q, n - 1)), share_between(between, 1 / variances)
    return Pooled(float(mean), error, between, q, pvalue, share, values, variances, corrected)


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


def find_between(values: Floats, variances: Floats) -> float:
    """Return the restricted maximum likelihood estimate of the variance between sites."""
    most = float(np.var(values, ddof=1)) * len(values)

    def minus_likelihood(between: float) -> float:
        return float(_deviances(values, variances, np.array([between]))[0])

    if most == 0:
        return 0.0
    # maximum of the restricted likelihood near the best grid point
    grid = most * np.linspace(0, 1, STARTS) ** 3
    place = int(np.argmin(_deviances(values, variances, grid)))
    ends = grid[max(0, place - 1)], grid[min(STARTS - 1, place + 1)]
    optimum = optimize.minimize_scalar(
        minus_likelihood, bounds=ends, method="bounded", options={"xatol": 1e-10 * most}
    )
    return float(optimum.x) if optimum.fun < minus_likelihood(0.0) else 0.0


def invert_q(values: Floats, variances: Floats, wanted: Floats) -> Floats:
    """Return the variances between sites at which Q has the `wanted` values, or 0 if Q is lower."""
    # start far below the variance of the most precise site, so that the grid is fine enough
    largest = variances.max() + np.var(values)
    grid = np.append(0.0, np.geomspace(1e-4 * variances.min(), 1e4 * largest, N_GRID))
    # Q decreases in tau^2, so it is inverted by interpolation
    q = weigh_sites(values, variances, grid)[2]
    return np.interp(wanted, q[::-1], grid[::-1])


def _deviances(values: Floats, variances: Floats, between: Floats) -> Floats:
    """Return minus twice the restricted log likelihood of each variance, up to a constant."""
    weights, _, residuals = weigh_sites(values, variances, between)
    return residuals - np.log(weights).sum(axis=1) + np.log(weights.sum(axis=1))
