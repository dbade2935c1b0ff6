"""One form of what fits answer: it comes apart, is joined, sent and placed without a change.

Decision values that differ by rounding errors only are tied, and no others.
"""

from __future__ import annotations

import numpy as np
import pytest
from helpers.solvers import solver_for
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

import skeval
from skeval._adapters import fits
from skeval._resampling.fit_outputs import tie_rows, tie_values
from skeval._resampling.plans import PlanBlock

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
    few = {"cv": cv, "n_permutations": 0, "n_bootstraps": 2}
    report = skeval.evaluate(estimator, X, y, random_state=0, **few)
    return report.metrics["roc_auc"], [each.code for each in report.warnings]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.usefixtures("always_solve")
def test_constant_scores_are_said_and_have_no_interval():
    found, codes = area(SVC(kernel="linear"), *rare(), cv=4)
    assert found.value == 0.5
    assert np.isnan(found.interval.low)
    assert "constant-scores" in codes


def test_repeated_rows_tie():
    """Every row is there twice, once of each class: nothing can be ranked but by rounding."""
    rng = np.random.default_rng(2)
    X = np.repeat(rng.normal(size=(40, 3)) * 1e3, 2, axis=0)
    y = np.tile([0, 1], 40)
    test = np.tile(np.arange(40) % 4, (2, 1)).T.ravel()
    X_train, y_train = rng.normal(size=(60, 3)) * 1e3, np.arange(60) % 2
    for fold in range(4):
        model = SVC(kernel="linear", C=1e-3).fit(X_train, y_train)
        values = tie_values(model.decision_function(X[test == fold]))
        assert roc_auc_score(y[test == fold], values) == 0.5


def test_the_area_is_that_of_the_loop(monkeypatch):
    X, y = np.random.default_rng(3).normal(size=(60, 2)), np.arange(60) % 2
    estimator = SVC(kernel="linear", C=1e-7, tol=1e-12)
    solved, codes = area(estimator, X, y)
    monkeypatch.setattr(fits, "choose_solver", lambda *_, **__: None)
    looped, _ = area(estimator, X, y)
    assert solved.value == pytest.approx(looped.value, abs=1e-3)
    assert "constant-scores" not in codes
