"""Fits by libsvm itself: decision values and labels of SVC to the last bit, on any data."""

import numpy as np
import pandas as pd
import pytest
from helpers.crossed import each_value
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, QuantileTransformer, StandardScaler
from sklearn.svm import SVC

from skeval._adapters.libsvm import LibsvmFits
from skeval._adapters.registry import ask_steps
from skeval._resampling.plans import PlanBlock
from skeval._resampling.target import validate_data
from skeval.model_selection import cross_val_error, permutation_test
from skeval.utils import _compat
from skeval.utils._compat import safe_split

KINDS = {
    "linear": SVC(kernel="linear"),
    "rbf": SVC(),
    "auto": SVC(gamma="auto"),
    "number": SVC(gamma=0.01, C=1e3),
    "poly": SVC(kernel="poly", degree=2, coef0=-1.0),
    "sigmoid": SVC(kernel="sigmoid"),
    "balanced": SVC(class_weight="balanced", shrinking=False),
    "ties": SVC(break_ties=True, tol=0.1),
    "pairs": SVC(kernel="linear", decision_function_shape="ovo", C=0.01),
}


def grid(n_classes=2):
    """Few different samples, at equal distances, with labels that contradict each other."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(90, 3)).astype(float)
    return X, np.array(["a", "b", "c"])[rng.permutation(np.arange(90) % n_classes)]


def some(data, n=140):
    X, y = data
    rows = np.random.default_rng(1).permutation(len(y))[:n]
    return X[rows], y[rows]


DATA = {
    "grid": grid(),
    "grid of three": grid(3),
    "unscaled": some(load_breast_cancer(return_X_y=True)),
    "unscaled three": some(load_wine(return_X_y=True)),
    "iris": some(load_iris(return_X_y=True)),
}


def some_fits(n, kind):
    rng = np.random.default_rng(3)
    folds = np.tile(np.arange(n) % 3 > 0, (4, 1)).astype(int)
    if kind == "shuffled":
        return PlanBlock(folds, folds == 0, np.array([rng.permutation(n) for _ in folds]))
    if kind == "repeated":
        train = rng.multinomial(n, np.full(n, 1 / n), size=4)
        return PlanBlock(train, train == 0)
    weights = rng.exponential(size=folds.shape) if kind == "weighted" else 1
    return PlanBlock(folds * weights, folds == 0)


def check_fits(model, X, y, kind="folds"):
    """Compare the fits with the estimator's; return how many are left to it."""
    X, target, _ = validate_data(model, X, y)
    adapter = ask_steps(model, X, target)
    n_left = 0
    for fit in map(some_fits(len(y), kind).__getitem__, range(4)):
        rows, tested = fit.training_rows, np.flatnonzero(fit.test)
        labels = target.y if fit.order is None else target.y[fit.order]
        train, train_labels = safe_split(model, X, labels, rows)
        test, _ = safe_split(model, X, labels, tested, rows)
        output = adapter.fit_one(fit, train, train_labels, test)
        if output.failed[0]:
            n_left += 1
            continue
        weights = {} if fit.weights is None else {"sample_weight": fit.weights}
        fitted = clone(model).fit(train, train_labels, **weights)
        assert_array_equal(target.classes[output.predicted], fitted.predict(test))
        assert_array_equal(output.decision, fitted.decision_function(test))
    return n_left


@each_value
@pytest.mark.parametrize("kind", ["folds", "shuffled", "repeated", "weighted"])
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("svc", KINDS)
def test_every_fit_is_that_of_svc(svc, data, kind):
    assert check_fits(KINDS[svc], *DATA[data], kind) == 0


@each_value
@pytest.mark.parametrize(
    "before",
    [
        [StandardScaler()],
        [PCA(2, random_state=0)],
        [PolynomialFeatures(include_bias=False), SelectKBest(k=4)],
        [QuantileTransformer(n_quantiles=10)],
    ],
    ids=str,
)
@pytest.mark.parametrize("form", [np.asarray, np.float32, pd.DataFrame], ids=lambda f: f.__name__)
def test_any_transformers_are_fitted_as_in_a_pipeline(before, form):
    X, y = DATA["iris"]
    assert check_fits(make_pipeline(*before, SVC()), form(X), y, "shuffled") == 0


def test_weights_of_transformers_are_left_to_the_pipeline():
    model = make_pipeline(StandardScaler(), SVC())
    X, target, _ = validate_data(model, *DATA["iris"])
    fit = some_fits(len(X), "weighted")[0]
    assert ask_steps(model, X, target).fit_one(fit, X, target.y, X).failed.all()


def test_a_precomputed_kernel():
    X, y = DATA["iris"]
    assert check_fits(SVC(kernel="precomputed"), X @ X.T, y, "repeated") == 0


def test_a_fit_without_a_class_or_with_missing_values_is_left_to_svc():
    X, y = DATA["iris"]
    model = SVC()
    X, target, _ = validate_data(model, X, y)
    fit_one = ask_steps(model, X, target).fit_one
    train = (target.codes > 0)[None].astype(int)
    fit = PlanBlock(train, train == 0)[0]
    rows = fit.training_rows
    assert fit_one(fit, X[rows], target.y[rows], X[fit.test]).failed.all()
    fit = some_fits(len(y), "folds")[0]
    rows = fit.training_rows
    assert fit_one(fit, X[rows] * np.nan, target.y[rows], X[fit.test]).failed.all()


@pytest.mark.parametrize(
    "svc", [SVC(kernel=lambda a, b: a @ b.T), SVC(verbose=True)], ids=["callable", "verbose"]
)
def test_options_that_rule_it_out(svc):
    X, target, _ = validate_data(svc, *DATA["iris"])
    assert ask_steps(svc, X, target).fit_one is None


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_numbers_are_those_of_the_loop(n_jobs, monkeypatch):
    """With and without the private routine, whose absence leaves the loop."""
    X, y = DATA["unscaled"]
    folds = list(StratifiedKFold(5).split(X, y))
    model = SVC(kernel="sigmoid")
    error = cross_val_error(model, X, y, cv=folds, n_jobs=n_jobs).value
    assert error == np.mean(cross_val_predict(model, X, y, cv=folds) != y)
    test = permutation_test(model, X, y, cv=folds, n_permutations=9, random_state=0, n_jobs=n_jobs)
    monkeypatch.setattr(_compat, "libsvm", None)
    again = permutation_test(model, X, y, cv=folds, n_permutations=9, random_state=0)
    assert_array_equal(test.null_distribution, again.null_distribution)
    monkeypatch.setattr(LibsvmFits, "__call__", None)
    assert cross_val_error(model, X, y, cv=folds).value == error


def test_it_does_the_fits_that_no_batch_does(monkeypatch):
    X, y = DATA["unscaled"]
    fitted = []
    original = SVC.fit
    monkeypatch.setattr(SVC, "fit", lambda *a, **k: fitted.append(1) or original(*a, **k))
    cross_val_error(SVC(kernel="sigmoid"), X, y, cv=StratifiedKFold(5))
    assert not fitted
