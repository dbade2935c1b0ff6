"""How far libsvm may be from the exact solution: measured against SVC and tight SVC."""

import numpy as np
import pytest
from sklearn.svm import SVC

from skeval.svm._tolerance import columns_of, doubtful_fits, error_bound, residual_bound


def one_problem(seed, n=40, p=8, C=1.0, offset=0.0):
    """Arrays of a solved problem (by SVC with a tight tolerance) and what SVC makes of it."""
    rng = np.random.default_rng(seed)
    X, signs = offset + rng.normal(size=(n, p)), rng.permutation(np.repeat([-1.0, 1.0], n // 2))
    trained = rng.random(n) < 0.8
    exact = SVC(kernel="linear", C=C, tol=1e-7).fit(X[trained], signs[trained])
    alpha = np.zeros(n)
    alpha[np.flatnonzero(trained)[exact.support_]] = np.abs(exact.dual_coef_[0])
    usual = SVC(kernel="linear", C=C).fit(X[trained], signs[trained])
    centred = X - X.mean(axis=0)
    problem = {
        "columns": columns_of((centred @ centred.T)[None]),
        "signs": signs[None],
        "box": np.where(trained, C, 0.0)[None],
        "alpha": alpha[None],
        "decision": exact.decision_function(X)[None],
    }
    norms = np.linalg.norm(X, axis=1)[None]
    return problem, residual_bound(1e-3, norms, problem["alpha"]), usual.decision_function(X)[None]


def free(problem):
    alpha, box = problem["alpha"], problem["box"]
    return (alpha > 1e-6 * box) & (alpha < (1 - 1e-6) * box)


@pytest.mark.parametrize(("p", "C"), [(3, 1.0), (8, 0.1), (8, 1.0), (60, 1.0), (60, 10.0)])
def test_libsvm_stays_within_the_bound(p, C):
    checked = 0
    for seed in range(20):
        problem, residual, seen = one_problem(seed, p=p, C=C)
        if not free(problem).any():
            continue
        error, steady = error_bound(
            **problem, problems=np.zeros(1, int), free=free(problem), residual=residual
        )
        off = np.abs(seen - problem["decision"])
        if steady[0]:
            assert (off <= error).all()
            checked += 1
        else:
            assert off.max() <= 25 * residual.max()
    assert checked > 5


def test_doubt_where_libsvm_sees_another_sign_or_order():
    for seed in range(25):
        problem, residual, seen = one_problem(seed, p=40, C=100.0)
        decision = problem["decision"]
        test = problem["box"] == 0
        same_signs = ((decision >= 0) == (seen >= 0))[test].all()
        same_order = np.array_equal(np.argsort(decision[test]), np.argsort(seen[test]))
        signs, order = (
            doubtful_fits(**problem, test=test, residual=residual, ranks=ranks)[0]
            for ranks in (False, True)
        )
        assert signs or same_signs
        assert order or same_order
        assert order >= signs


def test_a_value_on_the_border_is_doubtful_and_one_far_from_it_is_not():
    problem, residual, _ = one_problem(0)
    test = np.zeros((1, 40), dtype=bool)
    test[0, np.abs(problem["decision"][0]).argmax()] = True
    arguments = {"test": test, "residual": residual, "ranks": False}
    assert not doubtful_fits(**problem, **arguments)[0]
    problem["decision"][test] = 1e-4
    assert doubtful_fits(**problem, **arguments)[0]
    problem["decision"][test] = np.nan  # not solved
    problem["alpha"][...] = np.nan
    assert doubtful_fits(**problem, **arguments)[0]


def test_two_values_that_are_close_are_doubtful_only_for_ranks():
    problem, residual, _ = one_problem(1)
    test = np.zeros((1, 40), dtype=bool)
    far = np.argsort(problem["decision"][0])[-2:]
    test[0, far] = True
    problem["decision"][0, far] = 3.0, 3.0 + 1e-5
    arguments = {"test": test, "residual": residual}
    assert not doubtful_fits(**problem, **arguments, ranks=False)[0]
    assert doubtful_fits(**problem, **arguments, ranks=True)[0]


def test_without_a_free_sample_everything_is_doubtful():
    problem, residual, _ = one_problem(2, C=1e-4)
    problem["alpha"] = problem["box"].copy()
    test = np.ones((1, 40), dtype=bool)
    assert doubtful_fits(**problem, test=test, residual=residual, ranks=False)[0]


def test_singular_systems_are_doubtful():
    """The same sample twice on the margin: the bordered system has no inverse."""
    X = np.array([[1.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [-1.0, 0.0]])
    problem = {
        "columns": columns_of((X @ X.T)[None]),
        "signs": np.array([[1.0, 1.0, -1.0, -1.0]]),
        "box": np.ones((1, 4)),
        "alpha": np.full((1, 4), 0.25),
        "decision": np.array([[1.0, 1.0, -1.0, -1.0]]) * 1e-2,
    }
    residual = np.full((1, 4), 1e-3)
    test = np.ones((1, 4), dtype=bool)
    assert doubtful_fits(**problem, test=test, residual=residual, ranks=False)[0]


def test_residual_grows_with_offset_and_box():
    _, near, _ = one_problem(3)
    _, far, _ = one_problem(3, offset=1000.0)
    assert near.max() < 1.1e-3
    assert far.min() > 1e-2


def test_where_a_sample_may_change_sets_many_residuals_are_doubted():
    """The linear bound does not hold there: libsvm was seen off by 15 residuals."""
    tried = 0
    for seed in range(20):
        problem, residual, _ = one_problem(seed, p=60, C=10.0)
        error, steady = error_bound(
            **problem, problems=np.zeros(1, int), free=free(problem), residual=residual
        )
        test = np.zeros((1, 40), dtype=bool)
        test[0, error[0].argmin()] = True
        value = 20 * residual.max()
        if steady[0] or error[0].min() > value:
            continue
        problem["decision"][test] = value
        assert doubtful_fits(**problem, test=test, residual=residual, ranks=False)[0]
        tried += 1
    assert tried
