"""Samples that belong together are not so many independent ones."""

import math

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupShuffleSplit, LeaveOneGroupOut, RepeatedKFold

from skeval import evaluate
from skeval.model_selection import compare_classifiers, cross_val_error, resubstitution_error

RNG = np.random.default_rng(0)
GROUPS = np.repeat([f"patient {g}" for g in range(12)], RNG.integers(1, 9, 12))
X = RNG.normal(size=(len(GROUPS), 2)) + np.unique(GROUPS, return_inverse=True)[1][:, None] % 3
Y = (X[:, 0] + RNG.normal(size=len(GROUPS)) > 1).astype(int)
LOGISTIC = LogisticRegression()


def grouped_error(losses, tests, groups):
    """The reference: losses and numbers of tests of each sample; CR1 by loops."""
    error = sum(losses) / sum(tests)
    totals = {}
    for loss, count, group in zip(losses, tests, groups, strict=True):
        totals[group] = totals.get(group, 0.0) + loss - error * count
    G = len(totals)
    return math.sqrt(G / (G - 1) * sum(r**2 for r in totals.values())) / sum(tests)


def test_standard_error_is_that_of_the_groups():
    result = cross_val_error(LOGISTIC, X, Y, cv=LeaveOneGroupOut(), groups=GROUPS)
    losses = []
    for group in GROUPS:
        rest = group != GROUPS
        rule = LogisticRegression().fit(X[rest], Y[rest])
        losses.append(rule.predict(X) != Y)
    losses = [float(row[i]) for i, row in enumerate(losses)]
    assert_allclose(result.error, np.mean(losses))
    assert_allclose(result.standard_error, grouped_error(losses, [1] * len(Y), GROUPS))
    assert result.n_groups == 12
    assert "groups tested" in str(result)
    apparent = resubstitution_error(
        LOGISTIC, X, Y, groups=pd.Series(GROUPS, index=range(5, 5 + len(Y)))
    )
    assert_allclose(
        apparent.standard_error, grouped_error(apparent.replicates, [1] * len(Y), GROUPS)
    )


def test_samples_tested_several_times():
    cv = list(RepeatedKFold(n_splits=3, n_repeats=2, random_state=0).split(X))
    result = cross_val_error(LOGISTIC, X, Y, cv=cv, groups=GROUPS)
    losses = np.zeros(len(Y))
    for train, test in cv:
        losses[test] += LogisticRegression().fit(X[train], Y[train]).predict(X[test]) != Y[test]
    assert_allclose(result.standard_error, grouped_error(losses, [2] * len(Y), GROUPS))


def test_intervals_count_independent_samples():
    result = cross_val_error(LOGISTIC, X, Y, cv=LeaveOneGroupOut(), groups=GROUPS)
    z, t = stats.norm.isf(0.05), stats.t.isf(0.05, 11)
    n = result.error * (1 - result.error) / result.standard_error**2 * (z / t) ** 2
    interval = result.confidence_interval(0.9, "wilson")
    centre = (result.error + z**2 / (2 * n)) / (1 + z**2 / n)
    assert_allclose((interval.low + interval.high) / 2, centre)
    normal = result.confidence_interval(0.9, "normal")
    assert_allclose(normal.high - result.error, t * result.standard_error)


def test_no_error_in_few_groups_is_no_certainty():
    x, y = np.repeat([[0.0], [1.0]], 60, axis=0), np.repeat([0, 1], 60)
    groups = np.repeat(np.arange(12), 10)
    result = cross_val_error(LOGISTIC, x, y, cv=4, groups=groups, random_state=0)
    assert (result.error, result.standard_error) == (0.0, 0.0)
    high = result.confidence_interval(method="wilson").high
    assert_allclose(high, (t2 := stats.t.isf(0.025, 11) ** 2) / (12 + t2))  # Wilson's of 0 in 12


def test_one_group_says_nothing():
    split = list(GroupShuffleSplit(1, test_size=1, random_state=0).split(X, Y, GROUPS))
    with pytest.warns(UndefinedMetricWarning, match="standard error of one group"):
        result = cross_val_error(LOGISTIC, X, Y, cv=split, groups=GROUPS)
    assert np.isnan(result.standard_error)
    interval = result.confidence_interval()
    assert (interval.low, interval.high) == (0.0, 1.0)


class Sign(ClassifierMixin, BaseEstimator):
    """Nothing is learnt, so that the error is the same in every fold and known."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(X[:, 0] > 0).astype(int)]


@pytest.mark.parametrize("n_groups", [15, 40])
def test_intervals_cover(n_groups):
    """Error rates differ from group to group: the interval by samples covers half the time."""
    rng, covered, by_samples = np.random.default_rng(0), 0, 0
    groups = np.repeat(np.arange(n_groups), 10)
    for _ in range(200):
        rates = rng.beta(0.6, 1.4, n_groups)[groups]
        x = rng.normal(size=(len(groups), 1))
        wrong = rng.random(len(groups)) < rates
        y = ((x[:, 0] > 0) != wrong).astype(int)
        folds = list(RepeatedKFold(n_splits=5, n_repeats=1, random_state=0).split(x))
        grouped = cross_val_error(Sign(), x, y, cv=folds, groups=groups)
        covered += 0.3 in grouped.confidence_interval(method="wilson")
        plain = cross_val_error(Sign(), x, y, cv=folds)
        by_samples += 0.3 in plain.confidence_interval(method="wilson")
    assert stats.binomtest(covered, 200, 0.95).pvalue > 0.001
    assert by_samples < 160


def test_tests_of_independent_samples_refuse_groups():
    for method in ("mcnemar", "delong"):
        with pytest.raises(ValueError, match=f"groups must be None for method='{method}'"):
            compare_classifiers(LOGISTIC, Sign(), X, Y, groups=GROUPS, method=method)


def test_reports_of_groups():
    options = {"n_bootstraps": 20, "n_permutations": 9, "n_resamples": 0, "cv": 4}
    with pytest.warns(UserWarning, match="7 of 12 groups hold one label"):
        report = evaluate(LOGISTIC, X, Y, groups=GROUPS, random_state=0, **options)
    for name in ("resubstitution", "cross-validation", "leave-one-out"):
        assert report[name].n_groups == 12
    assert report["hold-out (1/3)"].n_groups == 4
    assert report.to_dict()["estimates"][0]["n_groups"] == 12
    assert any("12 groups of samples are too few" in sentence for sentence in report.warnings)
