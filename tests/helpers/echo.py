"""Models with given answers, and metrics by the names of their scorers."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.dummy import DummyRegressor

from skeval.metrics import get_scorer
from skeval.model_selection import permutation_test


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


def permutation_tests(scores, **options):
    """Return a test for each row of scores: that of the observed labels, then of permuted ones."""
    n = len(scores[0])
    X, y = np.zeros((n, 1)), np.arange(float(n))
    options |= {"cv": [(np.arange(1, n), [0])]}
    options |= {"permutations": [np.roll(np.arange(n), -k) for k in range(1, n)]}
    # the first label tells which permutation it is
    scoring = {f"{k}": lambda model, X, y, row=row: row[int(y[0])] for k, row in enumerate(scores)}
    return [*permutation_test(DummyRegressor(), X, y, scoring=scoring, **options).values()]


def permutation_of(*scores, **options):
    """Return the test of one score of the observed labels, and of these of permuted ones."""
    return permutation_tests([scores], **options)[0]
