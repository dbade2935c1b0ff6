"""Metrics of many fits at once, from tables and ranks.

A metric is looked up by the function that a scorer calls, so a scorer by name and one made of the
same function are treated alike. A score of nan is undefined, or of a case that scikit-learn warns
of: the scorer itself computes it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from sklearn import metrics
from sklearn.metrics import get_scorer

from skeval._resampling.fit_outputs import FitOutput, answers_by_size
from skeval._resampling.target import Target
from skeval.metrics._table import BINARY, find_row
from skeval.utils._compat import is_plain_scorer, metric_of_scorer, responses_of_scorer

ANY_CLASS = ("pos_label", None)
"""What scorers of the mean over classes are made with."""


class BatchPredictions:
    """The answers of some fits that did not fail, fit after fit, and the true labels.

    Parameters
    ----------
    true : ndarray of shape (n_answers,)
        Codes, or numbers.
    output : FitOutput
    target : Target
    """

    def __init__(self, true: np.ndarray, output: FitOutput, target: Target) -> None:
        self.true = true
        self.output = output
        self.predicted = output.predicted
        self.sizes = output.sizes[~output.failed]
        self.n_classes = target.n_classes

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Return the sum over the answers of each fit; no fit is tested on nothing."""
        starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        sums: np.ndarray = np.add.reduceat(values, starts)
        return sums

    @cached_property
    def table(self) -> np.ndarray:
        """How often each class was predicted as each, shape (n_classes, n_classes, n_fits)."""
        k, n_fits = self.n_classes, len(self.sizes)
        pair = (self.true * k + self.predicted) * n_fits
        cell = pair + np.repeat(np.arange(n_fits), self.sizes)
        return np.bincount(cell, minlength=k * k * n_fits).reshape(k, k, n_fits)

    @cached_property
    def hits(self) -> np.ndarray:
        """How often each class was found, shape (n_classes, n_fits)."""
        return np.diagonal(self.table).T

    @cached_property
    def members(self) -> np.ndarray:
        """How many tested samples each class has, shape (n_classes, n_fits)."""
        return self.table.sum(axis=1)

    @cached_property
    def named(self) -> np.ndarray:
        """How often each class was predicted, shape (n_classes, n_fits)."""
        return self.table.sum(axis=0)

    @cached_property
    def of_second(self) -> np.ndarray | None:
        """What ranks the answers by the second class, decision values without rounding errors."""
        if self.output.decision is not None:
            return self.output.tie_decision()
        return None if self.output.probability is None else self.output.probability[:, 1]

    @cached_property
    def second(self) -> np.ndarray:
        """The probability of the second of two classes."""
        probability: np.ndarray = self.output.probability[:, 1]
        return probability

    def ranked(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield the fits of one size, their labels, best first, and where a score is the last one.

        Labels and ends have the shape (n_fits_of_size, size).
        """
        assert self.of_second is not None
        for fits, at in answers_by_size(self.sizes):
            scores = self.of_second[at]
            order = np.argsort(-scores, axis=1, kind="stable")
            scores = np.take_along_axis(scores, order, axis=1)
            ends = np.ones(scores.shape, dtype=bool)
            ends[:, :-1] = scores[:, 1:] != scores[:, :-1]
            yield fits, np.take_along_axis(self.true[at], order, axis=1), ends


def divide(over: np.ndarray, under: np.ndarray) -> np.ndarray:
    """Return fractions, nan where the denominator is 0."""
    fractions: np.ndarray = over / np.where(under > 0, under, np.nan)
    return fractions


def accuracy(answers: BatchPredictions) -> np.ndarray:
    """Return the fraction that is predicted right."""
    return answers.sums((answers.true == answers.predicted).astype(np.intp)) / answers.sizes


def balanced_accuracy(answers: BatchPredictions) -> np.ndarray:
    """Return the mean fraction of each class that is found; nan where an absent one is named."""
    absent = answers.members == 0
    shares = np.where(absent, 0.0, answers.hits / np.maximum(answers.members, 1))
    mean = shares.sum(axis=0) / (~absent).sum(axis=0)
    return np.where((absent & (answers.named > 0)).any(axis=0), np.nan, mean)


def f1(answers: BatchPredictions) -> np.ndarray:
    """Return the harmonic mean of precision and recall, of the second class."""
    return divide(2 * answers.hits[1], answers.members[1] + answers.named[1])


def f1_macro(answers: BatchPredictions) -> np.ndarray:
    """Return the mean of F1 over the classes that are there or are named."""
    both = answers.members + answers.named
    each = np.where(both > 0, 2 * answers.hits / np.maximum(both, 1), 0.0)
    mean: np.ndarray = each.sum(axis=0) / (both > 0).sum(axis=0)
    return mean


def precision(answers: BatchPredictions) -> np.ndarray:
    """Return the fraction of what is named the second class that is of it."""
    return divide(answers.hits[1], answers.named[1])


def recall(answers: BatchPredictions) -> np.ndarray:
    """Return the fraction of the second class that is found."""
    return divide(answers.hits[1], answers.members[1])


def matthews(answers: BatchPredictions) -> np.ndarray:
    """Return Matthews' correlation of true and predicted classes, 0 where one is constant."""
    n = answers.sizes.astype(float)
    members, named = answers.members.astype(float), answers.named.astype(float)
    covariance = answers.hits.sum(axis=0) * n - (members * named).sum(axis=0)
    both = (n**2 - (named**2).sum(axis=0)) * (n**2 - (members**2).sum(axis=0))
    return np.where(both > 0, covariance / np.sqrt(np.maximum(both, 1.0)), 0.0)


def kappa(answers: BatchPredictions) -> np.ndarray:
    """Return Cohen's kappa, nan where all is one class."""
    by_chance = (answers.members * (answers.named / answers.sizes)).sum(axis=0)
    wrong = answers.sizes - answers.hits.sum(axis=0)
    return 1 - divide(wrong, answers.sizes - by_chance)


def roc_auc(answers: BatchPredictions) -> np.ndarray:
    """Return the area under the ROC curve, nan where a class is absent."""
    areas = np.empty(len(answers.sizes))
    for fits, labels, ends in answers.ranked():
        size = labels.shape[1]
        positive = labels.sum(axis=1)
        last = np.where(ends, np.arange(size), size)
        last = np.minimum.accumulate(last[:, ::-1], axis=1)[:, ::-1]  # of those tied with each
        first = np.zeros_like(last)
        first[:, 1:] = np.where(ends[:, :-1], np.arange(1, size), 0)
        first = np.maximum.accumulate(first, axis=1)
        behind = (2 * size - first - last) * labels  # twice the rank from the end
        pairs = positive * (size - positive)
        areas[fits] = divide(behind.sum(axis=1) - positive * (positive + 1), 2 * pairs)
    return areas


def average_precision(answers: BatchPredictions) -> np.ndarray:
    """Return the mean precision at the samples of the second class; nan where one is absent."""
    means = np.empty(len(answers.sizes))
    for fits, labels, ends in answers.ranked():
        size = labels.shape[1]
        positive = labels.sum(axis=1)
        n_positive = np.where(ends, labels.cumsum(axis=1), 0)
        gained = n_positive - np.maximum.accumulate(
            np.c_[np.zeros(len(n_positive)), n_positive[:, :-1]], axis=1
        )
        there = np.where(ends, gained * n_positive / np.arange(1, size + 1), 0.0).sum(axis=1)
        means[fits] = np.where(positive == size, np.nan, divide(there, positive))
    return means


def log_loss(answers: BatchPredictions) -> np.ndarray:
    """Return minus the mean log-probability of the true class; nan where a class is absent."""
    if answers.n_classes == 2:
        of_true = np.where(answers.true == 1, answers.second, 1 - answers.second)
    else:
        of_true = answers.output.probability[np.arange(len(answers.true)), answers.true]
    eps = np.finfo(of_true.dtype).eps
    loss = answers.sums(-np.log(np.clip(of_true, eps, 1 - eps))) / answers.sizes
    return np.where((answers.members == 0).any(axis=0), np.nan, loss)


def brier(answers: BatchPredictions) -> np.ndarray:
    """Return the mean squared error of the probability; nan where a class is absent."""
    loss = answers.sums((answers.second - answers.true) ** 2) / answers.sizes
    return np.where((answers.members == 0).any(axis=0), np.nan, loss)


def r2(answers: BatchPredictions) -> np.ndarray:
    """Return the fraction of the variance that is explained; nan where there is none."""
    true, sizes = answers.true.astype(float), answers.sizes
    means = np.repeat(answers.sums(true) / sizes, sizes)
    total = answers.sums((true - means) ** 2)
    unexplained = answers.sums((true - answers.predicted) ** 2)
    # A variance that is but a rounding error of the mean is left to scikit-learn.
    defined = total > 1e-20 * answers.sums(true**2)
    score: np.ndarray = 1 - unexplained / np.where(defined, total, np.nan)
    if np.array_equal(true, np.rint(true)):  # sums are exact, and so is a variance of 0
        constant = (total == 0) & (sizes > 1)
        score[constant] = unexplained[constant] == 0
    return score


def squared_error(answers: BatchPredictions) -> np.ndarray:
    """Return the mean of the squared residuals."""
    return answers.sums((answers.true - answers.predicted) ** 2) / answers.sizes


def root_squared_error(answers: BatchPredictions) -> np.ndarray:
    """Return the root of the mean of the squared residuals."""
    return np.sqrt(squared_error(answers))


def absolute_error(answers: BatchPredictions) -> np.ndarray:
    """Return the mean of the absolute residuals."""
    return answers.sums(np.abs(answers.true - answers.predicted)) / answers.sizes


class ScoreFits(NamedTuple):
    """A metric of many fits at once.

    Attributes
    ----------
    score : callable
        ``score(answers)`` returns one number for each fit.
    positive : bool
        Whether it takes the label 1 as the class to be found, of two.
    """

    score: Callable[[BatchPredictions], np.ndarray]
    positive: bool = False

    def serves(self, scorer: Any, classes: np.ndarray) -> bool:
        """Whether it says of these classes what a scorer says."""
        row = find_row(metric_of_scorer(scorer)[0])
        assert row is not None
        if not np.array_equal(responses_of_scorer(scorer), row.response):
            return False
        if (self.positive or row.targets == BINARY) and len(classes) != 2:
            return False
        return not self.positive or (classes.dtype.kind in "iuf" and classes.tolist()[1] == 1)


SCORES_OF_CLASSES = {
    (metrics.accuracy_score, ""): ScoreFits(accuracy),
    (metrics.balanced_accuracy_score, ""): ScoreFits(balanced_accuracy),
    (metrics.f1_score, ""): ScoreFits(f1, positive=True),
    (metrics.f1_score, "binary"): ScoreFits(f1, positive=True),
    (metrics.f1_score, "macro"): ScoreFits(f1_macro),
    (metrics.f1_score, "micro"): ScoreFits(accuracy),
    (metrics.precision_score, ""): ScoreFits(precision, positive=True),
    (metrics.precision_score, "binary"): ScoreFits(precision, positive=True),
    (metrics.recall_score, ""): ScoreFits(recall, positive=True),
    (metrics.recall_score, "binary"): ScoreFits(recall, positive=True),
    (metrics.matthews_corrcoef, ""): ScoreFits(matthews),
    (metrics.cohen_kappa_score, ""): ScoreFits(kappa),
    (metrics.roc_auc_score, ""): ScoreFits(roc_auc),
    (metrics.average_precision_score, ""): ScoreFits(average_precision, positive=True),
    (metrics.log_loss, ""): ScoreFits(log_loss),
    (metrics.brier_score_loss, ""): ScoreFits(brier, positive=True),
}
"""By the function that a scorer calls, and its argument `average`."""

SCORES_OF_NUMBERS = {
    (metrics.r2_score, ""): ScoreFits(r2),
    (metrics.mean_squared_error, ""): ScoreFits(squared_error),
    (metrics.root_mean_squared_error, ""): ScoreFits(root_squared_error),
    (metrics.mean_absolute_error, ""): ScoreFits(absolute_error),
}


def find_scores(scoring: Any, target: Target) -> Callable[[BatchPredictions], np.ndarray] | None:
    """Return what computes a metric of many fits at once, None where nothing does.

    None is the `score` of an estimator, the accuracy or R^2 of all that a solver serves.
    """
    if scoring is None:
        scoring = "r2" if target.classes is None else "accuracy"
    if isinstance(scoring, str):
        try:
            scoring = get_scorer(scoring)
        except ValueError:
            return None
    if not is_plain_scorer(scoring):
        return None
    function, fixed, greater_is_better = metric_of_scorer(scoring)
    options = {name: value for name, value in fixed.items() if (name, value) != ANY_CLASS}
    if options.keys() - {"average"}:
        return None
    key = function, options.get("average", "")
    row = (SCORES_OF_NUMBERS if target.classes is None else SCORES_OF_CLASSES).get(key)
    if row is None or not (target.classes is None or row.serves(scoring, target.classes)):
        return None
    score = row.score
    return score if greater_is_better else lambda answers: -score(answers)
