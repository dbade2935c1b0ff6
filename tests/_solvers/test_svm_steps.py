"""The parts of the SVM solvers: interior point, active sets, splitting and accepted optima."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.crossed import each_value
from helpers.svm import solve_on_gram_matrix
from numpy.testing import assert_allclose, assert_array_equal
from reference.svm import solve_dual

from skeval._solvers.kernel_svm import Splitting
from skeval._solvers.newton import Duals, FeatureSystem, GramSystem
from skeval._solvers.optimum import (
    ActiveSets,
    Start,
    active_set,
    are_optimal,
    interior_point,
    solve_from_sets,
    solve_from_values,
    start_point,
)

B, N, P = 5, 30, 4


def some_problems(gram=False):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(N, P)), np.resize([-1.0, 1.0], N)
    X[:, 0] += 0.5 * y
    box = rng.exponential(size=(B, N))
    box[1:, :3] = 0.0
    system = GramSystem(X @ X.T) if gram else FeatureSystem(X, np.ones(P))
    return X, y, Duals(system, np.tile(y, (B, 1)), box)


def solve(duals, gram):
    zeros = np.zeros((B, N), dtype=bool)
    if gram:
        guess = ActiveSets(zeros, zeros, np.zeros((B, N)), np.zeros(B))
        return solve_from_sets(duals, guess)
    return solve_from_values(duals, Start(duals.system.zeros(B), np.zeros(B), 1.0))


@pytest.mark.parametrize("gram", [False, True])
def test_the_optimum_is_that_of_the_reference(gram):
    X, y, duals = some_problems(gram)
    found = solve(duals, gram)
    assert found.settled.all()
    assert are_optimal(duals, found).all()
    for r in range(B):
        alpha, intercept = solve_dual(X, y, duals.box[r])
        assert_allclose(found.margin[r], y * (X @ ((y * alpha) @ X) + intercept) - 1.0, atol=1e-6)


@pytest.mark.parametrize("gram", [False, True])
def test_the_sets_of_an_optimum_settle_at_once(gram):
    """Wherever the free samples start from."""
    _, _, duals = some_problems(gram)
    a = solve(duals, gram).fraction
    sets = ActiveSets(a <= 0.0, a >= 1.0, np.full((B, N), 0.5), np.zeros(B))
    found = active_set(duals, sets, max_iter=1, patience=0)
    assert found.settled.all()
    assert_allclose(found.fraction, a, atol=1e-7)


SPOILT = {
    "alpha below 0": lambda found: replace(found, fraction=found.fraction - 1e-3),
    "another intercept": lambda found: replace(found, intercept=found.intercept + 1e-3),
    "other coefficients": lambda found: replace(found, coef=1.001 * found.coef),
    "out of balance": lambda found: replace(
        found, fraction=np.where(np.arange(N) % 2, 1.001, 1.0) * found.fraction
    ),
}


@each_value
@pytest.mark.parametrize("how", SPOILT)
@pytest.mark.parametrize("gram", [False, True])
def test_a_solution_that_is_a_little_off_is_refused(gram, how):
    _, _, duals = some_problems(gram)
    assert not are_optimal(duals, SPOILT[how](solve(duals, gram))).any()


def test_steps_keep_the_margins_and_shrink_the_residuals():
    """The start is on the central path, and stays as it is."""
    _, _, duals = some_problems()
    duals = duals.take(np.array([0]))  # no sample is left out
    start = Start(np.full((1, P), 0.3), np.ones(1), 0.7)
    point = start_point(duals, start)
    assert_allclose(point.fraction * point.surplus, 0.7)
    assert_allclose(point.rest * point.shortfall, 0.7)
    assert_allclose(point.fraction + point.rest, 1.0)
    assert_allclose(point.surplus - point.shortfall, duals.margins(*start[:2]))

    def residuals():
        beta = duals.signs * duals.box * point.fraction
        return np.column_stack([point.coef - duals.system.coef(beta), beta.sum(axis=1)])

    first = residuals()
    for _ in range(3):
        interior_point(duals, point, tol=0.0, max_iter=1)
        margin = duals.margins(point.coef, point.intercept)
        assert_allclose(point.surplus - point.shortfall, margin, atol=1e-10)
        assert_allclose(residuals(), first * point.residual[:, None], atol=1e-10)
        assert min(row.min() for row in (point.fraction, point.rest, point.surplus)) > 0
    assert np.all(start.coef == 0.3)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_splitting_approaches_the_optimum(C):
    """Penalties are powers of four."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    signs = rng.permuted(np.tile(np.resize([-1.0, 1.0], 40), (12, 1)), axis=1)
    box = C * rng.exponential(size=(12, 40)) * (rng.random((12, 40)) < 0.8)
    K, exact = X @ X.T, solve_on_gram_matrix(X, signs, box)
    splitting = Splitting(K)
    point, penalty = splitting.start(signs, box), splitting.penalty(box)
    assert_allclose(point.high - point.low, box, rtol=1e-6)
    assert point.count_free() == 0
    assert not point.fraction.any()
    for _ in range(200):
        penalty = splitting.steps(point, penalty, 10)
        assert np.log2(penalty) % 2 == 0
    assert np.all((point.beta >= point.low) & (point.beta <= point.high))
    assert_allclose(point.beta.sum(axis=1), 0.0, atol=1e-3 * box.max())
    objectives = [
        0.5 * np.einsum("bi,ij,bj->b", beta, K, beta) - (signs * beta).sum(axis=1)
        for beta in (signs * exact.alpha, point.beta.astype(float))
    ]
    assert_allclose(objectives[1], objectives[0], rtol=1e-3)
    margin = signs * exact.decision - 1.0
    clear = (box > 0) & (np.abs(margin) > 0.1)
    assert_array_equal(point.margin(penalty)[clear] > 0, margin[clear] > 0)
