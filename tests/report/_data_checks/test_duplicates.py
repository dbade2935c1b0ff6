"""Copies of samples, and near-duplicates."""

import numpy as np
import pandas as pd
import pytest
from helpers.tables import FEW, warnings_of
from scipy.sparse import csr_matrix
from sklearn.dummy import DummyClassifier
from sklearn.neighbors import KNeighborsClassifier

import skeval


def test_tripled_samples_are_told_loudly_and_no_interval_is_a_point(noise):
    X, y = np.tile(noise[0], (3, 1)), np.tile(noise[1], 3)
    report = skeval.evaluate(KNeighborsClassifier(1), X, y, **FEW)
    assert report["cross_validation"].value == 0
    assert str(report.warnings[0]).startswith("Exact copies: 150 of 150 samples")
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
    assert str(warnings_of(np.vstack([X[:40], X[:10]]), y)[0]).startswith(
        "Exact copies: 20 of 50 samples"
    )
    rng = np.random.default_rng(0)
    assert warnings_of(rng.integers(0, 2, (50, 3)).astype(float), y) == []


def test_large_tables_are_searched_for_copies_in_all_rows():
    X = np.random.default_rng(0).normal(size=(600, 10_000))
    X[-100:] = X[:100]
    copies, unchecked = warnings_of(X, np.arange(600) % 2)
    assert str(copies).startswith("Exact copies: 200 of 600")
    assert str(unchecked).startswith("Not checked: 100 of 600 rows")


def grave_codes(X, y):
    return [text.code for text in warnings_of(X, y) if text.headline]


@pytest.mark.parametrize(
    "convert",
    [
        lambda x: x,
        lambda x: (x / 3600).round(6),
        lambda x: x / 3600,
        lambda x: (x / 60).round(2),
        lambda x: (x / 10 * 0.45359).round(2),
        lambda x: ((x / 10 - 32) / 1.8).round(2),
        np.log,
    ],
)
@pytest.mark.parametrize("n", [60, 150])
def test_chance_copies_of_converted_units_are_not_grave(convert, n):
    n_grave = 0
    for seed in range(15):
        rng = np.random.default_rng(seed)
        X = np.column_stack([convert(np.round(rng.normal(8000, 250, n))), rng.integers(0, 2, n)])
        n_grave += "copies" in grave_codes(X, (rng.random(n) < 0.2).astype(int))
    assert n_grave <= 1


def test_a_pair_of_equal_rows_an_arm_coded_twice_and_other_targets_are_no_copies():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
    X[1], y[1] = X[0], y[0]
    assert grave_codes(X, y) == []  # one pair
    arm = rng.integers(0, 3, 90)
    coded = np.column_stack([arm, 10 * arm, np.array([2.0, 7.0, 1.0])[arm]])
    assert grave_codes(coded, rng.integers(0, 2, 90)) == []
    X = np.vstack([rng.normal(size=(30, 3))] * 2)
    first = rng.integers(0, 2, 30)
    assert grave_codes(X, np.r_[first, first]) == ["copies"]
    assert grave_codes(X, np.r_[first, 1 - first]) == []


@pytest.mark.parametrize("column", ["number", "name"])
def test_a_column_that_identifies_rows_hides_no_copies(column):
    """It repeats in copies only, and determines all other columns."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 3, (200, 8))).add_prefix("f")
    number = rng.permutation(200)
    frame[column] = number if column == "number" else [f"P{k}" for k in number]
    rows = rng.permutation(np.r_[np.arange(200), rng.choice(200, 50, replace=False)])
    y = rng.integers(0, 2, 200)
    found = warnings_of(frame.iloc[rows], y[rows], names=list(frame))
    assert any(text.code == "copies" and text.headline for text in found)


@pytest.mark.parametrize(
    ("n", "size", "n_sets", "told"),
    [(60, 2, 4, 0), (60, 2, 5, 1), (60, 4, 4, 0), (60, 4, 5, 1), (200, 2, 5, 0), (200, 2, 8, 1)],
)
def test_near_duplicates_are_at_least_five_sets_and_7_percent(n, size, n_sets, told):
    """Fewer sets may be a dense part of a small table."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        X = rng.normal(size=(n, 5))
        X[: n_sets * size] = np.repeat(X[:n_sets], size, axis=0)
        X[: n_sets * size] += 1e-4 * rng.normal(size=(n_sets * size, 5))
        y = rng.integers(0, 2, n)
        y[: n_sets * size] = np.repeat(y[:n_sets], size)
        assert [text.code for text in warnings_of(X, y)] == told * ["near-duplicates"]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("first", "second", "equal"),
    [(-1.0, -2.0, False), (1.0, 1.0 + 2**-52, False), (0.0, -0.0, True), (np.nan, -np.nan, True)],
)
def test_rows_are_compared_by_their_numbers(first, second, equal, sparse):
    """Python has one hash for -1 and -2, and 0 and nan have several representations."""
    X = np.random.default_rng(0).normal(size=(60, 12))
    X[30:] = X[:30]
    X[:30, 4], X[30:, 4] = first, second
    y = np.tile(np.arange(30) % 2, 2)
    samples = csr_matrix(X) if sparse else X
    report = skeval.evaluate(DummyClassifier(), samples, y, include=(), **FEW)
    (found,) = [one for one in report.checks if one.code == "copies"]
    assert found.outcome == ("serious" if equal else "passed")
