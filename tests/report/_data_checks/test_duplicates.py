"""Copies of samples, and near-duplicates."""

import numpy as np
import pytest
from helpers.crossed import each_value
from helpers.tables import FEW, warnings_of
from sklearn.neighbors import KNeighborsClassifier

import skeval
from skeval.report._data_checks import table


def test_tripled_samples_are_told_loudly_and_no_interval_is_a_point(noise):
    X, y = np.tile(noise[0], (3, 1)), np.tile(noise[1], 3)
    report = skeval.evaluate(KNeighborsClassifier(1), X, y, **FEW)
    assert report["cross_validation"].value == 0
    assert report.warnings[0].startswith("Exact copies: 150 of 150 samples")
    assert all(
        estimate.interval.high > estimate.interval.low for estimate in report.estimates.values()
    )
    assert "150 of 150 samples are exact copies" in str(report)


def test_copies_within_a_group_are_no_fault(noise):
    X, y = np.repeat(noise[0], 3, axis=0), np.repeat(noise[1], 3)
    assert warnings_of(X, y, np.repeat(np.arange(50), 3)) == []
    assert len(warnings_of(X, y, np.tile(np.arange(30), 5))) == 1


def test_a_few_copies_and_tables_of_few_values(noise):
    X, y = noise
    assert warnings_of(np.vstack([X[:49], X[:1]]), y) == []
    assert warnings_of(np.vstack([X[:40], X[:10]]), y)[0].startswith(
        "Exact copies: 20 of 50 samples"
    )
    rng = np.random.default_rng(0)
    (note,) = warnings_of(rng.integers(0, 2, (50, 3)).astype(float), y)
    assert note.startswith("Equal rows: 50 of 50 samples equal another sample, as often as chance")
    assert note.code == "equal-rows"
    assert not note.headline


def test_large_tables_are_searched_for_copies_in_all_rows(noise, monkeypatch):
    monkeypatch.setattr(table, "MAX_CELLS", 1000)
    X = np.random.default_rng(0).normal(size=(500, 4))
    X[-100:] = X[:100]
    copies, unchecked = warnings_of(X, np.arange(500) % 2)
    assert copies.startswith("Exact copies: 200 of 500")
    assert unchecked.startswith("Not checked: 250 of 500 rows")


def test_a_single_column_of_categories_holds_no_copies():
    """Samples of three categories are equal by chance."""
    X, y = np.repeat([0.0, 1.0, 2.0], 50)[:, None], np.tile([0, 1, 1], 50)
    order = np.random.default_rng(0).permutation(150)
    (found,) = [f for f in warnings_of(X[order], y) if f.code in ("copies", "equal-rows")]
    assert found.code == "equal-rows"
    assert not found.headline


@each_value
@pytest.mark.parametrize("n_levels", [2, 3, 4, 6])
@pytest.mark.parametrize("first", [0, 1])
def test_indicators_of_one_variable_are_no_copies(n_levels, first):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = np.eye(n_levels)[rng.integers(0, n_levels, 120)][:, first:]
        assert not any(w.headline for w in warnings_of(X, rng.integers(0, 2, 120)))
