"""Metrics of out-of-fold predictions: scikit-learn's values, and intervals that exist."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier

import skeval

X, Y = load_iris(return_X_y=True)
X, Y = X[::2], Y[::2]


def test_rounding_of_a_constant_metric_does_not_widen_its_interval():
    """The recall of a class that is always predicted is 1 in every repeat, up to rounding."""
    rng = np.random.default_rng(0)
    y = np.where(rng.permutation(120) < 14, "dead", "alive")
    report = skeval.evaluate(
        DummyClassifier(), rng.normal(size=(120, 2)), y, include=(), random_state=0
    )
    recall = report.metrics["recall, alive"]
    assert recall.value == pytest.approx(1)
    assert recall.interval.low > 0.95
