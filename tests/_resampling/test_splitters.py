"""Folds of an argument `cv`: default numbers, kept folds, repeats, and units that they keep."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import KFold, RepeatedStratifiedKFold, StratifiedKFold

from skeval._resampling.plans import KeptFolds, make_dealer
from skeval._resampling.sampling_units import Target

RNG = np.random.default_rng(0)
CODES = RNG.permutation(np.repeat([0, 1, 2], [11, 8, 7]))
TARGET = Target(CODES, np.unique(CODES), CODES)
N = len(CODES)


@pytest.mark.parametrize(
    "splitter",
    [
        StratifiedKFold(4),
        StratifiedKFold(4, shuffle=True, random_state=3),
        RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=3),
    ],
    ids=str,
)
def test_permuted_labels_are_dealt_as_scikit_learn_does(splitter):
    deal = make_dealer(splitter, TARGET)
    for seed in range(5):
        labels = np.random.default_rng(seed).permutation(CODES)
        tests = [test for _, test in splitter.split(CODES, labels)]
        assert [np.flatnonzero(row).tolist() for row in deal(labels)] == [t.tolist() for t in tests]


def test_no_dealer_for_other_splitters_and_small_classes():
    assert make_dealer(KFold(3), TARGET) is None
    assert make_dealer(StratifiedKFold(8), TARGET) is None


def test_kept_folds_are_small_and_come_back():
    folds = list(KFold(N).split(CODES))
    kept = KeptFolds(N, folds)
    assert all(train is None for train, _ in kept.parts)
    for (train, test), (expected, tested) in zip(kept, folds, strict=True):
        assert_array_equal(train, expected)
        assert_array_equal(test, tested)
    assert len(KeptFolds.join([kept, kept])) == 2 * N
    train = np.arange(N - 1)[::-1]
    assert_array_equal(KeptFolds(N, [(train, [N - 1])])[0][0], train)
