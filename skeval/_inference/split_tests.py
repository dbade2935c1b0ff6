"""Tests of scores of splits that are made for them, and of several classifiers at once."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from skeval._inference.interval import Limits
from skeval._inference.paired_tests import PairedTest, tail_probability

__all__ = ["cochran_q_statistic", "five_by_two_f", "five_by_two_t"]

Floats = NDArray[np.float64]


def five_by_two_t(differences: Floats, alternative: str) -> PairedTest:
    """Dietterich (1998): the first of 5 x 2 differences over its error, on 5 degrees of freedom."""
    error = float(np.sqrt(_variances(differences).mean()))
    first = float(differences[0, 0])
    if error == 0:
        return PairedTest(0.0, *_of_no_variance(differences), partial(_nothing))
    statistic = first / error
    pvalue = tail_probability(stats.t(5), statistic, alternative)
    return PairedTest(error, statistic, pvalue, partial(_t_limits, first, error))


def five_by_two_f(differences: Floats) -> PairedTest:
    """Alpaydin (1999): ``sum d^2 / (2 sum s^2)`` of 5 x 2 differences, F on 10 and 5 degrees."""
    total = float(_variances(differences).sum())
    error = float(np.sqrt(total / 5))
    if total == 0:
        return PairedTest(0.0, *_of_no_variance(differences), partial(_nothing))
    statistic = float(np.sum(differences**2)) / (2 * total)
    limits = partial(_f_limits, differences, total)
    return PairedTest(error, statistic, float(stats.f.sf(statistic, 10, 5)), limits)


def _variances(differences: Floats) -> Floats:
    """Return ``(d_1 - mean)^2 + (d_2 - mean)^2`` of each of five repeats."""
    variances: Floats = (differences[:, 0] - differences[:, 1]) ** 2 / 2
    return variances


def _of_no_variance(differences: Floats) -> tuple[float, float]:
    """Return statistic and P-value where the two differences of each repeat are equal."""
    return (np.nan, np.nan) if differences.any() else (0.0, 1.0)


def _nothing(confidence_level: float) -> Limits:
    return np.nan, np.nan


def _t_limits(first: float, error: float, confidence_level: float) -> Limits:
    half = float(stats.t.isf((1 - confidence_level) / 2, 5)) * error
    return first - half, first + half


def _f_limits(differences: Floats, total: float, confidence_level: float) -> Limits:
    """Return the differences that the test of their distance would not reject.

    They solve ``sum (d - x)^2 = 2 F total``; none does where the ten differ by too much among
    themselves.
    """
    most = 2 * float(stats.f.isf(1 - confidence_level, 10, 5)) * total
    mean = float(differences.mean())
    square = (most - float(np.sum((differences - mean) ** 2))) / differences.size
    if square < 0:
        return np.nan, np.nan
    return mean - float(np.sqrt(square)), mean + float(np.sqrt(square))


def cochran_q_statistic(right: NDArray[np.bool_]) -> float:
    """Cochran (1950), of (k, n): which of k classifiers is right on which of n samples."""
    k = len(right)
    of_classifier, of_sample = right.sum(axis=1), right.sum(axis=0)
    spread = float(np.sum(of_sample * (k - of_sample)))
    if spread == 0:
        return 0.0
    return float(k * (k - 1) * np.sum((of_classifier - of_classifier.mean()) ** 2)) / spread
