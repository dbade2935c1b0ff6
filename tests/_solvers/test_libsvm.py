"""libsvm's routine as it is called here: SVC's decision values, and duals on a Gram matrix."""

import numpy as np
import pytest
from helpers.crossed import each_value
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from skeval._solvers.libsvm import LibsvmOptions, decide_by_libsvm, has_libsvm, solve_on_gram


def test_the_routine_exists():
    assert has_libsvm()


@each_value
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_decision_values_are_those_of_svc(kernel, n_classes):
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(80, 5)), np.arange(80) % n_classes
    weight, of_class = rng.exponential(size=80), np.linspace(0.5, 2.0, n_classes)
    svc = SVC(
        kernel=kernel,
        C=3.0,
        gamma=0.7,
        coef0=0.1,
        degree=2,
        class_weight=dict(enumerate(of_class)),
        shrinking=False,
        decision_function_shape="ovo",
    )
    expected = svc.fit(X, codes, sample_weight=weight).decision_function(X[::3])
    options = LibsvmOptions(kernel, C=3.0, degree=2, coef0=0.1, shrinking=False)
    found = decide_by_libsvm(
        options, X, codes, X[::3].copy(), gamma=0.7, class_weight=of_class, sample_weight=weight
    )
    if n_classes == 2:
        assert_array_equal(-found[:, 0], expected)
    else:
        assert_array_equal(found, expected)


def test_a_problem_on_its_gram_matrix():
    rng = np.random.default_rng(1)
    X, signs = rng.normal(size=(50, 3)), rng.permuted(np.resize([-1.0, 1.0], 50))
    K, box = rbf_kernel(X, gamma=1.0), rng.exponential(size=50)
    beta, intercept = solve_on_gram(K, signs, box, tol=1e-6)
    svc = SVC(gamma=1.0, tol=1e-6).fit(X, signs, sample_weight=box)
    assert_allclose(K @ beta + intercept, svc.decision_function(X), atol=1e-5)
    assert np.all((signs * beta >= 0) & (signs * beta <= box * (1 + 1e-12)))


def test_nothing_is_printed(capfd):
    rng = np.random.default_rng(2)
    SVC(verbose=True).fit(rng.normal(size=(20, 2)), np.arange(20) % 2)
    capfd.readouterr()
    solve_on_gram(np.eye(20), np.resize([-1.0, 1.0], 20), np.ones(20), tol=1e-3)
    assert capfd.readouterr().out == ""
