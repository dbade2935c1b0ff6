"""Many systems: arrays of all pairs, and differences made when they are read."""

import pickle
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skeval.model_selection import compare_scores

RNG = np.random.default_rng(0)
EFFECT = np.linspace(0, 1.5, 12)
SCORES = RNG.normal(size=(30, 1)) + EFFECT + RNG.normal(size=(30, 12))
RIGHT = (SCORES > 1).astype(float)


def compare_items(scores, **options):
    return compare_scores(scores, over="items", **options)


def over_datasets(method):
    return lambda: compare_scores(SCORES.round(1), over="datasets", method=method, random_state=0)


COMPARISONS = {
    "items": lambda: compare_items(SCORES, random_state=0),
    "right or wrong": lambda: compare_items(RIGHT, random_state=0),
    "wilcoxon": over_datasets("wilcoxon"),
    "nemenyi": over_datasets("nemenyi"),
}


@pytest.mark.parametrize("kind", COMPARISONS)
def test_arrays_have_the_numbers_of_the_differences(kind):
    found = COMPARISONS[kind]()
    matrices = {name: found.to_matrix(name) for name in ("value", "low", "high", "pvalue")}
    assert list(found.differences) == list(combinations(found.names, 2))
    better, worse = np.zeros(12), np.zeros(12)
    for (a, b), difference in found.differences.items():
        at = found.names.index(a), found.names.index(b)
        interval = difference.interval
        numbers = difference.value, interval.low, interval.high, difference.pvalue
        assert_allclose([matrix[at] for matrix in matrices.values()], numbers, rtol=1e-12)
        low, high = (
            difference.confidence_interval(0.5).low,
            difference.confidence_interval(0.5).high,
        )
        better[list(at)] += high < 0, low > 0
        worse[list(at)] += low > 0, high < 0
    for place, rank in enumerate(found.ranks.values()):
        half = rank.confidence_interval(0.5)
        assert (half.low, half.high) == (1 + better[place], 12 - worse[place])


@pytest.mark.parametrize("kind", COMPARISONS)
def test_a_pickle_has_all_differences(kind):
    found = COMPARISONS[kind]()
    again = pickle.loads(pickle.dumps(found))
    assert len(again.differences) == len(found.differences) == 66
    assert_array_equal(again.to_matrix("low"), found.to_matrix("low"))
    assert str(again) == str(found)
    pair = found.names[:2]
    assert str(pickle.loads(pickle.dumps(found[pair]))) == str(found[pair])


def test_differences_that_do_not_vary_are_reported():
    scores = SCORES.copy()
    scores[:, 1] = scores[:, 0] + 1
    with pytest.warns(match="the values of 1 difference do not vary"):
        found = compare_items(scores, random_state=0)
    assert np.isnan(found.to_matrix("low")[0, 1])
