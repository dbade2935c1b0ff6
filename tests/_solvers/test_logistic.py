"""Batches of logistic regressions, and the reach of small derivatives."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skeval._solvers.logistic import solve_logistic
from skeval._solvers.splits import Products


def make(seed, n, p, n_classes=2, B=4):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.resize(np.arange(n_classes), n))
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 2.0, size=p)
    X[:, 0] += y
    weights = rng.exponential(size=(B, n)) * (rng.random((B, n)) < 0.8) + 1e-3
    return rng, X, y, weights


def solve(X, codes, weights, ridge=1.0, intercept=True):
    X = np.column_stack([X, np.ones(len(X))]) if intercept else X
    penalties = np.full((len(weights), X.shape[1]), ridge)
    if intercept:
        penalties[:, -1] = 0.0
    codes = np.broadcast_to(codes, weights.shape)
    return solve_logistic(Products(X), penalties, codes, weights, np.ones_like(penalties))


def test_blocks_of_problems_agree():
    _, X, y, weights = make(6, 400, 3, B=250)
    solution = solve(X, y, weights)
    assert solution.solved.all()
    for r in (0, 170, 249):
        alone = solve(X, y, weights[[r]])
        assert_allclose(alone.decision[0], solution.decision[r], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_problem_without_a_class_or_an_optimum_is_not_solved(n_classes):
    _, X, y, weights = make(3, 30, 2, n_classes)
    weights[1, y == 1] = 0.0
    assert solve(X, y, weights).solved.tolist() == [True, False, True, True]
    assert not solve(100.0 * y[:, None], y, np.ones((1, 30)), ridge=0.0).solved.any()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_reach_bounds_the_effect_of_small_derivatives(n_classes):
    """A tilt of the objective by at most one unit moves no probability by more than the reach."""
    rng, X, y, weights = make(7, 80, 3, n_classes, B=1)
    unit = 1e-4
    solution = solve(X, y, weights)
    columns = np.column_stack([X, np.ones(len(X))])
    K = solution.decision.shape[2]
    p = probabilities(solution.decision[0])
    H = second_derivatives(columns, p[:, -K:], weights[0])
    for _ in range(20):
        g = unit * rng.choice([-1.0, 1.0], size=(K, columns.shape[1]))
        g -= g.mean(axis=0) if K > 1 else 0.0
        d = np.linalg.lstsq(H, g.ravel(), rcond=None)[0].reshape(g.shape)
        moved = probabilities(solution.decision[0] + columns @ d.T)
        assert np.all(np.abs(moved - p).max(axis=1) <= 1.01 * unit * solution.reach[0])


def probabilities(f):
    f = np.column_stack([np.zeros(len(f)), f]) if f.shape[1] == 1 else f
    e = np.exp(f - f.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def second_derivatives(X, p, weights):
    q, K = X.shape[1], p.shape[1]
    H = np.zeros((K, q, K, q))
    for x, of_sample, w in zip(X, p, weights, strict=True):
        D = w * (np.diag(of_sample) - np.outer(of_sample, of_sample))
        H += D[:, None, :, None] * np.outer(x, x)[:, None]
    return H.reshape(K * q, K * q) + np.diag(np.tile(np.r_[np.ones(q - 1), 0.0], K))
