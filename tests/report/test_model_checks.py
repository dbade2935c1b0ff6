"""A model that was fitted before is named in the first sentence; ordinary models are not."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
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


def test_frozen_transformers_without_labels_are_a_note():
    warning, _ = finding(make_pipeline(FrozenEstimator(PCA(2).fit(X)), GaussianNB()))
    assert warning.headline == ""
    assert "FrozenEstimator(PCA)" in warning


@pytest.mark.parametrize(
    "model",
    [
        DummyClassifier(strategy="stratified", random_state=0), GaussianNB(),
        LogisticRegression(C=1e-9), KNeighborsClassifier(50), TREE, SVC(kernel="linear"),
        RandomForestClassifier(5, random_state=0), make_pipeline(SelectKBest(k=1), GaussianNB()),
        make_pipeline(KMeans(2, n_init=1, random_state=0), GaussianNB()),
        GridSearchCV(SVC(), {"C": [0.1, 1]}, cv=2), DecisionTreeClassifier(max_depth=1),
    ],
)  # fmt: skip
def test_ordinary_classifiers_raise_no_alarm(model):
    assert finding(model)[0] is None


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
