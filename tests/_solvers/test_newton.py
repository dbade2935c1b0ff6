"""The steps of both Newton systems solve the equations of doc/derivations/newton.rst."""

import numpy as np
import pytest

from skeval._solvers.newton import FeatureSystem, GramSystem, SelectedFeatures

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


def gram_systems(rng):
    X = rng.normal(size=(B, N, P))
    return GramSystem(X @ X.transpose(0, 2, 1))


SYSTEMS = [feature_system, pulled_system, selected_features, gram_system, gram_systems]


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
