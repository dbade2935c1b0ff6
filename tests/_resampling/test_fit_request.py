"""Outputs requested from each fit, with columns for all classes of the target."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import get_scorer, make_scorer, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from skeval._resampling.fit_request import (
    EachScorer,
    FitRequest,
    find_response_method,
    read_response,
)
from skeval._resampling.inputs import validate_inputs
from skeval._resampling.target import validate_data

X = np.random.default_rng(0).normal(size=(30, 2))
Y = np.arange(30) % 3
TARGET = validate_data(GaussianNB(), X, Y)[1]
SEEN = Y != 1


def test_a_class_that_a_model_has_not_seen_has_probability_0():
    model = GaussianNB().fit(X[SEEN], Y[SEEN])
    probability = read_response("predict_proba", model, X, TARGET)
    assert_array_equal(probability[:, 1], 0)
    assert_array_equal(probability[:, [0, 2]], model.predict_proba(X))


def test_decision_values_of_other_classes_have_no_meaning():
    model = RidgeClassifier().fit(X[SEEN], Y[SEEN])
    assert read_response("decision_function", model, X, TARGET) is None
    assert read_response("predict_proba", model, X, TARGET) is None


@pytest.mark.parametrize(
    ("estimator", "method"),
    [
        (LogisticRegression(), "predict_proba"),
        (RidgeClassifier(), "decision_function"),
        (SVC(), "decision_function"),
        (make_pipeline(SVC(decision_function_shape="ovo")), None),
    ],
    ids=str,
)
def test_the_method_that_scores_classes(estimator, method):
    assert find_response_method(estimator, TARGET) == method


def test_a_score_that_a_scorer_refuses_is_nan():
    scorer = EachScorer({"accuracy": get_scorer("accuracy"), "roc_auc": get_scorer("roc_auc")})
    model = GaussianNB().fit(X[SEEN], Y[SEEN])
    one_class = Y == 0
    scores = scorer(model, X[one_class], Y[one_class])
    assert scores["accuracy"] == model.score(X[one_class], Y[one_class])
    assert np.isnan(scores["roc_auc"])


def test_requests_that_need_no_model():
    inputs = validate_inputs(GaussianNB(), X, Y)
    scorer = make_scorer(roc_auc_score, response_method="predict_proba", multi_class="ovr")
    for scoring in (None, "accuracy", "neg_log_loss", ["accuracy", "f1_macro"], scorer):
        assert FitRequest.for_scores(inputs.estimator, scoring).need_no_model(inputs)
    for scoring in (lambda model, X, y: model.score(X, y), {"own": lambda *_: 0.0}):
        assert not FitRequest.for_scores(inputs.estimator, scoring).need_no_model(inputs)
    assert not FitRequest(note=lambda *_: None).need_no_model(inputs)
    numbers = validate_inputs(Ridge(), X, X[:, 0])
    assert not FitRequest.for_scores(Ridge(), "neg_log_loss").need_no_model(numbers)


def test_scores_of_an_estimator_that_solvers_leave():
    request = FitRequest.for_scores(GaussianNB(), None)
    model = GaussianNB().fit(X, Y)
    assert request.score_by((), TARGET)(model, X, Y) == model.score(X, Y)


class OneColumn:
    """A regressor whose decision values have a column."""

    def decision_function(self, X):
        return X[:, :1]


def test_a_single_column_is_a_vector():
    target = validate_data(Ridge(), X, X[:, 0])[1]
    assert_array_equal(read_response("decision_function", OneColumn(), X, target), X[:, 0])
