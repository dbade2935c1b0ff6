"""One form of what fits answer: it comes apart, is joined, sent and placed without a change.

Decision values that differ by rounding errors only are tied, and no others.
"""

from __future__ import annotations

import inspect
import warnings
from importlib import import_module

import numpy as np
import pytest
from helpers.public_modules import MODULES
from helpers.solvers import solver_for
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import StackingClassifier
from sklearn.feature_selection import RFE, SelectKBest
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import skeval
from skeval._adapters import runner
from skeval._adapters.runner import Runner
from skeval._resampling import inputs as inputs_module
from skeval._resampling.inputs import tie_rows, tie_values
from skeval._resampling.plans import PlanBlock
from skeval.feature_selection import CV2FeatureSelectionPipeline
from skeval.model_selection import bootstrap_error, cross_val_error, make_bootstrap_scorer
from skeval.svm import PerturbationResamplingSVC

EPS = np.finfo(float).eps
scales = st.sampled_from([1e-300, 1e-9, 1.0, 1e6, 1e300])


@given(st.integers(0, 10**6), scales)
def test_equal_values_and_those_an_ulp_apart_are_tied(seed, scale):
    rng = np.random.default_rng(seed)
    values = scale * rng.normal(size=30)
    pairs = np.concatenate([values, np.nextafter(values, np.inf)])
    tied = tie_values(pairs)
    assert_array_equal(tied[:30], tied[30:])
    assert_array_equal(np.argsort(tied[:30]), np.argsort(values))


@given(st.integers(0, 10**6), scales)
def test_values_that_are_constant_but_for_rounding_are_constant(seed, scale):
    noise = np.random.default_rng(seed).integers(-2, 3, 50) * EPS
    assert len(np.unique(tie_values(-scale * (1 + noise)))) == 1


@given(st.integers(0, 10**6), st.sampled_from([1e-7, 1e-10, 1e-12]))
def test_small_differences_beside_a_large_intercept_are_kept(seed, slope):
    values = np.random.default_rng(seed).permutation(np.arange(50.0))
    assert len(np.unique(tie_values(-1 + slope * values))) == 50
    assert len(np.unique(tie_rows(-1 + slope * values[None], np.array([2 * slope])))) == 1


def test_an_outlier_ties_no_others_and_columns_are_tied_by_themselves():
    values = np.r_[np.arange(20.0), 1e12]
    assert_array_equal(tie_values(values), values)
    both = tie_values(np.column_stack([values, np.full(21, 3.0) + EPS * (values % 3)]))
    assert_array_equal(both[:, 0], values)
    assert len(np.unique(both[:, 1])) == 1
    assert_array_equal(tie_values(np.array([])), [])
    assert np.isnan(tie_values(np.array([np.nan, 1.0]))[0])


def rare(seed=0, n=600):
    """A class of a fiftieth, of which a linear SVC finds nothing: its optimum has no slope."""
    rng = np.random.default_rng(seed)
    X, u = rng.normal(size=(n, 4)), rng.random(n)
    return X, (1 / (1 + np.exp(-(1.2 * X[:, 0] + 0.8 * X[:, 1] - 4.6))) > u).astype(int)


def solve_folds(estimator, X, y):
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    test = np.array([np.isin(np.arange(len(y)), rows) for _, rows in folds])
    return solver_for(estimator, X, y).solve(PlanBlock((~test).astype(int), test))


@pytest.mark.parametrize(
    "container",
    [np.asarray, csr_array, lambda X: csr_array(10 * X)],
    ids=["columns", "products", "large products"],
)
def test_a_rule_without_slope_ranks_nothing(container):
    X, y = rare()
    found = solve_folds(SVC(kernel="linear"), container(X), y)
    assert not found.failed.any()
    for fit in found:
        assert len(np.unique(fit.tie_decision())) == 1


@pytest.mark.parametrize("C", [1e-8, 1e-7, 1e-3, 1.0])
def test_a_rule_with_a_slope_ranks_all(C):
    rng = np.random.default_rng(1)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 3)) + y[:, None]
    for fit in solve_folds(SVC(kernel="linear", C=C), X, y):
        assert fit.failed[0] or len(np.unique(fit.tie_decision())) == 40


def area(estimator, X, y, cv=10):
    few = {"cv": cv, "n_permutations": 0}
    report = skeval.evaluate(estimator, X, y, random_state=0, **few)
    return report.metrics["roc_auc"], [each.code for each in report.warnings]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.usefixtures("always_solve")
def test_constant_scores_are_said_and_have_no_interval():
    found, codes = area(SVC(kernel="linear"), *rare(), cv=5)
    assert found.value == 0.5
    assert np.isnan(found.interval.low)
    assert "constant-scores" in codes


def test_the_area_is_that_of_the_loop(monkeypatch):
    X, y = np.random.default_rng(3).normal(size=(60, 2)), np.arange(60) % 2
    estimator = SVC(kernel="linear", C=1e-7, tol=1e-12)
    solved, codes = area(estimator, X, y)
    monkeypatch.setattr(Runner, "choose_solver", lambda *_: None)
    looped, _ = area(estimator, X, y)
    assert solved.value == pytest.approx(looped.value, abs=1e-3)
    assert "constant-scores" not in codes


SELECT, SCALE = SelectKBest(k=2), StandardScaler()
SVM = PerturbationResamplingSVC(n_resamples=10, cv=2)
CV2 = CV2FeatureSelectionPipeline(SelectKBest(k=1), cv=2)
INSIDE = PerturbationResamplingSVC(estimator=make_pipeline(SELECT, SVC()), n_resamples=10, cv=2)
COLUMNS = ColumnTransformer([("chosen", SELECT, [0, 1, 2]), ("rest", "passthrough", [3])])
BIASED = {
    "pipeline": make_pipeline(SELECT, SVM),
    "selector in a pipeline": make_pipeline(make_pipeline(SCALE, SELECT), SVM),
    "estimator in a pipeline": make_pipeline(SELECT, make_pipeline(SCALE, SVM)),
    "union": make_pipeline(make_union(PCA(1), SELECT), SVM),
    "columns": make_pipeline(COLUMNS, SVM),
    "no get_support": make_pipeline(LinearDiscriminantAnalysis(), SVM),
    "search": make_pipeline(SELECT, GridSearchCV(SVM, {"C": [1.0]}, cv=2)),
    "pipeline in a search": GridSearchCV(make_pipeline(SELECT, SVM), {}, cv=2),
    "selection by the estimator": RFE(PerturbationResamplingSVC(n_resamples=5), step=0.5),
    "ensemble": StackingClassifier([("one", make_pipeline(SELECT, SVM)), ("two", SVC())], cv=2),
    "CV2 behind a selector": make_pipeline(SELECT, CV2),
    "CV2 behind CV2": make_pipeline(CV2, SCALE, SVM),
}
UNBIASED = {
    "alone": SVM,
    "scaled": make_pipeline(SCALE, PCA(2), SVM),
    "inside": INSIDE,
    "inside behind a scaler": make_pipeline(SCALE, INSIDE),
    "nothing estimated": make_pipeline(SELECT, PerturbationResamplingSVC(n_resamples=0)),
    "no rounds": make_pipeline(SELECT, CV2FeatureSelectionPipeline(SelectKBest(k=1), cv=None)),
    "CV2": CV2,
}


def run(estimator):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(24, 4)), np.arange(24) % 2
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cross_val_error(estimator, X, y, cv=2, random_state=0)
        bootstrap_error(estimator, X, y, n_resamples=2, random_state=0)
        if hasattr(estimator, "decision_function"):
            scorer = make_bootstrap_scorer(n_resamples=2, random_state=0)
            scorer(estimator.fit(X, y), X, y)
    return [str(one.message) for one in caught if "ignores the step" in str(one.message)]


@pytest.mark.parametrize("kind", BIASED)
def test_an_error_of_its_own_behind_a_step_that_uses_labels_is_a_warning(kind):
    assert len(run(BIASED[kind])) >= 2


@pytest.mark.parametrize("kind", UNBIASED)
def test_other_pipelines_do_not_warn(kind):
    assert run(UNBIASED[kind]) == []


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
    validate_data, find_solver = inputs_module.validate_data, runner.find_solver
    monkeypatch.setattr(
        inputs_module, "validate_data", lambda *a, **k: read.append(a) or validate_data(*a, **k)
    )
    monkeypatch.setattr(runner, "find_solver", lambda *a: asked.append(a) or find_solver(*a))
    options = {"cv": 3, "n_permutations": 3}
    skeval.evaluate(model, X, Y, include="all", random_state=0, **options)
    assert len(read) == 1
    assert len(asked) == 1
