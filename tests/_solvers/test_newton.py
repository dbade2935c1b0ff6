"""Newton steps solve the equations of doc/derivations/newton.rst; batches of regressions."""

import numpy as np
import pytest
from helpers.crossed import each_value
from numpy.testing import assert_allclose

from skeval._solvers import splits
from skeval._solvers.logistic import solve_logistic
from skeval._solvers.newton import (
    FeatureSystem,
    GramSystem,
    SelectedFeatures,
    factor_each,
    solve_each,
)
from skeval._solvers.splits import Products

B, N, P = 3, 12, 4


def feature_system(rng):
    return FeatureSystem(rng.normal(size=(N, P)), rng.uniform(0.5, 2.0, (B, P)))


def pulled_system(rng):
    system = feature_system(rng)
    return system.with_ridge(system.ridge, rng.normal(size=(B, P + 1)))


def selected_features(rng):
    return SelectedFeatures(rng.normal(size=(B, N, P)), rng.uniform(0.5, 2.0, (B, P)))


def gram_system(rng):
    X = rng.normal(size=(N, N))
    return GramSystem(X @ X.T)


SYSTEMS = [feature_system, pulled_system, selected_features, gram_system]


@each_value
@pytest.mark.parametrize("share", [0.4, 1.0])
@pytest.mark.parametrize("make", SYSTEMS)
def test_a_step_solves_equation_1(make, share):
    rng = np.random.default_rng(0)
    system = make(rng)
    D = rng.uniform(0.1, 2.0, (B, N)) * (rng.random((B, N)) < share)
    e, beta = rng.normal(size=(2, B, N))
    v = rng.normal(size=system.zeros(B).shape)
    dv, db, df, d_beta = system.factor(D)(e, beta, v)
    np.testing.assert_allclose(d_beta, D * (e - df), atol=1e-10)
    np.testing.assert_allclose(df, system.scores(dv) + db[:, None], atol=1e-10)
    np.testing.assert_allclose(v + dv, system.coef(beta + d_beta), atol=1e-10)
    np.testing.assert_allclose(system.moments(beta + d_beta)[:, -1], 0.0, atol=1e-10)


@pytest.mark.parametrize("make", SYSTEMS)
def test_the_step_of_some_problems_is_their_step_among_all(make):
    rng = np.random.default_rng(1)
    system, some = make(rng), np.array([2, 0])
    D, (e, beta) = rng.uniform(0.1, 2.0, (B, N)), rng.normal(size=(2, B, N))
    v = rng.normal(size=system.zeros(B).shape)
    steps = system.factor(D)(e, beta, v)
    alone = system.take(some).factor(D[some])(e[some], beta[some], v[some])
    for part, whole in zip(alone, steps, strict=True):
        np.testing.assert_allclose(part, whole[some], rtol=1e-9, atol=1e-10)


def test_products_of_columns_need_not_be_stored(monkeypatch):
    D = np.random.default_rng(2).uniform(size=(B, N))
    stored = feature_system(np.random.default_rng(3)).weighted_products(D)
    monkeypatch.setattr(splits, "_MAX_KEPT", 0)
    formed = feature_system(np.random.default_rng(3)).weighted_products(D)
    np.testing.assert_allclose(formed, stored, rtol=1e-12)


def test_singular_matrices_do_not_spoil_the_others():
    matrices = np.stack([np.eye(2), np.zeros((2, 2)), 2.0 * np.eye(2)])
    solved = solve_each(matrices, np.ones((3, 2, 1)))[:, :, 0]
    np.testing.assert_array_equal(solved, [[1.0, 1.0], [np.nan, np.nan], [0.5, 0.5]])


@each_value
@pytest.mark.parametrize("m", [1, 5, 13, 14, 40])
@pytest.mark.parametrize("n_right", [1, 2])
def test_factors_solve_as_elimination_does(m, n_right):
    rng = np.random.default_rng(m)
    roots, right = rng.normal(size=(6, m, m + 3)), rng.normal(size=(6, m, n_right))
    matrices = roots @ roots.transpose(0, 2, 1)
    matrices[2] *= -1.0
    matrices[4] = 0.0
    given = matrices.copy()
    solve = factor_each(matrices)
    whole = [0, 1, 2, 3, 5]
    for _ in range(2):  # factors serve more than one right side
        found = solve(right)
        np.testing.assert_allclose(
            found[whole], np.linalg.solve(given[whole], right[whole]), rtol=1e-6, atol=1e-8
        )
        assert np.isnan(found[4]).all()
    np.testing.assert_array_equal(matrices, given)


def test_what_is_not_finite_stays_where_it_is():
    matrices = np.stack([np.eye(20), np.full((20, 20), np.nan), 4.0 * np.eye(20)])
    found = factor_each(matrices)(np.ones((3, 20, 1)))
    np.testing.assert_array_equal(found[[0, 2], 0, 0], [1.0, 0.25])
    assert np.isnan(found[1]).all()


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
