"""External validation of predicted probabilities.

The module contains, in this order, the calibration measures with their intervals, and the logistic
recalibration and the smooth calibration curve behind them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit

from skeval._inference import intervals
from skeval._inference.calibration import (
    Design,
    Masses,
    make_line,
    make_spline,
    maximize,
    pass_over,
)
from skeval._inference.errors import TestLosses, spread_of_mean
from skeval._inference.estimate import Curve, Estimate, Results
from skeval._inference.intervals import Codes, Limits, Spread, size_from_weights
from skeval.metrics._curves import CurveSample, check_curve_sample, warn_of_other_class
from skeval.utils._arrays import CONSTRAINTS, validate_params
from skeval.utils._checks import (
    RandomStateLike,
    check_probabilities,
    repetition_rng,
    root_seed,
    warn_undefined,
    warn_user,
)

Floats = NDArray[np.float64]
CERTAIN = 1e-8
"""Probabilities are clipped to this distance from 0 and 1, where log-odds are infinite."""
N_DRAWS, N_CUTS, STEPS = 400, 200, 14
"""Curves drawn per test, grid points of a curve, and bisection steps per limit."""
MIN_EVENTS = 30
"""Smallest class size for a spline with 4 knots. Smaller classes use fewer knots."""
KNOTS = {4: (0.05, 0.35, 0.65, 0.95), 3: (0.1, 0.5, 0.9), 2: (0.25, 0.75)}
"""Quantiles of the log-odds at which a spline has its knots, by their number."""
SHARES = {"ici": None, "e50": 0.5, "e90": 0.9}
"""Quantile of the distances from the smooth curve for each measure. None is the mean."""


@validate_params(CONSTRAINTS)
def calibration_measures(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    confidence_level: float = 0.95,
    random_state: RandomStateLike = None,
) -> Results:
    r"""Return the calibration measures of an external validation, with confidence intervals.

    With :math:`l_i` the log-odds of the probability :math:`p_i`:

    - ``observed_expected`` is :math:`\sum y_i / \sum p_i`. The best value is 1.
    - ``in_the_large`` is the :math:`\alpha` of :math:`logit\, P(y_i = 1) = \alpha + l_i`. The best
      value is 0. Above 0, events happen more often than predicted.
    - ``intercept`` and ``slope`` are a and b of :math:`logit\, P(y_i = 1) = a + b\, l_i`. The best
      values are 0 and 1. A slope below 1 means that probabilities are too extreme.
    - ``ici``, ``e50``, ``e90`` are the mean, the median and the 90 % quantile of the distance
      :math:`|p_i - \hat c(p_i)|` from a smooth calibration curve; 0 is best.
    - ``scaled_brier`` is :math:`1 - \sum (y_i - p_i)^2 / \sum (y_i - \bar y)^2`. The best value is
      1, and always predicting the event rate gives 0.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes, exactly two.
    y_proba : array-like of shape (n_samples,)
        Predicted probabilities of the positive class.
    pos_label : int, float, bool or str, default=None
        The positive class. None means 1 if `y_true` takes values in {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. They are not numbers of repeated observations.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as the patient. The variance is computed between groups, with
        Student's t quantile.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call. They give the intervals
        of ``ici``, ``e50`` and ``e90``.

    Returns
    -------
    dict of str to Estimate
        Measures by the names above.

    Raises
    ------
    ValueError
        If a probability is outside [0, 1], there are not exactly two classes, or there is only one
        group.

    Warns
    -----
    UserWarning
        If a probability is closer than 1e-8 to 0 or 1. It is clipped to this distance.
    UndefinedMetricWarning
        If the probabilities separate the classes, so that the slope is undefined.

    See Also
    --------
    reliability_curve : Shows which probabilities are miscalibrated.

    Notes
    -----
    Variances are robust, clustered by `groups` if passed. Their ratio to the model-based variance
    scales an interval that respects the range of the measure, that is, Rao's score interval for
    ``observed_expected`` and ``in_the_large``, and the profile-likelihood interval for intercept
    and slope (with groups, Student's t interval).

    The smooth curve of ``ici``, ``e50`` and ``e90`` is logistic regression on a restricted cubic
    spline of the log-odds with 4 knots, or 3 if a class has fewer than 30 samples [1]_ [2]_. Random
    variation produces distances even for calibrated probabilities. ``details["by_chance"]`` is the
    median distance in that case, and the interval inverts a test. ``details["curve"]`` is the curve
    with a pointwise interval.

    :doc:`/user_guide/formulas` has the details and :doc:`/validation` the measured coverage, which
    is too low with five events or fewer.

    References
    ----------
    .. [1] Austin, P. C. and Steyerberg, E. W. (2019). The Integrated Calibration Index (ICI) and
       related metrics for quantifying the calibration of logistic regression models. Statistics in
       Medicine 38, 4051-4065. https://doi.org/10.1002/sim.8281
    .. [2] Harrell, F. E. (2015). Regression Modeling Strategies. Springer.
       https://doi.org/10.1007/978-3-319-19425-7
    .. [3] Van Calster, B., McLernon, D. J., van Smeden, M., Wynants, L. and Steyerberg, E. W.
       (2019). Calibration: the Achilles heel of predictive analytics. BMC Medicine 17, 230.
       https://doi.org/10.1186/s12916-019-1466-7

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.metrics import calibration_measures
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.normal(-1, 1, 500)
    >>> y = rng.random(500) < 1 / (1 + np.exp(-truth))
    >>> p = 1 / (1 + np.exp(-2 * truth))  # too extreme
    >>> measures = calibration_measures(y, p, random_state=0)
    >>> print(measures["slope"])
    calibration slope
      value           0.6604
      standard error  0.0718
      95 % interval   [0.5249, 0.8068] (profile)
      samples         500
    """
    # events with probabilities of the right class
    data = y_true, y_proba, pos_label, sample_weight, groups, confidence_level
    sample = check_curve_sample(*data, name="y_proba")
    check_probabilities("y_proba", sample.score)
    warn_of_other_class("y_proba", sample)
    return measure_calibration(sample, random_state)


def measure_calibration(sample: CurveSample, random_state: RandomStateLike) -> Results:
    """Return the calibration measures of a validated sample."""
    p, confidence_level = sample.score, sample.confidence_level
    # log-odds of 0 and 1 are infinite
    n_certain = int(np.sum((p < CERTAIN) | (p > 1 - CERTAIN)))
    if n_certain:
        warn_user(f"{n_certain} probabilities of 0 or 1 were clipped to {CERTAIN:g}.")
    # weights that sum to the effective sample size
    weight, ranked = sample.weight, sample.ranked
    scale = float(weight.sum() / (weight @ weight))
    events, others = scale * ranked.positives, scale * ranked.negatives
    squares = scale**2 * ranked.squares[0], scale**2 * ranked.squares[1]
    masses = Masses(_find_odds(ranked.score), events, others, squares)
    p, weight = p.clip(CERTAIN, 1 - CERTAIN), weight if scale == 1 else weight * scale
    data = Validated(sample.positive, p, weight, sample.group, masses)
    # log-odds that divide the samples into parts of equal weight
    passed = np.cumsum(ranked.positives + ranked.negatives)
    cuts = (np.arange(N_CUTS) + 0.5) / N_CUTS * passed[-1]
    grid = _find_odds(ranked.score[np.searchsorted(passed, cuts).clip(max=len(passed) - 1)])
    measures = {
        "observed_expected": _compare_sums(data),
        "in_the_large": _find_in_the_large(data),
        **recalibrate(data),
        **_measure_distances(data, grid, confidence_level, random_state),
        "scaled_brier": _scale_brier(data),
    }
    return Results(
        {
            name: Estimate(
                name=NAMES[name],
                value=measure.value,
                standard_error=measure.error,
                method=measure.method,
                limits={} if np.isnan(measure.value) else {measure.method: measure.limits},
                n_samples=len(p),
                details=measure.details,
                **measure.groups,
                confidence_level=confidence_level,
                allow_point=True,
            )
            for name, measure in measures.items()
        }
    )


NAMES = {
    "observed_expected": "observed over expected number",
    "in_the_large": "calibration in the large",
    "intercept": "calibration intercept",
    "slope": "calibration slope",
    "ici": "mean distance of the calibration curve (ICI)",
    "e50": "median distance of the calibration curve (E50)",
    "e90": "90 % quantile of the distance of the calibration curve (E90)",
    "scaled_brier": "scaled Brier score",
}


def _find_odds(p: Floats) -> Floats:
    """Return the log-odds of probabilities, clipped away from 0 and 1."""
    odds: Floats = logit(p.clip(CERTAIN, 1 - CERTAIN))
    return odds


def find_recalibration(y: NDArray[np.bool_], p: Floats, weight: Floats) -> Floats:
    """Return intercept and slope of the events' log-odds on those predicted, nan if undefined."""
    events, others = weight * y, weight * ~y
    masses = Masses(_find_odds(p), events, others, (events**2, others**2))
    optimum = maximize(masses, make_line, np.zeros(2), [0, 1])
    return np.full(2, np.nan) if optimum is None else optimum[0]


class Measure(NamedTuple):
    """Value of a measure with its limits as a function of the confidence level."""

    value: float
    error: float
    method: str
    limits: Callable[[float], Limits]
    groups: dict[str, Any]
    details: Mapping[str, Any] = {}


class Validated(NamedTuple):
    """Events with probabilities, groups, and weights that sum to the effective sample size.

    `masses` are their log-odds.
    """

    y: NDArray[np.bool_]
    p: Floats
    weight: Floats
    group: Codes | None
    masses: Masses

    def spread(self, deviations: Floats, size: Floats, leverage: Floats) -> Spread:
        """Return the covariance of a weighted sum of deviations of shape (n,) or (n, k).

        `size` is the approximate size of each deviation. See `spread_between`.
        """
        # sums over samples, or over groups
        moved = self.weight[:, None] * deviations.reshape(len(self.y), -1)
        if self.group is None:
            return Spread(moved.T @ moved)
        counted, leverage = self.weight * size, self.weight * leverage
        return intervals.spread_between(moved, self.group, counted, leverage=leverage)

    def shrink(self, ratio: float) -> float:
        """Return a ratio of variances, shrunk toward 1 if it is below 1."""
        # number of samples of the smaller class
        events = float(self.weight @ self.y)
        n = min(events, float(self.weight.sum()) - events)
        return max(ratio, (n * ratio + 4) / (n + 4))


def _compare_sums(data: Validated) -> Measure:
    """Return the observed over the expected number of events.

    The interval solves ``(O - tE)^2 <= z^2 r t E``, because the variance is r times a Poisson
    variance.
    """
    p = data.p
    # the ratio, and the variance of its numerator for a fixed ratio
    observed, expected = float(data.weight @ data.y), float(data.weight @ p)
    ratio = observed / expected
    spread = data.spread(data.y - ratio * p, np.sqrt(p * (1 - p)), p)
    larger = data.shrink(spread.variance / observed)
    limits = partial(_limit_ratio, spread, observed, expected, larger)
    return Measure(ratio, spread.error / expected, "score", limits, spread.groups)


def _limit_ratio(
    spread: Spread, observed: float, expected: float, larger: float, confidence_level: float
) -> Limits:
    """Return the roots of the quadratic equation in t E."""
    half = 2 * observed + _find_quantile(spread, confidence_level) ** 2 * larger
    root = np.sqrt(half**2 - 4 * observed**2)
    return float((half - root) / 2 / expected), float((half + root) / 2 / expected)


def _find_quantile(spread: Spread, confidence_level: float) -> float:
    """Return the two-sided quantile, normal, or Student's t with groups."""
    return intervals.normal_quantile(confidence_level, spread.degrees_of_freedom)


class Logit(NamedTuple):
    """Logistic regression, with coefficients and their model-based covariance.

    `squares` is the sum of squared score vectors. `model` and `squares` refer to the coefficients
    `free`. `masses` are the log-odds of the fit.
    """

    coefficients: Floats
    likelihood: float
    model: Floats
    squares: Floats
    free: list[int]
    design: Design
    masses: Masses

    def _turn(self, data: Validated) -> tuple[Floats, Floats, Floats]:
        """Return the terms of each sample, their product with the covariance, and the means."""
        terms = self.design(logit(data.p)).T
        mean, terms = expit(terms @ self.coefficients), terms[:, self.free]
        return terms, terms @ self.model, mean

    def spread(self, data: Validated) -> Spread:
        """Return the robust covariance of all coefficients."""
        if data.group is None:
            return Spread(self.model @ self.squares @ self.model)
        # deviations of the samples with their leverages
        terms, turned, mean = self._turn(data)
        leverage = mean * (1 - mean) * np.einsum("ij,ij->i", turned, terms)
        return data.spread(turned * (data.y - mean)[:, None], np.sqrt(leverage), leverage)

    def spread_each(self, data: Validated) -> list[Spread]:
        """Return the robust variance of each coefficient. With groups, leave each one out (CR3)."""
        if data.group is None:
            covariance = self.spread(data).covariance
            return [Spread(covariance[at : at + 1, at : at + 1]) for at in range(len(covariance))]
        # one variance for each coefficient, with its own degrees of freedom
        terms, turned, mean = self._turn(data)
        size, weight = np.sqrt(mean * (1 - mean)), data.weight[:, None]
        moved = turned * (data.y - mean)[:, None]
        spreads = [
            data.spread(own, size * np.abs(column), (size * column) ** 2)
            for own, column in zip(moved.T, turned.T, strict=True)
        ]
        # covariance of the estimates without each group
        own = (weight * size[:, None] ** 2 * turned)[:, :, None] * terms[:, None, :]
        covariance = intervals.covariance_left_out(weight * moved, own, data.group)
        return [
            spread._replace(covariance=covariance[at : at + 1, at : at + 1])
            for at, spread in enumerate(spreads)
        ]


def fit_logistic(data: Validated, design: Design, start: Floats, free: list[int]) -> Logit | None:
    """Return the logistic regression of the events on a design, or None if it does not exist."""
    # maximum of the likelihood
    optimum = maximize(data.masses, design, start, free)
    if optimum is None:
        return None
    (beta, passed), among = optimum, np.ix_(free, free)
    # inverse information, unless it is singular
    information = passed.information[among]
    if np.linalg.cond(information) > 1e12:
        return None
    model = np.asarray(np.linalg.inv(information), dtype=np.float64)
    return Logit(beta, passed.likelihood, model, passed.squares[among], free, design, data.masses)


SMALLEST = float(np.finfo(float).tiny)
NOTHING = Measure(np.nan, np.nan, "none", intervals.give_no_limits, {})


def _find_in_the_large(data: Validated) -> Measure:
    """Return the shift of the log-odds that equates observed and expected sums."""
    # the intercept of a regression with the slope 1
    fit = fit_logistic(data, make_line, np.array([0.0, 1.0]), [0])
    if fit is None:
        return NOTHING
    value = float(fit.coefficients[0])
    (spread,) = fit.spread_each(data)
    larger = data.shrink(spread.variance / float(fit.model[0, 0]))
    limits = partial(_limit_shift, fit, spread, larger)
    return Measure(value, spread.error, "score", limits, spread.groups)


def _limit_shift(fit: Logit, spread: Spread, larger: float, confidence_level: float) -> Limits:
    """Return the shifts whose score statistic equals the quantile."""
    reach = _find_quantile(spread, confidence_level) * larger**0.5
    value, first = float(fit.coefficients[0]), reach * float(fit.model[0, 0]) ** 0.5

    def excess(shift: float) -> float:
        passed = pass_over(fit.masses, make_line, np.array([shift, 1.0]))
        moved, variance = float(passed.gradient[0]), float(passed.information[0, 0])
        # the variance is 0 if all probabilities are 0 or 1
        return abs(moved) / max(variance, SMALLEST) ** 0.5 - reach

    low, high = (_cross(excess, value, side, first) for side in (-1, 1))
    return low, high


def _cross(function: Callable[[float], float], start: float, side: int, first: float) -> float:
    """Return the root of a function on one side of `start`, infinite if there is none.

    `first` is the approximate distance of the root.
    """
    # bracket by doubling, then Brent's method
    near, far, sign = 0.0, 1.1 * first, np.sign(function(start))
    while np.sign(function(start + side * far)) == sign:
        near, far = far, 2 * far
        if far > 1e4:
            return side * np.inf
    ends = sorted((start + side * near, start + side * far))
    return float(brentq(function, *ends, xtol=1e-9 * first))


def recalibrate(data: Validated) -> dict[str, Measure]:
    """Return calibration intercept and slope, with profile-likelihood intervals."""
    # logistic regression on the predicted log-odds
    fit = fit_logistic(data, make_line, np.zeros(2), [0, 1])
    if fit is None:
        warn_undefined(
            "The slope is undefined (nan), because all probabilities are equal, or they separate "
            "the classes."
        )
        return {"intercept": NOTHING, "slope": NOTHING}
    # intercept and slope with profile limits, or between groups
    measures = {}
    for at, spread in enumerate(fit.spread_each(data)):
        value, method = float(fit.coefficients[at]), "profile"
        limits: Callable[[float], Limits]
        if data.group is None:
            larger = data.shrink(spread.variance / float(fit.model[at, at]))
            limits = partial(_profile, fit, at, larger)
        else:
            degrees, method = spread.degrees_of_freedom, "t"
            args = value, spread.error
            limits = partial(intervals.normal_interval, *args, degrees_of_freedom=degrees)
        name = ("intercept", "slope")[at]
        measures[name] = Measure(value, spread.error, method, limits, spread.groups)
    return measures


def _profile(fit: Logit, at: int, larger: float, confidence_level: float) -> Limits:
    """Return the limits where twice the loss of profile log-likelihood is z^2 r."""
    # start from the coefficients that the quadratic approximation gives
    bound = intervals.normal_quantile(confidence_level) ** 2 * larger
    best, moves = float(fit.coefficients[at]), fit.model[:, at] / fit.model[at, at]

    def excess(value: float) -> float:
        start = fit.coefficients + moves * (value - best)
        optimum = maximize(fit.masses, make_line, start, [1 - at])
        return np.inf if optimum is None else 2 * (fit.likelihood - optimum[1].likelihood) - bound

    step = float(bound * fit.model[at, at]) ** 0.5
    low, high = (_cross(excess, best, side, step) for side in (-1, 1))
    return low, high


def _summarize(distances: Floats, share: float | None) -> Floats:
    """Return the mean or a quantile over the last axis."""
    mean: Floats = distances.mean(axis=-1)
    return mean if share is None else np.quantile(distances, share, axis=-1)


def _summarize_samples(distances: Floats, weight: Floats, share: float | None) -> float:
    """Return the weighted mean or quantile of the distances of all samples.

    With equal weights the quantile is the default of `numpy.quantile`.
    """
    if share is None:
        return float(np.average(distances, weights=weight))
    # midpoints of the cumulative weights
    order = np.argsort(distances)
    weight = weight[order] / weight.sum()
    middle = np.cumsum(weight) - weight / 2
    place = middle[0] + share * (middle[-1] - middle[0])
    return float(np.interp(place, middle, distances[order]))


def _measure_distances(
    data: Validated, grid: Floats, confidence_level: float, random_state: RandomStateLike
) -> dict[str, Measure]:
    """Return the distances of the smooth calibration curve from the diagonal."""
    # regression on the spline with the most knots that the data support
    n_events = np.count_nonzero(data.y)
    n_smaller = min(n_events, len(data.y) - n_events)
    for n_knots, shares in KNOTS.items():
        knots = np.quantile(grid, shares)
        is_small = n_knots > 3 and n_smaller < MIN_EVENTS
        if is_small or len(np.unique(knots)) < n_knots:
            continue
        start = np.eye(1, max(2, n_knots), 1)[0]  # intercept 0, slope 1
        fit = fit_logistic(data, partial(make_spline, knots=knots), start, list(range(len(start))))
        if fit is not None:
            break
    else:
        return dict.fromkeys(SHARES, NOTHING)
    # draws from the robust distribution of the coefficients
    rng = repetition_rng(root_seed(random_state), 0)
    drawn = rng.standard_normal((N_DRAWS, len(fit.coefficients)))
    spread = fit.spread(data)
    degrees = spread.degrees_of_freedom
    if np.isfinite(degrees):
        drawn /= np.sqrt(rng.chisquare(degrees, (N_DRAWS, 1)) / degrees)
    # a root of the covariance turns the draws
    scale, turn = np.linalg.eigh(spread.covariance)
    noise = drawn @ (turn * np.sqrt(scale.clip(0))).T
    # curves from the calibrated to the fitted one, on the grid and on all samples
    ray = Ray(make_spline(grid, knots).T, expit(grid), fit.coefficients, noise)
    odds = logit(data.p)
    everything = Ray(make_spline(odds, knots).T, expit(odds), fit.coefficients, noise)
    # the smooth curve with a pointwise interval
    p, first = np.unique(ray.p, return_index=True)
    design = ray.design[first]
    line = design @ ray.fitted
    error = np.sqrt(np.sum((design @ spread.covariance) * design, axis=1).clip(0))
    reach = _find_quantile(spread, confidence_level) * error
    curve = Curve(
        name="smooth calibration curve",
        axes=("probability", "observed"),
        x=p,
        y=expit(line),
        low=expit(line - reach),
        high=expit(line + reach),
        confidence_level=confidence_level,
        method="spline",
    )
    # its distances, compared with those of curves that deviate by chance
    measures = {}
    for name, share in SHARES.items():
        value = _summarize_samples(everything.measure(1.0), data.weight, share)
        chance = float(np.median(_summarize(ray.draw(0.0), share)))
        limits = partial(_invert, ray, everything, data.weight, chance, share)
        deviation = float(np.std(_summarize(ray.draw(1.0), share)))
        details = {"by_chance": chance, "curve": curve}
        measures[name] = Measure(value, deviation, "test_inversion", limits, spread.groups, details)
    return measures


class Ray(NamedTuple):
    """Family of curves on the line from the calibrated (0) through the fitted curve (1).

    Attributes
    ----------
    design : ndarray of shape (n_cuts, n_terms)
        Spline terms at the grid points.
    p : ndarray of shape (n_cuts,)
        Probabilities at the grid points.
    fitted : ndarray of shape (n_terms,)
    noise : ndarray of shape (n_draws, n_terms)
        Simulated deviations of the fitted from the true coefficients.
    """

    design: Floats
    p: Floats
    fitted: Floats
    noise: Floats

    def at(self, place: float) -> Floats:
        """Return the coefficients at a position on the line."""
        calibrated = np.eye(1, len(self.fitted), 1)[0]
        return calibrated + place * (self.fitted - calibrated)

    def measure(self, place: float) -> Floats:
        """Return the distances of a curve from the diagonal."""
        return np.abs(expit(self.design @ self.at(place)) - self.p)

    def draw(self, place: float) -> Floats:
        """Return the distances of curves that would be fitted if this curve were true."""
        return np.abs(expit((self.at(place) + self.noise) @ self.design.T) - self.p)


def _invert(
    ray: Ray,
    everything: Ray,
    weight: Floats,
    chance: float,
    share: float | None,
    confidence_level: float,
) -> Limits:
    """Return the smallest and the largest distance compatible with the observed one.

    The curves of the test are compared on the grid of `ray`, and the distances of the two curves
    at the limits are computed on all samples. For the upper limit, an observed distance below
    `chance` is replaced by `chance`.
    """
    tail, observed = (1 - confidence_level) / 2, float(_summarize(ray.measure(1.0), share))

    # whether a distance as large, or as small, as the observed one is likely for this curve
    def reaches(place: float) -> bool:
        return bool(np.mean(_summarize(ray.draw(place), share) >= observed) >= tail)

    def stays(place: float) -> bool:
        most = max(observed, chance)
        return bool(np.mean(_summarize(ray.draw(place), share) <= most) >= tail)

    # positions of the limits on the line of curves, then their distances on all samples
    low, high = 0.0, 1.0
    if not reaches(0.0):
        low = _bisect(reaches, 0.0, 1.0)
    while stays(high) and high < 2**20:
        high *= 2
    high = _bisect(stays, high, high / 2) if high > 1 else 1.0
    value, *ends = (
        _summarize_samples(everything.measure(place), weight, share) for place in (1.0, low, high)
    )
    return min(ends[0], value), max(ends[1], value)


def _bisect(condition: Callable[[float], bool], fails: float, works: float) -> float:
    """Return the boundary between a place where a condition fails and one where it is true."""
    for _ in range(STEPS):
        middle = (fails + works) / 2
        if condition(middle):
            works = middle
        else:
            fails = middle
    return works


def _scale_brier(data: Validated) -> Measure:
    """Return one minus the ratio of the Brier score to that of always predicting the event rate.

    The linear approximation of the ratio has no variance where the probabilities equal the observed
    share, but that share `m` differs from the true one by its standard error `s`. The true ratio
    may exceed the observed one by the factor ``1 + z^2 s^2 / (m (1 - m))``.
    """
    # losses of the probabilities and of the event rate
    share = np.average(data.y, weights=data.weight)
    losses, reference = data.weight * (data.y - data.p) ** 2, data.weight * (data.y - share) ** 2
    ratio = float(losses.sum() / reference.sum())
    spread = intervals.spread_of_ratio(losses, reference, data.group)
    mean_spread = spread_of_mean(TestLosses(data.y.astype(np.float64), data.weight, data.group))
    second_order = ratio * mean_spread.variance / float(share * (1 - share))
    unbiased = ratio * (1 - 1 / size_from_weights(data.weight))
    limits = partial(_limit_brier_ratio, ratio, unbiased, spread, second_order)
    # the variance of a squared normal deviate is 2
    error = float(np.hypot(spread.error, np.sqrt(2) * second_order))
    return Measure(1 - ratio, error, "log", partial(intervals.mirrored, 1.0, limits), spread.groups)


def _limit_brier_ratio(
    ratio: float, unbiased: float, spread: Spread, second_order: float, confidence_level: float
) -> Limits:
    """Combine the limits of the linear approximation with the uncertainty of the event rate."""
    # limits of the linear approximation, on the scale of logarithms
    degrees = spread.degrees_of_freedom
    low, high = intervals.log_interval(
        unbiased, spread.error, confidence_level, degrees_of_freedom=degrees
    )
    # the event share adds its own uncertainty
    shift = intervals.normal_quantile(confidence_level, degrees) ** 2 * second_order
    below = np.hypot(max(ratio - low, 0.0), shift)
    above = np.hypot(max(high - ratio, 0.0), shift)
    return max(ratio - float(below), 0.0), ratio + float(above)
