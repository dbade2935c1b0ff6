"""What is accepted as an optimum: conditions that do not ask where a solution comes from."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.crossed import each_value
from reference.svm import solve_dual

from skeval._solvers.active_set import ActiveSets
from skeval._solvers.interior_point import Start
from skeval._solvers.newton import Duals, FeatureSystem, GramSystem, divide
from skeval._solvers.optimum import (
    BatchSolution,
    are_optimal,
    find_solvable,
    solve_from_sets,
    solve_from_values,
    unit_of,
)

B, N, P = 4, 24, 3


def some_duals(gram=False, seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(N, P)), np.resize([-1.0, 1.0], N)
    X[:, 0] += 0.5 * y
    system = GramSystem(X @ X.T) if gram else FeatureSystem(X, np.ones(P))
    return X, y, Duals(system, np.tile(y, (B, 1)), rng.exponential(size=(B, N)))


def solve(duals, gram):
    zeros = np.zeros((B, N), dtype=bool)
    if gram:
        guess = ActiveSets(zeros, zeros, np.zeros((B, N)), np.zeros(B))
        return solve_from_sets(duals, guess)
    start = Start(duals.system.zeros(B), np.zeros(B), 1.0)
    return solve_from_values(duals, start)


@pytest.mark.parametrize("gram", [False, True])
def test_both_ways_reach_the_optimum_of_the_reference(gram):
    X, y, duals = some_duals(gram)
    found = solve(duals, gram)
    assert found.settled.all()
    assert are_optimal(duals, found).all()
    for r in range(B):
        alpha, intercept = solve_dual(X, y, duals.box[r])
        decision = X @ ((y * alpha) @ X) + intercept
        np.testing.assert_allclose(found.margin[r], y * decision - 1.0, atol=1e-6)


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
    _, _, duals = some_duals(gram)
    assert not are_optimal(duals, SPOILT[how](solve(duals, gram))).any()


def test_what_is_not_optimal_is_not_stored():
    _, _, duals = some_duals()
    found = solve(duals, gram=False)
    found.intercept[2] += 0.1
    solution = BatchSolution.empty(B + 1, N)
    solution.put(np.arange(1, B + 1), duals, found)
    assert solution.converged.tolist() == [False, True, True, False, True]
    assert np.isnan(solution.decision).all(axis=1).tolist() == [True, False, False, True, False]
    np.testing.assert_allclose(solution.decision[1], duals.signs[0] * (found.margin[0] + 1.0))


def test_units_are_powers_of_two_next_above():
    scales = [0.0, 0.3, 0.5, 0.7, 1.0, 3.0, 1e-300]
    units = unit_of(np.array(scales))
    assert units[:6].tolist() == [1.0, 0.5, 1.0, 1.0, 2.0, 4.0]
    assert np.all((scales[1:] / units[1:] >= 0.5) & (scales[1:] / units[1:] < 1.0))


def test_problems_of_one_class_are_not_solvable():
    signs = np.tile([-1.0, 1.0, 1.0], (3, 1))
    box = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0], [1.0, 0.0, 0.0]])
    assert find_solvable(signs, box).tolist() == [0]
    assert [part.tolist() for part in divide(np.arange(5), 2)] == [[0, 1], [2, 3], [4]]
