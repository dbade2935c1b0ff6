"""Metrics that are 0/0 have no value and no interval, where scikit-learn returns 0."""

from functools import partial

import numpy as np
import pytest
from sklearn import metrics
from sklearn.exceptions import UndefinedMetricWarning

import skeval
from skeval.model_selection import metric_interval

SOME = np.tile([0, 1, 1, 0, 1], 6)
NONE = np.zeros(30, dtype=int)
RATES = {
    "precision": (metrics.precision_score, [(SOME, NONE), (NONE, NONE)], [(NONE, SOME)]),
    "recall": (metrics.recall_score, [(NONE, SOME), (NONE, NONE)], [(SOME, NONE)]),
    "f1": (metrics.f1_score, [(NONE, NONE)], [(SOME, NONE), (NONE, SOME)]),
    "jaccard": (metrics.jaccard_score, [(NONE, NONE)], [(SOME, NONE), (NONE, SOME)]),
    "average_precision": (
        metrics.average_precision_score, [(NONE, SOME / 2), (NONE, NONE)], [(SOME, NONE)]
    ),
    "matthews_corrcoef": (
        metrics.matthews_corrcoef, [(NONE, SOME), (SOME, NONE), (1 - NONE, 1 - NONE)],
        [(SOME, SOME[::-1])],
    ),
}  # fmt: skip


@pytest.mark.parametrize("method", ["auto", "percentile"])
@pytest.mark.parametrize("name", RATES)
def test_a_metric_of_nothing_is_undefined(name, method):
    function, undefined, defined = RATES[name]
    for metric in (name, function):
        for pair in undefined:
            with pytest.warns(UndefinedMetricWarning, match="is undefined, because") as warned:
                one = metric_interval(metric, *pair, method=method, n_resamples=20)
            assert len(warned) == 1
            assert np.isnan([one.value, one.interval.low, one.interval.high]).all()
    for pair in defined:
        assert metric_interval(function, *pair).value == pytest.approx(function(*pair))


@pytest.mark.parametrize(("value", "pair"), [(1.0, (SOME, NONE)), (0.0, (NONE, NONE))])
def test_zero_division_gives_a_value_but_no_interval(value, pair):
    metric = partial(metrics.precision_score, zero_division=value)
    with pytest.warns(UndefinedMetricWarning, match="set by zero_division"):
        one = metric_interval(metric, *pair)
    assert one.value == value
    assert np.isnan(one.interval.low)


def test_a_wrong_positive_class_is_still_an_error():
    with pytest.raises(ValueError, match="pos_label"):
        metric_interval(metrics.precision_score, np.where(SOME, "a", "b"), np.where(SOME, "b", "a"))
    with pytest.raises(ValueError, match="pos_label"):
        metric_interval(metrics.average_precision_score, 2 * SOME, SOME / 2)


def test_units_without_positives_are_left_out():
    unit, score = np.repeat([0, 1, 2], 10), np.linspace(0, 1, 30)
    y = np.where(unit == 2, 0, SOME)
    with pytest.warns(UndefinedMetricWarning):
        one = metric_interval(metrics.average_precision_score, y, score, within=unit)
    own = [metrics.average_precision_score(y[unit == k], score[unit == k]) for k in (0, 1)]
    assert one.value == pytest.approx(np.mean(own))


def test_reports_have_no_value_of_nothing():
    report = skeval.evaluate_predictions(np.where(SOME, "a", "b"), ["a"] * 30)
    names = {"matthews_corrcoef", "precision of b"}
    assert {name for name, one in report.metrics.items() if np.isnan(one.value)} == names
    with_third = skeval.evaluate_predictions(["a", "b"] * 15, ["a", "b", "c"] * 10)
    assert np.isnan(with_third.metrics["recall of c"].value)
    assert with_third.metrics["precision of c"].value == 0
