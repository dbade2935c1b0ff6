"""Folds of an argument `cv`: balanced targets, groups in time order."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from reference import folds as reference
from sklearn.linear_model import Ridge
from sklearn.model_selection import TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB

from skeval._resampling.plans import make_permutation_plan, resolve_folds
from skeval._resampling.sampling_units import Target, deal_labels
from skeval.model_selection import cross_val_error, error_interval


def folds_of(target, n_folds, seed=0):
    """The fold of each sample."""
    fold = np.full(len(target), -1)
    X = np.zeros((len(target), 1))
    for number, (train, test) in enumerate(resolve_folds(n_folds, X, target, target.groups, seed)):
        fold[test] = number
        assert_array_equal(np.sort(np.r_[train, test]), np.arange(len(target)))
    return fold


def test_folds_balance_labels():
    rng = np.random.default_rng(0)
    labels = (rng.random((60, 6)) < [0.05, 0.1, 0.1, 0.3, 0.5, 0.9]).astype(float)
    fold = deal_labels(labels, 5, np.random.default_rng(1))
    assert_array_equal(fold, reference.deal_labels(labels, 5, np.random.default_rng(1)))
    target = Target(
        labels.astype(int),
        None,
        labels.astype(int),
        None,
        None,
        tuple("abcdef"),
        (np.arange(2),) * 6,
    )
    fold = folds_of(target, 5)
    counts = np.array([labels[fold == number].sum(axis=0) for number in range(5)])
    assert [np.sum(fold == number) for number in range(5)] == [12] * 5
    assert np.abs(counts - labels.sum(axis=0) / 5)[:, :-1].max() < 1
    random = np.array([labels[np.arange(60) % 5 == number].sum(axis=0) for number in range(5)])
    assert np.ptp(counts, axis=0).mean() < np.ptp(random, axis=0).mean() / 2
    # no fold is empty
    for seed in range(20):
        few = (np.random.default_rng(seed).random((7, 3)) < 0.4).astype(float)
        assert set(deal_labels(few, 7, np.random.default_rng(seed))) == set(range(7))


def test_folds_of_permuted_numbers_do_not_depend_on_them():
    y = np.random.default_rng(0).normal(size=30)
    order = [np.random.default_rng(seed).permutation(30) for seed in range(3)]
    plan = make_permutation_plan(5, np.zeros((30, 1)), Target(y, None, y), order.__getitem__, 3, 0)
    for draw in range(4):
        assert_array_equal(plan.draw(draw).test, plan.draw(0).test)


def test_time_series_with_groups():
    """Patients who come and go: those of the test set are not in the training set."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(40), 3)[np.argsort(np.arange(120) + 30 * rng.random(120))]
    y, X = rng.normal(size=120), rng.normal(size=(120, 2))
    cv, target = TimeSeriesSplit(4, gap=5), Target(y, None, y, groups=group)
    plain = list(cv.split(X))
    folds = list(resolve_folds(cv, X, target, group, 0))
    for (train, test), (before, tested) in zip(folds, plain, strict=True):
        assert_array_equal(test, tested)
        assert_array_equal(train, [row for row in before if group[row] not in set(group[test])])
        assert train.max() + 5 < test.min()
    assert any(
        len(train) < len(before) for (train, _), (before, _) in zip(folds, plain, strict=True)
    )
    result = cross_val_error(Ridge(), X, y, cv=cv, groups=group)
    given = cross_val_error(Ridge(), X, y, cv=folds, groups=group)
    assert result.value == given.value
    assert error_interval(Ridge(), X, y, cv=cv, groups=group).n_groups == len(set(group))
    with pytest.raises(ValueError, match="cv must train on groups outside its test set"):
        cross_val_error(Ridge(), X, y, cv=cv, groups=np.arange(120) % 3)


def test_there_are_as_many_folds_as_groups_of_the_largest_class():
    X, y = np.random.default_rng(0).normal(size=(100, 2)), np.arange(100) // 50
    for n_groups in (10, 14):  # of one class each
        groups = np.arange(100) * n_groups // 100
        estimate = error_interval(GaussianNB(), X, y, groups=groups, n_repeats=1)
        assert estimate.extra.n_fits == n_groups // 2
