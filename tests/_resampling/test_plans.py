"""Plans travel in few bytes, and folds, subsamples and halves hold what their names say."""

import pickle

import joblib
import numpy as np
from helpers.folds import folds_of, note_splits

from skeval._resampling.plans import PlanBlock, concatenate_blocks
from skeval.model_selection import error_interval

RNG = np.random.default_rng(0)


def assert_same(first, second):
    np.testing.assert_array_equal(first, second)
    assert first.dtype == second.dtype


def make_block(n=1000):
    order = np.repeat([RNG.permutation(n) for _ in range(4)], 10, axis=0)
    test = np.tile(np.arange(n) % 10 == np.arange(10)[:, None], (4, 1))
    return PlanBlock((~test).astype(np.intp), test, order, n_redrawn=3)


def test_a_pickled_block_has_small_integers():
    block = make_block()
    data = pickle.dumps(block)
    assert len(data) < 40 * 1000 * (1 + 1 + 2) + 1500
    assert np.array_equal(pickle.loads(data).order, block.order)
    repeated = PlanBlock(np.full((1, 3), 128), np.zeros((1, 3), dtype=bool))
    assert pickle.loads(pickle.dumps(repeated)).train.tolist() == [[128, 128, 128]]


def test_what_is_kept_goes_by_the_numbers():
    block = make_block()
    again = PlanBlock(block.train.copy(), block.test.copy(), block.order.copy(), n_redrawn=3)
    other = PlanBlock(block.train, ~block.test, block.order, n_redrawn=3)
    assert joblib.hash(block) == joblib.hash(again) != joblib.hash(other)
    assert joblib.hash(block[0]) == joblib.hash(again[0]) != joblib.hash(block[1])


def fit_of(train, rows=None):
    """Return the only fit of a block."""
    test = np.zeros((1, len(train)), dtype=bool)
    return PlanBlock(np.array([train]), test, rows=None if rows is None else [rows])[0]


def test_training_rows_and_weights_of_a_fit():
    counted, weighted = fit_of([2, 0, 1]), fit_of([0.5, 0.0, 2.0])
    assert counted.training_rows.tolist() == [0, 0, 2]
    assert counted.weights is None
    assert weighted.training_rows.tolist() == [0, 2]
    assert weighted.weights.tolist() == [0.5, 2.0]
    # in the order of the splitter; sample 0 was left out later
    rows = np.array([2, 0, 1, 2], dtype=np.uint8)
    counted, weighted = fit_of([0, 1, 2], rows), fit_of([0.0, 0.5, 2.0], rows)
    assert counted.training_rows.tolist() == [2, 1, 2]
    assert weighted.training_rows.tolist() == [2, 1]
    assert weighted.weights.tolist() == [2.0, 0.5]


def test_parts_of_a_block_keep_the_order_of_their_rows():
    test = np.zeros((2, 3), dtype=bool)
    block = PlanBlock(np.ones((2, 3), dtype=int), test, rows=[None, np.array([2, 0, 1])])
    ascending = PlanBlock(np.ones((2, 3), dtype=int), test)
    joined = pickle.loads(pickle.dumps(concatenate_blocks([ascending, block])))
    assert [fit.training_rows.tolist() for fit in joined] == 3 * [[0, 1, 2]] + [[2, 0, 1]]
    assert joined.take(np.array([3]))[0].training_rows.tolist() == [2, 0, 1]
    assert concatenate_blocks([ascending, ascending]).rows is None


N = 26
Y = np.random.default_rng(7).permutation(np.repeat([0, 1, 2], [12, 9, 5]))


def draw(method, **options):
    """Return the rows that each fit of a method trains on and is tested on."""
    return note_splits(error_interval, Y, method=method, **{"random_state": 0} | options)


def test_nested_folds():
    folds = folds_of(draw("repeated_cv", n_folds=5, n_repeats=2), 5)
    sizes = np.array([np.bincount(fold, minlength=5) for fold in folds])
    assert np.ptp(sizes) == 1
    for fold in folds:  # classes are spread as evenly as they can be
        table = np.histogram2d(Y, fold, bins=[np.arange(4) - 0.5, np.arange(6) - 0.5])[0]
        assert np.ptp(table, axis=1).max() <= 1
    # fits that leave one fold out are followed by those that leave two out, tested on these
    fits = draw("nested_cv", n_folds=5, n_repeats=2)
    assert len(fits) == 30
    for number, (train, test) in enumerate(fits):
        assert sorted(train + test) == list(range(N))
        assert len(set(folds[number // 15][test])) == (1 if number % 15 < 5 else 2)
    assert set(folds[0][fits[5][1]]) == {0, 1}


def test_classes_are_balanced_in_random_halves():
    halves = [draw("holdout", test_size=0.5, random_state=seed)[0] for seed in range(50)]
    for side in zip(*halves, strict=True):
        assert {len(half) for half in side} == {13}
        counts = np.array([np.bincount(Y[half], minlength=3) for half in side])
        assert np.abs(counts - np.bincount(Y) / 2).max() <= 1
        assert np.abs(counts.mean(axis=0) - np.bincount(Y) / 2).max() < 0.5


def test_the_first_repeats_are_those_of_a_smaller_plan():
    for method, options, n_fits in (("repeated_cv", {"n_folds": 4}, 8), ("corrected_t", {}, 2)):
        few, many = (draw(method, n_repeats=repeats, **options) for repeats in (2, 5))
        assert few == many[:n_fits]
        assert len(few) == n_fits
