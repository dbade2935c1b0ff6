"""Seeds: repeatable, independent streams, and the first 100 of 200 are the 100."""

import numpy as np
import pytest

from skeval.utils._seeds import repetition_rng, root_seed, small_seed


@pytest.mark.parametrize(
    "make", [lambda: 7, lambda: np.random.RandomState(7), lambda: np.random.default_rng(7)]
)
def test_same_random_state_same_streams(make):
    first, second = root_seed(make()), root_seed(make())
    assert repetition_rng(first, 3).random() == repetition_rng(second, 3).random()


def test_none_is_really_random():
    assert root_seed(None).entropy != root_seed(None).entropy


def test_a_generator_is_advanced():
    generator = np.random.RandomState(0)
    assert root_seed(generator).entropy != root_seed(generator).entropy


def test_repetition_is_the_spawned_child():
    children = np.random.SeedSequence(5).spawn(4)
    expected = [np.random.default_rng(child).random() for child in children]
    assert [repetition_rng(root_seed(5), r).random() for r in range(4)] == expected


def test_wrong_random_state():
    with pytest.raises(TypeError, match="random_state must be None, an int"):
        root_seed("seed")
    with pytest.raises(ValueError, match="random_state must be >= 0, got -1"):
        root_seed(-1)


def test_small_seed_of_an_int_is_the_int():
    assert [small_seed(seed) for seed in (0, 7, np.int64(2**32 - 1))] == [0, 7, 2**32 - 1]
    large = small_seed(2**40)
    assert large == small_seed(2**40) < 2**32
    assert small_seed(np.random.default_rng(3)) == small_seed(np.random.default_rng(3))
    assert small_seed(None) != small_seed(None)
    with pytest.raises(ValueError, match="random_state must be >= 0, got -1"):
        small_seed(-1)
