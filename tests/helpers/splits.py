"""Splits of samples into training and test sets, and a classifier that depends on their order."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from skeval._solvers.splits import Splits

N, N_FITS = 30, 6
KINDS = ["1", "3", "12", "20", "weights", "resamples"]


def some_splits(kind, rng, n=N):
    if kind == "weights":
        return Splits(rng.exponential(size=(N_FITS, n)), np.tile(np.arange(n), (N_FITS, 1)))
    if kind == "resamples":
        counts = [np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(N_FITS)]
        return Splits(np.array(counts), np.tile(np.arange(n), (N_FITS, 1)))
    weights = np.ones((N_FITS, n), dtype=int)
    removed = np.array([np.sort(rng.permutation(n)[: int(kind)]) for _ in range(N_FITS)])
    np.put_along_axis(weights, removed, 0, axis=1)
    return Splits(weights, removed)


class FirstRows(ClassifierMixin, BaseEstimator):
    """Predicts the class of the first training row, or of the heaviest of the first five."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        heaviest = 0 if sample_weight is None else np.argmax(sample_weight[:5])
        self.label_ = np.asarray(y)[heaviest]
        return self

    def predict(self, X):
        return np.full(X.shape[0], self.label_)
