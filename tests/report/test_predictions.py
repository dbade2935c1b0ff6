"""What evaluate tells of its out-of-fold predictions: metrics, matrix, hard samples, subgroups."""

import re

import numpy as np
import pandas as pd
import pytest
from helpers.crossed import each_value
from scipy.stats import t as student
from sklearn import metrics as sk
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    LeaveOneOut,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import skeval
from skeval.model_selection import error_interval
from tests.reference.out_of_fold import area_within_fits, wilson, without_shifts


def evaluate(*arguments, **options):
    """Evaluate with few folds, and little of what is not looked at here."""
    few = {"cv": 3, "n_permutations": 0, "random_state": 0}
    return skeval.evaluate(*arguments, **(few | options))


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X[:, :2], np.array(["a", "b", "c"])[y]


@pytest.fixture(scope="module")
def of_three(iris):
    return evaluate(GaussianNB(), *iris, cv=10)


@pytest.fixture(scope="module")
def of_two():
    X, y = load_breast_cancer(return_X_y=True)
    keep = np.r_[:60, 200:260]
    return evaluate(GaussianNB(), X[keep, :3], y[keep], cv=10)


@pytest.fixture(scope="module")
def of_numbers():
    X, y = load_diabetes(return_X_y=True)
    return evaluate(Ridge(), X[:120], y[:120], cv=10)


def metric(report, name, label=None):
    return report.metrics[name if label is None else f"{name} of {label}"]


def test_every_sample_is_predicted_once_in_each_repeat_by_a_model_of_the_other_folds(
    iris, of_three
):
    frame = of_three.predictions
    n_repeats = of_three.answer.extra.n_fits // 10
    assert n_repeats >= 2
    assert len(frame) == n_repeats * 150
    assert (frame.groupby(["repeat", "sample"]).size() == 1).all()
    np.testing.assert_array_equal(frame["truth"], iris[1][frame["sample"]])
    X, y = iris
    for repeat in (0, n_repeats - 1):
        part = frame[frame["repeat"] == repeat].sort_values("sample")
        folds = [
            (
                part["sample"][part["fold"] != k].to_numpy(),
                part["sample"][part["fold"] == k].to_numpy(),
            )
            for k in range(10)
        ]
        np.testing.assert_array_equal(
            part["prediction"], cross_val_predict(GaussianNB(), X, y, cv=folds)
        )
        np.testing.assert_allclose(
            part[["score_a", "score_b", "score_c"]],
            cross_val_predict(GaussianNB(), X, y, cv=folds, method="predict_proba"),
        )


def test_the_answer_is_that_of_error_interval_and_of_these_predictions(iris, of_three):
    alone = error_interval(GaussianNB(), *iris, random_state=of_three.seed)
    assert of_three.answer.to_dict() == alone.to_dict()
    frame = of_three.predictions
    assert np.mean(frame["truth"] != frame["prediction"]) == pytest.approx(alone.value, abs=1e-12)
    accuracy = metric(of_three, "accuracy")
    assert accuracy.interval.low == pytest.approx(1 - alone.interval.high, abs=1e-12)


def test_metrics_of_classes_are_those_of_the_pooled_predictions(of_three):
    frame = of_three.predictions
    pooled = frame["truth"], frame["prediction"]
    expected = {
        "balanced_accuracy": sk.balanced_accuracy_score(*pooled),
        "f1_macro": sk.f1_score(*pooled, average="macro"),
        "matthews_corrcoef": sk.matthews_corrcoef(*pooled),
        "cohen_kappa": sk.cohen_kappa_score(*pooled),
        "log_loss": sk.log_loss(frame["truth"], frame[["score_a", "score_b", "score_c"]]),
    }
    for name, value in expected.items():
        assert metric(of_three, name).value == pytest.approx(value, abs=1e-12)
    for name, function in (("precision", sk.precision_score), ("recall", sk.recall_score)):
        for label, value in zip("abc", function(*pooled, average=None), strict=True):
            assert metric(of_three, name, label).value == pytest.approx(value, abs=1e-12)


def test_areas_count_pairs_that_one_model_scored(of_two, of_three):
    frame, weights, positive = of_two.predictions, np.ones(120), of_two.to_dict()["positive"]
    column = f"score_{positive}"
    fits = [
        (part["sample"].to_numpy(), part["truth"].to_numpy() == positive, part[column].to_numpy())
        for _, part in frame.groupby(["repeat", "fold"])
    ]
    expected = area_within_fits(fits, weights)
    assert metric(of_two, "roc_auc").value == pytest.approx(expected, abs=1e-12)
    one = of_three.predictions
    fits = [
        (part["sample"].to_numpy(), part["truth"].to_numpy() == "b", part["score_b"].to_numpy())
        for _, part in one.groupby(["repeat", "fold"])
    ]
    expected = area_within_fits(fits, np.ones(150))
    assert metric(of_three, "roc_auc", "b").value == pytest.approx(expected, abs=1e-12)


def test_brier_score_and_average_precision(of_two):
    frame, positive = of_two.predictions, of_two.to_dict()["positive"]
    frame = frame.assign(positive=frame["truth"] == positive, score=frame[f"score_{positive}"])
    briers, precisions = [], []
    for _, part in frame.groupby("repeat"):
        briers.append(sk.brier_score_loss(part["positive"], part["score"]))
        aligned = without_shifts(part["positive"], part["score"], part["fold"])
        precisions.append(sk.average_precision_score(part["positive"], aligned))
    assert metric(of_two, "brier_score").value == pytest.approx(np.mean(briers), abs=1e-12)
    found = metric(of_two, "average_precision")
    assert found.value == pytest.approx(np.mean(precisions), abs=1e-12)


def test_metrics_of_numbers(of_numbers):
    frame = of_numbers.predictions
    mse = sk.mean_squared_error(frame["truth"], frame["prediction"])
    assert metric(of_numbers, "root_mean_squared_error").value == pytest.approx(mse**0.5)
    r2 = sk.r2_score(frame["truth"], frame["prediction"])
    assert metric(of_numbers, "r2").value == pytest.approx(r2, abs=1e-12)
    answer = of_numbers.answer.interval
    ends = metric(of_numbers, "root_mean_squared_error").interval
    np.testing.assert_allclose((ends.low**2, ends.high**2), (answer.low, answer.high), rtol=1e-9)
    spread = metric(of_numbers, "r2").interval
    assert spread.low < r2 < spread.high < 1


def test_every_interval_holds_its_estimate_and_has_a_width(of_two, of_three, of_numbers):
    for report in (of_two, of_three, of_numbers):
        for each in report.metrics.values():
            assert each.interval.low <= each.value <= each.interval.high, each.name
            assert each.interval.high - each.interval.low > 0.001, each.name


def test_perfect_predictions_are_no_certainty():
    X = np.linspace(0, 1, 60)[:, None] + np.repeat([0.0, 5.0], 30)[:, None]
    report = evaluate(LogisticRegression(), X, np.repeat([0, 1], 30))
    for each in report.metrics.values():
        assert each.interval.low < each.interval.high, each.name
        if each.name not in ("log_loss", "brier_score"):  # those are measured, and vary
            assert each.interval.high - each.interval.low > 0.01, each.name
    assert report.hard_samples.always == 0


def test_confusion_rates_are_wilsons_of_the_classes_over_the_inflation(of_three):
    found, frame = of_three.confusion, of_three.predictions
    table = sk.confusion_matrix(frame["truth"], frame["prediction"])
    table = table / (of_three.answer.extra.n_fits // 10)
    inflation = 150 / of_three.answer.effective_n_samples
    np.testing.assert_allclose(found.counts, table)
    for row in range(3):
        for column in range(3):
            ends = wilson(table[row, column] / 50, 50 / inflation, 0.95)
            np.testing.assert_allclose(
                (found.low[row, column], found.high[row, column]), ends, atol=1e-9
            )


def test_scorers_that_are_named_score_every_test_set(iris):
    report = evaluate(GaussianNB(), *iris, scoring={"mine": "f1_weighted", "own": own_score})
    frame = report.predictions
    scores = [
        sk.f1_score(part["truth"], part["prediction"], average="weighted")
        for _, part in frame.groupby(["repeat", "fold"])
    ]
    found = metric(report, "mine")
    assert found.value == pytest.approx(np.mean(scores), abs=1e-12)
    error = np.std(scores, ddof=1) * np.sqrt(1 / len(scores) + 1 / 2)
    assert found.standard_error == pytest.approx(error, rel=1e-9)
    half = student.isf(0.025, len(scores) - 1) * error
    assert found.interval.low == pytest.approx(np.mean(scores) - half, rel=1e-9)
    assert found.interval.high == pytest.approx(np.mean(scores) + half, rel=1e-9)
    assert metric(report, "own").value == pytest.approx(1 - report.answer.value, abs=1e-12)


def own_score(model, X, y):
    return np.mean(model.predict(X) == y)


def test_samples_that_are_always_wrong_are_found(iris):
    X, y = load_iris(return_X_y=True)
    y = y.copy()
    y[[3, 77]] = [2, 0]  # two wrong labels
    frame = pd.DataFrame(X, index=[f"plant {k}" for k in range(150)])
    report = evaluate(KNeighborsClassifier(), frame, y)
    hard = report.hard_samples
    worst = dict(
        zip(hard.sample.tolist(), zip(hard.name, hard.prediction, strict=True), strict=True)
    )
    assert worst[3] == ("plant 3", "0")
    assert worst[77] == ("plant 77", "2")
    assert (hard.wrong[: hard.always] == 1).all()
    assert "plant 3 (true 2, predicted 0)" in str(report)
    counts = report.predictions.assign(wrong=lambda f: f["truth"] != f["prediction"])
    shares = counts.groupby("sample")["wrong"].mean()
    np.testing.assert_allclose(hard.wrong, shares[hard.sample])
    assert set(hard.sample) == set(shares.index[shares > 0])


def test_subgroups_have_their_error_and_the_difference_from_the_rest(iris):
    X, y = iris
    frame = pd.DataFrame(X, columns=["length", "width"])
    frame["site"] = np.where(
        np.arange(150) % 3 == 0, "north", np.where(X[:, 0] > 6, "east", "west")
    )
    report = evaluate(
        make_pipeline(FromColumns(), GaussianNB()), frame, y, by="site", n_permutations=0
    )
    found, predictions = report.subgroups, report.predictions
    assert list(found) == ["east", "north", "west"]
    sizes = frame["site"].value_counts()
    assert [each.n_samples for each in found.values()] == [sizes[name] for name in found]
    wrong = predictions["truth"] != predictions["prediction"]
    expected = wrong.groupby(frame["site"].to_numpy()[predictions["sample"]]).mean()
    values = [each.value for each in found.values()]
    np.testing.assert_allclose(values, expected[list(found)])

    rest = wrong[frame["site"].to_numpy()[predictions["sample"]] != "north"].mean()
    difference = found.less_the_rest["north"]
    assert difference.value == pytest.approx(found["north"].value - rest)
    assert difference.interval.low < difference.value < difference.interval.high
    assert len(report.to_frame("subgroups")) == 3


class FromColumns(StandardScaler):
    """Takes the numeric columns of a data frame."""

    def fit(self, X, y=None):
        return super().fit(X[["length", "width"]].to_numpy())

    def transform(self, X):
        return super().transform(X[["length", "width"]].to_numpy())


def test_samples_in_order_are_counted_by_blocks_of_time(iris):
    X, y = iris
    order = np.random.default_rng(0).permutation(150)
    report = evaluate(GaussianNB(), X[order], y[order], cv=TimeSeriesSplit(4), by=order % 2)
    assert report.answer.n_groups == report.out_of_fold.cases.n_units == 9
    assert report.out_of_fold.inflation == 1
    assert np.isfinite(metric(report, "balanced_accuracy").interval.low)
    assert report.subgroups[0].n_samples + report.subgroups[1].n_samples == 120
    assert report.predictions["sample"].min() >= 30
    assert "There is no interval" not in str(report)
    assert "nan" not in str(report)


def test_searches_say_what_they_claimed(iris):
    X, y = iris
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 15]}, cv=2)
    folds = StratifiedKFold(5)  # folds that are given are fitted once
    report = evaluate(make_pipeline(StandardScaler(), search), X, y, cv=folds, include="holdout")
    found = report.tuning
    assert found.extra.counts.sum() == 5
    assert found.extra.nested_score == pytest.approx(1 - report.answer.value, abs=1e-12)
    assert found.value == pytest.approx(found.extra.inner_score - found.extra.nested_score)
    assert "held-out samples" in str(report)
    assert evaluate(KNeighborsClassifier(), X, y, cv=folds, include="holdout").tuning is None


def test_weights_count_in_fits_errors_and_metrics(iris):
    X, y = iris
    weight = np.random.default_rng(0).uniform(0.5, 3, 150)
    report = evaluate(GaussianNB(), X, y, sample_weight=weight, n_permutations=5)
    seed = report.seed
    alone = error_interval(GaussianNB(), X, y, n_folds=3, sample_weight=weight, random_state=seed)
    assert report.answer.to_dict() == alone.to_dict()
    frame = report.predictions
    right = frame["truth"] == frame["prediction"]
    expected = np.average(right, weights=weight[frame["sample"]])
    assert metric(report, "accuracy").value == pytest.approx(expected, abs=1e-12)
    balanced = sk.balanced_accuracy_score(
        frame["truth"], frame["prediction"], sample_weight=weight[frame["sample"]]
    )
    assert metric(report, "balanced_accuracy").value == pytest.approx(balanced, abs=1e-12)
    own = GaussianNB().fit(X, y, sample_weight=weight).predict(X) != y
    assert report["resubstitution"].value == pytest.approx(np.average(own, weights=weight))


def test_scorers_have_names_of_their_own(iris):
    scorers = [sk.make_scorer(sk.accuracy_score), sk.make_scorer(sk.accuracy_score), "f1_macro"]
    report = evaluate(GaussianNB(), *iris, scoring=scorers)
    names = [m for m, each in report.metrics.items() if each.extra.label is None]
    assert len(names) == len(set(names))
    assert {"accuracy_score 0", "accuracy_score 1"} <= set(names)
    with pytest.raises(ValueError, match="must not have the name 'error'"):
        evaluate(GaussianNB(), *iris, scoring={"error": own_score})
    with pytest.raises(TypeError, match="must return one number"):
        evaluate(GaussianNB(), *iris, scoring={"two": two_scores})


def two_scores(model, X, y):
    return {"a": 1.0, "b": 2.0}


@each_value
@pytest.mark.parametrize("names", [("no", "yes"), ("survived", "died"), (0, 1), (2, 1)], ids=str)
@pytest.mark.parametrize("model", [LogisticRegression(), SVC()], ids=["proba", "decision"])
def test_the_rarer_class_is_positive_unless_specified(names, model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    rare = X[:, 0] + rng.normal(size=200) > 1.3
    y = np.where(rare, names[1], names[0])
    options = {"include": [], "cv": 3, "random_state": 0}
    precisions = []
    for pos_label, positive in [(None, names[1]), (names[0], names[0])]:
        quoted = f'"{positive}"' if isinstance(positive, str) else positive
        report = skeval.evaluate(model, X, y, pos_label=pos_label, **options)
        frame = report.predictions
        expected = [
            sk.average_precision_score(part["truth"] == positive, part[f"score_{positive}"])
            for _, part in frame.groupby("repeat")
        ]
        precisions.append(report.metrics["average_precision"].value)
        assert precisions[-1] == pytest.approx(np.mean(expected), abs=0.1)
        assert report.to_dict()["positive"] == positive
        assert f"average precision (class {quoted})" in str(report)
        captions = [figure.caption for one in report.sections for figure in one.figures]
        assert any(f"The positive class is {quoted}." in text for text in captions)
    assert precisions[0] < 0.8 < precisions[1]


@pytest.mark.parametrize("names", [("no", "yes"), (0, 1), ("-", "+"), (False, True), (-1.0, 1.0)])
def test_a_class_with_a_positive_name_is_positive_even_if_it_is_common(names):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = np.where(X[:, 0] + rng.normal(size=120) > -1.3, names[1], names[0])
    assert np.mean(y == names[1]) > 0.7
    report = skeval.evaluate(GaussianNB(), X, y, include=[], cv=3, random_state=0)
    assert report.to_dict()["positive"] == names[1]


def test_rounding_of_a_constant_metric_does_not_widen_its_interval():
    """The recall of a class that is always predicted is 1 in every repeat, up to rounding."""
    rng = np.random.default_rng(0)
    y = np.where(rng.permutation(120) < 14, "dead", "alive")
    report = skeval.evaluate(
        DummyClassifier(), rng.normal(size=(120, 2)), y, include=(), random_state=0
    )
    recall = report.metrics["recall of alive"]
    assert recall.value == pytest.approx(1)
    assert recall.interval.low > 0.95


@pytest.mark.parametrize("alone", [True, False])
def test_curves_of_ranks_need_a_test_set_with_both_classes(alone):
    """Scores of different models are not comparable, so their ranks are not pooled."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 2
    report = evaluate(GaussianNB(), X, y, cv=LeaveOneOut() if alone else 3)
    labels = " ".join(each.label for part in report.sections for each in part.figures)
    for name, curve in (("roc_auc", "ROC curve"), ("average_precision", "precision-recall curve")):
        assert np.isnan(report.metrics[name].value) == alone
        assert (curve in labels) != alone
    assert "Calibration" in labels


def test_names_of_metrics_are_those_that_mlflow_accepts(iris):
    X, _ = iris
    y = np.resize(["<50K", ">50K", "n/a", "50, or more", "50? or more"], len(X))
    report = evaluate(GaussianNB(), X, y, scoring=sk.make_scorer(sk.accuracy_score), cv=3)
    assert all(re.fullmatch(r"[\w./ -]+", name) for name in report.metrics)
    labels = [one.extra.label for one in report.metrics.values() if one.extra.metric == "recall"]
    assert sorted(labels) == sorted(set(y))
