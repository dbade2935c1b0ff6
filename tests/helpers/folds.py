"""The rows that the fits of a procedure train on and are tested on."""

import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin


class Noting(BaseEstimator):
    """Notes the rows that it is trained on and those that it predicts. Samples are row numbers."""

    def __init__(self, seen=None):
        self.seen = seen

    def __sklearn_clone__(self):
        return type(self)(self.seen)

    def fit(self, X, y):
        self.rows_, self.y_ = X[:, 0].astype(int), np.asarray(y)
        return self

    def predict(self, X):
        rows = X[:, 0].astype(int)
        self.seen.append((self.rows_.tolist(), rows.tolist()))
        return self.y_[rows % len(self.y_)]


class NotingClassifier(ClassifierMixin, Noting):
    """A classifier that notes its rows."""

    @property
    def classes_(self):
        return np.unique(self.y_)


class NotingRegressor(RegressorMixin, Noting):
    """A regressor that notes its rows."""


def note_splits(procedure, y, **options):
    """Return the training rows and the test rows of each fit of a procedure.

    They depend on its options and seed, and not on its estimator.
    """
    seen, y = [], np.asarray(y)
    model = NotingRegressor(seen) if y.dtype.kind == "f" else NotingClassifier(seen)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        procedure(model, np.arange(float(len(y)))[:, None], y, **options)
    return seen


def folds_of(splits, n_folds):
    """Return the fold of each row, for each repeat of a cross-validation."""
    n = len(splits[0][0]) + len(splits[0][1])
    folds = np.full((len(splits) // n_folds, n), -1)
    for fit, (_, test) in enumerate(splits):
        folds[fit // n_folds, test] = fit % n_folds
    return folds
