"""A confidence interval for any metric, for all samples or subgroups.

The module contains the public function, its result, and the samples that bootstrap and jackknife
select. Values per sample, and counts per text, are computed once and then selected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from inspect import isfunction, signature
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, TypedDict, Unpack, get_args, overload

import numpy as np
from numpy.random import PCG64, Generator
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import average_precision_score, max_error, mean_pinball_loss, roc_auc_score
from sklearn.utils import check_consistent_length
from sklearn.utils.multiclass import type_of_target

from skeval._inference import intervals
from skeval._inference.errors import TestLosses, count_half, spread_of_mean
from skeval._inference.estimate import ErrorExtra, Estimate, Results
from skeval._inference.intervals import Limits, LimitsByMethod
from skeval._resampling import sampling_units
from skeval.metrics import _table
from skeval.metrics._regression import error_norm, mean_quantile_loss, winkler_loss
from skeval.metrics._scorers import get_scorer, row_of_scorer
from skeval.metrics._table import Forms, Sample
from skeval.model_selection import _subgroups
from skeval.utils import _checks, _compat
from skeval.utils._checks import RandomStateLike, validate_params

Floats = NDArray[np.float64]
Resampled = Literal["percentile", "bca", "basic"]
Proportion = Literal["wilson", "agresti_coull", "jeffreys", "exact", "wald"]
Closed = Literal["score", "delong", "delta", "normal", "log", "hall", "t"]
MetricIntervalMethod = Literal["auto", "analytic", Resampled, Proportion, Closed]
_BCA_UNITS = 1000  # with more, "auto" avoids BCa (a metric call per unit)


class IntervalOptions(TypedDict, total=False):
    """Keyword arguments of `metric_interval` other than `by`, for its overloads."""

    confidence_level: float
    method: MetricIntervalMethod
    n_resamples: int
    groups: ArrayLike | None
    sample_weight: ArrayLike | None
    random_state: RandomStateLike
    n_jobs: int | None
    within: ArrayLike | None


Metric = Callable[..., float] | str
Several = Sequence[Metric] | Mapping[str, Metric]


@overload
def metric_interval(
    metric: Metric, y_true: Any, y_pred: Any, *, by: None = None, **options: Unpack[IntervalOptions]
) -> Estimate: ...
@overload
def metric_interval(
    metric: Metric, y_true: Any, y_pred: Any, *, by: ArrayLike, **options: Unpack[IntervalOptions]
) -> Results: ...
@overload
def metric_interval(
    metric: Several,
    y_true: Any,
    y_pred: Any,
    *,
    by: ArrayLike | None = None,
    **options: Unpack[IntervalOptions],
) -> Results: ...
@_checks.in_order(metric=_checks.is_no_table)
@validate_params(
    {
        "metric": [callable, str, list, tuple, dict],
        "n_resamples": [_compat.Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state", Generator],
        "n_jobs": [Integral, None],
    }
)
def metric_interval(
    metric: Metric | Several,
    y_true: Any,
    y_pred: Any,
    *,
    confidence_level: float = 0.95,
    method: MetricIntervalMethod = "auto",
    n_resamples: int = 2000,
    groups: ArrayLike | None = None,
    by: ArrayLike | None = None,
    within: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
) -> Estimate | Results:
    r"""Return a confidence interval of any metric of predictions or scores.

    The model is fixed. The interval covers the variation of the metric over test sets of this
    size.

    Parameters
    ----------
    metric : callable, str, scorer, or list or dict of them
        ``metric(y_true, y_pred) -> float``, where `y_pred` may also be scores. Fix its arguments
        with `functools.partial`, as in ``partial(f1_score, average="macro")``. A string is the name
        of a scorer, such as "roc_auc" or "f1_macro", or of a loss without the prefix "neg\_".
        `y_pred` then has the form that its metric requires. If a scorer is passed, such as
        ``get_scorer("lift_at_k", k=100)``, its metric is used. Several metrics use the same
        `y_pred`.
    y_true : array-like of length n_samples
        True values, or the references for `bleu_score`. The area under the ROC curve is for
        scores of the second of two sorted classes, ``details["pos_label"]``. If "ja" is the
        positive class, pass ``y_true == "ja"``.
    y_pred : array-like of length n_samples
        Predictions or scores, or the hypotheses for `bleu_score`.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    method : str, default="auto"
        "percentile" and "bca" use the bootstrap. BCa corrects for bias and skewness, and calls the
        metric once more for each sample. "basic" reflects the quantiles about the estimate, and is
        clipped to the range of the metric. "analytic" uses the first of these formulas that
        applies to the metric:

        - "wilson" (or "agresti_coull", "jeffreys", "exact", "wald" by name) is for the error rate,
          accuracy, top-k accuracy, Hamming loss, and binary precision and recall. The last two are
          conditional on the number of predicted or true positives. It also treats the average
          precision as a proportion of the positives.
        - "score" is for functions of the confusion matrix. These are F, averaged precision and
          recall (of both packages), balanced accuracy, Jaccard's index, Cohen's kappa, Matthews'
          correlation and expected cost. It is also for `roc_auc_score` (with several classes or
          ``max_fpr=``, too), `ranking_loss`, and means of values between 0 and 1, such as
          `ndcg_score` and `label_ranking_loss`. By name, "delta" for F is normal on the log-odds
          scale, and "delong" is for areas of two classes.
        - "log" (or "hall", "t" by name) is for the mean of squared, absolute, percentage,
          logarithmic or pinball errors, its root, the log loss, the Brier score, `dcg_score` and
          `coverage_error`. For `r2_score`, it is for 1 minus the score, a ratio of such means.

        "normal" is F or the area plus or minus a multiple of the standard error of "delta" or
        "delong", clipped to [0, 1]. "auto" uses the first formula that supports the options (only
        "score" and "log" support `groups` and unequal `sample_weight`). If there is none, it uses
        BCa for at most 1000 samples (or groups), and percentile for more.
    n_resamples : int, default=2000
        Number of bootstrap resamples. With ``method="auto"``, they are drawn within each class of
        `y_true` if the metric is otherwise undefined on some of them, for example because a class
        is missing.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as the patient. The bootstrap resamples whole groups. "score"
        and "log" compute the variance between groups, with Student's t quantile.
    by : array-like of shape (n_samples,), default=None
        Subgroup of each sample. Each subgroup gets an interval from its own samples, and is
        compared with all other samples.
    within : array-like of shape (n_samples,), default=None
        Unit of each sample, such as a task, subject, query or image. The metric is computed in
        each unit, and the estimate is the mean of these values. The units are assumed to be a
        random sample. Do not pass `by` or `groups`. `method` must be "auto" or "t".
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. They are passed to the metric. Equal weights are the same as None. A weight
        is not a number of copies, so intervals count at most ``sum(w)^2 / sum(w^2)`` samples.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call.
    n_jobs : int, default=None
        Number of joblib workers. Results do not depend on it.

    Returns
    -------
    interval : Estimate, or dict of them
        The `value`, its `interval`, the `method` used and the `replicates`. A replicate is nan if
        the metric is undefined. A formula has no replicates. The method `confidence_interval`
        computes the interval at another level from the same numbers.

        If `by` is passed, the result is a dict. Its keys are the subgroups and its values their
        estimates. Its attribute `less_the_rest` contains the difference of each subgroup from all
        other samples. The `details` of a difference contain its P-values, `pvalue` and
        `pvalue_adjusted` (for the false discovery rate over all subgroups). The attribute
        `largest_difference` is the largest minus the smallest value of the subgroups, with an
        interval from their simultaneous intervals.

        With several metrics, the result is a dict of these results. With `within`, `replicates`
        contains the values in the units, and ``details["unit_values"]`` contains them by unit.

    Raises
    ------
    ValueError
        If the metric does not support the requested interval, or is defined in fewer than two
        units.

    Warns
    -----
    UndefinedMetricWarning
        If the metric is nan or raises `ValueError` on some resamples or in some units. These are
        omitted, and resamples are counted in `n_undefined`. If the metric is 0/0, such as the
        precision of a class that is never predicted. If the interval is undefined (nan), for
        example because the values do not vary.
    UserWarning
        If there are fewer than 10 groups.

    Notes
    -----
    "score" generalizes Wilson's interval to any function of the confusion matrix. Its limits are
    the smallest and largest values over the tables that Pearson's chi-square test does not reject.
    For the area under the ROC curve it is Newcombe's method [1]_ with DeLong's variance [2]_, or
    with Obuchowski's variance for groups and weights [3]_. Neither has zero width if all
    predictions are correct. "log" is Student's t interval for the logarithm, with degrees of
    freedom from the kurtosis of the losses. "hall" is Hall's transformation of a skewed mean [4]_.
    The bootstrap ("percentile", "bca" [5]_) uses Hesterberg's wider level [6]_. If the values do
    not vary, the limits are nan. A maximum such as `max_error` has no interval.

    With `within`, Student's t quantile has one degree of freedom less than the number of units.

    :doc:`/user_guide/formulas` has the formulas, and :doc:`/validation` has the measured coverage.
    No interval of the mean squared error is reliable if errors have heavy tails.
    ``details["caution"]`` is set if a few samples account for half of the loss, or the average
    precision has fewer than 10 positives.

    References
    ----------
    .. [1] Newcombe, R. G. (2006). Confidence intervals for an effect size measure based on the
       Mann-Whitney statistic. Part 2. Statistics in Medicine 25, 559-573.
       https://doi.org/10.1002/sim.2324
    .. [2] DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). Comparing the areas under
       two or more correlated receiver operating characteristic curves. Biometrics 44, 837-845.
       https://doi.org/10.2307/2531595
    .. [3] Obuchowski, N. A. (1997). Nonparametric analysis of clustered ROC curve data. Biometrics
       53, 567-578. https://doi.org/10.2307/2533958
    .. [4] Hall, P. (1992). On the removal of skewness by transformation. Journal of the Royal
       Statistical Society B 54, 221-228. https://doi.org/10.1111/j.2517-6161.1992.tb01876.x
    .. [5] Efron, B. (1987). Better bootstrap confidence intervals. JASA 82, 171-185.
       https://doi.org/10.1080/01621459.1987.10478410
    .. [6] Hesterberg, T. C. (2015). What teachers should know about the bootstrap. The American
       Statistician 69, 371-386. https://doi.org/10.1080/00031305.2015.1089789

    Examples
    --------
    >>> from functools import partial
    >>> from sklearn.metrics import f1_score
    >>> from skeval.model_selection import metric_interval
    >>> y_true = ["a"] * 50 + ["b"] * 30 + ["c"] * 20
    >>> y_pred = ["a"] * 45 + ["b"] * 30 + ["c"] * 25
    >>> print(metric_interval(partial(f1_score, average="macro"), y_true, y_pred))
    f1_score(average='macro')
      value           0.8899
      standard error  0.0330
      95 % interval   [0.8087, 0.9394] (score)
      samples         100

    The mean of the AUC in each subject:

    >>> import numpy as np
    >>> from sklearn.metrics import roc_auc_score
    >>> rng = np.random.default_rng(0)
    >>> subject = np.repeat(np.arange(12), 20)
    >>> y = rng.integers(0, 2, 240)
    >>> score = y + rng.normal(size=240) + rng.normal(size=12)[subject]
    >>> print(metric_interval(roc_auc_score, y, score, within=subject))
    roc_auc_score, mean over 12 units
      value           0.8528
      standard error  0.0273
      95 % interval   [0.7827, 0.9030] (score)
      samples         240
      units           12
    """
    _checks.check_confidence_level(confidence_level)
    _checks.check_option("method", method, get_args(MetricIntervalMethod))
    _checks.check_jobs(n_jobs, verbose=0)
    # validated data and options
    n = _check_lengths(y_true, y_pred)
    if sample_weight is not None:
        _checks.check_weights("sample_weight", sample_weight, n)
    settings = Settings(confidence_level, method, n_resamples, n_jobs, random_state)
    groups_of_rows = _checks.check_groups(groups, n, crossed=True)
    data = Data(make_plain(y_true), make_plain(y_pred), groups_of_rows, sample_weight)
    units = None if within is None else _subgroups.read_units(within, n)
    if units is not None:
        if method not in ("auto", "t"):
            raise ValueError(f"method must be 'auto' or 't' if within= is passed, got {method!r}.")
        for name, value in {"groups": groups, "by": by}.items():
            if value is not None:
                raise ValueError(f"{name} must not be passed together with within=.")

    measure = partial(_measure, data, by, units, settings)
    if isinstance(metric, str) or callable(metric):
        return measure(metric)
    named = metric if isinstance(metric, Mapping) else {repr_metric(one): one for one in metric}
    if not named:
        raise ValueError(f"metric must contain at least one metric, got {metric!r}.")
    return Results({name: measure(one) for name, one in named.items()})


def _measure(
    data: Data, by: Any, units: _subgroups.Units | None, settings: Settings, metric: Metric
) -> Any:
    """Return one metric of all samples, of subgroups, or as the mean over units."""
    function = find_metric(metric)
    if by is not None or units is not None:
        function = _table.fix_labels(function, data.y_true, data.y_pred)
    check_columns(function, make_column(data.y_true), "y_pred", make_column(data.y_pred))
    level = settings.confidence_level
    if units is not None:
        given = {"y_pred": data.y_pred}
        (values,), kept = score_within(function, data.y_true, given, data.weight, units)
        bounds, name = find_range(function, make_column(data.y_pred)), repr_metric(function)
        return _subgroups.estimate_mean(name, values, kept, level, bounds, settings.method)
    if by is None:
        return _estimate_metric(function, data, settings)
    root = _checks.root_seed(settings.seed)

    def measure_some(chosen: NDArray[np.bool_]) -> Estimate:
        """Return the metric of a subgroup, with a seed of its own."""
        rows = np.flatnonzero(chosen)
        if len(rows) < 2:
            got = f"got one sample, at position {rows[0]}. Merge it with another subgroup."
            raise ValueError(f"by must have two samples in each subgroup and in the rest, {got}")
        seed = Generator(PCG64(_checks.child_seed(root, int(rows[0]))))
        return _estimate_metric(function, data.select(rows), settings._replace(seed=seed))

    return _subgroups.compare_subgroups(by, _compat.num_samples(data.y_true), measure_some, level)


class Settings(NamedTuple):
    """Options of an interval."""

    confidence_level: float
    method: MetricIntervalMethod
    n_resamples: int
    n_jobs: int | None
    seed: RandomStateLike


class Data(NamedTuple):
    """The data, with the group and the weight of each sample."""

    y_true: Any
    y_pred: Any
    groups: Any
    weight: Any

    def select(self, rows: NDArray[np.intp]) -> Data:
        """Return some of the samples."""
        return Data._make(
            None if each is None else _compat.safe_indexing(each, rows) for each in self
        )


def score_within(
    metric: Callable[..., float],
    y_true: Any,
    predictions: Mapping[str, Any],
    weight: Any,
    units: _subgroups.Units,
) -> tuple[Floats, _subgroups.Units]:
    """Return a metric of some predictions in each unit, and the units where it is defined.

    The values have shape (n_predictions, n_units). The keys of `predictions` are their names in
    error messages.
    """
    y_true, statistics = make_plain(y_true), []
    if weight is not None:
        weight = _checks.check_weights("sample_weight", weight, _compat.num_samples(y_true))
    # each metric as a function of rows, to apply it within units
    for word, y_pred in predictions.items():
        y_pred = make_plain(y_pred)
        _check_lengths(y_true, y_pred)
        y_pred = read_probabilities(metric, word, y_true, y_pred)
        _checks.refuse_swapped(word, make_column(y_true), make_column(y_pred))
        statistics.append(make_statistic(metric, y_true, y_pred, weight))
    return _subgroups.score_units(statistics, units)


def _estimate_metric(metric: Callable[..., float], data: Data, settings: Settings) -> Estimate:
    """Return one metric of some samples."""
    statistic, sample = _score_sample(metric, data)
    n = len(sample.y_true)
    # units of the bootstrap and of groups, which closed forms of single samples do not need
    find_units = partial(sampling_units.drawing_units, n, None, data.groups, crossed=True)
    units = None if data.groups is None else find_units()
    if units is not None:
        intervals.warn_of_few_groups(units.n_units)
        sample = sample._replace(groups=units.codes)
    # no interval of a metric that is 0/0 on all samples
    undefined = _table.explain_undefined(metric, *sample[:2])
    forms: Forms = {"none": _table.NO_LIMITS}
    if undefined:
        nan = np.isnan(sample.value)
        what = "undefined" if nan else "set by zero_division, so it has no interval"
        _checks.warn_undefined(f"{repr_metric(metric)} is {what}, because {undefined}.")
    else:
        # closed forms where there are some, and otherwise the bootstrap
        forms = _choose_forms(metric, sample, settings)
        forms = forms or _close_share(statistic, sample, settings)
    if forms:
        limits: LimitsByMethod = {name: form for name, (form, _) in forms.items()}
        fields: dict[str, Any] = {"standard_error": next(iter(forms.values()))[1]}
        if units is not None:
            fields |= _describe_groups(metric, sample, units)
    else:
        limits, fields = _bootstrap_metric(statistic, units or find_units(), sample, settings)
    # an interval that is too narrow, undefined, or not possible
    refused = _refuse_interval(metric, sample)
    caution = refused or find_caution(metric, sample)
    if refused:
        limits = {"none": intervals.give_no_limits}
    elif not undefined:
        limits = {name: partial(_warn_if_undefined, form) for name, form in limits.items()}
    return Estimate(
        name=repr_metric(metric),
        value=sample.value,
        method=next(iter(limits)),
        limits=limits,
        n_samples=n,
        details=({"caution": caution} if caution else {}) | _name_positive(metric, sample.y_true),
        confidence_level=settings.confidence_level,
        bounds=find_range(metric, sample.y_pred),
        **fields,
    )


def _score_sample(
    metric: Callable[..., float], data: Data
) -> tuple[sampling_units.Statistic, Sample]:
    """Return a metric as a function of rows, and the validated samples with its value."""
    y_true, n = data.y_true, _compat.num_samples(data.y_true)
    y_pred = read_probabilities(metric, "y_pred", y_true, data.y_pred)
    true, pred = make_column(y_true), make_column(y_pred)
    if n < 2:
        raise ValueError(f"y_true must contain at least two samples, got {n}.")
    # the largest of all errors has no interval
    function, arguments = _table.unwrap(metric)
    if function is max_error or (function is error_norm and arguments.get("ord") == np.inf):
        raise ValueError(
            f"metric={repr_metric(metric)} has no interval, because the observed errors do not "
            "bound the largest error on new samples. Use mean_absolute_error, or "
            "median_absolute_error."
        )
    # equal weights are no weights
    weight = None if data.weight is None else _checks.check_weights("sample_weight", data.weight, n)
    if weight is not None and np.ptp(weight) == 0 and _table.find_sums(metric) is None:
        weight = None
    with naming_cause(metric, true, pred):
        statistic = make_statistic(metric, y_true, y_pred, weight)
        return statistic, Sample(true, pred, statistic(np.arange(n)), weight)


def _name_positive(metric: Callable[..., float], true: NDArray[Any]) -> dict[str, Any]:
    """Return the positive class of a metric that needs one, unless it is 1."""
    function, arguments = _table.unwrap(metric)
    row = _table.find_row(function)
    if row is None or row.targets != _table.BINARY or true.ndim > 1:
        return {}
    classes = np.unique(true).tolist()
    positive = arguments.get("pos_label", classes[-1])
    return {"pos_label": positive} if len(classes) == 2 and positive != 1 else {}


def find_range(metric: Callable[..., float], pred: NDArray[Any]) -> tuple[float, float]:
    """Return the range of a metric of labels, scores, or a column of probabilities by class."""
    return _table.range_of_metric(metric, max(2, pred.shape[1]) if pred.ndim == 2 else 2)


def _choose_forms(metric: Callable[..., float], sample: Sample, settings: Settings) -> Forms:
    """Return the closed forms, the chosen one first, or none for the bootstrap."""
    method = settings.method
    if method in get_args(Resampled):
        return {}
    # the requested closed form comes first
    forms = _table.make_closed_forms(metric, sample)
    if method == "auto" or (method == "analytic" and forms):
        return forms
    if method in forms:
        return {method: forms[method]} | forms
    names = ", ".join(map(repr, forms))
    own = f"its closed forms are {names}" if forms else "it has no closed form"
    own += " if groups or sample_weight are passed" * (not sample.independent)
    raise ValueError(
        f"method={method!r} does not support {repr_metric(metric)} on these data, because {own}. "
        "'bca', 'percentile' and 'basic' support any metric."
    )


def _close_share(statistic: sampling_units.Statistic, sample: Sample, settings: Settings) -> Forms:
    """Return the intervals of a proportion if a function without a row is a fraction of samples.

    Its value is 0 or 1 on every single sample. An example is whether a prediction interval covers
    it.
    """
    n, value = len(sample.y_true), sample.value
    plain = settings.method == "auto" and sample.independent
    # number of hits, if the value can be a fraction of n
    hits = round(value * n) if np.isfinite(value) else -1
    if not plain or not 0 <= hits <= n or not np.isclose(value * n, hits):
        return {}
    try:
        # value on each sample alone, and on every second sample
        with _checks.ignored_warnings():
            each = np.array([statistic(np.array([row])) for row in range(n)])
            half = statistic(np.arange(0, n, 2))
    except (ValueError, ZeroDivisionError):
        return {}
    # a fraction is the mean of the single values, on all samples and on half of them
    is_share = np.isin(each, (0, 1)).all() and each.sum() == hits
    if not is_share or not np.isclose(half, each[::2].mean()):
        return {}
    return intervals.close_proportion(value, hits, n)


def _bootstrap_metric(
    statistic: sampling_units.Statistic,
    units: sampling_units.DrawingUnits,
    sample: Sample,
    settings: Settings,
) -> tuple[LimitsByMethod, dict[str, Any]]:
    """Return the bootstrap intervals by name, the requested one first, and fields of the estimate.

    The fields are the replicates, their number, and their standard deviation.
    """
    plan = settings.n_resamples, _checks.root_seed(settings.seed), settings.n_jobs
    (replicates,) = sampling_units.values_or_nan([statistic], units, *plan)
    # resamples without a class are drawn again within the classes
    n_undefined = int(np.isnan(replicates).sum())
    automatic = settings.method == "auto" and sample.groups is None
    if n_undefined and automatic and has_classes(sample.y_true):
        _checks.warn_undefined(
            f"The metric is undefined on {n_undefined} of {len(replicates)} resamples. All "
            "resamples are drawn again within the classes."
        )
        codes = np.unique(sample.y_true, return_inverse=True)[1]
        units = sampling_units.drawing_units(len(codes), codes, None)
        (replicates,) = sampling_units.values_or_nan([statistic], units, *plan)
    sampling_units.warn_of_undefined(replicates)
    finite = replicates[np.isfinite(replicates)]
    extra = ErrorExtra(n_resamples=len(replicates), n_undefined=len(replicates) - len(finite))
    error = float(np.std(finite, ddof=1)) if len(finite) > 1 else np.nan
    fields = {"replicates": replicates, "standard_error": error, "extra": extra}
    # limits from the replicates, by each method
    method: str = settings.method
    if method == "auto":
        method = "bca" if units.n_units <= _BCA_UNITS else "percentile"
    if not (len(finite) and np.isfinite(sample.value)):
        return {method: intervals.give_no_limits}, fields
    limits_of = partial(intervals.bootstrap_limits, finite, sample.value, units.n_units)
    percentile = partial(limits_of, None)
    basic = partial(intervals.mirrored, 2 * sample.value, percentile)  # quantiles, mirrored
    forms: LimitsByMethod = {"percentile": percentile, "basic": basic}
    if method == "bca":
        # the metric without each unit determines the acceleration
        left_out = sampling_units.leave_one_out_values(statistic, units)
        correction = intervals.bca_correction(finite, sample.value, left_out)
        if np.isfinite(correction.bias):
            return {"bca": partial(limits_of, correction), **forms}, fields
        _checks.warn_undefined(
            "All replicates lie on one side of the estimate, so the interval is the percentile "
            "interval instead of BCa."
        )
    return intervals.put_first(method, forms), fields


FEW_POSITIVES = 10
FEW_LARGE = 0.075
"""Largest fraction of samples that is too small to make up half of the loss."""


MIN_EXCEEDANCES = 10
"""Minimum number of samples on each side of a predicted quantile for an interval of its loss."""


def _refuse_interval(metric: Callable[..., float], sample: Sample) -> str:
    """Return why a pinball loss has no interval, or "" if each side of the quantile has samples."""
    function, _ = _table.unwrap(metric)
    of_quantiles = function in (mean_pinball_loss, winkler_loss, mean_quantile_loss)
    if not of_quantiles or sample.y_true.ndim > 1:
        return ""
    # samples on the rarer side of each quantile; of both limits of an interval together
    n = len(sample.y_true)
    above = np.sum(sample.y_true[:, None] > sample.y_pred.reshape(n, -1), axis=0)
    sides = np.minimum(above, n - above)
    rarer = int(sides.sum() if function is winkler_loss else sides.min())
    if rarer >= MIN_EXCEEDANCES:
        return ""
    side = f"{rarer} of {n} samples lie on the rarer side of a predicted quantile"
    return f"No interval: {side}. The interval requires {MIN_EXCEEDANCES}."


def find_caution(metric: Callable[..., float], sample: Sample) -> str:
    """Return a sentence about samples with too much influence on the interval, or an empty one."""
    function, arguments = _table.unwrap(metric)
    row, (true, pred) = _table.find_row(function), sample[:2]
    if row is None or true.ndim > 1:
        return ""
    # few positives determine the whole average precision
    if function is average_precision_score:
        n_positive = int(np.sum(true == arguments.get("pos_label", 1)))
        if n_positive < FEW_POSITIVES and type_of_target(true) == "binary":
            return (
                f"{n_positive} positive samples are too few for a reliable interval for the "
                "average precision. It may be too narrow. Collect more positive samples."
            )
    # losses of a few samples may dominate the mean
    losses = None
    if function in _table.EXPLAINED_VARIANCES:
        losses = (true - pred) ** 2
    elif row.per_sample is not None and row.of_numbers and not row.greater_is_better:
        options = {key: arguments[key] for key in row.supported & set(arguments)}
        losses = row.per_sample(true, pred, **options)
    if losses is None or losses.ndim > 1 or not losses.any():
        return ""
    # how few samples make up half of the loss
    half = count_half(losses if sample.weight is None else losses * sample.weight)
    if half > max(1, FEW_LARGE * len(losses)):
        return ""
    return (
        f"Half of the loss comes from {half} of {len(losses)} samples, so the interval for the "
        "loss on new samples may be too narrow. Look at these samples, or collect more."
    )


def check_columns(
    metric: Callable[..., float] | None, true: NDArray[Any], name: str, pred: NDArray[Any]
) -> None:
    """Raise an error if true and predicted values look swapped, or labels cannot be compared."""
    _checks.refuse_swapped(name, true, pred)
    if metric is None:
        return
    # integers that are all true values are classes
    whole = true.dtype.kind in "biu" and pred.dtype.kind in "biu" and true.ndim == pred.ndim == 1
    if _table.unwrap(metric)[0] in _table.EXPLAINED_VARIANCES and whole and set(pred) <= set(true):
        raise ValueError(
            f"{name} must contain numbers for {repr_metric(metric)}, got integers that all occur "
            "in y_true, as classes do. For classes, use accuracy_score. For numbers, pass "
            f"{name}.astype(float)."
        )
    # labels are compared only for metrics of a confusion table
    row = _table.find_row(_table.unwrap(metric)[0])
    if row is None or row.from_table is None:
        return
    if true.ndim == pred.ndim == 1:
        _checks.check_comparable(true, name, pred)


def _describe_groups(
    metric: Callable[..., float], sample: Sample, units: sampling_units.DrawingUnits
) -> dict[str, Any]:
    """Return attributes that describe groups, that is, the correlation of errors within them.

    For accuracy and error rate, the effective number of independent samples is included.
    """
    fields: dict[str, Any] = {"n_groups": units.n_groups}
    row = _table.find_row(_table.unwrap(metric)[0])
    # only predicted labels and numbers are right or wrong, scores and regions are not
    if row is None or row.response != "predict" or row.function in _table.REGIONS:
        return fields
    # correlation of errors within groups
    differs = sample.y_true != sample.y_pred
    wrong = differs.reshape(len(differs), -1).mean(axis=1) if differs.ndim > 1 else 1.0 * differs
    spread = spread_of_mean(TestLosses(wrong, sample.weight, units.codes))
    share = float(np.average(wrong, weights=sample.weight))
    # an accuracy or error rate: ratio of its variances without and with groups
    if spread.variance > 0 and min(abs(sample.value - share), abs(1 - sample.value - share)) < 1e-9:
        alone = spread_of_mean(TestLosses(wrong, sample.weight)).variance
        fields["effective_n_samples"] = len(wrong) * min(1.0, alone / spread.variance)
    return fields | spread.groups


def _warn_if_undefined(form: Callable[[float], Limits], confidence_level: float) -> Limits:
    """Return the limits of an interval. Warn if they are nan."""
    limits = form(confidence_level)
    if np.isnan(limits).any():
        _checks.warn_undefined("The interval of the metric is undefined (nan) on these data.")
    return limits


def _check_lengths(y_true: Any, y_pred: Any) -> int:
    """Return the number of samples. Raise an error unless all arrays have one entry for each."""
    for name, values in (("y_true", y_true), ("y_pred", y_pred)):
        if isinstance(values, str | bytes) or values is None or np.isscalar(values):
            raise TypeError(f"{name} must have one entry per sample, got {values!r}.")
        _checks.check_complete(name, values)
    with _checks.naming("y_true", "y_pred"):
        check_consistent_length(y_true, y_pred)
        n: int = _compat.num_samples(y_true)
    return n


MAX_SHOWN = 16
"""Largest number of values of an argument that the name of a metric shows."""


def repr_metric(metric: Metric) -> str:
    """Return the name of a metric, with its fixed arguments."""
    if isinstance(metric, str):
        return metric
    function, arguments = _table.unwrap(metric)
    name = getattr(function, "__name__", repr(function))
    texts = {
        key: repr(value) if np.size(value) <= MAX_SHOWN else f"<{np.size(value)} values>"
        for key, value in arguments.items()
    }
    shown = ", ".join(f"{key}={text}" for key, text in texts.items())
    return f"{name}({shown})" if shown else name


@dataclass(frozen=True)
class MetricOfRows:
    """A metric as a function of the indices of selected samples, which workers can pickle.

    `values` contains one value for each sample if the metric is their mean. `sums` is set if the
    metric is a function of the sum of such values.
    """

    metric: Callable[..., float]
    y_true: Any
    y_pred: Any
    weight: Floats | None
    values: Any = None
    sums: Any = None

    def __call__(self, indices: NDArray[np.intp]) -> float:
        if self.sums is not None:
            # the metric is a function of sums over samples
            return float(self.sums.score(self.values[indices].sum(axis=0)))
        selected = None if self.weight is None else self.weight[indices]
        if selected is not None and not selected.any():
            return float("nan")  # a resample may draw only samples without weight
        if self.values is not None:
            # the metric is a mean of values of the samples
            return float(np.average(self.values[indices], weights=selected))
        options = {} if selected is None else {"sample_weight": selected}
        pair = tuple(_compat.safe_indexing(each, indices) for each in (self.y_true, self.y_pred))
        # 0/0 is undefined, unless the user chose the value by zero_division
        replaced = _table.unwrap(self.metric)[1].get("zero_division", "warn") != "warn"
        if not replaced and _table.explain_undefined(self.metric, *pair):
            return float("nan")
        score = self.metric(*pair, **options)
        if not np.isscalar(score) and np.ndim(score):
            raise TypeError(
                f"metric must return one number, got an array of shape {np.shape(score)}. Set its "
                "options with functools.partial, such as average='macro'."
            )
        return float(score)


def make_statistic(
    metric: Callable[..., float], y_true: Any, y_pred: Any, weight: Floats | None
) -> sampling_units.Statistic:
    """Return the metric as a function of the indices of selected samples."""
    sums = _table.find_sums(metric)
    if sums is None:
        values = find_sample_values(metric, y_true, y_pred, weight)
        return MetricOfRows(metric, y_true, y_pred, weight, values)
    if weight is not None:
        raise ValueError("sample_weight must be None for BLEU.")
    return MetricOfRows(metric, None, None, None, sums.read(y_true, y_pred), sums)


@contextmanager
def naming_cause(
    metric: Callable[..., float], true: NDArray[Any], pred: NDArray[Any], name: str = "y_pred"
) -> Iterator[None]:
    """Add the names of the metric and of a suspicious argument to an error of the metric."""
    try:
        yield
    except (TypeError, ValueError) as error:
        hint, row = "", _table.find_row(_table.unwrap(metric)[0])
        # probabilities for labels, one-hot labels, swapped arguments, or no positive class
        few_values = pred.ndim == 1 and len({*map(str, pred)}) <= len(pred) // 2
        of_regions = row is not None and row.function in _table.REGIONS
        if true.ndim == 1 and pred.shape[1:] == (2,) and not of_regions:
            wanted = f"that of the second, {name}[:, 1]"
            if row is not None and row.from_table is not None:
                wanted = f"the labels, classes[{name}.argmax(axis=1)]"
            hint = f". If {name} has a column for each class, pass {wanted}"
        elif true.ndim == 2 and pred.ndim == 1:
            hint = ". If y_true has a column for each class, pass y_true.argmax(axis=1)"
        elif true.dtype.kind == "f" and np.any(true % 1) and few_values:
            hint = f". y_true and {name} look swapped. The order is (y_true, {name})"
        elif "pos_label" in str(error):
            positive = np.unique(true).tolist()[-1]
            also = "" if pred.dtype.kind in "biuf" else f" and {name} == {positive!r}"
            hint = f". If {positive!r} is the positive class, pass y_true == {positive!r}{also}"
        kind = TypeError if isinstance(error, TypeError) else ValueError
        if not callable(metric):
            raise TypeError(f"metric must be a name or a function, got {metric!r}.") from error
        message = str(error).rstrip(".")
        raise kind(f"{repr_metric(metric)} of y_true and {name}: {message}{hint}.") from error


AGREEMENT = 1e-10


def find_metric(metric: Callable[..., float] | str) -> Callable[..., float]:
    """Return a metric, or the metric of a scorer or of its name.

    A loss has a name without the prefix of its scorer, and functions have their own. Metrics of
    segmentation masks get ``per_image=True``, because samples are images.
    """
    scorer: Any = metric
    if isinstance(metric, str):
        # a loss has the name of its scorer without the prefix
        loss = f"neg_{metric}"
        is_loss = row_of_scorer(loss) is not None
        try:
            scorer = get_scorer(loss if is_loss else metric)
        except ValueError as error:
            functions = {one.__name__: one for one in _table.ROWS}
            if metric in functions and not is_loss:
                return functions[metric]
            text = str(error).replace("scoring", "metric", 1).replace(repr(loss), repr(metric), 1)
            text, mean, names = text.partition("Did you")
            raise ValueError(text + mean + names.replace("'neg_", "'")) from None
        if is_loss:
            return _compat.metric_of_scorer(scorer)[0]
    if not _compat.is_plain_scorer(scorer):
        of_images = isfunction(metric) and "per_image" in signature(metric).parameters
        return partial(scorer, per_image=True) if of_images else scorer
    function, arguments, greater_is_better = _compat.metric_of_scorer(scorer)
    if isinstance(metric, str) and not greater_is_better:
        raise ValueError(
            f"metric={metric!r} must not be the negative of a loss. Pass the function "
            f"{function.__name__}, or its name, instead."
        )
    return partial(function, **arguments) if arguments else function


def find_sample_values(
    metric: Callable[..., float], y_true: Any, y_pred: Any, weight: Floats | None
) -> Floats | None:
    """Return per-sample values whose mean is the metric, or None if there are no such values.

    The mean is compared with the metric, because the metric's definition may differ for another
    version of scikit-learn or another shape of the data.
    """
    function, arguments = _table.unwrap(metric)
    row = _table.find_row(function)
    if row is None or row.per_sample is None or row.root:
        return None
    # one value for each sample
    try:
        columns = np.asarray(y_true), np.asarray(y_pred)
        values = _table.find_sample_losses(row, arguments, *columns)
    except (IndexError, TypeError, ValueError):
        return None
    if values.shape != (len(y_true),) or not np.isfinite(values).all():
        return None
    # their mean must be the metric
    options = {} if weight is None else {"sample_weight": weight}
    expected = float(metric(y_true, y_pred, **options))
    mean = np.average(values, weights=weight)
    return values if abs(mean - expected) <= AGREEMENT * max(1.0, abs(expected)) else None


def read_probabilities(
    metric: Callable[..., float] | None, name: str, y_true: Any, y_pred: Any
) -> Any:
    """Return predictions. If a metric requires probabilities, each row must sum to 1."""
    function, arguments = (None, {}) if metric is None else _table.unwrap(metric)
    row = None if function is None else _table.find_row(function)
    true, pred = make_column(y_true), make_column(y_pred)
    if row is not None and row.response == _table.SCORES:
        # labels give a single point of the curve
        few = true.ndim == pred.ndim == 1 and len(np.unique(pred[:100])) <= 2
        labels = np.unique(pred).tolist() if few else []
        if len(labels) == 2 and np.isin(labels, true).all():
            _checks.warn_user(
                f"the labels {labels[0]!r} and {labels[1]!r} of {name} give a single point of the "
                "curve. Pass probabilities or scores instead."
            )
        # swapped arguments have as many values as samples
        n_values = len(np.unique(true)) if true.ndim == 1 and function is roc_auc_score else 0
        several = 2 < n_values <= len(true) / 2
        if several and (pred.ndim == 1 or "multi_class" not in arguments):
            raise ValueError(
                "metric must be 'roc_auc_ovr' or 'roc_auc_ovo' for more than two classes, with one "
                f"column of probabilities per class, got {name} of shape {pred.shape}."
            )
    if row is None or pred.ndim != 2 or true.ndim != 1:
        return y_pred
    if pred.shape[1] == 2 and function in (roc_auc_score, average_precision_score):
        _checks.read_column(name, pred)  # raises with the remedy
    of_many = function is roc_auc_score and pred.shape[1] > 2
    # other metrics do not need probabilities of all classes
    if pred.shape[1] < 2 or not (of_many or row.response == "predict_proba"):
        return y_pred
    return _checks.check_rows(name, _checks.check_data(name, pred, dtype=np.float64))


def make_column(entries: Any) -> NDArray[Any]:
    """Return one entry per sample as an array, with dtype object if entries differ in length."""
    try:
        return np.asarray(entries)
    except ValueError:
        column = np.empty(len(entries), dtype=object)
        for row, entry in enumerate(entries):
            column[row] = entry
        return column


def make_plain(column: Any) -> Any:
    """Return a column in a form that any metric supports.

    Other dtypes (nullable, categorical, polars) become NumPy dtypes. Numbers and booleans stored
    as objects get their own dtype. Half precision becomes double, because squares would overflow.
    All other columns are returned unchanged.
    """
    if not isinstance(column, list | tuple) and np.shape(column)[1:] == (1,):  # a single column
        column = np.asarray(column)[:, 0]
    column = _checks.plain_text(column)
    if hasattr(column, "to_numpy") and not isinstance(getattr(column, "dtype", None), np.dtype):
        column = column.to_numpy() if np.ndim(column) == 1 else column
    elif hasattr(column, "to_numpy") and not hasattr(column, "iloc"):
        column = column.to_numpy()  # The index of a pandas frame has no rows to select.
    if getattr(column, "dtype", None) == np.float16:
        return column.astype(np.float64)
    objects = np.asarray(column) if getattr(column, "dtype", None) == np.dtype(object) else None
    if objects is not None and all(isinstance(item, Real | np.bool_) for item in objects.flat):
        return np.array(objects.tolist())
    return column


def has_classes(y_true: Any) -> bool:
    try:
        return type_of_target(y_true) in ("binary", "multiclass")
    except ValueError:  # These are texts, split into lists of several lengths.
        return False
