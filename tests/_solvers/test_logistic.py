"""Batched logistic regressions reach the optimum of LogisticRegression."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

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


def decide_alone(X, y, weights, C=1.0, **options):
    """Return the decision values of scikit-learn at the optimum."""
    model = LogisticRegression(C=C, tol=1e-10, max_iter=100_000, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, sample_weight=weights).decision_function(X).reshape(len(X), -1)


SHAPES = [(40, 3, 2), (60, 12, 2), (70, 4, 3), (90, 6, 10)]


@pytest.mark.parametrize("own_labels", [False, True])
@pytest.mark.parametrize(("n", "p", "n_classes"), SHAPES)
def test_optimum_of_scikit_learn(n, p, n_classes, own_labels):
    for seed in range(3):
        rng, X, y, weights = make(seed, n, p, n_classes)
        codes = rng.permuted(np.tile(y, (4, 1)), axis=1) if own_labels else y
        C, intercept = 10.0 ** rng.uniform(-3, 1), seed % 2 == 0
        solution = solve(X, codes, C * weights, intercept=intercept)
        assert solution.solved.all()
        for r in range(4):
            labels = codes[r] if own_labels else codes
            expected = decide_alone(X, labels, weights[r], C, fit_intercept=intercept)
            size = np.abs(expected).max()
            assert_allclose(solution.decision[r], expected, rtol=0, atol=1e-5 * size)


def test_the_penalty_of_each_column():
    """Columns divided by s, with penalties divided by its square, have the same optimum."""
    _, X, y, weights = make(5, 60, 3)
    s = np.array([0.5, 1.0, 3.0])
    codes = np.broadcast_to(y, weights.shape)
    ones = np.ones((len(weights), 3))
    whole = solve_logistic(Products(X), ones, codes, weights, ones)
    scaled = solve_logistic(Products(X / s), ones / s**2, codes, weights, ones)
    assert_allclose(scaled.decision, whole.decision, atol=1e-6)


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
