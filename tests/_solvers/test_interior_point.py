"""What holds along the central path, doc/derivations/interior_point.rst."""

import numpy as np

from skeval._solvers.interior_point import Start, interior_point, start_point
from skeval._solvers.newton import Duals, FeatureSystem

B, N, P = 3, 15, 4


def some_duals(rng):
    system = FeatureSystem(rng.normal(size=(N, P)), rng.uniform(0.5, 2.0, (B, P)))
    signs = np.where(rng.random((B, N)) < 0.5, -1.0, 1.0)
    signs[:, :2] = [-1.0, 1.0]
    return Duals(system, signs, rng.uniform(0.1, 1.0, (B, N)))


def beta_of(duals, point):
    return duals.signs * duals.box * point.fraction


def test_the_start_lies_on_the_path():
    rng = np.random.default_rng(0)
    duals = some_duals(rng)
    v, b = rng.normal(size=(B, P)), rng.normal(size=B)
    point = start_point(duals, Start(v, b, 0.7))
    np.testing.assert_allclose(point.fraction * point.surplus, 0.7)
    np.testing.assert_allclose(point.rest * point.shortfall, 0.7)
    np.testing.assert_allclose(point.fraction + point.rest, 1.0)
    np.testing.assert_allclose(point.surplus - point.shortfall, duals.margins(v, b))


def test_steps_keep_the_margins_and_shrink_the_residuals_as_they_say():
    rng = np.random.default_rng(1)
    duals = some_duals(rng)
    point = start_point(duals, Start(rng.normal(size=(B, P)), rng.normal(size=B), 1.0))
    lag = point.coef - duals.system.coef(beta_of(duals, point))
    balance = beta_of(duals, point).sum(axis=1)
    for _ in range(3):
        interior_point(duals, point, tol=0.0, max_iter=1)
        margin = duals.margins(point.coef, point.intercept)
        np.testing.assert_allclose(point.surplus - point.shortfall, margin, atol=1e-10)
        left = point.coef - duals.system.coef(beta_of(duals, point))
        np.testing.assert_allclose(left, lag * point.residual[:, None], atol=1e-10)
        left = beta_of(duals, point).sum(axis=1)
        np.testing.assert_allclose(left, balance * point.residual, atol=1e-10)
        assert min(point.fraction.min(), point.rest.min()) > 0
        assert min(point.surplus.min(), point.shortfall.min()) > 0


def test_the_start_is_left_alone():
    duals = some_duals(np.random.default_rng(2))
    start = Start(np.zeros((B, P)), np.zeros(B), 1.0)
    interior_point(duals, start_point(duals, start), tol=1e-6, max_iter=30)
    assert not start.coef.any()
    assert not start.intercept.any()
