"""Perturbation intervals: exact against a loop over SVC, forms against their formulas."""

import warnings

import numpy as np
import pytest
from helpers.crossed import each_value
from reference.perturbation import statistics_cross_validation, statistics_resubstitution
from scipy.stats import norm
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skeval.datasets import make_gaussian_classes
from skeval.model_selection import cross_val_error, perturbation_interval, resubstitution_error

SVM = SVC(kernel="linear", tol=1e-6)


@pytest.fixture(scope="module")
def data():
    sample = make_gaussian_classes(40, 3, separation=1.5, random_state=0)
    weights = np.random.default_rng(1).exponential(size=(12, 40))
    return sample.X, np.array(["no", "yes"])[sample.y], weights


def interval(*arguments, statistic="resubstitution", **options):
    with warnings.catch_warnings():  # the warning of overfitting has a test of its own
        warnings.filterwarnings("ignore", "the resubstitution error", UserWarning)
        return perturbation_interval(*arguments, statistic=statistic, **options)


@pytest.mark.parametrize("scale", [1.0, 1e-3, 700.0])
def test_resubstitution_statistic_is_the_loop(data, scale):
    X, y, weights = data
    result = interval(SVM, X, y, weights=weights * scale, cv=5, random_state=0, interval="normal")
    apparent, statistics = statistics_resubstitution(SVM, X, y, weights)
    assert result.extra.resubstitution == pytest.approx(apparent, abs=1e-12)
    np.testing.assert_allclose(result.extra.statistics, scale * statistics, rtol=1e-10)


def test_cross_validation_statistic_is_the_loop(data):
    X, y, weights = data
    folds = list(RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=0).split(X, y))
    result = interval(SVM, X, y, weights=weights, cv=folds, statistic="cross_validation")
    error, statistics = statistics_cross_validation(SVM, X, y, weights, folds)
    assert result.value == pytest.approx(error, abs=1e-12)
    np.testing.assert_allclose(result.extra.statistics, statistics, atol=1e-10)


@each_value
@pytest.mark.parametrize("n_tested", [40, 20, 5])
@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_samples_never_tested_say_nothing(data, n_tested, size):
    X, y, weights = data
    own = size * np.linspace(0.5, 2, 40)
    tested = np.random.default_rng(2).permutation(40)[:n_tested]
    model = DummyClassifier(strategy="constant", constant="yes")
    tests = [tested] if n_tested < 40 else [tested[:20], tested[20:]]
    folds = [(np.setdiff1d(np.arange(40), test), test) for test in tests]
    options = {"weights": weights, "cv": folds, "sample_weight": own}
    result = interval(model, X, y, statistic="cross_validation", **options)
    share = own[tested] / own[tested].max()
    wrong = y[tested] != "yes"
    error = np.average(wrong, weights=share)
    deviations = weights[:, tested] * (wrong - error) @ share / share.sum()
    np.testing.assert_allclose(result.extra.statistics / np.sqrt(40), deviations, rtol=1e-10)
    most = share.sum() ** 2 / np.sum(share**2)
    spread = result.standard_error
    worth = min(most, max(1, error * (1 - error) / spread**2)) if spread and 0 < error < 1 else most
    assert result.effective_n_samples == pytest.approx(worth)


def test_any_loss_and_given_weights_are_the_loop(data):
    X, y, weights = data
    codes = (y == "yes").astype(int)
    own = np.linspace(0.5, 2, 40)
    model = LogisticRegression()
    result = interval(
        model, X, codes, weights=weights, loss="squared", sample_weight=own, cv=4, random_state=0
    )
    apparent, statistics = statistics_resubstitution(
        model, X, codes, weights, loss=lambda a, b: (a - b) ** 2, own=own
    )
    assert result.extra.resubstitution == pytest.approx(apparent, abs=1e-12)
    np.testing.assert_allclose(result.extra.statistics, statistics, atol=1e-8)
    assert result.loss == "squared"


def test_weights_of_one_leave_the_plain_fit(data):
    X, y, _ = data
    result = interval(SVM, X, y, weights=np.ones((3, 40)), cv=StratifiedKFold(5))
    np.testing.assert_allclose(result.extra.statistics, 0, atol=1e-12)
    assert result.value == cross_val_error(SVM, X, y, cv=StratifiedKFold(5)).value
    assert result.extra.resubstitution == resubstitution_error(SVM, X, y).value


def test_a_scaler_in_front_is_weighted_too(data):
    X, y, weights = data
    model = make_pipeline(StandardScaler(), GaussianNB())
    result = interval(model, X, y, weights=weights, cv=4, random_state=0)
    losses = []
    for G in weights:
        w = G / G.mean()
        fitted = make_pipeline(StandardScaler(), GaussianNB()).fit(
            X, y, standardscaler__sample_weight=w, gaussiannb__sample_weight=w
        )
        losses.append(G @ ((fitted.predict(X) != y) - result.extra.resubstitution) / np.sqrt(40))
    np.testing.assert_allclose(result.extra.statistics, losses, atol=1e-12)


def test_forms_are_their_formulas(data):
    X, y, _ = data
    result = interval(SVM, X, y, n_resamples=200, cv=5, random_state=0)
    draws, center, root = result.extra.statistics, result.value, np.sqrt(40)
    q05, q95 = np.quantile(draws, [0.05, 0.95])
    expected = {
        "normal": (
            center - norm.ppf(0.95) * draws.std(ddof=1) / root,
            center + norm.ppf(0.95) * draws.std(ddof=1) / root,
        ),
        "pivotal": (center - q95 / root, center - q05 / root),
        "symmetric": (
            center - np.quantile(np.abs(draws), 0.9) / root,
            center + np.quantile(np.abs(draws), 0.9) / root,
        ),
        "quantile": (center - q95 / root, center + q95 / root),
    }
    for form, (low, high) in expected.items():
        found = result.confidence_interval(0.9, form)
        assert (found.low, found.high) == pytest.approx(
            (np.clip(low, 0, 1), np.clip(high, 0, 1)), abs=1e-12
        )
        assert (found.confidence_level, found.method) == (0.9, form)
    first = result.confidence_interval()
    assert (first.low, first.high) == (result.interval.low, result.interval.high)


def test_regression():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = X[:, 0] + rng.normal(size=80)
    result = interval(LinearRegression(), X, y, n_resamples=200, random_state=0)
    assert result.loss == "squared"
    assert result.interval.low < 1 < result.interval.high  # the variance of the noise


def test_warning_when_the_fit_separates_the_classes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 60)), np.tile([0, 1], 15)
    with pytest.warns(UserWarning, match=r"statistic='cross_validation'"):
        result = perturbation_interval(
            SVM, X, y, n_resamples=20, statistic="resubstitution", random_state=0
        )
    assert result.extra.resubstitution == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        default = perturbation_interval(SVM, X, y, n_resamples=20, random_state=0)
    assert default.extra.statistic == "cross_validation"


def test_other_losses_need_two_classes():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="for more than two classes, got 'absolute'"):
        perturbation_interval(GaussianNB(), X, y, loss="absolute")
