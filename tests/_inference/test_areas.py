"""Areas under the ROC curve and bands of curves against their definitions."""

import numpy as np
import pytest
from helpers.coverage import consistent_with
from helpers.crossed import each_value
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from reference import curves, metric_intervals
from scipy.stats import beta, norm
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
from skeval._inference.intervals import binomial_limits
from skeval.model_selection import metric_interval


def spread(positive, scores, weight, group=None):
    areas = [find_area(positive, score, weight) for score in scores]
    influence = np.column_stack([area.influence for area in areas])
    return spread_of_areas(influence, positive, weight, group)


def coverage_of_delong(n_data_sets, n_each=100, shift=1.0):
    truth = norm.cdf(shift / np.sqrt(2))
    y = np.repeat([0, 1], n_each)
    rng = np.random.default_rng(0)
    return sum(
        truth
        in metric_interval(
            roc_auc_score, y, rng.normal(size=2 * n_each) + shift * y, method="delong"
        ).interval
        for _ in range(n_data_sets)
    )


@pytest.mark.simulated
def test_delong_coverage():
    assert consistent_with(coverage_of_delong(130), 130)


RNG = np.random.default_rng(0)
POSITIVE = np.arange(80) % 4 == 0
SCORE = RNG.normal(size=80).round(1) + POSITIVE
ONES = np.ones(80)


def test_the_error_of_an_area_is_delongs():
    expected = np.sqrt(
        metric_intervals.delong([SCORE[POSITIVE].tolist()], [SCORE[~POSITIVE].tolist()])[1][0][0]
    )
    assert_allclose(spread(POSITIVE, SCORE[None], ONES, None).error, expected)
    assert_allclose(spread(POSITIVE, SCORE[None], 3 * ONES, None).error, expected)
    assert_allclose(spread(~POSITIVE, -SCORE[None], ONES, None).error, expected)


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
