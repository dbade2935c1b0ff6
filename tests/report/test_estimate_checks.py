"""Checks of estimates, predictions and models: what is told, and how often by chance."""

from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier, StackingClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

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
    # the number of fits of the headline
    monkeypatch.setattr(Switching, "n_fits", 0)
    monkeypatch.setattr(Switching, "n_good", np.inf)
    good = skeval.evaluate(Switching(), X, y, include=HEADLINE, random_state=0)
    # all later fits are bad
    monkeypatch.setattr(Switching, "n_fits", 0)
    monkeypatch.setattr(Switching, "n_good", good.answer.extra.n_fits)
    report = skeval.evaluate(Switching(), X, y, include=HEADLINE, random_state=0)
    assert report.answer.to_dict() == good.answer.to_dict()
    assert CODE in codes(report)
    assert CODE not in codes(good)
    assert report.verdict.startswith("Do not report this error: two estimates of the same error")
    assert "Better than chance" not in report.verdict


@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(30), marks=pytest.mark.slow)])
def test_clean_tables_seldom_disagree(seeds):
    models = GaussianNB(), KNeighborsClassifier(1), DecisionTreeClassifier(random_state=0), Ridge()
    alarms = [
        CODE in codes(skeval.evaluate(m, *make_data(s, n), include=HEADLINE, random_state=s))
        for s in seeds
        for n in (40, 150)
        for m in models
    ]
    assert np.mean(alarms) <= 0.02


RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 5)), RNG.permutation(np.arange(60) % 2)
TREE = DecisionTreeClassifier(random_state=0)


class Threshold(ClassifierMixin, BaseEstimator):
    """A rule that is fixed, whatever it is fitted to."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(X[:, 0] > 0).astype(int)]


def finding(model, y=Y):
    folds = KFold(10)  # fitted once, unlike ten folds that are drawn
    report = skeval.evaluate(model, X, y, cv=folds, include=["resubstitution"], random_state=0)
    return next((w for w in report.warnings if w.code == "fitted-before"), None), report


@pytest.mark.parametrize(
    "model",
    [
        FrozenEstimator(KNeighborsClassifier(1).fit(X, Y)),
        CalibratedClassifierCV(FrozenEstimator(TREE.fit(X, Y))),
        make_pipeline(StandardScaler(), FrozenEstimator(TREE.fit(X, Y))),
        make_pipeline(FrozenEstimator(SelectKBest(k=2).fit(X, Y)), GaussianNB()),
        StackingClassifier([("tree", FrozenEstimator(TREE.fit(X, Y)))], GaussianNB(), cv=3),
        Threshold(),
    ],
)
def test_models_fitted_before_are_named_first(model):
    warning, report = finding(model)
    assert warning.headline
    assert report.verdict.startswith("Do not report this error")
    assert "Better than chance" not in report.verdict


@pytest.mark.parametrize(
    "model",
    [
        DummyClassifier(strategy="stratified", random_state=0), GaussianNB(),
        LogisticRegression(C=1e-9), KNeighborsClassifier(50), TREE, SVC(kernel="linear"),
        RandomForestClassifier(5, random_state=0), make_pipeline(SelectKBest(k=1), GaussianNB()),
        make_pipeline(KMeans(2, n_init=1, random_state=0), GaussianNB()),
        GridSearchCV(SVC(), {"C": [0.1, 1]}, cv=2), DecisionTreeClassifier(max_depth=1),
        make_pipeline(FrozenEstimator(PCA(2).fit(X)), GaussianNB()),
    ],
)  # fmt: skip
def test_ordinary_classifiers_raise_no_alarm(model):
    assert finding(model)[0] is None


class OtherPCA(PCA):
    """A step that is not scikit-learn's own."""


@pytest.mark.parametrize("step", [PCA(2), OtherPCA(2)])
def test_models_of_scikit_learn_are_not_refitted_on_shuffled_labels(step, monkeypatch):
    n_fits, fit = [], SVC.fit
    monkeypatch.setattr(SVC, "fit", lambda *args: n_fits.append(1) or fit(*args))
    finding(make_pipeline(step, SVC(kernel="poly")))
    assert len(n_fits) == 11 + 2 * isinstance(step, OtherPCA)  # ten folds and the training error


@pytest.mark.parametrize(
    "model",
    [
        DummyRegressor(),
        Ridge(1e12),
        Lasso(0.5),
        LinearRegression(),
        DecisionTreeRegressor(max_depth=2),
    ],
)
def test_ordinary_regressors_raise_no_alarm(model):
    assert finding(model, X[:, 0] + RNG.normal(size=60))[0] is None


@pytest.mark.parametrize("model", [GaussianNB(), DecisionTreeClassifier(max_depth=1)])
def test_one_binary_feature_raises_no_alarm(model):
    # one shuffle in two leads to the same predictions
    for seed in range(4):
        rng = np.random.default_rng(seed)
        labels = rng.permutation(np.arange(40) % 2)
        feature = (labels ^ (rng.random(40) < 0.1))[:, None].astype(float)
        report = skeval.evaluate(
            model, feature, labels, cv=3, include=["resubstitution"], random_state=seed
        )
        assert "fitted-before" not in [warning.code for warning in report.warnings]


def test_log_loss_of_certain_probabilities_is_not_trusted():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.where(np.arange(60) < 30, "case", "none")
    X[y == "case", 0] += 1.5
    certain, smooth = (
        str(skeval.evaluate(model, X, y, loss="log_loss", n_permutations=0, random_state=0))
        for model in (KNeighborsClassifier(3), LinearDiscriminantAnalysis())
    )
    assert "some predicted probabilities are 0" in certain
    assert "probabilities are 0" not in smooth


def draw_batches(agreement, n=160):
    """Return features, classes, and a batch of each sample that mostly has one class."""
    rng = np.random.default_rng(0)
    y = rng.permutation(n) % 2
    batch = np.where(rng.permutation(n) < agreement * n, y, 1 - y)
    return rng.normal(size=(n, 2)), y, batch


@pytest.mark.parametrize(("agreement", "is_found"), [(1, True), (0.92, True), (0.88, False)])
def test_batches_that_nearly_determine_the_class_lead_the_verdict(agreement, is_found):
    X, y, batch = draw_batches(agreement)
    options = {"include": [], "random_state": 0}
    reports = [
        skeval.evaluate(GaussianNB(), X, y, by=batch, **options),
        skeval.evaluate(GaussianNB(), X, y, left_out={"Plate_no": batch}, **options),
        skeval.evaluate_predictions(y, X[:, 0], by=batch, random_state=0),
        skeval.evaluate_predictions(y, X[:, 0], by={"x": X[:, 1] > 0, "b": batch}, random_state=0),
    ]
    for report in reports:
        assert ("batches" in codes(report)) == is_found
        assert report.verdict.startswith("Check '") == is_found
    assert "batches" not in codes(
        skeval.evaluate(GaussianNB(), X, y, left_out={"color": batch}, **options)
    )


def test_names_of_single_samples_and_dates_in_any_order_are_no_batches():
    X, y, _ = draw_batches(1)
    dates = np.datetime64("2024-01-01") + np.random.default_rng(1).permutation(len(y))
    for by, is_found in ((dates, False), (np.sort(dates)[np.argsort(np.argsort(y))], True)):
        report = skeval.evaluate_predictions(y, X[:, 0], by=by, random_state=0)
        assert ("batches" in codes(report)) == is_found
    few = skeval.evaluate_predictions(
        np.arange(20) % 2, X[:20, 0], by=np.arange(20), random_state=0
    )
    assert "batches" not in codes(few)
