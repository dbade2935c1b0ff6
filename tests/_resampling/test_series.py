"""Folds of panels: later periods, and on request other groups."""

from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit, cross_validate
from sklearn.pipeline import make_pipeline

import skeval
from skeval.model_selection import GroupTimeSeriesSplit, cross_val_error, error_interval

RNG = np.random.default_rng(0)
GROUP = np.repeat(np.arange(40), 3)
"""Patients who come and go, each at three times."""
TIME = (GROUP + RNG.integers(0, 12, 120)) // 2
X, Y = RNG.normal(size=(120, 2)), RNG.normal(size=120)


def parts(cv, X=X, groups=None):
    return list(cv.split(X, None, groups))


@given(
    st.lists(st.integers(0, 30), min_size=8, max_size=60),
    st.integers(2, 4),
    st.integers(0, 4),
    st.none() | st.integers(1, 4),
    st.none() | st.integers(1, 5),
    st.booleans(),
)
def test_invariants(times, n_splits, gap, test_size, most, other):
    """Training rows are those and only those that the definition allows."""
    time = np.array(times)
    group = np.arange(len(time)) % 7
    cv = GroupTimeSeriesSplit(
        n_splits, time=time, gap=gap, test_size=test_size, max_train_size=most, other_groups=other
    )
    try:
        folds = parts(cv, np.zeros((len(time), 1)), group)
    except ValueError:
        return  # too few periods
    assert len(folds) == cv.get_n_splits() == n_splits
    tested = np.concatenate([test for _, test in folds])
    assert len(set(tested)) == len(tested)
    assert set(np.flatnonzero(time >= time[tested].min())) == set(tested)
    for train, test in folds:
        assert time[train].max() + gap < time[test].min()
        assert not set(time[test]) & set(np.delete(time, test))
        assert test_size is None or len(set(time[test])) == test_size
        before = set(time[time + gap < time[test].min()])
        allowed = np.isin(time, sorted(before)[-(most or len(before)) :])
        if other:
            allowed &= ~np.isin(group, group[test])
        assert_array_equal(train, np.flatnonzero(allowed))


@given(st.permutations(range(120)), st.booleans())
def test_the_order_of_rows_does_not_matter(order, other):
    order = np.array(order)
    sorted_folds = parts(GroupTimeSeriesSplit(3, time=TIME, gap=1, other_groups=other), X, GROUP)
    moved = GroupTimeSeriesSplit(3, time=TIME[order], gap=1, other_groups=other)
    for old, new in zip(sorted_folds, parts(moved, X, GROUP[order]), strict=True):
        for before, after in zip(old, new, strict=True):
            assert_array_equal(before, np.sort(order[after]))


@pytest.mark.parametrize(
    "options", [{}, {"gap": 7}, {"test_size": 9, "gap": 2}, {"max_train_size": 11, "gap": 3}]
)
def test_row_numbers_give_the_folds_of_scikit_learn(options):
    theirs = list(TimeSeriesSplit(4, **options).split(X))
    for time in (None, np.arange(120), np.arange(120) * 1.0):
        for fold, other in zip(
            parts(GroupTimeSeriesSplit(4, time=time, **options)), theirs, strict=True
        ):
            assert_array_equal(fold[0], other[0])
            assert_array_equal(fold[1], other[1])


DAYS = np.datetime64("2026-01-30", "D") + TIME


@pytest.mark.parametrize(
    ("time", "gap"),
    [
        (DAYS, np.timedelta64(2, "D")),
        (DAYS, timedelta(2)),
        (DAYS.astype("M8[ns]"), np.timedelta64(48, "h")),
        (pd.Series(DAYS), pd.Timedelta("2D")),
        (TIME / 4, 0.5),
        (TIME.astype(np.uint8), 2),
        ("day", timedelta(2)),
    ],
)
def test_every_unit(time, gap):
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(day=DAYS)
    found = parts(GroupTimeSeriesSplit(3, time=time, gap=gap), frame)
    for fold, other in zip(found, parts(GroupTimeSeriesSplit(3, time=TIME, gap=2)), strict=True):
        assert_array_equal(fold[0], other[0])
        assert_array_equal(fold[1], other[1])


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"time": TIME[1:]}, "time"),
        ({"time": np.where(TIME > 3, TIME, np.nan)}, "time"),
        ({"time": np.where(TIME > 3, DAYS, np.datetime64("NaT"))}, "time"),
        ({"time": TIME.astype(str)}, "time"),
        ({"time": TIME % 4}, "time"),
        ({"time": "day"}, "time"),
        ({"time": TIME, "test_size": 9}, "time"),
        ({"time": TIME, "gap": 99}, "gap"),
        ({"time": TIME, "gap": -1}, "gap"),
        ({"time": TIME, "gap": timedelta(1)}, "gap"),
        ({"time": DAYS, "gap": 1}, "gap"),
        ({"time": DAYS, "gap": np.timedelta64(1, "M")}, "gap"),
        ({"other_groups": True}, "groups"),
    ],
)
def test_errors_name_the_argument(options, argument):
    with pytest.raises(ValueError, match=f"^{argument} "):
        parts(GroupTimeSeriesSplit(**options))


def test_groups_that_are_all_tested():
    cv = GroupTimeSeriesSplit(time=TIME, other_groups=True)
    with pytest.raises(ValueError, match="cv must train on groups outside its test set"):
        parts(cv, X, np.arange(120) % 2)


def test_searches_and_clones():
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(day=DAYS)
    cv = GroupTimeSeriesSplit(2, time="day", gap=timedelta(1))
    assert repr(clone(cv, safe=False)) == repr(cv)
    model = make_pipeline(make_column_transformer(("passthrough", ["a", "b"])), Ridge())
    search = clone(GridSearchCV(model, {"ridge__alpha": [1, 9]}, cv=cv, error_score="raise"))
    # a search within folds, which splits a part of the rows by a column
    scores = cross_validate(search, frame, Y, cv=cv, error_score="raise")["test_score"]
    assert len(scores) == 2


@pytest.mark.parametrize("routing", [False, True])
def test_groups_arrive(routing):
    cv = GroupTimeSeriesSplit(3, time=TIME, other_groups=True)
    with config_context(enable_metadata_routing=routing):
        groups = {"params": {"groups": GROUP}} if routing else {"groups": GROUP}
        found = cross_validate(Ridge(), X, Y, cv=cv, return_indices=True, **groups)["indices"]
    for fold, (train, test) in enumerate(parts(cv, X, GROUP)):
        assert_array_equal(found["train"][fold], train)
        assert_array_equal(found["test"][fold], test)


def test_estimates_use_these_folds():
    order = np.argsort(TIME, kind="stable")
    data, group = (X[order], Y[order]), GROUP[order]
    cv = GroupTimeSeriesSplit(3, time=TIME[order], gap=1)
    by_hand = cross_val_error(Ridge(), *data, cv=parts(cv))
    assert cross_val_error(Ridge(), *data, cv=cv).value == by_hand.value
    report = skeval.evaluate(Ridge(), *data, cv=cv, include=[], random_state=0)
    assert report.answer.value == pytest.approx(by_hand.value)
    new = GroupTimeSeriesSplit(3, time=TIME[order], gap=1, other_groups=True)
    assert error_interval(Ridge(), *data, cv=new, groups=group).n_groups == 40
    # patients are not split unless the splitter keeps them together
    with pytest.raises(ValueError, match="cv must not split groups"):
        error_interval(Ridge(), *data, cv=cv, groups=group)
    with pytest.raises(ValueError, match="time must ascend with the rows"):
        error_interval(Ridge(), X, Y, cv=GroupTimeSeriesSplit(3, time=TIME))


def test_a_report_is_repeated_from_its_call():
    options = {"gap": 2, "test_size": 20}
    cv = GroupTimeSeriesSplit(3, **options)
    report = skeval.evaluate(Ridge(), X, Y, cv=cv, include=[], random_state=0)
    names = {"X": X, "y": Y}
    exec(report.call, names)
    assert str(names["report"]) == str(report)
    # times are too long to write down
    timed = GroupTimeSeriesSplit(3, time=np.arange(120), **options)
    report = skeval.evaluate(Ridge(), X, Y, cv=timed, include=[], random_state=0)
    names = {"X": X, "y": Y, "cv": timed}
    exec(report.call, names)
    assert str(names["report"]) == str(report)
