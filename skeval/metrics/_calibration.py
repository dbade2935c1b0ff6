"""Calibration of predicted probabilities, curves, errors and score decompositions.

The module contains, in this order, the validation of binary events and their bins, the calibration
curve, the expected calibration error, and the decomposition of a proper score into miscalibration,
discrimination and uncertainty.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.isotonic import isotonic_regression
from sklearn.utils import check_consistent_length

from skeval._inference import calibration, intervals
from skeval._inference.calibration import Bins
from skeval._inference.estimate import Curve, Estimate, Results
from skeval.metrics._curves import CurveSample, check_curve_sample, warn_of_other_class
from skeval.metrics._regression import PROBABILITY_LOSSES
from skeval.utils import _checks
from skeval.utils._arrays import CONSTRAINTS, validate_params
from skeval.utils._checks import Binning, Decomposition, ProperLoss
from skeval.utils._compat import StrOptions

Floats = NDArray[np.float64]


def check_events(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    pos_label: object,
    labels: ArrayLike | None,
    sample_weight: ArrayLike | None,
    groups: Any = None,
) -> tuple[CurveSample, object]:
    """Return events with probabilities, and the positive class, None for top-label events.

    Samples of weight 0 are left out.
    """
    # one column for each class, or the column of one class
    proba = _checks.check_data("y_proba", y_proba, ensure_2d=False, dtype=np.float64)
    event, label = y_true, pos_label
    if proba.ndim == 2 and proba.shape[1] > 1:
        event, proba = _check_columns(y_true, proba, pos_label, labels)
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


def _check_columns(
    y_true: ArrayLike, columns: Floats, pos_label: object, labels: ArrayLike | None
) -> tuple[NDArray[np.bool_], Floats]:
    """Return whether y is `pos_label`, or the top label without one, and its probability."""
    with _checks.naming("y_true", "y_proba"):
        check_consistent_length(y_true, columns)
    # classes of the rows and of the columns
    y = _checks.check_y("y_true", y_true)
    columns = _checks.check_rows("y_proba", columns)
    classes = np.unique(y) if labels is None else _checks.check_y("labels", labels)
    if len(classes) != columns.shape[1] or len(set(classes.tolist())) < len(classes):
        raise ValueError(
            f"labels must name the class of each of the {columns.shape[1]} columns of y_proba "
            f"once, got {classes.tolist()[:10]}{' from y_true' if labels is None else ''}."
        )
    if not set(y.tolist()) <= set(classes.tolist()):
        raise ValueError(
            f"y_true must contain only the labels {classes.tolist()[:10]}, got others."
        )
    # the event is the top label, or one class
    if pos_label is None:
        return y == classes[columns.argmax(axis=1)], columns.max(axis=1)
    if pos_label not in classes.tolist():
        raise ValueError(f"pos_label must be one of {classes.tolist()[:10]}, got {pos_label!r}.")
    return y == pos_label, columns[:, classes.tolist().index(pos_label)]


def find_bin_sizes(events: CurveSample, bins: Binned, confidence_level: float) -> Floats:
    """Return sizes of the bins that make normal intervals account for groups.

    It is the effective size, divided by the square of the ratio of Student's t quantile to the
    normal one. A bin with one group counts as one sample.
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
        Share of the total weight.
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
"""Differences of weights, relative to the largest, that move no sample to another bin."""


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

    In bin `b`, with sample weights `w`,

    .. math:: \bar p_b = \frac{\sum_{i \in b} w_i p_i}{\sum_{i \in b} w_i}, \qquad
              \bar y_b = \frac{\sum_{i \in b} w_i y_i}{\sum_{i \in b} w_i},

    where :math:`y_i` is 1 if the event happened. A model is calibrated if events happen as often as
    predicted. Then the expected value of :math:`\bar y_b` is :math:`\bar p_b`.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes.
    y_proba : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probabilities of the positive class, or of each class.
    n_bins : int, default=10
        Number of bins. Empty bins are omitted.
    strategy : {"quantile", "uniform"}, default="quantile"
        Bins with equal numbers of samples, or of equal width. A quantile is the smallest
        probability with at least the required fraction of the weight at or below it, so that whole
        weights are repetitions. :func:`sklearn.calibration.calibration_curve` interpolates instead,
        which may move a sample if the bins cannot have equal numbers.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1, in each bin separately.
    pos_label : int, float, bool or str, default=None
        The positive class. If `y_proba` has one column, None means 1 if `y_true` takes values in
        {0, 1} or {-1, 1}. If it has several, None defines the event as a correct top label. The
        label is correct if the class with the largest probability is the true class.
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
        Curve with the mean predicted probability `x` and the observed fraction `y` of each
        non-empty bin, and its limits `low` and `high`. `columns` contain the bin edges ``above``
        and ``up_to``, the number of samples ``count``, the band for the observed fraction of a
        calibrated model, ``calibrated_low`` to ``calibrated_high``, and whether the fraction lies
        ``inside`` it. Its `extra` has the `strategy`, `pos_label` (None for top-label events),
        the event probabilities `y_proba` and their `sample_weight`, divided by the largest and
        without samples of weight 0.

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
    bin. Wilson's interval would cover less than its level in bins of few samples.
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
        limits.append(intervals.exact_interval(share * size, size, confidence_level))
        # observed fraction of a calibrated model
        inside, larger = bins.place == k, bins.effective[k] / size
        data = events.score[inside], events.weight[inside]
        band.append(calibration.share_limits(*data, confidence_level, larger))
    (low, high), (band_low, band_high) = np.array(limits).T, np.array(band).T
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

    With the bins of `reliability_curve`, where bin `b` has a share :math:`s_b` of the weight,

    .. math:: ECE = \sum_b s_b\, |\bar y_b - \bar p_b| .

    The result lies in [0, 1]. The best value is 0. It estimates the same quantity for the true
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
        Bins with equal numbers of samples, or of equal width.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    pos_label : int, float, bool or str, default=None
        The positive class. If `y_proba` has one column, None means 1 if `y_true` takes values in
        {0, 1} or {-1, 1}. If it has several, None defines the event as a correct top label. The
        label is correct if the class with the largest probability is the true class.
    labels : array-like of shape (n_classes,), default=None
        Class of each column of `y_proba`. None means the sorted classes of `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. Only their ratios matter.
    groups : array-like of shape (n_samples,) or (n_samples, n_kinds), default=None
        Group of each sample, such as the patient. Several columns are nested or crossed groups. See
        :doc:`/user_guide/dependence`. Each bin has its effective sample size.

    Returns
    -------
    Estimate
        Estimate with the error as `value` and the `interval` of the true distance. The standard
        error is nan. `details` contain the bias-corrected distance ``corrected`` (0 if the error is
        smaller than expected by chance), the expected error of a calibrated model ``by_chance``,
        the number of non-empty bins ``n_bins``, and ``pos_label``.

    Raises
    ------
    ValueError
        If a probability is outside [0, 1], or classes and columns do not match.

    See Also
    --------
    score_decomposition : Computes miscalibration without bins.

    Notes
    -----
    *Bias.* In a bin of :math:`n_b` samples the fraction is :math:`X_b / n_b` with a binomial
    :math:`X_b`, so the expected error can be computed from the true distances. `corrected` is the
    mean true distance whose expected error equals the observed error. It may still be inaccurate.
    If most of the error is due to chance it is too small, and for a calibrated model it is not 0 in
    every data set.

    *Interval.* The limits are the largest and the smallest mean true distance for which the
    observed error deviates from its expected value by at most the normal quantile times the
    standard deviation. The upper limit distributes the distance over the bins such that chance adds
    least, and treats errors below `by_chance` as equal to it. The lower limit distributes it as
    observed. The interval is for :math:`\theta` of the drawn samples. :doc:`/validation` has its
    coverage. With unequal weights, the effective size of a bin is :math:`(\sum w)^2 / \sum w^2`.

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
    bins = Bins(binned.share, sizes, binned.predicted, binned.observed)
    distances = calibration.shrink_distances(bins)
    return Estimate(
        name="expected calibration error",
        value=float(bins.share @ np.abs(bins.observed - bins.predicted)),
        standard_error=np.nan,
        method=strategy,
        limits={"test_inversion": partial(calibration.gap_limits, bins, distances)},
        n_samples=len(events.positive),
        details={
            "corrected": calibration.corrected_gap(bins, distances),
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

    Let :math:`\bar S(q)` be the mean score of probabilities `q`, :math:`c` the recalibrated
    probabilities, :math:`g` the predicted probabilities averaged in each bin, and :math:`\bar y`
    the frequency of the event. Then

    .. math:: \bar S(p) = [\bar S(g) - \bar S(c)] - [\bar S(\bar y) - \bar S(c)]
              + \bar S(\bar y) + [\bar S(p) - \bar S(g)] .

    The terms are the miscalibration, the discrimination, the uncertainty, and the variation within
    bins.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes.
    y_proba : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probabilities of the positive class, or of each class.
    loss : {"brier", "log_loss"}, default="brier"
        The score, that is, :math:`(p - y)^2`, or :math:`-\log` of the probability of the observed
        outcome, with probabilities clipped to a distance of 2.2e-16 from 0 and 1, as in
        scikit-learn.
    method : {"corp", "murphy"}, default="corp"
        "corp" recalibrates by isotonic regression [1]_, without bins (:math:`g = p`), and "murphy"
        by the observed fraction of each bin [2]_.
    n_bins : int, default=10
        Number of bins for "murphy".
    strategy : {"quantile", "uniform"}, default="quantile"
        Bins for "murphy", with equal numbers of samples or of equal width.
    pos_label : int, float, bool or str, default=None
        The positive class. If `y_proba` has one column, None means 1 if `y_true` takes values in
        {0, 1} or {-1, 1}. If it has several, None defines the event as a correct top label. The
        label is correct if the class with the largest probability is the true class.
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
        without bins or if each bin has a single probability. ``n_bins`` is the number of groups of
        equal recalibrated probability.

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
    same amount. The bias grows as the sample shrinks, and even a calibrated model has a
    miscalibration above 0.

    For the Brier score, `within_bins` is the within-bin variance minus the within-bin covariance of
    Stephenson, Coelho and Jolliffe [3]_. Without it, Murphy's three terms do not add up if a bin
    contains different probabilities.

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
    score, binned_score, best_score, uncertainty = scores
    return Results(
        score=score,
        miscalibration=binned_score - best_score,
        discrimination=uncertainty - best_score,
        uncertainty=uncertainty,
        within_bins=score - binned_score,
        n_bins=n_groups,
    )
