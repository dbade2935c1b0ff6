"""Areas under the ROC curve, bands of curves and mean distances of bins, by their definitions."""

import numpy as np
import pytest
from helpers.crossed import each_value
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from reference import curves, metric_intervals
from reference.calibration import number_of_events
from scipy.stats import binom, norm, t
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

import skeval
from skeval._inference.areas import Steps, _draw_curve, _smooth_curve, align_scores, curve_distances
from skeval.metrics import (
    expected_calibration_error,
    precision_recall_curve_band,
    reliability_curve,
    roc_curve_band,
)
from skeval.model_selection import metric_interval


def test_groups_that_hold_every_score_are_worth_their_samples():
    """Where each group holds the same scores nothing varies between groups."""
    y, groups = np.repeat([0, 1], 40), np.repeat(np.arange(20), 4)
    score = np.r_[np.full(40, 1.5), np.tile(np.arange(4.0), 10)]
    options = {"n_points": 9, "n_resamples": 2}
    found = roc_curve_band(y, score, groups=groups, **options)
    points = curves.roc_points(y == 1, score, np.ones(80))
    # but equal scores of all samples of a class count once for each group
    limits = [curves.curve_limits(points, (10, 40), x, t.isf(0.025, 9), False) for x in found.x]
    assert_allclose(np.transpose([found.low, found.high]), limits, atol=1e-9)
    one, several = slice(None, 41), slice(None)
    with pytest.warns(UndefinedMetricWarning, match="one sample"):
        first, other = (
            roc_curve_band(y[k], score[k], groups=np.where(y, 99, groups)[k], **options).area
            for k, score in ((several, score), (one, np.full(80, 1.5)))
        )
    assert first.interval == other.interval


@pytest.mark.parametrize("seed", range(3))
def test_the_error_of_a_clustered_area_is_obuchowskis(seed):
    rng = np.random.default_rng(seed)
    positive = rng.permutation(np.repeat([True, False], [9, 16]))
    score, weight = rng.integers(0, 6, 25).astype(float), rng.exponential(size=25)
    for group in (rng.integers(0, 7, 25), np.arange(25)):
        sample = positive.tolist(), score.tolist(), weight.tolist(), group.tolist()
        area, variance = metric_intervals.clustered_area_variance(*sample)
        options = {"sample_weight": weight, "groups": group, "n_resamples": 2}
        found = roc_curve_band(positive, score, **options).area
        assert_allclose(found.standard_error**2, variance, rtol=1e-10)
        assert_allclose(area, roc_auc_score(positive, score, sample_weight=weight))


def draw_scores(seed, n=(9, 6), ties=False):
    """Return classes and scores of n[0] negatives and n[1] positives."""
    score = np.random.default_rng(seed).normal(size=sum(n)) + np.repeat([0, 1], n)
    return np.repeat([0, 1], n), score.round(0) if ties else score


@each_value
@pytest.mark.parametrize("ties", [False, True])
@given(seed=st.integers(0, 10**6), z=st.floats(0.1, 4))
@settings(max_examples=8)
def test_limits_of_curves_are_those_of_their_definition(ties, seed, z):
    y, score = draw_scores(seed, ties=ties)
    options = {"confidence_level": 2 * norm.cdf(z) - 1, "n_points": 31, "n_resamples": 20}
    found = roc_curve_band(y, score, random_state=0, **options)
    points = curves.roc_points(y == 1, score, np.ones(15))
    farthest = max(z, np.quantile(found.extra.distances, options["confidence_level"]))
    pointwise, band = (found.low, found.high, z, False), (*found.band, farthest, True)
    for low, high, away, exact in (pointwise, band):
        expected = [curves.curve_limits(points, (9, 6), x, away, exact) for x in found.x]
        assert_allclose(np.transpose([low, high]), expected, atol=1e-9)


def test_the_distance_is_that_to_the_next_point():
    class Drawn:
        """A generator that draws the expected counts of the first class, all last of the other."""

        def multinomial(self, size, share):
            counts = np.floor(size * np.cumsum(share)).astype(int)
            return np.diff(counts, prepend=0)

    curve = roc_curve_band(*draw_scores(3), n_resamples=2).extra.points
    steps = Steps(*curve.T, 9.0, 6.0)
    true = _smooth_curve(steps)
    sizes = np.array([9, 6])
    drawn = _draw_curve(true, sizes, Drawn())
    expected = curves.distance(true.T, drawn.T, sizes)
    assert_allclose(curve_distances(steps, [Drawn()]), [expected], rtol=1e-3)


def distances(y, score, n_resamples):
    return roc_curve_band(y, score, n_resamples=n_resamples, random_state=0).extra.distances


def test_distances_do_not_depend_on_the_number_of_resamples():
    first, again = (distances(*draw_scores(1), n_resamples) for n_resamples in (11, 30))
    assert_allclose(again[:11], first, rtol=0)
    assert np.ptp(again) > 0.5


def test_curves_drawn_from_the_curve_lie_as_far_as_the_quantile_says():
    """The distances of one curve are those of curves drawn anew: they are a pivot."""
    few, many = (distances(*draw_scores(0, n), 300) for n in ((9, 6), (90, 60)))
    assert 1.8 < np.quantile(few, 0.95) < np.quantile(many, 0.95) < 3.2


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("label", [0, 1])
def test_a_column_of_one_class_has_no_area(label):
    y = np.array([[1, 0, 1, 0], [label] * 4]).T
    found = metric_interval(roc_auc_score, y, np.zeros((4, 2)), n_resamples=9)
    assert np.isnan([found.value, found.standard_error, *found.interval]).all()


def gap(observed, predicted, size=10, confidence_level=0.95):
    """Return the calibration error of one bin of samples for each predicted probability."""
    rank = np.tile(np.arange(size), len(observed))
    events = (rank < np.repeat(np.round(np.multiply(observed, size)), size)).astype(int)
    options = {"n_bins": len(observed), "confidence_level": confidence_level, "pos_label": 1}
    return expected_calibration_error(events, np.repeat(predicted, size), **options)


def moments(size, truth, predicted):
    """Return mean and standard deviation of the distance of a bin, by the sum over outcomes."""
    events = np.arange(size + 1)
    mass, distance = binom.pmf(events, size, truth), np.abs(events / size - predicted)
    mean = mass @ distance
    return mean, np.sqrt(mass @ (distance - mean) ** 2)


@pytest.mark.parametrize("size", [1, 2, 7, 30])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.4, 1.0])
@pytest.mark.parametrize("predicted", [0.0, 0.15, 0.5, 1.0])
def test_corrections_and_limits_of_a_bin_against_the_sum_over_outcomes(size, share, predicted):
    """Each end is the distance whose mean lies z standard deviations from the observed one."""
    found = gap([share], [predicted], size)
    side = 1 if np.round(share * size) / size > predicted else -1
    by_chance = moments(size, predicted, predicted)[0]
    assert_allclose(found.details["by_chance"], by_chance, atol=1e-9)
    toward, observed = 1 if predicted < 0.5 else -1, max(found.value, by_chance)
    corrected, (low, high), z = found.details["corrected"], found.interval, norm.ppf(0.975)
    ends = [(corrected, side, found.value, 0), (low, side, found.value, z)]
    for distance, sign, wanted, away in [*ends, (high, toward, observed, -z)]:
        mean, spread = moments(size, predicted + sign * distance, predicted)
        reached = mean + away * spread - wanted
        farthest = distance == pytest.approx(abs((sign > 0) - predicted), abs=1e-6)
        if distance == 0:
            assert reached >= -1e-7
        elif farthest:
            assert reached <= 1e-7
        else:
            assert reached == pytest.approx(0, abs=1e-6)


def test_corrected_distance_is_smaller_than_the_observed_one():
    found = gap([0.9, 0.2, 0.6], [0.5, 0.4, 0.55])
    assert found.value == pytest.approx((0.4 + 0.2 + 0.05) / 3)
    assert 0 < found.details["corrected"] < found.value
    assert gap([0.5, 0.6], [0.49, 0.5]).details["corrected"] == 0


@pytest.mark.filterwarnings("ignore:y_proba looks reversed")
@pytest.mark.parametrize("observed", [[0.5] * 4, [0.9, 0.1, 0.6, 0.3], [1.0] * 4, [0.0, 1.0] * 2])
def test_limits_hold_the_corrected_distance_and_widen_with_the_level(observed):
    predicted = np.array([0.5, 0.2, 0.6, 0.1])
    found = gap(observed, predicted)
    inner, outer = (found.confidence_interval(level) for level in (0.5, 0.99))
    assert outer.low <= inner.low <= found.details["corrected"] <= inner.high + 1e-12
    assert inner.high <= outer.high
    assert outer.low >= 0
    assert outer.high <= np.maximum(predicted, 1 - predicted).mean() + 1e-12


@pytest.mark.parametrize("n_bins", [1, 2, 10])
def test_no_event_is_no_certainty(n_bins):
    """Nothing was predicted and nothing happened: 0, and not surely 0."""
    low, high = gap([0.0] * n_bins, 1e-9 * np.arange(n_bins), 10 // n_bins).interval
    assert low == 0
    assert high > 0.2


def test_a_single_bin_has_about_the_interval_of_a_proportion():
    assert_allclose([*gap([0.7], [0.2], 100).interval], (0.4, 0.58), atol=0.02)


def calibrated_limits(p, weight=None, confidence_level=0.95):
    """Return the limits of the fraction of events in one bin, of a calibrated model."""
    options = {"sample_weight": weight, "confidence_level": confidence_level, "pos_label": 1}
    bins = reliability_curve(np.zeros(len(p), dtype=int), p, n_bins=1, **options).columns
    return bins["calibrated_low"][0], bins["calibrated_high"][0]


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 11])
def test_count_against_all_that_can_happen(n):
    """The limits are quantiles of the number of events, of any level."""
    p = np.random.default_rng(n).random(n)
    below = np.cumsum(number_of_events(p.tolist()))
    for level in np.arange(0.011, 1, 0.03):
        expected = np.searchsorted(below, [(1 - level) / 2, (1 + level) / 2]) / n
        assert_allclose(calibrated_limits(p, confidence_level=level), expected)


def test_count_of_many_equal_events_is_binomial():
    for level in (0.1, 0.5, 0.95, 0.999, 1 - 1e-9):
        found = calibrated_limits(np.full(5000, 0.003), confidence_level=level)
        ends = (1 - level) / 2, (1 + level) / 2
        assert_allclose(found, binom.ppf(ends, 5000, 0.003) / 5000)
    assert calibrated_limits(np.array([0.0, 1.0, 1.0])) == (2 / 3, 2 / 3)


@pytest.mark.parametrize("n", [4, 30])
def test_limits_are_the_quantiles_of_a_simulation(n):
    rng = np.random.default_rng(n)
    p = rng.beta(1, 3, n)
    share = (rng.random((40_000, n)) < p).mean(axis=1)
    low, high = calibrated_limits(p, np.full(n, 0.7), 0.9)
    assert np.mean((low <= share) & (share <= high)) > 0.9 - 0.005
    # the next share inside would leave too much out
    assert np.mean(share < low + 0.5 / n) > 0.05 - 0.005
    assert np.mean(share > high - 0.5 / n) > 0.05 - 0.005


def test_limits_of_weighted_events_are_near_those_of_a_simulation():
    rng = np.random.default_rng(0)
    p, weight = rng.beta(1, 4, 40), rng.random(40) + 0.2
    share = (rng.random((40_000, 40)) < p) @ weight / weight.sum()
    assert_allclose(calibrated_limits(p, weight), np.quantile(share, [0.025, 0.975]), atol=0.01)
    certain = np.array([0.0, 1.0])
    assert calibrated_limits(certain, np.array([1.0, 3.0])) == (0.75, 0.75)


@pytest.mark.parametrize("rate", [0.5, 0.1, 0.02])
def test_limits_of_weighted_events_hold_the_share_that_is_none_at_all(rate):
    rng = np.random.default_rng(1)
    held = []
    for _ in range(20):
        p, weight = rng.beta(4 * rate, 4 - 4 * rate, 20), rng.exponential(size=20)
        share = (rng.random((500, 20)) < p) @ weight / weight.sum()
        low, high = calibrated_limits(p, weight)
        held.append(np.mean((low <= share) & (share <= high)))
        turned = calibrated_limits(1 - p, weight)
        assert_allclose(turned, (1 - high, 1 - low), atol=1e-9)
    assert np.mean(held) > 0.94


@pytest.mark.parametrize("n_rare", [3, 24, 25])
def test_an_area_is_the_same_with_classes_and_order_reversed(n_rare):
    """Few positives are compared directly, and many are sorted."""
    rng = np.random.default_rng(n_rare)
    y = (np.arange(60) < n_rare).astype(int)
    score, weight = rng.integers(0, 7, 60) / 7, rng.exponential(size=60)
    given, reversed_ = (
        metric_interval(roc_auc_score, *data, sample_weight=weight)
        for data in ((y, score), (1 - y, -score))
    )
    assert_allclose(given.value, roc_auc_score(y, score, sample_weight=weight), rtol=1e-12)
    for end in ("low", "high"):
        ends = getattr(given.interval, end), getattr(reversed_.interval, end)
        assert_allclose(*ends, rtol=1e-9)
    assert_allclose(given.standard_error, reversed_.standard_error, rtol=1e-9)
    precision = precision_recall_curve_band(y, score, sample_weight=weight, n_resamples=2).area
    expected = average_precision_score(y, score, sample_weight=weight)
    assert_allclose(precision.value, expected, rtol=1e-12)


@pytest.mark.parametrize("n_rare", [8, 24, 56])
def test_areas_of_test_sets_count_ties_as_one_half(n_rare):
    """Both classes have the same area, whichever of them is rare in the test sets."""
    rng = np.random.default_rng(n_rare)
    y = (np.arange(60) < n_rare).astype(int)
    X, model = (
        rng.normal(size=(60, 2)) + y[:, None],
        DecisionTreeClassifier(max_depth=2, random_state=0),
    )
    cv = list(StratifiedKFold(2).split(X, y))
    areas, pairs = [], []
    for train, test in cv:
        score = model.fit(X[train], y[train]).predict_proba(X[test])[:, 1]
        areas.append(roc_auc_score(y[test], score))
        pairs.append(y[test].sum() * (1 - y[test]).sum())
    for positive in (0, 1):
        report = skeval.evaluate(model, X, y, cv=cv, pos_label=positive, n_permutations=0)
        assert_allclose(report.metrics["roc_auc"].value, np.average(areas, weights=pairs))


@pytest.mark.parametrize("shuffled", [False, True])
def test_aligned_scores_are_residuals_of_least_squares(shuffled):
    # the model of the test set explains the shift, and the class explains a slope
    rng = np.random.default_rng(0)
    fold = np.repeat(np.arange(3), [10, 14, 6])
    fold = rng.permutation(fold) if shuffled else fold
    own, weight = np.arange(30) % 4 == 0, rng.integers(1, 4, 30).astype(float)
    score = rng.normal(size=30) + 3 * own + 5 * fold
    shifts = (fold[:, None] == np.arange(3)).astype(float)
    root = np.sqrt(weight)[:, None]
    fitted = np.linalg.lstsq(root * np.c_[own, shifts], root[:, 0] * score, rcond=None)[0]
    assert_allclose(align_scores(own, score, weight, fold), score - shifts @ fitted[1:])
