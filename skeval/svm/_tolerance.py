"""How far libsvm, which stops at a tolerance, can be from the solution: arrays in, arrays out."""

import numpy as np

__all__ = ["doubtful_fits"]

REACH = 200
"""Decision values are looked at where they are within so many tolerances of 0 or of each other."""
SAFETY = 2.0
_FREE = 1e-6
_BLOCK = 2**20


def doubtful_fits(
    K: np.ndarray,
    decision: np.ndarray,
    alpha: np.ndarray,
    box: np.ndarray,
    test: np.ndarray,
    tol: float,
    *,
    ranks: bool,
) -> np.ndarray:
    """Return which of B exact solutions libsvm may see with another sign (or order) in a test.

    libsvm stops when the free samples lie within `tol` of their margins. With ``e_i`` these
    residuals, ``|e_i| <= tol``, the decision value of x is off by ``sum_i c_i(x) e_i``, where c(x)
    solves the bordered system of the free samples, so by at most ``tol sum_i |c_i(x)|``. Without
    a free sample the intercept is a matter of convention.
    """
    free = (alpha > _FREE * box) & (alpha < (1 - _FREE) * box)
    doubtful = ~free.any(axis=1)
    near = test & (np.abs(decision) < REACH * tol)
    tested = np.where(test, decision, np.inf)
    order = np.argsort(tested, axis=1)
    with np.errstate(invalid="ignore"):  # between two that are not tested
        gaps = np.diff(np.take_along_axis(tested, order, axis=1), axis=1)
    close = (gaps < REACH * tol) if ranks else np.zeros(gaps.shape, dtype=bool)
    if ranks:
        rows, places = np.nonzero(close)
        near[rows, order[rows, places]] = near[rows, order[rows, places + 1]] = True
    near[doubtful] = False
    error = np.zeros(decision.shape)
    rows, samples = np.nonzero(near)
    error[rows, samples] = SAFETY * tol * amplification(K, free, rows, samples)
    doubtful |= ((np.abs(decision) < error) & test).any(axis=1)
    if ranks:
        errors = np.take_along_axis(error, order, axis=1)
        doubtful |= (close & (gaps < errors[:, 1:] + errors[:, :-1])).any(axis=1)
    return doubtful


def amplification(
    K: np.ndarray, free: np.ndarray, rows: np.ndarray, samples: np.ndarray
) -> np.ndarray:
    """Return ``sum_i |c_i(x)|`` for sample ``samples[j]`` in problem ``rows[j]``."""
    n = K.shape[-1]
    result = np.empty(len(rows))
    size = max(1, _BLOCK // (n + 1) ** 2)
    for start in range(0, len(rows), size):
        part = slice(start, start + size)
        F, gram = free[rows[part]], K[rows[part]]
        system = np.zeros((len(F), n + 1, n + 1))
        system[:, :n, :n] = np.where(F[:, :, None] & F[:, None, :], gram, np.eye(n))
        system[:, :n, n] = system[:, n, :n] = F
        right = np.ones((len(F), n + 1))
        right[:, :n] = np.where(F, gram[np.arange(len(F)), samples[part]], 0.0)
        try:
            c = np.linalg.solve(system, right[:, :, None])[:, :n, 0]
            result[part] = np.abs(c).sum(axis=1, where=F)
        except np.linalg.LinAlgError:  # more free samples than the features can tell apart
            result[part] = np.inf
    return result
