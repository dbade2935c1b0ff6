"""The steps of both Newton systems solve the equations of doc/derivations/newton.rst."""

import numpy as np
import pytest
from helpers.crossed import each_value

from skeval._solvers import newton
from skeval._solvers.newton import (
    FeatureSystem,
    GramSystem,
    SelectedFeatures,
    factor_each,
    solve_each,
)

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
    monkeypatch.setattr(newton, "_MAX_PRODUCTS", 0)
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
