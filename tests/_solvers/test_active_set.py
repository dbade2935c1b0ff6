"""What settled sets mean, and what a guess of them is worth, doc/derivations/active_set.rst."""

import numpy as np
import pytest

from skeval._solvers.active_set import ActiveSets, SetSolution, active_set, room, strictly_free
from skeval._solvers.interior_point import Start
from skeval._solvers.newton import Duals, FeatureSystem, GramSystem
from skeval._solvers.optimum import solve_from_values

B, N, P = 6, 30, 4


def some_duals(seed=0, gram=False):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(N, P)), np.resize([-1.0, 1.0], N)
    X[:, 0] += y
    box = rng.exponential(size=(B, N))
    box[:, :3] = 0.0
    system = GramSystem(X @ X.T + 1e-3 * np.eye(N)) if gram else FeatureSystem(X, np.ones(P))
    return Duals(system, np.tile(y, (B, 1)), box)


@pytest.mark.parametrize("gram", [False, True])
def test_the_sets_of_an_optimum_settle_at_once(gram):
    """Wherever the free samples start from, the solution is feasible and optimal."""
    duals = some_duals(gram=gram)
    start = Start(duals.system.zeros(B), np.zeros(B), 1.0)
    a = solve_from_values(duals, start).fraction
    sets = ActiveSets(a <= 0.0, a >= 1.0, np.full((B, N), 0.5), np.zeros(B))
    found = active_set(duals, sets, max_iter=1, patience=0)
    assert found.settled.all()
    for r in range(B):
        a, margin, C = found.fraction[r], found.margin[r], duals.box[r]
        assert np.all((a >= 0) & (a <= 1))
        assert abs(duals.signs[r] @ (C * a)) <= 1e-8 * (C @ a)
        live = C > 0
        assert np.all(margin[live & (a == 0)] >= -1e-8)
        assert np.all(margin[live & (a == 1)] <= 1e-8)
        np.testing.assert_allclose(margin[live & (a > 0) & (a < 1)], 0.0, atol=1e-8)


def test_a_problem_that_gets_worse_is_given_up():
    """All samples at the wrong bound: more than none change sides in the first round."""
    duals = some_duals()
    low = np.tile(np.arange(N) % 2 == 0, (B, 1))
    guess = ActiveSets(low, ~low, np.zeros((B, N)), np.zeros(B))
    found = active_set(duals, guess, max_iter=20, patience=-N)
    assert not found.settled.any()


def test_the_units_of_fractions_are_those_of_the_largest_alpha_in_a_huge_box():
    box, a = np.array([[1.0, 1e6, 0.0]]), np.array([[0.5, 1e-6, 0.0]])
    np.testing.assert_allclose(room(box, a), [[1.0, 1e-6, 1.0]])
    assert strictly_free(box, box * a).tolist() == [[True, True, False]]


def test_rows_of_problems_are_copies():
    unsettled = SetSolution.unsettled(some_duals())
    part = unsettled.take(np.array([1]))
    part.fraction[:] = 1.0
    assert not unsettled.fraction.any()
    unsettled.put(np.array([2]), part)
    assert unsettled.fraction.sum(axis=1).tolist() == [0, 0, N, 0, 0, 0]
