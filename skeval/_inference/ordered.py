r"""Tests of losses in time order, with autocorrelated errors.

The mean of `n` such losses has a larger variance than that of independent losses. Consecutive
samples are combined into blocks, and blocks are treated as groups. For an autoregressive series of
order 1 with coefficient :math:`\rho`, blocks of `b` losses capture only the fraction

.. math:: 1 - \frac{2 \rho}{b (1 - \rho^2)}

of the variance of the mean of a long series, because correlations across block ends are lost. The
block length keeps this loss below `LOST`. There are at most `MAX_BLOCKS` blocks: more blocks gain
little (Student's quantile is 2.09 for 20 and 1.96 for infinitely many), and would be shorter.

A season is estimated from the values: it is the lag of the largest autocorrelation of the
residuals of an autoregression of order 1, since that autoregression alone makes neighbors similar
at short lags.

Two tests compare two models by the differences of their losses: a test on blocks, and the test of
Diebold and Mariano, for forecasts whose errors are correlated up to a known horizon.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from skeval._inference.errors import TestLosses, variance_of_mean
from skeval._inference.paired import PairedTest, student_test

Floats = NDArray[np.float64]

LOST = 0.08
"""Maximum fraction of the variance of a mean that is lost at the ends of blocks."""
MIN_BLOCKS, MAX_BLOCKS = 3, 20

FALSE_ALARM = 0.01
"""Maximum probability of a false season in an autoregressive series of order 1."""


def autocorrelation(losses: Floats) -> float:
    """Return the lag-1 autocorrelation, with Kendall's (1954) bias correction.

    It is at least 0: a negative autocorrelation does not require longer blocks.
    """
    n, deviations = len(losses), losses - losses.mean()
    total = float(deviations @ deviations)
    if n < 2 or not total > 0:
        return 0.0
    estimate = float(deviations[1:] @ deviations[:-1]) / total
    return float(np.clip(estimate + (1 + 3 * estimate) / n, 0, 1 - 1 / n))


def find_season(values: Floats) -> int:
    r"""Return the period of values in time order, in steps; 1 if none is detected.

    `values` are numbers, or the indicators of the classes in columns. With the deviations
    :math:`d_t` from the mean and :math:`\phi = \sum d_t d_{t-1} / \sum d_{t-1}^2`, the residuals
    :math:`d_t - \phi d_{t-1}` of an autoregression of order 1 are independent, and each of their
    autocorrelations has the standard deviation :math:`1 / \sqrt{n}`. The season is the lag, from 2
    to ``n / 4``, of the largest one, if it exceeds the normal quantile of `FALSE_ALARM` with
    Bonferroni's correction for the number of lags. A divisor of that lag is preferred if its
    autocorrelation is smaller by at most two standard errors. Lags only count if the
    autocorrelation of the values themselves rises there: a long memory that decays is not a
    season.
    """
    columns = values.reshape(len(values), -1)
    deviations = columns - columns.mean(axis=0)
    before, n_lags = deviations[:-1], len(values) // 4
    total = float(np.sum(before**2))
    if n_lags < 2 or not total > 0:
        return 1
    residuals = deviations[1:] - np.sum(deviations[1:] * before) / total * before
    rises = np.diff(_products(deviations, n_lags)) > 0
    products = _products(residuals - residuals.mean(axis=0), n_lags)
    error = products[0] / np.sqrt(len(residuals))
    products[1:][~rises] = -np.inf
    products[:2] = -np.inf
    # the largest autocorrelation, tested at the Bonferroni level
    best = int(np.argmax(products))
    if not products[best] > stats.norm.isf(FALSE_ALARM / (n_lags - 1)) * error:
        return 1
    # the shortest divisor with a similar autocorrelation
    parts = [lag for lag in range(2, best + 1) if best % lag == 0]
    return next(lag for lag in parts if products[lag] >= products[best] - 2 * error)


def _products(columns: Floats, n_lags: int) -> Floats:
    """Return the sums of products of the values with those 0 to `n_lags` steps before."""
    padded = np.fft.rfft(columns, 2 * len(columns), axis=0)
    products: Floats = np.fft.irfft(np.sum(np.abs(padded) ** 2, axis=1))[: n_lags + 1]
    return products


def time_blocks(losses: Floats) -> NDArray[np.intp] | None:
    """Return the block of each loss in time order, numbered from 0; None for too few losses.

    Block lengths differ by at most one sample. There are at most ``.4 n^(2/3)`` blocks, so the
    length grows with the number of samples even without autocorrelation.
    """
    n, rho = len(losses), autocorrelation(losses)
    shortest = max(1.0, 2 * rho / (1 - rho**2) / LOST)
    n_blocks = int(min(MAX_BLOCKS, 0.4 * n ** (2 / 3), n / shortest))
    if n_blocks < MIN_BLOCKS:
        return None
    return np.arange(n) * n_blocks // n


def time_units(sums: NDArray[Any], tests: NDArray[Any]) -> NDArray[np.intp]:
    """Return the block of each sample from the sum of its losses and the number of its tests.

    Samples that were never tested are assigned to block 0. With too few losses for blocks, all
    samples are in block 0.
    """
    unit, tested = np.zeros(len(tests), dtype=np.intp), tests > 0
    blocks = time_blocks(sums[tested] / tests[tested])
    if blocks is not None:
        unit[tested] = blocks
    return unit


def blocks_test(differences: Floats, alternative: str = "two-sided") -> PairedTest:
    """Return the test of the mean difference on blocks of time; nan for too few differences."""
    blocks, error, n_blocks = time_blocks(differences), np.nan, 0
    if blocks is not None:
        error = float(np.sqrt(variance_of_mean(TestLosses(differences, None, blocks))))
        n_blocks = int(blocks[-1]) + 1
    return student_test(float(differences.mean()), error, n_blocks - 1, alternative)


def diebold_mariano(
    differences: Floats, horizon: int = 1, alternative: str = "two-sided"
) -> PairedTest:
    r"""Return the test of Diebold & Mariano (1995).

    The correction is by Harvey, Leybourne & Newbold (1997). Errors of forecasts `h` steps
    ahead are correlated over ``h - 1`` steps. With the autocovariances
    :math:`\gamma_k = \frac1n \sum_t (d_t - \bar d)(d_{t-k} - \bar d)` the variance of the mean is

    .. math:: \frac{1}{n} \Big( \gamma_0 + 2 \sum_{k<h} \gamma_k \Big) \cdot
              \frac{n}{n + 1 - 2h + h(h-1)/n} ,

    with ``n - 1`` degrees of freedom. This estimate may be negative; the test is then undefined.
    For one step it is Student's test of the differences.
    """
    n, deviations = len(differences), differences - differences.mean()
    covariances = [float(deviations[k:] @ deviations[: n - k]) / n for k in range(horizon)]
    variance = (covariances[0] + 2 * sum(covariances[1:])) / n
    variance *= n / (n + 1 - 2 * horizon + horizon * (horizon - 1) / n)
    error = float(np.sqrt(variance)) if variance >= 0 else np.nan
    return student_test(float(differences.mean()), error, n - 1, alternative)
