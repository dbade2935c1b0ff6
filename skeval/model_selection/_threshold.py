"""A threshold that is given or chosen: what is right at it, and what choosing it here costs.

Read from top to bottom: the public function, the rules of choice, and the bootstrap of choice and
shares together.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator, SeedSequence
from numpy.typing import ArrayLike, NDArray

from skeval._inference import intervals
from skeval._inference.areas import independent_size
from skeval._inference.errors import TestLosses, spread_of_mean
from skeval._inference.estimate import Estimate, Limits, Results
from skeval._inference.paired import percentile_limits
from skeval._inference.tables import count_cells
from skeval._resampling.sampling_units import drawing_units
from skeval.metrics import npv_score, ppv_score, sensitivity_score, specificity_score
from skeval.metrics._curves import CurveSample, Cuts, check_curve_sample
from skeval.metrics._table import close_side
from skeval.model_selection._metric_interval import warn_of_few_groups
from skeval.utils._checks import (
    RandomStateLike,
    check_confidence_level,
    repetition_rng,
    root_seed,
    warn_undefined,
)
from skeval.utils._compat import Interval, validate_params

Floats = NDArray[np.float64]
SHARES = {
    "sensitivity": sensitivity_score,
    "specificity": specificity_score,
    "ppv": ppv_score,
    "npv": npv_score,
}
TIE, MOST = 1e-12, float(np.finfo(float).max)


@validate_params(
    {
        "threshold": [Real, str, dict],
        "pos_label": [Real, str, "boolean", None],
        "sample_weight": ["array-like", None],
        "groups": ["array-like", None],
        "n_resamples": [Interval(Integral, 20, None, closed="left")],
        "random_state": ["random_state", Generator],
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
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    random_state: RandomStateLike = None,
) -> Results:
    r"""Sensitivity, specificity and predictive values at a threshold, given or chosen on the data.

    Samples with a score of the threshold or more are predicted positive. A threshold that was
    chosen because it looks best on these samples does worse on others: of a chosen threshold the
    values are those to expect on new samples.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes, exactly two.
    y_score : array-like of shape (n_samples,)
        Probabilities or scores; larger says more surely positive.
    threshold : float, "youden", or dict, default="youden"
        A number was chosen without these samples. Else it is the score that

        - "youden": has the largest sensitivity + specificity - 1, Youden's index;
        - ``{"sensitivity": 0.9}``: is the highest of this sensitivity or more;
        - ``{"specificity": 0.9}``: is the lowest of this specificity or more;
        - ``{"cost_ratio": 5}``: costs least, where a positive that is missed costs as much as so
          many false alarms,

        and of several the highest. It is one of the scores, so that one sample at least is called
        positive.
    pos_label : int, float, bool or str, default=None
        The positive class. None uses 1 if `y_true` takes values in {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights say what a sample counts, not how often it was seen.
    groups : array-like of shape (n_samples,), default=None
        For samples that belong together: whole groups are drawn.
    confidence_level : float, default=0.95
        Nominal coverage of the intervals.
    n_resamples : int, default=1000
        Bootstrap resamples, on each of which the threshold is chosen again.
    random_state : int, RandomState, Generator or None, default=None
        Draws them.

    Returns
    -------
    dict of Estimate
        The ``threshold``, and at it ``sensitivity``, ``specificity``, ``ppv`` and ``npv``. Where it
        was chosen, their `details` have what they are on these samples, ``apparent``, and the
        ``optimism`` that was taken from it.

    Raises
    ------
    ValueError
        If a score is not finite, there are not two classes, or one group.

    See Also
    --------
    skeval.metrics.net_benefit : What a threshold is worth, by the threshold.
    sklearn.model_selection.TunedThresholdClassifierCV : A classifier that chooses its own.

    Notes
    -----
    Shares at a given threshold have the intervals of `metric_interval`. Of a chosen one, with
    :math:`t_b` chosen on the resample b, :math:`s_b(t_b)` the share on that resample and
    :math:`s(t_b)` that on all samples, the optimism [1]_ is the mean of
    :math:`s_b(t_b) - s(t_b)`, and the variance of these differences is that of the share about what
    it would be on unlimited data at the same threshold: the interval is Wilson's for as many
    samples as would give a proportion this variance, but never for more than there are. That of the
    threshold is the percentiles of :math:`t_b`.

    The share that a rule fixes, the sensitivity under ``{"sensitivity": 0.9}`` say, is hardly
    different from one sample to the next; the true share at the threshold is what varies. The
    threshold is an order statistic of the `n` scores of the class, and so, whatever the
    distribution of the scores, the true share at the order statistics on both sides has a beta
    distribution [3]_. With `k` samples on the right side, the interval is that of Clopper and
    Pearson for `k` of `n`, and the value is the mean of the beta distribution, ``k / (n + 1)`` for
    the sensitivity and between that and ``(k + 1) / (n + 1)`` for the specificity, where the
    threshold may lie within the gap. Groups and weights replace `n` by the effective number of
    samples. In 120 sets of 60 samples with 20 % positives, the interval of a specificity of .95
    covered the true one in 117 (that by the variance of the optimism in 106).

    How often 95 % intervals held the share of unlimited data at the threshold chosen, lowest and
    highest of the four in 100 sets each (normal scores 1.5 standard deviations apart, 200
    resamples):

    ===========================  ==========  ==============  ===============  ============
    samples, share of positives  "youden"    sensitivity .9  specificity .95  cost ratio 5
    ===========================  ==========  ==============  ===============  ============
    50, .5                       .95 to .97  .93 to 1        .93 to 1         .93 to .98
    200, .5                      .97 to .98  .94 to .97      .94 to .99       .95 to 1
    200, .1                      .93 to .97  .96 to .99      .95 to .96       .93 to .98
    1,000, .1                    .94 to .96  .96 to .99      .93 to .97       .94 to .97
    300 in 30 groups, .5         .91 to .94  .95 to .97      .91 to .98       .92 to .97
    ===========================  ==========  ==============  ===============  ============

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
    >>> found = threshold_measures(y, rng.normal(1.2 * y), random_state=0)
    >>> print(found["sensitivity"])
    sensitivity (bootstrap)
      value           0.7720
      standard error  0.0558
      95 % interval   [0.6468, 0.8622] (wilson)
      samples         56
      apparent        0.8036
      optimism        0.0316
    """
    check_confidence_level(confidence_level)
    rule = read_rule(threshold)
    sample = check_curve_sample(y_true, y_score, pos_label, sample_weight, groups, confidence_level)
    return measure_at(sample, rule, random_state, n_resamples)


def measure_at(
    sample: CurveSample, rule: float | Rule, random_state: RandomStateLike, n_resamples: int = 1000
) -> Results:
    """Return the same of a sample that was checked, and may have been sorted."""
    if isinstance(rule, float):
        return Results(_measure_given(sample, rule))
    return Results(_measure_chosen(sample, rule, n_resamples, root_seed(random_state)))


class Rule(NamedTuple):
    """How a threshold is chosen: the name, and what it is to reach."""

    rule: str
    wanted: float = np.nan

    def choose(self, tp: Floats, fp: Floats) -> int:
        """Return which cut it is, by the weights of true and false positives at each."""
        hit, false = tp / tp[-1], fp / fp[-1]
        if self.rule == "sensitivity":
            return int(np.argmax(hit >= self.wanted - TIE))
        if self.rule == "specificity":
            return max(0, int(np.sum(1 - false >= self.wanted - TIE)) - 1)
        worth = hit - false if self.rule == "youden" else self.wanted * tp - fp
        return int(np.argmax(worth >= worth.max() - TIE * max(tp[-1], fp[-1], 1.0)))


def read_rule(threshold: Any) -> float | Rule:
    """Return a threshold that is given, or the rule by which it is chosen."""
    if isinstance(threshold, str) and threshold == "youden":
        return Rule("youden")
    name, wanted = "", threshold
    if isinstance(threshold, Mapping) and len(threshold) == 1:
        name, wanted = next(iter(threshold.items()))
    most = {"sensitivity": 1.0, "specificity": 1.0, "cost_ratio": MOST}
    number = isinstance(wanted, Real) and not isinstance(wanted, bool | np.bool_)
    if number and not name and not np.isnan(float(wanted)):
        return float(wanted)
    if number and name in most and 0 < float(wanted) <= most[name]:
        return Rule(name, float(wanted))
    raise ValueError(
        "threshold must be a number, 'youden', or a dict of one of 'sensitivity' and "
        f"'specificity' in (0, 1] or 'cost_ratio' above 0, got {threshold!r}."
    )


def _measure_given(sample: CurveSample, threshold: float) -> dict[str, Estimate]:
    """Return the shares at a threshold that was chosen without these samples."""
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
    counted, found = count_cells(positive, called, weight), {"threshold": cut}
    of_groups: dict[str, Any] = {}
    if group is not None:
        warn_of_few_groups(intervals.count_groups(group))
        wrong = (positive != called).astype(np.float64)
        of_groups = spread_of_mean(TestLosses(wrong, weight, group)).groups
    for name, share in SHARES.items():
        value, forms = close_side(share, counted, group)
        method = next(iter(forms))
        found[name] = Estimate(
            name=name,
            value=value,
            standard_error=forms[method][1],
            method=method,
            limits={each: form for each, (form, _) in forms.items()},
            n_samples=len(positive),
            **of_groups,
            bounds=(0.0, 1.0),
            confidence_level=sample.confidence_level,
        )
    return found


def _measure_chosen(
    sample: CurveSample, rule: Rule, n_resamples: int, root: SeedSequence
) -> dict[str, Estimate]:
    """Return the shares at a chosen threshold, less what choosing it on these samples adds."""
    units = drawing_units(len(sample.score), None, sample.group, crossed=True)
    cuts = Cuts(sample.positive, sample.score)
    thresholds = cuts.thresholds[1:]

    def count(weight: Floats) -> tuple[Floats, Floats]:
        true, false = cuts.count(weight)
        return true[1:], false[1:]  # At every cut one sample at least is called positive.

    counts, chosen, gaps = count(sample.weight), [], []
    for number in range(n_resamples):
        drawn = count(sample.weight * units.draw(repetition_rng(root, number)))
        if drawn[0][-1] and drawn[1][-1]:
            at = rule.choose(*drawn)
            chosen.append(thresholds[at])
            gaps.append(_find_shares(*drawn, at) - _find_shares(*counts, at))
    if len(gaps) < 2:
        raise ValueError("y_true must hold both classes on two resamples, it does on fewer.")
    at = rule.choose(*counts)
    drawn_thresholds = np.array(chosen)
    # The squares of large scores would overflow.
    scale = float(np.abs(drawn_thresholds).max()) or 1.0
    found = {
        "threshold": Estimate(
            name="threshold",
            value=float(thresholds[at]),
            standard_error=scale * float(np.std(drawn_thresholds / scale, ddof=1)),
            limits={"percentile": partial(percentile_limits, drawn_thresholds)},
            n_samples=len(sample.positive),
            replicates=drawn_thresholds,
            details=rule._asdict() if np.isfinite(rule.wanted) else {"rule": rule.rule},
            allow_point=True,
            method="bootstrap",
            confidence_level=sample.confidence_level,
        )
    }
    apparent = _find_shares(*counts, at)
    return found | _expect_shares(sample, rule, thresholds[at], apparent, gaps, units.n_groups)


def _expect_shares(
    sample: CurveSample,
    rule: Rule,
    threshold: float,
    apparent: Floats,
    gaps: Any,
    n_groups: int | None,
) -> dict[str, Estimate]:
    """Return the shares expected on new samples; `gaps` are the optimism of each resample."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # A share may be 0/0 on all resamples.
        optimism, errors = np.nanmean(gaps, axis=0), np.nanstd(gaps, axis=0, ddof=1)
    called, degrees = sample.score >= threshold, sample.spread.degrees_of_freedom
    among = (sample.positive, ~sample.positive, called, ~called)
    numbers = (each.tolist() for each in (apparent, optimism, errors))
    found = {}
    for name, here, gain, error, chosen in zip(SHARES, *numbers, among, strict=True):
        value, form = float(np.clip(here - gain, 0.0, 1.0)), "wilson"
        limits: Callable[[float], Limits] = intervals.give_no_limits
        if name == rule.rule:
            # the rule fixes the apparent share, so the true one varies as an order statistic does
            n = size = independent_size(sample.weight[chosen])
            if n_groups is not None:
                n = intervals.effective_size(here, error, size, n_groups)
            value, error = _expect_fixed_share(sample, rule, threshold, here, n)
            gain, form = here - value, "exact"
            limits = partial(intervals.exact_interval, here * n, n, degrees_of_freedom=degrees)
        elif np.isfinite([value, error]).all():
            size = independent_size(sample.weight[chosen])
            n = intervals.effective_size(value, error, size, n_groups)
            limits = partial(intervals.wilson_interval, value * n, n, degrees_of_freedom=degrees)
        else:
            warn_undefined(f"{name} is undefined, nan: it is 0/0 at the threshold or on resamples.")
        found[name] = Estimate(
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
    return found


def _expect_fixed_share(
    sample: CurveSample, rule: Rule, threshold: float, apparent: float, n: float
) -> tuple[float, float]:
    """Return mean and standard deviation of the true share that a rule fixes.

    The threshold lies in a gap between two neighboring scores of the class. The true share at the
    ends of this gap has a beta distribution of total ``n + 1``. Under "sensitivity" the threshold
    is the lower end, a positive. Under "specificity" it is the lowest positive in the gap, or the
    upper end if there is none.
    """
    part = 0.0
    if rule.rule == "specificity":
        score, called = sample.score, sample.score >= threshold
        end = np.min(score[called & ~sample.positive], initial=np.inf)
        part = 1 / (1 + int(np.sum(called & sample.positive & (score < end))))
    mean = (apparent * n + part) / (n + 1)
    return mean, float(np.sqrt(mean * (1 - mean) / (n + 2)))


def _find_shares(tp: Floats, fp: Floats, at: int) -> Floats:
    """Return sensitivity, specificity and predictive values at a cut; nan is 0/0."""
    hit, false, missed, spared = tp[at], fp[at], tp[-1] - tp[at], fp[-1] - fp[at]
    right = np.array([hit, spared, hit, spared])
    of = np.array([tp[-1], fp[-1], hit + false, missed + spared])
    return np.divide(right, of, out=np.full(4, np.nan), where=of > 0)
