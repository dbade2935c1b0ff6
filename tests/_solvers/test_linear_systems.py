"""Stacks of linear systems: one that is singular or indefinite does not spoil the others."""

import numpy as np
import pytest

from skeval._solvers.linear_systems import factor_each, solve_each, take_each


def test_singular_matrices_do_not_spoil_the_others():
    matrices = np.stack([np.eye(2), np.zeros((2, 2)), 2.0 * np.eye(2)])
    solved = solve_each(matrices, np.ones((3, 2, 1)))[:, :, 0]
    np.testing.assert_array_equal(solved, [[1.0, 1.0], [np.nan, np.nan], [0.5, 0.5]])


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


@pytest.mark.parametrize("shared", [True, False])
def test_rows_and_columns_of_each_matrix(shared):
    rng = np.random.default_rng(0)
    K = rng.normal(size=(7, 7) if shared else (3, 7, 7))
    rows = np.array([[0, 3, 6], [1, 2, 5], [6, 4, 0]])
    for at, part in enumerate(take_each(K, rows)):
        whole = K if shared else K[at]
        np.testing.assert_array_equal(part, whole[np.ix_(rows[at], rows[at])])
