"""Intervals of errors: never a point where something is uncertain, never outside the range."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import Ridge
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from skeval._inference.draws import interval_of_draws
from skeval._inference.proportions import jeffreys_interval, wilson_interval
from skeval.feature_selection import selection_bias
from skeval.model_selection import (
    ErrorEstimate,
    bootstrap_error,
    compare_classifiers,
    cross_val_error,
    holdout_error,
    perturbation_interval,
    resubstitution_error,
)

MANY = settings(max_examples=200, deadline=None, derandomize=True, database=None)
RNG = np.random.default_rng(0)
APART = RNG.normal(size=(60, 3)) + 20 * (np.arange(60) % 2)[:, None]
CLASSES = np.arange(60) % 2
GROUPS = np.arange(60) // 6
SVM = SVC(kernel="linear")

ESTIMATES = {
    "resubstitution": lambda model, X, y, **loss: resubstitution_error(model, X, y, **loss),
    "cross-validation": lambda model, X, y, **loss: cross_val_error(
        model, X, y, random_state=0, **loss
    ),
    **{
        method: lambda model, X, y, method=method, **loss: bootstrap_error(
            model, X, y, method=method, n_resamples=30, random_state=0, **loss
        )
        for method in ("oob", ".632", ".632+")
    },
    **{
        f"perturbed {statistic}": lambda model, X, y, statistic=statistic, **loss: (
            perturbation_interval(
                model, X, y, statistic=statistic, n_resamples=30, random_state=0, **loss
            )
        )
        for statistic in ("cross_validation", "resubstitution")
    },
}


@pytest.mark.parametrize("name", ESTIMATES)
@pytest.mark.parametrize("wrong", [False, True], ids=["never wrong", "always wrong"])
def test_no_error_seen_is_no_certainty(name, wrong):
    """No spread: the interval of 60 samples, or of half. (.632+ puts 0.684 if all are wrong.)"""
    model = Contrary() if wrong else DecisionTreeClassifier(max_depth=1, random_state=0)
    estimate = ESTIMATES[name](model, APART, CLASSES)
    found = estimate.confidence_interval()
    assert estimate.error == (0.368 + 0.632 * 0.5 if wrong and name == ".632+" else wrong)
    expected = wilson_interval(60 * estimate.error, 60, 0.95)
    if name == "cross-validation":
        expected = jeffreys_interval(30 * estimate.error, 30, 0.95)
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-12)


class Contrary(LinearDiscriminantAnalysis):
    """Wrong wherever the rule that it has learnt is right."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y)

    def predict(self, X):
        return self.classes_[1 - np.searchsorted(self.classes_, super().predict(X))]


def test_no_error_in_few_groups_counts_groups():
    estimate = bootstrap_error(SVM, APART, CLASSES, groups=GROUPS, n_resamples=30, random_state=0)
    single = bootstrap_error(SVM, APART, CLASSES, n_resamples=30, random_state=0)
    assert estimate.n_groups == 10
    assert estimate.confidence_interval().high > 3 * single.confidence_interval().high


def test_no_error_with_weights_counts_effective_samples():
    weight = np.repeat([1.0, 100.0], 30)
    result = perturbation_interval(
        SVM, APART, CLASSES, sample_weight=weight, n_resamples=30, random_state=0
    )
    effective = weight.sum() ** 2 / np.sum(weight**2)
    assert (result.low, result.high) == pytest.approx(wilson_interval(0, effective, 0.95))


@pytest.mark.parametrize("form", ["normal", "pivotal", "symmetric", "quantile"])
def test_a_form_without_width_says_so(form):
    result = perturbation_interval(SVM, APART, CLASSES, n_resamples=40, random_state=0)
    with pytest.warns(UndefinedMetricWarning, match="nothing varies around 0"):
        found = result.confidence_interval(method=form)
    assert np.isnan([found.low, found.high]).all()


def compare(method):
    return compare_classifiers(
        SVM,
        LinearDiscriminantAnalysis(),
        APART,
        CLASSES,
        method=method,
        n_resamples=100,
        random_state=0,
    )


NOTHING_VARIES = {
    "a tree on its own samples": lambda: resubstitution_error(
        DecisionTreeRegressor(random_state=0), APART, APART[:, 0]
    ),
    "selection bias": lambda: selection_bias(SelectKBest(k=2), SVM, APART, CLASSES, random_state=0),
    "DeLong": lambda: compare("delong"),
    "paired bootstrap": lambda: compare("bootstrap"),
    "perturbation": lambda: perturbation_interval(
        SVM, APART, CLASSES, interval="normal", n_resamples=30, random_state=0
    ),
}


@pytest.mark.parametrize("name", NOTHING_VARIES)
def test_where_nothing_varies_there_is_no_interval(name):
    with pytest.warns(UndefinedMetricWarning, match="nothing varies around"):
        result = NOTHING_VARIES[name]()
    assert np.isnan([result.interval.low, result.interval.high]).all()
    with pytest.warns(UndefinedMetricWarning, match="nothing varies around"):
        found = result.confidence_interval()
    assert np.isnan([found.low, found.high]).all()


@pytest.mark.parametrize("name", ESTIMATES)
@pytest.mark.parametrize("loss", ["squared", "absolute"])
@pytest.mark.parametrize("seed", range(2))
def test_losses_have_intervals_above_zero(name, loss, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 2))
    y = X[:, 0] + rng.standard_t(1.5, size=12)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the resubstitution error", UserWarning)
        estimate = ESTIMATES[name](Ridge(), X, y, loss=loss)
    interval = estimate.confidence_interval()
    assert 0 < interval.low < estimate.error < interval.high < np.inf


PROPORTIONS = st.integers(0, 1000).map(lambda thousandths: thousandths / 1000)
SPREADS = st.one_of(st.just(0.0), st.floats(0, 0.5))


@MANY
@given(PROPORTIONS, SPREADS, st.integers(2, 500), st.sampled_from(["wilson", "exact"]))
def test_any_proportion(error, spread, n, method):
    estimate = ErrorEstimate("any", error, spread, n, "zero_one", np.zeros(1))
    found = estimate.confidence_interval(method=method)
    assert 0 <= found.low <= error <= found.high <= 1
    whole = ErrorEstimate("any", error, 0.0, n, "zero_one", np.zeros(1))
    least = whole.confidence_interval(method=method)
    assert least.high > least.low
    assert found.high - found.low >= (least.high - least.low) * (1 - 1e-9)
    opposite = ErrorEstimate("any", 1 - error, spread, n, "zero_one", np.zeros(1))
    mirrored = opposite.confidence_interval(method=method)
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((found.low, found.high), abs=1e-9)


@MANY
@pytest.mark.filterwarnings("ignore:The interval is undefined")
@given(st.floats(1e-9, 1e9), st.floats(0, 1e9))
def test_any_mean_loss(error, spread):
    for loss in ("squared", "absolute"):
        estimate = ErrorEstimate("any", error, spread, 20, loss, np.zeros(1))
        found = estimate.interval
        if np.isnan(found.low):
            assert spread < 1e-12 * error
            continue
        assert 0 <= found.low < found.high
        assert found.low <= error * (1 + 1e-12)
        assert found.high >= error * (1 - 1e-12)


@MANY
@given(PROPORTIONS, st.lists(st.floats(-1, 1), min_size=40, max_size=40), st.integers(2, 500))
def test_any_draws(error, draws, n):
    low, high = interval_of_draws(error, np.array(draws), 0.95, "wilson", n)
    assert 0 <= low <= error <= high <= 1
    assert low < high


def test_hold_out():
    y = np.zeros(30, dtype=int)
    for priors, y_pred in ((None, y), (None, y + 1), ([1.0], y), ([1.0], y + 1)):
        interval = holdout_error(y, y_pred, priors=priors).confidence_interval()
        assert interval.high - interval.low > 0.1
