"""Evaluations of large tables within a limited time."""

from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import skeval
from skeval._resampling.inputs import validate_inputs
from skeval.report import _parts

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
    return _parts.choose_folds_in_time([inputs], seconds, 0)


@pytest.mark.parametrize(
    ("fit", "n_folds"), [(0.1, None), (0.9, None), (1.1, 4), (1.5, 3), (2.4, 2)]
)
def test_folds_fit_in_half_of_the_time(table, monkeypatch, fit, n_folds):
    monkeypatch.setattr(_parts, "time_fit", lambda *_: fit)
    cv, notes = choose(*table)
    assert cv == n_folds
    assert [note.code for note in notes] == ["few-folds"] * (n_folds is not None)
    assert all(f"allows {n_folds} folds instead of 5" in str(note) for note in notes)


@pytest.mark.parametrize(("n_classes", "n_folds"), [(2, None), (400, 2), (1000, 1)])
def test_metrics_of_many_classes_count_as_time(table, monkeypatch, n_classes, n_folds):
    monkeypatch.setattr(_parts, "time_fit", lambda *_: 0.3)
    cv, _ = choose(table[0], np.arange(N) % n_classes, seconds=4.0)
    assert (cv if cv is None or isinstance(cv, int) else cv.get_n_splits()) == n_folds


def test_a_hold_out_keeps_classes_and_groups(table, monkeypatch):
    monkeypatch.setattr(_parts, "time_fit", lambda *_: 100.0)
    X, y = table
    assert isinstance(choose(X, y)[0], StratifiedShuffleSplit)
    assert isinstance(choose(X, y, np.arange(N) // 2)[0], GroupShuffleSplit)
    cv, (note,) = choose(X, X[:, 0], estimator=DecisionTreeRegressor())
    assert isinstance(cv, ShuffleSplit)
    assert str(note).startswith(
        "Few folds: one fit takes about 1e+02 seconds, so the budget allows a single hold"
    )
    assert choose(X[: N - 1], y[: N - 1]) == (None, [])  # too few samples to be worth timing


def test_a_report_names_what_the_budget_left_out(table):
    report = skeval.evaluate(LinearDiscriminantAnalysis(), *table, budget=0.01, random_state=0)
    assert report.answer.extra.n_fits == 1
    assert report.answer.value == pytest.approx(0.25, abs=0.05)
    assert {"resubstitution", "fits to shuffled labels"} <= report.omitted.keys()
    assert any(one.evidence.startswith("one fit takes about") for one in report.warnings)
    assert "resubstitution (1 fit, more than the time limit allows)" in str(report)
    report.to_html()


class Paced(ClassifierMixin, BaseEstimator):
    """The majority class. Each fit and each of its samples advance the clock."""

    now: ClassVar[list[float]] = [0.0]
    starts: ClassVar[list[float]] = []

    def __init__(self, seconds=0.0, per_sample=0.0):
        self.seconds = seconds
        self.per_sample = per_sample

    def fit(self, X, y):
        self.starts.append(self.now[0])
        self.now[0] += self.seconds + self.per_sample * len(y)
        self.classes_, counts = np.unique(y, return_counts=True)
        self.majority_ = self.classes_[counts.argmax()]
        return self

    def predict(self, X):
        return np.full(len(X), self.majority_)


@pytest.fixture
def clock(monkeypatch):
    """Return the current time, which only the fits of `Paced` advance."""
    for name in ("monotonic", "process_time"):
        monkeypatch.setattr(_parts, name, lambda: Paced.now[0])
    return lambda: Paced.now[0]


def test_no_fit_but_those_of_the_main_estimate_begins_after_the_budget(table, clock):
    X, y = (part[:200] for part in table)
    Paced.starts.clear()
    start = clock()
    report = skeval.evaluate(Paced(0.05), X, y, budget=0.3, random_state=0)
    assert sum(begun > start + 0.3 for begun in Paced.starts[10:]) == 0
    assert "resubstitution" in report.omitted
    assert "fits to shuffled labels" in report.omitted


class PacedTree(DecisionTreeClassifier):
    """A tree, each fit of which takes a tenth of a second."""

    def fit(self, X, y):
        Paced.now[0] += 0.1
        return super().fit(X, y)


def test_no_repeat_begins_that_leaves_no_time_for_the_metrics(table, clock):
    X, y = table[0][:2000], np.arange(2000) % 100
    model, options = PacedTree(max_depth=3), {"cv": 2, "random_state": 0, "budget": 0.9}
    # a further repeat and the training error take .3 s, and the metrics of 100 classes another .25
    few, many = (skeval.evaluate(model, X, labels, **options) for labels in (y % 2, y))
    assert (few.answer.extra.n_fits, many.answer.extra.n_fits) == (6, 4)


@pytest.mark.parametrize("budget", [1e-3, 100.0])
def test_time_order_is_reported_whatever_the_budget(budget):
    walks = np.cumsum(np.random.default_rng(0).normal(size=(200, 3)), axis=0)
    dates = {"day": np.datetime64("2024-01-01") + np.arange(200)}
    model = KNeighborsRegressor()
    report = skeval.evaluate(
        model, walks[:, :2], walks[:, 2], left_out=dates, budget=budget, cv=5, random_state=0
    )
    assert "time-order" in [text.code for text in report.warnings if text.headline]


def test_the_table_is_checked_whatever_the_budget():
    X, y = np.random.default_rng(0).normal(size=(120, 1000)), np.arange(120) % 2
    X[:, 0] = y
    report = skeval.evaluate(RidgeClassifier(), X, y, cv=3, budget=1e-3, random_state=0)
    assert "target-copy" in [text.code for text in report.warnings]


@pytest.mark.parametrize("order", [1, -1], ids=["fast first", "slow first"])
def test_estimators_share_folds_and_the_budget(table, order, clock):
    X, y = table
    models = {"fast": Paced(), "slow": Paced(0.02, 1e-5)}
    start = clock()
    reports = skeval.evaluate(dict(list(models.items())[::order]), X, y, budget=1.5, random_state=0)
    assert clock() - start < 8
    fast, slow = reports["fast"].out_of_fold, reports["slow"].out_of_fold
    np.testing.assert_array_equal(fast.row, slow.row)
    np.testing.assert_array_equal(fast.fit, slow.fit)
    assert (reports.comparison is None) == (slow.n_fits == 1)


def test_a_single_test_set_compares_nothing(table, monkeypatch):
    monkeypatch.setattr(_parts, "time_fit", lambda *_: 100.0)
    reports = skeval.evaluate({"a": Paced(), "b": Paced()}, *table, budget=2, random_state=0)
    assert reports.comparison is None
    assert "a single test set" in reports.verdict
    predictions = reports["a"].out_of_fold
    tested = 100 * len(predictions.row) / len(predictions.target)
    assert f"{tested:.3g} % of the samples" in reports.to_methods()
