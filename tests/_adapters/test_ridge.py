"""Ridge regression and its kin for many label vectors: the answers of single fits."""

import numpy as np
import pytest
from helpers.crossed import each_value
from helpers.deletion import (
    CLASSIFIERS,
    KINDS,
    OF_NEIGHBORS,
    OTHER_PARTS,
    REGRESSORS,
    adapter_of,
    check_against_single_fits,
    other_parts_plan,
    permutation_plan,
    some_labels,
    some_samples,
    takes_its_turn,
    whole_block,
)
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import is_classifier
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.model_selection import KFold, LeaveOneOut, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler

from skeval._adapters.ridge import PARAMETERS
from skeval.model_selection import cross_val_error


@each_value
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [name for name in CLASSIFIERS if name not in OF_NEIGHBORS])
def test_classifiers(kind, name):
    X, y = some_samples(kind), some_labels(n_classes=2 + (KINDS.index(kind) + len(name)) % 2)
    check_against_single_fits(CLASSIFIERS[name], X, y, most_left=0.1)


@each_value
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [name for name in REGRESSORS if name not in OF_NEIGHBORS])
def test_regressors(kind, name):
    X = some_samples(kind)
    y = np.random.default_rng(3).normal(size=len(X)) + 1
    check_against_single_fits(REGRESSORS[name], X, y, most_left=1.0, rtol=1e-8)


@each_value
@pytest.mark.parametrize("name", [name for name in REGRESSORS if name not in OF_NEIGHBORS])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_scales_of_the_numbers(name, scale):
    X = some_samples("plain")
    y = scale * (np.random.default_rng(3).normal(size=len(X)) + 1)
    check_against_single_fits(REGRESSORS[name], X, y, rtol=1e-9 * scale)


def test_what_rounding_decides_is_left_to_the_estimator():
    """Balanced classes and constant columns: every decision value is 0, or the mean of signs."""
    X, y = np.ones((48, 3)), some_labels()
    plan = permutation_plan(48)
    block = whole_block(plan)
    found = adapter_of(RidgeClassifier(), X, y, plan)(block)
    codes = block.order_labels((y == "b").astype(int))
    balanced = 2 * (codes * block.train).sum(axis=1) == block.train.sum(axis=1)
    assert balanced.any()
    assert_array_equal(found.failed, balanced)


def test_equations_that_are_all_but_singular_are_left_to_the_estimator():
    """The order in which a solver adds decides there, and it is another for many targets."""
    assert adapter_of(KernelRidge(), some_samples("offset"), np.arange(48.0) ** 0.5) is None


def test_single_precision_and_sparse_are_left_to_the_equations():
    X, y = some_samples("plain"), some_labels()
    for other in (X.astype(np.float32), csr_array(X)):
        for plan in (permutation_plan(48), other_parts_plan("redrawn folds")):
            assert adapter_of(RidgeClassifier(), other, y, plan) is None


SCALED = {
    "ridge": make_pipeline(StandardScaler(), RidgeClassifier(alpha=0.5)),
    "rescaled": make_pipeline(MinMaxScaler(), StandardScaler(), Ridge()),
    "least squares": make_pipeline(StandardScaler(), LinearRegression()),
    "normalized": make_pipeline(Normalizer(), RidgeClassifier()),
}


@each_value
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parts", [*OTHER_PARTS, "weights"])
def test_any_training_sets(parts, kind):
    X, rng = some_samples(kind), np.random.default_rng(3)
    models = {name: CLASSIFIERS[name] for name in CLASSIFIERS if name not in OF_NEIGHBORS}
    numbers = {name: REGRESSORS[name] for name in REGRESSORS if name not in OF_NEIGHBORS}
    for number, (name, model) in enumerate({**models, **numbers, **SCALED}.items()):
        if not takes_its_turn(number, parts, kind):
            continue
        if parts == "weights" and hasattr(model, "steps"):
            continue
        y = some_labels(n_classes=2 + len(name) % 2)
        if not is_classifier(model):
            y = rng.normal(size=len(X)) + 1
        plan = other_parts_plan(parts)
        left = check_against_single_fits(model, X, y, most_left=1.0, rtol=1e-7, plan=plan)
        if kind == "plain":
            assert left <= 0.1


def test_leaving_out_all_that_varies_is_left_to_the_estimator():
    """A column that varies in the first fold only is a constant for the scaler."""
    X, y = some_samples("plain"), some_labels()
    X[:, 2] = 0.0
    X[3, 2] = 1.0
    plan = other_parts_plan("leave one out")
    for model in (SCALED["ridge"], LinearDiscriminantAnalysis()):
        found = adapter_of(model, X, y, plan)(whole_block(plan))
        assert_array_equal(np.flatnonzero(found.failed), [3])


@pytest.mark.parametrize("offset", [1e6, 1e8, 1e12])
@pytest.mark.parametrize("scale", [1e-9, 1.0])
def test_offsets_of_the_columns_and_scales_of_the_numbers_are_those_of_the_loop(offset, scale):
    """Agreement is relative to the spread of y, which may be tiny."""
    for n, p, shifted in ((30, 60, 1), (40, 10, 10)):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, p))
        X[:, :shifted] = 3 * X[:, :shifted] + offset
        y = scale * rng.normal(size=n)
        for model in (LinearRegression(), Ridge(1e-8), Ridge()):
            for cv in (LeaveOneOut(), KFold(10)):
                expected = np.mean((cross_val_predict(model, X, y, cv=cv) - y) ** 2)
                found = cross_val_error(model, X, y, cv=cv).value
                assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("size", [1.0, 1e-4, 1e-6, 1e-8])
def test_directions_that_least_squares_drops_are_those_of_the_loop(size, scaled):
    """From scikit-learn 1.9 on, `tol` is the smallest relative singular value that is kept."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(30, 4))
        X[:, 3] = X[:, 0] + size * X[:, 3] if scaled else size * X[:, 3]
        y = X[:, :3].sum(axis=1) + X[:, 3] / size + 0.3 * rng.normal(size=30)
        model = LinearRegression()
        model = make_pipeline(StandardScaler(), model) if scaled else model
        cv = KFold(15, shuffle=True, random_state=seed)
        expected = np.mean((cross_val_predict(model, X, y, cv=cv) - y) ** 2)
        found = cross_val_error(model, X, y, cv=cv).value
        assert found == pytest.approx(expected, rel=1e-6)


def test_a_parameter_of_a_newer_version_is_left_to_the_estimator(monkeypatch):
    """Only its default is known to the solver."""
    X, y = some_samples("plain"), np.arange(48.0) ** 0.5
    model = Ridge()
    monkeypatch.setitem(PARAMETERS, Ridge, PARAMETERS[Ridge].replace("max_iter", ""))
    assert adapter_of(model, X, y) is not None
    assert adapter_of(Ridge(max_iter=7), X, y) is None
