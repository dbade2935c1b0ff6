"""Selectors that are pipelines, and feature extraction in place of selection."""

import pickle

import numpy as np
import pytest
from helpers.crossed import each_value
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import RFE, SelectKBest, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import LabelBinarizer, Normalizer, StandardScaler
from sklearn.svm import SVC, SVR

from skeval.feature_selection import CV2FeatureSelectionPipeline, selection_bias

EXTRACTIONS = [PCA(3, random_state=0), PLSRegression(2), LinearDiscriminantAnalysis()]
BIAS = "ignore:the error is .* on all samples before cross-validation"


def sample(n=60, p=30, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y = np.array(["case", "control", "other"])[np.arange(n) % n_classes]
    X = rng.normal(size=(n, p)) * rng.uniform(0.1, 10, p)
    X[y == "case", :3] += 2 * X[:, :3].std(axis=0)
    return X, y


class OnIndicators(TransformerMixin, BaseEstimator):
    """A regression on one indicator column per class, as a step of a plain pipeline."""

    def __init__(self, regression):
        self.regression = regression

    def fit(self, X, y):
        self.fitted_ = clone(self.regression).fit(X, LabelBinarizer().fit_transform(y))
        return self

    def transform(self, X):
        return self.fitted_.transform(X)


def write_plainly(selector):
    """Return a selector with its regressions, which need numbers, fitted to indicators."""
    if isinstance(selector, Pipeline):
        return make_pipeline(*(write_plainly(step) for _, step in selector.steps))
    return OnIndicators(selector) if isinstance(selector, PLSRegression) else selector


@each_value
@pytest.mark.parametrize(
    "selector",
    [
        make_pipeline(StandardScaler(), SelectKBest(k=4)),
        make_pipeline(StandardScaler(), make_pipeline(VarianceThreshold(), SelectKBest(k=4))),
        make_pipeline(SimpleImputer(), RFE(SVC(kernel="linear"), step=0.5)),
        *EXTRACTIONS,
        make_pipeline(StandardScaler(), PLSRegression(2)),
    ],
)
@pytest.mark.parametrize("classifier", [SVC(kernel="linear"), GaussianNB()])
def test_the_error_equals_that_of_a_plain_pipeline(selector, classifier):
    X, y = sample()
    cv = StratifiedKFold(5, shuffle=True, random_state=0)
    model = CV2FeatureSelectionPipeline(selector, classifier, cv=cv).fit(X, y)
    plain = make_pipeline(write_plainly(selector), classifier)
    assert model.cv2_error_ == np.mean(cross_val_predict(plain, X, y, cv=cv) != y)
    assert model.predict(X).tolist() == plain.fit(X, y).predict(X).tolist()
    assert pickle.loads(pickle.dumps(model)).predict(X).tolist() == model.predict(X).tolist()
    assert clone(model).fit(X, y).cv2_error_ == model.cv2_error_


@pytest.mark.parametrize("scaler", [StandardScaler(), Normalizer(), SimpleImputer()])
def test_a_consensus_keeps_the_preprocessing(scaler):
    X, y = sample()
    selector = make_pipeline(scaler, SelectKBest(k=4))
    options = {"cv": 5, "final": "consensus", "random_state": 0}
    model = CV2FeatureSelectionPipeline(selector, SVC(), **options).fit(X, y)
    kept = scaler.fit(X).transform(X)[:, model.support_]
    np.testing.assert_allclose(model.transform(X), kept)
    assert model.predict(X).tolist() == SVC().fit(kept, y).predict(kept).tolist()


@pytest.mark.parametrize("selector", [*EXTRACTIONS, make_pipeline(SelectKBest(k=9), PCA(2))])
def test_extraction_has_no_support(selector):
    X, y = sample()
    model = CV2FeatureSelectionPipeline(SelectKBest(k=3), cv=3, random_state=0).fit(X, y)
    model.set_params(selector=selector).fit(X, y)
    name = type(selector).__name__
    for attribute in ("support_", "fold_supports_", "selection_frequency_", "stability_"):
        assert not hasattr(model, attribute)
        with pytest.raises(AttributeError, match=f"{attribute} needs a selector .* {name} makes"):
            getattr(model, attribute)
    with pytest.raises(AttributeError, match="support_ needs a selector that keeps columns"):
        model.get_support()
    assert model.transform(X).shape == (60, len(model.get_feature_names_out()))
    with pytest.raises(ValueError, match=f"final='consensus' needs a selector .* {name} makes"):
        clone(model).set_params(final="consensus").fit(X, y)


def test_pls_is_fitted_to_indicators_of_the_classes():
    X, y = sample(n_classes=3)
    model = CV2FeatureSelectionPipeline(PLSRegression(2), GaussianNB(), cv=None).fit(X, y)
    by_hand = PLSRegression(2).fit(X, LabelBinarizer().fit_transform(y))
    np.testing.assert_allclose(model.transform(X), by_hand.transform(X))
    # a selector whose estimator is a regressor is fitted to the classes themselves
    number = (y == "case").astype(int)
    kept = make_pipeline(StandardScaler(), RFE(SVR(kernel="linear"), n_features_to_select=4))
    for selector in (kept, kept[-1]):
        model = CV2FeatureSelectionPipeline(selector, GaussianNB(), cv=None).fit(X, number)
        fitted = clone(selector).fit(X, number)
        last = fitted[-1] if selector is kept else fitted
        assert model.support_.tolist() == last.support_.tolist()


@pytest.mark.filterwarnings(BIAS)
@pytest.mark.parametrize(
    ("selector", "p", "optimistic"),
    [(PLSRegression(2), 500, True), (PCA(5, random_state=0), 500, False)],
)
def test_supervised_extraction_is_biased_on_noise_and_pca_is_not(selector, p, optimistic):
    y, errors = np.repeat([0, 1], 25), []
    for seed in range(10):
        X = np.random.default_rng(seed).normal(size=(50, p))
        bias = selection_bias(selector, GaussianNB(), X, y, cv=5, random_state=seed)
        errors.append((bias.extra.cv1_error, bias.extra.cv2_error))
    cv1, cv2 = np.mean(errors, axis=0)
    assert 0.4 < cv2 < 0.6
    assert cv1 < 0.1 if optimistic else 0.4 < cv1 < 0.6


def test_bad_selectors():
    X, y = sample()
    with pytest.raises(TypeError, match="selector must have the methods fit and transform"):
        selection_bias(GaussianNB(), GaussianNB(), X, y)
    nothing = make_pipeline(StandardScaler(), SelectKBest(k=0))
    with pytest.raises(ValueError, match="at least one of the 30"):
        CV2FeatureSelectionPipeline(nothing, GaussianNB(), cv=None).fit(X, y)


class Double(TransformerMixin, BaseEstimator):
    """A transformer without names of features."""

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return 2 * X


def test_a_transformer_without_names_of_features_makes_new_ones():
    X, y = sample()
    model = CV2FeatureSelectionPipeline(Double(), GaussianNB(), cv=None).fit(X, y)
    with pytest.raises(AttributeError, match="support_ needs a selector that keeps columns"):
        model.support_  # noqa: B018
