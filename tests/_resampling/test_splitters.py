"""Folds of an argument `cv`: balanced targets, groups in time order."""

import numpy as np
import pytest
from helpers.folds import folds_of, note_splits
from numpy.testing import assert_array_equal
from reference import folds as reference
from sklearn.linear_model import Ridge
from sklearn.model_selection import TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB

from skeval.model_selection import cross_val_error, error_interval, permutation_test


def test_folds_balance_labels():
    rng = np.random.default_rng(0)
    labels = (rng.random((60, 6)) < [0.05, 0.1, 0.1, 0.3, 0.5, 0.9]).astype(float)
    fits = note_splits(cross_val_error, labels.astype(int), cv=5, random_state=0)
    (fold,) = folds_of(fits, 5)
    rng = np.random.default_rng(np.random.SeedSequence(0).generate_state(1)[0])
    assert_array_equal(fold, reference.deal_labels(labels, 5, rng))
    assert all(sorted(train + test) == list(range(60)) for train, test in fits)
    counts = np.array([labels[fold == number].sum(axis=0) for number in range(5)])
    assert [np.sum(fold == number) for number in range(5)] == [12] * 5
    assert np.abs(counts - labels.sum(axis=0) / 5)[:, :-1].max() < 1
    random = np.array([labels[np.arange(60) % 5 == number].sum(axis=0) for number in range(5)])
    assert np.ptp(counts, axis=0).mean() < np.ptp(random, axis=0).mean() / 2
    # no fold is empty
    for seed in range(20):
        few = (np.random.default_rng(seed).random((7, 3)) < 0.4).astype(int)
        assert all(test for _, test in note_splits(cross_val_error, few, cv=7, random_state=seed))


@pytest.mark.parametrize("kind", ["numbers", "labels"])
def test_folds_of_permuted_targets_do_not_depend_on_them(kind):
    y = np.random.default_rng(0).normal(size=30 if kind == "numbers" else (30, 3))
    y = y if kind == "numbers" else (y > 0).astype(int)
    fits = note_splits(permutation_test, y, cv=5, n_permutations=3, random_state=0)
    assert len(fits) == 20
    for first in range(0, 20, 5):
        assert fits[first : first + 5] == fits[:5]


def test_time_series_with_groups():
    """Patients who come and go: those of the test set are not in the training set."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(40), 3)[np.argsort(np.arange(120) + 30 * rng.random(120))]
    y, X = rng.normal(size=120), rng.normal(size=(120, 2))
    cv = TimeSeriesSplit(4, gap=5)
    plain = list(cv.split(X))
    noted = note_splits(cross_val_error, y, cv=cv, groups=group)
    folds = [(np.array(train), np.array(test)) for train, test in noted]
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
