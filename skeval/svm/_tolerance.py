"""How far libsvm can be from the exact solution: arrays in, arrays out.

libsvm stops at a tolerance and keeps its kernel in single precision. What it returns is the exact
solution of a problem whose margins are ``1 + e_i`` in place of 1, with ``|e_i| <= r_i``, the
tolerance plus what rounding does to the gradient. As long as no sample changes between bound and
free that solution is linear in e: with c(x) from the bordered system of the free samples, the
decision value of x is off by ``sum_i c_i(x) e_i``, the sum of the sizes at most, and hardly more
than a few times the root of the sum of the squares.
"""

import numpy as np

__all__ = ["doubtful_fits", "residual_bound"]

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


def doubtful_fits(
    K: np.ndarray,
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

    All arrays are (B, n), `K` (B, n, n). Unsolved problems, all nan, are doubtful too, and so are
    those without a free sample: there the intercept is a matter of convention.
    """
    tested = np.where(test, decision, np.inf)
    free = (alpha > _FREE * box) & (alpha < (1 - _FREE) * box)
    reach = REACH * residual.max(axis=1, keepdims=True)
    doubtful = np.logical_not(free.any(axis=1))
    near = (np.abs(tested) < reach).any(axis=1)
    if ranks:
        near |= (gaps(np.sort(tested, axis=1)) < reach).any(axis=1)
    candidates = np.flatnonzero(near & ~doubtful)
    size = max(1, _BLOCK // K.shape[-1] ** 2)
    for start in range(0, len(candidates), size):
        at = candidates[start : start + size]
        error, steady = error_bound(
            K[at], signs[at], box[at], alpha[at], decision[at], free[at], residual[at]
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
    K: np.ndarray,
    signs: np.ndarray,
    box: np.ndarray,
    alpha: np.ndarray,
    decision: np.ndarray,
    free: np.ndarray,
    residual: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return a bound of ``sum_i c_i(x) e_i`` for every sample, and whether none can change sets."""
    n = K.shape[-1]
    system = np.zeros((len(K), n + 1, n + 1))
    system[:, :n, :n] = np.where(free[:, :, None] & free[:, None, :], K, np.eye(n))
    system[:, :n, n] = system[:, n, :n] = free
    try:
        inverse = np.linalg.inv(system)[:, :, :n] * (free * residual)[:, None, :]
    except np.linalg.LinAlgError:  # more free samples than the features can tell apart
        return np.full(alpha.shape, np.inf), np.zeros(len(K), dtype=bool)
    terms = np.matmul(K * free[:, None, :], inverse[:, :n]) + inverse[:, n:]
    largest = np.abs(terms).sum(axis=2)
    error = np.minimum(largest, DEVIATIONS * np.sqrt(np.square(terms).sum(axis=2)))
    moves = np.abs(inverse[:, :n]).sum(axis=2)
    stays_free = (alpha > moves) & (alpha < box - moves)
    stays_bound = np.abs(signs * decision - 1.0) > residual + largest
    return error, np.where(free, stays_free, stays_bound | (box == 0)).all(axis=1)
