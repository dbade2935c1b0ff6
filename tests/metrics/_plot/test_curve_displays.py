"""What the displays of ROC, precision-recall and decision curves draw, and from what."""

import matplotlib as mpl
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    KFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    cross_val_predict,
    cross_validate,
)
from sklearn.svm import LinearSVC

from skeval.metrics import (
    CostCurveDisplay,
    NetBenefitDisplay,
    PrecisionRecallDisplay,
    RocCurveDisplay,
    net_benefit,
    precision_recall_curve_band,
    roc_curve_band,
)

mpl.use("Agg")
DISPLAYS = [RocCurveDisplay, PrecisionRecallDisplay, NetBenefitDisplay]
KEEP = {"return_estimator": True, "return_indices": True}


def task(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3 == 0
    return rng.normal(size=(n, 2)) + y[:, None], np.where(y, "ill", "well")


def labels(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_the_roc_display_draws_its_bands(tmp_path):
    X, y = task()
    options = {"pos_label": "ill", "n_resamples": 20, "random_state": 0, "confidence_level": 0.9}
    display = RocCurveDisplay.from_predictions(y, X[:, 0], name="mine", color="red", **options)
    band = roc_curve_band(y, X[:, 0], **options)
    assert_allclose(display.line_.get_xydata(), band.points)
    assert_allclose(display.band.simultaneous_low, band.simultaneous_low)
    assert display.line_.get_color() == "red"
    ends = band.area_interval
    assert labels(display) == [
        "chance",
        f"mine (AUC {band.area:.3f}, {ends.low:.3f} to {ends.high:.3f})",
        "90 % interval at each point",
        "90 % band of the whole curve",
    ]
    assert len(display.ax_.collections) == 2
    display.figure_.savefig(tmp_path / "roc.png")
    assert (tmp_path / "roc.png").stat().st_size > 5000
    again = RocCurveDisplay(band).plot(display.ax_)
    assert again.ax_ is display.ax_


def test_the_precision_recall_display_draws_its_bands():
    X, y = task()
    options = {"pos_label": "ill", "n_resamples": 20, "random_state": 0}
    display = PrecisionRecallDisplay.from_predictions(y, X[:, 0], **options)
    band = precision_recall_curve_band(y, X[:, 0], **options)
    assert_allclose(display.line_.get_xydata(), band.points)
    assert display.line_.get_drawstyle() == "steps-pre"
    assert labels(display)[0] == f"prevalence {band.prevalence:.3f}"
    assert display.ax_.get_ylabel() == "Precision"


def test_the_decision_curve_has_its_two_trivial_lines():
    X, y = task()
    proba = LogisticRegression().fit(X, y).predict_proba(X)[:, 0]
    display = NetBenefitDisplay.from_predictions(y, proba, pos_label="ill", name="mine")
    curve = net_benefit(y, proba, pos_label="ill")
    assert_allclose(display.line_.get_ydata(), curve.net_benefit)
    assert labels(display) == ["mine", "95 % interval at each threshold", "treat none", "treat all"]
    options = {"pos_label": "ill", "baseline": np.ones(60), "thresholds": [0.1, 0.2, 0.5]}
    difference = NetBenefitDisplay.from_predictions(y, proba, **options)
    assert difference.ax_.get_ylabel() == "Difference of net benefit"
    assert labels(difference) == ["difference", "95 % interval at each threshold"]


@pytest.mark.parametrize("display", DISPLAYS)
def test_from_estimator_scores_the_positive_class(display):
    X, y = task()
    model = LogisticRegression().fit(X, y)
    for column, label in enumerate(["ill", "well"]):
        drawn = display.from_estimator(model, X, y, pos_label=label)
        proba = model.predict_proba(X)[:, column]
        expected = display.from_predictions(y, proba, pos_label=label)
        assert_allclose(drawn.line_.get_xydata(), expected.line_.get_xydata(), atol=1e-12)
        assert drawn.name == "LogisticRegression"


def test_net_benefit_needs_probabilities():
    X, y = task()
    with pytest.raises(ValueError, match="estimator must have predict_proba, got LinearSVC"):
        NetBenefitDisplay.from_estimator(LinearSVC().fit(X, y), X, y)
    results = cross_validate(LinearSVC(), X, y, cv=3, **KEEP)
    assert RocCurveDisplay.from_cv_results(results, X, y, n_resamples=2).name == "LinearSVC"
    with pytest.raises(ValueError, match="estimator must have predict_proba"):
        NetBenefitDisplay.from_cv_results(results, X, y)


@pytest.mark.parametrize("display", [*DISPLAYS, CostCurveDisplay])
def test_from_cv_results_draws_out_of_fold_scores(display):
    X, y = task()
    cv = KFold(4, shuffle=True, random_state=0)
    results = cross_validate(LogisticRegression(), X, y, cv=cv, **KEEP)
    drawn = display.from_cv_results(results, X, y, pos_label="ill")
    proba = cross_val_predict(LogisticRegression(), X, y, cv=cv, method="predict_proba")[:, 0]
    expected = display.from_predictions(y, proba, pos_label="ill")
    assert_allclose(drawn.line_.get_xydata(), expected.line_.get_xydata(), atol=1e-12)


def test_repeated_folds_are_averaged_and_untested_samples_left_out():
    X, y = task()
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    results = cross_validate(LogisticRegression(), X, y, cv=cv, **KEEP)
    scores = np.zeros(60)
    for model, test in zip(results["estimator"], results["indices"]["test"], strict=True):
        scores[test] += model.predict_proba(X[test])[:, 0] / 2
    drawn = RocCurveDisplay.from_cv_results(results, X, y, pos_label="ill", n_resamples=2)
    expected = roc_curve_band(y, scores, pos_label="ill", n_resamples=2)
    assert_allclose(drawn.band.points, expected.points, atol=1e-12)

    cv = ShuffleSplit(1, test_size=0.5, random_state=0)
    results = cross_validate(LogisticRegression(), X, y, cv=cv, **KEEP)
    test, weight, groups = results["indices"]["test"][0], np.arange(1, 61), np.arange(60) // 2
    options = {"sample_weight": weight, "groups": groups}
    drawn = RocCurveDisplay.from_cv_results(
        results, X, y, pos_label="ill", n_resamples=2, **options
    )
    test = np.sort(test)
    proba = results["estimator"][0].predict_proba(X[test])[:, 0]
    expected = roc_curve_band(
        y[test],
        proba,
        pos_label="ill",
        n_resamples=2,
        sample_weight=weight[test],
        groups=groups[test],
    )
    assert_allclose(drawn.band.low, expected.low)


def test_from_cv_results_takes_frames_and_refuses_what_is_not_theirs():
    pandas = pytest.importorskip("pandas")
    X, y = task()
    frame, labels = pandas.DataFrame(X), pandas.Series(y)
    results = cross_validate(LogisticRegression(), frame, labels, cv=3, **KEEP)
    drawn = RocCurveDisplay.from_cv_results(results, frame, labels, n_resamples=2)
    plain = RocCurveDisplay.from_cv_results(
        cross_validate(LogisticRegression(), X, y, cv=3, **KEEP), X, y, n_resamples=2
    )
    assert_allclose(drawn.band.points, plain.band.points)
    without = cross_validate(LogisticRegression(), X, y, cv=3, return_estimator=True)
    with pytest.raises(ValueError, match="return_indices=True, got"):
        RocCurveDisplay.from_cv_results(without, X, y)
    with pytest.raises(ValueError, match="got <class 'list'>"):
        RocCurveDisplay.from_cv_results([], X, y)
    with pytest.raises(ValueError, match="X must be what cv_results come from"):
        RocCurveDisplay.from_cv_results(results, X[:20], y[:20])
    with pytest.raises(ValueError, match="groups must be None for CostCurveDisplay"):
        CostCurveDisplay.from_cv_results(results, X, y, groups=y)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        RocCurveDisplay.from_cv_results(results, X, y[:5])
