"""The scores of many fits at once, for the metrics that most tests are made with."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["SCORES_OF_CLASSES", "SCORES_OF_NUMBERS", "ScoresOfFits"]


def sums_of_fits(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the sum over the answers of each fit; no fit is tested on nothing."""
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    sums: np.ndarray = np.add.reduceat(values, starts)
    return sums


def accuracy(true: np.ndarray, predicted: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the fraction that is predicted right."""
    return sums_of_fits((true == predicted).astype(np.intp), sizes) / sizes


def r2(true: np.ndarray, predicted: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the fraction of the variance that is explained; nan where there is none."""
    true = true.astype(float)
    means = np.repeat(sums_of_fits(true, sizes) / sizes, sizes)
    total = sums_of_fits((true - means) ** 2, sizes)
    unexplained = sums_of_fits((true - predicted) ** 2, sizes)
    # A variance that is but a rounding error of the mean is left to scikit-learn.
    defined = total > 1e-20 * sums_of_fits(true**2, sizes)
    score: np.ndarray = 1 - unexplained / np.where(defined, total, np.nan)
    if np.array_equal(true, np.rint(true)):  # sums are exact, and so is a variance of 0
        constant = (total == 0) & (sizes > 1)
        score[constant] = unexplained[constant] == 0
    return score


def negative_mean_squared_error(
    true: np.ndarray, predicted: np.ndarray, sizes: np.ndarray
) -> np.ndarray:
    """Return minus the mean of the squared residuals."""
    error: np.ndarray = -sums_of_fits((true - predicted) ** 2, sizes) / sizes
    return error


ScoresOfFits = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]

SCORES_OF_CLASSES: dict[str | None, ScoresOfFits] = {"accuracy": accuracy}
SCORES_OF_NUMBERS: dict[str | None, ScoresOfFits] = {
    "r2": r2,
    "neg_mean_squared_error": negative_mean_squared_error,
}
"""``(true, predicted, sizes)`` of all answers, fit after fit, to one score for each fit.

A score of nan is computed again by scikit-learn's scorer.
"""
