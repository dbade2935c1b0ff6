"""Norms of the errors of a regressor, and the losses of single predictions, by name."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length

from skeval.utils._checks import check_data, check_weights, naming
from skeval.utils._compat import Interval, validate_params

__all__ = ["LOSSES", "PROBABILITY_LOSSES", "error_norm", "find_brier_losses", "find_log_losses"]

Floats = NDArray[np.float64]


@validate_params(
    {
        "y_true": ["array-like"],
        "y_pred": ["array-like"],
        "ord": [Interval(Real, 0, None, closed="both")],
        "sample_weight": ["array-like", None],
    }
)
def error_norm(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    ord: float = 2,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Norm of the vector of errors, of any order from 0 to infinity.

    .. math:: \|e\|_q = \Bigl(\sum_i |y_i - \hat y_i|^q\Bigr)^{1/q}

    with two limits: ``ord=0`` is the number of non-zero errors, ``ord=inf`` the largest error.
    In :math:`[0, \infty)`; 0 is best.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs)
        True values.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Predicted values.
    ord : float in [0, inf], default=2
        The order `q`. Below 1 it is not a norm (no triangle inequality).
    sample_weight : array-like of shape (n_samples,), default=None
        Each sample counts as often as its weight says.

    Returns
    -------
    norm : float
        In the unit of `y`; for ``ord=0`` a (weighted) number of errors. Infinite where it exceeds
        the largest float, as it soon does for a small `ord`: `n` errors of 1 make ``n ** (1 / q)``.

    Raises
    ------
    ValueError
        If shapes differ, `ord` is negative, or weights are negative or all zero.

    Notes
    -----
    The norm grows with the number of samples; per sample, of one output,
    ``RMSE = error_norm(ord=2) / sqrt(n)`` and ``MAE = error_norm(ord=1) / n``.

    Examples
    --------
    >>> from skeval.metrics import error_norm
    >>> y_true, y_pred = [1.0, 2.0, 3.0, 4.0], [1.0, 5.0, 3.0, 0.0]
    >>> error_norm(y_true, y_pred)
    5.0
    >>> [error_norm(y_true, y_pred, ord=q) for q in (0, 1, float("inf"))]
    [2.0, 7.0, 4.0]
    """
    error, weight = _absolute_errors(y_true, y_pred, sample_weight)
    if ord in (1, 2):
        with np.errstate(over="ignore", invalid="ignore"):
            factor = error if weight is None else weight * error
            total = float(factor.sum() if ord == 1 else factor @ error)
        if 1e-280 < total < np.inf:  # no power underflowed or overflowed
            return total if ord == 1 else total**0.5
    if weight is not None:
        error, weight = error[weight > 0], weight[weight > 0]
    if ord == 0:
        return float(np.count_nonzero(error) if weight is None else weight @ (error != 0))
    largest = float(error.max())
    if np.isinf(ord) or largest == 0 or np.isinf(largest):
        return largest
    # Errors relative to the largest cannot overflow when they are raised to the order. Logarithms
    # stand for the quotients that are too small for a float of full precision.
    relative = error / largest
    powers = relative**ord
    small = relative < 1e-300
    if small.any():
        with np.errstate(divide="ignore"):
            powers[small] = np.exp(ord * (np.log(error[small]) - np.log(largest)))
    total = float(powers.sum() if weight is None else weight @ powers)
    logarithm = np.log(total) / ord
    if abs(logarithm) < 700:
        return largest * total ** (1 / ord)
    with np.errstate(over="ignore"):  # as above, where the power itself would overflow
        return float(np.exp(np.log(largest) + logarithm))


def _absolute_errors(
    y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[Floats, Floats | None]:
    """Return the absolute errors, one per sample and output, and their weights."""
    true = check_data("y_true", y_true, ensure_2d=False, dtype=np.float64)
    pred = check_data("y_pred", y_pred, ensure_2d=False, dtype=np.float64)
    if true.shape != pred.shape or true.ndim != 1:
        with naming("y_true", "y_pred"):
            check_consistent_length(true, pred)
        true, pred = true.reshape(len(true), -1), pred.reshape(len(pred), -1)
    if true.shape != pred.shape:
        raise ValueError(f"y_true and y_pred must agree in shape: {true.shape}, {pred.shape}.")
    with np.errstate(over="ignore"):
        error = true - pred
    error = np.abs(error, out=error).ravel()
    if sample_weight is None:
        return error, None
    with naming("y_true", "y_pred"):
        check_consistent_length(true, pred, sample_weight)
    weight = check_weights("sample_weight", sample_weight, len(true))
    return error, weight if len(error) == len(weight) else np.repeat(weight, true.shape[1])


def find_log_losses(codes: NDArray[np.intp], shares: Floats) -> Floats:
    """Return the negative logarithms of the probabilities of the true classes."""
    own = shares[np.arange(len(codes)), codes]
    return -np.log(own.clip(np.finfo(shares.dtype).eps, 1.0))


def find_brier_losses(codes: NDArray[np.intp], shares: Floats) -> Floats:
    """Return the squared distances of the probabilities from 0 and 1.

    Of two classes it is that of the second one alone, as Brier has it.
    """
    hit = np.zeros_like(shares)
    hit[np.arange(len(codes)), codes] = 1.0
    squares: Floats = np.sum((shares - hit) ** 2, axis=1)
    return squares / 2 if shares.shape[1] == 2 else squares


LOSSES: dict[str, Callable[[Any, Any], Any]] = {
    "zero_one": lambda y_true, y_pred: (y_true != y_pred).astype(float),
    # Floats are subtracted, since the difference of small unsigned integers would wrap around.
    "squared": lambda y_true, y_pred: np.subtract(y_true, y_pred, dtype=float) ** 2,
    "absolute": lambda y_true, y_pred: np.abs(np.subtract(y_true, y_pred, dtype=float)),
}
"""Losses of predictions."""

PROBABILITY_LOSSES: dict[str, Callable[[Any, Any], Any]] = {
    "log_loss": find_log_losses,
    "brier": find_brier_losses,
}
"""Losses of the probabilities of classes, whose true values are the numbers of the columns."""
