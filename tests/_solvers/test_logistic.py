"""Newton's method on many logistic regressions: the optimum, whatever the start and the system."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

from skeval._solvers.column_scales import ColumnScales
from skeval._solvers.logistic import LogisticBatch, solve_selected_logistic


def make(seed, n, p, n_classes=2, B=4):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.resize(np.arange(n_classes), n))
    X = rng.normal(size=(n, p)) * rng.uniform(0.1, 5.0, size=p)
    X[:, 0] += y
    weights = rng.exponential(size=(B, n)) * (rng.random((B, n)) < 0.8)
    return rng, X, y, weights


def minimum(X, codes, weights, scales=1.0):
    """The least value of the objective, by a minimiser that knows no derivative of ours."""
    n_classes, Z = int(codes.max()) + 1, X / scales
    p = X.shape[1]

    def objective(parameters):
        v = parameters.reshape(n_classes, p + 1)
        f = v[:, :-1] @ Z.T + v[:, -1:]
        q = np.exp(f - logsumexp(f, axis=0))
        q[codes, np.arange(len(codes))] -= 1.0
        gradient = np.column_stack([(weights * q) @ Z + v[:, :-1], (weights * q).sum(axis=1)])
        own = f[codes, np.arange(len(codes))]
        value = weights @ (logsumexp(f, axis=0) - own) + 0.5 * np.sum(v[:, :-1] ** 2)
        return value, gradient.ravel()

    start = np.zeros(n_classes * (p + 1))
    found = minimize(objective, start, jac=True, method="BFGS", options={"gtol": 1e-9})
    v = found.x.reshape(n_classes, p + 1)
    return (v[:, :-1] @ Z.T + v[:, -1:]).T


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("own_labels", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_optimum_of_a_general_minimiser(n_classes, own_labels, scaled):
    rng, X, y, weights = make(0, 40, 3, n_classes)
    codes = rng.permuted(np.tile(y, (4, 1)), axis=1) if own_labels else y
    scales = rng.uniform(0.5, 2.0, size=(4, 3)) if scaled else None
    found = LogisticBatch(X).solve(codes, weights, scales=scales)
    assert found.converged.all()
    for r in range(4):
        labels = np.broadcast_to(codes, weights.shape)[r]
        of_fit = 1.0 if scales is None else scales[r]
        if n_classes == 2:
            # Two classes are one row of coefficients, whose penalty is half of that of two rows.
            f = minimum(X * np.sqrt(0.5), labels, weights[r], of_fit)
            expected = f[:, 1] - f[:, 0]
        else:
            expected = minimum(X, labels, weights[r], of_fit)
            expected = expected - expected.mean(axis=1, keepdims=True)
        values = found.decision[r]
        values = values - values.mean(axis=1, keepdims=True) if n_classes == 3 else values
        np.testing.assert_allclose(values, expected, atol=2e-6 * (1 + np.abs(expected).max()))


@pytest.mark.parametrize("C", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("own_labels", [False, True])
def test_features_and_gram_matrices_agree(own_labels, C):
    """Columns of 0 make features many and change nothing."""
    rng, X, y, weights = make(1, 30, 4)
    codes = rng.permuted(np.tile(y, (4, 1)), axis=1) if own_labels else y
    few, many = LogisticBatch(X), LogisticBatch(np.column_stack([X, X @ rng.normal(size=(4, 60))]))
    scales = np.concatenate([np.ones((4, 4)), np.full((4, 60), 1e30)], axis=1)
    assert few.uses_features
    assert not many.uses_features
    one, two = few.solve(codes, C * weights), many.solve(codes, C * weights, scales=scales)
    assert one.converged.all()
    assert two.converged.all()
    size = np.abs(one.decision).max()
    np.testing.assert_allclose(one.decision, two.decision, atol=1e-6 * size)


def test_a_derivative_is_zero_at_the_end():
    for seed in range(20):
        _, X, y, weights = make(seed, 60, 5, B=8)
        found = LogisticBatch(X).solve(y, weights)
        beta = weights * (y - expit(found.decision))
        assert found.converged.all()
        np.testing.assert_allclose(beta.sum(axis=1), 0.0, atol=1e-8)
        centred = X - X.mean(axis=0)
        coef = beta @ centred
        intercept = (found.decision - coef @ centred.T).mean(axis=1, keepdims=True)
        np.testing.assert_allclose(coef @ centred.T + intercept, found.decision, atol=1e-7)


def test_selected_columns_are_the_columns_alone():
    _, X, y, weights = make(2, 50, 6)
    kept = np.array([[0, 1, 2], [0, 3, 5], [1, 2, 4], [0, 2, 4]])
    centred = X - X.mean(axis=0)
    stack = np.stack([centred[:, columns] for columns in kept])
    found = solve_selected_logistic(stack, np.tile(y, (4, 1)), weights)
    assert found.converged.all()
    for r, columns in enumerate(kept):
        alone = LogisticBatch(X[:, columns]).solve(y, weights[[r]])
        np.testing.assert_allclose(found.decision[r], alone.decision[0], atol=1e-8)


def test_a_problem_without_a_class_is_not_solved():
    _, X, y, weights = make(3, 30, 2)
    weights[1, y == 1] = 0.0
    found = LogisticBatch(X).solve(y, weights)
    assert found.converged.tolist() == [True, False, True, True]
    assert np.isnan(found.decision[1]).all()


def test_separable_classes_have_no_optimum_without_a_penalty():
    _, X, y, weights = make(4, 40, 2)
    X[:, 0] += 50.0 * y
    batch = LogisticBatch(X)
    assert not batch.solve(y, weights, penalised=False).converged.any()
    assert batch.solve(y, 1e3 * weights).converged.all()


def test_copied_columns_leave_predictions_open_without_a_penalty():
    _, X, y, weights = make(5, 60, 2)
    batch = LogisticBatch(np.column_stack([X, X[:, 0] + 3.0]))
    assert not batch.solve(y, weights, penalised=False).converged.any()
    assert LogisticBatch(X).solve(y, weights, penalised=False).converged.all()


def test_gram_matrices_by_products_of_rows():
    rng = np.random.default_rng(0)
    columns = ColumnScales(rng.normal(size=(12, 40)))
    ridge = rng.uniform(0.5, 2.0, size=(5, 40))
    one_by_one = columns.gram(ridge)
    columns.keep_row_products()
    np.testing.assert_allclose(columns.gram(ridge), one_by_one, rtol=1e-12, atol=1e-12)
