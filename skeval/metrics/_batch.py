"""Metrics of many fits at once, from tables and ranks: the column `batch` of `METRICS`.

Scores that are undefined, or cause a warning of scikit-learn, are nan here: the scorer itself
computes them again.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np


class BatchPredictions:
    """Predictions of fits that did not fail, fit after fit, with the true labels.

    Parameters
    ----------
    true : ndarray of shape (n_predictions,)
        Codes, or numbers.
    output : FitOutput
    n_classes : int
    """

    def __init__(self, true: np.ndarray, output: Any, n_classes: int) -> None:
        self.true = true
        self.output = output
        self.predicted = output.predicted
        self.sizes = output.sizes[~output.failed]
        self.n_classes = n_classes

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Return the sum over the predictions of each fit; every fit has some."""
        starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        sums: np.ndarray = np.add.reduceat(values, starts)
        return sums

    @cached_property
    def table(self) -> np.ndarray:
        """Confusion matrices, shape (n_classes, n_classes, n_fits)."""
        k, n_fits = self.n_classes, len(self.sizes)
        # one bincount over (true, predicted, fit)
        pair = (self.true * k + self.predicted) * n_fits
        cell = pair + np.repeat(np.arange(n_fits), self.sizes)
        return np.bincount(cell, minlength=k * k * n_fits).reshape(k, k, n_fits)

    @cached_property
    def hits(self) -> np.ndarray:
        """Number of correct predictions of each class, shape (n_classes, n_fits)."""
        return np.diagonal(self.table).T

    @cached_property
    def members(self) -> np.ndarray:
        """Number of tested samples of each class, shape (n_classes, n_fits)."""
        return self.table.sum(axis=1)

    @cached_property
    def named(self) -> np.ndarray:
        """Number of predictions of each class, shape (n_classes, n_fits)."""
        return self.table.sum(axis=0)

    @cached_property
    def of_second(self) -> np.ndarray | None:
        """Scores of the second class: decision values with ties for rounding errors, if any."""
        if self.output.decision is not None:
            return self.output.tie_decision()
        return None if self.output.probability is None else self.output.probability[:, 1]

    @cached_property
    def second(self) -> np.ndarray:
        """Probabilities of the second of two classes."""
        probability: np.ndarray = self.output.probability[:, 1]
        return probability

    def ranked(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield fits of one size with their labels by descending score, and the ends of ties.

        Labels and ends, which mark the last of equal scores, have the shape (n_fits_of_size, size).
        """
        assert self.of_second is not None
        for fits, at in group_by_size(self.sizes):
            scores = self.of_second[at]
            order = np.argsort(-scores, axis=1, kind="stable")
            scores = np.take_along_axis(scores, order, axis=1)
            ends = np.ones(scores.shape, dtype=bool)
            ends[:, :-1] = scores[:, 1:] != scores[:, :-1]
            yield fits, np.take_along_axis(self.true[at], order, axis=1), ends


def group_by_size(sizes: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the fits with the same number of predictions, and their positions, (n_fits, size)."""
    starts = np.cumsum(sizes) - sizes
    for size in np.unique(sizes[sizes > 0]):
        fits = np.flatnonzero(sizes == size)
        yield fits, starts[fits][:, None] + np.arange(size)


def divide(over: np.ndarray, under: np.ndarray) -> np.ndarray:
    """Return fractions, nan for a denominator of 0."""
    fractions: np.ndarray = over / np.where(under > 0, under, np.nan)
    return fractions


def accuracy(predictions: BatchPredictions) -> np.ndarray:
    """Return the fraction of correct predictions."""
    return (
        predictions.sums((predictions.true == predictions.predicted).astype(np.intp))
        / predictions.sizes
    )


def balanced_accuracy(predictions: BatchPredictions) -> np.ndarray:
    """Return the mean recall of the classes present; nan if an absent class is predicted."""
    absent = predictions.members == 0
    shares = np.where(absent, 0.0, predictions.hits / np.maximum(predictions.members, 1))
    mean = shares.sum(axis=0) / (~absent).sum(axis=0)
    return np.where((absent & (predictions.named > 0)).any(axis=0), np.nan, mean)


def f1(predictions: BatchPredictions) -> np.ndarray:
    """Return the F1 score of the second class."""
    return divide(2 * predictions.hits[1], predictions.members[1] + predictions.named[1])


def f1_macro(predictions: BatchPredictions) -> np.ndarray:
    """Return the mean F1 score over the classes that are present or predicted."""
    both = predictions.members + predictions.named
    scores = np.where(both > 0, 2 * predictions.hits / np.maximum(both, 1), 0.0)
    mean: np.ndarray = scores.sum(axis=0) / (both > 0).sum(axis=0)
    return mean


def precision(predictions: BatchPredictions) -> np.ndarray:
    """Return the precision of the second class."""
    return divide(predictions.hits[1], predictions.named[1])


def recall(predictions: BatchPredictions) -> np.ndarray:
    """Return the recall of the second class."""
    return divide(predictions.hits[1], predictions.members[1])


def matthews(predictions: BatchPredictions) -> np.ndarray:
    """Return Matthews' correlation of true and predicted classes, 0 if either is constant."""
    n = predictions.sizes.astype(float)
    members, named = predictions.members.astype(float), predictions.named.astype(float)
    covariance = predictions.hits.sum(axis=0) * n - (members * named).sum(axis=0)
    both = (n**2 - (named**2).sum(axis=0)) * (n**2 - (members**2).sum(axis=0))
    return np.where(both > 0, covariance / np.sqrt(np.maximum(both, 1.0)), 0.0)


def kappa(predictions: BatchPredictions) -> np.ndarray:
    """Return Cohen's kappa, nan if there is only one class."""
    by_chance = (predictions.members * (predictions.named / predictions.sizes)).sum(axis=0)
    wrong = predictions.sizes - predictions.hits.sum(axis=0)
    return 1 - divide(wrong, predictions.sizes - by_chance)


def roc_auc(predictions: BatchPredictions) -> np.ndarray:
    """Return the area under the ROC curve, nan if a class is absent."""
    areas = np.empty(len(predictions.sizes))
    for fits, labels, ends in predictions.ranked():
        size = labels.shape[1]
        positive = labels.sum(axis=1)
        last = np.where(ends, np.arange(size), size)
        last = np.minimum.accumulate(last[:, ::-1], axis=1)[:, ::-1]  # last of the tied samples
        first = np.zeros_like(last)
        first[:, 1:] = np.where(ends[:, :-1], np.arange(1, size), 0)
        first = np.maximum.accumulate(first, axis=1)
        behind = (2 * size - first - last) * labels  # twice the rank from the end
        pairs = positive * (size - positive)
        areas[fits] = divide(behind.sum(axis=1) - positive * (positive + 1), 2 * pairs)
    return areas


def average_precision(predictions: BatchPredictions) -> np.ndarray:
    """Return the mean precision at the samples of the second class; nan if a class is absent."""
    means = np.empty(len(predictions.sizes))
    for fits, labels, ends in predictions.ranked():
        size = labels.shape[1]
        positive = labels.sum(axis=1)
        n_positive = np.where(ends, labels.cumsum(axis=1), 0)
        gained = n_positive - np.maximum.accumulate(
            np.c_[np.zeros(len(n_positive)), n_positive[:, :-1]], axis=1
        )
        total = np.where(ends, gained * n_positive / np.arange(1, size + 1), 0.0).sum(axis=1)
        means[fits] = np.where(positive == size, np.nan, divide(total, positive))
    return means


def log_loss(predictions: BatchPredictions) -> np.ndarray:
    """Return the mean negative log-probability of the true class."""
    if predictions.n_classes == 2:
        of_true = np.where(predictions.true == 1, predictions.second, 1 - predictions.second)
    else:
        of_true = predictions.output.probability[np.arange(len(predictions.true)), predictions.true]
    eps = np.finfo(of_true.dtype).eps
    return predictions.sums(-np.log(np.clip(of_true, eps, 1 - eps))) / predictions.sizes


def brier(predictions: BatchPredictions) -> np.ndarray:
    """Return the mean squared error of the probability."""
    return predictions.sums((predictions.second - predictions.true) ** 2) / predictions.sizes


def r2(predictions: BatchPredictions) -> np.ndarray:
    """Return the fraction of explained variance; nan without variance."""
    true, sizes = predictions.true.astype(float), predictions.sizes
    # mean of the tested labels of each fit
    means = np.repeat(predictions.sums(true) / sizes, sizes)
    total = predictions.sums((true - means) ** 2)
    unexplained = predictions.sums((true - predictions.predicted) ** 2)
    # a variance of the order of rounding errors is left to scikit-learn
    defined = total > 1e-20 * predictions.sums(true**2)
    score: np.ndarray = 1 - unexplained / np.where(defined, total, np.nan)
    if np.array_equal(true, np.rint(true)):  # sums are exact, and so is a variance of 0
        constant = (total == 0) & (sizes > 1)
        score[constant] = unexplained[constant] == 0
    return score


def squared_error(predictions: BatchPredictions) -> np.ndarray:
    """Return the mean of the squared residuals."""
    return predictions.sums((predictions.true - predictions.predicted) ** 2) / predictions.sizes


def root_squared_error(predictions: BatchPredictions) -> np.ndarray:
    """Return the root of the mean squared residual."""
    return np.sqrt(squared_error(predictions))


def absolute_error(predictions: BatchPredictions) -> np.ndarray:
    """Return the mean of the absolute residuals."""
    return predictions.sums(np.abs(predictions.true - predictions.predicted)) / predictions.sizes
