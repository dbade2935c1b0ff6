"""Influence values and standard errors of the bootstrap estimates of error."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

__all__ = [
    "Influence",
    "Units",
    "no_information",
    "out_of_bag_influence",
    "pairwise_means",
    "sampling_influence",
    "standard_error",
    "weigh_values",
]

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
    rows, columns = np.empty(n), np.zeros(n)
    step = max(1, PAIR_ELEMENTS // n)
    for start in range(0, n, step):
        labels = truth[start : start + step]
        pairs = loss_fn(np.repeat(labels, n), np.tile(predictions, len(labels)))
        pairs = pairs.reshape(len(labels), n)
        rows[start : start + step] = pairs @ weights / n
        columns += weights[start : start + step] @ pairs
    return rows, columns / n


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
