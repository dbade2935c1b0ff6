"""Baselines, rare classes, tests against chance, undetermined least squares."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student
from sklearn.datasets import load_diabetes
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import LeaveOneOut, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import skeval
from skeval.model_selection import permutation_test
from skeval.report._findings import judge

FEW = {"cv": 3, "include": [], "random_state": 0}


@pytest.mark.parametrize(
    ("sizes", "label"),
    [
        ({"a": 19, "b": 81}, "a"),
        ({"a": 20, "b": 80}, None),
        ({"a": 18, "b": 41, "c": 41}, "a"),
        ({"a": 18, "b": 22, "c": 30, "d": 30}, None),  # more than half of the largest class
        ({"a": 0, "b": 19, "c": 81}, "b"),
    ],
)
def test_a_class_is_rare_below_a_fifth_and_half_of_the_largest(sizes, label):
    y = np.repeat(list(sizes), list(sizes.values()))
    rng, classes = np.random.default_rng(0), np.array(list(sizes))
    predicted = np.where(rng.random(len(y)) < 0.7, y, rng.choice(classes, len(y)))
    rare = skeval.evaluate_predictions(y, predicted).rare_class
    assert (rare and rare.label) == label
    if rare:
        assert rare.share == sizes[label] / sum(sizes.values())
        n_classes = sum(size > 0 for size in sizes.values())
        assert (rare.metric, rare.chance) == ("balanced_accuracy", 1 / n_classes)


def test_a_rare_class_has_the_area_of_its_scores_and_matters_to_the_error_rate():
    y = np.arange(100) < 19
    score = y + np.random.default_rng(0).uniform(-0.6, 0.6, 100)
    rare = skeval.evaluate_predictions(y, score, threshold=0.5).rare_class
    assert (rare.label, rare.metric, rare.chance) == ("True", "roc_auc", 0.5)
    # the loss of probabilities is Brier's, that of scores without a threshold the area
    for answer in (1 / (1 + np.exp(-score)), score):
        assert skeval.evaluate_predictions(y, answer).rare_class is None
    with pytest.raises(ValueError, match="at least two classes"):
        skeval.evaluate_predictions(["a"] * 100, ["a"] * 100)


@pytest.mark.parametrize(
    ("n", "shift", "result"), [(10, 3, "powerless"), (99, 3, "shown"), (99, 0, "denied")]
)
def test_a_permutation_test_decides_with_enough_permutations(n, shift, result):
    rng = np.random.default_rng(2)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 1)) + shift * y[:, None]
    model = skeval.svm.PerturbationResamplingSVC(n_resamples=0)
    report = skeval.evaluate(LogisticRegression(), X, y, **FEW)
    test = permutation_test(model, X, y, cv=2, n_permutations=n, random_state=0)
    assert judge(replace(report, permutation=test)).permutation == result
    assert judge(replace(report, permutation=None))[4:6] == ("", "")
    # a test that stopped has decided, whatever its Monte Carlo error
    test = permutation_test(model, X, y, cv=2, n_permutations=n, alpha=0.05, random_state=0)
    decided = {"shown"} if test.pvalue <= 0.05 else {"denied"}
    expected = decided if test.stopped else {result}
    assert judge(replace(report, permutation=test)).permutation in expected


def test_differences_of_error_rates_do_not_exceed_one():
    X, y = np.random.default_rng(1).normal(size=(5, 4)), np.array([0, 1, 0, 1, 1])
    model = LogisticRegression()
    baseline = skeval.evaluate(model, X, y, include=[], random_state=0).baseline
    assert -1 <= baseline.low <= baseline.high <= 1
    numbers = skeval.evaluate(LinearRegression(), X, 100.0 * y, include=[], random_state=0)
    assert numbers.baseline.high > 1


QUICK = {"n_permutations": 0, "random_state": 0}


def test_the_guess_is_compared_on_the_same_samples():
    X, y = load_diabetes(return_X_y=True)
    for loss in ("squared", "absolute"):
        report = skeval.evaluate(Ridge(), X, y, loss=loss, **QUICK)
        found, frame = report.baseline, report.out_of_fold
        # the mean of the training samples, or the median of all
        constant = np.full(len(frame.row), np.sort(y)[(len(y) - 1) // 2])
        if loss == "squared":
            for fit in np.unique(frame.fit):
                own = frame.fit == fit
                constant[own] = np.delete(y, frame.row[own]).mean()
        own = np.abs(y[frame.row] - constant) ** (2 if loss == "squared" else 1)
        assert found.error == pytest.approx(own.mean(), rel=1e-12)
        assert found.difference == pytest.approx(report.answer.value - own.mean(), rel=1e-9)
        # variance of the mean difference: that within a repeat, inflated
        lost = (frame.loss - own).reshape(-1, len(y))
        inflation = len(y) / report.answer.effective_n_samples
        variance = inflation * np.var(lost, axis=1, ddof=1).mean() / len(y)
        reach = student.isf(0.025, len(y) / inflation - 1) ** 2 * variance
        # Student's interval, or the roots x = D - D0 of x^2 = t^2 se^2 (S + x) / S
        spread = np.mean((frame.predicted - constant) ** 2) if loss == "squared" else np.inf
        # variance of the predictions between two repeats, as a jackknife of tenths
        first, second = (frame.predicted - constant)[np.argsort(frame.row)].reshape(-1, 2).T
        noise = np.mean((first - second) ** 2) / 2 * (len(y) - 1) / (len(y) / 10 - 1)
        if spread + found.difference < 0:  # a variance that is possible at no difference
            spread = np.inf
        roots = np.roots([1, -reach / spread, -reach * max(1, (noise - found.difference) / spread)])
        ends = np.sort(found.difference - roots)
        np.testing.assert_allclose([found.low, found.high], ends, rtol=1e-9)


@given(st.integers(0, 2**32), st.integers(12, 60), st.floats(0, 2), st.booleans())
@settings(max_examples=20)
def test_the_explained_variance_excludes_zero_if_the_difference_does(seed, n, slope, grouped):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = slope * X[:, 0] + rng.normal(size=n) + 100
    groups = np.arange(n) // 2 if grouped else None
    report = skeval.evaluate(Ridge(), X, y, include=[], groups=groups, cv=3, **QUICK)
    explained, (low, high) = report.metrics["r2"].value, report.metrics["r2"].interval
    relation = report.baseline.relation
    assert low <= explained <= high
    assert (relation == "better") == (low > 0) or explained <= 0
    assert (relation == "worse") == (high < 0)


@pytest.mark.parametrize("seed", range(3))
def test_the_interval_of_the_explained_variance_has_its_standard_error(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    report = skeval.evaluate(Ridge(), X, y, include=[], **QUICK)
    explained = report.metrics["r2"]
    assert explained.interval.low < 0
    # Student's interval of the logarithm of the unbiased ratio
    ratio = (1 - explained.value) * (1 - 1 / 40)
    quantile = student.ppf(0.975, 40 / report.out_of_fold.inflation - 1)
    high = ratio * np.exp(quantile * explained.standard_error / ratio)
    assert explained.interval.low == pytest.approx(1 - high)


def test_a_dummy_regressor_is_its_baseline():
    X, y = load_diabetes(return_X_y=True)
    weight = np.arange(1, len(y) + 1)
    report = skeval.evaluate(DummyRegressor(), X, y, sample_weight=weight, include=[], **QUICK)
    assert report.baseline.relation == "same"
    assert report.baseline.error == pytest.approx(report.answer.value, rel=1e-12)


@pytest.mark.parametrize("numbers", [False, True])
def test_a_model_that_is_worse_than_the_baseline_has_other_advice_than_an_equal_one(numbers):
    X, y = np.zeros((60, 1)), np.arange(60) % 3 // 2
    found = {}
    for relation, answer in (("same", 0), ("worse", 1)):
        rule = DummyClassifier(strategy="constant", constant=answer)
        if numbers:
            rule = DummyRegressor(strategy="constant", constant=5) if answer else DummyRegressor()
        report = skeval.evaluate(rule, X, y.astype(float) if numbers else y, **FEW)
        assert report.baseline.relation == relation
        (found[relation],) = (one for one in report.warnings if one.code == "baseline")
    assert found["same"].title == "Same as the baseline"
    assert found["worse"].title == "Worse than the baseline"
    assert found["worse"].advice.startswith("Do not use" if numbers else "Use the model only if")
    assert found["same"].advice.startswith("Try")


@pytest.mark.parametrize(
    ("options", "design", "estimated"),
    [
        (
            {"cv": ShuffleSplit(4, test_size=0.2, random_state=0)},
            "cross-validation with 4 folds",
            False,
        ),
        ({"cv": LeaveOneOut()}, "cross-validation with 40 folds", False),
        ({"cv": [(np.arange(30), np.arange(30, 40))]}, "a hold-out of 25 %", None),
        ({"cv": 4}, "2 repeats of 4-fold cross-validation", True),
        ({"cv": 4, "groups": np.arange(40) // 2}, "2 repeats of 4-fold cross-", False),
        ({"time": np.arange(40)}, "cross-validation with 10 folds", None),
    ],
)
def test_given_folds_are_counted_and_an_estimated_factor_has_its_source(options, design, estimated):
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = X[:, 0] + np.random.default_rng(1).normal(size=40)
    report = skeval.evaluate(Ridge(), X, y, include=[], random_state=0, **options)
    methods = report.to_methods()
    assert f" by {design}" in methods
    assert f"({design}" in " ".join(report.basis) or estimated is None
    assert ("Grandvalet" in methods) == bool(estimated)
    assert ("Variances of means were multiplied" in methods) == (estimated is not None)


def test_least_squares_of_as_many_features_as_samples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 120))
    y = X[:, 0] + rng.normal(size=60)

    def warned(estimator, n_features):
        report = skeval.evaluate(estimator, X[:, :n_features], y, cv=2, include=[], **QUICK)
        return "undetermined" in {warning.code for warning in report.warnings}

    least = LinearRegression()
    assert [n for n in (1, 30, 56, 57, 60, 69, 70, 120) if warned(least, n)] == [57, 60, 69]
    chosen = make_pipeline(StandardScaler(), SelectKBest(f_regression, k=60), least)
    assert warned(chosen, 120)
    assert not warned(chosen.set_params(selectkbest__k=30), 60)
    assert warned(make_pipeline(PolynomialFeatures(2), least), 10)  # 66 with the squares
    assert not any(warned(rule, 60) for rule in (Ridge(), LinearRegression(positive=True)))


def test_both_tests_must_show_that_a_system_is_better():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 2)) + 3 * y[:, None]
    report = skeval.evaluate(LogisticRegression(), X, y, **FEW)
    options = {"cv": 2, "n_permutations": 99, "random_state": 0}
    noise = permutation_test(LogisticRegression(), rng.normal(size=(60, 1)), y, **options)
    denied = replace(report, permutation=noise)
    assert judge(denied).permutation == "denied"
    assert judge(report).relation == "better"
    assert judge(denied)[:3] == ("open", "", "shuffled labels")


@pytest.mark.parametrize("seed", [0, 1])
def test_a_recall_has_one_interval_in_a_report(seed):
    """The diagonal of the confusion matrix and the table of classes show the same rates."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 120)
    X = rng.normal(size=(120, 5)) + np.eye(5)[0] * y[:, None]
    report = skeval.evaluate(DecisionTreeClassifier(random_state=0), X, y, random_state=0)
    recalls = [one for one in report.metrics.values() if one.extra.metric == "recall"]
    confusion = report.confusion
    assert len(recalls) == 2
    for code, recall in enumerate(recalls):
        shown = confusion.rates[code, code], confusion.low[code, code], confusion.high[code, code]
        assert shown == pytest.approx((recall.value, *recall.interval), abs=0.01)


@pytest.mark.parametrize("seed", [0, 7, 10])
def test_accuracy_and_balanced_accuracy_of_balanced_classes_have_intervals_alike(seed):
    """They are the same number, so the noise between a few repeats must not widen only one."""
    rng = np.random.default_rng(seed)
    y = np.arange(100) % 2
    X = rng.normal(size=(100, 10)) + 0.3 * y[:, None]
    report = skeval.evaluate(LogisticRegression(), X, y, include=[], random_state=seed)
    plain, balanced = (report[name].interval for name in ("accuracy", "balanced_accuracy"))
    assert report["accuracy"].value == pytest.approx(report["balanced_accuracy"].value)
    assert 0.9 < (balanced.high - balanced.low) / (plain.high - plain.low) < 1.1
