"""The solver against SVC, a reference implementation, and the conditions of optimality."""

import numpy as np
import pytest
from helpers.crossed import each_value
from helpers.svm import solve_on_gram_matrix
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skeval._solvers import linear_svm, optimum
from skeval._solvers.linear_svm import LinearSVMBatch
from skeval._solvers.splits import ColumnScales


def iris(pair):
    X, labels = load_iris(return_X_y=True)
    rows = np.isin(labels, pair)
    return X[rows], np.where(labels[rows] == pair[0], -1.0, 1.0)


def breast_cancer_standard():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X[:200]), 2.0 * y[:200] - 1.0


def simulated(n, p, seed=0):
    X, y = make_classification(
        n, p, n_informative=3, n_redundant=2, flip_y=0.15, class_sep=0.7, random_state=seed
    )
    return X, 2.0 * y - 1.0


DATA = {
    "iris 0 1": lambda: iris((0, 1)),
    "iris 1 2": lambda: iris((1, 2)),
    "breast cancer, standardized": breast_cancer_standard,
    "80 x 6": lambda: simulated(80, 6),
    "60 x 45": lambda: simulated(60, 45),
    "50 x 120": lambda: simulated(50, 120),
}


def exponential(rng, n_problems, n):
    weights = rng.exponential(size=(n_problems, n))
    return weights / weights.mean(axis=1, keepdims=True)


def counts(rng, n_problems, n):
    return rng.multinomial(n, np.full(n, 1 / n), size=n_problems).astype(float)


def folds(rng, n_problems, n):
    weights = np.ones((n_problems, n))
    for row, part in zip(weights, np.array_split(rng.permutation(n), n_problems), strict=True):
        row[part] = 0.0
    return weights


WEIGHTS = {
    "exponential": exponential,
    "counts": counts,
    "folds": folds,
    "folds x exponential": lambda *args: folds(*args) * exponential(*args),
}


def assert_optimal(X, y, box, alpha, decision, tol=1e-7):
    """Check feasibility and that the duality gap is nought: no solver is trusted here."""
    assert np.all((alpha >= 0) & (alpha <= box))
    assert abs(y @ alpha) <= 1e-7 * box.sum()
    hinge = box @ np.maximum(0.0, 1.0 - y * decision)
    w = (y * alpha) @ (X - X.mean(axis=0))
    primal, dual = 0.5 * w @ w + hinge, alpha.sum() - 0.5 * w @ w
    assert primal - dual <= tol * primal


def assert_like_svc(X, y, box, decision, alpha, tol=1e-6):
    trained = box > 0
    X = X - X.mean(axis=0)  # libsvm keeps the kernel in single precision: no needless offsets
    svc = SVC(kernel="linear", C=1.0, tol=tol)
    svc.fit(X[trained], y[trained], sample_weight=box[trained])
    expected = svc.decision_function(X)
    clear = np.abs(expected) >= 1e-3
    assert np.array_equal(decision[clear] > 0, expected[clear] > 0)
    ours = 0.5 * np.sum(((y * alpha) @ X) ** 2) + box @ np.maximum(0, 1 - y * decision)
    theirs = 0.5 * np.sum(svc.coef_**2) + box @ np.maximum(0, 1 - y * expected)
    assert ours <= theirs * (1 + 1e-5)  # `assert_optimal` says that it cannot be lower


def scales_of(X, weights):
    """What a StandardScaler divides by under these weights."""
    return None if weights is None else ColumnScales(X).deviations(weights)


def assert_all_optimal(X, y, box, solution, scale_weights=None):
    assert solution.converged.all()
    labels = np.broadcast_to(y, box.shape)
    for b, (signs, C) in enumerate(zip(labels, box, strict=True)):
        Z = X
        if scale_weights is not None:
            Z = StandardScaler().fit(X, sample_weight=scale_weights[b]).transform(X)
        assert_optimal(Z, signs, C, solution.alpha[b], solution.decision[b])
        assert_like_svc(Z, signs, C, solution.decision[b], solution.alpha[b])


@each_value
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("data", DATA)
def test_like_svc(data, weights):
    X, y = DATA[data]()
    box = WEIGHTS[weights](np.random.default_rng(0), 4, len(y))
    assert_all_optimal(X, y, box, LinearSVMBatch(X).solve(y, box))


@each_value
@pytest.mark.parametrize("weights", ["exponential", "counts", "folds"])
@pytest.mark.parametrize("data", ["breast cancer, standardized", "80 x 6"])
def test_like_svc_behind_a_standard_scaler(data, weights):
    X, y = DATA[data]()
    rng = np.random.default_rng(3)
    scale_weights = WEIGHTS[weights](rng, 4, len(y))
    box = scale_weights * np.where(y > 0, 0.5, 2.0)  # class weights are not the scaler's
    solution = LinearSVMBatch(X).solve(y, box, scales=scales_of(X, scale_weights))
    assert_all_optimal(X, y, box, solution, scale_weights)


def test_a_wrong_strip_is_noticed(monkeypatch):
    """Screening that leaves out support vectors costs time, not correctness."""
    X, y = simulated(200, 5)
    box = exponential(np.random.default_rng(5), 150, 200)
    monkeypatch.setattr(linear_svm, "_DEVIATIONS", 0.5)
    narrow = LinearSVMBatch(X).solve(y, box)
    assert narrow.converged.all()
    for b in range(150):
        assert_optimal(X, y, box[b], narrow.alpha[b], narrow.decision[b])


@pytest.mark.parametrize("p", [3, 40])
def test_intercept_where_it_is_not_unique(p):
    """All alpha at their bound: libsvm takes the middle of the interval, and so do we."""
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(30, p)), np.repeat([-1.0, 1.0], 15)
    box = np.full((1, 30), 1e-5)
    solution = LinearSVMBatch(X).solve(y, box)
    svc = SVC(kernel="linear", C=1e-5, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(solution.alpha, box)
    np.testing.assert_allclose(solution.decision[0], svc.decision_function(X), atol=1e-8)


def test_no_column_varies():
    box = np.array([[1.0, 1.0, 1.0, 1.0, 1.0]])
    y = np.array([1.0, 1.0, 1.0, -1.0, -1.0])
    solution = LinearSVMBatch(np.full((5, 2), 7.0)).solve(y, box)
    assert solution.converged.all()
    np.testing.assert_allclose(solution.decision, 1.0)


@pytest.mark.parametrize("p", [3, 30])
def test_one_class_is_flagged(p):
    X, y = simulated(24, p + 5)
    box = np.ones((3, 24))
    box[1, y > 0] = 0.0
    box[2] = 0.0
    solution = LinearSVMBatch(X).solve(y, box)
    assert solution.converged.tolist() == [True, False, False]
    assert np.isnan(solution.decision[1:]).all()
    assert np.isnan(solution.alpha[1:]).all()
    assert np.isfinite(solution.decision[0]).all()
    alone = LinearSVMBatch(X).solve(y, box[1:])
    assert not alone.converged.any()


@pytest.mark.parametrize("p", [5, 60])
def test_too_few_iterations_are_flagged(p, monkeypatch):
    for name in ("_MAX_ITER", "_ROUNDS_OF_POINT", "_ROUNDS_OF_SETS"):
        monkeypatch.setattr(optimum, name, 1)
    X, y = simulated(100, p)
    box = 50.0 * exponential(np.random.default_rng(8), 8, 100)
    solution = LinearSVMBatch(X).solve(y, box)
    assert not solution.converged.all()
    assert np.array_equal(np.isnan(solution.decision).all(axis=1), ~solution.converged)
    for b in np.flatnonzero(solution.converged):
        assert_optimal(X, y, box[b], solution.alpha[b], solution.decision[b])


sizes = st.sampled_from([(20, 3), (20, 14), (20, 30)])
seeds = st.integers(0, 2**31)


@settings(deadline=None, max_examples=8)
@given(sizes, seeds, st.floats(1e-3, 1e3))
def test_scaling_x_is_scaling_the_box(size, seed, factor):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=size), np.resize([-1.0, 1.0], size[0])
    box = exponential(rng, 3, size[0])
    one = LinearSVMBatch(X).solve(y, box)
    other = LinearSVMBatch(X * factor).solve(y, box / factor**2)
    assert one.converged.all()
    assert other.converged.all()
    np.testing.assert_allclose(one.decision, other.decision, atol=1e-6)


@settings(deadline=None, max_examples=8)
@given(sizes, seeds)
def test_order_signs_shift_and_repeats(size, seed):
    """Row order, swapped classes and shifted columns do not matter; a count is that many rows."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=size), np.resize([-1.0, 1.0], size[0])
    box = counts(rng, 2, size[0])
    box[:, :2] += 1.0
    plain = LinearSVMBatch(X).solve(y, box).decision
    order = rng.permutation(size[0])
    moved = LinearSVMBatch(X[order] + 5.0).solve(-y[order], box[:, order]).decision
    np.testing.assert_allclose(plain[:, order], -moved, atol=1e-6)
    rows = np.repeat(np.arange(size[0]), box[0].astype(int))
    repeated = LinearSVMBatch(X[rows]).solve(y[rows], np.ones((1, len(rows)))).decision
    np.testing.assert_allclose(plain[0][rows], repeated[0], atol=1e-6)


def test_no_sample_free_beside_every_sample_free():
    """In one batch: the intercept is the middle of an interval here, of a linear system there."""
    X = np.array([[0.0, 1.0], [2.0, 1.0], [1.0, 3.0], [3.0, 0.5]])
    signs = np.tile([-1.0, 1.0, -1.0, 1.0], (2, 1))
    box = np.array([[1e3, 1e3, 0.0, 0.0], [1e-3, 1e-3, 1e-3, 1e-3]])
    for solution in (LinearSVMBatch(X).solve(signs, box), solve_on_gram_matrix(X, signs, box)):
        assert solution.converged.all()
        for r in range(2):
            kept = box[r] > 0
            svc = SVC(kernel="linear", C=box[r].max(), tol=1e-8).fit(X[kept], signs[r][kept])
            expected = svc.decision_function(X)
            np.testing.assert_allclose(solution.decision[r], expected, atol=1e-6)


def test_singular_systems_are_nobodys_business():
    """Copied rows and columns of sizes from 1 to 1e10: an answer or none, but no error."""
    rng = np.random.default_rng(0)
    for seed in (0, 2, 5):
        X = rng.normal(size=(30, 8)) * 10.0 ** rng.uniform(0, 10, 8)
        X = np.tile(np.repeat(X, 2, axis=0), 1 + seed % 8)
        signs = np.where(rng.random(60) < 0.5, -1.0, 1.0)
        for solve in (
            solve_on_gram_matrix,
            lambda X, *problems: LinearSVMBatch(X).solve(*problems),
        ):
            found = solve(X, signs, np.ones((2, 60)))
            assert np.array_equal(np.isnan(found.decision).all(axis=1), ~found.converged)


def test_equal_boxes_of_different_labels_on_one_matrix():
    """The solution for one of them is none for the other."""
    rng = np.random.default_rng(0)
    X, signs = rng.normal(size=(20, 50)), np.tile([[-1.0, 1.0]], (3, 10))
    signs = rng.permuted(signs, axis=1)
    found = solve_on_gram_matrix(X, signs, np.ones((3, 20)))
    for labels, decision in zip(signs, found.decision, strict=True):
        svc = SVC(kernel="linear", tol=1e-8).fit(X, labels)
        np.testing.assert_allclose(svc.decision_function(X), decision, atol=1e-5)
