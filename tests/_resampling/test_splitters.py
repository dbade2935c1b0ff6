"""Folds of an argument `cv`: default numbers, kept folds, repeats, and units that they keep."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import (
    KFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)

from skeval._resampling.plans import (
    KeptFolds,
    deals_at_random,
    draws_anew,
    keeps_order,
    make_dealer,
    number_kept_together,
    part_repeats,
    seed_splitter,
)
from skeval._resampling.sampling_units import Target
from skeval.utils._checks import root_seed

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


def test_order_in_time():
    assert keeps_order(TimeSeriesSplit(3), [])
    assert keeps_order(None, list(TimeSeriesSplit(3).split(CODES)))
    assert not keeps_order(None, list(KFold(3).split(CODES)))
    one_test_set = [(np.arange(20), np.arange(20, N))]
    assert not keeps_order(None, one_test_set)


def test_splitters_that_are_drawn_anew():
    assert draws_anew(KFold(3, shuffle=True))
    assert not draws_anew(KFold(3))
    assert deals_at_random(ShuffleSplit())
    assert not draws_anew(ShuffleSplit())
    first, second = (seed_splitter(KFold(3, shuffle=True), root_seed(0), draw) for draw in (0, 1))
    assert first.random_state != second.random_state
    own = KFold(3, shuffle=True, random_state=7)
    assert seed_splitter(own, root_seed(0)) is own


def test_repeats_and_units_of_given_folds():
    folds = [test for _, test in KFold(3).split(CODES)]
    others = [test for _, test in KFold(3, shuffle=True, random_state=0).split(CODES)]
    repeats = part_repeats([*folds, *others], N)
    assert [len(repeat) for repeat in repeats] == [3, 3]
    assert part_repeats([*folds, others[0]], N) is None
    assert len(np.unique(number_kept_together([folds], N))) == 3
    assert len(np.unique(number_kept_together(repeats, N))) > 3
