"""Intervals of scores: one set of fits, any scorer, and the errors that some scores are."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from reference.intervals import mean, variance
from scipy.stats import norm, t
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import FitFailedWarning, UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import f1_score, get_scorer, make_scorer, r2_score, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from skeval._resampling.folds import halves_scheme, subsample_scheme
from skeval._resampling.task import cases_of, check_task
from skeval.metrics._scorers import range_of
from skeval.model_selection import Estimate, error_interval, score_interval
from skeval.model_selection._interval_methods import ERROR_METHODS
from skeval.utils._checks import root_seed

ROWS = np.random.default_rng(0).choice(569, 80, replace=False)
X, Y = (table[ROWS] for table in load_breast_cancer(return_X_y=True))
X = X[:, :4]
X_NUMBERS, NUMBERS = (table[:60] for table in load_diabetes(return_X_y=True))
BAYES = GaussianNB()
SMALL = {
    "corrected_t": {"n_repeats": 8, "test_size": 0.2},
    "conservative_z": {"n_repeats": 4, "n_pairs": 3, "test_size": 0.2},
    "nested_cv": {"n_folds": 3, "n_repeats": 2},
    "repeated_cv": {"n_folds": 3, "n_repeats": 2},
    "cv_wald": {"n_folds": 4},
    "replace_one_cv": {"n_folds": 3},
}


def area(model, X, y):
    return roc_auc_score(y, model.predict_proba(X)[:, 1])


HOLDING_OUT = [name for name, method in ERROR_METHODS.items() if method.holds_out]


def splits_of(plan):
    blocks = [plan.draw(fit) for fit in range(plan.n_fits)]
    return [(np.flatnonzero(b.train[0]), np.flatnonzero(b.test[0])) for b in blocks]


def areas_of(splits):
    return [area(GaussianNB().fit(X[train], Y[train]), X[test], Y[test]) for train, test in splits]


def cases():
    return cases_of(check_task(BAYES, X, Y)[1])


@pytest.mark.parametrize("scoring", ["roc_auc", area], ids=["name", "function"])
def test_corrected_t(scoring):
    result = score_interval(
        BAYES, X, Y, scoring=scoring, n_repeats=8, test_size=0.2, random_state=2
    )
    areas = areas_of(splits_of(subsample_scheme(cases(), 16, 8, root_seed(2)).plan))
    error = np.sqrt(variance(areas) * (1 / 8 + 16 / 64))
    assert_allclose(result.replicates, areas, rtol=1e-12)
    assert_allclose([result.value, result.standard_error], [mean(areas), error], rtol=1e-12)
    half = t.ppf(0.975, 7) * error
    low, high = mean(areas) - half, mean(areas) + half
    high = min(high, 1) if scoring == "roc_auc" else high
    assert_allclose([result.interval.low, result.interval.high], [low, high], rtol=1e-12)
    assert result.name == ("roc_auc" if scoring == "roc_auc" else "area()")


def test_conservative_z():
    options = {"n_repeats": 4, "n_pairs": 3, "test_size": 0.2, "random_state": 2}
    result = score_interval(BAYES, X, Y, scoring=area, method="conservative_z", **options)
    areas = areas_of(splits_of(halves_scheme(cases(), 16, 4, 3, root_seed(2)).plan))
    a, b = np.reshape(areas[4:], (3, 2, 4)).mean(axis=2).T
    error = np.sqrt(np.sum((a - b) ** 2) / 6)
    assert_allclose([result.value, result.standard_error], [mean(areas[:4]), error], rtol=1e-12)
    low = mean(areas[:4]) - norm.ppf(0.975) * error
    assert_allclose(result.interval.low, low, rtol=1e-12)


@pytest.mark.parametrize("method", HOLDING_OUT)
def test_accuracy_is_one_minus_the_error(method):
    options = {"method": method, "random_state": 4, **SMALL.get(method, {})}
    score = score_interval(BAYES, X, Y, scoring="accuracy", **options)
    error = error_interval(BAYES, X, Y, **options)
    assert_allclose(score.value, 1 - error.value, rtol=1e-12)
    assert_allclose(score.standard_error, error.standard_error, rtol=1e-9)
    assert_allclose(score.interval.low, 1 - error.interval.high, rtol=1e-9)
    assert_allclose(score.interval.high, 1 - error.interval.low, rtol=1e-9)
    assert score.details["n_fits"] == error.details["n_fits"]
    for form in score.interval_methods:
        assert_allclose(
            score.confidence_interval(0.8, form).low,
            1 - error.confidence_interval(0.8, form).high,
            rtol=1e-9,
        )


@pytest.mark.parametrize("method", HOLDING_OUT)
def test_mean_losses_are_errors(method):
    options = {"method": method, "random_state": 4, **SMALL.get(method, {})}
    scoring = ["neg_mean_squared_error", "neg_mean_absolute_error"]
    scores = score_interval(Ridge(), X_NUMBERS, NUMBERS, scoring=scoring, **options)
    for name, loss in zip(scoring, ("squared", "absolute"), strict=True):
        error = error_interval(Ridge(), X_NUMBERS, NUMBERS, loss=loss, **options)
        assert_allclose(scores[name].value, -error.value, rtol=1e-10)
        assert_allclose(scores[name].interval.low, -error.interval.high, rtol=1e-9)


def test_several_scores_take_the_fits_of_one():
    n_fits = []

    class Counting(GaussianNB):
        def fit(self, X, y):
            n_fits.append(1)
            return super().fit(X, y)

    scoring = {"area": "roc_auc", "F": make_scorer(f1_score, pos_label=0), "right": "accuracy"}
    options = {"n_repeats": 6, "test_size": 0.25, "random_state": 0}
    results = score_interval(Counting(), X, Y, scoring=scoring, **options)
    assert len(n_fits) == 6
    assert list(results) == ["area", "F", "right"]
    assert [result.name for result in results.values()] == ["roc_auc", "F()", "accuracy"]
    for name, scorer in scoring.items():
        alone = score_interval(BAYES, X, Y, scoring=scorer, **options)
        assert isinstance(alone, Estimate)
        assert (alone.value, alone.interval) == (results[name].value, results[name].interval)


def test_a_function_that_is_called_accuracy_is_not():
    def accuracy(model, X, y):
        return 10.0 + np.mean(model.predict(X) == y)

    result = score_interval(BAYES, X, Y, scoring={"accuracy": accuracy}, random_state=0)["accuracy"]
    assert 10.5 < result.value < 11
    assert result.interval.low > 10


def test_solvers_change_nothing():
    class Plain(SVC):
        pass

    found = [
        score_interval(
            kind(kernel="linear", tol=1e-8), scale(X), Y, scoring=["roc_auc", "f1"], random_state=1
        )
        for kind in (SVC, Plain)
    ]
    for name in ("roc_auc", "f1"):
        assert_allclose(found[0][name].replicates, found[1][name].replicates, rtol=1e-12)


def test_default_scores():
    assert score_interval(BAYES, X, Y, n_repeats=3, random_state=0).name == "accuracy"
    result = score_interval(Ridge(), X_NUMBERS, NUMBERS, random_state=0)
    assert result.name == "r2"
    assert result.interval.high <= 1
    splits = splits_of(
        subsample_scheme(
            cases_of(check_task(Ridge(), X_NUMBERS, NUMBERS)[1]), 6, 50, root_seed(0)
        ).plan
    )
    expected = [
        r2_score(NUMBERS[test], Ridge().fit(X_NUMBERS[a], NUMBERS[a]).predict(X_NUMBERS[test]))
        for a, test in splits
    ]
    assert_allclose(result.replicates, expected, rtol=1e-10)


@pytest.mark.parametrize("method", ["nested_cv", "holdout", "cv_wald", "repeated_cv"])
def test_methods_of_single_losses_refuse_other_scores(method):
    with pytest.raises(
        ValueError,
        match=f"scoring must be 'accuracy', 'neg_brier_score', 'neg_log_loss', 'neg_mean_absolute_"
        f"error', 'neg_mean_squared_error' for method='{method}', which needs losses of single "
        "samples, got 'roc_auc'; methods for any score are 'corrected_t', 'conservative_z'",
    ):
        score_interval(BAYES, X, Y, scoring=["accuracy", "roc_auc"], method=method)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": ".632+"}, "method must be one of 'holdout', .*; got '.632\\+'"),
        ({"scoring": "goodness"}, "scoring.*goodness"),
        ({"n_folds": 3}, "n_folds is no parameter of method='corrected_t', which takes n_repeats"),
        ({"confidence_level": 2}, "confidence_level must fulfil"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        score_interval(BAYES, X, Y, **options)


def test_undefined_scores_are_told():
    y = (np.arange(80) < 6).astype(int)
    with (
        pytest.warns(UndefinedMetricWarning, match=r"scoring 'roc_auc' is undefined for \d+ of 20"),
        pytest.warns(UndefinedMetricWarning, match="Only one class"),
    ):
        result = score_interval(
            BAYES, X, y, scoring="roc_auc", n_repeats=20, test_size=0.05, random_state=0
        )
    assert 0 < result.details["n_undefined"] < 20
    assert np.isfinite([result.value, result.interval.low]).all()
    assert "undefined " in str(result)


class Fragile(ClassifierMixin, BaseEstimator):
    """Raises where the first feature of the training rows sums to an even number."""

    def fit(self, X, y):
        if int(X[:, 0].sum()) % 2 == 0:
            raise RuntimeError("even")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(X[:, 0].astype(int) % 3 > 0).astype(int)]


@pytest.mark.parametrize("scoring", ["balanced_accuracy", ["balanced_accuracy", "accuracy"]])
def test_failed_fits_are_left_out(scoring):
    rows = np.arange(80)[:, None]
    with pytest.warns(FitFailedWarning), pytest.warns(UndefinedMetricWarning):
        results = score_interval(
            Fragile(), rows, Y, scoring=scoring, random_state=0, error_score=np.nan
        )
    results = [results] if isinstance(scoring, str) else results.values()
    for result in results:
        assert 0 < result.details["n_undefined"] < 50
        assert 0 <= result.interval.low < result.interval.high <= 1


def test_a_score_that_never_varies_has_no_interval():
    apart = X + 1e4 * Y[:, None]
    with pytest.warns(UndefinedMetricWarning, match="nothing varies around 1"):
        result = score_interval(LogisticRegression(), apart, Y, scoring="roc_auc", random_state=0)
    assert result.value == 1
    assert np.isnan(result.interval.low)
    right = score_interval(LogisticRegression(), apart, Y, scoring="accuracy", random_state=0)
    assert right.value == 1
    assert 0.9 < right.interval.low < right.interval.high == 1


def test_groups_and_results():
    groups = np.arange(80) // 4
    result = score_interval(BAYES, X, Y, scoring="f1", groups=groups, random_state=0)
    assert result.details["n_groups"] == 20
    assert "groups" in str(result)
    assert result.to_frame().loc[0, "value"] == result.value
    again = pickle.loads(pickle.dumps(result))
    assert again.to_dict() == result.to_dict()
    assert result.confidence_interval() == result.interval
    assert result.confidence_interval(0.5).low > result.interval.low


RANGES = {
    "adjusted_mutual_info_score": (-np.inf, 1),
    "adjusted_rand_score": (-1, 1),
    "completeness_score": (0, 1),
    "fowlkes_mallows_score": (0, 1),
    "homogeneity_score": (0, 1),
    "matthews_corrcoef": (-1, 1),
    "mutual_info_score": (0, np.inf),
    "normalized_mutual_info_score": (0, 1),
    "positive_likelihood_ratio": (0, np.inf),
    "rand_score": (0, 1),
    "v_measure_score": (0, 1),
}


@pytest.mark.parametrize("scoring", RANGES)
def test_known_ranges_hold_what_scikit_learn_computes(scoring):
    low, high = range_of(scoring)
    assert (low, high) == RANGES[scoring]
    target, scorer = np.repeat([0, 1], 10), get_scorer(scoring)
    for n_wrong in (1, 4, 9, 16, 19):
        guess = np.roll(target, n_wrong)
        assert low - 1e-12 <= scorer._sign * scorer._score_func(target, guess) <= high + 1e-12


@pytest.mark.parametrize("method", ["repeated_cv", "holdout"])
def test_scores_of_probabilities_are_their_losses(method):
    X, y = load_iris(return_X_y=True)
    scores = {"neg_log_loss": "log_loss", "neg_brier_score": "brier"}
    options = {"method": method, "random_state": 0}
    found = score_interval(GaussianNB(), X, y, scoring=list(scores), **options)
    for name, loss in scores.items():
        error = error_interval(GaussianNB(), X, y, loss=loss, **options)
        assert found[name].value == -error.value
        low, high = error.interval.low, error.interval.high
        assert (found[name].interval.low, found[name].interval.high) == (-high, -low)
    with pytest.raises(ValueError, match=r"scoring=.neg_log_loss. needs .* which SVC lacks"):
        score_interval(SVC(), X, y, scoring="neg_log_loss", **options)
