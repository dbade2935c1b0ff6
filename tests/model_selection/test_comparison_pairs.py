"""Many systems: arrays of all pairs, and differences made when they are read."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skeval.model_selection import _comparison_methods, compare_scores

RNG = np.random.default_rng(0)
EFFECT = np.linspace(0, 1.5, 12)
SCORES = RNG.normal(size=(30, 1)) + EFFECT + RNG.normal(size=(30, 12))
NOISE = RNG.normal(scale=0.3, size=(30, 24))
RIGHT = (SCORES > 1).astype(float)


def compare_items(scores, **options):
    return compare_scores(scores, over="items", **options)


def over_datasets(method):
    return lambda: compare_scores(SCORES.round(1), over="datasets", method=method, random_state=0)


COMPARISONS = {
    "items": lambda: compare_items(SCORES, random_state=0),
    "right or wrong": lambda: compare_items(RIGHT, random_state=0),
    "seeds": lambda: compare_items(
        np.repeat(SCORES, 2, axis=1) + NOISE,
        seeds=np.repeat([f"s{k}" for k in range(12)], 2),
        random_state=0,
    ),
    "wilcoxon": over_datasets("wilcoxon"),
    "nemenyi": over_datasets("nemenyi"),
}


@pytest.mark.parametrize("kind", COMPARISONS)
def test_table_has_the_numbers_of_the_differences(kind, monkeypatch):
    found = COMPARISONS[kind]()
    monkeypatch.setattr(_comparison_methods, "MAX_LISTED", 100)
    known = COMPARISONS[kind]()
    assert known.table is None
    assert found.table is not None
    for name in ("value", "low", "high", "pvalue"):
        assert_allclose(found.to_matrix(name), known.to_matrix(name), rtol=1e-12, atol=1e-14)
    assert str(found) == str(known)
    assert found.tied == known.tied
    assert list(found.differences) == list(known.differences)
    for pair, difference in known.differences.items():
        assert found[pair].interval == difference.interval
        assert found[pair].pvalue == difference.pvalue
    for name, rank in known.ranks.items():
        assert found.ranks[name].interval == rank.interval
        assert found.ranks[name].confidence_interval(0.5) == rank.confidence_interval(0.5)


def test_a_pickle_has_all_differences():
    found = COMPARISONS["items"]()
    again = pickle.loads(pickle.dumps(found))
    assert isinstance(again.differences, dict)
    assert len(again.differences) == len(found.differences) == 66
    assert_array_equal(again.to_matrix("low"), found.to_matrix("low"))


def test_differences_have_the_keys_of_a_dict():
    found = COMPARISONS["items"]()
    assert ("system 1", "system 2") in found.differences
    assert ("system 2", "system 1") not in found.differences
    assert found["system 2", "system 1"].value == -found["system 1", "system 2"].value


def test_differences_that_do_not_vary_are_reported():
    scores = SCORES.copy()
    scores[:, 1] = scores[:, 0] + 1
    with pytest.warns(match="intervals of 1 differences are undefined"):
        found = compare_items(scores, random_state=0)
    assert np.isnan(found.to_matrix("low")[0, 1])
