"""Metrics of a selection of samples from what is found once: values of samples, counts of texts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import metrics

from skeval._resampling.units import Statistic
from skeval.metrics import get_scorer
from skeval.metrics._bleu import bleu_options, log_bleu
from skeval.metrics._sentences import bleu_statistics
from skeval.model_selection._analytic import unwrap
from skeval.utils._compat import metric_of_scorer

__all__ = ["find_metric", "find_sample_values", "make_bleu_statistic", "make_mean_statistic"]

Floats = NDArray[np.float64]
AGREEMENT = 1e-10


def find_metric(name: str) -> Callable[..., float]:
    """Return the metric of a scorer by its name; one that turns the sign of a loss is refused."""
    function, arguments, greater_is_better = metric_of_scorer(get_scorer(name))
    if not greater_is_better:
        raise ValueError(
            f"metric={name!r} is a loss under the other sign; give the function itself, "
            f"{function.__name__}."
        )
    return partial(function, **arguments) if arguments else function


def make_mean_statistic(
    metric: Callable[..., float], y_true: Any, y_pred: Any, weight: Floats | None
) -> Statistic | None:
    """Return the metric of a selection of samples, where it is a mean over these; else None."""
    values = find_sample_values(metric, y_true, y_pred, weight)
    if values is None:
        return None

    def statistic(indices: NDArray[np.intp]) -> float:
        selected = None if weight is None else weight[indices]
        return float(np.average(values[indices], weights=selected))

    return statistic


def find_sample_values(
    metric: Callable[..., float],
    y_true: Any,
    y_pred: Any,
    weight: Floats | None,
) -> Floats | None:
    """Return one value for each sample, whose mean is the metric; None where none are known.

    The mean of all of them is compared with the metric itself, so that neither another version of
    it nor data of another shape is ever taken for what it is not.
    """
    function, arguments = unwrap(metric)
    if function not in VALUES or arguments:
        return None
    try:
        values = VALUES[function](np.asarray(y_true), np.asarray(y_pred, dtype=float))
    except (IndexError, TypeError, ValueError):
        return None
    if values.shape != (len(y_true),) or not np.isfinite(values).all():
        return None
    options = {} if weight is None else {"sample_weight": weight}
    expected = float(metric(y_true, y_pred, **options))
    found = np.average(values, weights=weight)
    return values if abs(found - expected) <= AGREEMENT * max(1.0, abs(expected)) else None


def make_bleu_statistic(
    logarithm: bool,
    references: Any,
    hypotheses: Any,
    *,
    max_order: int = 4,
    tokenize: Any = None,
    weights: Any = None,
    smoothing: Any = None,
    smoothing_value: float | None = None,
    effective_order: bool = False,
) -> Statistic:
    """BLEU of a selection of sentences, from their counts."""
    options = bleu_options(max_order, weights, smoothing, smoothing_value, effective_order)
    rows = bleu_statistics(references, hypotheses, max_order=max_order, tokenize=tokenize)

    def statistic(indices: NDArray[np.intp]) -> float:
        value = log_bleu(rows[indices].sum(axis=0), *options)
        return value if logarithm else float(np.exp(value))

    return statistic


def _log_losses(y_true: NDArray[Any], y_pred: Floats) -> Floats:
    """Return the negative logarithms of the probabilities of the true classes."""
    codes = np.unique(y_true, return_inverse=True)[1]
    shares = np.column_stack([1 - y_pred, y_pred]) if y_pred.ndim == 1 else y_pred
    least = np.finfo(shares.dtype).eps
    losses: Floats = -np.log(np.clip(shares, least, 1 - least)[np.arange(len(codes)), codes])
    return losses


def _brier_losses(y_true: NDArray[Any], y_pred: Floats) -> Floats:
    """Return the squared distances of the probability of the second class from 0 or 1."""
    codes = np.unique(y_true, return_inverse=True)[1]
    return (y_pred - codes) ** 2


def _percentage_errors(y_true: NDArray[Any], y_pred: Floats) -> Floats:
    """Return absolute errors relative to the true values."""
    errors: Floats = np.abs(y_pred - y_true) / np.maximum(np.abs(y_true), np.finfo(float).eps)
    return errors


def _log_errors(y_true: NDArray[Any], y_pred: Floats) -> Floats:
    """Return squared differences of the logarithms of 1 + value."""
    errors: Floats = (np.log1p(y_true) - np.log1p(y_pred)) ** 2
    return errors


VALUES: dict[Any, Callable[[NDArray[Any], Floats], Floats]] = {
    metrics.log_loss: _log_losses,
    metrics.brier_score_loss: _brier_losses,
    metrics.mean_absolute_percentage_error: _percentage_errors,
    metrics.mean_squared_log_error: _log_errors,
}
