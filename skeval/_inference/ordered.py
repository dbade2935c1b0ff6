r"""Losses in the order of time, where neighbours err together.

The mean of `n` such losses varies more than that of independent ones. Consecutive samples are put
together in blocks, and blocks are counted as groups are. A block of `b` losses of an autoregressive
series of the first order with the coefficient :math:`\rho` knows but the share

.. math:: 1 - \frac{2 \rho}{b (1 - \rho^2)}

of the variance of a mean of many, since what reaches over its ends is lost: blocks are made so long
that no more than `LOST` is. There are `MOST_BLOCKS` at most, since more of them say little more
(Student's quantile is 2.09 for 20 and 1.96 for infinitely many), and are shorter.

A season is sought in the values themselves: the lag of the largest autocorrelation of what is left
when the memory of one step is taken out, which alone would make neighbours alike at short lags.

Three tests of two rules go by the differences of their losses: by blocks, that of Diebold and
Mariano for forecasts whose errors are alike up to a known horizon, and that of Giacomini and White,
which asks whether the last difference foretells the next.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from skeval._inference.errors import Tested, variance_of_mean
from skeval._inference.intervals import normal_interval
from skeval._inference.paired import PairedTest, student_test

__all__ = [
    "autocorrelation",
    "blocks_test",
    "diebold_mariano",
    "find_season",
    "giacomini_white",
    "time_blocks",
    "time_units",
]

Floats = NDArray[np.float64]

LOST = 0.08
"""Share of the variance of a mean that blocks may lose at their ends."""
FEWEST_BLOCKS, MOST_BLOCKS = 3, 20

FALSE_ALARM = 0.01
"""Share of series without a season in which one is found, at most, if it were one step's memory."""


def autocorrelation(losses: Floats) -> float:
    """Return the correlation of neighbours, with Kendall's (1954) correction of its bias.

    It is 0 at least: where neighbours differ more than others do, blocks need not be longer.
    """
    n, deviations = len(losses), losses - losses.mean()
    total = float(deviations @ deviations)
    if n < 2 or not total > 0:
        return 0.0
    found = float(deviations[1:] @ deviations[:-1]) / total
    return float(np.clip(found + (1 + 3 * found) / n, 0, 1 - 1 / n))


def find_season(values: Floats) -> int:
    r"""Return the number of steps after which values in order come again; 1 where none shows.

    `values` are numbers, or the indicators of the classes in columns. With the deviations
    :math:`d_t` from the mean and :math:`\phi = \sum d_t d_{t-1} / \sum d_{t-1}^2`, the differences
    :math:`d_t - \phi d_{t-1}` are independent where values remember one step alone, and each of
    their autocorrelations varies by :math:`1 / \sqrt{n}`. The season is the lag, of 2 to ``n / 4``,
    of the largest one, if that exceeds the normal quantile of `FALSE_ALARM` shared among the lags;
    or the shortest part of that lag where they are as large but for two standard errors. Lags count
    only where the values themselves are more alike than one step less apart: a longer memory that
    fades is no season.
    """
    columns = values.reshape(len(values), -1)
    deviations = columns - columns.mean(axis=0)
    before, n_lags = deviations[:-1], len(values) // 4
    total = float(np.sum(before**2))
    if n_lags < 2 or not total > 0:
        return 1
    left = deviations[1:] - np.sum(deviations[1:] * before) / total * before
    rises = np.diff(_products(deviations, n_lags)) > 0
    products = _products(left - left.mean(axis=0), n_lags)
    error = products[0] / np.sqrt(len(left))
    products[1:][~rises] = -np.inf
    products[:2] = -np.inf
    best = int(np.argmax(products))
    if not products[best] > stats.norm.isf(FALSE_ALARM / (n_lags - 1)) * error:
        return 1
    parts = [lag for lag in range(2, best + 1) if best % lag == 0]
    return next(lag for lag in parts if products[lag] >= products[best] - 2 * error)


def _products(columns: Floats, n_lags: int) -> Floats:
    """Return the sums of the products of values with those 0 to `n_lags` steps before."""
    padded = np.fft.rfft(columns, 2 * len(columns), axis=0)
    found: Floats = np.fft.irfft(np.sum(np.abs(padded) ** 2, axis=1))[: n_lags + 1]
    return found


def time_blocks(losses: Floats) -> NDArray[np.intp] | None:
    """Return the block of each of losses in order, numbered from 0; None where they are too few.

    Blocks are equally long but for one sample. Their number is ``.4 n^(2/3)`` at most: the length
    grows with the number of samples, even where neighbours do not err together.
    """
    n, rho = len(losses), autocorrelation(losses)
    shortest = max(1.0, 2 * rho / (1 - rho**2) / LOST)
    n_blocks = int(min(MOST_BLOCKS, 0.4 * n ** (2 / 3), n / shortest))
    if n_blocks < FEWEST_BLOCKS:
        return None
    return np.arange(n) * n_blocks // n


def time_units(sums: NDArray[Any], tests: NDArray[Any]) -> NDArray[np.intp]:
    """Return the block of each sample, by its losses: their sums, and how often it was tested.

    Samples that were not tested have no unit of their own; all are one where blocks are too few.
    """
    unit, tested = np.zeros(len(tests), dtype=np.intp), tests > 0
    blocks = time_blocks(sums[tested] / tests[tested])
    if blocks is not None:
        unit[tested] = blocks
    return unit


def blocks_test(differences: Floats, alternative: str = "two-sided") -> PairedTest:
    """Return the test of the mean of differences in order by blocks of time; nan of too few."""
    blocks, error, n_blocks = time_blocks(differences), np.nan, 0
    if blocks is not None:
        error = float(np.sqrt(variance_of_mean(Tested(differences, None, blocks))))
        n_blocks = int(blocks[-1]) + 1
    return student_test(float(differences.mean()), error, n_blocks, alternative)


def diebold_mariano(
    differences: Floats, horizon: int = 1, alternative: str = "two-sided"
) -> PairedTest:
    r"""Diebold & Mariano (1995), with the correction of Harvey, Leybourne & Newbold (1997).

    The errors of forecasts `h` steps ahead are alike over ``h - 1`` steps. With the autocovariances
    :math:`\gamma_k = \frac1n \sum_t (d_t - \bar d)(d_{t-k} - \bar d)` the variance of the mean is

    .. math:: \frac{1}{n} \Big( \gamma_0 + 2 \sum_{k<h} \gamma_k \Big) \cdot
              \frac{n}{n + 1 - 2h + h(h-1)/n} ,

    on ``n - 1`` degrees of freedom. It may be below 0, and the test is undefined then. For one step
    it is Student's test of the differences.
    """
    n, deviations = len(differences), differences - differences.mean()
    covariances = [float(deviations[k:] @ deviations[: n - k]) / n for k in range(horizon)]
    variance = (covariances[0] + 2 * sum(covariances[1:])) / n
    variance *= n / (n + 1 - 2 * horizon + horizon * (horizon - 1) / n)
    error = float(np.sqrt(variance)) if variance >= 0 else np.nan
    return student_test(float(differences.mean()), error, n, alternative)


def giacomini_white(differences: Floats) -> tuple[PairedTest, float]:
    r"""Giacomini & White (2006), one step ahead; and the next difference that is foretold.

    The hypothesis is that the difference to come is 0 on average whatever the last one was. With
    :math:`h_t = (1, d_t)` and :math:`z_{t+1} = h_t d_{t+1}` the statistic is that of Wald,

    .. math:: T = n\, \bar z' \Big( \frac1n \sum_t z_t z_t' \Big)^{-1} \bar z ,

    `n` times the uncentred :math:`R^2` of 1 on :math:`z`, chi-squared on its rank, 2. The interval
    is that of the mean difference by blocks of time, without ends where they are too few. The next
    difference is foretold by least squares of the differences on those before.
    """
    by_blocks = blocks_test(differences)
    scale = float(np.sqrt(np.mean(differences**2))) or 1.0  # which the rank must not depend on
    unit = differences / scale
    known = np.column_stack([np.ones(len(unit) - 1), unit[:-1]])
    moments = known * unit[1:, None]
    ones = np.ones(len(moments))
    weights, _, rank, _ = np.linalg.lstsq(moments, ones, rcond=None)
    statistic = float(ones @ (moments @ weights))
    pvalue = float(stats.chi2.sf(statistic, max(rank, 1)))  # no moments tell nothing
    slopes = np.linalg.lstsq(known, unit[1:], rcond=None)[0]
    foretold = scale * float(slopes[0] + slopes[1] * unit[-1])
    if np.isnan(by_blocks.standard_error):
        by_blocks = by_blocks._replace(limits=partial(normal_interval, 0.0, np.inf))
    return by_blocks._replace(statistic=statistic, pvalue=pvalue), foretold
