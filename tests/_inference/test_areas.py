"""Areas under the ROC curve, bands of curves and mean distances of bins, by their definitions."""

import numpy as np
import pytest
from helpers.crossed import each_value
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from reference import curves, metric_intervals
from reference.calibration import number_of_events
from scipy.stats import beta, binom, norm
from sklearn.metrics import roc_auc_score

from skeval._inference.areas import (
    Steps,
    Term,
    _draw_curve,
    _smooth_curve,
    class_size,
    curve_distances,
    curve_limits,
    find_area,
    rank_terms,
    spread_of_areas,
)
from skeval._inference.calibration import (
    Bins,
    corrected_gap,
    count_probabilities,
    gap_limits,
    gap_moments,
    share_limits,
    shrink_distances,
)
from skeval._inference.intervals import binomial_limits


def spread(positive, scores, weight, group=None):
    areas = [find_area(positive, score, weight) for score in scores]
    influence = np.column_stack([area.influence for area in areas])
    return spread_of_areas(influence, positive, weight, group)


RNG = np.random.default_rng(0)
POSITIVE = np.arange(80) % 4 == 0
SCORE = RNG.normal(size=80).round(1) + POSITIVE
ONES = np.ones(80)


def test_groups_that_hold_every_score_are_worth_their_samples():
    """Where each group holds the same scores nothing varies between groups."""
    score = np.tile(np.arange(4.0), 10)
    assert class_size(score, np.ones(40), np.repeat(np.arange(10), 4)) == 40
    assert class_size(score, np.ones(40), np.zeros(40, dtype=int)) == 1
    assert class_size(np.zeros(40), np.ones(40), np.repeat(np.arange(10), 4)) == 10


@pytest.mark.parametrize("seed", range(3))
def test_the_error_of_a_clustered_area_is_obuchowskis(seed):
    rng = np.random.default_rng(seed)
    positive = rng.permutation(np.repeat([True, False], [9, 16]))
    score, weight = rng.integers(0, 6, 25).astype(float), rng.exponential(size=25)
    for group in (rng.integers(0, 7, 25), np.arange(25)):
        sample = positive.tolist(), score.tolist(), weight.tolist(), group.tolist()
        area, variance = metric_intervals.clustered_area_variance(*sample)
        assert_allclose(spread(positive, score[None], weight, group).variance, variance, rtol=1e-10)
        assert_allclose(area, roc_auc_score(positive, score, sample_weight=weight))


def test_a_class_of_one_has_no_error():
    assert np.isnan(spread(np.arange(80) == 3, SCORE[None], ONES, None).error)


def random_steps(seed, n=(9, 6), ties=False):
    rng = np.random.default_rng(seed)
    scores = [rng.normal(size=n[0]), rng.normal(size=n[1]) + 1]
    scores = [s.round(0) if ties else s for s in scores]
    cuts = np.concatenate([[np.inf], np.unique(np.concatenate(scores))[::-1]])
    x, y = (np.array([np.mean(s >= t) for t in cuts]) for s in scores)
    return Steps(x, y, float(n[0]), float(n[1]))


@each_value
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("size", [3.7, 30.0, 1e6])
def test_limits_of_rates_are_quantiles_of_beta_laws(exact, size):
    own, other = (0.0, 1.0) if exact else (0.5, 0.5)
    rates = np.array([0.0, 1e-5, 0.1, 0.5, 0.93, 1.0])
    low, high = binomial_limits(rates, size, norm.ppf(0.975), exact=exact)
    for rate, lower, upper in zip(rates, low, high, strict=True):
        hits, misses = rate * size, size - rate * size
        lowest = beta.ppf(0.025, hits + own, misses + other) if rate else 0
        highest = beta.isf(0.025, hits + other, misses + own) if rate < 1 else 1
        assert lower == pytest.approx(min(lowest, rate), rel=1e-9)
        assert upper == pytest.approx(max(highest, rate), rel=1e-9)


@each_value
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("ties", [False, True])
@given(seed=st.integers(0, 10**6), z=st.floats(0.1, 4))
@settings(max_examples=8)
def test_limits_of_curves_are_those_of_their_definition(exact, ties, seed, z):
    steps = random_steps(seed, ties=ties)
    at = np.array([0.0, 0.03, 0.25, 1 / 3, 0.8, 1.0])
    points = list(zip(steps.x, steps.y, strict=True))
    sizes = steps.n_x, steps.n_y
    expected = [curves.curve_limits(points, sizes, x, z, exact) for x in at]
    assert_allclose(np.transpose(curve_limits(steps, at, z, exact)), expected, atol=1e-9)


def test_the_distance_is_that_to_the_next_point():
    class Drawn:
        """A generator that draws the expected counts of the first class, all last of the other."""

        def multinomial(self, size, share):
            counts = np.floor(size * np.cumsum(share)).astype(int)
            return np.diff(counts, prepend=0)

    steps = random_steps(3)
    true = _smooth_curve(steps)
    sizes = np.array([9, 6])
    drawn = _draw_curve(true, sizes, Drawn())
    expected = curves.distance(true.T, drawn.T, sizes)
    assert_allclose(curve_distances(steps, [Drawn()]), [expected], rtol=1e-3)


def test_distances_do_not_depend_on_the_number_of_generators():
    steps = random_steps(1)
    rngs = [np.random.default_rng(i) for i in range(30)]
    first = curve_distances(steps, rngs[:11])
    again = curve_distances(steps, [np.random.default_rng(i) for i in range(30)])
    assert_allclose(again[:11], first, rtol=0)
    assert np.ptp(again) > 0.5


def test_curves_drawn_from_the_curve_lie_as_far_as_the_quantile_says():
    """The distances of one curve are those of curves drawn anew: they are a pivot."""
    of_few = np.quantile(
        curve_distances(random_steps(0), map(np.random.default_rng, range(300))), 0.95
    )
    of_many = np.quantile(
        curve_distances(random_steps(0, (90, 60)), map(np.random.default_rng, range(300))), 0.95
    )
    assert 1.8 < of_few < of_many < 3.2


def test_a_column_of_one_class_has_no_area():
    positive = np.array([[1, 1], [1, 0], [1, 1]], dtype=bool)
    terms = [Term(slice(None), column, np.zeros(3)) for column in positive.T]
    ranking = rank_terms(terms, np.ones(3), None, of_area=True)
    assert np.isnan(ranking.value)


def bins(observed, predicted, size=10.0):
    shape = len(observed)
    share = np.full(shape, 1 / shape)
    return Bins(share, np.full(shape, size), np.array(predicted), np.array(observed))


def corrected(found):
    return corrected_gap(found, shrink_distances(found))


def limits(found, confidence_level=0.95):
    return gap_limits(found, shrink_distances(found), confidence_level)


@each_value
@pytest.mark.parametrize("size", [1, 2, 7, 30])
@pytest.mark.parametrize("truth", [0.0, 0.02, 0.4, 1.0])
@pytest.mark.parametrize("predicted", [0.0, 0.15, 0.5, 1.0])
def test_moments_against_the_sum_over_outcomes(size, truth, predicted):
    events = np.arange(size + 1)
    mass, distance = binom.pmf(events, size, truth), np.abs(events / size - predicted)
    found = gap_moments(bins([0.0], [predicted], float(size)), np.array([truth]))
    mean = mass @ distance
    assert_allclose(found, [mean, np.sqrt(mass @ (distance - mean) ** 2)], atol=1e-7)


def test_corrected_distance_has_the_observed_one_as_its_mean():
    found = bins([0.9, 0.2, 0.6], [0.5, 0.4, 0.55])
    truth = corrected(found)
    observed = found.share @ np.abs(found.observed - found.predicted)
    assert 0 < truth < observed
    one = bins([0.9], [0.5])
    assert_allclose(gap_moments(one, np.array([0.5 + corrected(one)]))[0], 0.4, atol=1e-9)
    assert corrected(bins([0.5, 0.6], [0.5, 0.5])) == 0


@pytest.mark.parametrize("observed", [[0.5] * 4, [0.9, 0.1, 0.6, 0.3], [1.0] * 4, [0.0, 1.0] * 2])
def test_limits_hold_the_corrected_distance_and_widen_with_the_level(observed):
    found = bins(observed, [0.5, 0.2, 0.6, 0.1])
    inner, outer = limits(found, 0.5), limits(found, 0.99)
    assert outer[0] <= inner[0] <= corrected(found) <= inner[1] + 1e-12
    assert inner[1] <= outer[1]
    farthest = np.maximum(found.predicted, 1 - found.predicted)
    assert outer[0] >= 0
    assert outer[1] <= found.share @ farthest + 1e-12


@pytest.mark.parametrize("n_bins", [1, 2, 10])
def test_no_event_is_no_certainty(n_bins):
    """Nothing was predicted and nothing happened: 0, and not surely 0."""
    low, high = limits(bins([0.0] * n_bins, [0.0] * n_bins, 10 / n_bins))
    assert low == 0
    assert high > 0.2


def test_a_single_bin_has_about_the_interval_of_a_proportion():
    low, high = limits(bins([0.7], [0.2], 100.0))
    assert_allclose((low, high), (0.4, 0.58), atol=0.02)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 11])
def test_count_against_all_that_can_happen(n):
    p = np.random.default_rng(n).random(n)
    assert_allclose(count_probabilities(p), number_of_events(p.tolist()), atol=1e-14)


def test_count_of_many_equal_events_is_binomial():
    found = count_probabilities(np.full(5000, 0.003))
    assert_allclose(found, binom.pmf(np.arange(5001), 5000, 0.003), atol=1e-13)
    assert_allclose(count_probabilities(np.array([0.0, 1.0, 1.0])), [0, 0, 1, 0], atol=1e-15)


@pytest.mark.parametrize("n", [4, 30])
def test_limits_are_the_quantiles_of_a_simulation(n):
    rng = np.random.default_rng(n)
    p = rng.beta(1, 3, n)
    share = (rng.random((40_000, n)) < p).mean(axis=1)
    low, high = share_limits(p, np.full(n, 0.7), 0.9)
    assert np.mean((low <= share) & (share <= high)) > 0.9 - 0.005
    # the next share inside would leave too much out
    assert np.mean(share < low + 0.5 / n) > 0.05 - 0.005
    assert np.mean(share > high - 0.5 / n) > 0.05 - 0.005


def test_limits_of_weighted_events_are_near_those_of_a_simulation():
    rng = np.random.default_rng(0)
    p, weight = rng.beta(1, 4, 40), rng.random(40) + 0.2
    share = (rng.random((40_000, 40)) < p) @ weight / weight.sum()
    assert_allclose(share_limits(p, weight, 0.95), np.quantile(share, [0.025, 0.975]), atol=0.01)
    certain = np.array([0.0, 1.0])
    assert share_limits(certain, np.array([1.0, 3.0]), 0.95) == (0.75, 0.75)


@pytest.mark.parametrize("rate", [0.5, 0.1, 0.02])
def test_limits_of_weighted_events_hold_the_share_that_is_none_at_all(rate):
    rng = np.random.default_rng(1)
    held = []
    for _ in range(20):
        p, weight = rng.beta(4 * rate, 4 - 4 * rate, 20), rng.exponential(size=20)
        share = (rng.random((500, 20)) < p) @ weight / weight.sum()
        low, high = share_limits(p, weight, 0.95)
        held.append(np.mean((low <= share) & (share <= high)))
        turned = share_limits(1 - p, weight, 0.95)
        assert_allclose(turned, (1 - high, 1 - low), atol=1e-9)
    assert np.mean(held) > 0.94
