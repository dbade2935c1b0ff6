"""External validation of probabilities: how far they are off, how sure that is, how many samples.

Read from top to bottom: the measures with their intervals; the logistic recalibration and the
smooth calibration curve that they are made of; the size of a validation study.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.optimize import brentq
from scipy.special import expit, logit

from skeval._inference import intervals
from skeval._inference.areas import Ranked, independent_size
from skeval._inference.calibration import (
    Design,
    Masses,
    condense,
    make_line,
    make_spline,
    maximize,
    pass_over,
)
from skeval._inference.estimate import Curve, Estimate, Limits, Results
from skeval._inference.intervals import Codes, Spread
from skeval.metrics._calibration import PROBABILITY_CONSTRAINTS
from skeval.metrics._curves import CurveSample, check_curve_sample
from skeval.utils._checks import (
    RandomStateLike,
    check_probabilities,
    repetition_rng,
    root_seed,
    warn_undefined,
    warn_user,
)
from skeval.utils._compat import Interval, validate_params

__all__ = ["calibration_measures", "measure_calibration", "validation_size"]

Floats = NDArray[np.float64]
CERTAIN = 1e-8
"""Probabilities nearer to 0 or 1 are taken for this, since certainty has no log-odds."""
N_DRAWS, N_CUTS, STEPS = 400, 200, 14
"""Curves drawn for a test, log-odds that a curve is looked at, and halvings to find an end."""
FEW_EVENTS = 30
"""A class of fewer samples has a spline with fewer knots."""
KNOTS = {4: (0.05, 0.35, 0.65, 0.95), 3: (0.1, 0.5, 0.9), 2: (0.25, 0.75)}
"""By their number, at which quantiles of the log-odds the knots of a spline are."""
SHARES = {"ici": None, "e50": 0.5, "e90": 0.9}
"""Of the distances of the smooth curve the quantile; None is their mean."""


@validate_params(
    {
        **PROBABILITY_CONSTRAINTS,
        "confidence_level": [Interval(Real, 0, 1, closed="neither")],
        "random_state": ["random_state", Generator],
    }
)
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
    r"""What an external validation reports of probabilities, each with its interval.

    With :math:`l_i` the log-odds of the probability :math:`p_i`:

    - ``observed_expected``: :math:`\sum y_i / \sum p_i`; 1 is best.
    - ``in_the_large``: the :math:`\alpha` of :math:`logit\, P(y_i = 1) = \alpha + l_i`; 0 is best,
      above 0 the event happens more often than is said.
    - ``intercept`` and ``slope``: a and b of :math:`logit\, P(y_i = 1) = a + b\, l_i`; 0 and 1 are
      best. A slope below 1 says that probabilities are too extreme.
    - ``ici``, ``e50``, ``e90``: the mean, the median and the 90 % quantile of the distance
      :math:`|p_i - \hat c(p_i)|` from a smooth calibration curve; 0 is best.
    - ``scaled_brier``: :math:`1 - \sum (y_i - p_i)^2 / \sum (y_i - \bar y)^2`; 1 is best, 0 that
      of answering the share of the event always.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes, two.
    y_proba : array-like of shape (n_samples,)
        Predicted probabilities of the positive class.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 where `y_true` takes values in {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights say what a sample counts, not how often it was seen.
    groups : array-like of shape (n_samples,), default=None
        For samples that belong together: the variance is that between groups.
    confidence_level : float, default=0.95
        Nominal coverage of the intervals.
    random_state : int, RandomState, Generator or None, default=None
        Draws the curves for the intervals of ``ici``, ``e50`` and ``e90``.

    Returns
    -------
    dict of str to Estimate
        By the names above.

    Raises
    ------
    ValueError
        If a probability lies outside [0, 1], there are not two classes, or one group.

    Warns
    -----
    UserWarning
        If a probability is within 1e-8 of 0 or 1, for which it is taken then.
    UndefinedMetricWarning
        If the probabilities separate the classes, so that there is no slope.

    See Also
    --------
    calibration_curve : Where probabilities are off.
    validation_size : How many samples it takes.

    Notes
    -----
    *Intervals.* The variance of each is that of the sum of deviations, robust against a wrong model
    and over groups where given. Its ratio to the variance of the model scales an interval that
    never ends where it cannot: of the observed over the expected number and of ``in_the_large`` a
    score interval (Rao), of intercept and slope that of the profile likelihood. A ratio below 1 is
    shrunk toward 1 with the weight of 4 samples of the smaller class. In groups intercept and slope
    have Student's interval of the variance that is found when each group is left out in turn (CR3,
    in one step of Newton's method), for a few groups that are alike inside bend the likelihood.

    *Many samples.* More than 32,768 distinct probabilities are fitted by some thousand log-odds,
    whose sums over the samples are exact but for rounding; fits too steep for that take them all.

    *The smooth curve* is logistic regression on a restricted cubic spline of the log-odds with 4
    knots, 3 where a class has fewer than 30 samples [1]_ [2]_. Chance makes distances even where
    probabilities are right: ``details["by_chance"]`` is the median of what it makes then. So the
    interval inverts a test along the line from the calibrated curve to the fitted one: which curves
    would make a distance such as the observed one not unlikely? ``details["curve"]`` of these three
    is the smooth curve, with an interval at each probability of the log-odds' robust variance: at
    five places between the quantiles .1 and .9 of the probabilities it held the truth in .90 to .97
    of 150 sets of 200 samples and 100 of 1,000 (a slope of 0.7).

    Share of 95 % intervals that held the truth, of probabilities that are right: 200 data sets each
    (standard error .015), 100 in groups of 20 with an intra-class correlation of .3:

    =================  =======  ========  =================
    share of 0.5       n = 50   n = 200   600, in 30 groups
    =================  =======  ========  =================
    observed_expected  .98      .96       .91
    in_the_large       .95      .94       .93
    intercept          .94      .94       .94
    slope              .94      .94       .94
    ici                .99      .96       .98
    e50, e90           .98-.99  .94-.98   .97-.98
    scaled_brier       .94      .96       .97
    =================  =======  ========  =================

    Of probabilities that are too extreme (a slope of 0.6) and a share of 0.1, 99 sets of 50 samples
    held the slope in .95, ``in_the_large`` in .89, the intercept in .87 and ``e90`` in .83: five
    events are too few for these. In 60 sets of 1,000 samples all were held in .90 to .98.

    Measured in 27 cells of 100 or 200 sets (``benchmarks/results/coverage_predictions.csv``), 50 to
    5,000 samples, shares of .5, .1 and .02, alone and in 10 to 100 groups. Below .90 are, with five
    events or fewer, the scaled Brier score (.89, with one event .67), the slope (.89, in ten groups
    .82, where the intercept has .87) and the smooth curve (.71 to .89), the latter also with 12
    events in 30 groups (.83) and, at low probabilities, with 40 to 100 events (.86 to .89). Where
    the truth goes in waves about a line, which 4 knots do not follow, the curve is held in .81 at
    least at each of five places, ``ici`` in .87, ``e50`` in .84 and ``e90`` in .82, and more
    samples do not help. All else was held in .90 to 1.00.

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
    >>> found = calibration_measures(y, p, random_state=0)
    >>> print(found["slope"])
    calibration slope
      value           0.6604
      standard error  0.0718
      95 % interval   [0.5249, 0.8068] (profile)
      samples         500
    """
    data = y_true, y_proba, pos_label, sample_weight, groups, confidence_level
    sample = check_curve_sample(*data, name="y_proba")
    check_probabilities("y_proba", sample.score)
    return measure_calibration(sample, random_state)


def measure_calibration(sample: CurveSample, random_state: RandomStateLike) -> Results:
    """Return the same of a sample that was checked, and may have been sorted."""
    p, confidence_level = sample.score, sample.confidence_level
    n_certain = int(np.sum((p < CERTAIN) | (p > 1 - CERTAIN)))
    if n_certain:
        warn_user(f"{n_certain} probabilities are 0 or 1, and taken for {CERTAIN:g} from there.")
    weight, ranked = sample.weight, sample.ranked
    scale = float(weight.sum() / (weight @ weight))
    grid = _find_odds(find_cuts(ranked))
    knots = {n: np.quantile(grid, shares) for n, shares in KNOTS.items()}
    whole = Masses.weigh(ranked, _find_odds(ranked.score), scale)
    masses = condense(whole, np.concatenate([*knots.values()]))
    p, weight = p.clip(CERTAIN, 1 - CERTAIN), weight if scale == 1 else weight * scale
    data = Validated(sample.positive, p, weight, sample.group, masses)
    made = {
        "observed_expected": _compare_sums(data),
        "in_the_large": _find_in_the_large(data),
        **recalibrate(data),
        **_measure_distances(data, grid, knots, confidence_level, random_state),
        "scaled_brier": _scale_brier(data),
    }
    return Results(
        {
            name: Estimate(
                name=NAMES[name],
                value=each.value,
                standard_error=each.error,
                method=each.method,
                limits={} if np.isnan(each.value) else {each.method: each.limits},
                n_samples=len(p),
                details=each.details,
                confidence_level=confidence_level,
                allow_point=True,
            )
            for name, each in made.items()
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
    """Return the log-odds of probabilities, those of 0 and 1 as if they were nearly certain."""
    odds: Floats = logit(p.clip(CERTAIN, 1 - CERTAIN))
    return odds


class Measure(NamedTuple):
    """A measure before it has its interval."""

    value: float
    error: float
    method: str
    limits: Callable[[float], Limits]
    details: dict[str, Any]


class Validated(NamedTuple):
    """Events, their probabilities, weights that add up to the effective number, and groups.

    `masses` are their log-odds: the few that may stand for many, and then all.
    """

    y: NDArray[np.bool_]
    p: Floats
    weight: Floats
    group: Codes | None
    masses: tuple[Masses, ...]

    def spread(self, deviations: Floats, size: Floats, leverage: Floats) -> Spread:
        """Return how far a sum of weighted deviations is known, of shape (n,) or (n, k).

        Deviations are about of the `size` given; see `spread_between`.
        """
        moved = self.weight[:, None] * deviations.reshape(len(self.y), -1)
        if self.group is None:
            return Spread(moved.T @ moved)
        counted, leverage = self.weight * size, self.weight * leverage
        return intervals.spread_between(moved, self.group, counted, leverage=leverage)

    def shrink(self, ratio: float) -> float:
        """Return a ratio of variances, drawn toward 1 where it is below."""
        events = float(self.weight @ self.y)
        n = min(events, float(self.weight.sum()) - events)
        return max(ratio, (n * ratio + 4) / (n + 4))


def _compare_sums(data: Validated) -> Measure:
    """Return the observed over the expected number: ``(O - tE)^2 <= z^2 r t E``.

    The variance of the observed number is that of a Poisson number but for the ratio r.
    """
    p = data.p
    observed, expected = float(data.weight @ data.y), float(data.weight @ p)
    ratio = observed / expected
    spread = data.spread(data.y - ratio * p, np.sqrt(p * (1 - p)), p)
    larger = data.shrink(spread.variance / observed)
    limits = partial(_limit_ratio, spread, observed, expected, larger)
    return Measure(ratio, spread.error / expected, "score", limits, spread.details)


def _limit_ratio(
    spread: Spread, observed: float, expected: float, larger: float, confidence_level: float
) -> Limits:
    """Return the roots of the quadratic equation in t E."""
    half = 2 * observed + _find_quantile(spread, confidence_level) ** 2 * larger
    root = np.sqrt(half**2 - 4 * observed**2)
    return float((half - root) / 2 / expected), float((half + root) / 2 / expected)


def _find_quantile(spread: Spread, confidence_level: float) -> float:
    """Return the two-sided quantile, Student's of groups."""
    return intervals.normal_quantile(confidence_level, spread.degrees_of_freedom)


class Fit(NamedTuple):
    """A logistic regression: its coefficients and their covariance by the model.

    `squares` are those of the slopes of the likelihood; all are of the coefficients `free`.
    `masses` are the log-odds that it was found of.
    """

    coefficients: Floats
    likelihood: float
    model: Floats
    squares: Floats
    free: list[int]
    design: Design
    masses: Masses

    def _turn(self, data: Validated) -> tuple[Floats, Floats, Floats]:
        """Return the terms of each sample, these times the covariance, and the probabilities."""
        terms = self.design(logit(data.p)).T
        mean, terms = expit(terms @ self.coefficients), terms[:, self.free]
        return terms, terms @ self.model, mean

    def spread(self, data: Validated) -> Spread:
        """Return how far all coefficients are known together."""
        if data.group is None:
            return Spread(self.model @ self.squares @ self.model)
        terms, turned, mean = self._turn(data)
        leverage = mean * (1 - mean) * np.einsum("ij,ij->i", turned, terms)
        return data.spread(turned * (data.y - mean)[:, None], np.sqrt(leverage), leverage)

    def spread_each(self, data: Validated) -> list[Spread]:
        """Return how far each of a few coefficients is known; of groups each is left out (CR3)."""
        if data.group is None:
            covariance = self.spread(data).covariance
            return [Spread(covariance[at : at + 1, at : at + 1]) for at in range(len(covariance))]
        terms, turned, mean = self._turn(data)
        size, weight = np.sqrt(mean * (1 - mean)), data.weight[:, None]
        moved = turned * (data.y - mean)[:, None]
        spreads = [
            data.spread(own, size * np.abs(each), (size * each) ** 2)
            for own, each in zip(moved.T, turned.T, strict=True)
        ]
        own = (weight * size[:, None] ** 2 * turned)[:, :, None] * terms[:, None, :]
        covariance = intervals.covariance_left_out(weight * moved, own, data.group)
        return [
            spread._replace(covariance=covariance[at : at + 1, at : at + 1])
            for at, spread in enumerate(spreads)
        ]


def fit_logistic(data: Validated, design: Design, start: Floats, free: list[int]) -> Fit | None:
    """Return the regression of the events on a design; None where there is none."""
    for masses in data.masses:
        found = maximize(masses, design, start, free)
        if found is not None and masses.suffice(found[0] @ design(masses.odds)):
            break
    if found is None:
        return None
    (beta, passed), among = found, np.ix_(free, free)
    information = passed.information[among]
    if np.linalg.cond(information) > 1e12:
        return None
    model = np.asarray(np.linalg.inv(information), dtype=np.float64)
    return Fit(beta, passed.likelihood, model, passed.squares[among], free, design, masses)


SMALLEST = float(np.finfo(float).tiny)
NOTHING = Measure(np.nan, np.nan, "none", intervals.give_no_limits, {})


def _find_in_the_large(data: Validated) -> Measure:
    """Return the shift of the log-odds that makes the sums equal, with its score interval."""
    fit = fit_logistic(data, make_line, np.array([0.0, 1.0]), [0])
    if fit is None:
        return NOTHING
    value = float(fit.coefficients[0])
    (spread,) = fit.spread_each(data)
    larger = data.shrink(spread.variance / float(fit.model[0, 0]))
    known = spread, larger, float(fit.model[0, 0]) ** 0.5
    limits = partial(_limit_shift, fit.masses, value, known)
    return Measure(value, spread.error, "score", limits, spread.details)


def _limit_shift(
    masses: Masses, value: float, known: tuple[Spread, float, float], confidence_level: float
) -> Limits:
    """Return the shifts whose score is that many standard deviations from 0."""
    reach = _find_quantile(known[0], confidence_level) * known[1] ** 0.5

    def excess(shift: float) -> float:
        passed = pass_over(masses, make_line, np.array([shift, 1.0]))
        moved, variance = float(passed.gradient[0]), float(passed.information[0, 0])
        return abs(moved) / max(variance, SMALLEST) ** 0.5 - reach  # it is 0 where all is certain

    low, high = (_cross(excess, value, side, reach * known[2]) for side in (-1, 1))
    return low, high


def _cross(function: Callable[[float], float], start: float, side: int, first: float) -> float:
    """Return where a function that changes its sign on one side of a place is 0.

    The `first` step is about as far as it is.
    """
    at, before = start + side * first, start + 0.99 * side * first
    value, known = function(at), function(before)
    for _ in range(9):  # the secant method, which takes few steps where many samples make it a line
        if not np.isfinite(known - value) or known == value:
            break
        known, before, at = value, at, at - value * (at - before) / (value - known)
        if not 0.5 * first < side * (at - start) < 2 * first:
            break
        if abs(at - before) < 1e-9 * first:
            return at
        value = function(at)
    step, sign = 1.1 * first, np.sign(function(start))
    while np.sign(function(start + side * step)) == sign:
        step *= 2
        if step > 1e4:
            return side * np.inf
    ends = start + side * step / 2 * (step > 1.1 * first), start + side * step
    return float(brentq(function, min(ends), max(ends), xtol=1e-9 * first))


def recalibrate(data: Validated) -> dict[str, Measure]:
    """Return intercept and slope of the log-odds, with intervals of the profile likelihood."""
    fit = fit_logistic(data, make_line, np.zeros(2), [0, 1])
    if fit is None:
        warn_undefined(
            "The slope is undefined, nan: the probabilities are all the same, or separate the "
            "classes."
        )
        return {"intercept": NOTHING, "slope": NOTHING}
    found = {}
    for at, spread in enumerate(fit.spread_each(data)):
        value, method = float(fit.coefficients[at]), "profile"
        larger = data.shrink(spread.variance / float(fit.model[at, at]))
        limits: Callable[[float], Limits] = partial(_profile, fit, at, larger)
        if data.group is not None:
            degrees, method = spread.degrees_of_freedom, "t"
            known = value, spread.error
            limits = partial(intervals.normal_interval, *known, degrees_of_freedom=degrees)
        name = ("intercept", "slope")[at]
        found[name] = Measure(value, spread.error, method, limits, spread.details)
    return found


def _profile(fit: Fit, at: int, larger: float, confidence_level: float) -> Limits:
    """Return the ends where twice the loss of likelihood, of the best other one, is z^2 r."""
    bound = intervals.normal_quantile(confidence_level) ** 2 * larger
    best, moves = float(fit.coefficients[at]), fit.model[:, at] / fit.model[at, at]

    def excess(value: float) -> float:
        start = fit.coefficients + moves * (value - best)
        found = maximize(fit.masses, make_line, start, [1 - at])
        return np.inf if found is None else 2 * (fit.likelihood - found[1].likelihood) - bound

    step = float(bound * fit.model[at, at]) ** 0.5
    low, high = (
        _find_end(fit, at, bound, side) or _cross(excess, best, side, step) for side in (-1, 1)
    )
    return low, high


def _find_end(fit: Fit, at: int, bound: float, side: int) -> float | None:
    """Return an end of a profile interval by Newton's method; None where that does not settle.

    It solves for both coefficients at once: twice the loss of likelihood is the bound, and its
    slope by the other coefficient is 0.
    """
    best, other = float(fit.coefficients[at]), 1 - at
    reach = float(bound * fit.model[at, at]) ** 0.5
    beta = fit.coefficients + side * reach * fit.model[:, at] / fit.model[at, at]
    for _ in range(20):
        likelihood, gradient, information, _ = pass_over(fit.masses, make_line, beta)
        loss = 2 * (fit.likelihood - likelihood) - bound
        slopes = np.array([-2 * gradient, -information[other]])
        try:
            step = np.linalg.solve(slopes, [-loss, -gradient[other]])
        except np.linalg.LinAlgError:
            return None
        beta = beta + step
        if not np.abs(step).max() < 100 * reach * (1 + np.abs(fit.model[:, at]).max()):
            return None
        if np.abs(step).max() < 1e-6 * reach:
            return float(beta[at]) if side * (beta[at] - best) > 0 else None
    return None


def _summarize(distances: Floats, share: float | None) -> Floats:
    """Return the mean, or a quantile, over the last axis."""
    found: Floats = distances.mean(axis=-1)
    return found if share is None else np.quantile(distances, share, axis=-1)


def find_cuts(ranked: Ranked) -> Floats:
    """Return scores between which lies the same weight."""
    passed = np.cumsum(ranked.positives + ranked.negatives)
    cuts = (np.arange(N_CUTS) + 0.5) / N_CUTS * passed[-1]
    return ranked.score[np.searchsorted(passed, cuts).clip(max=len(passed) - 1)]


def _measure_distances(
    data: Validated,
    grid: Floats,
    knots_of: dict[int, Floats],
    confidence_level: float,
    random_state: RandomStateLike,
) -> dict[str, Measure]:
    """Return how far the smooth calibration curve lies from the diagonal."""
    n_events = np.count_nonzero(data.y)
    n_smaller = min(n_events, len(data.y) - n_events)
    for n_knots, knots in knots_of.items():
        few = n_knots > 3 and n_smaller < FEW_EVENTS
        if few or len(np.unique(knots)) < n_knots:
            continue
        start = np.eye(1, max(2, n_knots), 1)[0]  # calibrated
        fit = fit_logistic(data, partial(make_spline, knots=knots), start, list(range(len(start))))
        if fit is not None:
            break
    else:
        return dict.fromkeys(SHARES, NOTHING)
    rng = repetition_rng(root_seed(random_state), 0)
    drawn = rng.standard_normal((N_DRAWS, len(fit.coefficients)))
    known = fit.spread(data)
    degrees = known.degrees_of_freedom
    if np.isfinite(degrees):
        drawn /= np.sqrt(rng.chisquare(degrees, (N_DRAWS, 1)) / degrees)
    scale, turn = np.linalg.eigh(known.covariance)
    noise = drawn @ (turn * np.sqrt(scale.clip(0))).T
    ray = Ray(make_spline(grid, knots).T, expit(grid), fit.coefficients, noise)
    curve = _draw_smooth(ray, known, confidence_level)
    found = {}
    for name, share in SHARES.items():
        value = float(_summarize(ray.measure(1.0), share))
        chance = float(np.median(_summarize(ray.draw(0.0), share)))
        limits = partial(ray.limits, value, chance, share)
        spread = float(np.std(_summarize(ray.draw(1.0), share)))
        details = {**known.details, "by_chance": chance, "curve": curve}
        found[name] = Measure(value, spread, "test_inversion", limits, details)
    return found


def _draw_smooth(ray: Ray, known: Spread, confidence_level: float) -> Curve:
    """Return the smooth calibration curve with its interval at each probability."""
    p, first = np.unique(ray.p, return_index=True)
    design = ray.design[first]
    line = design @ ray.fitted
    error = np.sqrt(np.sum((design @ known.covariance) * design, axis=1).clip(0))
    reach = _find_quantile(known, confidence_level) * error
    return Curve(
        name="smooth calibration curve",
        axes=("probability", "observed"),
        x=p,
        y=expit(line),
        low=expit(line - reach),
        high=expit(line + reach),
        confidence_level=confidence_level,
        method="spline",
    )


class Ray(NamedTuple):
    """Curves on the line from the calibrated one (0) through the fitted one (1), and beyond.

    Attributes
    ----------
    design : ndarray of shape (n_cuts, n_terms)
        The spline at places of equal weight.
    p : ndarray of shape (n_cuts,)
        The probabilities there.
    fitted : ndarray of shape (n_terms,)
    noise : ndarray of shape (n_draws, n_terms)
        How fitted coefficients deviate from the true ones.
    """

    design: Floats
    p: Floats
    fitted: Floats
    noise: Floats

    def at(self, place: float) -> Floats:
        """Return the coefficients at a place of the line."""
        calibrated = np.eye(1, len(self.fitted), 1)[0]
        return calibrated + place * (self.fitted - calibrated)

    def measure(self, place: float) -> Floats:
        """Return the distances of a curve from the diagonal."""
        return np.abs(expit(self.design @ self.at(place)) - self.p)

    def draw(self, place: float) -> Floats:
        """Return those of the curves that would be fitted if this one were true."""
        return np.abs(expit((self.at(place) + self.noise) @ self.design.T) - self.p)

    def limits(
        self, value: float, chance: float, share: float | None, confidence_level: float
    ) -> Limits:
        """Return the shortest and the longest distance that the observed one does not exclude.

        What is less than chance makes of a calibrated curve is luck, and is not counted.
        """
        tail = (1 - confidence_level) / 2

        def reaches(place: float) -> bool:
            return bool(np.mean(_summarize(self.draw(place), share) >= value) >= tail)

        def stays(place: float) -> bool:
            most = max(value, chance)
            return bool(np.mean(_summarize(self.draw(place), share) <= most) >= tail)

        low, high = 0.0, 1.0
        if not reaches(0.0):
            low = _bisect(reaches, 0.0, 1.0)
        while stays(high) and high < 2**20:
            high *= 2
        high = _bisect(stays, high, high / 2) if high > 1 else 1.0
        ends = [float(_summarize(self.measure(place), share)) for place in (low, high)]
        return min(ends[0], value), max(ends[1], value)


def _bisect(holds: Callable[[float], bool], fails: float, works: float) -> float:
    """Return the border of where a condition holds, on that side."""
    for _ in range(STEPS):
        middle = (fails + works) / 2
        if holds(middle):
            works = middle
        else:
            fails = middle
    return works


def _scale_brier(data: Validated) -> Measure:
    """Return one less the ratio of the Brier score to that of the share of the event."""
    share = np.average(data.y, weights=data.weight)
    losses, of_share = data.weight * (data.y - data.p) ** 2, data.weight * (data.y - share) ** 2
    ratio = float(losses.sum() / of_share.sum())
    spread = intervals.spread_of_ratio(losses, of_share, data.group)
    unbiased = ratio * (1 - 1 / independent_size(data.weight))
    degrees = spread.degrees_of_freedom
    of_ratio = partial(intervals.log_interval, unbiased, spread.error, degrees_of_freedom=degrees)
    limits = partial(intervals.mirrored, 1.0, of_ratio)
    return Measure(1 - ratio, spread.error, "log", limits, spread.details)


@validate_params(
    {
        "prevalence": [Interval(Real, 0, 1, closed="neither")],
        "roc_auc": [Interval(Real, 0.5, 1, closed="neither"), None],
        "y_proba": ["array-like", None],
        "log_odds": [tuple, list, None],
        "beta": [tuple, list, None],
        "threshold": [Interval(Real, 0, 1, closed="neither"), None],
        "sensitivity": [Interval(Real, 0, 1, closed="both"), None],
        "specificity": [Interval(Real, 0, 1, closed="both"), None],
        "widths": [dict, None],
        "confidence_level": [Interval(Real, 0, 1, closed="neither")],
    }
)
def validation_size(
    prevalence: float,
    *,
    roc_auc: float | None = None,
    y_proba: ArrayLike | None = None,
    log_odds: tuple[float, float] | None = None,
    beta: tuple[float, float] | None = None,
    threshold: float | None = None,
    sensitivity: float | None = None,
    specificity: float | None = None,
    widths: dict[str, float] | None = None,
    confidence_level: float = 0.95,
    group_size: float | None = None,
    intraclass_correlation: float | None = None,
) -> Results:
    r"""Number of samples for which the measures of a validation have intervals short enough.

    The criteria of Riley et al. [1]_ for probabilities of two classes that are calibrated, at a
    prevalence :math:`\phi`, with :math:`s` the standard error that the wanted width asks for:

    - ``observed_expected``: :math:`n = (1 - \phi) / (\phi s^2)`, s that of the logarithm.
    - ``slope``: :math:`n = I_a / \{s^2 (I_a I_b - I_{ab}^2)\}` with the information of the
      logistic recalibration, from the distribution of the probabilities.
    - ``roc_auc``: the variance of Newcombe (2006).
    - ``net_benefit``: of the standardised net benefit at a threshold, from sensitivity and
      specificity there.

    Parameters
    ----------
    prevalence : float
        Share of positives that is expected.
    roc_auc : float, default=None
        Area under the ROC curve that is expected; None leaves its criterion out.
    y_proba : array-like of shape (n_probabilities,), default=None
        Probabilities as they are expected, such as those of the study that made the model; one of
        `y_proba`, `log_odds` and `beta`, or none, which leaves the criterion of the slope out.
    log_odds : (mean, standard deviation), default=None
        Of normally distributed log-odds.
    beta : (a, b), default=None
        Parameters of beta distributed probabilities.
    threshold, sensitivity, specificity : float, default=None
        Where the net benefit is wanted, and what is expected there; None leaves it out.
    widths : dict of str to float, default=None
        Widths of the intervals by the names above; None is 0.2, 0.2, 0.1 and 0.2.
    confidence_level : float, default=0.95
        Nominal coverage of the intervals.
    group_size : float, default=None
        How many samples of a group (patient, site) the study will have; of unequal sizes m that of
        an average sample, :math:`\sum m^2 / \sum m`. None is independent samples.
    intraclass_correlation : float, default=None
        How alike two samples of a group are, such as ``details["intraclass_correlation"]`` of the
        measures of a pilot that was given its `groups`.

    Returns
    -------
    dict of str to int
        The number for each criterion, and the largest as ``n_samples`` with its ``n_events``; in
        groups their number ``n_groups``, and the ``design_effect``.

    Raises
    ------
    ValueError
        If more than one distribution, or a part of what net benefit or the groups need, is given.

    See Also
    --------
    calibration_measures : The measures.
    skeval.model_selection.holdout_size : The same of an error rate.

    Notes
    -----
    *Groups.* The number is that of independent samples times the design effect,
    :math:`1 + (m - 1) \rho` of m samples with the correlation :math:`\rho`, and as many more as
    Student's quantile of the groups is longer. Where groups hold both classes this is more than the
    area under the ROC curve takes, since what is common to a group falls out of its pairs.

    The R package pmvalsampsize takes 1.96 for the quantile, steps of 0.0001 for the standard error
    of the ratio, and random numbers for the distribution: its numbers may differ by some units.

    References
    ----------
    .. [1] Riley, R. D., Debray, T. P. A., Collins, G. S., Archer, L., Ensor, J., van Smeden, M. and
       Snell, K. I. E. (2021). Minimum sample size for external validation of a clinical prediction
       model with a binary outcome. Statistics in Medicine 40, 4230-4251.
       https://doi.org/10.1002/sim.9025
    .. [2] Riley, R. D., Snell, K. I. E., Archer, L. et al. (2024). Evaluation of clinical
       prediction models (part 3): calculating the sample size required for an external validation
       study. BMJ 384, e074821. https://doi.org/10.1136/bmj-2023-074821

    Examples
    --------
    >>> from skeval.metrics import validation_size
    >>> print(validation_size(0.43, roc_auc=0.77, beta=(1.33, 1.75)))
    observed_expected  511
    slope              2135
    roc_auc            347
    n_samples          2135
    n_events           919
    """
    wanted = dict(WIDTHS)
    for name, width in (widths or {}).items():
        if name not in WIDTHS or not isinstance(width, Real) or not width > 0:
            raise ValueError(
                f"widths must hold numbers > 0 for names among {list(WIDTHS)}, got {name!r}: "
                f"{width!r}."
            )
        wanted[name] = float(width)
    z = intervals.normal_quantile(confidence_level)
    error = np.arcsinh(wanted["observed_expected"] / 2) / z
    found = {"observed_expected": (1 - prevalence) / (prevalence * error**2)}
    odds = _read_distribution(y_proba, log_odds, beta)
    if odds is not None:
        variance = expit(odds) * expit(-odds)
        a, ab, b = (float(np.mean(odds**power * variance)) for power in range(3))
        found["slope"] = a / ((wanted["slope"] / 2 / z) ** 2 * (a * b - ab**2))
    if roc_auc is not None:
        found["roc_auc"] = _size_of_area(roc_auc, prevalence, wanted["roc_auc"] / 2 / z)
    at = threshold, sensitivity, specificity
    if any(each is not None for each in at):
        if threshold is None or sensitivity is None or specificity is None:
            raise ValueError(
                "threshold, sensitivity and specificity must all be given for the net benefit, got "
                f"{at}."
            )
        cost = (1 - prevalence) / prevalence * threshold / (1 - threshold)
        spread = sensitivity * (1 - sensitivity) / prevalence
        spread += cost**2 * specificity * (1 - specificity) / (1 - prevalence)
        spread += cost**2 * (1 - specificity) ** 2 / (prevalence * (1 - prevalence))
        found["net_benefit"] = spread / (wanted["net_benefit"] / 2 / z) ** 2
    design = intervals.read_design(group_size, intraclass_correlation)
    sizes = {
        name: int(np.ceil(size)) if design is None else design.needed(size, confidence_level)
        for name, size in found.items()
    }
    largest, known = max(sizes.values()), dict[str, float]()
    if design is not None:
        known = {"n_groups": int(np.ceil(largest / design.size)), "design_effect": design.effect}
    return Results(sizes, n_samples=largest, n_events=int(np.ceil(largest * prevalence)), **known)


WIDTHS = {"observed_expected": 0.2, "slope": 0.2, "roc_auc": 0.1, "net_benefit": 0.2}
N_QUANTILES = 20_000


def _read_distribution(y_proba: Any, log_odds: Any, beta: Any) -> Floats | None:
    """Return quantiles of the log-odds."""
    given = [each for each in (y_proba, log_odds, beta) if each is not None]
    if len(given) > 1:
        raise ValueError("of y_proba, log_odds and beta only one must be given.")
    if y_proba is not None:
        p = np.asarray(y_proba, dtype=np.float64).ravel()
        if not len(p) or not (np.isfinite(p).all() and p.min() > 0 and p.max() < 1):
            raise ValueError("y_proba must hold probabilities strictly between 0 and 1.")
        odds: Floats = logit(p)
        return odds
    shares = (np.arange(N_QUANTILES) + 0.5) / N_QUANTILES
    for name, pair, law in (("log_odds", log_odds, stats.norm), ("beta", beta, stats.beta)):
        if pair is None:
            continue
        first, second = pair if len(pair) == 2 else (np.nan, np.nan)
        if not second > 0 or (name == "beta" and not first > 0) or not np.isfinite(first):
            raise ValueError(f"{name} must hold two numbers, the second > 0, got {pair!r}.")
        quantiles: Floats = law.ppf(shares, first, second)
        return quantiles if name == "log_odds" else logit(quantiles)
    return None


def _size_of_area(area: float, prevalence: float, error: float) -> int:
    """Return the smallest number of samples of which the area has at most this standard error."""

    def excess(n: float) -> float:
        more = (n / 2 - 1) * ((1 - area) / (2 - area) + area / (1 + area))
        variance = area * (1 - area) * (1 + more) / (n**2 * prevalence * (1 - prevalence))
        return float(np.sqrt(variance) - error)

    if excess(2.0) <= 0:
        return 2
    return int(np.ceil(brentq(excess, 2.0, 1e12, xtol=1e-6)))
