"""Operator splitting approaches the optima of problems that share a Gram matrix."""

import numpy as np
import pytest
from helpers.svm import solve_on_gram_matrix
from numpy.testing import assert_allclose, assert_array_equal

from skeval._solvers.splitting import Splitting

B, N = 12, 40


def some_problems(seed=0):
    """Five columns, rows of length 1, and the labels and the boxes of each problem."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 5))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    signs = rng.permuted(np.tile(np.resize([-1.0, 1.0], N), (B, 1)), axis=1)
    box = rng.exponential(size=(B, N)) * (rng.random((B, N)) < 0.8)
    return X, signs, box


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_iterates_approach_the_optimum(C):
    X, signs, box = some_problems()
    K, box = X @ X.T, C * box
    exact = solve_on_gram_matrix(X, signs, box)
    assert exact.converged.all()
    splitting = Splitting(K)
    point, penalty = splitting.start(signs, box), splitting.penalty(box)
    for _ in range(200):
        penalty = splitting.steps(point, penalty, 10)
    assert np.all((point.beta >= point.low) & (point.beta <= point.high))
    assert_allclose(point.beta.sum(axis=1), 0.0, atol=1e-3 * box.max())
    objective = {
        name: 0.5 * np.einsum("bi,ij,bj->b", beta, K, beta) - (signs * beta).sum(axis=1)
        for name, beta in (("exact", signs * exact.alpha), ("split", point.beta.astype(float)))
    }
    assert_allclose(objective["split"], objective["exact"], rtol=1e-3)
    margin = point.margin(penalty)
    used = box > 0
    clear = used & (np.abs(signs * exact.decision - 1.0) > 0.1)
    assert_array_equal(margin[clear] > 0, (signs * exact.decision - 1.0)[clear] > 0)


def test_the_start_is_zero_within_the_bounds():
    X, signs, box = some_problems()
    point = Splitting(X @ X.T).start(signs, box)
    assert not point.beta.any()
    assert_allclose(point.high - point.low, box, rtol=1e-6)
    assert point.count_free() == 0
    assert not point.fraction.any()


def test_penalties_are_powers_of_four():
    X, signs, box = some_problems()
    splitting = Splitting(X @ X.T)
    point, penalty = splitting.start(signs, box), splitting.penalty(box)
    for _ in range(5):
        assert np.log2(penalty) % 2 == 0
        penalty = splitting.steps(point, penalty, 10)
