"""Are predicted probabilities those with which events happen? Curves, errors, decompositions.

Read from top to bottom: probabilities of two classes, or of one among several, and their bins;
reliability curves; the expected calibration error; a proper score as miscalibration, discrimination
and uncertainty.
"""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.isotonic import isotonic_regression
from sklearn.utils import check_consistent_length

from skeval._inference import calibration, intervals
from skeval._inference.calibration import Bins
from skeval._inference.estimate import Curve, Estimate, Results
from skeval._inference.intervals import Codes
from skeval.metrics._regression import PROBABILITY_LOSSES
from skeval.utils import _checks
from skeval.utils._compat import Interval, StrOptions, validate_params

__all__ = [
    "PROBABILITY_CONSTRAINTS",
    "calibration_curve",
    "expected_calibration_error",
    "score_decomposition",
]

Floats = NDArray[np.float64]
PROBABILITY_CONSTRAINTS: dict[str, list[object]] = {
    "y_true": ["array-like"],
    "y_proba": ["array-like"],
    "pos_label": [Real, str, "boolean", None],
    "labels": ["array-like", None],
    "sample_weight": ["array-like", None],
    "groups": ["array-like", None],
}
BIN_CONSTRAINTS: dict[str, list[object]] = {
    **PROBABILITY_CONSTRAINTS,
    "n_bins": [Interval(Integral, 1, None, closed="left")],
    "strategy": [StrOptions({"quantile", "uniform"})],
    "confidence_level": [Interval(Real, 0, 1, closed="neither")],
}


class Events(NamedTuple):
    """What was predicted with which probability, and whether it happened.

    Attributes
    ----------
    happened : bool ndarray of shape (n_samples,)
    probability : ndarray of shape (n_samples,)
    weight : ndarray of shape (n_samples,)
        All > 0, relative to the largest.
    pos_label : object
        The class whose probabilities these are; None for the class that is predicted.
    group : int ndarray of shape (n_samples,) or (n_samples, n_kinds), or None
        What the samples belong to.
    """

    happened: NDArray[np.bool_]
    probability: Floats
    weight: Floats
    pos_label: object
    group: Codes | None = None


def check_events(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    pos_label: object,
    labels: ArrayLike | None,
    sample_weight: ArrayLike | None,
    groups: Any = None,
) -> Events:
    """Return the event that the probabilities are of; samples of weight 0 are left out."""
    given = _checks.check_data("y_proba", y_proba, ensure_2d=False, dtype=np.float64)
    if given.ndim == 2 and given.shape[1] > 1:
        found = _check_columns(y_true, given, pos_label, labels, sample_weight)
    else:
        if labels is not None:
            raise ValueError("labels must be None where y_proba has one column, got some.")
        happened, probability, weight = _checks.check_binary_scores(
            y_true, given, pos_label, sample_weight, "y_proba"
        )
        classes = np.unique(_checks.check_y("y_true", y_true)).tolist()
        found = Events(happened, probability, weight, _checks.positive_label(classes, pos_label))
    _checks.check_probabilities("y_proba", found.probability)
    seen = found.weight > 0
    probability, weight = found.probability[seen], found.weight[seen]
    group = _checks.number_groups(groups, len(seen), seen)
    return Events(found.happened[seen], probability, weight, found.pos_label, group)


def _check_columns(
    y_true: ArrayLike,
    columns: Floats,
    pos_label: object,
    labels: ArrayLike | None,
    sample_weight: ArrayLike | None,
) -> Events:
    """Return one class against the rest, or whether the likeliest class is the true one."""
    with _checks.naming("y_true", "y_proba"):
        check_consistent_length(y_true, columns, sample_weight)
    y = _checks.check_y("y_true", y_true)
    classes = np.unique(y) if labels is None else _checks.check_y("labels", labels)
    if len(classes) != columns.shape[1] or len(set(classes.tolist())) < len(classes):
        raise ValueError(
            f"labels must name the class of each of the {columns.shape[1]} columns of y_proba "
            f"once, got {classes.tolist()[:10]}{' from y_true' if labels is None else ''}."
        )
    if not set(y.tolist()) <= set(classes.tolist()):
        raise ValueError(f"y_true must hold labels alone, {classes.tolist()[:10]}, got others.")
    weight = _checks.scale_weights(sample_weight, len(y))[0]
    if pos_label is None:
        return Events(y == classes[columns.argmax(axis=1)], columns.max(axis=1), weight, None)
    if pos_label not in classes.tolist():
        raise ValueError(f"pos_label must be one of {classes.tolist()[:10]}, got {pos_label!r}.")
    return Events(y == pos_label, columns[:, classes.tolist().index(pos_label)], weight, pos_label)


class Known(NamedTuple):
    """How well the fraction of each bin is known, both of shape (n_bins,).

    Attributes
    ----------
    size : ndarray
        Number of independent samples that would tell it as well.
    wider : ndarray
        How much longer the quantile is than the normal one: Student's of groups.
    """

    size: Floats
    wider: Floats


def find_known(events: Events, bins: Binned, confidence_level: float) -> Known:
    """Return how well the fraction of each bin is known; a single group tells as one sample."""
    size, wider = bins.effective.copy(), np.ones(len(bins.counts))
    if events.group is None:
        return Known(size, wider)
    data = events.happened, events.group, events.weight, bins.place
    spreads = intervals.spreads_of_cells(np.array([0.0, 1.0]), *data)
    for k, (observed, spread) in enumerate(zip(bins.observed.tolist(), spreads, strict=True)):
        if spread.n_groups == 1:
            size[k] = 1.0
            continue
        size[k] = intervals.effective_size(observed, spread.error, size[k], spread.n_groups)
        quantile = intervals.normal_quantile(confidence_level, spread.degrees_of_freedom)
        wider[k] = quantile / intervals.normal_quantile(confidence_level)
    return Known(size, wider)


class Binned(NamedTuple):
    """Events in bins of their probability, of which none is empty.

    Attributes
    ----------
    place : int ndarray of shape (n_samples,)
        Bin of each event.
    edges : ndarray of shape (n_bins, 2)
        A bin holds what lies above its first edge, up to its second; the first one both.
    counts : int ndarray of shape (n_bins,)
    share : ndarray of shape (n_bins,)
        Of the weight.
    effective : ndarray of shape (n_bins,)
        Number of samples of equal weight whose mean would have this variance.
    predicted, observed : ndarray of shape (n_bins,)
        Mean probability, and the fraction that happened.
    """

    place: NDArray[np.intp]
    edges: Floats
    counts: NDArray[np.intp]
    share: Floats
    effective: Floats
    predicted: Floats
    observed: Floats


def bin_events(events: Events, n_bins: int, strategy: str) -> Binned:
    """Return the events in bins of equal width or of equal weight."""
    p, weight = events.probability, events.weight
    edges = _find_edges(p, weight, n_bins, strategy)
    place = np.searchsorted(edges[1:-1], p)
    known = np.bincount(place) > 0
    filled = np.flatnonzero(known)
    place = place if known.all() else (np.cumsum(known) - 1)[place]
    total = np.bincount(place, weight)
    return Binned(
        place,
        np.column_stack([edges[filled], edges[filled + 1]]),
        np.bincount(place),
        total / total.sum(),
        total**2 / np.bincount(place, weight**2),
        np.clip(np.bincount(place, weight * p) / total, 0.0, 1.0),
        np.bincount(place, weight * events.happened) / total,
    )


def _find_edges(p: Floats, weight: Floats, n_bins: int, strategy: str) -> Floats:
    shares = np.linspace(0, 1, n_bins + 1)
    if strategy == "uniform":
        return shares
    if weight.min() == weight.max():
        return np.percentile(p, 100 * shares)
    order = np.argsort(p)
    cumulative = np.cumsum(weight[order])
    at = np.searchsorted(cumulative, shares * cumulative[-1] * (1 - 1e-12))
    return p[order][np.minimum(at, len(p) - 1)]


INTERVALS = {"clopper_pearson": intervals.exact_interval, "wilson": intervals.wilson_interval}
ROUNDING = 1e-12


@validate_params({**BIN_CONSTRAINTS, "method": [StrOptions(set(INTERVALS))]})
def calibration_curve(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    n_bins: int = 10,
    strategy: str = "quantile",
    method: str = "clopper_pearson",
    confidence_level: float = 0.95,
    pos_label: object = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> Curve:
    r"""Observed fraction of an event in bins of its predicted probability, with intervals.

    In bin `b` of the samples, of weights `w`,

    .. math:: \bar p_b = \frac{\sum_{i \in b} w_i p_i}{\sum_{i \in b} w_i}, \qquad
              \bar y_b = \frac{\sum_{i \in b} w_i y_i}{\sum_{i \in b} w_i},

    with :math:`y_i` 1 where the event happened. A model is calibrated where the event happens as
    often as it says: then :math:`\bar y_b` estimates :math:`\bar p_b`.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes.
    y_proba : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probability of the positive class, or of each class.
    n_bins : int, default=10
        Number of bins; those without samples are left out.
    strategy : {"quantile", "uniform"}, default="quantile"
        Bins of equally many samples, or of equal width. Edges are those of scikit-learn's
        `calibration_curve`; where weights differ, a quantile is the smallest probability that has
        the share of the weight at or below it.
    method : {"clopper_pearson", "wilson"}, default="clopper_pearson"
        The interval of each bin.
    confidence_level : float, default=0.95
        Nominal coverage in each bin by itself, of the interval and of the band.
    pos_label : int, float, bool or str, default=None
        The positive class. None is 1 where `y_proba` has one column and `y_true` takes values in
        {0, 1} or {-1, 1}; where it has several, the event is that the class of the largest
        probability is the true one (top label).
    labels : array-like of shape (n_classes,), default=None
        The class of each column of `y_proba`; None is the sorted classes of `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Each sample counts as often as its weight says. A bin counts as
        :math:`(\sum w)^2 / \sum w^2` samples, so that only the ratios of weights matter.
    groups : array-like of shape (n_samples,) or (n_samples, n_kinds), default=None
        For samples that belong together, nested or crossed (:doc:`/user_guide/dependence`): a bin
        counts as the number of independent samples that would tell its fraction as well, with
        Student's quantile, in its interval and in the band; a bin of one group counts as one.

    Returns
    -------
    curve : Curve
        With the mean predicted probability `x` and the observed fraction `y` of each bin that
        holds samples, `low` and `high`. `columns` hold the ends of the bins, ``above`` and
        ``up_to``, the number of samples ``count``, where the observed fraction of a calibrated
        model would lie, ``calibrated_low`` to ``calibrated_high``, and whether it lies ``inside``.
        `details` hold ``strategy``, ``pos_label`` (None where the event is that the class of the
        largest probability is the true one), the probabilities of the event ``y_proba`` and their
        ``sample_weight``, without samples of weight 0 and relative to the largest.

    Raises
    ------
    ValueError
        If a probability lies outside [0, 1], or classes and columns do not agree.

    See Also
    --------
    CalibrationDisplay : The drawing.
    expected_calibration_error : The mean distance of the curve from the diagonal.

    Notes
    -----
    *The interval* is of the mean of the true probabilities of the samples in the bin. Its coverage,
    nominal 0.95, summed over all outcomes where all samples of the bin have one true probability
    (where they differ it covers more often); mean width in parentheses:

    ===========  ===========  ===========  ===========  ===========  ===========  ===========
    samples of   Clopper-Pearson                        Wilson
    -----------  -------------------------------------  -------------------------------------
    the bin      0.5          0.1          0.02         0.5          0.1          0.02
    ===========  ===========  ===========  ===========  ===========  ===========  ===========
    5            1.00 (0.76)  0.99 (0.61)  1.00 (0.54)  0.94 (0.62)  0.92 (0.50)  0.90 (0.45)
    10           0.98 (0.60)  0.99 (0.42)  0.98 (0.33)  0.98 (0.51)  0.93 (0.37)  0.98 (0.30)
    20           0.96 (0.45)  0.99 (0.29)  0.99 (0.20)  0.96 (0.39)  0.96 (0.26)  0.94 (0.19)
    40           0.96 (0.32)  0.97 (0.20)  0.99 (0.12)  0.96 (0.29)  0.94 (0.19)  0.95 (0.11)
    ===========  ===========  ===========  ===========  ===========  ===========  ===========

    Fifty samples in ten bins are 5 in each: Wilson's interval is not for them, and at some rates in
    between covers less than 0.90.

    *The band* holds the observed fraction of a calibrated model in a share `confidence_level` of
    data sets at least, bin by bin: the number of events is then a sum of independent ones with the
    probabilities :math:`p_i`, whose distribution (Poisson-binomial) is computed. It says what the
    bars of [1]_ say by simulation. Weights that differ take the beta distribution of the same mean
    and variance, which is about right: with random weights (uniform, exponential, Pareto) of 5, 20
    and 100 samples a nominal 0.95 held 0.94 to 0.99 on average, but where one weight exceeds all
    others as little as 0.80. Of ten bins of a calibrated model one or more lie outside in up to two
    data sets of five.

    References
    ----------
    .. [1] Bröcker, J. and Smith, L. A. (2007). Increasing the reliability of reliability diagrams.
       Weather and Forecasting 22, 651-661. https://doi.org/10.1175/WAF993.1
    .. [2] Brown, L. D., Cai, T. T. and DasGupta, A. (2001). Interval estimation for a binomial
       proportion. Statistical Science 16, 101-133. https://doi.org/10.1214/ss/1009213286

    Examples
    --------
    >>> from skeval.metrics import calibration_curve
    >>> y = [0, 0, 0, 1, 0, 1, 1, 1]
    >>> p = [0.1, 0.1, 0.2, 0.3, 0.6, 0.7, 0.8, 0.8]
    >>> print(calibration_curve(y, p, n_bins=2))
    calibration curve
    strategy quantile
    pos label 1
    mean predicted  observed  95 % interval      above   up to  count  calibrated low ...
            0.1750    0.2500  [0.0063, 0.8059]  0.1000  0.4500      4          0.0000 ...
            0.7250    0.7500  [0.1941, 0.9937]  0.4500  0.8000      4          0.2500 ...
    """
    events = check_events(y_true, y_proba, pos_label, labels, sample_weight, groups)
    bins = bin_events(events, n_bins, strategy)
    known = find_known(events, bins, confidence_level)
    counted = known.size / known.wider**2
    limits = [
        INTERVALS[method](share * size, size, confidence_level)
        for share, size in zip(bins.observed, counted, strict=True)
    ]
    band = [
        calibration.share_limits(
            events.probability[inside], events.weight[inside], confidence_level, larger
        )
        for inside, larger in (
            (bins.place == k, bins.effective[k] / counted[k]) for k in range(len(counted))
        )
    ]
    (low, high), (band_low, band_high) = np.array(limits).T, np.array(band).T
    below, above = bins.observed < band_low - ROUNDING, bins.observed > band_high + ROUNDING
    return Curve(
        name="calibration curve",
        axes=("mean_predicted", "observed"),
        x=bins.predicted,
        y=bins.observed,
        low=low,
        high=high,
        confidence_level=confidence_level,
        method=method,
        columns={
            "above": bins.edges[:, 0],
            "up_to": bins.edges[:, 1],
            "count": bins.counts,
            "calibrated_low": band_low,
            "calibrated_high": band_high,
            "inside": ~(below | above),
        },
        details={
            "strategy": strategy,
            "pos_label": events.pos_label,
            "y_proba": events.probability,
            "sample_weight": events.weight,
        },
    )


@validate_params(BIN_CONSTRAINTS)
def expected_calibration_error(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    n_bins: int = 10,
    strategy: str = "quantile",
    confidence_level: float = 0.95,
    pos_label: object = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> Estimate:
    r"""Mean distance between predicted probability and observed fraction, over bins.

    With the bins of `calibration_curve`, of which `b` holds a share :math:`s_b` of the weight,

    .. math:: ECE = \sum_b s_b\, |\bar y_b - \bar p_b| .

    In [0, 1]; 0 is best. It estimates the same of the true probabilities, :math:`\theta =
    \sum_b s_b |\bar\pi_b - \bar p_b|`, and is too large, for chance makes a distance where there
    is none: `by_chance` says how large a one.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes.
    y_proba : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probability of the positive class, or of each class.
    n_bins : int, default=10
        Number of bins.
    strategy : {"quantile", "uniform"}, default="quantile"
        Bins of equally many samples, or of equal width.
    confidence_level : float, default=0.95
        Nominal coverage of the interval.
    pos_label : int, float, bool or str, default=None
        The positive class. None is 1 where `y_proba` has one column and `y_true` takes values in
        {0, 1} or {-1, 1}; where it has several, the event is that the class of the largest
        probability is the true one (top label).
    labels : array-like of shape (n_classes,), default=None
        The class of each column of `y_proba`; None is the sorted classes of `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Each sample counts as often as its weight says; only the ratios of weights matter.
    groups : array-like of shape (n_samples,) or (n_samples, n_kinds), default=None
        For samples that belong together, nested or crossed (:doc:`/user_guide/dependence`): a bin
        counts as the number of independent samples that would tell its fraction as well.

    Returns
    -------
    Estimate
        With the error as its `value`, and the `interval` of the true distance; the standard error
        is nan. `details` hold the distance that has this error as its expected value, ``corrected``
        (0 where chance makes a larger error), what the error would be on average if the model were
        calibrated, ``by_chance``, the number of bins that hold samples, ``n_bins``, and
        ``pos_label``.

    Raises
    ------
    ValueError
        If a probability lies outside [0, 1], or classes and columns do not agree.

    See Also
    --------
    score_decomposition : Miscalibration without bins.

    Notes
    -----
    *Bias.* In a bin of :math:`n_b` samples the fraction is :math:`X_b / n_b` with a binomial
    :math:`X_b`, so that the expected error, given the true distances, is known. `corrected` is the
    mean of true distances whose expected error is the one observed. It, too, may be off: where
    chance makes most of the error it falls short of the truth, and it is not 0 in every data set
    that a calibrated model makes.

    *Interval.* Its ends are the largest and the smallest mean of true distances under which the
    error lies no further from its expected value than the normal quantile of standard deviations.
    The upper end shares the distance among the bins so that chance adds least, and takes no error
    for smaller than `by_chance`; the lower end shares it as it was observed. It is meant to hold
    :math:`\theta` of the samples that were drawn. Measured at a nominal 0.95 on 250 data sets a
    cell, with five models (calibrated; overconfident, twice the log-odds; half the probability; one
    and a half times it; nearly constant) and three kinds of bins (10 and 5 of equal size, 10 of
    equal width): the lowest and the mean coverage, the error and the corrected one of the
    calibrated model in 10 bins of equal size, and what the overconfident one has there:

    ====  ===  ======  =====  =====  =========  =====  =====  =========  =====
    rate  n    lowest  mean   error  corrected  truth  error  corrected  width
    ====  ===  ======  =====  =====  =========  =====  =====  =========  =====
    0.5   50   0.940   0.968  0.159  0.038      0.101  0.176  0.091      0.25
    0.5   200  0.932   0.965  0.078  0.019      0.102  0.121  0.090      0.14
    0.1   50   0.940   0.977  0.079  0.025      0.071  0.102  0.066      0.18
    0.1   200  0.956   0.977  0.039  0.011      0.071  0.081  0.069      0.09
    0.02  50   0.936   0.980  0.020  0.009      0.039  0.045  0.036      0.12
    0.02  200  0.944   0.975  0.011  0.004      0.038  0.039  0.037      0.06
    ====  ===  ======  =====  =====  =========  =====  =====  =========  =====

    Of unlimited scores in the same bins it held the distance in 0.920 of the data sets at least.
    Where weights differ a bin counts as :math:`(\sum w)^2 / \sum w^2` samples.

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
    events = check_events(y_true, y_proba, pos_label, labels, sample_weight, groups)
    found = bin_events(events, n_bins, strategy)
    known = find_known(events, found, confidence_level)
    bins = Bins(found.share, known.size / known.wider**2, found.predicted, found.observed)
    distances = calibration.shrink_distances(bins)
    return Estimate(
        name="expected calibration error",
        value=float(bins.share @ np.abs(bins.observed - bins.predicted)),
        standard_error=np.nan,
        method=strategy,
        limits={"test_inversion": partial(calibration.gap_limits, bins, distances)},
        n_samples=len(events.happened),
        details={
            "corrected": calibration.corrected_gap(bins, distances),
            "by_chance": float(calibration.gap_moments(bins, bins.predicted)[0]),
            "n_bins": len(found.counts),
            "pos_label": events.pos_label,
        },
        confidence_level=confidence_level,
    )


@validate_params(
    {
        **BIN_CONSTRAINTS,
        "loss": [StrOptions(set(PROBABILITY_LOSSES))],
        "method": [StrOptions({"corp", "murphy"})],
    }
)
def score_decomposition(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    loss: str = "brier",
    method: str = "corp",
    n_bins: int = 10,
    strategy: str = "quantile",
    pos_label: object = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Results:
    r"""Split the Brier score or the log loss into miscalibration, discrimination, uncertainty.

    With :math:`\bar S(q)` the mean score of probabilities `q`, :math:`c` recalibrated ones,
    :math:`g` the given ones, averaged in each bin, and :math:`\bar y` the frequency of the event,

    .. math:: \bar S(p) = \underbrace{\bar S(g) - \bar S(c)}_{miscalibration}
              - \underbrace{\bar S(\bar y) - \bar S(c)}_{discrimination}
              + \underbrace{\bar S(\bar y)}_{uncertainty}
              + \underbrace{\bar S(p) - \bar S(g)}_{within\ bins} .

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes.
    y_proba : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probability of the positive class, or of each class.
    loss : {"brier", "log_loss"}, default="brier"
        The score: :math:`(p - y)^2`, or :math:`-\log` of the probability of what happened, of
        probabilities no nearer to 0 and 1 than 2.2e-16, as scikit-learn has it.
    method : {"corp", "murphy"}, default="corp"
        Recalibrate by isotonic regression [1]_, without bins (:math:`g = p`); or by the observed
        fraction of each bin [2]_.
    n_bins : int, default=10
        Number of bins of "murphy".
    strategy : {"quantile", "uniform"}, default="quantile"
        Its bins: of equally many samples, or of equal width.
    pos_label : int, float, bool or str, default=None
        The positive class. None is 1 where `y_proba` has one column and `y_true` takes values in
        {0, 1} or {-1, 1}; where it has several, the event is that the class of the largest
        probability is the true one (top label).
    labels : array-like of shape (n_classes,), default=None
        The class of each column of `y_proba`; None is the sorted classes of `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Each sample counts as often as its weight says; only the ratios of weights matter.

    Returns
    -------
    dict
        The ``score``, which is smaller where it is better, and its parts: ``miscalibration``, what
        recalibrated probabilities would gain (Murphy's reliability); ``discrimination``, what they
        gain over the frequency of the event (resolution); ``uncertainty``, the score of that
        frequency; ``within_bins``, what bins hide, 0 without bins and where a bin holds one
        probability; and ``n_bins``, the number of groups of equal recalibrated probability.

    Raises
    ------
    ValueError
        If a probability lies outside [0, 1], or classes and columns do not agree.

    See Also
    --------
    calibration_curve : Where the probabilities are off.

    Notes
    -----
    The parts of "corp" are never negative, and need no choice of bins. Both methods recalibrate
    on the samples that they judge, so that miscalibration and discrimination are too large by the
    same amount, the more so the smaller the sample: a calibrated model has no miscalibration of 0.

    For the Brier score `within_bins` is the variance less the covariance within bins of
    Stephenson, Coelho and Jolliffe [3]_, without which Murphy's three terms do not add up where a
    bin holds different probabilities.

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
    events = check_events(y_true, y_proba, pos_label, labels, sample_weight)
    given = recalibrated = events.probability
    if method == "corp":
        recalibrated = _isotonic(events)
        n_groups = len(np.unique(recalibrated))
    else:
        bins = bin_events(events, n_bins, strategy)
        given, recalibrated = bins.predicted[bins.place], bins.observed[bins.place]
        n_groups = len(bins.counts)
    frequency = np.average(events.happened, weights=events.weight)
    scores = [
        _mean_score(events, probability, loss)
        for probability in (events.probability, given, recalibrated, np.full_like(given, frequency))
    ]
    score, of_given, of_recalibrated, uncertainty = scores
    return Results(
        score=score,
        miscalibration=of_given - of_recalibrated,
        discrimination=uncertainty - of_recalibrated,
        uncertainty=uncertainty,
        within_bins=score - of_given,
        n_bins=n_groups,
    )


def _isotonic(events: Events) -> Floats:
    """Return the fraction that happened, made increasing in the probability."""
    place = np.unique(events.probability, return_inverse=True)[1].reshape(-1)
    total = np.bincount(place, events.weight)
    fraction = np.bincount(place, events.weight * events.happened) / total
    found: Floats = isotonic_regression(fraction, sample_weight=total, y_min=0.0, y_max=1.0)
    return found[place]


def _mean_score(events: Events, probability: Floats, loss: str) -> float:
    shares = np.column_stack([1 - probability, probability])
    losses = PROBABILITY_LOSSES[loss](events.happened.astype(np.intp), shares)
    return float(np.average(losses, weights=events.weight))
