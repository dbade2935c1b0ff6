"""Multinomial delta method for averaged precision, recall, F and Jaccard's index.

The cells of a confusion matrix are multinomial, cov(p_ij, p_kl) = (1[ij = kl] p_ij - p_ij p_kl)/n,
so that a smooth g(p) has var g = (sum p G^2 - (sum p G)^2) / n with G its gradient.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["FScore", "delta_variance", "f_score_gradient"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FScore:
    """Which of the averages: `value` precision, recall, F, Jaccard of each class, F of averages.

    `average` is "macro", "micro", "weighted" (by support), "log_inverse" or class weights;
    `chosen` are the classes averaged over.
    """

    value: str  # "precision" | "recall" | "f" (mean of the F of classes) | "jaccard" | "f_of_means"
    average: str | Floats
    beta: float
    chosen: NDArray[np.bool_]


def delta_variance(table: Floats, score: FScore) -> tuple[float, float]:
    """Return the score of a table of counts (rows true, columns predicted) and its variance."""
    n = table.sum()
    p = table / n
    value, gradient = f_score_gradient(p, score, n)
    mean = np.sum(p * gradient)
    return value, float(np.sum(p * (gradient - mean) ** 2) / n)


def f_score_gradient(p: Floats, score: FScore, n: float) -> tuple[float, Floats]:
    """Return the score of cell probabilities p and its gradient with respect to each cell."""
    if isinstance(score.average, str) and score.average == "micro":
        parts = [_micro(p, score.chosen, factors) for factors in _coefficients(score)]
    else:
        weight, slope = _weights(p.sum(axis=1), score, n)
        parts = [_mean_of_classes(p, weight, slope, factors) for factors in _coefficients(score)]
    if len(parts) == 1:
        return parts[0]
    (precision, of_precision), (recall, of_recall) = parts
    return _f_of_means(precision, of_precision, recall, of_recall, score.beta**2)


class _Factors(NamedTuple):
    """A rate ``top p_cc / (by_row row_c + by_column column_c - by_diagonal p_cc)`` of a class."""

    top: float
    by_row: float
    by_column: float
    by_diagonal: float = 0.0


_PRECISION, _RECALL = _Factors(1.0, 0.0, 1.0), _Factors(1.0, 1.0, 0.0)
_JACCARD = _Factors(1.0, 1.0, 1.0, 1.0)


def _coefficients(score: FScore) -> list[_Factors]:
    """Return the rates to average."""
    b2 = score.beta**2
    f = _RECALL if np.isinf(b2) else _Factors(1 + b2, b2, 1.0)
    return {
        "precision": [_PRECISION],
        "recall": [_RECALL],
        "jaccard": [_JACCARD],
        "f_of_means": [_PRECISION, _RECALL],
    }.get(score.value, [f])


def _micro(p: Floats, chosen: NDArray[np.bool_], factors: _Factors) -> tuple[float, Floats]:
    part, row, column = (v[chosen].sum() for v in (np.diag(p), p.sum(axis=1), p.sum(axis=0)))
    whole = factors.by_row * row + factors.by_column * column - factors.by_diagonal * part
    if whole <= 0:
        return 0.0, np.zeros_like(p)
    value = factors.top * part / whole
    one = chosen.astype(np.float64)
    spread = factors.by_row * one[:, None] + factors.by_column * one[None, :]
    return float(value), (
        (factors.top + value * factors.by_diagonal) * np.diag(one) - value * spread
    ) / whole


def _mean_of_classes(
    p: Floats, weight: Floats, slope: Floats, factors: _Factors
) -> tuple[float, Floats]:
    """Return sum_c w_c m_c and its gradient; `slope` is d(unnormalised w_c)/d(row c) / sum."""
    top, by_row, by_column, by_diagonal = factors
    part = np.diag(p)
    whole = by_row * p.sum(axis=1) + by_column * p.sum(axis=0) - by_diagonal * part
    share = np.divide(weight, whole, out=np.zeros_like(whole), where=whole > 0)
    values = np.divide(top * part, whole, out=np.zeros_like(whole), where=whole > 0)
    mean = float(weight @ values)
    gradient = np.diag(share * (top + by_diagonal * values)) - by_column * (share * values)[None, :]
    return mean, gradient + (slope * (values - mean) - by_row * share * values)[:, None]


def _weights(row: Floats, score: FScore, n: float) -> tuple[Floats, Floats]:
    """Return class weights that sum to 1, and their slopes in the class frequencies."""
    weight, slope = np.zeros_like(row), np.zeros_like(row)
    support = row[score.chosen]
    if not isinstance(score.average, str):
        weight[score.chosen] = score.average
    elif score.average == "macro":
        weight[score.chosen] = 1.0
    elif score.average == "weighted":
        weight[score.chosen], slope[score.chosen] = support, 1.0
    else:  # The weights are 1 / log n_c.
        weight[score.chosen] = 1 / np.log(n * support)
        slope[score.chosen] = -1 / (support * np.log(n * support) ** 2)
    total = weight.sum()
    return weight / total, slope / total


def _f_of_means(
    precision: float, of_precision: Floats, recall: float, of_recall: Floats, b2: float
) -> tuple[float, Floats]:
    if precision == recall == 0:
        return 0.0, np.zeros_like(of_precision)
    if np.isinf(b2):
        return recall, of_recall
    whole = b2 * precision + recall
    value = (1 + b2) * precision * recall / whole
    chain = recall**2 * of_precision + b2 * precision**2 * of_recall
    return value, (1 + b2) * chain / whole**2
