"""Error estimates from the losses of tested samples, and their standard errors.

The module contains means of losses and effective sample sizes, influence values of the bootstrap
estimates, the combination of resubstitution and out-of-bag error to .632 and .632+, and the
published intervals. Each interval is a function from losses to an estimate and its standard error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from skeval._inference import intervals
from skeval._inference.estimate import ErrorExtra, Estimate
from skeval._inference.intervals import Codes, LimitsByMethod, Spread

Floats = NDArray[np.float64]


class TestLosses(NamedTuple):
    """Losses of tested samples.

    Attributes
    ----------
    losses : ndarray of shape (n,)
    weight : ndarray of shape (n,) or None
        Sample weights, or None if they are equal.
    unit : int ndarray of shape (n,) or (n, n_kinds), or None
        Group of each sample, or None if samples are independent.
    """

    losses: Floats
    weight: Floats | None = None
    unit: Codes | None = None

    @property
    def effective_size(self) -> float:
        """Effective sample size of the weights."""
        weight, n = self.weight, float(len(self.losses))
        return n if weight is None else intervals.size_from_weights(weight)


def concatenate_tested(parts: Sequence[TestLosses]) -> TestLosses:
    """Concatenate the losses of several test sets."""
    losses, weights, units = zip(*parts, strict=True)
    weight = None if weights[0] is None else np.concatenate(weights)
    unit = None if units[0] is None else np.concatenate(units)
    return TestLosses(np.concatenate(losses), weight, unit)


def mean_loss(tested: TestLosses) -> float:
    return float(np.average(tested.losses, weights=tested.weight))


def n_units(tested: TestLosses) -> int:
    """Return the number of samples, or of groups of the smallest kind."""
    return len(tested.losses) if tested.unit is None else intervals.count_groups(tested.unit)


def spread_of_mean(tested: TestLosses) -> Spread:
    """Return the variance of the mean of samples or groups, or nan for one unit.

    With `n` samples of equal weight the variance is ``var(e, ddof=1) / n``.
    """
    # influence of each sample on the weighted mean
    weight = np.ones(len(tested.losses)) if tested.weight is None else tested.weight
    residuals = weight * (tested.losses - mean_loss(tested)) / weight.sum()
    if tested.unit is not None:
        return intervals.spread_between(residuals, tested.unit, weight)
    n = len(residuals)
    return Spread(np.array([[n / (n - 1) * np.sum(residuals**2) if n > 1 else np.nan]]))


MEAN_LOSSES = {
    "zero_one": "error rate",
    "squared": "mean squared error",
    "absolute": "mean absolute error",
    "log_loss": "log loss",
    "brier": "Brier score",
    "hamming": "Hamming loss",
}


def mean_loss_name(loss: str) -> str:
    """Return the name of the mean of a loss."""
    return MEAN_LOSSES.get(loss, f"mean {loss.replace('_', ' ')}")


def mean_loss_estimate(
    value: float,
    standard_error: float,
    *,
    loss: str,
    extra: type[ErrorExtra] = ErrorExtra,
    degrees_of_freedom: float = np.inf,
    effective_n_samples: float | None = None,
    first: str = "",
    forms: LimitsByMethod | None = None,
    no_interval: str = "",
    n_classes: int | None = None,
    **fields: Any,
) -> Estimate:
    """Return a mean loss with intervals appropriate for the loss.

    `forms` contains further intervals, and `first` is the default form. If `no_interval` is a
    reason, all limits are nan. `fields` contains further fields of the estimate or of its `extra`,
    an instance of the class `extra`.
    """
    # intervals, the requested form first
    limits = intervals.mean_loss_limits(
        value,
        standard_error,
        loss,
        degrees_of_freedom=degrees_of_freedom,
        n_effective=effective_n_samples,
    )
    limits = intervals.put_first(first, {**limits, **(forms or {})})
    # fields of the method go to its `extra`
    terms = {name: fields.pop(name) for name in extra.__dataclass_fields__ if name in fields}
    return Estimate(
        name=mean_loss_name(loss),
        value=value,
        standard_error=standard_error,
        loss=loss,
        limits=dict.fromkeys(limits, intervals.give_no_limits) if no_interval else limits,
        bounds=intervals.bounds_of(loss, n_classes),
        effective_n_samples=effective_n_samples,
        extra=extra(
            degrees_of_freedom=None if np.isinf(degrees_of_freedom) else degrees_of_freedom,
            no_interval=no_interval,
            **terms,
        ),
        **fields,
    )


LossFn = Callable[[np.ndarray, np.ndarray], np.ndarray]
PAIR_ELEMENTS = 2**22
"""Maximum number of pairs of label and prediction processed at once, 32 MB of float64."""


class Influence(NamedTuple):
    """Influence of each drawing unit on an estimate.

    Attributes
    ----------
    sampling : ndarray of shape (n_units,)
        Influence through the averaged samples.
    training : ndarray of shape (n_units,)
        Influence through the trained classifiers, a covariance over the resamples.
    noise : float
        Mean contribution of the finite number of resamples to ``sum(training**2)``.
    """

    sampling: np.ndarray
    training: np.ndarray
    noise: float


def sampling_influence(values: np.ndarray, units: Any) -> np.ndarray:
    """Return the influence of each unit on the mean of per-sample values, shape (n_units,).

    It is ``sum_{i in unit} (v_i - mean of the stratum) / n``.
    """
    n = len(values)
    # deviation of each unit from the mean of its stratum
    sums = np.bincount(units.unit, weights=values, minlength=units.n_units)
    sizes = np.bincount(units.unit, minlength=units.n_units)
    stratum = units.stratum
    means = np.bincount(stratum, weights=sums) / np.bincount(stratum, weights=sizes)
    return (sums - sizes * means[stratum]) / n


def out_of_bag_influence(
    sample_errors: np.ndarray,
    scores: np.ndarray,
    counts: Iterable[np.ndarray],
    units: Any,
    weights: np.ndarray | None = None,
) -> Influence:
    r"""Return the infinitesimal jackknife of the out-of-bag error.

    With :math:`q^b = \frac1n \sum_j I_j^b Q_j^b`, Efron and Tibshirani (1997, eq. 36-40) define

    .. math:: D_i = (2 + \tfrac{1}{n-1}) (E_i - BI)/n
              + (1-1/n)^{-n} \tfrac1B \sum_b (N_i^b - \bar N_i) q^b .

    Here, :math:`Q_j^b` is first centered at :math:`E_j`. For all possible resamples, this replaces
    the first factor by 1 and changes nothing else. For a finite number, it removes the noise that
    the out-of-bag sets add to the covariance.

    Parameters
    ----------
    sample_errors : ndarray of shape (n_samples,)
        Out-of-bag error of each sample, :math:`E_j`.
    scores : ndarray of shape (n_resamples,)
        :math:`\sum_j I_j^b Q_j^b / \pi_j`, with :math:`\pi_j` the probability of being left out;
        nan for a resample whose fit failed.
    counts : iterable of int ndarray of shape (n, n_samples)
        Blocks of resamples, with number of draws of each sample in each resample.
    units : skeval._resampling.sampling_units.DrawingUnits
    weights : ndarray of shape (n_samples,) or None
        Sample weights with mean 1. The terms of the scores are multiplied by them.
    """
    n = len(sample_errors)
    # expected term of each sample, by which the scores are centered
    weighted = sample_errors if weights is None else weights * sample_errors
    expected = weighted / units.left_out_probability
    _, first = np.unique(units.unit, return_index=True)
    used = np.isfinite(scores)
    covariance, totals, start = np.zeros(units.n_units), np.zeros(units.n_units), 0
    centered = np.empty(len(scores))
    for block in counts:
        rows = slice(start, start + len(block))
        start += len(block)
        centered[rows] = (scores[rows] - (block == 0) @ expected) / (n * used.sum())
        # covariance of the number of draws with the score, second term of eq. 36
        drawn = block[used[rows]][:, first]
        covariance += centered[rows][used[rows]] @ drawn
        totals += drawn.sum(axis=0)
    # subtract the product of the means, and find the noise
    centered = centered[used]
    training = covariance - totals / used.sum() * centered.sum()
    noise = units.n_units * float(np.sum((centered - centered.mean()) ** 2))
    values = weigh_values(sample_errors, weights)
    return Influence(sampling_influence(values, units), training, noise)


def weigh_values(values: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return pseudo-values with the mean and the influence of the weighted mean.

    `weights` have mean 1.
    """
    if weights is None:
        return values
    mean = np.mean(weights * values)
    return np.asarray(mean + weights * (values - mean))


def no_information(
    truth: np.ndarray,
    predictions: np.ndarray,
    loss_fn: LossFn | None = None,
    weights: np.ndarray | None = None,
) -> tuple[float, np.ndarray]:
    """Return the no-information error, and pseudo-values with the same mean and influence.

    The error is the mean loss over all pairs of a label and a prediction. It is a V-statistic, so
    its influence for sample `i` equals the influence on the mean of ``row_i + column_i - error``.
    Without `loss_fn`, the loss is 0-1, for which the frequencies of labels and predictions
    suffice. `weights`, with mean 1, apply to labels and predictions.
    """
    # mean loss of each label over all predictions, and of each prediction
    counted = np.ones(len(truth)) if weights is None else weights
    if loss_fn is None:
        # 0-1 loss: the frequencies of labels and predictions suffice
        _, codes = unique_rows(np.concatenate([truth, predictions]))
        true_codes, predicted_codes = codes[: len(truth)], codes[len(truth) :]
        observed = np.bincount(true_codes, counted, minlength=codes.max() + 1) / len(truth)
        predicted = np.bincount(predicted_codes, counted, minlength=codes.max() + 1) / len(truth)
        rows, columns = 1 - predicted[true_codes], 1 - observed[predicted_codes]
    else:
        rows, columns = pairwise_means(truth, predictions, loss_fn, counted)
    error = float(np.mean(counted * rows))
    # influence of each sample through its label and through its prediction
    return error, error + counted * (rows + columns - 2 * error)


def unique_rows(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted values, or rows of several outputs, and the position of each."""
    axis = 0 if values.ndim > 1 else None
    labels, position = np.unique(values, axis=axis, return_inverse=True)
    return labels, position.reshape(-1)


def pairwise_means(
    truth: np.ndarray, predictions: np.ndarray, loss_fn: LossFn, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the weighted mean loss of each label over all predictions, and of each prediction."""
    # pairs of each distinct label with all predictions, a block at a time
    n = len(truth)
    columns = np.zeros(n)
    step = max(1, PAIR_ELEMENTS // n)
    labels, label = unique_rows(truth)
    counted, of_label = np.bincount(label, weights), np.empty(len(labels))
    for start in range(0, len(labels), step):
        some = labels[start : start + step]
        pairs = loss_fn(np.repeat(some, n, axis=0), np.concatenate([predictions] * len(some)))
        pairs = pairs.reshape(len(some), n)
        of_label[start : start + step] = pairs @ weights / n
        columns += counted[start : start + step] @ pairs
    return of_label[label], columns / n


def standard_error(
    gradient: np.ndarray, apparent: np.ndarray, oob: Influence, no_information: np.ndarray
) -> float:
    """Return the delta-method standard error of a function of (AE, BI, gamma).

    The noise due to the finite number of resamples is subtracted (Wager, Hastie and Efron 2014).
    The result is at least the part due to the averaged samples.
    """
    # influence through the averaged samples, and through the training sets
    sampled = gradient @ np.stack([apparent, oob.sampling, no_information])
    moved = sampled + gradient[1] * oob.training
    variance = np.sum(moved**2) - gradient[1] ** 2 * oob.noise
    return float(np.sqrt(max(variance, np.sum(sampled**2))))


METHODS = ("oob", ".632", ".632+")


class Combination(NamedTuple):
    """Estimate as a function of (AE, BI, gamma).

    Attributes
    ----------
    error : float
        Value of the estimate.
    weight : float
        Weight `w` of the out-of-bag error.
    relative_overfitting : float
        `R`, between 0 and 1.
    gradient : ndarray of shape (3,)
        Derivatives with respect to `AE`, `BI` and `gamma`.
    """

    error: float
    weight: float
    relative_overfitting: float
    gradient: np.ndarray


def combine(method: str, apparent: float, oob: float, no_information: float) -> Combination:
    """Return the estimate `method` computed from `AE`, `BI` and `gamma`."""
    # relative overfitting R
    capped = min(oob, no_information)
    overfits = capped > apparent and no_information > apparent
    gap = no_information - apparent
    overfitting = (capped - apparent) / gap if overfits else 0.0
    if method != ".632+":
        weight = 1.0 if method == "oob" else 0.632
        error = (1 - weight) * apparent + weight * oob
        return Combination(error, weight, overfitting, np.array([1 - weight, weight, 0.0]))
    # weight of .632+, and its derivatives
    weight = 0.632 / (1 - 0.368 * overfitting)
    by_apparent, by_capped, by_gamma = 1 - weight, weight, 0.0
    if overfits:
        # (dw/dR) (BI' - AE) divided by the gap, the denominator of the derivatives of R. Since
        # R is (BI' - AE) / gap, powers of a small gap cancel.
        slope = 0.632 * 0.368 / (1 - 0.368 * overfitting) ** 2 * overfitting
        by_apparent += slope * (overfitting - 1)
        by_capped += slope
        by_gamma -= slope * overfitting
    if oob > no_information:  # BI' is gamma
        by_capped, by_gamma = 0.0, by_gamma + by_capped
    error = (1 - weight) * apparent + weight * capped
    return Combination(error, weight, overfitting, np.array([by_apparent, by_capped, by_gamma]))


INFLATION = 1.55
"""Mean squared deviation of repeated cross-validation from the risk, divided by its naive variance,
in the limit of many repeats."""
SINGLE_INFLATION = 2.0
"""The same ratio for a single cross-validation."""
MIN_INFLATION = 1.15
"""Smallest inflation, in the limit of many samples and repeats."""
SMALL_SAMPLE_INFLATION = 8.0
"""Numerator of the term that is added to the smallest inflation for few samples and 0-1 loss."""
THRESHOLD = 0.8
"""Number of standard deviations of the noise that are subtracted from the shared variance."""


def split_share(
    losses: Floats,
    row: NDArray[np.intp],
    repeat: NDArray[np.intp],
    unit: NDArray[np.intp],
    weight: Floats | None = None,
) -> float:
    r"""Return the variance that random splits add to a mean over repeats of cross-validation.

    It is relative to the variance of a single cross-validation with independent units. Let
    :math:`u_{rg}` be the influence of unit `g` on the mean loss of repeat `r`, that is, the sum of
    :math:`w_i (L_{ri} - \bar L)` over its samples. The fraction is :math:`B / (R V)` with

    .. math:: V = \frac1R \sum_r \sum_g u_{rg}^2, \qquad
              B = \sum_g \frac{1}{R - 1} \sum_r (u_{rg} - \bar u_g)^2 .

    `losses` has one entry per sample and repeat, and `unit` has one per sample. The fraction is
    nan for a single repeat, and 0 if the losses do not vary.
    """
    n_repeats, n_units = int(repeat.max()) + 1, int(unit.max()) + 1
    if n_repeats == 1:
        return np.nan
    # influence of each unit on the mean of each repeat
    influence = losses - np.average(losses, weights=weight)
    influence = influence if weight is None else weight * influence
    at = repeat * n_units + unit[row]
    sums = np.bincount(at, influence, n_repeats * n_units).reshape(n_repeats, n_units)
    # V, the mean sum of squares over the repeats
    whole = np.sum(sums**2) / n_repeats
    # B / (R V)
    return float(sums.var(axis=0, ddof=1).sum() / whole / n_repeats) if whole > 0 else 0.0


MAX_SPLIT_SHARE = 1.05**2 - 1
"""Variance that random splits may add to infinitely many repeats, 5 % of the standard error.
"""


def needs_repeat(share: float, n_repeats: int) -> bool:
    """Return whether random splits add more than 5 % to the standard error. See `split_share`."""
    return not share <= MAX_SPLIT_SHARE * (1 - n_repeats * share)


def fixed_inflation(share: float) -> float:
    """Return the inflation used if it cannot be estimated from the losses. See `split_share`."""
    return SINGLE_INFLATION if np.isnan(share) else INFLATION + share


def inflation_of(shared: Shared, share: float, *, zero_one: bool) -> float:
    r"""Return the inflation for losses of `n` samples. See `shared_variance`, `split_share`.

    It is the larger of :math:`1.15 + s` and :math:`1 + \delta - 0.8 \sigma`, with :math:`s` the
    fraction due to random splits and :math:`\sigma` the noise of :math:`\delta`. This is a soft
    threshold, because an estimate that is used only if it is large is too large on average. For
    0-1 loss, :math:`8 / n` is added to the first. Other losses use Student's t quantile for few
    samples. If :math:`\delta` is unknown, as without repeats, the inflation is fixed.
    """
    if np.isnan(shared.value):
        return fixed_inflation(share)
    small = SMALL_SAMPLE_INFLATION / shared.size if zero_one else 0.0
    least = MIN_INFLATION + small + share
    return max(least, 1 + shared.value - THRESHOLD * shared.noise)


def degrees_of_mean(tested: TestLosses, n: int, inflation: float, *, bounded: bool) -> float:
    r"""Return Student's degrees of freedom of the mean of nonnegative losses of `n` samples.

    With :math:`f` the inflation and :math:`\kappa` the kurtosis of the losses, they are at least 1
    and otherwise

    .. math:: \min(n / f - 1, \; 2 n / (\kappa - 1)) .

    The second term is Satterthwaite's for the variance of the losses. It is small if a few large
    losses dominate the variance, which is then poorly estimated. It is not divided by :math:`f`,
    because :math:`f` multiplies this variance without making it less precise. Bounded losses are
    an exception, because without the division the coverage for the log loss of few samples was
    lower. With weights, `n` is the effective sample size and the kurtosis is weighted.
    """
    # degrees of freedom of independent losses
    losses, weight = tested.losses, tested.weight
    squares = (losses - mean_loss(tested)) ** 2
    size = n * tested.effective_size / len(losses)
    degrees = size / inflation - 1
    # those of their variance: excess is kappa - 1, and 0 for two values of equal frequency
    spread = float(np.average(squares, weights=weight))
    excess = float(np.average((squares / spread) ** 2, weights=weight)) - 1 if spread > 0 else 0.0
    if excess > 0:
        degrees = min(degrees, 2 * (size / inflation if bounded else size) / excess)
    return max(1.0, degrees)


def difference_limits(
    difference: float,
    standard_error: float,
    degrees_of_freedom: float,
    spread: float,
    confidence_level: float,
    noise: float = 0.0,
) -> tuple[float, float]:
    r"""Return the limits of a squared error minus the error of the mean, on the same samples.

    Let :math:`f` be the prediction, :math:`m` the mean and :math:`D` the difference. The losses
    differ by :math:`(f - m) (f + m - 2 y)`, and the variance of this is proportional to the
    `spread` :math:`S = E (f - m)^2`. The spread equals :math:`2 E (f - m) (f - y) - D`, and its
    first term is the noise of the model. Therefore, a difference of :math:`D_0` implies the spread
    :math:`S + D - D_0`. As for a proportion, the limits use the variance under the hypothesis
    (Wilson 1927):

    .. math:: (D - D_0)^2 = t^2 se^2 (S + D - D_0) / S .

    A difference of 0 leaves at least the `noise`, which replaces a smaller :math:`S + D`. The
    interval is Student's t for an infinite spread, and where :math:`S + D < 0`, because a
    difference of 0 would then have a negative variance and be rejected in every sample.
    """
    reach = intervals.normal_quantile(confidence_level, degrees_of_freedom) * standard_error
    if not spread > max(0.0, -difference) or math.isinf(spread):
        return difference - reach, difference + reach
    shift = reach**2 / (2 * spread)
    half = math.hypot(reach * math.sqrt(max(1.0, (noise - difference) / spread)), shift)
    return difference - shift - half, difference - shift + half


def explained_limits(
    ratio: float,
    standard_error: float,
    degrees_of_freedom: float,
    spread: float,
    noise: float,
    inflation: float,
    confidence_level: float,
) -> tuple[float, float]:
    r"""Return the limits of the ratio ``1 - R2`` of a trained model, from out-of-fold predictions.

    Let :math:`S` be the `spread` of the predictions and :math:`V` the part that is `noise`, both
    divided by the variance of the target. The signal is :math:`B = S - V`. For a linear model, the
    variance of a log ratio due to the samples is :math:`c (B + V)`. The deviation of this ratio
    from the ratio of the model trained on all samples has the variance :math:`c (B + 2 V)`,
    because a training set that makes the model look better than it is also makes it worse.
    Therefore, the variance is multiplied by :math:`1 + V / S`, but at least by the `inflation`.

    A ratio :math:`\rho_0` leaves a signal of at least :math:`1 - \rho_0`. As for a proportion
    (Wilson 1927), the lower limit uses the variance under this hypothesis, :math:`c (2 V + \max(0,
    1 - \rho_0))`, because predictions that look bad by chance have a small spread.
    """
    if not ratio > 0 or not standard_error > 0 or not spread > 0:
        return ratio, ratio
    # half width for the log ratio, before the factor for the noise
    reach = intervals.normal_quantile(confidence_level, degrees_of_freedom) * standard_error / ratio

    def shift(signal: float) -> float:
        """Return the distance of the log limit if the target leaves this signal."""
        return reach * math.sqrt(max(inflation, (signal + 2 * noise) / spread))

    def excess(distance: float) -> float:
        return distance - shift(max(0.0, 1 - ratio * math.exp(-distance)))

    # lower limit: the variance depends on the limit itself, so it is the root of an equation
    below = float(brentq(excess, 0.0, 2 * shift(1.0)))
    # upper limit: the observed signal, B = S - V
    with np.errstate(over="ignore"):
        high = float(ratio * np.exp(shift(spread - noise)))
    return ratio * math.exp(-below), high


MAX_RATIO = 20.0
"""Largest useful ratio of the upper 95 % limit of a mean loss to the mean."""
NoInterval = Literal["few_large_losses", "few_groups", "unstable_models"]
"""Reasons why a mean loss has no interval."""


def is_too_wide(
    error: float, standard_error: float, degrees_of_freedom: float, *, log: bool = True
) -> bool:
    """Return whether the 95 % interval of a mean loss is too wide to be useful.

    Student's t interval is used, of the logarithm if `log`, and clipped to any bounds.
    """
    if not error > 0:
        return False
    half = intervals.normal_quantile(0.95, degrees_of_freedom) * standard_error / error
    return bool(half > np.log(MAX_RATIO) if log else 1 + half > MAX_RATIO)


def count_half(losses: Floats) -> int:
    """Return the number of largest losses that make up half of their sum."""
    shares = np.cumsum(np.sort(losses)[::-1]) / losses.sum()
    return 1 + int(np.searchsorted(shares, 0.5))


def count_half_samples(tested: TestLosses, n: int) -> int:
    """Return the number of `n` samples that make up half of the losses of all repeats."""
    losses = tested.losses if tested.weight is None else tested.weight * tested.losses
    return math.ceil(count_half(losses) * n / len(losses))


def describe_tail(tested: TestLosses, n: int) -> str:
    r"""Return a caution if squared errors have a heavier tail than squares of normal errors.

    For normal errors, 12 % of the squared errors make up half of their sum. In 1 % of samples,
    fewer than :math:`n (0.12 - 0.3 / \sqrt n)` make up half.
    """
    half = count_half_samples(tested, n)
    if not 0 < half <= n * (0.12 - 0.3 / math.sqrt(n)):
        return ""
    return (
        f"The interval may be too narrow: half of the error comes from {half} of {n} samples, "
        "fewer than with normally distributed errors. Look at these samples. Large errors affect "
        "loss='absolute' less."
    )


def explain_no_interval(
    tested: TestLosses, n: int, inflation: float, loss: str
) -> tuple[NoInterval, str]:
    """Return the reason why the mean loss of `n` samples has no useful interval, and a message.

    `tested` contains the losses of all repeats.
    """
    if tested.unit is not None:
        return "few_groups", (
            f"No interval: {n_units(tested)} groups are too few to estimate the variation of the "
            "error between groups. Collect more groups."
        )
    # few samples with most of the loss, or models that differ
    half = count_half_samples(tested, n)
    if degrees_of_mean(tested, n, 1.0, bounded=False) < n / inflation - 1:
        robust = " Large errors affect loss='absolute' less." if loss == "squared" else ""
        return "few_large_losses", (
            f"No interval: half of the error comes from {half} of {n} samples, too few to estimate "
            f"the error on new samples. Look at these samples, or collect more.{robust}"
        )
    return "unstable_models", (
        "No interval: models trained on different folds have very different errors (variance "
        f"inflated {inflation:.0f} times). Use a more stable model, or more samples."
    )


class Shared(NamedTuple):
    """Extra covariance of losses that were tested by the same model.

    Attributes
    ----------
    value : float
        Covariance of two losses, times the number of samples, divided by the variance of single
        losses.
    noise : float
        Standard deviation of `value` if there is no such covariance.
    size : float
        Effective sample size.
    """

    value: float
    noise: float
    size: float


UNKNOWN = Shared(np.nan, np.nan, np.nan)
"""Result for a single repeat, or for losses that do not vary."""


def shared_variance(
    losses: Floats,
    row: NDArray[np.intp],
    repeat: NDArray[np.intp],
    fold: NDArray[np.intp],
    weight: Floats | None = None,
) -> Shared:
    r"""Return the extra covariance of losses tested by one model rather than by two.

    Bengio and Grandvalet (2004) decompose the variance of a cross-validation into the variance of
    single losses, the covariance :math:`\omega` of two losses in one test set, and the covariance
    :math:`\gamma` of two losses in different test sets. A single cross-validation does not
    identify :math:`\omega - \gamma`, because the two kinds of pairs consist of different samples.
    Repeats identify it, because in each repeat a sample is tested by another model, together with
    other samples. With :math:`d_{ri}` the loss of sample `i` in repeat `r` minus its mean over the
    `R` repeats,

    .. math:: \delta = \frac{n}{v (1 - 1/R)^2} \left(\overline{d_{ri} d_{rj}}^{same}
              - \overline{d_{ri} d_{rj}}^{apart}\right).

    The first mean is over all pairs of samples in one fold of a repeat, the second over pairs in
    different folds. `v` is the variance of all losses. The factor compensates for subtracting the
    means. With weights, each deviation is multiplied by its weight. Without extra covariance, the
    product of two losses has the variance :math:`d_{ri}^2 d_{rj}^2`, and the sum of these over the
    pairs of one fold gives the noise.

    All arrays have one entry per sample and repeat, that is, the loss, its sample, its repeat, its
    fold within the repeat, and its weight. The result is nan for a single repeat, or if the losses
    do not vary.
    """
    # several losses of each sample that vary
    times = np.bincount(row)
    n, several = int(np.count_nonzero(times)), bool(np.ptp(repeat))
    n_repeats = len(losses) / n
    weight = np.ones(len(row)) if weight is None else weight
    variance = float(np.cov(losses, aweights=weight, ddof=0))
    if not several or n < 2 or not variance > 0:
        return UNKNOWN
    # weighted deviation of each loss from the mean of its sample over the repeats
    moved = weight * (losses - (np.bincount(row, losses) / np.maximum(times, 1))[row])
    fit = repeat * (fold.max() + 1) + fold

    def pairs(values: Floats, part: NDArray[np.intp]) -> float:
        """Return the sum over all pairs within one part of the products of their values."""
        return float(np.sum(np.bincount(part, values) ** 2) - np.sum(values**2))

    # mean product of deviations in one fold, less the mean in different folds
    same, all_pairs = pairs(moved, fit), pairs(moved, repeat)
    n_same, n_all = pairs(weight, fit), pairs(weight, repeat)
    if not n_all > n_same > 0:
        return UNKNOWN
    shared = same / n_same - (all_pairs - same) / (n_all - n_same)
    # effective sample size, from the first loss of each sample
    first = np.zeros(len(times), dtype=np.intp)
    first[row[::-1]] = np.arange(len(row))[::-1]
    first = first[times > 0]
    size = intervals.size_from_weights(weight[first])
    scale = size / variance / (1 - 1 / n_repeats) ** 2
    noise = np.sqrt(2 * max(0.0, pairs(moved**2, fit))) / n_same
    return Shared(float(scale * shared), float(scale * noise), float(size))


class NestedFold(NamedTuple):
    """Losses of an outer fold, and losses of the inner cross-validation without it.

    Attributes
    ----------
    outer : TestLosses
        Losses on the fold, by the model trained without it.
    inner : TestLosses
        Losses on all other folds, each by the model trained without that fold and the outer one.
    """

    outer: TestLosses
    inner: TestLosses


def nested_interval(folds: Sequence[NestedFold], n_folds: int, n: int) -> tuple[float, float]:
    """Return the error and standard error of Bates, Hastie and Tibshirani (2024, algorithm 1).

    With ``a = (mean e_in - mean e_out)^2`` and ``b = var(e_out) / |fold|``, the mean squared
    deviation of the inner error from the risk is ``(K-1)/K mean(a - b)`` over the folds of all
    repeats. Its root is clipped to the range from the naive standard error to sqrt(K) times this
    error. The bias of a model trained on one fold less is ``(1 + (K-2)/K) (inner - outer)``.
    """
    # squared difference of both errors, less the variance of the outer one
    gaps = [
        (mean_loss(fold.inner) - mean_loss(fold.outer)) ** 2 - spread_of_mean(fold.outer).variance
        for fold in folds
    ]
    finite = [gap for gap in gaps if np.isfinite(gap)]
    mse = (n_folds - 1) / n_folds * float(np.mean(finite)) if finite else -np.inf
    # variance of the inner error if losses were independent
    parts = [fold.inner for fold in folds]
    inner = concatenate_tested(parts)
    naive = float(np.var(inner.losses, ddof=1)) / n
    # groups and weights inflate it
    if inner.weight is not None or inner.unit is not None:
        real = np.nanmean([spread_of_mean(part).variance for part in parts])
        plain = np.nanmean([spread_of_mean(TestLosses(part.losses)).variance for part in parts])
        naive *= float(real / plain) if plain > 0 else 1.0
    # inner error less its bias
    outer = mean_loss(concatenate_tested([fold.outer for fold in folds]))
    bias = (1 + (n_folds - 2) / n_folds) * (mean_loss(inner) - outer)
    return mean_loss(inner) - bias, float(np.sqrt(np.clip(mse, naive, n_folds * naive)))
