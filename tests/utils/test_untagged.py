"""A classifier that scikit-learn does not take for one is refused, not evaluated as a regressor."""

import warnings

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import skeval
from skeval import feature_selection, model_selection

X = np.random.default_rng(0).normal(size=(40, 2))
Y = (X[:, 0] > 0).astype(int)


class Wrong:
    def fit(self, X, y, sample_weight=None):
        self.model_ = LogisticRegression().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)


class LateMixin(Wrong, BaseEstimator, ClassifierMixin):
    pass


class Attribute(Wrong, BaseEstimator):
    _estimator_type = "classifier"


class AttributeAlone(Wrong):
    _estimator_type = "classifier"

    def get_params(self, deep=True):
        return {}

    def set_params(self):
        return self


class Probabilities(Wrong, BaseEstimator):
    def predict_proba(self, X):
        return self.model_.predict_proba(X)


# Older versions of scikit-learn read the attribute.
pytestmark = pytest.mark.skipif(
    tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 7), reason="needs tags"
)
KINDS = [LateMixin, Attribute, AttributeAlone, Probabilities]
MESSAGE = r"must have the tags of a classifier, but {0} does not. Write class {0}\(Cl"


@pytest.mark.parametrize("kind", KINDS)
def test_wherever_an_estimator_is_taken(kind):
    functions = [skeval.evaluate]
    for module in (model_selection, feature_selection):
        functions += [getattr(module, name) for name in module.__all__]
    for function in functions:
        variables = getattr(getattr(function, "__code__", None), "co_varnames", ())
        while hasattr(function, "__wrapped__") and "X" not in variables:
            function = function.__wrapped__
            variables = function.__code__.co_varnames
        if variables[:1] == ("estimator",):
            groups = {"groups": np.arange(40) // 2} if "new_site" in function.__name__ else {}
            with pytest.raises(TypeError, match=MESSAGE.format(kind.__name__)):
                function(kind(), X, Y, **groups)
    two = {"a": kind(), "b": LogisticRegression()}
    for call in (
        lambda: model_selection.compare_classifiers(two, X, Y),
        lambda: skeval.evaluate(two, X, Y),
        lambda: feature_selection.selection_bias(SelectKBest(k=1), kind(), X, Y),
    ):
        with pytest.raises(TypeError, match=MESSAGE.format(kind.__name__)):
            call()


@pytest.mark.parametrize("kind", KINDS[:3])
def test_inside_of_a_pipeline_or_search(kind):
    inside = [make_pipeline(StandardScaler(), kind()), GridSearchCV(kind(), {})]
    for estimator in [*inside, make_pipeline(inside[1]), GridSearchCV(inside[0], {})]:
        with pytest.raises(TypeError, match=MESSAGE.format(kind.__name__)):
            model_selection.cross_val_error(estimator, X, Y)


def test_estimators_that_are_what_their_tags_say():
    class Regressor(BaseEstimator):
        def fit(self, X, y):
            self.fitted_ = True
            return self

        def predict(self, X):
            return np.zeros(len(X))

        def score(self, X, y):
            return 0.0

    for model in (Regressor(), LinearRegression(), LogisticRegression()):
        truth = Y if is_classifier(model) else X[:, 0]
        for estimator in (model, make_pipeline(StandardScaler(), model), GridSearchCV(model, {})):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = model_selection.resubstitution_error(estimator, X, truth)
            assert found.n_samples == 40
