"""Evaluation in the order of time: the form of the times and of the data changes nothing."""

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier

import skeval
from skeval.model_selection import GroupTimeSeriesSplit

N = 120
MIXED = np.random.default_rng(1).permutation(N)
DAYS = pd.Series(pd.date_range("2023-01-25", periods=N))


@pytest.fixture(scope="module")
def walks():
    """Return random walks with two classes, in the order of time."""
    values = np.cumsum(np.random.default_rng(0).normal(size=(N, 3)), axis=0)
    return pd.DataFrame(values, columns=list("abc")), np.where(np.arange(N) // 10 % 2, "u", "d")


@pytest.fixture(scope="module")
def sorted_report(walks):
    """Return the report of the sorted rows, with folds that keep their order."""
    weight, cv = np.linspace(1, 2, N), TimeSeriesSplit(4)
    model, by = LogisticRegression(), np.arange(N) // 7 % 2
    return skeval.evaluate(model, *walks, cv=cv, sample_weight=weight, by=by, random_state=0)


TIMES = {
    "numbers": np.arange(N) / 7,
    "dates": DAYS.to_numpy(),
    "texts": DAYS.astype(str).to_numpy(),
    "zone": DAYS.dt.tz_localize("UTC").to_numpy(),
    "german": DAYS.dt.strftime("%d.%m.%Y %H:%M").to_numpy(),
}


@pytest.mark.parametrize("form", TIMES)
@pytest.mark.parametrize("data", ["frame", "array", "sparse", "column"])
def test_mixed_rows_give_the_report_of_sorted_rows(walks, sorted_report, form, data):
    X, y = walks[0].iloc[MIXED], walks[1][MIXED]
    time = TIMES[form][MIXED]
    if data == "array":
        X = X.to_numpy()
    elif data == "sparse":
        X = scipy.sparse.csr_array(X.to_numpy())
    elif data == "column":
        X, time = X.assign(when=time).reset_index(drop=True), "when"
    report = skeval.evaluate(
        LogisticRegression(),
        X,
        y,
        cv=4,
        time=time,
        sample_weight=np.linspace(1, 2, N)[MIXED],
        by=(np.arange(N) // 7 % 2)[MIXED],
        random_state=0,
    )
    assert report.n_features == 3
    assert report.answer.value == sorted_report.answer.value
    assert report.answer.interval == sorted_report.answer.interval
    assert {name: one.value for name, one in report.subgroups.items()} == {
        name: one.value for name, one in sorted_report.subgroups.items()
    }
    assert "ordered" in [one.code for one in report.warnings]
    # samples keep the names that they had
    names = np.array(report.hard_samples.name, dtype=int)
    kept = names if data == "frame" else MIXED[names]
    assert kept.tolist() == sorted_report.hard_samples.sample.tolist()


def test_arguments_with_an_index_of_their_own_stay_with_their_rows(walks, sorted_report):
    X = walks[0].iloc[MIXED].set_axis(MIXED + 7)
    y, time = pd.Series(walks[1][MIXED]), pd.Series(MIXED, index=X.index)
    reports = skeval.evaluate(
        {"a": KNeighborsClassifier(), "b": LogisticRegression()},
        X,
        y,
        cv=4,
        time=time,
        params=None,
        left_out={"day": MIXED},
        random_state=0,
    )
    direct = skeval.evaluate(KNeighborsClassifier(), *walks, cv=TimeSeriesSplit(4), random_state=0)
    assert reports["a"].answer.value == direct.answer.value


def test_params_and_columns_left_out_are_sorted_too(walks):
    X, y = walks
    weight = np.linspace(1, 2, N)
    sorted_one = skeval.evaluate(
        LogisticRegression(), X, y, cv=TimeSeriesSplit(4), params={"sample_weight": weight}
    )
    mixed = skeval.evaluate(
        LogisticRegression(),
        X.to_numpy()[MIXED],
        y[MIXED],
        cv=4,
        time=MIXED,
        params={"sample_weight": weight[MIXED]},
    )
    assert mixed.answer.value == sorted_one.answer.value
    copied = skeval.evaluate(
        LogisticRegression(),
        X.to_numpy()[MIXED],
        y[MIXED],
        cv=4,
        time=MIXED,
        left_out={"order": MIXED},
    )
    # a column that rises with the time shows the order of the rows, a mixed one does not
    assert [one.outcome for one in copied.checks] == [one.outcome for one in mixed.checks]


def test_samples_of_one_time_and_groups_are_kept_together():
    rng = np.random.default_rng(0)
    month, patient = np.repeat(np.arange(40), 5), np.repeat(np.arange(40), 5) // 3
    X, y = rng.normal(size=(200, 2)), rng.normal(size=200)
    order = rng.permutation(200)
    model, labels = LogisticRegression(), (y > 0).astype(int)
    report = skeval.evaluate(
        model, X[order], labels[order], time=month[order], groups=patient[order], cv=3
    )
    folds = GroupTimeSeriesSplit(3, time=month, other_groups=True)
    direct = skeval.evaluate(model, X, labels, groups=patient, cv=folds)
    assert report.answer.value == direct.answer.value


def test_the_default_number_of_folds_leaves_two_classes_to_train_on(walks):
    y = np.repeat(["a", "b"], [22, N - 22])
    report = skeval.evaluate(LogisticRegression(), walks[0], y, time=np.arange(N))
    n_folds = len(np.unique(report.out_of_fold.fold))
    starts = [N - n * (N // (n + 1)) for n in range(n_folds, 11)]
    assert starts[0] > 22 >= max(starts[1:])  # samples before the first test set


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"time": "day"}, "'day'"),
        ({"time": [f"n{k}" for k in range(N)]}, "'n0'"),
        ({"time": np.zeros((N, 2))}, "(120, 2)"),
        ({"time": np.arange(5)}, "120 and 120 and 5"),
        ({"time": np.where(np.arange(N) == 3, np.nan, 1.0)}, "position 3"),
        ({"time": np.where(np.arange(N) == 3, np.inf, 1.0)}, "position 3"),
        ({"time": ["1/4/2024", "2/3/2024"] * 60}, "'1/4/2024'"),
        ({"time": np.zeros(N)}, "distinct"),
        ({"time": np.arange(N), "cv": KFold(3)}, "KFold"),
        ({"time": np.arange(N), "cv": 200}, "201"),
        ({"time": 5}, "int"),
    ],
)
def test_times_that_order_nothing_are_refused(walks, options, named):
    with pytest.raises((TypeError, ValueError), match="time") as caught:
        skeval.evaluate(LogisticRegression(), *walks, **options)
    assert named in str(caught.value)


def test_a_single_block_of_time_has_no_curves():
    pytest.importorskip("matplotlib")
    X = (np.arange(100) % 3)[:, None].astype(float)
    y = np.r_[np.arange(40) % 2, np.repeat([0, 1], 30)]
    cv = TimeSeriesSplit(3, test_size=20)
    report = skeval.evaluate(LogisticRegression(), X, y, cv=cv, random_state=0)
    assert report.out_of_fold.cases.n_units == 1
    assert "could not be drawn" not in report.to_html()


def test_a_feature_that_no_model_uses_has_an_importance_of_exactly_0(walks):
    X, y = walks[0].assign(constant=1.0), walks[1]
    report = skeval.evaluate(LogisticRegression(), X, y, include="importance", cv=7, random_state=0)
    assert report.importance["constant"].value == 0


def test_samples_as_many_as_the_interval_needs_are_enough():
    def find_required(n):
        rng = np.random.default_rng(0)
        X, time = rng.normal(size=(n, 2)), np.arange(n)
        y = X[:, 0] + rng.normal(size=n) > 0
        report = skeval.evaluate(LogisticRegression(), X, y, time=time, cv=3, include=())
        return re.findall(r"require at least (\d+) samples", " ".join(str(report).split()))

    (required,) = find_required(200)
    assert find_required(int(required) - 1) == [required]
    assert find_required(int(required)) == []
