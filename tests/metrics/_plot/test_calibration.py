"""What the display of a calibration curve draws."""

import matplotlib as mpl
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, RepeatedKFold, cross_val_predict, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from skeval.metrics import CalibrationDisplay, calibration_curve

mpl.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def draw(n=120, names=("no", "yes")):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    y = (X[:, 0] + rng.normal(size=n) > 0.4).astype(int)
    if len(names) == 3:
        y += X[:, 1] > 1
    return X, np.array(names)[y]


def points(display):
    return display.errorbar_.lines[0].get_xydata()


def test_it_draws_points_intervals_band_and_histogram(tmp_path):
    X, y = draw()
    p = GaussianNB().fit(X, y).predict_proba(X)[:, 1]
    display = CalibrationDisplay.from_predictions(y, p, n_bins=5, pos_label="yes", name="Bayes")
    curve = calibration_curve(y, p, n_bins=5, pos_label="yes")
    assert_allclose(points(display), np.column_stack([curve.mean_predicted, curve.observed]))
    (bars,) = display.errorbar_.lines[2]
    assert_allclose([ends[:, 1] for ends in bars.get_segments()], np.c_[curve.low, curve.high])
    outline = display.band_.get_paths()[0].vertices[:, 1]
    assert set(np.r_[curve.band_low, curve.band_high]) <= set(outline)
    assert sum(bar.get_height() for bar in display.histogram_) == pytest.approx(120)
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["calibrated", "95 % band if calibrated", "Bayes, 95 % intervals"]
    assert display.ax_.get_ylabel() == "Observed fraction (positive class: yes)"
    display.figure_.savefig(tmp_path / "calibration.png")
    assert (tmp_path / "calibration.png").stat().st_size > 5000


def test_options_of_the_drawing():
    X, y = draw()
    model = GaussianNB().fit(X, y)
    _, ax = plt.subplots()
    display = CalibrationDisplay.from_estimator(
        model, X, y, ax=ax, band=False, histogram=False, color="red", confidence_level=0.8
    )
    assert display.ax_ is ax
    assert display.band_ is None
    assert display.histogram_ is None
    assert display.errorbar_.lines[0].get_color() == "red"
    assert display.name == "GaussianNB"
    assert display.curve.confidence_level == 0.8


def test_from_estimator_takes_the_positive_class():
    X, y = draw()
    model = LogisticRegression().fit(X, y)
    for label, chosen in ((None, "yes"), ("yes", "yes"), ("no", "no")):
        display = CalibrationDisplay.from_estimator(model, X, y, pos_label=label)
        column = model.predict_proba(X)[:, ["no", "yes"].index(chosen)]
        expected = CalibrationDisplay.from_predictions(y, column, pos_label=chosen)
        assert_allclose(points(display), points(expected))
        assert display.curve.pos_label == chosen


def test_several_classes():
    X, y = draw(names=("a", "b", "c"))
    model = GaussianNB().fit(X, y)
    top = CalibrationDisplay.from_estimator(model, X, y)
    assert top.ax_.get_xlabel() == "Mean predicted probability (of the predicted class)"
    right = y == model.predict(X)
    expected = calibration_curve(right, model.predict_proba(X).max(axis=1))
    assert_allclose(points(top)[:, 1], expected.observed)
    one = CalibrationDisplay.from_estimator(model, X, y, pos_label="b")
    assert_allclose(
        points(one)[:, 1], calibration_curve(y == "b", model.predict_proba(X)[:, 1]).observed
    )


def test_classes_side_by_side():
    X, y = draw(names=("a", "b", "c"))
    model = GaussianNB().fit(X, y)
    _, ax = plt.subplots()
    options = {"ax": ax, "band": False, "histogram": False}
    for label in "abc":
        CalibrationDisplay.from_estimator(model, X, y, pos_label=label, name=label, **options)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["calibrated", *(f"{label}, 95 % intervals" for label in "abc")]
    assert ax.get_ylabel() == "Observed fraction"


def test_from_cv_results_pools_the_predictions_out_of_fold():
    X, y = draw()
    cv = KFold(4, shuffle=True, random_state=0)
    kept = {"return_estimator": True, "return_indices": True}
    results = cross_validate(GaussianNB(), X, y, cv=cv, **kept)
    weight = np.random.default_rng(1).random(120)
    display = CalibrationDisplay.from_cv_results(results, X, y, sample_weight=weight)
    p = cross_val_predict(GaussianNB(), X, y, cv=cv, method="predict_proba")[:, 1]
    expected = calibration_curve(y, p, pos_label="yes", sample_weight=weight)
    assert_allclose(points(display)[:, 1], expected.observed)
    assert display.name == "GaussianNB, out of fold"
    twice = cross_validate(GaussianNB(), X, y, cv=RepeatedKFold(n_splits=2, n_repeats=3), **kept)
    with pytest.raises(ValueError, match="one that is tested 3 times"):
        CalibrationDisplay.from_cv_results(twice, X, y)
    with pytest.raises(ValueError, match="return_estimator=True"):
        CalibrationDisplay.from_cv_results(cross_validate(GaussianNB(), X, y), X, y)
    with pytest.raises(ValueError, match="X must hold the 120 samples"):
        CalibrationDisplay.from_cv_results(results, X[:60], y[:60])


def test_refusals():
    X, y = draw()
    with pytest.raises(NotFittedError):
        CalibrationDisplay.from_estimator(GaussianNB(), X, y)
    with pytest.raises(TypeError, match="with predict_proba, got LinearSVC"):
        CalibrationDisplay.from_estimator(LinearSVC().fit(X, y), X, y)
