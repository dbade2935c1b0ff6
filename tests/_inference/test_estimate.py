"""How results print, and which intervals they offer."""

import pickle
from functools import partial

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    mean_squared_error,
    median_absolute_error,
    roc_auc_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from statsmodels.stats.proportion import proportion_confint

from skeval._inference.errors import mean_loss_estimate
from skeval._inference.intervals import size_of_proportion
from skeval.feature_selection import selection_bias, selection_stability
from skeval.model_selection import (
    ConfidenceInterval,
    bootstrap_error,
    compare_classifiers,
    cross_val_error,
    holdout_error,
    metric_interval,
    perturbation_interval,
    resubstitution_error,
)


def estimate_of(error, spread, n, loss="zero_one"):
    size = size_of_proportion(error, spread, n) if loss == "zero_one" else None
    return mean_loss_estimate(
        error,
        spread,
        loss=loss,
        method="any",
        replicates=np.zeros(n),
        n_samples=n,
        effective_n_samples=size,
    )


def test_an_estimate_prints_aligned():
    # statsmodels.stats.proportion.proportion_confint(10, 40, method="wilson")
    # (0.141870..., 0.401942...)
    assert str(estimate_of(0.25, 0.0684, 40)) == "\n".join(
        [
            "error rate (any)",
            "  value              0.2500",
            "  standard error     0.0684",
            "  95 % interval      [0.1419, 0.4019] (wilson)",
            "  samples            40",
            "  loss               zero_one",
            "  effective samples  40",
        ]
    )


def test_interval_prints_and_contains():
    interval = ConfidenceInterval(0.1, 0.2, 0.9, "wilson")
    assert str(interval) == "[0.1000, 0.2000] (90 %, wilson)"
    assert 0.1 in interval
    assert 0.2 in interval
    assert 0.21 not in interval


def test_which_intervals():
    losses = {
        "zero_one": ("wilson", "agresti_coull", "jeffreys", "exact", "wald", "normal"),
        "squared": ("log", "normal"),
        "mine": ("normal",),
    }
    for loss, methods in losses.items():
        estimate = estimate_of(0.25, 0.5, 40, loss)
        assert estimate.interval_methods == methods
        normal = estimate.confidence_interval(method="normal")
        assert normal.low == (pytest.approx(0.25 - 1.959964 * 0.5) if loss == "mine" else 0)
        assert normal.high == (1 if loss == "zero_one" else pytest.approx(0.25 + 1.959964 * 0.5))
    zero_one = estimate_of(0.25, 0.05, 40)
    exact = zero_one.confidence_interval(0.9, "exact")
    expected = proportion_confint(10, 40, alpha=0.1, method="beta")
    assert tuple(exact) == pytest.approx(expected)
    default = zero_one.confidence_interval()
    assert tuple(default) == pytest.approx(proportion_confint(10, 40, method="wilson"))
    doubled = estimate_of(0.25, np.sqrt(0.25 * 0.75 / 20), 40)
    found = doubled.confidence_interval()
    assert tuple(found) == pytest.approx(proportion_confint(5, 20, method="wilson"), abs=1e-12)
    squared = estimate_of(3.0, 1.5, 40, "squared")
    found = squared.confidence_interval()
    assert tuple(found) == pytest.approx(np.exp(np.log(3) + [-0.979982, 0.979982]))


def test_folds_are_not_independent_so_the_default_counts_half_of_the_samples():
    third = [(np.arange(5, 40), np.arange(5))]
    once = cross_val_error(BAYES, X, Y, cv=third)
    assert once.interval.method == "wilson"
    folds = cross_val_error(BAYES, X, Y, cv=5)
    assert folds.interval_methods == ("inflated", *once.interval_methods)
    half = folds.effective_n_samples / 2
    found = folds.interval
    expected = proportion_confint(folds.value * half, half, method="jeffreys")
    assert tuple(found) == pytest.approx(expected)
    squared = cross_val_error(LinearRegression(), X, X[:, 0] + WIDE[:, 5], cv=5)
    reach = norm.ppf(0.975) * np.sqrt(2) * squared.standard_error / squared.value
    expected = squared.value * np.exp([-reach, reach])
    assert tuple(squared.interval) == pytest.approx(expected)


@pytest.mark.parametrize("level", [0, 1, -0.5, 95, np.nan, "0.95"])
def test_bad_level(level):
    with pytest.raises(ValueError, match="confidence_level must satisfy"):
        holdout_error([0, 1], [0, 1]).confidence_interval(level)


@pytest.mark.parametrize("method", estimate_of(0.25, 0.0684, 40).interval_methods)
def test_a_one_sided_interval_has_a_limit_of_the_two_sided_one(method):
    result = estimate_of(0.25, 0.0684, 40)
    low, high = result.confidence_interval(0.9, method)
    assert tuple(result.confidence_interval(0.95, method, "greater")) == (low, 1.0)
    assert tuple(result.confidence_interval(0.95, method, "less")) == (0.0, high)
    with pytest.raises(ValueError, match=r"confidence_level must be above 0.5.*got 0.4"):
        result.confidence_interval(0.4, method, "less")
    with pytest.raises(ValueError, match="alternative must be one of"):
        result.confidence_interval(0.95, method, "lower")


RNG = np.random.default_rng(0)
Y = np.repeat([0, 1], 20)
X = RNG.normal(size=(40, 3)) + 0.8 * Y[:, None]
WIDE = np.c_[X, RNG.normal(size=(40, 40))]
BAYES = GaussianNB()
DRAWN = {"random_state": 0, "cv": 4}


def compare(**options):
    options = DRAWN | options
    return compare_classifiers([BAYES, KNeighborsClassifier()], X, Y, **options).difference


RESULTS = {
    "resubstitution": partial(resubstitution_error, BAYES, X, Y),
    "holdout": partial(holdout_error, Y, X[:, 0] > 0.6),
    "priors": partial(holdout_error, Y, (X[:, 0] > 0.6).astype(int), priors=[0.9, 0.1]),
    "cross_val": partial(cross_val_error, BAYES, X, Y, **DRAWN),
    "bootstrap": partial(bootstrap_error, BAYES, X, Y, n_resamples=20, random_state=0),
    "perturbation": partial(perturbation_interval, BAYES, X, Y, n_resamples=20, **DRAWN),
    "pivotal": partial(
        perturbation_interval, BAYES, X, Y, n_resamples=40, interval="pivotal", **DRAWN
    ),
    "bias": partial(selection_bias, SelectKBest(k=4), BAYES, WIDE, Y, **DRAWN),
    "stability": partial(selection_stability, RNG.random((8, 10)) < 0.4),
    "corrected_t": compare,
    "mcnemar": partial(compare, method="mcnemar"),
    "replicates": partial(compare, method="bootstrap", n_resamples=60),
}
METRICS = {
    "proportion": (accuracy_score, Y, (X[:, 0] > 0.6).astype(int)),
    "table": (f1_score, Y, (X[:, 0] > 0.6).astype(int)),
    "area": (roc_auc_score, Y, X[:, 0]),
    "mean": (mean_squared_error, X[:, 0], X[:, 1]),
    "bootstrap": (median_absolute_error, X[:, 0], X[:, 0] + 0.3 * X[:, 1]),
}
READINGS = {
    name: partial(metric_interval, *of, n_resamples=300, random_state=0)
    for name, of in METRICS.items()
}


@pytest.mark.parametrize("name", [*RESULTS, *READINGS])
@pytest.mark.filterwarnings("ignore:selecting features on all samples")
def test_the_interval_is_at_the_level_asked_for_and_is_read_again_at_any(name):
    compute = (RESULTS | READINGS)[name]
    usual, other = compute(), compute(confidence_level=0.8)
    assert usual.confidence_level == usual.interval.confidence_level == 0.95
    assert other.confidence_level == other.interval.confidence_level == 0.8
    assert usual.interval != other.interval
    assert usual.confidence_interval() == usual.interval
    assert usual.confidence_interval(0.8) == other.interval
    again = pickle.loads(pickle.dumps(usual))
    assert again.confidence_interval(0.8) == other.interval
    assert usual.interval_methods[0] == usual.interval.method


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_is_read_by_every_method_that_its_numbers_allow(name):
    metric, y_true, y_pred = METRICS[name]
    y_true, y_pred = y_true.copy(), y_pred.copy()
    options = {"n_resamples": 120, "random_state": 0}
    result = metric_interval(metric, y_true, y_pred, **options)
    methods = result.interval_methods
    assert len(methods) > 1
    expected = {
        method: metric_interval(metric, y_true, y_pred, method=method, **options).interval
        for method in methods
    }
    y_true[:], y_pred[:] = y_true[::-1].copy(), 0  # the result holds numbers of its own
    for method in methods:
        assert result.confidence_interval(method=method) == expected[method]
    with pytest.raises(ValueError, match=r"method must be one of .*; got 'bayes'"):
        result.confidence_interval(method="bayes")


def test_a_latex_table_has_names_estimates_and_intervals():
    y, predicted = [0, 1] * 20, [0, 1, 1, 1] * 10
    both = metric_interval({"right": "accuracy", "mean": "f1"}, y, predicted)
    lines = [line.split(" & ") for line in both.to_latex().splitlines() if " & " in line]
    assert [line[0] for line in lines] == ["", "right", "mean"]
    assert lines[0][1:] == ["estimate", r"95 \% CI \\"]
    low, high = both["right"].interval.low, both["right"].interval.high
    assert lines[1][1:] == ["0.75", rf"[{low:.4f}, {high:.4f}] \\"]
    assert both["right"].to_latex(columns=["method"]).count("&") == 2
    assert both["right"].to_latex().splitlines()[4].startswith("accuracy")


def test_a_dict_of_results_is_printed_with_intervals():
    both = metric_interval(["accuracy", "f1"], [0, 1] * 20, [0, 1, 1, 1] * 10)
    for line, (name, each) in zip(str(both).splitlines(), both.items(), strict=True):
        assert line.split(None, 1) == [name, f"{each.value:.4f} {each.interval}"]
