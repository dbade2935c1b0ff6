"""prediction_instability against plain loops."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib import pyplot as plt
from reference.bootstrap_score import instability
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skeval.metrics import calibration_measures
from skeval.metrics._validation import find_recalibration, find_smooth_curve
from skeval.model_selection import InstabilityDisplay, prediction_instability


@pytest.fixture(scope="module")
def two_classes():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:90, :4], y[:90]


@pytest.mark.parametrize(
    "estimator", [GaussianNB(), DecisionTreeClassifier(max_depth=3, random_state=0)]
)
def test_measures_equal_the_plain_loops(two_classes, estimator):
    X, y = two_classes
    indices = np.random.default_rng(0).integers(0, len(y), (12, len(y)))
    result = prediction_instability(estimator, X, y, indices=indices)
    mape, changed = instability(estimator, X, y, indices)
    np.testing.assert_allclose(result.mape, mape, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(result.classification_instability, changed, atol=1e-14)
    assert result.mean_mape == pytest.approx(mape.mean())
    at_half = prediction_instability(estimator, X, y, indices=indices, threshold=0.5)
    assert at_half.mean_classification_instability == pytest.approx(changed.mean(), abs=0.01)


def test_a_constant_model_is_stable():
    X, y = load_diabetes(return_X_y=True)
    loose, stiff = (
        prediction_instability(Ridge(alpha), X, y, n_resamples=10, random_state=0)
        for alpha in (1e-3, 1e3)
    )
    assert stiff.mean_mape < loose.mean_mape
    assert loose.classification_instability is None
    assert np.all(loose.low <= loose.high)


def test_more_classes_are_averaged():
    X, y = load_iris(return_X_y=True)
    result = prediction_instability(GaussianNB(), X, y, n_resamples=8, random_state=0)
    assert result.resampled.shape == (8, 150, 3)
    expected = np.abs(result.resampled - result.predictions).mean(axis=(0, 2))
    np.testing.assert_allclose(result.mape, expected)
    assert list(result.to_frame()) == ["mape", "classification_instability"]
    assert result.calibration_curves is None
    assert len(result.plot().axes_) == 1
    plt.close("all")


def test_the_plot_has_a_curve_for_each_model(two_classes):
    result = prediction_instability(GaussianNB(), *two_classes, n_resamples=6, random_state=0)
    display = InstabilityDisplay.from_result(result)
    assert len(display.points_.get_offsets()) == 6 * 90
    assert len(display.curves_) == 7
    assert "90" in str(result)
    assert "mean_mape" in result.to_dict()
    plt.close("all")


def test_recalibration_is_that_of_calibration_measures():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.05, 0.95, 200)
    y = rng.random(200) < p
    weight = rng.uniform(0.5, 2, 200)
    measures = calibration_measures(y.astype(int), p, sample_weight=weight, random_state=0)
    expected = measures["intercept"].value, measures["slope"].value
    np.testing.assert_allclose(find_recalibration(y, p, weight), expected, rtol=1e-6)


def test_a_smooth_curve_is_close_to_the_truth_and_ends_with_the_data():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.2, 0.8, 20_000)
    y = rng.random(20_000) < p**2
    curve = find_smooth_curve(y, p, np.ones(20_000), np.array([0.1, 0.3, 0.5, 0.7, 0.9]))
    np.testing.assert_array_equal(np.isnan(curve), [True, False, False, False, True])
    np.testing.assert_allclose(curve[1:4], np.array([0.3, 0.5, 0.7]) ** 2, atol=0.015)
    assert np.isnan(find_smooth_curve(y, np.full(20_000, 0.5), np.ones(20_000), p[:3])).all()


@pytest.mark.parametrize(
    ("estimator", "options", "message"),
    [
        (RidgeClassifier(), {}, "predict_proba"),
        (GaussianNB(), {"threshold": 1.5}, "threshold must be a probability"),
        (GaussianNB(), {"threshold": True}, "threshold must be a probability"),
        (GaussianNB(), {"n_resamples": 0}, "n_resamples"),
    ],
)
def test_errors_name_the_argument(two_classes, estimator, options, message):
    with pytest.raises(ValueError, match=message):
        prediction_instability(estimator, *two_classes, **options)


def test_frames_of_several_classes_and_of_numbers_and_failed_fits():
    X, y = load_iris(return_X_y=True)
    classes = prediction_instability(GaussianNB(), X, y, n_resamples=5, random_state=0)
    assert list(classes.to_frame()) == ["mape", "classification_instability"]
    numbers = prediction_instability(Ridge(), X, X[:, 0], n_resamples=5, random_state=0)
    assert list(numbers.to_frame()) == ["predictions", "low", "high", "mape"]
    assert "failed fits" not in str(numbers)
    assert "failed fits   2" in str(replace(numbers, n_failed=2))
