"""An estimator that predicts only once it is fitted: a stacking of others, as it is by default."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import StackingClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skeval.feature_selection import CV2FeatureSelectionPipeline, selection_bias
from skeval.model_selection import compare_classifiers, cross_val_error

X, Y = make_classification(n_samples=48, n_features=4, flip_y=0.2, random_state=0)
CV = KFold(3, shuffle=True, random_state=0)
CLASSIFIER = StackingClassifier([("a", LogisticRegression())], cv=2)


@pytest.mark.parametrize(
    "estimator", [CLASSIFIER, make_pipeline(StandardScaler(), CLASSIFIER)], ids=["bare", "pipeline"]
)
def test_classification(estimator):
    scores = cross_val_score(estimator, X, Y, cv=CV)
    assert cross_val_error(estimator, X, Y, cv=CV).value == pytest.approx(1 - scores.mean())
    comparison = compare_classifiers([estimator, LogisticRegression()], X, Y, cv=CV)
    np.testing.assert_allclose(comparison.split_scores[:, 0], scores)


def test_behind_a_selection():
    rule = CV2FeatureSelectionPipeline(SelectKBest(k=2), CLASSIFIER, cv=CV).fit(X, Y)
    scores = cross_val_score(make_pipeline(SelectKBest(k=2), CLASSIFIER), X, Y, cv=CV)
    assert rule.cv2_error_ == pytest.approx(1 - scores.mean())
    bias = selection_bias(SelectKBest(k=2), CLASSIFIER, X, Y, cv=CV)
    assert bias.extra.cv2_error == pytest.approx(1 - scores.mean())


NEVER = [SelectKBest(), make_pipeline(SelectKBest()), GridSearchCV(SelectKBest(), {})]


@pytest.mark.parametrize("estimator", NEVER, ids=lambda estimator: type(estimator).__name__)
def test_what_never_predicts(estimator):
    message = f"methods fit, predict and get_params, got {type(estimator).__name__}"
    with pytest.raises(TypeError, match=f"estimator must have the {message}"):
        cross_val_error(estimator, X, Y)
    with pytest.raises(TypeError, match=f"must have the {message}"):
        compare_classifiers([clone(CLASSIFIER), estimator], X, Y)
    with pytest.raises(TypeError, match="classifier must have the methods fit and predict"):
        CV2FeatureSelectionPipeline(SelectKBest(k=2), estimator).fit(X, Y)
