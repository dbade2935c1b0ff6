"""SVMs on shared Gram matrices: optimal, like SVC, whatever the labels, boxes and kernels."""

import numpy as np
import pytest
from helpers.crossed import each_value
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.svm import SVC

from skeval._solvers import kernel_svm
from skeval._solvers.kernel_svm import Kernels, KernelSVMBatch


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
