"""Plans of folds, subsamples and halves hold what their names say."""

import numpy as np
from sklearn.model_selection import KFold

from skeval._resampling.plans import (
    deal_folds,
    given_folds,
    repeated_folds,
    subsamples,
    subsamples_of_halves,
)
from skeval._resampling.sampling_units import Target, units_of
from skeval.utils._checks import root_seed

N = 26
Y = np.random.default_rng(7).permutation(np.repeat([0, 1, 2], [12, 9, 5]))
UNITS = units_of(Target(Y, np.unique(Y), Y))
GROUPED = units_of(Target(Y, np.unique(Y), Y), np.arange(N) // 2)


def splits_of(plan):
    """Return the rows that each fit of a plan trains on and is tested on."""
    blocks = [plan.draw(fit) for fit in range(plan.n_fits)]
    return [
        (np.flatnonzero(b.train[0]).tolist(), np.flatnonzero(b.test[0]).tolist()) for b in blocks
    ]


def test_nested_folds():
    plan = repeated_folds(UNITS, 5, 2, root_seed(0), nested=True)
    folds = deal_folds(UNITS, 5, 2, root_seed(0))
    sizes = np.array([np.bincount(fold, minlength=5) for fold in folds])
    assert np.ptp(sizes) == 1
    for fold in folds:  # classes are spread as evenly as they can be
        table = np.histogram2d(Y, fold, bins=[np.arange(4) - 0.5, np.arange(6) - 0.5])[0]
        assert np.ptp(table, axis=1).max() <= 1
    train, test = splits_of(plan)[5]
    assert sorted(train + test) == list(range(N))
    assert set(folds[0][test]) == {0, 1}
    assert plan.describe(5) == "without folds 1 and 2 of repeat 1"
    assert plan.describe(15) == "without fold 1 of repeat 2"


def test_classes_are_balanced_in_random_halves():
    halves = np.concatenate(
        [
            np.arange(N)[UNITS.mask(UNITS.spread(np.arange(N), rng)[:13])]
            for rng in map(np.random.default_rng, range(50))
        ]
    )
    share = np.bincount(Y[halves]) / 50
    assert np.abs(share - np.bincount(Y) / 2).max() < 0.5


def test_the_first_repeats_are_those_of_a_smaller_plan():
    few, many = (repeated_folds(UNITS, 4, repeats, root_seed(1)) for repeats in (2, 5))
    assert splits_of(few) == splits_of(many)[:8]
    few, many = (subsamples(UNITS, 6, repeats, root_seed(1)) for repeats in (2, 5))
    assert splits_of(few) == splits_of(many)[:2]


def test_halves_are_disjoint_and_have_test_sets_of_one_size():
    plan = subsamples_of_halves(UNITS, 4, 3, 2, root_seed(0))
    splits = splits_of(plan)
    assert len(splits) == 3 * (1 + 2 * 2)
    assert all(len(test) == 4 for _, test in splits)
    first, second = ({*train, *test} for train, test in (splits[3], splits[6]))
    assert len(first) == len(second) == N // 2
    assert not first & second
    assert plan.describe(6) == "in subsampling 1 of half 2 of division 1"


def test_groups_stay_together():
    for train, test in splits_of(repeated_folds(GROUPED, 4, 1, root_seed(0))):
        assert not {row // 2 for row in train} & {row // 2 for row in test}


def test_fits_are_named_in_errors():
    plan = given_folds(N, list(KFold(3).split(Y)) * 2, 2)
    assert plan.describe(4) == "of fold 2 of repeat 2"
    assert given_folds(N, list(KFold(3).split(Y)), 1).describe(0) == "of fold 1"
    plan = subsamples_of_halves(UNITS, 3, 2, 2, root_seed(0))
    assert plan.describe(1) == "in subsampling 2"
    assert plan.describe(2 + 3 * 2) == "in subsampling 1 of half 2 of division 2"
