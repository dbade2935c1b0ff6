"""Ridge regression and its kin for many label vectors: the answers of single fits."""

import numpy as np
import pytest
from helpers.crossed import each_value
from helpers.label_free import (
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
from sklearn.base import clone, is_classifier
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    LinearRegression,
    Ridge,
    RidgeClassifier,
    RidgeClassifierCV,
    RidgeCV,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler


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
    "least squares": make_pipeline(MinMaxScaler(), LinearRegression()),
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


@each_value
@pytest.mark.parametrize("parts", OTHER_PARTS)
@pytest.mark.parametrize("scaled", [False, True])
def test_penalties_that_are_searched(parts, scaled):
    rng, chosen = np.random.default_rng(0), set()
    for kind, n_classes in (("plain", 2), ("integers", 3), ("constant columns", 0)):
        X, alphas = some_samples(kind), np.logspace(-2, 4, 7)
        model = RidgeClassifierCV(alphas) if n_classes else RidgeCV(alphas)
        y = some_labels(n_classes=n_classes) if n_classes else rng.normal(size=48) + X[:, 0]
        chosen.add(clone(model).fit(X, y).alpha_)
        model = make_pipeline(StandardScaler(), model) if scaled else model
        plan = other_parts_plan(parts)
        assert check_against_single_fits(model, X, y, most_left=1.0, plan=plan) < 0.2
    assert len(chosen) > 1


@pytest.mark.parametrize(
    "model",
    [
        RidgeCV(cv=3),
        RidgeCV(fit_intercept=False),
        RidgeClassifierCV(scoring="roc_auc"),
        RidgeClassifierCV(class_weight="balanced"),
    ],
)
def test_searches_that_are_not_served(model):
    X, y = some_samples("plain"), some_labels()
    y = y if is_classifier(model) else np.arange(48.0)
    assert adapter_of(model, X, y, other_parts_plan("redrawn folds")) is None
