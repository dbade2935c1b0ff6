"""Losses of several outputs, by plain loops over samples and columns."""

import numpy as np
from sklearn.base import clone


def loss_of_sample(true, predicted, loss):
    """Hamming, exact match, or mean squared or absolute error of the outputs of one sample."""
    if loss == "hamming":
        return sum(t != p for t, p in zip(true, predicted, strict=True)) / len(true)
    if loss == "zero_one":
        return float(any(t != p for t, p in zip(true, predicted, strict=True)))
    power = {"squared": 2, "absolute": 1}[loss]
    return sum(abs(t - p) ** power for t, p in zip(true, predicted, strict=True)) / len(true)


def cross_validated(estimator, X, y, folds, loss):
    """Out-of-fold loss of each sample."""
    losses = np.full(len(y), np.nan)
    for train, test in folds:
        predicted = clone(estimator).fit(X[train], y[train]).predict(X[test]).reshape(len(test), -1)
        for row, p in zip(test, predicted, strict=True):
            losses[row] = loss_of_sample(y[row], p, loss)
    return losses


def no_information(true, predicted, loss):
    """Mean loss of all pairs of a row of labels and a row of predictions."""
    return np.mean([[loss_of_sample(t, p, loss) for p in predicted] for t in true])
