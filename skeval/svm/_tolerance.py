"""How far libsvm can be from the exact solution: arrays in, arrays out.

libsvm stops at a tolerance and keeps its kernel in single precision. What it returns is the exact
solution of a problem whose margins are ``1 + e_i`` in place of 1, with ``|e_i| <= r_i``, the
tolerance plus what rounding does to the gradient. As long as no sample changes between bound and
free that solution is linear in e: with c(x) from the bordered system of the free samples, the
decision value of x is off by ``sum_i c_i(x) e_i``, the sum of the sizes at most, and hardly more
than a few times the root of the sum of the squares.
"""

from collections.abc import Callable

import numpy as np

__all__ = ["GramColumns", "columns_of", "doubtful_fits", "residual_bound"]

GramColumns = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Columns (b, n, m) of the Gram matrices of some problems (b,), given their samples (b, m)."""

REACH = 200
"""Decision values are looked at where they are within so many residuals of 0, or of each other."""
UNSTEADY = 25
"""None is believed within so many residuals where a sample may change between bound and free.

Over 1,258 such problems of many kinds libsvm was off by at most 15 residuals.
"""
DEVIATIONS = 4.0
"""Where none can change, residuals of many samples are taken to add up like independent ones.

Over 3,465 such problems libsvm was off by at most 0.73 of the bound.
"""
_FREE = 1e-6
_BLOCK = 2**17


def residual_bound(tol: float, norms: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Return r (B, n), given the norms (B, n) of the samples as libsvm sees them.

    The gradient sums ``alpha_j K_ij`` over kernel values rounded to float32, and
    ``|K_ij| <= |x_i| |x_j|``.
    """
    rounding = np.finfo(np.float32).eps / 2
    return tol + rounding * norms * (norms * alpha).sum(axis=1, keepdims=True)


def columns_of(K: np.ndarray) -> GramColumns:
    """Return the columns of Gram matrices (B, n, n) that are there already."""
    return lambda problems, samples: np.take_along_axis(K[problems], samples[:, None], axis=2)


def doubtful_fits(
    columns: GramColumns,
    signs: np.ndarray,
    box: np.ndarray,
    alpha: np.ndarray,
    decision: np.ndarray,
    test: np.ndarray,
    residual: np.ndarray,
    *,
    ranks: bool,
) -> np.ndarray:
    """Return which of B exact solutions libsvm may see with another sign (or order) in a test.

    All arrays are (B, n). Unsolved problems, all nan, are doubtful too, and so are those without
    a free sample: there the intercept is a matter of convention.
    """
    tested = np.where(test, decision, np.inf)
    free = (alpha > _FREE * box) & (alpha < (1 - _FREE) * box)
    reach = REACH * residual.max(axis=1, keepdims=True)
    doubtful = np.logical_not(free.any(axis=1))
    near = (np.abs(tested) < reach).any(axis=1)
    if ranks:
        near |= (gaps(np.sort(tested, axis=1)) < reach).any(axis=1)
    candidates = np.flatnonzero(near & ~doubtful)
    size = max(1, _BLOCK // (box.shape[1] * (1 + free.sum(axis=1).max())))
    for start in range(0, len(candidates), size):
        at = candidates[start : start + size]
        error, steady = error_bound(
            columns, at, signs[at], box[at], alpha[at], decision[at], free[at], residual[at]
        )
        least = np.where(steady[:, None], 0.0, reach[at] * (UNSTEADY / REACH))
        error = np.maximum(error, least)
        doubtful[at] = (np.abs(tested[at]) < error).any(axis=1)
        if ranks:
            order = np.argsort(tested[at], axis=1)
            ordered, errors = (np.take_along_axis(a, order, axis=1) for a in (tested[at], error))
            doubtful[at] |= (gaps(ordered) < errors[:, 1:] + errors[:, :-1]).any(axis=1)
    return doubtful


def gaps(ordered: np.ndarray) -> np.ndarray:
    """Return the gaps between neighbours in each row, inf where nothing is tested."""
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(np.diff(ordered, axis=1), nan=np.inf, posinf=np.inf)


def error_bound(
    columns: GramColumns,
    problems: np.ndarray,
    signs: np.ndarray,
    box: np.ndarray,
    alpha: np.ndarray,
    decision: np.ndarray,
    free: np.ndarray,
    residual: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return a bound of ``sum_i c_i(x) e_i`` for every sample, and whether none can change sets.

    Row ``b`` of the arrays (b, n) is the problem that `columns` knows as ``problems[b]``.
    """
    m = free.sum(axis=1).max()
    samples = np.argsort(~free, axis=1, kind="stable")[:, :m]  # the free ones, then others
    valid, slack, weight = (np.take_along_axis(a, samples, axis=1) for a in (free, residual, alpha))
    K = columns(problems, samples) * valid[:, None, :]
    system = np.zeros((len(K), m + 1, m + 1))
    system[:, :m, :m] = np.take_along_axis(K, samples[:, :, None], axis=1) * valid[:, :, None]
    system[:, range(m), range(m)] += ~valid
    system[:, :m, m] = system[:, m, :m] = valid
    try:
        inverse = np.linalg.inv(system)[:, :, :m] * (valid * slack)[:, None, :]
    except np.linalg.LinAlgError:  # more free samples than the features can tell apart
        return np.full(alpha.shape, np.inf), np.zeros(len(K), dtype=bool)
    terms = np.matmul(K, inverse[:, :m]) + inverse[:, m:]
    largest = np.abs(terms).sum(axis=2)
    error = np.minimum(largest, DEVIATIONS * np.sqrt(np.square(terms).sum(axis=2)))
    moves = np.abs(inverse[:, :m]).sum(axis=2)
    limit = np.take_along_axis(box, samples, axis=1)
    stays_free = ~valid | ((weight > moves) & (weight < limit - moves))
    stays_bound = free | (box == 0) | (np.abs(signs * decision - 1.0) > residual + largest)
    return error, stays_free.all(axis=1) & stays_bound.all(axis=1)
