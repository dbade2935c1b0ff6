"""Least squares for many training sets: the estimator's fits, one by one."""

import numpy as np
import pytest
from helpers.crossed import each_value
from helpers.splits import KINDS, N_FITS, N, some_splits
from numpy.testing import assert_allclose
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skeval._solvers.least_squares import factor_columns, factor_kernel, standardize_columns
from skeval._solvers.splits import Splits

P = 4


@each_value
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("p", [1, P, 50])
@pytest.mark.parametrize("model", [Ridge(), Ridge(alpha=3.0, fit_intercept=False), KernelRidge()])
def test_penalized_squares_are_fits_of_the_estimator(kind, p, model):
    rng = np.random.default_rng(p)
    X, targets, of_fit = rng.normal(size=(N, p)), rng.normal(size=(2, 3, N)), np.arange(N_FITS) // 3
    splits = some_splits(kind, rng)
    if isinstance(model, KernelRidge):
        squares = factor_kernel(X @ X.T, 1.0)
    else:
        squares = factor_columns(X, model.alpha, with_intercept=model.fit_intercept)
    found = squares.solve(targets, of_fit, splits)
    assert np.all(found.noise < 1e-11)
    for fit in range(N_FITS):
        weights = splits.weights[fit].astype(float)
        trained = weights > 0
        model.fit(X[trained], targets[of_fit[fit]].T[trained], sample_weight=weights[trained])
        expected = model.predict(X[splits.tested[fit]]).T
        assert_allclose(found.values[fit], expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "weights"])
def test_columns_are_brought_to_one_variance_in_each_training_part(kind):
    rng = np.random.default_rng(0)
    X, targets = rng.normal(size=(N, P)) * [1, 5, 0.1, 1] + 3, rng.normal(size=(1, 1, N))
    splits = some_splits(kind, rng)
    found = standardize_columns(X, 2.0).solve(targets, np.zeros(N_FITS, dtype=int), splits)
    for fit in range(N_FITS):
        rows = np.repeat(np.arange(N), splits.weights[fit])
        model = make_pipeline(StandardScaler(), Ridge(2.0)).fit(X[rows], targets[0, 0, rows])
        expected = model.predict(X[splits.tested[fit]])
        assert_allclose(found.values[fit, 0], expected, rtol=0, atol=1e-10)


def test_singular_equations_are_noise():
    X = np.zeros((N, 2))
    X[:3, 0], X[:, 1] = [1.0, 2.0, 4.0], np.arange(N)
    weights = np.ones((2, N), dtype=int)
    weights[0, :3] = weights[1, 3:6] = 0
    splits = Splits(weights, np.array([[0, 1, 2], [3, 4, 5]]))
    found = factor_columns(X, 0.0).solve(X[:, 1][None, None], np.zeros(2, dtype=int), splits)
    assert not found.noise[0] < 1e-9
    assert found.noise[1] < 1e-12
    assert factor_kernel(-np.eye(3), 1.0) is None
