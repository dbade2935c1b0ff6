"""The methods paragraph of reports."""

import re

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB

import skeval
from skeval.model_selection import compare_predictions

N = 80


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    return y, 1 / (1 + np.exp(-rng.normal(2 * y - 1))), rng.normal(size=(N, 3)) + y[:, None]


@pytest.fixture(scope="module")
def reports(data):
    y, p, X = data
    both = np.column_stack([y, 1 - y])
    return {
        "probabilities": skeval.evaluate_predictions(
            y, p, groups=np.arange(N) // 2, by=np.arange(N) % 2, random_state=0
        ),
        "chosen": skeval.evaluate_predictions(y, p, threshold="youden", random_state=0),
        "numbers": skeval.evaluate_predictions(X[:, 0], X[:, 1], random_state=0),
        "labels": skeval.evaluate_predictions(both, np.column_stack([p, 1 - p]), random_state=0),
        "estimator": skeval.evaluate(GaussianNB(), X, y, include=[], random_state=0),
    }


def test_methods_say_what_was_done_and_nothing_else(reports):
    found = {name: report.to_methods() for name, report in reports.items()}
    assert "cross-validation with 10 folds, repeated 5 times" in found["estimator"]
    assert "not retrained" in found["probabilities"]
    assert "80 samples in 40 groups" in found["probabilities"]
    assert "false discovery rate" in found["probabilities"]
    assert "Classes were predicted with a threshold of 0.5." in found["probabilities"]
    assert "was chosen on these samples" in found["chosen"]
    assert "of GaussianNB was estimated from" in found["estimator"]
    for name in ("numbers", "labels", "estimator"):
        assert "hreshold" not in found[name]
        assert "group" not in found[name]
    for text in found.values():
        cited = set(re.findall(r" \[(\d)\]\.", text))
        listed = set(re.findall(r"^\[(\d)\]", text, re.MULTILINE))
        assert cited == listed
        assert f"skeval {skeval.__version__}" in text


def test_comparisons_have_methods(data):
    y, p, _ = data
    both = skeval.evaluate_predictions(y, {"a": p, "b": p**2, "c": 1 - p}, random_state=0)
    assert "a, b and c were compared by brier_score_loss: all 3 pairs" in both.to_methods()
    assert "Existing predictions of 3 systems (a, b, c)" in both.to_methods()
    two = compare_predictions(y, {"a": p > 0.5, "b": p > 0.3}, method="mcnemar")
    assert "the difference was tested by McNemar's test" in two.to_methods()
    assert "P-values are corrected" not in two.to_methods()


def test_clusterings_refuse():
    X = make_blobs(60, random_state=0)[0]
    report = skeval.evaluate_clusterer(KMeans(n_init=1), X, n_clusters=[2, 3], random_state=0)
    with pytest.raises(TypeError, match="no predictions that were scored"):
        report.to_methods()


def test_methods_of_ordered_and_given_folds_name_no_groups():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.cumsum(rng.normal(size=60))
    few = {"random_state": 0, "include": []}
    ordered = skeval.evaluate(Ridge(), X, y, cv=TimeSeriesSplit(5), **few)
    given = skeval.evaluate(Ridge(), X, y, cv=list(KFold(5).split(X)), **few)
    for report in (ordered, given):
        assert "groups" not in report.to_methods()
    assert "came after all of its training samples" in ordered.to_methods()
    assert "Variances were estimated between folds" in given.to_methods()
