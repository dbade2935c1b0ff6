"""Parts of the SVM solvers: interior point, active sets, splitting, accepted optima; kernels."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.crossed import each_value
from helpers.svm import solve_on_gram_matrix
from numpy.testing import assert_allclose, assert_array_equal
from reference.svm import solve_dual
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.svm import SVC

from skeval._solvers import kernel_svm
from skeval._solvers.kernel_svm import Kernels, KernelSVMBatch, Splitting
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


def overlapping(seed, n=60, p=3):
    rng = np.random.default_rng(seed)
    y = np.resize([-1.0, 1.0], n)
    return rng, rng.normal(size=(n, p)) + 0.5 * y[:, None], y


def fixed(K, n_problems):
    return Kernels(K[None], np.zeros(n_problems, dtype=np.intp))


def relative_gap(K, y, box, alpha, decision):
    """Primal minus dual, over dual, in a box of which twice the largest alpha is enough."""
    box = np.minimum(box, 2.0 * alpha.max())
    norm = (y * alpha) @ K @ (y * alpha)
    dual = alpha.sum() - 0.5 * norm
    return (norm - alpha.sum() + box @ np.maximum(0.0, 1.0 - y * decision)) / dual


@each_value
@pytest.mark.parametrize("C", [1e-4, 1e-2, 1.0, 1e2, 1e5])
@pytest.mark.parametrize("gamma", [1e-3, 0.3, 30.0])
@pytest.mark.parametrize("own_labels", [False, True])
def test_solutions_are_optimal(C, gamma, own_labels, monkeypatch):
    monkeypatch.setattr(kernel_svm, "_MANY", 11)  # no block is abandoned
    rng, X, y = overlapping(0)
    K, everyone = rbf_kernel(X, gamma=gamma), np.arange(60)
    box = C * rng.multinomial(60, np.full(60, 1 / 60), size=10)
    signs = rng.permuted(np.tile(y, (10, 1)), axis=1) if own_labels else y
    found = KernelSVMBatch(K, everyone).solve(fixed(K, 10), signs, box, 60)
    # where C K is tiny, little is settled
    assert found.converged.sum() >= (8 if C * gamma >= 1e-3 else 1)
    for r in np.flatnonzero(found.converged):
        labels = np.broadcast_to(signs, box.shape)[r]
        alpha, decision = found.alpha[r], found.decision[r]
        assert np.all((alpha >= 0) & (alpha <= box[r]))
        assert abs(labels @ alpha) <= 1e-8 * alpha.sum()
        assert relative_gap(K, labels, box[r], alpha, decision) <= 2e-6
        values = K @ (labels * alpha) + found.intercept[r]
        np.testing.assert_allclose(values, decision, rtol=1e-6, atol=1e-8)


def test_other_samples_are_decided_as_by_svc():
    """A batch on some of the samples decides all of them."""
    rng, X, y = overlapping(1)
    K, rows = polynomial_kernel(X, degree=2, gamma=0.5, coef0=1.0), np.arange(0, 60, 2)
    y = rng.permutation(y)
    box = rng.exponential(size=(4, 30))
    found = KernelSVMBatch(K[np.ix_(rows, rows)], rows).solve(fixed(K, 4), y[rows], box, 60)
    assert found.converged.all()
    for weights, decision in zip(box, found.decision, strict=True):
        svc = SVC(kernel="precomputed", tol=1e-8)
        svc.fit(K[np.ix_(rows, rows)], y[rows], sample_weight=weights)
        np.testing.assert_allclose(svc.decision_function(K[:, rows]), decision, atol=1e-4)


def test_kernels_that_differ_from_problem_to_problem():
    rng, X, y = overlapping(2)
    everyone = np.arange(60)
    gamma = rng.uniform(0.25, 0.35, 6)
    box, which = rng.exponential(size=(6, 60)), np.array([0, 2, 1, 0, 1, 2])
    K = np.stack([rbf_kernel(X, gamma=value) for value in gamma[:3]])
    found = KernelSVMBatch(rbf_kernel(X, gamma=0.3), everyone).solve(Kernels(K, which), y, box, 60)
    assert found.converged.all()
    for weights, matrix, decision in zip(box, which, found.decision, strict=True):
        svc = SVC(gamma=gamma[matrix], tol=1e-8).fit(X, y, sample_weight=weights)
        np.testing.assert_allclose(svc.decision_function(X), decision, atol=1e-4)


def test_repeated_samples_and_a_class_too_few():
    _, X, y = overlapping(3)
    K = rbf_kernel(np.repeat(X[:20], 3, axis=0))
    box = np.ones((3, 60))
    box[1, y > 0] = 0.0  # one class only: no solution
    box[2, 5:] = 0.0
    found = KernelSVMBatch(K, np.arange(60)).solve(fixed(K, 3), y, box, 60)
    assert found.converged.tolist() == [True, False, True]
    assert np.isnan(found.decision[1]).all()


def test_nothing_is_made_of_a_matrix_that_is_not_finite():
    _, X, y = overlapping(4)
    K = rbf_kernel(X)
    broken = fixed(np.full_like(K, np.nan), 2)
    assert (
        not KernelSVMBatch(K, np.arange(60)).solve(broken, y, np.ones((2, 60)), 60).converged.any()
    )
    batch = KernelSVMBatch(np.full_like(K, np.nan), np.arange(60))
    assert not batch.solve(fixed(K, 2), y, np.ones((2, 60)), 60).converged.any()


def test_many_problems_are_abandoned_if_few_settle_at_the_first_attempt():
    """A kernel that hardly varies settles few of ten problems; each of them alone is solved."""
    rng, X, y = overlapping(0)
    K, everyone = rbf_kernel(X, gamma=1e-3), np.arange(60)
    box = rng.multinomial(60, np.full(60, 1 / 60), size=10)
    signs = rng.permuted(np.tile(y, (10, 1)), axis=1)
    batch = KernelSVMBatch(K, everyone)
    together = batch.solve(fixed(K, 10), signs, box, 60)
    alone = [batch.solve(fixed(K, 1), signs[[b]], box[[b]], 60) for b in range(10)]
    solved = np.concatenate([one.converged for one in alone])
    assert 0 < together.converged.sum() < 6 <= solved.sum()
    done = together.converged
    decision = np.concatenate([one.decision for one in alone])
    np.testing.assert_allclose(together.decision[done], decision[done], rtol=1e-9)
