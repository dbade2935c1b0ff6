"""Models with given answers, and metrics by the names of their scorers."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from skeval.metrics import get_scorer


class Echo(ClassifierMixin, BaseEstimator):
    """A fitted model of some classes, whose answers of every kind are `X`."""

    def __init__(self, classes=(0, 1)):
        self.classes = classes

    @property
    def classes_(self):
        return np.array(self.classes)

    def predict(self, X):
        return X

    decision_function = predict_proba = predict


class Answers(BaseEstimator):
    """A model that predicts one value."""

    def __init__(self, answer=np.nan):
        self.answer = answer

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.answer)


class AnswersClasses(ClassifierMixin, Answers):
    """A classifier that predicts one value."""


class AnswersNumbers(RegressorMixin, Answers):
    """A regressor that predicts one value."""


def metric_of(scoring, **options):
    """Return the metric of a scorer, of true values and of what a model answers."""
    scorer = get_scorer(scoring, **options)
    sign = -1 if scoring.startswith("neg_") else 1

    def metric(y_true, y_pred, **weight):
        return sign * scorer(Echo(), y_pred, y_true, **weight)

    return metric
