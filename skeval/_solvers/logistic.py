"""Many logistic regressions on the same samples, fitted together by Newton's method.

The problems differ in their weights (0 leaves a sample out, an integer multiple repeats it), in
their labels, and in the penalties of the columns. The second derivatives of all problems are one
product of their weights with the products of all pairs of columns.
Derivation: doc/derivations/logistic.rst.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit, softmax

from skeval._solvers.newton import solve_each
from skeval._solvers.splits import Products

# Maximum size of a (problems, samples, classes) array, and of the matrices, of a block.
_BLOCK = 2**16, 2**19
# A step that changes no decision value by more than this is the last one: the error of Newton's
# method is of the order of the squared step.
_LAST_STEP = 1e-4
# Maximum number of steps and of halvings; a problem that needs more is not solved.
_MAX_STEPS = 40
# Fraction of second derivatives that is added to them; relative rounding error of a loss.
_DIAGONAL = 1e-13
# Smallest probability of the own class of a sample.
_TINY = 1e-300


class LogisticSolution(NamedTuple):
    """Results of B fits over n samples.

    decision (B, n, K): decision values, for two classes (K = 1) the log odds of the second class.
    reach (B, n): bounds on the changes of probabilities by gradients of size 1, solved (B,).
    """

    decision: np.ndarray
    reach: np.ndarray
    solved: np.ndarray


def solve_logistic(
    products: Products, ridge: np.ndarray, codes: np.ndarray, weights: np.ndarray, units: np.ndarray
) -> LogisticSolution:
    """Fit logistic regressions to the columns (n, q) of `products`, of which one is constant.

    `ridge` (B, q) are the penalties of squared coefficients, `codes` (B, n) the classes 0 to K -
    1, `weights` (B, n) are C times the sample weight, and `units` (B, q) the sizes of the
    derivatives to which the reach of the solution refers. A fit that lacks a class is not solved.
    """
    (B, n), n_classes = weights.shape, int(codes.max()) + 1
    # one vector of coefficients for two classes, otherwise one for each class
    K = 1 if n_classes == 2 else n_classes
    solution = LogisticSolution(
        np.full((B, n, K), np.nan), np.full((B, n), np.inf), np.zeros(B, dtype=bool)
    )
    # problems with training samples of every class
    present = [((codes == code) & (weights > 0)).any(axis=1) for code in range(n_classes)]
    complete = np.flatnonzero(np.all(present, axis=0))
    # blocks of bounded arrays and matrices
    size = max(8, min(_BLOCK[0] // (n * K), _BLOCK[1] // (K * ridge.shape[1]) ** 2))
    for start in range(0, len(complete), size):
        block = complete[start : start + size]
        # members of each class, and of the second alone if there are two
        members = np.stack([codes[block] == code for code in range(n_classes)][-K:], axis=1)
        parts = _solve_block(products, ridge[block], members, weights[block], units[block])
        for whole, part in zip(solution, parts, strict=True):
            whole[block] = part
    return solution


@np.errstate(all="ignore")  # problems that overflow are not solved
def _solve_block(
    products: Products,
    ridge: np.ndarray,
    members: np.ndarray,
    weights: np.ndarray,
    units: np.ndarray,
) -> LogisticSolution:
    """Minimize eq. (2) of logistic for `members` (B, K, n) of the classes, K = 1 for two."""
    X = products.columns
    (B, K, n), q = members.shape, X.shape[1]
    v, f, at = np.zeros((B, K, q)), np.zeros((B, K, n)), np.arange(B)
    reach, solved = np.full((B, n), np.inf), np.zeros(B, dtype=bool)
    probability, loss = _evaluate(f, v, members, weights, ridge)
    for _ in range(_MAX_STEPS):
        # Newton's step from derivatives, eq. (3) and (4) of logistic
        w, r = weights[at], ridge[at, None]
        gradient = (w[:, None] * (probability - members[at])) @ X + r * v[at]
        H = _second_derivatives(products, probability, w, ridge[at])
        d = solve_each(H, -gradient.reshape(len(at), -1, 1)).reshape(gradient.shape)
        df = d @ X.T
        # halve steps that increase the loss
        length = np.ones((len(at), 1, 1))
        for _ in range(_MAX_STEPS):
            new_v, new_f = v[at] + length * d, f[at] + length * df
            probability, new_loss = _evaluate(new_f, new_v, members[at], w, ridge[at])
            worse = new_loss > loss + _DIAGONAL * np.abs(loss)
            if not worse.any():
                break
            length[worse] /= 2
        v[at], f[at], loss = new_v, new_f, new_loss
        # a small full step is the last one
        size = np.abs(df).max(axis=(1, 2))
        done = (size <= _LAST_STEP) & (length[:, 0, 0] == 1)
        if done.any():
            ended = at[done]
            solved[ended] = True
            # changes of coefficients by gradients within the units, eq. (5) of logistic
            inverse = np.abs(np.linalg.inv(H[done])).reshape(len(ended), K * q, K, q)
            change = np.einsum("bikj,bj->bi", inverse, units[ended]).reshape(-1, K, q)
            part = probability[done]
            reach[ended] = np.max(change @ np.abs(X).T, axis=1) * np.max(
                (1 + (K > 1)) * part * (1 - part), axis=1
            )
        # continue with the other problems, without those that diverged
        going = ~done & np.isfinite(size)
        if not going.any():
            break
        at, probability, loss = at[going], probability[going], loss[going]
    return LogisticSolution(f.swapaxes(1, 2), reach, solved)


def _evaluate(
    f: np.ndarray, v: np.ndarray, members: np.ndarray, weights: np.ndarray, ridge: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities (B, K, n) at decision values f, and losses (B,), eq. (2) of logistic."""
    probability = expit(f) if f.shape[1] == 1 else softmax(f, axis=1)
    if f.shape[1] == 1:
        own = np.where(members, probability, 1.0 - probability)[:, 0]
    else:
        own = np.sum(members * probability, axis=1)
    loss = -np.einsum("bi,bi->b", weights, np.log(np.maximum(own, _TINY)))
    return probability, loss + 0.5 * np.einsum("bj,bkj->b", ridge, v**2)


def _second_derivatives(
    products: Products, probability: np.ndarray, weights: np.ndarray, ridge: np.ndarray
) -> np.ndarray:
    """Return the matrices (B, K q, K q) of second derivatives, eq. (4) of logistic."""
    (B, K, _), q = probability.shape, ridge.shape[1]
    H = np.empty((B, K, q, K, q))
    for k in range(K):
        for other in range(k + 1):
            D = weights * probability[:, k] * ((k == other) - probability[:, other])
            H[:, k, :, other] = H[:, other, :, k] = products.weighted_sums(D)
    matrices, at = H.reshape(B, K * q, K * q), np.arange(K * q)
    if K > 1:  # the coefficients of a column add up to 0, which makes the matrices regular
        mean = matrices[:, at, at].mean(axis=1)[:, None, None]
        matrices += mean * np.kron(np.ones((K, K)), np.eye(q))
    matrices[:, at, at] += np.tile(ridge, K) + _DIAGONAL * matrices[:, at, at]
    return matrices
