"""An estimator that predicts only once it is fitted: a stacking of others, as it is by default."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import StackingClassifier, StackingRegressor
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skeval.feature_selection import CV2FeatureSelectionPipeline, selection_bias
from skeval.model_selection import (
    bootstrap_error,
    compare_classifiers,
    cross_val_error,
    permutation_test,
)
from skeval.report import evaluate

X, Y = make_classification(n_samples=48, n_features=4, flip_y=0.2, random_state=0)
CV = KFold(3, shuffle=True, random_state=0)
CLASSIFIER = StackingClassifier([("a", LogisticRegression())], cv=2)
REGRESSOR = StackingRegressor([("a", Ridge())], cv=2)
TASKS = [(CLASSIFIER, Y), (REGRESSOR, X @ [1, 2, 0, 0] + Y)]


@pytest.mark.parametrize(
    "estimator", [CLASSIFIER, make_pipeline(StandardScaler(), CLASSIFIER)], ids=["bare", "pipeline"]
)
def test_classification(estimator):
    scores = cross_val_score(estimator, X, Y, cv=CV)
    assert cross_val_error(estimator, X, Y, cv=CV).value == pytest.approx(1 - scores.mean())
    comparison = compare_classifiers([estimator, LogisticRegression()], X, Y, cv=CV)
    np.testing.assert_allclose(comparison.split_scores[:, 0], scores)


def test_regression():
    y = TASKS[1][1]
    scores = cross_val_score(REGRESSOR, X, y, cv=CV, scoring="neg_mean_squared_error")
    assert cross_val_error(REGRESSOR, X, y, cv=CV).value == pytest.approx(-scores.mean())
    comparison = compare_classifiers([REGRESSOR, Ridge()], X, y, cv=CV)
    np.testing.assert_allclose(
        comparison.split_scores[:, 0], cross_val_score(REGRESSOR, X, y, cv=CV)
    )


@pytest.mark.parametrize(("estimator", "y"), TASKS, ids=["classifier", "regressor"])
def test_resampling(estimator, y):
    options = {"random_state": 0, "n_permutations": 3}
    assert bootstrap_error(estimator, X, y, n_resamples=3, random_state=0).value > 0
    assert 0.25 <= permutation_test(estimator, X, y, cv=CV, **options).pvalue <= 1
    few = {"include": ["holdout", "bootstrap"], "n_bootstraps": 3}
    report = evaluate(estimator, X, y, cv=3, **options, **few)
    wrong = y - clone(estimator).fit(X, y).predict(
        X
    )  # of codes 0 and 1, its square is the 0-1 loss
    assert report.estimates["resubstitution"].value == pytest.approx(np.mean(wrong**2))


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
