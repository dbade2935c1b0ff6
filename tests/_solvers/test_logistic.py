"""Batched logistic regressions have the coefficients of LogisticRegression, with its stops."""

import warnings

import numpy as np
import pytest
from helpers.crossed import each_value
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from skeval._solvers.lbfgs import CONVERGED, MAX_ITER, UNFINISHED
from skeval._solvers.logistic import Columns, LogisticOptions, TwoClasses, solve_logistic


def make(seed, n, p, n_classes=2, B=4):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.resize(np.arange(n_classes), n))
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 2.0, size=p)
    X[:, 0] += y
    weights = rng.exponential(size=(B, n)) * (rng.random((B, n)) < 0.8)
    return rng, X, y, weights


def fit(X, y, weights, C, options):
    """Return the model of scikit-learn on the samples of positive weight."""
    used = weights > 0
    model = LogisticRegression(
        C=C, tol=options.tol, max_iter=options.max_iter, fit_intercept=options.intercept
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X[used], y[used], sample_weight=weights[used])


def compare(solution, number, model, X, rtol=1e-6):
    expected = model.decision_function(X)
    values = solution.decision[number]
    values = values[:, 0] if values.shape[1] == 1 else values
    np.testing.assert_allclose(values, expected, atol=rtol * (1e-3 + np.abs(expected).max()))
    assert solution.n_iter[number] == model.n_iter_[0]


SHAPES = [(40, 3, 2), (60, 12, 2), (30, 80, 2), (70, 4, 3), (90, 6, 10), (25, 60, 4)]


def test_few_rows_have_fewer_coefficients():
    X = np.random.default_rng(0).normal(size=(10, 20))
    columns = Columns.of_rows(X)
    assert columns.X.shape == (10, 10)
    np.testing.assert_allclose(columns.X @ columns.basis.T, X, atol=1e-12)
    assert Columns.of_rows(X[:, :19]).basis is None


@each_value
@pytest.mark.parametrize("own_labels", [False, True])
@pytest.mark.parametrize(("n", "p", "n_classes"), SHAPES)
def test_fits_of_scikit_learn(n, p, n_classes, own_labels):
    for seed in range(4):
        rng, X, y, weights = make(seed, n, p, n_classes)
        weights += 1e-3  # every class is present
        codes = rng.permuted(np.tile(y, (4, 1)), axis=1) if own_labels else y
        C = 10.0 ** rng.uniform(-3, 1)
        options = LogisticOptions(tol=10.0 ** rng.uniform(-5, -1), intercept=seed % 2 == 0)
        for columns in (Columns(X), Columns.of_rows(X)):
            solution = solve_logistic(columns, codes, C * weights, options)
            for r in range(4):
                labels = codes[r] if own_labels else codes
                compare(solution, r, fit(X, labels, weights[r], C, options), X)


@each_value
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("max_iter", [1, 3, 8])
def test_max_iter_ends_fits(max_iter, n_classes):
    _, X, y, weights = make(0, 60, 5, n_classes)
    options = LogisticOptions(tol=1e-10, max_iter=max_iter)
    solution = solve_logistic(Columns(X), y, weights, options)
    assert (solution.status == MAX_ITER).all()
    for r in range(4):
        compare(solution, r, fit(X, y, weights[r], 1.0, options), X)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_no_penalty(n_classes):
    _, X, y, weights = make(1, 80, 4, n_classes)
    options = LogisticOptions(ridge=0.0)
    solution = solve_logistic(Columns(X), y, weights, options)
    for r in range(4):
        compare(solution, r, fit(X, y, weights[r], np.inf, options), X)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_shifts_and_scales_of_each_problem(n_classes):
    rng, X, y, weights = make(2, 50, 4, n_classes)
    shift, scale = rng.normal(size=(4, 4)), rng.uniform(0.5, 2.0, size=(4, 4))
    for intercept in (True, False):
        options = LogisticOptions(intercept=intercept)
        solution = solve_logistic(Columns(X, shift, scale), y, weights, options)
        for r in range(4):
            columns = (X - shift[r]) / scale[r]
            compare(solution, r, fit(columns, y, weights[r], 1.0, options), columns)


def test_a_column_of_infinite_scale_is_dropped():
    _, X, y, weights = make(3, 50, 4)
    scale = np.ones((4, 4))
    scale[:, 2] = np.inf
    options = LogisticOptions()
    solution = solve_logistic(Columns(X, np.zeros((4, 4)), scale), y, weights, options)
    kept = X[:, [0, 1, 3]]
    compare(solution, 0, fit(kept, y, weights[0], 1.0, options), kept)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_columns_of_each_problem(n_classes):
    rng, X, y, weights = make(4, 50, 6, n_classes)
    kept = np.array([[0, 1, 2], [0, 3, 5], [1, 2, 4], [0, 2, 4]])
    stack = np.stack([X[:, columns] for columns in kept])
    shift, scale = rng.normal(size=(4, 3)), rng.uniform(0.5, 2.0, size=(4, 3))
    for columns in (Columns(stack), Columns(stack, shift, scale)):
        solution = solve_logistic(columns, y, weights, LogisticOptions())
        for r in range(4):
            own = X[:, kept[r]]
            own = own if columns.shift is None else (own - shift[r]) / scale[r]
            compare(solution, r, fit(own, y, weights[r], 1.0, LogisticOptions()), own)


def test_the_penalty_of_each_column():
    """Columns divided by s, with penalties divided by its square, have the same optimum."""
    _, X, y, weights = make(5, 60, 3)
    s = np.array([0.5, 1.0, 3.0])
    whole = solve_logistic(Columns(X), y, weights, LogisticOptions(1e-9, 1000))
    scaled = solve_logistic(Columns(X / s), y, weights, LogisticOptions(1e-9, 1000, s**-2.0))
    np.testing.assert_allclose(scaled.decision, whole.decision, atol=1e-5)


def test_blocks_of_problems_agree():
    _, X, y, weights = make(6, 400, 3, B=250)
    solution = solve_logistic(Columns(X), y, weights, LogisticOptions())
    assert (solution.status == CONVERGED).all()
    for r in (0, 170, 249):
        alone = solve_logistic(Columns(X), y, weights[[r]], LogisticOptions())
        np.testing.assert_allclose(alone.decision[0], solution.decision[r], rtol=1e-9, atol=1e-12)


def test_a_problem_without_a_class_is_not_solved():
    for n_classes in (2, 3):
        _, X, y, weights = make(3, 30, 2, n_classes)
        weights[1, y == 1] = 0.0
        solution = solve_logistic(Columns(X), y, weights, LogisticOptions())
        assert (solution.status == UNFINISHED).tolist() == [False, True, False, False]
        assert np.isnan(solution.decision[1]).all()


def test_decision_values_that_overflow_exp():
    """Steps on columns of 1e6 have decision values of thousands."""
    _, X, y, weights = make(7, 40, 2)
    part = TwoClasses(Columns(X), y, weights, 2, LogisticOptions())
    coef = np.tile([2000.0, -1000.0, 5.0], (4, 1))
    value, gradient = part(coef)
    f = X @ coef[0, :2] + 5.0
    shares = weights / weights.sum(axis=1, keepdims=True)
    losses = np.logaddexp(0.0, np.where(y > 0, -f, f))
    penalty = 0.5 * np.sum(coef[0, :2] ** 2) / weights.sum(axis=1)
    np.testing.assert_allclose(value, shares @ losses + penalty)
    np.testing.assert_allclose(gradient[:, -1], shares @ (expit(f) - y), rtol=1e-9)
