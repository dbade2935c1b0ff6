"""Intervals of errors: never a point where something is uncertain, never outside the range."""

import warnings
from functools import partial

import numpy as np
import pytest
from helpers.crossed import each_value
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyRegressor
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor

import skeval
from skeval._inference.errors import mean_loss_estimate
from skeval._inference.intervals import size_of_proportion
from skeval.feature_selection import selection_bias
from skeval.metrics import break_even_point, error_norm, error_rate, ranking_loss
from skeval.model_selection import (
    bootstrap_error,
    compare_classifiers,
    cross_val_error,
    error_interval,
    metric_interval,
    perturbation_interval,
    resubstitution_error,
    score_interval,
    tuning_optimism,
)

MANY = settings(max_examples=60, deadline=None, derandomize=True, database=None)
RNG = np.random.default_rng(0)
APART = RNG.normal(size=(60, 3)) + 20 * (np.arange(60) % 2)[:, None]
CLASSES = np.arange(60) % 2
LARGEST_LOG_LOSS = -np.log(np.finfo(float).eps)
"""Loss of a sample whose class has no probability, which is clipped to the rounding error."""

SVM = SVC(kernel="linear")

ESTIMATES = {
    "resubstitution": lambda model, X, y, **loss: resubstitution_error(model, X, y, **loss),
    "cross_validation": lambda model, X, y, **loss: cross_val_error(
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


@pytest.mark.parametrize("form", ["normal", "pivotal", "symmetric", "quantile"])
def test_a_form_without_width_says_so(form):
    result = perturbation_interval(SVM, APART, CLASSES, n_resamples=40, random_state=0)
    with pytest.warns(UndefinedMetricWarning, match="both of its limits are 0"):
        found = result.confidence_interval(method=form)
    assert np.isnan([found.low, found.high]).all()


def compare(method):
    return compare_classifiers(
        [SVM, LinearDiscriminantAnalysis()],
        APART,
        CLASSES,
        method=method,
        n_resamples=100,
        random_state=0,
    ).difference


NOTHING_VARIES = {
    "a tree on its own samples": lambda: resubstitution_error(
        DecisionTreeRegressor(random_state=0), APART, APART[:, 0]
    ),
    "selection bias": lambda: selection_bias(SelectKBest(k=2), SVM, APART, CLASSES, random_state=0),
    "paired bootstrap": lambda: compare("bootstrap"),
    "perturbation": lambda: perturbation_interval(
        SVM, APART, CLASSES, interval="normal", n_resamples=30, random_state=0
    ),
}


@pytest.mark.parametrize("name", NOTHING_VARIES)
def test_where_nothing_varies_there_is_no_interval(name):
    with pytest.warns(UndefinedMetricWarning, match=r"undefined \(nan\)[:,] "):
        result = NOTHING_VARIES[name]()
    assert np.isnan([*result.interval]).all()
    with warnings.catch_warnings():  # pairs of systems are named once in a comparison
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        found = result.confidence_interval()
    assert np.isnan([found.low, found.high]).all()


@each_value
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
    assert 0 < interval.low < estimate.value < interval.high < np.inf


FORMS = ("auto", "cross_validation", "holdout", "cv_wald", "corrected_t", "nested_cv", "oob")
FORMS += ("resubstitution", ".632+")
"""Methods with all forms of intervals of mean losses."""


@pytest.mark.filterwarnings("ignore:The interval is undefined")
@pytest.mark.parametrize("method", FORMS)
@pytest.mark.parametrize("loss", ["brier", "log_loss"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_limits_are_possible_losses_of_probabilities(method, loss, n_classes):
    """Classes 5 sd apart: one or two samples make up nearly all of the loss."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = np.arange(60) % n_classes
        X = rng.normal(size=(60, 3)) + 5 * np.eye(3)[y]
        model = LinearDiscriminantAnalysis()
        estimate = error_interval(model, X, y, loss=loss, method=method, random_state=seed)
        low, high = estimate.bounds
        assert (low, high) == (0, LARGEST_LOG_LOSS if loss == "log_loss" else n_classes - 1)
        for form in estimate.interval_methods:
            found = estimate.confidence_interval(0.999, form)
            assert np.isnan(found.low) or low <= found.low <= estimate.value <= found.high <= high
        interval = estimate.confidence_interval()
        assert np.isnan(interval.high) == bool(estimate.extra.no_interval)
        assert not interval.high > 20 * estimate.value or estimate.value == 0


@pytest.mark.parametrize("loss", ["squared", "absolute", "brier", "log_loss"])
def test_a_useless_upper_limit_is_refused_for_every_loss(loss):
    """One sample of 60 has nearly the whole loss."""
    model, y = DummyRegressor(strategy="median"), np.random.default_rng(0).normal(size=60)
    y[0] = 1e6
    if loss in ("brier", "log_loss"):
        model, y = LinearDiscriminantAnalysis(), CLASSES.copy()
        y[0] = 1
    estimate = error_interval(model, APART, y, loss=loss, random_state=0)
    assert estimate.extra.no_interval == "few_large_losses"
    assert np.isnan([*estimate.interval]).all()
    assert "1 of 60 samples" in estimate.details["caution"]


PROPORTIONS = st.integers(0, 1000).map(lambda thousandths: thousandths / 1000)


def estimate_of(error, spread, n, loss="zero_one"):
    size = size_of_proportion(error, spread, n) if loss == "zero_one" else None
    return mean_loss_estimate(
        error,
        spread,
        loss=loss,
        method="any",
        replicates=np.zeros(1),
        n_samples=n,
        effective_n_samples=size,
    )


SPREADS = st.one_of(st.just(0.0), st.floats(0, 0.5))


@MANY
@given(PROPORTIONS, SPREADS, st.integers(2, 500), st.sampled_from(["wilson", "exact"]))
def test_any_proportion(error, spread, n, method):
    estimate = estimate_of(error, spread, n)
    found = estimate.confidence_interval(method=method)
    assert 0 <= found.low <= error <= found.high <= 1
    whole = estimate_of(error, 0.0, n)
    least = whole.confidence_interval(method=method)
    assert least.high > least.low
    assert found.high - found.low >= (least.high - least.low) * (1 - 1e-9)
    opposite = estimate_of(1 - error, spread, n)
    mirrored = opposite.confidence_interval(method=method)
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((found.low, found.high), abs=1e-9)


OF_PREDICTIONS = (
    sk.accuracy_score,
    sk.balanced_accuracy_score,
    sk.f1_score,
    sk.precision_score,
    sk.recall_score,
    sk.jaccard_score,
    sk.matthews_corrcoef,
    sk.cohen_kappa_score,
    sk.zero_one_loss,
    sk.hamming_loss,
    error_rate,
)
OF_SCORES = (
    sk.brier_score_loss,
    sk.log_loss,
    sk.roc_auc_score,
    sk.average_precision_score,
    ranking_loss,
    break_even_point,
)
OF_NUMBERS = (
    sk.r2_score,
    sk.explained_variance_score,
    sk.mean_squared_error,
    sk.mean_absolute_error,
    sk.root_mean_squared_error,
    sk.median_absolute_error,
    error_norm,
)


@each_value
@pytest.mark.parametrize(
    "metric", OF_PREDICTIONS + OF_SCORES + OF_NUMBERS, ids=lambda metric: metric.__name__
)
@pytest.mark.parametrize(
    ("method", "wrong"), [("auto", 1), ("basic", 7), ("percentile", 1), ("auto", 7)]
)
def test_every_metric_ends_within_its_range(metric, method, wrong):
    y = np.arange(8) % 2
    answer = np.where(np.arange(8) < wrong, 1 - y, y).astype(float)
    if metric in OF_NUMBERS:
        y, answer = y + RNG.random(8) / 4, 10.0 * answer
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = metric_interval(metric, y, answer, method=method, n_resamples=50, random_state=0)
        low, high = found.bounds
        assert np.isfinite([low, high]).any()
        assert low <= found.value <= high
        for name in found.interval_methods:
            ends = found.confidence_interval(0.99, name)
            assert np.isnan(ends.low) or low <= ends.low <= ends.high <= high


@pytest.mark.filterwarnings("ignore:The interval is undefined")
def test_the_range_is_that_of_the_classes_and_of_the_arguments():
    worst = sk.log_loss([0, 1], [[0.0, 1.0], [1.0, 0.0]])
    assert worst == pytest.approx(LARGEST_LOG_LOSS)
    few = {"n_folds": 3, "n_repeats": 1, "random_state": 0}
    X = np.random.default_rng(3).normal(size=(60, 2)) + CLASSES[:, None]
    for n_classes in (2, 3):
        y = np.arange(60) % n_classes
        for name, low in {"neg_brier_score": 1 - n_classes, "neg_log_loss": -worst}.items():
            found = score_interval(GaussianNB(), X, y, scoring=name, **few)
            assert found.bounds == pytest.approx((low, 0))
    wrong = sk.make_scorer(sk.zero_one_loss, greater_is_better=False)
    assert score_interval(GaussianNB(), X, CLASSES, scoring=wrong, **few).bounds == (-1, 0)
    # neither the range of a search's score for any number of classes, nor that of a name, is known
    search = GridSearchCV(GaussianNB(), {}, scoring="neg_brier_score", cv=3)
    assert tuning_optimism(search, X, CLASSES, cv=3, random_state=0).bounds == (-2, 2)
    own = sk.make_scorer(lambda y, p: np.mean(y == p))
    scoring = {"f1_times_100": own, "my_recall": own}
    quick = {"scoring": scoring, "cv": 3, "include": [], "n_permutations": 0, "random_state": 0}
    metrics = skeval.evaluate(GaussianNB(), APART, CLASSES, **quick).metrics
    assert [metrics[name].bounds for name in scoring] == 2 * [(-np.inf, np.inf)]
    called = np.arange(60) // 3 % 2
    for metric in (partial(sk.accuracy_score, normalize=False), lambda y, p: 7.0 + np.mean(y == p)):
        found = metric_interval(metric, CLASSES, called, n_resamples=50, random_state=0)
        assert found.bounds == (-np.inf, np.inf)
    three = np.arange(60) % 3
    wrong = np.eye(3)[(three + 1) % 3]
    try:
        largest = sk.brier_score_loss(three[:3], wrong[:3])
    except ValueError:  # scikit-learn before 1.7 has it for two classes only
        largest = None
    if largest == 2:
        wrong[0] = np.eye(3)[0]
        found = metric_interval(sk.brier_score_loss, three, wrong, n_resamples=50, random_state=0)
        assert 1 < found.value <= found.interval.high <= 2
