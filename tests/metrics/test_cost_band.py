"""The band of a cost curve covers the curve of the population."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binom, norm

from skeval.metrics import CostCurveDisplay, cost_curve, cost_curve_band


def population(separation, x, cuts=None):
    """Return the lowest cost over every threshold of two normal scores, or of their classes."""
    cuts = np.linspace(-8, 8 + separation, 100_001) if cuts is None else cuts
    cuts = np.concatenate([[-np.inf], cuts, [np.inf]])
    costs = norm.sf(cuts) * (1 - x[:, None]) + norm.cdf(cuts, separation) * x[:, None]
    return costs.min(axis=1)


def covered(n, separation, n_sets, n_resamples, n_points, seed=0, cuts=None):
    """Return in how many data sets the band holds the true cost, at each x inside (0, 1)."""
    rng = np.random.default_rng(seed)
    y = np.repeat([1, 0], n)
    x = np.linspace(0, 1, n_points)[1:-1]
    truth = population(separation, x, cuts)
    hits = np.zeros(len(x), dtype=int)
    for _ in range(n_sets):
        score = rng.normal(size=2 * n) + separation * y
        score = score if cuts is None else np.digitize(score, cuts)
        band = cost_curve_band(
            y, score, n_resamples=n_resamples, n_points=n_points, random_state=rng
        )
        hits += (band.low[1:-1] <= truth) & (truth <= band.high[1:-1])
    return hits


@pytest.mark.simulated
@pytest.mark.parametrize(("n", "separation"), [(30, 1), (100, 2)])
def test_it_covers_in_93_of_100_data_sets_at_least(n, separation):
    hits = covered(n, separation, n_sets=25, n_resamples=50, n_points=6)
    assert binom.cdf(hits, 25, 0.93).min() > 0.005


@pytest.mark.slow
@pytest.mark.parametrize("cuts", [None, [-0.5, 0.5, 1.0, 1.5]])
@pytest.mark.parametrize("separation", [0, 1, 2, 3.5])
@pytest.mark.parametrize("n", [30, 100])
def test_it_covers_on_a_grid_of_costs(n, separation, cuts):
    hits = covered(n, separation, 200, n_resamples=100, n_points=11, seed=1, cuts=cuts)
    assert binom.cdf(hits, 200, 0.93).min() > 0.005


def problem(seed=0, n=60):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [2 * n // 3, n // 3])
    return y, rng.normal(size=n).round(1) + y


def ends(y, score, **options):
    options = {"n_resamples": 40, "n_points": 21, "random_state": 5} | options
    band = cost_curve_band(y, score, **options)
    return np.array([band.y, band.low, band.high])


def test_it_holds_the_curve_and_stays_where_costs_lie():
    for seed in range(5):
        y, score = problem(seed)
        cost, low, high = ends(y, score)
        x = np.linspace(0, 1, 21)
        assert (low >= 0).all()
        assert (low <= cost).all()
        assert (cost <= high).all()
        assert (high <= np.minimum(x, 1 - x)).all()


def test_no_error_is_no_certainty():
    """Separated classes: a cost of 0 at every x, in the sample and in each resample."""
    cost, low, high = ends([0] * 20 + [1] * 20, np.arange(40))
    assert not cost.any()
    assert not low.any()
    assert (high[1:-1] > 0.02).all()


def test_a_larger_level_is_wider_and_more_samples_narrower():
    y, score = problem()
    narrow, wide = (ends(y, score, confidence_level=level) for level in (0.8, 0.99))
    assert (wide[1] <= narrow[1]).all()
    assert (narrow[2] <= wide[2]).all()
    more = ends(*problem(n=6000))
    assert more[2, 10] - more[1, 10] < (narrow[2, 10] - narrow[1, 10]) / 3


@pytest.mark.parametrize("baseline", [False, True])
def test_increasing_functions_of_the_score_change_nothing(baseline):
    y, score = problem()
    other = {"baseline": np.random.default_rng(9).normal(size=60)} if baseline else {}
    expected = ends(y, score, **other)
    for change in (np.exp, np.arctan, lambda s: 1e6 * s - 3):
        assert_allclose(ends(y, change(score), **other), expected, rtol=0, atol=1e-12)


def test_exchanged_classes_turn_the_axis_round():
    y, score = problem(n=120)
    once = ends(y, score, n_resamples=400)
    turned = ends(1 - y, -score, n_resamples=400)[:, ::-1]
    assert_allclose(turned[0], once[0], atol=1e-12)
    assert_allclose(turned, once, atol=0.02)  # other resamples


@pytest.mark.parametrize("baseline", [False, True])
def test_weights(baseline):
    y, score = problem()
    other = {"baseline": np.random.default_rng(9).normal(size=60)} if baseline else {}
    weight = np.random.default_rng(1).integers(1, 5, size=60)
    expected = ends(y, score, sample_weight=weight, **other)
    for scale in (2.0**60, 1e-200, 1e200, 3.0):
        scaled = ends(y, score, sample_weight=weight * scale, **other)
        assert_allclose(scaled, expected, rtol=1e-9, atol=1e-12)
    same = ends(y, score, sample_weight=weight * 2**58, **other)  # integers that wrap around
    assert_allclose(same, expected, rtol=1e-9, atol=1e-12)
    assert_allclose(ends(y, score, sample_weight=np.full(60, 7), **other), ends(y, score, **other))
    if not baseline:
        curve = cost_curve(y, score, sample_weight=weight)
        assert_allclose(expected[0], curve.at(np.linspace(0, 1, 21)), atol=1e-12)
        seen = np.arange(60) % 4 > 0
        absent = ends(y, score, sample_weight=seen)
        assert_allclose(absent, ends(y[seen], score[seen]), atol=1e-12)


def test_the_display_hands_weights_on():
    y, score = problem()
    weight = np.random.default_rng(2).random(60)
    options = {
        "sample_weight": weight,
        "confidence_level": 0.9,
        "n_resamples": 20,
        "random_state": 0,
    }
    display = CostCurveDisplay.from_predictions(y, score, **options)
    assert display.curve.at(0.5) == cost_curve(y, score, sample_weight=weight).at(0.5)
    assert_allclose(display.curve.low, cost_curve_band(y, score, **options).low)
    with pytest.raises(ValueError, match="both classes with weight > 0"):
        cost_curve_band(y, score, sample_weight=y)


def test_groups_widen_the_band_of_a_difference():
    """With copies of independent samples as groups, more copies do not narrow the band."""
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 30)
    scores = [y + rng.normal(size=60) for _ in range(2)]
    copies, group = np.repeat(np.arange(60), 5), np.repeat(np.arange(60), 5)
    options = {"n_points": 5, "random_state": 0}
    one, other = (score[copies] for score in scores)
    grouped = cost_curve_band(y[copies], one, baseline=other, groups=group, **options)
    ignored = cost_curve_band(y[copies], one, baseline=other, **options)
    single = cost_curve_band(y, scores[0], baseline=scores[1], **options)
    assert_allclose(grouped.y, single.y)
    widths = [(band.high - band.low)[1:-1].sum() for band in (grouped, ignored, single)]
    assert 0.8 < widths[0] / widths[2] < 1.5
    assert widths[1] < 0.7 * widths[2]


def test_resamples_of_groups_have_both_classes():
    """Half of the resamples of two groups with one class each lack a class; others are drawn."""
    y, score, group = np.repeat([0, 1], 5), np.arange(10.0), np.repeat([0, 1], 5)
    band = cost_curve_band(y, score, groups=group, n_resamples=20, n_points=3, random_state=0)
    assert np.isfinite(band.replicates).all()
