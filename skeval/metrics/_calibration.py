"""Calibration of predicted probabilities, curves, errors, decompositions and external validation.

In this order, the module contains:

- the validation and the bins of binary events
- the calibration curve and the expected calibration error
- the decomposition of a proper score into miscalibration, discrimination and uncertainty
- the measures of an external validation, with the logistic recalibration and the smooth
  calibration curve from which they are computed
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit
from sklearn.isotonic import isotonic_regression

from skeval._inference import calibration, intervals
from skeval._inference.errors import TestLosses, spread_of_mean
from skeval._inference.estimate import Curve, Estimate, Results
from skeval._inference.intervals import Codes, Limits, Spread, size_from_weights
from skeval.metrics._curves import CurveSample, check_curve_sample, warn_of_other_class
from skeval.metrics._regression import PROBABILITY_LOSSES, read_columns
from skeval.utils import _checks
from skeval.utils._checks import CONSTRAINTS, RandomStateLike, validate_params
from skeval.utils._compat import StrOptions

ProperLoss = Literal["brier", "log_loss"]

Decomposition = Literal["corp", "murphy"]

Binning = Literal["quantile", "uniform"]

Floats = NDArray[np.float64]


def check_events(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    pos_label: object,
    labels: ArrayLike | None,
    sample_weight: ArrayLike | None,
    groups: Any = None,
) -> tuple[CurveSample, object]:
    """Return events with probabilities, and the positive class, or None for top-label events.

    Samples of weight 0 are omitted.
    """
    # one column for each class, or the column of one class
    proba = _checks.check_data("y_proba", y_proba, ensure_2d=False, dtype=np.float64)
    event, label = y_true, pos_label
    if proba.ndim == 2 and proba.shape[1] > 1:
        _checks.check_same_length(y_true=y_true, y_proba=proba)
        y, proba = _checks.check_y("y_true", y_true), _checks.check_rows("y_proba", proba)
        classes = read_columns("y_proba", proba, y, labels)
        # the event is the top label, or one class
        if pos_label is None:
            event, proba = y == classes[proba.argmax(axis=1)], proba.max(axis=1)
        elif pos_label in classes.tolist():
            event, proba = y == pos_label, proba[:, classes.tolist().index(pos_label)]
        else:
            names = classes.tolist()[:10]
            raise ValueError(f"pos_label must be one of {names}, got {pos_label!r}.")
        label = True
    elif labels is not None:
        raise ValueError("labels must be None if y_proba has one column.")
    elif pos_label is None:
        pos_label = 1  # or an error, by the next call
    # samples that have weight
    events = check_curve_sample(
        event, proba, label, sample_weight, groups, name="y_proba", one_class=True
    )
    _checks.check_probabilities("y_proba", events.score)
    if pos_label is not None:  # top labels have no other class
        warn_of_other_class("y_proba", events)
    return events, pos_label


def find_bin_sizes(events: CurveSample, bins: Binned, confidence_level: float) -> Floats:
    """Return bin sizes that let normal intervals account for groups.

    A bin size is the effective sample size divided by the square of the ratio of Student's t
    quantile to the normal quantile. A bin with one group counts as one sample.
    """
    size = bins.effective.copy()
    if events.group is None:
        return size
    # variance between groups of the fraction in each bin
    data = events.positive, events.group, events.weight, bins.place
    spreads = intervals.spreads_of_cells(np.array([0.0, 1.0]), *data)
    for k, (observed, spread) in enumerate(zip(bins.observed.tolist(), spreads, strict=True)):
        if spread.n_groups == 1:
            size[k] = 1.0
            continue
        # size with the same normal interval as Student's t of the groups
        quantile = intervals.normal_quantile(confidence_level, spread.degrees_of_freedom)
        widening = quantile / intervals.normal_quantile(confidence_level)
        effective = intervals.size_of_proportion(observed, spread.error, size[k], spread.n_groups)
        size[k] = effective / widening**2
    return size


@dataclass(frozen=True, eq=False)
class BinsExtra:
    """Binning of a calibration curve, its positive class, and the event probabilities.

    The positive class is None for top-label events.
    """

    strategy: str
    pos_label: Any
    y_proba: NDArray[np.float64]
    sample_weight: NDArray[np.float64]


class Binned(NamedTuple):
    """Events in non-empty bins of their probability.

    Attributes
    ----------
    place : int ndarray of shape (n_samples,)
        Bin of each event.
    edges : ndarray of shape (n_bins, 2)
        A bin contains values above its first edge, up to and including its second. The first bin
        also includes its first edge.
    counts : int ndarray of shape (n_bins,)
        Number of samples.
    share : ndarray of shape (n_bins,)
        Fraction of the total weight.
    effective : ndarray of shape (n_bins,)
        Effective sample size, (sum w)^2 / sum w^2.
    predicted, observed : ndarray of shape (n_bins,)
        Mean probability and observed event fraction.
    """

    place: NDArray[np.intp]
    edges: Floats
    counts: NDArray[np.intp]
    share: Floats
    effective: Floats
    predicted: Floats
    observed: Floats


def bin_events(events: CurveSample, n_bins: int, strategy: str) -> Binned:
    """Return the events in bins of equal width or of equal weight."""
    p, weight = events.score, events.weight
    edges = shares = np.linspace(0, 1, n_bins + 1)
    if strategy == "quantile":
        order = np.argsort(p)
        ranked, cumulative = p[order], np.cumsum(weight[order])
        # the smallest probability with this fraction of the weight at or below it
        at = np.searchsorted(cumulative, shares * cumulative[-1] - SAME_WEIGHT)
        edges = ranked[np.minimum(at, len(p) - 1)]
    # number the bins that are not empty
    place = np.searchsorted(edges[1:-1], p)
    is_filled = np.bincount(place) > 0
    filled = np.flatnonzero(is_filled)
    place = place if is_filled.all() else (np.cumsum(is_filled) - 1)[place]
    # weighted sums by bin
    total = np.bincount(place, weight)
    return Binned(
        place,
        np.column_stack([edges[filled], edges[filled + 1]]),
        np.bincount(place),
        total / total.sum(),
        total**2 / np.bincount(place, weight**2),
        np.clip(np.bincount(place, weight * p) / total, 0.0, 1.0),
        np.bincount(place, weight * events.positive) / total,
    )


SAME_WEIGHT = 1e-6
"""Largest relative differences of weights that move no sample to another bin."""


@validate_params(CONSTRAINTS)
def reliability_curve(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    n_bins: int = 10,
    strategy: Binning = "quantile",
    confidence_level: float = 0.95,
    pos_label: object = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> Curve:
    r"""Return observed event fractions in bins of the predicted probability, with intervals.

    The bins are `b` and the sample weights `w`. Then

    .. math:: \bar p_b = \frac{\sum_{i \in b} w_i p_i}{\sum_{i \in b} w_i}, \qquad
              \bar y_b = \frac{\sum_{i \in b} w_i y_i}{\sum_{i \in b} w_i},

    where :math:`y_i` is 1 if the event happened. A model is calibrated if events happen as often
    as predicted, that is, if the expected value of :math:`\bar y_b` is :math:`\bar p_b`.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes.
    y_proba : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probabilities of the positive class, or of each class.
    n_bins : int, default=10
        Number of bins. Empty bins are omitted.
    strategy : {"quantile", "uniform"}, default="quantile"
        "quantile" forms bins with equal numbers of samples, "uniform" bins of equal width. A
        quantile is the smallest probability with at least the required fraction of the weight at
        or below it. Integer weights are therefore equivalent to repeated samples. In contrast,
        :func:`sklearn.calibration.calibration_curve` interpolates, which can move a sample to
        another bin if equal numbers are impossible.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1, in each bin separately.
    pos_label : int, float, bool or str, default=None
        The positive class. If `y_proba` has one column, None means 1 if `y_true` takes values in
        {0, 1} or {-1, 1}. If `y_proba` has several columns and `pos_label` is None, the event is
        that the class with the largest probability is the true class.
    labels : array-like of shape (n_classes,), default=None
        Class of each column of `y_proba`. None means the sorted classes of `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. The effective size of a bin is :math:`(\sum w)^2 / \sum w^2`, so only the
        ratios of weights matter.
    groups : array-like of shape (n_samples,) or (n_samples, n_kinds), default=None
        Group of each sample, such as the patient. Several columns are nested or crossed groups. See
        :doc:`/user_guide/dependence`. The interval and the band use the effective sample size of
        each bin, with Student's t quantile. A bin with one group counts as one sample.

    Returns
    -------
    curve : Curve
        Curve with the mean predicted probability `x`, the observed fraction `y` and its limits
        `low` and `high`, for each non-empty bin. `columns` contains the bin edges ``above`` and
        ``up_to`` and the number of samples ``count``. It also contains the band for the observed
        fraction of a calibrated model, ``calibrated_low`` to ``calibrated_high``, and whether the
        observed fraction lies ``inside`` this band. `extra` has the `strategy`, `pos_label` (None
        for top-label events), the event probabilities `y_proba` and their `sample_weight`. These
        weights are divided by the largest weight, and samples of weight 0 are omitted.

    Raises
    ------
    ValueError
        If a probability is outside [0, 1], or classes and columns do not match.

    See Also
    --------
    ReliabilityDisplay : Draws the curve.
    expected_calibration_error : Mean distance of the curve from the diagonal.

    Notes
    -----
    *The interval* of Clopper and Pearson is for the mean true probability of the samples in the
    bin. Wilson's interval would have less than nominal coverage in bins of few samples.
    :doc:`/validation` has the coverage of both.

    *The band* covers the observed fraction of a calibrated model with probability at least
    `confidence_level`, separately in each bin. It uses the exact distribution of the number of
    events, which is Poisson-binomial with the probabilities :math:`p_i`. The bars of [1]_ simulate
    this distribution. With unequal weights, a beta distribution with the same mean and variance is
    used as an approximation, which is poor if one weight dominates. With ten bins, the curve of a
    calibrated model often leaves the band in one of them.

    References
    ----------
    .. [1] Bröcker, J. and Smith, L. A. (2007). Increasing the reliability of reliability diagrams.
       Weather and Forecasting 22, 651-661. https://doi.org/10.1175/WAF993.1
    .. [2] Brown, L. D., Cai, T. T. and DasGupta, A. (2001). Interval estimation for a binomial
       proportion. Statistical Science 16, 101-133. https://doi.org/10.1214/ss/1009213286

    Examples
    --------
    >>> from skeval.metrics import reliability_curve
    >>> y = [0, 0, 0, 1, 0, 1, 1, 1]
    >>> p = [0.1, 0.1, 0.2, 0.3, 0.6, 0.7, 0.8, 0.8]
    >>> print(reliability_curve(y, p, n_bins=2))
    calibration curve
    strategy quantile
    pos label 1
    mean predicted  observed  95 % interval      above   up to  count  calibrated low ...
            0.1750    0.2500  [0.0063, 0.8059]  0.1000  0.3000      4          0.0000 ...
            0.7250    0.7500  [0.1941, 0.9937]  0.3000  0.8000      4          0.2500 ...
    """
    events, pos_label = check_events(y_true, y_proba, pos_label, labels, sample_weight, groups)
    bins = bin_events(events, n_bins, strategy)
    sizes = find_bin_sizes(events, bins, confidence_level)
    limits, band = [], []
    for k, (share, size) in enumerate(zip(bins.observed, sizes, strict=True)):
        # observed fraction, as a proportion of the effective bin size
        limits.append(intervals.exact_interval(share * size, size, confidence_level))
        # observed fraction of a calibrated model
        inside, larger = bins.place == k, bins.effective[k] / size
        data = events.score[inside], events.weight[inside]
        band.append(calibration.share_limits(*data, confidence_level, larger))
    (low, high), (band_low, band_high) = np.array(limits).T, np.array(band).T
    # bins outside the band contradict calibration
    below = bins.observed < band_low - intervals.ROUNDING
    above = bins.observed > band_high + intervals.ROUNDING
    return Curve(
        name="calibration curve",
        axes=("mean_predicted", "observed"),
        x=bins.predicted,
        y=bins.observed,
        low=low,
        high=high,
        confidence_level=confidence_level,
        method="clopper_pearson",
        columns={
            "above": bins.edges[:, 0],
            "up_to": bins.edges[:, 1],
            "count": bins.counts,
            "calibrated_low": band_low,
            "calibrated_high": band_high,
            "inside": ~(below | above),
        },
        extra=BinsExtra(strategy, pos_label, events.score, events.weight),
    )


@validate_params(CONSTRAINTS)
def expected_calibration_error(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    n_bins: int = 10,
    strategy: Binning = "quantile",
    confidence_level: float = 0.95,
    pos_label: object = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> Estimate:
    r"""Return the mean distance between predicted probability and observed fraction over bins.

    The bins are the same as in `reliability_curve`. If :math:`s_b` is the fraction of the weight in
    bin `b`,

    .. math:: ECE = \sum_b s_b\, |\bar y_b - \bar p_b| .

    The result lies in [0, 1]. The best value is 0. The error estimates the distance of the true
    probabilities, :math:`\theta = \sum_b s_b |\bar\pi_b - \bar p_b|`. It is biased upward, because
    random variation produces distances even for a calibrated model. `by_chance` is the expected
    error of a calibrated model.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes.
    y_proba : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probabilities of the positive class, or of each class.
    n_bins : int, default=10
        Number of bins.
    strategy : {"quantile", "uniform"}, default="quantile"
        "quantile" forms bins with equal numbers of samples, "uniform" bins of equal width.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    pos_label : int, float, bool or str, default=None
        The positive class. If `y_proba` has one column, None means 1 if `y_true` takes values in
        {0, 1} or {-1, 1}. If `y_proba` has several columns and `pos_label` is None, the event is
        that the class with the largest probability is the true class.
    labels : array-like of shape (n_classes,), default=None
        Class of each column of `y_proba`. None means the sorted classes of `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. Only their ratios matter.
    groups : array-like of shape (n_samples,) or (n_samples, n_kinds), default=None
        Group of each sample, such as the patient. Several columns are nested or crossed groups. See
        :doc:`/user_guide/dependence`. The interval uses the effective sample size of each bin.

    Returns
    -------
    Estimate
        Estimate with the error as `value` and the `interval` for the true distance :math:`\theta`.
        The standard error is nan. `details` contains the bias-corrected distance ``corrected``,
        which is 0 if the error is smaller than expected by chance, and ``by_chance``, the expected
        error of a calibrated model. It also contains ``n_bins``, the number of non-empty bins, and
        ``pos_label``.

    Raises
    ------
    ValueError
        If a probability is outside [0, 1], or classes and columns do not match.

    See Also
    --------
    score_decomposition : Computes miscalibration without bins.

    Notes
    -----
    *Bias.* In a bin of :math:`n_b` samples the observed fraction is :math:`X_b / n_b` with a
    binomial :math:`X_b`, so the expected error can be computed from the true distances.
    `corrected` is the mean true distance for which the expected error equals the observed error.
    It may still be inaccurate. It is too small if most of the error is due to chance. For a
    calibrated model, it is above 0 in some data sets.

    *Interval.* The limits are the largest and the smallest mean true distance that fit the
    observed error. A distance fits if the observed error deviates from its expected value by at
    most the normal quantile times the standard deviation. For the upper limit, the distance is
    distributed over the bins such that chance adds least, and errors below `by_chance` are
    replaced by it. For the lower limit, the distance is distributed as observed. The interval is
    for :math:`\theta` of the drawn samples. :doc:`/validation` has its coverage. With unequal
    weights, the effective size of a bin is :math:`(\sum w)^2 / \sum w^2`.

    References
    ----------
    .. [1] Guo, C., Pleiss, G., Sun, Y. and Weinberger, K. Q. (2017). On calibration of modern
       neural networks. ICML 2017. https://proceedings.mlr.press/v70/guo17a.html
    .. [2] Kumar, A., Liang, P. and Ma, T. (2019). Verified uncertainty calibration. NeurIPS 2019.
       https://arxiv.org/abs/1909.10155

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.metrics import expected_calibration_error
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(200)
    >>> y = rng.random(200) < p  # calibrated
    >>> print(expected_calibration_error(y, p))
    expected calibration error (quantile)
      value           0.0532
      standard error  unknown
      95 % interval   [0.0000, 0.1085] (test_inversion)
      samples         200
      corrected       0.0000
      by chance       0.0682
      bins            10
      pos label       1
    """
    events, pos_label = check_events(y_true, y_proba, pos_label, labels, sample_weight, groups)
    binned = bin_events(events, n_bins, strategy)
    sizes = find_bin_sizes(events, binned, confidence_level)
    bins = calibration.Bins(binned.share, sizes, binned.predicted, binned.observed)
    # true distances of the bins, without the part due to chance
    distances = calibration.shrink_distances(bins)
    return Estimate(
        name="expected calibration error",
        value=float(bins.share @ np.abs(bins.observed - bins.predicted)),
        standard_error=np.nan,
        method=strategy,
        limits={"test_inversion": partial(calibration.gap_limits, bins, distances)},
        n_samples=len(events.positive),
        details={
            "corrected": calibration.smallest_gap(bins, distances),
            "by_chance": float(calibration.gap_moments(bins, bins.predicted)[0]),
            "n_bins": len(binned.counts),
            "pos_label": pos_label,
        },
        confidence_level=confidence_level,
    )


@validate_params(
    CONSTRAINTS
    | {"loss": [StrOptions(set(PROBABILITY_LOSSES))], "method": [StrOptions({"corp", "murphy"})]}
)
def score_decomposition(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    loss: ProperLoss = "brier",
    method: Decomposition = "corp",
    n_bins: int = 10,
    strategy: Binning = "quantile",
    pos_label: object = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Results:
    r"""Split the Brier score or log loss into miscalibration, discrimination and uncertainty.

    Let :math:`\bar S(q)` be the mean score of probabilities `q`. Let :math:`c` be the recalibrated
    probabilities, :math:`g` the predicted probabilities averaged in each bin, and :math:`\bar y`
    the event frequency. Then

    .. math:: \bar S(p) = [\bar S(g) - \bar S(c)] - [\bar S(\bar y) - \bar S(c)]
              + \bar S(\bar y) + [\bar S(p) - \bar S(g)] .

    The four terms are the miscalibration, the discrimination, the uncertainty, and the variation
    within bins.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes.
    y_proba : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probabilities of the positive class, or of each class.
    loss : {"brier", "log_loss"}, default="brier"
        The score. It is :math:`(p - y)^2`, or :math:`-\log` of the probability of the observed
        outcome. As in scikit-learn, the log loss clips probabilities to a distance of 2.2e-16 from
        0 and 1.
    method : {"corp", "murphy"}, default="corp"
        "corp" recalibrates by isotonic regression [1]_, without bins (:math:`g = p`). "murphy"
        recalibrates by the observed fraction of each bin [2]_.
    n_bins : int, default=10
        Number of bins for "murphy".
    strategy : {"quantile", "uniform"}, default="quantile"
        Bins for "murphy". "quantile" forms bins with equal numbers of samples, "uniform" bins of
        equal width.
    pos_label : int, float, bool or str, default=None
        The positive class. If `y_proba` has one column, None means 1 if `y_true` takes values in
        {0, 1} or {-1, 1}. If `y_proba` has several columns and `pos_label` is None, the event is
        that the class with the largest probability is the true class.
    labels : array-like of shape (n_classes,), default=None
        Class of each column of `y_proba`. None means the sorted classes of `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. Only their ratios matter.

    Returns
    -------
    dict
        The ``score``, where smaller is better, and its components. ``miscalibration`` is the gain
        from recalibration (Murphy's reliability). ``discrimination`` is the gain of the
        recalibrated probabilities over the event frequency (resolution). ``uncertainty`` is the
        score of the event frequency. ``within_bins`` is the variation within bins, which is 0
        without bins or if each bin has a single probability. ``n_bins`` is the number of distinct
        recalibrated probabilities.

    Raises
    ------
    ValueError
        If a probability is outside [0, 1], or classes and columns do not match.

    See Also
    --------
    reliability_curve : Shows which probabilities are miscalibrated.

    Notes
    -----
    The components of "corp" are never negative and do not depend on bins. Both methods recalibrate
    and evaluate on the same samples, so miscalibration and discrimination are biased upward by the
    same amount. This bias is larger in smaller samples. Even a calibrated model has a
    miscalibration above 0.

    For the Brier score, `within_bins` is the within-bin variance minus the within-bin covariance
    of Stephenson, Coelho and Jolliffe [3]_. It is needed because Murphy's three terms do not add
    up if a bin contains different probabilities.

    References
    ----------
    .. [1] Dimitriadis, T., Gneiting, T. and Jordan, A. I. (2021). Stable reliability diagrams for
       probabilistic classifiers. Proceedings of the National Academy of Sciences 118, e2016191118.
       https://doi.org/10.1073/pnas.2016191118
    .. [2] Murphy, A. H. (1973). A new vector partition of the probability score. Journal of Applied
       Meteorology 12, 595-600.
       https://doi.org/10.1175/1520-0450(1973)012<0595:ANVPOT>2.0.CO;2
    .. [3] Stephenson, D. B., Coelho, C. A. S. and Jolliffe, I. T. (2008). Two extra components in
       the Brier score decomposition. Weather and Forecasting 23, 752-757.
       https://doi.org/10.1175/2007WAF2006116.1

    Examples
    --------
    >>> from skeval.metrics import score_decomposition
    >>> y = [0, 0, 0, 1, 0, 1, 1, 1]
    >>> p = [0.1, 0.1, 0.2, 0.3, 0.6, 0.7, 0.8, 0.8]
    >>> print(score_decomposition(y, p))
    score           0.1350
    miscalibration  0.0725
    discrimination  0.1875
    uncertainty     0.2500
    within_bins     0.0000
    n_bins          3
    """
    events, pos_label = check_events(y_true, y_proba, pos_label, labels, sample_weight)
    predicted, weight = events.score, events.weight
    if method == "corp":
        # event fraction as an isotonic function of the predicted probability
        place = np.unique(predicted, return_inverse=True)[1].reshape(-1)
        total = np.bincount(place, weight)
        fraction = np.bincount(place, weight * events.positive) / total
        fitted = isotonic_regression(fraction, sample_weight=total, y_min=0.0, y_max=1.0)
        recalibrated = fitted[place]
        n_groups = len(np.unique(recalibrated))
    else:
        # mean prediction and observed fraction of each bin
        bins = bin_events(events, n_bins, strategy)
        predicted, recalibrated = bins.predicted[bins.place], bins.observed[bins.place]
        n_groups = len(bins.counts)
    # mean scores of the predicted, binned, recalibrated and constant probabilities
    frequency = np.full_like(predicted, np.average(events.positive, weights=weight))
    scores = []
    for probability in (events.score, predicted, recalibrated, frequency):
        columns = np.column_stack([1 - probability, probability])
        losses = PROBABILITY_LOSSES[loss](events.positive.astype(np.intp), columns)
        scores.append(float(np.average(losses, weights=weight)))
    # the terms of the decomposition are differences of these mean scores
    score, binned_score, best_score, uncertainty = scores
    return Results(
        score=score,
        miscalibration=binned_score - best_score,
        discrimination=uncertainty - best_score,
        uncertainty=uncertainty,
        within_bins=score - binned_score,
        n_bins=n_groups,
    )


CERTAIN = 1e-8
"""Distance from 0 and 1 to which probabilities are clipped, because log-odds are infinite there."""
N_DRAWS, N_CUTS, STEPS = 400, 200, 14
"""Number of curves drawn per test, grid points of a curve, and bisection steps per limit."""
MIN_EVENTS = 30
"""Smallest class size for a spline with 4 knots. Smaller classes use fewer knots."""
KNOTS = {4: (0.05, 0.35, 0.65, 0.95), 3: (0.1, 0.5, 0.9), 2: (0.25, 0.75)}
"""Quantiles of the log-odds at which a spline has its knots, by their number."""
SHARES = {"ici": None, "e50": 0.5, "e90": 0.9}
"""Quantile of the distances from the smooth curve for each measure. None means the mean."""


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

    The measures below use the log-odds :math:`l_i` of the probability :math:`p_i`:

    - ``observed_expected`` is :math:`\sum y_i / \sum p_i`. The best value is 1.
    - ``in_the_large`` is the :math:`\alpha` of :math:`logit\, P(y_i = 1) = \alpha + l_i`. The best
      value is 0. If it is above 0, events happen more often than predicted.
    - ``intercept`` and ``slope`` are a and b of :math:`logit\, P(y_i = 1) = a + b\, l_i`. The best
      values are 0 and 1. If the slope is below 1, the probabilities are too extreme.
    - ``ici``, ``e50`` and ``e90`` are the mean, the median and the 90 % quantile of the distance
      :math:`|p_i - \hat c(p_i)|` from a smooth calibration curve. The best value is 0.
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
        Sample weights. They are not frequency weights (numbers of copies of a sample).
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as the patient. The variance is computed between groups, with
        Student's t quantile.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call. Only the intervals of
        ``ici``, ``e50`` and ``e90`` depend on them.

    Returns
    -------
    dict of str to Estimate
        The measures, with the names above as keys.

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
        If the probabilities separate the classes, because the slope is then undefined.

    See Also
    --------
    reliability_curve : Shows which probabilities are miscalibrated.

    Notes
    -----
    Variances are robust, and clustered by `groups` if passed. Each interval respects the range of
    its measure. It is Rao's score interval for ``observed_expected`` and ``in_the_large``, and the
    profile-likelihood interval for intercept and slope (with groups, Student's t interval). Its
    width is scaled by the ratio of the robust variance to the model-based variance.

    The smooth curve for ``ici``, ``e50`` and ``e90`` is a logistic regression on a restricted
    cubic spline of the log-odds. It has 4 knots, or 3 if a class has fewer than 30 samples [1]_
    [2]_. Random variation produces distances even for calibrated probabilities.
    ``details["by_chance"]`` is the median distance in that case. The interval is the inversion of
    a test. ``details["curve"]`` is the curve with a pointwise interval.

    :doc:`/user_guide/formulas` has the details. :doc:`/validation` has the measured coverage,
    which is below nominal with five events or fewer.

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
    _checks.check_probabilities("y_proba", sample.score)
    warn_of_other_class("y_proba", sample)
    return measure_calibration(sample, random_state)


def measure_calibration(sample: CurveSample, random_state: RandomStateLike) -> Results:
    """Return the calibration measures of a validated sample."""
    p, confidence_level = sample.score, sample.confidence_level
    # log-odds of 0 and 1 are infinite
    n_certain = int(np.sum((p < CERTAIN) | (p > 1 - CERTAIN)))
    if n_certain:
        _checks.warn_user(f"{n_certain} probabilities of 0 or 1 were clipped to {CERTAIN:g}.")
    # weights that sum to the effective sample size
    weight, ranked = sample.weight, sample.ranked
    scale = float(weight.sum() / (weight @ weight))
    events, others = scale * ranked.positives, scale * ranked.negatives
    squared = ranked.weigh((scale * weight) ** 2)
    squares = squared.positives, squared.negatives
    masses = calibration.Masses(_find_odds(ranked.score), events, others, squares)
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
    return logit(p.clip(CERTAIN, 1 - CERTAIN))


def find_recalibration(y: NDArray[np.bool_], p: Floats, weight: Floats) -> Floats:
    """Return intercept and slope of the event log-odds on the predicted ones, nan if undefined."""
    events, others = weight * y, weight * ~y
    masses = calibration.Masses(_find_odds(p), events, others, (events**2, others**2))
    optimum = calibration.maximize(masses, calibration.make_line, np.zeros(2), [0, 1])
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
    masses: calibration.Masses

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
    """Return the observed divided by the expected number of events.

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
    """Return the two-sided normal quantile, or Student's t quantile with groups."""
    return intervals.normal_quantile(confidence_level, spread.degrees_of_freedom)


class Logit(NamedTuple):
    """Logistic regression, with coefficients and their model-based covariance.

    `squares` is the sum of squared score vectors. `model` and `squares` cover only the
    coefficients `free`. `masses` contains the log-odds of the fit.
    """

    coefficients: Floats
    likelihood: float
    model: Floats
    squares: Floats
    free: list[int]
    design: calibration.Design
    masses: calibration.Masses

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


def fit_logistic(
    data: Validated, design: calibration.Design, start: Floats, free: list[int]
) -> Logit | None:
    """Return the logistic regression of the events on a design, or None if it does not exist."""
    # maximum of the likelihood
    optimum = calibration.maximize(data.masses, design, start, free)
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
    fit = fit_logistic(data, calibration.make_line, np.array([0.0, 1.0]), [0])
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
        passed = calibration.pass_over(fit.masses, calibration.make_line, np.array([shift, 1.0]))
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
    fit = fit_logistic(data, calibration.make_line, np.zeros(2), [0, 1])
    if fit is None:
        _checks.warn_undefined(
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
        optimum = calibration.maximize(fit.masses, calibration.make_line, start, [1 - at])
        return np.inf if optimum is None else 2 * (fit.likelihood - optimum[1].likelihood) - bound

    step = float(bound * fit.model[at, at]) ** 0.5
    low, high = (_cross(excess, best, side, step) for side in (-1, 1))
    return low, high


def _summarize(distances: Floats, share: float | None) -> Floats:
    """Return the mean or a quantile over the last axis."""
    return distances.mean(axis=-1) if share is None else np.quantile(distances, share, axis=-1)


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
    return float(np.interp(middle[0] + share * (middle[-1] - middle[0]), middle, distances[order]))


def _measure_distances(
    data: Validated, grid: Floats, confidence_level: float, random_state: RandomStateLike
) -> dict[str, Measure]:
    """Return the distances of the smooth calibration curve from the diagonal."""
    # regression on the spline with the most knots that the data support
    n_events = int(np.count_nonzero(data.y))
    n_smaller = min(n_events, len(data.y) - n_events)
    for n_knots, shares in KNOTS.items():
        knots = np.quantile(grid, shares)
        is_small = n_knots > 3 and n_smaller < MIN_EVENTS
        if is_small or len(np.unique(knots)) < n_knots:
            continue
        start = np.eye(1, max(2, n_knots), 1)[0]  # intercept 0, slope 1
        fit = fit_logistic(
            data, partial(calibration.make_spline, knots=knots), start, list(range(len(start)))
        )
        if fit is not None:
            break
    else:
        return dict.fromkeys(SHARES, NOTHING)
    # draws from the robust distribution of the coefficients
    rng = _checks.repetition_rng(_checks.root_seed(random_state), 0)
    drawn = rng.standard_normal((N_DRAWS, len(fit.coefficients)))
    spread = fit.spread(data)
    degrees = spread.degrees_of_freedom
    # the robust covariance is too small for few events or groups
    n_units = n_smaller if spread.n_groups is None else min(n_smaller, spread.n_groups)
    covariance = spread.covariance * n_units / max(n_units - len(fit.coefficients), 1)
    if np.isfinite(degrees):
        drawn /= np.sqrt(rng.chisquare(degrees, (N_DRAWS, 1)) / degrees)
    # a root of the covariance turns the draws
    scale, turn = np.linalg.eigh(covariance)
    noise = drawn @ (turn * np.sqrt(scale.clip(0))).T
    # curves from the calibrated to the fitted one, on the grid and on all samples
    ray = Ray(calibration.make_spline(grid, knots).T, expit(grid), fit.coefficients, noise)
    odds = logit(data.p)
    everything = Ray(calibration.make_spline(odds, knots).T, expit(odds), fit.coefficients, noise)
    # the smooth curve with a pointwise interval
    p, first = np.unique(ray.p, return_index=True)
    design = ray.design[first]
    line = design @ ray.fitted
    error = np.sqrt(np.sum((design @ covariance) * design, axis=1).clip(0))
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
    """Family of curves from the calibrated curve (0) to the fitted curve (1) and beyond.

    Attributes
    ----------
    design : ndarray of shape (n_cuts, n_terms)
        Spline terms at the grid points.
    p : ndarray of shape (n_cuts,)
        Probabilities at the grid points.
    fitted : ndarray of shape (n_terms,)
    noise : ndarray of shape (n_draws, n_terms)
        Simulated deviations from the true coefficients, if these are the fitted ones.
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
        """Return the distances of curves that would be fitted if this curve were true.

        The deviations of the fitted curve are scaled by the information of both curves. Otherwise,
        fewer events than predicted make the deviations from the calibrated curve too large.
        """
        # roots of the information of the fitted and of this curve
        roots = []
        for at in (1.0, place):
            chance = expit(self.design @ self.at(at)).clip(CERTAIN, 1 - CERTAIN)
            terms = self.design * np.sqrt(chance * (1 - chance))[:, None]
            roots.append(np.linalg.qr(terms, mode="r"))
        noise = np.linalg.solve(roots[1], roots[0] @ self.noise.T).T
        return np.abs(expit((self.at(place) + noise) @ self.design.T) - self.p)


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
    places = np.linspace(fails, works, 2**STEPS + 1)
    return float(places[bisect_left(places, True, hi=len(places) - 1, key=condition)])


def _scale_brier(data: Validated) -> Measure:
    """Return 1 minus the ratio of the Brier score to the score of the constant event rate.

    The linear approximation of the ratio has no variance if the probabilities equal the observed
    fraction. However, that fraction `m` differs from the true one by its standard error `s`. The
    true ratio may exceed the observed one by the factor ``1 + z^2 s^2 / (m (1 - m))``.
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
