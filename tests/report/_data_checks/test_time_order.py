"""Warnings of the order of the rows: runs, autocorrelated losses, and an order that is of time."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import skeval
from skeval.report._data_checks.time_order import are_alike

FEW = {"cv": 4, "n_permutations": 0, "random_state": 0}
CODES = {"time-order", "runs", "autocorrelation"}


def warnings_of(X, y, model=None, **options):
    report = skeval.evaluate(model or KNeighborsClassifier(), X, y, **FEW | options)
    return [text for text in report.warnings if text.code in CODES]


def days(n):
    return np.datetime64("2023-01-01") + np.arange(n)


@pytest.fixture(scope="module")
def walks():
    """Four random walks that have nothing to do with each other; the last is to be predicted."""
    found = np.cumsum(np.random.default_rng(0).normal(size=(200, 4)), axis=0)
    return found[:, :3], (found[:, 3] > np.median(found[:, 3])).astype(int), found[:, 3]


def test_random_walks_are_told_by_their_dates(walks):
    X, y, numbers = walks
    (told,) = warnings_of(X, y, left_out={"day": days(200).astype(str)})
    assert told.code == "time-order"
    assert told.headline == (
        "the rows seem to be in time order ('day' rises), neighboring rows have similar targets "
        "more often than expected by chance, and the losses of neighboring rows are correlated"
    )
    frame = pd.DataFrame(X, columns=list("abc"), index=pd.DatetimeIndex(days(200)))
    (told,) = warnings_of(frame, y)
    assert "(the index rises)" in told.headline
    (told,) = warnings_of(frame.assign(year=np.arange(200) // 10), y)
    assert "(the index rises)" in told.headline
    (told,) = warnings_of(
        frame.reset_index(drop=True).assign(year=np.arange(200) // 10 + 1900),
        numbers,
        KNeighborsRegressor(),
    )
    assert "('year' rises)" in told.headline


def test_random_walks_are_told_without_a_date(walks):
    X, y, numbers = walks
    for target, model in ((y, KNeighborsClassifier()), (numbers, KNeighborsRegressor())):
        (told,) = warnings_of(X, target, model)
        assert "in time order or in blocks of one object (most columns change" in told.headline


def test_dates_of_rows_that_were_mixed(walks):
    X, y, _ = walks
    order = np.random.default_rng(1).permutation(200)
    (told,) = warnings_of(X[order], y[order], left_out={"day": days(200)[order]})
    assert str(told).startswith("Related in time: sorted by 'day', neighboring rows have similar")
    assert not told.headline
    assert warnings_of(X[order], y[order]) == []


def test_folds_in_order_and_in_blocks_let_no_future_predict(walks):
    X, _, numbers = walks
    date = {"day": days(200).astype(str)}
    assert warnings_of(X, numbers, LinearRegression(), cv=TimeSeriesSplit(4), left_out=date) == []
    told = warnings_of(X, numbers, LinearRegression(), cv=KFold(5), left_out=date)
    assert {text.code for text in told} <= {"runs", "autocorrelation"}
    assert not any(text.headline for text in told)


@pytest.mark.parametrize("n_years", [9, 10, 11])
def test_ten_years_are_enough_for_a_column_of_times(walks, n_years):
    """Fewer numbers may be codes."""
    year = np.random.default_rng(1).permutation(2000 + np.arange(200) % n_years)
    X, _, numbers = walks
    options = {"cv": TimeSeriesSplit(4), "left_out": {"year": year}}
    told = warnings_of(X, numbers, LinearRegression(), **options)
    assert ("time-order" in {text.code for text in told}) == (n_years >= 10)


def test_a_file_sorted_by_class_or_number_is_not_in_time():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 3)), np.repeat([0, 1, 2], 40)
    X += y[:, None]
    assert warnings_of(X, y) == []
    numbers = np.sort(rng.normal(size=120))
    assert warnings_of(X, numbers, LinearRegression()) == []
    assert warnings_of(X, 1 - y, left_out={"day": days(120)})[0].code == "time-order"


@pytest.mark.parametrize("n_blocks", [1, 3])
def test_a_file_sorted_by_a_feature_gets_no_warning(n_blocks):
    """Neither alone, nor within a few blocks of rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    X[:, 2] = np.arange(150) % n_blocks
    X = X[np.lexsort([X[:, 1], X[:, 2]])]
    y = (X[:, 1] + rng.normal(size=150) > 0).astype(int)
    assert are_alike(y)
    assert warnings_of(X, y) == []


def test_rows_of_groups_count_once(walks):
    X, y, _ = walks
    group = np.repeat(np.arange(50), 4)
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, 50)[group]
    noise = rng.normal(size=(50, 3))[group] + 0.5 * rng.normal(size=(200, 3))
    assert [text.code for text in warnings_of(noise, labels)] == ["runs"]
    assert warnings_of(noise, labels, groups=group) == []
    assert warnings_of(noise, labels, groups=group, cv=GroupKFold(5)) == []
    assert warnings_of(X, y, groups=group)[0].code == "runs"


def test_similar_targets_are_harmless_if_no_feature_reveals_neighbors():
    rng = np.random.default_rng(0)
    y = np.repeat(rng.integers(0, 2, 50), 4)
    X = y[:, None] + rng.normal(size=(200, 3))
    assert are_alike(y)
    assert warnings_of(X, y) == []
    places = np.column_stack([X, np.repeat(np.arange(50), 4) % 7])  # few values, such as a site
    assert [text.code for text in warnings_of(places, y)] == ["runs"]


@pytest.mark.parametrize("kind", ["codes", "rare_class", "numbers", "within classes"])
@pytest.mark.parametrize("n_sets", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_shuffled_rows_are_alike_in_at_most_half_a_percent(kind, n_sets):
    """The test by shuffled rows is exact: P is at most .005 in .005 of random orders."""
    n_alike = 0
    for child in np.random.SeedSequence(5).spawn(n_sets):
        rng = np.random.default_rng(child)
        strata = np.repeat([1, 0], [15, 25]) if kind == "within classes" else None
        values = rng.exponential(size=40) ** 3
        if strata is not None:
            values += 5 * strata
        if kind in ("codes", "rare_class"):
            values = (rng.random(40) < (0.5 if kind == "codes" else 0.06)).astype(int)
        n_alike += are_alike(values, strata)
    assert binom.sf(n_alike - 1, n_sets, 0.005) > 0.001, n_alike


def test_runs_are_those_of_wald_and_wolfowitz():
    """Of all orders of three and three, 2 of 20 have as few runs as the sorted one."""
    assert not are_alike(np.repeat([0, 1], 3))
    assert are_alike(np.repeat([0, 1], 10))
    assert not are_alike(np.tile([0, 1], 50))
    assert are_alike(np.repeat(np.arange(6.0), 5))


@pytest.mark.parametrize("which", ["previous", "next"])
@pytest.mark.parametrize("kept", [1.0, 0.8])
def test_a_target_of_the_row_before_or_after_is_a_sign_of_time(which, kept):
    """A walk with its lag among the features is in time order, unless rows were mixed."""
    rng = np.random.default_rng(0)
    walk = rng.normal(size=202).cumsum()
    lag = walk[:-2] if which == "previous" else walk[2:]
    X = pd.DataFrame({"a": rng.normal(size=200), "lag": lag})
    X.loc[rng.random(200) > kept, "lag"] = 0.0
    y = walk[1:-1]
    found = [each.headline for each in warnings_of(X, y, LinearRegression()) if each.headline]
    assert any(f"'lag' is the target of the {which} row" in each for each in found) == (kept == 1)
    order = rng.permutation(200)
    assert not any(
        each.headline for each in warnings_of(X.iloc[order], y[order], LinearRegression())
    )
