"""The error of a procedure from the losses of tested samples: estimates and their standard errors.

Read from top to bottom: means of losses and what samples are worth; influence values of the
bootstrap estimates; how resubstitution and out-of-bag error combine to .632 and .632+; and the
published intervals, each from losses to an estimate and its error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from skeval._inference.intervals import Codes, Spread, count_groups, spread_between
from skeval._inference.paired import corrected_error

__all__ = [
    "METHODS",
    "SINGLE_INFLATION",
    "Dealt",
    "NestedFold",
    "Tested",
    "combine",
    "concatenate_tested",
    "conservative_z",
    "corrected_t",
    "degrees_of_mean",
    "five_by_two",
    "fixed_inflation",
    "inflation_of",
    "mean_loss",
    "n_units",
    "nested_errors",
    "nested_interval",
    "no_information",
    "out_of_bag_influence",
    "replace_one",
    "resampled_plus",
    "sampling_influence",
    "shared_variance",
    "spread_of_mean",
    "standard_error",
    "variance_of_mean",
    "weigh_values",
    "within_fold_error",
    "worth",
]

Floats = NDArray[np.float64]


class Tested(NamedTuple):
    """Losses of tested samples.

    Attributes
    ----------
    losses : ndarray of shape (n,)
    weight : ndarray of shape (n,) or None
        None where all samples weigh the same.
    unit : int ndarray of shape (n,) or (n, n_kinds), or None
        The group of each sample; None where samples are independent.
    """

    losses: Floats
    weight: Floats | None = None
    unit: Codes | None = None


def concatenate_tested(parts: Sequence[Tested]) -> Tested:
    """Return the losses of several test sets as one."""
    losses, weights, units = zip(*parts, strict=True)
    weight = None if weights[0] is None else np.concatenate(weights)
    unit = None if units[0] is None else np.concatenate(units)
    return Tested(np.concatenate(losses), weight, unit)


def mean_loss(tested: Tested) -> float:
    """Return the weighted mean."""
    if tested.weight is None:
        return float(tested.losses.mean())
    return float(np.average(tested.losses, weights=tested.weight))


def n_units(tested: Tested) -> int:
    """Return the number of samples or groups, of crossed ones of the kind that has the fewest."""
    return len(tested.losses) if tested.unit is None else count_groups(tested.unit)


def worth(tested: Tested) -> float:
    """Return how many samples of equal weight say as much, ``(sum w)^2 / sum w^2``."""
    if tested.weight is None:
        return float(len(tested.losses))
    return float(tested.weight.sum() ** 2 / np.sum(tested.weight**2))


def spread_of_mean(tested: Tested) -> Spread:
    """Return how far the mean is known, of samples or between groups; nan for one unit.

    With `n` samples of equal weight the variance is ``var(e, ddof=1) / n``.
    """
    weight = np.ones(len(tested.losses)) if tested.weight is None else tested.weight
    residuals = weight * (tested.losses - mean_loss(tested)) / weight.sum()
    if tested.unit is not None:
        return spread_between(residuals, tested.unit, weight)
    n = len(residuals)
    return Spread(np.array([[n / (n - 1) * np.sum(residuals**2) if n > 1 else np.nan]]))


def variance_of_mean(tested: Tested) -> float:
    """Return the variance of the mean."""
    return spread_of_mean(tested).variance


def design_effect(parts: Sequence[Tested]) -> float:
    """Return how much larger groups and weights make the variance of means, on average.

    It is 1 without both.
    """
    if parts[0].weight is None and parts[0].unit is None:
        return 1.0
    real = np.nanmean([variance_of_mean(part) for part in parts])
    plain = np.nanmean([variance_of_mean(Tested(part.losses)) for part in parts])
    return float(real / plain) if plain > 0 else 1.0


LossFn = Callable[[np.ndarray, np.ndarray], np.ndarray]
PAIR_ELEMENTS = 2**22
"""Pairs of a label and a prediction whose losses are computed at once: 32 MB of float64."""


class Units(Protocol):
    """What the bootstrap draws, as arrays; see `skeval._resampling.units.DrawingUnits`."""

    @property
    def unit(self) -> np.ndarray:
        """Unit that each sample belongs to, shape (n_samples,)."""

    @property
    def n_units(self) -> int:
        """Number of units."""

    @property
    def stratum(self) -> np.ndarray:
        """Stratum of each unit, shape (n_units,)."""

    @property
    def left_out_probability(self) -> np.ndarray:
        """Probability that a resample leaves each sample out, shape (n_samples,)."""


@dataclass(frozen=True, eq=False)
class Influence:
    """How much each drawing unit moves an estimate.

    Attributes
    ----------
    sampling : ndarray of shape (n_units,)
        Through the samples that are averaged.
    training : ndarray of shape (n_units,)
        Through the classifiers that are trained, a covariance over the resamples.
    noise : float
        What the finite number of resamples adds to ``sum(training**2)`` on average.
    """

    sampling: np.ndarray
    training: np.ndarray
    noise: float


def sampling_influence(values: np.ndarray, units: Units) -> np.ndarray:
    """Return the influence of each unit on the mean of per-sample values, shape (n_units,).

    It is ``sum_{i in unit} (v_i - mean of the stratum) / n``.
    """
    n = len(values)
    sums = np.bincount(units.unit, weights=values, minlength=units.n_units)
    sizes = np.bincount(units.unit, minlength=units.n_units)
    stratum = units.stratum
    means = np.bincount(stratum, weights=sums) / np.bincount(stratum, weights=sizes)
    return (sums - sizes * means[stratum]) / n


def out_of_bag_influence(
    sample_errors: np.ndarray,
    scores: np.ndarray,
    counts: Iterable[np.ndarray],
    units: Units,
    weights: np.ndarray | None = None,
) -> Influence:
    r"""Return the infinitesimal jackknife of the out-of-bag error.

    Efron and Tibshirani (1997, eq. 36-40) give, with :math:`q^b = \frac1n \sum_j I_j^b Q_j^b`,

    .. math:: D_i = (2 + \tfrac{1}{n-1}) (E_i - BI)/n
              + (1-1/n)^{-n} \tfrac1B \sum_b (N_i^b - \bar N_i) q^b .

    Here :math:`Q_j^b` is centred at :math:`E_j` first. Over all resamples that turns the first
    factor into 1 and changes nothing else; over a finite number it takes out the noise that the
    out-of-bag sets themselves put into the covariance.

    Parameters
    ----------
    sample_errors : ndarray of shape (n_samples,)
        Out-of-bag error of each sample, :math:`E_j`.
    scores : ndarray of shape (n_resamples,)
        :math:`\sum_j I_j^b Q_j^b / \pi_j`, with :math:`\pi_j` the probability to be left out;
        nan for a resample whose fit failed.
    counts : iterable of int ndarray of shape (n, n_samples)
        The resamples in blocks: how often each holds each sample.
    units : Units
    weights : ndarray of shape (n_samples,) or None
        What each sample counts, with mean 1; the terms of the scores have them as factors.
    """
    n = len(sample_errors)
    weighted = sample_errors if weights is None else weights * sample_errors
    expected = weighted / units.left_out_probability
    _, first = np.unique(units.unit, return_index=True)
    used = np.isfinite(scores)
    covariance, totals, start = np.zeros(units.n_units), np.zeros(units.n_units), 0
    centred = np.empty(len(scores))
    for block in counts:
        rows = slice(start, start + len(block))
        start += len(block)
        centred[rows] = (scores[rows] - (block == 0) @ expected) / (n * used.sum())
        drawn = block[used[rows]][:, first]
        covariance += centred[rows][used[rows]] @ drawn
        totals += drawn.sum(axis=0)
    centred = centred[used]
    training = covariance - totals / used.sum() * centred.sum()
    noise = units.n_units * float(np.sum((centred - centred.mean()) ** 2))
    values = weigh_values(sample_errors, weights)
    return Influence(sampling_influence(values, units), training, noise)


def weigh_values(values: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return values whose plain mean is the weighted one, and moves with each sample as that does.

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
    """Return the no-information error and the per-sample values that it is the mean of.

    The error is the mean loss over all pairs of a label and a prediction. As a V-statistic it
    moves with sample `i` like the mean of ``row_i + column_i - error``. Without a `loss_fn` it is
    0-1 loss, for which the shares of the labels and of the predictions suffice. `weights`, with
    mean 1, are those of the labels and of the predictions.
    """
    counted = np.ones(len(truth)) if weights is None else weights
    if loss_fn is None:
        _, codes = np.unique(np.concatenate([truth, predictions]), return_inverse=True)
        true_codes, predicted_codes = codes[: len(truth)], codes[len(truth) :]
        observed = np.bincount(true_codes, counted, minlength=codes.max() + 1) / len(truth)
        predicted = np.bincount(predicted_codes, counted, minlength=codes.max() + 1) / len(truth)
        rows, columns = 1 - predicted[true_codes], 1 - observed[predicted_codes]
    else:
        rows, columns = pairwise_means(truth, predictions, loss_fn, counted)
    error = float(np.mean(counted * rows))
    return error, error + counted * (rows + columns - 2 * error)


def pairwise_means(
    truth: np.ndarray, predictions: np.ndarray, loss_fn: LossFn, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the weighted mean loss of each label over all predictions, and of each prediction."""
    n = len(truth)
    columns = np.zeros(n)
    step = max(1, PAIR_ELEMENTS // n)
    labels, label = np.unique(truth, return_inverse=True)
    counted, of_label = np.bincount(label, weights), np.empty(len(labels))
    for start in range(0, len(labels), step):
        some = labels[start : start + step]
        pairs = loss_fn(np.repeat(some, n), np.concatenate([predictions] * len(some)))
        pairs = pairs.reshape(len(some), n)
        of_label[start : start + step] = pairs @ weights / n
        columns += counted[start : start + step] @ pairs
    return of_label[label], columns / n


def standard_error(
    gradient: np.ndarray, apparent: np.ndarray, oob: Influence, no_information: np.ndarray
) -> float:
    """Return the delta-method standard error of a function of (AE, BI, gamma).

    The noise of the finite number of resamples is subtracted (Wager, Hastie and Efron 2014); what
    is left is never less than the part due to the samples that are averaged.
    """
    sampled = gradient @ np.stack([apparent, oob.sampling, no_information])
    moved = sampled + gradient[1] * oob.training
    variance = np.sum(moved**2) - gradient[1] ** 2 * oob.noise
    return float(np.sqrt(max(variance, np.sum(sampled**2))))


METHODS = ("oob", ".632", ".632+")


class Combination(NamedTuple):
    """An estimate as a function of (AE, BI, gamma).

    Attributes
    ----------
    error : float
        Its value.
    weight : float
        Weight `w` of the out-of-bag error.
    relative_overfitting : float
        `R`, between 0 and 1.
    gradient : ndarray of shape (3,)
        Its derivatives in `AE`, `BI` and `gamma`.
    """

    error: float
    weight: float
    relative_overfitting: float
    gradient: np.ndarray


def combine(method: str, apparent: float, oob: float, no_information: float) -> Combination:
    """Return the estimate that `method` makes of `AE`, `BI` and `gamma`."""
    capped = min(oob, no_information)
    overfits = capped > apparent and no_information > apparent
    gap = no_information - apparent
    overfitting = (capped - apparent) / gap if overfits else 0.0
    if method != ".632+":
        weight = 1.0 if method == "oob" else 0.632
        error = (1 - weight) * apparent + weight * oob
        return Combination(error, weight, overfitting, np.array([1 - weight, weight, 0.0]))
    weight = 0.632 / (1 - 0.368 * overfitting)
    by_apparent, by_capped, by_gamma = 1 - weight, weight, 0.0
    if overfits:
        # This is (d w / d R) (BI' - AE), over the gap that the derivatives of R have below. Since
        # R is (BI' - AE) / gap, no power of a small gap is left.
        slope = 0.632 * 0.368 / (1 - 0.368 * overfitting) ** 2 * overfitting
        by_apparent += slope * (overfitting - 1)
        by_capped += slope
        by_gamma -= slope * overfitting
    if oob > no_information:  # Here BI' is gamma.
        by_capped, by_gamma = 0.0, by_gamma + by_capped
    error = (1 - weight) * apparent + weight * capped
    return Combination(error, weight, overfitting, np.array([by_apparent, by_capped, by_gamma]))


PerSampleLoss = Callable[[NDArray, NDArray], NDArray]
Estimate = tuple[float, float]  # an error and its standard error
INFLATION = 1.55
"""Mean squared deviation of repeated cross-validation from the risk, over its naive variance."""
SINGLE_INFLATION = 2.0
"""The same of one cross-validation, which is not repeated."""
LEAST = 1.15
"""The inflation of endless repeats of many samples is at least this."""
OF_FEW = 8.0
"""What few samples add to `LEAST` is this over their number."""


def fixed_inflation(n_repeats: float) -> float:
    """Return the inflation where the losses do not tell it."""
    return INFLATION + (SINGLE_INFLATION - INFLATION) / n_repeats


def inflation_of(shared: Shared, n_repeats: float) -> float:
    r"""Return the inflation for losses of `n` samples in `R` repeats; see `shared_variance`.

    It is :math:`1.15 + 8 / n + 1 / (2 R)`, or :math:`1 + \delta` where that is more and
    :math:`\delta` is more than its noise. Where it is not known, which is so without repeats, the
    inflation is fixed.
    """
    if np.isnan(shared.value):
        return fixed_inflation(n_repeats)
    least = LEAST + OF_FEW / shared.size + 0.5 / n_repeats
    return max(1 + shared.value, least) if shared.value > shared.noise else least


def degrees_of_mean(tested: Tested, n: int, inflation: float, *, bounded: bool) -> float:
    r"""Return Student's degrees of freedom of the mean of non-negative losses of `n` samples.

    Those by Satterthwaite of a variance of losses with kurtosis :math:`\kappa`,
    :math:`2 n / (f (\kappa - 1))`, and ``n / f - 1`` at most: few large losses carry the variance
    of heavy tails, and tell it badly. With weights n is what the samples are worth, and the
    kurtosis is weighted. Losses that are not bounded and whose `tail_index` :math:`\alpha` is less
    than 2 have no variance at all; then it is :math:`2 \alpha` at most.
    """
    losses, weight = tested.losses, tested.weight
    squares = (losses - mean_loss(tested)) ** 2
    spread, size = float(np.average(squares, weights=weight)), n * worth(tested) / len(losses)
    most = size / inflation - 1
    if spread > 0:
        excess = float(np.average((squares / spread) ** 2, weights=weight)) - 1
        most = min(most, 2 * size / (inflation * excess)) if excess > 0 else most
        index = np.inf if bounded else tail_index(losses, n)
        most = min(most, 2 * max(1.0, index)) if index < 2 else most
    return max(1.0, most)


def tail_index(losses: Floats, n: float) -> float:
    r"""Return :math:`\alpha` of a tail :math:`P(L > x) \sim x^{-\alpha}`: Hill (1975).

    .. math:: 1 / \alpha = \frac1k \sum_{i=1}^k \log (L_{(i)} / L_{(k + 1)})

    over the largest losses of `n` samples, :math:`\sqrt n` or 10 of them. A mean of such losses has
    a variance for :math:`\alpha > 2` only. It is infinite where the largest losses are alike, and
    where they cannot tell: in fewer than 20 samples, or where most losses are 0.
    """
    k = round(max(10.0, np.sqrt(n)) * len(losses) / n)
    if len(losses) <= 2 * k:
        return np.inf
    largest = np.partition(losses, -k - 1)[-k - 1 :]
    if not largest[0] > 0:
        return np.inf
    mean = float(np.mean(np.log(largest[1:] / largest[0])))
    return 1 / mean if mean > 0 else np.inf


class Dealt(NamedTuple):
    """Losses of tested samples over repeats of folds, an entry for each sample in each repeat.

    Attributes
    ----------
    losses : ndarray of shape (n_answers,)
    row, repeat, fold : int ndarray of shape (n_answers,)
        Sample, repeat, and fold of the repeat; all count from 0.
    weight : ndarray of shape (n_answers,) or None
        None where all samples weigh the same.
    """

    losses: Floats
    row: NDArray[np.intp]
    repeat: NDArray[np.intp]
    fold: NDArray[np.intp]
    weight: Floats | None = None


class Shared(NamedTuple):
    """What losses share because one model tests them.

    Attributes
    ----------
    value : float
        Covariance of two losses, times the number of samples, over the variance of single losses.
    noise : float
        The standard deviation that `value` has where they share nothing.
    size : float
        Number of samples, of equal weights.
    """

    value: float
    noise: float
    size: float


UNKNOWN = Shared(np.nan, np.nan, np.nan)
"""What is told by one repeat, or by losses that do not vary."""


def shared_variance(dealt: Dealt) -> Shared:
    r"""Return how much more losses vary together if one model tests them than if two models do.

    Bengio and Grandvalet (2004) write the variance of a cross-validation as that of single losses,
    the covariance :math:`\omega` of two losses in one test set, and the covariance
    :math:`\gamma` of two in different ones. No cross-validation alone tells :math:`\omega -
    \gamma`, since the two pairs are of different samples; repeats do, in which the same sample is
    tested by other models beside other samples. With :math:`d_{ri}` the loss of sample `i` in
    repeat `r` less its mean over the `R` repeats, it is

    .. math:: \delta = \frac{n}{v (1 - 1/R)^2} \left(\overline{d_{ri} d_{rj}}^{same}
              - \overline{d_{ri} d_{rj}}^{apart}\right),

    over all pairs of samples in one fold, and in different folds, of a repeat; `v` is the variance
    of all losses. The factor makes up for the means that were taken out: two samples are together
    in one repeat more if they are in this one. With weights each loss has its own as a factor.
    Products of losses that share nothing have the variance :math:`d_{ri}^2 d_{rj}^2`, whose sum
    over the pairs of one fold tells the noise.

    It is nan where there is one repeat, or where no loss varies.
    """
    row, times = dealt.row, np.bincount(dealt.row)
    n, several = int(np.count_nonzero(times)), bool(np.ptp(dealt.repeat))
    n_repeats = len(dealt.losses) / n
    weight = np.ones(len(row)) if dealt.weight is None else dealt.weight
    variance = float(np.cov(dealt.losses, aweights=weight, ddof=0))
    if not several or n < 2 or not variance > 0:
        return UNKNOWN
    moved = weight * (dealt.losses - (np.bincount(row, dealt.losses) / np.maximum(times, 1))[row])
    fit = dealt.repeat * (dealt.fold.max() + 1) + dealt.fold

    def pairs(values: Floats, part: NDArray[np.intp]) -> float:
        """Return the sum of products of two values of one part."""
        return float(np.sum(np.bincount(part, values) ** 2) - np.sum(values**2))

    same, all_pairs = pairs(moved, fit), pairs(moved, dealt.repeat)
    n_same, n_all = pairs(weight, fit), pairs(weight, dealt.repeat)
    if not n_all > n_same > 0:
        return UNKNOWN
    shared = same / n_same - (all_pairs - same) / (n_all - n_same)
    first = np.zeros(len(times), dtype=np.intp)
    first[row[::-1]] = np.arange(len(row))[::-1]
    first = first[times > 0]
    size = worth(Tested(dealt.losses[first], weight[first]))
    scale = size / variance / (1 - 1 / n_repeats) ** 2
    noise = np.sqrt(2 * max(0.0, pairs(moved**2, fit))) / n_same
    return Shared(float(scale * shared), float(scale * noise), float(size))


def within_fold_error(folds: Sequence[Tested]) -> float:
    """Return ``s / sqrt(n)``, ``s^2`` the mean over folds of the variance in the fold.

    The second variance of Bayle et al. (2020).
    """
    sizes = np.array([len(fold.losses) for fold in folds])
    variances = sizes * np.array([variance_of_mean(fold) for fold in folds])
    return float(np.sqrt(np.mean(variances) / sizes.sum()))


def corrected_t(means: Floats, test_train_ratio: float) -> Estimate:
    """Return the mean of subsamplings and ``sd sqrt(1/J + n2/n1)``: Nadeau & Bengio (2003)."""
    return float(means.mean()), corrected_error(means, test_train_ratio)


def conservative_z(whole: Floats, halves: Floats) -> Estimate:
    """Return the mean of subsamplings, and how far halves of the sample disagree about it.

    ``s^2 = sum_m (a_m - b_m)^2 / (2 M)``: Nadeau & Bengio (2003). `whole` has shape (J,),
    `halves` (M, 2, J); what is nan is left out.
    """
    complete = halves[np.all(np.isfinite(halves).any(axis=2), axis=1)]
    means = np.nanmean(complete, axis=2)
    gaps = means[:, 0] - means[:, 1]
    return float(np.nanmean(whole)), float(np.sqrt(np.sum(gaps**2) / (2 * len(gaps))))


def five_by_two(means: Floats) -> Estimate:
    """Return the first of five times two folds, and ``s``: Dietterich (1998).

    ``s^2 = (1/5) sum_r sum_k (p_rk - mean p_r)^2``; `means` has shape (5, 2).
    """
    spread = np.sum((means - means.mean(axis=1, keepdims=True)) ** 2, axis=1)
    return float(means[0, 0]), float(np.sqrt(np.nanmean(spread)))


def replace_one(error: float, base: float, replaced: Floats, n: int) -> Estimate:
    """Return the cross-validated error of all, and ``s / sqrt(n)``: Austern & Zhou (2020).

    ``s^2 = (n/4) sum_i (m_0 - m_i)^2`` over the replacements; those that are nan are made up for.
    """
    done = np.isfinite(replaced)
    total = np.sum((base - replaced[done]) ** 2) * len(replaced) / done.sum()
    return error, float(np.sqrt(n / 4 * total / n))


class NestedFold(NamedTuple):
    """A fold under nesting: its losses, and those within.

    Attributes
    ----------
    outer : Tested
        Losses of the fold, by the rule trained without it.
    inner : Tested
        Losses of all other folds, each by the rule trained without it and without the fold.
    """

    outer: Tested
    inner: Tested


class NestedErrors(NamedTuple):
    """What nested cross-validation finds.

    Attributes
    ----------
    outer, inner : float
        Mean losses: the cross-validated error, and that of rules trained on a fold less.
    mse : float
        Estimated mean squared deviation of the inner error from the risk; may be negative.
    naive : float
        Variance that the inner error would have if losses were independent.
    """

    outer: float
    inner: float
    mse: float
    naive: float


def nested_errors(folds: Sequence[NestedFold], n_folds: int, n: int) -> NestedErrors:
    """Return the errors and the mean squared error of Bates, Hastie & Tibshirani (2024, alg. 1).

    With ``a = (mean e_in - mean e_out)^2`` and ``b = var(e_out) / |fold|``, the mean squared error
    is ``(K-1)/K mean(a - b)`` over the folds of all repeats.
    """
    gaps = [
        (mean_loss(fold.inner) - mean_loss(fold.outer)) ** 2 - variance_of_mean(fold.outer)
        for fold in folds
    ]
    known = [gap for gap in gaps if np.isfinite(gap)]
    mse = (n_folds - 1) / n_folds * float(np.mean(known)) if known else np.nan
    inner = concatenate_tested([fold.inner for fold in folds])
    naive = float(np.var(inner.losses, ddof=1)) / n * design_effect([f.inner for f in folds])
    outer = mean_loss(concatenate_tested([fold.outer for fold in folds]))
    return NestedErrors(outer, mean_loss(inner), mse, naive)


def nested_interval(found: NestedErrors, n_folds: int) -> Estimate:
    """Return the inner error less its bias, and the root of the mean squared error.

    The bias of a rule trained on a fold less is ``(1 + (K-2)/K) (inner - outer)``. The standard
    error is held between the naive one and sqrt(K) times that.
    """
    bias = (1 + (n_folds - 2) / n_folds) * (found.inner - found.outer)
    mse = np.clip(np.nan_to_num(found.mse, nan=found.naive), found.naive, n_folds * found.naive)
    return found.inner - bias, float(np.sqrt(mse))


def resampled_plus(
    truth: NDArray,
    predictions: NDArray,
    losses: Floats,
    oob: NDArray[np.bool_],
    loss_fn: PerSampleLoss | None,
) -> tuple[float, float]:
    """Return .632+ and the resubstitution error of a sample.

    `predictions` are those of the rule fitted to all cases, for these; `losses` of shape
    (1 + n_resamples, n_cases) those of this rule and of the rules of the resamples; `oob` of shape
    (n_resamples, n_cases) says which cases a resample leaves out.
    """
    apparent = float(losses[0].mean())
    known = np.isfinite(losses[1:])
    counts = (oob & known).sum(axis=0)
    sums = np.where(oob & known, losses[1:], 0).sum(axis=0)
    tested = counts > 0
    out_of_bag = float(np.mean(sums[tested] / counts[tested]))
    gamma = no_information(truth, predictions, loss_fn)[0]
    return combine(".632+", apparent, out_of_bag, gamma).error, apparent
