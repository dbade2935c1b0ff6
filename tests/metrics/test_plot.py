"""Displays of scores and of calibration: numbers, axes, options, errors."""

import matplotlib as mpl
import numpy as np
import pytest
import sklearn.metrics
from numpy.testing import assert_allclose
from reference.ranking import envelope
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_recall_curve
from sklearn.model_selection import (
    KFold,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    cross_val_predict,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from skeval.metrics import (
    CostCurveDisplay,
    NetBenefitDisplay,
    PrecisionRecallDisplay,
    ReliabilityDisplay,
    RocCurveDisplay,
    break_even_point,
    cost_curve,
    cost_curve_band,
    net_benefit,
    precision_recall_curve_band,
    reliability_curve,
    roc_curve_band,
)

mpl.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


def scores(n=100, shift=1.3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [n - n // 3, n // 3])
    return y, rng.normal(size=n) + shift * y, rng.normal(size=n) + 0.5 * y


def test_band_is_the_quantiles_of_resamples_one_by_one():
    y, score, other = scores(n=24)
    band = cost_curve_band(y, score, baseline=other, n_resamples=7, n_points=5, random_state=3)
    assert_allclose(
        band.y, cost_curve(y, score).at(band.x) - cost_curve(y, other).at(band.x), atol=1e-14
    )
    ends = np.quantile(band.extra.replicates, [0.025, 0.975], axis=0)
    assert_allclose([band.low, band.high], ends)
    assert band.extra.replicates.shape == (7, 5)
    assert np.abs(band.extra.replicates[:, [0, -1]]).max() == 0
    single = cost_curve_band(y, score, n_resamples=7, n_points=5, random_state=3)
    assert_allclose(single.y[2], envelope(y == 1, score, np.ones(24), 0.5)[0])
    # Positive and negative counts stay: a resample of tied scores is the trivial classifier.
    tied = cost_curve_band(y, np.zeros(24), n_resamples=20, n_points=5, random_state=0)
    assert_allclose(tied.extra.replicates, np.tile([0, 0.25, 0.5, 0.25, 0], (20, 1)))


def test_cost_display_draws_the_curve():
    y, score, _ = scores()
    display = CostCurveDisplay.from_predictions(y, score, lines=True, name="mine", color="red")
    curve = cost_curve(y, score)
    assert_allclose(display.line_.get_xydata()[:, 1], curve.y)
    assert display.line_.get_color() == "red"
    assert display.line_.get_label() == f"mine (area {curve.area.value:.3f})"
    assert len(display.ax_.lines) == len(curve.extra.lines) + 2
    thin = [line.get_xydata() for line in display.ax_.lines if line.get_color() == "0.85"]
    assert_allclose(thin, [[[0, at_0], [1, at_1]] for at_0, at_1 in curve.extra.lines])


def test_cost_display_draws_a_band_and_a_difference():
    y, score, other = scores()
    _, ax = plt.subplots()
    options = {"n_resamples": 20, "random_state": 0}
    display = CostCurveDisplay.from_predictions(y, score, confidence_level=0.9, ax=ax, **options)
    assert display.ax_ is ax
    assert display.curve.confidence_level == 0.9
    assert [text.get_text() for text in ax.get_legend().get_texts()][-1] == (
        "90 % interval at each point"
    )
    difference = CostCurveDisplay.from_predictions(y, score, baseline=other, **options)
    assert difference.ax_.get_ylabel() == "Difference of normalized expected cost"
    assert_allclose(difference.line_.get_ydata(), difference.curve.y)


def test_precision_recall_display_marks_the_break_even_point():
    y, score, _ = scores()
    display = PrecisionRecallDisplay.from_predictions(y, score, break_even=True)
    value = break_even_point(y, score)
    assert_allclose(display.point_.get_xydata(), [[value, value]])
    assert labels(display)[-1] == f"break-even {value:.3f}"
    precision, recall, _ = precision_recall_curve(y, score)
    assert_allclose(display.line_.get_xydata(), np.column_stack([recall, precision])[-2::-1])
    weighted = precision_recall_curve_band(y, score, sample_weight=y + 1.0, n_resamples=2)
    expected = break_even_point(y, score, sample_weight=y + 1.0)
    assert weighted.extra.break_even_point == pytest.approx(expected)
    assert PrecisionRecallDisplay(weighted).plot().point_ is None


@pytest.mark.parametrize("display", [CostCurveDisplay, ReliabilityDisplay])
@pytest.mark.parametrize(
    "estimator", [LogisticRegression(), DecisionTreeClassifier(max_depth=2, random_state=0)]
)
def test_from_estimator_scores_the_positive_class(display, estimator):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.repeat(["no", "yes"], [20, 40])
    X[:20] += 1
    estimator.fit(X, y)
    probability = estimator.predict_proba(X)
    for column, label in enumerate(["no", "yes"]):
        drawn = display.from_estimator(estimator, X, y, pos_label=label)
        expected = display.from_predictions(y, probability[:, column], pos_label=label)
        assert_allclose(drawn.curve.y, expected.curve.y, atol=1e-12)
        assert drawn.name == type(estimator).__name__
    default = display.from_estimator(estimator, X, y)
    assert_allclose(default.curve.y, drawn.curve.y)
    with pytest.raises(ValueError, match="pos_label=maybe is not a valid label"):
        display.from_estimator(estimator, X, y, pos_label="maybe")
    with pytest.raises(NotFittedError):
        display.from_estimator(LogisticRegression(), X, y)
    with pytest.raises((AttributeError, ValueError), match="KMeans"):
        display.from_estimator(KMeans(2, n_init=1).fit(X), X, y)


DISPLAYS = [RocCurveDisplay, PrecisionRecallDisplay, NetBenefitDisplay]
KEEP = {"return_estimator": True, "return_indices": True}


def inputs(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3 == 0
    return rng.normal(size=(n, 2)) + y[:, None], np.where(y, "ill", "well")


def labels(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_the_roc_display_draws_its_bands(tmp_path):
    X, y = inputs()
    options = {"pos_label": "ill", "n_resamples": 20, "random_state": 0, "confidence_level": 0.9}
    display = RocCurveDisplay.from_predictions(y, X[:, 0], name="mine", color="red", **options)
    band = roc_curve_band(y, X[:, 0], **options)
    assert_allclose(display.line_.get_xydata(), band.extra.points)
    assert_allclose(display.curve.band.low, band.band.low)
    assert display.line_.get_color() == "red"
    ends = band.area.interval
    assert labels(display) == [
        "chance",
        f"mine (AUC {band.area.value:.3f}, {ends.low:.3f} to {ends.high:.3f})",
        "90 % interval at each point",
        "90 % band of the whole curve",
    ]
    assert len(display.ax_.collections) == 2
    display.figure_.savefig(tmp_path / "roc.png")
    assert (tmp_path / "roc.png").stat().st_size > 5000
    again = RocCurveDisplay(band).plot(display.ax_)
    assert again.ax_ is display.ax_


THEIRS = {
    RocCurveDisplay: (sklearn.metrics.RocCurveDisplay, ["fpr", "tpr", "roc_auc"]),
    PrecisionRecallDisplay: (
        sklearn.metrics.PrecisionRecallDisplay,
        ["precision", "recall", "average_precision", "prevalence_pos_label"],
    ),
}


@pytest.mark.parametrize("ours", THEIRS)
@pytest.mark.parametrize("response", ["auto", "predict_proba", "decision_function"])
def test_displays_take_the_arguments_of_scikit_learn_and_have_its_numbers(ours, response):
    theirs, numbers = THEIRS[ours]
    X, y = inputs()
    model = LogisticRegression().fit(X, y)
    options = {"response_method": response, "pos_label": "ill", "name": "mine", "despine": True}
    options |= {"plot_chance_level": True, "chance_level_kw": {"color": "red"}}
    options |= {"drop_intermediate": False}
    found = ours.from_estimator(model, X, y, **options)
    expected = theirs.from_estimator(model, X, y, **options)
    assert isinstance(found, theirs)
    for name in [*numbers, "pos_label"]:
        value = getattr(expected, name)
        if isinstance(value, list):  # of curves, in some versions
            (value,) = value
        if name == "pos_label":
            assert found.pos_label == value
        else:
            assert_allclose(getattr(found, name), value, atol=1e-14)
    assert found.chance_level_.get_color() == "red"
    assert not found.ax_.spines["top"].get_visible()
    assert found.plot(plot_chance_level=False, name="other").chance_level_ is None
    assert found.line_.get_label().startswith("other")
    with pytest.raises(ValueError, match="response_method must be one of 'auto', 'predict_proba'"):
        ours.from_estimator(model, X, y, response_method="predict")


def test_the_decision_curve_has_its_two_trivial_lines():
    X, y = inputs()
    proba = LogisticRegression().fit(X, y).predict_proba(X)[:, 0]
    display = NetBenefitDisplay.from_predictions(y, proba, pos_label="ill", name="mine")
    curve = net_benefit(y, proba, pos_label="ill")
    assert_allclose(display.line_.get_ydata(), curve.y)
    assert labels(display) == ["treat none", "treat all", "mine", "95 % interval at each point"]
    options = {"pos_label": "ill", "baseline": np.ones(60), "thresholds": [0.1, 0.2, 0.5]}
    difference = NetBenefitDisplay.from_predictions(y, proba, **options)
    assert difference.ax_.get_ylabel() == "Difference of net benefit"
    assert labels(difference) == ["difference of net benefit", "95 % interval at each point"]


def test_net_benefit_needs_probabilities():
    X, y = inputs()
    with pytest.raises(AttributeError, match=r"LinearSVC has none of .* predict_proba"):
        NetBenefitDisplay.from_estimator(LinearSVC().fit(X, y), X, y)
    results = cross_validate(LinearSVC(), X, y, cv=3, **KEEP)
    assert (
        RocCurveDisplay.from_cv_results(results, X, y, n_resamples=2).name
        == "LinearSVC, out of fold"
    )
    with pytest.raises(AttributeError, match="LinearSVC has none of"):
        NetBenefitDisplay.from_cv_results(results, X, y)


@pytest.mark.parametrize("display", [*DISPLAYS, CostCurveDisplay, ReliabilityDisplay])
def test_from_cv_results_draws_out_of_fold_scores(display):
    X, y = inputs()
    cv = KFold(4, shuffle=True, random_state=0)
    results = cross_validate(LogisticRegression(), X, y, cv=cv, **KEEP)
    drawn = display.from_cv_results(results, X, y, pos_label="ill")
    proba = cross_val_predict(LogisticRegression(), X, y, cv=cv, method="predict_proba")[:, 0]
    expected = display.from_predictions(y, proba, pos_label="ill")
    assert_allclose(drawn.curve.y, expected.curve.y, atol=1e-12)


def test_repeated_folds_are_averaged_and_untested_samples_left_out():
    X, y = inputs()
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    results = cross_validate(LogisticRegression(), X, y, cv=cv, **KEEP)
    scores = np.zeros(60)
    for model, test in zip(results["estimator"], results["indices"]["test"], strict=True):
        scores[test] += model.predict_proba(X[test])[:, 0] / 2
    drawn = RocCurveDisplay.from_cv_results(results, X, y, pos_label="ill", n_resamples=2)
    expected = roc_curve_band(y, scores, pos_label="ill", n_resamples=2)
    assert_allclose(drawn.curve.extra.points, expected.extra.points, atol=1e-12)

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
    assert_allclose(drawn.curve.low, expected.low)


def test_from_cv_results_takes_frames_and_refuses_what_is_not_theirs():
    pandas = pytest.importorskip("pandas")
    X, y = inputs()
    frame, labels = pandas.DataFrame(X), pandas.Series(y)
    results = cross_validate(LogisticRegression(), frame, labels, cv=3, **KEEP)
    drawn = RocCurveDisplay.from_cv_results(results, frame, labels, n_resamples=2)
    plain = RocCurveDisplay.from_cv_results(
        cross_validate(LogisticRegression(), X, y, cv=3, **KEEP), X, y, n_resamples=2
    )
    assert_allclose(drawn.curve.extra.points, plain.curve.extra.points)
    without = cross_validate(LogisticRegression(), X, y, cv=3, return_estimator=True)
    with pytest.raises(ValueError, match="return_indices=True, got"):
        RocCurveDisplay.from_cv_results(without, X, y)
    with pytest.raises(ValueError, match="got list without them"):
        RocCurveDisplay.from_cv_results([], X, y)
    with pytest.raises(ValueError, match="X must have the rows of cv_results"):
        RocCurveDisplay.from_cv_results(results, X[:20], y[:20])
    groups = np.arange(len(y)) // 3
    grouped = CostCurveDisplay.from_cv_results(results, X, y, groups=groups, n_resamples=2)
    assert grouped.curve.low is not None
    with pytest.raises(ValueError, match="inconsistent numbers"):
        RocCurveDisplay.from_cv_results(results, X, y[:5])


def draw(n=120, names=("no", "yes")):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    y = (X[:, 0] + rng.normal(size=n) > 0.4).astype(int)
    if len(names) == 3:
        y += X[:, 1] > 1
    return X, np.array(names)[y]


def points(display):
    return display.errorbar_.lines[0].get_xydata()


def test_it_draws_points_intervals_band_and_histogram():
    X, y = draw()
    p = GaussianNB().fit(X, y).predict_proba(X)[:, 1]
    display = ReliabilityDisplay.from_predictions(y, p, n_bins=5, pos_label="yes", name="Bayes")
    curve = reliability_curve(y, p, n_bins=5, pos_label="yes")
    assert_allclose(points(display), np.column_stack([curve.x, curve.y]))
    (bars,) = display.errorbar_.lines[2]
    assert_allclose([ends[:, 1] for ends in bars.get_segments()], np.c_[curve.low, curve.high])
    outline = display.band_.get_paths()[0].vertices[:, 1]
    assert set(np.r_[curve.columns["calibrated_low"], curve.columns["calibrated_high"]]) <= set(
        outline
    )
    assert sum(bar.get_height() for bar in display.histogram_) == pytest.approx(120)
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["calibrated", "95 % band if calibrated", "Bayes, 95 % intervals"]
    assert display.ax_.get_ylabel() == "Observed fraction (positive class: yes)"


def test_several_classes():
    X, y = draw(names=("a", "b", "c"))
    model = GaussianNB().fit(X, y)
    top = ReliabilityDisplay.from_estimator(model, X, y)
    assert top.ax_.get_xlabel() == "Mean predicted probability (of the predicted class)"
    right = y == model.predict(X)
    expected = reliability_curve(right, model.predict_proba(X).max(axis=1))
    assert_allclose(points(top)[:, 1], expected.y)
    one = ReliabilityDisplay.from_estimator(model, X, y, pos_label="b")
    assert_allclose(points(one)[:, 1], reliability_curve(y == "b", model.predict_proba(X)[:, 1]).y)


def test_classes_side_by_side():
    X, y = draw(names=("a", "b", "c"))
    model = GaussianNB().fit(X, y)
    _, ax = plt.subplots()
    options = {"ax": ax, "band": False, "histogram": False}
    for label in "abc":
        ReliabilityDisplay.from_estimator(model, X, y, pos_label=label, name=label, **options)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["calibrated", *(f"{label}, 95 % intervals" for label in "abc")]
    assert ax.get_ylabel() == "Observed fraction"


def test_calibration_tests_each_sample_once():
    X, y = draw()
    cv = RepeatedKFold(n_splits=2, n_repeats=3)
    twice = cross_validate(GaussianNB(), X, y, cv=cv, **KEEP)
    with pytest.raises(ValueError, match="got 3 times"):
        ReliabilityDisplay.from_cv_results(twice, X, y)


def test_estimators_of_folds_must_share_their_classes():
    X, y = np.arange(12.0)[:, None], np.repeat([0, 1, 2], 4)
    folds = [(np.arange(8), np.arange(8, 12)), (np.arange(12), np.arange(4))]
    results = cross_validate(
        GaussianNB(), X, y, cv=folds, return_estimator=True, return_indices=True
    )
    with pytest.raises(ValueError, match="contain estimators fitted to the same classes"):
        ReliabilityDisplay.from_cv_results(results, X, y)


@pytest.mark.parametrize("compute", [roc_curve_band, precision_recall_curve_band, net_benefit])
def test_the_legend_of_two_curves_has_both_names_and_each_reference_once(compute):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    ax = plt.figure().subplots()
    for name in ("old", "new"):
        chance = 1 / (1 + np.exp(-y - rng.normal(size=60)))
        display = compute(y, chance).plot(ax, name=name)
        assert display.line_.get_label().startswith(name)
        alone = compute(y, chance).plot(name=name).ax_.get_legend().get_texts()
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(set(texts)) == len(texts) == len(alone) + 1
    # curves without a name are both listed
    ax = plt.figure().subplots()
    for _ in range(2):
        compute(y, chance).plot(ax)
    assert len(ax.get_legend().get_texts()) == len(alone) + 1
    plt.close("all")


def test_a_number_is_one_threshold():
    y, score, _ = scores()
    chance = 1 / (1 + np.exp(-score))
    curve = net_benefit(y, chance, thresholds=0.2)
    assert_allclose(curve.x, [0.2])
    assert_allclose(curve.y, net_benefit(y, chance, thresholds=[0.2, 0.4]).y[:1])
