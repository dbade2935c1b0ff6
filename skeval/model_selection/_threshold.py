r"""Sensitivity, specificity and predictive values at a threshold, corrected for its selection.

The module contains the public function, the rules that select a threshold, the bootstrap that
repeats the selection on each resample, and the measures in a population with another prevalence.

In such a population, the classes have the same sensitivity s and specificity t. With prevalence
:math:`\pi` and a false positive that costs w times the benefit of a true positive,

.. math:: PPV = \frac{\pi s}{\pi s + (1 - \pi)(1 - t)}, \quad
          NPV = \frac{(1 - \pi) t}{(1 - \pi) t + \pi (1 - s)}, \quad
          A = \pi s + (1 - \pi) t, \quad B = \pi s - w (1 - \pi)(1 - t) .

All four increase with both rates, so their limits are reached on the boundary of the score region.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import ArrayLike, NDArray

from skeval._inference import intervals
from skeval._inference.errors import TestLosses, spread_of_mean
from skeval._inference.estimate import Estimate, Results
from skeval._inference.intervals import Limits, percentile_limits, size_from_weights
from skeval._inference.tables import count_cells
from skeval._resampling.sampling_units import drawing_units
from skeval.metrics import npv_score, ppv_score, sensitivity_score, specificity_score
from skeval.metrics._curves import CurveSample, check_curve_sample, warn_of_other_class
from skeval.metrics._table import close_side
from skeval.utils import _checks
from skeval.utils._checks import CONSTRAINTS, RandomStateLike, validate_params
from skeval.utils._compat import Interval

Floats = NDArray[np.float64]
SHARES = {
    "sensitivity": sensitivity_score,
    "specificity": specificity_score,
    "ppv": ppv_score,
    "npv": npv_score,
}
TIE, MAX_COST_RATIO = 1e-12, float(np.finfo(float).max)
STEP = 1e-6
"""Step of the central differences in the delta method."""


@validate_params(
    CONSTRAINTS
    | {
        "prevalence": [Interval(Real, 0, 1, closed="neither"), None],
        "n_resamples": [Interval(Integral, 20, None, closed="left")],
    }
)
def threshold_measures(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    threshold: float | str | Mapping[str, float] = "youden",
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    prevalence: float | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    random_state: RandomStateLike = None,
) -> Results:
    r"""Estimate sensitivity, specificity and predictive values at a fixed or selected threshold.

    Samples with a score of at least the threshold are predicted as positive. A threshold that was
    selected on these samples performs worse on new samples. For a selected threshold, the values
    are therefore corrected for this optimism.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes, exactly two.
    y_score : array-like of shape (n_samples,)
        Probabilities or scores. Larger values indicate the positive class.
    threshold : float, "youden", or dict, default="youden"
        A number, which must have been selected without these samples, or a rule that selects one
        of the scores:

        - "youden": maximize Youden's index [2]_, sensitivity + specificity - 1.
        - ``{"sensitivity": 0.9}``: the highest threshold with at least this sensitivity.
        - ``{"specificity": 0.9}``: the lowest threshold with at least this specificity.
        - ``{"cost_ratio": 5}``: minimize the cost if a false negative costs as much as five false
          positives.

        If several thresholds tie, the highest is selected. At least one sample is predicted as
        positive.
    pos_label : int, float, bool or str, default=None
        The positive class. None means 1 if `y_true` takes values in {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. They are not frequency weights (numbers of copies of a sample).
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as the patient. Whole groups are resampled.
    prevalence : float in (0, 1), default=None
        Prevalence of the positive class in the population of interest, if it differs from these
        samples, as in a case-control study. The predictive values then refer to that population,
        and accuracy and net benefit are added.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    n_resamples : int, default=1000
        Number of bootstrap resamples. The threshold is selected again on each resample.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call.

    Returns
    -------
    dict of Estimate
        The ``threshold``, and ``sensitivity``, ``specificity``, ``ppv`` and ``npv`` at it. For a
        selected threshold, their `details` contain ``apparent``, the values on these samples, and
        ``optimism``, which was subtracted. With `prevalence`, the dict also has ``accuracy``. It
        has ``net_benefit`` too if the threshold determines the ratio of the costs, that is, if it
        is a probability or selected by "cost_ratio".

    Raises
    ------
    ValueError
        If a score is not finite, there are not exactly two classes, or there is only one group.

    See Also
    --------
    skeval.metrics.net_benefit : Net benefit as a function of the threshold.
    sklearn.model_selection.TunedThresholdClassifierCV : A classifier that tunes its threshold.

    Notes
    -----
    At a fixed threshold, the intervals are the same as from `metric_interval`. For a selected
    threshold, the optimism [1]_ is the mean difference between a measure on the resample that
    selected the threshold and its value on all samples. Wilson's interval then uses the number of
    samples at which a proportion has the variance of this difference, but at most the actual
    number. The interval of the threshold consists of percentiles of the selected thresholds. The
    interval of a quantity that a rule fixes, for example the sensitivity with ``{"sensitivity":
    0.9}``, is Clopper and Pearson's instead [3]_.

    With `prevalence`, the scores of each class must have the same distribution in both populations.

    :doc:`/user_guide/formulas` has the formulas, and :doc:`/validation` the coverage with
    `prevalence`.

    References
    ----------
    .. [1] Efron, B. (1983). Estimating the error rate of a prediction rule: improvement on
       cross-validation. JASA 78, 316-331. https://doi.org/10.1080/01621459.1983.10477973
    .. [2] Youden, W. J. (1950). Index for rating diagnostic tests. Cancer 3, 32-35.
       https://doi.org/10.1002/1097-0142(1950)3:1<32::AID-CNCR2820030106>3.0.CO;2-3
    .. [3] Wilks, S. S. (1941). Determination of sample sizes for setting tolerance limits. Annals
       of Mathematical Statistics 12, 91-96. https://doi.org/10.1214/aoms/1177731788

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.model_selection import threshold_measures
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 100)
    >>> measures = threshold_measures(y, rng.normal(1.2 * y), random_state=0)
    >>> print(measures["sensitivity"])
    sensitivity (bootstrap)
      value           0.7720
      standard error  0.0558
      95 % interval   [0.6468, 0.8622] (wilson)
      samples         56
      apparent        0.8036
      optimism        0.0316
    """
    rule = read_rule(threshold)
    sample = check_curve_sample(y_true, y_score, pos_label, sample_weight, groups, confidence_level)
    warn_of_other_class("y_score", sample)
    measures = measure_at(sample, rule, random_state, n_resamples, prevalence)
    # name the intervals that are nan
    unknown = [
        name
        for name, one in measures.items()
        if np.isfinite(one.value) > np.isfinite(one.interval.low)
    ]
    if unknown:
        _checks.warn_undefined(
            f"The intervals of {', '.join(unknown)} are undefined (nan): groups must contain "
            "samples of each class in at least two groups."
        )
    return measures


def measure_at(
    sample: CurveSample,
    rule: float | Rule,
    random_state: RandomStateLike,
    n_resamples: int = 1000,
    prevalence: float | None = None,
) -> Results:
    """Return the measures of a validated sample, which may be sorted."""
    # a selected threshold is corrected for its optimism, and a given one is not
    if isinstance(rule, float):
        estimates, correlation = _measure_given(sample, rule), 0.0
    else:
        root = _checks.root_seed(random_state)
        estimates, correlation = _measure_chosen(sample, rule, n_resamples, root)
    # without a prevalence, the measures refer to this sample
    if prevalence is None:
        return Results(estimates)
    threshold = estimates["threshold"].value
    if isinstance(rule, float) and sample.group is not None:
        # correlation between groups of the two rates
        right = (sample.score >= threshold) == sample.positive
        influence = np.zeros((len(right), 2))
        for column, own in enumerate((sample.positive, ~sample.positive)):
            weight = sample.weight * own
            influence[:, column] = weight * (right - np.average(right, weights=weight))
        correlation = correlation_of(intervals.spread_between(influence, sample.group).covariance)
    # ratio of the cost of a false positive to the benefit of a true positive
    odds = None
    if isinstance(rule, Rule) and rule.rule == "cost_ratio":
        odds = 1 / rule.wanted
    elif sample.score.min() >= 0 and sample.score.max() <= 1 and 0 < threshold < 1:
        odds = threshold / (1 - threshold)
    estimates |= transfer(sample, estimates, correlation, Population(prevalence, odds))
    return Results(estimates)


class Rule(NamedTuple):
    """Rule that selects a threshold, with its name and the required value."""

    rule: str
    wanted: float = np.nan

    def choose(self, tp: Floats, fp: Floats) -> int:
        """Return the index of the selected threshold, from true and false positives at each one."""
        # rates at each cut, from the highest threshold to the lowest
        hit, false = tp / tp[-1], fp / fp[-1]
        if self.rule == "sensitivity":
            return int(np.argmax(hit >= self.wanted - TIE))
        if self.rule == "specificity":
            return max(0, int(np.sum(1 - false >= self.wanted - TIE)) - 1)
        worth = hit - false if self.rule == "youden" else self.wanted * tp - fp
        return int(np.argmax(worth >= worth.max() - TIE * max(tp[-1], fp[-1], 1.0)))


def read_rule(threshold: Any) -> float | Rule:
    """Return a fixed threshold as a number, or the rule that selects it."""
    if isinstance(threshold, str) and threshold == "youden":
        return Rule("youden")
    # the key of a dict is a rule, and its value the rate or ratio to reach
    name, wanted = "", threshold
    if isinstance(threshold, Mapping) and len(threshold) == 1:
        name, wanted = next(iter(threshold.items()))
    most = {"sensitivity": 1.0, "specificity": 1.0, "cost_ratio": MAX_COST_RATIO}
    number = isinstance(wanted, Real) and not isinstance(wanted, bool | np.bool_)
    if number and not name and not np.isnan(float(wanted)):
        return float(wanted)
    if number and name in most and 0 < float(wanted) <= most[name]:
        return Rule(name, float(wanted))
    raise ValueError(
        "threshold must be a number, 'youden', or a dict with one key, 'sensitivity' or "
        "'specificity' in (0, 1], or 'cost_ratio' above 0, got "
        f"{threshold!r}{_checks.suggest(threshold, ('youden',))}."
    )


def _measure_given(sample: CurveSample, threshold: float) -> dict[str, Estimate]:
    """Return the measures at a threshold that was selected without these samples."""
    # the threshold is fixed
    cut = Estimate(
        name="threshold",
        value=threshold,
        standard_error=0.0,
        method="given",
        limits={"given": partial(intervals.normal_interval, threshold, 0.0)},
        allow_point=True,
        confidence_level=sample.confidence_level,
    )
    positive, called, group = sample.positive, sample.score >= threshold, sample.group
    weight = None if np.ptp(sample.weight) == 0 else sample.weight
    # score intervals of the four rates
    counted, estimates = count_cells(positive, called, weight), {"threshold": cut}
    of_groups: dict[str, Any] = {}
    if group is not None:
        intervals.warn_of_few_groups(intervals.count_groups(group))
        wrong = (positive != called).astype(np.float64)
        of_groups = spread_of_mean(TestLosses(wrong, weight, group)).groups
    for name, share in SHARES.items():
        value, forms = close_side(share, counted, group)
        method = next(iter(forms))
        estimates[name] = Estimate(
            name=name,
            value=value,
            standard_error=forms[method][1],
            method=method,
            limits={form_name: form for form_name, (form, _) in forms.items()},
            n_samples=len(positive),
            **of_groups,
            bounds=(0.0, 1.0),
            confidence_level=sample.confidence_level,
        )
    return estimates


def _measure_chosen(
    sample: CurveSample, rule: Rule, n_resamples: int, root: SeedSequence
) -> tuple[dict[str, Estimate], float]:
    """Return the measures at a selected threshold, corrected for optimism.

    The second value is the correlation of sensitivity and specificity, 0 if the rule fixes one.
    """
    # true and false positives at every cut
    units = drawing_units(len(sample.score), None, sample.group, crossed=True)
    cuts = sample.ranked
    thresholds = cuts.thresholds[1:]

    def count(weight: Floats) -> tuple[Floats, Floats]:
        true, false = cuts.weigh(weight).cumulate()
        return true[1:], false[1:]  # skip the cut at which no sample is predicted positive

    counts, chosen, gaps = count(sample.weight), [], []
    for number in range(n_resamples):
        drawn = count(sample.weight * units.draw(_checks.repetition_rng(root, number)))
        if drawn[0][-1] and drawn[1][-1]:
            at = rule.choose(*drawn)
            chosen.append(thresholds[at])
            gaps.append(_find_shares(*drawn, at) - _find_shares(*counts, at))
    if len(gaps) < 2:
        raise ValueError("y_true must contain both classes in at least two resamples, got fewer.")
    # the selected threshold, with the percentiles of the resamples
    at = rule.choose(*counts)
    drawn_thresholds = np.array(chosen)
    # scaled, because squares of large scores overflow
    scale = float(np.abs(drawn_thresholds).max()) or 1.0
    details = rule._asdict() if np.isfinite(rule.wanted) else {"rule": rule.rule}
    apparent = _find_shares(*counts, at)
    # the lowest threshold has sensitivity 1, but the highest may have a low specificity
    if rule.rule == "specificity" and apparent[1] < rule.wanted - TIE:
        details["caution"] = (
            f"No threshold reaches a specificity of {rule.wanted:g}. The highest score is used as "
            f"the threshold (specificity {apparent[1]:.3g})."
        )
    estimates = {
        "threshold": Estimate(
            name="threshold",
            value=float(thresholds[at]),
            standard_error=scale * float(np.std(drawn_thresholds / scale, ddof=1)),
            limits={"percentile": partial(percentile_limits, drawn_thresholds)},
            n_samples=len(sample.positive),
            replicates=drawn_thresholds,
            details=details,
            allow_point=True,
            method="bootstrap",
            confidence_level=sample.confidence_level,
        )
    }
    # measures at this threshold, less their optimism
    correlation = 0.0 if rule.rule in SHARES else correlation_of(np.cov(np.array(gaps)[:, :2].T))
    shares = _expect_shares(sample, rule, thresholds[at], apparent, gaps, units.n_groups)
    return estimates | shares, correlation


def _expect_shares(
    sample: CurveSample,
    rule: Rule,
    threshold: float,
    apparent: Floats,
    gaps: Any,
    n_groups: int | None,
) -> dict[str, Estimate]:
    """Return the measures expected on new samples. `gaps` has the optimism of each resample."""
    with _checks.ignored_warnings(RuntimeWarning):  # a measure may be 0/0 on all resamples
        optimism, errors = np.nanmean(gaps, axis=0), np.nanstd(gaps, axis=0, ddof=1)
    # samples among which each rate is computed
    called, degrees = sample.score >= threshold, sample.spread.degrees_of_freedom
    among = (sample.positive, ~sample.positive, called, ~called)
    numbers = (values.tolist() for values in (apparent, optimism, errors))
    estimates = {}
    for name, here, gain, error, chosen in zip(SHARES, *numbers, among, strict=True):
        value, form = float(np.clip(here - gain, 0.0, 1.0)), "wilson"
        limits: Callable[[float], Limits] = intervals.give_no_limits
        if name == rule.rule:
            # the rule fixes the apparent value; the true value varies like an order statistic
            n = size = size_from_weights(sample.weight[chosen])
            if n_groups is not None:
                n = intervals.size_of_proportion(here, error, size, n_groups)
            # the threshold lies in a gap between two scores of the class; the true value at the
            # ends of this gap has a beta distribution whose parameters sum to n + 1; the threshold
            # is the lower end for "sensitivity"; for "specificity" it is the lowest score of a
            # positive sample in the gap, or the upper end without such a sample
            part = 0.0
            if rule.rule == "specificity":
                end = np.min(sample.score[called & ~sample.positive], initial=np.inf)
                inside = called & sample.positive & (sample.score < end)
                part = 1 / (1 + np.count_nonzero(inside))
            value = (here * n + part) / (n + 1)
            error = float(np.sqrt(value * (1 - value) / (n + 2)))
            gain, form = here - value, "exact"
            limits = partial(intervals.exact_interval, here * n, n, degrees_of_freedom=degrees)
        elif np.isfinite([value, error]).all():
            size = size_from_weights(sample.weight[chosen])
            n = intervals.size_of_proportion(value, error, size, n_groups)
            limits = partial(intervals.wilson_interval, value * n, n, degrees_of_freedom=degrees)
            limits = partial(_include_bound, here, limits)
        else:
            _checks.warn_undefined(
                f"{name} is undefined (nan), because it is 0/0 at the threshold or on resamples."
            )
        estimates[name] = Estimate(
            name=name,
            value=value,
            standard_error=error,
            method="bootstrap",
            limits={form: limits},
            n_samples=int(chosen.sum()),
            bounds=(0.0, 1.0),
            details={"apparent": here, "optimism": gain},
            confidence_level=sample.confidence_level,
        )
    return estimates


def _include_bound(
    apparent: float, limits: Callable[[float], Limits], confidence_level: float
) -> Limits:
    """Return limits that contain an apparent value of 0 or 1, because new samples may repeat it.

    The sensitivity is 1 if the threshold is the lowest possible score.
    """
    low, high = limits(confidence_level)
    return (0.0 if apparent == 0 else low), (1.0 if apparent == 1 else high)


def _find_shares(tp: Floats, fp: Floats, at: int) -> Floats:
    """Return sensitivity, specificity and predictive values at a cut, or nan for 0/0."""
    # cells of the table at this cut
    hit, false, missed, spared = tp[at], fp[at], tp[-1] - tp[at], fp[-1] - fp[at]
    right = np.array([hit, spared, hit, spared])
    of = np.array([tp[-1], fp[-1], hit + false, missed + spared])
    return np.divide(right, of, out=np.full(4, np.nan), where=of > 0)


class Population(NamedTuple):
    """Prevalence of the positive class, and the odds w of the net benefit, or None."""

    prevalence: float
    odds: float | None

    def ppv(self, sensitivity: Any, specificity: Any) -> Any:
        true = self.prevalence * sensitivity
        with np.errstate(invalid="ignore"):
            return np.divide(true, true + (1 - self.prevalence) * (1 - specificity))

    def npv(self, sensitivity: Any, specificity: Any) -> Any:
        return self._replace(prevalence=1 - self.prevalence).ppv(specificity, sensitivity)

    def accuracy(self, sensitivity: Any, specificity: Any) -> Any:
        return self.prevalence * sensitivity + (1 - self.prevalence) * specificity

    def net_benefit(self, sensitivity: Any, specificity: Any) -> Any:
        cost = (self.odds or 0.0) * (1 - self.prevalence)
        return self.prevalence * sensitivity - cost * (1 - specificity)


def transfer(
    sample: CurveSample, shares: Mapping[str, Estimate], correlation: float, population: Population
) -> dict[str, Estimate]:
    """Return the measures of a population from sensitivity and specificity.

    `correlation` is the correlation of the two estimated rates.
    """
    # both rates with their covariance and effective sizes
    rates = [shares["sensitivity"], shares["specificity"]]
    values = np.array([rate.value for rate in rates])
    errors = np.array([rate.standard_error for rate in rates])
    covariance = np.outer(errors, errors) * [[1, correlation], [correlation, 1]]
    degrees, n_groups = np.inf, None
    if sample.group is not None:
        degrees = sample.spread.degrees_of_freedom
        n_groups = intervals.count_groups(sample.group)
    largest = [size_from_weights(sample.weight[own]) for own in (sample.positive, ~sample.positive)]
    sizes = [
        intervals.size_of_proportion(*numbers, n_groups)
        for numbers in zip(values, errors, largest, strict=True)
    ]
    # a rule that fixes a rate fixes its apparent value
    apparent = [rate.details.get("apparent") for rate in rates]
    # the exact interval of a rate that a rule fixes is around its apparent value
    centers: list[Any] = [
        here if rate.interval.method == "exact" else rate.value
        for here, rate in zip(apparent, rates, strict=True)
    ]
    estimates = {}
    for name in ("ppv", "npv", "accuracy", "net_benefit")[: 3 + (population.odds is not None)]:
        measure = getattr(population, name)
        value = float(measure(*values))
        # delta method; the measures are smooth beyond rates of 0 and 1
        steps = STEP * np.eye(2)
        slope = np.array([measure(*(values + step)) - measure(*(values - step)) for step in steps])
        error = float(np.sqrt(slope @ covariance @ slope)) / (2 * STEP)
        args = measure, centers, sizes, correlation
        region = partial(intervals.score_region_limits, *args, degrees_of_freedom=degrees)
        details, size = {}, None
        # optimism of a threshold that was selected on these samples
        if apparent[0] is not None:
            here = float(measure(*apparent))
            details = {"apparent": here, "optimism": here - value}
        if np.isnan(value):
            _checks.warn_undefined(f"{name} is undefined (nan), as no sample has this prediction.")
        elif error > 0 and name != "net_benefit":
            size = value * (1 - value) / error**2
        estimates[name] = Estimate(
            name=f"{name} at a prevalence of {population.prevalence:g}",
            value=value,
            standard_error=error,
            method="score" if apparent[0] is None else "bootstrap",
            limits={"score": intervals.give_no_limits if np.isnan(value) else region},
            n_samples=len(sample.positive),
            n_groups=n_groups,
            effective_n_samples=size,
            details=details,
            bounds=(-np.inf if name == "net_benefit" else 0.0, 1.0),
            confidence_level=sample.confidence_level,
        )
    return estimates


def correlation_of(covariance: Floats) -> float:
    """Return the correlation of two variables, or 0 if one does not vary."""
    scale = float(np.sqrt(covariance[0, 0] * covariance[1, 1]))
    return float(np.clip(covariance[0, 1] / scale, -1, 1)) if scale > 0 else 0.0
