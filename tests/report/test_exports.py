"""Exports of reports: the metrics of a model card, TRIPOD+AI's topics, and words for a paper."""

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
from skeval.report._exports import _write_float

yaml = pytest.importorskip("yaml")
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


@pytest.mark.parametrize("kind", ["probabilities", "numbers", "labels", "estimator"])
def test_a_model_card_is_yaml_with_every_metric_and_its_interval(reports, kind):
    report = reports[kind]
    (model,) = yaml.safe_load(report.to_model_card(model='a "b": c', dataset="d"))["model-index"]
    assert model["name"] == 'a "b": c'
    (result,) = model["results"]
    assert result["dataset"] == {"type": "d", "name": "d"}
    assert result["task"]["type"].endswith("regression" if kind == "numbers" else "classification")
    for metric, each in zip(result["metrics"], report._main_metrics.values(), strict=True):
        assert metric["value"] == each.value
        if "args" in metric:
            assert metric["args"]["low"] == each.interval.low
            assert metric["args"]["confidence_level"] == 0.95


@pytest.mark.parametrize("value", [0.0, 1e-12, -2.5e30, 1 / 3, 7.0, np.inf, -np.inf])
def test_numbers_stay_numbers_in_yaml(value):
    assert yaml.safe_load(_write_float(value)) == value


def test_tripod_names_what_the_report_answers(reports):
    frame = reports["probabilities"].to_frame("tripod")
    assert list(frame.columns) == ["topic", "part", "what", "value"]
    assert {"calibration", "at_threshold", "subgroups", "metrics"} <= set(frame["part"])
    slope = frame[(frame["part"] == "calibration") & (frame["what"] == "slope")]["value"].iloc[0]
    assert re.fullmatch(r"[\d.]+ \(95 % CI [\d.]+ to [\d.]+\)", slope)
    assert "calibration" not in set(reports["numbers"].to_frame("tripod")["part"])
    assert len(reports["estimator"].to_frame("tripod")) > 5


def test_methods_say_what_was_done_and_nothing_else(reports):
    found = {name: report.to_methods() for name, report in reports.items()}
    assert "cross-validation with 10 folds, repeated 10 times" in found["estimator"]
    assert "not retrained" in found["probabilities"]
    assert "80 samples in 40 groups" in found["probabilities"]
    assert "false discovery rate" in found["probabilities"]
    assert "Classes were predicted with a threshold of 0.5." in found["probabilities"]
    assert "was chosen on these samples" in found["chosen"]
    assert f"of {reports['estimator']._evaluated[0]} was estimated from" in found["estimator"]
    for name in ("numbers", "labels", "estimator"):
        assert "hreshold" not in found[name]
        assert "groups" not in found[name]
    for text in found.values():
        cited = set(re.findall(r" \[(\d)\]\.", text))
        listed = set(re.findall(r"^\[(\d)\]", text, re.MULTILINE))
        assert cited == listed
        assert f"skeval {skeval.__version__}" in text


def test_comparisons_have_both(data):
    y, p, _ = data
    both = skeval.evaluate_predictions(y, {"a": p, "b": p**2, "c": 1 - p}, random_state=0)
    names = [each["name"] for each in yaml.safe_load(both.to_model_card())["model-index"]]
    assert names == ["a", "b", "c"]
    assert "a, b and c were compared by brier_score_loss: all 3 pairs" in both.to_methods()
    assert "Existing predictions of 3 systems (a, b, c)" in both.to_methods()
    two = compare_predictions(y, {"a": p > 0.5, "b": p > 0.3}, method="mcnemar")
    assert "the difference was tested by McNemar's test" in two.to_methods()
    assert "P-values are corrected" not in two.to_methods()


def test_clusterings_refuse():
    X = make_blobs(60, random_state=0)[0]
    report = skeval.evaluate_clusterer(KMeans(n_init=1), X, n_clusters=[2, 3], random_state=0)
    for export in (report.to_model_card, report.to_methods):
        with pytest.raises(TypeError, match="no predictions that were scored"):
            export()
    with pytest.raises(ValueError, match="part must be"):
        report.to_frame("tripod")


def test_methods_of_ordered_and_given_folds_name_no_groups():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.cumsum(rng.normal(size=60))
    few = {"random_state": 0, "include": []}
    ordered = skeval.evaluate(Ridge(), X, y, cv=TimeSeriesSplit(5), **few)
    given = skeval.evaluate(Ridge(), X, y, cv=list(KFold(5).split(X)), **few)
    for report in (ordered, given):
        assert "groups" not in report.to_methods()
        assert "groups" not in set(report.to_frame("tripod")["what"])
    assert "came after all of its training samples" in ordered.to_methods()
    assert "Variances were estimated between folds" in given.to_methods()
