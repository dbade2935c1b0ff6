"""Boxes, columns and gamma of the fits of an SVC are what scikit-learn makes them."""

import numpy as np
import pytest
from helpers.crossed import each_value
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.feature_selection import VarianceThreshold
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.utils.class_weight import compute_class_weight

from skeval._adapters.column_steps import make_column_steps
from skeval._adapters.svc_problems import (
    GramPairSolver,
    KernelPairSolver,
    LinearPairSolver,
    PairProblems,
    make_boxes,
)
from skeval._resampling.plans import PlanBlock
from skeval._resampling.target import validate_data
from skeval._solvers.kernel_svm import KernelForm

N = 24


def some_data():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(N, 3)) * [1.0, 10.0, 0.1] + [0, 5, 0], np.full(N, 2.0)])
    X[4:, 2] = 0.5  # In a fit without the first samples the column is constant.
    counts = rng.multinomial(N, np.full(N, 1 / N), size=3)
    counts[0, :4] = 0
    order = np.array([rng.permutation(N) for _ in counts])
    return X, np.resize(["a", "a", "b"], N), PlanBlock(counts, counts == 0, order)


def column_steps(steps, X):
    """Return the steps before a classifier of two classes."""
    return make_column_steps(steps, X, validate_data(SVC(), X, np.arange(len(X)) % 2)[1])


@pytest.mark.parametrize("class_weight", [None, "balanced", {"a": 2.0, "b": 0.5}], ids=str)
def test_boxes_are_c_times_both_weights(class_weight):
    X, y, block = some_data()
    svc = SVC(C=3.0, class_weight=class_weight)
    _, target, _ = validate_data(svc, X, y)
    boxes = make_boxes(svc.C, svc.class_weight, target)(block)
    for box, counts, order in zip(boxes, block.train, block.order, strict=True):
        labels = y[order]
        drawn = np.repeat(labels, counts)
        of_class = compute_class_weight(class_weight, classes=np.array(["a", "b"]), y=drawn)
        assert_allclose(box, 3.0 * counts * of_class[(labels == "b").astype(int)])


def test_a_class_without_room_has_no_boxes():
    X, y, _ = some_data()
    for class_weight in ({"a": 0.0}, {"c": 1.0}):
        svc = SVC(class_weight=class_weight)
        assert make_boxes(svc.C, svc.class_weight, validate_data(svc, X, y)[1]) is None


@each_value
@pytest.mark.parametrize("gamma", ["scale", "auto", 0.2])
@pytest.mark.parametrize("steps", [[], [VarianceThreshold(), StandardScaler()]], ids=str)
def test_gamma_is_that_of_each_fit(gamma, steps):
    X, _, block = some_data()
    columns = column_steps(steps, X) if steps else None
    solver = KernelPairSolver(X, columns, KernelForm("rbf"), gamma)
    maps = None if columns is None else columns.maps(block)
    for found, counts in zip(solver._gammas(block, maps), block.train, strict=True):
        rows = np.repeat(np.arange(N), counts)
        Z = make_pipeline(*steps, "passthrough").fit_transform(X[rows])
        svc = SVC(gamma=gamma).fit(Z, np.arange(len(rows)) % 2)
        assert_allclose(found, svc._gamma, rtol=1e-9)


def test_one_kernel_of_all_fits_in_two_ways():
    """A kernel that scikit-learn has, and the same as a matrix."""
    X, y, block = some_data()
    box, signs = block.train.astype(float), np.where(y == "b", 1.0, -1.0)
    problems = PairProblems(block, np.arange(N), signs, box)
    kernel = KernelPairSolver(X, None, KernelForm("rbf"), 0.2).solve(problems)
    gram = GramPairSolver(rbf_kernel(X, gamma=0.2)).solve(problems)
    assert np.isfinite(kernel.decision).all()
    assert_allclose(kernel.decision, gram.decision, atol=1e-6)


@each_value
@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("steps", [[], [StandardScaler()]], ids=str)
def test_a_kernel_of_each_fit_gives_the_decision_values_of_svc(steps, weighted, shuffled):
    """Up to the tolerance: rounding errors may decide which of two samples libsvm steps along."""
    X, y, block = some_data()
    X = X[:, :2]
    rng = np.random.default_rng(1)
    train = block.train * rng.exponential(size=block.train.shape) if weighted else block.train
    order = np.array([rng.permutation(N) for _ in block.train]) if shuffled else None
    block = PlanBlock(train, block.test, order)
    signs = np.where(y == "b", 1.0, -1.0)[np.arange(N)[None] if order is None else order]
    box = 2.0 * block.train
    columns = column_steps(steps, X) if steps else None
    solver = KernelPairSolver(X, columns, KernelForm("rbf"), "scale")
    found = solver.solve(PairProblems(block, np.arange(N), np.broadcast_to(signs, box.shape), box))
    solved = np.isfinite(found.decision).all(axis=1)
    assert solved.sum() >= 2
    for number, decision in enumerate(found.decision):
        if not solved[number]:
            continue
        rows, weights = block[number].training_rows, block[number].weights
        labels = np.broadcast_to(signs, box.shape)[number]
        before = make_pipeline(*steps, "passthrough")
        if weighted and steps:
            before.fit(X[rows], standardscaler__sample_weight=weights)
        else:
            before.fit(X[rows])
        svc = SVC(C=2.0, tol=1e-6)
        svc.fit(before.transform(X[rows]), labels[rows], sample_weight=weights)
        expected = svc.decision_function(before.transform(X))
        assert_allclose(decision, expected, atol=1e-5)
        assert found.alpha[number].max() <= box[number].max() * (1 + 1e-12)


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler()], ids=str)
def test_scaled_columns_of_many_features_give_the_decision_values_of_svc(scaler):
    """Also of the samples of a third class, which the problems leave out."""
    rng = np.random.default_rng(1)
    X, rows = rng.normal(3.0, size=(N, 2 * N)) * rng.exponential(size=2 * N), np.arange(N - 4)
    signs = np.resize([1.0, -1.0, -1.0], N)
    block = some_data()[2]
    box = 0.5 * block.train
    solver = LinearPairSolver(column_steps([scaler], X))
    decision, alpha = solver.solve(PairProblems(block, rows, signs[rows], box[:, rows]))
    for number in range(len(block)):
        columns = clone(scaler).fit(X[block[number].training_rows]).transform(X)
        trained = np.repeat(rows, block.train[number, rows])
        svc = SVC(kernel="linear", C=0.5, tol=1e-6).fit(columns[trained], signs[trained])
        assert_allclose(decision[number], svc.decision_function(columns), atol=1e-5)
        assert alpha[number].max() <= box[number].max() * (1 + 1e-12)


def test_a_fit_that_keeps_no_column_has_no_solution():
    X, y, block = some_data()
    X[4:] = 1.0
    signs = np.where(y == "b", 1.0, -1.0)
    problems = PairProblems(block, np.arange(N), signs, block.train.astype(float))
    decision = LinearPairSolver(column_steps([VarianceThreshold()], X)).solve(problems).decision
    assert np.isnan(decision[0]).all()
    assert np.isfinite(decision[1:]).all()


def test_some_fits_of_a_block():
    _, _, block = some_data()
    part = block.take(np.array([2, 0]))
    for name in ("train", "test", "order"):
        np.testing.assert_array_equal(getattr(part, name), getattr(block, name)[[2, 0]])
