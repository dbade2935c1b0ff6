"""Several labels or numbers a sample: averages, intervals, and what is refused."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn import metrics as sk
from sklearn.datasets import make_multilabel_classification, make_regression
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier

import skeval
from skeval.model_selection import error_interval, metric_interval, permutation_test

N, L = 90, 4
SHARES = np.array([0.5, 0.4, 0.3, 0.2])
AVERAGED = {
    "precision": sk.precision_score,
    "recall": sk.recall_score,
    "f1": sk.f1_score,
    "roc_auc": sk.roc_auc_score,
    "average_precision": sk.average_precision_score,
}


def draw(rng, n=N):
    """Return labels that go together, and their probabilities."""
    together = rng.normal(size=(n, 1))
    y = (0.6 * rng.normal(size=(n, L)) + 0.8 * together > norm.isf(SHARES)).astype(int)
    odds = 1.5 * y - 1.2 + 0.6 * rng.normal(size=(n, 1)) + 0.8 * rng.normal(size=(n, L))
    return y, 1 / (1 + np.exp(-odds))


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    y, p = draw(rng)
    return y, p, {"groups": rng.integers(0, 25, N), "sample_weight": rng.exponential(size=N) + 0.1}


@pytest.mark.parametrize("given", [(), ("sample_weight",), ("groups", "sample_weight")])
def test_metrics_are_those_of_scikit_learn_and_of_metric_interval(data, given):
    y, p, known = data
    options = {name: known[name] for name in given}
    weight = {"sample_weight": options["sample_weight"]} if "sample_weight" in options else {}
    found = skeval.evaluate_predictions(y, p, **options).metrics
    called = (p >= 0.5).astype(int)
    for name, metric in AVERAGED.items():
        judged = called if name in ("precision", "recall", "f1") else p
        expected = metric(y, judged, average="macro", **weight)
        assert found[f"{name}_macro"].value == pytest.approx(expected)
        one = metric_interval(metric, y[:, 1], judged[:, 1], **options)
        assert found[f"{name} of label 1"].value == one.value
        assert found[f"{name} of label 1"].interval.low == one.interval.low
    assert found["exact match"].value == pytest.approx(sk.accuracy_score(y, called, **weight))
    wrong = skeval.evaluate_predictions(y, called, **options).answer
    assert wrong.value == pytest.approx(sk.hamming_loss(y, called, **weight))
    briers = [sk.brier_score_loss(y[:, k], p[:, k], **weight) for k in range(L)]
    assert found["Brier score"].value == pytest.approx(np.mean(briers))
    assert all(each.interval.low <= each.value <= each.interval.high for each in found.values())


def test_copies_of_a_label_tell_no_more_than_the_label(data):
    """Samples are the units: of L equal labels every average has the interval of one of them."""
    y, p, _ = data
    true, proba = np.tile(y[:, :1], 6), np.tile(p[:, :1], 6)
    many = skeval.evaluate_predictions(true, proba).metrics
    units = {"groups": np.arange(N)}  # Student's quantile of so many units
    for name, metric in AVERAGED.items():
        judged = p[:, 0] if name in ("roc_auc", "average_precision") else p[:, 0] >= 0.5
        one = metric_interval(metric, y[:, 0], judged, **units)
        width = one.interval.high - one.interval.low
        interval = many[f"{name}_macro"].interval
        assert (interval.high - interval.low) / width == pytest.approx(1, abs=0.06), name


def test_names_order_and_forms_of_the_data_change_nothing(data):
    y, p, known = data
    order = np.random.default_rng(0).permutation(N)
    one = skeval.evaluate_predictions(y, p, groups=known["groups"])
    frame = pd.DataFrame(y[order], columns=list("dcba"))
    other = skeval.evaluate_predictions(
        frame, pd.DataFrame(p[order], columns=list("dcba")), groups=known["groups"][order]
    )
    forest = [np.column_stack([1 - column, column]) for column in p.T]
    third = skeval.evaluate_predictions(y == 1, forest, groups=known["groups"])
    assert other.out_of_fold.target.outputs == tuple("dcba")
    for name in ("f1_macro", "roc_auc_macro", "Brier score"):
        for report in (other, third):
            a, b = one.metrics[name], report.metrics[name]
            assert (a.value, a.interval.low) == pytest.approx((b.value, b.interval.low), rel=1e-6)


def test_a_report_has_labels_subgroups_samples_and_a_page(data):
    y, p, _ = data
    by = np.arange(N) % 2
    report = skeval.evaluate_predictions(y, p, by=by, labels=["rain", "wind", "fog", "snow"])
    assert report.answer.value == pytest.approx(np.mean((y - p) ** 2))
    share = y.mean(axis=0)
    assert report.baseline.error == pytest.approx(np.mean((y - share) ** 2))
    assert report.baseline.better
    assert report.subgroups[0].value == pytest.approx(np.mean((y - p)[by == 0] ** 2))
    np.testing.assert_array_equal(report.predictions["truth_snow"], y[:, 3])
    assert "F1 (macro)" in str(report)
    assert "snow" in report.to_html()
    assert json.loads(report.to_json())["class_sizes"]["fog"] == y[:, 2].sum()
    assert len(report.to_frame("metrics")) == len(report.metrics)
    labels = skeval.evaluate_predictions(y, (p >= 0.5).astype(int))
    assert labels.answer.value == pytest.approx(np.mean((p >= 0.5) != y))


def test_several_systems_are_compared_by_the_answer(data):
    y, p, _ = data
    flat = np.full(y.shape, 0.3)
    both = skeval.evaluate_predictions(y, {"good": p, "flat": flat}, random_state=0)
    pair = both.comparison.differences["good", "flat"]
    assert pair.value == pytest.approx(np.mean((y - flat) ** 2) - np.mean((y - p) ** 2))
    assert "never-predicted" in [each.code for each in both.warnings]


def test_labels_without_both_values_are_told(data):
    y, p, _ = data
    y = y.copy()
    y[:, 3] = 0
    report = skeval.evaluate_predictions(y, p)
    assert "undefined" in [each.code for each in report.warnings]
    assert report.metrics["roc_auc_macro"].value == pytest.approx(
        sk.roc_auc_score(y[:, :3], p[:, :3])
    )
    assert "f1, label 3" not in report.metrics


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y_true": np.full((N, L), 2)}, "must contain 0 and 1"),
        ({"predictions": np.full((N, 3), 0.5)}, "must have the shape of y_true"),
        ({"predictions": np.full((N - 1, L), 0.5)}, "must have the shape of y_true"),
        ({"predictions": np.full((N, L), 1.5)}, "must lie in"),
        ({"scoring": "f1_macro"}, "scoring must be None"),
        ({"threshold": "youden"}, "threshold must be a number"),
        ({"pos_label": 1}, "pos_label must be None"),
        ({"kind": "scores"}, "kind must be 'labels' .* or 'probabilities'"),
        ({"labels": ["a", "b"]}, "labels must name each of 4 columns"),
    ],
)
def test_what_has_no_meaning_for_labels_is_refused(data, change, message):
    y, p, _ = data
    with pytest.raises(ValueError, match=message):
        skeval.evaluate_predictions(**({"y_true": y, "predictions": p} | change))


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
    for name, one in expected.extra.by_output.items():
        assert report.metrics[f"error rate of {name}"].value == one.value
        assert report.metrics[f"error rate of {name}"].interval == one.interval
    shares = y.mean()
    assert report.baseline.error == pytest.approx(np.minimum(shares, 1 - shares).mean())


def test_numbers_are_compared_with_the_mean_of_each_output():
    X, y = make_regression(60, 5, n_targets=3, noise=20, random_state=0)
    weight = np.random.default_rng(0).uniform(0.5, 2, 60)
    report = skeval.evaluate(Ridge(), X, y, sample_weight=weight, random_state=0)
    names = ["output 0", "output 1", "output 2"]
    assert list(report.metrics)[1:] == [f"mean squared error of {name}" for name in names]
    mean = np.average(y, axis=0, weights=weight)
    spread = np.average(((y - mean) ** 2).mean(axis=1), weights=weight)
    assert report.baseline.error == pytest.approx(spread)
    assert report.baseline.better
    models = {"ridge": Ridge(), "mean": DummyRegressor()}
    both = skeval.evaluate(models, X, y, cv=3, include=[], random_state=0)
    assert '"ridge" has a significantly lower root mean squared error than "mean"' in str(both)
    absolute = skeval.evaluate(Ridge(), X, y, loss="absolute", random_state=0)
    median = abs(y - np.median(y, axis=0)).mean()
    assert absolute.baseline.error == pytest.approx(median, rel=0.02)


def test_groups_and_time(labels):
    X, y = labels
    groups = np.repeat(np.arange(8), 10)
    report = skeval.evaluate(KNeighborsClassifier(), X, y, groups=groups, random_state=0)
    assert report.n_groups == 8
    table = pd.DataFrame(X).rename(columns=str).assign(patient=groups)
    named = skeval.evaluate(KNeighborsClassifier(), table, y, groups="patient", random_state=0)
    assert named.answer.value == report.answer.value
    assert "few-groups" in [one.code for one in report.warnings]
    ordered = skeval.evaluate(KNeighborsClassifier(), X, y, cv=TimeSeriesSplit(4), random_state=0)
    assert "blocks of time" in str(ordered)


def test_constant_and_unused_labels_are_named(labels):
    X, y = labels
    y = y.assign(none=0, few=np.r_[np.ones(4, dtype=int), np.zeros(76, dtype=int)])
    report = skeval.evaluate(KNeighborsClassifier(), X, y, random_state=0)
    by_code = {one.code: str(one) for one in report.warnings}
    assert "none" in by_code["undefined"]
    assert "few" in by_code["never-predicted"]


def test_classes_that_scikit_learn_does_not_score(labels):
    X, _ = labels
    y = np.random.default_rng(0).integers(0, 3, (80, 2))
    report = skeval.evaluate(KNeighborsClassifier(), X, y, random_state=0)
    assert {one.extra.label for one in report.metrics.values() if one is not report.answer} == {
        "label 0",
        "label 1",
    }
    assert "Better" not in report.verdict


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "art"}, "by must have a value for each sample"),
        ({"left_out": {"day": np.arange(80)}}, "left_out must be None"),
        ({"pos_label": 1}, "pos_label must be None"),
        ({"scoring": "acuracy"}, "accuracy"),
        ({"include": "all", "cv": 1}, "cv must be"),
    ],
)
def test_arguments_that_outputs_do_not_have_are_refused(labels, options, message):
    X, y = labels
    with pytest.raises(ValueError, match=message):
        skeval.evaluate(**({"estimator": KNeighborsClassifier(), "X": X, "y": y} | options))


def test_outputs_have_the_parts_of_one_output(labels):
    """Every part, option and comparison is that of the single function."""
    X, y = labels
    options, half = {"cv": 3, "random_state": 0}, np.arange(80) % 2
    models = {"one": KNeighborsClassifier(1), "five": KNeighborsClassifier()}
    both = skeval.evaluate(
        models, X, y, by=half, scoring="f1_samples", include="all", n_permutations=3, **options
    )
    report = both["five"]
    for method, extra in (("holdout", {}), (".632+", {"n_resamples": 5})):
        one = error_interval(models["five"], X, y, method=method, random_state=0, **extra)
        assert report[method].value == one.value
    test = permutation_test(
        models["five"], X, y, cv=3, scoring="f1_samples", n_permutations=3, random_state=0
    )
    assert report.permutation.pvalue == test.pvalue == 1 / 4
    assert {"f1_samples", "Hamming loss"} <= set(report.metrics)
    frame = report.out_of_fold
    wrong = (frame.predicted != y.to_numpy()[frame.row]).mean(axis=1)
    assert report.subgroups[0].value == pytest.approx(wrong[half[frame.row] == 0].mean())
    # the requested score decides
    difference = both["one"].metrics["f1_samples"].value - report.metrics["f1_samples"].value
    assert both.comparison["one", "five"].value == pytest.approx(difference, abs=0.001)
    short = skeval.evaluate(models["five"], X, y, budget=1e-3, **options)
    assert short.answer.extra.n_fits == 3
    assert "resubstitution" in short.omitted


def test_one_hot_columns_are_refused_and_several_labels_are_not():
    rng = np.random.default_rng(0)
    chances = rng.dirichlet(np.ones(3), 40)
    with pytest.raises(ValueError, match="y_true must have one column"):
        skeval.evaluate_predictions(np.eye(3)[rng.integers(0, 3, 40)], chances)
    labels = (rng.random((40, 3)) < 0.5).astype(int)
    assert skeval.evaluate_predictions(labels, chances).kind == "probabilities"
