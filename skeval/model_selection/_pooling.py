r"""Estimates of several sites, studies or data sets as one, and what another site will have.

The error of site `i` is :math:`\mu + u_i`, with the variance :math:`\tau^2` between sites, and its
estimate :math:`y_i` deviates from that with the known variance :math:`v_i`. With the weights
:math:`w_i = 1 / (v_i + \tau^2)` the mean is :math:`\hat\mu = \sum w_i y_i / \sum w_i`. The variance
between sites has the largest restricted likelihood where

.. math:: \sum_i w_i^2 (y_i - \hat\mu)^2 = \sum_i w_i - \frac{\sum_i w_i^2}{\sum_i w_i} .
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, stats

from skeval._inference.errors import Tested, mean_loss, variance_of_mean
from skeval._inference.estimate import Estimate, Limits
from skeval._inference.intervals import bounds_of, normal_interval, wilson_interval
from skeval._inference.paired import corrected_error
from skeval._resampling.fits import fit_plan
from skeval._resampling.task import LossLike, Params, read_task
from skeval.model_selection._estimates import plan_leave_one_out
from skeval.utils._checks import check_confidence_level, check_data, check_option, root_seed
from skeval.utils._text import mean_loss_name, write_ends

__all__ = ["new_site_error", "pool_estimates"]

Floats = NDArray[np.float64]

STARTS, DRAWS = 60, 100
"""Values of tau^2: among which a largest likelihood is looked for; that are averaged."""
LARGEST = 1e75
"""Of estimates and errors: fourth powers of larger numbers are infinite."""


class Scale(NamedTuple):
    """Where sites are normal: how values go there and back, and the slope of the way there."""

    there: Callable[[Any], Any]
    back: Callable[[Any], Any]
    slope: Callable[[Any], Any]


SCALES = {
    "identity": Scale(lambda x: x, lambda x: x, lambda x: np.ones_like(x)),
    "log": Scale(np.log, np.exp, lambda x: 1 / x),
    "arcsine": Scale(
        lambda x: np.arcsin(np.sqrt(x)),
        lambda x: np.sin(np.clip(x, 0, np.pi / 2)) ** 2,
        lambda x: 0.5 / np.sqrt(x * (1 - x)),
    ),
}


def pool_estimates(
    estimates: Any,
    standard_errors: ArrayLike | None = None,
    *,
    scale: str = "auto",
    confidence_level: float = 0.95,
) -> Estimate:
    r"""Pool estimates of several sites or data sets, and foretell that of another.

    Sites differ: with :math:`y_i = \theta_i + e_i` the estimate of site `i`, whose standard error
    is known, and :math:`\theta_i \sim N(\mu, \tau^2)`, :math:`\mu` is estimated by the mean with
    weights :math:`1 / (s_i^2 + \tau^2)` and :math:`\tau^2` by restricted maximum likelihood.

    Parameters
    ----------
    estimates : mapping, frame, or array-like of shape (n_sites,)
        The estimate of each site; the sites must be independent of each other, as those of
        cross-validations within each site are. For a model that leaves the site out see
        `new_site_error`. A mapping holds by name an `Estimate`, or what `run_over_datasets` returns
        of one classifier: scores of splits, whose standard error is that of Nadeau and Bengio. A
        frame has a site in each row, with the columns "value" and "standard_error".
    standard_errors : array-like of shape (n_sites,), default=None
        Their standard errors, above 0, where they are numbers.
    scale : {"auto", "identity", "log", "arcsine"}, default="auto"
        The scale on which sites are normal. "auto" is "arcsine", the arc sine of the root, for an
        `Estimate` between 0 and 1, as of a proportion or an area, and "log" for one that is not
        negative, as of a mean loss; else it is "identity".
    confidence_level : float, default=0.95
        Nominal coverage of both intervals.

    Returns
    -------
    Estimate
        `value` is the mean of all sites: on the scale "arcsine" or "log" the median site. Its
        interval is "hartung_knapp"; ``confidence_interval(method="prediction")`` is that of the
        true value at another site. `details` hold "between", the standard deviation :math:`\tau`
        on the scale, "i_squared", the share of the variance of an estimate that is between sites
        [3]_, Cochran's "q" of equal sites with its "q_pvalue", and the "sites", with
        "another site". ``plot()`` is the forest plot.

    Raises
    ------
    ValueError
        If there are fewer than two sites, a standard error is not above 0, or a value is not
        within the scale.

    See Also
    --------
    new_site_error : Leaves out each site, and pools the errors.
    compare_scores : Compares classifiers over data sets.

    Notes
    -----
    The standard error is that of Hartung and Knapp [1]_ on Student's quantile with one degree of
    freedom less than there are sites, and never less than the one without their correction, as
    [2]_ recommend for sites of unequal size. The prediction interval averages Student's law of
    another site over the confidence distribution of :math:`\tau^2`, close to [4]_: the usual
    :math:`\hat\mu \pm t_{k-2} \sqrt{\hat\tau^2 + s^2}` [5]_ takes the estimated variance for the
    true one, which with few sites is often 0.

    In simulations of normal sites with unequal standard errors (ratio of variances 1 to 10; 5, 10
    and 20 sites; true :math:`I^2` of 0, .5 and .9; 200 sets a cell) 95 % intervals held the mean in
    .94 to 1.00 and another site in .95 to 1.00; with :math:`t_{k-1}` or :math:`t_{k-2}` in place of
    the average, another site was held in .82 to .99 (400 sets). Of error rates of .2 and .05 in
    sites of 20 to 200 samples (18 cells of 200 sets, :math:`\tau` of 0, .4 and 1 on the log-odds)
    the scale "arcsine" held the median site in .90 to 1.00 and another one in .92 to 1.00; the
    log-odds, on which the weight of a site depends on its error, in .70 to .99 and .88 to 1.00
    (``benchmarks/coverage_pooling.py``).

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

    Examples
    --------
    >>> from skeval.model_selection import pool_estimates
    >>> result = pool_estimates(
    ...     [0.12, 0.18, 0.09, 0.25, 0.14], [0.02, 0.03, 0.02, 0.05, 0.03], scale="arcsine"
    ... )
    >>> print(result)
    value (random_effects)
      value           0.1465
      standard error  0.0254
      95 % interval   [0.0835, 0.2235] (hartung_knapp)
      sites           5
      scale           arcsine
      another site    [0.0055, 0.4349] (95 %)
      between         0.0656
      i squared       0.7362
      q               13.77
      q pvalue        0.0081
    """
    check_confidence_level(confidence_level)
    check_option("scale", scale, ("auto", *SCALES))
    sites = read_sites(estimates, standard_errors, confidence_level)
    return pool_sites(sites, scale, confidence_level)


def read_sites(estimates: Any, standard_errors: Any, level: float) -> dict[Any, Estimate]:
    """Return the estimate of each site by name."""
    framed = hasattr(estimates, "columns")
    if standard_errors is not None and (framed or isinstance(estimates, Mapping)):
        raise ValueError("standard_errors must be None where estimates have their own.")
    if isinstance(estimates, Mapping) and not framed:
        sites = {
            name: pool_splits(name, each, level) if isinstance(each, Mapping) else each
            for name, each in estimates.items()
        }
        foreign = [each for each in sites.values() if not isinstance(each, Estimate)]
        if foreign or len({each.name for each in sites.values()}) > 1:
            raise ValueError(
                "estimates must be Estimates of one quantity, by name; got "
                f"{foreign[0] if foreign else sorted({each.name for each in sites.values()})}."
            )
        return sites
    names = None
    if framed:
        lacking = {"value", "standard_error"} - set(estimates.columns)
        if lacking:
            raise ValueError(f"estimates must have the columns {sorted(lacking)}.")
        names = getattr(estimates, "index", None)
        estimates, standard_errors = estimates["value"], estimates["standard_error"]
    if standard_errors is None:
        raise ValueError("standard_errors must be given where estimates are numbers.")
    values = check_data("estimates", estimates, ensure_2d=False, dtype=float)
    errors = check_data("standard_errors", standard_errors, ensure_2d=False, dtype=float)
    if values.ndim != 1 or values.shape != errors.shape:
        raise ValueError(
            f"estimates and standard_errors must be of one length, got shapes {values.shape} "
            f"and {errors.shape}."
        )
    names = [f"site {number}" for number in range(1, 1 + len(values))] if names is None else names
    if len(set(names)) < len(values):
        raise ValueError("estimates must have each site once, got an index that repeats names.")
    return {
        name: describe_site("value", value, error, level)
        for name, value, error in zip(names, values.tolist(), errors.tolist(), strict=True)
    }


def pool_splits(site: Any, result: Mapping[str, Any], level: float) -> Estimate:
    """Return the mean score of splits, with the standard error of Nadeau and Bengio (2003)."""
    if not {"test_score", "indices"} <= set(result):
        raise ValueError(
            "estimates must hold 'test_score' and 'indices' for each site, as one classifier of "
            f"run_over_datasets has them; got {sorted(result)} of {site!r}."
        )
    scores, parts = np.asarray(result["test_score"], dtype=float), result["indices"]
    if len(scores) < 2 or not np.isfinite(scores).all():
        raise ValueError(
            f"estimates must have a score of two splits at least, none missing, got {scores} of "
            f"{site!r}."
        )
    sizes = [len(b) / len(a) for a, b in zip(parts["train"], parts["test"], strict=True)]
    error = corrected_error(scores, float(np.mean(sizes)))
    return describe_site("test_score", float(scores.mean()), error, level)


def describe_site(
    name: str,
    value: float,
    error: float,
    level: float,
    size: int | None = None,
    wilson: bool = False,
) -> Estimate:
    """Return the estimate of a site, with its normal interval or, of a proportion, Wilson's."""
    limits: dict[str, Any] = {"normal": partial(normal_interval, value, error)}
    if wilson and size is not None:
        limits = {"wilson": partial(wilson_interval, value * size, size)}
    return Estimate(
        name=name,
        value=value,
        standard_error=error,
        method="given",
        limits=limits,
        n_samples=size,
        confidence_level=level,
        allow_point=True,
    )


def new_site_error(
    estimator: Any,
    X: Any,
    y: Any,
    groups: Any,
    *,
    loss: LossLike = None,
    scale: str = "auto",
    params: Params = None,
    sample_weight: Any = None,
    confidence_level: float = 0.95,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
    error_score: float | str = "raise",
) -> Estimate:
    """Leave out each site in turn, and tell what the error elsewhere will be.

    The error of a site is that of the rule fitted to all others. The errors are pooled by
    `pool_estimates`: the mean of all sites, and, by ``confidence_interval(method="prediction")``,
    where the error at another site will lie.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn classifier, regressor or pipeline. Selection and tuning belong inside it.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or what else the estimator takes: texts, or a square precomputed kernel.
    y : array-like of shape (n_samples,)
        Labels or numbers.
    groups : array-like of shape (n_samples,)
        The site of each sample; two at least, each with two samples at least.
    loss : str or callable, default=None
        "zero_one", "squared" or "absolute"; "log_loss" or "brier", of the probabilities of a
        classifier; or any loss of predictions, ``(y_true, y_pred) -> (n,)``. None means 0-1 loss
        for classifiers and squared error for regressors.
    scale : {"auto", "identity", "log", "arcsine"}, default="auto"
        As in `pool_estimates`.
    params : dict, default=None
        Arguments of the estimator's `fit` by name.
    sample_weight : array-like of shape (n_samples,), default=None
        What each sample counts, in every fit and in the mean of the losses of its site.
    confidence_level : float, default=0.95
        Nominal coverage of both intervals.
    n_jobs : int, default=None
        Number of joblib workers; the result does not depend on it.
    verbose : int, default=0
        1 says whether a solver does the fits, and shows a progress bar.
    memory : str, path-like or joblib.Memory, default=None
        Where finished fits are kept; see :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        What to do when a fit raises: raise too, or leave the site out, count and warn.

    Returns
    -------
    Estimate
        That of `pool_estimates`; `replicates` are the errors of the sites.

    Raises
    ------
    ValueError
        If there are fewer than two sites, or a site has one sample.
    TypeError
        If `sample_weight` is given and the estimator takes none.

    See Also
    --------
    error_interval : With ``groups=`` it tells of new sites on average, without how they differ.

    Notes
    -----
    Samples of a site are taken for independent of each other given the site, and so are the errors
    of the sites, although their rules share most of their training samples.
    How often the intervals hold is said at `pool_estimates`.

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
      value           0.3413
      standard error  0.0526
      95 % interval   [0.2237, 0.4698] (hartung_knapp)
      samples         400
      sites           8
      scale           arcsine
      another site    [0.0336, 0.7639] (95 %)
      between         0.1398
      i squared       0.7929
      q               33.81
      q pvalue        1.871e-05
    """
    check_confidence_level(confidence_level)
    check_option("scale", scale, ("auto", *SCALES))
    run = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory, "error_score": error_score}
    given = {"groups": groups, "sample_weight": sample_weight, "params": params}
    task = read_task(estimator, X, y, loss=loss, method="leave_one_site_out", **given, **run)
    if task.groups is None:
        raise ValueError("groups must say of which site each sample is, got None.")
    names, counts = np.unique(task.groups, return_counts=True)
    if counts.min() < 2:
        alone = names.tolist()[int(counts.argmin())]
        raise ValueError(f"groups must hold two samples of each site at least, {alone!r} has one.")
    sites, n_failed, loss_name = {}, 0, task.loss.name
    for _, outputs in fit_plan(task, plan_leave_one_out(task, root_seed(0), {})):
        for output in outputs:
            if output.failed[0]:
                n_failed += 1
                continue
            rows, losses = output.rows, task.loss_values(task.loss, output)
            tested = Tested(losses, None if task.weight is None else task.weight[rows])
            sites[task.groups[rows[0]]] = describe_site(
                mean_loss_name(loss_name),
                mean_loss(tested),
                float(np.sqrt(variance_of_mean(tested))),
                confidence_level,
                len(rows),
                wilson=loss_name == "zero_one",
            )
    return pool_sites(sites, scale, confidence_level, bounds_of(loss_name), n_failed)


def pool_sites(
    sites: Mapping[Any, Estimate],
    scale: str,
    confidence_level: float,
    bounds: Limits | None = None,
    n_failed: int = 0,
) -> Estimate:
    """Return the pooled estimate of sites."""
    if len(sites) < 2:
        raise ValueError(f"estimates must be of two sites at least, got {len(sites)}.")
    listed = list(sites.values())
    bounds = listed[0].bounds if bounds is None else bounds
    if scale == "auto":
        scale = {(0.0, 1.0): "arcsine", (0.0, np.inf): "log"}.get(bounds, "identity")
    values, variances = rescale(sites, scale)
    found = pool(values, variances)
    mean = float(SCALES[scale].back(found.mean))
    with np.errstate(divide="ignore"):
        slope = SCALES[scale].slope(mean)
    limits = {
        "hartung_knapp": partial(scale_back, scale, found.limits),
        "prediction": partial(scale_back, scale, found.prediction_limits),
    }
    name = listed[0].name
    ends = write_ends(*limits["prediction"](confidence_level))
    sizes = [each.n_samples for each in listed]
    shared: dict[str, Any] = {"confidence_level": confidence_level, "bounds": bounds}
    another = Estimate(
        name=name,
        value=mean,
        standard_error=float(np.hypot(found.standard_error, found.between**0.5) / slope),
        method="random_effects",
        limits={"prediction": limits["prediction"]},
        **shared,
    )
    return Estimate(
        name=name,
        value=mean,
        standard_error=float(found.standard_error / slope),
        method="random_effects",
        limits=limits,
        n_samples=None if None in sizes else sum(size or 0 for size in sizes),
        n_failed=n_failed,
        replicates=np.array([each.value for each in listed]),
        details={
            "n_sites": len(sites),
            "scale": scale,
            "another_site": f"{ends} ({100 * confidence_level:g} %)",
            "between": float(np.sqrt(found.between)),
            "i_squared": found.i_squared,
            "q": found.q,
            "q_pvalue": found.pvalue,
            "sites": {**sites, "another site": another},
        },
        **shared,
    )


def scale_back(scale: str, ends: Callable[[float], Limits], confidence_level: float) -> Limits:
    """Return the ends of an interval that were found on a scale."""
    low, high = ends(confidence_level)
    with np.errstate(over="ignore"):
        return float(SCALES[scale].back(low)), float(SCALES[scale].back(high))


def rescale(sites: Mapping[Any, Estimate], scale: str) -> tuple[Floats, Floats]:
    """Return the values of sites on a scale, and their variances there.

    A proportion of 0 or 1 has the variance of one of so many samples on the scale of the arc sine.
    """
    values = np.array([each.value for each in sites.values()])
    errors = np.array([each.standard_error for each in sites.values()])
    low, high = {"log": (0, np.inf), "arcsine": (0, 1)}.get(scale, (-np.inf, np.inf))
    ends = scale == "arcsine"
    inside = (values >= low) & (values <= high) if ends else (values > low) & (values < high)
    if not inside.all():
        name = list(sites)[int(np.argmin(inside))]
        raise ValueError(
            f"estimates must suit scale={scale!r}, got {sites[name].value} of {name!r}."
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        variances = (errors * SCALES[scale].slope(values)) ** 2
    if ends:
        sizes = [each.n_samples or np.nan for each in sites.values()]
        extreme = (values == 0) | (values == 1)
        variances = np.where(extreme, 0.25 / np.array(sizes, dtype=float), variances)
    known = np.isfinite(variances) & (variances > 0)
    if not known.all():
        name = list(sites)[int(np.argmin(known))]
        raise ValueError(
            "standard_errors must have squares above 0, so that a site has a weight; "
            f"{name!r} has {sites[name].standard_error} at {sites[name].value}."
        )
    there = SCALES[scale].there(values)
    if np.abs(there).max() > LARGEST or variances.max() > LARGEST**2:
        raise ValueError(
            f"estimates and standard_errors must be {LARGEST:g} at most, got "
            f"{values.tolist()[:5]} and {errors.tolist()[:5]}."
        )
    return there, variances


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
        """Return the interval of the mean of all sites."""
        degrees = self.n_sites - 1
        ends = self.mean, self.standard_error, confidence_level
        return normal_interval(*ends, degrees_of_freedom=degrees)

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

        def quantile(share: float) -> float:
            return float(optimize.brentq(lambda x: law.cdf(x).mean() - share, low, high))

        return quantile(tail), quantile(1 - tail)


def pool(values: Floats, variances: Floats) -> Pooled:
    """Return the mean of the values of sites, whose variances are known and above 0."""
    n = len(values)
    between = find_between(values, variances)
    weights = 1 / (variances + between)
    mean = float(np.average(values, weights=weights))
    deviations = np.sum(weights * (values - mean) ** 2)
    # never below the error without the correction, as sites alike by chance would have it
    error = float(np.sqrt(max(1.0, deviations / (n - 1)) / weights.sum()))
    fixed = 1 / variances
    q = float(np.sum(fixed * (values - np.average(values, weights=fixed)) ** 2))
    pvalue = float(stats.chi2.sf(q, n - 1))
    freedom = fixed.sum() - np.sum(fixed**2) / fixed.sum()
    typical = (n - 1) / freedom
    share = between / (between + typical)
    return Pooled(mean, error, between, q, pvalue, float(share), values, variances)


def find_between(values: Floats, variances: Floats) -> float:
    """Return the variance between sites of the largest restricted likelihood."""
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
