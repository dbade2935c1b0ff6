"""Intervals of scores: one set of fits, any scorer, and the errors that some scores are."""

import warnings
from functools import partial

import numpy as np
import pytest
from helpers.folds import note_splits
from helpers.jobs import FailsWithout
from numpy.testing import assert_allclose
from reference.intervals import mean, variance
from scipy.stats import t
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import (
    accuracy_score,
    confusion_matrix,
    f1_score,
    get_scorer,
    hamming_loss,
    make_scorer,
    mean_squared_error,
    r2_score,
    roc_auc_score,
)
from sklearn.model_selection import LeaveOneOut
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

import skeval
from skeval.model_selection import (
    Estimate,
    bootstrap_score,
    error_interval,
    feature_importance,
    learning_curve_band,
    permutation_test,
    score_interval,
)

ROWS = np.random.default_rng(0).choice(569, 80, replace=False)
X, Y = (table[ROWS] for table in load_breast_cancer(return_X_y=True))
X = X[:, :4]
X_NUMBERS, NUMBERS = (table[:60] for table in load_diabetes(return_X_y=True))
BAYES = GaussianNB()
SMALL = {
    "corrected_t": {"n_repeats": 8, "test_size": 0.2},
    "repeated_cv": {"n_folds": 3, "n_repeats": 2},
}


def area(model, X, y):
    return roc_auc_score(y, model.predict_proba(X)[:, 1])


def areas_of(splits):
    return [area(GaussianNB().fit(X[train], Y[train]), X[test], Y[test]) for train, test in splits]


@pytest.mark.parametrize("scoring", ["roc_auc", area], ids=["name", "function"])
def test_corrected_t(scoring):
    result = score_interval(
        BAYES,
        X,
        Y,
        scoring=scoring,
        method="corrected_t",
        n_repeats=8,
        test_size=0.2,
        random_state=2,
    )
    drawn = {"method": "corrected_t", "random_state": 2, **SMALL["corrected_t"]}
    splits = note_splits(error_interval, Y, **drawn)
    areas = areas_of(splits)
    assert [len(test) for _, test in splits] == [16] * 8
    error = np.sqrt(variance(areas) * (1 / 8 + 16 / 64))
    assert_allclose(result.replicates, areas, rtol=1e-12)
    assert_allclose([result.value, result.standard_error], [mean(areas), error], rtol=1e-12)
    half = t.ppf(0.975, 7) * error
    low, high = mean(areas) - half, mean(areas) + half
    high = min(high, 1) if scoring == "roc_auc" else high
    assert_allclose([*result.interval], [low, high], rtol=1e-12)
    assert result.name == ("roc_auc" if scoring == "roc_auc" else "area()")


@pytest.mark.parametrize("method", SMALL)
def test_accuracy_is_one_minus_the_error(method):
    options = {"method": method, "random_state": 4, **SMALL[method]}
    score = score_interval(BAYES, X, Y, scoring="accuracy", **options)
    error = error_interval(BAYES, X, Y, **options)
    assert_allclose(score.value, 1 - error.value, rtol=1e-12)
    assert_allclose(score.standard_error, error.standard_error, rtol=1e-9)
    assert_allclose(score.interval.low, 1 - error.interval.high, rtol=1e-9)
    assert_allclose(score.interval.high, 1 - error.interval.low, rtol=1e-9)
    assert score.extra.n_fits == error.extra.n_fits
    for form in score.interval_methods:
        assert_allclose(
            score.confidence_interval(0.8, form).low,
            1 - error.confidence_interval(0.8, form).high,
            rtol=1e-9,
        )


@pytest.mark.parametrize("method", SMALL)
def test_mean_losses_are_errors(method):
    options = {"method": method, "random_state": 4, **SMALL[method]}
    scoring = ["neg_mean_squared_error", "neg_mean_absolute_error"]
    scores = score_interval(Ridge(), X_NUMBERS, NUMBERS, scoring=scoring, **options)
    for name, loss in zip(scoring, ("squared", "absolute"), strict=True):
        error = error_interval(Ridge(), X_NUMBERS, NUMBERS, loss=loss, **options)
        assert_allclose(scores[name].value, -error.value, rtol=1e-10)
        assert_allclose(scores[name].interval.low, -error.interval.high, rtol=1e-9)


@pytest.mark.parametrize(
    "options",
    [{"method": "corrected_t", "n_repeats": 6, "test_size": 0.25}, {"n_folds": 3, "n_repeats": 2}],
    ids=lambda options: options.get("method", "repeated_cv"),
)
def test_several_scores_take_the_fits_of_one(options):
    n_fits = []

    class Counting(GaussianNB):
        def fit(self, X, y):
            n_fits.append(1)
            return super().fit(X, y)

    scoring = {"area": "roc_auc", "F": make_scorer(f1_score, pos_label=0), "right": "accuracy"}
    options = options | {"random_state": 0}
    results = score_interval(Counting(), X, Y, scoring=scoring, **options)
    assert len(n_fits) == 6
    assert list(results) == ["area", "F", "right"]
    assert [result.name for result in results.values()] == ["roc_auc", "F()", "accuracy"]
    for name, scorer in scoring.items():
        alone = score_interval(BAYES, X, Y, scoring=scorer, **options)
        assert isinstance(alone, Estimate)
        assert (alone.value, alone.interval) == (results[name].value, results[name].interval)


def test_default_scores():
    assert score_interval(BAYES, X, Y, n_repeats=3, random_state=0).name == "accuracy"
    result = score_interval(Ridge(), X_NUMBERS, NUMBERS, method="corrected_t", random_state=0)
    assert result.name == "r2"
    assert result.interval.high <= 1
    splits = note_splits(error_interval, NUMBERS, method="corrected_t", random_state=0)
    assert [len(test) for _, test in splits] == [6] * 50
    expected = [
        r2_score(NUMBERS[test], Ridge().fit(X_NUMBERS[a], NUMBERS[a]).predict(X_NUMBERS[test]))
        for a, test in splits
    ]
    assert_allclose(result.replicates, expected, rtol=1e-10)


def test_repeated_cross_validation_scores_all_samples_together():
    options = {"n_folds": 4, "n_repeats": 3, "random_state": 5}
    scoring = ["roc_auc", "f1", "f1_macro", "precision", "recall", "balanced_accuracy"]
    found = score_interval(BAYES, X, Y, scoring=scoring, **options)
    weighted = {"sample_weight": np.repeat([1.0, 3.0], 40)}
    told = score_interval(BAYES, X, Y, scoring=["f1"], **weighted, **options)["f1"]
    assert told.value != found["f1"].value
    tables, areas, pairs = np.zeros((3, 2, 2)), 0.0, 0
    for fit, (train, test) in enumerate(note_splits(error_interval, Y, **options)):
        model = GaussianNB().fit(X[train], Y[train])
        tables[fit // 4] += confusion_matrix(Y[test], model.predict(X[test]))
        n_pairs = np.prod(np.bincount(Y[test]))
        areas, pairs = areas + n_pairs * area(model, X[test], Y[test]), pairs + n_pairs
    assert_allclose(found["roc_auc"].value, areas / pairs, rtol=1e-12)
    (right, wrong), (missed, hit) = tables.sum(axis=0)
    assert_allclose(found["f1"].value, 2 * hit / (2 * hit + wrong + missed), rtol=1e-12)
    assert_allclose(found["precision"].value, hit / (hit + wrong), rtol=1e-12)
    assert_allclose(found["recall"].value, hit / (hit + missed), rtol=1e-12)
    macro = hit / (2 * hit + wrong + missed) + right / (2 * right + wrong + missed)
    assert_allclose(found["f1_macro"].value, macro, rtol=1e-12)
    for name, each in found.items():
        assert 0 < each.interval.low < each.value < each.interval.high < 1, name
        assert (each.name, each.n_samples, each.extra.n_fits) == (name, 80, 12)


def test_repeated_cross_validation_of_numbers():
    scoring = ["r2", "neg_root_mean_squared_error", "neg_mean_absolute_percentage_error"]
    options = {"n_folds": 4, "n_repeats": 3, "random_state": 5}
    found = score_interval(Ridge(), X_NUMBERS, NUMBERS, scoring=scoring, **options)
    squares, percentages = [], []
    for train, test in note_splits(error_interval, NUMBERS, **options):
        predicted = Ridge().fit(X_NUMBERS[train], NUMBERS[train]).predict(X_NUMBERS[test])
        squares += [*(NUMBERS[test] - predicted) ** 2]
        percentages += [*np.abs(1 - predicted / NUMBERS[test])]
    assert_allclose(found["r2"].value, 1 - np.mean(squares) / np.var(NUMBERS), rtol=1e-10)
    root, share = found["neg_root_mean_squared_error"], found["neg_mean_absolute_percentage_error"]
    assert_allclose(root.value, -np.sqrt(np.mean(squares)), rtol=1e-10)
    assert_allclose(share.value, -np.mean(percentages), rtol=1e-10)
    for loss in (root, share):
        assert loss.interval.low < loss.value < loss.interval.high < 0


def test_areas_of_several_classes_compare_samples_of_a_test_set():
    """A test set without the rare class counts for the other classes."""
    X3, y = load_iris(return_X_y=True)
    kept = np.r_[0:40, 50:80, 100:103]
    X3, y = X3[kept, :2], y[kept]
    options = {"n_folds": 5, "n_repeats": 3, "random_state": 5}
    found = score_interval(BAYES, X3, y, scoring="roc_auc_ovr", **options)
    wins, pairs = np.zeros(3), np.zeros(3)
    for train, test in note_splits(error_interval, y, **options):
        scores = GaussianNB().fit(X3[train], y[train]).predict_proba(X3[test])
        for label in range(3):
            own, other = (scores[side, label] for side in (y[test] == label, y[test] != label))
            lead = own[:, None] - other
            wins[label] += np.sum((lead > 0) + 0.5 * (lead == 0))
            pairs[label] += lead.size
    assert_allclose(found.value, np.mean(wins / pairs), rtol=1e-12)
    assert 0 < found.interval.low < found.value < found.interval.high <= 1
    assert found.extra.n_undefined == 0


@pytest.mark.parametrize(
    ("model", "y", "scoring"),
    [
        (Ridge(), np.zeros(80), "r2"),
        (DummyClassifier(), Y, "roc_auc"),
        (DummyClassifier(), 1 - Y, "precision"),
    ],
)
def test_what_is_undefined_has_no_interval_and_says_so(model, y, scoring):
    with pytest.warns(UndefinedMetricWarning, match=f"scoring '{scoring}' is .* has no interval"):
        result = score_interval(model, X, y, scoring=scoring, n_repeats=2, random_state=0)
    assert np.isnan(result.interval.low)
    assert result.value == (0.5 if scoring == "roc_auc" else pytest.approx(np.nan, nan_ok=True))


@pytest.mark.parametrize("labels", [("a", "b"), (1, 2), (False, True)])
def test_the_positive_class_is_that_of_the_scorer(labels):
    y = np.array(labels)[Y]
    options = {"n_folds": 4, "n_repeats": 2, "random_state": 5}
    area = score_interval(BAYES, X, y, scoring="roc_auc", **options)
    assert area.value == score_interval(BAYES, X, Y, scoring="roc_auc", **options).value
    for scoring in ("f1", "average_precision"):
        if labels == ("a", "b"):  # the scorer of scikit-learn wants a class 1
            with pytest.raises(ValueError, match="pos_label"):
                score_interval(BAYES, X, y, scoring=scoring, **options)
            continue
        found = score_interval(BAYES, X, y, scoring=scoring, **options)
        second = score_interval(BAYES, X, Y, scoring=scoring, **options)
        if labels == (1, 2):  # class 1 is the first, and so a score of each test set
            scorer = {"own": make_scorer(f1_score, pos_label=0)}
            first = score_interval(BAYES, X, Y, scoring=scorer, **options)["own"]
            assert scoring != "f1" or found.value == first.value
            assert found.value != second.value
        else:
            assert (found.value, found.interval) == (second.value, second.interval)


def test_undefined_scores_are_told():
    y = (np.arange(80) < 6).astype(int)
    with (
        pytest.warns(UndefinedMetricWarning, match=r"scoring 'roc_auc' is undefined for \d+ of 20"),
        pytest.warns(UndefinedMetricWarning, match="Only one class"),
    ):
        result = score_interval(
            BAYES,
            X,
            y,
            scoring="roc_auc",
            method="corrected_t",
            n_repeats=20,
            test_size=0.05,
            random_state=0,
        )
    assert 0 < result.extra.n_undefined < 20
    assert np.isfinite([result.value, result.interval.low]).all()
    assert "undefined " in str(result)


def test_a_score_that_never_varies_has_no_interval():
    apart = X + 1e4 * Y[:, None]
    with pytest.warns(UndefinedMetricWarning, match="both of its limits are 1"):
        result = score_interval(
            LogisticRegression(),
            apart,
            Y,
            scoring="roc_auc",
            method="corrected_t",
            n_repeats=5,
            random_state=0,
        )
    assert result.value == 1
    assert np.isnan(result.interval.low)
    scores = score_interval(
        LogisticRegression(),
        apart,
        Y,
        scoring=["accuracy", "roc_auc", "f1"],
        n_repeats=3,
        random_state=0,
    )
    for right in scores.values():
        assert right.value == 1
        assert 0.85 < right.interval.low < right.interval.high == 1


def test_scores_of_probabilities_are_their_losses():
    X, y = load_iris(return_X_y=True)
    scores = {"neg_log_loss": "log_loss", "neg_brier_score": "brier"}
    options = {"random_state": 0}
    found = score_interval(GaussianNB(), X, y, scoring=list(scores), **options)
    for name, loss in scores.items():
        error = error_interval(GaussianNB(), X, y, loss=loss, **options)
        assert found[name].value == -error.value
        low, high = error.interval.low, error.interval.high
        assert tuple(found[name].interval) == (-high, -low)
    with pytest.raises(ValueError, match=r"scoring=.neg_log_loss. needs .* which SVC lacks"):
        score_interval(SVC(), X, y, scoring="neg_log_loss", **options)


@pytest.mark.parametrize("name", ["neg_log_loss", "roc_auc", "f1_macro", "accuracy"])
@pytest.mark.parametrize("function", [score_interval, bootstrap_score, permutation_test])
def test_a_scorer_is_what_its_name_is(function, name):
    sizes = {"random_state": 0}
    if function is not score_interval:
        key = "n_resamples" if function is bootstrap_score else "n_permutations"
        sizes[key] = 19
    by_name, by_scorer = (
        function(BAYES, X, Y, scoring=scoring, **sizes) for scoring in (name, get_scorer(name))
    )
    if function is permutation_test:
        assert by_scorer.pvalue == by_name.pvalue
        assert by_scorer.name.startswith("neg_") == name.startswith("neg_")
        return
    assert str(by_scorer) == str(by_name)


@pytest.mark.parametrize("method", ["corrected_t", "repeated_cv", "bootstrap", "learning curve"])
def test_a_scorer_has_the_range_of_its_metric(method):
    """Intervals of easy classes end at the best score, whatever way the scorer was made."""
    y = np.where(Y == 1, "yes", "no")
    f1 = make_scorer(f1_score, pos_label="yes")
    wrong = make_scorer(hamming_loss, greater_is_better=False)
    right = make_scorer(accuracy_score, normalize=False)
    for scoring, bounds in ((f1, (0, 1)), (wrong, (-1, 0)), (right, (-np.inf, np.inf))):
        options = {"scoring": scoring, "random_state": 0}
        if method == "learning curve":
            curve = learning_curve_band(BAYES, X, y, cv=5, n_repeats=1, **options)
            assert bounds[0] <= np.min(curve.low) <= np.max(curve.high) <= bounds[1]
            continue
        run = partial(score_interval, method=method)
        run = partial(bootstrap_score, n_resamples=20) if method == "bootstrap" else run
        found = run(BAYES, X, y, **options)
        assert found.name == f"{'neg_' * (scoring is wrong)}{scoring._score_func.__name__}()"
        assert found.bounds == bounds
        for level in (0.5, 0.999):
            low, high = found.confidence_interval(level)
            assert bounds[0] <= low <= found.value <= high <= bounds[1]


@pytest.mark.parametrize("answer", [None, "0.5", np.ones(2), {"a": 1.0}], ids=repr)
def test_a_score_is_one_number(answer):
    for function in (score_interval, bootstrap_score, learning_curve_band):
        with pytest.raises(TypeError, match="must return one number"):
            function(BAYES, X, Y, scoring=lambda model, X, y: answer)
    for function in (feature_importance, learning_curve_band):
        with pytest.raises(TypeError, match=r"one name or one callable, got \['f1', 'roc_auc'\]"):
            function(BAYES, X, Y, scoring=["f1", "roc_auc"])


def test_two_classes_are_ranked_by_decision_values():
    """Platt's probabilities do not change the area: with and without them it is the same."""
    X = np.random.default_rng(0).normal(size=(60, 20))
    y = np.random.default_rng(1).integers(0, 2, 60)
    options = {"scoring": "roc_auc", "n_folds": 5, "n_repeats": 2, "random_state": 0}
    plain = score_interval(SVC(), X, y, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # probability= of new scikit-learn
        platt = score_interval(SVC(probability=True, random_state=0), X, y, **options)
    assert platt.value == pytest.approx(plain.value)
    assert [*platt.interval] == pytest.approx([*plain.interval])


@pytest.mark.parametrize("name", ["roc_auc", "average_precision"])
def test_a_metric_of_ranks_compares_within_test_sets(name):
    """A shift of the scores of each model changes nothing; single samples cannot be ranked."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.repeat([0, 1], [36, 24])
    few = {"include": [], "random_state": 0}
    left_out = skeval.evaluate(LogisticRegression(C=1e-6), X, y, cv=LeaveOneOut(), **few)
    assert np.isnan(left_out.metrics[name].value)
    plain = skeval.evaluate(PlainLogistic(), X, y, **few).metrics[name]
    moved = skeval.evaluate(ShiftedLogistic(), X, y, **few).metrics[name]
    assert moved.value == pytest.approx(plain.value)
    assert [*moved.interval] == pytest.approx([*plain.interval])


class ShiftedLogistic(LogisticRegression):
    """A logistic regression whose decision values have another origin in each fit."""

    size = 10

    def fit(self, X, y):
        self.shift_ = self.size * float(np.sin(1e3 * np.sum(X)))
        return super().fit(X, y)

    def decision_function(self, X):
        return super().decision_function(X) + self.shift_

    def predict(self, X):
        return self.classes_[(LogisticRegression.decision_function(self, X) > 0).astype(int)]


class PlainLogistic(ShiftedLogistic):
    size = 0


def refuse(model, X, y):
    raise ValueError("no price for this sample")


def test_a_failing_scorer_is_named_and_leaves_the_others():
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int)
    scoring = {"accuracy": "accuracy", "revenue": refuse}
    few = {"random_state": 0}
    for function in (score_interval, partial(skeval.evaluate, include=[])):
        with pytest.raises(ValueError, match=r"revenue.*no price for this sample"):
            function(LogisticRegression(), X, y, scoring=scoring, **few)
    with pytest.warns(UndefinedMetricWarning, match="revenue"):
        found = score_interval(
            LogisticRegression(), X, y, scoring=scoring, error_score=np.nan, **few
        )
    assert found["accuracy"].value > 0.9
    assert np.isnan(found["revenue"].value)
    report = skeval.evaluate(
        LogisticRegression(), X, y, scoring=scoring, error_score=np.nan, include=[], **few
    )
    assert np.isnan(report.metrics["revenue"].value)
    assert any("revenue" in str(caution) for caution in report.warnings)


@pytest.mark.filterwarnings("ignore:3 of 15 fits failed")
def test_fits_that_fail_are_counted_and_left_out():
    """The first sample is once in the test set of each repeat."""
    X, y = np.arange(40.0)[:, None], np.arange(40) % 2
    options = {"n_folds": 5, "n_repeats": 3, "random_state": 0, "error_score": np.nan}
    with pytest.warns(UndefinedMetricWarning, match="'accuracy' is undefined for 3 of 15 fits"):
        found = score_interval(FailsWithout(), X, y, scoring="accuracy", **options)
    assert (found.extra.n_undefined, found.extra.n_fits) == (3, 15)


@pytest.mark.parametrize("function", [score_interval, permutation_test])
def test_a_loss_is_refused_as_a_score(function):
    X = np.random.default_rng(0).normal(size=(30, 2))
    options = {"random_state": 0}
    with pytest.raises(ValueError, match="scoring must be larger for better models, but mean_sq"):
        function(Ridge(), X, X[:, 0], scoring=make_scorer(mean_squared_error), **options)
    negated = make_scorer(mean_squared_error, greater_is_better=False)
    found = [
        function(Ridge(), X, X[:, 0], scoring=scoring, **options)
        for scoring in (negated, "neg_mean_squared_error")
    ]
    values = [getattr(one, "value", getattr(one, "statistic", None)) for one in found]
    assert values[0] == pytest.approx(values[1])


def test_the_interval_of_r2_excludes_0_if_the_error_is_surely_below_that_of_the_mean():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    z = X[:, 0] + 0.3 * rng.normal(size=100)
    assert score_interval(Ridge(), X, z, scoring="r2", random_state=0).interval.low > 0
    noise = rng.permutation(z)
    assert score_interval(Ridge(), X, noise, scoring="r2", random_state=0).interval.low < 0
