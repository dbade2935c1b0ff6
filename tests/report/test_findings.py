"""Baselines, rare classes, classes never predicted, and tests against chance."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import skeval
from skeval.model_selection import metric_interval, permutation_test
from skeval.report._findings import find_rare_class, judge_permutation

FEW = {"cv": 3, "include": [], "random_state": 0}


@pytest.mark.parametrize(
    ("sizes", "label"),
    [
        ({"a": 19, "b": 81}, "a"),
        ({"a": 20, "b": 80}, None),
        ({"a": 18, "b": 41, "c": 41}, "a"),
        ({"a": 18, "b": 22, "c": 30, "d": 30}, None),  # more than half of the largest class
        ({"a": 0, "b": 19, "c": 81}, "b"),
        ({"a": 100}, None),
    ],
)
def test_a_class_is_rare_below_a_fifth_and_half_of_the_largest(sizes, label):
    y = np.arange(40) % 2
    metrics = {"roc_auc": metric_interval("roc_auc", y, y + 0.8 * np.sin(np.arange(40)))}
    rare = find_rare_class(sizes, metrics, "zero_one")
    assert (rare and rare.label) == label
    assert find_rare_class(sizes, metrics, "squared") is None
    assert find_rare_class(sizes, {}, "zero_one") is None
    if rare:
        assert rare.share == sizes[label] / sum(sizes.values())
        assert rare.better == (metrics["roc_auc"].interval.low > 0.5)


@pytest.mark.parametrize(
    ("n", "shift", "result"), [(10, 3, "powerless"), (99, 3, "shown"), (99, 0, "denied")]
)
def test_a_permutation_test_decides_with_enough_permutations(n, shift, result):
    rng = np.random.default_rng(2)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 1)) + shift * y[:, None]
    model = skeval.svm.PerturbationResamplingSVC(n_resamples=0)
    test = permutation_test(model, X, y, cv=2, n_permutations=n, random_state=0)
    assert judge_permutation(test)[0] == result
    assert judge_permutation(None) == ("", "")


def test_differences_of_error_rates_do_not_exceed_one():
    X, y = np.random.default_rng(1).normal(size=(5, 4)), np.array([0, 1, 0, 1, 1])
    model = LogisticRegression()
    baseline = skeval.evaluate(model, X, y, include=[], random_state=0).baseline
    assert (baseline.low, baseline.high) == (-1, 1)
    numbers = skeval.evaluate(LinearRegression(), X, 100.0 * y, include=[], random_state=0)
    assert numbers.baseline.high > 1
