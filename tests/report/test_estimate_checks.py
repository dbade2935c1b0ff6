"""Estimates of the same error that disagree are reported first, and seldom by chance."""

from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import skeval

CODE = "two-answers"
HEADLINE = ["resubstitution"]


def make_data(seed, n=100):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    X = rng.normal(size=(n, 4))
    X[:, 0] += rng.choice([0, 0.5, 1.5]) * y
    return X, y


class Switching(ClassifierMixin, BaseEstimator):
    """Predicts well in the first fits, those of the headline, and a constant in all later ones."""

    n_fits: ClassVar[int] = 0
    n_good: ClassVar[int] = 0

    def fit(self, X, y):
        type(self).n_fits += 1
        self.good_ = type(self).n_fits <= self.n_good
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(self.good_ & (X[:, 0] > 1)).astype(int)]


def codes(report):
    return [warning.code for warning in report.warnings]


@pytest.mark.parametrize("seed", range(5))
def test_fits_that_change_are_named_first(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(120) % 2)
    X = rng.normal(size=(120, 3))
    X[:, 0] += 2 * y
    monkeypatch.setattr(Switching, "n_fits", 0)
    monkeypatch.setattr(Switching, "n_good", 50)
    report = skeval.evaluate(Switching(), X, y, include=HEADLINE, random_state=0)
    assert CODE in codes(report)
    assert report.verdict.startswith("Do not report this error: two estimates of the same error")
    assert "Better than chance" not in report.verdict


@pytest.mark.parametrize(
    "model",
    [GaussianNB(), KNeighborsClassifier(1), DecisionTreeClassifier(random_state=0), Ridge()],
    ids=lambda model: type(model).__name__,
)
def test_clean_tables_seldom_disagree(model):
    alarms = [
        CODE in codes(skeval.evaluate(model, *make_data(s), include=HEADLINE, random_state=s))
        for s in range(3)
    ]
    assert not any(alarms)


@pytest.mark.slow
def test_rate_of_false_alarms():
    models = LogisticRegression(), GaussianNB(), KNeighborsClassifier(3), DecisionTreeClassifier()
    alarms = [
        CODE in codes(skeval.evaluate(m, *make_data(s, n), include=HEADLINE, random_state=s))
        for s in range(30)
        for n in (40, 150)
        for m in models
    ]
    assert np.mean(alarms) <= 0.02


def test_a_wide_interval_names_its_units():
    X, y = make_data(0, n=60)
    folds = TimeSeriesSplit(5)
    report = skeval.evaluate(GaussianNB(), X, y, cv=folds, n_bootstraps=5, random_state=0)
    (wide,) = (warning for warning in report.warnings if warning.code == "wide")
    n_blocks = report.out_of_fold.cases.n_groups
    assert wide.endswith(f"{n_blocks} blocks of time are too few for a precise estimate.")
