"""The difference of two machines under shared perturbations: the loop, its formulas, its size."""

import pickle

import numpy as np
import pytest
from reference.perturbation import statistics_cross_validation, statistics_resubstitution
from scipy.stats import binom, norm
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from skeval.datasets import make_gaussian_classes
from skeval.model_selection import Difference, perturbation_interval
from skeval.svm import PerturbationResamplingSVC, perturbation_difference

LINEAR = SVC(kernel="linear", tol=1e-6)
CURVED = SVC(kernel="rbf", gamma=1.0)


@pytest.fixture(scope="module")
def data():
    sample = make_gaussian_classes(40, 3, separation=1.5, random_state=0)
    weights = np.random.default_rng(1).exponential(size=(40, 40))
    return sample.X, np.array(["no", "yes"])[sample.y], weights


@pytest.mark.parametrize("statistic", ["cross_validation", "resubstitution"])
@pytest.mark.filterwarnings("ignore:the resubstitution error:UserWarning")
def test_against_a_loop_over_both(data, statistic):
    X, y, weights = data
    folds = list(StratifiedKFold(4).split(X, y))
    result = perturbation_difference(
        LINEAR, CURVED, X, y, weights=weights, cv=folds, statistic=statistic
    )
    errors, statistics = zip(
        *(statistics_cross_validation(model, X, y, weights, folds) for model in (LINEAR, CURVED)),
        strict=True,
    )
    if statistic == "resubstitution":
        loops = (statistics_resubstitution(model, X, y, weights) for model in (LINEAR, CURVED))
        statistics = [values for _, values in loops]
    expected = statistics[0] - statistics[1]
    assert result.value == pytest.approx(errors[0] - errors[1], abs=1e-12)
    assert result.details["errors"] == pytest.approx(errors, abs=1e-12)
    np.testing.assert_allclose(result.details["statistics"], expected, atol=1e-9)
    assert result.standard_error == pytest.approx(expected.std(ddof=1) / np.sqrt(40))


def test_same_folds_and_weights_as_the_intervals_of_one_seed(data):
    X, y, _ = data
    options = {"n_resamples": 40, "cv": 5, "random_state": 7}
    result = perturbation_difference(LINEAR, CURVED, X, y, **options)
    one, other = (perturbation_interval(model, X, y, **options) for model in (LINEAR, CURVED))
    assert result.value == one.value - other.value
    expected = one.statistics - other.statistics
    np.testing.assert_array_equal(result.details["statistics"], expected)
    independent = np.hypot(one.standard_error, other.standard_error)
    assert result.details["standard_error_if_independent"] == pytest.approx(independent)
    swapped = perturbation_difference(CURVED, LINEAR, X, y, **options)
    assert swapped.value == -result.value
    assert swapped.interval.low == pytest.approx(-result.interval.high)
    assert swapped.pvalue == result.pvalue
    again = perturbation_difference(LINEAR, CURVED, X, y, **options, n_jobs=2)
    np.testing.assert_array_equal(again.replicates, result.replicates)


def test_forms_are_their_formulas(data):
    X, y, weights = data
    result = perturbation_difference(LINEAR, CURVED, X, y, weights=weights, cv=4, random_state=0)
    assert isinstance(result, Difference)
    deviations = result.details["statistics"] / np.sqrt(40)
    half = norm.ppf(0.975) * result.standard_error
    assert tuple(result.interval) == pytest.approx((result.value - half, result.value + half))
    z = result.value / result.standard_error
    assert result.statistic == pytest.approx(z)
    assert result.pvalue == pytest.approx(2 * norm.sf(abs(z)))
    low, high = np.quantile(deviations, [0.025, 0.975])
    pivotal = result.confidence_interval(method="pivotal")
    assert tuple(pivotal) == pytest.approx((result.value - high, result.value - low))
    half = np.quantile(np.abs(deviations), 0.8)
    symmetric = result.confidence_interval(0.8, method="symmetric")
    assert tuple(symmetric) == pytest.approx((result.value - half, result.value + half))
    np.testing.assert_allclose(result.replicates, result.value + deviations)
    assert pickle.loads(pickle.dumps(result)).interval == result.interval
    assert "P-value" in str(result)
    first = perturbation_difference(
        LINEAR, CURVED, X, y, weights=weights, cv=4, random_state=0, interval="symmetric"
    )
    assert first.interval.method == "symmetric"


def test_machines_that_estimate_their_own_error(data):
    X, y, weights = data
    options = {"weights": weights[:5], "cv": 4, "random_state": 0}
    machines = [
        PerturbationResamplingSVC(C=0.1, n_resamples=0),
        PerturbationResamplingSVC(estimator=CURVED),
    ]
    result = perturbation_difference(*machines, X, y, **options)
    plain = perturbation_difference(SVC(C=0.1, kernel="linear"), CURVED, X, y, **options)
    assert result.value == plain.value
    np.testing.assert_array_equal(result.replicates, plain.replicates)
    others = perturbation_difference(LogisticRegression(), LINEAR, X, y, **options)
    assert np.isfinite(others.interval.low)


def test_equal_machines_have_no_interval(data):
    X, y, weights = data
    with pytest.warns(UndefinedMetricWarning):
        result = perturbation_difference(LINEAR, LINEAR, X, y, weights=weights, cv=4)
    assert (result.value, result.standard_error) == (0.0, 0.0)
    assert np.isnan([result.pvalue, result.statistic, *result.interval]).all()
    assert "No conclusion" in str(result)


def test_bad_input(data):
    X, y, _ = data
    with pytest.raises(ValueError, match="interval must be one of"):
        perturbation_difference(LINEAR, CURVED, X, y, interval="wilson")
    with pytest.raises(ValueError, match="confidence_level"):
        perturbation_difference(LINEAR, CURVED, X, y, confidence_level=95)
    with pytest.raises(TypeError, match="KNeighborsClassifier"):
        perturbation_difference(LINEAR, KNeighborsClassifier(), X, y)
    with pytest.raises(ValueError, match="n_resamples must be >= 40"):
        perturbation_difference(LINEAR, CURVED, X, y, n_resamples=10, interval="pivotal")


def first_features(A, B):
    return A[:, :2] @ B[:, :2].T


def last_features(A, B):
    return A[:, 2:] @ B[:, 2:].T


@pytest.mark.filterwarnings("ignore:SVC does not reach:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_sets", [4, pytest.param(60, marks=pytest.mark.slow)])
def test_size_for_machines_of_equal_error(n_sets):
    # two groups of features with the same information: the procedures have the same mean error
    machines = [SVC(kernel=k, tol=1e-6) for k in (first_features, last_features)]
    rejected = covered = 0
    for seed in range(n_sets):
        rng = np.random.default_rng([7, seed])
        y, new = np.arange(40) % 2, np.arange(2000) % 2
        X, X_new = (rng.normal(size=(len(t), 4)) + t[:, None] * [1.2, 0, 1.2, 0] for t in (y, new))
        result = perturbation_difference(*machines, X, y, n_resamples=40, cv=5, random_state=seed)
        first, second = (np.mean(m.fit(X, y).predict(X_new) != new) for m in machines)
        rejected += result.pvalue <= 0.05
        covered += first - second in result.interval
    assert rejected <= binom.ppf(0.999, n_sets, 0.05)
    assert covered >= binom.ppf(0.001, n_sets, 0.95)
