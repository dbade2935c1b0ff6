"""Inputs are validated once, and every function that fits takes the same arguments."""

import inspect
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from helpers.public_modules import MODULES
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import skeval
from skeval._adapters import fits
from skeval._adapters.fits import solver_of
from skeval._resampling import inputs as inputs_module
from skeval._resampling.inputs import validate_inputs

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)
W = RNG.uniform(0.5, 2.0, 60)
GROUPS = np.arange(60) // 2

ARGUMENTS = {"groups", "sample_weight", "params", "n_jobs", "verbose", "memory", "error_score"}
FITTED = {"estimator", "estimators", "classifier", "search", "clusterer"}
LACKING = {
    # One fit, which is done here.
    "resubstitution_error": {"n_jobs", "verbose"}
}
# A clusterer is fitted to samples alone, and one fit that fails leaves no number.
CLUSTERINGS = {"groups", "params", "sample_weight", "error_score"}


def list_fitting():
    """Yield all public functions that fit, with the names of their parameters."""
    for module in map(import_module, MODULES):
        for name in module.__all__:
            if inspect.isfunction(getattr(module, name)):
                taken = set(inspect.signature(getattr(module, name)).parameters)
                if FITTED & taken and taken & {"X", "datasets"}:
                    yield name, taken


def test_functions_that_fit_take_the_same_arguments():
    found = dict(list_fitting())
    assert len(found) >= 18
    for name, taken in found.items():
        lacking = CLUSTERINGS if "clusterer" in taken else LACKING.get(name, set())
        assert ARGUMENTS - taken == lacking, name


@pytest.mark.parametrize(
    "model",
    [make_pipeline(StandardScaler(), SVC(kernel="linear")), DecisionTreeClassifier(random_state=0)],
    ids=["served", "in a loop"],
)
def test_an_evaluation_validates_inputs_once_and_finds_one_solver(model, monkeypatch):
    read, asked = [], []
    validate_data, find_solver = inputs_module.validate_data, fits.find_solver
    monkeypatch.setattr(
        inputs_module, "validate_data", lambda *a, **k: read.append(a) or validate_data(*a, **k)
    )
    monkeypatch.setattr(fits, "find_solver", lambda *a: asked.append(a) or find_solver(*a))
    options = {"cv": 3, "n_bootstraps": 3, "n_permutations": 3, "n_perturbations": 5}
    skeval.evaluate(model, X, Y, include="all", random_state=0, **options)
    assert len(read) == 1
    assert len(asked) == 1


def test_settings_share_what_was_found_out_and_other_estimators_do_not(monkeypatch):
    asked, find_solver = [], fits.find_solver
    monkeypatch.setattr(fits, "find_solver", lambda *a: asked.append(a[0]) or find_solver(*a))
    inputs = validate_inputs(SVC(), X, Y)
    for each in (inputs.with_options(n_jobs=2), inputs, inputs.with_options(weight=W)):
        assert solver_of(each) is solver_of(inputs)
    other = inputs.with_estimator(GaussianNB())
    assert solver_of(other) is not solver_of(inputs)
    assert [type(estimator) for estimator in asked] == [SVC, GaussianNB]


def test_columns_in_another_order_than_the_table_are_refused():
    X, y = pd.DataFrame(np.arange(40.0).reshape(20, 2)), pd.Series(np.arange(20) % 2)
    order = np.random.default_rng(0).permutation(20)
    with pytest.raises(ValueError, match=r"y must have the index of X, .* y.loc\[X.index\]"):
        validate_inputs(GaussianNB(), X, y[order])
    with pytest.raises(ValueError, match="groups must have the index of X, in the same order"):
        validate_inputs(GaussianNB(), X, y, pd.Series(np.arange(20))[order])
    for values in (y[order].to_numpy(), y.set_axis(np.arange(20) + 7), y.tolist()):
        validate_inputs(GaussianNB(), X, values)
    inputs = validate_inputs(GaussianNB(), X.loc[order], y[order])
    assert np.array_equal(inputs.target.y, order % 2)
