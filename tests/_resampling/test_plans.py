"""Plans travel in few bytes and arrive as they were."""

import pickle

import joblib
import numpy as np

from skeval._resampling.plans import Fit, PlanBlock, concatenate_blocks

RNG = np.random.default_rng(0)


def assert_same(first, second):
    np.testing.assert_array_equal(first, second)
    assert first.dtype == second.dtype


def make_block(n=1000):
    order = np.repeat([RNG.permutation(n) for _ in range(4)], 10, axis=0)
    test = np.tile(np.arange(n) % 10 == np.arange(10)[:, None], (4, 1))
    return PlanBlock((~test).astype(np.intp), test, order, n_redrawn=3)


def test_blocks_arrive_as_they_were():
    block = make_block()
    found = pickle.loads(pickle.dumps(block))
    for name in ("train", "test", "order"):
        assert_same(getattr(found, name), getattr(block, name))
    assert found.n_redrawn == 3


def test_a_block_takes_bits_and_one_order_for_all_folds():
    block = make_block()
    assert len(pickle.dumps(block)) < 40 * (2 * 1000 / 8) + 4 * 2 * 1000 + 1500


def test_what_is_kept_goes_by_the_numbers():
    block = make_block()
    again = PlanBlock(block.train.copy(), block.test.copy(), block.order.copy(), n_redrawn=3)
    other = PlanBlock(block.train, ~block.test, block.order, n_redrawn=3)
    assert joblib.hash(block) == joblib.hash(again) != joblib.hash(other)
    assert joblib.hash(block[0]) == joblib.hash(again[0]) != joblib.hash(block[1])


def test_training_rows_and_weights_of_a_fit():
    test = np.zeros(3, dtype=bool)
    counted = Fit(np.array([2, 0, 1]), test, None)
    weighted = Fit(np.array([0.5, 0.0, 2.0]), test, None)
    assert counted.training_rows.tolist() == [0, 0, 2]
    assert counted.weights is None
    assert weighted.training_rows.tolist() == [0, 2]
    assert weighted.weights.tolist() == [0.5, 2.0]
    # in the order of the splitter; sample 0 was left out later
    rows = np.array([2, 0, 1, 2], dtype=np.uint8)
    counted = Fit(np.array([0, 1, 2]), test, None, rows)
    weighted = Fit(np.array([0.0, 0.5, 2.0]), test, None, rows)
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
