"""Reports of procedures that predict several labels or numbers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_multilabel_classification, make_regression
from sklearn.linear_model import Ridge
from sklearn.metrics import f1_score
from sklearn.model_selection import TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier

import skeval
from skeval.model_selection import error_interval


@pytest.fixture(scope="module")
def labels():
    X, y = make_multilabel_classification(80, n_features=6, n_classes=3, random_state=0)
    return X, pd.DataFrame(y, columns=["art", "law", "news"])


def test_the_report_has_the_numbers_of_error_interval(labels):
    X, y = labels
    report = skeval.evaluate(KNeighborsClassifier(), X, y, random_state=0)
    expected = error_interval(KNeighborsClassifier(), X, y, random_state=0)
    assert report.answer.value == expected.value
    assert report.answer.interval == expected.interval
    exact = error_interval(KNeighborsClassifier(), X, y, loss="zero_one", random_state=0)
    assert report.metrics["zero_one"].value == exact.value
    for name, one in report.outputs.items():
        assert one.answer.value == expected.extra.by_output[name].value
        share = y[name].mean()
        assert one.baseline.error == pytest.approx(min(share, 1 - share))
    predicted = report.out_of_fold
    repeats = [
        f1_score(y.to_numpy()[predicted.row[part]], predicted.predicted[part], average="macro")
        for part in predicted.repeats
    ]
    assert report.metrics["f1_macro"].value == pytest.approx(np.mean(repeats))
    shares = y.mean()
    assert report.baseline.error == pytest.approx(np.minimum(shares, 1 - shares).mean())


def test_numbers_are_compared_with_the_mean_of_each_output():
    X, y = make_regression(60, 5, n_targets=3, noise=20, random_state=0)
    weight = np.random.default_rng(0).uniform(0.5, 2, 60)
    report = skeval.evaluate(Ridge(), X, y, sample_weight=weight, random_state=0)
    assert list(report.outputs) == ["output 0", "output 1", "output 2"]
    mean = np.average(y, axis=0, weights=weight)
    spread = np.average(((y - mean) ** 2).mean(axis=1), weights=weight)
    assert report.baseline.error == pytest.approx(spread)
    assert report.baseline.better
    absolute = skeval.evaluate(Ridge(), X, y, loss="absolute", random_state=0)
    median = abs(y - np.median(y, axis=0)).mean()
    assert absolute.baseline.error == pytest.approx(median, rel=0.02)


def test_groups_and_time(labels):
    X, y = labels
    groups = np.repeat(np.arange(8), 10)
    report = skeval.evaluate(KNeighborsClassifier(), X, y, groups=groups, random_state=0)
    assert "units are groups" in str(report)
    table = pd.DataFrame(X).rename(columns=str).assign(patient=groups)
    named = skeval.evaluate(KNeighborsClassifier(), table, y, groups="patient", random_state=0)
    assert named.answer.value == report.answer.value
    assert [one.code for one in report.warnings] == ["few-groups"]
    ordered = skeval.evaluate(KNeighborsClassifier(), X, y, cv=TimeSeriesSplit(4), random_state=0)
    assert "blocks of time" in str(ordered)


def test_constant_rare_and_unused_labels_are_named(labels):
    X, y = labels
    y = y.assign(none=0, few=np.r_[np.ones(4, dtype=int), np.zeros(76, dtype=int)])
    report = skeval.evaluate(KNeighborsClassifier(), X, y, random_state=0)
    by_code = {one.code: str(one) for one in report.warnings}
    assert "none" in by_code["undefined"]
    assert "few (4)" in by_code["few-samples"]
    assert "few" in by_code["never-predicted"]


def test_classes_that_scikit_learn_does_not_score(labels):
    X, _ = labels
    y = np.random.default_rng(0).integers(0, 3, (80, 2))
    report = skeval.evaluate(KNeighborsClassifier(), X, y, random_state=0)
    assert set(report.metrics) == {"hamming", "zero_one"}
    assert "Better" not in report.verdict


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"include": "all"}, "include must be 'auto'"),
        ({"by": "art"}, "by must be None"),
        ({"scoring": "accuracy"}, "scoring must be None"),
        ({"budget": 3.0}, "budget must be None"),
        ({"estimator": {"a": KNeighborsClassifier(), "b": KNeighborsClassifier(1)}}, "single one"),
    ],
)
def test_arguments_without_support_are_refused(labels, options, message):
    X, y = labels
    with pytest.raises(ValueError, match=message):
        skeval.evaluate(**({"estimator": KNeighborsClassifier(), "X": X, "y": y} | options))
