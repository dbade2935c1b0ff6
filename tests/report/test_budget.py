"""Evaluations of large tables within a limited time."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit
from sklearn.tree import DecisionTreeRegressor

import skeval
from skeval._resampling.inputs import validate_inputs
from skeval.report import _budget

N = 10_000


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 8))
    return X, (X[:, 0] + rng.normal(size=N) > 0).astype(int)


def choose(X, y, groups=None, estimator=None, seconds=10.0):
    inputs = validate_inputs(
        estimator or LinearDiscriminantAnalysis(), X, y, groups, loss=None, params=None
    )
    return _budget.choose_folds_in_time(inputs, seconds, 0)


@pytest.mark.parametrize(("fit", "n_folds"), [(0.1, None), (0.6, 5), (1.5, 3), (2.4, 2)])
def test_folds_fit_in_half_of_the_time(table, monkeypatch, fit, n_folds):
    monkeypatch.setattr(_budget, "time_fit", lambda *_: fit)
    cv, notes = choose(*table)
    assert cv == n_folds
    assert [note.code for note in notes] == ["few-folds"] * (n_folds is not None)


def test_a_hold_out_keeps_classes_and_groups(table, monkeypatch):
    monkeypatch.setattr(_budget, "time_fit", lambda *_: 100.0)
    X, y = table
    assert isinstance(choose(X, y)[0], StratifiedShuffleSplit)
    assert isinstance(choose(X, y, np.arange(N) // 2)[0], GroupShuffleSplit)
    cv, (note,) = choose(X, X[:, 0], estimator=DecisionTreeRegressor())
    assert isinstance(cv, ShuffleSplit)
    assert note.startswith(
        "Few folds: one fit takes about 1e+02 seconds, so the budget allows a single hold"
    )
    assert choose(X[: N - 1], y[: N - 1]) == (None, [])  # too few samples to be worth timing


def test_the_time_of_a_fit_grows_with_its_samples(table, monkeypatch):
    clock = iter(np.arange(0.0, 1e4))
    monkeypatch.setattr(_budget, "monotonic", lambda: next(clock))
    inputs = validate_inputs(LinearDiscriminantAnalysis(), *table, None, loss=None, params=None)
    assert _budget.time_fit(inputs, 0.5, 0) == N / _budget.MIN_TIMED  # a second per 1,000 samples
    failing = validate_inputs(
        LinearDiscriminantAnalysis(n_components=9), *table, None, loss=None, params=None
    )
    assert _budget.time_fit(failing, 0.5, 0) == 0.0


def test_a_report_names_what_the_budget_left_out(table):
    report = skeval.evaluate(LinearDiscriminantAnalysis(), *table, budget=0.01, random_state=0)
    assert report.answer.n_fits == 1
    assert report.answer.value == pytest.approx(0.25, abs=0.05)
    assert {"resubstitution", "cross_validation"} <= report.omitted.keys()
    (unchecked,) = (text for text in report.warnings if text.code == "unchecked")
    assert "6250 random rows of 10000" in unchecked
    assert any(text.startswith("Few folds: one fit takes about") for text in report.warnings)
    assert "resubstitution (1 fit, more than the time limit allows)" in str(report)
    report.to_html()
