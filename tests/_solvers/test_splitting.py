"""Linear SVMs that start from operator splitting: the optima of the interior point."""

import numpy as np
import pytest

from skeval._solvers import linear_svm, splitting
from skeval._solvers.newton import FeatureDuals, FeatureSystem
from skeval._solvers.optimum import are_optimal
from skeval._solvers.splitting import Splitting, solve_by_splitting

SHAPES = [(40, 4), (100, 20), (200, 60)]


def problems(n, p, C, seed=0):
    """Samples, labels of all problems or of each, and boxes of folds and of weights."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, p)), np.resize([-1.0, 1.0], n)
    X[:, 0] += 0.7 * y
    box = C * (rng.random((120, n)) < 0.7)
    box[60:] *= rng.exponential(size=(60, n))
    return X, y, rng.permuted(np.tile(y, (120, 1)), axis=1), box


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(("C", "same_labels"), [(1e-3, True), (1.0, False), (1e3, True)])
def test_solutions_are_those_without_it(shape, C, same_labels, monkeypatch):
    X, y, others, box = problems(*shape, C)
    signs = y if same_labels else others
    batch = linear_svm.LinearSVMBatch(X)
    found = batch.solve(signs, box)
    monkeypatch.setattr(linear_svm, "_FEW_SAMPLES", 0)
    expected = batch.solve(signs, box)
    assert found.converged.all()
    assert expected.converged.all()
    np.testing.assert_allclose(found.decision, expected.decision, atol=1e-6)
    np.testing.assert_allclose(found.intercept, expected.intercept, atol=1e-6)


def test_what_is_settled_is_optimal():
    X, y, _, box = problems(100, 20, 1.0)
    X -= X.mean(axis=0)
    system = FeatureSystem(X, np.ones(20))
    duals = FeatureDuals(system, np.tile(y, (120, 1)), box)
    few, more = (solve_by_splitting(Splitting(X @ X.T), duals, k) for k in (1, 2))
    assert 0.6 < few.settled.mean() <= more.settled.mean()
    for found in (few, more):
        assert are_optimal(duals, found)[found.settled].all()


def test_pilots_keep_hard_problems_from_it(monkeypatch):
    """Where hardly any pilot settles, the other problems are not tried."""
    sizes = []

    def count(steps, duals, n_attempts):
        sizes.append(len(duals.box))
        return solve_by_splitting(steps, duals, n_attempts)

    monkeypatch.setattr(splitting, "solve_by_splitting", count)
    X, y, _, box = problems(100, 20, 1.0)
    linear_svm.LinearSVMBatch(X).solve(y, box)
    assert len(sizes) == 2
    assert sizes[0] == 24
    assert sizes[1] > 96
    sizes.clear()
    assert linear_svm.LinearSVMBatch(X).solve(y, 1e4 * box).converged.all()
    assert sizes == [24]
